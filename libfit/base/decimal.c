/* SPDX-License-Identifier: MIT */
#include "libfit/base/decimal.h"

#include <string.h>

#include "libfit/base/digits.h"

__extension__ typedef unsigned __int128 u128;

#define POW5_MAX 27	/* 5^27 is the last one below 2^64 */

static const uint64_t pow5[POW5_MAX + 1] = {
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625,
	1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
	19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
	59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125,
};

static double from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* (q + a part of 1 that is not 0 when more) * 2^e, rounded to even; q has 54 bits or more, so that what is
 * below its last bit only breaks ties. */
static double round_scaled(uint64_t q, bool more, int e)
{
	int drop = 64 - __builtin_clzll(q) - 53;
	uint64_t half = UINT64_C(1) << (drop - 1), low = q & (2 * half - 1), kept = q >> drop;

	kept += low > half || (low == half && (more || (kept & 1)));
	/* far from the ends of the range: exact */
	return (double)kept * from_bits((uint64_t)(1023 + e + drop) << 52);
}

bool fit_decimal_to_double(uint64_t m, int e, double *v)
{
	int shift;
	uint64_t d, q, top;
	u128 p;

	if (e < -POW5_MAX || e > POW5_MAX)
		return false;
	if (m == 0) {
		*v = 0;
		return true;
	}
	if (e >= 0) {
		p = (u128)m * pow5[e];
		top = (uint64_t)(p >> 64);
		if (top == 0) {
			q = (uint64_t)p;
			shift = __builtin_clzll(q);
			*v = round_scaled(q << shift, false, e - shift);
		} else {
			shift = 64 - __builtin_clzll(top);
			q = (uint64_t)(p >> shift);
			*v = round_scaled(q, p != (u128)q << shift, e + shift);
		}
		return true;
	}
	/* both with their highest bit set, m halved: the quotient has 63 or 64 bits */
	d = pow5[-e];
	shift = __builtin_clzll(d);
	d <<= shift;
	shift -= __builtin_clzll(m);
	m <<= __builtin_clzll(m);
	p = (u128)m << 63;
	q = (uint64_t)(p / d);
	*v = round_scaled(q, p != (u128)q * d, shift - 63 + e);
	return true;
}

#define DIGITS 17
static const uint64_t ten16 = UINT64_C(10000000000000000), ten17 = UINT64_C(100000000000000000);

/* The 17 digits of v, a normal number above 0, as a number, and the power of ten of the first one. */
static bool digits_of(double v, uint64_t *digits, int *power)
{
	const uint64_t hidden = UINT64_C(1) << 52;
	int e, k, sh;
	uint64_t m, n;
	u128 p, rest, half;

	memcpy(&m, &v, sizeof v);
	e = (int)(m >> 52) - 1075;
	m = (m & (hidden - 1)) | hidden;
	/* floor(log10 v) from the binary exponent, or one less: 1233 / 4096 is a little below log10 2 */
	k = ((e + 52) * 1233 >> 12) - (e + 52 < 0);
	k = k < DIGITS - 1 - POW5_MAX ? DIGITS - 1 - POW5_MAX : k;
	for (;; k++) {
		int scale = DIGITS - 1 - k;

		if (scale < 0)
			return false;
		p = (u128)m * pow5[scale];
		sh = -(e + scale);
		n = sh > 0 ? (uint64_t)(p >> sh) : (uint64_t)p << -sh;
		if (n < ten17)
			break;
	}
	if (n < ten16)
		return false;	/* below 10^(16 - POW5_MAX) */
	if (sh > 0) {
		half = (u128)1 << (sh - 1);
		rest = p & (2 * half - 1);
		n += rest > half || (rest == half && (n & 1));
	}
	if (n == ten17) {
		n = ten16;
		k++;
	}
	*digits = n;
	*power = k;
	return true;
}

size_t fit_decimal_write(char *buf, double v)
{
	char d[FIT_DIGITS_MAX], *p = buf;
	uint64_t n;
	int k, count = DIGITS, whole;

	v = v < 0 ? -v : v;
	if (!(v > 1e-12 && v < 1e18) || !digits_of(v, &n, &k))
		return 0;
	fit_put_digits(d, n);
	while (d[count - 1] == '0')
		count--;
	if (k < -4) {	/* d.ddde-XX */
		*p++ = d[0];
		if (count > 1) {
			*p++ = '.';
			memcpy(p, d + 1, (size_t)count - 1);
			p += count - 1;
		}
		memcpy(p, "e-", 2);
		p[2] = (char)('0' + -k / 10);
		p[3] = (char)('0' + -k % 10);
		return (size_t)(p + 4 - buf);
	}
	if (k < 0) {
		memcpy(p, "0.0000", 6);
		p += 1 - k;
		memcpy(p, d, (size_t)count);
		return (size_t)(p + count - buf);
	}
	whole = k + 1;
	memcpy(p, d, (size_t)whole);
	p += whole;
	if (count > whole) {
		*p++ = '.';
		memcpy(p, d + whole, (size_t)(count - whole));
		p += count - whole;
	}
	return (size_t)(p - buf);
}
