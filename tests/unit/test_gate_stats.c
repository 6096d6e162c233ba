/* SPDX-License-Identifier: MIT */
/* Statistics of the model gate: known values of drift, and whether intervals cover what they should. */
#include "tests/unit/check.h"

#include <gsl/gsl_randist.h>

#include "libfit/base/rng.h"
#include "libfit/verify/gate_stats.h"

static void psi_by_hand(void **state)
{
	/* shares (50.5, 50.5) and (75.5, 25.5) of 101, by a pocket calculator; chi2 of two degrees is -2
	 * ln 0.01 */
	const double a[] = { 50, 50 }, b[] = { 75, 25 }, c[] = { 10, 20, 30 }, none[] = { 0, 0, 0 };
	double psi, bound;

	(void)state;
	fit_gate_psi(a, b, 2, &psi, &bound);
	check_real(psi, 0.2686767831907422, 1e-14, 0);
	fit_gate_psi(b, a, 2, &psi, &bound);
	check_real(psi, 0.2686767831907422, 1e-14, 0);
	fit_gate_psi(c, c, 3, &psi, &bound);
	check_real(psi, 0, 0, 0);
	check_real(bound, 9.2103403719761818 * (2.0 / 60), 1e-12, 0);
	fit_gate_psi(c, none, 3, &psi, &bound);
	assert_true(isnan(psi) && isnan(bound));
	fit_gate_psi(c, none, 1, &psi, &bound);
	check_real(psi, 0, 0, 0);
}

/* Equal distributions stay below the bound 99 times in a hundred. */
static void psi_bound_holds(void **state)
{
	gsl_rng *rng = fit_rng_new(7, "test/psi");
	int above = 0;

	(void)state;
	assert_non_null(rng);
	for (int k = 0; k < 2000; k++) {
		double a[8] = { 0 }, b[8] = { 0 }, psi, bound;

		for (int i = 0; i < 400; i++)
			a[gsl_rng_uniform_int(rng, 8)]++;
		for (int i = 0; i < 300; i++)
			b[gsl_rng_uniform_int(rng, 8)]++;
		fit_gate_psi(a, b, 8, &psi, &bound);
		above += psi > bound;
	}
	gsl_rng_free(rng);
	assert_in_range(above, 5, 40);	/* 20 of 2000 on average */
}

static void ks_by_hand(void **state)
{
	double a[] = { 4, 1, 3, 2 }, b[] = { 5, 3, 6, 4 }, same[] = { 4, 3, 2, 1 }, far[] = { 9, 8 }, d, p;

	(void)state;
	fit_gate_ks(a, 4, b, 4, &d, &p);
	check_real(d, 0.5, 0, 0);
	/* the series of Kolmogorov at (sqrt 2 + 0.12 + 0.11 / sqrt 2) / 2, summed elsewhere */
	check_real(p, 0.5344157192165071, 1e-12, 0);
	fit_gate_ks(a, 4, same, 4, &d, &p);
	check_real(d, 0, 0, 0);
	check_real(p, 1, 0, 0);
	fit_gate_ks(a, 4, far, 2, &d, &p);
	check_real(d, 1, 0, 0);
	fit_gate_ks(a, 0, far, 2, &d, &p);
	assert_true(isnan(d) && isnan(p));
}

/* 5 % of equal samples have p below 0.05. */
static void ks_p_is_uniform(void **state)
{
	gsl_rng *rng = fit_rng_new(3, "test/ks");
	int below = 0;

	(void)state;
	assert_non_null(rng);
	for (int k = 0; k < 1000; k++) {
		double a[80], b[60], d, p;

		for (int i = 0; i < 80; i++)
			a[i] = gsl_rng_uniform(rng);
		for (int i = 0; i < 60; i++)
			b[i] = gsl_rng_uniform(rng);
		fit_gate_ks(a, 80, b, 60, &d, &p);
		below += p < 0.05;
	}
	gsl_rng_free(rng);
	assert_in_range(below, 25, 75);
}

static void cuts_and_bins(void **state)
{
	const double v[] = { 1, 1, 1, 2, 3, 4, 5, 6, 7, 8 }, one[] = { 5, 5, 5 };
	double cuts[9];

	(void)state;
	assert_int_equal(fit_gate_quantile_cuts(v, 10, 5, cuts),
			 3);	/* nothing is below 1: it is no cut */
	check_real(cuts[0], 3, 0, 0);
	check_real(cuts[2], 7, 0, 0);
	assert_int_equal(fit_gate_quantile_cuts(one, 3, 4, cuts), 0);
	cuts[0] = 2;
	cuts[1] = 4;
	assert_int_equal(fit_gate_bin(cuts, 2, 1.9), 0);
	assert_int_equal(fit_gate_bin(cuts, 2, 2), 1);
	assert_int_equal(fit_gate_bin(cuts, 2, 3.9), 1);
	assert_int_equal(fit_gate_bin(cuts, 2, 4), 2);
}

/* ---- bootstrap ---- */

struct pairs {
	const double *a, *b;
};

static double ratio(const void *arg, const uint32_t *at, size_t n)
{
	const struct pairs *p = arg;
	double a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		a += p->a[at[i]];
		b += p->b[at[i]];
	}
	return b > 0 ? a / b - 1 : (double)NAN;
}

/*
 * Completion times with and without a model, skewed as those of jobs are (log-normal), each longer by 8 %
 * with noise of its own: in 95 % of the seeds the interval has 0.08 in it. 400 seeds: 95 +- 2.2 % (two
 * standard deviations); that of so few skewed rows falls a little short.
 */
static void intervals_cover_a_planted_shift(void **state)
{
	int covered = 0, below = 0, above = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		gsl_rng *rng = fit_rng_new(seed, "test/bootstrap");
		double a[60], b[60];
		struct pairs p = { a, b };
		struct fit_gate_interval i;
		struct fit_err err;

		assert_non_null(rng);
		for (int k = 0; k < 60; k++) {
			b[k] = exp(gsl_ran_gaussian(rng, 0.6));
			a[k] = b[k] * 1.08 * (1 + 0.2 * (gsl_rng_uniform(rng) - 0.5));
		}
		gsl_rng_free(rng);
		check_ok(fit_gate_bootstrap(ratio, &p, 60, 400, 0.95, seed, "gate/replay", &i, &err), &err);
		assert_true(i.low <= i.estimate && i.estimate <= i.high);
		covered += i.low <= 0.08 && 0.08 <= i.high;
		below += i.high < 0.08;
		above += i.low > 0.08;
	}
	print_message("covered %d of 400, too low %d, too high %d\n", covered, below, above);
	assert_in_range(covered, 366, 394);
	assert_true(below >= 1 && above >= 1);
}

static double mean(const void *arg, const uint32_t *at, size_t n)
{
	const double *v = arg;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[at[i]];
	return sum / (double)n;
}

static double none(const void *arg, const uint32_t *at, size_t n)
{
	(void)arg;
	(void)at;
	(void)n;
	return (double)NAN;
}

static void edges_of_the_bootstrap(void **state)
{
	double v[1000];
	struct fit_gate_interval a, b;
	struct fit_err err;

	(void)state;
	for (int i = 0; i < 1000; i++)
		v[i] =
			(i * 37) % 1000;	/* each of 0 to 999 once: mean 499.5, standard error sqrt((1e6 - 1) / 12 / 1e3) */
	check_ok(fit_gate_bootstrap(mean, v, 1000, 4000, 0.9, 5, "x", &a, &err), &err);
	check_real(a.estimate, 499.5, 1e-14, 0);
	check_real(a.low, 499.5 - 1.6449 * 9.1287, 0, 0.8);
	check_real(a.high, 499.5 + 1.6449 * 9.1287, 0, 0.8);
	check_ok(fit_gate_bootstrap(mean, v, 1000, 4000, 0.9, 5, "x", &b, &err), &err);
	check_same_bits(b.low, a.low);
	check_same_bits(b.high, a.high);
	check_ok(fit_gate_bootstrap(mean, v, 1000, 4000, 0.9, 6, "x", &b, &err), &err);
	assert_true(b.low < a.low || b.low > a.low);
	check_ok(fit_gate_bootstrap(mean, v, 1, 100, 0.9, 5, "x", &a, &err), &err);
	check_real(a.estimate, 0, 0, 0);
	assert_true(isnan(a.low) && isnan(a.high));
	check_ok(fit_gate_bootstrap(none, v, 10, 100, 0.9, 5, "x", &a, &err), &err);
	assert_true(isnan(a.estimate) && isnan(a.low));
	for (int i = 0; i < 10; i++)
		v[i] = 0.1;
	check_ok(fit_gate_bootstrap(mean, v, 10, 100, 0.9, 5, "x", &a, &err), &err);
	check_same_bits(a.low, a.high);
	check_err(fit_gate_bootstrap(mean, v, 10, 0, 0.9, 5, "x", &a, &err), &err, FIT_EINVAL,
		  "no bootstrap of 10 rows, 0 draws, level 0.9");
	check_err(fit_gate_bootstrap(mean, v, 10, 5, 1, 5, "x", &a, &err), &err, FIT_EINVAL,
		  "no bootstrap of 10 rows, 5 draws, level 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(psi_by_hand),
		cmocka_unit_test(psi_bound_holds),
		cmocka_unit_test(ks_by_hand),
		cmocka_unit_test(ks_p_is_uniform),
		cmocka_unit_test(cuts_and_bins),
		cmocka_unit_test(intervals_cover_a_planted_shift),
		cmocka_unit_test(edges_of_the_bootstrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
