/* SPDX-License-Identifier: MIT */
/*
 * A policy that decides nothing: it carries out a table of allocations (allocations.h), so that the model
 * of the jobs can be driven by what another scheduler gave them.
 *
 * A decision applies the last row of each job up to now. Rows with nodes come first; rows with GPUs per
 * node keep what the job holds where that is so many already, and otherwise take, for each number in its
 * turn, the node with the fewest free GPUs that has enough; rows with a number of GPUs are placed by the
 * placement. Rows of a job that has ended do nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/replay/allocations.h"
#include "libfit/replay/policy.h"

struct follow {
	const struct fit_allocations *a;
	uint32_t *job_of;	/* by number in a->ids */
	uint8_t *status;	/* by job */
	bool *lost;		/* by job: has lost its GPUs in this decision */
	size_t *last;		/* by job: number of its row, from 1, that this decision applies; 0: none */
	size_t next;		/* row */
	uint32_t *due;		/* jobs whose allocation changes */
	size_t due_cap;
	int32_t *free;		/* by node: GPUs that are nobody's once the plan takes effect */
	struct fit_share *shares;
	size_t shares_cap;
};
enum { UNKNOWN, HERE, GONE };

static void follow_free(void *state)
{
	struct follow *f = state;

	free(f->job_of);
	free(f->status);
	free(f->last);
	free(f->lost);
	free(f->due);
	free(f->free);
	free(f->shares);
	free(f);
}

static int row_fail(const struct follow *f, const struct fit_allocation *r, const char *column,
		    struct fit_err *err, const char *what)
{
	return fit_fail(err, FIT_EDATA, "%s:%llu:%s: job '%s' %s", f->a->input, (unsigned long long)r->line, column,
			f->a->ids[r->job], what);
}

/* The number of the plan that a row names; FIT_NO_EXEC_PLAN: none. */
static uint16_t plan_of(const struct follow *f, const struct fit_allocation *r, const struct fit_job *job)
{
	return !r->plan || !job->plans ? FIT_NO_EXEC_PLAN :
	       fit_plan_times_plan(job->plans->of, fit_text_of(f->a->plans[r->plan - 1]));
}

/* Which job each row is of. */
static int find_jobs(struct follow *f, const struct fit_view *v, struct fit_err *err)
{
	struct fit_index ids = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < f->a->n_ids && !rc; i++) {
		f->job_of[i] = FIT_NO_INDEX;
		rc = fit_index_put(&ids, fit_text_of(f->a->ids[i]), (uint32_t)i, NULL);
	}
	for (size_t j = 0; j < v->n_jobs && !rc; j++) {
		uint32_t i = fit_index_get(&ids, fit_text_of(v->jobs[j].id));

		if (i != FIT_NO_INDEX)
			f->job_of[i] = (uint32_t)j;
	}
	fit_index_release(&ids);
	if (rc)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < f->a->n; i++) {
		const struct fit_allocation *r = &f->a->rows[i];
		const struct fit_job *job = f->job_of[r->job] == FIT_NO_INDEX ? NULL : &v->jobs[f->job_of[r->job]];

		if (!job)
			return row_fail(f, r, "job_id", err, "is not in the jobs table");
		if (r->gpus && r->time_ns < job->submit_ns)
			return row_fail(f, r, "time_s", err, "gets GPUs before it is submitted");
		if (r->gpus && r->gpus != job->gpus && !job->app && !job->job_class && !job->plans)
			return row_fail(f, r, "job_id", err, "gets another number of GPUs than it asks for, which its "
					"duration is for (expected a profile or speedups)");
		if (r->plan && job->plans && plan_of(f, r, job) == FIT_NO_EXEC_PLAN)
			return row_fail(f, r, "exec_plan", err, "gets a plan that the times of plans do not have");
	}
	return FIT_OK;
}

static int follow_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		       struct fit_err *err)
{
	struct follow *f = calloc(1, sizeof *f);

	if (!f)
		return fit_fail_nomem(err);
	*state = f;
	f->a = p->allocations;
	f->job_of = calloc(f->a->n_ids + 1, sizeof *f->job_of);
	f->status = calloc(v->n_jobs + 1, sizeof *f->status);
	f->lost = calloc(v->n_jobs + 1, sizeof *f->lost);
	f->last = calloc(v->n_jobs + 1, sizeof *f->last);
	f->free = calloc((size_t)v->cluster->n_nodes + 1, sizeof *f->free);
	if (!f->job_of || !f->status || !f->lost || !f->last || !f->free)
		return fit_fail_nomem(err);
	return find_jobs(f, v, err);
}

static int follow_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	(void)v;
	(void)err;
	((struct follow *)state)->status[j] = HERE;
	return FIT_OK;
}

static void follow_leave(void *state, const struct fit_view *v, uint32_t j)
{
	(void)v;
	((struct follow *)state)->status[j] = GONE;
}

/* ---- one decision ---- */

/* The jobs whose rows are due, in the order of the table; *n of them. */
static int collect(struct follow *f, const struct fit_view *v, size_t *n, struct fit_err *err)
{
	*n = 0;
	for (; f->next < f->a->n && f->a->rows[f->next].time_ns <= v->now_ns; f->next++) {
		const struct fit_allocation *r = &f->a->rows[f->next];
		uint32_t j = f->job_of[r->job];

		if (v->jobs[j].partition != v->partition || f->status[j] == GONE)
			continue;
		if (f->status[j] == UNKNOWN && r->gpus)
			return row_fail(f, r, "time_s", err, "gets GPUs while it is not let in yet");
		if (f->status[j] == UNKNOWN)
			continue;
		if (!f->last[j]) {
			if (fit_grow(&f->due, &f->due_cap, *n + 1, sizeof *f->due))
				return fit_fail_nomem(err);
			f->due[(*n)++] = j;
		}
		f->last[j] = f->next + 1;
	}
	return FIT_OK;
}

static const struct fit_allocation *row_of(const struct follow *f, uint32_t j)
{
	return &f->a->rows[f->last[j] - 1];
}

static bool holds_as_many(const struct follow *f, const struct fit_view *v, const struct fit_allocation *r,
			  uint32_t j)
{
	const struct fit_alloc *held = fit_view_alloc(v, j);
	uint16_t exec_plan = plan_of(f, r, &v->jobs[j]);
	bool same = held->n == r->n_shares &&
		    (exec_plan == FIT_NO_EXEC_PLAN || exec_plan == fit_view_exec_plan(v, j) || v->fidelity->free_shifts);

	for (size_t i = 0; i < r->n_shares && same; i++)
		same = held->shares[i].gpus == f->a->shares[r->shares_at + i].gpus;
	return same;
}

/* Take shares out of what is free; false when they are not, and then nothing is taken. */
static bool take(struct follow *f, const struct fit_view *v, const struct fit_share *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].node >= v->first_node && s[i].node < v->first_node + v->cluster->n_nodes &&
		    f->free[s[i].node - v->first_node] >= s[i].gpus) {
			f->free[s[i].node - v->first_node] -= s[i].gpus;
			continue;
		}
		while (i--)
			f->free[s[i].node - v->first_node] += s[i].gpus;
		return false;
	}
	return true;
}

/* Where jobs run on without GPUs, a table of what they run on gives more than there is: the first job, of
 * those that no row is about, with enough GPUs loses its own. */
static bool evict(struct follow *f, const struct fit_view *v, struct fit_plan *plan, uint32_t j, int32_t gpus)
{
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);

	for (size_t i = 0; i < n && v->fidelity->ghosts; i++) {
		const struct fit_alloc *held = fit_view_alloc(v, active[i]);

		if (active[i] == j || f->last[active[i]] || f->lost[active[i]] || held->gpus < gpus)
			continue;
		for (size_t k = 0; k < held->n; k++)
			f->free[held->shares[k].node] += held->shares[k].gpus;
		f->lost[active[i]] = true;
		return fit_plan_place(plan, active[i], NULL, 0) == FIT_OK;
	}
	return false;
}

static int32_t tightest(const struct follow *f, const struct fit_view *v, const struct fit_share *taken,
			size_t n, int32_t gpus)
{
	int32_t best = -1;

	for (int32_t k = 0; k < v->cluster->n_nodes; k++) {
		bool used = false;

		for (size_t i = 0; i < n && !used; i++)
			used = taken[i].node == k;
		if (!used && f->free[k] >= gpus && (best < 0 || f->free[k] < f->free[best]))
			best = k;
	}
	return best;
}

/* Put a job on nodes of its own choosing or ours. */
static int place(struct follow *f, const struct fit_view *v, struct fit_plan *plan, uint32_t j,
		 struct fit_err *err)
{
	const struct fit_allocation *r = row_of(f, j);
	uint16_t exec_plan;

	if (fit_grow(&f->shares, &f->shares_cap, r->n_shares + 1, sizeof *f->shares))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < r->n_shares; i++) {
		f->shares[i] = f->a->shares[r->shares_at + i];
		if (r->kind == FIT_ALLOCATE_NODES) {
			f->shares[i].node -= v->first_node;
			continue;
		}
		do
			f->shares[i].node = tightest(f, v, f->shares, i, f->shares[i].gpus);
		while (f->shares[i].node < 0 && evict(f, v, plan, j, f->shares[i].gpus));
		if (f->shares[i].node < 0)
			return row_fail(f, r, "per_node", err, "finds no nodes with so many free GPUs");
		f->free[f->shares[i].node] -= f->shares[i].gpus;
	}
	exec_plan = plan_of(f, r, &v->jobs[j]);
	if (exec_plan == FIT_NO_EXEC_PLAN)
		exec_plan = fit_view_exec_plan(v, j);
	return fit_plan_place_as(plan, j, f->shares, r->n_shares, exec_plan) ? fit_fail_nomem(err) : FIT_OK;
}

static int follow_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct follow *f = state;
	size_t n, kept = 0, n_active;
	const uint32_t *active = fit_view_active(v, &n_active);
	int rc = collect(f, v, &n, err);

	if (rc || !n)
		return rc;
	for (size_t i = 0; i < n_active; i++)
		f->lost[active[i]] = false;
	for (int32_t k = 0; k < v->cluster->n_nodes; k++)
		f->free[k] = fit_cluster_open_gpus(v->cluster, k);
	for (size_t i = 0; i < n; i++) {
		const struct fit_alloc *held = fit_view_alloc(v, f->due[i]);

		for (size_t k = 0; k < held->n; k++)
			f->free[held->shares[k].node] += held->shares[k].gpus;
	}
	for (size_t i = 0; i < n; i++) {
		const struct fit_allocation *r = row_of(f, f->due[i]);

		if (r->kind == FIT_ALLOCATE_NODES && !take(f, v, f->a->shares + r->shares_at, r->n_shares))
			return row_fail(f, r, "nodes", err, "gets GPUs that are not free, or not there");
	}
	/* those that hold as many stay; what is left of the list moves up */
	for (size_t i = 0; i < n; i++) {
		uint32_t j = f->due[i];
		const struct fit_allocation *r = row_of(f, j);

		if (r->kind == FIT_ALLOCATE_PER_NODE && holds_as_many(f, v, r, j)) {
			const struct fit_alloc *held = fit_view_alloc(v, j);
			bool free_yet = true;

			for (size_t k = 0; k < held->n; k++)
				free_yet = free_yet && f->free[held->shares[k].node] >= held->shares[k].gpus;
			for (size_t k = 0; k < held->n && free_yet; k++)
				f->free[held->shares[k].node] -= held->shares[k].gpus;
			if (free_yet) {
				f->last[j] = 0;
				continue;
			}
		}
		f->due[kept++] = j;
	}
	for (size_t i = 0; i < kept && !rc; i++)
		if (row_of(f, f->due[i])->kind != FIT_ALLOCATE_GPUS)
			rc = place(f, v, plan, f->due[i], err);
	for (size_t i = 0; i < kept && !rc; i++) {
		const struct fit_allocation *r = row_of(f, f->due[i]);

		if (r->kind == FIT_ALLOCATE_GPUS && fit_plan_grant(plan, f->due[i], r->gpus))
			rc = fit_fail_nomem(err);
	}
	for (size_t i = 0; i < kept; i++)
		f->last[f->due[i]] = 0;
	return rc;
}

static int64_t follow_next_wake(void *state, const struct fit_view *v)
{
	const struct follow *f = state;

	(void)v;
	return f->next < f->a->n ? f->a->rows[f->next].time_ns : INT64_MAX;
}

const struct fit_policy fit_policy_follow = {
	.name = "follow",
	.summary = "carries out a table of allocations",
	.needs = FIT_ONLY_NEWS | FIT_NEEDS_ALLOCATIONS,
	.init = follow_init,
	.free = follow_free,
	.arrive = follow_arrive,
	.leave = follow_leave,
	.decide = follow_decide,
	.next_wake = follow_next_wake,
};
