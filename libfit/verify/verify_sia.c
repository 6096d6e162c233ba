/* SPDX-License-Identifier: MIT */
/*
 * Sia (Jayaram Subramanya et al., SOSP'23): what each configuration was worth to each job, derived anew from
 * what the log says that the job ran; whether the allocations that follow can be bettered.
 * docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

/* Costs are in hundredths. What two roundings can do is no violation. */
#define SLACK 2
#define HARDLY 1e-4f	/* goodput of what a job cannot have, beside 1 */
#define NO_OPTION (INT64_MAX / 4)	/* cost of what is no option of a job at all */

struct config {
	uint16_t type;
	int64_t nodes, gpus;
};

struct verify_sia {
	struct config *c;
	size_t n, cap;
	size_t n_grid;			/* those that any job may have; the others are of rigid jobs */
	bool odd;			/* there are others: jobs may be split over more nodes than they need */
	uint16_t types[UINT8_MAX + 1];	/* in the order of the cluster */
	int64_t each[UINT8_MAX + 1];	/* GPUs of a node, by place in types */
	size_t n_types;
	int64_t *cost;			/* of each live record on each configuration */
	size_t cap_cost;
	double *raw;
	size_t cap_raw;
	int *held;			/* by place in v->active */
	size_t cap_held;
	struct verify_sia_choice *choices;	/* of the search */
	size_t *first;
	size_t cap_choices, cap_first;
};

void verify_sia_release(struct fit_verifier *v)
{
	if (!v->sia)
		return;
	free(v->sia->c);
	free(v->sia->cost);
	free(v->sia->raw);
	free(v->sia->held);
	free(v->sia->choices);
	free(v->sia->first);
	free(v->sia);
	v->sia = NULL;
}

/* ---- the simulator's applications ---- */

const struct verify_sia_app *verify_sia_app(const struct fit_verifier *v, uint32_t job)
{
	static const struct verify_sia_app apps[] = {
		{ "imagenet", 250, 250, 1.2 }, { "bert", 120, 120, 1.2 },	{ "yolov3", 80, 45, 1.2 },
		{ "cifar10", 50, 30, 1.8 },    { "deepspeech2", 25, 25, 1.2 },	{ "ncf", 15, 30, 1.5 },
	};
	static const struct verify_sia_app other = { NULL, 30, 30, 1.2 };
	uint16_t app = v->jobs[job].app;

	if (!v->sia_reference || !(v->with_profile || v->with_rates) || app == UINT16_MAX)
		return NULL;
	for (size_t i = 0; i < sizeof apps / sizeof *apps; i++)
		if (strcmp(apps[i].name, v->apps[app].name) == 0)
			return &apps[i];
	return &other;
}

bool verify_sia_keeps_shape(const struct fit_verifier *v, const struct verify_live *l,
			    const struct verify_row *r)
{
	if (!v->sia_reference || !(EV_BIT(r->ev) & (EV_BIT(EV_MOVE) | EV_BIT(EV_SHIFT))) || !l->n_nodes ||
	    l->n_nodes != r->n_nodes)
		return false;
	for (size_t i = 0; i < r->n_nodes; i++)
		if (l->nodes[i].gpus != r->nodes[i].gpus ||
		    verify_type_of(v, l->nodes[i].node) != verify_type_of(v, r->nodes[i].node))
			return false;
	return true;
}

/* ---- the grid ---- */

static int add(struct verify_sia *s, uint16_t type, int64_t nodes, int64_t gpus)
{
	if (fit_grow(&s->c, &s->cap, s->n + 1, sizeof *s->c))
		return FIT_ENOMEM;
	s->c[s->n++] = (struct config){ type, nodes, gpus };
	return FIT_OK;
}

static int add_type(struct fit_verifier *v, struct verify_sia *s, uint16_t type)
{
	int64_t nodes = 0, each = 0, g = 1, size;
	int rc = FIT_OK;

	for (size_t i = 0; i < v->n_nodes; i++) {
		if (v->node_type[i] != type)
			continue;
		nodes++;
		size = v->nodes ? v->nodes[i].gpus : v->size[i];	/* if it is there */
		each = size > each ? size : each;
	}
	if (v->type_nodes[type] && v->type_nodes[type] < nodes)
		nodes = v->type_nodes[type];
	s->each[s->n_types] = each;
	s->types[s->n_types++] = type;
	for (; g < each && !rc; g *= 2)
		rc = add(s, type, 1, g);
	for (int64_t k = 1; k <= nodes && !rc; k++)
		rc = add(s, type, k, k * each);
	return rc;
}

static int find(const struct verify_sia *s, uint16_t type, int64_t gpus)
{
	for (size_t c = 0; c < s->n; c++)
		if (s->c[c].type == type && s->c[c].gpus == gpus)
			return (int)c;
	return -1;
}

/* The sizes of rigid jobs. */
static int add_rigid(struct fit_verifier *v, struct verify_sia *s)
{
	int rc = FIT_OK;

	s->n_grid = s->n;
	for (size_t j = 0; j < v->n_jobs && !rc; j++) {
		int64_t gpus = (int64_t)v->jobs[j].gpus;

		if (v->jobs[j].kind != FIT_JOB_RIGID || v->jobs[j].state == JOB_LEFT_OUT)
			continue;
		for (size_t t = 0; t < s->n_types && !rc; t++)
			if (find(s, s->types[t], gpus) < 0)
				rc = add(s, s->types[t], (gpus + s->each[t] - 1) / s->each[t], gpus);
	}
	s->odd = s->n > s->n_grid;
	return rc;
}

static struct verify_sia *grid(struct fit_verifier *v)
{
	struct verify_sia *s = v->sia;

	if (s)
		return s;
	s = v->sia = calloc(1, sizeof *s);
	if (!s) {
		v->code = FIT_ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < v->n_nodes; i++) {
		bool known = v->node_type[i] > UINT8_MAX;

		for (size_t t = 0; t < s->n_types; t++)
			known = known || s->types[t] == v->node_type[i];
		if (!known && add_type(v, s, v->node_type[i]))
			v->code = FIT_ENOMEM;
	}
	if (add_rigid(v, s))
		v->code = FIT_ENOMEM;
	return s;
}

/* ---- what a configuration is worth ---- */

static struct fit_app *app_on(const struct fit_verifier *v, uint32_t job, uint16_t type)
{
	return v->jobs[job].gpu_type && v->jobs[job].gpu_type != type ? NULL : verify_model_of(v, job, type);
}

static int64_t most_gpus(const struct fit_verifier *v, const struct verify_sia *s,
			 const struct verify_live *l)
{
	int64_t seen = verify_agent_seen(l), most = 1;

	for (size_t t = 0; t < s->n_types; t++) {
		struct fit_app *a = app_on(v, l->job, s->types[t]);
		const struct fit_app_info *i = a ? fit_app_info(a) : NULL;
		int64_t n = v->seeded || seen > 32 ? 64 : seen ? 2 * seen : 2;

		if (!a)
			continue;
		n = n < i->max_batch / i->min_local_bsz ? n : i->max_batch / i->min_local_bsz;
		n = i->max_replicas && i->max_replicas < n ? i->max_replicas : n;
		most = n > most ? n : most;
	}
	return most;
}

static double predicted(struct fit_verifier *v, const struct verify_sia *s, const struct verify_live *l,
			const struct config *c)
{
	int64_t asked = v->sia_reference ? verify_job_batch(v, l->job) : 0;
	struct fit_app *a = app_on(v, l->job, c->type);
	double g;

	if (!a)
		return 0;
	g = verify_agent_goodput(l, c->type, c->nodes, c->gpus, asked);
	for (size_t t = 0; g < 0 && t < s->n_types; t++) {
		struct fit_app *other = app_on(v, l->job, s->types[t]);
		double there = other ? verify_agent_goodput(l, s->types[t], c->nodes, c->gpus, asked) : -1;

		if (there >= 0)
			return there * (fit_app_one_gpu(a, v->sia_reference) / fit_app_one_gpu(other, v->sia_reference));
	}
	return g;
}

/* Samples a second of a rigid job on GPUs of the t-th type, on as few nodes as they need; 0: not measured. */
static double rigid_rate(struct fit_verifier *v, const struct verify_sia *s, uint32_t job, size_t t)
{
	struct fit_app *a = app_on(v, job, s->types[t]);
	struct fit_placement p = { .n_nodes = 0 };
	int64_t left = (int64_t)v->jobs[job].gpus;
	struct fit_batch b;
	double step, sync;

	if (!a)
		return 0;
	b = verify_split(fit_app_info(a), verify_target(v, job), left, false);
	for (; left > 0 && p.n_nodes < FIT_PLACEMENT_MAX; left -= p.gpus[p.n_nodes++])
		p.gpus[p.n_nodes] = (int)(left < s->each[t] ? left : s->each[t]);
	if (b.atomic_bsz < 1 || fit_app_throughput(a, &p, b.atomic_bsz, &step, &sync, &v->model_err))
		return 0;
	return v->jobs[job].gpus * (double)b.atomic_bsz * (double)(b.accum_steps + 1) /
	       (step + (double)b.accum_steps * (step - sync));
}

/* What each type is worth to a rigid job: its GPUs on the slowest one. 0: no option. */
static void rigid_worth(struct fit_verifier *v, struct verify_sia *s, uint32_t job)
{
	double rate[UINT8_MAX + 1] = { 0 }, slowest = HUGE_VAL;

	for (size_t t = 0; t < s->n_types; t++) {
		rate[t] = rigid_rate(v, s, job, t);
		slowest = rate[t] > 0 && rate[t] < slowest ? rate[t] : slowest;
	}
	for (size_t c = 0; c < s->n; c++)
		s->raw[c] = 0;
	for (size_t t = 0; t < s->n_types; t++) {
		int c = find(s, s->types[t], (int64_t)v->jobs[job].gpus);

		if (c >= 0 && rate[t] > 0)
			s->raw[c] = v->jobs[job].gpus * rate[t] / slowest;
	}
}

static int64_t cost_at(const struct fit_verifier *v, float g)
{
	float u = powf(g, (float)v->sia_power);
	int64_t cost = isfinite(u) && u < 3000 ? (int64_t)rintf(100 * u) : 300000;

	return v->sia_power > 0 ? -cost : cost;
}

/* Hundredths of the utility of each configuration. */
static void set_costs(struct fit_verifier *v, struct verify_sia *s, const struct verify_live *l,
		      int64_t *cost)
{
	const struct verify_sia_app *f = verify_sia_app(v, l->job);
	const double age = fit_time_to_double(v->now - v->jobs[l->job].submit_ns);
	const double stop = f ? f->believed_s : fit_time_to_double(verify_restart_ns(v, l->job, 0));
	double factor = age < stop ? 1 : fmax(age - (double)l->sia_restarts * stop, 0) / (age + stop);
	const int64_t most = most_gpus(v, s, l);
	const int now = l->config_gpus ? find(s, l->config_type, l->config_gpus) : -1;
	float least = HUGE_VALF;
	bool blank = true;

	for (size_t c = 0; c < s->n; c++)
		cost[c] = NO_OPTION;
	if (v->jobs[l->job].kind == FIT_JOB_RIGID) {
		rigid_worth(v, s, l->job);
		for (size_t c = 0; c < s->n; c++)
			if (s->raw[c] > 0)
				cost[c] = cost_at(v, (float)s->raw[c] * (now >= 0 && (int)c != now ? (float)factor : 1));
		return;
	}
	for (size_t c = 0; c < s->n_grid; c++) {
		s->raw[c] = predicted(v, s, l, &s->c[c]);
		blank = blank && s->raw[c] <= 0 && l->agent == NULL;
	}
	for (size_t c = 0; c < s->n_grid; c++) {
		bool first = c == 0 || s->c[c].type != s->c[c - 1].type;

		if (blank)
			s->raw[c] = first && app_on(v, l->job, s->c[c].type) ? 1 : 0;
		else if (s->c[c].gpus > most)
			s->raw[c] = 0;
		if (s->raw[c] > 0 && (float)s->raw[c] < least)
			least = (float)s->raw[c];
	}
	for (size_t c = 0; c < s->n_grid; c++) {
		float g = s->raw[c] > 0 ? (float)s->raw[c] / least : HARDLY;

		g = g > HARDLY ? g : HARDLY;
		cost[c] = cost_at(v, now >= 0 && (int)c != now ? g * (float)factor : g);
	}
}

void verify_sia_begin(struct fit_verifier *v)
{
	struct verify_sia *s = grid(v);

	if (!s || fit_grow(&s->cost, &s->cap_cost, v->active.n * s->n + 1, sizeof *s->cost) ||
	    fit_grow(&s->raw, &s->cap_raw, s->n + 1, sizeof *s->raw) ||
	    fit_grow(&s->held, &s->cap_held, v->active.n + 1, sizeof *s->held)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];

		l->config_gpus = l->n_nodes ? l->gpus : 0;
		l->config_type = l->n_nodes ? verify_type_of(v, l->nodes[0].node) : 0;
		l->config_ready_ns = l->n_nodes ? l->ready_ns : 0;
		set_costs(v, s, l, s->cost + i * s->n);
	}
}

/* ---- the rules ---- */

void verify_row_sia_config(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_sia *s = grid(v);
	uint16_t type = r->n_nodes ? verify_type_of(v, r->nodes[0].node) : 0;
	int c;

	if (!s || !r->live || r->job == NONE || !r->n_nodes || v->jobs[r->job].app == UINT16_MAX)
		return;
	verify_check(v, RULE_SIA_CONFIG);
	c = find(s, type, r->sum);
	if (v->jobs[r->job].kind == FIT_JOB_RIGID) {
		if (r->sum != (int64_t)v->jobs[r->job].gpus)
			verify_fault(v, RULE_SIA_CONFIG, r->job, "gets %lld GPUs; it is rigid and asks for %g", (long long)r->sum,
				     v->jobs[r->job].gpus);
		return;
	}
	if (c < 0 || (size_t)c >= s->n_grid || (int64_t)r->n_nodes < s->c[c].nodes ||
	    (!s->odd && (int64_t)r->n_nodes > s->c[c].nodes))
		verify_fault(v, RULE_SIA_CONFIG, r->job, "%lld GPUs on %zu nodes are no configuration of that type",
			     (long long)r->sum, r->n_nodes);
	else if (r->live->agent ? r->sum > most_gpus(v, s, r->live) : r->sum > 1)
		verify_fault(v, RULE_SIA_CONFIG, r->job, "gets %lld GPUs; it ran on at most %lld before", (long long)r->sum,
			     (long long)verify_agent_seen(r->live));
}

void verify_row_sia_pin(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;

	if (!l || r->job == NONE || !l->n_nodes || v->jobs[r->job].state != JOB_RUNNING)
		return;
	if (verify_nodes_leave(v))	/* which nodes leave is not in the log */
		return;
	verify_check(v, RULE_SIA_PIN);
	if (l->ready_ns > r->t &&
	    (r->sum != l->gpus || !r->n_nodes ||
	     verify_type_of(v, r->nodes[0].node) != verify_type_of(v, l->nodes[0].node)))
		verify_fault(v, RULE_SIA_PIN, r->job, "changes its configuration %.9g s before its restart is over",
			     fit_time_to_double(l->ready_ns - r->t));
}

static bool pinned(const struct fit_verifier *v, const struct verify_live *l)
{
	return l->config_gpus && l->config_ready_ns > v->now;
}

static int64_t cost_of(const struct fit_verifier *v, const struct verify_sia *s, size_t i, int c)
{
	return c < 0 ? (v->sia_power > 0 ? -1 : 1) * llrint(100 * v->sia_lambda) : s->cost[i * s->n + (size_t)c];
}

/* Put job i from one configuration to another: what is free changes. False: that is not there. */
static bool shift(const struct verify_sia *s, int64_t *left, int from, int to)
{
	if (from >= 0)
		left[s->c[from].type] += s->c[from].gpus;
	if (to >= 0)
		left[s->c[to].type] -= s->c[to].gpus;
	return to < 0 || left[s->c[to].type] >= 0;
}

static void fault_better(struct fit_verifier *v, const struct verify_sia *s, uint32_t job, int c,
			 int64_t gain, const char *how)
{
	verify_fault(v, RULE_SIA_BEST, job,
		     "%s, %lld GPUs on %lld nodes would lower the sum of utilities by %.2f", how,
		     c < 0 ? 0LL : (long long)s->c[c].gpus, c < 0 ? 0LL : (long long)s->c[c].nodes, (double)gain / 100);
}

/* Could job i, alone or together with a later one, be better off? */
static bool better(struct fit_verifier *v, const struct verify_sia *s, size_t i, int64_t *left)
{
	for (int c = -1; c < (int)s->n; c++) {
		int64_t gain = cost_of(v, s, i, s->held[i]) - cost_of(v, s, i, c);
		bool fits = shift(s, left, s->held[i], c), found = fits && gain > SLACK;

		if (found)
			fault_better(v, s, v->live[v->active.a[i]].job, c, gain, "alone");
		for (size_t k = i + 1; k < v->active.n && !found; k++) {
			if (pinned(v, &v->live[v->active.a[k]]) || c == s->held[i])
				continue;
			for (int d = -1; d < (int)s->n && !found; d++) {
				int64_t both = gain + cost_of(v, s, k, s->held[k]) - cost_of(v, s, k, d);

				if (both <= SLACK || d == s->held[k])
					continue;
				found = shift(s, left, s->held[k], d) && (c < 0 || left[s->c[c].type] >= 0);
				(void)shift(s, left, d, s->held[k]);
				if (found)
					fault_better(v, s, v->live[v->active.a[i]].job, c, both, "with another job");
			}
		}
		(void)shift(s, left, c, s->held[i]);
		if (found)
			return true;
	}
	return false;
}

static size_t place_of(const struct verify_sia *s, uint16_t type)
{
	size_t t = 0;

	while (t + 1 < s->n_types && s->types[t] != type)
		t++;
	return t;
}

/* All jobs at once, by a search that is not the policy's. */
static void search_all(struct fit_verifier *v, struct verify_sia *s, const int64_t *left)
{
	struct verify_sia_problem p = { .n_types = s->n_types };
	enum verify_sia_found found;
	int64_t sum = 0;
	size_t n = 0;

	if (s->n_types > VERIFY_SIA_TYPES)
		return;
	if (fit_grow(&s->choices, &s->cap_choices, v->active.n * (s->n + 1) + 1, sizeof *s->choices) ||
	    fit_grow(&s->first, &s->cap_first, v->active.n + 1, sizeof *s->first)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t t = 0; t < s->n_types; t++)
		p.capacity[t] = left[s->types[t]];
	for (size_t i = 0; i < v->active.n; i++) {
		if (pinned(v, &v->live[v->active.a[i]]))
			continue;
		s->first[p.n_jobs++] = n;
		sum += cost_of(v, s, i, s->held[i]);
		if (s->held[i] >= 0)
			p.capacity[place_of(s, s->c[s->held[i]].type)] += s->c[s->held[i]].gpus;
		s->choices[n++] = (struct verify_sia_choice){ cost_of(v, s, i, -1), 0, 0 };
		for (int c = 0; c < (int)s->n; c++)
			if (cost_of(v, s, i, c) < NO_OPTION)
				s->choices[n++] = (struct verify_sia_choice){ cost_of(v, s, i, c), s->c[c].gpus,
									      place_of(s, s->c[c].type) };
	}
	s->first[p.n_jobs] = n;
	p.choices = s->choices;
	p.first = s->first;
	if (sum >= NO_OPTION)		/* somebody holds what is no option: sia-config says so */
		return;
	if (verify_sia_search(&p, sum - SLACK - 1, &found))
		v->code = FIT_ENOMEM;
	else if (found == SIA_BETTER)
		verify_fault(v, RULE_SIA_BEST, NONE,
			     "other configurations of all jobs have a sum of utilities that is lower by %.2f at least",
			     (double)(SLACK + 1) / 100);
}

void verify_decide_sia_best(struct fit_verifier *v)
{
	int64_t left[UINT8_MAX + 1] = { 0 };
	struct verify_sia *s = v->sia;

	if (!v->legal || !s || verify_nodes_leave(v) || v->active.n * s->n > s->cap_cost)
		return;
	for (size_t i = 0; i < v->n_nodes; i++)
		if (v->node_type[i] <= UINT8_MAX)
			left[v->node_type[i]] += v->size[i] - v->booked[i];
	for (size_t i = 0; i < v->active.n; i++) {
		const struct verify_live *l = &v->live[v->active.a[i]];

		s->held[i] = l->n_nodes ? find(s, verify_type_of(v, l->nodes[0].node), l->gpus) : -1;
	}
	verify_check(v, RULE_SIA_BEST);
	for (size_t i = 0; i < v->active.n; i++)
		if (!pinned(v, &v->live[v->active.a[i]]) && better(v, s, i, left))
			return;
	search_all(v, s, left);
}
