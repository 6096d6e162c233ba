/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "libfit/plot/html.h"
#include "libfit/plot/report_parts.h"

static const char mark[] = "<pre id=\"gf-report-data\">";

static int add_field(struct fit_str *list, struct fit_text t)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t.n && !rc; i++)
		rc = fit_str_add(list, t.s[i] == '\t' || t.s[i] == '\n' ? " " : t.s + i, 1);
	return rc;
}

int fit_report_entry(struct fit_str *list, const char *kind, struct fit_text name, struct fit_text a,
		     struct fit_text b)
{
	int rc = fit_str_printf(list, "%s\t", kind);

	rc = rc ? rc : add_field(list, name);
	rc = rc ? rc : fit_str_puts(list, "\t");
	rc = rc ? rc : add_field(list, a);
	rc = rc ? rc : fit_str_puts(list, "\t");
	rc = rc ? rc : add_field(list, b);
	return rc ? rc : fit_str_puts(list, "\n");
}

/* A line cut at its tabs: kind, name, and what is said of it. */
struct entry {
	struct fit_text kind, name, a, b;
};

/* The entry at *at, which moves behind it; false: there is none. */
static bool next_entry(struct fit_text list, size_t *at, struct entry *e)
{
	struct fit_text *part[] = { &e->kind, &e->name, &e->a, &e->b };

	for (;;) {
		size_t k = 0;

		if (*at >= list.n)
			return false;
		memset(e, 0, sizeof *e);
		for (; k < 4; k++) {
			*part[k] = (struct fit_text){ list.s + *at, 0 };
			while (*at < list.n && list.s[*at] != '\t' && list.s[*at] != '\n')
				(*at)++, part[k]->n++;
			if (*at == list.n || list.s[*at] == '\n')
				break;
			(*at)++;
		}
		(*at)++;
		if (k == 3)
			return true;
	}
}

static bool find_entry(struct fit_text list, const struct entry *like, struct entry *found)
{
	for (size_t at = 0; next_entry(list, &at, found); )
		if (fit_text_eq(found->kind, like->kind) && fit_text_eq(found->name, like->name))
			return true;
	return false;
}

static int put_change(struct fit_str *page, const struct entry *e, const char *what,
		      const struct entry *before)
{
	bool claim = fit_text_is(e->kind, "claim");
	int rc = fit_str_puts(page, "<li>");

	rc = rc ? rc : fit_html_text(page, e->kind);
	rc = rc ? rc : fit_str_puts(page, " <b>");
	rc = rc ? rc : fit_html_text(page, e->name);
	rc = rc ? rc : fit_str_printf(page, "</b>: %s", what);
	if (claim && before) {
		rc = rc ? rc : fit_str_puts(page, " from ");
		rc = rc ? rc : fit_html_text(page, before->a);
		rc = rc ? rc : fit_str_puts(page, " (");
		rc = rc ? rc : fit_html_text(page, before->b);
		rc = rc ? rc : fit_str_puts(page, ") to ");
		rc = rc ? rc : fit_html_text(page, e->a);
		rc = rc ? rc : fit_str_puts(page, " (");
		rc = rc ? rc : fit_html_text(page, e->b);
		rc = rc ? rc : fit_str_puts(page, ")");
	}
	return rc ? rc : fit_str_puts(page, "</li>\n");
}

static int put_changes(struct fit_str *page, struct fit_text before, struct fit_text now)
{
	struct entry e, old;
	size_t n = 0, same = 0;
	int rc = fit_str_puts(page, "<ul>\n");

	for (size_t at = 0; !rc && next_entry(now, &at, &e); ) {
		bool there = find_entry(before, &e, &old);

		if (there && fit_text_eq(e.a, old.a) && fit_text_eq(e.b, old.b)) {
			same++;
			continue;
		}
		n++;
		rc = put_change(page, &e, there ? "changed" : "new", there ? &old : NULL);
	}
	for (size_t at = 0; !rc && next_entry(before, &at, &e); ) {
		if (find_entry(now, &e, &old))
			continue;
		n++;
		rc = put_change(page, &e, "gone", NULL);
	}
	rc = rc ? rc : fit_str_puts(page, "</ul>\n");
	return rc ? rc : fit_str_printf(page, "<p>%zu %s, %zu unchanged.</p>\n", n,
					fit_plural(n, "change", "changes"), same);
}

int fit_report_changes(struct fit_str *page, struct fit_text previous, const struct fit_str *now,
		       struct fit_err *err)
{
	struct fit_text list = { NULL, 0 };
	struct fit_str before = { 0 };
	int rc;

	for (size_t i = 0; i + sizeof mark - 1 <= previous.n && !list.s; i++)
		if (memcmp(previous.s + i, mark, sizeof mark - 1) == 0)
			list.s = previous.s + i + sizeof mark - 1;
	while (list.s && list.s + list.n < previous.s + previous.n && list.s[list.n] != '<')
		list.n++;
	if (!list.s || list.s + list.n == previous.s + previous.n)
		return fit_fail(err, FIT_EPARSE, "not a report of gf-report (no list of what it holds)");
	rc = fit_html_plain(&before, list);
	rc = rc ? rc : put_changes(page, (struct fit_text){ before.s, before.n },
				   (struct fit_text){ now->s, now->n });
	fit_str_release(&before);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}
