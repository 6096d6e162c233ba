/* SPDX-License-Identifier: MIT */
#include "libfit/model/tree.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/training.h"
#include "libfit/model/tree_stats.h"

const char *const fit_tree_criterion_names[] = { "gini", "entropy", "squared_error", "absolute_error", NULL };

bool fit_tree_is_classifier(enum fit_tree_criterion c)
{
	return c == FIT_TREE_GINI || c == FIT_TREE_ENTROPY;
}

struct fit_tree_params fit_tree_params_default(enum fit_tree_criterion c)
{
	return (struct fit_tree_params){ .criterion = c, .max_depth = -1, .min_split = 2, .min_leaf = 1,
					 .max_leaves = -1 };
}

const char *fit_tree_params_check(const struct fit_tree_params *p)
{
	if (p->max_depth < -1)
		return "the depth limit is negative";
	if (p->min_split < 2)
		return "fewer than two rows cannot be cut";
	if (p->min_leaf < 1)
		return "a leaf needs one row or more";
	if (!(p->min_weight_share >= 0 && p->min_weight_share <= 0.5))
		return "the least share of weight is not within 0 and 0.5";
	if (!(p->min_decrease >= 0) || isinf(p->min_decrease))
		return "the least decrease of impurity is negative or not finite";
	if (p->max_leaves != -1 && p->max_leaves < 1)
		return "a tree has one leaf or more";
	return NULL;
}

/* ---- memory ---- */

void fit_tree_release(struct fit_tree *t)
{
	for (size_t f = 0; f < t->n_features && t->features; f++) {
		for (size_t l = 0; l < t->features[f].n_levels && t->features[f].levels; l++)
			free(t->features[f].levels[l]);
		free(t->features[f].levels);
		free(t->features[f].name);
	}
	for (size_t c = 0; c < t->n_classes && t->classes; c++)
		free(t->classes[c]);
	free(t->features);
	free(t->classes);
	free(t->target);
	free(t->nodes);
	free(t->class_weight);
	free(t->bits);
	fit_meta_release(&t->training);
	*t = (struct fit_tree){ 0 };
}

static int copy_texts(char ***to, char *const *from, size_t n, struct fit_err *err)
{
	*to = calloc(n + 1, sizeof **to);
	if (!*to)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		(*to)[i] = fit_strdup(fit_text_of(from[i]));
		if (!(*to)[i])
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

/* Columns and classes, without a node. */
static int describe(struct fit_tree *t, const struct fit_tree_data *d, const struct fit_tree_params *p,
		    struct fit_err *err)
{
	int rc;

	t->criterion = p->criterion;
	t->sklearn = p->sklearn;
	t->features = calloc(d->n_features + 1, sizeof *t->features);
	if (!t->features)
		return fit_fail_nomem(err);
	t->n_features = d->n_features;
	for (size_t f = 0; f < d->n_features; f++) {
		const struct fit_tree_feature *from = &d->features[f];
		struct fit_tree_feature *to = &t->features[f];

		to->categorical = from->categorical;
		to->monotone = from->monotone;
		to->name = fit_strdup(fit_text_of(from->name));
		if (!to->name)
			return fit_fail_nomem(err);
		if (!from->categorical)
			continue;
		to->n_levels = from->n_levels;
		rc = copy_texts(&to->levels, from->levels, from->n_levels, err);
		if (rc)
			return rc;
	}
	t->n_classes = d->n_classes;
	return d->n_classes ? copy_texts(&t->classes, d->classes, d->n_classes, err) : FIT_OK;
}

/* ---- training ---- */

#define AT(field) offsetof(struct fit_tree_params, field)

static const struct fit_trained_field trained_fields[] = {
	{ FIT_TRAINED "max_depth", FIT_TRAINED_INT64, AT(max_depth), -1, 1e6 },
	{ FIT_TRAINED "min_split", FIT_TRAINED_INT64, AT(min_split), 2, 1e12 },
	{ FIT_TRAINED "min_leaf", FIT_TRAINED_INT64, AT(min_leaf), 1, 1e12 },
	{ FIT_TRAINED "min_weight_share", FIT_TRAINED_REAL, AT(min_weight_share), 0, 0.5 },
	{ FIT_TRAINED "min_decrease", FIT_TRAINED_REAL, AT(min_decrease), 0, 1e300 },
	{ FIT_TRAINED "max_leaves", FIT_TRAINED_INT64, AT(max_leaves), -1, 1e9 },
	{ NULL, FIT_TRAINED_REAL, 0, 0, 0 }
};

static int check_data(const struct fit_tree_data *d, const struct fit_tree_params *p, struct fit_err *err)
{
	const char *wrong = fit_tree_params_check(p);

	if (wrong)
		return fit_fail(err, FIT_EINVAL, "%s", wrong);
	if (fit_tree_is_classifier(p->criterion) != (d->n_classes > 0))
		return fit_fail(err, FIT_EINVAL, "criterion '%s' does not go with the target",
				fit_tree_criterion_names[p->criterion]);
	if (d->n_classes > FIT_TREE_MAX_CLASSES)
		return fit_fail(err, FIT_EDATA, "%zu classes (expected at most %d)", d->n_classes,
				FIT_TREE_MAX_CLASSES);
	if (d->n_rows >= INT32_MAX / 2)
		return fit_fail(err, FIT_EDATA, "%zu rows (expected at most %d)", d->n_rows, INT32_MAX / 2 - 1);
	for (size_t f = 0; f < d->n_features; f++) {
		const struct fit_tree_feature *x = &d->features[f];

		if (x->monotone && x->categorical)
			return fit_fail(err, FIT_EINVAL, "a constraint on the categories of '%s'", x->name);
		if (x->monotone && d->n_classes > 2)
			return fit_fail(err, FIT_EINVAL, "a constraint on '%s' with %zu classes (expected two)",
					x->name, d->n_classes);
		if (x->n_levels > FIT_TREE_MAX_LEVELS)
			return fit_fail(err, FIT_EDATA, "%zu levels of '%s' (expected at most %d)", x->n_levels,
					x->name, FIT_TREE_MAX_LEVELS);
	}
	return FIT_OK;
}

/* Number the nodes in preorder, whatever the order in which they were made. */
static int renumber(struct fit_tree *t, struct fit_err *err)
{
	size_t n = t->n_nodes, c = t->n_classes, top = 0, at = 0;
	struct fit_tree_node *nodes = malloc((n + 1) * sizeof *nodes);
	double *weights = malloc((n * c + 1) * sizeof *weights);
	int32_t *stack = malloc((n + 1) * sizeof *stack), *to = malloc((n + 1) * sizeof *to);

	if (!nodes || !weights || !stack || !to) {
		free(nodes);
		free(weights);
		free(stack);
		free(to);
		return fit_fail_nomem(err);
	}
	stack[top++] = 0;
	while (top > 0) {
		int32_t id = stack[--top];

		to[id] = (int32_t)at;
		nodes[at] = t->nodes[id];
		if (c)
			memcpy(weights + at * c, t->class_weight + (size_t)id * c, c * sizeof *weights);
		at++;
		if (t->nodes[id].left >= 0) {
			stack[top++] = t->nodes[id].right;
			stack[top++] = t->nodes[id].left;
		}
	}
	for (size_t i = 0; i < at; i++) {
		if (nodes[i].parent >= 0)
			nodes[i].parent = to[nodes[i].parent];
		if (nodes[i].left >= 0) {
			nodes[i].left = to[nodes[i].left];
			nodes[i].right = to[nodes[i].right];
		}
	}
	free(t->nodes);
	free(t->class_weight);
	free(stack);
	free(to);
	t->nodes = nodes;
	t->n_nodes = at;
	t->cap_nodes = n + 1;
	t->class_weight = weights;
	return FIT_OK;
}

int fit_tree_train(struct fit_tree *t, const struct fit_tree_data *d, const struct fit_tree_params *p,
		   struct fit_err *err)
{
	struct fit_tree_path path = { 0 };
	int rc = check_data(d, p, err);

	*t = (struct fit_tree){ 0 };
	rc = rc ? rc : describe(t, d, p, err);
	rc = rc ? rc : fit_tree_grow(t, d, p, err);
	rc = rc ? rc : renumber(t, err);
	rc = rc ? rc : fit_tree_path(t, &path, err);
	free(path.steps);
	if (!rc && fit_trained_note(&t->training, trained_fields, p))
		rc = fit_fail_nomem(err);
	if (rc)
		fit_tree_release(t);
	return rc;
}

static const struct fit_trained_field pruned_fields[] = {
	{ FIT_TRAINED "alpha", FIT_TRAINED_REAL, offsetof(struct fit_tree_pruned, alpha), 0, 1e300 },
	{ FIT_TRAINED "leaves", FIT_TRAINED_INT64, offsetof(struct fit_tree_pruned, leaves), 1, 1e12 },
	{ NULL, FIT_TRAINED_REAL, 0, 0, 0 }
};

int fit_tree_trained(const struct fit_tree *t, struct fit_tree_params *p, struct fit_tree_pruned *pruned,
		     struct fit_err *err)
{
	int rc = fit_trained_read(&t->training, trained_fields, p, err);

	const char *wrong = rc ? NULL : fit_tree_params_check(p);

	*pruned = (struct fit_tree_pruned){ -1, -1 };
	if (wrong)
		return fit_fail(err, FIT_EDATA, "bad training in the metadata: %s", wrong);
	return rc ? rc : fit_trained_read(&t->training, pruned_fields, pruned, err);
}

int fit_tree_note_pruned(struct fit_tree *t, const struct fit_tree_pruned *pruned, struct fit_err *err)
{
	struct fit_tree_pruned all = { -1, -1 };
	int rc = fit_trained_read(&t->training, pruned_fields, &all, err);

	if (rc || !t->training.n)
		return rc;
	all.alpha = pruned->alpha > all.alpha ? pruned->alpha : all.alpha;
	if (pruned->leaves > 0 && (all.leaves < 0 || pruned->leaves < all.leaves))
		all.leaves = pruned->leaves;
	for (size_t k = all.alpha >= 0 ? 0 : 1; k < (all.leaves > 0 ? 2 : 1) && !rc; k++) {
		struct fit_trained_field one[] = { pruned_fields[k], { NULL, FIT_TRAINED_REAL, 0, 0, 0 } };

		rc = fit_trained_note(&t->training, one, &all) ? fit_fail_nomem(err) : FIT_OK;
	}
	return rc;
}

/* ---- use ---- */

double fit_tree_code(const struct fit_tree_feature *f, struct fit_text level)
{
	size_t low = 0, high = f->n_levels;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int cmp = fit_text_cmp(fit_text_of(f->levels[mid]), level);

		if (cmp == 0)
			return (double)mid;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

bool fit_tree_goes_left(const struct fit_tree *t, const struct fit_tree_node *node, double x)
{
	const struct fit_tree_feature *f = &t->features[node->feature];

	if (isnan(x))
		return node->missing_left;
	if (f->categorical) {
		size_t l;

		if (!(x >= 0 && x < (double)f->n_levels))
			return node->other_left;
		l = (size_t)x;
		return t->bits[node->levels + l / 64] >> l % 64 & 1;
	}
	return (t->sklearn ? (double)(float)x : x) <= node->threshold;
}

size_t fit_tree_leaf(const struct fit_tree *t, const double *x)
{
	const struct fit_tree_node *nodes = t->nodes;
	size_t at = 0;

	while (nodes[at].left >= 0)
		at = (size_t)(fit_tree_goes_left(t, &nodes[at], x[nodes[at].feature]) ? nodes[at].left
										      : nodes[at].right);
	return at;
}

void fit_tree_leaves(const struct fit_tree *t, const double *const *x, size_t first, size_t n, uint32_t *leaf)
{
	const struct fit_tree_node *nodes = t->nodes;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (nodes[at].left >= 0)
			at = (size_t)(fit_tree_goes_left(t, &nodes[at], x[nodes[at].feature][first + i])
					      ? nodes[at].left
					      : nodes[at].right);
		leaf[i] = (uint32_t)at;
	}
}

size_t fit_tree_n_leaves(const struct fit_tree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_nodes; i++)
		n += t->nodes[i].left < 0;
	return n;
}

size_t fit_tree_depth(const struct fit_tree *t)
{
	int32_t depth = 0;

	for (size_t i = 0; i < t->n_nodes; i++)
		depth = t->nodes[i].depth > depth ? t->nodes[i].depth : depth;
	return (size_t)depth;
}

void fit_tree_importance(const struct fit_tree *t, double *out)
{
	double sum = 0;

	for (size_t f = 0; f < t->n_features; f++)
		out[f] = 0;
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct fit_tree_node *a = &t->nodes[i], *l, *r;

		if (a->left < 0)
			continue;
		l = &t->nodes[a->left];
		r = &t->nodes[a->right];
		out[a->feature] += fmax(
			a->weight * a->impurity - l->weight * l->impurity - r->weight * r->impurity, 0);
	}
	for (size_t f = 0; f < t->n_features; f++)
		sum += out[f];
	for (size_t f = 0; f < t->n_features && sum > 0; f++)
		out[f] /= sum;
}
