/* SPDX-License-Identifier: MIT */
#include "tools/tree_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"

void tree_data_release(struct tree_data *g)
{
	for (size_t f = 0; f < g->n_features; f++) {
		if (g->x)
			free(g->x[f]);
		if (!g->features)
			continue;
		for (size_t l = 0; l < g->features[f].n_levels; l++)
			free(g->features[f].levels[l]);
		free(g->features[f].levels);
		free(g->features[f].name);
	}
	for (size_t c = 0; c < g->n_classes; c++)
		free(g->classes[c]);
	free(g->features);
	free(g->x);
	free(g->y);
	free(g->w);
	free(g->classes);
	*g = (struct tree_data){ 0 };
}

/* ---- cells ---- */

static struct fit_text cell_text(const struct fit_column *c, size_t row, char buf[FIT_NUM_MAX])
{
	struct fit_cell cell = fit_column_cell(c, row);

	if (cell.na)
		return (struct fit_text){ NULL, 0 };
	return c->type == FIT_TEXT ? cell.u.t : (struct fit_text){ buf, fit_cell_format(c->type, &cell, buf) };
}

/* A number; NaN where it is missing. Times are in seconds. */
static int cell_number(const struct fit_table *t, const struct fit_column *c, size_t row, double *v,
		       struct fit_err *err)
{
	struct fit_cell cell = fit_column_cell(c, row);

	*v = (double)NAN;
	if (cell.na)
		return FIT_OK;
	if (c->type == FIT_TEXT && fit_parse_double_any(cell.u.t, v))
		return fit_table_fail(t, row, FIT_EDATA, c->name, err, "bad value '%.*s' (expected a number)",
				      FIT_TEXT_ARG(cell.u.t));
	if (c->type == FIT_REAL)
		*v = cell.u.d;
	else if (c->type != FIT_TEXT)
		*v = c->type == FIT_INT ? (double)cell.u.i : fit_time_to_double(cell.u.i);
	return FIT_OK;
}

/* ---- levels and classes ---- */

struct named {
	struct fit_text text;
	int64_t number;
	bool by_number;
	size_t row;
};

static int by_name(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	if (a->by_number)
		return (a->number > b->number) - (a->number < b->number);
	return fit_text_cmp(a->text, b->text);
}

/*
 * The different values of a column as texts, in byte order (whole numbers that name classes: in their own
 * order), and the index of each row's, NaN where it is missing.
 */
static int code_column(const struct fit_column *c, size_t n, bool numbers_in_order, char ***names,
		       size_t *n_names, double *code, struct fit_err *err)
{
	struct named *all = malloc((n + 1) * sizeof *all);
	char(*room)[FIT_NUM_MAX] = c->type == FIT_TEXT ? NULL : malloc((n + 1) * sizeof *room);
	size_t m = 0, cap = 0;
	int rc = all && (room || c->type == FIT_TEXT) ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct named x = { .row = i, .by_number = numbers_in_order && c->type == FIT_INT };

		x.text = cell_text(c, i, room ? room[i] : NULL);
		x.number = x.by_number && x.text.s ? c->i[i] : 0;
		code[i] = (double)NAN;
		if (x.text.s)
			all[m++] = x;
	}
	if (!rc && m > 0)
		qsort(all, m, sizeof *all, by_name);
	for (size_t i = 0; i < m && !rc; i++) {
		if (i == 0 || by_name(&all[i], &all[i - 1]) != 0) {
			rc = fit_grow(names, &cap, *n_names + 1, sizeof **names) ? fit_fail_nomem(err) : FIT_OK;
			if (!rc && !((*names)[*n_names] = fit_strdup(all[i].text)))
				rc = fit_fail_nomem(err);
			*n_names += rc ? 0 : 1;
		}
		code[all[i].row] = (double)(*n_names - 1);
	}
	free(all);
	free(room);
	return rc;
}

double tree_data_level(const struct fit_tree_feature *f, struct fit_text t)
{
	static const enum fit_type types[] = { FIT_INT, FIT_REAL, FIT_TIME };
	double code = t.s ? fit_tree_code(f, t) : (double)NAN;
	char buf[FIT_NUM_MAX];
	struct fit_cell cell;

	if (!(code < 0) || (t.n > 1 && t.s[0] == '0' && t.s[1] >= '0' && t.s[1] <= '9'))
		return code;
	for (size_t k = 0; k < 3 && code < 0; k++) {
		if (!fit_cell_parse(types[k], t, &cell)) {
			size_t n = fit_cell_format(types[k], &cell, buf);

			code = fit_tree_code(f, (struct fit_text){ buf, n });
		}
	}
	return code;
}

/* ---- the parts ---- */

/* One cell that is no number makes names of a column whose type is not given: remember the first such one. */
static void note_mixed(struct tree_data *g, const struct fit_table *t, const struct fit_column *c)
{
	struct fit_text other = { NULL, 0 };
	size_t numbers = 0, others = 0;
	double v;

	if (g->mixed || c->type != FIT_TEXT)
		return;
	for (size_t i = 0; i < t->n_rows; i++) {
		struct fit_text text = fit_column_text(c, i);

		if (!text.s)
			continue;
		if (!fit_parse_double_any(text, &v))
			numbers++;
		else if (others++ == 0)
			other = text;
	}
	if (others && numbers > others) {
		g->mixed = c->name;
		g->mixed_text = other;
	}
}

static int take_feature(struct tree_data *g, const struct fit_table *t, const struct fit_column *c,
			const struct tree_data_options *o, struct fit_err *err)
{
	struct fit_tree_feature *f = &g->features[g->n_features];
	double *x = malloc((t->n_rows + 1) * sizeof *x);
	int rc = FIT_OK;

	g->x[g->n_features] = x;
	f->name = fit_strdup(fit_text_of(c->name));
	g->n_features++;
	if (!x || !f->name)
		return fit_fail_nomem(err);
	f->categorical = c->type == FIT_TEXT || cli_listed(&o->nominal, c->name);
	if (!cli_listed(&o->nominal, c->name))
		note_mixed(g, t, c);
	if (f->categorical)
		return code_column(c, t->n_rows, false, &f->levels, &f->n_levels, x, err);
	for (size_t i = 0; i < t->n_rows && !rc; i++)
		rc = cell_number(t, c, i, &x[i], err);
	return rc;
}

static int need_column(const struct fit_table *t, const char *name, const struct fit_column **c, int code,
		       struct fit_err *err)
{
	struct fit_str there = { 0 };
	int rc = FIT_OK;

	*c = fit_table_column(t, name);
	if (*c)
		return FIT_OK;
	for (size_t i = 0; i < t->n_columns && !rc; i++)
		rc = fit_str_printf(&there, "%s%s", i ? ", " : "", t->columns[i].name);
	rc = rc ? fit_fail_nomem(err)
		: fit_fail(err, code, "%s: no column '%s' (found %s)", t->input, name, there.s ? there.s : "none");
	fit_str_release(&there);
	return rc;
}

static int take_weights(struct tree_data *g, const struct fit_table *t, const char *name, struct fit_err *err)
{
	const struct fit_column *c;
	int rc = need_column(t, name, &c, FIT_EINVAL, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		rc = cell_number(t, c, i, &g->w[i], err);
		if (!rc && !(g->w[i] >= 0 && isfinite(g->w[i])))
			rc = fit_table_fail(t, i, FIT_EDATA, name, err, "bad weight '%g' (expected 0 or more)",
					    g->w[i]);
	}
	return rc;
}

/* Target and weights. With a tree, its classes are the classes. */
static int take_target(struct tree_data *g, const struct fit_table *t, const struct tree_data_options *o,
		       const struct fit_tree *tree, struct fit_err *err)
{
	const struct fit_column *c;
	bool classes = tree ? tree->n_classes > 0 : o->classes;
	int rc = need_column(t, o->target, &c, FIT_EINVAL, err);

	if (rc)
		return rc;
	g->y = malloc((t->n_rows + 1) * sizeof *g->y);
	g->w = malloc((t->n_rows + 1) * sizeof *g->w);
	if (!g->y || !g->w)
		return fit_fail_nomem(err);
	if (!tree && c->type == FIT_TEXT) {
		if (!classes)
			note_mixed(g, t, c);
		classes = true;
	}
	if (classes && !tree)
		rc = code_column(c, t->n_rows, true, &g->classes, &g->n_classes, g->y, err);
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		char buf[FIT_NUM_MAX];
		struct fit_text text = cell_text(c, i, buf);

		g->w[i] = 1;
		if (tree && classes) {
			size_t k = 0;

			while (k < tree->n_classes && text.s && !fit_text_is(text, tree->classes[k]))
				k++;
			if (k == tree->n_classes)
				return fit_table_fail(t, i, FIT_EDATA, c->name, err,
						      "'%.*s' is no class of the tree", FIT_TEXT_ARG(text));
			g->y[i] = text.s ? (double)k : (double)NAN;
		} else if (!classes) {
			rc = cell_number(t, c, i, &g->y[i], err);
		}
		if (!rc && isnan(g->y[i]))
			return fit_table_fail(t, i, FIT_EDATA, c->name, err, "the target is missing");
		if (!rc && !classes && fabs(g->y[i]) > 1e150)
			return fit_table_fail(t, i, FIT_EDATA, c->name, err,
					      "bad target '%g' (expected at most 1e150 in size)", g->y[i]);
	}
	if (!rc && o->weight)
		rc = take_weights(g, t, o->weight, err);
	if (!rc && tree && classes) {
		g->classes = calloc(tree->n_classes + 1, sizeof *g->classes);
		if (!g->classes)
			return fit_fail_nomem(err);
		for (; g->n_classes < tree->n_classes; g->n_classes++)
			if (!(g->classes[g->n_classes] = fit_strdup(fit_text_of(tree->classes[g->n_classes]))))
				return fit_fail_nomem(err);
	}
	return rc ? rc : fit_tree_weigh_classes(g->w, g->y, t->n_rows, g->classes, g->n_classes,
						o->class_weight.items, o->class_weight.n, err);
}

static bool any_weight(const struct tree_data *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (g->w[i] > 0)
			return true;
	return false;
}

static int make_room(struct tree_data *g, size_t columns, struct fit_err *err)
{
	g->features = calloc(columns + 1, sizeof *g->features);
	g->x = calloc(columns + 1, sizeof *g->x);
	return g->features && g->x ? FIT_OK : fit_fail_nomem(err);
}

static void lend(struct tree_data *g, const struct fit_table *t, const struct fit_tree_feature *features,
		 size_t n_features)
{
	g->d = (struct fit_tree_data){ .n_rows = t->n_rows, .n_features = n_features, .n_classes = g->n_classes,
				       .features = features, .classes = g->classes,
				       .x = (const double *const *)g->x, .y = g->y, .w = g->w };
}

int tree_data_train(struct tree_data *g, const struct fit_table *t, const struct tree_data_options *o,
		    struct fit_err *err)
{
	const struct cli_list *lists[] = { &o->features, &o->exclude, &o->nominal };
	const struct fit_column *c;
	int rc = make_room(g, t->n_columns, err);

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < lists[k]->n && !rc; i++)
			rc = need_column(t, lists[k]->items[i], &c, FIT_EINVAL, err);
	if (!rc && cli_listed(&o->features, o->target))
		rc = fit_fail(err, FIT_EINVAL, "the target '%s' is among the features", o->target);
	rc = rc ? rc : take_target(g, t, o, NULL, err);
	for (size_t i = 0; i < t->n_columns && !rc; i++) {
		c = &t->columns[i];
		if (strcmp(c->name, o->target) == 0 || (o->weight && strcmp(c->name, o->weight) == 0) ||
		    cli_listed(&o->exclude, c->name) || (o->features.n && !cli_listed(&o->features, c->name)))
			continue;
		rc = take_feature(g, t, c, o, err);
	}
	if (!rc && t->n_rows == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", t->input);
	if (!rc && g->n_features == 0)
		rc = fit_fail(err, FIT_EINVAL, "%s: no column is left as a feature", t->input);
	rc = rc ? rc : tree_set_constraints(g, &o->shape, err);
	if (!rc && !any_weight(g, t->n_rows))
		rc = fit_fail(err, FIT_EDATA, "%s: no row with a weight above 0", t->input);
	lend(g, t, g->features, g->n_features);
	return rc;
}

int tree_data_predict(struct tree_data *g, const struct fit_table *t, const struct fit_tree *tree,
		      const struct tree_data_options *o, struct fit_err *err)
{
	int rc = make_room(g, tree->n_features, err);

	for (size_t f = 0; f < tree->n_features && !rc; f++) {
		const struct fit_tree_feature *want = &tree->features[f];
		const struct fit_column *c;
		double *x;

		rc = need_column(t, want->name, &c, FIT_ENOTFOUND, err);
		if (rc)
			return rc;
		x = malloc((t->n_rows + 1) * sizeof *x);
		g->x[f] = x;
		g->n_features++;
		if (!x)
			return fit_fail_nomem(err);
		for (size_t i = 0; i < t->n_rows && !rc; i++) {
			char buf[FIT_NUM_MAX];
			struct fit_text text;

			if (!want->categorical) {
				rc = cell_number(t, c, i, &x[i], err);
				continue;
			}
			text = cell_text(c, i, buf);
			x[i] = tree_data_level(want, text);
		}
	}
	if (!rc && o)
		rc = take_target(g, t, o, tree, err);
	lend(g, t, tree->features, tree->n_features);
	return rc;
}
