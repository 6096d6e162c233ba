/* SPDX-License-Identifier: MIT */
#include "libfit/base/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

static bool inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;	/* of UTF-8, behind its first byte */
}

/* A text of n bytes, longer than FIT_ERR_MAX - 1, without its middle. */
static void shorten(char out[FIT_ERR_MAX], const char *s, size_t n)
{
	static const char gap[] = " ... ";
	size_t room = FIT_ERR_MAX - sizeof gap, head = room / 2, tail = n - (room - head);

	while (head && inside_character(s[head]))
		head--;
	while (tail < n && inside_character(s[tail]))
		tail++;
	memcpy(out, s, head);
	memcpy(out + head, gap, sizeof gap - 1);
	memcpy(out + head + sizeof gap - 1, s + tail, n - tail);
	out[head + sizeof gap - 1 + n - tail] = '\0';
}

/* The message and, where suffix is not "", ": SUFFIX". Without memory for all of it, the end is cut. */
static void fill(struct fit_err *err, int code, const char *suffix, const char *fmt, va_list ap)
	FIT_PRINTF(4, 0);
static void fill(struct fit_err *err, int code, const char *suffix, const char *fmt, va_list ap)
{
	size_t extra = *suffix ? strlen(suffix) + 2 : 0, n;
	const char *colon = *suffix ? ": " : "";
	char *all = NULL;
	va_list again;
	int k;

	va_copy(again, ap);
	err->code = code;
	k = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	n = k > 0 ? (size_t)k : 0;
	if (n + extra >= sizeof err->msg)
		all = malloc(n + extra + 1);
	if (all) {
		vsnprintf(all, n + 1, fmt, again);
		snprintf(all + n, extra + 1, "%s%s", colon, suffix);
		shorten(err->msg, all, n + extra);
		free(all);
	} else if (n < sizeof err->msg) {
		snprintf(err->msg + n, sizeof err->msg - n, "%s%s", colon, suffix);
	}
	va_end(again);
	make_one_line(err->msg);
}

int fit_fail_v(struct fit_err *err, int code, const char *fmt, va_list ap)
{
	if (err)
		fill(err, code, "", fmt, ap);
	return code;
}

int fit_fail(struct fit_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_v(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int fit_fail_at(struct fit_err *err, int code, const char *file, uint64_t line, const char *field,
		const char *fmt, va_list ap)
{
	char what[FIT_ERR_MAX];

	vsnprintf(what, sizeof what, fmt, ap);
	return fit_fail(err, code, "%s:%llu%s%s: %s", file, (unsigned long long)line, field ? ":" : "",
			field ? field : "", what);
}

int fit_fail_errno(struct fit_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, saved == ENOMEM ? FIT_ENOMEM : FIT_EIO, strerror(saved), fmt, ap);
		va_end(ap);
	}
	return saved == ENOMEM ? FIT_ENOMEM : FIT_EIO;
}

int fit_fail_nomem(struct fit_err *err)
{
	return fit_fail(err, FIT_ENOMEM, "out of memory");
}

int fit_fail_prefix(struct fit_err *err, int code, const char *fmt, ...)
{
	char old[FIT_ERR_MAX];
	va_list ap;

	if (!err)
		return code;
	memcpy(old, err->msg, sizeof old);
	va_start(ap, fmt);
	fill(err, code, old, fmt, ap);
	va_end(ap);
	return code;
}
