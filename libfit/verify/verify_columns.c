/* SPDX-License-Identifier: MIT */
#include "libfit/verify/verify_columns.h"

#include <math.h>

#include "libfit/base/text.h"

int verify_column_set(struct verify_column *c, uint32_t job, int64_t x)
{
	if (job >= c->n && x == INT64_MIN)
		return FIT_OK;
	if (fit_grow(&c->a, &c->cap, (size_t)job + 1, sizeof *c->a))
		return FIT_ENOMEM;
	while (c->n <= job)
		c->a[c->n++] = INT64_MIN;
	c->a[job] = x;
	return FIT_OK;
}

int verify_column_set_real(struct verify_column *c, uint32_t job, double x)
{
	int64_t bits;

	x += 0.0;	/* the bits of -0 would be no value */
	memcpy(&bits, &x, sizeof bits);
	return verify_column_set(c, job, isnan(x) ? INT64_MIN : bits);
}
