/* SPDX-License-Identifier: MIT */
/*
 * What a jobs table (docs/formats/jobs.md) is like: sizes, durations, arrivals, statuses, GPU-hours,
 * offered load. One pass; what is kept is eight bytes a job for each of submission, duration and
 * queueing that is there (percentiles are exact), eight more for each grouping, and the names of
 * users, groups and applications. Sums are exact: time in ns, GPUs in millionths, products in 128 bits.
 *
 * A missing value is counted and left out of what needs it, never taken for 0. The estimators, with
 * their sources: docs/methods/trace-statistics.md.
 */
#ifndef FIT_METRICS_TRACE_STATS_H
#define FIT_METRICS_TRACE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* ---- rows of a jobs table ---- */

enum fit_job_word {
	FIT_WORD_OK, FIT_WORD_FAILED, FIT_WORD_CANCELLED, FIT_WORD_TIMEOUT, FIT_WORD_NODE_FAIL,
	FIT_WORD_RUNNING, FIT_WORD_PENDING, FIT_WORD_UNKNOWN,
	FIT_WORD_MISSING,	/* NA, or no column */
	FIT_N_WORDS
};

struct fit_job_row {
	struct fit_text id, user, group, app;	/* s NULL: missing; borrowed until the next row */
	int64_t submit_ns, start_ns, end_ns, duration_ns;	/* FIT_INT_NA: missing */
	bool derived;			/* duration_ns is end - start, as there was no duration_s */
	double gpus;			/* fit_real_na(): missing */
	int64_t ugpus;			/* millionths; FIT_INT_NA: missing */
	enum fit_job_word status;
};

#define FIT_JOBS_BY_MAX 8

/* A reader of jobs tables. by[0..n_by): further columns wanted as text, which may be any. */
struct fit_jobs_reader {
	struct fit_reader *r;
	struct fit_field fields[10 + FIT_JOBS_BY_MAX];
	size_t n_fields, n_by;
	size_t by_at[FIT_JOBS_BY_MAX];	/* which cell each by is */
	struct fit_cell cells[10 + FIT_JOBS_BY_MAX];
	char scratch[FIT_JOBS_BY_MAX][40];
	int64_t day_offset_ns;		/* time of day at time 0, from the metadata key origin; else 0 */
};

/* Bind the next table of r. gpus must be there, and each by; the others may be absent. Errors as
 * fit_reader_begin(). FIT_EINVAL: n_by above FIT_JOBS_BY_MAX. */
int fit_jobs_begin(struct fit_jobs_reader *jr, struct fit_reader *r, const char *const *by, size_t n_by,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The next job; by (room for n_by) receives the further columns, s NULL where missing. FIT_END;
 * FIT_EDATA with FILE:LINE:FIELD: a negative duration or number of GPUs, an unknown status. */
int fit_jobs_next(struct fit_jobs_reader *jr, struct fit_job_row *job, struct fit_text *by,
		  struct fit_err *err) FIT_MUST_CHECK;

/* ---- statistics ---- */

struct fit_trace_stats;

struct fit_trace_stats_params {
	int64_t capacity_ugpus;		/* of the cluster; 0: not known, no load */
	const char *const *by;		/* columns to group by; borrowed */
	size_t n_by;
	int64_t day_offset_ns;		/* fit_jobs_reader.day_offset_ns */
};

/* NULL: out of memory. */
struct fit_trace_stats *fit_trace_stats_new(const struct fit_trace_stats_params *p);
void fit_trace_stats_free(struct fit_trace_stats *ts);		/* NULL is fine */
/* by: the job's value in each of params.by; s NULL: missing. FIT_ENOMEM. */
int fit_trace_stats_add(struct fit_trace_stats *ts, const struct fit_job_row *job,
			const struct fit_text *by, struct fit_err *err) FIT_MUST_CHECK;
/* After the last job, before anything below: sorts. */
void fit_trace_stats_finish(struct fit_trace_stats *ts);

/* The summary: fit_trace_stats_count() rows of name, value, unit; fit_real_na(): there is none. */
struct fit_trace_metric {
	const char *name, *unit;
	double value;
};
size_t fit_trace_stats_count(const struct fit_trace_stats *ts);
struct fit_trace_metric fit_trace_stats_metric(const struct fit_trace_stats *ts, size_t i);
/* The value of that name; fit_real_na() when there is none. */
double fit_trace_stats_value(const struct fit_trace_stats *ts, const char *name);

/* Jobs by hour of day (time of submission). */
struct fit_trace_hour {
	int64_t jobs, most;		/* most: in one such hour */
	int64_t hours;			/* how many such hours lie between first and last submission */
	double gpus, gpu_hours;		/* of the jobs that have them */
};
struct fit_trace_hour fit_trace_stats_hour(const struct fit_trace_stats *ts, int hour);

/* Write a table: metric, value, unit. */
int fit_trace_stats_write_summary(const struct fit_trace_stats *ts, struct fit_writer *w,
				  const char *name, const struct fit_meta *meta,
				  struct fit_err *err) FIT_MUST_CHECK;
/* Write a table with one row an hour of day. */
int fit_trace_stats_write_hours(const struct fit_trace_stats *ts, struct fit_writer *w,
				const char *name, const struct fit_meta *meta,
				struct fit_err *err) FIT_MUST_CHECK;
/* Write a table with one row a value of params.by[i], missing last: numbers in their order where all
 * are numbers, else natural text order. cumulative: with running shares. FIT_ENOMEM. */
int fit_trace_stats_write_by(struct fit_trace_stats *ts, size_t i, bool cumulative,
			     struct fit_writer *w, const char *name, const struct fit_meta *meta,
			     struct fit_err *err) FIT_MUST_CHECK;

/* ---- values for a distribution ---- */

enum fit_trace_of { FIT_OF_DURATION, FIT_OF_GPUS, FIT_OF_GPU_HOURS, FIT_OF_INTERARRIVAL };

/* Read all jobs of r and collect one value each (seconds, GPUs, GPU-hours; interarrival: one less),
 * ascending, as a heap array; free() it. *missing: jobs that have none. */
int fit_trace_values(struct fit_reader *r, enum fit_trace_of of, double **sorted, size_t *n,
		     size_t *missing, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
