/* SPDX-License-Identifier: MIT */
#include "libfit/replay/policy.h"

#include <stddef.h>

const struct fit_policy *const fit_policies[] = {
	&fit_policy_fifo, &fit_policy_sjf, &fit_policy_qssf, &fit_policy_srtf, &fit_policy_tiresias,
	&fit_policy_optimus, &fit_policy_pollux, &fit_policy_boa, NULL
};

struct fit_policy_params fit_policy_params_default(void)
{
	return (struct fit_policy_params){ .tiresias_threshold_gpu_s = 57600, .pollux_power = -1, .seed = 1 };
}
