/* SPDX-License-Identifier: MIT */
/* Pods and nodes of Alibaba's cluster-trace-gpu-v2023, "openb" (docs/formats/openb.md). */
#include <string.h>

#include "traces/jobs_rows.h"
#include "traces/nodes.h"

enum { NAME, CPU, MEM, GPUS, MILLI, SPEC, QOS, PHASE, CREATED, DELETED, SCHEDULED, N };
enum { JOB_ID, GROUP, SUBMIT, START, END, DURATION, OUT_GPUS, GPU_TYPE, STATUS, CPUS, MEM_MIB, SEEN };

/* A share of a GPU (gpu_milli under 1000) is one of a single GPU. */
static int check_share(struct fit_trace_row *r, struct fit_err *err)
{
	int64_t gpus = r->in[GPUS].u.i, milli = r->in[MILLI].u.i;
	int rc = fit_row_at_least(r, CPU, MILLI, 0, err);

	if (rc)
		return rc;
	if (milli > 1000)
		return fit_row_fail(r, FIT_EDATA, "out of range", MILLI, err,
				    "out of range '%lld' (expected at most 1000)", (long long)milli);
	if ((gpus == 0) != (milli == 0))
		return fit_row_fail(r, FIT_EDATA, "contradiction", MILLI, err,
				    "contradiction '%lld' (expected %s with num_gpu %lld)", (long long)milli,
				    gpus ? "more than 0" : "0", (long long)gpus);
	if (gpus > 1 && milli != 1000)
		return fit_row_fail(r, FIT_EDATA, "contradiction", MILLI, err,
				    "contradiction '%lld' (expected 1000 with num_gpu %lld)",
				    (long long)milli, (long long)gpus);
	return FIT_OK;
}

static int convert_pod(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	static const struct fit_status_word phases[] = {
		{ "Succeeded", "OK" }, { "Failed", "FAILED" }, { "Running", "RUNNING" },
		{ "Pending", "PENDING" }, { NULL, NULL }
	};
	const struct fit_cell *in = r->in;
	int rc = check_share(r, err);

	if (!rc)
		rc = fit_row_at_least(r, CREATED, SCHEDULED, 0, err);
	if (rc)
		return rc;
	if (in[CREATED].na)
		fit_tally_add(&r->tally, "without a time of creation (for packing, not for a replay)");
	row[JOB_ID] = in[NAME];
	row[GROUP] = in[QOS];
	row[SUBMIT] = in[CREATED];
	row[START] = in[SCHEDULED];
	row[END] = in[DELETED];
	row[DURATION] = fit_cell_na();
	row[OUT_GPUS].u.d = (double)in[GPUS].u.i * (double)in[MILLI].u.i / 1000;
	row[GPU_TYPE] = in[SPEC];
	row[STATUS] = fit_row_status(r, &in[PHASE], phases);
	row[CPUS] = fit_cell_ratio(&in[CPU], 1000);
	row[MEM_MIB] = in[MEM];
	row[SEEN] = fit_cell_na();
	/* what deletion_time says of a pod that did not end is how long it was seen */
	if (fit_text_is(row[STATUS].u.t, "RUNNING") || fit_text_is(row[STATUS].u.t, "PENDING")) {
		row[SEEN] = row[END];
		row[END] = fit_cell_na();
	}
	return fit_trace_check_times(r->out, fit_csv_line(r->csv), &row[SUBMIT], &row[START], &row[END],
				     &row[DURATION], err);
}

int fit_trace_read_openb(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[NAME] = { "name", FIT_TEXT, FIT_F_NOT_NA },
		[CPU] = { "cpu_milli", FIT_INT, FIT_CSV_F_WHOLE },
		[MEM] = { "memory_mib", FIT_INT, FIT_CSV_F_WHOLE },
		[GPUS] = { "num_gpu", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[MILLI] = { "gpu_milli", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		/* the lists for packing studies end here */
		[SPEC] = { "gpu_spec", FIT_TEXT, FIT_F_OPTIONAL },
		[QOS] = { "qos", FIT_TEXT, FIT_F_OPTIONAL },
		[PHASE] = { "pod_phase", FIT_TEXT, FIT_F_OPTIONAL },
		[CREATED] = { "creation_time", FIT_TIME, FIT_F_OPTIONAL },
		[DELETED] = { "deletion_time", FIT_TIME, FIT_F_OPTIONAL },
		[SCHEDULED] = { "scheduled_time", FIT_TIME, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N, .convert = convert_pod };

	return fit_trace_read_rows(s, out, &how, err);
}

/* ---- nodes ---- */

enum { SN, NODE_CPU, NODE_MEM, NODE_GPUS, MODEL, N_NODE };

static int convert_node(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct fit_node_kinds *kinds = r->ctx;
	const struct fit_cell *in = r->in;
	struct fit_text model = in[MODEL].na ? FIT_TEXT_LIT("CPU") : in[MODEL].u.t;
	int rc = fit_row_at_least(r, NODE_CPU, NODE_GPUS, 0, err);

	(void)row;
	if (rc)
		return rc;
	if (in[NODE_GPUS].u.i > 0 && in[MODEL].na)
		fit_tally_add(&r->tally, "with GPUs and no model");
	if (in[NODE_GPUS].u.i > 0 && in[MODEL].na)
		model = (struct fit_text){ NULL, 0 };
	r->reason = "duplicate id";
	rc = fit_node_kinds_name(kinds, r->csv, "sn", in[SN].u.t, err);
	if (!rc && fit_node_kinds_add(kinds, model, in[NODE_GPUS].u.i,
				      in[NODE_CPU].na ? -1 : (double)in[NODE_CPU].u.i / 1000,
				      in[NODE_MEM].na ? -1 : (double)in[NODE_MEM].u.i / 1024,
				      fit_csv_line(r->csv)))
		rc = fit_fail_nomem(err);
	return rc;
}

int fit_trace_read_openb_nodes(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_NODE] = {
		[SN] = { "sn", FIT_TEXT, FIT_F_NOT_NA },
		[NODE_CPU] = { "cpu_milli", FIT_INT, FIT_CSV_F_WHOLE },
		[NODE_MEM] = { "memory_mib", FIT_INT, FIT_CSV_F_WHOLE },
		[NODE_GPUS] = { "gpu", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[MODEL] = { "model", FIT_TEXT, 0 }
	};

	return fit_node_kinds_read(s, out, fields, N_NODE, convert_node, err);
}
