/* SPDX-License-Identifier: MIT */
/*
 * A hundred thousand times a replay some two hundred points are sorted and put into fronts. Which way a
 * comparison goes cannot be foreseen, so nothing here branches on one, and no loop is over the points of
 * one front: fronts are many and short.
 */
#include "libfit/replay/pollux_front.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define POINTS FIT_FRONT_POINTS
#define AT (POINTS - 1)		/* the bits of an index */

_Static_assert((POINTS & AT) == 0, "a power of two");

/* ---- sorting, of whole numbers ---- */

/* Numbers in the order of their bits; both zeros are one. Not of NaN. */
static uint64_t bits_of(double x)
{
	uint64_t u;

	x += 0.0;
	memcpy(&u, &x, sizeof u);
	return u ^ (-(u >> 63) | UINT64_C(1) << 63);
}

/* Two runs of n keys, one behind the other, from both ends at once: neither can be used up before n have
 * been taken from an end. */
static void merge_even(const uint64_t *a, size_t n, uint64_t *to)
{
	const uint64_t *b = a + n, *a_last = b - 1, *b_last = b + n - 1;

	for (size_t i = 0, k = 2 * n - 1; i < n; i++, k--) {
		uint64_t x = *a, y = *b, x_last = *a_last, y_last = *b_last;
		bool first = x <= y, last = x_last <= y_last;

		to[i] = first ? x : y;
		to[k] = last ? y_last : x_last;
		a += first;
		b += !first;
		a_last -= !last;
		b_last -= last;
	}
}

static void merge(const uint64_t *a, const uint64_t *a_end, const uint64_t *b, const uint64_t *b_end,
		  uint64_t *to)
{
	while (a < a_end && b < b_end) {
		uint64_t x = *a, y = *b;
		bool first = x <= y;

		*to++ = first ? x : y;
		a += first;
		b += !first;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Sort v[0..n); v and other have room for the next power of two. Returns which of both has the result. */
static uint64_t *sort(uint64_t *v, uint64_t *other, size_t n)
{
	size_t all = 1;

	while (all < n)
		all *= 2;
	for (size_t i = n; i < all; i++)
		v[i] = other[i] = UINT64_MAX;
	for (size_t width = 1; width < all; width *= 2) {
		uint64_t *t = v;

		for (size_t lo = 0; lo < n; lo += 2 * width)
			merge_even(v + lo, width, other + lo);
		v = other;
		other = t;
	}
	return v;
}

/* ---- fronts ---- */

struct sorted {
	size_t n;
	struct fit_front_point point[POINTS];	/* by objectives, equal ones as they came */
	/* neighbours in the front that differ from the point; itself at either end, and of copies */
	uint16_t before[POINTS], behind[POINTS];
	bool copy[POINTS];			/* equals an earlier point */
	int fronts;
	size_t count[POINTS];			/* per front */
	uint16_t first[POINTS], last[POINTS];	/* per front */
};

/* Is x behind y, strictly, by objectives? */
static bool is_behind(const struct fit_front_point *x, const struct fit_front_point *y)
{
	return x->f[0] > y->f[0] || (x->f[0] >= y->f[0] && x->f[1] > y->f[1]);
}

/* points[0..sorted) are in order already. A key is the first objective without its last bits, and where it
 * came from; where that leaves points equal, the order is settled by their objectives. */
static void set_order(struct sorted *s, const struct fit_front_point *points, size_t sorted, size_t n)
{
	uint64_t keys[2 * POINTS], other[POINTS], order[POINTS], *fresh;

	for (size_t i = 0; i < n; i++)
		keys[i] = (bits_of(points[i].f[0]) & ~(uint64_t)AT) | i;
	fresh = sort(keys + sorted, other, n - sorted);
	merge(keys, keys + sorted, fresh, fresh + (n - sorted), order);
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k && (order[k] | AT) == (order[k - 1] | AT) &&
		     is_behind(&points[order[k - 1] & AT], &points[order[k] & AT]); k--) {
			uint64_t t = order[k];

			order[k] = order[k - 1];
			order[k - 1] = t;
		}
	for (size_t i = 0; i < n; i++)
		s->point[i] = points[order[i] & AT];
	s->n = n;
}

/*
 * Fronts of two objectives in one pass over the sorted points: the last point of a front has its
 * smallest second objective, so it dominates the next point or nobody of that front does, and that
 * changes once over the fronts.
 */
static void assign_fronts(struct sorted *s)
{
	double last[POINTS][2];		/* per front, of its last point */
	size_t fronts = 0;

	for (size_t i = 0; i < s->n; i++) {
		const double *f = s->point[i].f;
		size_t lo = 0, was;
		bool copy;

		for (size_t left = fronts + 1; left > 1; ) {
			size_t half = left / 2;
			const double *x = last[lo + half - 1];
			/* x is not behind this point in the order: equal, or smaller in the first or second */
			unsigned same = (unsigned)(x[0] >= f[0]) & (unsigned)(x[1] >= f[1]);

			lo += (unsigned)(x[1] <= f[1]) & ~same & 1 ? half : 0;
			left -= half;
		}
		if (lo == fronts) {
			s->count[lo] = 0;
			last[lo][0] = last[lo][1] = -HUGE_VAL;
			s->first[lo] = s->last[lo] = (uint16_t)i;
			fronts++;
		}
		was = s->last[lo];
		copy = (was != i) & (last[lo][0] >= f[0]) & (last[lo][1] >= f[1]);
		s->copy[i] = copy;
		s->before[i] = (uint16_t)(copy ? i : was);
		s->behind[i] = (uint16_t)i;
		s->behind[was] = (uint16_t)(copy ? s->behind[was] : i);
		s->last[lo] = (uint16_t)(copy ? was : i);
		last[lo][0] = f[0];
		last[lo][1] = f[1];
		s->count[lo]++;
		s->point[i].front = (int)lo;
	}
	s->fronts = (int)fronts;
}

/* Crowding distances within fronts; of equal points all but the first get 0. */
static void set_crowding(struct sorted *s)
{
	double span[POINTS][2];

	for (int k = 0; k < s->fronts; k++) {
		const double *a = s->point[s->first[k]].f, *b = s->point[s->last[k]].f;

		span[k][0] = b[0] - a[0];
		span[k][1] = a[1] - b[1];
	}
	for (size_t i = 0; i < s->n; i++) {
		struct fit_front_point *x = &s->point[i];
		const double *a = s->point[s->before[i]].f, *b = s->point[s->behind[i]].f, *of = span[x->front];
		double distance = (of[0] > 0 ? (b[0] - a[0]) / of[0] : 0) + (of[1] > 0 ? (a[1] - b[1]) / of[1] : 0);
		bool end = (s->before[i] == i) | (s->behind[i] == i);

		distance = end ? HUGE_VAL : distance;
		x->crowding = s->copy[i] ? 0 : distance;
	}
}

/* Of front k only so many stay: those with the largest crowding, at random among equals. */
static void thin_front(struct sorted *s, int k, size_t stay, struct fit_draws *draws)
{
	uint64_t distance[POINTS], draw[POINTS], keys[POINTS], other[POINTS], limit, *order;
	uint16_t at[POINTS];
	size_t n = 0, equal = 0, clear = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->point[i].front != k)
			continue;
		at[n] = (uint16_t)i;
		draw[n] = (uint64_t)fit_draws_next(draws) << 32 | i;
		keys[n] = distance[n] = bits_of(-s->point[i].crowding);
		n++;
	}
	limit = sort(keys, other, n)[stay - 1];
	for (size_t i = 0; i < n; i++) {
		keys[equal] = draw[i];
		equal += distance[i] == limit;
		clear += distance[i] < limit;
		s->point[at[i]].front = distance[i] > limit ? -1 : k;
	}
	if (clear + equal == stay)
		return;
	order = sort(keys, other, equal);
	for (size_t i = stay - clear; i < equal; i++)
		s->point[order[i] & AT].front = -1;
}

size_t fit_front_survive(struct fit_front_point *points, size_t sorted, size_t n, size_t keep,
			 struct fit_draws *draws)
{
	struct sorted s;
	size_t kept = 0, dead;
	int fronts = 0;

	set_order(&s, points, sorted, n);
	assign_fronts(&s);
	while (fronts < s.fronts && kept < keep)
		kept += s.count[fronts++];
	set_crowding(&s);
	if (kept > keep)
		thin_front(&s, fronts - 1, keep - (kept - s.count[fronts - 1]), draws);
	kept = kept < keep ? kept : keep;
	dead = kept;
	for (size_t i = 0, k = 0; i < n; i++) {
		bool stays = (unsigned)s.point[i].front < (unsigned)fronts;	/* -1 does not */

		points[stays ? k : dead] = s.point[i];
		k += stays;
		dead += !stays;
	}
	return kept;
}
