/* SPDX-License-Identifier: MIT */
/*
 * Survival of the fittest among points of two objectives, as NSGA-II has it (Deb et al., 2002): fronts
 * of points that nobody of the later ones dominates, and in the first front that has no place for all
 * the least crowded ones.
 */
#ifndef FIT_REPLAY_POLLUX_FRONT_H
#define FIT_REPLAY_POLLUX_FRONT_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/draws.h"

#define FIT_FRONT_POINTS 512	/* at most */

struct fit_front_point {
	double f[2];		/* to be made small; not NaN */
	double crowding;	/* within its front; infinite at the ends, 0 for a copy of an earlier point */
	uint64_t hash;		/* the caller's, both */
	uint32_t slot;
	int front;		/* 0: nobody dominates it */
};

/* At least as small in both, and smaller in one. */
static inline bool fit_front_dominates(const struct fit_front_point *a, const struct fit_front_point *b)
{
	return a->f[0] <= b->f[0] && a->f[1] <= b->f[1] && (a->f[0] < b->f[0] || a->f[1] < b->f[1]);
}

/*
 * Of points[0..n), the first `sorted` of which were left by the last call (or 0), keep as many as `keep`:
 * whole fronts, then those of the next one with the largest crowding, at random among equals. They come
 * first and are sorted by objectives; their fronts and crowding are set. The others follow in no
 * particular order. Returns how many were kept.
 */
size_t fit_front_survive(struct fit_front_point *points, size_t sorted, size_t n, size_t keep,
			 struct fit_draws *draws);

#endif
