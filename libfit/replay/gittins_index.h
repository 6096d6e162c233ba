/* SPDX-License-Identifier: MIT */
/*
 * Gittins indices from samples of job sizes S (Gu et al., NSDI'19, section 3): of a job that has attained a,
 *
 *   G(a) = sup over D > 0 of P(S - a <= D | S > a) / E[min(S - a, D) | S > a]
 *
 * The supremum is taken at a sample: between two of them the numerator stays. It is the steepest line from
 * one point, which a alone decides, to points that the samples decide; of these only a convex hull counts.
 *
 * The simulator of that paper has a table instead, with D fixed at 3250 and sizes in place of what is left
 * of them.
 */
#ifndef FIT_REPLAY_GITTINS_INDEX_H
#define FIT_REPLAY_GITTINS_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"

#define FIT_GITTINS_QUANTUM_S 3250

/* Zero-initialise; release with fit_gittins_release(). */
struct fit_gittins {
	double *size;		/* ascending */
	double *point;		/* E(m) + what does not depend on m, of the first m + 1 sizes */
	double *before;		/* sum of the sizes before each */
	double *table;		/* artifact: index by the first larger size */
	size_t *next;		/* the next corner of the hull of the points from each on; n: none */
	size_t n;
};

/* Copies the samples (n >= 0, each >= 0). */
int fit_gittins_init(struct fit_gittins *g, const double *sizes, size_t n, bool artifact,
		     struct fit_err *err) FIT_MUST_CHECK;
void fit_gittins_release(struct fit_gittins *g);
/* The index of a job that has attained so much; 0 where no sample is larger. */
double fit_gittins_index(const struct fit_gittins *g, double attained);

#endif
