/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <gsl/gsl_rng.h>

#include "libfit/base/rng.h"
#include "libfit/verify/verify_state.h"

enum { MOST = 300 };

static int ascending(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* A verifier that knows these samples. */
static struct fit_verifier *with_samples(const double *s, size_t n)
{
	char path[] = "/tmp/gf-verify-gittins.XXXXXX";
	struct fit_verifier *v;
	struct fit_err err;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(f);
	(void)fprintf(f, "gpu_s\n");
	for (size_t i = 0; i < n; i++)
		(void)fprintf(f, "%.17g\n", s[i]);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fit_verifier_new(&v, &err), FIT_OK);
	assert_int_equal(fit_verifier_gpu_times(v, path, &err), FIT_OK);
	assert_int_equal(unlink(path), 0);
	v->policy = POLICY_GITTINS;
	return v;
}

/* Of a job that waits and ran so many seconds on one GPU. */
static double index_of(struct fit_verifier *v, struct verify_live *l, int64_t ran_s)
{
	l->served_ns = ran_s * FIT_NS_PER_S;
	verify_gittins_rank(v, l);
	return l->number;
}

/* The definition, over every D for which a + D is a sample. */
static double want(const double *s, size_t n, double a)
{
	double best = 0;

	for (size_t m = 0; m < n; m++) {
		double d = s[m] - a, ended = 0, takes = 0;

		for (size_t i = 0; i < n && d > 0; i++) {
			if (!(s[i] > a))
				continue;
			ended += s[i] - a <= d;
			takes += fmin(s[i] - a, d);
		}
		if (d > 0)
			best = fmax(best, ended / takes);
	}
	return best;
}

static void indices_by_definition(void **state)
{
	gsl_rng *r = fit_rng_new(7, "test/verify-gittins");

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 30; k++) {
		double s[MOST], tail = 1 + 6 * gsl_rng_uniform(r);
		size_t n = 1 + gsl_rng_uniform_int(r, k < 10 ? 5 : MOST);
		struct verify_live l = { .job = 0 };
		struct fit_verifier *v;

		for (size_t i = 0; i < n; i++)
			s[i] = floor(20 * exp(tail * gsl_rng_uniform(r)));
		v = with_samples(s, n);
		v->jobs = calloc(1, sizeof *v->jobs);
		assert_non_null(v->jobs);
		v->jobs[0].gpus = 1;
		v->n_jobs = 1;
		qsort(s, n, sizeof *s, ascending);
		/* up and down, so that where it was best the last time is of no use, too */
		for (int64_t a = 0; a < 60; a++) {
			int64_t ran = a % 2 ? (int64_t)(s[n - 1] * gsl_rng_uniform(r)) : a * a / 2;
			double have = index_of(v, &l, ran), expect = want(s, n, (double)ran);

			assert_true(fabs(have - expect) <= 1e-12 * expect);
		}
		assert_true(index_of(v, &l, (int64_t)s[n - 1] + 1) <= 0);
		fit_verifier_free(v);
	}
	gsl_rng_free(r);
}

/* By hand: sizes 100, 1000, 5000 and 9000, what a job that ran for 50 s comes to. Just below 100 the first within
 * 3250 s are 100 and 1000: p = 2 / 4, E = floor((100 + 1000 + 2 x 3250) / 4) = 1900. */
static void index_of_the_simulator(void **state)
{
	const double s[] = { 5000, 100, 9000, 1000 };
	struct fit_verifier *v = with_samples(s, 4);
	struct verify_live l = { .job = 0 };

	(void)state;
	v->jobs = calloc(1, sizeof *v->jobs);
	assert_non_null(v->jobs);
	v->jobs[0].gpus = 4;
	v->n_jobs = 1;
	v->gittins_artifact = true;
	assert_true(fabs(index_of(v, &l, 50) - 263.1579) < 1e-9);
	/* of whole sizes: p = 1 / 3, which is 0.33333, E = floor((1000 + 2 x 3250) / 3) = 2500 */
	assert_true(fabs(index_of(v, &l, 100) - 133.332) < 1e-9);
	/* of GPU time while it runs, 4 x 300 s: p = 1 / 2, E = floor((5000 + 3250) / 2) = 4125 */
	l.stood_running = true;
	l.stands_ns = v->now = 0;
	assert_true(fabs(index_of(v, &l, 300) - 121.2121) < 1e-9);
	/* the last one is in no reach: 5000 is all that there is within 3250 s of itself, and 9000 has nothing */
	assert_true(fabs(index_of(v, &l, 2000)) < 1e-9);
	assert_true(fabs(index_of(v, &l, 9000)) < 1e-9);
	fit_verifier_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(indices_by_definition),
					    cmocka_unit_test(index_of_the_simulator) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
