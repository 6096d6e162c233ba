/* SPDX-License-Identifier: MIT */
/*
 * Sia (Jayaram Subramanya et al., SOSP'23): each round gives every job one configuration of one type of
 * GPU, or none, so that the sum of utilities is best; an integer programme that is solved exactly
 * (sia_ilp.h). docs/methods/sia.md has the equations.
 *
 * What a configuration is worth comes from the job's own models, one for each type. A type without a model
 * borrows the first other one, scaled by what both do on one GPU, which is known of every application. A job
 * without any model starts on the least configuration of some type, and may double from there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/agent.h"
#include "libfit/model/sia_ilp.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/sia_configs.h"
#include "libfit/replay/sia_place.h"
#include "libfit/replay/sia_rigid.h"

/* Goodputs of a job's configurations; they hold until an agent of it learns. */
struct known {
	uint64_t version;	/* sum over its agents; 0: never computed */
	double *goodput;	/* by configuration; 0: cannot be predicted */
};

struct sia {
	struct fit_sia_configs configs;
	double power, lambda;
	struct known *known;		/* by job of the partition */
	size_t n_known;
	struct fit_sia_job *jobs;	/* those of a decision, and room for their options */
	struct fit_sia_option *options;
	size_t cap_jobs, cap_options;
	int32_t *choice;
	size_t cap_choice;
	double *goodput;
	float *scaled;
	struct fit_sia_placer placer;
};

static void sia_free(void *state)
{
	struct sia *s = state;

	fit_sia_configs_release(&s->configs);
	for (size_t i = 0; i < s->n_known; i++)
		free(s->known[i].goodput);
	free(s->known);
	free(s->jobs);
	free(s->options);
	free(s->choice);
	free(s->goodput);
	free(s->scaled);
	fit_sia_placer_release(&s->placer);
	free(s);
}

static int sia_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		    struct fit_err *err)
{
	struct sia *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return fit_fail_nomem(err);
	*state = s;
	s->power = p->sia_power;
	s->lambda = p->sia_lambda;
	if (fit_sia_configs_init(&s->configs, v->cluster))
		return fit_fail_nomem(err);
	rc = fit_sia_rigid_add(&s->configs, v, err);
	if (rc)
		return rc;
	s->known = calloc(v->n_members + 1, sizeof *s->known);
	s->goodput = calloc(s->configs.n + 1, sizeof *s->goodput);
	s->scaled = calloc(s->configs.n + 1, sizeof *s->scaled);
	s->n_known = s->known ? v->n_members : 0;
	if (!s->known || !s->goodput || !s->scaled || fit_sia_placer_init(&s->placer, v->cluster))
		return fit_fail_nomem(err);
	return FIT_OK;
}

/* The job's application on GPUs of a type; NULL: not measured, or not for this job. */
static struct fit_app *app_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	const struct fit_job *job = &v->jobs[j];

	if (job->gpu_type != FIT_ANY_TYPE && job->gpu_type != type)
		return NULL;
	return job->apps ? job->apps[type] : job->app;
}

static struct fit_agent *agent_on(const struct fit_view *v, uint32_t j, int32_t type)
{
	return v->jobs[j].apps ? fit_view_agent_on(v, j, type) : fit_view_agent(v, j);
}

/* The most GPUs that the job may have: twice what it ran on, on any type. */
static int64_t most_gpus(const struct fit_view *v, uint32_t j)
{
	int64_t most = 1;

	for (int32_t t = 0; t < v->cluster->n_types; t++) {
		struct fit_app *a = app_on(v, j, t);
		const struct fit_app_info *info = a ? fit_app_info(a) : NULL;
		const struct fit_agent *g = a ? agent_on(v, j, t) : NULL;
		int64_t n = g && g->max_replicas_seen > 1 ? 2 * g->max_replicas_seen : 2;

		if (!a)
			continue;
		if (g->seeded || n > 64)
			n = 64;
		if (n > info->max_batch / info->min_local_bsz)
			n = info->max_batch / info->min_local_bsz;
		if (info->max_replicas && n > info->max_replicas)
			n = info->max_replicas;
		most = n > most ? n : most;
	}
	return most;
}

/* Predicted goodput on a configuration by the model of that type, or of the first other type that has one. */
static int predict(const struct fit_view *v, uint32_t j, const struct fit_sia_config *c, double *goodput,
		   struct fit_err *err)
{
	struct fit_app *a = app_on(v, j, c->type);
	int32_t from = c->type;
	struct fit_agent *g;
	struct fit_goodput model;
	double scale = 1;
	int rc;

	*goodput = 0;
	if (!a)
		return FIT_OK;
	if (!fit_agent_knows(agent_on(v, j, from))) {
		for (from = 0; from < v->cluster->n_types; from++)
			if (app_on(v, j, from) && fit_agent_knows(agent_on(v, j, from)))
				break;
		if (from == v->cluster->n_types)
			return FIT_OK;
		scale = fit_app_one_gpu(a, v->fidelity->sia_slowest_step) /
			fit_app_one_gpu(app_on(v, j, from), v->fidelity->sia_slowest_step);
		if (!(scale > 0) || !isfinite(scale))
			return FIT_OK;
	}
	g = agent_on(v, j, from);
	rc = fit_agent_refit(g, err);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", v->jobs[j].id);
	model = g->model;
	if (v->fidelity->sia_batch_as_asked && !model.fixed_batch && v->jobs[j].batch_size >= model.init_batch &&
	    v->jobs[j].batch_size < model.max_batch)
		model.max_batch = v->jobs[j].batch_size;
	*goodput = scale * fit_goodput_best(&model, c->nodes, c->gpus).goodput;
	return FIT_OK;
}

static bool knows_nothing(const struct fit_view *v, uint32_t j)
{
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if (app_on(v, j, t) && fit_agent_knows(agent_on(v, j, t)))
			return false;
	return true;
}

static uint64_t version_of(const struct fit_view *v, uint32_t j)
{
	uint64_t sum = 1;

	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if (app_on(v, j, t))
			sum += agent_on(v, j, t)->version;
	return sum;
}

/* All goodputs of a job, in s->goodput: 0 where it may not have the configuration. */
static int goodputs(struct sia *s, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct known *k = &s->known[v->jobs[j].local];
	const int64_t most = most_gpus(v, j);
	const uint64_t version = version_of(v, j);
	int32_t seen = -1;

	if (knows_nothing(v, j)) {	/* the least configuration of each type, all alike */
		for (size_t c = 0; c < s->configs.n_grid; c++) {
			bool first = s->configs.c[c].type != seen;

			seen = s->configs.c[c].type;
			s->goodput[c] = first && app_on(v, j, seen) ? 1 : 0;
		}
		return FIT_OK;
	}
	if (!k->goodput) {
		k->goodput = calloc(s->configs.n + 1, sizeof *k->goodput);
		if (!k->goodput)
			return fit_fail_nomem(err);
	}
	for (size_t c = 0; c < s->configs.n_grid && k->version != version; c++) {
		int rc = predict(v, j, &s->configs.c[c], &k->goodput[c], err);

		if (rc)
			return rc;
	}
	k->version = version;
	for (size_t c = 0; c < s->configs.n_grid; c++)
		s->goodput[c] = s->configs.c[c].gpus <= most ? k->goodput[c] : 0;
	return FIT_OK;
}

static void sia_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct known *k = &((struct sia *)state)->known[v->jobs[j].local];

	free(k->goodput);
	*k = (struct known){ 0 };
}

/* A job that still restarts stays where it is, unless one of its nodes leaves the cluster. */
static bool pinned(const struct fit_view *v, uint32_t j)
{
	const struct fit_alloc *a = fit_view_alloc(v, j);

	for (size_t i = 0; i < a->n; i++)
		if (v->cluster->closed[a->shares[i].node])
			return false;
	return fit_view_restarting(v, j);
}

static int32_t current_config(const struct sia *s, const struct fit_view *v, uint32_t j)
{
	int64_t gpus = fit_view_gpus(v, j);

	return gpus ? fit_sia_configs_find(&s->configs, fit_view_type(v, j), gpus) : FIT_SIA_NOTHING;
}

/* The cost of an option; it has to be worth restarting for, where it is another one than now. */
static struct fit_sia_option option_of(const struct sia *s, const struct fit_sia_job *row, size_t c,
				       float worth, double factor)
{
	const bool changes = row->current >= 0 && (int32_t)c != row->current;

	return (struct fit_sia_option){
		.config = (int32_t)c, .type = s->configs.c[c].type, .gpus = s->configs.c[c].gpus,
		.cost = (s->power > 0 ? -1 : 1) * fit_sia_utility(worth, changes ? factor : 1, s->power) };
}

/* A rigid job has one option for each type. */
static void set_rigid(const struct sia *s, const struct fit_view *v, uint32_t j, struct fit_sia_option *o,
		      struct fit_sia_job *row, double factor)
{
	float worth[FIT_GPU_TYPES_MAX];

	fit_sia_rigid_worth(v, j, worth);
	row->n = 0;
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if (worth[t] > 0)
			o[row->n++] = option_of(s, row, (size_t)fit_sia_configs_find(&s->configs, t, v->jobs[j].gpus), worth[t],
						factor);
}

/* The row of a job in the integer programme; its options go to o. */
static int set_row(struct sia *s, const struct fit_view *v, uint32_t j, struct fit_sia_option *o,
		   struct fit_sia_job *row, struct fit_err *err)
{
	const struct fit_fidelity_app *f = fit_fidelity_app(v->fidelity, v->jobs[j].app_name);
	const int64_t restart_ns = f ? f->believed_ns : fit_view_restart_ns(v, j), sign = s->power > 0 ? -1 : 1;
	const double factor = fit_sia_restart_factor(fit_time_to_double(v->now_ns - fit_view_submit_ns(v, j)),
						     (double)fit_view_restarts(v, j), fit_time_to_double(restart_ns));
	int rc;

	*row = (struct fit_sia_job){ .options = o, .n = s->configs.n_grid, .cost = sign * llrint(100 * s->lambda),
				     .current = current_config(s, v, j), .pinned = pinned(v, j) };
	row->pinned = row->pinned && row->current >= 0;
	if (v->jobs[j].kind == FIT_JOB_RIGID) {
		set_rigid(s, v, j, o, row, factor);
		return FIT_OK;
	}
	rc = goodputs(s, v, j, err);
	fit_sia_normalise(s->goodput, s->configs.n_grid, s->scaled);
	for (size_t c = 0; c < s->configs.n_grid && !rc; c++)
		o[c] = option_of(s, row, c, s->scaled[c], factor);
	return rc;
}

static int sia_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	int64_t capacity[FIT_GPU_TYPES_MAX];
	struct sia *s = state;
	struct fit_sia_answer answer;
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);
	int rc = FIT_OK;

	if (fit_grow(&s->jobs, &s->cap_jobs, n, sizeof *s->jobs) ||
	    fit_grow(&s->options, &s->cap_options, n * s->configs.n, sizeof *s->options) ||
	    fit_grow(&s->choice, &s->cap_choice, n, sizeof *s->choice))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = set_row(s, v, active[i], s->options + i * s->configs.n, &s->jobs[i], err);
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		capacity[t] = v->cluster->types[t].n_open;
	rc = rc ? rc : fit_sia_solve(s->jobs, n, capacity, v->cluster->n_types, s->choice, &answer, err);
	return rc ? rc : fit_sia_place(&s->placer, v, &s->configs, active, s->choice, n, plan, err);
}

static int sia_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];
	int rc;

	fit_format_double(text, p->sia_power);
	rc = fit_meta_add(meta, "sia_p", text);
	fit_format_double(text, p->sia_lambda);
	rc = rc ? rc : fit_meta_add(meta, "sia_lambda", text);
	return rc ? rc : fit_meta_add(meta, "sia_batch", v->fidelity->sia_batch_as_asked ? "asked" : "application");
}

const struct fit_policy fit_policy_sia = {
	.name = "sia",
	.summary = "configurations of GPU types by an exact integer programme; needs --profile and an interval",
	.needs = FIT_NEEDS_PROFILE | FIT_NEEDS_INTERVAL | FIT_ADAPTIVE | FIT_CAPS_BATCH | FIT_DRAINS,
	.init = sia_init,
	.free = sia_free,
	.leave = sia_leave,
	.decide = sia_decide,
	.describe = sia_describe,
};
