/* SPDX-License-Identifier: MIT */
/*
 * Who holds what while policy rubick decides: a row a job, a column a node. Private to policy_rubick.c and
 * rubick_as_run.c.
 */
#ifndef FIT_REPLAY_RUBICK_DRAFT_H
#define FIT_REPLAY_RUBICK_DRAFT_H

#include "libfit/replay/policy.h"
#include "libfit/replay/rubick_curve.h"

struct fit_rubick_row {
	uint32_t job;
	const struct fit_rubick_curve *curve;
	double slope;			/* what the order goes by */
	double target;			/* guaranteed speed; NAN: unknown */
	int64_t asked;			/* GPUs */
	int64_t restarts, age_ns;
	int32_t was, total;		/* GPUs held before, and now */
	uint16_t plan_was, plan;
	bool sla;
};

struct fit_rubick_draft {
	struct fit_rubick_row *rows;	/* the active jobs, in the order of the view */
	size_t n, cap_rows;
	int32_t n_nodes;
	uint8_t *on;			/* GPUs of row i on node k: on[i * n_nodes + k] */
	size_t cap_on;
	int32_t *free;			/* by node */
	size_t cap_free;
	uint32_t *order;		/* rows */
	size_t cap_order;
	struct fit_share *shares;	/* scratch */
	size_t cap_shares;
	int32_t *nodes;			/* scratch: a node for each chunk of a spread */
	size_t cap_nodes;
};

void fit_rubick_draft_release(struct fit_rubick_draft *d);
/* What is held now. */
int fit_rubick_draft_load(struct fit_rubick_draft *d, const struct fit_view *v,
			  const struct fit_rubick_curves *curves, struct fit_err *err) FIT_MUST_CHECK;
/* Hand over what has changed. */
int fit_rubick_draft_commit(struct fit_rubick_draft *d, struct fit_plan *plan,
			    struct fit_err *err) FIT_MUST_CHECK;

static inline uint8_t *fit_rubick_on(const struct fit_rubick_draft *d, size_t row, int32_t node)
{
	return &d->on[row * (size_t)d->n_nodes + (size_t)node];
}
/* Row i holds so many GPUs of a node from now on. */
void fit_rubick_set(struct fit_rubick_draft *d, size_t row, int32_t node, int32_t gpus);
void fit_rubick_clear(struct fit_rubick_draft *d, size_t row);
/* The one node of a row, or -1. */
int32_t fit_rubick_node_of(const struct fit_rubick_draft *d, size_t row);
/* The speed of a row as things are; 0: it waits. */
double fit_rubick_row_speed(const struct fit_rubick_draft *d, size_t row);
/* Sort the order by slope; rows of equal slope stay as they are. */
void fit_rubick_sort(struct fit_rubick_draft *d, bool ascending);

#endif
