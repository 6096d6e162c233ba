/* SPDX-License-Identifier: MIT */
/* Statistics of traces and selection, through tables in memory; estimators against a second way. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/metrics/log_event.h"
#include "libfit/metrics/trace_stats.h"
#include "libfit/table/select.h"
#include "libfit/table/table.h"

static struct fit_trace_stats *collect(const char *text, const char *const *by, size_t n_by,
				       int64_t capacity)
{
	struct fit_trace_stats_params p = { .by = by, .n_by = n_by, .capacity_ugpus = capacity };
	struct fit_text values[FIT_JOBS_BY_MAX];
	struct fit_trace_stats *ts;
	struct fit_jobs_reader jr;
	struct fit_job_row job;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	int rc;

	check_ok(fit_reader_open_memory(&r, "mem", text, strlen(text), &err), &err);
	check_ok(fit_jobs_begin(&jr, r, by, n_by, &err), &err);
	p.day_offset_ns = jr.day_offset_ns;
	ts = fit_trace_stats_new(&p);
	assert_non_null(ts);
	while (!(rc = fit_jobs_next(&jr, &job, values, &err)))
		check_ok(fit_trace_stats_add(ts, &job, values, &err), &err);
	assert_int_equal(rc, FIT_END);
	fit_trace_stats_finish(ts);
	fit_reader_close(r);
	return ts;
}

/* Gaps 1, 2, 3, 6 s: mean 3, deviations 4 1 0 9 -> variance 14/4, over 9. */
static void gaps_by_hand(void **state)
{
	struct fit_trace_stats *ts = collect("submit_s\tgpus\n7\t1\n1\t1\n13\t1\n4\t1\n2\t1\n", NULL, 0, 0);
	double cv2 = 14.0 / 4 / 9;

	(void)state;
	check_real(fit_trace_stats_value(ts, "interarrival_mean_s"), 3, 0, 0);
	check_real(fit_trace_stats_value(ts, "interarrival_cv2"), cv2, 1e-15, 0);
	check_real(fit_trace_stats_value(ts, "interarrival_cv2_sample"), cv2 * 4 / 3, 1e-15, 0);
	check_real(fit_trace_stats_value(ts, "burstiness"), (sqrt(cv2) - 1) / (sqrt(cv2) + 1), 1e-15, 0);
	assert_true(fit_real_is_na(fit_trace_stats_value(ts, "offered_load")));
	assert_true(fit_real_is_na(fit_trace_stats_value(ts, "no_such_metric")));
	fit_trace_stats_free(ts);
}

/* Many gaps: against the one-pass formula in exact integers. */
static void gaps_of_many(void **state)
{
	struct fit_str text = { 0 };
	struct fit_trace_stats *ts;
	long long t = 0, sum = 0, sum2 = 0;
	uint32_t x = 12345;
	enum { N = 5000 };

	(void)state;
	assert_int_equal(fit_str_puts(&text, "submit_s\tgpus\n0\t1\n"), 0);
	for (int i = 0; i < N; i++) {
		long long g;

		x = x * 1664525u + 1013904223u;
		g = (x >> 20) % 97 * ((x >> 8) % 13);
		t += g;
		sum += g;
		sum2 += g * g;
		assert_int_equal(fit_str_printf(&text, "%lld\t%u\n", t, 1 + x % 4), 0);
	}
	ts = collect(text.s, NULL, 0, 0);
	check_real(fit_trace_stats_value(ts, "interarrival_cv2"),
		   (double)(N * sum2 - sum * sum) / ((double)sum * (double)sum), 1e-13, 0);
	assert_true(fit_trace_stats_value(ts, "interarrivals") == N);
	fit_trace_stats_free(ts);
	fit_str_release(&text);
}

static void load_by_hand(void **state)
{
	/* two jobs of 8 GPU-seconds on average, 4 s apart: 2 GPUs busy, of 5 */
	struct fit_trace_stats *ts = collect("submit_s\tduration_s\tgpus\tstatus\n10\t6\t1\tOK\n14\t5\t2\tOK\n"
					     "18\tNA\t64\tRUNNING\n", NULL, 0, 5 * FIT_UGPU);

	(void)state;
	check_real(fit_trace_stats_value(ts, "demand_gpus"), 2, 1e-15, 0);
	check_real(fit_trace_stats_value(ts, "offered_load"), 0.4, 1e-15, 0);
	check_real(fit_trace_stats_value(ts, "larger_than_cluster"), 1, 0, 0);
	check_real(fit_trace_stats_value(ts, "gpu_hours_missing"), 1, 0, 0);
	check_real(fit_trace_stats_value(ts, "duration_missing_running"), 1, 0, 0);
	fit_trace_stats_free(ts);
}

/* Percentiles of sizes are kept as counts a size: the same as those of the list. */
static void size_percentiles(void **state)
{
	struct fit_trace_stats *ts = collect("gpus\n1\n1\n2\n8\n0.5\n", NULL, 0, 0);	/* .5 1 1 2 8 */

	(void)state;
	check_real(fit_trace_stats_value(ts, "gpus_median"), 1, 0, 0);
	check_real(fit_trace_stats_value(ts, "gpus_p95"), 2 + 0.8 * 6, 1e-12, 0);
	check_real(fit_trace_stats_value(ts, "gpus_max"), 8, 0, 0);
	fit_trace_stats_free(ts);
	ts = collect("gpus\n3\n", NULL, 0, 0);
	check_real(fit_trace_stats_value(ts, "gpus_p99"), 3, 0, 0);
	fit_trace_stats_free(ts);
}

static void hours_of_day(void **state)
{
	struct fit_trace_stats *ts = collect("#fit-table/1\n#origin=2030-01-01T22:30:00\nsubmit_s\tgpus\n"
					     "0\t1\n1799\t2\n1800\t4\n93600\tNA\n#end rows=4\n", NULL, 0, 0);
	struct fit_trace_hour h;

	(void)state;
	h = fit_trace_stats_hour(ts, 22);	/* two at the start, none the day after */
	assert_int_equal(h.jobs, 2);
	assert_int_equal(h.hours, 2);
	check_real(h.gpus, 3, 0, 0);
	assert_true(fit_real_is_na(h.gpu_hours));
	h = fit_trace_stats_hour(ts, 23);
	assert_int_equal(h.jobs, 1);
	h = fit_trace_stats_hour(ts, 0);	/* 26 h later, half past midnight, without GPUs */
	assert_int_equal(h.jobs, 1);
	assert_int_equal(h.most, 1);
	assert_true(fit_real_is_na(h.gpus));
	check_real(fit_trace_stats_value(ts, "hours"), 27, 0, 0);
	fit_trace_stats_free(ts);
}

static void faults(void **state)
{
	static const char *const twice[] = { "gpus", "app", "gpus" };
	struct fit_text values[3];
	struct fit_jobs_reader jr;
	struct fit_job_row job;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	static const char text[] = "app\tgpus\tduration_s\nx\t2\t1\nx\t2\t-1\n";

	(void)state;
	check_ok(fit_reader_open_memory(&r, "mem", text, strlen(text), &err), &err);
	check_ok(fit_jobs_begin(&jr, r, twice, 3, &err), &err);
	check_ok(fit_jobs_next(&jr, &job, values, &err), &err);
	check_span(values[0], "2");
	check_span(values[1], "x");
	check_span(values[2], "2");
	check_err(fit_jobs_next(&jr, &job, values, &err), &err, FIT_EDATA,
		  "mem:3:duration_s: out of range '-1' (expected at least 0)");
	check_err(fit_jobs_begin(&jr, r, twice, 9, &err), &err, FIT_EINVAL,
		  "9 columns to group by (expected at most 8)");
	fit_reader_close(r);
}

static void distributions(void **state)
{
	static const char text[] = "submit_s\tduration_s\tgpus\n9\t3600\t2\n4\tNA\t1\n4\t0\t0\nNA\t1800\tNA\n";
	static const struct { enum fit_trace_of of; double want[3]; size_t n, missing; } cases[] = {
		{ FIT_OF_DURATION, { 0, 1800, 3600 }, 3, 1 }, { FIT_OF_GPUS, { 0, 1, 2 }, 3, 1 },
		{ FIT_OF_GPU_HOURS, { 0, 2 }, 2, 2 }, { FIT_OF_INTERARRIVAL, { 0, 5 }, 2, 1 }
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct fit_reader *r;
		struct fit_err err = { 0 };
		size_t n, missing;
		double *v;

		check_ok(fit_reader_open_memory(&r, "mem", text, strlen(text), &err), &err);
		check_ok(fit_trace_values(r, cases[k].of, &v, &n, &missing, &err), &err);
		assert_int_equal(n, cases[k].n);
		assert_int_equal(missing, cases[k].missing);
		for (size_t i = 0; i < n; i++)
			check_real(v[i], cases[k].want[i], 0, 0);
		free(v);
		fit_reader_close(r);
	}
}

/* ---- conditions ---- */

static void conditions(void **state)
{
	static const struct fit_field fields[] = {
		{ "name", FIT_TEXT, 0 }, { "n", FIT_INT, 0 }, { "x", FIT_REAL, 0 }, { "t_s", FIT_TIME, 0 }
	};
	const struct fit_cell cells[] = {
		{ .u.t = FIT_TEXT_LIT("wren") }, { .u.i = INT64_C(9007199254740993) },
		{ .u.d = (double)NAN }, { .u.i = 90 * FIT_NS_PER_S }
	};
	static const struct { const char *text; bool met; } cases[] = {
		{ "name=wren", true }, { "name = wren", true }, { "name!=wren", false }, { "name~re", true },
		{ "name~", true }, { "name!~x", true }, { "n=9007199254740993", true },
		{ "n=9007199254740992", false }, { "n>9007199254740992", true }, { "n>=1e3", true },
		{ "x=0", false }, { "x!=0", true }, { "x<1", false }, { "x>=1", false }, { "t_s=1.5min", true },
		{ "t_s<0.025h", false }, { "t_s<=0.025h", true }, { "t_s>89.999999999", true },
		{ "name=NA", false }, { "n!=NA", true }
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct fit_condition c;
		struct fit_err err = { 0 };
		bool met = !cases[k].met, missing = false;

		check_ok(fit_condition_parse(&c, cases[k].text, &err), &err);
		check_ok(fit_condition_bind(&c, fields, 4, &err), &err);
		check_ok(fit_condition_test(&c, cells, &met, &missing, &err), &err);
		if (met != cases[k].met)
			fail_msg("condition %s is %d", cases[k].text, met);
		assert_false(missing);
	}
}

static void times_with_units(void **state)
{
	static const struct { const char *text; int64_t ns; } cases[] = {
		{ "0", 0 }, { "90", 90 }, { "90s", 90 }, { "1.5min", 90 }, { "2h", 7200 }, { "7d", 604800 },
		{ "-1d", -86400 }
	};
	static const char *const bad[] = { "", "d", "1w", "1 h", "h1", "1e3", "99999999999d" };
	int64_t ns;

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		assert_int_equal(fit_parse_time_unit(fit_text_of(cases[k].text), &ns), FIT_OK);
		assert_true(ns == cases[k].ns * FIT_NS_PER_S);
	}
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
		assert_int_not_equal(fit_parse_time_unit(fit_text_of(bad[k]), &ns), FIT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_by_hand), cmocka_unit_test(gaps_of_many), cmocka_unit_test(load_by_hand),
		cmocka_unit_test(size_percentiles), cmocka_unit_test(hours_of_day), cmocka_unit_test(faults),
		cmocka_unit_test(distributions), cmocka_unit_test(conditions),
		cmocka_unit_test(times_with_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
