/* SPDX-License-Identifier: MIT */
/*
 * Progress models: how fast a job really advances under an allocation.
 *
 *   fixed     a job runs for its duration on exactly the GPUs that it asked for
 *   shared    the same, at the speed that was measured beside the job with which it shares its GPUs
 *   profile   goodput of an application profile, epoch by epoch (Pollux; profile.h), at the total
 *             batch size that the user asked for
 *   adaptive  the same, at the batch size that the job's agent thinks best, chosen anew whenever it
 *             learned something (agent.h)
 *   plans     whole iterations, at what was measured of an execution plan (Rubick; plan_times.h)
 *   steps     steps of an application, at its measured rate on the GPU type that it holds
 *   speedup   the speed of a class of jobs on so many GPUs, epoch by epoch (job_class.h)
 *
 * The engine asks a model when the next epoch of a running job ends, and tells it when that came
 * true or the allocation changed. Policies never see this; they see predict.h.
 */
#ifndef FIT_REPLAY_PROGRESS_H
#define FIT_REPLAY_PROGRESS_H

#include "libfit/model/agent.h"
#include "libfit/replay/cluster.h"
#include "libfit/replay/fidelity.h"
#include "libfit/replay/replay_jobs.h"

/* What a model keeps of one job. Between changes progress flows at `rate` from time from_ns on. */
struct fit_run {
	int64_t from_ns;	/* start of the flow; restart delays are already behind */
	int64_t done_ns;	/* fixed: execution done at from_ns */
	double rate_shared;	/* shared: speed beside the partner, relative to alone */
	double left_s;		/* shared, counted down: work left at from_ns */
	int64_t count_ns;	/* shared: step of the countdown; 0: work flows */
	bool counting;
	int64_t notice_ns;	/* fixed: the end is noticed so much later */
	double progress;	/* profile: initial-batch-equivalent steps done at from_ns */
	double rate;		/* profile: such steps per second */
	int64_t epoch;		/* epochs completed */
	struct fit_batch batch;	/* profile: batch split in use */
	double slowdown;	/* profile: share of the rate that interference takes away */
	const struct fit_fidelity *fidelity;	/* plans: whose conventions hold; set with the first placement */
	int64_t iterations;	/* plans: done at from_ns, whole ones */
	double partial_s;	/* plans: begun of the next one at from_ns */
	double iter_s;		/* plans: how long one takes; 0: not placed yet */
	uint16_t exec_plan;	/* plans: number in the table of times */
	struct fit_app *app;	/* profile: on the GPUs that it holds, or held */
	double calibration;	/* profile: the speed is divided by it; 0: it is not */
	bool caps_batch;	/* adaptive: no more samples a GPU than were measured on as many GPUs */
	struct fit_agent *agents;	/* adaptive: what the job has learned, by GPU type; owned by the engine */
	int n_agents;
	struct fit_agent *agent;	/* the one of the GPUs that it holds, or held; before: the first */
	/* steps: progress and rate are in steps */
	int32_t type;		/* of the GPUs that it holds: of the cluster; */
	const char *type_name;	/* its name there, "" without one */
	bool anywhere;		/* the rate is that of one node, whatever it holds */
	int64_t round_ns;	/* whole steps, as many as fit in this, then it stands still; 0: they flow */
	double round_from, quota;	/* steps done at the start of the round; how many are to come in it */
	bool tuned;		/* adaptive: nothing to learn until something changes */
};

struct fit_progress_model {
	const char *name;
	bool has_epochs;
	bool no_batches;	/* it has epochs, and no batch sizes */
	bool has_plans;		/* jobs run by execution plans */
	bool alone;		/* all that it needs to know of a job is in its row */
	/* The allocation changed to a (not empty); progress flows again from from_ns on. */
	int (*place)(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t from_ns,
		     struct fit_err *err);
	/* Account for the time up to now_ns (the allocation is about to change). */
	void (*advance)(const struct fit_job *j, struct fit_run *r, int64_t now_ns);
	/* When the current epoch (or the job) ends: *at_ns on the clock, INT64_MAX: not as things are.
	 * *late: the exact instant is after *at_ns and was rounded down to it. */
	int (*next)(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		    int64_t *at_ns, bool *late, struct fit_err *err);
	/* The instant of next() has come: close the epoch. *finished: that was the last one. */
	int (*pass)(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t now_ns,
		    bool *finished, struct fit_err *err);
	/* Something outside has changed (slowdown) or time went by: learn, choose the batch size anew.
	 * *changed: the rate is another one, so next() has to be asked. NULL: nothing to do ever. */
	int (*retune)(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t now_ns,
		      bool *changed, struct fit_err *err);
	/* The slowdown changed (after advance()). NULL: has no effect. */
	int (*slow)(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, struct fit_err *err);
	/* Work done at now_ns, in the unit of the event log. */
	double (*work)(const struct fit_job *j, const struct fit_run *r, int64_t now_ns);
};

extern const struct fit_progress_model fit_progress_fixed, fit_progress_profile, fit_progress_adaptive,
	fit_progress_speedup, fit_progress_shared, fit_progress_plans, fit_progress_steps;

/* How long so many steps take, to the nearest nanosecond. */
int64_t fit_steps_ns(double steps, double rate);

#endif
