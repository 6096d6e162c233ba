/* SPDX-License-Identifier: MIT */
/*
 * Tables that policies fill beside the event log of gf-replay: --fitness, the fitness of each decision of
 * Pollux; --shares, the shares that the policies of Gavel compute.
 */
#ifndef TOOLS_REPLAY_SIDE_H
#define TOOLS_REPLAY_SIDE_H

#include "libfit/replay/engine.h"
#include "tools/common/cli.h"

/* Zero-initialise. */
struct replay_side {
	struct fit_writer *w;	/* NULL: not asked for */
	struct fit_err err;	/* the first fault; it sticks */
};

/* Begin the table in file (NULL: none); the policy then writes to s, which outlives the replay. */
int replay_fitness_open(struct replay_side *s, const struct cli *cli, const char *file,
			struct fit_policy_params *p, struct fit_err *err) FIT_MUST_CHECK;
int replay_shares_open(struct replay_side *s, const struct cli *cli, const char *file,
		       struct fit_policy_params *p, struct fit_err *err) FIT_MUST_CHECK;
/* After the replay, which came to rc: end the table, or leave nothing of it. Returns rc, or what failed. */
int replay_side_close(struct replay_side *s, int rc, struct fit_err *err) FIT_MUST_CHECK;

#endif
