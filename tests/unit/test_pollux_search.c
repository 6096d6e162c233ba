/* SPDX-License-Identifier: MIT */
/* The two searches for Pollux's allocation problem, on random problems. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/rng.h"
#include "libfit/replay/pollux_search.h"

enum { NODES = 6, JOBS = 7, GPUS = 4 * NODES };

struct made {
	struct fit_pollux_problem p;
	struct fit_pollux_job jobs[JOBS];
	uint8_t capacity[NODES], current[JOBS * NODES];
};

/* Concave speedups, worse over nodes; half of the jobs hold something. */
static void make(struct made *m, gsl_rng *r)
{
	int room[NODES];

	memset(m, 0, sizeof *m);
	m->p = (struct fit_pollux_problem){
		.n_jobs = JOBS, .n_nodes = NODES, .n_gpus = GPUS, .jobs = m->jobs, .capacity = m->capacity,
		.current = m->current, .power = -1, .avoid_interference = true,
	};
	for (int k = 0; k < NODES; k++)
		room[k] = m->capacity[k] = 4;
	for (int j = 0; j < JOBS; j++) {
		double bend = 0.3 + 0.7 * gsl_rng_uniform(r), cost = 0.5 + 0.5 * gsl_rng_uniform(r);
		int node = (int)gsl_rng_uniform_int(r, NODES);

		m->jobs[j].id = (uint32_t)j;
		m->jobs[j].max_replicas = 1 + (int)gsl_rng_uniform_int(r, 12);
		m->jobs[j].restart_factor = gsl_rng_uniform(r);
		for (int k = 1; k <= FIT_POLLUX_REPLICAS_MAX; k++) {
			m->jobs[j].speedup[0][k] = pow(k, bend);
			m->jobs[j].speedup[1][k] = k > 1 ? cost * pow(k, bend) : 0;
		}
		if (j % 2 && room[node] > 0) {
			m->current[j * NODES + node] = 1;
			room[node]--;
		}
	}
}

/* The best of all states in which each job is on one node or holds nothing, by exhaustion. */
static void best_on_single_nodes(const struct made *m, uint8_t *state, int j, double *best)
{
	double f[2];

	if (j == JOBS) {
		if (fit_pollux_check(&m->p, state))
			return;
		fit_pollux_objectives(&m->p, state, f);
		*best = -f[0] > *best ? -f[0] : *best;
		return;
	}
	best_on_single_nodes(m, state, j + 1, best);
	for (int k = 0; k < NODES; k++) {
		for (int g = 1; g <= 4 && g <= m->jobs[j].max_replicas; g++) {
			state[j * NODES + k] = (uint8_t)g;
			best_on_single_nodes(m, state, j + 1, best);
		}
		state[j * NODES + k] = 0;
	}
}

static void searches_keep_the_rules(void **state)
{
	gsl_rng *r = fit_rng_new(3, "test/pollux");
	struct fit_pollux_local *local;
	struct fit_pollux_ga *ga;
	struct fit_err err;
	int at_least = 0;

	(void)state;
	check_ok(fit_pollux_local_new(&local, &err), &err);
	check_ok(fit_pollux_ga_new(&ga, 1, &err), &err);
	for (int i = 0; i < 40; i++) {
		double f[2], g[2], now[2], bound;
		const uint8_t *best;
		struct made m;

		make(&m, r);
		m.p.avoid_interference = i % 4 != 3;
		m.p.power = i % 5 == 4 ? 1 : i % 5 == 3 ? -10 : -1;
		fit_pollux_objectives(&m.p, m.current, now);
		check_ok(fit_pollux_ga_search(ga, &m.p, &best, g, &err), &err);
		assert_null(fit_pollux_check(&m.p, best));
		fit_pollux_objectives(&m.p, best, f);
		check_real(f[0], g[0], 1e-12, 0);
		check_real(f[1], g[1], 1e-12, 0);
		check_ok(fit_pollux_local_search(local, &m.p, &best, f, &bound, &err), &err);
		assert_null(fit_pollux_check(&m.p, best));
		assert_true(-f[0] <= bound * (1 + 1e-9));
		assert_true(-g[0] <= bound * (1 + 1e-9));
		if (!fit_pollux_check(&m.p, m.current))
			assert_true(f[0] <= now[0] + 1e-12);
		at_least += f[0] <= g[0] + 1e-9;
	}
	assert_true(at_least >= 36);
	fit_pollux_ga_free(ga);
	fit_pollux_local_free(local);
	gsl_rng_free(r);
}

static void search_gives_the_same_twice(void **state)
{
	struct fit_pollux_ga *a, *b;
	struct fit_err err;
	struct made m;
	gsl_rng *r = fit_rng_new(5, "test/pollux");

	(void)state;
	check_ok(fit_pollux_ga_new(&a, 9, &err), &err);
	check_ok(fit_pollux_ga_new(&b, 9, &err), &err);
	for (int i = 0; i < 3; i++) {
		const uint8_t *x, *y;
		double f[2], g[2];

		make(&m, r);
		check_ok(fit_pollux_ga_search(a, &m.p, &x, f, &err), &err);
		check_ok(fit_pollux_ga_search(b, &m.p, &y, g, &err), &err);
		assert_memory_equal(x, y, JOBS * NODES);
		check_same_bits(f[0], g[0]);
	}
	fit_pollux_ga_free(a);
	fit_pollux_ga_free(b);
	gsl_rng_free(r);
}

/* Three jobs on two nodes are few enough for all states on single nodes: a local search finds the
 * best of them nearly always, and is never far off. */
static void small_problems_are_solved(void **state)
{
	gsl_rng *r = fit_rng_new(11, "test/pollux");
	struct fit_pollux_local *local;
	struct fit_err err;
	int solved = 0;

	(void)state;
	check_ok(fit_pollux_local_new(&local, &err), &err);
	for (int i = 0; i < 30; i++) {
		uint8_t all[JOBS * NODES] = { 0 };
		double f[2], bound, want = 0;
		const uint8_t *best;
		struct made m;

		make(&m, r);
		for (int j = 3; j < JOBS; j++)
			m.jobs[j].max_replicas = 0;
		memset(m.current, 0, sizeof m.current);
		for (int k = 2; k < NODES; k++)
			m.capacity[k] = 0;
		m.p.n_gpus = 8;
		best_on_single_nodes(&m, all, 0, &want);
		check_ok(fit_pollux_local_search(local, &m.p, &best, f, &bound, &err), &err);
		assert_true(-f[0] >= want * (1 - 1e-4));
		solved += -f[0] >= want * (1 - 1e-9);
	}
	assert_true(solved >= 28);
	fit_pollux_local_free(local);
	gsl_rng_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_keep_the_rules),
		cmocka_unit_test(search_gives_the_same_twice),
		cmocka_unit_test(small_problems_are_solved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
