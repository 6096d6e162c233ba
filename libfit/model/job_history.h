/* SPDX-License-Identifier: MIT */
/*
 * What was known of earlier jobs when a job was submitted: the inputs of a model of durations (Hu et al.,
 * Lucid, ASPLOS'23, section 3.5: recurring jobs of users) that do not look ahead.
 *
 * At the submission of a job, t, exactly those jobs count that were submitted before t and had ended by t.
 * Of several jobs that are submitted at t none knows another. Nothing of a job but its submission, user,
 * group, name and size is looked at before it has ended, so what happens after t changes nothing here.
 */
#ifndef FIT_MODEL_JOB_HISTORY_H
#define FIT_MODEL_JOB_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/model/name_clusters.h"

FIT_C_BEGIN

/* Which earlier jobs are meant: all; as many GPUs; the same group (virtual cluster) and as many GPUs;
 * the same user; the same user and group of names. */
enum fit_history_scope { FIT_HISTORY_ALL, FIT_HISTORY_SIZE, FIT_HISTORY_GROUP_SIZE, FIT_HISTORY_USER,
			 FIT_HISTORY_USER_NAME };
#define FIT_HISTORY_SCOPES 5
extern const char *const fit_history_scope_names[FIT_HISTORY_SCOPES];

struct fit_history_job {
	struct fit_text id;			/* breaks ties, numbers in it as numbers */
	struct fit_text user, group, name;	/* s NULL: not known */
	double gpus;
	int64_t submit_ns;
	int64_t duration_ns;			/* negative: not known, and then it never counts */
	int64_t end_ns;				/* its duration is known from then, not before submit_ns */
};

/* Of the jobs that a scope means. Seconds are NAN where there are none. */
struct fit_history_past {
	int64_t jobs;
	double geometric_s;	/* geometric mean of 1 s + duration, less 1 s */
	double recent_s;	/* the same, where each job that ends has a quarter of the weight */
	double mean_s;		/* arithmetic mean */
};

struct fit_history_row {
	struct fit_history_past past[FIT_HISTORY_SCOPES];
	int64_t hour_jobs;	/* jobs of its group and size submitted in the hour before it */
	uint32_t name_group;	/* FIT_NO_INDEX without a name */
};

/*
 * rows[i] for jobs[i], in any order of jobs. names (initialised by the caller) gets the names in order of
 * (submission, id). FIT_ENOMEM; FIT_EINVAL: 2^32 - 1 jobs or more.
 */
int fit_history(const struct fit_history_job *jobs, size_t n, struct fit_name_clusters *names,
		struct fit_history_row *rows, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
