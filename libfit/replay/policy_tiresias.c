/* SPDX-License-Identifier: MIT */
/*
 * Tiresias: discretised two-dimensional attained service (Gu et al., NSDI'19) with two queues.
 *
 * A job enters the tail of the first queue. Once its executed wall time x GPUs has reached the
 * threshold it moves to the tail of the second one, for good. At each decision the queues are
 * walked in order; a job whose demand fits into what is left runs, others wait (small jobs pass
 * blocked big ones). Executed time counts from the decision that gave GPUs, restart delay included.
 *
 * Two published simulators have a scheduler of this name: that of Pollux (OSDI'21), which is as above,
 * and that of Lucid (ASPLOS'23), where jobs of a queue go by submission and are demoted above the
 * threshold. Which one it is stands in the fidelity profile.
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/greedy.h"

/* When a running job of the first queue has used up its share. */
struct timer {
	int64_t at_ns;
	uint32_t job, stamp;
};

struct member {
	int64_t executed_ns;	/* up to since_ns */
	int64_t since_ns;	/* of the allocation that it holds */
	int64_t place;		/* in its queue: a rank, or the time of submission */
	uint32_t stamp;		/* of its one valid timer */
	uint8_t queue;
	bool runs;
};

struct tiresias {
	int64_t threshold_gpu_s;
	bool over, by_submit;
	struct fit_greedy greedy;
	struct member *member;		/* by place in the partition */
	int64_t last_place;
	struct timer *timers;		/* a binary heap */
	size_t n_timers, cap_timers;
	uint32_t *list;			/* scratch: arrived, or demoted, since the last decision */
	size_t n_list, cap_list;
	uint32_t *fresh;
	size_t n_fresh, cap_fresh;
};

#define SECOND_QUEUE (INT64_C(1) << 62)

static struct member *member_of(const struct tiresias *t, const struct fit_view *v, uint32_t j)
{
	return &t->member[v->jobs[j].local];
}

static int64_t key_of(const struct member *m)
{
	return m->place + (m->queue ? SECOND_QUEUE : 0);
}

static void tiresias_free(void *state)
{
	struct tiresias *t = state;

	fit_greedy_release(&t->greedy);
	free(t->member);
	free(t->timers);
	free(t->list);
	free(t->fresh);
	free(t);
}

static int tiresias_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			 struct fit_err *err)
{
	struct tiresias *t = calloc(1, sizeof *t);

	if (!t)
		return fit_fail_nomem(err);
	*state = t;
	t->threshold_gpu_s = p->tiresias_threshold_gpu_s;
	t->over = v->fidelity->tiresias_over;
	t->by_submit = v->fidelity->tiresias_by_submit;
	t->member = calloc(v->n_members ? v->n_members : 1, sizeof *t->member);
	return t->member ? fit_greedy_init(&t->greedy, v, t->by_submit ? FIT_TIES_RUNNING_FIRST :
					    FIT_TIES_BY_JOB, err) : fit_fail_nomem(err);
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
	struct tiresias *t = state;

	member_of(t, v, j)->stamp++;
	fit_greedy_leave(&t->greedy, j);
}

/* ---- timers ---- */

static bool timer_before(const struct timer *a, const struct timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->job < b->job;
}

static int add_timer(struct tiresias *t, struct timer x, struct fit_err *err)
{
	size_t i = t->n_timers;

	if (fit_grow(&t->timers, &t->cap_timers, i + 1, sizeof *t->timers))
		return fit_fail_nomem(err);
	t->n_timers++;
	for (; i && timer_before(&x, &t->timers[(i - 1) / 2]); i = (i - 1) / 2)
		t->timers[i] = t->timers[(i - 1) / 2];
	t->timers[i] = x;
	return FIT_OK;
}

static void drop_timer(struct tiresias *t)
{
	struct timer last = t->timers[--t->n_timers];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < t->n_timers) {
		if (c + 1 < t->n_timers && timer_before(&t->timers[c + 1], &t->timers[c]))
			c++;
		if (!timer_before(&t->timers[c], &last))
			break;
		t->timers[i] = t->timers[c];
		i = c;
	}
	t->timers[i] = last;
}

/* The first timer that still holds, or NULL. */
static const struct timer *first_timer(struct tiresias *t, const struct fit_view *v)
{
	while (t->n_timers && t->timers[0].stamp != member_of(t, v, t->timers[0].job)->stamp)
		drop_timer(t);
	return t->n_timers ? &t->timers[0] : NULL;
}

/* Wall time after which a job of that demand leaves the first queue, rounded up to a nanosecond. */
static int64_t demote_after_ns(const struct tiresias *t, int64_t gpus)
{
	int64_t s = t->threshold_gpu_s / gpus, rest = t->threshold_gpu_s % gpus;

	if (s > INT64_MAX / FIT_NS_PER_S - 1)
		return INT64_MAX;
	return s * FIT_NS_PER_S + (t->over ? rest * FIT_NS_PER_S / gpus + 1 :
				   (rest * FIT_NS_PER_S + gpus - 1) / gpus);
}

static int tiresias_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct tiresias *t = state;
	struct member *m = member_of(t, v, j);
	int64_t after = demote_after_ns(t, v->jobs[j].gpus), left;
	int rc;

	m->stamp++;
	if (m->runs)
		m->executed_ns += v->now_ns - m->since_ns;
	m->since_ns = v->now_ns;
	m->runs = fit_view_gpus(v, j) > 0;
	if (!m->runs)
		return fit_greedy_wait(&t->greedy, v, j, key_of(m), err);
	rc = fit_greedy_run(&t->greedy, v, j, key_of(m), err);
	left = after > m->executed_ns ? after - m->executed_ns : 0;
	if (rc || m->queue || left > INT64_MAX - v->now_ns)
		return rc;
	return add_timer(t, (struct timer){ v->now_ns + left, j, m->stamp }, err);
}

/* ---- decisions ---- */

static int by_job(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static int take_in_fresh(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	int rc = FIT_OK;

	if (t->n_fresh > 1)
		qsort(t->fresh, t->n_fresh, sizeof *t->fresh, by_job);
	for (size_t i = 0; i < t->n_fresh && !rc; i++) {
		struct member *m = member_of(t, v, t->fresh[i]);

		m->place = t->by_submit ? v->jobs[t->fresh[i]].submit_ns : t->last_place++;
		rc = fit_greedy_wait(&t->greedy, v, t->fresh[i], key_of(m), err);
	}
	t->n_fresh = 0;
	return rc;
}

static int demote(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	const struct timer *x;

	t->n_list = 0;
	while ((x = first_timer(t, v)) != NULL && x->at_ns <= v->now_ns) {
		if (fit_grow(&t->list, &t->cap_list, t->n_list + 1, sizeof *t->list))
			return fit_fail_nomem(err);
		t->list[t->n_list++] = x->job;
		drop_timer(t);
	}
	if (t->n_list > 1)
		qsort(t->list, t->n_list, sizeof *t->list, by_job);
	for (size_t i = 0; i < t->n_list; i++) {
		struct member *m = member_of(t, v, t->list[i]);

		m->queue = 1;
		if (!t->by_submit)
			m->place = t->last_place++;
		fit_greedy_rekey(&t->greedy, t->list[i], key_of(m));
	}
	return FIT_OK;
}

static int tiresias_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct tiresias *t = state;
	int rc = take_in_fresh(t, v, err);

	rc = rc ? rc : demote(t, v, err);
	return rc ? rc : fit_greedy_decide(&t->greedy, v, plan, err);
}

/* The first instant at which a running job of the first queue has used up its share. */
static int64_t tiresias_next_wake(void *state, const struct fit_view *v)
{
	const struct timer *x = first_timer(state, v);

	return x ? x->at_ns : INT64_MAX;
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
	.needs = FIT_COUNTS_DOWN | FIT_ONLY_NEWS,
	.init = tiresias_init,
	.free = tiresias_free,
	.arrive = tiresias_arrive,
	.leave = tiresias_leave,
	.changed = tiresias_changed,
	.decide = tiresias_decide,
	.next_wake = tiresias_next_wake,
	.describe = tiresias_describe,
};
