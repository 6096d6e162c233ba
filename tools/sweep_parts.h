/* SPDX-License-Identifier: MIT */
/* The verbs of gf-sweep. Each reads the plan that its operand names and returns an exit status. */
#ifndef TOOLS_SWEEP_PARTS_H
#define TOOLS_SWEEP_PARTS_H

#include "tools/common/cli.h"

struct sweep_options {
	/* plan */
	struct cli_list axes, prepare;
	const char *grid, *metrics, *folder;
	/* run, status */
	const char *rows;
	int64_t jobs;		/* 0: as many as there are processors */
	int64_t retries;
	bool keep_logs, fresh, each, strict;
	/* reduce */
	const char *metric;
	bool partial;
};

int sweep_verb_plan(struct cli *cli, void *given);
int sweep_verb_run(struct cli *cli, void *given);
int sweep_verb_status(struct cli *cli, void *given);
int sweep_verb_reduce(struct cli *cli, void *given);

#endif
