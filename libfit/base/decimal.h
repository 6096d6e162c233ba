/* SPDX-License-Identifier: MIT */
/*
 * Doubles from and to decimals, correctly rounded, where 128 bits hold everything exactly: numbers of up to
 * 19 digits scaled by at most 10^27 either way. That is what tables hold; num.h, which everybody else uses,
 * leaves the rest to the C library. No approximation is involved, so there is no doubtful case: the decimal
 * is a ratio of integers, its quotient has 64 bits or more, and the remainder says on which side of a tie it
 * lies. (W. D. Clinger, "How to read floating point numbers accurately", 1990, has the case in which a double
 * holds both numbers.)
 */
#ifndef FIT_BASE_DECIMAL_H
#define FIT_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The double next to m * 10^e (ties to even), into *v. False, and *v untouched, when e is beyond
 * 27 either way. */
bool fit_decimal_to_double(uint64_t m, int e, double *v);

/* |v| with 17 significant digits as "%.17g" writes them, without a sign and without a NUL; 24 bytes are
 * enough. Returns their number, or 0 when v is not between 1e-11 and 1e17, about. */
size_t fit_decimal_write(char *buf, double v);

#endif
