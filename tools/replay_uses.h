/* SPDX-License-Identifier: MIT */
/* Which options of gf-replay change something under which others. */
#ifndef TOOLS_REPLAY_USES_H
#define TOOLS_REPLAY_USES_H

#include <stdbool.h>

#include "libfit/replay/engine.h"
#include "tools/common/cli.h"

/* What of the command line it takes besides the policy and the autoscaling rule. */
struct replay_uses {
	bool speedups, budget, profiler;
};

/* Options that would be ignored are wrong usage. p has its policy and autoscaler. 0 or 2. */
int replay_uses_check(struct cli *cli, const struct fit_replay_params *p, struct replay_uses given);

#endif
