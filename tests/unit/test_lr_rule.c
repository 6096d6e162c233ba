/* SPDX-License-Identifier: MIT */
/* Learning-rate rules. */
#include "tests/unit/check.h"

#include "libfit/model/goodput.h"
#include "libfit/model/lr_rule.h"

static void test_values(void **state)
{
	const struct fit_lr_stats s = { 0.75, 6 };

	(void)state;
	/* M0 = 96, M = 240: S = 2.5 */
	check_real(fit_lr_rule_find("linear")->gain(240, 96, &s), 2.5, 1e-15, 0);
	check_real(fit_lr_rule_find("sqrt")->gain(240, 96, &s), 1.5811388300841898, 1e-15, 0);
	check_real(fit_lr_rule_find("legw")->gain(240, 96, &s), 1.5811388300841898, 1e-15, 0);
	check_real(fit_lr_rule_find("legw")->warmup(240, 96), 2.5, 1e-15, 0);
	/* (6 + 0.75) / (6 / 2.5 + 0.75) */
	check_real(fit_lr_rule_find("adascale")->gain(240, 96, &s), 6.75 / 3.15, 1e-15, 0);
	assert_null(fit_lr_rule_find("adascale")->warmup);
	assert_null(fit_lr_rule_find("sqrt")->warmup);
	assert_null(fit_lr_rule_find("linear")->warmup);
}

static void test_adascale_limits(void **state)
{
	const struct fit_lr_rule *r = fit_lr_rule_find("adascale");
	const struct fit_lr_stats noise = { 0, 3 }, signal = { 2, 0 }, nothing = { 0, 0 };

	(void)state;
	check_real(r->gain(640, 32, &noise), 20, 1e-15, 0); /* all noise: linear */
	check_real(r->gain(640, 32, &signal), 1, 1e-15, 0); /* none: no use in a larger batch */
	check_real(r->gain(640, 32, &nothing), 1, 0, 0);
	for (double var = 1e-6; var < 1e7; var *= 7) {
		const struct fit_lr_stats s = { 1.7, var };
		double before = 1;

		for (double batch = 33; batch < 1e5; batch *= 1.9) {
			double g = r->gain(batch, 32, &s);

			assert_true(g >= before && g <= batch / 32 && g >= 1);
			before = g;
		}
	}
}

/* The gain of AdaScale is also by how much a step advances training. */
static void test_same_as_progress(void **state)
{
	struct fit_goodput g = { .grad_sqr = 0.31,
				 .grad_var = 4.7,
				 .init_batch = 48,
				 .max_batch = 4096,
				 .min_local_bsz = 1,
				 .max_local_bsz = 64 };
	const struct fit_lr_stats s = { g.grad_sqr, g.grad_var };

	(void)state;
	for (double batch = 48; batch <= 4096; batch *= 1.37)
		check_real(fit_lr_rule_find("adascale")->gain(batch, 48, &s),
			   fit_goodput_gain(&g, batch), 1e-14, 0);
}

static void test_table(void **state)
{
	(void)state;
	assert_true(fit_lr_n_rules >= 4);
	assert_null(fit_lr_rule_find("cubic"));
	assert_null(fit_lr_rule_find(""));
	for (size_t i = 0; i < fit_lr_n_rules; i++) {
		const struct fit_lr_rule *r = &fit_lr_rules[i];
		const struct fit_lr_stats s = { 0.4, 9 };

		assert_ptr_equal(fit_lr_rule_find(r->name), r);
		assert_true(strspn(r->name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
			    strlen(r->name));
		assert_true(strlen(r->note) > 0);
		check_real(r->gain(77, 77, &s), 1, 1e-15, 0); /* tuned there */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values),
					    cmocka_unit_test(test_adascale_limits),
					    cmocka_unit_test(test_same_as_progress),
					    cmocka_unit_test(test_table) };

	return cmocka_run_group_tests_name("lr_rule", tests, NULL, NULL);
}
