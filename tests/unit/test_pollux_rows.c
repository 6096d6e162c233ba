/* SPDX-License-Identifier: MIT */
/* Repair and variation of states of the genetic search, against plain code, on clusters of one block of
 * nodes and of several. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/replay/pollux_rows.h"

enum { JOBS = 9, NODES = 40 };

struct made {
	struct fit_pollux_problem p;
	struct fit_pollux_job jobs[JOBS];
	uint8_t capacity[NODES], current[JOBS * NODES];
};

static void make(struct made *m, struct fit_draws *d, int nodes, int max_replicas)
{
	memset(m, 0, sizeof *m);
	m->p = (struct fit_pollux_problem){
		.n_jobs = JOBS, .n_nodes = nodes, .jobs = m->jobs, .capacity = m->capacity,
		.current = m->current, .power = -1, .avoid_interference = true,
	};
	for (int k = 0; k < nodes; k++)
		m->p.n_gpus += m->capacity[k] = (uint8_t)(1 + fit_draws_below(d, 8));
	for (int j = 0; j < JOBS; j++) {
		m->jobs[j].id = (uint32_t)j;
		m->jobs[j].max_replicas = max_replicas;
		m->jobs[j].restart_factor = 0.1 + 0.1 * j;
		for (int k = 1; k <= max_replicas; k++) {
			m->jobs[j].speedup[0][k] = pow(k, 0.5 + 0.04 * j);
			m->jobs[j].speedup[1][k] = 0.8 * m->jobs[j].speedup[0][k];
		}
		m->current[j * nodes + j % nodes] = 1;
	}
}

/* A state that breaks every rule now and then, padded. */
static void wild(const struct fit_pollux_rows *w, struct fit_draws *d, uint8_t *state, uint32_t often, uint32_t most)
{
	memset(state, 0, w->size);
	for (int j = 0; j < JOBS; j++)
		for (int m = 0; m < w->p->n_nodes; m++)
			if (fit_draws_below(d, often) == 0)
				state[(size_t)j * w->stride + (size_t)m] = (uint8_t)(1 + fit_draws_below(d, most));
}

/* Rules (a) and (c) as they are written down; no row is too large. */
static void plain_repair(const struct fit_pollux_problem *p, uint8_t *s)
{
	int n = p->n_nodes;
	bool spans[JOBS];

	for (int j = 0; j < JOBS; j++) {
		int nodes = 0;

		for (int m = 0; m < n; m++)
			nodes += s[j * n + m] != 0;
		spans[j] = nodes > 1;
	}
	for (int m = 0; m < n; m++) {
		int seen = 0, left = p->capacity[m];

		for (int j = 0; j < JOBS; j++) {
			uint8_t *entry = &s[j * n + m];

			if (p->avoid_interference && *entry && spans[j])
				seen++;
			if (seen > 1 && (p->interference_zeroes_all || spans[j]))
				*entry = 0;
			*entry = *entry > left ? (uint8_t)left : *entry;
			left -= *entry;
		}
	}
}

static void repair_keeps_the_rules(void **state)
{
	struct fit_pollux_rows w = { 0 };
	struct fit_draws d;
	struct made m;

	(void)state;
	fit_draws_init(&d, 1, "test/rows");
	fit_draws_init(&w.draws, 1, "test/rows-own");
	for (int round = 0; round < 600; round++) {
		int nodes = (int[]){ 6, 16, 17, 40 }[round % 4];
		int most = round % 3 ? 64 : 1 + (int)fit_draws_below(&d, 12);
		uint8_t *padded, *plain, *want;
		double f[2], g[2];

		make(&m, &d, nodes, most);
		m.p.interference_zeroes_all = round % 5 == 0;
		m.p.avoid_interference = round % 7 != 0;
		m.p.power = round % 11 ? -1 : -2.5;
		assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
		padded = malloc(w.size);
		plain = malloc((size_t)JOBS * (size_t)nodes);
		want = malloc((size_t)JOBS * (size_t)nodes);
		assert_true(padded && plain && want);
		/* few enough GPUs to stay below 64 and 16 nodes where the plain code is the measure */
		wild(&w, &d, padded, most == 64 ? 8 : 3, most == 64 ? 3 : 5);
		if (round % 13 == 0)
			memcpy(padded, w.current, w.size);
		fit_pollux_rows_unpad(&w, padded, want);
		fit_pollux_rows_repair(&w, padded, f);
		fit_pollux_rows_unpad(&w, padded, plain);
		assert_null(fit_pollux_check(&m.p, plain));
		fit_pollux_objectives(&m.p, plain, g);
		check_real(f[0], g[0], 1e-14, 0);
		check_real(f[1], g[1], 1e-14, 0);
		if (most == 64) {
			plain_repair(&m.p, want);
			assert_memory_equal(plain, want, (size_t)JOBS * (size_t)nodes);
		}
		for (int j = 0; j < JOBS; j++) {
			int on = 0;

			for (int k = 0; k < nodes; k++)
				on += plain[j * nodes + k] != 0;
			assert_true(on <= 16);
		}
		/* what is repaired stays as it is, but where a job on one node had shut others out */
		if (!m.p.interference_zeroes_all) {
			fit_pollux_rows_repair(&w, padded, f);
			fit_pollux_rows_unpad(&w, padded, want);
			assert_memory_equal(plain, want, (size_t)JOBS * (size_t)nodes);
		}
		free(padded);
		free(plain);
		free(want);
	}
	fit_pollux_rows_release(&w);
}

/* How often rows are reset and thinned, and entries drawn anew, is within five standard deviations of
 * what is documented. */
static void children_vary_as_often_as_they_should(void **state)
{
	enum { KIDS = 40000 };
	struct fit_pollux_rows w = { 0 };
	uint8_t parent[2][JOBS * 48], child[JOBS * 48];
	int copied = 0, reset = 0, rows = 0, lost = 0, entries = 0;
	struct fit_draws d;
	struct made m;

	(void)state;
	fit_draws_init(&d, 4, "test/rows");
	fit_draws_init(&w.draws, 1, "test/rows-own");
	for (int nodes = 16; nodes <= 40; nodes += 24) {
		make(&m, &d, nodes, 64);
		for (int k = 0; k < nodes; k++)
			m.capacity[k] = 1;	/* full, so that nothing is drawn anew but where something went */
		m.p.n_gpus = nodes;
		assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
		for (int i = 0; i < 2; i++) {
			memset(parent[i], 0, sizeof parent[i]);
			for (int j = 0; j < JOBS; j++)
				memset(parent[i] + (size_t)j * w.stride, 200 + i, (size_t)nodes);
		}
		for (int i = 0; i < KIDS; i++) {
			fit_pollux_rows_child(&w, parent[0], parent[1], 4, child);
			for (int j = 0; j < JOBS; j++) {
				const uint8_t *row = child + (size_t)j * w.stride;
				int same = 0, now = 0, zero = 0;

				for (int k = 0; k < nodes; k++) {
					same += row[k] == (j < 4 ? 200 : 201);
					zero += row[k] == 0;
					now += row[k] == m.current[j * nodes + k];
				}
				rows++;
				copied += same == nodes;
				reset += now == nodes;
				if (same && same + zero == nodes) {	/* not reset */
					lost += zero;
					entries += nodes;
				}
			}
		}
	}
	/* 0.9 x (0.9 + 0.1 x 0.9^16 or 0.9^40); the one entry of a reset row stays with 0.9 + 0.1 x 0.9 */
	check_real((double)copied / rows, 0.81 + 0.045 * (pow(0.9, 16) + pow(0.9, 40)), 0, 5 * 0.4 / sqrt(rows));
	check_real((double)reset / rows, 0.1 * 0.99, 0, 5 * 0.3 / sqrt(rows));
	check_real((double)lost / entries, 0.01, 0, 0.0005);

	/* one GPU of each node is free: entries that are drawn anew, between what they are and all of it */
	make(&m, &d, 16, 64);
	for (int k = 0; k < 16; k++)
		m.capacity[k] = 4;
	memset(m.current, 0, sizeof m.current);
	assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
	memset(parent[0], 0, sizeof parent[0]);
	memset(parent[0], 2, w.stride);		/* the first job is everywhere, alone */
	rows = lost = 0;
	{
		int by_value[5] = { 0 }, grown = 0, held = 0;

		for (int i = 0; i < KIDS; i++) {
			fit_pollux_rows_child(&w, parent[0], parent[0], 0, child);
			for (int k = 0; k < 16; k++) {
				rows++;
				by_value[child[w.stride + (size_t)k]]++;	/* the second job, which is nowhere */
				held += child[k] == 2;
				grown += child[k] > 2;
			}
		}
		/* p1 = 1/9, p2 = 1 for the first job: always drawn, from 2, 3 and 4; where it was reset (0.1) it is
		 * not there. Entries are drawn with 1/9 for the second, from 0 to 4 */
		for (int v = 1; v <= 4; v++)
			check_real((double)by_value[v] / rows, 1 / 9.0 / 5, 0, 5 * 0.15 / sqrt(rows));
		assert_true(fabs((double)grown / (grown + held) - 2.0 / 3) < 0.01);
	}
	fit_pollux_rows_release(&w);
}

/* The number of states of few and small jobs, by counting them. */
static void few_states_are_counted(void **state)
{
	struct fit_pollux_rows w = { 0 };
	struct fit_draws d;
	struct made m;

	(void)state;
	fit_draws_init(&d, 5, "test/rows");
	make(&m, &d, 16, 64);
	m.p.n_jobs = 1;
	for (int k = 0; k < 16; k++)
		m.capacity[k] = 4;
	m.jobs[0].max_replicas = 1;
	assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
	assert_int_equal(fit_pollux_rows_count(&w, 1000), 17);		/* nowhere, or one of 16 nodes */
	m.jobs[0].max_replicas = 2;
	assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
	assert_int_equal(fit_pollux_rows_count(&w, 1000), 17 + 16 + 16 * 15 / 2);
	assert_int_equal(fit_pollux_rows_count(&w, 100), 100);
	m.capacity[3] = 1;	/* no two on this one */
	assert_int_equal(fit_pollux_rows_count(&w, 1000), 17 + 15 + 16 * 15 / 2);
	m.p.n_jobs = 2;
	m.p.n_nodes = 3;
	m.jobs[0].max_replicas = 1;
	m.jobs[1].max_replicas = 0;
	assert_int_equal(fit_pollux_rows_set(&w, &m.p), FIT_OK);
	assert_int_equal(fit_pollux_rows_count(&w, 1000), 4);
	fit_pollux_rows_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repair_keeps_the_rules),
		cmocka_unit_test(children_vary_as_often_as_they_should),
		cmocka_unit_test(few_states_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
