/* SPDX-License-Identifier: MIT */
/*
 * Preemptive policies that take all active jobs in order of one number at each decision, and pass over those
 * that do not fit into what is left:
 *
 *   srtf, shortest   predicted remaining time
 *   shortest-gpu     the same times the GPUs asked for
 *   smallest         the GPUs asked for (sjf of the Tiresias simulator)
 *
 * Ties go by the job index, or as a simulator's lists have them where a fidelity profile says so: that of
 * Lucid (srtf), or that of Tiresias. The latter sorts one list, stably, at each event; new jobs are at its
 * end. So of equal numbers those that waited before come first (the number of a running job was larger
 * before), then those that run, as they were, and then the new ones.
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/greedy.h"

typedef int keyed(const struct fit_view *v, uint32_t j, int64_t *key, struct fit_err *err);

struct by_key {
	struct fit_greedy greedy;
	keyed *key;
	bool constant;		/* the key never changes */
	bool listed;		/* ties as in one list that is sorted at each event */
	int64_t place;		/* in it */
	uint32_t *fresh;	/* arrived since the last decision */
	size_t n_fresh, cap_fresh;
	int64_t *tie;		/* by slot */
	size_t cap_tie;
};

static int remaining(const struct fit_view *v, uint32_t j, int64_t *key, struct fit_err *err)
{
	return fit_predict_remaining(v, j, key, err);
}

/* In GPU-nanoseconds; what is beyond their range is equally long. */
static int remaining_gpu_time(const struct fit_view *v, uint32_t j, int64_t *key, struct fit_err *err)
{
	int64_t ns;
	int rc = fit_predict_remaining(v, j, &ns, err);

	if (!rc && __builtin_mul_overflow(ns, fit_view_job(v, j)->gpus, key))
		*key = INT64_MAX;
	return rc;
}

static int size(const struct fit_view *v, uint32_t j, int64_t *key, struct fit_err *err)
{
	(void)err;
	*key = fit_view_job(v, j)->gpus;
	return FIT_OK;
}

static void by_key_free(void *state)
{
	struct by_key *s = state;

	fit_greedy_release(&s->greedy);
	free(s->fresh);
	free(s->tie);
	free(s);
}

static int init(void **state, const struct fit_view *v, keyed *key, bool constant, bool listed,
		struct fit_err *err)
{
	struct by_key *s = calloc(1, sizeof *s);

	if (!s)
		return fit_fail_nomem(err);
	*state = s;
	s->key = key;
	s->constant = constant;
	s->listed = listed;
	return fit_greedy_init(&s->greedy, listed ? FIT_TIES_GIVEN :
			       v->fidelity->greedy_list_order ? FIT_TIES_WAITING_FIRST : FIT_TIES_BY_JOB, err);
}

static int srtf_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		     struct fit_err *err)
{
	(void)p;
	return init(state, v, remaining, false, v->fidelity->one_list, err);
}

static int shortest_gpu_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			     struct fit_err *err)
{
	(void)p;
	return init(state, v, remaining_gpu_time, false, v->fidelity->one_list, err);
}

static int smallest_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			 struct fit_err *err)
{
	(void)p;
	return init(state, v, size, true, v->fidelity->one_list, err);
}

static int wait(struct by_key *s, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	int64_t key;
	int rc = s->key(v, j, &key, err);

	if (rc)
		return rc;
	return s->listed ? fit_greedy_wait_at(&s->greedy, v, j, key, s->tie[fit_view_slot(v, j)], err) :
	       fit_greedy_wait(&s->greedy, v, j, key, err);
}

static int by_key_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct by_key *s = state;

	if (!s->listed)
		return wait(s, v, j, err);
	if (fit_grow(&s->tie, &s->cap_tie, (size_t)fit_view_slot(v, j) + 1, sizeof *s->tie) ||
	    fit_grow(&s->fresh, &s->cap_fresh, s->n_fresh + 1, sizeof *s->fresh))
		return fit_fail_nomem(err);
	s->fresh[s->n_fresh++] = j;
	return FIT_OK;
}

static void by_key_leave(void *state, const struct fit_view *v, uint32_t j)
{
	fit_greedy_leave(&((struct by_key *)state)->greedy, v, j);
}

static int by_key_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct by_key *s = state;
	int64_t key = 0;
	int rc;

	if (!fit_view_gpus(v, j))
		return wait(s, v, j, err);
	if (!s->listed)
		return fit_greedy_run(&s->greedy, v, j, 0, err);
	rc = s->key(v, j, &key, err);
	return rc ? rc : fit_greedy_run_at(&s->greedy, v, j, key, s->tie[fit_view_slot(v, j)], err);
}

/* The keys of now. In one list those that run keep their order among each other, behind all that waited
 * at the last event and before those that came since. */
static int take_keys(struct by_key *s, const struct fit_view *v, struct fit_err *err)
{
	struct fit_greedy *g = &s->greedy;
	size_t n = fit_greedy_list(g);
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		uint32_t j = g->list[i].job;

		rc = s->key(v, j, &g->list[i].key, err);
		if (s->listed && !s->constant)
			g->list[i].tie = s->tie[fit_view_slot(v, j)] = s->place++;
	}
	if (rc)
		return rc;
	fit_ranked_rekey(g->running, g->list);
	for (size_t i = 0; i < s->n_fresh && !rc; i++) {
		s->tie[fit_view_slot(v, s->fresh[i])] = s->place++;
		rc = wait(s, v, s->fresh[i], err);
	}
	s->n_fresh = 0;
	return rc;
}

static int by_key_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct by_key *s = state;
	int rc = take_keys(s, v, err);

	return rc ? rc : fit_greedy_decide(&s->greedy, v, plan, err);
}

/* Its place among those that run. */
static int64_t by_key_end_order(void *state, const struct fit_view *v, uint32_t j)
{
	struct fit_greedy *g = &((struct by_key *)state)->greedy;
	size_t i = 0, n = fit_greedy_list(g);

	(void)v;
	while (i < n && g->list[i].job != j)
		i++;
	return (int64_t)i;
}

static int by_key_describe(const struct fit_policy_params *p, const struct fit_view *v,
			   struct fit_meta *meta)
{
	(void)p;
	return v->fidelity->one_list ? fit_meta_add(meta, "ties", "one-list") : FIT_OK;
}

#define BY_KEY(NAME, SUMMARY, INIT, NEEDS) { \
	.name = NAME, \
	.summary = SUMMARY, \
	.needs = NEEDS, \
	.init = INIT, \
	.free = by_key_free, \
	.arrive = by_key_arrive, \
	.leave = by_key_leave, \
	.changed = by_key_changed, \
	.decide = by_key_decide, \
	.end_order = by_key_end_order, \
	.describe = by_key_describe, \
}

const struct fit_policy fit_policy_srtf =
	BY_KEY("srtf", "shortest remaining time first, preemptive", srtf_init, FIT_COUNTS_DOWN | FIT_SLOTS);
const struct fit_policy fit_policy_shortest =
	BY_KEY("shortest", "the same as srtf", srtf_init, FIT_COUNTS_DOWN | FIT_SLOTS);
const struct fit_policy fit_policy_shortest_gpu =
	BY_KEY("shortest-gpu", "smallest remaining GPU time first, preemptive", shortest_gpu_init,
	       FIT_COUNTS_DOWN | FIT_SLOTS);
const struct fit_policy fit_policy_smallest =
	BY_KEY("smallest", "fewest GPUs first, preemptive", smallest_init,
	       FIT_COUNTS_DOWN | FIT_ONLY_NEWS | FIT_SLOTS);
