/* SPDX-License-Identifier: MIT */
/*
 * Jobs tables with bursty arrivals (arrivals.h), and speedups that are judged wrongly.
 */
#ifndef FIT_SYNTH_SYNTH_ARRIVALS_H
#define FIT_SYNTH_SYNTH_ARRIVALS_H

#include "libfit/base/linkage.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/speedup.h"
#include "libfit/synth/arrivals.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/*
 * The jobs of a table, in an order that is drawn, at instants that are drawn: job_id, app,
 * submit_s (whole milliseconds), gpus, and batch_size and duration_s where the table has them. So
 * the mix of jobs stays exactly what it was. mean_gap_s <= 0 in p: that of the table. FIT_EDATA:
 * the table has no mean gap.
 */
int fit_synth_arrivals_like(const char *jobs, const struct fit_arrivals_params *p, uint64_t seed,
			    struct fit_writer *w, const struct fit_meta *meta, char hash[FIT_HASH_HEX],
			    struct fit_err *err) FIT_MUST_CHECK;

/*
 * n jobs of these classes, each drawn by their arrival rates: job_id, app, submit_s, gpus (the
 * least width of the class). mean_gap_s <= 0 in p: one over the sum of the rates.
 */
int fit_synth_arrivals_of(const struct fit_boa_classes *classes, int64_t n,
			  const struct fit_arrivals_params *p,
			  uint64_t seed, struct fit_writer *w, const struct fit_meta *meta,
			  struct fit_err *err) FIT_MUST_CHECK;

/*
 * Speedups as somebody believes them who is wrong by about size (a standard deviation of the
 * logarithm): in each epoch of each class, the speed on k GPUs is multiplied by f(k) / f(K) with
 *
 *   f(k) = exp(size (a log2(k) / 6 + 0.25 n_k)),
 *
 * a and the n_k standard normal, K the least usable width, whose speed stays right: scaling is
 * misjudged as a whole (a), and each width by itself. Rows are written by class, epoch, type and
 * width.
 */
int fit_synth_misjudge(const struct fit_speedups *s, double size, uint64_t seed, struct fit_writer *w,
		       const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
