/* SPDX-License-Identifier: MIT */
/*
 * Speedup functions and fixed widths (BOA): work, speeds and restart delays of classes from their
 * tables, the width that a plan gives each job in each epoch, who may wait for it and how long,
 * where it is placed, and the conservation law. docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

/* ---- the tables ---- */

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
		if (!rc && fit_time_from_double(isnan(row.rescale_s) ? 0 : row.rescale_s, &a->rescale_ns))
			rc = fit_fail(err, FIT_EDATA, "%s: class '%s': rescale_s is out of range", classes, a->name);
		a->least_gpus = row.min_gpus > 0 ? row.min_gpus : 1;
	}
	return rc;
}

void fit_verifier_believed(struct fit_verifier *v, const char *operand)
{
	v->believed_from = operand;
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
	rc = fit_boa_learner_new(&v->learner, v->believed_from ? v->believed_from : v->speedups_from,
				 v->classes_from,
				 gpus, true, err);
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
		fit_boa_learner_observe(v->learner, fit_text_of(v->apps[v->jobs[l->job].app].name), l->epoch, l->gpus,
					verify_class_speed(v, l->job, l->epoch, l->gpus));
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

double verify_class_speed(const struct fit_verifier *v, uint32_t job, int64_t epoch, int64_t gpus)
{
	const struct fit_speedup_class *c = v->apps[v->jobs[job].app].class;
	const struct fit_speedup_epoch *e;

	if (epoch < 0 || epoch >= (int64_t)c->n)
		return 0;
	e = &v->speedups.epochs[c->at + (size_t)epoch];
	for (size_t i = 0; i < e->n; i++) {
		const struct fit_width *w = &v->speedups.widths[e->at + i];

		if (w->gpus == gpus)
			return fit_width_usable(w) ? w->speed : 0;
	}
	return 0;
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

/* The width of a job in its epoch; 0: the plans have none. */
static int64_t width_of(const struct fit_verifier *v, const struct verify_live *l)
{
	size_t first, end;

	if (v->learner)
		return fit_boa_learner_width(v->learner, fit_text_of(v->apps[v->jobs[l->job].app].name), (int)l->plan,
					     l->epoch);
	if (!planned_class(v, l->job, &first, &end))
		return 0;
	for (size_t i = first; i < end; i++)
		if (v->plans.rows[i].plan == l->plan && v->plans.rows[i].epoch == l->epoch)
			return v->plans.rows[i].gpus;
	return 0;
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
		int64_t w;

		if (!is_active(v, l) || l->wanted_epoch == l->epoch + 1)
			continue;
		w = width_of(v, l);
		l->wanted_epoch = l->epoch + 1;
		if (w != l->wanted) {
			l->wanted = w;
			l->wanted_ns = v->now;
		}
	}
}

int64_t verify_boa_gpus(struct fit_verifier *v)
{
	int64_t sum = 0;

	verify_boa_begin(v);
	for (size_t i = 0; i < v->n_live; i++)
		if (is_active(v, &v->live[i]))
			sum += v->live[i].wanted;
	return sum;
}

static bool before(const struct fit_verifier *v, const struct verify_live *a,
		   const struct verify_live *b)
{
	if (a->wanted_ns != b->wanted_ns)
		return a->wanted_ns < b->wanted_ns;
	return v->jobs[a->job].rank < v->jobs[b->job].rank;
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
	else if (r->sum > r->live->gpus && v->autoscale != SCALE_NONE && !v->boa_capped &&
		 r->t > served_by(v, r->live->wanted_ns))
		verify_fault(v, RULE_BOA_QUEUE, r->job, "waited %.9g s for its width, a node starts in %.9g",
			     fit_time_to_double(r->t - r->live->wanted_ns), fit_time_to_double(v->node_start_ns));
}

/* After a decision everybody has what it wants, or waits for want of GPUs, and nobody who came
 * later got any. */
void verify_decide_boa_queue(struct fit_verifier *v)
{
	const struct verify_live *head = NULL;

	if (!v->legal)
		return;
	verify_boa_begin(v);
	for (size_t i = 0; i < v->n_live; i++) {
		const struct verify_live *l = &v->live[i];
		int64_t held = l->n_nodes ? l->gpus : 0;

		if (!is_active(v, l))
			continue;
		verify_check(v, RULE_BOA_WIDTH);
		if (held > l->wanted)
			verify_fault(v, RULE_BOA_WIDTH, l->job, "holds %lld GPUs, its width in epoch %lld is %lld",
				     (long long)held, (long long)l->epoch, (long long)l->wanted);
		if (held < l->wanted && (!head || before(v, l, head)))
			head = l;
	}
	verify_check(v, RULE_BOA_QUEUE);
	if (!head)
		return;
	if (head->wanted - (head->n_nodes ? head->gpus : 0) <= verify_free(v))
		verify_fault(v, RULE_BOA_QUEUE, head->job, "waits for its width of %lld GPUs while %lld are free",
			     (long long)head->wanted, (long long)verify_free(v));
	for (size_t i = 0; i < v->placed.n; i++) {
		const struct verify_live *l = &v->live[v->placed.a[i]];

		if (l->grew && is_active(v, l) && before(v, head, l))
			verify_fault(v, RULE_BOA_QUEUE, l->job, "is served before job '%.*s', which has waited longer",
				     FIT_TEXT_ARG(verify_job_id(v, head->job)));
	}
}

/* ---- placement: consolidate-first, the widest first ---- */

static int by_width(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	int64_t x = v->live[a].gpus, y = v->live[b].gpus;

	if (x != y)
		return x > y ? -1 : 1;
	return (v->jobs[v->live[a].job].rank > v->jobs[v->live[b].job].rank) -
	       (v->jobs[v->live[a].job].rank < v->jobs[v->live[b].job].rank);
}

static int64_t room_on(const struct fit_verifier *v, size_t node)
{
	return v->tree[v->tree_n + node];
}

/* The node with room for need GPUs that has least of it (or, most: the most), the lowest on ties. */
static size_t pick(const struct fit_verifier *v, int64_t need, bool most)
{
	size_t best = v->n_nodes;
	int64_t room = 0;

	for (size_t i = 0; i < v->n_nodes; i++) {
		int64_t x = room_on(v, i);

		if (x < need || x < 1 || (best < v->n_nodes && (most ? x <= room : x >= room)))
			continue;
		best = i;
		room = x;
	}
	return best;
}

static bool share_is(struct fit_verifier *v, const struct verify_live *l, size_t *k, size_t node,
		     int64_t gpus)
{
	if (*k >= l->n_nodes || (size_t)l->nodes[*k].node != node || l->nodes[*k].gpus != gpus)
		return false;
	verify_tree_add(v, node, -gpus);
	(*k)++;
	return true;
}

static bool can_consolidate(const struct fit_verifier *v, int64_t gpus, int64_t whole)
{
	int64_t n = 0, rest = gpus % whole;
	bool room = rest == 0;

	if (gpus <= whole)
		return pick(v, gpus, false) < v->n_nodes;
	for (size_t i = 0; i < v->n_nodes; i++) {
		n += room_on(v, i) == whole;
		room = room || (rest && room_on(v, i) < whole && room_on(v, i) >= rest);
	}
	return n >= gpus / whole + !room;
}

static bool placed_right(struct fit_verifier *v, const struct verify_live *l, size_t *k)
{
	int64_t whole = v->gpus_per_node, need = l->gpus;
	bool fits = can_consolidate(v, need, whole);

	if (fits && need <= whole)
		return share_is(v, l, k, pick(v, need, false), need);
	while (need > 0) {
		size_t node = pick(v, fits && need >= whole ? whole : 1, true);
		int64_t take;

		if (node == v->n_nodes)
			return false;
		take = room_on(v, node) < need ? room_on(v, node) : need;
		if (!share_is(v, l, k, node, take))
			return false;
		need -= take;
	}
	return true;
}

void verify_decide_boa_placement(struct fit_verifier *v)
{
	if (!v->legal || !v->placed.n || !v->tree)
		return;
	v->order.n = 0;
	for (size_t i = 0; i < v->placed.n; i++) {
		struct verify_live *l = &v->live[v->placed.a[i]];

		if (!l->placed || verify_list_push(&v->order, v->placed.a[i]))
			continue;
		l->placed = false;
		for (size_t k = 0; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				verify_tree_add(v, (size_t)l->nodes[k].node, l->nodes[k].gpus);
	}
	verify_sort(v, v->order.a, v->order.n, by_width);
	for (size_t i = 0; i < v->order.n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];
		size_t k = 0;

		verify_check(v, RULE_BOA_PLACEMENT);
		if (!placed_right(v, l, &k))
			verify_fault(v, RULE_BOA_PLACEMENT, l->job,
				     "share %zu is not on the node that condenses most", k + 1);
		for (; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				verify_tree_add(v, (size_t)l->nodes[k].node, -l->nodes[k].gpus);
	}
}

/* ---- the conservation law ---- */

/* The least usable width of an epoch that the class may have, and its speed; 0: none. */
static int64_t least_width(const struct fit_verifier *v, uint32_t job, int64_t epoch, double *speed)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];
	const struct fit_speedup_epoch *e = &v->speedups.epochs[a->class->at + (size_t)epoch];
	int64_t least = 0;

	*speed = 0;
	for (size_t i = 0; i < e->n; i++) {
		const struct fit_width *w = &v->speedups.widths[e->at + i];

		if (fit_width_usable(w) && w->gpus >= a->least_gpus && (!least || w->gpus < least)) {
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
		l->least_gpu_s += (double)least * verify_class_speed(v, l->job, l->epoch, l->gpus) / speed *
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
			found += (double)least * verify_class_speed(v, r->job, l->epoch, l->gpus) / speed *
				 fit_time_to_double(r->ran_ns);
	}
	verify_check(v, RULE_CONSERVATION);
	if (fabs(found - want) > 1e-6 * (want > 1 ? want : 1))
		verify_fault(v, RULE_CONSERVATION, r->job,
			     "has done %.12g GPU-seconds on its least width, its work is %.12g", found, want);
}
