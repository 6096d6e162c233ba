/* SPDX-License-Identifier: MIT */
#include "tools/common/cli_meter.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "libfit/base/meter.h"
#include "libfit/base/num.h"

#define QUIET_NS (2 * FIT_NS_PER_S)
#define DRAW_NS (FIT_NS_PER_S / 4)
#define WIDTH_MAX 200	/* less than a line has room for */

/* Of the process: there is one terminal. */
static struct {
	const char *tool;
	int64_t start_ns, drawn_ns;
	bool drawn;
	char what[64];			/* of the work that is measured, */
	int64_t from_ns;		/* since then, */
	uint64_t from_done;		/* when that was done */
} meter;

static int64_t now_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0 : (int64_t)t.tv_sec * FIT_NS_PER_S + t.tv_nsec;
}

static size_t width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20)
		return 79;
	return w.ws_col > WIDTH_MAX ? WIDTH_MAX - 1 : (size_t)w.ws_col - 1;
}

/* A number of bytes or things, with at least three digits: "12.3 MB", "4560 jobs". */
static int put_amount(char *to, size_t size, double n, const char *unit)
{
	static const char *const bytes[] = { "B", "kB", "MB", "GB", "TB" };
	size_t k = 0;

	if (unit)
		return snprintf(to, size, n < 100 && n > 0 ? "%.3g %s" : "%.0f %s", n, unit);
	for (; n >= 1000 && k < 4; k++)
		n /= 1000;
	return snprintf(to, size, n < 100 && k ? "%.1f %s" : "%.0f %s", n, bytes[k]);
}

static void put_left(char *to, size_t size, double s)
{
	if (s < 90)
		snprintf(to, size, ", %.0f s left", s);
	else if (s < 5400)
		snprintf(to, size, ", %.0f min left", s / 60);
	else if (s < 1e9)
		snprintf(to, size, ", %.1f h left", s / 3600);
	else
		to[0] = '\0';
}

/* Control characters of a name would be taken for orders by the terminal. */
static void defuse(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 32 || (unsigned char)*s >= 127)
			*s = '?';
}

static void draw(const struct fit_progress_report *r, int64_t now)
{
	double took = (double)(now - meter.from_ns) / 1e9, rate = 0;
	char line[512], done[64], speed[64], left[64] = "", share[32] = "";

	if (took > 0 && r->done > meter.from_done)
		rate = (double)(r->done - meter.from_done) / took;
	put_amount(done, sizeof done, (double)r->done, r->unit);
	put_amount(speed, sizeof speed, rate, r->unit);
	if (r->total >= r->done && r->total) {
		snprintf(share, sizeof share, " (%.0f %%)", 100 * (double)r->done / (double)r->total);
		if (rate > 0)
			put_left(left, sizeof left, (double)(r->total - r->done) / rate);
	}
	snprintf(line, sizeof line, "%s: %s: %s%s, %s/s%s", meter.tool, meter.what, done, share, speed, left);
	line[width()] = '\0';
	defuse(line);
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	meter.drawn = true;
	meter.drawn_ns = now;
}

static void hear(const struct fit_progress_report *r)
{
	int64_t now = now_ns();

	if (strncmp(r->what, meter.what, sizeof meter.what - 1) != 0 || r->done < meter.from_done) {
		snprintf(meter.what, sizeof meter.what, "%s", r->what);
		meter.from_ns = now;
		meter.from_done = r->done;
	}
	if (now - meter.start_ns >= QUIET_NS && now - meter.drawn_ns >= DRAW_NS)
		draw(r, now);
}

void cli_meter_start(const struct cli *cli)
{
	if (cli->quiet || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
		return;
	meter.tool = cli->tool->name;
	meter.start_ns = now_ns();
	fit_meter_listen(hear);
}

void cli_meter_wipe(void)
{
	if (!meter.drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	meter.drawn = false;
}
