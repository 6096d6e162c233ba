/* SPDX-License-Identifier: MIT */
/*
 * Formulas over cells of tables: what a claim says of the tables that a recipe left.
 *
 *   {pollux-table-2 jct_mean_h configuration=tuned,policy=pollux}      one cell
 *   max{pollux-3 mape_pct}          of all rows that meet the conditions: min max mean sum count
 *   100 * (1 - A / B)               + - * / ( ), unary minus, numbers, min(A, B, ...), max(), abs()
 *   A < B <= C                      1 when it holds throughout, else 0; also > >= == (exactly equal)
 *
 * In braces: the name of a table, a column, and conditions COLUMN=VALUE, separated by commas, which must
 * all hold; blanks separate the three. A value compares as a number where both sides are numbers, else
 * as text. Without a word in front exactly one row must meet the conditions. count takes no column.
 * The number of a text is what stands ahead of its first blank: 48.5 of "48.5 %".
 */
#ifndef FIT_TABLE_FORMULA_H
#define FIT_TABLE_FORMULA_H

#include "libfit/table/table.h"

/* The table of that name, borrowed until the formula is worked out; FIT_ENOTFOUND: there is none. */
typedef int fit_formula_find(void *arg, struct fit_text name, const struct fit_table **table,
			     struct fit_err *err);

/*
 * Work it out. find NULL: the syntax only, and *value is 0. Errors: FIT_EPARSE: the formula, with the
 * place in it; FIT_ENOTFOUND: no such table, column or row; FIT_EDATA: several rows where one is
 * meant, or a cell that is missing or no number; those of find.
 */
int fit_formula_value(const char *formula, fit_formula_find *find, void *arg, double *value,
		      struct fit_err *err) FIT_MUST_CHECK;

#endif
