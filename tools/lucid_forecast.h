/* SPDX-License-Identifier: MIT */
/* gf-lucid forecast: how many jobs and GPUs will be submitted in each bin, known an hour ahead. */
#ifndef TOOLS_LUCID_FORECAST_H
#define TOOLS_LUCID_FORECAST_H

#include "tools/common/cli.h"

extern const char *const lucid_forecast_losses[];	/* ends with NULL */
extern const char *const lucid_forecast_outputs[];

struct lucid_forecast_options {
	int loss, output;
	int64_t from_ns, bags;
};

extern const struct cli_option lucid_forecast_options[];
void lucid_forecast_defaults(void *given);
int lucid_forecast(struct cli *cli, void *given);	/* given: struct lucid_forecast_options; the exit status */

#endif
