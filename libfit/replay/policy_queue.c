/* SPDX-License-Identifier: MIT */
/*
 * Policies that put waiting jobs into one order and start them from its head: fifo, sjf, qssf, and fjf. None
 * of them preempts. The head blocks: nobody starts before a job that comes first and finds no room; but fjf
 * (fit job first) passes over such jobs.
 *
 * fifo and fjf go by submission, sjf by predicted run time, qssf (Hu et al., SC'21, as in the simulator of
 * Lucid) by predicted run time times GPUs, then by GPUs. Ties go by the job index.
 */
#include <stdlib.h>

#include "libfit/base/heap.h"
#include "libfit/base/num.h"
#include "libfit/replay/backlog.h"
#include "libfit/replay/policy.h"

struct entry {
	int64_t key, second;
	uint32_t job;
};

/* Waiting jobs, a binary heap on (key, second, job). */
struct queue {
	struct entry *heap;
	size_t n, cap;
	int64_t last_ns, again_ns;	/* qssf: of the last arrival; when to look again */
	size_t n_now;			/* qssf: arrivals at last_ns */
};

static bool entry_before(const struct entry *a, const struct entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->second != b->second ? a->second < b->second : a->job < b->job;
}

static int queue_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      struct fit_err *err)
{
	struct queue *q = calloc(1, sizeof *q);

	(void)v;
	(void)p;
	if (!q)
		return fit_fail_nomem(err);
	q->last_ns = -1;
	q->again_ns = INT64_MAX;
	*state = q;
	return FIT_OK;
}

static void queue_free(void *state)
{
	struct queue *q = state;

	free(q->heap);
	free(q);
}

FIT_HEAP(entries, struct entry, entry_before)

static int queue_add(struct queue *q, struct entry e, struct fit_err *err)
{
	return entries_push(&q->heap, &q->n, &q->cap, e) ? fit_fail_nomem(err) : FIT_OK;
}

static void queue_drop_first(struct queue *q)
{
	entries_pop(q->heap, &q->n);
}

static int fifo_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	return queue_add(state, (struct entry){ fit_view_job(v, j)->submit_ns, 0, j }, err);
}

static int sjf_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct entry e = { 0, 0, j };
	int rc = fit_predict_duration(v, j, &e.key, err);

	return rc ? rc : queue_add(state, e, err);
}

static int head_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct queue *q = state;
	bool fits = true;

	(void)v;
	while (q->n && fits) {
		if (fit_plan_try(plan, q->heap[0].job, &fits))
			return fit_fail_nomem(err);
		if (fits)
			queue_drop_first(q);
	}
	return FIT_OK;
}

/* ---- qssf ---- */

/* Predicted GPU time, in GPU-microseconds: the longest prediction on a thousand GPUs fits. */
static int64_t gpu_time(const struct fit_job *j)
{
	int64_t key;

	return __builtin_mul_overflow(j->predicted_ns / 1000, j->gpus, &key) ?
	       (j->predicted_ns < 0 ? INT64_MIN : INT64_MAX) : key;
}

static int qssf_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct queue *q = state;

	if (q->last_ns != v->now_ns)
		q->n_now = 0;
	q->last_ns = v->now_ns;
	q->n_now++;
	return queue_add(q, (struct entry){ gpu_time(fit_view_job(v, j)), fit_view_job(v, j)->gpus, j }, err);
}

static int by_size(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* All that wait came at this instant: the smallest goes first, whatever is predicted. */
static int burst_decide(struct queue *q, struct fit_plan *plan, struct fit_err *err)
{
	size_t n = q->n, k = 0;
	bool fits = true;

	qsort(q->heap, n, sizeof *q->heap, by_size);
	for (; k < n && fits; k += fits)
		if (fit_plan_try(plan, q->heap[k].job, &fits))
			return fit_fail_nomem(err);
	q->n = 0;
	for (; k < n; k++)
		if (queue_add(q, q->heap[k], err))
			return FIT_ENOMEM;
	return FIT_OK;
}

static int qssf_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct queue *q = state;

	q->again_ns = INT64_MAX;
	if (!v->fidelity->qssf_burst_by_size || q->last_ns != v->now_ns || q->n_now < q->n || !q->n)
		return head_decide(state, v, plan, err);
	if (burst_decide(q, plan, err))
		return FIT_ENOMEM;
	if (q->n)
		q->again_ns = v->now_ns + FIT_NS_PER_S;
	return FIT_OK;
}

static int64_t qssf_next_wake(void *state, const struct fit_view *v)
{
	(void)v;
	return ((struct queue *)state)->again_ns;
}

/* ---- fjf ---- */

static int fjf_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		    struct fit_err *err)
{
	(void)v;
	(void)p;
	*state = fit_backlog_new();
	return *state ? FIT_OK : fit_fail_nomem(err);
}

static void fjf_free(void *state)
{
	fit_backlog_free(state);
}

static int fjf_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	const struct fit_job *job = fit_view_job(v, j);

	return fit_backlog_add(state, fit_view_slot(v, j), j, job->gpus, job->submit_ns, 0) ? fit_fail_nomem(err) :
	       FIT_OK;
}

static int fjf_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	(void)err;
	if (fit_view_gpus(v, j))
		(void)fit_backlog_remove(state, fit_view_slot(v, j));
	return FIT_OK;
}

/* Where no room is for a job there is none for another of its size, in this decision. */
static int fjf_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	int64_t key, tie;
	uint32_t j;

	fit_backlog_rewind(state);
	while (fit_backlog_look(state, v->cluster->n_free, &j, &key, &tie)) {
		bool fits;

		if (fit_plan_try(plan, j, &fits))
			return fit_fail_nomem(err);
		if (fits || v->cluster->n_types > 1)	/* another one may be for another type */
			fit_backlog_pass(state, fit_view_slot(v, j));
		else
			fit_backlog_drop_size(state, fit_view_job(v, j)->gpus);
	}
	return FIT_OK;
}

const struct fit_policy fit_policy_fifo = {
	.name = "fifo",
	.summary = "first in, first out; the head of the queue blocks",
	.needs = FIT_SLOTS | FIT_ONLY_NEWS | FIT_ENDS_AS_PLACED,
	.init = queue_init,
	.free = queue_free,
	.arrive = fifo_arrive,
	.decide = head_decide,
};

const struct fit_policy fit_policy_sjf = {
	.name = "sjf",
	.summary = "shortest job first, not preemptive; the head of the queue blocks",
	.needs = FIT_SLOTS | FIT_ONLY_NEWS,
	.init = queue_init,
	.free = queue_free,
	.arrive = sjf_arrive,
	.decide = head_decide,
};

const struct fit_policy fit_policy_qssf = {
	.name = "qssf",
	.summary = "smallest predicted GPU time first, not preemptive; the head of the queue blocks",
	.needs = FIT_SLOTS | FIT_ONLY_NEWS | FIT_PREDICTED,
	.init = queue_init,
	.free = queue_free,
	.arrive = qssf_arrive,
	.decide = qssf_decide,
	.next_wake = qssf_next_wake,
};

const struct fit_policy fit_policy_fjf = {
	.name = "fjf",
	.summary = "fit job first: first in, first out, those that do not fit are passed over",
	.needs = FIT_SLOTS | FIT_ONLY_NEWS | FIT_ENDS_AS_PLACED,
	.init = fjf_init,
	.free = fjf_free,
	.arrive = fjf_arrive,
	.changed = fjf_changed,
	.decide = fjf_decide,
};
