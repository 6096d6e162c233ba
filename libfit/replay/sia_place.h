/* SPDX-License-Identifier: MIT */
/*
 * Nodes for the configurations that Sia chose. Jobs go by descending GPUs, those that keep their
 * configuration first among equals; each keeps its nodes if larger ones have left them, and else gets
 * whole nodes, or the fullest node with room, first where it drives nobody away. Sizes that are powers of
 * two inside a node always fit so; others may be split over nodes.
 */
#ifndef FIT_REPLAY_SIA_PLACE_H
#define FIT_REPLAY_SIA_PLACE_H

#include "libfit/replay/policy.h"
#include "libfit/replay/sia_configs.h"

struct fit_sia_placer {
	int32_t *free, *kept;	/* by node: GPUs that nobody has yet; of jobs that would like to stay */
	uint32_t *order;
	size_t cap_order;
	struct fit_share *shares;
	size_t cap_shares;
};

int fit_sia_placer_init(struct fit_sia_placer *p, const struct fit_cluster *c) FIT_MUST_CHECK;
void fit_sia_placer_release(struct fit_sia_placer *p);

/* Put the choice (n configurations of the active jobs, -1: nothing) into the plan. */
int fit_sia_place(struct fit_sia_placer *p, const struct fit_view *v, const struct fit_sia_configs *k,
		  const uint32_t *active, const int32_t *choice, size_t n, struct fit_plan *plan,
		  struct fit_err *err) FIT_MUST_CHECK;

#endif
