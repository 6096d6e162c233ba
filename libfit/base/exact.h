/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that is exact, or nearly: sums and products of doubles without a rounding error,
 * numbers of twice the precision (struct fit_dd, about 32 digits), and sums of many terms of
 * which only the sign counts (struct fit_expansion). For predicates that must not be misjudged,
 * and for sums that must not depend on their order.
 *
 * J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
 * predicates", 1997; T. J. Dekker, "A floating-point technique for extending the available
 * precision", 1971. Right as long as nothing overflows and no product of rounding errors
 * underflows: magnitudes between 1e-140 and 1e140 or 0.
 */
#ifndef FIT_BASE_EXACT_H
#define FIT_BASE_EXACT_H

#include <math.h>
#include <stddef.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

/* hi + lo, with |lo| at most half a unit in the last place of hi. */
struct fit_dd {
	double hi, lo;
};

/* a + b, exactly. */
static inline struct fit_dd fit_two_sum(double a, double b)
{
	double s = a + b, v = s - a;

	return (struct fit_dd){ s, (a - (s - v)) + (b - v) };
}

/* The same where |a| >= |b|, or a is 0. */
static inline struct fit_dd fit_quick_two_sum(double a, double b)
{
	double s = a + b;

	return (struct fit_dd){ s, b - (s - a) };
}

/* a * b, exactly. */
static inline struct fit_dd fit_two_prod(double a, double b)
{
	double p = a * b;

	return (struct fit_dd){ p, fma(a, b, -p) };
}

static inline struct fit_dd fit_dd_of(double a)
{
	return (struct fit_dd){ a, 0 };
}

static inline struct fit_dd fit_dd_neg(struct fit_dd a)
{
	return (struct fit_dd){ -a.hi, -a.lo };
}

static inline struct fit_dd fit_dd_add(struct fit_dd a, struct fit_dd b)
{
	struct fit_dd s = fit_two_sum(a.hi, b.hi), t = fit_two_sum(a.lo, b.lo);

	s = fit_quick_two_sum(s.hi, s.lo + t.hi);
	return fit_quick_two_sum(s.hi, s.lo + t.lo);
}

static inline struct fit_dd fit_dd_sub(struct fit_dd a, struct fit_dd b)
{
	return fit_dd_add(a, fit_dd_neg(b));
}

static inline struct fit_dd fit_dd_mul(struct fit_dd a, struct fit_dd b)
{
	struct fit_dd p = fit_two_prod(a.hi, b.hi);

	return fit_quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct fit_dd fit_dd_scale(struct fit_dd a, double b)
{
	struct fit_dd p = fit_two_prod(a.hi, b);

	return fit_quick_two_sum(p.hi, p.lo + a.lo * b);
}

/* a / b; b is not 0. */
static inline struct fit_dd fit_dd_div(struct fit_dd a, struct fit_dd b)
{
	double q = a.hi / b.hi;
	struct fit_dd r = fit_dd_sub(a, fit_dd_scale(b, q));
	double q2 = r.hi / b.hi;

	r = fit_dd_sub(r, fit_dd_scale(b, q2));
	return fit_dd_add(fit_quick_two_sum(q, q2), fit_dd_of(r.hi / b.hi));
}

static inline double fit_dd_value(struct fit_dd a)
{
	return a.hi + a.lo;
}

/* < 0, 0 or > 0 as a is below, equal to or above b. */
static inline int fit_dd_cmp(struct fit_dd a, struct fit_dd b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return (a.lo > b.lo) - (a.lo < b.lo);
}

/* A sum of doubles, held exactly: its terms do not overlap and grow in magnitude. */
#define FIT_EXPANSION_MAX 32
struct fit_expansion {
	int n;
	double term[FIT_EXPANSION_MAX];
};

/* Add a double; at most FIT_EXPANSION_MAX of them in all. */
static inline void fit_expansion_add(struct fit_expansion *e, double v)
{
	int n = 0;

	for (int i = 0; i < e->n; i++) {
		struct fit_dd s = fit_two_sum(v, e->term[i]);

		v = s.hi;
		if (s.lo != 0)
			e->term[n++] = s.lo;
	}
	if (v != 0) /* the sign is that of the last term */
		e->term[n++] = v;
	e->n = n;
}

/* The sign of the sum: -1, 0 or 1. */
static inline int fit_expansion_sign(const struct fit_expansion *e)
{
	double top = e->n > 0 ? e->term[e->n - 1] : 0;

	return (top > 0) - (top < 0);
}

/* The sum to twice the precision of a double. */
static inline struct fit_dd fit_expansion_value(const struct fit_expansion *e)
{
	struct fit_dd s = { 0, 0 };

	for (int i = e->n; i-- > 0;)
		s = fit_dd_add(s, fit_dd_of(e->term[i]));
	return s;
}

FIT_C_END

#endif
