/* SPDX-License-Identifier: MIT */
/*
 * From an edge of the hull on, each edge is asked for the points on the smallest circle on its far side
 * (gift wrapping: Dwyer, Discrete and Computational Geometry 6, 1991). The points on one circle are a facet;
 * all their triangles count, and the sides of its polygon are the next edges. There are a few facets a
 * point, and each costs a look at all points.
 */
#include "libfit/model/plan_delaunay.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/text.h"

/* Twice the area of a triangle; its sign says which way round it is. */
static int64_t area2(const struct fit_plan_pair *a, const struct fit_plan_pair *b,
		     const struct fit_plan_pair *c)
{
	return (int64_t)(b->nodes - a->nodes) * (c->gpus - a->gpus) -
	       (int64_t)(c->nodes - a->nodes) * (b->gpus - a->gpus);
}

/* Above 0: p is inside of the circle through a, b and c, which go round counter-clockwise; 0: on it. */
static int64_t inside(const struct fit_plan_pair *a, const struct fit_plan_pair *b,
		      const struct fit_plan_pair *c, const struct fit_plan_pair *p)
{
	const struct fit_plan_pair *const v[3] = { a, b, c };
	int64_t x[3], y[3], s[3];

	for (int i = 0; i < 3; i++) {
		x[i] = v[i]->nodes - p->nodes;
		y[i] = v[i]->gpus - p->gpus;
		s[i] = x[i] * x[i] + y[i] * y[i];
	}
	return x[0] * (y[1] * s[2] - y[2] * s[1]) - y[0] * (x[1] * s[2] - x[2] * s[1]) +
	       s[0] * (x[1] * y[2] - x[2] * y[1]);
}

struct edge {
	uint32_t from, to;	/* what is asked for lies to the left */
	uint32_t next;		/* of those that begin there; NO_EDGE: none */
	bool done;
};
#define NO_EDGE UINT32_MAX

struct wrap {
	struct fit_plan_app *a;
	struct edge *edges;
	size_t n, cap;
	uint32_t *first;	/* edge of each point */
	uint32_t *ring;		/* points of a facet, room for all */
};

static struct edge *find_edge(const struct wrap *w, uint32_t from, uint32_t to)
{
	uint32_t e = w->first[from];

	while (e != NO_EDGE && w->edges[e].to != to)
		e = w->edges[e].next;
	return e == NO_EDGE ? NULL : &w->edges[e];
}

static int add_edge(struct wrap *w, uint32_t from, uint32_t to, bool done)
{
	if (fit_grow(&w->edges, &w->cap, w->n + 1, sizeof *w->edges))
		return FIT_ENOMEM;
	w->edges[w->n] = (struct edge){ from, to, w->first[from], done };
	w->first[from] = (uint32_t)w->n++;
	return FIT_OK;
}

/* From the first point to the nearest on its line that has all others to the left, or on the line. */
static uint32_t hull_neighbour(const struct fit_plan_app *a)
{
	const struct fit_plan_pair *p = a->pairs;
	uint32_t to = 1;

	for (uint32_t i = 2; i < a->n_pairs; i++)
		if (area2(&p[0], &p[to], &p[i]) < 0)	/* of those on the line the nearest comes first */
			to = i;
	return to;
}

/* The points on the smallest circle through an edge and a point to its left, counter-clockwise; 0: none. */
static size_t find_facet(const struct wrap *w, uint32_t from, uint32_t to)
{
	const struct fit_plan_pair *p = w->a->pairs;
	uint32_t best = NO_EDGE;
	size_t n = 0;

	for (uint32_t i = 0; i < w->a->n_pairs; i++)
		if (area2(&p[from], &p[to], &p[i]) > 0 &&
		    (best == NO_EDGE || inside(&p[from], &p[to], &p[best], &p[i]) > 0))
			best = i;
	if (best == NO_EDGE)
		return 0;
	w->ring[n++] = from;
	w->ring[n++] = to;
	for (uint32_t i = 0; i < w->a->n_pairs; i++) {
		size_t at = n;

		if (i == from || i == to || inside(&p[from], &p[to], &p[best], &p[i]) != 0)
			continue;
		for (; at > 2 && area2(&p[from], &p[w->ring[at - 1]], &p[i]) < 0; at--)
			w->ring[at] = w->ring[at - 1];
		w->ring[at] = i;
		n++;
	}
	return n;
}

static int by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static int by_points(const void *pa, const void *pb)
{
	const struct fit_plan_triangle *a = pa, *b = pb;
	int c = by_number(&a->p, &b->p);

	c = c ? c : by_number(&a->r, &b->r);
	return c ? c : by_number(&a->s, &b->s);
}

/* Its sides are done, what is beyond them is to be asked for, and its triangles are there. */
static int take_facet(struct wrap *w, size_t n)
{
	struct fit_plan_app *a = w->a;

	for (size_t i = 0; i < n; i++) {
		uint32_t from = w->ring[i], to = w->ring[(i + 1) % n];
		struct edge *e = find_edge(w, from, to);

		if (e)
			e->done = true;
		else if (add_edge(w, from, to, true))
			return FIT_ENOMEM;
		if (!find_edge(w, to, from) && add_edge(w, to, from, false))
			return FIT_ENOMEM;
	}
	qsort(w->ring, n, sizeof *w->ring, by_number);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			for (size_t k = j + 1; k < n; k++) {
				if (fit_grow(&a->triangles, &a->cap_triangles, a->n_triangles + 1, sizeof *a->triangles))
					return FIT_ENOMEM;
				a->triangles[a->n_triangles++] =
					(struct fit_plan_triangle){ w->ring[i], w->ring[j], w->ring[k] };
			}
	return FIT_OK;
}

int fit_plan_delaunay(struct fit_plan_app *a, struct fit_err *err)
{
	struct wrap w = { .a = a };
	int rc = FIT_OK;

	if (a->n_pairs < 3)
		return FIT_OK;
	w.first = malloc(a->n_pairs * sizeof *w.first);
	w.ring = malloc(a->n_pairs * sizeof *w.ring);
	rc = w.first && w.ring ? FIT_OK : FIT_ENOMEM;
	for (size_t i = 0; i < a->n_pairs && !rc; i++)
		w.first[i] = NO_EDGE;
	rc = rc ? rc : add_edge(&w, 0, hull_neighbour(a), false);
	for (size_t i = 0; i < w.n && !rc; i++) {
		size_t n = w.edges[i].done ? 0 : find_facet(&w, w.edges[i].from, w.edges[i].to);

		rc = n ? take_facet(&w, n) : FIT_OK;
	}
	if (a->n_triangles)
		qsort(a->triangles, a->n_triangles, sizeof *a->triangles, by_points);
	free(w.edges);
	free(w.first);
	free(w.ring);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

double fit_plan_interpolate(const struct fit_plan_app *a, const struct fit_plan_pair *q)
{
	for (size_t i = 0; i < a->n_triangles; i++) {
		const struct fit_plan_triangle *t = &a->triangles[i];
		const struct fit_plan_pair *p = &a->pairs[t->p], *r = &a->pairs[t->r], *s = &a->pairs[t->s];
		int64_t all = area2(p, r, s), w[3];

		if (all < 0) {
			const struct fit_plan_pair *swap = r;

			r = s;
			s = swap;
			all = -all;
		}
		w[0] = area2(q, r, s);
		w[1] = area2(p, q, s);
		w[2] = area2(p, r, q);
		if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0)
			return ((double)w[0] * p->iter_s + (double)w[1] * r->iter_s + (double)w[2] * s->iter_s) /
			       (double)all;
	}
	return (double)NAN;
}
