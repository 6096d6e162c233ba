/* SPDX-License-Identifier: MIT */
#include "libfit/replay/utility.h"

#include "libfit/model/agent.h"
#include "libfit/replay/pollux_search.h"

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What the job has learned, and its application, on GPUs of a type. */
static struct fit_agent *agent_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	return type != FIT_ANY_TYPE && v->jobs[j].apps ? fit_view_agent_on(v, j, type) : fit_view_agent(v, j);
}

static struct fit_app *app_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	return type != FIT_ANY_TYPE && v->jobs[j].apps ? v->jobs[j].apps[type] : v->jobs[j].app;
}

static int64_t within_limits(const struct fit_app_info *a, int64_t tried, bool seeded)
{
	int64_t most = seeded ? FIT_POLLUX_REPLICAS_MAX : 2 * tried;

	most = least_of(most < 1 ? 1 : most, FIT_POLLUX_REPLICAS_MAX);
	most = least_of(most, a->max_batch / a->min_local_bsz);
	return a->max_replicas ? least_of(most, a->max_replicas) : most;
}

int64_t fit_view_most_replicas(const struct fit_view *v, uint32_t j)
{
	const struct fit_agent *agent = fit_view_agent(v, j);

	return within_limits(fit_app_info(v->jobs[j].app), agent->max_replicas_seen, agent->seeded);
}

int64_t fit_view_most_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	int64_t tried = 0;

	if (type == FIT_ANY_TYPE || !v->jobs[j].apps)
		return fit_view_most_replicas(v, j);
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if (app_on(v, j, t) && agent_on(v, j, t)->max_replicas_seen > tried)
			tried = agent_on(v, j, t)->max_replicas_seen;
	return within_limits(fit_app_info(app_on(v, j, type)), tried, agent_on(v, j, type)->seeded);
}

static bool is_of(const struct fit_view *v, uint32_t j, int32_t type)
{
	const struct fit_job *job = &v->jobs[j];

	if (type == FIT_ANY_TYPE)
		return true;
	if (fit_view_gpus(v, j))
		return fit_view_type(v, j) == type;
	return app_on(v, j, type) && (job->gpu_type == FIT_ANY_TYPE || job->gpu_type == type);
}

size_t fit_utility_jobs(const struct fit_view *v, int32_t type)
{
	size_t n, all = 0;
	const uint32_t *active = fit_view_active(v, &n);

	for (size_t i = 0; i < n; i++)
		all += is_of(v, active[i], type);
	return all;
}

/* Of one job, as a multiple of what it gets out of one GPU of its base. */
static int speedup(const struct fit_view *v, const struct fit_utility *u, uint32_t j, int64_t nodes,
		   int64_t gpus, double *out, struct fit_err *err)
{
	struct fit_agent *agent = agent_on(v, j, u->type);
	struct fit_goodput model;
	double base;
	int rc = FIT_OK;

	*out = (double)gpus;
	if (!gpus || !fit_agent_knows(agent))
		return FIT_OK;
	rc = fit_agent_refit(agent, err);
	if (rc)
		return rc;
	model = agent->model;
	model.fixed_efficiency = u->throughput;
	base = fit_goodput_best(&model, 1, u->base_gpus).goodput;
	*out = base > 0 ? fit_goodput_best(&model, nodes, gpus).goodput / base * (double)u->base_gpus : 0;
	return FIT_OK;
}

int fit_utility_of_size(const struct fit_view *v, const struct fit_utility *u, int64_t nodes, double *utility,
			struct fit_err *err)
{
	int64_t each = u->type == FIT_ANY_TYPE ? v->cluster->gpus[0] : v->cluster->types[u->type].max_node_gpus;
	int64_t gpus = nodes * each, all = (int64_t)fit_utility_jobs(v, u->type), k = 0;
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);
	double sum = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		int64_t share;
		double s = 0;

		if (!is_of(v, active[i], u->type))
			continue;
		share = gpus / all + (k++ < gpus % all);
		share = least_of(share, fit_view_most_on(v, active[i], u->type));
		rc = speedup(v, u, active[i], (share + each - 1) / each, share, &s, err);
		sum += s;
	}
	*utility = sum / (double)gpus;
	return rc;
}

int fit_utility_held(const struct fit_view *v, const struct fit_utility *u, int64_t nodes, double *utility,
		     struct fit_err *err)
{
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);
	double sum = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct fit_alloc *a = fit_view_alloc(v, active[i]);
		double s = 0;

		rc = speedup(v, u, active[i], (int64_t)a->n, a->gpus, &s, err);
		sum += s;
	}
	*utility = sum / (double)(nodes * v->cluster->gpus[0]);
	return rc;
}

int fit_utility_bisect(const struct fit_view *v, const struct fit_utility *u, int64_t least, int64_t most,
		       double target, int64_t *nodes, struct fit_err *err)
{
	int64_t lo = least, hi = most + 1;	/* utility is at least the target at lo, if anywhere; not at hi */
	double at, below = 0;
	int rc;

	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;

		rc = fit_utility_of_size(v, u, mid, &at, err);
		if (rc)
			return rc;
		if (at >= target)
			lo = mid;
		else
			hi = mid;
	}
	*nodes = lo;
	if (hi > most)
		return FIT_OK;
	rc = fit_utility_of_size(v, u, lo, &at, err);
	rc = rc ? rc : fit_utility_of_size(v, u, hi, &below, err);
	if (!rc && target - below < at - target)
		*nodes = hi;
	return rc;
}
