/* SPDX-License-Identifier: MIT */
/*
 * Rubick (MLSys'25): jobs are reconfigured, not only resized: with its GPUs a job gets the execution plan
 * that is the fastest on them (docs/methods/rubick.md).
 *
 * Jobs are taken by what a further GPU is worth to them, guaranteed ones first. A job that runs on one
 * node takes of the emptiest node what is of use to it; where nothing is free, a job that loses less by
 * it than the new one gains gives up GPUs. A wide job takes the placement with the most speed a GPU for
 * which there is room. A guaranteed job gets room made by jobs without a guarantee; one that has waited
 * for long goes first, and keeps others waiting until there is room for it. What is left over goes to
 * running jobs, where that saves more than the change costs.
 *
 * A fidelity profile has the published code in its place (rubick_as_run.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/replay/rubick_as_run.h"

#define AGED_NS (INT64_C(200000) * FIT_NS_PER_S)	/* as published */
#define MOST_RESTARTS 5		/* a job with as many is not resized for the sake of speed */

struct rubick {
	struct fit_rubick_curves curves;
	struct fit_rubick_draft draft, trial;
	struct fit_rubick_as_run as_run;
	const struct fit_rubick_models *models;
	uint32_t *victims;	/* scratch: rows */
	size_t cap_victims;
};

static void rubick_free(void *state)
{
	struct rubick *s = state;

	fit_rubick_curves_release(&s->curves);
	fit_rubick_draft_release(&s->draft);
	fit_rubick_draft_release(&s->trial);
	fit_rubick_as_run_release(&s->as_run);
	free(s->victims);
	free(s);
}

static int rubick_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		       struct fit_err *err)
{
	struct rubick *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return fit_fail_nomem(err);
	*state = s;
	s->models = p->rubick_models;
	rc = fit_rubick_curves_init(&s->curves, p->plan_times, s->models, v->fidelity, v->cluster->max_node_gpus,
				    err);
	for (size_t j = 0; j < v->n_jobs && !rc && s->models; j++)
		if (!fit_rubick_curve_of(&s->curves, v->jobs[j].plans)->wide &&
		    !fit_rubick_models_find(s->models, fit_text_of(v->jobs[j].app_name)))
			rc = fit_fail(err, FIT_EDATA, "job %s: no model of application '%s'", v->jobs[j].id,
				      v->jobs[j].app_name);
	return rc ? rc : fit_rubick_as_run_init(&s->as_run, v->n_jobs, err);
}

/* ---- what a change is worth ---- */

/* The largest size of use within so many GPUs; 0: none. */
static int32_t useful(const struct fit_rubick_curve *c, int32_t gpus)
{
	gpus = gpus > c->most ? c->most : gpus;
	return gpus > 0 ? c->sizes[gpus].gpus : 0;
}

/* The next smaller size of use; 0: none. */
static int32_t smaller(const struct fit_rubick_curve *c, int32_t gpus)
{
	return useful(c, gpus - 1);
}

static double speed_of(const struct fit_rubick_curve *c, int32_t gpus)
{
	return gpus > 0 ? fit_rubick_speed(c, gpus) : 0;
}

/* Relative speed that each GPU brings between two sizes. */
static double slope_between(const struct fit_rubick_curve *c, int32_t less, int32_t more)
{
	return more > less ? (speed_of(c, more) - speed_of(c, less)) / c->reference / (more - less) : 0;
}

/* What the next GPU is worth to a row. */
static double slope_of(const struct fit_rubick_draft *d, size_t i)
{
	const struct fit_rubick_row *r = &d->rows[i];
	double best = 0;

	if (!r->total && r->age_ns > AGED_NS)
		return (double)INFINITY;
	if (r->curve->wide) {
		double now = fit_rubick_row_speed(d, i);

		for (size_t k = 0; k < r->curve->n_spreads; k++) {
			const struct fit_rubick_spread *x = &r->curve->spreads[k];
			double s = x->gpus > r->total ? (x->speed - now) / r->curve->reference / (x->gpus - r->total) : 0;

			best = s > best ? s : best;
		}
		return best;
	}
	for (int32_t g = r->total + 1; g <= r->curve->most; g++)
		if (r->curve->sizes[g].gpus == g)
			return slope_between(r->curve, r->total, g);
	return 0;
}

/* GPUs that a guaranteed row needs, 0: no guarantee. */
static int32_t needs(const struct fit_rubick_row *r)
{
	int32_t least = 0;

	if (!r->sla)
		return 0;
	for (int32_t g = 1; g <= r->curve->most && !r->curve->wide && !least; g++)
		if (speed_of(r->curve, g) >= r->target * (1 - 1e-9))
			least = r->curve->sizes[g].gpus;
	if (!least)	/* the target is unknown, or more than it can have: what it asks for */
		least = useful(r->curve, (int32_t)(r->asked < r->curve->most ? r->asked : r->curve->most));
	return least;
}

static void put(struct fit_rubick_draft *d, size_t i, int32_t node, int32_t gpus)
{
	fit_rubick_set(d, i, node, gpus);
	d->rows[i].plan = gpus ? d->rows[i].curve->sizes[gpus].plan : FIT_NO_EXEC_PLAN;
}

/* ---- GPUs of others ---- */

/* What a row may be left with: as little as that, by its guarantee. */
static int32_t least_of(const struct fit_rubick_row *r, bool by_right)
{
	if (r->sla)
		return r->curve->wide ? r->total : needs(r);
	return by_right ? 0 : smaller(r->curve, 2) > 0 ? 1 : useful(r->curve, r->curve->most);
}

/* Of the rows on a node the one that loses least by its next smaller size; *to is that size. */
static size_t cheapest(const struct fit_rubick_draft *d, int32_t node, size_t but, bool by_right, int32_t *to,
		       double *loss)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < d->n; i++) {
		const struct fit_rubick_row *r = &d->rows[i];
		int32_t less;
		double x;

		if (i == but || !*fit_rubick_on(d, i, node) ||
		    (!by_right && (r->restarts >= MOST_RESTARTS || r->curve->wide)))
			continue;
		less = r->curve->wide ? 0 : smaller(r->curve, r->total);
		if (less < least_of(r, by_right))
			continue;
		x = r->curve->wide ? fit_rubick_row_speed(d, i) / r->curve->reference / r->total :
		    slope_between(r->curve, less, r->total);
		if (found == SIZE_MAX || x < *loss) {
			found = i;
			*loss = x;
			*to = less;
		}
	}
	return found;
}

static void shrink(struct fit_rubick_draft *d, size_t victim, int32_t node, int32_t to)
{
	if (d->rows[victim].curve->wide)
		fit_rubick_clear(d, victim);
	else
		put(d, victim, node, to);
}

/* GPUs of a node that could be had for row i by right: free ones, and those of rows without a
 * guarantee. */
static int32_t to_be_had(const struct fit_rubick_draft *d, size_t but, int32_t node)
{
	int32_t all = d->free[node];

	for (size_t i = 0; i < d->n; i++)
		if (i != but && !d->rows[i].sla)
			all += *fit_rubick_on(d, i, node);
	return all;
}

/* Make so many GPUs of a node free; they are to be had. */
static void make_room(struct fit_rubick_draft *d, size_t row, int32_t node, int32_t gpus)
{
	while (d->free[node] < gpus) {
		double loss = 0;
		int32_t to = 0;
		size_t victim = cheapest(d, node, row, true, &to, &loss);

		if (victim == SIZE_MAX)
			return;
		shrink(d, victim, node, to);
	}
}

/* ---- jobs on one node ---- */

static int32_t emptiest(const struct fit_rubick_draft *d)
{
	int32_t best = -1;

	for (int32_t k = 0; k < d->n_nodes; k++)
		if (best < 0 || d->free[k] > d->free[best])
			best = k;
	return best;
}

/* Take GPUs from the row, of all nodes, that loses least, if this one gains more by them. */
static void share_node(struct fit_rubick_draft *d, size_t i)
{
	const struct fit_rubick_curve *c = d->rows[i].curve;
	double best = 0;
	size_t victim = SIZE_MAX;
	int32_t node = -1, to = 0;

	for (int32_t k = 0; k < d->n_nodes; k++) {
		double loss = 0, gain;
		int32_t less = 0, size;
		size_t x = cheapest(d, k, i, false, &less, &loss);

		if (x == SIZE_MAX)
			continue;
		size = useful(c, d->free[k] + d->rows[x].total - less);
		gain = slope_between(c, 0, size) - loss;
		if (size && gain > best) {
			best = gain;
			victim = x;
			node = k;
			to = less;
		}
	}
	if (victim == SIZE_MAX)
		return;
	shrink(d, victim, node, to);
	put(d, i, node, useful(c, d->free[node]));
}

/* The node where the fewest GPUs of others have to go. */
static int32_t node_by_right(const struct fit_rubick_draft *d, size_t i, int32_t gpus)
{
	int32_t best = -1;

	for (int32_t k = 0; k < d->n_nodes; k++)
		if (to_be_had(d, i, k) >= gpus && (best < 0 || d->free[k] > d->free[best]))
			best = k;
	return best;
}

static void place_on_node(struct fit_rubick_draft *d, size_t i)
{
	struct fit_rubick_row *r = &d->rows[i];
	int32_t node = emptiest(d), need = needs(r);

	if (node >= 0 && useful(r->curve, d->free[node]) > 0 && useful(r->curve, d->free[node]) >= need) {
		put(d, i, node, useful(r->curve, d->free[node]));
		return;
	}
	if (!need) {
		share_node(d, i);
		return;
	}
	node = node_by_right(d, i, need);
	if (node < 0)
		return;
	make_room(d, i, node, need);
	if (d->free[node] >= need)
		put(d, i, node, useful(r->curve, d->free[node]));
}

/* ---- wide jobs ---- */

/* A node for each chunk, the fullest that has room; by_right: also where others can be made to go. */
static bool fits(const struct fit_rubick_draft *d, size_t i, const struct fit_rubick_spread *x, bool by_right)
{
	for (int32_t p = 0; p < x->nodes; p++) {
		int32_t best = -1, best_room = 0;

		for (int32_t k = 0; k < d->n_nodes; k++) {
			int32_t room = by_right ? to_be_had(d, i, k) : d->free[k];
			bool used = false;

			for (int32_t q = 0; q < p && !used; q++)
				used = d->nodes[q] == k;
			if (used || room < x->per_node[p])
				continue;
			/* by right: rather where more is free already */
			if (best < 0 || (by_right ? d->free[k] > d->free[best] : room < best_room)) {
				best = k;
				best_room = room;
			}
		}
		if (best < 0)
			return false;
		d->nodes[p] = best;
	}
	return true;
}

static void take_spread(struct fit_rubick_draft *d, size_t i, const struct fit_rubick_spread *x)
{
	fit_rubick_clear(d, i);
	for (int32_t p = 0; p < x->nodes; p++)
		make_room(d, i, d->nodes[p], x->per_node[p]);
	for (int32_t p = 0; p < x->nodes; p++)
		if (d->free[d->nodes[p]] < x->per_node[p])
			return;
	for (int32_t p = 0; p < x->nodes; p++)
		fit_rubick_set(d, i, d->nodes[p], x->per_node[p]);
	d->rows[i].plan = x->plan;
}

static void place_wide(struct fit_rubick_draft *d, size_t i)
{
	const struct fit_rubick_row *r = &d->rows[i];
	const struct fit_rubick_curve *c = r->curve;
	bool by_right = r->sla;
	bool enough = !r->sla || isnan(r->target);

	/* a guarantee that nothing can keep asks for what there is */
	for (size_t k = 0; k < c->n_spreads && !enough; k++)
		enough = c->spreads[k].speed >= r->target * (1 - 1e-9);
	for (int right = 0; right <= (by_right ? 1 : 0); right++)
		for (size_t k = 0; k < c->n_spreads; k++) {
			const struct fit_rubick_spread *x = &c->spreads[k];

			if (r->sla && enough && !isnan(r->target) && x->speed < r->target * (1 - 1e-9))
				continue;
			if (fits(d, i, x, right)) {
				take_spread(d, i, x);
				return;
			}
		}
}

/* ---- growth ---- */

/* Is so much more speed worth a change? A job that just starts changes for nothing. Others are thought
 * to have as much before them as behind them, and the change must save more of it than it costs. */
static bool worth_it(const struct fit_view *v, const struct fit_rubick_row *r, double now, double then)
{
	double done = fit_view_work(v, r->job), delay = fit_time_to_double(fit_view_restart_ns(v, r->job));

	if (!r->was)
		return then > now;
	if (r->restarts >= MOST_RESTARTS || !(then > now * (1 + FIT_RUBICK_GAIN)))
		return false;
	return done * (1 / now - 1 / then) > delay;
}

static void grow(struct fit_rubick_draft *d, const struct fit_view *v, size_t i)
{
	struct fit_rubick_row *r = &d->rows[i];
	const struct fit_rubick_curve *c = r->curve;
	double now = fit_rubick_row_speed(d, i) / c->samples;
	int32_t node = fit_rubick_node_of(d, i);

	if (!r->total || r->total != r->was)
		return;
	if (!c->wide) {
		int32_t size = useful(c, r->total + d->free[node]);

		if (size > r->total && worth_it(v, r, now, speed_of(c, size) / c->samples))
			put(d, i, node, size);
		return;
	}
	for (size_t k = 0; k < c->n_spreads; k++) {
		const struct fit_rubick_spread *x = &c->spreads[k];
		uint16_t plan = r->plan;
		size_t n = 0;

		if (!worth_it(v, r, now, x->speed / c->samples))
			continue;
		for (int32_t m = 0; m < d->n_nodes; m++)
			if (*fit_rubick_on(d, i, m))
				d->shares[n++] = (struct fit_share){ m, *fit_rubick_on(d, i, m) };
		fit_rubick_clear(d, i);
		if (fits(d, i, x, false)) {
			take_spread(d, i, x);
			return;
		}
		while (n--)
			fit_rubick_set(d, i, d->shares[n].node, d->shares[n].gpus);
		r->plan = plan;
	}
}

/* ---- a decision ---- */

/* Waiting jobs in their order. One that has waited for very long and finds no room keeps those behind
 * it waiting, too, unless they are guaranteed. *blocked says so. */
static void place_all(struct fit_rubick_draft *d, bool *blocked)
{
	*blocked = false;
	for (size_t i = 0; i < d->n; i++)
		d->rows[i].slope = slope_of(d, i);
	fit_rubick_sort(d, false);
	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < d->n; k++) {
			size_t i = d->order[k];

			if (d->rows[i].sla != (pass == 0) || d->rows[i].total || *blocked)
				continue;
			if (d->rows[i].curve->wide)
				place_wide(d, i);
			else
				place_on_node(d, i);
			*blocked = pass == 1 && !d->rows[i].total && d->rows[i].slope > 1e300;
		}
}

static int rubick_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct rubick *s = state;
	struct fit_rubick_draft *d = &s->draft;
	bool blocked;
	int rc = fit_rubick_draft_load(d, v, &s->curves, err);

	if (rc)
		return rc;
	if (v->fidelity->rubick_as_run) {
		rc = fit_rubick_as_run(&s->as_run, d, err);
	} else {
		place_all(d, &blocked);
		for (size_t k = 0; k < d->n && !blocked; k++)
			grow(d, v, d->order[k]);
	}
	return rc ? rc : fit_rubick_draft_commit(d, plan, err);
}

/* The most speed that a GPU can bring a job. */
static double best_yield(const struct fit_rubick_curve *c)
{
	double best = 0;

	for (int32_t g = 1; g <= c->most; g++)
		best = fmax(best, speed_of(c, g) / g);
	for (size_t k = 0; k < c->n_spreads; k++)
		best = fmax(best, c->spreads[k].speed / c->spreads[k].gpus);
	return best;
}

/* If all active jobs were placed anew on so many empty nodes: the speeds that they have, in GPUs that bring
 * the most that they can, over the GPUs that there are. */
static int rubick_efficiency(void *state, const struct fit_view *v, int64_t nodes, double *efficiency,
			     struct fit_err *err)
{
	struct rubick *s = state;
	struct fit_rubick_draft *d = &s->trial;
	double sum = 0;
	bool blocked;
	int rc = fit_rubick_draft_load(d, v, &s->curves, err);

	if (rc)
		return rc;
	memset(d->on, 0, d->n * (size_t)d->n_nodes);
	d->n_nodes = (int32_t)(nodes < d->n_nodes ? nodes : d->n_nodes);
	for (int32_t k = 0; k < d->n_nodes; k++)
		d->free[k] = v->cluster->max_node_gpus;
	for (size_t i = 0; i < d->n; i++) {
		d->rows[i].was = d->rows[i].total = 0;
		d->rows[i].plan = FIT_NO_EXEC_PLAN;
	}
	place_all(d, &blocked);
	for (size_t i = 0; i < d->n; i++)
		if (best_yield(d->rows[i].curve) > 0)
			sum += fit_rubick_row_speed(d, i) / best_yield(d->rows[i].curve);
	*efficiency = nodes > 0 ? sum / (double)(nodes * v->cluster->max_node_gpus) : 0;
	return FIT_OK;
}

static int rubick_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *meta)
{
	int rc = fit_meta_add(meta, "rubick", v->fidelity->rubick_as_run ? "as-run" : "by-gain");

	return rc ? rc : fit_meta_add(meta, "rubick_speeds", p->rubick_models ? "predicted" : "measured");
}

const struct fit_policy fit_policy_rubick = {
	.name = "rubick",
	.summary = "the best plan for its GPUs, GPUs by what they are worth (Rubick)",
	.needs = FIT_NEEDS_PLAN_TIMES | FIT_CHOOSES_PLANS | FIT_NEEDS_INTERVAL | FIT_ONE_TYPE | FIT_MOLDS,
	.init = rubick_init,
	.free = rubick_free,
	.decide = rubick_decide,
	.describe = rubick_describe,
	.efficiency = rubick_efficiency,
};
