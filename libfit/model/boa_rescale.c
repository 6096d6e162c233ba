/* SPDX-License-Identifier: MIT */
/*
 * With rescale times the epochs of a class belong together: for a price, the best widths are a
 * shortest path over all whole widths (not only corners of envelopes), and the corners of a
 * class's hull come from a search along chords.
 */
#include "libfit/model/boa_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

/* ---- the grid of a class ---- */

void fit_boa_grid_release(struct fit_boa_grid *g)
{
	free(g->states);
	free(g->time);
	free(g->width);
	free(g->primary);
	free(g->secondary);
	free(g->from);
	*g = (struct fit_boa_grid){ 0 };
}

static int compare_states(const void *pa, const void *pb)
{
	const struct fit_boa_state *a = pa, *b = pb;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->gpus > b->gpus) - (a->gpus < b->gpus);
}

static bool same_states(const struct fit_boa_state *a, const struct fit_boa_state *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (compare_states(&a[i], &b[i]) != 0)
			return false;
	return true;
}

/* All widths of the class, each once. FIT_END: some epoch has none of this type. */
static int take_states(struct fit_boa_grid *g, const struct fit_boa *b, size_t class, int type,
		       struct fit_err *err)
{
	const struct fit_boa_class *c = &b->classes[class];
	size_t n = 0, cap = 0;

	for (size_t j = 0; j < c->n; j++) {
		const struct fit_boa_epoch *e = &b->epochs[c->at + j];
		size_t before = n, kept = 0;
		bool any = false;

		if (fit_grow(&g->states, &cap, n + e->n, sizeof *g->states))
			return fit_fail_nomem(err);
		for (size_t k = e->at; k < e->at + e->n; k++) {
			const struct fit_width *w = &b->widths[k];

			if (type >= 0 && w->type != type)
				continue;
			any = true;
			g->states[n++] = (struct fit_boa_state){
				w->gpus, w->type, fit_dd_value(fit_width_kappa(w)),
				b->rescale_s[class * b->n_types + (size_t)w->type]
			};
		}
		if (!any)
			return FIT_END;
		/* nearly always the same widths as in the epoch before */
		if (n - before == before && same_states(g->states, g->states + before, before)) {
			n = before;
			continue;
		}
		qsort(g->states, n, sizeof *g->states, compare_states);
		for (size_t i = 0; i < n; i++)
			if (i == 0 || compare_states(&g->states[i], &g->states[kept - 1]) != 0)
				g->states[kept++] = g->states[i];
		n = kept;
	}
	g->n_states = n;
	return FIT_OK;
}

int fit_boa_grid_init(struct fit_boa_grid *g, const struct fit_boa *b, size_t class, int type,
		      struct fit_err *err)
{
	const struct fit_boa_class *c = &b->classes[class];
	size_t n;
	int rc;

	*g = (struct fit_boa_grid){ .n_epochs = c->n, .charge_start = b->charge_start };
	rc = take_states(g, b, class, type, err);
	if (rc == FIT_END) {
		fit_boa_grid_release(g);
		return FIT_OK;
	}
	n = g->n_states * c->n;
	if (!rc) {
		g->time = malloc((n + 1) * sizeof *g->time);
		g->width = malloc((n + 1) * sizeof *g->width);
		g->from = malloc((n + 1) * sizeof *g->from);
		g->primary = malloc(g->n_states * sizeof *g->primary);
		g->secondary = malloc(g->n_states * sizeof *g->secondary);
		if (!g->time || !g->width || !g->from || !g->primary || !g->secondary)
			rc = fit_fail_nomem(err);
	}
	if (rc) {
		fit_boa_grid_release(g);
		return rc;
	}
	for (size_t j = 0; j < c->n; j++) {
		const struct fit_boa_epoch *e = &b->epochs[c->at + j];
		size_t k = e->at;

		for (size_t s = 0; s < g->n_states; s++) {
			const struct fit_boa_state *state = &g->states[s];
			size_t at = j * g->n_states + s;

			while (k < e->at + e->n && (b->widths[k].type < state->type ||
						    (b->widths[k].type == state->type &&
						     b->widths[k].gpus < state->gpus)))
				k++;
			g->time[at] = (double)INFINITY;
			g->width[at] = FIT_NO_WIDTH;
			if (k < e->at + e->n && b->widths[k].type == state->type &&
			    b->widths[k].gpus == state->gpus) {
				g->time[at] = e->work / b->widths[k].speed;
				g->width[at] = k;
			}
		}
	}
	return FIT_OK;
}

/* The state with the smallest sums, the first of equals. */
static uint32_t least(const struct fit_boa_grid *g)
{
	uint32_t best = 0;

	for (uint32_t s = 1; s < g->n_states; s++)
		if (g->primary[s] < g->primary[best] ||
		    (g->primary[s] == g->primary[best] && g->secondary[s] < g->secondary[best]))
			best = s;
	return best;
}

/*
 * V_1(k) = (X_1/s_1(k) + sigma r) (a + mu k), V_j(k) = X_j/s_j(k) (a + mu k) + min(V_(j-1)(k),
 * min_k' V_(j-1)(k') + r (a + mu k)). Staying wins over changing where both are equal.
 */
double fit_boa_grid_best(struct fit_boa_grid *g, const struct fit_boa_aim *aim, size_t *widths)
{
	size_t n = g->n_states;
	uint32_t best = 0;

	for (size_t j = 0; j < g->n_epochs; j++) {
		const double *time = g->time + j * n;
		uint32_t *from = g->from + j * n;
		double first = 0, second = 0;

		if (j > 0) {
			first = g->primary[best];
			second = g->secondary[best];
		}
		for (uint32_t s = 0; s < n; s++) {
			const struct fit_boa_state *state = &g->states[s];
			double a = aim->time_a + aim->cost_a * state->kappa;
			double b = aim->time_b + aim->cost_b * state->kappa;
			double r = j > 0 || g->charge_start ? state->rescale_s : 0;
			double v = first + r * a, w = second + r * b;

			from[s] = best;
			if (j > 0 && (g->primary[s] < v || (g->primary[s] == v && g->secondary[s] <= w))) {
				v = g->primary[s];
				w = g->secondary[s];
				from[s] = s;
			}
			if (isinf(time[s])) {
				v = w = (double)INFINITY;
			} else {
				v += time[s] * a;
				w += time[s] * b;
			}
			g->primary[s] = v;
			g->secondary[s] = w;
		}
		best = least(g);
	}
	if (widths) {
		uint32_t s = best;

		for (size_t j = g->n_epochs; j-- > 0;) {
			widths[j] = g->width[j * n + s];
			s = g->from[j * n + s];
		}
	}
	return g->primary[best];
}

/* ---- the hull of a class ---- */

struct plan {
	struct fit_boa_path path;
	size_t at;	/* of its widths */
};

struct plans {
	struct plan *list;
	size_t n, cap;
	size_t *widths;
	size_t n_widths, cap_widths;
	uint64_t paths;
};

static int add_path(struct plans *p, const struct fit_boa *b, size_t class, struct fit_boa_grid *g,
		    const struct fit_boa_aim *aim, struct fit_err *err)
{
	if (fit_grow(&p->list, &p->cap, p->n + 1, sizeof *p->list) ||
	    fit_grow(&p->widths, &p->cap_widths, p->n_widths + g->n_epochs, sizeof *p->widths))
		return fit_fail_nomem(err);
	(void)fit_boa_grid_best(g, aim, p->widths + p->n_widths);
	p->list[p->n++] = (struct plan){ fit_boa_path_of(b, class, p->widths + p->n_widths),
					 p->n_widths };
	p->n_widths += g->n_epochs;
	p->paths++;
	return FIT_OK;
}

static void drop_last(struct plans *p, size_t n_epochs)
{
	p->n--;
	p->n_widths -= n_epochs;
}

/* Is p strictly below the chord from a to b? Sums are right to 1e-30 of themselves: what is nearer to
 * the chord is on it. */
static bool below(const struct fit_boa_path *a, const struct fit_boa_path *p, const struct fit_boa_path *b)
{
	struct fit_dd left = fit_dd_mul(fit_dd_sub(p->time, a->time), fit_dd_sub(b->cost, a->cost));
	struct fit_dd right = fit_dd_mul(fit_dd_sub(b->time, a->time), fit_dd_sub(p->cost, a->cost));

	return fit_dd_value(fit_dd_sub(right, left)) > 1e-27 * a->time.hi * b->cost.hi;
}

/* Corners between the plans lo and hi, by their numbers: the path at the price of the chord is
 * one, or there is none. What is still to be looked at is a stack of pairs. */
static int search_chords(struct plans *p, const struct fit_boa *b, size_t class, struct fit_boa_grid *g,
			 size_t lo, size_t hi, struct fit_err *err)
{
	struct pair { size_t lo, hi; } *stack = NULL;
	size_t n = 0, cap = 0;
	int rc = FIT_OK;

	if (fit_grow(&stack, &cap, 1, sizeof *stack))
		return fit_fail_nomem(err);
	stack[n++] = (struct pair){ lo, hi };
	while (n > 0 && !rc) {
		struct pair at = stack[--n];
		const struct fit_boa_path *u = &p->list[at.lo].path, *v = &p->list[at.hi].path;
		struct fit_boa_aim aim = { 1, 0, 0, 1 };
		size_t new = p->n;

		aim.cost_a = fit_dd_value(fit_dd_div(fit_dd_sub(u->time, v->time),
						     fit_dd_sub(v->cost, u->cost)));
		if (!(aim.cost_a > 0) || isinf(aim.cost_a)) /* nothing is between them */
			continue;
		rc = add_path(p, b, class, g, &aim, err);
		if (rc)
			break;
		if (!below(&p->list[at.lo].path, &p->list[new].path, &p->list[at.hi].path)) {
			drop_last(p, g->n_epochs);
			continue;
		}
		if (fit_grow(&stack, &cap, n + 2, sizeof *stack)) {
			rc = fit_fail_nomem(err);
			break;
		}
		stack[n++] = (struct pair){ at.lo, new };
		stack[n++] = (struct pair){ new, at.hi };
	}
	free(stack);
	return rc;
}

/* The corners of all paths on one grid. */
static int grid_hull(struct plans *p, const struct fit_boa *b, size_t class, struct fit_boa_grid *g,
		     struct fit_err *err)
{
	static const struct fit_boa_aim cheapest = { 0, 1, 1, 0 }, fastest = { 1, 0, 0, 1 };
	size_t lo = p->n;
	int rc = add_path(p, b, class, g, &cheapest, err);

	if (!rc)
		rc = add_path(p, b, class, g, &fastest, err);
	if (rc)
		return rc;
	/* of several cheapest paths, equal but for rounding, the faster one is the corner */
	if (fit_dd_cmp(p->list[lo + 1].path.cost, p->list[lo].path.cost) <= 0)
		p->list[lo] = p->list[lo + 1];
	if (fit_dd_cmp(p->list[lo + 1].path.time, p->list[lo].path.time) >= 0) {
		p->n--;	/* its widths may be those of the first one now */
		return FIT_OK;
	}
	return search_chords(p, b, class, g, lo, lo + 1, err);
}

static int compare_plans(const void *pa, const void *pb)
{
	const struct plan *a = pa, *b = pb;
	int c = fit_dd_cmp(a->path.cost, b->path.cost);

	if (!c)
		c = fit_dd_cmp(a->path.time, b->path.time);
	return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* Paths are sums of doubles: of several cheapest (fastest) ones that are equal but for
 * rounding, any may have been found. What costs as much as the next one, or takes as long as
 * the one before, is no corner. */
static size_t drop_ties(struct plan *list, size_t n)
{
	const double tie = 1e-13;
	size_t first = 0;

	while (first + 1 < n && list[first + 1].path.cost.hi <= list[first].path.cost.hi * (1 + tie))
		first++;
	while (n > first + 1 && list[n - 1].path.time.hi >= list[n - 2].path.time.hi * (1 - tie))
		n--;
	memmove(list, list + first, (n - first) * sizeof *list);
	return n - first;
}

/* The lower left hull of the plans, sorted: plans of several types are put together. Their number. */
static size_t lower_left(struct plan *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof *list, compare_plans);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && fit_dd_cmp(list[i].path.time, list[kept - 1].path.time) >= 0)
			continue;
		while (kept > 1 && !below(&list[kept - 2].path, &list[kept - 1].path, &list[i].path))
			kept--;
		list[kept++] = list[i];
	}
	return drop_ties(list, kept);
}

static int class_hull(struct fit_boa_frontier *f, const struct fit_boa *b, size_t class,
		      struct plans *p, struct fit_err *err)
{
	size_t n = b->classes[class].n, kept;
	struct fit_boa_item item = { class, FIT_NO_WIDTH, f->n_vertices, 0 };
	int rc = FIT_OK;

	p->n = p->n_widths = 0;
	for (int t = b->by_class ? 0 : -1; t < (b->by_class ? (int)b->n_types : 0) && !rc; t++) {
		struct fit_boa_grid g;

		rc = fit_boa_grid_init(&g, b, class, t, err);
		if (!rc && g.n_states > 0)
			rc = grid_hull(p, b, class, &g, err);
		fit_boa_grid_release(&g);
	}
	if (!rc && p->n == 0)
		rc = fit_fail(err, FIT_EDATA,
			      "class '%s': no GPU type has a usable width in each epoch",
			      b->classes[class].name);
	if (rc)
		return rc;
	kept = lower_left(p->list, p->n);
	for (size_t i = 0; i < kept && !rc; i++) {
		const struct plan *plan = &p->list[i];
		struct fit_boa_vertex v = { plan->path.cost, plan->path.time, f->n_plans,
					    plan->path.rescales };

		if (fit_grow(&f->plans, &f->cap_plans, f->n_plans + n, sizeof *f->plans))
			return fit_fail_nomem(err);
		memcpy(f->plans + f->n_plans, p->widths + plan->at, n * sizeof *f->plans);
		f->n_plans += n;
		rc = fit_boa_add_vertex(f, &v, err);
	}
	item.n = f->n_vertices - item.at;
	return rc ? rc : fit_boa_add_item(f, &item, err);
}

int fit_boa_class_hulls(struct fit_boa_frontier *f, const struct fit_boa *b, struct fit_err *err)
{
	struct plans p = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < b->n_classes && !rc; i++)
		rc = class_hull(f, b, i, &p, err);
	f->paths = p.paths;
	free(p.list);
	free(p.widths);
	return rc;
}
