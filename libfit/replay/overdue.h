/* SPDX-License-Identifier: MIT */
/*
 * Waiting jobs that are too wide to share (policy.h, pack_gpus), by when they were submitted. Where
 * everybody may be let past (lucid, horus), such a job finds whole nodes free only by chance; once
 * it has waited for long enough it is due, and nobody takes free GPUs before it.
 */
#ifndef FIT_REPLAY_OVERDUE_H
#define FIT_REPLAY_OVERDUE_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

struct fit_overdue_job {
	uint32_t job;
	int64_t since_ns;
};

struct fit_overdue {
	struct fit_overdue_job *jobs;	/* in order of since_ns */
	size_t n, cap;
};

void fit_overdue_release(struct fit_overdue *o);
/* Of equal since_ns the one that was added first comes first. FIT_ENOMEM. */
int fit_overdue_add(struct fit_overdue *o, uint32_t job, int64_t since_ns) FIT_MUST_CHECK;
/* Nothing happens when it is not there. */
void fit_overdue_remove(struct fit_overdue *o, uint32_t job);
/* So many, from the first one on, have waited for longer than wait_ns. */
size_t fit_overdue_count(const struct fit_overdue *o, int64_t now_ns, int64_t wait_ns);

#endif
