/* SPDX-License-Identifier: MIT */
/*
 * The kinds of figure: plain numbers in, a struct fit_plot out. Each function initialises *p (any size
 * already asked for is given as width and height, 0: the kind's own) and releases it on failure.
 * Axis labels come with units; the caller may replace them and set a title.
 */
#ifndef FIT_PLOT_FIGURE_H
#define FIT_PLOT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/plot/plot.h"
#include "libfit/plot/points.h"

FIT_C_BEGIN

struct fit_figure_size {
	int width, height;	/* CSS pixels; 0: the kind's own */
};

/* The unit in which a duration axis up to max_s seconds is easiest to read: s, min, h or d. */
struct fit_time_unit {
	const char *name;
	double seconds;
};
struct fit_time_unit fit_time_unit_for(double max_s);

/* ---- cumulative distributions of times ---- */

struct fit_figure_sample {
	const char *label;
	const double *sorted_s;	/* seconds, ascending, at least one */
	size_t n;
};

/* Fraction of values <= x, as steps. x in one unit for all, from 0; with log_x logarithmic, with
 * spelled-out times at its tics. Of a sample of more than FIT_FIGURE_CDF_MAX values the steps are
 * taken together, to at most that many. FIT_EDATA: no values, or one of 0 with log_x. */
#define FIT_FIGURE_CDF_MAX 4000
int fit_figure_cdf(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		   const struct fit_figure_sample *samples, size_t n, bool log_x,
		   struct fit_err *err) FIT_MUST_CHECK;

/* The same of any values: x_name is the axis label where they are not times. With log_x values of 0
 * lie left of the axis: a curve then starts at their share. FIT_EDATA: no values, or with log_x none
 * above 0. */
int fit_figure_distribution(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
			    bool times, const struct fit_figure_sample *samples, size_t n, bool log_x,
			    struct fit_err *err) FIT_MUST_CHECK;

/* ---- a day ---- */

struct fit_figure_day {
	const char *label;
	double y[24];		/* an hour of day each; fit_real_na(): missing */
};

/* Steps over the hours of a day, one curve an entry, from 0 up. */
int fit_figure_diurnal(struct fit_plot *p, struct fit_figure_size size, const char *y_name,
		       const struct fit_figure_day *days, size_t n, struct fit_err *err) FIT_MUST_CHECK;

/* ---- a cluster over time ---- */

struct fit_figure_moment {
	int64_t time_ns;	/* ascending; what holds from now on: */
	double capacity, held;	/* GPUs */
	double running, waiting;	/* jobs */
};

/* Two panels: GPUs of the cluster and GPUs held; jobs in the system, running and waiting. Of more
 * than some thousand moments only the first, last, lowest and highest in each of 1500 slices of
 * time are drawn. FIT_EDATA: no moments. */
int fit_figure_timeline(struct fit_plot *p, struct fit_figure_size size,
			const struct fit_figure_moment *moments, size_t n,
			struct fit_err *err) FIT_MUST_CHECK;

/* ---- columns of a table ---- */

struct fit_figure_column {
	const char *label;
	const double *y;	/* n_rows values; fit_real_na(): missing */
	const double *err;	/* error bars, or NULL */
};

struct fit_figure_rows {
	const char *const *x;	/* n_rows texts; NULL: missing, shown as NA */
	const double *x_number;	/* the same as numbers, or NULL when they are labels */
	size_t n_rows;
	const struct fit_figure_column *columns;
	size_t n_columns;
};

/* Bars side by side for each row, a label a row; a missing value has no bar. x_number is not used. */
int fit_figure_bars(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		    const struct fit_figure_rows *rows, bool log_y, struct fit_err *err) FIT_MUST_CHECK;

/* A line for each column in row order, over numbers or over labels; missing values break it. */
int fit_figure_lines(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		     const struct fit_figure_rows *rows, bool log_x, bool log_y,
		     struct fit_err *err) FIT_MUST_CHECK;

/* ---- points of a long table ---- */

/* A grid of so many columns (0: at most three), a panel for each of the table's, titled by its name when
 * there are several; one legend above. Points of a series are in row order, its look and style the
 * same in every panel. y axes start at 0 unless logarithmic or something lies below. FIT_EDATA: no
 * points. */
int fit_figure_panels(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		      const char *y_name, const struct fit_points *points, size_t columns,
		      struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
