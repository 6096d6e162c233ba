/* SPDX-License-Identifier: MIT */
/*
 * How a learning rate grows with the batch size: the rules in use, as a table of functions.
 *
 * A job tuned at total batch size M0 with learning rate eta runs at M with gain x eta. With
 * S = M / M0, and sqr and var the squared norm and the variance of the gradient at M0:
 *
 *   name      gain                                 source
 *   adascale  (var + sqr) / (var / S + sqr)        Johnson et al., AdaScale SGD, ICML'20; Pollux
 *                                                  section 3.1: between 1 and S, so also progress
 *   sqrt      sqrt(S)                              Krizhevsky 2014; usual with Adam and the like
 *   linear    S                                    Goyal et al. 2017
 *   legw      sqrt(S), warm-up epochs times S      You et al., Large-batch training for LSTM and
 *                                                  beyond, SC'19
 *
 * A further rule is one more row of the table in lr_rule.c; tools take the names from there.
 */
#ifndef FIT_MODEL_LR_RULE_H
#define FIT_MODEL_LR_RULE_H

#include <stddef.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

struct fit_lr_stats {
	double grad_sqr, grad_var;	/* >= 0, finite; the latter at M0 */
};

struct fit_lr_rule {
	const char *name;		/* [a-z0-9_]+ */
	/* The factor on the learning rate; batch, init_batch > 0. */
	double (*gain)(double batch, double init_batch, const struct fit_lr_stats *stats);
	/* The factor on the number of warm-up epochs; NULL: they stay as they are. */
	double (*warmup)(double batch, double init_batch);
	const char *note;		/* a few words for people */
};

extern const struct fit_lr_rule fit_lr_rules[];
extern const size_t fit_lr_n_rules;

/* The rule of that name, or NULL. */
const struct fit_lr_rule *fit_lr_rule_find(const char *name);

FIT_C_END

#endif
