/* SPDX-License-Identifier: MIT */
#include "libfit/replay/replay_jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/hash.h"
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

void fit_jobs_release(struct fit_jobs *js)
{
	free(js->jobs);
	free(js->apps);
	free(js->bytes);
	free(js->rates);
	*js = (struct fit_jobs){ 0 };
}

/* Texts are kept as offsets + 1 while the arena can still move. */
static int keep_text(struct fit_jobs *js, struct fit_text t, const char **out)
{
	if (fit_grow(&js->bytes, &js->bytes_cap, js->bytes_n + t.n + 1, 1))
		return FIT_ENOMEM;
	if (t.n)
		memcpy(js->bytes + js->bytes_n, t.s, t.n);
	js->bytes[js->bytes_n + t.n] = '\0';
	*out = (const char *)(uintptr_t)(js->bytes_n + 1);
	js->bytes_n += t.n + 1;
	return FIT_OK;
}

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

/* GPUs of open nodes on which a job may run. */
static int64_t room_for(const struct fit_job *j, const struct fit_cluster *c)
{
	int64_t most = 0;

	for (int32_t i = 0; i < c->n_types; i++)
		if ((j->gpu_type == FIT_ANY_TYPE || j->gpu_type == i) && c->types[i].n_open > most)
			most = c->types[i].n_open;
	return most;
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
static struct fit_app *find_app(const struct fit_jobs_params *p, const struct fit_cluster *k, int32_t type,
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

/* Where the cluster has types: the application of each job on each of them. */
static int find_apps(struct fit_jobs *js, const struct fit_jobs_params *p, struct fit_err *err)
{
	const struct fit_cluster *k = &p->partitions->p[0].cluster;
	const size_t n_types = (size_t)k->n_types;

	if (!p->profiles || !p->profiles->n || p->partitions->named || !fit_cluster_typed(k))
		return FIT_OK;
	js->apps = calloc(js->n * n_types + 1, sizeof *js->apps);
	if (!js->apps)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < js->n; i++) {
		js->jobs[i].apps = js->apps + i * n_types;
		for (size_t t = 0; t < n_types; t++)
			js->apps[i * n_types + t] = find_app(p, k, (int32_t)t, fit_text_of(js->jobs[i].app_name));
	}
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
		j->app = find_app(p, &p->partitions->p[j->partition].cluster, j->gpu_type, c[C_APP].u.t);
		if (!j->app)
			return fit_reader_fail(r, FIT_EDATA, "app", err, "unknown application '%.*s' (expected one "
					       "of the profile)", FIT_TEXT_ARG(c[C_APP].u.t));
		if (j->batch_size < 1)
			return fit_reader_fail(r, FIT_EDATA, "batch_size", err, "missing or below 1 (expected a "
					       "total batch size)");
		return FIT_OK;
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
		if (!p->any_size && !(fit_job_class_left_s(j->job_class, 0, 0, j->gpus) < 3e9))
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

static int add_job(struct fit_jobs *js, struct fit_index *seen, const struct fit_reader *r,
		   const struct fit_cell *c, struct fit_job *j, struct fit_err *err)
{
	uint32_t before = FIT_NO_INDEX;

	if (js->n >= UINT32_MAX - 1)
		return fit_fail(err, FIT_EDATA, "%s: too many jobs", fit_reader_input(r));
	if (fit_index_put(seen, c[C_ID].u.t, (uint32_t)js->n, &before))
		return fit_fail_nomem(err);
	if (before != FIT_NO_INDEX)
		return fit_reader_fail(r, FIT_EDATA, "job_id", err, "duplicate id '%.*s' (first on line %llu)",
				       FIT_TEXT_ARG(c[C_ID].u.t), (unsigned long long)js->jobs[before].line);
	if (keep_text(js, c[C_ID].u.t, &j->id) || keep_text(js, c[C_APP].u.t, &j->app_name) ||
	    fit_grow(&js->jobs, &js->cap, js->n + 1, sizeof *js->jobs))
		return fit_fail_nomem(err);
	js->jobs[js->n++] = *j;
	return FIT_OK;
}

static int read_rows(struct fit_jobs *js, struct fit_reader *r, const struct fit_jobs_params *p,
		     struct fit_err *err)
{
	struct fit_cell cells[N_COLUMNS];
	struct fit_index seen = { 0 };
	int rc = fit_reader_begin(r, columns, N_COLUMNS, err);

	while (!rc) {
		struct fit_err why = { 0 };
		struct fit_job j;

		rc = fit_reader_row(r, cells, err);
		if (rc)
			break;
		rc = take_row(js, r, cells, p, &j, &why);
		if (rc == FIT_END) {
			js->n_cpu_jobs++;
			rc = FIT_OK;
			continue;
		}
		if (!rc)
			rc = add_job(js, &seen, r, cells, &j, &why);
		if (rc && rc != FIT_ENOMEM && (int64_t)js->n_bad < p->skip_bad) {
			if (!js->n_bad++) {
				js->bad_line = fit_reader_line(r);
				snprintf(js->bad_why, sizeof js->bad_why, "%.*s", 255, why.msg);
			}
			rc = FIT_OK;
		} else if (rc && err) {
			*err = why;
		}
	}
	fit_index_release(&seen);
	return rc == FIT_END ? FIT_OK : rc;
}

static int by_submit_and_id(const void *pa, const void *pb)
{
	const struct fit_job *a = pa, *b = pb;
	int c;

	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	c = fit_text_cmp_natural(fit_text_of(a->id), fit_text_of(b->id));
	return c ? c : (a->line > b->line) - (a->line < b->line);
}

static int check_sizes(struct fit_jobs *js, const struct fit_jobs_params *p, struct fit_err *err)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < js->n && !rc; i++) {
		struct fit_job *j = &js->jobs[i];
		const struct fit_partition *part = &p->partitions->p[j->partition];

		j->too_large = !p->any_size &&
			       (j->gpus > room_for(j, &part->cluster) ||
				(part->cluster.switches && !fit_switches_hold(part->cluster.switches, j->gpus)));
		if (!j->too_large)
			continue;
		if (js->n_too_large++ < 20)
			rc = fit_str_printf(&list, "%sjob %s asks for %lld GPUs", list.n ? ", " : "", j->id,
					    (long long)j->gpus);
		if (!rc && p->partitions->named && js->n_too_large <= 20)
			rc = fit_str_printf(&list, " of the %lld of '%s'", (long long)part->cluster.n_open, part->name);
		if (!rc && part->cluster.switches && js->n_too_large <= 20)
			rc = fit_str_puts(&list, " behind one switch, with their CPUs and memory");
		if (!rc && part->cluster.n_types > 1 && js->n_too_large <= 20)
			rc = fit_str_printf(&list, " of the %lld of one type", (long long)room_for(j, &part->cluster));
	}
	if (!rc && js->n_too_large > 20)
		rc = fit_str_printf(&list, ", and %zu more", js->n_too_large - 20);
	if (rc)
		rc = fit_fail_nomem(err);
	else if (js->n_too_large && !p->keep_too_large)
		rc = p->partitions->named ?
		     fit_fail(err, FIT_EDATA, "%s: %s (--skip-too-large rejects such jobs)", js->input, list.s) :
		     fit_fail(err, FIT_EDATA, "%s: %s, the cluster has %lld (--skip-too-large rejects such jobs)",
			      js->input, list.s, (long long)p->partitions->n_gpus);
	fit_str_release(&list);
	return rc;
}

static int count_by_partition(struct fit_jobs *js, size_t n_partitions, struct fit_err *err)
{
	uint32_t *n = calloc(n_partitions, sizeof *n);

	if (!n)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < js->n; i++)
		js->jobs[i].local = n[js->jobs[i].partition]++;
	free(n);
	return FIT_OK;
}

int fit_jobs_read(struct fit_jobs *js, const char *operand, const struct fit_jobs_params *p,
		  struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*js = (struct fit_jobs){ 0 };
	if (rc)
		return rc;
	snprintf(js->input, sizeof js->input, "%s", fit_reader_input(r));
	rc = read_rows(js, r, p, err);
	rc = rc ? rc : fit_reader_only(r, err);
	for (size_t i = 0; i < js->n; i++) {
		js->jobs[i].id = js->bytes + (uintptr_t)js->jobs[i].id - 1;
		js->jobs[i].app_name = js->bytes + (uintptr_t)js->jobs[i].app_name - 1;
		if (js->jobs[i].rates)
			js->jobs[i].rates = js->rates + (uintptr_t)js->jobs[i].rates - 1;
	}
	if (!rc)
		rc = check_sizes(js, p, err);
	fit_reader_hash(r, js->hash);
	fit_reader_close(r);
	if (rc) {
		fit_jobs_release(js);
		return rc;
	}
	if (!p->file_order && js->n)
		qsort(js->jobs, js->n, sizeof *js->jobs, by_submit_and_id);
	rc = count_by_partition(js, p->partitions->n, err);
	rc = rc ? rc : find_apps(js, p, err);
	if (rc)
		fit_jobs_release(js);
	return rc;
}
