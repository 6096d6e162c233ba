/* SPDX-License-Identifier: MIT */
/*
 * Terms of an additive model as figures: what a feature adds, bin by bin, with its spread over bags;
 * and what
 * a pair of features adds, as a map.
 */
#ifndef FIT_PLOT_SHAPE_FIGURE_H
#define FIT_PLOT_SHAPE_FIGURE_H

#include "libfit/base/linkage.h"
#include "libfit/plot/figure.h"

FIT_C_BEGIN

/* A bin along one axis: from..to, or a category; a missing value has a category, and from and to NA. */
struct fit_shape_side {
	double from, to;	/* fit_real_na(): none */
	const char *category;	/* NULL: a number */
};

struct fit_shape_cell {
	struct fit_shape_side x, y;	/* y: of a map */
	double score;
	double sd;		/* fit_real_na(): not known */
};

/*
 * Steps of the score over numbers, with the score plus and minus its spread where that is known; or
 * points with
 * error bars, one a category. Missing values of a number stand as a point left of the axis's least
 * value. Cells
 * are in the order of bins. FIT_EDATA: no cells.
 */
int fit_figure_shape(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		     const struct fit_shape_cell *cells, size_t n, struct fit_err *err) FIT_MUST_CHECK;

/* A map: rectangles coloured by score, blue below 0 and red above, of equal strength on both sides. Missing
 * values of numbers are left out; *left_out (may be NULL) says how many cells. */
int fit_figure_heatmap(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		const char *y_name,
		       const struct fit_shape_cell *cells, size_t n, size_t *left_out,
		       struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
