/* SPDX-License-Identifier: MIT */
/*
 * Where fixed widths (BOA) are placed: what is placed anew is condensed on as few nodes of its type as
 * can be, and where that fails goes to the emptiest ones, the widest first.
 */
#include "libfit/verify/verify_state.h"

static int by_width(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	int64_t x = v->live[a].gpus, y = v->live[b].gpus;

	if (x != y)
		return x > y ? -1 : 1;
	return (v->jobs[v->live[a].job].rank > v->jobs[v->live[b].job].rank) -
	       (v->jobs[v->live[a].job].rank < v->jobs[v->live[b].job].rank);
}

static int64_t room_on(const struct fit_verifier *v, size_t node)
{
	return v->tree[v->tree_n + node];
}

/* The node of the type with room for need GPUs that has least of it (or, most: the most), the lowest on
 * ties. */
static size_t pick(const struct fit_verifier *v, uint16_t type, int64_t need, bool most)
{
	size_t best = v->n_nodes;
	int64_t room = 0;

	for (size_t i = 0; i < v->n_nodes; i++) {
		int64_t x = room_on(v, i);

		if (v->node_type[i] != type || x < need || x < 1 || (best < v->n_nodes && (most ? x <= room : x >= room)))
			continue;
		best = i;
		room = x;
	}
	return best;
}

static bool share_is(struct fit_verifier *v, const struct verify_live *l, size_t *k, size_t node,
		     int64_t gpus)
{
	if (*k >= l->n_nodes || (size_t)l->nodes[*k].node != node || l->nodes[*k].gpus != gpus)
		return false;
	verify_tree_add(v, node, -gpus);
	(*k)++;
	return true;
}

static bool can_consolidate(const struct fit_verifier *v, uint16_t type, int64_t gpus, int64_t whole)
{
	int64_t n = 0, rest = gpus % whole;
	bool room = rest == 0;

	if (gpus <= whole)
		return pick(v, type, gpus, false) < v->n_nodes;
	for (size_t i = 0; i < v->n_nodes; i++) {
		if (v->node_type[i] != type)
			continue;
		n += room_on(v, i) == whole;
		room = room || (rest && room_on(v, i) < whole && room_on(v, i) >= rest);
	}
	return n >= gpus / whole + !room;
}

static bool placed_right(struct fit_verifier *v, const struct verify_live *l, size_t *k)
{
	uint16_t type = l->n_nodes ? verify_type_of(v, l->nodes[0].node) : 0;
	int64_t whole = type <= UINT8_MAX ? v->type_gpus[type] : 0, need = l->gpus;
	bool fits = whole > 0 && can_consolidate(v, type, need, whole);

	if (fits && need <= whole)
		return share_is(v, l, k, pick(v, type, need, false), need);
	while (need > 0) {
		size_t node = pick(v, type, fits && need >= whole ? whole : 1, true);
		int64_t take;

		if (node == v->n_nodes)
			return false;
		take = room_on(v, node) < need ? room_on(v, node) : need;
		if (!share_is(v, l, k, node, take))
			return false;
		need -= take;
	}
	return true;
}

void verify_decide_boa_placement(struct fit_verifier *v)
{
	if (!v->legal || !v->placed.n || !v->tree)
		return;
	v->order.n = 0;
	for (size_t i = 0; i < v->placed.n; i++) {
		struct verify_live *l = &v->live[v->placed.a[i]];

		if (!l->placed || verify_list_push(&v->order, v->placed.a[i]))
			continue;
		l->placed = false;
		for (size_t k = 0; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				verify_tree_add(v, (size_t)l->nodes[k].node, l->nodes[k].gpus);
	}
	verify_sort(v, v->order.a, v->order.n, by_width);
	for (size_t i = 0; i < v->order.n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];
		size_t k = 0;

		verify_check(v, RULE_BOA_PLACEMENT);
		if (!placed_right(v, l, &k))
			verify_fault(v, RULE_BOA_PLACEMENT, l->job,
				     "share %zu is not on the node that condenses most", k + 1);
		for (; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				verify_tree_add(v, (size_t)l->nodes[k].node, -l->nodes[k].gpus);
	}
}
