/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the model gate (docs/methods/gate.md): how far two samples of one quantity are apart, and
 * bootstrap intervals of what is computed from paired rows.
 */
#ifndef FIT_VERIFY_GATE_STATS_H
#define FIT_VERIFY_GATE_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

/* ---- drift ---- */

/*
 * Population stability index of counts in the same n bins: sum (q - p) ln(q / p) over the shares p of a
 * and q of b, each count raised by half so that an empty bin is no infinity. bound: what equal
 * distributions stay below with probability 0.99, (1 / sum a + 1 / sum b) chi2_(n - 1) (Yurdakul 2018). Both
 * NAN where a sample is empty, 0 where n < 2.
 */
void fit_gate_psi(const double *a, const double *b, size_t n, double *psi, double *bound);

/*
 * Kolmogorov and Smirnov: the largest distance D of two empirical distributions; a and b get sorted and
 * hold no NaN. p: the asymptotic probability of such a distance between samples of one distribution, with
 * the correction of Stephens (1970). NAN where a sample is empty.
 */
void fit_gate_ks(double *a, size_t na, double *b, size_t nb, double *d, double *p);

/*
 * Bins by quantiles: cuts[0 .. result - 1], ascending and different, at most n_bins - 1, so that a value x
 * is in bin (number of cuts <= x). sorted: ascending, n > 0.
 */
size_t fit_gate_quantile_cuts(const double *sorted, size_t n, size_t n_bins, double *cuts);
size_t fit_gate_bin(const double *cuts, size_t n_cuts, double x);

/* ---- bootstrap ---- */

/* A statistic of the rows at[0 .. n - 1], which may repeat. NAN: it has none. */
typedef double fit_gate_statistic(const void *arg, const uint32_t *at, size_t n);

struct fit_gate_interval {
	double estimate;	/* of all rows, each once */
	double low, high;	/* NAN: cannot be said (fewer than two rows, or no estimate) */
};

/*
 * The BCa interval (Efron 1987) of a statistic at confidence `level`: `draws` samples of n rows with
 * replacement, by the stream (seed, purpose). Rows are what is drawn, so pairs stay together.
 * Acceleration comes from a jackknife that leaves out one row, or above FIT_GATE_JACKKNIFE rows one of
 * that many blocks. Where the estimate is the same in all samples the interval is that point. FIT_ENOMEM;
 * FIT_EINVAL: level not in (0, 1), draws < 1, more than 2^31 rows.
 */
#define FIT_GATE_JACKKNIFE 400
int fit_gate_bootstrap(fit_gate_statistic *f, const void *arg, size_t n, size_t draws, double level,
		       uint64_t seed, const char *purpose, struct fit_gate_interval *out,
		       struct fit_err *err) FIT_MUST_CHECK;

#endif
