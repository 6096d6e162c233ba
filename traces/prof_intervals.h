/* SPDX-License-Identifier: MIT */
/*
 * Kernels of GPUs, as intervals of time, become utilisation: for each bin and GPU the share of the bin
 * in which at least one kernel ran. Streams overlap, so it is the length of the union, not a sum. The
 * messages of these functions do not name the input.
 */
#ifndef TRACES_PROF_INTERVALS_H
#define TRACES_PROF_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "traces/series.h"

#define FIT_BINS_GAP_MAX 10000000	/* bins one after another in which nothing runs */
#define FIT_BINS_GPUS_MAX 4096

struct fit_bins {
	struct fit_series_out *out;
	int64_t bin_ns, origin_ns;	/* time_s of instant t is t + origin_ns */
	bool begun;
	int64_t at;			/* start of the current bin */
	struct fit_bins_gpu {
		int64_t gpu, until, busy_ns;	/* the union reaches until; of it, in this bin */
		bool has_fb;
		double fb_mib, fb_max_mib;	/* now, and the most in this bin */
	} *gpus;			/* by number */
	size_t n, cap;
};

/* out is borrowed. Zero-initialise, then set out, bin_ns and origin_ns. Release with free(gpus). */

/* A GPU that exists, though nothing may run on it. FIT_EDATA: too many. */
int fit_bins_gpu(struct fit_bins *b, int64_t gpu, struct fit_err *err) FIT_MUST_CHECK;
/* A kernel ran from start to end (start <= end) on that GPU. Calls must be in order of start, those of
 * fit_bins_memory() included. FIT_EDATA: a gap or a time out of range. */
int fit_bins_add(struct fit_bins *b, int64_t gpu, int64_t start, int64_t end,
		 struct fit_err *err) FIT_MUST_CHECK;
/* From then on so many MiB of that GPU are in use. */
int fit_bins_memory(struct fit_bins *b, int64_t gpu, int64_t at, double mib,
		    struct fit_err *err) FIT_MUST_CHECK;
/* All bins up to the last one with a kernel. */
int fit_bins_finish(struct fit_bins *b, struct fit_err *err) FIT_MUST_CHECK;

/* For inputs that are not in order: kernels and memory marks, kept (32 bytes each) and sorted. */
struct fit_interval {
	int64_t start, end;		/* end INT64_MIN: a memory mark */
	int64_t gpu;
	double mib;
};
struct fit_intervals {
	struct fit_interval *list;
	size_t n, cap;
};
int fit_intervals_add(struct fit_intervals *v, struct fit_interval i, struct fit_err *err) FIT_MUST_CHECK;
/* Sort, and hand over to b, which is finished with it. */
int fit_intervals_flow(struct fit_intervals *v, struct fit_bins *b, struct fit_err *err) FIT_MUST_CHECK;
void fit_intervals_release(struct fit_intervals *v);

#endif
