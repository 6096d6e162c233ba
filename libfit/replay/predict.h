/* SPDX-License-Identifier: MIT */
/*
 * What policies believe about run times: here an oracle, computed from durations or the profile.
 * The engine owns one predictor; policies reach it through fit_predict_*() of policy.h.
 */
#ifndef FIT_REPLAY_PREDICT_H
#define FIT_REPLAY_PREDICT_H

#include "libfit/replay/replay_jobs.h"

/* Predicted course of one (application, GPUs, batch size), packed node_gpus a node. */
struct fit_course {
	const struct fit_app *app;
	int64_t gpus, batch;
	double *rate;		/* per epoch: progress per second */
	double *left_s;		/* per epoch, and 0 at the end: seconds from its start to completion */
};

struct fit_predictor {
	struct fit_course *courses;
	size_t n, cap;
	int64_t node_gpus;
};

void fit_predictor_release(struct fit_predictor *p);

/* Seconds from (epoch, progress) to completion for job j on the GPUs that it asked for. */
int fit_predictor_left(struct fit_predictor *p, const struct fit_job *j, int64_t epoch, double progress,
		       double *left_s, struct fit_err *err) FIT_MUST_CHECK;

#endif
