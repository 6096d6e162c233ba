/* SPDX-License-Identifier: MIT */
/*
 * Tables of tools that read rows of many columns (traces/input.h) and write some for each: metadata with
 * the inputs, cells that may be missing, rows of the applications asked for.
 */
#ifndef TOOLS_ROW_TABLES_H
#define TOOLS_ROW_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"
#include "traces/input.h"

/* Is that application (s NULL: none) in a list of --app options? An empty list has all. */
bool rows_app_wanted(const struct cli_list *wanted, struct fit_text app);

/* A cell, NA when it is not known. */
void rows_put_int(struct fit_writer *w, bool known, int64_t v);
void rows_put_real(struct fit_writer *w, bool known, double v);

/* Begin the output: the tool's metadata, then those of its inputs. */
int rows_begin(const struct cli *cli, struct fit_writer *w, const struct fit_meta *inputs,
	       const struct fit_field *fields, size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* The hash of an input that was read to its end, behind the rows. */
int rows_end_input(const struct fit_input *in, struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;

#endif
