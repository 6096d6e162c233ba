/* SPDX-License-Identifier: MIT */
/* libfit/base: numbers as text, texts, growable memory, hashes and indices, random streams, errors. */
#include "tests/unit/check.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/digits.h"
#include "libfit/base/draws.h"
#include "libfit/base/hash.h"
#include "libfit/base/c_out.h"
#include "libfit/base/json_out.h"
#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "libfit/base/rng.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

#define N_OF(a) (sizeof(a) / sizeof *(a))

/* ---- num.h ---- */

static void int64_whole_tokens_only(void **state)
{
	static const struct { const char *s; int rc; int64_t v; } cases[] = {
		{ "7", FIT_OK, 7 }, { "-42", FIT_OK, -42 }, { "+9", FIT_OK, 9 }, { "007", FIT_OK, 7 },
		{ "9223372036854775807", FIT_OK, INT64_MAX },
		{ "-9223372036854775808", FIT_OK, INT64_MIN },
		{ "00000000000000000000000009223372036854775807", FIT_OK, INT64_MAX },
		{ "9223372036854775808", FIT_EINVAL, 0 }, { "-9223372036854775809", FIT_EINVAL, 0 },
		{ "18446744073709551617", FIT_EINVAL, 0 }, { "99999999999999999999x", FIT_EPARSE, 0 },
		{ "", FIT_EPARSE, 0 }, { "-", FIT_EPARSE, 0 }, { "+", FIT_EPARSE, 0 },
		{ " 7", FIT_EPARSE, 0 }, { "7 ", FIT_EPARSE, 0 }, { "7.0", FIT_EPARSE, 0 },
		{ "0x10", FIT_EPARSE, 0 }, { "1e3", FIT_EPARSE, 0 }, { "--7", FIT_EPARSE, 0 },
		{ "NA", FIT_EPARSE, 0 }, { "7\n", FIT_EPARSE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		int64_t v = 12345;

		if (fit_parse_int64(fit_text_of(cases[i].s), &v) != cases[i].rc)
			fail_msg("wrong status for '%s'", cases[i].s);
		assert_int_equal(v, cases[i].rc ? 12345 : cases[i].v);
	}
	/* an embedded NUL is no end */
	{
		int64_t v = 3;

		assert_int_equal(fit_parse_int64((struct fit_text){ "7\0008", 3 }, &v), FIT_EPARSE);
		assert_int_equal(v, 3);
	}
}

static void doubles_whole_tokens_only(void **state)
{
	static const char *const bad[] = { "", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x1p3", "1,5", " 1",
		"1 ", "1d5", "nan", "inf", "NA", "1_000", "--1", "1e5.0", "infinity" };
	double v = 1.25;

	(void)state;
	for (size_t i = 0; i < N_OF(bad); i++) {
		if (fit_parse_double(fit_text_of(bad[i]), &v) != FIT_EPARSE)
			fail_msg("'%s' was taken for a number", bad[i]);
		check_same_bits(v, 1.25);
	}
	assert_int_equal(fit_parse_double(FIT_TEXT_LIT("1e309"), &v), FIT_EINVAL);
	assert_int_equal(fit_parse_double(FIT_TEXT_LIT("-1e999999999999"), &v), FIT_EINVAL);
	check_same_bits(v, 1.25);
}

/* Correct rounding: the literals are rounded by the compiler, which is another implementation. */
static void doubles_round_correctly(void **state)
{
	static const struct { const char *s; double v; } cases[] = {
		{ "0", 0.0 }, { "-0", -0.0 }, { "+2.5", 2.5 }, { ".5", .5 }, { "5.", 5. },
		{ "0.1", 0.1 }, { "0.3", 0.3 }, { "2.2250738585072011e-308", 2.2250738585072011e-308 },
		{ "5e-324", 5e-324 }, { "4.9406564584124654e-324", 4.9406564584124654e-324 },
		{ "1.7976931348623157e308", 1.7976931348623157e308 },
		{ "9007199254740993", 9007199254740993.0 }, { "9007199254740992", 9007199254740992.0 },
		{ "123456789012345678901234567890", 123456789012345678901234567890.0 },
		{ "8.41e21", 8.41e21 }, { "9.5e-22", 9.5e-22 }, { "1e23", 1e23 }, { "1e-23", 1e-23 },
		{ "6.8e22", 6.8e22 }, { "3.5844466002796428e298", 3.5844466002796428e298 },
		{ "0.000000000000000000000000000000000000012345678901234567", 1.2345678901234567e-38 },
		{ "1.00000000000000011102230246251565404236316680908203125",
		  1.00000000000000011102230246251565404236316680908203125 },
		{ "1.00000000000000011102230246251565404236316680908203124",
		  1.00000000000000011102230246251565404236316680908203124 },
		{ "1.00000000000000011102230246251565404236316680908203126",
		  1.00000000000000011102230246251565404236316680908203126 },
		{ "1E2", 1e2 }, { "7e-0", 7. }, { "0e999999", 0. }, { "00012.50", 12.5 },
	};
	char long_one[400];
	double v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(fit_parse_double(fit_text_of(cases[i].s), &v), FIT_OK);
		check_same_bits(v, cases[i].v);
	}
	memset(long_one, '0', sizeof long_one);
	memcpy(long_one, "0.", 2);
	memcpy(long_one + sizeof long_one - 8, "17e390xx", 8);
	assert_int_equal(fit_parse_double((struct fit_text){ long_one, sizeof long_one - 2 }, &v), FIT_OK);
	check_same_bits(v, 0.17);	/* "0.", 390 zeros, "17e390" */
}

static void doubles_any_takes_the_words(void **state)
{
	double v = 0;

	(void)state;
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("nan"), &v), FIT_OK);
	assert_true(isnan(v));
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("-NaN"), &v), FIT_OK);
	assert_true(isnan(v));
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("-inf"), &v), FIT_OK);
	check_same_bits(v, -HUGE_VAL);
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("Inf"), &v), FIT_OK);
	check_same_bits(v, HUGE_VAL);
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("-1.5e3"), &v), FIT_OK);
	check_same_bits(v, -1500);
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("nan(1)"), &v), FIT_EPARSE);
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT("in"), &v), FIT_EPARSE);
	assert_int_equal(fit_parse_double_any(FIT_TEXT_LIT(""), &v), FIT_EPARSE);
}

static void times_are_exact(void **state)
{
	static const struct { const char *s; int rc; int64_t ns; } cases[] = {
		{ "12", FIT_OK, 12000000000 }, { "0.5", FIT_OK, 500000000 },
		{ "-3.000000001", FIT_OK, -3000000001 }, { "+1.1", FIT_OK, 1100000000 },
		{ "16777217.000000007", FIT_OK, 16777217000000007 }, { ".25", FIT_OK, 250000000 },
		{ "7.", FIT_OK, 7000000000 }, { "1.100000000000", FIT_OK, 1100000000 },
		{ "9223372036.854775807", FIT_OK, INT64_MAX },
		{ "9223372036.854775808", FIT_EINVAL, 0 }, { "9223372037", FIT_EINVAL, 0 },
		{ "99999999999999999999999", FIT_EINVAL, 0 }, { "0.0000000001", FIT_EINVAL, 0 },
		{ "", FIT_EPARSE, 0 }, { ".", FIT_EPARSE, 0 }, { "-", FIT_EPARSE, 0 },
		{ "1e3", FIT_EPARSE, 0 }, { "1.2.3", FIT_EPARSE, 0 }, { "1,5", FIT_EPARSE, 0 },
		{ "1:30", FIT_EPARSE, 0 }, { " 1", FIT_EPARSE, 0 }, { "nan", FIT_EPARSE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		int64_t ns = -77;

		if (fit_parse_time(fit_text_of(cases[i].s), &ns) != cases[i].rc)
			fail_msg("wrong status for '%s'", cases[i].s);
		assert_int_equal(ns, cases[i].rc ? -77 : cases[i].ns);
	}
}

static void times_print_as_short_decimals(void **state)
{
	static const struct { int64_t ns; const char *s; } cases[] = {
		{ 0, "0" }, { 12000000000, "12" }, { 500000000, "0.5" }, { -3000000001, "-3.000000001" },
		{ 10, "0.00000001" }, { -1, "-0.000000001" }, { INT64_MAX, "9223372036.854775807" },
		{ INT64_MIN, "-9223372036.854775808" }, { 1050000000, "1.05" },
	};
	char buf[FIT_NUM_MAX];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		size_t n = fit_format_time(buf, cases[i].ns);

		check_text(buf, cases[i].s);
		assert_int_equal(n, strlen(cases[i].s));
	}
}

static void seconds_to_ns_round_to_even(void **state)
{
	int64_t ns = 5;

	(void)state;
	/* exactly 976562.5 and 2929687.5 ns */
	assert_int_equal(fit_time_from_double(1.0 / 1024, &ns), FIT_OK);
	assert_int_equal(ns, 976562);
	assert_int_equal(fit_time_from_double(3.0 / 1024, &ns), FIT_OK);
	assert_int_equal(ns, 2929688);
	assert_int_equal(fit_time_from_double(0.1, &ns), FIT_OK);
	assert_int_equal(ns, 100000000);
	assert_int_equal(fit_time_from_double(-2.75, &ns), FIT_OK);
	assert_int_equal(ns, -2750000000);
	assert_int_equal(fit_time_from_double(9.2e9, &ns), FIT_OK);
	assert_int_equal(ns, 9200000000000000000);
	ns = 5;
	assert_int_equal(fit_time_from_double(9.3e9, &ns), FIT_EINVAL);
	assert_int_equal(fit_time_from_double((double)NAN, &ns), FIT_EINVAL);
	assert_int_equal(fit_time_from_double(-HUGE_VAL, &ns), FIT_EINVAL);
	assert_int_equal(ns, 5);
	check_same_bits(fit_time_to_double(1234567890), 1.23456789);
	check_same_bits(fit_time_to_double(-250000000), -0.25);
}

static void numbers_survive_a_round_trip(void **state)
{
	gsl_rng *r = fit_rng_new(17, "test/round-trip");
	char buf[FIT_NUM_MAX];

	(void)state;
	assert_non_null(r);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = (uint64_t)gsl_rng_get(r) << 32 | gsl_rng_get(r);
		int64_t whole, back = 0;
		double v, again = 0;
		size_t n;

		memcpy(&whole, &bits, sizeof whole);
		memcpy(&v, &bits, sizeof v);
		n = fit_format_int64(buf, whole);
		assert_int_equal(fit_parse_int64((struct fit_text){ buf, n }, &back), FIT_OK);
		assert_int_equal(back, whole);
		n = fit_format_time(buf, whole);
		assert_true(n < sizeof buf);
		assert_int_equal(fit_parse_time((struct fit_text){ buf, n }, &back), FIT_OK);
		assert_int_equal(back, whole);
		if (!isfinite(v))
			continue;
		n = fit_format_double(buf, v);
		assert_true(n < sizeof buf);
		assert_int_equal(fit_parse_double((struct fit_text){ buf, n }, &again), FIT_OK);
		check_same_bits(again, v);
	}
	gsl_rng_free(r);
}

/* digits.h against printf and strtoull. */
static void digits_eight_at_a_time(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		char buf[64], expected[64];
		uint64_t u, v = 0;
		size_t n;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		u = i < 20000 ? (uint64_t)i : x >> x % 64;
		n = (size_t)(fit_put_digits(buf, u) - buf);
		snprintf(expected, sizeof expected, "%llu", (unsigned long long)u);
		assert_int_equal(n, strlen(expected));
		assert_memory_equal(buf, expected, n);
		assert_int_equal(fit_take_digits(buf, n, &v), n <= 18);
		if (n <= 18)
			assert_true(u == v);
		memset(buf + n, i % 2 ? '9' : '\xff', 8);	/* what stands behind does not matter */
		assert_int_equal(fit_take_digits8(buf, n, &v), n <= 8);
		if (n <= 8)
			assert_true(u == v);
	}
	for (size_t n = 0; n <= 9; n++)
		for (size_t k = 0; k < n; k++)
			for (int c = 0; c < 256; c++) {
				char buf[17] = "7777777777777777";
				uint64_t v;
				bool digit = c >= '0' && c <= '9';

				buf[k] = (char)c;
				assert_int_equal(fit_take_digits8(buf, n, &v), digit && n <= 8);
				assert_int_equal(fit_take_digits(buf, n, &v), digit);
			}
}

static void doubles_print_fixed(void **state)
{
	static const struct { double v; const char *s; } cases[] = {
		{ 0.0, "0" }, { -0.0, "-0" }, { 12.0, "12" }, { 0.1, "0.10000000000000001" },
		{ -1.5, "-1.5" }, { 1e22, "1e+22" }, { 123456789012345.0, "123456789012345" },
		{ 5e-324, "4.9406564584124654e-324" }, { -1.7976931348623157e308,
		  "-1.7976931348623157e+308" },
	};
	char buf[FIT_NUM_MAX];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		fit_format_double(buf, cases[i].v);
		check_text(buf, cases[i].s);
	}
	fit_format_double(buf, -(double)NAN);
	check_text(buf, "nan");
	fit_format_double(buf, HUGE_VAL);
	check_text(buf, "inf");
	fit_format_double(buf, -HUGE_VAL);
	check_text(buf, "-inf");
}

/* A locale that writes 0,5 must not reach numbers. Skipped where no such locale is installed. */
static void numbers_do_not_know_the_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "nl_NL.UTF-8" };
	locale_t comma = (locale_t)0, old;
	char buf[FIT_NUM_MAX];
	double v = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(names) && !comma; i++)
		comma = newlocale(LC_ALL_MASK, names[i], (locale_t)0);
	if (!comma)
		skip();
	old = uselocale(comma);
	fit_format_double(buf, 0.1);
	assert_int_equal(fit_parse_double(FIT_TEXT_LIT("3.14159265358979323846"), &v), FIT_OK);
	uselocale(old);
	freelocale(comma);
	check_text(buf, "0.10000000000000001");
	check_same_bits(v, 3.14159265358979323846);
}

/* ---- text.h ---- */

static void texts_compare_by_bytes(void **state)
{
	(void)state;
	assert_true(fit_text_cmp(FIT_TEXT_LIT("abc"), FIT_TEXT_LIT("abd")) < 0);
	assert_true(fit_text_cmp(FIT_TEXT_LIT("abc"), FIT_TEXT_LIT("ab")) > 0);
	assert_true(fit_text_cmp(FIT_TEXT_LIT("\xc3\xa9"), FIT_TEXT_LIT("z")) > 0);
	assert_int_equal(fit_text_cmp((struct fit_text){ NULL, 0 }, FIT_TEXT_LIT("")), 0);
	assert_true(fit_text_eq((struct fit_text){ NULL, 0 }, FIT_TEXT_LIT("")));
	assert_false(fit_text_eq(FIT_TEXT_LIT("a"), FIT_TEXT_LIT("A")));
	assert_true(fit_text_is(FIT_TEXT_LIT("gpus"), "gpus"));
	assert_false(fit_text_is((struct fit_text){ "gpus", 3 }, "gpus"));
}

/* Listed in order; every pair is compared, so the order is total and consistent on these. */
static void natural_order_is_total(void **state)
{
	static const char *const sorted[] = {
		"", "0", "00", "1", "01x", "1x", "2", "9", "10", "99999999999999999999999",
		"100000000000000000000000", "a", "a-1", "a0", "a00", "a01", "a1", "a01b", "a1b", "a1c",
		"a2", "a10", "a10b2", "a10b10", "ab", "job9", "job10", "job100", "job100a", "\xc3\xa9",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(sorted); i++) {
		for (size_t j = 0; j < N_OF(sorted); j++) {
			int c = fit_text_cmp_natural(fit_text_of(sorted[i]), fit_text_of(sorted[j]));
			int want = (i > j) - (i < j);

			if ((c > 0) - (c < 0) != want)
				fail_msg("'%s' against '%s': %d, expected %d", sorted[i], sorted[j], c, want);
		}
	}
}

static void utf8_is_checked(void **state)
{
	static const char *const good[] = { "", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80" };
	static const char *const bad[] = { "\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
		"\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
		"\xf8\x88\x80\x80\x80", "\xff", "a\xe2\x82", "\xe2\x82z", "\xc3\xa9\xa9" };

	(void)state;
	for (size_t i = 0; i < N_OF(good); i++)
		assert_true(fit_text_is_utf8(fit_text_of(good[i])));
	for (size_t i = 0; i < N_OF(bad); i++)
		if (fit_text_is_utf8(fit_text_of(bad[i])))
			fail_msg("broken UTF-8 number %zu was accepted", i);
	assert_false(fit_text_is_utf8((struct fit_text){ "a\0b", 3 }));
}

static void strings_grow(void **state)
{
	struct fit_str b = { 0 };
	char *copy;

	(void)state;
	assert_int_equal(fit_str_puts(&b, "ab"), FIT_OK);
	assert_int_equal(fit_str_printf(&b, "%d-%s", 17, "x"), FIT_OK);
	assert_int_equal(fit_str_add(&b, "\0z", 2), FIT_OK);
	assert_int_equal(b.n, 8);
	assert_memory_equal(b.s, "ab17-x\0z", 9);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fit_str_printf(&b, "%08d", i), FIT_OK);
	assert_int_equal(b.n, 8008);
	check_text(b.s + b.n - 8, "00000999");
	/* no room: the string stays as it was */
	assert_int_equal(fit_str_add(&b, "x", SIZE_MAX - 4), FIT_ENOMEM);
	assert_int_equal(b.n, 8008);
	check_text(b.s + b.n - 8, "00000999");
	fit_str_clear(&b);
	check_text(b.s, "");
	fit_str_release(&b);
	assert_null(b.s);
	fit_str_release(&b);
	copy = fit_strdup((struct fit_text){ "hello", 4 });
	check_text(copy, "hell");
	free(copy);
	copy = fit_strdup((struct fit_text){ NULL, 0 });
	check_text(copy, "");
	free(copy);
}

static void arrays_grow(void **state)
{
	int64_t *a = NULL;
	size_t cap = 0, before;

	(void)state;
	assert_int_equal(fit_grow(&a, &cap, 3, sizeof *a), FIT_OK);
	assert_true(cap >= 3);
	for (int i = 0; i < 3; i++)
		a[i] = 11 * i;
	assert_int_equal(fit_grow(&a, &cap, 1000, sizeof *a), FIT_OK);
	assert_true(cap >= 1000);
	assert_int_equal(a[2], 22);
	before = cap;
	assert_int_equal(fit_grow(&a, &cap, 5, sizeof *a), FIT_OK);
	assert_int_equal(cap, before);
	assert_int_equal(fit_grow(&a, &cap, SIZE_MAX / 4, sizeof *a), FIT_ENOMEM);
	assert_int_equal(cap, before);
	assert_int_equal(a[2], 22);
	free(a);
}

/* ---- hash.h ---- */

/* Digests as published with the algorithm (XXH3, seed 0) and by its own xxh128sum. */
static void content_hashes_are_xxh3(void **state)
{
	struct fit_hasher *h = fit_hasher_new();
	char one[FIT_HASH_HEX], two[FIT_HASH_HEX];

	(void)state;
	assert_non_null(h);
	fit_hasher_hex(h, one);
	check_text(one, "99aa06d3014798d86001c324468d497f");
	fit_hasher_add(h, "good", 4);
	fit_hasher_add(h, NULL, 0);
	fit_hasher_add(h, "fit\n", 4);
	fit_hasher_hex(h, two);
	check_text(two, "3afa9a7a900a30b0506a9d2ea6784e66");
	fit_hasher_free(h);
	fit_hasher_free(NULL);
	assert_true(fit_hash64((struct fit_text){ NULL, 0 }, 0) == UINT64_C(0x2d06800538d394c2));
	assert_true(fit_hash64(FIT_TEXT_LIT("a"), 1) != fit_hash64(FIT_TEXT_LIT("a"), 2));
}

static void an_index_keeps_the_first_value(void **state)
{
	struct fit_index ix = { 0 };
	char key[32];
	uint32_t found = 7;

	(void)state;
	assert_int_equal(fit_index_get(&ix, FIT_TEXT_LIT("a")), FIT_NO_INDEX);
	for (uint32_t i = 0; i < 5000; i++) {
		struct fit_text t = { key, (size_t)snprintf(key, sizeof key, "job-%u", i) };

		assert_int_equal(fit_index_put(&ix, t, 3 * i, &found), FIT_OK);
		assert_int_equal(found, FIT_NO_INDEX);
	}
	assert_int_equal(ix.n, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		struct fit_text t = { key, (size_t)snprintf(key, sizeof key, "job-%u", i) };

		assert_int_equal(fit_index_get(&ix, t), 3 * i);
		assert_int_equal(fit_index_put(&ix, t, 1, &found), FIT_OK);
		assert_int_equal(found, 3 * i);
		assert_int_equal(fit_index_get(&ix, t), 3 * i);
	}
	assert_int_equal(ix.n, 5000);
	/* a prefix, an empty key and a key with a NUL are keys of their own */
	assert_int_equal(fit_index_get(&ix, FIT_TEXT_LIT("job-")), FIT_NO_INDEX);
	assert_int_equal(fit_index_put(&ix, (struct fit_text){ NULL, 0 }, 1, NULL), FIT_OK);
	assert_int_equal(fit_index_put(&ix, (struct fit_text){ "a\0b", 3 }, 2, NULL), FIT_OK);
	assert_int_equal(fit_index_get(&ix, FIT_TEXT_LIT("")), 1);
	assert_int_equal(fit_index_get(&ix, (struct fit_text){ "a\0c", 3 }), FIT_NO_INDEX);
	assert_int_equal(fit_index_get(&ix, (struct fit_text){ "a\0b", 3 }), 2);
	fit_index_release(&ix);
	assert_int_equal(fit_index_get(&ix, FIT_TEXT_LIT("a")), FIT_NO_INDEX);
}

/* Keys come and go; an array says which are there. */
static void an_index_loses_keys(void **state)
{
	struct fit_index ix = { 0 };
	static uint32_t there[3000];
	uint32_t n = 0;
	size_t most = 0;

	(void)state;
	fit_index_remove(&ix, FIT_TEXT_LIT("a"));
	for (uint32_t turn = 1; turn < 60000; turn++) {
		uint32_t i = turn * 2654435761u % 3000;
		char key[32];
		struct fit_text t = { key, (size_t)snprintf(key, sizeof key, "job-%u-%0*u", i, (int)(i % 7), i) };

		assert_int_equal(fit_index_get(&ix, t), there[i] ? there[i] : FIT_NO_INDEX);
		if (there[i]) {
			fit_index_remove(&ix, t);
			there[i] = 0;
			n--;
		} else if (n < 100) {
			assert_int_equal(fit_index_put(&ix, t, turn, NULL), FIT_OK);
			there[i] = turn;
			n++;
		}
		assert_int_equal(ix.n, n);
		most = ix.bytes_cap > most ? ix.bytes_cap : most;
	}
	assert_true(most < 100 * 20 * 4);	/* their bytes do not pile up */
	fit_index_release(&ix);
}

/* ---- rng.h ---- */

static void streams_have_their_own_numbers(void **state)
{
	gsl_rng *a = fit_rng_new(1, "test/a"), *a2 = fit_rng_new(1, "test/a");
	gsl_rng *b = fit_rng_new(1, "test/b"), *c = fit_rng_new(2, "test/a");
	const int n = 20000;
	double sum = 0, cross_b = 0, cross_c = 0;

	(void)state;
	assert_true(a && a2 && b && c);
	for (int i = 0; i < n; i++) {
		double x = gsl_rng_uniform(a) - .5, y = gsl_rng_uniform(b) - .5, z = gsl_rng_uniform(c) - .5;

		check_same_bits(gsl_rng_uniform(a2) - .5, x);
		sum += x;
		cross_b += x * y;
		cross_c += x * z;
	}
	/* five standard deviations: sqrt(n / 12) for the sum, sqrt(n) / 12 for the products */
	check_real(sum, 0, 0, 5 * sqrt(n / 12.0));
	check_real(cross_b, 0, 0, 5 * sqrt(n) / 12);
	check_real(cross_c, 0, 0, 5 * sqrt(n) / 12);
	gsl_rng_free(a);
	gsl_rng_free(a2);
	gsl_rng_free(b);
	gsl_rng_free(c);
}

/* Numbers of another MT19937 seeded with XXH3_64("synth/arrivals", 1) | 1. They are part of every
 * seeded output: a change here is a change of format. */
static void streams_are_pinned(void **state)
{
	gsl_rng *r = fit_rng_new(1, "synth/arrivals");

	(void)state;
	assert_non_null(r);
	check_text(gsl_rng_name(r), "mt19937");
	assert_int_equal(gsl_rng_get(r), 59042145u);
	assert_int_equal(gsl_rng_get(r), 3077145619u);
	gsl_rng_free(r);
}

/* ---- draws.h ---- */

static void draws_are_the_same_numbers(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		gsl_rng *r = fit_rng_new(seed, "test/draws");
		struct fit_draws d;
		uint32_t at = 0;

		assert_non_null(r);
		fit_draws_init(&d, seed, "test/draws");
		for (int i = 0; i < 3000; i++)
			assert_int_equal(fit_draws_next(&d), gsl_rng_get(r));
		/* in one piece; what is left of a block (3000 = 4 x 624 + 504) is passed over */
		for (at = 504; at + 7 <= FIT_DRAWS_BLOCK; at += 7) {
			const uint32_t *piece = fit_draws_take(&d, 7);

			for (int i = 0; i < 7; i++)
				assert_int_equal(piece[i], gsl_rng_get(r));
		}
		for (; at < FIT_DRAWS_BLOCK; at++)
			(void)gsl_rng_get(r);
		assert_int_equal(*fit_draws_take(&d, 7), gsl_rng_get(r));
		gsl_rng_free(r);
		for (int i = 0; i < 1000; i++)
			assert_in_range(fit_draws_below(&d, 3), 0, 2);
	}
}

/* ---- status.h ---- */

static void errors_are_one_line(void **state)
{
	struct fit_err e = { 0 };
	char big[3 * FIT_ERR_MAX];

	(void)state;
	assert_int_equal(fit_fail(NULL, FIT_EDATA, "x"), FIT_EDATA);
	check_err(fit_fail(&e, FIT_EPARSE, "bad name 'a\nb\t\x7f' (expected %d)", 3), &e, FIT_EPARSE,
		  "bad name 'a?b?\?' (expected 3)");
	check_err(fit_fail_prefix(&e, e.code, "jobs.tsv:%d", 12), &e, FIT_EPARSE,
		  "jobs.tsv:12: bad name 'a?b?\?' (expected 3)");
	errno = ENOENT;
	check_err(fit_fail_errno(&e, "cannot open '%s'", "no.tsv"), &e, FIT_EIO,
		  "cannot open 'no.tsv': No such file or directory");
	errno = ENOENT;
	assert_int_equal(fit_fail_errno(NULL, "x"), FIT_EIO);
	check_err(fit_fail_nomem(&e), &e, FIT_ENOMEM, "out of memory");
	assert_int_equal(fit_fail_prefix(NULL, FIT_EIO, "x"), FIT_EIO);
	memset(big, 'y', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	assert_int_equal(fit_fail(&e, FIT_EDATA, "%s", big), FIT_EDATA);
	assert_int_equal(strlen(e.msg), FIT_ERR_MAX - 1);
	assert_int_equal(fit_fail_prefix(&e, FIT_EDATA, "where"), FIT_EDATA);
	assert_int_equal(strlen(e.msg), FIT_ERR_MAX - 1);
	assert_memory_equal(e.msg, "where: yyy", 10);
}

static void long_errors_lose_their_middle(void **state)
{
	struct fit_err e = { 0 };
	char big[3 * FIT_ERR_MAX];
	size_t n = sizeof big - 2;

	(void)state;
	for (size_t i = 0; i < n; i++)	/* e acute: no cut inside of it, wherever the text begins */
		big[i] = i % 2 ? '\xa9' : '\xc3';
	big[n] = '\0';
	for (int k = 0; k < 4; k++) {
		errno = EACCES;
		assert_int_equal(fit_fail_errno(&e, "%.*s%s: cannot open", k, "abc", big), FIT_EIO);
		assert_true(strlen(e.msg) >= FIT_ERR_MAX - 3 && strlen(e.msg) < FIT_ERR_MAX);
		assert_string_equal(e.msg + strlen(e.msg) - 32, ": cannot open: Permission denied");
		assert_non_null(strstr(e.msg, "\xc3\xa9 ... \xc3\xa9"));
		assert_true(fit_text_is_utf8(fit_text_of(e.msg)));
	}
	memset(big, 'y', FIT_ERR_MAX - 2);
	big[FIT_ERR_MAX - 2] = '\0';
	assert_int_equal(fit_fail(&e, FIT_EDATA, "%sz", big), FIT_EDATA);
	assert_int_equal(strlen(e.msg), FIT_ERR_MAX - 1);
	assert_null(strstr(e.msg, "..."));
	assert_int_equal(fit_fail(&e, FIT_EDATA, "%szz", big), FIT_EDATA);
	assert_int_equal(strlen(e.msg), FIT_ERR_MAX - 1);
	assert_non_null(strstr(e.msg, "y ... y"));
	assert_string_equal(fit_plural(1, "job", "jobs"), "job");
	assert_string_equal(fit_plural(0, "job", "jobs"), "jobs");
}

/* ---- outfile.h ---- */

static void json_is_escaped(void **state)
{
	struct fit_str s = { 0 };
	struct fit_json_out o = { &s, FIT_OK };

	(void)state;
	fit_json_text(&o, "a\"b\\c\n\x7f");
	fit_json_raw(&o, ",");
	fit_json_text(&o, NULL);
	fit_json_raw(&o, ",");
	fit_json_real(&o, 0.1, "inf");
	fit_json_raw(&o, ",");
	fit_json_real(&o, HUGE_VAL, "+inf");
	fit_json_real(&o, -HUGE_VAL, "+inf");
	fit_json_real(&o, -(double)NAN, "+inf");
	assert_int_equal(o.rc, FIT_OK);
	assert_string_equal(s.s, "\"a\\\"b\\\\c\\u000a\x7f\",null,0.10000000000000001,\"+inf\"\"-inf\"\"nan\"");
	fit_str_release(&s);
	/* a lack of memory sticks */
	o.rc = FIT_ENOMEM;
	fit_json_text(&o, "x");
	assert_null(s.s);
}

/* ---- c_out.h ---- */

static void c_is_what_a_compiler_reads(void **state)
{
	static const double reals[] = { 0, -0.0, 1, -1, 0.1, 1e300, -1e-300, DBL_MAX, DBL_MIN, 0x1p-1074, -0x1.8p-1030,
					0x1.fffffffffffffp+7, 3 };
	char *names[] = { (char[]){ "a*/b" }, (char[]){ "/*\n" } };
	struct fit_str s = { 0 };
	struct fit_c_out o = { &s, FIT_OK };

	(void)state;
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
		char want[40];

		snprintf(want, sizeof want, "%a", reals[i]);
		fit_str_clear(&s);
		fit_c_real(&o, reals[i]);
		assert_string_equal(s.s, want);
	}
	fit_str_clear(&s);
	fit_c_real(&o, -HUGE_VAL);
	fit_c_put(&o, "%s%d", ", ", 7);
	assert_string_equal(s.s, "(-1e308 * 10), 7");
	fit_str_clear(&s);
	fit_c_numbered(&o, " ", names, 2);
	fit_c_numbered(&o, "none", NULL, 0);
	assert_string_equal(s.s, " 0 a?/b, 1 ?*?");
	fit_str_clear(&s);
	fit_c_reals(&o, reals, 5, 1);
	assert_string_equal(s.s, "{ 0x0p+0, -0x0p+0, 0x1p+0, -0x1p+0,\n\t0x1.999999999999ap-4 }");
	assert_int_equal(o.rc, FIT_OK);
	fit_str_release(&s);
	assert_true(fit_c_is_name("a_1"));
	assert_true(fit_c_is_name("Model"));
	assert_false(fit_c_is_name(""));
	assert_false(fit_c_is_name("1a"));
	assert_false(fit_c_is_name("_a"));
	assert_false(fit_c_is_name("while"));
	assert_false(fit_c_is_name("a-b"));
	assert_false(fit_c_is_name("a12345678901234567890123456789012345678901234567890123456789012x"));
}

static void links_are_followed(void **state)
{
	const char *scratch = getenv("TMPDIR");
	struct fit_str folder = { 0 }, a = { 0 }, b = { 0 };
	struct fit_err e = { 0 };
	char *target, *tmp;
	int fd;

	(void)state;
	assert_int_equal(fit_str_printf(&folder, "%s/gf-unit.XXXXXX", scratch ? scratch : "/tmp"), 0);
	assert_non_null(mkdtemp(folder.s));
	assert_int_equal(fit_str_printf(&a, "%s/a", folder.s) || fit_str_printf(&b, "%s/b", folder.s), 0);
	assert_int_equal(fit_dest_follow("no-such", &target, &e), FIT_OK);
	assert_string_equal(target, "no-such");
	free(target);
	assert_int_equal(symlink("b", a.s), 0);
	assert_int_equal(fit_dest_follow(a.s, &target, &e), FIT_OK);
	assert_string_equal(target, b.s);
	free(target);
	assert_int_equal(symlink("/dev/null", b.s), 0);
	assert_int_equal(fit_dest_follow(a.s, &target, &e), FIT_OK);
	assert_string_equal(target, "/dev/null");
	free(target);
	assert_int_equal(fit_dest_open(a.s, &fd, &tmp, &target, &e), FIT_OK);
	assert_true(fd >= 0 && !tmp && !target);
	close(fd);
	assert_int_equal(unlink(b.s), 0);
	assert_int_equal(symlink(a.s, b.s), 0);
	assert_int_equal(fit_dest_follow(a.s, &target, &e), FIT_EIO);
	assert_null(target);
	assert_int_equal(fit_dest_open(a.s, &fd, &tmp, &target, &e), FIT_EIO);
	assert_true(!tmp && !target && fd == -1);
	assert_int_equal(unlink(a.s) || unlink(b.s) || rmdir(folder.s), 0);
	fit_str_release(&folder);
	fit_str_release(&a);
	fit_str_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(int64_whole_tokens_only),
		cmocka_unit_test(doubles_whole_tokens_only),
		cmocka_unit_test(doubles_round_correctly),
		cmocka_unit_test(doubles_any_takes_the_words),
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(times_print_as_short_decimals),
		cmocka_unit_test(seconds_to_ns_round_to_even),
		cmocka_unit_test(numbers_survive_a_round_trip),
		cmocka_unit_test(digits_eight_at_a_time),
		cmocka_unit_test(doubles_print_fixed),
		cmocka_unit_test(numbers_do_not_know_the_locale),
		cmocka_unit_test(texts_compare_by_bytes),
		cmocka_unit_test(natural_order_is_total),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(strings_grow),
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(content_hashes_are_xxh3),
		cmocka_unit_test(an_index_keeps_the_first_value),
		cmocka_unit_test(an_index_loses_keys),
		cmocka_unit_test(streams_have_their_own_numbers),
		cmocka_unit_test(streams_are_pinned),
		cmocka_unit_test(draws_are_the_same_numbers),
		cmocka_unit_test(errors_are_one_line),
		cmocka_unit_test(long_errors_lose_their_middle),
		cmocka_unit_test(json_is_escaped),
		cmocka_unit_test(c_is_what_a_compiler_reads),
		cmocka_unit_test(links_are_followed),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
