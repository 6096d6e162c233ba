/* SPDX-License-Identifier: MIT */
/*
 * Utility of a cluster size: what jobs would get out of it, by the models of their agents, against
 * perfect scaling (Qiao et al., "Pollux", OSDI'21, sections 4.2.2 and 5.4.1).
 *
 *   UTILITY(N) = (1/N) sum_j GOODPUT_j(R_j) / GOODPUT_j(one node)
 *
 * R_j is an equal share of the GPUs of N nodes, in whole GPUs (the first jobs have one more where
 * they do not divide), at most what the job may have, on the fewest nodes that hold it. For one job
 * this is its goodput against N times that of one node. A job that knows nothing yet scales linearly.
 * With another base, such as one GPU, the ideal is that many times its goodput.
 *
 * Of one GPU type: nodes and models are those of the type, and the jobs are those that hold GPUs of it, and
 * those that hold none and may be there.
 */
#ifndef FIT_REPLAY_UTILITY_H
#define FIT_REPLAY_UTILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/replay/policy.h"

struct fit_utility {
	int64_t base_gpus;	/* on one node: what perfect scaling starts from */
	bool throughput;	/* throughput in place of goodput: efficiency is 1 whatever the batch */
	int32_t type;		/* of the cluster's types, or FIT_ANY_TYPE */
};

/* How many jobs those of a type are; FIT_ANY_TYPE: all. */
size_t fit_utility_jobs(const struct fit_view *v, int32_t type);

/* Of a cluster of so many nodes (at least 1), all like the first one. Policies with FIT_ADAPTIVE only. */
int fit_utility_of_size(const struct fit_view *v, const struct fit_utility *u, int64_t nodes, double *utility,
			struct fit_err *err) FIT_MUST_CHECK;
/* Of what the jobs hold now, over the GPUs of so many nodes. */
int fit_utility_held(const struct fit_view *v, const struct fit_utility *u, int64_t nodes, double *utility,
		     struct fit_err *err) FIT_MUST_CHECK;

/* The size from least to most whose utility is nearest to target, the smaller one on ties; by bisection,
 * taking utility to fall with size. 1 <= least <= most. */
int fit_utility_bisect(const struct fit_view *v, const struct fit_utility *u, int64_t least, int64_t most,
		       double target, int64_t *nodes, struct fit_err *err) FIT_MUST_CHECK;

/* The most replicas that job j may have: twice what it tried (a model that was given knows all sizes), what
 * batch sizes and the application allow, FIT_POLLUX_REPLICAS_MAX. */
int64_t fit_view_most_replicas(const struct fit_view *v, uint32_t j);
/* The same on GPUs of a type: twice what it tried on any type. */
int64_t fit_view_most_on(const struct fit_view *v, uint32_t j, int32_t type);

#endif
