/* SPDX-License-Identifier: MIT */
/*
 * A sequence of convex problems. Every epoch starts as a segment of its own, which
 * pays for a change at its beginning. For given segments the problem is convex: a hull of each
 * over its whole widths, one sort, one scan. At the price that comes out, the two neighbours
 * whose joining is worth most are joined (those of equal width save a change), until no joining
 * is worth anything. The best of all rounds is the answer.
 */
#include "libfit/model/boa_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

struct corner {
	double cost, time;	/* of a job, with the change at the beginning */
	uint32_t state;
};

struct segment {
	size_t class, from, to;	/* epochs of the class */
	struct corner *list;	/* hull, cheapest first */
	size_t n, at;		/* at: the corner in use */
};

struct edge {
	double mu, cost, time;
	uint32_t segment, from;
};

struct work {
	const struct fit_boa *b;
	struct fit_boa_grid *grids;	/* by class */
	struct segment *list;		/* by class and epoch */
	size_t n;
	struct edge *edges;
	size_t cap_edges;
	struct corner *points;		/* of one segment */
	size_t cap_points;
	double budget, mu;
	bool fits;			/* the cheapest corners are within the budget */
	double jct;			/* summed weighted time at the budget */
	size_t mixed;			/* segment; FIT_NO_WIDTH */
	double theta;
};

static bool charged(const struct work *w, const struct segment *s)
{
	return s->from > 0 || w->b->charge_start;
}

/* All widths of a segment. */
static int points_of(struct work *w, const struct segment *s, size_t *n, struct fit_err *err)
{
	const struct fit_boa_grid *g = &w->grids[s->class];

	*n = 0;
	if (fit_grow(&w->points, &w->cap_points, g->n_states, sizeof *w->points))
		return fit_fail_nomem(err);
	for (uint32_t k = 0; k < g->n_states; k++) {
		double t = charged(w, s) ? g->states[k].rescale_s : 0;

		for (size_t j = s->from; j < s->to; j++)
			t += g->time[j * g->n_states + k];
		if (isfinite(t))
			w->points[(*n)++] = (struct corner){ t * g->states[k].kappa, t, k };
	}
	return FIT_OK;
}

static int compare_corners(const void *pa, const void *pb)
{
	const struct corner *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

static bool above(const struct corner *a, const struct corner *b, const struct corner *c)
{
	return (b->time - a->time) * (c->cost - a->cost) >= (c->time - a->time) * (b->cost - a->cost);
}

static int make_hull(struct work *w, struct segment *s, struct fit_err *err)
{
	size_t n, kept = 0;
	int rc = points_of(w, s, &n, err);
	struct corner *p = w->points;

	if (rc)
		return rc;
	if (n == 0)
		return fit_fail(err, FIT_EDATA, "class '%s': no width is usable in all of the epochs %zu to %zu",
				w->b->classes[s->class].name, s->from, s->to - 1);
	qsort(p, n, sizeof *p, compare_corners);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && p[i].time >= p[kept - 1].time)
			continue;
		while (kept > 1 && above(&p[kept - 2], &p[kept - 1], &p[i]))
			kept--;
		p[kept++] = p[i];
	}
	free(s->list);
	s->list = malloc(kept * sizeof *s->list);
	if (!s->list)
		return fit_fail_nomem(err);
	memcpy(s->list, p, kept * sizeof *s->list);
	s->n = kept;
	return FIT_OK;
}

/* ---- the convex problem of given segments ---- */

static int compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->mu != b->mu)
		return a->mu > b->mu ? -1 : 1;
	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int solve_segments(struct work *w, struct fit_err *err)
{
	double cost = 0, time = 0;
	size_t n = 0, e = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct segment *s = &w->list[i];
		const struct fit_boa_class *c = &w->b->classes[s->class];

		s->at = 0;
		cost += c->rate * s->list[0].cost;
		time += c->rate * c->weight * s->list[0].time;
		if (fit_grow(&w->edges, &w->cap_edges, n + s->n, sizeof *w->edges))
			return fit_fail_nomem(err);
		for (size_t k = 0; k + 1 < s->n && c->rate * c->weight > 0; k++) {
			const struct corner *v = &s->list[k];
			double dc = v[1].cost - v[0].cost, dt = v[0].time - v[1].time;

			w->edges[n++] = (struct edge){ c->weight * dt / dc, c->rate * dc,
						       c->rate * c->weight * dt, (uint32_t)i,
						       (uint32_t)k };
		}
	}
	if (n)
		qsort(w->edges, n, sizeof *w->edges, compare_edges);
	w->mixed = FIT_NO_WIDTH;
	w->theta = 0;
	w->fits = cost <= w->budget * (1 + FIT_BOA_SLACK);
	for (; e < n && cost + w->edges[e].cost <= w->budget; e++) {
		cost += w->edges[e].cost;
		time -= w->edges[e].time;
		w->list[w->edges[e].segment].at = w->edges[e].from + 1;
	}
	w->mu = e < n ? w->edges[e].mu : 0;
	if (w->fits && e < n && w->budget > cost) {
		w->mixed = w->edges[e].segment;
		w->theta = (w->budget - cost) / w->edges[e].cost;
		time -= w->theta * w->edges[e].time;
	}
	w->jct = time;
	return FIT_OK;
}

/* ---- joining ---- */

/* What a segment is worth at the price; where nothing fits only its cost counts. */
static double value_of(const struct work *w, const struct segment *s, const struct corner *c)
{
	double weight = w->b->classes[s->class].weight;

	return w->fits ? weight * c->time + w->mu * c->cost : c->cost;
}

static double least_value(const struct work *w, const struct segment *s, const struct corner *list, size_t n)
{
	double best = (double)INFINITY;

	for (size_t i = 0; i < n; i++)
		best = fmin(best, value_of(w, s, &list[i]));
	return best;
}

/* What it is worth to join segment i and the next one: of a job a second of the class, times its rate. */
static int gain_of(struct work *w, size_t i, double *gain, struct fit_err *err)
{
	const struct segment *a = &w->list[i], *b = &w->list[i + 1];
	struct segment both = { a->class, a->from, b->to, NULL, 0, 0 };
	size_t n;
	int rc = points_of(w, &both, &n, err);

	if (rc)
		return rc;
	*gain = w->b->classes[a->class].rate *
		(least_value(w, a, a->list, a->n) + least_value(w, b, b->list, b->n) -
		 least_value(w, &both, w->points, n));
	return FIT_OK;
}

static int join(struct work *w, size_t i, struct fit_err *err)
{
	w->list[i].to = w->list[i + 1].to;
	free(w->list[i + 1].list);
	memmove(&w->list[i + 1], &w->list[i + 2], (w->n - i - 2) * sizeof *w->list);
	w->n--;
	return make_hull(w, &w->list[i], err);
}

static bool neighbours(const struct work *w, size_t i)
{
	return i + 1 < w->n && w->list[i].class == w->list[i + 1].class;
}

/* Join the best pair. *joined: there was one that is worth something. */
static int join_some(struct work *w, bool *joined, struct fit_err *err)
{
	size_t best = FIT_NO_WIDTH;
	double most = 0, gain;
	int rc = FIT_OK;

	*joined = false;
	for (size_t i = 0; i < w->n && !rc; i++) {
		if (!neighbours(w, i))
			continue;
		rc = gain_of(w, i, &gain, err);
		if (!rc && gain > most * (1 + 1e-12) + 1e-12 * w->jct) {
			most = gain;
			best = i;
		}
	}
	if (!rc && best != FIT_NO_WIDTH) {
		*joined = true;
		rc = join(w, best, err);
	}
	return rc;
}

/* ---- the answer ---- */

/* The plans of the segments as they stand; of the mixed class, plan 1 has the dearer width. */
static void take_plans(const struct work *w, struct fit_boa_solution *s)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct segment *seg = &w->list[i];
		const struct fit_boa_grid *g = &w->grids[seg->class];

		for (size_t p = 0; p < s->n_plans; p++) {
			bool second = p > 0 && s->plans[p - 1].class_no == s->plans[p].class_no;
			size_t at = seg->at + (second && i == w->mixed);

			if (s->plans[p].class_no != seg->class)
				continue;
			for (size_t j = seg->from; j < seg->to; j++)
				s->plans[p].widths[j] = g->width[j * g->n_states + seg->list[at].state];
		}
	}
}

static int remember(const struct work *w, struct fit_boa_solution *s, const struct fit_boa_frontier *f,
		    struct fit_err *err)
{
	size_t mixed = w->mixed == FIT_NO_WIDTH ? FIT_NO_WIDTH : w->list[w->mixed].class;
	size_t *classes = calloc(w->b->n_classes + 2, sizeof *classes), n = 0;
	struct fit_boa_solution new = { .method = FIT_BOA_HEURISTIC, .budget = s->budget };
	int rc = classes ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < w->b->n_classes && !rc; i++) {
		classes[n++] = i;
		if (i == mixed)
			classes[n++] = i;
	}
	if (!rc)
		rc = fit_boa_plans_new(&new, w->b, classes, n, err);
	free(classes);
	if (rc)
		return rc;
	take_plans(w, &new);
	for (size_t p = 1; p < n; p++)
		if (new.plans[p].class_no == new.plans[p - 1].class_no) {
			new.plans[p].share = w->theta;
			new.plans[p - 1].share = 1 - w->theta;
			new.mixed_class = mixed;
			new.share_hi = w->theta;
		}
	rc = fit_boa_appraise(&new, w->b, f, err);
	if (rc || (s->plans && new.mean_jct_s >= s->mean_jct_s)) {
		fit_boa_solution_release(&new);
		return rc;
	}
	fit_boa_solution_release(s);
	*s = new;
	return FIT_OK;
}

static int start(struct work *w, struct fit_err *err)
{
	const struct fit_boa *b = w->b;
	int rc = FIT_OK;

	w->grids = calloc(b->n_classes + 1, sizeof *w->grids);
	w->list = calloc(b->n_epochs + 1, sizeof *w->list);
	if (!w->grids || !w->list)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < b->n_classes && !rc; i++) {
		rc = fit_boa_grid_init(&w->grids[i], b, i, -1, err);
		for (size_t j = 0; j < b->classes[i].n && !rc; j++) {
			w->list[w->n++] = (struct segment){ i, j, j + 1, NULL, 0, 0 };
			rc = make_hull(w, &w->list[w->n - 1], err);
		}
	}
	return rc;
}

int fit_boa_heuristic(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		      double budget, struct fit_err *err)
{
	struct work w = { .b = b, .budget = fmax(budget, f->budget[0]) };
	bool joined = true;
	int64_t rounds = 0;
	int rc = fit_boa_feasible(b, f, budget, err);

	*s = (struct fit_boa_solution){ .method = FIT_BOA_HEURISTIC, .budget = budget };
	if (!rc && b->by_class)
		rc = fit_fail(err, FIT_EINVAL, "the heuristic does not keep a job on one of several GPU types "
					       "(expected --routing epoch)");
	if (!rc)
		rc = start(&w, err);
	while (!rc && joined) {
		rc = solve_segments(&w, err);
		rounds++;
		if (!rc && w.fits)
			rc = remember(&w, s, f, err);
		joined = false;
		if (!rc && b->by_path)
			rc = join_some(&w, &joined, err);
	}
	if (!rc && !s->plans)
		rc = fit_fail(err, FIT_ENOCONV, "the heuristic found no plan for this budget");
	s->budget = budget;
	s->nodes = rounds;
	for (size_t i = 0; i < w.n; i++)
		free(w.list[i].list);
	for (size_t i = 0; w.grids && i < b->n_classes; i++)
		fit_boa_grid_release(&w.grids[i]);
	free(w.grids);
	free(w.list);
	free(w.edges);
	free(w.points);
	if (rc)
		fit_boa_solution_release(s);
	return rc;
}
