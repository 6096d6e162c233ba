/* SPDX-License-Identifier: MIT */
#include "libfit/model/lbfgsb.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * The Fortran entry point (liblbfgsb has no header). It works by reverse communication: task says
 * what it wants next. Every argument is a pointer, logicals are ints, and the lengths of the two
 * texts follow at the end.
 */
#define TASK_LEN 60
void setulb_(const int *n, const int *m, double *x, const double *l, const double *u,
	     const int *nbd, double *f, double *g, const double *factr, const double *pgtol,
	     double *wa, int *iwa, char *task, const int *iprint, char *csave, int *lsave,
	     int *isave, double *dsave, size_t task_len, size_t csave_len);

/*
 * liblbfgsb writes three remarks ("ascent direction in projection", ...) to Fortran's unit 6, which
 * is standard output, whatever iprint says; they mean no more than the state STUCK does. libfit
 * never prints, so the output calls of the Fortran run-time library end here. Nothing else of that
 * library writes in our programs (LAPACK would, about wrong arguments, which it also returns as a
 * status). tests/unit/test_throughput.c provokes a remark and checks that nothing comes out. And it
 * reads a clock several times an iteration, for times that only its reports use.
 */
void _gfortran_cpu_time_4(float *t);
void _gfortran_st_write(void *dtp);
void _gfortran_st_write_done(void *dtp);
void _gfortran_transfer_character_write(void *dtp, void *p, size_t n);
void _gfortran_transfer_integer_write(void *dtp, void *p, int kind);
void _gfortran_transfer_real_write(void *dtp, void *p, int kind);
void _gfortran_transfer_array_write(void *dtp, void *p, int kind, size_t n);

void _gfortran_cpu_time_4(float *t)
{
	*t = 0;
}

void _gfortran_st_write(void *dtp)
{
	(void)dtp;
}

void _gfortran_st_write_done(void *dtp)
{
	(void)dtp;
}

void _gfortran_transfer_character_write(void *dtp, void *p, size_t n)
{
	(void)dtp;
	(void)p;
	(void)n;
}

void _gfortran_transfer_integer_write(void *dtp, void *p, int kind)
{
	(void)dtp;
	(void)p;
	(void)kind;
}

void _gfortran_transfer_real_write(void *dtp, void *p, int kind)
{
	(void)dtp;
	(void)p;
	(void)kind;
}

void _gfortran_transfer_array_write(void *dtp, void *p, int kind, size_t n)
{
	(void)dtp;
	(void)p;
	(void)kind;
	(void)n;
}

struct fit_lbfgsb {
	size_t max_n, memory;
	int n, m;
	double *x, *best, *lower, *upper, *g, *wa;
	int *nbd, *iwa;
	double f, best_f, factr, gtol;
	char task[TASK_LEN], csave[TASK_LEN];
	int lsave[4], isave[44];
	double dsave[29];
	enum fit_lbfgsb_state state;
	size_t n_iter, n_eval;
};

int fit_lbfgsb_new(struct fit_lbfgsb **out, size_t max_n, size_t memory, struct fit_err *err)
{
	struct fit_lbfgsb *w;
	size_t n = max_n, m = memory;

	if (n < 1 || n > 1000000)
		return fit_fail(err, FIT_EINVAL,
				"bad number of variables '%zu' (expected 1 to 1000000)", n);
	if (m < 1 || m > 100)
		return fit_fail(err, FIT_EINVAL, "bad solver memory '%zu' (expected 1 to 100)", m);
	w = calloc(1, sizeof *w);
	if (!w)
		return fit_fail_nomem(err);
	w->max_n = n;
	w->memory = m;
	w->x = calloc(5 * n, sizeof *w->x);
	w->wa = calloc(2 * m * n + 5 * n + 11 * m * m + 8 * m, sizeof *w->wa);
	w->nbd = calloc(n, sizeof *w->nbd);
	w->iwa = calloc(3 * n, sizeof *w->iwa);
	if (!w->x || !w->wa || !w->nbd || !w->iwa) {
		fit_lbfgsb_free(w);
		return fit_fail_nomem(err);
	}
	w->best = w->x + n;
	w->lower = w->x + 2 * n;
	w->upper = w->x + 3 * n;
	w->g = w->x + 4 * n;
	w->f = w->best_f = (double)NAN;
	*out = w;
	return FIT_OK;
}

void fit_lbfgsb_free(struct fit_lbfgsb *w)
{
	if (!w)
		return;
	free(w->x);
	free(w->wa);
	free(w->nbd);
	free(w->iwa);
	free(w);
}

static void set_task(struct fit_lbfgsb *w, const char *s)
{
	memset(w->task, ' ', sizeof w->task);
	memcpy(w->task, s, strlen(s));
}

static bool task_is(const struct fit_lbfgsb *w, const char *prefix)
{
	return memcmp(w->task, prefix, strlen(prefix)) == 0;
}

int fit_lbfgsb_set(struct fit_lbfgsb *w, size_t n, const double *x0, const double *lower,
		   const double *upper, double ftol, double gtol, struct fit_err *err)
{
	if (n < 1 || n > w->max_n)
		return fit_fail(err, FIT_EINVAL,
				"bad number of variables '%zu' (expected 1 to %zu)", n, w->max_n);
	if (!(ftol >= 0) || !(gtol >= 0) || isinf(ftol) || isinf(gtol))
		return fit_fail(err, FIT_EINVAL, "bad tolerance (expected zero or more)");
	for (size_t i = 0; i < n; i++) {
		if (!(lower[i] <= upper[i]))
			return fit_fail(err, FIT_EINVAL, "bounds of variable %zu cross: %g > %g", i,
					lower[i], upper[i]);
		if (!isfinite(x0[i]) || x0[i] < lower[i] || x0[i] > upper[i])
			return fit_fail(err, FIT_EINVAL,
					"start of variable %zu is outside its bounds '%g' "
					"(expected %g to %g)",
					i, x0[i], lower[i], upper[i]);
	}
	for (size_t i = 0; i < n; i++) {
		bool below = isfinite(lower[i]), above = isfinite(upper[i]);

		w->x[i] = w->best[i] = x0[i];
		w->lower[i] = below ? lower[i] : 0;
		w->upper[i] = above ? upper[i] : 0;
		w->nbd[i] = below ? (above ? 2 : 1) : (above ? 3 : 0);
	}
	w->n = (int)n;
	w->m = (int)w->memory;
	w->factr = ftol / DBL_EPSILON;
	w->gtol = gtol;
	w->f = w->best_f = (double)NAN;
	w->n_iter = w->n_eval = 0;
	w->state = FIT_LBFGSB_RUNNING;
	/* The library keeps parts of these from call to call; a fresh start must not see an old
	 * one. */
	memset(w->csave, ' ', sizeof w->csave);
	memset(w->lsave, 0, sizeof w->lsave);
	memset(w->isave, 0, sizeof w->isave);
	memset(w->dsave, 0, sizeof w->dsave);
	memset(w->iwa, 0, 3 * w->max_n * sizeof *w->iwa);
	memset(w->wa, 0, (2 * w->memory * w->max_n + 5 * w->max_n + 11 * w->memory * w->memory +
			  8 * w->memory) * sizeof *w->wa);
	set_task(w, "START");
	return FIT_OK;
}

static int evaluate(struct fit_lbfgsb *w, fit_lbfgsb_fn fn, void *ctx, struct fit_err *err)
{
	bool finite;

	w->f = fn(w->x, w->g, ctx);
	w->n_eval++;
	finite = isfinite(w->f) != 0;
	for (int i = 0; i < w->n; i++)
		finite = finite && isfinite(w->g[i]);
	if (!finite) {
		w->state = FIT_LBFGSB_BROKEN;
		return fit_fail(err, FIT_ENOCONV, "the objective is not finite");
	}
	if (!(w->f >= w->best_f)) {	/* also the first time, when best_f is NAN */
		w->best_f = w->f;
		memcpy(w->best, w->x, (size_t)w->n * sizeof *w->x);
	}
	return FIT_OK;
}

int fit_lbfgsb_iterate(struct fit_lbfgsb *w, fit_lbfgsb_fn fn, void *ctx, struct fit_err *err)
{
	const int silent = -1;

	if (w->state == FIT_LBFGSB_BROKEN)
		return fit_fail(err, FIT_ENOCONV, "the objective is not finite");
	if (w->state != FIT_LBFGSB_RUNNING)
		return FIT_END;
	for (;;) {
		setulb_(&w->n, &w->m, w->x, w->lower, w->upper, w->nbd, &w->f, w->g, &w->factr,
			&w->gtol, w->wa, w->iwa, w->task, &silent, w->csave, w->lsave, w->isave,
			w->dsave, TASK_LEN, TASK_LEN);
		if (task_is(w, "FG")) {
			int rc = evaluate(w, fn, ctx, err);

			if (rc)
				return rc;
		} else if (task_is(w, "NEW_X")) {
			w->n_iter++;
			return FIT_OK;
		} else {
			break;
		}
	}
	if (task_is(w, "CONVERGENCE: NORM"))
		w->state = FIT_LBFGSB_FLAT;
	else if (task_is(w, "CONVERGENCE"))
		w->state = FIT_LBFGSB_SMALL_STEP;
	else
		w->state = FIT_LBFGSB_STUCK;
	return FIT_END;
}

enum fit_lbfgsb_state fit_lbfgsb_state(const struct fit_lbfgsb *w)
{
	return w->state;
}

const double *fit_lbfgsb_x(const struct fit_lbfgsb *w)
{
	return w->best;
}

double fit_lbfgsb_f(const struct fit_lbfgsb *w)
{
	return w->best_f;
}

size_t fit_lbfgsb_n_iter(const struct fit_lbfgsb *w)
{
	return w->n_iter;
}

size_t fit_lbfgsb_n_eval(const struct fit_lbfgsb *w)
{
	return w->n_eval;
}
