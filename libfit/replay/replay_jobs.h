/* SPDX-License-Identifier: MIT */
/*
 * The jobs of a replay: read from a jobs table (docs/formats/jobs.md), checked, and put in order.
 *
 * The index of a job is its place in that order: by (submit time, id with numbers compared as
 * numbers), or by row where a fidelity profile says so. Policies break ties by it.
 */
#ifndef FIT_REPLAY_REPLAY_JOBS_H
#define FIT_REPLAY_REPLAY_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/job_kind.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/model/colocation.h"
#include "libfit/model/plan_times.h"
#include "libfit/model/profile_set.h"
#include "libfit/model/step_rates.h"
#include "libfit/replay/job_class.h"
#include "libfit/replay/partition.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_NO_PREDICTION INT64_MIN

struct fit_job {
	const char *id;			/* owned by the struct fit_jobs */
	const char *app_name;		/* "" when missing */
	int64_t submit_ns;
	int64_t gpus;			/* asked for, at least 1 */
	int64_t duration_ns;		/* execution; -1 when a profile or speedups decide */
	int64_t batch_size;		/* total; 0 when missing */
	enum fit_job_kind kind;		/* what a policy may change */
	int64_t predicted_ns;		/* prediction of duration_ns, which may be below 0; FIT_NO_PREDICTION */
	struct fit_app *app;		/* NULL without a profile; with types that of gpu_type, or of the first */
	struct fit_app *const *apps;	/* by GPU type of the cluster; NULL where it was not measured, so that it
					 * does not run there. NULL without types */
	const struct fit_job_class *job_class;	/* NULL without speedups */
	const struct fit_plan_app *plans;	/* NULL without times of execution plans; then with these: */
	int64_t iterations;		/* to do */
	uint16_t exec_plan;		/* asked for; FIT_NO_EXEC_PLAN */
	bool is_sla;			/* is guaranteed the speed of what it asks for */
	double steps, weight;		/* with rates: all that it does; its priority */
	const double *rates;		/* [2 * type + spread], steps a second, 0: cannot run; NULL without rates */
	uint64_t line;			/* of the input, for messages */
	uint32_t config;		/* of struct fit_colocation; FIT_NO_INDEX without one */
	uint16_t partition;		/* of the cluster; 0 without virtual clusters */
	int16_t gpu_type;		/* of the cluster, asked for; FIT_ANY_TYPE */
	uint32_t local;			/* its place among the jobs of its partition */
	bool too_large;			/* asks for more GPUs (of a type) than its partition has for it */
};

/* May it run on that type of the cluster, by what was measured? */
static inline bool fit_job_runs_on(const struct fit_job *j, int32_t type)
{
	return !j->apps || j->apps[type];
}

struct fit_job_stream;
struct fit_jobs {
	struct fit_job_stream *stream;	/* NULL: all are read. Else n is 0, and see job_stream.h */
	struct fit_job *jobs;
	size_t n, cap;
	struct fit_app **apps;		/* of all jobs */
	char *bytes;			/* all texts */
	size_t bytes_n, bytes_cap;
	char hash[FIT_HASH_HEX];	/* content hash of the input */
	char input[256];
	double *rates;			/* of all jobs */
	size_t rates_n, rates_cap;
	uint64_t n_streamed;		/* of a stream: jobs so far */
	size_t n_cpu_jobs;		/* rows that ask for no GPU: left out */
	size_t n_bad;			/* rows left out by skip_bad */
	size_t n_too_large;
	uint64_t bad_line;		/* the first of them, and what was wrong */
	char bad_why[256];
};

struct fit_jobs_params {
	const struct fit_profile_set *profiles;	/* NULL or empty: durations come from the table, */
	const struct fit_job_classes *classes;	/* unless this is there */
	const struct fit_plan_times *plan_times;	/* or this */
	int64_t node_gpus;		/* plan_times: of a full node */
	bool any_plan_time;		/* plan_times: see there */
	const struct fit_step_rates *rates;	/* or this: steps a second by GPU type */
	bool any_size;			/* what a job asks for does not count */
	bool adaptive;			/* nor, of batch sizes and GPUs by type, does what was measured */
	bool file_order;
	const struct fit_colocation *colocation;	/* NULL: nobody shares a GPU */
	bool predicted;				/* each job needs a prediction */
	const char *molds;			/* rigid jobs are refused: this policy gives each job the number of GPUs
						 * that it thinks best; NULL: they are not */
	const char *blind;			/* with several types: jobs that ask for one, or were not measured on
						 * all of them, are refused: this policy takes no notice of types; NULL:
						 * they are not */
	const struct fit_partitions *partitions;
	bool keep_too_large;		/* false: a job larger than the cluster is an error */
	int64_t skip_bad;		/* bad rows to leave out before giving up */
};

/* Read and check. FIT_EDATA names the line (or, for jobs that do not fit, all of them). */
int fit_jobs_read(struct fit_jobs *js, const char *operand, const struct fit_jobs_params *p,
		  struct fit_err *err) FIT_MUST_CHECK;
void fit_jobs_release(struct fit_jobs *js);

FIT_C_END

#endif
