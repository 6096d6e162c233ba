/* SPDX-License-Identifier: MIT */
#include "tools/replay_uses.h"

#include <stddef.h>

enum {
	ADAPTS = 1, TIRESIAS = 2, SHARES = 4, LUCID = 8, HORUS = 16, PLAN = 32, PLACED = 64, SPEEDUPS = 128,
	BUDGET = 256, PROFILER = 512, EFFICIENCY = 1024, UTILITY = 2048, BELIEVES = 4096,
	POLLUX = 8192, SIA = 16384, AS_THEY_COME = 32768, GAVEL = 65536
};

static const struct cli_use uses[] = {
	{ "rates", GAVEL, "a policy of gavel" },
	{ "reallocate", GAVEL, "a policy of gavel" },
	{ "shares", GAVEL, "a policy of gavel" },
	{ "placement", PLACED, "a policy other than pollux and optimus" },
	{ "configs", SHARES, "--policy lucid or horus" },
	{ "pairs", SHARES, "--policy lucid or horus" },
	{ "no-packing", SHARES, "--policy lucid or horus" },
	{ "survivor", SHARES, "--policy lucid or horus" },
	{ "gpu-memory", SHARES, "--policy lucid or horus" },
	{ "no-estimator", LUCID, "--policy lucid" },
	{ "pack-score", LUCID, "--policy lucid" },
	{ "forecast", SHARES, "--policy lucid or horus" },
	{ "pack-util", HORUS, "--policy horus" },
	{ "profiler-time", PROFILER, "--profiler" },
	{ "profiler-gpus", PROFILER, "--profiler" },
	{ "profiler-naive", PROFILER, "--profiler" },
	{ "classes", SPEEDUPS, "--speedups" },
	{ "plan", PLAN, "--policy boa" },
	{ "budget", PLAN, "--policy boa" },
	{ "believed", BUDGET, "--budget" },
	{ "resolve-interval", BUDGET, "--budget" },
	{ "gpu-price", BUDGET, "--budget" },
	{ "routing", BUDGET, "--budget" },
	{ "target-efficiency", EFFICIENCY, "--autoscale pollux, rubick or sia" },
	{ "scale-low", UTILITY, "--autoscale goodput, throughput or utilisation" },
	{ "scale-high", UTILITY, "--autoscale goodput, throughput or utilisation" },
	{ "tiresias-threshold", TIRESIAS, "--policy tiresias" },
	{ "queues", TIRESIAS, "--policy tiresias" },
	{ "service", TIRESIAS, "--policy tiresias" },
	{ "promote", TIRESIAS, "--policy tiresias" },
	{ "sia-p", SIA, "--policy sia" },
	{ "sia-lambda", SIA, "--policy sia" },
	{ "sorted", AS_THEY_COME, "--policy fifo, fjf, sjf, qssf, srtf, shortest, shortest-gpu, smallest, tiresias, "
	  "lucid or horus" },
	{ "models", ADAPTS | BELIEVES, "a policy that believes models" },
	{ "p", POLLUX, "--policy pollux" },
	{ "search", POLLUX, "--policy pollux" },
	{ "fitness", POLLUX, "--policy pollux" },
	{ "allow-interference", POLLUX, "--policy pollux" },
	{ NULL, 0, NULL }
};

int replay_uses_check(struct cli *cli, const struct fit_replay_params *p, struct replay_uses given)
{
	const struct fit_policy *policy = p->policy;
	const struct fit_autoscaler *rule = p->autoscaler;
	unsigned s = 0;

	s |= policy->needs & FIT_ADAPTIVE ? ADAPTS : 0;
	s |= policy->needs & FIT_CHOOSES_PLANS ? BELIEVES : 0;
	s |= policy->needs & FIT_NEEDS_RATES ? GAVEL : 0;
	s |= policy->needs & FIT_SHARES ? SHARES : 0;
	s |= policy->needs & FIT_SLOTS ? AS_THEY_COME : 0;
	s |= policy->needs & FIT_NEEDS_PLAN ? PLAN : 0;
	s |= policy == &fit_policy_pollux ? POLLUX : 0;
	s |= policy == &fit_policy_sia ? SIA : 0;
	s |= policy == &fit_policy_tiresias || policy == &fit_policy_tiresias_g ? TIRESIAS : 0;
	s |= policy == &fit_policy_lucid ? LUCID : 0;
	s |= policy == &fit_policy_horus ? HORUS : 0;
	s |= policy == &fit_policy_pollux || policy == &fit_policy_optimus ? 0 : PLACED;
	s |= rule == &fit_autoscale_pollux || rule == &fit_autoscale_rubick ||
	     rule == &fit_autoscale_sia ? EFFICIENCY : 0;
	s |= rule == &fit_autoscale_goodput || rule == &fit_autoscale_throughput ||
	     rule == &fit_autoscale_utilisation ? UTILITY : 0;
	s |= given.speedups ? SPEEDUPS : 0;
	s |= given.budget ? BUDGET : 0;
	s |= given.profiler ? PROFILER : 0;
	return cli_check_uses(cli, uses, s);
}
