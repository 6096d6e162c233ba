/* SPDX-License-Identifier: MIT */
/*
 * Application profiles from a calibration: what an off-line measurement of such an application would
 * have written, in the file layout of the Pollux simulator (docs/formats/pollux.md).
 */
#ifndef FIT_SYNTH_SYNTH_PROFILE_H
#define FIT_SYNTH_SYNTH_PROFILE_H

#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/model/profile.h"
#include "libfit/synth/calibration.h"

FIT_C_BEGIN

/* Measurements scatter by log-normal factors around the model: standard deviation of the logarithm,
 * 0 for none. */
struct fit_synth_noise {
	double time, gradient;
};
#define FIT_SYNTH_NOISE_DEFAULT { 0.02, 0.05 }

/*
 * The text of each file, appended to csv. The same application and seed give the same bytes, whatever
 * other applications there are. FIT_ENOMEM.
 *   placements: all 108 ways to put GPUs on up to four nodes of four, up to rotation
 *   scalability: 6, 8, 12 and 16 nodes
 *   validation: one training run at a total batch size, one of fit_synth_batch()
 */
int fit_synth_placements(const struct fit_synth_app *a, uint64_t seed, const struct fit_synth_noise *z,
			 struct fit_str *csv, struct fit_err *err) FIT_MUST_CHECK;
int fit_synth_scalability(const struct fit_synth_app *a, uint64_t seed, const struct fit_synth_noise *z,
			  struct fit_str *csv, struct fit_err *err) FIT_MUST_CHECK;
int fit_synth_validation(const struct fit_synth_app *a, int64_t batch, uint64_t seed,
			 const struct fit_synth_noise *z, struct fit_str *csv,
			 struct fit_err *err) FIT_MUST_CHECK;

/* Validated batch size k (from 0): init_batch times 2^k; 0 past the last. */
int64_t fit_synth_batch(const struct fit_synth_app *a, int k);
/* Gradient noise over squared norm at init_batch in epoch e (from 0). */
double fit_synth_noise_scale(const struct fit_synth_app *a, int64_t epoch);
/* Optimiser steps of a whole run at that batch size, without scatter. */
int64_t fit_synth_iterations(const struct fit_synth_app *a, int64_t batch);

/*
 * The GPU counts and batch sizes that a careful user would ask for: those whose speedup over the best
 * single-GPU run, per GPU, lies in (lo, hi), and that take less than twelve hours; where there is none,
 * the single-GPU run. The rule is that of fit_app_configurations(), on the model without scatter. At
 * most FIT_SYNTH_TUNED_MAX; returns how many.
 */
#define FIT_SYNTH_TUNED_MAX 10
size_t fit_synth_configurations(const struct fit_synth_app *a, double lo, double hi,
				struct fit_tuned out[FIT_SYNTH_TUNED_MAX]);

FIT_C_END

#endif
