/* SPDX-License-Identifier: MIT */
/*
 * Placements: on which nodes a job gets its GPUs.
 *
 *   emptiest       from the node with most free GPUs, over and over; never fails while enough are free
 *   consolidate    on as few nodes as can be, or not at all: up to a node's GPUs on one node, the fullest
 *                  that has room (lowest number on ties); more on wholly free nodes, the remainder on
 *                  the emptiest node that is left
 *   consolidate-first  consolidate, and where that fails emptiest
 *   first-fit      nodes in the order of their numbers, all that is free on each
 *   random         nodes in an order that is drawn for each job, all that is free on each
 *   yarn           up to a node's GPUs on the first node that has room; more on wholly free nodes, the
 *                  remainder on the first that is left and has room; or not at all
 */
#ifndef FIT_REPLAY_PLACEMENT_H
#define FIT_REPLAY_PLACEMENT_H

#include "libfit/base/linkage.h"
#include "libfit/replay/cluster.h"

FIT_C_BEGIN

enum fit_placement_kind {
	FIT_PLACE_EMPTIEST,
	FIT_PLACE_CONSOLIDATE,
	FIT_PLACE_CONSOLIDATE_FIRST,
	FIT_PLACE_FIRST_FIT,
	FIT_PLACE_RANDOM,
	FIT_PLACE_YARN
};

/* Names by kind; ends with NULL. */
extern const char *const fit_placement_names[];

/*
 * Take gpus GPUs of c for a (empty before): of that type, or with FIT_ANY_TYPE of the first type that has
 * room by the rule. FIT_END: there is no room by the rule; nothing is taken. draw: a random number for this
 * job; random only. FIT_ENOMEM.
 */
int fit_placement_take_type(struct fit_cluster *c, enum fit_placement_kind kind, int32_t type, int64_t gpus,
			    uint64_t draw, struct fit_alloc *a) FIT_MUST_CHECK;
/* The same of any type. */
int fit_placement_take(struct fit_cluster *c, enum fit_placement_kind kind, int64_t gpus, uint64_t draw,
		       struct fit_alloc *a) FIT_MUST_CHECK;

FIT_C_END

#endif
