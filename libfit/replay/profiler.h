/* SPDX-License-Identifier: MIT */
/*
 * The non-intrusive profiler of Lucid (Hu et al., ASPLOS'23, section 3.2): nodes set apart on which
 * each job up to a size runs first, for a limited time. Jobs that end within it are done; the
 * others are known by then, and start from the beginning in the cluster.
 *
 * Jobs wait in one queue, whose head blocks. Space-aware: fewest GPUs first, then order of arrival;
 * naive: order of arrival. They are consolidated (placement.h) unless something else is asked for.
 * Time-aware scaling: the profiler takes in one more node when many jobs wait, and gives it back when
 * nobody needs it and few GPUs are expected.
 *
 * It runs by itself (fit_profiler_run), or beside a replay, whose clock then drives it: at each instant first
 * fit_profiler_end(), then, once the replay's jobs have ended and come, fit_profiler_begin().
 */
#ifndef FIT_REPLAY_PROFILER_H
#define FIT_REPLAY_PROFILER_H

#include "libfit/base/linkage.h"
#include "libfit/replay/replay_jobs.h"

FIT_C_BEGIN

/* A forecast of the load, for scaling and for the policy lucid. */
struct fit_forecast {
	const int64_t *time_ns;		/* ascending */
	const double *jobs, *gpus;	/* expected in the bin that starts then */
	size_t n;
};
/* The mean of x over the next rows after now_ns: the first five if six are left, else all. NAN: none. */
double fit_forecast_mean(const struct fit_forecast *f, const double *x, int64_t now_ns);

struct fit_profiler_params {
	int32_t nodes;			/* 0: no profiler */
	int32_t node_gpus;
	int64_t limit_ns;		/* T_prof: a job runs no longer than that */
	int64_t most_gpus;		/* larger jobs are not profiled */
	bool naive;
	int placement;			/* enum fit_placement_kind */
	/* With a forecast only: at multiples of grow_ns a node more (one at most) while more than grow_above jobs
	 * wait; at those of shrink_ns it goes back when it is empty, fewer than shrink_below wait, and the forecast
	 * of GPUs is at most shrink_gpus. */
	const struct fit_forecast *forecast;
	int64_t grow_ns, shrink_ns;
	size_t grow_above, shrink_below;
	double shrink_gpus;
	bool keeps_unforeseen;		/* it does not go back where nothing is forecast any more */
	/* Who lends that node and takes it back. borrow: *node is the number that the further node has from now on,
	 * for the shares of jobs; -1: nobody has one to spare. NULL: there always is one, number `nodes`. */
	int (*borrow)(void *lender, int32_t *node, struct fit_err *err);
	int (*give_back)(void *lender, struct fit_err *err);
	void *lender;
};
struct fit_profiler_params fit_profiler_params_default(void);
/* NULL, or what is wrong in one sentence. */
const char *fit_profiler_params_check(const struct fit_profiler_params *p);

struct fit_profiled {
	int64_t start_ns, end_ns;	/* start_ns < 0: not profiled */
	bool finished;			/* the job is done at end_ns */
	uint32_t nodes_at, n_nodes;	/* in shares */
};

struct fit_profile_change {
	int64_t time_ns;
	int32_t by;			/* nodes */
};

struct fit_profile_event {
	int64_t time_ns;
	uint32_t job;
	bool ends;
};

struct fit_profiling {
	struct fit_profile_event *events;	/* in order of time; at one instant ends come first */
	size_t n_events, cap_events;
	struct fit_profiled *jobs;	/* as struct fit_jobs */
	struct fit_share *shares;	/* nodes of the profiler, numbered from 0, and number `nodes`: see lent */
	int32_t *lent;			/* by share: what borrow called the further node */
	size_t n_shares, cap_shares, cap_lent;
	struct fit_profile_change *changes;	/* of its size */
	size_t n_changes, cap_changes;
	size_t n_profiled, n_finished;
};

/*
 * Run the profiler over all jobs; they arrive in the order of js within one instant. Jobs that are too
 * large for it, or flagged too_large, are passed over. FIT_EDATA: a job has no duration.
 */
int fit_profiler_run(struct fit_profiling *out, const struct fit_jobs *js,
		     const struct fit_profiler_params *p, struct fit_err *err) FIT_MUST_CHECK;

/* The same step by step. js and p are borrowed; *out has all jobs at once, and is filled as time goes on:
 * its events grow at the end. */
struct fit_profiler;
int fit_profiler_new(struct fit_profiler **r, struct fit_profiling *out, const struct fit_jobs *js,
		     const struct fit_profiler_params *p, struct fit_err *err) FIT_MUST_CHECK;
void fit_profiler_free(struct fit_profiler *r);
/* Does the job run on the profiler at all? And does it end there? */
bool fit_profiler_takes(const struct fit_profiler_params *p, const struct fit_job *j);
bool fit_profiler_finishes(const struct fit_profiler_params *p, const struct fit_job *j);
/* When something happens next, no earlier than at the last instant; INT64_MAX: nothing. */
int64_t fit_profiler_next_ns(const struct fit_profiler *r);
/* Are there jobs to come, that wait, or run? */
bool fit_profiler_busy(const struct fit_profiler *r);
int fit_profiler_end(struct fit_profiler *r, int64_t now_ns, struct fit_err *err) FIT_MUST_CHECK;
int fit_profiler_begin(struct fit_profiler *r, int64_t now_ns, struct fit_err *err) FIT_MUST_CHECK;
void fit_profiling_release(struct fit_profiling *p);

FIT_C_END

#endif
