/* SPDX-License-Identifier: MIT */
/*
 * What policy rubick believes of an application: how many samples (or iterations) a second it does on so
 * many GPUs by its best plan, and which sizes and placements are of use to it.
 *
 * An application is wide when its fastest measured iteration on one node is beaten on several nodes.
 * Others run on one node, by a plan of the data-parallel family: predicted from a performance model where
 * there are models, else what was measured. Wide ones run on the placements that were measured.
 */
#ifndef FIT_REPLAY_RUBICK_CURVE_H
#define FIT_REPLAY_RUBICK_CURVE_H

#include "libfit/model/plan_times.h"
#include "libfit/model/rubick_table.h"
#include "libfit/replay/fidelity.h"

/* A placement of a wide application: chunks on different nodes. */
struct fit_rubick_spread {
	int32_t gpus, nodes;
	uint8_t per_node[FIT_PLAN_NODES_MAX];	/* the largest first */
	uint16_t plan;
	double speed;
};

struct fit_rubick_curve {
	const struct fit_plan_app *app;
	bool wide;
	double samples;			/* of an iteration; 1: speeds are iterations */
	double reference;		/* speed that differences of speeds are compared with */
	/* on one node, by GPUs from 0; what is not there has speed -1 and size 0 */
	struct fit_rubick_size {
		double speed;
		int32_t gpus;		/* of these so many are of use */
		uint16_t plan;
	} *sizes;
	int32_t most;			/* GPUs of the last one */
	struct fit_rubick_spread *spreads;	/* wide: in the order in which they are tried */
	size_t n_spreads;
};

struct fit_rubick_curves {
	struct fit_rubick_curve *list;	/* in the order of t->apps */
	size_t n;
};

/* models NULL: what was measured. An application on one node without a model has no size of use. */
int fit_rubick_curves_init(struct fit_rubick_curves *c, const struct fit_plan_times *t,
			   const struct fit_rubick_models *models, const struct fit_fidelity *f,
			   int32_t node_gpus, struct fit_err *err) FIT_MUST_CHECK;
void fit_rubick_curves_release(struct fit_rubick_curves *c);

static inline const struct fit_rubick_curve *fit_rubick_curve_of(const struct fit_rubick_curves *c,
								 const struct fit_plan_app *a)
{
	return &c->list[a - a->of->apps];
}

static inline double fit_rubick_speed(const struct fit_rubick_curve *c, int64_t gpus)
{
	return gpus < 0 || gpus > c->most ? -1 : c->sizes[gpus].speed;
}

/* A larger number of GPUs is of use when it is faster by more than this. */
#define FIT_RUBICK_GAIN 0.01

#endif
