/* SPDX-License-Identifier: MIT */
/*
 * The columns of a table that a figure wants, collected row by row: one along the x axis, as text
 * and, while all are numbers, as numbers; then values and, for error bars, half lengths. Whoever
 * reads the rows (a table, CSV) binds fields[0..n_fields) and hands the cells over.
 */
#ifndef FIT_PLOT_FRAME_H
#define FIT_PLOT_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/plot/figure.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_FRAME_SERIES_MAX 31
#define FIT_FRAME_FIELDS_MAX (1 + 2 * FIT_FRAME_SERIES_MAX)

struct fit_frame {
	struct fit_field fields[FIT_FRAME_FIELDS_MAX];	/* each column once; x first, text */
	size_t n_fields;
	size_t n_rows, n_series;
	size_t missing;			/* values that are not there */
	bool log_x, log_y;		/* set by the caller: refuse what is not above 0 */
	/* working state */
	bool x_is_text;			/* some x is not a number */
	bool is_value[FIT_FRAME_FIELDS_MAX], is_error[FIT_FRAME_FIELDS_MAX];
	size_t value[FIT_FRAME_SERIES_MAX], error[FIT_FRAME_SERIES_MAX];	/* their fields */
	double *columns[FIT_FRAME_FIELDS_MAX];
	size_t cap[FIT_FRAME_FIELDS_MAX];
	struct fit_str texts;
	size_t *text_at, cap_text_at;
	const char **x;
	struct fit_figure_column out[FIT_FRAME_SERIES_MAX];
};

/* Start a frame with its x column. Names are borrowed for the frame's life. */
void fit_frame_init(struct fit_frame *f, const char *x);
void fit_frame_release(struct fit_frame *f);

/* Add a series; error may be NULL. FIT_EINVAL: there are FIT_FRAME_SERIES_MAX already, or the column
 * is the x column. */
int fit_frame_series(struct fit_frame *f, const char *value, const char *error) FIT_MUST_CHECK;

/* Take a row: cells[i] belongs to fields[i]. FIT_EDATA: a value cannot be drawn; *field is then the
 * column's name and the message has no position. */
int fit_frame_row(struct fit_frame *f, const struct fit_cell *cells, const char **field,
		  struct fit_err *err) FIT_MUST_CHECK;

/* The numbers along the x axis, n_rows of them, which may be changed; NULL: some x is a text, or no row. */
double *fit_frame_x(struct fit_frame *f);

/* The rows so far, for fit_figure_bars() and fit_figure_lines(); borrowed from f. labels: n texts for
 * the first series, NULL where the column's name will do. FIT_ENOMEM. */
int fit_frame_rows(struct fit_frame *f, const char *const *labels, size_t n,
		   struct fit_figure_rows *rows) FIT_MUST_CHECK;

FIT_C_END

#endif
