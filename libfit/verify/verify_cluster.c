/* SPDX-License-Identifier: MIT */
/* The cluster: what its specification says, what is booked on its nodes, and what is free. */
#include <stdlib.h>

#include "libfit/base/gpu_types.h"
#include "libfit/verify/verify_state.h"

#define NODES_MAX 10000000

/* ---- what is booked ---- */

static void tree_set(struct fit_verifier *v, size_t node, int64_t free_gpus)
{
	size_t i = v->tree_n + node;

	v->tree[i] = free_gpus;
	for (i /= 2; i >= 1; i /= 2)
		v->tree[i] =
			v->tree[2 * i] > v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
}

void verify_tree_add(struct fit_verifier *v, size_t node, int64_t gpus)
{
	tree_set(v, node, v->tree[v->tree_n + node] + gpus);
}

int64_t verify_tree_next(const struct fit_verifier *v, int64_t from, int64_t gpus)
{
	size_t i = v->tree_n + (size_t)from;

	if (!v->tree || from < 0 || (size_t)from >= v->n_nodes)
		return -1;
	while (v->tree[i] < gpus) { /* up to a subtree behind it that has one */
		while (i & 1)
			i /= 2;
		if (i == 0)
			return -1;
		i++;
	}
	while (i < v->tree_n)
		i = v->tree[2 * i] >= gpus ? 2 * i : 2 * i + 1;
	return (int64_t)(i - v->tree_n);
}

void verify_book(struct fit_verifier *v, int32_t node, int64_t gpus)
{
	if (node < 0 || (size_t)node >= v->n_nodes)
		return;
	v->booked[node] += gpus;
	v->total_booked += gpus;
	tree_set(v, (size_t)node, v->size[node] - v->booked[node]);
}

void verify_resize_node(struct fit_verifier *v, size_t node, int64_t gpus)
{
	v->total += gpus - v->size[node];
	v->size[node] = gpus;
	tree_set(v, node, gpus - v->booked[node]);
}

/* ---- the specification ---- */

/* "16x4" or "6x4,2x8"; a part may carry a name ("aws:6x4"). Returns false when it is neither. */
static bool parse_part(struct fit_text t, struct fit_text *name, int64_t *n, int64_t *gpus)
{
	size_t colon = 0, x = 0;

	for (size_t i = 0; i < t.n; i++)
		if (t.s[i] == ':')
			colon = i + 1;
	*name = (struct fit_text){ t.s, colon ? colon - 1 : 0 };
	t = (struct fit_text){ t.s + colon, t.n - colon };
	while (x < t.n && t.s[x] != 'x')
		x++;
	return x < t.n && !fit_parse_int64((struct fit_text){ t.s, x }, n) &&
	       !fit_parse_int64((struct fit_text){ t.s + x + 1, t.n - x - 1 }, gpus) && *n > 0 &&
	       *gpus > 0 && *n <= NODES_MAX && *gpus <= 1000000;
}

/* The part of spec that starts at *at, and where the next one does. */
static struct fit_text next_part(struct fit_text spec, size_t *at)
{
	size_t from = *at, to = from;

	while (to < spec.n && spec.s[to] != ',')
		to++;
	*at = to + 1;
	return (struct fit_text){ spec.s + from, to - from };
}

bool verify_measure_cluster(struct fit_text spec, size_t *n_nodes, int64_t *total)
{
	struct fit_text name;
	int64_t n, gpus;

	*n_nodes = 0;
	*total = 0;
	for (size_t at = 0; at <= spec.n;) {
		if (!parse_part(next_part(spec, &at), &name, &n, &gpus) ||
		    *n_nodes + (size_t)n > NODES_MAX)
			return false;
		*n_nodes += (size_t)n;
		*total += n * gpus;
	}
	return true;
}

static int rebuild_tree(struct fit_verifier *v)
{
	for (v->tree_n = 1; v->tree_n < v->n_nodes; v->tree_n *= 2)
		;
	free(v->tree);
	v->tree = calloc(2 * v->tree_n, sizeof *v->tree);
	if (!v->tree)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->tree_n; i++)
		v->tree[v->tree_n + i] = i < v->n_nodes ? v->size[i] - v->booked[i] : INT64_MIN / 2;
	for (size_t i = v->tree_n - 1; i >= 1; i--)
		v->tree[i] =
			v->tree[2 * i] > v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
	return FIT_OK;
}

static void note_type(struct fit_verifier *v, struct fit_text name, uint16_t type)
{
	const struct fit_gpu_type_info *info = fit_gpu_type_find(name);

	v->type_profile[type] = fit_profile_set_find(&v->apps_by_type, name);
	v->type_nodes[type] = info ? info->profiled_nodes : 0;
}

int verify_set_cluster(struct fit_verifier *v, struct fit_text spec)
{
	size_t cap_size = v->cap_nodes, cap_booked = cap_size, cap_type = cap_size;
	size_t n_new, at = 0, node = 0;
	int64_t total, n, gpus;
	struct fit_text name;
	uint16_t type;

	if (!verify_measure_cluster(spec, &n_new, &total))
		return FIT_OK;
	if (fit_grow(&v->size, &cap_size, n_new, sizeof *v->size) ||
	    fit_grow(&v->booked, &cap_booked, n_new, sizeof *v->booked) ||
	    fit_grow(&v->node_type, &cap_type, n_new, sizeof *v->node_type))
		return FIT_ENOMEM;
	v->cap_nodes = cap_size;
	for (size_t i = v->n_nodes; i < n_new; i++)
		v->booked[i] = 0;
	for (size_t i = n_new; i < v->n_nodes; i++)
		v->total_booked -= v->booked[i];
	v->n_nodes = n_new;
	v->total = v->most = v->rented = total;
	v->gpus_per_node = 0;
	while (at <= spec.n && parse_part(next_part(spec, &at), &name, &n, &gpus)) {
		if (verify_type_number(v, name, &type))
			return FIT_ENOMEM;
		if (type <= UINT8_MAX)
			note_type(v, name, type);
		for (int64_t k = 0; k < n; k++) {
			v->node_type[node] = type;
			v->size[node++] = gpus;
		}
		if (gpus > v->gpus_per_node)
			v->gpus_per_node = gpus;
	}
	return rebuild_tree(v);
}
