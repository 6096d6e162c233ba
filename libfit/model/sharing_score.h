/* SPDX-License-Identifier: MIT */
/*
 * Lucid's packing analyse model (Hu et al., ASPLOS'23, section 3.3): a decision tree that tells
 * from what a job used alone, GPU and memory utilisation, memory and mixed precision, how well it
 * shares a GPU: 0 tiny, 1 medium, 2 jumbo. What labels follow from the measured pairs, and how
 * often the tree is right on configurations that it has not seen.
 */
#ifndef FIT_MODEL_SHARING_SCORE_H
#define FIT_MODEL_SHARING_SCORE_H

#include "libfit/base/linkage.h"
#include "libfit/model/colocation.h"
#include "libfit/model/tree.h"

FIT_C_BEGIN

/* What the pairs say of one configuration. */
struct fit_score_measured {
	int64_t sides;		/* measurements: rows of the pair table, own pairs twice */
	double speed;		/* their mean, to three decimals as published; NAN: none */
	int64_t label;		/* 2 below 0.85, 1 below 0.95, else 0; -1: none */
};
/* out[n_configs]. */
void fit_score_measure(const struct fit_colocation *c, struct fit_score_measured *out);

/* What the tree sees. The last two hold the answer in part: the speed beside others decides the label. */
enum fit_score_features { FIT_SCORE_ALONE, FIT_SCORE_SPEED, FIT_SCORE_LEAKING };
extern const char *const fit_score_features_names[];	/* "alone", "alone+speed", "alone+speed+label" */

/* The labelled configurations as rows of a tree. */
struct fit_score_data {
	struct fit_tree_data data;	/* rows; borrows from below */
	struct fit_tree_feature features[6];
	const double *columns[6];
	double *values, *y;
	uint32_t *config;		/* by row */
	char *names;
	size_t n;
};
/* FIT_EDATA: no configuration has a label and all that the features need. Release in any case. */
int fit_score_data_init(struct fit_score_data *d, const struct fit_colocation *c,
			const struct fit_score_measured *m, enum fit_score_features f,
			struct fit_err *err) FIT_MUST_CHECK;
void fit_score_data_release(struct fit_score_data *d);

/* Predictions of rows by a tree that was grown from others. */
struct fit_score_tally {
	int64_t splits, predicted, right;
	double least, most;		/* accuracy of one split */
};

enum fit_score_method {
	FIT_SCORE_TRAINING,		/* the rows that it was grown from */
	FIT_SCORE_LEAVE_ONE_OUT,
	FIT_SCORE_LEAVE_APP_OUT,	/* all configurations of an application at a time */
	FIT_SCORE_FOLDS,		/* 5 folds, 10 times shuffled */
	FIT_SCORE_SPLITS		/* 200 random splits, 30 % held out */
};
extern const char *const fit_score_method_names[];	/* ends with NULL */

/* How often it is right; seed draws folds and splits. predicted (may be NULL): the label of each row, of the
 * last time that it was held out. */
int fit_score_evaluate(const struct fit_score_data *d, const struct fit_colocation *c,
		       enum fit_score_method method, uint64_t seed, struct fit_score_tally *tally,
		       int64_t *predicted, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
