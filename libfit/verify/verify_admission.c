/* SPDX-License-Identifier: MIT */
/*
 * When jobs enter the system. Without a limit that is when the jobs table says. With `max_active` at
 * most so many jobs are there at a time; the next one in order of arrival is submitted when the table
 * says, or at the instant at which a job ends and makes room, whichever is later.
 */
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

static int by_arrival(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[a], *y = &v->jobs[b];

	if (x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

int verify_admission_begin(struct fit_verifier *v)
{
	if (!v->max_active)
		return FIT_OK;
	for (size_t i = 0; i < v->n_jobs; i++)
		if (v->jobs[i].state != JOB_LEFT_OUT && verify_list_push(&v->arrivals, (uint32_t)i))
			return FIT_ENOMEM;
	verify_sort(v, v->arrivals.a, v->arrivals.n, by_arrival);
	return v->code;
}

static int64_t in_system(const struct fit_verifier *v)
{
	return v->n_submitted - v->n_finished - v->n_rejected;
}

/* The next job that has to come, or NONE. */
static uint32_t next_job(struct fit_verifier *v)
{
	while (v->next_arrival < v->arrivals.n &&
	       v->jobs[v->arrivals.a[v->next_arrival]].state != JOB_UNSEEN)
		v->next_arrival++;
	return v->next_arrival < v->arrivals.n ? v->arrivals.a[v->next_arrival] : NONE;
}

void verify_row_admission(struct fit_verifier *v, const struct verify_row *r)
{
	uint32_t next = next_job(v);

	if (r->job == NONE || v->jobs[r->job].state != JOB_UNSEEN)
		return;
	verify_check(v, RULE_ADMISSION);
	if (in_system(v) >= v->max_active)
		verify_fault(v, RULE_ADMISSION, r->job, "submitted while %lld jobs are in the system (at most %lld)",
			     (long long)in_system(v), (long long)v->max_active);
	else if (r->job != next)
		verify_fault(v, RULE_ADMISSION, r->job, "submitted before job '%.*s', which comes first",
			     FIT_TEXT_ARG(verify_job_id(v, next)));
	else if (r->t_log > v->jobs[r->job].submit_ns && v->room_ns < r->t_log)
		verify_fault(v, RULE_ADMISSION, r->job, "submitted at %.9g s, there was room at %.9g",
			     fit_time_to_double(r->t_log),
			     fit_time_to_double(v->room_ns > v->jobs[r->job].submit_ns ?
						v->room_ns : v->jobs[r->job].submit_ns));
}

void verify_admission_left(struct fit_verifier *v)
{
	if (in_system(v) == v->max_active - 1)
		v->room_ns = v->now;
}
