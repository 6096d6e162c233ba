/* SPDX-License-Identifier: MIT */
/*
 * gf-table: look at tables, convert them between the TSV stream and the HDF5 store, check and
 * describe them. Every verb takes all tables of a stream or of a store, one after another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "libfit/table/cell.h"
#include "libfit/table/describe.h"
#include "tools/common/cli.h"
#include "traces/csv_table.h"

struct options {
	int64_t rows, digits;
	int schema;		/* -1: none */
	bool csv;
};

static const char *const schema_names[] = { "jobs", "log", NULL };

static const struct cli_option show_options[] = {
	{ 'n', "rows", CLI_INT, offsetof(struct options, rows), "N", "20", "rows of each table; 0 for all",
	  NULL, 0, 1e15, 0 },
	{ 'd', "digits", CLI_INT, offsetof(struct options, digits), "N", "6",
	  "significant digits of real numbers", NULL, 1, 17, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const struct cli_option check_options[] = {
	{ 's', "schema", CLI_CHOICE, offsetof(struct options, schema), "NAME", NULL,
	  "hold each table against a canonical form", schema_names, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const struct cli_option convert_options[] = {
	{ 0, "csv", CLI_FLAG, offsetof(struct options, csv), NULL, NULL,
	  "the input is comma-separated text with a header row (as names in .csv say)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- the tables of an operand ---- */

struct tables {
	struct fit_table *t;
	size_t n;
	char *file;		/* a store: where, and the paths */
	char **paths;
	char hash[FIT_HASH_HEX];
};

static void release_tables(struct tables *all)
{
	for (size_t i = 0; i < all->n; i++) {
		fit_table_release(&all->t[i]);
		if (all->paths)
			free(all->paths[i]);
	}
	free(all->t);
	free(all->paths);
	free(all->file);
}

static int read_stream(struct tables *all, const char *operand, struct fit_err *err)
{
	int rc = fit_tables_read(&all->t, &all->n, operand, err);

	if (!rc)
		memcpy(all->hash, all->t[0].hash, sizeof all->hash);
	return rc;
}

static int read_csv(struct tables *all, const char *operand, struct fit_err *err)
{
	int rc;

	all->t = calloc(1, sizeof *all->t);
	if (!all->t)
		return fit_fail_nomem(err);
	rc = fit_csv_table(&all->t[0], operand, err);
	all->n = rc ? 0 : 1;
	snprintf(all->hash, sizeof all->hash, "%s", all->t[0].hash);
	return rc;
}

/* Only the table at path and those below it. */
static int keep_below(struct tables *all, const char *path, struct fit_err *err)
{
	size_t len = strlen(path), n = 0;

	if (strcmp(path, "/") == 0)
		return FIT_OK;
	for (size_t i = 0; i < all->n; i++) {
		char *p = all->paths[i];

		if (strncmp(p, path, len) == 0 && (p[len] == '\0' || p[len] == '/'))
			all->paths[n++] = p;
		else
			free(p);
	}
	all->n = n;
	return n ? FIT_OK : fit_fail(err, FIT_ENOTFOUND, "%s: no table '%s' in this store", all->file, path);
}

static int read_store(struct tables *all, const char *operand, struct fit_err *err)
{
	struct fit_store_request *req = NULL;
	char *path = NULL;
	int rc = fit_store_split(operand, &all->file, &path, err);

	rc = rc ? rc : fit_store_list(all->file, &all->paths, &all->n, err);
	rc = rc || !path ? rc : keep_below(all, path, err);
	free(path);
	if (rc)
		return rc;
	all->t = calloc(all->n + 1, sizeof *all->t);
	req = calloc(all->n + 1, sizeof *req);
	if (!all->t || !req) {
		free(req);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < all->n; i++)
		req[i] = (struct fit_store_request){ .path = all->paths[i], .table = &all->t[i] };
	rc = fit_store_read(all->file, req, all->n, all->hash, err);
	free(req);
	return rc;
}

static int read_tables(struct tables *all, const char *operand, bool csv, struct fit_err *err)
{
	if (csv || fit_is_csv(operand))
		return read_csv(all, operand, err);
	return fit_is_store(operand) ? read_store(all, operand, err) : read_stream(all, operand, err);
}

/* What a table is called: its path in a store, else its name. */
static const char *label(const struct tables *all, size_t i)
{
	return all->paths ? all->paths[i] : all->t[i].name;
}

/* ---- show ---- */

static int show(const struct cli *cli, const struct options *o, const struct tables *all, struct fit_err *err)
{
	struct fit_str out = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < all->n && !rc; i++) {
		const struct fit_table *t = &all->t[i];
		size_t n = o->rows ? (size_t)o->rows : t->n_rows;

		if (all->n > 1)
			rc = fit_str_printf(&out, "%s%s\n", i ? "\n" : "", *label(all, i) ? label(all, i) : "table");
		rc = rc ? rc : fit_table_show(&out, t, n, (int)o->digits);
		if (!rc && n < t->n_rows)
			rc = fit_str_printf(&out, "... %zu more of %zu rows\n", t->n_rows - n, t->n_rows);
	}
	if (rc)
		rc = fit_fail_nomem(err);
	else
		rc = fit_outfile_write(cli->out, (struct fit_text){ out.s, out.n }, err);
	fit_str_release(&out);
	return rc;
}

/* ---- convert ---- */

/* Store to store without a path: the paths stay. */
static int copy_store(const struct cli *cli, const struct tables *all, struct fit_err *err)
{
	const struct fit_table **tables = calloc(all->n + 1, sizeof *tables);
	int rc;

	if (!tables)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < all->n; i++)
		tables[i] = &all->t[i];
	rc = fit_store_write(cli->out, (const char *const *)all->paths, tables, all->n, err);
	free(tables);
	return rc;
}

static int convert(const struct cli *cli, const struct tables *all, struct fit_err *err)
{
	struct fit_writer *w = NULL;
	char *file = NULL, *path = NULL;
	bool whole = false;
	int rc = FIT_OK;

	if (cli->out && fit_is_store(cli->out)) {
		rc = fit_store_split(cli->out, &file, &path, err);
		whole = !rc && !path;
		free(file);
		free(path);
	}
	if (!rc && whole && all->paths)
		return copy_store(cli, all, err);
	rc = rc ? rc : cli_writer_open(cli, &w, err);
	for (size_t i = 0; i < all->n && !rc; i++)
		rc = fit_table_write(&all->t[i], w, err);
	return cli_writer_close(w, rc, err);
}

/* ---- reports that are tables ---- */

static void put_label(struct fit_writer *w, const struct tables *all, size_t i)
{
	fit_writer_str(w, *label(all, i) ? label(all, i) : NULL);
}

/* One row a table: for check and list. */
static int count(const struct cli *cli, const struct tables *all, struct fit_err *err)
{
	const struct fit_field fields[] = {
		{ all->paths ? "path" : "table", FIT_TEXT, 0 }, { "rows", FIT_INT, 0 }, { "columns", FIT_INT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, cli->verb->name, NULL, all->hash, fields, 3, err);

	for (size_t i = 0; i < all->n && !rc; i++) {
		put_label(w, all, i);
		fit_writer_int(w, (int64_t)all->t[i].n_rows);
		fit_writer_int(w, (int64_t)all->t[i].n_columns);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

static int check(const struct cli *cli, const struct options *o, const struct tables *all,
		 struct fit_err *err)
{
	for (size_t i = 0; i < all->n && o->schema >= 0; i++) {
		int rc = fit_schema_check(fit_schema_find(schema_names[o->schema]), &all->t[i], err);

		if (rc)
			return rc;
	}
	return count(cli, all, err);
}

static void put_extreme(struct fit_writer *w, const struct fit_summary *s, const struct fit_cell *cell,
			enum fit_type type)
{
	char num[FIT_NUM_MAX];

	if (!s->has_range)
		fit_writer_na(w);
	else if (type == FIT_TEXT)
		fit_writer_text(w, cell->u.t);
	else
		fit_writer_text(w, (struct fit_text){ num, fit_cell_format(type, cell, num) });
}

static int describe(const struct cli *cli, const struct tables *all, struct fit_err *err)
{
	const struct fit_field fields[] = {
		{ all->paths ? "path" : "table", FIT_TEXT, 0 }, { "column", FIT_TEXT, 0 }, { "type", FIT_TEXT, 0 },
		{ "rows", FIT_INT, 0 }, { "missing", FIT_INT, 0 }, { "distinct", FIT_INT, 0 },
		{ "min", FIT_TEXT, 0 }, { "max", FIT_TEXT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, cli->verb->name, NULL, all->hash, fields,
				 sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < all->n; i++) {
		const struct fit_table *t = &all->t[i];

		for (size_t c = 0; c < t->n_columns && !rc; c++) {
			const struct fit_column *col = &t->columns[c];
			struct fit_summary s;

			rc = fit_column_summarise(&s, col, t->n_rows, err);
			if (rc)
				break;
			put_label(w, all, i);
			fit_writer_str(w, col->name);
			fit_writer_str(w, fit_type_name(col->type));
			fit_writer_int(w, (int64_t)t->n_rows);
			fit_writer_int(w, (int64_t)s.missing);
			fit_writer_int(w, (int64_t)s.distinct);
			put_extreme(w, &s, &s.min, col->type);
			put_extreme(w, &s, &s.max, col->type);
			rc = fit_writer_end_row(w, err);
		}
	}
	return cli_writer_end(w, rc, err);
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	const char *verb = cli->verb->name, *operand = cli_operand(cli, 0);
	struct tables all = { 0 };
	struct fit_err err = { 0 };
	int rc;

	if (strcmp(verb, "list") == 0 && !fit_is_store(operand))
		return cli_usage(cli, "'%s' is no store (expected NAME.h5)", operand);
	if (strcmp(verb, "show") == 0 && cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a view cannot go into a store '%s'", cli->out);
	rc = read_tables(&all, operand, o->csv, &err);
	if (!rc && strcmp(verb, "show") == 0)
		rc = show(cli, o, &all, &err);
	else if (!rc && strcmp(verb, "convert") == 0)
		rc = convert(cli, &all, &err);
	else if (!rc && strcmp(verb, "check") == 0)
		rc = check(cli, o, &all, &err);
	else if (!rc && strcmp(verb, "describe") == 0)
		rc = describe(cli, &all, &err);
	else if (!rc)
		rc = count(cli, &all, &err);
	release_tables(&all);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static const struct cli_verb verbs[] = {
	{ "show", "[FILE]", "tables in aligned columns, for people", show_options, 0, 1, .run = run },
	{ "convert", "[FILE]", "copy tables: TSV, CSV, gzip or zstd in, TSV or store out",
	  convert_options, 0, 1, .run = run },
	{ "check", "[FILE]", "read everything and say how much there is", check_options, 0, 1, .run = run },
	{ "describe", "[FILE]", "type, missing, distinct, min and max of each column", NULL, 0, 1, .run = run },
	{ "list", "STORE", "the tables of a store", NULL, 1, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-table", "Show, convert, check and describe tables and stores.",
	"FILE is a TSV stream, store.h5 (all tables of the store) or store.h5:/path.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .rows = 20, .digits = 6, .schema = -1 };

	return cli_main(&tool, argc, argv, &o);
}
