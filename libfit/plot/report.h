/* SPDX-License-Identifier: MIT */
/*
 * The report: one HTML page that stands by itself. It holds verdicts, every picture of some folders with
 * its claims, data and command, models, where all of it comes from, and what changed since an earlier
 * report. No network, no script; light and dark; for screen readers, keyboards and paper as well.
 *
 * The page ends with a list of what it holds (id "gf-report-data"), which a later report is compared with:
 *
 *   claim <tab> IDENTIFIER <tab> VERDICT <tab> NUMBER FOUND
 *   picture <tab> NAME <tab> HASH
 *   table <tab> NAME <tab> HASH
 */
#ifndef FIT_PLOT_REPORT_H
#define FIT_PLOT_REPORT_H

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* Tables that were read, with the names that they get in the page. */
struct fit_report_table {
	char *name;
	struct fit_table *table;
};

struct fit_report_tables {
	struct fit_report_table *items;
	size_t n, cap;
};

/* Read every table of an operand. The first is called name; a further one "name: its own name". After an
 * error what was read is there, too. */
int fit_report_tables_add(struct fit_report_tables *t, const char *operand, const char *name,
			  struct fit_err *err) FIT_MUST_CHECK;
void fit_report_tables_free(struct fit_report_tables *t);

struct fit_report_params {
	const char *title;
	const char *const *folders;	/* of pictures (NAME.svg) and what lies beside them */
	size_t n_folders;
	const char *recipes;		/* folder of the recipes, for captions; NULL: none */
	struct fit_report_tables verdicts;	/* of gf-claims, or any table with a column verdict */
	struct fit_report_tables models;
	struct fit_text previous;	/* an earlier report; s NULL: none */
	const char *previous_name;	/* of that, for messages */
	size_t max_rows;		/* of each table of data that is shown */
};

/* Write the page. Errors: FIT_EIO, FIT_EPARSE, FIT_EDATA of the files in the folders, named; FIT_EPARSE:
 * previous is not a report. */
int fit_report_write(struct fit_str *page, const struct fit_report_params *p,
		     struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
