/* SPDX-License-Identifier: MIT */
/* Pictures, and what lies beside them: the recipe, its claims, its tables. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/plot/html.h"
#include "libfit/plot/report_parts.h"
#include "libfit/table/source.h"

/* ---- files ---- */

struct names {
	char **items;
	size_t n, cap;
};

static void release(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i]);
	free(l->items);
}

static int add(struct names *l, struct fit_text name)
{
	int rc = fit_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items);

	if (!rc && !(l->items[l->n] = fit_strdup(name)))
		rc = FIT_ENOMEM;
	l->n += !rc;
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return fit_text_cmp_natural(fit_text_of(*x), fit_text_of(*y));
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n > m && strcmp(name + n - m, with) == 0;
}

struct folder {
	const char *path;
	size_t number;	/* in the page, from 0 */
	struct names pictures, tables, recipes;	/* without .svg, .tsv, -claims.tsv; in order */
};

/* The id of what has this name in its folder: names may come again in the next one. */
static int put_id(struct fit_str *out, const struct folder *f, const char *name)
{
	int rc = fit_html_id(out, name);

	return rc || !f->number ? rc : fit_str_printf(out, ".%zu", f->number + 1);
}

static int list_folder(struct folder *f, struct fit_err *err)
{
	DIR *d = opendir(f->path);
	const struct dirent *e;
	int rc = FIT_OK;

	if (!d)
		return fit_fail_errno(err, "cannot open folder %s", f->path);
	while (!rc && (errno = 0, e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (ends(e->d_name, ".svg"))
			rc = add(&f->pictures, (struct fit_text){ e->d_name, n - 4 });
		else if (ends(e->d_name, "-claims.tsv"))
			rc = add(&f->recipes, (struct fit_text){ e->d_name, n - 11 });
		else if (ends(e->d_name, ".tsv"))
			rc = add(&f->tables, (struct fit_text){ e->d_name, n - 4 });
	}
	rc = rc ? fit_fail_nomem(err) : errno ? fit_fail_errno(err, "cannot read folder %s", f->path) : FIT_OK;
	closedir(d);
	if (f->pictures.n)
		qsort(f->pictures.items, f->pictures.n, sizeof *f->pictures.items, by_name);
	if (f->tables.n)
		qsort(f->tables.items, f->tables.n, sizeof *f->tables.items, by_name);
	if (f->recipes.n)
		qsort(f->recipes.items, f->recipes.n, sizeof *f->recipes.items, by_name);
	return rc;
}

/* The recipe that a picture or table is of: the longest that it begins with; NULL: none. */
static const char *recipe_of(const struct folder *f, const char *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < f->recipes.n; i++) {
		const char *r = f->recipes.items[i];
		size_t n = strlen(r);

		if (strncmp(name, r, n) == 0 && (name[n] == '\0' || name[n] == '-') &&
		    (!best || n > strlen(best)))
			best = r;
	}
	return best;
}

static bool is_of(const struct folder *f, const char *name, const char *recipe)
{
	const char *r = recipe_of(f, name);

	return r ? recipe && strcmp(r, recipe) == 0 : !recipe;
}

/* ---- a picture ---- */

static int put_picture(struct fit_str *page, const struct folder *f, const char *name,
		       struct fit_report_sources *sources, struct fit_err *err)
{
	struct fit_str file = { 0 }, svg = { 0 }, id = { 0 };
	char hash[FIT_HASH_HEX];
	struct fit_hasher *h;
	int rc = fit_str_printf(&file, "%s/%s.svg", f->path, name);

	rc = rc ? rc : put_id(&id, f, name);
	rc = rc ? rc : fit_str_puts(&id, "-");
	rc = rc ? fit_fail_nomem(err) : fit_source_slurp(file.s, &svg, NULL, err);
	if (rc)
		goto out;
	h = fit_hasher_new();
	if (!h) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	fit_hasher_add(h, svg.s, svg.n);
	fit_hasher_hex(h, hash);
	fit_hasher_free(h);
	rc = fit_report_entry(&sources->list, "picture", fit_text_of(name), fit_text_of(hash), FIT_TEXT_LIT(""));
	rc = rc ? rc : fit_str_puts(page, "<figure>\n");
	if (rc) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	rc = fit_html_svg(page, (struct fit_text){ svg.s, svg.n }, id.s, name, err);
	if (rc) {
		rc = fit_fail_prefix(err, rc, "%s", file.s);
		goto out;
	}
	rc = fit_str_puts(page, "\n<figcaption>");
	rc = rc ? rc : fit_html_puts(page, name);
	rc = rc ? rc : fit_str_puts(page, "</figcaption></figure>\n");
	rc = rc ? fit_fail_nomem(err) : FIT_OK;
out:
	fit_str_release(&file);
	fit_str_release(&svg);
	fit_str_release(&id);
	return rc;
}

/* ---- tables ---- */

static int put_table(struct fit_str *page, const struct fit_table *t, const char *name, size_t max_rows,
		     struct fit_report_sources *sources)
{
	int rc = fit_report_source(sources, name, t);

	rc = rc ? rc : fit_str_puts(page, "<details><summary>Data: ");
	rc = rc ? rc : fit_html_puts(page, name);
	rc = rc ? rc : fit_str_printf(page, ", %zu %s</summary>\n", t->n_rows, fit_plural(t->n_rows, "row", "rows"));
	rc = rc ? rc : fit_html_table(page, t, name, max_rows);
	return rc ? rc : fit_str_puts(page, "</details>\n");
}

static int put_data(struct fit_str *page, const struct folder *f, const char *name, size_t max_rows,
		    struct fit_report_sources *sources, struct fit_err *err)
{
	struct fit_report_tables tables = { 0 };
	struct fit_str file = { 0 };
	int rc = fit_str_printf(&file, "%s/%s.tsv", f->path, name) ? fit_fail_nomem(err) :
		 fit_report_tables_add(&tables, file.s, name, err);

	for (size_t i = 0; i < tables.n && !rc; i++)
		if (put_table(page, tables.items[i].table, tables.items[i].name, max_rows, sources))
			rc = fit_fail_nomem(err);
	fit_report_tables_free(&tables);
	fit_str_release(&file);
	return rc;
}

/* Claims of a recipe, as it judged them itself. */
static int put_claims(struct fit_str *page, const struct folder *f, const char *recipe,
		      struct fit_report_sources *sources, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "claim", FIT_TEXT, 0 }, { "published", FIT_TEXT, 0 }, { "here", FIT_TEXT, 0 },
		{ "verdict", FIT_TEXT, 0 }, { "what", FIT_TEXT, 0 },
	};
	struct fit_table t = { 0 };
	struct fit_str name = { 0 }, file = { 0 };
	int rc = fit_str_printf(&name, "%s-claims", recipe);

	rc = rc ? rc : fit_str_printf(&file, "%s/%s.tsv", f->path, name.s);
	rc = rc ? fit_fail_nomem(err) : fit_table_read(&t, file.s, fields, 5, err);
	if (rc)
		goto out;
	rc = fit_report_source(sources, name.s, &t);
	rc = rc ? rc : fit_str_puts(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Claims\">"
				    "<table><caption>What the paper says, and what is found here</caption><thead><tr>"
				    "<th scope=\"col\">verdict</th><th scope=\"col\">what</th>"
				    "<th scope=\"col\">published</th><th scope=\"col\">here</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		static const int order[] = { 4, 1, 2 };

		rc = fit_str_puts(page, "<tr>");
		rc = rc ? rc : fit_report_verdict(page, fit_column_text(&t.columns[3], i));
		for (size_t k = 0; k < 3 && !rc; k++) {
			rc = fit_str_puts(page, "<td>");
			rc = rc ? rc : fit_html_text(page, fit_column_text(&t.columns[order[k]], i));
			rc = rc ? rc : fit_str_puts(page, "</td>");
		}
		rc = rc ? rc : fit_str_puts(page, "</tr>\n");
	}
	rc = rc ? rc : fit_str_puts(page, "</tbody></table></div>\n");
	rc = rc ? fit_fail_nomem(err) : FIT_OK;
out:
	fit_table_release(&t);
	fit_str_release(&name);
	fit_str_release(&file);
	return rc;
}

/* ---- a recipe ---- */

/* The comment at the head of a recipe, up to its first empty line. A recipe that is not there has none. */
static int put_caption(struct fit_str *page, const char *recipes, const char *recipe)
{
	struct fit_str file = { 0 }, text = { 0 };
	int rc = fit_str_printf(&file, "%s/%s", recipes, recipe);
	const char *line;

	if (rc || fit_source_slurp(file.s, &text, NULL, NULL) || fit_str_add(&text, "", 1))
		goto out;
	rc = fit_str_puts(page, "<p>");
	for (line = text.s; *line == '#' && !rc; ) {
		size_t n = strcspn(line, "\n");

		if (n <= 1)
			break;
		if (line[1] == ' ' && strncmp(line, "# SPDX", 6) != 0) {
			rc = fit_html_text(page, (struct fit_text){ line + 2, n - 2 });
			rc = rc ? rc : fit_str_puts(page, "\n");
		}
		line += n + (line[n] == '\n');
	}
	rc = rc ? rc : fit_str_puts(page, "</p>\n");
out:
	fit_str_release(&file);
	fit_str_release(&text);
	return rc;
}

static int put_recipe(struct fit_str *page, const struct folder *f, const char *recipe,
		      const struct fit_report_params *p, struct fit_report_sources *sources, struct fit_err *err)
{
	int rc = fit_str_puts(page, "<section id=\"figure-");

	rc = rc ? rc : put_id(page, f, recipe ? recipe : "others");
	rc = rc ? rc : fit_str_puts(page, "\"><h3>");
	rc = rc ? rc : fit_html_puts(page, recipe ? recipe : "Other pictures");
	rc = rc ? rc : fit_str_puts(page, "</h3>\n");
	if (recipe && p->recipes)
		rc = rc ? rc : put_caption(page, p->recipes, recipe);
	rc = rc ? fit_fail_nomem(err) : FIT_OK;
	for (size_t i = 0; i < f->pictures.n && !rc; i++)
		if (is_of(f, f->pictures.items[i], recipe))
			rc = put_picture(page, f, f->pictures.items[i], sources, err);
	if (recipe) {
		rc = rc ? rc : put_claims(page, f, recipe, sources, err);
		if (!rc && (fit_str_puts(page, "<p>Command: <code>make figures/") || fit_html_puts(page, recipe) ||
			    fit_str_puts(page, "</code></p>\n")))
			rc = fit_fail_nomem(err);
		for (size_t i = 0; i < f->tables.n && !rc; i++)
			if (is_of(f, f->tables.items[i], recipe))
				rc = put_data(page, f, f->tables.items[i], p->max_rows, sources, err);
	}
	return !rc && fit_str_puts(page, "</section>\n") ? fit_fail_nomem(err) : rc;
}

/* Where each recipe is in the page */
static int put_index(struct fit_str *page, const struct folder *f)
{
	int rc = f->recipes.n ? fit_str_puts(page, "<ul class=\"index\">\n") : FIT_OK;

	for (size_t i = 0; i < f->recipes.n && !rc; i++) {
		rc = fit_str_puts(page, "<li><a href=\"#figure-");
		rc = rc ? rc : put_id(page, f, f->recipes.items[i]);
		rc = rc ? rc : fit_str_puts(page, "\">");
		rc = rc ? rc : fit_html_puts(page, f->recipes.items[i]);
		rc = rc ? rc : fit_str_puts(page, "</a></li>\n");
	}
	return rc || !f->recipes.n ? rc : fit_str_puts(page, "</ul>\n");
}

int fit_report_figures(struct fit_str *page, const struct fit_report_params *p,
		       struct fit_report_sources *sources, size_t *n, struct fit_err *err)
{
	int rc = FIT_OK;

	*n = 0;
	for (size_t k = 0; k < p->n_folders && !rc; k++) {
		struct folder f = { .path = p->folders[k], .number = k };
		bool others = false;

		rc = list_folder(&f, err);
		if (!rc && put_index(page, &f))
			rc = fit_fail_nomem(err);
		for (size_t i = 0; i < f.recipes.n && !rc; i++)
			rc = put_recipe(page, &f, f.recipes.items[i], p, sources, err);
		for (size_t i = 0; i < f.pictures.n; i++)
			others |= !recipe_of(&f, f.pictures.items[i]);
		if (!rc && others)
			rc = put_recipe(page, &f, NULL, p, sources, err);
		*n += f.pictures.n;
		release(&f.pictures);
		release(&f.tables);
		release(&f.recipes);
	}
	return rc;
}
