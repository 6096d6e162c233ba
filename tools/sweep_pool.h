/* SPDX-License-Identifier: MIT */
/*
 * Child programs, several at a time: jobs of one or two commands that run one after another, with what they
 * say in a log each. A child that is killed costs its job a try, and nobody else anything.
 */
#ifndef TOOLS_SWEEP_POOL_H
#define TOOLS_SWEEP_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"
#include "tools/sweep_words.h"

#define SWEEP_STEPS 2

/* Released by the pool. */
struct sweep_job {
	struct sweep_words steps[SWEEP_STEPS];	/* argument vectors, run in order */
	size_t n_steps;
	char *log;		/* of the heap; written anew: command lines and standard error of the steps */
};

struct sweep_pool {
	size_t n;		/* jobs 0 … n - 1, begun in this order as far as they are ready */
	size_t slots;		/* so many at a time, at least 1 */
	size_t retries;		/* tries after the first, of a job whose child was killed or failed with status 3 */
	void *arg;
	/* All but tick are called by several threads at a time, tick by the one that called sweep_pool_run(). */
	/* May it begin? NULL: all may. A job that is not ready waits for others to end. */
	bool (*ready)(void *arg, size_t job);
	/* Say what it does, in slot 0 … slots - 1; on failure the job ends at once with err,
	 * which is in the log if there is one already. */
	int (*begin)(void *arg, size_t job, size_t slot, struct sweep_job *what, struct fit_err *err);
	/* It ended: failed is NULL, or err, which says what was wrong (FIT_EDATA, or FIT_ECHILD when the machine is
	 * at fault). Returns whether the job failed after all, with err: that is the end of its log. */
	int (*end)(void *arg, size_t job, size_t slot, const struct fit_err *failed, struct fit_err *err);
	/* Twice a second or more often. NULL: nothing. */
	void (*tick)(void *arg);
	int signal;		/* out: of SIGINT, SIGTERM and SIGHUP what stopped it, or 0 */
};

/* Run all jobs. FIT_END: a signal came; the children were ended, and signal says which. FIT_ENOMEM, FIT_EIO:
 * nothing could be begun. */
int sweep_pool_run(struct sweep_pool *pool, struct fit_err *err) FIT_MUST_CHECK;

#endif
