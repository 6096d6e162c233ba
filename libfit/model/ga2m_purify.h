/* SPDX-License-Identifier: MIT */
/*
 * Tables of two features taken apart, and how much of a table no sum of one-feature functions explains.
 * docs/methods/ga2m.md, "Pairs" and "Purification".
 */
#ifndef FIT_MODEL_GA2M_PURIFY_H
#define FIT_MODEL_GA2M_PURIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"

/*
 * Functional ANOVA of a table: score[i * n_columns + j] = constant + row[i] + column[j] + what is left,
 * with weighted sums of 0 over every row and column of what is left, over row and over column. score is
 * overwritten by what is left; row and column have n_rows and n_columns entries. Exact (normal equations,
 * Cholesky), not iterated. A row or column without weight has effect 0; cells that are not finite, or
 * have a weight that is not, count for nothing and stay. Where the weights fall into parts that share no
 * row and no column, what differs between the parts goes to the rows. FIT_ENOMEM.
 */
int fit_ga2m_purify(double *score, const double *weight, size_t n_rows, size_t n_columns, double *row,
		    double *column, double *constant) FIT_MUST_CHECK;

/*
 * The strength of an interaction (FAST; Lou et al. 2013, section 4.2): what the best two cuts, one on
 * either axis, gain over none, by unit of mass. sum: residual sums (or minus gradients) by cell; mass:
 * weights (or curvatures); rows: how many rows. Every quadrant needs min_rows. purified: only the part of
 * the four leaves that is no sum of a row and a column effect. 0 where no cut is allowed. FIT_ENOMEM.
 */
int fit_ga2m_strength(const double *sum, const double *mass, const double *rows, size_t n_rows,
		      size_t n_columns, double min_rows, bool purified, double *strength) FIT_MUST_CHECK;

/* out[i * m + j]: the sum of the cells, of n rows of m, in no row after i and no column after j. out may be
 * v. */
void fit_ga2m_running_sums(const double *v, size_t n, size_t m, double *out);

#endif
