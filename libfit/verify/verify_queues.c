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

/* ---- who is in which queue ---- */

static bool has_gpus(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->jobs[l->job].state == JOB_RUNNING;
}

static void unlink_live(struct fit_verifier *v, uint32_t live)
{
	if (v->live[live].queue == IN_NO_QUEUE)
		return;
	verify_rank_remove(v, live);
	v->live[live].queue = IN_NO_QUEUE;
}

void verify_queue_init(struct fit_verifier *v)
{
	v->ranks = NONE;
}

void verify_queue_left(struct fit_verifier *v, struct verify_live *l)
{
	unlink_live(v, (uint32_t)(l - v->live));
	v->queue_due_known = false;
}

/* ---- service ---- */

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

static int64_t tick_from(const struct fit_verifier *v, int64_t at)
{
	int64_t d = v->interval_ns;

	return at > NEVER - d ? NEVER : (at + d - 1) / d * d;
}

/* With an interval it is looked at on its multiples only, and on no earlier one than after the change. */
static int64_t on_a_tick(const struct fit_verifier *v, const struct verify_live *l, int64_t at)
{
	if (v->interval_ns == 0 || at == NEVER)
		return at;
	return tick_from(v, at <= l->stands_ns ? l->stands_ns + 1 : at);
}

/* By the simulator's conventions the instant depends on when it is asked for. */
static bool wakes_vary(const struct fit_verifier *v)
{
	return v->late_wake;
}

static int64_t wake(const struct fit_verifier *v, const struct verify_live *l)
{
	return on_a_tick(v, l, l->stood_running ? demotion_wake(v, l) : promotion_wake(v, l));
}

int64_t verify_queue_timer(struct fit_verifier *v)
{
	if (!wakes_vary(v)) {
		struct verify_sum all = verify_rank_sum(v, v->ranks);
		int64_t next = all.tick_ns == NEVER || all.tick_ns > v->now ? all.tick_ns : tick_from(v, v->now);

		return next < all.wake_ns ? next : all.wake_ns;
	}
	if (v->queue_due_known)
		return v->queue_due_ns;
	v->queue_due_ns = NEVER;
	for (size_t i = 0; i < v->n_live; i++) {
		int64_t at = v->live[i].queue == IN_NO_QUEUE ? NEVER : wake(v, &v->live[i]);

		v->queue_due_ns = at < v->queue_due_ns ? at : v->queue_due_ns;
	}
	v->queue_due_known = true;
	return v->queue_due_ns;
}

/* ---- changes ---- */

/* From when on a decision finds that it has used its queue up, or has waited long enough; or NEVER. */
static int64_t moves_at(const struct fit_verifier *v, const struct verify_live *l)
{
	int64_t w = weight(v, l), wait = waits_for(v, l);
	__int128 at;

	if (!l->stood_running)
		return wait == NEVER || wait - l->waited_ns > NEVER / 2 ? NEVER : l->stands_ns + wait - l->waited_ns;
	if (l->queue >= v->n_limits)
		return NEVER;
	at = ((__int128)v->limit_s[l->queue] * FIT_NS_PER_S + v->queue_over + w - 1) / w;
	at += l->stands_ns - l->served_ns;
	return at > NEVER / 2 ? NEVER : (int64_t)at;
}

/* What follows from service and queue. */
static void look_ahead(struct fit_verifier *v, struct verify_live *l)
{
	l->due_ns = moves_at(v, l);
	l->wake_ns = l->tick_ns = NEVER;
	if (v->interval_ns > 0 && l->stood_running)
		l->tick_ns = on_a_tick(v, l, l->due_ns);
	else if (!wakes_vary(v))
		l->wake_ns = wake(v, l);
	v->queue_due_known = false;
}

static void shift(struct fit_verifier *v, uint32_t live)
{
	if (v->running_first && verify_list_push(&v->shifted, live))
		v->code = FIT_ENOMEM;
}

static void append(struct fit_verifier *v, uint32_t live, uint8_t q)
{
	struct verify_live *l = &v->live[live];

	l->queue = q;
	l->listed = v->n_listed++;
	l->behind = true;
	l->place = v->n_places++;
	l->holds = has_gpus(v, l);
	if (l->holds)
		shift(v, live);
	look_ahead(v, l);
	verify_rank_insert(v, live);
}

void verify_queue_runs(struct fit_verifier *v, struct verify_live *l, bool runs)
{
	uint32_t live = (uint32_t)(l - v->live);
	int64_t past = v->now - l->stands_ns;

	if (l->stood_running)
		l->served_ns += past;
	else if (l->served_ns)
		l->waited_ns += past;
	l->stood_running = runs;
	l->stands_ns = v->now;
	v->queue_due_known = false;
	if (l->queue == IN_NO_QUEUE)
		return;
	l->holds = runs;
	look_ahead(v, l);
	verify_rank_update(v, live);
	shift(v, live);
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
	verify_rank_list(v, v->ranks, v->now, &v->order);
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

static void change_side(struct fit_verifier *v, uint32_t live, bool behind)
{
	struct verify_live *l = &v->live[live];

	if (l->behind == behind || has_gpus(v, l) == behind)
		return; /* it is named twice, or is for the other side */
	verify_rank_remove(v, live);
	l->behind = behind;
	l->place = behind ? -++v->n_first_places : v->n_places++;
	verify_rank_insert(v, live);
}

/* Who runs comes first in its queue, then who waits, else as they were: those that started go to the end of
 * those that ran already, those that lost their GPUs ahead of those that waited already. */
void verify_queue_end(struct fit_verifier *v)
{
	struct verify_list *s = &v->shifted;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (v->live[s->a[i]].queue != IN_NO_QUEUE)
			s->a[n++] = s->a[i];
	verify_sort(v, s->a, n, verify_rank_order);
	for (size_t i = 0; i < n; i++)
		change_side(v, s->a[i], false);
	for (size_t i = n; i > 0; i--)
		change_side(v, s->a[i - 1], true);
	s->n = 0;
	v->queue_due_known = false;
}

/* Do those run that fit, one after another? When those that run fit together, each of them fits in turn. */
static bool as_due(const struct fit_verifier *v)
{
	struct verify_sum all = verify_rank_sum(v, v->ranks);

	return all.held <= (double)v->total && all.need > (double)v->total;
}

static void expect_each(struct fit_verifier *v)
{
	double left = (double)v->total;
	char where[32];

	v->order.n = 0;
	verify_rank_list(v, v->ranks, NEVER, &v->order);
	for (size_t i = 0; i < v->order.n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];

		(void)snprintf(where, sizeof where, "queue %d", l->queue + 1);
		verify_expect_greedy(v, RULE_TIRESIAS, l, &left, where);
	}
}

void verify_decide_tiresias(struct fit_verifier *v)
{
	if (v->by_parts)
		verify_turns_decide(v, RULE_TIRESIAS);
	if (!v->legal || v->by_parts)
		return;
	if (!as_due(v))
		expect_each(v);
	else if (!v->mute)
		v->tally[RULE_TIRESIAS].checked += verify_rank_sum(v, v->ranks).n;
	for (size_t i = 0; i < v->placed.n; i++)
		if (v->live[v->placed.a[i]].queue != IN_NO_QUEUE)
			v->live[v->placed.a[i]].seq = verify_rank_of(v, v->placed.a[i]);
}

void verify_conserving_queues(struct fit_verifier *v, double left)
{
	if (verify_rank_sum(v, v->ranks).least > left)
		return;
	v->order.n = 0;
	verify_rank_list(v, v->ranks, NEVER, &v->order);
	for (size_t i = 0; i < v->order.n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];

		if (!has_gpus(v, l) && v->jobs[l->job].gpus <= left)
			verify_fault(v, RULE_CONSERVING, l->job, "waits for %g GPUs while %g are free",
				     v->jobs[l->job].gpus, left);
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

	if (v->by_parts)
		verify_turns_decide(v, RULE_LIST);
	if (!v->legal || v->by_parts)
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
