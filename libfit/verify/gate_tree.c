/* SPDX-License-Identifier: MIT */
/* The model gate on decision trees (model/tree.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/training.h"
#include "libfit/model/tree.h"
#include "libfit/verify/gate_kind.h"

static bool is(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	return strcmp(table, "tree") == 0 || (has(arg, "criterion") && has(arg, "n_nodes") &&
					      has(arg, "n_leaves"));
}

static bool is_json(struct fit_text bytes)
{
	return strstr(bytes.s, "\"nodes\"") || strstr(bytes.s, "\"children_left\"");
}

static void free_tree(void *model)
{
	if (model)
		fit_tree_release(model);
	free(model);
}

/* Parameters that it names must be some. */
static int says_training(const struct fit_tree *t, const char *operand, struct fit_err *err)
{
	struct fit_tree_params p = fit_tree_params_default(t->criterion);
	struct fit_tree_pruned pruned;
	struct fit_err why;

	if (fit_tree_trained(t, &p, &pruned, &why))
		return fit_fail(err, FIT_EDATA, "%s: %s", operand, why.msg);
	return FIT_OK;
}

static int load(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	struct fit_tree *t = calloc(1, sizeof *t);
	struct fit_reader *r = NULL;
	int rc = t ? FIT_OK : fit_fail_nomem(err);

	if (!rc && s->json) {
		rc = fit_tree_read_json(t, s->name, s->bytes.s, s->bytes.n, err);
	} else if (!rc) {
		rc = fit_gate_source_reader(s, &r, err);
		rc = rc ? rc : fit_tree_read_from(t, r, err);
		if (!rc && !*s->hash)
			fit_reader_hash(r, s->hash);
		fit_reader_close(r);
	}
	if (!rc && (rc = says_training(t, s->operand, err)) != FIT_OK)
		fit_tree_release(t);
	if (rc) {
		free(t);
		return rc;
	}
	*model = t;
	return FIT_OK;
}

/* ---- rows ---- */

/* The code of a cell: its level, -1 where training did not see it, NAN where it is missing. A number may be
 * written in another way than in training. */
static double level_of(const struct fit_tree_feature *f, const struct fit_column *c, size_t row)
{
	char buf[40];
	struct fit_text t = fit_gate_text(c, row, buf);

	return t.s ? fit_tree_code(f, t) : (double)NAN;
}

static double class_of(const struct fit_tree *t, const struct fit_column *c, size_t row)
{
	char buf[40];
	struct fit_text name = fit_gate_text(c, row, buf);

	for (size_t k = 0; name.s && k < t->n_classes; k++)
		if (fit_text_is(name, t->classes[k]))
			return (double)k;
	return name.s ? -1 : (double)NAN;
}

static int take_target(const struct fit_tree *t, const struct fit_table *table, const char *target,
		       bool measured, struct fit_gate_set *s, struct fit_err *err)
{
	const char *name = target ? target : t->target;
	const struct fit_column *c = name ? fit_table_column(table, name) : NULL;

	if (!c && measured)
		return name ? fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", table->input, name) :
		       fit_fail(err, FIT_EINVAL,
				"the tree does not say what it predicts (expected --target)");
	if (!c)
		for (size_t i = 0; i < s->n; i++)
			s->y[i] = (double)NAN;
	else if (!t->n_classes)
		return fit_gate_set_numbers(s, SIZE_MAX, table, c, err);
	else
		for (size_t i = 0; i < s->n; i++)
			s->y[i] = class_of(t, c, i);
	return FIT_OK;
}

/* What rows counted in training: a column, and their class. */
static int take_weights(const struct fit_tree *t, const struct fit_table *table, struct fit_gate_set *s,
			struct fit_err *err)
{
	const char *name = fit_meta_get(&t->training, FIT_TREE_TRAINED_WEIGHT);
	const char **items = malloc((t->training.n + 1) * sizeof *items);
	const struct fit_column *c;
	struct fit_err why;
	size_t n = 0;
	int rc = items ? FIT_OK : fit_fail_nomem(err);

	if (!rc && name)
		rc = fit_gate_column(table, name, &c, err);
	if (!rc && name)
		rc = fit_gate_set_weights(s, table, c, err);
	while (!rc && (items[n] = fit_trained_text(&t->training, FIT_TREE_TRAINED_CLASS_WEIGHT, n)))
		n++;
	if (!rc && n && !s->w && !(s->w = malloc((s->n + 1) * sizeof *s->w)))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < s->n && !rc && n && !name; i++)
		s->w[i] = 1;
	if (!rc && n && fit_tree_weigh_classes(s->w, s->y, s->n, t->classes, t->n_classes, items, n, &why))
		rc = fit_fail(err, FIT_EDATA, "the model's metadata: %s", why.msg);
	free(items);
	return rc;
}

static int rows(const void *model, const struct fit_table *table, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_tree *t = model;
	int rc = fit_gate_set_init(s, table->n_rows, t->n_features, false, err);

	for (size_t f = 0; f < t->n_features && !rc; f++) {
		const struct fit_column *c;

		rc = fit_gate_column(table, t->features[f].name, &c, err);
		if (!rc && !t->features[f].categorical)
			rc = fit_gate_set_numbers(s, f, table, c, err);
		for (size_t i = 0; i < s->n && !rc && t->features[f].categorical; i++)
			s->x[i * s->n_x + f] = level_of(&t->features[f], c, i);
	}
	rc = rc ? rc : take_target(t, table, target, measured, s, err);
	rc = rc || !measured ? rc : take_weights(t, table, s, err);
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = fit_gate_set_group(s, i, FIT_TEXT_LIT(""), err);
	return rc;
}

static bool feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	const struct fit_tree *t = model;

	if (i >= t->n_features)
		return false;
	*f = (struct fit_gate_feature){ t->features[i].name, t->features[i].categorical };
	return true;
}

static enum fit_gate_metric metric(const void *model)
{
	return ((const struct fit_tree *)model)->n_classes ? FIT_GATE_WRONG : FIT_GATE_UNEXPLAINED;
}

static const char *class_name(const void *model, size_t k)
{
	const struct fit_tree *t = model;

	return k < t->n_classes ? t->classes[k] : NULL;
}

static double predict(const void *model, const char *group, const double *x)
{
	const struct fit_tree *t = model;

	(void)group;
	return t->nodes[fit_tree_leaf(t, x)].value;
}

/* ---- refit ---- */

static uint64_t smallest_leaf(const struct fit_tree *t)
{
	uint64_t n = UINT64_MAX;

	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].left < 0 && t->nodes[i].n < n)
			n = t->nodes[i].n;
	return n;
}

/* As the tree says that it was grown and pruned; of one that does not say, as many leaves at most, of as many
 * rows at least. */
static int params_of(const struct fit_tree *old, size_t n, struct fit_tree_params *p,
		     struct fit_tree_pruned *pruned, struct fit_err *err)
{
	*p = fit_tree_params_default(old->criterion);
	p->sklearn = old->sklearn;
	*pruned = (struct fit_tree_pruned){ -1, -1 };
	if (old->training.n)
		return fit_tree_trained(old, p, pruned, err);
	p->max_leaves = (int64_t)fit_tree_n_leaves(old);
	p->max_leaves = p->max_leaves > 2 ? p->max_leaves : 2;
	p->min_leaf = (int64_t)(smallest_leaf(old) < n / 4 ? smallest_leaf(old) : n / 4);
	p->min_leaf = p->min_leaf > 1 ? p->min_leaf : 1;
	return FIT_OK;
}

static int prune_like(struct fit_tree *t, const struct fit_tree_pruned *how, struct fit_err *err)
{
	struct fit_tree_path path = { 0 };
	int rc = how->alpha >= 0 ? fit_tree_prune(t, how->alpha, err) : FIT_OK;

	if (rc || how->leaves < 0 || fit_tree_n_leaves(t) <= (size_t)how->leaves)
		return rc;
	rc = fit_tree_path(t, &path, err);
	rc = rc ? rc : fit_tree_prune(t, fit_tree_path_alpha(&path, (size_t)how->leaves), err);
	free(path.steps);
	return rc;
}

/* A tree of the same constraints, weights and parameters. */
static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	const struct fit_tree *old = like;
	struct fit_tree_params p;
	struct fit_tree_data d = { .n_features = old->n_features, .n_classes = old->n_classes,
				   .features = old->features, .classes = old->classes };
	double **x = calloc(old->n_features + 1, sizeof *x), *y = malloc((s->n + 1) * sizeof *y);
	double *w = malloc((s->n + 1) * sizeof *w);
	struct fit_tree_pruned pruned;
	struct fit_tree *t = calloc(1, sizeof *t);
	int rc = x && y && w && t ? params_of(old, s->n, &p, &pruned, err) : fit_fail_nomem(err);

	(void)in;
	for (size_t f = 0; f < old->n_features && !rc; f++)
		if (!(x[f] = malloc((s->n + 1) * sizeof **x)))
			rc = fit_fail_nomem(err);
	for (size_t i = 0; i < s->n && !rc; i++) {
		if (!use[i] || !isfinite(s->y[i]) || (old->n_classes && s->y[i] < 0))
			continue;
		for (size_t f = 0; f < old->n_features; f++) {
			double v = s->x[i * s->n_x + f];

			x[f][d.n_rows] = old->features[f].categorical && v < 0 ? (double)NAN : v;
		}
		w[d.n_rows] = fit_gate_weight(s, i);
		y[d.n_rows++] = s->y[i];
	}
	d.x = (const double *const *)x;
	d.y = y;
	d.w = w;
	rc = rc ? rc : fit_tree_train(t, &d, &p, err);
	if (!rc && (rc = prune_like(t, &pruned, err)) != FIT_OK)
		fit_tree_release(t);
	for (size_t f = 0; x && f < old->n_features; f++)
		free(x[f]);
	free(x);
	free(y);
	free(w);
	if (rc) {
		free(t);
		return rc;
	}
	*model = t;
	return FIT_OK;
}

/* ---- checks of its own ---- */

static int say_faults(struct fit_gate_run *r, const struct fit_tree *t, bool constraints,
		      struct fit_err *err)
{
	struct fit_tree_findings f;
	size_t faults = 0;
	const struct fit_tree_finding *first = NULL;
	int rc = fit_tree_check(t, NULL, &f, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < f.n; i++) {
		if (!*f.list[i].what || (constraints && strcmp(f.list[i].check, "constraints hold") != 0))
			continue;
		faults++;
		first = first ? first : &f.list[i];
	}
	rc = first ? fit_gate_at_most(r, NULL, (double)faults, err, "node %lld: %s",
				      (long long)first->node, first->what) :
	     fit_gate_at_most(r, NULL, 0, err, constraints ?
			      "predictions are of the shapes that were asked for" :
			      "rows, weights, impurities, values and constraints go together");
	free(f.list);
	return rc;
}

static int check_consistent(struct fit_gate_run *r, struct fit_err *err)
{
	return say_faults(r, r->model, false, err);
}

static int check_support(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_tree *t = r->model;

	return fit_gate_at_least(r, NULL, (double)smallest_leaf(t), err,
				 "rows of the smallest of %zu leaves",
				 fit_tree_n_leaves(t));
}

/* "FEATURE=increasing" into a constraint. */
static int set_shape(struct fit_tree *t, const char *text, struct fit_err *err)
{
	const char *eq = strrchr(text, '=');
	int way = !eq ? 0 : strcmp(eq + 1, "increasing") == 0 ? 1 : strcmp(eq + 1, "decreasing") == 0 ?
		-1 : 0;

	for (size_t f = 0; way && f < t->n_features; f++)
		if (!t->features[f].categorical &&
		    fit_text_is((struct fit_text){ text, (size_t)(eq - text) }, t->features[f].name)) {
			t->features[f].monotone = way;
			return FIT_OK;
		}
	return fit_fail(err, FIT_EINVAL,
			"bad '%s' for --shape (expected a number that the tree asks for, =, and "
			"increasing or decreasing)", text);
}

static int check_shape(struct fit_gate_run *r, struct fit_err *err)
{
	struct fit_tree *t = r->model;
	int rc = FIT_OK;

	if (!r->in->n_shapes)
		return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_NOTED, err,
				    "not looked at: needs --shape");
	if (t->n_classes > 2)
		return fit_fail(err, FIT_EINVAL,
				"--shape: a tree of three classes or more has no direction");
	for (size_t i = 0; i < r->in->n_shapes && !rc; i++)
		rc = set_shape(t, r->in->shapes[i], err);
	return rc ? rc : say_faults(r, t, true, err);
}

static const struct fit_gate_check checks[] = {
	{ "consistent", 0, check_consistent },
	{ "shape", 0, check_shape },
	{ "support", 0, check_support },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_tree = {
	.name = "tree", .what = "a decision tree", .checks = checks, .is = is, .is_json = is_json,
	.load = load, .free = free_tree, .metric_of = metric, .class_name = class_name,
	.feature = feature, .rows = rows, .predict = predict, .refit = refit,
};
