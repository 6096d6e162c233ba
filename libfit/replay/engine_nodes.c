/* SPDX-License-Identifier: MIT */
/*
 * Elastic clusters: between the autoscaling rule and the provisioners of each part, one, or one for each GPU
 * type where the rule knows types.
 */
#include <stdlib.h>

#include "libfit/replay/engine_state.h"

int fit_engine_open_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	struct fit_provision_params pp = g->p->provision;
	const bool by_type = g->p->autoscaler->needs & FIT_SCALES_TYPES;
	const size_t n = by_type ? (size_t)p->cluster->n_types : 1;
	int rc = FIT_OK;

	pp.drains = g->p->policy->needs & FIT_DRAINS;
	p->prov = calloc(n, sizeof *p->prov);
	if (!p->prov)
		return fit_fail_nomem(err);
	for (p->n_prov = 0; p->n_prov < n && !rc; p->n_prov++) {
		struct fit_provisioner *v = &p->prov[p->n_prov];

		rc = fit_provision_init(v, p->cluster, by_type ? (int32_t)p->n_prov : FIT_ANY_TYPE, &pp, err);
		v->event = fit_engine_log_node;
		v->arg = p;
	}
	return rc;
}

void fit_engine_close_nodes(struct fit_part *p)
{
	for (size_t i = 0; i < p->n_prov; i++)
		fit_provision_release(&p->prov[i]);
	free(p->prov);
	p->prov = NULL;
	p->n_prov = 0;
}

static int want(struct fit_engine *g, struct fit_part *p, struct fit_provisioner *v, int64_t nodes,
		struct fit_err *err)
{
	bool ready;
	int rc = fit_provision_want(v, g->now_ns, nodes, &ready, err);

	p->news = p->news || ready;
	return rc;
}

int fit_engine_want_nodes(struct fit_engine *g, struct fit_part *p, int64_t nodes, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_prov && !rc; i++)
		rc = want(g, p, &p->prov[i], nodes, err);
	return rc;
}

int fit_engine_scale_as_planned(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_prov && (g->p->autoscaler->needs & FIT_SCALES_PLAN) && !rc; i++)
		if (g->plan.want_nodes[i] >= 0)
			rc = want(g, p, &p->prov[i], g->plan.want_nodes[i], err);
	return rc;
}

struct fit_scaling fit_engine_scaling_of(struct fit_engine *g, struct fit_part *p)
{
	return (struct fit_scaling){
		.view = fit_engine_view_of(g, p),
		.policy = g->p->policy,
		.policy_state = p->policy_state,
		.provisioner = p->prov,
		.params = &g->p->autoscale_params,
	};
}

int fit_engine_scale(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	struct fit_scaling s;
	int rc = FIT_OK;

	if (!g->p->autoscaler)
		return FIT_OK;
	s = fit_engine_scaling_of(g, p);
	for (size_t i = 0; i < p->n_prov && !rc; i++) {
		int64_t nodes = 0;

		s.provisioner = &p->prov[i];
		rc = p->active_n == p->active_holes ? FIT_OK : g->p->autoscaler->want(p->scaler_state, &s, &nodes, err);
		rc = rc ? rc : want(g, p, &p->prov[i], nodes, err);
	}
	return rc;
}

/* The first node that is up. */
static int64_t ready_ns(const struct fit_part *p)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < p->n_prov; i++)
		if (fit_provision_ready_ns(&p->prov[i]) < first)
			first = fit_provision_ready_ns(&p->prov[i]);
	return first;
}

struct fit_part *fit_engine_starting_part(struct fit_engine *g)
{
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++)
		if (ready_ns(&g->parts[i]) <= g->now_ns)
			return &g->parts[i];
	return NULL;
}

int fit_engine_start_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_prov && !rc; i++) {
		bool ready = false;

		if (fit_provision_ready_ns(&p->prov[i]) <= g->now_ns)
			rc = fit_provision_start(&p->prov[i], g->now_ns, &ready, err);
		p->news = p->news || ready;
	}
	return rc;
}

int fit_engine_settle_nodes(struct fit_engine *g, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; g->p->autoscaler && i < g->n_parts && !rc; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->active_n == p->active_holes)
			rc = fit_engine_want_nodes(g, p, 0, err);
		for (size_t k = 0; k < p->n_prov && !rc; k++)
			rc = fit_provision_settle(&p->prov[k], g->now_ns, err);
	}
	return rc;
}

int64_t fit_engine_part_node_ns(const struct fit_part *p)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < p->n_prov; i++)
		next = p->prov[i].next_ns < next ? p->prov[i].next_ns : next;
	return next;
}

bool fit_engine_warm_nodes(struct fit_part *p, const struct fit_alloc *a)
{
	bool cold = false;

	for (size_t i = 0; i < p->n_prov; i++)
		cold = fit_provision_warm(&p->prov[i], a) || cold;
	return cold;
}

int64_t fit_engine_next_node_ns(const struct fit_engine *g, bool *more)
{
	int64_t next = INT64_MAX;

	*more = false;
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++) {
		const struct fit_part *p = &g->parts[i];
		int64_t at = fit_engine_part_node_ns(p);

		next = at < next ? at : next;
		for (size_t k = 0; k < p->n_prov; k++)
			*more = *more || p->prov[k].n_rented > p->prov[k].wanted;
	}
	return next;
}
