/* SPDX-License-Identifier: MIT */
/* What the files of the report share. */
#ifndef FIT_PLOT_REPORT_PARTS_H
#define FIT_PLOT_REPORT_PARTS_H

#include "libfit/plot/report.h"

/* The list of what a page holds: lines of texts without tabs and line feeds, which become blanks. */
int fit_report_entry(struct fit_str *list, const char *kind, struct fit_text name, struct fit_text a,
		     struct fit_text b) FIT_MUST_CHECK;
/* The list in an earlier page, and what differs from now as a section of the page. */
int fit_report_changes(struct fit_str *page, struct fit_text previous, const struct fit_str *now,
		       struct fit_err *err) FIT_MUST_CHECK;

/* Where a table comes from: a row of the section on provenance, and its entry in the list. */
struct fit_report_sources {
	struct fit_str rows, list;
};
int fit_report_source(struct fit_report_sources *s, const char *name,
		      const struct fit_table *t) FIT_MUST_CHECK;

/* All pictures of the folders, each recipe a section of its own. *n: how many there are. */
int fit_report_figures(struct fit_str *page, const struct fit_report_params *p,
		       struct fit_report_sources *sources, size_t *n, struct fit_err *err) FIT_MUST_CHECK;
/* A table of verdicts: how many of each, and its rows. */
int fit_report_verdicts(struct fit_str *page, const struct fit_report_table *r,
			struct fit_report_sources *s) FIT_MUST_CHECK;
/* <td> with a verdict: a sign, the word, a class. */
int fit_report_verdict(struct fit_str *page, struct fit_text verdict) FIT_MUST_CHECK;

#endif
