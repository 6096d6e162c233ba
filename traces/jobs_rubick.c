/* SPDX-License-Identifier: MIT */
/* Workload files of the Rubick simulator (docs/formats/rubick.md). */
#include "traces/jobs_rows.h"

enum { NAME, APP, SUBMIT, DURATION, GPUS, STEPS, CPUS, BANDWIDTH, PLAN, SLA, N };

/* GPUs of a plan that is three digits (pipeline, tensor and data degree); 0 for another one. */
static int64_t plan_gpus(struct fit_text plan)
{
	int64_t gpus = 1;

	if (plan.n != 3)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (plan.s[i] < '1' || plan.s[i] > '9')
			return 0;
		gpus *= plan.s[i] - '0';
	}
	return gpus;
}

static int convert(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, OUT_APP, OUT_SUBMIT, OUT_DURATION, OUT_GPUS, WORK, OUT_CPUS, OUT_BANDWIDTH, OUT_PLAN,
	       IS_SLA };
	const struct fit_cell *in = r->in;
	int rc = fit_row_at_least(r, SUBMIT, BANDWIDTH, 0, err);

	if (!rc && !in[SLA].na && in[SLA].u.i != 0 && in[SLA].u.i != 1)
		rc = fit_row_fail(r, FIT_EDATA, "bad value", SLA, err, "bad value '%lld' (expected 0 or 1)",
				  (long long)in[SLA].u.i);
	if (rc)
		return rc;
	row[JOB_ID] = in[NAME];
	row[OUT_APP] = in[APP];
	row[OUT_SUBMIT] = in[SUBMIT];
	row[OUT_DURATION] = in[DURATION];
	row[OUT_GPUS] = in[GPUS];
	row[WORK] = in[STEPS];
	row[OUT_CPUS] = in[CPUS];
	row[OUT_BANDWIDTH] = in[BANDWIDTH];
	row[OUT_PLAN] = in[PLAN];
	row[IS_SLA] = in[SLA];
	/* the simulator takes the duration where there are no steps */
	if (!in[STEPS].na && in[STEPS].u.i == 0)
		row[WORK] = fit_cell_na();
	if (row[WORK].na && in[DURATION].na)
		return fit_row_fail(r, FIT_EDATA, "missing value", STEPS, err,
				    "missing value (expected steps or a duration)");
	if (!in[PLAN].na && plan_gpus(in[PLAN].u.t) &&
	    (double)plan_gpus(in[PLAN].u.t) != in[GPUS].u.d)	/* both are small whole numbers */
		fit_tally_add(&r->tally, "with an exec_plan for another number of GPUs than num_gpus");
	return FIT_OK;
}

int fit_trace_read_rubick(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[NAME] = { "name", FIT_TEXT, FIT_F_NOT_NA },
		[APP] = { "application", FIT_TEXT, FIT_F_NOT_NA },
		[SUBMIT] = { "submission_time", FIT_TIME, FIT_F_NOT_NA | FIT_CSV_F_ROUND },
		[DURATION] = { "duration", FIT_TIME, FIT_CSV_F_ROUND },
		[GPUS] = { "num_gpus", FIT_REAL, FIT_F_NOT_NA },
		[STEPS] = { "steps", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[CPUS] = { "num_cpus", FIT_REAL, FIT_F_OPTIONAL },
		[BANDWIDTH] = { "bandwidth", FIT_REAL, FIT_F_OPTIONAL },
		[PLAN] = { "exec_plan", FIT_TEXT, FIT_F_NOT_NA },
		[SLA] = { "is_sla", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N, .convert = convert };

	return fit_trace_read_rows(s, out, &how, err);
}
