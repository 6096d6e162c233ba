/* SPDX-License-Identifier: MIT */
/*
 * Jobs in an order, (key, tie, job), with sums of their GPUs and the largest of another number: those
 * that run, for a policy that goes through them and takes who fits. Adding, removing, and finding how
 * many GPUs come before a place, where a number of GPUs is used up, or who is the first with a large
 * enough number, take logarithmic time, so that a decision need not look at those who stay.
 *
 * A treap, whose priorities come from the jobs' numbers: equal runs build equal trees.
 */
#ifndef FIT_REPLAY_RANKED_H
#define FIT_REPLAY_RANKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

struct fit_ranked_entry {
	int64_t key, tie;
	uint32_t job;
	uint32_t number;	/* by which an indexed set knows it: of a job in its partition */
	int64_t gpus;
	int64_t value;		/* for fit_ranked_least() */
};

struct fit_ranked;

/* indexed: entries are found by their numbers, for which four bytes are kept up to the largest. NULL: out of
 * memory. */
struct fit_ranked *fit_ranked_new(bool indexed);
void fit_ranked_free(struct fit_ranked *r);

/* Add a job that is not in it. FIT_ENOMEM. */
int fit_ranked_add(struct fit_ranked *r, const struct fit_ranked_entry *e) FIT_MUST_CHECK;
/* Take out an entry that is in it; of it only (key, tie, job) counts. */
void fit_ranked_take_out(struct fit_ranked *r, const struct fit_ranked_entry *e);
/* The same by its number, in an indexed set; false: it was not in it. */
bool fit_ranked_remove(struct fit_ranked *r, uint32_t number);
/* The entry of that number, or NULL; valid until the set changes. */
const struct fit_ranked_entry *fit_ranked_find(const struct fit_ranked *r, uint32_t number);
size_t fit_ranked_count(const struct fit_ranked *r);

/* GPUs of those entries that come first, as `first` says: true of all entries up to some place in the order,
 * and false of the rest. */
int64_t fit_ranked_before(const struct fit_ranked *r,
			  bool (*first)(const void *arg, const struct fit_ranked_entry *e), const void *arg);
/* The first entry at which the sum of GPUs, its own among them, is more than that; NULL: none. Valid until
 * the set changes. */
const struct fit_ranked_entry *fit_ranked_over(const struct fit_ranked *r, int64_t gpus);

/* The first entry with at least that value; NULL: none. Valid until the set changes. */
const struct fit_ranked_entry *fit_ranked_least(const struct fit_ranked *r, int64_t value);

/* All entries, in order; room for fit_ranked_count() of them. */
void fit_ranked_list(const struct fit_ranked *r, struct fit_ranked_entry *list);
/* Change keys and ties in an indexed set: the entries as fit_ranked_list() gave them, changed. They are
 * sorted, in linear time when few are out of order. */
void fit_ranked_rekey(struct fit_ranked *r, struct fit_ranked_entry *list);

#endif
