/* SPDX-License-Identifier: MIT */
/* A tree as C functions. */
#include "libfit/base/c_out.h"
#include "libfit/model/tree.h"

static bool in_set(const struct fit_tree *t, const struct fit_tree_node *a, size_t level)
{
	return t->bits[a->levels + level / 64] >> level % 64 & 1;
}

static void put_head(struct fit_c_out *o, const struct fit_tree *t, const char *name)
{
	fit_c_put(o, "/* A decision tree (%s): %zu leaves. x holds", fit_tree_criterion_names[t->criterion],
		  fit_tree_n_leaves(t));
	for (size_t f = 0; f < t->n_features; f++) {
		fit_c_put(o, "%s\n *   x[%zu] ", f ? "," : "", f);
		fit_c_comment(o, t->features[f].name);
		fit_c_numbered(o, ": ", t->features[f].levels, t->features[f].n_levels);
	}
	fit_c_put(o, "\n * and NaN where a value is missing, -1 for an unknown level.");
	fit_c_numbered(o, "\n * Classes: ", t->classes, t->n_classes);
	fit_c_put(o, " */\n\nint %s_leaf(const double *x);\ndouble %s(const double *x);\n", name, name);
	if (t->n_classes)
		fit_c_put(o, "void %s_share(const double *x, double *p);\n", name);
}

/* The test that sends a row to the left. */
static void put_test(struct fit_c_out *o, const struct fit_tree *t, const struct fit_tree_node *a)
{
	const struct fit_tree_feature *f = &t->features[a->feature];
	const char *sep = "";

	/* only a missing value differs from itself */
	fit_c_put(o, "x[%d] != x[%d] ? %d : ", a->feature, a->feature, a->missing_left);
	if (!f->categorical) {
		fit_c_put(o, t->sklearn ? "(double)(float)x[%d] <= " : "x[%d] <= ", a->feature);
		fit_c_real(o, a->threshold);
		return;
	}
	for (size_t l = 0; l < f->n_levels; l++) {
		if (!in_set(t, a, l))
			continue;
		fit_c_put(o, "%sx[%d] == %zu", sep, a->feature, l);
		sep = " || ";
	}
	if (a->other_left)
		fit_c_put(o, "%s!(x[%d] >= 0 && x[%d] < %zu)", sep, a->feature, a->feature, f->n_levels);
	else if (!*sep)
		fit_c_put(o, "0");
}

static void put_leaf(struct fit_c_out *o, const struct fit_tree *t, const char *name)
{
	size_t leaf = 0;

	fit_c_put(o, "\n/* The number of the leaf, from 0, in order of the text below. */\n");
	fit_c_put(o, "int %s_leaf(const double *x)\n{\n", name);
	if (t->n_nodes == 1)
		fit_c_put(o, "\t(void)x;\n");
	for (size_t i = 0; i < t->n_nodes && !o->rc; i++) {
		const struct fit_tree_node *a = &t->nodes[i];

		/* a left child follows its parent, so only right ones need a label */
		if (a->parent >= 0 && t->nodes[a->parent].right == (int32_t)i)
			fit_c_put(o, "n%zu:\n", i);
		if (a->left < 0) {
			fit_c_put(o, "\treturn %zu;\n", leaf++);
			continue;
		}
		fit_c_put(o, "\tif (!(");
		put_test(o, t, a);
		fit_c_put(o, "))\n\t\tgoto n%d;\n", a->right);
	}
	fit_c_put(o, "}\n");
}

static void put_value(struct fit_c_out *o, const struct fit_tree *t, const char *name)
{
	fit_c_put(o, "\ndouble %s(const double *x)\n{\n\tstatic const double value[] = {\n", name);
	for (size_t i = 0; i < t->n_nodes && !o->rc; i++) {
		if (t->nodes[i].left >= 0)
			continue;
		fit_c_put(o, "\t\t");
		fit_c_real(o, t->nodes[i].value);
		fit_c_put(o, ",\n");
	}
	fit_c_put(o, "\t};\n\n\treturn value[%s_leaf(x)];\n}\n", name);
}

static void put_share(struct fit_c_out *o, const struct fit_tree *t, const char *name)
{
	fit_c_put(o, "\nvoid %s_share(const double *x, double *p)\n{\n", name);
	fit_c_put(o, "\tstatic const double share[][%zu] = {\n", t->n_classes);
	for (size_t i = 0; i < t->n_nodes && !o->rc; i++) {
		if (t->nodes[i].left >= 0)
			continue;
		for (size_t c = 0; c < t->n_classes; c++) {
			fit_c_put(o, c ? ", " : "\t\t{ ");
			fit_c_real(o, t->class_weight[i * t->n_classes + c] / t->nodes[i].weight);
		}
		fit_c_put(o, " },\n");
	}
	fit_c_put(o, "\t};\n\tconst double *s = share[%s_leaf(x)];\n\n", name);
	fit_c_put(o, "\tfor (int c = 0; c < %zu; c++)\n\t\tp[c] = s[c];\n}\n", t->n_classes);
}

int fit_tree_print_c(const struct fit_tree *t, const char *name, struct fit_str *out, struct fit_err *err)
{
	struct fit_c_out o = { out, FIT_OK };

	put_head(&o, t, name);
	put_leaf(&o, t, name);
	put_value(&o, t, name);
	if (t->n_classes)
		put_share(&o, t, name);
	return o.rc ? fit_fail_nomem(err) : FIT_OK;
}
