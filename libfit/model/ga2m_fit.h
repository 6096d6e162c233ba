/* SPDX-License-Identifier: MIT */
/*
 * Inside of GA2M training: one bag. ga2m_train.c draws bags; ga2m_mains.c boosts main
 * effects, ga2m_pairs.c finds and boosts pairs, ga2m_loss.c has the losses; ga2m_assemble.c puts bags
 * together.
 */
#ifndef FIT_MODEL_GA2M_FIT_H
#define FIT_MODEL_GA2M_FIT_H

#include <gsl/gsl_rng.h>

#include "libfit/model/ga2m_bins.h"

/* Some rows of a bag, with their own copies: those that train, or those that validate. */
struct ga2m_part {
	size_t n;
	uint16_t **bin;		/* [feature][row] */
	double *y, *offset;	/* offset is never NULL here */
	double *known;		/* NULL, or more of it by output: [output * n + row] */
	double *w;		/* NULL: all 1 */
	uint16_t *times;	/* NULL: once each; how often a row counts in min_leaf */
	double *score;		/* [output * n + row]: link scale, offset included */
};
/* What row i starts from. */
static inline double ga2m_known(const struct ga2m_part *p, size_t output, size_t i)
{
	return p->offset[i] + (p->known ? p->known[output * p->n + i] : 0);
}
int ga2m_part_init(struct ga2m_part *p, const struct ga2m_binned *b, const int8_t *sign, int want,
		   size_t n_outputs) FIT_MUST_CHECK;
void ga2m_part_release(struct ga2m_part *p, size_t n_features);

struct ga2m_bag {
	const struct ga2m_binned *data;
	const struct fit_ga2m_params *params;
	const struct fit_ga2m_feature *features;
	size_t n_outputs;
	struct ga2m_part train, val;	/* val.n may be 0 */
	gsl_rng *rng;
	struct ga2m_gram *gram;		/* of the thread: made once, filled by every bag */
	double min_leaf;		/* rows of this bag */
	/* results */
	double *intercept;		/* by output */
	double **main;			/* [feature][bin * n_outputs + output] */
	const size_t (*pair)[2];	/* n_pairs, for the second stage */
	size_t n_pairs;
	double **table;			/* [pair][cell * n_outputs + output], cells of pair resolution */
	double *strength;		/* by pair of features a < b, in order: after detection */
	size_t steps, pair_steps;
	bool capped, bins_engine;
	double best_loss;
	int rc;				/* FIT_ENOMEM, FIT_ENOCONV */
};

/* ---- losses (ga2m_loss.c) ---- */

/*
 * For rows [0, n) at scores s (output by output): r = w times minus the gradient, and h = w times the
 * curvature that a step divides by. softmax has r and h by output. For squared loss h is w and is not
 * written (h may be NULL).
 */
void ga2m_gradient(const struct fit_ga2m_params *p, size_t n_outputs, const struct ga2m_part *part,
		   double scale, double *r, double *h);
/* Is the curvature the weight alone, at every score? (times ga2m_curvature) */
bool ga2m_constant_curvature(enum fit_ga2m_loss loss);
double ga2m_curvature(enum fit_ga2m_loss loss);
/* Mean loss; the deviance or twice the negative log-likelihood is not doubled. Not finite: overflow. */
double ga2m_loss(const struct fit_ga2m_params *p, size_t n_outputs, const struct ga2m_part *part);
/* The intercepts that minimise the loss of the part at its offsets; part->score is set to them. */
void ga2m_start(const struct fit_ga2m_params *p, size_t n_outputs, struct ga2m_part *part,
		double *intercept,
		double *scratch);
/* A length for residuals of absolute and quantile loss: their mean size at the start, above 0. */
double ga2m_residual_scale(const struct ga2m_part *part);

/* ---- early stopping ---- */

struct ga2m_stop {
	double *loss;		/* by check */
	size_t n, cap, patience;
	double tolerance, best;
	double least;		/* tolerance is never of less than this share of the first loss */
};

/* Note the loss of a check. *improved: the best so far. Returns whether to stop; the number of checks
 * that must have passed is patience. *rc is FIT_ENOMEM, or FIT_ENOCONV where the loss is not finite. */
bool ga2m_stop_add(struct ga2m_stop *s, double loss, bool *improved, int *rc);

/* ---- stages ---- */

/* Bytes that the bins engine needs for M bins and n training rows. */
size_t ga2m_gram_bytes(size_t m, size_t n, bool small_counts);
bool ga2m_small_counts(const struct ga2m_binned *b, const struct fit_ga2m_params *p);
/* Boost main effects into bag->main, starting from the parts' scores, which are left at the tables that
 * were kept. */
int ga2m_boost_mains(struct ga2m_bag *bag) FIT_MUST_CHECK;
/* bag->strength of every pair of features, at the scores of the training part. */
int ga2m_detect_pairs(struct ga2m_bag *bag) FIT_MUST_CHECK;
int ga2m_boost_pairs(struct ga2m_bag *bag) FIT_MUST_CHECK;

/* All bags into m (ga2m_assemble.c), which has its features, outputs and intercepts of 0. pairs are in
 * the order of features. FIT_ENOMEM. */
int ga2m_assemble(struct fit_ga2m *m, const struct ga2m_binned *b, const struct fit_ga2m_params *p,
		  const struct ga2m_bag *bags, const size_t (*pairs)[2], size_t n_pairs) FIT_MUST_CHECK;

/* What m says of its training from now on. FIT_ENOMEM. */
int ga2m_note_training(struct fit_ga2m *m, const struct fit_ga2m_params *p) FIT_MUST_CHECK;

/* A table's change to scores: score[output][row] += delta[bin[row] * n_outputs + output]. */
void ga2m_add_to_scores(struct ga2m_part *p, const uint16_t *bin, const double *delta,
		size_t n_outputs);

#endif
