/* SPDX-License-Identifier: MIT */
/* The verbs of gf-gavel that make its inputs out of application profiles. */
#ifndef TOOLS_GAVEL_PARTS_H
#define TOOLS_GAVEL_PARTS_H

#include "tools/common/cli.h"

struct gavel_profiles {
	const char *cluster, *fidelity;
	struct cli_list profiles;
};

/* gf-gavel rates: steps a second of what the jobs ask for. gf-gavel steps: the jobs, and their steps. */
int gavel_rates(struct cli *cli, const struct gavel_profiles *o);
int gavel_steps(struct cli *cli, const struct gavel_profiles *o);

#endif
