/* SPDX-License-Identifier: MIT */
/*
 * A progress meter on standard error: how much is done, how fast, how long the rest may take. It shows
 * after two seconds of work, and only on a terminal.
 */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
	const char *tool, *what;	/* "rows" */
	uint64_t total;
	int64_t start_ns, last_ns;	/* of a clock that only goes forward */
	bool on, shown;
};

void cli_progress_start(struct cli_progress *p, const char *tool, const char *what, uint64_t total,
			bool quiet);
void cli_progress_show(struct cli_progress *p, uint64_t done);
void cli_progress_end(struct cli_progress *p);	/* wipes the line */

#endif
