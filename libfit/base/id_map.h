/* SPDX-License-Identifier: MIT */
/*
 * Ids and their numbers, which count from 0 in the order in which ids came: both ways, exactly.
 *
 * Each id takes its bytes and eight more. Ids that count upwards ("17", "18"; "job-1", "job-2"), as most
 * traces have them, are found from their own digits (the runs of id_set.h). All others, and all where runs
 * are short, take twelve to twenty-four bytes more: a slot each in a hash table.
 */
#ifndef FIT_BASE_ID_MAP_H
#define FIT_BASE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/id_set.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

/* Zero-initialise; release with fit_id_map_release(). */
struct fit_id_map {
	struct fit_id_runs runs;
	bool no_runs;			/* given up */
	struct fit_id_map_slot {
		uint32_t hash, number;	/* number FIT_NO_INDEX: free */
	} *slots;
	size_t n_hashed, n_slots;
	uint64_t *ends;			/* of the ids in bytes */
	size_t n, cap_ends;		/* n ids */
	struct fit_str bytes;
};

void fit_id_map_release(struct fit_id_map *m);
/* Put an id, which gets the number m->n. *found (may be NULL): the number that it has already, and then
 * nothing changes; FIT_NO_INDEX when it is new. FIT_ENOMEM: no memory, or no number is left. */
int fit_id_map_put(struct fit_id_map *m, struct fit_text id, uint32_t *found) FIT_MUST_CHECK;
/* The number of an id, or FIT_NO_INDEX. */
uint32_t fit_id_map_get(const struct fit_id_map *m, struct fit_text id);
/* The id of a number below m->n; borrowed until the next put. */
struct fit_text fit_id_map_text(const struct fit_id_map *m, uint32_t number);

FIT_C_END

#endif
