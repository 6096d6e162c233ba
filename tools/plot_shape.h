/* SPDX-License-Identifier: MIT */
/* Tables of gf-ga2m explain --shape, for gf-plot shape and heatmap. */
#ifndef TOOLS_PLOT_SHAPE_H
#define TOOLS_PLOT_SHAPE_H

#include "libfit/plot/shape_figure.h"
#include "tools/common/cli.h"

struct plot_shape {
	struct fit_table table;		/* cells borrow its texts */
	struct fit_shape_cell *cells;
	size_t n;
	const char *feature[2];		/* names for the axes; borrowed */
	char **names;			/* categories as C strings */
	size_t n_names;
};

void plot_shape_release(struct plot_shape *s);
/* Read the operand: of one feature, or of two (map). Of a table with several classes only rows of `class`,
 * which * must be given then. FIT_EDATA; FIT_ENOTFOUND. */
int plot_read_shape(struct plot_shape *s, const char *operand, bool map, const char *class,
		    struct fit_err *err) FIT_MUST_CHECK;

#endif
