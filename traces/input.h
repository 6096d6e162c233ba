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

#include "libfit/base/num.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

struct fit_input;

/* csv: comma-separated, else a table, unless the operand's name ends in ".csv". FIT_EIO, FIT_EPARSE
 * as the readers say. */
int fit_input_open(struct fit_input **in, const char *operand, bool csv,
		   struct fit_err *err) FIT_MUST_CHECK;
void fit_input_close(struct fit_input *in);	/* NULL is fine */

/* The column of that name, or of the other (which may be NULL), or -1. */
int fit_input_find(const struct fit_input *in, const char *name, const char *other);
/* The name of column i; NULL when i is negative or there is none. Lives until close(). */
const char *fit_input_column(const struct fit_input *in, int i);
/* Does the input itself say that column i holds text (a table with types, or a store)? */
bool fit_input_is_text(const struct fit_input *in, int i);

/* The next row. FIT_END; FIT_EDATA: this row alone is faulty, the next call goes on behind it;
 * other failures are final. */
int fit_input_row(struct fit_input *in, struct fit_err *err) FIT_MUST_CHECK;

/* The finite number, or whole number (up to 2^53), in column i of the current row. *na: it is
 * missing, or i is negative; then *v stays. FIT_EDATA: it is something else, "FILE:LINE:COLUMN: …".
 */
int fit_input_number(const struct fit_input *in, int i, bool whole, double *v, bool *na,
		     struct fit_err *err) FIT_MUST_CHECK;
/* The same where it may not be missing. i is a column. */
int fit_input_need(const struct fit_input *in, int i, bool whole, double *v,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The cell as text, in buf where it is a number; s is NULL when it is missing or i is negative. */
struct fit_text fit_input_text(const struct fit_input *in, int i, char buf[FIT_NUM_MAX]);

/* A fault that the caller found in column i (negative: in the row): FIT_EDATA. */
int fit_input_fail(const struct fit_input *in, int i, struct fit_err *err, const char *fmt,
		   ...) FIT_PRINTF(4, 5);

const char *fit_input_name(const struct fit_input *in);	/* "<stdin>" for "-" */
/* Content hash of what was read so far; ask after the last row. */
void fit_input_hash(const struct fit_input *in, char out[FIT_HASH_HEX]);

#endif
