/* SPDX-License-Identifier: MIT */
/* A table as what a tree is grown from, or walked with: columns to numbers, texts to levels and classes. */
#ifndef TOOLS_TREE_DATA_H
#define TOOLS_TREE_DATA_H

#include "libfit/model/tree.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"

struct tree_data_options {
	const char *target, *weight;	/* column names; weight may be NULL */
	bool classes;			/* the target is a class even where it is a number */
	struct cli_list features;	/* none: all columns but target and weight */
	struct cli_list exclude, nominal;
	struct cli_list shape;	/* COLUMN=increasing, COLUMN=decreasing */
	struct cli_list class_weight;	/* "balanced", or CLASS=WEIGHT */
};

struct tree_data {
	struct fit_tree_data d;		/* borrows from what follows */
	struct fit_tree_feature *features;
	size_t n_features;
	double **x;
	double *y, *w;
	char **classes;
	size_t n_classes;
	const char *mixed;		/* first column of names, not said to be such, that is mostly numbers; or NULL */
	struct fit_text mixed_text;	/* the first that is none */
};

/* FIT_EINVAL: a constraint or a weight of a class that cannot be one of any table. */
int tree_data_options_check(const struct tree_data_options *o, struct fit_err *err) FIT_MUST_CHECK;
/* The constraints of --shape on the features of g. FIT_EINVAL: there is no such feature. */
int tree_set_constraints(struct tree_data *g, const struct cli_list *list,
			 struct fit_err *err) FIT_MUST_CHECK;
void tree_data_release(struct tree_data *g);
/* For training. FIT_EINVAL: the options (a column that is not there, a bad constraint). FIT_EDATA: a
 * missing target, a bad weight, with its line. */
int tree_data_train(struct tree_data *g, const struct fit_table *t, const struct tree_data_options *o,
		    struct fit_err *err) FIT_MUST_CHECK;
/* The columns that a tree asks for; with o also target and weights (as it was trained). Features are the
 * tree's. A text where a number is needed is FIT_EDATA with its line, a column that is not there
 * FIT_ENOTFOUND. */
int tree_data_predict(struct tree_data *g, const struct fit_table *t, const struct fit_tree *tree,
		      const struct tree_data_options *o, struct fit_err *err) FIT_MUST_CHECK;

/* The code of a level, also where it is a number in another spelling than in training (1.0 for 1; but 007 is
 * a name); NaN where it is missing, -1 where training did not see it. */
double tree_data_level(const struct fit_tree_feature *f, struct fit_text t);

#endif
