/* SPDX-License-Identifier: MIT */
#include "libfit/replay/overdue.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

void fit_overdue_release(struct fit_overdue *o)
{
	free(o->jobs);
	*o = (struct fit_overdue){ 0 };
}

int fit_overdue_add(struct fit_overdue *o, uint32_t job, int64_t since_ns)
{
	size_t i;

	if (fit_grow(&o->jobs, &o->cap, o->n + 1, sizeof *o->jobs))
		return FIT_ENOMEM;
	for (i = o->n++; i && o->jobs[i - 1].since_ns > since_ns; i--)
		o->jobs[i] = o->jobs[i - 1];
	o->jobs[i] = (struct fit_overdue_job){ job, since_ns };
	return FIT_OK;
}

void fit_overdue_remove(struct fit_overdue *o, uint32_t job)
{
	for (size_t i = 0; i < o->n; i++) {
		if (o->jobs[i].job != job)
			continue;
		memmove(o->jobs + i, o->jobs + i + 1, (o->n - i - 1) * sizeof *o->jobs);
		o->n--;
		return;
	}
}

size_t fit_overdue_count(const struct fit_overdue *o, int64_t now_ns, int64_t wait_ns)
{
	size_t n = 0;

	while (n < o->n && now_ns - o->jobs[n].since_ns > wait_ns)
		n++;
	return n;
}
