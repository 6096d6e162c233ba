/* SPDX-License-Identifier: MIT */
/*
 * What the agent of a training job knows: step times of the configurations that it has run, gradient
 * statistics of the moment, and the throughput model fitted to them (Qiao et al., "Pollux", OSDI'21,
 * sections 4.1 and 5.1). Refits happen when somebody asks and something new was seen.
 */
#ifndef FIT_MODEL_AGENT_H
#define FIT_MODEL_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/model/goodput.h"
#include "libfit/model/profile.h"
#include "libfit/model/throughput.h"

struct fit_agent {
	struct fit_throughput *w;	/* borrowed */
	struct fit_throughput_obs *obs;	/* one for each (nodes, replicas, local_bsz): the first seen */
	size_t n_obs, cap_obs;
	int64_t max_replicas_seen;	/* 0: nothing was run yet */
	struct fit_goodput model;	/* theta: of the last fit */
	bool stale;			/* something was seen since */
	double loose_tol;		/* above 0: fits are loose ones, see fit_throughput_fit_loose() */
	bool seeded;			/* theta was given: observations do not change it */
	uint64_t version;		/* changes whenever predictions do */
	/* best splits that were asked for at this version: a small cache */
	struct fit_agent_best {
		uint64_t version;
		int64_t nodes, replicas;
		struct fit_goodput_point point;
	} cache[8];
	uint64_t fits;
};

/* Limits come from the application; nothing is known yet. w: a workspace that any number of agents
 * may share; borrowed. */
void fit_agent_init(struct fit_agent *a, const struct fit_app_info *info, struct fit_throughput *w);
/* Start from a model that was fitted beforehand and stays as it is, and from gradient statistics; all
 * numbers of replicas can be predicted at once. */
void fit_agent_seed(struct fit_agent *a, const struct fit_theta *theta, double sqr, double var);
void fit_agent_release(struct fit_agent *a);
/* Are there predictions? */
bool fit_agent_knows(const struct fit_agent *a);

/* A step of this configuration took so long; no effect when it was seen before. */
int fit_agent_observe(struct fit_agent *a, int64_t nodes, int64_t replicas, int64_t local_bsz,
		      double step_s, double sync_s) FIT_MUST_CHECK;
void fit_agent_set_grad(struct fit_agent *a, double sqr, double var);

/* Bring the throughput model up to date. Predictions need at least one observation (FIT_EINVAL). A
 * fit that stops early is used as it is: the next observation tries again. */
int fit_agent_refit(struct fit_agent *a, struct fit_err *err) FIT_MUST_CHECK;
/* The best split on an allocation; refits first. */
int fit_agent_best(struct fit_agent *a, int64_t nodes, int64_t replicas,
		   struct fit_goodput_point *best, struct fit_err *err) FIT_MUST_CHECK;
/* The same within the limits of another application than the agent's: itself on GPUs of another type. */
int fit_agent_best_within(struct fit_agent *a, const struct fit_app_info *info, int64_t nodes,
			  int64_t replicas, struct fit_goodput_point *best, struct fit_err *err) FIT_MUST_CHECK;

#endif
