/* SPDX-License-Identifier: MIT */
/*
 * The queues of attained service as one ordered tree of live records: by queue, in it those that ran when the
 * last decision was over, then the others, each as they were put there. Every record keeps what a whole
 * subtree comes to, so that a decision that is right is seen at the root, and who changes its queue is found
 * without a look at the others.
 *
 * The tree is a treap (Seidel and Aragon, Randomized search trees, Algorithmica 16, 1996). Priorities are
 * a hash of the record's number, so that runs are alike. A record's key stays while it is in the tree.
 */
#include <math.h>

#include "libfit/verify/verify_state.h"

static uint32_t priority(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x7feb352du;
	x = (x ^ (x >> 15)) * 0x846ca68bu;
	return x ^ (x >> 16);
}

int verify_rank_order(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_live *x = &v->live[a], *y = &v->live[b];

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->behind != y->behind)
		return x->behind ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

struct verify_sum verify_rank_sum(const struct fit_verifier *v, uint32_t tree)
{
	return tree != NONE ? v->live[tree].sum :
	       (struct verify_sum){ .least = (double)INFINITY, .need = (double)INFINITY,
				    .due_ns = NEVER, .wake_ns = NEVER, .tick_ns = NEVER };
}

static struct verify_sum joined(struct verify_sum a, struct verify_sum b)
{
	return (struct verify_sum){ .n = a.n + b.n,
				    .held = a.held + b.held,
				    .least = smaller(a.least, b.least),
				    .need = smaller(a.need, a.held + b.need),
				    .due_ns = earlier(a.due_ns, b.due_ns),
				    .wake_ns = earlier(a.wake_ns, b.wake_ns),
				    .tick_ns = earlier(a.tick_ns, b.tick_ns) };
}

static void sum_up(struct fit_verifier *v, uint32_t x)
{
	struct verify_live *l = &v->live[x];
	double gpus = v->jobs[l->job].gpus;
	struct verify_sum own = { .n = 1,
				  .held = l->holds ? gpus : 0,
				  .least = l->holds ? (double)INFINITY : gpus,
				  .due_ns = l->due_ns,
				  .wake_ns = l->wake_ns,
				  .tick_ns = l->tick_ns };

	own.need = own.least;
	l->sum = joined(joined(verify_rank_sum(v, l->lo), own), verify_rank_sum(v, l->hi));
}

/* Those before x, and those behind it. */
static void split(struct fit_verifier *v, uint32_t tree, uint32_t x, uint32_t *before, uint32_t *behind)
{
	if (tree == NONE) {
		*before = *behind = NONE;
		return;
	}
	if (verify_rank_order(v, tree, x) < 0) {
		*before = tree;
		split(v, v->live[tree].hi, x, &v->live[tree].hi, behind);
	} else {
		*behind = tree;
		split(v, v->live[tree].lo, x, before, &v->live[tree].lo);
	}
	sum_up(v, tree);
}

static uint32_t merge(struct fit_verifier *v, uint32_t a, uint32_t b)
{
	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	if (priority(a) > priority(b)) {
		v->live[a].hi = merge(v, v->live[a].hi, b);
		sum_up(v, a);
		return a;
	}
	v->live[b].lo = merge(v, a, v->live[b].lo);
	sum_up(v, b);
	return b;
}

static uint32_t put_in(struct fit_verifier *v, uint32_t tree, uint32_t x)
{
	if (tree == NONE || priority(x) > priority(tree)) {
		split(v, tree, x, &v->live[x].lo, &v->live[x].hi);
		tree = x;
	} else if (verify_rank_order(v, x, tree) < 0) {
		v->live[tree].lo = put_in(v, v->live[tree].lo, x);
	} else {
		v->live[tree].hi = put_in(v, v->live[tree].hi, x);
	}
	sum_up(v, tree);
	return tree;
}

static uint32_t take_out(struct fit_verifier *v, uint32_t tree, uint32_t x)
{
	if (tree == NONE)
		return NONE;
	if (tree == x)
		return merge(v, v->live[x].lo, v->live[x].hi);
	if (verify_rank_order(v, x, tree) < 0)
		v->live[tree].lo = take_out(v, v->live[tree].lo, x);
	else
		v->live[tree].hi = take_out(v, v->live[tree].hi, x);
	sum_up(v, tree);
	return tree;
}

void verify_rank_insert(struct fit_verifier *v, uint32_t x)
{
	v->ranks = put_in(v, v->ranks, x);
}

void verify_rank_remove(struct fit_verifier *v, uint32_t x)
{
	v->ranks = take_out(v, v->ranks, x);
}

void verify_rank_update(struct fit_verifier *v, uint32_t x)
{
	uint32_t path[64], n = 0, i = v->ranks;

	for (; i != NONE && i != x && n < 64; i = verify_rank_order(v, x, i) < 0 ? v->live[i].lo : v->live[i].hi)
		path[n++] = i;
	if (i != x) { /* deeper than chance ever makes it */
		verify_rank_remove(v, x);
		verify_rank_insert(v, x);
		return;
	}
	for (sum_up(v, x); n > 0; n--)
		sum_up(v, path[n - 1]);
}

uint32_t verify_rank_of(const struct fit_verifier *v, uint32_t x)
{
	uint32_t n = 0, i = v->ranks;

	while (i != NONE && i != x) {
		if (verify_rank_order(v, x, i) < 0) {
			i = v->live[i].lo;
		} else {
			n += verify_rank_sum(v, v->live[i].lo).n + 1;
			i = v->live[i].hi;
		}
	}
	return i == NONE ? n : n + verify_rank_sum(v, v->live[i].lo).n;
}

void verify_rank_list(struct fit_verifier *v, uint32_t tree, int64_t due_by, struct verify_list *to)
{
	if (tree == NONE || v->live[tree].sum.due_ns > due_by)
		return;
	verify_rank_list(v, v->live[tree].lo, due_by, to);
	if (v->live[tree].due_ns <= due_by && verify_list_push(to, tree))
		v->code = FIT_ENOMEM;
	verify_rank_list(v, v->live[tree].hi, due_by, to);
}
