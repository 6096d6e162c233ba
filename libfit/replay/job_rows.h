/* SPDX-License-Identifier: MIT */
/*
 * Rows of a jobs table, one after another: checked, and turned into jobs of a replay. Private to
 * replay_jobs.c, which reads all of them, and job_stream.c, which reads them as they are due.
 */
#ifndef FIT_REPLAY_JOB_ROWS_H
#define FIT_REPLAY_JOB_ROWS_H

#include "libfit/base/id_set.h"
#include "libfit/replay/replay_jobs.h"

struct fit_job_rows {
	struct fit_reader *r;
	struct fit_jobs *js;	/* where counts and rates go */
	const struct fit_jobs_params *p;
	struct fit_id_set seen;
};

int fit_job_rows_begin(struct fit_job_rows *x, struct fit_reader *r, struct fit_jobs *js,
		       const struct fit_jobs_params *p, struct fit_err *err) FIT_MUST_CHECK;
void fit_job_rows_release(struct fit_job_rows *x);
/* The next job that asks for GPUs; FIT_END behind the last one. Its texts, which are not in *j yet, live
 * until the next call. Bad rows are left out and counted as the parameters allow. FIT_EDATA. */
int fit_job_rows_next(struct fit_job_rows *x, struct fit_job *j, struct fit_text *id, struct fit_text *app,
		      struct fit_err *err) FIT_MUST_CHECK;

/* GPUs of open nodes on which a job may run. */
int64_t fit_job_room(const struct fit_job *j, const struct fit_cluster *c);
/* Can it run at all, on all open nodes? */
bool fit_job_fits(const struct fit_job *j, const struct fit_cluster *c);
/* The application on GPUs of that type of the cluster, or of the first type that it was measured on. */
struct fit_app *fit_job_find_app(const struct fit_jobs_params *p, const struct fit_cluster *k, int32_t type,
				 struct fit_text name);

#endif
