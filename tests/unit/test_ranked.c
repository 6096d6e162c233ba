/* SPDX-License-Identifier: MIT */
/* The ranked set against an array that is sorted and scanned; timers against one that is scanned. */
#include "libfit/base/rng.h"
#include "libfit/replay/ranked.h"
#include "libfit/replay/timers.h"
#include "tests/unit/check.h"

enum { JOBS = 300, STEPS = 4000 };

static bool before(const struct fit_ranked_entry *a, const struct fit_ranked_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->tie != b->tie ? a->tie < b->tie : a->job < b->job;
}

static int compare(const void *pa, const void *pb)
{
	const struct fit_ranked_entry *a = pa, *b = pb;

	return before(a, b) ? -1 : before(b, a);
}

static bool below(const void *arg, const struct fit_ranked_entry *e)
{
	return e->key < *(const int64_t *)arg;
}

static bool same(const struct fit_ranked_entry *a, const struct fit_ranked_entry *b)
{
	return a->key == b->key && a->tie == b->tie && a->job == b->job && a->number == b->number &&
	       a->gpus == b->gpus && a->value == b->value;
}

/* What the set says of the entries that are in. */
static void hold_against(const struct fit_ranked *r, const struct fit_ranked_entry *all, const bool *in, gsl_rng *rng)
{
	struct fit_ranked_entry sorted[JOBS], list[JOBS];
	int64_t key = (int64_t)gsl_rng_uniform_int(rng, 12), total = 0, less = 0, some, sum = 0;
	const struct fit_ranked_entry *over;
	size_t n = 0, k = 0;

	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(fit_ranked_find(r, (uint32_t)i) != NULL, in[i]);
		if (in[i])
			sorted[n++] = all[i];
	}
	qsort(sorted, n, sizeof *sorted, compare);
	assert_int_equal(fit_ranked_count(r), n);
	fit_ranked_list(r, list);
	for (size_t i = 0; i < n; i++) {
		assert_true(same(&list[i], &sorted[i]));
		total += sorted[i].gpus;
		less += sorted[i].key < key ? sorted[i].gpus : 0;
	}
	assert_int_equal(fit_ranked_before(r, below, &key), less);
	some = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)total + 3) - 1;
	while (k < n && sum + sorted[k].gpus <= some)
		sum += sorted[k++].gpus;
	over = fit_ranked_over(r, some);
	assert_int_equal(over != NULL, k < n);
	assert_true(k == n || same(over, &sorted[k]));
	some = (int64_t)gsl_rng_uniform_int(rng, 1100);
	for (k = 0; k < n && sorted[k].value < some; k++)
		;
	over = fit_ranked_least(r, some);
	assert_int_equal(over != NULL, k < n);
	assert_true(k == n || same(over, &sorted[k]));
}

static void agrees_with_an_array(void **state)
{
	static struct fit_ranked_entry all[JOBS];
	static bool in[JOBS];
	struct fit_ranked *r = fit_ranked_new(true);
	gsl_rng *rng = fit_rng_new(3, "test/ranked");

	(void)state;
	assert_non_null(r);
	assert_non_null(rng);
	for (int step = 0; step < STEPS; step++) {
		uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, JOBS);

		if (in[i]) {
			assert_true(fit_ranked_remove(r, i));
		} else {
			all[i] = (struct fit_ranked_entry){
				.key = (int64_t)gsl_rng_uniform_int(rng, 12), .tie = (int64_t)gsl_rng_uniform_int(rng, 3),
				.job = 11 * i % 307, .number = i, .gpus = 1 + (int64_t)gsl_rng_uniform_int(rng, 9),
				.value = (int64_t)gsl_rng_uniform_int(rng, 1000)
			};
			assert_int_equal(fit_ranked_add(r, &all[i]), FIT_OK);
		}
		in[i] = !in[i];
		assert_false(!in[i] && fit_ranked_remove(r, i));
		if (step % 16 == 0)
			hold_against(r, all, in, rng);
	}
	gsl_rng_free(rng);
	fit_ranked_free(r);
}

/* Other keys: as they were in order, and in another one. */
static void takes_other_keys(void **state)
{
	static struct fit_ranked_entry all[JOBS], list[JOBS];
	static bool in[JOBS];
	gsl_rng *rng = fit_rng_new(4, "test/ranked");

	(void)state;
	assert_non_null(rng);
	for (int shuffle = 0; shuffle < 3; shuffle++) {
		struct fit_ranked *r = fit_ranked_new(true);

		assert_non_null(r);
		for (uint32_t i = 0; i < JOBS; i++) {
			in[i] = true;
			all[i] = (struct fit_ranked_entry){ (int64_t)gsl_rng_uniform_int(rng, 50), 0, i, i, 1 + i % 5, i % 77 };
			assert_int_equal(fit_ranked_add(r, &all[i]), FIT_OK);
		}
		fit_ranked_list(r, list);
		for (size_t i = 0; i < JOBS; i++) {
			list[i].key -= shuffle ? (int64_t)gsl_rng_uniform_int(rng, shuffle == 1 ? 3 : 80) : 7;
			all[list[i].number] = list[i];
		}
		fit_ranked_rekey(r, list);
		hold_against(r, all, in, rng);
		for (uint32_t i = 0; i < JOBS; i += 2) {
			assert_true(fit_ranked_remove(r, i));
			in[i] = false;
		}
		hold_against(r, all, in, rng);
		fit_ranked_free(r);
	}
	gsl_rng_free(rng);
}

static void empty(void **state)
{
	struct fit_ranked *r = fit_ranked_new(true);
	int64_t key = 1;

	(void)state;
	assert_non_null(r);
	assert_false(fit_ranked_remove(r, 0));
	assert_null(fit_ranked_find(r, 5));
	assert_null(fit_ranked_over(r, 0));
	assert_int_equal(fit_ranked_before(r, below, &key), 0);
	assert_null(fit_ranked_least(r, INT64_MIN));
	fit_ranked_rekey(r, NULL);
	fit_ranked_free(r);
	fit_ranked_free(NULL);
}

/* Without an index entries are known by their places. */
static void needs_no_index(void **state)
{
	struct fit_ranked *r = fit_ranked_new(false);
	struct fit_ranked_entry e = { 3, 4, 5, 4000000000u, 2, 9 };

	(void)state;
	assert_non_null(r);
	assert_int_equal(fit_ranked_add(r, &e), FIT_OK);
	e.key = 2;
	e.value = 8;
	assert_int_equal(fit_ranked_add(r, &e), FIT_OK);
	assert_int_equal(fit_ranked_least(r, 9)->key, 3);
	fit_ranked_take_out(r, &(struct fit_ranked_entry){ .key = 3, .tie = 4, .job = 5 });
	assert_null(fit_ranked_least(r, 9));
	assert_int_equal(fit_ranked_least(r, 8)->key, 2);
	assert_int_equal(fit_ranked_count(r), 1);
	fit_ranked_free(r);
}

static void timers_come_in_order(void **state)
{
	struct fit_timers t = { 0 };
	gsl_rng *rng = fit_rng_new(5, "test/timers");
	struct fit_timer last = { INT64_MIN, 0, 0 };
	size_t n = 0;

	(void)state;
	assert_non_null(rng);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(fit_timers_add(&t, (struct fit_timer){ (int64_t)gsl_rng_uniform_int(rng, 90), i, 0 }),
				 FIT_OK);
	for (; t.n; n++) {
		const struct fit_timer *x = &t.heap[0];

		assert_true(x->at_ns > last.at_ns || (x->at_ns == last.at_ns && x->job > last.job));
		last = *x;
		fit_timers_drop(&t);
	}
	assert_int_equal(n, 500);
	fit_timers_release(&t);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_an_array),
		cmocka_unit_test(takes_other_keys),
		cmocka_unit_test(empty),
		cmocka_unit_test(needs_no_index),
		cmocka_unit_test(timers_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
