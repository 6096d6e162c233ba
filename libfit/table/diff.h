/* SPDX-License-Identifier: MIT */
/*
 * Two tables compared by key, whatever the order of their rows and columns.
 *
 * Numbers (int, real, time) compare as numbers whatever their types, times in seconds; a number and a
 * text compare as texts. Missing equals only missing, nan equals nan, an infinity only itself. Two
 * numbers are the same when |a - b| <= abs + rel * max(|a|, |b|); with rel = abs = 0 that is equality,
 * of ints and times in 64 bits, of reals in value (0 and -0 are equal). Metadata, table names and
 * types are not compared.
 */
#ifndef FIT_TABLE_DIFF_H
#define FIT_TABLE_DIFF_H

#include "libfit/base/linkage.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_diff_params {
	const char *const *keys;	/* columns that name a row; none: the first column of a */
	size_t n_keys;
	const char *const *columns;	/* compare only these; none: all */
	size_t n_columns;
	const char *const *ignore;	/* but not these */
	size_t n_ignore;
	double rel, abs;		/* >= 0 */
	size_t max;			/* keep at most so many cells, and rows only in a or b, one by one */
};

struct fit_diff_cell {
	size_t column;			/* index into fit_diff.columns */
	size_t row_a, row_b;
	double gap;			/* |a - b|; infinity where one is missing, not finite or a text */
	double share;			/* gap as a share of the larger of |a| and |b|; or infinity */
};

struct fit_diff_column {
	const char *name;		/* borrowed from a */
	size_t in_a, in_b;		/* index of the column there */
	size_t different;		/* cells that differ */
	struct fit_diff_cell first, worst;	/* in a's order; largest gap, or share where a column "unit"
						 * of a has several values; first of equals */
};

struct fit_diff {
	struct fit_diff_column *columns;	/* compared, in a's order */
	size_t n_columns;
	size_t *columns_a, *columns_b;	/* index of columns that only a, only b has */
	size_t n_columns_a, n_columns_b;
	size_t *rows_a, *rows_b;	/* the first max rows that only a, only b has */
	size_t n_rows_a, n_rows_b;	/* how many there are in all */
	struct fit_diff_cell *cells;	/* the first max cells that differ */
	size_t n_cells;			/* how many there are in all */
	size_t n_compared;
	bool by_share;			/* the worst cells are those of the largest share */
	size_t *keys_a, *keys_b;	/* index of the key columns */
	size_t n_keys;
};

/* Compare. FIT_ENOTFOUND: no such column (key, columns, ignore); FIT_EDATA: a key twice; FIT_EINVAL: a
 * tolerance that is negative or not finite. Messages name the table's input and line. The result
 * borrows from both tables. */
int fit_diff_tables(struct fit_diff *d, const struct fit_table *a, const struct fit_table *b,
		    const struct fit_diff_params *p, struct fit_err *err) FIT_MUST_CHECK;
void fit_diff_release(struct fit_diff *d);
bool fit_diff_equal(const struct fit_diff *d);

/* Append "job_id=j1 epoch=2" of a row: key are d->keys_a of table a, or keys_b of b. */
int fit_diff_row_name(struct fit_str *out, const struct fit_table *t, const size_t *keys, size_t n_keys,
		      size_t row) FIT_MUST_CHECK;
/* Append a cell as it is written in TSV. */
int fit_diff_cell_text(struct fit_str *out, const struct fit_table *t, size_t column,
		       size_t row) FIT_MUST_CHECK;

FIT_C_END

#endif
