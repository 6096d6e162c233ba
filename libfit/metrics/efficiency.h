/* SPDX-License-Identifier: MIT */
/*
 * How GPUs are used over time, and how efficiently: fed by the events of a log, with a table of
 * speedups (docs/formats/boa.md) or without.
 *
 * A job on k GPUs in epoch j that makes progress does normalised work at the rate K s_j(k) /
 * s_j(K): the GPUs that would do the same work on the least width K that is usable in the epoch, of the
 * first GPU type by name that has one. A job works at the speed of the type that it holds.
 * Whatever the policy, the integral over a job that finishes is the sum over its epochs of K x_j
 * / s_j(K) (conservation). The efficiency of a cluster is normalised work over GPU-seconds.
 */
#ifndef FIT_METRICS_EFFICIENCY_H
#define FIT_METRICS_EFFICIENCY_H

#include "libfit/base/linkage.h"
#include "libfit/metrics/metrics.h"

FIT_C_BEGIN

struct fit_efficiency;

/* speedups: an operand, or NULL: usage only. step_ns > 0: a series of intervals of that length,
 * from time 0, up to FIT_EFFICIENCY_STEPS_MAX of them; 0: none. FIT_EDATA. */
int fit_efficiency_new(struct fit_efficiency **f, const char *speedups, int64_t step_ns,
		       struct fit_err *err) FIT_MUST_CHECK;
void fit_efficiency_free(struct fit_efficiency *f);	/* NULL is fine */
#define FIT_EFFICIENCY_STEPS_MAX 10000000

/* The metadata of the log are known: which nodes have GPUs of which type. Needed where the speedups have
 * several types; call before the first row is watched. FIT_EDATA: the cluster names no types. */
int fit_efficiency_begin(struct fit_efficiency *f, const struct fit_reader *r,
			 struct fit_err *err) FIT_MUST_CHECK;

/* A watch of fit_metrics_read(); arg is the object. FIT_EDATA: a class that the speedups do not
 * have, or a log that does not count epochs; more steps than may be. Call close() once after the
 * log. */
int fit_efficiency_watch(void *arg, const struct fit_metrics *m, struct fit_err *err) FIT_MUST_CHECK;
int fit_efficiency_close(struct fit_efficiency *f, const struct fit_metrics *m,
			 struct fit_err *err) FIT_MUST_CHECK;

/* GPU-seconds on the least widths: done, and what the jobs that finished have in all (equal when
 * all finish). */
double fit_efficiency_work(const struct fit_efficiency *f);
double fit_efficiency_work_of_finished(const struct fit_efficiency *f);
const char *fit_efficiency_hash(const struct fit_efficiency *f);	/* of the speedups; "" without */

/* The series: mean GPUs over each step. work is missing without speedups. The last step ends with
 * the log. */
struct fit_usage {
	int64_t from_ns, to_ns;
	double rented, held, busy, work;
};
size_t fit_efficiency_n_steps(const struct fit_efficiency *f);
struct fit_usage fit_efficiency_step(const struct fit_efficiency *f, size_t i);

FIT_C_END

#endif
