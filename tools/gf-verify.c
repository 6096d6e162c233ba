/* SPDX-License-Identifier: MIT */
/*
 * gf-verify: hold an event log against its jobs table, the application profile and the policy that
 * it names, and give one verdict a rule. Exit status 1 when a rule is violated.
 */

#include "libfit/verify/verify.h"
#include "tools/common/cli.h"
#include "tools/profile_meta.h"

struct options {
	const char *jobs, *models, *metrics, *per_job, *speedups, *classes, *plan, *believed;
	const char *rates, *shares, *configs, *pairs, *fitness, *allocations, *plan_times, *gpu_times;
	struct cli_list profiles;
	bool only_violated;
};

#define AT(field) offsetof(struct options, field)

static const struct cli_option options[] = {
	{ 'j', "jobs", CLI_TEXT, AT(jobs), "FILE", NULL, "the jobs table that was replayed", NULL,
	  0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "profile", CLI_LIST, AT(profiles), "[TYPE=]STORE", NULL,
	  "the application profiles that were used, one for each GPU type", NULL, 0, 0, 0 },
	{ 0, "models", CLI_TEXT, AT(models), "THETA", NULL, "the throughput models that jobs started from",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "speedups", CLI_TEXT, AT(speedups), "FILE", NULL, "the speedups that were used", NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "rates", CLI_TEXT, AT(rates), "FILE", NULL, "the measured rates that were used", NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "shares", CLI_TEXT, AT(shares), "FILE", NULL, "also check this output of gf-replay --shares", NULL,
	  0, 0, CLI_INPUT },
	{ 0, "classes", CLI_TEXT, AT(classes), "FILE", NULL, "the classes that were used", NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "believed", CLI_TEXT, AT(believed), "FILE", NULL,
	  "the speedups that widths were computed from first", NULL, 0, 0, CLI_INPUT },
	{ 0, "plan", CLI_TEXT, AT(plan), "FILE", NULL, "the plans that were used", NULL, 0, 0, CLI_INPUT },
	{ 0, "plan-times", CLI_TEXT, AT(plan_times), "FILE", NULL, "the times of execution plans that were used",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "allocations", CLI_TEXT, AT(allocations), "FILE", NULL, "the allocations that were followed", NULL,
	  0, 0, CLI_INPUT },
	{ 0, "gpu-times", CLI_TEXT, AT(gpu_times), "FILE", NULL,
	  "the GPU times that Gittins indices were taken from, unless those of the jobs", NULL, 0, 0, CLI_INPUT },
	{ 0, "configs", CLI_TEXT, AT(configs), "FILE", NULL,
	  "what was measured of jobs alone; where jobs share GPUs", NULL, 0, 0, CLI_INPUT },
	{ 0, "pairs", CLI_TEXT, AT(pairs), "FILE", NULL, "what was measured of jobs that share a GPU",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "metrics", CLI_TEXT, AT(metrics), "FILE", NULL, "also check this output of gf-metrics",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "per-job", CLI_TEXT, AT(per_job), "FILE", NULL,
	  "also check this output of gf-metrics --per-job", NULL, 0, 0, CLI_INPUT },
	{ 0, "fitness", CLI_TEXT, AT(fitness), "FILE", NULL,
	  "also check this output of gf-replay --fitness", NULL, 0, 0, CLI_INPUT },
	{ 0, "only-violated", CLI_FLAG, AT(only_violated), NULL, NULL, "list violated rules only",
	  NULL, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* Everything that is read. */
static int judge(struct fit_verifier *v, const struct cli *cli, const struct options *o,
		 struct fit_err *err)
{
	int rc = o->configs ? fit_verifier_colocation(v, o->configs, o->pairs, err) : FIT_OK;

	rc = rc ? rc : fit_verifier_jobs(v, o->jobs, err);

	for (size_t i = 0; i < o->profiles.n && !rc; i++)
		rc = fit_verifier_profile(v, o->profiles.items[i], err);
	if (!rc && o->models)
		rc = fit_verifier_models(v, o->models, err);
	if (!rc && o->speedups)
		rc = fit_verifier_speedups(v, o->speedups, o->classes, err);
	if (!rc && o->rates)
		rc = fit_verifier_rates(v, o->rates, err);
	if (!rc && o->shares)
		rc = fit_verifier_shares(v, o->shares, err);
	if (!rc && o->plan)
		rc = fit_verifier_plan(v, o->plan, err);
	if (!rc && o->plan_times)
		rc = fit_verifier_plan_times(v, o->plan_times, err);
	if (!rc && o->allocations)
		rc = fit_verifier_allocations(v, o->allocations, err);
	if (!rc && o->gpu_times)
		rc = fit_verifier_gpu_times(v, o->gpu_times, err);
	fit_verifier_believed(v, o->believed);
	if (o->fitness)
		fit_verifier_keep_fitness(v);
	if (o->metrics || o->per_job)
		fit_verifier_keep_results(v);
	rc = rc ? rc : fit_verifier_log(v, cli_operand(cli, 0), err);
	if (!rc && o->metrics)
		rc = fit_verifier_metrics(v, o->metrics, err);
	if (!rc && o->per_job)
		rc = fit_verifier_per_job(v, o->per_job, err);
	if (!rc && o->fitness)
		rc = fit_verifier_fitness(v, o->fitness, err);
	return rc;
}

static int describe(const struct fit_verifier *v, const struct cli *cli, struct fit_meta *meta)
{
	int rc = cli_meta(cli, meta, false);

	rc = rc ? rc : cli_meta_input(meta, NULL, fit_verifier_hash_log(v));
	rc = rc ? rc : cli_meta_input(meta, "jobs", fit_verifier_hash_jobs(v));
	rc = rc ? rc : profile_meta_add(meta, fit_verifier_profiles(v));
	if (!rc && *fit_verifier_hash_models(v))
		rc = cli_meta_input(meta, "models", fit_verifier_hash_models(v));
	if (!rc && *fit_verifier_hash_speedups(v))
		rc = cli_meta_input(meta, "speedups", fit_verifier_hash_speedups(v));
	if (!rc && *fit_verifier_hash_rates(v))
		rc = cli_meta_input(meta, "rates", fit_verifier_hash_rates(v));
	if (!rc && *fit_verifier_hash_classes(v))
		rc = cli_meta_input(meta, "classes", fit_verifier_hash_classes(v));
	if (!rc && *fit_verifier_hash_plan(v))
		rc = cli_meta_input(meta, "plan", fit_verifier_hash_plan(v));
	if (!rc && *fit_verifier_hash_allocations(v))
		rc = cli_meta_input(meta, "allocations", fit_verifier_hash_allocations(v));
	if (!rc && *fit_verifier_hash_gpu_times(v))
		rc = cli_meta_input(meta, "gpu_times", fit_verifier_hash_gpu_times(v));
	return rc;
}

static int write_verdicts(const struct fit_verifier *v, const struct cli *cli,
			  const struct options *o, size_t *violated, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "rule", FIT_TEXT, 0 },   { "verdict", FIT_TEXT, 0 },
		{ "checked", FIT_INT, 0 }, { "violations", FIT_INT, 0 },
		{ "detail", FIT_TEXT, 0 }, { "meaning", FIT_TEXT, 0 },
	};
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	int rc = describe(v, cli, &meta) ? fit_fail_nomem(err) : FIT_OK;

	*violated = 0;
	rc = rc ? rc : cli_writer_open(cli, &w, err);
	rc = rc ? rc
		: fit_writer_begin(w, "verdicts", &meta, fields, sizeof fields / sizeof *fields,
				   err);
	for (size_t i = 0; i < fit_verifier_n_rules(v) && !rc; i++) {
		struct fit_verdict d = fit_verifier_verdict(v, i);

		*violated += d.kind == FIT_VERDICT_VIOLATED;
		if (o->only_violated && d.kind != FIT_VERDICT_VIOLATED)
			continue;
		fit_writer_str(w, d.rule);
		fit_writer_str(w, fit_verdict_name(d.kind));
		fit_writer_int(w, d.checked);
		fit_writer_int(w, d.violations);
		fit_writer_str(w, d.detail);
		fit_writer_str(w, d.meaning);
		rc = fit_writer_end_row(w, err);
	}
	rc = cli_writer_end(w, rc, err);
	fit_meta_release(&meta);
	return rc;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_verifier *v;
	struct fit_err err;
	size_t violated = 0;
	int rc;

	if (!o->configs != !o->pairs)
		return cli_usage(cli, "--configs and --pairs go together");
	rc = fit_verifier_new(&v, &err);
	rc = rc ? rc : judge(v, cli, o, &err);
	if (rc == FIT_EINVAL) {
		fit_verifier_free(v);
		return cli_usage(cli, "%s", err.msg);
	}
	rc = rc ? rc : write_verdicts(v, cli, o, &violated, &err);
	fit_verifier_free(v);
	if (rc)
		return cli_error(cli, &err);
	cli_note(cli, "%zu %s violated", violated, fit_plural(violated, "rule", "rules"));
	return violated ? CLI_EXIT_DATA : CLI_EXIT_OK;
}

static const struct cli_verb verbs[] = {
	{ "", "[LOG]", "", options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-verify",
	.summary = "Check an event log against its jobs, profile and policy; one verdict a rule.",
	.details = "Exit status 1: a rule is violated, or the input is not usable.",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	struct options o = { 0 };

	return cli_main(&tool, argc, argv, &o);
}
