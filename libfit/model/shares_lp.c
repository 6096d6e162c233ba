/* SPDX-License-Identifier: MIT */
#include "libfit/model/shares_lp.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/model/lp_guard.h"

/*
 * Rows: 1 … m what a job must reach, m + 1 … 2m the time of a job, 2m + 1 … 2m + k GPUs of a type.
 * Columns: 1 is z (levelling only; fixed at 0 else), 2 … the shares with a rate, job by job.
 */
struct programme {
	const struct fit_share_problem *p;
	glp_prob *lp;
	int m, k;
	int *column;		/* of (j, t); 0: it cannot run there */
	double *unit;		/* row j is divided by this */
	int *index;		/* scratch: entries of a row or a column, from 1 */
	double *entry, *gain;	/* likewise; [job * types + type] */
	bool steep;		/* entries so far apart that GLPK, which ends the process then, cannot scale them */
};

/* What entries may be, for a message that says what is wrong: their products of two, and roots, are numbers
 * then. */
#define ENTRY_MIN 1e-100
#define ENTRY_MAX 1e100

static bool steep(double v)
{
	return !(v >= ENTRY_MIN && v <= ENTRY_MAX);
}

static size_t cells(const struct fit_share_problem *p)
{
	return p->n_jobs * p->n_types;
}

static int set_up(struct programme *g, struct fit_err *err)
{
	const struct fit_share_problem *p = g->p;
	size_t room = cells(p) + p->n_jobs + 4;
	int next = 2;

	g->m = (int)p->n_jobs;
	g->k = (int)p->n_types;
	g->column = calloc(room, sizeof *g->column);
	g->unit = calloc(room, sizeof *g->unit);
	g->index = calloc(room, sizeof *g->index);
	g->entry = calloc(room, sizeof *g->entry);
	g->gain = calloc(room, sizeof *g->gain);
	if (!g->column || !g->unit || !g->index || !g->entry || !g->gain)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < cells(p); i++)
		g->column[i] = p->rates[i] > 0 ? next++ : 0;
	g->lp = glp_create_prob();
	glp_set_obj_dir(g->lp, GLP_MAX);
	glp_add_rows(g->lp, 2 * g->m + g->k);
	glp_add_cols(g->lp, next - 1);
	for (int c = 2; c < next; c++)
		glp_set_col_bnds(g->lp, c, GLP_LO, 0, 0);
	for (int j = 1; j <= g->m; j++)
		glp_set_row_bnds(g->lp, g->m + j, GLP_UP, 0, 1);
	for (int t = 0; t < g->k; t++)
		glp_set_row_bnds(g->lp, 2 * g->m + 1 + t, GLP_UP, 0, p->gpus[t]);
	return FIT_OK;
}

static void clean_up(struct programme *g)
{
	free(g->column);
	free(g->unit);
	free(g->index);
	free(g->entry);
	free(g->gain);
}

/* Entries of all columns: a over unit in the row that a job must reach, where unit is more than 0. */
static void fill(struct programme *g, const double *a, bool level)
{
	const struct fit_share_problem *p = g->p;
	double *value = g->entry;
	int *row = g->index, n = 0;

	for (int j = 1; level && j <= g->m; j++) {
		row[++n] = j;
		value[n] = -1;
	}
	glp_set_mat_col(g->lp, 1, n, row, value);
	for (size_t i = 0; i < cells(p); i++) {
		size_t j = i / p->n_types, t = i % p->n_types;

		n = 0;
		if (!g->column[i])
			continue;
		if (g->unit[j] > 0 && a[i] > 0) {
			row[++n] = (int)j + 1;
			value[n] = a[i] / g->unit[j];
			g->steep = g->steep || steep(value[n]);
		}
		row[++n] = g->m + (int)j + 1;
		value[n] = 1;
		row[++n] = 2 * g->m + (int)t + 1;
		value[n] = p->jobs[j].gpus;
		glp_set_mat_col(g->lp, g->column[i], n, row, value);
	}
}

/* FIT_END: no feasible point. */
static int solve(struct programme *g, struct fit_err *err)
{
	glp_smcp how;
	int rc;

	if (g->steep)
		return fit_fail(err, FIT_ENOCONV, "shares of %d jobs: rates, or steps left, too far apart for a linear "
				"programme (expected a factor below %g)", g->m, ENTRY_MAX);
	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.meth = GLP_DUALP;
	how.tol_bnd = how.tol_dj = 1e-10;
	glp_scale_prob(g->lp, GLP_SF_GM | GLP_SF_EQ);
	rc = glp_simplex(g->lp, &how);
	if (rc || (glp_get_status(g->lp) != GLP_OPT && glp_get_status(g->lp) != GLP_NOFEAS)) {
		glp_adv_basis(g->lp, 0);	/* once more, from elsewhere and with its own tolerances */
		how.meth = GLP_PRIMAL;
		how.tol_bnd = how.tol_dj = 1e-7;
		rc = glp_simplex(g->lp, &how);
	}
	if (!rc && glp_get_status(g->lp) == GLP_OPT)
		return FIT_OK;
	if (!rc && glp_get_status(g->lp) == GLP_NOFEAS)
		return FIT_END;
	return fit_fail(err, FIT_ENOCONV, "shares of %d jobs: the linear programme was not solved (%d)", g->m, rc);
}

/* The canonical one among the optima: behind the rows that hold the objective. */
static void set_second_objective(struct programme *g)
{
	const struct fit_share_problem *p = g->p;

	glp_set_obj_coef(g->lp, 1, 0);
	for (size_t j = 0; j < p->n_jobs; j++) {
		const double *r = p->rates + j * p->n_types;
		double best = 0, golden;

		for (size_t t = 0; t < p->n_types; t++)
			best = fmax(best, r[t]);
		for (size_t t = 0; t < p->n_types; t++) {
			size_t i = j * p->n_types + t;

			golden = (double)(i + 1) * 0.6180339887498949;
			golden -= floor(golden);
			if (g->column[i])
				glp_set_obj_coef(g->lp, g->column[i],
						 p->jobs[j].gpus * r[t] / best * (1 + 1e-6 * golden));
		}
	}
}

/* Shares without the rounding that GLPK allows itself: none below 0, no sum above its bound. */
static void read_shares(const struct programme *g, double *x)
{
	const struct fit_share_problem *p = g->p;

	for (size_t i = 0; i < cells(p); i++) {
		double v = g->column[i] ? glp_get_col_prim(g->lp, g->column[i]) : 0;

		x[i] = v > 1e-12 ? v : 0;
	}
	for (size_t j = 0; j < p->n_jobs; j++) {
		double sum = 0;

		for (size_t t = 0; t < p->n_types; t++)
			sum += x[j * p->n_types + t];
		for (size_t t = 0; sum > 1 && t < p->n_types; t++)
			x[j * p->n_types + t] /= sum;
	}
	for (size_t t = 0; t < p->n_types; t++) {
		double sum = 0;

		for (size_t j = 0; j < p->n_jobs; j++)
			sum += p->jobs[j].gpus * x[j * p->n_types + t];
		for (size_t j = 0; sum > p->gpus[t] && j < p->n_jobs; j++)
			x[j * p->n_types + t] *= p->gpus[t] / sum;
	}
}

/*
 * Weak duality: whatever price u_t >= 0 a GPU of type t has, no allocation has a larger sum of gain x than
 * sum_t u_t GPUs_t + sum_j max(0, max_t gain_jt - u_t gpus_j). The prices are those of the dual solution.
 */
static double price_all(const struct programme *g, const double *gain, double unit)
{
	const struct fit_share_problem *p = g->p;
	double all = 0;

	for (size_t t = 0; t < p->n_types; t++)
		all += fmax(0, glp_get_row_dual(g->lp, 2 * g->m + 1 + (int)t)) * unit * p->gpus[t];
	for (size_t j = 0; j < p->n_jobs; j++) {
		double most = 0;

		for (size_t t = 0; t < p->n_types; t++) {
			size_t i = j * p->n_types + t;
			double u = fmax(0, glp_get_row_dual(g->lp, 2 * g->m + 1 + (int)t)) * unit;

			if (g->column[i])
				most = fmax(most, gain[i] - u * p->jobs[j].gpus);
		}
		all += most;
	}
	return all;
}

/* Price of what job j must reach, per unit of a or rate. */
static double price_of(const struct programme *g, size_t j)
{
	return g->unit[j] > 0 ? fmax(0, -glp_get_row_dual(g->lp, (int)j + 1)) / g->unit[j] : 0;
}

/* z sum_j y n <= sum y a x, for any y >= 0. */
static double level_bound(const struct programme *g, const double *a, const double *n)
{
	double *gain = g->gain, sum = 0;

	for (size_t i = 0; i < cells(g->p); i++)
		gain[i] = price_of(g, i / g->p->n_types) * a[i];
	for (size_t j = 0; j < g->p->n_jobs; j++)
		sum += price_of(g, j) * n[j];
	return sum > 0 ? price_all(g, gain, 1) / sum : (double)INFINITY;
}

/* sum c x <= sum (c + y rate) x - sum y least, for any y >= 0; the objective was in units of scale. */
static double most_bound(const struct programme *g, const double *c, const double *least, double scale)
{
	double *gain = g->gain, sum = 0;

	for (size_t i = 0; i < cells(g->p); i++)
		gain[i] = c[i] + price_of(g, i / g->p->n_types) * scale * g->p->rates[i];
	for (size_t j = 0; j < g->p->n_jobs; j++)
		sum += price_of(g, j) * scale * least[j];
	return price_all(g, gain, scale) - sum;
}

/* What a caller asks for, and where it goes. */
struct question {
	struct programme g;
	const double *a, *n;	/* of a level; of the most: the gains, and what jobs must reach */
	bool canonical;
	double *x, *z, *bound, *price;
};

static int level(void *arg, struct fit_err *err)
{
	struct question *q = arg;
	struct programme *g = &q->g;
	const struct fit_share_problem *p = g->p;
	double least = (double)INFINITY, best;	/* a job alone reaches at least this level */
	int rc = set_up(g, err);

	if (rc)
		return rc;
	for (size_t j = 0; j < p->n_jobs; j++) {
		double most = 0;

		for (size_t t = 0; t < p->n_types; t++)
			most = fmax(most, q->a[j * p->n_types + t]);
		least = fmin(least, most / q->n[j]);
	}
	for (size_t j = 0; j < p->n_jobs; j++) {
		g->unit[j] = q->n[j] * least;	/* so that z is between 0 and 1 */
		g->steep = g->steep || !(g->unit[j] > 0) || isinf(g->unit[j]);
		glp_set_row_bnds(g->lp, (int)j + 1, GLP_LO, 0, 0);
	}
	glp_set_col_bnds(g->lp, 1, GLP_DB, 0, 1 + 1e-6);
	glp_set_obj_coef(g->lp, 1, 1);
	fill(g, q->a, true);
	rc = solve(g, err);
	if (rc)
		return rc;
	best = glp_get_col_prim(g->lp, 1);
	*q->z = best * least;
	*q->bound = level_bound(g, q->a, q->n);
	for (size_t j = 0; q->price && j < p->n_jobs; j++)
		q->price[j] = price_of(g, j);
	if (q->canonical) {
		glp_set_col_bnds(g->lp, 1, GLP_FX, best * (1 - 1e-9), 0);
		set_second_objective(g);
		rc = solve(g, err);
	}
	if (!rc)
		read_shares(g, q->x);
	return rc;
}

/* A further row: the sum of c x stays what it is. */
static void hold_objective(struct programme *g, const double *c, double scale)
{
	double sum = glp_get_obj_val(g->lp), *value = g->entry;
	int *col = g->index, n = 0, row;

	for (size_t i = 0; i < cells(g->p); i++)
		if (g->column[i]) {
			col[++n] = g->column[i];
			value[n] = c[i] / scale;
			g->steep = g->steep || (c[i] > 0 && steep(value[n]));
		}
	row = glp_add_rows(g->lp, 1);
	glp_set_mat_row(g->lp, row, n, col, value);
	glp_set_row_bnds(g->lp, row, GLP_LO, sum * (1 - 1e-9), 0);
	set_second_objective(g);
}

static int most(void *arg, struct fit_err *err)
{
	struct question *q = arg;
	struct programme *g = &q->g;
	const struct fit_share_problem *p = g->p;
	double scale = 0;
	int rc = set_up(g, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < cells(p); i++)
		scale = fmax(scale, q->a[i]);
	for (size_t j = 0; j < p->n_jobs; j++) {
		g->unit[j] = q->n[j];
		if (q->n[j] > 0)
			glp_set_row_bnds(g->lp, (int)j + 1, GLP_LO, 1, 0);
		else
			glp_set_row_bnds(g->lp, (int)j + 1, GLP_FR, 0, 0);
	}
	glp_set_col_bnds(g->lp, 1, GLP_FX, 0, 0);
	for (size_t i = 0; i < cells(p); i++)
		if (g->column[i])
			glp_set_obj_coef(g->lp, g->column[i], q->a[i] / scale);
	fill(g, p->rates, false);
	rc = solve(g, err);
	if (rc)
		return rc;
	*q->z = glp_get_obj_val(g->lp) * scale;
	*q->bound = most_bound(g, q->a, q->n, scale);
	hold_objective(g, q->a, scale);
	rc = solve(g, err);
	if (!rc)
		read_shares(g, q->x);
	return rc;
}

static int ask(int (*work)(void *arg, struct fit_err *err), struct question *q, struct fit_err *err)
{
	char what[48];
	int rc;

	(void)snprintf(what, sizeof what, "shares of %zu jobs", q->g.p->n_jobs);
	rc = fit_lp_call(work, q, what, err);
	clean_up(&q->g);
	return rc;
}

int fit_shares_level(const struct fit_share_problem *p, const double *a, const double *n,
		     bool canonical, double *x, double *z, double *bound, double *price,
		     struct fit_err *err)
{
	struct question q = { .g.p = p, .a = a, .n = n, .canonical = canonical, .x = x, .z = z, .bound = bound,
			      .price = price };
	int rc = ask(level, &q, err);

	return rc == FIT_END ? fit_fail(err, FIT_ENOCONV, "shares of %zu jobs: GLPK finds none", p->n_jobs) : rc;
}

int fit_shares_most(const struct fit_share_problem *p, const double *c, const double *least, double *x,
		    double *sum, double *bound, struct fit_err *err)
{
	struct question q = { .g.p = p, .a = c, .n = least, .x = x, .z = sum, .bound = bound };

	return ask(most, &q, err);
}
