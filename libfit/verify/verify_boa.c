/* SPDX-License-Identifier: MIT */
/*
 * Speedup functions and fixed widths (BOA): work, speeds and restart delays of classes from their
 * tables, the width and GPU type that a plan gives each job in each epoch, who may wait for it and how
 * long, and the conservation law. docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

/* ---- the tables ---- */

/* Restart delays of a class by GPU type of the speedups. */
static int read_rescales(struct fit_verifier *v, struct verify_app *a, const char *classes,
			 struct fit_err *err)
{
	a->rescale_ns = calloc(v->speedups.n_types + 1, sizeof *a->rescale_ns);
	if (!a->rescale_ns)
		return fit_fail_nomem(err);
	for (size_t t = 0; classes && t < v->speedups.n_types; t++) {
		struct fit_boa_class_row row = { .rescale_s = 0 };

		if (!fit_boa_classes_find(&v->class_table, fit_text_of(a->name), fit_text_of(v->speedups.types[t]), &row))
			continue;
		if (fit_time_from_double(isnan(row.rescale_s) ? 0 : row.rescale_s, &a->rescale_ns[t]))
			return fit_fail(err, FIT_EDATA, "%s: class '%s': rescale_s is out of range", classes, a->name);
	}
	return FIT_OK;
}

int fit_verifier_speedups(struct fit_verifier *v, const char *speedups, const char *classes,
			  struct fit_err *err)
{
	int rc = fit_speedups_read(&v->speedups, speedups, false, err);

	v->speedups_from = speedups;
	v->classes_from = classes;

	if (!rc && classes)
		rc = fit_boa_classes_read(&v->class_table, classes, err);
	for (size_t i = 0; i < v->n_apps && !rc; i++) {
		struct verify_app *a = &v->apps[i];
		struct fit_boa_class_row row = { .rescale_s = 0 };

		a->class = fit_speedups_find(&v->speedups, fit_text_of(a->name));
		if (!a->class)
			continue;
		if (classes && !fit_boa_classes_find(&v->class_table, fit_text_of(a->name), fit_text_of(""), &row))
			rc = fit_fail(err, FIT_EDATA, "%s: no class '%s'", classes, a->name);
		rc = rc ? rc : read_rescales(v, a, classes, err);
		a->least_gpus = row.min_gpus > 0 ? row.min_gpus : 1;
	}
	return rc;
}

/* ---- GPU types ---- */

void verify_boa_cluster(struct fit_verifier *v)
{
	bool one = v->speedups.n_types == 1;

	for (size_t t = 0; t <= UINT8_MAX; t++) {
		v->speed_type[t] = -1;
		v->type_gpus[t] = 0;
	}
	for (size_t i = 0; i < v->n_nodes; i++) {
		int64_t gpus = v->nodes ? v->nodes[i].gpus : v->size[i];

		if (v->node_type[i] <= UINT8_MAX && gpus > v->type_gpus[v->node_type[i]])
			v->type_gpus[v->node_type[i]] = gpus;
	}
	for (size_t i = 1; i < v->n_nodes; i++)
		one = one && v->node_type[i] == v->node_type[0];
	v->one_speed = one && v->n_nodes > 0;
	for (size_t i = 0; i < v->speedups.n_types; i++) {
		uint16_t t = verify_boa_type(v, v->speedups.types[i]);

		if (t <= UINT8_MAX)
			v->speed_type[t] = (int)i;
	}
}

uint16_t verify_boa_type(const struct fit_verifier *v, const char *name)
{
	uint32_t t;

	if (v->one_speed)	/* one on either side, whatever they are called */
		return v->node_type[0];
	t = *name ? fit_index_get(&v->by_type, fit_text_of(name)) : 0;
	return t < ANY_TYPE ? (uint16_t)t : ANY_TYPE;
}

int64_t verify_rescale_ns(const struct fit_verifier *v, uint32_t job, uint16_t type)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];

	return type <= UINT8_MAX && v->speed_type[type] >= 0 && a->rescale_ns ?
		a->rescale_ns[v->speed_type[type]] : 0;
}

/* Of what a job holds. */
static uint16_t held_type(const struct fit_verifier *v, const struct verify_live *l)
{
	return l->n_nodes ? verify_type_of(v, l->nodes[0].node) : v->n_nodes ? v->node_type[0] : 0;
}

static const char *type_name(const struct fit_verifier *v, uint16_t type)
{
	int i = type <= UINT8_MAX ? v->speed_type[type] : -1;

	return i < 0 || !*v->speedups.types[i] ? "NA" : v->speedups.types[i];
}

void fit_verifier_believed(struct fit_verifier *v, const char *operand)
{
	v->believed_from = operand;
}

/* "t4=0.526,v100=3.06" into prices, whose names point into text; false: it is something else. */
static bool read_prices(char *text, struct fit_boa_price prices[], size_t *n)
{
	for (char *at = text, *next; at; at = next) {
		char *eq;

		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		eq = strrchr(at, '=');
		if (!eq || *n == VERIFY_POOLS || fit_parse_double(fit_text_of(eq + 1), &prices[*n].price))
			return false;
		*eq = '\0';
		prices[(*n)++].type = at;
	}
	return true;
}

/* What several GPU types cost, and whether a job keeps to one. */
static int new_learner(struct fit_verifier *v, const struct fit_meta *m, double budget, struct fit_err *err)
{
	const char *prices = fit_meta_get(m, "boa_prices"), *routing = fit_meta_get(m, "boa_routing");
	struct fit_boa_params params = { .charge_start = true };
	struct fit_boa_price list[VERIFY_POOLS];
	char *text = fit_strdup(fit_text_of(prices ? prices : ""));
	int rc;

	if (!text)
		return fit_fail_nomem(err);
	params.prices = list;
	params.by_class = routing && fit_text_is(fit_text_of(routing), "class");
	verify_check(v, RULE_META);
	if (prices && !read_prices(text, list, &params.n_prices))
		verify_fault(v, RULE_META, NONE, "metadata boa_prices is '%s' (expected TYPE=X, by commas)", prices);
	if (routing && !params.by_class && !fit_text_is(fit_text_of(routing), "epoch"))
		verify_fault(v, RULE_META, NONE, "metadata boa_routing is '%s' (expected class or epoch)", routing);
	rc = fit_boa_learner_new(&v->learner, v->believed_from ? v->believed_from : v->speedups_from,
				 v->classes_from,
				 budget, &params, err);
	free(text);
	return rc;
}

int verify_boa_learn(struct fit_verifier *v, const struct fit_meta *m, struct fit_err *err)
{
	const char *budget = fit_meta_get(m, "boa_budget"), *every = fit_meta_get(m, "boa_resolve_s");
	const char *hash = fit_meta_get(m, "input_believed");
	double gpus;
	int rc;

	if (v->policy != POLICY_BOA || !budget)
		return FIT_OK;
	verify_check(v, RULE_META);
	if (fit_parse_double(fit_text_of(budget), &gpus) || !(gpus > 0) || !every ||
	    fit_parse_time(fit_text_of(every), &v->resolve_ns) || v->resolve_ns < 0) {
		verify_fault(v, RULE_META, NONE,
			     "metadata boa_budget and boa_resolve_s are '%s' and '%s' (expected numbers)",
			     budget, every ? every : "missing");
		v->policy = POLICY_OTHER;
		return FIT_OK;
	}
	if (!v->classes_from)
		return fit_fail(err, FIT_EINVAL, "the log computes widths from classes (give them with --classes)");
	rc = new_learner(v, m, gpus, err);
	if (rc)
		return rc;
	verify_check(v, RULE_INPUTS);
	if (hash && !fit_text_is(fit_text_of(hash), fit_boa_learner_hash(v->learner)))
		verify_fault(v, RULE_INPUTS, NONE, "the log was made from other beliefs (hash %s, found %s)", hash,
			     fit_boa_learner_hash(v->learner));
	return FIT_OK;
}

void verify_boa_observe(struct fit_verifier *v, const struct verify_live *l)
{
	if (v->learner && v->jobs[l->job].app != UINT16_MAX)
		fit_boa_learner_observe(v->learner, fit_text_of(v->apps[v->jobs[l->job].app].name), l->epoch,
					fit_boa_learner_find_type(v->learner, type_name(v, held_type(v, l))), l->gpus,
					verify_live_speed(v, l));
}

int64_t verify_boa_timer(const struct fit_verifier *v)
{
	if (!v->learner || !v->resolve_ns || v->interval_ns > 0 || v->n_submitted == v->n_finished + v->n_rejected)
		return NEVER;
	return (v->resolved + 1) * v->resolve_ns;
}

/* A multiple of the interval has come since the last decision. */
static void resolve(struct fit_verifier *v)
{
	if (!v->learner || !v->resolve_ns || v->now < 0 || v->now / v->resolve_ns <= v->resolved)
		return;
	v->resolved = v->now / v->resolve_ns;
	if (fit_boa_learner_solve(v->learner, &v->model_err))
		v->code = FIT_ENOMEM;
}

int fit_verifier_plan(struct fit_verifier *v, const char *plan, struct fit_err *err)
{
	return fit_boa_plan_table_read(&v->plans, plan, err);
}

void verify_boa_release(struct fit_verifier *v)
{
	fit_speedups_release(&v->speedups);
	fit_boa_classes_release(&v->class_table);
	fit_boa_plan_table_release(&v->plans);
	fit_boa_learner_free(v->learner);
	for (size_t i = 0; i < v->n_apps; i++)
		free(v->apps[i].rescale_ns);
}

int64_t verify_epochs(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];

	if (v->with_plans || v->with_rates)
		return 1;
	return v->with_speedups ? (int64_t)a->class->n : a->info->epochs;
}

double verify_work_until(const struct fit_verifier *v, uint32_t job, int64_t epoch)
{
	const struct fit_speedup_class *c = v->apps[v->jobs[job].app].class;
	double sum = 0;

	for (size_t e = 0; e < c->n && (int64_t)e < epoch; e++)
		sum += v->speedups.epochs[c->at + e].work;
	return sum;
}

double verify_class_speed(const struct fit_verifier *v, uint32_t job, int64_t epoch, uint16_t type,
			  int64_t gpus)
{
	const struct fit_speedup_class *c = v->apps[v->jobs[job].app].class;
	const struct fit_speedup_epoch *e;

	if (epoch < 0 || epoch >= (int64_t)c->n || type > UINT8_MAX)
		return 0;
	e = &v->speedups.epochs[c->at + (size_t)epoch];
	for (size_t i = 0; i < e->n; i++) {
		const struct fit_width *w = &v->speedups.widths[e->at + i];

		if (w->gpus == gpus && w->type == v->speed_type[type])
			return fit_width_usable(w) ? w->speed : 0;
	}
	return 0;
}

double verify_live_speed(const struct fit_verifier *v, const struct verify_live *l)
{
	return verify_class_speed(v, l->job, l->epoch, held_type(v, l), l->gpus);
}

/* ---- widths ---- */

static bool planned_class(const struct fit_verifier *v, uint32_t job, size_t *first, size_t *end)
{
	const char *name = v->apps[v->jobs[job].app].name;
	const struct fit_boa_plan_table *p = &v->plans;

	*first = *end = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!fit_text_is(fit_text_of(p->classes[p->rows[i].class_no]), name))
			continue;
		if (*first == *end)
			*first = i;
		*end = i + 1;
	}
	return *end > *first;
}

/* The n-th job of its class has plan 1 if and only if n theta passes a whole number. */
void verify_boa_arrival(struct fit_verifier *v, struct verify_live *l)
{
	struct verify_app *a = &v->apps[v->jobs[l->job].app];
	double theta = 0, n = (double)a->n_arrived++;
	size_t first = 0, end = 0;

	if (v->learner)
		theta = fit_boa_learner_share(v->learner, fit_text_of(a->name));
	else if (!planned_class(v, l->job, &first, &end))
		return;
	for (size_t i = first; !v->learner && i < end; i++)
		if (v->plans.rows[i].plan == 1)
			theta = v->plans.rows[i].share;
	l->plan = floor((n + 1) * theta) - floor(n * theta) > 0.5;
	l->wanted = 0;
}

struct width {
	int64_t gpus;
	uint16_t type;
};

/* The width of a job in its epoch; 0: the plans have none. */
static struct width width_of(const struct fit_verifier *v, const struct verify_live *l)
{
	const struct fit_boa_plan_table *p = &v->plans;
	size_t first, end, type = 0;

	if (v->learner) {
		int64_t gpus = fit_boa_learner_width(v->learner, fit_text_of(v->apps[v->jobs[l->job].app].name),
						     (int)l->plan, l->epoch, &type);

		return (struct width){ gpus, verify_boa_type(v, fit_boa_learner_type(v->learner, type)) };
	}
	if (!planned_class(v, l->job, &first, &end))
		return (struct width){ 0, ANY_TYPE };
	for (size_t i = first; i < end; i++)
		if (p->rows[i].plan == l->plan && p->rows[i].epoch == l->epoch)
			return (struct width){ p->rows[i].gpus, verify_boa_type(v, p->types[p->rows[i].type]) };
	return (struct width){ 0, ANY_TYPE };
}

static bool is_active(const struct fit_verifier *v, const struct verify_live *l)
{
	int s = v->jobs[l->job].state;

	return v->jobs[l->job].live == (uint32_t)(l - v->live) &&
	       (s == JOB_WAITING || s == JOB_RUNNING || s == JOB_PREEMPTED);
}

/* What everybody wants by now, and since when. */
void verify_boa_begin(struct fit_verifier *v)
{
	resolve(v);
	for (size_t i = 0; i < v->n_live; i++) {
		struct verify_live *l = &v->live[i];
		struct width w;

		if (!is_active(v, l) || l->wanted_epoch == l->epoch + 1)
			continue;
		w = width_of(v, l);
		l->wanted_epoch = l->epoch + 1;
		if (w.gpus != l->wanted || w.type != l->wanted_type) {
			l->wanted = w.gpus;
			l->wanted_type = w.type;
			l->wanted_ns = v->now;
		}
	}
}

int64_t verify_boa_gpus(struct fit_verifier *v, uint16_t type)
{
	int64_t sum = 0;

	verify_boa_begin(v);
	for (size_t i = 0; i < v->n_live; i++)
		if (is_active(v, &v->live[i]) && v->live[i].wanted_type == type)
			sum += v->live[i].wanted;
	return sum;
}

/* What the job holds of the type that it wants. */
static int64_t held(const struct fit_verifier *v, const struct verify_live *l)
{
	return l->n_nodes && held_type(v, l) == l->wanted_type ? l->gpus : 0;
}

/* Holds GPUs of a type, and wants those of another one. */
static bool leaves(const struct fit_verifier *v, const struct verify_live *l, uint16_t type)
{
	return l->n_nodes && held_type(v, l) == type && l->wanted_type != type;
}

int64_t verify_boa_kept(const struct fit_verifier *v, uint16_t type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < v->n_live; i++)
		if (is_active(v, &v->live[i]) && leaves(v, &v->live[i], type))
			sum += v->live[i].gpus;
	return sum;
}

bool verify_boa_waits(const struct fit_verifier *v, uint16_t type)
{
	for (size_t i = 0; i < v->n_live; i++)
		if (is_active(v, &v->live[i]) && v->live[i].wanted_type == type && held(v, &v->live[i]) < v->live[i].wanted)
			return true;
	return false;
}

static bool before(const struct fit_verifier *v, const struct verify_live *a,
		   const struct verify_live *b)
{
	if (a->wanted_ns != b->wanted_ns)
		return a->wanted_ns < b->wanted_ns;
	return v->jobs[a->job].rank < v->jobs[b->job].rank;
}

static int by_wait(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	return before(v, &v->live[a], &v->live[b]) ? -1 : before(v, &v->live[b], &v->live[a]);
}

static int64_t free_of(const struct fit_verifier *v, uint16_t type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < v->n_nodes; i++)
		sum += v->node_type[i] == type ? v->size[i] - v->booked[i] : 0;
	return sum;
}

/* The last instant at which a job that began to want its width at `since` gets it, where nodes
 * can be had. */
static int64_t served_by(const struct fit_verifier *v, int64_t since)
{
	int64_t at = since + v->node_start_ns, d = v->interval_ns;

	return d > 0 ? (at / d + (at % d != 0)) * d : at;
}

void verify_row_boa_width(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->job == NONE || !r->live)
		return;
	verify_check(v, RULE_BOA_WIDTH);
	verify_boa_begin(v);
	if (r->ev == EV_PREEMPT)
		verify_fault(v, RULE_BOA_WIDTH, r->job, "preempted: a job holds its width until it ends");
	else if (r->sum != r->live->wanted)
		verify_fault(v, RULE_BOA_WIDTH, r->job, "gets %lld GPUs, its width in epoch %lld is %lld",
			     (long long)r->sum, (long long)r->live->epoch, (long long)r->live->wanted);
	else if (r->n_nodes && verify_type_of(v, r->nodes[0].node) != r->live->wanted_type)
		verify_fault(v, RULE_BOA_WIDTH, r->job, "gets GPUs of type '%s', its width in epoch %lld is of type '%s'",
			     type_name(v, verify_type_of(v, r->nodes[0].node)), (long long)r->live->epoch,
			     type_name(v, r->live->wanted_type));
	else if (r->sum > held(v, r->live) && v->autoscale != SCALE_NONE && !v->boa_capped &&
		 r->t > served_by(v, r->live->wanted_ns))
		verify_fault(v, RULE_BOA_QUEUE, r->job, "waited %.9g s for its width, a node starts in %.9g",
			     fit_time_to_double(r->t - r->live->wanted_ns), fit_time_to_double(v->node_start_ns));
}

/* Jobs that wait for GPUs, by how long, into v->order. */
static void gather_waiting(struct fit_verifier *v)
{
	v->order.n = 0;
	for (size_t i = 0; i < v->n_live; i++)
		if (is_active(v, &v->live[i]) && held(v, &v->live[i]) < v->live[i].wanted &&
		    verify_list_push(&v->order, (uint32_t)i))
			v->code = FIT_ENOMEM;
	verify_sort(v, v->order.a, v->order.n, by_wait);
}

/* The first of those that could be served together, if those of them that leave a type made room there; NULL:
 * none. Jobs that cannot be served are taken out of v->order until the rest can. */
static const struct verify_live *servable(struct fit_verifier *v)
{
	int64_t room[UINT8_MAX + 1] = { 0 }, left[UINT8_MAX + 1];
	bool blocked[UINT8_MAX + 1];
	size_t n;

	if (!v->order.n)
		return NULL;
	for (size_t i = 0; i < v->n_nodes; i++)
		room[v->node_type[i] & UINT8_MAX] += v->size[i] - v->booked[i];
	do {
		n = v->order.n;
		v->order.n = 0;
		for (size_t t = 0; t <= UINT8_MAX; t++) {
			left[t] = room[t];
			blocked[t] = false;
		}
		for (size_t i = 0; i < n; i++) {
			const struct verify_live *l = &v->live[v->order.a[i]];

			if (l->n_nodes && !held(v, l))
				left[held_type(v, l) & UINT8_MAX] += l->gpus;
		}
		for (size_t i = 0; i < n; i++) {
			const struct verify_live *l = &v->live[v->order.a[i]];
			size_t t = l->wanted_type & UINT8_MAX;

			left[t] -= l->wanted - held(v, l);
			blocked[t] = blocked[t] || left[t] < 0;
			if (!blocked[t])
				v->order.a[v->order.n++] = v->order.a[i];
		}
	} while (v->order.n < n && v->order.n);
	return v->order.n ? &v->live[v->order.a[0]] : NULL;
}

/* Of a type nobody was served who came behind one that waits for it. */
static void check_turns(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->placed.n; i++) {
		const struct verify_live *l = &v->live[v->placed.a[i]], *head = NULL;

		for (size_t k = 0; k < v->order.n && l->grew && is_active(v, l) && !head; k++)
			if (v->live[v->order.a[k]].wanted_type == l->wanted_type)
				head = &v->live[v->order.a[k]];
		if (head && before(v, head, l))
			verify_fault(v, RULE_BOA_QUEUE, l->job, "is served before job '%.*s', which has waited longer",
				     FIT_TEXT_ARG(verify_job_id(v, head->job)));
	}
}

/* After a decision everybody has what it wants, or waits for want of GPUs, and nobody who came
 * later got any. */
void verify_decide_boa_queue(struct fit_verifier *v)
{
	const struct verify_live *l;

	if (!v->legal)
		return;
	verify_boa_begin(v);
	for (size_t i = 0; i < v->n_live; i++) {
		l = &v->live[i];
		if (!is_active(v, l))
			continue;
		verify_check(v, RULE_BOA_WIDTH);
		if (held(v, l) > l->wanted)
			verify_fault(v, RULE_BOA_WIDTH, l->job, "holds %lld GPUs, its width in epoch %lld is %lld",
				     (long long)held(v, l), (long long)l->epoch, (long long)l->wanted);
	}
	verify_check(v, RULE_BOA_QUEUE);
	gather_waiting(v);
	check_turns(v);
	l = servable(v);
	if (l && l->wanted - held(v, l) <= free_of(v, l->wanted_type))
		verify_fault(v, RULE_BOA_QUEUE, l->job, "waits for its width of %lld GPUs while %lld are free",
			     (long long)l->wanted, (long long)free_of(v, l->wanted_type));
	else if (l)
		verify_fault(v, RULE_BOA_QUEUE, l->job, "waits for its width of %lld GPUs, and jobs that leave their type "
			     "would make room", (long long)l->wanted);
}

/* ---- the conservation law ---- */

/* The least usable width of an epoch that the class may have, of the first GPU type that has one, and its
 * speed; 0: none. */
static int64_t least_width(const struct fit_verifier *v, uint32_t job, int64_t epoch, double *speed)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];
	const struct fit_speedup_epoch *e = &v->speedups.epochs[a->class->at + (size_t)epoch];
	int64_t least = 0;

	*speed = 0;
	for (size_t i = 0; i < e->n; i++) {
		const struct fit_width *w = &v->speedups.widths[e->at + i];

		if (fit_width_usable(w) && w->gpus >= a->least_gpus && !least) { /* by type, then by number */
			least = w->gpus;
			*speed = w->speed;
		}
	}
	return least;
}

/* GPU-seconds on the least width that the running job has done since its last row: the integral
 * of K s(k) / s(K). */
void verify_boa_count(struct fit_verifier *v, struct verify_live *l, int64_t ran_ns)
{
	double speed;
	int64_t least = least_width(v, l->job, l->epoch, &speed);

	if (least)
		l->least_gpu_s += (double)least * verify_live_speed(v, l) / speed *
				  fit_time_to_double(ran_ns);
}

/* Whatever the policy: a job that has finished has done the sum over its epochs of K x / s(K). */
void verify_row_conservation(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_live *l = r->live;
	double want = 0, speed, found;

	if (r->job == NONE || !l || !l->n_nodes || !r->known)
		return;
	for (int64_t e = 0; e < verify_epochs(v, r->job); e++) {
		int64_t least = least_width(v, r->job, e, &speed);

		if (least)
			want += (double)least * v->speedups.epochs[v->apps[v->jobs[r->job].app].class->at + (size_t)e].work /
				speed;
	}
	found = l->least_gpu_s;
	if (l->epoch < verify_epochs(v, r->job)) {
		int64_t least = least_width(v, r->job, l->epoch, &speed);

		if (least)
			found += (double)least * verify_live_speed(v, l) / speed *
				 fit_time_to_double(r->ran_ns);
	}
	verify_check(v, RULE_CONSERVATION);
	if (fabs(found - want) > 1e-6 * (want > 1 ? want : 1))
		verify_fault(v, RULE_CONSERVATION, r->job,
			     "has done %.12g GPU-seconds on its least width, its work is %.12g", found, want);
}
