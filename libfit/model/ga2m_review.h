/* SPDX-License-Identifier: MIT */
/*
 * What is silly about a GA2M: shapes that break what is known, spikes that few rows stand for, edges from
 * which it extrapolates, parts that are not centred or not pure; and, of given rows, how many fall where
 * training had none.
 */
#ifndef FIT_MODEL_GA2M_REVIEW_H
#define FIT_MODEL_GA2M_REVIEW_H

#include "libfit/base/linkage.h"
#include "libfit/model/ga2m.h"
#include "libfit/model/ga2m_train.h"

FIT_C_BEGIN

struct fit_ga2m_review_params {
	const enum fit_ga2m_shape *shapes;	/* by feature; NULL: none is asked for. Borrowed */
	double support;		/* share of all weight below which a bin, or an end, stands for few rows (0.005) */
	double spike;		/* how far off, in root mean squares of the term's score (3) */
};
struct fit_ga2m_review_params fit_ga2m_review_params_default(void);

struct fit_ga2m_finding {
	const char *check;	/* "shape", "spike", "edge", "centred", "pure", "outside", "missing", "unseen",
				 * "empty": docs/formats/ga2m.md */
	bool fails;
	size_t term;		/* SIZE_MAX: of a feature */
	size_t feature;		/* of the term's first one, or of the finding */
	int64_t bin, output;	/* -1: none */
	double found, expected;	/* NaN: none */
	double weight;		/* of the bin, or share of rows; NaN: none */
	char what[160];
};
struct fit_ga2m_findings {
	struct fit_ga2m_finding *list;
	size_t n, cap, faults;
};

/*
 * Look at every term. One finding for each fault, and one that holds for each check of a term without
 * a fault.
 *   shape    the main effect of a feature is what shapes asks for
 *   spike    a bin with less than `support` of the weight lies further than `spike` from what is beside it
 *   edge     the same of the bins at one end that together have less than `support`: beyond them the model
 *            goes on with their score
 *   centred  the weighted mean is 0 (to 1e-6 of the root mean square)
 *   pure     rows and columns of a pair have weighted means of 0 (likewise)
 * FIT_ENOMEM. Free f->list.
 */
int fit_ga2m_review(const struct fit_ga2m *m, const struct fit_ga2m_review_params *p,
		    struct fit_ga2m_findings *f, struct fit_err *err) FIT_MUST_CHECK;

/* Rows where training had none, counted as they pass. */
struct fit_ga2m_tally {
	uint64_t rows;
	uint64_t *outside, *missing, *unseen;	/* by feature */
	uint64_t *empty;			/* by term: a cell without weight, though none of the above */
};
int fit_ga2m_tally_init(struct fit_ga2m_tally *t, const struct fit_ga2m *m) FIT_MUST_CHECK;
void fit_ga2m_tally_release(struct fit_ga2m_tally *t);
void fit_ga2m_tally_row(struct fit_ga2m_tally *t, const struct fit_ga2m *m, const double *x);
/* A finding for each count above 0; it fails above the share `limit` of the rows. */
int fit_ga2m_tally_findings(const struct fit_ga2m_tally *t, const struct fit_ga2m *m, double limit,
			    struct fit_ga2m_findings *f, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
