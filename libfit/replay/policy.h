/* SPDX-License-Identifier: MIT */
/*
 * Policies: who runs where.
 *
 * A policy is a const struct of functions. The engine tells it who came and who left, wakes it at
 * its instants, and lets it fill in a plan. The engine, not the policy, applies the plan, so every
 * policy is held to the same capacity and restart rules. What a policy knows of a job's future
 * comes from the predictions below, never from the progress model.
 */
#ifndef FIT_REPLAY_POLICY_H
#define FIT_REPLAY_POLICY_H

#include "libfit/base/linkage.h"
#include "libfit/replay/cluster.h"
#include "libfit/replay/fidelity.h"
#include "libfit/replay/profiler.h"
#include "libfit/replay/replay_jobs.h"

FIT_C_BEGIN

/* ---- what a policy sees (read-only) ---- */

struct fit_engine;
struct fit_part;

struct fit_provisioner;

struct fit_view {
	const struct fit_engine *engine;
	const struct fit_part *part;
	uint32_t partition;			/* which one: those jobs that are of it come here */
	const struct fit_job *jobs;		/* all jobs, in order; use those that arrived here only */
	size_t n_jobs;
	int32_t first_node;			/* number of its node 0 in the whole cluster, as logged */
	const uint32_t *members;		/* the jobs of this partition, in order; job.local is the place here */
	size_t n_members;
	const struct fit_cluster *cluster;
	const struct fit_provisioner *provisioner;	/* one, or one for each GPU type; NULL: the cluster is fixed */
	const struct fit_colocation *colocation;	/* NULL: nobody shares a GPU */
	const struct fit_fidelity *fidelity;
	int64_t interval_ns;			/* 0: woken by events */
	int64_t now_ns;
};

/* A job that is in the system; it lives until another one comes. */
const struct fit_job *fit_view_job(const struct fit_view *v, uint32_t j);
/* A number below the largest number of jobs in the system so far, that only this one of them has;
 * FIT_NO_SLOT: it has left. With policies that do not have FIT_SLOTS: j. */
#define FIT_NO_SLOT UINT32_MAX
uint32_t fit_view_slot(const struct fit_view *v, uint32_t j);
/* Jobs that arrived and are not finished, ascending; valid during one decision. */
const uint32_t *fit_view_active(const struct fit_view *v, size_t *n);
int64_t fit_view_gpus(const struct fit_view *v, uint32_t j);	/* held now; 0 while waiting */
int32_t fit_view_type(const struct fit_view *v, uint32_t j);	/* of those: of cluster->types; FIT_ANY_TYPE */
int64_t fit_view_epoch(const struct fit_view *v, uint32_t j);	/* epochs completed */
double fit_view_work(const struct fit_view *v, uint32_t j);	/* progress, in the log's unit */
const struct fit_alloc *fit_view_alloc(const struct fit_view *v, uint32_t j);
int64_t fit_view_restarts(const struct fit_view *v, uint32_t j);	/* changes after the first start */
int64_t fit_view_submit_ns(const struct fit_view *v, uint32_t j);	/* when it came: job.submit_ns, or later */
int64_t fit_view_service_gpu_ns(const struct fit_view *v, uint32_t j);	/* held so far: GPUs x ns */
/* What the job's agent has learned; NULL unless the policy has FIT_ADAPTIVE. */
struct fit_agent *fit_view_agent(const struct fit_view *v, uint32_t j);
/* The same on GPUs of another type, where jobs have applications by type (job.apps). */
struct fit_agent *fit_view_agent_on(const struct fit_view *v, uint32_t j, int32_t type);
/* Holds GPUs, and stands still yet after a change. */
bool fit_view_restarting(const struct fit_view *v, uint32_t j);
/* Runs alone on its GPUs, and may share them. */
bool fit_view_alone(const struct fit_view *v, uint32_t j);
uint16_t fit_view_exec_plan(const struct fit_view *v, uint32_t j);	/* by which it runs, or would */
int64_t fit_view_restart_ns(const struct fit_view *v, uint32_t j);	/* cost of a change */

/* ---- predictions (oracle: from the durations or the profile; predict.c) ---- */

/* Run time alone on the GPUs asked for, and what is left of it; ns. */
int fit_predict_duration(const struct fit_view *v, uint32_t j, int64_t *ns,
			 struct fit_err *err) FIT_MUST_CHECK;
int fit_predict_remaining(const struct fit_view *v, uint32_t j, int64_t *ns,
			  struct fit_err *err) FIT_MUST_CHECK;
/* Seconds of one optimiser step, accumulation included, at the job's own total batch size on
 * gpus GPUs, packed node_gpus a node; FIT_EDATA outside of what was measured. */
int fit_predict_step(const struct fit_view *v, uint32_t j, int64_t gpus, int64_t node_gpus,
		     bool single_gpu_accumulates, double *step_s, struct fit_err *err) FIT_MUST_CHECK;

/* ---- what a policy decides ---- */

struct fit_plan;
/* Grant job j this many GPUs from now on; 0 takes away what it holds. A job that holds that many
 * already keeps its nodes; others are placed in the order of the calls, and wait on where the placement
 * finds no room for them. Jobs that are not named keep what they have. */
int fit_plan_grant(struct fit_plan *p, uint32_t j, int64_t gpus) FIT_MUST_CHECK;
/* The same, on GPUs of that type (of cluster.types), where the job is placed anew; fit_plan_grant() leaves
 * it at the type that the job asks for, or at any one. */
int fit_plan_grant_type(struct fit_plan *p, uint32_t j, int64_t gpus, int32_t type) FIT_MUST_CHECK;
/* Start waiting job j on the GPUs that it asked for, if the placement finds room now, beside all that
 * the plan has started this way; *fits says whether it did. For policies that do not preempt. */
int fit_plan_try(struct fit_plan *p, uint32_t j, bool *fits) FIT_MUST_CHECK;
/* Put job j on exactly these shares (copied); it keeps them without a restart when it holds just
 * these already. */
int fit_plan_place(struct fit_plan *p, uint32_t j, const struct fit_share *shares, size_t n) FIT_MUST_CHECK;
/* The same by an execution plan: a number in the table of times. fit_plan_place() and others leave the job
 * the plan that it has, its own at first. */
int fit_plan_place_as(struct fit_plan *p, uint32_t j, const struct fit_share *shares, size_t n,
		      uint16_t exec_plan) FIT_MUST_CHECK;
/* Start waiting job j on the GPUs of job with, which runs alone, or which this plan starts. Both ask for
 * the same number, and run from then on at the speeds that were measured for the two. */
int fit_plan_share(struct fit_plan *p, uint32_t j, uint32_t with) FIT_MUST_CHECK;
/* Elastic clusters: have so many nodes of a type from now on, once the plan is applied. Takes effect only
 * with an autoscaling rule that asks the policy (`plan`); see want_nodes below for before the decision. */
int fit_plan_want_nodes(struct fit_plan *p, int32_t type, int64_t nodes) FIT_MUST_CHECK;

/* ---- the policy itself ---- */

/* Queues of attained service. */
#define FIT_QUEUES_MAX 16
struct fit_queues {
	int64_t limit_s[FIT_QUEUES_MAX - 1];	/* service with which a job leaves each queue but the last; ascending */
	size_t n_limits;
	bool by_time;		/* service is executed time; false: times GPUs */
	double promote;		/* back to the first after waiting so many times what was executed; 0: never */
};

struct fit_boa_widths;
struct fit_boa_learner;
struct fit_job_classes;
struct fit_allocations;
struct fit_plan_times;
struct fit_rubick_models;
struct fit_policy_params {
	struct fit_queues queues;		/* Tiresias */
	const double *gpu_times;		/* gittins: GPU-seconds of past jobs (borrowed); NULL: of the jobs themselves */
	size_t n_gpu_times;
	const char *gpu_times_hash;		/* for the metadata, or NULL */
	bool gittins_artifact;			/* as the Tiresias simulator has it, not the paper */
	double pollux_power;			/* p of the power mean of speedups; not 0 */
	bool pollux_interfere;			/* let several spanning jobs share a node */
	enum fit_pollux_search { FIT_SEARCH_LOCAL, FIT_SEARCH_GA, FIT_SEARCH_BOTH } pollux_search;
	/* Told what each decision of a search found: fitness, its upper bound (local), or what the other
	 * search found on the same problem (both; NAN else). NULL: nobody listens. */
	void (*pollux_found)(void *listener, int64_t time_ns, int n_jobs, double fitness, double bound,
			     double other);
	void *pollux_listener;
	double sia_power;		/* p: utilities are goodputs to the power of p; not 0 */
	double sia_lambda;		/* what a job without GPUs costs, in the unit of utilities */
	uint64_t seed;
	const struct fit_boa_widths *boa;	/* FIT_NEEDS_PLAN: plans that stay as they are (borrowed), or */
	struct fit_boa_learner *boa_learner;	/* what computes them anew, with the classes of the jobs */
	const struct fit_job_classes *boa_classes;
	bool boa_given;				/* there will be one: it is read after this was checked */
	int64_t boa_resolve_ns;			/* at multiples of this; 0: never */
	const struct fit_plan_times *plan_times;	/* FIT_NEEDS_PLAN_TIMES (borrowed) */
	const struct fit_rubick_models *rubick_models;	/* what is believed of plans; NULL: what is true (borrowed) */
	const struct fit_allocations *allocations;	/* FIT_NEEDS_ALLOCATIONS (borrowed) */
	/* lucid and horus: who shares GPUs */
	bool pack;			/* false: nobody */
	bool estimate;			/* lucid: by predicted GPU time, and short ones beside long ones only; false: by
					 * arrival */
	int64_t pack_score;		/* lucid: highest sum of the labels of two */
	double pack_util_pct;		/* horus: highest sum of utilisations */
	double gpu_mem_mib;		/* memory of a GPU: two need less together */
	int64_t pack_gpus;		/* jobs on more GPUs share with nobody */
	int64_t wide_wait_ns;		/* when one of these has waited for longer, nobody takes free GPUs before it;
					 * negative: whoever fits always does */
	/* gavel: shares are computed anew this long after the last time at the earliest */
	int64_t gavel_reallocate_ns;
	/* Told each share that is computed, and what all of them come to, with its bound. NULL: nobody listens. */
	void (*gavel_found)(void *listener, int64_t time_ns, const char *job, const char *type, double share,
			    double value, double bound);
	void *gavel_listener;
	const struct fit_forecast *forecast;	/* lucid: share while this many jobs are expected; NULL: always */
	double forecast_jobs;
};
struct fit_policy_params fit_policy_params_default(void);

#define FIT_NEEDS_PROFILE 1u	/* no sense without an application profile */
#define FIT_NEEDS_INTERVAL 2u	/* decides at regular intervals only */
#define FIT_ADAPTIVE 4u		/* jobs choose their batch size themselves */
#define FIT_SEEDED 8u		/* draws random numbers */
#define FIT_PREDICTED 128u	/* needs a prediction of each job's duration */
#define FIT_COUNTS_DOWN 256u	/* see fidelity.h: the remaining work of running jobs is counted down */
#define FIT_NEEDS_ALLOCATIONS 2048u	/* no sense without a table of them; what jobs ask for does not count */
#define FIT_CAPS_BATCH 8192u	/* with FIT_ADAPTIVE: jobs stay within the batch sizes that were measured */
#define FIT_ONE_TYPE 4096u		/* knows GPUs of one type only */
#define FIT_BLIND 4194304u	/* runs on several types and takes no notice: a job has one agent, which learns on
				 * all of them, and has to be measured on each. Elastic clusters have one type */
#define FIT_NEEDS_PLAN_TIMES 16384u	/* no sense without times of execution plans */
#define FIT_CHOOSES_PLANS 32768u	/* and it chooses the plan of a job; what the job asks for does not count */
#define FIT_NEEDS_RATES 262144u	/* no sense without measured rates by GPU type */
#define FIT_SLOTS 2097152u	/* takes jobs by fit_view_job() alone, never by view.jobs and members, and
				 * asks of none that has left: so they can be read as they come */
#define FIT_OWN_CLOCK 524288u	/* without an interval: decides at next_wake alone, whoever comes and goes */
#define FIT_MOLDS 1048576u	/* gives each job as many GPUs as it thinks best: no place for rigid ones */
#define FIT_SHARES 1024u		/* jobs share GPUs: needs measurements of configurations */
#define FIT_ONLY_NEWS 16u	/* decides nothing new before a job arrives or finishes, or next_wake: ticks until
				 * then are passed over */
#define FIT_DRAINS 32u		/* elastic clusters: moves jobs away from nodes that are leaving (closed
				 * in the cluster); without, a node goes only once it happens to be empty */
#define FIT_NEEDS_PLAN 512u	/* no sense without speedups and a table of plans */
#define FIT_WAKE_EPOCHS 64u	/* an epoch that ends is a reason to decide, as an arrival is */
#define FIT_ENDS_AS_PLACED 65536u	/* where ends have an order (fidelity.h): that in which jobs were placed */

struct fit_policy {
	const char *name;
	const char *summary;
	unsigned needs;
	int64_t interval_ns;	/* its default interval where the fidelity profile has none; 0: woken by events */
	int (*init)(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		    struct fit_err *err);
	void (*free)(void *state);
	/* A job arrived; a job finished. NULL: of no interest. */
	int (*arrive)(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err);
	void (*leave)(void *state, const struct fit_view *v, uint32_t j);
	/* The plan came true: j holds other GPUs than before, or none any more; or the job beside it on its GPUs
	 * came or went. NULL: of no interest. */
	int (*changed)(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err);
	int (*decide)(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err);
	/* Woken by events, or FIT_ONLY_NEWS: a further instant at which to decide; INT64_MAX: none.
	 * NULL: never. */
	int64_t (*next_wake)(void *state, const struct fit_view *v);
	/* Of jobs that end at one instant, where ends have an order (fidelity.h): those with less come first.
	 * NULL: as the job index has it. */
	int64_t (*end_order)(void *state, const struct fit_view *v, uint32_t j);
	/* Its parameters and conventions, for the log's metadata. NULL: it has none. */
	int (*describe)(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *meta);
	/* Elastic clusters, asked right before decide(): the nodes that it would like to have, any number, of the
	 * provisioner's type. NULL: it has no opinion. */
	int (*want_nodes)(void *state, const struct fit_view *v, const struct fit_provisioner *p, int64_t *nodes,
			  struct fit_err *err);
	/* The cluster efficiency, 0 … 1, that its allocation of now would have on so many nodes. NULL: it
	 * cannot tell. */
	int (*efficiency)(void *state, const struct fit_view *v, int64_t nodes, double *efficiency,
			  struct fit_err *err);
};

/* All policies; ends with NULL. */
extern const struct fit_policy *const fit_policies[];
/* The one of that name, or NULL. */
const struct fit_policy *fit_policy_named(const char *name);
extern const struct fit_policy fit_policy_fifo, fit_policy_sjf, fit_policy_srtf, fit_policy_tiresias,
	fit_policy_optimus, fit_policy_pollux, fit_policy_qssf, fit_policy_boa, fit_policy_lucid,
	fit_policy_horus, fit_policy_follow, fit_policy_gavel_fifo, fit_policy_gavel_isolated,
	fit_policy_gavel_fairness, fit_policy_gavel_agnostic, fit_policy_gavel_makespan, fit_policy_gavel_finish,
	fit_policy_gavel_throughput, fit_policy_rubick, fit_policy_fjf, fit_policy_shortest,
	fit_policy_shortest_gpu, fit_policy_smallest, fit_policy_gittins, fit_policy_tiresias_g, fit_policy_sia;

FIT_C_END

#endif
