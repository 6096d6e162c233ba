/* SPDX-License-Identifier: MIT */
/* The Philly job list that comes with Pollux and Sia (docs/formats/philly-list.md). */
#include <math.h>

#include "traces/jobs_rows.h"

enum { TIMESTAMP, DURATION, GPUS, GPU_TIME, CLUSTER, N };

/* One row of the file as a row of the output; gpu_time must say what duration and GPUs say. */
static int convert(struct fit_trace_row *r, struct fit_cell *out, struct fit_err *err)
{
	const struct fit_cell *in = r->in;
	int64_t at;
	double expected;
	int rc = fit_row_at_least(r, DURATION, GPUS, 0, err);

	if (rc)
		return rc;
	if (fit_parse_datetime(in[TIMESTAMP].u.t, &at))
		return fit_row_fail(r, FIT_EPARSE, "bad value", TIMESTAMP, err,
				    "bad value '%.*s' (expected YYYY-MM-DD HH:MM:SS)",
				    FIT_TEXT_ARG(in[TIMESTAMP].u.t));
	expected = (double)in[DURATION].u.i / 1e9 * (double)in[GPUS].u.i;
	if (!in[GPU_TIME].na && !(fabs(in[GPU_TIME].u.d - expected) <= 1e-9 * fabs(expected)))
		return fit_row_fail(r, FIT_EDATA, "contradiction", GPU_TIME, err,
				    "contradiction '%.17g' (expected duration times num_gpus, %.17g)",
				    in[GPU_TIME].u.d, expected);
	r->reason = "contradiction";
	out[0] = fit_cell_na();
	out[1] = in[CLUSTER];
	out[2] = (struct fit_cell){ .u.i = at };
	out[3] = in[DURATION];
	out[4] = (struct fit_cell){ .u.d = (double)in[GPUS].u.i };
	return FIT_OK;
}

int fit_trace_read_philly_list(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[TIMESTAMP] = { "timestamp", FIT_TEXT, FIT_F_NOT_NA },
		[DURATION] = { "duration", FIT_TIME, FIT_F_NOT_NA },
		[GPUS] = { "num_gpus", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[GPU_TIME] = { "gpu_time", FIT_REAL, FIT_F_OPTIONAL },
		[CLUSTER] = { "cluster", FIT_TEXT, FIT_F_OPTIONAL }
	};
	static const struct fit_csv_options options = { .flags = 0 };
	const struct fit_trace_rows how = {
		.options = &options, .fields = fields, .n_fields = N, .convert = convert
	};

	return fit_trace_read_rows(s, out, &how, err);
}
