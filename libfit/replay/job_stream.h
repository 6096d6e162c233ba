/* SPDX-License-Identifier: MIT */
/*
 * Jobs as they come: a jobs table whose rows are in order of submission, read while a replay goes on.
 * Only jobs of one instant are held, to put them in the order of their ids; and what is needed to see
 * that ids come once (id_set.h).
 */
#ifndef FIT_REPLAY_JOB_STREAM_H
#define FIT_REPLAY_JOB_STREAM_H

#include "libfit/base/linkage.h"
#include "libfit/replay/replay_jobs.h"

FIT_C_BEGIN

struct fit_job_stream;

/*
 * Open js: js->stream is what fit_job_stream_next() takes, js->jobs stays empty; counts grow as rows
 * are read. p and what it points to outlive js. Release with fit_jobs_release(); on failure that is
 * done.
 */
int fit_job_stream_open(struct fit_jobs *js, const char *operand, const struct fit_jobs_params *p,
			struct fit_err *err) FIT_MUST_CHECK;

/*
 * The next job, in the order of replay_jobs.h; its texts live until the next call. FIT_END: there is
 * none, and js->hash is set. FIT_EDATA: a bad row, a row that was submitted before the one ahead of
 * it, a job that is larger than the cluster.
 */
int fit_job_stream_next(struct fit_job_stream *s, struct fit_job *j, struct fit_err *err) FIT_MUST_CHECK;

void fit_job_stream_free(struct fit_job_stream *s);

FIT_C_END

#endif
