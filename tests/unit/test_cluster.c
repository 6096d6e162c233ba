/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_rng.h>

#include "libfit/base/rng.h"
#include "libfit/replay/cluster.h"

static void reads_specifications(void **state)
{
	struct fit_cluster c;
	struct fit_err err;

	(void)state;
	assert_int_equal(fit_cluster_init(&c, "16x4", &err), FIT_OK);
	assert_int_equal(c.n_nodes, 16);
	assert_int_equal(c.n_gpus, 64);
	assert_string_equal(c.spec, "16x4");
	fit_cluster_release(&c);
	assert_int_equal(fit_cluster_init(&c, "aws:6x4,dgx:2x8,3x8", &err), FIT_OK);
	assert_string_equal(c.spec, "6x4,5x8");
	assert_int_equal(c.n_gpus, 64);
	assert_int_equal(c.max_node_gpus, 8);
	fit_cluster_release(&c);
}

static void knows_gpu_types(void **state)
{
	struct fit_alloc a = { 0 }, b = { 0 };
	struct fit_cluster c;
	struct fit_err err;

	(void)state;
	assert_int_equal(fit_cluster_init_typed(&c, "aws:2,mine:1x3,aws:1x4,dgx-ext:2", &err), FIT_OK);
	assert_string_equal(c.spec, "aws:2x4,mine:1x3,aws:1x4,dgx-ext:2x8");
	assert_true(fit_cluster_typed(&c));
	assert_int_equal(c.n_types, 3);
	assert_int_equal(c.types[0].n_free, 12);
	assert_int_equal(c.types[0].n_nodes, 3);
	assert_int_equal(fit_cluster_find_type(&c, FIT_TEXT_LIT("dgx-ext")), 2);
	assert_int_equal(fit_cluster_find_type(&c, FIT_TEXT_LIT("dgx")), FIT_ANY_TYPE);
	assert_int_equal(fit_cluster_take_type(&c, 1, 4, &a), FIT_EINVAL);
	assert_int_equal(fit_cluster_take_type(&c, 0, 9, &a), FIT_OK);	/* 0 0 3 3 */
	assert_int_equal(a.n, 3);
	assert_int_equal(a.shares[2].node, 3);
	assert_int_equal(fit_cluster_take(&c, 4, &b), FIT_OK);		/* no room on aws, mine: dgx-ext */
	assert_int_equal(b.shares[0].node, 4);
	assert_int_equal(c.types[2].n_free, 12);
	assert_int_equal(c.n_free, 3 + 3 + 12);
	fit_cluster_give(&c, &a);
	fit_cluster_close(&c, 0);
	assert_int_equal(c.types[0].n_open, 8);
	assert_int_equal(fit_cluster_take_type(&c, 0, 9, &a), FIT_EINVAL);
	fit_alloc_release(&a);
	fit_alloc_release(&b);
	fit_cluster_release(&c);
	assert_int_equal(fit_cluster_init_typed(&c, "16x4", &err), FIT_OK);
	assert_false(fit_cluster_typed(&c));
	fit_cluster_release(&c);
	assert_int_equal(fit_cluster_init_typed(&c, "mine:6", &err), FIT_EINVAL);	/* of how many GPUs? */
	assert_int_equal(fit_cluster_init_typed(&c, ":6x4", &err), FIT_EINVAL);
	assert_int_equal(fit_cluster_init_typed(&c, "aws:6x4,2x8", &err), FIT_EINVAL);
	assert_string_equal(err.msg, "bad cluster 'aws:6x4,2x8' (expected a GPU type for each part, or for none)");
}

static void refuses_wrong_specifications(void **state)
{
	static const char *const wrong[] = {
		"", "16", "x4", "16x", "0x4", "16x0", "-1x4", "16x4,", ",16x4", "16x65", "16x4x2", "1e3x4",
		"99999999999999999999x4", "16 x4", "10000001x1", "9000000x1,9000000x2",
	};
	struct fit_cluster c;
	struct fit_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(fit_cluster_init(&c, wrong[i], &err), FIT_EINVAL);
		assert_non_null(strstr(err.msg, "bad cluster '"));
		assert_null(c.gpus);
	}
}

static void takes_from_the_emptiest_node(void **state)
{
	struct fit_alloc a = { 0 }, b = { 0 }, c = { 0 };
	struct fit_cluster k;

	(void)state;
	assert_int_equal(fit_cluster_init(&k, "3x4", NULL), FIT_OK);
	assert_int_equal(fit_cluster_take(&k, 3, &a), FIT_OK);		/* 1 4 4 */
	assert_int_equal(a.n, 1);
	assert_int_equal(a.shares[0].node, 0);
	assert_int_equal(fit_cluster_take(&k, 6, &b), FIT_OK);		/* 1 0 2 */
	assert_int_equal(b.n, 2);
	assert_int_equal(b.shares[0].node, 1);
	assert_int_equal(b.shares[0].gpus, 4);
	assert_int_equal(b.shares[1].node, 2);
	assert_int_equal(b.shares[1].gpus, 2);
	assert_int_equal(fit_cluster_take(&k, 3, &c), FIT_OK);		/* 0 0 0 */
	assert_int_equal(c.shares[0].node, 2);
	assert_int_equal(c.shares[1].node, 0);
	assert_int_equal(k.n_free, 0);
	fit_cluster_give(&k, &c);
	assert_int_equal(fit_cluster_take(&k, 4, &c), FIT_EINVAL);
	assert_int_equal(c.gpus, 0);
	assert_int_equal(k.n_free, 3);
	fit_alloc_release(&a);
	fit_alloc_release(&b);
	fit_alloc_release(&c);
	fit_cluster_release(&k);
}

static void takes_named_shares_or_nothing(void **state)
{
	struct fit_share good[] = { { 1, 2 }, { 0, 4 } }, bad[] = { { 1, 2 }, { 0, 1 } }, none[] = { { 7, 1 } };
	struct fit_cluster k;

	(void)state;
	assert_int_equal(fit_cluster_init(&k, "2x4", NULL), FIT_OK);
	assert_int_equal(fit_cluster_take_shares(&k, &(struct fit_alloc){ good, 2, 2, 6 }), FIT_OK);
	assert_int_equal(k.n_free, 2);
	assert_int_equal(fit_cluster_take_shares(&k, &(struct fit_alloc){ bad, 2, 2, 3 }), FIT_EINVAL);
	assert_int_equal(k.n_free, 2);
	assert_int_equal(fit_cluster_take_shares(&k, &(struct fit_alloc){ none, 1, 1, 1 }), FIT_EINVAL);
	assert_int_equal(k.free[1], 2);
	fit_cluster_release(&k);
}

/* A thousand random takes and gives against a plain scan over the nodes. */
static void agrees_with_a_scan(void **state)
{
	enum { JOBS = 40 };
	struct fit_alloc held[JOBS] = { { 0 } };
	int free_gpus[150];
	struct fit_cluster k;
	gsl_rng *r = fit_rng_new(7, "test/cluster");

	(void)state;
	assert_int_equal(fit_cluster_init(&k, "100x4,50x8", NULL), FIT_OK);
	for (int i = 0; i < 150; i++)
		free_gpus[i] = i < 100 ? 4 : 8;
	for (int step = 0; step < 1000; step++) {
		struct fit_alloc *a = &held[gsl_rng_uniform_int(r, JOBS)];
		int64_t want = 1 + (int64_t)gsl_rng_uniform_int(r, 60), left = want;

		if (a->gpus) {
			fit_cluster_give(&k, a);
			for (size_t i = 0; i < a->n; i++)
				free_gpus[a->shares[i].node] += a->shares[i].gpus;
			a->gpus = 0;
			continue;
		}
		if (fit_cluster_take(&k, want, a))
			continue;
		for (size_t i = 0; i < a->n; i++) {
			int best = 0;

			for (int n = 1; n < 150; n++)
				if (free_gpus[n] > free_gpus[best])
					best = n;
			assert_int_equal(a->shares[i].node, best);
			assert_int_equal(a->shares[i].gpus, left < free_gpus[best] ? left : free_gpus[best]);
			left -= a->shares[i].gpus;
			free_gpus[best] -= a->shares[i].gpus;
		}
		assert_int_equal(left, 0);
	}
	for (int i = 0; i < JOBS; i++)
		fit_alloc_release(&held[i]);
	gsl_rng_free(r);
	fit_cluster_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_specifications),
		cmocka_unit_test(knows_gpu_types),
		cmocka_unit_test(refuses_wrong_specifications),
		cmocka_unit_test(takes_from_the_emptiest_node),
		cmocka_unit_test(takes_named_shares_or_nothing),
		cmocka_unit_test(agrees_with_a_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
