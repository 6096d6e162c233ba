/* SPDX-License-Identifier: MIT */
/* Tables of verdicts in a report. */
#include <string.h>

#include "libfit/plot/html.h"
#include "libfit/plot/report_parts.h"

/* Signs stay with the first word: behind them is a no-break space. */
static const struct {
	const char *word, *class, *sign;
} verdicts[] = {
	{ "holds", "holds", "\xe2\x9c\x93\xc2\xa0" }, { "ok", "holds", "\xe2\x9c\x93\xc2\xa0" },
	{ "verified", "holds", "\xe2\x9c\x93\xc2\xa0" },
	{ "pass", "holds", "\xe2\x9c\x93\xc2\xa0" },
	{ "differs", "differs", "\xe2\x9c\x97\xc2\xa0" },
	{ "violated", "differs", "\xe2\x9c\x97\xc2\xa0" }, { "VIOLATED", "differs", "\xe2\x9c\x97\xc2\xa0" },
	{ "stop", "differs", "\xe2\x9c\x97\xc2\xa0" }, { "fail", "differs", "\xe2\x9c\x97\xc2\xa0" },
};
#define N_VERDICTS (sizeof verdicts / sizeof *verdicts)

int fit_report_verdict(struct fit_str *page, struct fit_text verdict)
{
	size_t k = 0;
	int rc;

	while (k < N_VERDICTS && !fit_text_is(verdict, verdicts[k].word))
		k++;
	rc = fit_str_printf(page, "<td class=\"%s\"><span aria-hidden=\"true\">%s</span>",
			    k < N_VERDICTS ? verdicts[k].class : "cannot",
			    k < N_VERDICTS ? verdicts[k].sign : "\xe2\x80\x93\xc2\xa0");
	rc = rc ? rc : fit_html_text(page, verdict);
	return rc ? rc : fit_str_puts(page, "</td>");
}

static int put_counts(struct fit_str *page, const struct fit_table *t, const struct fit_column *v)
{
	int rc = fit_str_puts(page, "<p class=\"counts\">");
	bool first = true;

	/* each word once, with how often it stands there */
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct fit_text word = fit_column_text(v, i);
		size_t n = 0, before = 0;

		for (size_t k = 0; k < t->n_rows; k++) {
			n += fit_text_eq(fit_column_text(v, k), word);
			before += k < i && fit_text_eq(fit_column_text(v, k), word);
		}
		if (before)
			continue;
		rc = first ? FIT_OK : fit_str_puts(page, "; ");
		rc = rc ? rc : fit_html_text(page, word);
		rc = rc ? rc : fit_str_printf(page, ": %zu", n);
		first = false;
	}
	return rc ? rc : fit_str_puts(page, ".</p>\n");
}

/*
 * Columns of gf-claims that stand in the cell of another one: a page has not the width of a spreadsheet. The
 * texts around what is joined; a missing one leaves nothing, nor does one for another verdict.
 */
static const struct joined {
	const char *column, *to, *before, *after, *verdict;
} joined[] = {
	{ "paper", "claim", "<span class=\"side\">", ", ", NULL },
	{ "place", "claim", "", "</span>", NULL },
	{ "unit", "published", " ", "", NULL },
	{ "tolerance_pct", "published", "<span class=\"side\">within ", " %</span>", NULL },
	{ "off_pct", "here", "<span class=\"side\">off by ", " %</span>", "differs" },
};
#define N_JOINED (sizeof joined / sizeof *joined)

/* Is this a table of gf-claims? Other tables with verdicts are shown as they are. */
static bool is_of_claims(const struct fit_table *t)
{
	bool is = fit_table_column(t, "claim") && fit_table_column(t, "published");

	for (size_t k = 0; k < N_JOINED && is; k++)
		is = fit_table_column(t, joined[k].column);
	return is;
}

/* Has the page no column of its own for this one? */
static bool has_no_column(const struct fit_table *t, const char *column)
{
	static const char *const of_no_use[] = { "agreement", "recipes", "data" };

	if (!is_of_claims(t))
		return false;
	for (size_t k = 0; k < sizeof of_no_use / sizeof *of_no_use; k++)
		if (strcmp(column, of_no_use[k]) == 0)
			return true;
	for (size_t k = 0; k < N_JOINED; k++)
		if (strcmp(column, joined[k].column) == 0)
			return true;
	return false;
}

/* A value without its <td>; nothing when it is missing or, as a tolerance may be, zero. */
static int put_joined(struct fit_str *page, const struct fit_table *t, const struct joined *j, size_t row)
{
	const struct fit_column *c = fit_table_column(t, j->column), *v = fit_table_column(t, "verdict");
	struct fit_cell cell = fit_column_cell(c, row);
	int rc;

	if (cell.na || (c->type == FIT_REAL && cell.u.d == 0) || (c->type == FIT_INT && cell.u.i == 0))
		return FIT_OK;
	if (j->verdict && (!v || v->type != FIT_TEXT || !fit_text_is(fit_column_text(v, row), j->verdict)))
		return FIT_OK;
	rc = fit_str_puts(page, j->before);
	if (!rc)
		rc = c->type == FIT_TEXT ? fit_html_text(page, cell.u.t) :
		     fit_html_real(page, c->type == FIT_REAL ? cell.u.d : (double)cell.u.i);
	return rc ? rc : fit_str_puts(page, j->after);
}

static int put_verdict_cell(struct fit_str *page, const struct fit_table *t, const struct fit_column *c,
			    size_t row)
{
	static const char end[] = "</td>";
	int rc = fit_html_cell(page, c, row);

	if (rc || !is_of_claims(t))
		return rc;
	page->n -= sizeof end - 1;
	for (size_t k = 0; k < N_JOINED && !rc; k++)
		if (strcmp(c->name, joined[k].to) == 0)
			rc = put_joined(page, t, &joined[k], row);
	return rc ? rc : fit_str_puts(page, end);
}

static int put_verdict_rows(struct fit_str *page, const struct fit_table *t, const struct fit_column *v)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		rc = fit_str_puts(page, "<tr>");
		rc = rc || !v ? rc : fit_report_verdict(page, fit_column_text(v, i));
		for (size_t k = 0; k < t->n_columns && !rc; k++) {
			const struct fit_column *c = &t->columns[k];

			if (c != v && !has_no_column(t, c->name))
				rc = put_verdict_cell(page, t, c, i);
		}
		rc = rc ? rc : fit_str_puts(page, "</tr>\n");
	}
	return rc;
}

/* What a later report compares: claims with their verdicts and what was found. */
static int list_claims(struct fit_str *list, const struct fit_table *t, const struct fit_column *v)
{
	const struct fit_column *id = fit_table_column(t, "claim"), *here = fit_table_column(t, "here");
	int rc = FIT_OK;

	if (!id || id->type != FIT_TEXT || !v)
		return FIT_OK;
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct fit_str number = { 0 };

		if (here && here->type == FIT_REAL && !fit_real_is_na(here->d[i]))
			rc = fit_html_real(&number, here->d[i]);
		rc = rc ? rc : fit_report_entry(list, "claim", fit_column_text(id, i), fit_column_text(v, i),
						number.n ? (struct fit_text){ number.s, number.n } : FIT_TEXT_LIT("-"));
		fit_str_release(&number);
	}
	return rc;
}

int fit_report_verdicts(struct fit_str *page, const struct fit_report_table *r, struct fit_report_sources *s)
{
	const struct fit_table *t = r->table;
	const struct fit_column *v = fit_table_column(t, "verdict");
	double width = 0;
	int rc = fit_str_puts(page, "<h3>");

	if (v && v->type != FIT_TEXT)
		v = NULL;
	for (size_t k = 0; k < t->n_columns; k++)
		if (&t->columns[k] == v || !has_no_column(t, t->columns[k].name))
			width += fit_html_column_width(&t->columns[k], t->n_rows);
	rc = rc ? rc : fit_html_puts(page, r->name);
	rc = rc ? rc : fit_str_puts(page, "</h3>\n");
	if (v)
		rc = rc ? rc : put_counts(page, t, v);
	rc = rc ? rc : fit_str_puts(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
	rc = rc ? rc : fit_html_puts(page, r->name);
	rc = rc ? rc : fit_str_printf(page, "\">%s<caption>", fit_html_table_tag(width));
	rc = rc ? rc : fit_html_puts(page, r->name);
	rc = rc ? rc : fit_str_printf(page, "</caption><thead><tr>%s", v ? "<th scope=\"col\">verdict</th>" : "");
	for (size_t k = 0; k < t->n_columns && !rc; k++) {
		if (&t->columns[k] == v || has_no_column(t, t->columns[k].name))
			continue;
		rc = fit_str_puts(page, "<th scope=\"col\">");
		rc = rc ? rc : fit_html_puts(page, t->columns[k].name);
		rc = rc ? rc : fit_str_puts(page, "</th>");
	}
	rc = rc ? rc : fit_str_puts(page, "</tr></thead><tbody>\n");
	rc = rc ? rc : put_verdict_rows(page, t, v);
	rc = rc ? rc : fit_str_puts(page, "</tbody></table></div>\n");
	rc = rc ? rc : list_claims(&s->list, t, v);
	return rc ? rc : fit_report_source(s, r->name, t);
}
