/* SPDX-License-Identifier: MIT */
/* Wide jobs that wait: in order of submission, due after more than the wait. */
#include "libfit/replay/overdue.h"
#include "tests/unit/check.h"

static void test_order_and_due(void **state)
{
	struct fit_overdue o = { 0 };

	(void)state;
	assert_int_equal(fit_overdue_count(&o, 1000, 0), 0);
	assert_int_equal(fit_overdue_add(&o, 7, 300), FIT_OK);
	assert_int_equal(fit_overdue_add(&o, 3, 100), FIT_OK);
	assert_int_equal(fit_overdue_add(&o, 9, 300), FIT_OK);
	assert_int_equal(fit_overdue_add(&o, 5, 200), FIT_OK);
	assert_int_equal(o.jobs[0].job, 3);
	assert_int_equal(o.jobs[1].job, 5);
	assert_int_equal(o.jobs[2].job, 7);
	assert_int_equal(o.jobs[3].job, 9);
	assert_int_equal(fit_overdue_count(&o, 300, 100), 1);
	assert_int_equal(fit_overdue_count(&o, 301, 100), 2);
	assert_int_equal(fit_overdue_count(&o, 400, 100), 2);
	assert_int_equal(fit_overdue_count(&o, 401, 100), 4);
	fit_overdue_remove(&o, 5);
	fit_overdue_remove(&o, 5);
	fit_overdue_remove(&o, 42);
	assert_int_equal(o.n, 3);
	assert_int_equal(o.jobs[1].job, 7);
	fit_overdue_release(&o);
	assert_int_equal(o.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order_and_due) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
