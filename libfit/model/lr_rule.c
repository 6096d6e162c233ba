/* SPDX-License-Identifier: MIT */
#include "libfit/model/lr_rule.h"

#include <math.h>
#include <string.h>

/* Without signal and noise there is nothing that a larger batch could average out: 1. */
static double adascale(double batch, double init_batch, const struct fit_lr_stats *s)
{
	double below = s->grad_var / (batch / init_batch) + s->grad_sqr;

	return below > 0 ? (s->grad_var + s->grad_sqr) / below : 1;
}

static double square_root(double batch, double init_batch, const struct fit_lr_stats *s)
{
	(void)s;
	return sqrt(batch / init_batch);
}

static double linear(double batch, double init_batch, const struct fit_lr_stats *s)
{
	(void)s;
	return batch / init_batch;
}

static double scale(double batch, double init_batch)
{
	return batch / init_batch;
}

const struct fit_lr_rule fit_lr_rules[] = {
	{ "adascale", adascale, NULL, "from the gradient statistics, at most linear" },
	{ "sqrt", square_root, NULL, "square root of the batch size" },
	{ "linear", linear, NULL, "proportional to the batch size" },
	{ "legw", square_root, scale, "square root, warm-up epochs proportional to the batch size" }
};
const size_t fit_lr_n_rules = sizeof fit_lr_rules / sizeof *fit_lr_rules;

const struct fit_lr_rule *fit_lr_rule_find(const char *name)
{
	for (size_t i = 0; i < fit_lr_n_rules; i++)
		if (strcmp(fit_lr_rules[i].name, name) == 0)
			return &fit_lr_rules[i];
	return NULL;
}
