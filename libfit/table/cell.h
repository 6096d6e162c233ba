/* SPDX-License-Identifier: MIT */
/* Cells to and from text, and between types. Shared by the encodings. */
#ifndef FIT_TABLE_CELL_H
#define FIT_TABLE_CELL_H

#include "libfit/base/linkage.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* Text of a TSV field (escapes already resolved, not NA) as a cell of a type: FIT_OK, or FIT_EPARSE /
 * FIT_EINVAL as the number parsers say. */
int fit_cell_parse(enum fit_type type, struct fit_text t, struct fit_cell *c) FIT_MUST_CHECK;
/* "an integer", "seconds with at most nine decimals", … for messages. */
const char *fit_cell_expected(enum fit_type type);

/* Change the type of a cell without loss; scratch holds the text where to is FIT_TEXT. */
int fit_cell_convert(enum fit_type from, enum fit_type to, struct fit_cell *c,
		     char scratch[40]) FIT_MUST_CHECK;
/* A number as text; not for FIT_TEXT. */
size_t fit_cell_format(enum fit_type type, const struct fit_cell *c, char buf[40]);

/* Resolve \t \n \r \\ \# \N in place; *n is the new length. FIT_EPARSE on another escape. */
int fit_unescape(char *s, size_t *n) FIT_MUST_CHECK;
/* Append a text as a TSV field. first: it starts a line, where '#' has a meaning. */
int fit_escape(struct fit_str *out, struct fit_text t, bool first) FIT_MUST_CHECK;
/* Append a row with its line feed, quicker than cell by cell. False, and nothing is appended: a cell is not
 * so easy (a text with an escape or that is not ASCII, what no cell may hold), or there is no memory. */
bool fit_row_put(struct fit_str *out, const struct fit_field *fields, const struct fit_cell *cells, size_t n);

int fit_type_from_name(struct fit_text name, enum fit_type *type) FIT_MUST_CHECK;

/* "store.h5:/a/b" -> file "store.h5", path "/a/b" (NULL when there is none). Heap copies. */
int fit_store_split(const char *operand, char **file, char **path, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
