/* SPDX-License-Identifier: MIT */
#include "libfit/replay/job_rows.h"

#include <math.h>
#include <stdio.h>

#include "libfit/base/num.h"

/* One hundred years: far beyond any trace, and sums of such times still fit an int64. */
#define MAX_TIME_NS (INT64_C(100) * 366 * 86400 * FIT_NS_PER_S)

enum { C_ID, C_SUBMIT, C_GPUS, C_DURATION, C_APP, C_BATCH, C_GROUP,
       C_PREDICTED, C_DATASET, C_AMP, C_TYPE, C_WORK, C_PLAN, C_SLA, C_PRIORITY, C_SCALING, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[C_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[C_SUBMIT] = { "submit_s", FIT_TIME, 0 },
	[C_GPUS] = { "gpus", FIT_REAL, 0 },
	[C_DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[C_GROUP] = { "group", FIT_TEXT, FIT_F_OPTIONAL },
	[C_PREDICTED] = { "predicted_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_DATASET] = { "dataset", FIT_TEXT, FIT_F_OPTIONAL },
	[C_WORK] = { "work", FIT_REAL, FIT_F_OPTIONAL },
	[C_PLAN] = { "exec_plan", FIT_TEXT, FIT_F_OPTIONAL },
	[C_SLA] = { "is_sla", FIT_INT, FIT_F_OPTIONAL },
	[C_AMP] = { "amp", FIT_INT, FIT_F_OPTIONAL },
	[C_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	[C_PRIORITY] = { "priority", FIT_REAL, FIT_F_OPTIONAL },
	[C_SCALING] = { "scaling", FIT_TEXT, FIT_F_OPTIONAL },
};

/* The GPU type that a job asks for, where the cluster has types. */
static int take_type(const struct fit_reader *r, const struct fit_cell *c, const struct fit_cluster *k,
		     struct fit_job *j, struct fit_err *err)
{
	j->gpu_type = FIT_ANY_TYPE;
	if (!fit_cluster_typed(k) || c[C_TYPE].na || !c[C_TYPE].u.t.n)
		return FIT_OK;
	j->gpu_type = (int16_t)fit_cluster_find_type(k, c[C_TYPE].u.t);
	if (j->gpu_type != FIT_ANY_TYPE)
		return FIT_OK;
	return fit_reader_fail(r, FIT_EDATA, "gpu_type", err, "unknown GPU type '%.*s' (expected one of '%s')",
			       FIT_TEXT_ARG(c[C_TYPE].u.t), k->spec);
}

/* Steps and their rates. Rates are kept as an offset + 1 while the array can still move. */
static int take_rates(struct fit_jobs *js, const struct fit_reader *r, const struct fit_cell *c,
		      const struct fit_jobs_params *p, struct fit_job *j, struct fit_err *err)
{
	const struct fit_cluster *k = &p->partitions->p[j->partition].cluster;
	const struct fit_step_work w = { c[C_APP].u.t, c[C_BATCH].na ? FIT_INT_NA : c[C_BATCH].u.i, j->gpus };
	bool any = false;

	j->steps = c[C_WORK].u.d;
	j->weight = c[C_PRIORITY].na ? 1 : c[C_PRIORITY].u.d;
	if (c[C_APP].na)
		return fit_reader_fail(r, FIT_EDATA, "app", err, "missing (expected an application of the rates)");
	if (c[C_WORK].na || !(j->steps >= 1 && j->steps < 1e15))
		return fit_reader_fail(r, FIT_EDATA, "work", err, "missing or out of range (expected steps, 1 to 1e15)");
	if (!(j->weight > 0 && j->weight < 1e300))
		return fit_reader_fail(r, FIT_EDATA, "priority", err, "out of range '%.17g' (expected more than 0)",
				       j->weight);
	if (fit_grow(&js->rates, &js->rates_cap, js->rates_n + 2 * (size_t)k->n_types, sizeof *js->rates))
		return fit_fail_nomem(err);
	j->rates = (const double *)(uintptr_t)(js->rates_n + 1);
	for (int32_t t = 0; t < k->n_types; t++)
		for (int spread = 0; spread < 2; spread++) {
			double rate = fit_step_rates_find(p->rates, &w, fit_text_of(k->types[t].name), spread);

			rate = rate > 0 ? rate : 0;
			any = any || (rate > 0 && (j->gpu_type == FIT_ANY_TYPE || j->gpu_type == t));
			js->rates[js->rates_n++] = rate;
		}
	if (!any)
		return fit_reader_fail(r, FIT_EDATA, "app", err, "'%.*s' on %lld GPUs runs on no type of the cluster "
				       "(expected a rate above 0)", FIT_TEXT_ARG(w.app), (long long)w.gpus);
	return FIT_OK;
}

int64_t fit_job_room(const struct fit_job *j, const struct fit_cluster *c)
{
	int64_t most = 0;

	for (int32_t i = 0; i < c->n_types; i++)
		if ((j->gpu_type == FIT_ANY_TYPE || j->gpu_type == i) && (!j->apps || j->apps[i]) &&
		    c->types[i].n_open > most)
			most = c->types[i].n_open;
	return most;
}

bool fit_job_fits(const struct fit_job *j, const struct fit_cluster *c)
{
	return j->gpus <= fit_job_room(j, c) && !(c->switches && !fit_switches_hold(c->switches, j->gpus));
}

/* A job that does iterations by an execution plan. Without their number the duration says it. */
static int take_plans(const struct fit_reader *r, const struct fit_cell *c, const struct fit_jobs_params *p,
		      struct fit_job *j, struct fit_err *err)
{
	double iter_s;

	if (c[C_APP].na)
		return fit_reader_fail(r, FIT_EDATA, "app", err, "missing (expected an application of the plan times)");
	j->plans = fit_plan_times_find(p->plan_times, c[C_APP].u.t);
	if (!j->plans)
		return fit_reader_fail(r, FIT_EDATA, "app", err, "unknown application '%.*s' (expected one of the plan "
				       "times)", FIT_TEXT_ARG(c[C_APP].u.t));
	j->exec_plan = c[C_PLAN].na ? FIT_NO_EXEC_PLAN : fit_plan_times_plan(p->plan_times, c[C_PLAN].u.t);
	if (!c[C_PLAN].na && j->exec_plan == FIT_NO_EXEC_PLAN)
		return fit_reader_fail(r, FIT_EDATA, "exec_plan", err, "unknown plan '%.*s' (expected one of the plan "
				       "times)", FIT_TEXT_ARG(c[C_PLAN].u.t));
	if (!c[C_SLA].na && c[C_SLA].u.i != 0 && c[C_SLA].u.i != 1)
		return fit_reader_fail(r, FIT_EDATA, "is_sla", err, "bad value '%lld' (expected 0 or 1)",
				       (long long)c[C_SLA].u.i);
	j->is_sla = c[C_SLA].u.i == 1;
	iter_s = fit_plan_app_packed(j->plans, j->exec_plan, j->gpus, p->node_gpus, p->any_plan_time);
	if (!p->any_size && !(iter_s > 0))
		return fit_reader_fail(r, FIT_EDATA, "gpus", err, "%lld GPUs are outside of what was measured of '%s'",
				       (long long)j->gpus, j->plans->name);
	if (!c[C_WORK].na) {
		if (!(c[C_WORK].u.d >= 1 && c[C_WORK].u.d <= 1e15) || c[C_WORK].u.d != rint(c[C_WORK].u.d))
			return fit_reader_fail(r, FIT_EDATA, "work", err, "bad number of iterations %g (expected at least 1, "
					       "whole)", c[C_WORK].u.d);
		j->iterations = (int64_t)c[C_WORK].u.d;
		return FIT_OK;
	}
	if (c[C_DURATION].na || c[C_DURATION].u.i < 0 || !(iter_s > 0))
		return fit_reader_fail(r, FIT_EDATA, "work", err, "missing (expected iterations, or duration_s on GPUs "
				       "that were measured)");
	j->iterations = (int64_t)rint(fit_time_to_double(c[C_DURATION].u.i) / iter_s);
	j->iterations = j->iterations < 1 ? 1 : j->iterations;
	return FIT_OK;
}

/* The application on GPUs of that type of the cluster, or of the first type that it was measured on. */
struct fit_app *fit_job_find_app(const struct fit_jobs_params *p, const struct fit_cluster *k, int32_t type,
				struct fit_text name)
{
	struct fit_app *app = NULL;

	for (int32_t t = 0; t < k->n_types && !app; t++) {
		struct fit_profile *profile = fit_profile_set_find(p->profiles, fit_text_of(k->types[t].name));

		if (profile && (type == FIT_ANY_TYPE || type == t))
			app = fit_profile_find(profile, name);
	}
	return app;
}

/* A policy that knows no types may put the job on any of them. */
static int check_all_types(const struct fit_reader *r, const struct fit_cell *c,
			   const struct fit_jobs_params *p, const struct fit_job *j, struct fit_err *err)
{
	const struct fit_cluster *k = &p->partitions->p[j->partition].cluster;

	if (!p->blind || k->n_types < 2)
		return FIT_OK;
	if (j->gpu_type != FIT_ANY_TYPE)
		return fit_reader_fail(r, FIT_EDATA, "gpu_type", err, "'%s' (expected none: policy %s knows no "
				       "types)", k->types[j->gpu_type].name, p->blind);
	for (int32_t t = 0; t < k->n_types; t++)
		if (!fit_job_find_app(p, k, t, c[C_APP].u.t))
			return fit_reader_fail(r, FIT_EDATA, "app", err, "'%.*s' was not measured on GPU type '%s' "
					       "(expected an application of all types: policy %s knows no types)",
					       FIT_TEXT_ARG(c[C_APP].u.t), k->types[t].name, p->blind);
	return FIT_OK;
}

/* What a policy may change about the job. */
static int take_kind(const struct fit_reader *r, const struct fit_cell *c, const struct fit_jobs_params *p,
		     struct fit_job *j, struct fit_err *err)
{
	if (c[C_SCALING].na)
		return FIT_OK;
	if (!fit_job_kind_find(c[C_SCALING].u.t, &j->kind))
		return fit_reader_fail(r, FIT_EDATA, "scaling", err, "unknown word '%.*s' (expected " FIT_JOB_KINDS ")",
				       FIT_TEXT_ARG(c[C_SCALING].u.t));
	if (p->molds && j->kind == FIT_JOB_RIGID)
		return fit_reader_fail(r, FIT_EDATA, "scaling", err, "rigid (expected adaptive or scale-gpus: policy %s "
				       "gives each job the number of GPUs that it thinks best)", p->molds);
	return FIT_OK;
}

/* Check one row and fill j. FIT_END: a CPU job, which is left out. */
static int take_row(struct fit_jobs *js, const struct fit_reader *r, const struct fit_cell *c,
		    const struct fit_jobs_params *p, struct fit_job *j, struct fit_err *err)
{
	double g = c[C_GPUS].u.d;

	*j = (struct fit_job){ .duration_ns = -1, .line = fit_reader_line(r) };
	if (c[C_ID].u.t.n == 0)
		return fit_reader_fail(r, FIT_EDATA, "job_id", err, "empty id (expected a name)");
	if (c[C_SUBMIT].na)
		return fit_reader_fail(r, FIT_EDATA, "submit_s", err, "missing (expected seconds)");
	j->submit_ns = c[C_SUBMIT].u.i;
	if (j->submit_ns < 0 || j->submit_ns > MAX_TIME_NS)
		return fit_reader_fail(r, FIT_EDATA, "submit_s", err, "out of range (expected 0 to 100 years "
				       "from the trace origin)");
	if (c[C_GPUS].na)
		return fit_reader_fail(r, FIT_EDATA, "gpus", err, "missing (expected a number of GPUs)");
	if (g < 0 || !isfinite(g))
		return fit_reader_fail(r, FIT_EDATA, "gpus", err, "bad number of GPUs %g (expected at least 1)", g);
	if (g == 0)
		return FIT_END;
	if (g != rint(g) || g > 1e9)
		return fit_reader_fail(r, FIT_EDATA, "gpus", err, "%g GPUs (expected a whole number: a replay does "
				       "not share GPUs)", g);
	j->gpus = (int64_t)g;
	if (p->partitions->named) {
		const struct fit_partition *part = fit_partitions_find(p->partitions, c[C_GROUP].u.t);

		if (c[C_GROUP].na)
			return fit_reader_fail(r, FIT_EDATA, "group", err, "missing (expected a virtual cluster)");
		if (!part)
			return fit_reader_fail(r, FIT_EDATA, "group", err, "unknown virtual cluster '%.*s' (expected "
					       "one of the cluster's)", FIT_TEXT_ARG(c[C_GROUP].u.t));
		j->partition = (uint16_t)(part - p->partitions->p);
	}
	if (take_type(r, c, &p->partitions->p[j->partition].cluster, j, err) || take_kind(r, c, p, j, err))
		return FIT_EDATA;
	j->predicted_ns = c[C_PREDICTED].na ? FIT_NO_PREDICTION : c[C_PREDICTED].u.i;
	if (p->predicted && c[C_PREDICTED].na)
		return fit_reader_fail(r, FIT_EDATA, "predicted_s", err, "missing (expected seconds: what is thought "
				       "of duration_s)");
	if (!c[C_PREDICTED].na && (j->predicted_ns > MAX_TIME_NS || j->predicted_ns < -MAX_TIME_NS))
		return fit_reader_fail(r, FIT_EDATA, "predicted_s", err, "out of range (expected at most 100 years)");
	if (!c[C_BATCH].na)
		j->batch_size = c[C_BATCH].u.i;
	j->config = FIT_NO_INDEX;
	if (p->colocation) {
		j->config = fit_colocation_find(p->colocation, c[C_APP].u.t, c[C_DATASET].u.t, c[C_BATCH].u.i,
						c[C_AMP].u.i);
		if (j->config == FIT_NO_INDEX)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "no measurement of '%.*s' '%.*s' at batch size "
					       "%lld, amp %lld (expected a configuration that was measured)",
					       FIT_TEXT_ARG(c[C_APP].u.t), FIT_TEXT_ARG(c[C_DATASET].u.t),
					       (long long)c[C_BATCH].u.i, (long long)c[C_AMP].u.i);
	}
	if (p->profiles && p->profiles->n) {
		if (c[C_APP].na)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "missing (expected an application of the "
					       "profile)");
		j->app = fit_job_find_app(p, &p->partitions->p[j->partition].cluster, j->gpu_type, c[C_APP].u.t);
		if (!j->app)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "unknown application '%.*s' (expected one "
					       "of the profile)", FIT_TEXT_ARG(c[C_APP].u.t));
		if (j->batch_size < 1)
			return fit_reader_fail(r, FIT_EDATA, "batch_size", err, "missing or below 1 (expected a "
					       "total batch size)");
		return check_all_types(r, c, p, j, err);
	}
	if (p->plan_times)
		return take_plans(r, c, p, j, err);
	if (p->classes) {
		if (c[C_APP].na)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "missing (expected a class of the speedups)");
		j->job_class = fit_job_classes_find(p->classes, c[C_APP].u.t);
		if (!j->job_class)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "unknown class '%.*s' (expected one of the "
					       "speedups)", FIT_TEXT_ARG(c[C_APP].u.t));
		if (!p->any_size && !(fit_job_class_left_s(j->job_class, 0, 0, j->gpu_type, j->gpus) < 3e9))
			return fit_reader_fail(r, FIT_EDATA, "gpus", err, "class '%s' does not run on %lld GPUs in every "
					       "epoch (expected a width of the speedups)", j->job_class->name,
					       (long long)j->gpus);
		return FIT_OK;
	}
	if (p->rates)
		return take_rates(js, r, c, p, j, err);
	if (c[C_DURATION].na)
		return fit_reader_fail(r, FIT_EDATA, "duration_s", err,
				       "missing (expected seconds, or --profile; --skip-bad=N leaves such jobs out)");
	j->duration_ns = c[C_DURATION].u.i;
	if (j->duration_ns < 0 || j->duration_ns > MAX_TIME_NS)
		return fit_reader_fail(r, FIT_EDATA, "duration_s", err, "out of range (expected 0 to 100 years)");
	return FIT_OK;
}

int fit_job_rows_begin(struct fit_job_rows *x, struct fit_reader *r, struct fit_jobs *js,
		       const struct fit_jobs_params *p, struct fit_err *err)
{
	*x = (struct fit_job_rows){ .r = r, .js = js, .p = p };
	return fit_reader_begin(r, columns, N_COLUMNS, err);
}

void fit_job_rows_release(struct fit_job_rows *x)
{
	fit_id_set_release(&x->seen);
}

static int take_id(struct fit_job_rows *x, struct fit_text id, struct fit_err *err)
{
	uint64_t first;

	if (fit_id_set_put(&x->seen, id, fit_reader_line(x->r), &first))
		return fit_fail_nomem(err);
	return !first ? FIT_OK :
	       fit_reader_fail(x->r, FIT_EDATA, "job_id", err, "duplicate id '%.*s' (first on line %llu)",
			       FIT_TEXT_ARG(id), (unsigned long long)first);
}

int fit_job_rows_next(struct fit_job_rows *x, struct fit_job *j, struct fit_text *id, struct fit_text *app,
		      struct fit_err *err)
{
	struct fit_jobs *js = x->js;
	struct fit_cell cells[N_COLUMNS];

	for (;;) {
		struct fit_err why = { 0 };
		int rc = fit_reader_row(x->r, cells, err);

		if (rc)
			return rc;
		rc = take_row(js, x->r, cells, x->p, j, &why);
		if (rc == FIT_END) {
			js->n_cpu_jobs++;
			continue;
		}
		*id = cells[C_ID].u.t;
		*app = cells[C_APP].na ? (struct fit_text){ "", 0 } : cells[C_APP].u.t;
		rc = rc ? rc : take_id(x, *id, &why);
		if (!rc)
			return FIT_OK;
		if (rc == FIT_ENOMEM || (int64_t)js->n_bad >= x->p->skip_bad) {
			if (err)
				*err = why;
			return rc;
		}
		if (!js->n_bad++) {
			js->bad_line = fit_reader_line(x->r);
			snprintf(js->bad_why, sizeof js->bad_why, "%.*s", 255, why.msg);
		}
	}
}
