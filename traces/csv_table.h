/* SPDX-License-Identifier: MIT */
/* A whole file of comma-separated text as a table, or whatever an operand holds as one. */
#ifndef TRACES_CSV_TABLE_H
#define TRACES_CSV_TABLE_H

#include <stdbool.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* Does the operand name comma-separated text ("x.csv")? By name, not by content. */
bool fit_is_csv(const char *operand);

/* Read comma-separated text with a header row (csv.h); types are inferred as fit_table_read() says.
 * Faults of a row that are found later name its line where each row stands on one line of its own, else
 * its number. t->hash is that of fit_csv_hash(). Release t. */
int fit_csv_table(struct fit_table *t, const char *operand, struct fit_err *err) FIT_MUST_CHECK;

/* The same where csv is set or fit_is_csv() says so; else fit_table_read() of all columns. */
int fit_any_table(struct fit_table *t, const char *operand, bool csv, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
