/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include "libfit/model/boa_learn.h"

#define SPEEDUPS "tests/data/replay-boa-speedups.tsv"
#define CLASSES "tests/data/replay-boa-classes.tsv"

static const struct fit_boa_params charged = { .charge_start = true };

static struct fit_boa_learner *learner(double budget)
{
	struct fit_boa_learner *l;
	struct fit_err err = { 0 };

	check_ok(fit_boa_learner_new(&l, SPEEDUPS, CLASSES, budget, &charged, &err), &err);
	return l;
}

static int64_t width(const struct fit_boa_learner *l, const char *class, int plan, int64_t epoch)
{
	return fit_boa_learner_width(l, fit_text_of(class), plan, epoch, NULL);
}

/* The widths are those of fit_boa_solve(): here what gf-boa solve says for 30 GPUs. */
static void solves_at_first(void **state)
{
	struct fit_boa_learner *l = learner(30);

	(void)state;
	check_real(fit_boa_learner_budget(l), 30, 0, 0);
	assert_int_equal(fit_boa_learner_solved(l), 1);
	assert_int_equal(fit_boa_learner_known(l), 0);
	assert_int_equal(fit_boa_learner_epochs(l, fit_text_of("vision")), 3);
	assert_int_equal(fit_boa_learner_epochs(l, fit_text_of("audio")), -1);
	check_real(fit_boa_learner_share(l, fit_text_of("vision")), 0.12238707735890898, 1e-9, 0);
	check_real(fit_boa_learner_share(l, fit_text_of("text")), 0, 0, 0);
	for (int64_t e = 0; e < 3; e++) {
		assert_int_equal(width(l, "vision", 0, e), 4);
		assert_int_equal(width(l, "vision", 1, e), 6);
	}
	assert_int_equal(width(l, "text", 0, 0), 3);
	assert_int_equal(width(l, "text", 1, 1), 3);	/* one plan: both are it */
	assert_int_equal(width(l, "vision", 0, 3), 0);
	assert_int_equal(width(l, "audio", 0, 0), 0);
	fit_boa_learner_free(l);
}

static void solves_anew_when_it_learned(void **state)
{
	struct fit_boa_learner *l = learner(30);
	struct fit_err err = { 0 };

	(void)state;
	/* what was believed right is no news, nor is a width that is not in the table */
	fit_boa_learner_observe(l, fit_text_of("vision"), 0, 0, 4, 5.25);
	fit_boa_learner_observe(l, fit_text_of("vision"), 0, 0, 5, 9);
	fit_boa_learner_observe(l, fit_text_of("audio"), 0, 0, 4, 9);
	fit_boa_learner_observe(l, fit_text_of("vision"), 3, 0, 4, 9);
	check_ok(fit_boa_learner_solve(l, &err), &err);
	assert_int_equal(fit_boa_learner_solved(l), 1);
	assert_int_equal(fit_boa_learner_known(l), 1);
	/* 4 GPUs are no faster than 1 for text, and 2 are much better than believed */
	fit_boa_learner_observe(l, fit_text_of("text"), 0, 0, 2, 3);
	fit_boa_learner_observe(l, fit_text_of("text"), 1, 0, 2, 3);
	fit_boa_learner_observe(l, fit_text_of("text"), 0, 0, 2, 1);	/* the first observation stays */
	check_ok(fit_boa_learner_solve(l, &err), &err);
	assert_int_equal(fit_boa_learner_solved(l), 2);
	assert_int_equal(fit_boa_learner_known(l), 3);
	assert_int_equal(width(l, "text", 0, 0), 2);
	assert_int_equal(width(l, "text", 0, 1), 2);
	check_ok(fit_boa_learner_solve(l, &err), &err);
	assert_int_equal(fit_boa_learner_solved(l), 2);
	fit_boa_learner_free(l);
}

/* A budget that what is known makes infeasible is replaced by the least one: the cheapest widths. */
static void falls_back_to_the_least_budget(void **state)
{
	struct fit_boa_learner *l = learner(3);

	(void)state;
	assert_int_equal(width(l, "vision", 0, 0), 1);
	assert_int_equal(width(l, "text", 0, 0), 2);
	fit_boa_learner_free(l);
}

/* A class whose jobs are divided between two types of GPU, as gf-boa solve has it for 13 with these
 * prices; and what is learned of one type says nothing of the other. */
static void divides_jobs_between_types(void **state)
{
	struct fit_boa_price prices[] = { { "small", 1 }, { "large", 5 } };
	struct fit_boa_params params = { .prices = prices, .n_prices = 2, .charge_start = true, .by_class = true };
	struct fit_boa_learner *l;
	struct fit_err err = { 0 };
	size_t type = SIZE_MAX;

	(void)state;
	check_ok(fit_boa_learner_new(&l, "tests/data/boa-two-types.tsv", "tests/data/boa-two-types-classes.tsv", 13,
				     &params, &err), &err);
	prices[0].type = prices[1].type = "gone";	/* they were copied */
	assert_int_equal(fit_boa_learner_n_types(l), 2);
	assert_string_equal(fit_boa_learner_type(l, 0), "large");
	assert_int_equal(fit_boa_learner_find_type(l, "small"), 1);
	assert_true(fit_boa_learner_find_type(l, "huge") == SIZE_MAX);
	check_real(fit_boa_learner_share(l, fit_text_of("speech")), 0.31316413430269979, 1e-9, 0);
	assert_int_equal(fit_boa_learner_width(l, fit_text_of("speech"), 0, 1, &type), 4);
	assert_int_equal(type, 1);
	assert_int_equal(fit_boa_learner_width(l, fit_text_of("speech"), 1, 1, &type), 2);
	assert_int_equal(type, 0);
	/* 2 large GPUs are worth nothing, 2 small ones are what they were believed to be */
	for (int64_t e = 0; e < 2; e++) {
		fit_boa_learner_observe(l, fit_text_of("speech"), e, 0, 2, 1e-3);
		fit_boa_learner_observe(l, fit_text_of("speech"), e, SIZE_MAX, 2, 9);
	}
	check_ok(fit_boa_learner_solve(l, &err), &err);
	assert_int_equal(fit_boa_learner_known(l), 2);
	for (int plan = 0; plan < 2; plan++)
		for (int64_t e = 0; e < 2; e++)
			assert_false(fit_boa_learner_width(l, fit_text_of("speech"), plan, e, &type) == 2 && type == 0);
	fit_boa_learner_free(l);
}

static void says_what_is_wrong(void **state)
{
	const struct fit_boa_price price = { "large", 5 };
	struct fit_boa_params params = charged;
	struct fit_boa_learner *l = NULL;
	struct fit_err err = { 0 };

	(void)state;
	params.prices = &price;
	params.n_prices = 1;
	assert_int_equal(fit_boa_learner_new(&l, "tests/data/boa-two-types.tsv",
					     "tests/data/boa-two-types-classes.tsv", 30,
					     &params, &err), FIT_EDATA);
	assert_null(l);
	assert_non_null(strstr(err.msg, "no price of GPU type 'small'"));
	assert_int_equal(fit_boa_learner_new(&l, SPEEDUPS, "tests/data/boa-classes.tsv", 30, &charged, &err),
			 FIT_EDATA);
	assert_null(l);
	assert_int_equal(fit_boa_learner_new(&l, "nowhere.tsv", CLASSES, 30, &charged, &err), FIT_EIO);
	fit_boa_learner_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solves_at_first),
		cmocka_unit_test(solves_anew_when_it_learned),
		cmocka_unit_test(falls_back_to_the_least_budget),
		cmocka_unit_test(divides_jobs_between_types),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
