/* SPDX-License-Identifier: MIT */
/*
 * Instants at which something about a job is due: a binary heap on (instant, job). A timer is void once its
 * stamp is not that of the job any more; such timers stay until they come up.
 */
#ifndef FIT_REPLAY_TIMERS_H
#define FIT_REPLAY_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

struct fit_timer {
	int64_t at_ns;
	uint32_t job, stamp;
};

/* All zero: empty. */
struct fit_timers {
	struct fit_timer *heap;	/* [0] is the first, where n > 0 */
	size_t n, cap;
};
void fit_timers_release(struct fit_timers *t);

/* FIT_ENOMEM. */
int fit_timers_add(struct fit_timers *t, struct fit_timer x) FIT_MUST_CHECK;
/* Take the first one away (n > 0). */
void fit_timers_drop(struct fit_timers *t);

#endif
