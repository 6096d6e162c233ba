/* SPDX-License-Identifier: MIT */
/* What a table holds: a summary of each column, a view for people, and checks against a schema. */
#ifndef FIT_TABLE_DESCRIBE_H
#define FIT_TABLE_DESCRIBE_H

#include "libfit/base/linkage.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_summary {
	size_t missing;			/* cells that are NA */
	size_t distinct;		/* different values, NA not counted; nan is one value */
	bool has_range;			/* some cell is neither NA nor nan */
	struct fit_cell min, max;	/* texts by bytes; borrowed from the column */
};

/* Summarise column c of a table of n_rows rows. FIT_ENOMEM. */
int fit_column_summarise(struct fit_summary *s, const struct fit_column *c, size_t n_rows,
			 struct fit_err *err) FIT_MUST_CHECK;

/* Append rows [0, n) as aligned columns, numbers to the right, with a line of names above; reals with
 * digits significant digits (1 to 17); texts cut after 48 characters. FIT_ENOMEM. */
int fit_table_show(struct fit_str *out, const struct fit_table *t, size_t n, int digits) FIT_MUST_CHECK;

/*
 * A schema says which columns a canonical table has (docs/formats/): their types, which must be there
 * and have no missing cell, which one is unique, which hold words of a list, and whether rows are in
 * order of time. Columns that it does not know are allowed.
 */
struct fit_schema;
/* "jobs", "log", or NULL when there is none of that name. */
const struct fit_schema *fit_schema_find(const char *name);
/* Hold a table against a schema. FIT_ENOTFOUND: a column is missing; FIT_EDATA: the first fault, as
 * "FILE:LINE:FIELD: what". A column of another type is right when each of its cells converts. */
int fit_schema_check(const struct fit_schema *s, const struct fit_table *t,
		     struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
