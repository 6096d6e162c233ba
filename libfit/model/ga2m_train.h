/* SPDX-License-Identifier: MIT */
/*
 * Training of a GA2M (ga2m.h): binning, cyclic and greedy boosting of main effects with bags and early
 * stopping, detection and boosting of pairs, assembly. docs/methods/ga2m.md has the equations.
 *
 * The order of rows matters in one way: bags are drawn over positions. Blocks and `last` take the rows by
 * time where a time column is given, ties in the order of the input; without one, and for `random`, the
 * order is that of the input. All else (cuts, counts, sums of integers) does not depend on it, and
 * nothing depends on the number of threads.
 */
#ifndef FIT_MODEL_GA2M_TRAIN_H
#define FIT_MODEL_GA2M_TRAIN_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/model/ga2m.h"

FIT_C_BEGIN

/* ---- data ---- */

struct fit_ga2m_column {
	char *name;
	bool nominal;
	double *x;		/* continuous: NaN is missing; training frees it once it is binned */
	uint32_t *code;		/* nominal: number of the category in order of appearance */
	struct fit_index index;	/* nominal: category text -> that number */
	char **categories;
	size_t n_categories, cap_categories;
};
#define FIT_GA2M_MISSING UINT32_MAX	/* a code */

/* Columns with n_rows values each. y: class number (from 0) for classes. */
struct fit_ga2m_data {
	size_t n_rows, cap_rows;
	struct fit_ga2m_column *columns;
	size_t n_columns;
	double *y;
	double *weight;		/* NULL: all 1; 0: the row is left out; negative or not finite: FIT_EDATA */
	double *offset;		/* NULL: all 0; on the link scale */
	double *known;		/* NULL, or with softmax what is known of each class beside the offset, which is the
				 * same for all of them: [row * n_classes + class] */
	double *time;		/* NULL, or what orders the rows; NaN is refused */
	double *group;		/* NULL, or a group number (from 0) for FIT_GA2M_GROUPS */
	const int8_t *bags;	/* NULL, or n_bags * n_rows: +k trains k times, -k validates k times, 0: unused;
				 * borrowed */
	char **classes;		/* n_classes names, byte order; NULL for regression */
	size_t n_classes;
};

/* Make n_columns columns without rows. nominal may be NULL (none is). FIT_ENOMEM. */
int fit_ga2m_data_init(struct fit_ga2m_data *d, const char *const *names, const bool *nominal,
		       size_t n_columns) FIT_MUST_CHECK;
void fit_ga2m_data_release(struct fit_ga2m_data *d);
/* Add a row: x[column] for continuous columns, t[column] for nominal ones (s NULL: missing; compared as
 * fit_ga2m_category_text() says); t may be NULL without nominal columns. y is in order with it.
 * FIT_ENOMEM. */
int fit_ga2m_data_add(struct fit_ga2m_data *d, const double *x, const struct fit_text *t,
		      double y) FIT_MUST_CHECK;

/* ---- parameters ---- */

enum fit_ga2m_validation {
	FIT_GA2M_AUTO,		/* blocks where the data have a time, else random */
	FIT_GA2M_RANDOM,	/* each bag its own draw; classes keep their shares */
	FIT_GA2M_BLOCKS,	/* bag b of B: the contiguous block that starts at b / (B - 1) of what is free */
	FIT_GA2M_LAST,		/* the last rows, for every bag */
	FIT_GA2M_GROUPS		/* whole groups, drawn until the share is reached */
};

enum fit_ga2m_engine {
	FIT_GA2M_ENGINE_AUTO,	/* bins where the joint counts fit into `memory_mib`, else samples */
	FIT_GA2M_ENGINE_BINS,	/* a step costs the number of bins */
	FIT_GA2M_ENGINE_SAMPLES	/* a step costs the number of rows */
};

enum fit_ga2m_shape {
	FIT_GA2M_FREE, FIT_GA2M_INCREASING, FIT_GA2M_DECREASING, FIT_GA2M_CONVEX, FIT_GA2M_CONCAVE
};

/* Names of the three, in their order; each ends with NULL. */
extern const char *const fit_ga2m_validation_names[], *const fit_ga2m_engine_names[],
	*const fit_ga2m_shape_names[];

struct fit_ga2m_params {
	enum fit_ga2m_loss loss;
	double quantile;
	size_t bags;
	double validation_share;	/* 0: no early stopping, max_rounds are run */
	enum fit_ga2m_validation validation;
	enum fit_ga2m_engine engine;
	size_t max_bins, max_pair_bins;	/* bins of values, without missing and unseen */
	double rows_per_bin;		/* max_bins is lowered, not below 64, so that a bin has so many rows */
	bool max_bins_given;		/* do not lower max_bins so that the joint counts fit */
	double memory_mib;		/* of joint counts, for each thread */
	size_t pairs;			/* so many are detected and boosted */
	const size_t (*pair_list)[2];	/* these instead; borrowed; n_pair_list */
	size_t n_pair_list;
	double learning_rate, pair_learning_rate;
	size_t smoothing_rounds, pair_smoothing_rounds;
	size_t greedy_ratio;		/* greedy steps for each step of a cycle */
	size_t max_rounds;		/* cycles, with their greedy steps */
	size_t patience;		/* cycles' worth of steps without improvement */
	double tolerance;		/* relative improvement that counts */
	double stop_share;		/* and never less than tolerance times this share of the first loss: of classes
				 * that can be told apart the loss falls by the same share for ever, long after it
				 * has become nothing; other losses have no such scale */
	double min_leaf, min_leaf_share;	/* rows on either side of a cut; the same as a share of the
				 * training rows of a bag: the larger counts */
	double min_category;		/* rows of a category that is not pooled in a step */
	const bool *fixed;		/* NULL, or by column: no main effect of it is boosted; borrowed */
	const enum fit_ga2m_shape *shapes;	/* NULL, or by column; borrowed. A feature with one is in no pair */
	bool purify;			/* pairs carry no main effects */
	bool keep_bags;			/* the model keeps the tables of every bag */
	uint64_t seed;
	int threads;
};
#define FIT_GA2M_TRAINED_GROUP "train_group"	/* metadata: the column of the groups */
struct fit_ga2m_params fit_ga2m_params_default(enum fit_ga2m_loss loss);
const char *fit_ga2m_params_check(const struct fit_ga2m_params *p);	/* NULL, or a sentence */

/* What a training did, for notes. */
struct fit_ga2m_report {
	size_t max_bins;		/* as used */
	bool bins_engine;
	double mean_steps, mean_pair_steps;	/* up to the tables that were kept, over bags */
	size_t capped_bags;		/* bags that ran into max_rounds with early stopping on */
	uint64_t n_zero_weight;		/* rows left out */
	double validation_loss;		/* mean over bags of the best; NaN without validation */
};

/*
 * Train. d's feature columns are given up as they are binned. report may be NULL.
 * FIT_EDATA: no rows of positive weight; a target outside the loss's domain, a weight or time that is
 * not usable (the message says which row, from 1). FIT_EINVAL: params. FIT_ENOCONV: the loss stopped
 * being finite. Columns that are constant or all missing train to a term that is 0.
 */
int fit_ga2m_train(struct fit_ga2m *m, struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		   struct fit_ga2m_report *report, struct fit_err *err) FIT_MUST_CHECK;

/*
 * The parameters that m says it was trained with (docs/formats/ga2m.md), and its loss; what it does not say
 * stays as it is in *p. Without any, or where pairs were named, p->pair_list gets the pairs of m, for which
 * pairs has room (n_terms of them); shape has room for the features, all free before. Both are borrowed by p.
 * FIT_EDATA: what it says are none.
 */
int fit_ga2m_trained(const struct fit_ga2m *m, struct fit_ga2m_params *p, size_t (*pairs)[2],
		     enum fit_ga2m_shape *shape, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
