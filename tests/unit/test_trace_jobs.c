/* SPDX-License-Identifier: MIT */
/* What all trace formats share: calendar times, and the shape of the table of formats. */
#include "tests/unit/check.h"

#include "libfit/base/num.h"
#include "traces/jobs.h"

#define S FIT_NS_PER_S

static void datetimes(void **state)
{
	/* seconds by `date -u -d … +%s` */
	static const struct { const char *text; int64_t ns; } good[] = {
		{ "1970-01-01 00:00:00", 0 },
		{ "1969-12-31 23:59:59", -1 * S },
		{ "2000-02-29 12:34:56", 951827696 * S },
		{ "2017-09-04T10:30:41", 1504521041 * S },
		{ "2017-12-31 23:59:59.25", 1514764799 * S + 250000000 },
		{ "2100-03-01 00:00:00.000000001", 4107542400 * S + 1 },
		{ "1900-03-01 00:00:00", -2203891200 * S }
	};
	static const struct { const char *text; int rc; } bad[] = {
		{ "", FIT_EPARSE }, { "2017-09-04", FIT_EPARSE }, { "2017-09-04 10:30", FIT_EPARSE },
		{ "2017/09/04 10:30:41", FIT_EPARSE }, { "2017-09-04 10:30:41 PDT", FIT_EPARSE },
		{ "2017-09-04 10:30:41.", FIT_EPARSE }, { "2017-09-04 10:30:41.0123456789", FIT_EPARSE },
		{ "2017-09-04 10:30:41.5x", FIT_EPARSE }, { "2017-09-04 1a:30:41", FIT_EPARSE },
		{ "2017-02-29 00:00:00", FIT_EINVAL }, { "1900-02-29 00:00:00", FIT_EINVAL },
		{ "2017-13-01 00:00:00", FIT_EINVAL }, { "2017-00-01 00:00:00", FIT_EINVAL },
		{ "2017-04-31 00:00:00", FIT_EINVAL }, { "2017-04-30 24:00:00", FIT_EINVAL },
		{ "2017-04-30 00:60:00", FIT_EINVAL }, { "0001-01-01 00:00:00", FIT_EINVAL }
	};
	char text[FIT_DATETIME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int64_t ns = 77;

		assert_int_equal(fit_parse_datetime(fit_text_of(good[i].text), &ns), FIT_OK);
		assert_int_equal(ns, good[i].ns);
		fit_format_datetime(text, ns);
		assert_memory_equal(text, good[i].text, 10);
		assert_memory_equal(text + 11, good[i].text + 11, 8);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int64_t ns = 77;

		assert_int_equal(fit_parse_datetime(fit_text_of(bad[i].text), &ns), bad[i].rc);
		assert_int_equal(ns, 77);
	}
}

/* Day by day over all that fits: every day is the one after the last, and reads back. */
static void every_day(void **state)
{
	char text[FIT_DATETIME_MAX], last[FIT_DATETIME_MAX] = "";
	int64_t n = 0;

	(void)state;
	for (int64_t d = -98615; d <= 84370; d++) {	/* 1700-01-01 to 2200-12-31 */
		int64_t ns = 0;

		fit_format_datetime(text, d * 86400 * S + 5 * S);
		assert_true(strcmp(text, last) > 0);
		memcpy(last, text, sizeof last);
		assert_int_equal(fit_parse_datetime(fit_text_of(text), &ns), FIT_OK);
		assert_int_equal(ns, d * 86400 * S + 5 * S);
		n++;
	}
	assert_string_equal(text, "2200-12-31T00:00:05");
	assert_int_equal(n, 182986);
}

/* The columns of a jobs table come in the order of docs/formats/jobs.md and have its types. */
static void formats_follow_the_jobs_table(void **state)
{
	static const struct { const char *name; enum fit_type type; } order[] = {
		{ "job_id", FIT_TEXT }, { "user", FIT_TEXT }, { "group", FIT_TEXT }, { "name", FIT_TEXT },
		{ "app", FIT_TEXT }, { "submit_s", FIT_TIME }, { "start_s", FIT_TIME },
		{ "end_s", FIT_TIME }, { "duration_s", FIT_TIME }, { "gpus", FIT_REAL },
		{ "gpu_type", FIT_TEXT }, { "batch_size", FIT_INT }, { "status", FIT_TEXT }
	};
	size_t n_order = sizeof order / sizeof *order;

	(void)state;
	for (const struct fit_trace_format *f = fit_trace_formats; f->name; f++) {
		size_t at = 0;

		assert_ptr_equal(fit_trace_format_find(f->name), f);
		assert_non_null(f->read);
		assert_non_null(f->summary);
		if (strcmp(f->fields[0].name, "job_id") != 0)
			continue;
		for (size_t j = 0; j < f->n_fields; j++) {
			size_t k = at;

			while (k < n_order && strcmp(order[k].name, f->fields[j].name) != 0)
				k++;
			if (k < n_order) {
				assert_int_equal(order[k].type, f->fields[j].type);
				at = k + 1;
			} else {	/* an extra: it is none of the list, and comes behind it */
				for (k = 0; k < n_order; k++)
					assert_string_not_equal(order[k].name, f->fields[j].name);
				at = n_order;
			}
		}
	}
	assert_null(fit_trace_format_find("no-such"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datetimes),
		cmocka_unit_test(every_day),
		cmocka_unit_test(formats_follow_the_jobs_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
