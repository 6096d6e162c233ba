/* SPDX-License-Identifier: MIT */
/*
 * What the policies of Gavel ask of shares.h: the jobs in the system, on the types of the cluster in the
 * order of their names; and what has to be remembered of each job for that.
 */
#ifndef FIT_REPLAY_GAVEL_PROBLEM_H
#define FIT_REPLAY_GAVEL_PROBLEM_H

#include "libfit/model/shares.h"
#include "libfit/replay/policy.h"

/* Of one job, from one allocation to the next: its time at equal shares so far. */
struct fit_gavel_past {
	double isolated_s, steps_then, rate_then;
};

/* Zero-initialise. */
struct fit_gavel_problem {
	struct fit_share_problem p;
	size_t *type;			/* problem type t is this one of the cluster */
	double *gpus;
	struct fit_share_job *jobs;
	double *rates, *x;
	size_t cap_jobs, cap_rates, cap_x;
	struct fit_gavel_past *past;	/* by place in the partition */
};

/* FIT_ENOMEM, with a message. */
int fit_gavel_problem_init(struct fit_gavel_problem *g, const struct fit_view *v,
			   struct fit_err *err) FIT_MUST_CHECK;
void fit_gavel_problem_release(struct fit_gavel_problem *g);

/* Steps a second of a job on type t of the problem: 0 where it never can run. */
double fit_gavel_rate(const struct fit_gavel_problem *g, const struct fit_view *v, uint32_t j, size_t t);

/* Solve for these jobs as of now; x is in g->x, by their order in the list. */
int fit_gavel_solve(struct fit_gavel_problem *g, const struct fit_view *v,
		    const struct fit_share_objective *o, const uint32_t *list, size_t n,
		    struct fit_share_solution *s,
		    struct fit_err *err) FIT_MUST_CHECK;

#endif
