/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for searches that draw them by the hundred million: the same numbers as those of
 * fit_rng_new() for the same seed and purpose (rng.h: MT19937), made a block at a time and read in
 * line. A call of gsl_rng_get() a number would be a fifth of such a search.
 */
#ifndef FIT_BASE_DRAWS_H
#define FIT_BASE_DRAWS_H

#include <stdint.h>

#define FIT_DRAWS_BLOCK 624

struct fit_draws {
	uint32_t state[FIT_DRAWS_BLOCK];	/* the recurrence */
	uint32_t out[FIT_DRAWS_BLOCK];		/* tempered numbers, out[next..) not yet drawn */
	uint32_t next;
};

void fit_draws_init(struct fit_draws *d, uint64_t seed, const char *purpose);
/* Make the next block; whatever is left of this one is gone. */
void fit_draws_refill(struct fit_draws *d);

/* The next 32 random bits. */
static inline uint32_t fit_draws_next(struct fit_draws *d)
{
	if (d->next == FIT_DRAWS_BLOCK)
		fit_draws_refill(d);
	return d->out[d->next++];
}

/* The next n numbers, n up to FIT_DRAWS_BLOCK, in one piece: where a block has fewer left, those are
 * passed over. Valid until the next draw. */
static inline const uint32_t *fit_draws_take(struct fit_draws *d, uint32_t n)
{
	const uint32_t *at;

	if (n > FIT_DRAWS_BLOCK - d->next)
		fit_draws_refill(d);
	at = &d->out[d->next];
	d->next += n;
	return at;
}

/* A whole number from 0 to n - 1; each with its share of 2^32, n at least 1. */
static inline uint32_t fit_draws_below(struct fit_draws *d, uint32_t n)
{
	return (uint32_t)(((uint64_t)fit_draws_next(d) * n) >> 32);
}

#endif
