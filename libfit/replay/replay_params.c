/* SPDX-License-Identifier: MIT */
/* What a replay is told to do: the defaults, and which of it goes together. */
#include "libfit/replay/engine.h"

struct fit_replay_params fit_replay_params_default(void)
{
	return (struct fit_replay_params){
		.policy = &fit_policy_fifo,
		.policy_params = fit_policy_params_default(),
		.fidelity = &fit_fidelities[0],
		.interval_ns = 0,
		.restart_ns = -1,
		.cold_restart_ns = -1,
		.autoscale_params = { .target = 0.5, .low = 0.5, .high = 2.0 / 3 },
		.profiler = fit_profiler_params_default(),
	};
}

void fit_replay_params_choose(struct fit_replay_params *p, const struct fit_policy *policy,
			      const struct fit_fidelity *fidelity)
{
	p->policy = policy == &fit_policy_sjf && fidelity->sjf_is_smallest ? &fit_policy_smallest : policy;
	p->fidelity = fidelity;
	p->interval_ns = policy == &fit_policy_tiresias && fidelity->tiresias_interval_ns ?
			 fidelity->tiresias_interval_ns : fidelity->interval_ns;
	if (!p->interval_ns && !fidelity->steps_round_ns)
		p->interval_ns = policy->interval_ns;
	p->policy_params.gavel_reallocate_ns = fidelity->gavel_reallocate_ns;
	p->placement = (enum fit_placement_kind)fidelity->placement;
	p->survivor_keeps_speed = fidelity->survivor_keeps_speed;
	if (fidelity->restart_ns)
		p->restart_ns = fidelity->restart_ns;
	p->policy_params.gittins_artifact = fidelity->gittins_artifact;
	if (fidelity->tiresias_threshold_gpu_s)
		p->policy_params.queues = (struct fit_queues){
			.limit_s = { fidelity->tiresias_threshold_gpu_s }, .n_limits = 1
		};
}

const char *fit_replay_params_check(const struct fit_replay_params *p, bool has_profile)
{
	if (p->interval_ns < 0)
		return "the interval is negative";
	if (p->interval_ns > FIT_REPLAY_SPAN_MAX_NS || p->restart_ns > FIT_REPLAY_SPAN_MAX_NS)
		return "the interval or the restart delay is over a century";
	if (p->max_active < 0)
		return "the limit of active jobs is negative";
	if (p->interval_ns == 0 && p->fidelity->needs_interval)
		return "this fidelity profile needs an interval above 0 (--interval)";
	if (p->interval_ns == 0 && (p->policy->needs & FIT_NEEDS_INTERVAL))
		return "this policy needs an interval above 0 (--interval)";
	if ((p->policy->needs & FIT_OWN_CLOCK) && !p->interval_ns && !p->fidelity->steps_round_ns)
		return "this policy needs an interval above 0 (--interval)";
	if ((p->policy->needs & FIT_NEEDS_RATES) && p->fidelity->steps_round_ns && p->interval_ns)
		return "this fidelity profile has rounds of whole steps, and no interval";
	if ((p->policy->needs & FIT_NEEDS_RATES) && p->fidelity->steps_round_ns && p->restart_ns > 0)
		return "this fidelity profile has no restart delay";
	if ((p->policy->needs & FIT_NEEDS_PROFILE) && !has_profile)
		return "this policy needs application profiles (--profile)";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_PLAN) && !p->policy->want_nodes)
		return "this policy has no plan of its own for the number of nodes";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_EFFICIENCY) && !p->policy->efficiency)
		return "this policy cannot tell the efficiency that the autoscaling rule needs";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_AGENTS) && !(p->policy->needs & FIT_ADAPTIVE) &&
	    !((p->autoscaler->needs & FIT_SCALES_EITHER) && p->policy->efficiency))
		return "the autoscaling rule needs jobs that adapt";
	if (!(p->autoscale_params.low > 0 && p->autoscale_params.low <= p->autoscale_params.high &&
	      p->autoscale_params.high <= 1))
		return "the bounds of utility are not 0 < low <= high <= 1";
	if (p->provision.start_ns < 0 || p->provision.idle_ns < 0 || p->provision.min_nodes < 0 ||
	    p->provision.start_ns > FIT_REPLAY_SPAN_MAX_NS || p->provision.idle_ns > FIT_REPLAY_SPAN_MAX_NS ||
	    p->cold_restart_ns > FIT_REPLAY_SPAN_MAX_NS)
		return "a delay or number of nodes is negative, or a delay over a century";
	if (!p->autoscaler && (p->provision.start_ns || p->provision.idle_ns || p->provision.min_nodes ||
			       p->cold_restart_ns >= 0))
		return "delays and bounds of nodes need an autoscaling rule";
	if ((p->policy->needs & FIT_NEEDS_PLAN) && !p->policy_params.boa && !p->policy_params.boa_given)
		return "this policy needs --speedups, and --plan or --budget";
	if ((p->policy->needs & FIT_NEEDS_PLAN_TIMES) && !p->policy_params.plan_times)
		return "this policy needs times of execution plans (--plan-times)";
	if (p->policy_params.rubick_models && !(p->policy->needs & FIT_CHOOSES_PLANS))
		return "this policy takes no models of plans";
	if (p->fidelity->rubick_as_run && (p->policy->needs & FIT_CHOOSES_PLANS) && !p->policy_params.rubick_models)
		return "under this fidelity this policy needs --models";
	if (!(p->policy->needs & FIT_NEEDS_ALLOCATIONS) != !p->policy_params.allocations)
		return p->policy_params.allocations ? "this policy has no use for allocations" :
		       "this policy needs a table of allocations (--allocations)";
	for (size_t i = 0; i < p->policy_params.queues.n_limits; i++)
		if (p->policy_params.queues.limit_s[i] <
		    (i ? p->policy_params.queues.limit_s[i - 1] : 0))
			return "the limits of queues are negative, or fall";
	if (!(p->policy_params.queues.promote >= 0 && p->policy_params.queues.promote < 1e15))
		return "the promotion factor is negative, or out of range";
	if (p->policy_params.pollux_power == 0)
		return "the power of the mean is 0";
	if (p->policy_params.sia_power == 0)
		return "the power of the goodputs is 0";
	if (p->models && !(p->policy->needs & FIT_ADAPTIVE))
		return "this policy takes no models";
	if (!(p->interference >= 0 && p->interference < 1))
		return "the interference is not from 0 to below 1";
	if ((p->policy->needs & FIT_SHARES) && !p->colocation)
		return "this policy needs measurements of jobs that share GPUs (--configs, --pairs)";
	if ((p->policy->needs & FIT_SHARES) && has_profile)
		return "this policy is for jobs of fixed duration";
	if (p->profiler.nodes && has_profile)
		return "profiling nodes are for jobs of fixed duration";
	if (p->profiler.nodes && fit_profiler_params_check(&p->profiler))
		return fit_profiler_params_check(&p->profiler);
	if (p->interference > 0 && !has_profile)
		return "interference needs application profiles";
	return NULL;
}
