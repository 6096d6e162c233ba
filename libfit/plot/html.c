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
		return fit_str_puts(out, "<td><span role=\"img\" aria-label=\"missing\">\xe2\x80\x93</span></td>");
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

/* In characters: between the borders of columns, and a line on paper. */
#define BETWEEN 2.5
#define PAPER 94.0
#define NUMBER 9.0

static size_t longest_word(struct fit_text t)
{
	size_t most = 0, n = 0;

	for (size_t i = 0; i < t.n; i++) {
		n = t.s[i] == ' ' ? 0 : n + 1;
		most = n > most ? n : most;
	}
	return most;
}

double fit_html_column_width(const struct fit_column *c, size_t n_rows)
{
	double most = (double)strlen(c->name);

	if (c->type != FIT_TEXT)
		return BETWEEN + fmax(most, NUMBER);
	for (size_t i = 0; i < n_rows; i++)
		most = fmax(most, (double)longest_word(fit_column_text(c, i)));
	return BETWEEN + most;
}

const char *fit_html_table_tag(double width)
{
	return width > PAPER ? "<table class=\"many\">" : "<table>";
}

int fit_html_table(struct fit_str *out, const struct fit_table *t, const char *caption, size_t max_rows)
{
	size_t n = t->n_rows < max_rows ? t->n_rows : max_rows;
	double width = 0;
	int rc = fit_str_puts(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");

	rc = rc ? rc : fit_html_puts(out, caption);
	for (size_t k = 0; k < t->n_columns; k++)
		width += fit_html_column_width(&t->columns[k], n);
	rc = rc ? rc : fit_str_printf(out, "\">%s<caption>", fit_html_table_tag(width));
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

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* As begins(), for what browsers read in either case */
static bool begins_as(struct fit_text t, size_t at, const char *with)
{
	size_t n = strlen(with), i = 0;

	while (i < n && at + i < t.n && lower(t.s[at + i]) == with[i])
		i++;
	return i == n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static size_t skip_blanks(struct fit_text t, size_t at)
{
	while (at < t.n && is_blank(t.s[at]))
		at++;
	return at;
}

/* Where one stands in a picture: inside of a tag, of a value with quotes there, of a style sheet */
struct place {
	bool tag, style;
	char quote;	/* 0: in no value */
};

static void step(struct place *p, struct fit_text t, size_t at)
{
	char c = t.s[at];

	if (p->quote) {
		p->quote = c == p->quote ? 0 : p->quote;
	} else if (p->tag && (c == '"' || c == '\'')) {
		p->quote = c;
	} else if (c == '<') {
		p->tag = true;
		p->style = begins_as(t, at, "<style") || (p->style && !begins_as(t, at, "</style"));
	} else if (c == '>') {
		p->tag = false;
	}
}

/* An attribute that runs something: a blank, a slash or a quote, "on", letters, "=" */
static bool is_handler(struct fit_text t, size_t at)
{
	if (at == 0 || !(is_blank(t.s[at - 1]) || strchr("/\"'", t.s[at - 1])) || !begins_as(t, at, "on"))
		return false;
	for (at += 2; at < t.n && lower(t.s[at]) >= 'a' && lower(t.s[at]) <= 'z'; at++)
		;
	at = skip_blanks(t, at);
	return at < t.n && t.s[at] == '=';
}

/* href=, src= or url( of anything but a part of the same picture */
static bool leads_away(struct fit_text t, size_t at)
{
	bool url = begins_as(t, at, "url(");

	if (!url && !begins_as(t, at, "href") && !begins_as(t, at, "src"))
		return false;
	at = url ? at + 4 : skip_blanks(t, at + (begins_as(t, at, "src") ? 3 : 4));
	if (!url && (at == t.n || t.s[at++] != '='))
		return false;
	at = skip_blanks(t, at);
	at += at < t.n && (t.s[at] == '"' || t.s[at] == '\'');
	return at == t.n || t.s[at] != '#';
}

/* What is not for a page that stands by itself; NULL: nothing at this place */
static const char *forbidden(struct fit_text t, size_t at, const struct place *p)
{
	/* as they are named, and as browsers also read them */
	static const char *const words[][2] = {
		{ "<script", "<script" }, { "<foreignObject", "<foreignobject" }, { "<image", "<image" },
		{ "<!ENTITY", "<!entity" }, { "<iframe", "<iframe" },
	};

	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (begins_as(t, at, words[k][1]))
			return words[k][0];
	if (p->tag && is_handler(t, at))
		return "an event handler";
	if ((p->tag || p->style) && leads_away(t, at))
		return "a reference to elsewhere";
	if (p->style && begins_as(t, at, "@import"))
		return "a reference to elsewhere";
	/* either can spell any of the above */
	if ((p->tag && begins(t, at, "&#")) || ((p->tag || p->style) && t.s[at] == '\\'))
		return "escaped characters in a tag or a style sheet";
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

/* The end of what does not come into the page: titles inside a picture would become tooltips, while the
 * picture has its label; comments may hold anything. NULL: this does. */
static const char *left_out(struct fit_text t, size_t at)
{
	return begins(t, at, "<title>") ? "</title>" : begins(t, at, "<!--") ? "-->" : NULL;
}

int fit_html_svg(struct fit_str *out, struct fit_text svg, const char *prefix, const char *label,
		 struct fit_err *err)
{
	size_t at = find(svg, 0, "<svg"), end = find(svg, at, "</svg>"), old = out->n;
	struct place place = { .tag = true };
	int rc;

	if (at == svg.n || end == svg.n)
		return fit_fail(err, FIT_EPARSE, "no svg element (expected an SVG picture)");
	svg.n = end + strlen("</svg>");
	rc = fit_str_puts(out, "<svg role=\"img\" aria-label=\"");
	rc = rc ? rc : fit_html_puts(out, label);
	rc = rc ? rc : fit_str_puts(out, "\"");
	for (at += strlen("<svg"); at < svg.n && !rc; ) {
		const char *bad = forbidden(svg, at, &place), *close = left_out(svg, at);
		size_t mark = place.tag ? id_mark(svg, at) : 0;

		if (close && find(svg, at, close) == svg.n)
			bad = "a comment or a title without its end";
		if (bad) {
			out->n = old;
			out->s[old] = '\0';
			return fit_fail(err, FIT_EPARSE, "a picture with %s (expected one that stands by itself)", bad);
		}
		if (close) {
			at = find(svg, at, close) + strlen(close);
			continue;
		}
		if (mark && unused_id(svg, at, mark)) {
			at += unused_id(svg, at, mark);
			continue;
		}
		for (size_t i = 0; i < (mark ? mark : 1); i++)
			step(&place, svg, at + i);
		rc = fit_str_add(out, svg.s + at, mark ? mark : 1);
		if (!rc && mark)
			rc = fit_str_puts(out, prefix);
		at += mark ? mark : 1;
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}
