/* SPDX-License-Identifier: MIT */
/*
 * Which ids were seen, and on which line first, in twelve bytes an id (up to seventeen with the free
 * slots): a 64-bit hash and a line number, not the id itself. Two of ten million different ids are
 * taken for one another with a probability of three in a million.
 */
#ifndef TRACES_ID_SET_H
#define TRACES_ID_SET_H

#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"

#define FIT_ID_SHARDS 64

/* Zero-initialise; release with fit_id_set_release(). */
struct fit_id_set {
	struct fit_id_shard {
		unsigned char *slots;	/* a hash (0: free) and a line each */
		uint32_t n, cap;
	} shards[FIT_ID_SHARDS];
};

void fit_id_set_release(struct fit_id_set *s);
/* The id will be put soon: have its place fetched from memory meanwhile. Changes nothing. */
void fit_id_set_expect(const struct fit_id_set *s, struct fit_text id);
/* *first: the line given when id was put first, or 0 when it is new (lines count from 1; beyond
 * 2^32 - 1 they stick there). FIT_ENOMEM. */
int fit_id_set_put(struct fit_id_set *s, struct fit_text id, uint64_t line,
		   uint64_t *first) FIT_MUST_CHECK;

#endif
