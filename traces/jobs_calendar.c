/* SPDX-License-Identifier: MIT */
/* Calendar times without a zone, in the proleptic Gregorian calendar. */
#include <stdio.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"

/* Days since 1970-01-01, counting years from March so that the leap day is the last of a year. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	int64_t era, year_of_era, day_of_year;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	year_of_era = y - era * 400;
	day_of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
	       719468;
}

static void date_of(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp < 10 ? mp + 3 : mp - 9;
	*y = yoe + era * 400 + (*m <= 2);
}

/* Two digits; what is none shows in *bad. */
static inline int64_t two(const char *s, unsigned int *bad)
{
	unsigned int a = (unsigned int)(unsigned char)s[0] - '0', b = (unsigned int)(unsigned char)s[1] - '0';

	*bad |= (a > 9) | (b > 9);
	return a * 10 + b;
}

int fit_parse_datetime(struct fit_text t, int64_t *ns)
{
	static const int64_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t y, mo, d, h, mi, sec, last, days;

	unsigned int bad = 0;

	if (t.n < 19)
		return FIT_EPARSE;
	y = two(t.s, &bad) * 100;
	y += two(t.s + 2, &bad);
	mo = two(t.s + 5, &bad);
	d = two(t.s + 8, &bad);
	h = two(t.s + 11, &bad);
	mi = two(t.s + 14, &bad);
	sec = two(t.s + 17, &bad);
	if (bad || t.s[4] != '-' || t.s[7] != '-' || (t.s[10] != ' ' && t.s[10] != 'T') ||
	    t.s[13] != ':' || t.s[16] != ':')
		return FIT_EPARSE;
	if (mo < 1 || mo > 12 || h > 23 || mi > 59 || sec > 59)
		return FIT_EINVAL;
	last = lengths[mo - 1];
	if (mo == 2 && (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)))
		last = 29;
	if (d < 1 || d > last || y < 1700 || y > 2200)	/* what fits in ns */
		return FIT_EINVAL;
	last = 0;
	if (t.n > 19) {		/* "0.5" is how a fraction of a second looks to the time parser */
		char fraction[16] = "0";
		struct fit_text f = { fraction, t.n - 18 };

		if (t.s[19] != '.' || t.n < 21 || t.n > 29)
			return FIT_EPARSE;
		for (size_t i = 19; i < t.n; i++)
			fraction[i - 18] = t.s[i];
		if (fit_parse_time(f, &last))
			return FIT_EPARSE;
	}
	days = days_of(y, mo, d);
	*ns = ((days * 24 + h) * 3600 + mi * 60 + sec) * FIT_NS_PER_S + last;
	return FIT_OK;
}

void fit_format_datetime(char buf[FIT_DATETIME_MAX], int64_t ns)
{
	int64_t s = ns / FIT_NS_PER_S - (ns % FIT_NS_PER_S < 0);
	int64_t days = s / 86400 - (s % 86400 < 0), rest = s - days * 86400;
	int64_t y, m, d;

	date_of(days, &y, &m, &d);
	snprintf(buf, FIT_DATETIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", (int)y, (int)m, (int)d,
		 (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
}
