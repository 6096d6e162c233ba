/* SPDX-License-Identifier: MIT */
/* Gittins indices: the hull against the definition, and the simulator's table by hand. */
#include "tests/unit/check.h"

#include "libfit/replay/gittins_index.h"

/* The definition: the best of all D that end at a sample. */
static double by_definition(const double *s, size_t n, double a)
{
	double best = 0;

	for (size_t m = 0; m < n; m++) {
		double done = 0, time = 0;

		if (s[m] <= a)
			continue;
		for (size_t i = 0; i < n; i++) {
			if (s[i] <= a)
				continue;
			done += s[i] <= s[m];
			time += (s[i] < s[m] ? s[i] : s[m]) - a;
		}
		best = done / time > best ? done / time : best;
	}
	return best;
}

static void test_definition(void **state)
{
	uint64_t x = 12345;

	(void)state;
	for (int round = 0; round < 60; round++) {
		double s[37];
		size_t n = 1 + (size_t)round % 37;
		struct fit_gittins g;

		for (size_t i = 0; i < n; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			/* of very different sizes, some of them equal */
			s[i] = (double)((x >> 40) % 50 + 1) * ((x >> 60) % 3 ? 1.5 : 400);
		}
		assert_int_equal(fit_gittins_init(&g, s, n, false, NULL), FIT_OK);
		for (double a = 0; a < 21000; a = a * 1.3 + 0.7)
			check_real(fit_gittins_index(&g, a), by_definition(s, n, a), 1e-12, 0);
		fit_gittins_release(&g);
	}
}

/* Sizes 100, 5000, 9000. Of a = 99: two are larger than a + 3250, so p = 1/3, e = floor((100 + 6500) / 3). */
static void test_table(void **state)
{
	const double s[] = { 9000, 100, 5000 };
	struct fit_gittins g;

	(void)state;
	assert_int_equal(fit_gittins_init(&g, s, 3, true, NULL), FIT_OK);
	check_real(fit_gittins_index(&g, 0), 151.5136, 1e-12, 0);		/* 0.33333e6 / 2200 */
	check_real(fit_gittins_index(&g, 99.5), 151.5136, 1e-12, 0);
	check_real(fit_gittins_index(&g, 100), 121.2121, 1e-12, 0);	/* 1/2, (5000 + 3250) / 2 */
	check_real(fit_gittins_index(&g, 5000), 0, 0, 0);		/* the last size is not counted as done */
	check_real(fit_gittins_index(&g, 9000), 0, 0, 0);
	fit_gittins_release(&g);
}

static void test_none(void **state)
{
	struct fit_gittins g;

	(void)state;
	assert_int_equal(fit_gittins_init(&g, NULL, 0, false, NULL), FIT_OK);
	check_real(fit_gittins_index(&g, 5), 0, 0, 0);
	fit_gittins_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
