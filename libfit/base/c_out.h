/* SPDX-License-Identifier: MIT */
/*
 * C11, piece by piece, into a string, for models that are written as functions: numbers that the compiler
 * reads back to the same bits, names in comments. Structure is the caller's.
 */
#ifndef FIT_BASE_C_OUT_H
#define FIT_BASE_C_OUT_H

#include <stdbool.h>

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

/* The first lack of memory sticks: rc is looked at when all is written. */
struct fit_c_out {
	struct fit_str *s;
	int rc;			/* FIT_OK or FIT_ENOMEM */
};

#define FIT_C_NAME_MAX 63	/* what C11 promises to tell apart inside of one file */
/* May a C program call a function of its own so? No word of the language, not main, no _ ahead. */
bool fit_c_is_name(const char *s);

void fit_c_put(struct fit_c_out *o, const char *fmt, ...) FIT_PRINTF(2, 3);
/* Any text inside of a comment: what would end it or its line becomes a question mark. */
void fit_c_comment(struct fit_c_out *o, const char *s);
/* "0 a, 1 b, 2 c" inside of a comment, behind lead; nothing when there are none. */
void fit_c_numbered(struct fit_c_out *o, const char *lead, char *const *names, size_t n);
/* Hexadecimal, as %a gives it in the C locale; infinities as products. v is no NaN. */
void fit_c_real(struct fit_c_out *o, double v);
/* "{ v[0], v[1], ... }", four a line, each line after the first indented by so many tabs. n is not 0. */
void fit_c_reals(struct fit_c_out *o, const double *v, size_t n, int indent);

FIT_C_END

#endif
