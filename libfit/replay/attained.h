/* SPDX-License-Identifier: MIT */
/*
 * Attained service in discretised queues (Gu et al., Tiresias, NSDI'19): in which queue a job is, and when it
 * leaves it. Policies that order queues differently share this.
 *
 * A job enters the first queue. While it runs its service grows: executed wall time, by the GPUs that it
 * asks for or not. It moves down a queue when it has reached the limit of its own. With promotion it comes
 * back to the first one, with nothing executed, once it has waited for a multiple of what it executed since
 * it was there last.
 */
#ifndef FIT_REPLAY_ATTAINED_H
#define FIT_REPLAY_ATTAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/replay/fidelity.h"
#include "libfit/replay/policy.h"

struct fit_attained {
	struct fit_queues queues;
	bool over;		/* a job leaves above the limit, not at it */
	bool one_level;		/* and goes down one queue at a decision, however much it has */
	bool late_wake;		/* see fidelity.h */
	bool whole_seconds;
};
void fit_attained_init(struct fit_attained *a, const struct fit_view *v, const struct fit_policy_params *p);
/* What decides, for the log's metadata. */
int fit_attained_describe(const struct fit_policy_params *p, struct fit_meta *meta) FIT_MUST_CHECK;

/* One job. All zero: new, and waiting. */
struct fit_attained_job {
	int64_t executed_ns;	/* since it entered the first queue, up to since_ns */
	int64_t waited_ns;	/* likewise, once it has executed something */
	int64_t since_ns;	/* it runs, or waits, since then */
	uint8_t queue;
	bool runs;
};

/* It runs from now on, or waits. */
void fit_attained_change(struct fit_attained_job *j, bool runs, int64_t now_ns);
/* Wall time executed by now. */
static inline int64_t fit_attained_executed_ns(const struct fit_attained_job *j, int64_t now_ns)
{
	return j->executed_ns + (j->runs ? now_ns - j->since_ns : 0);
}

/* Move a running job of that demand down, if it is due; did it move? */
bool fit_attained_demote(const struct fit_attained *a, struct fit_attained_job *j, int64_t gpus,
			 int64_t now_ns);
/* When a running job of that demand has used up its share, which may be over; INT64_MAX: never. */
int64_t fit_attained_spent_at(const struct fit_attained *a, const struct fit_attained_job *j, int64_t gpus);
/* When to look at a running job again because it may be due; INT64_MAX: never. */
int64_t fit_attained_demote_at(const struct fit_attained *a, const struct fit_attained_job *j, int64_t gpus,
			       int64_t now_ns);
/* When a waiting job is due for promotion, if it waits on; INT64_MAX: never. */
int64_t fit_attained_promote_at(const struct fit_attained *a, const struct fit_attained_job *j);
/* Promote it. */
void fit_attained_promote(struct fit_attained_job *j, int64_t now_ns);

#endif
