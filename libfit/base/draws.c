/* SPDX-License-Identifier: MIT */
/*
 * MT19937 (Matsumoto and Nishimura, 1998): x[k + n] = x[k + m] ^ twist(upper bit of x[k], lower bits of
 * x[k + 1]) with n = 624, m = 397. A number depends on others at least n - m = 227 places away, so four
 * are made at once.
 */
#include "libfit/base/draws.h"

#include <string.h>

#include "libfit/base/rng.h"

#define N FIT_DRAWS_BLOCK
#define M 397
#define UPPER UINT32_C(0x80000000)
#define TWIST UINT32_C(0x9908b0df)
#define LANES 4

typedef uint32_t words __attribute__((vector_size(4 * LANES)));

static words load(const uint32_t *p)
{
	words v;

	memcpy(&v, p, sizeof v);
	return v;
}

static void store(uint32_t *p, words v)
{
	memcpy(p, &v, sizeof v);
}

void fit_draws_init(struct fit_draws *d, uint64_t seed, const char *purpose)
{
	uint32_t x = fit_rng_seed(seed, purpose);

	for (uint32_t k = 0; k < N; k++) {
		d->state[k] = x;
		x = UINT32_C(1812433253) * (x ^ x >> 30) + k + 1;
	}
	d->next = N;
}

/* state[k] from itself, the one behind it and the one far away. */
static uint32_t step(const uint32_t *s, uint32_t k, uint32_t far)
{
	uint32_t behind = s[(k + 1) % N], y = (s[k] & UPPER) | (behind & ~UPPER);

	return s[far] ^ y >> 1 ^ (behind & 1 ? TWIST : 0);
}

static inline __attribute__((always_inline)) void steps(uint32_t *s, uint32_t k, uint32_t far)
{
	words behind = load(s + k + 1), y = (load(s + k) & UPPER) | (behind & ~UPPER);

	store(s + k, load(s + far) ^ y >> 1 ^ (-(behind & 1) & TWIST));
}

void fit_draws_refill(struct fit_draws *d)
{
	uint32_t *s = d->state, k = 0;

	for (; k + LANES <= N - M; k += LANES)
		steps(s, k, k + M);
	for (; k < N - M; k++)
		s[k] = step(s, k, k + M);
	for (; k + LANES < N; k += LANES)
		steps(s, k, k - (N - M));
	for (; k < N; k++)
		s[k] = step(s, k, k - (N - M));
	for (k = 0; k < N; k += LANES) {
		words y = load(s + k);

		y ^= y >> 11;
		y ^= y << 7 & UINT32_C(0x9d2c5680);
		y ^= y << 15 & UINT32_C(0xefc60000);
		y ^= y >> 18;
		store(d->out + k, y);
	}
	d->next = 0;
}
