/* SPDX-License-Identifier: MIT */
#include "libfit/model/pgns_window.h"

#include <math.h>
#include <stdlib.h>

/* The window that the run is in becomes *w, and the next one begins. */
static void close_window(struct fit_pgns_log *l, const struct fit_pgns_window_params *p,
			 struct fit_pgns_window *w)
{
	double m0 = (double)l->init_batch;
	struct fit_pgns_estimate e = fit_pgns_estimate(&l->mean, m0);

	if (e.estimable)
		l->last_phi = e.phi;
	for (size_t i = 0; i < l->n_sizes; i++)
		l->progress +=
			(double)l->sizes[i].n * fit_pgns_gain(l->last_phi, m0, l->sizes[i].batch);
	*w = (struct fit_pgns_window){ .index = l->index,
				       .step_from = l->step_from,
				       .step_to = l->step_to,
				       .epoch = l->epoch,
				       .has_epoch = l->has_epoch,
				       .progress = p->smooth > 0
							   ? l->progress
							   : 0.5 * (l->progress_from + l->progress),
				       .init_batch = l->init_batch,
				       .n = l->used,
				       .n_nonfinite = l->nonfinite,
				       .n_unknown = l->unknown,
				       .any = l->mean.n > 0,
				       .estimate = e };
	if (l->used > 0)
		w->batch_size = (int64_t)rint(l->batch_sum / (double)l->used);
	if (l->kinds[0] > 0 || l->kinds[1] > 0)
		w->estimator = l->kinds[1] == 0	  ? "replicas"
			       : l->kinds[0] == 0 ? "differenced"
						  : "mixed";
	l->index++;
	l->rows = l->used = l->nonfinite = l->unknown = l->kinds[0] = l->kinds[1] = 0;
	l->batch_sum = 0;
	l->n_sizes = 0;
	if (!(p->smooth > 0))
		l->mean = (struct fit_pgns_mean){ 0 };
}

static int count_size(struct fit_pgns_log *l, double batch)
{
	size_t i = l->n_sizes;

	while (i > 0 && (l->sizes[i - 1].batch < batch || l->sizes[i - 1].batch > batch))
		i--;
	if (i > 0) {
		l->sizes[i - 1].n++;
		return FIT_OK;
	}
	if (fit_grow(&l->sizes, &l->cap, l->n_sizes + 1, sizeof *l->sizes))
		return FIT_ENOMEM;
	l->sizes[l->n_sizes++] = (struct fit_pgns_size){ batch, 1 };
	return FIT_OK;
}

static void begin_step(struct fit_pgns_log *l, const struct fit_pgns_row *row)
{
	if (l->started && row->step <= l->last_step)
		l->backwards++;
	if (l->rows++ == 0) {
		l->step_from = row->step;
		l->progress_from = row->has_progress ? row->progress : l->progress;
	}
	if (row->has_progress)
		l->progress = row->progress;
	l->step_to = l->last_step = row->step;
	l->has_epoch = row->has_epoch;
	l->epoch = row->epoch;
	l->has_progress = row->has_progress;
	l->started = true;
}

int fit_pgns_log_row(struct fit_pgns_log *l, const struct fit_pgns_window_params *p,
		     const struct fit_pgns_row *row, struct fit_pgns_window *w, bool *closed,
		     struct fit_err *err)
{
	double batch = fit_pgns_batch(&row->norms), signal = 0, noise = 0;
	enum fit_pgns_kind kind;

	if (l->started && row->has_progress != l->has_progress)
		return fit_fail(err, FIT_EDATA,
				"progress in some rows only (expected in all or none)");
	if (!l->started)
		l->init_batch = p->init_batch > 0 ? p->init_batch : (int64_t)batch;
	*closed = l->rows > 0 && (p->by_epoch ? row->epoch != l->epoch
					      : p->steps > 0 && l->rows >= (uint64_t)p->steps);
	if (*closed)
		close_window(l, p, w);
	begin_step(l, row);
	kind = fit_pgns_of_step(&row->norms, l->prev_batch, &signal, &noise);
	l->prev_batch = batch;
	if (kind == FIT_PGNS_NONFINITE) {
		l->nonfinite++;
		return FIT_OK;
	}
	if (kind == FIT_PGNS_UNKNOWN) {
		l->unknown++;
	} else {
		fit_pgns_add(&l->mean, signal, noise, p->smooth, batch / (double)l->init_batch);
		l->kinds[kind == FIT_PGNS_DIFFERENCED]++;
		l->used++;
		l->batch_sum += batch;
	}
	return !row->has_progress && count_size(l, batch) ? fit_fail_nomem(err) : FIT_OK;
}

bool fit_pgns_log_end(struct fit_pgns_log *l, const struct fit_pgns_window_params *p,
		      struct fit_pgns_window *w)
{
	if (l->rows == 0)
		return false;
	close_window(l, p, w);
	return true;
}

void fit_pgns_log_release(struct fit_pgns_log *l)
{
	free(l->sizes);
	*l = (struct fit_pgns_log){ 0 };
}

/* ---- the table ---- */

const struct fit_field fit_pgns_window_columns[] = {
	{ "app", FIT_TEXT, 0 },	      { "window", FIT_INT, 0 },	     { "step_from", FIT_INT, 0 },
	{ "step_to", FIT_INT, 0 },    { "epoch", FIT_INT, 0 },	     { "progress", FIT_REAL, 0 },
	{ "batch_size", FIT_INT, 0 }, { "init_batch", FIT_INT, 0 },  { "estimator", FIT_TEXT, 0 },
	{ "n", FIT_INT, 0 },	      { "n_nonfinite", FIT_INT, 0 }, { "n_unknown", FIT_INT, 0 },
	{ "grad_sqr", FIT_REAL, 0 },  { "grad_var", FIT_REAL, 0 },   { "phi", FIT_REAL, 0 },
	{ "se_phi", FIT_REAL, 0 },    { "status", FIT_TEXT, 0 }
};
const size_t fit_pgns_window_n_columns =
	sizeof fit_pgns_window_columns / sizeof *fit_pgns_window_columns;

static void put_int(struct fit_writer *out, bool known, int64_t v)
{
	if (known)
		fit_writer_int(out, v);
	else
		fit_writer_na(out);
}

static void put_real(struct fit_writer *out, bool known, double v)
{
	if (known && !isnan(v))
		fit_writer_real(out, v);
	else
		fit_writer_na(out);
}

int fit_pgns_window_put(struct fit_writer *out, const char *app, const struct fit_pgns_window *w,
			struct fit_err *err)
{
	const struct fit_pgns_estimate *e = &w->estimate;

	fit_writer_str(out, app);
	fit_writer_int(out, w->index);
	fit_writer_int(out, w->step_from);
	fit_writer_int(out, w->step_to);
	put_int(out, w->has_epoch, w->epoch);
	fit_writer_real(out, w->progress);
	put_int(out, w->batch_size > 0, w->batch_size);
	fit_writer_int(out, w->init_batch);
	fit_writer_str(out, w->estimator);
	fit_writer_int(out, (int64_t)w->n);
	fit_writer_int(out, (int64_t)w->n_nonfinite);
	fit_writer_int(out, (int64_t)w->n_unknown);
	put_real(out, w->any, e->grad_sqr);
	put_real(out, w->any, e->grad_var);
	put_real(out, e->estimable, e->phi);
	put_real(out, e->estimable, e->se_phi);
	fit_writer_str(out, e->estimable ? "ok" : w->any ? "not-estimable" : "no-steps");
	return fit_writer_end_row(out, err);
}
