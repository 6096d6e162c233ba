/* SPDX-License-Identifier: MIT */
/*
 * What unit tests share: cmocka with the headers that it wants, and comparisons that print both
 * values. Include this first in a tests/unit/test_*.c.
 *
 *   check_real(found, expected, rel, abs)   |found - expected| <= abs + rel * |expected|; equal
 *                                           infinities and two NaN agree
 *   check_same_bits(found, expected)        the same double, bit for bit (0 and -0 differ)
 *   check_text(found, expected)             two C strings
 *   check_span(found, expected)             a struct fit_text and a C string
 *   check_ok(status, err)                   status is FIT_OK, or the test fails with err's message
 *   check_err(status, err, code, message)   that failure, with exactly that message
 *   check_scratch(name)                     go to the scratch folder and make name (mkstemp()); 0
 *   check_file(name, text)                  name becomes that of a new scratch file with that text
 */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"

#define CHECK_UNUSED __attribute__((unused))

CHECK_UNUSED static void check_real_at(double found, double expected, double rel, double abs_tol,
				       const char *what, const char *file, int line)
{
	double diff = fabs(found - expected), room = abs_tol + rel * fabs(expected);

	/* Read positively, so that a NaN fails unless both are. */
	if (found <= expected && found >= expected)
		return;
	if (isnan(found) && isnan(expected))
		return;
	if (isfinite(found) && isfinite(expected) && diff <= room)
		return;
	print_error("%s is %.17g, expected %.17g (difference %.3g, allowed %.3g)\n", what, found,
		    expected, diff, room);
	_fail(file, line);
}
#define check_real(found, expected, rel, abs) \
	check_real_at((found), (expected), (rel), (abs), #found, __FILE__, __LINE__)

CHECK_UNUSED static void check_same_bits_at(double found, double expected, const char *what,
					    const char *file, int line)
{
	if (memcmp(&found, &expected, sizeof found) == 0)
		return;
	print_error("%s is %.17g (%a), expected %.17g (%a)\n", what, found, found, expected, expected);
	_fail(file, line);
}
#define check_same_bits(found, expected) \
	check_same_bits_at((found), (expected), #found, __FILE__, __LINE__)

CHECK_UNUSED static void check_span_at(struct fit_text found, const char *expected, const char *what,
				       const char *file, int line)
{
	if (fit_text_is(found, expected))
		return;
	print_error("%s is '%.*s', expected '%s'\n", what, (int)found.n, found.s ? found.s : "",
		    expected);
	_fail(file, line);
}
#define check_span(found, expected) check_span_at((found), (expected), #found, __FILE__, __LINE__)
#define check_text(found, expected) \
	check_span_at(fit_text_of(found), (expected), #found, __FILE__, __LINE__)

CHECK_UNUSED static void check_ok_at(int status, const struct fit_err *err, const char *what,
				     const char *file, int line)
{
	if (status == FIT_OK)
		return;
	print_error("%s returned %d: %s\n", what, status, err ? err->msg : "(no message kept)");
	_fail(file, line);
}
#define check_ok(status, err) check_ok_at((status), (err), #status, __FILE__, __LINE__)

CHECK_UNUSED static void check_err_at(int status, const struct fit_err *err, int code,
				      const char *message, const char *what, const char *file, int line)
{
	if (status == code && err->code == code && strcmp(err->msg, message) == 0)
		return;
	print_error("%s returned %d (code %d): %s\nexpected %d: %s\n", what, status, err->code,
		    status ? err->msg : "", code, message);
	_fail(file, line);
}
#define check_err(status, err, code, message) \
	check_err_at((status), (err), (code), (message), #status, __FILE__, __LINE__)

CHECK_UNUSED static int check_scratch(char *name)
{
	const char *dir = getenv("TMPDIR");
	int fd = chdir(dir && *dir ? dir : "/tmp") ? -1 : mkstemp(name);

	return fd < 0 || close(fd);
}

#define CHECK_NAME_MAX 400

CHECK_UNUSED static void check_file(char name[CHECK_NAME_MAX], const char *text)
{
	const char *dir = getenv("TMPDIR");
	FILE *f;
	int fd;

	snprintf(name, CHECK_NAME_MAX, "%s/gf-unit.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

#endif
