/* SPDX-License-Identifier: MIT */
#include "libfit/model/boa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/boa_path.h"

/* ---- building the problem ---- */

void fit_boa_release(struct fit_boa *b)
{
	for (size_t i = 0; i < b->n_classes; i++)
		free(b->classes[i].name);
	for (size_t i = 0; i < b->n_types; i++)
		free(b->types[i]);
	free(b->classes);
	free(b->types);
	free(b->prices);
	free(b->epochs);
	free(b->widths);
	free(b->rescale_s);
	*b = (struct fit_boa){ 0 };
}

static int take_types(struct fit_boa *b, const struct fit_speedups *s,
		      const struct fit_boa_params *params, struct fit_err *err)
{
	b->types = calloc(s->n_types + 1, sizeof *b->types);
	b->prices = calloc(s->n_types + 1, sizeof *b->prices);
	if (!b->types || !b->prices)
		return fit_fail_nomem(err);
	for (size_t t = 0; t < s->n_types; t++) {
		const char *name = s->types[t];

		b->types[t] = fit_strdup(fit_text_of(name));
		if (!b->types[t])
			return fit_fail_nomem(err);
		b->n_types++;
		b->prices[t] = params->n_prices ? 0 : 1;
		for (size_t p = 0; p < params->n_prices; p++)
			if (strcmp(params->prices[p].type, name) == 0)
				b->prices[t] = params->prices[p].price;
		if (!(b->prices[t] >= FIT_PRICE_MIN && b->prices[t] <= FIT_PRICE_MAX))
			return name[0] ? fit_fail(err, FIT_EDATA, "no price of GPU type '%s'", name)
				       : fit_fail(err, FIT_EDATA, "no price of GPUs without a type "
						  "(expected one, without TYPE=)");
	}
	for (size_t p = 0; p < params->n_prices; p++) {
		bool known = false;

		for (size_t t = 0; t < s->n_types && !known; t++)
			known = strcmp(params->prices[p].type, s->types[t]) == 0;
		if (!known)
			return fit_fail(err, FIT_EDATA, "a price of GPU type '%s', which has no speedups",
					params->prices[p].type);
	}
	b->has_prices = params->n_prices > 0;
	return FIT_OK;
}

/* The usable widths of an epoch. */
static int take_epoch(struct fit_boa *b, const struct fit_speedup_epoch *from,
		      const struct fit_width *widths, const int64_t *min_gpus, const char *class,
		      size_t number, struct fit_err *err)
{
	struct fit_boa_epoch *e = &b->epochs[b->n_epochs++];

	*e = (struct fit_boa_epoch){ from->work, b->n_widths, 0 };
	for (size_t i = 0; i < from->n; i++) {
		const struct fit_width *w = &widths[from->at + i];
		struct fit_width *last = e->n ? &b->widths[b->n_widths - 1] : NULL;

		/* of equal widths the fastest comes first */
		if (!fit_width_usable(w) || w->gpus < min_gpus[w->type] ||
		    (last && last->type == w->type && last->gpus == w->gpus))
			continue;
		b->widths[b->n_widths] = *w;
		b->widths[b->n_widths++].price = b->prices[w->type];
		e->n++;
	}
	if (e->n == 0)
		return fit_fail(err, FIT_EDATA,
				"class '%s', epoch %zu: no usable width (expected a positive speed on at "
				"least the least number of GPUs)",
				class, number);
	return FIT_OK;
}

static int take_class(struct fit_boa *b, const struct fit_speedups *s, size_t i,
		      const struct fit_boa_classes *classes, const struct fit_boa_params *params,
		      int64_t *min_gpus, struct fit_err *err)
{
	const struct fit_speedup_class *from = &s->classes[i];
	struct fit_boa_class *c = &b->classes[i];
	struct fit_boa_class_row row = { 0 };
	int rc = FIT_OK;

	for (size_t t = 0; t < b->n_types; t++) {
		if (!fit_boa_classes_find(classes, fit_text_of(from->name),
					  b->types[t][0] ? fit_text_of(b->types[t]) :
							   (struct fit_text){ 0 },
					  &row))
			return fit_fail(err, FIT_EDATA,
					"class '%s' has speedups, but no row in the table of classes",
					from->name);
		min_gpus[t] = row.min_gpus;
		b->rescale_s[i * b->n_types + t] = params->free_rescale ? 0 : row.rescale_s;
		if (b->rescale_s[i * b->n_types + t] > 0)
			b->by_path = true;
	}
	*c = (struct fit_boa_class){ fit_strdup(fit_text_of(from->name)), row.rate, row.weight,
				     b->n_epochs, from->n };
	b->n_classes++;
	if (!c->name)
		return fit_fail_nomem(err);
	b->total += c->rate * c->weight;
	for (size_t j = 0; j < from->n && !rc; j++)
		rc = take_epoch(b, &s->epochs[from->at + j], s->widths, min_gpus, c->name, j, err);
	return rc;
}

int fit_boa_build(struct fit_boa *b, const struct fit_speedups *s, const struct fit_boa_classes *classes,
		  const struct fit_boa_params *params, struct fit_err *err)
{
	int64_t *min_gpus = calloc(s->n_types + 1, sizeof *min_gpus);
	int rc;

	*b = (struct fit_boa){ .charge_start = params->charge_start };
	b->classes = calloc(s->n_classes + 1, sizeof *b->classes);
	b->epochs = calloc(s->n_epochs + 1, sizeof *b->epochs);
	b->widths = malloc((s->n_widths + 1) * sizeof *b->widths);
	b->rescale_s = calloc(s->n_classes * s->n_types + 1, sizeof *b->rescale_s);
	if (!min_gpus || !b->classes || !b->epochs || !b->widths || !b->rescale_s)
		rc = fit_fail_nomem(err);
	else
		rc = take_types(b, s, params, err);
	for (size_t i = 0; i < s->n_classes && !rc; i++)
		rc = take_class(b, s, i, classes, params, min_gpus, err);
	for (size_t i = 0; i < classes->n && !rc; i++)
		if (!fit_speedups_find(s, fit_text_of(classes->rows[i].name)))
			rc = fit_fail(err, FIT_EDATA,
				      "class '%s' of the table of classes has no speedups",
				      classes->rows[i].name);
	if (!rc && !(b->total > 0))
		rc = fit_fail(err, FIT_EDATA, "no class has an arrival rate and a weight above 0");
	b->by_class = params->by_class && b->n_types > 1;
	b->by_path = b->by_path || b->by_class;
	free(min_gpus);
	if (rc)
		fit_boa_release(b);
	return rc;
}

/* ---- what plans cost ---- */

struct fit_boa_path fit_boa_path_of(const struct fit_boa *b, size_t class, const size_t *widths)
{
	const struct fit_boa_class *c = &b->classes[class];
	const double *rescale_s = b->rescale_s + class * b->n_types;
	struct fit_boa_path p = { 0 };

	for (size_t j = 0; j < c->n; j++) {
		const struct fit_width *w = &b->widths[widths[j]];
		const struct fit_width *before = j ? &b->widths[widths[j - 1]] : NULL;
		struct fit_dd t = fit_dd_div(fit_dd_of(b->epochs[c->at + j].work),
					     fit_dd_of(w->speed));
		bool changed = before && (before->gpus != w->gpus || before->type != w->type);

		p.rescales += changed;
		if (changed || (!before && b->charge_start))
			t = fit_dd_add(t, fit_dd_of(rescale_s[w->type]));
		p.time = fit_dd_add(p.time, t);
		p.cost = fit_dd_add(p.cost, fit_dd_mul(fit_width_kappa(w), t));
	}
	return p;
}

/* min over the widths of an epoch of (weight + mu kappa) / s, times the work */
static double epoch_dual(const struct fit_boa *b, const struct fit_boa_epoch *e, double weight, double mu)
{
	double best = (double)INFINITY;

	for (size_t k = e->at; k < e->at + e->n; k++) {
		const struct fit_width *w = &b->widths[k];
		double v = (weight + mu * (w->price * (double)w->gpus)) / w->speed;

		if (v < best)
			best = v;
	}
	return e->work * best;
}

static int class_dual(const struct fit_boa *b, size_t class, double weight, double mu, double *best,
		      struct fit_err *err)
{
	const struct fit_boa_aim aim = { weight, mu, 0, 0 };

	*best = (double)INFINITY;
	for (int t = b->by_class ? 0 : -1; t < (b->by_class ? (int)b->n_types : 0); t++) {
		struct fit_boa_grid g;
		int rc = fit_boa_grid_init(&g, b, class, t, err);

		if (rc)
			return rc;
		if (g.n_states > 0)
			*best = fmin(*best, fit_boa_grid_best(&g, &aim, NULL));
		fit_boa_grid_release(&g);
	}
	return FIT_OK;
}

int fit_boa_dual(const struct fit_boa *b, double mu, double budget, double *value, struct fit_err *err)
{
	struct fit_dd sum = { 0, 0 };

	for (size_t i = 0; i < b->n_classes; i++) {
		const struct fit_boa_class *c = &b->classes[i];

		if (c->rate == 0)
			continue;
		if (b->by_path) {
			double best;
			int rc = class_dual(b, i, c->weight, mu, &best, err);

			if (rc)
				return rc;
			sum = fit_dd_add(sum, fit_two_prod(c->rate, best));
			continue;
		}
		for (size_t j = c->at; j < c->at + c->n; j++)
			sum = fit_dd_add(sum, fit_two_prod(c->rate, epoch_dual(b, &b->epochs[j], c->weight,
									       mu)));
	}
	*value = fit_dd_value(fit_dd_sub(sum, fit_two_prod(mu, budget))) / b->total;
	return FIT_OK;
}

/* ---- solutions ---- */

const char *fit_boa_method_name(enum fit_boa_method m)
{
	static const char *const names[] = { "mixed", "pure", "micp", "heuristic" };

	return names[m];
}

void fit_boa_solution_release(struct fit_boa_solution *s)
{
	/* the widths of all plans are one block */
	if (s->plans)
		free(s->plans[0].widths);
	free(s->plans);
	*s = (struct fit_boa_solution){ 0 };
}

int fit_boa_plans_new(struct fit_boa_solution *s, const struct fit_boa *b, const size_t *classes,
		      size_t n, struct fit_err *err)
{
	size_t n_widths = 0;
	size_t *at;

	for (size_t i = 0; i < n; i++)
		n_widths += b->classes[classes[i]].n;
	s->plans = calloc(n + 1, sizeof *s->plans);
	at = calloc(n_widths + 1, sizeof *at);
	if (!s->plans || !at) {
		free(s->plans);
		free(at);
		s->plans = NULL;
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		s->plans[i] = (struct fit_boa_plan){ classes[i], 1, at };
		at += b->classes[classes[i]].n;
	}
	s->n_plans = n;
	s->mixed_class = s->mixed_epoch = s->width_lo = s->width_hi = FIT_NO_WIDTH;
	s->vertex_lo = s->vertex_hi = FIT_NO_WIDTH;
	s->share_hi = 0;
	return FIT_OK;
}

size_t fit_boa_breakpoint(const struct fit_boa_frontier *f, double budget)
{
	size_t lo = 0, hi = f->n_edges;

	while (lo < hi) { /* the last breakpoint that is not above */
		size_t mid = lo + (hi - lo + 1) / 2;

		if (f->budget[mid] <= budget)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

int fit_boa_vertices_at(const struct fit_boa_frontier *f, size_t e, uint32_t **at, struct fit_err *err)
{
	*at = calloc(f->n_items + 1, sizeof **at);
	if (!*at)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < e; i++)
		(*at)[f->edges[i].item] = f->edges[i].from + 1;
	return FIT_OK;
}

void fit_boa_widths_at(const struct fit_boa *b, const struct fit_boa_frontier *f, const uint32_t *at,
		       size_t class, size_t *widths)
{
	const struct fit_boa_class *c = &b->classes[class];

	if (b->by_path) {
		const struct fit_boa_vertex *v = &f->vertices[f->items[class].at + at[class]];

		memcpy(widths, f->plans + v->ref, c->n * sizeof *widths);
		return;
	}
	for (size_t j = 0; j < c->n; j++)
		widths[j] = f->vertices[f->items[c->at + j].at + at[c->at + j]].ref;
}

/* The price at a budget, and those of the edges around it. */
static void prices_at(struct fit_boa_solution *s, const struct fit_boa_frontier *f)
{
	size_t e = fit_boa_breakpoint(f, s->budget);
	bool inside = e < f->n_edges && s->budget > f->budget[e];

	s->mu_before = e > 0 ? f->edges[e - 1].mu : (double)INFINITY;
	s->mu = e < f->n_edges ? f->edges[e].mu : 0;
	e += inside;
	s->mu_after = e < f->n_edges ? f->edges[e].mu : 0;
}

int fit_boa_appraise(struct fit_boa_solution *s, const struct fit_boa *b,
		     const struct fit_boa_frontier *f, struct fit_err *err)
{
	struct fit_dd cost = { 0, 0 }, time = { 0, 0 };
	double rescales = 0, rate = 0;
	int rc;

	for (size_t i = 0; i < s->n_plans; i++) {
		const struct fit_boa_plan *p = &s->plans[i];
		const struct fit_boa_class *c = &b->classes[p->class_no];
		struct fit_boa_path path = fit_boa_path_of(b, p->class_no, p->widths);
		struct fit_dd share = fit_two_prod(c->rate, p->share);

		cost = fit_dd_add(cost, fit_dd_mul(path.cost, share));
		time = fit_dd_add(time, fit_dd_scale(fit_dd_mul(path.time, share), c->weight));
		rescales += share.hi * (double)path.rescales;
		rate += share.hi;
	}
	s->cost = fit_dd_value(cost);
	s->mean_jct_s = fit_dd_value(time) / b->total;
	s->rescales_per_job = rescales / rate;
	prices_at(s, f);
	rc = fit_boa_dual(b, s->mu, fmax(s->budget, f->budget[0]), &s->bound_s, err);
	if (s->bound_s > 0)
		s->gap = fmax(s->mean_jct_s / s->bound_s - 1, 0);
	else /* there may be no work at all */
		s->gap = s->mean_jct_s > 0 ? (double)INFINITY : 0;
	return rc;
}

/* ---- feasible budgets ---- */

struct share {
	double cost;
	size_t class;
};

static int compare_shares(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return (a->class > b->class) - (a->class < b->class);
}

#define NAMED 5 /* classes that a message names */

int fit_boa_feasible(const struct fit_boa *b, const struct fit_boa_frontier *f, double budget,
		     struct fit_err *err)
{
	struct fit_str list = { 0 };
	struct share *shares;
	char given[FIT_NUM_MAX], least[FIT_NUM_MAX];
	size_t n = 0;
	int rc = FIT_OK;

	if (budget >= f->budget[0] * (1 - FIT_BOA_SLACK))
		return FIT_OK;
	shares = calloc(b->n_classes + 1, sizeof *shares);
	if (!shares)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < b->n_classes; i++)
		shares[i].class = i;
	for (size_t i = 0; i < f->n_items; i++)
		shares[f->items[i].class_no].cost += b->classes[f->items[i].class_no].rate *
						  f->vertices[f->items[i].at].cost.hi;
	qsort(shares, b->n_classes, sizeof *shares, compare_shares);
	while (n < b->n_classes && shares[n].cost > 0)
		n++;
	for (size_t i = 0; i < n && i < NAMED && !rc; i++)
		rc = fit_str_printf(&list, "%s%s %.6g", i ? ", " : "", b->classes[shares[i].class].name,
				    shares[i].cost);
	if (!rc && n > NAMED)
		rc = fit_str_printf(&list, ", and %zu more", n - NAMED);
	free(shares);
	if (rc) {
		fit_str_release(&list);
		return fit_fail_nomem(err);
	}
	fit_format_double(given, budget);
	fit_format_double(least, f->budget[0]);
	rc = fit_fail(err, FIT_EDATA,
		      "infeasible budget '%s' (expected at least %s: %s at their cheapest widths)", given,
		      least, list.s ? list.s : "nothing");
	fit_str_release(&list);
	return rc;
}

/* ---- the mixed optimum ---- */

int fit_boa_solve(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		  double budget, struct fit_err *err)
{
	size_t e = fit_boa_breakpoint(f, budget), n = 0, mixed = FIT_NO_WIDTH;
	size_t *classes = NULL;
	uint32_t *at = NULL;
	double theta = 0;
	int rc = fit_boa_feasible(b, f, budget, err);

	*s = (struct fit_boa_solution){ .method = FIT_BOA_MIXED, .budget = budget };
	if (rc)
		return rc;
	if (e < f->n_edges && budget > f->budget[e])
		theta = fmin((budget - f->budget[e]) / f->edges[e].cost, 1);
	if (theta > 0)
		mixed = f->items[f->edges[e].item].class_no;
	classes = calloc(b->n_classes + 2, sizeof *classes);
	rc = classes ? fit_boa_vertices_at(f, e, &at, err) : fit_fail_nomem(err);
	if (rc)
		goto out;
	for (size_t i = 0; i < b->n_classes; i++) {
		classes[n++] = i;
		if (i == mixed)
			classes[n++] = i;
	}
	rc = fit_boa_plans_new(s, b, classes, n, err);
	for (size_t i = 0; i < n && !rc; i++) {
		size_t class = s->plans[i].class_no;

		fit_boa_widths_at(b, f, at, class, s->plans[i].widths);
		if (class != mixed)
			continue;
		s->plans[i++].share = 1 - theta;
		at[f->edges[e].item]++;
		fit_boa_widths_at(b, f, at, class, s->plans[i].widths);
		s->plans[i].share = theta;
	}
	if (!rc && mixed != FIT_NO_WIDTH) {
		const struct fit_boa_item *item = &f->items[f->edges[e].item];

		s->mixed_class = mixed;
		s->share_hi = theta;
		if (b->by_path) {
			s->vertex_lo = f->edges[e].from;
			s->vertex_hi = s->vertex_lo + 1;
		} else {
			s->mixed_epoch = item->epoch - b->classes[mixed].at;
			s->width_lo = f->vertices[item->at + f->edges[e].from].ref;
			s->width_hi = f->vertices[item->at + f->edges[e].from + 1].ref;
		}
	}
	if (!rc)
		rc = fit_boa_appraise(s, b, f, err);
out:
	free(classes);
	free(at);
	if (rc)
		fit_boa_solution_release(s);
	return rc;
}
