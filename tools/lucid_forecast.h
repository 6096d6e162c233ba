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

int lucid_forecast(struct cli *cli, const struct lucid_forecast_options *o);	/* the exit status */

#endif
