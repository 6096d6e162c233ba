/* SPDX-License-Identifier: MIT */
/*
 * Inside the verifier: what is known at one point of the log, and the rules that are held against
 * it. Private to libfit/verify.
 *
 * The log is a sequence of rounds. A round is passive rows (submit, reject, epoch, finish, release,
 * cluster), then, at a decision, its rows: batch, then start, move, preempt, resume. verify_log.c reads
 * rows, verify_rounds.c cuts them into rounds and calls the rules: each sees every row before it changes
 * the state (who holds what, how far each job is; verify_apply.c), and every decision after its last
 * row. Decisions that left no row are found from the state, so that a job that should have been started
 * and was not is noticed too.
 */
#ifndef FIT_VERIFY_VERIFY_STATE_H
#define FIT_VERIFY_VERIFY_STATE_H

#include "libfit/base/id_map.h"
#include "libfit/base/job_kind.h"
#include "libfit/base/num.h"
#include "libfit/model/boa_learn.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/colocation.h"
#include "libfit/model/plan_times.h"
#include "libfit/model/profile_set.h"
#include "libfit/model/speedup.h"
#include "libfit/model/step_rates.h"
#include "libfit/model/theta.h"
#include "libfit/model/throughput.h"
#include "libfit/verify/verify.h"
#include "libfit/verify/verify_columns.h"

enum verify_event {
	EV_CLUSTER,
	EV_SUBMIT,
	EV_REJECT,
	EV_START,
	EV_MOVE,
	EV_PREEMPT,
	EV_RESUME,
	EV_EPOCH,
	EV_FINISH,
	EV_RELEASE,
	EV_BATCH,
	EV_RENT,
	EV_READY,
	EV_RETURN,
	EV_SHARE,
	EV_PROFILE,
	EV_PROFILED,
	EV_LEND,
	EV_REGAIN,
	EV_SHIFT,
	EV_LOSE,
	EV_UNKNOWN
};
#define EV_BIT(e) (1u << (e))
#define EV_ACTIVE (EV_BIT(EV_START) | EV_BIT(EV_MOVE) | EV_BIT(EV_PREEMPT) | EV_BIT(EV_RESUME) | \
		   EV_BIT(EV_SHIFT) | EV_BIT(EV_LOSE))
/* Rows of a decision: jobs that learned come first, then allocations. */
#define EV_DECIDING (EV_ACTIVE | EV_BIT(EV_BATCH))
#define EV_PLACING (EV_BIT(EV_START) | EV_BIT(EV_MOVE) | EV_BIT(EV_RESUME) | EV_BIT(EV_SHIFT))
#define EV_OF_NODE (EV_BIT(EV_RENT) | EV_BIT(EV_READY) | EV_BIT(EV_RETURN))
#define EV_PROFILING (EV_BIT(EV_PROFILE) | EV_BIT(EV_PROFILED))
#define EV_LENDING (EV_BIT(EV_LEND) | EV_BIT(EV_REGAIN))
#define EV_OF_JOB (~EV_BIT(EV_CLUSTER) & ~EV_BIT(EV_UNKNOWN) & ~EV_OF_NODE & ~EV_LENDING)
#define EV_ALL (~0u)

enum verify_policy {
	POLICY_OTHER,
	POLICY_FIFO,
	POLICY_SJF,
	POLICY_SRTF,
	POLICY_TIRESIAS,
	POLICY_OPTIMUS,
	POLICY_POLLUX,
	POLICY_QSSF,
	POLICY_BOA,
	POLICY_LUCID,
	POLICY_HORUS,
	POLICY_FOLLOW,
	POLICY_FJF,
	POLICY_SHORTEST,
	POLICY_SHORTEST_GPU,
	POLICY_SMALLEST,
	POLICY_SIA,
	POLICY_RUBICK,
	POLICY_TIRESIAS_G,
	POLICY_GITTINS,
	POLICY_GAVEL	/* and those behind it */
};

/* How GPUs are found. */
enum verify_placement {
	PLACE_EMPTIEST,
	PLACE_CONSOLIDATE,
	PLACE_CONSOLIDATE_FIRST,
	PLACE_FIRST_FIT,
	PLACE_YARN,
	PLACE_RANDOM
};

/* Of nodes whose part is not that of their number. */
enum { NODE_AT_HOME, NODE_AWAY, NODE_ADOPTED };

/* The rules, in the order of the verdict table. Policy rules come before the placement rule, which
 * needs their order. */
enum verify_rule {
	RULE_META,
	RULE_INPUTS,
	RULE_LOG_ORDER,
	RULE_VOCABULARY,
	RULE_STATES,
	RULE_JOBS_ONCE,
	RULE_SUBMIT_MATCHES,
	RULE_ADMISSION,
	RULE_ALL_FINISH,
	RULE_REJECT,
	RULE_NO_RUN_BEFORE,
	RULE_NO_RUN_AFTER,
	RULE_NODE_EXISTS,
	RULE_NODES_MATCH,
	RULE_GPU_EXCLUSIVE,
	RULE_CAPACITY,
	RULE_GPU_TYPE,
	RULE_NODE_LIFE,
	RULE_NODE_CHOICE,
	RULE_NODE_NUMBER,
	RULE_GPUS_REQUESTED,
	RULE_BATCH_SPLIT,
	RULE_PROGRESS,
	RULE_EPOCH_TIME,
	RULE_WORK_COMPLETE,
	RULE_RESTART_COST,
	RULE_RELEASE,
	RULE_INSTANTS,
	RULE_PREEMPTION,
	RULE_FIFO,
	RULE_FJF,
	RULE_SJF,
	RULE_QSSF,
	RULE_SRTF,
	RULE_TIRESIAS,
	RULE_GITTINS,
	RULE_LIST,
	RULE_OPTIMUS,
	RULE_POLLUX_INTERFERENCE,
	RULE_POLLUX_DOUBLING,
	RULE_POLLUX_LIMITS,
	RULE_POLLUX_BEST,
	RULE_POLLUX_FITNESS,
	RULE_FITNESS_FOLLOWS,
	RULE_SIA_CONFIG,
	RULE_SIA_PIN,
	RULE_SIA_BEST,
	RULE_BOA_WIDTH,
	RULE_BOA_QUEUE,
	RULE_BOA_PLACEMENT,
	RULE_FOLLOW,
	RULE_RUBICK_PLAN,
	RULE_RUBICK_SLA,
	RULE_ROUND,
	RULE_SHARES,
	RULE_GAVEL_ORDER,
	RULE_CONSERVATION,
	RULE_VIRTUAL,
	RULE_SHARING,
	RULE_SHARED_SPEED,
	RULE_PACK_MEMORY,
	RULE_PACK_SCORE,
	RULE_PROFILER,
	RULE_PROFILER_ORDER,
	RULE_LENDING,
	RULE_NEXT,
	RULE_PACK_FIRST,
	RULE_CONSERVING,
	RULE_KEEP,
	RULE_PLACEMENT,
	RULE_METRICS,
	RULE_PER_JOB,
	N_RULES
};

#define VERIFY_QUEUES 16
#define NONE UINT32_MAX
#define NO_INT INT64_MIN		/* a missing integer cell */
#define NEVER INT64_MAX

struct verify_place {
	int32_t node, gpus;
};

/* A node of an elastic cluster. */
enum verify_node_state { NODE_OFF, NODE_STARTING, NODE_UP };
struct verify_node {
	int64_t gpus;
	int64_t at_ns;		/* starting: rented then; up: empty since then, or NEVER */
	uint8_t state;
	bool warm;		/* a job was placed there since it was rented */
};

/* Who says how many nodes there should be. */
enum verify_autoscale {
	SCALE_NONE,
	SCALE_PLAN,
	SCALE_DEMAND,
	SCALE_GOODPUT,
	SCALE_THROUGHPUT,
	SCALE_UTILISATION,
	SCALE_POLLUX,
	SCALE_RUBICK,
	SCALE_SIA
};

/* Nodes that a rule is asked for: all, or under SCALE_SIA those of one GPU type. */
#define VERIFY_POOLS 64
#define ANY_TYPE UINT16_MAX
struct verify_pool {
	uint16_t type;		/* or ANY_TYPE */
	size_t first, n;	/* of the nodes */
	int64_t n_rented;
	int64_t wanted;		/* nodes; -1: cannot be known */
	int64_t surplus_ns;	/* there are more since then; NEVER: there are not */
	int64_t scaled_ns;	/* the instant at which the rule was last asked; -1: never */
	bool keeps;		/* wanted counts GPUs of jobs that wait for another type */
};

/* What is paid for GPUs of a type. */
struct verify_rent {
	uint16_t type;
	int64_t gpus;		/* rented now */
	double paid;		/* GPU-seconds up to now */
	double price;		/* by the table of metrics that is compared */
};

/* Where a job is in its life. */
enum verify_job_state {
	JOB_UNSEEN,
	JOB_WAITING,	/* submitted, never started */
	JOB_RUNNING,
	JOB_PREEMPTED,
	JOB_BOOKED,	/* finished; its GPUs are not free yet */
	JOB_DONE,
	JOB_REJECTED,
	JOB_LEFT_OUT	/* of the jobs table, but no replay can run it */
};

/* One hundred years: later submissions and longer jobs are not taken by a replay. */
#define MAX_TIME_NS (INT64_C(100) * 366 * 86400 * FIT_NS_PER_S)

/* One row of the jobs table: forty bytes, since there may be millions. What few tables say is in the columns
 * of struct verify_job_columns, and the id in verifier.ids. */
struct verify_job {
	int64_t submit_ns;
	int64_t duration_ns;	/* NO_INT: not known */
	double gpus;
	uint32_t rank;		/* in the order of metadata `order` */
	uint32_t live;		/* index of its live record, or NONE */
	uint16_t app;		/* index of verifier.apps */
	uint16_t gpu_type;	/* asked for (verify_types.c); 0: any */
	uint16_t vc;		/* of v->vcs */
	uint8_t state;
	uint8_t kind : 6;	/* enum fit_job_kind */
	bool is_sla : 1, was_profiled : 1;
};

struct verify_job_columns {
	struct verify_column batch, predicted_ns;
	struct verify_column steps, weight;	/* real */
	struct verify_column plan;		/* execution plan that it asks for, of verifier.plan_names */
	struct verify_column config;		/* of the measurements */
	struct verify_column profile_ns;	/* start of its run on the profiler now */
	struct verify_column place;		/* qssf: in the order of predicted GPU time */
};

/* What jobs one after another in the queues of service come to (verify_ranks.c). */
struct verify_sum {
	uint32_t n;
	double held;			/* GPUs of those that run */
	double least;			/* GPUs of the smallest that does not run; INFINITY: all run */
	double need;			/* least GPUs with which one that does not run fits behind those before it */
	int64_t due_ns, wake_ns, tick_ns;	/* the first of theirs */
};

/* A job that is in the system. */
struct verify_live {
	uint32_t job;
	uint32_t next;			/* free list */
	uint32_t seq;			/* place in the policy's order at the last decision */
	struct verify_place *nodes;	/* held now, in the order in which they were taken */
	size_t n_nodes, cap_nodes;
	int64_t gpus;			/* held now */
	int64_t since_ns;		/* of this allocation */
	int64_t ready_ns;		/* end of its restart delay */
	int64_t delay_ns;		/* which was so long */
	int64_t last_ns;		/* the instant that progress (done_ns) is of */
	int64_t row_ns;			/* of its last row */
	int64_t done_ns;		/* executed work, without a profile */
	int64_t held_ns;		/* time with an allocation, up to since_ns */
	int64_t first_start_ns, finish_ns, release_due_ns;
	double gpu_s, gpu_busy_s;	/* up to since_ns */
	double gpu_still_s;		/* held before the finish, not busy */
	double progress;		/* with a profile: initial-batch-equivalent steps */
	double rate;			/* of progress, per second; 0: not derived, <0: cannot be */
	double quota_end;		/* rates: progress at which it stands still until the next round, */
	int64_t quota_ns;		/* and when it comes to that */
	double slow;			/* share of the rate that interference takes away */
	uint16_t exec_plan;		/* by which it runs, or ran last */
	/* kept seconds: iterations, seconds of the next one, and the progress that they were at the allocation */
	double whole, begun_s, carried;
	int64_t epoch, local_bsz, accum;
	/* queues of service: run time since it entered the first one, and time waited since it ran, both up to
	 * stands_ns, since when it runs or waits */
	int64_t served_ns, waited_ns, stands_ns;
	bool stood_running;
	/* due_ns: from when on a decision gives it another queue; wake_ns: the policy decides by itself for that;
	 * tick_ns: with an interval the same of one that runs, or the next tick where that is later */
	int64_t due_ns, wake_ns, tick_ns;
	struct verify_sum sum;		/* of the subtree of those before it (lo), itself, those behind it (hi) */
	uint32_t lo, hi;
	bool holds;			/* it runs */
	bool behind;			/* those that ran when the last decision was over */
	double number;			/* scratch: what the policy's list is sorted by */
	int64_t n_restarts, n_preempts;
	int64_t remaining_ns;		/* scratch of srtf and sjf */
	uint32_t partner;		/* job that shares its GPUs; NONE */
	uint32_t order;			/* of its placement */
	double speed;			/* shared GPUs: relative to alone */
	double left_s;			/* shared GPUs, counted down: work left at last_ns */
	double not_own_s, not_own_still_s;	/* GPU-seconds that are counted for its host */
	bool guest;			/* its GPUs are booked for the other one */
	bool marked;			/* keeps its speed although the other one has gone */
	bool on_profiler;		/* does all of its work there */
	double gain;			/* scratch of optimus: seconds that one more GPU saves */
	int64_t grant;			/* likewise */
	struct verify_agent *agent;	/* pollux: what the job has learned; NULL: nothing yet; of the GPU type that it
					 * holds */
	uint16_t agent_type;		/* of the GPUs that it holds, or held */
	int64_t config_gpus, config_ready_ns, sia_restarts;	/* sia: held at the last decision, until when it stood
								 * still then; changes of shape */
	uint16_t config_type;
	double base;			/* pollux: goodput of the fair share, at this decision */
	double restart_factor;		/* pollux: of a change, at this decision */
	bool changed;			/* pollux: this decision gives it another allocation */
	bool tuned;			/* pollux: its split was looked at, and nothing new since */
	/* boa: the plan of two; its width by now, since when, and for which epoch (counted from 1) that was
	 * looked up; it got more GPUs in this decision */
	int64_t plan, wanted, wanted_ns, wanted_epoch;
	uint16_t wanted_type;		/* boa: of that width */
	bool grew;
	double least_gpu_s;		/* speedups: work done, in GPU-seconds on the least width */
	uint8_t queue;			/* service: from 0; UINT8_MAX: in none yet */
	bool fresh_alloc;		/* no row of this allocation was seen since it was given */
	bool placed;			/* placed anew in this decision */
	bool popped;			/* scratch */
	bool finish_unclear;		/* finished with a decision; unclear which came first */
	bool ranked, taken;		/* Gittins: number is that of attained; the last decision took it */
	double attained;		/* likewise: service, as its index has it; the sample that decides it */
	size_t peak;
	int64_t listed;			/* its place in the list that the last decision left */
	int64_t place;			/* Tiresias: among those of its queue that are behind, or are not */
	int64_t joined;			/* those that wait, or those that run, as the so manieth */
	bool ran;			/* before this decision, */
	uint16_t ran_on;		/* on GPUs of this type */
};

/* One row of the log. */
struct verify_row {
	int64_t t;		/* never before the last row's */
	int64_t t_log;		/* as the log says it */
	enum verify_event ev;
	uint32_t job;		/* NONE: not in the jobs table, or none given */
	struct verify_live *live;	/* NULL: not in the system */
	bool has_id, gpus_na, nodes_na, nodes_bad, progress_na, cluster_bad;
	double gpus, progress;
	struct fit_text id, event, app, nodes_text;
	bool app_na;
	int64_t local_bsz, accum, epoch, batch;	/* NO_INT: missing */
	int64_t delay_ns;	/* NO_INT: missing */
	uint16_t exec_plan;	/* FIT_NO_EXEC_PLAN: missing, or unknown */
	const struct verify_place *nodes;
	size_t n_nodes;
	int64_t sum;		/* of nodes; of the cluster, for cluster */
	/* Derived for a running job, from the state before this row: */
	bool known;		/* the two below are */
	double progress_now;	/* progress at t, as if no epoch ended */
	double late_s;		/* t minus the exact end of the epoch, or of the work */
	int64_t ran_ns;		/* work time since last_ns */
	bool has_with;		/* shared_with is given, */
	uint32_t with;		/* and is this job; NONE: unknown */
	double speed;		/* NAN: missing */
	bool on_profiler;	/* a start on nodes of the profiler */
	double left_s;		/* counted down: work left after what was run until now */
	bool done_before;	/* the work was done; the notice came, or was still to come, later */
};

/* A virtual cluster, or the whole. */
struct verify_vc {
	struct fit_text name;		/* in the metadata; empty for the whole */
	int64_t first, n_nodes;		/* the last n_apart of them are set apart */
	int64_t n_apart;
	int64_t most;			/* GPUs of its largest node, in a cluster that is fixed */
};

/* A job on the profiler. */
struct verify_profile {
	uint32_t job;
	struct verify_place *nodes;
	size_t n_nodes;
};

/* A binary heap on (key, rank). */
struct verify_heap_item {
	int64_t key;
	uint32_t rank, job;
};
struct verify_heap {
	struct verify_heap_item *a;
	size_t n, cap;
};
int verify_heap_push(struct verify_heap *h, struct verify_heap_item x) FIT_MUST_CHECK;
void verify_heap_pop(struct verify_heap *h);

struct verify_list {
	uint32_t *a;
	size_t n, cap;
};
int verify_list_push(struct verify_list *l, uint32_t x) FIT_MUST_CHECK;

struct verify_app {
	char *name;
	struct fit_app *model;			/* NULL without a profile; with types the first of them */
	const struct fit_app_info *info;
	const struct fit_speedup_class *class;	/* NULL without speedups */
	int64_t *rescale_ns;		/* by GPU type of the speedups */
	int64_t least_gpus;
	int64_t n_arrived;
};

/* What one finished (or other) job came to, for the comparison with metrics. */
struct verify_result {
	int64_t start_ns, end_ns, held_ns;	/* NEVER: did not happen */
	double gpu_s, gpu_busy_s;
	int64_t restarts, preempts;
	uint8_t state;
	bool seen;		/* in the table that is compared */
};

/* Policy follow: a table of allocations, by time; rows before next were carried out. */
struct verify_follow {
	struct verify_wish *wishes;
	size_t n, cap, next;
	struct verify_place *places;
	size_t n_places, cap_places;
	char hash[FIT_HASH_HEX];
};

struct verify_tally {
	int64_t checked, violations;
	char *detail;
};

/* Rules that look at one kind of row, or at decisions: not all are gone through at each. */
struct verify_rule_list {
	uint8_t n, rules[N_RULES];
};

struct fit_verifier {
	/* inputs */
	struct verify_job *jobs;
	size_t n_jobs, cap_jobs;
	struct verify_job_columns columns;
	struct fit_id_map ids, plan_names;
	struct fit_index by_app;
	uint32_t last_found, next_found;	/* guesses at the job of the next row */
	struct verify_app *apps;
	size_t n_apps, cap_apps;
	struct fit_profile_set apps_by_type;
	struct fit_profile *type_profile[UINT8_MAX + 1];	/* by number of the type, where profiles have types */
	int64_t type_nodes[UINT8_MAX + 1];	/* nodes that profiles of the type were measured on; 0: not known */
	bool sia_reference;		/* fidelity sia-sosp23 */
	double sia_power, sia_lambda;
	struct verify_sia *sia;		/* scratch of its rules (verify_sia.c) */
	struct fit_theta_list models;
	char hash_jobs[FIT_HASH_HEX], hash_log[FIT_HASH_HEX];
	bool has_batch, has_app, has_duration;
	int64_t n_unusable;		/* rows of the jobs table that no replay can run */
	char unusable_why[200];		/* the first of them */

	/* metadata of the log */
	enum verify_policy policy;
	int64_t interval_ns;		/* 0: woken by events */
	int64_t quantum_ns;		/* 0: exact */
	int64_t notice_ns;		/* the end of a job is noticed so much later */
	int64_t preempt_work_ns, preempt_wide_work_ns, preempt_wide_gpus;	/* work that a preemption adds */
	bool decides_at_zero;
	int64_t restart_ns;		/* NO_INT: the profile says, application by application */
	bool interval_end;		/* release */
	/* Tiresias */
	int64_t limit_s[VERIFY_QUEUES - 1];	/* service with which a job leaves each queue but the last */
	size_t n_limits;
	bool queue_by_time;		/* service is run time, not times GPUs */
	bool running_first;		/* in a queue; else as they entered it */
	bool late_wake;			/* conventions of the Tiresias simulator: see docs/methods/verify.md */
	double promote;			/* 0: never */
	bool one_list;			/* ties as in one list that is sorted at each event */
	char *cluster_meta;
	bool optimus_whole_epochs, optimus_accumulates;
	int64_t optimus_node_gpus;	/* 0: those of the cluster */
	/* rates: the table; rounds of whole steps (0: none), and the end of the one that is on */
	struct fit_step_rates rates;
	bool spread_ignored;
	const char *objective;		/* of the shares, by fit_share_objectives */
	struct verify_shares *shares;	/* NULL: not given */
	struct verify_gavel_order *gavel_order;	/* rounds so far; NULL: none */
	int64_t gavel_reallocate_ns;
	int64_t steps_round_ns, round_end_ns;
	bool with_profile, with_speedups, with_plans, with_rates;
	struct fit_plan_times plan_times;
	bool any_plan_time, keeps_seconds, free_shifts, ghosts;	/* with_plans: conventions */
	bool by_gain, speeds_measured;	/* rubick */
	int64_t extra_iterations;
	bool by_epoch;			/* one of them: work has epochs */
	bool free_start;		/* the first start costs no delay */
	bool boa_condenses;		/* placement consolidate-first */
	bool boa_capped;		/* more GPUs were wanted than there can be */
	struct fit_speedups speedups;
	int speed_type[UINT8_MAX + 1];	/* by number of the type: in the speedups, -1: not there */
	int64_t type_gpus[UINT8_MAX + 1];	/* of its largest node */
	bool one_speed;			/* one GPU type there, and one in the cluster */
	struct fit_boa_classes class_table;
	struct fit_boa_plan_table plans;
	struct fit_boa_learner *learner;	/* widths that are computed anew */
	const char *speedups_from, *classes_from, *believed_from;
	int64_t resolve_ns, resolved;	/* at multiples of it; number of the last one */
	bool seeded;			/* agents start from models */
	bool adaptive;			/* jobs choose their batch size: pollux */
	bool pollux_avoids, pollux_reference;
	bool fair_on_one_node;		/* pollux: the fair share is predicted on one node */
	bool order_unknown;		/* gavel: rounds in which it is not derived who is next */
	bool blind;			/* pollux on several GPU types: a job has one agent, whatever it runs on */
	double pollux_power;
	double interference;		/* share of its rate that a job on several nodes loses where
					 * another one uses one of its nodes; 0: none */
	int64_t max_active;		/* most jobs in the system; 0: no limit */
	int64_t left_out;		/* rows that the replay says it left out */
	enum verify_autoscale autoscale;
	int64_t node_start_ns, node_idle_ns, nodes_min;
	int64_t cold_restart_ns;	/* NO_INT: a cold node makes no difference */
	bool says_delays;		/* restart delays differ, so each allocation says its own */
	bool drains;			/* jobs are moved away from nodes that are too many */

	/* the cluster */
	int64_t *size, *booked;		/* per node */
	uint16_t *node_type;		/* per node; 0: the specification names no types */
	struct fit_index by_type;
	uint32_t n_type_names;
	bool mixed_types;		/* the specification names more than one type */
	size_t n_nodes, cap_nodes;
	int64_t total, total_booked, gpus_per_node;
	int64_t most;			/* GPUs, with all nodes of the specification */
	struct verify_node *nodes;	/* elastic clusters */
	size_t n_node_states;
	int64_t rented;			/* GPUs that are paid for */
	struct verify_rent rents[VERIFY_POOLS];
	size_t n_rents;
	struct verify_pool pools[VERIFY_POOLS];
	size_t n_pools;			/* none: the cluster is fixed, or did not come yet */
	double scale_target;		/* efficiency: sizes near it stay */
	double scale_low, scale_high;	/* utility: a size within these stays */
	double scale_held[15];		/* utilisation at the last decisions, a ring */
	int64_t scale_n;		/* decisions since the size last changed */
	int64_t demand;			/* GPUs that active jobs ask for */
	int64_t *tree;			/* free GPUs, maximum tree over tree_n leaves */
	size_t tree_n;
	struct verify_list touched;	/* nodes that a decision booked */
	uint32_t *spanning;		/* scratch: jobs on several nodes, per node */
	size_t cap_spanning;

	/* the jobs in the system */
	struct verify_live *live;
	size_t n_live, cap_live;
	uint32_t free_live;
	size_t n_active;

	/* where we are */
	int64_t now;
	uint64_t line;			/* of the row; 0: a decision without rows */
	enum { PHASE_BEFORE, PHASE_DECIDING, PHASE_AFTER } phase;
	bool begun;			/* this decision's arrivals and timers were taken in */
	bool woken;			/* an arrival, finish or timer happened at this instant */
	bool dirty;			/* something changed that the policy has not seen yet */
	bool acted;			/* this decision changed an allocation */
	bool legal;			/* the policy may act at this instant */
	bool decided_here;		/* the decision of this instant is over */
	bool standing;			/* a decision without rows was right before the first row
					 * that may belong before or after it */
	bool unclear;			/* there was such a row, and no active row since */
	bool mute, muted_fault;		/* try a decision without reporting */
	bool seen_cluster;
	bool submits_here;		/* a submit row at this instant, of this rank */
	uint32_t submit_rank;
	int64_t last_t;
	struct verify_place *row_nodes;
	size_t cap_row_nodes;
	uint32_t open_submit;		/* the job of the submit row before: a reject may follow */
	bool woken_before;		/* woken, before that row */
	struct verify_list placed, started;	/* live records with a row in this decision */
	int code;			/* FIT_ENOMEM inside a rule; ends the reading */
	struct fit_err model_err;

	/* admission, with max_active */
	struct verify_list arrivals;	/* all jobs in order of arrival */
	size_t next_arrival;		/* the ones before have come */
	int64_t room_ns;		/* when a job last left a full system */

	/* policies */
	struct verify_list fresh;	/* arrivals that no decision saw yet */
	struct verify_heap waiting;	/* fifo, sjf */
	uint32_t ranks;			/* tree of the Tiresias queues */
	struct verify_list shifted;	/* live records that run, or wait, since the last decision */
	int64_t queue_due_ns;		/* when they change by themselves, if queue_due_known */
	bool queue_due_known;
	struct verify_list list;	/* fjf, shortest, shortest-gpu, smallest: in the policy's order */
	struct verify_list active;	/* srtf, optimus: live records by rank */
	struct verify_list order;	/* scratch */
	struct verify_memo *memo;	/* optimus: predictions by application and batch */
	size_t n_memo, cap_memo;
	struct verify_course *courses;	/* sjf, srtf: predicted times */
	size_t n_courses, cap_courses;
	struct measured_size *sizes;	/* what was found of sizes on types (verify_types.c) */
	size_t n_sizes, cap_sizes;
	struct verify_list sort_room;	/* of verify_sort() */
	struct fit_throughput *fitter;	/* pollux: workspace of all agents */
	int64_t fair_gpus;		/* pollux: GPUs of a fair share, at this decision */
	double keep_fitness;		/* pollux: of keeping all as it is; < 0: cannot be told */
	bool fitness_told;		/* pollux: the fitness of this decision can be derived */
	bool keep_fitnesses;		/* a table of them will be compared */
	struct verify_fitness *fitnesses;	/* decisions with rows, in order of time */
	size_t n_fitnesses, cap_fitnesses, at_fitness;

	struct verify_follow follow;

	/* shared GPUs, virtual clusters, the profiler (verify_share.c) */
	struct fit_colocation colocation;
	bool measured;			/* it was loaded */
	bool rigid, never_preempts;	/* by the policy's name */
	bool vague_instants;		/* when it may act is not derived */
	enum { PACKS_NOT, PACKS_LUCID, PACKS_HORUS } packs;
	bool pack_off, estimates, survivor_keeps, holds_for_wide, distributed, profiled_beside, profile_naive;
	bool lucid_unmeasured;		/* pairs of some applications count as not measured */
	int64_t pack_score, pack_gpus, profile_limit_ns, profile_gpus, count_ns, again_step_ns;
	double gpu_mem_mib, pack_util_pct;
	int64_t again_ns;		/* a further instant at which the policy may act */
	struct fit_str vc_text, apart_text;
	struct fit_str groups;		/* of jobs, in the order of first use */
	struct fit_index by_group;
	uint16_t n_groups;
	struct verify_vc *vcs;		/* one at least, once the cluster is known */
	size_t n_vcs, cap_vcs;
	struct verify_vc **vc_of_group;
	bool *apart;			/* per node */
	struct verify_profile *profiles;	/* running now */
	size_t n_profiles, cap_profiles;
	struct verify_list to_profile;	/* submitted, and not on the profiler yet */
	uint32_t n_placed;		/* placements so far */
	/* a node that a part lends the profiler (verify_profiler.c) */
	struct fit_str lender_text;
	bool lending_echoed;
	int64_t lend_each_ns, lend_above, regain_each_ns, regain_below;
	double regain_gpus;
	int64_t lent_node;		/* of the profiler now; -1: none */
	size_t n_first_nodes;		/* of the cluster at the beginning */
	uint8_t *away;			/* per node: lent, and not back; or a further node, */
	size_t n_away, cap_away;	/* which the lender has (enum) */
	bool by_parts;			/* srtf, tiresias: verify_turns.c has their rules */
	bool by_lists;			/* ties as the simulator of Lucid has them */
	bool queue_by_submission, queue_over;	/* tiresias: likewise; jobs leave a queue above its limit */
	struct verify_turns *turns;
	struct verify_gittins *gittins;	/* samples; NULL: none (verify_gittins.c) */
	bool gittins_given, gittins_artifact;	/* the log was made with those of a table; by the simulator's form */
	int64_t n_listed;
	int64_t n_places, n_first_places, n_joined;	/* at the end of a queue, ahead of those that wait */
	enum verify_policy queues;	/* whose queues are followed (verify_next.c); POLICY_OTHER: none */
	enum verify_placement placement;
	struct verify_yarn *yarn;	/* placement yarn, or switches (verify_yarn.c); NULL: neither */
	bool bursts_by_size;		/* qssf: a queue in which all came at this second goes by size */
	struct verify_next *next;
	uint32_t expect_host;		/* the next row is the share of this job, of which expect_guest */
	uint32_t expect_guest;		/* is the new partner, or NONE: it is alone from now on */

	/* results */
	bool keep;
	struct verify_result *results;
	int64_t log_end_ns, last_finish_ns, first_submit_ns;
	int64_t n_finished, n_rejected, n_submitted, n_preempts, n_restarts;
	double gpu_busy_s, gpu_still_s;
	double held, capacity, paid;		/* GPU-seconds up to now */
	double held_submit, capacity_submit, paid_submit;	/* at the first submit */
	double held_last, paid_last;				/* at the last submit */
	double held_finish, capacity_finish, paid_finish;	/* at the last finish */
	int64_t last_submit_ns;
	struct verify_tally tally[N_RULES];
	struct verify_rule_list of_event[EV_UNKNOWN + 1], of_decisions;	/* verify_list_rules() */
};

/* ---- reporting (verifier.c) ---- */

static inline void verify_check(struct fit_verifier *v, enum verify_rule rule)
{
	v->tally[rule].checked += !v->mute;
}
/* Count a violation and keep the first. job may be NONE. */
void verify_fault(struct fit_verifier *v, enum verify_rule rule, uint32_t job, const char *fmt,
		  ...) FIT_PRINTF(4, 5);
struct fit_text verify_job_id(const struct fit_verifier *v, uint32_t job);
void verify_leave_out_jobs(struct fit_verifier *v);
/* What the columns say of a job; NO_INT, NAN, FIT_NO_INDEX: nothing. */
static inline int64_t verify_job_batch(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get(&v->columns.batch, job);
}
static inline int64_t verify_job_predicted_ns(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get(&v->columns.predicted_ns, job);
}
static inline double verify_job_steps(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get_real(&v->columns.steps, job);
}
static inline double verify_job_weight(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get_real(&v->columns.weight, job);
}
static inline int64_t verify_job_profile_ns(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get(&v->columns.profile_ns, job);
}
static inline int64_t verify_job_place(const struct fit_verifier *v, uint32_t job)
{
	return verify_column_get(&v->columns.place, job);
}
static inline uint32_t verify_job_config(const struct fit_verifier *v, uint32_t job)
{
	int64_t config = verify_column_get(&v->columns.config, job);

	return config == NO_INT ? FIT_NO_INDEX : (uint32_t)config;
}
/* The execution plan that a job asks for, or FIT_NO_EXEC_PLAN. */
uint16_t verify_job_plan(const struct fit_verifier *v, uint32_t job);
/* The job of that id, or NONE. */
uint32_t verify_find_job(const struct fit_verifier *v, struct fit_text id);
uint32_t verify_find_row_job(struct fit_verifier *v, struct fit_text id);	/* of the next row of the log */

/* Metadata of the jobs table, which stand ahead of the rows of the log or, when jobs were read as they came,
 * behind them: asked for there. */
void verify_read_end_meta(struct fit_verifier *v, const struct fit_meta *m);
/* Take in and judge the metadata. FIT_ENOMEM. */
int verify_read_meta(struct fit_verifier *v, const struct fit_meta *m,
		     bool *file_order) FIT_MUST_CHECK;

/* ---- the rule table (verify_rules.c) ---- */

struct verify_rule_def {
	const char *name, *meaning;
	unsigned events;	/* rows that row() wants */
	bool (*applies)(const struct fit_verifier *v);	/* NULL: always */
	void (*row)(struct fit_verifier *v, const struct verify_row *r);
	void (*decision)(struct fit_verifier *v);	/* state after the last row of a decision */
	void (*end)(struct fit_verifier *v);
};
extern const struct verify_rule_def verify_rules[N_RULES];
/* The job of the last submit row was kept: no reject row follows. */
void verify_kept(struct fit_verifier *v);

/* ---- the work of a job (verify_work.c) ---- */

/* Fill known, progress_now, late_s, ran_ns of a row from its live record. */
/* Work that a preemption adds to the job. */
int64_t verify_preempt_work_ns(const struct fit_verifier *v, uint32_t job);
void verify_forecast(struct fit_verifier *v, struct verify_row *r);
/* Rate of progress of a running job in its epoch, or < 0 when the profile has none. */
double verify_rate(struct fit_verifier *v, struct verify_live *l);
/* Progress that ends epoch e (from 0); with a profile only. */
double verify_epoch_end(const struct fit_verifier *v, uint32_t job, int64_t e);
/* Total batch size of a split as a log says it; -1: it is none, or over the application's largest. */
int64_t verify_total(const struct fit_app_info *a, int64_t replicas, int64_t local_bsz, int64_t accum);
/* GPUs per node in the order in which they were taken. */
void verify_placement(const struct verify_place *nodes, size_t n, struct fit_placement *p);
/* Our own batch split; like_optimus: one GPU always accumulates. */
struct fit_batch verify_split(const struct fit_app_info *a, int64_t target, int64_t replicas,
			      bool like_optimus);
int64_t verify_restart_ns(const struct fit_verifier *v, uint32_t job, uint16_t type);
/* Work time that a job still needs at v->now: on what it asked for, epoch by epoch. */
int64_t verify_remaining_ns(struct fit_verifier *v, uint32_t job, struct verify_live *l);
/* Progress at v->now of a job that may be running. */
double verify_progress_at_now(struct fit_verifier *v, struct verify_live *l);
/* The job's target batch, or the application's initial one. */
int64_t verify_target(const struct fit_verifier *v, uint32_t job);

void verify_courses_release(struct fit_verifier *v);

void verify_row_batch_split(struct fit_verifier *v, const struct verify_row *r);
void verify_row_progress(struct fit_verifier *v, const struct verify_row *r);
void verify_row_epoch_time(struct fit_verifier *v, const struct verify_row *r);
void verify_row_work_complete(struct fit_verifier *v, const struct verify_row *r);
void verify_row_restart_cost(struct fit_verifier *v, const struct verify_row *r);

/* ---- rates and rounds (verify_gavel.c) ---- */

/* Steps a second on GPUs of a type (0: any): of one node, or of several; 0: it does not run there. */
double verify_rate_on(const struct fit_verifier *v, uint32_t job, uint16_t type, bool spread);
bool verify_has_rate(const struct fit_verifier *v, uint32_t job);
/* Steps a second on what the job holds; 0: none. */
double verify_steps_rate(const struct fit_verifier *v, const struct verify_live *l);
void verify_gavel_meta(struct fit_verifier *v, const struct fit_meta *m);
void verify_round_begins(struct fit_verifier *v, struct verify_live *l);
void verify_stand_still(const struct fit_verifier *v, struct verify_row *r, double rate);
int64_t verify_round_timer(const struct fit_verifier *v);
void verify_row_round(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_round(struct fit_verifier *v);
/* The given shares (verify_shares.c). */
void verify_decide_shares(struct fit_verifier *v);
void verify_end_shares(struct fit_verifier *v);
void verify_shares_release(struct fit_verifier *v);
/* The time of the next ones that were not judged; NEVER: there are none. */
int64_t verify_next_shares(const struct fit_verifier *v);
/* Row i of them; false: there are not so many. */
struct verify_share_row {
	int64_t t_ns;
	uint32_t job;
	uint16_t type;
	double share, value;
};
bool verify_share_row(const struct fit_verifier *v, size_t i, struct verify_share_row *row);
/* Who is served first in a round (verify_gavel_order.c). */
void verify_row_gavel_order(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_gavel_order(struct fit_verifier *v);
void verify_gavel_order_release(struct fit_verifier *v);

/* ---- GPU types (verify_types.c) ---- */

/* The number of a type, a new one if need be; 0 for no name. FIT_ENOMEM. */
int verify_type_number(struct fit_verifier *v, struct fit_text name, uint16_t *type) FIT_MUST_CHECK;
/* Does a specification name more than one type? */
bool verify_unlike_types(struct fit_text spec);
/* Do nodes have types? */
bool verify_has_types(const struct fit_verifier *v);
/* The most GPUs of one type that a job may have. With types only. */
int64_t verify_type_most(struct fit_verifier *v, uint32_t job);
/* Does this row give a job GPUs of another type than those that it holds? */
bool verify_changes_type(const struct fit_verifier *v, const struct verify_row *r);
void verify_row_gpu_type(struct fit_verifier *v, const struct verify_row *r);

/* ---- applications by GPU type (verify_types.c) ---- */

/* The application of a job on that node; NULL: not measured on GPUs of its type. */
struct fit_app *verify_model_on(const struct fit_verifier *v, uint32_t job, int32_t node);
/* The same by the number of a type. */
struct fit_app *verify_model_of(const struct fit_verifier *v, uint32_t job, uint16_t type);
/* May a job run on GPUs of that type, by what was measured on so many of them? */
bool verify_runs_on(struct fit_verifier *v, uint32_t job, uint16_t type);
void verify_sizes_release(struct fit_verifier *v);
/* By which run times are predicted: on the first type of the cluster that the job may have and was measured
 * on. */
struct fit_app *verify_model_predicted(struct fit_verifier *v, uint32_t job);
/* The type of a node; 0: none. */
uint16_t verify_type_of(const struct fit_verifier *v, int32_t node);
/* Metadata key of the profile of a type. */
#define VERIFY_KEY_MAX 160
void verify_profile_key(const char *type, char key[VERIFY_KEY_MAX]);

/* ---- sia (verify_sia.c) ---- */

/* What the simulator of the paper makes of an application; NULL: another fidelity. */
struct verify_sia_app {
	const char *name;
	double delay_s, believed_s, slower;
};
const struct verify_sia_app *verify_sia_app(const struct fit_verifier *v, uint32_t job);
/* Does the row give as many GPUs of the same type on as many nodes, which costs nothing there? */
bool verify_sia_keeps_shape(const struct fit_verifier *v, const struct verify_live *l,
			    const struct verify_row *r);
/* A decision begins: what each job has. */
void verify_sia_begin(struct fit_verifier *v);
void verify_sia_release(struct fit_verifier *v);
void verify_row_sia_config(struct fit_verifier *v, const struct verify_row *r);
void verify_row_sia_pin(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_sia_best(struct fit_verifier *v);

/* The assignment behind a decision of Sia (verify_sia_bound.c): jobs that may change, each with options, one
 * of which is nothing (gpus 0, type 0), and what there is of each type for all of them. */
#define VERIFY_SIA_TYPES 64
struct verify_sia_choice {
	int64_t cost, gpus;
	size_t type;
};
struct verify_sia_problem {
	const struct verify_sia_choice *choices;
	const size_t *first;	/* of each job, and the end: n_jobs + 1 */
	size_t n_jobs, n_types;
	int64_t capacity[VERIFY_SIA_TYPES];
};
enum verify_sia_found { SIA_NONE_BETTER, SIA_BETTER, SIA_UNDECIDED };
/* Is there an assignment whose sum of costs is at most target? FIT_ENOMEM. */
int verify_sia_search(const struct verify_sia_problem *p, int64_t target,
		      enum verify_sia_found *found) FIT_MUST_CHECK;
/* Predicted goodput by the model that the job has of that type; < 0: it has none. */
double verify_agent_goodput(const struct verify_live *l, uint16_t type, int64_t nodes, int64_t gpus,
			    int64_t most_batch);
/* Most GPUs that it ran on, of any type. */
int64_t verify_agent_seen(const struct verify_live *l);
/* The agent of another type becomes the one in use. */
void verify_agent_switch(struct verify_live *l, uint16_t type);

/* ---- srtf and tiresias in parts (verify_turns.c) ---- */

/* The cluster is known. FIT_ENOMEM. */
int verify_turns_start(struct fit_verifier *v) FIT_MUST_CHECK;
/* A decision sees a job for the first time; it leaves. FIT_ENOMEM. */
int verify_turns_enter(struct fit_verifier *v, uint32_t live) FIT_MUST_CHECK;
void verify_turns_leave(struct fit_verifier *v, uint32_t live);
/* Something changed for the job's part. */
void verify_turns_touch(struct fit_verifier *v, uint32_t job);
/* Before the rows of a decision; its rule; after it. */
void verify_turns_begin(struct fit_verifier *v);
void verify_turns_decide(struct fit_verifier *v, enum verify_rule rule);
void verify_decide_gittins(struct fit_verifier *v);
void verify_turns_end(struct fit_verifier *v);
void verify_turns_release(struct fit_verifier *v);

/* ---- Gittins indices (verify_gittins.c) ---- */

static inline bool verify_by_index(const struct fit_verifier *v)
{
	return v->policy == POLICY_TIRESIAS_G || v->policy == POLICY_GITTINS;
}
/* Are the samples there that the log was made with? The jobs table has them where it names no others. */
bool verify_gittins_knows(const struct fit_verifier *v, const struct fit_meta *m);
int verify_gittins_begin(struct fit_verifier *v) FIT_MUST_CHECK;	/* FIT_ENOMEM */
void verify_gittins_release(struct fit_verifier *v);
/* The index of a job at this decision; the order of two; are indices as good as the same? */
void verify_gittins_rank(const struct fit_verifier *v, struct verify_live *l);
int verify_gittins_order(const struct fit_verifier *v, uint32_t a, uint32_t b);
bool verify_gittins_near(const struct fit_verifier *v, uint32_t a, uint32_t b);
int64_t verify_gittins_timer(struct fit_verifier *v);
/* A decision is over; a job left, the last one or not. */
void verify_gittins_decided(struct fit_verifier *v);
void verify_gittins_left(struct fit_verifier *v, bool last);

/* ---- policies (verify_policy.c) ---- */

/* Take in arrivals and timers at the start of a decision at v->now. */
void verify_policy_begin(struct fit_verifier *v);
/* A job got an allocation (after it is booked) or lost it; or left the system. */
void verify_policy_runs(struct fit_verifier *v, struct verify_live *l, bool runs);
void verify_policy_left(struct fit_verifier *v, struct verify_live *l);
/* The next instant at which a timer makes the policy act, or NEVER. */
int64_t verify_policy_timer(struct fit_verifier *v);
/* Does the decision depend on the progress of this very instant? */
bool verify_policy_continuous(const struct fit_verifier *v);
void verify_policy_release(struct fit_verifier *v);
void verify_decide_fifo(struct fit_verifier *v);
void verify_decide_qssf(struct fit_verifier *v);
/* Put the jobs in the order of qssf (place). FIT_ENOMEM. */
int verify_rank_qssf(struct fit_verifier *v) FIT_MUST_CHECK;
void verify_decide_sjf(struct fit_verifier *v);
void verify_decide_srtf(struct fit_verifier *v);
/* Under rule: l must run when what it asks for fits into *left, by that order. */
void verify_expect_greedy(struct fit_verifier *v, enum verify_rule rule, const struct verify_live *l,
			  double *left, const char *order);
void verify_decide_optimus(struct fit_verifier *v);
void verify_decide_conserving(struct fit_verifier *v);
void verify_decide_placement(struct fit_verifier *v);
/* Sort live records or jobs, stably. A lack of memory leaves them as they are and sets v->code. */
void verify_sort(struct fit_verifier *v, uint32_t *a, size_t n,
		 int (*by)(const struct fit_verifier *v, uint32_t a, uint32_t b));
/* The most GPUs that Optimus gives a job. */
int64_t verify_most_gpus(const struct fit_verifier *v, uint32_t job);

/* ---- queues of service, sorted lists (verify_queues.c) ---- */

void verify_queue_init(struct fit_verifier *v);
/* A job enters the first queue; runs or waits from now on; is gone. */
void verify_queue_enter(struct fit_verifier *v, uint32_t live);
void verify_queue_runs(struct fit_verifier *v, struct verify_live *l, bool runs);
void verify_queue_left(struct fit_verifier *v, struct verify_live *l);
void verify_list_left(struct fit_verifier *v, uint32_t live);
/* A decision begins: demotions and promotions; it is over: who runs comes first. */
void verify_queue_begin(struct fit_verifier *v);
void verify_queue_end(struct fit_verifier *v);
int64_t verify_queue_timer(struct fit_verifier *v);
/* What the metadata say. */
void verify_queue_meta(struct fit_verifier *v, const struct fit_meta *m);
void verify_conserving_queues(struct fit_verifier *v, double left);
void verify_decide_tiresias(struct fit_verifier *v);
void verify_decide_list(struct fit_verifier *v);
void verify_decide_fjf(struct fit_verifier *v);

/* ---- their order (verify_ranks.c) ---- */

/* By queue, those that ran first, place: < 0, 0 or > 0. */
int verify_rank_order(const struct fit_verifier *v, uint32_t a, uint32_t b);
struct verify_sum verify_rank_sum(const struct fit_verifier *v, uint32_t tree);	/* NONE: of nobody */
/* Put a record in; take it out, before its key changes; holds, due_ns or wake_ns has changed. */
void verify_rank_insert(struct fit_verifier *v, uint32_t live);
void verify_rank_remove(struct fit_verifier *v, uint32_t live);
void verify_rank_update(struct fit_verifier *v, uint32_t live);
/* How many are before it. */
uint32_t verify_rank_of(const struct fit_verifier *v, uint32_t live);
/* Append those that are due by an instant (NEVER: all), in order. v->code: FIT_ENOMEM. */
void verify_rank_list(struct fit_verifier *v, uint32_t tree, int64_t due_by, struct verify_list *to);

/* ---- pollux: agents, batch sizes, fitness (verify_pollux.c) ---- */

/* Predicted goodput (throughput: with efficiency 1) over that of base GPUs on one node, times base, by the
 * agent of that GPU type, or with ANY_TYPE the one in use. A job that never learned there scales linearly. */
double verify_agent_speedup(const struct verify_live *l, uint16_t type, int64_t base, bool throughput,
			    int64_t nodes, int64_t gpus);
/* The most GPUs that a job may have, at most 64. */
int64_t verify_agent_most_gpus(const struct fit_verifier *v, const struct verify_live *l, uint16_t type);
/* With models: the agent of a job that was just submitted, with the model of its application. */
void verify_agent_seed(struct fit_verifier *v, struct verify_live *l);
/* The job has run as its record says: its agent learns step time and gradient statistics. */
void verify_agent_learn(struct fit_verifier *v, struct verify_live *l);
void verify_agent_free(struct verify_agent *a);	/* NULL is fine */
/* At a decision: all running jobs learn. */
void verify_pollux_begin(struct fit_verifier *v);
/* Before the first change of an allocation in a decision: what keeping all would be worth. */
void verify_pollux_before(struct fit_verifier *v);
void verify_row_pollux_doubling(struct fit_verifier *v, const struct verify_row *r);
void verify_row_pollux_limits(struct fit_verifier *v, const struct verify_row *r);
void verify_row_pollux_best(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_pollux_best(struct fit_verifier *v);
void verify_decide_pollux_interference(struct fit_verifier *v);
void verify_decide_pollux_fitness(struct fit_verifier *v);

/* ---- the table of fitness (verify_fitness.c) ---- */

/* What the allocations after a decision are worth. */
struct verify_fitness {
	int64_t t_ns;
	int64_t n_jobs;
	double value;
	bool seen;		/* a row of the table is of this decision */
};

/* The fitness of what is held now, with the factors of this decision (verify_pollux.c). */
double verify_pollux_fitness(const struct fit_verifier *v);
void verify_decide_fitness(struct fit_verifier *v);

/* ---- tables that are compared with the events (verify_metrics.c) ---- */

/* Read a table of n <= 16 fields: begin (NULL is fine) once, take for each row; both get arg. */
int verify_each_row(struct fit_verifier *v, const char *operand, const struct fit_field *fields, size_t n,
		    void (*take)(struct fit_verifier *v, const void *arg, const struct fit_cell *cells),
		    int (*begin)(struct fit_verifier *v, void *arg, const struct fit_reader *r,
				 struct fit_err *err),
		    void *arg, struct fit_err *err);

/* ---- autoscaling by utility (verify_scale.c) ---- */

/* Are there more nodes than wanted, so that jobs are moved away from some? (drains) */
bool verify_nodes_leave(const struct fit_verifier *v);

/* The number of nodes that the rule asks for at this decision, not yet within the bounds. */
int64_t verify_scale_wanted(struct fit_verifier *v, struct verify_pool *p);

/* ---- what the rented nodes cost (verify_rent.c) ---- */

/* The cluster is known; GPUs of a node are rented (or, negative, returned); time passes. */
void verify_rent_cluster(struct fit_verifier *v);
void verify_rent_node(struct fit_verifier *v, size_t node, int64_t gpus);
void verify_rent_pass(struct fit_verifier *v, double s);
/* Prices from the metadata of a table of metrics (gpu_price), 1 where none is said; *given: there are
 * some. NULL, or the value that is wrong. */
const char *verify_rent_prices(struct fit_verifier *v, const struct fit_meta *m, bool *given);
/* Money an hour, on average over a window; NAN: there is none. */
double verify_rent_per_h(const struct fit_verifier *v, double window_s);

/* ---- admission (verify_admission.c) ---- */

/* Once metadata and ranks are known. FIT_ENOMEM. */
int verify_admission_begin(struct fit_verifier *v) FIT_MUST_CHECK;
void verify_row_admission(struct fit_verifier *v, const struct verify_row *r);
/* A job finished or was rejected, and is counted as such. */
void verify_admission_left(struct fit_verifier *v);

/* ---- speedups and boa (verify_boa.c) ---- */

void verify_boa_release(struct fit_verifier *v);
/* The log computes its widths: budget and interval of its metadata. */
int verify_boa_learn(struct fit_verifier *v, const struct fit_meta *m, struct fit_err *err) FIT_MUST_CHECK;
/* The epoch that the job is in ends on what it holds. */
void verify_boa_observe(struct fit_verifier *v, const struct verify_live *l);
int64_t verify_boa_timer(const struct fit_verifier *v);
/* Epochs of a job, by profile or speedups. */
int64_t verify_epochs(const struct fit_verifier *v, uint32_t job);
/* Speedups: work done before an epoch; work a second on so many GPUs, 0: not usable. */
double verify_work_until(const struct fit_verifier *v, uint32_t job, int64_t epoch);
double verify_class_speed(const struct fit_verifier *v, uint32_t job, int64_t epoch, uint16_t type,
			  int64_t gpus);
double verify_live_speed(const struct fit_verifier *v, const struct verify_live *l);	/* on what it holds */
void verify_boa_count(struct fit_verifier *v, struct verify_live *l, int64_t ran_ns);
/* The cluster is known: which of its types is which in the speedups. */
void verify_boa_cluster(struct fit_verifier *v);
/* The number of a type that a table calls so; ANY_TYPE: nobody has it. */
uint16_t verify_boa_type(const struct fit_verifier *v, const char *name);
int64_t verify_rescale_ns(const struct fit_verifier *v, uint32_t job, uint16_t type);
/* A job arrived; a decision begins; the sum of all widths of a type, and what is held of it by jobs that want
 * another one. */
void verify_boa_arrival(struct fit_verifier *v, struct verify_live *l);
void verify_boa_begin(struct fit_verifier *v);
int64_t verify_boa_gpus(struct fit_verifier *v, uint16_t type);
int64_t verify_boa_kept(const struct fit_verifier *v, uint16_t type);
bool verify_boa_waits(const struct fit_verifier *v, uint16_t type);	/* somebody for GPUs of the type */
void verify_row_boa_width(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_boa_queue(struct fit_verifier *v);
void verify_decide_boa_placement(struct fit_verifier *v);
void verify_row_conservation(struct fit_verifier *v, const struct verify_row *r);

/* ---- execution plans (verify_plans.c) ---- */

void verify_read_meta_plans(struct fit_verifier *v, const struct fit_meta *m);
const struct fit_plan_app *verify_plan_app(const struct fit_verifier *v, uint32_t job);	/* or NULL */
/* Iterations that a job has to do, without the extra ones. */
int64_t verify_iterations(const struct fit_verifier *v, uint32_t job);
double verify_plan_rate(const struct fit_verifier *v, uint32_t job, const struct verify_place *nodes,
			size_t n, uint16_t plan);
double verify_plan_carry(const struct fit_verifier *v, const struct verify_row *r, struct verify_live *l,
			 double progress);
void verify_row_rubick_plan(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_rubick_sla(struct fit_verifier *v);

/* ---- allocations of a table (verify_follow.c) ---- */

void verify_follow_release(struct fit_verifier *v);
/* The decision that carries out the next row. */
int64_t verify_follow_timer(const struct fit_verifier *v);
void verify_row_follow(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_follow(struct fit_verifier *v);

/* ---- elastic clusters (verify_nodes.c) ---- */

/* The specification is known: no node is there yet. FIT_ENOMEM. */
int verify_nodes_begin(struct fit_verifier *v) FIT_MUST_CHECK;
void verify_nodes_want(struct fit_verifier *v);
/* boa: a decision is over; whoever still waits for GPUs of another type keeps nodes. */
void verify_nodes_want_after(struct fit_verifier *v);
/* A node is rented on that account, so the decision, which left no row, came before. */
bool verify_nodes_rents_after(struct fit_verifier *v, const struct verify_row *r);
void verify_nodes_apply(struct fit_verifier *v, const struct verify_row *r);
void verify_nodes_settle(struct fit_verifier *v);
/* The restart delay of an allocation; its nodes are warm then. */
int64_t verify_delay_ns(struct fit_verifier *v, const struct verify_live *l, const struct verify_place *nodes,
			size_t n);
void verify_row_node_life(struct fit_verifier *v, const struct verify_row *r);
void verify_row_node_choice(struct fit_verifier *v, const struct verify_row *r);
void verify_row_node_number(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_node_number(struct fit_verifier *v);

/* ---- rows and rounds (verify_rounds.c) ---- */

/* Before the first row: which rules look at what. */
void verify_list_rules(struct fit_verifier *v);

/* Take in a row: decisions before it that left no row, the rules, and then what it changes. v->code:
 * FIT_ENOMEM. */
void verify_take(struct fit_verifier *v, struct verify_row *r, uint64_t line);
/* After the last row: the last decision, the rules that look at all, the accounts of who is still there. */
void verify_end(struct fit_verifier *v);

/* ---- what rows change (verify_apply.c) ---- */

/* Lenient: a row that makes no sense here was reported by the rules. */
void verify_apply(struct fit_verifier *v, struct verify_row *r);

/* ---- the jobs in the system (verify_live.c) ---- */

/* A record for a job; NULL and v->code without memory. It may move all others. */
struct verify_live *verify_live_new(struct fit_verifier *v, uint32_t job);
/* The job has left: its results are kept, the record is used again. */
void verify_live_free(struct fit_verifier *v, struct verify_live *l);
/* Close the account of what l held until t. */
void verify_unbook(struct fit_verifier *v, struct verify_live *l, int64_t t);
/* Count the jobs on several nodes that use each node; booked: those that are finished and still hold
 * GPUs too. FIT_ENOMEM. */
int verify_count_spanning(struct fit_verifier *v, bool booked) FIT_MUST_CHECK;
/* The allocations in force have changed: a job on several nodes loses a share of its rate while
 * another such job uses one of its nodes. */
void verify_interfere(struct fit_verifier *v);

/* ---- the cluster (verify_cluster.c) ---- */

/* Nodes and GPUs of a cluster specification; false when it is none. */
bool verify_measure_cluster(struct fit_text spec, size_t *n_nodes, int64_t *total);
/* Take a cluster specification; nodes that stay keep what is booked on them. FIT_ENOMEM. */
int verify_set_cluster(struct fit_verifier *v, struct fit_text spec) FIT_MUST_CHECK;
/* A node has so many GPUs from now on. */
void verify_resize_node(struct fit_verifier *v, size_t node, int64_t gpus);

/* Add gpus (or take away, when negative) at a node; unknown nodes are passed over. */
void verify_book(struct fit_verifier *v, int32_t node, int64_t gpus);
/* Like verify_book() for the tree of free GPUs only. */
void verify_tree_add(struct fit_verifier *v, size_t node, int64_t gpus);
/* The first node, from that one on, with so many free GPUs; -1: none. */
int64_t verify_tree_next(const struct fit_verifier *v, int64_t from, int64_t gpus);
static inline int64_t verify_free(const struct fit_verifier *v)
{
	return v->total - v->total_booked;
}

/* ---- metadata of shared GPUs and the profiler (verify_share.c) ---- */

bool verify_meta_says(const struct fit_meta *m, const char *key, const char *value);
/* A number from 0 on; 0 where there is none, and the rule about metadata is violated. */
int64_t verify_meta_count(struct fit_verifier *v, const struct fit_meta *m, const char *key);
double verify_meta_real(struct fit_verifier *v, const struct fit_meta *m, const char *key);
int64_t verify_meta_time(struct fit_verifier *v, const struct fit_meta *m, const char *key);	/* ns */
/* What the metadata say. FIT_ENOMEM. */
int verify_share_meta(struct fit_verifier *v, const struct fit_meta *m) FIT_MUST_CHECK;

/* ---- parts of the cluster (verify_parts.c) ---- */

void verify_parts_release(struct fit_verifier *v);
/* The part of a job; NULL: it has none. */
const struct verify_vc *verify_vc_of(const struct fit_verifier *v, uint32_t job);
/* Is it a node that jobs of that part may take now? */
bool verify_part_has(const struct fit_verifier *v, const struct verify_vc *vc, size_t node);
/* The nodes of a part, one after another: the one behind `after` (-1: the first); -1: none. */
int64_t verify_part_node(const struct fit_verifier *v, const struct verify_vc *vc, int64_t after);
/* Does the placement find gpus GPUs now in the part of that job, on nodes of one type (0: any)? */
bool verify_part_fits(const struct fit_verifier *v, uint32_t job, uint16_t type, int64_t gpus);
/* Whose a node is from now on (enum). FIT_ENOMEM. */
int verify_part_move(struct fit_verifier *v, size_t node, int where) FIT_MUST_CHECK;
/* placement-rule, where it is not that of one cluster whose emptiest nodes are filled */
void verify_row_placement(struct fit_verifier *v, const struct verify_row *r);

/* ---- placement yarn, switches (verify_yarn.c) ---- */

int verify_yarn_meta(struct fit_verifier *v, const struct fit_meta *m) FIT_MUST_CHECK;	/* FIT_ENOMEM */
int verify_yarn_start(struct fit_verifier *v) FIT_MUST_CHECK;
void verify_yarn_release(struct fit_verifier *v);
/* What a record holds is taken (1) or given back (-1). */
void verify_yarn_hold(struct fit_verifier *v, const struct verify_live *l, int64_t sign);
/* Where so many GPUs of a part and type (0: any) are found now; it lives until the next call. NULL: there is
 * no room. */
const struct verify_place *verify_yarn_find(const struct fit_verifier *v, const struct verify_vc *vc,
					    uint16_t type, int64_t gpus, size_t *n);
/* Would a job of so many GPUs fit behind a switch if all nodes were free? */
bool verify_yarn_holds(const struct fit_verifier *v, int64_t gpus);

/* ---- who had to be next (verify_next.c) ---- */

int verify_next_begin(struct fit_verifier *v) FIT_MUST_CHECK;
void verify_next_release(struct fit_verifier *v);
void verify_next_apply(struct fit_verifier *v, const struct verify_row *r);
/* When hosts are offered to those that were before them, or NEVER. */
int64_t verify_next_timer(const struct fit_verifier *v);
void verify_row_next(struct fit_verifier *v, const struct verify_row *r);
void verify_decide_next(struct fit_verifier *v);
/* The cluster is known: where its parts are. FIT_ENOMEM. */
int verify_share_cluster(struct fit_verifier *v) FIT_MUST_CHECK;
/* The group of a job, as a number. FIT_ENOMEM. */
int verify_share_group(struct fit_verifier *v, struct fit_text group, uint16_t *vc) FIT_MUST_CHECK;
/* GPUs that a job can have at all. */
int64_t verify_share_most(struct fit_verifier *v, uint32_t job);
bool verify_share_on_profiler(const struct fit_verifier *v, const struct verify_row *r);
void verify_row_virtual(struct fit_verifier *v, const struct verify_row *r);

/* ---- the profiler (verify_profiler.c) ---- */

int verify_profiler_meta(struct fit_verifier *v, const struct fit_meta *m) FIT_MUST_CHECK;	/* FIT_ENOMEM */
void verify_profiler_apply(struct fit_verifier *v, const struct verify_row *r);
void verify_profiler_release(struct fit_verifier *v);
void verify_row_profiler(struct fit_verifier *v, const struct verify_row *r);
void verify_end_profiler(struct fit_verifier *v);
void verify_row_profiler_order(struct fit_verifier *v, const struct verify_row *r);
void verify_row_lending(struct fit_verifier *v, const struct verify_row *r);

/* ---- who shares GPUs (verify_share.c) ---- */

/* What a row says of progress, where GPUs are shared. */
void verify_share_forecast(struct fit_verifier *v, struct verify_row *r);
/* Effects of rows, after those of verify_apply.c; guest: before a new allocation is booked. */
void verify_share_apply(struct fit_verifier *v, const struct verify_row *r);
void verify_share_left(struct fit_verifier *v, struct verify_live *l);	/* right before its GPUs come back */
void verify_share_release(struct fit_verifier *v);
double verify_share_measured(const struct fit_verifier *v, uint32_t a, uint32_t b, double *speed_b);
void verify_row_sharing(struct fit_verifier *v, const struct verify_row *r);
void verify_row_shared_speed(struct fit_verifier *v, const struct verify_row *r);
void verify_row_pack_memory(struct fit_verifier *v, const struct verify_row *r);
void verify_row_pack_score(struct fit_verifier *v, const struct verify_row *r);
#endif
