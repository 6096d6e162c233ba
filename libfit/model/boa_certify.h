/* SPDX-License-Identifier: MIT */
/*
 * The certificate of plans: feasible, and optimal within a tolerance, from the tables and
 * a price alone.
 *
 * Nothing here finds a plan, and no code is shared with what does: neither frontier, envelope
 * nor shortest path of boa.h are used. For price mu the dual value
 *
 *   bound = (sum_i lambda_i min over plans of (w_i T + mu C) - mu budget) / sum_i lambda_i w_i
 *
 * is below the mean completion time of everything that is feasible, whatever mu >= 0 is. The
 * minimum is taken over every candidate width, epoch by epoch, or, where changes of width cost
 * time or a job keeps its type, backwards over the epochs.
 */
#ifndef FIT_MODEL_BOA_CERTIFY_H
#define FIT_MODEL_BOA_CERTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/speedup.h"

FIT_C_BEGIN

struct fit_boa_price;

struct fit_boa_certify_params {
	double budget, mu;	/* negative: as the metadata of the plans say */
	double tolerance;	/* relative */
	const struct fit_boa_price *prices;	/* n_prices 0: as the metadata say, or 1 */
	size_t n_prices;
};

struct fit_boa_check {
	const char *name;	/* see docs/formats/boa.md */
	double value, limit;
	bool judged, holds;	/* not judged: a number to read */
	size_t class_no, epoch, gpus;	/* of the worst case; FIT_NO_WIDTH: none. class_no as in the speedups */
};

#define FIT_BOA_CHECKS 12
struct fit_boa_certificate {
	struct fit_boa_check checks[FIT_BOA_CHECKS];
	size_t n;
};

/* FIT_EDATA: the plans do not fit the tables (another class, epoch, type), or budget or price are
 * not known. */
int fit_boa_certify(struct fit_boa_certificate *c, const struct fit_boa_plan_table *plans,
		    const struct fit_speedups *s, const struct fit_boa_classes *classes,
		    const struct fit_boa_certify_params *params, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
