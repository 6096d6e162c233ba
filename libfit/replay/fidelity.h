/* SPDX-License-Identifier: MIT */
/*
 * Fidelity profiles: the conventions in which the published simulators differ, as data. The engine
 * and the policies read these fields; nothing else knows which paper is replayed. Without
 * --fidelity the first entry, `none`, holds: each field then has its right value.
 */
#ifndef FIT_REPLAY_FIDELITY_H
#define FIT_REPLAY_FIDELITY_H

#include <stdbool.h>
#include <stdint.h>

struct fit_fidelity {
	const char *name;
	const char *source;		/* whose conventions these are */
	/* scheduling */
	int64_t interval_ns;		/* default interval; 0: the policy is woken by events */
	bool needs_interval;		/* an interval of 0 is not possible */
	bool release_at_interval_end;	/* a finished job's GPUs stay booked until the interval ends */
	bool file_order;		/* jobs are ordered by row, not by (submit, id) */
	/* progress */
	int64_t epoch_quantum_ns;	/* an epoch ends on the nearest multiple (ties to even) from the
					 * last change, and the rest is dropped; 0: exact */
	/* Optimus */
	bool optimus_whole_epochs;	/* remaining work ignores progress inside the epoch, counts the
					 * current epoch as done, and is 1 in the last one */
	bool optimus_single_gpu_accumulates;	/* one GPU is predicted with at least one accumulation */
	int64_t optimus_node_gpus;	/* GPUs per node in predictions; 0: those of the cluster */
	/* Pollux: see pollux_search.h for the three conventions of its search */
	bool pollux_search_defects;
	bool pollux_fair_share_on_one_node;	/* the fair share is predicted on one node, however large */
};

/* All profiles; ends with name == NULL. */
extern const struct fit_fidelity fit_fidelities[];

#endif
