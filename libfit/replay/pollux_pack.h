/* SPDX-License-Identifier: MIT */
/*
 * Where jobs have room: the nodes of a cluster as the local search for Pollux's allocations sees them.
 *
 * Nodes with as many free GPUs are alike, so whether a job fits, and what is left then, is decided on
 * classes: nodes by free GPUs and by whether a job that spans nodes is on them (shut to others of that
 * kind; never with interference allowed). A search for sizes tries them on a copy of the counts and never
 * touches a node.
 */
#ifndef FIT_REPLAY_POLLUX_PACK_H
#define FIT_REPLAY_POLLUX_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/replay/pollux_search.h"

/* What a job holds: up to FIT_POLLUX_REPLICAS_MAX GPUs, so as many nodes. */
struct fit_pack_row {
	int n, replicas;	/* nodes, GPUs */
	int node[FIT_POLLUX_REPLICAS_MAX];
	uint8_t gpus[FIT_POLLUX_REPLICAS_MAX];
};

/* How many nodes of each class there are: count[shut][free GPUs]. */
struct fit_pack_counts {
	int *count[2];
	int spare, wide;	/* free GPUs of open nodes, and how many nodes those are on */
};

/* Zero-initialise; release with fit_pack_release(). */
struct fit_pack {
	int n_nodes, top;	/* no node has more GPUs than top */
	int free;		/* GPUs */
	bool avoid;		/* at most one job that spans nodes on a node */
	int *room, *spanning;	/* of each node: free GPUs, jobs that span nodes */
	struct fit_pack_counts now, then;	/* as it is; a copy to try things on */
	uint64_t *sets;		/* nodes of each class, a bit a node */
	size_t words;		/* of a set */
	size_t room_cap, spanning_cap, count_cap, sets_cap;
	int *counts;
};

void fit_pack_release(struct fit_pack *k);
/* All nodes free. FIT_ENOMEM. */
int fit_pack_set(struct fit_pack *k, const struct fit_pollux_problem *p) FIT_MUST_CHECK;

/* Does this very row fit? Take its GPUs, or give them back. */
bool fit_pack_fits(const struct fit_pack *k, const struct fit_pack_row *row);
void fit_pack_take(struct fit_pack *k, const struct fit_pack_row *row);
void fit_pack_give(struct fit_pack *k, const struct fit_pack_row *row);

/* The most GPUs that a job can have: on one node, on several (0 where there is none, as for less than 2). */
int fit_pack_most(const struct fit_pack *k, const struct fit_pack_counts *c, bool several);

/*
 * Nodes for so many GPUs, at least 1 and at most fit_pack_most(). One node: the fullest that has room,
 * preferably a shut one. Several: the emptiest, and for the rest the fullest that has room for it.
 * fit_pack_choose() picks them, which takes nothing yet; fit_pack_try() does it on the counts alone.
 */
void fit_pack_choose(struct fit_pack *k, int gpus, bool several, struct fit_pack_row *row);
void fit_pack_try(const struct fit_pack *k, struct fit_pack_counts *c, int gpus, bool several);
/* The counts to try on are set to what is. */
void fit_pack_look(struct fit_pack *k);

#endif
