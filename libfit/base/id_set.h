/* SPDX-License-Identifier: MIT */
/*
 * Which ids were seen, and on which line first.
 *
 * Ids that count upwards ("17", "18", "20"; "job-1", "job-2"), as most traces have them, are kept as runs
 * of consecutive numbers on consecutive lines: sixteen bytes a run, and nothing to look for. All others
 * take twelve bytes an id (up to seventeen with the free slots): a 64-bit hash and a line number, not the
 * id itself. Two of ten million different ids are taken for one another with a probability of three in a
 * million there, and never among the runs.
 */
#ifndef FIT_BASE_ID_SET_H
#define FIT_BASE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

#define FIT_ID_SHARDS 64
#define FIT_ID_PREFIX 48

/* Ascending ids: id first + k came on line + k, for k below n. Zero-initialise. */
struct fit_id_runs {
	struct fit_id_run {
		uint64_t first;
		uint32_t line, n;
	} *runs;
	size_t n, cap;
	char next[FIT_ID_PREFIX + 24];	/* the id that would make the last run longer; n_next 0: none */
	size_t n_prefix, n_next;	/* bytes ahead of its number, the same for all runs; of all of it */
};
void fit_id_runs_release(struct fit_id_runs *r);
/* As fit_id_set_put() below; FIT_END: the id is neither in a run nor behind the last one, and nothing was
 * done. An id that was new here was never such a one before. FIT_ENOMEM. */
int fit_id_runs_put(struct fit_id_runs *r, struct fit_text id, uint64_t line,
		    uint64_t *first) FIT_MUST_CHECK;
/* The line of an id in the runs; 0: in none. */
uint64_t fit_id_runs_get(const struct fit_id_runs *r, struct fit_text id);

/* Zero-initialise; release with fit_id_set_release(). */
struct fit_id_set {
	struct fit_id_shard {
		unsigned char *slots;	/* a hash (0: free) and a line each */
		uint32_t n, cap;
	} shards[FIT_ID_SHARDS];
	struct fit_id_runs runs;
	bool hashed;			/* the last id was none of a run */
};

void fit_id_set_release(struct fit_id_set *s);
/* The id will be put soon: have its place fetched from memory meanwhile. Changes nothing. */
void fit_id_set_expect(const struct fit_id_set *s, struct fit_text id);
/* *first: the line given when id was put first, or 0 when it is new (lines count from 1; beyond
 * 2^32 - 1 they stick there). FIT_ENOMEM. */
int fit_id_set_put(struct fit_id_set *s, struct fit_text id, uint64_t line,
		   uint64_t *first) FIT_MUST_CHECK;
/* As put() would set *first; changes nothing. */
uint64_t fit_id_set_get(const struct fit_id_set *s, struct fit_text id);

FIT_C_END

#endif
