/* SPDX-License-Identifier: MIT */
/*
 * Status codes and the error message that goes with them.
 *
 * A function that can fail returns an int status (FIT_OK is 0), is marked FIT_MUST_CHECK, and takes
 * a struct fit_err * as its last parameter (NULL is allowed). On failure its outputs are untouched
 * or zeroed and err says what was wrong in one line: lower case, no full stop, the fault first.
 */
#ifndef FIT_BASE_STATUS_H
#define FIT_BASE_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

#define FIT_MUST_CHECK __attribute__((warn_unused_result))
#define FIT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum fit_status {
	FIT_OK = 0,
	FIT_END,	/* nothing more to read; not an error, err is untouched */
	FIT_EPARSE,	/* the bytes do not follow the format */
	FIT_EDATA,	/* well-formed, but wrong or inconsistent */
	FIT_EINVAL,	/* a parameter is outside its domain */
	FIT_ENOCONV,	/* a solver stopped before it converged */
	FIT_ENOTFOUND,	/* a named table, column or key is not there */
	FIT_EIO,	/* cannot open, read, write or rename */
	FIT_ENOMEM,	/* out of memory */
	FIT_ECHILD	/* a child program failed */
};

#define FIT_ERR_MAX 1024

struct fit_err {
	int code;		/* enum fit_status */
	char msg[FIT_ERR_MAX];	/* one line, without a line feed */
};

/* Fill err (when not NULL) and return code. Control characters that come in through the arguments
 * are replaced by '?', so that a hostile name cannot break the one-line rule. A message that is too long
 * loses its middle (" ... "): what is wrong and why stand at its ends. */
int fit_fail(struct fit_err *err, int code, const char *fmt, ...) FIT_PRINTF(3, 4);
int fit_fail_v(struct fit_err *err, int code, const char *fmt, va_list ap) FIT_PRINTF(3, 0);

/* "FILE:LINE:FIELD: what", or without ":FIELD" when field is NULL. */
int fit_fail_at(struct fit_err *err, int code, const char *file, uint64_t line, const char *field,
		const char *fmt, va_list ap) FIT_PRINTF(6, 0);

/* fit_fail(err, FIT_EIO, ...) with ": strerror(errno)" at the end; FIT_ENOMEM where errno is ENOMEM. */
int fit_fail_errno(struct fit_err *err, const char *fmt, ...) FIT_PRINTF(2, 3);

/* fit_fail(err, FIT_ENOMEM, "out of memory"). */
int fit_fail_nomem(struct fit_err *err);

/* Put a text in front of the message that err holds: "PREFIX: old message". Returns err->code
 * (or code when err is NULL). */
int fit_fail_prefix(struct fit_err *err, int code, const char *fmt, ...) FIT_PRINTF(3, 4);

FIT_C_END

#endif
