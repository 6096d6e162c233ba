/* SPDX-License-Identifier: MIT */
#include "libfit/base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fit_text fit_text_of(const char *s)
{
	return (struct fit_text){ s, s ? strlen(s) : 0 };
}

bool fit_text_eq(struct fit_text a, struct fit_text b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

bool fit_text_is(struct fit_text a, const char *s)
{
	/* the words are short, and most comparisons end at the first byte */
	for (size_t i = 0; i < a.n; i++)
		if (a.s[i] != s[i] || !s[i])
			return false;
	return !s[a.n];
}

int fit_text_cmp(struct fit_text a, struct fit_text b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.s, b.s, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int fit_text_cmp_natural(struct fit_text a, struct fit_text b)
{
	size_t i = 0, j = 0;

	while (i < a.n && j < b.n) {
		if (is_digit(a.s[i]) && is_digit(b.s[j])) {
			size_t ie, je;
			int c;

			while (i < a.n && a.s[i] == '0')
				i++;
			while (j < b.n && b.s[j] == '0')
				j++;
			for (ie = i; ie < a.n && is_digit(a.s[ie]); ie++)
				;
			for (je = j; je < b.n && is_digit(b.s[je]); je++)
				;
			if (ie - i != je - j)
				return ie - i < je - j ? -1 : 1;
			c = ie > i ? memcmp(a.s + i, b.s + j, ie - i) : 0;
			if (c)
				return c;
			i = ie;
			j = je;
		} else {
			unsigned char ca = (unsigned char)a.s[i], cb = (unsigned char)b.s[j];

			if (ca != cb)
				return ca < cb ? -1 : 1;
			i++;
			j++;
		}
	}
	if (i < a.n || j < b.n)
		return i < a.n ? 1 : -1;
	return fit_text_cmp(a, b);
}

bool fit_text_is_utf8(struct fit_text t)
{
	const unsigned char *s = (const unsigned char *)t.s, *end = s + t.n;

	while (s < end) {
		unsigned int c, more, min;

		/* sixteen bytes of ASCII at a time: no high bit, and none of them 0 */
		if (end - s >= 16) {
			uint64_t a, b;

			memcpy(&a, s, 8);
			memcpy(&b, s + 8, 8);
			if (!((a | (a - UINT64_C(0x0101010101010101)) | b |
			       (b - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080))) {
				s += 16;
				continue;
			}
		}
		c = *s++;

		if (c == 0)
			return false;
		if (c < 0x80)
			continue;
		if (c >= 0xc2 && c <= 0xdf) {
			more = 1;
			min = 0x80;
			c &= 0x1f;
		} else if (c >= 0xe0 && c <= 0xef) {
			more = 2;
			min = 0x800;
			c &= 0x0f;
		} else if (c >= 0xf0 && c <= 0xf4) {
			more = 3;
			min = 0x10000;
			c &= 0x07;
		} else {
			return false;
		}
		for (; more; more--) {
			if (s == end || (*s & 0xc0) != 0x80)
				return false;
			c = c << 6 | (*s++ & 0x3fu);
		}
		if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return false;
	}
	return true;
}

int fit_grow(void *array_ptr, size_t *cap, size_t need, size_t elem)
{
	size_t n = *cap;
	void *p;

	if (need <= n)
		return FIT_OK;
	n = n < 16 ? 16 : n;
	while (n < need) {
		if (n > SIZE_MAX / 2)
			return FIT_ENOMEM;
		n *= 2;
	}
	if (n > SIZE_MAX / elem)
		return FIT_ENOMEM;
	memcpy(&p, array_ptr, sizeof p);
	/* cppcheck-suppress memleakOnRealloc ; the caller keeps the old block in *array_ptr */
	p = realloc(p, n * elem);
	if (!p)
		return FIT_ENOMEM;
	memcpy(array_ptr, &p, sizeof p);
	*cap = n;
	return FIT_OK;
}

void fit_str_release(struct fit_str *b)
{
	free(b->s);
	*b = (struct fit_str){ 0 };
}

void fit_str_clear(struct fit_str *b)
{
	b->n = 0;
	if (b->s)
		b->s[0] = '\0';
}

int fit_str_add(struct fit_str *b, const void *s, size_t n)
{
	int rc = n < SIZE_MAX - b->n ? fit_grow(&b->s, &b->cap, b->n + n + 1, 1) : FIT_ENOMEM;

	if (rc)
		return rc;
	if (n)
		memcpy(b->s + b->n, s, n);
	b->n += n;
	b->s[b->n] = '\0';
	return FIT_OK;
}

int fit_str_puts(struct fit_str *b, const char *s)
{
	return fit_str_add(b, s, strlen(s));
}

int fit_str_vprintf(struct fit_str *b, const char *fmt, va_list ap)
{
	va_list again;
	int n, rc;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return FIT_EINVAL;
	rc = fit_grow(&b->s, &b->cap, b->n + (size_t)n + 1, 1);
	if (rc)
		return rc;
	vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
	b->n += (size_t)n;
	return FIT_OK;
}

int fit_str_printf(struct fit_str *b, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fit_str_vprintf(b, fmt, ap);
	va_end(ap);
	return rc;
}

char *fit_strdup(struct fit_text t)
{
	char *p = malloc(t.n + 1);

	if (p) {
		if (t.n)
			memcpy(p, t.s, t.n);
		p[t.n] = '\0';
	}
	return p;
}

const char *fit_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
