/* SPDX-License-Identifier: MIT */
/* gf-tree predict: the answer of a tree to each row, as the rows come. */
#include <stdlib.h>

#include "tools/tree_data.h"
#include "tools/tree_parts.h"
#include "traces/input.h"

#define AT(field) offsetof(struct tree_predict_options, field)

const struct cli_option tree_predict_options[] = {
	{ 'm', "model", CLI_TEXT, AT(model), "MODEL", NULL, "the tree", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "id", CLI_TEXT, AT(id), "COLUMN", "row", "name rows by this column, not by number", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "leaf", CLI_FLAG, AT(leaf), NULL, NULL, "also the node that the row ends in", NULL, 0, 0, CLI_RESULT },
	{ 0, "shares", CLI_FLAG, AT(shares), NULL, NULL, "also the share of each class", NULL, 0, 0, CLI_RESULT },
	TREE_CSV_OPTION(struct tree_predict_options), TREE_NO_OPTION
};

struct job {
	const struct tree_predict_options *o;
	struct fit_tree t;
	struct fit_input *in;
	struct fit_writer *w;
	int *column;		/* by feature */
	int id;			/* -1: rows are numbered */
	double *x;
};

static void release(struct job *j)
{
	fit_writer_abort(j->w);
	fit_input_close(j->in);
	fit_tree_release(&j->t);
	free(j->column);
	free(j->x);
}

static int find_columns(struct job *j, struct fit_err *err)
{
	const struct fit_tree *t = &j->t;
	int rc = FIT_OK;

	j->column = calloc(t->n_features + 1, sizeof *j->column);
	j->x = calloc(t->n_features + 1, sizeof *j->x);
	if (!j->column || !j->x)
		return fit_fail_nomem(err);
	for (size_t f = 0; f < t->n_features && !rc; f++)
		rc = fit_input_require(j->in, t->features[f].name, &j->column[f], err);
	return rc || !j->o->id ? rc : fit_input_require(j->in, j->o->id, &j->id, err);
}

static int begin(const struct cli *cli, struct job *j, const char *model_hash, struct fit_err *err)
{
	const struct fit_tree *t = &j->t;
	struct fit_field *fields = calloc(t->n_classes + 4, sizeof *fields);
	struct fit_str *names = calloc(t->n_classes + 1, sizeof *names);
	struct fit_meta meta = { 0 };
	enum fit_type type = FIT_INT;
	size_t n = 0;
	int rc = fields && names ? FIT_OK : fit_fail_nomem(err);

	if (!rc) {
		if (j->id >= 0)
			fit_input_cell(j->in, j->id, &type);
		fields[n++] = (struct fit_field){ j->o->id ? j->o->id : "row", type, 0 };
		fields[n++] = (struct fit_field){ "predicted", t->n_classes ? FIT_TEXT : FIT_REAL, 0 };
		if (j->o->leaf)
			fields[n++] = (struct fit_field){ "leaf", FIT_INT, 0 };
	}
	for (size_t c = 0; c < t->n_classes && j->o->shares && !rc; c++) {
		rc = fit_str_printf(&names[c], "share_%s", t->classes[c]) ? fit_fail_nomem(err) : FIT_OK;
		fields[n++] = (struct fit_field){ names[c].s, FIT_REAL, 0 };
	}
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, "model", model_hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(j->w, "predictions", &meta, fields, n, err);
	for (size_t c = 0; c < t->n_classes && names; c++)
		fit_str_release(&names[c]);
	fit_meta_release(&meta);
	free(names);
	free(fields);
	return rc;
}

static int get_row(struct job *j, struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (size_t f = 0; f < j->t.n_features && !rc; f++) {
		const struct fit_tree_feature *want = &j->t.features[f];

		if (want->categorical)
			j->x[f] = tree_data_level(want, fit_input_text(j->in, j->column[f], buf));
		else
			rc = fit_input_real(j->in, j->column[f], NULL, &j->x[f], err);
	}
	return rc;
}

static int put_row(struct job *j, int64_t row, struct fit_err *err)
{
	const struct fit_tree *t = &j->t;
	size_t leaf = fit_tree_leaf(t, j->x);
	const struct fit_tree_node *a = &t->nodes[leaf];
	const struct fit_cell *id;
	enum fit_type type;

	if (j->id >= 0) {
		id = fit_input_cell(j->in, j->id, &type);
		fit_writer_cell(j->w, type, id);
	} else {
		fit_writer_int(j->w, row);
	}
	if (t->n_classes)
		fit_writer_str(j->w, t->classes[(size_t)a->value]);
	else
		fit_writer_real(j->w, a->value);
	if (j->o->leaf)
		fit_writer_int(j->w, (int64_t)leaf);
	for (size_t c = 0; c < t->n_classes && j->o->shares; c++)
		fit_writer_real(j->w, t->class_weight[leaf * t->n_classes + c] / a->weight);
	return fit_writer_end_row(j->w, err);
}

static int finish(struct job *j, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	char hash[FIT_HASH_HEX];
	int rc;

	fit_input_hash(j->in, hash);
	rc = cli_meta_input(&meta, NULL, hash) ? fit_fail_nomem(err) : fit_writer_end_meta(j->w, &meta, err);
	fit_meta_release(&meta);
	rc = rc ? rc : fit_writer_end(j->w, err);
	if (rc)
		return rc;
	rc = fit_writer_close(j->w, err);
	j->w = NULL;
	return rc;
}

int tree_predict(struct cli *cli, void *given)
{
	const struct tree_predict_options *o = given;
	struct job j = { .o = o, .id = -1 };
	char hash[FIT_HASH_HEX] = "";
	struct fit_err err;
	int64_t row = 0;
	int rc = tree_read_model(&j.t, o->model, hash, &err);

	if (!rc && o->shares && !j.t.n_classes)
		rc = fit_fail(&err, FIT_EINVAL, "--shares, but the tree predicts numbers");
	rc = rc ? rc : fit_input_open(&j.in, cli_operand(cli, 0), o->csv, &err);
	rc = rc ? rc : find_columns(&j, &err);
	rc = rc ? rc : cli_writer_open(cli, &j.w, &err);
	rc = rc ? rc : begin(cli, &j, hash, &err);
	while (!rc && (rc = fit_input_row(j.in, &err)) == FIT_OK) {
		rc = get_row(&j, &err);
		rc = rc ? rc : put_row(&j, ++row, &err);
	}
	if (rc == FIT_END)
		rc = finish(&j, &err);
	release(&j);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
