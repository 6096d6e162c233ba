/* SPDX-License-Identifier: MIT */
/*
 * What only some jobs tables say of a job: a column takes eight bytes a job up to the last one that has a
 * value there, and nothing where there is none. Private to libfit/verify.
 */
#ifndef FIT_VERIFY_VERIFY_COLUMNS_H
#define FIT_VERIFY_VERIFY_COLUMNS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libfit/base/status.h"

/* Zero-initialise; free(a). */
struct verify_column {
	int64_t *a;
	size_t n, cap;
};

/* INT64_MIN, or NAN in a real column, is no value. FIT_ENOMEM. */
int verify_column_set(struct verify_column *c, uint32_t job, int64_t x) FIT_MUST_CHECK;
int verify_column_set_real(struct verify_column *c, uint32_t job, double x) FIT_MUST_CHECK;

static inline int64_t verify_column_get(const struct verify_column *c, uint32_t job)
{
	return job < c->n ? c->a[job] : INT64_MIN;
}

static inline double verify_column_get_real(const struct verify_column *c, uint32_t job)
{
	int64_t bits = verify_column_get(c, job);
	double x;

	if (bits == INT64_MIN)
		return (double)NAN;
	memcpy(&x, &bits, sizeof x);
	return x;
}

#endif
