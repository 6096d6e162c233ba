/* SPDX-License-Identifier: MIT */
/*
 * What the rented nodes of each GPU type cost: the metric rented_cost_per_h, from the rows of the log and
 * the prices that a table of metrics says it was made with.
 */
#include <math.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

static struct verify_rent *rent_of(struct fit_verifier *v, uint16_t type)
{
	for (size_t i = 0; i < v->n_rents; i++)
		if (v->rents[i].type == type)
			return &v->rents[i];
	if (v->n_rents == VERIFY_POOLS)
		return NULL;
	v->rents[v->n_rents] = (struct verify_rent){ .type = type };
	return &v->rents[v->n_rents++];
}

void verify_rent_node(struct fit_verifier *v, size_t node, int64_t gpus)
{
	struct verify_rent *r = rent_of(v, v->node_type[node]);

	if (r)
		r->gpus += gpus;
}

void verify_rent_cluster(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_rents; i++)
		v->rents[i].gpus = 0;
	for (size_t i = 0; i < v->n_nodes; i++)
		verify_rent_node(v, i, v->autoscale == SCALE_NONE ? v->size[i] : 0);
}

void verify_rent_pass(struct fit_verifier *v, double s)
{
	for (size_t i = 0; i < v->n_rents; i++)
		v->rents[i].paid += (double)v->rents[i].gpus * s;
}

/* "TYPE=X"; the type is one of the cluster. */
static bool take_price(struct fit_verifier *v, const char *text)
{
	const char *eq = strchr(text, '=');
	double price;
	uint32_t type;

	if (!eq || fit_parse_double(fit_text_of(eq + 1), &price) || !(price > 0))
		return false;
	type = fit_index_get(&v->by_type, (struct fit_text){ text, (size_t)(eq - text) });
	for (size_t i = 0; i < v->n_rents; i++) {
		if (v->rents[i].type != type)
			continue;
		v->rents[i].price = price;
		return true;
	}
	return false;
}

const char *verify_rent_prices(struct fit_verifier *v, const struct fit_meta *m, bool *given)
{
	*given = false;
	for (size_t i = 0; i < v->n_rents; i++)
		v->rents[i].price = 1;
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->pairs[i].key, "gpu_price") != 0)
			continue;
		*given = true;
		if (!take_price(v, m->pairs[i].value))
			return m->pairs[i].value;
	}
	return NULL;
}

double verify_rent_per_h(const struct fit_verifier *v, double window_s)
{
	double sum = 0;

	for (size_t i = 0; i < v->n_rents; i++)
		sum += v->rents[i].price * v->rents[i].paid;
	return window_s > 0 ? sum / window_s : (double)NAN;
}
