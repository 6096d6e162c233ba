/* SPDX-License-Identifier: MIT */
/* What happens to jobs that run: they slow each other down, share GPUs, end epochs and finish. */
#include "libfit/replay/engine_state.h"

#include <stdlib.h>
#include <string.h>

void fit_engine_take_away(struct fit_engine *g, uint32_t j)
{
	struct job_state *s = fit_engine_state(g, j);

	s->service_gpu_ns += s->alloc.gpus * (g->now_ns - s->since_ns);
	s->since_ns = g->now_ns;
	if (s->partner == NOBODY)	/* else the other one keeps them */
		fit_cluster_give(fit_engine_part_of(g, j)->cluster, &s->alloc);
	s->alloc.n = 0;
	s->alloc.gpus = 0;
}

void fit_engine_drop_agent(struct job_state *s)
{
	for (int t = 0; t < s->run.n_agents; t++)
		fit_agent_release(&s->run.agents[t]);
	free(s->run.agents);
	s->run.agents = s->run.agent = NULL;
	s->run.n_agents = 0;
}

/* A job on several nodes is slowed down where another such job uses one of its nodes. */
int fit_engine_set_slowdowns(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	memset(p->spanning, 0, (size_t)p->cluster->n_nodes * sizeof *p->spanning);
	for (size_t i = 0; i < p->active_n; i++) {
		const struct fit_alloc *a = &fit_engine_state(g, p->active[i])->alloc;

		for (size_t k = 0; a->n > 1 && k < a->n; k++)
			p->spanning[a->shares[k].node]++;
	}
	for (size_t i = 0; i < p->active_n && !rc; i++) {
		uint32_t j = p->active[i];
		struct job_state *s = fit_engine_state(g, j);
		double slowdown = 0;

		for (size_t k = 0; s->alloc.n > 1 && k < s->alloc.n; k++)
			if (p->spanning[s->alloc.shares[k].node] > 1)
				slowdown = g->p->interference;
		if (s->status != RUNNING || (slowdown <= s->run.slowdown && slowdown >= s->run.slowdown))
			continue;
		g->model->advance(fit_engine_job(g, j), &s->run, g->now_ns);
		s->run.slowdown = slowdown;
		rc = g->model->slow(fit_engine_job(g, j), &s->run, &s->alloc, err);
		rc = rc ? rc : fit_engine_queue_end(g, j, err);
	}
	return rc;
}

int fit_engine_tell_changed(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct fit_part *p = fit_engine_part_of(g, j);

	if (!g->p->policy->changed)
		return FIT_OK;
	return g->p->policy->changed(p->policy_state, fit_engine_view_of(g, p), j, err);
}

int fit_engine_set_partner(struct fit_engine *g, uint32_t j, uint32_t partner, double speed,
			   struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	int rc;

	g->model->advance(fit_engine_job(g, j), &s->run, g->now_ns);
	s->partner = partner;
	s->run.rate_shared = speed;
	rc = fit_engine_log_job(g, "share", j, true, err);
	rc = rc ? rc : fit_engine_queue_end(g, j, err);
	return rc ? rc : fit_engine_tell_changed(g, j, err);
}

/* Job j, placed as number order, has left its partner. */
static int leave_partner(struct fit_engine *g, uint32_t j, uint32_t order, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	bool keeps = g->p->survivor_keeps_speed && s->order > order;

	s->marked = keeps;
	return fit_engine_set_partner(g, j, NOBODY, keeps ? s->run.rate_shared : 1, err);
}

static int finish(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	struct fit_part *p = fit_engine_part_of(g, j);
	bool stays = g->p->fidelity->release_at_interval_end && s->alloc.n;
	uint32_t partner = s->partner;
	int rc;

	g->running -= s->status == RUNNING;
	s->status = FINISHED;
	p->active_holes++;
	g->in_system--;
	g->unfinished--;
	p->news = true;
	g->counts.end_ns = g->now_ns;
	if (stays) {
		if (fit_grow(&p->booked, &p->booked_cap, p->booked_n + 1, sizeof *p->booked))
			return fit_fail_nomem(err);
		p->booked[p->booked_n++] = j;
	} else {
		fit_engine_take_away(g, j);
	}
	s->partner = NOBODY;
	rc = fit_engine_log_job(g, "finish", j, stays, err);
	if (!rc && g->p->policy->leave)
		g->p->policy->leave(p->policy_state, fit_engine_view_of(g, p), j);
	if (!rc && partner != NOBODY)
		rc = leave_partner(g, partner, s->order, err);
	fit_engine_drop_agent(s);
	fit_alloc_release(&s->ghost);
	if (!stays)
		fit_engine_leave_slot(g, j);
	return rc || stays || !(g->p->interference > 0) ? rc : fit_engine_set_slowdowns(g, p, err);
}

int fit_engine_end_epoch(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	bool finished;
	int rc = g->model->pass(fit_engine_job(g, j), &s->run, &s->alloc, g->now_ns, &finished, err);

	if (rc)
		return rc;
	if (finished) {
		s->stamp++;
		return finish(g, j, err);
	}
	if (g->p->policy->needs & FIT_WAKE_EPOCHS)
		fit_engine_part_of(g, j)->news = true;
	rc = fit_engine_log_job(g, "epoch", j, true, err);
	return rc ? rc : fit_engine_queue_end(g, j, err);
}

int fit_engine_release_booked(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->booked_n && !rc; i++) {
		uint32_t j = p->booked[i];

		fit_engine_take_away(g, j);
		rc = fit_engine_log_job(g, "release", j, false, err);
		fit_engine_leave_slot(g, j);
	}
	p->booked_n = 0;
	return rc;
}

int fit_engine_end_early(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s;

	if (fit_engine_is_finished(g, j))
		return FIT_OK;
	s = fit_engine_state(g, j);
	if (s->status == RUNNING)
		g->model->advance(fit_engine_job(g, j), &s->run, g->now_ns);
	else if (s->status != WAITING)
		return FIT_OK;
	s->stamp++;
	return finish(g, j, err);
}
