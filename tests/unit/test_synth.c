/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/model/throughput.h"
#include "libfit/synth/calibration.h"
#include "libfit/synth/synth_jobs.h"
#include "libfit/synth/synth_profile.h"

static const struct fit_synth_noise none = { 0, 0 };

/* An application with no round number in it. */
static const struct fit_synth_app odd = {
	"odd", 0.3, { { 0.037, 0.00213, 0.41, 0.0171, 0.093, 0.0067, 1.7 } }, 24, 768, 6, 96, 7, 310,
	0.9, 130, 3.5, 61, 88
};

/* Line k (from 0) of a text, as fields cut at commas; returns how many. */
static size_t fields_of(const struct fit_str *text, size_t k, double out[8])
{
	const char *p = text->s;
	size_t n = 0;

	for (; k; k--) {
		p = strchr(p, '\n');
		if (!p || !p[1])
			return 0;
		p++;
	}
	while (n < 8) {
		size_t len = strcspn(p, ",\n");

		assert_int_equal(fit_parse_double((struct fit_text){ p, len }, &out[n]), FIT_OK);
		n++;
		p += len;
		if (*p != ',')
			break;
		p++;
	}
	return n;
}

static void batches_double(void **state)
{
	(void)state;
	assert_int_equal(fit_synth_batch(&odd, 0), 24);
	assert_int_equal(fit_synth_batch(&odd, 3), 192);
	assert_int_equal(fit_synth_batch(&odd, 5), 768);
	assert_int_equal(fit_synth_batch(&odd, 6), 0);
	assert_int_equal(fit_synth_batch(&odd, 60), 0);
}

static void noise_runs_from_first_to_last(void **state)
{
	(void)state;
	check_real(fit_synth_noise_scale(&odd, 0), 0.9, 1e-14, 0);
	check_real(fit_synth_noise_scale(&odd, 6), 130, 1e-12, 0);
	/* u = 1/6: 0.9 * (130 / 0.9)^(1 / sqrt 6), worked out by hand */
	check_real(fit_synth_noise_scale(&odd, 1), 0.9 * exp(log(130 / 0.9) / 2.449489742783178), 1e-12, 0);
}

/* At the initial batch size a step is a step of progress. */
static void initial_batch_takes_all_steps(void **state)
{
	(void)state;
	assert_int_equal(fit_synth_iterations(&odd, 24), 7 * 310);
}

/* A run at 32 times the batch, step by step, by another route: count until progress is there. */
static void large_batch_takes_as_many_steps_as_progress_needs(void **state)
{
	double p = 0;
	int64_t n = 0;

	(void)state;
	for (int64_t e = 0; e < 7; e++) {
		double phi = fit_synth_noise_scale(&odd, e);

		while (p < 310.0 * (double)(e + 1) - 1e-6) {
			p += 32 * (phi + 1) / (phi + 32);
			n++;
		}
	}
	assert_int_equal(fit_synth_iterations(&odd, 768), n);
	assert_true(n < 7 * 310 / 4);
}

static void validation_rows(void **state)
{
	struct fit_str text = { 0 };
	struct fit_err err = { 0 };
	double f[8], last = 0;

	(void)state;
	check_ok(fit_synth_validation(&odd, 192, 1, &none, &text, &err), &err);
	assert_int_equal(strncmp(text.s, "progress,iteration,metric,grad_sqr,grad_var\n", 44), 0);
	for (size_t e = 0; e < 7; e++) {
		assert_int_equal(fields_of(&text, e + 1, f), 5);
		/* the epoch ends with the first step at or past its threshold; a step is worth at most 8 */
		assert_true(f[0] >= 310.0 * (double)(e + 1) - 1e-6 && f[0] < 310.0 * (double)(e + 1) + 8);
		assert_true(f[1] > last);
		last = f[1];
		check_real(f[4] / f[3], fit_synth_noise_scale(&odd, (int64_t)e), 1e-7, 0);
	}
	assert_int_equal((int64_t)last, fit_synth_iterations(&odd, 192));
	check_real(f[2], 88, 1e-5, 0);
	fields_of(&text, 1, f);
	check_real(f[2], 61, 1e-5, 0);
	check_real(f[3], 3.5, 1e-8, 0);
	assert_int_equal(fields_of(&text, 8, f), 0);
	fit_str_release(&text);
}

/* The rows without scatter, fitted: the model that they came from. */
static void placements_tell_the_model(void **state)
{
	static struct fit_throughput_obs obs[4000];
	struct fit_str text = { 0 }, more = { 0 };
	struct fit_err err = { 0 };
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	struct fit_throughput *w;
	size_t n = 0, n_names = 0;
	double f[8], last_name = 0;

	(void)state;
	check_ok(fit_synth_placements(&odd, 1, &none, &text, &err), &err);
	check_ok(fit_synth_scalability(&odd, 1, &none, &more, &err), &err);
	for (size_t k = 1; fields_of(&text, k, f) == 4; k++) {
		struct fit_throughput_obs *o = &obs[n++];
		int64_t name = (int64_t)f[0];

		*o = (struct fit_throughput_obs){ .local_bsz = (int64_t)f[1], .step_s = f[2],
						  .sync_s = f[3], .weight = 1 };
		n_names += f[0] > last_name || f[0] < last_name;
		last_name = f[0];
		for (; name; name /= 10) {
			assert_in_range(name % 10, 1, 4);
			o->num_nodes++;
			o->num_replicas += name % 10;
		}
	}
	assert_int_equal(n_names, 108);
	assert_int_equal(n, 108 * 9);		/* 6 to 96 by the square root of two */
	for (size_t k = 1; fields_of(&more, k, f) == 5; k++)
		obs[n++] = (struct fit_throughput_obs){ (int64_t)f[0], (int64_t)f[1], (int64_t)f[2], f[3],
							f[4], 1 };
	assert_int_equal(n, 108 * 9 + (9 + 9 + 9 + 9) * 9);
	fit_throughput_params_default(&p);
	p.std_errors = false;
	p.starts = 1;
	check_ok(fit_throughput_new(&w, &err), &err);
	check_ok(fit_throughput_set(w, obs, n, &p, &err), &err);
	/* what counts as synchronisation has 0.2 % of the compute time in it: not more is off */
	check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
	assert_true(r.mape_pct < 0.5);
	check_real(r.theta.v[FIT_ALPHA_C], 0.037, 0.02, 0);
	check_real(r.theta.v[FIT_BETA_C], 0.00213, 0.02, 0);
	check_real(r.theta.v[FIT_ALPHA_N], 0.41, 0.02, 0);
	fit_throughput_free(w);
	fit_str_release(&text);
	fit_str_release(&more);
}

static void no_placement_is_a_rotation_of_another(void **state)
{
	static bool seen[5000];
	struct fit_str text = { 0 };
	struct fit_err err = { 0 };
	double f[8];

	(void)state;
	check_ok(fit_synth_placements(&odd, 1, &none, &text, &err), &err);
	for (size_t k = 1; fields_of(&text, k, f) == 4; k++) {
		int name = (int)f[0], unit = 1;

		while (unit * 10 <= name)
			unit *= 10;
		for (int other = name % unit * 10 + name / unit; other != name;
		     other = other % unit * 10 + other / unit)
			assert_false(seen[other]);
		seen[name] = true;
	}
	assert_true(seen[132] && seen[123] && seen[1] && seen[44] && seen[1213]);
	assert_false(seen[41] || seen[1312]);
	fit_str_release(&text);
}

static void seed_and_name_decide(void **state)
{
	struct fit_synth_noise z = FIT_SYNTH_NOISE_DEFAULT;
	struct fit_synth_app renamed = odd;
	struct fit_str t[4] = { { 0 } };
	struct fit_err err = { 0 };

	(void)state;
	memcpy(renamed.name, "even", 5);
	check_ok(fit_synth_placements(&odd, 9, &z, &t[0], &err), &err);
	check_ok(fit_synth_placements(&odd, 9, &z, &t[1], &err), &err);
	check_ok(fit_synth_placements(&odd, 10, &z, &t[2], &err), &err);
	check_ok(fit_synth_placements(&renamed, 9, &z, &t[3], &err), &err);
	assert_string_equal(t[0].s, t[1].s);
	assert_string_not_equal(t[0].s, t[2].s);
	assert_string_not_equal(t[0].s, t[3].s);
	for (size_t i = 0; i < 4; i++)
		fit_str_release(&t[i]);
}

/* The rule once more, without its shortcuts: every count, every batch size. */
static void configurations_follow_the_rule(void **state)
{
	static const int64_t counts[] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48 };
	struct fit_tuned found[FIT_SYNTH_TUNED_MAX];
	size_t n = fit_synth_configurations(&odd, 0.3, 0.7, found), at = 0;
	double best[10];
	int64_t batch[10] = { 0 };

	(void)state;
	for (size_t i = 0; i < 10; i++) {
		best[i] = HUGE_VAL;
		for (int64_t b = 24; b <= 768; b *= 2) {
			double local = ceil((double)b / (double)counts[i]), passes = ceil(local / 96), t;

			if (local < 6)
				continue;
			t = (double)fit_synth_iterations(&odd, b) *
			    fit_theta_iteration_time(&odd.theta, (counts[i] + 3) / 4, counts[i],
						     ceil(local / passes), (int64_t)passes - 1);
			if (t < best[i]) {
				best[i] = t;
				batch[i] = b;
			}
		}
		if (best[0] / best[i] / (double)counts[i] > 0.3 &&
		    best[0] / best[i] / (double)counts[i] < 0.7) {
			assert_true(at < n);
			assert_int_equal(found[at].replicas, counts[i]);
			assert_int_equal(found[at].batch, batch[i]);
			check_real(found[at].jct_s, best[i], 1e-12, 0);
			at++;
		}
	}
	assert_int_equal(at, n);
	assert_true(n >= 2);
	/* bounds that nothing meets: one GPU */
	assert_int_equal(fit_synth_configurations(&odd, 5, 6, found), 1);
	assert_int_equal(found[0].replicas, 1);
	assert_int_equal(found[0].batch, batch[0]);
}

static void built_in_calibration_reads_back(void **state)
{
	struct fit_synth_calibration c, back;
	struct fit_meta meta = { 0 };
	struct fit_writer *w;
	struct fit_err err = { 0 };
	const char *dir = getenv("TMPDIR");
	char path[512];

	(void)state;
	snprintf(path, sizeof path, "%s/gf-test-synth.%ld.tsv", dir ? dir : "/tmp", (long)getpid());
	check_ok(fit_synth_calibration_default(&c, &err), &err);
	assert_int_equal(c.n, 6);
	check_ok(fit_writer_open(&w, path, 0, &err), &err);
	check_ok(fit_synth_calibration_write(&c, w, &meta, &err), &err);
	check_ok(fit_writer_close(w, &err), &err);
	assert_non_null(fit_meta_get(&meta, "source"));
	check_ok(fit_synth_calibration_read(&back, path, &err), &err);
	unlink(path);
	assert_int_equal(back.n, c.n);
	for (size_t i = 0; i < c.n; i++) {
		const struct fit_synth_app *a = &c.apps[i], *b = &back.apps[i];

		assert_string_equal(a->name, b->name);
		check_same_bits(b->share, a->share);
		for (int j = 0; j < FIT_THETA_N; j++)
			check_same_bits(b->theta.v[j], a->theta.v[j]);
		assert_int_equal(b->max_batch, a->max_batch);
		assert_int_equal(b->epoch_steps, a->epoch_steps);
		check_same_bits(b->noise_last, a->noise_last);
		check_same_bits(b->metric_last, a->metric_last);
	}
	assert_ptr_equal(fit_synth_find(&c, fit_text_of("ncf")), &c.apps[4]);
	assert_null(fit_synth_find(&c, fit_text_of("nc")));
	fit_meta_release(&meta);
	fit_synth_calibration_release(&c);
	fit_synth_calibration_release(&back);
}

static void parameters_are_checked(void **state)
{
	struct fit_synth_workload_params wp;
	struct fit_synth_jobs_params jp;
	struct fit_err err = { 0 };

	(void)state;
	fit_synth_workload_params_default(&wp);
	check_ok(fit_synth_workload_params_check(&wp, &err), &err);
	wp.lo = 0.9;
	check_err(fit_synth_workload_params_check(&wp, &err), &err, FIT_EINVAL,
		  "efficiency bounds 0.9, 0.8 (expected 0 <= lo < hi)");
	fit_synth_jobs_params_default(&jp);
	check_ok(fit_synth_jobs_params_check(&jp, &err), &err);
	jp.hours = (double)NAN;
	check_err(fit_synth_jobs_params_check(&jp, &err), &err, FIT_EINVAL,
		  "hours nan (expected more than 0, at most 100000)");
	jp.hours = 1;
	jp.users = 0;
	check_err(fit_synth_jobs_params_check(&jp, &err), &err, FIT_EINVAL,
		  "users 0 (expected 1 to 100000)");
	jp.users = 1;
	jp.sigma = -1;
	check_err(fit_synth_jobs_params_check(&jp, &err), &err, FIT_EINVAL, "sigma -1 (expected 0 to 20)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_double),
		cmocka_unit_test(noise_runs_from_first_to_last),
		cmocka_unit_test(initial_batch_takes_all_steps),
		cmocka_unit_test(large_batch_takes_as_many_steps_as_progress_needs),
		cmocka_unit_test(validation_rows),
		cmocka_unit_test(placements_tell_the_model),
		cmocka_unit_test(no_placement_is_a_rotation_of_another),
		cmocka_unit_test(seed_and_name_decide),
		cmocka_unit_test(configurations_follow_the_rule),
		cmocka_unit_test(built_in_calibration_reads_back),
		cmocka_unit_test(parameters_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
