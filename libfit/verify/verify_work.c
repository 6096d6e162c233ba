/* SPDX-License-Identifier: MIT */
/*
 * The work of a job, derived from the application model and the instants in the log: batch split,
 * rate of progress, ends of epochs, restart delays. Formulas: docs/methods/verify.md; Qiao et al.,
 * OSDI'21, equations 1 and 7 (efficiency, goodput).
 */
#include <math.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

/* Arithmetic noise that is no violation: one microsecond, one part in 1e9. */
#define ABS_S 1e-6
#define REL 1e-9

/* The published ceiling is taken of x - 1e-8, so that 4.000000001 counts as 4. */
static int64_t ceil_of(double x)
{
	return (int64_t)ceil(x - 1e-8);
}

static int64_t at_least(int64_t x, int64_t low)
{
	return x < low ? low : x;
}

struct fit_batch verify_split(const struct fit_app_info *a, int64_t target, int64_t replicas,
			      bool like_optimus)
{
	struct fit_batch b = { 0, 0 };
	int64_t local, most;

	if (target < 1 || replicas < 1)
		return b;
	local = ceil_of((double)target / (double)replicas);
	b.accum_steps = ceil_of((double)local / (double)a->max_local_bsz) - 1;
	if (replicas == 1 && (like_optimus || target > a->init_batch))
		b.accum_steps = at_least(b.accum_steps, 1);
	b.atomic_bsz = ceil_of((double)local / (double)(b.accum_steps + 1));
	most = a->max_batch / (replicas * (b.accum_steps + 1));
	if (b.atomic_bsz > most)
		b.atomic_bsz = most;
	return b;
}

int64_t verify_target(const struct fit_verifier *v, uint32_t job)
{
	int64_t asked = verify_job_batch(v, job);

	return asked != NO_INT ? asked : v->apps[v->jobs[job].app].info->init_batch;
}

void verify_placement(const struct verify_place *nodes, size_t n, struct fit_placement *p)
{
	p->n_nodes = 0;
	for (size_t i = 0; i < n && p->n_nodes < FIT_PLACEMENT_MAX; i++)
		p->gpus[p->n_nodes++] = nodes[i].gpus;
}

int64_t verify_restart_ns(const struct fit_verifier *v, uint32_t job, uint16_t type)
{
	if (v->restart_ns != NO_INT)
		return v->restart_ns;
	if (verify_sia_app(v, job))
		return (int64_t)llrint(verify_sia_app(v, job)->delay_s * 1e9);
	if (v->with_profile && v->jobs[job].app != UINT16_MAX)
		return v->apps[v->jobs[job].app].info->restart_ns;
	if (v->with_speedups && v->jobs[job].app != UINT16_MAX)
		return verify_rescale_ns(v, job, type);
	return 0;
}

double verify_epoch_end(const struct fit_verifier *v, uint32_t job, int64_t e)
{
	const struct verify_app *a = &v->apps[v->jobs[job].app];

	if (v->with_plans)
		return (double)(verify_iterations(v, job) + v->extra_iterations);
	if (v->with_rates)
		return verify_job_steps(v, job);
	if (v->with_speedups)
		return verify_work_until(v, job, e + 1);
	return fit_app_epoch_start(a->model, e < a->info->epochs ? e + 1 : a->info->epochs);
}

int64_t verify_total(const struct fit_app_info *a, int64_t replicas, int64_t local_bsz, int64_t accum)
{
	if (replicas < 1 || local_bsz < 1 || accum < 0)
		return -1;
	if (accum >= a->max_batch || local_bsz > a->max_batch / (accum + 1) ||
	    replicas > a->max_batch / (accum + 1) / local_bsz)
		return -1;
	return replicas * local_bsz * (accum + 1);
}

/* Goodput in initial-batch-equivalent steps per second: gain / (step + accum * (step - sync)), with
 * gain = (var + sqr) / (var / scale + sqr). Negative when the profile does not cover it. */
static double rate_of(struct fit_verifier *v, const struct verify_app *a, struct fit_app *model,
		      const struct fit_placement *p, int64_t replicas, struct fit_batch b,
		      int64_t epoch)
{
	int64_t total = verify_total(a->info, replicas, b.atomic_bsz, b.accum_steps);
	double step, sync, sqr, var, scale, gain;

	if (total < 0) {
		(void)fit_fail(&v->model_err, FIT_EDATA, "the batch size is none, or over %lld",
			       (long long)a->info->max_batch);
		return -1;
	}
	if (!model) {
		(void)fit_fail(&v->model_err, FIT_EDATA, "'%s' was not measured on GPUs of this type", a->name);
		return -1;
	}
	if (fit_app_throughput(model, p, b.atomic_bsz, &step, &sync, &v->model_err) ||
	    fit_app_grad_stats(model, total, epoch, &sqr, &var, &v->model_err))
		return -1;
	scale = (double)total / (double)a->info->init_batch;
	gain = (var + sqr) / (var / scale + sqr);
	return gain / (step + (double)b.accum_steps * (step - sync));
}

double verify_rate(struct fit_verifier *v, struct verify_live *l)
{
	const struct verify_job *j = &v->jobs[l->job];
	struct fit_placement p;

	if (!v->by_epoch)
		return 1;
	if (v->with_speedups) {
		l->rate = j->app == UINT16_MAX || l->gpus < 1 ? 0 : verify_live_speed(v, l);
		return l->rate;
	}
	if (l->rate > 0 || l->rate < 0)
		return l->rate;
	if (v->with_plans) {
		l->rate = verify_plan_rate(v, l->job, l->nodes, l->n_nodes, l->exec_plan);
		if (l->rate < 0)
			(void)fit_fail(&v->model_err, FIT_EDATA, "outside of what was measured of its plan");
		return l->rate;
	}
	if (v->with_rates)
		return l->rate = verify_steps_rate(v, l);
	l->rate = -1;
	if (j->app != UINT16_MAX && l->gpus > 0 && l->epoch < v->apps[j->app].info->epochs) {
		verify_placement(l->nodes, l->n_nodes, &p);
		l->rate = rate_of(v, &v->apps[j->app], verify_model_on(v, l->job, l->nodes[0].node), &p, l->gpus,
				  (struct fit_batch){ l->local_bsz, l->accum }, l->epoch);
	}
	if (l->rate > 0)
		l->rate *= 1 - l->slow;
	if (l->rate > 0 && verify_sia_app(v, l->job))
		l->rate /= verify_sia_app(v, l->job)->slower;
	return l->rate;
}

int64_t verify_preempt_work_ns(const struct fit_verifier *v, uint32_t job)
{
	if (v->by_epoch)
		return 0;
	return v->jobs[job].gpus > (double)v->preempt_wide_gpus ? v->preempt_wide_work_ns : v->preempt_work_ns;
}

void verify_forecast(struct fit_verifier *v, struct verify_row *r)
{
	struct verify_live *l = r->live;
	const struct verify_job *j;
	int64_t from;
	double rate, need;

	if (!l || r->job == NONE || v->jobs[r->job].state != JOB_RUNNING)
		return;
	j = &v->jobs[r->job];
	if (v->packs != PACKS_NOT || l->on_profiler) {
		verify_share_forecast(v, r);
		return;
	}
	from = l->last_ns > l->ready_ns ? l->last_ns : l->ready_ns;
	r->ran_ns = r->t > from ? r->t - from : 0;
	if (!v->by_epoch) {
		int64_t left = j->duration_ns - l->done_ns;

		if (j->duration_ns == NO_INT)
			return;
		r->known = true;
		r->late_s = fit_time_to_double(r->t - from - left - v->notice_ns);
		if (v->notice_ns && r->ran_ns >= left) { /* done, and not noticed before now */
			r->ran_ns = left;
			r->done_before = true;
		}
		r->progress_now = fit_time_to_double(l->done_ns + r->ran_ns);
		return;
	}
	rate = verify_rate(v, l);
	if (v->with_speedups && j->app != UINT16_MAX && !(rate > 0)) {
		/* its GPUs are of no use in this epoch: it stands still */
		r->known = true;
		r->progress_now = l->progress;
		r->late_s = -fit_time_to_double(r->t) - 1;
		return;
	}
	if (!(rate > 0))
		return;
	need = (verify_epoch_end(v, r->job, l->epoch) - l->progress) / rate;
	r->known = true;
	r->progress_now = l->progress + rate * fit_time_to_double(r->ran_ns);
	r->late_s = fit_time_to_double(r->t - from) - (need > 0 || v->keeps_seconds ? need : 0);
	if (v->keeps_seconds && need < 0)	/* more than all was carried over: it ends within its delay */
		r->late_s = fit_time_to_double(r->t - l->ready_ns) - need;
	verify_stand_still(v, r, rate);
}

double verify_progress_at_now(struct fit_verifier *v, struct verify_live *l)
{
	int64_t from = l->last_ns > l->ready_ns ? l->last_ns : l->ready_ns;

	if (v->jobs[l->job].state != JOB_RUNNING || v->now <= from || !(verify_rate(v, l) > 0))
		return l->progress;
	return l->progress + l->rate * fit_time_to_double(v->now - from);
}

/* Predicted times of an application at one batch size and number of GPUs, epoch by epoch. */
struct verify_course {
	const struct fit_app *model;
	int64_t batch, gpus;
	double *rate, *after_s; /* per epoch: rate in it; time from its end to the job's end */
};

void verify_courses_release(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_courses; i++) {
		free(v->courses[i].rate);
		free(v->courses[i].after_s);
	}
	free(v->courses);
}

/* On full nodes and one with the rest; a rate is negative where the profile has none. */
static const struct verify_course *course_of(struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];
	const struct verify_app *a = &v->apps[j->app];
	struct fit_app *model = verify_model_predicted(v, job);
	struct verify_course c = { .model = model,
				   .batch = verify_target(v, job),
				   .gpus = (int64_t)j->gpus };
	struct fit_placement p = { .n_nodes = 0 };
	struct fit_batch b;
	double after = 0;

	for (size_t i = 0; i < v->n_courses; i++)
		if (v->courses[i].model == c.model && v->courses[i].batch == c.batch &&
		    v->courses[i].gpus == c.gpus)
			return &v->courses[i];
	c.rate = calloc((size_t)a->info->epochs, sizeof *c.rate);
	c.after_s = calloc((size_t)a->info->epochs, sizeof *c.after_s);
	if (!c.rate || !c.after_s ||
	    fit_grow(&v->courses, &v->cap_courses, v->n_courses + 1, sizeof c)) {
		free(c.rate);
		free(c.after_s);
		v->code = FIT_ENOMEM;
		return NULL;
	}
	for (int64_t left = c.gpus; left > 0 && p.n_nodes < FIT_PLACEMENT_MAX;
	     left -= v->gpus_per_node)
		p.gpus[p.n_nodes++] = (int)(left < v->gpus_per_node ? left : v->gpus_per_node);
	b = verify_split(a->info, c.batch, c.gpus, false);
	for (int64_t e = a->info->epochs - 1; e >= 0; e--) {
		c.rate[e] = rate_of(v, a, model, &p, c.gpus, b, e);
		c.after_s[e] = after;
		after += (fit_app_epoch_start(model, e + 1) - fit_app_epoch_start(model, e)) /
			 c.rate[e];
	}
	v->courses[v->n_courses] = c;
	return &v->courses[v->n_courses++];
}

int64_t verify_remaining_ns(struct fit_verifier *v, uint32_t job, struct verify_live *l)
{
	const struct verify_job *j = &v->jobs[job];
	const struct verify_course *c;
	int64_t from = l->last_ns > l->ready_ns ? l->last_ns : l->ready_ns;
	int64_t ran = j->state == JOB_RUNNING && v->now > from ? v->now - from : 0, ns = 0;
	double left;

	if (v->with_plans) {
		const struct fit_plan_app *a = verify_plan_app(v, job);
		double todo = (double)verify_iterations(v, job) - verify_progress_at_now(v, l);
		double s = a ? fit_plan_app_packed(a, verify_job_plan(v, job), (int64_t)j->gpus,
						   v->gpus_per_node, v->any_plan_time) : (double)NAN;

		return !(s > 0) || fit_time_from_double(todo > 0 ? todo * s : 0, &ns) ? NEVER : ns;
	}
	if (v->with_speedups) {
		double s = 0, done = verify_progress_at_now(v, l);

		for (int64_t e = l->epoch; j->app != UINT16_MAX && e < verify_epochs(v, job); e++)
			s += (verify_work_until(v, job, e + 1) - (e == l->epoch ? done : verify_work_until(v, job, e))) /
			     verify_class_speed(v, job, e, v->n_nodes ? v->node_type[0] : 0, (int64_t)j->gpus);
		return fit_time_from_double(s, &ns) ? NEVER : ns;
	}
	if (!v->with_profile)
		return j->duration_ns == NO_INT || j->duration_ns - l->done_ns < ran ? 0 :
		       j->duration_ns - l->done_ns - ran;
	if (j->app == UINT16_MAX)
		return 0;
	c = course_of(v, job);
	if (!c || l->epoch >= v->apps[j->app].info->epochs || !(c->rate[l->epoch] > 0))
		return 0;
	left = verify_epoch_end(v, job, l->epoch) - verify_progress_at_now(v, l);
	if (fit_time_from_double(c->after_s[l->epoch] + left / c->rate[l->epoch], &ns))
		return NEVER;
	return ns;
}

/* ---- rules ---- */

void verify_row_batch_split(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_job *j;
	struct fit_batch b;

	if (r->job == NONE || v->jobs[r->job].app == UINT16_MAX)
		return;
	j = &v->jobs[r->job];
	verify_check(v, RULE_BATCH_SPLIT);
	if (r->sum < 1)
		return;
	b = verify_split(v->apps[j->app].info, verify_target(v, r->job), r->sum, false);
	if (r->local_bsz != b.atomic_bsz || r->accum != b.accum_steps)
		verify_fault(v, RULE_BATCH_SPLIT, r->job,
			     "batch size %lld on %lld GPUs is %lld a GPU in %lld + 1 passes, "
			     "found %lld and %lld + 1",
			     (long long)verify_target(v, r->job), (long long)r->sum,
			     (long long)b.atomic_bsz, (long long)b.accum_steps,
			     (long long)r->local_bsz, (long long)r->accum);
}

static bool near(double a, double b)
{
	double m = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

	return fabs(a - b) <= REL * (m > 1 ? m : 1);
}

/* What the progress column must say. */
static double expected_progress(const struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;

	if (v->by_epoch && v->jobs[r->job].state == JOB_RUNNING &&
	    (r->ev == EV_EPOCH || r->ev == EV_FINISH))
		return verify_epoch_end(v, r->job, l->epoch);
	if (v->with_plans && (EV_BIT(r->ev) & EV_PLACING) && l->first_start_ns != NEVER)
		return fmin(verify_plan_carry(v, r, NULL, v->jobs[r->job].state == JOB_RUNNING && r->known ?
					      r->progress_now : l->progress), verify_epoch_end(v, r->job, l->epoch));
	if (v->jobs[r->job].state == JOB_RUNNING && r->known && r->ev == EV_PREEMPT)
		return r->progress_now - fit_time_to_double(verify_preempt_work_ns(v, r->job));
	if (v->jobs[r->job].state == JOB_RUNNING && r->known)
		return v->keeps_seconds ? fmin(r->progress_now, verify_epoch_end(v, r->job, l->epoch)) : r->progress_now;
	return v->by_epoch ? l->progress : fit_time_to_double(l->done_ns);
}

void verify_row_progress(struct fit_verifier *v, const struct verify_row *r)
{
	double want;
	int64_t epoch;

	if (!r->live || r->job == NONE)
		return;
	verify_check(v, RULE_PROGRESS);
	if (v->jobs[r->job].state == JOB_RUNNING && !r->known) {
		verify_fault(v, RULE_PROGRESS, r->job,
			     "no rate of progress for what the job holds: %s",
			     v->by_epoch ? v->model_err.msg : "no duration");
		return;
	}
	want = expected_progress(v, r);
	if (r->progress_na || !near(r->progress, want)) {
		verify_fault(v, RULE_PROGRESS, r->job, "progress is %.12g by now, found %.12g",
			     want, r->progress_na ? (double)NAN : r->progress);
		return;
	}
	if (!v->by_epoch)
		return;
	epoch = r->live->epoch + (r->ev == EV_EPOCH || r->ev == EV_FINISH);
	if (r->epoch != epoch)
		verify_fault(v, RULE_PROGRESS, r->job, "%lld epochs are complete, found %lld",
			     (long long)epoch, (long long)r->epoch);
}

/* An epoch (or all of the work) ends when the model says so, and nothing happens to the job after
 * that instant as if it had not. */
void verify_row_epoch_time(struct fit_verifier *v, const struct verify_row *r)
{
	double slack = ABS_S, half = fit_time_to_double(v->quantum_ns) / 2;
	int64_t from;

	if (!r->known || v->jobs[r->job].state != JOB_RUNNING)
		return;
	verify_check(v, RULE_EPOCH_TIME);
	slack += REL * fabs(fit_time_to_double(r->t));
	if (!v->by_epoch && v->quantum_ns == 0)
		slack = 0;
	if (r->ev != EV_EPOCH && r->ev != EV_FINISH) {
		if (r->late_s > slack)
			verify_fault(v, RULE_EPOCH_TIME, r->job,
				     "%s ended %.9g s before this row and no row says so",
				     v->by_epoch ? "an epoch" : "the work", r->late_s);
		return;
	}
	if (fabs(r->late_s) > half + slack) {
		verify_fault(v, RULE_EPOCH_TIME, r->job,
			     "%s at this instant is %.9g s too %s (at most %g s of rounding)",
			     r->ev == EV_EPOCH ? "an epoch's end" : "the end", fabs(r->late_s),
			     r->late_s < 0 ? "early" : "late", half);
		return;
	}
	from = r->live->last_ns > r->live->ready_ns ? r->live->last_ns : r->live->ready_ns;
	if (v->quantum_ns && (r->t - from) % v->quantum_ns)
		verify_fault(v, RULE_EPOCH_TIME, r->job,
			     "%s is not a whole number of %g s after the last event",
			     r->ev == EV_EPOCH ? "an epoch's end" : "the end", 2 * half);
}

void verify_row_work_complete(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_job *j;

	if (r->job == NONE || !r->live)
		return;
	j = &v->jobs[r->job];
	if (r->ev == EV_EPOCH) {
		if (v->by_epoch && r->live->epoch + 1 >= verify_epochs(v, r->job))
			verify_fault(v, RULE_WORK_COMPLETE, r->job,
				     "epoch %lld is the last and must be the finish",
				     (long long)r->live->epoch + 1);
		return;
	}
	verify_check(v, RULE_WORK_COMPLETE);
	if (v->by_epoch) {
		if (r->live->epoch + 1 != verify_epochs(v, r->job))
			verify_fault(v, RULE_WORK_COMPLETE, r->job,
				     "finished in epoch %lld of %lld",
				     (long long)r->live->epoch + 1,
				     (long long)verify_epochs(v, r->job));
	} else if (v->packs != PACKS_NOT && v->count_ns && !r->live->on_profiler) {
		if (r->known && !r->done_before)
			verify_fault(v, RULE_WORK_COMPLETE, r->job, "executed %.9f s of work, the job has %.9f",
				     r->progress_now, fit_time_to_double(j->duration_ns));
	} else if (r->known && r->live->done_ns + r->ran_ns != j->duration_ns &&
		   v->quantum_ns == 0) {
		verify_fault(v, RULE_WORK_COMPLETE, r->job,
			     "executed %.9f s of work, the job has %.9f", r->progress_now,
			     fit_time_to_double(j->duration_ns));
	}
	if (!r->known)
		verify_fault(v, RULE_WORK_COMPLETE, r->job,
			     "finished without an allocation or a rate of progress");
}

/* The first row after an allocation tells how long the job stood still: what elapsed, less the time
 * that the stated progress took. */
void verify_row_restart_cost(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_live *l = r->live;
	double ran, stood, want, slack, rate;
	int64_t gone;

	if (!l || r->job == NONE || v->jobs[r->job].state != JOB_RUNNING || !l->fresh_alloc ||
	    r->progress_na)
		return;
	rate = verify_rate(v, l);
	if (!(rate > 0) || v->packs != PACKS_NOT || l->on_profiler || v->steps_round_ns)
		return;
	if (v->keeps_seconds && (EV_BIT(r->ev) & EV_PLACING))	/* counts iterations of another length already */
		return;
	verify_check(v, RULE_RESTART_COST);
	gone = r->t - l->since_ns;
	want = fit_time_to_double(l->delay_ns);
	ran = r->progress - (v->by_epoch ? l->progress : fit_time_to_double(l->done_ns));
	if (r->ev == EV_PREEMPT)
		ran += fit_time_to_double(verify_preempt_work_ns(v, r->job));
	if (r->done_before)	/* since then it does nothing, for the notice at most */
		gone -= (int64_t)llrint(r->late_s * 1e9) + v->notice_ns;
	stood = fit_time_to_double(gone) - ran / rate;
	slack = ABS_S + REL * fabs(fit_time_to_double(r->t)) + REL * fabs(r->progress) / rate;
	if (r->ev == EV_EPOCH || r->ev == EV_FINISH)
		slack += fit_time_to_double(v->quantum_ns) / 2;
	if (r->ev != EV_EPOCH && r->ev != EV_FINISH && fit_time_to_double(gone) < want)
		want = fit_time_to_double(gone);
	if (fabs(stood - want) > slack)
		verify_fault(v, RULE_RESTART_COST, r->job,
			     "no progress for %.9g s after the allocation at %.9g s, "
			     "expected %.9g",
			     stood, fit_time_to_double(l->since_ns), want);
}
