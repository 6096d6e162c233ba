/* SPDX-License-Identifier: MIT */
/*
 * What the rented GPUs of a cluster cost: GPU-seconds by GPU type, and money an hour with a price of each
 * type. A log of a fixed cluster rents all of it from its first event on.
 */
#ifndef FIT_METRICS_RENT_COST_H
#define FIT_METRICS_RENT_COST_H

#include "libfit/base/linkage.h"
#include "libfit/metrics/metrics.h"

FIT_C_BEGIN

struct fit_rent_cost;

/* prices: "TYPE=X" each, a positive number for a GPU-hour (borrowed); other types cost 1. FIT_EINVAL: what is
 * wrong with one of them. */
int fit_rent_cost_new(struct fit_rent_cost **c, const char *const *prices, size_t n,
		      struct fit_err *err) FIT_MUST_CHECK;
void fit_rent_cost_free(struct fit_rent_cost *c);	/* NULL is fine */

/* The log is that of r, whose metadata name the cluster; before the first event. FIT_EDATA: no such cluster,
 * or a price of a type that it does not have. */
int fit_rent_cost_begin(struct fit_rent_cost *c, const struct fit_reader *r,
			struct fit_err *err) FIT_MUST_CHECK;
/* A watch of fit_metrics_read(); NULL is fine. */
int fit_rent_cost_watch(struct fit_rent_cost *c, const struct fit_metrics *m,
			struct fit_err *err) FIT_MUST_CHECK;

/* Sum over types of price times GPU-seconds from time 0 to the last event, over the time of the window in
 * hours: window_ns, or with one below 1 from the first to the last submission. Missing when that is 0. With
 * prices of 1 it is the metric rented_gpus. */
double fit_rent_cost_per_h(const struct fit_rent_cost *c, const struct fit_metrics *m, int64_t window_ns);

FIT_C_END

#endif
