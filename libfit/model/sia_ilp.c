/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "libfit/model/sia_ilp_parts.h"

#define BEAM 3000	/* states of a layer, where not all can be kept */

static void release(struct fit_sia_solver *s)
{
	free(s->items);
	free(s->at);
}

/* ---- the problem ---- */

static const char *wrong(const struct fit_sia_job *j, int n_types)
{
	bool found = false;

	if (j->cost < -FIT_SIA_COST_MAX || j->cost > FIT_SIA_COST_MAX)
		return "a cost is out of range";
	for (size_t i = 0; i < j->n; i++) {
		const struct fit_sia_option *o = &j->options[i];

		if (o->type < 0 || o->type >= n_types || o->gpus < 1 || o->config < 0)
			return "a type, number of GPUs or config is out of range";
		if (o->cost < -FIT_SIA_COST_MAX || o->cost > FIT_SIA_COST_MAX)
			return "a cost is out of range";
		found = found || o->config == j->current;
	}
	return j->pinned && !found ? "a pinned job has no current option" : NULL;
}

/* Is the item worth no consideration beside another one of its job? Never on equal w: then ties decide. */
static bool dominated(const struct fit_sia_item *a, const struct fit_sia_item *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].w < a->w &&
		    (!items[i].gpus || (items[i].type == a->type && items[i].gpus <= a->gpus)))
			return true;
	return false;
}

static int by_config(const void *pa, const void *pb)
{
	const struct fit_sia_item *a = pa, *b = pb;

	return (a->config > b->config) - (a->config < b->config);
}

/* The items of one job at s->items + at; returns how many. */
static size_t add_items(struct fit_sia_solver *s, const struct fit_sia_job *j, size_t at)
{
	struct fit_sia_item *items = s->items + at;
	size_t n = 0, kept = 0;

	if (!j->pinned)
		items[n++] = (struct fit_sia_item){ .w = j->cost * s->per_cost + (j->current >= 0),
						    .config = FIT_SIA_NOTHING };
	for (size_t i = 0; i < j->n; i++) {
		const struct fit_sia_option *o = &j->options[i];

		if (j->pinned ? o->config != j->current : o->gpus > s->cap[o->type])
			continue;
		items[n++] = (struct fit_sia_item){ .w = o->cost * s->per_cost + o->gpus * s->per_gpu +
							 (j->current >= 0 && o->config != j->current),
						    .config = o->config, .type = o->type,
						    .gpus = j->pinned ? 0 : o->gpus };	/* those are gone already */
	}
	for (size_t i = 0; i < n; i++)
		items[i].reduced = j->pinned ? 0 : dominated(&items[i], items, n);
	for (size_t i = 0; i < n; i++)
		if (!items[i].reduced)
			items[kept++] = items[i];
	if (kept)
		qsort(items, kept, sizeof *items, by_config);
	return kept;
}

static int set_up(struct fit_sia_solver *s, const int64_t *capacity, struct fit_err *err)
{
	size_t n = s->n_jobs, room = n;
	int64_t total = 0;
	uint64_t radix = 1;

	for (int t = 0; t < s->n_types; t++) {
		if (capacity[t] < 0 || capacity[t] > 10000000)
			return fit_fail(err, FIT_EINVAL, "a capacity is out of range");
		s->cap[t] = capacity[t];
		total += capacity[t];
	}
	for (size_t j = 0; j < n; j++) {
		const struct fit_sia_job *job = &s->jobs[j];
		const char *what = wrong(job, s->n_types);

		if (what)
			return fit_fail(err, FIT_EINVAL, "job %zu of an assignment: %s", j, what);
		room += job->n;
		for (size_t i = 0; job->pinned && i < job->n; i++)
			if (job->options[i].config == job->current &&
			    (s->cap[job->options[i].type] -= job->options[i].gpus) < 0)
				return fit_fail(err, FIT_EINVAL, "pinned jobs need more GPUs than there are");
	}
	for (int t = 0; t < s->n_types; t++) {
		if (radix > UINT64_MAX / 4 / (uint64_t)(s->cap[t] + 1))
			return fit_fail(err, FIT_EINVAL, "too many GPUs for an exact assignment");
		radix *= (uint64_t)(s->cap[t] + 1);
	}
	s->per_gpu = (int64_t)n + 1;
	s->per_cost = s->per_gpu * (total + 1);
	if ((double)s->per_cost * (double)FIT_SIA_COST_MAX * (double)(n + 1) > 4e18)
		return fit_fail(err, FIT_EINVAL, "too many jobs and GPUs for an exact assignment");
	s->items = calloc(room + 1, sizeof *s->items);
	s->at = calloc(n + 1, sizeof *s->at);
	if (!s->items || !s->at)
		return fit_fail_nomem(err);
	for (size_t j = 0; j < n; j++)
		s->at[j + 1] = s->at[j] + add_items(s, &s->jobs[j], s->at[j]);
	return FIT_OK;
}

/* ---- the answer ---- */

static void count(const struct fit_sia_solver *s, const int32_t *choice, struct fit_sia_answer *a)
{
	for (size_t j = 0; j < s->n_jobs; j++) {
		const struct fit_sia_job *job = &s->jobs[j];

		a->changed += job->current >= 0 && choice[j] != job->current;
		if (choice[j] == FIT_SIA_NOTHING)
			a->cost += job->cost;
		for (size_t i = 0; i < job->n; i++) {
			if (job->options[i].config == choice[j]) {
				a->cost += job->options[i].cost;
				a->gpus += job->options[i].gpus;
				break;
			}
		}
	}
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int sweep(const struct fit_sia_solver *s, struct fit_sia_sweep *w, int32_t *choice,
		 struct fit_sia_answer *a)
{
	int rc = fit_sia_sweep(s, w, choice);

	a->rounds++;
	a->states = w->states;
	return rc;
}

/* Sweeps with a growing gap, until an assignment lies inside of it. What they prove goes to *bound, the last
 * gap to *gap. FIT_END: that takes too many states. */
static int widen(const struct fit_sia_solver *s, int64_t *bound, int64_t *gap, int32_t *choice,
		 struct fit_sia_answer *a)
{
	struct fit_sia_sweep w = { .states_max = FIT_SIA_STATES_MAX };

	for (*gap = s->per_cost / 16;; *gap = *gap > INT64_MAX / 8 ? *gap : 2 * *gap + 1) {
		int rc;

		w.gap = *gap;
		rc = sweep(s, &w, choice, a);
		if (rc || w.found)
			return rc;
		*bound = s->bound + w.gap + 1;
	}
}

/* Too many states: keep some for an assignment that is perhaps not the best, which says how wide the gap
 * has to be. If that is still too wide, its cost may be that of the bound all the same. FIT_END: it is
 * not. */
static int narrow(const struct fit_sia_solver *s, int64_t bound, int64_t gap, int32_t *choice,
		  struct fit_sia_answer *a)
{
	struct fit_sia_sweep some = { .gap = bound - s->bound + 2 * s->per_cost, .beam = BEAM };
	struct fit_sia_sweep all = { .states_max = FIT_SIA_STATES_MAX };
	int rc = sweep(s, &some, choice, a);

	if (rc || !some.found)
		return rc ? rc : FIT_END;
	all.gap = some.least - s->bound;
	if (some.cut && all.gap < gap) {
		int32_t *better = calloc(s->n_jobs + 1, sizeof *better);

		rc = better ? sweep(s, &all, better, a) : FIT_ENOMEM;
		if (!rc)
			memcpy(choice, better, s->n_jobs * sizeof *choice);
		free(better);
		if (rc != FIT_END)
			return rc;
	}
	a->any_tie = some.cut;
	return some.cut && floor_div(some.least, s->per_cost) > floor_div(bound, s->per_cost) ? FIT_END : FIT_OK;
}

int fit_sia_solve(const struct fit_sia_job *jobs, size_t n_jobs, const int64_t *capacity, int n_types,
		  int32_t *choice, struct fit_sia_answer *answer, struct fit_err *err)
{
	struct fit_sia_solver s = { .jobs = jobs, .n_jobs = n_jobs, .n_types = n_types };
	int64_t bound, gap;
	int rc;

	*answer = (struct fit_sia_answer){ 0 };
	if (n_types < 1 || n_types > FIT_SIA_TYPES_MAX || n_jobs > FIT_SIA_JOBS_MAX)
		return fit_fail(err, FIT_EINVAL, "an assignment of %zu jobs to %d types (expected at most %d and %d)",
				n_jobs, n_types, FIT_SIA_JOBS_MAX, FIT_SIA_TYPES_MAX);
	rc = set_up(&s, capacity, err);
	if (!rc) {
		fit_sia_set_prices(&s);
		bound = s.bound;
		answer->bound = floor_div(bound, s.per_cost);
		rc = widen(&s, &bound, &gap, choice, answer);
		if (rc == FIT_END)
			rc = narrow(&s, bound, gap, choice, answer);
		answer->by_glpk = rc == FIT_END;
		answer->any_tie = answer->any_tie || answer->by_glpk;
		if (rc == FIT_END)
			rc = fit_sia_solve_large(jobs, n_jobs, capacity, n_types, choice, err);
		else if (rc)
			rc = fit_fail_nomem(err);
		if (!rc)
			count(&s, choice, answer);
	}
	release(&s);
	return rc;
}
