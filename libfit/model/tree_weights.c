/* SPDX-License-Identifier: MIT */
/* Weights of rows by their class. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/tree.h"

#define BALANCED "balanced"

/* CLASS=WEIGHT; the last = counts, as a class may have one in its name. */
static int parse(const char *item, struct fit_text *name, double *w, struct fit_err *err)
{
	const char *eq = strrchr(item, '=');

	*name = (struct fit_text){ item, eq ? (size_t)(eq - item) : 0 };
	if (!eq || fit_parse_double(fit_text_of(eq + 1), w) || *w < 0)
		return fit_fail(err, FIT_EINVAL, "bad weight of a class '%s' (expected balanced, or CLASS=WEIGHT)",
				item);
	return FIT_OK;
}

static bool is_balanced(const char *const *items, size_t n)
{
	return n == 1 && strcmp(items[0], BALANCED) == 0;
}

int fit_tree_class_weights_check(const char *const *items, size_t n_items, struct fit_err *err)
{
	if (is_balanced(items, n_items))
		return FIT_OK;
	for (size_t i = 0; i < n_items; i++)
		if (strcmp(items[i], BALANCED) == 0)
			return fit_fail(err, FIT_EINVAL, "--class-weight is either balanced or a weight by class");
	for (size_t i = 0; i < n_items; i++) {
		struct fit_text name, other;
		double w;
		int rc = parse(items[i], &name, &w, err);

		for (size_t k = 0; k < i && !rc; k++)
			if (!parse(items[k], &other, &w, NULL) && fit_text_eq(name, other))
				rc = fit_fail(err, FIT_EINVAL, "two weights of class '%.*s'", FIT_TEXT_ARG(name));
		if (rc)
			return rc;
	}
	return FIT_OK;
}

/* n / (classes * n of the class), n being rows that count: so each class weighs the same. */
static int balance(double *w, const double *y, size_t n, size_t n_classes, struct fit_err *err)
{
	double *count = calloc(n_classes + 1, sizeof *count), sum = 0, present = 0;

	if (!count)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (!(y[i] >= 0) || !(w[i] > 0))
			continue;
		count[(size_t)y[i]]++;
		sum++;
	}
	for (size_t c = 0; c < n_classes; c++)
		present += count[c] > 0;
	for (size_t i = 0; i < n; i++)
		if (y[i] >= 0 && w[i] > 0)
			w[i] *= sum / (present * count[(size_t)y[i]]);
	free(count);
	return FIT_OK;
}

int fit_tree_weigh_classes(double *w, const double *y, size_t n, char *const *classes, size_t n_classes,
			   const char *const *items, size_t n_items, struct fit_err *err)
{
	if (n_items && !n_classes)
		return fit_fail(err, FIT_EINVAL, "weights of classes, but the target is a number (--classify)");
	if (is_balanced(items, n_items))
		return balance(w, y, n, n_classes, err);
	for (size_t k = 0; k < n_items; k++) {
		struct fit_text name;
		double by = 0;
		size_t c = 0;
		int rc = parse(items[k], &name, &by, err);

		if (rc)
			return rc;
		while (c < n_classes && !fit_text_is(name, classes[c]))
			c++;
		if (c == n_classes)
			return fit_fail(err, FIT_EINVAL, "no class '%.*s' (--class-weight)", FIT_TEXT_ARG(name));
		for (size_t i = 0; i < n; i++)
			if (y[i] >= 0 && (size_t)y[i] == c)
				w[i] *= by;
	}
	return FIT_OK;
}
