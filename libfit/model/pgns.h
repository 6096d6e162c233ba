/* SPDX-License-Identifier: MIT */
/*
 * The (pre-conditioned) gradient noise scale, estimated from squared gradient norms, and what it
 * says about larger batches. docs/methods/pgns.md has the derivations.
 *
 *   signal  |G|^2, squared norm of the true gradient
 *   noise   tr(Sigma), trace of the covariance of the gradient of one sample
 *   phi     noise / signal, in samples: Pollux's phi_t = M0 var / sqr, with sqr = signal and
 *           var = noise / M0, the variance of a gradient at the initial batch size M0
 *
 * A step of n = K (s + 1) micro-batches (K replicas, s accumulation passes) of b samples, B = n b:
 *
 *   n > 1   McCandlish et al., "An empirical model of large-batch training", 2018, appendix A.1;
 *           with L the mean squared norm of the micro-batch gradients, g that of their mean:
 *           signal = (B g - b L) / (B - b),  noise = (L - g) / (1/b - 1/B)
 *   n = 1   differenced (Pollux section 3.1; Wang and Yu 2017), with the step before, at B':
 *           signal = <g_t, g_(t-1)>,  noise = |g_t - g_(t-1)|^2 / (1/B + 1/B'); it takes the true
 *           gradient for constant over the two steps
 *
 * Both are unbiased, their ratio is not: numerator and denominator are averaged apart.
 */
#ifndef FIT_MODEL_PGNS_H
#define FIT_MODEL_PGNS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

struct fit_pgns_step {
	int64_t replicas, accum_steps, local_bsz;	/* >= 1, >= 0, >= 1 */
	bool has_squares, has_previous;			/* are the next two pairs known? */
	double local_sqr, global_sqr;			/* L, g; not finite after an overflow */
	double prev_dot, prev_diff_sqr;			/* with the mean gradient of the step before */
};

enum fit_pgns_kind {
	FIT_PGNS_REPLICAS,	/* by several micro-batches */
	FIT_PGNS_DIFFERENCED,	/* by two steps of one micro-batch each */
	FIT_PGNS_NONFINITE,	/* a norm is not finite: the step does not count */
	FIT_PGNS_UNKNOWN	/* a single micro-batch, nothing known of the step before */
};

/* Samples of the step, B. */
double fit_pgns_batch(const struct fit_pgns_step *s);

/* Signal and noise of one step, for the first two kinds. prev_batch: B of the step before, 0: that
 * of this step. */
enum fit_pgns_kind fit_pgns_of_step(const struct fit_pgns_step *s, double prev_batch,
				    double *signal, double *noise);

/* Averages of signal and noise: plain, or exponential. Zero it to start anew. */
struct fit_pgns_mean {
	uint64_t n;			/* steps */
	double w, w2;			/* sum of the weights, of their squares */
	double signal, noise;		/* means */
	double ss, nn, sn;		/* weighted sums of squared deviations, products */
};

/* Take one step up. smooth 0: all steps count alike; 0 < smooth < 1: what was there before loses
 * the factor smooth^scale (scale: the batch size over M0, so that the memory is 1 / (1 - smooth)
 * steps at M0, whatever the batch size), and the step enters with 1 less that. */
void fit_pgns_add(struct fit_pgns_mean *m, double signal, double noise, double smooth,
		  double scale);

struct fit_pgns_estimate {
	double grad_sqr, grad_var;	/* the latter at init_batch; 0 of no steps */
	double phi;			/* samples; 0 unless estimable */
	double se_phi;			/* standard error, steps taken for independent; NAN: unknown */
	bool estimable;			/* signal > 0 and noise > 0 */
};

struct fit_pgns_estimate fit_pgns_estimate(const struct fit_pgns_mean *m, double init_batch);

/* (phi + M0) / (phi + M), and M / M0 times that: steps at M0 that one step at M is worth. phi >= 0,
 * may be infinite. */
double fit_pgns_efficiency(double phi, double init_batch, double batch);
double fit_pgns_gain(double phi, double init_batch, double batch);

FIT_C_END

#endif
