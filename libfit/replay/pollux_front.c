/* SPDX-License-Identifier: MIT */
/*
 * A hundred thousand times a replay some two hundred points are sorted: by merging, without branches
 * that depend on the outcome of a comparison.
 */
#include "libfit/replay/pollux_front.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define POINTS FIT_FRONT_POINTS

struct key {
	double f[2];
	uint32_t at;	/* in the caller's array */
};

/* Lexicographically by objectives; not b before a. Bits and no branches. */
static inline unsigned in_order(const struct key *a, const struct key *b)
{
	return (unsigned)(a->f[0] < b->f[0]) | ((unsigned)(a->f[0] <= b->f[0]) & (unsigned)(a->f[1] <= b->f[1]));
}

static void merge(const struct key *a, const struct key *a_end, const struct key *b, const struct key *b_end,
		  struct key *to)
{
	while (a < a_end && b < b_end) {
		unsigned first = in_order(a, b);

		*to++ = *(first ? a : b);
		a += first;
		b += 1 - first;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Sort v[0..n); other is room for as many. Returns which of both has the result. */
static struct key *sort(struct key *v, struct key *other, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		struct key *t = v;

		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;

			merge(v + lo, v + mid, v + mid, v + hi, other + lo);
		}
		v = other;
		other = t;
	}
	return v;
}

/*
 * Fronts of two objectives in one pass over the sorted points: the last point of a front has its
 * smallest second objective, so it dominates the next point or nobody of that front does, and that
 * changes once over the fronts. Returns how many there are; count[f] points in front f.
 */
static int assign_fronts(const struct key *sorted, size_t n, int *front, size_t *count)
{
	const struct key *last[POINTS];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		size_t lo = 0;

		for (size_t left = k; left > 0; ) {
			size_t half = (left + 1) / 2;
			const struct key *x = last[lo + half - 1];
			/* x is not behind this point in the order: equal, or smaller in the first or second */
			unsigned same = (unsigned)(x->f[0] >= sorted[i].f[0]) & (unsigned)(x->f[1] >= sorted[i].f[1]);
			unsigned dominated = (unsigned)(x->f[1] <= sorted[i].f[1]) & ~same & 1;

			lo += dominated ? half : 0;
			left = dominated ? left - half : half - 1;
		}
		front[i] = (int)lo;
		last[lo] = &sorted[i];
		if (lo == k)
			count[k++] = 0;
		count[lo]++;
	}
	return (int)k;
}

static bool equal(const struct fit_front_point *a, const struct fit_front_point *b)
{
	return !(a->f[0] < b->f[0] || a->f[0] > b->f[0] || a->f[1] < b->f[1] || a->f[1] > b->f[1]);
}

/* Crowding distances of one front, given in order; of equal points all but the first get 0. */
static void set_crowding(struct fit_front_point **front, size_t n)
{
	struct fit_front_point *distinct[POINTS];
	double span[2];
	size_t u = 0;

	for (size_t i = 0; i < n; i++) {
		front[i]->crowding = 0;
		if (!u || !equal(front[i], distinct[u - 1]))
			distinct[u++] = front[i];
	}
	if (!u)
		return;
	span[0] = distinct[u - 1]->f[0] - distinct[0]->f[0];
	span[1] = distinct[0]->f[1] - distinct[u - 1]->f[1];
	distinct[0]->crowding = distinct[u - 1]->crowding = HUGE_VAL;
	for (size_t i = 1; i + 1 < u; i++)
		distinct[i]->crowding =
			(span[0] > 0 ? (distinct[i + 1]->f[0] - distinct[i - 1]->f[0]) / span[0] : 0) +
			(span[1] > 0 ? (distinct[i - 1]->f[1] - distinct[i + 1]->f[1]) / span[1] : 0);
}

/* Of a front of n points choose room for death: those with the smallest crowding. */
static void thin_front(struct fit_front_point **front, size_t n, size_t room, struct fit_draws *draws)
{
	struct key keys[POINTS], other[POINTS], *order;

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){ { -front[i]->crowding, fit_draws_next(draws) }, (uint32_t)i };
	order = sort(keys, other, n);
	for (size_t i = room; i < n; i++)
		front[order[i].at]->front = -1;
}

size_t fit_front_survive(struct fit_front_point *points, size_t sorted, size_t n, size_t keep,
			 struct fit_draws *draws)
{
	struct key keys[2 * POINTS], other[2 * POINTS], *fresh, *all;
	struct fit_front_point next[POINTS], *by_front[POINTS];
	size_t count[POINTS], at[POINTS], kept = 0, dead;
	int front[POINTS], fronts;

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){ { points[i].f[0], points[i].f[1] }, (uint32_t)i };
	fresh = sort(keys + sorted, other + sorted, n - sorted);
	all = fresh == keys + sorted ? other : keys;
	if (all == keys)	/* the old ones are merged from where they are: out of the way */
		memcpy(other, keys, sorted * sizeof *keys);
	merge(all == keys ? other : keys, (all == keys ? other : keys) + sorted, fresh, fresh + (n - sorted), all);
	fronts = assign_fronts(all, n, front, count);
	for (int f = 0; f < fronts; f++)
		at[f] = f ? at[f - 1] + count[f - 1] : 0;
	for (size_t i = 0; i < n; i++) {
		next[i] = points[all[i].at];
		next[i].front = front[i];
		by_front[at[front[i]]++] = &next[i];
	}
	for (int f = 0; f < fronts; f++) {
		struct fit_front_point **members = by_front + (at[f] - count[f]);

		if (kept >= keep) {
			for (size_t i = 0; i < count[f]; i++)
				members[i]->front = -1;
			continue;
		}
		set_crowding(members, count[f]);
		if (kept + count[f] > keep)
			thin_front(members, count[f], keep - kept, draws);
		kept += count[f];
	}
	kept = kept < keep ? kept : keep;
	dead = kept;
	for (size_t i = 0, k = 0; i < n; i++)
		points[next[i].front >= 0 ? k++ : dead++] = next[i];
	return kept;
}
