/* SPDX-License-Identifier: MIT */
/*
 * The two jobs of gf-prof that are no row-by-row import: profiles of the Pollux simulator, and summaries
 * of a series. Both return an exit status, as run() of a tool.
 */
#ifndef TOOLS_PROF_PARTS_H
#define TOOLS_PROF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"

/* The options of gf-prof summarize. */
struct prof_summary {
	const char *jobs;
	int by;			/* -1: not given */
	int64_t slack_ns, period_ns, offset_ns;
	double steady, idle;
	bool has_offset;
	const char *offset;
};
extern const struct cli_option prof_summarize_options[];

/* The operand is a folder; max_local has APP=N. */
int prof_pollux(struct cli *cli, const struct cli_list *max_local, const char *gpu_type);
int prof_summarize(struct cli *cli, void *given);

/* All of them, to -o or standard output. */
int prof_write_tables(const struct cli *cli, const struct fit_table *t, size_t n,
		      struct fit_err *err) FIT_MUST_CHECK;

#endif
