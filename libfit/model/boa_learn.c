/* SPDX-License-Identifier: MIT */
#include "libfit/model/boa_learn.h"

#include <stdlib.h>
#include <string.h>

struct fit_boa_learner {
	struct fit_speedups s;		/* beliefs, and what took their place */
	struct fit_boa_classes classes;
	struct fit_boa_params params;
	struct fit_boa_price *prices;	/* what params points to */
	double budget, least;		/* least: feasible by what was known when last solved */
	bool *known;			/* by width of s */
	bool news;
	uint64_t solved, n_known;
	/* by class of s */
	double *share;
	struct width {
		int64_t gpus;
		size_t type;
	} *widths;			/* plan p of class c in epoch e: widths[2 at + p n + e] */
};

static size_t class_at(const struct fit_boa_learner *l, struct fit_text class)
{
	const struct fit_speedup_class *c = fit_speedups_find(&l->s, class);

	return c ? (size_t)(c - l->s.classes) : SIZE_MAX;
}

static int take_plans(struct fit_boa_learner *l, const struct fit_boa *b,
		      const struct fit_boa_solution *sol)
{
	for (size_t i = 0; i < l->s.n_classes; i++)
		l->share[i] = 0;
	for (size_t i = 0; i < sol->n_plans; i++) {
		const struct fit_boa_plan *p = &sol->plans[i];
		size_t c = class_at(l, fit_text_of(b->classes[p->class_no].name));
		bool second = i > 0 && sol->plans[i - 1].class_no == p->class_no;

		if (c == SIZE_MAX)
			return FIT_EDATA;
		for (size_t e = 0; e < l->s.classes[c].n; e++) {
			const struct fit_width *w = &b->widths[p->widths[e]];

			l->widths[2 * l->s.classes[c].at + (second ? l->s.classes[c].n : 0) + e] =
				(struct width){ w->gpus, (size_t)w->type };
		}
		if (second) {
			l->share[c] = p->share;
			continue;
		}
		/* a class with one plan has it twice, so that nobody has to ask which */
		memcpy(&l->widths[2 * l->s.classes[c].at + l->s.classes[c].n], &l->widths[2 * l->s.classes[c].at],
		       l->s.classes[c].n * sizeof *l->widths);
	}
	return FIT_OK;
}

int fit_boa_learner_solve(struct fit_boa_learner *l, struct fit_err *err)
{
	struct fit_boa_solution sol = { 0 };
	struct fit_boa_frontier f = { 0 };
	struct fit_boa b = { 0 };
	int rc;

	if (!l->news)
		return FIT_OK;
	rc = fit_boa_build(&b, &l->s, &l->classes, &l->params, err);
	rc = rc ? rc : fit_boa_frontier_build(&f, &b, err);
	if (!rc) {
		l->least = f.budget[0];
		rc = fit_boa_solve(&sol, &b, &f, l->budget > l->least ? l->budget : l->least, err);
	}
	if (!rc && take_plans(l, &b, &sol))
		rc = fit_fail(err, FIT_EDATA, "a class of the plans is not in the speedups");
	l->news = rc != FIT_OK;
	l->solved += rc == FIT_OK;
	fit_boa_solution_release(&sol);
	fit_boa_frontier_release(&f);
	fit_boa_release(&b);
	return rc;
}

/* Names of prices last as long as the beliefs do. */
static int keep_params(struct fit_boa_learner *l, const struct fit_boa_params *params, struct fit_err *err)
{
	l->params = *params;
	l->prices = calloc(params->n_prices + 1, sizeof *l->prices);
	if (!l->prices)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < params->n_prices; i++) {
		char *name = fit_strdup(fit_text_of(params->prices[i].type));

		if (!name)
			return fit_fail_nomem(err);
		l->prices[i] = (struct fit_boa_price){ name, params->prices[i].price };
	}
	l->params.prices = l->prices;
	return FIT_OK;
}

int fit_boa_learner_new(struct fit_boa_learner **out, const char *believed, const char *classes,
			double budget,
			const struct fit_boa_params *params, struct fit_err *err)
{
	struct fit_boa_learner *l = calloc(1, sizeof *l);
	int rc;

	*out = NULL;
	if (!l)
		return fit_fail_nomem(err);
	l->budget = budget;
	l->news = true;
	rc = keep_params(l, params, err);
	rc = rc ? rc : fit_speedups_read(&l->s, believed, false, err);
	rc = rc ? rc : fit_boa_classes_read(&l->classes, classes, err);
	if (!rc) {
		l->known = calloc(l->s.n_widths + 1, sizeof *l->known);
		l->share = calloc(l->s.n_classes + 1, sizeof *l->share);
		l->widths = calloc(2 * l->s.n_epochs + 1, sizeof *l->widths);
		if (!l->known || !l->share || !l->widths)
			rc = fit_fail_nomem(err);
	}
	rc = rc ? rc : fit_boa_learner_solve(l, err);
	if (rc)
		fit_boa_learner_free(l);
	else
		*out = l;
	return rc;
}

void fit_boa_learner_free(struct fit_boa_learner *l)
{
	if (!l)
		return;
	fit_speedups_release(&l->s);
	fit_boa_classes_release(&l->classes);
	free(l->known);
	free(l->share);
	free(l->widths);
	for (size_t i = 0; l->prices && i < l->params.n_prices; i++)
		free((void *)(uintptr_t)l->prices[i].type);
	free(l->prices);
	free(l);
}

size_t fit_boa_learner_n_types(const struct fit_boa_learner *l)
{
	return l->s.n_types;
}

const char *fit_boa_learner_type(const struct fit_boa_learner *l, size_t type)
{
	return l->s.types[type];
}

size_t fit_boa_learner_find_type(const struct fit_boa_learner *l, const char *name)
{
	for (size_t i = 0; i < l->s.n_types; i++)
		if (l->s.n_types == 1 || strcmp(l->s.types[i], name) == 0)
			return i;
	return SIZE_MAX;
}

void fit_boa_learner_observe(struct fit_boa_learner *l, struct fit_text class, int64_t epoch, size_t type,
			     int64_t gpus, double speed)
{
	size_t c = class_at(l, class);
	const struct fit_speedup_epoch *e;

	if (c == SIZE_MAX || epoch < 0 || (size_t)epoch >= l->s.classes[c].n || !(speed > 0))
		return;
	e = &l->s.epochs[l->s.classes[c].at + (size_t)epoch];
	for (size_t i = e->at; i < e->at + e->n; i++) {
		if (l->s.widths[i].gpus != gpus || (size_t)l->s.widths[i].type != type || l->known[i])
			continue;
		l->known[i] = true;
		l->n_known++;
		l->news = l->news || speed > l->s.widths[i].speed || speed < l->s.widths[i].speed;
		l->s.widths[i].speed = speed;
	}
}

int64_t fit_boa_learner_epochs(const struct fit_boa_learner *l, struct fit_text class)
{
	size_t c = class_at(l, class);

	return c == SIZE_MAX ? -1 : (int64_t)l->s.classes[c].n;
}

double fit_boa_learner_share(const struct fit_boa_learner *l, struct fit_text class)
{
	size_t c = class_at(l, class);

	return c == SIZE_MAX ? 0 : l->share[c];
}

int64_t fit_boa_learner_width(const struct fit_boa_learner *l, struct fit_text class, int plan, int64_t epoch,
			      size_t *type)
{
	size_t c = class_at(l, class);
	const struct width *w;

	if (c == SIZE_MAX || epoch < 0 || (size_t)epoch >= l->s.classes[c].n)
		return 0;
	w = &l->widths[2 * l->s.classes[c].at + (plan ? l->s.classes[c].n : 0) + (size_t)epoch];
	if (type)
		*type = w->type;
	return w->gpus;
}

const char *fit_boa_learner_hash(const struct fit_boa_learner *l)
{
	return l->s.hash;
}

const char *fit_boa_learner_hash_classes(const struct fit_boa_learner *l)
{
	return l->classes.hash;
}

uint64_t fit_boa_learner_solved(const struct fit_boa_learner *l)
{
	return l->solved;
}

uint64_t fit_boa_learner_known(const struct fit_boa_learner *l)
{
	return l->n_known;
}

const struct fit_boa_params *fit_boa_learner_params(const struct fit_boa_learner *l)
{
	return &l->params;
}

double fit_boa_learner_budget(const struct fit_boa_learner *l)
{
	return l->budget;
}

double fit_boa_learner_least(const struct fit_boa_learner *l)
{
	return l->least;
}
