/* SPDX-License-Identifier: MIT */
/*
 * Figures over a set of jobs: means and percentiles. A statistic of nothing is fit_real_na().
 *
 * Percentile p of n values in ascending order: linear interpolation at position p/100 * (n - 1),
 * counted from 0; the rule (and the arithmetic) of numpy.percentile's default.
 */
#ifndef FIT_METRICS_SUMMARY_H
#define FIT_METRICS_SUMMARY_H

#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/metrics/metrics.h"

FIT_C_BEGIN

struct fit_spread {
	double mean, median, p95, p99, max;	/* seconds, or missing */
};

struct fit_summary {
	size_t jobs, finished, unfinished, rejected;
	struct fit_spread jct, queue;		/* over the finished jobs */
	int64_t restarts, preemptions;		/* over all jobs */
	fit_i128 gpu;				/* over all jobs */
};

/* Percentile, 0 to 100, of n ascending values; fit_real_na() for n = 0. */
double fit_percentile(const double *sorted, size_t n, double percent);

/* Over the jobs whose numbers are which[0..n), or over all of them when which is NULL (n is then
 * ignored). FIT_ENOMEM. */
int fit_summarise(const struct fit_metrics *m, const size_t *which, size_t n, struct fit_summary *s,
		  struct fit_err *err) FIT_MUST_CHECK;

/* JCTs of the finished jobs in seconds, ascending: a heap array of *n; free() it. */
int fit_metrics_jcts(const struct fit_metrics *m, double **jct_s, size_t *n,
		     struct fit_err *err) FIT_MUST_CHECK;

/* Jobs grouped by application (key: app number) or by GPUs asked for (key: ugpus): job numbers
 * sorted by (key order, submission), with the groups' bounds. Applications in natural text order,
 * jobs without one last. */
struct fit_groups {
	size_t *which;			/* n_jobs job numbers */
	size_t *first;			/* n + 1 bounds into which */
	size_t n;
};
enum fit_group_by { FIT_BY_APP, FIT_BY_SIZE };
void fit_groups_release(struct fit_groups *g);
int fit_metrics_group(const struct fit_metrics *m, enum fit_group_by by, struct fit_groups *g,
		      struct fit_err *err) FIT_MUST_CHECK;

/*
 * The rows of the plain report. fit_metric_count() of them; row i has a name, a unit and a value
 * (fit_real_na(): missing). names and units are constants.
 */
struct fit_metric_row {
	const char *name, *unit;
	double value;
};
size_t fit_metric_count(void);
/* w: the window of the time-average budget; NULL: from the first to the last submit. */
struct fit_metric_row fit_metric_row(const struct fit_metrics *m, const struct fit_summary *s,
				     const struct fit_metrics_window *w, size_t i);

FIT_C_END

#endif
