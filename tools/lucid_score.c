/* SPDX-License-Identifier: MIT */
#include "tools/lucid_score.h"

#include <stdlib.h>

#include "libfit/base/outfile.h"
#include "libfit/model/sharing_score.h"

#define AT(field) offsetof(struct lucid_score_options, field)
#define R CLI_RESULT

const struct cli_option lucid_score_options[] = {
	{ 0, "pairs", CLI_TEXT, AT(pairs), "FILE", NULL,
	  "what was measured of pairs: labels that follow from it, and features that leak", NULL, 0, 0, CLI_INPUT },
	{ 0, "write", CLI_CHOICE, AT(output), "WHAT", "accuracy",
	  "what is written", lucid_score_outputs, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

const char *const lucid_score_outputs[] = { "accuracy", "labels", "tree", "text", NULL };

struct score {
	struct fit_colocation c;
	struct fit_score_measured *m;
	bool has_pairs;
};

static int describe(const struct cli *cli, const struct score *s, struct fit_meta *meta, struct fit_err *err)
{
	int rc = cli_meta(cli, meta, true);

	rc = rc ? rc : cli_meta_input(meta, "configs", s->c.hash_configs);
	if (!rc && s->has_pairs)
		rc = cli_meta_input(meta, "pairs", s->c.hash_pairs);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int begin(const struct cli *cli, const struct score *s, struct fit_writer **w, const char *name,
		 const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = describe(cli, s, &meta, err);

	return cli_table_begin(cli, w, name, &meta, rc, fields, n, err);
}

static int evaluate(const struct cli *cli, const struct score *s, struct fit_writer *w,
		    enum fit_score_features f, struct fit_err *err)
{
	struct fit_score_data d;
	int rc = fit_score_data_init(&d, &s->c, s->m, f, err);

	for (int k = 0; fit_score_method_names[k] && !rc; k++) {
		struct fit_score_tally t;

		rc = fit_score_evaluate(&d, &s->c, (enum fit_score_method)k, cli->seed, &t, NULL, err);
		if (rc)
			break;
		fit_writer_str(w, fit_score_features_names[f]);
		fit_writer_str(w, fit_score_method_names[k]);
		fit_writer_int(w, (int64_t)d.n);
		fit_writer_int(w, t.splits);
		fit_writer_int(w, t.predicted);
		fit_writer_int(w, t.right);
		fit_writer_real(w, (double)t.right / (double)t.predicted);
		fit_writer_real(w, t.least);
		fit_writer_real(w, t.most);
		rc = fit_writer_end_row(w, err);
	}
	fit_score_data_release(&d);
	return rc;
}

static int write_accuracy(const struct cli *cli, const struct score *s, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "features", FIT_TEXT, 0 }, { "method", FIT_TEXT, 0 }, { "configs", FIT_INT, 0 },
		{ "splits", FIT_INT, 0 }, { "predicted", FIT_INT, 0 }, { "right", FIT_INT, 0 },
		{ "accuracy", FIT_REAL, 0 }, { "accuracy_min", FIT_REAL, 0 }, { "accuracy_max", FIT_REAL, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = begin(cli, s, &w, "accuracy", fields, 9, err);

	for (int f = 0; fit_score_features_names[f] && !rc && (f == 0 || s->has_pairs); f++)
		rc = evaluate(cli, s, w, (enum fit_score_features)f, err);
	return cli_writer_end(w, rc, err);
}

/* The label of each configuration by a tree of all others, so that it may go into a replay. */
static int predict(const struct cli *cli, const struct score *s, int64_t *label, struct fit_err *err)
{
	struct fit_score_data d;
	struct fit_score_tally t;
	int64_t *row = NULL;
	int rc = fit_score_data_init(&d, &s->c, s->m, FIT_SCORE_ALONE, err);

	for (size_t i = 0; i < s->c.n_configs; i++)
		label[i] = -1;
	if (!rc) {
		row = calloc(d.n, sizeof *row);
		rc = row ? fit_score_evaluate(&d, &s->c, FIT_SCORE_LEAVE_ONE_OUT, cli->seed, &t, row, err) :
			   fit_fail_nomem(err);
	}
	for (size_t i = 0; i < d.n && !rc; i++)
		label[d.config[i]] = row[i];
	free(row);
	fit_score_data_release(&d);
	return rc;
}

static void write_label(struct fit_writer *w, int64_t label)
{
	if (label < 0)
		fit_writer_na(w);
	else
		fit_writer_int(w, label);
}

static void write_real(struct fit_writer *w, double x)
{
	fit_writer_real_or_na(w, x);
}

static int write_labels(const struct cli *cli, const struct score *s, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, 0 }, { "dataset", FIT_TEXT, 0 }, { "batch_size", FIT_INT, 0 },
		{ "amp", FIT_INT, 0 }, { "gpu_util_pct", FIT_REAL, 0 }, { "mem_util_pct", FIT_REAL, 0 },
		{ "fb_used_mib", FIT_REAL, 0 }, { "label", FIT_INT, 0 }, { "given_label", FIT_INT, 0 },
		{ "sides", FIT_INT, 0 }, { "mean_speed", FIT_REAL, 0 }, { "speed_label", FIT_INT, 0 }
	};
	int64_t *label = malloc((s->c.n_configs + 1) * sizeof *label);
	struct fit_writer *w = NULL;
	int rc = label ? predict(cli, s, label, err) : fit_fail_nomem(err);

	rc = rc ? rc : begin(cli, s, &w, "configs", fields, 12, err);
	for (size_t i = 0; i < s->c.n_configs && !rc; i++) {
		const struct fit_colo_config *k = &s->c.configs[i];

		fit_writer_str(w, k->app);
		fit_writer_str(w, k->dataset);
		fit_writer_int(w, k->batch_size);
		fit_writer_int(w, k->amp);
		write_real(w, k->gpu_util_pct);
		write_real(w, k->mem_util_pct);
		write_real(w, k->fb_used_mib);
		write_label(w, label[i]);
		write_label(w, k->label);
		fit_writer_int(w, s->m[i].sides);
		write_real(w, s->m[i].speed);
		write_label(w, s->m[i].label);
		rc = fit_writer_end_row(w, err);
	}
	free(label);
	return cli_writer_end(w, rc, err);
}

static int write_text(const struct cli *cli, const struct fit_tree *t, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_tree_print_text(t, 3, true, &text, err);

	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ text.s, text.n }, err);
	fit_str_release(&text);
	return rc;
}

static int write_tree(const struct cli *cli, const struct score *s, bool as_text, struct fit_err *err)
{
	struct fit_tree_params p = fit_tree_params_default(FIT_TREE_GINI);
	struct fit_tree t = { 0 };
	struct fit_score_data d;
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	int rc = fit_score_data_init(&d, &s->c, s->m, FIT_SCORE_ALONE, err);

	rc = rc ? rc : fit_tree_train(&t, &d.data, &p, err);
	if (!rc && as_text) {
		rc = write_text(cli, &t, err);
	} else if (!rc) {
		rc = describe(cli, s, &meta, err);
		rc = rc ? rc : cli_writer_open(cli, &w, err);
		rc = rc ? rc : fit_tree_write(&t, NULL, w, &meta, err);
		rc = cli_writer_close(w, rc, err);
	}
	fit_meta_release(&meta);
	fit_tree_release(&t);
	fit_score_data_release(&d);
	return rc;
}

static const struct cli_use uses[] = { { "pairs", 1, "--write accuracy or labels" }, { NULL, 0, NULL } };

int lucid_score(struct cli *cli, void *given)
{
	const struct lucid_score_options *o = given;
	struct score s = { .has_pairs = o->pairs != NULL };
	struct fit_err err;
	int rc = cli_check_uses(cli, uses, o->output == SCORE_ACCURACY || o->output == SCORE_LABELS);

	if (rc)
		return rc;
	if (fit_colocation_load(&s.c, cli_operand(cli, 0), o->pairs, &err))
		return cli_error(cli, &err);
	s.m = calloc(s.c.n_configs + 1, sizeof *s.m);
	if (!s.m)
		rc = fit_fail_nomem(&err);
	if (!rc)
		fit_score_measure(&s.c, s.m);
	if (!rc && o->output == SCORE_ACCURACY)
		rc = write_accuracy(cli, &s, &err);
	else if (!rc && o->output == SCORE_LABELS)
		rc = write_labels(cli, &s, &err);
	else if (!rc)
		rc = write_tree(cli, &s, o->output == SCORE_TEXT, &err);
	free(s.m);
	fit_colocation_release(&s.c);
	if (rc == FIT_EDATA)
		fit_fail_prefix(&err, rc, "%s", cli_operand_name(cli, 0));
	return rc ? cli_error(cli, &err) : 0;
}
