/* SPDX-License-Identifier: MIT */
/*
 * FIT_LANES nodes of a row of small numbers at a time, in the compilers' vector types. What these have
 * no operator for (a bit for each lane, the sum of all, the smaller) is taken from SSE2 where it is
 * there; the portable forms beside it (all there is with FIT_LANES_PORTABLE) give the same values on any
 * machine, whatever its byte order.
 */
#ifndef FIT_REPLAY_POLLUX_LANES_H
#define FIT_REPLAY_POLLUX_LANES_H

#include <stdint.h>
#include <string.h>

#include "libfit/base/draws.h"

#define FIT_LANES 16
#if defined __SSE2__ && !defined FIT_LANES_PORTABLE
#define FIT_LANES_SSE2
#endif

/* Comparisons give 255 in lanes where they hold, else 0. */
typedef uint8_t fit_lanes __attribute__((vector_size(FIT_LANES)));
/* What the built-in functions of SSE2 take and give. */
typedef char fit_lanes_char __attribute__((vector_size(FIT_LANES)));
typedef long long fit_lanes_half __attribute__((vector_size(FIT_LANES)));

static inline fit_lanes fit_lanes_load(const uint8_t *p)
{
	fit_lanes v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline void fit_lanes_store(uint8_t *p, fit_lanes v)
{
	memcpy(p, &v, sizeof v);
}

static inline fit_lanes fit_lanes_of(uint8_t x)
{
	return (fit_lanes){ 0 } + x;
}

/* The result of a comparison: bit m for lane m. */
static inline uint32_t fit_lanes_bits(fit_lanes v)
{
#ifdef FIT_LANES_SSE2
	return (uint32_t)__builtin_ia32_pmovmskb128((fit_lanes_char)v);
#else
	uint32_t bits = 0;

	for (uint32_t m = 0; m < FIT_LANES; m++)
		bits |= (uint32_t)(v[m] >> 7) << m;
	return bits;
#endif
}

static inline int fit_lanes_sum(fit_lanes v)
{
#ifdef FIT_LANES_SSE2
	/* differences to 0, summed over either half */
	fit_lanes_half halves = (fit_lanes_half)__builtin_ia32_psadbw128((fit_lanes_char)v, (fit_lanes_char){ 0 });

	return (int)halves[0] + (int)halves[1];
#else
	int sum = 0;

	for (uint32_t m = 0; m < FIT_LANES; m++)
		sum += v[m];
	return sum;
#endif
}

/* The smaller of both; the sum of both, at most 255. Clang knows these when it sees them, and has no built-in
 * functions for them. */
static inline fit_lanes fit_lanes_min(fit_lanes a, fit_lanes b)
{
#if defined FIT_LANES_SSE2 && !defined __clang__
	return (fit_lanes)__builtin_ia32_pminub128((fit_lanes_char)a, (fit_lanes_char)b);
#else
	fit_lanes less = (fit_lanes)(a < b);

	return (a & less) | (b & ~less);
#endif
}

static inline fit_lanes fit_lanes_add(fit_lanes a, fit_lanes b)
{
#if defined FIT_LANES_SSE2 && !defined __clang__
	return (fit_lanes)__builtin_ia32_paddusb128((fit_lanes_char)a, (fit_lanes_char)b);
#else
	fit_lanes sum = a + b;

	return sum | (fit_lanes)(sum < a);
#endif
}

/* A random byte in each lane: bits 8 m mod 32 … of word m / 4. */
static inline fit_lanes fit_lanes_draw(struct fit_draws *d)
{
	const uint32_t *words = fit_draws_take(d, FIT_LANES / 4);
	fit_lanes v = { 0 };

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&v, words, sizeof v);
#else
	for (uint32_t m = 0; m < FIT_LANES; m++)
		v[m] = (uint8_t)(words[m / 4] >> 8 * (m % 4));
#endif
	return v;
}

#endif
