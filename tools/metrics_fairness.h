/* SPDX-License-Identifier: MIT */
/*
 * What gf-metrics says of finish-time fairness (libfit/metrics/fairness.h): columns of its table of jobs,
 * rows of its report.
 */
#ifndef TOOLS_METRICS_FAIRNESS_H
#define TOOLS_METRICS_FAIRNESS_H

#include "libfit/metrics/fairness.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"

struct metrics_fairness {
	bool wanted;
	struct fit_isolated *alone;	/* NULL: shares only */
	struct fit_fair_job *jobs;	/* in the order of the metrics */
	size_t n, n_unknown;		/* jobs; finished ones without a time alone */
};

/* Read the times alone (isolated: an operand, or NULL), and then compute, from the metadata of the log
 * and its jobs. FIT_EDATA: a log without cluster, or of an elastic one. */
int metrics_fairness_init(struct metrics_fairness *f, bool shares, const char *isolated,
			  struct fit_err *err) FIT_MUST_CHECK;
int metrics_fairness_compute(struct metrics_fairness *f, const struct fit_metrics *m,
			     const struct fit_reader *log, enum fit_type_mean mean,
			     struct fit_err *err) FIT_MUST_CHECK;
void metrics_fairness_release(struct metrics_fairness *f);

/* Its last columns of the table of jobs: so many, into fields; and their cells for job i. */
#define METRICS_FAIRNESS_COLUMNS 4
size_t metrics_fairness_fields(const struct metrics_fairness *f, struct fit_field *fields);
void metrics_fairness_cells(const struct metrics_fairness *f, size_t i, struct fit_writer *w);
/* Its last rows of the report. */
int metrics_fairness_report(const struct metrics_fairness *f, struct fit_writer *w,
			    struct fit_err *err) FIT_MUST_CHECK;

#endif
