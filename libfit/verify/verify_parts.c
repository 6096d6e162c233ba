/* SPDX-License-Identifier: MIT */
/* Parts of the cluster: virtual clusters, nodes set apart for the profiler, nodes lent to it. */
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

int verify_share_group(struct fit_verifier *v, struct fit_text group, uint16_t *vc)
{
	uint32_t at = fit_index_get(&v->by_group, group);

	if (at == FIT_NO_INDEX) {
		if (v->n_groups == UINT16_MAX) /* more than any replay has */
			return FIT_OK;
		at = v->n_groups++;
		if (fit_index_put(&v->by_group, group, at, NULL))
			return FIT_ENOMEM;
	}
	*vc = (uint16_t)at;
	return FIT_OK;
}

/* "name:NxG" or "name:N": name and the number behind the colon. */
static bool cut_part(struct fit_text t, struct fit_text *name, int64_t *n)
{
	size_t colon = 0, end;

	while (colon < t.n && t.s[colon] != ':')
		colon++;
	*name = (struct fit_text){ t.s, colon == t.n ? 0 : colon };
	t = colon == t.n ? t : (struct fit_text){ t.s + colon + 1, t.n - colon - 1 };
	for (end = 0; end < t.n && t.s[end] != 'x'; end++)
		;
	return fit_parse_int64((struct fit_text){ t.s, end }, n) == FIT_OK && *n > 0;
}

static struct verify_vc *find_vc(struct fit_verifier *v, struct fit_text name)
{
	for (size_t i = 0; i < v->n_vcs; i++)
		if (fit_text_eq(v->vcs[i].name, name))
			return &v->vcs[i];
	return NULL;
}

static int add_vc(struct fit_verifier *v, struct fit_text name, int64_t n)
{
	struct verify_vc *last = v->n_vcs ? &v->vcs[v->n_vcs - 1] : NULL;
	int64_t first = last ? last->first + last->n_nodes : 0;

	if (last && fit_text_eq(last->name, name)) {
		last->n_nodes += n;
		return FIT_OK;
	}
	if (fit_grow(&v->vcs, &v->cap_vcs, v->n_vcs + 1, sizeof *v->vcs))
		return FIT_ENOMEM;
	v->vcs[v->n_vcs++] = (struct verify_vc){ .name = name, .first = first, .n_nodes = n };
	return FIT_OK;
}

static struct fit_text part_at(const struct fit_str *s, size_t *at)
{
	size_t from = *at, to = from;

	while (to < s->n && s->s[to] != ',')
		to++;
	*at = to + 1;
	return (struct fit_text){ s->s + from, to - from };
}

static int set_apart(struct fit_verifier *v)
{
	free(v->apart);
	v->apart = calloc(v->n_nodes + 1, sizeof *v->apart);
	if (!v->apart)
		return FIT_ENOMEM;
	for (size_t at = 0; at < v->apart_text.n;) {
		struct fit_text name;
		struct verify_vc *vc;
		int64_t n = 0;
		bool good = cut_part(part_at(&v->apart_text, &at), &name, &n);

		vc = good ? find_vc(v, name) : NULL;
		verify_check(v, RULE_META);
		if (!vc || n >= vc->n_nodes) {
			verify_fault(v, RULE_META, NONE, "metadata profiler_nodes is '%s' (expected nodes of "
				     "virtual clusters)", v->apart_text.s);
			return FIT_OK;
		}
		vc->n_apart = n;
		for (int64_t i = vc->first + vc->n_nodes - n; i < vc->first + vc->n_nodes; i++)
			if ((size_t)i < v->n_nodes)
				v->apart[i] = true;
	}
	return FIT_OK;
}

/* The largest node of a part, those set apart included; of a type (0: any). */
static int64_t node_size(const struct fit_verifier *v, const struct verify_vc *vc, uint16_t type)
{
	int64_t most = 1;

	for (int64_t n = vc->first; n < vc->first + vc->n_nodes && (size_t)n < v->n_nodes; n++)
		if (!type || v->node_type[n] == type)
			most = v->size[n] > most ? v->size[n] : most;
	return most;
}

int verify_share_cluster(struct fit_verifier *v)
{
	int rc = FIT_OK;

	v->n_vcs = 0;
	v->n_first_nodes = v->n_first_nodes ? v->n_first_nodes : v->n_nodes;
	for (size_t at = 0; at < v->vc_text.n && !rc;) {
		struct fit_text name;
		int64_t n = 0;

		if (!cut_part(part_at(&v->vc_text, &at), &name, &n)) {
			verify_fault(v, RULE_META, NONE, "metadata virtual_clusters is '%s' (expected NAME:NODESxGPUS)",
				     v->vc_text.s);
			break;
		}
		rc = add_vc(v, name, n);
	}
	if (!rc && !v->n_vcs)
		rc = add_vc(v, (struct fit_text){ "", 0 }, (int64_t)v->n_first_nodes);
	if (rc)
		return rc;
	for (size_t i = 0; i < v->n_vcs; i++)
		v->vcs[i].most = node_size(v, &v->vcs[i], 0);
	free(v->vc_of_group);
	v->vc_of_group = calloc((size_t)v->n_groups + 1, sizeof *v->vc_of_group);
	if (!v->vc_of_group)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->n_vcs && v->vc_text.n; i++) {
		uint32_t g = fit_index_get(&v->by_group, v->vcs[i].name);

		if (g != FIT_NO_INDEX)
			v->vc_of_group[g] = &v->vcs[i];
	}
	return set_apart(v);
}

const struct verify_vc *verify_vc_of(const struct fit_verifier *v, uint32_t job)
{
	if (!v->vc_text.n)
		return v->n_vcs ? &v->vcs[0] : NULL;
	return v->vc_of_group ? v->vc_of_group[v->jobs[job].vc] : NULL;
}

int64_t verify_share_most(struct fit_verifier *v, uint32_t job)
{
	const struct verify_vc *vc = verify_vc_of(v, job);
	int64_t sum = 0;

	if (!vc || (!v->vc_text.n && !v->apart_text.n))
		return verify_has_types(v) ? verify_type_most(v, job) : v->most;
	for (int64_t i = vc->first; i < vc->first + vc->n_nodes - vc->n_apart && (size_t)i < v->n_nodes; i++)
		sum += v->size[i];
	return sum;
}

bool verify_share_on_profiler(const struct fit_verifier *v, const struct verify_row *r)
{
	if (!v->apart || !r->n_nodes)
		return false;
	for (size_t i = 0; i < r->n_nodes; i++)
		if ((size_t)r->nodes[i].node >= v->n_nodes ||
		    (!v->apart[r->nodes[i].node] && r->nodes[i].node != v->lent_node))
			return false;
	return true;
}

void verify_row_virtual(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_vc *vc;

	if (r->job == NONE || r->on_profiler)
		return;
	verify_check(v, RULE_VIRTUAL);
	vc = verify_vc_of(v, r->job);
	for (size_t i = 0; vc && i < r->n_nodes; i++) {
		int64_t n = r->nodes[i].node;

		if (n < 0 || !verify_part_has(v, vc, (size_t)n)) {
			verify_fault(v, RULE_VIRTUAL, r->job, "node %lld, the nodes of '%.*s' for jobs are %lld to %lld",
				     (long long)n, FIT_TEXT_ARG(vc->name), (long long)vc->first,
				     (long long)(vc->first + vc->n_nodes - vc->n_apart - 1));
			return;
		}
	}
	if (!vc)
		verify_fault(v, RULE_VIRTUAL, r->job, "its group is no virtual cluster");
}


/* ---- what is free in a part ---- */

bool verify_part_has(const struct fit_verifier *v, const struct verify_vc *vc, size_t node)
{
	int64_t n = (int64_t)node;
	int where = node < v->n_away ? v->away[node] : NODE_AT_HOME;

	if (node >= v->n_nodes || where == NODE_AWAY)
		return false;
	if (where == NODE_ADOPTED)
		return fit_text_is(vc->name, v->lender_text.s) || !v->vc_text.n;
	return n >= vc->first && n < vc->first + vc->n_nodes - vc->n_apart;
}

int verify_part_move(struct fit_verifier *v, size_t node, int where)
{
	if (fit_grow(&v->away, &v->cap_away, node + 1, sizeof *v->away))
		return FIT_ENOMEM;
	while (v->n_away <= node)
		v->away[v->n_away++] = NODE_AT_HOME;
	v->away[node] = (uint8_t)where;
	return FIT_OK;
}

int64_t verify_part_node(const struct fit_verifier *v, const struct verify_vc *vc, int64_t after)
{
	int64_t n = after < vc->first ? vc->first : after + 1, end = vc->first + vc->n_nodes - vc->n_apart;

	for (; n < end; n++)
		if (verify_part_has(v, vc, (size_t)n))
			return n;
	/* further nodes have numbers behind all others */
	for (n = n < (int64_t)v->n_first_nodes ? (int64_t)v->n_first_nodes : n; n < (int64_t)v->n_nodes; n++)
		if (verify_part_has(v, vc, (size_t)n))
			return n;
	return -1;
}

static int64_t free_of(const struct fit_verifier *v, int64_t node)
{
	return v->size[node] - v->booked[node];
}

bool verify_part_fits(const struct fit_verifier *v, uint32_t job, uint16_t type, int64_t gpus)
{
	const struct verify_vc *vc = verify_vc_of(v, job);
	int64_t most, sum = 0, whole = 0, rest;
	bool room = false;
	size_t n_found;

	if (!vc)
		return false;
	if (v->placement == PLACE_YARN)
		return verify_yarn_find(v, vc, type, gpus, &n_found) != NULL;
	most = node_size(v, vc, type);
	rest = gpus <= most ? gpus : gpus % most;
	for (int64_t n = verify_part_node(v, vc, -1); n >= 0; n = verify_part_node(v, vc, n)) {
		if (type && v->node_type[n] != type)
			continue;
		sum += free_of(v, n);
		whole += free_of(v, n) == most;
		room = room || (free_of(v, n) >= rest && free_of(v, n) < most);
	}
	if (v->placement != PLACE_CONSOLIDATE)
		return sum >= gpus;
	if (gpus <= most)
		return room || whole;
	return whole > gpus / most || (whole == gpus / most && (!rest || room));
}

/* ---- where jobs are placed ---- */

/* The node of a part behind `after` with so many free GPUs, in the order of verify_part_node(); -1: none. */
static int64_t part_node_with(const struct fit_verifier *v, const struct verify_vc *vc, int64_t after,
			      int64_t gpus)
{
	int64_t end = vc->first + vc->n_nodes - vc->n_apart, further = (int64_t)v->n_first_nodes;

	for (int64_t n = after < vc->first ? vc->first : after + 1; n >= 0; n++) {
		n = verify_tree_next(v, n, gpus);
		if (n >= end && n < further)
			n = verify_tree_next(v, further, gpus);
		if (n < 0 || verify_part_has(v, vc, (size_t)n))
			return n;
	}
	return -1;
}

/* The next node that the placement takes from, with left GPUs to find of all; -1: none.
 * used: nodes before it. */
static int64_t next_node(const struct fit_verifier *v, const struct verify_vc *vc, const struct verify_row *r,
			 size_t used, int64_t left, enum verify_placement how)
{
	bool fullest = how == PLACE_CONSOLIDATE && r->sum <= vc->most;
	int64_t best = -1, least = 1; /* free GPUs from which a node is better than the best so far */

	if (how == PLACE_CONSOLIDATE)	/* on one node; or whole nodes, and then the emptiest */
		least = fullest || left < vc->most ? left : vc->most;
	least = least < 1 ? 1 : least;
	for (int64_t n = part_node_with(v, vc, -1, least); n >= 0; n = part_node_with(v, vc, n, least)) {
		int64_t has = free_of(v, n);
		bool taken = false;

		for (size_t i = 0; i < used; i++)
			taken = taken || r->nodes[i].node == n;
		if (taken)
			continue;
		if (how == PLACE_FIRST_FIT || (fullest && has == least))
			return n;
		if (!fullest)
			least = has + 1;
		if (!fullest || best < 0 || has < free_of(v, best))
			best = n;
	}
	return best;
}

static bool placed_by_yarn(const struct fit_verifier *v, const struct verify_vc *vc,
			   const struct verify_row *r, size_t *where, int64_t *node)
{
	size_t n;
	const struct verify_place *p = verify_yarn_find(v, vc, 0, r->sum, &n);

	for (size_t i = 0; i < r->n_nodes; i++) {
		*where = i;
		*node = i < n ? p[i].node : -1;
		if (i >= n || p[i].node != r->nodes[i].node || p[i].gpus != r->nodes[i].gpus)
			return false;
	}
	return n == r->n_nodes;
}

static bool placed_as(struct fit_verifier *v, const struct verify_vc *vc, const struct verify_row *r,
		      enum verify_placement how, size_t *where, int64_t *node)
{
	int64_t left = r->sum;

	for (size_t i = 0; i < r->n_nodes; i++) {
		int64_t n = next_node(v, vc, r, i, left, how), take = n < 0 ? 0 : free_of(v, n);

		take = take < left ? take : left;
		*where = i;
		*node = n;
		if (n != r->nodes[i].node || take != r->nodes[i].gpus)
			return false;
		left -= take;
	}
	return true;
}

void verify_row_placement(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_vc *vc = r->job == NONE || r->on_profiler || r->has_with ? NULL :
				     verify_vc_of(v, r->job);
	size_t where = 0;
	int64_t node = -1;
	bool right;

	/* nodes that were lent and came back are in an order of their own there */
	if (!vc || (v->policy != POLICY_OTHER && !v->by_parts) || verify_has_types(v) ||
	    v->autoscale != SCALE_NONE || v->placement == PLACE_RANDOM ||
	    (v->lending_echoed && v->lender_text.n && fit_text_is(vc->name, v->lender_text.s)))
		return;
	for (size_t i = 0; i < r->n_nodes; i++)
		if ((size_t)r->nodes[i].node >= v->n_nodes)
			return;
	verify_check(v, RULE_PLACEMENT);
	right = v->placement == PLACE_YARN ? placed_by_yarn(v, vc, r, &where, &node) :
		placed_as(v, vc, r, v->placement == PLACE_CONSOLIDATE_FIRST ? PLACE_CONSOLIDATE :
			  v->placement, &where, &node);
	if (!right && v->placement == PLACE_CONSOLIDATE_FIRST)
		right = placed_as(v, vc, r, PLACE_EMPTIEST, &where, &node);
	if (!right)
		verify_fault(v, RULE_PLACEMENT, r->job, "share %zu is %lld:%lld, the placement gives node %lld", where + 1,
			     (long long)r->nodes[where].node, (long long)r->nodes[where].gpus, (long long)node);
}

void verify_parts_release(struct fit_verifier *v)
{
	free(v->vcs);
	free(v->vc_of_group);
	free(v->apart);
	fit_str_release(&v->vc_text);
	fit_str_release(&v->apart_text);
	fit_str_release(&v->lender_text);
	free(v->away);
	fit_str_release(&v->groups);
	fit_index_release(&v->by_group);
}
