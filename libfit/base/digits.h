/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers and their digits, eight at a time: for loops in which a call for each number counts.
 * num.h is what everybody else uses. Eight digits fit a word with the first one in its lowest byte, and
 * go from and to a number in three multiplications (D. Lemire, "Quickly parsing eight digits", 2018).
 */
#ifndef FIT_BASE_DIGITS_H
#define FIT_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FIT_DIGITS_MAX 24	/* bytes that fit_put_digits() may write to, the last ones without meaning */

/* A word whose first byte in memory is its lowest one, whatever the machine. */
static inline uint64_t fit_load8(const char *s)
{
	uint64_t w;

	memcpy(&w, s, sizeof w);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

static inline void fit_store8(char *s, uint64_t w)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	memcpy(s, &w, sizeof w);
}

/* The eight digits of u, below 10^8, as numbers from 0 to 9; the most significant one is the lowest byte. */
static inline uint64_t fit_eight_digits(uint32_t u)
{
	uint64_t w = u / 10000 | (uint64_t)(u % 10000) << 32, q;

	q = (w * 10486 >> 20) & UINT64_C(0x0000007f0000007f);		/* by 100 */
	w = q | (w - 100 * q) << 16;
	q = (w * 103 >> 10) & UINT64_C(0x000f000f000f000f);		/* by 10 */
	return q | (w - 10 * q) << 8;
}

/* Write u, below 10^8, in decimals, without a NUL; eight bytes are written to. Returns the end. */
static inline char *fit_put_digits8(char *p, uint32_t u)
{
	uint64_t w = fit_eight_digits(u);
	int none = __builtin_ctzll(w | UINT64_C(1) << 56) & ~7;	/* bits of leading zeros */

	fit_store8(p, (w + UINT64_C(0x3030303030303030)) >> none);
	return p + 8 - none / 8;
}

/* The same for any u, where FIT_DIGITS_MAX bytes are free. */
static inline char *fit_put_digits(char *p, uint64_t u)
{
	const uint32_t unit = 100000000;
	uint64_t high = u / unit;

	if (high == 0)
		return fit_put_digits8(p, (uint32_t)u);
	if (high >= unit) {
		p = fit_put_digits8(p, (uint32_t)(high / unit));
		fit_store8(p, fit_eight_digits((uint32_t)(high % unit)) + UINT64_C(0x3030303030303030));
		p += 8;
	} else {
		p = fit_put_digits8(p, (uint32_t)high);
	}
	fit_store8(p, fit_eight_digits((uint32_t)(u % unit)) + UINT64_C(0x3030303030303030));
	return p + 8;
}

/* s[0..n), one to eight bytes, as numbers from 0 to 9 behind zeros; what is no digit gives more. */
static inline uint64_t fit_load_digits(const char *s, size_t n)
{
	return (fit_load8(s) ^ UINT64_C(0x3030303030303030)) << (64 - 8 * n);
}

static inline bool fit_all_below_10(uint64_t w)
{
	return !(((w + UINT64_C(0x7676767676767676)) | w) & UINT64_C(0x8080808080808080));
}

/* The number whose eight digits are w, as fit_load_digits() gives them. */
static inline uint64_t fit_number8(uint64_t w)
{
	w = w * 10 + (w >> 8);
	return (((w & UINT64_C(0x000000ff000000ff)) * (100 + (UINT64_C(1000000) << 32))) +
		((w >> 16 & UINT64_C(0x000000ff000000ff)) * (1 + (UINT64_C(10000) << 32)))) >> 32;
}

/* Is s[0..n) one to eight digits, and which number? Eight bytes from s on may be read. */
static inline bool fit_take_digits8(const char *s, size_t n, uint64_t *u)
{
	uint64_t w;

	if (n - 1 > 7)
		return false;
	w = fit_load_digits(s, n);
	if (!fit_all_below_10(w))
		return false;
	*u = fit_number8(w);
	return true;
}

/* Is s[0..n) one to eighteen digits, and which number? */
static inline bool fit_take_digits(const char *s, size_t n, uint64_t *u)
{
	uint64_t v = 0;

	if (n - 1 > 17)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned d = (unsigned)(unsigned char)s[i] - '0';

		if (d > 9)
			return false;
		v = v * 10 + d;
	}
	*u = v;
	return true;
}

#endif
