/* SPDX-License-Identifier: MIT */
#include "libfit/verify/gate_stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "libfit/base/draws.h"

/* ---- drift ---- */

void fit_gate_psi(const double *a, const double *b, size_t n, double *psi, double *bound)
{
	double na = 0, nb = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		na += a[i];
		nb += b[i];
	}
	*psi = *bound = n < 2 ? 0 : (double)NAN;
	if (n < 2 || !(na > 0) || !(nb > 0))
		return;
	for (size_t i = 0; i < n; i++) {
		double p = (a[i] + 0.5) / (na + 0.5 * (double)n), q = (b[i] + 0.5) / (nb + 0.5 * (double)n);

		sum += (q - p) * log(q / p);
	}
	*psi = sum;
	*bound = (1 / na + 1 / nb) * gsl_cdf_chisq_Pinv(0.99, (double)(n - 1));
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* The tail of Kolmogorov's distribution at x. */
static double ks_tail(double x)
{
	double sum = 0, sign = 2;

	if (x < 0.2)	/* the series converges too slowly, and is 1 to all digits */
		return 1;
	for (int k = 1; k <= 100; k++) {
		double term = sign * exp(-2 * k * k * x * x);

		sum += term;
		sign = -sign;
		if (fabs(term) < 1e-16)
			break;
	}
	return fmin(fmax(sum, 0), 1);
}

void fit_gate_ks(double *a, size_t na, double *b, size_t nb, double *d, double *p)
{
	size_t i = 0, j = 0;
	double most = 0, root;

	*d = *p = (double)NAN;
	if (!na || !nb)
		return;
	qsort(a, na, sizeof *a, by_value);
	qsort(b, nb, sizeof *b, by_value);
	while (i < na && j < nb) {
		double x = a[i] < b[j] ? a[i] : b[j];

		while (i < na && a[i] <= x)
			i++;
		while (j < nb && b[j] <= x)
			j++;
		most = fmax(most, fabs((double)i / (double)na - (double)j / (double)nb));
	}
	root = sqrt((double)na * (double)nb / ((double)na + (double)nb));
	*d = most;
	*p = ks_tail((root + 0.12 + 0.11 / root) * most);
}

size_t fit_gate_quantile_cuts(const double *sorted, size_t n, size_t n_bins, double *cuts)
{
	size_t k = 0;

	for (size_t i = 1; i < n_bins; i++) {
		double c = sorted[i * n / n_bins];

		if (c > (k ? cuts[k - 1] : sorted[0]))
			cuts[k++] = c;
	}
	return k;
}

size_t fit_gate_bin(const double *cuts, size_t n_cuts, double x)
{
	size_t low = 0, high = n_cuts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cuts[mid] <= x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- bootstrap ---- */

/* The quantile q of sorted values, between the nearest two. */
static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* The acceleration of BCa: skewness of the jackknife, over 6. */
static double acceleration(fit_gate_statistic *f, const void *arg, size_t n, uint32_t *at, double *left)
{
	size_t blocks = n < FIT_GATE_JACKKNIFE ? n : FIT_GATE_JACKKNIFE;
	double mean = 0, two = 0, three = 0;

	for (size_t b = 0; b < blocks; b++) {
		size_t from = b * n / blocks, to = (b + 1) * n / blocks, k = 0;

		for (size_t i = 0; i < n; i++)
			if (i < from || i >= to)
				at[k++] = (uint32_t)i;
		left[b] = f(arg, at, k);
		mean += left[b] / (double)blocks;
	}
	for (size_t b = 0; b < blocks; b++) {
		double off = mean - left[b];

		two += off * off;
		three += off * off * off;
	}
	return two > 0 && isfinite(three) ? three / (6 * pow(two, 1.5)) : 0;
}

/* The share of the samples that the end at z (of the normal) stands at. */
static double end_share(double bias, double a, double z)
{
	double s = bias + z;

	return gsl_cdf_ugaussian_P(bias + s / (1 - a * s));
}

static void bca(double *values, size_t draws, double level, double a, struct fit_gate_interval *out)
{
	double z = gsl_cdf_ugaussian_Pinv(0.5 + level / 2), below = 0, share, bias;

	qsort(values, draws, sizeof *values, by_value);
	for (size_t i = 0; i < draws; i++)	/* half of those that are equal */
		below += values[i] < out->estimate ? 1 : values[i] <= out->estimate ? 0.5 : 0;
	share = fmin(fmax(below, 0.5), (double)draws - 0.5) / (double)draws;
	bias = gsl_cdf_ugaussian_Pinv(share);
	out->low = quantile(values, draws, end_share(bias, a, -z));
	out->high = quantile(values, draws, end_share(bias, a, z));
}

int fit_gate_bootstrap(fit_gate_statistic *f, const void *arg, size_t n, size_t draws, double level,
		       uint64_t seed, const char *purpose, struct fit_gate_interval *out,
			       struct fit_err *err)
{
	size_t room = draws > FIT_GATE_JACKKNIFE ? draws : FIT_GATE_JACKKNIFE, good = 0;
	double *values = NULL;
	uint32_t *at = NULL;
	struct fit_draws rng;
	double a;

	*out = (struct fit_gate_interval){ (double)NAN, (double)NAN, (double)NAN };
	if (!(level > 0) || !(level < 1) || draws < 1 || n > (size_t)1 << 31)
		return fit_fail(err, FIT_EINVAL, "no bootstrap of %zu rows, %zu draws, level %g", n, draws,
				level);
	values = malloc(room * sizeof *values);
	at = calloc(n + 1, sizeof *at);
	if (!values || !at) {
		free(values);
		free(at);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		at[i] = (uint32_t)i;
	out->estimate = f(arg, at, n);
	if (n < 2 || !isfinite(out->estimate))
		goto out;
	a = acceleration(f, arg, n, at, values);
	fit_draws_init(&rng, seed, purpose);
	for (size_t d = 0; d < draws; d++) {
		for (size_t i = 0; i < n; i++)
			at[i] = fit_draws_below(&rng, (uint32_t)n);
		values[good] = f(arg, at, n);
		good += isfinite(values[good]) ? 1 : 0;
	}
	if (good > 0)
		bca(values, good, level, a, out);
out:
	free(values);
	free(at);
	return FIT_OK;
}
