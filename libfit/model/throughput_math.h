/* SPDX-License-Identifier: MIT */
/* Formulas that the prediction and the fit of the throughput model share; not a public header. */
#ifndef FIT_MODEL_THROUGHPUT_MATH_H
#define FIT_MODEL_THROUGHPUT_MATH_H

#include <math.h>
#include <stdint.h>

#define FIT_THETA_TINY 1e-8	/* the reference implementation's stand-in for zero */

/* max(R - 2, tiny). */
static inline double fit_above_two(int64_t replicas)
{
	return replicas > 2 ? (double)(replicas - 2) : FIT_THETA_TINY;
}

/*
 * log((a^g + k^g)^(1/g)) from la = log a, lk = log k, without overflow for any g; *wa and *wk are
 * the shares a^g / (a^g + k^g) and k^g / (a^g + k^g), which are the derivatives by la and lk.
 */
static inline double fit_log_norm(double la, double lk, double g, double *wa, double *wk)
{
	double hi = la > lk ? la : lk, t = exp(-g * fabs(la - lk)), big = 1 / (1 + t);

	*wa = la >= lk ? big : t * big;
	*wk = la >= lk ? t * big : big;
	return hi + log1p(t) / g;
}

#endif
