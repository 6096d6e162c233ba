/* SPDX-License-Identifier: MIT */
/*
 * Autoscaling rules: how many nodes an elastic cluster should have.
 *
 * A rule is asked right before each decision of the policy, which then sees the cluster with whatever
 * nodes are ready by that. A new rule is an entry of fit_autoscalers: it may keep a state, look at the
 * jobs through the view, and ask the policy for what only the policy can know (want_nodes,
 * efficiency in policy.h). The provisioner keeps its answer within the bounds, starts and returns
 * nodes.
 */
#ifndef FIT_REPLAY_AUTOSCALE_H
#define FIT_REPLAY_AUTOSCALE_H

#include "libfit/base/linkage.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/provision.h"

FIT_C_BEGIN

struct fit_autoscale_params {
	double target;		/* target efficiency; above 0, below 1 */
	double low, high;	/* utility between which a size stays as it is; 0 < low <= high <= 1 */
};

/* What a rule sees. */
struct fit_scaling {
	const struct fit_view *view;
	const struct fit_policy *policy;
	void *policy_state;
	const struct fit_provisioner *provisioner;	/* of the nodes that it is asked for */
	const struct fit_autoscale_params *params;
};

#define FIT_SCALES_PLAN 1u		/* the policy has to have want_nodes */
#define FIT_SCALES_EFFICIENCY 2u	/* the policy has to have efficiency */
#define FIT_SCALES_AGENTS 4u		/* jobs have to have agents (FIT_ADAPTIVE) */
#define FIT_SCALES_TYPES 16u		/* asked for each GPU type apart, of provisioner->type */
#define FIT_SCALES_EITHER 8u		/* with FIT_SCALES_AGENTS: or the policy has efficiency */

struct fit_autoscaler {
	const char *name;
	const char *summary;
	unsigned needs;
	/* NULL: no state. */
	int (*init)(void **state, const struct fit_scaling *s, struct fit_err *err);
	void (*free)(void *state);
	/* There are active jobs: *nodes, any number. */
	int (*want)(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err);
	/* Its parameters, for the log's metadata. NULL: it has none. */
	int (*describe)(const struct fit_autoscale_params *p, struct fit_meta *meta);
};

/* All rules; ends with NULL. */
extern const struct fit_autoscaler *const fit_autoscalers[];
extern const struct fit_autoscaler fit_autoscale_goodput, fit_autoscale_throughput, fit_autoscale_utilisation,
	fit_autoscale_pollux, fit_autoscale_rubick, fit_autoscale_sia;

FIT_C_END

#endif
