/* SPDX-License-Identifier: MIT */
/*
 * One input of measurements, whatever its encoding: a table (any operand of libfit/table/table.h)
 * or comma-separated text (csv.h), with all its columns, row by row, in constant memory.
 *
 * The columns of comma-separated text, and of a table without types, are all FIT_TEXT; number() and
 * text() give a cell as what the caller wants.
 */
#ifndef TRACES_INPUT_H
#define TRACES_INPUT_H

#include <stdbool.h>

#include "libfit/base/linkage.h"
#include "libfit/base/num.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_input;

/* csv: comma-separated, else a table, unless the operand's name ends in ".csv". FIT_EIO, FIT_EPARSE
 * as the readers say. */
int fit_input_open(struct fit_input **in, const char *operand, bool csv,
		   struct fit_err *err) FIT_MUST_CHECK;
void fit_input_close(struct fit_input *in);	/* NULL is fine */

/* The column of that name, or of the other (which may be NULL), or -1. */
int fit_input_find(const struct fit_input *in, const char *name, const char *other);
/* The same where it must be there: FIT_ENOTFOUND, with the names of those that are. */
int fit_input_require(const struct fit_input *in, const char *name, int *at,
		      struct fit_err *err) FIT_MUST_CHECK;
/* FIT_ENOTFOUND: there is no column of that name, with the names of those that are there. */
int fit_input_lacks(const struct fit_input *in, const char *name, struct fit_err *err) FIT_MUST_CHECK;
/* The name of column i; NULL when i is negative or there is none. Lives until close(). */
const char *fit_input_column(const struct fit_input *in, int i);
/* Does the input itself say that column i holds text (a table with types, or a store)? */
bool fit_input_is_text(const struct fit_input *in, int i);

/* The next row. FIT_END; FIT_EDATA: this row alone is faulty, the next call goes on behind it (but after
 * the last row it is that there is more than one table); other failures are final. */
int fit_input_row(struct fit_input *in, struct fit_err *err) FIT_MUST_CHECK;

/* The finite number, or whole number (up to 2^53), in column i of the current row. *na: it is
 * missing, or i is negative; then *v stays. FIT_EDATA: it is something else, "FILE:LINE:COLUMN: …".
 */
int fit_input_number(const struct fit_input *in, int i, bool whole, double *v, bool *na,
		     struct fit_err *err) FIT_MUST_CHECK;
/* The same where it may not be missing. i is a column. */
int fit_input_need(const struct fit_input *in, int i, bool whole, double *v,
		   struct fit_err *err) FIT_MUST_CHECK;
/* Any number of column i, infinities as they are; NaN where it is missing (or says nan), or i is negative.
 * hint (may be NULL) is what else may help. FIT_EDATA with its place. */
int fit_input_real(const struct fit_input *in, int i, const char *hint, double *v,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The cell as text, in buf where it is a number; s is NULL when it is missing or i is negative. */
struct fit_text fit_input_text(const struct fit_input *in, int i, char buf[FIT_NUM_MAX]);

/* The cell of column i as it is, of the type that the input gives it (text, where it gives none). i is a
 * column; what it points to lives until the next row. */
const struct fit_cell *fit_input_cell(const struct fit_input *in, int i, enum fit_type *type);

/* A fault that the caller found in column i (negative: in the row): FIT_EDATA. */
int fit_input_fail(const struct fit_input *in, int i, struct fit_err *err, const char *fmt,
		   ...) FIT_PRINTF(4, 5);

const char *fit_input_name(const struct fit_input *in);	/* "<stdin>" for "-" */
/* Content hash of what was read so far; ask after the last row. */
void fit_input_hash(const struct fit_input *in, char out[FIT_HASH_HEX]);

FIT_C_END

#endif
