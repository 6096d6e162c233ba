/* SPDX-License-Identifier: MIT */
/* The verifier's tree of queues, against a list that is sorted and summed anew. */
#include "tests/unit/check.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

#include "libfit/base/rng.h"
#include "libfit/verify/verify_state.h"

enum { N = 60, STEPS = 20000 };

static void change(struct verify_live *l, gsl_rng *r)
{
	l->holds = gsl_rng_uniform_int(r, 2);
	l->due_ns = (int64_t)gsl_rng_uniform_int(r, 1000);
	l->wake_ns = gsl_rng_uniform_int(r, 3) ? (int64_t)gsl_rng_uniform_int(r, 1000) : NEVER;
	l->tick_ns = gsl_rng_uniform_int(r, 3) ? NEVER : (int64_t)gsl_rng_uniform_int(r, 1000);
}

/* Those that are in, by insertion into a sorted list. */
static size_t in_order(const struct fit_verifier *v, uint32_t *a)
{
	size_t n = 0;

	for (uint32_t i = 0; i < N; i++) {
		size_t k = n;

		if (v->live[i].queue == UINT8_MAX)
			continue;
		for (; k > 0 && verify_rank_order(v, a[k - 1], i) > 0; k--)
			a[k] = a[k - 1];
		a[k] = i;
		n++;
	}
	return n;
}

static void agrees(struct fit_verifier *v, int64_t due_by)
{
	uint32_t a[N];
	size_t n = in_order(v, a), at = 0;
	struct verify_sum s = verify_rank_sum(v, v->ranks);
	double held = 0, least = (double)INFINITY, need = (double)INFINITY;
	int64_t due = NEVER, wake = NEVER, tick = NEVER;

	v->order.n = 0;
	verify_rank_list(v, v->ranks, due_by, &v->order);
	for (size_t i = 0; i < n; i++) {
		const struct verify_live *l = &v->live[a[i]];
		double gpus = v->jobs[l->job].gpus;

		assert_int_equal(verify_rank_of(v, a[i]), i);
		if (l->holds) {
			held += gpus;
		} else {
			least = gpus < least ? gpus : least;
			need = held + gpus < need ? held + gpus : need;
		}
		due = l->due_ns < due ? l->due_ns : due;
		wake = l->wake_ns < wake ? l->wake_ns : wake;
		tick = l->tick_ns < tick ? l->tick_ns : tick;
		if (l->due_ns > due_by)
			continue;
		assert_true(at < v->order.n);
		assert_int_equal(v->order.a[at++], a[i]);
	}
	assert_int_equal(at, v->order.n);
	assert_int_equal(s.n, n);
	assert_int_equal(s.due_ns, due);
	assert_int_equal(s.wake_ns, wake);
	assert_int_equal(s.tick_ns, tick);
	assert_true(s.held <= held && s.held >= held);
	assert_true(s.least <= least && s.least >= least);
	assert_true(s.need <= need && s.need >= need);
}

static void agrees_with_a_list(void **state)
{
	struct fit_verifier *v = calloc(1, sizeof *v);
	gsl_rng *r = fit_rng_new(5, "test/verify-ranks");

	(void)state;
	assert_non_null(v);
	assert_non_null(r);
	v->ranks = NONE;
	v->live = calloc(N, sizeof *v->live);
	v->jobs = calloc(N, sizeof *v->jobs);
	assert_non_null(v->live);
	assert_non_null(v->jobs);
	for (uint32_t i = 0; i < N; i++) {
		v->live[i].queue = UINT8_MAX;
		v->live[i].job = N - 1 - i;
		v->jobs[i].gpus = 1 << gsl_rng_uniform_int(r, 4);
	}
	agrees(v, NEVER);
	for (int k = 0; k < STEPS; k++) {
		uint32_t i = (uint32_t)gsl_rng_uniform_int(r, N);
		struct verify_live *l = &v->live[i];

		if (l->queue == UINT8_MAX) {
			change(l, r);
			l->queue = (uint8_t)gsl_rng_uniform_int(r, 3);
			l->behind = gsl_rng_uniform_int(r, 2);
			l->place = gsl_rng_uniform_int(r, 2) ? v->n_places++ : -++v->n_first_places;
			verify_rank_insert(v, i);
		} else if (gsl_rng_uniform_int(r, 2)) {
			change(l, r);
			verify_rank_update(v, i);
		} else {
			verify_rank_remove(v, i);
			l->queue = UINT8_MAX;
		}
		agrees(v, k % 2 ? NEVER : (int64_t)gsl_rng_uniform_int(r, 1000));
	}
	free(v->order.a);
	free(v->live);
	free(v->jobs);
	free(v);
	gsl_rng_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_a_list) };

	return cmocka_run_group_tests_name("verify-ranks", tests, NULL, NULL);
}
