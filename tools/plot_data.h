/* SPDX-License-Identifier: MIT */
/*
 * What gf-plot draws, read from its operands. given has the legend texts of --label; an operand without
 * one gets a label of its own.
 */
#ifndef TOOLS_PLOT_DATA_H
#define TOOLS_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/trace_stats.h"
#include "libfit/plot/figure.h"
#include "libfit/plot/frame.h"
#include "tools/common/cli.h"

/* Operand i of an event log: completion times, sorted (free() them), and its label. labels[0] to
 * labels[i - 1] are those of the operands before. FIT_EDATA: no job is finished. */
int plot_read_jcts(struct cli *cli, const struct cli_list *given, int i, struct fit_str *labels,
		   double **jct_s, size_t *n, struct fit_err *err) FIT_MUST_CHECK;
/* Operand i, a jobs table: the quantity, sorted (free() it). FIT_EDATA: no job has it. */
int plot_read_values(struct cli *cli, enum fit_trace_of of, const struct cli_list *given, int i,
		     struct fit_str *labels, double **values, size_t *n, struct fit_err *err) FIT_MUST_CHECK;
/* Operand i, a jobs table: submissions by hour of day. day->label points into label. */
int plot_read_day(struct cli *cli, const struct cli_list *given, int i, struct fit_str *label,
		  struct fit_figure_day *day, struct fit_err *err) FIT_MUST_CHECK;
/* The columns of a table, or of CSV. FIT_EDATA: no rows. */
int plot_read_frame(struct fit_frame *f, const char *operand, bool csv, struct fit_err *err) FIT_MUST_CHECK;

/* For fit_metrics_read(): the state of the cluster after each instant of a log; free() at. */
struct plot_moments {
	struct fit_figure_moment *at;
	size_t n, cap;
};
int plot_watch(void *arg, const struct fit_metrics *m, struct fit_err *err) FIT_MUST_CHECK;

#endif
