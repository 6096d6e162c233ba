/* SPDX-License-Identifier: MIT */
/*
 * A figure as data: panels one above the other, each with two axes and series of points. figure.h
 * builds figures of a known kind, script.h turns one into gnuplot input, gnuplot.h into a picture.
 *
 * All texts (title, axis labels, tic labels, legend) are plain text in UTF-8: no markup is ever
 * interpreted in them. They are copied and made fit for one line: control characters (line feeds,
 * tabs) become blanks, and a text longer than FIT_PLOT_TEXT_MAX characters ends in "...".
 */
#ifndef FIT_PLOT_PLOT_H
#define FIT_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

#define FIT_PLOT_TEXT_MAX 120
/* Numbers beyond this, on either side of 0, are refused: gnuplot leaves out the largest ones. */
#define FIT_PLOT_NUMBER_MAX 1e300

enum fit_plot_style {
	FIT_PLOT_LINES,		/* straight from point to point, with marks when there are few */
	FIT_PLOT_CURVE,		/* straight from point to point, without marks */
	FIT_PLOT_STEPS,		/* y holds from its x to the next x */
	FIT_PLOT_AREA,		/* as STEPS, filled down to 0 */
	FIT_PLOT_POINTS,
	FIT_PLOT_CELLS,		/* rectangles coloured by a value; see fit_series_add_cell() */
	FIT_PLOT_BARS		/* at x, from 0 to y; bars of several series stand side by side */
};

struct fit_plot_point {
	double x, y;
	double err;		/* half the length of the error bar; used when the series has_err */
};

struct fit_plot_series {
	char *label;		/* in the legend; NULL: not listed */
	enum fit_plot_style style;
	unsigned look;		/* number of its colour, dash pattern and mark */
	bool has_err;
	bool hollow;		/* marks are outlines: for what is compared with */
	bool gap_before_next;	/* working state of fit_series_gap() */
	struct fit_plot_point *points;
	size_t n, cap;
	size_t *gaps;		/* indices of points that are not joined to the one before */
	size_t n_gaps, cap_gaps;
	double *values;		/* FIT_PLOT_CELLS: of each two points, the corners */
	size_t n_values, cap_values;
};

struct fit_plot_axis {
	char *label;
	bool log;
	bool whole;		/* counts: no tics between integers (y only) */
	bool has_min, has_max;	/* fixed ends; else they follow the data */
	double min, max;
	char **tics;		/* texts at the positions at[]; n_tics 0: numbers by themselves */
	double *at;
	size_t n_tics, cap_tics, cap_at;
};

enum fit_plot_key {
	FIT_PLOT_KEY_NONE,
	FIT_PLOT_KEY_ABOVE,	/* outside, above the panel */
	FIT_PLOT_KEY_BOTTOM_RIGHT,
	FIT_PLOT_KEY_TOP_LEFT
};

struct fit_plot_panel {
	char *title;		/* drawn in a grid only; NULL: none */
	struct fit_plot_axis x, y;
	enum fit_plot_key key;
	struct fit_plot_series *series;
	size_t n_series, cap_series;
};

struct fit_plot {
	char *title;		/* NULL: none */
	int width, height;	/* CSS pixels: 96 an inch */
	/* 0: panels one above the other, each with its legend. Else a grid of so many columns, row by
	 * row, with one legend above all: the texts of the panels' series, each once. */
	size_t columns;
	struct fit_plot_panel *panels;
	size_t n_panels, cap_panels;
};

void fit_plot_init(struct fit_plot *p, int width, int height);
void fit_plot_release(struct fit_plot *p);
/* The end of making a figure that came to rc, which it returns: on failure the figure goes, with a message of
 * FIT_ENOMEM. */
int fit_plot_made(struct fit_plot *p, int rc, struct fit_err *err);

/* Set *to (title, an axis label) to a copy of a text; NULL takes it away. */
int fit_plot_text(char **to, const char *text) FIT_MUST_CHECK;

/* New panel or series, owned by the figure; the pointer lives until the next one is added. NULL:
 * out of memory. look is numbered by itself within a panel. */
struct fit_plot_panel *fit_plot_add_panel(struct fit_plot *p);
struct fit_plot_series *fit_panel_add_series(struct fit_plot_panel *panel, enum fit_plot_style style,
					     const char *label);
int fit_series_add(struct fit_plot_series *s, double x, double y) FIT_MUST_CHECK;
int fit_series_add_err(struct fit_plot_series *s, double x, double y, double err) FIT_MUST_CHECK;
/* A rectangle of FIT_PLOT_CELLS: two points, its corners, and a value, finite. Colours go from blue over
 * white at 0 to red, alike on both sides; a bar beside the panel says which are which. One such series a
 * figure. */
int fit_series_add_cell(struct fit_plot_series *s, double x_from, double x_to, double y_from, double y_to,
			double value) FIT_MUST_CHECK;
/* The next point is not joined to the last one: something is missing between them. */
void fit_series_gap(struct fit_plot_series *s);
int fit_axis_add_tic(struct fit_plot_axis *a, double at, const char *text) FIT_MUST_CHECK;

/* Whether the figure can be drawn as it stands: something in each panel, every number finite, and
 * above 0 on a logarithmic axis. FIT_EDATA names the series and the point. */
int fit_plot_check(const struct fit_plot *p, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
