/* SPDX-License-Identifier: MIT */
/*
 * Joint counts of bins: what boosting in bin space needs (docs/methods/ga2m.md, "Bin space").
 *
 * Every bin of every feature is an indicator of rows, M in all: of bin 0 and of a nominal feature's bins,
 * the rows in that bin; of bin b >= 1 of a continuous feature, the rows in bins 1 to b. The Gram matrix
 * holds, for each two indicators, the total weight of the rows that are in both. Adding a * (indicator)
 * to a model of squared loss takes a * (row of the matrix) from the residual sums of all indicators at
 * once.
 */
#ifndef FIT_MODEL_GA2M_GRAM_H
#define FIT_MODEL_GA2M_GRAM_H

#include "libfit/model/ga2m_fit.h"

struct ga2m_gram {
	size_t m, stride;	/* stride: m rounded up, so that rows are aligned */
	uint16_t *small;	/* counts below 65536, or … */
	float *wide;		/* … weights */
};

/* Lay out m indicators; small: counts are unweighted and below 65536. What it had before goes, or is used
 * again where it has the same size. Zero-initialise it. FIT_ENOMEM. */
int ga2m_gram_init(struct ga2m_gram *g, size_t m, bool small) FIT_MUST_CHECK;
void ga2m_gram_release(struct ga2m_gram *g);
/* Fill it: off[f] is where feature f begins, n_bins and nominal as in the data; w NULL: all 1.
 * FIT_ENOMEM. */
int ga2m_gram_fill(struct ga2m_gram *g, const struct ga2m_binned *b, const struct ga2m_part *part,
		   const size_t *off, const double *w) FIT_MUST_CHECK;
/* sum[i] -= a * gram[row][i] + c * all[i], for i < m (sum and all have room up to stride). */
void ga2m_gram_take(const struct ga2m_gram *g, size_t row, double a, const double *all, double c,
		double *sum);

#endif
