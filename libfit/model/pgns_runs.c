/* SPDX-License-Identifier: MIT */
#include "libfit/model/pgns_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/table.h"

enum { APP, BATCH, EPOCH, PROGRESS, ITERATION, SQR, VAR, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },	{ "batch_size", FIT_INT, FIT_F_NOT_NA },
	{ "epoch", FIT_INT, FIT_F_NOT_NA },	{ "progress", FIT_REAL, FIT_F_NOT_NA },
	{ "iteration", FIT_INT, FIT_F_NOT_NA }, { "grad_sqr", FIT_REAL, FIT_F_NOT_NA },
	{ "grad_var", FIT_REAL, FIT_F_NOT_NA }
};
static const struct fit_field app_columns[] = { { "app", FIT_TEXT, FIT_F_NOT_NA },
						{ "init_batch", FIT_INT, FIT_F_NOT_NA } };

void fit_pgns_runs_release(struct fit_pgns_runs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].app);
		free(r->list[i].epochs);
		fit_pgns_curve_release(&r->list[i].curve);
	}
	free(r->list);
	*r = (struct fit_pgns_runs){ 0 };
}

static bool find_init(const struct fit_table *apps, struct fit_text app, int64_t *init)
{
	for (size_t k = 0; k < apps->n_rows; k++) {
		if (fit_text_eq(fit_column_text(&apps->columns[0], k), app)) {
			*init = apps->columns[1].i[k];
			return *init >= 1;
		}
	}
	return false;
}

static int add_run(struct fit_pgns_runs *r, const struct fit_table *apps, const struct fit_table *v,
		   size_t row, struct fit_text app, struct fit_err *err)
{
	struct fit_pgns_run new = { .batch = v->columns[BATCH].i[row] };
	const struct fit_pgns_run *last = r->n > 0 ? &r->list[r->n - 1] : NULL;

	if (!find_init(apps, app, &new.init_batch))
		return fit_table_fail(v, row, FIT_EDATA, "app", err,
				      "no initial batch size of '%.*s' (expected in /apps)",
				      FIT_TEXT_ARG(app));
	if (new.batch < new.init_batch ||
	    (last && fit_text_is(app, last->app) && last->batch >= new.batch))
		return fit_table_fail(v, row, FIT_EDATA, "batch_size", err,
				      "bad batch size '%lld' (expected increasing, from %lld)",
				      (long long)new.batch, (long long)new.init_batch);
	for (size_t i = 0; last && !fit_text_is(app, last->app) && i < r->n; i++)
		if (fit_text_is(app, r->list[i].app))
			return fit_table_fail(v, row, FIT_EDATA, "app", err,
					      "rows of '%.*s' in two places (expected together)",
					      FIT_TEXT_ARG(app));
	/* before the list grows, and with it where last points */
	new.group = last && fit_text_is(app, last->app) ? last->group : r->n;
	new.app = fit_strdup(app);
	new.curve.app = fit_strdup(app);
	if (!new.app || !new.curve.app || fit_grow(&r->list, &r->cap, r->n + 1, sizeof new)) {
		free(new.app);
		free(new.curve.app);
		return fit_fail_nomem(err);
	}
	r->list[r->n++] = new;
	return FIT_OK;
}

/* One epoch; p and i are progress and iteration at its start, and move on. */
static int add_epoch(struct fit_pgns_run *run, const struct fit_table *v, size_t row, double *p,
		     int64_t *i, struct fit_err *err)
{
	double p1 = v->columns[PROGRESS].d[row];
	double sqr = v->columns[SQR].d[row], var = v->columns[VAR].d[row];
	int64_t i1 = v->columns[ITERATION].i[row];
	struct fit_pgns_epoch e = { 0.5 * (*p + p1), (double)NAN, 0, 1 };

	if (!(p1 > *p) || !isfinite(p1))
		return fit_table_fail(v, row, FIT_EDATA, "progress", err,
				      "bad progress '%g' (expected more than %g)", p1, *p);
	if (i1 <= *i)
		return fit_table_fail(v, row, FIT_EDATA, "iteration", err,
				      "bad number of steps '%lld' (expected more than %lld)",
				      (long long)i1, (long long)*i);
	e.efficiency = (p1 - *p) / (double)(i1 - *i) * (double)run->init_batch / (double)run->batch;
	if (sqr > 0 && var > 0 && isfinite((double)run->init_batch * var / sqr))
		e.phi = (double)run->init_batch * var / sqr;
	if (fit_grow(&run->epochs, &run->cap, run->n + 1, sizeof e))
		return fit_fail_nomem(err);
	run->epochs[run->n++] = e;
	*p = p1;
	*i = i1;
	return FIT_OK;
}

int fit_pgns_runs_read(struct fit_pgns_runs *r, const char *store, struct fit_err *err)
{
	struct fit_table apps = { 0 }, v = { 0 };
	const struct fit_store_request requests[] = { { "/apps", app_columns, 2, false, &apps },
						      { "/validation", columns, N_COLUMNS, false,
							&v } };
	struct fit_pgns_runs made = { 0 };
	double progress = 0;
	int64_t iteration = 0;
	int rc = fit_store_read(store, requests, 2, made.hash, err);

	for (size_t row = 0; row < v.n_rows && !rc; row++) {
		struct fit_text app = fit_column_text(&v.columns[APP], row);
		const struct fit_pgns_run *last = made.n > 0 ? &made.list[made.n - 1] : NULL;

		if (!last || !fit_text_is(app, last->app) ||
		    last->batch != v.columns[BATCH].i[row]) {
			rc = add_run(&made, &apps, &v, row, app, err);
			progress = 0;
			iteration = 0;
		}
		if (!rc)
			rc = add_epoch(&made.list[made.n - 1], &v, row, &progress, &iteration, err);
	}
	if (!rc && made.n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no training runs", store);
	fit_table_release(&apps);
	fit_table_release(&v);
	if (rc)
		fit_pgns_runs_release(&made);
	else
		*r = made;
	return rc;
}

static bool same_app(const char *a, struct fit_text b)
{
	return a ? b.s && fit_text_is(b, a) : !b.s;
}

int fit_pgns_runs_add(struct fit_pgns_runs *r, struct fit_text app, int64_t batch,
		      int64_t init_batch, bool pool, const struct fit_pgns_epoch *epoch,
		      struct fit_err *err)
{
	struct fit_pgns_run new = { .batch = batch, .init_batch = init_batch, .group = r->n };
	struct fit_pgns_run *run = NULL;

	for (size_t i = 0; i < r->n && !run; i++) {
		if (!same_app(r->list[i].app, app))
			continue;
		if (r->list[i].init_batch != init_batch)
			return fit_fail(err, FIT_EDATA,
					"another initial batch size '%lld' (expected %lld)",
					(long long)init_batch, (long long)r->list[i].init_batch);
		new.group = r->list[i].group;
		if (pool || r->list[i].batch == batch)
			run = &r->list[i];
	}
	if (!run) {
		if (app.s) {
			new.app = fit_strdup(app);
			new.curve.app = fit_strdup(app);
		}
		if ((app.s && (!new.app || !new.curve.app)) ||
		    fit_grow(&r->list, &r->cap, r->n + 1, sizeof new)) {
			free(new.app);
			free(new.curve.app);
			return fit_fail_nomem(err);
		}
		r->list[r->n] = new;
		run = &r->list[r->n++];
	}
	if (fit_grow(&run->epochs, &run->cap, run->n + 1, sizeof *epoch))
		return fit_fail_nomem(err);
	run->epochs[run->n++] = *epoch;
	if (pool)
		run->log_batches += log((double)batch);
	return FIT_OK;
}

static int by_group_and_batch(const void *pa, const void *pb)
{
	const struct fit_pgns_run *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->batch > b->batch) - (a->batch < b->batch);
}

int fit_pgns_runs_fit(struct fit_pgns_runs *r, double penalty, struct fit_err *err)
{
	int rc = FIT_OK;

	if (r->n > 1)
		qsort(r->list, r->n, sizeof *r->list, by_group_and_batch);
	for (size_t i = 0; i < r->n && !rc; i++) {
		struct fit_pgns_run *run = &r->list[i];
		struct fit_pgns_point *p = malloc((run->n + 1) * sizeof *p);
		size_t n = 0;

		if (!p)
			return fit_fail_nomem(err);
		for (size_t e = 0; e < run->n; e++) {
			const struct fit_pgns_epoch *x = &run->epochs[e];

			if (!isnan(x->phi))
				p[n++] = (struct fit_pgns_point){ x->progress, x->phi, x->weight };
		}
		if (run->log_batches > 0)
			run->batch = (int64_t)rint(exp(run->log_batches / (double)run->n));
		run->curve.batch = run->batch;
		run->curve.init_batch = run->init_batch;
		if (n > 0)
			rc = fit_pgns_curve_fit(&run->curve, p, n, penalty, err);
		free(p);
	}
	return rc;
}

int fit_pgns_runs_source(const struct fit_pgns_runs *r, size_t target, int64_t from,
			 struct fit_pgns_source *s, struct fit_err *err)
{
	const struct fit_pgns_run *t = &r->list[target];
	struct fit_pgns_source made = { 0 };

	made.curves = malloc(r->n * sizeof *made.curves);
	if (!made.curves)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < r->n; i++) {
		const struct fit_pgns_run *o = &r->list[i];

		if (i != target && o->group == t->group && o->curve.n > 0 &&
		    (from == 0 || o->batch == from))
			made.curves[made.n++] = &o->curve;
	}
	if (made.n == 0) {
		free(made.curves);
		return fit_fail(err, FIT_ENOTFOUND, "no run of %s to predict batch size %lld from",
				t->app ? t->app : "the model", (long long)t->batch);
	}
	made.outside =
		t->batch < made.curves[0]->batch || t->batch > made.curves[made.n - 1]->batch;
	*s = made;
	return FIT_OK;
}

void fit_pgns_source_release(struct fit_pgns_source *s)
{
	free(s->curves);
	*s = (struct fit_pgns_source){ 0 };
}
