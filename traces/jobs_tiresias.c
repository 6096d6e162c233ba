/* SPDX-License-Identifier: MIT */
/* Job lists and cluster files of the Tiresias simulator (docs/formats/tiresias.md). */
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs_rows.h"

enum { ID, MODEL, SUBMIT, START, DURATION, GPUS, ITERATIONS, INTERVAL, SIZE, AGGREGATE, SCALE, N };
#define N_OUT 7		/* the first of them are the output, in its order */

/* The models that the simulator has sizes for; it takes any other for inception3 and says nothing. */
static bool is_known_model(struct fit_text t)
{
	static const char *const known[] = {
		"vgg19", "vgg16", "vgg11", "alexnet", "resnet152", "resnet101", "resnet50",
		"inception4", "inception3"
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (fit_text_is(t, known[i]))
			return true;
	return false;
}

/* Models that the simulator does not know, and the first of them. */
struct unknown {
	struct fit_str first;
	uint64_t n;
};

static int convert(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	const struct fit_cell *in = r->in;
	struct unknown *u = r->ctx;
	int rc = fit_row_at_least(r, SUBMIT, SUBMIT, 0, err);

	if (!rc)
		rc = fit_row_at_least(r, DURATION, GPUS, 0, err);
	if (rc)
		return rc;
	memcpy(row, in, N_OUT * sizeof *row);
	r->reason = "duplicate id";
	if (!in[MODEL].na && !is_known_model(in[MODEL].u.t) && !u->n++ &&
	    fit_str_add(&u->first, in[MODEL].u.t.s, in[MODEL].u.t.n))
		return fit_fail_nomem(err);
	return FIT_OK;
}

int fit_trace_read_tiresias(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N] = {
		[ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
		[MODEL] = { "model_name", FIT_TEXT, FIT_F_OPTIONAL },
		[SUBMIT] = { "submit_time", FIT_TIME, FIT_F_NOT_NA },
		[START] = { "start_time", FIT_TIME, FIT_F_OPTIONAL },
		[DURATION] = { "duration", FIT_TIME, FIT_F_NOT_NA },
		[GPUS] = { "num_gpu", FIT_REAL, FIT_F_NOT_NA },
		[ITERATIONS] = { "iterations", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		/* known, and without a place in the jobs table */
		[INTERVAL] = { "interval", FIT_TEXT, FIT_F_OPTIONAL },
		[SIZE] = { "model_size", FIT_TEXT, FIT_F_OPTIONAL },
		[AGGREGATE] = { "aggr_interval", FIT_TEXT, FIT_F_OPTIONAL },
		[SCALE] = { "model_scale", FIT_TEXT, FIT_F_OPTIONAL }
	};
	static const struct fit_csv_options options = { .flags = FIT_CSV_DETECT };
	struct unknown u = { .n = 0 };
	const struct fit_trace_rows how = {
		.options = &options, .fields = fields, .n_fields = N, .convert = convert, .ctx = &u
	};
	int rc = fit_trace_read_rows(s, out, &how, err);

	if (!rc && u.n &&
	    fit_trace_note(out, "%llu job%s with a model that the Tiresias simulator takes for "
			   "inception3, such as '%.100s'", (unsigned long long)u.n, u.n == 1 ? "" : "s", u.first.s))
		rc = fit_fail_nomem(err);
	fit_str_release(&u.first);
	return rc;
}

int fit_trace_read_tiresias_cluster(struct fit_source *s, struct fit_trace_out *out,
				    struct fit_err *err)
{
	enum { SWITCHES, NODES, NODE_GPUS, CPUS, MEM, N_SPEC };
	static const struct fit_field fields[N_SPEC] = {
		[SWITCHES] = { "num_switch", FIT_INT, FIT_F_NOT_NA },
		[NODES] = { "num_node_p_switch", FIT_INT, FIT_F_NOT_NA },
		[NODE_GPUS] = { "num_gpu_p_node", FIT_INT, FIT_F_NOT_NA },
		[CPUS] = { "num_cpu_p_node", FIT_INT, FIT_F_NOT_NA },
		[MEM] = { "mem_p_node", FIT_REAL, FIT_F_NOT_NA }
	};
	static const struct fit_csv_options options = { .flags = FIT_CSV_DETECT };
	struct fit_csv *c = NULL;
	struct fit_cell in[N_SPEC], row[6];
	uint64_t n = 0;
	int rc = fit_csv_open(&c, s, &options, err);

	if (!rc)
		rc = fit_csv_bind(c, fields, N_SPEC, err);
	if (!rc && fit_trace_note_unbound(c, out))
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_trace_csv_row(c, out, in, err))) {
		if (n++) {
			rc = fit_csv_fail(c, FIT_EDATA, NULL, err, "more than one cluster (expected one row)");
			break;
		}
		for (int i = 0; !rc && i < N_SPEC; i++)
			rc = fit_trace_at_least(c, &fields[i], &in[i], i <= NODE_GPUS, err);
		for (int i = SWITCHES; !rc && i <= NODES; i++)
			if (in[i].u.i > 1000000)
				rc = fit_csv_fail(c, FIT_EDATA, fields[i].name, err,
						  "out of range '%lld' (expected at most 1000000)",
						  (long long)in[i].u.i);
		row[0] = (struct fit_cell){ .u.t = FIT_TEXT_LIT("node") };
		row[1] = (struct fit_cell){ .u.i = rc ? 0 : in[SWITCHES].u.i * in[NODES].u.i };
		row[2] = in[NODE_GPUS];
		row[3] = in[CPUS];
		row[4] = in[MEM];
		row[5] = in[SWITCHES];
		if (!rc)
			rc = fit_trace_emit(out, row, fit_csv_line(c), err);
	}
	if (rc == FIT_END && n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no cluster (expected one row)", fit_source_name(s));
	fit_csv_close(c);
	return rc == FIT_END ? FIT_OK : rc;
}
