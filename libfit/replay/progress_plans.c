/* SPDX-License-Identifier: MIT */
/*
 * The progress model of execution plans: a job does whole iterations, each of which takes what was measured
 * of its plan on the GPUs that it holds (plan_times.h). It is done with the last one.
 *
 * What was begun of an iteration is kept when plan or GPUs change: as a share of it, or where a fidelity
 * profile says so as seconds, which count alike however long the iteration takes from then on.
 */
#include <math.h>

#include "libfit/base/num.h"
#include "libfit/replay/progress.h"

static int64_t total(const struct fit_job *j, const struct fit_run *r)
{
	return j->iterations + (r->fidelity ? r->fidelity->extra_iterations : 0);
}

static int plans_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t from_ns,
		       struct fit_err *err)
{
	int32_t per_node[FIT_PLAN_NODES_MAX];
	double iter_s = (double)NAN;

	for (size_t i = 0; i < a->n && i < FIT_PLAN_NODES_MAX; i++)
		per_node[i] = a->shares[i].gpus;
	if (a->n <= FIT_PLAN_NODES_MAX)
		iter_s = fit_plan_app_iter(j->plans, r->exec_plan, per_node, a->n, r->fidelity->any_plan_time);
	if (!(iter_s > 0))
		return fit_fail(err, FIT_EDATA, "job %s: %lld GPUs on %zu nodes are outside of what was measured of "
				"'%s'", j->id, (long long)a->gpus, a->n, j->app_name);
	if (!r->fidelity->keeps_partial_seconds && r->iter_s > 0)
		r->partial_s *= iter_s / r->iter_s;
	r->iter_s = iter_s;
	r->from_ns = from_ns;
	return FIT_OK;
}

/* Seconds since the last whole iteration that was accounted for. */
static double elapsed_s(const struct fit_run *r, int64_t now_ns)
{
	return r->partial_s + (now_ns > r->from_ns ? fit_time_to_double(now_ns - r->from_ns) : 0);
}

static void plans_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	double s = elapsed_s(r, now_ns), n;

	if (now_ns <= r->from_ns)
		return;
	n = floor(s / r->iter_s);
	if (n > (double)(total(j, r) - 1 - r->iterations))
		n = (double)(total(j, r) - 1 - r->iterations);
	r->iterations += (int64_t)n;
	r->partial_s = s - n * r->iter_s;
	r->from_ns = now_ns;
}

static int plans_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		      int64_t *at_ns, bool *late, struct fit_err *err)
{
	double s = (double)(total(j, r) - r->iterations) * r->iter_s - r->partial_s;

	(void)f;
	if (!(s < 3e9))
		return fit_fail(err, FIT_EDATA, "job %s: would take %g s (expected under a century)", j->id, s);
	*late = false;
	/* seconds of a longer iteration may be more than all that is left: then it ends within its delay */
	*at_ns = r->from_ns + (int64_t)ceil(s * 1e9);
	*at_ns = *at_ns > 0 ? *at_ns : 0;
	return FIT_OK;
}

static int plans_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t now_ns,
		      bool *finished, struct fit_err *err)
{
	(void)a;
	(void)err;
	r->iterations = total(j, r);
	r->partial_s = 0;
	r->from_ns = now_ns;
	r->epoch = 1;
	*finished = true;
	return FIT_OK;
}

/* Iterations, and the share of the one that was begun. */
static double plans_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	double n = (double)r->iterations, all = (double)total(j, r);

	if (r->iter_s > 0)
		n += elapsed_s(r, now_ns) / r->iter_s;
	return n < all ? n : all;
}

const struct fit_progress_model fit_progress_plans = {
	.name = "plans",
	.has_epochs = true,
	.no_batches = true,
	.has_plans = true,
	.place = plans_place,
	.advance = plans_advance,
	.next = plans_next,
	.pass = plans_pass,
	.work = plans_work,
};
