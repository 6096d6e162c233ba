/* SPDX-License-Identifier: MIT */
/*
 * Fidelity profiles: the conventions in which the published simulators differ, as data. The engine
 * and the policies read these fields; nothing else knows which paper is replayed. Without
 * --fidelity the first entry, `none`, holds: each field then has its right value.
 */
#ifndef FIT_REPLAY_FIDELITY_H
#define FIT_REPLAY_FIDELITY_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

/* The placements that a simulator lists for an application, a digit a node, in the order in which it tries
 * them; ends with NULL. */
struct fit_rubick_spreads {
	const char *app;
	const char *const *placements;
};

/* What a simulator has of an application beside its profile. */
struct fit_fidelity_app {
	const char *app;		/* NULL: of any other one, the last of the list */
	int64_t restart_ns;		/* what a change costs, */
	int64_t believed_ns;		/* and what the policy thinks that it does */
	double calibration;		/* jobs run so much slower than the profile says */
};

struct fit_fidelity {
	const char *name;
	const char *source;		/* whose conventions these are */
	/* scheduling */
	int64_t interval_ns;		/* default interval; 0: the policy is woken by events */
	bool decides_at_zero;		/* the first decision is at time 0, not at the end of an interval */
	bool needs_interval;		/* an interval of 0 is not possible */
	bool release_at_interval_end;	/* a finished job's GPUs stay booked until the interval ends */
	bool file_order;		/* jobs are ordered by row, not by (submit, id) */
	int placement;			/* enum fit_placement_kind where nothing else is asked for */
	bool random_is_first_fit;	/* placement random is first-fit */
	int64_t restart_ns;		/* default restart delay; 0: none */
	bool free_shifts;		/* a job that moves to other nodes with the same GPUs on each is not restarted; its
					 * plan is another one only when these numbers are */
	bool ghosts;			/* a running job whose GPUs are taken away, and that gets no others, runs on without */
	/* progress */
	int64_t epoch_quantum_ns;	/* an epoch ends on the nearest multiple (ties to even) from the
					 * last change, and the rest is dropped; 0: exact */
	int64_t notice_ns;		/* under policies that count down (FIT_COUNTS_DOWN) the end of a job is
					 * noticed so much later; its GPUs are held until then */
	int64_t preempt_work_ns, preempt_wide_work_ns;	/* work that a preemption adds to a job of fixed
					 * duration: up to preempt_wide_gpus GPUs, and above */
	int64_t preempt_wide_gpus;
	/* execution plans */
	int extra_iterations;		/* that each job does at its end */
	bool keeps_partial_seconds;	/* what was begun of an iteration counts as so many seconds of the next plan's */
	bool any_plan_time;		/* see plan_times.h */
	/* srtf */
	bool greedy_list_order;		/* ties of srtf and tiresias: as a stable sort of the simulator's lists has
					 * them, those of waiting and of running jobs in the order of joining;
					 * srtf puts waiting jobs first, tiresias running ones */
	bool one_list;			/* ties of srtf, shortest, shortest-gpu and smallest: as one list has them that is
					 * sorted stably at each event */
	bool ends_in_order;		/* jobs that end at one instant do so in the order of the policy's list, not by
					 * the job index */
	bool sjf_is_smallest;		/* sjf is for smallest job first: policy smallest */
	/* sharing and profiling (lucid) */
	int64_t count_ns;		/* work of jobs that can share is counted down in steps of so much time, each
					 * difference rounded (ticks.h); 0: it flows */
	bool survivor_keeps_speed;	/* of two that share, the one placed later keeps its speed when the other ends,
					 * and shares no more */
	bool profiling_overlaps;	/* a job enters the queue when it is submitted, not when its profile is done */
	bool profiler_places_alike;	/* the profiler places jobs as the cluster does; false: it consolidates */
	bool echoed_lending;		/* the profiler grows by itself, and the part that is to lend it a node follows it
					 * as it can (engine_lend.c) */
	bool packs_again_later;		/* jobs that a decision started are offered to those before them in the queue a
					 * step later, not at once */
	bool packs_distributed;		/* jobs on several nodes share, too */
	const char *const *unmeasured;	/* applications whose pairs count as not measured; ends with NULL */
	/* qssf */
	bool qssf_burst_by_size;	/* a queue in which all jobs arrived at this very second goes by size; it is
					 * ranked a second later */
	/* Tiresias */
	int64_t tiresias_interval_ns;	/* default interval under this policy; 0: interval_ns */
	int64_t tiresias_threshold_gpu_s;	/* default: two queues with this limit; 0: the default queues */
	enum fit_queue_order {
		FIT_QUEUE_RUNNING_FIRST,	/* who runs, and then who waits, as each list was joined */
		FIT_QUEUE_ENTERED,		/* as they entered the queue */
		FIT_QUEUE_SUBMITTED		/* by submission */
	} tiresias_order;
	bool tiresias_over;		/* demoted above the threshold, not at it */
	bool tiresias_one_level;	/* a decision demotes a job by one queue at most */
	bool tiresias_late_wake;	/* woken for a demotion at now + (limit - executed time) / GPUs, in whole seconds,
					 * as if GPU time were wall time: too late for jobs on several GPUs */
	bool gittins_artifact;		/* indices, and what is done with them, as in the Tiresias simulator by default */
	bool tiresias_whole_seconds;	/* the wait for a promotion is cut to whole seconds */
	/* Optimus */
	bool optimus_whole_epochs;	/* remaining work ignores progress inside the epoch, counts the
					 * current epoch as done, and is 1 in the last one */
	bool optimus_single_gpu_accumulates;	/* one GPU is predicted with at least one accumulation */
	int64_t optimus_node_gpus;	/* GPUs per node in predictions; 0: those of the cluster */
	/* Rubick */
	bool rubick_as_run;		/* the policy of the published code (rubick_as_run.c) */
	const struct fit_rubick_spreads *rubick_spreads;	/* wide applications; ends with app NULL. NULL: by data */
	/* Sia */
	const struct fit_fidelity_app *apps;	/* NULL: what the profile says */
	bool shape_is_all;		/* a change of nodes alone, with as many GPUs on as many of them, costs nothing */
	double fit_tol;			/* agents fit loosely, to this tolerance; 0: to the minimum */
	bool sia_slowest_step;		/* what one GPU does is taken from the longest step of any batch size */
	bool batch_as_measured;		/* jobs with agents stay within the batch sizes measured on as many GPUs */
	bool sia_batch_as_asked;	/* goodputs are predicted up to the batch size that the job asks for; jobs
					 * run at larger ones */
	/* Pollux: see pollux_search.h for the three conventions of its search */
	bool pollux_search_defects;
	bool pollux_fair_share_on_one_node;	/* the fair share is predicted on one node, however large */
	const char *const *pollux_type_order;	/* GPU types, the one first that a job keeps of those of which it
						 * was given as many; ends with NULL. NULL: by the speed of its
						 * application */
	/* Gavel: see policy_gavel.c */
	int64_t steps_round_ns;		/* rounds of whole steps, as many as fit in this; a round ends with the last of
					 * them. 0: rounds of the interval, in which steps flow */
	bool steps_anywhere;		/* rates are those of one node, on however many a job is */
	const char *const *gavel_type_order;	/* GPU types that are served first; ends with NULL */
	bool gavel_shuffles_types;	/* under policies that know no rates they are served in an order drawn for each
					 * round, from gavel_shuffle_seed */
	uint32_t gavel_shuffle_seed;
	int64_t gavel_reallocate_ns;	/* default of the time between two computations of shares */
	bool gavel_lifetime;		/* rounds of the interval: shares are computed in each, the time that jobs had
					 * counts from their arrival, and all types are served from one list */
	bool gavel_evens;		/* jobs that are alike have alike shares */
	bool gavel_holds_room;		/* a job that came after the last one may take room, and not use it */
};

/* What the profile has of that application; NULL: nothing. */
const struct fit_fidelity_app *fit_fidelity_app(const struct fit_fidelity *f, const char *app);

/* All profiles; ends with name == NULL. */
extern const struct fit_fidelity fit_fidelities[];
/* The one of that name, or NULL. */
const struct fit_fidelity *fit_fidelity_named(const char *name);

FIT_C_END

#endif
