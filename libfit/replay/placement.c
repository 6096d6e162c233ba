/* SPDX-License-Identifier: MIT */
#include "libfit/replay/placement.h"

#include "libfit/base/text.h"

const char *const fit_placement_names[] = { "emptiest", "consolidate", "consolidate-first", "first-fit",
					    "random", "yarn", NULL };

static int add_share(struct fit_alloc *a, int32_t node, int64_t gpus)
{
	if (fit_grow(&a->shares, &a->cap, a->n + 1, sizeof *a->shares))
		return FIT_ENOMEM;
	a->shares[a->n++] = (struct fit_share){ node, (int32_t)gpus };
	a->gpus += gpus;
	return FIT_OK;
}

/* The lowest node of those with fewest free GPUs, but at least need; -1: none. */
static int32_t best_fit(const struct fit_cluster *c, int32_t type, int64_t need)
{
	for (int32_t f = (int32_t)need; f <= c->types[type].max_node_gpus; f++) {
		int32_t node = fit_cluster_next(c, type, f, -1);

		if (node >= 0)
			return node;
	}
	return -1;
}

static int consolidate(const struct fit_cluster *c, int32_t type, int64_t gpus, struct fit_alloc *a)
{
	const int32_t node_gpus = c->types[type].max_node_gpus;
	int64_t whole = gpus / node_gpus, rest = gpus % node_gpus;
	int32_t node = -1;

	if (gpus <= node_gpus) {
		node = best_fit(c, type, gpus);
		return node < 0 ? FIT_END : add_share(a, node, gpus);
	}
	for (; whole; whole--) {
		node = fit_cluster_next(c, type, node_gpus, node);
		if (node < 0)
			return FIT_END;
		if (add_share(a, node, node_gpus))
			return FIT_ENOMEM;
	}
	if (!rest)
		return FIT_OK;
	node = fit_cluster_next(c, type, node_gpus, node);
	for (int32_t f = node_gpus - 1; node < 0 && f >= rest; f--)
		node = fit_cluster_next(c, type, f, -1);
	return node < 0 ? FIT_END : add_share(a, node, rest);
}

/* The lowest node with at least need free GPUs, and fewer than below. */
static int32_t first_with(const struct fit_cluster *c, int32_t type, int64_t need, int32_t below)
{
	int32_t first = -1;

	for (int32_t f = (int32_t)need; f < below; f++) {
		int32_t node = fit_cluster_next(c, type, f, -1);

		if (node >= 0 && (first < 0 || node < first))
			first = node;
	}
	return first;
}

static int yarn(const struct fit_cluster *c, int32_t type, int64_t gpus, struct fit_alloc *a)
{
	if (c->switches)
		return fit_switches_find(c->switches, gpus, a);

	const int32_t most = c->types[type].max_node_gpus;
	int64_t whole = gpus / most, rest = gpus % most;
	int32_t node = -1, other;

	if (gpus <= most) {
		node = first_with(c, type, gpus, most + 1);
		return node < 0 ? FIT_END : add_share(a, node, gpus);
	}
	for (; whole; whole--) {
		node = fit_cluster_next(c, type, most, node);
		if (node < 0)
			return FIT_END;
		if (add_share(a, node, most))
			return FIT_ENOMEM;
	}
	if (!rest)
		return FIT_OK;
	node = fit_cluster_next(c, type, most, node);
	other = first_with(c, type, rest, most);
	if (node < 0 || (other >= 0 && other < node))
		node = other;
	return node < 0 ? FIT_END : add_share(a, node, rest);
}

/* Steps through the nodes by a stride that has no factor in common with their number. */
static int32_t stride_of(int32_t n, uint64_t draw)
{
	int32_t s = (int32_t)(draw % (uint64_t)n) + 1;

	for (;; s = s % n + 1) {
		int32_t x = n, y = s;

		while (y) {
			int32_t t = x % y;

			x = y;
			y = t;
		}
		if (x == 1)
			return s;
	}
}

static int take_all_free(const struct fit_cluster *c, int32_t type, int64_t gpus, int32_t first,
			 int32_t stride, struct fit_alloc *a)
{
	int32_t node = first;

	for (int32_t k = 0; k < c->n_nodes && a->gpus < gpus; k++) {
		int64_t want = gpus - a->gpus, has = fit_cluster_open_gpus(c, node);

		if (has && c->type[node] == type && add_share(a, node, want < has ? want : has))
			return FIT_ENOMEM;
		node = (int32_t)(((int64_t)node + stride) % c->n_nodes);
	}
	return a->gpus < gpus ? FIT_END : FIT_OK;
}

static int take_of(struct fit_cluster *c, enum fit_placement_kind kind, int32_t type, int64_t gpus,
		   uint64_t draw, struct fit_alloc *a)
{
	int rc;

	a->n = 0;
	a->gpus = 0;
	if (gpus > c->types[type].n_free)
		return FIT_END;
	switch (kind) {
	case FIT_PLACE_CONSOLIDATE:
	case FIT_PLACE_CONSOLIDATE_FIRST:
		rc = consolidate(c, type, gpus, a);
		break;
	case FIT_PLACE_YARN:
		rc = yarn(c, type, gpus, a);
		break;
	case FIT_PLACE_FIRST_FIT:
		rc = take_all_free(c, type, gpus, 0, 1, a);
		break;
	case FIT_PLACE_RANDOM:
		rc = take_all_free(c, type, gpus, (int32_t)((draw >> 32) % (uint64_t)c->n_nodes),
				   stride_of(c->n_nodes, draw & UINT32_MAX), a);
		break;
	case FIT_PLACE_EMPTIEST:
	default:
		return fit_cluster_take_type(c, type, gpus, a);
	}
	if (rc == FIT_END && kind == FIT_PLACE_CONSOLIDATE_FIRST)
		return fit_cluster_take_type(c, type, gpus, a);
	rc = rc ? rc : fit_cluster_take_shares(c, a);
	if (rc) {
		a->n = 0;
		a->gpus = 0;
	}
	return rc;
}

int fit_placement_take_type(struct fit_cluster *c, enum fit_placement_kind kind, int32_t type, int64_t gpus,
			    uint64_t draw, struct fit_alloc *a)
{
	int rc = FIT_END;

	for (int32_t i = 0; i < c->n_types && rc == FIT_END; i++)
		if (type == FIT_ANY_TYPE || type == i)
			rc = take_of(c, kind, i, gpus, draw, a);
	return rc;
}

int fit_placement_take(struct fit_cluster *c, enum fit_placement_kind kind, int64_t gpus, uint64_t draw,
		       struct fit_alloc *a)
{
	return fit_placement_take_type(c, kind, FIT_ANY_TYPE, gpus, draw, a);
}
