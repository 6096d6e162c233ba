/* SPDX-License-Identifier: MIT */
/* Zones with summer time, and the set of ids. */
#include "tests/unit/check.h"

#include "libfit/base/num.h"
#include "libfit/base/id_set.h"
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
		{ "LHST-10:30LHDT-11,M10.1.0,M4.1.0", 37800, 39600 },
		{ "IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600 }
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
		"P8", "<+05>", "PST8PDT,J60,J300", "PST8PDT8,M3.2.0,M11.1.0", "+08:00 "
	};
	struct fit_zone z = { .std_s = 77 };
	struct fit_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(fit_zone_parse(&z, bad[i], &err), FIT_EINVAL);
		assert_int_equal(z.std_s, 77);
	}
	check_err(fit_zone_parse_in(&z, "Mars", (const char *const[]){ "/no/such", "/", NULL }, &err), &err,
		  FIT_EINVAL, "bad zone 'Mars' (expected +08:00, UTC, a rule such as PST8PDT,M3.2.0,M11.1.0, or a "
		  "name of the tz database such as Europe/Berlin)");
	check_err(fit_zone_parse_in(&z, "Mars", (const char *const[]){ "/no/such", "/nor", NULL }, &err), &err,
		  FIT_EINVAL, "bad zone 'Mars' (expected +08:00, UTC, US/Pacific or a rule such as "
		  "PST8PDT,M3.2.0,M11.1.0; other names need the tz database, which is not in /no/such, /nor)");
	check_err(fit_zone_parse(&z, "/no/such/file", &err), &err, FIT_EINVAL,
		  "bad zone '/no/such/file' (no such file)");
	assert_int_equal(fit_zone_parse_in(&z, "localtime", (const char *const[]){ "/etc", NULL }, &err),
			 FIT_EINVAL);
	assert_int_equal(fit_zone_parse_in(&z, "../etc/passwd", (const char *const[]){ "/etc", NULL }, &err),
			 FIT_EINVAL);
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

/* ---- files of the tz database ---- */

struct bytes {
	unsigned char b[512];
	size_t n;
};

static void put(struct bytes *f, int64_t v, int n)
{
	while (n--)
		f->b[f->n++] = (unsigned char)((uint64_t)v >> 8 * n);
}

/* Three types (+1:00, +2:00, +1:30), changes at 1000000, 2000000 and 2003600 s. */
static void put_zone(struct bytes *f, int version, int instant, int leaps)
{
	static const int64_t at[] = { 1000000, 2000000, 2003600 }, offset[] = { 3600, 7200, 5400 };
	static const int kind[] = { 1, 0, 2 };

	memcpy(f->b + f->n, "TZif", 4);
	f->n += 4;
	put(f, version ? '0' + version : 0, 1);
	for (int i = 0; i < 15; i++)
		put(f, 0, 1);
	put(f, 0, 4);
	put(f, 0, 4);
	put(f, leaps, 4);
	put(f, 3, 4);
	put(f, 3, 4);
	put(f, 4, 4);
	for (int i = 0; i < 3; i++)
		put(f, at[i], instant);
	for (int i = 0; i < 3; i++)
		put(f, kind[i], 1);
	for (int i = 0; i < 3; i++) {
		put(f, offset[i], 4);
		put(f, i == 1, 1);
		put(f, 0, 1);
	}
	memcpy(f->b + f->n, "XYZ", 4);
	f->n += 4;
	for (int i = 0; i < leaps; i++) {
		put(f, 78796800, instant);
		put(f, 1, 4);
	}
}

static void zone_tables(void **state)
{
	struct fit_zone_table *t;
	struct fit_err err = { 0 };
	int64_t utc;

	(void)state;
	for (int version = 0; version <= 2; version += 2) {
		struct bytes f = { .n = 0 };

		put_zone(&f, version, 4, 0);
		if (version) {
			put_zone(&f, version, 8, 0);
			memcpy(f.b + f.n, "\nAAA-3\n", 7);
			f.n += 7;
		}
		check_ok(fit_zone_table_parse(&t, f.b, f.n, "z", &err), &err);
		assert_int_equal(fit_zone_table_offset(t, -5000000000), 3600);
		assert_int_equal(fit_zone_table_offset(t, 999999), 3600);
		assert_int_equal(fit_zone_table_offset(t, 1000000), 7200);
		assert_int_equal(fit_zone_table_offset(t, 1999999), 7200);
		assert_int_equal(fit_zone_table_offset(t, 2000000), 3600);
		assert_int_equal(fit_zone_table_offset(t, 2003600), version ? 10800 : 5400);
		/* a gap of an hour from 1003600 to 1007200 by the clock */
		assert_int_equal(fit_zone_table_to_utc(t, 1003599 * S, FIT_INT_NA, &utc), 1);
		assert_int_equal(utc, 999999 * S);
		assert_int_equal(fit_zone_table_to_utc(t, 1005000 * S, FIT_INT_NA, &utc), 0);
		assert_int_equal(utc, 1001400 * S);
		assert_int_equal(fit_zone_table_to_utc(t, 1007200 * S + 5, FIT_INT_NA, &utc), 1);
		assert_int_equal(utc, 1000000 * S + 5);
		/* an hour twice, from 2003600 to 2007200 */
		assert_int_equal(fit_zone_table_to_utc(t, 2004000 * S + 7, FIT_INT_NA, &utc), 2);
		assert_int_equal(utc, 1996800 * S + 7);
		assert_int_equal(fit_zone_table_to_utc(t, 2004000 * S + 7, 1996800 * S + 8, &utc), 2);
		assert_int_equal(utc, 2000400 * S + 7);
		assert_int_equal(fit_zone_table_to_utc(t, 9000000 * S, FIT_INT_NA, &utc), 1);
		assert_int_equal(utc, (9000000 - (version ? 10800 : 5400)) * S);
		fit_zone_table_free(t);
		/* cut anywhere */
		for (size_t n = 0; n < f.n; n++)
			check_err(fit_zone_table_parse(&t, f.b, n, "z", &err), &err, FIT_EPARSE,
				  "z: no file of a time zone, or a damaged one (expected TZif)");
		/* any byte another one: whatever it is then, it does not go out of bounds */
		for (size_t k = 0; k < f.n; k++)
			for (int v = 0; v < 256; v += 15) {
				unsigned char was = f.b[k];

				f.b[k] = (unsigned char)v;
				if (fit_zone_table_parse(&t, f.b, f.n, "z", &err) == FIT_OK) {
					(void)fit_zone_table_offset(t, 1500000);
					(void)fit_zone_table_to_utc(t, 2004000 * S, FIT_INT_NA, &utc);
					fit_zone_table_free(t);
				}
				f.b[k] = was;
			}
	}
	{
		struct bytes f = { .n = 0 };

		put_zone(&f, 0, 4, 1);
		check_err(fit_zone_table_parse(&t, f.b, f.n, "z", &err), &err, FIT_EPARSE,
			  "z: a zone with leap seconds (expected one without, not below right/)");
	}
}

/* What the database says is what the rule in force says. */
static void tz_database(void **state)
{
	static const struct { const char *name, *rule, *from; } same[] = {
		{ "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", "2000-01-01 00:00:00" },
		{ "Europe/Dublin", "GMT0IST,M3.5.0/1,M10.5.0", "2000-01-01 00:00:00" },
		{ "America/New_York", "EST5EDT,M3.2.0,M11.1.0", "2008-01-01 00:00:00" },
		{ "Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3", "2009-01-01 00:00:00" },
		{ "Asia/Shanghai", "CST-8", "2000-01-01 00:00:00" },
		{ "Asia/Kolkata", "IST-5:30", "2000-01-01 00:00:00" }
	};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct fit_zone a, b;
		struct fit_err err = { 0 };
		const int64_t begins[] = { at(same[i].from), at("2036-01-01 00:00:00") };

		if (fit_zone_parse(&a, same[i].name, &err) == FIT_EINVAL)
			skip();		/* no tz database here */
		assert_non_null(fit_zone_hash(&a));
		check_ok(fit_zone_parse(&b, same[i].rule, &err), &err);
		assert_null(fit_zone_hash(&b));
		/* and on both sides of the last change that is listed, in 2037 */
		for (int64_t k = 0; k < 2 * 3 * 366 * 48; k++) {
			int64_t t = begins[k % 2] + k / 2 * 1800 * S, utc = 0, other = 0;

			assert_int_equal(fit_zone_offset(&a, t), fit_zone_offset(&b, t));
			assert_int_equal(fit_zone_to_utc(&a, t, t, &utc), fit_zone_to_utc(&b, t, t, &other));
			assert_int_equal(utc, other);
		}
		fit_zone_release(&a);
		fit_zone_release(&b);
	}
}

/* What no rule has: another offset in another year. */
static void tz_history(void **state)
{
	struct fit_zone z;
	struct fit_err err = { 0 };

	(void)state;
	if (fit_zone_parse(&z, "Europe/Moscow", &err) == FIT_EINVAL)
		skip();
	assert_int_equal(fit_zone_offset(&z, at("2010-07-01 00:00:00")), 14400);
	assert_int_equal(fit_zone_offset(&z, at("2012-01-01 00:00:00")), 14400);
	assert_int_equal(fit_zone_offset(&z, at("2015-01-01 00:00:00")), 10800);
	fit_zone_release(&z);
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

			assert_int_equal(fit_id_set_get(&set, (struct fit_text){ id, (size_t)n }), round ? i + 5 : 0);
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
		cmocka_unit_test(to_utc), cmocka_unit_test(there_and_back), cmocka_unit_test(zone_tables),
		cmocka_unit_test(tz_database), cmocka_unit_test(tz_history), cmocka_unit_test(id_set),
		cmocka_unit_test(id_runs)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
