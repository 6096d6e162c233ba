/* SPDX-License-Identifier: MIT */
/*
 * Pollux's allocation problem (Qiao et al., OSDI'21, section 4.2) and searches for it.
 *
 * A state is a matrix: GPUs of job j on node m. Its fitness is the power mean of the jobs'
 * speedups,
 *
 *   FITNESS_p = ( (1/J) sum_j (u_j + 1e-3)^p )^(1/p),   u_j = SPEEDUP_j x n_nodes / n_gpus x rho_j,
 *
 * rho_j being 1 where the row is what the job holds now, else its restart factor. The constant
 * factor is the reference simulator's (1/4 on nodes of four GPUs). Constraints: capacity of nodes,
 * most replicas of a job, and, with avoid_interference, at most one job that spans nodes on each
 * node.
 */
#ifndef FIT_REPLAY_POLLUX_SEARCH_H
#define FIT_REPLAY_POLLUX_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"

#define FIT_POLLUX_REPLICAS_MAX 64

struct fit_pollux_job {
	uint32_t id;		/* the caller's; carries states from one call to the next */
	int max_replicas;	/* 0 … FIT_POLLUX_REPLICAS_MAX */
	double restart_factor;	/* rho_j of a changed row */
	/* speedup[several nodes?][replicas], replicas up to max_replicas; [..][0] is 0 */
	double speedup[2][FIT_POLLUX_REPLICAS_MAX + 1];
};

struct fit_pollux_problem {
	int n_jobs, n_nodes;
	int n_gpus;
	const struct fit_pollux_job *jobs;	/* in order of priority */
	const uint8_t *capacity;		/* GPUs of each node */
	const uint8_t *current;			/* n_jobs x n_nodes, row by row: what is held now */
	double power;				/* p: -1 in the paper; not 0 */
	bool avoid_interference;
	/* Conventions of the reference implementation, against the right ones: */
	bool carry_rows_by_position;	/* states of the last call are matched by place, not by job */
	bool interference_zeroes_all;	/* a second spanning job on a node takes every later job off it */
	bool current_not_seeded;	/* what is held now starts the search in the first call only */
};

/* Both objectives of a state, to be made small: -FITNESS_p, and minus the sum of speedups per GPU of
 * the nodes in use. */
void fit_pollux_objectives(const struct fit_pollux_problem *p, const uint8_t *state, double f[2]);

/* Does a state keep the constraints? NULL, or the one that it breaks. */
const char *fit_pollux_check(const struct fit_pollux_problem *p, const uint8_t *state);

/* A search keeps what it wants to remember between calls. */
struct fit_pollux_ga;
int fit_pollux_ga_new(struct fit_pollux_ga **ga, uint64_t seed, struct fit_err *err) FIT_MUST_CHECK;
void fit_pollux_ga_free(struct fit_pollux_ga *ga);
/* NSGA-II, population 100, 100 generations, on both objectives; *best is the state with the smallest
 * first one (n_jobs x n_nodes; valid until the next call). */
int fit_pollux_ga_search(struct fit_pollux_ga *ga, const struct fit_pollux_problem *p,
			 const uint8_t **best, double f[2], struct fit_err *err) FIT_MUST_CHECK;

/*
 * A deterministic local search for the first objective alone. It starts from what is held now and from
 * the sizes that a price for GPUs would lead to, and improves both by regranting single jobs, by sharing
 * anew between two, and by pushing one aside or ahead and letting the others settle. *bound is an upper
 * bound of FITNESS_p over all states: the price's dual value, which knows nothing of nodes.
 */
struct fit_pollux_local;
int fit_pollux_local_new(struct fit_pollux_local **l, struct fit_err *err) FIT_MUST_CHECK;
void fit_pollux_local_free(struct fit_pollux_local *l);
int fit_pollux_local_search(struct fit_pollux_local *l, const struct fit_pollux_problem *p,
			    const uint8_t **best, double f[2], double *bound,
			    struct fit_err *err) FIT_MUST_CHECK;

#endif
