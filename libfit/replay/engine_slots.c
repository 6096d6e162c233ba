/* SPDX-License-Identifier: MIT */
/* Where the states of jobs are, and the jobs of a stream themselves. */
#include <stdlib.h>

#include "libfit/replay/engine_state.h"
#include "libfit/replay/job_stream.h"

/* ---- one slot ---- */

/* A new state, in memory that the last one of this slot had. */
static void renew(struct job_state *s, uint16_t exec_plan)
{
	struct fit_alloc alloc = s->alloc, ghost = s->ghost, was = s->was;

	alloc.n = ghost.n = was.n = 0;
	alloc.gpus = ghost.gpus = was.gpus = 0;
	*s = (struct job_state){ .alloc = alloc, .ghost = ghost, .was = was, .partner = NOBODY,
				 .run = { .exec_plan = exec_plan } };
}

static int add_slot(struct fit_engine *g)
{
	struct fit_slots *s = &g->slots;

	if (s->n == FIT_NO_SLOT || fit_grow(&g->state, &s->cap, s->n + 1, sizeof *g->state) ||
	    fit_grow(&s->free, &s->cap_free, s->n + 1, sizeof *s->free) ||
	    (g->jobs->stream && fit_grow(&s->jobs, &s->cap_jobs, s->n + 1, sizeof *s->jobs)))
		return FIT_ENOMEM;
	g->state[s->n] = (struct job_state){ .partner = NOBODY };
	if (g->jobs->stream)
		s->jobs[s->n] = (struct slot_job){ .texts = { 0 } };
	s->free[s->n_free++] = (uint32_t)s->n++;
	return FIT_OK;
}

int fit_engine_take_slot(struct fit_engine *g, uint32_t j)
{
	struct fit_slots *s = &g->slots;

	if (!s->of || (j < s->n_of && s->of[j] != FIT_NO_SLOT))
		return FIT_OK;
	if (fit_grow(&s->of, &s->cap_of, (size_t)j + 1, sizeof *s->of) || (!s->n_free && add_slot(g)))
		return FIT_ENOMEM;
	while (s->n_of <= j)
		s->of[s->n_of++] = FIT_NO_SLOT;
	s->of[j] = s->free[--s->n_free];
	renew(&g->state[s->of[j]], g->jobs->stream ? FIT_NO_EXEC_PLAN : g->jobs->jobs[j].exec_plan);
	return FIT_OK;
}

void fit_engine_leave_slot(struct fit_engine *g, uint32_t j)
{
	struct fit_slots *s = &g->slots;

	if (!s->of) {
		fit_alloc_release(&g->state[j].alloc);
		return;
	}
	s->free[s->n_free++] = s->of[j];
	s->of[j] = FIT_NO_SLOT;
}

/* ---- a stream ---- */

static int keep_job(struct fit_engine *g, uint32_t j, const struct fit_job *job)
{
	struct slot_job *to = &g->slots.jobs[g->slots.of[j]];
	size_t n = fit_text_of(job->id).n + 1, n_app = fit_text_of(job->app_name).n + 1;

	fit_str_clear(&to->texts);
	if (fit_str_add(&to->texts, job->id, n) || fit_str_add(&to->texts, job->app_name, n_app))
		return FIT_ENOMEM;
	to->job = *job;
	to->job.id = to->texts.s;
	to->job.app_name = to->texts.s + n;
	return FIT_OK;
}

int fit_engine_load_next(struct fit_engine *g, struct fit_err *err)
{
	uint32_t j = (uint32_t)g->n_arrivals;
	struct fit_job job;
	int rc;

	if (!g->jobs->stream || g->ended || g->next_arrival < g->n_arrivals)
		return FIT_OK;
	rc = fit_job_stream_next(g->jobs->stream, &job, err);
	g->ended = rc == FIT_END;
	if (rc)
		return g->ended ? FIT_OK : rc;
	if (fit_engine_take_slot(g, j) || keep_job(g, j, &job))
		return fit_fail_nomem(err);
	g->n_arrivals++;
	g->unfinished += !job.too_large;
	return FIT_OK;
}

/* ---- all slots ---- */

int fit_engine_open_slots(struct fit_engine *g, struct fit_err *err)
{
	const size_t n = g->jobs->n;

	if ((g->p->policy->needs & FIT_SLOTS) && g->model->alone) {
		if (fit_grow(&g->slots.of, &g->slots.cap_of, 1, sizeof *g->slots.of))
			return fit_fail_nomem(err);
		return fit_engine_load_next(g, err);
	}
	if (g->jobs->stream)
		return fit_fail(err, FIT_EINVAL, "policy %s needs to know all jobs", g->p->policy->name);
	g->state = calloc(n ? n : 1, sizeof *g->state);
	if (!g->state)
		return fit_fail_nomem(err);
	g->slots.n = n;
	for (size_t i = 0; i < n; i++)
		renew(&g->state[i], g->jobs->jobs[i].exec_plan);
	return FIT_OK;
}

void fit_engine_close_slots(struct fit_engine *g)
{
	struct fit_slots *s = &g->slots;

	for (size_t i = 0; i < s->n; i++) {
		fit_alloc_release(&g->state[i].alloc);
		fit_alloc_release(&g->state[i].ghost);
		fit_alloc_release(&g->state[i].was);
		fit_engine_drop_agent(&g->state[i]);
		if (s->jobs)
			fit_str_release(&s->jobs[i].texts);
	}
	free(g->state);
	free(s->of);
	free(s->free);
	free(s->jobs);
}
