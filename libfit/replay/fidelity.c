/* SPDX-License-Identifier: MIT */
#include "libfit/replay/fidelity.h"

#include <stddef.h>

#include "libfit/base/num.h"

const struct fit_fidelity fit_fidelities[] = {
	{ .name = "none", .source = "goodfit's own conventions" },
	{
		.name = "pollux-osdi21",
		.source = "simulator of Qiao et al., Pollux, OSDI'21 (branch osdi21-artifact)",
		.interval_ns = 60 * FIT_NS_PER_S,
		.needs_interval = true,
		.release_at_interval_end = true,
		.file_order = true,
		.epoch_quantum_ns = FIT_NS_PER_S,
		.optimus_whole_epochs = true,
		.optimus_single_gpu_accumulates = true,
		.optimus_node_gpus = 4,
		.pollux_search_defects = true,
		.pollux_fair_share_on_one_node = true,
	},
	{ .name = NULL }
};
