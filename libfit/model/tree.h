/* SPDX-License-Identifier: MIT */
/*
 * Decision trees (Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984):
 * grown by an exact search of all cuts, pruned along the minimal cost-complexity path, walked row by row.
 * docs/methods/tree.md has the equations, docs/formats/tree.md the tables that a tree is stored as.
 *
 * Deterministic: a tree depends on the set of rows and their weights alone, not on the order of the rows
 * or on threads. All sums of a search are whole numbers (targets and weights in fixed point, scaled anew in
 * each node), so equal partitions have equal gains to the bit. Of cuts whose gains differ by no more than
 * FIT_TREE_TIE of all that the node could gain, the lowest feature wins, then the lowest threshold; with
 * missing values, sending these to the left comes before sending them to the right.
 */
#ifndef FIT_MODEL_TREE_H
#define FIT_MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_TREE_TIE 1e-12
#define FIT_TREE_MAX_CLASSES 65535
#define FIT_TREE_MAX_LEVELS 1000000

enum fit_tree_criterion {
	FIT_TREE_GINI,		/* classification: 1 - sum of squared shares */
	FIT_TREE_ENTROPY,	/* classification: Shannon entropy, bits */
	FIT_TREE_SQUARED,	/* regression: mean squared distance to the mean */
	FIT_TREE_ABSOLUTE	/* regression: mean distance to the median */
};
/* "gini", "entropy", "squared_error", "absolute_error"; ends with NULL. */
extern const char *const fit_tree_criterion_names[];
bool fit_tree_is_classifier(enum fit_tree_criterion c);

/* ---- what a tree is grown from ---- */

struct fit_tree_feature {
	char *name;
	bool categorical;
	int monotone;		/* +1: the prediction never falls as the feature rises; -1; 0 */
	char **levels;		/* categorical: n_levels names, in byte order; code c is levels[c] */
	size_t n_levels;
};

struct fit_tree_data {
	size_t n_rows, n_features, n_classes;	/* n_classes 0: regression */
	const struct fit_tree_feature *features;
	char *const *classes;			/* names of the classes, n_classes */
	/* x[f][row]: a number; NaN is missing. Categorical: the code of the level. */
	const double *const *x;
	const double *y;	/* regression: finite, at most 1e150 in size; else the class, 0 … */
	const double *w;	/* weights, finite and >= 0; NULL: 1. Rows of weight 0 are as if absent */
};

struct fit_tree_params {
	enum fit_tree_criterion criterion;
	int64_t max_depth;		/* -1: no limit; 0: the root alone */
	int64_t min_split, min_leaf;	/* rows of a node that is cut (2), of each side (1) */
	double min_weight_share;	/* of all weight, on each side; 0 to 0.5 */
	double min_decrease;		/* of the impurity of all rows, by one cut */
	int64_t max_leaves;		/* -1: depth first; else best first, to so many leaves */
	bool sklearn;			/* features in single precision, values within 1e-7 taken as equal */
};
struct fit_tree_params fit_tree_params_default(enum fit_tree_criterion c);
/* NULL, or what is wrong with them in one sentence. */
const char *fit_tree_params_check(const struct fit_tree_params *p);

/* ---- a tree ---- */

struct fit_tree_node {
	int32_t left, right;	/* -1: a leaf. The left child comes right behind its parent */
	int32_t parent, depth;	/* -1 and 0 for the root */
	int32_t feature;	/* -1: a leaf */
	bool missing_left;	/* where missing values go */
	bool saw_missing;	/* there were some when the cut was made; else they go with more weight */
	bool other_left;	/* categorical: where a level goes that this node did not see */
	double threshold;	/* a number goes to the left when it is at most this; inf: all numbers do */
	size_t levels;		/* categorical: word in tree->bits; a set bit sends that level to the left */
	uint64_t n;		/* rows, not weighted */
	double weight, impurity;
	double value;		/* regression: mean or median; else the class of most weight, first of equals */
	double alpha;		/* at this complexity and above the node is a leaf; 0 for a leaf */
};

#define FIT_TREE_TRAINED_WEIGHT "train_weight"
#define FIT_TREE_TRAINED_CLASS_WEIGHT "train_class_weight"

struct fit_tree {
	enum fit_tree_criterion criterion;
	bool sklearn;
	char *target;		/* name of the column; NULL: not known */
	struct fit_tree_feature *features;
	size_t n_features;
	char **classes;
	size_t n_classes;
	struct fit_tree_node *nodes;	/* in preorder; [0] is the root */
	size_t n_nodes, cap_nodes;
	double *class_weight;	/* [node * n_classes + class] */
	uint64_t *bits;		/* sets of levels, (n_levels + 63) / 64 words each */
	size_t n_bits, cap_bits;
	struct fit_meta training;	/* how it was grown (training.h): train_weight and train_class_weight_N
					 * beside the parameters; empty: not known */
};

void fit_tree_release(struct fit_tree *t);

/* Grow a tree and set the alpha of each node. FIT_EINVAL: parameters, or a constraint on a categorical
 * feature or with three classes and more; FIT_EDATA: no row with weight. t is made anew. */
int fit_tree_train(struct fit_tree *t, const struct fit_tree_data *d, const struct fit_tree_params *p,
		   struct fit_err *err) FIT_MUST_CHECK;

/* How a tree was pruned: at a complexity, to at most so many leaves, or both; -1: not so. */
struct fit_tree_pruned {
	double alpha;
	int64_t leaves;
};
/* The parameters that t says it was grown with, and how it was pruned; those it does not say stay as they are
 * in *p. FIT_EDATA: what it says are none. */
int fit_tree_trained(const struct fit_tree *t, struct fit_tree_params *p, struct fit_tree_pruned *pruned,
		     struct fit_err *err) FIT_MUST_CHECK;
/* A tree that says how it was grown says from now on that it was pruned so as well: the larger alpha, the
 * fewer leaves. FIT_ENOMEM; FIT_EDATA: what it said before is none. */
int fit_tree_note_pruned(struct fit_tree *t, const struct fit_tree_pruned *pruned,
			 struct fit_err *err) FIT_MUST_CHECK;

/* ---- weights of classes: "balanced" alone, or CLASS=WEIGHT of some ---- */

/* FIT_EINVAL: an item is neither, or comes twice. */
int fit_tree_class_weights_check(const char *const *items, size_t n_items,
				 struct fit_err *err) FIT_MUST_CHECK;
/* Multiply the weights w of n rows by those of their classes y (below 0 or NaN: left alone). Balanced: rows
 * over classes times rows of the class, of rows with a weight. FIT_EINVAL: no such class, or there are
 * none. */
int fit_tree_weigh_classes(double *w, const double *y, size_t n, char *const *classes, size_t n_classes,
			   const char *const *items, size_t n_items, struct fit_err *err) FIT_MUST_CHECK;

/* ---- use ---- */

/* The code of a level of a categorical feature, or -1, which goes where unseen levels go. */
double fit_tree_code(const struct fit_tree_feature *f, struct fit_text level);
/* Does this node send the value to the left? */
bool fit_tree_goes_left(const struct fit_tree *t, const struct fit_tree_node *node, double x);
/* The leaf of one row, x[0 … n_features - 1]. */
size_t fit_tree_leaf(const struct fit_tree *t, const double *x);
/* The leaves of rows first to first + n - 1 of columns x[f][row]. */
void fit_tree_leaves(const struct fit_tree *t, const double *const *x, size_t first, size_t n,
		     uint32_t *leaf);
size_t fit_tree_n_leaves(const struct fit_tree *t);
size_t fit_tree_depth(const struct fit_tree *t);
/* Total decrease of impurity by each feature, as a share of the sum over all; out[n_features]. All 0
 * for a tree without a cut. */
void fit_tree_importance(const struct fit_tree *t, double *out);

/* ---- pruning: minimal cost-complexity, ch. 3 of the book ---- */

/*
 * g(t) = (R(t) - R(T_t)) / (leaves of T_t - 1), R the impurity by the share of all weight. The inner node
 * of the smallest g becomes a leaf, the first in preorder of equal ones, until the root is alone. A step
 * is the tree after one collapse; alphas never fall and may repeat.
 */
struct fit_tree_step {
	double alpha;		/* from here on */
	size_t leaves;
	double impurity;	/* R of the tree */
};
struct fit_tree_path {
	struct fit_tree_step *steps;	/* [0]: the whole tree, alpha 0 */
	size_t n;
};
/* The path, and alpha of each node of t. FIT_ENOMEM. */
int fit_tree_path(struct fit_tree *t, struct fit_tree_path *path, struct fit_err *err) FIT_MUST_CHECK;
/* Cut off what alpha collapses: steps whose alpha is at most this one are taken. */
int fit_tree_prune(struct fit_tree *t, double alpha, struct fit_err *err) FIT_MUST_CHECK;
/* The smallest alpha of the path whose tree has at most so many leaves. */
double fit_tree_path_alpha(const struct fit_tree_path *path, size_t leaves);

/*
 * Cross-validation: each part of the rows is predicted by a tree of the others, pruned at the geometric
 * mean of neighbouring alphas of the tree of all rows. The loss is the share of wrong classes, the mean
 * squared or the mean absolute error; it is averaged over all rows by weight.
 */
struct fit_tree_cv_params {
	int64_t folds;		/* >= 2 and at most the rows */
	bool blocks;		/* rows in consecutive blocks (for rows in order of time), else row % folds */
	bool one_se;		/* the smallest tree within one standard error of the best, else the best */
	int threads;		/* folds that are grown side by side; the result does not depend on it */
};
struct fit_tree_cv_row {
	double alpha;		/* of the path of all rows */
	double beta;		/* at which the trees of the folds are pruned */
	size_t leaves;
	double loss, se;
};
struct fit_tree_cv {
	struct fit_tree_cv_row *rows;	/* by alpha, each different alpha once, the last of its leaves */
	size_t n, best, chosen;
};
int fit_tree_cv(struct fit_tree_cv *cv, const struct fit_tree_data *d, const struct fit_tree_params *p,
		const struct fit_tree_path *path, const struct fit_tree_cv_params *c,
		struct fit_err *err) FIT_MUST_CHECK;

/* ---- tables (docs/formats/tree.md) ---- */

/* Write the tables of a tree; meta goes with the first. path may be NULL. */
int fit_tree_write(const struct fit_tree *t, const struct fit_tree_path *path, struct fit_writer *w,
		   const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;
/* Read them, from any operand of table.h; hash may be NULL. FIT_EDATA: not a sound tree. */
int fit_tree_read(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX],
		  struct fit_err *err) FIT_MUST_CHECK;
/* The same from a reader that is open; it is read to its end. */
int fit_tree_read_from(struct fit_tree *t, struct fit_reader *r, struct fit_err *err) FIT_MUST_CHECK;
/* Is it sound: children behind their parents, features, levels and classes that are there, finite
 * numbers? FIT_EDATA with the first fault. */
int fit_tree_sound(const struct fit_tree *t, struct fit_err *err) FIT_MUST_CHECK;

/* ---- text, DOT, C, JSON ---- */

/* Indented text, as scikit-learn's export_text lays it out; weights: of the classes in each leaf. */
int fit_tree_print_text(const struct fit_tree *t, int digits, bool weights, struct fit_str *out,
			struct fit_err *err) FIT_MUST_CHECK;
int fit_tree_print_dot(const struct fit_tree *t, int digits, struct fit_str *out,
		       struct fit_err *err) FIT_MUST_CHECK;
/* C11 without libraries: name_leaf(x), name(x) and, for classes, name_share(x, p). The same decisions as
 * fit_tree_leaf(), bit by bit. name is an identifier. */
int fit_tree_print_c(const struct fit_tree *t, const char *name, struct fit_str *out,
		     struct fit_err *err) FIT_MUST_CHECK;
int fit_tree_print_json(const struct fit_tree *t, struct fit_str *out, struct fit_err *err) FIT_MUST_CHECK;
/* Walk one row down; x as for fit_tree_leaf(). */
int fit_tree_explain(const struct fit_tree *t, const double *x, struct fit_str *out,
		     struct fit_err *err) FIT_MUST_CHECK;

/*
 * Read JSON: what fit_tree_print_json() writes, or scikit-learn's: an object with "nodes", a list of
 * { id, left, right, feature, threshold, impurity, n, wn, value }, or with the arrays of its tree_
 * (children_left, children_right, feature, threshold, impurity, n_node_samples,
 * weighted_n_node_samples, value). Without our "schema" the tree is taken as one of single precision.
 * name stands in messages. FIT_EPARSE: no JSON; FIT_EDATA: no tree.
 */
int fit_tree_read_json(struct fit_tree *t, const char *name, const char *bytes, size_t n,
		       struct fit_err *err) FIT_MUST_CHECK;

/* ---- checks ---- */

#define FIT_TREE_WHAT 200
struct fit_tree_finding {
	const char *check;	/* what was looked at */
	int64_t node;		/* -1: the whole tree */
	char what[FIT_TREE_WHAT];		/* "" when it holds */
};
struct fit_tree_findings {
	struct fit_tree_finding *list;
	size_t n, cap, faults;
};
/*
 * Does the tree hold what it says? Rows and weights of children add up, no cut raises the impurity,
 * alphas do not rise towards the leaves, constraints hold between any two leaves, every leaf has rows.
 * With data (else NULL) rows, weights, impurities and values of every node are derived again, by plain
 * sums. One finding without fault for each check that holds, else one a node.
 */
int fit_tree_check(const struct fit_tree *t, const struct fit_tree_data *d, struct fit_tree_findings *f,
		   struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
