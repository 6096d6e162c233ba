/* SPDX-License-Identifier: MIT */
/* Workload files of the Pollux and Sia simulators, both ways (docs/formats/pollux.md). */
#include <math.h>
#include <string.h>

#include "libfit/base/job_kind.h"
#include "libfit/base/num.h"
#include "traces/jobs_rows.h"

enum { NAME, APPLICATION, TIME, REPLICAS, BATCH, CATEGORY, N };

static int convert(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	const struct fit_cell *category = &r->in[CATEGORY];
	enum fit_job_kind kind;
	int rc = fit_row_at_least(r, TIME, REPLICAS, 0, err);

	if (!rc)
		rc = fit_row_at_least(r, BATCH, BATCH, 1, err);
	if (!rc && !category->na && !fit_job_kind_find(category->u.t, &kind))
		rc = fit_row_fail(r, FIT_EDATA, "out of range", CATEGORY, err,
				  "unknown word '%.*s' (expected " FIT_JOB_KINDS ")", FIT_TEXT_ARG(category->u.t));
	memcpy(row, r->in, N * sizeof *row);
	if (!rc)
		r->reason = "duplicate id";
	return rc;
}

int fit_trace_read_pollux(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_csv_options options = { .flags = 0 };
	/* in the order of the output */
	static const struct fit_field fields[N] = {
		[NAME] = { "name", FIT_TEXT, FIT_F_NOT_NA },
		[APPLICATION] = { "application", FIT_TEXT, FIT_F_NOT_NA },
		[TIME] = { "time", FIT_TIME, FIT_F_NOT_NA | FIT_CSV_F_ROUND },
		[REPLICAS] = { "num_replicas", FIT_REAL, FIT_F_NOT_NA },
		[BATCH] = { "batch_size", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[CATEGORY] = { "category", FIT_TEXT, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = {
		.options = &options, .fields = fields, .n_fields = N, .convert = convert
	};

	return fit_trace_read_rows(s, out, &how, err);
}

static int put_text(struct fit_str *out, struct fit_text t)
{
	bool quote = t.n == 0 || t.s[0] == ' ' || t.s[t.n - 1] == ' ';
	int rc;

	for (size_t i = 0; i < t.n; i++)
		quote = quote || memchr(",\"\r\n\t", t.s[i], 5) != NULL;
	if (!quote)
		return fit_str_add(out, t.s, t.n);
	rc = fit_str_add(out, "\"", 1);
	for (size_t i = 0; !rc && i < t.n; i++)
		rc = t.s[i] == '"' ? fit_str_add(out, "\"\"", 2) : fit_str_add(out, t.s + i, 1);
	return rc ? rc : fit_str_add(out, "\"", 1);
}

/* Who says nothing is adaptive. */
static int put_kind(struct fit_str *out, struct fit_cell c)
{
	int rc = fit_str_puts(out, ",");

	return rc ? rc : put_text(out, c.na ? FIT_TEXT_LIT("adaptive") : c.u.t);
}

static bool any(const struct fit_column *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fit_column_cell(c, i).na)
			return true;
	return false;
}

int fit_trace_write_pollux(const struct fit_table *jobs, struct fit_str *csv, struct fit_err *err)
{
	static const struct { const char *name; enum fit_type type; } wanted[] = {
		{ "job_id", FIT_TEXT }, { "submit_s", FIT_TIME }, { "app", FIT_TEXT },
		{ "gpus", FIT_REAL }, { "batch_size", FIT_INT }
	};
	const struct fit_column *col[5], *kind = fit_table_column(jobs, "scaling");
	int rc;

	kind = kind && kind->type == FIT_TEXT && any(kind, jobs->n_rows) ? kind : NULL;
	rc = fit_str_printf(csv, "name,time,application,num_replicas,batch_size%s\n", kind ? ",category" : "");

	for (size_t j = 0; j < 5; j++) {
		col[j] = fit_table_column(jobs, wanted[j].name);
		if (!col[j])
			return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (expected job_id, submit_s, "
					"app, gpus and batch_size)", jobs->input, wanted[j].name);
		if (col[j]->type != wanted[j].type)
			return fit_fail(err, FIT_EINVAL, "%s: column '%s' is %s (expected %s)", jobs->input,
					wanted[j].name, fit_type_name(col[j]->type),
					fit_type_name(wanted[j].type));
	}
	if (!rc && fit_trace_check_ids(jobs, err))
		return err ? err->code : FIT_EDATA;
	for (size_t i = 0; !rc && i < jobs->n_rows; i++) {
		struct fit_cell c[5];
		char num[FIT_NUM_MAX];

		for (size_t j = 0; j < 5; j++) {
			c[j] = fit_column_cell(col[j], i);
			if (c[j].na)
				return fit_table_fail(jobs, i, FIT_EDATA, wanted[j].name, err,
						      "missing value 'NA' (a workload file has no way to "
						      "say that)");
		}
		if (c[3].u.d != floor(c[3].u.d) || fabs(c[3].u.d) > 1e15) {
			fit_format_double(num, c[3].u.d);
			return fit_table_fail(jobs, i, FIT_EDATA, "gpus", err,
					      "bad value '%s' (expected whole GPUs)", num);
		}
		rc = put_text(csv, c[0].u.t);
		if (!rc)
			rc = fit_str_add(csv, ",", 1);
		if (!rc)
			rc = fit_str_add(csv, num, fit_format_time(num, c[1].u.i));
		if (!rc)
			rc = fit_str_add(csv, ",", 1);
		if (!rc)
			rc = put_text(csv, c[2].u.t);
		if (!rc)
			rc = fit_str_printf(csv, ",%lld,%lld", (long long)c[3].u.d, (long long)c[4].u.i);
		if (!rc && kind)
			rc = put_kind(csv, fit_column_cell(kind, i));
		if (!rc)
			rc = fit_str_puts(csv, "\n");
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}
