/* SPDX-License-Identifier: MIT */
#include "libfit/replay/pollux_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/gpu_types.h"
#include "libfit/base/text.h"

void fit_pollux_nodes_release(struct fit_pollux_nodes *k)
{
	for (size_t j = 0; j < k->n_rows; j++)
		free(k->rows[j]);
	free(k->rows);
	free(k->node);
	free(k->capacity);
	free(k->column);
	*k = (struct fit_pollux_nodes){ 0 };
}

/* GPUs of the smallest node. */
static int32_t least_node(const struct fit_cluster *c)
{
	int32_t least = FIT_NODE_GPUS_MAX;

	for (int32_t m = 0; m < c->n_nodes; m++)
		least = c->gpus[m] < least ? c->gpus[m] : least;
	return least;
}

static int add_columns(struct fit_pollux_nodes *k, int32_t node, int32_t gpus, int32_t each)
{
	size_t n = (size_t)((gpus + each - 1) / each);

	if (fit_grow(&k->node, &k->node_cap, k->n + n, sizeof *k->node) ||
	    fit_grow(&k->capacity, &k->capacity_cap, k->n + n, sizeof *k->capacity))
		return FIT_ENOMEM;
	k->column[node] = (int32_t)k->n;
	for (; gpus > 0; gpus -= each) {
		k->node[k->n] = node;
		k->capacity[k->n++] = (uint8_t)(gpus < each ? gpus : each);
	}
	return FIT_OK;
}

int fit_pollux_nodes_find(struct fit_pollux_nodes *k, const struct fit_view *v)
{
	const struct fit_cluster *c = v->cluster;
	const int32_t each = c->n_types > 1 ? least_node(c) : FIT_NODE_GPUS_MAX;
	int rc = fit_grow(&k->column, &k->column_cap, (size_t)c->n_nodes, sizeof *k->column);

	k->several = c->n_types > 1;
	if (!rc && k->several && !k->rows) {
		k->rows = calloc(v->n_jobs + 1, sizeof *k->rows);
		k->n_rows = v->n_jobs;
		rc = k->rows ? FIT_OK : FIT_ENOMEM;
	}
	k->n = 0;
	for (int32_t m = 0; m < c->n_nodes && !rc; m++)
		if (!c->closed[m])
			rc = add_columns(k, m, c->gpus[m], each);
	return rc;
}

bool fit_pollux_nodes_row(const struct fit_pollux_nodes *k, const struct fit_view *v, uint32_t j,
			  uint8_t *row)
{
	const struct fit_alloc *a;
	bool stays = true;

	memset(row, 0, k->n);
	if (k->several) {
		if (k->rows[j])
			memcpy(row, k->rows[j], k->n);
		return true;
	}
	a = fit_view_alloc(v, j);
	for (size_t i = 0; i < a->n; i++)
		stays = stays && !v->cluster->closed[a->shares[i].node];
	for (size_t i = 0; i < a->n && stays; i++)
		row[k->column[a->shares[i].node]] = (uint8_t)a->shares[i].gpus;
	return stays;
}

/* Place of a type in the fidelity profile's list; behind it: all others. */
static int place_of(const struct fit_fidelity *f, const char *type)
{
	int n = 0;

	for (; f->pollux_type_order && f->pollux_type_order[n]; n++)
		if (strcmp(f->pollux_type_order[n], type) == 0)
			break;
	return n;
}

/* Is type a to be kept rather than b, where a job has as many GPUs of both? */
static bool better_type(const struct fit_view *v, uint32_t j, int32_t a, int32_t b)
{
	struct fit_app *const *apps = v->jobs[j].apps;
	const struct fit_gpu_type *types = v->cluster->types;
	int pa = place_of(v->fidelity, types[a].name), pb = place_of(v->fidelity, types[b].name);

	return pa != pb ? pa < pb : fit_app_one_gpu(apps[a], false) > fit_app_one_gpu(apps[b], false);
}

void fit_pollux_nodes_one_type(const struct fit_pollux_nodes *k, const struct fit_view *v, uint32_t j,
			       uint8_t *row)
{
	const struct fit_cluster *c = v->cluster;
	int64_t of[FIT_GPU_TYPES_MAX] = { 0 };
	int32_t best = 0;

	for (size_t i = 0; i < k->n; i++)
		of[c->type[k->node[i]]] += row[i];
	for (int32_t t = 1; t < c->n_types; t++)
		if (of[t] > of[best] || (of[t] && of[t] == of[best] && better_type(v, j, t, best)))
			best = t;
	for (size_t i = 0; i < k->n; i++)
		if (c->type[k->node[i]] != best)
			row[i] = 0;
}

int fit_pollux_nodes_keep(struct fit_pollux_nodes *k, uint32_t j, const uint8_t *row)
{
	if (!k->several)
		return FIT_OK;
	if (!row) {
		free(k->rows[j]);
		k->rows[j] = NULL;
		return FIT_OK;
	}
	if (!k->rows[j])
		k->rows[j] = malloc(k->n);
	if (!k->rows[j])
		return FIT_ENOMEM;
	memcpy(k->rows[j], row, k->n);
	return FIT_OK;
}

size_t fit_pollux_nodes_shares(const struct fit_pollux_nodes *k, const uint8_t *row,
			       struct fit_share *shares)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (row[i] && n && shares[n - 1].node == k->node[i])
			shares[n - 1].gpus += row[i];
		else if (row[i])
			shares[n++] = (struct fit_share){ k->node[i], row[i] };
	}
	return n;
}

int64_t fit_pollux_nodes_most(const struct fit_cluster *c)
{
	int64_t most = c->n_open;

	for (int32_t t = 0; t < c->n_types && c->n_types > 1; t++) {
		const struct fit_gpu_type_info *info = fit_gpu_type_find(fit_text_of(c->types[t].name));
		int64_t gpus = c->types[t].n_open;

		if (info && info->profiled_nodes * c->types[t].max_node_gpus < gpus)
			gpus = info->profiled_nodes * c->types[t].max_node_gpus;
		most = gpus < most ? gpus : most;
	}
	return most;
}
