/* SPDX-License-Identifier: MIT */
/* gf-lucid estimate: how long jobs will take, by a model that is trained anew each week on what has ended. */
#ifndef TOOLS_LUCID_ESTIMATE_H
#define TOOLS_LUCID_ESTIMATE_H

#include "tools/common/cli.h"

extern const char *const lucid_estimate_losses[];	/* ends with NULL */
extern const char *const lucid_estimate_outputs[];

struct lucid_estimate_options {
	int loss, output;
	int64_t update_ns, first_ns;
	int64_t bags, pairs, least;
	int64_t updates;		/* models at most; 0: no limit */
	double name_distance, correction;
};

extern const struct cli_option lucid_estimate_options[];
void lucid_estimate_defaults(void *given);
int lucid_estimate(struct cli *cli, void *given);	/* given: struct lucid_estimate_options; the exit status */

#endif
