/* SPDX-License-Identifier: MIT */
/* Checks of the model gate against the incumbent: how far predictions move, and what replays say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/verify/gate_kind.h"

/* ---- shift of predictions ---- */

struct shift {
	enum fit_gate_metric metric;
	const double *new, *old;	/* predictions of the same rows, all finite */
};

static double spread(const double *p, const uint32_t *at, size_t n)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += p[at[i]] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (p[at[i]] - mean) * (p[at[i]] - mean) / (double)n;
	return sqrt(sum);
}

/* Percent. Numbers of any sign are compared with their spread, classes row by row. */
static double shift_of(const void *arg, const uint32_t *at, size_t n)
{
	const struct shift *s = arg;
	double sum = 0, wide;

	for (size_t i = 0; i < n; i++) {
		double a = s->new[at[i]], b = s->old[at[i]];

		sum += s->metric == FIT_GATE_RELATIVE ? a / b - 1 : s->metric == FIT_GATE_LOG ? log(a / b) :
		       s->metric == FIT_GATE_WRONG ? fabs(a - b) > 0.5 : a - b;
	}
	sum /= (double)n;
	if (s->metric == FIT_GATE_LOG)
		return 100 * expm1(sum);
	if (s->metric != FIT_GATE_UNEXPLAINED)
		return 100 * sum;
	wide = spread(s->old, at, n);
	return wide > 0 ? 100 * sum / wide : fabs(sum) > 0 ? (double)INFINITY : 0;
}

/* Within the limit on either side with confidence, beyond it with confidence, or neither. */
static enum fit_gate_verdict two_sided(const struct fit_gate_interval *b, double limit)
{
	double low = isnan(b->low) ? b->estimate : b->low, high = isnan(b->high) ? b->estimate : b->high;

	if (isnan(b->estimate))
		return FIT_GATE_CANNOT;
	if (low >= -limit && high <= limit)
		return FIT_GATE_PASS;
	return low > limit || high < -limit ? FIT_GATE_FAIL : FIT_GATE_CANNOT;
}

/* The rows that both models answer, their predictions, and which region each is of. */
struct compared {
	struct fit_gate_set mine, theirs;	/* made here, where not borrowed */
	const struct fit_gate_set *rows;
	double *new, *old;
	uint32_t *at;
	size_t n, lost;		/* rows of both; that the incumbent alone answers */
};

static void compared_release(struct compared *c)
{
	fit_gate_set_release(&c->mine);
	fit_gate_set_release(&c->theirs);
	free(c->new);
	free(c->old);
	free(c->at);
}

/* The number that the model gives to class `old` of the incumbent: such as it does not have come behind
 * its own. */
static double same_class(const struct fit_gate_run *r, double old)
{
	const char *name, *mine;
	size_t k = 0;

	if (!r->kind->class_name || !(old >= 0) || !(name = r->kind->class_name(r->incumbent, (size_t)old)))
		return old;
	while ((mine = r->kind->class_name(r->model, k)) && strcmp(mine, name) != 0)
		k++;
	return mine ? (double)k : (double)k + old;
}

static int compare(struct fit_gate_run *r, struct compared *c, struct fit_err *err)
{
	const struct fit_gate_kind *k = r->kind;
	const struct fit_table *t = r->has & FIT_GATE_FRESH ? &r->fresh_table : &r->data_table;
	bool grid = !(r->has & (FIT_GATE_FRESH | FIT_GATE_DATA));
	int rc = grid ? k->grid(r->incumbent, &c->theirs, err) :
		 k->rows(r->incumbent, t, r->in->target, false, &c->theirs, err);

	if (!rc && grid)
		rc = k->grid(r->incumbent, &c->mine, err);
	c->rows = grid ? &c->mine : r->has & FIT_GATE_FRESH ? &r->fresh : &r->data;
	c->new = malloc((c->rows->n + 1) * sizeof *c->new);
	c->old = malloc((c->rows->n + 1) * sizeof *c->old);
	c->at = malloc((c->rows->n + 1) * sizeof *c->at);
	if (!rc && (!c->new || !c->old || !c->at))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < c->rows->n && !rc; i++) {
		c->new[i] = k->predict(r->model, c->rows->groups[c->rows->group[i]],
				       &c->rows->x[i * c->rows->n_x]);
		c->old[i] = k->predict(r->incumbent, c->theirs.groups[c->theirs.group[i]],
				       &c->theirs.x[i * c->theirs.n_x]);
		c->old[i] = same_class(r, c->old[i]);
		c->lost += isfinite(c->old[i]) && !isfinite(c->new[i]);
		if (isfinite(c->old[i]) && isfinite(c->new[i]))
			c->at[c->n++] = (uint32_t)i;
	}
	return rc;
}

/* One finding: the shift of the rows at[0 .. n - 1]. */
static int say_shift(struct fit_gate_run *r, const struct compared *c, const char *region,
		     const uint32_t *at, size_t n, struct fit_err *err)
{
	struct shift all = { fit_gate_metric_of(r->kind, r->model), NULL, NULL };
	double *p = malloc((2 * n + 1) * sizeof *p);
	struct fit_gate_interval b;
	int rc;

	if (!p)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		p[i] = c->new[at[i]];
		p[n + i] = c->old[at[i]];
	}
	all.new = p;
	all.old = p + n;
	rc = fit_gate_bootstrap(shift_of, &all, n, r->in->draws, r->in->level, r->in->seed, "gate/shift",
				&b, err);
	free(p);
	return rc ? rc : fit_gate_add(r, region, b.estimate, &b, two_sided(&b, r->rule->limit), err,
				      "predictions against the incumbent, percent%s, of %zu rows",
				      all.metric == FIT_GATE_UNEXPLAINED ? " of their spread" : "", n);
}

static bool has_rows(const struct fit_gate_run *r)
{
	return r->has & (FIT_GATE_FRESH | FIT_GATE_DATA) || r->kind->grid;
}

static int say_no_rows(struct fit_gate_run *r, struct fit_err *err)
{
	return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_CANNOT, err,
			    "no rows to compare on (expected --data or --fresh)");
}

int fit_gate_check_shift(struct fit_gate_run *r, struct fit_err *err)
{
	struct compared c = { .n = 0 };
	int rc = has_rows(r) ? compare(r, &c, err) : say_no_rows(r, err);

	if (!rc && c.lost)
		rc = fit_gate_add(r, NULL, (double)c.lost, NULL, FIT_GATE_FAIL, err,
				  "%zu rows have an answer of the incumbent and none of the model", c.lost);
	if (!rc && c.rows)
		rc = say_shift(r, &c, NULL, c.at, c.n, err);
	compared_release(&c);
	return rc;
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* Regions of rows that have none: the classes that the incumbent predicts. */
static int regions_by_class(struct fit_gate_run *r, const struct compared *c, struct fit_err *err)
{
	uint32_t *at = malloc((c->n + 1) * sizeof *at);
	const char *class;
	char name[256];
	int rc = at ? FIT_OK : fit_fail_nomem(err);

	for (size_t k = 0; !rc && (class = r->kind->class_name(r->incumbent, k)); k++) {
		double number = same_class(r, (double)k);
		size_t n = 0;

		for (size_t i = 0; i < c->n; i++)
			if (c->old[c->at[i]] >= number && c->old[c->at[i]] <= number)
				at[n++] = c->at[i];
		snprintf(name, sizeof name, "incumbent says %.200s", class);
		if (n)
			rc = say_shift(r, c, name, at, n, err);
	}
	free(at);
	return rc;
}

/* Of numbers: quarters by what the incumbent predicts. */
static int regions_by_prediction(struct fit_gate_run *r, const struct compared *c, struct fit_err *err)
{
	double *sorted = malloc((c->n + 1) * sizeof *sorted), cuts[4];
	uint32_t *at = malloc((c->n + 1) * sizeof *at);
	size_t n_cuts = 0;
	char name[80];
	int rc = sorted && at ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < c->n && !rc; i++)
		sorted[i] = c->old[c->at[i]];
	if (!rc && c->n) {
		qsort(sorted, c->n, sizeof *sorted, by_value);
		n_cuts = fit_gate_quantile_cuts(sorted, c->n, 4, cuts);
	}
	for (size_t k = 0; k <= n_cuts && c->n && !rc; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n; i++)
			if (fit_gate_bin(cuts, n_cuts, c->old[c->at[i]]) == k)
				at[n++] = c->at[i];
		snprintf(name, sizeof name, "incumbent says %.4g to %.4g", k ? cuts[k - 1] : sorted[0],
			 k < n_cuts ? cuts[k] : sorted[c->n - 1]);
		rc = say_shift(r, c, name, at, n, err);
	}
	free(sorted);
	free(at);
	return rc;
}

static int regions_by_group(struct fit_gate_run *r, const struct compared *c, struct fit_err *err)
{
	const struct fit_gate_set *s = c->rows;
	uint32_t *at = malloc((c->n + 1) * sizeof *at);
	struct fit_str name = { 0 };
	int rc = at ? FIT_OK : fit_fail_nomem(err);

	for (size_t g = 0; g < s->n_groups && !rc; g++)
		for (int k = s->region ? 0 : -1; (k < 0 || s->regions[k]) && !rc; k++) {
			size_t n = 0;

			for (size_t i = 0; i < c->n; i++)
				if (s->group[c->at[i]] == g && (k < 0 || s->region[c->at[i]] == k))
					at[n++] = c->at[i];
			fit_str_clear(&name);
			if (fit_str_printf(&name, "%s%s%s", s->groups[g], k >= 0 && *s->groups[g] ? ", " :
					   "", k >= 0 ? s->regions[k] : ""))
				rc = fit_fail_nomem(err);
			else if (n)
				rc = say_shift(r, c, name.s, at, n, err);
			if (k < 0)
				break;
		}
	fit_str_release(&name);
	free(at);
	return rc;
}

int fit_gate_check_shift_region(struct fit_gate_run *r, struct fit_err *err)
{
	struct compared c = { .n = 0 };
	int rc = has_rows(r) ? compare(r, &c, err) : FIT_OK;

	if (!rc && c.rows)
		rc = c.rows->region || (c.rows->n_groups && *c.rows->groups[0]) ?
		     regions_by_group(r, &c, err) :
		     r->kind->class_name && r->kind->class_name(r->incumbent, 0) ?
		     regions_by_class(r, &c, err) : regions_by_prediction(r, &c, err);
	compared_release(&c);
	return rc;
}

