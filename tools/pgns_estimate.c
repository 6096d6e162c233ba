/* SPDX-License-Identifier: MIT */
/* Estimates of the gradient noise scale, window by window, from logs of squared gradient norms. */
#include "tools/pgns_parts.h"

#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/model/pgns_window.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

int pgns_begin(const struct cli *cli, struct fit_writer *w, const char *role, const char *hash,
	       const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_meta inputs = { 0 };
	int rc = hash ? cli_meta_input(&inputs, role, hash) : FIT_OK;

	rc = rc ? fit_fail_nomem(err) : rows_begin(cli, w, &inputs, fields, n, err);
	fit_meta_release(&inputs);
	return rc;
}

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
	return missing ? fit_input_lacks(in, missing, err) : FIT_OK;
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

int pgns_whole(const struct fit_input *in, int i, int64_t least, int64_t missing, int64_t *v,
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
	int rc = pgns_whole(in, c->replicas, 1, -1, &s->replicas, err);

	if (!rc)
		rc = pgns_whole(in, c->accum, 0, 0, &s->accum_steps, err);
	if (!rc)
		rc = pgns_whole(in, c->bsz, 1, -1, &s->local_bsz, err);
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

static struct fit_pgns_window_params window_params(const struct pgns_options *o)
{
	return (struct fit_pgns_window_params){ o->window, o->by_epoch, o->smooth, o->init_batch };
}

/* One row of the log. */
static int log_row(const struct fit_input *in, const struct log_columns *c, const struct pgns_options *o,
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

	if (!rows_app_wanted(&o->app, app))
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

static void say_counts(const struct cli *cli, const struct pgns_options *o, const struct fit_input *in,
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

int pgns_estimate(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
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
		rc = pgns_begin(cli, w, NULL, NULL, fit_pgns_window_columns,
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
			rc = rows_end_input(in, w, err);
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
