/* SPDX-License-Identifier: MIT */
/*
 * gf-goodput: what a throughput model and gradient statistics say of allocations: goodput,
 * throughput, statistical efficiency, the best split of the batch, the speedup against one GPU, and
 * how learning rates grow. Allocations come from a table or from --gpus and --nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "libfit/model/goodput.h"
#include "libfit/model/lr_rule.h"
#include "libfit/model/profile.h"
#include "libfit/model/theta.h"
#include "tools/common/cli.h"
#include "traces/input.h"

struct options {
	const char *models, *stats, *profile, *nodes, *gpus, *epoch, *lr_rule;
	double grad_sqr, grad_var, phi;
	int64_t init_batch, max_batch, min_local, max_local, max_accum, fixed, stats_batch,
		per_node;
	bool at, strict, csv;
	struct cli_list app;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)

static const struct cli_option option_table[] = {
	{ 0, "models", CLI_TEXT, AT(models), "THETA", NULL, "throughput models, from gf-throughput",
	  NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "limits, and gradient statistics at --epoch, of a profile store", NULL, 0, 0, CLI_INPUT },
	{ 0, "epoch", CLI_TEXT, AT(epoch), "LIST", "0", "epochs of the profile, from 0: 0,10-50:20",
	  NULL, 0, 0, R },
	{ 0, "stats-batch", CLI_INT, AT(stats_batch), "B", "the initial one",
	  "batch size at which the profile's statistics are taken", NULL, 1, 1e15, R },
	{ 0, "stats", CLI_TEXT, AT(stats), "FILE", NULL,
	  "gradient statistics, a row each, from gf-pgns", NULL, 0, 0, CLI_INPUT },
	{ 0, "grad-sqr", CLI_REAL, AT(grad_sqr), "X", NULL, "squared norm of the gradient", NULL, 0,
	  1e300, R },
	{ 0, "grad-var", CLI_REAL, AT(grad_var), "X", NULL,
	  "variance of the gradient at the initial batch size", NULL, 0, 1e300, R },
	{ 0, "phi", CLI_REAL, AT(phi), "X", NULL, "noise scale, samples, in place of these two",
	  NULL, 0, 1e300, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", NULL, "initial total batch size", NULL, 1,
	  1e12, R },
	{ 0, "max-batch", CLI_INT, AT(max_batch), "B", NULL, "largest total batch size", NULL, 1,
	  1e12, R },
	{ 0, "min-local", CLI_INT, AT(min_local), "B", "1", "least samples a GPU and pass", NULL, 1,
	  1e12, R },
	{ 0, "max-local", CLI_INT, AT(max_local), "B", NULL, "most samples a GPU and pass (memory)",
	  NULL, 1, 1e12, R },
	{ 0, "max-accum", CLI_INT, AT(max_accum), "N", "no limit", "most accumulation passes", NULL,
	  0, 1e9, R },
	{ 0, "strict", CLI_FLAG, AT(strict), NULL, NULL,
	  "never above --max-batch, not even by rounding up", NULL, 0, 0, R },
	{ 0, "fixed", CLI_INT, AT(fixed), "B", NULL,
	  "a job that does not adapt: total batch size B, efficiency 1", NULL, 1, 1e12, R },
	{ 0, "gpus", CLI_TEXT, AT(gpus), "LIST", NULL,
	  "numbers of GPUs, in place of FILE: 1-4,8,16-64:16", NULL, 0, 0, R | CLI_INSTEAD },
	{ 0, "nodes", CLI_TEXT, AT(nodes), "LIST", "the fewest",
	  "numbers of nodes, each with each of --gpus", NULL, 0, 0, R },
	{ 0, "gpus-per-node", CLI_INT, AT(per_node), "N", "4", "GPUs that a node has", NULL, 1, 1e6,
	  R },
	{ 0, "at", CLI_FLAG, AT(at), NULL, NULL, "evaluate the splits in FILE, do not optimise",
	  NULL, 0, 0, R },
	{ 0, "lr-rule", CLI_TEXT, AT(lr_rule), "NAME", NULL,
	  "factor on the learning rate: adascale, sqrt, linear, legw, or all", NULL, 0, 0, R },
	{ 0, "app", CLI_LIST, AT(app), "NAME", NULL, "this application only; may be repeated", NULL,
	  0, 0, R },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MAX_LIST 100000

/* One set of statistics and limits, and what it gives on one GPU. */
struct job {
	char *app; /* NULL: no name */
	bool has_epoch, has_progress;
	int64_t epoch;
	double progress;
	struct fit_goodput model;
	double base; /* best goodput on one GPU; 0: none */
};

struct data {
	struct fit_theta_list models;
	struct fit_profile *profile;
	struct job *jobs;
	size_t n, cap;
	int64_t *gpus, *nodes, *epochs;
	size_t n_gpus, n_nodes, n_epochs;
	const struct fit_lr_rule *rule; /* NULL: none, or all of them */
	struct fit_meta inputs;
	uint64_t not_estimable; /* rows of the statistics left out */
};

/* ---- options ---- */

static bool next_number(const char **s, const char *ends, int64_t *v)
{
	size_t n = strcspn(*s, ends);

	if (fit_parse_int64((struct fit_text){ *s, n }, v) || *v < 0 || *v > 1000000)
		return false;
	*s += n;
	return true;
}

/* "1-4,8,16-64:16": numbers and ranges A-B or A-B:STEP. 0, or an exit status. */
static int parse_list(struct cli *cli, const char *option, const char *text, int64_t least,
		      int64_t **list, size_t *n)
{
	size_t cap = 0;

	for (const char *s = text; text; s++) {
		int64_t a = 0, b = 0, step = 1;
		bool good = next_number(&s, "-,", &a) && a >= least;

		b = a;
		if (good && *s == '-') {
			s++;
			good = next_number(&s, ":,", &b) && b >= a;
			if (good && *s == ':') {
				s++;
				good = next_number(&s, ",", &step) && step >= 1;
			}
		}
		if (!good || (*s && *s != ',') || (size_t)((b - a) / step) + *n >= MAX_LIST)
			return cli_usage(
				cli,
				"bad list '%s' for --%s (expected numbers from %lld and ranges, "
				"like 1-4,8,16-64:16)",
				text, option, (long long)least);
		for (int64_t v = a; v <= b; v += step) {
			if (fit_grow(list, &cap, *n + 1, sizeof **list)) {
				struct fit_err err;

				fit_fail_nomem(&err);
				return cli_error(cli, &err);
			}
			(*list)[(*n)++] = v;
		}
		if (!*s)
			break;
	}
	return 0;
}

static int check_usage(struct cli *cli, const struct options *o, struct data *d)
{
	bool sqr = o->grad_sqr >= 0, var = o->grad_var >= 0, phi = o->phi >= 0;
	int sources = (sqr || var) + phi + (o->stats != NULL) + (o->fixed > 0);
	int rc;

	if (sqr != var)
		return cli_usage(cli, "--grad-sqr and --grad-var belong together");
	if (sources > 1)
		return cli_usage(cli, "more than one of --grad-sqr, --phi, --stats, --fixed given");
	if (sources == 0 && !o->profile)
		return cli_usage(
			cli, "no gradient statistics (expected --grad-sqr and --grad-var, --phi, "
			     "--stats, --profile, or --fixed)");
	if ((o->epoch || o->stats_batch > 0) && (sources > 0 || !o->profile))
		return cli_usage(
			cli, "--epoch and --stats-batch go with the statistics of --profile only");
	if (o->gpus && (cli->n_operands > 0 || o->at))
		return cli_usage(cli, "--gpus goes with neither FILE nor --at");
	if (o->nodes && !o->gpus)
		return cli_usage(cli, "--nodes goes with --gpus only");
	if (o->fixed > 0 && (o->init_batch > 0 || o->max_batch > 0))
		return cli_usage(cli, "--fixed goes with neither --init-batch nor --max-batch");
	if (o->lr_rule && strcmp(o->lr_rule, "all") != 0 &&
	    !(d->rule = fit_lr_rule_find(o->lr_rule)))
		return cli_usage(
			cli,
			"unknown rule '%s' for --lr-rule (expected adascale, sqrt, linear, legw "
			"or all)",
			o->lr_rule);
	rc = parse_list(cli, "gpus", o->gpus, 1, &d->gpus, &d->n_gpus);
	if (!rc)
		rc = parse_list(cli, "nodes", o->nodes, 1, &d->nodes, &d->n_nodes);
	if (!rc)
		rc = parse_list(cli, "epoch", o->epoch ? o->epoch : "0", 0, &d->epochs,
				&d->n_epochs);
	return rc;
}

static bool app_wanted(const struct options *o, const char *app)
{
	for (size_t i = 0; i < o->app.n; i++)
		if (app && strcmp(o->app.items[i], app) == 0)
			return true;
	return o->app.n == 0;
}

static struct fit_text app_text(const char *app)
{
	return app ? fit_text_of(app) : (struct fit_text){ 0 };
}

/* ---- jobs ---- */

/* Add a job. In j the limits are those of the statistics table, 0 where it has none. Options go
 * first, the profile last. */
static int add_job(const struct options *o, struct data *d, struct job j, struct fit_text app,
		   struct fit_err *err)
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
static int stats_row(const struct fit_input *in, const struct options *o, struct data *d,
		     struct fit_err *err)
{
	static const char *const limit_names[] = { "init_batch", "max_batch", "min_local_bsz",
						   "max_local_bsz" };
	struct job j = { 0 };
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
	if (t.s && !app_wanted(o, name))
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

		if (app_wanted(o, model))
			rc = add_job(o, d, j, t.s ? t : app_text(model), &why);
		if (rc)
			return rc == FIT_EDATA ? fit_input_fail(in, app, err, "%s", why.msg)
					       : fit_fail(err, rc, "%s", why.msg);
	}
	return rc;
}

static int read_stats(const struct options *o, struct data *d, struct fit_err *err)
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

static int profile_jobs(const struct options *o, struct data *d, struct fit_err *err)
{
	for (size_t a = 0; a < fit_profile_n_apps(d->profile); a++) {
		struct fit_app *app = fit_profile_app(d->profile, a);
		const struct fit_app_info *info = fit_app_info(app);

		for (size_t e = 0; e < d->n_epochs && app_wanted(o, info->name); e++) {
			struct job j = { .has_epoch = true, .epoch = d->epochs[e] };
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

static int make_jobs(const struct options *o, struct data *d, struct fit_err *err)
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
			struct job j = {
				.model = { .grad_sqr = o->phi >= 0 ? -1 : fmax(o->grad_sqr, 0),
					   .grad_var = o->phi >= 0 ? o->phi : fmax(o->grad_var, 0) }
			};

			if (app_wanted(o, d->models.entries[i].app))
				rc = add_job(o, d, j, app_text(d->models.entries[i].app), err);
		}
	}
	if (!rc && d->n == 0)
		rc = fit_fail(err, FIT_EDATA, "no gradient statistics%s",
			      o->app.n ? " of that application" : "");
	return rc;
}

/* ---- output ---- */

static const struct fit_field fixed_fields[] = {
	{ "app", FIT_TEXT, 0 },	       { "epoch", FIT_INT, 0 },
	{ "progress", FIT_REAL, 0 },   { "phi", FIT_REAL, 0 },
	{ "num_nodes", FIT_INT, 0 },   { "num_replicas", FIT_INT, 0 },
	{ "atomic_bsz", FIT_INT, 0 },  { "accum_steps", FIT_INT, 0 },
	{ "batch_size", FIT_INT, 0 },  { "throughput_per_s", FIT_REAL, 0 },
	{ "efficiency", FIT_REAL, 0 }, { "goodput_per_s", FIT_REAL, 0 },
	{ "speedup", FIT_REAL, 0 }
};

static bool rule_wanted(const struct options *o, const struct data *d, size_t i)
{
	return o->lr_rule && (!d->rule || d->rule == &fit_lr_rules[i]);
}

static int begin_output(const struct cli *cli, const struct options *o, const struct data *d,
			struct fit_writer *w, struct fit_err *err)
{
	struct fit_field fields[64];
	char names[48][48];
	size_t n = COUNT(fixed_fields), n_names = 0;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	memcpy(fields, fixed_fields, sizeof fixed_fields);
	for (size_t i = 0; i < fit_lr_n_rules; i++) {
		for (int k = 0; k < 2 && rule_wanted(o, d, i); k++) {
			if (k == 1 && !fit_lr_rules[i].warmup)
				continue;
			snprintf(names[n_names], sizeof names[0], "%s_%s", k ? "warmup" : "lr",
				 fit_lr_rules[i].name);
			fields[n++] = (struct fit_field){ names[n_names++], FIT_REAL, 0 };
		}
	}
	for (size_t i = 0; i < d->inputs.n && !rc; i++)
		rc = fit_meta_add(&meta, d->inputs.pairs[i].key, d->inputs.pairs[i].value);
	if (rc)
		fit_fail_nomem(err);
	else
		rc = fit_writer_begin(w, NULL, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static void put_int(struct fit_writer *w, bool known, int64_t v)
{
	if (known)
		fit_writer_int(w, v);
	else
		fit_writer_na(w);
}

static void put_real(struct fit_writer *w, bool known, double v)
{
	if (known)
		fit_writer_real(w, v);
	else
		fit_writer_na(w);
}

static int put_row(struct fit_writer *w, const struct options *o, const struct data *d,
		   const struct job *j, int64_t nodes, int64_t replicas,
		   const struct fit_goodput_point *p, struct fit_err *err)
{
	const struct fit_goodput *g = &j->model;
	const struct fit_lr_stats stats = { g->grad_sqr, g->grad_var };
	bool fits = p->atomic_bsz > 0;
	int64_t batch = replicas * p->atomic_bsz * (p->accum_steps + 1);

	fit_writer_str(w, j->app);
	put_int(w, j->has_epoch, j->epoch);
	put_real(w, j->has_progress, j->progress);
	put_real(w, !g->fixed_efficiency && (g->grad_var > 0 || g->grad_sqr > 0),
		 (double)g->init_batch * g->grad_var / g->grad_sqr);
	fit_writer_int(w, nodes);
	fit_writer_int(w, replicas);
	put_int(w, fits, p->atomic_bsz);
	put_int(w, fits, p->accum_steps);
	put_int(w, fits, batch);
	put_real(w, fits, p->throughput);
	put_real(w, fits, p->efficiency);
	fit_writer_real(w, p->goodput);
	put_real(w, j->base > 0, p->goodput / j->base);
	for (size_t i = 0; i < fit_lr_n_rules; i++) {
		const struct fit_lr_rule *r = &fit_lr_rules[i];
		/* without statistics AdaScale has no answer */
		bool known = fits && !(g->fixed_efficiency && r == fit_lr_rule_find("adascale"));

		if (!rule_wanted(o, d, i))
			continue;
		put_real(w, known,
			 fits ? r->gain((double)batch, (double)g->init_batch, &stats) : 0);
		if (r->warmup)
			put_real(w, fits, r->warmup((double)batch, (double)g->init_batch));
	}
	return fit_writer_end_row(w, err);
}

/* ---- allocations ---- */

struct columns {
	int app, nodes, replicas, placement, bsz, accum;
};

static int find_columns(const struct fit_input *in, const struct options *o, struct columns *c,
			struct fit_err *err)
{
	const char *missing = NULL;

	*c = (struct columns){ fit_input_find(in, "app", NULL),
			       fit_input_find(in, "num_nodes", NULL),
			       fit_input_find(in, "num_replicas", NULL),
			       fit_input_find(in, "placement", NULL),
			       fit_input_find(in, "atomic_bsz", "local_bsz"),
			       fit_input_find(in, "accum_steps", NULL) };
	if (o->at && c->bsz < 0)
		missing = "atomic_bsz";
	if (c->placement < 0 && c->replicas < 0)
		missing = "num_replicas";
	if (c->placement < 0 && c->nodes < 0)
		missing = "num_nodes";
	return missing ? fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", fit_input_name(in),
				  missing)
		       : FIT_OK;
}

static int get_shape(const struct fit_input *in, const struct columns *c, int64_t *nodes,
		     int64_t *replicas, struct fit_err *err)
{
	double n = 0, r = 0;
	int rc;

	if (c->nodes < 0 || c->replicas < 0) {
		rc = fit_input_need(in, c->placement, true, &n, err);
		if (!rc && fit_placement_canonical((int64_t)n) < 0)
			rc = fit_input_fail(in, c->placement, err,
					    "bad placement '%.0f' (expected a digit from 1 "
					    "to 9 for each of at most %d nodes)",
					    n, FIT_DIGITS_NODES_MAX);
		if (!rc)
			fit_placement_shape((int64_t)n, nodes, replicas);
		return rc;
	}
	rc = fit_input_need(in, c->nodes, true, &n, err);
	if (!rc)
		rc = fit_input_need(in, c->replicas, true, &r, err);
	if (rc)
		return rc;
	if (!(n >= 1))
		return fit_input_fail(in, c->nodes, err,
				      "bad number of nodes '%.0f' (expected 1 or more)", n);
	if (!(r >= n) || r > 1e6)
		return fit_input_fail(in, c->replicas, err,
				      "bad number of GPUs '%.0f' (expected %.0f to 1000000)", r, n);
	*nodes = (int64_t)n;
	*replicas = (int64_t)r;
	return FIT_OK;
}

/* A split that was asked for must be within the limits, but for what rounding up adds. */
static int given_split(const struct fit_input *in, const struct columns *c, const struct job *j,
		       int64_t nodes, int64_t replicas, struct fit_goodput_point *p,
		       struct fit_err *err)
{
	const struct fit_goodput *g = &j->model;
	double bsz = 0, accum = 0, batch, over;
	bool na;
	int rc = fit_input_need(in, c->bsz, true, &bsz, err);

	if (!rc)
		rc = fit_input_number(in, c->accum, true, &accum, &na, err);
	if (rc)
		return rc;
	if (bsz < (double)g->min_local_bsz || bsz > (double)g->max_local_bsz)
		return fit_input_fail(in, c->bsz, err, "bad size '%.0f' (expected %lld to %lld)",
				      bsz, (long long)g->min_local_bsz,
				      (long long)g->max_local_bsz);
	if (accum < 0 || accum > (g->max_accum >= 0 ? (double)g->max_accum : 1e9))
		return fit_input_fail(in, c->accum, err,
				      "bad number of passes '%.0f' (expected 0 to %.0f)", accum,
				      g->max_accum >= 0 ? (double)g->max_accum : 1e9);
	batch = (double)replicas * bsz * (accum + 1);
	over = g->strict_batch ? 1 : (double)replicas * (accum + 1);
	if ((batch < (double)g->init_batch && !g->fixed_efficiency) ||
	    batch > (double)g->max_batch + over - 1)
		return fit_input_fail(in, c->bsz, err,
				      "bad total batch size '%.0f' (expected %lld to %lld)", batch,
				      (long long)g->init_batch, (long long)g->max_batch);
	*p = fit_goodput_at(g, nodes, replicas, (int64_t)bsz, (int64_t)accum);
	return FIT_OK;
}

/* One row of allocations, for every job that it is about. */
static int allocation(const struct fit_input *in, const struct columns *c, const struct options *o,
		      const struct data *d, struct fit_writer *w, struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, c->app, buf);
	int64_t nodes = 0, replicas = 0;
	size_t met = 0;
	int rc = get_shape(in, c, &nodes, &replicas, err);

	for (size_t i = 0; i < d->n && !rc; i++) {
		const struct job *j = &d->jobs[i];
		struct fit_goodput_point p;

		if (app.s && j->app && !fit_text_is(app, j->app))
			continue;
		met++;
		if (o->at)
			rc = given_split(in, c, j, nodes, replicas, &p, err);
		else
			p = fit_goodput_best(&j->model, nodes, replicas);
		if (!rc)
			rc = put_row(w, o, d, j, nodes, replicas, &p, err);
	}
	if (!rc && met == 0 && o->app.n == 0)
		rc = fit_input_fail(in, c->app, err, "no gradient statistics of application '%.*s'",
				    FIT_TEXT_ARG(app));
	return rc;
}

static int from_file(struct cli *cli, const struct options *o, struct data *d, struct fit_writer *w,
		     struct fit_err *err)
{
	struct fit_input *in = NULL;
	struct columns c;
	int rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);

	if (!rc)
		rc = find_columns(in, o, &c, err);
	if (!rc)
		rc = begin_output(cli, o, d, w, err);
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = allocation(in, &c, o, d, w, err);
	if (rc == FIT_END) {
		struct fit_meta end = { 0 };
		char hash[FIT_HASH_HEX];

		fit_input_hash(in, hash);
		rc = cli_meta_input(&end, NULL, hash) ? fit_fail_nomem(err)
						      : fit_writer_end_meta(w, &end, err);
		fit_meta_release(&end);
	}
	fit_input_close(in);
	return rc;
}

/* --gpus and --nodes: every pair that can be, for one job after the other. */
static int from_lists(struct cli *cli, const struct options *o, struct data *d,
		      struct fit_writer *w, struct fit_err *err)
{
	int rc = begin_output(cli, o, d, w, err);
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = 0; k < d->n_gpus; k++) {
			for (size_t m = 0; m < (d->n_nodes ? d->n_nodes : 1) && !rc; m++) {
				int64_t gpus = d->gpus[k], fewest = (gpus - 1) / o->per_node + 1;
				int64_t nodes = d->n_nodes ? d->nodes[m] : fewest;
				struct fit_goodput_point p;

				if (nodes < fewest || nodes > gpus)
					continue;
				p = fit_goodput_best(&d->jobs[i].model, nodes, gpus);
				rc = put_row(w, o, d, &d->jobs[i], nodes, gpus, &p, err);
				n++;
			}
		}
	}
	if (!rc && n == 0)
		rc = fit_fail(err, FIT_EDATA,
			      "no number of GPUs fits any number of nodes (--gpus, --nodes, "
			      "--gpus-per-node)");
	return rc;
}

/* ---- the run ---- */

static void data_release(struct data *d)
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

static int run(struct cli *cli, const struct options *o)
{
	struct fit_writer *w = NULL;
	struct data d = { 0 };
	struct fit_err err;
	int status = check_usage(cli, o, &d), rc;

	if (status)
		goto out;
	rc = make_jobs(o, &d, &err);
	if (rc == FIT_EINVAL) {
		status = cli_usage(cli, "%s", err.msg);
		goto out;
	}
	if (d.not_estimable > 0)
		cli_warn(cli, "%s: %llu %s not estimable left out", o->stats,
			 (unsigned long long)d.not_estimable,
			 fit_plural(d.not_estimable, "row that is", "rows that are"));
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	if (!rc)
		rc = o->gpus ? from_lists(cli, o, &d, w, &err) : from_file(cli, o, &d, w, &err);
	if (!rc)
		rc = fit_writer_end(w, &err);
	if (!rc) {
		rc = fit_writer_close(w, &err);
		w = NULL;
	}
	if (rc)
		status = cli_error(cli, &err);
out:
	fit_writer_abort(w);
	data_release(&d);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "goodput of allocations", option_table, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-goodput", "Goodput, efficiency, best batch size and speedup of allocations.",
	"FILE has the columns num_nodes and num_replicas (or placement), app where there are\n"
	"several applications, and with --at atomic_bsz (or local_bsz) and accum_steps.",
	verbs
};

int main(int argc, char **argv)
{
	struct options o = {
		.grad_sqr = -1, .grad_var = -1, .phi = -1, .max_accum = -1, .per_node = 4
	};
	struct cli cli;
	int rc = cli_start(&cli, &tool, argc, argv, &o);

	if (rc >= 0)
		return rc;
	rc = cli_finish(&cli, run(&cli, &o));
	free(o.app.items);
	return rc;
}
