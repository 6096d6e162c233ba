/* SPDX-License-Identifier: MIT */
/* Curves of the noise scale over training progress, of estimates or of the runs of a profile store. */
#include "tools/pgns_parts.h"

#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/pgns_runs.h"

/* A row of estimates. *bare counts those that have none. */
static int point_row(const struct fit_input *in, const struct pgns_options *o,
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

	if (!rows_app_wanted(&o->app, app))
		return FIT_OK;
	if (init == 0)
		rc = pgns_whole(in, at_init, 1, -1, &init, err);
	if (!rc)
		rc = pgns_whole(in, fit_input_find(in, "batch_size", NULL), 1, init, &batch, err);
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

static int read_points(struct cli *cli, const struct pgns_options *o, struct fit_pgns_runs *runs,
		       struct fit_err *err)
{
	struct fit_input *in = NULL;
	uint64_t bare = 0;
	int rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);

	if (!rc && fit_input_find(in, "progress", NULL) < 0)
		rc = fit_input_lacks(in, "progress", err);
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

static int profile_points(struct cli *cli, const struct pgns_options *o, struct fit_pgns_runs *runs,
			  struct fit_err *err)
{
	struct fit_pgns_runs all = { 0 };
	uint64_t bare = 0;
	int rc = fit_pgns_runs_read(&all, o->profile, err);

	for (size_t i = 0; i < all.n && !rc; i++) {
		const struct fit_pgns_run *r = &all.list[i];
		struct fit_text app = fit_text_of(r->app);

		for (size_t e = 0; e < r->n && !rc && rows_app_wanted(&o->app, app); e++) {
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

int pgns_fit(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
		      struct fit_err *err)
{
	struct fit_pgns_runs runs = { 0 };
	int rc = o->profile ? profile_points(cli, o, &runs, err) : read_points(cli, o, &runs, err);

	if (!rc && runs.n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no estimates%s", o->profile ? o->profile : cli_operand_name(cli, 0),
			      o->app.n > 0 ? " of that application" : "");
	if (!rc)
		rc = fit_pgns_runs_fit(&runs, o->penalty, err);
	if (!rc)
		rc = pgns_begin(cli, w, o->profile ? "profile" : NULL, runs.hash,
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
