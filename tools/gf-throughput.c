/* SPDX-License-Identifier: MIT */
/*
 * gf-throughput: measured step times become the throughput model theta_sys, one row an application;
 * with --predict, a model and a table of configurations become predicted step times. Reads tables,
 * delimited text, or the measurements of a profile store.
 */
#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/theta.h"
#include "tools/throughput_parts.h"

static const char *const objectives[] = { "paper", "adaptdl", NULL };

static const char *const models[] = { "theta", "rubick", NULL };

static const struct cli_option option_table[] = {
	{ 0, "model", CLI_CHOICE, offsetof(struct throughput_options, model), "NAME", "theta",
	  "which model", models, 0, 0, CLI_RESULT },
	{ 0, "links", CLI_TEXT, offsetof(struct throughput_options, links), "FILE", NULL,
	  "bandwidths of the machines of applications, for --model rubick", NULL, 0, 0, CLI_INPUT },
	{ 0, "objective", CLI_CHOICE, offsetof(struct throughput_options, objective), "NAME", "adaptdl",
	  "what is minimised", objectives, 0, 0, CLI_RESULT },
	{ 0, "by", CLI_LIST, offsetof(struct throughput_options, by), "COLUMN,...", "app",
	  "one model for each combination of these columns", NULL, 0, 0, CLI_RESULT },
	{ 0, "app", CLI_LIST, offsetof(struct throughput_options, app), "NAME", NULL,
	  "this application only; may be repeated", NULL, 0, 0, CLI_RESULT },
	{ 0, "profile", CLI_TEXT, offsetof(struct throughput_options, profile), "STORE", NULL,
	  "fit the measurements of a profile store instead of FILE", NULL, 0, 0, CLI_INPUT | CLI_INSTEAD },
	{ 0, "csv", CLI_FLAG, offsetof(struct throughput_options, csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, "skip-bad", CLI_INT, offsetof(struct throughput_options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, "starts", CLI_INT, offsetof(struct throughput_options, starts), "N", "6",
	  "starting points", NULL, 1, 64, CLI_RESULT },
	{ 0, "start", CLI_LIST, offsetof(struct throughput_options, start), "NAME=VALUE", NULL,
	  "first starting point; others are estimated from the data", NULL, 0, 0, CLI_RESULT },
	{ 0, "lower", CLI_LIST, offsetof(struct throughput_options, lower), "NAME=VALUE", NULL,
	  "lower bound of a parameter", NULL, 0, 0, CLI_RESULT },
	{ 0, "upper", CLI_LIST, offsetof(struct throughput_options, upper), "NAME=VALUE", NULL,
	  "upper bound of a parameter", NULL, 0, 0, CLI_RESULT },
	{ 0, "max-iter", CLI_INT, offsetof(struct throughput_options, max_iter), "N", "20000",
	  "solver iterations of one model, over all starts", NULL, 1, 1e12, CLI_RESULT },
	{ 0, "residuals", CLI_FLAG, offsetof(struct throughput_options, residuals), NULL, NULL,
	  "write the observations with their predictions instead", NULL, 0, 0, CLI_RESULT },
	{ 0, "predict", CLI_TEXT, offsetof(struct throughput_options, predict), "THETA", NULL,
	  "predict the configurations in FILE with the models in THETA", NULL, 0, 0, CLI_INPUT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

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
static int make_params(struct cli *cli, const struct throughput_options *o, struct fit_throughput_params *p)
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

/* ---- the run ---- */

/* --by a,b --by c, or the column app. */
static int split_by(struct cli *cli, const struct throughput_options *o, struct throughput_data *d)
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

static int check_usage(struct cli *cli, const struct throughput_options *o)
{
	if (o->predict && (o->profile || o->residuals || o->by.n || o->app.n))
		return cli_usage(
			cli, "--predict goes with neither --profile, --residuals, --by nor --app");
	if (o->profile && cli->n_operands > 0)
		return cli_usage(cli, "both --profile and '%s' given (expected one input)",
				 cli->operands[0]);
	return 0;
}

static int run(struct cli *cli, void *given)
{
	const struct throughput_options *o = given;
	struct fit_throughput_params p;
	struct fit_writer *w = NULL;
	struct throughput_data d = { 0 };
	struct fit_err err;
	int status, rc = FIT_OK;

	if (o->model == 1)
		return throughput_rubick(cli, o);
	status = o->links ? cli_usage(cli, "--links goes with --model rubick") : check_usage(cli, o);

	if (!status)
		status = make_params(cli, o, &p);
	if (!status)
		status = split_by(cli, o, &d);
	if (status)
		goto out;
	if (o->profile)
		rc = throughput_read_profile(cli, o, &d, &err);
	else if (!o->predict)
		rc = throughput_read(cli, o, cli_operand(cli, 0), "", &d, &err);
	if (!rc && d.bad > 0 && o->skip_bad == 0)
		goto out;	/* each was reported, cli->status is set */
	if (!rc && !o->predict && d.n == 0)
		rc = fit_fail(&err, FIT_EDATA, "%s: no observations%s", d.name ? d.name : "input",
			      o->app.n ? " of that application" : "");
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	if (!rc)
		rc = o->predict ? throughput_predict_all(cli, o, &d, w, &err)
				: throughput_fit_all(cli, o, &p, &d, w, &err);
	rc = cli_writer_close(w, rc, &err);
	if (rc)
		status = cli_error(cli, &err);
out:
	throughput_release(&d);
	return status > cli->status ? status : cli->status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "fit the throughput model", option_table, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-throughput",
	"Fit the throughput model theta_sys to measured step times, or predict with it.",
	"FILE has the columns num_nodes, num_replicas, local_bsz, step_time_s, sync_time_s and,\n"
	"where there are several applications, app; with --model rubick those that\n"
	"gf-prof --from rubick-model writes.", verbs
};

int main(int argc, char **argv)
{
	struct throughput_options o = { .objective = 1, .starts = 6, .max_iter = 20000 };

	return cli_main(&tool, argc, argv, &o);
}
