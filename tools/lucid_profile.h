/* SPDX-License-Identifier: MIT */
/* gf-lucid profile: which jobs end on a profiler, and how long they wait for it. */
#ifndef TOOLS_LUCID_PROFILE_H
#define TOOLS_LUCID_PROFILE_H

#include "tools/common/cli.h"

struct lucid_profile_options {
	int64_t nodes, node_gpus, limit_ns, most_gpus, skip_bad;
	bool naive;
	const char *forecast;
	struct cli_list sweep;
};

extern const struct cli_option lucid_profile_options[];
void lucid_profile_defaults(void *given);	/* given: struct lucid_profile_options */
int lucid_profile(struct cli *cli, void *given);	/* the exit status */

#endif
