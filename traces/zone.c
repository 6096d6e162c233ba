/* SPDX-License-Identifier: MIT */
/* Zones by name, and clocks with summer time by POSIX TZ rules, read and applied here. */
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"
#include "traces/zone.h"

#define US_PACIFIC "PST8PDT,M3.2.0,M11.1.0"
#define DAY_S INT64_C(86400)

/* ---- reading a rule ---- */

static bool number(const char **p, int max_digits, int64_t *v)
{
	int n = 0;

	for (*v = 0; n < max_digits && **p >= '0' && **p <= '9'; n++, (*p)++)
		*v = *v * 10 + (**p - '0');
	return n > 0;
}

/* [+-]H[H][:MM[:SS]] */
static bool clock_time(const char **p, int64_t max_h, int64_t *s)
{
	int64_t h, m = 0, sec = 0, sign = 1;

	if (**p == '+' || **p == '-')
		sign = *(*p)++ == '-' ? -1 : 1;
	if (!number(p, 3, &h) || h > max_h)
		return false;
	if (**p == ':') {
		(*p)++;
		if (!number(p, 2, &m) || m > 59)
			return false;
		if (**p == ':') {
			(*p)++;
			if (!number(p, 2, &sec) || sec > 59)
				return false;
		}
	}
	*s = sign * (h * 3600 + m * 60 + sec);
	return true;
}

/* A name of three letters or more, or <…>. */
static bool zone_name(const char **p)
{
	const char *from = *p;

	if (**p == '<') {
		const char *end = strchr(*p, '>');

		*p = end ? end + 1 : *p;
		return end && end > from + 3;
	}
	while ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z'))
		(*p)++;
	return *p - from >= 3 && *p - from <= 10;
}

/* ,Mm.w.d[/time] */
static bool change(const char **p, struct fit_zone_change *c)
{
	int64_t m, w, d;

	if ((*p)[0] != ',' || (*p)[1] != 'M')
		return false;
	*p += 2;
	if (!number(p, 2, &m) || m < 1 || m > 12 || *(*p)++ != '.')
		return false;
	if (!number(p, 1, &w) || w < 1 || w > 5 || *(*p)++ != '.')
		return false;
	if (!number(p, 1, &d) || d > 6)
		return false;
	c->month = (int)m;
	c->week = (int)w;
	c->day = (int)d;
	c->s = 2 * 3600;
	if (**p == '/') {
		(*p)++;
		return clock_time(p, 167, &c->s);
	}
	return true;
}

static bool posix_rule(struct fit_zone *z, const char *p)
{
	int64_t west;

	if (!zone_name(&p) || !clock_time(&p, 24, &west))
		return false;
	z->std_s = z->dst_s = -west;
	if (!*p)
		return true;
	if (!zone_name(&p))
		return false;
	z->dst_s = z->std_s + 3600;
	if (*p && *p != ',') {
		if (!clock_time(&p, 24, &west))
			return false;
		z->dst_s = -west;
	}
	if (z->dst_s == z->std_s || !change(&p, &z->to_dst) || !change(&p, &z->to_std) || *p)
		return false;
	if (z->dst_s < z->std_s) {	/* Ireland by law: standard time in summer, less in winter */
		const struct fit_zone other = *z;

		z->std_s = other.dst_s;
		z->dst_s = other.std_s;
		z->to_dst = other.to_std;
		z->to_std = other.to_dst;
	}
	return true;
}

bool fit_zone_rule(struct fit_zone *out, const char *text)
{
	struct fit_zone z = { .given = true };

	if (!posix_rule(&z, text))
		return false;
	*out = z;
	return true;
}

/* "+08:00", "-0700", "+08" */
static bool fixed_offset(struct fit_zone *z, const char *p)
{
	int64_t sign = *p++ == '-' ? -1 : 1, h, m = 0;

	if (!number(&p, 2, &h) || h > 24)
		return false;
	if (*p == ':')
		p++;
	if (*p && !number(&p, 2, &m))
		return false;
	z->std_s = z->dst_s = sign * (h * 3600 + m * 60);
	return !*p && m < 60;
}

static int unknown_zone(const char *text, const char *const *folders, bool any, struct fit_err *err)
{
	char where[256] = "";

	for (size_t i = 0, n = 0; folders[i] && n < sizeof where; i++)
		n += (size_t)snprintf(where + n, sizeof where - n, "%s%s", i ? ", " : "", folders[i]);
	if (*text == '/')
		return fit_fail(err, FIT_EINVAL, "bad zone '%s' (no such file)", text);
	if (any)
		return fit_fail(err, FIT_EINVAL, "bad zone '%s' (expected +08:00, UTC, a rule such as %s, or a name "
				"of the tz database such as Europe/Berlin)", text, US_PACIFIC);
	return fit_fail(err, FIT_EINVAL, "bad zone '%s' (expected +08:00, UTC, US/Pacific or a rule such as %s; "
			"other names need the tz database, which is not in %s)", text, US_PACIFIC, where);
}

int fit_zone_parse_in(struct fit_zone *out, const char *text, const char *const *folders,
		      struct fit_err *err)
{
	static const char *const utc[] = { "UTC", "GMT", "Z", NULL };
	static const char *const pacific[] = { "US/Pacific", "America/Los_Angeles", "PST8PDT", NULL };
	struct fit_zone z = { .given = true };
	bool any;
	int rc;

	for (size_t i = 0; utc[i]; i++)
		if (strcmp(text, utc[i]) == 0) {
			*out = z;
			return FIT_OK;
		}
	for (size_t i = 0; pacific[i]; i++)
		if (strcmp(text, pacific[i]) == 0)
			text = US_PACIFIC;
	if (*text == '+' || *text == '-') {
		if (!fixed_offset(&z, text))
			return unknown_zone(text, folders, true, err);
	} else if (!fit_zone_rule(&z, text)) {
		rc = fit_zone_table_read(&z.table, text, folders, &any, err);
		if (rc)
			return rc == FIT_ENOTFOUND ? unknown_zone(text, folders, any, err) : rc;
	}
	*out = z;
	return FIT_OK;
}

int fit_zone_parse(struct fit_zone *z, const char *text, struct fit_err *err)
{
	static const char *const folders[] = {
		"/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo", NULL
	};

	return fit_zone_parse_in(z, text, folders, err);
}

void fit_zone_release(struct fit_zone *z)
{
	fit_zone_table_free(z->table);
	*z = (struct fit_zone){ 0 };
}

const char *fit_zone_hash(const struct fit_zone *z)
{
	return z->table ? fit_zone_table_hash(z->table) : NULL;
}

/* ---- applying it ---- */

/* The year in which a number of seconds since 1970 falls, and the first day of a month, through the
 * calendar of jobs_calendar.c. */
static int year_of(int64_t s)
{
	char buf[FIT_DATETIME_MAX];

	fit_format_datetime(buf, s * FIT_NS_PER_S);
	return (buf[0] - '0') * 1000 + (buf[1] - '0') * 100 + (buf[2] - '0') * 10 + (buf[3] - '0');
}

static int64_t first_of_month(int year, int month)
{
	char t[] = "0000-00-01 00:00:00";
	int64_t ns = 0;

	for (int i = 3, y = year; i >= 0; i--, y /= 10)
		t[i] = (char)('0' + y % 10);
	t[5] = (char)('0' + month / 10);
	t[6] = (char)('0' + month % 10);
	if (fit_parse_datetime((struct fit_text){ t, sizeof t - 1 }, &ns))
		return 0;
	return ns / FIT_NS_PER_S;
}

/* Seconds since 1970 of the clock's own time at which it changes. */
static int64_t change_at(const struct fit_zone_change *c, int year)
{
	int64_t first = first_of_month(year, c->month), next, day = first / DAY_S, weekday, at;

	next = c->month == 12 ? first_of_month(year + 1, 1) : first_of_month(year, c->month + 1);
	weekday = ((day + 4) % 7 + 7) % 7;	/* 1970-01-01 was a Thursday */
	at = day + (c->day - weekday + 7) % 7 + 7 * (c->week - 1);
	while (at * DAY_S >= next)
		at -= 7;
	return at * DAY_S + c->s;
}

static int64_t floor_s(int64_t ns)
{
	return ns / FIT_NS_PER_S - (ns % FIT_NS_PER_S < 0);
}

int64_t fit_zone_offset(const struct fit_zone *z, int64_t utc_ns)
{
	int64_t s = floor_s(utc_ns), on, off;
	int year;

	if (z->table)
		return fit_zone_table_offset(z->table, s);
	if (z->std_s == z->dst_s)
		return z->std_s;
	year = year_of(s + z->std_s);
	on = change_at(&z->to_dst, year) - z->std_s;
	off = change_at(&z->to_std, year) - z->dst_s;
	if (on < off)
		return s >= on && s < off ? z->dst_s : z->std_s;
	return s >= off && s < on ? z->std_s : z->dst_s;	/* the south */
}

int fit_zone_to_utc(const struct fit_zone *z, int64_t local_ns, int64_t after, int64_t *utc_ns)
{
	int64_t summer = local_ns - z->dst_s * FIT_NS_PER_S, winter = local_ns - z->std_s * FIT_NS_PER_S;
	bool in_summer, in_winter;

	if (z->table)
		return fit_zone_table_to_utc(z->table, local_ns, after, utc_ns);
	if (z->std_s == z->dst_s) {
		*utc_ns = winter;
		return 1;
	}
	in_summer = fit_zone_offset(z, summer) == z->dst_s;
	in_winter = fit_zone_offset(z, winter) == z->std_s;
	*utc_ns = in_summer ? summer : winter;	/* summer is the earlier of two */
	if (in_summer && in_winter && after != FIT_INT_NA && summer < after && winter >= after)
		*utc_ns = winter;
	return in_summer + in_winter;
}
