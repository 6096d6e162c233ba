/* SPDX-License-Identifier: MIT */
/* The figures of gf-plot: what is read, and which figure of libfit/plot it becomes. */
#ifndef TOOLS_PLOT_DRAW_H
#define TOOLS_PLOT_DRAW_H

#include "libfit/plot/figure.h"
#include "libfit/plot/gnuplot.h"
#include "libfit/plot/points.h"
#include "tools/common/cli.h"

struct plot_options {
	int format;			/* enum fit_plot_format, or N_FORMATS: by suffix */
	int of;				/* enum fit_trace_of */
	const char *title, *xlabel, *ylabel, *size;
	struct fit_figure_size wanted;
	bool log_x, log_y, csv;
	struct cli_list label, y, error;
	const char *x;
	struct fit_points_columns points;
	int64_t columns;
	const char *class;		/* shape, heatmap: of several classes */
};

typedef int plot_draw_fn(struct cli *cli, const struct plot_options *o, struct fit_plot *p,
			 struct fit_err *err);

/* From event logs and jobs tables. */
plot_draw_fn plot_draw_cdf;		/* jct-cdf and trace-cdf */
plot_draw_fn plot_draw_diurnal;
plot_draw_fn plot_draw_timeline;
/* From columns of any table. */
plot_draw_fn plot_draw_columns;		/* bars and lines */
plot_draw_fn plot_draw_panels;		/* and lines of one --y --by */
plot_draw_fn plot_draw_shape;		/* shape and heatmap */

#endif
