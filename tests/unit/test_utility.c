/* SPDX-License-Identifier: MIT */
/*
 * Utility of cluster sizes: a policy of this test looks at it in the middle of a replay, with models that are given,
 * and compares with goodput computed here, size by size.
 */
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/model/agent.h"
#include "libfit/model/profile_store.h"
#include "libfit/replay/engine.h"
#include "libfit/replay/utility.h"
#include "traces/prof_pollux.h"

#define NODE_GPUS 3

static const struct fit_theta thetas[2] = {
	{ { 0.011, 0.0023, 0.061, 0.0071, 0.013, 0.0017, 1.7 } },
	{ { 0.043, 0.0067, 0.31, 0.019, 0.071, 0.0083, 2.3 } },
};

static struct fit_profile *profile;
static int decisions;

static struct fit_goodput model_of(const struct fit_job *job, bool throughput)
{
	const struct fit_app_info *a = fit_app_info(job->app);
	struct fit_goodput g = {
		.theta = thetas[strcmp(job->app_name, "text") == 0],
		.init_batch = a->init_batch,
		.max_batch = a->max_batch,
		.min_local_bsz = a->min_local_bsz,
		.max_local_bsz = a->max_local_bsz,
		.max_accum = -1,
		.fixed_efficiency = throughput,
	};
	struct fit_err err;

	check_ok(fit_app_grad_stats(job->app, a->init_batch, 0, &g.grad_sqr, &g.grad_var, &err), &err);
	return g;
}

/* n jobs share the GPUs of so many nodes, by hand. */
static double expected(const struct fit_view *v, size_t n, int64_t base, bool throughput, int nodes)
{
	int gpus = nodes * NODE_GPUS;
	double sum = 0;

	for (size_t j = 0; j < n; j++) {
		struct fit_goodput g = model_of(&v->jobs[j], throughput);
		const struct fit_app_info *a = fit_app_info(v->jobs[j].app);
		int64_t share = 0, most = a->max_batch / a->min_local_bsz;

		for (int k = 0; k < gpus; k++) /* dealt out like cards */
			share += (size_t)k % n == j;
		share = share > most ? most : share;
		share = a->max_replicas && share > a->max_replicas ? a->max_replicas : share;
		if (share)
			sum += (double)base * fit_goodput_best(&g, (share - 1) / NODE_GPUS + 1, share).goodput /
			       fit_goodput_best(&g, 1, base).goodput;
	}
	return sum / gpus;
}

static void look(const struct fit_view *v)
{
	static const struct fit_utility kinds[] = { { NODE_GPUS, false, FIT_ANY_TYPE },
							   { NODE_GPUS, true, FIT_ANY_TYPE },
							   { 1, false, FIT_ANY_TYPE } };
	struct fit_err err;
	size_t n;
	double u;

	(void)fit_view_active(v, &n);
	for (size_t k = 0; k < 3; k++) {
		double last = 2;

		for (int nodes = 1; nodes <= 9; nodes++) {
			check_ok(fit_utility_of_size(v, &kinds[k], nodes, &u, &err), &err);
			check_real(u, expected(v, n, kinds[k].base_gpus, kinds[k].throughput, nodes), 1e-13, 0);
			assert_true(u <= last || n > 1);	/* of one job it falls: bisection is right */
			last = u;
		}
		for (double target = 0.05; target < 1; target += 0.05) {
			int64_t found, best = 2;

			for (int nodes = 3; nodes <= 9 && n == 1; nodes++)
				if (fabs(expected(v, n, kinds[k].base_gpus, kinds[k].throughput, nodes) - target) <
				    fabs(expected(v, n, kinds[k].base_gpus, kinds[k].throughput, (int)best) - target))
					best = nodes;
			check_ok(fit_utility_bisect(v, &kinds[k], 2, 9, target, &found, &err), &err);
			assert_in_range(found, 2, 9);
			if (n == 1)
				assert_int_equal(found, best);
		}
		check_ok(fit_utility_bisect(v, &kinds[k], 4, 4, 0.5, &(int64_t){ 0 }, &err), &err);
	}
	decisions++;
}

/* ---- a policy that gives each job one GPU, and looks ---- */

static int watch_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      struct fit_err *err)
{
	(void)v;
	(void)p;
	(void)err;
	*state = NULL;
	return FIT_OK;
}

static void watch_free(void *state)
{
	(void)state;
}

static int watch_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	size_t n, running = 0;
	const uint32_t *active = fit_view_active(v, &n);
	const struct fit_utility gpu = { 1, false, FIT_ANY_TYPE };
	double held;

	(void)state;
	if (v->now_ns == 60 * FIT_NS_PER_S)
		look(v);
	for (size_t i = 0; i < n; i++)
		running += fit_view_gpus(v, active[i]) > 0;
	/* on the GPU that it has each job gets just what it would */
	check_ok(fit_utility_held(v, &gpu, 2, &held, err), err);
	check_real(held, (double)running / (2 * NODE_GPUS), 1e-13, 0);
	for (size_t i = 0; i < n; i++)
		if (fit_plan_grant(plan, active[i], 1))
			return fit_fail_nomem(err);
	return FIT_OK;
}

static const struct fit_policy watch = {
	.name = "watch",
	.summary = "looks",
	.needs = FIT_NEEDS_PROFILE | FIT_NEEDS_INTERVAL | FIT_ADAPTIVE,
	.init = watch_init,
	.free = watch_free,
	.decide = watch_decide,
};

static void replay(const char *const *apps, size_t n)
{
	struct fit_theta_entry entries[2] = {
		{ .app = (char[]){ "conv" }, .theta = thetas[0] },
		{ .app = (char[]){ "text" }, .theta = thetas[1] },
	};
	struct fit_theta_list models = { .entries = entries, .n = 2 };
	struct fit_replay_params p = fit_replay_params_default();
	struct fit_typed_profile any = { .type = (char[]){ "" }, .profile = profile };
	const struct fit_profile_set profiles = { .entries = &any, .n = 1 };
	struct fit_jobs_params jp = { .profiles = &profiles };
	struct fit_replay_counts counts;
	struct fit_partitions parts;
	struct fit_meta meta = { 0 };
	struct fit_writer *w;
	struct fit_jobs jobs;
	struct fit_err err;
	char name[4096];
	FILE *f;
	int fd;

	snprintf(name, sizeof name, "%s/test_utility.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	fd = mkstemp(name);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, "job_id\tsubmit_s\tapp\tgpus\tbatch_size\n");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "j%zu\t1\t%s\t1\t64\n", i, apps[i]);
	assert_int_equal(fclose(f), 0);
	check_ok(fit_partitions_init(&parts, "4x3", false, &err), &err);
	jp.partitions = &parts;
	check_ok(fit_jobs_read(&jobs, name, &jp, &err), &err);
	unlink(name);
	p.policy = &watch;
	p.interval_ns = 20 * FIT_NS_PER_S;
	p.models = &models;
	check_ok(fit_writer_open(&w, "/dev/null", 0, &err), &err);
	check_ok(fit_replay(&jobs, &parts, &p, &meta, w, &counts, &err), &err);
	check_ok(fit_writer_close(w, &err), &err);
	fit_jobs_release(&jobs);
	fit_partitions_release(&parts);
}

static void one_job(void **state)
{
	(void)state;
	decisions = 0;
	replay((const char *const[]){ "conv" }, 1);
	replay((const char *const[]){ "text" }, 1);
	assert_int_equal(decisions, 2);
}

static void several_jobs(void **state)
{
	static const char *const apps[] = { "conv", "text", "text", "conv", "conv" };

	(void)state;
	decisions = 0;
	replay(apps, 5);
	assert_int_equal(decisions, 1);
}

/* A seeded agent keeps its model and takes no observations; without, it knows nothing at first. */
static void seeded_agents(void **state)
{
	struct fit_app *app = fit_profile_find(profile, fit_text_of("conv"));
	struct fit_goodput_point best;
	struct fit_throughput *w;
	struct fit_agent a;
	struct fit_err err;
	uint64_t version;

	(void)state;
	check_ok(fit_throughput_new(&w, &err), &err);
	fit_agent_init(&a, fit_app_info(app), w);
	assert_false(fit_agent_knows(&a));
	check_err(fit_agent_refit(&a, &err), &err, FIT_EINVAL, "nothing was observed yet");
	fit_agent_seed(&a, &thetas[0], 0.7, 55.0);
	assert_true(fit_agent_knows(&a));
	check_ok(fit_agent_best(&a, 2, 5, &best, &err), &err);
	assert_true(best.goodput > 0);
	version = a.version;
	assert_int_equal(fit_agent_observe(&a, 1, 2, 32, 9.0, 1.0), FIT_OK);
	check_ok(fit_agent_refit(&a, &err), &err);
	assert_int_equal(a.n_obs, 0);
	assert_int_equal(a.version, version);
	check_same_bits(a.model.theta.v[FIT_GAMMA], thetas[0].v[FIT_GAMMA]);
	fit_agent_set_grad(&a, 0.7, 66.0);
	assert_true(a.version > version);
	fit_agent_release(&a);
	fit_throughput_free(w);
}

static int setup(void **state)
{
	const struct fit_pollux_options how = { 0 };
	struct fit_profile_tables t;
	const struct fit_pollux_tables into = {
		&t.t[FIT_PROFILE_APPS], &t.t[FIT_PROFILE_PLACEMENTS],
		&t.t[FIT_PROFILE_SCALABILITY], &t.t[FIT_PROFILE_VALIDATION],
	};
	char hash[FIT_HASH_HEX];
	struct fit_err err;

	(void)state;
	check_ok(fit_profile_tables_init(&t, &err), &err);
	check_ok(fit_pollux_read_profiles("tests/data/profile-mini", &how, &into, hash, &err), &err);
	check_ok(fit_profile_tables_prepare(&t, &err), &err);
	check_ok(fit_profile_from_tables(&profile, &t, &err), &err);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fit_profile_free(profile);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_job),
		cmocka_unit_test(several_jobs),
		cmocka_unit_test(seeded_agents),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
