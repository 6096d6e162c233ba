/* SPDX-License-Identifier: MIT */
#include "libfit/model/envelope.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libfit/base/text.h"

struct fit_envelope_point {
	struct fit_dd kappa;
	double speed;
	size_t at;
};

/* ---- predicates ---- */

/* Add sign * s * kappa: at most four terms. */
static void add_product(struct fit_expansion *e, double s, struct fit_dd kappa)
{
	struct fit_dd p = fit_two_prod(s, kappa.hi);

	fit_expansion_add(e, p.lo);
	fit_expansion_add(e, p.hi);
	if (kappa.lo != 0) {
		p = fit_two_prod(s, kappa.lo);
		fit_expansion_add(e, p.lo);
		fit_expansion_add(e, p.hi);
	}
}

/* The determinant, with s_a kappa_a, which cancels, left out. */
static int exact_side(double sa, struct fit_dd ka, double sb, struct fit_dd kb, double sc,
		      struct fit_dd kc)
{
	struct fit_expansion e = { 0 };

	add_product(&e, sb, kc);
	add_product(&e, -sb, ka);
	add_product(&e, -sa, kc);
	add_product(&e, -sc, kb);
	add_product(&e, sc, ka);
	add_product(&e, sa, kb);
	return fit_expansion_sign(&e);
}

static int side(double sa, struct fit_dd ka, double sb, struct fit_dd kb, double sc, struct fit_dd kc)
{
	double left = (sb - sa) * (kc.hi - ka.hi), right = (sc - sa) * (kb.hi - ka.hi);
	double det = left - right, bound;

	/* Differences and products are off by one rounding each, and kappa.hi by one more where it is no
	 * whole number: then a difference is off by a share of its terms. */
	if (ka.lo == 0 && kb.lo == 0 && kc.lo == 0)
		bound = 4 * DBL_EPSILON * (fabs(left) + fabs(right));
	else
		bound = 8 * DBL_EPSILON * ((sb + sa) * (kc.hi + ka.hi) + (sc + sa) * (kb.hi + ka.hi));
	if (det > bound || det < -bound)
		return det > 0 ? 1 : -1;
	return exact_side(sa, ka, sb, kb, sc, kc);
}

static int cmp_ratio(double sa, struct fit_dd ka, double sb, struct fit_dd kb)
{
	double left = sa * kb.hi, right = sb * ka.hi;
	struct fit_expansion e = { 0 };

	if (fabs(left - right) > 4 * DBL_EPSILON * (left + right))
		return left > right ? 1 : -1;
	add_product(&e, sa, kb);
	add_product(&e, -sb, ka);
	return fit_expansion_sign(&e);
}

int fit_width_side(const struct fit_width *a, const struct fit_width *b, const struct fit_width *c)
{
	return side(a->speed, fit_width_kappa(a), b->speed, fit_width_kappa(b), c->speed,
		    fit_width_kappa(c));
}

int fit_width_cmp_ratio(const struct fit_width *a, const struct fit_width *b)
{
	return cmp_ratio(a->speed, fit_width_kappa(a), b->speed, fit_width_kappa(b));
}

struct fit_dd fit_width_edge(const struct fit_width *a, const struct fit_width *b)
{
	struct fit_expansion e = { 0 };

	add_product(&e, a->speed, fit_width_kappa(b));
	add_product(&e, -b->speed, fit_width_kappa(a));
	return fit_dd_div(fit_two_sum(b->speed, -a->speed), fit_expansion_value(&e));
}

/* ---- the envelope ---- */

const char *fit_width_verdict_name(enum fit_width_verdict v)
{
	static const char *const names[] = {
		[FIT_WIDTH_VERTEX] = "vertex",		 [FIT_WIDTH_UNUSABLE] = "not-usable",
		[FIT_WIDTH_MINIMUM] = "below-minimum",	 [FIT_WIDTH_DUPLICATE] = "duplicate",
		[FIT_WIDTH_SUPERLINEAR] = "superlinear", [FIT_WIDTH_SLOWER] = "slower",
		[FIT_WIDTH_BELOW] = "below",		 [FIT_WIDTH_COLLINEAR] = "collinear"
	};

	return names[v];
}

void fit_envelope_release(struct fit_envelope_work *work)
{
	free(work->points);
	*work = (struct fit_envelope_work){ 0 };
}

/* By kappa; of the same kappa the fastest first, then as given. */
static int compare_points(const void *pa, const void *pb)
{
	const struct fit_envelope_point *a = pa, *b = pb;
	int c = fit_dd_cmp(a->kappa, b->kappa);

	if (c)
		return c;
	if (a->speed != b->speed)
		return a->speed > b->speed ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void note(struct fit_width_note *notes, size_t at, enum fit_width_verdict verdict, size_t lo,
		 size_t hi)
{
	if (notes)
		notes[at] = (struct fit_width_note){ verdict, lo, hi };
}

/* The usable points, sorted, one for each kappa; their number. */
static size_t take_points(const struct fit_width *w, size_t n, const int64_t *min_gpus,
			  struct fit_envelope_point *p, struct fit_width_note *notes)
{
	size_t m = 0, kept = 0;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		if (!fit_width_usable(&w[i])) {
			note(notes, i, FIT_WIDTH_UNUSABLE, FIT_NO_WIDTH, FIT_NO_WIDTH);
			continue;
		}
		if (min_gpus && w[i].gpus < min_gpus[w[i].type]) {
			note(notes, i, FIT_WIDTH_MINIMUM, FIT_NO_WIDTH, FIT_NO_WIDTH);
			continue;
		}
		p[m] = (struct fit_envelope_point){ .speed = w[i].speed, .at = i };
		p[m].kappa = w[i].price == 1 ? fit_dd_of((double)w[i].gpus) : fit_width_kappa(&w[i]);
		sorted = sorted && (m == 0 || compare_points(&p[m - 1], &p[m]) < 0);
		m++;
	}
	if (!sorted)
		qsort(p, m, sizeof *p, compare_points);
	for (size_t i = 0; i < m; i++) {
		if (kept > 0 && fit_dd_cmp(p[kept - 1].kappa, p[i].kappa) == 0)
			note(notes, p[i].at, FIT_WIDTH_DUPLICATE, p[kept - 1].at, FIT_NO_WIDTH);
		else
			p[kept++] = p[i];
	}
	return kept;
}

static int side_of(const struct fit_envelope_point *a, const struct fit_envelope_point *b,
		   const struct fit_envelope_point *c)
{
	return side(a->speed, a->kappa, b->speed, b->kappa, c->speed, c->kappa);
}

/* Say of each point why it is no corner. corner: numbers of points. */
static void explain(const struct fit_envelope_point *p, size_t m, const size_t *corner, size_t n,
		    struct fit_width_note *notes)
{
	size_t next = 0, fastest = 0;	/* corner at or behind point i; fastest point before it */

	for (size_t i = 0; i < m; i++) {
		size_t at = p[i].at;

		while (next < n && corner[next] < i)
			next++;
		if (next < n && corner[next] == i)
			note(notes, at, FIT_WIDTH_VERTEX, FIT_NO_WIDTH, FIT_NO_WIDTH);
		else if (next == 0)
			note(notes, at, FIT_WIDTH_SUPERLINEAR, FIT_NO_WIDTH, p[corner[0]].at);
		else if (p[fastest].speed >= p[i].speed)
			note(notes, at, FIT_WIDTH_SLOWER, p[fastest].at, FIT_NO_WIDTH);
		else /* nothing behind the last corner is faster than it: there is a next one */
			note(notes, at,
			     side_of(&p[corner[next - 1]], &p[i], &p[corner[next]]) == 0 ?
				     FIT_WIDTH_COLLINEAR :
				     FIT_WIDTH_BELOW,
			     p[corner[next - 1]].at, p[corner[next]].at);
		if (p[i].speed > p[fastest].speed)
			fastest = i;
	}
}

int fit_envelope(const struct fit_width *w, size_t n, const int64_t *min_gpus,
		 struct fit_envelope_work *work, size_t *vertex, size_t *n_vertex,
		 struct fit_width_note *notes, struct fit_err *err)
{
	struct fit_envelope_point *p;
	size_t m, start = 0, end = 0, k = 0;

	*n_vertex = 0;
	if (fit_grow(&work->points, &work->cap, n, sizeof *work->points))
		return fit_fail_nomem(err);
	p = work->points;
	m = take_points(w, n, min_gpus, p, notes);
	if (m == 0)
		return FIT_OK;
	for (size_t i = 1; i < m; i++) {
		if (cmp_ratio(p[i].speed, p[i].kappa, p[start].speed, p[start].kappa) >= 0)
			start = i;
		if (p[i].speed > p[end].speed)
			end = i;
	}
	/* start <= end: behind end nothing is faster, so its ratio is smaller */
	for (size_t i = start; i <= end; i++) {
		while (k >= 2 && side_of(&p[vertex[k - 2]], &p[vertex[k - 1]], &p[i]) <= 0)
			k--;
		vertex[k++] = i;
	}
	if (notes)
		explain(p, m, vertex, k, notes);
	for (size_t i = 0; i < k; i++)
		vertex[i] = p[vertex[i]].at;
	*n_vertex = k;
	return FIT_OK;
}
