/* SPDX-License-Identifier: MIT */
/*
 * A backlog: jobs that wait, by the number of GPUs that they ask for and, within one number, in the
 * order of (key, tie, job). A policy that walks all waiting jobs in order and takes those that fit into what
 * is left sees with it only those that fit: the walk costs about a step for each job that is taken,
 * however many wait.
 *
 * Each size is a skip list; adding and removing a job takes logarithmic time. Levels come from the job's
 * number, so that equal runs build equal lists.
 */
#ifndef FIT_REPLAY_BACKLOG_H
#define FIT_REPLAY_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

struct fit_backlog;

/* NULL: out of memory. */
struct fit_backlog *fit_backlog_new(void);
void fit_backlog_free(struct fit_backlog *b);

/* Add a job that is not in it, to be found by a number (a slot, policy.h) of its own; for numbers four bytes
 * are kept up to the largest. FIT_ENOMEM. Not during a walk. */
int fit_backlog_add(struct fit_backlog *b, uint32_t number, uint32_t job, int64_t gpus, int64_t key,
		    int64_t tie) FIT_MUST_CHECK;
/* Take out the job of that number; false: it was not in it. Not during a walk. */
bool fit_backlog_remove(struct fit_backlog *b, uint32_t number);
bool fit_backlog_has(const struct fit_backlog *b, uint32_t number);
size_t fit_backlog_count(const struct fit_backlog *b);

/* A walk: rewind, then look and pass until look says false. */
void fit_backlog_rewind(struct fit_backlog *b);
/* The first in order of those that were not passed and ask for at most that many GPUs. */
bool fit_backlog_look(struct fit_backlog *b, int64_t most_gpus, uint32_t *job, int64_t *key,
		      int64_t *tie);
/* The first of one size, the i-th by GPUs; false: none is left. */
struct fit_backlog_head {
	int64_t gpus, key, tie;
	uint32_t job;
};
size_t fit_backlog_sizes(const struct fit_backlog *b);
bool fit_backlog_head(const struct fit_backlog *b, size_t i, struct fit_backlog_head *h);
/* Go on behind the job that look gave, which has that number. */
void fit_backlog_pass(struct fit_backlog *b, uint32_t number);

/* Leave a size out of the rest of this walk. */
void fit_backlog_drop_size(struct fit_backlog *b, int64_t gpus);

#endif
