/* SPDX-License-Identifier: MIT */
#include "libfit/replay/timers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "libfit/base/heap.h"

void fit_timers_release(struct fit_timers *t)
{
	free(t->heap);
	*t = (struct fit_timers){ 0 };
}

static bool before(const struct fit_timer *a, const struct fit_timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->job < b->job;
}

FIT_HEAP(timers, struct fit_timer, before)

int fit_timers_add(struct fit_timers *t, struct fit_timer x)
{
	return timers_push(&t->heap, &t->n, &t->cap, x);
}

void fit_timers_drop(struct fit_timers *t)
{
	timers_pop(t->heap, &t->n);
}
