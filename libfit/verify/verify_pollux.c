/* SPDX-License-Identifier: MIT */
/*
 * Pollux (Qiao et al., OSDI'21): the agent of each job, built anew from what the log says that the
 * job ran; the batch sizes and the allocations that follow from it. docs/methods/verify.md has the
 * rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/goodput.h"
#include "libfit/verify/verify_state.h"

/* Two batch sizes whose predicted goodputs are closer than this cannot be told apart; likewise two
 * states by their fitness. */
#define SAME_GOODPUT 1e-6
#define SAME_FITNESS 1e-9

#define N_CACHE 16

/* What a job has learned: the first step time of each (nodes, GPUs, per-GPU batch), in the order in
 * which they were run, the gradient statistics of the moment, and the model fitted to the former. */
struct verify_agent {
	struct verify_agent *next;	/* of the same job, for GPUs of another type */
	uint16_t type;
	struct fit_throughput_obs *obs;
	size_t n, cap;
	int64_t most_gpus;		/* of the observations */
	struct fit_goodput model;
	bool stale, fitted, broken;
	struct {
		int64_t gpus;
		bool several, set;
		struct fit_goodput_point best;
	} cache[N_CACHE];
};

void verify_agent_free(struct verify_agent *a)
{
	while (a) {
		struct verify_agent *next = a->next;

		free(a->obs);
		free(a);
		a = next;
	}
}

/* Agents of a job are a list, and the one in use comes first; one that has learned nothing is put in front
 * for a type without any. */
void verify_agent_switch(struct verify_live *l, uint16_t type)
{
	struct verify_agent **at = &l->agent, *a;

	while (*at && (*at)->type != type)
		at = &(*at)->next;
	a = *at;
	l->agent_type = type;
	if (!a || a == l->agent)
		return;
	*at = a->next;
	a->next = l->agent;
	l->agent = a;
}

/* The agent in use; NULL: nothing is known of this type. */
static struct verify_agent *in_use(const struct verify_live *l)
{
	return l->agent && l->agent->type == l->agent_type ? l->agent : NULL;
}

/* Of several types that of node 0 counts, which is of the first one. */
static const struct fit_app_info *info_of(const struct fit_verifier *v, uint32_t job)
{
	struct fit_app *first = v->blind ? verify_model_on(v, job, 0) : NULL;

	if (first)
		return fit_app_info(first);
	return v->jobs[job].app == UINT16_MAX ? NULL : v->apps[v->jobs[job].app].info;
}

/* On the nodes of a row. */
static const struct fit_app_info *info_on(const struct fit_verifier *v, const struct verify_row *r)
{
	struct fit_app *a = r->n_nodes ? verify_model_on(v, r->job, r->nodes[0].node) : NULL;

	return a ? fit_app_info(a) : info_of(v, r->job);
}

/* The agent that the job will have on the nodes of a row. */
static struct verify_agent *agent_on(const struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_agent *a = r->live->agent;
	uint16_t type = r->n_nodes && !v->blind ? verify_type_of(v, r->nodes[0].node) : 0;

	while (a && a->type != type)
		a = a->next;
	return a;
}

static struct verify_agent *agent_new(const struct fit_verifier *v, uint32_t job,
				      const struct fit_app_info *info)
{
	struct verify_agent *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->model.init_batch = info->init_batch;
	a->model.max_batch = info->max_batch;
	a->model.min_local_bsz = info->min_local_bsz;
	a->model.max_local_bsz = info->max_local_bsz;
	a->model.max_accum = -1;
	a->model.fixed_batch = v->jobs[job].kind == FIT_JOB_ADAPTIVE ? 0 : verify_target(v, job);
	return a;
}

/* ---- learning ---- */

static void forget_predictions(struct verify_agent *a)
{
	for (size_t i = 0; i < N_CACHE; i++)
		a->cache[i].set = false;
}

static int observe(struct verify_agent *a, const struct fit_throughput_obs *o)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->obs[i].num_nodes == o->num_nodes &&
		    a->obs[i].num_replicas == o->num_replicas &&
		    a->obs[i].local_bsz == o->local_bsz)
			return FIT_OK;
	if (fit_grow(&a->obs, &a->cap, a->n + 1, sizeof *a->obs))
		return FIT_ENOMEM;
	a->obs[a->n++] = *o;
	if (o->num_replicas > a->most_gpus)
		a->most_gpus = o->num_replicas;
	a->stale = true;
	return FIT_OK;
}

/* The model of all observations: from scratch the first time, from the last model after that. */
static void refit(struct fit_verifier *v, struct verify_agent *a)
{
	struct fit_throughput_params p;
	struct fit_throughput_result res;
	int rc;

	if (!a->stale)
		return;
	if (v->sia_reference) {
		rc = fit_throughput_fit_loose(v->fitter, a->obs, a->n, 1e-5, &a->model.theta, &v->model_err);
		if (rc == FIT_ENOMEM)
			v->code = rc;
		a->broken = rc != FIT_OK;
		a->stale = false;
		a->fitted = true;
		forget_predictions(a);
		return;
	}
	if (a->fitted)
		fit_throughput_params_warm(&p, &a->model.theta);
	else
		fit_throughput_params_default(&p);
	p.std_errors = false;
	rc = fit_throughput_fit(v->fitter, a->obs, a->n, &p, &res, &v->model_err);
	if (rc == FIT_ENOMEM)
		v->code = rc;
	a->broken = rc != FIT_OK && rc != FIT_ENOCONV;
	a->stale = false;
	if (a->broken)
		return;
	a->model.theta = res.theta;
	a->fitted = true;
	forget_predictions(a);
}

void verify_agent_seed(struct fit_verifier *v, struct verify_live *l)
{
	const struct fit_app_info *info = info_of(v, l->job);
	const struct verify_app *app = info ? &v->apps[v->jobs[l->job].app] : NULL;
	const struct fit_theta *theta;

	if (!app)
		return;
	verify_check(v, RULE_INPUTS);
	theta = fit_theta_list_find(&v->models, fit_text_of(app->name));
	if (!theta) {
		verify_fault(v, RULE_INPUTS, l->job, "the models have none of application '%s'", app->name);
		return;
	}
	l->agent = agent_new(v, l->job, info);
	if (!l->agent) {
		v->code = FIT_ENOMEM;
		return;
	}
	l->agent->model.theta = *theta;
	l->agent->fitted = true;
	if (fit_app_grad_stats(app->model, info->init_batch, 0, &l->agent->model.grad_sqr,
			       &l->agent->model.grad_var, &v->model_err))
		l->agent->broken = true;
}

void verify_agent_learn(struct fit_verifier *v, struct verify_live *l)
{
	const struct fit_app_info *info = info_of(v, l->job);
	struct fit_throughput_obs o = {
		.num_nodes = (int64_t)l->n_nodes,
		.num_replicas = l->gpus,
		.local_bsz = l->local_bsz,
		.weight = 1,
	};
	struct fit_app *model;
	struct verify_agent *agent;
	struct fit_placement p;
	int64_t total = info ? verify_total(info, l->gpus, l->local_bsz, l->accum) : -1;
	double sqr, var;

	if (total < 0 || l->epoch >= info->epochs)
		return;
	model = l->n_nodes ? verify_model_on(v, l->job, l->nodes[0].node) : NULL;
	if (!model)
		return;
	verify_placement(l->nodes, l->n_nodes, &p);
	if (fit_app_throughput(model, &p, l->local_bsz, &o.step_s, &o.sync_s, &v->model_err) ||
	    fit_app_grad_stats(model, total, l->epoch, &sqr, &var, &v->model_err))
		return;	/* the profile does not cover it: the progress rule says so */
	if (!in_use(l)) {
		agent = agent_new(v, l->job, v->blind ? info : fit_app_info(model));
		if (agent) {
			agent->next = l->agent;
			agent->type = l->agent_type;
			l->agent = agent;
		}
	}
	agent = in_use(l);
	if (!agent || (!v->seeded && observe(agent, &o))) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (struct verify_agent *a = l->agent; a; a = a->next) {	/* gradients are the job's */
		a->model.grad_sqr = sqr;
		a->model.grad_var = var;
		forget_predictions(a);
	}
	refit(v, agent);
}

/* Has the job worked since its last row? */
static bool has_worked(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->jobs[l->job].state == JOB_RUNNING && v->now > l->row_ns && v->now > l->ready_ns;
}

void verify_pollux_begin(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];

		l->changed = false;
		if (has_worked(v, l) && !l->tuned)
			verify_agent_learn(v, l);
	}
}

/* Best predicted goodput on that many GPUs. The model tells one node from several, and no more. */
static struct fit_goodput_point best_on(struct verify_agent *a, bool several, int64_t gpus)
{
	size_t k = (size_t)(2 * gpus + several) % N_CACHE;

	if (!a->cache[k].set || a->cache[k].gpus != gpus || a->cache[k].several != several) {
		a->cache[k].set = true;
		a->cache[k].gpus = gpus;
		a->cache[k].several = several;
		a->cache[k].best = fit_goodput_best(&a->model, several ? 2 : 1, gpus);
	}
	return a->cache[k].best;
}

/* ---- pollux-batch-limits ---- */

/* The batch size that a job keeps; 0: none. */
static int64_t fixed_batch(const struct fit_verifier *v, uint32_t job, const struct fit_app_info *info)
{
	return v->jobs[job].kind == FIT_JOB_ADAPTIVE ? info->fixed_batch : verify_target(v, job);
}

/* The batch size that a job has no choice about; 0: it has. */
static int64_t given_target(const struct fit_verifier *v, uint32_t job, const struct fit_app_info *info,
			    const struct verify_agent *agent, int64_t gpus)
{
	int64_t least = info->min_local_bsz * gpus;

	if (fixed_batch(v, job, info))
		return fixed_batch(v, job, info);
	if (agent)
		return 0;
	return info->init_batch > least ? info->init_batch : least;
}

void verify_row_pollux_limits(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;
	const struct fit_app_info *info = r->job == NONE ? NULL : info_on(v, r);
	int64_t target;
	struct fit_batch b;

	if (!l || !info || r->sum < 1)
		return;
	verify_check(v, RULE_POLLUX_LIMITS);
	if (r->local_bsz == NO_INT || r->accum == NO_INT)
		return; /* log-vocabulary says so */
	if (r->ev == EV_FINISH) {
		if (r->local_bsz != l->local_bsz || r->accum != l->accum)
			verify_fault(v, RULE_POLLUX_LIMITS, r->job,
				     "finish with %lld a GPU in %lld + 1 passes, it ran %lld in "
				     "%lld + 1",
				     (long long)r->local_bsz, (long long)r->accum,
				     (long long)l->local_bsz, (long long)l->accum);
		return;
	}
	target = given_target(v, r->job, info, agent_on(v, r), r->sum);
	if (target) {
		b = verify_split(info, target, r->sum, false);
		if (r->local_bsz != b.atomic_bsz || r->accum != b.accum_steps)
			verify_fault(v, RULE_POLLUX_LIMITS, r->job,
				     "%s batch size %lld on %lld GPUs is %lld a GPU in %lld + 1 "
				     "passes, found %lld and %lld + 1",
				     fixed_batch(v, r->job, info) ? "the fixed" : "a first",
				     (long long)target, (long long)r->sum, (long long)b.atomic_bsz,
				     (long long)b.accum_steps, (long long)r->local_bsz,
				     (long long)r->accum);
		return;
	}
	if (r->local_bsz < info->min_local_bsz || r->local_bsz > info->max_local_bsz)
		verify_fault(v, RULE_POLLUX_LIMITS, r->job,
			     "%lld a GPU and pass (the application takes %lld to %lld)",
			     (long long)r->local_bsz, (long long)info->min_local_bsz,
			     (long long)info->max_local_bsz);
	else if (verify_total(info, r->sum, r->local_bsz, r->accum) < 0)
		verify_fault(v, RULE_POLLUX_LIMITS, r->job,
			     "%lld a GPU in %lld + 1 passes on %lld GPUs (the application takes 0 "
			     "or more, and %lld in all)",
			     (long long)r->local_bsz, (long long)r->accum, (long long)r->sum,
			     (long long)info->max_batch);
}

/* ---- pollux-batch-best ---- */

/* What a job runs of a split that its model wants: the total is limited. */
static struct fit_batch clamped(const struct fit_goodput *g, int64_t gpus, int64_t atomic,
				int64_t accum)
{
	int64_t most = g->max_batch / (gpus * (accum + 1));

	return (struct fit_batch){ atomic < most ? atomic : most, accum };
}

/* Is b what the job would run of a size of the grid whose goodput is as good as the best one's?
 * Where a model is known to some digits only, a neighbour of the best may come out best. */
static bool as_good(const struct fit_goodput *g, int64_t nodes, int64_t gpus, struct fit_batch b,
		    double best)
{
	double low = fmax((double)g->init_batch, (double)(g->min_local_bsz * gpus));
	double from = log10(low), to = log10((double)g->max_batch);

	for (int k = 0; k < FIT_GOODPUT_GRID; k++) {
		double total = pow(10, from + k * (to - from) / (FIT_GOODPUT_GRID - 1));
		double local = total / (double)gpus;
		int64_t accum = (int64_t)ceil(local / (double)g->max_local_bsz - 1e-8) - 1, atomic;
		struct fit_batch c;

		if (gpus == 1 && accum < 1 && local > (double)g->init_batch + 1e-8)
			accum = 1;
		accum = accum < 0 ? 0 : accum;
		atomic = (int64_t)ceil(local / (double)(accum + 1) - 1e-8);
		c = clamped(g, gpus, atomic, accum);
		if (atomic < g->min_local_bsz || atomic > g->max_local_bsz ||
		    c.atomic_bsz != b.atomic_bsz || c.accum_steps != b.accum_steps)
			continue;
		if (fit_goodput_at(g, nodes, gpus, atomic, accum).goodput >=
		    best * (1 - SAME_GOODPUT))
			return true;
	}
	return false;
}

/* place: of one of the nodes that it is on */
static bool check_best(struct fit_verifier *v, const struct verify_live *l, struct verify_agent *a,
		       const struct verify_place *place, size_t nodes, int64_t gpus, struct fit_batch found)
{
	const struct fit_app *on = verify_model_on(v, l->job, place->node);
	const struct fit_app *caps = v->policy == POLICY_SIA || v->sia_reference || v->blind ? on : NULL;
	struct fit_goodput g = a->model;
	struct fit_goodput_point p;
	struct fit_batch want;

	verify_check(v, RULE_POLLUX_BEST);
	if (a->broken) {
		verify_fault(v, RULE_POLLUX_BEST, l->job, "no model of its %zu observations: %s",
			     a->n, v->model_err.msg);
		return false;
	}
	if (v->blind && on) {	/* the one model, within the limits of the type that it is on */
		g.max_batch = fit_app_info(on)->max_batch;
		g.min_local_bsz = fit_app_info(on)->min_local_bsz;
		g.max_local_bsz = fit_app_info(on)->max_local_bsz;
	}
	p = v->blind ? fit_goodput_best(&g, nodes > 1 ? 2 : 1, gpus) : best_on(a, nodes > 1, gpus);
	if (p.atomic_bsz < 1) {
		verify_fault(v, RULE_POLLUX_BEST, l->job, "no batch size fits %lld GPUs",
			     (long long)gpus);
		return false;
	}
	want = clamped(&g, gpus, p.atomic_bsz, p.accum_steps);
	if (caps && fit_app_most_local(caps, gpus) < want.atomic_bsz)
		want.atomic_bsz = fit_app_most_local(caps, gpus);
	if ((found.atomic_bsz == want.atomic_bsz && found.accum_steps == want.accum_steps) ||
	    as_good(&g, (int64_t)nodes, gpus, found, p.goodput))
		return true;
	verify_fault(v, RULE_POLLUX_BEST, l->job,
		     "the best batch size on %lld GPUs is %lld a GPU in %lld + 1 passes by the %zu "
		     "observations of the job, found %lld and %lld + 1",
		     (long long)gpus, (long long)want.atomic_bsz, (long long)want.accum_steps, a->n,
		     (long long)found.atomic_bsz, (long long)found.accum_steps);
	return false;
}

void verify_row_pollux_best(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;
	const struct fit_app_info *info = r->job == NONE ? NULL : info_of(v, r->job);

	if (!l || !info || r->sum < 1 || r->local_bsz == NO_INT || r->accum == NO_INT)
		return;
	if (r->ev == EV_BATCH && r->local_bsz == l->local_bsz && r->accum == l->accum) {
		verify_check(v, RULE_POLLUX_BEST);
		verify_fault(v, RULE_POLLUX_BEST, r->job,
			     "batch, but it stays at %lld a GPU in %lld + 1 passes",
			     (long long)l->local_bsz, (long long)l->accum);
		return;
	}
	if (agent_on(v, r) && !fixed_batch(v, r->job, info))
		(void)check_best(v, l, agent_on(v, r), r->nodes, r->n_nodes, r->sum,
				 (struct fit_batch){ r->local_bsz, r->accum });
}

/* Jobs that learned something and got no row: what they run must be the best as it is. */
void verify_decide_pollux_best(struct fit_verifier *v)
{
	if (!v->legal)
		return;
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];
		const struct fit_app_info *info = info_of(v, l->job);

		if (!has_worked(v, l) || l->tuned || !in_use(l) || !info || fixed_batch(v, l->job, info))
			continue;
		if (check_best(v, l, in_use(l), l->nodes, l->n_nodes, l->gpus,
			       (struct fit_batch){ l->local_bsz, l->accum }) &&
		    !v->mute)
			l->tuned = true;
	}
}

/* ---- pollux-doubling, pollux-interference ---- */

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Pollux on several types: no more than the smallest one has on the nodes that profiles were measured on. */
static int64_t most_of_types(const struct fit_verifier *v)
{
	int64_t sum[UINT8_MAX + 1] = { 0 }, nodes[UINT8_MAX + 1] = { 0 }, most = v->total;

	for (size_t i = 0; i < v->n_nodes; i++) {
		uint16_t t = v->node_type[i];

		if (t <= UINT8_MAX && (!v->type_nodes[t] || nodes[t] < v->type_nodes[t])) {
			sum[t] += v->size[i];
			nodes[t]++;
		}
	}
	for (size_t t = 0; t <= UINT8_MAX; t++)
		most = nodes[t] ? least_of(most, sum[t]) : most;
	return most;
}

/* The most GPUs that a job may have. */
static int64_t most_gpus(const struct fit_verifier *v, const struct fit_app_info *info,
			 const struct verify_live *l)
{
	int64_t most = info->max_batch / info->min_local_bsz;

	if (v->blind)
		most = least_of(most, most_of_types(v));
	if (!v->seeded)
		most = least_of(most, l->agent && l->agent->most_gpus > 0 ? 2 * l->agent->most_gpus : 1);
	return info->max_replicas ? least_of(most, info->max_replicas) : most;
}

int64_t verify_agent_seen(const struct verify_live *l)
{
	int64_t most = 0;

	for (const struct verify_agent *a = l->agent; a; a = a->next)
		most = a->most_gpus > most ? a->most_gpus : most;
	return most;
}

double verify_agent_goodput(const struct verify_live *l, uint16_t type, int64_t nodes, int64_t gpus,
			    int64_t most_batch)
{
	for (const struct verify_agent *a = l->agent; a; a = a->next) {
		struct fit_goodput g = a->model;

		if (a->type != type || a->broken)
			continue;
		if (!g.fixed_batch && most_batch >= g.init_batch && most_batch < g.max_batch)
			g.max_batch = most_batch;
		return fit_goodput_best(&g, nodes, gpus).goodput;
	}
	return -1;
}

#define MOST_GPUS 64

int64_t verify_agent_most_gpus(const struct fit_verifier *v, const struct verify_live *l, uint16_t type)
{
	const struct fit_app *a = type == ANY_TYPE ? NULL : verify_model_of(v, l->job, type);
	const struct fit_app_info *info = a ? fit_app_info(a) : info_of(v, l->job);
	int64_t most, seen = verify_agent_seen(l);

	if (!info || type == ANY_TYPE)
		return info ? least_of(most_gpus(v, info, l), MOST_GPUS) : 0;
	most = least_of(info->max_batch / info->min_local_bsz, v->seeded ? MOST_GPUS : seen ? 2 * seen : 1);
	return least_of(info->max_replicas ? least_of(most, info->max_replicas) : most, MOST_GPUS);
}

double verify_agent_speedup(const struct verify_live *l, uint16_t type, int64_t base, bool throughput,
			    int64_t nodes, int64_t gpus)
{
	const struct verify_agent *a = l->agent;
	struct fit_goodput g;
	double one;

	while (a && type != ANY_TYPE && a->type != type)
		a = a->next;
	if (!a || gpus < 1)
		return (double)gpus;
	g = a->model;
	g.fixed_efficiency = throughput;
	one = fit_goodput_best(&g, 1, base).goodput;
	return one > 0 ? fit_goodput_best(&g, nodes, gpus).goodput / one * (double)base : 0;
}

void verify_row_pollux_doubling(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;
	const struct fit_app_info *info = r->job == NONE ? NULL : info_of(v, r->job);
	int64_t most;

	if (!l || !info)
		return;
	verify_check(v, RULE_POLLUX_DOUBLING);
	most = most_gpus(v, info, l);
	if (r->sum > most)
		verify_fault(v, RULE_POLLUX_DOUBLING, r->job,
			     "gets %lld GPUs; it %s %lld%s and may have %lld", (long long)r->sum,
			     v->seeded ? "holds" : "ran on at most",
			     v->seeded ? (long long)l->gpus : l->agent ? (long long)l->agent->most_gpus : 0,
			     v->seeded ? "" : " before", (long long)most);
}

/* The first node that two jobs on several nodes use, or n_nodes. */
static size_t contended_node(struct fit_verifier *v)
{
	size_t i = 0;

	if (verify_count_spanning(v, false)) {
		v->code = FIT_ENOMEM;
		return v->n_nodes;
	}
	while (i < v->n_nodes && v->spanning[i] < 2)
		i++;
	return i;
}

/*
 * Several types: nodes are cut into virtual ones of as many GPUs as the smallest has, and on each of those is
 * at most one job that is on several. The log does not tell them apart. But a job that is on several nodes,
 * or has more GPUs of one than a virtual one has, is on at least as many of the node as hold its GPUs there,
 * and together they are no more than there are.
 */
static void check_virtual_nodes(struct fit_verifier *v)
{
	int64_t each = INT64_MAX;

	for (size_t i = 0; i < v->n_nodes; i++)
		each = least_of(each, v->size[i]);
	for (size_t i = 0; i < v->n_nodes; i++) {
		int64_t used = 0, n_jobs = 0;

		for (size_t k = 0; k < v->active.n; k++) {
			const struct verify_live *l = &v->live[v->active.a[k]];

			for (size_t p = 0; p < l->n_nodes; p++)
				if ((size_t)l->nodes[p].node == i && (l->n_nodes > 1 || l->nodes[p].gpus > each)) {
					used += (l->nodes[p].gpus + each - 1) / each;
					n_jobs++;
				}
		}
		if (used > (v->size[i] + each - 1) / each)
			verify_fault(v, RULE_POLLUX_INTERFERENCE, NONE,
				     "node %zu is %lld virtual ones of %lld GPUs, and %lld jobs that are on several "
				     "need %lld of them", i, (long long)((v->size[i] + each - 1) / each),
				     (long long)each, (long long)n_jobs, (long long)used);
	}
}

void verify_decide_pollux_interference(struct fit_verifier *v)
{
	size_t node;

	if (!v->acted)
		return;
	verify_check(v, RULE_POLLUX_INTERFERENCE);
	if (v->blind) {
		check_virtual_nodes(v);
		return;
	}
	node = contended_node(v);
	if (node < v->n_nodes)
		verify_fault(v, RULE_POLLUX_INTERFERENCE, NONE,
			     "node %zu is used by %lu jobs that are on several nodes", node,
			     (unsigned long)v->spanning[node]);
}

/* ---- pollux-fitness ---- */

/* Goodput of the job's fair share, which is what its speedups are against. Where the fair share is
 * more than the job can use, its best size on one node stands in. */
static double fair_goodput(const struct fit_verifier *v, const struct fit_app_info *info,
			   const struct verify_live *l)
{
	bool several = !v->fair_on_one_node && v->fair_gpus > v->gpus_per_node;
	double g = best_on(l->agent, several, v->fair_gpus).goodput;

	for (int64_t r = most_gpus(v, info, l); r >= 1 && !(g > 0); r--)
		g = best_on(l->agent, false, r).goodput;
	return g;
}

/* Of what the job holds now. One that never ran is taken to scale linearly. */
static double speedup(const struct fit_verifier *v, const struct verify_live *l)
{
	if (l->gpus < 1)
		return 0;
	if (!l->agent)
		return (double)l->gpus / (double)v->fair_gpus;
	return l->base > 0 ? best_on(l->agent, l->n_nodes > 1, l->gpus).goodput / l->base : 0;
}

/* ( mean of (u + 1e-3)^p )^(1/p), u = speedup x nodes / GPUs x restart factor of a change. */
double verify_pollux_fitness(const struct fit_verifier *v)
{
	double sum = 0, scale = v->autoscale == SCALE_NONE ? (double)v->n_nodes / (double)v->total :
			 1 / (double)v->gpus_per_node; /* nodes that are up, all alike */


	for (size_t i = 0; i < v->active.n; i++) {
		const struct verify_live *l = &v->live[v->active.a[i]];
		double u = speedup(v, l) * scale * (l->changed ? l->restart_factor : 1);

		sum += pow(u + 1e-3, v->pollux_power);
	}
	return pow(sum / (double)v->active.n, 1 / v->pollux_power);
}

/* Could all be kept as it is? */
static bool keeping_is_feasible(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_nodes; i++)
		if (v->booked[i] > v->size[i])
			return false;
	for (size_t i = 0; i < v->active.n; i++) {
		const struct verify_live *l = &v->live[v->active.a[i]];
		const struct fit_app_info *info = info_of(v, l->job);

		if (!info || l->gpus > most_gpus(v, info, l) || (l->agent && l->agent->broken))
			return false;
	}
	return !v->pollux_avoids || contended_node(v) == v->n_nodes;
}

void verify_pollux_before(struct fit_verifier *v)
{
	int64_t n = (int64_t)v->active.n;

	v->keep_fitness = -1;
	v->fitness_told = false;
	if (!v->legal || !n || v->total < 1 || verify_nodes_leave(v) || v->blind)
		return;
	v->fair_gpus = (v->total + n - 1) / n;
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];
		const struct fit_app_info *info = info_of(v, l->job);
		double age_s = fit_time_to_double(v->now - v->jobs[l->job].submit_ns);
		double delay_s = fit_time_to_double(verify_restart_ns(v, l->job, 0));
		double left_s = age_s - delay_s * (double)l->n_restarts;

		if (!info || (l->agent && l->agent->broken))
			return;
		l->restart_factor = left_s > 0 ? left_s / (age_s + delay_s) : 0;
		l->base = l->agent ? fair_goodput(v, info, l) : 0;
	}
	v->fitness_told = true;
	if (!v->pollux_reference && keeping_is_feasible(v))
		v->keep_fitness = verify_pollux_fitness(v);
}

void verify_decide_pollux_fitness(struct fit_verifier *v)
{
	double f;

	if (!v->acted || v->keep_fitness < 0)
		return;
	verify_check(v, RULE_POLLUX_FITNESS);
	f = verify_pollux_fitness(v);
	if (!(f >= v->keep_fitness * (1 - SAME_FITNESS)))
		verify_fault(v, RULE_POLLUX_FITNESS, NONE,
			     "the allocations have fitness %.9g, keeping the last ones has %.9g", f,
			     v->keep_fitness);
}
