/* SPDX-License-Identifier: MIT */
/*
 * A figure as a gnuplot script and its data file. Both are plain functions of the figure: the same
 * figure gives the same bytes.
 *
 * Texts go into the script in single quotes only, quotes doubled, with `noenhanced` everywhere.
 * gnuplot reads nothing into such a text: double quotes would run `...` in it, and markup would
 * make subscripts of underscores. Texts at tics are labels of their own, since a '%' in
 * `set xtics (...)` would be taken for a number format. File names get "./" in front, since names
 * that start with '<' or '|' would be run as commands.
 */
#ifndef FIT_PLOT_SCRIPT_H
#define FIT_PLOT_SCRIPT_H

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"
#include "libfit/plot/plot.h"

FIT_C_BEGIN

enum fit_plot_format {
	FIT_PLOT_SVG,
	FIT_PLOT_PNG,		/* two pixels for each of the figure's */
	FIT_PLOT_PDF
};

/* "svg", "png", "pdf". */
const char *fit_plot_format_name(enum fit_plot_format format);
/* By the suffix of a file name, any case; FIT_ENOTFOUND. */
int fit_plot_format_of(const char *file, enum fit_plot_format *format) FIT_MUST_CHECK;

/* Append a text as a gnuplot string constant: 'it''s'. Control characters become blanks. */
int fit_plot_quote(struct fit_str *out, const char *text) FIT_MUST_CHECK;

/* Pixels below the axis that its longest tic text takes when it is slanted; 0 without texts. */
double fit_plot_slanted_height(const struct fit_plot_axis *a);

/* Append the data file: one block of tab-separated columns (x y [err]) a series, in the order of
 * panels and series, two empty lines between blocks, an empty line at a gap. Steps are written
 * corner by corner. */
int fit_plot_data(struct fit_str *out, const struct fit_plot *p) FIT_MUST_CHECK;

/* Append the script that makes picture out of data: names of files in gnuplot's folder. */
int fit_plot_script(struct fit_str *out, const struct fit_plot *p, enum fit_plot_format format,
		    const char *picture, const char *data) FIT_MUST_CHECK;

FIT_C_END

#endif
