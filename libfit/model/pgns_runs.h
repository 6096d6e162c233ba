/* SPDX-License-Identifier: MIT */
/*
 * The training runs of a profile store (/validation of docs/formats/profile.md) as measurements of
 * the noise scale and of statistical efficiency, and how well the runs at some batch sizes predict
 * the efficiency at another (Pollux, OSDI'21, figure 2).
 *
 * In epoch e of a run at batch size M, with M0 the initial one, p the progress (steps at M0) and i
 * the optimiser steps at the end of an epoch:
 *
 *   measured efficiency  (p_e - p_(e-1)) / (i_e - i_(e-1)) x M0 / M
 *   noise scale          phi = M0 grad_var / grad_sqr
 *   progress             of the epoch: its middle, (p_e + p_(e-1)) / 2
 */
#ifndef FIT_MODEL_PGNS_RUNS_H
#define FIT_MODEL_PGNS_RUNS_H

#include <stdbool.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/pgns_curve.h"

FIT_C_BEGIN

struct fit_pgns_run {
	char *app;			/* NULL: without a name; never so from a store */
	int64_t batch, init_batch;
	size_t group;			/* the application, in the order met */
	double log_batches;		/* pooled: sum of log batch over the epochs; else 0 */
	size_t n, cap;			/* epochs */
	struct fit_pgns_epoch {
		double progress;	/* middle of the epoch */
		double phi;		/* NAN: not estimable, grad_sqr or grad_var is not above 0 */
		double efficiency;	/* measured; NAN: not known */
		double weight;		/* > 0; 1 from a store */
	} *epochs;
	struct fit_pgns_curve curve;	/* after fit_pgns_runs_fit(); without pieces: no phi at all */
};

struct fit_pgns_runs {
	struct fit_pgns_run *list;	/* by application, then batch size, as in the store */
	size_t n, cap;
	char hash[FIT_HASH_HEX];	/* of the store */
};

/* The runs of a store. FIT_ENOTFOUND: a table is missing; FIT_EDATA: it contradicts itself. */
int fit_pgns_runs_read(struct fit_pgns_runs *r, const char *store,
		       struct fit_err *err) FIT_MUST_CHECK;
void fit_pgns_runs_release(struct fit_pgns_runs *r);
/* An estimate from elsewhere, as an epoch of the run of that application (s NULL: without a name)
 * and batch size, which is made when there is none. pool: of the only run of that application; its
 * batch size becomes the geometric mean when curves are fitted. FIT_EDATA: another init_batch;
 * FIT_ENOMEM. */
int fit_pgns_runs_add(struct fit_pgns_runs *r, struct fit_text app, int64_t batch,
		      int64_t init_batch, bool pool, const struct fit_pgns_epoch *epoch,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Order by application as met, then batch size, and fit a curve (pgns_curve.h) for each run. */
int fit_pgns_runs_fit(struct fit_pgns_runs *r, double penalty,
		      struct fit_err *err) FIT_MUST_CHECK;

/* What run `target` is predicted from: all other runs of its application, or only that at `from`
 * (0: all). */
struct fit_pgns_source {
	const struct fit_pgns_curve **curves;
	size_t n;
	bool outside;		/* the batch size lies outside of those */
};

/* FIT_ENOTFOUND: there is no such run with a curve. Release with fit_pgns_source_release(). */
int fit_pgns_runs_source(const struct fit_pgns_runs *r, size_t target, int64_t from,
			 struct fit_pgns_source *s, struct fit_err *err) FIT_MUST_CHECK;
void fit_pgns_source_release(struct fit_pgns_source *s);

FIT_C_END

#endif
