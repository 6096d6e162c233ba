/* SPDX-License-Identifier: MIT */
/* Policy rubick as the published code runs it (rubick_as_run.c). */
#ifndef FIT_REPLAY_RUBICK_AS_RUN_H
#define FIT_REPLAY_RUBICK_AS_RUN_H

#include "libfit/replay/rubick_draft.h"

struct fit_rubick_as_run {
	uint32_t *turn;		/* by job: its place among those that decisions have seen, from 1; 0: not seen */
	uint32_t turns;
	int32_t *stale;		/* scratch: free GPUs before the last job was placed */
	int32_t *left;		/* scratch: free GPUs while chunks are placed */
	struct fit_rubick_free { int32_t gpus, node; } *heap;	/* scratch */
	uint32_t *list;		/* scratch: rows */
	size_t cap_stale, cap_left, cap_heap, cap_list;
};

int fit_rubick_as_run_init(struct fit_rubick_as_run *s, size_t n_jobs, struct fit_err *err) FIT_MUST_CHECK;
void fit_rubick_as_run_release(struct fit_rubick_as_run *s);
/* Change the draft to what the published code would decide. */
int fit_rubick_as_run(struct fit_rubick_as_run *s, struct fit_rubick_draft *d,
		      struct fit_err *err) FIT_MUST_CHECK;

#endif
