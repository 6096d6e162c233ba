/* SPDX-License-Identifier: MIT */
/*
 * A GA2M goes on with fresh rows: what the model gets wrong there is trained as a model of its own, over
 * the same terms, and added; and how far each term moved is said. The old rows are not needed.
 *
 * Bins of the result are those of both models together where there is room (FIT_GA2M_UPDATE_BINS, or
 * FIT_GA2M_UPDATE_PAIR_BINS for pairs), else those of the old model, each with the mean of what falls
 * into it;
 * categories are those of both.
 */
#ifndef FIT_MODEL_GA2M_UPDATE_H
#define FIT_MODEL_GA2M_UPDATE_H

#include "libfit/base/linkage.h"
#include "libfit/model/ga2m_train.h"

FIT_C_BEGIN

#define FIT_GA2M_UPDATE_BINS 1022
#define FIT_GA2M_UPDATE_PAIR_BINS 62

struct fit_ga2m_drift {
	size_t term;		/* of the old model; SIZE_MAX: the intercept */
	double importance_before, importance_after;
	double mean, largest;	/* of |change|, by weight of the fresh rows, and over cells that have any */
	double spread;		/* mean spread over bags of the change; NaN for one bag */
};

/*
 * Train on d with the scores of m as offsets (d's own offsets are added), and make m the sum. d has the
 * columns of m in order, nominal ones as in m, and is given up. keep, 0 to 1, is what old weights count
 * for from now on. p says how to train; its pairs are set to those of m. Spreads of the result are roots
 * of sums of squares; bags are dropped. drift gets m->n_terms + 1 entries, the intercept first (its
 * importances are its values, which also take up what centring moves; its change is that of d alone);
 * free it. Of several classes changes are means over them, and the intercept is the mean size.
 *
 * A term that was pinned (fit_ga2m_is_pinned()) stays as it is: it is not trained, nothing of a pair goes
 * into it, it is not centred.
 *
 * Errors as of fit_ga2m_train(); m is as it was then.
 */
int fit_ga2m_update(struct fit_ga2m *m, struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		double keep,
		    struct fit_ga2m_drift **drift, struct fit_ga2m_report *report,
		    struct fit_err *err) FIT_MUST_CHECK;

/* m becomes m + delta (models over the same features, by name, and the same classes): the part of the above
 * that does not train. FIT_EINVAL: they are not; FIT_EDATA: scores or weights overflow. */
int fit_ga2m_add(struct fit_ga2m *m, const struct fit_ga2m *delta, double keep,
		struct fit_ga2m_drift *drift,
		 struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
