/* SPDX-License-Identifier: MIT */
/*
 * Optimus with an oracle (Peng et al., EuroSys'18, as the baseline of Pollux, OSDI'21): GPUs go one
 * by one to the job whose predicted completion gains most.
 *
 * Every active job gets one GPU, in order, while there are any. Then the job with the largest
 * gain, (step time at R - step time at R + 1) x steps left, gets one more (the first in order on
 * ties) until no gain is positive. A job never grows beyond target batch / smallest local batch,
 * nor beyond what its application can use.
 * Jobs whose size changed are placed anew, smallest first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/replay/policy.h"

/* Predicted step times of one job by number of GPUs; 0: not asked yet, infinite: not measured. */
struct steps {
	double *step_s;
	int64_t n;
};

struct want {
	uint32_t job;
	int64_t gpus, cap;
	double left, gain;
};

struct optimus {
	struct steps *steps;	/* per job */
	size_t n_jobs;
	struct want *wants;
	size_t cap;
};

static void optimus_free(void *state)
{
	struct optimus *o = state;

	for (size_t i = 0; o->steps && i < o->n_jobs; i++)
		free(o->steps[i].step_s);
	free(o->steps);
	free(o->wants);
	free(o);
}

static int optimus_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			struct fit_err *err)
{
	struct optimus *o = calloc(1, sizeof *o);

	(void)p;
	if (!o)
		return fit_fail_nomem(err);
	o->n_jobs = v->n_jobs;
	o->steps = calloc(v->n_jobs ? v->n_jobs : 1, sizeof *o->steps);
	if (!o->steps) {
		optimus_free(o);
		return fit_fail_nomem(err);
	}
	*state = o;
	return FIT_OK;
}

static void optimus_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct optimus *o = state;

	(void)v;
	free(o->steps[j].step_s);
	o->steps[j] = (struct steps){ 0 };
}

static int64_t node_gpus(const struct fit_view *v)
{
	return v->fidelity->optimus_node_gpus ? v->fidelity->optimus_node_gpus : v->cluster->max_node_gpus;
}

/* Step time at gpus GPUs; infinite where nothing was measured (a job does not grow into that). */
static int step_time(struct optimus *o, const struct fit_view *v, uint32_t j, int64_t gpus, double *s,
		     struct fit_err *err)
{
	struct steps *m = &o->steps[j];
	int rc;

	if (gpus > m->n) {
		int64_t n = gpus + 8;
		double *p = realloc(m->step_s, (size_t)n * sizeof *p);

		if (!p)
			return fit_fail_nomem(err);
		memset(p + m->n, 0, (size_t)(n - m->n) * sizeof *p);
		m->step_s = p;
		m->n = n;
	}
	if (m->step_s[gpus - 1] == 0) {
		rc = fit_predict_step(v, j, gpus, node_gpus(v), v->fidelity->optimus_single_gpu_accumulates,
				      &m->step_s[gpus - 1], err);
		if (rc == FIT_EDATA && gpus > 1)
			m->step_s[gpus - 1] = HUGE_VAL;
		else if (rc)
			return fit_fail_prefix(err, rc, "job %s", v->jobs[j].id);
	}
	*s = m->step_s[gpus - 1];
	return FIT_OK;
}

/* Optimiser steps left at the job's batch size. */
static int steps_left(const struct fit_view *v, uint32_t j, double *left, struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	int64_t epoch = fit_view_epoch(v, j), last = fit_app_info(job->app)->epochs - 1;
	double end, now, before = 0, start, span;
	int rc;

	*left = 1;
	if (v->fidelity->optimus_whole_epochs && epoch >= last)
		return FIT_OK;
	rc = fit_app_iteration(job->app, job->batch_size, last, &end, err);
	rc = rc ? rc : fit_app_iteration(job->app, job->batch_size, epoch, &now, err);
	if (!rc && epoch > 0 && !v->fidelity->optimus_whole_epochs)
		rc = fit_app_iteration(job->app, job->batch_size, epoch - 1, &before, err);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", job->id);
	*left = end - now;
	if (!v->fidelity->optimus_whole_epochs) {
		start = fit_app_epoch_start(job->app, epoch);
		span = fit_app_epoch_start(job->app, epoch + 1) - start;
		*left += (now - before) * (1 - (fit_view_work(v, j) - start) / span);
	}
	return FIT_OK;
}

static int set_gain(struct optimus *o, const struct fit_view *v, struct want *w, bool any_left,
		    struct fit_err *err)
{
	double here, more;
	int rc;

	w->gain = 0;
	if (!any_left || w->gpus + 1 > w->cap)
		return FIT_OK;
	rc = step_time(o, v, w->job, w->gpus, &here, err);
	rc = rc ? rc : step_time(o, v, w->job, w->gpus + 1, &more, err);
	if (!rc && isfinite(more))
		w->gain = (here - more) * w->left;
	return rc;
}

static int64_t largest_size(const struct fit_view *v, uint32_t j)
{
	const struct fit_app_info *a = fit_app_info(v->jobs[j].app);

	int64_t most = v->jobs[j].batch_size / a->min_local_bsz;

	return a->max_replicas && a->max_replicas < most ? a->max_replicas : most;
}

static int by_size(const void *pa, const void *pb)
{
	const struct want *a = pa, *b = pb;

	if (a->gpus != b->gpus)
		return a->gpus < b->gpus ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

static int hand_out(struct optimus *o, const struct fit_view *v, size_t n, struct fit_err *err)
{
	int64_t left = v->cluster->n_open;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		struct want *w = &o->wants[i];

		w->gpus = left > 0;
		left -= w->gpus;
		if (w->gpus)
			rc = set_gain(o, v, w, left > 0, err);
	}
	while (left > 0 && !rc) {
		struct want *best = &o->wants[0];

		for (size_t i = 1; i < n; i++)
			if (o->wants[i].gain > best->gain)
				best = &o->wants[i];
		if (!(best->gain > 0))
			break;
		best->gpus++;
		left--;
		rc = set_gain(o, v, best, left > 0, err);
	}
	return rc;
}

static int optimus_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct optimus *o = state;
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);
	int rc = FIT_OK;

	if (fit_grow(&o->wants, &o->cap, n, sizeof *o->wants))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n && !rc; i++) {
		o->wants[i] = (struct want){ .job = active[i], .cap = largest_size(v, active[i]) };
		rc = steps_left(v, active[i], &o->wants[i].left, err);
	}
	rc = rc ? rc : hand_out(o, v, n, err);
	if (rc)
		return rc;
	qsort(o->wants, n, sizeof *o->wants, by_size);
	for (size_t i = 0; i < n; i++)
		if (fit_plan_grant(plan, o->wants[i].job, o->wants[i].gpus))
			return fit_fail_nomem(err);
	return FIT_OK;
}

static int optimus_describe(const struct fit_policy_params *p, const struct fit_view *v,
			    struct fit_meta *meta)
{
	const struct fit_fidelity *f = v->fidelity;
	char text[FIT_NUM_MAX];
	int rc;

	(void)p;
	fit_format_int64(text, node_gpus(v));
	rc = fit_meta_add(meta, "optimus_remaining", f->optimus_whole_epochs ? "whole-epochs" : "exact");
	rc = rc ? rc : fit_meta_add(meta, "optimus_single_gpu", f->optimus_single_gpu_accumulates ?
				    "always-accumulates" : "as-run");
	return rc ? rc : fit_meta_add(meta, "optimus_node_gpus", text);
}

const struct fit_policy fit_policy_optimus = {
	.name = "optimus",
	.summary = "marginal gain in completion time, with an oracle (Optimus+Oracle)",
	.needs = FIT_NEEDS_PROFILE | FIT_NEEDS_INTERVAL | FIT_ONE_TYPE | FIT_MOLDS,
	.init = optimus_init,
	.free = optimus_free,
	.leave = optimus_leave,
	.decide = optimus_decide,
	.describe = optimus_describe,
};
