/* SPDX-License-Identifier: MIT */
/*
 * gf-diff: compare two tables, or two streams or stores of tables, by key. Silent and 0 when they are
 * equal; else it says what is missing, the first and the worst cells, and how many, and exits with 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/outfile.h"
#include "libfit/table/diff.h"
#include "tools/common/cli.h"

struct options {
	struct cli_list key, columns, ignore;
	bool exact;
	double rel, abs;
	int64_t max;
};

static const struct cli_option option_table[] = {
	{ 'k', "key", CLI_LIST, offsetof(struct options, key), "COLUMNS", "the first column",
	  "columns that name a row, separated by commas", NULL, 0, 0, 0 },
	{ 'c', "columns", CLI_LIST, offsetof(struct options, columns), "COLUMNS", "all",
	  "compare these columns only", NULL, 0, 0, 0 },
	{ 'i', "ignore", CLI_LIST, offsetof(struct options, ignore), "COLUMNS", NULL,
	  "do not compare these columns", NULL, 0, 0, 0 },
	{ 0, "exact", CLI_FLAG, offsetof(struct options, exact), NULL, NULL,
	  "numbers must be equal (what happens without --rel and --abs)", NULL, 0, 0, 0 },
	{ 0, "rel", CLI_REAL, offsetof(struct options, rel), "R", "0",
	  "allow a difference of R times the larger number", NULL, 0, 1e9, 0 },
	{ 0, "abs", CLI_REAL, offsetof(struct options, abs), "A", "0", "allow a difference of A besides",
	  NULL, 0, 1e300, 0 },
	{ 0, "max", CLI_INT, offsetof(struct options, max), "N", "3",
	  "list at most N rows and N cells one by one", NULL, 0, 1e9, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- "a,b" and repeated options as one list ---- */

struct names {
	const char **items;
	char **owned;
	size_t n, cap, cap_owned;
};

static void release_names(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->owned[i]);
	free(l->owned);
	free(l->items);
}

static int split_names(struct names *l, const struct cli_list *from)
{
	for (size_t i = 0; i < from->n; i++) {
		for (const char *s = from->items[i]; s; ) {
			size_t len = strcspn(s, ",");

			if (fit_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items) ||
			    fit_grow(&l->owned, &l->cap_owned, l->n + 1, sizeof *l->owned))
				return FIT_ENOMEM;
			l->owned[l->n] = fit_strdup((struct fit_text){ s, len });
			if (!l->owned[l->n])
				return FIT_ENOMEM;
			l->items[l->n] = l->owned[l->n];
			l->n++;
			s = s[len] ? s + len + 1 : NULL;
		}
	}
	return FIT_OK;
}

/* ---- the report ---- */

static int say_columns(struct fit_str *out, const char *who, const struct fit_table *t, const size_t *columns,
		       size_t n)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = fit_str_printf(out, "only in %s: column %s\n", who, t->columns[columns[i]].name);
	return rc;
}

static int say_rows(struct fit_str *out, const char *who, const struct fit_table *t, const size_t *keys,
		    size_t n_keys, const size_t *rows, size_t n, size_t max)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < n && i < max && !rc; i++) {
		rc = fit_str_printf(out, "only in %s: row ", who);
		rc = rc ? rc : fit_diff_row_name(out, t, keys, n_keys, rows[i]);
		rc = rc ? rc : fit_str_puts(out, "\n");
	}
	return rc;
}

static int say_cell(struct fit_str *out, const struct fit_diff *d, const struct fit_table *a,
		    const struct fit_table *b, const struct fit_diff_cell *cell)
{
	const struct fit_diff_column *c = &d->columns[cell->column];
	int rc = fit_diff_row_name(out, a, d->keys_a, d->n_keys, cell->row_a);

	rc = rc ? rc : fit_str_puts(out, " ");
	rc = rc ? rc : fit_diff_cell_text(out, a, c->in_a, cell->row_a);
	rc = rc ? rc : fit_str_puts(out, " -> ");
	rc = rc ? rc : fit_diff_cell_text(out, b, c->in_b, cell->row_b);
	if (!rc && isfinite(cell->gap))
		rc = fit_str_printf(out, " (off by %.3g, %.3g %%)", cell->gap, 100 * cell->share);
	return rc;
}

static int say_cells(struct fit_str *out, const struct fit_diff *d, const struct fit_table *a,
		     const struct fit_table *b, size_t max)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < d->n_cells && i < max && !rc; i++) {
		rc = fit_str_printf(out, "%s: ", d->columns[d->cells[i].column].name);
		rc = rc ? rc : say_cell(out, d, a, b, &d->cells[i]);
		rc = rc ? rc : fit_str_puts(out, "\n");
	}
	for (size_t k = 0; k < d->n_columns && !rc; k++) {
		const struct fit_diff_column *c = &d->columns[k];

		if (!c->different)
			continue;
		rc = fit_str_printf(out, "%s: %zu cell%s differ%s; first ", c->name, c->different,
				    c->different > 1 ? "s" : "", c->different > 1 ? "" : "s");
		rc = rc ? rc : say_cell(out, d, a, b, &c->first);
		rc = rc ? rc : fit_str_puts(out, "; worst ");
		rc = rc ? rc : say_cell(out, d, a, b, &c->worst);
		rc = rc ? rc : fit_str_puts(out, "\n");
	}
	return rc;
}

/* Of several columns the one that differs most, as a share: their units may differ. */
static int say_most(struct fit_str *out, const struct fit_diff *d, const struct fit_table *a,
		    const struct fit_table *b)
{
	const struct fit_diff_cell *most = NULL;
	size_t different = 0;
	int rc;

	for (size_t k = 0; k < d->n_columns; k++) {
		const struct fit_diff_cell *cell = &d->columns[k].worst;

		if (!d->columns[k].different)
			continue;
		different++;
		if (isfinite(cell->share) && (!most || cell->share > most->share))
			most = cell;
	}
	if (!most || different < 2)
		return FIT_OK;
	rc = fit_str_printf(out, "largest share: %s: ", d->columns[most->column].name);
	rc = rc ? rc : say_cell(out, d, a, b, most);
	return rc ? rc : fit_str_puts(out, "\n");
}

static int report(struct fit_str *out, const struct fit_diff *d, const struct fit_table *a,
		  const struct fit_table *b, size_t max)
{
	int rc = FIT_OK;

	if (a->name[0])
		rc = fit_str_printf(out, "table %s\n", a->name);
	rc = rc ? rc : say_columns(out, "A", a, d->columns_a, d->n_columns_a);
	rc = rc ? rc : say_columns(out, "B", b, d->columns_b, d->n_columns_b);
	rc = rc ? rc : say_rows(out, "A", a, d->keys_a, d->n_keys, d->rows_a, d->n_rows_a, max);
	rc = rc ? rc : say_rows(out, "B", b, d->keys_b, d->n_keys, d->rows_b, d->n_rows_b, max);
	rc = rc ? rc : say_cells(out, d, a, b, max);
	rc = rc ? rc : say_most(out, d, a, b);
	rc = rc ? rc : fit_str_printf(out, "%zu column%s and %zu row%s only in A, %zu column%s and %zu row%s "
				      "only in B, %zu of %zu cells differ\n",
				      d->n_columns_a, d->n_columns_a == 1 ? "" : "s",
				      d->n_rows_a, d->n_rows_a == 1 ? "" : "s",
				      d->n_columns_b, d->n_columns_b == 1 ? "" : "s",
				      d->n_rows_b, d->n_rows_b == 1 ? "" : "s", d->n_cells, d->n_compared);
	return rc;
}

/* ---- tables one after another ---- */

/* The next table of a reader. *end is set when there is none. */
static int next_table(struct fit_table *t, struct fit_reader *r, bool *end, struct fit_err *err)
{
	int rc = fit_table_read_next(t, r, NULL, 0, err);

	*end = rc == FIT_END;
	return *end ? FIT_OK : rc;
}

static int compare(struct fit_reader *ra, struct fit_reader *rb, const struct fit_diff_params *p,
		   struct fit_str *out, bool *equal, struct fit_err *err)
{
	bool end_a = false, end_b = false;
	int rc = FIT_OK;

	while (!rc) {
		struct fit_table a = { 0 }, b = { 0 };
		struct fit_diff d = { 0 };

		rc = next_table(&a, ra, &end_a, err);
		rc = rc ? rc : next_table(&b, rb, &end_b, err);
		if (!rc && !end_a && !end_b) {
			rc = fit_diff_tables(&d, &a, &b, p, err);
			if (!rc && !fit_diff_equal(&d)) {
				*equal = false;
				rc = report(out, &d, &a, &b, p->max) ? fit_fail_nomem(err) : FIT_OK;
			}
		} else if (!rc && end_a != end_b) {
			*equal = false;
			rc = fit_str_printf(out, "only in %s: table %s\n", end_a ? "B" : "A",
					    end_a ? b.name : a.name) ? fit_fail_nomem(err) : FIT_OK;
		}
		fit_diff_release(&d);
		fit_table_release(&a);
		fit_table_release(&b);
		if (end_a && end_b)
			break;
	}
	return rc;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct names key = { 0 }, columns = { 0 }, ignore = { 0 };
	struct fit_reader *a = NULL, *b = NULL;
	struct fit_diff_params p = { .rel = o->rel, .abs = o->abs, .max = (size_t)o->max };
	struct fit_str out = { 0 };
	struct fit_err err = { 0 };
	bool equal = true;
	int rc, status;

	if (o->exact && (o->rel > 0 || o->abs > 0))
		return cli_usage(cli, "--exact allows no --rel and no --abs");
	if (cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a report cannot go into a store '%s'", cli->out);
	if (split_names(&key, &o->key) || split_names(&columns, &o->columns) || split_names(&ignore, &o->ignore))
		rc = fit_fail_nomem(&err);
	else
		rc = fit_reader_open(&a, cli->operands[0], &err);
	rc = rc ? rc : fit_reader_open(&b, cli->operands[1], &err);
	p.keys = key.items;
	p.n_keys = key.n;
	p.columns = columns.items;
	p.n_columns = columns.n;
	p.ignore = ignore.items;
	p.n_ignore = ignore.n;
	rc = rc ? rc : compare(a, b, &p, &out, &equal, &err);
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ out.s, out.n }, &err);
	status = rc ? cli_error(cli, &err) : equal ? CLI_EXIT_OK : CLI_EXIT_DATA;
	fit_reader_close(a);
	fit_reader_close(b);
	fit_str_release(&out);
	release_names(&key);
	release_names(&columns);
	release_names(&ignore);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "A B", "", option_table, 2, 2, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-diff", "Compare two tables by key, exactly or with tolerances.",
	"Nothing is printed and the status is 0 when they are equal; else it is 1.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .max = 3 };

	return cli_main(&tool, argc, argv, &o);
}
