/* SPDX-License-Identifier: MIT */
#include "libfit/replay/gavel_problem.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

int fit_gavel_problem_init(struct fit_gavel_problem *g, const struct fit_view *v, struct fit_err *err)
{
	const struct fit_cluster *c = v->cluster;
	size_t k = (size_t)c->n_types;

	g->type = calloc(k, sizeof *g->type);
	g->gpus = calloc(k, sizeof *g->gpus);
	g->past = calloc(v->n_members ? v->n_members : 1, sizeof *g->past);
	if (!g->type || !g->gpus || !g->past)
		return fit_fail_nomem(err);
	for (size_t t = 0; t < k; t++) {	/* insertion sort by name */
		size_t at = t;

		for (; at && strcmp(c->types[g->type[at - 1]].name, c->types[t].name) > 0; at--)
			g->type[at] = g->type[at - 1];
		g->type[at] = t;
	}
	for (size_t t = 0; t < k; t++)
		g->gpus[t] = (double)c->types[g->type[t]].n_open;
	g->p = (struct fit_share_problem){ .n_types = k, .gpus = g->gpus };
	return FIT_OK;
}

void fit_gavel_problem_release(struct fit_gavel_problem *g)
{
	free(g->type);
	free(g->gpus);
	free(g->jobs);
	free(g->rates);
	free(g->x);
	free(g->past);
	*g = (struct fit_gavel_problem){ .type = NULL };
}

double fit_gavel_rate(const struct fit_gavel_problem *g, const struct fit_view *v, uint32_t j, size_t t)
{
	const struct fit_gpu_type *type = &v->cluster->types[g->type[t]];
	const struct fit_job *job = &v->jobs[j];

	if (job->gpus > type->n_open ||
	    (job->gpu_type != FIT_ANY_TYPE && (size_t)job->gpu_type != g->type[t]))
		return 0;
	return job->rates[2 * g->type[t] + (job->gpus > type->max_node_gpus && !v->fidelity->steps_anywhere)];
}

static void fill(struct fit_gavel_problem *g, const struct fit_view *v, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct fit_job *job = &v->jobs[list[i]];
		struct fit_gavel_past *past = &g->past[job->local];
		double done = fit_view_work(v, list[i]);

		if (past->rate_then > 0)
			past->isolated_s += (done - past->steps_then) / past->rate_then;
		past->steps_then = done;
		g->jobs[i] = (struct fit_share_job){
			.gpus = (double)job->gpus,
			.weight = job->weight,
			.steps = job->steps > done ? job->steps - done : 1e-6 * job->steps,
			.elapsed_s = fit_time_to_double(v->now_ns - fit_view_submit_ns(v, list[i])),
			.isolated_s = past->isolated_s,
		};
		for (size_t t = 0; t < g->p.n_types; t++)
			g->rates[i * g->p.n_types + t] = fit_gavel_rate(g, v, list[i], t);
	}
	g->p.n_jobs = n;
	g->p.jobs = g->jobs;
	g->p.rates = g->rates;
}

/* Same GPUs, weight and rates? */
static bool alike(const struct fit_gavel_problem *g, size_t a, size_t b)
{
	const double *ra = g->rates + a * g->p.n_types, *rb = g->rates + b * g->p.n_types;
	bool same = !(g->jobs[a].gpus < g->jobs[b].gpus) && !(g->jobs[a].gpus > g->jobs[b].gpus) &&
		    !(g->jobs[a].weight < g->jobs[b].weight) && !(g->jobs[a].weight > g->jobs[b].weight);

	for (size_t t = 0; t < g->p.n_types && same; t++)
		same = !(ra[t] < rb[t]) && !(ra[t] > rb[t]);
	return same;
}

/*
 * Jobs that are alike get alike shares: the mean of theirs. Where the objective sees no difference between
 * them that is an optimum as well, the programme being convex. It is where an interior point method
 * ends, in the middle of all optima; a vertex gives one of two jobs the better type and the other one the
 * worse.
 */
static void even_out(struct fit_gavel_problem *g)
{
	const size_t k = g->p.n_types;

	for (size_t i = 0; i < g->p.n_jobs; i++) {
		size_t n = 0;
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = !alike(g, i, j);
		for (size_t j = i + 1; j < g->p.n_jobs && first; j++)
			if (alike(g, i, j)) {
				for (size_t t = 0; t < k; t++)
					g->x[i * k + t] += g->x[j * k + t];
				n++;
			}
		for (size_t t = 0; t < k && n; t++)
			g->x[i * k + t] /= (double)(n + 1);
		for (size_t j = i + 1; j < g->p.n_jobs && n; j++)
			for (size_t t = 0; t < k && alike(g, i, j); t++)
				g->x[j * k + t] = g->x[i * k + t];
	}
}

int fit_gavel_solve(struct fit_gavel_problem *g, const struct fit_view *v,
		    const struct fit_share_objective *o, const uint32_t *list, size_t n,
		    struct fit_share_solution *s, struct fit_err *err)
{
	size_t cells = n * g->p.n_types;
	int rc;

	if (fit_grow(&g->jobs, &g->cap_jobs, n, sizeof *g->jobs) ||
	    fit_grow(&g->rates, &g->cap_rates, cells, sizeof *g->rates) ||
	    fit_grow(&g->x, &g->cap_x, cells, sizeof *g->x))
		return fit_fail_nomem(err);
	fill(g, v, list, n);
	rc = o->solve(&g->p, g->x, s, err);
	if (!rc && v->fidelity->gavel_evens && o->evens)
		even_out(g);
	for (size_t i = 0; i < n && !rc; i++)
		g->past[v->jobs[list[i]].local].rate_then = fit_share_isolated_rate(&g->p, i);
	return rc;
}
