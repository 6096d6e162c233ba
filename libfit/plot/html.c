/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/plot/html.h"

/* ---- text ---- */

static const struct {
	char c;
	const char *entity;
} entities[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" } };
#define N_ENTITIES (sizeof entities / sizeof *entities)

int fit_html_text(struct fit_str *out, struct fit_text t)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t.n && !rc; i++) {
		unsigned char c = (unsigned char)t.s[i];
		size_t k = 0;

		while (k < N_ENTITIES && entities[k].c != t.s[i])
			k++;
		if (k < N_ENTITIES)
			rc = fit_str_puts(out, entities[k].entity);
		else if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
			rc = fit_str_puts(out, "\xef\xbf\xbd");
		else
			rc = fit_str_add(out, t.s + i, 1);
	}
	return rc;
}

int fit_html_puts(struct fit_str *out, const char *s)
{
	return fit_html_text(out, fit_text_of(s));
}

int fit_html_plain(struct fit_str *out, struct fit_text t)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t.n && !rc; ) {
		size_t k = 0;

		while (k < N_ENTITIES && (t.n - i < strlen(entities[k].entity) ||
					  memcmp(t.s + i, entities[k].entity, strlen(entities[k].entity)) != 0))
			k++;
		rc = fit_str_add(out, k < N_ENTITIES ? &entities[k].c : t.s + i, 1);
		i += k < N_ENTITIES ? strlen(entities[k].entity) : 1;
	}
	return rc;
}

static bool is_id(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

int fit_html_id(struct fit_str *out, const char *name)
{
	int rc = FIT_OK;

	for (; *name && !rc; name++)
		rc = fit_str_add(out, is_id(*name) ? name : "-", 1);
	return rc;
}

int fit_html_real(struct fit_str *out, double v)
{
	if (isnan(v))
		return fit_str_puts(out, "nan");
	if (isinf(v))
		return fit_str_puts(out, v > 0 ? "inf" : "-inf");
	return fit_str_printf(out, "%.6g", v);
}

/* ---- tables ---- */

int fit_html_cell(struct fit_str *out, const struct fit_column *c, size_t row)
{
	struct fit_cell cell = fit_column_cell(c, row);
	char digits[FIT_NUM_MAX];
	int rc;

	if (cell.na)
		return fit_str_puts(out, "<td><span aria-label=\"missing\">\xe2\x80\x93</span></td>");
	if (c->type == FIT_TEXT) {
		rc = fit_str_puts(out, "<td>");
		rc = rc ? rc : fit_html_text(out, cell.u.t);
		return rc ? rc : fit_str_puts(out, "</td>");
	}
	rc = fit_str_puts(out, "<td class=\"n\">");
	if (!rc && c->type == FIT_REAL) {
		rc = fit_html_real(out, cell.u.d);
	} else if (!rc) {
		if (c->type == FIT_INT)
			fit_format_int64(digits, cell.u.i);
		else
			fit_format_time(digits, cell.u.i);
		rc = fit_str_puts(out, digits);
	}
	return rc ? rc : fit_str_puts(out, "</td>");
}

int fit_html_table(struct fit_str *out, const struct fit_table *t, const char *caption, size_t max_rows)
{
	size_t n = t->n_rows < max_rows ? t->n_rows : max_rows;
	int rc = fit_str_puts(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");

	rc = rc ? rc : fit_html_puts(out, caption);
	rc = rc ? rc : fit_str_puts(out, "\"><table><caption>");
	rc = rc ? rc : fit_html_puts(out, caption);
	rc = rc ? rc : fit_str_puts(out, "</caption><thead><tr>");
	for (size_t k = 0; k < t->n_columns && !rc; k++) {
		rc = fit_str_puts(out, "<th scope=\"col\">");
		rc = rc ? rc : fit_html_puts(out, t->columns[k].name);
		rc = rc ? rc : fit_str_puts(out, "</th>");
	}
	rc = rc ? rc : fit_str_puts(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < n && !rc; i++) {
		rc = fit_str_puts(out, "<tr>");
		for (size_t k = 0; k < t->n_columns && !rc; k++)
			rc = fit_html_cell(out, &t->columns[k], i);
		rc = rc ? rc : fit_str_puts(out, "</tr>\n");
	}
	rc = rc ? rc : fit_str_puts(out, "</tbody></table></div>\n");
	if (!rc && n < t->n_rows)
		rc = fit_str_printf(out, "<p>%zu more %s.</p>\n", t->n_rows - n,
				    fit_plural(t->n_rows - n, "row is not shown", "rows are not shown"));
	return rc;
}

/* ---- pictures ---- */

static bool begins(struct fit_text t, size_t at, const char *with)
{
	size_t n = strlen(with);

	return at <= t.n && t.n - at >= n && memcmp(t.s + at, with, n) == 0;
}

static size_t find(struct fit_text t, size_t from, const char *what)
{
	while (from < t.n && !begins(t, from, what))
		from++;
	return from;
}

/* An attribute that runs something: a blank, "on", letters, "=" */
static bool is_handler(struct fit_text t, size_t at)
{
	if (at == 0 || (t.s[at - 1] != ' ' && t.s[at - 1] != '\n' && t.s[at - 1] != '\t') || !begins(t, at, "on"))
		return false;
	for (at += 2; at < t.n && t.s[at] >= 'a' && t.s[at] <= 'z'; at++)
		;
	return at < t.n && t.s[at] == '=';
}

/* What is not for a page that stands by itself; NULL: nothing at this place */
static const char *forbidden(struct fit_text t, size_t at, bool in_tag)
{
	static const char *const words[] = { "<script", "<foreignObject", "<image", "<!ENTITY", "<iframe" };

	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (begins(t, at, words[k]))
			return words[k];
	if (in_tag && is_handler(t, at))
		return "an event handler";
	if (in_tag && begins(t, at, "href=") && !begins(t, at, "href='#") && !begins(t, at, "href=\"#"))
		return "a reference to elsewhere";
	if (in_tag && begins(t, at, "url(") && !begins(t, at, "url(#") && !begins(t, at, "url('#") &&
	    !begins(t, at, "url(\"#"))
		return "a reference to elsewhere";
	return NULL;
}

/* Behind which of these an id begins: the length of the mark, or 0 */
static size_t id_mark(struct fit_text t, size_t at)
{
	static const char *const marks[] = { "href=\"#", "href='#", "url(#", "url('#", "url(\"#" };
	bool blank = at < t.n && (t.s[at] == ' ' || t.s[at] == '\t' || t.s[at] == '\n');

	if (blank && (begins(t, at + 1, "id=\"") || begins(t, at + 1, "id='")))
		return 5;
	for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
		if (begins(t, at, marks[k]))
			return strlen(marks[k]);
	return 0;
}

/* The length of an id attribute that nothing refers to, its mark of length n included; else 0. gnuplot gives
 * an id to each plot, and the same ones to the plots of each panel. */
static size_t unused_id(struct fit_text t, size_t at, size_t n)
{
	struct fit_text id = { t.s + at + n, 0 };

	if (t.s[at + 1] != 'i')
		return 0;
	while (at + n + id.n < t.n && id.s[id.n] != t.s[at + n - 1])
		id.n++;
	for (size_t i = 0; i + id.n + 1 < t.n; i++)
		if (t.s[i] == '#' && memcmp(t.s + i + 1, id.s, id.n) == 0 &&
		    strchr("\"')", t.s[i + 1 + id.n]) && t.s[i + 1 + id.n])
			return 0;
	return n + id.n + 1;
}

int fit_html_svg(struct fit_str *out, struct fit_text svg, const char *prefix, const char *label,
		 struct fit_err *err)
{
	size_t at = find(svg, 0, "<svg"), end = find(svg, at, "</svg>"), old = out->n;
	bool in_tag = true;
	int rc;

	if (at == svg.n || end == svg.n)
		return fit_fail(err, FIT_EPARSE, "no svg element (expected an SVG picture)");
	svg.n = end + strlen("</svg>");
	rc = fit_str_puts(out, "<svg role=\"img\" aria-label=\"");
	rc = rc ? rc : fit_html_puts(out, label);
	rc = rc ? rc : fit_str_puts(out, "\"");
	for (at += strlen("<svg"); at < svg.n && !rc; ) {
		const char *bad = forbidden(svg, at, in_tag);
		size_t mark = in_tag ? id_mark(svg, at) : 0;

		if (bad) {
			out->n = old;
			out->s[old] = '\0';
			return fit_fail(err, FIT_EPARSE, "a picture with %s (expected one that stands by itself)", bad);
		}
		/* titles inside a picture become tooltips; the picture has its label */
		if (begins(svg, at, "<title>")) {
			at = find(svg, at, "</title>") + strlen("</title>");
			continue;
		}
		if (mark && unused_id(svg, at, mark)) {
			at += unused_id(svg, at, mark);
			continue;
		}
		if (svg.s[at] == '<' || svg.s[at] == '>')
			in_tag = svg.s[at] == '<';
		rc = fit_str_add(out, svg.s + at, mark ? mark : 1);
		if (!rc && mark)
			rc = fit_str_puts(out, prefix);
		at += mark ? mark : 1;
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}
