/* SPDX-License-Identifier: MIT */
/*
 * States of an allocation problem as the genetic search works on them: one row of bytes a job, GPUs on
 * each node, padded to whole lanes (pollux_lanes.h). Here a state is varied, repaired and valued;
 * docs/methods/pollux-policy.md describes the operators.
 */
#ifndef FIT_REPLAY_POLLUX_ROWS_H
#define FIT_REPLAY_POLLUX_ROWS_H

#include <stddef.h>

#include "libfit/base/draws.h"
#include "libfit/replay/pollux_search.h"

/* What a changed row of a job is worth at some size. */
struct fit_pollux_worth {
	double term;	/* in the sum of the power mean */
	double speedup;
};

struct fit_pollux_job_worth {
	double keep;	/* the term of the row of now */
	int max_replicas;
	struct fit_pollux_worth of[2][FIT_POLLUX_REPLICAS_MAX + 1];	/* [several nodes?][replicas] */
};

/* Zero-initialise; release with fit_pollux_rows_release(). */
struct fit_pollux_rows {
	const struct fit_pollux_problem *p;
	struct fit_draws draws;
	size_t stride, size;		/* bytes of a row, of a state */
	struct fit_pollux_job_worth *worth;	/* per job */
	uint8_t *current, *capacity;	/* padded */
	uint8_t *several;		/* per job: does it span nodes in the state at hand? */
	uint8_t *tally;			/* two rows of counts by node */
	struct fit_pollux_by_node *by_node;	/* per lanes of a row, see pollux_rows.c */
	int *listed;			/* nodes of a row */
	uint16_t change_at[256];	/* by jobs present on a node: chance that one of them changes */
	size_t worth_cap, current_cap, capacity_cap, several_cap, tally_cap, by_node_cap, listed_cap;
};

void fit_pollux_rows_release(struct fit_pollux_rows *w);
/* Another problem; it must outlive what is done with it. FIT_ENOMEM. */
int fit_pollux_rows_set(struct fit_pollux_rows *w, const struct fit_pollux_problem *p) FIT_MUST_CHECK;

/* A plain state (n_jobs x n_nodes) padded, and back. */
void fit_pollux_rows_pad(const struct fit_pollux_rows *w, const uint8_t *from, uint8_t *to);
void fit_pollux_rows_unpad(const struct fit_pollux_rows *w, const uint8_t *from, uint8_t *to);

/* A child: the first `cut` rows of one parent, the others of another, varied at random. It needs
 * repair. */
void fit_pollux_rows_child(struct fit_pollux_rows *w, const uint8_t *first, const uint8_t *rest, int cut,
			   uint8_t *child);
/* Make a state keep all constraints, and value it: both objectives, to be made small. */
void fit_pollux_rows_repair(struct fit_pollux_rows *w, uint8_t *state, double f[2]);

/* How many repaired states there are at most, as far as `most`. */
size_t fit_pollux_rows_count(const struct fit_pollux_rows *w, size_t most);

#endif
