/* SPDX-License-Identifier: MIT */
/*
 * gf-tree: decision trees that can be read. Train one, predict with it, print it as text, DOT, C or JSON,
 * prune it along its cost-complexity path, and check that it holds what it says.
 */
#include <stdlib.h>

#include "libfit/model/training.h"
#include "tools/tree_data.h"
#include "tools/tree_parts.h"
#include "traces/csv_table.h"

struct options {
	struct tree_data_options data;
	int criterion, compat;		/* -1: not given */
	int64_t max_depth, min_split, min_leaf, max_leaves, folds, leaves;
	double min_weight_share, min_decrease, alpha;
	bool blocks, best, csv, path;
	const char *rows;
};

/* Those of one verb at a time are filled in. */
union all_options {
	struct options these;	/* train, prune, check */
	struct tree_predict_options predict;
	struct tree_print_options print;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)

static const char *const compat_names[] = { "sklearn", NULL };

#define WEIGHT_OPTIONS                                                                           \
	{ 0, "weight", CLI_TEXT, AT(data.weight), "COLUMN", NULL, "weights of the rows", NULL, 0, 0, R }, \
	{ 0, "class-weight", CLI_LIST, AT(data.class_weight), "WHAT", NULL,                       \
	  "balanced, or CLASS=WEIGHT, which may be repeated", NULL, 0, 0, R }

static const struct cli_option train_options[] = {
	{ 't', "target", CLI_TEXT, AT(data.target), "COLUMN", NULL, "what is predicted", NULL, 0, 0,
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
	{ 0, "nominal", CLI_LIST, AT(data.nominal), "COLUMN", "text",
	  "its values are categories; may be repeated", NULL, 0, 0, R },
	{ 0, "shape", CLI_LIST, AT(data.shape), "COLUMN=SHAPE", NULL,
	  "predictions are increasing or decreasing in it; may be repeated", NULL, 0, 0, R },
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
	TREE_CSV_OPTION(struct options), TREE_NO_OPTION
};

static const struct cli_option prune_options[] = {
	{ 0, "alpha", CLI_REAL, AT(alpha), "X", NULL, "prune at this complexity", NULL, 0, 1e300, R },
	{ 0, "leaves", CLI_INT, AT(leaves), "N", NULL, "prune to at most N leaves", NULL, 1, 1e12, R },
	{ 0, "path", CLI_FLAG, AT(path), NULL, NULL, "the whole path instead: alpha, leaves, impurity", NULL,
	  0, 0, R },
	TREE_NO_OPTION
};

static const struct cli_option check_options[] = {
	{ 0, "rows", CLI_TEXT, AT(rows), "FILE", NULL, "what it was trained on: derive every node again", NULL,
	  0, 0, CLI_INPUT },
	WEIGHT_OPTIONS, TREE_CSV_OPTION(struct options), TREE_NO_OPTION
};

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

static int note_weights(struct fit_meta *training, const struct tree_data_options *o)
{
	int rc = o->weight ? fit_meta_set(training, FIT_TREE_TRAINED_WEIGHT, o->weight) : FIT_OK;

	for (size_t i = 0; i < o->class_weight.n && !rc; i++)
		rc = fit_trained_add_text(training, FIT_TREE_TRAINED_CLASS_WEIGHT, o->class_weight.items[i]);
	return rc;
}

static int grow(struct cli *cli, const struct options *o, const struct fit_tree_data *d, const char *hash,
		struct fit_err *err)
{
	struct fit_tree_params p = fit_tree_params_default(d->n_classes ? FIT_TREE_GINI : FIT_TREE_SQUARED);
	struct fit_tree_cv_params how = { o->folds, o->blocks, !o->best, cli->threads };
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
	if (!rc && (!(t.target = fit_strdup(fit_text_of(o->data.target))) || note_weights(&t.training, &o->data)))
		rc = fit_fail_nomem(err);
	if (!rc && o->folds > 0) {
		rc = fit_tree_cv(&cv, d, &p, &path, &how, err);
		if (!rc)
			alpha = cv.rows[cv.chosen].alpha;
	}
	if (!rc && alpha >= 0)
		rc = fit_tree_prune(&t, alpha, err);
	rc = rc ? rc : fit_tree_note_pruned(&t, &(struct fit_tree_pruned){ alpha, -1 }, err);
	if (!rc) {
		cli_note(cli, "%zu rows, %zu features: %zu leaves, depth %zu", d->n_rows, d->n_features,
			 fit_tree_n_leaves(&t), fit_tree_depth(&t));
		rc = tree_write_model(cli, &t, &path, &cv, hash, err);
	}
	free(cv.rows);
	free(path.steps);
	fit_tree_release(&t);
	return rc;
}

static int train(struct cli *cli, void *given)
{
	const struct options *o = given;
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

/* ---- prune ---- */

static int write_path(const struct cli *cli, const struct fit_tree_path *path, const char *hash,
		      struct fit_err *err)
{
	static const struct fit_field fields[] = { { "alpha", FIT_REAL, 0 }, { "leaves", FIT_INT, 0 },
						   { "impurity", FIT_REAL, 0 } };
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "path", NULL, hash, fields, 3, err);

	for (size_t i = 0; i < path->n && !rc; i++) {
		fit_writer_real(w, path->steps[i].alpha);
		fit_writer_int(w, (int64_t)path->steps[i].leaves);
		fit_writer_real(w, path->steps[i].impurity);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

static int prune(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_tree t = { 0 };
	struct fit_tree_path path = { 0 }, rest = { 0 };
	char hash[FIT_HASH_HEX];
	double alpha = o->alpha;
	struct fit_err err;
	int rc;

	if ((o->alpha >= 0) + (o->leaves > 0) + o->path != 1)
		return cli_usage(cli, "one of --alpha, --leaves and --path is needed");
	rc = tree_read_model(&t, cli_operand(cli, 0), hash, &err);
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
		rc = rc ? rc : fit_tree_note_pruned(&t, &(struct fit_tree_pruned){ o->alpha, o->leaves }, &err);
		rc = rc ? rc : fit_tree_path(&t, &rest, &err);
		rc = rc ? rc : tree_write_model(cli, &t, &rest, NULL, hash, &err);
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
	int rc = cli_table_about(cli, &w, "findings", NULL, hash, fields, 4, err);

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
	return cli_writer_end(w, rc, err);
}

static int check(struct cli *cli, void *given)
{
	const struct options *o = given;
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
	rc = tree_read_model(&t, cli_operand(cli, 0), hash, &err);
	if (!rc && o->rows) {
		uint64_t n = t.nodes[0].n;
		double weight = t.nodes[0].weight;

		if ((weight < (double)n || weight > (double)n) && !how.weight && !how.class_weight.n) {
			fit_tree_release(&t);
			return cli_usage(cli, "the %llu rows of the model weigh %g: check needs the --weight or "
					 "--class-weight that train had", (unsigned long long)n, weight);
		}
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

/* ---- the verbs ---- */

static void defaults(void *given)
{
	*(struct options *)given = (struct options){
		.criterion = -1, .compat = -1, .max_depth = -1, .min_split = 2, .min_leaf = 1, .max_leaves = -1,
		.folds = -1, .leaves = -1, .alpha = -1
	};
}

static const struct cli_verb verbs[] = {
	{ "train", "[FILE]", "grow a tree from a table, and prune it", train_options, 0, 1,
	  .run = train, .defaults = defaults },
	{ "predict", "[FILE]", "predict each row of a table", tree_predict_options, 0, 1, .run = tree_predict },
	{ "print", "[MODEL]", "the tree as text, DOT, C or JSON, or the way of one row", tree_print_options, 0, 1,
	  .run = tree_print, .defaults = tree_print_defaults },
	{ "prune", "[MODEL]", "cut a tree back along its path, or show the path", prune_options, 0, 1,
	  .run = prune, .defaults = defaults },
	{ "check", "[MODEL]", "does the tree hold what it says?", check_options, 0, 1,
	  .run = check, .defaults = defaults },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-tree", "Decision trees: train, predict, print, prune, check.",
	"MODEL is what train writes, or a JSON file (its name ends in .json) of ours or of scikit-learn's.",
	verbs
};

int main(int argc, char **argv)
{
	union all_options o = { .predict = { 0 } };

	return cli_main(&tool, argc, argv, &o);
}
