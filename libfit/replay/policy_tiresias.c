/* SPDX-License-Identifier: MIT */
/*
 * Tiresias: discretised two-dimensional attained service (Gu et al., NSDI'19) with two queues, as in
 * the simulator of Pollux (OSDI'21).
 *
 * A job enters the tail of the first queue. Once its executed wall time x GPUs has reached the
 * threshold it moves to the tail of the second one, for good. At each decision the queues are
 * walked in order; a job whose demand fits into what is left runs, others wait (small jobs pass
 * blocked big ones). Executed time counts from the decision that gave GPUs, restart delay included.
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/policy.h"

#define NONE UINT32_MAX

/* A doubly linked list through the members' arrays. */
struct list {
	uint32_t head, tail;
};

struct tiresias {
	int64_t threshold_gpu_s;
	int64_t last_ns;		/* the last decision */
	struct list queue[2];
	uint32_t *next, *prev;		/* per job */
	int64_t *executed_ns;		/* per job, up to last_ns */
	uint8_t *in;			/* per job: its queue */
	bool *runs;			/* per job: since last_ns */
	uint32_t *fresh;		/* arrived since last_ns; appended in job order */
	size_t n_fresh, cap_fresh;
};

static void list_append(struct tiresias *t, int q, uint32_t j)
{
	struct list *l = &t->queue[q];

	t->in[j] = (uint8_t)q;
	t->next[j] = NONE;
	t->prev[j] = l->tail;
	if (l->tail == NONE)
		l->head = j;
	else
		t->next[l->tail] = j;
	l->tail = j;
}

static void list_remove(struct tiresias *t, uint32_t j)
{
	struct list *l = &t->queue[t->in[j]];

	if (t->prev[j] == NONE)
		l->head = t->next[j];
	else
		t->next[t->prev[j]] = t->next[j];
	if (t->next[j] == NONE)
		l->tail = t->prev[j];
	else
		t->prev[t->next[j]] = t->prev[j];
}

static void tiresias_free(void *state)
{
	struct tiresias *t = state;

	free(t->next);
	free(t->prev);
	free(t->executed_ns);
	free(t->in);
	free(t->runs);
	free(t->fresh);
	free(t);
}

static int tiresias_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			 struct fit_err *err)
{
	size_t n = v->n_jobs ? v->n_jobs : 1;
	struct tiresias *t = calloc(1, sizeof *t);

	if (!t)
		return fit_fail_nomem(err);
	t->threshold_gpu_s = p->tiresias_threshold_gpu_s;
	t->queue[0] = t->queue[1] = (struct list){ NONE, NONE };
	t->next = calloc(n, sizeof *t->next);
	t->prev = calloc(n, sizeof *t->prev);
	t->executed_ns = calloc(n, sizeof *t->executed_ns);
	t->in = calloc(n, sizeof *t->in);
	t->runs = calloc(n, sizeof *t->runs);
	if (!t->next || !t->prev || !t->executed_ns || !t->in || !t->runs) {
		tiresias_free(t);
		return fit_fail_nomem(err);
	}
	*state = t;
	return FIT_OK;
}

static int tiresias_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct tiresias *t = state;

	(void)v;
	if (fit_grow(&t->fresh, &t->cap_fresh, t->n_fresh + 1, sizeof *t->fresh))
		return fit_fail_nomem(err);
	t->fresh[t->n_fresh++] = j;
	return FIT_OK;
}

static void tiresias_leave(void *state, const struct fit_view *v, uint32_t j)
{
	(void)v;
	list_remove(state, j);
}

static int by_job(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Wall time after which a job of that demand leaves the first queue, rounded up to a nanosecond. */
static int64_t demote_after_ns(const struct tiresias *t, int64_t gpus)
{
	int64_t s = t->threshold_gpu_s / gpus, rest = t->threshold_gpu_s % gpus;

	if (s > INT64_MAX / FIT_NS_PER_S - 1)
		return INT64_MAX;
	return s * FIT_NS_PER_S + (rest * FIT_NS_PER_S + gpus - 1) / gpus;
}

static int tiresias_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct tiresias *t = state;
	int64_t left = v->cluster->n_open;
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);

	if (t->n_fresh)
		qsort(t->fresh, t->n_fresh, sizeof *t->fresh, by_job);
	for (size_t i = 0; i < t->n_fresh; i++)
		list_append(t, 0, t->fresh[i]);
	t->n_fresh = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t j = active[i];

		if (!t->runs[j])
			continue;
		t->executed_ns[j] += v->now_ns - t->last_ns;
		if (t->in[j] == 0 && t->executed_ns[j] >= demote_after_ns(t, v->jobs[j].gpus)) {
			list_remove(t, j);
			list_append(t, 1, j);
		}
	}
	t->last_ns = v->now_ns;
	for (int q = 0; q < 2; q++) {
		for (uint32_t j = t->queue[q].head; j != NONE; j = t->next[j]) {
			t->runs[j] = v->jobs[j].gpus <= left;
			left -= t->runs[j] ? v->jobs[j].gpus : 0;
			if (fit_plan_grant(plan, j, t->runs[j] ? v->jobs[j].gpus : 0))
				return fit_fail_nomem(err);
		}
	}
	return FIT_OK;
}

/* The first instant at which a running job of the first queue has used up its share. */
static int64_t tiresias_next_wake(void *state, const struct fit_view *v)
{
	struct tiresias *t = state;
	int64_t first = INT64_MAX;

	for (uint32_t j = t->queue[0].head; j != NONE; j = t->next[j]) {
		int64_t left = demote_after_ns(t, v->jobs[j].gpus) - t->executed_ns[j];

		if (t->runs[j] && left < first - t->last_ns)
			first = t->last_ns + left;
	}
	return first;
}

static int tiresias_describe(const struct fit_policy_params *p, const struct fit_view *v,
			     struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];

	(void)v;
	fit_format_int64(text, p->tiresias_threshold_gpu_s);
	return fit_meta_add(meta, "tiresias_threshold_gpu_s", text);
}

const struct fit_policy fit_policy_tiresias = {
	.name = "tiresias",
	.summary = "least attained service in two queues, preemptive",
	.init = tiresias_init,
	.free = tiresias_free,
	.arrive = tiresias_arrive,
	.leave = tiresias_leave,
	.decide = tiresias_decide,
	.next_wake = tiresias_next_wake,
	.describe = tiresias_describe,
};
