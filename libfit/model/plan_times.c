/* SPDX-License-Identifier: MIT */
#include "libfit/model/plan_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/plan_delaunay.h"
#include "libfit/table/table.h"

enum { APP, PLAN, PLACEMENT, ITER, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[PLAN] = { "exec_plan", FIT_TEXT, FIT_F_NOT_NA },
	[PLACEMENT] = { "placement", FIT_TEXT, FIT_F_NOT_NA },
	[ITER] = { "iter_time_s", FIT_REAL, 0 },
};

void fit_plan_times_release(struct fit_plan_times *t)
{
	for (size_t i = 0; i < t->n_apps; i++) {
		free(t->apps[i].name);
		free(t->apps[i].times);
		free(t->apps[i].pairs);
		free(t->apps[i].triangles);
	}
	for (size_t i = 0; i < t->n_plans; i++)
		free(t->plans[i]);
	free(t->apps);
	free(t->plans);
	*t = (struct fit_plan_times){ .n_apps = 0 };
}

const struct fit_plan_app *fit_plan_times_find(const struct fit_plan_times *t, struct fit_text name)
{
	for (size_t i = 0; i < t->n_apps; i++)
		if (fit_text_is(name, t->apps[i].name))
			return &t->apps[i];
	return NULL;
}

uint16_t fit_plan_times_plan(const struct fit_plan_times *t, struct fit_text name)
{
	for (size_t i = 0; i < t->n_plans; i++)
		if (fit_text_is(name, t->plans[i]))
			return (uint16_t)i;
	return FIT_NO_EXEC_PLAN;
}

/* The same, made known where it was not. FIT_EDATA: too many. */
static int intern(struct fit_plan_times *t, struct fit_text name, uint16_t *plan, struct fit_err *err)
{
	*plan = fit_plan_times_plan(t, name);
	if (*plan != FIT_NO_EXEC_PLAN)
		return FIT_OK;
	if (t->n_plans >= FIT_NO_EXEC_PLAN)
		return fit_fail(err, FIT_EDATA, "more than %d execution plans", FIT_NO_EXEC_PLAN);
	if (fit_grow(&t->plans, &t->cap_plans, t->n_plans + 1, sizeof *t->plans))
		return fit_fail_nomem(err);
	t->plans[t->n_plans] = fit_strdup(name);
	if (!t->plans[t->n_plans])
		return fit_fail_nomem(err);
	*plan = (uint16_t)t->n_plans++;
	return FIT_OK;
}

/* ---- placements ---- */

/* Of all rotations the smallest. */
static void normalise(uint8_t *g, size_t n)
{
	uint8_t best[FIT_PLAN_NODES_MAX], turned[FIT_PLAN_NODES_MAX];

	memcpy(best, g, n);
	for (size_t by = 1; by < n; by++) {
		for (size_t i = 0; i < n; i++)
			turned[i] = g[(i + by) % n];
		if (memcmp(turned, best, n) < 0)
			memcpy(best, turned, n);
	}
	memcpy(g, best, n);
}

/* ---- reading ---- */

static int take_row(void *to, struct fit_reader *r, const struct fit_cell *c, struct fit_err *err)
{
	struct fit_plan_times *t = to;
	struct fit_text p = c[PLACEMENT].u.t;
	struct fit_plan_app *a = (struct fit_plan_app *)(uintptr_t)fit_plan_times_find(t, c[APP].u.t);
	struct fit_plan_time x = { .iter_s = c[ITER].u.d };
	int rc;

	if (!p.n || p.n > FIT_PLAN_NODES_MAX)
		return fit_reader_fail(r, FIT_EDATA, "placement", err, "bad placement '%.*s' (expected GPUs on each of "
				       "1 to %d nodes, a digit each)", FIT_TEXT_ARG(p), FIT_PLAN_NODES_MAX);
	for (size_t i = 0; i < p.n; i++) {
		if (p.s[i] < '1' || p.s[i] > '9')
			return fit_reader_fail(r, FIT_EDATA, "placement", err, "bad placement '%.*s' (expected digits 1 to 9, "
					       "one a node)", FIT_TEXT_ARG(p));
		x.per_node[i] = (uint8_t)(p.s[i] - '0');
		x.gpus += p.s[i] - '0';
	}
	x.nodes = (int32_t)p.n;
	normalise(x.per_node, p.n);
	if (c[ITER].na)
		return FIT_OK;
	if (!(x.iter_s > 0) || !isfinite(x.iter_s))
		return fit_reader_fail(r, FIT_EDATA, "iter_time_s", err, "bad time %g (expected above 0, or NA: it could "
				       "not run)", x.iter_s);
	rc = intern(t, c[PLAN].u.t, &x.plan, err);
	if (rc)
		return rc;
	if (!a) {
		if (fit_grow(&t->apps, &t->cap, t->n_apps + 1, sizeof *t->apps))
			return fit_fail_nomem(err);
		a = &t->apps[t->n_apps];
		*a = (struct fit_plan_app){ .name = fit_strdup(c[APP].u.t) };
		if (!a->name)
			return fit_fail_nomem(err);
		t->n_apps++;
	}
	if (fit_grow(&a->times, &a->cap, a->n + 1, sizeof *a->times))
		return fit_fail_nomem(err);
	a->times[a->n++] = x;
	return FIT_OK;
}

static int by_pair(const void *pa, const void *pb)
{
	const struct fit_plan_pair *a = pa, *b = pb;

	if (a->nodes != b->nodes)
		return a->nodes < b->nodes ? -1 : 1;
	return (a->gpus > b->gpus) - (a->gpus < b->gpus);
}

/* The means, over all rows; and then rows that repeat a plan and placement are dropped. */
static int finish_app(struct fit_plan_app *a, struct fit_err *err)
{
	size_t kept = 0;

	a->pairs = calloc(a->n, sizeof *a->pairs);
	if (!a->pairs)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < a->n; i++) {
		const struct fit_plan_time *x = &a->times[i];
		double sum = 0;
		int64_t n = 0;
		bool first = true;

		for (size_t k = 0; k < a->n; k++) {
			if (a->times[k].nodes != x->nodes || a->times[k].gpus != x->gpus)
				continue;
			first = first && k >= i;
			sum += a->times[k].iter_s;
			n++;
		}
		if (first)
			a->pairs[a->n_pairs++] = (struct fit_plan_pair){ x->nodes, x->gpus, sum / (double)n };
	}
	qsort(a->pairs, a->n_pairs, sizeof *a->pairs, by_pair);
	for (size_t i = 0; i < a->n; i++) {
		bool there = false;

		for (size_t k = 0; k < kept && !there; k++)
			there = a->times[k].plan == a->times[i].plan && a->times[k].nodes == a->times[i].nodes &&
				memcmp(a->times[k].per_node, a->times[i].per_node, sizeof a->times[k].per_node) == 0;
		if (!there)
			a->times[kept++] = a->times[i];
	}
	a->n = kept;
	return fit_plan_delaunay(a, err);
}

int fit_plan_times_read(struct fit_plan_times *t, const char *operand, struct fit_err *err)
{
	/* names of plans that a model predicts, measured or not */
	static const char *const known[] = { "zero-offload", "zero-dp", "ga", "gc" };
	struct fit_reader *r;
	uint16_t plan;
	int rc = fit_reader_open(&r, operand, err);

	*t = (struct fit_plan_times){ .n_apps = 0 };
	if (rc)
		return rc;
	rc = fit_reader_each(r, columns, N_COLUMNS, take_row, t, err);
	for (size_t i = 0; i < sizeof known / sizeof *known && !rc; i++)
		rc = intern(t, fit_text_of(known[i]), &plan, err);
	if (!rc && !t->n_apps)
		rc = fit_fail(err, FIT_EDATA, "%s: no measured iteration (expected rows)", fit_reader_input(r));
	fit_reader_hash(r, t->hash);
	fit_reader_close(r);
	for (size_t i = 0; i < t->n_apps && !rc; i++)
		rc = finish_app(&t->apps[i], err);
	for (size_t i = 0; i < t->n_apps; i++)
		t->apps[i].of = t;
	if (rc)
		fit_plan_times_release(t);
	return rc;
}

/* ---- the time of an iteration ---- */

static const struct fit_plan_time *find(const struct fit_plan_app *a, uint16_t plan, const uint8_t *per_node,
					size_t n)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->times[i].plan == plan && (size_t)a->times[i].nodes == n &&
		    memcmp(a->times[i].per_node, per_node, n) == 0)
			return &a->times[i];
	return NULL;
}

/* The mean of a plan (or of all) on so many nodes (or any) and GPUs; NAN without one. */
#define ANY -1
static double mean_of(const struct fit_plan_app *a, int32_t plan, int32_t nodes, int32_t gpus)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < a->n; i++)
		if ((plan == ANY || a->times[i].plan == plan) && (nodes == ANY || a->times[i].nodes == nodes) &&
		    a->times[i].gpus == gpus) {
			sum += a->times[i].iter_s;
			n++;
		}
	return n ? sum / n : (double)NAN;
}

/* Between the plan's neighbours in GPUs on as many nodes. */
static double between(const struct fit_plan_app *a, uint16_t plan, int32_t nodes, int32_t gpus)
{
	int32_t below = 0, above = INT32_MAX;
	double lo, hi;

	for (size_t i = 0; i < a->n; i++) {
		const struct fit_plan_time *x = &a->times[i];

		if (x->plan != plan || x->nodes != nodes)
			continue;
		below = x->gpus < gpus && x->gpus > below ? x->gpus : below;
		above = x->gpus > gpus && x->gpus < above ? x->gpus : above;
	}
	if (!below || above == INT32_MAX)
		return (double)NAN;
	lo = mean_of(a, plan, nodes, below);
	hi = mean_of(a, plan, nodes, above);
	return lo + (hi - lo) * (double)(gpus - below) / (double)(above - below);
}

/* The mean of all plans, or its interpolation. */
static double of_pair(const struct fit_plan_app *a, const struct fit_plan_pair *q)
{
	const struct fit_plan_pair *p = a->n_pairs ? bsearch(q, a->pairs, a->n_pairs, sizeof *q, by_pair) : NULL;

	return p ? p->iter_s : fit_plan_interpolate(a, q);
}

static bool is_zero(const struct fit_plan_app *a, uint16_t plan)
{
	return plan != FIT_NO_EXEC_PLAN &&
	       (strcmp(a->of->plans[plan], "zero-dp") == 0 || strcmp(a->of->plans[plan], "zero-offload") == 0);
}

double fit_plan_app_iter(const struct fit_plan_app *a, uint16_t plan, const int32_t *per_node, size_t n,
			 bool any_plan)
{
	uint8_t g[FIT_PLAN_NODES_MAX] = { 0 };
	struct fit_plan_pair q = { .nodes = (int32_t)(n < INT32_MAX ? n : INT32_MAX) };
	const struct fit_plan_time *x;
	bool digits = n <= FIT_PLAN_NODES_MAX;
	double s;

	for (size_t i = 0; i < n; i++) {
		if (per_node[i] > 9)
			digits = false;
		else if (i < FIT_PLAN_NODES_MAX)
			g[i] = (uint8_t)per_node[i];
		q.gpus += per_node[i];
	}
	if (digits)
		normalise(g, n);
	if (any_plan && !is_zero(a, plan))
		plan = fit_plan_times_plan(a->of, FIT_TEXT_LIT("ga"));
	x = digits ? find(a, plan, g, n) : NULL;
	if (!x && any_plan && is_zero(a, plan) && digits)
		x = find(a, fit_plan_times_plan(a->of, FIT_TEXT_LIT("ga")), g, n);
	if (x)
		return x->iter_s;
	if (!any_plan && plan != FIT_NO_EXEC_PLAN) {
		s = mean_of(a, plan, q.nodes, q.gpus);
		s = isnan(s) ? between(a, plan, q.nodes, q.gpus) : s;
		s = isnan(s) ? mean_of(a, plan, ANY, q.gpus) : s;
		if (!isnan(s))
			return s;
	}
	s = of_pair(a, &q);
	return isnan(s) && !any_plan ? mean_of(a, ANY, ANY, q.gpus) : s;
}

double fit_plan_app_packed(const struct fit_plan_app *a, uint16_t plan, int64_t gpus, int64_t node_gpus,
			   bool any_plan)
{
	int32_t per_node[FIT_PLAN_NODES_MAX];
	size_t n = 0;

	for (; gpus > 0 && node_gpus > 0 && n < FIT_PLAN_NODES_MAX; gpus -= node_gpus)
		per_node[n++] = (int32_t)(gpus < node_gpus ? gpus : node_gpus);
	return gpus > 0 || !n ? (double)NAN : fit_plan_app_iter(a, plan, per_node, n, any_plan);
}
