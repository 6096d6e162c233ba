/* SPDX-License-Identifier: MIT */
/*
 * Qhull without triangulating (no option Qt): points on one circle stay one facet, so which of its diagonals
 * count is for us to say, and the answer does not hang on the order in which Qhull merges.
 */
#include "libfit/model/plan_delaunay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <libqhull_r/qhull_ra.h>

#include "libfit/base/text.h"

/* Twice the area of a triangle; its sign says which way round it is. */
static int64_t area2(const struct fit_plan_pair *a, const struct fit_plan_pair *b,
		     const struct fit_plan_pair *c)
{
	return (int64_t)(b->nodes - a->nodes) * (c->gpus - a->gpus) -
	       (int64_t)(c->nodes - a->nodes) * (b->gpus - a->gpus);
}

static bool on_one_line(const struct fit_plan_app *a)
{
	for (size_t i = 2; i < a->n_pairs; i++)
		if (area2(&a->pairs[0], &a->pairs[1], &a->pairs[i]) != 0)
			return false;
	return true;
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

/* All triangles of points on one circle. */
static int take_facet(struct fit_plan_app *a, uint32_t *ring, size_t n)
{
	qsort(ring, n, sizeof *ring, by_number);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			for (size_t k = j + 1; k < n; k++) {
				if (fit_grow(&a->triangles, &a->cap_triangles, a->n_triangles + 1, sizeof *a->triangles))
					return FIT_ENOMEM;
				a->triangles[a->n_triangles++] =
					(struct fit_plan_triangle){ ring[i], ring[j], ring[k] };
			}
	return FIT_OK;
}

/* The facets that face down are the Delaunay cells. The point at infinity (Qz) is none of ours. */
static int take_facets(struct fit_plan_app *a, qhT *qh, uint32_t *ring)
{
	int rc = FIT_OK;

	for (const facetT *f = qh->facet_list; f && f->next && !rc; f = f->next) {
		size_t n = 0, corners = f->upperdelaunay ? 0 : (size_t)qh_setsize(qh, f->vertices);

		for (size_t i = 0; i < corners; i++) {
			const vertexT *corner = f->vertices->e[i].p;
			int id = qh_pointid(qh, corner->point);

			if (id >= 0 && (size_t)id < a->n_pairs)
				ring[n++] = (uint32_t)id;
		}
		rc = take_facet(a, ring, n);
	}
	return rc;
}

int fit_plan_delaunay(struct fit_plan_app *a, struct fit_err *err)
{
	char options[] = "qhull d Qbb Qc Qz Q12";
	int rc = FIT_ENOMEM, curlong, totlong;
	double *points = NULL;
	uint32_t *ring = NULL;
	FILE *silent = NULL;
	qhT *qh = NULL;

	if (a->n_pairs < 3 || on_one_line(a))
		return FIT_OK;
	points = malloc(a->n_pairs * 2 * sizeof *points);
	ring = malloc(a->n_pairs * sizeof *ring);
	silent = fopen("/dev/null", "w");
	qh = calloc(1, sizeof *qh);
	if (points && ring && silent && qh) {
		for (size_t i = 0; i < a->n_pairs; i++) {
			points[2 * i] = a->pairs[i].nodes;
			points[2 * i + 1] = a->pairs[i].gpus;
		}
		qh_zero(qh, silent);
		rc = qh_new_qhull(qh, 2, (int)a->n_pairs, points, False, options, NULL, silent);
		rc = rc == qh_ERRmem ? FIT_ENOMEM : rc ? FIT_EDATA : take_facets(a, qh, ring);
		qh_freeqhull(qh, !qh_ALL);
		qh_memfreeshort(qh, &curlong, &totlong);
	}
	if (a->n_triangles)
		qsort(a->triangles, a->n_triangles, sizeof *a->triangles, by_points);
	if (silent)
		fclose(silent);
	free(qh);
	free(ring);
	free(points);
	if (rc == FIT_EDATA)
		return fit_fail(err, FIT_EDATA, "%s: cannot triangulate %zu pairs of nodes and GPUs", a->name, a->n_pairs);
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
