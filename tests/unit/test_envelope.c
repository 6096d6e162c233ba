/* SPDX-License-Identifier: MIT */
/* The envelope of speedup functions: exact predicates, reasons, and against a definition that looks at all pairs. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/rng.h"
#include "libfit/model/envelope.h"

#define MAX 24

struct result {
	size_t vertex[MAX], n;
	struct fit_width_note notes[MAX];
};

static struct result envelope(const struct fit_width *w, size_t n, const int64_t *min_gpus)
{
	struct fit_envelope_work work = { 0 };
	struct result r = { .n = 0 };
	struct fit_err err = { 0 };

	check_ok(fit_envelope(w, n, min_gpus, &work, r.vertex, &r.n, r.notes, &err), &err);
	fit_envelope_release(&work);
	return r;
}

/* Speeds of 1, 2, … GPUs; expect the numbers of GPUs of the vertices. */
static struct result check_vertices(const double *speeds, size_t n, int64_t first, const char *expected)
{
	struct fit_width w[MAX];
	struct result r;
	char text[200] = "";

	for (size_t i = 0; i < n; i++)
		w[i] = (struct fit_width){ speeds[i], 1, first + (int64_t)i, 0 };
	r = envelope(w, n, NULL);
	for (size_t i = 0; i < r.n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i ? " " : "",
			 (long long)w[r.vertex[i]].gpus);
	check_text(text, expected);
	return r;
}

#define CHECK(expected, ...) \
	check_vertices((const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / \
		       sizeof(double), 1, expected)

static void test_shapes(void **state)
{
	struct result r;

	(void)state;
	(void)CHECK("1 2 3 4", 1.5, 2.75, 3.5, 3.875);
	r = CHECK("2 3 4", 1, 2.5, 3.25, 3.5); /* superlinear at first */
	assert_int_equal(r.notes[0].verdict, FIT_WIDTH_SUPERLINEAR);
	assert_int_equal(r.notes[0].by_hi, 1);
	r = CHECK("1 2 4", 1, 1.75, 1.625, 2.25); /* a dip */
	assert_int_equal(r.notes[2].verdict, FIT_WIDTH_SLOWER);
	assert_int_equal(r.notes[2].by_lo, 1);
	r = CHECK("2", 1, 2, 2, 2); /* a plateau: linear, then no faster */
	assert_int_equal(r.notes[0].verdict, FIT_WIDTH_SUPERLINEAR); /* as fast by GPU */
	assert_int_equal(r.notes[3].verdict, FIT_WIDTH_SLOWER);
	r = CHECK("1 4 5", 1, 1.5, 2, 2.5, 2.625);
	assert_int_equal(r.notes[1].verdict, FIT_WIDTH_COLLINEAR);
	assert_int_equal(r.notes[1].by_lo, 0);
	assert_int_equal(r.notes[1].by_hi, 3);
	r = CHECK("1 3 4", 1, (double)NAN, 2.5, 3); /* holes */
	assert_int_equal(r.notes[1].verdict, FIT_WIDTH_UNUSABLE);
	(void)CHECK("1 3 4", 1, 0, 2.5, 3);
	(void)CHECK("1 3 4", 1, -7, 2.5, 3);
	(void)CHECK("1 3 4", 1, (double)INFINITY, 2.5, 3);
	(void)CHECK("1", 3, 2, 1);
	(void)CHECK("1", 2);
	(void)CHECK("4", 1, 2, 3, 4); /* linear: as many as possible */
	(void)CHECK("", 0, (double)NAN, -1);
	r = CHECK("1 4", 1, 1.25, 1.375, 2.75);
	assert_int_equal(r.notes[1].verdict, FIT_WIDTH_BELOW);
	assert_int_equal(r.notes[2].by_hi, 3);
	(void)check_vertices((const double[]){ 4, 4.25, 4.3, 4.35, 4.9, 5.2, 5.3, 5.35, 7.5 }, 9, 8, "8 16");
}

static void test_minimum_and_types(void **state)
{
	static const int64_t least[] = { 3, 2 };
	/* two types: kappa 1, 2, 3, 4 and 1.5, 3, 6 */
	const struct fit_width w[] = { { 1, 1, 1, 0 }, { 1.75, 1, 2, 0 }, { 2.375, 1, 3, 0 },
				       { 2.875, 1, 4, 0 }, { 1.5, 1.5, 1, 1 }, { 2.5, 1.5, 2, 1 },
				       { 4, 1.5, 4, 1 } };
	struct result r = envelope(w, 7, least);

	(void)state;
	/* usable: (3, 2.375) (4, 2.875) (3, 2.5) (6, 4) */
	assert_int_equal(r.notes[0].verdict, FIT_WIDTH_MINIMUM);
	assert_int_equal(r.notes[4].verdict, FIT_WIDTH_MINIMUM);
	assert_int_equal(r.notes[2].verdict, FIT_WIDTH_DUPLICATE);
	assert_int_equal(r.notes[2].by_lo, 5);
	assert_int_equal(r.notes[3].verdict, FIT_WIDTH_BELOW);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.vertex[0], 5);
	assert_int_equal(r.vertex[1], 6);
	r = envelope(w, 7, NULL);
	assert_int_equal(r.vertex[0], 4); /* both types have 1 by cost: the larger one */
	assert_int_equal(r.notes[0].verdict, FIT_WIDTH_SUPERLINEAR);
}

/* Cases that rounded arithmetic gets wrong. */
static void test_exact(void **state)
{
	const double third = 1.0 / 3;
	const struct fit_width a = { 1, 1, 1, 0 }, b = { 1 + third, 1, 2, 0 }, c = { 1 + 2 * third, 1, 3, 0 };
	/* 1 + third is rounded: by its last bits the point is off the chord */
	double off = (1 + third) - 1 - ((1 + 2 * third) - (1 + third));
	struct fit_width p = { 0.1, 0.1, 3, 0 }, q = { 0.1, 0.3, 1, 0 };

	(void)state;
	assert_int_equal(fit_width_side(&a, &b, &c), (off > 0) - (off < 0));
	for (int k = 2; k <= 1 << 20; k *= 2) { /* exact multiples of one unit are collinear */
		const struct fit_width u = { 3 * 0x1p-40, 1, k, 0 }, v = { 5 * 0x1p-40, 1, k + 1, 0 };
		const struct fit_width w = { 7 * 0x1p-40, 1, k + 2, 0 };
		const struct fit_width x = { nextafter(5 * 0x1p-40, 1), 1, k + 1, 0 };
		const struct fit_width y = { nextafter(5 * 0x1p-40, 0), 1, k + 1, 0 };

		assert_int_equal(fit_width_side(&u, &v, &w), 0);
		assert_int_equal(fit_width_side(&u, &x, &w), 1);
		assert_int_equal(fit_width_side(&u, &y, &w), -1);
	}
	/* 3 x 0.1 is above 0.3 by the third of a unit in the last place */
	assert_int_equal(fit_width_cmp_ratio(&p, &q), -1);
	assert_int_equal(fit_width_cmp_ratio(&q, &p), 1);
	assert_int_equal(fit_width_cmp_ratio(&p, &p), 0);
	/* the price of an edge whose denominator cancels nearly all digits */
	p = (struct fit_width){ 1 + 0x1p-50, 1, 1 << 20, 0 };
	q = (struct fit_width){ 1 + 0x1p-49, 1, (1 << 20) + 1, 0 };
	/* (2^-49 - 2^-50) / ((2^20 + 1)(1 + 2^-50) - 2^20 (1 + 2^-49)) */
	check_real(fit_dd_value(fit_width_edge(&p, &q)), 0x1p-50 / (1 + 0x1p-50 - 0x1p-30), 1e-15, 0);
}

/* Is vertex i one by the definition: some price mu >= 0 (or cost alone) at which it is strictly best, or best
 * among equals as the largest? On small integers in long double, without a hull. */
static bool is_best_somewhere(const struct fit_width *w, size_t n, size_t i)
{
	/* (1 + mu k_i) / s_i < (1 + mu k) / s for all others: mu (k_i s - k s_i) < s_i - s */
	long double lo = 0, hi = (long double)INFINITY;

	for (size_t k = 0; k < n; k++) {
		long double si = (long double)w[i].speed, sk = (long double)w[k].speed;
		long double a = (long double)w[i].gpus * sk - (long double)w[k].gpus * si, b = si - sk;

		if (k == i || w[k].speed <= 0)
			continue;
		if (a == 0 && b <= 0) /* same cost a unit, no slower */
			return false;
		if (a > 0)
			hi = fminl(hi, b / a);
		else if (a < 0)
			lo = fmaxl(lo, b / a);
	}
	/* at mu = 0 a smaller width of the same speed wins */
	return w[i].speed > 0 && lo < hi;
}

static void test_random(void **state)
{
	gsl_rng *rng = fit_rng_new(7, "test/envelope");

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct fit_width w[MAX];
		size_t n = 1 + gsl_rng_uniform_int(rng, 9);
		struct result r;
		size_t at = 0;

		for (size_t i = 0; i < n; i++) {
			w[i] = (struct fit_width){ (double)gsl_rng_uniform_int(rng, 13), 1,
						   1 + (int64_t)gsl_rng_uniform_int(rng, 12), 0 };
			for (size_t k = 0; k < i; k++) /* each width once */
				if (w[k].gpus == w[i].gpus)
					w[i].gpus = 13 + (int64_t)i;
		}
		r = envelope(w, n, NULL);
		for (size_t i = 0; i < n; i++) {
			bool vertex = is_best_somewhere(w, n, i);

			if ((r.notes[i].verdict == FIT_WIDTH_VERTEX) != vertex)
				fail_msg("round %d, %lld GPUs: %s", round, (long long)w[i].gpus,
					 fit_width_verdict_name(r.notes[i].verdict));
			at += vertex;
		}
		assert_int_equal(at, r.n);
		for (size_t i = 1; i < r.n; i++) {
			assert_true(w[r.vertex[i - 1]].gpus < w[r.vertex[i]].gpus);
			assert_true(w[r.vertex[i - 1]].speed < w[r.vertex[i]].speed);
		}
		for (size_t i = 0; i < n; i++) { /* the reasons are true */
			const struct fit_width_note *k = &r.notes[i];

			if (k->verdict == FIT_WIDTH_SLOWER)
				assert_true(w[k->by_lo].gpus < w[i].gpus &&
					    w[k->by_lo].speed >= w[i].speed);
			if (k->verdict == FIT_WIDTH_SUPERLINEAR)
				assert_true(w[k->by_hi].gpus > w[i].gpus &&
					    fit_width_cmp_ratio(&w[k->by_hi], &w[i]) >= 0);
			if (k->verdict == FIT_WIDTH_BELOW || k->verdict == FIT_WIDTH_COLLINEAR)
				assert_int_equal(fit_width_side(&w[k->by_lo], &w[i], &w[k->by_hi]),
						 k->verdict == FIT_WIDTH_BELOW ? -1 : 0);
		}
	}
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes),
					    cmocka_unit_test(test_minimum_and_types),
					    cmocka_unit_test(test_exact), cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
