/* SPDX-License-Identifier: MIT */
#include "libfit/replay/rubick_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fit_rubick_curves_release(struct fit_rubick_curves *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].sizes);
		free(c->list[i].spreads);
	}
	free(c->list);
	*c = (struct fit_rubick_curves){ .n = 0 };
}

/* ---- one node ---- */

/* By the performance model: the first of the fastest plans, in the order in which the published
 * code lists them. */
static void predict_size(const struct fit_plan_times *t, const struct fit_rubick_model *m, int32_t gpus,
			 struct fit_rubick_size *s)
{
	static const char *const names[] = { "zero-offload", "zero-dp", "ga", "gc" };
	double best = -1;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		double x = fit_rubick_samples_per_s(m, fit_rubick_plan_find(fit_text_of(names[i])), gpus);

		if (x > best && x > 0) {
			best = x;
			s->plan = fit_plan_times_plan(t, fit_text_of(names[i]));
		}
	}
	s->speed = best;
	s->gpus = best > 0 ? gpus : 0;
}

static void measured_size(const struct fit_plan_app *a, int32_t gpus, struct fit_rubick_size *s)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->times[i].nodes == 1 && a->times[i].gpus == gpus && 1 / a->times[i].iter_s > s->speed)
			*s = (struct fit_rubick_size){ 1 / a->times[i].iter_s, gpus, a->times[i].plan };
}

static int set_sizes(struct fit_rubick_curve *c, const struct fit_plan_times *t, bool predicted,
		     const struct fit_rubick_model *m, int32_t node_gpus, struct fit_err *err)
{
	c->sizes = malloc(((size_t)node_gpus + 1) * sizeof *c->sizes);
	if (!c->sizes)
		return fit_fail_nomem(err);
	c->most = node_gpus;
	for (int32_t k = 0; k <= node_gpus; k++) {
		struct fit_rubick_size *s = &c->sizes[k];

		*s = (struct fit_rubick_size){ -1, 0, FIT_NO_EXEC_PLAN };
		if (!k || (predicted && !m))
			continue;
		if (m)
			predict_size(t, m, k, s);
		else
			measured_size(c->app, k, s);
		if (k > 1 && s[-1].speed * (1 + FIT_RUBICK_GAIN) >= s->speed)
			*s = s[-1];
	}
	return FIT_OK;
}

/* ---- several nodes ---- */

static bool is_wide(const struct fit_plan_app *a)
{
	double one = (double)INFINITY, more = (double)INFINITY;

	for (size_t i = 0; i < a->n; i++) {
		double *best = a->times[i].nodes == 1 ? &one : &more;

		*best = a->times[i].iter_s < *best ? a->times[i].iter_s : *best;
	}
	return more < one;
}

/* The fastest plan there; speed 0 where none was measured. */
static struct fit_rubick_spread spread_of(const struct fit_rubick_curve *c, const uint8_t *per_node,
					  int32_t nodes)
{
	const struct fit_plan_app *a = c->app;
	struct fit_rubick_spread s = { .nodes = nodes, .plan = FIT_NO_EXEC_PLAN };

	for (int32_t i = 0; i < nodes; i++) {
		s.per_node[nodes - 1 - i] = per_node[i];
		s.gpus += per_node[i];
	}
	for (size_t i = 0; i < a->n; i++)
		if (a->times[i].nodes == nodes && memcmp(a->times[i].per_node, per_node, (size_t)nodes) == 0 &&
		    c->samples / a->times[i].iter_s > s.speed) {
			s.speed = c->samples / a->times[i].iter_s;
			s.plan = a->times[i].plan;
		}
	return s;
}

/* The fastest for each GPU first. */
static int by_yield(const void *pa, const void *pb)
{
	const struct fit_rubick_spread *a = pa, *b = pb;
	double x = a->speed / a->gpus, y = b->speed / b->gpus;

	if (x < y || x > y)
		return x > y ? -1 : 1;
	if (a->gpus != b->gpus)
		return a->gpus < b->gpus ? -1 : 1;
	if (a->nodes != b->nodes)
		return a->nodes < b->nodes ? -1 : 1;
	return memcmp(a->per_node, b->per_node, sizeof a->per_node);
}

/* The placements that a published simulator lists for an application. */
static int listed_spreads(struct fit_rubick_curve *c, const char *const *placements, struct fit_err *err)
{
	size_t n = 0;

	while (placements[n])
		n++;
	c->spreads = calloc(n + 1, sizeof *c->spreads);
	if (!c->spreads)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint8_t per_node[FIT_PLAN_NODES_MAX] = { 0 };
		size_t nodes = strlen(placements[i]);

		for (size_t k = 0; k < nodes; k++)
			per_node[k] = (uint8_t)(placements[i][k] - '0');
		c->spreads[c->n_spreads] = spread_of(c, per_node, (int32_t)nodes);
		c->n_spreads += c->spreads[c->n_spreads].speed > 0;
	}
	return FIT_OK;
}

static int measured_spreads(struct fit_rubick_curve *c, int32_t node_gpus, struct fit_err *err)
{
	const struct fit_plan_app *a = c->app;

	c->spreads = calloc(a->n + 1, sizeof *c->spreads);
	if (!c->spreads)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < a->n; i++) {
		struct fit_rubick_spread s = spread_of(c, a->times[i].per_node, a->times[i].nodes);
		bool there = s.per_node[0] > node_gpus;

		for (size_t k = 0; k < c->n_spreads && !there; k++)
			there = c->spreads[k].nodes == s.nodes &&
				memcmp(c->spreads[k].per_node, s.per_node, sizeof s.per_node) == 0;
		if (!there)
			c->spreads[c->n_spreads++] = s;
	}
	if (c->n_spreads)
		qsort(c->spreads, c->n_spreads, sizeof *c->spreads, by_yield);
	return FIT_OK;
}

/* ---- all ---- */

int fit_rubick_curves_init(struct fit_rubick_curves *c, const struct fit_plan_times *t,
			   const struct fit_rubick_models *models, const struct fit_fidelity *f,
			   int32_t node_gpus, struct fit_err *err)
{
	int rc = FIT_OK;

	*c = (struct fit_rubick_curves){ .list = calloc(t->n_apps + 1, sizeof *c->list) };
	if (!c->list)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < t->n_apps && !rc; i++) {
		struct fit_rubick_curve *k = &c->list[c->n++];
		const struct fit_rubick_spreads *listed = f->rubick_spreads;
		const struct fit_rubick_model *m = models ? fit_rubick_models_find(models, fit_text_of(t->apps[i].name)) :
						   NULL;

		k->app = &t->apps[i];
		k->samples = m && m->batch ? (double)m->batch : 1;
		while (listed && listed->app && strcmp(listed->app, k->app->name) != 0)
			listed++;
		k->wide = listed ? listed->app != NULL : is_wide(k->app);
		if (k->wide)
			rc = listed ? listed_spreads(k, listed->placements, err) : measured_spreads(k, node_gpus, err);
		rc = rc ? rc : set_sizes(k, t, models != NULL, m, node_gpus, err);
		k->reference = m && m->reference_per_s > 0 ? m->reference_per_s : 0;
		for (int32_t g = 0; g <= node_gpus && !rc && !(k->reference > 0); g++)
			k->reference = k->sizes[g].speed > 0 ? k->sizes[g].speed : 0;
		for (size_t s = 0; s < k->n_spreads && !(k->reference > 0); s++)
			k->reference = k->spreads[s].speed;
	}
	if (rc)
		fit_rubick_curves_release(c);
	return rc;
}
