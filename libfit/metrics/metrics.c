/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/metrics_jobs.h"

void fit_metrics_init(struct fit_metrics *m, int64_t restart_ns)
{
	*m = (struct fit_metrics){ .restart_ns = restart_ns, .first_submit_ns = FIT_INT_NA,
				   .last_submit_ns = FIT_INT_NA, .last_finish_ns = FIT_INT_NA };
}

void fit_metrics_release(struct fit_metrics *m)
{
	free(m->jobs);
	free(m->apps);
	fit_id_map_release(&m->ids);
	fit_metrics_release_gone(&m->gone);
	fit_index_release(&m->app_index);
	fit_str_release(&m->names);
	*m = (struct fit_metrics){ 0 };
}

struct fit_text fit_metrics_job_id(const struct fit_metrics *m, const struct fit_job_result *j)
{
	return fit_id_map_text(&m->ids, (uint32_t)(j - m->jobs));
}

struct fit_text fit_metrics_app(const struct fit_metrics *m, uint32_t app)
{
	if (app >= m->n_apps)
		return (struct fit_text){ NULL, 0 };
	return (struct fit_text){ m->names.s + m->apps[app].at, m->apps[app].n };
}

const char *fit_job_status(const struct fit_job_result *j)
{
	static const char *const names[] = { "PENDING", "RUNNING", "PENDING", "OK", "REJECTED", "" };

	return names[j->state];
}

double fit_divide(fit_i128 v, int64_t by)
{
	return (double)(v / by) + (double)(v % by) / (double)by;
}

double fit_gpu_seconds(fit_i128 v)
{
	return fit_divide(v, FIT_UGPU * FIT_NS_PER_S);
}

/* ---- accumulation ---- */

static void advance_cluster(struct fit_metrics *m, int64_t t)
{
	fit_i128 dt = t - m->clock_ns;

	m->held += dt * m->held_ugpus;
	m->capacity += dt * m->capacity_ugpus;
	m->rented += dt * m->rented_ugpus;
	m->clock_ns = t;
}

/* End the segment of a job at t: add what it held, what of it was progress, or how long it waited. */
static void end_segment(struct fit_metrics *m, struct fit_job_result *j, int64_t t)
{
	int64_t from = j->progress_from_ns > j->since_ns ? j->progress_from_ns : j->since_ns;

	j->gpu += (fit_i128)(t - j->since_ns) * (j->held_ugpus + j->profile_ugpus);
	if (j->state == FIT_JOB_HOLDING) {
		int64_t still_ns = (t < from ? t : from) - j->since_ns;

		j->rescaling += (fit_i128)still_ns * j->held_ugpus;
		m->rescaling += (fit_i128)still_ns * j->own_ugpus;
	}
	if (j->state == FIT_JOB_HOLDING && t > from) {
		j->busy += (fit_i128)(t - from) * j->held_ugpus;
		m->busy += (fit_i128)(t - from) * j->own_ugpus;
	}
	if ((j->state == FIT_JOB_WAITING || j->state == FIT_JOB_PREEMPTED) && !j->profile_ugpus)
		j->queue_ns += t - j->since_ns;
	j->since_ns = t;
}

static void hold(struct fit_metrics *m, struct fit_job_result *j, int64_t ugpus)
{
	m->held_ugpus += ugpus - j->own_ugpus;
	j->held_ugpus = j->own_ugpus = ugpus;
}

/* A new allocation: no progress for restart_ns from now. */
static void allocate(struct fit_metrics *m, struct fit_job_result *j, const struct fit_event_row *e)
{
	int64_t delay = e->has_delay ? e->delay_ns : m->restart_ns;

	end_segment(m, j, e->time_ns);
	if (j->state != FIT_JOB_HOLDING) {
		m->n_waiting--;
		m->n_running++;
	}
	j->state = FIT_JOB_HOLDING;
	j->progress_from_ns = e->time_ns > INT64_MAX - delay ? INT64_MAX : e->time_ns + delay;
	hold(m, j, e->ugpus);
	if (e->guest) {
		m->held_ugpus -= j->own_ugpus;
		j->own_ugpus = 0;
	}
	if (j->start_ns == FIT_INT_NA) {
		j->start_ns = e->time_ns;
	} else {
		j->restarts++;
		m->restarts++;
	}
}

static int find_app(struct fit_metrics *m, struct fit_text name, uint32_t *app)
{
	size_t at = m->names.n;

	*app = fit_index_get(&m->app_index, name);
	if (*app != FIT_NO_INDEX)
		return FIT_OK;
	if (fit_grow(&m->apps, &m->cap_apps, m->n_apps + 1, sizeof *m->apps) ||
	    fit_str_add(&m->names, name.s, name.n) ||
	    fit_index_put(&m->app_index, name, (uint32_t)m->n_apps, NULL))
		return FIT_ENOMEM;
	m->apps[m->n_apps] = (struct fit_text_at){ at, name.n };
	*app = (uint32_t)m->n_apps++;
	return FIT_OK;
}

static int submit(struct fit_metrics *m, const struct fit_event_row *e, struct fit_err *err)
{
	struct fit_job_result j = { .app = FIT_NO_APP,
				    .state = FIT_JOB_WAITING, .submit_ns = e->time_ns,
				    .start_ns = FIT_INT_NA, .end_ns = FIT_INT_NA,
				    .asked_ugpus = e->ugpus, .since_ns = e->time_ns,
				    .has_batch = e->has_batch, .batch_size = e->batch_size };
	int rc;

	if (e->has_app && find_app(m, e->app, &j.app))
		return fit_fail_nomem(err);
	rc = fit_metrics_new_job(m, e->job_id, &j, err);
	if (rc)
		return rc;
	if (m->first_submit_ns == FIT_INT_NA) {
		m->first_submit_ns = e->time_ns;
		m->held_first_submit = m->held;
		m->rented_first_submit = m->rented;
		m->capacity_first_submit = m->capacity;
	}
	m->last_submit_ns = e->time_ns;
	m->held_last_submit = m->held;
	m->rented_last_submit = m->rented;
	m->n_waiting++;
	return FIT_OK;
}

static void finish(struct fit_metrics *m, struct fit_job_result *j, const struct fit_event_row *e)
{
	end_segment(m, j, e->time_ns);
	j->state = FIT_JOB_FINISHED;
	j->end_ns = e->time_ns;
	hold(m, j, e->ugpus);
	m->n_running--;
	m->n_finished++;
	m->last_finish_ns = e->time_ns;
	m->held_last_finish = m->held;
	m->rented_last_finish = m->rented;
	m->capacity_last_finish = m->capacity;
}

/* What state each event needs, and what it may hold afterwards. */
static const struct rule {
	unsigned states;	/* bit set over enum fit_job_state */
	bool some, none;	/* more than 0 GPUs, exactly 0 GPUs from now on */
} rules[] = {
	[FIT_EVENT_REJECT] = { 1u << FIT_JOB_WAITING, false, false },
	[FIT_EVENT_START] = { 1u << FIT_JOB_WAITING, true, false },
	[FIT_EVENT_MOVE] = { 1u << FIT_JOB_HOLDING, true, false },
	[FIT_EVENT_PREEMPT] = { 1u << FIT_JOB_HOLDING, false, true },
	[FIT_EVENT_RESUME] = { 1u << FIT_JOB_PREEMPTED, true, false },
	[FIT_EVENT_EPOCH] = { 1u << FIT_JOB_HOLDING, false, false },
	[FIT_EVENT_BATCH] = { 1u << FIT_JOB_HOLDING, false, false },
	[FIT_EVENT_FINISH] = { 1u << FIT_JOB_HOLDING, false, false },
	[FIT_EVENT_RELEASE] = { 1u << FIT_JOB_FINISHED, false, true },
	[FIT_EVENT_SHARE] = { 1u << FIT_JOB_HOLDING, true, false },
	[FIT_EVENT_SHIFT] = { 1u << FIT_JOB_HOLDING, true, false },
	[FIT_EVENT_LOSE] = { 1u << FIT_JOB_HOLDING, false, true },
	[FIT_EVENT_PROFILE] = { ~(1u << FIT_JOB_REJECTED), true, false },
	[FIT_EVENT_PROFILED] = { ~(1u << FIT_JOB_REJECTED), false, true },
};

static int check_rule(const struct fit_event_row *e, const struct fit_job_result *j,
		      const char **field, struct fit_err *err)
{
	static const char *const names[] = { "waiting", "running", "preempted", "finished", "rejected",
					     "gone" };
	const struct rule *r = &rules[e->kind];

	*field = "event";
	if (!(r->states & 1u << j->state))
		return fit_fail(err, FIT_EDATA, "unexpected '%s' of job '%.*s', which is %s",
				fit_event_kind_name(e->kind), FIT_TEXT_ARG(e->job_id), names[j->state]);
	*field = "gpus";
	if ((r->some && e->ugpus == 0) || (r->none && e->ugpus != 0))
		return fit_fail(err, FIT_EDATA, "bad number of GPUs '%.17g' after '%s' (expected %s)",
				(double)e->ugpus / (double)FIT_UGPU, fit_event_kind_name(e->kind),
				r->some ? "more than 0" : "0");
	if (((e->kind == FIT_EVENT_EPOCH || e->kind == FIT_EVENT_BATCH || e->kind == FIT_EVENT_SHARE) &&
	     e->ugpus != j->held_ugpus) ||
	    (e->kind == FIT_EVENT_FINISH && e->ugpus > j->held_ugpus))
		return fit_fail(err, FIT_EDATA, "bad number of GPUs '%.17g' after '%s' (the job holds %.17g)",
				(double)e->ugpus / (double)FIT_UGPU, fit_event_kind_name(e->kind),
				(double)j->held_ugpus / (double)FIT_UGPU);
	return FIT_OK;
}

static int job_event(struct fit_metrics *m, const struct fit_event_row *e, const char **field,
		     struct fit_err *err)
{
	struct fit_job_result *j;

	*field = "job_id";
	if (fit_metrics_find_job(m, e->job_id))
		return fit_fail_nomem(err);
	if (m->last_job == FIT_NO_INDEX)
		return fit_fail(err, FIT_EDATA, "unknown job '%.*s' (expected its 'submit' first)",
				FIT_TEXT_ARG(e->job_id));
	j = &m->jobs[m->last_job];
	m->before = (struct fit_metrics_before){ j->state == FIT_JOB_HOLDING, j->held_ugpus, j->progress_from_ns };
	if (check_rule(e, j, field, err))
		return FIT_EDATA;
	switch (e->kind) {
	case FIT_EVENT_START:
	case FIT_EVENT_MOVE:
	case FIT_EVENT_RESUME:
		*field = "delay_s";
		if (!e->has_delay && m->restart_ns == FIT_INT_NA)
			return fit_fail(err, FIT_EDATA, "missing (expected the restart delay: they differ by job)");
		allocate(m, j, e);
		break;
	case FIT_EVENT_PREEMPT:
		end_segment(m, j, e->time_ns);
		j->state = FIT_JOB_PREEMPTED;
		hold(m, j, 0);
		j->preemptions++;
		m->preemptions++;
		m->n_running--;
		m->n_waiting++;
		break;
	case FIT_EVENT_SHIFT:
		end_segment(m, j, e->time_ns);
		if (e->has_delay)
			j->progress_from_ns = e->time_ns > INT64_MAX - e->delay_ns ? INT64_MAX : e->time_ns + e->delay_ns;
		hold(m, j, e->ugpus);
		break;
	case FIT_EVENT_LOSE:
		end_segment(m, j, e->time_ns);
		hold(m, j, 0);
		break;
	case FIT_EVENT_FINISH:
		finish(m, j, e);
		break;
	case FIT_EVENT_RELEASE:
		end_segment(m, j, e->time_ns);
		hold(m, j, 0);
		break;
	case FIT_EVENT_REJECT:
		j->state = FIT_JOB_REJECTED;
		m->n_waiting--;
		m->n_rejected++;
		break;
	case FIT_EVENT_SHARE:
		end_segment(m, j, e->time_ns);
		if (e->alone)
			hold(m, j, e->ugpus);
		break;
	case FIT_EVENT_PROFILE:
	case FIT_EVENT_PROFILED:
		end_segment(m, j, e->time_ns);
		m->held_ugpus += e->ugpus - j->profile_ugpus;
		j->profile_ugpus = e->ugpus;
		break;
	case FIT_EVENT_EPOCH:
	case FIT_EVENT_BATCH:
	case FIT_EVENT_CLUSTER:
	case FIT_EVENT_SUBMIT:
	case FIT_EVENT_RENT:
	case FIT_EVENT_READY:
	case FIT_EVENT_RETURN:
	case FIT_EVENT_LEND:
	case FIT_EVENT_REGAIN:
		break;
	}
	return FIT_OK;
}

/* What is there and what is paid for. That it fits together node by node is the verifier's. */
static int node_event(struct fit_metrics *m, const struct fit_event_row *e, const char **field,
		      struct fit_err *err)
{
	*field = "event";
	if (e->kind == FIT_EVENT_RENT)
		m->rented_ugpus += e->ugpus;
	else if (e->kind == FIT_EVENT_READY)
		m->capacity_ugpus += e->ugpus;
	else if (e->kind == FIT_EVENT_RETURN) {
		m->capacity_ugpus -= e->ugpus;
		m->rented_ugpus -= e->ugpus;
	}
	if (m->capacity_ugpus < 0 || m->capacity_ugpus > m->rented_ugpus)
		return fit_fail(err, FIT_EDATA, "unexpected '%s': %s", fit_event_kind_name(e->kind),
				m->capacity_ugpus < 0 ? "no node is there to return" :
				"no node was rented that could be ready");
	return FIT_OK;
}

int fit_metrics_add(struct fit_metrics *m, const struct fit_event_row *e, const char **field,
		    struct fit_err *err)
{
	const char *ignored;
	int rc;

	if (!field)
		field = &ignored;
	*field = "time_s";
	if (e->time_ns < m->clock_ns)
		return fit_fail(err, FIT_EDATA, "time '%.17g' goes back (expected at least %.17g)",
				fit_time_to_double(e->time_ns), fit_time_to_double(m->clock_ns));
	*field = "job_id";
	m->event = e;
	advance_cluster(m, e->time_ns);
	m->n_events++;
	if (e->kind == FIT_EVENT_SUBMIT)
		return submit(m, e, err);
	if (e->kind >= FIT_EVENT_RENT)
		return node_event(m, e, field, err);
	if (e->kind != FIT_EVENT_CLUSTER) {
		rc = job_event(m, e, field, err);
		if (m->sums_only && m->last_job != FIT_NO_INDEX && fit_metrics_forget(m, e->job_id, m->last_job))
			return fit_fail_nomem(err);
		return rc;
	}
	m->capacity_ugpus = m->rented_ugpus = e->ugpus;
	return FIT_OK;
}

int fit_metrics_window_watch(void *arg, const struct fit_metrics *m, struct fit_err *err)
{
	struct fit_metrics_window *w = arg;
	int64_t to = m->clock_ns < w->end_ns ? m->clock_ns : w->end_ns;

	(void)err;
	if (to > w->clock_ns) {
		w->held += (fit_i128)(to - w->clock_ns) * w->held_ugpus;
		w->rented += (fit_i128)(to - w->clock_ns) * w->rented_ugpus;
		w->clock_ns = to;
	}
	w->held_ugpus = m->held_ugpus;
	w->rented_ugpus = m->rented_ugpus;
	return FIT_OK;
}

void fit_metrics_window_close(struct fit_metrics_window *w)
{
	if (w->end_ns > w->clock_ns) {
		w->held += (fit_i128)(w->end_ns - w->clock_ns) * w->held_ugpus;
		w->rented += (fit_i128)(w->end_ns - w->clock_ns) * w->rented_ugpus;
		w->clock_ns = w->end_ns;
	}
}

void fit_metrics_close(struct fit_metrics *m)
{
	for (size_t i = 0; i < m->n_jobs && !m->closed; i++)
		if (m->jobs[i].state != FIT_JOB_GONE)
			end_segment(m, &m->jobs[i], m->clock_ns);
	m->closed = true;
}

static int read_log(struct fit_metrics *m, struct fit_reader *r, bool sums_only, fit_metrics_watch *watch,
		    void *arg, struct fit_err *err)
{
	struct fit_event_row e;
	struct fit_err why = { 0 };
	const char *field = NULL;
	int64_t restart_ns = 0;
	int rc = fit_event_begin(r, err);

	if (!rc)
		rc = fit_event_restart(r, &restart_ns, err);
	fit_metrics_init(m, restart_ns);
	m->sums_only = sums_only;
	while (!rc) {
		rc = fit_event_next(r, &e, err);
		if (rc)
			break;
		rc = fit_metrics_add(m, &e, &field, &why);
		if (rc)
			rc = fit_reader_fail(r, rc, field, err, "%s", why.msg);
		else if (watch)
			rc = watch(arg, m, err);
	}
	if (rc != FIT_END) {
		fit_metrics_release(m);
		return rc;
	}
	fit_metrics_close(m);
	return FIT_OK;
}

int fit_metrics_read(struct fit_metrics *m, struct fit_reader *r, fit_metrics_watch *watch, void *arg,
		     struct fit_err *err)
{
	return read_log(m, r, false, watch, arg, err);
}

int fit_metrics_read_sums(struct fit_metrics *m, struct fit_reader *r, fit_metrics_watch *watch, void *arg,
			  struct fit_err *err)
{
	return read_log(m, r, true, watch, arg, err);
}
