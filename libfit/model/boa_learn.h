/* SPDX-License-Identifier: MIT */
/*
 * Widths that are computed again as speeds become known.
 *
 * At first all speeds are beliefs. A speed that was observed (a class, an epoch and a width, of a GPU
 * type, in which a job has run) takes the place of the belief; the others stay. The plans are the mixed
 * optimum for the budget (boa.h), or for the least feasible budget when what is known by then makes it
 * infeasible.
 */
#ifndef FIT_MODEL_BOA_LEARN_H
#define FIT_MODEL_BOA_LEARN_H

#include "libfit/base/linkage.h"
#include "libfit/model/boa.h"

FIT_C_BEGIN

struct fit_boa_learner;

/* believed, classes: operands (docs/formats/boa.md). Solves once. What params points to is copied.
 * FIT_EDATA: as fit_boa_build(). */
int fit_boa_learner_new(struct fit_boa_learner **l, const char *believed, const char *classes, double budget,
			const struct fit_boa_params *params, struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_learner_free(struct fit_boa_learner *l);	/* NULL is fine */

/* GPU types of the beliefs, in byte order. */
size_t fit_boa_learner_n_types(const struct fit_boa_learner *l);
const char *fit_boa_learner_type(const struct fit_boa_learner *l, size_t type);
/* The number of a type; of one type that there is, whatever it is called. SIZE_MAX: unknown. */
size_t fit_boa_learner_find_type(const struct fit_boa_learner *l, const char *name);

/* The speed on so many GPUs of a type is known now. A width that is not in the table stays unknown. */
void fit_boa_learner_observe(struct fit_boa_learner *l, struct fit_text name, int64_t epoch, size_t type,
			     int64_t gpus, double speed);
/* Compute the plans anew; nothing is done when nothing was learned since the last time. */
int fit_boa_learner_solve(struct fit_boa_learner *l, struct fit_err *err) FIT_MUST_CHECK;

/* Epochs of a class; -1: unknown class. */
int64_t fit_boa_learner_epochs(const struct fit_boa_learner *l, struct fit_text name);
/* Share of the jobs of a class that have plan 1; width of a plan (0 or 1) in an epoch, and (unless NULL) of
 * which type. */
double fit_boa_learner_share(const struct fit_boa_learner *l, struct fit_text name);
int64_t fit_boa_learner_width(const struct fit_boa_learner *l, struct fit_text name, int plan, int64_t epoch,
			      size_t *type);
const char *fit_boa_learner_hash(const struct fit_boa_learner *l);	/* of the beliefs */
const char *fit_boa_learner_hash_classes(const struct fit_boa_learner *l);
const struct fit_boa_params *fit_boa_learner_params(const struct fit_boa_learner *l);
double fit_boa_learner_budget(const struct fit_boa_learner *l);
double fit_boa_learner_least(const struct fit_boa_learner *l);	/* feasible budget by what is known */
uint64_t fit_boa_learner_solved(const struct fit_boa_learner *l);	/* how often */
uint64_t fit_boa_learner_known(const struct fit_boa_learner *l);	/* speeds observed */

FIT_C_END

#endif
