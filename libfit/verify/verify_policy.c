/* SPDX-License-Identifier: MIT */
/*
 * What each policy must have decided, derived from the events alone: who is active, what each asked
 * for, how long it held GPUs, how many epochs it completed. docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/heap.h"
#include "libfit/verify/verify_state.h"

/* Times predicted from a profile that are closer than this cannot be told apart: the log decides
 * between such jobs. */
#define SAME_NS 1000

/* ---- a heap ---- */

static bool before(const struct verify_heap_item *a, const struct verify_heap_item *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->rank < b->rank;
}

FIT_HEAP(items, struct verify_heap_item, before)

int verify_heap_push(struct verify_heap *h, struct verify_heap_item x)
{
	return items_push(&h->a, &h->n, &h->cap, x);
}

void verify_heap_pop(struct verify_heap *h)
{
	items_pop(h->a, &h->n);
}

/* ---- orders of live records ---- */

typedef int compare(const struct fit_verifier *v, uint32_t a, uint32_t b);

/* qsort() has no argument for the verifier. room: n / 2 entries. */
static void merge_sort(const struct fit_verifier *v, uint32_t *a, size_t n, uint32_t *room,
		       compare *by)
{
	size_t half = n / 2, i = 0, k = half, to = 0;

	if (n < 2)
		return;
	merge_sort(v, a, half, room, by);
	merge_sort(v, a + half, n - half, room, by);
	if (by(v, a[half - 1], a[half]) <= 0)
		return;
	memcpy(room, a, half * sizeof *a);
	while (i < half)
		a[to++] = k < n && by(v, a[k], room[i]) < 0 ? a[k++] : room[i++];
}

void verify_sort(struct fit_verifier *v, uint32_t *a, size_t n, compare *by)
{
	struct verify_list *room = &v->sort_room;

	if (n < 2)
		return;
	if (fit_grow(&room->a, &room->cap, n / 2, sizeof *room->a)) {
		v->code = FIT_ENOMEM;
		return;
	}
	merge_sort(v, a, n, room->a, by);
}

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static uint32_t rank_of(const struct fit_verifier *v, uint32_t live)
{
	return v->jobs[v->live[live].job].rank;
}

static int by_rank(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	return cmp_u32(rank_of(v, a), rank_of(v, b));
}

static int by_remaining(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	int64_t x = v->live[a].remaining_ns, y = v->live[b].remaining_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return by_rank(v, a, b);
}

static int by_seq(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	return cmp_u32(v->live[a].seq, v->live[b].seq);
}

static int by_size(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	int64_t x = v->live[a].gpus, y = v->live[b].gpus;

	return x != y ? (x < y ? -1 : 1) : by_rank(v, a, b);
}

/* Predicted GPU time, then GPUs, then rank; of two jobs. */
static int by_gpu_time(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[a], *y = &v->jobs[b];
	__int128 p = (__int128)(verify_job_predicted_ns(v, a) / 1000) * (int64_t)x->gpus;
	__int128 q = (__int128)(verify_job_predicted_ns(v, b) / 1000) * (int64_t)y->gpus;

	if (p != q)
		return p < q ? -1 : 1;
	if (x->gpus < y->gpus || x->gpus > y->gpus)
		return x->gpus < y->gpus ? -1 : 1;
	return cmp_u32(x->rank, y->rank);
}

int verify_rank_qssf(struct fit_verifier *v)
{
	struct verify_list all = { 0 };

	for (size_t i = 0; i < v->n_jobs; i++)
		if (verify_list_push(&all, (uint32_t)i))
			v->code = FIT_ENOMEM;
	if (!v->code)
		verify_sort(v, all.a, all.n, by_gpu_time);
	for (size_t i = 0; i < all.n && !v->code; i++)
		v->code = verify_column_set(&v->columns.place, all.a[i], (int64_t)i);
	free(all.a);
	return v->code;
}

static int by_place(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	return cmp_u32((uint32_t)verify_job_place(v, v->live[a].job), (uint32_t)verify_job_place(v, v->live[b].job));
}

static void sort(struct fit_verifier *v, struct verify_list *l, compare *by)
{
	verify_sort(v, l->a, l->n, by);
}

/* ---- who is active ---- */

static bool has_gpus(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->jobs[l->job].state == JOB_RUNNING;
}

/* Keep v->active sorted by rank. Arrivals nearly always belong at the end. */
static int active_add(struct fit_verifier *v, uint32_t live)
{
	size_t at = v->active.n;

	if (verify_list_push(&v->active, live))
		return FIT_ENOMEM;
	for (; at && rank_of(v, v->active.a[at - 1]) > rank_of(v, live); at--)
		v->active.a[at] = v->active.a[at - 1];
	v->active.a[at] = live;
	return FIT_OK;
}

static void active_remove(struct fit_verifier *v, uint32_t live)
{
	size_t lo = 0, hi = v->active.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rank_of(v, v->active.a[mid]) < rank_of(v, live))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == v->active.n || v->active.a[lo] != live)
		return;
	memmove(v->active.a + lo, v->active.a + lo + 1,
		(v->active.n - lo - 1) * sizeof *v->active.a);
	v->active.n--;
}

/* ---- what happens to jobs ---- */

int64_t verify_policy_timer(struct fit_verifier *v)
{
	if (v->policy == POLICY_BOA)
		return verify_boa_timer(v);
	if (v->policy == POLICY_FOLLOW)
		return verify_follow_timer(v);
	if (v->next)
		return verify_next_timer(v);
	if (v->policy == POLICY_GAVEL)
		return verify_round_timer(v);
	if (verify_by_index(v))
		return verify_gittins_timer(v);
	return v->policy == POLICY_TIRESIAS ? verify_queue_timer(v) : NEVER;
}

bool verify_policy_continuous(const struct fit_verifier *v)
{
	return v->adaptive || (verify_by_index(v) && v->interval_ns > 0) ||
	       (v->learner && v->resolve_ns > 0 && v->interval_ns > 0) ||
	       (v->policy == POLICY_OPTIMUS && v->with_profile && !v->optimus_whole_epochs);
}

void verify_policy_runs(struct fit_verifier *v, struct verify_live *l, bool runs)
{
	if (v->policy == POLICY_TIRESIAS || verify_by_index(v))
		verify_queue_runs(v, l, runs);
}

void verify_policy_left(struct fit_verifier *v, struct verify_live *l)
{
	uint32_t live = (uint32_t)(l - v->live);

	verify_queue_left(v, l);
	verify_turns_leave(v, live);
	verify_list_left(v, live);
	active_remove(v, live);
	for (size_t i = 0; i < v->fresh.n; i++) {
		if (v->fresh.a[i] == live) { /* finished before any decision saw it: a broken log */
			v->fresh.a[i] = v->fresh.a[--v->fresh.n];
			break;
		}
	}
}

void verify_policy_begin(struct fit_verifier *v)
{
	int rc = FIT_OK;

	sort(v, &v->fresh, by_rank);
	for (size_t i = 0; i < v->fresh.n && !rc; i++) {
		uint32_t live = v->fresh.a[i], job = v->live[live].job;
		struct verify_heap_item x = { .rank = v->jobs[job].rank, .job = job };

		switch (v->policy) {
		case POLICY_SJF:
			x.key = verify_remaining_ns(v, job, &v->live[live]);
			rc = verify_heap_push(&v->waiting, x);
			break;
		case POLICY_QSSF:
			x.key = verify_job_place(v, job);
			rc = verify_heap_push(&v->waiting, x);
			break;
		case POLICY_FIFO:
			x.key = v->jobs[job].submit_ns;
			rc = verify_heap_push(&v->waiting, x);
			break;
		case POLICY_TIRESIAS:
		case POLICY_TIRESIAS_G:
		case POLICY_GITTINS:
			verify_queue_enter(v, live);
			rc = verify_turns_enter(v, live);
			break;
		case POLICY_FJF:
		case POLICY_SHORTEST:
		case POLICY_SHORTEST_GPU:
		case POLICY_SMALLEST:
			rc = v->by_parts ? verify_turns_enter(v, live) : verify_list_push(&v->list, live);
			break;
		case POLICY_SRTF:
		case POLICY_OPTIMUS:
		case POLICY_POLLUX:
		case POLICY_SIA:
			rc = v->by_parts ? verify_turns_enter(v, live) : active_add(v, live);
			break;
		case POLICY_BOA:
		case POLICY_LUCID:
		case POLICY_HORUS:
		case POLICY_FOLLOW:
		case POLICY_RUBICK:
		case POLICY_GAVEL:
		case POLICY_OTHER:
			break;
		}
	}
	v->fresh.n = 0;
	if (rc)
		v->code = rc;
	if (v->policy == POLICY_TIRESIAS || verify_by_index(v))
		verify_queue_begin(v);
	verify_turns_begin(v);
	if (v->adaptive)
		verify_pollux_begin(v);
	if (v->policy == POLICY_SIA)
		verify_sia_begin(v);
}

/* ---- fifo, sjf: a queue whose head blocks ---- */

static const struct verify_heap_item *waiting_head(struct fit_verifier *v)
{
	while (v->waiting.n && v->jobs[v->waiting.a[0].job].state != JOB_WAITING) {
		uint32_t live = v->jobs[v->waiting.a[0].job].live;

		if (live != NONE)
			v->live[live].popped = true;
		verify_heap_pop(&v->waiting);
	}
	return v->waiting.n ? &v->waiting.a[0] : NULL;
}

/* Each job started now must have come off the head of the queue. */
static void decide_queue(struct fit_verifier *v, enum verify_rule rule)
{
	const struct verify_heap_item *head;
	struct fit_text id;

	if (!v->legal)
		return;
	head = waiting_head(v);
	id = verify_job_id(v, head ? head->job : NONE);
	verify_check(v, rule);
	for (size_t i = 0; i < v->started.n; i++) {
		struct verify_live *l = &v->live[v->started.a[i]];

		verify_check(v, rule);
		if (l->popped || !head)
			continue;
		if (rule == RULE_SJF && v->by_epoch) {
			int64_t gap = verify_remaining_ns(v, l->job, l) - head->key;

			if (gap != 0 && gap < SAME_NS)
				continue;
		}
		verify_fault(v, rule, l->job, "started while job '%.*s' is before it in the queue",
			     FIT_TEXT_ARG(id));
	}
}

void verify_decide_fifo(struct fit_verifier *v)
{
	decide_queue(v, RULE_FIFO);
}

void verify_decide_qssf(struct fit_verifier *v)
{
	decide_queue(v, RULE_QSSF);
}

void verify_decide_sjf(struct fit_verifier *v)
{
	decide_queue(v, RULE_SJF);
}

/* ---- greedy in an order: srtf and others ---- */

void verify_expect_greedy(struct fit_verifier *v, enum verify_rule rule, const struct verify_live *l,
			  double *left, const char *order)
{
	double want = v->jobs[l->job].gpus;
	bool fits = want <= *left;

	verify_check(v, rule);
	if (fits)
		*left -= want;
	if (fits == has_gpus(v, l))
		return;
	if (fits)
		verify_fault(v, rule, l->job,
			     "does not run; by %s it is due, with %g GPUs of %g left", order, want,
			     *left + want);
	else
		verify_fault(v, rule, l->job,
			     "runs; by %s others come first and leave %g of its %g GPUs", order,
			     *left, want);
}

static int64_t left_of(const struct fit_verifier *v, const struct verify_list *l, size_t i)
{
	return v->live[l->a[i]].remaining_ns;
}

/* Among jobs whose remaining times cannot be told apart, take those first that the log took. */
static void settle_near_ties(const struct fit_verifier *v, struct verify_list *l)
{
	for (size_t i = 0, end; i < l->n; i = end) {
		size_t to = i;

		for (end = i + 1; end < l->n; end++)
			if (left_of(v, l, end) - left_of(v, l, end - 1) >= SAME_NS)
				break;
		if (left_of(v, l, end - 1) > left_of(v, l, i)) {
			for (size_t k = i; k < end; k++) {
				uint32_t x = l->a[k];

				if (!has_gpus(v, &v->live[x]))
					continue;
				memmove(l->a + to + 1, l->a + to, (k - to) * sizeof *l->a);
				l->a[to++] = x;
			}
		}
	}
}

void verify_decide_srtf(struct fit_verifier *v)
{
	double left = (double)v->total;

	if (v->by_parts)
		verify_turns_decide(v, RULE_SRTF);
	if (!v->legal || v->by_parts)
		return;
	v->order.n = 0;
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];

		l->remaining_ns = verify_remaining_ns(v, l->job, l);
		if (verify_list_push(&v->order, v->active.a[i])) {
			v->code = FIT_ENOMEM;
			return;
		}
	}
	sort(v, &v->order, by_remaining);
	if (v->by_epoch)
		settle_near_ties(v, &v->order);
	for (size_t i = 0; i < v->order.n; i++) {
		struct verify_live *l = &v->live[v->order.a[i]];

		l->seq = (uint32_t)i;
		verify_expect_greedy(v, RULE_SRTF, l, &left, "shortest remaining time");
	}
}

/* ---- optimus ---- */

/* Predictions for one application and target batch size. */
struct verify_memo {
	uint16_t app;
	int64_t target, n_steps, n_left;
	double *step_s; /* by GPUs, from 1; 0: not known yet, < 0: not measured */
	double *left; /* remaining steps by whole epochs; < 0: not known yet */
};

static struct verify_memo *memo_of(struct fit_verifier *v, uint32_t job)
{
	uint16_t app = v->jobs[job].app;
	int64_t target = verify_target(v, job), epochs = v->apps[app].info->epochs;
	struct verify_memo *m;

	for (size_t i = 0; i < v->n_memo; i++)
		if (v->memo[i].app == app && v->memo[i].target == target)
			return &v->memo[i];
	if (fit_grow(&v->memo, &v->cap_memo, v->n_memo + 1, sizeof *v->memo))
		return NULL;
	m = &v->memo[v->n_memo];
	*m = (struct verify_memo){
		.app = app, .target = target, .n_steps = v->most + 1, .n_left = epochs + 1
	};
	m->step_s = calloc((size_t)m->n_steps + 1, sizeof *m->step_s);
	m->left = calloc((size_t)m->n_left, sizeof *m->left);
	v->n_memo++;
	if (!m->step_s || !m->left)
		return NULL;
	for (int64_t i = 0; i < m->n_left; i++)
		m->left[i] = -1;
	return m;
}

/* Seconds of a step on r GPUs in full nodes and a rest; negative when the profile has none. */
static double step_time(struct fit_verifier *v, struct verify_memo *m, int64_t r)
{
	const struct verify_app *a = &v->apps[m->app];
	int64_t per_node = v->optimus_node_gpus > 0 ? v->optimus_node_gpus : v->gpus_per_node;
	struct fit_placement p = { .n_nodes = 0 };
	struct fit_batch b;
	double step, sync;

	if (r < 1 || r > m->n_steps || per_node < 1)
		return -1;
	if (m->step_s[r] > 0 || m->step_s[r] < 0)
		return m->step_s[r];
	for (int64_t left = r; left > 0 && p.n_nodes < FIT_PLACEMENT_MAX; left -= per_node)
		p.gpus[p.n_nodes++] = (int)(left < per_node ? left : per_node);
	b = verify_split(a->info, m->target, r, v->optimus_accumulates);
	m->step_s[r] = -1;
	if (b.atomic_bsz > 0 &&
	    !fit_app_throughput(a->model, &p, b.atomic_bsz, &step, &sync, &v->model_err))
		m->step_s[r] = step + (double)b.accum_steps * (step - sync);
	return m->step_s[r];
}

/* Optimiser steps that are left at the target batch size. By whole epochs: the current one counts
 * as done, and the last epoch is one step. Negative when the profile has none. */
static double steps_left(struct fit_verifier *v, struct verify_memo *m, struct verify_live *l)
{
	const struct verify_app *a = &v->apps[m->app];
	int64_t last = a->info->epochs - 1, e = l->epoch < last ? l->epoch : last;
	double all, done, before = 0, start, end;

	if (v->optimus_whole_epochs && (m->left[e] > 0 || e == last))
		return e == last ? 1 : m->left[e];
	if (fit_app_iteration(a->model, m->target, last, &all, &v->model_err) ||
	    fit_app_iteration(a->model, m->target, e, &done, &v->model_err))
		return -1;
	if (v->optimus_whole_epochs) {
		m->left[e] = all - done;
		return m->left[e];
	}
	if (e > 0 && fit_app_iteration(a->model, m->target, e - 1, &before, &v->model_err))
		return -1;
	start = fit_app_epoch_start(a->model, e);
	end = fit_app_epoch_start(a->model, e + 1);
	return all - done +
	       (done - before) * (1 - (verify_progress_at_now(v, l) - start) / (end - start));
}

int64_t verify_most_gpus(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];
	int64_t cap = verify_target(v, job) / a->info->min_local_bsz;

	return a->info->max_replicas && a->info->max_replicas < cap ? a->info->max_replicas : cap;
}

/* What a further GPU saves, in seconds. */
static double gain_of(struct fit_verifier *v, struct verify_live *l)
{
	struct verify_memo *m = memo_of(v, l->job);
	double now, next;

	if (!m) {
		v->code = FIT_ENOMEM;
		return 0;
	}
	if (l->grant < 1 || l->grant + 1 > verify_most_gpus(v, l->job))
		return 0;
	now = step_time(v, m, l->grant);
	next = step_time(v, m, l->grant + 1);
	return now > 0 && next > 0 ? (now - next) * steps_left(v, m, l) : 0;
}

void verify_decide_optimus(struct fit_verifier *v)
{
	int64_t left = v->total;

	if (!v->legal)
		return;
	for (size_t i = 0; i < v->active.n; i++) {
		struct verify_live *l = &v->live[v->active.a[i]];

		if (v->jobs[l->job].app == UINT16_MAX || !v->with_profile)
			return;
		l->grant = left > 0;
		left -= l->grant;
		l->gain = left > 0 ? gain_of(v, l) : 0;
	}
	while (left > 0) {
		struct verify_live *best = NULL;

		for (size_t i = 0; i < v->active.n; i++) {
			struct verify_live *l = &v->live[v->active.a[i]];

			if (!best || l->gain > best->gain)
				best = l;
		}
		if (!best || !(best->gain > 0))
			break;
		best->grant++;
		left--;
		best->gain = left > 0 ? gain_of(v, best) : 0;
	}
	for (size_t i = 0; i < v->active.n; i++) {
		const struct verify_live *l = &v->live[v->active.a[i]];
		int64_t held = has_gpus(v, l) ? l->gpus : 0;

		verify_check(v, RULE_OPTIMUS);
		if (held != l->grant)
			verify_fault(v, RULE_OPTIMUS, l->job,
				     "holds %lld GPUs, the largest marginal gains grant %lld",
				     (long long)held, (long long)l->grant);
	}
}

/* ---- rules of several policies ---- */

/* No job waits that fits beside what runs. */
void verify_decide_conserving(struct fit_verifier *v)
{
	double left = (double)verify_free(v);
	const struct verify_heap_item *head;
	const struct verify_live *l;

	if (!v->legal)
		return;
	verify_check(v, RULE_CONSERVING);
	switch (v->policy) {
	case POLICY_FIFO:
	case POLICY_SJF:
	case POLICY_QSSF:
		head = waiting_head(v);
		if (head && v->jobs[head->job].gpus <= left)
			verify_fault(v, RULE_CONSERVING, head->job,
				     "waits at the head of the queue for %g GPUs while %g are "
				     "free",
				     v->jobs[head->job].gpus, left);
		break;
	case POLICY_TIRESIAS:
		verify_conserving_queues(v, left);
		break;
	case POLICY_FJF:
	case POLICY_SHORTEST:
	case POLICY_SHORTEST_GPU:
	case POLICY_SMALLEST:
		for (size_t i = 0; i < v->list.n; i++) {
			l = &v->live[v->list.a[i]];
			if (!has_gpus(v, l) && v->jobs[l->job].gpus <= left)
				verify_fault(v, RULE_CONSERVING, l->job, "waits for %g GPUs while %g are free",
					     v->jobs[l->job].gpus, left);
		}
		break;
	case POLICY_SRTF:
	case POLICY_OPTIMUS:
		for (size_t i = 0; i < v->active.n; i++) {
			double want = v->policy == POLICY_OPTIMUS
					      ? 1
					      : v->jobs[v->live[v->active.a[i]].job].gpus;

			l = &v->live[v->active.a[i]];
			if (!has_gpus(v, l) && want <= left)
				verify_fault(v, RULE_CONSERVING, l->job,
					     "waits for %g GPUs while %g are free", want, left);
		}
		break;
	case POLICY_BOA:
	case POLICY_SIA:
	case POLICY_POLLUX: /* a job may be worth more to wait for than GPUs in use */
	case POLICY_LUCID:
	case POLICY_HORUS:
	case POLICY_FOLLOW:
	case POLICY_RUBICK:
	case POLICY_GAVEL:
	case POLICY_TIRESIAS_G:
	case POLICY_GITTINS:
	case POLICY_OTHER:
		break;
	}
}

/* The lowest node of those with most free GPUs. */
static size_t emptiest(const struct fit_verifier *v)
{
	size_t i = 1;

	while (i < v->tree_n)
		i = v->tree[2 * i] >= v->tree[2 * i + 1] ? 2 * i : 2 * i + 1;
	return i - v->tree_n;
}

static void tree_add_all(struct fit_verifier *v, const struct verify_live *l, int64_t sign)
{
	for (size_t i = 0; i < l->n_nodes; i++)
		if (l->nodes[i].node >= 0 && (size_t)l->nodes[i].node < v->n_nodes)
			verify_tree_add(v, (size_t)l->nodes[i].node, sign * l->nodes[i].gpus);
}

/* Place l again; true when the log placed it the same way. The tree then holds the log's choice. */
static bool placed_right(struct fit_verifier *v, const struct verify_live *l, int32_t *node,
			 int64_t *gpus, size_t *where)
{
	int64_t need = l->gpus;
	bool right = true;
	size_t k = 0;

	for (; need > 0 && right; k++) {
		size_t n = emptiest(v);
		int64_t most = v->tree[v->tree_n + n], take = most < need ? most : need;

		if (take < 1 || k >= l->n_nodes || (size_t)l->nodes[k].node != n ||
		    l->nodes[k].gpus != take) {
			*node = (int32_t)n;
			*gpus = take;
			*where = k;
			right = false;
			break;
		}
		verify_tree_add(v, n, -take);
		need -= take;
	}
	for (size_t i = k; i < l->n_nodes; i++) /* what the log took beyond that */
		if (l->nodes[i].node >= 0 && (size_t)l->nodes[i].node < v->n_nodes)
			verify_tree_add(v, (size_t)l->nodes[i].node, -l->nodes[i].gpus);
	return right;
}

void verify_decide_placement(struct fit_verifier *v)
{
	if (!v->legal || !v->placed.n || !v->tree || v->policy == POLICY_OTHER || v->by_parts)
		return;
	v->order.n = 0;
	for (size_t i = 0; i < v->placed.n; i++) {
		struct verify_live *l = &v->live[v->placed.a[i]];

		if (!l->placed)
			continue; /* named twice */
		l->placed = false;
		if (v->policy == POLICY_SJF)
			l->remaining_ns = verify_remaining_ns(v, l->job, l);
		if (verify_list_push(&v->order, v->placed.a[i])) {
			v->code = FIT_ENOMEM;
			return;
		}
		tree_add_all(v, l, 1);
	}
	sort(v, &v->order,
	     v->policy == POLICY_FIFO      ? by_rank
	     : v->policy == POLICY_SJF     ? by_remaining
	     : v->policy == POLICY_QSSF    ? by_place
	     : v->policy == POLICY_OPTIMUS ? by_size
					   : by_seq);
	for (size_t i = 0; i < v->order.n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];
		int32_t node = 0;
		int64_t gpus = 0;
		size_t where = 0;

		verify_check(v, RULE_PLACEMENT);
		if (!placed_right(v, l, &node, &gpus, &where))
			verify_fault(v, RULE_PLACEMENT, l->job,
				     "share %zu is %lld:%lld, the emptiest node gives %lld:%lld",
				     where + 1,
				     where < l->n_nodes ? (long long)l->nodes[where].node : -1,
				     where < l->n_nodes ? (long long)l->nodes[where].gpus : 0,
				     (long long)node, (long long)gpus);
	}
}

void verify_policy_release(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_memo; i++) {
		free(v->memo[i].step_s);
		free(v->memo[i].left);
	}
	free(v->memo);
	verify_courses_release(v);
	free(v->fresh.a);
	free(v->active.a);
	free(v->order.a);
	free(v->waiting.a);
	free(v->list.a);
	free(v->sort_room.a);
}
