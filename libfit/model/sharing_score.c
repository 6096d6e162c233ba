/* SPDX-License-Identifier: MIT */
#include "libfit/model/sharing_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/rng.h"

#define MANY_FOLDS 5
#define SHUFFLES 10
#define SPLITS 200
#define HELD_OUT 0.3

const char *const fit_score_features_names[] = { "alone", "alone+speed", "alone+speed+label", NULL };
const char *const fit_score_method_names[] = { "training", "leave-one-out", "leave-app-out", "5-fold x 10",
					       "70/30 x 200", NULL };
static char *const class_names[] = { (char *)(uintptr_t)"0", (char *)(uintptr_t)"1", (char *)(uintptr_t)"2" };

void fit_score_measure(const struct fit_colocation *c, struct fit_score_measured *out)
{
	for (size_t i = 0; i < c->n_configs; i++)
		out[i] = (struct fit_score_measured){ 0, 0, -1 };
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct fit_colo_pair *p = &c->pairs[i];

		out[p->a].sides++;
		out[p->a].speed += p->speed_a;
		out[p->b].sides++;
		out[p->b].speed += p->speed_b;
	}
	for (size_t i = 0; i < c->n_configs; i++) {
		struct fit_score_measured *m = &out[i];

		m->speed = m->sides ? rint(m->speed / (double)m->sides * 1000) / 1000 : (double)NAN;
		if (m->sides)
			m->label = m->speed < 0.85 ? 2 : m->speed < 0.95 ? 1 : 0;
	}
}

/* ---- rows ---- */

static size_t width(enum fit_score_features f)
{
	return f == FIT_SCORE_ALONE ? 4 : f == FIT_SCORE_SPEED ? 5 : 6;
}

/* A configuration that was never measured beside another one has speed and label 0, as published. */
static void fill_row(const struct fit_colo_config *k, const struct fit_score_measured *m, double x[6])
{
	x[0] = (double)k->amp;
	x[1] = k->gpu_util_pct;
	x[2] = k->mem_util_pct;
	x[3] = k->fb_used_mib;
	x[4] = m->sides ? m->speed : 0;
	x[5] = m->sides ? (double)m->label : 2;
}

int fit_score_data_init(struct fit_score_data *d, const struct fit_colocation *c,
			const struct fit_score_measured *m, enum fit_score_features f, struct fit_err *err)
{
	static const char *const names[] = { "amp", "gpu_util_pct", "mem_util_pct", "fb_used_mib", "speed",
					     "speed_label" };
	size_t n = c->n_configs ? c->n_configs : 1, at = 0;

	*d = (struct fit_score_data){ .n = 0 };
	d->values = calloc(6 * n, sizeof *d->values);
	d->y = calloc(n, sizeof *d->y);
	d->config = calloc(n, sizeof *d->config);
	d->names = calloc(1, 200);
	if (!d->values || !d->y || !d->config || !d->names)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < c->n_configs; i++) {
		double x[6];

		fill_row(&c->configs[i], &m[i], x);
		if (c->configs[i].label < 0 || isnan(x[1] + x[2] + x[3]))
			continue;
		for (size_t k = 0; k < 6; k++)
			d->values[k * n + d->n] = x[k];
		d->config[d->n] = (uint32_t)i;
		d->y[d->n++] = (double)c->configs[i].label;
	}
	if (!d->n)
		return fit_fail(err, FIT_EDATA, "no configuration has a label, utilisations and memory");
	for (size_t k = 0; k < width(f); k++) {
		d->columns[k] = d->values + k * n;
		d->features[k].name = d->names + at;
		memcpy(d->names + at, names[k], strlen(names[k]) + 1);
		at += strlen(names[k]) + 1;
	}
	d->data = (struct fit_tree_data){ .n_rows = d->n, .n_features = width(f), .n_classes = 3,
					  .features = d->features, .classes = class_names, .x = d->columns,
					  .y = d->y };
	return FIT_OK;
}

void fit_score_data_release(struct fit_score_data *d)
{
	free(d->values);
	free(d->y);
	free(d->config);
	free(d->names);
	*d = (struct fit_score_data){ .n = 0 };
}

/* ---- evaluation ---- */

/* Grow a tree from rows of weight 1 and predict those that are held out (or all, for training). */
static int one_split(const struct fit_score_data *d, const double *w, bool training,
		     struct fit_score_tally *t, int64_t *predicted, struct fit_err *err)
{
	struct fit_tree_params p = fit_tree_params_default(FIT_TREE_GINI);
	struct fit_tree_data data = d->data;
	struct fit_tree tree = { 0 };
	int64_t n = 0, right = 0;
	double accuracy;
	int rc;

	data.w = w;
	rc = fit_tree_train(&tree, &data, &p, err);
	for (size_t i = 0; i < d->n && !rc; i++) {
		double x[6];
		int64_t label;

		if (!training && w[i] > 0)
			continue;
		for (size_t k = 0; k < data.n_features; k++)
			x[k] = data.x[k][i];
		label = (int64_t)tree.nodes[fit_tree_leaf(&tree, x)].value;
		if (predicted)
			predicted[i] = label;
		n++;
		right += label == (int64_t)d->y[i];
	}
	fit_tree_release(&tree);
	if (rc || !n)
		return rc;
	accuracy = (double)right / (double)n;
	t->least = t->splits && t->least < accuracy ? t->least : accuracy;
	t->most = t->splits && t->most > accuracy ? t->most : accuracy;
	t->splits++;
	t->predicted += n;
	t->right += right;
	return FIT_OK;
}

static void shuffle(gsl_rng *r, uint32_t *a, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)gsl_rng_uniform_int(r, i);
		uint32_t x = a[i - 1];

		a[i - 1] = a[k];
		a[k] = x;
	}
}

struct work {
	const struct fit_score_data *d;
	double *w;
	uint32_t *order;
	gsl_rng *rng;
	struct fit_score_tally *tally;
	int64_t *predicted;
};

/* Rows first to last - 1 of the order are held out. */
static int hold_out(struct work *k, size_t first, size_t last, struct fit_err *err)
{
	for (size_t i = 0; i < k->d->n; i++)
		k->w[k->order[i]] = i >= first && i < last ? 0 : 1;
	return one_split(k->d, k->w, false, k->tally, k->predicted, err);
}

static int leave_app_out(struct work *k, const struct fit_colocation *c, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < k->d->n && !rc; i++) {
		const char *app = c->configs[k->d->config[i]].app;
		bool first = true;

		for (size_t j = 0; j < k->d->n; j++) {
			bool same = strcmp(c->configs[k->d->config[j]].app, app) == 0;

			k->w[j] = !same;
			first = first && (j >= i || !same);
		}
		if (first)
			rc = one_split(k->d, k->w, false, k->tally, k->predicted, err);
	}
	return rc;
}

static int many_folds(struct work *k, struct fit_err *err)
{
	int rc = FIT_OK;

	for (int s = 0; s < SHUFFLES && !rc; s++) {
		shuffle(k->rng, k->order, k->d->n);
		for (size_t f = 0; f < MANY_FOLDS && !rc; f++)
			rc = hold_out(k, f * k->d->n / MANY_FOLDS, (f + 1) * k->d->n / MANY_FOLDS, err);
	}
	return rc;
}

static int many_splits(struct work *k, struct fit_err *err)
{
	size_t n = (size_t)ceil(HELD_OUT * (double)k->d->n);
	int rc = FIT_OK;

	for (int s = 0; s < SPLITS && !rc; s++) {
		shuffle(k->rng, k->order, k->d->n);
		rc = hold_out(k, 0, n, err);
	}
	return rc;
}

int fit_score_evaluate(const struct fit_score_data *d, const struct fit_colocation *c,
		       enum fit_score_method method, uint64_t seed, struct fit_score_tally *tally,
		       int64_t *predicted, struct fit_err *err)
{
	struct work k = { .d = d, .tally = tally, .predicted = predicted,
			  .w = malloc(d->n * sizeof *k.w), .order = malloc(d->n * sizeof *k.order),
			  .rng = fit_rng_new(seed, "lucid/score") };
	int rc = k.w && k.order && k.rng ? FIT_OK : fit_fail_nomem(err);

	*tally = (struct fit_score_tally){ 0, 0, 0, 0, 0 };
	for (size_t i = 0; i < d->n && !rc; i++) {
		k.order[i] = (uint32_t)i;
		k.w[i] = 1;
	}
	if (!rc && method != FIT_SCORE_TRAINING && d->n < MANY_FOLDS)
		rc = fit_fail(err, FIT_EDATA, "%zu configurations with a label (expected %d at least)", d->n, MANY_FOLDS);
	if (!rc && method == FIT_SCORE_TRAINING)
		rc = one_split(d, k.w, true, tally, predicted, err);
	for (size_t i = 0; i < d->n && !rc && method == FIT_SCORE_LEAVE_ONE_OUT; i++)
		rc = hold_out(&k, i, i + 1, err);
	if (!rc && method == FIT_SCORE_LEAVE_APP_OUT)
		rc = leave_app_out(&k, c, err);
	if (!rc && method == FIT_SCORE_FOLDS)
		rc = many_folds(&k, err);
	if (!rc && method == FIT_SCORE_SPLITS)
		rc = many_splits(&k, err);
	free(k.w);
	free(k.order);
	if (k.rng)
		gsl_rng_free(k.rng);
	return rc;
}
