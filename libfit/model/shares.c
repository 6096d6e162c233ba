/* SPDX-License-Identifier: MIT */
#include "libfit/model/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/shares_lp.h"

/* ---- what an allocation comes to ---- */

double fit_share_rate(const struct fit_share_problem *p, size_t j, const double *x)
{
	double rate = 0;

	for (size_t t = 0; t < p->n_types; t++)
		rate += p->rates[j * p->n_types + t] * x[j * p->n_types + t];
	return rate;
}

static double all_gpus(const struct fit_share_problem *p)
{
	double n = 0;

	for (size_t t = 0; t < p->n_types; t++)
		n += p->gpus[t];
	return n;
}

/* Steps a second where the time is split among the types by their GPUs. */
static double proportional_rate(const struct fit_share_problem *p, size_t j)
{
	double rate = 0;

	for (size_t t = 0; t < p->n_types; t++)
		rate += p->rates[j * p->n_types + t] * (p->gpus[t] / all_gpus(p));
	return rate;
}

/* Share of type t in an equal split. */
static double isolated_share(const struct fit_share_problem *p, size_t j, size_t t)
{
	double m = (double)p->n_jobs, sum = 0;

	for (size_t i = 0; i < p->n_types; i++)
		sum += p->gpus[i] / m / p->jobs[j].gpus;
	return p->gpus[t] / m / p->jobs[j].gpus / fmax(1, sum);
}

void fit_shares_isolated(const struct fit_share_problem *p, double *x)
{
	for (size_t i = 0; i < p->n_jobs * p->n_types; i++)
		x[i] = isolated_share(p, i / p->n_types, i % p->n_types);
}

double fit_share_isolated_rate(const struct fit_share_problem *p, size_t j)
{
	double rate = 0;

	for (size_t t = 0; t < p->n_types; t++)
		rate += p->rates[j * p->n_types + t] * isolated_share(p, j, t);
	return rate;
}

const char *fit_shares_check(const struct fit_share_problem *p, const double *x, double slack)
{
	for (size_t j = 0; j < p->n_jobs; j++) {
		double sum = 0;

		for (size_t t = 0; t < p->n_types; t++) {
			if (!(x[j * p->n_types + t] >= 0))
				return "a share is negative";
			sum += x[j * p->n_types + t];
		}
		if (!(sum <= 1 + slack))
			return "a job has more than all of the time";
	}
	for (size_t t = 0; t < p->n_types; t++) {
		double sum = 0;

		for (size_t j = 0; j < p->n_jobs; j++)
			sum += p->jobs[j].gpus * x[j * p->n_types + t];
		if (!(sum <= p->gpus[t] * (1 + slack)))
			return "a type has fewer GPUs than its shares";
	}
	return NULL;
}

/* ---- levelling ---- */

/* a of max-min fairness; agnostic: as if all types were alike. */
static double fair_gain(const struct fit_share_problem *p, size_t i, bool agnostic)
{
	const struct fit_share_job *j = &p->jobs[i / p->n_types];

	if (agnostic)
		return j->gpus / j->weight;
	return j->gpus / j->weight * p->rates[i] / proportional_rate(p, i / p->n_types);
}

/* The numbers of a programme: a, n. */
struct level {
	double *a, *n;
};

static int level_init(struct level *l, const struct fit_share_problem *p, struct fit_err *err)
{
	l->a = calloc(p->n_jobs * p->n_types + 1, sizeof *l->a);
	l->n = calloc(p->n_jobs + 1, sizeof *l->n);
	return l->a && l->n ? FIT_OK : fit_fail_nomem(err);
}

static void level_release(struct level *l)
{
	free(l->a);
	free(l->n);
}

static int solve_fair(const struct fit_share_problem *p, bool agnostic, double *x,
		      struct fit_share_solution *s, struct fit_err *err)
{
	struct level l;
	int rc = level_init(&l, p, err);

	for (size_t i = 0; i < p->n_jobs * p->n_types && !rc; i++)
		l.a[i] = fair_gain(p, i, agnostic);
	for (size_t j = 0; j < p->n_jobs && !rc; j++)
		l.n[j] = 1;
	rc = rc ? rc : fit_shares_level(p, l.a, l.n, true, x, &s->objective, &s->bound, NULL, err);
	s->programmes = 2;
	level_release(&l);
	return rc;
}

static double fair_value(const struct fit_share_problem *p, const double *x, bool agnostic)
{
	double least = (double)INFINITY;

	for (size_t j = 0; j < p->n_jobs; j++) {
		double sum = 0;

		for (size_t t = 0; t < p->n_types; t++)
			sum += fair_gain(p, j * p->n_types + t, agnostic) * x[j * p->n_types + t];
		least = fmin(least, sum);
	}
	return least;
}

static int fairness(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		    struct fit_err *err)
{
	return solve_fair(p, false, x, s, err);
}

static double fairness_value(const struct fit_share_problem *p, const double *x)
{
	return fair_value(p, x, false);
}

/* Types that a job cannot run on are no share of it here either. */
static int agnostic(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		    struct fit_err *err)
{
	return solve_fair(p, true, x, s, err);
}

static double agnostic_value(const struct fit_share_problem *p, const double *x)
{
	return fair_value(p, x, true);
}

static int makespan(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		    struct fit_err *err)
{
	struct level l;
	double z = 0, bound = 0;
	int rc = level_init(&l, p, err);

	for (size_t j = 0; j < p->n_jobs && !rc; j++)
		l.n[j] = p->jobs[j].steps;
	rc = rc ? rc : fit_shares_level(p, p->rates, l.n, true, x, &z, &bound, NULL, err);
	s->objective = 1 / z;
	s->bound = 1 / bound;
	s->programmes = 2;
	level_release(&l);
	return rc;
}

static double makespan_value(const struct fit_share_problem *p, const double *x)
{
	double most = 0;

	for (size_t j = 0; j < p->n_jobs; j++)
		most = fmax(most, p->jobs[j].steps / fit_share_rate(p, j, x));
	return most;
}

/* Seconds from arrival to end at equal shares: what is done by now, and the rest as the shares are now. */
static double isolated_end(const struct fit_share_problem *p, size_t j)
{
	return p->jobs[j].isolated_s + p->jobs[j].steps / fit_share_isolated_rate(p, j);
}

static double finish_value(const struct fit_share_problem *p, const double *x)
{
	double most = 0;

	for (size_t j = 0; j < p->n_jobs; j++)
		most = fmax(most, (p->jobs[j].elapsed_s + p->jobs[j].steps / fit_share_rate(p, j, x)) /
				  isolated_end(p, j));
	return most;
}

/* What job j must do a second to be within rho. */
static void needs(const struct fit_share_problem *p, double rho, double *n)
{
	for (size_t j = 0; j < p->n_jobs; j++)
		n[j] = p->jobs[j].steps / (rho * isolated_end(p, j) - p->jobs[j].elapsed_s);
}

/* The rho at which what the jobs need, at these prices, comes to all; between low and high. */
static double rho_at(const struct fit_share_problem *p, const double *price, double all, double low,
		     double high)
{
	for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
		double mid = low + (high - low) / 2, sum = 0;

		for (size_t j = 0; j < p->n_jobs; j++)
			if (price[j] > 0)
				sum += price[j] * p->jobs[j].steps / (mid * isolated_end(p, j) - p->jobs[j].elapsed_s);
		if (sum > all)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * The smallest rho with steps_j / (rho I_j - t_j) <= rate_j(x) for all j. For a given rho the largest z with
 * rate_j(x) >= z steps_j / (rho I_j - t_j) is a programme; rho is right where z is 1. Its shares have a rho
 * of their own, which is one that can be had; its prices say what the needs of all jobs may come to at most,
 * and so a rho below which there is none. The next programme is at that one, until both meet: Newton's method
 * from below, as needs are convex in rho.
 */
static int finish_time(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		       struct fit_err *err)
{
	struct level l;
	double *price = calloc(p->n_jobs + 1, sizeof *price), low = 0, high, rho, z, bound;
	int rc = level_init(&l, p, err);

	if (!rc && !price)
		rc = fit_fail_nomem(err);
	if (!rc)
		fit_shares_isolated(p, x);
	for (size_t j = 0; j < p->n_jobs && !rc; j++)
		low = fmax(low, p->jobs[j].elapsed_s / isolated_end(p, j));
	rho = high = rc ? 0 : finish_value(p, x);
	s->programmes = 0;
	while (!rc && high - low > 1e-9 * high && s->programmes < 100) {
		double all = 0;

		needs(p, rho, l.n);
		rc = fit_shares_level(p, p->rates, l.n, false, x, &z, &bound, price, err);
		s->programmes++;
		if (rc)
			break;
		for (size_t j = 0; j < p->n_jobs; j++)
			all += price[j] * l.n[j];
		high = fmin(high, finish_value(p, x));
		low = fmax(low, rho_at(p, price, all * bound, low, high));
		rho = low + 1e-10 * (high - low);
	}
	if (!rc) {
		needs(p, high, l.n);
		rc = fit_shares_level(p, p->rates, l.n, true, x, &z, &bound, NULL, err);
		s->programmes += 2;
		s->objective = rc ? 0 : finish_value(p, x);
		s->bound = low;
	}
	free(price);
	level_release(&l);
	return rc;
}

/* ---- the sum of throughputs ---- */

static double price(const struct fit_share_problem *p, size_t t)
{
	return p->prices ? p->prices[t] : 1;
}

static int throughput(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		      struct fit_err *err)
{
	struct level l;
	int rc = level_init(&l, p, err);
	bool any = false;

	for (size_t i = 0; i < p->n_jobs * p->n_types && !rc; i++)
		l.a[i] = p->rates[i] / price(p, i % p->n_types);
	for (size_t j = 0; j < p->n_jobs && !rc; j++) {
		l.n[j] = p->jobs[j].limit_s > 0 ? p->jobs[j].steps / p->jobs[j].limit_s : 0;
		any = any || l.n[j] > 0;
	}
	rc = rc ? rc : fit_shares_most(p, l.a, l.n, x, &s->objective, &s->bound, err);
	s->programmes = 2;
	if (rc == FIT_END && any) {
		memset(l.n, 0, p->n_jobs * sizeof *l.n);
		s->limits_ignored = true;
		s->programmes = 3;
		rc = fit_shares_most(p, l.a, l.n, x, &s->objective, &s->bound, err);
	}
	level_release(&l);
	return rc == FIT_END ? fit_fail(err, FIT_ENOCONV, "shares of %zu jobs: GLPK finds none", p->n_jobs) : rc;
}

static double throughput_value(const struct fit_share_problem *p, const double *x)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_jobs * p->n_types; i++)
		sum += p->rates[i] / price(p, i % p->n_types) * x[i];
	return sum;
}

/* ---- no programmes ---- */

static int isolated(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		    struct fit_err *err)
{
	(void)err;
	fit_shares_isolated(p, x);
	s->objective = s->bound = fairness_value(p, x);
	s->programmes = 0;
	return FIT_OK;
}

/* In order: all of the time on the type that is fastest of those with room; the first one on ties, in the
 * order of the types. A job that no type with room can run is passed over; one that no type has room for
 * ends it. */
static int fifo(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		    struct fit_err *err)
{
	double *room = calloc(p->n_types + 1, sizeof *room);

	if (!room)
		return fit_fail_nomem(err);
	memcpy(room, p->gpus, p->n_types * sizeof *room);
	memset(x, 0, p->n_jobs * p->n_types * sizeof *x);
	for (size_t j = 0; j < p->n_jobs; j++) {
		const double *r = p->rates + j * p->n_types;
		size_t best = p->n_types;
		bool fits = false;

		for (size_t t = 0; t < p->n_types; t++) {
			if (room[t] < p->jobs[j].gpus)
				continue;
			fits = true;
			if (r[t] > 0 && (best == p->n_types || r[t] > r[best]))
				best = t;
		}
		if (!fits)
			break;
		if (best == p->n_types)
			continue;
		x[j * p->n_types + best] = 1;
		room[best] -= p->jobs[j].gpus;
	}
	free(room);
	s->objective = s->bound = throughput_value(p, x);
	s->programmes = 0;
	return FIT_OK;
}

const struct fit_share_objective fit_share_objectives[] = {
	{ "max-min-fairness", "the least weighted steps a second, over those at a proportional share", "ratio",
	  false, fairness, fairness_value, true },
	{ "max-min-fairness-agnostic", "the same where all GPU types were alike", "ratio", false, agnostic,
	  agnostic_value, true },
	{ "min-makespan", "seconds until all jobs are done", "s", true, makespan, makespan_value, false },
	{ "finish-time-fairness", "the largest time to the end over the one at equal shares", "ratio", true,
	  finish_time, finish_value, false },
	{ "max-throughput", "the sum of steps a second, by price where there are prices", "steps/s", false,
	  throughput, throughput_value, true },
	{ "isolated", "an equal share of each type for each job", "ratio", false, isolated, fairness_value,
	  true },
	{ "fifo", "whole types in order of arrival, each job its fastest that has room", "steps/s", false, fifo,
	  throughput_value, false },
	{ NULL, NULL, NULL, false, NULL, NULL, false }
};

const struct fit_share_objective *fit_share_objective_find(const char *name)
{
	for (const struct fit_share_objective *o = fit_share_objectives; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}
