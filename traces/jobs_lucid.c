/* SPDX-License-Identifier: MIT */
/* Job logs and sizes of virtual clusters of the Lucid simulator (docs/formats/lucid.md). */
#include <stdio.h>

#include "libfit/base/id_set.h"
#include "traces/jobs_rows.h"

enum { JOB, USER, VC, NAME, MODEL, GPUS, CPUS, BATCH, AMP, SPEED, GPU_UTIL, MEM_UTIL, GMEM, DURATION, STATE,
       DATASET, SUBMIT, START, END, N };

static int convert(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, OUT_USER, GROUP, OUT_NAME, APP, OUT_SUBMIT, OUT_START, OUT_END, OUT_DURATION,
	       OUT_GPUS, OUT_BATCH, STATUS, OUT_CPUS, OUT_DATASET, OUT_AMP, OUT_SPEED, OUT_GPU_UTIL,
	       OUT_MEM_UTIL, FB_USED };
	static const struct fit_status_word states[] = {
		{ "COMPLETED", "OK" }, { "Pass", "OK" }, { "CANCELLED", "CANCELLED" },
		{ "Killed", "CANCELLED" }, { "FAILED", "FAILED" }, { "Failed", "FAILED" },
		{ "TIMEOUT", "TIMEOUT" }, { "NODE_FAIL", "NODE_FAIL" }, { "RUNNING", "RUNNING" },
		{ "PENDING", "PENDING" }, { "SUSPENDED", "UNKNOWN" }, { NULL, NULL }
	};
	const struct fit_cell *in = r->in;
	int64_t after;
	int rc = fit_row_at_least(r, GPUS, DURATION, 0, err);

	if (!rc) {
		r->reason = "bad value";
		rc = fit_trace_csv_time(r->csv, r->out, "submit_time", &in[SUBMIT], FIT_INT_NA,
					&row[OUT_SUBMIT], err);
	}
	after = row[OUT_SUBMIT].u.i;
	if (!rc)
		rc = fit_trace_csv_time(r->csv, r->out, "start_time", &in[START], after, &row[OUT_START],
					err);
	if (!rc)
		rc = fit_trace_csv_time(r->csv, r->out, "end_time", &in[END],
					row[OUT_START].na ? after : row[OUT_START].u.i, &row[OUT_END], err);
	if (rc)
		return rc;
	row[JOB_ID] = in[JOB];
	row[OUT_USER] = in[USER];
	row[GROUP] = in[VC];
	row[OUT_NAME] = in[NAME];
	row[APP] = in[MODEL];
	row[OUT_DURATION] = in[DURATION];
	row[OUT_GPUS] = in[GPUS];
	row[OUT_BATCH] = in[BATCH];
	row[STATUS] = fit_row_status(r, &in[STATE], states);
	row[OUT_CPUS] = in[CPUS];
	row[OUT_DATASET] = in[DATASET];
	row[OUT_AMP] = in[AMP];
	row[OUT_SPEED] = in[SPEED];
	row[OUT_GPU_UTIL] = in[GPU_UTIL];
	row[OUT_MEM_UTIL] = in[MEM_UTIL];
	row[FB_USED] = in[GMEM];
	if (fit_text_is(row[STATUS].u.t, "RUNNING") || fit_text_is(row[STATUS].u.t, "PENDING"))
		row[OUT_END] = row[OUT_DURATION] = fit_cell_na();
	if (!row[OUT_START].na && !row[OUT_END].na && !row[OUT_DURATION].na &&
	    row[OUT_END].u.i >= row[OUT_START].u.i &&
	    row[OUT_END].u.i - row[OUT_START].u.i != row[OUT_DURATION].u.i) {
		fit_trace_repaired(r->out, fit_csv_line(r->csv), "duration",
				   "duration that the times contradict", "not what the times say, which are taken");
		row[OUT_DURATION] = fit_cell_na();
	}
	r->reason = "times out of order";
	return fit_trace_check_times(r->out, fit_csv_line(r->csv), &row[OUT_SUBMIT], &row[OUT_START],
				     &row[OUT_END], &row[OUT_DURATION], err);
}

int fit_trace_read_lucid(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[JOB] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
		[USER] = { "user", FIT_TEXT, FIT_F_OPTIONAL },
		[VC] = { "vc", FIT_TEXT, FIT_F_NOT_NA },
		[NAME] = { "jobname", FIT_TEXT, FIT_F_OPTIONAL },
		[MODEL] = { "model", FIT_TEXT, FIT_F_OPTIONAL },
		[GPUS] = { "gpu_num", FIT_REAL, FIT_F_NOT_NA },
		[CPUS] = { "cpu_num", FIT_REAL, FIT_F_OPTIONAL },
		[BATCH] = { "batchsize", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[AMP] = { "amp", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[SPEED] = { "speed", FIT_REAL, FIT_F_OPTIONAL },
		[GPU_UTIL] = { "gpu_util", FIT_REAL, FIT_F_OPTIONAL },
		[MEM_UTIL] = { "gmem_util", FIT_REAL, FIT_F_OPTIONAL },
		[GMEM] = { "gmem", FIT_REAL, FIT_F_OPTIONAL },
		[DURATION] = { "duration", FIT_TIME, FIT_CSV_F_ROUND },
		[STATE] = { "state", FIT_TEXT, FIT_F_OPTIONAL },
		[DATASET] = { "dataset", FIT_TEXT, FIT_F_OPTIONAL },
		[SUBMIT] = { "submit_time", FIT_TEXT, FIT_F_NOT_NA },
		[START] = { "start_time", FIT_TEXT, FIT_F_OPTIONAL },
		[END] = { "end_time", FIT_TEXT, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N, .convert = convert };

	return fit_trace_read_rows(s, out, &how, err);
}

/* ---- sizes of virtual clusters ---- */

enum { UNNAMED, NAMED, NUM };

static int check_new_vc(struct fit_trace_row *r, struct fit_text name, struct fit_err *err)
{
	uint64_t first;

	if (fit_id_set_put(r->ctx, name, fit_csv_line(r->csv), &first))
		return fit_fail_nomem(err);
	return !first ? FIT_OK :
	       fit_row_fail(r, FIT_EDATA, "duplicate id", NAMED, err,
			    "duplicate virtual cluster '%.*s' (first on line %llu)", FIT_TEXT_ARG(name),
			    (unsigned long long)first);
}

static int convert_vc(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	const struct fit_cell *in = r->in;
	const struct fit_cell *vc = in[UNNAMED].na ? &in[NAMED] : &in[UNNAMED];
	int rc = fit_row_at_least(r, NUM, NUM, 0, err);

	if (rc)
		return rc;
	if (vc->na)
		return fit_row_fail(r, FIT_EDATA, "missing value", NAMED, err,
				    "missing value (expected the name of a virtual cluster)");
	rc = check_new_vc(r, vc->u.t, err);
	if (rc)
		return rc;
	if (in[NUM].u.i == 0) {
		fit_tally_add(&r->tally, "virtual clusters without nodes left out");
		return FIT_END;
	}
	row[0].u.t = vc->u.t;
	row[1] = in[NUM];
	row[2].u.i = 8;		/* all nodes of the simulator have eight */
	return FIT_OK;
}

int fit_trace_read_lucid_vc(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	/* the first column has no name; a file that was edited by hand may give it one */
	static const struct fit_field fields[] = {
		{ "", FIT_TEXT, FIT_F_OPTIONAL }, { "vc", FIT_TEXT, FIT_F_OPTIONAL },
		{ "num", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE }
	};
	struct fit_id_set names = { 0 };
	const struct fit_trace_rows how = {
		.fields = fields, .n_fields = 3, .convert = convert_vc, .ctx = &names
	};
	int rc = fit_trace_read_rows(s, out, &how, err);

	fit_id_set_release(&names);
	return rc;
}

int fit_trace_sniff_lucid_vc(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	if (!fit_text_is(head->line, ",num"))
		return 0;
	snprintf(why, FIT_TRACE_WHY, "header is ',num'");
	return 80;
}
