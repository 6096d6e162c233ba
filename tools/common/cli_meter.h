/* SPDX-License-Identifier: MIT */
/*
 * The progress meter: once a tool has worked for two seconds, one line on standard error that says
 * what is done, how fast, and how long it will take, drawn anew four times a second and wiped out
 * before anything else is written there. Only where standard error is a terminal and standard output
 * is none, and not with -q.
 */
#ifndef TOOLS_COMMON_CLI_METER_H
#define TOOLS_COMMON_CLI_METER_H

#include "tools/common/cli.h"

void cli_meter_start(const struct cli *cli);
void cli_meter_wipe(void);	/* nothing happens where there is none */

#endif
