/* SPDX-License-Identifier: MIT */
/*
 * Later releases of Alibaba's cluster traces: disaggregated recommendation models (v2025), requests for
 * pictures (v2026 GenAI, LoRA) and spot GPUs (v2026). docs/formats/alibaba.md
 */
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs_rows.h"
#include "traces/nodes.h"

/* ---- v2025: instances of services ---- */

enum { SN, ROLE, APP_NAME, CPU, GPU, MEM, PER_NODE, CREATED, SCHEDULED, DELETED, CPU_LIMIT, GPU_LIMIT, RDMA,
       RDMA_LIMIT, MEM_LIMIT, DISK, DISK_LIMIT, N_2025 };

static int check_instance(struct fit_trace_row *r, struct fit_err *err)
{
	static const char *const roles[] = { "CN", "HN", NULL };
	int64_t per_node = r->in[PER_NODE].na ? -1 : r->in[PER_NODE].u.i;
	int role, rc = fit_row_at_least(r, CPU, MEM, 0, err);

	if (!rc)
		rc = fit_row_at_least(r, CREATED, DELETED, 0, err);
	if (!rc)
		rc = fit_row_word(r, ROLE, roles, &role, err);
	if (!rc && per_node < 1 && per_node != -1)
		rc = fit_row_fail(r, FIT_EDATA, "out of range", PER_NODE, err,
				  "out of range '%lld' (expected at least 1, or -1)", (long long)per_node);
	return rc;
}

static int convert_2025(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, GROUP, OUT_APP, SUBMIT, START, END, DURATION, GPUS, STATUS, CENSORED, CPUS, MEM_MIB,
	       MAX_PER_NODE };
	const struct fit_cell *in = r->in;
	bool left = in[CREATED].na && in[SCHEDULED].na, right = in[DELETED].na;
	int rc = check_instance(r, err);

	if (!rc)
		rc = fit_row_times(r, MEM, 1024, &row[MEM_MIB], err);
	if (rc)
		return rc;
	row[JOB_ID] = in[SN];
	row[GROUP] = in[ROLE];
	row[OUT_APP] = in[APP_NAME];
	row[SUBMIT] = in[CREATED];
	row[START] = in[SCHEDULED];
	row[END] = in[DELETED];
	row[DURATION] = fit_cell_na();
	row[GPUS] = in[GPU];
	/* that a service was taken down does not say how it ended */
	row[STATUS].u.t = fit_text_of(right ? "RUNNING" : "UNKNOWN");
	row[CENSORED].na = !left && !right;
	row[CENSORED].u.t = fit_text_of(left && right ? "both" : left ? "left" : right ? "right" : "");
	row[CPUS] = in[CPU];
	row[MAX_PER_NODE] = in[PER_NODE];
	if (!in[PER_NODE].na && in[PER_NODE].u.i == -1)
		row[MAX_PER_NODE] = fit_cell_na();
	if (left)
		fit_tally_add(&r->tally, "there before the trace begins (left-censored)");
	if (right)
		fit_tally_add(&r->tally, "running at its end (right-censored)");
	return fit_trace_check_times(r->out, fit_csv_line(r->csv), &row[SUBMIT], &row[START], &row[END],
				     &row[DURATION], err);
}

int fit_trace_read_alibaba2025(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_2025] = {
		[SN] = { "instance_sn", FIT_TEXT, FIT_F_NOT_NA },
		[ROLE] = { "role", FIT_TEXT, FIT_F_NOT_NA },
		[APP_NAME] = { "app_name", FIT_TEXT, 0 },
		[CPU] = { "cpu_request", FIT_REAL, 0 },
		[GPU] = { "gpu_request", FIT_REAL, FIT_F_NOT_NA },
		[MEM] = { "memory_request", FIT_REAL, 0 },
		[PER_NODE] = { "max_instance_per_node", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[CREATED] = { "creation_time", FIT_TIME, 0 },
		[SCHEDULED] = { "scheduled_time", FIT_TIME, 0 },
		[DELETED] = { "deletion_time", FIT_TIME, 0 },
		/* known, and without a place in the jobs table */
		[CPU_LIMIT] = { "cpu_limit", FIT_TEXT, FIT_F_OPTIONAL },
		[GPU_LIMIT] = { "gpu_limit", FIT_TEXT, FIT_F_OPTIONAL },
		[RDMA] = { "rdma_request", FIT_TEXT, FIT_F_OPTIONAL },
		[RDMA_LIMIT] = { "rdma_limit", FIT_TEXT, FIT_F_OPTIONAL },
		[MEM_LIMIT] = { "memory_limit", FIT_TEXT, FIT_F_OPTIONAL },
		[DISK] = { "disk_request", FIT_TEXT, FIT_F_OPTIONAL },
		[DISK_LIMIT] = { "disk_limit", FIT_TEXT, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N_2025, .convert = convert_2025 };

	return fit_trace_read_rows(s, out, &how, err);
}

/* ---- v2026 GenAI: requests for pictures ---- */

enum { GMT, TYPE, REQUEST_STATUS, SECONDS, GROUP_ID, IMAGES, STEPS, CHECKPOINT, PROMPT, NEGATIVE, LORA,
       N_LORA };

static int convert_lora(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, GROUP, NAME, APP, SUBMIT, DURATION, GPUS, BATCH, STATUS, WORK };
	static const struct fit_status_word words[] = {
		{ "SUCCEED", "OK" }, { "FAILED", "FAILED" }, { "PENDING", "PENDING" },
		{ "PROCESSING", "RUNNING" }, { NULL, NULL }
	};
	const struct fit_cell *in = r->in;
	int rc = fit_row_at_least(r, SECONDS, SECONDS, 0, err);

	if (!rc)
		rc = fit_row_at_least(r, IMAGES, STEPS, 0, err);
	if (!rc) {
		r->reason = "bad value";
		rc = fit_trace_csv_time(r->csv, r->out, "gmt_create", &in[GMT], FIT_INT_NA, &row[SUBMIT],
					err);
	}
	if (rc)
		return rc;
	row[JOB_ID] = fit_cell_na();
	row[GROUP] = in[GROUP_ID];
	row[NAME] = in[TYPE];
	row[APP] = in[CHECKPOINT];
	row[GPUS].u.d = 1;
	row[BATCH] = in[IMAGES];
	row[STATUS] = fit_row_status(r, &in[REQUEST_STATUS], words);
	row[WORK] = in[STEPS];
	/* of a request that is under way or waits, the time so far is not how long it takes */
	row[DURATION] = fit_text_is(row[STATUS].u.t, "RUNNING") ||
		fit_text_is(row[STATUS].u.t, "PENDING") ? fit_cell_na() : in[SECONDS];
	return FIT_OK;
}

int fit_trace_read_lora(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_LORA] = {
		[GMT] = { "gmt_create", FIT_TEXT, FIT_F_NOT_NA },
		[TYPE] = { "predict_type", FIT_TEXT, FIT_F_OPTIONAL },
		[REQUEST_STATUS] = { "predict_status", FIT_TEXT, 0 },
		[SECONDS] = { "exec_time_seconds", FIT_TIME, FIT_CSV_F_ROUND },
		[GROUP_ID] = { "groupId", FIT_TEXT, FIT_F_OPTIONAL },
		[IMAGES] = { "num_images_per_prompt", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[STEPS] = { "num_inference_steps", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[CHECKPOINT] = { "checkpoint_model_version_id", FIT_TEXT, FIT_F_OPTIONAL },
		[PROMPT] = { "prompt_length", FIT_TEXT, FIT_F_OPTIONAL },
		[NEGATIVE] = { "negative_prompt_length", FIT_TEXT, FIT_F_OPTIONAL },
		[LORA] = { "num_lora", FIT_TEXT, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N_LORA, .convert = convert_lora };

	return fit_trace_read_rows(s, out, &how, err);
}

/* ---- v2026 spot GPUs ---- */

enum { JOB_NAME, ORGANIZATION, GPU_MODEL, CPU_REQUEST, GPU_REQUEST, WORKERS, SUBMIT_TIME, SPOT_DURATION,
       JOB_TYPE, N_SPOT };

static int convert_spot(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	enum { JOB_ID, GROUP, SUBMIT, DURATION, GPUS, GPU_TYPE, CPUS, JOB_CLASS };
	static const char *const types[] = { "HP", "Spot", NULL };
	const struct fit_cell *in = r->in;
	double workers = (double)in[WORKERS].u.i;
	int type, rc = fit_row_at_least(r, CPU_REQUEST, GPU_REQUEST, 0, err);

	if (!rc)
		rc = fit_row_at_least(r, WORKERS, WORKERS, 1, err);
	if (!rc)
		rc = fit_row_at_least(r, SUBMIT_TIME, SPOT_DURATION, 0, err);
	if (!rc)
		rc = fit_row_word(r, JOB_TYPE, types, &type, err);
	if (!rc)
		rc = fit_row_times(r, GPU_REQUEST, workers, &row[GPUS], err);
	if (!rc)
		rc = fit_row_times(r, CPU_REQUEST, workers, &row[CPUS], err);
	if (rc)
		return rc;
	row[JOB_ID] = in[JOB_NAME];
	row[GROUP] = in[ORGANIZATION];
	row[SUBMIT] = in[SUBMIT_TIME];
	row[DURATION] = in[SPOT_DURATION];
	row[GPU_TYPE] = in[GPU_MODEL];
	row[JOB_CLASS] = in[JOB_TYPE];
	return FIT_OK;
}

int fit_trace_read_spot(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_SPOT] = {
		[JOB_NAME] = { "job_name", FIT_TEXT, FIT_F_NOT_NA },
		[ORGANIZATION] = { "organization", FIT_TEXT, FIT_F_OPTIONAL },
		[GPU_MODEL] = { "gpu_model", FIT_TEXT, 0 },
		[CPU_REQUEST] = { "cpu_request", FIT_REAL, FIT_F_OPTIONAL },
		[GPU_REQUEST] = { "gpu_request", FIT_REAL, FIT_F_NOT_NA },
		[WORKERS] = { "worker_num", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[SUBMIT_TIME] = { "submit_time", FIT_TIME, FIT_F_NOT_NA | FIT_CSV_F_ROUND },
		[SPOT_DURATION] = { "duration", FIT_TIME, FIT_CSV_F_ROUND },
		[JOB_TYPE] = { "job_type", FIT_TEXT, FIT_F_OPTIONAL }
	};
	const struct fit_trace_rows how = { .fields = fields, .n_fields = N_SPOT, .convert = convert_spot };

	return fit_trace_read_rows(s, out, &how, err);
}

enum { NODE_MODEL, NODE_GPUS, NODE_CPUS, NODE_NAME, N_NODE };

static int convert_node(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct fit_node_kinds *kinds = r->ctx;
	const struct fit_cell *in = r->in;
	int rc = fit_row_at_least(r, NODE_GPUS, NODE_CPUS, 0, err);

	(void)row;
	if (rc)
		return rc;
	r->reason = "duplicate id";
	rc = fit_node_kinds_name(kinds, r->csv, "node_name", in[NODE_NAME].u.t, err);
	if (!rc && fit_node_kinds_add(kinds, in[NODE_MODEL].u.t, in[NODE_GPUS].u.i,
				      in[NODE_CPUS].na ? -1 : in[NODE_CPUS].u.d, -1,
				      fit_csv_line(r->csv)))
		rc = fit_fail_nomem(err);
	return rc;
}

int fit_trace_read_spot_nodes(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_NODE] = {
		[NODE_MODEL] = { "gpu_model", FIT_TEXT, 0 },
		[NODE_GPUS] = { "gpu_capacity_num", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[NODE_CPUS] = { "cpu_num", FIT_REAL, FIT_F_OPTIONAL },
		[NODE_NAME] = { "node_name", FIT_TEXT, FIT_F_NOT_NA }
	};

	return fit_node_kinds_read(s, out, fields, N_NODE, convert_node, err);
}
