/* SPDX-License-Identifier: MIT */
/* How jobs come: in their order, when there is room, by way of the profiler where there is one. */
#include "libfit/replay/engine_state.h"

#include <stdlib.h>

/* ---- their order ---- */

static int by_submit(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Arrival order: by time, then by index. Jobs are in that order already unless file order holds. */
int fit_engine_order_arrivals(struct fit_engine *g)
{
	size_t n = g->jobs->n;
	int64_t (*key)[2];

	if (g->jobs->stream)
		return FIT_OK;
	g->n_arrivals = n;
	if (!g->p->fidelity->file_order)
		return FIT_OK;
	g->arrivals = malloc((n ? n : 1) * sizeof *g->arrivals);
	key = malloc((n ? n : 1) * sizeof *key);
	if (!g->arrivals || !key) {
		free(key);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		key[i][0] = g->jobs->jobs[i].submit_ns;
		key[i][1] = (int64_t)i;
	}
	qsort(key, n, sizeof *key, by_submit);
	for (size_t i = 0; i < n; i++)
		g->arrivals[i] = (uint32_t)key[i][1];
	free(key);
	return FIT_OK;
}

/* ---- admission ---- */

/* The agent of a job. Where models are given it starts from one, with the gradient statistics that its
 * first steps at the initial batch size will show. */
static int hire_agent(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_job *job = fit_engine_job(g, j);
	const struct fit_app_info *info = fit_app_info(job->app);
	const bool by_type = job->apps && !(g->p->policy->needs & FIT_BLIND);
	const int n = by_type ? fit_engine_part_of(g, j)->cluster->n_types : 1;
	struct fit_agent *a = calloc((size_t)n, sizeof *a);
	const struct fit_theta *theta;
	double sqr, var;
	int rc;

	if (!a)
		return fit_fail_nomem(err);
	fit_engine_state(g, j)->run.agents = fit_engine_state(g, j)->run.agent = a;
	fit_engine_state(g, j)->run.n_agents = n;
	for (int t = 0; t < n; t++) {
		if (job->apps && !job->apps[t])
			continue;
		fit_agent_init(&a[t], fit_app_info(job->apps ? job->apps[t] : job->app), g->fitter);
		a[t].loose_tol = g->p->fidelity->fit_tol;
		a[t].model.fixed_batch = job->kind == FIT_JOB_ADAPTIVE ? 0 : job->batch_size;
	}
	if (!g->p->models)
		return FIT_OK;
	theta = fit_theta_list_find(g->p->models, fit_text_of(job->app_name));
	if (!theta)
		return fit_fail(err, FIT_EDATA, "job %s: no model of application '%s'", job->id, job->app_name);
	rc = fit_app_grad_stats(job->app, info->init_batch, 0, &sqr, &var, err);
	if (!rc)
		fit_agent_seed(a, theta, sqr, var);
	return rc;
}

/* A job enters the queue of its part. */
static int enter(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct fit_part *p = fit_engine_part_of(g, j);
	int rc = FIT_OK;

	fit_engine_state(g, j)->status = WAITING;
	p->news = true;
	if (fit_engine_add_active(p, j))
		return fit_fail_nomem(err);
	if (g->p->policy->needs & FIT_ADAPTIVE) {
		rc = hire_agent(g, j, err);
		if (rc)
			return rc;
	}
	if (g->p->policy->arrive)
		rc = g->p->policy->arrive(p->policy_state, fit_engine_view_of(g, p), j, err);
	return rc;
}

/* Does a job that is submitted enter the queue, or does it wait for its profile? */
static bool enters_at_once(const struct fit_engine *g, uint32_t j)
{
	const struct fit_job *job = fit_engine_job(g, j);

	return !fit_profiler_takes(&g->p->profiler, job) ||
	       (g->p->fidelity->profiling_overlaps && !fit_profiler_finishes(&g->p->profiler, job));
}

int fit_engine_arrive(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_job *job = fit_engine_job(g, j);
	int rc = fit_log_submit(&g->log, g->now_ns, job, false, err);

	g->counts.events++;
	if (!rc && fit_engine_take_slot(g, j))
		return fit_fail_nomem(err);
	if (!rc && job->too_large) {
		fit_engine_state(g, j)->status = REJECTED;
		rc = fit_log_submit(&g->log, g->now_ns, job, true, err);
		fit_engine_leave_slot(g, j);
		return rc;
	}
	if (rc)
		return rc;
	fit_engine_state(g, j)->submit_ns = g->now_ns;
	g->in_system++;
	if (!enters_at_once(g, j)) {
		fit_engine_state(g, j)->status = PROFILING;
		return FIT_OK;
	}
	return enter(g, j, err);
}

/* ---- the profiler ---- */

int fit_engine_profile_event(struct fit_engine *g, const struct fit_profile_event *x, struct fit_err *err)
{
	const struct fit_job *job = fit_engine_job(g, x->job);
	bool done = g->profiling.jobs[x->job].finished;
	double work = fit_time_to_double(x->ends && done ? job->duration_ns : 0);
	const char *name = done ? (x->ends ? "finish" : "start") : (x->ends ? "profiled" : "profile");
	int rc = fit_engine_log_profile(g, name, x->job, !x->ends, work, err);

	if (rc || !x->ends)
		return rc;
	if (done) {
		fit_engine_state(g, x->job)->status = FINISHED;
		g->in_system--;
		g->unfinished--;
		g->counts.end_ns = g->now_ns;
		fit_engine_leave_slot(g, x->job);
		return FIT_OK;
	}
	return g->p->fidelity->profiling_overlaps ? FIT_OK : enter(g, x->job, err);
}
