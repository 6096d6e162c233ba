/* SPDX-License-Identifier: MIT */
#include "tools/common/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "libfit/base/num.h"

#define FIRST_NS (2 * FIT_NS_PER_S)
#define EVERY_NS (FIT_NS_PER_S / 5)

/* Only the meter sees it: no output depends on it. */
static int64_t clock_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0 : (int64_t)t.tv_sec * FIT_NS_PER_S + t.tv_nsec;
}

void cli_progress_start(struct cli_progress *p, const char *tool, const char *what, uint64_t total,
			bool quiet)
{
	*p = (struct cli_progress){ .tool = tool, .what = what, .total = total, .start_ns = clock_ns() };
	p->on = !quiet && total > 0 && isatty(STDERR_FILENO) == 1;
}

void cli_progress_show(struct cli_progress *p, uint64_t done)
{
	int64_t now = p->on ? clock_ns() : 0;
	double spent_s = (double)(now - p->start_ns) / (double)FIT_NS_PER_S;

	if (!p->on || now - p->start_ns < FIRST_NS || now - p->last_ns < EVERY_NS)
		return;
	p->last_ns = now;
	p->shown = true;
	fprintf(stderr, "\r\033[K%s: %llu of %llu %s", p->tool, (unsigned long long)done,
		(unsigned long long)p->total, p->what);
	if (done)
		fprintf(stderr, ", %.3g/s, %.0f s left", (double)done / spent_s,
			spent_s / (double)done * (double)(p->total - done));
	fflush(stderr);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->on = p->shown = false;
}
