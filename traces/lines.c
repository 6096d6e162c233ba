/* SPDX-License-Identifier: MIT */
#include "traces/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct fit_text fit_trim(struct fit_text t)
{
	return fit_text_trim(t, fit_is_blank);
}

int fit_lines_open(struct fit_lines *l, struct fit_source *s, struct fit_err *err)
{
	*l = (struct fit_lines){ .source = s, .hasher = fit_hasher_new() };
	fit_source_drop_hash(s);
	return l->hasher ? FIT_OK : fit_fail_nomem(err);
}

void fit_lines_close(struct fit_lines *l)
{
	fit_hasher_free(l->hasher);
	l->hasher = NULL;
}

int fit_lines_fail(const struct fit_lines *l, int code, uint64_t number, const char *field,
		   struct fit_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(l->source), number, field, fmt, ap);
	va_end(ap);
	return code;
}

static bool starts(const char *s, size_t n, const char *with, size_t k)
{
	return n >= k && memcmp(s, with, k) == 0;
}

int fit_lines_next(struct fit_lines *l, struct fit_err *err)
{
	char *s;
	size_t n;
	int rc = fit_source_line(l->source, &s, &n, err);

	if (rc)
		return rc;
	l->number = fit_source_line_number(l->source);
	/* not only on line 1: files that are put together bring theirs along */
	if (n && (unsigned char)s[0] == 0xef && starts(s, n, "\xef\xbb\xbf", 3)) {
		s += 3;
		n -= 3;
	}
	if (l->number == 1 && starts(s, n, "version https://git-lfs", 23))
		return fit_lines_fail(l, FIT_EPARSE, 1, NULL, err, "Git LFS pointer, not the data (expected the "
				      "file that 'git lfs pull' fetches)");
	if (n && s[n - 1] == '\r')
		n--;
	l->any = l->any || n;
	l->text = (struct fit_text){ s, n };
	return FIT_OK;
}

/* All bytes from 0x01 to 0x7f? Eight at a time. */
static bool is_ascii(struct fit_text t)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
	size_t i = 0;

	for (; i + 8 <= t.n; i += 8) {
		uint64_t v;

		memcpy(&v, t.s + i, 8);
		if ((v | (v - ones)) & high)
			return false;
	}
	for (; i < t.n; i++)
		if ((unsigned char)t.s[i] - 1u > 0x7e)
			return false;
	return true;
}

int fit_lines_check(const struct fit_lines *l, struct fit_text t, uint64_t number,
		    struct fit_err *err)
{
	if (is_ascii(t) || fit_text_is_utf8(t))
		return FIT_OK;
	return fit_lines_fail(l, FIT_EPARSE, number, NULL, err, "%s", memchr(t.s, '\0', t.n) ?
			      "NUL byte (expected text)" : "invalid UTF-8");
}

void fit_lines_hash(struct fit_lines *l, struct fit_text record)
{
	fit_hasher_add_text(l->hasher, record);
}
