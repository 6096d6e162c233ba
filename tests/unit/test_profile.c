/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "libfit/model/profile.h"
#include "libfit/model/profile_store.h"
#include "tests/unit/profiles.h"
#include "traces/prof_pollux.h"

/* ---- an invented application, made here ---- */

struct place { int64_t placement, local; double step, sync; };
static const struct place places[] = {	/* in no order */
	{ 12, 4, 0.9, 0.4 }, { 1, 8, 0.5, 0.02 }, { 12, 8, 1.3, 0.36 }, { 1, 4, 0.3, 0.01 },
	{ 1, 11, 0.68, 0.04 }, { 112, 4, 1.0, 0.5 }, { 2, 4, 0.41, 0.11 }, { 2, 11, 0.76, 0.09 },
};

struct run { int64_t batch, epoch; double progress; int64_t iteration; double metric, sqr, var; };
static const struct run runs[] = {
	{ 48, 1, 90.5, 62, 0.5, 2, 17 }, { 16, 0, 50, 50, 0.75, 5, 11 }, { 16, 1, 100, 101, 0.55, 3, 13 },
	{ 48, 0, 47, 30, 0.9, 4, 19 }, { 16, 2, 150, 151, 0.6, 1, 7 }, { 48, 2, 151, 93, 0.8, 0, 23 },
};

static const int64_t constants[] = { 16, 48, 4, 8, 3, INT64_C(12500000000), FIT_INT_NA, 32 };

static void add_constants(struct fit_profile_tables *t, const char *name, const int64_t c[8])
{
	struct fit_cell cells[9] = { { .u.t = fit_text_of(name) } };

	for (int i = 0; i < 8; i++) {
		cells[1 + i].na = c[i] == FIT_INT_NA;
		cells[1 + i].u.i = c[i];
	}
	assert_int_equal(fit_table_add(&t->t[FIT_PROFILE_APPS], cells), FIT_OK);
}

static void make_tables(struct fit_profile_tables *t)
{
	struct fit_err err;

	check_ok(fit_profile_tables_init(t, &err), &err);
	add_constants(t, "demo", constants);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct fit_cell c[5] = { { .u.t = FIT_TEXT_LIT("demo") }, { .u.i = places[i].placement },
					 { .u.i = places[i].local }, { .u.d = places[i].step },
					 { .u.d = places[i].sync } };

		assert_int_equal(fit_table_add(&t->t[FIT_PROFILE_PLACEMENTS], c), FIT_OK);
	}
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct fit_cell c[8] = { { .u.t = FIT_TEXT_LIT("demo") }, { .u.i = runs[i].batch },
					 { .u.i = runs[i].epoch }, { .u.d = runs[i].progress },
					 { .u.i = runs[i].iteration }, { .u.d = runs[i].metric },
					 { .u.d = runs[i].sqr }, { .u.d = runs[i].var } };

		assert_int_equal(fit_table_add(&t->t[FIT_PROFILE_VALIDATION], c), FIT_OK);
	}
}

static struct fit_profile *demo_profile(void)
{
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_err err;

	make_tables(&t);
	check_ok(fit_profile_tables_prepare(&t, &err), &err);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	return p;
}

static struct fit_placement placed(int n, const int *gpus)
{
	struct fit_placement p = { .n_nodes = n };

	for (int i = 0; i < n; i++)
		p.gpus[i] = gpus[i];
	return p;
}
#define PLACED(...) \
	placed((int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), (int[]){ __VA_ARGS__ })

/* The profile of tests/data/profile-mini. */
static void mini_tables(struct fit_profile_tables *t)
{
	read_profiles("tests/data/profile-mini", t);
}

/* ---- tests ---- */

static void test_placement_numbers(void **state)
{
	static const int64_t cases[][2] = {
		{ 4, 4 }, { 21, 12 }, { 12, 12 }, { 312, 123 }, { 132, 132 }, { 2131, 1213 },
		{ 4214, 1442 }, { 9999, 9999 }, { 0, -1 }, { -3, -1 }, { 10, -1 }, { 104, -1 },
		{ 11111, -1 },
	};
	int64_t nodes, gpus;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(fit_placement_canonical(cases[i][0]),
				 cases[i][1]);
	fit_placement_shape(1312, &nodes, &gpus);
	assert_int_equal(nodes, 4);
	assert_int_equal(gpus, 7);
}

static void test_constants(void **state)
{
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_find(p, FIT_TEXT_LIT("demo"));
	const struct fit_app_info *info;

	(void)state;
	assert_int_equal(fit_profile_n_apps(p), 1);
	assert_ptr_equal(fit_profile_app(p, 0), a);
	assert_null(fit_profile_find(p, FIT_TEXT_LIT("dem")));
	assert_null(fit_profile_find(p, FIT_TEXT_LIT("demo2")));
	info = fit_app_info(a);
	check_text(info->name, "demo");
	assert_int_equal(info->init_batch, 16);
	assert_int_equal(info->max_batch, 48);
	assert_int_equal(info->min_local_bsz, 4);
	assert_int_equal(info->max_local_bsz, 8);
	assert_int_equal(info->epochs, 3);
	assert_int_equal(info->restart_ns, INT64_C(12500000000));
	assert_int_equal(info->max_replicas, 0);
	assert_int_equal(info->fixed_batch, 32);
	fit_profile_free(p);
}

static void check_times(struct fit_app *a, struct fit_placement p, int64_t local, double step,
			double sync)
{
	double found_step, found_sync;
	struct fit_err err;

	/* the second answer comes from the memo */
	for (int k = 0; k < 2; k++) {
		check_ok(fit_app_throughput(a, &p, local, &found_step, &found_sync, &err), &err);
		check_real(found_step, step, 1e-14, 0);
		check_real(found_sync, sync, 1e-14, 0);
	}
}

static void test_step_times(void **state)
{
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_app(p, 0);

	(void)state;
	check_times(a, PLACED(1), 4, 0.3, 0.01);
	check_times(a, PLACED(1), 8, 0.5, 0.02);
	check_times(a, PLACED(1), 5, 0.35, 0.0125);
	check_times(a, PLACED(1), 10, 0.62, 0.1 / 3);
	check_times(a, PLACED(0, 1, 0), 10, 0.62, 0.1 / 3);
	/* any rotation, zeros in between, whatever the nodes */
	check_times(a, PLACED(1, 2), 6, 1.1, 0.38);
	check_times(a, PLACED(2, 1), 6, 1.1, 0.38);
	check_times(a, PLACED(0, 2, 0, 0, 1), 6, 1.1, 0.38);
	check_times(a, PLACED(2, 1, 1), 4, 1.0, 0.5);
	check_times(a, PLACED(1, 2, 1), 4, 1.0, 0.5);
	fit_profile_free(p);
}

static void check_no_times(struct fit_app *a, struct fit_placement p, int64_t local, int code,
			   const char *message)
{
	double step = 17, sync = 19;
	struct fit_err err;

	check_err(fit_app_throughput(a, &p, local, &step, &sync, &err), &err, code, message);
	check_same_bits(step, 17);
	check_same_bits(sync, 19);
}

static void test_step_times_unmeasured(void **state)
{
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_app(p, 0);

	(void)state;
	check_no_times(a, PLACED(1), 3, FIT_EDATA, "application 'demo', placement 1: local batch size "
		       "'3' was not measured (expected 4 to 11)");
	check_no_times(a, PLACED(2, 0, 1), 9, FIT_EDATA, "application 'demo', placement 12: local batch "
		       "size '9' was not measured (expected 4 to 8)");
	check_no_times(a, PLACED(3), 4, FIT_EDATA, "application 'demo': no measured step times for 3 "
		       "GPUs on 1 nodes in this placement");
	check_no_times(a, PLACED(12), 4, FIT_EDATA, "application 'demo': no measured step times for 12 "
		       "GPUs on 1 nodes in this placement");
	check_no_times(a, PLACED(1, 1, 1, 1, 2), 4, FIT_EDATA, "application 'demo': no measured step "
		       "times on more than 4 nodes (asked for 5)");
	check_no_times(a, PLACED(0, 0), 4, FIT_EINVAL, "application 'demo': a placement without GPUs");
	check_no_times(a, PLACED(1, -1), 4, FIT_EINVAL, "application 'demo': a placement without GPUs");
	fit_profile_free(p);
}

/* Several batch sizes together: as one by one where the answer is unique; NAN where there is none. */
static void test_step_times_together(void **state)
{
	static const int64_t sizes[] = { 3, 4, 5, 10, 40 };
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_app(p, 0);
	struct fit_placement at = PLACED(1), none = PLACED(0, 0);
	double step[5], sync[5];
	struct fit_err err;

	(void)state;
	check_ok(fit_app_throughputs(a, &at, sizes, 5, step, sync, &err), &err);
	for (int i = 0; i < 5; i++) {
		double one_step, one_sync;
		int rc = fit_app_throughput(a, &at, sizes[i], &one_step, &one_sync, &err);

		assert_int_equal(rc, i == 0 || i == 4 ? FIT_EDATA : FIT_OK);
		if (rc) {
			assert_true(isnan(step[i]) && isnan(sync[i]));
			continue;
		}
		check_same_bits(step[i], one_step);
		check_same_bits(sync[i], one_sync);
	}
	check_ok(fit_app_throughputs(a, &at, sizes, 0, NULL, NULL, &err), &err);
	check_err(fit_app_throughputs(a, &none, sizes, 5, step, sync, &err), &err, FIT_EINVAL,
		  "application 'demo': a placement without GPUs");
	fit_profile_free(p);
}

/* Many different queries, so that the memo grows; the answers stay. */
static void test_memo(void **state)
{
	struct fit_profile_tables t;
	struct fit_profile *p, *fresh;
	struct fit_err err;

	(void)state;
	mini_tables(&t);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	for (int round = 0; round < 2; round++) {
		size_t n = 0;

		mini_tables(&t);
		check_ok(fit_profile_from_tables(&fresh, &t, &err), &err);
		for (int i = 1; i <= 4; i++)
			for (int j = 0; j <= 4; j++)
				for (int b = 8; b <= 30; b++, n++) {
					struct fit_placement at = PLACED(i, j, 4);
					double step, sync, step2, sync2;

					check_ok(fit_app_throughput(fit_profile_app(p, 0), &at, b, &step,
								    &sync, &err), &err);
					check_ok(fit_app_throughput(fit_profile_app(fresh, 0), &at, b,
								    &step2, &sync2, &err), &err);
					check_same_bits(step, step2);
					check_same_bits(sync, sync2);
				}
		assert_int_equal(n, 460);
		fit_profile_free(fresh);
	}
	fit_profile_free(p);
}

static void test_many_nodes(void **state)
{
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_app *a;
	struct fit_err err;
	struct fit_placement wide = { .n_nodes = 20 };

	(void)state;
	mini_tables(&t);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	a = fit_profile_find(p, FIT_TEXT_LIT("conv"));
	assert_non_null(a);
	/* a measured point, rows 6,15,16 and 16,40,8 of scalability.csv */
	check_times(a, PLACED(2, 3, 2, 3, 2, 3), 16, 0.157578120, 0.060978120);
	check_times(a, PLACED(3, 3, 3, 0, 3, 2, 1), 16, 0.157578120, 0.060978120);
	/* more than 16 nodes count as 16 */
	for (int i = 0; i < 20; i++)
		wide.gpus[i] = 2;
	check_times(a, wide, 8, 0.257035200, 0.193235200);
	check_no_times(a, PLACED(4, 4, 4, 4, 5), 8, FIT_EDATA, "application 'conv': 21 GPUs on 5 nodes "
		       "with local batch size '8' lie outside of what was measured");
	fit_profile_free(p);
}

static void test_runs(void **state)
{
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_app(p, 0);
	double sqr, var, steps, metric;
	struct fit_err err;
	bool known;

	(void)state;
	check_ok(fit_app_grad_stats(a, 16, 1, &sqr, &var, &err), &err);
	check_same_bits(sqr, 3);
	check_same_bits(var, 13);
	check_ok(fit_app_grad_stats(a, 48, 2, &sqr, &var, &err), &err);
	check_same_bits(sqr, 0);
	check_same_bits(var, 23);
	/* linear in the batch size: 24 is a quarter of the way */
	check_ok(fit_app_grad_stats(a, 24, 0, &sqr, &var, &err), &err);
	check_real(sqr, 4.75, 1e-15, 0);
	check_real(var, 13, 1e-15, 0);
	check_ok(fit_app_iteration(a, 24, 2, &steps, &err), &err);
	check_real(steps, 151 - 58.0 / 4, 1e-15, 0);
	/* the least progress of all runs, at the end of the epoch before */
	check_same_bits(fit_app_epoch_start(a, 0), 0);
	check_same_bits(fit_app_epoch_start(a, 1), 47);
	check_same_bits(fit_app_epoch_start(a, 2), 90.5);
	check_same_bits(fit_app_epoch_start(a, 3), 150);
	/* this metric falls (0.75 to 0.6 in the first run): the best is the least so far */
	check_ok(fit_app_best_metric(a, 16, 0, &known, &metric, &err), &err);
	assert_false(known);
	check_ok(fit_app_best_metric(a, 16, 3, &known, &metric, &err), &err);
	assert_true(known);
	check_same_bits(metric, 0.55);
	check_ok(fit_app_best_metric(a, 32, 1, &known, &metric, &err), &err);
	check_real(metric, 0.825, 1e-15, 0);

	check_err(fit_app_grad_stats(a, 15, 0, &sqr, &var, &err), &err, FIT_EDATA,
		  "application 'demo': no training run with batch size '15' (expected 16 to 48)");
	check_err(fit_app_iteration(a, 49, 0, &steps, &err), &err, FIT_EDATA,
		  "application 'demo': no training run with batch size '49' (expected 16 to 48)");
	check_err(fit_app_grad_stats(a, 16, 3, &sqr, &var, &err), &err, FIT_EINVAL,
		  "application 'demo': no epoch '3' (expected 0 to 2)");
	check_err(fit_app_iteration(a, 16, -1, &steps, &err), &err, FIT_EINVAL,
		  "application 'demo': no epoch '-1' (expected 0 to 2)");
	fit_profile_free(p);
}

static void check_split(const struct fit_app *a, int64_t target, int64_t replicas, bool always,
			int64_t atomic, int64_t accum)
{
	struct fit_batch b = fit_app_split_batch(a, target, replicas, always);

	assert_int_equal(b.atomic_bsz, atomic);
	assert_int_equal(b.accum_steps, accum);
}

static void test_split(void **state)
{
	struct fit_profile *p = demo_profile();
	const struct fit_app *a = fit_profile_app(p, 0);

	(void)state;
	check_split(a, 16, 2, false, 8, 0);
	check_split(a, 17, 2, false, 5, 1);	/* 9 a GPU: two passes of 5 */
	check_split(a, 48, 2, false, 8, 2);	/* 24 a GPU, 8 at most */
	check_split(a, 16, 1, false, 8, 1);
	check_split(a, 16, 4, false, 4, 0);
	check_split(a, 48, 1, false, 8, 5);
	check_split(a, 47, 5, false, 4, 1);	/* 10 a GPU are two of 5, but 5 * 5 * 2 is over 48 */
	check_split(a, 3, 8, false, 1, 0);
	/* one GPU: over init_batch, or always */
	check_split(a, 8, 1, false, 8, 0);
	check_split(a, 8, 1, true, 4, 1);
	check_split(a, 8, 2, true, 4, 0);
	check_split(a, 0, 2, false, 0, 0);
	check_split(a, 16, 0, false, 0, 0);
	fit_profile_free(p);
}

/* A quotient under 1e-8 is still one pass. */
static void test_split_endless_memory(void **state)
{
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_err err;

	(void)state;
	make_tables(&t);
	t.t[FIT_PROFILE_APPS].columns[FIT_APPS_MAX_LOCAL].i[0] = 1000000000;
	check_ok(fit_profile_tables_prepare(&t, &err), &err);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	check_split(fit_profile_app(p, 0), 16, 4, false, 4, 0);
	fit_profile_free(p);
}

/* Over init_batch but within one pass: an application with a large local batch size. */
static void test_split_single_gpu(void **state)
{
	const int64_t roomy[] = { 16, 48, 4, 11, 3, 0, 1, FIT_INT_NA };
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_err err;

	(void)state;
	make_tables(&t);
	for (int c = 1; c <= 8; c++)
		t.t[FIT_PROFILE_APPS].columns[c].i[0] = roomy[c - 1];
	t.t[FIT_PROFILE_APPS].columns[FIT_APPS_MAX_LOCAL].i[0] = 40;
	check_ok(fit_profile_tables_prepare(&t, &err), &err);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	check_split(fit_profile_app(p, 0), 16, 1, false, 16, 0);
	check_split(fit_profile_app(p, 0), 16, 1, true, 8, 1);
	check_split(fit_profile_app(p, 0), 17, 1, false, 9, 1);
	check_split(fit_profile_app(p, 0), 41, 1, false, 21, 1);
	assert_int_equal(fit_app_info(fit_profile_app(p, 0))->max_replicas, 1);
	assert_int_equal(fit_app_info(fit_profile_app(p, 0))->fixed_batch, 0);
	fit_profile_free(p);
}

static void test_goodput(void **state)
{
	struct fit_profile *p = demo_profile();
	struct fit_app *a = fit_profile_app(p, 0);
	struct fit_placement at = PLACED(2, 1);
	double rate;
	struct fit_err err;

	(void)state;
	/* 3 GPUs x 6 x 2 = 36: sqr 5 - 20/32, var 11 + 5, T = 1.1 + (1.1 - 0.38) */
	check_ok(fit_app_goodput(a, &at, (struct fit_batch){ 6, 1 }, 0, &rate, &err), &err);
	check_real(rate, (16 + 4.375) / (16 / 2.25 + 4.375) / (1.1 + 0.72), 1e-14, 0);
	/* at the initial batch size there is no gain */
	at = PLACED(2);
	check_ok(fit_app_goodput(a, &at, (struct fit_batch){ 4, 1 }, 2, &rate, &err), &err);
	check_real(rate, 1 / (0.41 + 0.3), 1e-14, 0);
	assert_int_equal(fit_app_goodput(a, &at, (struct fit_batch){ 4, 0 }, 2, &rate, &err), FIT_EDATA);
	assert_int_equal(fit_app_goodput(a, &at, (struct fit_batch){ 40, 0 }, 2, &rate, &err), FIT_EDATA);
	fit_profile_free(p);
}

/* Against a search over everything, written differently. */
static void test_configurations(void **state)
{
	static const int64_t sizes[] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48 };
	static const int64_t batches[] = { 32, 64, 128 };
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_app *a;
	struct fit_tuned out[16];
	struct fit_err err;
	double base = 0;
	size_t n, k = 0;

	(void)state;
	mini_tables(&t);
	check_ok(fit_profile_from_tables(&p, &t, &err), &err);
	a = fit_profile_find(p, FIT_TEXT_LIT("conv"));
	check_ok(fit_app_configurations(a, 0.2, 0.9, out, 16, &n, &err), &err);
	assert_true(n > 1);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] * 8 <= 128; i++) {
		int full = (int)(sizes[i] / 4), rest = (int)(sizes[i] % 4);
		struct fit_placement at = { .n_nodes = full + (rest > 0) };
		double best = 1e300, step, sync, steps;
		int64_t best_batch = 0;

		for (int g = 0; g < full; g++)
			at.gpus[g] = 4;
		if (rest)
			at.gpus[full] = rest;
		for (size_t b = 0; b < 3; b++) {
			int64_t local = (batches[b] + sizes[i] - 1) / sizes[i];
			int64_t passes = (local + 29) / 30, atomic = (local + passes - 1) / passes;

			if (local < 8)
				continue;
			check_ok(fit_app_throughput(a, &at, atomic, &step, &sync, &err), &err);
			check_ok(fit_app_iteration(a, batches[b], 3, &steps, &err), &err);
			steps *= step * (double)passes - sync * (double)(passes - 1);
			if (steps < best) {
				best = steps;
				best_batch = batches[b];
			}
		}
		if (i == 0)
			base = best;
		if (base / best / (double)sizes[i] <= 0.2 || base / best / (double)sizes[i] >= 0.9)
			continue;
		assert_true(k < n);
		assert_int_equal(out[k].replicas, sizes[i]);
		assert_int_equal(out[k].batch, best_batch);
		check_real(out[k].jct_s, best, 1e-12, 0);
		k++;
	}
	assert_int_equal(k, n);
	/* nothing lies between 0.9 and 0.90001: one GPU is the answer */
	check_ok(fit_app_configurations(a, 0.9, 0.90001, out, 16, &n, &err), &err);
	assert_int_equal(n, 1);
	assert_int_equal(out[0].replicas, 1);
	check_real(out[0].jct_s, base, 1e-12, 0);
	fit_profile_free(p);
}

/* ---- what the check refuses ---- */

static struct fit_column *column(struct fit_profile_tables *t, int kind, int c)
{
	return &t->t[kind].columns[c];
}

static void check_refused(struct fit_profile_tables *t, const char *message)
{
	struct fit_err err;

	check_err(fit_profile_tables_prepare(t, &err), &err, FIT_EDATA, message);
	fit_profile_tables_release(t);
}

static void test_refused_values(void **state)
{
	static const struct {
		int kind, column;
		int64_t value;
		const char *message;
	} cases[] = {
		{ FIT_PROFILE_APPS, FIT_APPS_INIT_BATCH, 0,
		  "/apps:1:init_batch: bad value '0' (expected 1 to 1000000000)" },
		{ FIT_PROFILE_APPS, FIT_APPS_MAX_BATCH, 15,
		  "/apps:1:max_batch: bad value '15' (expected at least init_batch)" },
		{ FIT_PROFILE_APPS, FIT_APPS_MAX_LOCAL, 3,
		  "/apps:1:max_local_bsz: bad value '3' (expected at least min_local_bsz)" },
		{ FIT_PROFILE_APPS, FIT_APPS_EPOCHS, 4,
		  "/apps:1:epochs: 6 validation rows (expected a multiple of 4 epochs)" },
		{ FIT_PROFILE_APPS, FIT_APPS_RESTART, -1,
		  "/apps:1:restart_s: bad value '-1' (expected 0 or more)" },
		{ FIT_PROFILE_APPS, FIT_APPS_MAX_REPLICAS, 0,
		  "/apps:1:max_replicas: bad value '0' (expected 1 or more, or NA)" },
		{ FIT_PROFILE_APPS, FIT_APPS_FIXED_BATCH, 49,
		  "/apps:1:fixed_batch: bad value '49' (expected init_batch to max_batch, or NA)" },
		{ FIT_PROFILE_APPS, FIT_APPS_INIT_BATCH, 17,
		  "/validation:1:batch_size: bad value '16' (expected init_batch in the first run)" },
		{ FIT_PROFILE_APPS, FIT_APPS_MAX_BATCH, 50,
		  "/validation:6:batch_size: bad value '48' (expected max_batch in the last run)" },
		/* row 1 of these is sorted to another place */
		{ FIT_PROFILE_PLACEMENTS, FIT_PLACE_PLACEMENT, 21,
		  "/placements:7:placement: bad value '21' (expected one to four digits 1 to 9, in the "
		  "smallest rotation)" },
		{ FIT_PROFILE_PLACEMENTS, FIT_PLACE_LOCAL, 8,
		  "/placements:7:local_bsz: bad value '8' (expected rows that ascend in placement and "
		  "local_bsz)" },
		{ FIT_PROFILE_VALIDATION, FIT_VALID_EPOCH, 2,
		  "/validation:5:epoch: bad value '2' (expected epochs from 0, without gaps)" },
		{ FIT_PROFILE_VALIDATION, FIT_VALID_ITERATION, 30,
		  "/validation:5:iteration: bad value '30' (expected more than in the epoch before)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_profile_tables t;

		make_tables(&t);
		column(&t, cases[i].kind, cases[i].column)->i[0] = cases[i].value;
		check_refused(&t, cases[i].message);
	}
}

static void test_refused_reals(void **state)
{
	static const struct {
		int kind, column;
		double value;
		const char *message;
	} cases[] = {
		{ FIT_PROFILE_PLACEMENTS, FIT_PLACE_STEP, 0,
		  "/placements:6:step_time_s: bad value '0' (expected a positive time)" },
		{ FIT_PROFILE_PLACEMENTS, FIT_PLACE_SYNC, -0.5,
		  "/placements:6:sync_time_s: bad value '-0.5' (expected a positive time)" },
		{ FIT_PROFILE_PLACEMENTS, FIT_PLACE_SYNC, 1.5,
		  "/placements:6:sync_time_s: bad value '1.5' (expected less than step_time_s)" },
		{ FIT_PROFILE_VALIDATION, FIT_VALID_PROGRESS, 47,
		  "/validation:5:progress: bad value '47' (expected more than in the epoch before)" },
		{ FIT_PROFILE_VALIDATION, FIT_VALID_SQR, -0.5,
		  "/validation:5:grad_sqr: bad value '-0.5' (expected 0 or more)" },
		{ FIT_PROFILE_VALIDATION, FIT_VALID_VAR, 0,
		  "/validation:5:grad_var: bad value '0' (expected a positive number)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_profile_tables t;

		make_tables(&t);
		column(&t, cases[i].kind, cases[i].column)->d[0] = cases[i].value;
		check_refused(&t, cases[i].message);
	}
}

static void test_refused_shape(void **state)
{
	const int64_t other[] = { 16, 48, 4, 8, 3, 0, FIT_INT_NA, FIT_INT_NA };
	struct fit_profile_tables t;
	struct fit_err err;

	(void)state;
	check_ok(fit_profile_tables_init(&t, &err), &err);
	check_refused(&t, "/apps: no applications");
	make_tables(&t);
	add_constants(&t, "demo", constants);
	check_refused(&t, "/apps:2:app: application 'demo' is out of order or repeated");
	make_tables(&t);
	add_constants(&t, "another", other);
	check_refused(&t, "/apps:1:app: application 'another' has no placements");
	make_tables(&t);
	t.t[FIT_PROFILE_VALIDATION].columns[0].at[0] = FIT_TEXT_NA;
	check_refused(&t, "/validation:1:app: missing value");
	make_tables(&t);
	memcpy(t.t[FIT_PROFILE_VALIDATION].columns[0].bytes, "damo", 4);
	check_refused(&t, "/validation:1:app: unknown application 'damo'");
	make_tables(&t);
	t.t[FIT_PROFILE_PLACEMENTS].columns[2].name[0] = 'L';
	check_refused(&t, "/placements: int column 'Local_bsz' (expected int 'local_bsz')");
}

/* Derived tables that do not fit the rest, as a damaged or hand-made store has them. */
static void test_refused_mesh(void **state)
{
	struct fit_profile_tables t;
	struct fit_profile *p;
	struct fit_err err;

	(void)state;
	mini_tables(&t);
	column(&t, FIT_PROFILE_SIMPLICES, FIT_SIMPLEX_V)->i[7] = 129;
	check_err(fit_profile_from_tables(&p, &t, &err), &err, FIT_EDATA,
		  "application 'conv': triangulation has an index out of range (expected vertices under "
		  "129, neighbours under 485)");
	assert_null(p);
	mini_tables(&t);
	column(&t, FIT_PROFILE_SIMPLICES, FIT_SIMPLEX_EQ)->d[2] = (double)INFINITY;
	check_err(fit_profile_from_tables(&p, &t, &err), &err, FIT_EDATA,
		  "/simplices:3:eq_x: bad value 'inf' (expected a number)");
	mini_tables(&t);
	t.t[FIT_PROFILE_LIFT].n_rows = 1;
	check_err(fit_profile_from_tables(&p, &t, &err), &err, FIT_EDATA,
		  "/lift, /points and /simplices do not belong together (0, 86 and 246 rows of one "
		  "application)");
	mini_tables(&t);
	column(&t, FIT_PROFILE_POINTS, FIT_SCALE_SYNC)->d[1] = 7;
	check_err(fit_profile_from_tables(&p, &t, &err), &err, FIT_EDATA,
		  "/points:2:sync_time_s: bad value '7' (expected less than step_time_s)");
}

static void test_repeated_scalability(void **state)
{
	struct fit_profile_tables t;
	struct fit_err err;

	(void)state;
	mini_tables(&t);
	for (int k = FIT_PROFILE_POINTS; k < FIT_PROFILE_KINDS; k++)
		t.t[k].n_rows = 0;
	for (int c = FIT_SCALE_NODES; c <= FIT_SCALE_LOCAL; c++)
		column(&t, FIT_PROFILE_SCALABILITY, c)->i[5] = column(&t, FIT_PROFILE_SCALABILITY, c)->i[2];
	check_err(fit_profile_tables_prepare(&t, &err), &err, FIT_EDATA,
		  "/scalability:6: repeated key '6, 6, 30' (num_nodes, num_replicas, local_bsz)");
	fit_profile_tables_release(&t);
}

/* The row order of what a maker hands in does not matter (but for /scalability). */
static void test_row_order(void **state)
{
	struct fit_profile_tables a, b;
	struct fit_table *t = &b.t[FIT_PROFILE_PLACEMENTS];
	struct fit_err err;

	(void)state;
	mini_tables(&a);
	mini_tables(&b);
	for (int k = FIT_PROFILE_POINTS; k < FIT_PROFILE_KINDS; k++)
		b.t[k].n_rows = 0;
	for (size_t i = 0; i + 1 < 324; i += 2)		/* swap neighbours, all of one application */
		for (int c = 1; c < 5; c++) {
			struct fit_column *col = &t->columns[c];
			struct fit_cell x = fit_column_cell(col, i);

			if (col->type == FIT_INT) {
				col->i[i] = col->i[i + 1];
				col->i[i + 1] = x.u.i;
			} else {
				col->d[i] = col->d[i + 1];
				col->d[i + 1] = x.u.d;
			}
		}
	check_ok(fit_profile_tables_prepare(&b, &err), &err);
	for (int k = 0; k < FIT_PROFILE_KINDS; k++) {
		assert_int_equal(a.t[k].n_rows, b.t[k].n_rows);
		for (size_t c = 1; c < a.t[k].n_columns; c++) {
			const struct fit_column *x = &a.t[k].columns[c], *y = &b.t[k].columns[c];

			if (x->type == FIT_REAL)
				assert_memory_equal(x->d, y->d, a.t[k].n_rows * sizeof *x->d);
			else
				assert_memory_equal(x->i, y->i, a.t[k].n_rows * sizeof *x->i);
		}
	}
	fit_profile_tables_release(&a);
	fit_profile_tables_release(&b);
}

/* ---- stores ---- */

static void test_store(void **state)
{
	const char *dir = getenv("TMPDIR");
	char path[1024], hash[FIT_HASH_HEX];
	struct fit_profile_tables t;
	struct fit_profile *p, *direct;
	struct fit_err err;
	double step, sync, step2, sync2;
	struct fit_placement at = PLACED(4, 4, 3, 1, 2, 2, 1);
	int n = snprintf(path, sizeof path, "%s/gf-profile-%ld.h5", dir ? dir : "/tmp", (long)getpid());

	(void)state;
	assert_true(n > 0 && (size_t)n < sizeof path);
	mini_tables(&t);
	check_ok(fit_profile_tables_write(&t, path, &err), &err);
	check_ok(fit_profile_from_tables(&direct, &t, &err), &err);
	check_ok(fit_profile_load(&p, path, hash, &err), &err);
	assert_int_equal(strlen(hash), FIT_HASH_HEX - 1);
	assert_int_equal(fit_profile_n_apps(p), 2);
	for (size_t i = 0; i < 2; i++) {
		struct fit_app *a = fit_profile_app(p, i), *b = fit_profile_app(direct, i);

		check_text(fit_app_info(a)->name, fit_app_info(b)->name);
		check_ok(fit_app_throughput(a, &at, i ? 3 : 11, &step, &sync, &err), &err);
		check_ok(fit_app_throughput(b, &at, i ? 3 : 11, &step2, &sync2, &err), &err);
		check_same_bits(step, step2);
		check_same_bits(sync, sync2);
	}
	fit_profile_free(p);
	fit_profile_free(direct);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fit_profile_load(&p, path, NULL, &err), FIT_EIO);
	assert_null(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_placement_numbers),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_step_times),
		cmocka_unit_test(test_step_times_unmeasured),
		cmocka_unit_test(test_step_times_together),
		cmocka_unit_test(test_memo),
		cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_endless_memory),
		cmocka_unit_test(test_split_single_gpu),
		cmocka_unit_test(test_goodput),
		cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_refused_values),
		cmocka_unit_test(test_refused_reals),
		cmocka_unit_test(test_refused_shape),
		cmocka_unit_test(test_refused_mesh),
		cmocka_unit_test(test_repeated_scalability),
		cmocka_unit_test(test_row_order),
		cmocka_unit_test(test_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
