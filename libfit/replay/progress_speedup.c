/* SPDX-License-Identifier: MIT */
/*
 * The progress model of speedup functions: in each epoch, work flows at the speed of the class on
 * the GPUs that are held, by their number and type. A job whose GPUs are of no use in an epoch stands
 * still until it gets others.
 */
#include <math.h>

#include "libfit/base/num.h"
#include "libfit/replay/job_class.h"
#include "libfit/replay/progress.h"

static void set_rate(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a)
{
	r->rate = fit_job_class_speed(j->job_class, r->epoch, r->type, a->gpus);
}

static int speedup_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			 int64_t from_ns, struct fit_err *err)
{
	(void)err;
	r->from_ns = from_ns;
	set_rate(j, r, a);
	return FIT_OK;
}

static double speedup_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	(void)j;
	if (now_ns <= r->from_ns)
		return r->progress;
	return r->progress + r->rate * fit_time_to_double(now_ns - r->from_ns);
}

static void speedup_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	if (now_ns > r->from_ns) {
		r->progress = speedup_work(j, r, now_ns);
		r->from_ns = now_ns;
	}
}

static int speedup_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
			int64_t *at_ns, bool *late, struct fit_err *err)
{
	double left = j->job_class->start[r->epoch + 1] - r->progress;
	double s = left > 0 ? left / r->rate : 0;

	(void)f;
	*late = false;
	*at_ns = INT64_MAX;
	if (left > 0 && !(r->rate > 0))
		return FIT_OK;
	if (!(s < 3e9))
		return fit_fail(err, FIT_EDATA, "job %s: epoch %lld would take %g s (expected under a century)",
				j->id, (long long)r->epoch, s);
	*at_ns = r->from_ns + (int64_t)ceil(s * 1e9);
	return FIT_OK;
}

static int speedup_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a,
			int64_t now_ns, bool *finished, struct fit_err *err)
{
	(void)err;
	r->epoch++;
	r->progress = j->job_class->start[r->epoch];
	r->from_ns = now_ns;
	*finished = r->epoch >= j->job_class->n_epochs;
	if (!*finished)
		set_rate(j, r, a);
	return FIT_OK;
}

const struct fit_progress_model fit_progress_speedup = {
	.name = "speedup",
	.has_epochs = true,
	.no_batches = true,
	.place = speedup_place,
	.advance = speedup_advance,
	.next = speedup_next,
	.pass = speedup_pass,
	.work = speedup_work,
};
