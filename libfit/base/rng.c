/* SPDX-License-Identifier: MIT */
#include "libfit/base/rng.h"

#include "libfit/base/hash.h"

uint32_t fit_rng_seed(uint64_t seed, const char *purpose)
{
	/* it takes 32 bits, and 0 stands for its default: keep clear of that */
	return (uint32_t)fit_hash64(fit_text_of(purpose), seed) | 1;
}

gsl_rng *fit_rng_new(uint64_t seed, const char *purpose)
{
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);

	if (r)
		gsl_rng_set(r, fit_rng_seed(seed, purpose));
	return r;
}
