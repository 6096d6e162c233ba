/* SPDX-License-Identifier: MIT */
/* What a node is like while a tree grows: its weight, value and impurity, and its targets in fixed
 * point. Shared by tree_grow.c and tree_stats.c; not a public header. */
#ifndef FIT_MODEL_TREE_STATS_H
#define FIT_MODEL_TREE_STATS_H

#include "libfit/model/tree_grow.h"

struct fit_tree_stats {
	const struct fit_tree_data *d;
	enum fit_tree_criterion criterion;
	bool sklearn;
	uint32_t *rows;			/* rows of positive weight; a node's are consecutive */
	size_t n;
	double weight_unit;		/* of a unit of scan.wq */
	double weight_top;		/* a power of two, not below the largest weight */
	double total_weight;
	struct fit_tree_pair *by_target;	/* FIT_TREE_ABSOLUTE: as rows, in order of target */
	struct fit_tree_scan scan;
	/* owned; scan borrows them */
	int64_t *q, *wq, *log_table, *class_w, *left, *right, *cum_w, *cum_q, *tree_w, *tree_q;
	uint16_t *cls;
	uint32_t *rank;
	double *distinct;
};

int fit_tree_stats_init(struct fit_tree_stats *s, const struct fit_tree_data *d,
			const struct fit_tree_params *p, struct fit_err *err) FIT_MUST_CHECK;
void fit_tree_stats_release(struct fit_tree_stats *s);
/* n, weight, impurity and value of the node of rows [from, to); classes[n_classes] for classes. */
void fit_tree_stats_node(struct fit_tree_stats *s, size_t from, size_t to, struct fit_tree_node *node,
			 double *classes);
/* Nothing to gain from a cut: one class, or one target. */
bool fit_tree_stats_pure(const struct fit_tree_stats *s, const struct fit_tree_node *node);
/* Make s->scan ready for the rows [from, to): no cut found yet. */
void fit_tree_stats_begin(struct fit_tree_stats *s, size_t from, size_t to, const struct fit_tree_node *node);

/* tree_grow.c: grow t, whose description is there and which has no node. Nodes are in the order in which
 * they were made. */
int fit_tree_grow(struct fit_tree *t, const struct fit_tree_data *d, const struct fit_tree_params *p,
		  struct fit_err *err) FIT_MUST_CHECK;

#endif
