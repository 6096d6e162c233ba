/* SPDX-License-Identifier: MIT */
/*
 * A table of allocations: who holds what, from when on (docs/formats/allocations.md). What policy `follow`
 * carries out; an event log is one, too.
 *
 * Each row gives a job exactly these GPUs from time_s on, or none. It says which in one of three ways: the
 * nodes (`0:4,1:2`), the GPUs on each of some nodes (`4,2`), or how many GPUs.
 */
#ifndef FIT_REPLAY_ALLOCATIONS_H
#define FIT_REPLAY_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/replay/cluster.h"

FIT_C_BEGIN

/* How a row says what a job gets. */
enum fit_allocation_kind { FIT_ALLOCATE_NODES, FIT_ALLOCATE_PER_NODE, FIT_ALLOCATE_GPUS };

struct fit_allocation {
	int64_t time_ns;
	size_t job;			/* number in ids */
	int64_t gpus;			/* 0: none from now on */
	size_t shares_at, n_shares;	/* in shares, unless GPUS; node -1: any */
	size_t plan;			/* number in plans, from 1; 0: not said */
	enum fit_allocation_kind kind;
	uint64_t line;			/* of the input, for messages */
};

struct fit_allocations {
	struct fit_allocation *rows;	/* by time; rows of one time in the order of the table */
	size_t n, cap;
	struct fit_share *shares;
	size_t shares_n, shares_cap;
	char **ids;			/* of the jobs that have rows */
	size_t n_ids, ids_cap;
	char **plans;			/* names of execution plans */
	size_t n_plans, plans_cap;
	char input[256], hash[FIT_HASH_HEX];
};

/* FIT_EDATA: a row that says no GPUs, or nodes that are none. Release with fit_allocations_release(). */
int fit_allocations_read(struct fit_allocations *a, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_allocations_release(struct fit_allocations *a);

FIT_C_END

#endif
