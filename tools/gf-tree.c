/* SPDX-License-Identifier: MIT */
/*
 * gf-tree: decision trees that can be read. Train one, predict with it, print it as text, DOT, C or JSON,
 * prune it along its cost-complexity path, and check that it holds what it says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "libfit/table/cell.h"
#include "libfit/table/source.h"
#include "tools/common/cli.h"
#include "tools/tree_data.h"
#include "traces/csv_table.h"

struct options {
	struct tree_data_options data;
	int criterion, compat, format;	/* -1: not given */
	int64_t max_depth, min_split, min_leaf, max_leaves, folds, leaves, digits, explain;
	double min_weight_share, min_decrease, alpha;
	bool blocks, best, csv, leaf, shares, path, weights;
	const char *model, *id, *name, *rows;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)
#define END { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

static const char *const compat_names[] = { "sklearn", NULL };
static const char *const format_names[] = { "text", "dot", "c", "json", NULL };
enum { FORMAT_TEXT, FORMAT_DOT, FORMAT_C, FORMAT_JSON };

#define CSV_OPTION                                                                               \
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,                                                \
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 }
#define WEIGHT_OPTIONS                                                                           \
	{ 0, "weight", CLI_TEXT, AT(data.weight), "COLUMN", NULL, "weights of the rows", NULL, 0, 0, R }, \
	{ 0, "class-weight", CLI_LIST, AT(data.class_weight), "WHAT", NULL,                       \
	  "balanced, or CLASS=WEIGHT, which may be repeated", NULL, 0, 0, R }

static const struct cli_option train_options[] = {
	{ 0, "target", CLI_TEXT, AT(data.target), "COLUMN", NULL, "what is predicted", NULL, 0, 0,
	  R | CLI_REQUIRED },
	{ 0, "classify", CLI_FLAG, AT(data.classes), NULL, NULL,
	  "the target is a class, also where it is a number", NULL, 0, 0, R },
	{ 0, "criterion", CLI_CHOICE, AT(criterion), "NAME", "gini; squared_error of numbers",
	  "what a cut lessens", fit_tree_criterion_names, 0, 0, R },
	WEIGHT_OPTIONS,
	{ 0, "feature", CLI_LIST, AT(data.features), "COLUMN", "all others",
	  "use this column; may be repeated", NULL, 0, 0, R },
	{ 0, "exclude", CLI_LIST, AT(data.exclude), "COLUMN", NULL,
	  "do not use this column; may be repeated", NULL, 0, 0, R },
	{ 0, "categorical", CLI_LIST, AT(data.categorical), "COLUMN", "text",
	  "values are names, also where they are numbers; may be repeated", NULL, 0, 0, R },
	{ 0, "monotone", CLI_LIST, AT(data.monotone), "COLUMN=S", NULL,
	  "S 1: predictions never fall as it rises; -1; may be repeated", NULL, 0, 0, R },
	{ 0, "max-depth", CLI_INT, AT(max_depth), "N", "no limit", "most cuts from root to leaf", NULL, 0,
	  1e6, R },
	{ 0, "max-leaves", CLI_INT, AT(max_leaves), "N", "no limit", "grow best first, to N leaves", NULL, 1,
	  1e9, R },
	{ 0, "min-split", CLI_INT, AT(min_split), "N", "2", "least rows of a node that is cut", NULL, 2, 1e12,
	  R },
	{ 0, "min-leaf", CLI_INT, AT(min_leaf), "N", "1", "least rows on each side of a cut", NULL, 1, 1e12,
	  R },
	{ 0, "min-weight-share", CLI_REAL, AT(min_weight_share), "X", "0",
	  "least share of all weight on each side of a cut", NULL, 0, 0.5, R },
	{ 0, "min-decrease", CLI_REAL, AT(min_decrease), "X", "0",
	  "least decrease of the impurity of all rows by a cut", NULL, 0, 1e300, R },
	{ 0, "alpha", CLI_REAL, AT(alpha), "X", NULL, "prune at this complexity", NULL, 0, 1e300, R },
	{ 0, "cv", CLI_INT, AT(folds), "K", NULL, "choose alpha by K-fold cross-validation", NULL, 2, 1e6, R },
	{ 0, "blocks", CLI_FLAG, AT(blocks), NULL, NULL,
	  "folds are consecutive blocks of rows (in order of time), not every K-th row", NULL, 0, 0, R },
	{ 0, "best", CLI_FLAG, AT(best), NULL, NULL,
	  "the alpha of least loss, not the smallest tree within one standard error", NULL, 0, 0, R },
	{ 0, "compat", CLI_CHOICE, AT(compat), "NAME", NULL,
	  "sklearn: single precision, values within 1e-7 are equal", compat_names, 0, 0, R },
	CSV_OPTION, END
};

static const struct cli_option predict_options[] = {
	{ 0, "model", CLI_TEXT, AT(model), "MODEL", NULL, "the tree", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "id", CLI_TEXT, AT(id), "COLUMN", "row", "name rows by this column, not by number", NULL, 0, 0, R },
	{ 0, "leaf", CLI_FLAG, AT(leaf), NULL, NULL, "also the node that the row ends in", NULL, 0, 0, R },
	{ 0, "shares", CLI_FLAG, AT(shares), NULL, NULL, "also the share of each class", NULL, 0, 0, R },
	CSV_OPTION, END
};

static const struct cli_option print_options[] = {
	{ 0, "format", CLI_CHOICE, AT(format), "NAME", "text", "how the tree is written", format_names, 0, 0, 0 },
	{ 0, "digits", CLI_INT, AT(digits), "N", "6", "decimals in text and dot", NULL, 0, 17, 0 },
	{ 0, "weights", CLI_FLAG, AT(weights), NULL, NULL, "text: the weight of each class in a leaf", NULL, 0,
	  0, 0 },
	{ 0, "name", CLI_TEXT, AT(name), "NAME", "tree", "c: what functions are called", NULL, 0, 0, 0 },
	{ 0, "explain", CLI_INT, AT(explain), "ROW", NULL, "walk a row of --rows down, from 1", NULL, 1, 1e15,
	  0 },
	{ 0, "rows", CLI_TEXT, AT(rows), "FILE", NULL, "the table that --explain takes the row from", NULL, 0,
	  0, CLI_INPUT },
	CSV_OPTION, END
};

static const struct cli_option prune_options[] = {
	{ 0, "alpha", CLI_REAL, AT(alpha), "X", NULL, "prune at this complexity", NULL, 0, 1e300, R },
	{ 0, "leaves", CLI_INT, AT(leaves), "N", NULL, "prune to at most N leaves", NULL, 1, 1e12, R },
	{ 0, "path", CLI_FLAG, AT(path), NULL, NULL, "the whole path instead: alpha, leaves, impurity", NULL,
	  0, 0, R },
	END
};

static const struct cli_option check_options[] = {
	{ 0, "rows", CLI_TEXT, AT(rows), "FILE", NULL, "what it was trained on: derive every node again", NULL,
	  0, 0, CLI_INPUT },
	WEIGHT_OPTIONS, CSV_OPTION, END
};

static const struct cli_verb verbs[] = {
	{ "train", "[FILE]", "grow a tree from a table, and prune it", train_options, 0, 1 },
	{ "predict", "[FILE]", "predict each row of a table", predict_options, 0, 1 },
	{ "print", "[MODEL]", "the tree as text, DOT, C or JSON, or the way of one row", print_options, 0, 1 },
	{ "prune", "[MODEL]", "cut a tree back along its path, or show the path", prune_options, 0, 1 },
	{ "check", "[MODEL]", "does the tree hold what it says?", check_options, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-tree", "Decision trees: train, predict, print, prune, check.",
	"MODEL is what train writes, or a JSON file (its name ends in .json) of ours or of scikit-learn's.",
	verbs
};

/* ---- models ---- */

static int read_json(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_source *s = NULL;
	struct fit_str text = { 0 };
	int rc = fit_source_open(&s, operand, err);

	if (!rc)
		rc = fit_source_read_all(s, &text, err);
	if (!rc)
		rc = fit_tree_read_json(t, fit_source_name(s), text.s ? text.s : "", text.n, err);
	if (!rc)
		fit_source_hash(s, hash);
	fit_source_close(s);
	fit_str_release(&text);
	return rc;
}

static int read_model(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	size_t n = strlen(operand);

	if (n > 5 && strcmp(operand + n - 5, ".json") == 0)
		return read_json(t, operand, hash, err);
	return fit_tree_read(t, operand, hash, err);
}

/* ---- train ---- */

static int usage_of_train(struct cli *cli, const struct options *o)
{
	struct fit_err err;

	if (o->alpha >= 0 && o->folds > 0)
		return cli_usage(cli, "--alpha and --cv both choose the complexity");
	if ((o->blocks || o->best) && o->folds < 0)
		return cli_usage(cli, "--blocks and --best go with --cv");
	if (tree_data_options_check(&o->data, &err))
		return cli_usage(cli, "%s", err.msg);
	return 0;
}

static int write_cv(const struct fit_tree_cv *cv, struct fit_writer *w, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "alpha", FIT_REAL, 0 }, { "beta", FIT_REAL, 0 }, { "leaves", FIT_INT, 0 },
		{ "loss", FIT_REAL, 0 },  { "se", FIT_REAL, 0 },	 { "chosen", FIT_INT, 0 }
	};
	int rc = fit_writer_begin(w, "cv", NULL, fields, sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < cv->n && !rc; i++) {
		fit_writer_real(w, cv->rows[i].alpha);
		fit_writer_real(w, cv->rows[i].beta);
		fit_writer_int(w, (int64_t)cv->rows[i].leaves);
		fit_writer_real(w, cv->rows[i].loss);
		fit_writer_real(w, cv->rows[i].se);
		fit_writer_int(w, i == cv->chosen);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int write_model(const struct cli *cli, const struct fit_tree *t, const struct fit_tree_path *path,
		       const struct fit_tree_cv *cv, const char *hash, struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, NULL, hash);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_tree_write(t, path, w, &meta, err);
	if (!rc && cv && cv->n)
		rc = write_cv(cv, w, err);
	fit_meta_release(&meta);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static int grow(struct cli *cli, const struct options *o, const struct fit_tree_data *d, const char *hash,
		struct fit_err *err)
{
	struct fit_tree_params p = fit_tree_params_default(d->n_classes ? FIT_TREE_GINI : FIT_TREE_SQUARED);
	struct fit_tree_cv_params how = { o->folds, o->blocks, !o->best };
	struct fit_tree_path path = { 0 };
	struct fit_tree_cv cv = { 0 };
	struct fit_tree t = { 0 };
	double alpha = o->alpha;
	int rc;

	if (o->criterion >= 0)
		p.criterion = (enum fit_tree_criterion)o->criterion;
	p.max_depth = o->max_depth;
	p.min_split = o->min_split;
	p.min_leaf = o->min_leaf;
	p.min_weight_share = o->min_weight_share;
	p.min_decrease = o->min_decrease;
	p.max_leaves = o->max_leaves;
	p.sklearn = o->compat >= 0;
	rc = fit_tree_train(&t, d, &p, err);
	rc = rc ? rc : fit_tree_path(&t, &path, err);
	if (!rc && !(t.target = fit_strdup(fit_text_of(o->data.target))))
		rc = fit_fail_nomem(err);
	if (!rc && o->folds > 0) {
		rc = fit_tree_cv(&cv, d, &p, &path, &how, err);
		if (!rc)
			alpha = cv.rows[cv.chosen].alpha;
	}
	if (!rc && alpha >= 0)
		rc = fit_tree_prune(&t, alpha, err);
	if (!rc) {
		cli_note(cli, "%zu rows, %zu features: %zu leaves, depth %zu", d->n_rows, d->n_features,
			 fit_tree_n_leaves(&t), fit_tree_depth(&t));
		rc = write_model(cli, &t, &path, &cv, hash, err);
	}
	free(cv.rows);
	free(path.steps);
	fit_tree_release(&t);
	return rc;
}

static int train(struct cli *cli, const struct options *o)
{
	struct fit_table table = { 0 };
	struct tree_data g = { 0 };
	struct fit_err err;
	int rc = usage_of_train(cli, o);

	if (rc)
		return rc;
	rc = fit_any_table(&table, cli_operand(cli, 0), o->csv, &err);
	rc = rc ? rc : tree_data_train(&g, &table, &o->data, &err);
	if (!rc && g.mixed)
		cli_warn(cli, "%s: column '%s' is taken as names, as '%.*s' is no number, though most of it are",
			 table.input, g.mixed, FIT_TEXT_ARG(g.mixed_text));
	rc = rc ? rc : grow(cli, o, &g.d, table.hash, &err);
	tree_data_release(&g);
	fit_table_release(&table);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

/* ---- predict ---- */

static int predict_head(const struct cli *cli, const struct options *o, const struct fit_tree *t,
			const char *model_hash, const struct fit_table *table, struct fit_writer **w,
			struct fit_err *err)
{
	struct fit_field *fields = calloc(t->n_classes + 4, sizeof *fields);
	char **names = calloc(t->n_classes + 1, sizeof *names);
	const struct fit_column *id = o->id ? fit_table_column(table, o->id) : NULL;
	struct fit_meta meta = { 0 };
	size_t n = 0;
	int rc = fields && names ? FIT_OK : fit_fail_nomem(err);

	if (!rc && o->id && !id)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (--id)", table->input, o->id);
	if (!rc) {
		fields[n++] = (struct fit_field){ id ? id->name : "row", id ? id->type : FIT_INT, 0 };
		fields[n++] = (struct fit_field){ "predicted", t->n_classes ? FIT_TEXT : FIT_REAL, 0 };
		if (o->leaf)
			fields[n++] = (struct fit_field){ "leaf", FIT_INT, 0 };
	}
	for (size_t c = 0; c < t->n_classes && o->shares && !rc; c++) {
		struct fit_str name = { 0 };

		rc = fit_str_printf(&name, "share_%s", t->classes[c]) ? fit_fail_nomem(err) : FIT_OK;
		names[c] = name.s;
		fields[n++] = (struct fit_field){ name.s, FIT_REAL, 0 };
	}
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, "model", model_hash) ||
		    cli_meta_input(&meta, NULL, table->hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : cli_writer_open(cli, w, err);
	rc = rc ? rc : fit_writer_begin(*w, "predictions", &meta, fields, n, err);
	for (size_t c = 0; c < t->n_classes && names; c++)
		free(names[c]);
	fit_meta_release(&meta);
	free(names);
	free(fields);
	return rc;
}

static int predict_rows(const struct options *o, const struct fit_tree *t, const struct fit_tree_data *d,
			const struct fit_table *table, struct fit_writer *w, struct fit_err *err)
{
	enum { CHUNK = 4096 };
	const struct fit_column *id = o->id ? fit_table_column(table, o->id) : NULL;
	uint32_t leaf[CHUNK];
	int rc = FIT_OK;

	for (size_t first = 0; first < d->n_rows && !rc; first += CHUNK) {
		size_t n = d->n_rows - first < CHUNK ? d->n_rows - first : CHUNK;

		fit_tree_leaves(t, d->x, first, n, leaf);
		for (size_t i = 0; i < n && !rc; i++) {
			const struct fit_tree_node *a = &t->nodes[leaf[i]];
			const double *weight = t->class_weight + leaf[i] * t->n_classes;

			if (id) {
				struct fit_cell cell = fit_column_cell(id, first + i);

				fit_writer_cell(w, id->type, &cell);
			} else {
				fit_writer_int(w, (int64_t)(first + i + 1));
			}
			if (t->n_classes)
				fit_writer_str(w, t->classes[(size_t)a->value]);
			else
				fit_writer_real(w, a->value);
			if (o->leaf)
				fit_writer_int(w, leaf[i]);
			for (size_t c = 0; c < t->n_classes && o->shares; c++)
				fit_writer_real(w, weight[c] / a->weight);
			rc = fit_writer_end_row(w, err);
		}
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int predict(struct cli *cli, const struct options *o)
{
	struct fit_table table = { 0 };
	struct tree_data g = { 0 };
	struct fit_tree t = { 0 };
	struct fit_writer *w = NULL;
	char hash[FIT_HASH_HEX] = "";
	struct fit_err err;
	int rc = read_model(&t, o->model, hash, &err);

	if (!rc && o->shares && !t.n_classes)
		rc = fit_fail(&err, FIT_EINVAL, "--shares, but the tree predicts numbers");
	rc = rc ? rc : fit_any_table(&table, cli_operand(cli, 0), o->csv, &err);
	rc = rc ? rc : tree_data_predict(&g, &table, &t, NULL, &err);
	rc = rc ? rc : predict_head(cli, o, &t, hash, &table, &w, &err);
	rc = rc ? rc : predict_rows(o, &t, &g.d, &table, w, &err);
	if (!rc)
		rc = fit_writer_close(w, &err);
	else
		fit_writer_abort(w);
	tree_data_release(&g);
	fit_table_release(&table);
	fit_tree_release(&t);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

/* ---- print ---- */

static bool is_identifier(const char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (!(s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (i > 0 && s[i] >= '0' && s[i] <= '9')))
			return false;
	return s[0] != '\0';
}

static int explain(const struct options *o, const struct fit_tree *t, struct fit_str *out,
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

static int print(struct cli *cli, const struct options *o)
{
	struct fit_tree t = { 0 };
	struct fit_str out = { 0 };
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc;

	if ((o->explain > 0) != (o->rows != NULL))
		return cli_usage(cli, "--explain and --rows belong together");
	if (o->explain > 0 && o->format > 0)
		return cli_usage(cli, "--explain writes text only");
	if (!is_identifier(o->name))
		return cli_usage(cli, "bad name '%s' for --name (expected an identifier)", o->name);
	rc = read_model(&t, cli_operand(cli, 0), hash, &err);
	if (!rc && o->explain > 0)
		rc = explain(o, &t, &out, &err);
	else if (!rc && o->format == FORMAT_DOT)
		rc = fit_tree_print_dot(&t, (int)o->digits, &out, &err);
	else if (!rc && o->format == FORMAT_C)
		rc = fit_tree_print_c(&t, o->name, &out, &err);
	else if (!rc && o->format == FORMAT_JSON)
		rc = fit_tree_print_json(&t, &out, &err);
	else if (!rc)
		rc = fit_tree_print_text(&t, (int)o->digits, o->weights, &out, &err);
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ out.s, out.n }, &err);
	fit_str_release(&out);
	fit_tree_release(&t);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

/* ---- prune ---- */

static int write_path(const struct cli *cli, const struct fit_tree_path *path, const char *hash,
		      struct fit_err *err)
{
	static const struct fit_field fields[] = { { "alpha", FIT_REAL, 0 }, { "leaves", FIT_INT, 0 },
						   { "impurity", FIT_REAL, 0 } };
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, NULL, hash);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_writer_begin(w, "path", &meta, fields, 3, err);
	for (size_t i = 0; i < path->n && !rc; i++) {
		fit_writer_real(w, path->steps[i].alpha);
		fit_writer_int(w, (int64_t)path->steps[i].leaves);
		fit_writer_real(w, path->steps[i].impurity);
		rc = fit_writer_end_row(w, err);
	}
	fit_meta_release(&meta);
	rc = rc ? rc : fit_writer_end(w, err);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static int prune(struct cli *cli, const struct options *o)
{
	struct fit_tree t = { 0 };
	struct fit_tree_path path = { 0 }, rest = { 0 };
	char hash[FIT_HASH_HEX];
	double alpha = o->alpha;
	struct fit_err err;
	int rc;

	if ((o->alpha >= 0) + (o->leaves > 0) + o->path != 1)
		return cli_usage(cli, "one of --alpha, --leaves and --path is needed");
	rc = read_model(&t, cli_operand(cli, 0), hash, &err);
	rc = rc ? rc : fit_tree_path(&t, &path, &err);
	if (!rc && o->path) {
		rc = write_path(cli, &path, hash, &err);
	} else if (!rc) {
		/* a tree that is small enough stays as it is, also where its path begins with cuts of no gain */
		if (o->leaves > 0)
			alpha = fit_tree_n_leaves(&t) <= (size_t)o->leaves
					? -1
					: fit_tree_path_alpha(&path, (size_t)o->leaves);
		rc = fit_tree_prune(&t, alpha, &err);
		rc = rc ? rc : fit_tree_path(&t, &rest, &err);
		rc = rc ? rc : write_model(cli, &t, &rest, NULL, hash, &err);
	}
	free(path.steps);
	free(rest.steps);
	fit_tree_release(&t);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

/* ---- check ---- */

static int write_findings(const struct cli *cli, const struct fit_tree_findings *f, const char *hash,
			  struct fit_err *err)
{
	static const struct fit_field fields[] = { { "check", FIT_TEXT, 0 }, { "verdict", FIT_TEXT, 0 },
						   { "node", FIT_INT, 0 },   { "what", FIT_TEXT, 0 } };
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, NULL, hash);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_writer_begin(w, "findings", &meta, fields, 4, err);
	for (size_t i = 0; i < f->n && !rc; i++) {
		const struct fit_tree_finding *x = &f->list[i];

		fit_writer_str(w, x->check);
		fit_writer_str(w, *x->what ? "fails" : "holds");
		if (x->node < 0)
			fit_writer_na(w);
		else
			fit_writer_int(w, x->node);
		fit_writer_str(w, *x->what ? x->what : NULL);
		rc = fit_writer_end_row(w, err);
	}
	fit_meta_release(&meta);
	rc = rc ? rc : fit_writer_end(w, err);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static int check(struct cli *cli, const struct options *o)
{
	struct tree_data_options how = o->data;
	struct fit_tree_findings f = { 0 };
	struct fit_table table = { 0 };
	struct tree_data g = { 0 };
	struct fit_tree t = { 0 };
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc;

	if (!o->rows && (o->data.weight || o->data.class_weight.n || o->csv))
		return cli_usage(cli, "--weight, --class-weight and --csv go with --rows");
	rc = read_model(&t, cli_operand(cli, 0), hash, &err);
	if (!rc && o->rows) {
		how.target = t.target;
		rc = t.target ? fit_any_table(&table, o->rows, o->csv, &err)
			      : fit_fail(&err, FIT_EDATA, "the model does not say what its target is");
		rc = rc ? rc : tree_data_predict(&g, &table, &t, &how, &err);
	}
	rc = rc ? rc : fit_tree_check(&t, o->rows ? &g.d : NULL, &f, &err);
	rc = rc ? rc : write_findings(cli, &f, hash, &err);
	if (!rc && f.faults > 0)
		rc = fit_fail(&err, FIT_EDATA, "%zu %s", f.faults,
			      fit_plural(f.faults, "fault", "faults"));
	free(f.list);
	tree_data_release(&g);
	fit_table_release(&table);
	fit_tree_release(&t);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static int run(struct cli *cli, const struct options *o)
{
	static int (*const jobs[])(struct cli *, const struct options *) = { train, predict, print, prune,
									      check };

	return jobs[cli->verb - verbs](cli, o);
}

int main(int argc, char **argv)
{
	struct options o = { .criterion = -1, .compat = -1, .max_depth = -1, .min_split = 2, .min_leaf = 1,
			     .max_leaves = -1, .folds = -1, .leaves = -1, .digits = 6, .alpha = -1,
			     .explain = -1, .name = "tree" };
	struct cli cli;
	int rc = cli_start(&cli, &tool, argc, argv, &o);

	if (rc >= 0)
		return rc;
	rc = cli_finish(&cli, run(&cli, &o));
	free(o.data.features.items);
	free(o.data.exclude.items);
	free(o.data.categorical.items);
	free(o.data.monotone.items);
	free(o.data.class_weight.items);
	return rc;
}
