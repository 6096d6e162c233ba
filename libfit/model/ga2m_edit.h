/* SPDX-License-Identifier: MIT */
/*
 * Edits of a finished GA2M, term by term: what an operator does to a part that he does not believe. Each is
 * done to the scores and, where there are any, to those of every bag, so that spreads stay what they are;
 * without them the spread of a cell that was edited is not known (but 0 where it was made 0, and scaled
 * with the score).
 */
#ifndef FIT_MODEL_GA2M_EDIT_H
#define FIT_MODEL_GA2M_EDIT_H

#include "libfit/base/linkage.h"
#include "libfit/model/ga2m.h"

FIT_C_BEGIN

enum fit_ga2m_edit_kind {
	FIT_GA2M_FLATTEN,	/* all scores 0 */
	FIT_GA2M_SCALE,		/* times `number` */
	FIT_GA2M_PIN,		/* the cells of `range` are `number` */
	FIT_GA2M_SMOOTH,	/* mean, by weight, over `number` bins on either side */
	FIT_GA2M_MONOTONE,	/* the nearest of increasing and decreasing */
	FIT_GA2M_MAKE_INCREASING, FIT_GA2M_MAKE_DECREASING, FIT_GA2M_MAKE_CONVEX, FIT_GA2M_MAKE_CONCAVE,
	FIT_GA2M_FREE_AGAIN,	/* what was pinned may move again in an update; no score changes */
	FIT_GA2M_REMOVE		/* the term goes */
};

struct fit_ga2m_edit {
	enum fit_ga2m_edit_kind kind;
	size_t term;
	double number;
	size_t from[2], to[2];	/* FIT_GA2M_PIN: bins, both ends included */
};

/*
 * "flatten:TERM", "remove:TERM", "scale:TERM=X", "smooth:TERM=BINS", "monotone:TERM",
 * "increasing:TERM", "decreasing:TERM", "convex:TERM", "concave:TERM", "free:TERM",
 * "pin:TERM@RANGE=X". TERM is a feature, or "a x b". RANGE is "LOW..HIGH" (either may be left out) of
 * numbers, a category, "missing", or for a pair two of these with a comma between. A range takes the
 * bins that hold any of its values. FIT_EINVAL with what is wrong.
 */
int fit_ga2m_edit_parse(struct fit_ga2m_edit *e, const struct fit_ga2m *m, const char *text,
			struct fit_err *err) FIT_MUST_CHECK;

struct fit_ga2m_change {
	double importance_before, importance_after;
	double mean, largest;	/* of |score after - score before|, by weight, and over all cells */
	size_t cells;		/* that changed */
};

/*
 * Do it, and say what changed. Shapes and smoothing leave the bins of missing and unseen values alone and
 * keep the mean of a term; they want the main effect of a continuous feature (smooth: any but nominal
 * ones). A term that was pinned is not centred again: predictions change in the pinned cells alone.
 * FIT_EINVAL: the term cannot be edited so, or a score would not be finite, and the model is what it was;
 * FIT_ENOMEM.
 */
int fit_ga2m_edit_apply(struct fit_ga2m *m, const struct fit_ga2m_edit *e, struct fit_ga2m_change *change,
			struct fit_err *err) FIT_MUST_CHECK;

/* Do the notes of m say that cells of the term were pinned (and not later that it was set free)? */
bool fit_ga2m_is_pinned(const struct fit_ga2m *m, size_t term);

/* Append "note_N=TEXT" to m->meta, N one more than the notes that are there. FIT_ENOMEM. */
int fit_ga2m_add_note(struct fit_ga2m *m, const char *text) FIT_MUST_CHECK;

/* The term called "a" or "a x b"; SIZE_MAX when there is none. */
size_t fit_ga2m_term_called(const struct fit_ga2m *m, struct fit_text name);

FIT_C_END

#endif
