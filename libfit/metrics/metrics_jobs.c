/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/metrics_jobs.h"

#include <stdlib.h>

#include "libfit/base/num.h"

void fit_metrics_release_gone(struct fit_metrics_gone *g)
{
	free(g->jct_s);
	free(g->queue_s);
	free(g->empty);
	fit_id_set_release(&g->ids);
	fit_index_release(&g->here);
}

/* A record for a job that is here now. */
static int take_record(struct fit_metrics *m, struct fit_text id, const struct fit_job_result *j)
{
	struct fit_metrics_gone *g = &m->gone;
	uint32_t k = g->n_empty ? g->empty[g->n_empty - 1] : (uint32_t)m->n_jobs;

	if (fit_grow(&m->jobs, &m->cap_jobs, (size_t)k + 1, sizeof *m->jobs) || fit_index_put(&g->here, id, k, NULL))
		return FIT_ENOMEM;
	if (g->n_empty)
		g->n_empty--;
	else
		m->n_jobs++;
	m->jobs[k] = *j;
	m->last_job = k;
	return FIT_OK;
}

/* *twice: the id was there before. */
static int keep_all(struct fit_metrics *m, struct fit_text id, const struct fit_job_result *j, bool *twice)
{
	uint32_t before;

	if (fit_grow(&m->jobs, &m->cap_jobs, m->n_jobs + 1, sizeof *m->jobs) || fit_id_map_put(&m->ids, id, &before))
		return FIT_ENOMEM;
	*twice = before != FIT_NO_INDEX;
	if (*twice)
		return FIT_OK;
	m->last_job = (uint32_t)m->n_jobs;
	m->jobs[m->n_jobs++] = *j;
	return FIT_OK;
}

static int keep_while_here(struct fit_metrics *m, struct fit_text id, const struct fit_job_result *j,
			   bool *twice)
{
	uint64_t before;

	if (fit_id_set_put(&m->gone.ids, id, m->n_submitted + 1, &before))
		return FIT_ENOMEM;
	*twice = before != 0;
	return *twice ? FIT_OK : take_record(m, id, j);
}

int fit_metrics_new_job(struct fit_metrics *m, struct fit_text id, const struct fit_job_result *j,
			struct fit_err *err)
{
	bool twice = false;

	if (m->n_submitted >= UINT32_MAX - 2)
		return fit_fail(err, FIT_EDATA, "too many jobs (expected at most %u)", UINT32_MAX - 2);
	if (m->sums_only ? keep_while_here(m, id, j, &twice) : keep_all(m, id, j, &twice))
		return fit_fail_nomem(err);
	if (twice)
		return fit_fail(err, FIT_EDATA, "job '%.*s' is submitted twice", FIT_TEXT_ARG(id));
	m->n_submitted++;
	return FIT_OK;
}

int fit_metrics_find_job(struct fit_metrics *m, struct fit_text id)
{
	/* only what finished is forgotten; its times were taken, and what it adds from now on will be, too */
	const struct fit_job_result again = { .app = FIT_NO_APP, .state = FIT_JOB_FINISHED, .counted = true,
					      .start_ns = m->clock_ns, .since_ns = m->clock_ns };

	if (!m->sums_only) {	/* most rows are of the job of the last one: no need to look for it */
		if (m->last_job >= m->n_jobs || !fit_text_eq(fit_id_map_text(&m->ids, m->last_job), id))
			m->last_job = fit_id_map_get(&m->ids, id);
		return FIT_OK;
	}
	m->last_job = fit_index_get(&m->gone.here, id);
	if (m->last_job != FIT_NO_INDEX || !fit_id_set_get(&m->gone.ids, id))
		return FIT_OK;
	return take_record(m, id, &again);
}

int fit_metrics_forget(struct fit_metrics *m, struct fit_text id, uint32_t k)
{
	struct fit_metrics_gone *g = &m->gone;
	struct fit_job_result *j = &m->jobs[k];

	if (j->state != FIT_JOB_FINISHED || j->held_ugpus || j->own_ugpus || j->profile_ugpus)
		return FIT_OK;
	if (fit_grow(&g->empty, &g->cap_empty, g->n_empty + 1, sizeof *g->empty) ||
	    fit_grow(&g->jct_s, &g->cap_jct, g->n + 1, sizeof *g->jct_s) ||
	    fit_grow(&g->queue_s, &g->cap_queue, g->n + 1, sizeof *g->queue_s))
		return FIT_ENOMEM;
	if (!j->counted) {
		g->jct_s[g->n] = fit_time_to_double(j->end_ns - j->submit_ns);
		g->queue_s[g->n++] = fit_time_to_double(j->queue_ns);
		g->jct_ns += j->end_ns - j->submit_ns;
		g->queue_ns += j->queue_ns;
	}
	g->gpu += j->gpu;
	g->restarts += j->restarts;
	g->preemptions += j->preemptions;
	j->state = FIT_JOB_GONE;
	g->empty[g->n_empty++] = k;
	fit_index_remove(&g->here, id);
	return FIT_OK;
}
