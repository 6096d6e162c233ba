/* SPDX-License-Identifier: MIT */
/*
 * gf-throughput --model rubick: measured runs of execution plans, as gf-prof --from rubick-model writes them,
 * become constants of the performance model, one row an application; with --predict, constants and a table
 * of configurations become predicted iterations.
 */
#include <math.h>
#include <stdlib.h>

#include "libfit/model/rubick_table.h"
#include "tools/throughput_parts.h"

/* ---- fitting ---- */

struct group {
	char *app;
	struct fit_rubick_obs *obs;
	size_t n, cap;
};

struct groups {
	struct group *list;
	size_t n, cap;
	struct fit_table links;
	char hash[FIT_HASH_HEX];
};

static void release(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->list[i].app);
		free(g->list[i].obs);
	}
	free(g->list);
	fit_table_release(&g->links);
}

enum { APP, GPUS, PARAMS, THREADS, ZERO, IS_TP, IS_PP, FORWARD, SYNC, OPTIMIZE, ITER, STRATEGY, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA },
	[PARAMS] = { "parameter_size", FIT_REAL, FIT_F_NOT_NA },
	[THREADS] = { "cpu_threads", FIT_INT, FIT_F_NOT_NA },
	[ZERO] = { "zero_type", FIT_INT, FIT_F_NOT_NA },
	[IS_TP] = { "is_tp", FIT_INT, FIT_F_OPTIONAL },
	[IS_PP] = { "is_pp", FIT_INT, FIT_F_OPTIONAL },
	[FORWARD] = { "forward_ms", FIT_REAL, FIT_F_NOT_NA },
	[SYNC] = { "sync_ms", FIT_REAL, FIT_F_NOT_NA },
	[OPTIMIZE] = { "optimize_ms", FIT_REAL, FIT_F_NOT_NA },
	[ITER] = { "iter_time_ms", FIT_REAL, FIT_F_NOT_NA },
	[STRATEGY] = { "strategy", FIT_TEXT, FIT_F_NOT_NA },
};

static bool is_wanted(const struct throughput_options *o, struct fit_text app)
{
	for (size_t i = 0; i < o->app.n; i++)
		if (fit_text_is(app, o->app.items[i]))
			return true;
	return o->app.n == 0;
}

static int take_row(struct groups *g, const struct throughput_options *o, const struct fit_reader *r,
		    const struct fit_cell *c, struct fit_err *err)
{
	struct fit_rubick_obs x = {
		.run = { .params_mi = c[PARAMS].u.d, .forward_ms = c[FORWARD].u.d, .gpus = c[GPUS].u.i,
			 .cpu_threads = c[THREADS].u.i },
		.plan = { .name = "", .alpha_c = 1 },
		.sync_ms = c[SYNC].u.d, .optimize_ms = c[OPTIMIZE].u.d, .iter_ms = c[ITER].u.d,
	};
	struct fit_text s = c[STRATEGY].u.t;
	struct group *to = NULL;
	const char *wrong;

	if (!is_wanted(o, c[APP].u.t))
		return FIT_OK;
	if (c[ZERO].u.i < 0 || c[ZERO].u.i > 2)
		return fit_reader_fail(r, FIT_EDATA, "zero_type", err, "bad value '%lld' (expected 0, 1 or 2)",
				       (long long)c[ZERO].u.i);
	if (c[IS_TP].u.i || c[IS_PP].u.i)
		return fit_reader_fail(r, FIT_EDATA, c[IS_TP].u.i ? "is_tp" : "is_pp", err, "the model is fitted to "
				       "plans of the data-parallel family only (expected 0)");
	x.plan.zero = (enum fit_rubick_zero)c[ZERO].u.i;
	if (s.n < 2 || s.s[0] < '1' || s.s[0] > '9' || s.s[1] < '1' || s.s[1] > '9')
		return fit_reader_fail(r, FIT_EDATA, "strategy", err, "bad strategy '%.*s' (expected digits, the "
				       "multipliers of both passes first)", FIT_TEXT_ARG(s));
	x.plan.alpha_f = s.s[0] - '0';
	x.plan.alpha_b = s.s[1] - '0';
	wrong = fit_rubick_obs_check(&x);
	if (wrong)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "%s", wrong);
	for (size_t i = 0; i < g->n && !to; i++)
		if (fit_text_is(c[APP].u.t, g->list[i].app))
			to = &g->list[i];
	if (!to) {
		if (fit_grow(&g->list, &g->cap, g->n + 1, sizeof *g->list))
			return fit_fail_nomem(err);
		to = &g->list[g->n];
		*to = (struct group){ .app = fit_strdup(c[APP].u.t) };
		if (!to->app)
			return fit_fail_nomem(err);
		g->n++;
	}
	if (fit_grow(&to->obs, &to->cap, to->n + 1, sizeof *to->obs))
		return fit_fail_nomem(err);
	to->obs[to->n++] = x;
	return FIT_OK;
}

static int read_rows(struct groups *g, const struct throughput_options *o, const char *operand,
		     struct fit_err *err)
{
	struct fit_cell cells[N_COLUMNS];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, columns, N_COLUMNS, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		rc = rc ? rc : take_row(g, o, r, cells, err);
	}
	rc = rc == FIT_END ? fit_reader_only(r, err) : rc;
	if (!rc && !g->n)
		rc = fit_fail(err, FIT_EDATA, "%s: no observations%s", fit_reader_input(r),
			      o->app.n ? " of that application" : "");
	fit_reader_hash(r, g->hash);
	fit_reader_close(r);
	return rc;
}

/* The bandwidths of an application's machines. */
static int find_links(const struct groups *g, const char *app, struct fit_rubick *m, struct fit_err *err)
{
	for (size_t i = 0; i < g->links.n_rows; i++) {
		if (!fit_text_is(fit_column_text(&g->links.columns[0], i), app))
			continue;
		m->pcie = g->links.columns[1].d[i];
		m->nvlink = g->links.columns[2].d[i];
		if (!(m->pcie > 0) || !(m->nvlink > 0))
			return fit_table_fail(&g->links, i, FIT_EDATA, NULL, err, "bandwidths of '%s' are not above 0", app);
		return FIT_OK;
	}
	return fit_fail(err, FIT_EDATA, "%s: no bandwidths of '%s'", g->links.input, app);
}

static int write_model(struct fit_writer *w, const struct group *g, const struct fit_rubick *m, double loss,
		       struct fit_err *err)
{
	fit_writer_str(w, g->app);
	for (int i = 0; i < FIT_RUBICK_N; i++)
		fit_writer_real(w, m->k[i]);
	fit_writer_real(w, m->pcie);
	fit_writer_real(w, m->nvlink);
	fit_writer_real(w, g->obs[0].run.params_mi);
	fit_writer_real(w, loss);
	fit_writer_int(w, (int64_t)g->n);
	return fit_writer_end_row(w, err);
}

static int fit_all(struct cli *cli, const struct throughput_options *o, struct groups *g,
		   struct fit_writer *w, struct fit_err *err)
{
	static const struct fit_field links[] = { { "app", FIT_TEXT, FIT_F_NOT_NA },
						  { "pcie_mi_per_ms", FIT_REAL, FIT_F_NOT_NA },
						  { "nvlink_mi_per_ms", FIT_REAL, FIT_F_NOT_NA } };
	struct fit_field fields[FIT_RUBICK_N + 6] = { { "app", FIT_TEXT, 0 } };
	struct fit_meta meta = { 0 };
	size_t n = 1;
	int rc = read_rows(g, o, cli_operand(cli, 0), err);

	rc = rc ? rc : fit_table_read(&g->links, o->links, links, 3, err);
	for (int i = 0; i < FIT_RUBICK_N; i++)
		fields[n++] = (struct fit_field){ fit_rubick_names[i], FIT_REAL, 0 };
	fields[n++] = links[1];
	fields[n++] = links[2];
	fields[n++] = (struct fit_field){ "params_mi", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "loss", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "rows", FIT_INT, 0 };
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, NULL, g->hash) ||
		    cli_meta_input(&meta, "links", g->links.hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(w, "models", &meta, fields, n, err);
	for (size_t i = 0; i < g->n && !rc; i++) {
		struct fit_rubick m = { .pcie = 0 };
		double loss = (double)NAN;

		rc = find_links(g, g->list[i].app, &m, err);
		if (!rc && fit_rubick_fit(&m, g->list[i].obs, g->list[i].n, &loss, err))
			rc = fit_fail_prefix(err, err->code, "application '%s'", g->list[i].app);
		rc = rc ? rc : write_model(w, &g->list[i], &m, loss, err);
	}
	fit_meta_release(&meta);
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- predicting ---- */

enum { P_APP, P_PLAN, P_GPUS, P_NODES, P_THREADS, P_SLOW, P_FORWARD, P_N };

static const struct fit_field wanted[P_N] = {
	[P_APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[P_PLAN] = { "exec_plan", FIT_TEXT, FIT_F_NOT_NA },
	[P_GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA },
	[P_NODES] = { "nodes", FIT_INT, FIT_F_OPTIONAL },
	[P_THREADS] = { "cpu_threads", FIT_INT, FIT_F_OPTIONAL },
	[P_SLOW] = { "slow_network", FIT_INT, FIT_F_OPTIONAL },
	[P_FORWARD] = { "forward_ms", FIT_REAL, FIT_F_OPTIONAL },
};

/* Pipeline, tensor and data degree of a plan of three digits. */
static bool degrees(struct fit_text plan, int64_t d[3])
{
	for (size_t i = 0; i < 3 && plan.n == 3; i++) {
		if (plan.s[i] < '1' || plan.s[i] > '9')
			return false;
		d[i] = plan.s[i] - '0';
	}
	return plan.n == 3;
}

/* Milliseconds of an iteration; NAN: cannot be. */
static int predict(const struct fit_rubick_model *m, const struct fit_reader *r, const struct fit_cell *c,
		   double *iter_ms, struct fit_err *err)
{
	int64_t d[3], gpus = c[P_GPUS].u.i, nodes = c[P_NODES].na ? 1 : c[P_NODES].u.i;
	const struct fit_rubick_plan *plan = fit_rubick_plan_find(c[P_PLAN].u.t);
	struct fit_rubick_run run = { .params_mi = m->params_mi, .gpus = gpus, .slow_network = c[P_SLOW].u.i != 0,
				      .cpu_threads = c[P_THREADS].na ? 1 : c[P_THREADS].u.i };

	if (gpus < 1 || nodes < 1 || run.cpu_threads < 1 || gpus % nodes)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "bad configuration (expected GPUs and threads of at "
				       "least 1, and as many GPUs on each node)");
	if (!(m->params_mi > 0) || (c[P_FORWARD].na && !(m->forward_ms > 0)))
		return fit_reader_fail(r, FIT_EDATA, "app", err, "the model of '%s' has no params_mi or no forward_ms",
				       m->app);
	if (degrees(c[P_PLAN].u.t, d)) {
		struct fit_rubick_grid g = { .params_mi = m->params_mi, .pp = d[0], .tp = d[1], .nodes = nodes,
					     .node_gpus = gpus / nodes, .batch = m->batch, .seq_hid = m->seq_hid,
					     .layers = m->layers };

		/* the published scheduler's share of the forward pass */
		g.forward_ms = c[P_FORWARD].na ? m->forward_ms * (double)d[2] / (double)d[0] / pow(1.15, (double)d[1]) :
			       c[P_FORWARD].u.d;
		*iter_ms = fit_rubick_grid_ms(&m->m, &g);
		return FIT_OK;
	}
	if (!plan)
		return fit_reader_fail(r, FIT_EDATA, "exec_plan", err, "unknown plan '%.*s' (expected ga, gc, zero-dp, "
				       "zero-offload, zero-offload+gc or three digits)", FIT_TEXT_ARG(c[P_PLAN].u.t));
	run.forward_ms = c[P_FORWARD].na ? fit_rubick_forward_ms(m, gpus) : c[P_FORWARD].u.d;
	*iter_ms = fit_rubick_parts(&m->m, plan, &run).iter_ms;
	return FIT_OK;
}

static int predict_all(struct cli *cli, const struct throughput_options *o, struct fit_writer *w,
		       struct fit_err *err)
{
	static const struct fit_field out[] = {
		{ "app", FIT_TEXT, 0 }, { "exec_plan", FIT_TEXT, 0 }, { "gpus", FIT_INT, 0 }, { "nodes", FIT_INT, 0 },
		{ "cpu_threads", FIT_INT, 0 }, { "slow_network", FIT_INT, 0 }, { "iter_ms", FIT_REAL, 0 },
		{ "samples_per_s", FIT_REAL, 0 },
	};
	struct fit_rubick_models models = { .n = 0 };
	struct fit_cell c[P_N];
	struct fit_meta meta = { 0 };
	struct fit_reader *r = NULL;
	int rc = fit_rubick_models_read(&models, o->predict, err);

	rc = rc ? rc : fit_reader_open(&r, cli_operand(cli, 0), err);
	rc = rc ? rc : fit_reader_begin(r, wanted, P_N, err);
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, "models", models.hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(w, "predictions", &meta, out, sizeof out / sizeof *out, err);
	while (!rc) {
		const struct fit_rubick_model *m;
		double ms = (double)NAN;

		rc = fit_reader_row(r, c, err);
		if (rc)
			break;
		m = fit_rubick_models_find(&models, c[P_APP].u.t);
		if (!m)
			rc = fit_reader_fail(r, FIT_EDATA, "app", err, "no model of '%.*s'", FIT_TEXT_ARG(c[P_APP].u.t));
		rc = rc ? rc : predict(m, r, c, &ms, err);
		if (rc)
			break;
		fit_writer_text(w, c[P_APP].u.t);
		fit_writer_text(w, c[P_PLAN].u.t);
		fit_writer_int(w, c[P_GPUS].u.i);
		fit_writer_int(w, c[P_NODES].na ? 1 : c[P_NODES].u.i);
		fit_writer_int(w, c[P_THREADS].na ? 1 : c[P_THREADS].u.i);
		fit_writer_int(w, c[P_SLOW].u.i != 0);
		if (ms > 0)
			fit_writer_real(w, ms);
		else
			fit_writer_na(w);
		if (ms > 0 && m->batch)
			fit_writer_real(w, (double)m->batch / (ms / 1000));
		else
			fit_writer_na(w);
		rc = fit_writer_end_row(w, err);
	}
	rc = rc == FIT_END ? fit_reader_only(r, err) : rc;
	fit_reader_close(r);
	fit_rubick_models_release(&models);
	fit_meta_release(&meta);
	return rc ? rc : fit_writer_end(w, err);
}

int throughput_rubick(struct cli *cli, const struct throughput_options *o)
{
	struct fit_writer *w = NULL;
	struct groups g = { .n = 0 };
	struct fit_err err;
	int rc;

	if (!o->predict && !o->links)
		return cli_usage(cli, "--model rubick needs --links, or --predict");
	if (o->profile || o->residuals || o->by.n || o->start.n || o->lower.n || o->upper.n || o->csv)
		return cli_usage(cli, "--model rubick goes with --links, --app and --predict only");
	rc = cli_writer_open(cli, &w, &err);
	rc = rc ? rc : o->predict ? predict_all(cli, o, w, &err) : fit_all(cli, o, &g, w, &err);
	rc = cli_writer_close(w, rc, &err);
	release(&g);
	return rc ? cli_error(cli, &err) : 0;
}
