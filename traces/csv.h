/* SPDX-License-Identifier: MIT */
/*
 * Delimited text as production traces carry it, row by row, in constant memory: libcsv for the
 * quoting, and everything that libcsv leaves out. Columns are found by name in the header row, or
 * by a declared list of names where a format has no header. Cells are typed by a list of struct
 * fit_field, as in libfit/table/table.h.
 *
 * Accepted: a UTF-8 byte order mark, CRLF, a missing final line feed, blank lines (passed over),
 * quoted fields with delimiters, doubled quotes and line breaks in them, blanks around unquoted
 * fields (trimmed). An empty field is missing (NA).
 *
 * Faults (FIT_EPARSE unless said), each as "FILE:LINE: what" or "FILE:LINE:FIELD: what", where LINE
 * is the physical line on which the row starts:
 *   empty file; Git LFS pointer file; NUL; invalid UTF-8; carriage return inside a line;
 *   stray quote; quoted field without end (the line on which it opens); row with more or fewer
 *   fields than the header; duplicate column name; cell that is not of its type; missing cell
 *   (FIT_EDATA) in a FIT_F_NOT_NA column; field or row beyond the limits below.
 */
#ifndef TRACES_CSV_H
#define TRACES_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_CSV_FIELD_MAX ((size_t)1 << 20)	/* bytes in one field */
#define FIT_CSV_ROW_MAX ((size_t)1 << 24)	/* bytes in one row */
#define FIT_CSV_COLUMNS_MAX 4096

/* Further bits of struct fit_field.flags that this reader knows. */
#define FIT_CSV_F_WHOLE 0x100u	/* int: a decimal whose fraction is zero is fine ("4550879.0") */
#define FIT_CSV_F_ROUND 0x200u	/* time: more than nine decimals are rounded, not refused */

#define FIT_CSV_TRAILING 1u	/* data rows may end in one more, empty, field */
#define FIT_CSV_BLANKS 2u	/* fields are separated by runs of blanks; no quoting */
#define FIT_CSV_DETECT 4u	/* by the header row, as with delimiter 0; else blanks */
#define FIT_CSV_NO_QUOTES 8u	/* a quote is a character like any other */

/* A list of columns of a file without a header row. */
struct fit_csv_layout {
	const char *const *names;
	size_t n;
};

struct fit_csv_options {
	char delimiter;			/* 0: comma, or the one of tab, ';' and '|' of a header row without any */
	unsigned flags;
	const char *const *names;	/* no header row: the columns, in order; NULL: header row */
	size_t n_names;
	/* no header row, and several lists: the first one with as many columns as the first row has
	 * fields. A first row that is such a list, name by name, is a header row after all. */
	const struct fit_csv_layout *layouts;
	size_t n_layouts;
	const char *const *missing;	/* further spellings of a missing cell, ends with NULL; or NULL */
};

struct fit_csv;

/* Start reading: takes in the header row. The source is borrowed until close(). options NULL:
 * commas and a header row. FIT_EPARSE: the file is empty, or its header row is faulty. */
int fit_csv_open(struct fit_csv **c, struct fit_source *s, const struct fit_csv_options *options,
		 struct fit_err *err) FIT_MUST_CHECK;
void fit_csv_close(struct fit_csv *c);	/* NULL is fine */

/* The columns of the file, in order; names live until close(). */
size_t fit_csv_n_columns(const struct fit_csv *c);
struct fit_text fit_csv_column(const struct fit_csv *c, size_t i);
bool fit_csv_has(const struct fit_csv *c, const char *name);
size_t fit_csv_layout(const struct fit_csv *c);		/* which of the layouts it is */

/* Bind fields: row() then fills exactly n cells in this order. fields is borrowed until close().
 * FIT_ENOTFOUND: a column that is not FIT_F_OPTIONAL is missing; the error lists those found. */
int fit_csv_bind(struct fit_csv *c, const struct fit_field *fields, size_t n,
		 struct fit_err *err) FIT_MUST_CHECK;
/* A comma list of the columns that no field is bound to, into out (cleared first; "" when none). */
int fit_csv_unbound(const struct fit_csv *c, struct fit_str *out) FIT_MUST_CHECK;

/* The next row, or FIT_END. Texts live until the next call. After a fault of one row (see
 * fit_csv_reason) the next call goes on behind it. */
int fit_csv_row(struct fit_csv *c, struct fit_cell *cells, struct fit_err *err) FIT_MUST_CHECK;
/* The field of column i of the current row as it stands in the file, quotes resolved. */
struct fit_text fit_csv_raw(const struct fit_csv *c, size_t i);

/* What kind of fault the last row() met, for counting: "ragged row", "bad value", "missing value",
 * "bad encoding", "stray quote". NULL: a fault behind which reading cannot go on. */
const char *fit_csv_input(const struct fit_csv *c);	/* what messages call the file */
const char *fit_csv_reason(const struct fit_csv *c);

uint64_t fit_csv_line(const struct fit_csv *c);		/* on which the current row starts, from 1 */
uint64_t fit_csv_rows(const struct fit_csv *c);		/* data rows met so far, faulty ones too */
uint64_t fit_csv_repeated(const struct fit_csv *c);	/* header rows met again; passed over */

/* A fault that the caller found in the current row: "FILE:LINE:NAME: what" (NAME may be NULL). */
int fit_csv_fail(const struct fit_csv *c, int code, const char *name, struct fit_err *err,
		 const char *fmt, ...) FIT_PRINTF(5, 6);

/* Hash of the records read so far: column names and fields, not the bytes, so that a byte order
 * mark, line ends and needless quotes do not change it. */
void fit_csv_hash(const struct fit_csv *c, char out[FIT_HASH_HEX]);

FIT_C_END

#endif
