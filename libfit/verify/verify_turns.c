/* SPDX-License-Identifier: MIT */
/*
 * Preemptive policies that take jobs one by one (srtf, shortest, shortest-gpu, smallest, tiresias) on a
 * cluster in parts, of several types of GPUs, or with another placement than the emptiest nodes, and those by
 * Gittins index on any: whose turn it is.
 *
 * Each part takes its jobs in the policy's order, as they are before the decision. A job whose GPUs are
 * within what the part has, less those of the jobs taken before it, is taken, and others are passed over.
 * With types it is within those of one type that the job may have: the one that it runs on if that will do,
 * else the first that does.
 * Who is not taken does not run afterwards; who is taken runs, unless its placement found no room: then it
 * would have found none either where those that were placed after it were not there. Parts in which nothing
 * happened are as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define SAME_NS 1000 /* as in verify_policy.c */

struct turn_type {
	uint16_t type;
	int64_t total;			/* GPUs */
	double left;			/* scratch of a decision */
};

struct turn_part {
	struct verify_list members;	/* live records that a decision has seen */
	struct verify_list order;	/* of this decision; only where dirty */
	struct turn_type *types;	/* in the order of the nodes; one, 0, where they have none */
	size_t n_types, cap_types;
	bool dirty;
};

struct verify_turns {
	struct turn_part *parts;	/* as v->vcs */
	size_t n_parts;
};

void verify_turns_release(struct fit_verifier *v)
{
	struct verify_turns *t = v->turns;

	if (!t)
		return;
	for (size_t i = 0; i < t->n_parts; i++) {
		free(t->parts[i].members.a);
		free(t->parts[i].order.a);
		free(t->parts[i].types);
	}
	free(t->parts);
	free(t);
	v->turns = NULL;
}

static int count_node(const struct fit_verifier *v, struct turn_part *p, int64_t node)
{
	size_t i = 0;

	while (i < p->n_types && p->types[i].type != v->node_type[node])
		i++;
	if (fit_grow(&p->types, &p->cap_types, i + 1, sizeof *p->types))
		return FIT_ENOMEM;
	if (i == p->n_types)
		p->types[p->n_types++] = (struct turn_type){ .type = v->node_type[node] };
	p->types[i].total += v->size[node];
	return FIT_OK;
}

/* The nodes of an elastic cluster are of one kind; those that are not up have no GPUs. */
static void count_open(const struct fit_verifier *v, struct turn_part *p)
{
	for (size_t i = 0; i < p->n_types; i++)
		p->types[i].total = v->total;
	p->dirty = true;
}

int verify_turns_start(struct fit_verifier *v)
{
	struct verify_turns *t;

	if (v->turns || !v->by_parts)
		return FIT_OK;
	v->turns = t = calloc(1, sizeof *t);
	if (!t)
		return FIT_ENOMEM;
	t->parts = calloc(v->n_vcs + 1, sizeof *t->parts);
	if (!t->parts || (verify_by_index(v) && verify_gittins_begin(v)))
		return FIT_ENOMEM;
	t->n_parts = v->n_vcs;
	for (size_t i = 0; i < t->n_parts; i++)
		for (int64_t n = verify_part_node(v, &v->vcs[i], -1); n >= 0; n = verify_part_node(v, &v->vcs[i], n))
			if (count_node(v, &t->parts[i], n))
				return FIT_ENOMEM;
	return FIT_OK;
}

static struct turn_part *part_of(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_vc *vc = v->turns ? verify_vc_of(v, job) : NULL;

	return vc ? &v->turns->parts[vc - v->vcs] : NULL;
}

void verify_turns_touch(struct fit_verifier *v, uint32_t job)
{
	struct turn_part *p = part_of(v, job);

	if (p)
		p->dirty = true;
}

int verify_turns_enter(struct fit_verifier *v, uint32_t live)
{
	struct turn_part *p = part_of(v, v->live[live].job);

	if (!p)
		return FIT_OK;
	p->dirty = true;
	if (v->one_list)
		v->live[live].listed = v->n_listed++;
	return verify_list_push(&p->members, live);
}

void verify_turns_leave(struct fit_verifier *v, uint32_t live)
{
	struct turn_part *p = part_of(v, v->live[live].job);
	struct verify_list *l = p ? &p->members : NULL;
	size_t i = 0;

	while (l && i < l->n && l->a[i] != live)
		i++;
	if (!l || i == l->n)
		return;
	l->a[i] = l->a[--l->n];
	p->dirty = true;
	if (verify_by_index(v))
		verify_gittins_left(v, l->n == 0);
}

/* ---- the order ---- */

static bool has_gpus(const struct fit_verifier *v, const struct verify_live *l)
{
	return v->jobs[l->job].state == JOB_RUNNING;
}

static int compare(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* Lists of the simulator: those that run, and those that wait; in each who joined it first. */
static int by_lists(const struct verify_live *a, const struct verify_live *b, bool running_first)
{
	if (a->ran != b->ran)
		return a->ran == running_first ? -1 : 1;
	return compare(a->joined, b->joined);
}

static int by_remaining(const struct fit_verifier *v, uint32_t i, uint32_t k)
{
	const struct verify_live *a = &v->live[i], *b = &v->live[k];

	if (a->remaining_ns != b->remaining_ns)
		return compare(a->remaining_ns, b->remaining_ns);
	if (v->one_list)
		return compare(a->listed, b->listed);
	return v->by_lists ? by_lists(a, b, false) : compare(v->jobs[a->job].rank, v->jobs[b->job].rank);
}

static int by_queue(const struct fit_verifier *v, uint32_t i, uint32_t k)
{
	const struct verify_live *a = &v->live[i], *b = &v->live[k];

	if (a->queue != b->queue)
		return compare(a->queue, b->queue);
	if (!v->queue_by_submission)
		return verify_rank_order(v, i, k);
	if (v->jobs[a->job].submit_ns != v->jobs[b->job].submit_ns)
		return compare(v->jobs[a->job].submit_ns, v->jobs[b->job].submit_ns);
	return by_lists(a, b, true);
}

/* What srtf and its like sort by. */
static int64_t key_of(struct fit_verifier *v, struct verify_live *l)
{
	int64_t gpus = (int64_t)v->jobs[l->job].gpus, left;

	if (v->policy == POLICY_SMALLEST)
		return gpus;
	left = verify_remaining_ns(v, l->job, l);
	return v->policy == POLICY_SHORTEST_GPU ? (left < NEVER / gpus ? left * gpus : NEVER) : left;
}

static bool by_key(const struct fit_verifier *v)
{
	return v->policy != POLICY_TIRESIAS && !verify_by_index(v);
}

/* Before the rows of a decision. */
void verify_turns_begin(struct fit_verifier *v)
{
	for (size_t i = 0; v->turns && i < v->turns->n_parts; i++) {
		struct turn_part *p = &v->turns->parts[i];

		p->order.n = 0;
		p->dirty = p->dirty || verify_by_index(v);	/* indices change with time */
		if (v->autoscale != SCALE_NONE)
			count_open(v, p);
		for (size_t k = 0; p->dirty && k < p->members.n; k++) {
			struct verify_live *l = &v->live[p->members.a[k]];

			l->ran = has_gpus(v, l);
			l->ran_on = l->ran && l->n_nodes ? verify_type_of(v, l->nodes[0].node) : 0;
			l->remaining_ns = by_key(v) ? key_of(v, l) : 0;
			if (verify_by_index(v))
				verify_gittins_rank(v, l);
			if (verify_list_push(&p->order, p->members.a[k]))
				v->code = FIT_ENOMEM;
		}
		verify_sort(v, p->order.a, p->order.n, by_key(v) ? by_remaining :
			    verify_by_index(v) ? verify_gittins_order : by_queue);
	}
}

/* ---- what must have come of it ---- */

static void book(struct fit_verifier *v, const struct verify_live *l, int64_t sign)
{
	verify_yarn_hold(v, l, sign);
	for (size_t i = 0; i < l->n_nodes; i++)
		if (l->nodes[i].node >= 0 && (size_t)l->nodes[i].node < v->n_nodes)
			v->booked[l->nodes[i].node] += sign * l->nodes[i].gpus;
}

/* Where a job runs now. */
static uint16_t runs_on(const struct fit_verifier *v, const struct verify_live *l)
{
	return has_gpus(v, l) && l->n_nodes ? verify_type_of(v, l->nodes[0].node) : 0;
}

/* Those of this part that were placed by this decision behind a place in the order. */
static void book_later(struct fit_verifier *v, const struct turn_part *p, size_t place, int64_t sign)
{
	for (size_t k = place + 1; k < p->order.n; k++) {
		const struct verify_live *l = &v->live[p->order.a[k]];

		if (has_gpus(v, l) && (!l->ran || runs_on(v, l) != l->ran_on))
			book(v, l, sign);
	}
}

static bool had_room(struct fit_verifier *v, const struct turn_part *p, size_t place, uint16_t type)
{
	uint32_t job = v->live[p->order.a[place]].job;
	bool room;

	if (v->placement != PLACE_CONSOLIDATE && v->placement != PLACE_YARN)
		return true;
	book_later(v, p, place, -1);
	room = verify_part_fits(v, job, type, (int64_t)v->jobs[job].gpus);
	book_later(v, p, place, 1);
	return room;
}

/* May the log have these two the other way round? Predicted times and sums of service that were formed in
 * another way can differ in their last digits; of equal service they cannot. */
static bool near(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	int64_t gpus = v->policy == POLICY_SHORTEST_GPU ? (int64_t)v->jobs[v->live[b].job].gpus : 1;

	if (verify_by_index(v))
		return verify_gittins_near(v, a, b);
	return by_key(v) && v->by_epoch && v->policy != POLICY_SMALLEST &&
	       v->live[b].remaining_ns - v->live[a].remaining_ns < SAME_NS * gpus;
}

static bool same(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_live *x = &v->live[a], *y = &v->live[b];

	return verify_by_index(v) ? x->attained <= y->attained && x->attained >= y->attained :
	       x->remaining_ns == y->remaining_ns;
}

/* Where the order is not clear, those first that the log took. */
static void settle(const struct fit_verifier *v, struct verify_list *l)
{
	for (size_t i = 0, end; i < l->n; i = end) {
		bool clear = true;
		size_t to = i;

		for (end = i + 1; end < l->n && near(v, l->a[end - 1], l->a[end]); end++)
			clear = clear && same(v, l->a[end - 1], l->a[end]);
		for (size_t k = i; k < end && !clear; k++) {
			uint32_t x = l->a[k];

			if (!has_gpus(v, &v->live[x]))
				continue;
			memmove(l->a + to + 1, l->a + to, (k - to) * sizeof *l->a);
			l->a[to++] = x;
		}
	}
}

/* The type that a job has to run on; NULL: what is left is too little. */
static struct turn_type *type_for(struct fit_verifier *v, struct turn_part *p, const struct verify_live *l)
{
	const struct verify_job *j = &v->jobs[l->job];
	struct turn_type *best = NULL;

	for (size_t i = p->n_types; i-- > 0;) {
		struct turn_type *t = &p->types[i];

		if (j->gpus > t->left || (j->gpu_type && t->type && j->gpu_type != t->type))
			continue;
		if ((!best || !l->ran || best->type != l->ran_on) && verify_runs_on(v, l->job, t->type))
			best = t;
	}
	return best;
}

static void check_job(struct fit_verifier *v, struct turn_part *p, size_t place, enum verify_rule rule)
{
	struct verify_live *l = &v->live[p->order.a[place]];
	struct turn_type *t = type_for(v, p, l);
	double want = v->jobs[l->job].gpus, left = 0;

	for (size_t i = 0; i < p->n_types; i++)
		left = p->types[i].left > left ? p->types[i].left : left;
	l->taken = t != NULL;
	verify_check(v, rule);
	if (!t && has_gpus(v, l))
		verify_fault(v, rule, l->job, "runs; others come first and leave %g of its %g GPUs", left, want);
	else if (t && !has_gpus(v, l) && had_room(v, p, place, t->type))
		verify_fault(v, rule, l->job, "does not run; it is its turn, with %g GPUs of %g left, and there was room",
			     want, t->left);
	else if (t && has_gpus(v, l) && runs_on(v, l) != t->type)
		verify_fault(v, rule, l->job, "runs on GPUs of another type than that whose turn it is, with %g GPUs of %g "
			     "left there", want, t->left);
	if (t)
		t->left -= want;
}

static void check_part(struct fit_verifier *v, struct turn_part *p, enum verify_rule rule)
{
	settle(v, &p->order);
	for (size_t i = 0; i < p->n_types; i++)
		p->types[i].left = (double)p->types[i].total;
	for (size_t k = 0; k < p->order.n; k++)
		check_job(v, p, k, rule);
}

void verify_turns_decide(struct fit_verifier *v, enum verify_rule rule)
{
	for (size_t i = 0; v->legal && v->turns && i < v->turns->n_parts; i++)
		if (v->turns->parts[i].dirty)
			check_part(v, &v->turns->parts[i], rule);
}

void verify_decide_gittins(struct fit_verifier *v)
{
	verify_turns_decide(v, RULE_GITTINS);
}

/* The list that the policy goes on with: as it was walked, those first that were taken. */
static void list_anew(struct fit_verifier *v, const struct turn_part *p)
{
	bool as_walked = v->one_list || (v->gittins_artifact && v->policy == POLICY_GITTINS);

	for (int taken = 1; taken >= 0; taken--)
		for (size_t k = 0; k < p->order.n; k++) {
			struct verify_live *l = &v->live[p->order.a[k]];

			if (as_walked ? taken : l->taken == taken)
				l->listed = v->n_listed++;
		}
}

void verify_turns_end(struct fit_verifier *v)
{
	for (size_t i = 0; v->turns && (verify_by_index(v) || v->one_list) && i < v->turns->n_parts; i++)
		list_anew(v, &v->turns->parts[i]);
	if (verify_by_index(v) && v->turns)
		verify_gittins_decided(v);
	for (size_t i = 0; v->turns && i < v->turns->n_parts; i++)
		v->turns->parts[i].dirty = false;
}
