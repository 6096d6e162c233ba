/* SPDX-License-Identifier: MIT */
/*
 * From records of sacct to jobs. With sacct -D a job that was requeued has a record for each attempt,
 * and files put together from several runs of sacct hold the same attempt more than once. Records of
 * one job are joined by cluster and id, in whatever order they come.
 *
 * Collecting, all records are kept to the end (about 200 bytes each) and jobs come out by submission.
 * Else records of a job must follow one another, and memory is constant.
 */
#ifndef TRACES_SACCT_JOBS_H
#define TRACES_SACCT_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/base/id_set.h"
#include "traces/jobs.h"
#include "traces/jobs_rows.h"
#include "traces/sacct_values.h"
#include "traces/texts.h"

/* The columns of the table, in order. */
enum {
	FIT_SACCT_JOB_ID, FIT_SACCT_USER, FIT_SACCT_GROUP, FIT_SACCT_NAME, FIT_SACCT_SUBMIT,
	FIT_SACCT_START, FIT_SACCT_END, FIT_SACCT_DURATION, FIT_SACCT_GPUS, FIT_SACCT_GPU_TYPE,
	FIT_SACCT_STATUS, FIT_SACCT_PRIORITY, FIT_SACCT_ATTEMPTS, FIT_SACCT_CPUS, FIT_SACCT_MEM_MIB,
	FIT_SACCT_TIMELIMIT, FIT_SACCT_PARTITION, FIT_SACCT_QOS, FIT_SACCT_NODES, FIT_SACCT_GPUS_REQ,
	FIT_SACCT_GPUS_ALLOC, FIT_SACCT_GPU_TYPES, FIT_SACCT_CPU_TIME, FIT_SACCT_ELAPSED,
	FIT_SACCT_RAW_STATUS, FIT_SACCT_N
};

#define FIT_SACCT_NO_LIMIT INT64_MAX

/* One record: an attempt of a job. Times in ns, FIT_INT_NA where missing. */
struct fit_sacct_record {
	int64_t submit, start, end, elapsed, cpu_time;
	int64_t limit;			/* FIT_SACCT_NO_LIMIT, FIT_INT_NA */
	int64_t priority, cpus, nodes;	/* FIT_INT_NA */
	uint64_t line;
	size_t id_at, name_at;		/* in the bytes of the store */
	uint32_t id_n, name_n;		/* name_n 0: none */
	uint32_t cluster, user, account, partition, qos;	/* numbers of texts */
	uint32_t req, alloc;		/* numbers of TRES lists */
	uint32_t next;			/* another record of the same job */
	const struct fit_slurm_state *state;
	bool alloc_known;		/* the trace says what was allocated, be it nothing */
	bool later;			/* not the first one of its job */
};

struct fit_sacct_tres {
	struct fit_slurm_tres r;
	uint32_t types, set;		/* "a100:2 v100:1", "a100|v100", as numbers of texts */
};

struct fit_sacct_jobs {
	struct fit_trace_out *out;
	bool collect;
	const char *input, *id_column;	/* "JobID"; for messages */
	struct fit_texts texts;
	struct fit_texts tres_texts;	/* number i is that of tres[i] */
	struct fit_sacct_tres *tres;
	size_t tres_cap;
	uint32_t last_tres;		/* the number that was given last */
	struct fit_sacct_record *records;
	size_t n, cap;
	char *bytes;			/* ids and names */
	size_t bytes_n, bytes_cap;
	/* collecting: heads by id, plus 1, where ids count upwards in one cluster; else by cluster and id */
	struct fit_id_runs runs;
	uint32_t runs_cluster;
	uint64_t *slots;		/* 0: free */
	size_t n_slots, n_slotted, n_heads;
	uint32_t cluster;		/* the first one */
	bool clusters;			/* there are several */
	struct fit_tally tally;
	uint64_t mismatches, suspended, requeued, earlier;
	struct fit_str first_mismatch;
};

int fit_sacct_jobs_init(struct fit_sacct_jobs *j, struct fit_trace_out *out, bool collect,
			const char *input, const char *id_column, struct fit_err *err) FIT_MUST_CHECK;
void fit_sacct_jobs_release(struct fit_sacct_jobs *j);

/* A TRES or GRES list (per_node: times so many nodes; 0: it is for the whole job), parsed once. bad is
 * the part at fault. FIT_EPARSE, FIT_EINVAL, FIT_ENOMEM. */
int fit_sacct_tres_put(struct fit_sacct_jobs *j, struct fit_text t, bool gres, int64_t per_node,
		       uint32_t *number, struct fit_text *bad) FIT_MUST_CHECK;

/* Before the texts of a record are put: keeps their memory within bounds while rows stream through. */
int fit_sacct_jobs_trim(struct fit_sacct_jobs *j) FIT_MUST_CHECK;
/* Take a record in; id and name are copied, id_at and name_at set here. May emit the jobs before. */
int fit_sacct_jobs_add(struct fit_sacct_jobs *j, struct fit_sacct_record *r, struct fit_text id,
		       struct fit_text name, struct fit_err *err) FIT_MUST_CHECK;
/* Emit what is left, and the notes. */
int fit_sacct_jobs_end(struct fit_sacct_jobs *j, struct fit_err *err) FIT_MUST_CHECK;

#endif
