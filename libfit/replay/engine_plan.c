/* SPDX-License-Identifier: MIT */
/* A plan: what a policy may ask for, held to the same rules for all, and how that takes effect. */
#include "libfit/replay/engine_state.h"

#include <string.h>

/* ---- what the policy asks for ---- */

static int add_grant(struct fit_plan *p, struct grant g)
{
	struct job_state *s = fit_engine_state(p->engine, g.job);

	g.with = g.sharing ? g.with : NOBODY;
	g.exec_plan = g.planned ? g.exec_plan : s->run.exec_plan;
	if (s->in_plan || g.gpus < 0 || (s->status != WAITING && s->status != RUNNING))
		return FIT_EINVAL;
	if (fit_grow(&p->grants, &p->cap, p->n + 1, sizeof *p->grants))
		return FIT_ENOMEM;
	s->in_plan = true;
	p->grants[p->n++] = g;
	return FIT_OK;
}

int fit_plan_grant_type(struct fit_plan *p, uint32_t j, int64_t gpus, int32_t type)
{
	const struct fit_alloc *held = &fit_engine_state(p->engine, j)->alloc;

	if (held->gpus == gpus &&
	    (!gpus || type == FIT_ANY_TYPE || p->part->cluster->type[held->shares[0].node] == type))
		return FIT_OK;
	return add_grant(p, (struct grant){ .job = j, .gpus = gpus, .type = type });
}

int fit_plan_grant(struct fit_plan *p, uint32_t j, int64_t gpus)
{
	return fit_plan_grant_type(p, j, gpus, fit_engine_job(p->engine, j)->gpu_type);
}

int fit_plan_place(struct fit_plan *p, uint32_t j, const struct fit_share *shares, size_t n)
{
	return fit_plan_place_as(p, j, shares, n, fit_engine_state(p->engine, j)->run.exec_plan);
}

int fit_plan_place_as(struct fit_plan *p, uint32_t j, const struct fit_share *shares, size_t n,
		      uint16_t exec_plan)
{
	const struct job_state *s = fit_engine_state(p->engine, j);
	const struct fit_alloc *held = s->ghost.n ? &s->ghost : &s->alloc;
	struct grant g = { .job = j, .shares_at = p->shares_n, .n_shares = n, .planned = true,
			   .exec_plan = exec_plan };
	bool as_many = held->n == n, same;

	for (size_t i = 0; i < n; i++) {
		g.gpus += shares[i].gpus;
		as_many = as_many && held->shares[i].gpus == shares[i].gpus;
	}
	same = as_many && !s->ghost.n;
	for (size_t i = 0; i < n && same; i++)
		same = held->shares[i].node == shares[i].node;
	g.shifts = as_many && n && p->engine->p->fidelity->free_shifts;
	if (g.shifts)
		g.exec_plan = s->run.exec_plan;
	if (!n && s->ghost.n)
		return FIT_OK;
	if (same && (!n || g.exec_plan == s->run.exec_plan))
		return FIT_OK;
	if (fit_grow(&p->shares, &p->shares_cap, p->shares_n + n, sizeof *p->shares))
		return FIT_ENOMEM;
	if (n)
		memcpy(p->shares + p->shares_n, shares, n * sizeof *shares);
	p->shares_n += n;
	return add_grant(p, g);
}

int fit_plan_want_nodes(struct fit_plan *p, int32_t type, int64_t nodes)
{
	if (nodes < 0 || type < 0 || type >= p->part->cluster->n_types)
		return FIT_EINVAL;
	p->want_nodes[type] = nodes;
	return FIT_OK;
}

/* With applications by type: the first type on which the job was measured. */
static int take_placed(struct fit_engine *g, struct fit_part *p, const struct fit_job *j, int32_t type,
		       int64_t gpus, struct fit_alloc *a)
{
	uint64_t draw = 0;
	int rc = FIT_END;

	if (g->placing && gpus <= p->cluster->n_free)
		draw = (uint64_t)gsl_rng_get(g->placing) << 32 | gsl_rng_get(g->placing);
	if (type != FIT_ANY_TYPE || !j->apps)
		return fit_placement_take_type(p->cluster, g->p->placement, type, gpus, draw, a);
	for (int32_t t = 0; t < p->cluster->n_types && rc == FIT_END; t++)
		if (fit_job_runs_on(j, t))
			rc = fit_placement_take_type(p->cluster, g->p->placement, t, gpus, draw, a);
	return rc;
}

int fit_plan_try(struct fit_plan *p, uint32_t j, bool *fits)
{
	struct fit_engine *g = p->engine;
	struct grant r = { .job = j, .gpus = fit_engine_job(g, j)->gpus, .taken = true };
	int rc;

	if (fit_engine_state(g, j)->status != WAITING || fit_engine_state(g, j)->in_plan)
		return FIT_EINVAL;
	rc = take_placed(g, p->part, fit_engine_job(g, j), fit_engine_job(g, j)->gpu_type, r.gpus,
			 &fit_engine_state(g, j)->alloc);
	*fits = rc == FIT_OK;
	return rc == FIT_END ? FIT_OK : rc ? rc : add_grant(p, r);
}

int fit_plan_share(struct fit_plan *p, uint32_t j, uint32_t with)
{
	struct fit_engine *g = p->engine;
	const struct job_state *w = fit_engine_state(g, with);

	if (!g->shares || fit_engine_state(g, j)->status != WAITING || w->partner != NOBODY ||
	    !(w->status == RUNNING || w->in_plan) || fit_engine_job(g, j)->gpus != fit_engine_job(g, with)->gpus)
		return FIT_EINVAL;
	return add_grant(p, (struct grant){ .job = j, .with = with, .sharing = true, .taken = true,
					    .gpus = fit_engine_job(g, j)->gpus });
}

/* ---- how it takes effect ---- */

/* The nodes that a grant names, or those that the placement gives. FIT_END: the placement finds none. */
static int take_nodes(struct fit_engine *g, const struct grant *r, struct fit_alloc *a)
{
	struct fit_part *p = fit_engine_part_of(g, r->job);

	if (r->with != NOBODY) {
		const struct fit_alloc *held = &fit_engine_state(g, r->with)->alloc;

		if (fit_engine_state(g, r->with)->status != RUNNING || fit_engine_state(g, r->with)->partner != NOBODY)
			return FIT_EINVAL;
		if (fit_grow(&a->shares, &a->cap, held->n, sizeof *a->shares))
			return FIT_ENOMEM;
		memcpy(a->shares, held->shares, held->n * sizeof *a->shares);
		a->n = held->n;
		a->gpus = held->gpus;
		return FIT_OK;
	}
	if (r->taken)
		return FIT_OK;
	if (!r->n_shares)
		return r->gpus > p->cluster->n_free ? FIT_EINVAL :
		       take_placed(g, p, fit_engine_job(g, r->job), r->type, r->gpus, a);
	if (fit_grow(&a->shares, &a->cap, r->n_shares, sizeof *a->shares))
		return FIT_ENOMEM;
	memcpy(a->shares, g->plan.shares + r->shares_at, r->n_shares * sizeof *a->shares);
	a->n = r->n_shares;
	a->gpus = r->gpus;
	return fit_cluster_take_shares(p->cluster, a);
}

/* A running job has lost its GPUs. */
static int preempt(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_fidelity *f = g->p->fidelity;
	struct job_state *s = fit_engine_state(g, j);
	int rc;

	s->status = WAITING;
	g->running--;
	if (!fit_engine_job(g, j)->app)
		s->run.done_ns -= fit_engine_job(g, j)->gpus > f->preempt_wide_gpus ? f->preempt_wide_work_ns :
				  f->preempt_work_ns;
	rc = fit_engine_log_job(g, "preempt", j, false, err);
	return rc ? rc : fit_engine_tell_changed(g, j, err);
}

/* A running job is left without GPUs, and does not notice. */
static int haunt(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	struct fit_alloc none = s->ghost;

	fit_cluster_give(fit_engine_part_of(g, j)->cluster, &s->alloc);
	s->service_gpu_ns += s->alloc.gpus * (g->now_ns - s->since_ns);
	s->since_ns = g->now_ns;
	s->ghost = s->alloc;
	s->alloc = none;
	s->alloc.n = 0;
	s->alloc.gpus = 0;
	return fit_engine_log_job(g, "lose", j, false, err);
}

/* The placement found no room: the job waits (on). */
static int go_without(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	return fit_engine_state(g, j)->status == RUNNING ? preempt(g, j, err) : FIT_OK;
}

static bool is_listed(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Speeds of a and b on the same GPUs; 1 where the pair was not measured. */
static void speeds(struct fit_engine *g, uint32_t a, uint32_t b, double *speed_a, double *speed_b)
{
	const char *const *unmeasured = g->p->fidelity->unmeasured;

	g->counts.shared++;
	if (!is_listed(unmeasured, fit_engine_job(g, a)->app_name) &&
	    !is_listed(unmeasured, fit_engine_job(g, b)->app_name) &&
	    fit_colocation_speeds(g->p->colocation, fit_engine_job(g, a)->config, fit_engine_job(g, b)->config,
				  speed_a, speed_b))
		return;
	*speed_a = *speed_b = 1;
	g->counts.unmeasured++;
}

/* What the job's model knows of the GPUs that it got. */
static void set_type(struct fit_engine *g, uint32_t j)
{
	const struct fit_job *job = fit_engine_job(g, j);
	struct job_state *s = fit_engine_state(g, j);
	const struct fit_fidelity_app *f;

	s->run.app = job->app;
	if (!job->app)
		return;
	f = fit_fidelity_app(g->p->fidelity, job->app_name);
	s->run.calibration = f ? f->calibration : 0;
	s->run.caps_batch = (g->p->policy->needs & FIT_CAPS_BATCH) || g->p->fidelity->batch_as_measured;
	if (job->apps) {
		const struct fit_cluster *c = fit_engine_part_of(g, j)->cluster;
		int32_t type = c->type[s->alloc.shares[0].node];

		s->run.app = job->apps[type];
		if (s->run.n_agents > 1)
			s->run.agent = &s->run.agents[type];
		s->run.caps_batch = s->run.caps_batch || (g->p->policy->needs & FIT_BLIND && c->n_types > 1);
	}
}

/* Keep what the job holds in mind. */
static int remember(struct job_state *s)
{
	if (fit_grow(&s->was.shares, &s->was.cap, s->alloc.n, sizeof *s->was.shares))
		return FIT_ENOMEM;
	if (s->alloc.n)
		memcpy(s->was.shares, s->alloc.shares, s->alloc.n * sizeof *s->was.shares);
	s->was.n = s->alloc.n;
	return FIT_OK;
}

/* As many GPUs of the same type on as many nodes, in the same order, and that is all that matters? */
static bool keeps_shape(const struct fit_engine *g, const struct fit_cluster *c, const struct job_state *s)
{
	const struct fit_alloc *a = &s->alloc, *b = &s->was;

	if (!g->p->fidelity->shape_is_all || s->status != RUNNING || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->shares[i].gpus != b->shares[i].gpus || c->type[a->shares[i].node] != c->type[b->shares[i].node])
			return false;
	return true;
}

static int place(struct fit_engine *g, const struct grant *r, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, r->job);
	const struct fit_job *job = fit_engine_job(g, r->job);
	bool shifts = r->shifts && s->status == RUNNING;
	const char *event = s->status == RUNNING ? "move" : s->started ? "resume" : "start";
	double other = 1;
	bool keeps;
	int rc = take_nodes(g, r, &s->alloc);

	if (rc == FIT_EINVAL)
		return fit_fail(err, FIT_EINVAL, "policy %s grants %lld GPUs to job %s, but %lld are free",
				g->p->policy->name, (long long)r->gpus, job->id,
				(long long)fit_engine_part_of(g, r->job)->cluster->n_free);
	if (rc == FIT_END)
		return go_without(g, r->job, err);
	if (rc)
		return fit_fail_nomem(err);
	keeps = keeps_shape(g, fit_engine_part_of(g, r->job)->cluster, s);
	event = shifts || keeps ? "shift" : event;
	g->counts.restarts += s->started && !shifts && !keeps;
	s->restarts += s->started && !shifts && !keeps;
	s->since_ns = g->now_ns;
	s->order = g->placed++;
	s->marked = false;
	s->run.rate_shared = 1;
	s->run.count_ns = g->p->fidelity->count_ns;
	if (r->with != NOBODY) {
		speeds(g, r->job, r->with, &s->run.rate_shared, &other);
		s->partner = r->with;
	}
	s->run.notice_ns = g->p->policy->needs & FIT_COUNTS_DOWN ? g->p->fidelity->notice_ns : 0;
	s->run.fidelity = g->p->fidelity;
	s->run.exec_plan = r->exec_plan;
	s->run.type = fit_engine_part_of(g, r->job)->cluster->type[s->alloc.shares[0].node];
	s->run.anywhere = g->p->fidelity->steps_anywhere;
	s->run.round_ns = g->p->fidelity->steps_round_ns;
	s->run.slowdown = 0;	/* fit_engine_set_slowdowns() looks at all jobs once they are placed */
	g->running += s->status != RUNNING;
	s->status = RUNNING;
	s->delay_ns = g->p->free_start && !s->started ? 0 : fit_engine_restart_ns(g, r->job);
	if (keeps)	/* what is left of the last one */
		s->delay_ns = s->run.from_ns > g->now_ns ? s->run.from_ns - g->now_ns : 0;
	s->started = true;
	set_type(g, r->job);
	if (g->p->autoscaler && fit_engine_warm_nodes(fit_engine_part_of(g, r->job), &s->alloc) &&
	    g->p->cold_restart_ns >= 0)
		s->delay_ns = g->p->cold_restart_ns;
	if (!fit_job_runs_on(job, s->run.type))
		return fit_fail(err, FIT_EDATA, "job %s: application '%s' was not measured on GPUs of type '%s'", job->id,
				job->app_name, fit_engine_part_of(g, r->job)->cluster->types[s->run.type].name);
	if (shifts)	/* the rest of its delay goes on */
		s->delay_ns = s->run.from_ns > g->now_ns ? s->run.from_ns - g->now_ns : 0;
	s->run.type_name = fit_engine_part_of(g, r->job)->cluster->types[s->run.type].name;
	rc = g->model->place(job, &s->run, &s->alloc, g->now_ns + s->delay_ns, err);
	rc = rc ? rc : fit_engine_log_placed(g, event, r->job, true, true, err);
	rc = rc ? rc : fit_engine_tell_changed(g, r->job, err);
	rc = rc ? rc : fit_engine_queue_end(g, r->job, err);
	return rc || r->with == NOBODY ? rc : fit_engine_set_partner(g, r->with, r->job, other, err);
}

int fit_engine_retune(struct fit_engine *g, const struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->active_n && !rc; i++) {
		uint32_t j = p->active[i];
		struct job_state *s = fit_engine_state(g, j);
		bool changed = false;

		if (s->status != RUNNING)
			continue;
		rc = g->model->retune(fit_engine_job(g, j), &s->run, &s->alloc, g->now_ns, &changed, err);
		if (!rc && changed) {
			rc = fit_engine_log_job(g, "batch", j, true, err);
			rc = rc ? rc : fit_engine_queue_end(g, j, err);
		}
	}
	return rc;
}

int fit_engine_apply_plan(struct fit_engine *g, struct fit_err *err)
{
	struct fit_plan *p = &g->plan;
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n; i++) {
		struct job_state *s = fit_engine_state(g, p->grants[i].job);

		s->in_plan = false;
		if (s->status != RUNNING)
			continue;
		if (p->grants[i].gpus == 0 && g->p->fidelity->ghosts) {
			rc = rc ? rc : haunt(g, p->grants[i].job, err);
			continue;
		}
		s->ghost.n = 0;
		g->model->advance(fit_engine_job(g, p->grants[i].job), &s->run, g->now_ns);
		if (g->p->fidelity->shape_is_all && remember(s))
			return fit_fail_nomem(err);
		fit_engine_take_away(g, p->grants[i].job);
		s->stamp++;
		if (p->grants[i].gpus == 0 && !rc)
			rc = preempt(g, p->grants[i].job, err);
	}
	for (size_t i = 0; i < p->n && !rc; i++)
		if (p->grants[i].gpus)
			rc = place(g, &p->grants[i], err);
	if (!rc && g->p->interference > 0)
		rc = fit_engine_set_slowdowns(g, p->part, err);
	p->n = 0;
	p->shares_n = 0;
	return rc;
}
