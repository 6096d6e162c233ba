/* SPDX-License-Identifier: MIT */
/*
 * Seeded random streams: one per (seed, purpose), so that drawing more numbers for one purpose never
 * shifts another. MT19937 of GSL, seeded from both; no clock, no environment.
 */
#ifndef FIT_BASE_RNG_H
#define FIT_BASE_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* A new stream, or NULL when out of memory. purpose is a short constant such as "synth/arrivals".
 * Free it with gsl_rng_free(). */
gsl_rng *fit_rng_new(uint64_t seed, const char *purpose);

/* What MT19937 is seeded with for that stream. */
uint32_t fit_rng_seed(uint64_t seed, const char *purpose);

#endif
