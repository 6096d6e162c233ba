/* SPDX-License-Identifier: MIT */
/* How far predicted efficiencies are from the training runs that there are: each from the others. */
#include "tools/pgns_parts.h"

#include <math.h>
#include <string.h>

#include "libfit/model/pgns.h"
#include "libfit/model/pgns_runs.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

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
	rows_put_real(w, e->n_inside > 0, e->inside / fmax((double)e->n_inside, 1));
	return fit_writer_end_row(w, err);
}

/* One run, predicted from others. all: what its application adds up to. */
static int compare_run(const struct pgns_options *o, const struct fit_pgns_runs *runs, size_t i,
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
		if (o->by != PGNS_BY_EPOCH)
			continue;
		fit_writer_str(w, r->app);
		fit_writer_int(w, r->batch);
		fit_writer_int(w, source.outside);
		fit_writer_int(w, (int64_t)e);
		fit_writer_real(w, x->progress);
		rows_put_real(w, !isnan(x->phi), x->phi);
		fit_writer_real(w, phi);
		fit_writer_real(w, x->efficiency);
		fit_writer_real(w, efficiency);
		fit_writer_real(w, x->efficiency * batch / m0);
		fit_writer_real(w, efficiency * batch / m0);
		fit_writer_real(w, pct);
		rc = fit_writer_end_row(w, err);
	}
	all->n_batches++;
	if (!rc && o->by == PGNS_BY_BATCH) {
		fit_writer_str(w, r->app);
		fit_writer_int(w, r->batch);
		fit_writer_int(w, source.outside);
		rc = put_errors(w, &own, err);
	}
	fit_pgns_source_release(&source);
	return rc;
}

int pgns_compare(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
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
		rc = pgns_begin(cli, w, "profile", runs.hash, by[o->by].fields, by[o->by].n, err);
	for (size_t i = 0; i < runs.n && !rc; i++) {
		const struct fit_pgns_run *r = &runs.list[i];

		/* At the initial batch size efficiency is 1 by definition. */
		if (rows_app_wanted(&o->app, fit_text_of(r->app)) && r->batch != r->init_batch &&
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
		if (sum.n > 0 && o->by == PGNS_BY_APP)
			rc = put_app(w, r->app, &sum, err);
		sum = (struct errors){ 0 };
	}
	if (!rc && done == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no run that could be predicted from others",
			      o->profile);
	fit_pgns_runs_release(&runs);
	return rc;
}
