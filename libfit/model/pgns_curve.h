/* SPDX-License-Identifier: MIT */
/*
 * Noise scale over training: curves of log phi by progress, one for each batch size that was run,
 * and phi at batch sizes that were not. The table of curves is docs/formats/pgns.md.
 *
 * A curve is piecewise linear in (progress, log phi) and may jump between pieces: phi jumps by up
 * to ten times when the learning rate changes, and drifts in between. The pieces are the best for
 *
 *   sum over pieces of (weighted squared residuals / s^2 + penalty log n),
 *
 * found exactly by dynamic programming (Bai and Perron 2003; pruned as Killick et al. 2012); s is a
 * robust estimate of the noise from second differences. With penalty 3, a piece's parameters
 * (level, slope, where it starts), this is Schwarz's criterion.
 */
#ifndef FIT_MODEL_PGNS_CURVE_H
#define FIT_MODEL_PGNS_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_pgns_piece {
	double from, to;		/* progress of its first and last observation */
	double log_from, log_to;	/* log phi there */
	size_t n;			/* observations */
};

struct fit_pgns_curve {
	char *app;		/* NULL: without a name */
	int64_t batch;		/* total batch size that was run, samples */
	int64_t init_batch;	/* M0 */
	double rms_log;		/* root mean squared residual of log phi; NAN when it was not said */
	struct fit_pgns_piece *pieces;
	size_t n, cap;
};

struct fit_pgns_point {
	double progress, phi, weight;	/* phi > 0, weight > 0, all finite */
};

#define FIT_PGNS_PENALTY 3.0

/* Fit the pieces of a curve to n points, which get sorted by progress; points of equal progress
 * stay together. penalty 0: through every point. c keeps app and batch sizes, but gets new pieces.
 * FIT_EDATA: n is 0, or a point is bad; FIT_EINVAL: penalty < 0; FIT_ENOMEM. */
int fit_pgns_curve_fit(struct fit_pgns_curve *c, struct fit_pgns_point *points, size_t n,
		       double penalty, struct fit_err *err) FIT_MUST_CHECK;
void fit_pgns_curve_release(struct fit_pgns_curve *c);

/* log phi at a progress. Between two pieces the nearer one counts, held at its end; so do the first
 * and the last one outside. n > 0. */
double fit_pgns_curve_log_phi(const struct fit_pgns_curve *c, double progress);

/* phi at a batch size: linear in log batch between the curves of the next smaller and the next
 * larger one, that of the nearest outside. curves: of one application, increasing batch, n > 0. */
double fit_pgns_curves_phi(const struct fit_pgns_curve *const *curves, size_t n, double progress,
			   double batch);

/* ---- the table ---- */

struct fit_pgns_curves {
	struct fit_pgns_curve *list;	/* by application as met, then increasing batch */
	size_t n, cap;
	char hash[FIT_HASH_HEX];
};

extern const struct fit_field fit_pgns_curve_columns[];
extern const size_t fit_pgns_curve_n_columns;

/* One row a piece. */
int fit_pgns_curve_put(struct fit_writer *w, const struct fit_pgns_curve *c,
		       struct fit_err *err) FIT_MUST_CHECK;
/* FIT_EDATA names file, line and column. Release with fit_pgns_curves_release(). */
int fit_pgns_curves_read(struct fit_pgns_curves *l, const char *operand,
			 struct fit_err *err) FIT_MUST_CHECK;
void fit_pgns_curves_release(struct fit_pgns_curves *l);
/* The first curve of that application (s NULL: without a name; an only, nameless application
 * answers for all) and how many follow on it, or NULL. */
const struct fit_pgns_curve *fit_pgns_curves_find(const struct fit_pgns_curves *l,
						  struct fit_text app, size_t *n);

FIT_C_END

#endif
