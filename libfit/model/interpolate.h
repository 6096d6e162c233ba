/* SPDX-License-Identifier: MIT */
/*
 * Interpolation of measured step times: piecewise linear over one variable, and over a Delaunay
 * triangulation of three (docs/methods/pollux.md, section B.3).
 *
 * The points of a profile form lattice boxes, so nearly every cell is co-spherical and geometry
 * alone does not determine the triangulation, nor, on shared faces, which simplex contains a query.
 * Both are therefore pinned: the triangulation is that of Qhull with the options
 * "d Qbb Qc Qz Q12 Qt" on the points in the caller's order, facets in list order without the upper
 * hull, and the search is the one of SciPy 1.10 (scipy/spatial/_qhull.pyx), started from simplex 0 or,
 * for queries that are found together, from where the last one ended.
 * The interpolant is discontinuous on some lattice planes; that is a property of the reference.
 */
#ifndef FIT_MODEL_INTERPOLATE_H
#define FIT_MODEL_INTERPOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

/*
 * Piecewise linear interpolation. x[0..n) increases strictly, n >= 1. The interval of b is [j-1, j]
 * with j the index of the first x >= b, clipped to [1, n-1]; the value is
 * (y[j] - y[j-1]) / (x[j] - x[j-1]) * (b - x[j-1]) + y[j-1], in this order of evaluation.
 */
struct fit_interval {
	size_t lo, hi;		/* hi == lo only when n == 1 */
};
/* false when b lies outside [x[0], x[n-1]]. */
bool fit_interval_find(const int64_t *x, size_t n, int64_t b, struct fit_interval *iv);
double fit_interval_value(const int64_t *x, const double *y, struct fit_interval iv, int64_t b);

/*
 * A triangulation of integer points in three dimensions, column by column. Points: n_points values
 * in each x[k]. Simplices: n_simplices values in each of the others.
 */
struct fit_delaunay {
	size_t n_points, n_simplices;
	const int64_t *x[3];
	const int64_t *v[4];	/* vertices, indices of points */
	const int64_t *nb[4];	/* neighbour opposite vertex k, or -1 on the hull */
	const double *eq[5];	/* the lifted facet: normal (4) and offset */
	const int64_t *degenerate;	/* 1: flat, no barycentric coordinates */
	double scale, shift;	/* lift: z = scale * |x|^2 + shift */
	int64_t lo[3], hi[3];	/* bounding box of the points */
	void *owned;		/* memory of a built one; NULL when the columns are borrowed */
	/* 12 values a simplex: the inverse of the matrix whose columns are v0-v3, v1-v3, v2-v3, row by
	 * row, and v3; not meaningful where degenerate. NULL before fit_delaunay_ready(). */
	double *transforms;
};

/* Triangulate n points. The result owns copies of everything. FIT_EDATA when Qhull cannot (fewer
 * than five points, all in one plane, …): its first line is in the message. About 10 to 30 ms for
 * 300 to 1000 points. */
int fit_delaunay_build(struct fit_delaunay *d, const int64_t *const x[3], size_t n,
		       struct fit_err *err) FIT_MUST_CHECK;
void fit_delaunay_release(struct fit_delaunay *d);
/* For borrowed columns: check that every index is in range and set the bounding box. FIT_EDATA. */
int fit_delaunay_bind(struct fit_delaunay *d, struct fit_err *err) FIT_MUST_CHECK;
/* Make the transforms, unless they are there: 60 ns a simplex, so only for those that are asked. */
int fit_delaunay_ready(struct fit_delaunay *d, struct fit_err *err) FIT_MUST_CHECK;

/* The simplex that the reference search returns for q and the barycentric coordinates of q in it;
 * -1 outside the hull. After fit_delaunay_ready(). */
ptrdiff_t fit_delaunay_find(const struct fit_delaunay *d, const double q[3], double c[4]);
/* The same, started from simplex *start (0 when there is none of that number); *start becomes the
 * simplex where the search ended. Queries of one call of the reference are found in this way, one
 * after the other: where several simplices hold a query, the one that is found depends on it. */
ptrdiff_t fit_delaunay_find_from(const struct fit_delaunay *d, ptrdiff_t *start, const double q[3],
				 double c[4]);
/* sum over k of c[k] * y[vertex k of s]; y has n_points values. */
double fit_delaunay_value(const struct fit_delaunay *d, ptrdiff_t s, const double c[4],
			  const double *y);

#endif
