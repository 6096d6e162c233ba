/* SPDX-License-Identifier: MIT */
/*
 * The noise scale of one training run, window by window of its steps, as a log of squared gradient
 * norms comes in (docs/formats/gradient-stats.md). Constant memory.
 *
 * Where the log has no progress, it is made up as training does it: each step at batch size M is
 * worth fit_pgns_gain() steps at M0, at the phi of its window, else the last one known, else 0.
 * Steps with norms that are not finite are worth nothing: the optimiser leaves them out.
 */
#ifndef FIT_MODEL_PGNS_WINDOW_H
#define FIT_MODEL_PGNS_WINDOW_H

#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/model/pgns.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_pgns_window_params {
	int64_t steps;		/* of a window; 0: no end */
	bool by_epoch;		/* a window is an epoch; steps does not count then */
	double smooth;		/* 0: averages of the window; else see fit_pgns_add() */
	int64_t init_batch;	/* M0; 0: the batch size of the first step */
};

struct fit_pgns_row {
	struct fit_pgns_step norms;
	int64_t step, epoch;
	bool has_epoch, has_progress;	/* the latter in all rows or in none */
	double progress;
};

struct fit_pgns_window {
	int64_t index, step_from, step_to, epoch;
	bool has_epoch;			/* of the last step */
	double progress;		/* the middle of the window; with smooth its end */
	int64_t batch_size;		/* mean of the steps that count, rounded; 0: there are none */
	int64_t init_batch;
	const char *estimator;		/* "replicas", "differenced", "mixed"; NULL: no steps */
	uint64_t n, n_nonfinite, n_unknown;
	bool any;			/* there is an estimate, if only a bad one */
	struct fit_pgns_estimate estimate;
};

/* The state of a run; zero it to begin, release it in the end. */
struct fit_pgns_log {
	int64_t init_batch, index, last_step;
	double prev_batch, last_phi, progress, progress_from, batch_sum;
	uint64_t rows, used, nonfinite, unknown, kinds[2];
	uint64_t backwards;		/* steps whose number is not above the last one's */
	int64_t step_from, step_to, epoch;
	bool started, has_epoch, has_progress;
	struct fit_pgns_mean mean;
	struct fit_pgns_size {
		double batch;
		uint64_t n;
	} *sizes;			/* steps of the window by batch size */
	size_t n_sizes, cap;
};

/* One step. *closed: a window ended ahead of it, and is in *w. FIT_EDATA: progress in some rows
 * only; FIT_ENOMEM. */
int fit_pgns_log_row(struct fit_pgns_log *l, const struct fit_pgns_window_params *p,
		     const struct fit_pgns_row *row, struct fit_pgns_window *w, bool *closed,
		     struct fit_err *err) FIT_MUST_CHECK;
/* The window at the end, if there is one. */
bool fit_pgns_log_end(struct fit_pgns_log *l, const struct fit_pgns_window_params *p,
		      struct fit_pgns_window *w);
void fit_pgns_log_release(struct fit_pgns_log *l);

/* ---- the table of windows (docs/formats/pgns.md) ---- */

extern const struct fit_field fit_pgns_window_columns[];
extern const size_t fit_pgns_window_n_columns;
/* One row; app NULL: NA. */
int fit_pgns_window_put(struct fit_writer *out, const char *app, const struct fit_pgns_window *w,
			struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
