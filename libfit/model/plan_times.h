/* SPDX-License-Identifier: MIT */
/*
 * Measured iterations of applications that can be trained by several execution plans (data parallel with
 * accumulation, recomputation or ZeRO; three digits for pipeline, tensor and data degree; …): the table
 * that `gf-prof --from rubick-placements` writes (docs/formats/rubick-profiles.md).
 *
 * An iteration is one mini-batch of the application's fixed global batch, so a plan changes how long it
 * takes, and nothing else.
 */
#ifndef FIT_MODEL_PLAN_TIMES_H
#define FIT_MODEL_PLAN_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

#define FIT_NO_EXEC_PLAN UINT16_MAX
#define FIT_PLAN_NODES_MAX 32		/* nodes of a measured placement */

struct fit_plan_time {
	double iter_s;
	int32_t nodes, gpus;
	uint16_t plan;			/* number in plans */
	uint8_t per_node[FIT_PLAN_NODES_MAX];	/* GPUs: of all rotations the smallest */
};

/* The mean over all plans and placements of so many nodes and GPUs. */
struct fit_plan_pair {
	int32_t nodes, gpus;
	double iter_s;
};

/* Numbers of three pairs, p < r < s. */
struct fit_plan_triangle {
	uint32_t p, r, s;
};

struct fit_plan_app {
	char *name;
	const struct fit_plan_times *of;
	struct fit_plan_time *times;	/* in the order of the table, one of each plan and placement */
	size_t n, cap;
	struct fit_plan_pair *pairs;	/* by nodes, then GPUs */
	size_t n_pairs;
	struct fit_plan_triangle *triangles;	/* by p, r and s: those without a pair inside of their circle */
	size_t n_triangles, cap_triangles;
};

struct fit_plan_times {
	struct fit_plan_app *apps;	/* in the order of the table */
	size_t n_apps, cap;
	char **plans;			/* names, of zero-offload, zero-dp, ga and gc in any case; a plan is a number
					 * in these */
	size_t n_plans, cap_plans;
	char hash[FIT_HASH_HEX];
};

/* Rows without an iteration time are passed over; of several with the same plan and placement the first
 * counts. FIT_EDATA: no row at all, a time of 0 or less, a placement that is none. Release with
 * fit_plan_times_release(). */
int fit_plan_times_read(struct fit_plan_times *t, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_plan_times_release(struct fit_plan_times *t);
/* The application of that name, or NULL; it lives as long as t. */
const struct fit_plan_app *fit_plan_times_find(const struct fit_plan_times *t, struct fit_text name);
/* The plan of that name, or FIT_NO_EXEC_PLAN. */
uint16_t fit_plan_times_plan(const struct fit_plan_times *t, struct fit_text name);
/* Seconds of an iteration by a plan on per_node[0..n) GPUs. NAN: outside of what was measured.
 *
 * The measured time where there is one; else, in this order: the mean of the plan on other placements of
 * as many nodes and GPUs; the line between its neighbours in GPUs on as many nodes; its mean on as many
 * GPUs; the mean of all plans on as many nodes and GPUs; the Delaunay interpolation of these means over
 * (nodes, GPUs); and the mean of all plans on as many GPUs.
 *
 * any_plan: as the simulator of Rubick does it: only the plans zero-dp and zero-offload are looked up;
 * others have the time of plan ga there, and without one the mean of all plans, or its interpolation. */
double fit_plan_app_iter(const struct fit_plan_app *a, uint16_t plan, const int32_t *per_node, size_t n,
			 bool any_plan);
/* The same on full nodes and one with the rest. */
double fit_plan_app_packed(const struct fit_plan_app *a, uint16_t plan, int64_t gpus, int64_t node_gpus,
			   bool any_plan);

FIT_C_END

#endif
