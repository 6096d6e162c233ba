/* SPDX-License-Identifier: MIT */
/*
 * Generated jobs. Every draw comes from a stream named by seed and purpose, so that a change of one
 * parameter leaves the draws of the others alone.
 */
#ifndef FIT_SYNTH_SYNTH_JOBS_H
#define FIT_SYNTH_SYNTH_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/profile.h"
#include "libfit/synth/calibration.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

enum fit_synth_arrivals {
	FIT_SYNTH_POISSON,	/* the same rate all the time */
	FIT_SYNTH_DIURNAL	/* a rate that swings by half around its mean */
};

/* ---- a workload: applications with profiles ---- */

struct fit_synth_workload_params {
	int64_t n_jobs;			/* >= 0 */
	double hours;			/* all are submitted within, > 0 */
	uint64_t seed;
	enum fit_synth_arrivals arrivals;	/* diurnal: one swing over the window, the peak at 65 % */
	int64_t max_gpus;		/* no job asks for more, >= 1 */
	double lo, hi;			/* bounds of fit_synth_configurations(), 0 <= lo < hi */
};
void fit_synth_workload_params_default(struct fit_synth_workload_params *p);
int fit_synth_workload_params_check(const struct fit_synth_workload_params *p,
				    struct fit_err *err) FIT_MUST_CHECK;

/*
 * Write a jobs table: job_id (application and rank), app, submit_s (whole seconds), gpus, batch_size;
 * by submission. The mix is that of the calibration. With a profile, GPU counts and batch sizes are
 * those that are good on the profile, and applications that it does not hold are left out of the mix;
 * else those that are good by the calibrated model. FIT_EDATA: no application is left.
 */
int fit_synth_workload(const struct fit_synth_calibration *c, const struct fit_profile *profile,
		       const struct fit_synth_workload_params *p, struct fit_writer *w,
		       const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;

/* ---- jobs of fixed duration ---- */

struct fit_synth_jobs_params {
	int64_t n_jobs;			/* >= 0 */
	double hours;			/* mean time over which they are submitted, > 0 */
	uint64_t seed;
	enum fit_synth_arrivals arrivals;	/* diurnal: a period of 24 h, the peak at 15 h */
	double median_s, sigma;		/* log-normal durations; whole seconds, at least 1 */
	double max_duration_s;		/* longer ones are cut to this */
	int64_t max_gpus;		/* powers of two up to this, >= 1 */
	int64_t users;			/* 1..100000; user k (from 1) submits in proportion to 1/k */
};
void fit_synth_jobs_params_default(struct fit_synth_jobs_params *p);
int fit_synth_jobs_params_check(const struct fit_synth_jobs_params *p, struct fit_err *err) FIT_MUST_CHECK;

struct fit_synth_job {
	int64_t index;			/* from 0, by submission */
	int64_t user;			/* from 1 */
	int64_t submit_ns, duration_ns;	/* whole milliseconds; whole seconds */
	int64_t gpus;
};
/* Hand the jobs over one by one. A status other than FIT_OK from put ends it. */
typedef int fit_synth_put(void *arg, const struct fit_synth_job *job, struct fit_err *err);
int fit_synth_jobs_each(const struct fit_synth_jobs_params *p, fit_synth_put *put, void *arg,
			struct fit_err *err) FIT_MUST_CHECK;

/* Write a jobs table in constant memory: job_id, user, submit_s (milliseconds), duration_s, gpus, by
 * submission. */
int fit_synth_jobs(const struct fit_synth_jobs_params *p, struct fit_writer *w,
		   const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
