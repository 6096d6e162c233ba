/* SPDX-License-Identifier: MIT */
/* id_map.h: ids that count upwards, others, both, and so many gaps that counting is given up. */
#include "tests/unit/check.h"

#include "libfit/base/id_map.h"

typedef size_t make_id(char id[32], uint32_t i);

static size_t put(char id[32], const char *prefix, uint32_t i)
{
	return (size_t)snprintf(id, 32, "%s%u", prefix, i);
}

static size_t upwards(char id[32], uint32_t i)
{
	return put(id, "job-", i + 17);
}

static size_t scattered(char id[32], uint32_t i)
{
	return put(id, "x", i * 2654435761u);
}

static size_t with_gaps(char id[32], uint32_t i)
{
	return put(id, "job-", 2 * i + i / 7);
}

/* Runs of forty, and some that go back or have another prefix. */
static size_t mixed(char id[32], uint32_t i)
{
	if (i % 40 == 39)
		return put(id, i % 80 == 39 ? "x" : "task-", i - 39);
	return put(id, "job-", i + i / 40 + 100);
}

static void check(make_id *make, uint32_t n)
{
	struct fit_id_map m = { 0 };
	uint32_t found;
	char id[32];

	for (uint32_t i = 0; i < n; i++) {
		struct fit_text t = { id, make(id, i) };

		assert_int_equal(fit_id_map_get(&m, t), FIT_NO_INDEX);
		assert_int_equal(fit_id_map_put(&m, t, &found), FIT_OK);
		assert_int_equal(found, FIT_NO_INDEX);
		assert_int_equal(m.n, i + 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct fit_text t = { id, make(id, i) };

		assert_int_equal(fit_id_map_get(&m, t), i);
		assert_true(fit_text_eq(fit_id_map_text(&m, i), t));
		assert_int_equal(fit_id_map_put(&m, t, &found), FIT_OK);
		assert_int_equal(found, i);
	}
	assert_int_equal(m.n, n);
	fit_id_map_release(&m);
	assert_int_equal(m.n, 0);
	assert_int_equal(fit_id_map_get(&m, FIT_TEXT_LIT("job-17")), FIT_NO_INDEX);
}

static void numbers_there_and_back(void **state)
{
	static make_id *const all[] = { upwards, scattered, with_gaps, mixed };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		check(all[i], 1);
		check(all[i], 50);
		check(all[i], 20000);
	}
}

static void counting_is_given_up(void **state)
{
	struct fit_id_map few = { 0 }, many = { 0 };
	char id[32];

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		assert_int_equal(fit_id_map_put(&few, (struct fit_text){ id, mixed(id, i) }, NULL), FIT_OK);
		assert_int_equal(fit_id_map_put(&many, (struct fit_text){ id, with_gaps(id, i) }, NULL), FIT_OK);
	}
	assert_false(few.no_runs);
	assert_int_equal(few.n_hashed, 20000 / 40);
	assert_true(many.no_runs);
	assert_int_equal(many.n_hashed, 20000);
	fit_id_map_release(&few);
	fit_id_map_release(&many);
}

static void numbers_as_text_are_ids_of_their_own(void **state)
{
	static const char *const ids[] = { "7", "8", "08", "10", "9", "", "8 ", "a8",
					   "18446744073709551616", "1e1" };
	struct fit_id_map m = { 0 };
	uint32_t n = sizeof ids / sizeof *ids;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fit_id_map_put(&m, fit_text_of(ids[i]), NULL), FIT_OK);
	assert_int_equal(m.n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fit_id_map_get(&m, fit_text_of(ids[i])), i);
	assert_int_equal(fit_id_map_get(&m, FIT_TEXT_LIT("11")), FIT_NO_INDEX);
	assert_int_equal(fit_id_map_get(&m, FIT_TEXT_LIT("010")), FIT_NO_INDEX);
	fit_id_map_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_there_and_back),
		cmocka_unit_test(counting_is_given_up),
		cmocka_unit_test(numbers_as_text_are_ids_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
