/* SPDX-License-Identifier: MIT */
/*
 * Goodput of data-parallel training: throughput times statistical efficiency (Qiao et al., "Pollux",
 * OSDI'21, sections 3.1 to 3.3), and the batch size that makes it largest.
 *
 * At total batch size M = R m (s + 1), with R replicas, m samples a replica and pass, s accumulation
 * passes, M0 the initial batch size, sqr and var the squared norm and the variance of the gradient
 * (var at M0):
 *
 *   gain       = (var + sqr) / (var / S + sqr), S = M / M0     (AdaScale; 1 where that is 0/0)
 *   EFFICIENCY = gain / S                                       (equal to (phi + M0) / (phi + M))
 *   GOODPUT    = THROUGHPUT x EFFICIENCY                        (samples at M0 a second)
 *
 * All of it is what a model believes; what is true comes from profile.h.
 */
#ifndef FIT_MODEL_GOODPUT_H
#define FIT_MODEL_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/model/throughput.h"

FIT_C_BEGIN

struct fit_goodput {
	struct fit_theta theta;
	double grad_sqr, grad_var;		/* >= 0 */
	int64_t init_batch, max_batch;		/* total batch size, samples */
	int64_t min_local_bsz, max_local_bsz;	/* samples a replica and pass (the latter: memory) */
	int64_t max_accum;			/* most accumulation passes; -1: no limit */
	bool fixed_efficiency;			/* a job that does not adapt: efficiency is 1 */
	bool strict_batch;			/* no split above max_batch, see fit_goodput_best() */
	int64_t fixed_batch;			/* the total is this one whatever it is worth; 0: it may be chosen */
};

struct fit_goodput_point {
	double goodput, throughput, efficiency;	/* samples/s, samples/s, 1 */
	int64_t atomic_bsz, accum_steps;
};

/* NULL, or what is wrong with the limits and statistics in one sentence. theta is not looked at. */
const char *fit_goodput_check(const struct fit_goodput *g);

/* gain / S at total batch size M; fit_goodput_gain() is the factor by which one step at M advances
 * training, in steps at M0. */
double fit_goodput_gain(const struct fit_goodput *g, double batch);
double fit_goodput_efficiency(const struct fit_goodput *g, double batch);

/* At one split. */
struct fit_goodput_point fit_goodput_at(const struct fit_goodput *g, int64_t nodes, int64_t replicas,
					int64_t atomic_bsz, int64_t accum_steps);

/*
 * The best split on `replicas` GPUs over `nodes` nodes: of FIT_GOODPUT_GRID total batch sizes,
 * geometrically spaced from max(M0, min_local R) to max_batch, each split as
 * s = ceil(M/R / max_local) - 1 (at least 1 on a single GPU above M0: there the noise scale could
 * not be estimated otherwise), m = ceil(M/R / (s + 1)), the one with the largest goodput, the
 * smallest on ties. goodput is 0 when none is within the limits, or min_local R is above
 * max_batch.
 *
 * Rounding up makes some splits larger than max_batch, by less than R (s + 1) samples, as in the
 * reference implementation. With strict_batch m is then lowered to floor(max_batch / (R (s + 1))),
 * which is what a job of the reference does when it runs.
 *
 * With fixed_batch there is nothing to choose: the one split of that total, as fit_app_split_batch() of
 * profile.h has it; goodput is 0 when it has fewer than min_local samples a pass.
 */
#define FIT_GOODPUT_GRID 50
struct fit_goodput_point fit_goodput_best(const struct fit_goodput *g, int64_t nodes, int64_t replicas);

FIT_C_END

#endif
