/* SPDX-License-Identifier: MIT */
/*
 * The rows of a long table, one point each, collected for fit_figure_panels(): the panel and the
 * series that a point belongs to, x, y and the length of its error bar, and how its series looks.
 */
#ifndef FIT_PLOT_POINTS_H
#define FIT_PLOT_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/plot/plot.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* Names of columns, borrowed; all but x and y may be NULL. */
struct fit_points_columns {
	const char *panel;	/* text; one panel a value, in order of appearance */
	const char *series;	/* text; one series a value */
	const char *x, *y;	/* numbers; a missing y breaks a line */
	const char *error;	/* half the length of the error bar, 0 or more */
	const char *look;	/* text: series of one look share colour, dashes and mark */
	const char *style;	/* text: lines, curve, steps, area, points, hollow; default lines */
};

struct fit_point {
	size_t panel, series;	/* numbers of their names */
	double x, y, err;	/* y, err: fit_real_na() when missing */
};

struct fit_points_series {
	size_t look;		/* number of its name */
	enum fit_plot_style style;
	bool hollow;
};

struct fit_names {
	char **name;
	size_t n, cap;
};

#define FIT_POINTS_FIELDS_MAX 7

struct fit_points {
	struct fit_field fields[FIT_POINTS_FIELDS_MAX];
	size_t n_fields;
	bool log_x, log_y;		/* set by the caller: refuse what is not above 0 */
	struct fit_names panels, names, looks;
	struct fit_points_series *series;	/* as many as names */
	struct fit_point *points;
	size_t n, missing;
	bool has_err;
	/* working state */
	size_t at[FIT_POINTS_FIELDS_MAX];	/* field of each column, SIZE_MAX: none */
	size_t cap, cap_series;
};

void fit_points_init(struct fit_points *p, const struct fit_points_columns *columns);
void fit_points_release(struct fit_points *p);

/* Take a row: cells[i] belongs to fields[i]. FIT_EDATA: it cannot be drawn; *field is then the
 * column's name and the message has no position. */
int fit_points_row(struct fit_points *p, const struct fit_cell *cells, const char **field,
		   struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
