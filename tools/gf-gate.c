/* SPDX-License-Identifier: MIT */
/*
 * gf-gate: may this fitted model go to production? Checks that the model is physically plausible, that it
 * says what was measured, that it says so of rows that it did not see, that what it is asked is like what it
 * was fitted to, and that it is no worse than the model that is in production. One verdict at the end,
 * and the
 * exit status that goes with it.
 */
#include <string.h>

#include "libfit/base/outfile.h"
#include "libfit/verify/gate.h"
#include "tools/common/cli.h"
#include "tools/gate_replay.h"

struct options {
	struct fit_gate_inputs in;
	struct cli_list shape;
	const char *thresholds;
	int64_t folds, draws;
	int format;
	struct gate_replay_options replay;
};

#define AT(field) offsetof(struct options, field)
#define END_OF_OPTIONS { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define HUNDRED_YEARS_S 3.2e9

static const char *const formats[] = { "tsv", "json", NULL };

static const struct cli_option options[] = {
	{ 'd', "data", CLI_TEXT, AT(in.data), "FILE", NULL, "measurements that the model is held against",
	 NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "fresh", CLI_TEXT, AT(in.fresh), "FILE", NULL, "what the model is asked now", NULL, 0, 0,
	 CLI_INPUT },
	{ 'i', "incumbent", CLI_TEXT, AT(in.incumbent), "MODEL", NULL, "the model that is in production",
	 NULL, 0, 0,
	  CLI_INPUT },
	{ 't', "thresholds", CLI_TEXT, AT(thresholds), "FILE", "gf-gate thresholds", "what is allowed",
	 NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "target", CLI_TEXT, AT(in.target), "COLUMN", "what the model says",
	  "the column of --data that is predicted", NULL, 0, 0, CLI_RESULT },
	{ 0, "shape", CLI_LIST, AT(shape), "COLUMN=SHAPE", NULL,
	  "tree, ga2m: increasing, decreasing (ga2m: convex, concave)", NULL, 0, 0, CLI_RESULT },
	{ 'k', "folds", CLI_INT, AT(folds), "N", "5", "parts of the cross-validation", NULL, 2, 1000,
	 CLI_RESULT },
	{ 0, "bootstrap", CLI_INT, AT(draws), "N", "2000", "samples of each interval", NULL, 100, 1e6,
	 CLI_RESULT },
	{ 0, "level", CLI_REAL, AT(in.level), "SHARE", "0.95", "confidence of the intervals", NULL, 0.5,
	 0.9999,
	  CLI_RESULT },
	{ 0, "results", CLI_TEXT, AT(in.results), "FILE", NULL,
	  "jobs of a replay with the model (gf-metrics --per-job)", NULL, 0, 0, CLI_INPUT },
	{ 0, "incumbent-results", CLI_TEXT, AT(in.incumbent_results), "FILE", NULL,
	 "the same with the incumbent",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "replay", CLI_TEXT, AT(replay.jobs), "JOBS", NULL,
	 "replay these jobs with both models instead", NULL,
	  0, 0, CLI_INPUT },
	{ 'p', "policy", CLI_TEXT, AT(replay.policy), "NAME", "pollux",
	 "who believes the models: pollux, boa or rubick",
	  NULL, 0, 0, CLI_RESULT },
	{ 'c', "cluster", CLI_TEXT, AT(replay.in.cluster), "SPEC", NULL, "as of gf-replay", NULL, 0, 0,
	 CLI_INPUT },
	{ 0, "interval", CLI_TIME, AT(replay.interval_ns), "SECONDS", "the fidelity's", "as of gf-replay",
	 NULL, 0,
	  HUNDRED_YEARS_S, CLI_RESULT },
	{ 0, "fidelity", CLI_TEXT, AT(replay.fidelity), "NAME", "none", "as of gf-replay", NULL, 0, 0,
	 CLI_RESULT },
	{ 0, "profile", CLI_LIST, AT(replay.in.profiles), "[TYPE=]STORE", NULL, "pollux: what is true",
	 NULL, 0, 0, 0 },
	{ 0, "speedups", CLI_TEXT, AT(replay.in.speedups), "FILE", NULL, "boa: what is true", NULL, 0, 0,
	 CLI_INPUT },
	{ 0, "classes", CLI_TEXT, AT(replay.in.classes), "FILE", NULL, "boa: arrivals and restart delays",
	 NULL, 0, 0,
	  CLI_INPUT },
	{ 'b', "budget", CLI_REAL, AT(replay.in.budget), "GPUS", NULL, "boa: GPUs on average", NULL, 1e-9,
	 1e15,
	  CLI_RESULT },
	{ 0, "plan-times", CLI_TEXT, AT(replay.in.plan_times), "FILE", NULL, "rubick: what is true", NULL,
	 0, 0,
	  CLI_INPUT },
	{ 0, "format", CLI_CHOICE, AT(format), "NAME", "tsv", "how the verdicts are written", formats, 0, 0, 0 },
	END_OF_OPTIONS
};

static const struct cli_option no_options[] = { END_OF_OPTIONS };

/* ---- the command line ---- */

static int check_usage(struct cli *cli, const struct options *o)
{
	bool rows = o->in.data || o->in.fresh;

	if (!o->in.data && cli_given(cli, "folds"))
		return cli_usage(cli, "--folds needs --data");
	if (!rows && o->in.target)
		return cli_usage(cli, "--target needs --data");
	if (!o->in.incumbent && !o->in.results && (cli_given(cli, "bootstrap") || cli_given(cli, "level")))
		return cli_usage(cli, "--bootstrap and --level need --incumbent or --results");
	if (!o->in.results != !o->in.incumbent_results)
		return cli_usage(cli, "--results and --incumbent-results need each other");
	if (o->replay.jobs && o->in.results)
		return cli_usage(cli, "both --replay and --results given (expected one of them)");
	if (o->replay.jobs && !o->in.incumbent)
		return cli_usage(cli, "--replay needs --incumbent");
	if (o->replay.jobs && (strcmp(cli_operand(cli, 0), "-") == 0 || strcmp(o->in.incumbent, "-") == 0 ||
			       strcmp(o->replay.jobs, "-") == 0))
		return cli_usage(cli, "--replay reads its inputs twice, and so none from standard input");
	if (o->format && cli->no_meta)
		return cli_usage(cli, "--no-meta goes with --format tsv");
	if (o->format && cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "--format json cannot go into a store '%s'", cli->out);
	return gate_replay_check(cli, &o->replay);
}

/* ---- out ---- */

static int add_meta(const struct cli *cli, const struct fit_gate *g, const struct fit_meta *replays,
		    struct fit_meta *meta, struct fit_err *err)
{
	int rc = cli_meta(cli, meta, true) || fit_meta_add(meta, "model", g->kind) ||
		 fit_meta_add(meta, "verdict", fit_gate_verdict_names[g->verdict]);

	for (size_t i = 0; i < g->inputs.n && !rc; i++)
		rc = fit_meta_add(meta, g->inputs.pairs[i].key, g->inputs.pairs[i].value);
	for (size_t i = 0; i < replays->n && !rc; i++)
		rc = fit_meta_add(meta, replays->pairs[i].key, replays->pairs[i].value);
	if (!rc && *g->policy->hash)
		rc = cli_meta_input(meta, "thresholds", g->policy->hash);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int write_json(const struct cli *cli, const struct fit_gate *g, const struct fit_meta *meta,
		      struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_gate_print_json(g, meta, &text, err);

	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ text.s, text.n }, err);
	fit_str_release(&text);
	return rc;
}

static int write_table(const struct cli *cli, const struct fit_gate *g, const struct fit_meta *meta,
		       struct fit_err *err)
{
	struct fit_writer *w = NULL;
	int rc = cli_writer_open(cli, &w, err);

	rc = rc ? rc : fit_gate_write(g, w, meta, err);
	return cli_writer_close(w, rc, err);
}

/* Why, in a line: the first finding that decided. */
static void say_why(const struct cli *cli, const struct fit_gate *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->list[i].verdict == g->verdict && g->verdict != FIT_GATE_PASS) {
			cli_warn(cli, "%s: %s%s%s: %s", g->verdict == FIT_GATE_FAIL ? "the model fails" :
				 "cannot say",
				 g->list[i].check, g->list[i].region ? ", " : "", g->list[i].region ?
					 g->list[i].region : "",
				 g->list[i].reason ? g->list[i].reason : "");
			return;
		}
}

/* ---- the run ---- */

static int replay_both(const struct cli *cli, struct options *o, struct fit_table *a, struct fit_table *b,
		       struct fit_meta *meta, struct fit_err *err)
{
	int rc = gate_replay(cli, &o->replay, cli_operand(cli, 0), a, meta, err);

	rc = rc ? rc : gate_replay(cli, &o->replay, o->in.incumbent, b, NULL, err);
	o->in.results_table = a;
	o->in.incumbent_results_table = b;
	return rc;
}

static int gate(struct cli *cli, void *given)
{
	struct options *o = given;
	struct fit_table a = { 0 }, b = { 0 };
	struct fit_meta meta = { 0 }, replays = { 0 };
	struct fit_gate_policy policy = { 0 };
	struct fit_gate g = { .n = 0 };
	struct fit_err err;
	int status = check_usage(cli, o), rc;

	if (status)
		return status;
	o->in.model = cli_operand(cli, 0);
	o->in.folds = (size_t)o->folds;
	o->in.draws = (size_t)o->draws;
	o->in.seed = cli->seed;
	o->in.threads = cli->threads;
	o->in.shapes = o->shape.items;
	o->in.n_shapes = o->shape.n;
	rc = fit_gate_policy_read(&policy, o->thresholds, &err);
	if (!rc && o->replay.jobs)
		rc = replay_both(cli, o, &a, &b, &replays, &err);
	rc = rc ? rc : fit_gate_run(&g, &policy, &o->in, &err);
	rc = rc ? rc : add_meta(cli, &g, &replays, &meta, &err);
	rc = rc ? rc : o->format ? write_json(cli, &g, &meta, &err) : write_table(cli, &g, &meta, &err);
	if (!rc) {
		say_why(cli, &g);
		status = g.verdict == FIT_GATE_PASS ? CLI_EXIT_OK : CLI_EXIT_DATA;
	} else {
		status = rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	}
	fit_table_release(&a);
	fit_table_release(&b);
	fit_meta_release(&meta);
	fit_meta_release(&replays);
	fit_gate_policy_release(&policy);
	fit_gate_release(&g);
	return status;
}

static int thresholds(struct cli *cli, void *given)
{
	struct fit_gate_policy policy;
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	struct fit_err err;
	int rc = fit_gate_policy_read(&policy, NULL, &err);

	(void)given;
	if (!rc && cli_meta(cli, &meta, false))
		rc = fit_fail_nomem(&err);
	rc = rc ? rc : cli_writer_open(cli, &w, &err);
	rc = rc ? rc : fit_gate_policy_write(&policy, w, &meta, &err);
	rc = cli_writer_close(w, rc, &err);
	fit_meta_release(&meta);
	fit_gate_policy_release(&policy);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static const struct cli_verb verbs[] = {
	{ "", "[MODEL]", "hold a model against measurements and the incumbent", options, 0, 1, .run = gate },
	{ "thresholds", "", "write what is allowed by default", no_options, 0, 0, .run = thresholds },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-gate", "May this fitted model go to production?",
	"MODEL is what gf-throughput, gf-speedup, gf-pgns, gf-tree or gf-ga2m writes.\n"
	"Exit status 0: it passes; 1: it fails, or nobody can say.", verbs
};

int main(int argc, char **argv)
{
	struct options o = {
		.in = { .level = 0.95 }, .folds = 5, .draws = 2000,
		.replay = { .policy = "pollux", .fidelity = "none", .interval_ns = -1, .in = { .routing = -1 } },
	};

	return cli_main(&tool, argc, argv, &o);
}
