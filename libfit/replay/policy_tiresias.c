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
#include "libfit/replay/timers.h"

struct member {
	struct fit_attained_job service;
	int64_t tie;			/* its place in its queue, where no other order is asked for */
	uint32_t submit_rank;
	uint32_t order;			/* of arrival */
	uint32_t stamp;			/* of its valid timers */
	bool moved;			/* it runs, and its place is at the tail until the next decision */
};

struct tiresias {
	struct fit_attained attained;
	enum fit_queue_order order;
	struct fit_greedy greedy;
	struct member *member;		/* by slot */
	size_t cap_member;
	uint32_t *ranks;		/* by place in the partition, where the order is that of submission */
	int64_t last_place;
	/* running first: places of those that run; of those that wait, from the tail and from the head */
	int64_t runs_next, tail_next, head_next, head_low;
	struct fit_timers promotions;	/* when a waiting job goes back to the first queue */
	struct fit_timers demotions;	/* when a running one has used up its share */
	struct arrival {
		uint32_t order, job;
	} *list;			/* demoted or promoted at this decision */
	size_t n_list, cap_list;
	struct arrival *fresh;
	size_t n_fresh, cap_fresh;
	uint32_t *due;			/* had waited enough when they lost their GPUs; for the next decision */
	size_t n_due, cap_due;
	uint32_t *moved;		/* demoted at the last one, in that order */
	size_t n_moved, cap_moved;
	uint32_t n_arrived;
	int64_t wake_ns;		/* the late one, if wake_known */
	bool wake_known;
};

/* Running first: places of waiting jobs are around this, those of running ones count from 0. */
#define WAITS (INT64_C(1) << 61)

static struct member *member_of(const struct tiresias *t, const struct fit_view *v, uint32_t j)
{
	return &t->member[fit_view_slot(v, j)];
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
	free(t->ranks);
	fit_timers_release(&t->promotions);
	fit_timers_release(&t->demotions);
	free(t->list);
	free(t->fresh);
	free(t->due);
	free(t->moved);
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

	t->ranks = malloc((v->n_members ? v->n_members : 1) * sizeof *t->ranks);
	if (!s || !t->ranks) {
		free(s);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < v->n_members; i++)
		s[i] = (struct submission){ v->jobs[v->members[i]].submit_ns, (uint32_t)i };
	qsort(s, v->n_members, sizeof *s, by_submission);
	for (size_t i = 0; i < v->n_members; i++) {
		rank += i && s[i].ns > s[i - 1].ns;
		t->ranks[s[i].local] = rank;
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
	rc = fit_greedy_init(&t->greedy, t->order == FIT_QUEUE_SUBMITTED ? FIT_TIES_RUNNING_FIRST :
			     FIT_TIES_GIVEN, err);
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
	uint32_t slot = fit_view_slot(v, j);
	struct member *m;

	if (fit_grow(&t->member, &t->cap_member, (size_t)slot + 1, sizeof *t->member))
		return fit_fail_nomem(err);
	m = &t->member[slot];
	*m = (struct member){ .submit_rank = t->ranks ? t->ranks[fit_view_job(v, j)->local] : 0 };
	m->order = t->order == FIT_QUEUE_RUNNING_FIRST ? t->n_arrived++ : j;
	m->service.since_ns = v->now_ns;
	return add_arrival(&t->fresh, &t->n_fresh, &t->cap_fresh, (struct arrival){ m->order, j }, err);
}

static void tiresias_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct tiresias *t = state;

	member_of(t, v, j)->stamp++;
	fit_greedy_leave(&t->greedy, v, j);
	(void)fit_backlog_remove(t->greedy.waiting, fit_view_slot(v, j));	/* stale ends: it may wait */
	t->wake_known = false;
}

/* ---- timers ---- */

/* The first timer that still holds, or NULL. */
static const struct fit_timer *first_timer(const struct tiresias *t, const struct fit_view *v,
					   struct fit_timers *timers)
{
	while (timers->n && (fit_view_slot(v, timers->heap[0].job) == FIT_NO_SLOT ||
			     timers->heap[0].stamp != member_of(t, v, timers->heap[0].job)->stamp))
		fit_timers_drop(timers);
	return timers->n ? &timers->heap[0] : NULL;
}

static int add_timer(struct fit_timers *timers, struct fit_timer x, struct fit_err *err)
{
	return x.at_ns < INT64_MAX && fit_timers_add(timers, x) ? fit_fail_nomem(err) : FIT_OK;
}

/* j runs: when it has used up its share. */
static int time_demotion(struct tiresias *t, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	const struct member *m = member_of(t, v, j);

	return add_timer(&t->demotions, (struct fit_timer){
		fit_attained_spent_at(&t->attained, &m->service, fit_view_job(v, j)->gpus), j, m->stamp }, err);
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
static int run_at_tail(struct tiresias *t, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct member *m = member_of(t, v, j);

	if (t->order == FIT_QUEUE_SUBMITTED)
		return fit_greedy_rekey(&t->greedy, v, j, key_of(t, m), err);
	m->moved = true;
	m->tie = t->order == FIT_QUEUE_ENTERED ? t->last_place++ : WAITS + t->tail_next++;
	if (fit_grow(&t->moved, &t->cap_moved, t->n_moved + 1, sizeof *t->moved))
		return fit_fail_nomem(err);
	t->moved[t->n_moved++] = j;
	return fit_greedy_rekey_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
}

/* j runs from now on, or goes on on other GPUs and keeps its place. */
static int begin_to_run(struct tiresias *t, const struct fit_view *v, uint32_t j, bool goes_on,
			struct fit_err *err)
{
	struct member *m = member_of(t, v, j);
	int rc = time_demotion(t, v, j, err);

	if (rc || goes_on)
		return rc;
	if (t->order == FIT_QUEUE_SUBMITTED)
		return fit_greedy_run(&t->greedy, v, j, key_of(t, m), err);
	if (t->order == FIT_QUEUE_RUNNING_FIRST)
		m->tie = t->runs_next++;
	m->moved = false;
	return fit_greedy_run_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
}

static int tiresias_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct tiresias *t = state;
	struct member *m = member_of(t, v, j);
	bool ran = m->service.runs;
	int64_t at;
	int rc;

	m->stamp++;
	t->wake_known = false;
	fit_attained_change(&m->service, fit_view_gpus(v, j) > 0, v->now_ns);
	if (m->service.runs)
		return begin_to_run(t, v, j, ran, err);
	if (t->order == FIT_QUEUE_SUBMITTED) {
		rc = fit_greedy_wait(&t->greedy, v, j, key_of(t, m), err);
	} else {
		/* who lost its GPUs comes before those that waited already, but not if it just moved there */
		if (t->order == FIT_QUEUE_RUNNING_FIRST && !m->moved)
			m->tie = WAITS + t->head_next++;
		rc = fit_greedy_wait_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
	}
	at = fit_attained_promote_at(&t->attained, &m->service);
	if (rc || at > v->now_ns)
		return rc ? rc : add_timer(&t->promotions, (struct fit_timer){ at, j, m->stamp }, err);
	if (fit_grow(&t->due, &t->cap_due, t->n_due + 1, sizeof *t->due))
		return fit_fail_nomem(err);
	t->due[t->n_due++] = j;
	return FIT_OK;
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
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_moved && !rc && t->order == FIT_QUEUE_RUNNING_FIRST; i++) {
		uint32_t j = t->moved[i];
		struct member *m;

		if (!fit_ranked_find(t->greedy.running, fit_view_slot(v, j)))
			continue;
		m = member_of(t, v, j);
		if (!m->moved)
			continue;
		m->moved = false;
		m->tie = t->runs_next++;
		rc = fit_greedy_rekey_at(&t->greedy, v, j, key_of(t, m), m->tie, err);
	}
	t->n_moved = 0;
	return rc;
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
	const struct fit_timer *x;
	int rc = FIT_OK;

	t->n_list = 0;
	while ((x = first_timer(t, v, &t->demotions)) != NULL && x->at_ns <= v->now_ns) {
		uint32_t j = x->job;
		struct member *m = member_of(t, v, j);

		fit_timers_drop(&t->demotions);
		if (fit_attained_demote(&t->attained, &m->service, fit_view_job(v, j)->gpus, v->now_ns) &&
		    add_arrival(&t->list, &t->n_list, &t->cap_list, (struct arrival){ m->order, j }, err))
			return FIT_ENOMEM;
	}
	sort(t->list, t->n_list);
	for (size_t i = 0; i < t->n_list && !rc; i++) {
		rc = time_demotion(t, v, t->list[i].job, err);
		rc = rc ? rc : run_at_tail(t, v, t->list[i].job, err);
	}
	return rc;
}

static int promote(struct tiresias *t, const struct fit_view *v, struct fit_err *err)
{
	const struct fit_timer *x;
	int rc = FIT_OK;

	t->n_list = 0;
	for (size_t i = 0; i < t->n_due; i++)
		if (fit_view_slot(v, t->due[i]) != FIT_NO_SLOT &&
		    add_arrival(&t->list, &t->n_list, &t->cap_list,
				(struct arrival){ member_of(t, v, t->due[i])->order, t->due[i] }, err))
			return FIT_ENOMEM;
	t->n_due = 0;
	while ((x = first_timer(t, v, &t->promotions)) != NULL && x->at_ns <= v->now_ns) {
		uint32_t j = x->job;

		fit_timers_drop(&t->promotions);
		if (add_arrival(&t->list, &t->n_list, &t->cap_list,
				(struct arrival){ member_of(t, v, j)->order, j }, err))
			return FIT_ENOMEM;
	}
	sort(t->list, t->n_list);
	for (size_t i = 0; i < t->n_list && !rc; i++) {
		uint32_t j = t->list[i].job;

		fit_attained_promote(&member_of(t, v, j)->service, v->now_ns);
		if (fit_backlog_remove(t->greedy.waiting, fit_view_slot(v, j)))
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
	t->head_low -= (int64_t)fit_ranked_count(t->greedy.running);
	t->head_next = t->head_low;
	t->wake_known = false;
	return rc ? rc : fit_greedy_decide(&t->greedy, v, plan, err);
}

/* The first instant at which a simulator that looks late sees that a running job has used up its share. It
 * depends on when it is asked, so all of them are. */
static int64_t late_wake(struct tiresias *t, const struct fit_view *v)
{
	size_t n;

	if (t->wake_known)
		return t->wake_ns;
	t->wake_ns = INT64_MAX;
	n = fit_greedy_list(&t->greedy);
	for (size_t i = 0; i < n; i++) {
		uint32_t j = t->greedy.list[i].job;
		int64_t at = fit_attained_demote_at(&t->attained, &member_of(t, v, j)->service, fit_view_job(v, j)->gpus,
						    v->now_ns);

		t->wake_ns = at < t->wake_ns ? at : t->wake_ns;
	}
	t->wake_known = true;
	return t->wake_ns;
}

/* The first instant at which a running job has used up its share, or a waiting one has waited enough. */
static int64_t tiresias_next_wake(void *state, const struct fit_view *v)
{
	struct tiresias *t = state;
	const struct fit_timer *up = first_timer(t, v, &t->promotions), *down;
	int64_t wake;

	if (t->n_due && v->interval_ns)
		return v->now_ns;	/* the next multiple of it */
	if (t->attained.late_wake) {
		wake = late_wake(t, v);
	} else {
		down = first_timer(t, v, &t->demotions);
		wake = !down ? INT64_MAX : down->at_ns > v->now_ns ? down->at_ns : v->now_ns;
	}
	return up && up->at_ns < wake ? up->at_ns : wake;
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
	.needs = FIT_COUNTS_DOWN | FIT_ONLY_NEWS | FIT_SLOTS,
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
