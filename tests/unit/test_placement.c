/* SPDX-License-Identifier: MIT */
/* Placements and virtual clusters; the placements against plain scans of all nodes. */
#include "libfit/base/rng.h"
#include "libfit/replay/partition.h"
#include "libfit/replay/placement.h"
#include "tests/unit/check.h"

static void consolidates(void **state)
{
	struct fit_cluster k;
	struct fit_alloc a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	assert_int_equal(fit_cluster_init(&k, "4x8", NULL), FIT_OK);
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_CONSOLIDATE, 5, 0, &a), FIT_OK);
	assert_int_equal(a.shares[0].node, 0);
	/* the fullest node with room is node 0 again; 4 more do not fit there */
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_CONSOLIDATE, 3, 0, &b), FIT_OK);
	assert_int_equal(b.shares[0].node, 0);
	/* two whole nodes, and the remainder on the emptiest that is left */
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_CONSOLIDATE, 18, 0, &c), FIT_OK);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.shares[1].node, 2);
	assert_int_equal(c.shares[2].node, 3);
	assert_int_equal(c.shares[2].gpus, 2);
	fit_cluster_give(&k, &b);
	/* 9 GPUs are free, 3 and 6: not on one node */
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_CONSOLIDATE, 7, 0, &b), FIT_END);
	assert_int_equal(b.gpus, 0);
	assert_int_equal(k.n_free, 9);
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_CONSOLIDATE_FIRST, 7, 0, &b), FIT_OK);
	assert_int_equal(b.shares[0].node, 3);
	assert_int_equal(b.shares[1].node, 0);
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_FIRST_FIT, 3, 0, &b), FIT_END);
	assert_int_equal(fit_placement_take(&k, FIT_PLACE_FIRST_FIT, 2, 0, &b), FIT_OK);
	fit_alloc_release(&a);
	fit_alloc_release(&b);
	fit_alloc_release(&c);
	fit_cluster_release(&k);
}

/* What the header says, by a scan; -1 in node[] ends it. */
static int scan(const int *free_gpus, int n, int gpus, int *node, int *take)
{
	int whole = gpus / 8, rest = gpus % 8, k = 0, best = -1;

	if (gpus <= 8) {
		for (int i = 0; i < n; i++)
			if (free_gpus[i] >= gpus && (best < 0 || free_gpus[i] < free_gpus[best]))
				best = i;
		node[0] = best;
		take[0] = gpus;
		return best < 0 ? -1 : 1;
	}
	for (int i = 0; i < n && k < whole; i++)
		if (free_gpus[i] == 8) {
			node[k] = i;
			take[k++] = 8;
		}
	if (k < whole)
		return -1;
	if (!rest)
		return k;
	for (int i = 0; i < n; i++) {
		bool used = false;

		for (int x = 0; x < k; x++)
			used = used || node[x] == i;
		if (!used && (best < 0 || free_gpus[i] > free_gpus[best]))
			best = i;
	}
	if (best < 0 || free_gpus[best] < rest)
		return -1;
	node[k] = best;
	take[k] = rest;
	return k + 1;
}

static void agrees_with_a_scan(void **state)
{
	enum { NODES = 137, JOBS = 120 };
	struct fit_alloc held[JOBS] = { { 0 } };
	int free_gpus[NODES], node[NODES], take[NODES], placed = 0, refused = 0;
	struct fit_cluster k;
	gsl_rng *r = fit_rng_new(3, "test/placement");

	(void)state;
	assert_non_null(r);
	assert_int_equal(fit_cluster_init(&k, "137x8", NULL), FIT_OK);
	for (int i = 0; i < NODES; i++)
		free_gpus[i] = 8;
	for (int step = 0; step < 20000; step++) {
		struct fit_alloc *a = &held[gsl_rng_uniform_int(r, JOBS)];
		int gpus = 1 + (int)gsl_rng_uniform_int(r, gsl_rng_uniform_int(r, 4) ? 12 : 70), n;
		int rc;

		if (a->gpus) {
			fit_cluster_give(&k, a);
			for (size_t i = 0; i < a->n; i++)
				free_gpus[a->shares[i].node] += a->shares[i].gpus;
			a->gpus = 0;
			continue;
		}
		n = scan(free_gpus, NODES, gpus, node, take);
		rc = fit_placement_take(&k, FIT_PLACE_CONSOLIDATE, gpus, 0, a);
		assert_int_equal(rc, n < 0 ? FIT_END : FIT_OK);
		placed += rc == FIT_OK;
		refused += rc == FIT_END;
		for (int i = 0; i < n; i++) {
			assert_int_equal(a->shares[i].node, node[i]);
			assert_int_equal(a->shares[i].gpus, take[i]);
			free_gpus[node[i]] -= take[i];
		}
	}
	assert_true(placed > 1000 && refused > 100);
	for (int i = 0; i < JOBS; i++)
		fit_alloc_release(&held[i]);
	gsl_rng_free(r);
	fit_cluster_release(&k);
}

static void random_visits_every_node(void **state)
{
	struct fit_cluster k;
	struct fit_alloc a = { 0 };
	int first_differs = 0;

	(void)state;
	assert_int_equal(fit_cluster_init(&k, "12x3", NULL), FIT_OK);
	for (uint64_t draw = 1; draw < 200; draw += 7) {
		assert_int_equal(fit_placement_take(&k, FIT_PLACE_RANDOM, 36, draw << 32 | draw * 2654435761u, &a),
				 FIT_OK);
		assert_int_equal(a.n, 12);
		first_differs += a.shares[1].node != 1;
		fit_cluster_give(&k, &a);
	}
	assert_true(first_differs > 5);
	fit_alloc_release(&a);
	fit_cluster_release(&k);
}

static void reads_virtual_clusters(void **state)
{
	static const char *const wrong[] = { "4x8", "a:4x8,4x8", "a:1x8,b:1x8,a:2x8", ":4x8", "a:4x8,", "a:" };
	struct fit_partitions ps;
	struct fit_err err;

	(void)state;
	assert_int_equal(fit_partitions_init(&ps, "a:2x8,a:1x4,b:3x4", true, &err), FIT_OK);
	assert_int_equal(ps.n, 2);
	assert_string_equal(ps.spec, "2x8,4x4");
	assert_string_equal(ps.named_spec, "a:2x8,a:1x4,b:3x4");
	assert_int_equal(ps.p[1].first_node, 3);
	assert_int_equal(ps.n_gpus, 32);
	assert_ptr_equal(fit_partitions_find(&ps, FIT_TEXT_LIT("b")), &ps.p[1]);
	assert_null(fit_partitions_find(&ps, FIT_TEXT_LIT("c")));
	fit_partitions_release(&ps);
	assert_int_equal(fit_partitions_init(&ps, "a:2x8,b:3x4", false, &err), FIT_OK);
	assert_int_equal(ps.n, 1);
	assert_ptr_equal(fit_partitions_find(&ps, FIT_TEXT_LIT("c")), &ps.p[0]);
	fit_partitions_release(&ps);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(fit_partitions_init(&ps, wrong[i], true, &err), FIT_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consolidates),
		cmocka_unit_test(agrees_with_a_scan),
		cmocka_unit_test(random_visits_every_node),
		cmocka_unit_test(reads_virtual_clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
