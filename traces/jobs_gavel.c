/* SPDX-License-Identifier: MIT */
/* Traces of the Gavel simulator, ten fields or the old seven (docs/formats/gavel.md). */
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/gavel.h"
#include "traces/jobs_rows.h"

enum { TYPE, STEPS, SCALE, ARRIVAL, PRIORITY, SLO, NEEDS_DATA, COMMAND, FOLDER, STEPS_ARG, N };

struct state {
	int64_t last_ns;
	char id[FIT_NUM_MAX];
};

static int check(struct fit_trace_row *r, struct state *st, struct fit_err *err)
{
	const struct fit_cell *in = r->in;
	int rc = fit_row_at_least(r, STEPS, SCALE, 1, err);

	if (!rc)
		rc = fit_row_at_least(r, ARRIVAL, PRIORITY, 0, err);
	if (rc)
		return rc;
	if (!in[SLO].na && in[SLO].u.d != -1 && !(in[SLO].u.d > 0 && in[SLO].u.d < 1e300))
		return fit_row_fail(r, FIT_EDATA, "out of range", SLO, err,
				    "out of range '%.17g' (expected more than 0, or -1)", in[SLO].u.d);
	if (in[NEEDS_DATA].u.i != 0 && in[NEEDS_DATA].u.i != 1)
		return fit_row_fail(r, FIT_EDATA, "bad value", NEEDS_DATA, err,
				    "bad value '%lld' (expected 0 or 1)", (long long)in[NEEDS_DATA].u.i);
	/* the simulator reads jobs as they arrive; an earlier one would be late there */
	if (in[ARRIVAL].u.i < st->last_ns && fit_trace_params_of(r->out)->sort != FIT_SORT_YES) {
		char here[FIT_NUM_MAX], last[FIT_NUM_MAX];

		fit_format_time(here, in[ARRIVAL].u.i);
		fit_format_time(last, st->last_ns);
		return fit_row_fail(r, FIT_EDATA, "not in order", ARRIVAL, err,
				    "not in order '%s' (expected at least %s, the arrival before; or --sort)",
				    here, last);
	}
	return FIT_OK;
}

static int convert(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, APP, SUBMIT, GPUS, BATCH, WORK, OUT_PRIORITY, OUT_SLO };
	struct state *st = r->ctx;
	const struct fit_cell *in = r->in;
	int rc = check(r, st, err);

	if (rc)
		return rc;
	st->last_ns = in[ARRIVAL].u.i;
	/* the simulator numbers jobs as they stand in the file */
	row[JOB_ID].u.t.s = st->id;
	row[JOB_ID].u.t.n = fit_format_int64(st->id, (int64_t)r->number);
	row[APP] = in[TYPE];
	row[BATCH].na = !fit_gavel_split_type(in[TYPE].u.t, &row[APP].u.t, &row[BATCH].u.i);
	row[SUBMIT] = in[ARRIVAL];
	row[GPUS].u.d = (double)in[SCALE].u.i;
	row[WORK] = in[STEPS];
	row[OUT_PRIORITY] = in[PRIORITY];
	row[OUT_SLO] = in[SLO].na || in[SLO].u.d == -1 ? fit_cell_na() : in[SLO];
	return FIT_OK;
}

static const char *const new_names[] = {
	"job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps",
	"scale_factor", "priority_weight", "SLO", "arrival_time"
};
static const char *const old_names[] = {
	"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_time",
	"scale_factor"
};
static const struct fit_csv_layout layouts[] = {
	{ old_names, sizeof old_names / sizeof *old_names },
	{ new_names, sizeof new_names / sizeof *new_names }
};

int fit_trace_read_gavel(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[TYPE] = { "job_type", FIT_TEXT, FIT_F_NOT_NA },
		[STEPS] = { "total_steps", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[SCALE] = { "scale_factor", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[ARRIVAL] = { "arrival_time", FIT_TIME, FIT_F_NOT_NA | FIT_CSV_F_ROUND },
		[PRIORITY] = { "priority_weight", FIT_REAL, FIT_F_OPTIONAL },
		[SLO] = { "SLO", FIT_REAL, FIT_F_OPTIONAL },
		[NEEDS_DATA] = { "needs_data_dir", FIT_INT, FIT_F_NOT_NA },
		[COMMAND] = { "command", FIT_TEXT, 0 },
		[FOLDER] = { "working_directory", FIT_TEXT, FIT_F_OPTIONAL },
		[STEPS_ARG] = { "num_steps_arg", FIT_TEXT, 0 }
	};
	static const struct fit_csv_options options = {
		.delimiter = '\t', .flags = FIT_CSV_NO_QUOTES, .layouts = layouts, .n_layouts = 2
	};
	struct state st = { .last_ns = 0 };
	const struct fit_trace_rows how = {
		.options = &options, .fields = fields, .n_fields = N, .convert = convert, .ctx = &st
	};

	return fit_trace_read_rows(s, out, &how, err);
}

/* Ten or seven fields between tabs, and "(batch size" in the first. */
int fit_trace_sniff_gavel(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	size_t tabs = 0, first = head->line.n;

	for (size_t i = 0; i < head->line.n; i++)
		if (head->line.s[i] == '\t' && !tabs++)
			first = i;
	if (tabs != 9 && tabs != 6)
		return 0;
	for (size_t i = 0; i + 11 <= first; i++) {
		if (memcmp(head->line.s + i, "(batch size", 11) != 0)
			continue;
		snprintf(why, FIT_TRACE_WHY, "%zu fields between tabs, of which the first is a model with a "
			 "batch size", tabs + 1);
		return 90;
	}
	return 0;
}
