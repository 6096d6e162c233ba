/* SPDX-License-Identifier: MIT */
/*
 * The cluster: nodes, their GPUs, and who holds them.
 *
 * Nodes are numbered from 0 in the order of the specification. Nodes have GPUs of one type each; a
 * specification without names has one type, without a name. Free nodes are indexed by type and by their
 * number of free GPUs, so that finding the emptiest node does not scan the cluster.
 */
#ifndef FIT_REPLAY_CLUSTER_H
#define FIT_REPLAY_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/replay/switches.h"

FIT_C_BEGIN

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

/* The nodes with GPUs of one type. */
struct fit_gpu_type {
	char *name;			/* "" when the specification names none */
	int32_t n_nodes;
	int64_t n_gpus, n_open, n_free;	/* as those of the cluster */
	int32_t max_node_gpus;
	struct fit_nodeset *by_free;	/* [0 … max_node_gpus]: nodes with that many free GPUs */
};
#define FIT_GPU_TYPES_MAX 64
#define FIT_ANY_TYPE (-1)

struct fit_cluster {
	int32_t n_nodes;
	int64_t n_gpus;
	int64_t n_open, n_free;		/* of open nodes: GPUs, and those that nobody holds */
	int32_t max_node_gpus;
	uint8_t *gpus, *free;		/* per node */
	uint8_t *type;			/* per node: index of types */
	bool *closed;			/* per node: takes no further jobs; its free GPUs do not count */
	struct fit_gpu_type *types;	/* in the order in which the specification names them */
	int32_t n_types;		/* at least 1 */
	struct fit_switches *switches;	/* what placement yarn looks at besides; NULL: GPUs only */
	char *spec;			/* canonical text: "16x4", "6x4,2x8", "aws:6x4,rtx:3x8" */
};

/*
 * Parse "NODESxGPUS[,NODESxGPUS…]" (a part may carry a name, which is of no interest here: "aws:6x4");
 * equal neighbours are merged in the canonical text. FIT_EINVAL when the text is wrong or a number is out
 * of range.
 */
int fit_cluster_init(struct fit_cluster *c, const char *spec, struct fit_err *err) FIT_MUST_CHECK;
/*
 * The same where names are GPU types: "aws:6x4,dgx-ext:2,rtx:3x8". All parts have a name, or none.
 * "NAME:NODES" takes the GPUs of a node from gpu_types.h.
 */
int fit_cluster_init_typed(struct fit_cluster *c, const char *spec, struct fit_err *err) FIT_MUST_CHECK;
void fit_cluster_release(struct fit_cluster *c);
/* From now on nodes have CPUs and memory, and are behind so many switches. All GPUs are of one type and free;
 * FIT_EINVAL: the nodes are not alike, or cannot be shared out evenly. */
int fit_cluster_set_switches(struct fit_cluster *c, int64_t switches, int64_t cpus, double mem_gib,
			     struct fit_err *err) FIT_MUST_CHECK;
/* Does the specification name types? */
bool fit_cluster_typed(const struct fit_cluster *c);
/* The type of that name, or FIT_ANY_TYPE when there is none. */
int32_t fit_cluster_find_type(const struct fit_cluster *c, struct fit_text name);

/* Take gpus GPUs for a (empty before): repeatedly from the node with most free GPUs, the lowest
 * number on ties. All are of that type, or with FIT_ANY_TYPE of the first type that has as many free.
 * FIT_EINVAL when fewer are free; a is then empty. */
int fit_cluster_take_type(struct fit_cluster *c, int32_t type, int64_t gpus,
			  struct fit_alloc *a) FIT_MUST_CHECK;
int fit_cluster_take(struct fit_cluster *c, int64_t gpus, struct fit_alloc *a) FIT_MUST_CHECK;	/* any type */
/* Take exactly these shares (a->gpus is their sum). FIT_EINVAL when they are not free; nothing is taken
 * then. */
int fit_cluster_take_shares(struct fit_cluster *c, const struct fit_alloc *a) FIT_MUST_CHECK;
/* Give back what a holds; a keeps its shares. */
void fit_cluster_give(struct fit_cluster *c, const struct fit_alloc *a);

/* The lowest node of a type after `after` (-1: from the start) that has exactly `free` free GPUs; -1:
 * none. */
int32_t fit_cluster_next(const struct fit_cluster *c, int32_t type, int32_t free, int32_t after);
/* Free GPUs of a node that jobs may take. */
int32_t fit_cluster_open_gpus(const struct fit_cluster *c, int32_t node);

/* Close a node to further jobs (nothing that runs there is touched), and open it again. All nodes are
 * open at first. No effect when it is that way already. */
void fit_cluster_close(struct fit_cluster *c, int32_t node);
void fit_cluster_open(struct fit_cluster *c, int32_t node);

/* A further node of the first type, the last one, closed; it counts in n_nodes and n_gpus, not in the
 * specification. FIT_ENOMEM. */
int fit_cluster_add_closed(struct fit_cluster *c, int32_t gpus) FIT_MUST_CHECK;
/* Make a node the last one; the number of each that was behind it is one less. FIT_ENOMEM. */
int fit_cluster_move_last(struct fit_cluster *c, int32_t node) FIT_MUST_CHECK;

FIT_C_END

#endif
