/* SPDX-License-Identifier: MIT */
/*
 * gf-report: verdicts, figures, models and where they come from, as one HTML page that stands by itself.
 */
#include <dirent.h>
#include <string.h>

#include "libfit/base/outfile.h"
#include "libfit/plot/report.h"
#include "libfit/table/source.h"
#include "tools/common/cli.h"

struct options {
	struct cli_list verdicts, models;
	const char *title, *recipes, *previous;
	int64_t rows;
};

static const struct cli_option option_table[] = {
	{ 't', "title", CLI_TEXT, offsetof(struct options, title), "TEXT", "goodfit report", "title of the page",
	  NULL, 0, 0, 0 },
	{ 0, "verdicts", CLI_LIST, offsetof(struct options, verdicts), "TABLE", NULL,
	  "a table of verdicts, as of gf-claims; may be given several times", NULL, 0, 0, CLI_INPUT },
	{ 'm', "model", CLI_LIST, offsetof(struct options, models), "TABLE", NULL,
	  "a table of a model; may be given several times", NULL, 0, 0, CLI_INPUT },
	{ 'r', "recipes", CLI_TEXT, offsetof(struct options, recipes), "FOLDER", NULL,
	  "recipes of the figures, for their captions", NULL, 0, 0, 0 },
	{ 'p', "previous", CLI_TEXT, offsetof(struct options, previous), "PAGE", NULL,
	  "an earlier report, to say what changed", NULL, 0, 0, 0 },
	{ 0, "rows", CLI_INT, offsetof(struct options, rows), "N", "40", "rows shown of each table of data", NULL,
	  1, 1e9, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- inputs ---- */

/* The name in the page: without folders, as pages must not depend on where they were made. */
static const char *short_name(const char *operand)
{
	const char *slash = strrchr(operand, '/');

	return slash && !fit_is_store(operand) ? slash + 1 : operand;
}

/* Is a column of verdicts in one of the tables from that one on? */
static bool has_verdicts(const struct fit_report_tables *t, size_t from)
{
	for (size_t i = from; i < t->n; i++) {
		const struct fit_column *v = fit_table_column(t->items[i].table, "verdict");

		if (v && (v->type == FIT_TEXT || !t->items[i].table->n_rows))
			return true;
	}
	return false;
}

static int read_tables(struct fit_report_tables *t, const struct cli_list *list, bool verdicts,
		       struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < list->n && !rc; i++) {
		size_t from = t->n;

		rc = fit_report_tables_add(t, list->items[i], short_name(list->items[i]), err);
		if (!rc && verdicts && !has_verdicts(t, from))
			rc = fit_fail(err, FIT_EDATA, "%s: no column 'verdict' of texts (--verdicts)", list->items[i]);
	}
	return rc;
}

/* Recipes may be missing there, but not all of the folder. */
static int check_folder(const char *path, struct fit_err *err)
{
	DIR *d = opendir(path);

	if (!d)
		return fit_fail_errno(err, "cannot open folder %s", path);
	closedir(d);
	return FIT_OK;
}

static int read_page(struct fit_str *page, const char *name, struct fit_err *err)
{
	int rc = fit_source_slurp(name, page, NULL, err);

	if (!rc && !page->n)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty (expected a report)", name);
	return rc;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_str previous = { 0 }, page = { 0 };
	struct fit_report_params p = {
		.title = o->title, .recipes = o->recipes, .folders = cli->operands,
		.n_folders = (size_t)cli->n_operands, .max_rows = (size_t)o->rows,
	};
	struct fit_err err = { 0 };
	int rc, status;

	if (cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a page cannot go into a store '%s'", cli->out);
	if (!o->title[strspn(o->title, " \t\n")])
		return cli_usage(cli, "an empty --title (a page needs one)");
	rc = o->recipes ? check_folder(o->recipes, &err) : FIT_OK;
	rc = rc ? rc : read_tables(&p.verdicts, &o->verdicts, true, &err);
	rc = rc ? rc : read_tables(&p.models, &o->models, false, &err);
	if (!rc && o->previous)
		rc = read_page(&previous, o->previous, &err);
	p.previous_name = o->previous;
	p.previous = (struct fit_text){ previous.s, previous.n };
	rc = rc ? rc : fit_report_write(&page, &p, &err);
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ page.s, page.n }, &err);
	status = rc ? cli_error(cli, &err) : CLI_EXIT_OK;
	fit_str_release(&page);
	fit_str_release(&previous);
	fit_report_tables_free(&p.verdicts);
	fit_report_tables_free(&p.models);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "FOLDER...", "", option_table, 1, -1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-report", "Verdicts, figures, models and where they come from, as one HTML page.",
	"A FOLDER holds pictures (NAME.svg) and what recipes of figures leave beside them.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .title = "goodfit report", .rows = 40 };

	return cli_main(&tool, argc, argv, &o);
}
