/* SPDX-License-Identifier: MIT */
#include "libfit/replay/autoscale.h"

#include <stddef.h>

/* ---- as the policy says ---- */

static int plan_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	return s->policy->want_nodes(s->policy_state, s->view, s->provisioner, nodes, err);
}

static const struct fit_autoscaler by_plan = {
	.name = "plan",
	.summary = "what the policy's plan needs",
	.needs = FIT_SCALES_PLAN | FIT_SCALES_TYPES,
	.want = plan_want,
};

/* ---- all that is asked for ---- */

static int demand_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	size_t n;
	const uint32_t *active = fit_view_active(s->view, &n);
	int64_t gpus = 0;

	(void)state;
	(void)err;
	for (size_t i = 0; i < n; i++)
		gpus += s->view->jobs[active[i]].gpus;
	*nodes = fit_provision_nodes_for(s->provisioner, gpus);
	return FIT_OK;
}

static const struct fit_autoscaler by_demand = {
	.name = "demand",
	.summary = "all GPUs that jobs in the system ask for",
	.want = demand_want,
};

const struct fit_autoscaler *const fit_autoscalers[] = {
	&by_plan, &by_demand, &fit_autoscale_goodput, &fit_autoscale_throughput, &fit_autoscale_utilisation,
	&fit_autoscale_pollux, &fit_autoscale_rubick, &fit_autoscale_sia, NULL
};
