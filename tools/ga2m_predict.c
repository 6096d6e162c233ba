/* SPDX-License-Identifier: MIT */
/* gf-ga2m predict: what a model says of rows. */
#include <stdlib.h>
#include <string.h>

#include "tools/ga2m_parts.h"
#include "tools/row_tables.h"

#define AT(field) offsetof(struct ga2m_predict_options, field)

const struct cli_option ga2m_predict_options[] = {
	{ 'm', "model", CLI_TEXT, AT(model), "MODEL", NULL, "the model, from gf-ga2m train", NULL, 0, 0,
	  CLI_REQUIRED | CLI_INPUT },
	{ 0, "id", CLI_TEXT, AT(id), "COLUMN", NULL, "this column of FILE first, in place of row numbers",
			NULL, 0,
	  0, CLI_RESULT },
	{ 0, "link", CLI_FLAG, AT(link), NULL, NULL, "scores on the link scale", NULL, 0, 0, CLI_RESULT },
	{ 0, "sd", CLI_FLAG, AT(sd), NULL, NULL,
			"and the spread of the score over bags (train --keep-bags)", NULL, 0,
	  0, CLI_RESULT },
	{ 0, "terms", CLI_FLAG, AT(terms), NULL, NULL, "and what each term adds to the score", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

struct job {
	const struct ga2m_predict_options *o;
	struct fit_ga2m m;
	int *column;		/* by feature */
	int id, offset;
	double *x, *score, *parts, *out;
	uint64_t *unseen;	/* by feature */
	size_t n_fields;
	struct fit_field *fields;
	struct fit_str names;	/* of the fields, one after another with NUL between */
};

static void job_release(struct job *j)
{
	fit_ga2m_release(&j->m);
	free(j->column);
	free(j->x);
	free(j->score);
	free(j->parts);
	free(j->out);
	free(j->unseen);
	free(j->fields);
	fit_str_release(&j->names);
}

static int find_columns(struct job *j, const struct fit_input *in, struct fit_err *err)
{
	const struct fit_ga2m *m = &j->m;

	j->column = calloc(m->n_features + 1, sizeof *j->column);
	j->x = calloc(m->n_features + 1, sizeof *j->x);
	j->unseen = calloc(m->n_features + 1, sizeof *j->unseen);
	j->score = calloc(m->n_outputs, sizeof *j->score);
	j->parts = calloc(m->n_terms * m->n_outputs + 1, sizeof *j->parts);
	j->out = calloc(m->n_classes + 2, sizeof *j->out);
	if (!j->column || !j->x || !j->unseen || !j->score || !j->parts || !j->out)
		return fit_fail_nomem(err);
	for (size_t f = 0; f < m->n_features; f++) {
		j->column[f] = fit_input_find(in, m->features[f].name, NULL);
		if (j->column[f] < 0)
			return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s', which the model uses",
					fit_input_name(in), m->features[f].name);
	}
	j->offset = m->offset ? fit_input_find(in, m->offset, NULL) : -1;
	if (m->offset && j->offset < 0)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s', the offset of the model",
				fit_input_name(in), m->offset);
	j->id = j->o->id ? fit_input_find(in, j->o->id, NULL) : -1;
	if (j->o->id && j->id < 0)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (--id)", fit_input_name(in), j->o->id);
	return FIT_OK;
}

/* ---- columns of the output ---- */

static int add_name(struct job *j, const char *a, const char *b, const char *c, const char *d)
{
	return fit_str_printf(&j->names, "%s%s%s%s", a, b, c, d) || fit_str_add(&j->names, "", 1) ?
			FIT_ENOMEM :
	       FIT_OK;
}

static int name_fields(struct job *j)
{
	const struct fit_ga2m *m = &j->m;
	const struct ga2m_predict_options *o = j->o;
	bool many = m->n_outputs > 1;
	struct fit_str term = { 0 };
	int rc = add_name(j, o->id ? o->id : "row", "", "", "");

	if (!rc && fit_ga2m_is_class(m->loss) && !o->link)
		rc = add_name(j, "class", "", "", "");
	if (!rc && !fit_ga2m_is_class(m->loss))
		rc = add_name(j, o->link ? "score" : "prediction", "", "", "");
	for (size_t i = 0; i < m->n_classes && !rc; i++)
		if (!o->link || many || i == 1)
			rc = o->link && !many ? add_name(j, "score", "", "", "") :
			     add_name(j, o->link ? "score_" : "p_", m->classes[i], "", "");
	for (size_t i = 0; i < m->n_outputs && o->sd && !rc; i++)
		rc = add_name(j, "sd", many ? "_" : "", many ? m->classes[i] : "", "");
	for (size_t t = 0; t < m->n_terms && o->terms && !rc; t++) {
		rc = fit_ga2m_term_name(m, t, &term);
		for (size_t i = 0; i < m->n_outputs && !rc; i++)
			rc = add_name(j, "f(", term.s, many ? ") " : ")", many ? m->classes[i] : "");
	}
	fit_str_release(&term);
	return rc;
}

static int make_fields(struct job *j, struct fit_err *err)
{
	size_t n = 0;
	const char *s;

	if (name_fields(j))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < j->names.n; i++)
		n += j->names.s[i] == '\0';
	j->fields = calloc(n, sizeof *j->fields);
	if (!j->fields)
		return fit_fail_nomem(err);
	s = j->names.s;
	for (j->n_fields = 0; j->n_fields < n; s += strlen(s) + 1) {
		enum fit_type type = j->n_fields > 0 ? FIT_REAL : j->o->id ? FIT_TEXT : FIT_INT;

		if (j->n_fields == 1 && fit_ga2m_is_class(j->m.loss) && !j->o->link)
			type = FIT_TEXT;
		j->fields[j->n_fields++] = (struct fit_field){ s, type, 0 };
	}
	return FIT_OK;
}

/* ---- rows ---- */

static int get_row(struct job *j, const struct fit_input *in, double *offset, struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	*offset = 0;
	if (j->offset >= 0)
		rc = fit_input_need(in, j->offset, false, offset, err);
	for (size_t f = 0; f < j->m.n_features && !rc; f++) {
		if (!j->m.features[f].nominal) {
			rc = fit_input_real(in, j->column[f], NULL, &j->x[f], err);
			continue;
		}
		j->x[f] = fit_ga2m_category(&j->m.features[f], fit_input_text(in, j->column[f], buf));
		j->unseen[f] += j->x[f] < 0;
	}
	return rc;
}

static int put_row(struct job *j, const struct fit_input *in, double offset, int64_t row,
		struct fit_writer *w,
		   struct fit_err *err)
{
	const struct fit_ga2m *m = &j->m;
	const struct ga2m_predict_options *o = j->o;
	char buf[FIT_NUM_MAX];
	struct fit_text id;
	size_t best = 0;

	fit_ga2m_score(m, j->x, j->score);
	for (size_t i = 0; i < m->n_outputs; i++)
		j->score[i] += offset;
	if (o->id) {
		id = fit_input_text(in, j->id, buf);
		if (id.s)
			fit_writer_text(w, id);
		else
			fit_writer_na(w);
	} else {
		fit_writer_int(w, row);
	}
	if (o->link) {
		for (size_t i = 0; i < m->n_outputs; i++)
			fit_writer_real(w, j->score[i]);
	} else {
		fit_ga2m_link_inverse(m, j->score, j->out);
		for (size_t i = 1; i < m->n_classes; i++)
			best = j->out[i] > j->out[best] ? i : best;
		if (m->n_classes)
			fit_writer_str(w, m->classes[best]);
		for (size_t i = 0; i < (m->n_classes ? m->n_classes : 1); i++)
			fit_writer_real(w, j->out[i]);
	}
	for (size_t i = 0; i < m->n_outputs && o->sd; i++)
		fit_writer_real(w, fit_ga2m_score_sd(m, j->x, i));
	if (o->terms) {
		fit_ga2m_explain(m, j->x, j->parts);
		for (size_t i = 0; i < m->n_terms * m->n_outputs; i++)
			fit_writer_real(w, j->parts[i]);
	}
	return fit_writer_end_row(w, err);
}

static int begin(const struct cli *cli, struct job *j, const char *model_hash, struct fit_writer *w,
		 struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false) || cli_meta_input(&meta, "model", model_hash) ?
			fit_fail_nomem(err) :
		 FIT_OK;

	if (!rc)
		rc = fit_writer_begin(w, NULL, &meta, j->fields, j->n_fields, err);
	fit_meta_release(&meta);
	return rc;
}

static int finish(struct fit_input *in, struct fit_writer *w, struct fit_err *err)
{
	int rc = rows_end_input(in, w, err);

	return rc ? rc : fit_writer_end(w, err);
}

int ga2m_predict(struct cli *cli, void *given)
{
	const struct ga2m_predict_options *o = given;
	struct job j = { .o = o };
	struct fit_input *in = NULL;
	struct fit_writer *w = NULL;
	struct fit_err err;
	char hash[FIT_HASH_HEX];
	double offset;
	int64_t row = 0;
	int rc = ga2m_read_model(&j.m, o->model, hash, &err);

	if (!rc && o->sd && !j.m.bag_intercept)
		rc = fit_fail(&err, FIT_EDATA, "%s: no scores of bags, so no spread (train with --keep-bags)",
				o->model);
	if (!rc)
		rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, &err);
	if (!rc)
		rc = find_columns(&j, in, &err);
	if (!rc)
		rc = make_fields(&j, &err);
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	if (!rc)
		rc = begin(cli, &j, hash, w, &err);
	while (!rc && (rc = fit_input_row(in, &err)) == FIT_OK) {
		rc = get_row(&j, in, &offset, &err);
		if (!rc)
			rc = put_row(&j, in, offset, ++row, w, &err);
	}
	if (rc == FIT_END)
		rc = finish(in, w, &err);
	if (!rc) {
		rc = fit_writer_close(w, &err);
		w = NULL;
	}
	for (size_t f = 0; !rc && f < j.m.n_features; f++)
		if (j.unseen[f])
			cli_warn(cli, "%s: %llu %s of '%s' in categories that training did not see",
				 fit_input_name(in), (unsigned long long)j.unseen[f],
				 fit_plural(j.unseen[f], "row", "rows"), j.m.features[f].name);
	fit_writer_abort(w);
	fit_input_close(in);
	job_release(&j);
	return rc ? cli_error(cli, &err) : cli->status;
}
