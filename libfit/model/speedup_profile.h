/* SPDX-License-Identifier: MIT */
/*
 * Speedup functions from application profiles: on k GPUs, the batch size with the largest goodput
 * in an epoch of training, and how fast the job advances then.
 *
 * GPUs are packed: full nodes, and one node with the rest. Total batch sizes are
 * FIT_SPEEDUP_BATCHES, geometrically spaced from max(initial, min_local k) to the largest one; each
 * is split as fit_goodput_best() splits it, and what rounds above the largest one is lowered to it.
 * The speed is gain / (step + accum (step - sync)), in steps at the initial batch size a second,
 * with measured step times and gradient statistics.
 *
 * Step times do not depend on the epoch: those of a width are found once, all its batch sizes in
 * ascending order together (fit_app_throughputs()).
 */
#ifndef FIT_MODEL_SPEEDUP_PROFILE_H
#define FIT_MODEL_SPEEDUP_PROFILE_H

#include "libfit/base/linkage.h"
#include "libfit/model/profile.h"

FIT_C_BEGIN

#define FIT_SPEEDUP_BATCHES 50

/* What an application can run on so many GPUs. */
struct fit_speedup_width {
	int64_t gpus, nodes;
	size_t n;		/* 0: nothing that was measured */
	struct fit_speedup_batch {
		struct fit_batch split;
		double step_s, sync_s;
	} batches[FIT_SPEEDUP_BATCHES];	/* by total batch size, the smallest first */
};
/* gpus_per_node GPUs on a node. FIT_EINVAL: more than FIT_PLACEMENT_MAX nodes. */
int fit_speedup_width(struct fit_app *a, int64_t gpus, int64_t gpus_per_node,
		      struct fit_speedup_width *w, struct fit_err *err) FIT_MUST_CHECK;

struct fit_speedup_point {
	double speed;	/* 0: no batch size that was measured fits */
	int64_t batch_size, accum_steps;
};

/* In an epoch of training (from 0): the first of the fastest batches. FIT_EINVAL: no such epoch. */
int fit_speedup_at(const struct fit_app *a, const struct fit_speedup_width *w, int64_t epoch,
		   struct fit_speedup_point *p, struct fit_err *err) FIT_MUST_CHECK;

/* The phases of an application: epochs [from, to) of phase p of n, in groups of equal number, of
 * which the first ones have one more where they do not divide. n is at most the epochs. */
void fit_speedup_phase(int64_t epochs, int64_t n, int64_t p, int64_t *from, int64_t *to);

/* Work of the epochs [from, to): steps at the initial batch size. */
double fit_speedup_work(const struct fit_app *a, int64_t from, int64_t to);

/* The speed at which the epochs [from, to) are done on that many GPUs: their work over the time that
 * they take, each at its best batch size. first and last (may be NULL) get the points of the first
 * and the last epoch. 0 where one of them cannot be run. */
int fit_speedup_over(const struct fit_app *a, const struct fit_speedup_width *w, int64_t from, int64_t to,
		     double *speed, struct fit_speedup_point *first, struct fit_speedup_point *last,
		     struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
