/* SPDX-License-Identifier: MIT */
/* The active jobs of a part, and what policies see of jobs (policy.h). */
#include "libfit/base/num.h"
#include "libfit/replay/engine_state.h"

/* ---- the set of active jobs ---- */

int fit_engine_add_active(struct fit_part *p, uint32_t j)
{
	size_t i = p->active_n;

	if (fit_grow(&p->active, &p->active_cap, i + 1, sizeof *p->active))
		return FIT_ENOMEM;
	for (; i && p->active[i - 1] > j; i--)
		p->active[i] = p->active[i - 1];
	p->active[i] = j;
	p->active_n++;
	return FIT_OK;
}

void fit_engine_close_holes(const struct fit_engine *g, struct fit_part *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->active_n; i++)
		if (!fit_engine_is_finished(g, p->active[i]))
			p->active[n++] = p->active[i];
	p->active_n = n;
	p->active_holes = 0;
}

double fit_engine_job_work(const struct fit_engine *g, uint32_t j)
{
	const struct job_state *s = fit_engine_state(g, j);

	return g->model->work(fit_engine_job(g, j), &s->run,
			      s->status == RUNNING ? g->now_ns : s->run.from_ns);
}

int64_t fit_engine_restart_ns(const struct fit_engine *g, uint32_t j)
{
	const struct fit_job *job = fit_engine_job(g, j);

	if (g->p->restart_ns >= 0)
		return g->p->restart_ns;
	if ((job->app || job->rates) && fit_fidelity_app(g->p->fidelity, job->app_name))
		return fit_fidelity_app(g->p->fidelity, job->app_name)->restart_ns;
	return job->app ? fit_app_info(job->app)->restart_ns :
	       job->job_class ? job->job_class->restart_ns[fit_engine_state(g, j)->run.type] : 0;
}

/* ---- what policies see ---- */

const uint32_t *fit_view_active(const struct fit_view *v, size_t *n)
{
	struct fit_part *p = (struct fit_part *)(uintptr_t)v->part;

	if (p->active_holes)
		fit_engine_close_holes(v->engine, p);
	*n = p->active_n;
	return p->active;
}

const struct fit_job *fit_view_job(const struct fit_view *v, uint32_t j)
{
	return fit_engine_job(v->engine, j);
}

uint32_t fit_view_slot(const struct fit_view *v, uint32_t j)
{
	return fit_engine_slot(v->engine, j);
}

int64_t fit_view_gpus(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->alloc.gpus;
}

int32_t fit_view_type(const struct fit_view *v, uint32_t j)
{
	const struct fit_alloc *a = &fit_engine_state(v->engine, j)->alloc;

	return a->n ? v->cluster->type[a->shares[0].node] : FIT_ANY_TYPE;
}

const struct fit_alloc *fit_view_alloc(const struct fit_view *v, uint32_t j)
{
	return &fit_engine_state(v->engine, j)->alloc;
}

bool fit_view_alone(const struct fit_view *v, uint32_t j)
{
	const struct job_state *s = fit_engine_state(v->engine, j);

	return s->status == RUNNING && s->partner == NOBODY && !s->marked;
}

int64_t fit_view_restarts(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->restarts;
}

int64_t fit_view_submit_ns(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->submit_ns;
}

int64_t fit_view_service_gpu_ns(const struct fit_view *v, uint32_t j)
{
	const struct job_state *s = fit_engine_state(v->engine, j);

	return s->service_gpu_ns + s->alloc.gpus * (v->now_ns - s->since_ns);
}

struct fit_agent *fit_view_agent(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->run.agent;
}

uint16_t fit_view_exec_plan(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->run.exec_plan;
}

struct fit_agent *fit_view_agent_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	return &fit_engine_state(v->engine, j)->run.agents[type];
}

bool fit_view_restarting(const struct fit_view *v, uint32_t j)
{
	const struct job_state *s = fit_engine_state(v->engine, j);

	return s->status == RUNNING && s->run.from_ns > v->now_ns;
}

int64_t fit_view_restart_ns(const struct fit_view *v, uint32_t j)
{
	return fit_engine_restart_ns(v->engine, j);
}

int64_t fit_view_epoch(const struct fit_view *v, uint32_t j)
{
	return fit_engine_state(v->engine, j)->run.epoch;
}

double fit_view_work(const struct fit_view *v, uint32_t j)
{
	return fit_engine_job_work(v->engine, j);
}

/* So many iterations by the job's own plan on what it asks for, packed. */
static int predict_plans(const struct fit_view *v, uint32_t j, double iterations, int64_t *ns,
			 struct fit_err *err)
{
	const struct fit_job *job = fit_view_job(v, j);
	double s = fit_plan_app_packed(job->plans, job->exec_plan, job->gpus, v->cluster->max_node_gpus,
				       v->fidelity->any_plan_time);

	return !(s > 0) || fit_time_from_double((iterations > 0 ? iterations : 0) * s, ns) ?
	       fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id) : FIT_OK;
}

int fit_predict_remaining(const struct fit_view *v, uint32_t j, int64_t *ns, struct fit_err *err)
{
	const struct fit_job *job = fit_view_job(v, j);
	double left_s, work = fit_view_work(v, j);
	int rc;

	if (job->job_class) {
		left_s = fit_job_class_left_s(job->job_class, fit_view_epoch(v, j), work, job->gpu_type,
					      job->gpus);
		return fit_time_from_double(left_s, ns) ?
		       fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id) : FIT_OK;
	}
	if (job->plans)
		return predict_plans(v, j, (double)job->iterations - work, ns, err);
	if (!job->app) {
		const struct job_state *s = fit_engine_state(v->engine, j);
		bool flows = s->alloc.gpus && v->now_ns > s->run.from_ns;

		*ns = job->duration_ns - s->run.done_ns - (flows ? v->now_ns - s->run.from_ns : 0);
		*ns = *ns > 0 ? *ns : 0;
		return FIT_OK;
	}
	rc = fit_predictor_left(&((struct fit_engine *)(uintptr_t)v->engine)->predictor, job,
				fit_view_epoch(v, j), work, &left_s, err);
	if (!rc && fit_time_from_double(left_s, ns))
		rc = fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id);
	return rc;
}

int fit_predict_duration(const struct fit_view *v, uint32_t j, int64_t *ns, struct fit_err *err)
{
	const struct fit_job *job = fit_view_job(v, j);
	double left_s;
	int rc;

	if (job->job_class) {
		left_s = fit_job_class_left_s(job->job_class, 0, 0, job->gpu_type, job->gpus);
		return fit_time_from_double(left_s, ns) ?
		       fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id) : FIT_OK;
	}
	if (job->plans)
		return predict_plans(v, j, (double)job->iterations, ns, err);
	if (!job->app) {
		*ns = job->duration_ns;
		return FIT_OK;
	}
	rc = fit_predictor_left(&((struct fit_engine *)(uintptr_t)v->engine)->predictor, job, 0, 0, &left_s,
				err);
	if (!rc && fit_time_from_double(left_s, ns))
		rc = fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id);
	return rc;
}
