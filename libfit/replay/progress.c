/* SPDX-License-Identifier: MIT */
#include "libfit/replay/progress.h"

#include <math.h>

#include "libfit/base/num.h"
#include "libfit/replay/ticks.h"

/* Later than any clock where the sum does not fit. */
static int64_t later(int64_t from_ns, int64_t by_ns)
{
	return from_ns > INT64_MAX - by_ns ? INT64_MAX : from_ns + by_ns;
}

/* ---- fixed durations: integers only ---- */

static int fixed_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
		       int64_t from_ns, struct fit_err *err)
{
	(void)j;
	(void)a;
	(void)err;
	r->from_ns = from_ns;
	return FIT_OK;
}

static int64_t fixed_done(const struct fit_run *r, int64_t now_ns)
{
	return r->done_ns + (now_ns > r->from_ns ? now_ns - r->from_ns : 0);
}

/* A job that waits for the notice of its end does no more work. */
static int64_t fixed_done_of(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	int64_t done = fixed_done(r, now_ns);

	return done < j->duration_ns ? done : j->duration_ns;
}

static void fixed_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	r->done_ns = fixed_done_of(j, r, now_ns);
	r->from_ns = now_ns;
}

static int fixed_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		      int64_t *at_ns, bool *late, struct fit_err *err)
{
	(void)f;
	(void)err;
	*at_ns = later(later(r->from_ns, j->duration_ns - r->done_ns), r->notice_ns);
	*late = false;
	return FIT_OK;
}

static int fixed_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
		      int64_t now_ns, bool *finished, struct fit_err *err)
{
	(void)a;
	(void)err;
	r->done_ns = j->duration_ns;
	r->from_ns = now_ns;
	*finished = true;
	return FIT_OK;
}

static double fixed_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	return fit_time_to_double(fixed_done_of(j, r, now_ns));
}

const struct fit_progress_model fit_progress_fixed = {
	.name = "fixed",
	.has_epochs = false,
	.alone = true,
	.place = fixed_place,
	.advance = fixed_advance,
	.next = fixed_next,
	.pass = fixed_pass,
	.work = fixed_work,
};

/* ---- fixed durations, shared GPUs ---- */

static int shared_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			int64_t from_ns, struct fit_err *err)
{
	(void)a;
	(void)err;
	r->from_ns = from_ns;
	if (r->count_ns && !r->counting)
		r->left_s = fit_time_to_double(j->duration_ns);
	r->counting = true;
	return FIT_OK;
}

static bool at_full_speed(const struct fit_run *r)
{
	return r->rate_shared >= 1 && r->rate_shared <= 1;
}

/* Work that flows, to the nanosecond below; whole durations stay whole at full speed. */
static int64_t flowed_ns(const struct fit_run *r, int64_t now_ns)
{
	int64_t gone = now_ns > r->from_ns ? now_ns - r->from_ns : 0;

	return at_full_speed(r) ? gone : (int64_t)floor((double)gone * r->rate_shared);
}

static void shared_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	if (now_ns <= r->from_ns)
		return;		/* stands still yet */
	if (r->count_ns) {
		int64_t n = (now_ns - r->from_ns) / r->count_ns, end = fit_ticks_to_zero(r->left_s, r->rate_shared);

		n = n < end ? n : end;	/* the notice of its end counts from there */
		r->left_s = fit_ticks_after(r->left_s, r->rate_shared, n);
		r->from_ns += n * r->count_ns;
		return;
	}
	r->done_ns += flowed_ns(r, now_ns);
	if (r->done_ns > j->duration_ns)
		r->done_ns = j->duration_ns;
	r->from_ns = now_ns;
}

static int shared_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		       int64_t *at_ns, bool *late, struct fit_err *err)
{
	int64_t left = j->duration_ns - r->done_ns, n;

	(void)f;
	*late = false;
	if (!r->count_ns) {
		double ns = ceil((double)left / r->rate_shared);

		if (!(ns < 9e18))
			return fit_fail(err, FIT_EDATA, "job %s: would take for ever at speed %g", j->id,
					r->rate_shared);
		*at_ns = later(r->from_ns, at_full_speed(r) ? left : (int64_t)ns);
		return FIT_OK;
	}
	n = fit_ticks_to_zero(r->left_s, r->rate_shared);
	if (n > INT64_MAX / r->count_ns)
		return fit_fail(err, FIT_EDATA, "job %s: would take for ever at speed %g", j->id, r->rate_shared);
	*at_ns = later(later(r->from_ns, n * r->count_ns), r->notice_ns);
	return FIT_OK;
}

static int shared_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
		       int64_t now_ns, bool *finished, struct fit_err *err)
{
	r->left_s = 0;
	return fixed_pass(j, r, a, now_ns, finished, err);
}

static double shared_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	double all = fit_time_to_double(j->duration_ns), left = r->left_s;
	int64_t done;

	if (r->count_ns) {
		if (!r->counting)
			return 0;
		if (now_ns > r->from_ns)
			left = fit_ticks_after(left, r->rate_shared, (now_ns - r->from_ns) / r->count_ns);
		return left > 0 ? all - left : all;
	}
	done = r->done_ns + flowed_ns(r, now_ns);
	return fit_time_to_double(done < j->duration_ns ? done : j->duration_ns);
}

const struct fit_progress_model fit_progress_shared = {
	.name = "shared",
	.alone = true,
	.place = shared_place,
	.advance = shared_advance,
	.next = shared_next,
	.pass = shared_pass,
	.work = shared_work,
};

/* ---- application profiles ---- */

static int set_rate(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
		    struct fit_err *err)
{
	struct fit_placement p = { .n_nodes = 0 };
	int rc;

	if (a->n > FIT_PLACEMENT_MAX)
		return fit_fail(err, FIT_EDATA, "job %s: %zu nodes (expected at most %d with a profile)", j->id,
				a->n, FIT_PLACEMENT_MAX);
	for (size_t i = 0; i < a->n; i++)
		p.gpus[p.n_nodes++] = a->shares[i].gpus;
	rc = fit_app_goodput(r->app, &p, r->batch, r->epoch, &r->rate, err);
	if (rc && r->type_name && *r->type_name)
		return fit_fail_prefix(err, rc, "job %s on %lld GPUs of type '%s'", j->id, (long long)a->gpus,
				       r->type_name);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", j->id);
	r->rate *= 1 - r->slowdown;
	if (r->calibration > 0)
		r->rate /= r->calibration;
	if (!(r->rate > 0) || !isfinite(r->rate))
		return fit_fail(err, FIT_EDATA, "job %s: goodput %g in epoch %lld (expected more than 0)", j->id,
				r->rate, (long long)r->epoch);
	return FIT_OK;
}

static int profile_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			 int64_t from_ns, struct fit_err *err)
{
	r->batch = fit_app_split_batch(r->app, j->batch_size, a->gpus, false);
	r->from_ns = from_ns;
	return set_rate(j, r, a, err);
}

static double profile_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	(void)j;
	if (now_ns <= r->from_ns)
		return r->progress;
	return r->progress + r->rate * fit_time_to_double(now_ns - r->from_ns);
}

static void profile_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	if (now_ns > r->from_ns) {
		r->progress = profile_work(j, r, now_ns);
		r->from_ns = now_ns;
	}
}

/*
 * The epoch ends (threshold - progress) / rate after from_ns. The reference simulator rounds that
 * to a whole second, half to even, wherever it is measured from; it measures from the start of the
 * interval, which is a whole number of seconds after from_ns, so the result is the same.
 */
static int profile_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
			int64_t *at_ns, bool *late, struct fit_err *err)
{
	double left = fit_app_epoch_start(r->app, r->epoch + 1) - r->progress;
	double exact_s = left > 0 ? left / r->rate : 0, quanta;

	if (!(exact_s < 3e9))
		return fit_fail(err, FIT_EDATA, "job %s: epoch %lld would take %g s (expected under a century)",
				j->id, (long long)r->epoch, exact_s);
	*late = false;
	if (f->epoch_quantum_ns == 0) {
		*at_ns = later(r->from_ns, (int64_t)ceil(exact_s * 1e9));
		return FIT_OK;
	}
	quanta = exact_s * 1e9 / (double)f->epoch_quantum_ns;
	*at_ns = later(r->from_ns, (int64_t)nearbyint(quanta) * f->epoch_quantum_ns);
	*late = quanta > nearbyint(quanta);
	return FIT_OK;
}

static int profile_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			int64_t now_ns, bool *finished, struct fit_err *err)
{
	r->epoch++;
	r->progress = fit_app_epoch_start(r->app, r->epoch);
	r->from_ns = now_ns;
	*finished = r->epoch >= fit_app_info(r->app)->epochs;
	return *finished ? FIT_OK : set_rate(j, r, a, err);
}

/* ---- profiles with agents that choose the batch size ---- */

/* What the agent thinks best, unless the batch size stays as it is; before it knows anything, the initial
 * batch size if that is enough for all replicas. */
static int choose_batch(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			struct fit_err *err)
{
	const struct fit_app_info *info = fit_app_info(r->app);
	struct fit_goodput_point best;
	int64_t target = j->kind == FIT_JOB_ADAPTIVE ? info->fixed_batch : j->batch_size, most;
	int rc;

	if (!target && !fit_agent_knows(r->agent))
		target = info->init_batch > info->min_local_bsz * a->gpus ? info->init_batch :
			 info->min_local_bsz * a->gpus;
	if (target) {
		r->batch = fit_app_split_batch(r->app, target, a->gpus, false);
		return FIT_OK;
	}
	rc = fit_agent_best_within(r->agent, info, (int64_t)a->n, a->gpus, &best, err);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", j->id);
	if (!best.atomic_bsz)
		return fit_fail(err, FIT_EDATA, "job %s: no batch size fits %lld GPUs", j->id,
				(long long)a->gpus);
	most = info->max_batch / (a->gpus * (best.accum_steps + 1));
	if (r->caps_batch && fit_app_most_local(r->app, a->gpus) < most)
		most = fit_app_most_local(r->app, a->gpus);
	r->batch = (struct fit_batch){ best.atomic_bsz < most ? best.atomic_bsz : most, best.accum_steps };
	return FIT_OK;
}

static int adaptive_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			  int64_t from_ns, struct fit_err *err)
{
	int rc = choose_batch(j, r, a, err);

	r->from_ns = from_ns;
	r->tuned = false;
	return rc ? rc : set_rate(j, r, a, err);
}

/* What a pass of the training loop shows: step time, and the gradient's statistics. */
static int learn(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, struct fit_err *err)
{
	int64_t batch = a->gpus * r->batch.atomic_bsz * (r->batch.accum_steps + 1);
	struct fit_placement p = { .n_nodes = 0 };
	double step_s, sync_s, sqr, var;
	int rc;

	for (size_t i = 0; i < a->n && i < FIT_PLACEMENT_MAX; i++)
		p.gpus[p.n_nodes++] = a->shares[i].gpus;
	rc = fit_app_throughput(r->app, &p, r->batch.atomic_bsz, &step_s, &sync_s, err);
	rc = rc ? rc : fit_app_grad_stats(r->app, batch, r->epoch, &sqr, &var, err);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", j->id);
	if (fit_agent_observe(r->agent, (int64_t)a->n, a->gpus, r->batch.atomic_bsz, step_s, sync_s))
		return fit_fail_nomem(err);
	for (int t = 0; t < r->n_agents; t++)
		if (r->agents[t].w)
			fit_agent_set_grad(&r->agents[t], sqr, var);
	return FIT_OK;
}

static int adaptive_retune(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			   int64_t now_ns, bool *changed, struct fit_err *err)
{
	struct fit_batch before = r->batch;
	int rc;

	*changed = false;
	if (r->tuned || now_ns <= r->from_ns)
		return FIT_OK;
	rc = learn(j, r, a, err);
	rc = rc ? rc : choose_batch(j, r, a, err);
	if (rc)
		return rc;
	*changed = r->batch.atomic_bsz != before.atomic_bsz || r->batch.accum_steps != before.accum_steps;
	r->tuned = !*changed;
	if (!*changed)
		return FIT_OK;
	profile_advance(j, r, now_ns);
	return set_rate(j, r, a, err);
}

static int adaptive_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			 int64_t now_ns, bool *finished, struct fit_err *err)
{
	int rc = r->tuned ? FIT_OK : learn(j, r, a, err);
	const struct fit_app_info *info = fit_app_info(r->app);

	if (rc)
		return rc;
	r->tuned = false;
	r->epoch++;
	r->progress = fit_app_epoch_start(r->app, r->epoch);
	r->from_ns = now_ns;
	*finished = r->epoch >= info->epochs;
	if (*finished)
		return FIT_OK;
	rc = choose_batch(j, r, a, err);
	return rc ? rc : set_rate(j, r, a, err);
}

const struct fit_progress_model fit_progress_profile = {
	.name = "profile",
	.has_epochs = true,
	.place = profile_place,
	.advance = profile_advance,
	.next = profile_next,
	.pass = profile_pass,
	.slow = set_rate,
	.work = profile_work,
};

const struct fit_progress_model fit_progress_adaptive = {
	.name = "adaptive",
	.has_epochs = true,
	.place = adaptive_place,
	.advance = profile_advance,
	.next = profile_next,
	.pass = adaptive_pass,
	.retune = adaptive_retune,
	.slow = set_rate,
	.work = profile_work,
};
