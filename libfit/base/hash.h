/* SPDX-License-Identifier: MIT */
/*
 * Content hashes of inputs (XXH3, 128 bits, from libxxhash) and an index from text keys to numbers.
 */
#ifndef FIT_BASE_HASH_H
#define FIT_BASE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

#define FIT_HASH_HEX 33		/* 32 hexadecimal digits and a NUL */

/* A running hash over bytes. */
struct fit_hasher;
struct fit_hasher *fit_hasher_new(void);	/* NULL when out of memory */
void fit_hasher_free(struct fit_hasher *h);
void fit_hasher_add(struct fit_hasher *h, const void *p, size_t n);
/* Its length, as eight bytes, and then the text. */
void fit_hasher_add_text(struct fit_hasher *h, struct fit_text t);
void fit_hasher_hex(const struct fit_hasher *h, char out[FIT_HASH_HEX]);

uint64_t fit_hash64(struct fit_text t, uint64_t seed);

/*
 * Text key -> uint32 number. Keys are copied. Lookup order never leaves the index: there is no
 * iteration. Zero-initialise; release with fit_index_release().
 */
struct fit_index {
	struct fit_index_slot *slots;
	size_t n, n_slots;
	char *bytes;
	size_t bytes_n, bytes_cap;
	size_t bytes_lost;		/* of keys that were removed */
};

void fit_index_release(struct fit_index *ix);
/* Put key -> value. *found (may be NULL) is set to the value that was there before, and then nothing
 * changes; FIT_NO_INDEX when the key is new. FIT_ENOMEM on lack of memory, and for a key of 16 MiB or more.
 */
#define FIT_NO_INDEX UINT32_MAX
int fit_index_put(struct fit_index *ix, struct fit_text key, uint32_t value,
		  uint32_t *found) FIT_MUST_CHECK;
/* The value of key, or FIT_NO_INDEX. */
uint32_t fit_index_get(const struct fit_index *ix, struct fit_text key);
/* Take a key out again, if it is there; its memory is used for others. */
void fit_index_remove(struct fit_index *ix, struct fit_text key);

FIT_C_END

#endif
