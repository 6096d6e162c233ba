/* SPDX-License-Identifier: MIT */
/*
 * The assignment of sia_ilp.h where its dynamic program would grow too large: branch and cut by GLPK, on the
 * costs alone, to a gap of less than one unit, so that the sum is the least one. Ties go as they come.
 */
#include <glpk.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/lp_guard.h"
#include "libfit/model/sia_ilp.h"

struct column {
	size_t job;
	const struct fit_sia_option *option;
};

/* Of no use beside nothing, or beside another option of the same type with no more GPUs. */
static bool useless(const struct fit_sia_job *j, size_t i, const int64_t *left)
{
	const struct fit_sia_option *o = &j->options[i];

	if (o->cost >= j->cost || o->gpus > left[o->type])
		return true;
	for (size_t k = 0; k < j->n; k++) {
		const struct fit_sia_option *p = &j->options[k];

		if (k != i && p->type == o->type && p->gpus <= o->gpus &&
		    (p->cost < o->cost || (p->cost == o->cost && (p->gpus < o->gpus || k < i))))
			return true;
	}
	return false;
}

static size_t set_columns(const struct fit_sia_job *jobs, size_t n, const int64_t *left, struct column *out)
{
	size_t m = 0;

	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; !jobs[j].pinned && i < jobs[j].n; i++)
			if (!useless(&jobs[j], i, left))
				out[m++] = (struct column){ j, &jobs[j].options[i] };
	return m;
}

struct large {
	const struct fit_sia_job *jobs;
	size_t n_jobs, n;
	int64_t left[FIT_SIA_TYPES_MAX];
	int n_types;
	struct column *columns;
	int32_t *choice;
};

static glp_prob *load(const struct large *g)
{
	const struct fit_sia_job *jobs = g->jobs;
	const struct column *columns = g->columns;
	size_t n_jobs = g->n_jobs, n = g->n;
	int n_types = g->n_types;
	glp_prob *lp = glp_create_prob();

	glp_set_obj_dir(lp, GLP_MIN);
	glp_add_rows(lp, n_types + (int)n_jobs);
	for (int t = 0; t < n_types; t++)
		glp_set_row_bnds(lp, t + 1, GLP_UP, 0, (double)g->left[t]);
	for (size_t j = 0; j < n_jobs; j++)
		glp_set_row_bnds(lp, n_types + (int)j + 1, GLP_UP, 0, 1);
	glp_add_cols(lp, (int)n);
	for (size_t i = 0; i < n; i++) {
		const struct fit_sia_option *o = columns[i].option;
		const int rows[] = { 0, o->type + 1, n_types + (int)columns[i].job + 1 };
		const double values[] = { 0, o->gpus, 1 };

		glp_set_col_kind(lp, (int)i + 1, GLP_BV);
		glp_set_obj_coef(lp, (int)i + 1, (double)(o->cost - jobs[columns[i].job].cost));
		glp_set_mat_col(lp, (int)i + 1, 2, rows, values);
	}
	return lp;
}

/* The gap is relative to the sum, which saves no more than the best option of each job. */
static double gap_of(const struct fit_sia_job *jobs, const struct column *columns, size_t n)
{
	double most = 1, best = 0;

	for (size_t i = 0; i < n; i++) {
		double saves = (double)(jobs[columns[i].job].cost - columns[i].option->cost);

		best = i && columns[i].job == columns[i - 1].job && best > saves ? best : saves;
		if (i + 1 == n || columns[i + 1].job != columns[i].job)
			most += best;
	}
	return 0.5 / most;
}

static int solve(glp_prob *lp, double gap)
{
	glp_iocp parm;
	int rc;

	glp_init_iocp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	parm.presolve = GLP_ON;
	parm.gmi_cuts = parm.mir_cuts = parm.cov_cuts = parm.clq_cuts = GLP_ON;
	parm.mip_gap = gap;
	rc = glp_intopt(lp, &parm);
	return (rc == 0 && glp_mip_status(lp) == GLP_OPT) || (rc == GLP_EMIPGAP && glp_mip_status(lp) == GLP_FEAS) ?
	       FIT_OK : FIT_ENOCONV;
}

static int assign(void *arg, struct fit_err *err)
{
	const struct large *g = arg;
	int64_t left[FIT_SIA_TYPES_MAX];
	glp_prob *lp = load(g);

	if (solve(lp, gap_of(g->jobs, g->columns, g->n)))
		return fit_fail(err, FIT_ENOCONV, "no proven assignment of %zu jobs", g->n_jobs);
	memcpy(left, g->left, sizeof left);
	for (size_t i = 0; i < g->n; i++) {
		if (!(glp_mip_col_val(lp, (int)i + 1) > 0.5))
			continue;
		g->choice[g->columns[i].job] = g->columns[i].option->config;
		left[g->columns[i].option->type] -= g->columns[i].option->gpus;
	}
	/* GLPK allows itself a part of a million GPUs */
	for (int t = 0; t < g->n_types; t++)
		if (left[t] < 0)
			return fit_fail(err, FIT_ENOCONV, "no assignment of %zu jobs within so many GPUs", g->n_jobs);
	return FIT_OK;
}

int fit_sia_solve_large(const struct fit_sia_job *jobs, size_t n_jobs, const int64_t *capacity, int n_types,
			int32_t *choice, struct fit_err *err)
{
	struct large g = { .jobs = jobs, .n_jobs = n_jobs, .n_types = n_types, .choice = choice };
	size_t room = 1;
	int rc = FIT_OK;

	for (int t = 0; t < n_types; t++)
		g.left[t] = capacity[t];
	for (size_t j = 0; j < n_jobs; j++) {
		room += jobs[j].n;
		choice[j] = jobs[j].pinned ? jobs[j].current : FIT_SIA_NOTHING;
		for (size_t i = 0; jobs[j].pinned && i < jobs[j].n; i++)
			if (jobs[j].options[i].config == jobs[j].current)
				g.left[jobs[j].options[i].type] -= jobs[j].options[i].gpus;
	}
	g.columns = calloc(room, sizeof *g.columns);
	if (!g.columns)
		return fit_fail_nomem(err);
	g.n = set_columns(jobs, n_jobs, g.left, g.columns);
	if (g.n)
		rc = fit_lp_call(assign, &g, "an assignment of jobs", err);
	free(g.columns);
	return rc;
}
