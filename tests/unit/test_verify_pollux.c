/* SPDX-License-Identifier: MIT */
/* The verifier on Pollux, in parts: fitness, doubling, batch limits, interference, sorting. Jobs here
 * have no agent yet; agents are built by tests/cli/verify-pollux-policy.sh. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/verify/verify_state.h"

/* ---- a verifier by hand: three nodes of two GPUs, three jobs of one application ---- */

#define N_JOBS 3

static const struct fit_app_info info = { .name = "app",
					  .init_batch = 24,
					  .max_batch = 90,
					  .min_local_bsz = 5,
					  .max_local_bsz = 20,
					  .epochs = 3,
					  .restart_ns = 30 * FIT_NS_PER_S,
					  .max_replicas = 7 };

struct bench {
	struct fit_verifier *v;
	struct verify_job jobs[N_JOBS];
	struct verify_live live[N_JOBS];
	struct verify_app app;
	uint32_t active[N_JOBS];
	int64_t size[3], booked[3];
	uint16_t node_type[3];	/* all without a name */
	struct verify_place nodes[N_JOBS][3];
};

static void bench_init(struct bench *b)
{
	struct fit_err err;

	memset(b, 0, sizeof *b);
	check_ok(fit_verifier_new(&b->v, &err), &err);
	b->app.info = &info;
	b->v->jobs = b->jobs;
	b->v->n_jobs = N_JOBS;
	b->v->live = b->live;
	b->v->n_live = N_JOBS;
	b->v->apps = &b->app;
	b->v->active.a = b->active;
	b->v->active.n = N_JOBS;
	b->v->size = b->size;
	b->v->booked = b->booked;
	b->v->node_type = b->node_type;
	b->v->n_nodes = 3;
	b->v->total = 6;
	b->v->gpus_per_node = 2;
	b->v->adaptive = b->v->with_profile = b->v->legal = b->v->acted = true;
	b->v->policy = POLICY_POLLUX;
	b->v->pollux_power = -1;
	b->v->restart_ns = 30 * FIT_NS_PER_S;
	b->v->now = 300 * FIT_NS_PER_S;
	for (uint32_t i = 0; i < N_JOBS; i++) {
		b->size[i] = 2;
		b->active[i] = i;
		b->jobs[i].submit_ns = (int64_t)i * 70 * FIT_NS_PER_S;
		b->jobs[i].live = i;
		b->jobs[i].state = JOB_WAITING;
		b->live[i].job = i;
		b->live[i].nodes = b->nodes[i];
	}
}

static void bench_release(struct bench *b)
{
	/* what is not on the heap */
	b->v->jobs = NULL;
	b->v->live = NULL;
	b->v->n_live = 0;
	b->v->apps = NULL;
	b->v->active.a = NULL;
	b->v->size = b->v->booked = NULL;
	b->v->node_type = NULL;
	fit_verifier_free(b->v);
}

static void give(struct bench *b, int job, int32_t node, int32_t gpus)
{
	struct verify_live *l = &b->live[job];

	l->nodes[l->n_nodes++] = (struct verify_place){ node, gpus };
	l->gpus += gpus;
	b->booked[node] += gpus;
	b->jobs[job].state = JOB_RUNNING;
}

static struct verify_tally tally(const struct bench *b, enum verify_rule rule)
{
	return b->v->tally[rule];
}

/* ---- fitness ---- */

static void test_fitness(void **state)
{
	struct bench b;
	double keep;

	(void)state;
	bench_init(&b);
	give(&b, 0, 0, 1);
	b.live[0].n_restarts = 2;
	verify_pollux_before(b.v);
	/* fair share 2 GPUs; u = 1/2 x 3/6 for the first job, 0 for the others */
	keep = 1 / ((1 / 0.251 + 2 / 0.001) / 3);
	check_real(b.v->keep_fitness, keep, 1e-14, 0);
	assert_int_equal(b.v->fair_gpus, 2);
	/* age 300 and two restarts; age 160 and none */
	check_real(b.live[0].restart_factor, (300.0 - 60) / (300 + 30), 1e-15, 0);
	check_real(b.live[2].restart_factor, 160.0 / 190, 1e-15, 0);

	/* a second job starts: better */
	give(&b, 1, 1, 1);
	b.live[1].changed = true;
	verify_decide_pollux_fitness(b.v);
	assert_int_equal(tally(&b, RULE_POLLUX_FITNESS).checked, 1);
	assert_int_equal(tally(&b, RULE_POLLUX_FITNESS).violations, 0);

	/* the first loses its GPU, and nobody gets one: worse than before that */
	b.live[1].changed = false;
	verify_pollux_before(b.v);
	keep = 1 / ((1 / 0.251 + 1 / 0.251 + 1 / 0.001) / 3);
	check_real(b.v->keep_fitness, keep, 1e-14, 0);
	b.live[0].changed = true;
	b.live[0].n_nodes = 0;
	b.live[0].gpus = 0;
	b.jobs[0].state = JOB_PREEMPTED;
	verify_decide_pollux_fitness(b.v);
	assert_int_equal(tally(&b, RULE_POLLUX_FITNESS).violations, 1);
	bench_release(&b);
}

static void test_fitness_power(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b);
	give(&b, 0, 0, 1);
	b.v->active.n = 2;
	b.v->pollux_power = 2.5;
	verify_pollux_before(b.v);
	check_real(b.v->keep_fitness,
		   pow((pow(1.0 / 6 + 0.001, 2.5) + pow(0.001, 2.5)) / 2, 0.4), 1e-14, 0);
	/* nobody compares where the search did not */
	b.v->pollux_reference = true;
	verify_pollux_before(b.v);
	assert_true(b.v->keep_fitness < 0);
	verify_decide_pollux_fitness(b.v);
	assert_int_equal(tally(&b, RULE_POLLUX_FITNESS).checked, 0);
	bench_release(&b);
}

/* What could not be kept is no measure. */
static void test_fitness_infeasible(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b);
	give(&b, 0, 0, 1);
	give(&b, 1, 0, 1);
	verify_pollux_before(b.v);
	assert_true(b.v->keep_fitness > 0);
	b.size[0] = 1; /* the node lost a GPU */
	verify_pollux_before(b.v);
	assert_true(b.v->keep_fitness < 0);
	b.size[0] = 2;
	give(&b, 0, 2, 1); /* more than a job may have that never ran */
	verify_pollux_before(b.v);
	assert_true(b.v->keep_fitness < 0);
	bench_release(&b);
}

/* ---- interference ---- */

static void test_interference(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b);
	give(&b, 0, 0, 1);
	give(&b, 0, 1, 1);
	give(&b, 1, 1, 1); /* on one node: may share it */
	give(&b, 2, 2, 1);
	verify_decide_pollux_interference(b.v);
	assert_int_equal(tally(&b, RULE_POLLUX_INTERFERENCE).violations, 0);
	assert_int_equal(verify_count_spanning(b.v, true), FIT_OK);
	assert_int_equal(b.v->spanning[0], 1);
	assert_int_equal(b.v->spanning[2], 0);

	give(&b, 2, 0, 1);
	verify_decide_pollux_interference(b.v);
	assert_int_equal(tally(&b, RULE_POLLUX_INTERFERENCE).checked, 2);
	assert_int_equal(tally(&b, RULE_POLLUX_INTERFERENCE).violations, 1);
	assert_non_null(strstr(tally(&b, RULE_POLLUX_INTERFERENCE).detail, "node 0 is used by 2 jobs"));

	/* finished and still booked: it holds its nodes, but nobody chose that now */
	b.jobs[0].state = JOB_BOOKED;
	assert_int_equal(verify_count_spanning(b.v, true), FIT_OK);
	assert_int_equal(b.v->spanning[0], 2);
	assert_int_equal(verify_count_spanning(b.v, false), FIT_OK);
	assert_int_equal(b.v->spanning[0], 1);
	bench_release(&b);
}

/* ---- rows ---- */

static void row_is(struct bench *b, enum verify_event ev, int64_t gpus, int64_t local, int64_t accum,
		   enum verify_rule rule, bool good)
{
	static const struct verify_place place = { 0, 1 };
	struct verify_row r = { .ev = ev,
				.live = &b->live[0],
				.sum = gpus,
				.nodes = &place,
				.n_nodes = 1,
				.local_bsz = local,
				.accum = accum };
	int64_t before = tally(b, rule).violations;

	if (rule == RULE_POLLUX_DOUBLING)
		verify_row_pollux_doubling(b->v, &r);
	else
		verify_row_pollux_limits(b->v, &r);
	if ((tally(b, rule).violations == before) != good)
		fail_msg("%lld GPUs, %lld in %lld + 1: not judged %s", (long long)gpus,
			 (long long)local, (long long)accum, good ? "good" : "bad");
}

static void test_rows(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b);
	row_is(&b, EV_START, 1, 0, 0, RULE_POLLUX_DOUBLING, true);
	row_is(&b, EV_START, 2, 0, 0, RULE_POLLUX_DOUBLING, false);
	/* a first batch: 24 on one GPU of at most 20 is 12 twice; 5 a GPU on six */
	row_is(&b, EV_START, 1, 12, 1, RULE_POLLUX_LIMITS, true);
	row_is(&b, EV_START, 1, 24, 0, RULE_POLLUX_LIMITS, false);
	row_is(&b, EV_START, 1, 12, 0, RULE_POLLUX_LIMITS, false);
	row_is(&b, EV_MOVE, 2, 12, 0, RULE_POLLUX_LIMITS, true);
	row_is(&b, EV_MOVE, 6, 5, 0, RULE_POLLUX_LIMITS, true);
	row_is(&b, EV_MOVE, 6, 4, 0, RULE_POLLUX_LIMITS, false);
	/* a finish that still books its GPUs says what it ran */
	b.live[0].local_bsz = 9;
	b.live[0].accum = 2;
	row_is(&b, EV_FINISH, 1, 9, 2, RULE_POLLUX_LIMITS, true);
	row_is(&b, EV_FINISH, 1, 9, 1, RULE_POLLUX_LIMITS, false);
	bench_release(&b);
}

static void test_total(void **state)
{
	(void)state;
	assert_int_equal(verify_total(&info, 3, 10, 2), 90);
	assert_int_equal(verify_total(&info, 3, 10, 3), -1);
	assert_int_equal(verify_total(&info, 91, 1, 0), -1);
	assert_int_equal(verify_total(&info, 1, 1, INT64_MAX), -1);
	assert_int_equal(verify_total(&info, 1, INT64_MAX, 0), -1);
	assert_int_equal(verify_total(&info, INT64_MAX, 2, 1), -1);
	assert_int_equal(verify_total(&info, 1, 0, 0), -1);
	assert_int_equal(verify_total(&info, 1, 4, NO_INT), -1);
}

/* ---- sorting ---- */

static int by_tens(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	(void)v;
	return (a / 10 > b / 10) - (a / 10 < b / 10);
}

static void test_sort(void **state)
{
	struct fit_verifier *v;
	struct fit_err err;
	uint32_t a[97], last, x = 1;

	(void)state;
	check_ok(fit_verifier_new(&v, &err), &err);
	verify_sort(v, NULL, 0, by_tens);
	for (size_t n = 1; n <= 97; n += 7) {
		/* the last digit counts up: an order that a stable sort keeps */
		for (size_t i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			a[i] = (x >> 20) % 13 * 10 + (uint32_t)(i * 10 / n);
		}
		verify_sort(v, a, n, by_tens);
		last = 0;
		for (size_t i = 0; i < n; i++) {
			assert_true(a[i] >= last);
			last = a[i];
		}
	}
	assert_int_equal(v->code, FIT_OK);
	fit_verifier_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fitness),	       cmocka_unit_test(test_fitness_power),
		cmocka_unit_test(test_fitness_infeasible), cmocka_unit_test(test_interference),
		cmocka_unit_test(test_rows),	       cmocka_unit_test(test_sort),
		cmocka_unit_test(test_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
