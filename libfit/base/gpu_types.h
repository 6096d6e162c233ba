/* SPDX-License-Identifier: MIT */
/*
 * GPU types that published traces and profiles name: which GPU it is, and how many a node has. A
 * cluster may name others; it then says their number itself ("mine:6x4").
 */
#ifndef FIT_BASE_GPU_TYPES_H
#define FIT_BASE_GPU_TYPES_H

#include <stdint.h>

#include "libfit/base/text.h"

struct fit_gpu_type_info {
	const char *name, *gpu;
	int64_t node_gpus;	/* GPUs of a node */
	int64_t profiled_nodes;	/* nodes that the profiles of Sia (SOSP'23) were measured on */
};

/* All of them; ends with name == NULL. */
extern const struct fit_gpu_type_info fit_gpu_types[];
/* The one of that name, or NULL. */
const struct fit_gpu_type_info *fit_gpu_type_find(struct fit_text name);

#endif
