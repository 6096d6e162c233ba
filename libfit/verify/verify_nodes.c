/* SPDX-License-Identifier: MIT */
/*
 * Elastic clusters: which nodes are there, derived from the rows rent, ready and return; who may be
 * rented and returned when; which allocations are cold. docs/methods/verify.md has the rules.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define BUSY NEVER

int verify_nodes_begin(struct fit_verifier *v)
{
	if (v->nodes)
		return FIT_OK; /* a second cluster row is reported by the rule about metadata */
	v->nodes = calloc(v->n_nodes ? v->n_nodes : 1, sizeof *v->nodes);
	if (!v->nodes)
		return FIT_ENOMEM;
	v->n_node_states = v->n_nodes;
	v->most = v->total;
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

static int64_t nodes_up(const struct fit_verifier *v)
{
	int64_t n = 0;

	for (size_t i = 0; i < v->n_node_states; i++)
		n += v->nodes[i].state == NODE_UP;
	return n;
}

static int64_t nodes_used(const struct fit_verifier *v)
{
	int64_t n = 0;

	for (size_t i = 0; i < v->n_node_states; i++)
		n += v->booked[i] > 0;
	return n;
}

bool verify_nodes_leave(const struct fit_verifier *v)
{
	return v->autoscale != SCALE_NONE && v->drains && (v->wanted < 0 || nodes_up(v) > v->wanted);
}

/* Jobs that are there and not finished. */
static int64_t unfinished(const struct fit_verifier *v)
{
	return v->n_submitted - v->n_finished - v->n_rejected;
}

/* The number of nodes that the rule asks for as things are now; -1: cannot be told from the log. */
static int64_t wanted_nodes(struct fit_verifier *v)
{
	int64_t each = v->n_node_states ? v->nodes[0].gpus : 1, gpus, n;

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
		n = verify_scale_wanted(v);
		break;
	case SCALE_PLAN:
		if (v->policy != POLICY_BOA)
			return -1;
		gpus = verify_boa_gpus(v);
		n = gpus / each + (gpus % each != 0);
		v->boa_capped = v->boa_capped || gpus > v->most;
		break;
	default:
		return -1;
	}
	if (n < v->nodes_min)
		n = v->nodes_min;
	return n > (int64_t)v->n_node_states ? (int64_t)v->n_node_states : n;
}

/* Since when there are more nodes than wanted. */
static void note_surplus(struct fit_verifier *v)
{
	if (v->wanted < 0 || v->n_rented <= v->wanted)
		v->surplus_ns = NEVER;
	else if (v->surplus_ns == NEVER)
		v->surplus_ns = v->now;
}

void verify_nodes_want(struct fit_verifier *v)
{
	if (v->autoscale != SCALE_NONE)
		v->wanted = wanted_nodes(v);
	note_surplus(v);
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

	if (i >= v->n_node_states || v->autoscale == SCALE_NONE)
		return;
	verify_check(v, RULE_NODE_CHOICE);
	for (size_t k = 0; r->ev == EV_RENT && k < i; k++) {
		if (v->nodes[k].state == NODE_OFF) {
			verify_fault(v, RULE_NODE_CHOICE, NONE, "node %zu is rented, node %zu comes first", i, k);
			return;
		}
	}
	for (size_t k = i + 1; r->ev == EV_RETURN && k < v->n_node_states; k++) {
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
static int64_t due_ns(const struct fit_verifier *v, const struct verify_node *n)
{
	int64_t grace = v->now - empty_ns(v, n) + v->node_idle_ns;

	return grace > v->surplus_ns ? grace : v->surplus_ns;
}

/* As many nodes as the rule asks for, while it can be known. */
void verify_row_node_number(struct fit_verifier *v, const struct verify_row *r)
{
	if (v->autoscale == SCALE_NONE)
		return;
	if (r->ev == EV_RENT && v->phase == PHASE_BEFORE && (v->interval_ns == 0 || v->now % v->interval_ns == 0))
		verify_nodes_want(v);
	if (!unfinished(v))
		v->wanted = v->nodes_min;
	note_surplus(v);
	if (v->wanted < 0)
		return;
	verify_check(v, RULE_NODE_NUMBER);
	if (r->ev == EV_RENT && v->n_rented >= v->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is rented beyond the %lld that are wanted",
			     (long long)v->wanted);
	else if (r->ev == EV_RETURN && v->n_rented <= v->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is returned of the %lld that are wanted",
			     (long long)v->wanted);
	else if (!v->drains /* there an empty node need not be one that leaves: check_leaving() */ &&
		 r->ev == EV_RETURN && r->n_nodes == 1 && (size_t)r->nodes[0].node < v->n_node_states &&
		 v->now > due_ns(v, &v->nodes[r->nodes[0].node]))
		verify_fault(v, RULE_NODE_NUMBER, NONE, "a node is returned that was due at %.9g s",
			     fit_time_to_double(due_ns(v, &v->nodes[r->nodes[0].node])));
}

void verify_decide_node_number(struct fit_verifier *v)
{
	if (!v->legal)
		return;
	if (v->wanted < 0)
		return;
	verify_check(v, RULE_NODE_NUMBER);
	if (v->n_rented < v->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "%lld nodes are rented, %lld are wanted",
			     (long long)v->n_rented, (long long)v->wanted);
	else if (v->drains && nodes_used(v) > v->wanted)
		verify_fault(v, RULE_NODE_NUMBER, NONE, "jobs hold GPUs of %lld nodes, %lld are wanted",
			     (long long)nodes_used(v), (long long)v->wanted);
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
		v->n_rented += n->state == NODE_OFF;
		*n = (struct verify_node){ .gpus = n->gpus, .state = NODE_STARTING, .at_ns = r->t };
	} else if (r->ev == EV_READY) {
		n->state = NODE_UP;
		n->at_ns = r->t;
		verify_resize_node(v, i, n->gpus);
		v->woken = v->dirty = true;
	} else {
		v->rented -= n->state != NODE_OFF ? n->gpus : 0;
		v->n_rented -= n->state != NODE_OFF;
		n->state = NODE_OFF;
		verify_resize_node(v, i, 0);
	}
}

/* With draining as many nodes as are too many leave, those in use last: of the empty ones that are due at
 * most as many stay as are wanted beside those in use. */
static void check_leaving(struct fit_verifier *v)
{
	int64_t due = 0, spare = v->wanted - nodes_used(v);

	if (nodes_up(v) <= v->wanted)
		return;
	for (size_t i = 0; i < v->n_node_states; i++)
		due += v->nodes[i].state == NODE_UP && is_empty(v, i) && empty_ns(v, &v->nodes[i]) >= v->node_idle_ns;
	verify_check(v, RULE_NODE_NUMBER);
	if (due > (spare > 0 ? spare : 0))
		verify_fault(v, RULE_NODE_NUMBER, NONE,
			     "%lld nodes have been empty for %.9g s and are kept, %lld nodes are wanted", (long long)due,
			     fit_time_to_double(v->node_idle_ns), (long long)v->wanted);
}

/* The instant is over: who has become empty, and who should be gone. */
void verify_nodes_settle(struct fit_verifier *v)
{
	if (v->autoscale == SCALE_NONE || !v->nodes)
		return;
	if (!unfinished(v))
		v->wanted = v->nodes_min;
	note_surplus(v);
	for (size_t i = 0; i < v->n_node_states; i++) {
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
		if (v->wanted < 0 || v->drains || v->now - n->at_ns < v->node_idle_ns)
			continue;
		verify_check(v, RULE_NODE_NUMBER);
		if (v->n_rented > v->wanted)
			verify_fault(v, RULE_NODE_NUMBER, NONE,
				     "node %zu has been empty for %.9g s and is kept, %lld nodes are rented and "
				     "%lld wanted",
				     i, fit_time_to_double(v->now - n->at_ns), (long long)v->n_rented,
				     (long long)v->wanted);
	}
	if (v->drains && v->wanted >= 0)
		check_leaving(v);
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
	return v->free_start && l->first_start_ns == NEVER ? 0 : verify_restart_ns(v, l->job);
}
