/* SPDX-License-Identifier: MIT */
/* The profiler against a simulation that steps through every second, and forecasts. */
#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/replay/profiler.h"
#include "tests/unit/check.h"

enum { JOBS = 300, NODES = 2, GPUS = 8, LIMIT = 80, MOST = 4 };

struct slow {
	int start, end;
	int node;
};

static bool comes_first(const struct fit_job *jobs, int a, int b, bool naive)
{
	if (!naive && jobs[a].gpus != jobs[b].gpus)
		return jobs[a].gpus < jobs[b].gpus;
	return jobs[a].submit_ns != jobs[b].submit_ns ? jobs[a].submit_ns < jobs[b].submit_ns : a < b;
}

/* As the published simulator goes about it; jobs of up to a node, so that one node each will do. */
static void step_by_step(const struct fit_job *jobs, struct slow *out, bool naive)
{
	int free_gpus[NODES] = { GPUS, GPUS }, left = 0;

	for (int i = 0; i < JOBS; i++) {
		out[i] = (struct slow){ -1, -1, -1 };
		left += jobs[i].gpus <= MOST;
	}
	for (int t = 0; left; t++) {
		for (int i = 0; i < JOBS; i++) {
			if (out[i].start >= 0 && out[i].end == t) {
				free_gpus[out[i].node] += (int)jobs[i].gpus;
				left--;
			}
		}
		for (;;) {
			int head = -1, node = -1, runs;

			for (int i = 0; i < JOBS; i++)
				if (jobs[i].gpus <= MOST && out[i].start < 0 && jobs[i].submit_ns <= t * FIT_NS_PER_S &&
				    (head < 0 || comes_first(jobs, i, head, naive)))
					head = i;
			if (head < 0)
				break;
			for (int k = 0; k < NODES; k++)
				if (free_gpus[k] >= jobs[head].gpus && (node < 0 || free_gpus[k] < free_gpus[node]))
					node = k;
			if (node < 0)
				break;
			runs = (int)(jobs[head].duration_ns / FIT_NS_PER_S);
			out[head] = (struct slow){ t, t + (runs < LIMIT ? runs : LIMIT), node };
			free_gpus[node] -= (int)jobs[head].gpus;
		}
	}
}

static void compare(bool naive)
{
	static struct fit_job jobs[JOBS];
	static struct slow want[JOBS];
	struct fit_jobs js = { .jobs = jobs, .n = JOBS };
	struct fit_profiler_params p = fit_profiler_params_default();
	struct fit_profiling got;
	gsl_rng *r = fit_rng_new(5, "test/profiler");
	size_t profiled = 0, finished = 0;
	int64_t t = 0;

	assert_non_null(r);
	for (int i = 0; i < JOBS; i++) {
		t += (int64_t)gsl_rng_uniform_int(r, 9);
		jobs[i] = (struct fit_job){ .id = "x", .submit_ns = t * FIT_NS_PER_S,
					    .gpus = 1 + (int64_t)gsl_rng_uniform_int(r, 6),
					    .duration_ns = (int64_t)(1 + gsl_rng_uniform_int(r, 200)) * FIT_NS_PER_S };
	}
	gsl_rng_free(r);
	p.nodes = NODES;
	p.limit_ns = LIMIT * FIT_NS_PER_S;
	p.most_gpus = MOST;
	p.naive = naive;
	assert_null(fit_profiler_params_check(&p));
	step_by_step(jobs, want, naive);
	assert_int_equal(fit_profiler_run(&got, &js, &p, NULL), FIT_OK);
	for (int i = 0; i < JOBS; i++) {
		const struct fit_profiled *x = &got.jobs[i];

		if (want[i].start < 0) {
			assert_true(x->start_ns < 0);
			continue;
		}
		assert_int_equal(x->start_ns, want[i].start * FIT_NS_PER_S);
		assert_int_equal(x->end_ns, want[i].end * FIT_NS_PER_S);
		assert_int_equal(x->n_nodes, 1);
		assert_int_equal(got.shares[x->nodes_at].node, want[i].node);
		assert_int_equal(x->finished, jobs[i].duration_ns <= p.limit_ns);
		profiled++;
		finished += x->finished;
	}
	assert_int_equal(got.n_profiled, profiled);
	assert_int_equal(got.n_finished, finished);
	assert_int_equal(got.n_events, 2 * profiled);
	for (size_t i = 1; i < got.n_events; i++)
		assert_true(got.events[i - 1].time_ns <= got.events[i].time_ns);
	assert_true(profiled > 100 && finished > 20);
	fit_profiling_release(&got);
}

static void space_aware(void **state)
{
	(void)state;
	compare(false);
}

static void naive(void **state)
{
	(void)state;
	compare(true);
}

static void scales_with_the_queue(void **state)
{
	static const int64_t times[] = { 0, 600 * FIT_NS_PER_S, 1200 * FIT_NS_PER_S };
	static const double few[] = { 5, 5, 5 };
	struct fit_forecast f = { times, few, few, 3 };
	struct fit_profiler_params p = fit_profiler_params_default();
	struct fit_job jobs[20];
	struct fit_jobs js = { .jobs = jobs, .n = 20 };
	struct fit_profiling got;

	(void)state;
	for (int i = 0; i < 20; i++)	/* one at a time fills a node: 18 wait */
		jobs[i] = (struct fit_job){ .id = "x", .submit_ns = 3 * FIT_NS_PER_S, .gpus = 8,
					    .duration_ns = 60 * FIT_NS_PER_S };
	p.nodes = 2;
	p.forecast = &f;
	assert_int_equal(fit_profiler_run(&got, &js, &p, NULL), FIT_OK);
	assert_int_equal(got.n_changes, 2);
	assert_int_equal(got.changes[0].time_ns, 10 * FIT_NS_PER_S);
	assert_int_equal(got.changes[0].by, 1);
	assert_int_equal(got.changes[1].time_ns, 400 * FIT_NS_PER_S);
	assert_int_equal(got.changes[1].by, -1);
	assert_int_equal(got.jobs[2].start_ns, 10 * FIT_NS_PER_S);
	assert_int_equal(got.n_finished, 20);
	fit_profiling_release(&got);
}

static void forecasts(void **state)
{
	static const int64_t times[] = { 0, 10, 20, 30, 40, 50, 60, 70 };
	static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct fit_forecast f = { times, x, x, 8 };

	(void)state;
	check_real(fit_forecast_mean(&f, x, -1), 3, 1e-15, 0);	/* 1 … 5 */
	check_real(fit_forecast_mean(&f, x, 0), 4, 1e-15, 0);		/* 2 … 6 */
	check_real(fit_forecast_mean(&f, x, 10), 5, 1e-15, 0);	/* six are left: five of them */
	check_real(fit_forecast_mean(&f, x, 25), 6, 1e-15, 0);	/* all five that are left */
	check_real(fit_forecast_mean(&f, x, 60), 8, 1e-15, 0);
	assert_true(isnan(fit_forecast_mean(&f, x, 70)));
}

static void checks(void **state)
{
	struct fit_profiler_params p = fit_profiler_params_default();
	struct fit_job job = { .id = "x", .gpus = 1, .duration_ns = -1 };
	struct fit_jobs js = { .jobs = &job, .n = 1 };
	struct fit_profiling got;
	struct fit_err err;

	(void)state;
	p.nodes = 1;
	assert_null(fit_profiler_params_check(&p));
	assert_int_equal(fit_profiler_run(&got, &js, &p, &err), FIT_EDATA);
	p.most_gpus = 9;
	assert_non_null(fit_profiler_params_check(&p));
	p = fit_profiler_params_default();
	p.nodes = -1;
	assert_non_null(fit_profiler_params_check(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(space_aware),
		cmocka_unit_test(naive),
		cmocka_unit_test(scales_with_the_queue),
		cmocka_unit_test(forecasts),
		cmocka_unit_test(checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
