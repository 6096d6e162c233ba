/* SPDX-License-Identifier: MIT */
#include "libfit/replay/greedy.h"

#include <stdlib.h>
#include <string.h>

int fit_greedy_init(struct fit_greedy *g, enum fit_greedy_ties ties, struct fit_err *err)
{
	*g = (struct fit_greedy){ .waiting = fit_backlog_new(), .running = fit_ranked_new(true), .ties = ties };
	return g->waiting && g->running ? FIT_OK : fit_fail_nomem(err);
}

void fit_greedy_release(struct fit_greedy *g)
{
	fit_backlog_free(g->waiting);
	fit_ranked_free(g->running);
	free(g->lost);
	free(g->list);
	*g = (struct fit_greedy){ 0 };
}

static int64_t next_tie(struct fit_greedy *g)
{
	return g->ties == FIT_TIES_BY_JOB ? 0 : g->sequence++;
}

void fit_greedy_leave(struct fit_greedy *g, const struct fit_view *v, uint32_t j)
{
	(void)fit_ranked_remove(g->running, fit_view_slot(v, j));
}

int fit_greedy_wait_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		       struct fit_err *err)
{
	fit_greedy_leave(g, v, j);
	return fit_backlog_add(g->waiting, fit_view_slot(v, j), j, fit_view_job(v, j)->gpus, key, tie) ?
	       fit_fail_nomem(err) : FIT_OK;
}

int fit_greedy_wait(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		    struct fit_err *err)
{
	return fit_greedy_wait_at(g, v, j, key, next_tie(g), err);
}

static int run_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		  struct fit_err *err)
{
	struct fit_ranked_entry e = { key, tie, j, fit_view_slot(v, j), fit_view_job(v, j)->gpus, 0 };

	return fit_grow(&g->list, &g->cap_list, fit_ranked_count(g->running) + 1, sizeof *g->list) ||
	       fit_ranked_add(g->running, &e) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_greedy_run_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		      struct fit_err *err)
{
	return fit_backlog_remove(g->waiting, fit_view_slot(v, j)) ? run_at(g, v, j, key, tie, err) : FIT_OK;
}

int fit_greedy_run(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		   struct fit_err *err)
{
	return fit_greedy_run_at(g, v, j, key, next_tie(g), err);
}

int fit_greedy_rekey_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
			struct fit_err *err)
{
	return fit_ranked_remove(g->running, fit_view_slot(v, j)) ? run_at(g, v, j, key, tie, err) : FIT_OK;
}

int fit_greedy_rekey(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		     struct fit_err *err)
{
	const struct fit_ranked_entry *e = fit_ranked_find(g->running, fit_view_slot(v, j));

	return e ? fit_greedy_rekey_at(g, v, j, key, e->tie, err) : FIT_OK;
}

/* A waiting job. */
struct candidate {
	const struct fit_greedy *greedy;
	int64_t key, tie;
	uint32_t job;
};

/* Does waiting job w come before running job r? */
static bool waiting_first(const struct candidate *w, const struct fit_ranked_entry *r)
{
	const struct fit_greedy *g = w->greedy;

	if (w->key != r->key)
		return w->key < r->key;
	if (g->ties == FIT_TIES_GIVEN && w->tie != r->tie)
		return w->tie < r->tie;
	return g->ties == FIT_TIES_BY_JOB || g->ties == FIT_TIES_GIVEN ? w->job < r->job :
	       g->ties == FIT_TIES_WAITING_FIRST;
}

static bool running_first(const void *w, const struct fit_ranked_entry *r)
{
	return !waiting_first(w, r);
}

/* Does one waiting job come before another? */
static bool candidate_before(const struct candidate *a, const struct candidate *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->tie != b->tie ? a->tie < b->tie : a->job < b->job;
}

static int by_tie(const void *pa, const void *pb)
{
	const struct fit_ranked_entry *a = pa, *b = pb;

	return a->tie != b->tie ? (a->tie < b->tie ? -1 : 1) : 0;
}

static int lose(struct fit_greedy *g, const struct fit_ranked_entry *e)
{
	if (fit_grow(&g->lost, &g->cap_lost, g->n_lost + 1, sizeof *g->lost))
		return FIT_ENOMEM;
	g->lost[g->n_lost++] = *e;
	return FIT_OK;
}

/* A type that job j may have with that many GPUs left; FIT_ANY_TYPE: none. */
static int32_t type_for(const struct fit_view *v, const int64_t *left, uint32_t j)
{
	int32_t only = fit_view_job(v, j)->gpu_type, held = fit_view_type(v, j);

	if (held != FIT_ANY_TYPE && fit_view_job(v, j)->gpus <= left[held])
		return held;
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if ((only == FIT_ANY_TYPE || only == t) && fit_job_runs_on(fit_view_job(v, j), t) &&
		    fit_view_job(v, j)->gpus <= left[t])
			return t;
	return FIT_ANY_TYPE;
}

static int64_t most_of(const int64_t *left, int32_t n)
{
	int64_t most = left[0];

	for (int32_t t = 1; t < n; t++)
		most = left[t] > most ? left[t] : most;
	return most;
}

/* All in order, one by one. */
static int walk(struct fit_greedy *g, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	const int32_t n_types = v->cluster->n_types;
	const size_t n_running = fit_greedy_list(g);
	int64_t left[FIT_GPU_TYPES_MAX] = { 0 };
	size_t i = 0;
	int32_t type;
	int rc = FIT_OK;

	for (type = 0; type < n_types; type++)
		left[type] = v->cluster->types[type].n_open;
	while (!rc) {
		const struct fit_ranked_entry *r = i < n_running ? &g->list[i] : NULL;
		struct candidate w = { .greedy = g };
		bool waits = fit_backlog_look(g->waiting, most_of(left, n_types), &w.job, &w.key, &w.tie);

		if (!r && !waits)
			return FIT_OK;
		if (waits && (!r || waiting_first(&w, r))) {
			fit_backlog_pass(g->waiting, fit_view_slot(v, w.job));
			type = type_for(v, left, w.job);
			if (type == FIT_ANY_TYPE)
				continue;	/* no room on the type that it asks for */
			left[type] -= fit_view_job(v, w.job)->gpus;
			rc = fit_plan_grant_type(plan, w.job, fit_view_job(v, w.job)->gpus, type);
			continue;
		}
		type = type_for(v, left, r->job);
		if (type != FIT_ANY_TYPE) {
			left[type] -= fit_view_job(v, r->job)->gpus;
			rc = fit_plan_grant_type(plan, r->job, fit_view_job(v, r->job)->gpus, type);
		} else {
			rc = lose(g, r);
		}
		i++;
	}
	return rc == FIT_ENOMEM ? fit_fail_nomem(err) : rc;
}

/* The first waiting job in order that fits where it comes, if `room` less the GPUs of those that run
 * before it is left there. Of each size only the first can be it. */
static bool next_start(const struct fit_greedy *g, int64_t room, struct candidate *first)
{
	bool any = false;

	for (size_t i = 0; i < fit_backlog_sizes(g->waiting); i++) {
		struct fit_backlog_head h;
		struct candidate w;

		if (!fit_backlog_head(g->waiting, i, &h) || h.gpus > room)
			continue;
		w = (struct candidate){ g, h.key, h.tie, h.job };
		if ((any && !candidate_before(&w, first)) ||
		    fit_ranked_before(g->running, running_first, &w) > room - h.gpus)
			continue;
		*first = w;
		any = true;
	}
	return any;
}

/* Those that come before a running job and do not fit find no room later, either, nor do others of their
 * size: what is left never grows along the walk. */
static void drop_before(struct fit_greedy *g, const struct fit_ranked_entry *r)
{
	for (size_t i = 0; i < fit_backlog_sizes(g->waiting); i++) {
		struct fit_backlog_head h;

		if (fit_backlog_head(g->waiting, i, &h) &&
		    waiting_first(&(struct candidate){ g, h.key, h.tie, h.job }, r))
			fit_backlog_drop_size(g->waiting, h.gpus);
	}
}

/*
 * The same as walk() for GPUs of one type, from one change to the next: a waiting job that fits starts, a
 * running one that does not loses its GPUs.
 */
static int leap(struct fit_greedy *g, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	/* GPUs of the cluster, less those of jobs that were started, and those of jobs that lost theirs */
	int64_t room = v->cluster->types[0].n_open;

	for (;;) {
		const struct fit_ranked_entry *out = fit_ranked_over(g->running, room);
		struct candidate w = { .greedy = g };

		if (next_start(g, room, &w) && (!out || waiting_first(&w, out))) {
			int64_t gpus = fit_view_job(v, w.job)->gpus;

			fit_backlog_pass(g->waiting, fit_view_slot(v, w.job));
			if (fit_plan_grant_type(plan, w.job, gpus, 0))
				return fit_fail_nomem(err);
			room -= gpus;
		} else if (out) {
			drop_before(g, out);
			room += out->gpus;
			if (lose(g, out))
				return fit_fail_nomem(err);
		} else {
			return FIT_OK;
		}
	}
}

int fit_greedy_decide(struct fit_greedy *g, const struct fit_view *v, struct fit_plan *plan,
		      struct fit_err *err)
{
	int rc;

	g->n_lost = 0;
	fit_backlog_rewind(g->waiting);
	rc = v->cluster->n_types > 1 || v->fidelity->ghosts ? walk(g, v, plan, err) : leap(g, v, plan, err);
	if (rc)
		return rc;
	if (g->ties != FIT_TIES_BY_JOB && g->ties != FIT_TIES_GIVEN && g->n_lost > 1)
		qsort(g->lost, g->n_lost, sizeof *g->lost, by_tie);
	for (size_t i = 0; i < g->n_lost; i++)
		if (fit_plan_grant(plan, g->lost[i].job, 0))
			return fit_fail_nomem(err);
	return FIT_OK;
}
