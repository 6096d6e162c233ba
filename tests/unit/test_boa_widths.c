/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/replay/boa_widths.h"

/* Of any n arrivals in a row the jobs with plan 1 are off n theta by less than one, and from the first on
 * never more than theirs. */
static void shares_are_kept(void **state)
{
	static const double shares[] = { 0, 0.25, 1.0 / 3, 0.5, 0.12238707735890898, 0.84932743171742386, 0.999, 1 };

	(void)state;
	for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
		int64_t before[401] = { 0 };

		for (int64_t n = 0; n < 400; n++)
			before[n + 1] = before[n] + fit_boa_widths_plan(shares[k], n);
		for (int64_t a = 0; a < 400; a++)
			for (int64_t b = a + 1; b <= 400; b++) {
				double off = (double)(before[b] - before[a]) - (double)(b - a) * shares[k];

				assert_true(off < 1 && off > -1);
			}
		assert_true(before[400] <= (int64_t)(400 * shares[k] + 1e-9));
	}
	/* a third: the third, sixth, … arrival */
	assert_int_equal(fit_boa_widths_plan(0.25, 2), 0);
	assert_int_equal(fit_boa_widths_plan(0.25, 3), 1);
	assert_int_equal(fit_boa_widths_plan(0.25, 4), 0);
}

static struct fit_cluster cluster(const char *spec)
{
	struct fit_cluster c;
	struct fit_err err = { 0 };

	check_ok(fit_cluster_init_typed(&c, spec, &err), &err);
	return c;
}

static void classes_know_their_work(void **state)
{
	struct fit_cluster one = cluster("4x4");
	const struct fit_job_class *c;
	struct fit_job_classes k;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_job_classes_read(&k, "tests/data/replay-boa-speedups.tsv",
				      "tests/data/replay-boa-classes.tsv", &one,
				      &err), &err);
	assert_int_equal(k.n, 2);
	assert_null(fit_job_classes_find(&k, fit_text_of("audio")));
	c = fit_job_classes_find(&k, fit_text_of("vision"));
	assert_non_null(c);
	assert_int_equal(c->n_epochs, 3);
	assert_int_equal(c->restart_ns[0], 2500000000);
	check_same_bits(c->start[0], 0);
	check_same_bits(c->start[2], 400);
	check_same_bits(c->start[3], 490.5);
	check_same_bits(fit_job_class_speed(c, 0, 0, 4), 5.25);
	check_same_bits(fit_job_class_speed(c, 0, 0, 5), 0);	/* a hole */
	check_same_bits(fit_job_class_speed(c, 0, 0, 9), 0);
	/* 30 of the first epoch, and all of the others, on 4 GPUs */
	check_real(fit_job_class_left_s(c, 0, 100, 0, 4), 30 / 5.25 + 270 / 6.5 + 90.5 / 4.5, 1e-15, 0);
	check_same_bits(fit_job_class_left_s(c, 3, 490.5, FIT_ANY_TYPE, 4), 0);
	assert_true(isinf(fit_job_class_left_s(c, 0, 0, 0, 5)));
	c = fit_job_classes_find(&k, fit_text_of("text"));
	check_same_bits(fit_job_class_speed(c, 1, 0, 1), 0);	/* not measured */
	fit_job_classes_release(&k);
	check_ok(fit_job_classes_read(&k, "tests/data/replay-boa-speedups.tsv", NULL, &one, &err), &err);
	assert_int_equal(k.list[0].restart_ns[0], 0);
	fit_job_classes_release(&k);
	assert_int_equal(fit_job_classes_read(&k, "tests/data/boa-two-types.tsv", NULL, &one, &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "2 GPU types (expected one"));
	assert_int_equal(fit_job_classes_read(&k, "tests/data/boa-speedups.tsv",
					      "tests/data/replay-boa-classes.tsv", &one,
					      &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "is in the speedups and not in the table of classes"));
	assert_null(k.list);
	fit_cluster_release(&one);
}

/* Types of the speedups go to those of the cluster by name, in its order. */
static void classes_know_types(void **state)
{
	struct fit_cluster two = cluster("small:3x4,large:2x8"), other = cluster("small:3x4,huge:1x8"),
			   large = cluster("large:2x8");
	const struct fit_job_class *c;
	struct fit_job_classes k;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_job_classes_read(&k, "tests/data/boa-two-types.tsv",
				      "tests/data/boa-two-types-classes.tsv", &two,
				      &err), &err);
	assert_int_equal(fit_job_classes_type(&k, &two, "large"), 1);
	assert_int_equal(fit_job_classes_type(&k, &two, "huge"), FIT_ANY_TYPE);
	c = fit_job_classes_find(&k, fit_text_of("vision"));
	check_same_bits(fit_job_class_speed(c, 0, 0, 2), 1.905);
	check_same_bits(fit_job_class_speed(c, 0, 1, 2), 5.905);
	check_same_bits(fit_job_class_speed(c, 0, 1, 6), 0);	/* of the other type alone */
	assert_int_equal(c->restart_ns[0], 20000000000);
	assert_int_equal(c->restart_ns[1], 35000000000);
	fit_job_classes_release(&k);
	/* one of the two is there */
	check_ok(fit_job_classes_read(&k, "tests/data/boa-two-types.tsv", NULL, &large, &err), &err);
	c = fit_job_classes_find(&k, fit_text_of("vision"));
	check_same_bits(fit_job_class_speed(c, 0, 0, 2), 5.905);
	assert_int_equal(fit_job_classes_type(&k, &large, "small"), FIT_ANY_TYPE);
	fit_job_classes_release(&k);
	assert_int_equal(fit_job_classes_read(&k, "tests/data/boa-two-types.tsv", NULL, &other, &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "no speeds on GPU type 'huge'"));
	fit_cluster_release(&two);
	fit_cluster_release(&other);
	fit_cluster_release(&large);
}

static void plans_become_widths(void **state)
{
	struct fit_cluster one = cluster("4x4");
	struct fit_job_classes k;
	struct fit_boa_widths w;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_job_classes_read(&k, "tests/data/replay-boa-speedups.tsv", NULL, &one, &err), &err);
	check_ok(fit_boa_widths_read(&w, &k, &one, "tests/data/replay-boa-plan.tsv", &err), &err);
	assert_false(w.free_start);
	check_real(w.budget, 30, 0, 0);
	assert_int_equal(fit_boa_width(&w, 0, 0, 1).gpus, 3);	/* text */
	assert_int_equal(fit_boa_width(&w, 1, 0, 0).gpus, 2);	/* vision */
	assert_int_equal(fit_boa_width(&w, 1, 1, 1).gpus, 6);
	check_real(w.choices[1].theta, 0.375, 0, 0);
	assert_int_equal(fit_boa_widths_most(&w, 0, 0), 3);
	assert_int_equal(fit_boa_widths_most(&w, 1, 0), 6);
	fit_boa_widths_release(&w);
	assert_int_equal(fit_boa_widths_read(&w, &k, &one, "tests/data/boa-plans.tsv", &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "unknown class"));
	assert_null(w.widths);
	fit_job_classes_release(&k);
	fit_cluster_release(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_kept),
		cmocka_unit_test(classes_know_their_work),
		cmocka_unit_test(classes_know_types),
		cmocka_unit_test(plans_become_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
