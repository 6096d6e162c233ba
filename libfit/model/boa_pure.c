/* SPDX-License-Identifier: MIT */
/*
 * The best single plans, without an integer programme. At the price mu of the mixed
 * optimum every choice of an item (its plan, or the width of an epoch) has a reduced cost: how
 * much its w T + mu C is above the least. A set of choices whose time is at most delta above
 * the bound has reduced costs that, with mu times the budget left over, sum up to delta at
 * most. So: list the choices below delta, put items together one after another, keep only what
 * no other partial sum beats in both cost and time, and look for the best that fits the budget.
 * If its distance from the bound is at most delta nothing better was left out; otherwise double
 * delta.
 */
#include "libfit/model/boa_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

/* A choice of an item. Summed over the jobs of a second. */
struct choice {
	double time, cost, reduced;
	size_t ref;	/* number of a width, or the first one of a plan in widths */
};

struct group {
	struct choice *list;	/* cheapest first, fastest last */
	size_t n, cap;
	size_t item;
};

/* A partial plan of a class: down to an epoch, on a state. */
struct label {
	double time, cost;
	uint32_t state;
	size_t before;
};

/* A partial sum over groups. */
struct node {
	double time, cost, reduced;
	size_t before, choice;
};

struct search {
	const struct fit_boa *b;
	const struct fit_boa_frontier *f;
	double mu, budget, bound;	/* bound: summed time */
	double delta, noise;		/* reduced costs below noise are rounding */
	size_t max_labels, n_labels;	/* held at present */
	struct group *groups;
	size_t n_groups;
	size_t *widths, n_widths, cap_widths;
	struct node *nodes;
	size_t n_nodes, cap_nodes;
	int64_t n_all;			/* partial sums made, over all rounds */
};

static int limit(const struct search *s, size_t more)
{
	return s->n_labels + more > s->max_labels ? FIT_END : FIT_OK;
}

static int compare_choices(const void *pa, const void *pb)
{
	const struct choice *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->ref > b->ref) - (a->ref < b->ref);
}

static int add_choice(struct search *s, struct group *g, const struct choice *c, struct fit_err *err)
{
	if (fit_grow(&g->list, &g->cap, g->n + 1, sizeof *g->list))
		return fit_fail_nomem(err);
	g->list[g->n++] = *c;
	s->n_labels++;
	return limit(s, 0);
}

/* Sort, and drop what costs no less than one before it and is no faster. */
static void thin_choices(struct group *g)
{
	size_t kept = 0;

	if (g->n)
		qsort(g->list, g->n, sizeof *g->list, compare_choices);
	for (size_t i = 0; i < g->n; i++)
		if (kept == 0 || g->list[i].time < g->list[kept - 1].time)
			g->list[kept++] = g->list[i];
	g->n = kept;
}

/* ---- the choices of an epoch ---- */

static int epoch_choices(struct search *s, struct group *g, const struct fit_boa_item *item,
			 struct fit_err *err)
{
	const struct fit_boa_class *c = &s->b->classes[item->class_no];
	const struct fit_boa_epoch *e = &s->b->epochs[item->epoch];
	double least = (double)INFINITY;
	int rc = FIT_OK;

	for (int pass = 0; pass < 2 && !rc; pass++)
		for (size_t k = e->at; k < e->at + e->n && !rc; k++) {
			const struct fit_width *w = &s->b->widths[k];
			double t = c->rate * (e->work / w->speed);
			struct choice o = { c->weight * t, w->price * (double)w->gpus * t, 0, k };
			double value = o.time + s->mu * o.cost;

			least = fmin(least, value);
			o.reduced = fmax(value - least, 0);
			if (pass == 1 && o.reduced <= s->delta + s->noise)
				rc = add_choice(s, g, &o, err);
		}
	return rc;
}

/* ---- the choices of a class ---- */

struct layers {
	struct label *list;
	size_t n, cap;
	size_t from, to;	/* the labels of the last epoch */
	double *to_go;		/* epoch * n_states + state: least value behind it */
};

/* w T + mu C of so much time on a state; w + mu c k may be 0. */
static double value_of(const struct search *s, const struct fit_boa_grid *g, double weight, size_t state,
		       double time)
{
	return isinf(time) ? time : time * (weight + s->mu * g->states[state].kappa);
}

/* Least w T + mu C of the epochs behind each epoch and state; returns that of all. */
static double costs_to_go(const struct search *s, const struct fit_boa_grid *g, double weight, double *to_go)
{
	size_t n = g->n_states;
	double move = 0;

	for (size_t i = 0; i < n; i++)
		to_go[(g->n_epochs - 1) * n + i] = 0;
	for (size_t j = g->n_epochs; j-- > 0;) {
		move = (double)INFINITY;
		for (size_t i = 0; i < n; i++) {
			double r = j > 0 || g->charge_start ? g->states[i].rescale_s : 0;

			move = fmin(move, value_of(s, g, weight, i, g->time[j * n + i] + r) +
						  to_go[j * n + i]);
		}
		for (size_t i = 0; i < n && j > 0; i++)
			to_go[(j - 1) * n + i] =
				fmin(move, value_of(s, g, weight, i, g->time[j * n + i]) + to_go[j * n + i]);
	}
	return move;
}

static int compare_labels(const void *pa, const void *pb)
{
	const struct label *a = pa, *b = pb;

	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->before > b->before) - (a->before < b->before);
}

/* Sort the labels behind l->to by state, drop those that others on the state beat. */
static void thin_labels(struct layers *l)
{
	size_t kept = l->to;

	if (l->n > l->to)
		qsort(l->list + l->to, l->n - l->to, sizeof *l->list, compare_labels);
	for (size_t i = l->to; i < l->n; i++)
		if (kept == l->to || l->list[kept - 1].state != l->list[i].state ||
		    l->list[i].time < l->list[kept - 1].time)
			l->list[kept++] = l->list[i];
	l->n = kept;
	l->from = l->to;
	l->to = kept;
}

/* Go on to epoch j from a label (FIT_NO_WIDTH at the start) to every state. most: largest
 * w T + mu C of a whole plan. */
static int extend(struct search *s, const struct fit_boa_grid *g, struct layers *l, size_t j, size_t before,
		  double weight, double most, struct fit_err *err)
{
	size_t n = g->n_states;

	for (uint32_t i = 0; i < n; i++) {
		const struct label *at = before == FIT_NO_WIDTH ? NULL : &l->list[before];
		double t = g->time[j * n + i];
		struct label new = { 0, 0, i, before };

		if (isinf(t))
			continue;
		if (at ? at->state != i : g->charge_start)
			t += g->states[i].rescale_s;
		new.time = (at ? at->time : 0) + t;
		new.cost = (at ? at->cost : 0) + t * g->states[i].kappa;
		if (weight * new.time + s->mu * new.cost + l->to_go[j * n + i] > most)
			continue;
		if (limit(s, l->n))
			return FIT_END;
		if (fit_grow(&l->list, &l->cap, l->n + 1, sizeof *l->list))
			return fit_fail_nomem(err);
		l->list[l->n++] = new;
	}
	return FIT_OK;
}

/* The plans behind the labels of the last epoch become choices. */
static int take_labels(struct search *s, const struct fit_boa_grid *g, const struct layers *l,
		       struct group *group, const struct fit_boa_class *c, double least, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = l->from; i < l->to && !rc; i++) {
		const struct label *at = &l->list[i];
		double value = c->weight * at->time + s->mu * at->cost;
		struct choice o = { c->rate * c->weight * at->time, c->rate * at->cost,
				    fmax(c->rate * (value - least), 0), s->n_widths };

		if (fit_grow(&s->widths, &s->cap_widths, s->n_widths + g->n_epochs, sizeof *s->widths))
			return fit_fail_nomem(err);
		for (size_t j = g->n_epochs; j-- > 0;) {
			s->widths[s->n_widths + j] = g->width[j * g->n_states + at->state];
			if (j > 0)
				at = &l->list[at->before];
		}
		s->n_widths += g->n_epochs;
		rc = add_choice(s, group, &o, err);
	}
	return rc;
}

static int grid_choices(struct search *s, struct group *group, struct fit_boa_grid *g, struct layers *l,
			const struct fit_boa_class *c, double least, struct fit_err *err)
{
	double most = least + (s->delta + s->noise) / c->rate;
	int rc = FIT_OK;

	l->n = l->from = l->to = 0;
	for (size_t j = 0; j < g->n_epochs && !rc; j++) {
		size_t from = l->from, to = l->to;

		if (j == 0)
			rc = extend(s, g, l, 0, FIT_NO_WIDTH, c->weight, most, err);
		for (size_t i = from; i < to && !rc; i++)
			rc = extend(s, g, l, j, i, c->weight, most, err);
		if (!rc)
			thin_labels(l);
	}
	return rc ? rc : take_labels(s, g, l, group, c, least, err);
}

static int class_choices(struct search *s, struct group *group, const struct fit_boa_item *item,
			 struct fit_err *err)
{
	const struct fit_boa_class *c = &s->b->classes[item->class_no];
	size_t n_grids = s->b->by_class ? s->b->n_types : 1;
	struct fit_boa_grid *grids = calloc(n_grids, sizeof *grids);
	double least = (double)INFINITY;
	struct layers l = { 0 };
	size_t cap = 0;
	int rc = grids ? FIT_OK : fit_fail_nomem(err);

	/* once for the least value of all types, once more for the plans */
	for (int pass = 0; pass < 2 && !rc; pass++)
		for (size_t t = 0; t < n_grids && !rc; t++) {
			struct fit_boa_grid *g = &grids[t];
			double v;

			if (pass == 0)
				rc = fit_boa_grid_init(g, s->b, item->class_no, s->b->by_class ? (int)t : -1,
						       err);
			if (rc || g->n_states == 0)
				continue;
			if (fit_grow(&l.to_go, &cap, g->n_states * g->n_epochs, sizeof *l.to_go)) {
				rc = fit_fail_nomem(err);
				continue;
			}
			v = costs_to_go(s, g, c->weight, l.to_go);
			if (pass == 0)
				least = fmin(least, v);
			else
				rc = grid_choices(s, group, g, &l, c, least, err);
		}
	for (size_t t = 0; grids && t < n_grids; t++)
		fit_boa_grid_release(&grids[t]);
	free(grids);
	free(l.list);
	free(l.to_go);
	return rc;
}

/* Nothing arrives, or nothing is to be done: the cheapest. */
static int idle_choice(struct search *s, struct group *g, const struct fit_boa_item *item,
		       struct fit_err *err)
{
	const struct fit_boa_vertex *v = &s->f->vertices[item->at];
	struct choice o = { 0, 0, 0, v->ref };
	size_t n = s->b->classes[item->class_no].n;

	if (item->epoch == FIT_NO_WIDTH) {
		if (fit_grow(&s->widths, &s->cap_widths, s->n_widths + n, sizeof *s->widths))
			return fit_fail_nomem(err);
		memcpy(s->widths + s->n_widths, s->f->plans + v->ref, n * sizeof *s->widths);
		o.ref = s->n_widths;
		s->n_widths += n;
	}
	return add_choice(s, g, &o, err);
}

static int compare_groups(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

static int list_choices(struct search *s, struct fit_err *err)
{
	int rc = FIT_OK;

	s->n_labels = s->n_widths = 0;
	for (size_t i = 0; i < s->n_groups; i++)
		s->groups[i].n = 0;
	for (size_t i = 0; i < s->n_groups && !rc; i++) {
		struct group *g = &s->groups[i];
		const struct fit_boa_item *item = &s->f->items[i];

		g->item = i;
		if (s->b->classes[item->class_no].rate == 0)
			rc = idle_choice(s, g, item, err);
		else if (item->epoch == FIT_NO_WIDTH)
			rc = class_choices(s, g, item, err);
		else
			rc = epoch_choices(s, g, item, err);
		if (!rc)
			thin_choices(g);
	}
	return rc;
}

/* ---- putting items together ---- */

static int compare_nodes(const void *pa, const void *pb)
{
	const struct node *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return (a->choice > b->choice) - (a->choice < b->choice);
}

/* What sums of doubles may exceed the budget by; the plans that are known fit anyway. */
#define FITS 1e-14

/* Nodes [from, to) with each choice of a group; rest_lo and rest_hi: least and largest cost of the
 * groups behind. */
static int put_together(struct search *s, size_t from, size_t to, const struct group *g, double rest_lo,
			double rest_hi, struct fit_err *err)
{
	double most = s->budget * (1 + FITS);
	size_t kept = to;

	for (size_t i = from; i < to; i++)
		for (size_t k = 0; k < g->n; k++) {
			const struct choice *o = &g->list[k];
			struct node new = { s->nodes[i].time + o->time, s->nodes[i].cost + o->cost,
					    s->nodes[i].reduced + o->reduced, i, k };
			double left = s->mu * (s->budget - new.cost - rest_hi);

			if (new.cost + rest_lo > most ||
			    new.reduced + fmax(left, 0) > s->delta + s->noise)
				continue;
			if (limit(s, s->n_nodes))
				return FIT_END;
			if (fit_grow(&s->nodes, &s->cap_nodes, s->n_nodes + 1, sizeof *s->nodes))
				return fit_fail_nomem(err);
			s->nodes[s->n_nodes++] = new;
		}
	s->n_all += (int64_t)(s->n_nodes - to);
	if (s->n_nodes > to)
		qsort(s->nodes + to, s->n_nodes - to, sizeof *s->nodes, compare_nodes);
	for (size_t i = to; i < s->n_nodes; i++)
		if (kept == to || s->nodes[i].time < s->nodes[kept - 1].time)
			s->nodes[kept++] = s->nodes[i];
	s->n_nodes = kept;
	return FIT_OK;
}

/* The best set of choices below delta, as choice[group]; *time is INFINITY when there is none. */
static int best_below(struct search *s, size_t *choice, double *time, struct fit_err *err)
{
	double *lo = calloc(s->n_groups + 1, sizeof *lo), *hi = calloc(s->n_groups + 1, sizeof *hi);
	size_t from = 0, to, best = FIT_NO_WIDTH;
	int rc = lo && hi ? FIT_OK : fit_fail_nomem(err);

	*time = (double)INFINITY;
	for (size_t g = s->n_groups; !rc && g-- > 0;) {
		lo[g] = lo[g + 1] + s->groups[g].list[0].cost;
		hi[g] = hi[g + 1] + s->groups[g].list[s->groups[g].n - 1].cost;
	}
	s->n_nodes = 0;
	if (!rc && fit_grow(&s->nodes, &s->cap_nodes, 1, sizeof *s->nodes))
		rc = fit_fail_nomem(err);
	if (!rc)
		s->nodes[s->n_nodes++] = (struct node){ 0, 0, 0, 0, 0 };
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		to = s->n_nodes;
		rc = put_together(s, from, to, &s->groups[g], lo[g + 1], hi[g + 1], err);
		from = to;
	}
	for (size_t i = from; i < s->n_nodes && !rc; i++)
		if (s->nodes[i].time < *time) {
			*time = s->nodes[i].time;
			best = i;
		}
	for (size_t g = s->n_groups; best != FIT_NO_WIDTH && g-- > 0;) {
		choice[s->groups[g].item] = s->groups[g].list[s->nodes[best].choice].ref;
		best = s->nodes[best].before;
	}
	free(lo);
	free(hi);
	return rc;
}

/* The choices become the plans of a solution. */
static void take_choices(struct fit_boa_solution *sol, const struct search *s, const size_t *choice)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		const struct fit_boa_item *item = &s->f->items[i];
		const struct fit_boa_class *c = &s->b->classes[item->class_no];

		if (item->epoch == FIT_NO_WIDTH)
			memcpy(sol->plans[item->class_no].widths, s->widths + choice[i],
			       c->n * sizeof(size_t));
		else
			sol->plans[item->class_no].widths[item->epoch - c->at] = choice[i];
	}
}

static int search_pure(struct search *s, struct fit_boa_solution *sol, double known, struct fit_err *err)
{
	size_t *choice = calloc(s->n_groups + 1, sizeof *choice);
	double widest = fmax(known - s->bound, 0), time = (double)INFINITY;
	int rc = choice ? FIT_OK : fit_fail_nomem(err);

	s->delta = widest / 64;
	while (!rc) {
		rc = list_choices(s, err);
		if (!rc) {
			qsort(s->groups, s->n_groups, sizeof *s->groups, compare_groups);
			rc = best_below(s, choice, &time, err);
		}
		if (!rc && isfinite(time))
			take_choices(sol, s, choice);
		if (!rc && (time - s->bound <= s->delta + s->noise || s->delta >= widest))
			break;
		s->delta = fmin(2 * s->delta, widest);
	}
	free(choice);
	if (rc == FIT_END) {
		sol->limited = true;
		rc = FIT_OK;
	}
	return rc;
}

int fit_boa_pure(struct fit_boa_solution *sol, const struct fit_boa *b, const struct fit_boa_frontier *f,
		 double budget, size_t max_labels, struct fit_err *err)
{
	struct search s = { .b = b, .f = f, .max_labels = max_labels, .n_groups = f->n_items };
	struct fit_boa_solution mixed = { 0 };
	size_t *classes = calloc(b->n_classes + 1, sizeof *classes);
	int rc = classes ? fit_boa_solve(&mixed, b, f, budget, err) : fit_fail_nomem(err);

	*sol = (struct fit_boa_solution){ .method = FIT_BOA_PURE, .budget = budget };
	s.groups = calloc(f->n_items + 1, sizeof *s.groups);
	if (!rc && !s.groups)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < b->n_classes && !rc; i++)
		classes[i] = i;
	if (!rc)
		rc = fit_boa_plans_new(sol, b, classes, b->n_classes, err);
	/* a plan that is known to fit: the cheaper one of the two that share a class */
	for (size_t i = mixed.n_plans; !rc && i-- > 0;)
		memcpy(sol->plans[mixed.plans[i].class_no].widths, mixed.plans[i].widths,
		       b->classes[mixed.plans[i].class_no].n * sizeof(size_t));
	if (!rc)
		rc = fit_boa_appraise(sol, b, f, err);
	if (!rc) {
		s.mu = sol->mu;
		s.budget = fmax(budget, f->budget[0]);
		s.bound = sol->bound_s * b->total;
		s.noise = 1e-13 * fmax(s.bound, s.mu * s.budget);
		rc = search_pure(&s, sol, sol->mean_jct_s * b->total, err);
	}
	if (!rc)
		rc = fit_boa_appraise(sol, b, f, err);
	sol->nodes = s.n_all;
	for (size_t i = 0; s.groups && i < s.n_groups; i++)
		free(s.groups[i].list);
	free(s.groups);
	free(s.widths);
	free(s.nodes);
	free(classes);
	fit_boa_solution_release(&mixed);
	if (rc)
		fit_boa_solution_release(sol);
	return rc;
}
