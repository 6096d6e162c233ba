/* SPDX-License-Identifier: MIT */
/*
 * Progress in steps, at the measured rate of the job on the GPU type that it holds (docs/methods/gavel.md):
 * one epoch, whose length is the number of steps. Where a fidelity profile says that rounds are of whole
 * steps (steps_round_ns), a job runs as many as fit into a round and then stands still until a decision
 * begins the next one.
 */
#include <math.h>

#include "libfit/base/num.h"
#include "libfit/replay/progress.h"

#define CENTURY_S 3e9

static double steps_left(const struct fit_job *j, const struct fit_run *r)
{
	return j->steps > r->progress ? j->steps - r->progress : 0;
}

/* A round begins. */
static void set_quota(const struct fit_job *j, struct fit_run *r)
{
	double left = steps_left(j, r);

	r->quota = left;
	if (r->round_ns)
		r->quota = fmin(left, fmax(1, floor(r->rate * fit_time_to_double(r->round_ns))));
	r->round_from = r->progress;
}

static int steps_place(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t from_ns,
		       struct fit_err *err)
{
	r->from_ns = from_ns;
	r->rate = j->rates[2 * r->type + (a->n > 1 && !r->anywhere)];
	if (!(r->rate > 0))
		return fit_fail(err, FIT_EDATA, "job %s: no rate on these GPUs", j->id);
	set_quota(j, r);
	return FIT_OK;
}

static double steps_work(const struct fit_job *j, const struct fit_run *r, int64_t now_ns)
{
	double most = r->round_from + r->quota, p = r->progress;

	(void)j;
	if (now_ns <= r->from_ns || !(r->rate > 0))
		return p;
	if (r->round_ns && now_ns - r->from_ns >= fit_steps_ns(most - p, r->rate))
		return most;
	p += r->rate * fit_time_to_double(now_ns - r->from_ns);
	return p > most ? most : p;
}

/* Steps that were cut off in the middle are lost in rounds of whole steps, but no round is cut off there. */
static void steps_advance(const struct fit_job *j, struct fit_run *r, int64_t now_ns)
{
	if (now_ns > r->from_ns) {
		r->progress = steps_work(j, r, now_ns);
		r->from_ns = now_ns;
	}
}

static int steps_next(const struct fit_job *j, const struct fit_run *r, const struct fit_fidelity *f,
		      int64_t *at_ns, bool *late, struct fit_err *err)
{
	double left = steps_left(j, r), s = left / r->rate;

	(void)f;
	*late = false;
	*at_ns = INT64_MAX;
	if (r->round_from + r->quota < j->steps)
		return FIT_OK;		/* not in this round */
	if (!(s < CENTURY_S))
		return fit_fail(err, FIT_EDATA, "job %s: %g steps would take %g s (expected under a century)", j->id,
				left, s);
	*at_ns = r->from_ns + (r->round_ns ? fit_steps_ns(left, r->rate) : (int64_t)ceil(s * 1e9));
	return FIT_OK;
}

static int steps_pass(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t now_ns,
		      bool *finished, struct fit_err *err)
{
	(void)a;
	(void)err;
	r->epoch = 1;
	r->progress = j->steps;
	r->from_ns = now_ns;
	*finished = true;
	return FIT_OK;
}

static int steps_retune(const struct fit_job *j, struct fit_run *r, const struct fit_alloc *a, int64_t now_ns,
			bool *changed, struct fit_err *err)
{
	(void)a;
	(void)err;
	*changed = r->round_ns != 0;
	if (!*changed)
		return FIT_OK;
	steps_advance(j, r, now_ns);
	set_quota(j, r);
	return FIT_OK;
}

int64_t fit_steps_ns(double steps, double rate)
{
	return (int64_t)nearbyint(steps / rate * 1e9);
}

const struct fit_progress_model fit_progress_steps = {
	.name = "steps",
	.has_epochs = true,
	.no_batches = true,
	.place = steps_place,
	.advance = steps_advance,
	.next = steps_next,
	.pass = steps_pass,
	.retune = steps_retune,
	.work = steps_work,
};
