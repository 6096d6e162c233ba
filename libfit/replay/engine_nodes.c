/* SPDX-License-Identifier: MIT */
/* Elastic clusters: between the autoscaling rule and the provisioner of each part. */
#include "libfit/replay/engine_state.h"

int fit_engine_want_nodes(struct fit_engine *g, struct fit_part *p, int64_t nodes, struct fit_err *err)
{
	bool ready;
	int rc = fit_provision_want(&p->prov, g->now_ns, nodes, &ready, err);

	p->news = p->news || ready;
	return rc;
}

struct fit_scaling fit_engine_scaling_of(struct fit_engine *g, struct fit_part *p)
{
	return (struct fit_scaling){
		.view = fit_engine_view_of(g, p),
		.policy = g->p->policy,
		.policy_state = p->policy_state,
		.provisioner = &p->prov,
		.params = &g->p->autoscale_params,
	};
}

int fit_engine_scale(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	struct fit_scaling s = fit_engine_scaling_of(g, p);
	int64_t nodes = 0;
	int rc;

	if (!g->p->autoscaler)
		return FIT_OK;
	rc = p->active_n == p->active_holes ? FIT_OK : g->p->autoscaler->want(p->scaler_state, &s, &nodes, err);
	return rc ? rc : fit_engine_want_nodes(g, p, nodes, err);
}

struct fit_part *fit_engine_starting_part(struct fit_engine *g)
{
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++)
		if (fit_provision_ready_ns(&g->parts[i].prov) <= g->now_ns)
			return &g->parts[i];
	return NULL;
}

int fit_engine_start_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	bool ready;
	int rc = fit_provision_start(&p->prov, g->now_ns, &ready, err);

	p->news = p->news || ready;
	return rc;
}

int fit_engine_settle_nodes(struct fit_engine *g, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; g->p->autoscaler && i < g->n_parts && !rc; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->active_n == p->active_holes)
			rc = fit_engine_want_nodes(g, p, 0, err);
		rc = rc ? rc : fit_provision_settle(&p->prov, g->now_ns, err);
	}
	return rc;
}

int64_t fit_engine_next_node_ns(const struct fit_engine *g, bool *more)
{
	int64_t next = INT64_MAX;

	*more = false;
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++) {
		const struct fit_provisioner *v = &g->parts[i].prov;

		next = v->next_ns < next ? v->next_ns : next;
		*more = *more || v->n_rented > v->wanted;
	}
	return next;
}
