/* SPDX-License-Identifier: MIT */
#include "libfit/base/num.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/decimal.h"
#include "libfit/base/digits.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int fit_parse_int64(struct fit_text t, int64_t *out)
{
	size_t i = 0;
	bool neg = false;
	uint64_t v = 0, max;

	if (fit_take_digits(t.s, t.n, &v)) {	/* nearly all are so */
		*out = (int64_t)v;
		return FIT_OK;
	}
	v = 0;
	if (t.n && (t.s[0] == '-' || t.s[0] == '+'))
		neg = t.s[i++] == '-';
	if (i == t.n)
		return FIT_EPARSE;
	max = neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	for (size_t k = i; k < t.n; k++)
		if (!is_digit(t.s[k]))
			return FIT_EPARSE;
	for (; i < t.n; i++) {
		uint64_t d = (uint64_t)(t.s[i] - '0');

		if (v > (max - d) / 10)
			return FIT_EINVAL;
		v = v * 10 + d;
	}
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return FIT_OK;
}

/* Powers of ten that a double holds exactly. */
static const double exact_pow10[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

#define MANTISSA_MAX (UINT64_MAX / 10 - 1)	/* one more digit fits below this */

/* Digits from *i on, into *m as long as they fit. Returns how many; *dropped of them did not fit. */
static size_t scan_digits(struct fit_text t, size_t *i, uint64_t *m, size_t *dropped)
{
	size_t from = *i, k = *i;

	while (t.n - k >= 8 && *m < MANTISSA_MAX / 10000000) {
		uint64_t w = fit_load_digits(t.s + k, 8);

		if (!fit_all_below_10(w))
			break;
		*m = *m * 100000000 + fit_number8(w);
		k += 8;
	}
	for (; k < t.n && is_digit(t.s[k]); k++) {
		if (*m < MANTISSA_MAX)
			*m = *m * 10 + (uint64_t)(t.s[k] - '0');
		else
			++*dropped;
	}
	*i = k;
	return k - from;
}

/* Check the grammar [sign] digits [. digits] [e [sign] digits] (at least one mantissa digit). Where
 * the mantissa fits 53 bits and the power of ten is exact, one division or multiplication rounds
 * correctly (Clinger 1990, the fast path), and integers of 128 bits do for nearly all others; *fast
 * says whether *out was set in such a way. */
static bool scan_decimal(struct fit_text t, double *out, bool *fast)
{
	size_t i = 0, digits, dropped = 0, n;
	bool neg = false, eneg = false;
	uint64_t m = 0;
	int exp10 = 0, e = 0;
	double v;

	*fast = false;
	if (t.n && (t.s[0] == '-' || t.s[0] == '+'))
		neg = t.s[i++] == '-';
	digits = scan_digits(t, &i, &m, &dropped);
	if (i < t.n && t.s[i] == '.') {
		i++;
		n = scan_digits(t, &i, &m, &dropped);
		exp10 = n < 100000 ? -(int)n : -100000;
		digits += n;
	}
	if (!digits)
		return false;
	if (i < t.n && (t.s[i] == 'e' || t.s[i] == 'E')) {
		if (++i < t.n && (t.s[i] == '-' || t.s[i] == '+'))
			eneg = t.s[i++] == '-';
		if (i == t.n)
			return false;
		for (; i < t.n && is_digit(t.s[i]); i++)
			if (e < 100000)
				e = e * 10 + (t.s[i] - '0');
		exp10 += eneg ? -e : e;
	}
	if (i != t.n)
		return false;
	if (dropped)
		return true;
	if (m < UINT64_C(1) << 53 && exp10 >= -22 && exp10 <= 22) {
		v = (double)m;
		v = exp10 < 0 ? v / exact_pow10[-exp10] : v * exact_pow10[exp10];
	} else if (!fit_decimal_to_double(m, exp10, &v)) {
		return true;
	}
	*out = neg ? -v : v;
	*fast = true;
	return true;
}

int fit_parse_double(struct fit_text t, double *out)
{
	char small[128], *buf = small, *end;
	locale_t c_locale, old;
	bool fast;
	double v = 0;
	uint64_t whole;
	int rc = FIT_OK;

	if (t.n <= 15 && fit_take_digits(t.s, t.n, &whole)) {
		*out = (double)whole;
		return FIT_OK;
	}
	if (!scan_decimal(t, &v, &fast))
		return FIT_EPARSE;
	if (fast) {
		*out = v;
		return FIT_OK;
	}
	if (t.n >= sizeof small && !(buf = malloc(t.n + 1)))
		return FIT_ENOMEM;
	memcpy(buf, t.s, t.n);
	buf[t.n] = '\0';
	/* glibc hands out its static C locale: no allocation, cannot fail */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	old = uselocale(c_locale);
	v = strtod(buf, &end);
	uselocale(old);
	freelocale(c_locale);
	if (end != buf + t.n)
		rc = FIT_EPARSE;
	else if (!isfinite(v))
		rc = FIT_EINVAL;
	else
		*out = v;
	if (buf != small)
		free(buf);
	return rc;
}

static bool is_word(struct fit_text t, const char *lower)
{
	if (t.n != strlen(lower))
		return false;
	for (size_t i = 0; i < t.n; i++) {
		char c = t.s[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != lower[i])
			return false;
	}
	return true;
}

int fit_parse_double_any(struct fit_text t, double *out)
{
	struct fit_text w = t;

	if (t.n && is_digit(t.s[0]))
		return fit_parse_double(t, out);
	if (is_word(t, "nan") || is_word(t, "-nan")) {
		*out = (double)NAN;
		return FIT_OK;
	}
	if (w.n && (w.s[0] == '-' || w.s[0] == '+')) {
		w.s++;
		w.n--;
	}
	if (is_word(w, "inf") || is_word(w, "infinity")) {
		*out = t.s[0] == '-' ? -HUGE_VAL : HUGE_VAL;
		return FIT_OK;
	}
	return fit_parse_double(t, out);
}

int fit_parse_time(struct fit_text t, int64_t *ns)
{
	size_t i = 0, digits = 0;
	bool neg = false;
	uint64_t v = 0, limit = INT64_MAX;
	int frac = 0;

	if (t.n <= 9 && fit_take_digits(t.s, t.n, &v)) {
		*ns = (int64_t)v * FIT_NS_PER_S;
		return FIT_OK;
	}
	v = 0;
	if (t.n && (t.s[0] == '-' || t.s[0] == '+'))
		neg = t.s[i++] == '-';
	for (size_t k = i, dots = 0; k < t.n; k++) {
		if (t.s[k] == '.' && !dots)
			dots = 1;
		else if (!is_digit(t.s[k]))
			return FIT_EPARSE;
		else
			digits++;
	}
	if (!digits)
		return FIT_EPARSE;
	for (; i < t.n && t.s[i] != '.'; i++) {
		v = v * 10 + (uint64_t)(t.s[i] - '0');
		if (v > limit / 1000000000u)
			return FIT_EINVAL;
	}
	for (i++; i < t.n; i++) {
		if (frac == 9) {
			if (t.s[i] != '0')
				return FIT_EINVAL;
			continue;
		}
		v = v * 10 + (uint64_t)(t.s[i] - '0');
		frac++;
	}
	for (; frac < 9; frac++)
		v *= 10;
	if (v > limit)
		return FIT_EINVAL;
	*ns = neg ? -(int64_t)v : (int64_t)v;
	return FIT_OK;
}

_Static_assert(FIT_NUM_MAX > 1 + FIT_DIGITS_MAX, "room for a sign and digits");

size_t fit_format_int64(char buf[FIT_NUM_MAX], int64_t v)
{
	char *p = buf;

	if (v < 0)
		*p++ = '-';
	p = fit_put_digits(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
	*p = '\0';
	return (size_t)(p - buf);
}

size_t fit_format_double(char buf[FIT_NUM_MAX], double v)
{
	locale_t c_locale, old;
	size_t put;
	int n;

	if (isnan(v) || isinf(v)) {
		const char *w = isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";

		n = (int)strlen(w);
		memcpy(buf, w, (size_t)n + 1);
		return (size_t)n;
	}
	if (fabs(v) < 1e15 && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
		return fit_format_int64(buf, (int64_t)v);
	buf[0] = '-';
	put = fit_decimal_write(buf + (v < 0), v);
	if (put) {
		put += v < 0;
		buf[put] = '\0';
		return put;
	}
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	old = uselocale(c_locale);
	n = snprintf(buf, FIT_NUM_MAX, "%.17g", v);
	uselocale(old);
	freelocale(c_locale);
	return (size_t)n;
}

size_t fit_format_time(char buf[FIT_NUM_MAX], int64_t ns)
{
	uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t frac = u % 1000000000u;
	size_t n = 0;

	if (ns < 0)
		buf[n++] = '-';
	n += fit_format_int64(buf + n, (int64_t)(u / 1000000000u));
	if (frac) {
		buf[n++] = '.';
		for (uint64_t unit = 100000000; frac; unit /= 10) {
			buf[n++] = (char)('0' + frac / unit);
			frac %= unit;
		}
		buf[n] = '\0';
	}
	return n;
}

int fit_time_from_double(double s, int64_t *ns)
{
	/* 80-bit product: exact enough that the nearest nanosecond is the right one */
	long double v = (long double)s * 1e9L;

	if (!isfinite(s) || v >= 9223372036854775807.0L || v <= -9223372036854775807.0L)
		return FIT_EINVAL;
	*ns = (int64_t)rintl(v);
	return FIT_OK;
}

double fit_time_to_double(int64_t ns)
{
	return (double)((long double)ns / 1e9L);
}
