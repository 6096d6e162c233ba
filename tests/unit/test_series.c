/* SPDX-License-Identifier: MIT */
/* traces/prof_*: what the readers of profiling dumps share; libfit/metrics/series_summary. Unions of
 * kernels and summaries are held against plain recounts of everything. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/metrics/series_summary.h"
#include "libfit/metrics/summary.h"
#include "traces/prof_text.h"
#include "traces/series.h"

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* ---- cells ---- */

static void numbers_and_units(void **state)
{
	static const struct { const char *s, *units; int rc; double v; bool bare; } cases[] = {
		{ "35 %", "%", FIT_OK, 35, false }, { "35", "%", FIT_OK, 35, true },
		{ "35%", "%", FIT_OK, 35, false }, { "71.25 W", "W", FIT_OK, 71.25, false },
		{ "-3.5e1 MiB", "MiB,MB", FIT_OK, -35, false }, { "7 MB", "MiB,MB", FIT_OK, 7, false },
		{ "7 M", "MiB,MB", FIT_EPARSE, 0, false }, { "7 MiBs", "MiB", FIT_EPARSE, 0, false },
		{ "7 7", "%", FIT_EPARSE, 0, false }, { "%", "%", FIT_EPARSE, 0, false },
		{ "", "%", FIT_EPARSE, 0, false }, { "7 %", "", FIT_EPARSE, 0, false },
		{ "1e400", "", FIT_EPARSE, 0, false }, { "nan", "", FIT_EPARSE, 0, false },
		{ "0x10", "", FIT_EPARSE, 0, false }, { "1,5 W", "W", FIT_EPARSE, 0, false }
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double v = 0;
		bool bare = false;
		int rc = fit_prof_number(fit_text_of(cases[i].s), cases[i].units, &v, &bare);

		if (rc != cases[i].rc)
			fail_msg("'%s': status %d", cases[i].s, rc);
		if (rc)
			continue;
		check_real(v, cases[i].v, 0, 0);
		assert_int_equal(bare, cases[i].bare);
	}
}

static void missing_words(void **state)
{
	static const char *const yes[] = { "", "-", "N/A", "n/a", "[N/A]", "[]", "[anything at all]", "ERR!",
					   "Not Supported", "Unknown Error" };
	static const char *const no[] = { "0", "-1", "thirty", "[", "]", "[N/A", "N/A]", "ERR", "none of it" };

	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!fit_prof_is_missing(fit_text_of(yes[i])))
			fail_msg("'%s' is not missing", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (fit_prof_is_missing(fit_text_of(no[i])))
			fail_msg("'%s' is missing", no[i]);
}

static void cutting(void **state)
{
	struct fit_text f[FIT_PROF_FIELDS_MAX];

	(void)state;
	assert_int_equal(fit_prof_cut(fit_text_of("a, b ,,c "), ',', f), 4);
	check_span(f[0], "a");
	check_span(f[1], "b");
	check_span(f[2], "");
	check_span(f[3], "c");
	assert_int_equal(fit_prof_cut(fit_text_of("a,"), ',', f), 2);
	assert_int_equal(fit_prof_cut(fit_text_of("  a \t b  "), ' ', f), 2);
	check_span(f[1], "b");
	assert_int_equal(fit_prof_cut(fit_text_of("   "), ' ', f), 0);
}

static void ticks(void **state)
{
	static const struct { const char *key; uint64_t tick; int64_t id; } cases[] = {
		{ "a", 0, 0 }, { "b", 0, 1 }, { "a", 1, 0 }, { "c", 1, 2 }, { "b", 1, 1 },
		{ "b", 2, 1 }, { "b", 3, 1 }, { "a", 3, 0 }
	};
	struct fit_prof_ticks t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t id = -1;

		assert_int_equal(fit_prof_tick(&t, fit_text_of(cases[i].key), &id), FIT_OK);
		assert_int_equal(t.tick, cases[i].tick);
		assert_int_equal(id, cases[i].id);
	}
	fit_prof_ticks_release(&t);
}

/* ---- unions of kernels ---- */

#define SPAN 1200	/* ns; bins of 100 */
#define BIN 100

struct found {
	double util[2][SPAN / BIN + 40];
	int64_t bins;		/* after the last one that was met */
	int64_t at[2];		/* rows of each GPU */
};

static int begin(void *ctx, const struct fit_field *fields, size_t n, const char *origin,
		 struct fit_err *err)
{
	(void)ctx;
	(void)err;
	assert_int_equal(n, 6);
	assert_string_equal(fields[3].name, "gpu_util_pct");
	assert_string_equal(origin, "");
	return FIT_OK;
}

static int keep(void *ctx, const struct fit_cell *c, struct fit_err *err)
{
	struct found *f = ctx;
	int64_t bin = c[0].u.i / BIN, gpu = c[2].u.i;

	(void)err;
	assert_int_equal(c[0].u.i % BIN, 0);
	assert_in_range(gpu, 0, 1);
	assert_in_range(bin, 0, SPAN / BIN + 39);
	assert_false(c[3].na);
	f->util[gpu][bin] = c[3].u.d;
	f->bins = bin + 1 > f->bins ? bin + 1 : f->bins;
	f->at[gpu]++;
	return FIT_OK;
}

/* Random kernels, many of them overlapping and longer than a bin, against a mark for every ns. */
static void unions(void **state)
{
	uint32_t x = 11;

	(void)state;
	for (int round = 0; round < 300; round++) {
		static bool on[2][SPAN + 400];
		struct found f = { .bins = 0 };
		const struct fit_series_sink sink = { begin, keep, &f };
		struct fit_series_params params = fit_series_params_default();
		struct fit_series_report report;
		struct fit_str csv = { 0 };
		struct fit_err err = { 0 };
		int n = 1 + (int)(next(&x) % 12);

		memset(on, 0, sizeof on);
		params.bin_ns = BIN;
		assert_int_equal(fit_str_puts(&csv, "start,end,deviceId\n"), FIT_OK);
		for (int i = 0; i < n; i++) {
			unsigned start = next(&x) % SPAN, gpu = next(&x) % 2;
			unsigned end = start + next(&x) % (i % 3 ? 60 : 400);

			for (unsigned t = start; t < end; t++)
				on[gpu][t] = true;
			assert_int_equal(fit_str_printf(&csv, "%u,%u,%u\n", start, end, gpu), FIT_OK);
		}
		check_ok(fit_series_read_memory(fit_series_format_find("nsight-trace"), "k", csv.s, csv.n,
						&params, &sink, &report, &err), &err);
		for (int gpu = 0; gpu < 2; gpu++) {
			for (int64_t b = 0; f.at[gpu] && b < f.bins; b++) {
				int busy = 0;

				for (int t = 0; t < BIN; t++)
					busy += on[gpu][b * BIN + t];
				check_real(f.util[gpu][b], busy, 1e-12, 0);
			}
			/* nothing ran where no row stands */
			for (size_t t = (size_t)f.bins * BIN; t < sizeof *on / sizeof **on; t++)
				assert_false(on[gpu][t]);
		}
		fit_series_report_release(&report);
		fit_str_release(&csv);
	}
}

/* ---- summaries ---- */

#define JOBS 7
#define SAMPLES 900

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Random jobs on three GPUs, samples a little out of order; against a recount of all samples a job. */
static void summaries(void **state)
{
	static const struct { int64_t start, end; int gpu; } jobs[JOBS] = {
		{ 0, 100, 0 }, { 50, 260, 1 }, { 100, 101, 0 }, { 90, 290, 0 }, { 10, 290, 2 },
		{ 200, 250, 2 }, { 280, 300, 1 }
	};
	struct { int64_t t; int gpu; bool na; double util; } s[SAMPLES];
	struct fit_series_summary_params params = fit_series_summary_default();
	struct fit_series_summary_report report;
	struct fit_table table, out;
	struct fit_str tsv = { 0 };
	struct fit_reader *r;
	struct fit_err err = { 0 };
	uint32_t x = 5;

	(void)state;
	check_ok(fit_table_init(&table, "", fit_series_job_fields, fit_series_n_job_fields, &err), &err);
	for (int j = 0; j < JOBS; j++) {
		struct fit_cell c[16];
		char hosts[16];

		for (size_t k = 0; k < 16; k++)
			c[k] = (struct fit_cell){ .na = true };
		snprintf(hosts, sizeof hosts, "n:%d", jobs[j].gpu);
		c[0] = (struct fit_cell){ .u.t = FIT_TEXT_LIT("j") };
		c[3] = (struct fit_cell){ .u.i = jobs[j].start * 1000000000 };
		c[4] = (struct fit_cell){ .u.i = jobs[j].end * 1000000000 };
		c[7] = (struct fit_cell){ .u.t = fit_text_of(hosts) };
		assert_int_equal(fit_table_add(&table, c), FIT_OK);
	}
	assert_int_equal(fit_str_puts(&tsv, "time_s\thost\tgpu\tgpu_util_pct\n"), FIT_OK);
	for (int i = 0; i < SAMPLES; i++) {
		s[i].t = i / 3 + (int64_t)(next(&x) % 9) - 4;
		s[i].gpu = (int)(next(&x) % 3);
		s[i].na = next(&x) % 10 == 0;
		s[i].util = (double)(next(&x) % 10001) / 100;
		assert_int_equal(fit_str_printf(&tsv, "%lld\tn\t%d\t", (long long)s[i].t, s[i].gpu), FIT_OK);
		assert_int_equal(s[i].na ? fit_str_puts(&tsv, "NA\n") :
				 fit_str_printf(&tsv, "%.2f\n", s[i].util), FIT_OK);
	}
	params.by = FIT_SERIES_BY_JOB;
	params.slack_ns = INT64_C(9000000000);
	check_ok(fit_reader_open_memory(&r, "s", tsv.s, tsv.n, &err), &err);
	check_ok(fit_series_summarise(r, &table, &params, &out, &report, &err), &err);
	assert_int_equal(out.n_rows, JOBS);
	for (size_t j = 0; j < JOBS; j++) {
		double v[SAMPLES], sum = 0, sq = 0, p50, steady = 0;
		int64_t all = 0;
		size_t n = 0;

		for (int i = 0; i < SAMPLES; i++) {
			if (s[i].gpu != jobs[j].gpu || s[i].t < jobs[j].start || s[i].t >= jobs[j].end)
				continue;
			all++;
			if (!s[i].na)
				v[n++] = s[i].util;
		}
		qsort(v, n, sizeof *v, compare_doubles);
		for (size_t i = 0; i < n; i++)
			sum += v[i];
		for (size_t i = 0; i < n; i++)
			sq += (v[i] - sum / (double)n) * (v[i] - sum / (double)n);
		p50 = fit_percentile(v, n, 50);
		for (size_t i = 0; i < n; i++)
			steady += fabs(v[i] - p50) <= 10 + 1e-9;
		assert_int_equal(fit_table_column(&out, "samples")->i[j], all);
		assert_int_equal(fit_table_column(&out, "gpu_util_n")->i[j], n);
		if (!n)
			continue;
		check_real(fit_table_column(&out, "gpu_util_mean_pct")->d[j], sum / (double)n, 1e-12, 0);
		check_real(fit_table_column(&out, "gpu_util_p50_pct")->d[j], p50, 1e-12, 0);
		check_real(fit_table_column(&out, "gpu_util_p95_pct")->d[j], fit_percentile(v, n, 95), 1e-12,
			   0);
		check_real(fit_table_column(&out, "gpu_util_steady")->d[j], steady / (double)n, 1e-12, 0);
		if (n > 1)
			check_real(fit_table_column(&out, "gpu_util_cv")->d[j],
				   sqrt(sq / (double)n) / (sum / (double)n), 1e-10, 0);
	}
	fit_table_release(&out);
	fit_reader_close(r);
	params.slack_ns = 0;
	check_ok(fit_reader_open_memory(&r, "s", tsv.s, tsv.n, &err), &err);
	assert_int_equal(fit_series_summarise(r, &table, &params, &out, &report, &err), FIT_EDATA);
	assert_int_equal(out.n_rows, 0);
	fit_reader_close(r);
	fit_table_release(&table);
	fit_str_release(&tsv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_units),
		cmocka_unit_test(missing_words),
		cmocka_unit_test(cutting),
		cmocka_unit_test(ticks),
		cmocka_unit_test(unions),
		cmocka_unit_test(summaries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
