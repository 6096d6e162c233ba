/* SPDX-License-Identifier: MIT */
/* libfit/metrics/fairness: how many jobs share the cluster, times alone, types of GPUs, rho. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/metrics/fairness.h"

#define S FIT_NS_PER_S

static int read_text(struct fit_isolated **t, const char *text, struct fit_err *err)
{
	char name[CHECK_NAME_MAX];
	int rc;

	check_file(name, text);
	rc = fit_isolated_read(t, name, err);
	unlink(name);
	return rc;
}

static struct fit_metrics of_jobs(const double (*jobs)[2], size_t n, double end)
{
	struct fit_metrics m;

	fit_metrics_init(&m, 0);
	m.jobs = calloc(n + 1, sizeof *m.jobs);
	assert_non_null(m.jobs);
	m.n_jobs = m.n_submitted = n;
	for (size_t i = 0; i < n; i++) {
		char id[16];
		int k = snprintf(id, sizeof id, "j%zu", i);
		struct fit_job_result *j = &m.jobs[i];

		assert_int_equal(fit_id_map_put(&m.ids, (struct fit_text){ id, (size_t)k }, NULL), FIT_OK);
		assert_int_equal(fit_time_from_double(jobs[i][0], &j->submit_ns), FIT_OK);
		j->end_ns = FIT_INT_NA;
		j->state = FIT_JOB_HOLDING;
		if (!(jobs[i][1] < 0)) {
			assert_int_equal(fit_time_from_double(jobs[i][1], &j->end_ns), FIT_OK);
			j->state = FIT_JOB_FINISHED;
			m.n_finished++;
		}
	}
	assert_int_equal(fit_time_from_double(end, &m.clock_ns), FIT_OK);
	return m;
}

static double time_of(const struct fit_isolated *t, const char *job, const char *type, double v)
{
	struct fit_text none = { NULL, 0 };

	return fit_isolated_time(t, fit_text_of(job), type ? fit_text_of(type) : none, v);
}

static void times_alone(void **state)
{
	struct fit_isolated *t;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(read_text(&t, "job_id\tgpus\tjct_s\tgpu_type\n"
			       "b\t4\t90\tv\nb\t1\t300\tv\nb\t2\t170.5\tv\nb\t2\t800\tk\nb\t3\tNA\tk\n"
			       "a\t3\t60\tNA\n", &err), &err);
	/* linear between; below the least as if speed were proportional; above the most no quicker */
	check_real(time_of(t, "b", "v", 1), 300, 1e-15, 0);
	check_real(time_of(t, "b", "v", 1.25), 300 - 129.5 * 0.25, 1e-15, 0);
	check_real(time_of(t, "b", "v", 3.5), 170.5 - 80.5 * 0.75, 1e-15, 0);
	check_real(time_of(t, "b", "v", 0.3), 1000, 1e-15, 0);
	check_real(time_of(t, "b", "v", 64), 90, 1e-15, 0);
	/* one row alone is a job that always takes r GPUs: T(r) max(1, r / v) */
	check_real(time_of(t, "b", "k", 1.6), 1000, 1e-15, 0);
	check_real(time_of(t, "b", "k", 2.9), 800, 1e-15, 0);
	/* a row without a type is for all */
	check_real(time_of(t, "a", "k", 3), 60, 1e-15, 0);
	check_real(time_of(t, "a", NULL, 2), 90, 1e-15, 0);
	assert_true(fit_real_is_na(time_of(t, "b", NULL, 2)));
	assert_true(fit_real_is_na(time_of(t, "b", "p", 2)));
	assert_true(fit_real_is_na(time_of(t, "c", "v", 2)));
	fit_isolated_free(t);
}

static void bad_times(void **state)
{
	static const struct { const char *rows, *says; } bad[] = {
		{ "a\t0\t5\n", "gpus: bad number of GPUs '0' (expected more than 0)" },
		{ "a\t-2\t5\n", "gpus: bad number of GPUs '-2' (expected more than 0)" },
		{ "a\tnan\t5\n", "gpus: bad number of GPUs 'nan' (expected more than 0)" },
		{ "a\t2\t0\n", "jct_s: bad time '0' (expected more than 0)" },
		{ "a\t2\t5\nb\t2\t5\na\t2\t7\n", "job_id: a second time of 'a' alone on 2 GPUs" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct fit_isolated *t = (struct fit_isolated *)&t;
		struct fit_err err = { 0 };
		char text[200];

		snprintf(text, sizeof text, "job_id\tgpus\tjct_s\n%s", bad[i].rows);
		assert_int_equal(read_text(&t, text, &err), FIT_EDATA);
		assert_null(t);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.msg, bad[i].says);
	}
}

static void clusters(void **state)
{
	static const char *const wrong[] = { "", "16", "16x4,", "a:", "a:b:2x4", "a:2x4,,b:1x1", "4x-1" };
	struct fit_cluster_types c;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_cluster_types_parse(&c, fit_text_of("6x4,2x8"), &err), &err);
	assert_int_equal(c.n, 1);
	check_same_bits(c.gpus, 40);
	fit_cluster_types_release(&c);
	check_ok(fit_cluster_types_parse(&c, fit_text_of("aws:6x4,rtx:3x8,aws:1x2"), &err), &err);
	assert_int_equal(c.n, 2);
	check_span(c.parts[0].name, "aws");
	check_same_bits(c.parts[0].gpus, 26);
	check_span(c.parts[1].name, "rtx");
	check_same_bits(c.parts[1].gpus, 24);
	check_same_bits(c.gpus, 50);
	fit_cluster_types_release(&c);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(fit_cluster_types_parse(&c, fit_text_of(wrong[i]), &err), FIT_EDATA);
}

/* j0 5-400, j1 7.25-, j2 130.5-300, until 470: rounds of 60 s: 1-6, 1-7, 3-4 */
static const double three[][2] = { { 5, 400 }, { 7.25, -1 }, { 130.5, 300 } };

static void shares(void **state)
{
	struct fit_metrics m = of_jobs(three, 3, 470);
	struct fit_cluster_types c;
	struct fit_fair_job *f;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_cluster_types_parse(&c, fit_text_of("2x4"), &err), &err);
	check_ok(fit_fairness(&m, 60 * S, &c, NULL, FIT_MEAN_TIMES, &f, &err), &err);
	check_real(f[0].jobs_mean, 14.0 / 6, 1e-15, 0);
	check_real(f[0].share_gpus, 8 * 6 / 14.0, 1e-15, 0);
	assert_true(fit_real_is_na(f[1].jobs_mean) && fit_real_is_na(f[0].rho));
	check_real(f[2].jobs_mean, 3, 1e-15, 0);
	free(f);
	/* without rounds: j0 alone for 2.25 s, with j1 392.75 s, with j2 169.5 s of it */
	check_ok(fit_fairness(&m, 0, &c, NULL, FIT_MEAN_TIMES, &f, &err), &err);
	check_real(f[0].jobs_mean, (395 + 392.75 + 169.5) / 395, 1e-15, 0);
	check_real(f[2].jobs_mean, 3, 1e-15, 0);
	free(f);
	fit_cluster_types_release(&c);
	fit_metrics_release(&m);
}

/* Against a count of each round; a job between two rounds, and one of no time, are in one. */
static void many_jobs(void **state)
{
	enum { N = 300 };
	double jobs[N][2];
	struct fit_metrics m;
	struct fit_cluster_types c;
	struct fit_fair_job *f;
	struct fit_err err = { 0 };
	unsigned x = 12345;

	(void)state;
	for (int i = 0; i < N; i++) {
		x = x * 1103515245u + 12345u;
		jobs[i][0] = (double)(x >> 16) / 8;
		x = x * 1103515245u + 12345u;
		jobs[i][1] = i % 17 == 3 ? -1 : jobs[i][0] + (double)(x >> 16) / (i % 5 == 0 ? 4000 : 16);
	}
	jobs[7][1] = jobs[7][0];
	m = of_jobs((const double (*)[2])jobs, N, 13000);
	check_ok(fit_cluster_types_parse(&c, fit_text_of("3x5"), &err), &err);
	check_ok(fit_fairness(&m, 30 * S, &c, NULL, FIT_MEAN_TIMES, &f, &err), &err);
	for (int i = 0; i < N; i++) {
		int64_t first = (int64_t)ceil(jobs[i][0] / 30), last, rounds = 0, sum = 0;

		if (jobs[i][1] < 0)
			continue;
		last = (int64_t)ceil(jobs[i][1] / 30);
		for (int64_t r = first; r < last || r == first; r++, rounds++)
			for (int k = 0; k < N; k++) {
				double end = jobs[k][1] < 0 ? 13000 : jobs[k][1];

				sum += (int64_t)ceil(jobs[k][0] / 30) == r ||
				       (jobs[k][0] <= (double)r * 30 && end > (double)r * 30);
			}
		check_real(f[i].jobs_mean, (double)sum / (double)rounds, 1e-15, 0);
	}
	free(f);
	fit_cluster_types_release(&c);
	fit_metrics_release(&m);
}

static void types(void **state)
{
	struct fit_metrics m = of_jobs(three, 3, 470);
	struct fit_cluster_types c;
	struct fit_isolated *t;
	struct fit_fair_job *f;
	struct fit_fair_summary s;
	struct fit_err err = { 0 };

	(void)state;
	/* 5 GPUs of a, 3 of b, 2 of c; v = 10 / (14 / 6) and 10 / 3 */
	check_ok(fit_cluster_types_parse(&c, fit_text_of("a:1x5,b:1x3,c:1x2"), &err), &err);
	check_ok(read_text(&t, "job_id\tgpu_type\tgpus\tjct_s\nj0\ta\t1\t900\nj0\ta\t6\t100\nj0\tb\t5\t420\n"
			       "j2\tc\t2\t113\nj2\tx\t2\t1\n", &err), &err);
	check_ok(fit_fairness(&m, 60 * S, &c, t, FIT_MEAN_TIMES, &f, &err), &err);
	double v = 60.0 / 14, a = 900 - 160 * (v - 1), b = 420 * 5 / v;

	/* c cannot run j0, and has no part in the mean */
	check_real(f[0].isolated_s, (5 * a + 3 * b) / 8, 1e-14, 0);
	check_real(f[0].rho, 395 * 8 / (5 * a + 3 * b), 1e-14, 0);
	check_real(f[2].isolated_s, 113, 1e-15, 0);
	check_real(f[2].rho, 1.5, 1e-15, 0);
	check_ok(fit_fairness_summarise(f, 3, &s, &err), &err);
	assert_int_equal(s.n, 2);
	check_real(s.unfair, 0.5, 0, 0);
	check_real(s.min, f[0].rho, 1e-15, 0);
	check_real(s.max, 1.5, 1e-15, 0);
	check_real(s.mean, (f[0].rho + 1.5) / 2, 1e-15, 0);
	check_real(s.p90, f[0].rho + 0.9 * (1.5 - f[0].rho), 1e-14, 0);
	free(f);
	check_ok(fit_fairness(&m, 60 * S, &c, t, FIT_MEAN_RATIOS, &f, &err), &err);
	check_real(f[0].rho, (5 * 395 / a + 3 * 395 / b) / 8, 1e-14, 0);
	check_real(f[0].rho * f[0].isolated_s, 395, 1e-14, 0);
	check_real(f[2].rho, 1.5, 1e-15, 0);
	free(f);
	check_ok(fit_fairness_summarise(NULL, 0, &s, &err), &err);
	assert_true(s.n == 0 && fit_real_is_na(s.mean) && fit_real_is_na(s.unfair) && fit_real_is_na(s.max));
	fit_isolated_free(t);
	fit_cluster_types_release(&c);
	fit_metrics_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_alone),
		cmocka_unit_test(bad_times),
		cmocka_unit_test(clusters),
		cmocka_unit_test(shares),
		cmocka_unit_test(many_jobs),
		cmocka_unit_test(types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
