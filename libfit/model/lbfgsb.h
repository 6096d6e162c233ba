/* SPDX-License-Identifier: MIT */
/*
 * Minimisation with box constraints: L-BFGS-B 3.0 (Byrd, Lu, Nocedal, Zhu 1995; Morales, Nocedal
 * 2011) of Debian's liblbfgsb, behind set / iterate / state.
 *
 *	fit_lbfgsb_new(&w, 7, 10, &err);
 *	fit_lbfgsb_set(w, n, x0, lower, upper, 1e-10, 1e-8, &err);
 *	for (i = 0; i < cap && (rc = fit_lbfgsb_iterate(w, fn, ctx, &err)) == FIT_OK; i++)
 *		;
 *	switch (fit_lbfgsb_state(w)) ...
 *
 * The workspace is reused by any number of set() calls; nothing is allocated after new(). It holds
 *all state, so several may be used side by side. Deterministic: the same calls give the same bits.
 */
#ifndef FIT_MODEL_LBFGSB_H
#define FIT_MODEL_LBFGSB_H

#include <stddef.h>

#include "libfit/base/status.h"

struct fit_lbfgsb;

/* The function to minimise at x (n values inside the bounds); fills grad (n values). */
typedef double (*fit_lbfgsb_fn)(const double *x, double *grad, void *ctx);

enum fit_lbfgsb_state {
	FIT_LBFGSB_RUNNING,    /* further iterations may help */
	FIT_LBFGSB_FLAT,       /* largest component of the projected gradient <= gtol */
	FIT_LBFGSB_SMALL_STEP, /* relative decrease of one iteration <= ftol */
	FIT_LBFGSB_STUCK, /* the line search found nothing lower: rounding, or not smooth here */
	FIT_LBFGSB_BROKEN /* the function or its gradient was not finite */
};

/* A workspace for at most max_n variables and `memory` correction pairs (3 to 20 are usual).
 * FIT_EINVAL: either is outside 1..1000000 or 1..100. FIT_ENOMEM. */
int fit_lbfgsb_new(struct fit_lbfgsb **w, size_t max_n, size_t memory,
		   struct fit_err *err) FIT_MUST_CHECK;
void fit_lbfgsb_free(struct fit_lbfgsb *w); /* NULL is fine */

/* Start at x0 (n <= max_n values, copied, like the bounds). Bounds may be -INFINITY, INFINITY.
 * ftol: relative decrease (0: never stop for it); gtol: as FLAT above. FIT_EINVAL: a bound crosses
 * the other, x0 is outside of them or not finite, a tolerance is negative; the error names the
 * variable by its index from 0. */
int fit_lbfgsb_set(struct fit_lbfgsb *w, size_t n, const double *x0, const double *lower,
		   const double *upper, double ftol, double gtol,
		   struct fit_err *err) FIT_MUST_CHECK;

/* One iteration: a search direction and its line search (at most 20 evaluations). FIT_OK: go on;
 * FIT_END: the state is FLAT, SMALL_STEP or STUCK; FIT_ENOCONV: BROKEN. x and f stay at the best
 * point in every case. */
int fit_lbfgsb_iterate(struct fit_lbfgsb *w, fit_lbfgsb_fn fn, void *ctx,
		       struct fit_err *err) FIT_MUST_CHECK;

enum fit_lbfgsb_state fit_lbfgsb_state(const struct fit_lbfgsb *w);
const double *fit_lbfgsb_x(const struct fit_lbfgsb *w); /* n values; until the next call */
double
fit_lbfgsb_f(const struct fit_lbfgsb *w); /* the function there; NAN before the first iterate */
size_t fit_lbfgsb_n_iter(const struct fit_lbfgsb *w); /* since set() */
size_t fit_lbfgsb_n_eval(const struct fit_lbfgsb *w);

#endif
