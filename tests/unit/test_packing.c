/* SPDX-License-Identifier: MIT */
/* Packing rules on pairs that were made up. */
#include <stdlib.h>

#include "libfit/model/packing.h"
#include "libfit/model/sharing_score.h"
#include "tests/unit/check.h"

static void loads_and_finds(void **state)
{
	struct fit_colocation c;
	double a, b;
	uint32_t wren, lark;

	(void)state;
	assert_int_equal(fit_colocation_load(&c, "tests/data/lucid-configs.tsv", "tests/data/lucid-pairs.tsv", NULL),
			 FIT_OK);
	assert_int_equal(c.n_configs, 4);
	assert_int_equal(c.n_pairs, 7);
	wren = fit_colocation_find(&c, FIT_TEXT_LIT("Wren"), FIT_TEXT_LIT("s1"), 16, 0);
	lark = fit_colocation_find(&c, FIT_TEXT_LIT("Lark"), FIT_TEXT_LIT("s2"), 16, 1);
	assert_int_equal(wren, 0);
	assert_int_equal(fit_colocation_find(&c, FIT_TEXT_LIT("Lark"), FIT_TEXT_LIT("s2"), 16, 0), FIT_NO_INDEX);
	assert_true(fit_colocation_speeds(&c, lark, wren, &a, &b));	/* the other way round */
	check_real(a, 0.9, 0, 0);
	check_real(b, 0.95, 0, 0);
	assert_false(fit_colocation_speeds(&c, 3, lark, &a, &b));
	check_real(a, 1, 0, 0);
	assert_int_equal(c.configs[3].label, -1);
	fit_colocation_release(&c);
}

static void sweeps(void **state)
{
	struct fit_packing_params p = { FIT_PACKING_LABEL, 0.85, false };
	struct fit_packing_row *r;
	struct fit_colocation c;
	size_t n, left_out;

	(void)state;
	assert_int_equal(fit_colocation_load(&c, "tests/data/lucid-configs.tsv", "tests/data/lucid-pairs.tsv", NULL),
			 FIT_OK);
	assert_int_equal(fit_packing_sweep(&c, &p, &r, &n, &left_out), FIT_OK);
	assert_int_equal(n, 5);			/* sums 0 … 4 */
	assert_int_equal(left_out, 1);		/* Rook has no label */
	assert_int_equal(r[2].pairs, 6);
	assert_int_equal(r[2].chosen, 4);	/* 0+0, 0+1, 1+1, 0+2 */
	assert_int_equal(r[2].chosen_free, 3);	/* means 0.995, 0.925, 0.86, 0.84 */
	assert_int_equal(r[2].free, 3);
	check_real(r[2].precision, 0.75, 1e-15, 0);
	check_real(r[2].captured, 1, 0, 0);
	check_real(r[2].worst_speed, 0.71, 0, 0);
	check_real(r[2].step_speed, (0.86 + 0.84) / 2, 1e-15, 0);
	check_real(r[2].mean_speed, (0.995 + 0.925 + 0.86 + 0.84) / 4, 1e-15, 0);
	free(r);
	p.worst = true;
	assert_int_equal(fit_packing_sweep(&c, &p, &r, &n, &left_out), FIT_OK);
	assert_int_equal(r[4].free, 2);		/* of 0.98 0.9 0.84 0.71 0.66 0.5 */
	free(r);
	p.rule = FIT_PACKING_UTIL;
	assert_int_equal(fit_packing_sweep(&c, &p, &r, &n, &left_out), FIT_OK);
	assert_int_equal(left_out, 0);
	check_real(r[1].threshold, 50, 0, 0);	/* Rook and Wren */
	free(r);
	fit_colocation_release(&c);
}

static void measures(void **state)
{
	struct fit_score_measured m[4];
	struct fit_colocation c;

	(void)state;
	assert_int_equal(fit_colocation_load(&c, "tests/data/lucid-configs.tsv", "tests/data/lucid-pairs.tsv", NULL),
			 FIT_OK);
	fit_score_measure(&c, m);
	assert_int_equal(m[0].sides, 5);	/* 0.98 1.01 0.95 0.97 0.9 */
	check_real(m[0].speed, 0.962, 1e-15, 0);
	assert_int_equal(m[0].label, 0);
	assert_int_equal(m[1].sides, 4);	/* 0.9 0.84 0.88 0.83 */
	check_real(m[1].speed, 0.862, 1e-15, 0);	/* 0.8625, to even */
	assert_int_equal(m[1].label, 1);
	assert_int_equal(m[2].label, 2);
	assert_int_equal(m[3].sides, 1);
	fit_colocation_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(loads_and_finds), cmocka_unit_test(sweeps),
					    cmocka_unit_test(measures) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
