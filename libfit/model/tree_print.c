/* SPDX-License-Identifier: MIT */
/* A tree for people: indented text, DOT, and the way of one row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/tree.h"

/* Appending never fails half way: the first lack of memory sticks. */
struct out {
	struct fit_str *s;
	int rc;
};

static void put(struct out *o, const char *fmt, ...) FIT_PRINTF(2, 3);
static void put(struct out *o, const char *fmt, ...)
{
	char buf[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	if (!o->rc && n > 0)
		o->rc = fit_str_add(o->s, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

static void puts_to(struct out *o, const char *s)
{
	if (!o->rc)
		o->rc = fit_str_puts(o->s, s);
}

/* One line of any text: what would break a line, a string or a comment is replaced or escaped. */
static void put_name(struct out *o, const char *s, bool quoted)
{
	for (; *s && !o->rc; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			puts_to(o, "?");
		else if (quoted && (*s == '"' || *s == '\\'))
			put(o, "\\%c", *s);
		else
			o->rc = fit_str_add(o->s, s, 1);
	}
}

static void put_real(struct out *o, double v)
{
	char buf[FIT_NUM_MAX];

	fit_format_double(buf, v);
	puts_to(o, buf);
}

static int done(const struct out *o, struct fit_err *err)
{
	return o->rc ? fit_fail_nomem(err) : FIT_OK;
}

static const struct fit_tree_feature *feature_of(const struct fit_tree *t, const struct fit_tree_node *a)
{
	return &t->features[a->feature];
}

static bool in_set(const struct fit_tree *t, const struct fit_tree_node *a, size_t level)
{
	return t->bits[a->levels + level / 64] >> level % 64 & 1;
}

/* The condition of one side: "x <= 0.800000", "x in {a, b} or missing", "x is missing". */
static void put_condition(struct out *o, const struct fit_tree *t, const struct fit_tree_node *a, bool left,
			  int digits, bool quoted)
{
	const struct fit_tree_feature *f = feature_of(t, a);
	const char *comma = "";

	put_name(o, f->name, quoted);
	if (!f->categorical && isinf(a->threshold) && a->threshold > 0) {
		puts_to(o, left == a->missing_left ? " is missing" : " is there");
		return;
	}
	if (f->categorical) {
		puts_to(o, left ? " in {" : " not in {");
		for (size_t l = 0; l < f->n_levels; l++) {
			if (!in_set(t, a, l))
				continue;
			puts_to(o, comma);
			put_name(o, f->levels[l], quoted);
			comma = ", ";
		}
		puts_to(o, "}");
	} else {
		put(o, "%s%.*f", left ? " <= " : " >  ", digits, a->threshold);
	}
	if (a->saw_missing && left == a->missing_left)
		puts_to(o, " or missing");
}

/* ---- text ---- */

static void text_leaf(struct out *o, const struct fit_tree *t, size_t i, int digits, bool weights)
{
	const struct fit_tree_node *a = &t->nodes[i];

	if (!t->n_classes) {
		put(o, "value: [%.*f]\n", digits, a->value);
		return;
	}
	for (size_t c = 0; c < t->n_classes && weights; c++)
		put(o, "%s%.*f%s", c ? ", " : "weights: [", digits, t->class_weight[i * t->n_classes + c],
		    c + 1 == t->n_classes ? "] " : "");
	puts_to(o, "class: ");
	put_name(o, t->classes[(size_t)a->value], false);
	puts_to(o, "\n");
}

int fit_tree_print_text(const struct fit_tree *t, int digits, bool weights, struct fit_str *out,
			struct fit_err *err)
{
	struct out o = { out, FIT_OK };

	for (size_t i = 0; i < t->n_nodes && !o.rc; i++) {
		const struct fit_tree_node *a = &t->nodes[i], *up = a->parent < 0 ? NULL : &t->nodes[a->parent];

		if (up) {
			for (int32_t d = 0; d < up->depth; d++)
				puts_to(&o, "|   ");
			puts_to(&o, "|--- ");
			put_condition(&o, t, up, up->left == (int32_t)i, digits, false);
			puts_to(&o, "\n");
		}
		if (a->left >= 0)
			continue;
		for (int32_t d = 0; d < a->depth; d++)
			puts_to(&o, "|   ");
		puts_to(&o, "|--- ");
		text_leaf(&o, t, i, digits, weights);
	}
	return done(&o, err);
}

/* ---- DOT ---- */

/* Rounded, without trailing zeros; one decimal at least unless it is whole and may be so. */
static void put_short(struct out *o, double v, int digits, bool whole)
{
	char buf[400];
	int n = snprintf(buf, sizeof buf, "%.*f", digits, v);

	if (n > 0 && (size_t)n < sizeof buf && strchr(buf, '.')) {
		while (buf[n - 1] == '0')
			buf[--n] = '\0';
		if (buf[n - 1] == '.')
			buf[whole ? n - 1 : n] = '\0';
		if (!whole && buf[n - 1] == '.')
			snprintf(buf + n, sizeof buf - (size_t)n, "0");
	}
	puts_to(o, strcmp(buf, "-0") == 0 ? "0" : strcmp(buf, "-0.0") == 0 ? "0.0" : buf);
}

int fit_tree_print_dot(const struct fit_tree *t, int digits, struct fit_str *out, struct fit_err *err)
{
	struct out o = { out, FIT_OK };

	puts_to(&o, "digraph Tree {\nnode [shape=box, fontname=\"helvetica\"] ;\n"
		    "edge [fontname=\"helvetica\"] ;\n");
	for (size_t i = 0; i < t->n_nodes && !o.rc; i++) {
		const struct fit_tree_node *a = &t->nodes[i];

		put(&o, "%zu [label=\"", i);
		if (a->left >= 0 && (feature_of(t, a)->categorical || isinf(a->threshold))) {
			put_condition(&o, t, a, true, digits, true);
			puts_to(&o, "\\n");
		} else if (a->left >= 0) {
			put_name(&o, feature_of(t, a)->name, true);
			puts_to(&o, " <= ");
			put_short(&o, a->threshold, digits, false);
			puts_to(&o, a->saw_missing && a->missing_left ? " or missing\\n" : "\\n");
		}
		put(&o, "%s = ", fit_tree_criterion_names[t->criterion]);
		put_short(&o, a->impurity, digits, false);
		put(&o, "\\nsamples = %llu\\nvalue = ", (unsigned long long)a->n);
		if (!t->n_classes)
			put_short(&o, a->value, digits, false);
		for (size_t c = 0; c < t->n_classes; c++) {
			puts_to(&o, c ? ", " : "[");
			put_short(&o, t->class_weight[i * t->n_classes + c], digits, true);
		}
		if (t->n_classes) {
			puts_to(&o, "]\\nclass = ");
			put_name(&o, t->classes[(size_t)a->value], true);
		}
		puts_to(&o, "\"] ;\n");
		if (a->parent < 0)
			continue;
		put(&o, "%d -> %zu", a->parent, i);
		if (a->parent == 0)
			put(&o, " [labeldistance=2.5, labelangle=%s, headlabel=\"%s\"]", i == 1 ? "45" : "-45",
			    i == 1 ? "True" : "False");
		puts_to(&o, " ;\n");
	}
	puts_to(&o, "}\n");
	return done(&o, err);
}

/* ---- one row ---- */

static void put_value(struct out *o, const struct fit_tree *t, size_t i)
{
	const struct fit_tree_node *a = &t->nodes[i];

	if (!t->n_classes) {
		put_real(o, a->value);
		return;
	}
	put_name(o, t->classes[(size_t)a->value], false);
	put(o, " (share %.4f)", t->class_weight[i * t->n_classes + (size_t)a->value] / a->weight);
}

static void put_cell(struct out *o, const struct fit_tree_feature *f, double x)
{
	if (isnan(x))
		puts_to(o, "missing");
	else if (!f->categorical)
		put_real(o, x);
	else if (x >= 0 && x < (double)f->n_levels)
		put_name(o, f->levels[(size_t)x], false);
	else
		puts_to(o, "a level that training did not have");
}

int fit_tree_explain(const struct fit_tree *t, const double *x, struct fit_str *out, struct fit_err *err)
{
	struct out o = { out, FIT_OK };
	size_t i = 0;

	for (;;) {
		const struct fit_tree_node *a = &t->nodes[i];
		bool left;

		put(&o, "node %zu: ", i);
		put_value(&o, t, i);
		put(&o, ", %llu %s\n", (unsigned long long)a->n, fit_plural(a->n, "row", "rows"));
		if (a->left < 0 || o.rc)
			break;
		left = fit_tree_goes_left(t, a, x[a->feature]);
		puts_to(&o, "  ");
		put_name(&o, feature_of(t, a)->name, false);
		puts_to(&o, " is ");
		put_cell(&o, feature_of(t, a), x[a->feature]);
		puts_to(&o, left ? ": left, as " : ": right, as ");
		if (isnan(x[a->feature]) && !a->saw_missing)
			puts_to(&o, "most of the weight, for training had none missing here");
		else if (isnan(x[a->feature]))
			puts_to(&o, "missing ones in training");
		else if (feature_of(t, a)->categorical || isinf(a->threshold)) {
			put_condition(&o, t, a, left, 6, false);
		} else {
			put_name(&o, feature_of(t, a)->name, false);
			puts_to(&o, left ? " <= " : " > ");
			put_real(&o, a->threshold);
		}
		puts_to(&o, "\n");
		i = (size_t)(left ? a->left : a->right);
	}
	puts_to(&o, "predicted: ");
	put_value(&o, t, i);
	puts_to(&o, "\n");
	return done(&o, err);
}
