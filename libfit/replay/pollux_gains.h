/* SPDX-License-Identifier: MIT */
/*
 * What jobs gain by GPUs, as the local search for Pollux's allocations counts it: the fitness is a
 * monotone function of sum_j g_j, where g_j = sign(p) (u_j + 1e-3)^p. A job's g depends on its number of
 * replicas, on whether it spans nodes, and on whether its row is the one that it holds now.
 */
#ifndef FIT_REPLAY_POLLUX_GAINS_H
#define FIT_REPLAY_POLLUX_GAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/replay/pollux_pack.h"
#include "libfit/replay/pollux_search.h"

#define FIT_GAIN_SIZES (FIT_POLLUX_REPLICAS_MAX + 1)

struct fit_gains {
	struct fit_pack_row current;	/* what is held now, */
	double keep;			/* and its gain; -infinity where it is too large for the job */
	int max;			/* most replicas */
	/* of a changed row: [spans nodes?][replicas], and of sizes up to replicas the best, the smallest on
	 * ties; 0 for nothing */
	double by_size[2][FIT_GAIN_SIZES];
	uint8_t up_to[2][FIT_GAIN_SIZES];
	double hope[FIT_GAIN_SIZES];	/* the most that so many GPUs can be worth, wherever they are */
};

/* Of job j; no node has more GPUs than top. */
void fit_gains_set(struct fit_gains *g, const struct fit_pollux_problem *p, int j, int top);

/* The most that a job can gain with at most so many GPUs. */
static inline double fit_gains_hope(const struct fit_gains *g, int gpus)
{
	return g->hope[gpus < g->max ? gpus : g->max];
}

/* The power mean of n jobs from the sum of their gains. */
double fit_gains_fitness(double power, double sum, int n);

/* A step of the concave hull of a job's hopes by GPUs: of those from `from` to `to`, each is worth
 * `slope`. */
struct fit_gains_step {
	double slope;
	int j, from, to;
};

/*
 * Sizes that would be best if nodes did not matter: steps of hulls in order of what they are worth, as
 * far as the GPUs go. With a part of the first one that has no place any more, their sum is the smallest
 * dual value of the Lagrangian that prices GPUs, an upper bound of the sum of gains; it is returned.
 * gains[i] is at gains + i x stride bytes (i < n), sizes has room for n, steps for n x FIT_GAIN_SIZES.
 */
double fit_gains_price(const struct fit_gains *gains, size_t stride, int n, int n_gpus,
		       struct fit_gains_step *steps, int *sizes);

#endif
