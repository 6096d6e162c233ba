/* SPDX-License-Identifier: MIT */
#include "libfit/replay/greedy.h"

#include <stdlib.h>
#include <string.h>

int fit_greedy_init(struct fit_greedy *g, const struct fit_view *v, enum fit_greedy_ties ties,
		    struct fit_err *err)
{
	*g = (struct fit_greedy){ .waiting = fit_backlog_new(v->n_members), .ties = ties };
	return g->waiting ? FIT_OK : fit_fail_nomem(err);
}

void fit_greedy_release(struct fit_greedy *g)
{
	fit_backlog_free(g->waiting);
	free(g->running);
	free(g->lost);
	*g = (struct fit_greedy){ 0 };
}

static bool entry_before(const struct fit_greedy_entry *a, const struct fit_greedy_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->tie != b->tie ? a->tie < b->tie : a->job < b->job;
}

static int64_t next_tie(struct fit_greedy *g)
{
	return g->ties == FIT_TIES_BY_JOB ? 0 : g->sequence++;
}

/* Where a running job is; n_running: nowhere. */
static size_t find(const struct fit_greedy *g, uint32_t j)
{
	size_t i = 0;

	while (i < g->n_running && g->running[i].job != j)
		i++;
	return i;
}

static void insert(struct fit_greedy *g, struct fit_greedy_entry e)
{
	size_t i = g->n_running++;

	for (; i && entry_before(&e, &g->running[i - 1]); i--)
		g->running[i] = g->running[i - 1];
	g->running[i] = e;
}

void fit_greedy_leave(struct fit_greedy *g, uint32_t j)
{
	size_t i = find(g, j);

	if (i == g->n_running)
		return;
	memmove(g->running + i, g->running + i + 1, (g->n_running - i - 1) * sizeof *g->running);
	g->n_running--;
}

int fit_greedy_wait_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		       struct fit_err *err)
{
	fit_greedy_leave(g, j);
	return fit_backlog_add(g->waiting, v->jobs[j].local, v->jobs[j].gpus, key, tie) ?
	       fit_fail_nomem(err) : FIT_OK;
}

int fit_greedy_wait(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		    struct fit_err *err)
{
	return fit_greedy_wait_at(g, v, j, key, next_tie(g), err);
}

int fit_greedy_run_at(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key, int64_t tie,
		      struct fit_err *err)
{
	if (fit_grow(&g->running, &g->cap_running, g->n_running + 1, sizeof *g->running))
		return fit_fail_nomem(err);
	if (fit_backlog_remove(g->waiting, v->jobs[j].local))
		insert(g, (struct fit_greedy_entry){ key, tie, j });
	return FIT_OK;
}

int fit_greedy_run(struct fit_greedy *g, const struct fit_view *v, uint32_t j, int64_t key,
		   struct fit_err *err)
{
	return fit_greedy_run_at(g, v, j, key, next_tie(g), err);
}

void fit_greedy_rekey_at(struct fit_greedy *g, uint32_t j, int64_t key, int64_t tie)
{
	size_t i = find(g, j);

	if (i == g->n_running)
		return;
	fit_greedy_leave(g, j);
	insert(g, (struct fit_greedy_entry){ key, tie, j });
}

void fit_greedy_rekey(struct fit_greedy *g, uint32_t j, int64_t key)
{
	size_t i = find(g, j);

	if (i < g->n_running)
		fit_greedy_rekey_at(g, j, key, g->running[i].tie);
}

void fit_greedy_sort(struct fit_greedy *g)
{
	size_t n = g->n_running;

	g->n_running = 0;
	for (size_t i = 0; i < n; i++)
		insert(g, g->running[i]);
}

/* Does waiting job w come before running job r? */
static bool waiting_first(const struct fit_greedy *g, const struct fit_greedy_entry *w,
			  const struct fit_greedy_entry *r)
{
	if (w->key != r->key)
		return w->key < r->key;
	if (g->ties == FIT_TIES_GIVEN && w->tie != r->tie)
		return w->tie < r->tie;
	return g->ties == FIT_TIES_BY_JOB || g->ties == FIT_TIES_GIVEN ? w->job < r->job :
	       g->ties == FIT_TIES_WAITING_FIRST;
}

static int by_tie(const void *pa, const void *pb)
{
	const struct fit_greedy_entry *a = pa, *b = pb;

	return a->tie != b->tie ? (a->tie < b->tie ? -1 : 1) : 0;
}

/* A type that job j may have with that many GPUs left; FIT_ANY_TYPE: none. */
static int32_t type_for(const struct fit_view *v, const int64_t *left, uint32_t j)
{
	int32_t only = v->jobs[j].gpu_type, held = fit_view_type(v, j);

	if (held != FIT_ANY_TYPE && v->jobs[j].gpus <= left[held])
		return held;
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if ((only == FIT_ANY_TYPE || only == t) && v->jobs[j].gpus <= left[t])
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

int fit_greedy_decide(struct fit_greedy *g, const struct fit_view *v, struct fit_plan *plan,
		      struct fit_err *err)
{
	const int32_t n_types = v->cluster->n_types;
	int64_t left[FIT_GPU_TYPES_MAX];
	size_t i = 0, n_lost = 0;
	int32_t type;
	uint32_t local;

	if (fit_grow(&g->lost, &g->cap_lost, g->n_running, sizeof *g->lost))
		return fit_fail_nomem(err);
	for (type = 0; type < n_types; type++)
		left[type] = v->cluster->types[type].n_open;
	fit_backlog_rewind(g->waiting);
	for (;;) {
		const struct fit_greedy_entry *r = i < g->n_running ? &g->running[i] : NULL;
		struct fit_greedy_entry w;
		bool waits = fit_backlog_look(g->waiting, most_of(left, n_types), &local, &w.key, &w.tie);

		if (!r && !waits)
			break;
		w.job = waits ? v->members[local] : 0;
		if (waits && (!r || waiting_first(g, &w, r))) {
			fit_backlog_pass(g->waiting, local);
			type = type_for(v, left, w.job);
			if (type == FIT_ANY_TYPE)
				continue;	/* no room on the type that it asks for */
			left[type] -= v->jobs[w.job].gpus;
			if (fit_plan_grant_type(plan, w.job, v->jobs[w.job].gpus, type))
				return fit_fail_nomem(err);
			continue;
		}
		type = type_for(v, left, r->job);
		if (type != FIT_ANY_TYPE) {
			left[type] -= v->jobs[r->job].gpus;
			if (fit_plan_grant_type(plan, r->job, v->jobs[r->job].gpus, type))
				return fit_fail_nomem(err);
		} else {
			g->lost[n_lost++] = *r;
		}
		i++;
	}
	if (g->ties != FIT_TIES_BY_JOB && g->ties != FIT_TIES_GIVEN && n_lost > 1)
		qsort(g->lost, n_lost, sizeof *g->lost, by_tie);
	for (i = 0; i < n_lost; i++)
		if (fit_plan_grant(plan, g->lost[i].job, 0))
			return fit_fail_nomem(err);
	return FIT_OK;
}
