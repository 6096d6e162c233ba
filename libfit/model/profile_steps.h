/* SPDX-License-Identifier: MIT */
/*
 * A job that keeps its batch size and its GPUs, from start to end, by its application's profile: how many
 * steps it makes, and how long they take alone on some GPUs. What Gavel's rates are derived from
 * (docs/methods/gavel.md).
 */
#ifndef FIT_MODEL_PROFILE_STEPS_H
#define FIT_MODEL_PROFILE_STEPS_H

#include "libfit/base/linkage.h"
#include "libfit/model/profile.h"

FIT_C_BEGIN

/* Optimiser steps of a whole job at a total batch size: its progress over what one step gains, epoch by
 * epoch; a whole number, at least 1. FIT_EDATA: no training run around that batch size. */
int fit_app_job_steps(const struct fit_app *a, int64_t batch, double *steps,
		      struct fit_err *err) FIT_MUST_CHECK;

/* Seconds of a whole job at a total batch size on this placement, restarts apart. The batch is split over the
 * GPUs as fit_app_split_measured() does. FIT_EDATA: outside of what was measured. */
int fit_app_job_seconds(struct fit_app *a, const struct fit_placement *p, int64_t batch, double *seconds,
			struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
