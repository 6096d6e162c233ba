/* SPDX-License-Identifier: MIT */
#include "libfit/replay/progress.h"

#include <math.h>

#include "libfit/base/num.h"

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

static void fixed_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	(void)j;
	r->done_ns = fixed_done(r, now_ns);
	r->from_ns = now_ns;
}

static int fixed_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		      int64_t *at_ns, bool *late, struct fit_err *err)
{
	(void)f;
	(void)err;
	*at_ns = r->from_ns + j->duration_ns - r->done_ns;
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
	(void)j;
	return fit_time_to_double(fixed_done(r, now_ns));
}

const struct fit_progress_model fit_progress_fixed = {
	.name = "fixed",
	.has_epochs = false,
	.place = fixed_place,
	.advance = fixed_advance,
	.next = fixed_next,
	.pass = fixed_pass,
	.work = fixed_work,
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
	rc = fit_app_goodput(j->app, &p, r->batch, r->epoch, &r->rate, err);
	if (rc)
		return fit_fail_prefix(err, rc, "job %s", j->id);
	if (!(r->rate > 0) || !isfinite(r->rate))
		return fit_fail(err, FIT_EDATA, "job %s: goodput %g in epoch %lld (expected more than 0)", j->id,
				r->rate, (long long)r->epoch);
	return FIT_OK;
}

static int profile_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			 int64_t from_ns, struct fit_err *err)
{
	r->batch = fit_app_split_batch(j->app, j->batch_size, a->gpus, false);
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
	double left = fit_app_epoch_start(j->app, r->epoch + 1) - r->progress;
	double exact_s = left > 0 ? left / r->rate : 0, quanta;

	if (!(exact_s < 3e9))
		return fit_fail(err, FIT_EDATA, "job %s: epoch %lld would take %g s (expected under a century)",
				j->id, (long long)r->epoch, exact_s);
	*late = false;
	if (f->epoch_quantum_ns == 0) {
		*at_ns = r->from_ns + (int64_t)ceil(exact_s * 1e9);
		return FIT_OK;
	}
	quanta = exact_s * 1e9 / (double)f->epoch_quantum_ns;
	*at_ns = r->from_ns + (int64_t)nearbyint(quanta) * f->epoch_quantum_ns;
	*late = quanta > nearbyint(quanta);
	return FIT_OK;
}

static int profile_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			int64_t now_ns, bool *finished, struct fit_err *err)
{
	r->epoch++;
	r->progress = fit_app_epoch_start(j->app, r->epoch);
	r->from_ns = now_ns;
	*finished = r->epoch >= fit_app_info(j->app)->epochs;
	return *finished ? FIT_OK : set_rate(j, r, a, err);
}

const struct fit_progress_model fit_progress_profile = {
	.name = "profile",
	.has_epochs = true,
	.place = profile_place,
	.advance = profile_advance,
	.next = profile_next,
	.pass = profile_pass,
	.work = profile_work,
};
