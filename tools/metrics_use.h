/* SPDX-License-Identifier: MIT */
/* How GPUs are used, as gf-metrics writes it: efficiency and cost. */
#ifndef TOOLS_METRICS_USE_H
#define TOOLS_METRICS_USE_H

#include "libfit/metrics/efficiency.h"
#include "libfit/metrics/rent_cost.h"
#include "libfit/metrics/summary.h"
#include "libfit/table/table.h"

/* Rows of the report. */
int metrics_put_rows(struct fit_writer *w, const struct fit_metric_row *rows, size_t n,
		     struct fit_err *err) FIT_MUST_CHECK;
/* Further ones: work is in GPU-seconds on the least widths. */
int metrics_use_report(struct fit_writer *w, const struct fit_metrics *m, const struct fit_efficiency *f,
		       struct fit_err *err) FIT_MUST_CHECK;
/* One more: what is rented at the prices of GPU types. */
int metrics_use_cost(struct fit_writer *w, const struct fit_rent_cost *c, const struct fit_metrics *m,
		     int64_t window_ns, struct fit_err *err) FIT_MUST_CHECK;
/* The table of steps over time. */
int metrics_use_series(struct fit_writer *w, const struct fit_efficiency *f, const struct fit_meta *meta,
		       struct fit_err *err) FIT_MUST_CHECK;

#endif
