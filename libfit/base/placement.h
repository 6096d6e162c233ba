/* SPDX-License-Identifier: MIT */
/*
 * Placements written as one number, a digit a node: 1312 is four nodes that hold 1, 3, 1 and 2
 * GPUs. One to four nodes, one to nine GPUs each. Placements that are rotations of one another are
 * equal where step times are concerned; the smallest rotation stands for all of them.
 */
#ifndef FIT_BASE_PLACEMENT_H
#define FIT_BASE_PLACEMENT_H

#include <stdint.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

#define FIT_DIGITS_NODES_MAX 4

/* The smallest rotation (2131 gives 1213); -1 when digits is not such a number. */
int64_t fit_placement_canonical(int64_t digits);
/* Number of nodes and of GPUs of such a number. */
void fit_placement_shape(int64_t digits, int64_t *nodes, int64_t *gpus);

FIT_C_END

#endif
