/* SPDX-License-Identifier: MIT */
#include "traces/prof_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

#define GPUS_MAX 65536

/* ---- lines ---- */

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v';
}

struct fit_text fit_prof_trim(struct fit_text t)
{
	return fit_text_trim(t, is_blank);
}

static char lower(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (char)(ch + ('a' - 'A')) : ch;
}

bool fit_prof_starts(struct fit_text t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (t.n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(t.s[i]) != lower(prefix[i]))
			return false;
	return true;
}

bool fit_prof_is(struct fit_text t, const char *word)
{
	return t.n == strlen(word) && fit_prof_starts(t, word);
}

int fit_prof_fail(const struct fit_prof_lines *l, int code, const char *name, struct fit_err *err,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(l->source), l->line, name, fmt, ap);
	va_end(ap);
	return code;
}

int fit_prof_line(struct fit_prof_lines *l, bool *bad, struct fit_err *err)
{
	*bad = false;
	for (;;) {
		struct fit_text t;
		char *s;
		size_t n;
		int rc = fit_source_line(l->source, &s, &n, err);

		if (rc)
			return rc;
		l->line = fit_source_line_number(l->source);
		t = (struct fit_text){ s, n };
		l->ended = fit_source_line_ended(l->source);
		/* not only on line 1: files that are put together bring theirs along */
		if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
			t = (struct fit_text){ s + 3, n - 3 };
		if (l->line == 1 && fit_prof_starts(t, "version https://git-lfs"))
			return fit_prof_fail(l, FIT_EPARSE, NULL, err, "Git LFS pointer, not the data (expected "
					     "the file that 'git lfs pull' fetches)");
		l->text = fit_prof_trim(t);
		if (!l->text.n)
			continue;
		l->any = true;
		if (fit_text_is_utf8(l->text))
			return FIT_OK;
		*bad = true;
		rc = memchr(l->text.s, '\0', l->text.n) ?
		     fit_prof_fail(l, FIT_EPARSE, NULL, err, "NUL byte (expected text)") :
		     fit_prof_fail(l, FIT_EPARSE, NULL, err, "invalid UTF-8");
		l->text.n = 0;
		return rc;
	}
}

/* ---- fields ---- */

size_t fit_prof_cut(struct fit_text line, char cut, struct fit_text *fields)
{
	size_t n = 0, i = 0;

	while (i < line.n || (cut != ' ' && i == line.n)) {
		size_t from;

		while (cut == ' ' && i < line.n && is_blank(line.s[i]))
			i++;
		if (cut == ' ' && i == line.n)
			break;
		for (from = i; i < line.n && !(cut == ' ' ? is_blank(line.s[i]) : line.s[i] == cut); i++)
			;
		if (n < FIT_PROF_FIELDS_MAX)
			fields[n] = fit_prof_trim((struct fit_text){ line.s + from, i - from });
		n++;
		i++;
	}
	return n;
}

static bool starts_with_digit(struct fit_text t)
{
	return t.n && t.s[0] >= '0' && t.s[0] <= '9';
}

bool fit_prof_is_missing(struct fit_text t)
{
	static const char *const words[] = {
		"", "-", "N/A", "NA", "ERR!", "Not Supported", "Unknown Error", "Not Available",
		"Insufficient Permissions", "GPU is lost", "GPU requires reset", "Requires reset",
		"Not Found", "Function Not Found", "Not Active", "No Data"
	};

	if (starts_with_digit(t))
		return false;
	if (t.n >= 2 && t.s[0] == '[' && t.s[t.n - 1] == ']')
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (fit_prof_is(t, words[i]))
			return true;
	return false;
}

bool fit_prof_is_message(struct fit_text line)
{
	static const char *const starts[] = {
		"unable to determine the device handle", "no devices were found", "nvidia-smi has failed",
		"failed to ", "gpu is lost", "gpu access blocked", "warning", "error", "terminated",
		"killed", "interrupted", "timeout", "unable to ", "reboot ", "could not ",
		"make sure that ", "nvrm", "segmentation fault", "^c", "nohup:"
	};

	if (starts_with_digit(line))
		return false;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (fit_prof_starts(line, starts[i]))
			return true;
	return false;
}

int fit_prof_number(struct fit_text t, const char *units, double *v, bool *bare)
{
	size_t n = 0;
	struct fit_text unit;

	while (n < t.n && ((t.s[n] >= '0' && t.s[n] <= '9') || strchr("+-.eE", t.s[n])))
		n++;
	if (fit_parse_double((struct fit_text){ t.s, n }, v))
		return FIT_EPARSE;
	unit = fit_prof_trim((struct fit_text){ t.s + n, t.n - n });
	*bare = unit.n == 0;
	while (unit.n) {
		size_t k = strcspn(units, ",");

		if (k == unit.n && memcmp(units, unit.s, k) == 0)
			return FIT_OK;
		if (!units[k])
			return FIT_EPARSE;
		units += k + 1;
	}
	return FIT_OK;
}

/* ---- samples without a time ---- */

void fit_prof_ticks_release(struct fit_prof_ticks *t)
{
	fit_index_release(&t->keys);
	free(t->last);
	*t = (struct fit_prof_ticks){ 0 };
}

int fit_prof_tick(struct fit_prof_ticks *t, struct fit_text key, int64_t *id)
{
	uint32_t n = (uint32_t)t->keys.n, found;

	if (n >= GPUS_MAX && fit_index_get(&t->keys, key) == FIT_NO_INDEX)
		return FIT_EINVAL;
	if (fit_index_put(&t->keys, key, n, &found) ||
	    fit_grow(&t->last, &t->cap, (size_t)n + 1, sizeof *t->last))
		return FIT_ENOMEM;
	if (found == FIT_NO_INDEX) {
		found = n;
		t->last[n] = 0;
	}
	if (t->last[found] == t->tick + 1)
		t->tick++;
	t->last[found] = t->tick + 1;
	*id = found;
	return FIT_OK;
}

bool fit_prof_has_start(const struct fit_series_params *p)
{
	return p->has_time && p->time_is_calendar;
}

int fit_prof_tick_time(const struct fit_series_params *p, uint64_t tick, int64_t default_ns,
		       int64_t *ns)
{
	int64_t period = p->period_ns > 0 ? p->period_ns : default_ns, shift, start;

	start = p->has_time ? p->time_ns : 0;
	/* the clock's time is that of the start alone: from there on seconds are seconds */
	if (fit_prof_has_start(p) && p->zone.given && fit_series_is_near(start))
		(void)fit_zone_to_utc(&p->zone, start, FIT_INT_NA, &start);
	if (tick > INT64_MAX || __builtin_mul_overflow((int64_t)tick, period, &shift) ||
	    __builtin_add_overflow(start, shift, ns) || *ns == INT64_MIN)
		return FIT_EINVAL;
	return FIT_OK;
}
