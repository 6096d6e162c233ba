/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libfit/base/rng.h"
#include "libfit/base/text.h"
#include "libfit/replay/provision.h"
#include "tests/unit/check.h"

/* What the provisioner said: "rent0 ready0 …". */
static struct fit_str said;

static int listen(void *arg, const char *name, int32_t node, struct fit_err *err)
{
	(void)arg;
	(void)err;
	return fit_str_printf(&said, "%s%s%d", said.n ? " " : "", name, node);
}

static void heard(const char *want)
{
	assert_string_equal(said.s ? said.s : "", want);
	fit_str_release(&said);
}

static void begin(struct fit_provisioner *p, struct fit_cluster *c, const char *spec,
		  struct fit_provision_params params)
{
	struct fit_err err = { 0 };

	check_ok(fit_cluster_init(c, spec, &err), &err);
	check_ok(fit_provision_init(p, c, FIT_ANY_TYPE, &params, &err), &err);
	assert_int_equal(c->n_open, 0);
	assert_int_equal(c->n_free, 0);
	p->event = listen;
}

static void end(struct fit_provisioner *p, struct fit_cluster *c)
{
	fit_provision_release(p);
	fit_cluster_release(c);
	fit_str_release(&said);
}

static bool want(struct fit_provisioner *p, int64_t now, int64_t nodes)
{
	struct fit_err err = { 0 };
	bool ready;

	check_ok(fit_provision_want(p, now, nodes, &ready, &err), &err);
	return ready;
}

static void settle(struct fit_provisioner *p, int64_t now)
{
	struct fit_err err = { 0 };

	check_ok(fit_provision_settle(p, now, &err), &err);
}

static void take(struct fit_cluster *c, struct fit_alloc *a, int32_t node, int32_t gpus)
{
	struct fit_share *s = malloc(sizeof *s);

	assert_non_null(s);
	*s = (struct fit_share){ node, gpus };
	*a = (struct fit_alloc){ .shares = s, .n = 1, .cap = 1, .gpus = gpus };
	assert_int_equal(fit_cluster_take_shares(c, a), FIT_OK);
}

static void starts_and_returns(void **state)
{
	struct fit_alloc a = { 0 };
	struct fit_provisioner p;
	struct fit_cluster c;
	struct fit_err err = { 0 };
	bool ready;

	(void)state;
	begin(&p, &c, "5x4", (struct fit_provision_params){ .start_ns = 10, .idle_ns = 7 });
	assert_false(want(&p, 100, 2));
	settle(&p, 100);
	heard("rent0 rent1");
	assert_int_equal(p.next_ns, 110);
	assert_int_equal(c.n_open, 0);
	assert_int_equal(fit_cluster_take(&c, 1, &a), FIT_EINVAL);	/* nothing is up */
	assert_false(want(&p, 105, 3));
	settle(&p, 105);
	heard("rent2");
	check_ok(fit_provision_start(&p, 109, &ready, &err), &err);
	assert_false(ready);
	check_ok(fit_provision_start(&p, 110, &ready, &err), &err);
	assert_true(ready);
	heard("ready0 ready1");
	assert_int_equal(c.n_free, 8);
	take(&c, &a, 0, 3);
	settle(&p, 110);
	/* node 2 is still starting when one is enough; it is returned after it was ready */
	assert_false(want(&p, 112, 1));
	settle(&p, 112);
	heard("");
	check_ok(fit_provision_start(&p, 115, &ready, &err), &err);
	settle(&p, 115);
	heard("ready2");
	assert_int_equal(p.next_ns, 117);	/* node 1 has been empty since 110 */
	settle(&p, 117);
	heard("return1");
	assert_int_equal(p.next_ns, 122);
	assert_int_equal(c.n_open, 8);
	/* wanted again within its grace: it stays */
	assert_false(want(&p, 120, 2));
	settle(&p, 120);
	assert_int_equal(p.next_ns, INT64_MAX);
	heard("");
	/* the lowest one that is off comes first */
	assert_false(want(&p, 121, 3));
	heard("rent1");
	/* a node that has a job stays whatever is wanted */
	assert_false(want(&p, 122, 0));
	settle(&p, 140);
	check_ok(fit_provision_start(&p, 140, &ready, &err), &err);
	settle(&p, 150);
	settle(&p, 300);
	heard("return2 ready1 return1");
	fit_cluster_give(&c, &a);
	settle(&p, 400);
	heard("");
	assert_int_equal(p.next_ns, 407);
	settle(&p, 407);
	heard("return0");
	assert_int_equal(p.next_ns, INT64_MAX);
	assert_int_equal(p.n_rented, 0);
	assert_int_equal(p.top, 0);
	fit_alloc_release(&a);
	end(&p, &c);
}

static void keeps_within_bounds(void **state)
{
	struct fit_provisioner p;
	struct fit_cluster c;

	(void)state;
	begin(&p, &c, "4x2", (struct fit_provision_params){ .min_nodes = 2 });
	assert_true(want(&p, 0, 0));		/* no start-up delay: ready at once */
	heard("rent0 rent1 ready0 ready1");
	assert_true(want(&p, 1, 1000));
	heard("rent2 rent3 ready2 ready3");
	assert_int_equal(p.wanted, 4);
	want(&p, 2, 1);
	settle(&p, 2);
	heard("return3 return2");
	assert_int_equal(fit_provision_nodes_for(&p, 0), 0);
	assert_int_equal(fit_provision_nodes_for(&p, 1), 1);
	assert_int_equal(fit_provision_nodes_for(&p, 4), 2);
	assert_int_equal(fit_provision_nodes_for(&p, 5), 3);
	end(&p, &c);
}

static void drains_the_least_used(void **state)
{
	struct fit_alloc a = { 0 }, b = { 0 };
	struct fit_provisioner p;
	struct fit_cluster c;

	(void)state;
	begin(&p, &c, "4x4", (struct fit_provision_params){ .drains = true });
	want(&p, 0, 3);
	heard("rent0 rent1 rent2 ready0 ready1 ready2");
	take(&c, &a, 0, 1);
	take(&c, &b, 1, 3);
	settle(&p, 0);
	/* one node is enough: the empty node and the one with one GPU held are closed to further jobs */
	want(&p, 5, 1);
	settle(&p, 5);
	heard("return2");
	assert_true(c.closed[0]);
	assert_false(c.closed[1]);
	assert_int_equal(c.n_free, 1);
	fit_cluster_give(&c, &a);
	settle(&p, 8);
	heard("return0");
	/* wanted back before it is empty: it stays, and nothing is rented */
	want(&p, 9, 2);
	heard("rent0 ready0");
	want(&p, 10, 1);
	assert_true(c.closed[0]);
	assert_true(want(&p, 10, 2));
	assert_false(c.closed[0]);
	heard("");
	fit_cluster_give(&c, &b);
	fit_alloc_release(&a);
	fit_alloc_release(&b);
	end(&p, &c);
}

static void warm_once_used(void **state)
{
	struct fit_alloc a = { 0 };
	struct fit_provisioner p;
	struct fit_cluster c;

	(void)state;
	begin(&p, &c, "2x4", (struct fit_provision_params){ .start_ns = 0 });
	want(&p, 0, 1);
	take(&c, &a, 0, 1);
	assert_true(fit_provision_warm(&p, &a));
	assert_false(fit_provision_warm(&p, &a));
	fit_cluster_give(&c, &a);
	want(&p, 1, 0);
	settle(&p, 1);
	want(&p, 2, 1);
	assert_true(fit_provision_warm(&p, &a));	/* rented anew: cold again */
	fit_alloc_release(&a);
	end(&p, &c);
}

static void refuses_what_cannot_be(void **state)
{
	struct fit_provision_params params = { .min_nodes = 3 };
	struct fit_provisioner p;
	struct fit_cluster c;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_cluster_init(&c, "2x4,1x8", &err), &err);
	check_err(fit_provision_init(&p, &c, FIT_ANY_TYPE, &params, &err), &err, FIT_EINVAL,
		  "cluster 2x4,1x8: an elastic cluster needs nodes that are alike");
	fit_cluster_release(&c);
	check_ok(fit_cluster_init(&c, "2x4", &err), &err);
	check_err(fit_provision_init(&p, &c, FIT_ANY_TYPE, &params, &err), &err, FIT_EINVAL,
		  "cluster 2x4: fewer nodes than are always to be rented");
	fit_cluster_release(&c);
}

/* Each type has its own: numbers of nodes are those of the cluster, and what one does is none of the other's. */
static void types_are_apart(void **state)
{
	const struct fit_provision_params params = { .idle_ns = 10 };
	struct fit_provisioner p[2];
	struct fit_alloc a = { 0 };
	struct fit_err err = { 0 };
	struct fit_cluster c;

	(void)state;
	check_ok(fit_cluster_init_typed(&c, "slow:3x4,fast:2x8", &err), &err);
	for (int t = 0; t < 2; t++) {
		check_ok(fit_provision_init(&p[t], &c, t, &params, &err), &err);
		p[t].event = listen;
	}
	assert_int_equal(c.n_open, 0);
	assert_true(want(&p[1], 0, 9));	/* there are two */
	heard("rent3 rent4 ready3 ready4");
	assert_int_equal(c.types[1].n_open, 16);
	assert_int_equal(c.types[0].n_open, 0);
	assert_true(want(&p[0], 5, 1));
	heard("rent0 ready0");
	take(&c, &a, 4, 8);
	assert_true(fit_provision_warm(&p[1], &a));
	assert_false(fit_provision_warm(&p[0], &a));	/* none of its nodes */
	want(&p[1], 20, 0);
	settle(&p[0], 20);
	settle(&p[1], 20);
	settle(&p[1], 30);
	heard("return3");
	assert_int_equal(fit_provision_nodes_for(&p[1], 9), 2);
	assert_int_equal(fit_provision_nodes_for(&p[0], 9), 3);
	fit_cluster_give(&c, &a);
	fit_alloc_release(&a);
	fit_provision_release(&p[0]);
	end(&p[1], &c);
	check_ok(fit_cluster_init_typed(&c, "a:1x4,b:1x4,a:1x4", &err), &err);
	check_text(fit_provision_check(&c, &params, true), "an elastic cluster needs the nodes of each type together");
	assert_null(fit_provision_check(&c, &params, false));
	fit_cluster_release(&c);
}

/* Whatever is asked for: counts are those of the states, and no node goes under a job. */
static void invariants_hold(void **state)
{
	struct fit_provisioner p;
	struct fit_cluster c;
	struct fit_alloc held[9] = { { 0 } };
	struct fit_err err = { 0 };
	gsl_rng *rng = fit_rng_new(7, "test/provision");
	bool ready;

	(void)state;
	assert_non_null(rng);
	begin(&p, &c, "9x4", (struct fit_provision_params){ .start_ns = 5, .idle_ns = 3, .min_nodes = 1 });
	for (int64_t now = 0; now < 3000; now++) {
		int32_t rented = 0, starting = 0;
		uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, 9);

		check_ok(fit_provision_start(&p, now, &ready, &err), &err);
		if (gsl_rng_uniform_int(rng, 3) == 0)
			want(&p, now, (int64_t)gsl_rng_uniform_int(rng, 12));
		if (held[i].n) {
			fit_cluster_give(&c, &held[i]);
			fit_alloc_release(&held[i]);
		} else if (fit_provision_open(&p, (int32_t)i)) {
			take(&c, &held[i], (int32_t)i, 1 + (int32_t)gsl_rng_uniform_int(rng, 4));
		}
		settle(&p, now);
		fit_str_release(&said);
		for (int32_t k = 0; k < 9; k++) {
			rented += p.nodes[k].state != FIT_NODE_OFF;
			starting += p.nodes[k].state == FIT_NODE_STARTING;
			assert_int_equal(c.closed[k], p.nodes[k].state != FIT_NODE_UP);
			assert_true(!held[k].n || p.nodes[k].state == FIT_NODE_UP);
			assert_true(k < p.top || p.nodes[k].state == FIT_NODE_OFF);
		}
		assert_int_equal(rented, p.n_rented);
		assert_int_equal(starting, p.n_starting);
		assert_true(p.n_rented >= p.wanted);
		assert_true(p.next_ns > now);
	}
	for (size_t k = 0; k < 9; k++)
		fit_alloc_release(&held[k]);
	gsl_rng_free(rng);
	end(&p, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_and_returns),
		cmocka_unit_test(keeps_within_bounds),
		cmocka_unit_test(drains_the_least_used),
		cmocka_unit_test(warm_once_used),
		cmocka_unit_test(refuses_what_cannot_be),
		cmocka_unit_test(types_are_apart),
		cmocka_unit_test(invariants_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
