/* SPDX-License-Identifier: MIT */
/* What Nsight Systems writes: the SQLite export, the CSV of cuda_gpu_trace, and the CSV of kernel
 * summaries (docs/formats/nsight.md). */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/csv.h"
#include "traces/prof_intervals.h"
#include "traces/prof_nsight.h"
#include "traces/prof_text.h"

#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"

/* ---- the SQLite export ---- */

static int flow_kernels(struct fit_nsight *x, struct fit_bins *b, struct fit_series_out *out,
			struct fit_err *err)
{
	sqlite3_stmt *q = NULL;
	int step = SQLITE_ROW, rc = FIT_OK;

	if (sqlite3_prepare_v2(x->db, "SELECT DISTINCT deviceId FROM " KERNELS
			       " WHERE typeof(deviceId) = 'integer'", -1, &q, NULL))
		return fit_nsight_fail(x, err);
	while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW)
		rc = fit_bins_gpu(b, sqlite3_column_int64(q, 0), err);
	if (!rc && step != SQLITE_DONE)
		rc = fit_nsight_fail(x, err);
	sqlite3_finalize(q);
	if (rc)
		return rc;
	if (sqlite3_prepare_v2(x->db, "SELECT start, \"end\", deviceId, rowid FROM " KERNELS
			       " ORDER BY start, \"end\", deviceId", -1, &q, NULL))
		return fit_nsight_fail(x, err);
	while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW) {
		int64_t start = sqlite3_column_int64(q, 0), end = sqlite3_column_int64(q, 1);
		uint64_t row = (uint64_t)sqlite3_column_int64(q, 3);

		fit_series_met(out);
		if (sqlite3_column_type(q, 0) == SQLITE_INTEGER &&
		    sqlite3_column_type(q, 1) == SQLITE_INTEGER &&
		    sqlite3_column_type(q, 2) == SQLITE_INTEGER && start <= end) {
			rc = fit_bins_add(b, sqlite3_column_int64(q, 2), start, end, err);
			if (rc)
				(void)fit_fail_prefix(err, rc, "%s", x->name);
			continue;
		}
		rc = fit_fail(err, FIT_EDATA, "%s:%llu:%s: kernel without start, end or device, or that ends "
			      "before it starts", x->name, (unsigned long long)row, KERNELS);
		rc = fit_series_bad(out, rc, row, "bad kernel");
	}
	if (!rc && step != SQLITE_DONE)
		rc = fit_nsight_fail(x, err);
	sqlite3_finalize(q);
	return rc;
}

int fit_series_read_nsight(const struct fit_series_in *in, struct fit_series_out *out,
			   struct fit_err *err)
{
	struct fit_nsight x = { .name = fit_source_name(in->source) };
	struct fit_bins b = { .out = out, .bin_ns = fit_series_params_of(out)->bin_ns };
	int64_t kernels = 0, others = 0, metrics = 0;
	bool calendar = false;
	int rc = fit_nsight_open(&x, in, err);

	if (!rc)
		rc = fit_nsight_tables(&x, "'" KERNELS "'", &kernels, err);
	if (!rc && !kernels)
		rc = fit_nsight_tables(&x, "'META_DATA_EXPORT', 'TARGET_INFO_SESSION_START_TIME', 'StringIds', "
				  "'TARGET_INFO_GPU', 'GPU_METRICS'", &others, err);
	if (!rc && !kernels && !others)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no table '" KERNELS "', and none that Nsight Systems "
			      "writes (expected the export of 'nsys export -t sqlite')", x.name);
	if (!rc && !kernels)
		rc = fit_nsight_tables(&x, "'GPU_METRICS'", &metrics, err);
	if (!rc && !kernels && fit_series_note(out, "no kernels were recorded (no table " KERNELS ")%s",
					       metrics ? ", but GPU_METRICS (expected --from nsight-metrics)" : ""))
		rc = fit_fail_nomem(err);
	if (!rc && kernels)
		rc = fit_nsight_start(&x, &b.origin_ns, &calendar, err);
	if (!rc && kernels) {
		if (calendar)
			fit_series_calendar(out, true, 0);
		else
			b.origin_ns = 0;
		rc = flow_kernels(&x, &b, out, err);
		if (!rc && (rc = fit_bins_finish(&b, err)) != FIT_OK)
			(void)fit_fail_prefix(err, rc, "%s", x.name);
	}
	free(b.gpus);
	fit_nsight_close(&x);
	return rc;
}

/* ---- reports as CSV ---- */

/* nsys stats says what it does before the header row. Pass that over; the header's names are texts in
 * names, which live in text. FIT_END: there is none, because nothing was recorded. */
struct report {
	struct fit_prof_lines lines;
	char *text;
	const char **names;
	struct fit_text *fields;
	size_t n;
};

static void release_report(struct report *r)
{
	free(r->text);
	free(r->names);
	free(r->fields);
}

static bool is_report_header(struct fit_text line, const char *const *starts)
{
	if (line.n && line.s[0] == '"') {
		line.s++;
		line.n--;
	}
	for (; *starts; starts++)
		if (fit_prof_starts(line, *starts))
			return true;
	return false;
}

static int find_header(struct report *r, struct fit_series_out *out, const char *const *starts,
		       struct fit_err *err)
{
	bool bad, skipped = false;
	int rc;

	while ((rc = fit_prof_line(&r->lines, &bad, err)) == FIT_OK) {
		if (is_report_header(r->lines.text, starts))
			break;
		skipped = skipped || fit_prof_starts(r->lines.text, "SKIPPED: ");
		fit_series_pass(out, r->lines.line, "line before the header");
	}
	/* "SKIPPED: run.sqlite does not contain CUDA kernel data." */
	if (rc == FIT_END && skipped)
		return fit_series_note(out, "no kernels were recorded") ? fit_fail_nomem(err) : FIT_END;
	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, r->lines.any ? "%s: no header row (expected one that starts "
				"with '%s')" : "%s: empty file (expected a header row that starts with '%s')",
				fit_source_name(r->lines.source), starts[0]);
	if (rc)
		return rc;
	r->text = fit_strdup(r->lines.text);
	r->fields = calloc(FIT_PROF_FIELDS_MAX, sizeof *r->fields);
	r->names = calloc(FIT_PROF_FIELDS_MAX, sizeof *r->names);
	if (!r->text || !r->fields || !r->names)
		return fit_fail_nomem(err);
	r->n = fit_prof_cut(fit_text_of(r->text), ',', r->fields);
	if (r->n > FIT_PROF_FIELDS_MAX)
		return fit_prof_fail(&r->lines, FIT_EPARSE, NULL, err, "too many columns (expected at "
				     "most %d)", FIT_PROF_FIELDS_MAX);
	for (size_t i = 0; i < r->n; i++) {
		struct fit_text *f = &r->fields[i];
		size_t at;

		if (f->n >= 2 && f->s[0] == '"' && f->s[f->n - 1] == '"')
			*f = (struct fit_text){ f->s + 1, f->n - 2 };
		at = (size_t)(f->s - r->text);
		r->text[at + f->n] = '\0';
		r->names[i] = r->text + at;
	}
	return FIT_OK;
}

/* The column whose name is that word, with or without a unit in parentheses behind it: its place, and
 * in *ns how many ns (or, for %, what) one unit is. -1: none. */
static int find_column(const struct report *r, const char *word, double *ns)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "(ns)", 1 }, { "(us)", 1e3 }, { "(ms)", 1e6 }, { "(s)", 1e9 }, { "(sec)", 1e9 },
		{ "(%)", 1 }, { "", 1 }
	};

	for (size_t i = 0; i < r->n; i++) {
		struct fit_text t = r->fields[i], rest;

		if (!fit_prof_starts(t, word))
			continue;
		rest = fit_prof_trim((struct fit_text){ t.s + strlen(word), t.n - strlen(word) });
		for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
			if (!fit_text_is(rest, units[k].unit))
				continue;
			if (ns)
				*ns = units[k].ns;
			return (int)i;
		}
	}
	return -1;
}

/* The number in a column of the current row. NA: an empty cell, or no such column. */
static int cell_number(const struct fit_csv *c, const struct report *r, int column, double factor,
		       struct fit_cell *cell, struct fit_err *err)
{
	struct fit_text t = { "", 0 };

	if (column >= 0)
		t = fit_csv_raw(c, (size_t)column);
	*cell = (struct fit_cell){ .na = fit_prof_is_missing(t) };
	if (cell->na)
		return FIT_OK;
	if (fit_parse_double(t, &cell->u.d))
		return fit_csv_fail(c, FIT_EPARSE, r->names[column], err, "bad value '%.*s' (expected a "
				    "number)", FIT_TEXT_ARG(t));
	cell->u.d *= factor;
	return FIT_OK;
}

static int open_csv(struct fit_csv **c, const struct report *r, struct fit_err *err)
{
	struct fit_csv_options options = { .names = r->names, .n_names = r->n };
	int rc = fit_csv_open(c, r->lines.source, &options, err);

	return rc ? rc : fit_csv_bind(*c, NULL, 0, err);
}

/* The next good row; what nsys stats says between reports that were put together is passed over. */
static int next_row(struct fit_csv *c, struct fit_series_out *out, struct fit_err *err)
{
	for (;;) {
		int rc = fit_csv_row(c, NULL, err);
		const char *reason = rc && rc != FIT_END ? fit_csv_reason(c) : NULL;
		struct fit_text first = reason ? fit_csv_raw(c, 0) : (struct fit_text){ 0 };

		if (reason && (fit_prof_starts(first, "Generating ") || fit_prof_starts(first, "Processing ") ||
			       fit_prof_starts(first, "Exporting "))) {
			fit_series_pass(out, fit_csv_line(c), "line before the header");
			continue;
		}
		if (rc == FIT_END)
			return rc;
		fit_series_met(out);
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(c), reason);
		else
			return FIT_OK;
		if (rc)
			return rc;
	}
}

enum kernel_column { K_NAME, K_COUNT, K_SHARE, K_TOTAL, K_MEAN, K_MEDIAN, K_MIN, K_MAX, K_STDDEV, K_GRID,
		     K_BLOCK, K_COLUMNS };

static int read_kernel(const struct fit_csv *c, const struct report *r, const int *at,
		       const double *factor, struct fit_series_out *out, struct fit_err *err)
{
	static const int texts[] = { K_NAME, K_GRID, K_BLOCK };
	struct fit_cell cells[K_COLUMNS];
	int rc = FIT_OK;

	for (int k = K_COUNT; !rc && k <= K_STDDEV; k++)
		rc = cell_number(c, r, at[k], factor[k], &cells[k], err);
	if (rc)
		return rc;
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
		struct fit_text t = { 0 };

		if (at[texts[k]] >= 0)
			t = fit_csv_raw(c, (size_t)at[texts[k]]);
		cells[texts[k]] = (struct fit_cell){ .na = t.n == 0, .u.t = t };
	}
	if (!cells[K_COUNT].na) {
		double n = cells[K_COUNT].u.d;

		if (!(n >= 0 && n < 9e15) || n != (double)(int64_t)n)
			return fit_csv_fail(c, FIT_EPARSE, r->names[at[K_COUNT]], err, "bad value (expected a "
					    "whole number)");
		cells[K_COUNT].u.i = (int64_t)n;
	}
	for (int k = K_SHARE; k <= K_STDDEV; k++)
		if (!cells[k].na && cells[k].u.d < 0)
			return fit_csv_fail(c, FIT_EDATA, r->names[at[k]], err, "out of range (expected 0 or "
					    "more)");
	return fit_series_row(out, cells, err);
}

int fit_series_read_nsight_kernels(const struct fit_series_in *in, struct fit_series_out *out,
				   struct fit_err *err)
{
	static const char *const starts[] = { "Time (%)", "Time(%)", NULL };
	/* the newer name, and the older one */
	static const char *const names[K_COLUMNS][2] = {
		[K_NAME] = { "Name", "Name" }, [K_COUNT] = { "Instances", "Calls" },
		[K_SHARE] = { "Time", "Time" }, [K_TOTAL] = { "Total Time", "Total Time" },
		[K_MEAN] = { "Avg", "Average" }, [K_MEDIAN] = { "Med", "Median" },
		[K_MIN] = { "Min", "Minimum" }, [K_MAX] = { "Max", "Maximum" },
		[K_STDDEV] = { "StdDev", "StdDev" }, [K_GRID] = { "GridXYZ", "GridXYZ" },
		[K_BLOCK] = { "BlockXYZ", "BlockXYZ" }
	};
	struct report r = { .lines = { .source = in->source } };
	struct fit_csv *c = NULL;
	int at[K_COLUMNS] = { 0 };
	double factor[K_COLUMNS];
	int rc = find_header(&r, out, starts, err);

	for (int k = 0; !rc && k < K_COLUMNS; k++) {
		at[k] = find_column(&r, names[k][0], &factor[k]);
		if (at[k] < 0)
			at[k] = find_column(&r, names[k][1], &factor[k]);
	}
	/* columns without a unit of their own are in that of the total */
	for (int k = K_MEAN; !rc && k <= K_STDDEV; k++)
		if (at[k] >= 0 && !strchr(r.names[at[k]], '('))
			factor[k] = factor[K_TOTAL];
	if (!rc && (at[K_NAME] < 0 || at[K_TOTAL] < 0))
		rc = fit_prof_fail(&r.lines, FIT_ENOTFOUND, NULL, err, "no column '%s'",
				   at[K_NAME] < 0 ? "Name" : "Total Time (ns)");
	if (!rc)
		rc = open_csv(&c, &r, err);
	while (!rc && !(rc = next_row(c, out, err))) {
		if (is_report_header(fit_csv_raw(c, 0), starts))
			fit_series_pass(out, fit_csv_line(c), "repeated header");
		else
			rc = read_kernel(c, &r, at, factor, out, err);
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(c), "bad value");
	}
	fit_csv_close(c);
	release_report(&r);
	return rc == FIT_END ? FIT_OK : rc;
}

/* "NVIDIA T9000 (1)", or a plain number: the number of the device. */
static int parse_device(struct fit_text t, int64_t *gpu)
{
	size_t open = t.n;

	if (t.n && t.s[t.n - 1] == ')') {
		while (open && t.s[open - 1] != '(')
			open--;
		t = (struct fit_text){ t.s + open, t.n - open - 1 };
	}
	return fit_parse_int64(t, gpu) || *gpu < 0 || *gpu > 1000000 ? FIT_EPARSE : FIT_OK;
}

static int read_launch(const struct fit_csv *c, const struct report *r, const int at[4],
		       const double factor[4], struct fit_intervals *v, struct fit_err *err)
{
	struct fit_interval i = { 0 };
	int64_t *to[] = { &i.start, &i.end };
	struct fit_cell cell;

	for (int k = 0; k < 2; k++) {
		int rc;

		/* whole ns are not sent through a double */
		if (fit_parse_int64(fit_csv_raw(c, (size_t)at[k]), to[k]) == FIT_OK &&
		    !__builtin_mul_overflow(*to[k], (int64_t)factor[k], to[k]))
			continue;
		rc = cell_number(c, r, at[k], factor[k], &cell, err);
		if (rc)
			return rc;
		if (cell.na || !(cell.u.d > -9e18 && cell.u.d < 9e18))
			return fit_csv_fail(c, FIT_EDATA, r->names[at[k]], err, "missing or out of range");
		*to[k] = (int64_t)cell.u.d;
	}
	if (at[3] && __builtin_add_overflow(i.start, i.end, &i.end))
		return fit_csv_fail(c, FIT_EDATA, r->names[at[1]], err, "out of range");
	if (i.end < i.start)
		return fit_csv_fail(c, FIT_EDATA, r->names[at[1]], err, "ends before it starts");
	if (parse_device(fit_csv_raw(c, (size_t)at[2]), &i.gpu)) {
		struct fit_text t = fit_csv_raw(c, (size_t)at[2]);

		return fit_csv_fail(c, FIT_EPARSE, r->names[at[2]], err, "bad value '%.*s' (expected a device "
				    "such as 'NAME (0)')", FIT_TEXT_ARG(t));
	}
	return fit_intervals_add(v, i, err);
}

/* Copies and fills of memory are no kernels: those rows have no grid. */
static bool is_kernel(const struct fit_csv *c, int grid)
{
	return grid < 0 || fit_csv_raw(c, (size_t)grid).n > 0;
}

int fit_series_read_nsight_trace(const struct fit_series_in *in, struct fit_series_out *out,
				 struct fit_err *err)
{
	static const char *const starts[] = { "Start", NULL };
	struct report r = { .lines = { .source = in->source } };
	struct fit_bins b = { .out = out, .bin_ns = fit_series_params_of(out)->bin_ns };
	struct fit_intervals v = { 0 };
	struct fit_csv *c = NULL;
	int at[4] = { 0 }, grid = -1;	/* start; duration or end; device; is it a duration? */
	double factor[4] = { 1, 1, 1, 1 };
	int rc = find_header(&r, out, starts, err);

	if (!rc) {
		at[0] = find_column(&r, "Start", &factor[0]);
		at[1] = find_column(&r, "Duration", &factor[1]);
		at[3] = at[1] >= 0;
		if (at[1] < 0)
			at[1] = find_column(&r, "end", &factor[1]);
		at[2] = find_column(&r, "Device", NULL);
		if (at[2] < 0)
			at[2] = find_column(&r, "deviceId", NULL);
		grid = find_column(&r, "GrdX", NULL);
		if (at[0] < 0 || at[1] < 0 || at[2] < 0)
			rc = fit_prof_fail(&r.lines, FIT_ENOTFOUND, NULL, err, "no column '%s'", at[0] < 0 ?
					   "Start (ns)" : at[1] < 0 ? "Duration (ns)" : "Device");
	}
	if (!rc)
		rc = open_csv(&c, &r, err);
	while (!rc && !(rc = next_row(c, out, err))) {
		if (is_report_header(fit_csv_raw(c, 0), starts))
			fit_series_pass(out, fit_csv_line(c), "repeated header");
		else if (!is_kernel(c, grid))
			fit_series_pass(out, fit_csv_line(c), "copy or fill of memory");
		else
			rc = read_launch(c, &r, at, factor, &v, err);
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(c), "bad value");
	}
	if (rc == FIT_END && (rc = fit_intervals_flow(&v, &b, err)) != FIT_OK)
		(void)fit_fail_prefix(err, rc, "%s", fit_source_name(in->source));
	free(b.gpus);
	fit_intervals_release(&v);
	fit_csv_close(c);
	release_report(&r);
	return rc;
}
