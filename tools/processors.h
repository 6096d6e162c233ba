/* SPDX-License-Identifier: MIT */
/* The processors on which this process may run. */
#ifndef TOOLS_PROCESSORS_H
#define TOOLS_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>

/* How many, at least 1. */
size_t processors_allowed(void);

/* Keep the calling thread, and the programs that it starts from now on, on the which-th of them, counted from
 * 0 (mod their number). False where the system cannot do that, and then nothing is changed. */
bool processors_keep_to(size_t which);

#endif
