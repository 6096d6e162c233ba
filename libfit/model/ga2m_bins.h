/* SPDX-License-Identifier: MIT */
/*
 * Inside of GA2M training: cuts, and the data as bin numbers. Public headers are ga2m.h and
 * ga2m_train.h.
 */
#ifndef FIT_MODEL_GA2M_BINS_H
#define FIT_MODEL_GA2M_BINS_H

#include "libfit/model/ga2m_train.h"

/*
 * Ranges of about equal mass. count[0..n) are the rows of n runs in order; the runs are put together to
 * at most max_bins bins, and bound[] (room for max_bins) gets the runs at which a new bin starts, bin 0
 * left out. Returns how many. A run that alone holds more than its share is a bin of its own, and what is
 * left is shared out anew. Reversing the runs mirrors the bounds.
 */
size_t fit_ga2m_bounds(const uint32_t *count, size_t n, size_t max_bins, size_t *bound);

/* A number strictly above lo and at most hi, half way; infinities count as the largest doubles. */
double fit_ga2m_midpoint(double lo, double hi);

/* Sort n doubles ascending (no NaN); scratch has room for n. Linear in n. */
void fit_ga2m_sort(double *x, double *scratch, size_t n);

/* Cuts of a column: at most max_bins - 1, ascending, in *cuts (from malloc, NULL when none). x is left
 * sorted, its missing values gone; *n_unique counts different values. FIT_ENOMEM. */
int fit_ga2m_cuts(double *x, size_t n, size_t max_bins, double **cuts, size_t *n_cuts,
		int64_t *n_unique,
		  double *min, double *max) FIT_MUST_CHECK;

/* The data by bins. Rows of weight 0 are gone; rows are in the order of the input. */
struct ga2m_binned {
	size_t n_rows, n_features;
	uint16_t **bin;		/* [feature][row]: level 0 */
	size_t *n_bins;		/* missing and values; a nominal feature with categories beyond
				 * GA2M_MAX_CATEGORIES has one more for them, whose score stays 0 */
	bool *nominal, *overflow;
	uint16_t **to_pair;	/* [feature][bin]: level 1; NULL for nominal: the same */
	size_t *n_pair_bins;
	double *y, *weight, *offset;	/* weight and offset may be NULL */
	double *known;			/* NULL, or [row * n_known + output] */
	size_t n_known;
	double unit;		/* weight of every row where weight is NULL: equal ones count as 1 */
	double *time, *group;
	int8_t *bags;		/* as in the data, or NULL */
	size_t n_bags;
};
#define GA2M_MAX_CATEGORIES 65000

/* Bin d into b, and put its features with names and cuts into m. Frees the columns' values on the way.
 * max_bins is lowered (not below 32) so that all bins are at most max_total, unless that is 0. *used is
 * what it came to. */
int ga2m_bin(struct ga2m_binned *b, struct fit_ga2m *m, struct fit_ga2m_data *d,
	     const struct fit_ga2m_params *p, size_t max_total, size_t *used,
	     struct fit_err *err) FIT_MUST_CHECK;
void ga2m_binned_release(struct ga2m_binned *b);

#endif
