/* SPDX-License-Identifier: MIT */
/*
 * Job logs of the Helios clusters (cluster_log.csv) and of the Acme clusters (trace_seren.csv,
 * trace_kalos.csv), which share most of their columns (docs/formats/helios.md, acme.md).
 */
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"

/* The columns of the files; those without a place in the jobs table come last. */
enum {
	ID, USER, VC, KIND, SUBMIT, START, END, DURATION, QUEUE, GPUS, STATE, CPUS, NODES, GPU_TIME,
	POD_MEM, POD_SHARED, FAIL_TIME, STOP_TIME, N_IN
};
/* The columns of the output, in the order of jobs_formats.c; group is the virtual cluster, app the
 * kind of work. */
enum {
	O_JOB, O_USER, O_NAMED, O_SUBMIT, O_START, O_END, O_DURATION, O_GPUS, O_STATUS, O_CPUS, O_NODES,
	N_OUT
};

struct family {
	bool acme;
	struct fit_field fields[N_IN];
};

#define OPTIONAL_TEXT(name) { name, FIT_TEXT, FIT_F_OPTIONAL }
#define COMMON \
	[ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA }, [USER] = OPTIONAL_TEXT("user"), \
	[SUBMIT] = { "submit_time", FIT_TEXT, 0 }, [START] = { "start_time", FIT_TEXT, 0 }, \
	[END] = { "end_time", FIT_TEXT, 0 }, \
	[DURATION] = { "duration", FIT_TIME, FIT_F_OPTIONAL | FIT_CSV_F_ROUND }, \
	[QUEUE] = { "queue", FIT_TIME, FIT_F_OPTIONAL | FIT_CSV_F_ROUND }, \
	[GPUS] = { "gpu_num", FIT_REAL, 0 }, [STATE] = { "state", FIT_TEXT, 0 }, \
	[CPUS] = { "cpu_num", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE }, \
	[NODES] = { "node_num", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE }, \
	[GPU_TIME] = OPTIONAL_TEXT("gpu_time"), [POD_MEM] = OPTIONAL_TEXT("mem_per_pod_GB"), \
	[POD_SHARED] = OPTIONAL_TEXT("shared_mem_per_pod"), [FAIL_TIME] = OPTIONAL_TEXT("fail_time"), \
	[STOP_TIME] = OPTIONAL_TEXT("stop_time")

static const struct family helios = {
	false, { COMMON, [VC] = { "vc", FIT_TEXT, 0 }, [KIND] = OPTIONAL_TEXT("type") }
};
static const struct family acme = {
	true, { COMMON, [VC] = OPTIONAL_TEXT("vc"), [KIND] = { "type", FIT_TEXT, 0 } }
};

/* The states of Slurm, from which both take theirs. */
static int take_state(const struct fit_csv *c, const struct fit_cell *state, struct fit_cell *status,
		      struct fit_err *err)
{
	static const struct { const char *state; struct fit_text status; } known[] = {
		{ "COMPLETED", { "OK", 2 } }, { "FAILED", { "FAILED", 6 } },
		{ "CANCELLED", { "CANCELLED", 9 } }, { "TIMEOUT", { "TIMEOUT", 7 } },
		{ "NODE_FAIL", { "NODE_FAIL", 9 } }, { "RUNNING", { "RUNNING", 7 } },
		{ "PENDING", { "PENDING", 7 } }, { "SUSPENDED", { "UNKNOWN", 7 } },
		{ "OUT_OF_MEMORY", { "FAILED", 6 } }, { "PREEMPTED", { "FAILED", 6 } },
		{ "BOOT_FAIL", { "FAILED", 6 } }, { "DEADLINE", { "FAILED", 6 } }
	};
	struct fit_text word = state->u.t;

	*status = (struct fit_cell){ .u.t = FIT_TEXT_LIT("UNKNOWN") };
	if (state->na)
		return FIT_OK;
	for (size_t i = 0; i < word.n; i++)	/* "CANCELLED by 1234" */
		if (word.s[i] == ' ')
			word.n = i;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (fit_text_is(word, known[i].state)) {
			status->u.t = known[i].status;
			return FIT_OK;
		}
	return fit_csv_fail(c, FIT_EDATA, "state", err, "bad value '%.*s' (expected a state of Slurm such as "
			    "COMPLETED)", FIT_TEXT_ARG(state->u.t));
}

static bool is_near(int64_t a, int64_t b)
{
	return a - b <= FIT_NS_PER_S && b - a <= FIT_NS_PER_S;
}

/* What the file says about durations, against its times, which are preferred. */
static void compare_durations(struct fit_trace_out *out, const struct fit_csv *c, const struct fit_cell *in,
			      const struct fit_cell *row, uint64_t *with_queue)
{
	char said[FIT_NUM_MAX], found[FIT_NUM_MAX];
	uint64_t line = fit_csv_line(c);

	if (!in[DURATION].na && !row[O_START].na && !row[O_END].na) {
		int64_t d = row[O_END].u.i - row[O_START].u.i;

		if (is_near(in[DURATION].u.i, d)) {
			;
		} else if (!row[O_SUBMIT].na &&
			   is_near(in[DURATION].u.i, row[O_END].u.i - row[O_SUBMIT].u.i)) {
			++*with_queue;
		} else {
			fit_format_time(said, in[DURATION].u.i);
			fit_format_time(found, d);
			fit_trace_repaired(out, line, "duration", "duration against the times",
					   "%s, but the times say %s", said, found);
		}
	}
	if (!in[QUEUE].na && !row[O_SUBMIT].na && !row[O_START].na) {
		int64_t q = row[O_START].u.i - row[O_SUBMIT].u.i;

		if (!is_near(in[QUEUE].u.i, q)) {
			fit_format_time(said, in[QUEUE].u.i);
			fit_format_time(found, q);
			fit_trace_repaired(out, line, "queue", "queue against the times",
					   "%s, but the times say %s", said, found);
		}
	}
}

static int take_times(struct fit_trace_out *out, const struct fit_csv *c, const struct fit_cell *in,
		      struct fit_cell *row, struct fit_err *err)
{
	int64_t after = FIT_INT_NA;
	int rc = fit_trace_csv_time(c, out, "submit_time", &in[SUBMIT], after, &row[O_SUBMIT], err);

	if (!rc && !row[O_SUBMIT].na)
		after = row[O_SUBMIT].u.i;
	rc = rc ? rc : fit_trace_csv_time(c, out, "start_time", &in[START], after, &row[O_START], err);
	if (!rc && !row[O_START].na)
		after = row[O_START].u.i;
	return rc ? rc : fit_trace_csv_time(c, out, "end_time", &in[END], after, &row[O_END], err);
}

static int convert(struct fit_trace_out *out, const struct fit_csv *c, const struct family *f,
		   const struct fit_cell *in, struct fit_cell *row, uint64_t *with_queue,
		   const char **reason, struct fit_err *err)
{
	static const int counts[] = { GPUS, CPUS, NODES };
	int rc = FIT_OK;

	*reason = "out of range";
	for (size_t i = 0; !rc && i < sizeof counts / sizeof *counts; i++)
		rc = fit_trace_at_least(c, &f->fields[counts[i]], &in[counts[i]], 0, err);
	if (rc)
		return rc;
	*reason = "bad value";
	row[O_JOB] = in[ID];
	row[O_USER] = in[USER];
	row[O_NAMED] = f->acme ? in[KIND] : in[VC];
	row[O_DURATION] = (struct fit_cell){ .na = true };
	row[O_GPUS] = in[GPUS];
	row[O_CPUS] = in[CPUS];
	row[O_NODES] = in[NODES];
	rc = take_state(c, &in[STATE], &row[O_STATUS], err);
	rc = rc ? rc : take_times(out, c, in, row, err);
	if (rc)
		return rc;
	/* censored: what the file gives as end or duration is the time of the snapshot */
	if (fit_text_is(row[O_STATUS].u.t, "RUNNING") || fit_text_is(row[O_STATUS].u.t, "PENDING")) {
		row[O_END] = (struct fit_cell){ .na = true };
		if (fit_text_is(row[O_STATUS].u.t, "PENDING"))
			row[O_START] = row[O_END];
		return fit_trace_check_times(out, fit_csv_line(c), &row[O_SUBMIT], &row[O_START],
					     &row[O_END], NULL, err);
	}
	compare_durations(out, c, in, row, with_queue);
	return fit_trace_check_times(out, fit_csv_line(c), &row[O_SUBMIT], &row[O_START], &row[O_END],
				     &row[O_DURATION], err);
}

static int read_family(struct fit_source *s, struct fit_trace_out *out, const struct family *f,
		       struct fit_err *err)
{
	static const struct fit_csv_options options = { .missing = fit_trace_missing };
	struct fit_csv *c = NULL;
	struct fit_cell in[N_IN], row[N_OUT];
	uint64_t with_queue = 0;
	int rc = fit_csv_open(&c, s, &options, err);

	rc = rc ? rc : fit_csv_bind(c, f->fields, N_IN, err);
	if (!rc && fit_trace_note_unbound(c, out))
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_trace_csv_row(c, out, in, err))) {
		const char *reason;

		rc = convert(out, c, f, in, row, &with_queue, &reason, err);
		rc = rc ? rc : fit_trace_emit(out, row, fit_csv_line(c), err);
		if (rc)
			rc = fit_trace_bad(out, rc, reason, err);
	}
	if (rc == FIT_END && with_queue &&
	    fit_trace_note(out, "the duration of %llu job%s counts the time in the queue (taken from start and "
			   "end instead)", (unsigned long long)with_queue, with_queue == 1 ? "" : "s"))
		rc = fit_fail_nomem(err);
	fit_csv_close(c);
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_trace_read_helios(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	return read_family(s, out, &helios, err);
}

int fit_trace_read_acme(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	return read_family(s, out, &acme, err);
}
