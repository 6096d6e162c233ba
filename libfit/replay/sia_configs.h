/* SPDX-License-Identifier: MIT */
/*
 * What Sia chooses from (Jayaram Subramanya et al., SOSP'23, section 3.3): the configurations of a cluster
 * and what each is worth to a job.
 *
 * Configurations are powers of two inside a node, then whole nodes; for each type of GPU, in the order of
 * the cluster, no more nodes than there are or than profiles of that type were measured on (gpu_types.h).
 */
#ifndef FIT_REPLAY_SIA_CONFIGS_H
#define FIT_REPLAY_SIA_CONFIGS_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/replay/cluster.h"

struct fit_sia_config {
	int32_t type, nodes, gpus;
};

struct fit_sia_configs {
	struct fit_sia_config *c;
	size_t n, cap;
	size_t n_grid;		/* those that any job may have; the others are of rigid jobs alone */
};

/* FIT_ENOMEM. */
int fit_sia_configs_init(struct fit_sia_configs *k, const struct fit_cluster *c) FIT_MUST_CHECK;
/* One more beside the grid. FIT_ENOMEM. */
int fit_sia_configs_add(struct fit_sia_configs *k, int32_t type, int32_t nodes, int32_t gpus) FIT_MUST_CHECK;
void fit_sia_configs_release(struct fit_sia_configs *k);
/* The number of the configuration with these GPUs; -1: none. */
int32_t fit_sia_configs_find(const struct fit_sia_configs *k, int32_t type, int64_t gpus);

/* Goodputs at most this much of the least one count as so much. */
#define FIT_SIA_GOODPUT_MIN 1e-4

/* Scale the goodputs of one job (0: not possible) so that the least possible one is 1, and the others
 * FIT_SIA_GOODPUT_MIN. In single precision, as the reference. */
void fit_sia_normalise(const double *goodput, size_t n, float *out);
/* Share of its goodput that a job keeps on average when it restarts now: it has been there for age_s, was
 * restarted so often, and each costs restart_s (section 3.4, r_i). */
double fit_sia_restart_factor(double age_s, double restarts, double restart_s);
/* Hundredths of the utility (goodput x factor)^power, rounded to a whole number, at most 300 000; single
 * precision. */
int64_t fit_sia_utility(float goodput, double factor, double power);

#endif
