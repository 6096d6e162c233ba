/* SPDX-License-Identifier: MIT */
/*
 * The replay: jobs, a cluster and a policy in; the event log out.
 *
 * Time is an int64 count of nanoseconds since the trace origin. Events are ordered by (time, kind,
 * job index), never by comparing floating point numbers. At one instant, in this order: epochs and
 * jobs end; jobs arrive; nodes that were started are ready; GPUs of finished jobs that were booked to
 * the interval's end become free; an autoscaling rule asks for nodes; the policy decides; the epochs
 * end whose exact instant is a little later but was rounded down to this one (a fidelity profile's
 * whole seconds); and last, nodes that nobody wants are returned.
 *
 * With an interval the policy decides at its multiples while there are active jobs (FIT_ONLY_NEWS: at the
 * first one after jobs came or went; the others would change nothing), else whenever
 * jobs arrive or finish, nodes become ready, and at the instants it asked for.
 */
#ifndef FIT_REPLAY_ENGINE_H
#define FIT_REPLAY_ENGINE_H

#include "libfit/base/linkage.h"
#include "libfit/base/num.h"
#include "libfit/model/theta.h"
#include "libfit/replay/partition.h"
#include "libfit/replay/placement.h"
#include "libfit/replay/autoscale.h"
#include "libfit/replay/policy.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* The longest interval and restart delay: a little over a century. */
#define FIT_REPLAY_SPAN_MAX_NS (INT64_C(3200000000) * FIT_NS_PER_S)

struct fit_replay_params {
	int64_t (*clock)(void);	/* ns, for counts.longest; NULL: decisions are not timed. No result depends on it */
	const struct fit_policy *policy;
	struct fit_policy_params policy_params;
	const struct fit_fidelity *fidelity;
	int64_t interval_ns;	/* 0: woken by events */
	enum fit_placement_kind placement;	/* of GPUs that a policy does not place itself */
	bool stale_ends;	/* a defect of the Tiresias simulator: where a job would end at the very instant of the next
				 * arrival and the policy is woken before, it ends then even if it was preempted meanwhile */
	const struct fit_theta_list *models;	/* what agents start from and keep (FIT_ADAPTIVE); NULL: they learn */
	double interference;	/* share of its rate that a job on several nodes loses where another such
				 * job uses one of them; 0 … 1 (profiles only) */
	bool survivor_keeps_speed;	/* as in fidelity.h, where the default is from */
	const struct fit_colocation *colocation;	/* what was measured of shared GPUs; NULL: nobody shares */
	struct fit_profiler_params profiler;	/* nodes 0: jobs are not profiled */
	const int32_t *profiler_nodes;		/* their numbers in the whole cluster; closed in their partitions */
	const char *profiler_text;		/* as the user gave them, for the metadata */
	const struct fit_partition *profiler_lender;	/* lends it a node while many wait; NULL: nobody does */
	int64_t max_active;	/* most jobs in the system at a time: the next one, in order of arrival, is submitted
				 * at the instant at which one ends; 0: no limit */
	int64_t restart_ns;	/* no progress for so long after each change of an allocation;
				 * -1: what each application's profile says, 0 without a profile */
	bool free_start;	/* the first start of a job costs no delay, except on a cold node */
	int64_t cold_restart_ns;	/* the same where one of the nodes is cold; -1: no difference */
	/* How the cluster grows and shrinks (one partition only). NULL: it has all its nodes, always. */
	const struct fit_autoscaler *autoscaler;
	struct fit_autoscale_params autoscale_params;
	struct fit_provision_params provision;	/* drains is the policy's */
};
struct fit_replay_params fit_replay_params_default(void);
/* Make policy, fidelity and the defaults that go with them (interval, placement, thresholds) hold. */
void fit_replay_params_choose(struct fit_replay_params *p, const struct fit_policy *policy,
			      const struct fit_fidelity *fidelity);
/* NULL, or what is wrong in one sentence. */
const char *fit_replay_params_check(const struct fit_replay_params *p, bool has_profile);

/* What happened, for a note to the user. */
struct fit_replay_counts {
	uint64_t decisions, events, restarts;
	uint64_t shared, unmeasured;	/* jobs that joined another one; of these, pairs without a measurement */
	uint64_t profiled, profiled_done;	/* jobs on the profiler, and those that ended there */
	int64_t longest_ns, longest_jobs;	/* the longest decision, applied and logged; jobs in the system then */
	uint64_t rented, returned;	/* nodes */
	int64_t end_ns;		/* last completion */
};

/*
 * Replay and write the log to w (begin to end of one table; the caller opens and closes w). meta:
 * metadata that goes in front of the replay's own (tool, version, inputs). The partitions are those that
 * the jobs were read for; they are used up: all free again at the end. Each is scheduled by itself, with
 * a policy of its own.
 */
int fit_replay(const struct fit_jobs *jobs, struct fit_partitions *partitions,
	       const struct fit_replay_params *p, const struct fit_meta *meta, struct fit_writer *w,
	       struct fit_replay_counts *counts, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
