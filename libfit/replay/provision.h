/* SPDX-License-Identifier: MIT */
/*
 * The provisioner: which nodes of an elastic cluster are there.
 *
 * The cluster specification names the nodes that can be rented at most, all alike; or those of each GPU
 * type are alike and stand together, and each type has a provisioner of its own. A node is
 *
 *   off        not rented: costs nothing, takes no jobs
 *   starting   rented, ready start_ns after that
 *   up         takes jobs
 *   leaving    up, but takes no further jobs (policies with FIT_DRAINS: they move jobs away themselves)
 *
 * and the log says so: `rent` when it starts (the bill begins), `ready` when it is up, `return` when it
 * is given back (the bill ends; what the provider does with it then is not our time).
 *
 * Somebody asks for a number of nodes (autoscale.h, or a policy by fit_plan_want_nodes()):
 *
 *   more    nodes that are leaving stay; then the lowest nodes that are off are rented
 *   fewer   empty nodes are surplus; one is returned, the highest first, once it has been empty for
 *           idle_ns. A node that starts is never called back. Under FIT_DRAINS as many nodes as are
 *           too many are leaving, those with the fewest GPUs held first, the highest on ties.
 *
 * A node is cold until it has been given a job: a job that is placed on a cold node may need longer to
 * restart (packages, data set; fit_replay_params.cold_restart_ns).
 *
 * The number asked for is kept within min_nodes and the number of those that there can be. While no job is
 * in the system, min_nodes are asked for.
 */
#ifndef FIT_REPLAY_PROVISION_H
#define FIT_REPLAY_PROVISION_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/replay/cluster.h"

FIT_C_BEGIN

enum fit_node_state { FIT_NODE_OFF, FIT_NODE_STARTING, FIT_NODE_UP, FIT_NODE_LEAVING };

struct fit_provision_params {
	int64_t start_ns;	/* from rent to ready */
	int64_t idle_ns;	/* an empty node that nobody wants is kept for so long */
	int32_t min_nodes;
	bool drains;		/* too many nodes leave at once, empty or not */
};

struct fit_node {
	uint8_t state;		/* enum fit_node_state */
	bool warm;		/* has been given a job since it was rented */
	int64_t at_ns;		/* starting: ready then; up: empty since then, or FIT_NODE_BUSY */
};
#define FIT_NODE_BUSY INT64_MAX

struct fit_provisioner {
	struct fit_provision_params p;
	struct fit_cluster *cluster;	/* borrowed: nodes that are not up are closed in it */
	int32_t type;			/* its nodes: those of a type, or FIT_ANY_TYPE: all */
	int32_t first, n_nodes;		/* of the cluster */
	struct fit_node *nodes;		/* by number less first, as all numbers of nodes here */
	int32_t top;			/* no node from here on is rented */
	int32_t n_rented, n_starting, n_leaving;
	int32_t wanted;			/* as last asked for, within the bounds */
	int64_t next_ns;		/* when something happens by itself; INT64_MAX: never */
	int64_t ready_ns;		/* when the next node is up; INT64_MAX: none starts */
	/* Told of each change, in its order: "rent", "ready", "return", and the node of the cluster. Not FIT_OK:
	 * ends the call. */
	int (*event)(void *arg, const char *name, int32_t node, struct fit_err *err);
	void *arg;
};

/* NULL, or what is wrong in one sentence. by_type: each type has its own provisioner, and min_nodes of its
 * own. */
const char *fit_provision_check(const struct fit_cluster *c, const struct fit_provision_params *params,
				bool by_type);

/* All nodes (of the type, or with FIT_ANY_TYPE of the cluster) are off, closed in the cluster. FIT_EINVAL:
 * what fit_provision_check() says. */
int fit_provision_init(struct fit_provisioner *p, struct fit_cluster *c, int32_t type,
		       const struct fit_provision_params *params, struct fit_err *err) FIT_MUST_CHECK;
void fit_provision_release(struct fit_provisioner *p);

/* Nodes are asked for from now on. Without a start-up delay they are ready at once. *ready: some
 * became ready, or stay that were leaving. */
int fit_provision_want(struct fit_provisioner *p, int64_t now_ns, int64_t nodes, bool *ready,
		       struct fit_err *err) FIT_MUST_CHECK;
/* Nodes whose start-up ends by now are up. *ready: there were some. */
int fit_provision_start(struct fit_provisioner *p, int64_t now_ns, bool *ready,
			struct fit_err *err) FIT_MUST_CHECK;
/* The instant is over: who is empty, who goes. Sets next_ns. Call after each instant. */
int fit_provision_settle(struct fit_provisioner *p, int64_t now_ns, struct fit_err *err) FIT_MUST_CHECK;

/* When the next node is up; INT64_MAX: none starts. */
static inline int64_t fit_provision_ready_ns(const struct fit_provisioner *p)
{
	return p->n_starting ? p->ready_ns : INT64_MAX;
}

/* A job was given nodes: those that are its own are warm. Returns whether one of them was cold. */
bool fit_provision_warm(struct fit_provisioner *p, const struct fit_alloc *a);

/* Whole nodes that hold so many GPUs. */
int64_t fit_provision_nodes_for(const struct fit_provisioner *p, int64_t gpus);
/* May jobs be placed on the node? */
static inline bool fit_provision_open(const struct fit_provisioner *p, int32_t node)
{
	return p->nodes[node - p->first].state == FIT_NODE_UP;
}

FIT_C_END

#endif
