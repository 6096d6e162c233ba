/* SPDX-License-Identifier: MIT */
/* Where jobs have room, against plain counting; what they gain, against its definition; and the bound of
 * a price against all ways to share GPUs. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/draws.h"
#include "libfit/replay/pollux_gains.h"

enum { NODES = 70, JOBS = 40 };

static struct fit_pollux_problem cluster(uint8_t *capacity, int nodes, bool avoid, struct fit_draws *d, uint32_t most)
{
	struct fit_pollux_problem p = { .n_nodes = nodes, .capacity = capacity, .avoid_interference = avoid, .power = -1 };

	for (int m = 0; m < nodes; m++)
		p.n_gpus += capacity[m] = (uint8_t)(1 + fit_draws_below(d, most));
	return p;
}

/* The counts of a cluster, from its nodes. */
static void check_counts(const struct fit_pack *k, const struct fit_pack_counts *c)
{
	int spare = 0, wide = 0;

	for (int s = 0; s < 2; s++)
		for (int room = 1; room <= k->top; room++) {
			int n = 0;

			for (int m = 0; m < k->n_nodes; m++)
				n += k->room[m] == room && (k->avoid && k->spanning[m] > 0) == (s == 1);
			assert_int_equal(c->count[s][room], n);
			spare += s ? 0 : n * room;
			wide += s ? 0 : n;
		}
	assert_int_equal(c->spare, spare);
	assert_int_equal(c->wide, wide);
}

static void rows_are_where_there_is_room(void **state)
{
	struct fit_pack k = { 0 };
	uint8_t capacity[NODES];
	struct fit_draws d;
	int tried = 0;

	(void)state;
	fit_draws_init(&d, 1, "test/pack");
	for (int round = 0; round < 200; round++) {
		int nodes = 1 + (int)fit_draws_below(&d, NODES);
		struct fit_pollux_problem p = cluster(capacity, nodes, round % 3 != 0, &d, round % 2 ? 4 : 9);
		struct fit_pack_row rows[JOBS] = { { .n = 0 } };
		int used = 0;

		assert_int_equal(fit_pack_set(&k, &p), FIT_OK);
		for (int step = 0; step < 200; step++) {
			struct fit_pack_row *row = &rows[fit_draws_below(&d, JOBS)];
			bool several = fit_draws_below(&d, 2);
			int most, gpus, on[2] = { 0, 0 };

			fit_pack_give(&k, row);
			used -= row->replicas;
			row->n = row->replicas = 0;
			for (int m = 0; m < nodes; m++) {
				on[0] = k.room[m] > on[0] ? k.room[m] : on[0];
				on[1] += k.avoid && k.spanning[m] ? 0 : k.room[m];
			}
			most = fit_pack_most(&k, &k.now, several);
			assert_true(several ? most == on[1] || (most == 0 && k.now.wide < 2) : most == on[0]);
			if (most < 1 + several)
				continue;
			most = most > FIT_POLLUX_REPLICAS_MAX ? FIT_POLLUX_REPLICAS_MAX : most;
			gpus = 1 + several + (int)fit_draws_below(&d, (uint32_t)(most - several));
			gpus = step % 7 ? gpus : most;
			fit_pack_look(&k);
			fit_pack_try(&k, &k.then, gpus, several);
			fit_pack_choose(&k, gpus, several, row);
			assert_int_equal(row->replicas, gpus);
			assert_true(several ? row->n > 1 : row->n == 1);
			assert_true(fit_pack_fits(&k, row));
			for (int i = 0; i < row->n; i++)
				for (int h = 0; h < i; h++)
					assert_int_not_equal(row->node[i], row->node[h]);
			fit_pack_take(&k, row);
			used += gpus;
			/* trying said what taking does */
			check_counts(&k, &k.now);
			check_counts(&k, &k.then);
			assert_int_equal(k.free, p.n_gpus - used);
			tried++;
		}
		for (int i = 0; i < JOBS; i++)
			fit_pack_give(&k, &rows[i]);
		for (int m = 0; m < nodes; m++)
			assert_int_equal(k.room[m], capacity[m]);
	}
	assert_true(tried > 10000);
	fit_pack_release(&k);
}

static void small_jobs_leave_whole_nodes_to_others(void **state)
{
	uint8_t capacity[4] = { 4, 4, 4, 4 };
	struct fit_pollux_problem p = { .n_nodes = 4, .n_gpus = 16, .capacity = capacity, .avoid_interference = true };
	struct fit_pack_row a, b, c, odd = { .n = 2, .replicas = 2, .node = { 0, 1 }, .gpus = { 1, 1 } };
	struct fit_pack k = { 0 };

	(void)state;
	assert_int_equal(fit_pack_set(&k, &p), FIT_OK);
	fit_pack_choose(&k, 1, false, &a);
	assert_int_equal(a.node[0], 0);
	fit_pack_take(&k, &a);
	/* seven: a node that is whole, and the other three where one is gone */
	fit_pack_choose(&k, 7, true, &b);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.node[0], 1);
	assert_int_equal(b.gpus[0], 4);
	assert_int_equal(b.node[1], 0);
	assert_int_equal(b.gpus[1], 3);
	/* six: one whole, and two where one is gone, which shuts both */
	fit_pack_choose(&k, 6, true, &b);
	assert_int_equal(b.node[1], 0);
	fit_pack_take(&k, &b);
	assert_int_equal(fit_pack_most(&k, &k.now, true), 8);
	fit_pack_choose(&k, 1, false, &c);
	assert_int_equal(c.node[0], 0);		/* the shut one */
	assert_false(fit_pack_fits(&k, &odd));
	fit_pack_give(&k, &b);
	assert_true(fit_pack_fits(&k, &odd));
	/* two GPUs over two nodes although one has both */
	fit_pack_choose(&k, 2, true, &c);
	assert_int_equal(c.n, 2);
	fit_pack_release(&k);
}

static void gains_are_what_they_say(void **state)
{
	struct fit_draws d;

	(void)state;
	fit_draws_init(&d, 3, "test/pack");
	for (int round = 0; round < 300; round++) {
		struct fit_pollux_job job = { .max_replicas = 1 + (int)fit_draws_below(&d, 20), .restart_factor = 0.7 };
		uint8_t capacity[12], current[12] = { 0 };
		struct fit_pollux_problem p = cluster(capacity, 12, true, &d, 4);
		double power = (double[]){ -1, 1, -10, 2 }[round % 4], g_of;
		struct fit_gains g;
		int held = 0, on = 0;

		p.n_jobs = 1;
		p.jobs = &job;
		p.current = current;
		p.power = power;
		for (int r = 1; r <= job.max_replicas; r++)
			for (int s = 0; s < 2; s++)
				job.speedup[s][r] = 0.1 * (1 + fit_draws_below(&d, 60));
		for (int i = 0; i < round % 5; i++)
			current[fit_draws_below(&d, 12)] = 1 + (round % 3 == 0);
		for (int m = 0; m < 12; m++) {
			held += current[m];
			on += current[m] > 0;
		}
		fit_gains_set(&g, &p, 0, 4);
		assert_int_equal(g.max, job.max_replicas);
		if (held > g.max) {
			assert_true(g.keep < -DBL_MAX);
			held = 0;
		} else {
			double u = job.speedup[on > 1][held] * 12 / p.n_gpus + 1e-3;

			check_real(g.keep, power > 0 ? pow(u, power) : -pow(u, power), 1e-14, 0);
			assert_int_equal(g.current.n, on);
		}
		assert_int_equal(g.current.replicas, held);
		for (int r = 0; r <= g.max; r++) {
			double most = g.by_size[0][0];

			for (int s = 0; s < 2; s++) {
				double best = g.by_size[s][0];

				for (int k = s + 1; k <= r; k++) {
					double u = job.speedup[s][k] * 12 / p.n_gpus * 0.7 + 1e-3;

					g_of = power > 0 ? pow(u, power) : -pow(u, power);
					check_real(g.by_size[s][k], g_of, 1e-14, 0);
					best = fmax(best, g.by_size[s][k]);
					if (s || k <= 4)
						most = fmax(most, g.by_size[s][k]);
				}
				check_same_bits(g.by_size[s][g.up_to[s][r]], best);
				assert_true(g.up_to[s][r] <= r && !(s && g.up_to[s][r] == 1));
			}
			check_same_bits(g.hope[r], r >= held && g.keep > most ? g.keep : most);
		}
	}
}

/* The most of three jobs without nodes, by all ways to share. */
static double best_shares(const struct fit_gains *g, int n, int left)
{
	double best = -HUGE_VAL;

	for (int r = 0; r <= g->max && r <= left; r++)
		best = fmax(best, g->hope[r] + (n > 1 ? best_shares(g + 1, n - 1, left - r) : 0));
	return best;
}

/* Smallest value of the dual, by trying many prices. */
static double dual_at(const struct fit_gains *g, int n, int n_gpus, double price)
{
	double sum = price * n_gpus;

	for (int j = 0; j < n; j++) {
		double best = -HUGE_VAL;

		for (int r = 0; r <= g[j].max; r++)
			best = fmax(best, g[j].hope[r] - price * r);
		sum += best;
	}
	return sum;
}

static void the_price_is_a_bound(void **state)
{
	struct fit_gains_step steps[3 * FIT_GAIN_SIZES];
	struct fit_draws d;

	(void)state;
	fit_draws_init(&d, 4, "test/pack");
	for (int round = 0; round < 200; round++) {
		int n_gpus = 1 + (int)fit_draws_below(&d, 30), sizes[3], held = 0;
		double bound, dual, at_sizes = 0;
		struct fit_gains g[3];

		for (int j = 0; j < 3; j++) {
			double at = -10 * (double)fit_draws_below(&d, 100);

			g[j] = (struct fit_gains){ .max = 1 + (int)fit_draws_below(&d, 14) };
			for (int r = 0; r <= g[j].max; r++)
				g[j].hope[r] = at += fit_draws_below(&d, 4) ? fit_draws_below(&d, 50) / (1.0 + r) : 0;
		}
		bound = fit_gains_price(g, sizeof *g, 3, n_gpus, steps, sizes);
		assert_true(bound >= best_shares(g, 3, n_gpus) - 1e-9);
		dual = dual_at(g, 3, n_gpus, 0);
		for (int j = 0; j < 3; j++)
			for (int from = 0; from <= g[j].max; from++)
				for (int to = from + 1; to <= g[j].max; to++)
					dual = fmin(dual, dual_at(g, 3, n_gpus,
								  (g[j].hope[to] - g[j].hope[from]) / (to - from)));
		check_real(bound, dual, 1e-12, 1e-9);
		for (int j = 0; j < 3; j++) {
			held += sizes[j];
			at_sizes += g[j].hope[sizes[j]];
		}
		assert_true(held <= n_gpus);
		assert_true(at_sizes <= bound + 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_where_there_is_room),
		cmocka_unit_test(small_jobs_leave_whole_nodes_to_others),
		cmocka_unit_test(gains_are_what_they_say),
		cmocka_unit_test(the_price_is_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
