/* SPDX-License-Identifier: MIT */
/* The verifier's own search for a better assignment, against enumeration. */
#include "tests/unit/check.h"

#include <gsl/gsl_rng.h>

#include "libfit/base/rng.h"
#include "libfit/verify/verify_state.h"

enum { JOBS = 6, CHOICES = 5, TYPES = 3 };

static int64_t least_sum(const struct verify_sia_problem *p, size_t j, const int64_t *left)
{
	int64_t best = INT64_MAX / 2;

	if (j == p->n_jobs)
		return 0;
	for (size_t i = p->first[j]; i < p->first[j + 1]; i++) {
		const struct verify_sia_choice *c = &p->choices[i];
		int64_t rest[VERIFY_SIA_TYPES], sum;

		memcpy(rest, left, sizeof rest);
		if ((rest[c->type] -= c->gpus) < 0)
			continue;
		sum = c->cost + least_sum(p, j + 1, rest);
		best = sum < best ? sum : best;
	}
	return best;
}

static void agrees_with_enumeration(void **state)
{
	gsl_rng *r = fit_rng_new(7, "test/verify-sia-bound");
	int exact = 0;

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 3000; k++) {
		struct verify_sia_choice choices[JOBS * CHOICES];
		size_t first[JOBS + 1], n = 0;
		struct verify_sia_problem p = { .choices = choices, .first = first, .n_types = TYPES,
						.n_jobs = gsl_rng_uniform_int(r, JOBS + 1) };
		unsigned long spread = 3 + gsl_rng_uniform_int(r, 150);
		enum verify_sia_found found;
		int64_t best;

		for (size_t j = 0; j < p.n_jobs; j++) {
			first[j] = n;
			choices[n++] = (struct verify_sia_choice){ 110, 0, 0 };
			for (size_t i = 1; i < CHOICES; i++)
				choices[n++] = (struct verify_sia_choice){ (int64_t)gsl_rng_uniform_int(r, spread) - 5,
									   1 << gsl_rng_uniform_int(r, 4),
									   gsl_rng_uniform_int(r, TYPES) };
		}
		first[p.n_jobs] = n;
		for (size_t t = 0; t < TYPES; t++)
			p.capacity[t] = (int64_t)gsl_rng_uniform_int(r, 14);
		best = least_sum(&p, 0, p.capacity);
		for (int64_t off = -3; off <= 3; off++) {
			assert_int_equal(verify_sia_search(&p, best + off, &found), FIT_OK);
			assert_int_equal(found, off < 0 ? SIA_NONE_BETTER : SIA_BETTER);
			exact++;
		}
	}
	assert_true(exact == 21000);
	gsl_rng_free(r);
}

/* Many alike jobs: what is far above the optimum is found, what is far below is ruled out by prices alone. */
static void many_jobs(void **state)
{
	enum { N = 60 };
	struct verify_sia_choice choices[4 * N];
	size_t first[N + 1];
	struct verify_sia_problem p = { .choices = choices, .first = first, .n_types = 2, .n_jobs = N,
					.capacity = { 61, 59 } };
	enum verify_sia_found found;
	int64_t known = 0;

	(void)state;
	for (size_t j = 0; j < N; j++) {
		const int64_t odd = (int64_t)(j % 7);

		first[j] = 4 * j;
		choices[4 * j] = (struct verify_sia_choice){ 110, 0, 0 };
		choices[4 * j + 1] = (struct verify_sia_choice){ 100 - odd, 2, 0 };
		choices[4 * j + 2] = (struct verify_sia_choice){ 100 - odd, 2, 1 };
		choices[4 * j + 3] = (struct verify_sia_choice){ 90 - 2 * odd, 4, j % 2 };
		known += 110;
	}
	first[N] = 4 * N;
	assert_int_equal(verify_sia_search(&p, known, &found), FIT_OK);
	assert_int_equal(found, SIA_BETTER);
	assert_int_equal(verify_sia_search(&p, 0, &found), FIT_OK);
	assert_int_equal(found, SIA_NONE_BETTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_enumeration), cmocka_unit_test(many_jobs) };

	return cmocka_run_group_tests_name("verify-sia-bound", tests, NULL, NULL);
}
