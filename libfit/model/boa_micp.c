/* SPDX-License-Identifier: MIT */
/*
 * The integer programme of problems (1) to (4), spread out over epochs and widths, for GLPK:
 * binary x_ijk says that class i has width k in epoch j, and y_ijk >= x_ijk - x_i(j-1)k that it
 * changes to it there.
 *
 *   minimise sum lambda w (X/s x + r y) / total  subject to
 *   sum_k x_ijk = 1,   sum lambda c k (X/s x + r y) <= budget,   types stay where a job keeps its type
 *
 * A cross-check of the search in boa_pure.c, which is faster.
 */
#include "libfit/model/boa_path.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/model/lp_guard.h"

struct column {
	size_t class, epoch;	/* epoch of the class */
	uint32_t state;
	double time, cost;	/* summed over the jobs of a second; of y: of a change */
	int change;		/* column of y, 0: none */
};

struct programme {
	const struct fit_boa *b;
	struct column *columns;	/* GLPK's x columns are 1 to n */
	size_t n, cap;
	int n_changes;
	int *row, *col;		/* entries, from 1 */
	double *value;
	size_t n_entries, cap_row, cap_col, cap_value;
	int *chosen;		/* scratch, from 1 */
	double *ones;
	int n_rows;
	double slack;		/* reduced costs up to this stay; INFINITY: all */
	double mu;
};

static int entry(struct programme *p, int row, int col, double value, struct fit_err *err)
{
	size_t need = p->n_entries + 2;

	if (fit_grow(&p->row, &p->cap_row, need, sizeof *p->row) ||
	    fit_grow(&p->col, &p->cap_col, need, sizeof *p->col) ||
	    fit_grow(&p->value, &p->cap_value, need, sizeof *p->value))
		return fit_fail_nomem(err);
	p->n_entries++;
	p->row[p->n_entries] = row;
	p->col[p->n_entries] = col;
	p->value[p->n_entries] = value;
	return FIT_OK;
}

/* ---- columns ---- */

static double value_of(double time, double unit)
{
	return isinf(time) ? time : time * unit; /* unit may be 0 */
}

/* through[j, s]: least w T + mu C of a path that is on state s in epoch j, where time[j, s] is
 * finite; returns the least of all. */
static double values_through(const struct fit_boa_grid *g, const double *time, double weight, double mu,
			     double *through)
{
	size_t n = g->n_states, last = g->n_epochs - 1;
	double move, least = (double)INFINITY;

	/* forwards: least value up to and with the epoch */
	for (size_t j = 0; j <= last; j++) {
		move = (double)INFINITY;
		for (size_t s = 0; s < n && j > 0; s++)
			move = fmin(move, through[(j - 1) * n + s]);
		for (size_t s = 0; s < n; s++) {
			double unit = weight + mu * g->states[s].kappa, r = g->states[s].rescale_s * unit;
			double before = j == 0 ? (g->charge_start ? r : 0) :
						 fmin(through[(j - 1) * n + s], move + r);

			through[j * n + s] = before + value_of(time[j * n + s], unit);
		}
	}
	/* backwards: g->primary is the least value behind the epoch */
	for (size_t s = 0; s < n; s++)
		g->primary[s] = 0;
	for (size_t j = last + 1; j-- > 0;) {
		move = (double)INFINITY;
		for (size_t s = 0; s < n; s++) {
			double unit = weight + mu * g->states[s].kappa;
			double here = value_of(time[j * n + s], unit);

			through[j * n + s] += g->primary[s];
			least = fmin(least, through[j * n + s]);
			g->primary[s] += here;
			move = fmin(move, g->primary[s] + g->states[s].rescale_s * unit);
		}
		for (size_t s = 0; s < n; s++)
			g->primary[s] = fmin(g->primary[s], move);
	}
	return least;
}

/* The same over all types; where a job keeps its type, along paths of one type. */
static int least_through(const struct programme *p, const struct fit_boa_grid *g, double weight,
			 double *through, double *least, struct fit_err *err)
{
	size_t n = g->n_epochs * g->n_states;
	double *time, *one;

	if (!p->b->by_class) {
		*least = values_through(g, g->time, weight, p->mu, through);
		return FIT_OK;
	}
	time = calloc(2 * n + 1, sizeof *time);
	if (!time)
		return fit_fail_nomem(err);
	one = time + n;
	*least = (double)INFINITY;
	for (int t = 0; t < (int)p->b->n_types; t++) {
		for (size_t i = 0; i < n; i++)
			time[i] = g->states[i % g->n_states].type == t ? g->time[i] : (double)INFINITY;
		*least = fmin(*least, values_through(g, time, weight, p->mu, one));
		for (size_t i = 0; i < n; i++)
			through[i] = t == 0 ? one[i] : fmin(through[i], one[i]);
	}
	free(time);
	return FIT_OK;
}

static int class_columns(struct programme *p, size_t class, struct fit_boa_grid *g, struct fit_err *err)
{
	const struct fit_boa_class *c = &p->b->classes[class];
	double *through = calloc(g->n_epochs * g->n_states + 1, sizeof *through);
	double least = 0, most;
	int rc = through ? FIT_OK : fit_fail_nomem(err);

	if (!rc)
		rc = least_through(p, g, c->weight, through, &least, err);
	/* no rate: whatever is cheapest at this price will do */
	most = least + (c->rate > 0 ? p->slack / c->rate : 0) + 1e-12 * fabs(least);
	for (size_t j = 0; j < g->n_epochs && !rc; j++)
		for (uint32_t s = 0; s < g->n_states && !rc; s++) {
			double t = g->time[j * g->n_states + s];
			struct column *x;

			if (isinf(t) || through[j * g->n_states + s] > most)
				continue;
			if (fit_grow(&p->columns, &p->cap, p->n + 1, sizeof *p->columns)) {
				rc = fit_fail_nomem(err);
				break;
			}
			if (j == 0 && g->charge_start)
				t += g->states[s].rescale_s;
			x = &p->columns[p->n++];
			*x = (struct column){ class, j, s, c->rate * c->weight * t,
					      c->rate * t * g->states[s].kappa, 0 };
			if (j > 0 && g->states[s].rescale_s > 0)
				x->change = 1;	/* numbered when all x are there */
		}
	free(through);
	return rc;
}

/* ---- rows ---- */

/* The x column of a state in an epoch of a class, 0: it is not there. Columns are in order. */
static int find_column(const struct programme *p, size_t class, size_t epoch, uint32_t state)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct column *x = &p->columns[mid];

		if (x->class < class || (x->class == class &&
					 (x->epoch < epoch || (x->epoch == epoch && x->state < state))))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < p->n && p->columns[lo].class == class && p->columns[lo].epoch == epoch &&
	    p->columns[lo].state == state)
		return (int)lo + 1;
	return 0;
}

static int new_row(struct programme *p, glp_prob *lp, int kind, double lo, double hi)
{
	p->n_rows = glp_add_rows(lp, 1);
	glp_set_row_bnds(lp, p->n_rows, kind, lo, hi);
	return p->n_rows;
}

/* One width an epoch. */
static int choice_rows(struct programme *p, glp_prob *lp, struct fit_err *err)
{
	int rc = FIT_OK, row = 0;

	for (size_t i = 0; i < p->n && !rc; i++) {
		const struct column *x = &p->columns[i];

		if (i == 0 || x[-1].class != x->class || x[-1].epoch != x->epoch)
			row = new_row(p, lp, GLP_FX, 1, 1);
		rc = entry(p, row, (int)i + 1, 1, err);
	}
	return rc;
}

/* Changes, and what they cost beside the widths. */
static int change_rows(struct programme *p, glp_prob *lp, const struct fit_boa_grid *grids, int budget_row,
		       struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n && !rc; i++) {
		struct column *x = &p->columns[i];
		const struct fit_boa_class *c = &p->b->classes[x->class];
		const struct fit_boa_state *state = &grids[x->class].states[x->state];
		double time = c->rate * state->rescale_s;
		int before, row;

		rc = entry(p, budget_row, (int)i + 1, x->cost, err);
		if (rc || !x->change)
			continue;
		x->change = glp_add_cols(lp, 1);
		glp_set_col_bnds(lp, x->change, GLP_DB, 0, 1);
		glp_set_obj_coef(lp, x->change, c->weight * time / p->b->total);
		row = new_row(p, lp, GLP_LO, 0, 0); /* y - x + x of the epoch before >= 0 */
		before = find_column(p, x->class, x->epoch - 1, x->state);
		rc = entry(p, row, x->change, 1, err);
		if (!rc)
			rc = entry(p, row, (int)i + 1, -1, err);
		if (!rc && before)
			rc = entry(p, row, before, 1, err);
		if (!rc)
			rc = entry(p, budget_row, x->change, time * state->kappa, err);
	}
	return rc;
}

/* As many widths of a type in an epoch as in the one before. */
static int type_rows(struct programme *p, glp_prob *lp, const struct fit_boa_grid *grids, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t class = 0; class < p->b->n_classes && p->b->by_class; class++)
		for (size_t j = 1; j < p->b->classes[class].n; j++)
			for (int t = 0; t < (int)p->b->n_types && !rc; t++) {
				int row = new_row(p, lp, GLP_FX, 0, 0);

				for (uint32_t s = 0; s < grids[class].n_states && !rc; s++) {
					int now = find_column(p, class, j, s);
					int before = find_column(p, class, j - 1, s);

					if (grids[class].states[s].type != t)
						continue;
					if (now)
						rc = entry(p, row, now, 1, err);
					if (!rc && before)
						rc = entry(p, row, before, -1, err);
				}
			}
	return rc;
}

/* ---- the search ---- */

static void watch(glp_tree *tree, void *arg)
{
	int all = 0;
	int64_t *nodes = arg;

	glp_ios_tree_size(tree, NULL, NULL, &all);
	nodes[0] = all;
	if (all > nodes[1])
		glp_ios_terminate(tree);
}

/* Forbid what is chosen: it was within GLPK's tolerance of the budget, and above it. */
static void forbid(glp_prob *lp, const struct programme *p)
{
	int row = glp_add_rows(lp, 1), n = 0;

	for (size_t i = 1; i <= p->n; i++)
		if (glp_mip_col_val(lp, (int)i) > 0.5) {
			p->chosen[++n] = (int)i;
			p->ones[n] = 1;
		}
	glp_set_row_bnds(lp, row, GLP_UP, 0, n - 1);
	glp_set_mat_row(lp, row, n, p->chosen, p->ones);
}

/* Plans that fit: of the mixed class the cheaper one. */
static void take_known(struct fit_boa_solution *s, const struct fit_boa *b,
		       const struct fit_boa_solution *known)
{
	for (size_t i = known->n_plans; i-- > 0;)
		memcpy(s->plans[known->plans[i].class_no].widths, known->plans[i].widths,
		       b->classes[known->plans[i].class_no].n * sizeof(size_t));
}

#define TRIES 50 /* choices to forbid before it gives up */

static int solve(glp_prob *lp, const struct programme *p, const struct fit_boa_grid *grids,
		 struct fit_boa_solution *s, const struct fit_boa_solution *known,
		 const struct fit_boa_frontier *f, int64_t max_nodes, struct fit_err *err)
{
	int64_t nodes[2] = { 0, max_nodes };
	glp_iocp parm;

	glp_init_iocp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	parm.presolve = GLP_ON;
	parm.gmi_cuts = parm.mir_cuts = parm.cov_cuts = parm.clq_cuts = GLP_ON;
	parm.cb_func = watch;
	parm.cb_info = nodes;
	for (int k = 0; k < TRIES; k++) {
		int rc = glp_intopt(lp, &parm), status = glp_mip_status(lp);

		s->nodes += nodes[0];
		if (rc == GLP_ESTOP && status != GLP_OPT && status != GLP_FEAS) {
			take_known(s, p->b, known);
			s->limited = true;
			return fit_boa_appraise(s, p->b, f, err);
		}
		if ((rc != 0 && rc != GLP_ESTOP) || (status != GLP_OPT && status != GLP_FEAS))
			break;
		for (size_t i = 0; i < p->n; i++) {
			const struct column *x = &p->columns[i];

			if (glp_mip_col_val(lp, (int)i + 1) > 0.5)
				s->plans[x->class].widths[x->epoch] =
					grids[x->class].width[x->epoch * grids[x->class].n_states +
							      x->state];
		}
		s->limited = rc == GLP_ESTOP;
		rc = fit_boa_appraise(s, p->b, f, err);
		if (rc)
			return rc;
		if (s->cost <= s->budget * (1 + FIT_BOA_SLACK))
			return FIT_OK;
		forbid(lp, p);
	}
	return fit_fail(err, FIT_ENOCONV,
			"the integer programme has no answer after %lld nodes (--max-nodes)",
			(long long)s->nodes);
}

static int make_lp(struct programme *p, glp_prob *lp, const struct fit_boa_grid *grids, double budget,
		   struct fit_err *err)
{
	int rc, budget_row;

	glp_set_obj_dir(lp, GLP_MIN);
	if (p->n > INT32_MAX / 4)
		return fit_fail(err, FIT_EDATA, "too many widths for an integer programme");
	glp_add_cols(lp, (int)p->n);
	for (size_t i = 0; i < p->n; i++) {
		glp_set_col_kind(lp, (int)i + 1, GLP_BV);
		glp_set_obj_coef(lp, (int)i + 1, p->columns[i].time / p->b->total);
	}
	budget_row = new_row(p, lp, GLP_UP, 0, budget);
	rc = choice_rows(p, lp, err);
	if (!rc)
		rc = change_rows(p, lp, grids, budget_row, err);
	if (!rc)
		rc = type_rows(p, lp, grids, err);
	if (!rc)
		glp_load_matrix(lp, (int)p->n_entries, p->row, p->col, p->value);
	return rc;
}

struct search {
	struct programme p;
	struct fit_boa_grid *grids;
	struct fit_boa_solution *s, known;
	const struct fit_boa_frontier *f;
	double budget;
	int64_t max_nodes;
};

static int make_and_solve(void *arg, struct fit_err *err)
{
	struct search *a = arg;
	glp_prob *lp = glp_create_prob();
	int rc = make_lp(&a->p, lp, a->grids, fmax(a->budget, a->f->budget[0]), err);

	return rc ? rc : solve(lp, &a->p, a->grids, a->s, &a->known, a->f, a->max_nodes, err);
}

int fit_boa_micp(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		 double budget, bool fixing, int64_t max_nodes, struct fit_err *err)
{
	struct search a = { .p = { .b = b, .slack = (double)INFINITY }, .s = s, .f = f, .budget = budget,
			    .max_nodes = max_nodes };
	struct programme *p = &a.p;
	struct fit_boa_grid *grids = a.grids = calloc(b->n_classes + 1, sizeof *grids);
	size_t *classes = calloc(b->n_classes + 1, sizeof *classes);
	int rc = grids && classes ? fit_boa_feasible(b, f, budget, err) : fit_fail_nomem(err);

	*s = (struct fit_boa_solution){ .method = FIT_BOA_MICP, .budget = budget };
	for (size_t i = 0; i < b->n_classes && !rc; i++)
		classes[i] = i;
	if (!rc)
		rc = fit_boa_solve(&a.known, b, f, budget, err);
	if (!rc)
		rc = fit_boa_plans_new(s, b, classes, b->n_classes, err);
	if (!rc)
		take_known(s, b, &a.known);
	if (!rc)
		rc = fit_boa_appraise(s, b, f, err);
	if (!rc && fixing) {
		p->mu = s->mu;
		p->slack = (s->mean_jct_s - s->bound_s) * b->total + 1e-9 * s->bound_s * b->total;
	}
	for (size_t i = 0; i < b->n_classes && !rc; i++) {
		rc = fit_boa_grid_init(&grids[i], b, i, -1, err);
		if (!rc)
			rc = class_columns(p, i, &grids[i], err);
	}
	if (!rc) {
		p->chosen = calloc(p->n + 2, sizeof *p->chosen);
		p->ones = calloc(p->n + 2, sizeof *p->ones);
		rc = p->chosen && p->ones ? FIT_OK : fit_fail_nomem(err);
	}
	if (!rc)
		rc = fit_lp_call(make_and_solve, &a, "an integer programme of widths", err);
	for (size_t i = 0; grids && i < b->n_classes; i++)
		fit_boa_grid_release(&grids[i]);
	free(grids);
	free(classes);
	free(p->columns);
	free(p->row);
	free(p->col);
	free(p->value);
	free(p->chosen);
	free(p->ones);
	fit_boa_solution_release(&a.known);
	if (rc)
		fit_boa_solution_release(s);
	return rc;
}
