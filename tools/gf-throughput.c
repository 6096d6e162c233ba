/* SPDX-License-Identifier: MIT */
/*
 * gf-throughput: measured step times become the throughput model theta_sys, one row an application;
 * with --predict, a model and a table of configurations become predicted step times. Reads tables,
 * delimited text, or the measurements of a profile store.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "libfit/model/theta.h"
#include "libfit/model/throughput.h"
#include "tools/common/cli.h"
#include "traces/input.h"

struct options {
	int objective;
	int64_t starts, max_iter, skip_bad;
	bool csv, residuals;
	const char *profile, *predict;
	struct cli_list by, app, start, lower, upper;
};

static const char *const objectives[] = { "paper", "adaptdl", NULL };

static const struct cli_option option_table[] = {
	{ 0, "objective", CLI_CHOICE, offsetof(struct options, objective), "NAME", "adaptdl",
	  "what is minimised", objectives, 0, 0, CLI_RESULT },
	{ 0, "by", CLI_LIST, offsetof(struct options, by), "COLUMN,...", "app",
	  "one model for each combination of these columns", NULL, 0, 0, CLI_RESULT },
	{ 0, "app", CLI_LIST, offsetof(struct options, app), "NAME", NULL,
	  "this application only; may be repeated", NULL, 0, 0, CLI_RESULT },
	{ 0, "profile", CLI_TEXT, offsetof(struct options, profile), "STORE", NULL,
	  "fit the measurements of a profile store instead of FILE", NULL, 0, 0, CLI_INPUT | CLI_INSTEAD },
	{ 0, "csv", CLI_FLAG, offsetof(struct options, csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, "skip-bad", CLI_INT, offsetof(struct options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, "starts", CLI_INT, offsetof(struct options, starts), "N", "6",
	  "starting points", NULL, 1, 64, CLI_RESULT },
	{ 0, "start", CLI_LIST, offsetof(struct options, start), "NAME=VALUE", NULL,
	  "first starting point; others are estimated from the data", NULL, 0, 0, CLI_RESULT },
	{ 0, "lower", CLI_LIST, offsetof(struct options, lower), "NAME=VALUE", NULL,
	  "lower bound of a parameter", NULL, 0, 0, CLI_RESULT },
	{ 0, "upper", CLI_LIST, offsetof(struct options, upper), "NAME=VALUE", NULL,
	  "upper bound of a parameter", NULL, 0, 0, CLI_RESULT },
	{ 0, "max-iter", CLI_INT, offsetof(struct options, max_iter), "N", "20000",
	  "solver iterations of one model, over all starts", NULL, 1, 1e12, CLI_RESULT },
	{ 0, "residuals", CLI_FLAG, offsetof(struct options, residuals), NULL, NULL,
	  "write the observations with their predictions instead", NULL, 0, 0, CLI_RESULT },
	{ 0, "predict", CLI_TEXT, offsetof(struct options, predict), "THETA", NULL,
	  "predict the configurations in FILE with the models in THETA", NULL, 0, 0, CLI_INPUT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

#define MAX_BY 16
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- groups: the rows that one model is fitted to ---- */

struct group {
	char **key;		/* a text for each --by column, NULL: missing */
	struct fit_throughput_obs *obs;
	size_t n, cap;
};

struct data {
	const char *by[MAX_BY];
	size_t n_by;
	char *by_text;		/* by[] points into it */
	struct group *groups;
	size_t n, cap;
	struct fit_index index;
	struct fit_meta inputs;
	char *name;		/* of the first input, for messages */
	uint64_t bad;
};

/* ---- configurations and observations ---- */

struct columns {
	int nodes, replicas, placement, bsz, step, sync, weight, accum;
	int by[MAX_BY];
};

static int find_columns(const struct fit_input *in, const struct data *d, bool measured,
			bool need_sync, struct columns *c, struct fit_err *err)
{
	const char *missing = NULL;

	*c = (struct columns){
		.nodes = fit_input_find(in, "num_nodes", NULL),
		.replicas = fit_input_find(in, "num_replicas", NULL),
		.placement = fit_input_find(in, "placement", NULL),
		.bsz = fit_input_find(in, "local_bsz", NULL),
		.step = fit_input_find(in, "step_time_s", "step_time"),
		.sync = fit_input_find(in, "sync_time_s", "sync_time"),
		.weight = fit_input_find(in, "weight", NULL),
		.accum = fit_input_find(in, "accum_steps", NULL)
	};
	for (size_t i = 0; i < d->n_by; i++) {
		c->by[i] = fit_input_find(in, d->by[i], NULL);
		if (c->by[i] < 0 && strcmp(d->by[i], "app") != 0)
			missing = d->by[i];
	}
	if (need_sync && c->sync < 0)
		missing = "sync_time_s";
	if (measured && c->step < 0)
		missing = "step_time_s";
	if (c->bsz < 0)
		missing = "local_bsz";
	if (c->placement < 0 && c->replicas < 0)
		missing = "num_replicas";
	if (c->placement < 0 && c->nodes < 0)
		missing = "num_nodes";
	if (missing)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", fit_input_name(in),
				missing);
	return FIT_OK;
}

/* Nodes and replicas, from their columns or from Pollux's placement numbers. */
static int get_shape(const struct fit_input *in, const struct columns *c,
		     struct fit_throughput_obs *o, struct fit_err *err)
{
	double nodes = 0, replicas = 0;
	int rc;

	if (c->nodes < 0 || c->replicas < 0) {
		rc = fit_input_need(in, c->placement, true, &nodes, err);
		if (rc)
			return rc;
		if (fit_placement_canonical((int64_t)nodes) < 0)
			return fit_input_fail(in, c->placement, err,
					      "bad placement '%.0f' (expected a "
					      "digit from 1 to 9 for each of at most %d nodes)",
					      nodes, FIT_DIGITS_NODES_MAX);
		fit_placement_shape((int64_t)nodes, &o->num_nodes, &o->num_replicas);
		return FIT_OK;
	}
	rc = fit_input_need(in, c->nodes, true, &nodes, err);
	if (!rc)
		rc = fit_input_need(in, c->replicas, true, &replicas, err);
	o->num_nodes = (int64_t)nodes;
	o->num_replicas = (int64_t)replicas;
	return rc;
}

static int get_observation(const struct fit_input *in, const struct columns *c, bool measured,
			   bool need_sync, struct fit_throughput_obs *o, struct fit_err *err)
{
	double bsz = 0;
	struct fit_err why;
	const char *field;
	bool na = true;
	int rc, at;

	*o = (struct fit_throughput_obs){ .step_s = 1, .sync_s = (double)NAN, .weight = 1 };
	rc = get_shape(in, c, o, err);
	if (!rc)
		rc = fit_input_need(in, c->bsz, true, &bsz, err);
	if (!rc && measured)
		rc = fit_input_need(in, c->step, false, &o->step_s, err);
	if (!rc && need_sync)
		rc = fit_input_need(in, c->sync, false, &o->sync_s, err);
	else if (!rc && measured)
		rc = fit_input_number(in, c->sync, false, &o->sync_s, &na, err);
	if (!rc)
		rc = fit_input_number(in, c->weight, false, &o->weight, &na, err);
	if (rc)
		return rc;
	o->local_bsz = (int64_t)bsz;
	if (!fit_throughput_obs_check(o, need_sync, &field, &why))
		return FIT_OK;
	at = strcmp(field, "step_s") == 0 ? c->step : strcmp(field, "sync_s") == 0 ? c->sync :
	     fit_input_find(in, field, NULL);
	return fit_input_fail(in, at, err, "%s", why.msg);
}

static void data_release(struct data *d)
{
	for (size_t g = 0; g < d->n; g++) {
		for (size_t i = 0; i < d->n_by; i++)
			free(d->groups[g].key[i]);
		free(d->groups[g].key);
		free(d->groups[g].obs);
	}
	free(d->groups);
	free(d->by_text);
	free(d->name);
	fit_index_release(&d->index);
	fit_meta_release(&d->inputs);
}

/* The group of the current row, made when it is new. */
static int find_group(struct data *d, const struct fit_input *in, const struct columns *c,
		      uint32_t *g)
{
	struct fit_str key = { 0 };
	struct group new = { 0 };
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (size_t i = 0; i < d->n_by && !rc; i++) {
		struct fit_text t = fit_input_text(in, c->by[i], buf);

		rc = fit_str_printf(&key, "%d:%zu:", t.s != NULL, t.n);
		if (!rc)
			rc = fit_str_add(&key, t.n ? t.s : "", t.n);
	}
	if (!rc)
		rc = fit_index_put(&d->index, (struct fit_text){ key.s, key.n }, (uint32_t)d->n, g);
	fit_str_release(&key);
	if (rc || *g != FIT_NO_INDEX)
		return rc;
	*g = (uint32_t)d->n;
	new.key = calloc(d->n_by, sizeof *new.key);
	if (!new.key || fit_grow(&d->groups, &d->cap, d->n + 1, sizeof *d->groups)) {
		free(new.key);
		return FIT_ENOMEM;
	}
	d->groups[d->n++] = new;
	for (size_t i = 0; i < d->n_by; i++) {
		struct fit_text t = fit_input_text(in, c->by[i], buf);

		if (t.s && !(new.key[i] = fit_strdup(t)))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static bool app_wanted(const struct options *o, const struct fit_input *in, int column)
{
	char buf[FIT_NUM_MAX];

	for (size_t i = 0; i < o->app.n; i++)
		if (fit_text_is(fit_input_text(in, column, buf), o->app.items[i]))
			return true;
	return o->app.n == 0;
}

/* A bad record: all are named, and none is accepted, unless --skip-bad says how many may be. */
static int bad_record(struct cli *cli, const struct options *o, struct data *d,
		      const struct fit_input *in, struct fit_err *err)
{
	d->bad++;
	if (o->skip_bad == 0)
		cli_error(cli, err);
	else
		cli_note(cli, "left out: %s", err->msg);
	if (o->skip_bad > 0 && d->bad > (uint64_t)o->skip_bad)
		return fit_fail(err, FIT_EDATA, "%s: more than %lld bad records (--skip-bad)",
				fit_input_name(in), (long long)o->skip_bad);
	return FIT_OK;
}

static int read_observations(struct cli *cli, const struct options *o, const char *operand,
			     const char *role, struct data *d, struct fit_err *err)
{
	struct fit_input *in = NULL;
	struct columns c;
	struct fit_throughput_obs obs;
	bool need_sync = o->objective == FIT_RMSLE_ADAPTDL;
	uint64_t bad_before = d->bad;
	char hash[FIT_HASH_HEX];
	uint32_t g = 0;
	int app = -1, rc = fit_input_open(&in, operand, o->csv && !o->profile, err);

	if (!rc && !d->name && !(d->name = fit_strdup(fit_text_of(fit_input_name(in)))))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = find_columns(in, d, true, need_sync, &c, err);
	if (!rc && o->app.n > 0 && (app = fit_input_find(in, "app", NULL)) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'app' (for --app)",
			      fit_input_name(in));
	while (!rc) {
		rc = fit_input_row(in, err);
		if (rc == FIT_OK && !app_wanted(o, in, app))
			continue;
		if (rc == FIT_OK)
			rc = get_observation(in, &c, true, need_sync, &obs, err);
		if (rc == FIT_EDATA) {
			rc = bad_record(cli, o, d, in, err);
			continue;
		}
		if (rc)
			break;
		if (find_group(d, in, &c, &g) ||
		    fit_grow(&d->groups[g].obs, &d->groups[g].cap, d->groups[g].n + 1, sizeof obs))
			rc = fit_fail_nomem(err);
		else
			d->groups[g].obs[d->groups[g].n++] = obs;
	}
	if (rc == FIT_END) {
		rc = FIT_OK;
		fit_input_hash(in, hash);
		if (role && cli_meta_input(&d->inputs, role[0] ? role : NULL, hash))
			rc = fit_fail_nomem(err);
		if (o->skip_bad > 0 && d->bad > bad_before)
			cli_warn(cli, "%s: %llu bad %s left out", fit_input_name(in),
				 (unsigned long long)(d->bad - bad_before),
				 fit_plural(d->bad - bad_before, "record", "records"));
	}
	fit_input_close(in);
	return rc;
}

/* Both tables of a store; the second may be missing. */
static int read_profile(struct cli *cli, const struct options *o, struct data *d,
			struct fit_err *err)
{
	struct fit_str operand = { 0 };
	int rc = fit_str_printf(&operand, "%s:/placements", o->profile);

	if (!rc)
		rc = read_observations(cli, o, operand.s, "profile", d, err);
	else
		fit_fail_nomem(err);
	if (!rc) {
		fit_str_clear(&operand);
		rc = fit_str_printf(&operand, "%s:/scalability", o->profile);
		if (rc)
			fit_fail_nomem(err);
		else
			rc = read_observations(cli, o, operand.s, NULL, d, err);
		if (rc == FIT_ENOTFOUND)
			rc = FIT_OK;
	}
	fit_str_release(&operand);
	return rc;
}

/* ---- output ---- */

static void put_key(struct fit_writer *w, const struct data *d, const struct group *g)
{
	for (size_t i = 0; i < d->n_by; i++)
		fit_writer_str(w, g->key[i]);
}

static void put_real(struct fit_writer *w, double v)
{
	if (isnan(v))
		fit_writer_na(w);
	else
		fit_writer_real(w, v);
}

static int put_residuals(struct fit_writer *w, const struct data *d, const struct group *g,
			 const struct fit_throughput_result *r, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n && !rc; i++) {
		const struct fit_throughput_obs *o = &g->obs[i];
		double step = fit_theta_step_time(&r->theta, o->num_nodes, o->num_replicas,
						  (double)o->local_bsz);

		put_key(w, d, g);
		fit_writer_int(w, o->num_nodes);
		fit_writer_int(w, o->num_replicas);
		fit_writer_int(w, o->local_bsz);
		fit_writer_real(w, o->weight);
		fit_writer_real(w, o->step_s);
		fit_writer_real(w, step);
		put_real(w, o->step_s - o->sync_s);
		fit_writer_real(w, fit_theta_accum_time(&r->theta, (double)o->local_bsz));
		fit_writer_real(w, log(step / o->step_s));
		fit_writer_real(w, 100 * (step - o->step_s) / o->step_s);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

static int begin_output(const struct cli *cli, struct fit_writer *w, const struct data *d,
			const struct fit_field *tail, size_t n_tail, struct fit_err *err)
{
	struct fit_field fields[64];
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	for (size_t i = 0; i < d->inputs.n && !rc; i++)
		rc = fit_meta_add(&meta, d->inputs.pairs[i].key, d->inputs.pairs[i].value);
	for (size_t i = 0; i < d->n_by; i++)
		fields[i] = (struct fit_field){ d->by[i], FIT_TEXT, 0 };
	memcpy(fields + d->n_by, tail, n_tail * sizeof *tail);
	if (rc)
		fit_fail_nomem(err);
	else
		rc = fit_writer_begin(w, NULL, &meta, fields, d->n_by + n_tail, err);
	fit_meta_release(&meta);
	return rc;
}

static const struct fit_field residual_fields[] = {
	{ "num_nodes", FIT_INT, 0 }, { "num_replicas", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
	{ "weight", FIT_REAL, 0 }, { "step_time_s", FIT_REAL, 0 },
	{ "predicted_step_s", FIT_REAL, 0 }, { "compute_time_s", FIT_REAL, 0 },
	{ "predicted_compute_s", FIT_REAL, 0 }, { "log_residual", FIT_REAL, 0 },
	{ "error_pct", FIT_REAL, 0 }
};

static const struct fit_field predict_fields[] = {
	{ "num_nodes", FIT_INT, 0 }, { "num_replicas", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
	{ "accum_steps", FIT_INT, 0 }, { "accum_time_s", FIT_REAL, 0 },
	{ "network_time_s", FIT_REAL, 0 }, { "step_time_s", FIT_REAL, 0 },
	{ "iteration_time_s", FIT_REAL, 0 }, { "throughput_per_s", FIT_REAL, 0 }
};

/* ---- fitting ---- */

/* NAME=VALUE; the name may go without its _s. */
static int set_values(struct cli *cli, const char *option, const struct cli_list *list, double *v)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i], *eq = strchr(text, '=');
		size_t n = eq ? (size_t)(eq - text) : strlen(text);
		int j = 0;

		for (; j < FIT_THETA_N; j++) {
			size_t len = strlen(fit_theta_names[j]);

			if ((n == len || (n + 2 == len && j != FIT_GAMMA)) &&
			    strncmp(text, fit_theta_names[j], n) == 0)
				break;
		}
		if (!eq || j == FIT_THETA_N || fit_parse_double_any(fit_text_of(eq + 1), &v[j]) ||
		    isnan(v[j]))
			return cli_usage(
				cli,
				"bad value '%s' for --%s (expected NAME=VALUE, the name one of "
				"alpha_c_s, beta_c_s, alpha_n_s, beta_n_s, alpha_r_s, beta_r_s, "
				"gamma)",
				text, option);
	}
	return 0;
}

/* 0, or an exit status. */
static int make_params(struct cli *cli, const struct options *o, struct fit_throughput_params *p)
{
	struct fit_err err;
	int rc;

	fit_throughput_params_default(p);
	p->objective = o->objective == 0 ? FIT_RMSLE_STEP : FIT_RMSLE_ADAPTDL;
	p->starts = (int)o->starts;
	p->max_iter = o->max_iter;
	rc = set_values(cli, "start", &o->start, p->start);
	if (!rc)
		rc = set_values(cli, "lower", &o->lower, p->lower);
	if (!rc)
		rc = set_values(cli, "upper", &o->upper, p->upper);
	if (!rc && fit_throughput_params_check(p, &err))
		rc = cli_usage(cli, "%s", err.msg);
	return rc;
}

static void say_unobserved(const struct cli *cli, const char *who, unsigned pinned)
{
	static const struct {
		unsigned set;
		const char *what;
	} reasons[] = { { 1u << FIT_ALPHA_C, "a second batch size" },
			{ 1u << FIT_ALPHA_N, "several nodes" },
			{ 1u << FIT_ALPHA_R, "several GPUs on one node" },
			{ 1u << FIT_BETA_N | 1u << FIT_BETA_R, "more than two GPUs" } };
	char names[FIT_THETA_SET_MAX], list[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < COUNT(reasons); i++)
		if ((pinned & reasons[i].set) == reasons[i].set)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
					      reasons[i].what);
	fit_theta_set_text(pinned, names);
	if (pinned)
		cli_warn(cli, "%s: %s held fixed, not observed: %s", who, names, list);
}

static const char *group_name(const struct data *d, const struct group *g, char *buf, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_by && n < cap; i++)
		n += (size_t)snprintf(buf + n, cap - n, "%s%s", i ? ", " : "",
				      g->key[i] ? g->key[i] : "the model");
	return buf;
}

#define POOR_PCT 20.0	/* a mean error that no model of one application should have */

/* A model that does not fit: the usual reason is several applications in one group. */
static void say_poor(const struct cli *cli, const struct options *o, const struct data *d, size_t group,
		     const char *who, const struct fit_throughput_result *r)
{
	bool nameless = o->by.n == 0 && !d->groups[group].key[0];

	if (r->mape_pct > POOR_PCT)
		cli_warn(cli, "%s: mean error %.3g %% (expected at most %g %%%s)", who, r->mape_pct, POOR_PCT,
			 nameless ? "; several applications need a column app" : "");
}

static int fit_all(struct cli *cli, const struct options *o, const struct fit_throughput_params *p,
		   const struct data *d, struct fit_writer *w, struct fit_err *err)
{
	struct fit_throughput *fit = NULL;
	struct fit_throughput_result r;
	char who[256];
	int rc = fit_throughput_new(&fit, err);

	if (!rc)
		rc = o->residuals ?
		     begin_output(cli, w, d, residual_fields, COUNT(residual_fields), err) :
		     begin_output(cli, w, d, fit_theta_columns, fit_theta_n_columns, err);
	for (size_t i = 0; i < d->n && !rc; i++) {
		const struct group *g = &d->groups[i];

		group_name(d, g, who, sizeof who);
		rc = fit_throughput_fit(fit, g->obs, g->n, p, &r, err);
		if (rc == FIT_ENOCONV) {
			fit_fail_prefix(err, rc, "%s", who);
			cli_error(cli, err);
			rc = FIT_OK;
		}
		if (rc)
			break;
		say_unobserved(cli, who, r.pinned);
		say_poor(cli, o, d, i, who, &r);
		cli_note(cli, "%s: %s, objective %.6g, mean error %.3g %%, %zu observations, %zu "
			 "iterations", who, fit_throughput_status_name(r.status), r.objective,
			 r.mape_pct, r.n_obs, r.n_iter);
		if (o->residuals) {
			rc = put_residuals(w, d, g, &r, err);
		} else {
			put_key(w, d, g);
			fit_theta_put(w, &r);
			rc = fit_writer_end_row(w, err);
		}
	}
	fit_throughput_free(fit);
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- prediction ---- */

static int predict_row(const struct fit_input *in, const struct columns *c,
		       const struct fit_theta_list *models, struct fit_writer *w,
		       struct fit_err *err)
{
	struct fit_throughput_obs o;
	const struct fit_theta *t;
	struct fit_text app;
	char buf[FIT_NUM_MAX];
	double accum = 0, bsz;
	bool na;
	int rc = get_observation(in, c, false, false, &o, err);

	if (!rc)
		rc = fit_input_number(in, c->accum, true, &accum, &na, err);
	if (!rc && accum < 0)
		rc = fit_input_fail(in, c->accum, err,
				    "bad number of passes '%g' (expected 0 or more)", accum);
	if (rc)
		return rc;
	app = fit_input_text(in, c->by[0], buf);
	t = fit_theta_list_find(models, app);
	if (!t && !app.s && models->n == 1)
		t = &models->entries[0].theta;
	if (!t)
		return fit_input_fail(in, c->by[0], err, "no model of application '%.*s'",
				      FIT_TEXT_ARG(app));
	bsz = (double)o.local_bsz;
	if (app.s)
		fit_writer_text(w, app);
	else
		fit_writer_na(w);
	fit_writer_int(w, o.num_nodes);
	fit_writer_int(w, o.num_replicas);
	fit_writer_int(w, o.local_bsz);
	fit_writer_int(w, (int64_t)accum);
	fit_writer_real(w, fit_theta_accum_time(t, bsz));
	/* the model puts a little there for one GPU, too, that its logarithm may be taken */
	fit_writer_real(w, o.num_replicas == 1 ? 0 : fit_theta_network_time(t, o.num_nodes, o.num_replicas));
	fit_writer_real(w, fit_theta_step_time(t, o.num_nodes, o.num_replicas, bsz));
	fit_writer_real(
		w, fit_theta_iteration_time(t, o.num_nodes, o.num_replicas, bsz, (int64_t)accum));
	fit_writer_real(w,
			fit_theta_throughput(t, o.num_nodes, o.num_replicas, bsz, (int64_t)accum));
	return fit_writer_end_row(w, err);
}

static int predict_all(struct cli *cli, const struct options *o, struct data *d,
		       struct fit_writer *w, struct fit_err *err)
{
	struct fit_theta_list models = { 0 };
	struct fit_input *in = NULL;
	struct columns c;
	int rc = fit_theta_list_read(&models, o->predict, err);

	if (!rc && cli_meta_input(&d->inputs, "models", models.hash))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);
	if (!rc)
		rc = find_columns(in, d, false, false, &c, err);
	if (!rc)
		rc = begin_output(cli, w, d, predict_fields, COUNT(predict_fields), err);
	while (!rc) {
		rc = fit_input_row(in, err);
		if (!rc)
			rc = predict_row(in, &c, &models, w, err);
		if (rc == FIT_EDATA)
			rc = bad_record(cli, o, d, in, err);
	}
	if (rc == FIT_END)
		rc = fit_writer_end(w, err);
	if (!rc && o->skip_bad > 0 && d->bad > 0)
		cli_warn(cli, "%s: %llu bad %s left out", fit_input_name(in), (unsigned long long)d->bad,
			 fit_plural(d->bad, "record", "records"));
	fit_input_close(in);
	fit_theta_list_release(&models);
	return rc;
}

/* ---- the run ---- */

/* --by a,b --by c, or the column app. */
static int split_by(struct cli *cli, const struct options *o, struct data *d)
{
	struct fit_str all = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < o->by.n && !rc; i++)
		rc = fit_str_printf(&all, "%s%s", i ? "," : "", o->by.items[i]);
	if (!rc && o->by.n == 0)
		rc = fit_str_puts(&all, "app");
	if (rc) {
		struct fit_err err;

		fit_str_release(&all);
		fit_fail_nomem(&err);
		return cli_error(cli, &err);
	}
	d->by_text = all.s;
	for (char *p = all.s; p;) {
		char *comma = strchr(p, ',');

		if (comma)
			*comma++ = '\0';
		if (!*p || d->n_by == COUNT(d->by))
			return cli_usage(cli,
					 "bad list of columns for --by (expected 1 to %zu names)",
					 COUNT(d->by));
		for (size_t i = 0; i < d->n_by; i++)
			if (strcmp(d->by[i], p) == 0)
				return cli_usage(cli, "column '%s' given twice for --by", p);
		d->by[d->n_by++] = p;
		p = comma;
	}
	return 0;
}

static int check_usage(struct cli *cli, const struct options *o)
{
	if (o->predict && (o->profile || o->residuals || o->by.n || o->app.n))
		return cli_usage(
			cli, "--predict goes with neither --profile, --residuals, --by nor --app");
	if (o->profile && cli->n_operands > 0)
		return cli_usage(cli, "both --profile and '%s' given (expected one input)",
				 cli->operands[0]);
	return 0;
}

static int run(struct cli *cli, const struct options *o)
{
	struct fit_throughput_params p;
	struct fit_writer *w = NULL;
	struct data d = { 0 };
	struct fit_err err;
	int status = check_usage(cli, o), rc = FIT_OK;

	if (!status)
		status = make_params(cli, o, &p);
	if (!status)
		status = split_by(cli, o, &d);
	if (status)
		goto out;
	if (o->profile)
		rc = read_profile(cli, o, &d, &err);
	else if (!o->predict)
		rc = read_observations(cli, o, cli_operand(cli, 0), "", &d, &err);
	if (!rc && d.bad > 0 && o->skip_bad == 0)
		goto out;	/* each was reported, cli->status is set */
	if (!rc && !o->predict && d.n == 0)
		rc = fit_fail(&err, FIT_EDATA, "%s: no observations%s", d.name ? d.name : "input",
			      o->app.n ? " of that application" : "");
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	if (!rc)
		rc = o->predict ? predict_all(cli, o, &d, w, &err)
				: fit_all(cli, o, &p, &d, w, &err);
	if (!rc && o->predict && d.bad > 0 && o->skip_bad == 0)
		goto out;
	if (!rc) {
		rc = fit_writer_close(w, &err);
		w = NULL;
	}
	if (rc)
		status = cli_error(cli, &err);
out:
	fit_writer_abort(w);
	data_release(&d);
	return status > cli->status ? status : cli->status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "fit the throughput model", option_table, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-throughput",
	"Fit the throughput model theta_sys to measured step times, or predict with it.",
	"FILE has the columns num_nodes, num_replicas, local_bsz, step_time_s, sync_time_s and,\n"
	"where there are several applications, app.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .objective = 1, .starts = 6, .max_iter = 20000 };
	struct cli cli;
	int rc = cli_start(&cli, &tool, argc, argv, &o);

	if (rc >= 0)
		return rc;
	rc = cli_finish(&cli, run(&cli, &o));
	free(o.by.items);
	free(o.app.items);
	free(o.start.items);
	free(o.lower.items);
	free(o.upper.items);
	return rc;
}
