/* SPDX-License-Identifier: MIT */
#include "libfit/base/rng.h"

#include "libfit/base/hash.h"

gsl_rng *fit_rng_new(uint64_t seed, const char *purpose)
{
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);

	/* MT19937 takes a 32-bit seed and reads 0 as its default: keep clear of it */
	if (r)
		gsl_rng_set(r, (unsigned long)(fit_hash64(fit_text_of(purpose), seed) | 1) & 0xffffffffUL);
	return r;
}
