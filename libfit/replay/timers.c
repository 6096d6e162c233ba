/* SPDX-License-Identifier: MIT */
#include "libfit/replay/timers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "libfit/base/text.h"

void fit_timers_release(struct fit_timers *t)
{
	free(t->heap);
	*t = (struct fit_timers){ 0 };
}

static bool before(const struct fit_timer *a, const struct fit_timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->job < b->job;
}

int fit_timers_add(struct fit_timers *t, struct fit_timer x)
{
	size_t i = t->n;

	if (fit_grow(&t->heap, &t->cap, i + 1, sizeof *t->heap))
		return FIT_ENOMEM;
	t->n++;
	for (; i && before(&x, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = x;
	return FIT_OK;
}

void fit_timers_drop(struct fit_timers *t)
{
	struct fit_timer last = t->heap[--t->n];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < t->n) {
		if (c + 1 < t->n && before(&t->heap[c + 1], &t->heap[c]))
			c++;
		if (!before(&t->heap[c], &last))
			break;
		t->heap[i] = t->heap[c];
		i = c;
	}
	t->heap[i] = last;
}
