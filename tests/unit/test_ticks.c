/* SPDX-License-Identifier: MIT */
/* Counting down at once, against counting down step by step. */
#include "libfit/base/rng.h"
#include "libfit/replay/ticks.h"
#include "tests/unit/check.h"

static void both(double x, double rate)
{
	volatile double y = x;
	int64_t n = 0, k = fit_ticks_to_zero(x, rate), third = k / 3;
	double at_third = x;

	for (; y > 0; n++) {
		if (n == third)
			at_third = y;
		y = y - rate;
	}
	if (third == n)
		at_third = y;
	assert_int_equal(k, n);
	assert_true(fit_ticks_after(x, rate, n) <= y && fit_ticks_after(x, rate, n) >= y);
	assert_true(fit_ticks_after(x, rate, third) <= at_third && fit_ticks_after(x, rate, third) >= at_third);
}

static void agrees_with_the_loop(void **state)
{
	gsl_rng *r = fit_rng_new(17, "test/ticks");

	(void)state;
	assert_non_null(r);
	for (int i = 0; i < 3000; i++) {
		double rate = (double)(444 + gsl_rng_uniform_int(r, 1100)) / 1000;
		double x = (double)(1 + gsl_rng_uniform_int(r, i % 100 ? 20000 : 2000000));

		both(x, rate);
		/* a whole number of rates: where the rounding decides */
		both((double)(1 + gsl_rng_uniform_int(r, 3000)) * rate, rate);
		/* what an earlier countdown at another rate leaves */
		both(fit_ticks_after(x, 0.917, (int64_t)(x / 3)), rate);
	}
	for (int i = 0; i < 200; i++)	/* rates of few bits, which meet halves */
		both((double)(1 + gsl_rng_uniform_int(r, 100000)) + 0x1p-30, 1 + (double)i * 0x1p-40);
	gsl_rng_free(r);
}

static void edges(void **state)
{
	(void)state;
	assert_int_equal(fit_ticks_to_zero(0, 0.5), 0);
	assert_int_equal(fit_ticks_to_zero(-3, 0.5), 0);
	assert_int_equal(fit_ticks_to_zero(1, 1), 1);
	assert_int_equal(fit_ticks_to_zero(946, 1), 946);
	assert_int_equal(fit_ticks_to_zero(3e9, 1), 3000000000);
	assert_int_equal(fit_ticks_to_zero(1e18, 1e-3), INT64_MAX);
	assert_true(fit_ticks_after(5, 2, 4) <= -3 && fit_ticks_after(5, 2, 4) >= -3);
	assert_true(fit_ticks_after(5, 2, 0) >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_the_loop), cmocka_unit_test(edges) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
