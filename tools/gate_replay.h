/* SPDX-License-Identifier: MIT */
/*
 * Two replays of the same jobs for gf-gate: what is true is the same, what is believed is the model in one
 * and the incumbent in the other.
 */
#ifndef TOOLS_GATE_REPLAY_H
#define TOOLS_GATE_REPLAY_H

#include "tools/common/cli.h"
#include "tools/replay_inputs.h"

struct gate_replay_options {
	const char *jobs;		/* operand; NULL: no replays */
	const char *policy, *fidelity;
	int64_t interval_ns;		/* -1: the fidelity's */
	struct replay_input_options in;	/* all but what is believed */
};

/* Check the options: 0, or an exit status. */
int gate_replay_check(struct cli *cli, const struct gate_replay_options *o);
/* Replay with what `model` says, and make the table of its jobs (fit_gate_job_fields). Adds the content
 * hashes of the inputs to meta, unless that is NULL. FIT_EINVAL: the command line. */
int gate_replay(const struct cli *cli, const struct gate_replay_options *o, const char *model,
		struct fit_table *jobs, struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;

#endif
