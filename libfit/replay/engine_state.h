/* SPDX-License-Identifier: MIT */
/*
 * Inside the engine: what a replay knows at one instant, and what its files do for each other. Private
 * to engine*.c; a policy sees the view (policy.h), and nothing of this.
 *
 * engine.c runs the clock. At each instant it takes ends from the queue (engine_queue.c) and jobs in
 * order of arrival (engine_arrivals.c), and has parts decide: the policy fills in a plan, which
 * engine_plan.c checks and applies. engine_slots.c keeps what is known of each job, engine_jobs.c does what
 * happens to single jobs, engine_nodes.c what happens to nodes, engine_log.c tells it to the event log. Jobs
 * are indices, as in the view.
 *
 * Functions that return an int return a status: FIT_ENOMEM, or what a model, a policy or the writer of
 * the log failed with.
 */
#ifndef FIT_REPLAY_ENGINE_STATE_H
#define FIT_REPLAY_ENGINE_STATE_H

#include "libfit/base/rng.h"
#include "libfit/replay/engine.h"
#include "libfit/replay/event_log.h"
#include "libfit/replay/predict.h"
#include "libfit/replay/progress.h"

/* The clock stops here, 190 years after the trace origin: a further century, the longest interval or
 * restart delay, still fits an int64. */
#define HORIZON_NS (INT64_MAX - FIT_REPLAY_SPAN_MAX_NS)

enum status { FUTURE, PROFILING, WAITING, RUNNING, FINISHED, REJECTED };

struct job_state {
	struct fit_alloc alloc;
	struct fit_alloc ghost;	/* what it ran on when its GPUs were taken, while it runs on without */
	struct fit_run run;
	int64_t submit_ns;	/* when it came; valid from then on */
	int64_t service_gpu_ns, since_ns;	/* GPU time up to since_ns, when the allocation began */
	int64_t restarts;
	int64_t delay_ns;	/* restart delay of this allocation */
	struct fit_alloc was;	/* what it held before this decision, where only the shape of it matters */
	uint32_t stamp;		/* of its one valid event in the queue */
	uint32_t partner;	/* shares its GPUs; NOBODY: runs alone */
	uint32_t order;		/* of its placement, among all */
	uint8_t status;
	bool started;
	bool marked;		/* goes on as if it shared, although the other has gone */
	bool in_plan;
};

#define NOBODY UINT32_MAX

/* Kinds of events of one instant, in their order. */
enum kind { ENDS, ENDS_LATE };

struct queued {
	int64_t at_ns;
	uint8_t kind;
	uint32_t order;		/* breaks ties */
	uint32_t job, stamp;
};

struct grant {
	uint32_t job, with;		/* with: whose GPUs it shares; NOBODY */
	bool sharing;			/* with says with whom */
	bool shifts;			/* it moves, and is not restarted */
	bool planned;			/* exec_plan says by which plan */
	bool taken;			/* its GPUs are taken already (fit_plan_try) */
	uint16_t exec_plan;		/* FIT_NO_EXEC_PLAN: the one that it has */
	int64_t gpus;
	int32_t type;			/* of these GPUs, where the engine chooses the nodes */
	size_t shares_at, n_shares;	/* in plan.shares; n_shares 0: the engine chooses */
};

struct fit_plan {
	struct fit_engine *engine;
	struct fit_part *part;		/* that is decided on */
	struct grant *grants;
	size_t n, cap;
	struct fit_share *shares;
	size_t shares_n, shares_cap;
	int64_t want_nodes[FIT_GPU_TYPES_MAX];	/* by type; -1: not said */
};

/* A part of the cluster that is scheduled by itself: the whole, or one virtual cluster. */
struct fit_part {
	struct fit_cluster *cluster;
	int32_t first_node;	/* its number in the whole */
	struct fit_view view;
	void *policy_state;
	struct fit_engine *engine;
	struct fit_provisioner *prov;	/* elastic clusters only, one, or one for each GPU type */
	size_t n_prov;
	void *scaler_state;
	uint16_t *spanning;	/* per node: jobs on several nodes that use it */
	int32_t *numbers;	/* per node: its number in the whole; NULL: first_node and so on */
	uint32_t *members;	/* its jobs, in order */
	size_t n_members;
	/* arrived and unfinished, ascending; holes are closed on demand */
	uint32_t *active;
	size_t active_n, active_cap, active_holes;
	/* finished, GPUs booked to the end of the interval */
	uint32_t *booked;
	size_t booked_n, booked_cap;
	int64_t last_tick_ns, due_ns;
	bool news;		/* someone came or left since the last decision */
};

/* The part that lends the profiler a node (engine_lend.c). */
struct fit_lending {
	struct fit_part *part;
	int32_t *name;		/* of each node */
	int32_t node, number;	/* what is lent, or was last: in the part (-1: nowhere), and in the whole */
	int32_t n_further;	/* nodes of the profiler that nobody gave */
	bool lent_once;
};

/*
 * Where the state of a job is. With policies that have FIT_SLOTS only jobs in the system have a state,
 * in slots that are used again (engine_slots.c); and a stream of jobs (job_stream.h) has the jobs
 * themselves there, too.
 */
struct fit_slots {
	uint32_t *of;		/* per job that came so far; FIT_NO_SLOT: not in the system (any more). NULL: slot j is
				 * that of job j, always */
	size_t n_of, cap_of;
	uint32_t *free;
	size_t n_free, cap_free;
	size_t n, cap;		/* in use, or free; room in engine.state */
	struct slot_job {
		struct fit_job job;
		struct fit_str texts;
	} *jobs;		/* of a stream; else NULL */
	size_t cap_jobs;
};

struct fit_engine {
	const struct fit_jobs *jobs;
	const struct fit_partitions *partitions;
	struct fit_part *parts;
	size_t n_parts;
	uint32_t *members;	/* jobs by partition, in order */
	const struct fit_replay_params *p;
	const struct fit_progress_model *model;
	struct fit_predictor predictor;
	struct fit_throughput *fitter;	/* shared by the agents */
	gsl_rng *placing;		/* placement random only */
	struct fit_log log;
	struct job_state *state;	/* by slot */
	struct fit_slots slots;
	uint64_t beats;		/* of the clock, for the meter */
	bool ended;		/* a stream of jobs: all were read */
	int64_t now_ns;
	struct fit_plan plan;
	struct fit_replay_counts counts;
	/* queue of ends: a binary heap; entries whose stamp is old are passed over */
	struct queued *heap;
	size_t heap_n, heap_cap;
	/* arrivals in time order; NULL: they are in that order */
	uint32_t *arrivals;
	size_t next_arrival, n_arrivals;
	size_t unfinished, running, in_system;
	bool shares;			/* jobs may share GPUs */
	uint32_t placed;		/* placements so far */
	uint32_t *stale;	/* stale_ends: what will end at the arrival of that instant, done or not */
	size_t n_stale, cap_stale;
	int64_t stale_ns;
	struct fit_profiler_params profiler_params;
	struct fit_profiler *profiler;	/* NULL: none */
	struct fit_profiling profiling;
	size_t next_profile;		/* in profiling.events */
	struct fit_lending lending;
};

/* ---- where jobs are (engine_slots.c) ---- */

static inline uint32_t fit_engine_slot(const struct fit_engine *g, uint32_t j)
{
	return g->slots.of ? g->slots.of[j] : j;
}

/* Of a job that has a slot. It moves when a job comes. */
static inline struct job_state *fit_engine_state(const struct fit_engine *g, uint32_t j)
{
	return &g->state[fit_engine_slot(g, j)];
}

static inline const struct fit_job *fit_engine_job(const struct fit_engine *g, uint32_t j)
{
	return g->jobs->stream ? &g->slots.jobs[g->slots.of[j]].job : &g->jobs->jobs[j];
}

static inline bool fit_engine_is_finished(const struct fit_engine *g, uint32_t j)
{
	return fit_engine_slot(g, j) == FIT_NO_SLOT || fit_engine_state(g, j)->status == FINISHED;
}

/* Make room for the states of all jobs, or for slots. */
int fit_engine_open_slots(struct fit_engine *g, struct fit_err *err) FIT_MUST_CHECK;
void fit_engine_close_slots(struct fit_engine *g);
/* See to it that the next arrival is known, if there is one. */
int fit_engine_load_next(struct fit_engine *g, struct fit_err *err) FIT_MUST_CHECK;
/* A job that was not in the system gets its slot now, if it has none. FIT_ENOMEM, without a message. */
int fit_engine_take_slot(struct fit_engine *g, uint32_t j) FIT_MUST_CHECK;
/* A job is gone for good, and holds nothing. */
void fit_engine_leave_slot(struct fit_engine *g, uint32_t j);

static inline struct fit_part *fit_engine_part_of(const struct fit_engine *g, uint32_t j)
{
	return &g->parts[fit_engine_job(g, j)->partition];
}

/* Which job comes as the i-th. */
static inline uint32_t fit_engine_arrival(const struct fit_engine *g, size_t i)
{
	return g->arrivals ? g->arrivals[i] : (uint32_t)i;
}

/* The view of a part at this instant. */
static inline const struct fit_view *fit_engine_view_of(const struct fit_engine *g, struct fit_part *p)
{
	p->view.now_ns = g->now_ns;
	return &p->view;
}

/* ---- the queue of ends (engine_queue.c) ---- */

/* Take the first end away. */
void fit_engine_drop_end(struct fit_engine *g);
/* Has something happened to the job since, so that it does not end so? */
static inline bool fit_engine_is_void(const struct fit_engine *g, const struct queued *q)
{
	uint32_t slot = fit_engine_slot(g, q->job);

	return slot == FIT_NO_SLOT || q->stamp != g->state[slot].stamp;
}

/* The first valid end, or NULL; it lives until the queue changes. */
static inline const struct queued *fit_engine_next_end(struct fit_engine *g)
{
	while (g->heap_n && fit_engine_is_void(g, &g->heap[0]))
		fit_engine_drop_end(g);
	return g->heap_n ? &g->heap[0] : NULL;
}

/* Take away the end of this instant (there is one, of kind ENDS) that comes first in the policy's order; its
 * job. */
uint32_t fit_engine_take_end(struct fit_engine *g);

/* Queue the next end of an epoch, or of the job, which runs; an end that was queued before is void.
 * FIT_EDATA: beyond the horizon. */
int fit_engine_queue_end(struct fit_engine *g, uint32_t j, struct fit_err *err) FIT_MUST_CHECK;

/* ---- the active jobs of a part, and what is known of them (engine_view.c) ---- */

/* FIT_ENOMEM, without a message. */
int fit_engine_add_active(struct fit_part *p, uint32_t j) FIT_MUST_CHECK;
/* Take finished jobs out of the list. */
void fit_engine_close_holes(const struct fit_engine *g, struct fit_part *p);
/* Work done by now: it flows while the job runs. */
double fit_engine_job_work(const struct fit_engine *g, uint32_t j);
/* The restart delay of a job: what the user says, else its application or class. */
int64_t fit_engine_restart_ns(const struct fit_engine *g, uint32_t j);

/* ---- rows of the log (engine_log.c) ---- */

/* A row of a job. holds: it says the GPUs that the job holds, else none; placed: and its restart delay. */
int fit_engine_log_placed(struct fit_engine *g, const char *name, uint32_t j, bool holds, bool placed,
			  struct fit_err *err) FIT_MUST_CHECK;
/* The same of a job that was not placed right now. */
int fit_engine_log_job(struct fit_engine *g, const char *name, uint32_t j, bool holds,
		       struct fit_err *err) FIT_MUST_CHECK;
/* A row of a job on nodes of the profiler. */
int fit_engine_log_profile(struct fit_engine *g, const char *name, uint32_t j, bool holds, double work,
			   struct fit_err *err) FIT_MUST_CHECK;
/* A row of a node: the provisioner's event(), arg a struct fit_part. */
int fit_engine_log_node(void *arg, const char *name, int32_t node, struct fit_err *err) FIT_MUST_CHECK;

/* ---- what the log says of the replay as a whole (engine_meta.c) ---- */

/* given and then the replay's own metadata. FIT_ENOMEM, without a message. */
int fit_engine_describe(struct fit_engine *g, const struct fit_meta *given,
			struct fit_meta *m) FIT_MUST_CHECK;
/* What is known of a stream of jobs once it was read, behind the rows of the log. */
int fit_engine_tell_stream(const struct fit_engine *g, struct fit_writer *w,
			   struct fit_err *err) FIT_MUST_CHECK;
/* Is the restart delay not the same for all jobs? */
bool fit_engine_restarts_differ(const struct fit_engine *g);

/* ---- what happens to jobs (engine_jobs.c) ---- */

/* A job loses what it holds; its service is counted up to now. */
void fit_engine_take_away(struct fit_engine *g, uint32_t j);
void fit_engine_drop_agent(struct job_state *s);
/* Interference, from the allocations that now hold: jobs whose rate it changes are queued anew. */
int fit_engine_set_slowdowns(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
/* Tell the policy that the allocation or the speed of a job is another one. */
int fit_engine_tell_changed(struct fit_engine *g, uint32_t j, struct fit_err *err) FIT_MUST_CHECK;
/* j, which runs, has another partner (NOBODY: none) from now on, and another speed. */
int fit_engine_set_partner(struct fit_engine *g, uint32_t j, uint32_t partner, double speed,
			   struct fit_err *err) FIT_MUST_CHECK;
/* The epoch that a job is in ends, and with the last one the job. */
int fit_engine_end_epoch(struct fit_engine *g, uint32_t j, struct fit_err *err) FIT_MUST_CHECK;
/* A job that is in the system finishes now, whatever work is left. */
int fit_engine_end_early(struct fit_engine *g, uint32_t j, struct fit_err *err) FIT_MUST_CHECK;
/* GPUs of finished jobs that were booked to the end of the interval become free. */
int fit_engine_release_booked(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;

/* ---- how jobs come (engine_arrivals.c) ---- */

/* Put the jobs in the order of arrival. FIT_ENOMEM, without a message. */
int fit_engine_order_arrivals(struct fit_engine *g) FIT_MUST_CHECK;
/* When the next job comes: INT64_MAX when there is none, or the system is full and it has to wait until
 * one ends. */
static inline int64_t fit_engine_next_submit_ns(const struct fit_engine *g)
{
	int64_t at;

	if (g->next_arrival == g->n_arrivals ||
	    (g->p->max_active && (int64_t)g->in_system >= g->p->max_active))
		return INT64_MAX;
	at = fit_engine_job(g, fit_engine_arrival(g, g->next_arrival))->submit_ns;
	return at > g->now_ns ? at : g->now_ns;
}

/* A job is submitted: it enters the queue of its part, waits for its profile, or is rejected. */
int fit_engine_arrive(struct fit_engine *g, uint32_t j, struct fit_err *err) FIT_MUST_CHECK;
/* What the profiler has done that is not told yet, or NULL. */
static inline const struct fit_profile_event *fit_engine_next_profile(const struct fit_engine *g)
{
	return g->next_profile < g->profiling.n_events ? &g->profiling.events[g->next_profile] : NULL;
}

int fit_engine_profile_event(struct fit_engine *g, const struct fit_profile_event *x,
			     struct fit_err *err) FIT_MUST_CHECK;

/* ---- a decision takes effect (engine_plan.c) ---- */

/* Let running jobs learn from the time since the last decision. */
int fit_engine_retune(struct fit_engine *g, const struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
/* Carry out the plan, and empty it. FIT_EINVAL: the policy grants what is not there. */
int fit_engine_apply_plan(struct fit_engine *g, struct fit_err *err) FIT_MUST_CHECK;

/* ---- nodes for the profiler (engine_lend.c) ---- */

/* If there is a lender, let the profiler borrow from it. */
int fit_engine_set_lender(struct fit_engine *g, struct fit_profiler_params *p,
			  struct fit_err *err) FIT_MUST_CHECK;

/* ---- elastic clusters (engine_nodes.c) ---- */

/* All nodes are off, and there is who rents and returns them; the way back. */
int fit_engine_open_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
void fit_engine_close_nodes(struct fit_part *p);
/* When something happens to the nodes of a part by itself; INT64_MAX: never. */
int64_t fit_engine_part_node_ns(const struct fit_part *p);
/* A job was given nodes. Is one of them cold? They are warm from then on. */
bool fit_engine_warm_nodes(struct fit_part *p, const struct fit_alloc *a);
/* What an autoscaling rule sees of a part. */
struct fit_scaling fit_engine_scaling_of(struct fit_engine *g, struct fit_part *p);
/* Ask for so many nodes. */
int fit_engine_want_nodes(struct fit_engine *g, struct fit_part *p, int64_t nodes,
			  struct fit_err *err) FIT_MUST_CHECK;
/* What the plan that was applied says of nodes. */
int fit_engine_scale_as_planned(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
/* The autoscaling rule, if there is one, asks for nodes. */
int fit_engine_scale(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
/* A part with nodes that are up by now, or NULL; then they take jobs. */
struct fit_part *fit_engine_starting_part(struct fit_engine *g);
int fit_engine_start_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err) FIT_MUST_CHECK;
/* The instant is over: nodes that nobody wants go. */
int fit_engine_settle_nodes(struct fit_engine *g, struct fit_err *err) FIT_MUST_CHECK;
/* When something happens to nodes by itself, and whether there are nodes to return yet. */
int64_t fit_engine_next_node_ns(const struct fit_engine *g, bool *more);

#endif
