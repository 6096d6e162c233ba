/* SPDX-License-Identifier: MIT */
/*
 * Inside of growing a tree, shared by tree_grow.c, tree_scan.c and tree_stats.c; not a public header.
 *
 * Everything that is summed in a search is a whole number, so that sums do not depend on the order of
 * rows: weights as int64 (counts where all weights are equal), targets as int64 in a fixed point that
 * each node sets anew from the range of its own targets.
 */
#ifndef FIT_MODEL_TREE_GROW_H
#define FIT_MODEL_TREE_GROW_H

#include "libfit/model/tree.h"

__extension__ typedef __int128 fit_tree_i128;

/* A row and the rank of its value (single precision: the value's bits, in an order that rises). */
struct fit_tree_pair {
	uint32_t row, key;
};
#define FIT_TREE_KEY_MISSING UINT32_MAX

enum fit_tree_kernel {
	KERNEL_SQUARED,		/* targets q */
	KERNEL_GINI,		/* counts of classes */
	KERNEL_ENTROPY,		/* the same, c log2 c from a table */
	KERNEL_WEIGHTED,	/* weights of classes, gini or entropy */
	KERNEL_SKLEARN,		/* counts of classes, with its rounding; gain is less the node's */
	KERNEL_ABSOLUTE		/* ranks of targets */
};

/* The best cut of a node so far, and what a scan needs to know of the node. */
struct fit_tree_scan {
	enum fit_tree_kernel kernel;
	bool entropy;			/* KERNEL_WEIGHTED */
	/* all of the tree */
	const int64_t *q;		/* by row */
	const int64_t *wq;		/* by row; NULL: every row counts 1 */
	const uint16_t *cls;		/* by row */
	const int64_t *log_table;	/* KERNEL_ENTROPY: c log2 c in units of 2^-log_bits, c = 0 … rows */
	int log_bits;
	size_t n_classes;
	size_t min_leaf;
	double min_weight;		/* of a side, in units of wq */
	bool sklearn;
	/* the node */
	size_t n;
	int64_t sum_w, sum_q;
	const int64_t *total;		/* weight by class */
	double eps;			/* gains closer than this are equal */
	double unit;			/* impurity times weight of one unit of gain */
	double centre, value_unit;	/* value = centre + value_unit * sum_q / sum_w */
	double lower, upper;		/* within which values may be */
	int monotone;			/* of the feature that is scanned */
	bool strict;			/* some cuts that gain are not allowed */
	/* KERNEL_ABSOLUTE: distinct targets of the node in order */
	const uint32_t *rank;		/* by row */
	const double *distinct;		/* less centre, over value_unit: in units of q / w */
	const int64_t *cum_w, *cum_q;	/* [r]: of all ranks below r */
	size_t n_distinct;
	int64_t *tree_w, *tree_q;	/* sums of the left side, by rank (Fenwick) */
	/* work of n_classes each */
	int64_t *left, *right;
	/* result */
	bool found;
	double gain;
	size_t cut;			/* so many of the pairs go to the left */
	bool missing_left;
};

/*
 * Look at all cuts of o[0 … n - 1] in order of keys, of which o[m …] are missing. A better one than s
 * has goes into s, and true is returned.
 */
bool fit_tree_scan(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m);

/* Value of a key in single precision. */
float fit_tree_key_float(uint32_t key);

#endif
