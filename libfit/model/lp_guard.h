/* SPDX-License-Identifier: MIT */
/*
 * Calls of GLPK. Where it meets numbers that it cannot work with, a call that makes no sense to it, or no
 * memory, GLPK prints to the terminal and ends the process. Everything that is asked of it is therefore
 * asked inside of fit_lp_call(), which makes an error of that (GLPK's reference manual, section on the error
 * hook: what it allocated is given back all at once, after a jump out of it).
 */
#ifndef FIT_MODEL_LP_GUARD_H
#define FIT_MODEL_LP_GUARD_H

#include "libfit/base/status.h"

/* work(arg, err) may use GLPK; all problems go when it is over, also those that the caller had. It may be
 * left in the middle of a call of GLPK, so what it allocates otherwise must hang on arg for the caller to
 * free. Returns what work returns; FIT_ENOCONV: GLPK gave up, and the message says on what (a noun: "shares
 * of 2 jobs") and why. */
int fit_lp_call(int (*work)(void *arg, struct fit_err *err), void *arg, const char *what,
		struct fit_err *err) FIT_MUST_CHECK;

#endif
