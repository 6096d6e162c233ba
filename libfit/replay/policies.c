/* SPDX-License-Identifier: MIT */
#include "libfit/replay/policy.h"

#include <stddef.h>
#include <string.h>

const struct fit_policy *const fit_policies[] = {
	&fit_policy_fifo, &fit_policy_fjf, &fit_policy_sjf, &fit_policy_qssf, &fit_policy_srtf,
	&fit_policy_shortest, &fit_policy_shortest_gpu, &fit_policy_smallest, &fit_policy_tiresias,
	&fit_policy_tiresias_g, &fit_policy_gittins,
	&fit_policy_optimus, &fit_policy_pollux, &fit_policy_boa, &fit_policy_lucid, &fit_policy_horus,
	&fit_policy_gavel_fifo, &fit_policy_gavel_isolated, &fit_policy_gavel_fairness, &fit_policy_gavel_agnostic,
	&fit_policy_gavel_makespan, &fit_policy_gavel_finish, &fit_policy_gavel_throughput, &fit_policy_rubick,
	&fit_policy_sia, &fit_policy_follow, NULL
};

struct fit_policy_params fit_policy_params_default(void)
{
	return (struct fit_policy_params){ .queues = { .limit_s = { 3250, 7200 }, .n_limits = 2 },
					    .pollux_power = -1, .seed = 1,
					    .sia_power = -0.5, .sia_lambda = 1.1,
					    .pack = true, .estimate = true, .pack_score = 2, .pack_util_pct = 100,
					    .gpu_mem_mib = 24576, .pack_gpus = 8,
					    .wide_wait_ns = -1, .forecast_jobs = 2 };
}

const struct fit_policy *fit_policy_named(const char *name)
{
	for (size_t i = 0; fit_policies[i]; i++)
		if (strcmp(fit_policies[i]->name, name) == 0)
			return fit_policies[i];
	return NULL;
}
