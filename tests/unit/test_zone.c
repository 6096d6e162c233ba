/* SPDX-License-Identifier: MIT */
/* Zones with summer time, and the set of ids. */
#include "tests/unit/check.h"

#include "libfit/base/num.h"
#include "traces/id_set.h"
#include "traces/jobs.h"

#define S FIT_NS_PER_S

static int64_t at(const char *text)
{
	int64_t ns = 0;

	assert_int_equal(fit_parse_datetime(fit_text_of(text), &ns), FIT_OK);
	return ns;
}

static void good_zones(void **state)
{
	static const struct { const char *text; int64_t std_s, dst_s; } good[] = {
		{ "UTC", 0, 0 }, { "Z", 0, 0 }, { "GMT", 0, 0 }, { "+08:00", 28800, 28800 },
		{ "-0730", -27000, -27000 }, { "+08", 28800, 28800 }, { "EST5", -18000, -18000 },
		{ "<+0530>-5:30", 19800, 19800 }, { "US/Pacific", -28800, -25200 },
		{ "America/Los_Angeles", -28800, -25200 }, { "PST8PDT", -28800, -25200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200 },
		{ "LHST-10:30LHDT-11,M10.1.0,M4.1.0", 37800, 39600 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct fit_zone z = { 0 };
		struct fit_err err = { 0 };

		check_ok(fit_zone_parse(&z, good[i].text, &err), &err);
		assert_true(z.given);
		assert_int_equal(z.std_s, good[i].std_s);
		assert_int_equal(z.dst_s, good[i].dst_s);
	}
}

static void bad_zones(void **state)
{
	static const char *const bad[] = {
		"", "Mars", "PST", "+", "+8:0x", "+25:00", "+08:60", "PST8PDT,M3.2.0", "PST8PDT,M13.2.0,M11.1.0",
		"PST8PDT,M3.6.0,M11.1.0", "PST8PDT,M3.2.7,M11.1.0", "PST8PDT,M3.2.0,M11.1.0x", "PST8PDT8",
		"P8", "<+05>", "PST8PDT,J60,J300", "PST8PDT9,M3.2.0,M11.1.0", "+08:00 "
	};
	struct fit_zone z = { .std_s = 77 };
	struct fit_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(fit_zone_parse(&z, bad[i], &err), FIT_EINVAL);
		assert_int_equal(z.std_s, 77);
	}
	check_err(fit_zone_parse(&z, "Mars", &err), &err, FIT_EINVAL, "bad zone 'Mars' (expected +08:00, UTC, "
		  "US/Pacific or a rule such as PST8PDT,M3.2.0,M11.1.0)");
}

/* Changes of the clock by `TZ=America/Los_Angeles date`, and likewise for Berlin and Sydney. */
static void changes(void **state)
{
	static const struct { const char *zone, *utc; int64_t before_s, after_s; } known[] = {
		{ "US/Pacific", "2017-11-05 09:00:00", -25200, -28800 },
		{ "US/Pacific", "2017-03-12 10:00:00", -28800, -25200 },
		{ "US/Pacific", "2020-03-08 10:00:00", -28800, -25200 },
		{ "US/Pacific", "2020-11-01 09:00:00", -25200, -28800 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2023-03-26 01:00:00", 3600, 7200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2021-10-31 01:00:00", 7200, 3600 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2019-04-06 16:00:00", 39600, 36000 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2019-10-05 16:00:00", 36000, 39600 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct fit_zone z;

		assert_int_equal(fit_zone_parse(&z, known[i].zone, NULL), FIT_OK);
		assert_int_equal(fit_zone_offset(&z, at(known[i].utc) - 1), known[i].before_s);
		assert_int_equal(fit_zone_offset(&z, at(known[i].utc)), known[i].after_s);
	}
}

static void to_utc(void **state)
{
	struct fit_zone z;
	int64_t utc;

	(void)state;
	assert_int_equal(fit_zone_parse(&z, "US/Pacific", NULL), FIT_OK);
	assert_int_equal(fit_zone_to_utc(&z, at("2017-10-07 01:00:00"), FIT_INT_NA, &utc), 1);
	assert_int_equal(utc, at("2017-10-07 08:00:00"));
	/* the repeated hour: the first instant, unless that is too early */
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 01:10:00"), FIT_INT_NA, &utc), 2);
	assert_int_equal(utc, at("2017-11-05 08:10:00"));
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 01:10:00"), at("2017-11-05 08:10:00"), &utc), 2);
	assert_int_equal(utc, at("2017-11-05 08:10:00"));
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 01:10:00"), at("2017-11-05 08:50:00"), &utc), 2);
	assert_int_equal(utc, at("2017-11-05 09:10:00"));
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 01:10:00"), at("2017-11-05 10:00:00"), &utc), 2);
	assert_int_equal(utc, at("2017-11-05 08:10:00"));	/* too early either way */
	/* its edges */
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 00:59:59"), FIT_INT_NA, &utc), 1);
	assert_int_equal(utc, at("2017-11-05 07:59:59"));
	assert_int_equal(fit_zone_to_utc(&z, at("2017-11-05 02:00:00"), FIT_INT_NA, &utc), 1);
	assert_int_equal(utc, at("2017-11-05 10:00:00"));
	/* the hour that is left out */
	assert_int_equal(fit_zone_to_utc(&z, at("2018-03-11 02:30:00"), FIT_INT_NA, &utc), 0);
	assert_int_equal(utc, at("2018-03-11 10:30:00"));
	assert_int_equal(fit_zone_to_utc(&z, at("2018-03-11 03:00:00"), FIT_INT_NA, &utc), 1);
	assert_int_equal(utc, at("2018-03-11 10:00:00"));
}

/* Hour by hour over years: what the clock shows at an instant leads back to it, or to its twin. */
static void there_and_back(void **state)
{
	static const char *const zones[] = {
		"US/Pacific", "CET-1CEST,M3.5.0,M10.5.0/3", "AEST-10AEDT,M10.1.0,M4.1.0/3", "+08:00"
	};

	(void)state;
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		int64_t begin = at("2015-01-01 00:30:00"), repeated = 0;
		struct fit_zone z;

		assert_int_equal(fit_zone_parse(&z, zones[i], NULL), FIT_OK);
		for (int64_t t = begin; t < begin + 5 * 366 * 86400 * S; t += 3600 * S) {
			int64_t local = t + fit_zone_offset(&z, t) * S, utc = 0;
			int n = fit_zone_to_utc(&z, local, t, &utc);

			assert_int_equal(utc, t);
			assert_int_not_equal(n, 0);
			repeated += n == 2;
		}
		assert_int_equal(repeated, z.dst_s == z.std_s ? 0 : 10);	/* two a year */
	}
}

static void id_set(void **state)
{
	struct fit_id_set set = { 0 };
	char id[32];
	uint64_t first = 7;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 1; i <= 200000; i++) {
			int n = snprintf(id, sizeof id, "job-%llu", (unsigned long long)(i * 7919));

			assert_int_equal(fit_id_set_put(&set, (struct fit_text){ id, (size_t)n }, i + 5, &first),
					 FIT_OK);
			assert_int_equal(first, round ? i + 5 : 0);
		}
	assert_int_equal(fit_id_set_put(&set, FIT_TEXT_LIT(""), UINT64_MAX, &first), FIT_OK);
	assert_int_equal(first, 0);
	assert_int_equal(fit_id_set_put(&set, FIT_TEXT_LIT(""), 1, &first), FIT_OK);
	assert_int_equal(first, UINT32_MAX);
	fit_id_set_release(&set);
}

/* Ids in and out of order, with gaps, zeros ahead and other prefixes, against a list. */
static void id_runs(void **state)
{
	static const char *const ids[] = {
		"a-5", "a-6", "a-7", "a-9", "a-10", "a-8", "a-07", "b-7", "a-100", "a-99", "7", "a-", "a", "a-0",
		"a-4", "a-999999999999999998", "a-999999999999999999", "a-1000000000000000000", "a-18446744073709551616",
		"a-18446744073709551617", "a-101", "a-00", "a-000", "A-5", "-5", "a-05", "a-7 ", "a-1000000",
		"a-99999999999999999999999999999999999999999999999999999999999999999999999999",
		"a-12\303\2443", "a-11", "a-12", "a--5", "", "5"
	};
	const size_t n = sizeof ids / sizeof *ids;
	struct fit_id_set set = { 0 };
	uint64_t first = 7;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {	/* all before are known, none behind */
			if (k == i)
				assert_int_equal(fit_id_set_put(&set, fit_text_of(ids[k]), 10 + i / 3 * 5 + i,
								&first), FIT_OK);
			if (k == i)
				assert_int_equal(first, 0);
			if (k > i)
				break;
			assert_int_equal(fit_id_set_put(&set, fit_text_of(ids[k]), 4000, &first), FIT_OK);
			assert_int_equal(first, 10 + k / 3 * 5 + k);
		}
	}
	fit_id_set_release(&set);
	/* a run that reaches the last line number that can be told */
	for (uint64_t i = 0; i < 5; i++) {
		char id[2] = { (char)('1' + i), 0 };

		assert_int_equal(fit_id_set_put(&set, fit_text_of(id), UINT32_MAX - 2 + i, &first), FIT_OK);
		assert_int_equal(first, 0);
	}
	for (uint64_t i = 0; i < 5; i++) {
		char id[2] = { (char)('1' + i), 0 };

		assert_int_equal(fit_id_set_put(&set, fit_text_of(id), 1, &first), FIT_OK);
		assert_int_equal(first, i < 2 ? UINT32_MAX - 2 + i : UINT32_MAX);
	}
	fit_id_set_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_zones), cmocka_unit_test(bad_zones), cmocka_unit_test(changes),
		cmocka_unit_test(to_utc), cmocka_unit_test(there_and_back), cmocka_unit_test(id_set),
		cmocka_unit_test(id_runs)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
