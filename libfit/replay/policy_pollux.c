/* SPDX-License-Identifier: MIT */
/*
 * Pollux (Qiao et al., OSDI'21): allocations that make a power mean of the jobs' speedups largest,
 * where the speedup of a job is its goodput, as its agent predicts it, over that of its fair share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/agent.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/pollux_nodes.h"
#include "libfit/replay/pollux_search.h"
#include "libfit/replay/utility.h"

/* Predicted goodput of a job by (several nodes?, replicas), as of a version of its agent. */
struct curve {
	uint64_t version;
	int upto;
	double goodput[2][FIT_POLLUX_REPLICAS_MAX + 1];
};

struct ordered {
	int64_t service_gpu_ns, submit_ns;
	uint32_t job;
};

struct pollux {
	struct fit_policy_params params;
	struct fit_pollux_ga *ga;
	struct fit_pollux_local *local;
	struct curve **curves;		/* per job; NULL before they are asked for */
	size_t n_jobs;
	struct ordered *order;
	size_t order_cap;
	struct fit_pollux_job *jobs;
	size_t jobs_cap;
	uint8_t *current, *row;
	size_t current_cap, row_cap;
	struct fit_pollux_nodes nodes;	/* the columns of the problem */
	bool *leaves;			/* by place in the order: holds GPUs of a closed node */
	size_t leaves_cap;
	struct fit_share *shares;
	size_t shares_cap;
};

static void pollux_free(void *state)
{
	struct pollux *s = state;

	for (size_t i = 0; s->curves && i < s->n_jobs; i++)
		free(s->curves[i]);
	free(s->curves);
	fit_pollux_ga_free(s->ga);
	fit_pollux_local_free(s->local);
	free(s->order);
	free(s->jobs);
	free(s->current);
	free(s->row);
	fit_pollux_nodes_release(&s->nodes);
	free(s->leaves);
	free(s->shares);
	free(s);
}

static int pollux_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		       struct fit_err *err)
{
	struct pollux *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return fit_fail_nomem(err);
	s->params = *p;
	s->n_jobs = v->n_jobs;
	s->curves = calloc(v->n_jobs ? v->n_jobs : 1, sizeof(struct curve *));
	rc = s->curves ? fit_pollux_ga_new(&s->ga, p->seed, err) : fit_fail_nomem(err);
	rc = rc ? rc : fit_pollux_local_new(&s->local, err);
	if (rc) {
		pollux_free(s);
		return rc;
	}
	*state = s;
	return FIT_OK;
}

static void pollux_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct pollux *s = state;

	(void)v;
	free(s->curves[j]);
	s->curves[j] = NULL;
	if (fit_pollux_nodes_keep(&s->nodes, j, NULL))
		return;		/* it holds nothing any more: nothing that could fail */
}

static int by_service(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->service_gpu_ns != b->service_gpu_ns)
		return a->service_gpu_ns < b->service_gpu_ns ? -1 : 1;
	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

static int goodput_curve(struct pollux *s, const struct fit_view *v, uint32_t j, int upto,
			 const struct curve **out, struct fit_err *err)
{
	struct fit_agent *agent = fit_view_agent(v, j);
	struct curve *c = s->curves[j];
	int rc = fit_agent_refit(agent, err);

	if (rc)
		return rc;
	if (!c) {
		c = s->curves[j] = calloc(1, sizeof *c);
		if (!c)
			return fit_fail_nomem(err);
	}
	if (c->version != agent->version) {
		c->version = agent->version;
		c->upto = 0;
	}
	for (; c->upto < upto; c->upto++) {
		int r = c->upto + 1;

		c->goodput[0][r] = fit_goodput_best(&agent->model, 1, r).goodput;
		c->goodput[1][r] = r > 1 ? fit_goodput_best(&agent->model, 2, r).goodput : 0;
	}
	*out = c;
	return FIT_OK;
}

/* Speedups over the fair share of the cluster. A job that never ran is taken to scale linearly. */
static int fill_job(struct pollux *s, const struct fit_view *v, uint32_t j, int64_t fair,
		    struct fit_pollux_job *out, struct fit_err *err)
{
	struct fit_agent *agent = fit_view_agent(v, j);
	int64_t age_ns = v->now_ns - fit_view_submit_ns(v, j), delay_ns = fit_view_restart_ns(v, j);
	int64_t left_ns = age_ns - delay_ns * fit_view_restarts(v, j);
	const struct curve *c = NULL;
	struct fit_goodput_point base = { 0 };
	int rc = FIT_OK;

	out->id = j;
	out->max_replicas = (int)fit_view_most_replicas(v, j);
	if (out->max_replicas > fit_pollux_nodes_most(v->cluster))
		out->max_replicas = (int)fit_pollux_nodes_most(v->cluster);
	if (left_ns > 0)
		out->restart_factor = (double)left_ns / (double)(age_ns + delay_ns);
	else
		out->restart_factor = 0;
	out->speedup[0][0] = out->speedup[1][0] = 0;
	if (fit_agent_knows(agent)) {
		int64_t nodes = v->fidelity->pollux_fair_share_on_one_node ? 1 :
				(fair + v->cluster->max_node_gpus - 1) / v->cluster->max_node_gpus;

		rc = goodput_curve(s, v, j, out->max_replicas, &c, err);
		if (rc)
			return rc;
		base = fit_goodput_best(&agent->model, nodes, fair);
		/* where the fair share is more than the job can use, its best size is the measure */
		for (int r = out->max_replicas; r >= 1 && !(base.goodput > 0); r--)
			base.goodput = c->goodput[0][r];
	}
	for (int r = 1; r <= out->max_replicas; r++) {
		for (int several = 0; several < 2; several++)
			out->speedup[several][r] = !c ? (double)r / (double)fair :
						   base.goodput > 0 ? c->goodput[several][r] / base.goodput : 0;
	}
	return FIT_OK;
}

static int make_problem(struct pollux *s, const struct fit_view *v, struct fit_pollux_problem *p,
			struct fit_err *err)
{
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);
	int64_t fair = (v->cluster->n_open + (int64_t)n - 1) / (int64_t)n;
	const size_t m = s->nodes.n;
	int rc = FIT_OK;

	if (fit_grow(&s->order, &s->order_cap, n, sizeof *s->order) ||
	    fit_grow(&s->jobs, &s->jobs_cap, n, sizeof *s->jobs) ||
	    fit_grow(&s->current, &s->current_cap, n * m, 1) ||
	    fit_grow(&s->row, &s->row_cap, m, 1) ||
	    fit_grow(&s->shares, &s->shares_cap, m, sizeof *s->shares) ||
	    fit_grow(&s->leaves, &s->leaves_cap, n, sizeof *s->leaves))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		s->order[i] = (struct ordered){ fit_view_service_gpu_ns(v, active[i]),
						fit_view_submit_ns(v, active[i]), active[i] };
	qsort(s->order, n, sizeof *s->order, by_service);
	for (size_t i = 0; i < n && !rc; i++) {
		rc = fill_job(s, v, s->order[i].job, fair, &s->jobs[i], err);
		s->leaves[i] = !fit_pollux_nodes_row(&s->nodes, v, s->order[i].job, s->current + i * m);
	}
	*p = (struct fit_pollux_problem){
		.n_jobs = (int)n,
		.n_nodes = (int)m,
		.n_gpus = (int)v->cluster->n_open,
		.jobs = s->jobs,
		.capacity = s->nodes.capacity,
		.current = s->current,
		.power = s->params.pollux_power,
		.avoid_interference = !s->params.pollux_interfere,
		.carry_rows_by_position = v->fidelity->pollux_search_defects,
		.interference_zeroes_all = v->fidelity->pollux_search_defects,
		.current_not_seeded = v->fidelity->pollux_search_defects,
	};
	return rc;
}

/* Search, and tell the listener. With both searches the state of the genetic one is applied. */
static int search(struct pollux *s, const struct fit_view *v, const struct fit_pollux_problem *p,
		  const uint8_t **best, struct fit_err *err)
{
	double f[2] = { 0, 0 }, other[2] = { (double)NAN, 0 }, bound = (double)NAN;
	const uint8_t *found;
	int rc = FIT_OK;

	if (s->params.pollux_search != FIT_SEARCH_GA)
		rc = fit_pollux_local_search(s->local, p, best, f, &bound, err);
	if (s->params.pollux_search == FIT_SEARCH_BOTH)
		other[0] = f[0];
	if (!rc && s->params.pollux_search != FIT_SEARCH_LOCAL) {
		rc = fit_pollux_ga_search(s->ga, p, &found, f, err);
		*best = found;
	}
	if (!rc && s->params.pollux_found)
		s->params.pollux_found(s->params.pollux_listener, v->now_ns, p->n_jobs, -f[0], bound, -other[0]);
	return rc;
}

/* What the search found for a job becomes its allocation, unless that is what it holds. */
static int apply(struct pollux *s, const struct fit_view *v, uint32_t j, const uint8_t *found,
		 const uint8_t *held, struct fit_plan *plan)
{
	const size_t m = s->nodes.n;
	size_t n;

	memcpy(s->row, found, m);
	if (s->nodes.several)
		fit_pollux_nodes_one_type(&s->nodes, v, j, s->row);
	if (held && memcmp(s->row, held, m) == 0)
		return FIT_OK;
	n = fit_pollux_nodes_shares(&s->nodes, s->row, s->shares);
	if (fit_pollux_nodes_keep(&s->nodes, j, n ? s->row : NULL))
		return FIT_ENOMEM;
	return fit_plan_place(plan, j, s->shares, n);
}

static int pollux_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct pollux *s = state;
	struct fit_pollux_problem p;
	const uint8_t *best = NULL;
	int rc = fit_pollux_nodes_find(&s->nodes, v) ? fit_fail_nomem(err) : FIT_OK;

	if (rc || !s->nodes.n)	/* no node is up yet */
		return rc;
	rc = make_problem(s, v, &p, err);
	rc = rc ? rc : search(s, v, &p, &best, err);
	for (size_t i = 0; !rc && i < (size_t)p.n_jobs; i++)
		if (apply(s, v, s->jobs[i].id, best + i * s->nodes.n,
			  s->leaves[i] ? NULL : s->current + i * s->nodes.n, plan))
			rc = fit_fail_nomem(err);
	return rc;
}

static int pollux_describe(const struct fit_policy_params *p, const struct fit_view *v,
			   struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];
	int rc;

	fit_format_double(text, p->pollux_power);
	rc = fit_meta_add(meta, "pollux_p", text);
	rc = rc ? rc : fit_meta_add(meta, "pollux_interference", p->pollux_interfere ? "allowed" : "avoided");
	rc = rc ? rc : fit_meta_add(meta, "pollux_search", p->pollux_search == FIT_SEARCH_LOCAL ? "local" :
				    v->fidelity->pollux_search_defects ? "ga-reference" : "ga");
	fit_format_int64(text, (int64_t)p->seed);
	return rc ? rc : fit_meta_add(meta, "seed", text);
}

const struct fit_policy fit_policy_pollux = {
	.name = "pollux",
	.summary = "power mean of goodput speedups, batch sizes adapt (Pollux)",
	.needs = FIT_NEEDS_PROFILE | FIT_NEEDS_INTERVAL | FIT_ADAPTIVE | FIT_SEEDED | FIT_DRAINS | FIT_BLIND |
		 FIT_MOLDS,
	.init = pollux_init,
	.free = pollux_free,
	.leave = pollux_leave,
	.decide = pollux_decide,
	.describe = pollux_describe,
};
