/* SPDX-License-Identifier: MIT */
/* Jobs of gf-goodput, from a table of statistics, from a profile store, or from options. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/goodput_parts.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct fit_text app_text(const char *app)
{
	return app ? fit_text_of(app) : (struct fit_text){ 0 };
}

/* Add a job. In j the limits are those of the statistics table, 0 where it has none. Options go
 * first, the profile last. */
static int add_job(const struct goodput_options *o, struct goodput_data *d, struct goodput_job j,
		   struct fit_text app, struct fit_err *err)
{
	const struct fit_theta *theta = fit_theta_list_find(&d->models, app);
	struct fit_app *profiled = d->profile && app.s ? fit_profile_find(d->profile, app) : NULL;
	const struct fit_app_info *info = profiled ? fit_app_info(profiled) : NULL;
	struct fit_goodput *g = &j.model;
	struct {
		int64_t *to, option, profile;
		const char *name;
	} limits[] = {
		{ &g->init_batch, o->fixed > 0 ? o->fixed : o->init_batch,
		  info ? info->init_batch : 0, "init-batch" },
		{ &g->max_batch, o->fixed > 0 ? o->fixed : o->max_batch, info ? info->max_batch : 0,
		  "max-batch" },
		{ &g->min_local_bsz, o->min_local, info ? info->min_local_bsz : 1, "min-local" },
		{ &g->max_local_bsz, o->max_local, info ? info->max_local_bsz : 0, "max-local" }
	};
	const char *wrong;

	if (!theta)
		return fit_fail(err, FIT_EDATA,
				"no throughput model of application '%.*s' (--models)",
				FIT_TEXT_ARG(app));
	if (d->profile && app.s && !profiled && o->stats)
		return fit_fail(err, FIT_EDATA, "no application '%.*s' in the profile",
				FIT_TEXT_ARG(app));
	for (size_t k = 0; k < COUNT(limits); k++) {
		if (limits[k].option > 0)
			*limits[k].to = limits[k].option;
		else if (*limits[k].to <= 0)
			*limits[k].to = limits[k].profile;
		if (*limits[k].to <= 0)
			return fit_fail(err, FIT_EINVAL, "no --%s for '%.*s', and none in a table",
					limits[k].name, FIT_TEXT_ARG(app));
	}
	if (g->grad_sqr < 0) { /* only phi is known: any pair of that ratio does */
		g->grad_sqr = 1;
		g->grad_var /= (double)g->init_batch;
	}
	for (size_t k = 0; k < COUNT(limits); k++)
		if (*limits[k].to > (int64_t)1e12)
			return fit_fail(
				err, FIT_EDATA, "bad %s '%lld' of '%.*s' (expected at most 1e12)",
				limits[k].name, (long long)*limits[k].to, FIT_TEXT_ARG(app));
	g->theta = *theta;
	g->max_accum = o->max_accum;
	g->strict_batch = o->strict;
	g->fixed_efficiency = o->fixed > 0;
	wrong = fit_goodput_check(g);
	if (wrong)
		return fit_fail(err, FIT_EDATA, "application '%.*s': %s", FIT_TEXT_ARG(app), wrong);
	j.base = fit_goodput_best(g, 1, 1).goodput;
	if (app.s && !(j.app = fit_strdup(app)))
		return fit_fail_nomem(err);
	if (fit_grow(&d->jobs, &d->cap, d->n + 1, sizeof j)) {
		free(j.app);
		return fit_fail_nomem(err);
	}
	d->jobs[d->n++] = j;
	return FIT_OK;
}

/* A row of the statistics table. */
static int stats_row(const struct fit_input *in, const struct goodput_options *o, struct goodput_data *d,
		     struct fit_err *err)
{
	static const char *const limit_names[] = { "init_batch", "max_batch", "min_local_bsz",
						   "max_local_bsz" };
	struct goodput_job j = { 0 };
	int64_t *limits[] = { &j.model.init_batch, &j.model.max_batch, &j.model.min_local_bsz,
			      &j.model.max_local_bsz };
	int sqr = fit_input_find(in, "grad_sqr", NULL), var = fit_input_find(in, "grad_var", NULL);
	int phi = fit_input_find(in, "phi", NULL), app = fit_input_find(in, "app", NULL);
	double epoch = 0, v;
	char buf[FIT_NUM_MAX], status[FIT_NUM_MAX], name[256];
	struct fit_text said, t = fit_input_text(in, app, buf);
	struct fit_err why;
	bool na;
	int rc;

	snprintf(name, sizeof name, "%.*s", FIT_TEXT_ARG(t));
	if (t.s && !rows_app_wanted(&o->app, t))
		return FIT_OK;
	said = fit_input_text(in, fit_input_find(in, "status", NULL), status);
	if (said.s && !fit_text_is(said, "ok")) {
		d->not_estimable++;
		return FIT_OK;
	}
	for (size_t k = 0; k < COUNT(limits); k++) {
		int at = fit_input_find(in, limit_names[k], NULL);

		rc = fit_input_number(in, at, true, &v, &na, err);
		if (rc)
			return rc;
		if (!na && !(v >= 1))
			return fit_input_fail(in, at, err, "bad limit '%g' (expected 1 or more)",
					      v);
		if (!na)
			*limits[k] = (int64_t)v;
	}
	if (sqr >= 0 && var >= 0) {
		rc = fit_input_need(in, sqr, false, &j.model.grad_sqr, err);
		if (!rc)
			rc = fit_input_need(in, var, false, &j.model.grad_var, err);
		if (!rc && j.model.grad_sqr < 0)
			return fit_input_fail(
				in, sqr, err,
				"not estimable: squared norm '%g' (expected 0 or more)",
				j.model.grad_sqr);
		if (!rc && j.model.grad_var < 0)
			return fit_input_fail(in, var, err,
					      "not estimable: variance '%g' (expected 0 or more)",
					      j.model.grad_var);
	} else {
		j.model.grad_sqr = -1;
		rc = fit_input_need(in, phi, false, &j.model.grad_var, err);
		if (!rc && j.model.grad_var < 0)
			return fit_input_fail(in, phi, err,
					      "bad noise scale '%g' (expected 0 or more)",
					      j.model.grad_var);
	}
	if (!rc)
		rc = fit_input_number(in, fit_input_find(in, "epoch", NULL), true, &epoch, &na,
				      err);
	j.has_epoch = !na;
	j.epoch = (int64_t)epoch;
	if (!rc)
		rc = fit_input_number(in, fit_input_find(in, "progress", NULL), false, &j.progress,
				      &na, err);
	j.has_progress = !na;
	/* without an application a row is for every model */
	for (size_t i = 0; i < (t.s ? 1 : d->models.n) && !rc; i++) {
		const char *model = t.s ? name : d->models.entries[i].app;

		if (rows_app_wanted(&o->app, app_text(model)))
			rc = add_job(o, d, j, t.s ? t : app_text(model), &why);
		if (rc)
			return rc == FIT_EDATA ? fit_input_fail(in, app, err, "%s", why.msg)
					       : fit_fail(err, rc, "%s", why.msg);
	}
	return rc;
}

static int read_stats(const struct goodput_options *o, struct goodput_data *d, struct fit_err *err)
{
	struct fit_input *in = NULL;
	char hash[FIT_HASH_HEX];
	int rc = fit_input_open(&in, o->stats, false, err);

	if (!rc &&
	    (fit_input_find(in, "grad_sqr", NULL) < 0 ||
	     fit_input_find(in, "grad_var", NULL) < 0) &&
	    fit_input_find(in, "phi", NULL) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND,
			      "%s: no columns 'grad_sqr' and 'grad_var', nor 'phi'",
			      fit_input_name(in));
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = stats_row(in, o, d, err);
	if (rc == FIT_END) {
		fit_input_hash(in, hash);
		rc = cli_meta_input(&d->inputs, "stats", hash) ? fit_fail_nomem(err) : FIT_OK;
	}
	fit_input_close(in);
	return rc;
}

static int profile_jobs(const struct goodput_options *o, struct goodput_data *d, struct fit_err *err)
{
	for (size_t a = 0; a < fit_profile_n_apps(d->profile); a++) {
		struct fit_app *app = fit_profile_app(d->profile, a);
		const struct fit_app_info *info = fit_app_info(app);

		for (size_t e = 0; e < d->n_epochs && rows_app_wanted(&o->app, fit_text_of(info->name)); e++) {
			struct goodput_job j = { .has_epoch = true, .epoch = d->epochs[e] };
			int64_t batch = o->stats_batch > 0 ? o->stats_batch : info->init_batch;
			int rc = FIT_OK;

			if (j.epoch >= info->epochs)
				return fit_fail(
					err, FIT_EDATA,
					"no epoch '%lld' of application '%s' (expected 0 to "
					"%lld)",
					(long long)j.epoch, info->name,
					(long long)info->epochs - 1);
			j.has_progress = true;
			j.progress = fit_app_epoch_start(app, j.epoch);
			rc = fit_app_grad_stats(app, batch, j.epoch, &j.model.grad_sqr,
						&j.model.grad_var, err);
			if (!rc)
				rc = add_job(o, d, j, fit_text_of(info->name), err);
			if (rc)
				return rc;
		}
	}
	return FIT_OK;
}

int goodput_make_jobs(const struct goodput_options *o, struct goodput_data *d, struct fit_err *err)
{
	char hash[FIT_HASH_HEX];
	int rc = fit_theta_list_read(&d->models, o->models, err);

	if (!rc && cli_meta_input(&d->inputs, "models", d->models.hash))
		rc = fit_fail_nomem(err);
	if (!rc && o->profile)
		rc = fit_profile_load(&d->profile, o->profile, hash, err);
	if (!rc && o->profile && cli_meta_input(&d->inputs, "profile", hash))
		rc = fit_fail_nomem(err);
	if (rc)
		return rc;
	if (o->stats) {
		rc = read_stats(o, d, err);
	} else if (o->grad_sqr < 0 && o->phi < 0 && o->fixed <= 0) {
		rc = profile_jobs(o, d, err);
	} else {
		for (size_t i = 0; i < d->models.n && !rc; i++) {
			struct goodput_job j = {
				.model = { .grad_sqr = o->phi >= 0 ? -1 : fmax(o->grad_sqr, 0),
					   .grad_var = o->phi >= 0 ? o->phi : fmax(o->grad_var, 0) }
			};

			if (rows_app_wanted(&o->app, app_text(d->models.entries[i].app)))
				rc = add_job(o, d, j, app_text(d->models.entries[i].app), err);
		}
	}
	if (!rc && d->n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no %s%s", o->stats ? o->stats : o->models,
			      o->stats ? "gradient statistics" : "models with gradient statistics",
			      o->app.n ? " of that application" : "");
	return rc;
}

void goodput_release(struct goodput_data *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->jobs[i].app);
	free(d->jobs);
	free(d->gpus);
	free(d->nodes);
	free(d->epochs);
	fit_theta_list_release(&d->models);
	fit_profile_free(d->profile);
	fit_meta_release(&d->inputs);
}
