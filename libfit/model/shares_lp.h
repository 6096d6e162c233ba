/* SPDX-License-Identifier: MIT */
/* The linear programmes behind shares.h, through GLPK. */
#ifndef FIT_MODEL_SHARES_LP_H
#define FIT_MODEL_SHARES_LP_H

#include "libfit/model/shares.h"

/*
 * Levelling: the largest z with sum_t a_jt x_jt >= n_j z for every j, x an allocation; then, if that is
 * wanted, the canonical x among the optima (shares.h). a is n_jobs x n_types, no row of zeros; n_j > 0.
 * *bound: z is at most this, by the dual solution, whatever rounding GLPK did. price (NULL: not wanted): no
 * allocation has a z for any n, other ones too, that is more than bound x (sum price_j n_j, of the n here) /
 * (sum price_j n_j, of those).
 */
int fit_shares_level(const struct fit_share_problem *p, const double *a, const double *n,
		     bool canonical, double *x, double *z, double *bound, double *price,
		     struct fit_err *err) FIT_MUST_CHECK;
/* The largest sum of c_jt x_jt over allocations with sum_t rate_jt x_jt >= least_j (0: none); then the
 * canonical one. FIT_END: no allocation. */
int fit_shares_most(const struct fit_share_problem *p, const double *c, const double *least, double *x,
		    double *sum, double *bound, struct fit_err *err) FIT_MUST_CHECK;

#endif
