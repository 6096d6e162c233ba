/* SPDX-License-Identifier: MIT */
/* A tree as tables (docs/formats/tree.md), written and read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/hash.h"
#include "libfit/model/training.h"
#include "libfit/model/tree.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- columns ---- */

static const struct fit_field tree_columns[] = {
	{ "criterion", FIT_TEXT, FIT_F_NOT_NA }, { "target", FIT_TEXT, 0 },
	{ "n_classes", FIT_INT, FIT_F_NOT_NA },  { "n_features", FIT_INT, FIT_F_NOT_NA },
	{ "n_nodes", FIT_INT, FIT_F_NOT_NA },	 { "n_leaves", FIT_INT, FIT_F_NOT_NA },
	{ "depth", FIT_INT, FIT_F_NOT_NA },	 { "single", FIT_INT, FIT_F_NOT_NA }
};
static const struct fit_field feature_columns[] = {
	{ "feature", FIT_TEXT, FIT_F_NOT_NA }, { "kind", FIT_TEXT, FIT_F_NOT_NA },
	{ "monotone", FIT_INT, FIT_F_NOT_NA }, { "importance", FIT_REAL, FIT_F_OPTIONAL }
};
static const struct fit_field level_columns[] = { { "feature", FIT_TEXT, FIT_F_NOT_NA },
						   { "level", FIT_TEXT, FIT_F_NOT_NA } };
static const struct fit_field class_columns[] = { { "class", FIT_TEXT, FIT_F_NOT_NA } };
static const struct fit_field node_columns[] = {
	{ "node", FIT_INT, FIT_F_NOT_NA },	  { "parent", FIT_INT, 0 },
	{ "depth", FIT_INT, FIT_F_NOT_NA },	  { "left", FIT_INT, 0 },
	{ "right", FIT_INT, 0 },		  { "feature", FIT_TEXT, 0 },
	{ "threshold", FIT_REAL, 0 },		  { "missing", FIT_TEXT, 0 },
	{ "saw_missing", FIT_INT, 0 },		  { "other", FIT_TEXT, 0 },
	{ "n", FIT_INT, FIT_F_NOT_NA },		  { "weight", FIT_REAL, FIT_F_NOT_NA },
	{ "impurity", FIT_REAL, FIT_F_NOT_NA },	  { "value", FIT_REAL, FIT_F_NOT_NA },
	{ "alpha", FIT_REAL, FIT_F_NOT_NA }
};
static const struct fit_field set_columns[] = { { "node", FIT_INT, FIT_F_NOT_NA },
						 { "level", FIT_TEXT, FIT_F_NOT_NA } };
static const struct fit_field share_columns[] = { { "node", FIT_INT, FIT_F_NOT_NA },
						   { "class", FIT_TEXT, FIT_F_NOT_NA },
						   { "weight", FIT_REAL, FIT_F_NOT_NA } };
static const struct fit_field path_columns[] = { { "alpha", FIT_REAL, FIT_F_NOT_NA },
						  { "leaves", FIT_INT, FIT_F_NOT_NA },
						  { "impurity", FIT_REAL, FIT_F_NOT_NA } };

/* ---- writing ---- */

static int write_head(const struct fit_tree *t, struct fit_writer *w, const struct fit_meta *meta,
		      struct fit_err *err)
{
	struct fit_meta all = { 0 };
	int rc = (meta && fit_meta_copy(&all, meta)) || fit_trained_copy(&all, &t->training) ?
		fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : fit_writer_begin(w, "tree", &all, tree_columns, COUNT(tree_columns), err);
	fit_meta_release(&all);
	if (rc)
		return rc;
	fit_writer_str(w, fit_tree_criterion_names[t->criterion]);
	fit_writer_str(w, t->target);
	fit_writer_int(w, (int64_t)t->n_classes);
	fit_writer_int(w, (int64_t)t->n_features);
	fit_writer_int(w, (int64_t)t->n_nodes);
	fit_writer_int(w, (int64_t)fit_tree_n_leaves(t));
	fit_writer_int(w, (int64_t)fit_tree_depth(t));
	fit_writer_int(w, t->sklearn);
	rc = fit_writer_end_row(w, err);
	return rc ? rc : fit_writer_end(w, err);
}

static int write_features(const struct fit_tree *t, struct fit_writer *w, struct fit_err *err)
{
	double *share = calloc(t->n_features + 1, sizeof *share);
	int rc;

	if (!share)
		return fit_fail_nomem(err);
	fit_tree_importance(t, share);
	rc = fit_writer_begin(w, "features", NULL, feature_columns, COUNT(feature_columns), err);
	for (size_t f = 0; f < t->n_features && !rc; f++) {
		fit_writer_str(w, t->features[f].name);
		fit_writer_str(w, t->features[f].categorical ? "category" : "number");
		fit_writer_int(w, t->features[f].monotone);
		fit_writer_real(w, share[f]);
		rc = fit_writer_end_row(w, err);
	}
	free(share);
	rc = rc ? rc : fit_writer_end(w, err);
	rc = rc ? rc : fit_writer_begin(w, "levels", NULL, level_columns, COUNT(level_columns), err);
	for (size_t f = 0; f < t->n_features && !rc; f++) {
		for (size_t l = 0; l < t->features[f].n_levels && !rc; l++) {
			fit_writer_str(w, t->features[f].name);
			fit_writer_str(w, t->features[f].levels[l]);
			rc = fit_writer_end_row(w, err);
		}
	}
	rc = rc ? rc : fit_writer_end(w, err);
	rc = rc ? rc : fit_writer_begin(w, "classes", NULL, class_columns, COUNT(class_columns), err);
	for (size_t c = 0; c < t->n_classes && !rc; c++) {
		fit_writer_str(w, t->classes[c]);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static void put_link(struct fit_writer *w, int32_t node)
{
	if (node < 0)
		fit_writer_na(w);
	else
		fit_writer_int(w, node);
}

static int write_nodes(const struct fit_tree *t, struct fit_writer *w, struct fit_err *err)
{
	int rc = fit_writer_begin(w, "nodes", NULL, node_columns, COUNT(node_columns), err);

	for (size_t i = 0; i < t->n_nodes && !rc; i++) {
		const struct fit_tree_node *a = &t->nodes[i];
		const struct fit_tree_feature *f = a->left < 0 ? NULL : &t->features[a->feature];

		fit_writer_int(w, (int64_t)i);
		put_link(w, a->parent);
		fit_writer_int(w, a->depth);
		put_link(w, a->left);
		put_link(w, a->right);
		fit_writer_str(w, f ? f->name : NULL);
		if (f && !f->categorical)
			fit_writer_real(w, a->threshold);
		else
			fit_writer_na(w);
		fit_writer_str(w, !f ? NULL : a->missing_left ? "left" : "right");
		if (f)
			fit_writer_int(w, a->saw_missing);
		else
			fit_writer_na(w);
		fit_writer_str(w, !f || !f->categorical ? NULL : a->other_left ? "left" : "right");
		fit_writer_int(w, (int64_t)a->n);
		fit_writer_real(w, a->weight);
		fit_writer_real(w, a->impurity);
		fit_writer_real(w, a->value);
		fit_writer_real(w, a->alpha);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int write_sets(const struct fit_tree *t, struct fit_writer *w, struct fit_err *err)
{
	int rc = fit_writer_begin(w, "sets", NULL, set_columns, COUNT(set_columns), err);

	for (size_t i = 0; i < t->n_nodes && !rc; i++) {
		const struct fit_tree_node *a = &t->nodes[i];
		const struct fit_tree_feature *f = a->left < 0 ? NULL : &t->features[a->feature];

		for (size_t l = 0; f && f->categorical && l < f->n_levels && !rc; l++) {
			if (!(t->bits[a->levels + l / 64] >> l % 64 & 1))
				continue;
			fit_writer_int(w, (int64_t)i);
			fit_writer_str(w, f->levels[l]);
			rc = fit_writer_end_row(w, err);
		}
	}
	rc = rc ? rc : fit_writer_end(w, err);
	rc = rc ? rc : fit_writer_begin(w, "shares", NULL, share_columns, COUNT(share_columns), err);
	for (size_t i = 0; i < t->n_nodes && !rc; i++) {
		for (size_t c = 0; c < t->n_classes && !rc; c++) {
			fit_writer_int(w, (int64_t)i);
			fit_writer_str(w, t->classes[c]);
			fit_writer_real(w, t->class_weight[i * t->n_classes + c]);
			rc = fit_writer_end_row(w, err);
		}
	}
	return rc ? rc : fit_writer_end(w, err);
}

int fit_tree_write(const struct fit_tree *t, const struct fit_tree_path *path, struct fit_writer *w,
		   const struct fit_meta *meta, struct fit_err *err)
{
	int rc = write_head(t, w, meta, err);

	rc = rc ? rc : write_features(t, w, err);
	rc = rc ? rc : write_nodes(t, w, err);
	rc = rc ? rc : write_sets(t, w, err);
	if (rc || !path)
		return rc;
	rc = fit_writer_begin(w, "path", NULL, path_columns, COUNT(path_columns), err);
	for (size_t i = 0; i < path->n && !rc; i++) {
		fit_writer_real(w, path->steps[i].alpha);
		fit_writer_int(w, (int64_t)path->steps[i].leaves);
		fit_writer_real(w, path->steps[i].impurity);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- reading ---- */

/* The feature of that name; n_features when there is none. */
static size_t find_feature(const struct fit_tree *t, struct fit_text name)
{
	size_t f = 0;

	while (f < t->n_features && !fit_text_is(name, t->features[f].name))
		f++;
	return f;
}

static int add_text(char ***list, size_t *n, struct fit_text text, struct fit_err *err)
{
	size_t cap = *n;
	char *copy = fit_strdup(text);

	/* doubled at powers of two, so that no capacity has to be kept */
	if (!copy || ((cap & (cap - 1)) == 0 && fit_grow(list, &(size_t){ 0 }, cap ? 2 * cap : 1, sizeof **list))) {
		free(copy);
		return fit_fail_nomem(err);
	}
	(*list)[(*n)++] = copy;
	return FIT_OK;
}

static int head_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c, size_t *n_nodes,
		    size_t *n_classes, struct fit_err *err)
{
	int k = 0;

	if (*n_nodes > 0)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "a second row (expected one tree)");
	while (fit_tree_criterion_names[k] && !fit_text_is(c[0].u.t, fit_tree_criterion_names[k]))
		k++;
	if (!fit_tree_criterion_names[k])
		return fit_reader_fail(r, FIT_EDATA, "criterion", err, "unknown criterion '%.*s'",
				       FIT_TEXT_ARG(c[0].u.t));
	if (c[4].u.i < 1 || c[4].u.i >= INT32_MAX)
		return fit_reader_fail(r, FIT_EDATA, "n_nodes", err, "bad number of nodes '%lld' (expected 1 or more)",
				       (long long)c[4].u.i);
	if (c[2].u.i < 0 || c[2].u.i > FIT_TREE_MAX_CLASSES ||
	    fit_tree_is_classifier((enum fit_tree_criterion)k) != (c[2].u.i > 0))
		return fit_reader_fail(r, FIT_EDATA, "n_classes", err,
				       "bad number of classes '%lld' for this criterion", (long long)c[2].u.i);
	t->criterion = (enum fit_tree_criterion)k;
	t->sklearn = c[7].u.i != 0;
	*n_nodes = (size_t)c[4].u.i;
	*n_classes = (size_t)c[2].u.i;
	if (!c[1].na && !(t->target = fit_strdup(c[1].u.t)))
		return fit_fail_nomem(err);
	return FIT_OK;
}

static int feature_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c, size_t *cap,
		       struct fit_err *err)
{
	struct fit_tree_feature f = { 0 };

	f.categorical = fit_text_is(c[1].u.t, "category");
	if (!f.categorical && !fit_text_is(c[1].u.t, "number"))
		return fit_reader_fail(r, FIT_EDATA, "kind", err, "unknown kind '%.*s' (expected number or category)",
				       FIT_TEXT_ARG(c[1].u.t));
	if (c[2].u.i < -1 || c[2].u.i > 1)
		return fit_reader_fail(r, FIT_EDATA, "monotone", err, "bad constraint '%lld' (expected -1, 0 or 1)",
				       (long long)c[2].u.i);
	f.monotone = (int)c[2].u.i;
	if (find_feature(t, c[0].u.t) < t->n_features)
		return fit_reader_fail(r, FIT_EDATA, "feature", err, "a second feature '%.*s'",
				       FIT_TEXT_ARG(c[0].u.t));
	f.name = fit_strdup(c[0].u.t);
	if (!f.name || fit_grow(&t->features, cap, t->n_features + 1, sizeof f)) {
		free(f.name);
		return fit_fail_nomem(err);
	}
	t->features[t->n_features++] = f;
	return FIT_OK;
}

static int level_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c,
		     struct fit_err *err)
{
	size_t f = find_feature(t, c[0].u.t);
	struct fit_tree_feature *x = &t->features[f];

	if (f == t->n_features || !x->categorical)
		return fit_reader_fail(r, FIT_EDATA, "feature", err, "no feature with levels '%.*s'",
				       FIT_TEXT_ARG(c[0].u.t));
	if (x->n_levels > 0 && fit_text_cmp(fit_text_of(x->levels[x->n_levels - 1]), c[1].u.t) >= 0)
		return fit_reader_fail(r, FIT_EDATA, "level", err, "level '%.*s' out of order (expected byte order)",
				       FIT_TEXT_ARG(c[1].u.t));
	return add_text(&x->levels, &x->n_levels, c[1].u.t, err);
}

static int32_t link_of(const struct fit_cell *c)
{
	return c->na ? -1 : c->u.i < 0 || c->u.i > INT32_MAX ? INT32_MAX : (int32_t)c->u.i;
}

static int node_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c,
		    struct fit_err *err)
{
	struct fit_tree_node a = { .parent = link_of(&c[1]), .depth = link_of(&c[2]), .left = link_of(&c[3]),
				   .right = link_of(&c[4]), .feature = -1 };

	if (c[0].u.i != (int64_t)t->n_nodes)
		return fit_reader_fail(r, FIT_EDATA, "node", err, "node '%lld' out of order (expected %zu)",
				       (long long)c[0].u.i, t->n_nodes);
	if (c[10].u.i < 0)
		return fit_reader_fail(r, FIT_EDATA, "n", err, "bad number of rows '%lld' (expected 0 or more)",
				       (long long)c[10].u.i);
	a.n = (uint64_t)c[10].u.i;
	a.weight = c[11].u.d;
	a.impurity = c[12].u.d;
	a.value = c[13].u.d;
	a.alpha = c[14].u.d;
	if (!c[5].na) {
		size_t f = find_feature(t, c[5].u.t);

		if (f == t->n_features)
			return fit_reader_fail(r, FIT_EDATA, "feature", err, "unknown feature '%.*s'",
					       FIT_TEXT_ARG(c[5].u.t));
		a.feature = (int32_t)f;
		if (t->features[f].categorical) {
			size_t words = (t->features[f].n_levels + 63) / 64;

			a.levels = t->n_bits;
			if (fit_grow(&t->bits, &t->cap_bits, t->n_bits + words + 1, sizeof *t->bits))
				return fit_fail_nomem(err);
			memset(t->bits + t->n_bits, 0, words * sizeof *t->bits);
			t->n_bits += words;
		} else if (c[6].na) {
			return fit_reader_fail(r, FIT_EDATA, "threshold", err, "no threshold");
		}
		a.threshold = c[6].na ? 0 : c[6].u.d;
		a.missing_left = !c[7].na && fit_text_is(c[7].u.t, "left");
		a.saw_missing = !c[8].na && c[8].u.i != 0;
		a.other_left = !c[9].na && fit_text_is(c[9].u.t, "left");
	}
	if (fit_grow(&t->nodes, &t->cap_nodes, t->n_nodes + 1, sizeof a))
		return fit_fail_nomem(err);
	t->nodes[t->n_nodes++] = a;
	return FIT_OK;
}

static int set_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c,
		   struct fit_err *err)
{
	const struct fit_tree_node *a;
	double code;

	if (c[0].u.i < 0 || c[0].u.i >= (int64_t)t->n_nodes)
		return fit_reader_fail(r, FIT_EDATA, "node", err, "no node '%lld'", (long long)c[0].u.i);
	a = &t->nodes[c[0].u.i];
	if (a->feature < 0 || !t->features[a->feature].categorical)
		return fit_reader_fail(r, FIT_EDATA, "node", err, "node '%lld' has no set of levels",
				       (long long)c[0].u.i);
	code = fit_tree_code(&t->features[a->feature], c[1].u.t);
	if (code < 0)
		return fit_reader_fail(r, FIT_EDATA, "level", err, "unknown level '%.*s'", FIT_TEXT_ARG(c[1].u.t));
	t->bits[a->levels + (size_t)code / 64] |= UINT64_C(1) << (size_t)code % 64;
	return FIT_OK;
}

static int share_row(struct fit_tree *t, const struct fit_reader *r, const struct fit_cell *c, size_t row,
		     struct fit_err *err)
{
	size_t node = row / t->n_classes, class = row % t->n_classes;

	if (node >= t->n_nodes || c[0].u.i != (int64_t)node || !fit_text_is(c[1].u.t, t->classes[class]))
		return fit_reader_fail(r, FIT_EDATA, "class", err,
				       "out of order (expected each node with each class)");
	t->class_weight[row] = c[2].u.d;
	return FIT_OK;
}

/* What a table of the stream is read with. */
struct reading {
	struct fit_tree *t;
	struct fit_reader *r;
	size_t n_nodes, n_classes, cap_features;
	struct fit_index classes;	/* those that were read */
};

static int begin(struct reading *g, const char *name, const struct fit_field *fields, size_t n,
		 struct fit_err *err)
{
	int rc = fit_reader_begin(g->r, fields, n, err);

	if (rc == FIT_END || (!rc && *fit_reader_table_name(g->r) &&
			      strcmp(fit_reader_table_name(g->r), name) != 0))
		return fit_fail(err, FIT_EDATA, "%s: no table '%s' (expected the tables of a tree)",
				fit_reader_input(g->r), name);
	return rc;
}

static int class_row(struct reading *g, const struct fit_cell *c, struct fit_err *err)
{
	uint32_t before;

	if (fit_index_put(&g->classes, c[0].u.t, (uint32_t)g->t->n_classes, &before))
		return fit_fail_nomem(err);
	if (before != FIT_NO_INDEX)
		return fit_reader_fail(g->r, FIT_EDATA, "class", err, "a second class '%.*s'",
				       FIT_TEXT_ARG(c[0].u.t));
	return add_text(&g->t->classes, &g->t->n_classes, c[0].u.t, err);
}

static int read_all(struct reading *g, struct fit_err *err)
{
	static const struct {
		const char *name;
		const struct fit_field *fields;
		size_t n;
	} parts[] = { { "tree", tree_columns, COUNT(tree_columns) },
		      { "features", feature_columns, COUNT(feature_columns) },
		      { "levels", level_columns, COUNT(level_columns) },
		      { "classes", class_columns, COUNT(class_columns) },
		      { "nodes", node_columns, COUNT(node_columns) },
		      { "sets", set_columns, COUNT(set_columns) },
		      { "shares", share_columns, COUNT(share_columns) } };
	struct fit_tree *t = g->t;
	struct fit_cell c[COUNT(node_columns)];
	int rc = FIT_OK;

	for (size_t part = 0; part < COUNT(parts) && !rc; part++) {
		size_t row = 0;

		rc = begin(g, parts[part].name, parts[part].fields, parts[part].n, err);
		if (!rc && part == 0 && fit_trained_copy(&t->training, fit_reader_meta(g->r)))
			rc = fit_fail_nomem(err);
		for (; !rc && (rc = fit_reader_row(g->r, c, err)) == FIT_OK; row++) {
			if (part == 0)
				rc = head_row(t, g->r, c, &g->n_nodes, &g->n_classes, err);
			else if (part == 1)
				rc = feature_row(t, g->r, c, &g->cap_features, err);
			else if (part == 2)
				rc = level_row(t, g->r, c, err);
			else if (part == 3)
				rc = class_row(g, c, err);
			else if (part == 4)
				rc = node_row(t, g->r, c, err);
			else if (part == 5)
				rc = set_row(t, g->r, c, err);
			else if (t->n_classes)
				rc = share_row(t, g->r, c, row, err);
		}
		if (rc != FIT_END)
			return rc;
		rc = FIT_OK;
		if ((part == 0 && row != 1) || (part == 3 && t->n_classes != g->n_classes) ||
		    (part == 4 && t->n_nodes != g->n_nodes) || (part == 6 && row != t->n_nodes * t->n_classes))
			return fit_fail(err, FIT_EDATA, "%s: table '%s' has %zu rows (expected %zu)",
					fit_reader_input(g->r), parts[part].name, row,
					part == 0   ? 1
					: part == 3 ? g->n_classes
					: part == 4 ? g->n_nodes
						    : t->n_nodes * t->n_classes);
		if (part == 4) {
			t->class_weight = calloc(t->n_nodes * t->n_classes + 1, sizeof *t->class_weight);
			if (!t->class_weight)
				return fit_fail_nomem(err);
		}
	}
	while (!rc)
		rc = fit_reader_skip(g->r, err);
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_tree_read_from(struct fit_tree *t, struct fit_reader *r, struct fit_err *err)
{
	struct fit_tree tree = { 0 };
	struct reading g = { .t = &tree, .r = r };
	struct fit_err why;
	int rc = read_all(&g, err);

	fit_index_release(&g.classes);
	if (!rc && fit_tree_sound(&tree, &why))
		rc = fit_fail(err, FIT_EDATA, "%s: %s", fit_reader_input(r), why.msg);
	if (rc)
		fit_tree_release(&tree);
	else
		*t = tree;
	return rc;
}

int fit_tree_read(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, operand, err);

	rc = rc ? rc : fit_tree_read_from(t, r, err);
	if (!rc && hash)
		fit_reader_hash(r, hash);
	fit_reader_close(r);
	return rc;
}

/* To what rounding of weights that are no whole numbers leaves. */
static bool shares_add_up(const struct fit_tree *t, size_t node)
{
	double sum = 0, w = t->nodes[node].weight;

	for (size_t k = 0; k < t->n_classes; k++)
		sum += t->class_weight[node * t->n_classes + k];
	return fabs(sum - w) <= 1e-6 * fabs(w);
}

int fit_tree_sound(const struct fit_tree *t, struct fit_err *err)
{
	size_t open = 1;

	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct fit_tree_node *a = &t->nodes[i];
		bool inner = a->left >= 0 || a->right >= 0 || a->feature >= 0;

		/* preorder: as many subtrees are still to come as right children wait */
		if (open == 0)
			return fit_fail(err, FIT_EDATA, "node %zu: behind the end of the tree", i);
		open += inner ? 1 : 0;
		open -= inner ? 0 : 1;
		if (inner && ((size_t)a->left != i + 1 || a->right <= a->left || (size_t)a->right >= t->n_nodes ||
			      a->feature < 0 || (size_t)a->feature >= t->n_features))
			return fit_fail(err, FIT_EDATA, "node %zu: bad children or feature", i);
		if (inner && (t->nodes[a->left].parent != (int32_t)i || t->nodes[a->right].parent != (int32_t)i ||
			      t->nodes[a->left].depth != a->depth + 1 || t->nodes[a->right].depth != a->depth + 1))
			return fit_fail(err, FIT_EDATA, "node %zu: its children have another parent or depth", i);
		if (i == 0 && (a->parent != -1 || a->depth != 0))
			return fit_fail(err, FIT_EDATA, "node 0: a root with a parent");
		if (isnan(a->threshold) || !isfinite(a->weight) || !isfinite(a->value) || isnan(a->impurity) ||
		    isnan(a->alpha))
			return fit_fail(err, FIT_EDATA, "node %zu: a number that is not finite", i);
		if (t->n_classes && !(a->value >= 0 && a->value < (double)t->n_classes))
			return fit_fail(err, FIT_EDATA, "node %zu: no such class '%g'", i, a->value);
		if (t->n_classes && !shares_add_up(t, i))
			return fit_fail(err, FIT_EDATA, "node %zu: the weights of its classes do not sum to '%g', its own",
					i, a->weight);
	}
	if (open != 0)
		return fit_fail(err, FIT_EDATA, "the tree is cut off after node %zu", t->n_nodes);
	return FIT_OK;
}
