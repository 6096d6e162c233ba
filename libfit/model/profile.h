/* SPDX-License-Identifier: MIT */
/*
 * Application profiles: what is true about a training application, measured off line.
 *
 * A profile store (docs/formats/profile.md) holds flat tables with an `app` column:
 *
 *   /apps         app init_batch max_batch min_local_bsz max_local_bsz epochs restart_s
 *                 max_replicas fixed_batch
 *   /placements   app placement local_bsz step_time_s sync_time_s      (up to 4 nodes, measured)
 *   /scalability  app num_nodes num_replicas local_bsz step_time_s sync_time_s   (more nodes)
 *   /validation   app batch_size epoch progress iteration metric grad_sqr grad_var
 *   /points       app num_nodes num_replicas local_bsz step_time_s sync_time_s
 *   /simplices    app v0..v3 n0..n3 degenerate eq_x eq_y eq_z eq_w eq_off
 *   /lift         app paraboloid_scale paraboloid_shift
 *
 * The last three are the prepared interpolation (gf-prof makes them once; see interpolate.h). The
 * definitions follow the simulator of Qiao et al., "Pollux", OSDI'21; section numbers B.x below are
 * those of docs/methods/pollux.md.
 *
 * A loaded profile is read-only except for a memo of throughput queries; it is not thread-safe.
 */
#ifndef FIT_MODEL_PROFILE_H
#define FIT_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_profile;	/* all applications of a store */
struct fit_app;		/* one application; lives as long as its profile */

/* Load from a store file. FIT_ENOTFOUND when a table is missing, FIT_EDATA when it contradicts
 * itself. hash (FIT_HASH_HEX bytes, may be NULL) gets the content hash of the file. Stores are made
 * with profile_store.h. */
int fit_profile_load(struct fit_profile **p, const char *store, char *hash,
		     struct fit_err *err) FIT_MUST_CHECK;
void fit_profile_free(struct fit_profile *p);	/* NULL is fine */
size_t fit_profile_n_apps(const struct fit_profile *p);
struct fit_app *fit_profile_app(const struct fit_profile *p, size_t i);
struct fit_app *fit_profile_find(const struct fit_profile *p, struct fit_text name);	/* or NULL */

/* Constants of an application. */
struct fit_app_info {
	const char *name;
	int64_t init_batch, max_batch;		/* total batch size, samples */
	int64_t min_local_bsz, max_local_bsz;	/* per-GPU atomic batch size, samples */
	int64_t epochs;				/* a job ends when it has completed these */
	int64_t restart_ns;			/* checkpoint and restart at every change of placement */
	int64_t max_replicas;			/* the application never uses more; 0: no limit */
	int64_t fixed_batch;			/* an adaptive policy keeps this total; 0: it may choose */
};
const struct fit_app_info *fit_app_info(const struct fit_app *a);

/* A placement: GPUs per node in node order; zeros are dropped. */
#define FIT_PLACEMENT_MAX 512
struct fit_placement {
	int n_nodes;
	int gpus[FIT_PLACEMENT_MAX];
};

/* Step and synchronisation time (seconds) of one optimiser step at this placement and atomic batch
 * size (B.3): piecewise linear in local_bsz up to four nodes, Delaunay interpolation above. Where
 * /scalability has rows on four nodes or fewer, it answers for placements that were not measured.
 * FIT_EDATA outside of what was measured; the error names application, placement and size. */
int fit_app_throughput(struct fit_app *a, const struct fit_placement *p, int64_t local_bsz,
		       double *step_s, double *sync_s, struct fit_err *err) FIT_MUST_CHECK;

/* The largest atomic batch size that was measured on so many GPUs, however placed; the application's own
 * limit where none was. */
int64_t fit_app_most_local(const struct fit_app *a, int64_t replicas);

/* Samples a second of one GPU at the largest atomic batch size that was measured there; 0: none was.
 * slowest: over the longest step time of any size, as Sia's simulator has it. */
double fit_app_one_gpu(const struct fit_app *a, bool slowest);

/* The same for several batch sizes of one placement, in ascending order, found together: where an
 * answer is not unique (interpolate.h), it may be another than one by one. NAN for those outside of
 * what was measured. */
int fit_app_throughputs(struct fit_app *a, const struct fit_placement *p, const int64_t *local_bsz,
			size_t n, double *step_s, double *sync_s, struct fit_err *err) FIT_MUST_CHECK;

/* Squared gradient norm and gradient variance at total batch size B in epoch e (from 0), B.2. */
int fit_app_grad_stats(const struct fit_app *a, int64_t batch, int64_t epoch, double *sqr,
		       double *var, struct fit_err *err) FIT_MUST_CHECK;
/* Cumulative optimiser steps at batch size B after e + 1 epochs, B.2. */
int fit_app_iteration(const struct fit_app *a, int64_t batch, int64_t epoch, double *steps,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Progress (initial-batch-equivalent steps) at which epoch e starts: 0 for e = 0, else the minimum
 * over all validation runs of row e - 1. e may be `epochs`: the end of the job. */
double fit_app_epoch_start(const struct fit_app *a, int64_t epoch);
/* Best validation metric before epoch e; *known is false for e = 0. */
int fit_app_best_metric(const struct fit_app *a, int64_t batch, int64_t epoch, bool *known,
			double *metric, struct fit_err *err) FIT_MUST_CHECK;

/* How a job splits its batch over `replicas` GPUs: local = ceil(target / replicas - 1e-8), accum =
 * ceil(local / max_local_bsz - 1e-8) - 1, atomic = ceil(local / (accum + 1) - 1e-8), and in the end
 * atomic is at most max_batch / (replicas * (accum + 1)). A job on one GPU accumulates at least
 * once when its target is over init_batch; with single_gpu_always_accumulates (how Optimus
 * predicts) whatever the target. { 0, 0 } when target_batch or replicas is under 1. */
struct fit_batch {
	int64_t atomic_bsz;	/* per GPU and pass */
	int64_t accum_steps;	/* passes before the synchronising one */
};
struct fit_batch fit_app_split_batch(const struct fit_app *a, int64_t target_batch,
				     int64_t replicas, bool single_gpu_always_accumulates);
/* The same within the local batch sizes that were measured on so many GPUs, where these are less. */
struct fit_batch fit_app_split_measured(const struct fit_app *a, int64_t target_batch, int64_t replicas);

/* Goodput of a running job: rate of progress in initial-batch-equivalent steps per second,
 * gain / (step + accum * (step - sync)). */
int fit_app_goodput(struct fit_app *a, const struct fit_placement *p, struct fit_batch b,
		    int64_t epoch, double *rate, struct fit_err *err) FIT_MUST_CHECK;

/* The same from known step times (seconds). FIT_EDATA: no training run around that batch size. */
int fit_app_rate(const struct fit_app *a, int64_t replicas, struct fit_batch b, int64_t epoch,
		 double step_s, double sync_s, double *rate, struct fit_err *err) FIT_MUST_CHECK;

/* The tuned configurations of B.4: the (replicas, batch) pairs whose efficiency against one GPU
 * lies in (lo, hi), both strict, with the predicted run time of a whole job under 12 hours. Where
 * there is none: the best on one GPU. out gets the first cap of them (ten are enough), *n how many
 * there are. FIT_EDATA when a candidate lies outside of what was measured. */
struct fit_tuned {
	int64_t replicas, batch;
	double jct_s;
};
int fit_app_configurations(struct fit_app *a, double lo, double hi, struct fit_tuned *out,
			   size_t cap, size_t *n, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
