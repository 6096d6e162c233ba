/* SPDX-License-Identifier: MIT */
/* Shares of time on several GPU types: small problems with optima by hand, and the proofs that come. */
#include "libfit/model/shares.h"
#include "libfit/replay/type_shuffle.h"
#include "tests/unit/check.h"

/* Two jobs of one GPU each, one GPU of each of two types. With the whole cluster in use job 0 has a of the
 * first type and 1 - a of the second, job 1 the rest: rates 1 + a and 3 - 2 a. */
static struct fit_share_job two_jobs[2];
static const double two_rates[] = { 2, 1, 3, 1 }, one_each[] = { 1, 1 };

static struct fit_share_problem two(void)
{
	two_jobs[0] = (struct fit_share_job){ .gpus = 1, .weight = 1, .steps = 1 };
	two_jobs[1] = (struct fit_share_job){ .gpus = 1, .weight = 1, .steps = 1 };
	return (struct fit_share_problem){ .n_jobs = 2, .n_types = 2, .jobs = two_jobs, .rates = two_rates,
					   .gpus = one_each };
}

static void solved(const struct fit_share_problem *p, const char *name, double value, double *x)
{
	const struct fit_share_objective *o = fit_share_objective_find(name);
	struct fit_share_solution s = { 0 };
	struct fit_err err;

	assert_non_null(o);
	check_ok(o->solve(p, x, &s, &err), &err);
	check_real(s.objective, value, 1e-8, 0);
	check_real(s.bound, value, 1e-8, 0);
	check_real(o->value(p, x), value, 1e-8, 0);
	assert_null(fit_shares_check(p, x, 1e-12));
}

static void optima_by_hand(void **state)
{
	struct fit_share_problem p = two();
	double x[4];

	(void)state;
	solved(&p, "min-makespan", 0.6, x);	/* 1 + a = 3 - 2 a */
	check_real(x[0], 2.0 / 3, 1e-6, 0);
	check_real(x[1], 1.0 / 3, 1e-6, 0);
	solved(&p, "max-min-fairness", 1, x);	/* (1 + a) / 1.5 = (3 - 2 a) / 2 */
	check_real(x[0], 0.5, 1e-6, 0);
	solved(&p, "max-min-fairness-agnostic", 1, x);
	solved(&p, "finish-time-fairness", 1, x);
	solved(&p, "max-throughput", 4, x);	/* 4 - a */
	check_real(x[2], 1, 0, 1e-6);
	solved(&p, "isolated", 1, x);
	check_real(x[3], 0.5, 0, 0);
	solved(&p, "fifo", 3, x);
	check_real(x[0], 1, 0, 0);
	check_real(x[3], 1, 0, 0);
	two_jobs[0].weight = 2;			/* (1 + a) / 3 = (3 - 2 a) / 2 */
	solved(&p, "max-min-fairness", 5.0 / 8, x);
	check_real(x[0], 7.0 / 8, 1e-6, 0);
	two_jobs[0].steps = 3;			/* (1 + a) / 3 = 3 - 2 a, but a is 1 at most */
	solved(&p, "min-makespan", 1.5, x);
}

/* The largest rho of the two at a, from the definition. */
static double rho_at(double a)
{
	double rate[] = { 1 + a, 3 - 2 * a }, equal[] = { 1.5, 2 }, most = 0;

	for (int j = 0; j < 2; j++)
		most = fmax(most, (two_jobs[j].elapsed_s + two_jobs[j].steps / rate[j]) /
				  (two_jobs[j].isolated_s + two_jobs[j].steps / equal[j]));
	return most;
}

static void finish_time_fairness_of_old_jobs(void **state)
{
	static const double elapsed[] = { 0, 3, 10, 400 }, isolated[] = { 0, 2.5, 14, 100 };
	struct fit_share_problem p = two();
	double x[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			double low = 0, high = 1;

			two_jobs[0] = (struct fit_share_job){ .gpus = 1, .weight = 1, .steps = 20,
							      .elapsed_s = elapsed[i], .isolated_s = isolated[k] };
			two_jobs[1] = (struct fit_share_job){ .gpus = 1, .weight = 1, .steps = 7,
							      .elapsed_s = elapsed[k], .isolated_s = isolated[i] };
			for (int n = 0; n < 200; n++) {	/* one falls and one rises with a */
				double a = low + (high - low) / 3, b = high - (high - low) / 3;

				if (rho_at(a) < rho_at(b))
					high = b;
				else
					low = a;
			}
			solved(&p, "finish-time-fairness", rho_at(low), x);
		}
}

static void prices_and_limits(void **state)
{
	static const double prices[] = { 4, 1 };
	const struct fit_share_objective *o = fit_share_objective_find("max-throughput");
	struct fit_share_problem p = two();
	struct fit_share_solution s = { 0 };
	struct fit_err err;
	double x[4];

	(void)state;
	p.prices = prices;	/* a 2/4 + 1 - a + (1 - a) 3/4 + a = 1.75 - a / 4 */
	solved(&p, "max-throughput", 1.75, x);
	p.prices = NULL;
	two_jobs[0].limit_s = 1 / 1.5;	/* 1 + a >= 1.5 */
	solved(&p, "max-throughput", 3.5, x);
	check_real(x[0], 0.5, 1e-6, 0);
	two_jobs[1].limit_s = 1 / 2.5;	/* 3 - 2 a >= 2.5 cannot be, too */
	check_ok(o->solve(&p, x, &s, &err), &err);
	assert_true(s.limits_ignored);
	check_real(s.objective, 4, 1e-8, 0);
}

/* Many jobs, some of several GPUs, some that do not run everywhere: solutions are feasible, proofs close. */
static void proofs(void **state)
{
	enum { M = 40, K = 3 };
	static struct fit_share_job jobs[M];
	static double rates[M * K], x[M * K];
	static const double gpus[K] = { 4, 8, 5 };
	const struct fit_share_problem p = { .n_jobs = M, .n_types = K, .jobs = jobs, .rates = rates, .gpus = gpus };
	uint32_t seed = 12345;

	(void)state;
	for (int j = 0; j < M; j++) {
		seed = seed * 1664525u + 1013904223u;
		jobs[j] = (struct fit_share_job){
			.gpus = 1 << (seed >> 30), .weight = 1 + (seed >> 20) % 3,
			.steps = 100 + (seed >> 8) % 5000, .elapsed_s = j % 3 ? (seed >> 12) % 900 : 0,
			.isolated_s = j % 3 ? (seed >> 16) % 700 : 0,
		};
		for (int t = 0; t < K; t++)
			rates[j * K + t] = (seed >> (3 * t)) % 7 == 0 && t ? 0 : 0.25 + (seed >> (5 * t)) % 37;
	}
	for (const struct fit_share_objective *o = fit_share_objectives; o->name; o++) {
		struct fit_share_solution s = { 0 };
		struct fit_err err;

		check_ok(o->solve(&p, x, &s, &err), &err);
		assert_null(fit_shares_check(&p, x, 1e-9));
		check_real(o->value(&p, x), s.objective, 1e-8, 0);
		check_real(s.bound, s.objective, 2e-8, 0);
	}
	x[0] = 2;
	check_text(fit_shares_check(&p, x, 1e-9), "a job has more than all of the time");
	x[0] = -1;
	check_text(fit_shares_check(&p, x, 1e-9), "a share is negative");
}

static void shuffles(void **state)
{
	/* those of CPython's random.Random(5).shuffle() */
	static const char *const want[] = { "0132", "2310", "1230", "3012", "1023", "3201" };
	struct fit_type_shuffle s;

	(void)state;
	fit_type_shuffle_init(&s, 5);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		size_t list[] = { 0, 1, 2, 3 };

		fit_type_shuffle(&s, list, 4);
		for (int k = 0; k < 4; k++)
			assert_int_equal(list[k], want[i][k] - '0');
	}
}

/* Entries that GLPK cannot scale, which would end the process. */
static void rates_too_far_apart(void **state)
{
	static const double apart[] = { 1e299, 1, 1e-310, 1 }, far[] = { 1e6, 1, 1e-6, 1 };
	static const char *const names[] = { "max-min-fairness", "min-makespan", "max-throughput" };
	struct fit_share_problem p = two();
	struct fit_share_solution s;
	struct fit_err err;
	double x[4];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct fit_share_objective *o = fit_share_objective_find(names[i]);

		p.rates = apart;
		assert_int_equal(o->solve(&p, x, &s, &err), FIT_ENOCONV);
		assert_non_null(strstr(err.msg, "shares of 2 jobs: rates, or steps left, too far apart"));
		p.rates = far;		/* so far is no matter */
		assert_int_equal(o->solve(&p, x, &s, &err), FIT_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(optima_by_hand), cmocka_unit_test(finish_time_fairness_of_old_jobs),
		cmocka_unit_test(prices_and_limits), cmocka_unit_test(proofs), cmocka_unit_test(shuffles),
		cmocka_unit_test(rates_too_far_apart)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
