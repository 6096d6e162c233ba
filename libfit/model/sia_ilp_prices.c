/* SPDX-License-Identifier: MIT */
/*
 * Prices of GPUs for sia_ilp.h: the Lagrangian bound is concave and piecewise linear in them, and each
 * evaluation gives the piece at that point. Kelley's method: the highest point of all pieces so far, by a
 * linear programme with one column for each type, is where the next one is computed (docs/methods/sia.md).
 */
#include <glpk.h>
#include <math.h>
#include <string.h>

#include "libfit/model/lp_guard.h"
#include "libfit/model/sia_ilp_parts.h"

#define STEPS_MAX 300

/* The bound at these prices; used: GPUs of the best items. */
static int64_t value_at(const struct fit_sia_solver *s, const int64_t *price, int64_t *used)
{
	int64_t sum = 0;

	for (int t = 0; t < s->n_types; t++) {
		sum -= price[t] * s->cap[t];
		used[t] = 0;
	}
	for (size_t j = 0; j < s->n_jobs; j++) {
		const struct fit_sia_item *best = &s->items[s->at[j]];
		int64_t least = best->w + price[best->type] * best->gpus;

		for (const struct fit_sia_item *it = best + 1; it < s->items + s->at[j + 1]; it++) {
			int64_t w = it->w + price[it->type] * it->gpus;

			if (w < least) {
				best = it;
				least = w;
			}
		}
		sum += least;
		used[best->type] += best->gpus;
	}
	return sum;
}

/* The most that a GPU of a type can be worth: nobody pays more. */
static void highest_prices(const struct fit_sia_solver *s, double *most)
{
	for (int t = 0; t < s->n_types; t++)
		most[t] = 1;
	for (size_t j = 0; j < s->n_jobs; j++)
		for (size_t i = s->at[j] + 1; i < s->at[j + 1]; i++) {
			const struct fit_sia_item *it = &s->items[i];
			double gain = (double)(s->items[s->at[j]].w - it->w) / it->gpus;

			most[it->type] = fmax(most[it->type], gain + 1);
		}
}

static glp_prob *open_pieces(const struct fit_sia_solver *s)
{
	double most[FIT_SIA_TYPES_MAX];
	glp_prob *lp;

	lp = glp_create_prob();
	highest_prices(s, most);
	glp_set_obj_dir(lp, GLP_MAX);
	glp_add_cols(lp, s->n_types + 1);
	for (int t = 0; t < s->n_types; t++)
		glp_set_col_bnds(lp, t + 1, GLP_DB, 0, most[t] / (double)s->per_cost);
	glp_set_col_bnds(lp, s->n_types + 1, GLP_FR, 0, 0);
	glp_set_obj_coef(lp, s->n_types + 1, 1);
	return lp;
}

/* z is at most the value here, changed by what the best items use too much or too little of, in units of
 * a cost. */
static void add_piece(glp_prob *lp, const struct fit_sia_solver *s, const int64_t *price, const int64_t *used,
		      int64_t value)
{
	int row = glp_add_rows(lp, 1), index[FIT_SIA_TYPES_MAX + 2];
	double at = (double)value, coef[FIT_SIA_TYPES_MAX + 2];

	for (int t = 0; t < s->n_types; t++) {
		index[t + 1] = t + 1;
		coef[t + 1] = (double)(s->cap[t] - used[t]);
		at += (double)price[t] * coef[t + 1];
	}
	index[s->n_types + 1] = s->n_types + 1;
	coef[s->n_types + 1] = 1;
	glp_set_mat_row(lp, row, s->n_types + 1, index, coef);
	glp_set_row_bnds(lp, row, GLP_UP, 0, at / (double)s->per_cost);
}

/* Whenever it ends, the best prices so far give a bound. */
static int ascend(void *arg, struct fit_err *err)
{
	struct fit_sia_solver *s = arg;
	glp_prob *lp = NULL;
	int64_t price[FIT_SIA_TYPES_MAX] = { 0 }, used[FIT_SIA_TYPES_MAX];
	glp_smcp parm;

	(void)err;
	glp_init_smcp(&parm);
	parm.msg_lev = GLP_MSG_OFF;
	for (int k = 0; k < STEPS_MAX; k++) {
		int64_t value = value_at(s, price, used);

		if (k == 0 || value > s->bound) {
			s->bound = value;
			memcpy(s->price, price, sizeof price);
		}
		lp = lp ? lp : open_pieces(s);
		add_piece(lp, s, price, used, value);
		if (glp_simplex(lp, &parm) || glp_get_status(lp) != GLP_OPT)
			return FIT_OK;
		/* closer than a GPU at its price is rounded */
		if (glp_get_obj_val(lp) * (double)s->per_cost <= (double)s->bound + 0.5 * (double)s->per_gpu)
			return FIT_OK;
		for (int t = 0; t < s->n_types; t++)
			price[t] = (int64_t)nearbyint(fmax(0, glp_get_col_prim(lp, t + 1)) * (double)s->per_cost);
	}
	return FIT_OK;
}

static void reduce(struct fit_sia_solver *s)
{
	for (size_t j = 0; j < s->n_jobs; j++) {
		int64_t least = INT64_MAX;

		for (size_t i = s->at[j]; i < s->at[j + 1]; i++) {
			struct fit_sia_item *it = &s->items[i];

			it->reduced = it->w + s->price[it->type] * it->gpus;
			least = it->reduced < least ? it->reduced : least;
		}
		for (size_t i = s->at[j]; i < s->at[j + 1]; i++)
			s->items[i].reduced -= least;
	}
}

void fit_sia_set_prices(struct fit_sia_solver *s)
{
	int rc = fit_lp_call(ascend, s, "prices of GPUs", NULL);

	(void)rc;	/* as good as any: there is a bound */
	reduce(s);
}
