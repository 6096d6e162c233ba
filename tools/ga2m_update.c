/* SPDX-License-Identifier: MIT */
/* gf-ga2m update: a model goes on with fresh rows, and says how far each term moved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_edit.h"
#include "libfit/model/ga2m_update.h"
#include "libfit/table/source.h"
#include "tools/ga2m_rows.h"

#define AT(field) offsetof(struct ga2m_update_options, field)
#define R CLI_RESULT

const struct cli_option ga2m_update_options[] = {
	{ 'm', "model", CLI_TEXT, AT(model), "MODEL", NULL, "the model so far", NULL, 0, 0,
	  CLI_REQUIRED | CLI_INPUT },
	{ 0, "drift", CLI_TEXT, AT(drift), "FILE", NULL, "how far each term moved, as a table", NULL,
	  0, 0, CLI_OUTPUT },
	{ 0, "keep", CLI_REAL, AT(keep), "X", "1", "what the weights of old rows count for from now on",
		NULL, 0, 1,
	  R },
	{ 0, "target", CLI_TEXT, AT(target), "COLUMN", "that of the model", "what the model predicts", NULL, 0, 0,
	  R },
	{ 0, "time", CLI_TEXT, AT(time), "COLUMN", "that of the model", "orders the rows for validation by blocks",
	  NULL, 0, 0, R },
	{ 0, "bags", CLI_INT, AT(bags), "N", "14", "models of the change that are averaged", NULL, 1, 1000, R },
	{ 0, "share", CLI_REAL, AT(share), "X", "0.15", "rows that a bag holds back", NULL, 0, 0.9, R },
	{ 0, "max-rounds", CLI_INT, AT(max_rounds), "N", "5000", "most rounds of a bag", NULL, 0, 1e9, R },
	{ 0, "smoothing-rounds", CLI_INT, AT(smoothing), "N", "0", "rounds of random cuts ahead", NULL, 0,
		1e9, R },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

void ga2m_update_defaults(void *given)
{
	struct ga2m_update_options *o = given;
	struct fit_ga2m_params p = fit_ga2m_params_default(FIT_GA2M_SQUARED);

	*o = (struct ga2m_update_options){ .keep = 1, .bags = (int64_t)p.bags, .share = p.validation_share,
					   .max_rounds = (int64_t)p.max_rounds };
}

/* ---- rows ---- */

struct fresh {
	struct fit_ga2m_data d;
	size_t cap_weight, cap_offset, cap_time;
	int target, weight, time;
};

static int column(const struct ga2m_rows *r, const char *name, int *at, struct fit_err *err)
{
	*at = name ? fit_input_find(r->in, name, NULL) : -1;
	if (name && *at < 0)
		return fit_input_lacks(r->in, name, err);
	return FIT_OK;
}

static int target_of(const struct ga2m_rows *r, const struct fresh *g, double *y, struct fit_err *err)
{
	const struct fit_ga2m *m = r->m;
	char buf[FIT_NUM_MAX], canonical[40];
	struct fit_text t;
	int rc;

	if (!m->n_classes) {
		rc = fit_input_need(r->in, g->target, false, y, err);
		if (!rc && ((m->loss == FIT_GA2M_GAMMA && !(*y > 0)) || (m->loss == FIT_GA2M_POISSON && !(*y >= 0))))
			return fit_input_fail(r->in, g->target, err, "bad target '%g' for %s loss", *y,
					      fit_ga2m_loss_name(m->loss));
		return rc;
	}
	t = fit_input_text(r->in, g->target, buf);
	if (t.s)
		t = fit_ga2m_category_text(t, canonical);
	for (size_t c = 0; c < m->n_classes && t.s; c++) {
		*y = (double)c;
		if (fit_text_is(t, m->classes[c]))
			return FIT_OK;
	}
	return fit_input_fail(r->in, g->target, err, "'%.*s' is no class of the model", FIT_TEXT_ARG(t));
}

static int keep_number(double **list, size_t *cap, size_t i, double v, struct fit_err *err)
{
	if (fit_grow(list, cap, i + 1, sizeof **list))
		return fit_fail_nomem(err);
	(*list)[i] = v;
	return FIT_OK;
}

static int one_row(const struct ga2m_rows *r, struct fresh *g, struct fit_text *texts,
		   char (*buf)[FIT_NUM_MAX], struct fit_err *err)
{
	size_t i = g->d.n_rows;
	double y = 0, v = 0;
	int rc = target_of(r, g, &y, err);

	if (!rc && g->weight >= 0) {
		rc = fit_input_need(r->in, g->weight, false, &v, err);
		if (!rc && v < 0)
			return fit_input_fail(r->in, g->weight, err, "bad weight '%g' (expected 0 or more)", v);
		rc = rc ? rc : keep_number(&g->d.weight, &g->cap_weight, i, v, err);
	}
	if (!rc && r->offset >= 0)
		rc = keep_number(&g->d.offset, &g->cap_offset, i, r->known, err);
	if (!rc && g->time >= 0) {
		rc = fit_input_need(r->in, g->time, false, &v, err);
		rc = rc ? rc : keep_number(&g->d.time, &g->cap_time, i, v, err);
	}
	for (size_t f = 0; f < r->m->n_features; f++)
		texts[f] = r->m->features[f].nominal ? fit_input_text(r->in, r->column[f], buf[f])
						      : (struct fit_text){ NULL, 0 };
	if (!rc && fit_ga2m_data_add(&g->d, r->x, texts, y))
		rc = fit_fail_nomem(err);
	return rc;
}

static int start(struct fresh *g, const struct fit_ga2m *m, struct fit_err *err)
{
	const char **names = calloc(m->n_features + 1, sizeof *names);
	bool *nominal = calloc(m->n_features + 1, sizeof *nominal);
	int rc = names && nominal ? FIT_OK : FIT_ENOMEM;

	for (size_t f = 0; f < m->n_features && !rc; f++) {
		names[f] = m->features[f].name;
		nominal[f] = m->features[f].nominal;
	}
	rc = rc ? rc : fit_ga2m_data_init(&g->d, names, nominal, m->n_features);
	if (!rc && m->n_classes) {
		g->d.classes = calloc(m->n_classes + 1, sizeof *g->d.classes);
		rc = g->d.classes ? FIT_OK : FIT_ENOMEM;
		for (; g->d.n_classes < m->n_classes && !rc; g->d.n_classes++)
			if (!(g->d.classes[g->d.n_classes] = fit_strdup(fit_text_of(m->classes[g->d.n_classes]))))
				rc = FIT_ENOMEM;
	}
	free(names);
	free(nominal);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int read_rows(struct cli *cli, const struct ga2m_update_options *o, const struct fit_ga2m *m,
		     struct fresh *g, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_text *texts = calloc(m->n_features + 1, sizeof *texts);
	char(*buf)[FIT_NUM_MAX] = calloc(m->n_features + 1, sizeof *buf);
	struct ga2m_rows r;
	int rc = ga2m_rows_open(&r, m, cli_operand(cli, 0), o->csv, NULL, err);

	if (!rc && (!texts || !buf))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : start(g, m, err);
	rc = rc ? rc : column(&r, o->target ? o->target : m->target, &g->target, err);
	rc = rc ? rc : column(&r, m->weight, &g->weight, err);
	rc = rc ? rc : column(&r, o->time ? o->time : m->time, &g->time, err);
	while (!rc && (rc = ga2m_rows_next(&r, err)) == FIT_OK)
		rc = one_row(&r, g, texts, buf, err);
	if (rc == FIT_END) {
		fit_input_hash(r.in, hash);
		rc = g->d.n_rows ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", fit_input_name(r.in));
	}
	ga2m_rows_close(&r);
	free(texts);
	free(buf);
	return rc;
}

/* ---- what moved ---- */

static int write_drift(const struct cli *cli, const char *file, const char *hash, const struct fit_ga2m *m,
		       const struct fit_ga2m_drift *drift, struct fit_writer **w, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "term", FIT_TEXT, 0 },	      { "mean_change", FIT_REAL, 0 },
		{ "largest_change", FIT_REAL, 0 },    { "spread", FIT_REAL, 0 },
		{ "importance_before", FIT_REAL, 0 }, { "importance_after", FIT_REAL, 0 }
	};
	struct fit_str name = { 0 };
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, true) || cli_meta_input(&meta, NULL, hash) ? fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : fit_writer_open(w, file, 0, err);
	rc = rc ? rc : fit_writer_begin(*w, "drift", &meta, fields, sizeof fields / sizeof *fields, err);
	for (size_t i = 0; i <= m->n_terms && !rc; i++) {
		const struct fit_ga2m_drift *x = &drift[i];

		if (x->term != SIZE_MAX && fit_ga2m_term_name(m, x->term, &name)) {
			rc = fit_fail_nomem(err);
			break;
		}
		fit_writer_str(*w, x->term == SIZE_MAX ? "intercept" : name.s);
		fit_writer_real(*w, x->mean);
		fit_writer_real(*w, x->largest);
		fit_writer_real_or_na(*w, x->spread);
		fit_writer_real(*w, x->importance_before);
		fit_writer_real(*w, x->importance_after);
		rc = fit_writer_end_row(*w, err);
	}
	fit_str_release(&name);
	fit_meta_release(&meta);
	return rc ? rc : fit_writer_end(*w, err);
}

static int note(struct fit_ga2m *m, size_t rows, const struct fit_ga2m_drift *drift, struct fit_err *err)
{
	struct fit_str text = { 0 }, name = { 0 };
	size_t most = 0;
	int rc;

	for (size_t i = 1; i <= m->n_terms; i++)
		if (most == 0 || drift[i].mean > drift[most].mean)
			most = i;
	rc = fit_str_printf(&text, "update: %zu rows; intercept by %.6g", rows,
			    drift[0].importance_after - drift[0].importance_before);
	if (!rc && most > 0)
		rc = fit_ga2m_term_name(m, drift[most].term, &name) ||
		     fit_str_printf(&text, "; %s moved most, by %.6g in the mean", name.s, drift[most].mean);
	rc = rc || fit_ga2m_add_note(m, text.s) ? fit_fail_nomem(err) : FIT_OK;
	fit_str_release(&text);
	fit_str_release(&name);
	return rc;
}

static struct fit_ga2m_params parameters(const struct cli *cli, const struct ga2m_update_options *o,
					 const struct fit_ga2m *m)
{
	struct fit_ga2m_params p = fit_ga2m_params_default(m->loss);

	p.bags = (size_t)o->bags;
	p.validation_share = o->share;
	p.max_rounds = (size_t)o->max_rounds;
	/* random cuts give a first shape; here there is one */
	p.smoothing_rounds = p.pair_smoothing_rounds = (size_t)o->smoothing;
	p.seed = cli->seed;
	p.threads = cli->threads;
	return p;
}

int ga2m_update(struct cli *cli, void *given)
{
	const struct ga2m_update_options *o = given;
	struct fit_ga2m m = { 0 };
	struct fresh g = { .target = -1, .weight = -1, .time = -1 };
	struct fit_ga2m_drift *drift = NULL;
	struct fit_ga2m_report report;
	struct fit_ga2m_params p;
	struct fit_writer *log = NULL;
	char hash[FIT_HASH_HEX] = "", input[FIT_HASH_HEX] = "";
	const char *file = cli_operand(cli, 0);
	struct fit_err err;
	size_t rows = 0;
	int rc;

	if (cli->no_meta)
		return cli_usage(cli, "--no-meta does not go with update (a model is several tables)");
	rc = ga2m_read_model(&m, o->model, hash, &err);
	if (!rc && o->time && strcmp(o->time, o->target ? o->target : m.target) == 0)
		rc = fit_fail(&err, FIT_EDATA, "'%s' is both the target and --time", o->time);
	rc = rc ? rc : read_rows(cli, o, &m, &g, input, &err);
	rows = g.d.n_rows;
	if (!rc) {
		p = parameters(cli, o, &m);
		rc = fit_ga2m_update(&m, &g.d, &p, o->keep, &drift, &report, &err);
		if (rc)
			fit_fail_prefix(&err, rc, "%s", fit_operand_name(file));
	}
	rc = rc ? rc : note(&m, rows, drift, &err);
	if (!rc)
		cli_note(cli, "%zu rows, %.0f steps of main effects and %.0f of pairs in the mean", rows,
			 report.mean_steps, report.mean_pair_steps);
	if (!rc && o->drift)
		rc = write_drift(cli, o->drift, input, &m, drift, &log, &err);
	rc = rc ? rc : ga2m_write_model(cli, &m, hash, &err);
	if (!rc && log) {
		rc = fit_writer_close(log, &err);
		log = NULL;
	}
	fit_writer_abort(log);
	free(drift);
	fit_ga2m_data_release(&g.d);
	fit_ga2m_release(&m);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
