/* SPDX-License-Identifier: MIT */
/*
 * How good is a rule that says which pairs of jobs may share a GPU? It is held against the pairs that were
 * measured (colocation.h): a pair is free of interference when its speed, relative to running alone, is at
 * least a bound. Hu et al., Lucid, ASPLOS'23, section 3.3: the paper gives the share of chosen pairs that are
 * free (98.1 %) and the share of free pairs that are chosen (87 %), not the bound.
 */
#ifndef FIT_MODEL_PACKING_H
#define FIT_MODEL_PACKING_H

#include "libfit/base/linkage.h"
#include "libfit/model/colocation.h"

FIT_C_BEGIN

/* What a rule sums over the two; it chooses the pairs whose sum is at most a threshold. */
enum fit_packing_rule { FIT_PACKING_LABEL, FIT_PACKING_UTIL, FIT_PACKING_MEM_UTIL };
extern const char *const fit_packing_rule_names[];	/* ends with NULL */

struct fit_packing_params {
	enum fit_packing_rule rule;
	double free_speed;	/* bound of the pair's speed */
	bool worst;		/* the pair's speed is that of the slower one; false: the mean of both */
};

/* What a threshold comes to. Shares and speeds are NAN where there is nothing to divide by. */
struct fit_packing_row {
	double threshold;
	int64_t pairs, free;		/* in all */
	int64_t chosen, chosen_free;
	double precision;		/* chosen_free / chosen */
	double captured;		/* chosen_free / free */
	double mean_speed;		/* of the chosen ones: mean of the pair's mean */
	double worst_speed;		/* the slowest single job among them */
	double step_speed;		/* mean of the pairs at just this threshold */
	int64_t step;			/* so many */
};

/*
 * One row for each sum that occurs, ascending; *rows is the caller's to free. Pairs of which a side has no
 * value are left out; *n_left_out says how many. FIT_ENOMEM.
 */
int fit_packing_sweep(const struct fit_colocation *c, const struct fit_packing_params *p,
		      struct fit_packing_row **rows, size_t *n, size_t *n_left_out) FIT_MUST_CHECK;

/* Sum of a pair by the rule; NAN: a side has no value. */
double fit_packing_sum(const struct fit_colocation *c, const struct fit_colo_pair *pair,
		       enum fit_packing_rule rule);

FIT_C_END

#endif
