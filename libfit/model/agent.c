/* SPDX-License-Identifier: MIT */
#include "libfit/model/agent.h"

#include <stdlib.h>

#include "libfit/base/text.h"

void fit_agent_init(struct fit_agent *a, const struct fit_app_info *info, struct fit_throughput *w)
{
	*a = (struct fit_agent){
		.w = w,
		.model = {
			.init_batch = info->init_batch,
			.max_batch = info->max_batch,
			.min_local_bsz = info->min_local_bsz,
			.max_local_bsz = info->max_local_bsz,
			.max_accum = -1,
		},
		.version = 1,
	};
}

void fit_agent_release(struct fit_agent *a)
{
	free(a->obs);
	a->obs = NULL;
	a->n_obs = a->cap_obs = 0;
}

void fit_agent_seed(struct fit_agent *a, const struct fit_theta *theta, double sqr, double var)
{
	a->model.theta = *theta;
	a->seeded = true;
	a->version++;
	fit_agent_set_grad(a, sqr, var);
}

bool fit_agent_knows(const struct fit_agent *a)
{
	return a->seeded || a->n_obs;
}

int fit_agent_observe(struct fit_agent *a, int64_t nodes, int64_t replicas, int64_t local_bsz,
		      double step_s, double sync_s)
{
	if (a->seeded)
		return FIT_OK;
	for (size_t i = 0; i < a->n_obs; i++)
		if (a->obs[i].num_nodes == nodes && a->obs[i].num_replicas == replicas &&
		    a->obs[i].local_bsz == local_bsz)
			return FIT_OK;
	if (fit_grow(&a->obs, &a->cap_obs, a->n_obs + 1, sizeof *a->obs))
		return FIT_ENOMEM;
	a->obs[a->n_obs++] = (struct fit_throughput_obs){
		.num_nodes = nodes,
		.num_replicas = replicas,
		.local_bsz = local_bsz,
		.step_s = step_s,
		.sync_s = sync_s,
		.weight = 1,
	};
	if (replicas > a->max_replicas_seen)
		a->max_replicas_seen = replicas;
	a->stale = true;
	a->version++;
	return FIT_OK;
}

void fit_agent_set_grad(struct fit_agent *a, double sqr, double var)
{
	bool same = sqr >= a->model.grad_sqr && sqr <= a->model.grad_sqr && var >= a->model.grad_var &&
		    var <= a->model.grad_var;

	if (same)
		return;
	a->model.grad_sqr = sqr;
	a->model.grad_var = var;
	a->version++;
}

int fit_agent_refit(struct fit_agent *a, struct fit_err *err)
{
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	int rc;

	if (a->seeded)
		return FIT_OK;
	if (!a->n_obs)
		return fit_fail(err, FIT_EINVAL, "nothing was observed yet");
	if (!a->stale)
		return FIT_OK;
	if (a->loose_tol > 0) {
		rc = fit_throughput_fit_loose(a->w, a->obs, a->n_obs, a->loose_tol, &a->model.theta, err);
		a->stale = rc != FIT_OK;
		a->fits++;
		return rc;
	}
	if (a->fits)
		fit_throughput_params_warm(&p, &a->model.theta);
	else
		fit_throughput_params_default(&p);
	p.std_errors = false;
	rc = fit_throughput_fit(a->w, a->obs, a->n_obs, &p, &r, err);
	if (rc && rc != FIT_ENOCONV)
		return rc;
	a->model.theta = r.theta;
	a->stale = false;
	a->fits++;
	return FIT_OK;
}

int fit_agent_best(struct fit_agent *a, int64_t nodes, int64_t replicas,
		   struct fit_goodput_point *best, struct fit_err *err)
{
	size_t k = (size_t)(nodes * 31 + replicas) % (sizeof a->cache / sizeof *a->cache);
	struct fit_agent_best *c = &a->cache[k];
	int rc = fit_agent_refit(a, err);

	if (rc)
		return rc;
	if (c->version != a->version || c->nodes != nodes || c->replicas != replicas) {
		c->version = a->version;
		c->nodes = nodes;
		c->replicas = replicas;
		c->point = fit_goodput_best(&a->model, nodes, replicas);
	}
	*best = c->point;
	return FIT_OK;
}

int fit_agent_best_within(struct fit_agent *a, const struct fit_app_info *info, int64_t nodes,
			  int64_t replicas, struct fit_goodput_point *best, struct fit_err *err)
{
	struct fit_goodput within = a->model;
	int rc;

	within.max_batch = info->max_batch;
	within.min_local_bsz = info->min_local_bsz;
	within.max_local_bsz = info->max_local_bsz;
	if (within.max_batch == a->model.max_batch && within.min_local_bsz == a->model.min_local_bsz &&
	    within.max_local_bsz == a->model.max_local_bsz)
		return fit_agent_best(a, nodes, replicas, best, err);
	rc = fit_agent_refit(a, err);
	if (rc)
		return rc;
	within.theta = a->model.theta;
	*best = fit_goodput_best(&within, nodes, replicas);
	return FIT_OK;
}
