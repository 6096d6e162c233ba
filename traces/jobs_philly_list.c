/* SPDX-License-Identifier: MIT */
/* The Philly job list that comes with Pollux and Sia (docs/formats/philly-list.md). */
#include <math.h>
#include <string.h>

#include "traces/jobs.h"

enum { TIMESTAMP, DURATION, GPUS, GPU_TIME, CLUSTER, N };

/* One row of the file as a row of the output; gpu_time must say what duration and GPUs say. */
static int convert(const struct fit_csv *c, const struct fit_field *fields,
		   const struct fit_cell *in, struct fit_cell out[5], const char **reason,
		   struct fit_err *err)
{
	int64_t at;
	double expected;
	int rc = fit_trace_at_least(c, &fields[DURATION], &in[DURATION], 0, err);

	*reason = "out of range";
	if (!rc)
		rc = fit_trace_at_least(c, &fields[GPUS], &in[GPUS], 0, err);
	if (rc)
		return rc;
	*reason = "bad value";
	if (fit_parse_datetime(in[TIMESTAMP].u.t, &at))
		return fit_csv_fail(c, FIT_EPARSE, "timestamp", err,
				    "bad value '%.*s' (expected YYYY-MM-DD HH:MM:SS)",
				    FIT_TEXT_ARG(in[TIMESTAMP].u.t));
	*reason = "contradiction";
	expected = (double)in[DURATION].u.i / 1e9 * (double)in[GPUS].u.i;
	if (!in[GPU_TIME].na && !(fabs(in[GPU_TIME].u.d - expected) <= 1e-9 * fabs(expected)))
		return fit_csv_fail(c, FIT_EDATA, "gpu_time", err,
				    "contradiction '%.17g' (expected duration times num_gpus, %.17g)",
				    in[GPU_TIME].u.d, expected);
	out[0] = (struct fit_cell){ .na = true };
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
	struct fit_csv *c = NULL;
	struct fit_cell cells[N], row[5];
	int rc = fit_csv_open(&c, s, NULL, err);

	if (!rc)
		rc = fit_csv_bind(c, fields, N, err);
	if (!rc && fit_trace_note_unbound(c, out))
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_trace_csv_row(c, out, cells, err))) {
		const char *reason;

		rc = convert(c, fields, cells, row, &reason, err);
		if (!rc)
			rc = fit_trace_emit(out, row, fit_csv_line(c), err);
		if (rc)
			rc = fit_trace_bad(out, rc, reason, err);
	}
	fit_csv_close(c);
	return rc == FIT_END ? FIT_OK : rc;
}
