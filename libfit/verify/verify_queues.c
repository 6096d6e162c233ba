/* SPDX-License-Identifier: MIT */
/*
 * Queues of attained service (tiresias), and policies that take jobs from one sorted list (shortest-gpu,
 * smallest, shortest with the ties of a list): who must run, derived from what each job held so far.
 * docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define IN_NO_QUEUE UINT8_MAX
#define SAME_NS 1000 /* as in verify_policy.c */

/* ---- lists ---- */

static void append(struct fit_verifier *v, uint32_t live, uint8_t q)
{
	struct verify_live *l = &v->live[live];

	l->queue = q;
	l->place = v->n_places++;
	l->next = NONE;
	l->prev = v->tail[q];
	if (v->tail[q] == NONE)
		v->head[q] = live;
	else
		v->live[v->tail[q]].next = live;
	v->tail[q] = live;
}

static void unlink_live(struct fit_verifier *v, uint32_t live)
{
	struct verify_live *l = &v->live[live];
	uint8_t q = l->queue;

	if (q == IN_NO_QUEUE)
		return;
	if (l->prev == NONE)
		v->head[q] = l->next;
	else
		v->live[l->prev].next = l->next;
	if (l->next == NONE)
		v->tail[q] = l->prev;
	else
		v->live[l->next].prev = l->prev;
	l->queue = IN_NO_QUEUE;
}

void verify_queue_init(struct fit_verifier *v)
{
	for (size_t q = 0; q < VERIFY_QUEUES; q++)
		v->head[q] = v->tail[q] = NONE;
}

void verify_queue_left(struct fit_verifier *v, struct verify_live *l)
{
	unlink_live(v, (uint32_t)(l - v->live));
	v->queue_due_known = false;
}

static bool has_gpus(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->jobs[l->job].state == JOB_RUNNING;
}

/* ---- service ---- */

void verify_queue_runs(struct fit_verifier *v, struct verify_live *l, bool runs)
{
	int64_t past = v->now - l->stands_ns;

	if (l->stood_running)
		l->served_ns += past;
	else if (l->served_ns)
		l->waited_ns += past;
	l->stood_running = runs;
	l->stands_ns = v->now;
	v->queue_due_known = false;
}

static int64_t served(const struct fit_verifier *v, const struct verify_live *l)
{
	return l->served_ns + (l->stood_running ? v->now - l->stands_ns : 0);
}

static int64_t weight(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->queue_by_time ? 1 : (int64_t)v->jobs[l->job].gpus;
}

/* Has a running job the service with which it leaves its queue? Exactly: wall time x GPUs in nanoseconds. */
static bool has_used_up(const struct fit_verifier *v, const struct verify_live *l)
{
	__int128 has = (__int128)served(v, l) * weight(v, l) - v->queue_over;

	return l->queue < v->n_limits && has >= (__int128)v->limit_s[l->queue] * FIT_NS_PER_S;
}

/* How long a waiting job waits in all until it is promoted; NEVER: for ever. */
static int64_t waits_for(const struct fit_verifier *v, const struct verify_live *l)
{
	double ns;

	if (!(v->promote > 0) || l->queue == 0 || l->queue == IN_NO_QUEUE || l->stood_running || !l->served_ns)
		return NEVER;
	if (v->late_wake)
		ns = 1e9 * floor(v->promote * (double)(l->served_ns / FIT_NS_PER_S));
	else
		ns = ceil(v->promote * (double)l->served_ns);
	return ns < 9e18 ? (int64_t)ns : NEVER;
}

/* ---- when the policy looks at queues by itself ---- */

static int64_t demotion_wake(const struct fit_verifier *v, const struct verify_live *l)
{
	int64_t limit, w = weight(v, l);
	__int128 left;

	if (l->queue >= v->n_limits)
		return NEVER;
	limit = v->limit_s[l->queue];
	if (v->late_wake) {
		/* (limit - executed time) / GPUs, as the simulator has it, in whole seconds */
		left = ((__int128)limit * FIT_NS_PER_S - served(v, l)) / w / FIT_NS_PER_S * FIT_NS_PER_S;
		if (left <= 0)
			return NEVER;
	} else {
		left = ((__int128)limit * FIT_NS_PER_S + v->queue_over + w - 1) / w - served(v, l);
		left = left > 0 ? left : 0;
	}
	return left > NEVER / 2 ? NEVER : v->now + (int64_t)left;
}

static int64_t promotion_wake(const struct fit_verifier *v, const struct verify_live *l)
{
	int64_t wait = waits_for(v, l), at;

	if (wait == NEVER || wait - l->waited_ns > NEVER / 2)
		return NEVER;
	at = l->stands_ns + wait - l->waited_ns;
	/* due when it lost its GPUs: that is for the next decision */
	return at > l->stands_ns || v->interval_ns > 0 ? at : NEVER;
}

/* With an interval it is looked at on its multiples only, and on no earlier one than after the change. */
static int64_t on_a_tick(const struct fit_verifier *v, const struct verify_live *l, int64_t at)
{
	int64_t d = v->interval_ns;

	if (d == 0 || at == NEVER)
		return at;
	at = at <= l->stands_ns ? l->stands_ns + 1 : at;
	return at > NEVER - d ? NEVER : (at + d - 1) / d * d;
}

int64_t verify_queue_timer(struct fit_verifier *v)
{
	if (v->queue_due_known)
		return v->queue_due_ns;
	v->queue_due_ns = NEVER;
	for (size_t q = 0; q <= v->n_limits; q++) {
		for (uint32_t i = v->head[q]; i != NONE; i = v->live[i].next) {
			const struct verify_live *l = &v->live[i];
			int64_t at = on_a_tick(v, l, l->stood_running ? demotion_wake(v, l) :
					       promotion_wake(v, l));

			v->queue_due_ns = at < v->queue_due_ns ? at : v->queue_due_ns;
		}
	}
	v->queue_due_known = true;
	return v->queue_due_ns;
}

/* ---- at a decision ---- */

static int by_arrival(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[v->live[a].job], *y = &v->jobs[v->live[b].job];

	if (v->running_first && x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void verify_queue_enter(struct fit_verifier *v, uint32_t live)
{
	v->live[live].stands_ns = v->now;
	append(v, live, 0);
	v->queue_due_known = false;
}

void verify_queue_begin(struct fit_verifier *v)
{
	v->order.n = 0;
	for (size_t q = 0; q <= v->n_limits; q++) {
		for (uint32_t i = v->head[q]; i != NONE; i = v->live[i].next) {
			const struct verify_live *l = &v->live[i];
			int64_t wait = waits_for(v, l);
			bool moves = l->stood_running ? has_used_up(v, l) :
				     wait != NEVER && l->waited_ns + v->now - l->stands_ns >= wait;

			if (moves && verify_list_push(&v->order, i))
				v->code = FIT_ENOMEM;
		}
	}
	verify_sort(v, v->order.a, v->order.n, by_arrival);
	for (size_t i = 0; i < v->order.n; i++) {
		struct verify_live *l = &v->live[v->order.a[i]];
		uint8_t q = l->queue;

		unlink_live(v, v->order.a[i]);
		l->queue = q;
		if (l->stood_running) {
			do
				q = ++l->queue;
			while (!v->late_wake && has_used_up(v, l));
		} else {
			l->served_ns = l->waited_ns = 0;
			l->stands_ns = v->now;
			q = 0;
		}
		append(v, v->order.a[i], q);
		verify_turns_touch(v, l->job);
	}
	v->queue_due_known = false;
}

void verify_queue_end(struct fit_verifier *v)
{
	v->queue_due_known = false;
	for (size_t q = 0; q <= v->n_limits && v->running_first; q++) {
		uint32_t last = v->tail[q], i = v->head[q], next;
		bool more = i != NONE;

		for (; more; i = next) {
			next = v->live[i].next;
			more = i != last;
			if (has_gpus(v, &v->live[i]))
				continue;
			unlink_live(v, i);
			append(v, i, (uint8_t)q);
		}
	}
}

void verify_decide_tiresias(struct fit_verifier *v)
{
	double left = (double)v->total;
	uint32_t seq = 0;
	char where[32];

	if (v->by_parts)
		verify_turns_decide(v, RULE_TIRESIAS);
	if (!v->legal || v->by_parts)
		return;
	for (size_t q = 0; q <= v->n_limits; q++) {
		(void)snprintf(where, sizeof where, "queue %zu", q + 1);
		for (uint32_t i = v->head[q]; i != NONE; i = v->live[i].next) {
			v->live[i].seq = seq++;
			verify_expect_greedy(v, RULE_TIRESIAS, &v->live[i], &left, where);
		}
	}
}

void verify_conserving_queues(struct fit_verifier *v, double left)
{
	for (size_t q = 0; q <= v->n_limits; q++) {
		for (uint32_t i = v->head[q]; i != NONE; i = v->live[i].next) {
			const struct verify_live *l = &v->live[i];

			if (!has_gpus(v, l) && v->jobs[l->job].gpus <= left)
				verify_fault(v, RULE_CONSERVING, l->job, "waits for %g GPUs while %g are free",
					     v->jobs[l->job].gpus, left);
		}
	}
}

/* ---- one sorted list ---- */

static int by_number(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	double x = v->live[a].number, y = v->live[b].number;

	return x < y ? -1 : x > y;
}

static int by_rank(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	uint32_t x = v->jobs[v->live[a].job].rank, y = v->jobs[v->live[b].job].rank;

	return x < y ? -1 : x > y;
}

/* Below 2^53 ns x GPUs doubles are exact: some hundred days on one GPU. */
static double number_of(struct fit_verifier *v, struct verify_live *l)
{
	if (v->policy == POLICY_SMALLEST)
		return v->jobs[l->job].gpus;
	return (double)verify_remaining_ns(v, l->job, l) *
	       (v->policy == POLICY_SHORTEST_GPU ? v->jobs[l->job].gpus : 1);
}

/* Among jobs whose numbers cannot be told apart, take those first that the log took. */
static void settle_near_ties(const struct fit_verifier *v, struct verify_list *l)
{
	for (size_t i = 0, end; i < l->n; i = end) {
		size_t to = i;

		for (end = i + 1; end < l->n; end++)
			if (v->live[l->a[end]].number - v->live[l->a[end - 1]].number >=
			    SAME_NS * v->jobs[v->live[l->a[end]].job].gpus)
				break;
		for (size_t k = i; k < end && v->live[l->a[end - 1]].number > v->live[l->a[i]].number; k++) {
			uint32_t x = l->a[k];

			if (!has_gpus(v, &v->live[x]))
				continue;
			memmove(l->a + to + 1, l->a + to, (k - to) * sizeof *l->a);
			l->a[to++] = x;
		}
	}
}

void verify_list_left(struct fit_verifier *v, uint32_t live)
{
	struct verify_list *l = &v->list;

	for (size_t i = 0; i < l->n; i++) {
		if (l->a[i] != live)
			continue;
		memmove(l->a + i, l->a + i + 1, (l->n - i - 1) * sizeof *l->a);
		l->n--;
		return;
	}
}

void verify_decide_list(struct fit_verifier *v)
{
	double left = (double)v->total;

	if (!v->legal)
		return;
	for (size_t i = 0; i < v->list.n; i++)
		v->live[v->list.a[i]].number = number_of(v, &v->live[v->list.a[i]]);
	if (!v->one_list)
		verify_sort(v, v->list.a, v->list.n, by_rank);
	verify_sort(v, v->list.a, v->list.n, by_number);
	if (v->by_epoch)
		settle_near_ties(v, &v->list);
	for (size_t i = 0; i < v->list.n; i++) {
		struct verify_live *l = &v->live[v->list.a[i]];

		l->seq = (uint32_t)i;
		verify_expect_greedy(v, RULE_LIST, l, &left, "the policy's order");
	}
}

/* ---- fit job first ---- */

static int by_submission(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[v->live[a].job], *y = &v->jobs[v->live[b].job];

	if (x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	return by_rank(v, a, b);
}

/* Of those that waited, in order of submission, each that fits beside those that ran has started. */
void verify_decide_fjf(struct fit_verifier *v)
{
	double left = (double)verify_free(v);

	if (!v->legal)
		return;
	for (size_t i = 0; i < v->started.n; i++)
		left += (double)v->live[v->started.a[i]].gpus;
	verify_sort(v, v->list.a, v->list.n, by_submission);
	for (size_t i = 0; i < v->list.n; i++) {
		struct verify_live *l = &v->live[v->list.a[i]];

		if (has_gpus(v, l) && !l->placed)
			continue;
		l->seq = (uint32_t)i;
		verify_expect_greedy(v, RULE_FJF, l, &left, "submission");
	}
}
