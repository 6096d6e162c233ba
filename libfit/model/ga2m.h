/* SPDX-License-Identifier: MIT */
/*
 * GA2M: a generalised additive model with pairwise interactions. A prediction is
 *
 *     link(E[y]) = offset + intercept + sum_j f_j(x_j) + sum_(j,k) f_jk(x_j, x_k)
 *
 * where every f is a table over bins, so that each part of a decision can be read, plotted and edited.
 * Method and sources: docs/methods/ga2m.md (Lou, Caruana, Gehrke, Hooker, KDD'13; Nori et al., 2019).
 * Tables on the wire: docs/formats/ga2m.md.
 *
 * This header is the model: what it holds, how a row becomes bins, scores and a prediction, and how it is
 * read and written. Training is ga2m_train.h.
 *
 * Bins of a feature. Bin 0 holds missing values. Continuous: bin 1 + (number of cuts <= x), so a cut
 * belongs to the bin above it, -inf is in bin 1, +inf in the last; the bin after that one is never met.
 * Nominal: bin 1 + i for category i of the model (byte order), and the bin after them for categories that
 * training did not see. The score of that last bin is 0 in every term. A feature has two resolutions:
 * level 0 for main effects, level 1 (its cuts are some of those of level 0) for pairs.
 *
 * A row of values is an array of doubles, one for each feature of the model: the number itself, or the
 * category number i from fit_ga2m_category() (from 0; FIT_GA2M_UNSEEN), NaN for missing.
 */
#ifndef FIT_MODEL_GA2M_H
#define FIT_MODEL_GA2M_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

enum fit_ga2m_loss {
	FIT_GA2M_SQUARED,	/* identity link; y any real */
	FIT_GA2M_POISSON,	/* log link, Poisson deviance; y >= 0 */
	FIT_GA2M_GAMMA,		/* log link, gamma deviance; y > 0 */
	FIT_GA2M_ABSOLUTE,	/* identity link, the median */
	FIT_GA2M_QUANTILE,	/* identity link, the quantile `quantile` */
	FIT_GA2M_LOGISTIC,	/* logit link; two classes */
	FIT_GA2M_SOFTMAX	/* three classes or more, one score each */
};
#define FIT_GA2M_N_LOSSES 7
/* "squared", "poisson", "gamma", "absolute", "quantile", "logistic", "softmax". */
const char *fit_ga2m_loss_name(enum fit_ga2m_loss loss);
/* "identity", "log", "logit", "softmax". */
const char *fit_ga2m_link_name(enum fit_ga2m_loss loss);
bool fit_ga2m_is_class(enum fit_ga2m_loss loss);	/* logistic or softmax */

#define FIT_GA2M_UNSEEN (-1.0)	/* as a value of a nominal feature:
		a category that training did not see */
#define FIT_GA2M_MAX_CELLS ((size_t)1 << 20)	/* of one term */

struct fit_ga2m_feature {
	char *name;
	bool nominal;
	char **categories;	/* nominal: n_categories texts in byte order */
	size_t n_categories;
	double *cuts[2];	/* continuous: ascending, by level */
	size_t n_cuts[2];
	double min, max;	/* continuous: of the training rows; NaN when all are missing */
	int64_t n_unique;	/* different values in training */
};

struct fit_ga2m_term {
	int n_dims;		/* 1: main effect, 2: pair */
	size_t feature[2];	/* ascending */
	int level[2];		/* of the cuts that it uses */
	size_t n_bins[2];	/* all bins, missing and last one included; [1] is 1 for a main effect */
	/* cell = bin[0] * n_bins[1] + bin[1]; scores and sd at [cell * n_outputs + output] */
	double *score;
	double *sd;		/* over bags; NaN: not known (one bag, or edited) */
	double *weight;		/* by cell: training weight */
	double *bag_score;	/* NULL, or n_bags times as many scores, bag after bag */
	double importance;	/* weighted mean of |score| (of all outputs) */
	double importance_sd;	/* over bags, NaN for one bag */
};

struct fit_ga2m {
	enum fit_ga2m_loss loss;
	double quantile;	/* FIT_GA2M_QUANTILE: in (0, 1) */
	char *target;		/* names of columns; weight, offset and time may be NULL */
	char *weight, *offset, *time;
	size_t n_outputs;	/* 1, or as many as classes for softmax */
	char **classes;		/* 2 for logistic, n_outputs for softmax, else NULL */
	size_t n_classes;
	double *intercept;	/* by output */
	double *bag_intercept;	/* NULL, or [bag * n_outputs + output] */
	size_t n_bags;
	int64_t n_rows;		/* training rows */
	struct fit_ga2m_feature *features;
	size_t n_features;
	struct fit_ga2m_term *terms;	/* mains by feature, then pairs by (feature, feature) */
	size_t n_terms;
	struct fit_meta meta;	/* of the tables that it was read from; notes such as the log of edits */
};

void fit_ga2m_release(struct fit_ga2m *m);	/* zeroes it */
/* NULL, or a sentence: sizes, order of cuts, terms that name features that are not there, scores that are
 * not finite. What passes can be used by every function here. */
const char *fit_ga2m_check(const struct fit_ga2m *m);
/* The feature of that name, or SIZE_MAX. */
size_t fit_ga2m_find_feature(const struct fit_ga2m *m, const char *name);
/* The term over these features (b SIZE_MAX: the main effect of a), or SIZE_MAX. */
size_t fit_ga2m_find_term(const struct fit_ga2m *m, size_t a, size_t b);
size_t fit_ga2m_n_bins(const struct fit_ga2m_feature *f, int level);	/* missing and last included */
size_t fit_ga2m_n_cells(const struct fit_ga2m_term *t);
/* "a", or "a x b". out is replaced; FIT_ENOMEM. */
int fit_ga2m_term_name(const struct fit_ga2m *m, size_t term, struct fit_str *out) FIT_MUST_CHECK;

/* ---- terms made by hand ---- */

/* Append a term over features a < b at the given levels (b SIZE_MAX: a main effect), all scores and
 * weights 0, spreads NaN, without bag scores. *t is set to it, borrowed until the next term. FIT_EINVAL:
 * more than FIT_GA2M_MAX_CELLS cells; FIT_ENOMEM. */
int fit_ga2m_add_term(struct fit_ga2m *m, size_t a, size_t b, int level_a, int level_b,
		      struct fit_ga2m_term **t) FIT_MUST_CHECK;
/* Remove a term; the others keep their order. */
void fit_ga2m_remove_term(struct fit_ga2m *m, size_t term);
/* importance and importance_sd from scores, weights and bag scores (where there are any). */
void fit_ga2m_rate_term(const struct fit_ga2m *m, struct fit_ga2m_term *t);

/* ---- prediction ---- */

/* A text as category names are compared: blanks at the ends removed; a number in the one form that
 * fit_format_double() gives it (1, 1.0, 1e0 and -0, 0 are the same; 6214e9 is a name). The result
 * is t or in buf. */
struct fit_text fit_ga2m_category_text(struct fit_text t, char buf[40]);
/* The value of a nominal feature: category number from 0, or FIT_GA2M_UNSEEN; NaN when t.s is NULL. */
double fit_ga2m_category(const struct fit_ga2m_feature *f, struct fit_text t);
/* The bin of a value (see above). */
size_t fit_ga2m_bin(const struct fit_ga2m_feature *f, int level, double x);
/* The cell of term t for a row of n_features values. */
size_t fit_ga2m_cell(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const double *x);
/* Scores on the link scale, n_outputs numbers: intercept and terms, without an offset. */
void fit_ga2m_score(const struct fit_ga2m *m, const double *x, double *score);
/* n_rows rows, column by column: x[feature] is an array of n_rows values. score: n_rows * n_outputs. The
 * same bits as row by row, quicker. FIT_ENOMEM. */
int fit_ga2m_score_columns(const struct fit_ga2m *m, const double *const *x, size_t n_rows,
			   double *score) FIT_MUST_CHECK;
/* What a row's terms add: n_terms * n_outputs numbers, term after term. With the intercept they add up to
 * fit_ga2m_score(), in this order and to the bit. */
void fit_ga2m_explain(const struct fit_ga2m *m, const double *x, double *parts);
/* The standard deviation over bags of the score of output o; NaN without bag scores. */
double fit_ga2m_score_sd(const struct fit_ga2m *m, const double *x, size_t o);
/* Link scale -> prediction: the mean, the quantile, or class probabilities. out has 1 number, or
 * n_classes for classes (logistic: of the first and the second). score and out may not overlap. */
void fit_ga2m_link_inverse(const struct fit_ga2m *m, const double *score, double *out);

/* ---- C ---- */

/*
 * Append the model as C11 that needs nothing but exp(), and that only behind a link: name_score(x, score)
 * on the link scale, name(x) the prediction or the number of the most probable class, for classes
 * name_share(x, p). x is a row as above, and behind it the offset where the model has one. Scores are those
 * of fit_ga2m_score() to the bit. name is an identifier (fit_c_is_name()). FIT_EDATA: a term of more than
 * INT_MAX numbers.
 */
int fit_ga2m_print_c(const struct fit_ga2m *m, const char *name, struct fit_str *out,
		     struct fit_err *err) FIT_MUST_CHECK;

/* ---- tables ---- */

/*
 * The tables of a model, in this order (docs/formats/ga2m.md): ga2m (outputs), features, bins, terms,
 * scores, and bag_scores where there are bag scores. meta (may be NULL) goes ahead of the first.
 */
int fit_ga2m_write(const struct fit_ga2m *m, const struct fit_meta *meta, struct fit_writer *w,
		   struct fit_err *err) FIT_MUST_CHECK;
/* Read them from any operand, a stream or a group of a store. hash is the content hash of the input.
 * What is read has passed fit_ga2m_check(). */
int fit_ga2m_read(struct fit_ga2m *m, const char *operand, char hash[FIT_HASH_HEX],
		  struct fit_err *err) FIT_MUST_CHECK;
/* The same from an open reader, at whose next table a model starts. */
int fit_ga2m_read_next(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
