/* SPDX-License-Identifier: MIT */
/* What the parts of sia_ilp.h share: the problem as the solver sees it. Private to the files sia_ilp*.c. */
#ifndef FIT_MODEL_SIA_ILP_PARTS_H
#define FIT_MODEL_SIA_ILP_PARTS_H

#include "libfit/model/sia_ilp.h"

/* An option: cost, GPUs and change in one integer, the first weighs most. */
struct fit_sia_item {
	int64_t w;
	int32_t config, type, gpus;	/* nothing, and what pinned jobs hold: no GPUs, type 0 */
	int64_t reduced;		/* w at prices, above the best item of the job */
};

struct fit_sia_solver {
	const struct fit_sia_job *jobs;
	size_t n_jobs;
	int n_types;
	int64_t cap[FIT_SIA_TYPES_MAX];	/* without what pinned jobs hold */
	int64_t per_gpu, per_cost;	/* weights in w; of a change: 1 */
	struct fit_sia_item *items;	/* the first of each job is nothing (pinned: what it holds, the only one) */
	size_t *at;			/* of each job; n_jobs + 1 */
	int64_t price[FIT_SIA_TYPES_MAX];
	int64_t bound;			/* sum of best items at prices, less what all GPUs cost */
};

/* sia_ilp_prices.c: prices at which the bound is highest, and what items cost at them. */
void fit_sia_set_prices(struct fit_sia_solver *s);

/* sia_ilp_sweep.c: the least sum of w of all assignments that are within the gap of the bound, and among
 * these the lexicographically smallest, into choice. */
struct fit_sia_sweep {
	int64_t gap;
	size_t states_max;	/* give up beyond so many */
	size_t beam;		/* above 0: keep at most so many of a layer instead, those nearest to the bound */
	bool found, cut;	/* there is one; the beam has dropped some */
	int64_t least;
	size_t states;
};
/* FIT_END: too many states; FIT_ENOMEM. */
int fit_sia_sweep(const struct fit_sia_solver *s, struct fit_sia_sweep *w, int32_t *choice) FIT_MUST_CHECK;

#endif
