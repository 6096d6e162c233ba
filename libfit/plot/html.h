/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a self-contained HTML page: escaped text, tables, and pictures set into the page.
 *
 * All add to a string and fail only for want of memory, where nothing else is said.
 */
#ifndef FIT_PLOT_HTML_H
#define FIT_PLOT_HTML_H

#include "libfit/base/text.h"
#include "libfit/table/table.h"

/* Text with & < > and both quotes escaped; control characters but tab and line feed become U+FFFD. */
int fit_html_text(struct fit_str *out, struct fit_text t) FIT_MUST_CHECK;
int fit_html_puts(struct fit_str *out, const char *s) FIT_MUST_CHECK;
/* The reverse, of what fit_html_text() wrote. */
int fit_html_plain(struct fit_str *out, struct fit_text escaped) FIT_MUST_CHECK;
/* A name made fit for an id attribute: letters, digits, '-', '_' stay, all else becomes '-'. */
int fit_html_id(struct fit_str *out, const char *name) FIT_MUST_CHECK;

/* A number for reading: six significant digits. */
int fit_html_real(struct fit_str *out, double v) FIT_MUST_CHECK;

/* A cell of a table as <td>. Numbers are set with class "n"; a missing cell is a dash that is read as
 * "missing". */
int fit_html_cell(struct fit_str *out, const struct fit_column *c, size_t row) FIT_MUST_CHECK;

/* What a column needs at least, in characters: its name, and the longest word of n_rows rows. */
double fit_html_column_width(const struct fit_column *c, size_t n_rows);
/* <table>, of a class of its own where columns of that sum would not fit on paper. */
const char *fit_html_table_tag(double width);
/*
 * The first rows (at most max_rows) of a table as <table> with caption and column heads; a line says how
 * many follow.
 */
int fit_html_table(struct fit_str *out, const struct fit_table *t, const char *caption,
		   size_t max_rows) FIT_MUST_CHECK;

/*
 * An SVG document as an <svg> element of the page: what stands ahead of the element is left out, its ids and
 * the references to them get the prefix, so that two pictures cannot meet, and it is an image named by
 * label for those who do not see it. FIT_EPARSE: no svg element, or one that holds scripts, event
 * handlers or references to elsewhere.
 */
int fit_html_svg(struct fit_str *out, struct fit_text svg, const char *prefix, const char *label,
		 struct fit_err *err) FIT_MUST_CHECK;

#endif
