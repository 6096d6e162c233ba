/* SPDX-License-Identifier: MIT */
/*
 * The records of jobs in struct fit_metrics: all of them in order of submission, or with sums_only those of
 * jobs that are not over. Private to metrics.c.
 */
#ifndef FIT_METRICS_METRICS_JOBS_H
#define FIT_METRICS_METRICS_JOBS_H

#include "libfit/metrics/metrics.h"

void fit_metrics_release_gone(struct fit_metrics_gone *g);
/* A job is submitted: m->last_job is its record. FIT_EDATA: an id that was there, too many jobs. */
int fit_metrics_new_job(struct fit_metrics *m, struct fit_text id, const struct fit_job_result *j,
			struct fit_err *err) FIT_MUST_CHECK;
/* Set m->last_job; FIT_NO_INDEX: there is no such job. One that was forgotten has a record again. */
int fit_metrics_find_job(struct fit_metrics *m, struct fit_text id) FIT_MUST_CHECK;
/* With sums_only: forget job k if it finished and holds nothing. */
int fit_metrics_forget(struct fit_metrics *m, struct fit_text id, uint32_t k) FIT_MUST_CHECK;

#endif
