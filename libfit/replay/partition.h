/* SPDX-License-Identifier: MIT */
/*
 * Virtual clusters: a cluster cut into parts that are scheduled each by itself.
 *
 * A replay has at least one partition. With virtual clusters there is one for each named part of the
 * cluster's specification ("vcA:16x8,vcB:4x8"), and a job belongs to the one that its `group` names.
 * Nodes are numbered through all of them, in the order of the specification.
 */
#ifndef FIT_REPLAY_PARTITION_H
#define FIT_REPLAY_PARTITION_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/text.h"
#include "libfit/replay/cluster.h"

FIT_C_BEGIN

struct fit_partition {
	char *name;			/* "" without virtual clusters */
	struct fit_cluster cluster;
	int32_t first_node;		/* number of its first node in the whole cluster */
};

struct fit_partitions {
	struct fit_partition *p;
	size_t n;
	bool named;
	int64_t n_gpus;
	int32_t n_nodes;
	char *spec;			/* of the whole, canonical */
	char *named_spec;		/* with the names, in the order given; NULL without virtual clusters */
	struct fit_index by_name;
};

/*
 * Parse a specification (cluster.h); names are GPU types, unless named: then each part of it is, or belongs
 * to, the virtual cluster of its name; parts of one name are one virtual cluster, and come next to each
 * other. FIT_EINVAL: wrong text, or a part without a name.
 */
int fit_partitions_init(struct fit_partitions *ps, const char *spec, bool named,
			struct fit_err *err) FIT_MUST_CHECK;
void fit_partitions_release(struct fit_partitions *ps);

/*
 * Set nodes apart for another purpose: "N" (without virtual clusters), or "NAME:N,NAME:N…"; the last ones
 * of each partition, which take no jobs then. *nodes: their numbers in the whole cluster (free it), in the
 * order of the text, ascending in a partition. FIT_EINVAL: wrong text, or a partition has no such number to
 * spare.
 */
int fit_partitions_set_apart(struct fit_partitions *ps, const char *text, int32_t **nodes, size_t *n,
			     struct fit_err *err) FIT_MUST_CHECK;

/* The partition of jobs of that group, or NULL; without virtual clusters the only one. */
struct fit_partition *fit_partitions_find(const struct fit_partitions *ps, struct fit_text group);

FIT_C_END

#endif
