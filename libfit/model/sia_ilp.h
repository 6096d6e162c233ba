/* SPDX-License-Identifier: MIT */
/*
 * The assignment problem of Sia (Jayaram Subramanya et al., SOSP'23, section 3.4): each job gets one of
 * its options (a number of GPUs of one type) or nothing, so that the sum of costs is least and the GPUs of
 * each type suffice. All costs are integers, so the answer is exact.
 *
 * Among equal sums: fewest GPUs in all, then fewest jobs that leave their current option, then the
 * lexicographically smallest vector of options in the order of the jobs, nothing being the smallest.
 *
 * Method: a Lagrangian bound prices the GPUs of each type; a dynamic program over the jobs keeps, for each
 * vector of GPUs used, the best sum, and drops what cannot come within a gap of the bound. The gap grows
 * until a solution lies inside of it, which is then the best there is (docs/methods/sia.md). Beyond
 * FIT_SIA_STATES_MAX states not all are kept, and if the sum is then not proved to be the least one, GLPK
 * takes over: the sum is the least one all the same, but ties go as they come.
 */
#ifndef FIT_MODEL_SIA_ILP_H
#define FIT_MODEL_SIA_ILP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

#define FIT_SIA_NOTHING (-1)
#define FIT_SIA_COST_MAX INT64_C(1000000)
#define FIT_SIA_JOBS_MAX 100000
#define FIT_SIA_STATES_MAX 1000000

struct fit_sia_option {
	int32_t config;		/* its number: what ties go by, and the answer; >= 0 */
	int32_t type;
	int32_t gpus;		/* at least 1 */
	int64_t cost;		/* -FIT_SIA_COST_MAX … FIT_SIA_COST_MAX */
};

struct fit_sia_job {
	const struct fit_sia_option *options;
	size_t n;
	int64_t cost;		/* of nothing */
	int32_t current;	/* config that it has now, or FIT_SIA_NOTHING */
	bool pinned;		/* keeps it */
};

struct fit_sia_answer {
	int64_t cost;		/* the least sum */
	int64_t gpus;
	int64_t changed;	/* jobs that leave their current option */
	int64_t bound;		/* a lower bound of the sum, proved by prices alone */
	size_t states;		/* kept by the dynamic program, in the last round */
	int rounds;		/* of the dynamic program */
	bool any_tie;		/* ties are not decided by the rule above */
	bool by_glpk;		/* nor is it the dynamic program's answer */
};

/* choice: n_jobs configs or FIT_SIA_NOTHING. FIT_EINVAL: a type, cost or number is out of range, or the
 * pinned jobs need more than there is; FIT_ENOMEM. At most six types. */
#define FIT_SIA_TYPES_MAX 6
int fit_sia_solve(const struct fit_sia_job *jobs, size_t n_jobs, const int64_t *capacity, int n_types,
		  int32_t *choice, struct fit_sia_answer *answer, struct fit_err *err) FIT_MUST_CHECK;

/* The same by GLPK alone (sia_ilp_large.c). The problem was checked before. */
int fit_sia_solve_large(const struct fit_sia_job *jobs, size_t n_jobs, const int64_t *capacity, int n_types,
			int32_t *choice, struct fit_err *err) FIT_MUST_CHECK;

#endif
