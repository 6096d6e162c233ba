/* SPDX-License-Identifier: MIT */
/*
 * Tiresias: discretised two-dimensional attained service (Gu et al., NSDI'19).
 *
 * A job enters the tail of the first queue and moves to the tail of the next one as its service reaches the
 * limits (attained.h). At each decision the queues are walked in order; a job whose demand fits into what is
 * left runs, others wait (small jobs pass blocked big ones). Service counts from the decision that gave GPUs,
 * restart delay included.
 *
 * Within a queue those that run come first, in the order in which they began to, and a job that waits
 * never takes the place of one of its own queue: the paper's order of start times. Two other published
 * simulators have a scheduler of this name, with other queues and other orders in them: that of Pollux
 * (OSDI'21) goes by when a job entered the queue, that of Lucid (ASPLOS'23) by submission. Which one it is
 * stands in the fidelity profile; docs/methods/tiresias.md compares them.
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/attained.h"
#include "libfit/replay/greedy.h"

/* When a waiting job goes back to the first queue. */
struct timer {
	int64_t at_ns;
	uint32_t job, stamp;
};

struct member {
	struct fit_attained_job service;
	int64_t tie;			/* its place in its queue, where no other order is asked for */
	uint32_t submit_rank;
	uint32_t order;			/* of arrival */
	uint32_t stamp;			/* of its one valid timer */
	bool moved;			/* it runs, and its place is at the tail until the next decision */
};

struct tiresias {
	struct fit_attained attained;
	enum fit_queue_order order;
	struct fit_greedy greedy;
	struct member *member;		/* by place in the partition */
	int64_t last_place;
	/* running first: places of those that run; of those that wait, from the tail and from the head */
	int64_t runs_next, tail_next, head_next, head_low;
	struct timer *timers;		/* a binary heap */
	size_t n_timers, cap_timers;
	struct arrival {
		uint32_t order, job;
	} *list;			/* scratch: arrived, demoted or promoted, since the last decision */
	size_t n_list, cap_list;
	struct arrival *fresh;
	size_t n_fresh, cap_fresh;
	uint32_t *due;			/* had waited enough when they lost their GPUs; for the next decision */
	size_t n_due, cap_due;
	uint32_t n_arrived;
	int64_t wake_ns;		/* the next demotion, if wake_known */
	bool wake_known;
};

/* Running first: places of waiting jobs are around this, those of running ones count from 0. */
#define WAITS (INT64_C(1) << 61)

static struct member *member_of(const struct tiresias *t, const struct fit_view *v, uint32_t j)
{
	return &t->member[v->jobs[j].local];
}

static int64_t key_of(const struct tiresias *t, const struct member *m)
{
	return ((int64_t)m->service.queue << 32) + (t->order == FIT_QUEUE_SUBMITTED ? m->submit_rank : 0);
}

static void tiresias_free(void *state)
{
	struct tiresias *t = state;

	fit_greedy_release(&t->greedy);
	free(t->member);
	free(t->timers);
	free(t->list);
	free(t->fresh);
	free(t->due);
	free(t);
}

/* ---- the order of submission ---- */

struct submission {
	int64_t ns;
	uint32_t local;
};

static int by_submission(const void *pa, const void *pb)
{
	const struct submission *a = pa, *b = pb;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Jobs that were submitted at one instant have the same rank. */
static int rank_submissions(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	struct submission *s = malloc((v->n_members ? v->n_members : 1) * sizeof *s);
	uint32_t rank = 0;

	if (!s)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < v->n_members; i++)
		s[i] = (struct submission){ v->jobs[v->members[i]].submit_ns, (uint32_t)i };
	qsort(s, v->n_members, sizeof *s, by_submission);
	for (size_t i = 0; i < v->n_members; i++) {
		rank += i && s[i].ns > s[i - 1].ns;
		t->member[s[i].local].submit_rank = rank;
	}
	free(s);
	return FIT_OK;
}

static int tiresias_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			 struct fit_err *err)
{
	struct tiresias *t = calloc(1, sizeof *t);
	int rc;

	if (!t)
		return fit_fail_nomem(err);
	*state = t;
	fit_attained_init(&t->attained, v, p);
	t->order = v->fidelity->tiresias_order;
	t->member = calloc(v->n_members ? v->n_members : 1, sizeof *t->member);
	rc = t->member ? fit_greedy_init(&t->greedy, v, t->order == FIT_QUEUE_SUBMITTED ?
					 FIT_TIES_RUNNING_FIRST : FIT_TIES_GIVEN, err) : fit_fail_nomem(err);
	return rc || t->order != FIT_QUEUE_SUBMITTED ? rc : rank_submissions(t, v, err);
}

static int add_arrival(struct arrival **list, size_t *n, size_t *cap, struct arrival x, struct fit_err *err)
{
	if (fit_grow(list, cap, *n + 1, sizeof **list))
		return fit_fail_nomem(err);
	(*list)[(*n)++] = x;
	return FIT_OK;
}

static int tiresias_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct tiresias *t = state;
	struct member *m = member_of(t, v, j);

	m->order = t->order == FIT_QUEUE_RUNNING_FIRST ? t->n_arrived++ : j;
	m->service.since_ns = v->now_ns;
	return add_arrival(&t->fresh, &t->n_fresh, &t->cap_fresh, (struct arrival){ m->order, j }, err);
}

static void tiresias_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct tiresias *t = state;

	member_of(t, v, j)->stamp++;
	fit_greedy_leave(&t->greedy, j);
	(void)fit_backlog_remove(t->greedy.waiting, v->jobs[j].local);	/* stale ends: it may wait */
	t->wake_known = false;
}

/* ---- timers of promotions ---- */

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

/* ---- places in queues ---- */

/* A waiting job joins the tail of its queue. */
static int wait_at_tail(struct tiresias *t, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct member *m = member_of(t, v, j);

	if (t->order == FIT_QUEUE_SUBMITTED)
		return fit_greedy_wait(&t->greedy, v, j, key_of(t, m), err);
	m->tie = t->order == FIT_QUEUE_ENTERED ? t->last_place++ : WAITS + t->tail_next++;
	return fit_greedy_wait_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
}

/* A running job joins the tail of its queue. */
static void run_at_tail(struct tiresias *t, struct member *m, uint32_t j)
{
	if (t->order == FIT_QUEUE_SUBMITTED) {
		fit_greedy_rekey(&t->greedy, j, key_of(t, m));
		return;
	}
	m->moved = true;
	m->tie = t->order == FIT_QUEUE_ENTERED ? t->last_place++ : WAITS + t->tail_next++;
	fit_greedy_rekey_at(&t->greedy, j, key_of(t, m), m->tie);
}

static int tiresias_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct tiresias *t = state;
	struct member *m = member_of(t, v, j);
	int64_t at;
	int rc;

	m->stamp++;
	t->wake_known = false;
	fit_attained_change(&m->service, fit_view_gpus(v, j) > 0, v->now_ns);
	if (m->service.runs) {
		if (t->order == FIT_QUEUE_SUBMITTED)
			return fit_greedy_run(&t->greedy, v, j, key_of(t, m), err);
		if (t->order == FIT_QUEUE_RUNNING_FIRST)
			m->tie = t->runs_next++;
		m->moved = false;
		return fit_greedy_run_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
	}
	if (t->order == FIT_QUEUE_SUBMITTED) {
		rc = fit_greedy_wait(&t->greedy, v, j, key_of(t, m), err);
	} else {
		/* who lost its GPUs comes before those that waited already, but not if it just moved there */
		if (t->order == FIT_QUEUE_RUNNING_FIRST && !m->moved)
			m->tie = WAITS + t->head_next++;
		rc = fit_greedy_wait_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
	}
	at = fit_attained_promote_at(&t->attained, &m->service);
	if (rc || at == INT64_MAX)
		return rc;
	if (at <= v->now_ns) {
		if (fit_grow(&t->due, &t->cap_due, t->n_due + 1, sizeof *t->due))
			return fit_fail_nomem(err);
		t->due[t->n_due++] = j;
		return FIT_OK;
	}
	return add_timer(t, (struct timer){ at, j, m->stamp }, err);
}

/* ---- decisions ---- */

static int by_order(const void *pa, const void *pb)
{
	const struct arrival *a = pa, *b = pb;

	return (a->order > b->order) - (a->order < b->order);
}

static void sort(struct arrival *list, size_t n)
{
	if (n > 1)
		qsort(list, n, sizeof *list, by_order);
}

/* Jobs that moved to the tail and kept running come behind those that began to run then. */
static int settle(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	const struct fit_greedy *g = &t->greedy;

	t->n_list = 0;
	for (size_t i = 0; i < g->n_running && t->order == FIT_QUEUE_RUNNING_FIRST; i++) {
		uint32_t j = g->running[i].job;

		if (member_of(t, v, j)->moved &&
		    add_arrival(&t->list, &t->n_list, &t->cap_list, (struct arrival){ 0, j }, err))
			return FIT_ENOMEM;
	}
	for (size_t i = 0; i < t->n_list; i++) {
		struct member *m = member_of(t, v, t->list[i].job);

		m->moved = false;
		m->tie = t->runs_next++;
		fit_greedy_rekey_at(&t->greedy, t->list[i].job, key_of(t, m), m->tie);
	}
	return FIT_OK;
}

static int take_in_fresh(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	int rc = FIT_OK;

	sort(t->fresh, t->n_fresh);
	for (size_t i = 0; i < t->n_fresh && !rc; i++)
		rc = wait_at_tail(t, v, t->fresh[i].job, err);
	t->n_fresh = 0;
	return rc;
}

static int demote(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	const struct fit_greedy *g = &t->greedy;

	t->n_list = 0;
	for (size_t i = 0; i < g->n_running; i++) {
		uint32_t j = g->running[i].job;
		struct member *m = member_of(t, v, j);

		if (fit_attained_demote(&t->attained, &m->service, v->jobs[j].gpus, v->now_ns) &&
		    add_arrival(&t->list, &t->n_list, &t->cap_list, (struct arrival){ m->order, j }, err))
			return FIT_ENOMEM;
	}
	sort(t->list, t->n_list);
	for (size_t i = 0; i < t->n_list; i++)
		run_at_tail(t, member_of(t, v, t->list[i].job), t->list[i].job);
	return FIT_OK;
}

static int promote(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	const struct timer *x;
	int rc = FIT_OK;

	t->n_list = 0;
	for (size_t i = 0; i < t->n_due; i++)
		if (add_arrival(&t->list, &t->n_list, &t->cap_list,
				(struct arrival){ member_of(t, v, t->due[i])->order, t->due[i] }, err))
			return FIT_ENOMEM;
	t->n_due = 0;
	while ((x = first_timer(t, v)) != NULL && x->at_ns <= v->now_ns) {
		uint32_t j = x->job;

		drop_timer(t);
		if (add_arrival(&t->list, &t->n_list, &t->cap_list,
				(struct arrival){ member_of(t, v, j)->order, j }, err))
			return FIT_ENOMEM;
	}
	sort(t->list, t->n_list);
	for (size_t i = 0; i < t->n_list && !rc; i++) {
		uint32_t j = t->list[i].job;

		fit_attained_promote(&member_of(t, v, j)->service, v->now_ns);
		if (fit_backlog_remove(t->greedy.waiting, v->jobs[j].local))
			rc = wait_at_tail(t, v, j, err);
	}
	return rc;
}

static int tiresias_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct tiresias *t = state;
	int rc = settle(t, v, err);

	rc = rc ? rc : take_in_fresh(t, v, err);
	rc = rc ? rc : demote(t, v, err);
	rc = rc ? rc : promote(t, v, err);
	t->head_low -= (int64_t)t->greedy.n_running;
	t->head_next = t->head_low;
	t->wake_known = false;
	return rc ? rc : fit_greedy_decide(&t->greedy, v, plan, err);
}

/* The first instant at which a running job has used up its share, or a waiting one has waited enough. */
static int64_t tiresias_next_wake(void *state, const struct fit_view *v)
{
	struct tiresias *t = state;
	const struct timer *x = first_timer(t, v);

	if (t->n_due && v->interval_ns)
		return v->now_ns;	/* the next multiple of it */
	if (!t->wake_known) {
		t->wake_ns = INT64_MAX;
		for (size_t i = 0; i < t->greedy.n_running; i++) {
			uint32_t j = t->greedy.running[i].job;
			int64_t at = fit_attained_demote_at(&t->attained, &member_of(t, v, j)->service,
							    v->jobs[j].gpus, v->now_ns);

			t->wake_ns = at < t->wake_ns ? at : t->wake_ns;
		}
		t->wake_known = true;
	}
	return x && x->at_ns < t->wake_ns ? x->at_ns : t->wake_ns;
}

static int64_t tiresias_end_order(void *state, const struct fit_view *v, uint32_t j)
{
	return member_of(state, v, j)->order;
}

static int tiresias_describe(const struct fit_policy_params *p, const struct fit_view *v,
			     struct fit_meta *meta)
{
	static const char *const orders[] = { "running-first", "entered", "submitted" };
	int rc = fit_attained_describe(p, meta);

	rc = rc ? rc : fit_meta_add(meta, "tiresias_order", orders[v->fidelity->tiresias_order]);
	return rc || !v->fidelity->tiresias_late_wake ? rc : fit_meta_add(meta, "tiresias_wake", "late");
}

const struct fit_policy fit_policy_tiresias = {
	.name = "tiresias",
	.summary = "least attained service in queues, preemptive",
	.needs = FIT_COUNTS_DOWN | FIT_ONLY_NEWS,
	.init = tiresias_init,
	.free = tiresias_free,
	.arrive = tiresias_arrive,
	.leave = tiresias_leave,
	.changed = tiresias_changed,
	.decide = tiresias_decide,
	.next_wake = tiresias_next_wake,
	.end_order = tiresias_end_order,
	.describe = tiresias_describe,
};
