/* SPDX-License-Identifier: MIT */
/*
 * Greedy sharing of a partition in an order: jobs are taken by (key, tie, job), those that fit into the GPUs
 * that are left run, the others do not, whether they run now or not. srtf and tiresias decide so; what
 * differs is the key.
 *
 * The GPUs are counted, type by type, not placed: a job that was taken waits on where the placement finds
 * no room for it. A job that asks for no type stays with the one that it runs on if it can, and else gets
 * the first with enough GPUs left. Running jobs are a sorted array, waiting ones a backlog, so a decision
 * costs the number of jobs that run or start.
 */
#ifndef FIT_REPLAY_GREEDY_H
#define FIT_REPLAY_GREEDY_H

#include "libfit/replay/backlog.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/ranked.h"

/* Who comes first of equal keys: the lower job index; or those that wait, or those that run, and among
 * them who joined these first; or as the policy says with each job. */
enum fit_greedy_ties { FIT_TIES_BY_JOB, FIT_TIES_WAITING_FIRST, FIT_TIES_RUNNING_FIRST, FIT_TIES_GIVEN };

struct fit_greedy {
	struct fit_backlog *waiting;
	struct fit_ranked *running;
	enum fit_greedy_ties ties;
	int64_t sequence;	/* of the next job that joins a list */
	struct fit_ranked_entry *lost, *list;	/* scratch: those that are preempted; those that run, room for all */
	size_t n_lost, cap_lost, cap_list;
};

int fit_greedy_init(struct fit_greedy *g, enum fit_greedy_ties ties, struct fit_err *err) FIT_MUST_CHECK;
void fit_greedy_release(struct fit_greedy *g);

/* j waits from now on (it is new, or has lost its GPUs), with that key. */
int fit_greedy_wait(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		    struct fit_err *err) FIT_MUST_CHECK;
/* j, which waited, runs from now on. */
int fit_greedy_run(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The same with FIT_TIES_GIVEN. */
int fit_greedy_wait_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		       struct fit_err *err) FIT_MUST_CHECK;
int fit_greedy_run_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Running job j has another key; rekey_at: and another tie. */
int fit_greedy_rekey(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		     struct fit_err *err) FIT_MUST_CHECK;
int fit_greedy_rekey_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
			struct fit_err *err) FIT_MUST_CHECK;
/* j, which runs, has finished. */
void fit_greedy_leave(struct fit_greedy *g, const struct fit_view *v, uint32_t j);
/* Those that run, in order, in g->list; after a change of keys and ties give them to fit_ranked_rekey(). */
static inline size_t fit_greedy_list(struct fit_greedy *g)
{
	fit_ranked_list(g->running, g->list);
	return fit_ranked_count(g->running);
}

/* Fill in the plan. */
int fit_greedy_decide(struct fit_greedy *g, const struct fit_view *v, struct fit_plan *plan,
		      struct fit_err *err) FIT_MUST_CHECK;

#endif
