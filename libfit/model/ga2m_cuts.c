/* SPDX-License-Identifier: MIT */
/* Where bins begin: ranks of equal mass, cuts of a column. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_bins.h"

/* ---- where bins begin ---- */

/* One stretch of light runs [from, to) of `mass` rows into `bins` bins: each bound where the mass below
 * is nearest to its share, of two equally near ones that nearer to the middle. */
static size_t cut_stretch(const uint32_t *count, size_t from, size_t to, uint64_t mass, size_t bins,
			  size_t *bound)
{
	uint64_t below = 0;
	size_t n = 0, at = from;

	for (size_t i = 1; i < bins; i++) {
		/* distances times `bins`, in whole numbers */
		uint64_t want = mass * i;

		while (at < to && (below + count[at]) * bins <= want)
			below += count[at++];
		if (at < to) {
			uint64_t low = want - below * bins, high = (below + count[at]) * bins - want;
			bool up = high < low || (high == low && 2 * i < bins);
			size_t b = up ? at + 1 : at;

			if (b > from && b < to && (n == 0 || bound[n - 1] < b))
				bound[n++] = b;
		}
	}
	return n;
}

size_t fit_ga2m_bounds(const uint32_t *count, size_t n, size_t max_bins, size_t *bound)
{
	uint64_t rest = 0;
	size_t left = max_bins, n_bound = 0, stretches, spare;
	bool *heavy, more = true;

	if (n <= 1 || max_bins <= 1)
		return 0;
	if (n <= max_bins) {
		for (size_t i = 1; i < n; i++)
			bound[i - 1] = i;
		return n - 1;
	}
	heavy = calloc(n, sizeof *heavy);
	if (!heavy)
		return SIZE_MAX;
	for (size_t i = 0; i < n; i++)
		rest += count[i];
	/* a heavy run leaves less for the others, which may make others heavy */
	while (more && left > 1) {
		uint64_t share = rest / left;
		uint64_t taken = 0;
		size_t runs = 0;

		more = false;
		for (size_t i = 0; i < n; i++) {
			if (!heavy[i] && count[i] > share) {
				heavy[i] = true;
				taken += count[i];
				runs++;
			}
		}
		if (runs >= left) {	/* too many at once: leave it to the shares */
			for (size_t i = 0; i < n; i++)
				heavy[i] = heavy[i] && count[i] > 2 * share;
			rest = 0;
			left = max_bins;
			for (size_t i = 0; i < n; i++) {
				rest += heavy[i] ? 0 : count[i];
				left -= heavy[i];
			}
			break;
		}
		rest -= taken;
		left -= runs;
		more = runs > 0;
	}
	stretches = 0;
	for (size_t i = 0; i < n; i++)
		stretches += !heavy[i] && (i == 0 || heavy[i - 1]);
	/* each stretch has one bin, as long as there are bins, and the spare ones go by mass */
	spare = left > stretches ? left - stretches : 0;
	for (size_t i = 0, s = 0, given = 0, seen_n = 0; i < n;) {
		static const size_t one = 1;
		size_t to = i;
		uint64_t mass = 0;

		if (heavy[i]) {
			if (i > 0 && n_bound + 1 < max_bins && (n_bound == 0 || bound[n_bound - 1] < i))
				bound[n_bound++] = i;
			i++;
			continue;
		}
		while (to < n && !heavy[to])
			mass += count[to++];
		if (i > 0 && n_bound + 1 < max_bins && s < left && (n_bound == 0 || bound[n_bound - 1] < i))
			bound[n_bound++] = i;
		seen_n += mass;
		{
			size_t upto = rest ? (size_t)((spare * seen_n + rest / 2) / rest) : 0;
			size_t bins = one + (upto > given ? upto - given : 0);

			given = upto > given ? upto : given;
			n_bound += cut_stretch(count, i, to, mass, bins, bound + n_bound);
		}
		s++;
		i = to;
	}
	free(heavy);
	return n_bound;
}

double fit_ga2m_midpoint(double lo, double hi)
{
	double mid;

	lo = lo < -DBL_MAX ? -DBL_MAX : lo;
	hi = hi > DBL_MAX ? DBL_MAX : hi;
	mid = lo / 2 + hi / 2;
	if (!(mid > lo && mid < hi))	/* halves of tiny numbers round */
		mid = lo + (hi - lo) / 2;
	return mid > lo && mid <= hi ? mid : hi;
}

/* ---- sorting ---- */

#define DIGIT_BITS 11
#define N_DIGITS 6
#define N_VALUES ((size_t)1 << DIGIT_BITS)

/* Doubles as unsigned numbers of the same order: all bits of negative ones turned, else the sign. */
static uint64_t to_key(uint64_t u)
{
	return u ^ (u >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static uint64_t from_key(uint64_t k)
{
	return k ^ (k >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
}

static void insertion(uint64_t *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t v = a[i];
		size_t j = i;

		for (; j > 0 && a[j - 1] > v; j--)
			a[j] = a[j - 1];
		a[j] = v;
	}
}

/* By the digits from `first` on; the result is in *a, which may have changed places with *b. */
static void by_digits(uint64_t **a, uint64_t **b, size_t n, size_t (*at)[N_VALUES], int first)
{
	static const uint64_t mask = N_VALUES - 1;

	memset(at, 0, N_DIGITS * sizeof *at);
	for (size_t i = 0; i < n; i++)
		for (int d = first; d < N_DIGITS; d++)
			at[d][(*a)[i] >> (d * DIGIT_BITS) & mask]++;
	for (int d = first; d < N_DIGITS; d++) {
		size_t sum = 0;
		uint64_t *swap = *a;

		if (at[d][(*a)[0] >> (d * DIGIT_BITS) & mask] == n)
			continue;
		for (size_t v = 0; v < N_VALUES; v++) {
			size_t c = at[d][v];

			at[d][v] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			(*b)[at[d][(*a)[i] >> (d * DIGIT_BITS) & mask]++] = (*a)[i];
		*a = *b;
		*b = swap;
	}
}

/* The rest of the order where the leading digits are equal, if there are few of each; else false. */
static bool finish_runs(uint64_t *a, size_t n, int first)
{
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && a[to] >> (first * DIGIT_BITS) == a[i] >> (first * DIGIT_BITS); to++)
			if (to - i > 32 && a[to] != a[i])
				return false;
		insertion(a + i, to - i);
	}
	return true;
}

void fit_ga2m_sort(double *x, double *scratch, size_t n)
{
	size_t(*at)[N_VALUES] = malloc(N_DIGITS * sizeof *at);
	uint64_t *a = (uint64_t *)(void *)x, *b = (uint64_t *)(void *)scratch;

	for (size_t i = 0; i < n; i++) {
		uint64_t u;

		memcpy(&u, &x[i], sizeof u);
		u = to_key(u);
		memcpy(&a[i], &u, sizeof u);
	}
	if (!at || n < 64) {	/* without room for counters it is slow, but right */
		insertion(a, n);
	} else {
		by_digits(&a, &b, n, at, N_DIGITS / 2);
		if (!finish_runs(a, n, N_DIGITS / 2))
			by_digits(&a, &b, n, at, 0);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t u = from_key(a[i]);

		memcpy(&x[i], &u, sizeof u);
	}
	free(at);
}

/* ---- cuts of a column ---- */

/* Sorted values -> different values (at the front of x) and their counts. */
static size_t runs_of(double *x, size_t n, uint32_t *count)
{
	size_t runs = 0;

	for (size_t i = 0; i < n; i++) {
		if (runs > 0 && x[runs - 1] >= x[i]) {
			count[runs - 1]++;
		} else {
			x[runs] = x[i];
			count[runs++] = 1;
		}
	}
	return runs;
}

int fit_ga2m_cuts(double *x, size_t n, size_t max_bins, double **cuts, size_t *n_cuts,
		int64_t *n_unique,
		  double *min, double *max)
{
	double *scratch = malloc((n + 1) * sizeof *scratch);
	uint32_t *count;
	size_t *bound = malloc((max_bins + 1) * sizeof *bound);
	size_t m = 0, runs, k;
	int rc = FIT_ENOMEM;

	*cuts = NULL;
	*n_cuts = 0;
	*n_unique = 0;
	*min = *max = (double)NAN;
	if (!scratch || !bound)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			x[m++] = x[i];
	fit_ga2m_sort(x, scratch, m);
	if (m > 0) {
		*min = x[0];
		*max = x[m - 1];
	}
	count = (uint32_t *)(void *)scratch;	/* has room for twice as many */
	runs = runs_of(x, m, count);
	*n_unique = (int64_t)runs;
	k = fit_ga2m_bounds(count, runs, max_bins, bound);
	if (k == SIZE_MAX)
		goto out;
	if (k > 0 && !(*cuts = malloc(k * sizeof **cuts)))
		goto out;
	for (size_t i = 0; i < k; i++) {
		double cut = fit_ga2m_midpoint(x[bound[i] - 1], x[bound[i]]);

		/* infinities stand for the largest doubles: two runs may share a midpoint */
		if (*n_cuts == 0 || cut > (*cuts)[*n_cuts - 1])
			(*cuts)[(*n_cuts)++] = cut;
	}
	rc = FIT_OK;
out:
	free(scratch);
	free(bound);
	return rc;
}
