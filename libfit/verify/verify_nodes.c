/* SPDX-License-Identifier: MIT */
/*
 * Elastic clusters: which nodes are there, derived from the rows rent, ready and return; who may be
 * rented and returned when; which allocations are cold. docs/methods/verify.md has the rules.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define BUSY NEVER

/* One pool, or one for each type, in the order of the cluster. */
static void set_pools(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_nodes; i++) {
		struct verify_pool *p = v->n_pools ? &v->pools[v->n_pools - 1] : NULL;
		uint16_t type = v->autoscale == SCALE_SIA || v->autoscale == SCALE_PLAN ? v->node_type[i] : ANY_TYPE;

		if (!p || (p->type != type && v->n_pools < VERIFY_POOLS)) {
			p = &v->pools[v->n_pools++];
			*p = (struct verify_pool){ .type = type, .first = i, .wanted = v->nodes_min, .surplus_ns = NEVER,
						   .scaled_ns = -1 };
		}
		p->n++;
	}
}

static struct verify_pool *pool_of(struct fit_verifier *v, size_t node)
{
	size_t k = 0;

	while (k + 1 < v->n_pools && node >= v->pools[k].first + v->pools[k].n)
		k++;
	return &v->pools[k];
}

int verify_nodes_begin(struct fit_verifier *v)
{
	if (v->nodes)
		return FIT_OK; /* a second cluster row is reported by the rule about metadata */
	v->nodes = calloc(v->n_nodes ? v->n_nodes : 1, sizeof *v->nodes);
	if (!v->nodes)
		return FIT_ENOMEM;
	v->n_node_states = v->n_nodes;
	v->most = v->total;
	set_pools(v);
	for (size_t i = 0; i < v->n_nodes; i++) {
		v->nodes[i].gpus = v->size[i];
		verify_resize_node(v, i, 0);
	}
	return FIT_OK;
}

static bool is_empty(const struct fit_verifier *v, size_t i)
{
	return v->booked[i] == 0;
}

/* How long an up node has been empty. */
static int64_t empty_ns(const struct fit_verifier *v, const struct verify_node *n)
{
	return n->at_ns == BUSY ? 0 : v->now - n->at_ns; /* busy until this instant */
}

static int64_t nodes_up(const struct fit_verifier *v, const struct verify_pool *p)
{
	int64_t n = 0;

	for (size_t i = p->first; i < p->first + p->n; i++)
		n += v->nodes[i].state == NODE_UP;
	return n;
}

static int64_t nodes_used(const struct fit_verifier *v, const struct verify_pool *p)
{
	int64_t n = 0;

	for (size_t i = p->first; i < p->first + p->n; i++)
		n += v->booked[i] > 0;
	return n;
}

bool verify_nodes_leave(const struct fit_verifier *v)
{
	for (size_t k = 0; v->autoscale != SCALE_NONE && v->drains && k < v->n_pools; k++)
		if (v->pools[k].wanted < 0 || nodes_up(v, &v->pools[k]) > v->pools[k].wanted)
			return true;
	return false;
}

/* Jobs that are there and not finished. */
static int64_t unfinished(const struct fit_verifier *v)
{
	return v->n_submitted - v->n_finished - v->n_rejected;
}

/* The number of nodes that the rule asks for as things are now; -1: cannot be told from the log. */
static int64_t wanted_nodes(struct fit_verifier *v, struct verify_pool *p)
{
	int64_t each = v->nodes[p->first].gpus, gpus, n;

	if (!unfinished(v))
		return v->nodes_min;
	switch (v->autoscale) {
	case SCALE_DEMAND:
		gpus = v->demand;
		n = gpus / each + (gpus % each != 0);
		break;
	case SCALE_GOODPUT:
	case SCALE_THROUGHPUT:
	case SCALE_UTILISATION:
	case SCALE_POLLUX:
	case SCALE_RUBICK:
	case SCALE_SIA:
		n = verify_scale_wanted(v, p);
		break;
	case SCALE_PLAN:
		if (v->policy != POLICY_BOA)
			return -1;
		gpus = verify_boa_gpus(v, p->type);
		n = gpus / each + (gpus % each != 0);
		v->boa_capped = v->boa_capped || gpus > (int64_t)p->n * each;
		break;
	default:
		return -1;
	}
	if (n < v->nodes_min)
		n = v->nodes_min;
	return n > (int64_t)p->n ? (int64_t)p->n : n;
}

/* Since when there are more nodes than wanted. */
static void note_surplus(const struct fit_verifier *v, struct verify_pool *p)
{
	if (p->wanted < 0 || p->n_rented <= p->wanted)
		p->surplus_ns = NEVER;
	else if (p->surplus_ns == NEVER)
		p->surplus_ns = v->now;
}

void verify_nodes_want(struct fit_verifier *v)
{
	for (size_t k = 0; v->autoscale != SCALE_NONE && k < v->n_pools; k++) {
		v->pools[k].wanted = wanted_nodes(v, &v->pools[k]);
		note_surplus(v, &v->pools[k]);
	}
}

void verify_nodes_want_after(struct fit_verifier *v)
{
	for (size_t k = 0; v->autoscale == SCALE_PLAN && v->policy == POLICY_BOA && k < v->n_pools; k++) {
		struct verify_pool *p = &v->pools[k];
		int64_t each = v->nodes[p->first].gpus, kept = verify_boa_kept(v, p->type), gpus, n;
		bool waits = verify_boa_waits(v, p->type);

		p->keeps = kept > 0;
		if (!kept && !waits)
			continue;
		gpus = verify_boa_gpus(v, p->type) + kept;
		n = gpus / each + (gpus % each != 0);
		n = n < v->nodes_min ? v->nodes_min : n;
		n = waits && n < p->n_rented ? p->n_rented : n;
		p->wanted = n > (int64_t)p->n ? (int64_t)p->n : n;
		note_surplus(v, p);
	}
}

bool verify_nodes_rents_after(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_pool *p;

	if (v->autoscale != SCALE_PLAN || v->policy != POLICY_BOA || r->ev != EV_RENT || !v->n_pools ||
	    r->n_nodes != 1)
		return false;
	verify_nodes_want(v);
	p = pool_of(v, (size_t)r->nodes[0].node);
	return p->wanted >= 0 && p->n_rented >= p->wanted && verify_boa_kept(v, p->type);
}

void verify_row_node_life(struct fit_verifier *v, const struct verify_row *r)
{
	static const char *const states[] = { "not rented", "starting", "up" };
	struct verify_node *n;
	size_t i;

	verify_check(v, RULE_NODE_LIFE);
	if (v->autoscale == SCALE_NONE) {
		verify_fault(v, RULE_NODE_LIFE, NONE, "%.*s of a node of a fixed cluster",
			     FIT_TEXT_ARG(r->event));
		return;
	}
	if (r->n_nodes != 1 || r->nodes[0].node < 0 || (size_t)r->nodes[0].node >= v->n_node_states) {
		verify_fault(v, RULE_NODE_LIFE, NONE, "%.*s of '%.*s' (expected one node of the cluster)",
			     FIT_TEXT_ARG(r->event), FIT_TEXT_ARG(r->nodes_text));
		return;
	}
	i = (size_t)r->nodes[0].node;
	n = &v->nodes[i];
	if (r->nodes[0].gpus != n->gpus || r->gpus < (double)n->gpus || r->gpus > (double)n->gpus)
		verify_fault(v, RULE_NODE_LIFE, NONE, "node %zu has %lld GPUs, the row says '%.*s' and %g", i,
			     (long long)n->gpus, FIT_TEXT_ARG(r->nodes_text), r->gpus);
	if (n->state != (r->ev == EV_RENT ? NODE_OFF : r->ev == EV_READY ? NODE_STARTING : NODE_UP))
		verify_fault(v, RULE_NODE_LIFE, NONE, "%.*s of node %zu, which is %s", FIT_TEXT_ARG(r->event),
			     i, states[n->state]);
	else if (r->ev == EV_READY && r->t - n->at_ns != v->node_start_ns)
		verify_fault(v, RULE_NODE_LIFE, NONE,
			     "node %zu is ready %.9g s after it was rented (expected %.9g)", i,
			     fit_time_to_double(r->t - n->at_ns), fit_time_to_double(v->node_start_ns));
	else if (r->ev == EV_RETURN && !is_empty(v, i))
		verify_fault(v, RULE_NODE_LIFE, NONE, "node %zu is returned while %lld of its GPUs are held",
			     i, (long long)v->booked[i]);
	else if (r->ev == EV_RETURN && empty_ns(v, n) < v->node_idle_ns)
		verify_fault(v, RULE_NODE_LIFE, NONE,
			     "node %zu is returned %.9g s after it became empty (expected at least %.9g)", i,
			     fit_time_to_double(empty_ns(v, n)), fit_time_to_double(v->node_idle_ns));
}

/* The lowest node that is off is rented, the highest of those that are due is returned. */
void verify_row_node_choice(struct fit_verifier *v, const struct verify_row *r)
{
	size_t i = r->n_nodes == 1 ? (size_t)r->nodes[0].node : v->n_node_states;

	const struct verify_pool *p;

	if (i >= v->n_node_states || v->autoscale == SCALE_NONE)
		return;
	p = pool_of(v, i);
	verify_check(v, RULE_NODE_CHOICE);
	for (size_t k = p->first; r->ev == EV_RENT && k < i; k++) {
		if (v->nodes[k].state == NODE_OFF) {
			verify_fault(v, RULE_NODE_CHOICE, NONE, "node %zu is rented, node %zu comes first", i, k);
			return;
		}
	}
	for (size_t k = i + 1; r->ev == EV_RETURN && k < p->first + p->n; k++) {
		const struct verify_node *n = &v->nodes[k];

		if (n->state == NODE_UP && !v->drains && is_empty(v, k) &&
		    empty_ns(v, n) >= v->node_idle_ns) {
			verify_fault(v, RULE_NODE_CHOICE, NONE,
				     "node %zu is returned, node %zu is as empty and comes first", i, k);
			return;
		}
	}
}

/* When an empty node is to be returned: after its grace, and once there are too many. */
static int64_t due_ns(const struct fit_verifier *v, const struct verify_pool *p, const struct verify_node *n)
{
	int64_t grace = v->now - empty_ns(v, n) + v->node_idle_ns;

	return grace > p->surplus_ns ? grace : p->surplus_ns;
}

/* As many nodes as the rule asks for, while it can be known. */
void verify_row_node_number(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_pool *p;
	size_t i = r->n_nodes == 1 ? (size_t)r->nodes[0].node : v->n_node_states;

	if (v->autoscale == SCALE_NONE || !v->n_pools)
		return;
	if (r->ev == EV_RENT && v->phase == PHASE_BEFORE && (v->interval_ns == 0 || v->now % v->interval_ns == 0))
		verify_nodes_want(v);
	p = pool_of(v, i);
	if (!unfinished(v))
		p->wanted = v->nodes_min;
	note_surplus(v, p);
	if (p->wanted < 0)
		return;
	verify_check(v, RULE_NODE_NUMBER);
	if (r->ev == EV_RENT && p->n_rented >= p->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is rented beyond the %lld that are wanted",
			     (long long)p->wanted);
	else if (r->ev == EV_RETURN && p->n_rented <= p->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is returned of the %lld that are wanted",
			     (long long)p->wanted);
	else if (!v->drains /* there an empty node need not be one that leaves: check_leaving() */ &&
		 r->ev == EV_RETURN && i < v->n_node_states && v->now > due_ns(v, p, &v->nodes[i]))
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is returned that was due at %.9g s",
			     fit_time_to_double(due_ns(v, p, &v->nodes[i])));
}

void verify_decide_node_number(struct fit_verifier *v)
{
	if (!v->legal)
		return;
	for (size_t k = 0; k < v->n_pools; k++) {
		const struct verify_pool *p = &v->pools[k];

		if (p->wanted < 0)
			continue;
		verify_check(v, RULE_NODE_NUMBER);
		if (p->n_rented < p->wanted)
			verify_fault(v, RULE_NODE_NUMBER, NONE, "%lld nodes are rented, %lld are wanted",
				     (long long)p->n_rented, (long long)p->wanted);
		else if (v->drains && nodes_used(v, p) > p->wanted)
			verify_fault(v, RULE_NODE_NUMBER, NONE, "jobs hold GPUs of %lld nodes, %lld are wanted",
				     (long long)nodes_used(v, p), (long long)p->wanted);
	}
}

/* Takes effect after the rules have seen the row. */
void verify_nodes_apply(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_node *n;
	size_t i = r->n_nodes == 1 ? (size_t)r->nodes[0].node : v->n_node_states;

	if (i >= v->n_node_states)
		return;
	n = &v->nodes[i];
	if (r->ev == EV_RENT) {
		v->rented += n->state == NODE_OFF ? n->gpus : 0;
		verify_rent_node(v, i, n->state == NODE_OFF ? n->gpus : 0);
		pool_of(v, i)->n_rented += n->state == NODE_OFF;
		*n = (struct verify_node){ .gpus = n->gpus, .state = NODE_STARTING, .at_ns = r->t };
	} else if (r->ev == EV_READY) {
		n->state = NODE_UP;
		n->at_ns = r->t;
		verify_resize_node(v, i, n->gpus);
		v->woken = v->dirty = true;
	} else {
		v->rented -= n->state != NODE_OFF ? n->gpus : 0;
		verify_rent_node(v, i, n->state != NODE_OFF ? -n->gpus : 0);
		pool_of(v, i)->n_rented -= n->state != NODE_OFF;
		n->state = NODE_OFF;
		verify_resize_node(v, i, 0);
	}
}

/* With draining as many nodes as are too many leave, those in use last: of the empty ones that are due at
 * most as many stay as are wanted beside those in use. */
static void check_leaving(struct fit_verifier *v, const struct verify_pool *p)
{
	int64_t due = 0, spare = p->wanted - nodes_used(v, p);

	if (nodes_up(v, p) <= p->wanted)
		return;
	for (size_t i = p->first; i < p->first + p->n; i++)
		due += v->nodes[i].state == NODE_UP && is_empty(v, i) && empty_ns(v, &v->nodes[i]) >= v->node_idle_ns;
	verify_check(v, RULE_NODE_NUMBER);
	if (due > (spare > 0 ? spare : 0))
		verify_fault(v, RULE_NODE_NUMBER, NONE,
			     "%lld nodes have been empty for %.9g s and are kept, %lld nodes are wanted", (long long)due,
			     fit_time_to_double(v->node_idle_ns), (long long)p->wanted);
}

/* Whoever waits for GPUs of another type needs those that it holds beside what is wanted of theirs. */
static void check_kept(struct fit_verifier *v, const struct verify_pool *p)
{
	if (!p->keeps || p->wanted < 0 || !v->decided_here)
		return;
	verify_check(v, RULE_NODE_NUMBER);
	if (p->n_rented < p->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "%lld nodes are rented, %lld are wanted after the decision",
			     (long long)p->n_rented, (long long)p->wanted);
}

/* The instant is over: who has become empty, and who should be gone. */
void verify_nodes_settle(struct fit_verifier *v)
{
	if (v->autoscale == SCALE_NONE || !v->nodes)
		return;
	for (size_t k = 0; k < v->n_pools; k++) {
		if (!unfinished(v))
			v->pools[k].wanted = v->nodes_min;
		note_surplus(v, &v->pools[k]);
		check_kept(v, &v->pools[k]);
	}
	for (size_t i = 0; i < v->n_node_states; i++) {
		const struct verify_pool *p = pool_of(v, i);
		struct verify_node *n = &v->nodes[i];

		if (n->state == NODE_STARTING && v->now - n->at_ns >= v->node_start_ns) {
			verify_check(v, RULE_NODE_LIFE);
			verify_fault(v, RULE_NODE_LIFE, NONE, "node %zu is not ready %.9g s after it was rented",
				     i, fit_time_to_double(v->now - n->at_ns));
		}
		if (n->state != NODE_UP)
			continue;
		if (!is_empty(v, i)) {
			n->at_ns = BUSY;
			continue;
		}
		if (n->at_ns == BUSY)
			n->at_ns = v->now;
		if (p->wanted < 0 || v->drains || v->now - n->at_ns < v->node_idle_ns)
			continue;
		verify_check(v, RULE_NODE_NUMBER);
		if (p->n_rented > p->wanted)
			verify_fault(v, RULE_NODE_NUMBER, NONE,
				     "node %zu has been empty for %.9g s and is kept, %lld nodes are rented and "
				     "%lld wanted",
				     i, fit_time_to_double(v->now - n->at_ns), (long long)p->n_rented,
				     (long long)p->wanted);
	}
	for (size_t k = 0; v->drains && k < v->n_pools; k++)
		if (v->pools[k].wanted >= 0)
			check_leaving(v, &v->pools[k]);
}

int64_t verify_delay_ns(struct fit_verifier *v, const struct verify_live *l, const struct verify_place *nodes,
			size_t n)
{
	bool cold = false;

	for (size_t i = 0; v->nodes && i < n; i++) {
		if (nodes[i].node < 0 || (size_t)nodes[i].node >= v->n_node_states)
			continue;
		cold = cold || !v->nodes[nodes[i].node].warm;
		v->nodes[nodes[i].node].warm = true;
	}
	if (cold && v->cold_restart_ns != NO_INT)
		return v->cold_restart_ns;
	return v->free_start && l->first_start_ns == NEVER ? 0 :
	       verify_restart_ns(v, l->job, n ? verify_type_of(v, nodes[0].node) : 0);
}
