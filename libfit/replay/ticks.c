/* SPDX-License-Identifier: MIT */
#include "libfit/replay/ticks.h"

#include <math.h>
#include <stdbool.h>

#define TWO52 (INT64_C(1) << 52)

/*
 * Steps of one and the same size that x can take within its power of two, at most most; *x goes behind
 * them. 0: the next one has to be made in floating point.
 *
 * With u the unit in the last place of x, x = X u and rate = q u. As long as X - q is at least 2^52 the
 * difference is rounded to whole units, so X falls by the integer next to q; halves go to even X, and are
 * left to the hardware.
 */
static int64_t leap(double *x, double rate, int64_t most)
{
	int64_t units, each, k;
	double q, whole, part;
	int e;

	if (!(*x > 2 * rate))
		return 0;
	units = (int64_t)ldexp(frexp(*x, &e), 53);
	q = ldexp(rate, 53 - e);
	whole = floor(q);
	part = q - whole;
	if (part >= 0.5 && part <= 0.5)
		return 0;
	each = (int64_t)whole + (part > 0.5);
	if (each == 0)
		return most;	/* nothing changes, ever */
	k = units - TWO52 - (int64_t)ceil(q);
	if (k < 0)
		return 0;
	k = k / each + 1;
	k = k < most ? k : most;
	*x = ldexp((double)(units - k * each), e - 53);
	return k;
}

int64_t fit_ticks_to_zero(double x, double rate)
{
	int64_t n = 0;

	while (x > 0) {
		double before = x;
		int64_t k = leap(&x, rate, INT64_MAX - 1 - n);

		if (k == 0) {
			x -= rate;
			k = 1;
		}
		if (!(x < before))
			return INT64_MAX;
		n += k;
	}
	return n;
}

double fit_ticks_after(double x, double rate, int64_t n)
{
	while (n > 0) {
		int64_t k = leap(&x, rate, n);

		if (k == 0) {
			x -= rate;
			k = 1;
		}
		n -= k;
	}
	return x;
}
