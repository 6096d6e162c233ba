/* SPDX-License-Identifier: MIT */
/*
 * Policies that order jobs by one number: fifo, sjf, srtf. Ties go by the job index.
 *
 * fifo and sjf do not preempt, and the head of the queue blocks: nobody starts before a job that
 * comes first and does not fit. srtf preempts: at each decision all active jobs are taken in order
 * of predicted remaining time, those that do not fit into what is left are passed over.
 */
#include <stdlib.h>

#include "libfit/replay/policy.h"

struct entry {
	int64_t key;
	uint32_t job;
};

/* Waiting jobs, a binary heap on (key, job); srtf uses the array as scratch. */
struct queue {
	struct entry *heap;
	size_t n, cap;
};

static bool entry_before(const struct entry *a, const struct entry *b)
{
	return a->key != b->key ? a->key < b->key : a->job < b->job;
}

static int queue_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      struct fit_err *err)
{
	(void)v;
	(void)p;
	*state = calloc(1, sizeof(struct queue));
	return *state ? FIT_OK : fit_fail_nomem(err);
}

static void queue_free(void *state)
{
	struct queue *q = state;

	free(q->heap);
	free(q);
}

static int queue_add(struct queue *q, struct entry e, struct fit_err *err)
{
	size_t i = q->n;

	if (fit_grow(&q->heap, &q->cap, i + 1, sizeof *q->heap))
		return fit_fail_nomem(err);
	q->n++;
	for (; i && entry_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = e;
	return FIT_OK;
}

static void queue_drop_first(struct queue *q)
{
	struct entry last = q->heap[--q->n];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < q->n) {
		if (c + 1 < q->n && entry_before(&q->heap[c + 1], &q->heap[c]))
			c++;
		if (!entry_before(&q->heap[c], &last))
			break;
		q->heap[i] = q->heap[c];
		i = c;
	}
	q->heap[i] = last;
}

static int fifo_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	return queue_add(state, (struct entry){ v->jobs[j].submit_ns, j }, err);
}

static int sjf_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct entry e = { 0, j };
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

static int by_key(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return entry_before(a, b) ? -1 : entry_before(b, a);
}

static int srtf_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct queue *q = state;
	int64_t free_gpus = v->cluster->n_open;
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);

	if (fit_grow(&q->heap, &q->cap, n, sizeof *q->heap))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int rc = fit_predict_remaining(v, active[i], &q->heap[i].key, err);

		if (rc)
			return rc;
		q->heap[i].job = active[i];
	}
	qsort(q->heap, n, sizeof *q->heap, by_key);
	for (size_t i = 0; i < n; i++) {
		uint32_t j = q->heap[i].job;
		bool fits = v->jobs[j].gpus <= free_gpus;

		free_gpus -= fits ? v->jobs[j].gpus : 0;
		if (fit_plan_grant(plan, j, fits ? v->jobs[j].gpus : 0))
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

const struct fit_policy fit_policy_fifo = {
	.name = "fifo",
	.summary = "first in, first out; the head of the queue blocks",
	.needs = FIT_ONLY_NEWS,
	.init = queue_init,
	.free = queue_free,
	.arrive = fifo_arrive,
	.decide = head_decide,
};

const struct fit_policy fit_policy_sjf = {
	.name = "sjf",
	.summary = "shortest job first, not preemptive; the head of the queue blocks",
	.needs = FIT_ONLY_NEWS,
	.init = queue_init,
	.free = queue_free,
	.arrive = sjf_arrive,
	.decide = head_decide,
};

const struct fit_policy fit_policy_srtf = {
	.name = "srtf",
	.summary = "shortest remaining time first, preemptive",
	.init = queue_init,
	.free = queue_free,
	.decide = srtf_decide,
};
