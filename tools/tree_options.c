/* SPDX-License-Identifier: MIT */
/* What options of gf-tree say of features and classes. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/tree_data.h"

/* COLUMN=increasing or COLUMN=decreasing. */
static int parse_shape(const char *item, struct fit_text *name, int *sign, struct fit_err *err)
{
	const char *eq = strrchr(item, '=');

	*name = (struct fit_text){ item, eq ? (size_t)(eq - item) : 0 };
	*sign = !eq ? 0 : strcmp(eq + 1, "increasing") == 0 ? 1 : strcmp(eq + 1, "decreasing") == 0 ? -1 : 0;
	return *sign ? FIT_OK : fit_fail(err, FIT_EINVAL, "bad value '%s' for --shape (expected COLUMN=SHAPE, "
					 "a shape being increasing or decreasing)", item);
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

int tree_data_options_check(const struct tree_data_options *o, struct fit_err *err)
{
	struct fit_text name;
	int sign;
	int rc = FIT_OK;

	if (o->target && o->weight && strcmp(o->target, o->weight) == 0)
		return fit_fail(err, FIT_EINVAL, "'%s' is both --target and --weight", o->target);
	if (o->target && cli_listed(&o->nominal, o->target))
		return fit_fail(err, FIT_EINVAL, "'%s' is both --target and --nominal (classes: --classify)",
				o->target);
	for (size_t i = 0; i < o->shape.n && !rc; i++) {
		rc = parse_shape(o->shape.items[i], &name, &sign, err);
		if (!rc && is_again(&o->shape, i, name))
			rc = fit_fail(err, FIT_EINVAL, "two shapes of '%.*s'", FIT_TEXT_ARG(name));
	}
	return rc ? rc : fit_tree_class_weights_check(o->class_weight.items, o->class_weight.n, err);
}

int tree_set_constraints(struct tree_data *g, const struct cli_list *list, struct fit_err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct fit_text name;
		int sign;
		size_t f = 0;
		int rc = parse_shape(list->items[i], &name, &sign, err);

		if (rc)
			return rc;
		while (f < g->n_features && !fit_text_is(name, g->features[f].name))
			f++;
		if (f == g->n_features)
			return fit_fail(err, FIT_EINVAL, "no feature '%.*s' (--shape)", FIT_TEXT_ARG(name));
		g->features[f].monotone = sign;
	}
	return FIT_OK;
}
