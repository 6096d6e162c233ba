/* SPDX-License-Identifier: MIT */
/*
 * Rigid jobs under Sia (Jayaram Subramanya et al., SOSP'23, section 3.3): their GPUs and their batch size
 * stay, so that only the type of GPU is to be chosen. What a type is worth is the true throughput of the
 * job there, scaled so that the slowest type that it can run on is worth the number of its GPUs.
 */
#ifndef FIT_REPLAY_SIA_RIGID_H
#define FIT_REPLAY_SIA_RIGID_H

#include "libfit/replay/policy.h"
#include "libfit/replay/sia_configs.h"

/* Add the configurations of all rigid jobs of the view that the grid does not have; FIT_EDATA names a job
 * that was measured on no type of GPU that it may have, FIT_ENOMEM. */
int fit_sia_rigid_add(struct fit_sia_configs *k, const struct fit_view *v,
		      struct fit_err *err) FIT_MUST_CHECK;

/* The worth of each type of the cluster to a rigid job; 0: it cannot run there. */
void fit_sia_rigid_worth(const struct fit_view *v, uint32_t j, float worth[FIT_GPU_TYPES_MAX]);

#endif
