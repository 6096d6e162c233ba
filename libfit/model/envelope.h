/* SPDX-License-Identifier: MIT */
/*
 * The monotone concave envelope of a speedup function: which widths can be optimal at some
 * price.
 *
 * A width is a number of GPUs k of a type with price c, on which the work of an epoch is done
 * at speed s. Its abscissa is kappa = c k. A width is worth considering when it is a corner of
 * the least function that is concave, does not fall, and may be reached by waiting
 * (docs/methods/boa.md): in the plane of cost kappa / s and time 1 / s of a unit of work these
 * are the corners of the lower left hull. So the envelope
 *
 *   begins at the width with the largest s / kappa (the larger one of two),
 *   ends at the smallest kappa with the largest s,
 *   and in between is the upper concave hull, without points in the middle of its sides.
 *
 * Predicates are exact: they are decided on kappa and s themselves, never on rounded quotients.
 */
#ifndef FIT_MODEL_ENVELOPE_H
#define FIT_MODEL_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/exact.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

struct fit_width {
	double speed;	/* work a second; usable when FIT_SPEED_MIN <= speed <= FIT_SPEED_MAX */
	double price;	/* of a GPU of this type; FIT_PRICE_MIN to FIT_PRICE_MAX */
	int64_t gpus;	/* 1 to FIT_GPUS_MAX */
	int type;	/* of GPU; nothing here looks at it */
};
/* Within these limits no sum of costs, times and prices overflows. */
#define FIT_SPEED_MIN 1e-30
#define FIT_SPEED_MAX 1e30
#define FIT_PRICE_MIN 1e-10
#define FIT_PRICE_MAX 1e10
#define FIT_GPUS_MAX ((int64_t)1 << 31)

/* A finite speed above 0 within these limits. */
static inline int fit_width_usable(const struct fit_width *w)
{
	return w->speed >= FIT_SPEED_MIN && w->speed <= FIT_SPEED_MAX;
}

/* price x gpus, exactly. */
static inline struct fit_dd fit_width_kappa(const struct fit_width *w)
{
	return fit_two_prod(w->price, (double)w->gpus);
}

/* The sign of (s_b - s_a)(kappa_c - kappa_a) - (s_c - s_a)(kappa_b - kappa_a): with kappa_a < kappa_b <
 * kappa_c, 1 when b is above the chord from a to c, 0 when it is on it, -1 when it is below. */
int fit_width_side(const struct fit_width *a, const struct fit_width *b, const struct fit_width *c);
/* The sign of s_a / kappa_a - s_b / kappa_b. */
int fit_width_cmp_ratio(const struct fit_width *a, const struct fit_width *b);
/* The price (s_b - s_a) / (kappa_b s_a - kappa_a s_b) at which a and b are worth the same, for
 * neighbours a, b of an envelope; to twice the precision of a double. */
struct fit_dd fit_width_edge(const struct fit_width *a, const struct fit_width *b);

/* Why a width is no corner; by_lo and by_hi are what beats it, FIT_NO_WIDTH where there is none. */
enum fit_width_verdict {
	FIT_WIDTH_VERTEX,
	FIT_WIDTH_UNUSABLE,	/* speed missing, 0, not finite or outside of the limits */
	FIT_WIDTH_MINIMUM,	/* fewer GPUs than the class asks for */
	FIT_WIDTH_DUPLICATE,	/* by_lo: the same kappa, at least as fast */
	FIT_WIDTH_SUPERLINEAR,	/* by_hi: a larger kappa, at least as fast by GPU */
	FIT_WIDTH_SLOWER,	/* by_lo: a smaller kappa, at least as fast */
	FIT_WIDTH_BELOW,	/* below the chord from by_lo to by_hi */
	FIT_WIDTH_COLLINEAR	/* on the chord from by_lo to by_hi */
};
const char *fit_width_verdict_name(enum fit_width_verdict v);

#define FIT_NO_WIDTH SIZE_MAX
struct fit_width_note {
	enum fit_width_verdict verdict;
	size_t by_lo, by_hi;
};

/* Memory that one envelope after another uses; zero-initialise, release at the end. */
struct fit_envelope_work {
	struct fit_envelope_point *points;
	size_t cap;
};
void fit_envelope_release(struct fit_envelope_work *work);

/*
 * The envelope of widths w[0..n), in any order; those below min_gpus[type] are left out
 * (min_gpus NULL: none). vertex (room for n) gets their numbers, cheapest first, *n_vertex how
 * many there are: 0 when no width is usable. notes, when not NULL, gets n entries. Of equal
 * widths the first one stays. FIT_ENOMEM. Linear in n when w is sorted by kappa.
 */
int fit_envelope(const struct fit_width *w, size_t n, const int64_t *min_gpus,
		 struct fit_envelope_work *work, size_t *vertex, size_t *n_vertex,
		 struct fit_width_note *notes, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
