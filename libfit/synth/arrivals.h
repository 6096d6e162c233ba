/* SPDX-License-Identifier: MIT */
/*
 * Bursty arrivals: a Poisson process whose rate jumps between two values (MMPP of two states),
 * with a wanted mean and a wanted squared coefficient of variation of the gaps between arrivals.
 *
 * With rates l1 > l2, and r12, r21 the rates of leaving the first and the second state (Fischer
 * and Meier-Hellstern, Performance Evaluation 18, 1993):
 *
 *   mean rate  (l1 r21 + l2 r12) / (r12 + r21)
 *   C^2        1 + 2 r12 r21 (l1 - l2)^2 / ((r12 + r21)^2 (l1 l2 + l1 r21 + l2 r12))
 *
 * Given the mean rate, the low rate as a share of it, and the mean length 1 / r12 of a burst, C^2
 * falls as the share f = r21 / (r12 + r21) of time in bursts grows: from 1 + 2 (1 - low) / low
 * for f = 0 (any value, when low is 0) to 1 for f = 1, which is a Poisson process. f is found by
 * bisection.
 */
#ifndef FIT_SYNTH_ARRIVALS_H
#define FIT_SYNTH_ARRIVALS_H

#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

struct fit_arrivals_params {
	double mean_gap_s;	/* > 0 */
	double scv;		/* squared coefficient of variation of the gaps, >= 1 */
	double low;		/* rate between bursts, as a share of the mean rate; 0 … below 1 */
	double burst_s;		/* mean length of a burst, > 0 */
};
struct fit_arrivals_params fit_arrivals_params_default(void);	/* 180 s, 2.65, 0.25, 1800 s */
/* NULL, or a sentence. */
const char *fit_arrivals_params_check(const struct fit_arrivals_params *p);

struct fit_mmpp {
	double rate[2];		/* arrivals a second: in bursts, between them */
	double leave[2];	/* 1 / s; both 0: one rate, that of [0] */
};

/* FIT_EINVAL: parameters out of range; no such process (the message names the largest scv there is). */
int fit_mmpp_fit(const struct fit_arrivals_params *p, struct fit_mmpp *m, struct fit_err *err) FIT_MUST_CHECK;
double fit_mmpp_mean_gap_s(const struct fit_mmpp *m);
double fit_mmpp_scv(const struct fit_mmpp *m);

/* Arrivals one after another, from time 0, in the state that the long run has there. */
struct fit_arrivals;
int fit_arrivals_new(struct fit_arrivals **a, const struct fit_mmpp *m, uint64_t seed,
		     struct fit_err *err) FIT_MUST_CHECK;
void fit_arrivals_free(struct fit_arrivals *a);		/* NULL is fine */
double fit_arrivals_next_s(struct fit_arrivals *a);	/* never before the last one */

FIT_C_END

#endif
