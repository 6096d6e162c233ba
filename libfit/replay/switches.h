/* SPDX-License-Identifier: MIT */
/*
 * Nodes behind switches, with CPUs and memory: what placement yarn asks for besides GPUs, as the Tiresias
 * simulator (NSDI'19) does. All nodes are alike; those of a switch are next to each other.
 *
 * A job that fits on a node goes to the first one, switch by switch, that has its GPUs, 6 CPUs for
 * each of them (2 for a job of one GPU) and 5 of memory. A larger one takes wholly free nodes of one
 * switch, and the first other node of it that has room for the rest; each GPU of it asks for 6 CPUs
 * and for 11 + n / 10 of memory, with n its GPUs in all (a worker, a parameter server, and a tenth a
 * worker there).
 */
#ifndef FIT_REPLAY_SWITCHES_H
#define FIT_REPLAY_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

struct fit_alloc;

struct fit_switches {
	int32_t n, nodes, node_gpus;	/* switches, nodes of each, GPUs of each node */
	int64_t cpus;			/* of a node */
	double mem_gib;
	/* per node, free; memory in tenths */
	int32_t *free_gpus;
	int64_t *free_cpus, *free_mem;
};

/* All free. FIT_ENOMEM. */
int fit_switches_init(struct fit_switches *s, struct fit_err *err) FIT_MUST_CHECK;
void fit_switches_release(struct fit_switches *s);

/* Shares for so many GPUs into a (empty before), which takes nothing yet. FIT_END: there is no room. */
int fit_switches_find(const struct fit_switches *s, int64_t gpus, struct fit_alloc *a) FIT_MUST_CHECK;
/* What a holds is taken (sign -1) or given back (1). */
void fit_switches_change(struct fit_switches *s, const struct fit_alloc *a, int sign);
/* Would a job of so many GPUs fit if all nodes were free? */
bool fit_switches_hold(const struct fit_switches *s, int64_t gpus);

FIT_C_END

#endif
