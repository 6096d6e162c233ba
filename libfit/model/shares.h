/* SPDX-License-Identifier: MIT */
/*
 * Shares of time on GPUs of several types, as linear programmes (Narayanan et al., Heterogeneity-Aware
 * Cluster Scheduling Policies for Deep Learning Workloads, OSDI'20; docs/methods/gavel.md).
 *
 * Job j asks for gpus_j GPUs and does rate_jt steps a second on that many of type t. An allocation gives it
 * the fraction x_jt of the time on type t:
 *
 *   x >= 0,   sum_t x_jt <= 1,   sum_j gpus_j x_jt <= GPUs of type t.
 *
 * An objective is an entry of fit_share_objectives[]. Those that level (max-min fairness, makespan,
 * finish-time fairness) are one programme, "the largest z with sum_t a_jt x_jt >= n_j z for all j", with
 * their own a and n. Optima are seldom unique; a second programme picks one, see below.
 *
 * All results depend on the input alone: GLPK runs on one thread, and each choice is made in the order of
 * jobs and types.
 */
#ifndef FIT_MODEL_SHARES_H
#define FIT_MODEL_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

struct fit_share_job {
	double gpus;		/* at least 1 */
	double weight;		/* priority, more than 0 */
	double steps;		/* left to do, more than 0 */
	double elapsed_s;	/* since it came */
	double isolated_s;	/* the time that the steps done by now would have taken at equal shares */
	double limit_s;		/* they should be done within this; 0: no limit */
};

struct fit_share_problem {
	size_t n_jobs, n_types;
	const struct fit_share_job *jobs;
	const double *rates;	/* [j * n_types + t], steps a second; 0: cannot run there. No row of zeros */
	const double *gpus;	/* [t], of the cluster; not all 0 */
	const double *prices;	/* [t], of a GPU hour; NULL: all alike */
};

struct fit_share_solution {
	double objective;	/* in the unit of the objective */
	double bound;		/* what no allocation is better than, from the prices of the programme: the proof of
				 * optimality. The objective itself where the shares are no programme's */
	bool limits_ignored;	/* no allocation keeps all limits */
	int programmes;		/* how many were solved */
};

struct fit_share_objective {
	const char *name, *summary, *unit;
	bool least;		/* less is better */
	/* Shares into x, n_jobs x n_types. FIT_ENOCONV: GLPK gave up. */
	int (*solve)(const struct fit_share_problem *p, double *x, struct fit_share_solution *s,
		     struct fit_err *err);
	/* What an allocation comes to, from it alone. */
	double (*value)(const struct fit_share_problem *p, const double *x);
	bool evens;		/* jobs of the same GPUs, weight and rates can be given the mean of their shares: what they
				 * come to together does not change, as nothing else of a job counts */
};
/*
 * max-min-fairness		the least steps a second, weighted, over those at a proportional share (1)
 * max-min-fairness-agnostic	the same where all types were alike: time, not steps
 * min-makespan			seconds until all are done
 * finish-time-fairness		the largest time from arrival to end over the one at equal shares
 * max-throughput		the sum of steps a second; by price where there are prices; limits are kept
 * isolated			each job gets an equal share of each type
 * fifo				whole types in order of arrival, each job its fastest that has room
 *
 * The programmes leave a choice: among their optima that one is taken which has the largest sum of
 * gpus x rate / (the job's best rate), each term made 1e-6 larger at most, differently for each (j, t), so
 * that it is one.
 */
extern const struct fit_share_objective fit_share_objectives[];	/* ends with name == NULL */
const struct fit_share_objective *fit_share_objective_find(const char *name);	/* or NULL */

/* Shares of an equal split: GPUs of the type / (jobs x gpus_j), a row at most 1. */
void fit_shares_isolated(const struct fit_share_problem *p, double *x);
/* Steps a second of job j in an equal split. */
double fit_share_isolated_rate(const struct fit_share_problem *p, size_t j);
/* Steps a second of job j under x. */
double fit_share_rate(const struct fit_share_problem *p, size_t j, const double *x);
/* NULL, or what is wrong with an allocation in one sentence; slack: relative. */
const char *fit_shares_check(const struct fit_share_problem *p, const double *x, double slack);

FIT_C_END

#endif
