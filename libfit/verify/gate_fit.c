/* SPDX-License-Identifier: MIT */
/* Checks of the model gate that need measurements: does the model say what was measured, and what was not
 * yet? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/draws.h"
#include "libfit/verify/gate_kind.h"

static const char *unit(enum fit_gate_metric m)
{
	static const char *const names[] = {
		[FIT_GATE_RELATIVE] = "mean error, percent", [FIT_GATE_UNEXPLAINED] = "share unexplained",
		[FIT_GATE_WRONG] = "share of rows of another class",
		[FIT_GATE_LOG] = "root mean squared log error"
	};

	return names[m];
}

/* ---- rows by group and region ---- */


/* The rows of a group, of one region (-1: of all). */
static size_t rows_of(const struct fit_gate_set *s, uint32_t group, int region, uint32_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->group[i] == group && (region < 0 || s->region[i] == region))
			at[n++] = (uint32_t)i;
	return n;
}

static uint32_t *row_room(const struct fit_gate_set *s, struct fit_err *err)
{
	uint32_t *at = malloc((s->n + 1) * sizeof *at);

	if (!at)
		fit_fail_nomem(err);
	return at;
}

static const char *group_name(const struct fit_gate_set *s, size_t g)
{
	return *s->groups[g] ? s->groups[g] : NULL;
}

/* ---- provenance, coverage ---- */

int fit_gate_check_provenance(struct fit_gate_run *r, struct fit_err *err)
{
	for (size_t i = 0; i < r->meta.n; i++)
		if (strncmp(r->meta.pairs[i].key, "input", 5) == 0 &&
		    strcmp(r->meta.pairs[i].value, r->data_table.hash) == 0)
			return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_PASS, err,
					    "the model says that it was made of these measurements");
	return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_CANNOT, err,
			    "the model does not say that it was made of these measurements");
}

int fit_gate_check_coverage(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	uint32_t *at = row_room(s, err);
	int rc = at ? FIT_OK : FIT_ENOMEM;

	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		size_t rows = rows_of(s, (uint32_t)g, -1, at), n = 0, known = 0;

		for (size_t i = 0; i < rows; i++) {
			n += isfinite(s->y[at[i]]) ? 1 : 0;
			known += isfinite(s->y[at[i]]) && isfinite(r->data_p[at[i]]);
		}
		rc = fit_gate_at_least(r, group_name(s, g), n ? (double)known / (double)n : (double)NAN, err,
				       "%zu of %zu measurements have a prediction", known, n);
	}
	free(at);
	return rc;
}

/* ---- errors ---- */

int fit_gate_check_residual(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	enum fit_gate_metric m = fit_gate_metric_of(r->kind, r->model);
	uint32_t *at = row_room(s, err);
	int rc = at ? FIT_OK : FIT_ENOMEM;

	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		size_t n = rows_of(s, (uint32_t)g, -1, at);

		rc = fit_gate_at_most(r, group_name(s, g), fit_gate_error(m, s, r->data_p, at, n), err,
				      "%s, of %zu measurements", unit(m), n);
	}
	free(at);
	return rc;
}

int fit_gate_check_residual_region(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	enum fit_gate_metric m = fit_gate_metric_of(r->kind, r->model);
	uint32_t *at = row_room(s, err);
	struct fit_str name = { 0 };
	int rc = at ? FIT_OK : FIT_ENOMEM;

	for (size_t g = 0; s->region && g < s->n_groups && !rc; g++)
		for (int k = 0; s->regions[k] && !rc; k++) {
			size_t n = rows_of(s, (uint32_t)g, k, at);

			fit_str_clear(&name);
			if (n && fit_str_printf(&name, "%s%s%s", s->groups[g], *s->groups[g] ? ", " : "",
						s->regions[k]))
				rc = fit_fail_nomem(err);
			else if (n)
				rc = fit_gate_at_most(r, name.s, fit_gate_error(m, s, r->data_p, at, n), err,
						      "%s, of %zu measurements", unit(m), n);
		}
	fit_str_release(&name);
	free(at);
	return rc;
}

/* The mean error, in the unit of the metric. */
static double bias(enum fit_gate_metric m, const struct fit_gate_set *s, const double *p, const uint32_t *at,
		   size_t n)
{
	double sum = 0, mean = 0, spread = 0, weight = 0;

	for (size_t i = 0; i < n; i++) {
		double y = s->y[at[i]], x = p[at[i]], w = fit_gate_weight(s, at[i]);

		if (!isfinite(y) || !isfinite(x) || !(w > 0))
			continue;
		weight += w;
		mean += w * y;
		sum += w * (m == FIT_GATE_RELATIVE ? 100 * (x - y) / fabs(y) : m == FIT_GATE_LOG ? log(x / y) :
			    x - y);
	}
	if (!(weight > 0))
		return (double)NAN;
	if (m != FIT_GATE_UNEXPLAINED)
		return sum / weight;
	mean /= weight;
	for (size_t i = 0; i < n; i++)
		if (isfinite(s->y[at[i]]) && isfinite(p[at[i]]))
			spread += fit_gate_weight(s, at[i]) * (s->y[at[i]] - mean) * (s->y[at[i]] - mean) / weight;
	return spread > 0 ? sum / weight / sqrt(spread) : 0;
}

int fit_gate_check_bias(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	enum fit_gate_metric m = fit_gate_metric_of(r->kind, r->model);
	uint32_t *at;
	int rc = FIT_OK;

	/* classes have no direction, and a quantile is meant to be off the mean */
	if (m == FIT_GATE_WRONG || !isnan(s->quantile))
		return FIT_OK;
	at = row_room(s, err);
	rc = at ? FIT_OK : FIT_ENOMEM;
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		size_t n = rows_of(s, (uint32_t)g, -1, at);
		double b = bias(m, s, r->data_p, at, n);

		rc = fit_gate_at_most(r, group_name(s, g), fabs(b), err, "predictions are %s on average",
				      b > 0 ? "too large" : b < 0 ? "too small" :
					      "neither too large nor too small");
	}
	free(at);
	return rc;
}

/* ---- cross-validation ---- */

/* Deal the rows of each group to the folds, in an order that the seed draws. Groups of fewer rows than
 * folds are in none. */
static int deal(const struct fit_gate_run *r, uint32_t *fold, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	uint32_t *at = row_room(s, err);
	struct fit_draws rng;

	if (!at)
		return FIT_ENOMEM;
	fit_draws_init(&rng, r->in->seed, "gate/folds");
	for (size_t g = 0; g < s->n_groups; g++) {
		size_t n = rows_of(s, (uint32_t)g, -1, at);

		for (size_t i = n; i > 1; i--) {	/* Fisher and Yates */
			uint32_t j = fit_draws_below(&rng, (uint32_t)i), t = at[i - 1];

			at[i - 1] = at[j];
			at[j] = t;
		}
		for (size_t i = 0; i < n; i++)
			fold[at[i]] = n >= r->in->folds ? (uint32_t)(i % r->in->folds) : UINT32_MAX;
	}
	free(at);
	return FIT_OK;
}

int fit_gate_cross_validate(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	uint32_t *fold;
	bool *use;
	int rc = FIT_OK;

	if (r->cv_p)
		return FIT_OK;
	fold = calloc(s->n + 1, sizeof *fold);
	use = calloc(s->n + 1, sizeof *use);
	r->cv_p = malloc((s->n + 1) * sizeof *r->cv_p);
	rc = fold && use && r->cv_p ? deal(r, fold, err) : fit_fail_nomem(err);
	for (size_t i = 0; i < s->n && r->cv_p; i++)
		r->cv_p[i] = (double)NAN;
	for (uint32_t k = 0; k < r->in->folds && !rc; k++) {
		void *model = NULL;
		size_t n_used = 0, n_left_out = 0;

		for (size_t i = 0; i < s->n; i++) {
			use[i] = fold[i] != k && fold[i] != UINT32_MAX;
			n_used += use[i];
			n_left_out += fold[i] == k;
		}
		if (!n_used || !n_left_out)	/* too few rows, which the finding says */
			continue;
		rc = r->kind->refit(&model, r->model, s, use, r->in, err);
		for (size_t i = 0; i < s->n && !rc; i++)
			if (fold[i] == k)
				r->cv_p[i] = r->kind->predict(model, s->groups[s->group[i]],
							      &s->x[i * s->n_x]);
		r->kind->free(model);
	}
	free(fold);
	free(use);
	return rc;
}

/* Too few measurements to say anything: held against the model, or as if none had been given. */
static enum fit_gate_verdict no_evidence(const struct fit_gate_run *r)
{
	return r->rule->action == FIT_GATE_IF_KNOWN ? FIT_GATE_NOTED : FIT_GATE_CANNOT;
}

int fit_gate_check_cv(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	enum fit_gate_metric m = fit_gate_metric_of(r->kind, r->model);
	uint32_t *at = row_room(s, err);
	int rc = at ? fit_gate_cross_validate(r, err) : FIT_ENOMEM;

	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		size_t n = rows_of(s, (uint32_t)g, -1, at);

		double out = fit_gate_error(m, s, r->cv_p, at, n);

		if (n < r->in->folds)
			rc = fit_gate_add(r, group_name(s, g), (double)NAN, NULL, no_evidence(r), err,
					  "%zu measurements are too few for %zu folds", n, r->in->folds);
		else
			rc = isnan(out) ?
				fit_gate_add(r, group_name(s, g), out, NULL, no_evidence(r), err,
					     "no rows that were left out have a prediction") :
				fit_gate_at_most(r, group_name(s, g), out, err, "%s, of rows left out in %zu folds",
						 unit(m), r->in->folds);
	}
	free(at);
	return rc;
}

/* Left-out rows against those that a model of the same kind was fitted to: the model itself, where it was
 * fitted to these. A quarter of the limit of `residual` is good enough whatever the ratio says. */
int fit_gate_check_over_fit(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_set *s = &r->data;
	enum fit_gate_metric m = fit_gate_metric_of(r->kind, r->model);
	const struct fit_gate_policy *p = r->g->policy;
	double enough = 0;
	uint32_t *at = row_room(s, err);
	int rc = at ? fit_gate_cross_validate(r, err) : FIT_ENOMEM;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rules[i].check, "cross-validation") == 0 &&
		    (strcmp(p->rules[i].model, r->kind->name) == 0 ||
		     (!(enough > 0) && strcmp(p->rules[i].model, "any") == 0)))
			enough = p->rules[i].limit / 4;
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		size_t n = rows_of(s, (uint32_t)g, -1, at);
		double out = fit_gate_error(m, s, r->cv_p, at, n);
		double in = fit_gate_error(m, s, r->data_p, at, n);
		double ratio = in > 0 ? out / in : out > 0 ? (double)INFINITY : 1;

		if (isnan(out) || isnan(in)) {
			rc = fit_gate_add(r, group_name(s, g), (double)NAN, NULL, no_evidence(r), err,
					  "no rows that were left out have a prediction");
			continue;
		}
		rc = fit_gate_add(r, group_name(s, g), ratio, NULL,
				  ratio <= r->rule->limit || out <= enough ? FIT_GATE_PASS : FIT_GATE_FAIL,
					  err,
				  "%s of left-out rows %.4g, of the model %.4g", unit(m), out, in);
	}
	free(at);
	return rc;
}
