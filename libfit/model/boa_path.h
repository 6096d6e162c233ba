/* SPDX-License-Identifier: MIT */
/*
 * Shortest paths over the epochs of a class: states are widths, changing costs the
 * rescale time on the new width. Shared by the frontier, the bound and the enumeration; not a
 * public header.
 */
#ifndef FIT_MODEL_BOA_PATH_H
#define FIT_MODEL_BOA_PATH_H

#include "libfit/model/boa.h"

/* All widths of a class, or of a class and one type, by epoch. */
struct fit_boa_grid {
	size_t n_epochs, n_states;
	bool charge_start;
	struct fit_boa_state {
		int64_t gpus;
		int type;
		double kappa, rescale_s;
	} *states;		/* by type, gpus */
	double *time;		/* epoch * n_states + state: seconds of the epoch; INFINITY: not usable */
	size_t *width;		/* likewise: number of the width; FIT_NO_WIDTH */
	/* of the last path */
	double *primary, *secondary;	/* by state */
	uint32_t *from;		/* epoch * n_states + state: the state before */
};

/* type -1: all of them. n_states is 0 where no path exists: an epoch has no width of this type. */
int fit_boa_grid_init(struct fit_boa_grid *g, const struct fit_boa *b, size_t class, int type,
		      struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_grid_release(struct fit_boa_grid *g);

/* What is to be least: of all paths the one with the smallest time_a * T + cost_a * C, and of
 * those the one with the smallest time_b * T + cost_b * C; then the one that changes least and
 * latest. */
struct fit_boa_aim {
	double time_a, cost_a, time_b, cost_b;
};
/* n_states > 0. widths, one an epoch, may be NULL. Returns the first sum. */
double fit_boa_grid_best(struct fit_boa_grid *g, const struct fit_boa_aim *aim, size_t *widths);

/* The items, vertices and plans of classes (no edges yet). */
int fit_boa_class_hulls(struct fit_boa_frontier *f, const struct fit_boa *b,
			struct fit_err *err) FIT_MUST_CHECK;
/* Append a vertex or an item. */
int fit_boa_add_vertex(struct fit_boa_frontier *f, const struct fit_boa_vertex *v,
		       struct fit_err *err) FIT_MUST_CHECK;
int fit_boa_add_item(struct fit_boa_frontier *f, const struct fit_boa_item *item,
		     struct fit_err *err) FIT_MUST_CHECK;

#endif
