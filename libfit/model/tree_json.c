/* SPDX-License-Identifier: MIT */
/* JSON of a tree: written by hand, so that numbers have all digits; read by jansson. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/json_out.h"
#include "libfit/model/training.h"
#include "libfit/model/tree.h"

#define SCHEMA "goodfit-tree/1"

/* ---- writing ---- */

static void whole(struct fit_json_out *o, const char *key, int64_t v)
{
	if (!o->rc)
		o->rc = fit_str_printf(o->s, "\"%s\": %lld", key, (long long)v);
}

static void list(struct fit_json_out *o, const char *key, char *const *names, size_t n)
{
	fit_json_raw(o, ",\n \"");
	fit_json_raw(o, key);
	fit_json_raw(o, "\": [");
	for (size_t i = 0; i < n; i++) {
		fit_json_raw(o, i ? ", " : "");
		fit_json_text(o, names[i]);
	}
	fit_json_raw(o, "]");
}

static void head(struct fit_json_out *o, const struct fit_tree *t)
{
	fit_json_raw(o, "{\"schema\": \"" SCHEMA "\",\n \"task\": ");
	fit_json_raw(o, t->n_classes ? "\"clf\"" : "\"reg\"");
	fit_json_raw(o, ",\n \"criterion\": ");
	fit_json_text(o, fit_tree_criterion_names[t->criterion]);
	fit_json_raw(o, ",\n \"single\": ");
	fit_json_raw(o, t->sklearn ? "true" : "false");
	fit_json_raw(o, ",\n \"target\": ");
	if (t->target)
		fit_json_text(o, t->target);
	else
		fit_json_raw(o, "null");
	fit_json_raw(o, ",\n \"features\": [");
	for (size_t f = 0; f < t->n_features; f++) {
		fit_json_raw(o, f ? ", " : "");
		fit_json_text(o, t->features[f].name);
	}
	fit_json_raw(o, "],\n \"monotone\": [");
	for (size_t f = 0; f < t->n_features && !o->rc; f++)
		o->rc = fit_str_printf(o->s, "%s%d", f ? ", " : "", t->features[f].monotone);
	fit_json_raw(o, "],\n \"levels\": [");
	for (size_t f = 0; f < t->n_features; f++) {
		fit_json_raw(o, f ? ", " : "");
		if (!t->features[f].categorical) {
			fit_json_raw(o, "null");
			continue;
		}
		fit_json_raw(o, "[");
		for (size_t l = 0; l < t->features[f].n_levels; l++) {
			fit_json_raw(o, l ? ", " : "");
			fit_json_text(o, t->features[f].levels[l]);
		}
		fit_json_raw(o, "]");
	}
	fit_json_raw(o, "]");
	if (t->n_classes)
		list(o, "classes", t->classes, t->n_classes);
	if (!t->training.n)
		return;
	fit_json_raw(o, ",\n \"training\": {");
	for (size_t i = 0; i < t->training.n; i++) {
		fit_json_raw(o, i ? ", " : "");
		fit_json_text(o, t->training.pairs[i].key);
		fit_json_raw(o, ": ");
		fit_json_text(o, t->training.pairs[i].value);
	}
	fit_json_raw(o, "}");
}

static void node(struct fit_json_out *o, const struct fit_tree *t, size_t i)
{
	const struct fit_tree_node *a = &t->nodes[i];
	const struct fit_tree_feature *f = a->left < 0 ? NULL : &t->features[a->feature];

	fit_json_raw(o, i ? ",\n  {" : "\n  {");
	whole(o, "id", (int64_t)i);
	fit_json_raw(o, ", ");
	whole(o, "left", a->left);
	fit_json_raw(o, ", ");
	whole(o, "right", a->right);
	fit_json_raw(o, ", ");
	whole(o, "feature", a->feature);
	fit_json_raw(o, ", \"threshold\": ");
	if (f && !f->categorical)
		fit_json_real(o, a->threshold, "inf");
	else
		fit_json_raw(o, "null");
	if (f) {
		fit_json_raw(o, a->missing_left ? ", \"missing\": \"left\"" : ", \"missing\": \"right\"");
		fit_json_raw(o, a->saw_missing ? ", \"saw_missing\": true" : ", \"saw_missing\": false");
	}
	if (f && f->categorical) {
		const char *comma = "";

		fit_json_raw(o, a->other_left ? ", \"other\": \"left\"" : ", \"other\": \"right\"");
		fit_json_raw(o, ", \"levels\": [");
		for (size_t l = 0; l < f->n_levels; l++) {
			if (!(t->bits[a->levels + l / 64] >> l % 64 & 1))
				continue;
			fit_json_raw(o, comma);
			fit_json_text(o, f->levels[l]);
			comma = ", ";
		}
		fit_json_raw(o, "]");
	}
	fit_json_raw(o, ", \"impurity\": ");
	fit_json_real(o, a->impurity, "inf");
	fit_json_raw(o, ", ");
	whole(o, "n", (int64_t)a->n);
	fit_json_raw(o, ", \"wn\": ");
	fit_json_real(o, a->weight, "inf");
	fit_json_raw(o, ", \"value\": [");
	if (!t->n_classes)
		fit_json_real(o, a->value, "inf");
	for (size_t c = 0; c < t->n_classes; c++) {
		fit_json_raw(o, c ? ", " : "");
		fit_json_real(o, t->class_weight[i * t->n_classes + c], "inf");
	}
	fit_json_raw(o, "]}");
}

int fit_tree_print_json(const struct fit_tree *t, struct fit_str *out, struct fit_err *err)
{
	struct fit_tree copy = *t;
	struct fit_tree_path path = { 0 };
	struct fit_json_out o = { out, FIT_OK };
	/* only the alphas of nodes are set by this, to what they are */
	int rc = fit_tree_path(&copy, &path, err);

	if (rc)
		return rc;
	head(&o, t);
	fit_json_raw(&o, ",\n \"nodes\": [");
	for (size_t i = 0; i < t->n_nodes && !o.rc; i++)
		node(&o, t, i);
	fit_json_raw(&o, "],\n \"ccp_alphas\": [");
	for (size_t i = 0; i < path.n; i++) {
		fit_json_raw(&o, i ? ", " : "");
		fit_json_real(&o, path.steps[i].alpha, "inf");
	}
	fit_json_raw(&o, "],\n \"ccp_impurities\": [");
	for (size_t i = 0; i < path.n; i++) {
		fit_json_raw(&o, i ? ", " : "");
		fit_json_real(&o, path.steps[i].impurity, "inf");
	}
	fit_json_raw(&o, "]}\n");
	free(path.steps);
	return o.rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- reading ---- */

struct in {
	const char *name;
	struct fit_tree *t;
	struct fit_err *err;
};

static int bad(const struct in *g, const char *what)
{
	return fit_fail(g->err, FIT_EDATA, "%s: %s (expected a tree in JSON)", g->name, what);
}

static int bad_node(const struct in *g, size_t i, const char *what)
{
	return fit_fail(g->err, FIT_EDATA, "%s: node %zu: %s", g->name, i, what);
}

static char *copy_text(const json_t *v)
{
	/* a NUL inside would cut the text short */
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return NULL;
	return fit_strdup(fit_text_of(json_string_value(v)));
}

static int read_texts(const struct in *g, const json_t *v, char ***to, size_t *n)
{
	size_t want = json_array_size(v);

	*to = calloc(want + 1, sizeof **to);
	if (!*to)
		return fit_fail_nomem(g->err);
	for (; *n < want; (*n)++)
		if (!((*to)[*n] = copy_text(json_array_get(v, *n))))
			return bad(g, "a name that is no text");
	return FIT_OK;
}

static bool number(const json_t *v, double *x)
{
	if (json_is_number(v))
		*x = json_number_value(v);
	else if (json_is_string(v) && strcmp(json_string_value(v), "inf") == 0)
		*x = HUGE_VAL;
	else if (json_is_string(v) && strcmp(json_string_value(v), "-inf") == 0)
		*x = -HUGE_VAL;
	else
		return false;
	return true;
}

/* Whole numbers may come as 3.0. */
static bool whole_number(const json_t *v, int64_t *x)
{
	double d;

	if (!number(v, &d) || !(fabs(d) <= 9e15) || d < (double)(int64_t)d || d > (double)(int64_t)d)
		return false;
	*x = (int64_t)d;
	return true;
}

static int read_features(const struct in *g, const json_t *root, size_t least)
{
	const json_t *names = json_object_get(root, "features"), *levels = json_object_get(root, "levels"),
		     *monotone = json_object_get(root, "monotone");
	struct fit_tree *t = g->t;
	size_t n = json_is_array(names) ? json_array_size(names) : least;

	if (!json_is_array(names))
		names = json_object_get(root, "feature_names");
	if (json_is_array(names))
		n = json_array_size(names);
	if (n < least)
		return bad(g, "a node uses a feature that has no name");
	t->features = calloc(n + 1, sizeof *t->features);
	if (!t->features)
		return fit_fail_nomem(g->err);
	for (size_t f = 0; f < n; f++) {
		const json_t *l = json_array_get(levels, f);
		struct fit_tree_feature *x = &t->features[f];
		char made[32];
		int64_t sign;

		t->n_features++;
		snprintf(made, sizeof made, "x%zu", f);
		x->name = json_is_array(names) ? copy_text(json_array_get(names, f))
					       : fit_strdup(fit_text_of(made));
		if (!x->name)
			return bad(g, "a feature whose name is no text");
		if (whole_number(json_array_get(monotone, f), &sign) && sign >= -1 && sign <= 1)
			x->monotone = (int)sign;
		if (json_is_array(l)) {
			int rc = read_texts(g, l, &x->levels, &x->n_levels);

			x->categorical = true;
			for (size_t k = 1; k < x->n_levels && !rc; k++)
				if (fit_text_cmp(fit_text_of(x->levels[k - 1]), fit_text_of(x->levels[k])) >= 0)
					rc = bad(g, "levels out of byte order");
			if (rc)
				return rc;
		}
	}
	return FIT_OK;
}

/* "value": a number, [number], [[number]] for regression; weights of classes likewise. */
static const json_t *innermost(const json_t *v)
{
	while (json_is_array(v) && json_array_size(v) > 0 && json_is_array(json_array_get(v, 0)))
		v = json_array_get(v, 0);
	return v;
}

static size_t n_values(const json_t *v)
{
	v = innermost(v);
	return json_is_array(v) ? json_array_size(v) : 1;
}

static int read_value(const struct in *g, size_t i, const json_t *v)
{
	struct fit_tree *t = g->t;
	struct fit_tree_node *a = &t->nodes[i];
	size_t best = 0;

	v = innermost(v);
	if (!t->n_classes) {
		if (!number(json_is_array(v) ? json_array_get(v, 0) : v, &a->value))
			return bad_node(g, i, "no value");
		return FIT_OK;
	}
	if (json_array_size(v) != t->n_classes)
		return bad_node(g, i, "as many weights as classes are needed");
	for (size_t c = 0; c < t->n_classes; c++) {
		double *w = &t->class_weight[i * t->n_classes + c];

		if (!number(json_array_get(v, c), w) || !(*w >= 0) || isinf(*w))
			return bad_node(g, i, "a bad weight of a class");
		if (*w > t->class_weight[i * t->n_classes + best])
			best = c;
	}
	a->value = (double)best;
	return FIT_OK;
}

/* Newer versions of scikit-learn give shares of classes, not weights. */
static void shares_to_weights(struct fit_tree *t)
{
	for (size_t i = 0; i < t->n_nodes; i++) {
		double sum = 0, *w = t->class_weight + i * t->n_classes;

		for (size_t c = 0; c < t->n_classes; c++)
			sum += w[c];
		if (fabs(sum - 1) > 1e-9 || fabs(t->nodes[i].weight - 1) <= 1e-9)
			continue;
		for (size_t c = 0; c < t->n_classes; c++)
			w[c] *= t->nodes[i].weight;
	}
}

/* The fields of one node, from either layout. */
struct fields {
	const json_t *left, *right, *feature, *threshold, *impurity, *n, *wn, *value, *missing, *saw, *other,
		*levels;
};

static struct fields fields_of(const json_t *root, const json_t *nodes, size_t i)
{
	struct fields x = { 0 };

	if (nodes) {
		const json_t *v = json_array_get(nodes, i);

		x.left = json_object_get(v, "left");
		x.right = json_object_get(v, "right");
		x.feature = json_object_get(v, "feature");
		x.threshold = json_object_get(v, "threshold");
		x.impurity = json_object_get(v, "impurity");
		x.n = json_object_get(v, "n");
		x.wn = json_object_get(v, "wn");
		x.value = json_object_get(v, "value");
		x.missing = json_object_get(v, "missing");
		x.saw = json_object_get(v, "saw_missing");
		x.other = json_object_get(v, "other");
		x.levels = json_object_get(v, "levels");
		return x;
	}
	x.left = json_array_get(json_object_get(root, "children_left"), i);
	x.right = json_array_get(json_object_get(root, "children_right"), i);
	x.feature = json_array_get(json_object_get(root, "feature"), i);
	x.threshold = json_array_get(json_object_get(root, "threshold"), i);
	x.impurity = json_array_get(json_object_get(root, "impurity"), i);
	x.n = json_array_get(json_object_get(root, "n_node_samples"), i);
	x.wn = json_array_get(json_object_get(root, "weighted_n_node_samples"), i);
	x.value = json_array_get(json_object_get(root, "value"), i);
	x.missing = json_array_get(json_object_get(root, "missing_go_to_left"), i);
	return x;
}

static bool says_left(const json_t *v)
{
	double x;

	if (json_is_string(v))
		return strcmp(json_string_value(v), "left") == 0;
	return json_is_true(v) || (number(v, &x) && x > 0);
}

static int read_set(const struct in *g, size_t i, const json_t *levels)
{
	struct fit_tree *t = g->t;
	struct fit_tree_node *a = &t->nodes[i];
	const struct fit_tree_feature *f = &t->features[a->feature];
	size_t words = (f->n_levels + 63) / 64;

	if (!json_is_array(levels))
		return bad_node(g, i, "no levels for a categorical feature");
	a->levels = t->n_bits;
	if (fit_grow(&t->bits, &t->cap_bits, t->n_bits + words + 1, sizeof *t->bits))
		return fit_fail_nomem(g->err);
	memset(t->bits + t->n_bits, 0, words * sizeof *t->bits);
	t->n_bits += words;
	for (size_t k = 0; k < json_array_size(levels); k++) {
		const json_t *l = json_array_get(levels, k);
		double code = json_is_string(l) ? fit_tree_code(f, fit_text_of(json_string_value(l))) : -1;

		if (code < 0)
			return bad_node(g, i, "an unknown level");
		t->bits[a->levels + (size_t)code / 64] |= UINT64_C(1) << (size_t)code % 64;
	}
	return FIT_OK;
}

static int read_node(const struct in *g, size_t i, const struct fields *x)
{
	struct fit_tree *t = g->t;
	struct fit_tree_node *a = &t->nodes[i];
	int64_t left, right, feature, n = 0;

	if (!whole_number(x->left, &left) || !whole_number(x->right, &right) || left < -1 || right < -1 ||
	    left >= (int64_t)t->n_nodes || right >= (int64_t)t->n_nodes || (left < 0) != (right < 0))
		return bad_node(g, i, "bad children");
	*a = (struct fit_tree_node){ .left = (int32_t)left, .right = (int32_t)right, .parent = -1, .feature = -1 };
	if (!number(x->impurity, &a->impurity) || !whole_number(x->n, &n) || n < 0)
		return bad_node(g, i, "no impurity or number of rows");
	a->n = (uint64_t)n;
	a->weight = (double)n;
	if (x->wn && !number(x->wn, &a->weight))
		return bad_node(g, i, "a bad weight");
	if (left < 0)
		return read_value(g, i, x->value);
	if (!whole_number(x->feature, &feature) || feature < 0 || feature >= (int64_t)t->n_features)
		return bad_node(g, i, "no such feature");
	a->feature = (int32_t)feature;
	a->saw_missing = json_is_true(x->saw);
	a->missing_left = says_left(x->missing);
	a->other_left = says_left(x->other);
	if (t->features[feature].categorical) {
		int rc = read_set(g, i, x->levels);

		if (rc)
			return rc;
	} else if (!number(x->threshold, &a->threshold)) {
		return bad_node(g, i, "no threshold");
	}
	return read_value(g, i, x->value);
}

/* Parents, depths, where missing values go if that is not said; then preorder. */
static int arrange(const struct in *g, bool says_missing)
{
	struct fit_tree *t = g->t;
	size_t n = t->n_nodes, c = t->n_classes, top = 0, at = 0;
	struct fit_tree_node *nodes = calloc(n + 1, sizeof *nodes);
	double *weights = calloc(n * c + 1, sizeof *weights);
	/* a node and its parent, which is at its new place already */
	struct { int32_t id, parent; } *stack = calloc(n + 2, sizeof *stack);
	int rc = nodes && weights && stack ? FIT_OK : fit_fail_nomem(g->err);

	if (!rc)
		stack[top++].parent = -1;
	while (!rc && top > 0) {
		int32_t id = stack[--top].id, parent = stack[top].parent;
		struct fit_tree_node a = t->nodes[id];

		if (at == n) {
			rc = bad(g, "a node with two parents");
			break;
		}
		a.parent = parent;
		a.depth = parent < 0 ? 0 : nodes[parent].depth + 1;
		if (parent >= 0 && (size_t)parent + 1 == at)
			nodes[parent].left = (int32_t)at;
		else if (parent >= 0)
			nodes[parent].right = (int32_t)at;
		nodes[at] = a;
		if (c)
			memcpy(weights + at * c, t->class_weight + (size_t)id * c, c * sizeof *weights);
		if (a.left >= 0) {
			if (!says_missing)
				nodes[at].missing_left = t->nodes[a.left].weight >= t->nodes[a.right].weight;
			if (top + 2 > n + 1) {
				rc = bad(g, "a node with two parents");
				break;
			}
			stack[top].id = a.right;
			stack[top++].parent = (int32_t)at;
			stack[top].id = a.left;
			stack[top++].parent = (int32_t)at;
		}
		at++;
	}
	free(stack);
	if (!rc && at != n)
		rc = bad(g, "nodes that no other leads to");
	if (rc) {
		free(nodes);
		free(weights);
		return rc;
	}
	free(t->nodes);
	free(t->class_weight);
	t->nodes = nodes;
	t->cap_nodes = n + 1;
	t->class_weight = weights;
	return FIT_OK;
}

static int read_classes(const struct in *g, const json_t *root, size_t n)
{
	const json_t *names = json_object_get(root, "classes");
	struct fit_tree *t = g->t;

	t->classes = calloc(n + 1, sizeof *t->classes);
	if (!t->classes)
		return fit_fail_nomem(g->err);
	if (json_is_array(names) && json_array_size(names) != n)
		return bad(g, "as many names as classes are needed");
	for (; t->n_classes < n; t->n_classes++) {
		const json_t *v = json_array_get(names, t->n_classes);
		char made[32];

		snprintf(made, sizeof made, "%lld",
			 json_is_integer(v) ? (long long)json_integer_value(v) : (long long)t->n_classes);
		t->classes[t->n_classes] = json_is_string(v) ? copy_text(v) : fit_strdup(fit_text_of(made));
		if (!t->classes[t->n_classes])
			return bad(g, "a class whose name is no text");
	}
	return FIT_OK;
}

/* The criterion: ours, or one of the parameters, or the default of the task. */
static int read_criterion(const struct in *g, const json_t *root, bool classifier)
{
	const json_t *v = json_object_get(root, "criterion");
	int k = 0;

	if (!v)
		v = json_object_get(json_object_get(root, "params"), "criterion");
	g->t->criterion = classifier ? FIT_TREE_GINI : FIT_TREE_SQUARED;
	if (!json_is_string(v))
		return FIT_OK;
	while (fit_tree_criterion_names[k] && strcmp(fit_tree_criterion_names[k], json_string_value(v)) != 0)
		k++;
	if (!fit_tree_criterion_names[k])
		return fit_fail(g->err, FIT_EDATA, "%s: unknown criterion '%.60s'", g->name, json_string_value(v));
	if (fit_tree_is_classifier((enum fit_tree_criterion)k) != classifier)
		return bad(g, "the criterion does not go with the task");
	g->t->criterion = (enum fit_tree_criterion)k;
	return FIT_OK;
}

static int read_training(const struct in *g, json_t *training)
{
	const char *key;
	json_t *v;

	json_object_foreach(training, key, v) {
		if (!json_is_string(v) || !fit_meta_key_ok(key) ||
		    strncmp(key, FIT_TRAINED, sizeof FIT_TRAINED - 1) != 0)
			return bad(g, "a bad entry of 'training'");
		if (fit_meta_set(&g->t->training, key, json_string_value(v)))
			return fit_fail_nomem(g->err);
	}
	return FIT_OK;
}

static int read_root(const struct in *g, const json_t *root)
{
	const json_t *nodes = json_object_get(root, "nodes"), *v = json_object_get(root, "task");
	struct fit_tree *t = g->t;
	size_t n, least = 0, values, missing = 0;
	struct fit_err why;
	bool classifier;
	int rc;

	if (!json_is_array(nodes)) {
		nodes = NULL;
		n = json_array_size(json_object_get(root, "children_left"));
	} else {
		n = json_array_size(nodes);
	}
	if (n < 1 || n > INT32_MAX / 2)
		return bad(g, "no nodes");
	for (size_t i = 0; i < n; i++) {
		struct fields x = fields_of(root, nodes, i);
		int64_t f;

		if (whole_number(x.feature, &f) && f >= 0 && f < 1000000 && (size_t)f >= least)
			least = (size_t)f + 1;
		missing += x.missing != NULL;
	}
	values = n_values(fields_of(root, nodes, 0).value);
	classifier = values > 1;
	if (json_is_string(v))
		classifier = strcmp(json_string_value(v), "clf") == 0;
	else if (json_is_array(json_object_get(root, "classes")))
		classifier = true;
	t->sklearn = !json_is_string(json_object_get(root, "schema")) ||
		     json_is_true(json_object_get(root, "single"));
	rc = read_criterion(g, root, classifier);
	rc = rc ? rc : read_features(g, root, least);
	if (!rc && classifier)
		rc = read_classes(g, root, values);
	v = json_object_get(root, "target");
	if (!rc && json_is_string(v) && !(t->target = copy_text(v)))
		rc = bad(g, "a target whose name is no text");
	rc = rc ? rc : read_training(g, json_object_get(root, "training"));
	t->nodes = calloc(n + 1, sizeof *t->nodes);
	t->class_weight = calloc(n * t->n_classes + 1, sizeof *t->class_weight);
	if (!rc && (!t->nodes || !t->class_weight))
		rc = fit_fail_nomem(g->err);
	t->n_nodes = rc ? 0 : n;
	for (size_t i = 0; i < n && !rc; i++) {
		struct fields x = fields_of(root, nodes, i);

		rc = read_node(g, i, &x);
	}
	rc = rc ? rc : arrange(g, missing > 0);
	if (!rc && t->n_classes)
		shares_to_weights(t);
	if (!rc && fit_tree_sound(t, &why))
		rc = fit_fail(g->err, FIT_EDATA, "%s: %s", g->name, why.msg);
	return rc;
}

int fit_tree_read_json(struct fit_tree *t, const char *name, const char *bytes, size_t n, struct fit_err *err)
{
	struct fit_tree tree = { 0 };
	struct fit_tree_path path = { 0 };
	struct in g = { name, &tree, err };
	json_error_t why;
	json_t *root = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &why);
	int rc;

	if (!root)
		return fit_fail(err, FIT_EPARSE, "%s:%d: no JSON: %s", name, why.line, why.text);
	rc = read_root(&g, root);
	rc = rc ? rc : fit_tree_path(&tree, &path, err);
	free(path.steps);
	json_decref(root);
	if (rc)
		fit_tree_release(&tree);
	else
		*t = tree;
	return rc;
}
