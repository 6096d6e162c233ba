/* SPDX-License-Identifier: MIT */
/* The page itself: its head, its sections, where things come from. */
#include <math.h>
#include <string.h>

#include "libfit/base/version.h"
#include "libfit/plot/html.h"
#include "libfit/plot/report_parts.h"

/* ---- the head ---- */

static const char style[] =
	":root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--soft:#595959;--line:#c8c8c8;--band:#f3f4f6;"
	"--link:#0b57a4;--good:#11612c;--bad:#a11212;--none:#595959}\n"
	"@media(prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e8e8e8;--soft:#b4b4b4;--line:#4a4e55;"
	"--band:#22262c;--link:#8ab8f0;--good:#7fd69a;--bad:#ff9a9a;--none:#b4b4b4}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:0 1rem 4rem;max-width:76rem;background:var(--paper);color:var(--ink);"
	"font:16px/1.5 system-ui,sans-serif}\n"
	"a{color:var(--link)}\n"
	"a.skip{position:absolute;left:-99rem}\n"
	"a.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}\n"
	"h1{line-height:1.2}h2{border-bottom:1px solid var(--line);margin-top:2.5rem}\n"
	"nav ul{columns:16rem;column-gap:2rem;padding-left:1.2rem}\n"
	".wide{overflow-x:auto;margin:1rem 0}\n"
	":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
	"table{border-collapse:collapse;font-size:.875rem}\n"
	"caption{text-align:left;color:var(--soft);padding:.3rem 0}\n"
	"th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}\n"
	"thead th{background:var(--band)}td.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"td.holds{color:var(--good)}td.differs{color:var(--bad)}td.cannot{color:var(--none)}\n"
	"td.holds,td.differs,td.cannot{font-weight:600}td.holds,td.differs{white-space:nowrap}\n"
	"figure{margin:1rem 0;background:#fff;color:#1b1b1b;width:fit-content;max-width:100%;"
	"border:1px solid var(--line);padding:.5rem}\n"
	".side{display:block;color:var(--soft)}td.n .side{white-space:nowrap}\n"
	"ul.index{columns:12rem;padding-left:1.2rem}\n"
	"figure svg{max-width:100%;height:auto;display:block}figcaption{font-size:.875rem}\n"
	"details{margin:.4rem 0}summary{cursor:pointer}\n"
	"code,pre{font:.875rem/1.4 ui-monospace,monospace}\n"
	"pre{overflow-x:auto;background:var(--band);padding:.5rem}\n"
	".counts{font-size:1.125rem}\n"
	"@media(max-width:40rem){figure{overflow-x:auto}figure svg{max-width:40rem}}\n"
	"@media print{:root{--paper:#fff;--ink:#000;--soft:#333;--line:#999;--band:#eee;--link:#000;"
	"--good:#000;--bad:#000;--none:#333}nav,a.skip{display:none}body{max-width:none}"
	"figure,tr{break-inside:avoid}h2,h3,h4{break-after:avoid}table{font-size:.75rem}"
	"table.many{font-size:.6rem}table.many td,table.many th{padding:.1rem .15rem;overflow-wrap:anywhere}"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere}"
	".wide{overflow:visible}details:not([open]){display:none}}\n";

static int put_head(struct fit_str *page, const char *title)
{
	int rc = fit_str_puts(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			      "<meta name=\"generator\" content=\"gf-report " FIT_VERSION "\">\n<title>");

	rc = rc ? rc : fit_html_puts(page, title);
	rc = rc ? rc : fit_str_puts(page, "</title>\n<style>\n");
	rc = rc ? rc : fit_str_puts(page, style);
	rc = rc ? rc : fit_str_puts(page, "</style>\n</head>\n<body>\n"
				    "<a class=\"skip\" href=\"#main\">Skip to the verdicts</a>\n<header><h1>");
	rc = rc ? rc : fit_html_puts(page, title);
	return rc ? rc : fit_str_puts(page, "</h1></header>\n");
}

/* ---- where tables come from ---- */

static int put_cell(struct fit_str *page, const char *s)
{
	int rc = fit_str_puts(page, "<td>");

	rc = rc ? rc : fit_html_puts(page, s ? s : "");
	return rc ? rc : fit_str_puts(page, "</td>");
}

/* Pairs of metadata that say what a table was made of, and with which options. */
static int put_meta(struct fit_str *page, const struct fit_meta *meta, bool inputs)
{
	static const char *const own[] = { "tool", "version", "data", "verb" };
	int rc = fit_str_puts(page, "<td>");

	for (size_t i = 0; i < meta->n && !rc; i++) {
		const char *key = meta->pairs[i].key;
		bool is_own = false;

		for (size_t k = 0; k < sizeof own / sizeof *own; k++)
			is_own |= strcmp(key, own[k]) == 0;
		if (is_own || (strncmp(key, "input", 5) == 0) != inputs)
			continue;
		rc = fit_html_puts(page, key);
		rc = rc ? rc : fit_str_puts(page, "=");
		rc = rc ? rc : fit_html_puts(page, meta->pairs[i].value);
		rc = rc ? rc : fit_str_puts(page, "<br>");
	}
	return rc ? rc : fit_str_puts(page, "</td>");
}

int fit_report_source(struct fit_report_sources *s, const char *name, const struct fit_table *t)
{
	int rc = fit_report_entry(&s->list, "table", fit_text_of(name), fit_text_of(t->hash), FIT_TEXT_LIT(""));

	rc = rc ? rc : fit_str_puts(&s->rows, "<tr>");
	rc = rc ? rc : put_cell(&s->rows, name);
	rc = rc ? rc : put_cell(&s->rows, fit_meta_get(&t->meta, "tool"));
	rc = rc ? rc : put_cell(&s->rows, fit_meta_get(&t->meta, "version"));
	rc = rc ? rc : put_cell(&s->rows, fit_meta_get(&t->meta, "data"));
	rc = rc ? rc : put_meta(&s->rows, &t->meta, false);
	rc = rc ? rc : put_meta(&s->rows, &t->meta, true);
	rc = rc ? rc : put_cell(&s->rows, t->hash);
	return rc ? rc : fit_str_puts(&s->rows, "</tr>\n");
}

static int put_sources(struct fit_str *page, const struct fit_report_sources *s)
{
	int rc = fit_str_puts(page, "<section id=\"provenance\"><h2>Provenance</h2>\n"
			      "<details><summary>Where each table comes from</summary>\n"
			      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Provenance\"><table class=\"many\">"
			      "<caption>Program, version, data and options of each table; inputs and the table itself "
			      "by content hash (XXH3, 128 bits)</caption><thead><tr>");
	static const char *const heads[] = { "table", "made by", "version", "data", "options", "inputs", "hash" };

	for (size_t i = 0; i < sizeof heads / sizeof *heads && !rc; i++)
		rc = fit_str_printf(page, "<th scope=\"col\">%s</th>", heads[i]);
	rc = rc ? rc : fit_str_puts(page, "</tr></thead><tbody>\n");
	rc = rc ? rc : fit_str_add(page, s->rows.s ? s->rows.s : "", s->rows.n);
	return rc ? rc : fit_str_puts(page, "</tbody></table></div></details></section>\n");
}

/* ---- the page ---- */

static int put_models(struct fit_str *page, const struct fit_report_params *p, struct fit_report_sources *s)
{
	int rc = p->models.n ? fit_str_puts(page, "<section id=\"models\"><h2>Models</h2>\n") : FIT_OK;

	for (size_t i = 0; i < p->models.n && !rc; i++) {
		rc = fit_str_puts(page, "<h3>");
		rc = rc ? rc : fit_html_puts(page, p->models.items[i].name);
		rc = rc ? rc : fit_str_puts(page, "</h3>\n");
		rc = rc ? rc : fit_html_table(page, p->models.items[i].table, p->models.items[i].name, p->max_rows);
		rc = rc ? rc : fit_report_source(s, p->models.items[i].name, p->models.items[i].table);
	}
	return rc || !p->models.n ? rc : fit_str_puts(page, "</section>\n");
}

static int put_contents(struct fit_str *page, const struct fit_report_params *p)
{
	int rc = fit_str_puts(page, "<nav aria-label=\"Contents\"><ul>\n"
			      "<li><a href=\"#verdicts\">Verdicts</a></li>\n");

	if (!rc && p->previous.s)
		rc = fit_str_puts(page, "<li><a href=\"#changes\">Changes since the previous report</a></li>\n");
	if (!rc && p->models.n)
		rc = fit_str_puts(page, "<li><a href=\"#models\">Models</a></li>\n");
	rc = rc ? rc : fit_str_puts(page, "<li><a href=\"#figures\">Figures</a></li>\n");
	return rc ? rc : fit_str_puts(page, "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

int fit_report_write(struct fit_str *page, const struct fit_report_params *p, struct fit_err *err)
{
	struct fit_report_sources sources = { { 0 }, { 0 } };
	struct fit_str body = { 0 }, figures = { 0 };
	size_t n = 0;
	int rc = put_head(page, p->title);

	rc = rc ? rc : put_contents(page, p);
	rc = rc ? rc : fit_str_puts(page, "<main id=\"main\">\n<section id=\"verdicts\"><h2>Verdicts</h2>\n");
	for (size_t i = 0; i < p->verdicts.n && !rc; i++)
		rc = fit_report_verdicts(page, &p->verdicts.items[i], &sources);
	if (!rc && !p->verdicts.n)
		rc = fit_str_puts(page, "<p>None were given.</p>\n");
	rc = rc ? rc : fit_str_puts(page, "</section>\n");
	rc = rc ? rc : put_models(&body, p, &sources);
	rc = rc ? fit_fail_nomem(err) : fit_report_figures(&figures, p, &sources, &n, err);
	if (!rc && p->previous.s) {
		rc = fit_str_puts(page, "<section id=\"changes\"><h2>Changes since the previous report</h2>\n");
		rc = rc ? fit_fail_nomem(err) : fit_report_changes(page, p->previous, &sources.list, err);
		if (rc == FIT_EPARSE)
			rc = fit_fail_prefix(err, rc, "%s", p->previous_name);
		rc = rc ? rc : fit_str_puts(page, "</section>\n") ? fit_fail_nomem(err) : FIT_OK;
	}
	if (rc)
		goto out;
	rc = fit_str_add(page, body.s ? body.s : "", body.n);
	rc = rc ? rc : fit_str_printf(page, "<section id=\"figures\"><h2>Figures</h2>\n<p>%zu %s.</p>\n", n,
				      fit_plural(n, "picture", "pictures"));
	rc = rc ? rc : fit_str_add(page, figures.s ? figures.s : "", figures.n);
	rc = rc ? rc : fit_str_puts(page, "</section>\n");
	rc = rc ? rc : put_sources(page, &sources);
	rc = rc ? rc : fit_str_puts(page, "</main>\n<footer><details>\n<summary>What this report holds, for "
				    "a later one to compare with</summary>\n<pre id=\"gf-report-data\">");
	rc = rc ? rc : fit_html_text(page, (struct fit_text){ sources.list.s, sources.list.n });
	rc = rc ? rc : fit_str_puts(page, "</pre></details></footer>\n</body>\n</html>\n");
	rc = rc ? fit_fail_nomem(err) : FIT_OK;
out:
	fit_str_release(&body);
	fit_str_release(&figures);
	fit_str_release(&sources.rows);
	fit_str_release(&sources.list);
	return rc;
}
