/* SPDX-License-Identifier: MIT */
#include "libfit/model/boa_certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/boa.h"

/* Of boa.h only the struct of a price and FIT_BOA_SLACK are used. */

struct problem {
	const struct fit_speedups *s;
	const struct fit_boa_classes *classes;
	const struct fit_boa_plan_table *plans;
	double budget, mu, tolerance;
	double *prices;			/* by type of the speedups */
	size_t *type_of;		/* type of the plans -> type of the speedups */
	bool charge_start, rescale, by_class;
	struct fit_boa_class_row *rows;	/* by type: what the class in question has there */
};

/* ---- settings ---- */

static int meta_number(const struct fit_boa_plan_table *p, const char *key, const char *option, double given,
		       double *v, struct fit_err *err)
{
	const char *text = fit_meta_get(&p->meta, key);

	*v = given;
	if (given >= 0)
		return FIT_OK;
	if (!text)
		return fit_fail(err, FIT_EDATA, "%s: no '%s' in the metadata (expected it there, or --%s)",
				p->input, key, option);
	if (fit_parse_double(fit_text_of(text), v) || !(*v >= 0))
		return fit_fail(err, FIT_EDATA, "%s: bad value '%s' of '%s' in the metadata (expected a "
				"number, 0 or more)", p->input, text, key);
	return FIT_OK;
}

static bool meta_is(const struct fit_boa_plan_table *p, const char *key, const char *value)
{
	const char *text = fit_meta_get(&p->meta, key);

	return text && strcmp(text, value) == 0;
}

/* "t4=0.526,v100=3.06" at the type of that name; 0: it is not there, or not a price. */
static double price_in(const char *list, const char *type)
{
	size_t n = strlen(type);

	while (*list) {
		size_t len = strcspn(list, ",");
		double v;

		if (len > n && strncmp(list, type, n) == 0 && list[n] == '=' &&
		    !fit_parse_double((struct fit_text){ list + n + 1, len - n - 1 }, &v))
			return v;
		list += len + (list[len] == ',');
	}
	return 0;
}

static int take_prices(struct problem *p, const struct fit_boa_certify_params *params, struct fit_err *err)
{
	const char *list = fit_meta_get(&p->plans->meta, "gpu_prices");

	for (size_t t = 0; t < p->s->n_types; t++) {
		const char *name = p->s->types[t];

		p->prices[t] = params->n_prices || list ? 0 : 1;
		if (!params->n_prices && list)
			p->prices[t] = price_in(list, name);
		for (size_t i = 0; i < params->n_prices; i++)
			if (strcmp(params->prices[i].type, name) == 0)
				p->prices[t] = params->prices[i].price;
		if (!(p->prices[t] > 0))
			return name[0] ? fit_fail(err, FIT_EDATA, "no price of GPU type '%s'", name)
				       : fit_fail(err, FIT_EDATA, "no price of GPUs without a type "
						  "(expected one, without TYPE=)");
	}
	for (size_t i = 0; i < p->plans->n_types; i++) {
		size_t t = 0;

		while (t < p->s->n_types && strcmp(p->s->types[t], p->plans->types[i]) != 0)
			t++;
		if (t == p->s->n_types)
			return fit_fail(err, FIT_EDATA, "%s: GPU type '%s' has no speedups",
					p->plans->input, p->plans->types[i]);
		p->type_of[i] = t;
	}
	return FIT_OK;
}

/* ---- one class ---- */

static double kappa_of(const struct problem *p, const struct fit_width *w)
{
	return p->prices[w->type] * (double)w->gpus;
}

static bool allowed(const struct problem *p, const struct fit_width *w)
{
	return fit_width_usable(w) && w->gpus >= p->rows[w->type].min_gpus;
}

static double rescale_of(const struct problem *p, int type)
{
	return p->rescale ? p->rows[type].rescale_s : 0;
}

/* The fastest of these GPUs in an epoch, or NULL. */
static const struct fit_width *find_width(const struct problem *p, const struct fit_speedup_epoch *e,
					  size_t type, int64_t gpus)
{
	const struct fit_width *best = NULL;

	for (size_t k = e->at; k < e->at + e->n; k++) {
		const struct fit_width *w = &p->s->widths[k];

		if ((size_t)w->type == type && w->gpus == gpus && allowed(p, w) &&
		    (!best || w->speed > best->speed))
			best = w;
	}
	return best;
}

/* Least (weight + mu kappa) / s of an epoch. */
static double least_in_epoch(const struct problem *p, const struct fit_speedup_epoch *e, double weight)
{
	double best = (double)INFINITY;

	for (size_t k = e->at; k < e->at + e->n; k++)
		if (allowed(p, &p->s->widths[k]))
			best = fmin(best, (weight + p->mu * kappa_of(p, &p->s->widths[k])) /
						  p->s->widths[k].speed);
	return best;
}

struct state {
	int type;
	int64_t gpus;
	double next;	/* least value of all epochs behind, this width in the one before */
	double here;
};

static int compare_states(const void *pa, const void *pb)
{
	const struct state *a = pa, *b = pb;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->gpus > b->gpus) - (a->gpus < b->gpus);
}

/* Least w T + mu C of a job, from its last epoch to its first: the rest costs what it costs on
 * this width, or on another one and the change to it. Type -1: any. */
static int least_path(const struct problem *p, const struct fit_speedup_class *c, double weight, int type,
		      double *least, struct fit_err *err)
{
	struct state *states = NULL;
	size_t n = 0, cap = 0, m = 0;

	*least = (double)INFINITY;
	for (size_t j = c->at; j < c->at + c->n; j++)
		for (size_t k = p->s->epochs[j].at; k < p->s->epochs[j].at + p->s->epochs[j].n; k++) {
			const struct fit_width *w = &p->s->widths[k];

			if ((type >= 0 && w->type != type) || !allowed(p, w))
				continue;
			if (fit_grow(&states, &cap, n + 1, sizeof *states)) {
				free(states);
				return fit_fail_nomem(err);
			}
			states[n++] = (struct state){ w->type, w->gpus, 0, 0 };
		}
	if (n)
		qsort(states, n, sizeof *states, compare_states);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || compare_states(&states[i], &states[m - 1]) != 0)
			states[m++] = states[i];
	for (size_t j = c->n; j-- > 0 && m > 0;) {
		const struct fit_speedup_epoch *e = &p->s->epochs[c->at + j];
		double move = (double)INFINITY;
		size_t k = e->at;

		for (size_t i = 0; i < m; i++) {
			struct state *at = &states[i];
			double unit = weight + p->mu * (p->prices[at->type] * (double)at->gpus);
			struct fit_width w = { .type = at->type, .gpus = at->gpus };

			/* widths are sorted alike; of equal ones the fastest comes first */
			while (k < e->at + e->n && (p->s->widths[k].type < w.type ||
						    (p->s->widths[k].type == w.type &&
						     p->s->widths[k].gpus < w.gpus)))
				k++;
			at->here = (double)INFINITY;
			if (k < e->at + e->n && p->s->widths[k].type == w.type &&
			    p->s->widths[k].gpus == w.gpus && allowed(p, &p->s->widths[k]))
				at->here = e->work / p->s->widths[k].speed * unit + at->next;
			if (j > 0 || p->charge_start)
				move = fmin(move, at->here + rescale_of(p, at->type) * unit);
			else
				move = fmin(move, at->here);
		}
		for (size_t i = 0; i < m; i++)
			states[i].next = fmin(states[i].here, move);
		if (j == 0)
			*least = move;
	}
	free(states);
	return FIT_OK;
}

/* ---- sums ---- */

struct sums {
	struct fit_dd cost, time, bound;	/* summed over classes: lambda C, lambda w T, lambda min */
	double total;
	double unusable, changes, share, excess;	/* worst cases */
	size_t changes_class, changes_epoch;
	size_t unusable_class, unusable_epoch, unusable_gpus;
	size_t share_class;
	size_t excess_class, excess_epoch, excess_gpus;
	size_t candidates;
};

static void worst_excess(struct sums *t, double value, double least, size_t class, size_t epoch, size_t gpus)
{
	double excess = least > 0 ? value / least - 1 : 0;

	if (excess > t->excess) {
		t->excess = excess;
		t->excess_class = class;
		t->excess_epoch = epoch;
		t->excess_gpus = gpus;
	}
}

/* One plan: rows [at, at + n) of the table. */
static void add_plan(const struct problem *p, struct sums *t, size_t class,
		     const struct fit_boa_plan_row *row, double rate, double weight, double least_of_class)
{
	const struct fit_speedup_class *c = &p->s->classes[class];
	struct fit_dd time = { 0, 0 }, cost = { 0, 0 }, share = fit_two_prod(rate, row->share);
	bool by_path = p->rescale || p->by_class;

	for (size_t j = 0; j < c->n; j++) {
		const struct fit_speedup_epoch *e = &p->s->epochs[c->at + j];
		size_t type = p->type_of[row[j].type];
		const struct fit_width *w = find_width(p, e, type, row[j].gpus);
		struct fit_dd dt;
		double unit;

		if (!w) {
			t->unusable++;
			t->unusable_class = class;
			t->unusable_epoch = j;
			t->unusable_gpus = (size_t)row[j].gpus;
			continue;
		}
		if (p->by_class && j > 0 && row[j].type != row[j - 1].type) {
			t->changes++;
			t->changes_class = class;
			t->changes_epoch = j;
		}
		dt = fit_dd_div(fit_dd_of(e->work), fit_dd_of(w->speed));
		if (j > 0 ? row[j].gpus != row[j - 1].gpus || row[j].type != row[j - 1].type :
			    p->charge_start)
			dt = fit_dd_add(dt, fit_dd_of(rescale_of(p, w->type)));
		time = fit_dd_add(time, dt);
		cost = fit_dd_add(cost, fit_dd_mul(dt, fit_two_prod(p->prices[type], (double)w->gpus)));
		unit = weight + p->mu * kappa_of(p, w);
		if (!by_path && e->work > 0 && rate > 0 && row->share > 0)
			worst_excess(t, unit / w->speed, least_in_epoch(p, e, weight), class, j,
				     (size_t)w->gpus);
	}
	if (by_path && rate > 0 && row->share > 0)
		worst_excess(t, weight * fit_dd_value(time) + p->mu * fit_dd_value(cost), least_of_class,
			     class, FIT_NO_WIDTH, FIT_NO_WIDTH);
	t->cost = fit_dd_add(t->cost, fit_dd_mul(cost, share));
	t->time = fit_dd_add(t->time, fit_dd_scale(fit_dd_mul(time, share), weight));
}

static int least_of(const struct problem *p, const struct fit_speedup_class *c, double weight, double *least,
		    struct fit_err *err)
{
	int rc = FIT_OK;

	if (!p->rescale && !p->by_class) {
		struct fit_dd sum = { 0, 0 };

		for (size_t j = c->at; j < c->at + c->n; j++)
			if (p->s->epochs[j].work > 0)
				sum = fit_dd_add(sum, fit_two_prod(p->s->epochs[j].work,
								   least_in_epoch(p, &p->s->epochs[j],
										  weight)));
		*least = fit_dd_value(sum);
		return FIT_OK;
	}
	*least = (double)INFINITY;
	for (int t = p->by_class ? 0 : -1; t < (p->by_class ? (int)p->s->n_types : 0) && !rc; t++) {
		double v;

		rc = least_path(p, c, weight, t, &v, err);
		*least = fmin(*least, v);
	}
	return rc;
}

/* Class i of the speedups, whose rows of the plans are [at, at + n). */
static int add_class(struct problem *p, struct sums *t, size_t i, size_t at, size_t n, struct fit_err *err)
{
	const struct fit_speedup_class *c = &p->s->classes[i];
	const struct fit_boa_plan_row *rows = p->plans->rows + at;
	double rate, weight, least, sum = 0;
	int rc;

	for (size_t k = 0; k < p->s->n_types; k++)
		if (!fit_boa_classes_find(p->classes, fit_text_of(c->name), fit_text_of(p->s->types[k]),
					  &p->rows[k]))
			return fit_fail(err, FIT_EDATA, "class '%s' has no row in the table of classes",
					c->name);
	rate = p->rows[0].rate;
	weight = p->rows[0].weight;
	if (n != c->n && n != 2 * c->n)
		return fit_fail(err, FIT_EDATA, "%s: class '%s': %zu rows of plans (expected one or two for "
				"each of %zu epochs)", p->plans->input, c->name, n, c->n);
	rc = least_of(p, c, weight, &least, err);
	if (rc)
		return rc;
	for (size_t k = 0; k < n; k += c->n) {
		add_plan(p, t, i, rows + k, rate, weight, least);
		sum += rows[k].share;
	}
	if (fabs(sum - 1) > t->share) {
		t->share = fabs(sum - 1);
		t->share_class = i;
	}
	if (rate > 0)
		t->bound = fit_dd_add(t->bound, fit_two_prod(rate, least));
	t->total += rate * weight;
	for (size_t j = c->at; j < c->at + c->n; j++)
		t->candidates += p->s->epochs[j].n;
	return FIT_OK;
}

/* ---- the checks ---- */

static void add_check(struct fit_boa_certificate *c, const char *name, double value, double limit,
		      bool judged, size_t class, size_t epoch, size_t gpus)
{
	c->checks[c->n++] = (struct fit_boa_check){ name, value, limit, judged, value <= limit,
						    class, epoch, gpus };
}

static void judge(struct fit_boa_certificate *c, const struct problem *p, const struct sums *t)
{
	const size_t none = FIT_NO_WIDTH;
	double cost = fit_dd_value(t->cost), jct = fit_dd_value(t->time) / t->total;
	double bound = fit_dd_value(fit_dd_sub(t->bound, fit_two_prod(p->mu, p->budget))) / t->total;
	double slack = p->mu * fmax(p->budget - cost, 0) / (t->total * jct);

	c->n = 0;
	add_check(c, "shares", t->share, FIT_BOA_SHARE_SLACK, true, t->share_class, none, none);
	add_check(c, "unusable-widths", t->unusable, 0, true, t->unusable_class, t->unusable_epoch,
		  t->unusable_gpus);
	add_check(c, "type-changes", t->changes, 0, true, t->changes_class, t->changes_epoch, none);
	add_check(c, "over-budget", fmax(cost / p->budget - 1, 0), FIT_BOA_SLACK, true, none, none, none);
	add_check(c, "negative-price", fmax(-p->mu, 0), 0, true, none, none, none);
	add_check(c, "slackness", slack, p->tolerance, true, none, none, none);
	/* single plans are not stationary, and need not be: what counts is their gap */
	add_check(c, "stationarity", t->excess, p->tolerance, p->tolerance <= 1e-9, t->excess_class,
		  t->excess_epoch, t->excess_gpus);
	add_check(c, "gap", bound > 0 ? jct / bound - 1 : (double)INFINITY, p->tolerance, true, none, none,
		  none);
	/* what is below the bound breaks a rule that was not seen */
	if (!(jct >= bound * (1 - FIT_BOA_SLACK)))
		c->checks[c->n - 1].holds = false;
	add_check(c, "cost", cost, 0, false, none, none, none);
	add_check(c, "mean_jct_s", jct, 0, false, none, none, none);
	add_check(c, "bound_s", bound, 0, false, none, none, none);
	add_check(c, "candidates", (double)t->candidates, 0, false, none, none, none);
}

static int check_names(const struct problem *p, struct fit_err *err)
{
	const struct fit_speedups *s = p->s;

	for (size_t i = 0; i < p->plans->n_classes; i++)
		if (!fit_speedups_find(s, fit_text_of(p->plans->classes[i])))
			return fit_fail(err, FIT_EDATA, "%s: class '%s' has no speedups", p->plans->input,
					p->plans->classes[i]);
	/* both are in byte order */
	for (size_t i = 0; i < s->n_classes; i++)
		if (i >= p->plans->n_classes || strcmp(s->classes[i].name, p->plans->classes[i]) != 0)
			return fit_fail(err, FIT_EDATA, "%s: class '%s' has no plan", p->plans->input,
					s->classes[i].name);
	return FIT_OK;
}

int fit_boa_certify(struct fit_boa_certificate *c, const struct fit_boa_plan_table *plans,
		    const struct fit_speedups *s, const struct fit_boa_classes *classes,
		    const struct fit_boa_certify_params *params, struct fit_err *err)
{
	struct problem p = { .s = s, .classes = classes, .plans = plans, .tolerance = params->tolerance };
	struct sums t = { .share_class = FIT_NO_WIDTH, .changes_class = FIT_NO_WIDTH,
			  .changes_epoch = FIT_NO_WIDTH, .unusable_class = FIT_NO_WIDTH,
			  .unusable_epoch = FIT_NO_WIDTH, .unusable_gpus = FIT_NO_WIDTH,
			  .excess_class = FIT_NO_WIDTH, .excess_epoch = FIT_NO_WIDTH,
			  .excess_gpus = FIT_NO_WIDTH };
	int rc;

	*c = (struct fit_boa_certificate){ 0 };
	p.prices = calloc(s->n_types + 1, sizeof *p.prices);
	p.rows = calloc(s->n_types + 1, sizeof *p.rows);
	p.type_of = calloc(plans->n_types + 1, sizeof *p.type_of);
	p.charge_start = meta_is(plans, "charge_start", "1");
	p.rescale = !meta_is(plans, "rescale", "0");
	p.by_class = meta_is(plans, "routing", "class") && s->n_types > 1;
	rc = p.prices && p.rows && p.type_of ? FIT_OK : fit_fail_nomem(err);
	if (!rc)
		rc = meta_number(plans, "budget", "budget", params->budget, &p.budget, err);
	if (!rc)
		rc = meta_number(plans, "mu", "mu", params->mu, &p.mu, err);
	if (!rc && !(p.budget > 0))
		rc = fit_fail(err, FIT_EDATA, "a budget of 0 (expected a positive number)");
	if (!rc)
		rc = take_prices(&p, params, err);
	if (!rc)
		rc = check_names(&p, err);
	for (size_t i = 0, at = 0, n; i < s->n_classes && !rc; i++, at += n) {
		for (n = 0; at + n < plans->n && plans->rows[at + n].class_no == i;)
			n++;
		rc = add_class(&p, &t, i, at, n, err);
	}
	if (!rc && !(t.total > 0))
		rc = fit_fail(err, FIT_EDATA, "no class has an arrival rate and a weight above 0");
	if (!rc)
		judge(c, &p, &t);
	free(p.prices);
	free(p.rows);
	free(p.type_of);
	return rc;
}
