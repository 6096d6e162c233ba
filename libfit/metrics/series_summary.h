/* SPDX-License-Identifier: MIT */
/*
 * Utilisation series summed up: per job (joined on host, GPU and time), per GPU, or over all.
 *
 * The series is read once. What is kept of a sample is counted: mean and deviation in doubles, and for
 * percentiles how often each value occurred, in steps of 0.01 percentage points (whole percentages,
 * as NVML gives them, are exact). That is at most 10001 counters for each of two utilisations, and few
 * in practice; a job's are dropped once it is over, so memory is that of the jobs table plus the
 * counters of the jobs that run at one time. For that the series must be in order of time, within
 * slack_ns. Per GPU and over all, order does not matter.
 *
 * Statistics of nothing are missing. A sample without utilisation is not a sample of 0.
 */
#ifndef FIT_METRICS_SERIES_SUMMARY_H
#define FIT_METRICS_SERIES_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

enum fit_series_by { FIT_SERIES_BY_JOB, FIT_SERIES_BY_GPU, FIT_SERIES_BY_ALL };

struct fit_series_summary_params {
	enum fit_series_by by;
	int64_t slack_ns;	/* so much may a sample be older than the newest one */
	int64_t period_ns;	/* between samples of a GPU; 0: their median gap (three digits) */
	double steady_pct;	/* gpu_util_steady: share of samples within so much of the median */
	double idle_pct;	/* idle: no sample above */
	/* By job: the ns to add to the times of the series, given the origins of both (NULL: none).
	 * NULL: nothing is added. */
	int (*align)(void *ctx, const char *jobs_origin, const char *series_origin, int64_t *offset_ns,
		     struct fit_err *err);
	void *align_ctx;
};
struct fit_series_summary_params fit_series_summary_default(void);	/* by GPU, 60 s, 0, 10, 1 */

struct fit_series_summary_report {
	uint64_t samples, without_time;
	uint64_t no_job;		/* samples in no job */
	uint64_t outside;		/* utilisations outside 0 to 100: left out */
	uint64_t jobs, jobs_without_samples, jobs_not_started;
	int64_t period_ns;		/* as used; 0: unknown */
	char hash[FIT_HASH_HEX];	/* of the series */
};

/*
 * Sum up the next table of a series reader (columns time_s, host, gpu, gpu_util_pct, mem_util_pct,
 * fb_used_mib, power_w, gpu_instance; all but time_s may be absent) into out, which is initialised here.
 * jobs: a table of all columns, as docs/formats/jobs.md says, with hosts, or host and gpu_ids; needed
 * by job, else NULL. FIT_ENOTFOUND: a column is missing; FIT_EDATA: a bad list of hosts, a sample out
 * of order; what align() says.
 */
int fit_series_summarise(struct fit_reader *series, const struct fit_table *jobs,
			 const struct fit_series_summary_params *params, struct fit_table *out,
			 struct fit_series_summary_report *report, struct fit_err *err) FIT_MUST_CHECK;

/* The columns of jobs that are read; the table is to be read with them. */
extern const struct fit_field fit_series_job_fields[];
extern const size_t fit_series_n_job_fields;

FIT_C_END

#endif
