/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <gsl/gsl_rng.h>

#include "libfit/base/rng.h"
#include "libfit/model/sia_ilp.h"

enum { JOBS = 5, OPTIONS = 6, TYPES = 2 };

struct instance {
	struct fit_sia_option options[JOBS][OPTIONS];
	struct fit_sia_job jobs[JOBS];
	int64_t capacity[TYPES];
	size_t n;
};

/* cost, GPUs, changes, then the vector itself */
struct best {
	int64_t key[3];
	int32_t choice[JOBS];
	bool found;
};

static void compare(const int64_t *key, const int32_t *choice, size_t n, struct best *b)
{
	if (b->found) {
		for (int k = 0; k < 3; k++) {
			if (key[k] > b->key[k])
				return;
			if (key[k] < b->key[k])
				break;
			if (k < 2)
				continue;
			for (size_t j = 0; j < n; j++) {
				if (choice[j] > b->choice[j])
					return;
				if (choice[j] < b->choice[j])
					break;
				if (j == n - 1)
					return;
			}
		}
	}
	memcpy(b->key, key, sizeof b->key);
	memcpy(b->choice, choice, n * sizeof *choice);
	b->found = true;
}

/* All assignments, one after the other. */
static void enumerate(const struct instance *p, size_t j, int32_t *choice, const int64_t *left, const int64_t *key,
		      struct best *b)
{
	const struct fit_sia_job *job = &p->jobs[j];

	if (j == p->n) {
		compare(key, choice, p->n, b);
		return;
	}
	for (int i = -1; i < (int)job->n; i++) {
		const struct fit_sia_option *o = i < 0 ? NULL : &job->options[i];
		int64_t rest[TYPES], k[3];

		if (job->pinned && (!o || o->config != job->current))
			continue;
		memcpy(rest, left, sizeof rest);
		memcpy(k, key, sizeof k);
		if (o && (rest[o->type] -= o->gpus) < 0)
			continue;
		k[0] += o ? o->cost : job->cost;
		k[1] += o ? o->gpus : 0;
		choice[j] = o ? o->config : FIT_SIA_NOTHING;
		k[2] += job->current >= 0 && choice[j] != job->current;
		enumerate(p, j + 1, choice, rest, k, b);
	}
}

static void draw(gsl_rng *r, struct instance *p)
{
	/* few different costs, so that ties are common */
	const unsigned long spread = 2 + gsl_rng_uniform_int(r, 12);

	p->n = gsl_rng_uniform_int(r, JOBS + 1);
	for (int t = 0; t < TYPES; t++)
		p->capacity[t] = (int64_t)gsl_rng_uniform_int(r, 9);
	for (size_t j = 0; j < p->n; j++) {
		size_t n = gsl_rng_uniform_int(r, OPTIONS + 1);

		for (size_t i = 0; i < n; i++)
			p->options[j][i] = (struct fit_sia_option){
				.config = (int32_t)(2 * i + 1), .type = (int32_t)gsl_rng_uniform_int(r, TYPES),
				.gpus = 1 << gsl_rng_uniform_int(r, 3),
				.cost = (int64_t)gsl_rng_uniform_int(r, spread) - 1 };
		p->jobs[j] = (struct fit_sia_job){ p->options[j], n, (int64_t)gsl_rng_uniform_int(r, spread + 3),
						   n && gsl_rng_uniform_int(r, 2) ? p->options[j][n - 1].config :
						   FIT_SIA_NOTHING, false };
		p->jobs[j].pinned = p->jobs[j].current >= 0 && gsl_rng_uniform_int(r, 5) == 0;
	}
}

/* Of a choice that fits; INT64_MAX: it does not. */
static int64_t cost_of(const struct instance *p, const int32_t *choice)
{
	int64_t left[TYPES], cost = 0;

	memcpy(left, p->capacity, sizeof left);
	for (size_t j = 0; j < p->n; j++) {
		const struct fit_sia_job *job = &p->jobs[j];

		if (job->pinned && choice[j] != job->current)
			return INT64_MAX;
		if (choice[j] < 0)
			cost += job->cost;
		for (size_t i = 0; i < job->n; i++) {
			if (job->options[i].config != choice[j])
				continue;
			cost += job->options[i].cost;
			if ((left[job->options[i].type] -= job->options[i].gpus) < 0)
				return INT64_MAX;
		}
	}
	return cost;
}

static void agrees_with_enumeration(void **state)
{
	gsl_rng *r = fit_rng_new(7, "test/sia");
	const int64_t zero[3] = { 0 };
	int solved = 0, infeasible = 0;

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 4000; k++) {
		int32_t choice[JOBS], scratch[JOBS];
		struct fit_sia_answer a;
		struct best b = { .found = false };
		struct fit_err err;
		struct instance p;
		int rc;

		draw(r, &p);
		enumerate(&p, 0, scratch, p.capacity, zero, &b);
		rc = fit_sia_solve(p.jobs, p.n, p.capacity, TYPES, choice, &a, &err);
		assert_int_equal(rc, b.found ? FIT_OK : FIT_EINVAL);
		solved += b.found;
		infeasible += !b.found;
		if (!b.found)
			continue;
		assert_int_equal(a.cost, b.key[0]);
		assert_int_equal(a.gpus, b.key[1]);
		assert_int_equal(a.changed, b.key[2]);
		assert_true(a.bound <= a.cost);
		if (p.n)
			assert_memory_equal(choice, b.choice, p.n * sizeof *choice);
		assert_int_equal(fit_sia_solve_large(p.jobs, p.n, p.capacity, TYPES, scratch, &err), FIT_OK);
		assert_int_equal(cost_of(&p, scratch), a.cost);
	}
	assert_true(solved > 3000 && infeasible > 10);
	gsl_rng_free(r);
}

/* ---- larger ones ---- */

enum { MANY = 48, CONFIGS = 8, SIDE = 20 };

struct large {
	struct fit_sia_option options[MANY][CONFIGS];
	struct fit_sia_job jobs[MANY];
	int64_t capacity[TYPES];
	size_t n;
};

/* A few kinds of jobs, so that many are alike, on powers of two of two types. */
static void draw_large(gsl_rng *r, struct large *p)
{
	int64_t cost[4][CONFIGS];

	for (int k = 0; k < 4; k++)
		for (int i = 0; i < CONFIGS; i++)
			cost[k][i] = 110 - (int64_t)gsl_rng_uniform_int(r, 30) - 15 * (i % 4);
	p->n = 10 + gsl_rng_uniform_int(r, MANY - 9);
	for (int t = 0; t < TYPES; t++)
		p->capacity[t] = 4 + (int64_t)gsl_rng_uniform_int(r, SIDE - 4);
	for (size_t j = 0; j < p->n; j++) {
		size_t kind = gsl_rng_uniform_int(r, 4);

		for (int i = 0; i < CONFIGS; i++)
			p->options[j][i] = (struct fit_sia_option){ .config = i, .type = i / 4, .gpus = 1 << i % 4,
								    .cost = cost[kind][i] + (gsl_rng_uniform_int(r, 5) == 0) };
		p->jobs[j] = (struct fit_sia_job){ p->options[j], CONFIGS, 110, j % 3 ? (int32_t)(j % CONFIGS) :
						   FIT_SIA_NOTHING, false };
	}
}

struct cell {
	bool found;
	int64_t key[3];
	int32_t choice[MANY];
};

/* Job by job over all numbers of used GPUs, with nothing left out: the definition, written down once more. */
static void by_table(const struct large *p, struct best *b, int32_t *choice)
{
	static struct cell table[2][SIDE + 1][SIDE + 1];
	int at = 0;

	memset(table, 0, sizeof table);
	table[0][0][0].found = true;
	for (size_t j = 0; j < p->n; j++, at = !at) {
		memset(table[!at], 0, sizeof table[!at]);
		for (int x = 0; x <= p->capacity[0]; x++) {
			for (int y = 0; y <= p->capacity[1]; y++) {
				const struct cell *from = &table[at][x][y];

				for (int i = -1; i < CONFIGS && from->found; i++) {
					const struct fit_sia_option *o = i < 0 ? NULL : &p->options[j][i];
					int u = x + (o && o->type == 0 ? o->gpus : 0), v = y + (o && o->type == 1 ? o->gpus : 0);
					struct cell new = *from, *to;

					if (u > p->capacity[0] || v > p->capacity[1])
						continue;
					to = &table[!at][u][v];
					new.key[0] += o ? o->cost : p->jobs[j].cost;
					new.key[1] += o ? o->gpus : 0;
					new.key[2] += p->jobs[j].current >= 0 && i != p->jobs[j].current;
					new.choice[j] = i;
					if (!to->found || memcmp(new.key, to->key, sizeof new.key)) {
						bool less = !to->found;

						for (int k = 2; to->found && k >= 0; k--)
							if (new.key[k] != to->key[k])
								less = new.key[k] < to->key[k];
						if (less)
							*to = new;
						continue;
					}
					for (size_t k = 0; k <= j; k++) {
						if (new.choice[k] == to->choice[k])
							continue;
						if (new.choice[k] < to->choice[k])
							*to = new;
						break;
					}
				}
			}
		}
	}
	b->found = false;
	for (int x = 0; x <= p->capacity[0]; x++) {
		for (int y = 0; y <= p->capacity[1]; y++) {
			const struct cell *c = &table[at][x][y];
			bool less = c->found && !b->found;

			if (!c->found)
				continue;
			for (size_t k = p->n; b->found && k-- > 0;)
				if (c->choice[k] != choice[k])
					less = c->choice[k] < choice[k];
			for (int k = 2; b->found && k >= 0; k--)
				if (c->key[k] != b->key[k])
					less = c->key[k] < b->key[k];
			if (!less)
				continue;
			b->found = true;
			memcpy(b->key, c->key, sizeof b->key);
			memcpy(choice, c->choice, p->n * sizeof *choice);
		}
	}
}

static void agrees_with_a_whole_table(void **state)
{
	gsl_rng *r = fit_rng_new(7, "test/sia-large");

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 60; k++) {
		int32_t choice[MANY], want[MANY];
		struct fit_sia_answer a;
		static struct large p;
		struct fit_err err;
		struct best b;

		draw_large(r, &p);
		by_table(&p, &b, want);
		assert_int_equal(fit_sia_solve(p.jobs, p.n, p.capacity, TYPES, choice, &a, &err), FIT_OK);
		assert_false(a.any_tie);
		assert_int_equal(a.cost, b.key[0]);
		assert_int_equal(a.gpus, b.key[1]);
		assert_int_equal(a.changed, b.key[2]);
		assert_true(a.bound <= a.cost);
		assert_memory_equal(choice, want, p.n * sizeof *choice);
	}
	gsl_rng_free(r);
}

/* 2 048 GPUs of three types, 400 jobs in groups that are alike. The answer fits, costs what it
 * says, and is within three hundredths of what prices alone prove. */
static void solves_large_ones(void **state)
{
	enum { N = 400, C = 19, T = 3 };
	static const int64_t capacity[T] = { 768, 512, 768 };
	static const int32_t most[T] = { 64, 16, 24 };
	static struct fit_sia_option options[N][C];
	gsl_rng *r = fit_rng_new(7, "test/sia-huge");

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 6; k++) {
		int64_t left[T] = { 768, 512, 768 }, cost = 0;
		static struct fit_sia_job jobs[N];
		static int32_t choice[N];
		struct fit_sia_answer a;
		struct fit_err err;

		for (size_t j = 0; j < N; j++) {
			size_t c = 0;
			double speed = 0.3 + 0.6 * gsl_rng_uniform(r);

			if (j % 8) {	/* as the one before */
				memcpy(options[j], options[j - 1], sizeof options[j]);
				jobs[j] = jobs[j - 1];
				jobs[j].options = options[j];
				continue;
			}
			for (int32_t t = 0; t < T; t++)
				for (int32_t g = 1; g <= most[t] && c < C; g *= 2, c++)
					options[j][c] = (struct fit_sia_option){ (int32_t)c, t, g,
						(int64_t)(100 / (pow(g, speed) * (1 + 0.7 * t * gsl_rng_uniform(r)))) };
			jobs[j] = (struct fit_sia_job){ options[j], c, 110, (int32_t)(j % c), false };
		}
		assert_int_equal(fit_sia_solve(jobs, N, capacity, T, choice, &a, &err), FIT_OK);
		assert_false(a.by_glpk);
		for (size_t j = 0; j < N; j++) {
			if (choice[j] < 0)
				cost += 110;
			for (size_t i = 0; i < jobs[j].n; i++)
				if (options[j][i].config == choice[j]) {
					cost += options[j][i].cost;
					left[options[j][i].type] -= options[j][i].gpus;
				}
		}
		assert_int_equal(cost, a.cost);
		assert_true(a.bound <= a.cost && a.cost <= a.bound + 3);
		for (int t = 0; t < T; t++)
			assert_true(left[t] >= 0);
	}
	gsl_rng_free(r);
}

static void refuses_nonsense(void **state)
{
	const struct fit_sia_option type = { 0, 2, 1, 5 }, none = { 0, 0, 0, 5 }, dear = { 0, 0, 1, 2000000 };
	const struct fit_sia_option *const wrong[] = { &type, &none, &dear };
	const int64_t capacity[TYPES] = { 4, 4 }, negative[TYPES] = { 4, -1 };
	const struct fit_sia_option fine = { 3, 0, 2, 5 };
	struct fit_sia_job job = { &fine, 1, 110, 4, true };
	struct fit_sia_answer a;
	struct fit_err err;
	int32_t choice;

	(void)state;
	assert_int_equal(fit_sia_solve(&job, 1, capacity, TYPES, &choice, &a, &err), FIT_EINVAL);
	assert_string_equal(err.msg, "job 0 of an assignment: a pinned job has no current option");
	job.pinned = false;
	assert_int_equal(fit_sia_solve(&job, 1, negative, TYPES, &choice, &a, &err), FIT_EINVAL);
	assert_int_equal(fit_sia_solve(&job, 1, capacity, 0, &choice, &a, &err), FIT_EINVAL);
	assert_int_equal(fit_sia_solve(&job, 1, capacity, TYPES, &choice, &a, &err), FIT_OK);
	assert_int_equal(choice, 3);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		job.options = wrong[i];
		assert_int_equal(fit_sia_solve(&job, 1, capacity, TYPES, &choice, &a, &err), FIT_EINVAL);
	}
}

/* Costs and GPUs at the ends of their types, which fit_sia_solve() would refuse: an answer that fits or an
 * error, and never the end of the process. */
static void extremes_for_glpk(void **state)
{
	static const int64_t costs[] = { 0, 1, -1, INT64_MAX / 2, INT64_MIN / 2, INT64_C(1) << 53,
					 -FIT_SIA_COST_MAX };
	static const int64_t rooms[] = { 0, 1, INT32_MAX, INT64_MAX / 2 };
	static const int32_t gpus[] = { 1, 2, INT32_MAX };
	gsl_rng *r = fit_rng_new(7, "test/sia-extremes");
	int solved = 0;

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 400; k++) {
		int32_t choice[JOBS];
		struct instance p = { .n = 1 + gsl_rng_uniform_int(r, JOBS) };
		struct fit_err err;
		int rc;

		for (int t = 0; t < TYPES; t++)
			p.capacity[t] = rooms[gsl_rng_uniform_int(r, 4)];
		for (size_t j = 0; j < p.n; j++) {
			for (int i = 0; i < OPTIONS; i++)
				p.options[j][i] = (struct fit_sia_option){
					.config = i, .type = i % TYPES, .gpus = gpus[gsl_rng_uniform_int(r, 3)],
					.cost = costs[gsl_rng_uniform_int(r, 7)] };
			p.jobs[j] = (struct fit_sia_job){ p.options[j], OPTIONS, costs[gsl_rng_uniform_int(r, 7)],
							  FIT_SIA_NOTHING, false };
		}
		rc = fit_sia_solve_large(p.jobs, p.n, p.capacity, TYPES, choice, &err);
		if (rc) {
			assert_int_equal(rc, FIT_ENOCONV);
			continue;
		}
		solved++;
		for (int t = 0; t < TYPES; t++) {
			int64_t used = 0;

			for (size_t j = 0; j < p.n; j++)
				if (choice[j] >= 0 && choice[j] % TYPES == t)
					used += p.options[j][choice[j]].gpus;
			assert_true(used <= p.capacity[t]);
		}
	}
	assert_true(solved > 100);
	gsl_rng_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_enumeration),
		cmocka_unit_test(agrees_with_a_whole_table),
		cmocka_unit_test(solves_large_ones),
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(extremes_for_glpk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
