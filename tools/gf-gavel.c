/* SPDX-License-Identifier: MIT */
/*
 * gf-gavel: who gets which share of the time on GPUs of several types, by the objectives of Gavel
 * (docs/methods/gavel.md): the shares of one objective, or what each objective comes to. Rates and steps can
 * come out of application profiles (gavel_rates.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/shares.h"
#include "libfit/model/step_rates.h"
#include "libfit/replay/cluster.h"
#include "tools/common/cli.h"
#include "tools/gavel_parts.h"

struct options {
	struct gavel_profiles from;	/* rates, steps */
	const char *rates, *cluster, *objective;
	struct cli_list prices;
	bool limits, split;
};

#define AT(field) offsetof(struct options, field)

#define INPUTS \
	{ 'r', "rates", CLI_TEXT, AT(rates), "FILE", NULL, \
	  "measured steps a second; made by gf-prof --from gavel", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT }, \
	{ 'c', "cluster", CLI_TEXT, AT(cluster), "SPEC", NULL, \
	  "GPU types, nodes x GPUs, such as v100:2x8,k80:4x4", NULL, 0, 0, CLI_REQUIRED | CLI_RESULT }, \
	{ 0, "gpu-price", CLI_LIST, AT(prices), "TYPE=X", "1", \
	  "max-throughput: price of a GPU-hour", NULL, 0, 0, CLI_RESULT }, \
	{ 0, "limits", CLI_FLAG, AT(limits), NULL, NULL, \
	  "max-throughput: all are done within slo x their time alone on their fastest type", NULL, 0, 0, \
	  CLI_RESULT }, \
	{ 0, "split", CLI_FLAG, AT(split), NULL, NULL, \
	  "types count for jobs that need more GPUs than there are of them, too", NULL, 0, 0, CLI_RESULT }, \
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

static const struct cli_option allocate_options[] = {
	{ 'p', "objective", CLI_TEXT, AT(objective), "NAME", "max-min-fairness", "what is best; see below", NULL, 0,
	  0, CLI_RESULT },
	INPUTS
};
static const struct cli_option objectives_options[] = { INPUTS };

#define PROFILES \
	{ 0, "profile", CLI_LIST, AT(from.profiles), "[TYPE=]STORE", NULL, \
	  "application profiles of that GPU type, or of all", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT }

static const struct cli_option rates_options[] = {
	PROFILES,
	{ 'c', "cluster", CLI_TEXT, AT(from.cluster), "SPEC", NULL,
	  "GPU types, nodes x GPUs, such as v100:2x8,k80:4x4", NULL, 0, 0, CLI_REQUIRED | CLI_RESULT },
	{ 0, "fidelity", CLI_TEXT, AT(from.fidelity), "NAME", "none",
	  "jobs are as much slower than measured as in that simulator", NULL, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};
static const struct cli_option steps_options[] = {
	PROFILES,
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- the problem ---- */

enum { ID, APP, BATCH, GPUS, WORK, PRIORITY, SLO, ELAPSED, ISOLATED, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[GPUS] = { "gpus", FIT_REAL, FIT_F_NOT_NA },
	[WORK] = { "work", FIT_REAL, FIT_F_NOT_NA },
	[PRIORITY] = { "priority", FIT_REAL, FIT_F_OPTIONAL },
	[SLO] = { "slo", FIT_REAL, FIT_F_OPTIONAL },
	[ELAPSED] = { "elapsed_s", FIT_REAL, FIT_F_OPTIONAL },
	[ISOLATED] = { "isolated_s", FIT_REAL, FIT_F_OPTIONAL },
};

/* All that is read, and the problem that comes of it. */
struct data {
	struct fit_table jobs;
	struct fit_step_rates rates;
	struct fit_cluster cluster;
	struct fit_share_problem p;
	struct fit_share_job *list;
	double *rate, *gpus, *prices, *x;
};

static double cell(const struct data *d, int column, size_t row, double missing)
{
	double v = d->jobs.columns[column].d[row];

	return fit_real_is_na(v) ? missing : v;
}

static int check_job(const struct data *d, size_t i, struct fit_err *err)
{
	static const struct { int column; double least; bool above; } rules[] = {
		{ GPUS, 1, false }, { WORK, 0, true }, { PRIORITY, 0, true }, { SLO, 0, true },
		{ ELAPSED, 0, false }, { ISOLATED, 0, false },
	};

	for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
		double v = cell(d, rules[k].column, i, rules[k].least + 1);

		if (!(v >= rules[k].least && v < 1e300) || (rules[k].above && v <= rules[k].least))
			return fit_table_fail(&d->jobs, i, FIT_EDATA, columns[rules[k].column].name, err,
					      "out of range '%.17g' (expected %s %g)", v,
					      rules[k].above ? "more than" : "at least", rules[k].least);
	}
	if (d->list[i].gpus != rint(d->list[i].gpus))
		return fit_table_fail(&d->jobs, i, FIT_EDATA, "gpus", err, "%g GPUs (expected a whole number)",
				      d->list[i].gpus);
	return FIT_OK;
}

/* Where the job runs, and how fast. */
static int set_rates(struct data *d, const struct options *o, size_t i, struct fit_err *err)
{
	const struct fit_step_work w = { fit_column_text(&d->jobs.columns[APP], i), d->jobs.columns[BATCH].i[i],
					 (int64_t)d->list[i].gpus };
	double best = 0;

	for (int32_t t = 0; t < d->cluster.n_types; t++) {
		const struct fit_gpu_type *type = &d->cluster.types[t];
		double rate = fit_step_rates_find(&d->rates, &w, fit_text_of(type->name),
						  w.gpus > type->max_node_gpus);

		if (!(rate > 0) || (!o->split && w.gpus > type->n_gpus))
			rate = 0;
		d->rate[i * d->p.n_types + (size_t)t] = rate;
		best = fmax(best, rate);
	}
	if (!(best > 0))
		return fit_table_fail(&d->jobs, i, FIT_EDATA, "app", err,
				      "'%.*s' on %lld GPUs runs on no type of the cluster (expected a rate above 0)",
				      FIT_TEXT_ARG(w.app), (long long)w.gpus);
	if (o->limits)
		d->list[i].limit_s = cell(d, SLO, i, 0) * d->list[i].steps / best;
	return FIT_OK;
}

static int set_prices(struct data *d, const struct options *o, struct fit_err *err)
{
	for (size_t t = 0; t < d->p.n_types; t++)
		d->prices[t] = 1;
	for (size_t i = 0; i < o->prices.n; i++) {
		const char *text = o->prices.items[i], *equals = strchr(text, '=');
		double price = 0;
		int32_t t = equals ? fit_cluster_find_type(&d->cluster, (struct fit_text){ text,
							   (size_t)(equals - text) }) : FIT_ANY_TYPE;

		if (t == FIT_ANY_TYPE || fit_parse_double(fit_text_of(equals + 1), &price) || !(price > 0))
			return fit_fail(err, FIT_EINVAL, "bad value '%s' for --gpu-price (expected TYPE=X, a type of the "
					"cluster and more than 0)", text);
		d->prices[t] = price;
	}
	d->p.prices = o->prices.n ? d->prices : NULL;
	return FIT_OK;
}

static int load(struct data *d, const struct cli *cli, const struct options *o, struct fit_err *err)
{
	size_t m, k;
	int rc = fit_cluster_init_typed(&d->cluster, o->cluster, err);

	if (!rc && !fit_cluster_typed(&d->cluster))
		rc = fit_fail(err, FIT_EINVAL, "bad value '%s' for --cluster (expected GPU types: TYPE:NODESxGPUS,…)",
			      o->cluster);
	rc = rc ? rc : fit_step_rates_read(&d->rates, o->rates, err);
	rc = rc ? rc : fit_table_read(&d->jobs, cli_operand(cli, 0), columns, N_COLUMNS, err);
	if (!rc && !d->jobs.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no jobs (expected some)", d->jobs.input);
	if (rc)
		return rc;
	m = d->jobs.n_rows;
	k = (size_t)d->cluster.n_types;
	d->list = calloc(m, sizeof *d->list);
	d->rate = calloc(m * k, sizeof *d->rate);
	d->x = calloc(m * k, sizeof *d->x);
	d->gpus = calloc(k, sizeof *d->gpus);
	d->prices = calloc(k, sizeof *d->prices);
	if (!d->list || !d->rate || !d->x || !d->gpus || !d->prices)
		return fit_fail_nomem(err);
	d->p = (struct fit_share_problem){ .n_jobs = m, .n_types = k, .jobs = d->list, .rates = d->rate,
					   .gpus = d->gpus };
	for (size_t t = 0; t < k; t++)
		d->gpus[t] = (double)d->cluster.types[t].n_gpus;
	rc = set_prices(d, o, err);
	for (size_t i = 0; i < m && !rc; i++) {
		d->list[i] = (struct fit_share_job){
			.gpus = d->jobs.columns[GPUS].d[i],
			.weight = cell(d, PRIORITY, i, 1),
			.steps = d->jobs.columns[WORK].d[i],
			.elapsed_s = cell(d, ELAPSED, i, 0),
			.isolated_s = cell(d, ISOLATED, i, cell(d, ELAPSED, i, 0)),
		};
		rc = check_job(d, i, err);
		rc = rc ? rc : set_rates(d, o, i, err);
	}
	return rc;
}

static void release(struct data *d)
{
	fit_table_release(&d->jobs);
	fit_step_rates_release(&d->rates);
	fit_cluster_release(&d->cluster);
	free(d->list);
	free(d->rate);
	free(d->x);
	free(d->gpus);
	free(d->prices);
}

/* ---- the tables ---- */

static int meta_real(struct fit_meta *meta, const char *key, double v)
{
	char text[FIT_NUM_MAX];

	fit_format_double(text, v);
	return fit_meta_add(meta, key, text);
}

static int begin(const struct cli *cli, const struct data *d, const struct fit_share_solution *s,
		 const struct fit_field *fields, size_t n, struct fit_writer **w, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, "jobs", d->jobs.hash);
	rc = rc ? rc : cli_meta_input(&meta, "rates", d->rates.hash);
	if (s) {
		rc = rc ? rc : meta_real(&meta, "value", s->objective);
		rc = rc ? rc : meta_real(&meta, "bound", s->bound);
	}
	return cli_table_begin(cli, w, NULL, &meta, rc, fields, n, err);
}

static void warn_limits(const struct cli *cli, const struct fit_share_solution *s)
{
	if (s->limits_ignored)
		cli_warn(cli, "no shares keep all limits: they are ignored");
}

static int allocate(struct data *d, const struct cli *cli, const struct fit_share_objective *o,
		    struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "gpu_type", FIT_TEXT, 0 }, { "share", FIT_REAL, 0 },
		{ "steps_per_s", FIT_REAL, 0 }
	};
	struct fit_share_solution s = { 0 };
	struct fit_writer *w = NULL;
	int rc = o->solve(&d->p, d->x, &s, err);

	if (rc)
		return rc;
	warn_limits(cli, &s);
	rc = begin(cli, d, &s, fields, sizeof fields / sizeof *fields, &w, err);
	for (size_t i = 0; i < d->p.n_jobs * d->p.n_types && !rc; i++) {
		size_t j = i / d->p.n_types, t = i % d->p.n_types;

		fit_writer_text(w, fit_column_text(&d->jobs.columns[ID], j));
		fit_writer_str(w, d->cluster.types[t].name);
		fit_writer_real(w, d->x[i]);
		fit_writer_real(w, d->rate[i]);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

static int objectives(struct data *d, const struct cli *cli, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "objective", FIT_TEXT, 0 }, { "value", FIT_REAL, 0 }, { "bound", FIT_REAL, 0 },
		{ "unit", FIT_TEXT, 0 }, { "programmes", FIT_INT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = begin(cli, d, NULL, fields, sizeof fields / sizeof *fields, &w, err);

	for (const struct fit_share_objective *o = fit_share_objectives; o->name && !rc; o++) {
		struct fit_share_solution s = { 0 };

		rc = o->solve(&d->p, d->x, &s, err);
		if (rc)
			break;
		warn_limits(cli, &s);
		fit_writer_str(w, o->name);
		fit_writer_real(w, s.objective);
		fit_writer_real(w, s.bound);
		fit_writer_str(w, o->unit);
		fit_writer_int(w, s.programmes);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	const struct fit_share_objective *objective = fit_share_objective_find(o->objective);
	struct data d = { .list = NULL };
	struct fit_err err;
	int rc;

	if (!objective)
		return cli_usage(cli, "unknown objective '%s' (expected one that --help lists)", o->objective);
	rc = load(&d, cli, o, &err);
	if (!rc)
		rc = strcmp(cli->verb->name, "allocate") == 0 ? allocate(&d, cli, objective, &err) :
		     objectives(&d, cli, &err);
	release(&d);
	return rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static int run_rates(struct cli *cli, void *given)
{
	return gavel_rates(cli, &((const struct options *)given)->from);
}

static int run_steps(struct cli *cli, void *given)
{
	return gavel_steps(cli, &((const struct options *)given)->from);
}

static const struct cli_verb verbs[] = {
	{ "allocate", "[JOBS]", "the shares of each job", allocate_options, 0, 1, .run = run },
	{ "objectives", "[JOBS]", "what each objective comes to", objectives_options, 0, 1, .run = run },
	{ "rates", "[JOBS]", "steps a second of what the jobs ask for, out of profiles", rates_options, 0, 1,
	  .run = run_rates },
	{ "steps", "[JOBS]", "the jobs, with the steps that they make, out of profiles", steps_options, 0, 1,
	  .run = run_steps },
	{ .name = NULL }
};

int main(int argc, char **argv)
{
	struct cli_tool tool = {
		.name = "gf-gavel", .verbs = verbs,
		.summary = "Shares of the time on GPUs of several types, by the objectives of Gavel.",
	};
	struct options o = { .objective = "max-min-fairness", .from.fidelity = "none" };
	struct fit_str details = { 0 };
	int rc = fit_str_puts(&details, "Objectives:");

	for (const struct fit_share_objective *x = fit_share_objectives; x->name && !rc; x++)
		rc = fit_str_printf(&details, "\n  %-26s %s", x->name, x->summary);
	if (rc)
		return CLI_EXIT_MACHINE;
	tool.details = details.s;
	rc = cli_main(&tool, argc, argv, &o);
	fit_str_release(&details);
	return rc;
}
