/* SPDX-License-Identifier: MIT */
/*
 * Finish-time fairness: rho = completion time of a job over the time that it would have taken alone on
 * an equal share of the cluster (Mahajan et al., Themis, NSDI'20; as Sia's simulator measures it,
 * Jayaram Subramanya et al., SOSP'23). docs/methods/metrics.md.
 *
 *   N     mean number of jobs in the system, itself counted, over the scheduling rounds of its life; over
 *         all of its time where there are no rounds
 *   v     = G / N, its share, with G the GPUs of the cluster, those of all types
 *   T_t(v) its time alone on v GPUs of type t: linear between the GPUs of which the time is known; below the
 *         least of them, k, T_t(k) k / v; above the most, that one's time
 *   T(v)  = sum of w_t T_t(v), w_t the share of type t in the GPUs of those types that it can run on
 *   rho   = (end - submit) / T(v)
 *
 * Sia's paper writes sum of w_t rho_t instead, the mean of ratios; it is at least as large.
 */
#ifndef FIT_METRICS_FAIRNESS_H
#define FIT_METRICS_FAIRNESS_H

#include "libfit/base/linkage.h"
#include "libfit/metrics/metrics.h"

FIT_C_BEGIN

/* ---- times alone: a table with job_id, gpus (that it had for itself), jct_s, maybe gpu_type ---- */

struct fit_isolated;

/* Rows without jct_s count as "cannot". FIT_EDATA: no GPUs, a time of 0 or less, two rows for a job, type
 * and number of GPUs. */
int fit_isolated_read(struct fit_isolated **t, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_isolated_free(struct fit_isolated *t);			/* NULL is fine */
const char *fit_isolated_hash(const struct fit_isolated *t);
/* Seconds alone on v GPUs of a type; missing when no row says. A row without a type is for every type. */
double fit_isolated_time(const struct fit_isolated *t, struct fit_text job, struct fit_text type, double v);

/* ---- rho ---- */

/* GPUs of a cluster by type: "aws:6x4,rtx:3x8", or without names, then of one type. */
struct fit_cluster_types {
	struct fit_cluster_part { struct fit_text name; double gpus; } *parts;	/* names: borrowed from the text */
	size_t n;
	double gpus;		/* in all */
};
int fit_cluster_types_parse(struct fit_cluster_types *c, struct fit_text spec,
			    struct fit_err *err) FIT_MUST_CHECK;
void fit_cluster_types_release(struct fit_cluster_types *c);

enum fit_type_mean { FIT_MEAN_TIMES, FIT_MEAN_RATIOS };

struct fit_fair_job {
	double jobs_mean;	/* N */
	double share_gpus;	/* v */
	double isolated_s;	/* T(v): of ratios, the time that gives rho */
	double rho;
};				/* all missing unless finished; the last two unless the time alone is known */

/* One entry a job of m, in its order: a heap array; free() it. interval_ns: rounds are its multiples, a job
 * takes part from its submission until before its end, in one round at least; 0: none. alone: NULL: the
 * shares only. FIT_ENOMEM. */
int fit_fairness(const struct fit_metrics *m, int64_t interval_ns, const struct fit_cluster_types *cluster,
		 const struct fit_isolated *alone, enum fit_type_mean mean, struct fit_fair_job **jobs,
		 struct fit_err *err) FIT_MUST_CHECK;

struct fit_fair_summary {
	size_t n;		/* jobs of which rho is known */
	double unfair;		/* share of them with rho above 1 */
	double mean, min, median, p90, p95, p99, max;
};
int fit_fairness_summarise(const struct fit_fair_job *jobs, size_t n, struct fit_fair_summary *s,
			   struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
