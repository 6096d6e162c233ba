/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include "libfit/synth/arrivals.h"

/* Mean and squared coefficient of variation of n gaps, the first arrival not being one. */
static void measure(const struct fit_mmpp *m, uint64_t seed, int n, double *mean, double *scv)
{
	struct fit_arrivals *a;
	struct fit_err err = { 0 };
	double last, sum = 0, squares = 0;

	check_ok(fit_arrivals_new(&a, m, seed, &err), &err);
	last = fit_arrivals_next_s(a);
	for (int i = 0; i < n; i++) {
		double at = fit_arrivals_next_s(a);

		assert_true(at >= last);
		sum += at - last;
		squares += (at - last) * (at - last);
		last = at;
	}
	*mean = sum / n;
	*scv = squares / n / (*mean * *mean) - 1;
	fit_arrivals_free(a);
}

/* The moments of the process that was fitted are those that were asked for, and those of what it generates. */
static void moments_are_as_wanted(void **state)
{
	static const struct fit_arrivals_params cases[] = {
		{ 180, 2.65, 0.25, 1800 }, { 180, 1.2, 0.25, 1800 }, { 180, 5, 0.25, 1800 },
		{ 3, 4, 0.1, 50 }, { 60, 12, 0, 600 }, { 7, 1, 0.5, 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_err err = { 0 };
		struct fit_mmpp m;
		double mean, scv;

		check_ok(fit_mmpp_fit(&cases[i], &m, &err), &err);
		check_real(fit_mmpp_mean_gap_s(&m), cases[i].mean_gap_s, 1e-12, 0);
		check_real(fit_mmpp_scv(&m), cases[i].scv, 1e-9, 0);
		measure(&m, 11 + i, 400000, &mean, &scv);
		check_real(mean, cases[i].mean_gap_s, 0.03, 0);
		check_real(scv, cases[i].scv, 0.06, 0);
	}
}

/* Worked out by hand: rates 4 and 1, leaving at 0.5 and 0.25: mean rate (4 x 0.25 + 1 x 0.5) / 0.75 = 2,
 * C^2 = 1 + 2 x 0.125 x 9 / (0.5625 x (4 + 1 + 0.5)) = 1 + 2.25 / 3.09375. */
static void formulas(void **state)
{
	struct fit_mmpp m = { { 4, 1 }, { 0.5, 0.25 } };

	(void)state;
	check_real(fit_mmpp_mean_gap_s(&m), 0.5, 1e-15, 0);
	check_real(fit_mmpp_scv(&m), 1 + 2.25 / 3.09375, 1e-15, 0);
}

static void the_seed_decides(void **state)
{
	struct fit_arrivals_params p = fit_arrivals_params_default();
	struct fit_arrivals *a, *b, *c;
	struct fit_err err = { 0 };
	struct fit_mmpp m;
	bool other = false;

	(void)state;
	check_ok(fit_mmpp_fit(&p, &m, &err), &err);
	check_ok(fit_arrivals_new(&a, &m, 1, &err), &err);
	check_ok(fit_arrivals_new(&b, &m, 1, &err), &err);
	check_ok(fit_arrivals_new(&c, &m, 2, &err), &err);
	for (int i = 0; i < 100; i++) {
		double x = fit_arrivals_next_s(a), z = fit_arrivals_next_s(c);

		check_same_bits(fit_arrivals_next_s(b), x);
		other = other || z > x || z < x;
	}
	assert_true(other);
	fit_arrivals_free(a);
	fit_arrivals_free(b);
	fit_arrivals_free(c);
}

static void refuse(struct fit_arrivals_params p, const char *message)
{
	struct fit_err err = { 0 };
	struct fit_mmpp m;

	check_err(fit_mmpp_fit(&p, &m, &err), &err, FIT_EINVAL, message);
}

static void refuses_what_cannot_be(void **state)
{
	(void)state;
	refuse((struct fit_arrivals_params){ 180, 7, 0.25, 1800 },
	       "no squared coefficient of variation of 7 with a low rate of 0.25 of the mean (expected below 7, or a "
	       "smaller low rate)");
	refuse((struct fit_arrivals_params){ 0, 2, 0.25, 1800 }, "the mean gap is not above 0");
	refuse((struct fit_arrivals_params){ 180, 0.5, 0.25, 1800 },
	       "the squared coefficient of variation is not from 1 up");
	refuse((struct fit_arrivals_params){ 180, 2, 1, 1800 }, "the low rate is not a share from 0 to below 1");
	refuse((struct fit_arrivals_params){ 180, 2, 0.5, (double)NAN }, "the length of a burst is not above 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_as_wanted),
		cmocka_unit_test(formulas),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(refuses_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
