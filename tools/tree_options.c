/* SPDX-License-Identifier: MIT */
/* Constraints and weights of classes, as options of gf-tree say them. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/tree_data.h"

/* NAME=1 or NAME=-1. */
static int parse_constraint(const char *item, struct fit_text *name, int64_t *sign, struct fit_err *err)
{
	const char *eq = strrchr(item, '=');

	*name = (struct fit_text){ item, eq ? (size_t)(eq - item) : 0 };
	*sign = 0;
	if (!eq || fit_parse_int64(fit_text_of(eq[1] == '+' ? eq + 2 : eq + 1), sign) || *sign < -1 || *sign > 1)
		return fit_fail(err, FIT_EINVAL, "bad constraint '%s' (expected NAME=1 or NAME=-1)", item);
	return FIT_OK;
}

/* CLASS=WEIGHT. */
static int parse_class_weight(const char *item, struct fit_text *name, double *w, struct fit_err *err)
{
	const char *eq = strrchr(item, '=');

	*name = (struct fit_text){ item, eq ? (size_t)(eq - item) : 0 };
	if (!eq || fit_parse_double(fit_text_of(eq + 1), w) || *w < 0)
		return fit_fail(err, FIT_EINVAL, "bad weight of a class '%s' (expected balanced, or CLASS=WEIGHT)",
				item);
	return FIT_OK;
}

/* NAME=… of item i: does an earlier one have the same name? */
static bool is_again(const struct cli_list *l, size_t i, struct fit_text name)
{
	for (size_t k = 0; k < i; k++) {
		const char *eq = strrchr(l->items[k], '=');

		if (fit_text_cmp((struct fit_text){ l->items[k], (size_t)(eq - l->items[k]) }, name) == 0)
			return true;
	}
	return false;
}

static int check_class_weights(const struct cli_list *weights, struct fit_err *err)
{
	struct fit_text name;
	double w;
	int rc = FIT_OK;

	if (weights->n == 1 && strcmp(weights->items[0], "balanced") == 0)
		return FIT_OK;
	if (weights->n > 1 && cli_listed(weights, "balanced"))
		return fit_fail(err, FIT_EINVAL, "--class-weight is either balanced or a weight by class");
	for (size_t i = 0; i < weights->n && !rc; i++) {
		rc = parse_class_weight(weights->items[i], &name, &w, err);
		if (!rc && is_again(weights, i, name))
			rc = fit_fail(err, FIT_EINVAL, "two weights of class '%.*s'", FIT_TEXT_ARG(name));
	}
	return rc;
}

int tree_data_options_check(const struct tree_data_options *o, struct fit_err *err)
{
	struct fit_text name;
	int64_t sign;
	int rc = FIT_OK;

	if (o->target && o->weight && strcmp(o->target, o->weight) == 0)
		return fit_fail(err, FIT_EINVAL, "'%s' is both --target and --weight", o->target);
	if (o->target && cli_listed(&o->categorical, o->target))
		return fit_fail(err, FIT_EINVAL, "'%s' is both --target and --categorical (classes: --classify)",
				o->target);
	for (size_t i = 0; i < o->monotone.n && !rc; i++) {
		rc = parse_constraint(o->monotone.items[i], &name, &sign, err);
		if (!rc && is_again(&o->monotone, i, name))
			rc = fit_fail(err, FIT_EINVAL, "two constraints on '%.*s'", FIT_TEXT_ARG(name));
	}
	return rc ? rc : check_class_weights(&o->class_weight, err);
}

int tree_set_constraints(struct tree_data *g, const struct cli_list *list, struct fit_err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct fit_text name;
		int64_t sign;
		size_t f = 0;
		int rc = parse_constraint(list->items[i], &name, &sign, err);

		if (rc)
			return rc;
		while (f < g->n_features && !fit_text_is(name, g->features[f].name))
			f++;
		if (f == g->n_features)
			return fit_fail(err, FIT_EINVAL, "no feature '%.*s' (--monotone)", FIT_TEXT_ARG(name));
		g->features[f].monotone = (int)sign;
	}
	return FIT_OK;
}

/* n / (classes * n of the class), n being weights of rows that count: so each class weighs the same. */
static int balance(struct tree_data *g, size_t n, struct fit_err *err)
{
	double *count = calloc(g->n_classes + 1, sizeof *count), sum = 0, present = 0;

	if (!count)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		count[(size_t)g->y[i]] += g->w[i] > 0;
		sum += g->w[i] > 0;
	}
	for (size_t c = 0; c < g->n_classes; c++)
		present += count[c] > 0;
	for (size_t i = 0; i < n; i++)
		if (g->w[i] > 0)
			g->w[i] *= sum / (present * count[(size_t)g->y[i]]);
	free(count);
	return FIT_OK;
}

int tree_weigh_classes(struct tree_data *g, size_t n, const struct cli_list *list, struct fit_err *err)
{
	if (list->n && !g->n_classes)
		return fit_fail(err, FIT_EINVAL, "weights of classes, but the target is a number (--classify)");
	if (list->n == 1 && strcmp(list->items[0], "balanced") == 0)
		return balance(g, n, err);
	for (size_t k = 0; k < list->n; k++) {
		struct fit_text name;
		double w = 0;
		size_t c = 0;
		int rc = parse_class_weight(list->items[k], &name, &w, err);

		if (rc)
			return rc;
		while (c < g->n_classes && !fit_text_is(name, g->classes[c]))
			c++;
		if (c == g->n_classes)
			return fit_fail(err, FIT_EINVAL, "no class '%.*s' (--class-weight)", FIT_TEXT_ARG(name));
		for (size_t i = 0; i < n; i++)
			if ((size_t)g->y[i] == c)
				g->w[i] *= w;
	}
	return FIT_OK;
}
