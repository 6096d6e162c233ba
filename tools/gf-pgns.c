/* SPDX-License-Identifier: MIT */
/*
 * gf-pgns: the gradient noise scale. Logs of squared gradient norms become estimates, window by
 * window; `fit` makes curves over training, of estimates or of the runs of a profile store;
 * `predict` gives phi and statistical efficiency at batch sizes that were not run, or, with a
 * profile store, says how far such predictions are from the runs that there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/pgns.h"
#include "libfit/model/pgns_curve.h"
#include "libfit/model/pgns_runs.h"
#include "libfit/model/pgns_window.h"
#include "tools/common/cli.h"
#include "traces/input.h"

struct options {
	const char *profile, *curves;
	int64_t window, init_batch, from, skip_bad;
	double smooth, penalty;
	int by;
	bool by_epoch, pool, csv;
	struct cli_list app;
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)
#define OPTION_APP                                                                                 \
	{                                                                                          \
		0, "app", CLI_LIST, AT(app), "NAME", NULL,                                         \
			"this application only; may be repeated", NULL, 0, 0, R                    \
	}
#define OPTION_CSV                                                                                 \
	{                                                                                          \
		0, "csv", CLI_FLAG, AT(csv), NULL, NULL,                                           \
			"FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0,   \
			0, 0                                                                       \
	}
#define OPTION_PENALTY                                                                             \
	{                                                                                          \
		0, "penalty", CLI_REAL, AT(penalty), "X", "3",                                     \
			"cost of a piece of a curve, in units of log n; 0: through every point",   \
			NULL, 0, 1e6, R                                                            \
	}
#define OPTION_END                                                                                 \
	{                                                                                          \
		0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0                              \
	}

static const struct cli_option estimate_options[] = {
	{ 0, "window", CLI_INT, AT(window), "N", "100", "steps of a window; 0: all of them", NULL,
	  0, 1e15, R },
	{ 0, "by-epoch", CLI_FLAG, AT(by_epoch), NULL, NULL, "windows are the epochs of the log",
	  NULL, 0, 0, R },
	{ 0, "smooth", CLI_REAL, AT(smooth), "X", NULL,
	  "exponential averages; what a step at the initial batch size leaves of those before",
	  NULL, 1e-6, 0.99999999, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", "of the first step",
	  "initial total batch size", NULL, 1, 1e12, R },
	{ 0, "skip-bad", CLI_INT, AT(skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, R },
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static const struct cli_option fit_options[] = {
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "the training runs of a profile store in place of FILE", NULL, 0, 0, CLI_INPUT | CLI_INSTEAD },
	OPTION_PENALTY,
	{ 0, "pool", CLI_FLAG, AT(pool), NULL, NULL, "one curve for all batch sizes together", NULL,
	  0, 0, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", "the column init_batch",
	  "initial total batch size", NULL, 1, 1e12, R },
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static const char *const by_names[] = { "app", "batch", "epoch", NULL };
enum { BY_APP, BY_BATCH, BY_EPOCH };

static const struct cli_option predict_options[] = {
	{ 0, "curves", CLI_TEXT, AT(curves), "CURVES", NULL,
	  "predict the rows of FILE with the curves of gf-pgns fit", NULL, 0, 0, CLI_INPUT },
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "predict each run of a profile store from the others, and compare", NULL, 0, 0,
	  CLI_INPUT | CLI_INSTEAD },
	{ 0, "by", CLI_CHOICE, AT(by), "WHAT", "app", "a row for each of these", by_names, 0, 0,
	  R },
	{ 0, "from", CLI_INT, AT(from), "B", "all others",
	  "predict from the run at batch size B alone", NULL, 1, 1e12, R },
	OPTION_PENALTY,
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static bool app_wanted(const struct options *o, struct fit_text app)
{
	for (size_t i = 0; i < o->app.n; i++)
		if (app.s && fit_text_is(app, o->app.items[i]))
			return true;
	return o->app.n == 0;
}

static void put_real(struct fit_writer *w, bool known, double v)
{
	if (known && !isnan(v))
		fit_writer_real(w, v);
	else
		fit_writer_na(w);
}

static int begin_output(const struct cli *cli, struct fit_writer *w, const char *role,
			const char *hash, const struct fit_field *fields, size_t n,
			struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	if (!rc && hash)
		rc = cli_meta_input(&meta, role, hash);
	if (rc)
		fit_fail_nomem(err);
	else
		rc = fit_writer_begin(w, NULL, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

/* The hash of an input that was read to its end, behind the rows. */
static int end_output(const struct fit_input *in, struct fit_writer *w, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	char hash[FIT_HASH_HEX];
	int rc;

	fit_input_hash(in, hash);
	rc = cli_meta_input(&meta, NULL, hash) ? fit_fail_nomem(err)
					       : fit_writer_end_meta(w, &meta, err);
	fit_meta_release(&meta);
	return rc;
}

/* ---- estimates ---- */

struct logs {
	struct log {
		char *app;
		struct fit_pgns_log run;
	} * list;
	size_t n, cap;
	struct fit_index index;
	uint64_t bad, nonfinite, unknown, backwards, not_estimable;
};

struct log_columns {
	int app, step, epoch, progress, replicas, accum, bsz, local, global, dot, diff;
};

static int find_log_columns(const struct fit_input *in, struct log_columns *c, struct fit_err *err)
{
	const char *missing = NULL;

	*c = (struct log_columns){ .app = fit_input_find(in, "app", NULL),
				   .step = fit_input_find(in, "step", NULL),
				   .epoch = fit_input_find(in, "epoch", NULL),
				   .progress = fit_input_find(in, "progress", NULL),
				   .replicas = fit_input_find(in, "replicas", "K"),
				   .accum = fit_input_find(in, "accum_steps", "accum"),
				   .bsz = fit_input_find(in, "local_bsz", NULL),
				   .local = fit_input_find(in, "local_sqr", NULL),
				   .global = fit_input_find(in, "global_sqr", NULL),
				   .dot = fit_input_find(in, "prev_dot", "dot"),
				   .diff = fit_input_find(in, "prev_diff_sqr", "diff") };
	if ((c->local < 0 || c->global < 0) && (c->dot < 0 || c->diff < 0))
		missing = c->local < 0 ? "local_sqr" : "global_sqr";
	if (c->bsz < 0)
		missing = "local_bsz";
	if (c->replicas < 0)
		missing = "replicas";
	if (c->step < 0)
		missing = "step";
	return missing ? fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", fit_input_name(in),
				  missing)
		       : FIT_OK;
}

/* A number that may be nan or inf: what half precision makes of an overflow. */
static int get_norm(const struct fit_input *in, int i, bool square, double *v, bool *known,
		    struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	struct fit_text t = fit_input_text(in, i, buf);

	*known = t.s && t.n > 0;
	if (!*known)
		return FIT_OK;
	if (fit_parse_double_any(t, v))
		return fit_input_fail(in, i, err,
				      "bad number '%.*s' (expected a number, nan or inf)",
				      FIT_TEXT_ARG(t));
	if (square && *v < 0)
		return fit_input_fail(in, i, err, "bad square '%g' (expected 0 or more)", *v);
	return FIT_OK;
}

static int get_whole(const struct fit_input *in, int i, int64_t least, int64_t missing, int64_t *v,
		     struct fit_err *err)
{
	double d = 0;
	bool na = true;
	int rc = missing >= least ? fit_input_number(in, i, true, &d, &na, err)
				  : fit_input_need(in, i, true, &d, err);

	if (missing < least)
		na = false;
	if (!rc && !na && (d < (double)least || d > 1e9))
		return fit_input_fail(in, i, err, "bad number '%.0f' (expected %lld to 1000000000)",
				      d, (long long)least);
	*v = na ? missing : (int64_t)d;
	return rc;
}

static int get_step(const struct fit_input *in, const struct log_columns *c,
		    struct fit_pgns_step *s, struct fit_err *err)
{
	bool known[4] = { false };
	int rc = get_whole(in, c->replicas, 1, -1, &s->replicas, err);

	if (!rc)
		rc = get_whole(in, c->accum, 0, 0, &s->accum_steps, err);
	if (!rc)
		rc = get_whole(in, c->bsz, 1, -1, &s->local_bsz, err);
	if (!rc)
		rc = get_norm(in, c->local, true, &s->local_sqr, &known[0], err);
	if (!rc)
		rc = get_norm(in, c->global, true, &s->global_sqr, &known[1], err);
	if (!rc)
		rc = get_norm(in, c->dot, false, &s->prev_dot, &known[2], err);
	if (!rc)
		rc = get_norm(in, c->diff, true, &s->prev_diff_sqr, &known[3], err);
	s->has_squares = known[0] && known[1];
	s->has_previous = known[2] && known[3];
	return rc;
}

static int find_log(struct logs *l, struct fit_text app, struct log **log)
{
	struct log new = { 0 };
	struct fit_str key = { 0 };
	uint32_t at = 0;
	int rc = fit_str_printf(&key, "%d", app.s != NULL);

	if (!rc)
		rc = fit_str_add(&key, app.n ? app.s : "", app.n);
	if (!rc)
		rc = fit_index_put(&l->index, (struct fit_text){ key.s, key.n }, (uint32_t)l->n,
				   &at);
	fit_str_release(&key);
	if (rc)
		return rc;
	if (at == FIT_NO_INDEX) {
		if (app.s && !(new.app = fit_strdup(app)))
			return FIT_ENOMEM;
		if (fit_grow(&l->list, &l->cap, l->n + 1, sizeof new)) {
			free(new.app);
			return FIT_ENOMEM;
		}
		at = (uint32_t)l->n;
		l->list[l->n++] = new;
	}
	*log = &l->list[at];
	return FIT_OK;
}

static int put_window(struct logs *l, const struct log *g, const struct fit_pgns_window *win,
		      struct fit_writer *w, struct fit_err *err)
{
	l->nonfinite += win->n_nonfinite;
	l->unknown += win->n_unknown;
	l->not_estimable += !win->estimate.estimable;
	return fit_pgns_window_put(w, g->app, win, err);
}

static struct fit_pgns_window_params window_params(const struct options *o)
{
	return (struct fit_pgns_window_params){ o->window, o->by_epoch, o->smooth, o->init_batch };
}

/* One row of the log. */
static int log_row(const struct fit_input *in, const struct log_columns *c, const struct options *o,
		   struct logs *l, struct fit_writer *w, struct fit_err *err)
{
	const struct fit_pgns_window_params p = window_params(o);
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, c->app, buf);
	struct fit_pgns_row row = { 0 };
	struct fit_pgns_window win;
	struct fit_err why;
	double step = 0, epoch = 0;
	bool no_epoch = true, no_progress = true, closed = false;
	struct log *g = NULL;
	int rc;

	if (!app_wanted(o, app))
		return FIT_OK;
	rc = get_step(in, c, &row.norms, err);
	if (!rc)
		rc = fit_input_need(in, c->step, true, &step, err);
	if (!rc)
		rc = fit_input_number(in, c->epoch, true, &epoch, &no_epoch, err);
	if (!rc && o->by_epoch && no_epoch)
		rc = fit_input_need(in, c->epoch, true, &epoch, err);
	if (!rc)
		rc = fit_input_number(in, c->progress, false, &row.progress, &no_progress, err);
	if (rc)
		return rc;
	row.step = (int64_t)step;
	row.epoch = (int64_t)epoch;
	row.has_epoch = !no_epoch;
	row.has_progress = !no_progress;
	if (find_log(l, app, &g))
		return fit_fail_nomem(err);
	rc = fit_pgns_log_row(&g->run, &p, &row, &win, &closed, &why);
	if (rc)
		return rc == FIT_EDATA ? fit_input_fail(in, c->progress, err, "%s", why.msg)
				       : fit_fail_nomem(err);
	return closed ? put_window(l, g, &win, w, err) : FIT_OK;
}

static void say_counts(const struct cli *cli, const struct options *o, const struct fit_input *in,
		       const struct logs *l)
{
	const struct {
		uint64_t n;
		const char *one, *many, *what;
	} counts[] = { { o->skip_bad > 0 ? l->bad : 0, "bad record", "bad records", "left out" },
		       { l->nonfinite, "step", "steps", "left out: norms that are not finite" },
		       { l->unknown > l->n ? l->unknown : 0, /* the first step of a run cannot be */
			 "step", "steps", "left out: one micro-batch, or norms missing, and nothing "
			 "known of the step before" },
		       { l->backwards, "step", "steps", "whose number does not grow" },
		       { l->not_estimable, "window", "windows",
			 "not estimable: signal or noise not above zero" } };

	for (size_t i = 0; i < COUNT(counts); i++)
		if (counts[i].n > 0)
			cli_warn(cli, "%s: %llu %s %s", fit_input_name(in), (unsigned long long)counts[i].n,
				 fit_plural(counts[i].n, counts[i].one, counts[i].many), counts[i].what);
}

static int estimate(struct cli *cli, const struct options *o, struct fit_writer *w,
		    struct fit_err *err)
{
	const struct fit_pgns_window_params p = window_params(o);
	struct fit_pgns_window win;
	struct fit_input *in = NULL;
	struct logs l = { 0 };
	struct log_columns c = { 0 };
	int rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);

	if (!rc)
		rc = find_log_columns(in, &c, err);
	if (!rc && o->by_epoch && c.epoch < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'epoch' (for --by-epoch)",
			      fit_input_name(in));
	if (!rc && o->app.n > 0 && c.app < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'app' (for --app)",
			      fit_input_name(in));
	if (!rc)
		rc = begin_output(cli, w, NULL, NULL, fit_pgns_window_columns,
				  fit_pgns_window_n_columns, err);
	while (!rc) {
		rc = fit_input_row(in, err);
		if (!rc)
			rc = log_row(in, &c, o, &l, w, err);
		if (rc == FIT_EDATA && l.bad < (uint64_t)o->skip_bad) {
			cli_note(cli, "left out: %s", err->msg);
			l.bad++;
			rc = FIT_OK;
		}
	}
	if (rc == FIT_END) {
		rc = FIT_OK;
		for (size_t i = 0; i < l.n && !rc; i++) {
			struct log *g = &l.list[i];

			l.backwards += g->run.backwards;
			if (fit_pgns_log_end(&g->run, &p, &win))
				rc = put_window(&l, g, &win, w, err);
		}
		if (!rc && l.n == 0)
			rc = fit_fail(err, FIT_EDATA, "%s: no steps%s", fit_input_name(in),
				      o->app.n > 0 ? " of that application" : "");
		if (!rc)
			rc = end_output(in, w, err);
		if (!rc)
			say_counts(cli, o, in, &l);
	}
	for (size_t i = 0; i < l.n; i++) {
		free(l.list[i].app);
		fit_pgns_log_release(&l.list[i].run);
	}
	free(l.list);
	fit_index_release(&l.index);
	fit_input_close(in);
	return rc;
}

/* ---- curves ---- */

/* A row of estimates. *bare counts those that have none. */
static int point_row(const struct fit_input *in, const struct options *o,
		     struct fit_pgns_runs *runs, uint64_t *bare, struct fit_err *err)
{
	int at_phi = fit_input_find(in, "phi", NULL), at_n = fit_input_find(in, "n", NULL);
	int at_init = fit_input_find(in, "init_batch", NULL);
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, fit_input_find(in, "app", NULL), buf);
	struct fit_pgns_epoch e = { .efficiency = (double)NAN, .weight = 1 };
	double sqr = 0, var = 0;
	int64_t init = o->init_batch, batch = 0;
	bool na = true, no_sqr = false;
	struct fit_err why;
	int rc = FIT_OK;

	if (!app_wanted(o, app))
		return FIT_OK;
	if (init == 0)
		rc = get_whole(in, at_init, 1, -1, &init, err);
	if (!rc)
		rc = get_whole(in, fit_input_find(in, "batch_size", NULL), 1, init, &batch, err);
	if (!rc)
		rc = fit_input_need(in, fit_input_find(in, "progress", NULL), false, &e.progress,
				    err);
	if (!rc && at_phi >= 0) {
		rc = fit_input_number(in, at_phi, false, &e.phi, &na, err);
	} else if (!rc) {
		rc = fit_input_number(in, fit_input_find(in, "grad_sqr", NULL), false, &sqr,
				      &no_sqr, err);
		if (!rc)
			rc = fit_input_number(in, fit_input_find(in, "grad_var", NULL), false, &var,
					      &na, err);
		e.phi = sqr > 0 ? (double)init * var / sqr : 0;
	}
	if (!rc)
		rc = fit_input_number(in, at_n, false, &e.weight, &no_sqr, err);
	if (!rc && e.weight < 0)
		rc = fit_input_fail(in, at_n, err, "bad number of steps '%g' (expected 0 or more)",
				    e.weight);
	if (rc)
		return rc;
	if (na || !(e.phi > 0) || !isfinite(e.phi) || !(e.weight > 0)) {
		++*bare;
		return FIT_OK;
	}
	rc = fit_pgns_runs_add(runs, app, batch, init, o->pool, &e, &why);
	if (rc == FIT_EDATA)
		return fit_input_fail(in, at_init, err, "%s", why.msg);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int read_points(struct cli *cli, const struct options *o, struct fit_pgns_runs *runs,
		       struct fit_err *err)
{
	struct fit_input *in = NULL;
	uint64_t bare = 0;
	int rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);

	if (!rc && fit_input_find(in, "progress", NULL) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'progress'", fit_input_name(in));
	if (!rc && fit_input_find(in, "phi", NULL) < 0 &&
	    (fit_input_find(in, "grad_sqr", NULL) < 0 || fit_input_find(in, "grad_var", NULL) < 0))
		rc = fit_fail(err, FIT_ENOTFOUND,
			      "%s: no column 'phi', nor 'grad_sqr' and 'grad_var'",
			      fit_input_name(in));
	if (!rc && o->init_batch == 0 && fit_input_find(in, "init_batch", NULL) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'init_batch' (or --init-batch)",
			      fit_input_name(in));
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = point_row(in, o, runs, &bare, err);
	if (rc == FIT_END) {
		fit_input_hash(in, runs->hash);
		rc = FIT_OK;
		if (bare > 0)
			cli_warn(cli, "%s: %llu %s without an estimate left out",
				 fit_input_name(in), (unsigned long long)bare,
				 fit_plural(bare, "row", "rows"));
	}
	fit_input_close(in);
	return rc;
}

static int profile_points(struct cli *cli, const struct options *o, struct fit_pgns_runs *runs,
			  struct fit_err *err)
{
	struct fit_pgns_runs all = { 0 };
	uint64_t bare = 0;
	int rc = fit_pgns_runs_read(&all, o->profile, err);

	for (size_t i = 0; i < all.n && !rc; i++) {
		const struct fit_pgns_run *r = &all.list[i];
		struct fit_text app = fit_text_of(r->app);

		for (size_t e = 0; e < r->n && !rc && app_wanted(o, app); e++) {
			if (isnan(r->epochs[e].phi))
				bare++;
			else
				rc = fit_pgns_runs_add(runs, app, r->batch, r->init_batch, o->pool,
						       &r->epochs[e], err);
		}
	}
	memcpy(runs->hash, all.hash, sizeof runs->hash);
	if (!rc && bare > 0)
		cli_warn(cli, "%s: %llu epochs not estimable left out", o->profile,
			 (unsigned long long)bare);
	fit_pgns_runs_release(&all);
	return rc;
}

static int fit_curves(struct cli *cli, const struct options *o, struct fit_writer *w,
		      struct fit_err *err)
{
	struct fit_pgns_runs runs = { 0 };
	int rc = o->profile ? profile_points(cli, o, &runs, err) : read_points(cli, o, &runs, err);

	if (!rc && runs.n == 0)
		rc = fit_fail(err, FIT_EDATA, "no estimates%s",
			      o->app.n > 0 ? " of that application" : "");
	if (!rc)
		rc = fit_pgns_runs_fit(&runs, o->penalty, err);
	if (!rc)
		rc = begin_output(cli, w, o->profile ? "profile" : NULL, runs.hash,
				  fit_pgns_curve_columns, fit_pgns_curve_n_columns, err);
	for (size_t i = 0; i < runs.n && !rc; i++) {
		const struct fit_pgns_run *r = &runs.list[i];

		rc = fit_pgns_curve_put(w, &r->curve, err);
		cli_note(cli, "%s, batch size %lld: %zu observations, %zu pieces, residual %.3g",
			 r->app ? r->app : "the model", (long long)r->batch, r->n, r->curve.n,
			 r->curve.rms_log);
	}
	fit_pgns_runs_release(&runs);
	return rc;
}

/* ---- predictions from curves ---- */

static const struct fit_field predict_fields[] = {
	{ "app", FIT_TEXT, 0 },	      { "progress", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 },
	{ "init_batch", FIT_INT, 0 }, { "phi", FIT_REAL, 0 },	   { "efficiency", FIT_REAL, 0 },
	{ "gain", FIT_REAL, 0 }
};

static int predict_row(const struct fit_input *in, const struct options *o,
		       const struct fit_pgns_curves *curves, const struct fit_pgns_curve **room,
		       struct fit_writer *w, struct fit_err *err)
{
	int at_app = fit_input_find(in, "app", NULL),
	    at_batch = fit_input_find(in, "batch_size", NULL);
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, at_app, buf);
	const struct fit_pgns_curve *c;
	double progress = 0, phi, m0;
	int64_t batch = 0;
	size_t n;
	int rc;

	if (!app_wanted(o, app))
		return FIT_OK;
	rc = fit_input_need(in, fit_input_find(in, "progress", NULL), false, &progress, err);
	if (!rc)
		rc = get_whole(in, at_batch, 1, -1, &batch, err);
	if (rc)
		return rc;
	c = fit_pgns_curves_find(curves, app, &n);
	if (!c)
		return fit_input_fail(in, at_app, err, "no curve of application '%.*s'",
				      FIT_TEXT_ARG(app));
	if (batch < c->init_batch)
		return fit_input_fail(in, at_batch, err,
				      "bad batch size '%lld' (expected at least the "
				      "initial one, %lld)",
				      (long long)batch, (long long)c->init_batch);
	for (size_t i = 0; i < n; i++)
		room[i] = &c[i];
	phi = fit_pgns_curves_phi(room, n, progress, (double)batch);
	m0 = (double)c->init_batch;
	if (app.s)
		fit_writer_text(w, app);
	else
		fit_writer_na(w);
	fit_writer_real(w, progress);
	fit_writer_int(w, batch);
	fit_writer_int(w, c->init_batch);
	fit_writer_real(w, phi);
	fit_writer_real(w, fit_pgns_efficiency(phi, m0, (double)batch));
	fit_writer_real(w, fit_pgns_gain(phi, m0, (double)batch));
	return fit_writer_end_row(w, err);
}

static int predict_rows(struct cli *cli, const struct options *o, struct fit_writer *w,
			struct fit_err *err)
{
	struct fit_pgns_curves curves = { 0 };
	const struct fit_pgns_curve **room = NULL;
	struct fit_input *in = NULL;
	int rc = fit_pgns_curves_read(&curves, o->curves, err);

	if (!rc && !(room = malloc((curves.n + 1) * sizeof *room)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);
	if (!rc && (fit_input_find(in, "progress", NULL) < 0 ||
		    fit_input_find(in, "batch_size", NULL) < 0))
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no columns 'progress' and 'batch_size'",
			      fit_input_name(in));
	if (!rc)
		rc = begin_output(cli, w, "curves", curves.hash, predict_fields,
				  COUNT(predict_fields), err);
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = predict_row(in, o, &curves, room, w, err);
	if (rc == FIT_END)
		rc = end_output(in, w, err);
	fit_input_close(in);
	free(room);
	fit_pgns_curves_release(&curves);
	return rc;
}

/* ---- predictions against runs ---- */

/* Errors of predicted efficiency, percent. */
struct errors {
	uint64_t n, n_batches, n_inside;
	double sum, sum_abs, worst, inside;
};

static void add_error(struct errors *e, double pct, bool outside)
{
	e->n++;
	e->sum += pct;
	e->sum_abs += fabs(pct);
	if (fabs(pct) > fabs(e->worst))
		e->worst = pct;
	if (!outside) {
		e->n_inside++;
		e->inside += fabs(pct);
	}
}

static const struct fit_field compare_app_fields[] = { { "app", FIT_TEXT, 0 },
						       { "batches", FIT_INT, 0 },
						       { "n", FIT_INT, 0 },
						       { "mape_pct", FIT_REAL, 0 },
						       { "bias_pct", FIT_REAL, 0 },
						       { "worst_pct", FIT_REAL, 0 },
						       { "inside_mape_pct", FIT_REAL, 0 } };
static const struct fit_field compare_batch_fields[] = {
	{ "app", FIT_TEXT, 0 },	     { "batch_size", FIT_INT, 0 }, { "outside", FIT_INT, 0 },
	{ "n", FIT_INT, 0 },	     { "mape_pct", FIT_REAL, 0 },  { "bias_pct", FIT_REAL, 0 },
	{ "worst_pct", FIT_REAL, 0 }
};
static const struct fit_field compare_epoch_fields[] = { { "app", FIT_TEXT, 0 },
							 { "batch_size", FIT_INT, 0 },
							 { "outside", FIT_INT, 0 },
							 { "epoch", FIT_INT, 0 },
							 { "progress", FIT_REAL, 0 },
							 { "phi", FIT_REAL, 0 },
							 { "phi_predicted", FIT_REAL, 0 },
							 { "efficiency", FIT_REAL, 0 },
							 { "efficiency_predicted", FIT_REAL, 0 },
							 { "gain", FIT_REAL, 0 },
							 { "gain_predicted", FIT_REAL, 0 },
							 { "error_pct", FIT_REAL, 0 } };

static int put_errors(struct fit_writer *w, const struct errors *e, struct fit_err *err)
{
	fit_writer_int(w, (int64_t)e->n);
	fit_writer_real(w, e->sum_abs / (double)e->n);
	fit_writer_real(w, e->sum / (double)e->n);
	fit_writer_real(w, e->worst);
	return fit_writer_end_row(w, err);
}

static int put_app(struct fit_writer *w, const char *app, const struct errors *e,
		   struct fit_err *err)
{
	fit_writer_str(w, app);
	fit_writer_int(w, (int64_t)e->n_batches);
	fit_writer_int(w, (int64_t)e->n);
	fit_writer_real(w, e->sum_abs / (double)e->n);
	fit_writer_real(w, e->sum / (double)e->n);
	fit_writer_real(w, e->worst);
	put_real(w, e->n_inside > 0, e->inside / fmax((double)e->n_inside, 1));
	return fit_writer_end_row(w, err);
}

/* One run, predicted from others. all: what its application adds up to. */
static int compare_run(const struct options *o, const struct fit_pgns_runs *runs, size_t i,
		       struct errors *all, struct fit_writer *w, struct fit_err *err)
{
	const struct fit_pgns_run *r = &runs->list[i];
	double m0 = (double)r->init_batch, batch = (double)r->batch;
	struct fit_pgns_source source;
	struct errors own = { 0 };
	int rc = fit_pgns_runs_source(runs, i, o->from, &source, err);

	if (rc)
		return rc;
	for (size_t e = 0; e < r->n && !rc; e++) {
		const struct fit_pgns_epoch *x = &r->epochs[e];
		double phi = fit_pgns_curves_phi(source.curves, source.n, x->progress, batch);
		double efficiency = fit_pgns_efficiency(phi, m0, batch);
		double pct = 100 * (efficiency / x->efficiency - 1);

		add_error(&own, pct, source.outside);
		add_error(all, pct, source.outside);
		if (o->by != BY_EPOCH)
			continue;
		fit_writer_str(w, r->app);
		fit_writer_int(w, r->batch);
		fit_writer_int(w, source.outside);
		fit_writer_int(w, (int64_t)e);
		fit_writer_real(w, x->progress);
		put_real(w, true, x->phi);
		fit_writer_real(w, phi);
		fit_writer_real(w, x->efficiency);
		fit_writer_real(w, efficiency);
		fit_writer_real(w, x->efficiency * batch / m0);
		fit_writer_real(w, efficiency * batch / m0);
		fit_writer_real(w, pct);
		rc = fit_writer_end_row(w, err);
	}
	all->n_batches++;
	if (!rc && o->by == BY_BATCH) {
		fit_writer_str(w, r->app);
		fit_writer_int(w, r->batch);
		fit_writer_int(w, source.outside);
		rc = put_errors(w, &own, err);
	}
	fit_pgns_source_release(&source);
	return rc;
}

static int compare_runs(struct cli *cli, const struct options *o, struct fit_writer *w,
			struct fit_err *err)
{
	static const struct {
		const struct fit_field *fields;
		size_t n;
	} by[] = { { compare_app_fields, COUNT(compare_app_fields) },
		   { compare_batch_fields, COUNT(compare_batch_fields) },
		   { compare_epoch_fields, COUNT(compare_epoch_fields) } };
	struct fit_pgns_runs runs = { 0 };
	struct errors sum = { 0 };
	uint64_t done = 0;
	size_t said = 0;
	int rc = fit_pgns_runs_read(&runs, o->profile, err);

	if (!rc)
		rc = fit_pgns_runs_fit(&runs, o->penalty, err);
	if (!rc)
		rc = begin_output(cli, w, "profile", runs.hash, by[o->by].fields, by[o->by].n, err);
	for (size_t i = 0; i < runs.n && !rc; i++) {
		const struct fit_pgns_run *r = &runs.list[i];

		/* At the initial batch size efficiency is 1 by definition. */
		if (app_wanted(o, fit_text_of(r->app)) && r->batch != r->init_batch &&
		    r->batch != o->from) {
			rc = compare_run(o, &runs, i, &sum, w, err);
			done += !rc;
			if (rc == FIT_ENOTFOUND) {
				if (said != r->group + 1)
					cli_warn(cli, "%s", err->msg);
				said = r->group + 1; /* once an application */
				rc = FIT_OK;
			}
		}
		if (rc || (i + 1 < runs.n && strcmp(runs.list[i + 1].app, r->app) == 0))
			continue;
		if (sum.n > 0 && o->by == BY_APP)
			rc = put_app(w, r->app, &sum, err);
		sum = (struct errors){ 0 };
	}
	if (!rc && done == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no run that could be predicted from others",
			      o->profile);
	fit_pgns_runs_release(&runs);
	return rc;
}

/* ---- the run ---- */

static int check_usage(struct cli *cli, const struct options *o)
{
	const char *verb = cli->verb->name;

	if (o->profile && cli->n_operands > 0)
		return cli_usage(cli, "both --profile and '%s' given (expected one input)",
				 cli->operands[0]);
	if (strcmp(verb, "predict") == 0) {
		if (!o->profile == !o->curves)
			return cli_usage(cli, "one of --curves and --profile is needed");
		if (o->curves && (o->from > 0 || o->by != BY_APP))
			return cli_usage(cli, "--from and --by go with --profile only");
	}
	if (strcmp(verb, "fit") == 0 && o->profile && o->init_batch > 0)
		return cli_usage(cli, "--init-batch goes with FILE only");
	return 0;
}

static int run(struct cli *cli, const struct options *o)
{
	const char *verb = cli->verb->name;
	struct fit_writer *w = NULL;
	struct fit_err err;
	int status = check_usage(cli, o), rc;

	if (status)
		return status;
	rc = cli_writer_open(cli, &w, &err);
	if (!rc && strcmp(verb, "fit") == 0)
		rc = fit_curves(cli, o, w, &err);
	else if (!rc && strcmp(verb, "predict") == 0)
		rc = o->profile ? compare_runs(cli, o, w, &err) : predict_rows(cli, o, w, &err);
	else if (!rc)
		rc = estimate(cli, o, w, &err);
	if (!rc)
		rc = fit_writer_end(w, &err);
	if (!rc) {
		rc = fit_writer_close(w, &err);
		w = NULL;
	}
	fit_writer_abort(w);
	return rc ? cli_error(cli, &err) : cli->status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "estimate the noise scale from a log of squared gradient norms",
	  estimate_options, 0, 1 },
	{ "fit", "[FILE]", "curves of the noise scale over training progress", fit_options, 0, 1 },
	{ "predict", "[FILE]", "noise scale and efficiency at batch sizes that were not run",
	  predict_options, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-pgns", "The gradient noise scale: estimates, curves over training, efficiency.",
	"A log has the columns step, replicas, local_bsz, local_sqr, global_sqr, and optionally\n"
	"app, accum_steps, epoch, progress, prev_dot, prev_diff_sqr.",
	verbs
};

int main(int argc, char **argv)
{
	struct options o = { .window = 100, .penalty = FIT_PGNS_PENALTY };
	struct cli cli;
	int rc = cli_start(&cli, &tool, argc, argv, &o);

	if (rc >= 0)
		return rc;
	rc = cli_finish(&cli, run(&cli, &o));
	free(o.app.items);
	return rc;
}
