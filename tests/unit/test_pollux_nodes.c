/* SPDX-License-Identifier: MIT */
/* Pollux's columns: virtual nodes, the one type that a job keeps, what it holds. */
#include "tests/unit/check.h"

#include "libfit/replay/pollux_nodes.h"

static const char *const by_power[] = { "third", "first", NULL };

struct fixture {
	struct fit_cluster cluster;
	struct fit_fidelity fidelity;
	struct fit_job job;
	struct fit_view view;
	struct fit_pollux_nodes nodes;
};

static void open_fixture(struct fixture *x, const char *spec)
{
	*x = (struct fixture){ .fidelity = { .pollux_type_order = by_power } };
	assert_int_equal(fit_cluster_init_typed(&x->cluster, spec, NULL), FIT_OK);
	x->view = (struct fit_view){ .cluster = &x->cluster, .fidelity = &x->fidelity, .jobs = &x->job, .n_jobs = 1 };
	assert_int_equal(fit_pollux_nodes_find(&x->nodes, &x->view), FIT_OK);
}

static void close_fixture(struct fixture *x)
{
	fit_pollux_nodes_release(&x->nodes);
	fit_cluster_release(&x->cluster);
}

/* Nodes of 3, 6 and 8 GPUs are 1, 2 and 3 of at most 3. */
static void cuts_nodes(void **state)
{
	static const uint8_t capacity[] = { 3, 3, 3, 3, 3, 2 };
	static const int32_t node[] = { 0, 1, 1, 2, 2, 2 };
	struct fixture x;

	(void)state;
	open_fixture(&x, "first:1x3,second:1x6,third:1x8");
	assert_int_equal(x.nodes.n, 6);
	assert_memory_equal(x.nodes.capacity, capacity, sizeof capacity);
	assert_memory_equal(x.nodes.node, node, sizeof node);
	close_fixture(&x);
}

/* Of one type nodes stay whole, however unlike they are; closed ones are no columns. */
static void keeps_nodes_of_one_type(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x, "only:2x2,only:1x8");
	fit_cluster_close(&x.cluster, 1);
	assert_int_equal(fit_pollux_nodes_find(&x.nodes, &x.view), FIT_OK);
	assert_int_equal(x.nodes.n, 2);
	assert_int_equal(x.nodes.capacity[1], 8);
	assert_int_equal(x.nodes.node[1], 2);
	assert_int_equal(fit_pollux_nodes_most(&x.cluster), 10);
	close_fixture(&x);
}

static void check_kept(struct fixture *x, const char *found, const char *kept)
{
	uint8_t row[8];
	char text[9] = "";

	for (size_t i = 0; i < x->nodes.n; i++)
		row[i] = (uint8_t)(found[i] - '0');
	fit_pollux_nodes_one_type(&x->nodes, &x->view, 0, row);
	for (size_t i = 0; i < x->nodes.n; i++)
		text[i] = (char)('0' + row[i]);
	assert_string_equal(text, kept);
}

/* Columns: first 0 1, second 2 3, third 4 5. The most GPUs win; of as many third, then first, then second. */
static void keeps_one_type(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x, "first:2x4,second:1x8,third:1x8");
	check_kept(&x, "002100", "002100");
	check_kept(&x, "102110", "002100");
	check_kept(&x, "120030", "000030");
	check_kept(&x, "112000", "110000");
	check_kept(&x, "200101", "200000");
	check_kept(&x, "200011", "000011");
	check_kept(&x, "202020", "000020");
	check_kept(&x, "000000", "000000");
	close_fixture(&x);
}

/* Virtual nodes of one node are one share, and what was kept comes back. */
static void remembers_rows(void **state)
{
	static const uint8_t row[] = { 0, 0, 2, 1, 0, 0 }, nothing[6] = { 0 };
	uint8_t back[6];
	struct fit_share shares[6];
	struct fixture x;

	(void)state;
	open_fixture(&x, "first:2x4,second:1x8,third:1x8");
	assert_int_equal(fit_pollux_nodes_shares(&x.nodes, row, shares), 1);
	assert_int_equal(shares[0].node, 2);
	assert_int_equal(shares[0].gpus, 3);
	assert_int_equal(fit_pollux_nodes_keep(&x.nodes, 0, row), FIT_OK);
	assert_true(fit_pollux_nodes_row(&x.nodes, &x.view, 0, back));
	assert_memory_equal(back, row, sizeof row);
	assert_int_equal(fit_pollux_nodes_keep(&x.nodes, 0, NULL), FIT_OK);
	assert_true(fit_pollux_nodes_row(&x.nodes, &x.view, 0, back));
	assert_memory_equal(back, nothing, sizeof nothing);
	close_fixture(&x);
}

/* The smallest type; a known one only on as many nodes as its profiles were measured on: 2 of dgx-ext, 3 of rtx. */
static void limits_by_types(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x, "aws:6,dgx-ext:4,rtx:5");
	assert_int_equal(fit_pollux_nodes_most(&x.cluster), 16);
	close_fixture(&x);
	open_fixture(&x, "aws:3,dgx-ext:4,rtx:5");
	assert_int_equal(fit_pollux_nodes_most(&x.cluster), 12);
	close_fixture(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_nodes),
		cmocka_unit_test(keeps_nodes_of_one_type),
		cmocka_unit_test(keeps_one_type),
		cmocka_unit_test(remembers_rows),
		cmocka_unit_test(limits_by_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
