/* SPDX-License-Identifier: MIT */
/* gf-lucid pack: what a packing rule chooses of the measured pairs. */
#ifndef TOOLS_LUCID_PACK_H
#define TOOLS_LUCID_PACK_H

#include "tools/common/cli.h"

struct lucid_pack_options {
	const char *configs;
	int rule;		/* enum fit_packing_rule */
	double free_speed;
	bool worst, pairs_out;
};

extern const struct cli_option lucid_pack_options[];
void lucid_pack_defaults(void *given);
int lucid_pack(struct cli *cli, void *given);	/* given: struct lucid_pack_options; the exit status */

#endif
