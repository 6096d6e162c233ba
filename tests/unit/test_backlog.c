/* SPDX-License-Identifier: MIT */
/* The backlog against a plain array that is scanned. */
#include "libfit/base/rng.h"
#include "libfit/replay/backlog.h"
#include "tests/unit/check.h"

enum { JOBS = 500 };

struct entry {
	int64_t gpus, key, tie;
	bool in, passed;
};

/* The first in order of those that ask for at most that many and were not passed; -1: none. */
static int scan(const struct entry *e, int64_t most)
{
	int best = -1;

	for (int i = 0; i < JOBS; i++) {
		if (!e[i].in || e[i].passed || e[i].gpus > most)
			continue;
		if (best < 0 || e[i].key < e[best].key || (e[i].key == e[best].key && e[i].tie < e[best].tie))
			best = i;
	}
	return best;
}

static void walk(struct fit_backlog *b, struct entry *e, gsl_rng *r)
{
	int64_t left = 1 + (int64_t)gsl_rng_uniform_int(r, 60), key, tie;
	uint32_t job;

	for (int i = 0; i < JOBS; i++)
		e[i].passed = false;
	fit_backlog_rewind(b);
	while (fit_backlog_look(b, left, &job, &key, &tie)) {
		assert_int_equal(job, scan(e, left));
		assert_int_equal(key, e[job].key);
		assert_int_equal(tie, e[job].tie);
		fit_backlog_pass(b, job);
		e[job].passed = true;
		left -= gsl_rng_uniform_int(r, 3) ? e[job].gpus : 0;
	}
	assert_int_equal(scan(e, left), -1);
}

static void agrees_with_a_scan(void **state)
{
	struct entry e[JOBS] = { { 0 } };
	struct fit_backlog *b = fit_backlog_new();
	gsl_rng *r = fit_rng_new(11, "test/backlog");
	size_t n = 0;

	(void)state;
	assert_non_null(b);
	assert_non_null(r);
	for (int step = 0; step < 20000; step++) {
		uint32_t job = (uint32_t)gsl_rng_uniform_int(r, JOBS);

		assert_int_equal(fit_backlog_has(b, job), e[job].in);
		if (e[job].in) {
			assert_true(fit_backlog_remove(b, job));
			n--;
		} else {
			assert_false(fit_backlog_remove(b, job));
			e[job].gpus = 1 + (int64_t)gsl_rng_uniform_int(r, 17);
			e[job].key = (int64_t)gsl_rng_uniform_int(r, 40) - 20;
			e[job].tie = (int64_t)gsl_rng_uniform_int(r, 3);
			assert_int_equal(fit_backlog_add(b, job, job, e[job].gpus, e[job].key, e[job].tie), FIT_OK);
			n++;
		}
		e[job].in = !e[job].in;
		assert_int_equal(fit_backlog_count(b), n);
		if (step % 20 == 0)
			walk(b, e, r);
	}
	fit_backlog_free(b);
	gsl_rng_free(r);
}

static void empty_and_absent(void **state)
{
	struct fit_backlog *b = fit_backlog_new();
	int64_t key, tie;
	uint32_t job;

	(void)state;
	assert_non_null(b);
	fit_backlog_rewind(b);
	assert_false(fit_backlog_look(b, INT64_MAX, &job, &key, &tie));
	fit_backlog_free(b);
	fit_backlog_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_scan),
		cmocka_unit_test(empty_and_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
