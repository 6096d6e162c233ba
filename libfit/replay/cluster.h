/* SPDX-License-Identifier: MIT */
/*
 * The cluster: nodes, their GPUs, and who holds them.
 *
 * Nodes are numbered from 0 in the order of the specification. Free nodes are indexed by their
 * number of free GPUs, so that finding the emptiest node does not scan the cluster.
 */
#ifndef FIT_REPLAY_CLUSTER_H
#define FIT_REPLAY_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

#define FIT_NODE_GPUS_MAX 64
#define FIT_NODES_MAX 10000000

/* GPUs held on nodes, in the order in which they were taken. */
struct fit_share {
	int32_t node, gpus;
};
struct fit_alloc {
	struct fit_share *shares;
	size_t n, cap;
	int64_t gpus;		/* sum over shares */
};
void fit_alloc_release(struct fit_alloc *a);
bool fit_alloc_equal(const struct fit_alloc *a, const struct fit_alloc *b);

struct fit_cluster {
	int32_t n_nodes;
	int64_t n_gpus;
	int64_t n_open, n_free;		/* of open nodes: GPUs, and those that nobody holds */
	int32_t max_node_gpus;
	uint8_t *gpus, *free;		/* per node */
	bool *closed;			/* per node: takes no further jobs; its free GPUs do not count */
	struct fit_nodeset *by_free;	/* [0 … max_node_gpus]: nodes with that many free GPUs */
	char *spec;			/* canonical text: "16x4", "6x4,2x8" */
};

/*
 * Parse "NODESxGPUS[,NODESxGPUS…]" (a part may carry a name: "aws:6x4"); equal neighbours are merged
 * in the canonical text. FIT_EINVAL when the text is wrong or a number is out of range.
 */
int fit_cluster_init(struct fit_cluster *c, const char *spec, struct fit_err *err) FIT_MUST_CHECK;
void fit_cluster_release(struct fit_cluster *c);

/* Take gpus GPUs for a (empty before): repeatedly from the node with most free GPUs, the lowest
 * number on ties. FIT_EINVAL when fewer are free; a is then empty. */
int fit_cluster_take(struct fit_cluster *c, int64_t gpus, struct fit_alloc *a) FIT_MUST_CHECK;
/* Take exactly these shares. FIT_EINVAL when they are not free; nothing is taken then. */
int fit_cluster_take_shares(struct fit_cluster *c, const struct fit_alloc *a) FIT_MUST_CHECK;
/* Give back what a holds; a keeps its shares. */
void fit_cluster_give(struct fit_cluster *c, const struct fit_alloc *a);

/* The lowest node after `after` (-1: from the start) that has exactly `free` free GPUs; -1: none. */
int32_t fit_cluster_next(const struct fit_cluster *c, int32_t free, int32_t after);
/* Free GPUs of a node that jobs may take. */
int32_t fit_cluster_open_gpus(const struct fit_cluster *c, int32_t node);

/* Close a node to further jobs (nothing that runs there is touched), and open it again. All nodes are
 * open at first. No effect when it is that way already. */
void fit_cluster_close(struct fit_cluster *c, int32_t node);
void fit_cluster_open(struct fit_cluster *c, int32_t node);

#endif
