/* SPDX-License-Identifier: MIT */
#include "libfit/base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

static void fill(struct fit_err *err, int code, const char *fmt, va_list ap) FIT_PRINTF(3, 0);
static void fill(struct fit_err *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	make_one_line(err->msg);
}

int fit_fail(struct fit_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, code, fmt, ap);
		va_end(ap);
	}
	return code;
}

int fit_fail_errno(struct fit_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (err) {
		size_t n;

		va_start(ap, fmt);
		fill(err, saved == ENOMEM ? FIT_ENOMEM : FIT_EIO, fmt, ap);
		va_end(ap);
		n = strlen(err->msg);
		snprintf(err->msg + n, sizeof err->msg - n, ": %s", strerror(saved));
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
	size_t n;

	if (!err)
		return code;
	memcpy(old, err->msg, sizeof old);
	va_start(ap, fmt);
	fill(err, code, fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof err->msg - n, ": %s", old);
	return code;
}
