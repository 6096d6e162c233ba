/* SPDX-License-Identifier: MIT */
/* gf-tree print: a tree as text, DOT, C or JSON, or the way of one row. */
#include <stdlib.h>

#include "libfit/base/c_out.h"
#include "libfit/base/outfile.h"
#include "tools/tree_data.h"
#include "tools/tree_parts.h"
#include "traces/csv_table.h"

#define AT(field) offsetof(struct tree_print_options, field)

static const char *const format_names[] = { "text", "dot", "c", "json", NULL };
enum { FORMAT_TEXT, FORMAT_DOT, FORMAT_C, FORMAT_JSON };

const struct cli_option tree_print_options[] = {
	{ 0, "format", CLI_CHOICE, AT(format), "NAME", "text", "how the tree is written", format_names, 0, 0, 0 },
	{ 0, "digits", CLI_INT, AT(digits), "N", "6", "text and dot: decimals", NULL, 0, 17, 0 },
	{ 0, "weights", CLI_FLAG, AT(weights), NULL, NULL, "text: the weight of each class in a leaf", NULL, 0,
	  0, 0 },
	{ 0, "name", CLI_TEXT, AT(name), "NAME", "tree", "c: what functions are called", NULL, 0, 0, 0 },
	{ 0, "explain", CLI_INT, AT(explain), "ROW", NULL, "walk a row of --rows down, from 1", NULL, 1, 1e15,
	  0 },
	{ 0, "rows", CLI_TEXT, AT(rows), "FILE", NULL, "the table that --explain takes the row from", NULL, 0,
	  0, CLI_INPUT },
	TREE_CSV_OPTION(struct tree_print_options), TREE_NO_OPTION
};

void tree_print_defaults(void *given)
{
	struct tree_print_options *o = given;
	*o = (struct tree_print_options){ .digits = -1, .explain = -1 };
}

static int explain(const struct tree_print_options *o, const struct fit_tree *t, struct fit_str *out,
		   struct fit_err *err)
{
	struct fit_table table = { 0 };
	struct tree_data g = { 0 };
	double *x = calloc(t->n_features + 1, sizeof *x);
	int rc = x ? fit_any_table(&table, o->rows, o->csv, err) : fit_fail_nomem(err);

	rc = rc ? rc : tree_data_predict(&g, &table, t, NULL, err);
	if (!rc && (size_t)o->explain > table.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no row %lld (there are %zu)", table.input,
			      (long long)o->explain, table.n_rows);
	for (size_t f = 0; f < t->n_features && !rc; f++)
		x[f] = g.d.x[f][o->explain - 1];
	rc = rc ? rc : fit_tree_explain(t, x, out, err);
	free(x);
	tree_data_release(&g);
	fit_table_release(&table);
	return rc;
}

/* An option that the format does not read is a mistake, not a wish that can be passed over. */
static int usage_of_print(struct cli *cli, const struct tree_print_options *o)
{
	bool text = o->format == FORMAT_TEXT && o->explain < 0;

	if ((o->explain > 0) != (o->rows != NULL))
		return cli_usage(cli, "--explain and --rows belong together");
	if (o->csv && !o->rows)
		return cli_usage(cli, "--csv goes with --rows");
	if (o->explain > 0 && o->format > 0)
		return cli_usage(cli, "--explain writes text only");
	if (o->weights && !text)
		return cli_usage(cli, "--weights goes with --format text");
	if (o->digits >= 0 && !text && o->format != FORMAT_DOT)
		return cli_usage(cli, "--digits goes with --format text or dot");
	if (o->name && o->format != FORMAT_C)
		return cli_usage(cli, "--name goes with --format c");
	if (o->name && !fit_c_is_name(o->name))
		return cli_usage(cli, "bad name '%s' for --name (expected what C may call a function)", o->name);
	return 0;
}

int tree_print(struct cli *cli, void *given)
{
	const struct tree_print_options *o = given;
	struct fit_tree t = { 0 };
	struct fit_str out = { 0 };
	int digits = o->digits < 0 ? 6 : (int)o->digits;
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc = usage_of_print(cli, o);

	if (rc)
		return rc;
	rc = tree_read_model(&t, cli_operand(cli, 0), hash, &err);
	if (!rc && o->explain > 0)
		rc = explain(o, &t, &out, &err);
	else if (!rc && o->format == FORMAT_DOT)
		rc = fit_tree_print_dot(&t, digits, &out, &err);
	else if (!rc && o->format == FORMAT_C)
		rc = fit_tree_print_c(&t, o->name ? o->name : "tree", &out, &err);
	else if (!rc && o->format == FORMAT_JSON)
		rc = fit_tree_print_json(&t, &out, &err);
	else if (!rc)
		rc = fit_tree_print_text(&t, digits, o->weights, &out, &err);
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ out.s, out.n }, &err);
	fit_str_release(&out);
	fit_tree_release(&t);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
