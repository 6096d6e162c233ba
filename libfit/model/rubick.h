/* SPDX-License-Identifier: MIT */
/*
 * The performance model of Rubick (MLSys'25; docs/methods/rubick.md): how long an iteration takes by an
 * execution plan, from seven fitted constants of an application and two of its machines.
 *
 * Times are milliseconds, parameters are counted in Mi (2^20), links move Mi bytes a millisecond.
 */
#ifndef FIT_MODEL_RUBICK_H
#define FIT_MODEL_RUBICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

enum { FIT_K_BWD, FIT_K_SYNC, FIT_K_OPT, FIT_K_OS, FIT_K_CONST, FIT_K_OFF, FIT_K_SWAP, FIT_RUBICK_N };
extern const char *const fit_rubick_names[FIT_RUBICK_N];	/* columns: k_bwd, k_sync, … */

/* What is fitted, and the bandwidth of PCIe and of NVLink. */
struct fit_rubick {
	double k[FIT_RUBICK_N];
	double pcie, nvlink;
};

/* ---- plans of the data-parallel family ---- */

enum fit_rubick_zero { FIT_ZERO_NONE, FIT_ZERO_OFFLOAD, FIT_ZERO_DP };
struct fit_rubick_plan {
	const char *name;		/* as in exec_plan */
	double alpha_f, alpha_b, alpha_c;	/* times of forward and backward pass, and of communication */
	enum fit_rubick_zero zero;
};
/* ga, gc (recomputation), zero-dp, zero-offload, zero-offload+gc; ends with name == NULL. */
extern const struct fit_rubick_plan fit_rubick_plans[];
const struct fit_rubick_plan *fit_rubick_plan_find(struct fit_text name);	/* or NULL */

struct fit_rubick_run {
	double params_mi;
	double forward_ms;	/* of one GPU's share of the batch */
	int64_t gpus, cpu_threads;
	bool slow_network;	/* between nodes: 2 Mi bytes a millisecond, not NVLink */
};
/* The parts of an iteration that profiles measure, and all of it. */
struct fit_rubick_parts {
	double sync_ms, optimize_ms, iter_ms;
};
struct fit_rubick_parts fit_rubick_parts(const struct fit_rubick *m, const struct fit_rubick_plan *p,
					 const struct fit_rubick_run *r);

/* ---- plans of pipeline, tensor and data degree ---- */

struct fit_rubick_grid {
	double params_mi, forward_ms;
	int64_t pp, tp;			/* the data degree follows from the GPUs */
	int64_t nodes, node_gpus;
	int64_t batch;			/* in all */
	double seq_hid, layers;
};
/* Milliseconds; NAN where the GPUs are too few for the degrees, or the batch for the data degree. */
double fit_rubick_grid_ms(const struct fit_rubick *m, const struct fit_rubick_grid *g);

/* ---- fitting ---- */

/* What was measured of one run. */
struct fit_rubick_obs {
	struct fit_rubick_run run;
	struct fit_rubick_plan plan;
	double sync_ms, optimize_ms, iter_ms;
};

/* The root mean squared logarithmic errors of synchronisation, optimiser step and iteration, added up; grad
 * (FIT_RUBICK_N values, may be NULL) gets its gradient. */
double fit_rubick_loss(const struct fit_rubick *m, const struct fit_rubick_obs *obs, size_t n, double *grad);
/* Fit the constants of m, whose links are given, within bounds, from the published start: L-BFGS-B. loss (may
 * be NULL) gets the smallest. FIT_ENOCONV: the solver broke. */
int fit_rubick_fit(struct fit_rubick *m, const struct fit_rubick_obs *obs, size_t n, double *loss,
		   struct fit_err *err) FIT_MUST_CHECK;
/* A sentence, or NULL: is this an observation? */
const char *fit_rubick_obs_check(const struct fit_rubick_obs *o);

FIT_C_END

#endif
