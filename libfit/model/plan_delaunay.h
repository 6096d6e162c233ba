/* SPDX-License-Identifier: MIT */
/*
 * Linear interpolation of mean times over (nodes, GPUs), on a Delaunay triangulation: a triangle is one of it
 * if no point is inside of its circle. Points on one circle leave a choice; of the triangles that hold
 * a place the first in the order of the points counts.
 */
#ifndef FIT_MODEL_PLAN_DELAUNAY_H
#define FIT_MODEL_PLAN_DELAUNAY_H

#include "libfit/model/plan_times.h"

/* Set a->triangles, in their order, from a->pairs, which are sorted and distinct. None where all pairs are on
 * one line. FIT_ENOMEM; FIT_EDATA: Qhull gave it up. */
int fit_plan_delaunay(struct fit_plan_app *a, struct fit_err *err) FIT_MUST_CHECK;
/* The time at q; NAN: no triangle holds it. */
double fit_plan_interpolate(const struct fit_plan_app *a, const struct fit_plan_pair *q);

#endif
