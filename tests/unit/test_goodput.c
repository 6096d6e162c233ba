/* SPDX-License-Identifier: MIT */
/* Goodput, and the batch size that makes it largest. */
#include "tests/unit/check.h"

#include "libfit/model/goodput.h"
#include "libfit/model/pgns.h"

static const struct fit_goodput sample = { .theta = { { 0.021, 0.0013, 0.034, 0.0027, 0.011, 0.0009,
							1.7 } },
					   .grad_sqr = 0.013,
					   .grad_var = 0.29,
					   .init_batch = 96,
					   .max_batch = 6000,
					   .min_local_bsz = 12,
					   .max_local_bsz = 170,
					   .max_accum = -1 };

static void test_efficiency(void **state)
{
	struct fit_goodput g = sample;
	double phi = 96 * g.grad_var / g.grad_sqr;

	(void)state;
	for (double batch = 96; batch <= 6000; batch *= 1.21) {
		check_real(fit_goodput_efficiency(&g, batch), (phi + 96) / (phi + batch), 1e-14, 0);
		check_real(fit_goodput_efficiency(&g, batch), fit_pgns_efficiency(phi, 96, batch),
			   1e-14, 0);
		check_real(fit_goodput_gain(&g, batch), fit_pgns_gain(phi, 96, batch), 1e-14, 0);
	}
	g.grad_sqr = 0;
	check_real(fit_goodput_efficiency(&g, 5000), 1, 1e-15, 0);
	g.grad_var = 0;
	check_real(fit_goodput_efficiency(&g, 960), 0.1, 1e-15,
		   0); /* gain 1 at ten times the work */
	g.fixed_efficiency = true;
	check_real(fit_goodput_efficiency(&g, 960), 1, 1e-15, 0);
}

static void test_point(void **state)
{
	const struct fit_theta *t = &sample.theta;
	/* 2 nodes, 6 GPUs, 40 samples, 3 passes in all: by the formulas of the paper */
	double grad = t->v[0] + t->v[1] * 40, sync = t->v[2] + t->v[3] * 4;
	double step = pow(pow(grad, 1.7) + pow(sync, 1.7), 1 / 1.7);
	double batch = 6 * 40 * 3, s = batch / 96;
	struct fit_goodput_point p = fit_goodput_at(&sample, 2, 6, 40, 2);

	(void)state;
	assert_int_equal(p.atomic_bsz, 40);
	assert_int_equal(p.accum_steps, 2);
	check_real(p.throughput, batch / (2 * grad + step), 1e-13, 0);
	check_real(p.efficiency, (0.29 + 0.013) / (0.29 / s + 0.013) / s, 1e-13, 0);
	check_real(p.goodput, p.throughput * p.efficiency, 1e-15, 0);
}

/* Every split there is: none that the search may use is better than what it finds by more than the
 * grid is coarse, and what it finds is within the limits. */
static void test_best(void **state)
{
	static const int64_t shapes[][2] = { { 1, 1 }, { 1, 2 },  { 1, 3 },   { 2, 4 },
					     { 2, 7 }, { 5, 20 }, { 16, 64 }, { 40, 499 } };

	(void)state;
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
		int64_t nodes = shapes[k][0], r = shapes[k][1];
		struct fit_goodput_point p = fit_goodput_best(&sample, nodes, r);
		double best = 0;

		for (int64_t a = 0; a < 64; a++) {
			for (int64_t b = 12; b <= 170; b++) {
				int64_t batch = r * b * (a + 1);

				/* on one GPU a larger batch accumulates; passes only as memory asks */
				if (batch < 96 || batch > 6000 || (r == 1 && batch > 96 && a < 1) ||
				    (a > 0 && !(r == 1 && a == 1) && r * 170 * a >= batch))
					continue;
				best = fmax(best, fit_goodput_at(&sample, nodes, r, b, a).goodput);
			}
		}
		assert_true(best > 0);
		assert_true(p.goodput >= 0.985 * best);
		assert_true(p.atomic_bsz >= 12 && p.atomic_bsz <= 170 && p.accum_steps >= 0);
		assert_true(r * p.atomic_bsz * (p.accum_steps + 1) <
			    6000 + r * (p.accum_steps + 1));
		check_real(p.goodput,
			   fit_goodput_at(&sample, nodes, r, p.atomic_bsz, p.accum_steps).goodput,
			   0, 0);
	}
}

static void test_limits(void **state)
{
	struct fit_goodput g = sample;
	struct fit_goodput_point p;

	(void)state;
	p = fit_goodput_best(&g, 126, 501); /* 501 x 12 > 6000 */
	check_real(p.goodput, 0, 0, 0);
	assert_int_equal(p.atomic_bsz, 0);
	p = fit_goodput_best(&g, 125, 500); /* just fits */
	assert_int_equal(p.atomic_bsz, 12);

	/* memory so small that the initial batch needs passes, and these are limited */
	g.max_local_bsz = 13;
	g.max_accum = 2;
	p = fit_goodput_best(&g, 1, 1); /* 1 x 13 x 3 < 96 */
	check_real(p.goodput, 0, 0, 0);
	g.max_accum = 7; /* 1 x 12 x 8 = 96 */
	p = fit_goodput_best(&g, 1, 1);
	assert_int_equal(p.accum_steps, 7);
	g.max_accum = -1;
	g.grad_sqr = 0; /* all noise: as large as it can be */
	p = fit_goodput_best(&g, 1, 1);
	assert_true(p.accum_steps > 50);

	/* rounding up: 3 GPUs, 100 samples make 102, or with the strict limit 99 */
	g = sample;
	g.init_batch = g.max_batch = 100;
	p = fit_goodput_best(&g, 1, 3);
	assert_int_equal(p.atomic_bsz, 34);
	g.strict_batch = true;
	p = fit_goodput_best(&g, 1, 3);
	assert_int_equal(p.atomic_bsz, 33);
	for (int64_t r = 1; r <= 60; r++) {
		g = sample;
		g.max_batch = 777;
		g.strict_batch = true;
		p = fit_goodput_best(&g, (r + 3) / 4, r);
		assert_true(p.goodput > 0);
		assert_true(r * p.atomic_bsz * (p.accum_steps + 1) <= 777);
	}
}

/* A job that does not adapt: the batch is given, more GPUs are faster until they are not. */
static void test_fixed(void **state)
{
	struct fit_goodput g = sample;
	struct fit_goodput_point p;

	(void)state;
	g.fixed_efficiency = true;
	g.init_batch = g.max_batch = 512;
	for (int64_t r = 1; r <= 32; r *= 2) {
		p = fit_goodput_best(&g, (r + 3) / 4, r);
		assert_int_equal(r * p.atomic_bsz * (p.accum_steps + 1), 512);
		check_real(p.efficiency, 1, 0, 0);
		check_real(p.goodput, p.throughput, 0, 0);
	}
	p = fit_goodput_best(&g, 1, 1);
	assert_int_equal(p.accum_steps, 3); /* 512 / 170 */
}

/* A job that keeps its batch size whatever it is worth: the split by hand, at its own efficiency. */
static void test_kept_batch(void **state)
{
	static const struct { int64_t batch, gpus, atomic, accum; } split[] = {
		{ 512, 1, 128, 3 },	/* 512 / 170: four passes */
		{ 512, 3, 86, 1 },	/* 171 a GPU: two passes of 85.5 */
		{ 512, 4, 128, 0 }, { 512, 5, 103, 0 },
		{ 100, 1, 50, 1 },	/* above M0 on one GPU: twice */
		{ 96, 1, 96, 0 },
		{ 5999, 7, 142, 5 },	/* 857 a GPU are 143 a pass; 6 000 in all allow 142 */
	};
	struct fit_goodput g = sample;

	(void)state;
	for (size_t i = 0; i < sizeof split / sizeof *split; i++) {
		struct fit_goodput_point p, want;

		g.fixed_batch = split[i].batch;
		p = fit_goodput_best(&g, 1, split[i].gpus);
		want = fit_goodput_at(&g, 1, split[i].gpus, split[i].atomic, split[i].accum);
		assert_int_equal(p.atomic_bsz, split[i].atomic);
		assert_int_equal(p.accum_steps, split[i].accum);
		check_real(p.goodput, want.goodput, 0, 0);
	}
	g.fixed_batch = 100;
	assert_true(fit_goodput_best(&g, 2, 9).goodput > 0);
	check_real(fit_goodput_best(&g, 2, 10).goodput, 0, 0, 0); /* 10 a GPU are under 12 */
}

/* On one GPU a batch above M0 accumulates, so that there are two samples of the gradient. */
static void test_one_gpu(void **state)
{
	struct fit_goodput g = sample;
	struct fit_goodput_point p;

	(void)state;
	g.grad_sqr = 0; /* all noise */
	g.max_batch = 150; /* fits into memory at once */
	p = fit_goodput_best(&g, 1, 1);
	assert_true(p.accum_steps == 1 || p.atomic_bsz == 96);
	g.grad_sqr = 1e6; /* none */
	p = fit_goodput_best(&g, 1, 1);
	assert_int_equal(p.atomic_bsz, 96);
	assert_int_equal(p.accum_steps, 0);
}

static void test_check(void **state)
{
	struct fit_goodput g = sample;

	(void)state;
	assert_null(fit_goodput_check(&g));
	g.grad_var = (double)NAN;
	check_text(fit_goodput_check(&g), "the gradient statistics are negative or not finite");
	g = sample;
	g.grad_sqr = -1;
	check_text(fit_goodput_check(&g), "the gradient statistics are negative or not finite");
	g = sample;
	g.max_batch = 95;
	check_text(fit_goodput_check(&g), "the batch sizes are below 1 or out of order");
	g = sample;
	g.min_local_bsz = 0;
	check_text(fit_goodput_check(&g), "the local batch sizes are below 1 or out of order");
	g = sample;
	g.max_accum = -2;
	check_text(fit_goodput_check(&g), "the limit of accumulation passes is below -1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efficiency), cmocka_unit_test(test_point),
		cmocka_unit_test(test_best),	   cmocka_unit_test(test_limits),
		cmocka_unit_test(test_fixed),	   cmocka_unit_test(test_one_gpu),
		cmocka_unit_test(test_check),	   cmocka_unit_test(test_kept_batch)
	};

	return cmocka_run_group_tests_name("goodput", tests, NULL, NULL);
}
