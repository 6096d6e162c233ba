/* SPDX-License-Identifier: MIT */
/*
 * The grid of a sweep: axes with their values, and the combinations of them. Axes of one table move
 * together, a row a combination; all others are crossed. See docs/formats/sweep.md.
 */
#ifndef TOOLS_SWEEP_GRID_H
#define TOOLS_SWEEP_GRID_H

#include <stddef.h>

#include "libfit/base/hash.h"
#include "libfit/base/num.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

#define SWEEP_ROWS_MAX ((size_t)1000000)

struct sweep_axis {
	char *name;		/* a word of [a-z0-9-] that starts with a letter: an option, mostly */
	char *column;		/* the same with '_' for '-' */
	char **values;		/* NULL: the option is not given */
	size_t n, cap;
};

/* Zero-initialise. The first n_tied axes are those of the table. */
struct sweep_grid {
	struct sweep_axis *axes;
	size_t n, cap, n_tied;
	char hash[FIT_HASH_HEX];	/* of the table, "" without */
};

void sweep_grid_release(struct sweep_grid *g);
/* Read the columns of a table as axes; before sweep_grid_axis(). FIT_EDATA and errors of the reader, with
 * line and column. */
int sweep_grid_table(struct sweep_grid *g, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* NAME=VALUE,VALUE…, where A:B and A:B:STEP of decimal numbers (nine digits behind the point at most) are
 * ranges with both ends, NA and off say that the option is not given, and \, is a comma. FIT_EINVAL: what is
 * wrong with it. */
int sweep_grid_axis(struct sweep_grid *g, const char *text, struct fit_err *err) FIT_MUST_CHECK;
/* How many combinations there are; FIT_EINVAL: none, or more than SWEEP_ROWS_MAX. */
int sweep_grid_size(const struct sweep_grid *g, size_t *rows, struct fit_err *err) FIT_MUST_CHECK;
/* The value of an axis in a combination (from 0; the last axis changes the quickest), or NULL. */
const char *sweep_grid_value(const struct sweep_grid *g, size_t axis, size_t row);

/* A cell as text, the way it is written; NA: { NULL, 0 }. It lives as long as the cell and number. */
struct fit_text sweep_cell_text(const struct fit_cell *c, enum fit_type type, char number[FIT_NUM_MAX]);

#endif
