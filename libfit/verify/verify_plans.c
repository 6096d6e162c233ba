/* SPDX-License-Identifier: MIT */
/*
 * Execution plans (Rubick): iterations of a job from the table of measured times, what is kept of one that
 * was begun, and which plans and guarantees policy rubick may give. docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define REL 1e-9

int fit_verifier_plan_times(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	return fit_plan_times_read(&v->plan_times, operand, err);
}

/* The metadata that a log of execution plans has. */
void verify_read_meta_plans(struct fit_verifier *v, const struct fit_meta *m)
{
	static const char *const keys[] = { "iteration_time", "partial_iteration", "same_gpus_moved",
					    "without_gpus" };
	static const char *const right[] = { "of-plan", "share", "restarted", "waits" };
	static const char *const other[] = { "of-any-plan", "seconds", "free", "runs-on" };
	const char *s = fit_meta_get(m, "extra_iterations"), *fidelity = fit_meta_get(m, "fidelity");
	bool rubick = fidelity && fit_text_is(fit_text_of(fidelity), "rubick-mlsys25");
	bool *const flags[] = { &v->any_plan_time, &v->keeps_seconds, &v->free_shifts, &v->ghosts };

	if (!v->with_plans)
		return;
	for (size_t i = 0; i < 4; i++) {
		const char *x = fit_meta_get(m, keys[i]);

		*flags[i] = x && fit_text_is(fit_text_of(x), other[i]);
		verify_check(v, RULE_META);
		if (!x || (!*flags[i] && !fit_text_is(fit_text_of(x), right[i])) || *flags[i] != rubick)
			verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected %s, that of the fidelity)", keys[i],
				     x ? x : "missing", rubick ? other[i] : right[i]);
	}
	verify_check(v, RULE_META);
	if (!s || fit_parse_int64(fit_text_of(s), &v->extra_iterations) || v->extra_iterations != (rubick ? 1 : 0)) {
		verify_fault(v, RULE_META, NONE, "metadata extra_iterations is '%s' (expected %d)",
			     s ? s : "missing", rubick);
		v->extra_iterations = rubick;
	}
	s = fit_meta_get(m, "rubick");
	v->by_gain = s && fit_text_is(fit_text_of(s), "by-gain");
	s = fit_meta_get(m, "rubick_speeds");
	v->speeds_measured = s && fit_text_is(fit_text_of(s), "measured");
}

const struct fit_plan_app *verify_plan_app(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];

	return j->app == UINT16_MAX ? NULL : fit_plan_times_find(&v->plan_times, fit_text_of(v->apps[j->app].name));
}

uint16_t verify_job_plan(const struct fit_verifier *v, uint32_t job)
{
	int64_t plan = verify_column_get(&v->columns.plan, job);

	return plan == NO_INT ? FIT_NO_EXEC_PLAN :
	       fit_plan_times_plan(&v->plan_times, fit_id_map_text(&v->plan_names, (uint32_t)plan));
}

int64_t verify_iterations(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];
	const struct fit_plan_app *a = verify_plan_app(v, job);
	double s = verify_job_steps(v, job);

	if (s >= 1 && s <= 1e15)
		return (int64_t)s;
	s = !a || j->duration_ns == NO_INT ? (double)NAN :
	    fit_plan_app_packed(a, verify_job_plan(v, job), (int64_t)j->gpus, v->gpus_per_node, v->any_plan_time);
	s = s > 0 ? rint(fit_time_to_double(j->duration_ns) / s) : 1;
	return s < 1 ? 1 : (int64_t)s;
}

/* Iterations a second by a plan on these nodes; negative: outside of what was measured. */
double verify_plan_rate(const struct fit_verifier *v, uint32_t job, const struct verify_place *nodes,
			size_t n, uint16_t plan)
{
	const struct fit_plan_app *a = verify_plan_app(v, job);
	int32_t per_node[FIT_PLAN_NODES_MAX];
	double s;

	if (!a || !n || n > FIT_PLAN_NODES_MAX)
		return -1;
	for (size_t i = 0; i < n; i++)
		per_node[i] = nodes[i].gpus;
	s = fit_plan_app_iter(a, plan, per_node, n, v->any_plan_time);
	return s > 0 ? 1 / s : -1;
}

/* A row gives a job an allocation: what its progress is in iterations of the new length. l: where what is
 * kept is noted; NULL: nowhere. */
double verify_plan_carry(const struct fit_verifier *v, const struct verify_row *r, struct verify_live *l,
			 double progress)
{
	const struct verify_live *was = r->live;
	double whole = floor(progress * (1 + 1e-15)), begun, to;

	if (!v->keeps_seconds || !(was->rate > 0))
		return progress;
	begun = progress > whole ? (progress - whole) / was->rate : 0;
	if (was->begun_s > 0 && !(progress < was->carried) && !(progress > was->carried)) {
		whole = was->whole;
		begun = was->begun_s;
	}
	to = verify_plan_rate(v, r->job, r->nodes, r->n_nodes, r->exec_plan);
	if (!(to > 0))
		return progress;
	if (l) {
		l->whole = whole;
		l->begun_s = begun;
		l->carried = whole + begun * to;
	}
	return whole + begun * to;
}

static bool is_wide(const struct fit_plan_app *a)
{
	double one = (double)INFINITY, more = (double)INFINITY;

	for (size_t i = 0; i < a->n; i++)
		if (a->times[i].nodes == 1)
			one = fmin(one, a->times[i].iter_s);
		else
			more = fmin(more, a->times[i].iter_s);
	return more < one;
}

/* The time that was measured of a plan on as many GPUs of each node; NAN: none. */
static double measured(const struct fit_plan_app *a, const struct verify_row *r, uint16_t plan)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct fit_plan_time *x = &a->times[i];

		if (x->plan != plan || (size_t)x->nodes != r->n_nodes)
			continue;
		for (size_t by = 0; by < r->n_nodes; by++) {
			size_t k = 0;

			while (k < r->n_nodes && x->per_node[k] == r->nodes[(k + by) % r->n_nodes].gpus)
				k++;
			if (k == r->n_nodes)
				return x->iter_s;
		}
	}
	return (double)NAN;
}

void verify_row_rubick_plan(struct fit_verifier *v, const struct verify_row *r)
{
	const struct fit_plan_app *a = r->job == NONE ? NULL : verify_plan_app(v, r->job);
	double here;

	if (!a)
		return;
	verify_check(v, RULE_RUBICK_PLAN);
	if (r->exec_plan == FIT_NO_EXEC_PLAN) {
		verify_fault(v, RULE_RUBICK_PLAN, r->job, "runs by no plan of the table");
		return;
	}
	if (!is_wide(a) && r->n_nodes > 1) {
		verify_fault(v, RULE_RUBICK_PLAN, r->job, "is on %zu nodes (expected one: '%s' is fastest there)",
			     r->n_nodes, a->name);
		return;
	}
	here = measured(a, r, r->exec_plan);
	if (isnan(here)) {
		verify_fault(v, RULE_RUBICK_PLAN, r->job, "plan %s was not measured on '%.*s'",
			     v->plan_times.plans[r->exec_plan], FIT_TEXT_ARG(r->nodes_text));
		return;
	}
	for (size_t i = 0; i < a->n && v->speeds_measured; i++)
		if (measured(a, r, a->times[i].plan) < here) {
			verify_fault(v, RULE_RUBICK_PLAN, r->job, "plan %s takes %.9g s there, plan %s is faster",
				     v->plan_times.plans[r->exec_plan], here, v->plan_times.plans[a->times[i].plan]);
			return;
		}
}

/* After a decision a guaranteed job that runs has the speed of its own plan on what it asks for, or as many
 * GPUs as that. */
void verify_decide_rubick_sla(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs && v->legal; i++) {
		const struct verify_job *j = &v->jobs[i];
		const struct verify_live *l;
		const struct fit_plan_app *a;
		double target;

		if (!j->is_sla || j->state != JOB_RUNNING || j->live == NONE)
			continue;
		l = &v->live[j->live];
		a = verify_plan_app(v, (uint32_t)i);
		if (!a || !l->n_nodes || is_wide(a))
			continue;
		verify_check(v, RULE_RUBICK_SLA);
		target = fit_plan_app_packed(a, verify_job_plan(v, (uint32_t)i), (int64_t)j->gpus, v->gpus_per_node, false);
		if (target > 0 && l->gpus < (int64_t)j->gpus &&
		    verify_plan_rate(v, (uint32_t)i, l->nodes, l->n_nodes, l->exec_plan) * target < 1 - REL)
			verify_fault(v, RULE_RUBICK_SLA, (uint32_t)i,
				     "does %.9g iterations a second on %lld GPUs, guaranteed are %.9g",
				     verify_plan_rate(v, (uint32_t)i, l->nodes, l->n_nodes, l->exec_plan), (long long)l->gpus,
				     1 / target);
	}
}
