/* SPDX-License-Identifier: MIT */
#include "libfit/replay/sia_place.h"

#include <stdlib.h>
#include <string.h>

int fit_sia_placer_init(struct fit_sia_placer *p, const struct fit_cluster *c)
{
	*p = (struct fit_sia_placer){ .free = calloc((size_t)c->n_nodes, sizeof *p->free),
				      .kept = calloc((size_t)c->n_nodes, sizeof *p->kept) };
	return p->free && p->kept ? FIT_OK : FIT_ENOMEM;
}

void fit_sia_placer_release(struct fit_sia_placer *p)
{
	free(p->free);
	free(p->kept);
	free(p->order);
	free(p->shares);
	*p = (struct fit_sia_placer){ 0 };
}

static bool stays(const struct fit_view *v, uint32_t j, const struct fit_sia_config *c)
{
	return fit_view_gpus(v, j) == c->gpus && fit_view_type(v, j) == c->type;
}

/* The fullest node of a type with room for gpus; one where nobody would have to leave for it, if there is. */
static int32_t find_node(const struct fit_sia_placer *p, const struct fit_cluster *c, int32_t type,
			 int32_t gpus)
{
	int32_t best[2] = { -1, -1 };

	for (int32_t m = 0; m < c->n_nodes; m++) {
		int drives;

		if (c->type[m] != type || p->free[m] < gpus)
			continue;
		drives = p->free[m] - p->kept[m] < gpus;
		if (best[drives] < 0 || p->free[m] < p->free[best[drives]])
			best[drives] = m;
	}
	return best[0] >= 0 ? best[0] : best[1];
}

static int take(struct fit_sia_placer *p, int32_t node, int32_t gpus, size_t *n)
{
	if (fit_grow(&p->shares, &p->cap_shares, *n + 1, sizeof *p->shares))
		return FIT_ENOMEM;
	p->shares[(*n)++] = (struct fit_share){ node, gpus };
	p->free[node] -= gpus;
	return FIT_OK;
}

/* Nodes for c in p->shares, *n of them. */
static int choose(struct fit_sia_placer *p, const struct fit_cluster *c, const struct fit_sia_config *k,
		  size_t *n)
{
	const int32_t each = c->types[k->type].max_node_gpus;
	int32_t left = k->gpus;

	*n = 0;
	while (left > 0) {
		int32_t want = left < each ? left : each, node = find_node(p, c, k->type, want);

		while (node < 0 && want > 1)	/* an odd size has to be split */
			node = find_node(p, c, k->type, --want);
		if (node < 0)
			return FIT_EINVAL;
		if (take(p, node, want, n))
			return FIT_ENOMEM;
		left -= want;
	}
	return FIT_OK;
}

/* Its nodes of now, if nobody has taken them. */
static bool keep(struct fit_sia_placer *p, const struct fit_alloc *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (p->free[a->shares[i].node] < a->shares[i].gpus)
			return false;
	for (size_t i = 0; i < a->n; i++)
		p->free[a->shares[i].node] -= a->shares[i].gpus;
	return true;
}

/* i comes after k: fewer GPUs, or as many and it does not stay. */
static bool after(const struct fit_view *v, const struct fit_sia_configs *c, const uint32_t *active,
		  const int32_t *choice, uint32_t i, uint32_t k)
{
	const struct fit_sia_config *a = &c->c[choice[i]], *b = &c->c[choice[k]];

	if (a->gpus != b->gpus)
		return a->gpus < b->gpus;
	return !stays(v, active[i], a) && stays(v, active[k], b);
}

/* Those that get GPUs, in the order in which they are placed; *m of them. */
static int set_order(struct fit_sia_placer *p, const struct fit_view *v, const struct fit_sia_configs *k,
		     const uint32_t *active, const int32_t *choice, size_t n, size_t *m)
{
	*m = 0;
	if (fit_grow(&p->order, &p->cap_order, n, sizeof *p->order))
		return FIT_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t at;

		if (choice[i] < 0)
			continue;
		for (at = (*m)++; at && after(v, k, active, choice, p->order[at - 1], i); at--)
			p->order[at] = p->order[at - 1];
		p->order[at] = i;
	}
	return FIT_OK;
}

int fit_sia_place(struct fit_sia_placer *p, const struct fit_view *v, const struct fit_sia_configs *k,
		  const uint32_t *active, const int32_t *choice, size_t n, struct fit_plan *plan,
		  struct fit_err *err)
{
	const struct fit_cluster *c = v->cluster;
	size_t m;
	int rc;

	if (set_order(p, v, k, active, choice, n, &m))
		return fit_fail_nomem(err);
	for (int32_t node = 0; node < c->n_nodes; node++) {
		p->free[node] = c->closed[node] ? 0 : c->gpus[node];
		p->kept[node] = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct fit_alloc *a = fit_view_alloc(v, active[i]);

		if (choice[i] < 0 && a->n && fit_plan_grant(plan, active[i], 0))
			return fit_fail_nomem(err);
		for (size_t s = 0; choice[i] >= 0 && stays(v, active[i], &k->c[choice[i]]) && s < a->n; s++)
			p->kept[a->shares[s].node] += a->shares[s].gpus;
	}
	for (size_t i = 0; i < m; i++) {
		uint32_t j = active[p->order[i]];
		const struct fit_sia_config *config = &k->c[choice[p->order[i]]];
		const struct fit_alloc *a = fit_view_alloc(v, j);
		bool was_kept = stays(v, j, config);
		size_t n_shares = 0;

		for (size_t s = 0; was_kept && s < a->n; s++)
			p->kept[a->shares[s].node] -= a->shares[s].gpus;
		if (was_kept && keep(p, a))
			continue;
		rc = choose(p, c, config, &n_shares);
		if (rc == FIT_EINVAL)
			return fit_fail(err, FIT_EINVAL, "policy sia finds no nodes for %d GPUs of type '%s'",
					config->gpus, c->types[config->type].name);
		if (rc || fit_plan_place(plan, j, p->shares, n_shares))
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}
