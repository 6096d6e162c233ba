/* SPDX-License-Identifier: MIT */
/*
 * Compare the fitness that a Pollux replay says it found with that of the allocations in the log, derived
 * from the models that the jobs had by then (verify_pollux.c). Decisions that changed nothing leave no
 * rows, and their instants are not known here.
 */
#include <math.h>

#include "libfit/verify/verify_state.h"

/* Models are fitted anew, and elsewhere perhaps with other last digits. */
#define SAME 1e-6

void fit_verifier_keep_fitness(struct fit_verifier *v)
{
	v->keep_fitnesses = true;
}

void verify_decide_fitness(struct fit_verifier *v)
{
	struct verify_fitness f = { .t_ns = v->now, .n_jobs = (int64_t)v->active.n };

	if (!v->keep_fitnesses || !v->acted || !v->fitness_told || v->mute)
		return;
	if (fit_grow(&v->fitnesses, &v->cap_fitnesses, v->n_fitnesses + 1, sizeof *v->fitnesses)) {
		v->code = FIT_ENOMEM;
		return;
	}
	f.value = verify_pollux_fitness(v);
	v->fitnesses[v->n_fitnesses++] = f;
}

enum { F_TIME, F_JOBS, F_FITNESS, N_FIELDS };

static const struct fit_field fields[N_FIELDS] = {
	[F_TIME] = { "time_s", FIT_TIME, FIT_F_NOT_NA },
	[F_JOBS] = { "jobs", FIT_INT, FIT_F_NOT_NA },
	[F_FITNESS] = { "fitness", FIT_REAL, FIT_F_NOT_NA },
};

/* Rows and decisions are both in order of time. */
static void take(struct fit_verifier *v, const void *arg, const struct fit_cell *c)
{
	struct verify_fitness *f;

	(void)arg;
	while (v->at_fitness < v->n_fitnesses && v->fitnesses[v->at_fitness].t_ns < c[F_TIME].u.i)
		v->at_fitness++;
	f = &v->fitnesses[v->at_fitness];
	if (v->at_fitness == v->n_fitnesses || f->t_ns != c[F_TIME].u.i)
		return;
	verify_check(v, RULE_FITNESS_FOLLOWS);
	f->seen = true;
	if (f->n_jobs != c[F_JOBS].u.i)
		verify_fault(v, RULE_FITNESS_FOLLOWS, NONE, "at %.12g s %lld jobs by the events, the table says %lld",
			     fit_time_to_double(f->t_ns), (long long)f->n_jobs, (long long)c[F_JOBS].u.i);
	if (!(fabs(f->value - c[F_FITNESS].u.d) <= SAME * fabs(f->value)))
		verify_fault(v, RULE_FITNESS_FOLLOWS, NONE,
			     "at %.12g s the allocations have fitness %.12g, the table says %.12g",
			     fit_time_to_double(f->t_ns), f->value, c[F_FITNESS].u.d);
}

int fit_verifier_fitness(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	int rc;

	v->last_t = -1; /* faults have no instant from here on */
	if (!v->n_fitnesses)
		return fit_fail(err, FIT_EDATA, "%s: no decision to check (expected the log of a pollux replay on one "
				"GPU type)", operand);
	rc = verify_each_row(v, operand, fields, N_FIELDS, take, NULL, NULL, err);
	for (size_t i = 0; i < v->n_fitnesses && !rc; i++)
		if (!v->fitnesses[i].seen)
			verify_fault(v, RULE_FITNESS_FOLLOWS, NONE, "the decision at %.12g s is not in the table",
				     fit_time_to_double(v->fitnesses[i].t_ns));
	return rc;
}
