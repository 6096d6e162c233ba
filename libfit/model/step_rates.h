/* SPDX-License-Identifier: MIT */
/*
 * Measured steps a second of applications by GPU type and number of GPUs (docs/formats/gavel.md; made by
 * gf-prof --from gavel).
 */
#ifndef FIT_MODEL_STEP_RATES_H
#define FIT_MODEL_STEP_RATES_H

#include "libfit/base/linkage.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* What is measured of what: all but app may be left out of the table. */
struct fit_step_work {
	struct fit_text app;
	int64_t batch_size;	/* FIT_INT_NA: none */
	int64_t gpus;
};

struct fit_step_rates {
	struct fit_table table;
	size_t *order;		/* its rows by work, type, consolidated */
	const char *hash;	/* of the input */
};

/* FIT_EDATA: a value out of range, or two rows of the same. */
int fit_step_rates_read(struct fit_step_rates *r, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_step_rates_release(struct fit_step_rates *r);

/* Steps a second, 0: does not fit; NAN: not measured. spread: over GPUs of several nodes; where that was not
 * measured, as on one. */
double fit_step_rates_find(const struct fit_step_rates *r, const struct fit_step_work *w,
			   struct fit_text type, bool spread);
/* Has the table a row of that GPU type? */
bool fit_step_rates_has_type(const struct fit_step_rates *r, struct fit_text type);

FIT_C_END

#endif
