/* SPDX-License-Identifier: MIT */
/* The replay itself, when all that it takes is known: the jobs in, the log and its side tables out. */
#ifndef TOOLS_REPLAY_RUN_H
#define TOOLS_REPLAY_RUN_H

#include "tools/replay_inputs.h"

struct replay_run_options {
	bool sorted;			/* the jobs are, and are read as they come */
	bool skip_too_large;
	int64_t skip_bad;
	const char *fitness, *shares;	/* files of side tables; NULL: none */
};

/* Returns the exit status. */
int replay_run(struct cli *cli, const struct replay_run_options *o, struct fit_replay_params *p,
	       struct replay_inputs *in);

#endif
