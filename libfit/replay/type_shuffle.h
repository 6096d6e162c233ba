/* SPDX-License-Identifier: MIT */
/*
 * The shuffles of a published simulator that asks its language's generator for them (Gavel; a fidelity
 * profile says so): MT19937 keyed with one number, and permutations from the top down, each place drawn by
 * rejection from as many bits as it takes.
 */
#ifndef FIT_REPLAY_TYPE_SHUFFLE_H
#define FIT_REPLAY_TYPE_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

struct fit_type_shuffle {
	uint32_t mt[624];
	size_t at;
};

void fit_type_shuffle_init(struct fit_type_shuffle *s, uint32_t seed);
void fit_type_shuffle(struct fit_type_shuffle *s, size_t *list, size_t n);

#endif
