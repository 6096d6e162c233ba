/* SPDX-License-Identifier: MIT */
/*
 * Shapes: the nearest monotone or convex sequence, by weighted least squares. For constraints in training
 * (ga2m_train.h) and for repairs of a finished term.
 */
#ifndef FIT_MODEL_GA2M_SHAPE_H
#define FIT_MODEL_GA2M_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/model/ga2m.h"

/*
 * Isotonic regression (pool adjacent violators): out is nondecreasing (or nonincreasing) and minimises
 * sum w (y - out)^2. Weights of 0 or more; where none is above 0 in a pool, its mean is not weighted. out
 * may be y. FIT_ENOMEM.
 */
int fit_ga2m_isotonic(const double *y, const double *w, size_t n, bool increasing,
		double *out) FIT_MUST_CHECK;

/*
 * The same for convex (or concave) sequences over ascending places x: slopes do not fall (rise).
 * Least squares splines whose knots come and go one by one (Groeneboom, Jongbloed, Wellner 2008, support
 * reduction). Places of weight 0 follow from their neighbours. out may be y. FIT_ENOMEM.
 */
int fit_ga2m_convex(const double *x, const double *y, const double *w, size_t n, bool convex,
		    double *out) FIT_MUST_CHECK;

/* The middles of bins 1 to n_bins - 2 of a continuous feature at that level, n_bins - 2 numbers. */
void fit_ga2m_middles(const struct fit_ga2m_feature *f, int level, double *x);

#endif
