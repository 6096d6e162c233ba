/* SPDX-License-Identifier: MIT */
/* Inputs of the verifier other than the log: the jobs table and the profile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

enum { C_ID, C_SUBMIT, C_GPUS, C_DURATION, C_APP, C_BATCH, C_PREDICTED, C_GROUP, C_DATASET, C_AMP, C_TYPE,
       C_WORK, C_PLAN, C_SLA, C_PRIORITY, C_SCALING, N_CELLS };

static const struct fit_field fields[N_CELLS] = {
	[C_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[C_SUBMIT] = { "submit_s", FIT_TIME, 0 },
	[C_GPUS] = { "gpus", FIT_REAL, 0 },
	[C_DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_PREDICTED] = { "predicted_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_GROUP] = { "group", FIT_TEXT, FIT_F_OPTIONAL },
	[C_DATASET] = { "dataset", FIT_TEXT, FIT_F_OPTIONAL },
	[C_AMP] = { "amp", FIT_INT, FIT_F_OPTIONAL },
	[C_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	[C_WORK] = { "work", FIT_REAL, FIT_F_OPTIONAL },
	[C_PLAN] = { "exec_plan", FIT_TEXT, FIT_F_OPTIONAL },
	[C_SLA] = { "is_sla", FIT_INT, FIT_F_OPTIONAL },
	[C_PRIORITY] = { "priority", FIT_REAL, FIT_F_OPTIONAL },
	[C_SCALING] = { "scaling", FIT_TEXT, FIT_F_OPTIONAL },
	[C_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
};

static int take_app(struct fit_verifier *v, struct fit_text name, uint16_t *app,
		    struct fit_err *err)
{
	uint32_t found = fit_index_get(&v->by_app, name);

	if (found == FIT_NO_INDEX) {
		if (v->n_apps >= UINT16_MAX - 1)
			return fit_fail(err, FIT_EDATA, "more than %d applications",
					UINT16_MAX - 1);
		if (fit_grow(&v->apps, &v->cap_apps, v->n_apps + 1, sizeof *v->apps))
			return fit_fail_nomem(err);
		found = (uint32_t)v->n_apps;
		if (fit_index_put(&v->by_app, name, found, NULL))
			return fit_fail_nomem(err);
		v->apps[found] = (struct verify_app){ .name = fit_strdup(name) };
		if (!v->apps[found].name)
			return fit_fail_nomem(err);
		v->n_apps++;
	}
	*app = (uint16_t)found;
	return FIT_OK;
}

/* Why no replay can run this row, or NULL. What decides the run time is known later:
 * verify_leave_out_jobs(). */
static const char *unusable(const struct fit_cell *c, bool again)
{
	enum fit_job_kind kind;
	double g = c[C_GPUS].u.d;

	if (c[C_ID].u.t.n == 0)
		return "no job_id";
	if (c[C_SUBMIT].na || c[C_SUBMIT].u.i < 0 || c[C_SUBMIT].u.i > MAX_TIME_NS)
		return "submit_s is missing or out of range";
	if (c[C_GPUS].na || !isfinite(g) || g < 0 || g > 1e9 || g < floor(g) || g > floor(g))
		return "gpus is missing or no whole number of GPUs";
	if (!c[C_SCALING].na && !fit_job_kind_find(c[C_SCALING].u.t, &kind))
		return "scaling is not " FIT_JOB_KINDS;
	return again ? "job_id was there before" : NULL;
}

static int leave_out(struct fit_verifier *v, const struct fit_reader *r, const char *why)
{
	if (!v->n_unusable++)
		snprintf(v->unusable_why, sizeof v->unusable_why, "line %llu: %s",
			 (unsigned long long)fit_reader_line(r), why);
	return FIT_OK;
}

/* Numbers of the cells that only some tables have. FIT_ENOMEM. */
static int take_columns(struct fit_verifier *v, const struct fit_cell *c, uint32_t job)
{
	struct verify_job_columns *k = &v->columns;
	uint32_t config = FIT_NO_INDEX, plan = FIT_NO_INDEX;

	if (v->measured)
		config = fit_colocation_find(&v->colocation, c[C_APP].u.t, c[C_DATASET].u.t, c[C_BATCH].u.i, c[C_AMP].u.i);
	if (!c[C_PLAN].na && c[C_PLAN].u.t.n) {
		if (fit_id_map_put(&v->plan_names, c[C_PLAN].u.t, &plan))
			return FIT_ENOMEM;
		plan = plan == FIT_NO_INDEX ? (uint32_t)(v->plan_names.n - 1) : plan;
	}
	if (verify_column_set(&k->batch, job, c[C_BATCH].na ? NO_INT : c[C_BATCH].u.i) ||
	    verify_column_set(&k->predicted_ns, job, c[C_PREDICTED].na ? NO_INT : c[C_PREDICTED].u.i) ||
	    verify_column_set_real(&k->steps, job, c[C_WORK].na ? (double)NAN : c[C_WORK].u.d) ||
	    verify_column_set_real(&k->weight, job, c[C_PRIORITY].na ? (double)NAN : c[C_PRIORITY].u.d) ||
	    verify_column_set(&k->plan, job, plan == FIT_NO_INDEX ? NO_INT : plan))
		return FIT_ENOMEM;
	return verify_column_set(&k->config, job, config == FIT_NO_INDEX ? NO_INT : config);
}

static int take_row(struct fit_verifier *v, struct fit_reader *r, const struct fit_cell *c,
		    struct fit_err *err)
{
	struct fit_text id = c[C_ID].u.t;
	struct verify_job j = {
		.submit_ns = c[C_SUBMIT].u.i,
		.duration_ns = c[C_DURATION].na ? NO_INT : c[C_DURATION].u.i,
		.is_sla = !c[C_SLA].na && c[C_SLA].u.i == 1,
		.gpus = c[C_GPUS].u.d,
		.rank = (uint32_t)v->n_jobs,
		.live = NONE,
		.app = UINT16_MAX,
	};
	enum fit_job_kind kind = FIT_JOB_ADAPTIVE;
	uint32_t before = FIT_NO_INDEX;
	const char *why = unusable(c, false);
	int rc;

	if (why)
		return leave_out(v, r, why);
	if (j.gpus <= 0)
		return FIT_OK; /* a CPU job; no replay takes it */
	if (v->n_jobs >= UINT32_MAX - 1)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "too many jobs");
	if (fit_id_map_put(&v->ids, id, &before))
		return fit_fail_nomem(err);
	if (before != FIT_NO_INDEX)
		return leave_out(v, r, unusable(c, true));
	if (!c[C_SCALING].na && fit_job_kind_find(c[C_SCALING].u.t, &kind))
		j.kind = (unsigned)kind & 0x3f;
	if (!c[C_APP].na) {
		rc = take_app(v, c[C_APP].u.t, &j.app, err);
		if (rc)
			return rc;
	}
	if (!c[C_TYPE].na && verify_type_number(v, c[C_TYPE].u.t, &j.gpu_type))
		return fit_fail_nomem(err);
	if (!c[C_GROUP].na && verify_share_group(v, c[C_GROUP].u.t, &j.vc))
		return fit_fail_nomem(err);
	if (take_columns(v, c, (uint32_t)v->n_jobs) ||
	    fit_grow(&v->jobs, &v->cap_jobs, v->n_jobs + 1, sizeof *v->jobs))
		return fit_fail_nomem(err);
	v->jobs[v->n_jobs++] = j;
	return FIT_OK;
}

int fit_verifier_jobs(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[N_CELLS];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, fields, N_CELLS, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		if (!rc)
			rc = take_row(v, r, cells, err);
	}
	if (rc == FIT_END)
		rc = fit_reader_only(r, err);
	fit_reader_hash(r, v->hash_jobs);
	fit_reader_close(r);
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_verifier_colocation(struct fit_verifier *v, const char *configs, const char *pairs,
			    struct fit_err *err)
{
	int rc = fit_colocation_load(&v->colocation, configs, pairs, err);

	v->measured = rc == FIT_OK;
	return rc;
}

int fit_verifier_profile(struct fit_verifier *v, const char *store, struct fit_err *err)
{
	int rc = fit_profile_set_add(&v->apps_by_type, store, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < v->n_apps; i++) {
		struct verify_app *a = &v->apps[i];

		if (a->model)
			continue;
		a->model = fit_profile_find(v->apps_by_type.entries[v->apps_by_type.n - 1].profile, fit_text_of(a->name));
		a->info = a->model ? fit_app_info(a->model) : NULL;
	}
	return FIT_OK;
}

int fit_verifier_models(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	return fit_theta_list_read(&v->models, operand, err);
}

/* Jobs without what decides their run time, once the log has said whether a profile does. */
void verify_leave_out_jobs(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		struct verify_job *j = &v->jobs[i];
		const char *why = NULL;

		if (v->with_profile && (j->app == UINT16_MAX || !v->apps[j->app].model))
			why = "its application is not in the profile";
		else if (v->with_profile && verify_job_batch(v, (uint32_t)i) < 1)
			why = "batch_size is missing or below 1";
		else if (v->with_speedups && (j->app == UINT16_MAX || !v->apps[j->app].class))
			why = "its class is not in the speedups";
		else if (v->with_plans && !verify_plan_app(v, (uint32_t)i))
			why = "its application is not in the plan times";
		else if (v->with_rates && !verify_has_rate(v, (uint32_t)i))
			why = "it has no steps, or no rate";
		else if (!v->by_epoch &&
			 (j->duration_ns == NO_INT || j->duration_ns < 0 || j->duration_ns > MAX_TIME_NS))
			why = "duration_s is missing or out of range";
		if (!why)
			continue;
		j->state = JOB_LEFT_OUT;
		if (!v->n_unusable++)
			snprintf(v->unusable_why, sizeof v->unusable_why, "job '%.*s': %s",
				 FIT_TEXT_ARG(verify_job_id(v, (uint32_t)i)), why);
	}
}

static bool has_id(const struct fit_verifier *v, uint32_t job, struct fit_text id)
{
	return job < v->n_jobs && v->jobs[job].state != JOB_LEFT_OUT && fit_text_eq(verify_job_id(v, job), id);
}

/* Most rows are of the job of the row before, or of the one behind the last that came so: looking
 * there first saves two of three looks into an index that is larger than the cache. */
uint32_t verify_find_row_job(struct fit_verifier *v, struct fit_text id)
{
	if (has_id(v, v->last_found, id))
		return v->last_found;
	v->last_found = has_id(v, v->next_found, id) ? v->next_found++ : verify_find_job(v, id);
	return v->last_found;
}

uint32_t verify_find_job(const struct fit_verifier *v, struct fit_text id)
{
	uint32_t job = fit_id_map_get(&v->ids, id);

	return job != NONE && v->jobs[job].state == JOB_LEFT_OUT ? NONE : job;
}

void fit_verifier_keep_results(struct fit_verifier *v)
{
	v->keep = true;
}

struct fit_text verify_job_id(const struct fit_verifier *v, uint32_t job)
{
	if (job >= v->ids.n)
		return FIT_TEXT_LIT("");
	return fit_id_map_text(&v->ids, job);
}
