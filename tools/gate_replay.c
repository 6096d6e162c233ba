/* SPDX-License-Identifier: MIT */
#include "tools/gate_replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/metrics/metrics.h"
#include "libfit/verify/gate.h"

/* Policies that believe a model, and what they need of the truth. */
static const struct believer {
	const char *policy, *needs;
} believers[] = {
	{ "pollux", "--profile" },
	{ "boa", "--speedups, --classes and --budget" },
	{ "rubick", "--plan-times" },
	{ NULL, NULL }
};

static bool has_truth(const struct gate_replay_options *o)
{
	if (strcmp(o->policy, "pollux") == 0)
		return o->in.profiles.n > 0 && !o->in.speedups && !o->in.plan_times;
	if (strcmp(o->policy, "boa") == 0)
		return o->in.speedups && o->in.classes && o->in.budget > 0 && !o->in.profiles.n &&
			!o->in.plan_times;
	return o->in.plan_times && !o->in.profiles.n && !o->in.speedups;
}

int gate_replay_check(struct cli *cli, const struct gate_replay_options *o)
{
	const struct believer *b = believers;

	if (!o->jobs) {
		if (o->in.cluster || o->in.profiles.n || o->in.speedups || o->in.classes ||
		    o->in.plan_times ||
		    o->in.budget > 0 || o->interval_ns >= 0 || cli_given(cli, "policy") ||
			    cli_given(cli, "fidelity"))
			return cli_usage(cli,
					 "--policy, --cluster, --interval, --fidelity, --profile, --speedups, --classes, "
					 "--budget and --plan-times need --replay");
		return 0;
	}
	while (b->policy && strcmp(b->policy, o->policy) != 0)
		b++;
	if (!b->policy)
		return cli_usage(cli,
				 "bad policy '%s' (expected one that believes a model: pollux, boa or rubick)", o->policy);
	if (!o->in.cluster)
		return cli_usage(cli, "--replay needs --cluster");
	if (!has_truth(o))
		return cli_usage(cli, "--policy %s needs %s, and takes nothing else of what is true",
				 b->policy, b->needs);
	if (!fit_fidelity_named(o->fidelity))
		return cli_usage(cli, "unknown fidelity '%s' (gf-replay --help lists them)", o->fidelity);
	return 0;
}

/* ---- jobs of a log ---- */

static int add_job(const struct fit_metrics *m, const struct fit_job_result *j, struct fit_table *t)
{
	bool done = j->state == FIT_JOB_FINISHED;
	struct fit_cell c[FIT_GATE_JOB_FIELDS] = {
		{ .u.t = fit_metrics_job_id(m, j) },
		{ .na = !done }, { .na = !done }, { .na = !done }, { .na = true },
	};

	if (done) {
		c[1].u.i = j->end_ns - j->submit_ns;
		c[2].u.i = j->queue_ns;
		c[3].u.d = fit_gpu_seconds(j->gpu);
	}
	return fit_table_add(t, c);
}

static int read_jobs(const char *log, struct fit_table *t, struct fit_err *err)
{
	struct fit_metrics m;
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, log, err);

	if (rc)
		return rc;
	rc = fit_metrics_read(&m, r, NULL, NULL, err);
	fit_reader_close(r);
	if (rc)
		return rc;
	rc = fit_table_init(t, "jobs", fit_gate_job_fields, FIT_GATE_JOB_FIELDS, err);
	for (size_t i = 0; i < m.n_jobs && !rc; i++)
		if (add_job(&m, &m.jobs[i], t))
			rc = fit_fail_nomem(err);
	fit_metrics_release(&m);
	return rc;
}

/* ---- one replay ---- */

static int write_log(const struct fit_jobs *jobs, struct replay_inputs *in,
		     const struct fit_replay_params *p,
		     const char *log, struct fit_err *err)
{
	const struct fit_meta none = { 0 };
	struct fit_replay_counts counts;
	struct fit_writer *w = NULL;
	int rc = fit_writer_open(&w, log, 0, err);

	rc = rc ? rc : fit_replay(jobs, &in->partitions, p, &none, w, &counts, err);
	return cli_writer_close(w, rc, err);
}

static int replay(const struct gate_replay_options *o, struct replay_inputs *in, struct fit_replay_params *p,
		  const char *log, struct fit_jobs *jobs, struct fit_err *err)
{
	struct fit_jobs_params jp = replay_inputs_jobs(in, p);
	int rc = fit_jobs_read(jobs, o->jobs, &jp, err);

	return rc ? rc : write_log(jobs, in, p, log, err);
}

/* Everything that is believed comes from the model. */
static void believe(struct replay_input_options *in, const struct fit_policy *policy, const char *model)
{
	if (policy->needs & FIT_NEEDS_PLAN)
		in->believed = model;
	else
		in->models = model;
	in->models_of_plans = (policy->needs & FIT_CHOOSES_PLANS) != 0;
}

static void make_params(const struct gate_replay_options *o, const struct replay_inputs *in, uint64_t seed,
			struct fit_replay_params *p)
{
	fit_replay_params_choose(p, fit_policy_named(o->policy), fit_fidelity_named(o->fidelity));
	if (o->interval_ns >= 0)
		p->interval_ns = o->interval_ns;
	if (p->policy->needs & FIT_NEEDS_PLAN)
		p->placement = FIT_PLACE_CONSOLIDATE_FIRST;
	if (o->in.plan_times)
		p->placement = FIT_PLACE_CONSOLIDATE;
	p->models = in->models.n ? &in->models : NULL;
	p->cold_restart_ns = -1;
	p->policy_params.seed = seed;
	p->policy_params.pollux_search = p->fidelity->pollux_search_defects ? FIT_SEARCH_GA :
		FIT_SEARCH_LOCAL;
	p->policy_params.boa_given = o->in.budget > 0;
	p->policy_params.boa_learner = in->learner;
	p->policy_params.boa_classes = &in->classes;
	p->policy_params.plan_times = o->in.plan_times ? &in->plan_times : NULL;
	p->policy_params.rubick_models = in->plan_models.n ? &in->plan_models : NULL;
}

static int in_folder(const struct cli *cli, const struct gate_replay_options *o, const char *model,
		     const char *log, struct fit_table *table, struct fit_meta *meta, struct fit_err *err)
{
	struct fit_replay_params p = fit_replay_params_default();
	struct replay_input_options options = o->in;
	struct replay_inputs in = { 0 };
	struct fit_jobs jobs = { .n = 0 };
	const char *wrong;
	int rc;

	believe(&options, fit_policy_named(o->policy), model);
	rc = replay_inputs_cluster(&in, &options, err);
	rc = rc ? rc : replay_inputs_models(&in, &options, err);
	make_params(o, &in, cli->seed, &p);
	wrong = rc ? NULL : fit_replay_params_check(&p, o->in.profiles.n > 0);
	if (wrong)
		rc = fit_fail(err, FIT_EINVAL, "--policy %s: %s", o->policy, wrong);
	rc = rc ? rc : replay(o, &in, &p, log, &jobs, err);
	if (!rc && meta) {
		replay_inputs_tell_left_out(cli, &jobs);
		rc = cli_meta_input(meta, "jobs", jobs.hash) ? fit_fail_nomem(err) : FIT_OK;
		for (size_t i = 0; i < in.profiles.n && !rc; i++)
			rc = cli_meta_input(meta, "profile", in.profiles.entries[i].hash) ?
				fit_fail_nomem(err) : FIT_OK;
		if (!rc && *in.classes.speedups.hash && cli_meta_input(meta, "speedups",
			in.classes.speedups.hash))
			rc = fit_fail_nomem(err);
		if (!rc && *in.plan_times.hash && cli_meta_input(meta, "plan_times", in.plan_times.hash))
			rc = fit_fail_nomem(err);
	}
	rc = rc ? rc : read_jobs(log, table, err);
	fit_jobs_release(&jobs);
	replay_inputs_release(&in);
	return rc;
}

int gate_replay(const struct cli *cli, const struct gate_replay_options *o, const char *model,
		struct fit_table *jobs, struct fit_meta *meta, struct fit_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct fit_str folder = { 0 }, log = { 0 };
	int rc = FIT_OK;

	if (fit_str_printf(&folder, "%s/gf-gate.XXXXXX", tmp && *tmp ? tmp : "/tmp"))
		return fit_fail_nomem(err);
	if (!mkdtemp(folder.s))
		rc = fit_fail_errno(err, "cannot make a folder %s", folder.s);
	else if (fit_str_printf(&log, "%s/log.tsv", folder.s))
		rc = fit_fail_nomem(err);
	else
		rc = in_folder(cli, o, model, log.s, jobs, meta, err);
	if (log.s)
		unlink(log.s);
	rmdir(folder.s);
	fit_str_release(&folder);
	fit_str_release(&log);
	return rc;
}
