/* SPDX-License-Identifier: MIT */
/* Checks of the model gate that look at what the model is asked now: is it like what it was fitted to? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/gate_kind.h"

#define N_BINS 10	/* of a number, by quantiles of the measurements */

/* ---- columns of rows ---- */

/* The known values of feature i, of one group (-1: of all); *missing counts the others. */
static size_t values_of(const struct fit_gate_set *s, size_t i, int64_t group, double *v, size_t *missing)
{
	size_t n = 0;

	*missing = 0;
	for (size_t row = 0; row < s->n; row++) {
		double x = s->x[row * s->n_x + i];

		if (group >= 0 && s->group[row] != group)
			continue;
		if (isnan(x))
			++*missing;
		else
			v[n++] = x;
	}
	return n;
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* ---- extrapolation ---- */

/* Does the row lie outside of what was measured, in any number? low, high: [feature]. */
static bool outside(const struct fit_gate_run *r, const double *x, const double *low, const double *high)
{
	struct fit_gate_feature f;

	for (size_t i = 0; r->kind->feature(r->model, i, &f); i++)
		if (f.nominal ? x[i] < 0 : x[i] < low[i] || x[i] > high[i])
			return true;
	return false;
}

/* The range of each number among the measurements of a group; empty (inf, -inf) where there are none. */
static void ranges(const struct fit_gate_set *s, uint32_t group, double *low, double *high)
{
	for (size_t i = 0; i < s->n_x; i++) {
		low[i] = (double)INFINITY;
		high[i] = -(double)INFINITY;
	}
	for (size_t row = 0; row < s->n; row++)
		for (size_t i = 0; i < s->n_x && s->group[row] == group; i++) {
			low[i] = fmin(low[i], s->x[row * s->n_x + i]);
			high[i] = fmax(high[i], s->x[row * s->n_x + i]);
		}
}

/* Ranges that the model keeps itself. */
static int extrapolation_by_model(struct fit_gate_run *r, struct fit_err *err)
{
	struct fit_gate_feature f;
	int rc = FIT_OK;

	for (size_t i = 0; r->kind->feature(r->model, i, &f) && !rc; i++) {
		size_t out = 0;

		for (size_t row = 0; row < r->fresh.n; row++)
			out += !r->kind->inside(r->model, i, r->fresh.x[row * r->fresh.n_x + i]);
		rc = fit_gate_at_most(r, f.name, (double)out / (double)r->fresh.n, err,
				      "%zu of %zu fresh rows where training had none", out, r->fresh.n);
	}
	return rc;
}

int fit_gate_check_extrapolation(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->fresh;
	double *low, *high;
	int rc = FIT_OK;

	if (!(r->has & FIT_GATE_DATA) && r->kind->inside)
		return extrapolation_by_model(r, err);
	if (!(r->has & FIT_GATE_DATA))
		return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_NOTED, err,
				    "not looked at: needs --data");
	low = malloc((s->n_x + 1) * sizeof *low);
	high = malloc((s->n_x + 1) * sizeof *high);
	if (!low || !high)
		rc = fit_fail_nomem(err);
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		uint32_t of = fit_index_get(&r->data.index, fit_text_of(s->groups[g]));
		size_t n = 0, out = 0;

		ranges(&r->data, of, low, high);
		for (size_t row = 0; row < s->n; row++) {
			n += s->group[row] == g;
			out += s->group[row] == g && outside(r, &s->x[row * s->n_x], low, high);
		}
		rc = fit_gate_at_most(r, *s->groups[g] ? s->groups[g] : NULL, (double)out / (double)n, err,
				      "%zu of %zu fresh rows are outside of what was measured", out, n);
	}
	free(low);
	free(high);
	return rc;
}

/* ---- drift ---- */

/* Put neighbours of bins [from, to) together until each has a tenth of a, so that chance says little; the
 * bins around stay. The new number of bins. */
static size_t merge(double *a, double *b, size_t n, size_t from, size_t to)
{
	double all = 0, in_a = 0, in_b = 0;
	size_t out = from;

	for (size_t i = from; i < to; i++)
		all += a[i];
	for (size_t i = from; i < to; i++) {
		in_a += a[i];
		in_b += b[i];
		if (in_a * N_BINS < all && i + 1 < to)
			continue;
		a[out] = in_a;
		b[out++] = in_b;
		in_a = in_b = 0;
	}
	for (size_t i = to; i < n; i++, out++) {
		a[out] = a[i];
		b[out] = b[i];
	}
	return out;
}

/* Leave out what is empty in both. */
static size_t squeeze(double *a, double *b, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(a[i] + b[i] > 0))
			continue;
		a[out] = a[i];
		b[out++] = b[i];
	}
	return out;
}

static int say_psi(struct fit_gate_run *r, const char *name, const double *a, const double *b, size_t n,
		   struct fit_err *err)
{
	double psi, bound;
	enum fit_gate_verdict v;

	fit_gate_psi(a, b, n, &psi, &bound);
	v = isnan(psi) ? FIT_GATE_CANNOT : psi <= r->rule->limit ? FIT_GATE_PASS : psi > bound ?
		FIT_GATE_FAIL :
	    FIT_GATE_CANNOT;
	return fit_gate_add(r, name, psi, NULL, v, err,
			    "population stability index over %zu bins%s; chance alone "
			    "stays below %.3g", n, v == FIT_GATE_CANNOT ? ": too few rows to tell" : "",
				    bound);
}

/* Categories: the numbers that occur in either; missing ones and such as training did not see are one
 * each. */
static int psi_nominal(struct fit_gate_run *r, size_t i, const char *name, double *v, double *w,
		       struct fit_err *err)
{
	size_t missing_a, missing_b, na = values_of(&r->data, i, -1, v, &missing_a);
	size_t nb = values_of(&r->fresh, i, -1, w, &missing_b), n = 0, ia = 0, ib = 0;
	double *a = calloc(na + nb + 2, sizeof *a), *b = calloc(na + nb + 2, sizeof *b);
	int rc = a && b ? FIT_OK : fit_fail_nomem(err);

	qsort(v, na, sizeof *v, by_value);
	qsort(w, nb, sizeof *w, by_value);
	while (!rc && (ia < na || ib < nb)) {
		double x = ib >= nb || (ia < na && v[ia] < w[ib]) ? v[ia] : w[ib];

		for (; ia < na && v[ia] <= x; ia++)
			a[n]++;
		for (; ib < nb && w[ib] <= x; ib++)
			b[n]++;
		n++;
	}
	if (!rc) {
		/* such as training did not see are a bin of their own, and come first */
		n = merge(a, b, n, n && ((na && v[0] < 0) || (nb && w[0] < 0)), n);
		a[n] = (double)missing_a;
		b[n++] = (double)missing_b;
		rc = say_psi(r, name, a, b, squeeze(a, b, n), err);
	}
	free(a);
	free(b);
	return rc;
}

static int psi_number(struct fit_gate_run *r, size_t i, const char *name, double *v, double *w,
		      struct fit_err *err)
{
	double a[N_BINS + 1] = { 0 }, b[N_BINS + 1] = { 0 }, cuts[N_BINS];
	size_t missing_a, missing_b, na = values_of(&r->data, i, -1, v, &missing_a);
	size_t nb = values_of(&r->fresh, i, -1, w, &missing_b), n_cuts, n;

	qsort(v, na, sizeof *v, by_value);
	n_cuts = na ? fit_gate_quantile_cuts(v, na, N_BINS, cuts) : 0;
	n = n_cuts + 1;
	/* one value alone so far: others are on either side of it */
	if (na && !n_cuts) {
		cuts[0] = v[0];
		cuts[1] = nextafter(v[0], (double)INFINITY);
		n_cuts = 2;
		n = 3;
	}
	for (size_t k = 0; k < na; k++)
		a[fit_gate_bin(cuts, n_cuts, v[k])]++;
	for (size_t k = 0; k < nb; k++)
		b[fit_gate_bin(cuts, n_cuts, w[k])]++;
	if (missing_a + missing_b) {
		a[n] = (double)missing_a;
		b[n++] = (double)missing_b;
	}
	return say_psi(r, name, a, b, n, err);
}

/* The mix of groups: a fresh one that was not measured is one more. */
static int psi_groups(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *d = &r->data, *f = &r->fresh;
	size_t n = d->n_groups + f->n_groups;
	double *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
	int rc = a && b ? FIT_OK : fit_fail_nomem(err);

	for (size_t row = 0; row < d->n && !rc; row++)
		a[d->group[row]]++;
	for (size_t row = 0; row < f->n && !rc; row++) {
		uint32_t of = fit_index_get(&d->index, fit_text_of(f->groups[f->group[row]]));

		b[of == FIT_NO_INDEX ? d->n_groups + f->group[row] : of]++;
	}
	rc = rc ? rc : say_psi(r, "application", a, b, squeeze(a, b, n), err);
	free(a);
	free(b);
	return rc;
}

/* Against the bins that the model keeps of its training. */
static int psi_by_bins(struct fit_gate_run *r, struct fit_err *err)
{
	struct fit_gate_feature f;
	int rc = FIT_OK;

	for (size_t i = 0; r->kind->feature(r->model, i, &f) && !rc; i++) {
		const double *counts;
		size_t n = r->kind->bins(r->model, i, &counts);
		double *a = malloc((n + 1) * sizeof *a), *b = calloc(n + 1, sizeof *b);

		if (!a || !b)
			rc = fit_fail_nomem(err);
		for (size_t row = 0; n && !rc && row < r->fresh.n; row++) {
			size_t k = r->kind->bin(r->model, i, r->fresh.x[row * r->fresh.n_x + i]);

			b[k < n ? k : n - 1]++;
		}
		if (n > 1 && !rc) {
			memcpy(a, counts, n * sizeof *a);
			rc = say_psi(r, f.name, a, b, squeeze(a, b, merge(a, b, n, 1, n - 1)), err);
		}
		free(a);
		free(b);
	}
	return rc;
}

int fit_gate_check_psi(struct fit_gate_run *r, struct fit_err *err)
{
	struct fit_gate_feature f;
	double *v, *w;
	int rc = FIT_OK;

	if (!(r->has & FIT_GATE_DATA) && r->kind->bins)
		return psi_by_bins(r, err);
	if (!(r->has & FIT_GATE_DATA))
		return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_NOTED, err,
				    "not looked at: needs --data");
	v = malloc((r->data.n + 1) * sizeof *v);
	w = malloc((r->fresh.n + 1) * sizeof *w);
	if (!v || !w)
		rc = fit_fail_nomem(err);
	if (!rc && *r->data.groups[0])
		rc = psi_groups(r, err);
	for (size_t i = 0; !rc && r->kind->feature(r->model, i, &f); i++)
		rc = f.nominal ? psi_nominal(r, i, f.name, v, w, err) : psi_number(r, i, f.name, v, w, err);
	free(v);
	free(w);
	return rc;
}

int fit_gate_check_ks(struct fit_gate_run *r, struct fit_err *err)
{
	double *v = malloc((r->data.n + 1) * sizeof *v), *w = malloc((r->fresh.n + 1) * sizeof *w);
	struct fit_gate_feature f;
	int rc = v && w ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; !rc && r->kind->feature(r->model, i, &f); i++) {
		size_t missing, na = values_of(&r->data, i, -1, v, &missing);
		size_t nb = values_of(&r->fresh, i, -1, w, &missing);
		double d, p;

		if (f.nominal)
			continue;
		fit_gate_ks(v, na, w, nb, &d, &p);
		rc = fit_gate_add(r, f.name, d, NULL,
				  isnan(d) ? FIT_GATE_CANNOT : d <= r->rule->limit ? FIT_GATE_PASS :
				  p < 0.01 ? FIT_GATE_FAIL : FIT_GATE_CANNOT, err,
				  "Kolmogorov and Smirnov, %zu against %zu values; p = %.3g%s", na, nb, p,
				  d > r->rule->limit && p >= 0.01 ? ": too few to tell" : "");
	}
	free(v);
	free(w);
	return rc;
}
