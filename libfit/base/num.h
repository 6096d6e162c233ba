/* SPDX-License-Identifier: MIT */
/*
 * Numbers as text, independent of the caller's locale.
 *
 * Parsing takes a whole token: no blanks around it, no sign-only, no hexadecimal, nothing after it.
 * The parsers return FIT_OK, FIT_EPARSE (not a number) or FIT_EINVAL (a number, but out of range)
 * and touch *out only on FIT_OK.
 */
#ifndef FIT_BASE_NUM_H
#define FIT_BASE_NUM_H

#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

#define FIT_NS_PER_S INT64_C(1000000000)
#define FIT_NUM_MAX 40		/* bytes that any formatted number fits in, NUL included */

int fit_parse_int64(struct fit_text t, int64_t *out) FIT_MUST_CHECK;
/* Finite doubles only; correctly rounded. */
int fit_parse_double(struct fit_text t, double *out) FIT_MUST_CHECK;
/* Also nan, inf and -inf, spelled so (any case). */
int fit_parse_double_any(struct fit_text t, double *out) FIT_MUST_CHECK;
/* Seconds as a decimal with at most nine fraction digits to nanoseconds, never through a double.
 * More digits are accepted when they are zeros; a finer value is FIT_EINVAL. */
int fit_parse_time(struct fit_text t, int64_t *ns) FIT_MUST_CHECK;

/* The formatters write a NUL and return the length. */
size_t fit_format_int64(char buf[FIT_NUM_MAX], int64_t v);
/* %.17g: reads back to the same double; nan (sign dropped), inf, -inf. */
size_t fit_format_double(char buf[FIT_NUM_MAX], double v);
/* Nanoseconds as seconds: a plain decimal without trailing zeros ("12", "0.5", "-3.000000001"). */
size_t fit_format_time(char buf[FIT_NUM_MAX], int64_t ns);

/* A double number of seconds to nanoseconds, nearest, ties to even; FIT_EINVAL when it is not
 * finite or does not fit. */
int fit_time_from_double(double s, int64_t *ns) FIT_MUST_CHECK;
double fit_time_to_double(int64_t ns);

FIT_C_END

#endif
