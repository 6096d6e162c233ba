/* SPDX-License-Identifier: MIT */
/* libfit/base/decimal.h, alone and behind num.h, against strtod and printf of the C library. */
#include "tests/unit/check.h"

#include <float.h>
#include <stdlib.h>

#include "libfit/base/decimal.h"
#include "libfit/base/num.h"
#include "libfit/base/rng.h"

#define TRIES 300000

static uint64_t bits64(gsl_rng *r)
{
	return (uint64_t)gsl_rng_get(r) << 32 | gsl_rng_get(r);
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

static void parsed(const char *text)
{
	double v = -7;

	assert_int_equal(fit_parse_double(fit_text_of(text), &v), FIT_OK);
	if (!same_bits(v, strtod(text, NULL)))
		fail_msg("%s gives %.17g, not %.17g", text, v, strtod(text, NULL));
}

static void written(double v)
{
	char ours[FIT_NUM_MAX], theirs[FIT_NUM_MAX];
	size_t n = fit_format_double(ours, v);

	snprintf(theirs, sizeof theirs, "%.17g", v);
	assert_int_equal(n, strlen(theirs));
	assert_string_equal(ours, theirs);
	assert_true(fabs(v) < 2e-11 || fabs(v) > 9e16 || fit_decimal_write(ours, v) > 0);
}

/* All lengths and scales, the last ones beyond what 128 bits hold. */
static void any_decimal(void **state)
{
	gsl_rng *r;
	char text[64];

	(void)state;
	r = fit_rng_new(3, "decimals");
	assert_non_null(r);
	for (int i = 0; i < TRIES; i++) {
		uint64_t m = bits64(r) >> bits64(r) % 64;
		int e = (int)(bits64(r) % 63) - 31;
		size_t digits;

		snprintf(text, sizeof text, "%s%llue%d", i & 1 ? "-" : "", (unsigned long long)m, e);
		parsed(text);
		/* the same digits with a point among them, leading zeros and one digit more */
		snprintf(text, sizeof text, "%020llu", (unsigned long long)m);
		digits = strlen(text);
		memmove(text + 1 + (size_t)i % digits, text + (size_t)i % digits, digits + 1 - (size_t)i % digits);
		text[(size_t)i % digits] = '.';
		parsed(text);
		memcpy(text + strlen(text), "7", 2);
		parsed(text);
	}
	gsl_rng_free(r);
}

/* Half way between two doubles, and one beside it: whole numbers, and what powers of five divide. */
static void ties(void **state)
{
	gsl_rng *r;
	char text[64];

	(void)state;
	r = fit_rng_new(4, "ties");
	assert_non_null(r);
	for (int i = 0; i < TRIES; i++) {
		uint64_t m = (bits64(r) >> 11 | UINT64_C(1) << 52) * 2 + 1;
		int e = (int)(bits64(r) % 5);
		double v = 0;

		for (int k = 0; k < e; k++)
			m *= 5;		/* at most 2^54 * 5^4 < 2^64 */
		for (int off = -1; off <= 1; off++) {
			assert_true(fit_decimal_to_double(m + (uint64_t)off, -e, &v));
			snprintf(text, sizeof text, "%llue-%d", (unsigned long long)m + (unsigned long long)off, e);
			assert_true(same_bits(v, strtod(text, NULL)));
		}
	}
	gsl_rng_free(r);
}

static void limits(void **state)
{
	double v = -7;

	(void)state;
	for (int e = -30; e <= 30; e++) {
		char text[64];

		v = -7;
		assert_int_equal(fit_decimal_to_double(UINT64_MAX, e, &v), e >= -27 && e <= 27);
		snprintf(text, sizeof text, "18446744073709551615e%d", e);
		assert_true(same_bits(v, e >= -27 && e <= 27 ? strtod(text, NULL) : -7));
		snprintf(text, sizeof text, "1e%d", e);
		parsed(text);
		written(strtod(text, NULL));
	}
	assert_true(fit_decimal_to_double(0, -27, &v));
	assert_true(same_bits(v, 0));
	parsed("-0.0");
	parsed("-0e-90");
	parsed("0.00000000000000000000000000000000000000000000000000000000000000001");
	parsed("18446744073709551616");
	parsed("1844674407370955160999");
	written(-0.0);
	written(DBL_MIN);
	written(-DBL_MAX);
	written(DBL_TRUE_MIN);
}

static void any_double(void **state)
{
	gsl_rng *r;

	(void)state;
	r = fit_rng_new(5, "doubles");
	assert_non_null(r);
	for (int i = 0; i < TRIES; i++) {
		uint64_t w = bits64(r), exponent = 1023 - 40 + w % 100;
		double v, ten = strtod((const char *[]){ "1e-11", "1e-5", "1e-4", "1e-1", "1e15", "1e16", "1e17" }[i % 7],
				       NULL);

		w = (w & ~(UINT64_C(0x7ff) << 52)) | exponent << 52;
		memcpy(&v, &w, sizeof v);
		written(v);
		/* few binary places: exact ties of the 17th digit; few decimals: zeros at the end */
		written((double)(w % 1000000007) / (double)(UINT64_C(1) << w % 61));
		written(-(double)(w % 100003) / 1000);
		/* around powers of ten, where rounding adds a digit */
		written(ten * (1 + ((double)(w % 9) - 4) * 0x1p-53));
	}
	gsl_rng_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_decimal),
		cmocka_unit_test(ties),
		cmocka_unit_test(limits),
		cmocka_unit_test(any_double),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
