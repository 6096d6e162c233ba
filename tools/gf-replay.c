/* SPDX-License-Identifier: MIT */
/*
 * gf-replay: run a jobs table through a scheduling policy on a simulated cluster, and write the
 * event log.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/replay/engine.h"
#include "tools/common/cli.h"
#include "tools/replay_inputs.h"
#include "tools/replay_queues.h"
#include "tools/replay_run.h"
#include "tools/replay_share.h"
#include "tools/replay_uses.h"
#include "tools/replay_words.h"

struct options {
	const char *policy, *fidelity, *autoscale;
	struct replay_input_options in;
	int64_t interval_ns, restart_ns, max_active;
	int64_t reallocate_ns;
	int64_t node_start_ns, node_idle_ns, min_nodes, cold_restart_ns;
	int64_t resolve_ns;
	double pollux_p, sia_p, sia_lambda, interference, scale_low, scale_high, target;
	int search;		/* -1: what the fidelity says */
	bool allow_interference, free_start;
	int placement;
	struct replay_share_options share;
	struct replay_queue_options queue;
	struct replay_run_options run;
};

#define AT(field) offsetof(struct options, field)
#define HUNDRED_YEARS_S 3.2e9

static const char *const searches[] = { "local", "ga", "both", NULL };

static const struct cli_option options[] = {
	{ 'p', "policy", CLI_TEXT, AT(policy), "NAME", "fifo", "who runs where; see below",
	  replay_policies, 0, 0, 0 },
	{ 'c', "cluster", CLI_TEXT, AT(in.cluster), "SPEC", NULL,
	  "nodes x GPUs, such as 16x4 or aws:6x4,rtx:3; or a cluster table", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "virtual-clusters", CLI_FLAG, AT(in.virtual_clusters), NULL, NULL,
	  "each named part of the cluster runs the jobs of that group, by itself", NULL, 0, 0, 0 },
	{ 0, "placement", CLI_CHOICE, AT(placement), "NAME", "emptiest, or the fidelity's",
	  "which nodes a job gets; see below",
	  fit_placement_names, 0, 0, 0 },
	{ 0, "profile", CLI_LIST, AT(in.profiles), "[TYPE=]STORE", NULL,
	  "application profiles made by gf-prof, one for each GPU type; without, jobs need duration_s",
	  NULL, 0, 0, 0 },
	{ 0, "configs", CLI_TEXT, AT(share.configs), "FILE", NULL,
	  "lucid, horus: what was measured of jobs alone", NULL, 0, 0, CLI_INPUT },
	{ 0, "pairs", CLI_TEXT, AT(share.pairs), "FILE", NULL,
	  "lucid, horus: what was measured of jobs that share a GPU", NULL, 0, 0, CLI_INPUT },
	{ 0, "profiler", CLI_TEXT, AT(share.profiler), "NODES", NULL,
	  "jobs run on so many nodes first: N, or NAME:N of virtual clusters", NULL, 0, 0, 0 },
	{ 0, "profiler-time", CLI_TIME, AT(share.profiler_time_ns), "SECONDS", "200",
	  "and for so long at most", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "profiler-gpus", CLI_INT, AT(share.profiler_gpus), "N", "8",
	  "larger jobs are not profiled", NULL, 1, 1e9, 0 },
	{ 0, "profiler-naive", CLI_FLAG, AT(share.profiler_naive), NULL, NULL,
	  "they are profiled in order of arrival, not the smallest first", NULL, 0, 0, 0 },
	{ 0, "profiler-lender", CLI_TEXT, AT(share.lender), "NAME", NULL,
	  "this virtual cluster lends it a node while many wait; with --forecast", NULL, 0, 0, 0 },
	{ 0, "no-packing", CLI_FLAG, AT(share.no_packing), NULL, NULL, "lucid, horus: no jobs share GPUs",
	  NULL, 0, 0, 0 },
	{ 0, "no-estimator", CLI_FLAG, AT(share.no_estimator), NULL, NULL,
	  "lucid: order of arrival, not of predicted GPU time", NULL, 0, 0, 0 },
	{ 0, "pack-score", CLI_INT, AT(share.pack_score), "N", "2",
	  "lucid: highest sum of the labels of two", NULL, 0, 4, 0 },
	{ 0, "pack-util", CLI_REAL, AT(share.pack_util_pct), "PERCENT", "100",
	  "horus: highest sum of the utilisations of two", NULL, 0, 200, 0 },
	{ 0, "survivor", CLI_CHOICE, AT(share.survivor), "NAME", "recovers, or the fidelity's",
	  "lucid, horus: when one of two ends; keeps-speed: the one placed later stays slow",
	  replay_share_survivors, 0, 0, 0 },
	{ 0, "wide-wait", CLI_TIME, AT(share.wide_wait_ns), "SECONDS", "never",
	  "lucid, horus: after so long nobody takes free GPUs before a job on more than 8", NULL, 0,
	  HUNDRED_YEARS_S, 0 },
	{ 0, "gpu-memory", CLI_REAL, AT(share.gpu_mem_mib), "MIB", "24576",
	  "lucid, horus: memory of a GPU", NULL, 0, 1e9, 0 },
	{ 0, "forecast", CLI_TEXT, AT(share.forecast), "FILE", NULL,
	  "lucid: jobs share only while more than 2 are expected in a bin", NULL, 0, 0, CLI_INPUT },
	{ 0, "models", CLI_TEXT, AT(in.models), "FILE", NULL,
	  "Pollux: models that jobs start from, not learn; rubick: what it believes", NULL, 0, 0, CLI_INPUT },
	{ 0, "speedups", CLI_TEXT, AT(in.speedups), "FILE", NULL,
	  "true speeds of classes of jobs by GPUs, in place of a profile", NULL, 0, 0, CLI_INPUT },
	{ 0, "classes", CLI_TEXT, AT(in.classes), "FILE", NULL,
	  "restart delays of the classes; with --speedups", NULL, 0, 0, CLI_INPUT },
	{ 0, "rates", CLI_TEXT, AT(in.rates), "FILE", NULL,
	  "gavel: steps a second by GPU type, made by gf-prof --from gavel", NULL, 0, 0, CLI_INPUT },
	{ 0, "reallocate", CLI_TIME, AT(reallocate_ns), "SECONDS", "0, or the fidelity's",
	  "gavel: compute shares anew so long after the last time at the earliest", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "shares", CLI_TEXT, AT(run.shares), "FILE", NULL,
	  "gavel: write the shares of each computation to FILE", NULL, 0, 0, CLI_OUTPUT },
	{ 0, "plan", CLI_TEXT, AT(in.plan), "FILE", NULL,
	  "boa: widths by class and epoch, made by gf-boa solve", NULL, 0, 0, CLI_INPUT },
	{ 'b', "budget", CLI_REAL, AT(in.budget), "B", NULL,
	  "boa: compute the widths for this budget, in place of --plan", NULL, 1e-9, 1e15, 0 },
	{ 0, "believed", CLI_TEXT, AT(in.believed), "FILE", "the true speedups",
	  "boa: the speeds that the first widths are computed from", NULL, 0, 0, CLI_INPUT },
	{ 0, "gpu-price", CLI_LIST, AT(in.prices), "TYPE=X", "1",
	  "boa: price of a GPU, which the budget pays; for each type, or for none", NULL, 0, 0, 0 },
	{ 0, "routing", CLI_CHOICE, AT(in.routing), "WHAT", "class, or epoch where rescaling is free",
	  "boa: what keeps its GPU type: each epoch by itself, or a whole job", replay_routings, 0, 0, 0 },
	{ 0, "resolve-interval", CLI_TIME, AT(resolve_ns), "SECONDS", "0: never",
	  "boa: compute the widths anew at multiples of this", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "plan-times", CLI_TEXT, AT(in.plan_times), "FILE", NULL,
	  "true times of execution plans, in place of a profile", NULL, 0, 0, CLI_INPUT },
	{ 0, "allocations", CLI_TEXT, AT(in.allocations), "FILE", NULL,
	  "follow: who holds which GPUs from when on, or an event log", NULL, 0, 0, CLI_INPUT },
	{ 'i', "interval", CLI_TIME, AT(interval_ns), "SECONDS", "0, or the fidelity's",
	  "decide at multiples of this; 0: when jobs come and go", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "fidelity", CLI_TEXT, AT(fidelity), "NAME", "none",
	  "conventions of a published simulator; see below", replay_fidelities, 0, 0, 0 },
	{ 0, "restart-delay", CLI_TIME, AT(restart_ns), "SECONDS", "the profile's, else 0",
	  "no progress for so long after each change of an allocation", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "free-start", CLI_FLAG, AT(free_start), NULL, NULL,
	  "but not at the first start of a job, except on a cold node", NULL, 0, 0, 0 },
	{ 0, "autoscale", CLI_TEXT, AT(autoscale), "RULE", NULL,
	  "the cluster grows and shrinks by this rule; see below", replay_autoscalers, 0, 0, 0 },
	{ 0, "target-efficiency", CLI_REAL, AT(target), "SHARE", "0.5",
	  "what the rules pollux and rubick aim at", NULL, 0.001, 0.999, 0 },
	{ 0, "scale-low", CLI_REAL, AT(scale_low), "SHARE", "0.5",
	  "autoscaling by utility: a size of less changes", NULL, 1e-6, 1, 0 },
	{ 0, "scale-high", CLI_REAL, AT(scale_high), "SHARE", "2/3",
	  "autoscaling by utility: a size of more changes", NULL, 1e-6, 1, 0 },
	{ 0, "node-start", CLI_TIME, AT(node_start_ns), "SECONDS", "0",
	  "a node takes jobs so long after it was rented", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "node-idle", CLI_TIME, AT(node_idle_ns), "SECONDS", "0",
	  "an empty node that nobody wants is kept for so long", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "min-nodes", CLI_INT, AT(min_nodes), "N", "0",
	  "nodes that are always rented", NULL, 0, FIT_NODES_MAX, 0 },
	{ 0, "cold-restart-delay", CLI_TIME, AT(cold_restart_ns), "SECONDS", "as any other",
	  "the restart delay on a node that had no job since it was rented", NULL, 0, HUNDRED_YEARS_S, 0 },
	{ 0, "queues", CLI_TEXT, AT(queue.queues), "LIMITS", "3250,7200, or the fidelity's",
	  "tiresias: service with which a job leaves each queue but the last", NULL, 0, 0, 0 },
	{ 0, "tiresias-threshold", CLI_INT, AT(queue.threshold_gpu_s), "GPU_S", NULL,
	  "two queues with this limit", NULL, 0, 9e15, 0 },
	{ 0, "service", CLI_CHOICE, AT(queue.service), "NAME", "gpu-time",
	  "tiresias: what counts as service of a job", replay_services, 0, 0, 0 },
	{ 0, "promote", CLI_REAL, AT(queue.promote), "FACTOR", "0: never",
	  "tiresias: back to the first queue after waiting so many times its run time", NULL, 0, 1e9, 0 },
	{ 0, "gpu-times", CLI_TEXT, AT(queue.gpu_times), "FILE", "those of the jobs",
	  "tiresias-g, gittins: GPU times of past jobs", NULL, 0, 0, CLI_INPUT },
	{ 0, "gittins", CLI_CHOICE, AT(queue.gittins), "NAME", "paper, or the fidelity's",
	  "tiresias-g, gittins: which indices", replay_gittins, 0, 0, 0 },
	{ 0, "stale-ends", CLI_FLAG, AT(queue.stale_ends), NULL, NULL,
	  "with the defect of the Tiresias simulator that ends preempted jobs", NULL, 0, 0, 0 },
	{ 0, "p", CLI_REAL, AT(pollux_p), "P", "-1",
	  "Pollux: power of the mean of speedups", NULL, -1e6, 1e6, 0 },
	{ 0, "sia-p", CLI_REAL, AT(sia_p), "P", "-0.5",
	  "Sia: power of the goodputs", NULL, -100, 100, 0 },
	{ 0, "sia-lambda", CLI_REAL, AT(sia_lambda), "X", "1.1",
	  "Sia: what a job without GPUs costs, beside (goodput / least)^p", NULL, -3000, 3000, 0 },
	{ 0, "search", CLI_CHOICE, AT(search), "NAME", "local; ga with a fidelity",
	  "Pollux: how allocations are looked for", searches, 0, 0, 0 },
	{ 0, "fitness", CLI_TEXT, AT(run.fitness), "FILE", NULL,
	  "Pollux: write the fitness of each decision to FILE", NULL, 0, 0, CLI_OUTPUT },
	{ 0, "allow-interference", CLI_FLAG, AT(allow_interference), NULL, NULL,
	  "Pollux: jobs on several nodes may share a node", NULL, 0, 0, 0 },
	{ 0, "interference", CLI_REAL, AT(interference), "SHARE", "0",
	  "slowdown of jobs on several nodes that share a node", NULL, 0, 0.999999, 0 },
	{ 0, "max-active", CLI_INT, AT(max_active), "N", "0",
	  "most jobs in the system; others are submitted as jobs end; 0: no limit", NULL, 0, 1e9, 0 },
	{ 0, "sorted", CLI_FLAG, AT(run.sorted), NULL, NULL,
	  "jobs are in order of submission: read them as they come, in little memory", NULL, 0, 0, 0 },
	{ 0, "skip-too-large", CLI_FLAG, AT(run.skip_too_large), NULL, NULL,
	  "reject jobs that are larger than the cluster instead of failing", NULL, 0, 0, 0 },
	{ 0, "skip-bad", CLI_INT, AT(run.skip_bad), "N", "0", "leave out up to N bad rows, and count them",
	  NULL, 0, 9e15, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const struct fit_autoscaler *find_autoscaler(const char *name)
{
	for (size_t i = 0; fit_autoscalers[i]; i++)
		if (strcmp(fit_autoscalers[i]->name, name) == 0)
			return fit_autoscalers[i];
	return NULL;
}

static int unknown(struct cli *cli, const char *const *names, const char *what, const char *name)
{
	char list[1024] = "";
	size_t n = 0;

	for (size_t i = 0; names[i] && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", names[i]);
	return cli_usage(cli, "unknown %s '%s' (expected %s)", what, name, list);
}

static int find_names(struct cli *cli, const struct options *o, struct fit_replay_params *p)
{
	const struct fit_policy *policy = fit_policy_named(o->policy);
	const struct fit_fidelity *fidelity = fit_fidelity_named(o->fidelity);

	if (!policy)
		return unknown(cli, replay_policies, "policy", o->policy);
	if (!fidelity)
		return unknown(cli, replay_fidelities, "fidelity", o->fidelity);
	p->autoscaler = o->autoscale ? find_autoscaler(o->autoscale) : NULL;
	if (o->autoscale && !p->autoscaler)
		return unknown(cli, replay_autoscalers, "autoscaling rule", o->autoscale);
	fit_replay_params_choose(p, policy, fidelity);
	return 0;
}

/* Used for -v alone: no output depends on it. */
static int64_t cpu_clock(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : (int64_t)t.tv_sec * FIT_NS_PER_S + t.tv_nsec;
}

static int run(struct cli *cli, void *given)
{
	struct options *o = given;
	struct fit_replay_params p = fit_replay_params_default();
	struct replay_inputs in = { 0 };
	struct replay_gpu_times times = { .table = { 0 } };
	struct fit_err err;
	const char *wrong;
	int rc = find_names(cli, o, &p);

	rc = rc ? rc : replay_uses_check(cli, &p, (struct replay_uses){
		.speedups = o->in.speedups, .budget = o->in.budget > 0, .profiler = o->share.profiler,
	});
	if (rc)
		return rc;
	o->in.models_of_plans = (p.policy->needs & FIT_CHOOSES_PLANS) != 0;
	if (o->interval_ns >= 0)
		p.interval_ns = o->interval_ns;
	if (o->placement >= 0)
		p.placement = o->placement == FIT_PLACE_RANDOM && p.fidelity->random_is_first_fit ?
			      FIT_PLACE_FIRST_FIT : (enum fit_placement_kind)o->placement;
	if (p.policy->needs & FIT_NEEDS_PLAN) {
		if (o->placement < 0)
			p.placement = FIT_PLACE_CONSOLIDATE_FIRST;
		p.policy_params.boa = o->in.plan ? &in.widths : NULL;
	}
	if (o->in.plan_times && o->placement < 0)	/* what was measured is mostly of full nodes */
		p.placement = FIT_PLACE_CONSOLIDATE;
	p.clock = cli->verbose ? cpu_clock : NULL;
	if (o->restart_ns >= 0)
		p.restart_ns = o->restart_ns;
	p.max_active = o->max_active;
	p.models = o->in.models && !o->in.models_of_plans ? &in.models : NULL;
	p.interference = o->interference;
	p.cold_restart_ns = o->cold_restart_ns;
	p.autoscale_params.target = o->target;
	p.autoscale_params.low = o->scale_low;
	p.autoscale_params.high = o->scale_high;
	p.provision = (struct fit_provision_params){
		.start_ns = o->node_start_ns,
		.idle_ns = o->node_idle_ns,
		.min_nodes = (int32_t)o->min_nodes,
	};
	if (o->reallocate_ns >= 0)
		p.policy_params.gavel_reallocate_ns = o->reallocate_ns;
	p.policy_params.pollux_power = o->pollux_p;
	p.policy_params.sia_power = o->sia_p;
	p.policy_params.sia_lambda = o->sia_lambda;
	p.policy_params.pollux_interfere = o->allow_interference;
	p.policy_params.seed = cli->seed;
	p.policy_params.pollux_search = o->search >= 0 ? (enum fit_pollux_search)o->search :
					p.fidelity->pollux_search_defects ? FIT_SEARCH_GA : FIT_SEARCH_LOCAL;
	rc = replay_share_check(cli, &o->share, &p);
	rc = rc ? rc : replay_queue_check(cli, &o->queue, &p);
	if (rc)
		return rc;
	p.colocation = o->share.configs ? &in.share.colocation : NULL;
	if (!!o->in.speedups + (o->in.profiles.n > 0) + !!o->in.plan_times > 1)
		return cli_usage(cli, "two of --profile, --speedups and --plan-times (expected one of them)");
	if (!o->in.speedups && o->in.plan)
		return cli_usage(cli, "--plan needs --speedups");
	if (o->in.plan && o->in.budget > 0)
		return cli_usage(cli, "both --plan and --budget (expected one of them)");
	if (o->in.budget > 0 && !o->in.classes)
		return cli_usage(cli, "--budget needs --classes");
	if (!o->in.rates && p.policy->needs & FIT_NEEDS_RATES)
		return cli_usage(cli, "--policy %s: needs --rates", o->policy);
	if (o->in.rates && (o->in.profiles.n || o->in.speedups || o->in.plan_times || o->in.virtual_clusters ||
			    p.autoscaler))
		return cli_usage(cli, "--rates: no profile, speedups, virtual clusters or autoscaling beside them");
	if (o->run.sorted && (p.fidelity != &fit_fidelities[0] || o->in.profiles.n || o->in.speedups ||
			  o->in.plan_times || o->share.profiler || p.autoscaler))
		return cli_usage(cli, "--sorted: no fidelity, profile, speedups, plan times, profiler or autoscaling "
				 "beside it");
	p.policy_params.boa_given = o->in.budget > 0;
	p.policy_params.plan_times = o->in.plan_times ? &in.plan_times : NULL;
	p.policy_params.rubick_models = o->in.models && o->in.models_of_plans ? &in.plan_models : NULL;
	p.policy_params.allocations = o->in.allocations ? &in.allocations : NULL;
	wrong = fit_replay_params_check(&p, o->in.profiles.n > 0);
	if (wrong)
		return cli_usage(cli, "--policy %s: %s", o->policy, wrong);
	o->in.with_switches = p.placement == FIT_PLACE_YARN;
	rc = replay_inputs_cluster(&in, &o->in, &err);
	if (rc == FIT_EINVAL)
		return cli_usage(cli, "%s", err.msg);
	if (rc)
		return cli_error(cli, &err);
	wrong = in.partitions.p[0].cluster.n_types > 1 && !in.partitions.named &&
		(p.policy->needs & FIT_ONE_TYPE || (o->in.speedups && !(p.policy->needs & FIT_NEEDS_PLAN)) ||
		 (p.autoscaler && (!(p.autoscaler->needs & FIT_SCALES_TYPES) || p.policy->needs & FIT_BLIND))) ?
		"this policy, speedups or this autoscaling rule know GPUs of one type only" :
		!p.autoscaler ? NULL : in.partitions.named ? "an elastic cluster has no virtual clusters" :
		fit_provision_check(&in.partitions.p[0].cluster, &p.provision,
				    p.autoscaler->needs & FIT_SCALES_TYPES);
	if (wrong) {
		rc = cli_usage(cli, "--cluster %s: %s", in.partitions.spec, wrong);
	} else {
		rc = replay_inputs_models(&in, &o->in, &err);
		if (in.learner && fit_boa_learner_least(in.learner) > o->in.budget)
			cli_warn(cli, "infeasible budget '%g' (expected at least %.6g): the cheapest widths are taken",
				 o->in.budget, fit_boa_learner_least(in.learner));
		p.free_start = o->in.plan ? in.widths.free_start : o->free_start;
		p.policy_params.boa_learner = in.learner;
		p.policy_params.boa_classes = &in.classes;
		p.policy_params.boa_resolve_ns = o->resolve_ns;
		rc = rc ? rc : replay_share_open(&in.share, &o->share, &in.partitions, &p, &err);
		rc = rc ? rc : replay_gpu_times_open(&times, &o->queue, &p, &err);
		rc = rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : rc ? cli_error(cli, &err) :
		     replay_run(cli, &o->run, &p, &in);
	}
	replay_gpu_times_release(&times);
	replay_inputs_release(&in);
	return rc;
}

static const struct cli_verb verbs[] = {
	{ "", "[JOBS]", "", options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-replay",
	.summary = "Replay a jobs table under a scheduling policy and write the event log.",
	.details = replay_help,
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	struct options o = {
		.policy = "fifo",
		.fidelity = "none",
		.search = -1,
		.interval_ns = -1,
		.restart_ns = -1,
		.cold_restart_ns = -1,
		.queue = replay_queue_defaults(),
		.reallocate_ns = -1,
		.placement = -1,
		.in = { .routing = -1 },
		.target = 0.5,
		.scale_low = fit_replay_params_default().autoscale_params.low,
		.scale_high = fit_replay_params_default().autoscale_params.high,
		.share = replay_share_defaults(),
		.pollux_p = fit_policy_params_default().pollux_power,
		.sia_p = fit_policy_params_default().sia_power,
		.sia_lambda = fit_policy_params_default().sia_lambda,
	};

	replay_words();
	return cli_main(&tool, argc, argv, &o);
}
