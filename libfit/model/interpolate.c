/* SPDX-License-Identifier: MIT */
#include "libfit/model/interpolate.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

bool fit_interval_find(const int64_t *x, size_t n, int64_t b, struct fit_interval *iv)
{
	size_t lo = 0, hi = n;

	if (n == 0 || b < x[0] || b > x[n - 1])
		return false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x[mid] < b)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* lo: the first x >= b; a query on a grid point uses the interval to its left */
	if (lo == 0 && n > 1)
		lo = 1;
	*iv = (struct fit_interval){ lo > 0 ? lo - 1 : 0, lo };
	return true;
}

double fit_interval_value(const int64_t *x, const double *y, struct fit_interval iv, int64_t b)
{
	double slope;

	if (iv.lo == iv.hi)
		return y[iv.lo];
	slope = (y[iv.hi] - y[iv.lo]) / (double)(x[iv.hi] - x[iv.lo]);
	return slope * (double)(b - x[iv.lo]) + y[iv.lo];
}

/* ---- barycentric transforms ---- */

/*
 * The inverse of T (columns v0-v3, v1-v3, v2-v3) by LU factorisation with partial pivoting of its
 * transpose, the way the reference calls LAPACK; false when the reciprocal condition number in the
 * 1-norm is under 1000 machine epsilons. Own code for this one 3 x 3 case, so that the numbers do
 * not depend on which BLAS a machine has.
 */
static bool invert(const double t[3][3], double inv[9])
{
	double a[3][3], norm = 0, norm_inv = 0;
	int perm[3] = { 0, 1, 2 };

	for (int r = 0; r < 3; r++)
		for (int c = 0; c < 3; c++)
			a[r][c] = t[c][r];
	for (int c = 0; c < 3; c++) {
		double sum = fabs(a[0][c]) + fabs(a[1][c]) + fabs(a[2][c]);

		norm = sum > norm ? sum : norm;
	}
	for (int k = 0; k < 3; k++) {
		int p = k, swap;

		for (int r = k + 1; r < 3; r++)
			if (fabs(a[r][k]) > fabs(a[p][k]))
				p = r;
		if (!(fabs(a[p][k]) > 0))
			return false;
		for (int c = 0; c < 3 && p != k; c++) {
			double x = a[k][c];

			a[k][c] = a[p][c];
			a[p][c] = x;
		}
		swap = perm[k];
		perm[k] = perm[p];
		perm[p] = swap;
		for (int r = k + 1; r < 3; r++) {
			a[r][k] /= a[k][k];
			for (int c = k + 1; c < 3; c++)
				a[r][c] -= a[r][k] * a[k][c];
		}
	}
	for (int k = 0; k < 3; k++) {
		double x[3], sum;

		for (int r = 0; r < 3; r++) {
			x[r] = perm[r] == k ? 1 : 0;
			for (int c = 0; c < r; c++)
				x[r] -= a[r][c] * x[c];
		}
		for (int r = 2; r >= 0; r--) {
			for (int c = r + 1; c < 3; c++)
				x[r] -= a[r][c] * x[c];
			x[r] /= a[r][r];
		}
		sum = fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
		norm_inv = sum > norm_inv ? sum : norm_inv;
		/* column k of the inverse of the transpose is row k of the inverse */
		memcpy(inv + 3 * k, x, sizeof x);
	}
	return 1 / norm / norm_inv >= 1000 * DBL_EPSILON;
}

/* The transform of a simplex with these vertices: the inverse and v3. */
static bool set_transform(const int64_t *const x[3], const int64_t vertex[4], double out[12])
{
	double t[3][3];

	for (int i = 0; i < 3; i++) {
		out[9 + i] = (double)x[i][vertex[3]];
		for (int j = 0; j < 3; j++)
			t[i][j] = (double)x[i][vertex[j]] - out[9 + i];
	}
	return invert(t, out);
}

int fit_delaunay_ready(struct fit_delaunay *d, struct fit_err *err)
{
	if (d->transforms)
		return FIT_OK;
	d->transforms = calloc(d->n_simplices, 12 * sizeof *d->transforms);
	if (!d->transforms)
		return fit_fail_nomem(err);
	for (size_t s = 0; s < d->n_simplices; s++) {
		const int64_t vertex[4] = { d->v[0][s], d->v[1][s], d->v[2][s], d->v[3][s] };

		if (!d->degenerate[s])
			(void)set_transform(d->x, vertex, d->transforms + 12 * s);
	}
	return FIT_OK;
}

/* ---- building ---- */

struct building {
	int64_t *x[3], *v[4], *nb[4], *degenerate;
	double *eq[5];
};

/* One block for all columns. */
static void *lay_out(struct building *b, size_t n, size_t m)
{
	size_t words = 3 * n + 9 * m + 5 * m;
	int64_t *block = calloc(words, 8);
	int64_t *at = block;
	double *real;

	if (!block)
		return NULL;
	for (int k = 0; k < 3; k++, at += n)
		b->x[k] = at;
	for (int k = 0; k < 4; k++, at += m)
		b->v[k] = at;
	for (int k = 0; k < 4; k++, at += m)
		b->nb[k] = at;
	b->degenerate = at;
	real = (double *)(void *)(at + m);
	for (int k = 0; k < 5; k++, real += m)
		b->eq[k] = real;
	return block;
}

/* Number the lower facets in list order; 0 when one is not a simplex. The number goes into
 * visitid, which nothing else uses any more. */
static size_t number_facets(qhT *qh)
{
	size_t m = 0;

	for (facetT *f = qh->facet_list; f && f->next; f = f->next) {
		if (f->upperdelaunay) {
			f->visitid = 0;
			continue;
		}
		if (!f->simplicial || qh_setsize(qh, f->vertices) != 4 ||
		    qh_setsize(qh, f->neighbors) != 4)
			return 0;
		f->visitid = (unsigned int)++m;
	}
	return m;
}

static int copy_facets(qhT *qh, const struct building *b, size_t n)
{
	const int64_t *const x[3] = { b->x[0], b->x[1], b->x[2] };
	double unused[12];
	size_t s = 0;

	for (facetT *f = qh->facet_list; f && f->next; f = f->next) {
		int64_t vertex[4];

		if (f->upperdelaunay)
			continue;
		for (int k = 0; k < 4; k++) {
			const vertexT *corner = f->vertices->e[k].p;
			const facetT *neighbour = f->neighbors->e[k].p;
			int id = qh_pointid(qh, corner->point);

			if (id < 0 || (size_t)id >= n)	/* the point at infinity */
				return FIT_EDATA;
			vertex[k] = b->v[k][s] = id;
			b->nb[k][s] = (int64_t)neighbour->visitid - 1;
			b->eq[k][s] = f->normal[k];
		}
		b->eq[4][s] = f->offset;
		b->degenerate[s++] = !set_transform(x, vertex, unused);
	}
	return FIT_OK;
}

/* Run Qhull; its complaints go to the stream. qh_new_qhull catches its own errors, qh_triangulate
 * needs our own setjmp. */
static int run_qhull(qhT *qh, double *points, size_t n, FILE *complaints)
{
	char options[] = "qhull d Qbb Qc Qz Q12 Qt";
	int rc = qh_new_qhull(qh, 3, (int)n, points, False, options, NULL, complaints);

	if (rc)
		return rc;
	rc = setjmp(qh->errexit);
	if (rc == 0) {
		qh->NOerrexit = False;
		qh_triangulate(qh);
	}
	qh->NOerrexit = True;
	return rc;
}

static void first_line(const char *text, size_t n, char out[200])
{
	size_t k = 0;

	while (k < n && (text[k] == '\n' || text[k] == ' '))
		k++;
	n -= k;
	text += k;
	for (k = 0; k < n && k < 199 && text[k] != '\n'; k++)
		out[k] = text[k];
	out[k] = '\0';
}

int fit_delaunay_build(struct fit_delaunay *d, const int64_t *const x[3], size_t n,
		       struct fit_err *err)
{
	struct building b = { 0 };
	qhT *qh = calloc(1, sizeof *qh);
	double *points = NULL;
	char *text = NULL, line[200];
	size_t text_n = 0, m;
	FILE *complaints = open_memstream(&text, &text_n);
	void *block = NULL;
	int rc, curlong, totlong;

	*d = (struct fit_delaunay){ 0 };
	points = calloc(n ? n : 1, 3 * sizeof *points);
	if (!qh || !complaints || !points) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	if (n < 5 || n > INT32_MAX / 4) {
		rc = fit_fail(err, FIT_EDATA, "cannot triangulate %zu points (expected five or more)", n);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++)
			points[3 * i + (size_t)k] = (double)x[k][i];
	qh_zero(qh, complaints);
	rc = run_qhull(qh, points, n, complaints);
	m = rc ? 0 : number_facets(qh);
	if (rc || m == 0) {
		fflush(complaints);
		first_line(text, text_n, line);
		rc = rc == qh_ERRmem ? fit_fail_nomem(err) :
		     fit_fail(err, FIT_EDATA, "cannot triangulate %zu points: %s", n,
			      line[0] ? line : "no simplices");
		goto free_qhull;
	}
	block = lay_out(&b, n, m);
	if (!block) {
		rc = fit_fail_nomem(err);
		goto free_qhull;
	}
	for (int k = 0; k < 3; k++)
		memcpy(b.x[k], x[k], n * sizeof *b.x[k]);
	if (copy_facets(qh, &b, n)) {
		rc = fit_fail(err, FIT_EDATA, "cannot triangulate %zu points: a vertex is no point", n);
		goto free_qhull;
	}
	for (int k = 0; k < 3; k++)
		d->x[k] = b.x[k];
	for (int k = 0; k < 4; k++) {
		d->v[k] = b.v[k];
		d->nb[k] = b.nb[k];
	}
	for (int k = 0; k < 5; k++)
		d->eq[k] = b.eq[k];
	d->degenerate = b.degenerate;
	d->n_points = n;
	d->n_simplices = m;
	/* Qbb scales the lifted coordinate to the range of the others */
	d->scale = 1;
	if (qh->SCALElast) {
		d->scale = qh->last_newhigh / (qh->last_high - qh->last_low);
		d->shift = -qh->last_low * d->scale;
	}
	d->owned = block;
	block = NULL;
	rc = fit_delaunay_bind(d, err);
	if (rc)
		fit_delaunay_release(d);
free_qhull:
	qh_freeqhull(qh, !qh_ALL);
	qh_memfreeshort(qh, &curlong, &totlong);
out:
	if (complaints)
		fclose(complaints);
	free(block);
	free(text);
	free(points);
	free(qh);
	return rc;
}

void fit_delaunay_release(struct fit_delaunay *d)
{
	free(d->owned);
	free(d->transforms);
	*d = (struct fit_delaunay){ 0 };
}

int fit_delaunay_bind(struct fit_delaunay *d, struct fit_err *err)
{
	int64_t n = (int64_t)d->n_points, m = (int64_t)d->n_simplices;

	if (n < 5 || m < 1)
		return fit_fail(err, FIT_EDATA, "triangulation of %lld points has %lld simplices",
				(long long)n, (long long)m);
	for (int k = 0; k < 3; k++) {
		d->lo[k] = d->hi[k] = d->x[k][0];
		for (size_t i = 1; i < d->n_points; i++) {
			int64_t x = d->x[k][i];

			d->lo[k] = x < d->lo[k] ? x : d->lo[k];
			d->hi[k] = x > d->hi[k] ? x : d->hi[k];
		}
	}
	for (int k = 0; k < 4; k++) {
		int bad = 0;

		for (size_t s = 0; s < d->n_simplices; s++)
			bad |= d->v[k][s] < 0 || d->v[k][s] >= n || d->nb[k][s] < -1 ||
			       d->nb[k][s] >= m;
		if (bad)
			return fit_fail(err, FIT_EDATA, "triangulation has an index out of range "
					"(expected vertices under %lld, neighbours under %lld)",
					(long long)n, (long long)m);
	}
	return FIT_OK;
}

/* ---- point location (SciPy's _find_simplex, step by step) ---- */

static const double EPS = 100 * DBL_EPSILON;
static const double EPS_BROAD = 0x1p-26;	/* sqrt(DBL_EPSILON) */

/* Height of the lifted point z above the facet of simplex s. */
static double plane_distance(const struct fit_delaunay *d, size_t s, const double z[4])
{
	double dist = d->eq[4][s];

	for (int k = 0; k < 4; k++)
		dist += d->eq[k][s] * z[k];
	return dist;
}

static double coordinate(const double transform[12], const double q[3], int i)
{
	double c = 0;

	for (int j = 0; j < 3; j++)
		c += transform[3 * i + j] * (q[j] - transform[9 + j]);
	return c;
}

static void coordinates(const double transform[12], const double q[3], double c[4])
{
	c[3] = 1;
	for (int i = 0; i < 3; i++) {
		c[i] = coordinate(transform, q, i);
		c[3] -= c[i];
	}
}

static bool within(double c, double eps)
{
	return -eps <= c && c <= 1 + EPS;
}

/* A flat simplex cannot contain anything by itself: is q almost inside a neighbour? */
static ptrdiff_t find_beside(const struct fit_delaunay *d, size_t s, const double q[3], double c[4])
{
	for (int k = 0; k < 4; k++) {
		int64_t nb = d->nb[k][s];
		bool inside = true;

		if (nb < 0 || d->degenerate[nb])
			continue;
		coordinates(d->transforms + 12 * nb, q, c);
		for (int m = 0; m < 4 && inside; m++)
			inside = within(c[m], d->nb[m][nb] == (int64_t)s ? EPS_BROAD : EPS);
		if (inside)
			return (ptrdiff_t)nb;
	}
	return -1;
}

static ptrdiff_t find_by_force(const struct fit_delaunay *d, const double q[3], double c[4])
{
	const double *transform = d->transforms;

	for (size_t s = 0; s < d->n_simplices; s++, transform += 12) {
		if (d->degenerate[s]) {
			ptrdiff_t nb = find_beside(d, s, q, c);

			if (nb >= 0)
				return nb;
			continue;
		}
		c[0] = coordinate(transform, q, 0);
		if (!within(c[0], EPS))
			continue;
		coordinates(transform, q, c);
		if (within(c[1], EPS) && within(c[2], EPS) && within(c[3], EPS))
			return (ptrdiff_t)s;
	}
	return -1;
}

/* Climb to the facet that is highest above the lifted point; the scan goes on with the neighbours
 * of the new simplex after a move. */
static size_t walk(const struct fit_delaunay *d, size_t s, const double q[3])
{
	double z[4] = { q[0], q[1], q[2], 0 };
	double best;
	bool moved = true;

	for (int k = 0; k < 3; k++)
		z[3] += q[k] * q[k];
	z[3] *= d->scale;
	z[3] += d->shift;
	best = plane_distance(d, s, z);
	while (moved && !(best > 0)) {
		moved = false;
		for (int k = 0; k < 4; k++) {
			int64_t nb = d->nb[k][s];
			double dist;

			if (nb < 0)
				continue;
			dist = plane_distance(d, (size_t)nb, z);
			if (dist > best + EPS * (1 + fabs(best))) {
				s = (size_t)nb;
				best = dist;
				moved = true;
			}
		}
	}
	return s;
}

ptrdiff_t fit_delaunay_find(const struct fit_delaunay *d, const double q[3], double c[4])
{
	ptrdiff_t start = 0;

	return fit_delaunay_find_from(d, &start, q, c);
}

ptrdiff_t fit_delaunay_find_from(const struct fit_delaunay *d, ptrdiff_t *start, const double q[3],
				 double c[4])
{
	size_t s;

	for (int k = 0; k < 3; k++)
		if (!(q[k] >= (double)d->lo[k] - EPS && q[k] <= (double)d->hi[k] + EPS))
			return -1;
	s = *start >= 0 && (size_t)*start < d->n_simplices ? (size_t)*start : 0;
	s = walk(d, s, q);
	*start = (ptrdiff_t)s;
	for (size_t hop = 0; hop < 1 + d->n_simplices / 4; hop++) {
		bool inside = true, hopped = false;

		if (d->degenerate[s])
			break;
		c[3] = 1;
		for (int k = 0; k < 4; k++) {
			if (k < 3) {
				c[k] = coordinate(d->transforms + 12 * s, q, k);
				c[3] -= c[k];
			}
			if (c[k] < -EPS) {
				if (d->nb[k][s] < 0)
					return -1;
				s = (size_t)d->nb[k][s];
				*start = (ptrdiff_t)s;
				hopped = true;
				break;
			}
			if (!(c[k] <= 1 + EPS))
				inside = false;
		}
		if (hopped)
			continue;
		if (inside)
			return (ptrdiff_t)s;
		break;
	}
	return *start = find_by_force(d, q, c);
}

double fit_delaunay_value(const struct fit_delaunay *d, ptrdiff_t s, const double c[4],
			  const double *y)
{
	double sum = 0;

	for (int k = 0; k < 4; k++)
		sum += c[k] * y[d->v[k][s]];
	return sum;
}
