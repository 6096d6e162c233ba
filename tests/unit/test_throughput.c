/* SPDX-License-Identifier: MIT */
/* The throughput model and its fit, and the solver under it. */
#include "tests/unit/check.h"

#include <gsl/gsl_randist.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/rng.h"
#include "libfit/model/lbfgsb.h"
#include "libfit/model/theta.h"
#include "libfit/model/throughput.h"

static const struct fit_theta planted = { { 0.05, 0.002, 0.08, 0.004, 0.03, 0.001, 1.6 } };

/* The step time by the formula as the paper writes it, without logarithms. */
static double plain_step(const struct fit_theta *t, int64_t nodes, int64_t replicas, double bsz)
{
	double a = t->v[0] + t->v[1] * bsz, above = replicas > 2 ? (double)replicas - 2 : 1e-8;
	double k = nodes > 1	  ? t->v[2] + t->v[3] * above
		   : replicas > 1 ? t->v[4] + t->v[5] * above
				  : 1e-8 + 1e-8 * above;

	return pow(pow(a, t->v[6]) + pow(k, t->v[6]), 1 / t->v[6]);
}

static const int shapes[][3] = { { 1, 1, 16 },	{ 1, 1, 32 },  { 1, 1, 64 }, { 1, 2, 16 },
				 { 1, 2, 32 },	{ 1, 4, 16 },  { 1, 4, 64 }, { 2, 2, 16 },
				 { 2, 2, 32 },	{ 2, 4, 32 },  { 2, 8, 16 }, { 2, 8, 64 },
				 { 4, 16, 16 }, { 4, 16, 32 }, { 3, 7, 48 }, { 1, 3, 24 } };
#define N_SHAPES (sizeof shapes / sizeof *shapes)

/* Observations of a model, each time multiplied by exp(noise * normal). */
static size_t make_obs(const struct fit_theta *t, double noise, gsl_rng *rng,
		       struct fit_throughput_obs obs[N_SHAPES])
{
	for (size_t i = 0; i < N_SHAPES; i++) {
		int64_t nodes = shapes[i][0], replicas = shapes[i][1], bsz = shapes[i][2];
		double e = noise > 0 ? exp(noise * gsl_ran_gaussian(rng, 1)) : 1;
		double compute = (t->v[0] + t->v[1] * (double)bsz) * e;
		double step = plain_step(t, nodes, replicas, (double)bsz) * e;

		if (noise > 0)
			compute *= exp(0.5 * noise * gsl_ran_gaussian(rng, 1));
		obs[i] = (struct fit_throughput_obs){ nodes, replicas, bsz, step,
						      fmax(step - compute, 0), 1 };
	}
	return N_SHAPES;
}

static bool is_na(double v)
{
	return isnan(v) != 0;
}

static struct fit_throughput *new_fit(void)
{
	struct fit_throughput *w = NULL;
	struct fit_err err;

	check_ok(fit_throughput_new(&w, &err), &err);
	return w;
}

/* ---- the solver ---- */

/* Driver 1 of the L-BFGS-B distribution: a bounded Rosenbrock function of 25 variables, whose
 * minimum inside the bounds (odd variables in [1, 100], even ones in [-100, 100]) is 0 at (1, ...,
 * 1). */
static double rosenbrock(const double *x, double *g, void *ctx)
{
	const int n = 25;
	double t1, t2, f = 0.25 * (x[0] - 1) * (x[0] - 1);

	(void)ctx;
	for (int i = 1; i < n; i++)
		f += (x[i] - x[i - 1] * x[i - 1]) * (x[i] - x[i - 1] * x[i - 1]);
	t1 = x[1] - x[0] * x[0];
	g[0] = 2 * (x[0] - 1) - 16 * x[0] * t1;
	for (int i = 1; i < n - 1; i++) {
		t2 = t1;
		t1 = x[i + 1] - x[i] * x[i];
		g[i] = 8 * t2 - 16 * x[i] * t1;
	}
	g[n - 1] = 8 * t1;
	return 4 * f;
}

static void solver_rosenbrock(void **state)
{
	struct fit_lbfgsb *w = NULL;
	double x[25], lower[25], upper[25];
	struct fit_err err;
	int rc;

	(void)state;
	for (int i = 0; i < 25; i++) {
		x[i] = 3;
		lower[i] = i % 2 ? -100 : 1;
		upper[i] = 100;
	}
	check_ok(fit_lbfgsb_new(&w, 25, 5, &err), &err);
	check_ok(fit_lbfgsb_set(w, 25, x, lower, upper, 1e-9, 1e-5, &err), &err);
	assert_true(is_na(fit_lbfgsb_f(w)));
	while ((rc = fit_lbfgsb_iterate(w, rosenbrock, NULL, &err)) == FIT_OK)
		assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_RUNNING);
	assert_int_equal(rc, FIT_END);
	assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_SMALL_STEP);
	check_real(fit_lbfgsb_f(w), 0, 0, 1e-7);
	/* The distribution's own output for this driver: 23 iterations, 28 evaluations. */
	assert_in_range(fit_lbfgsb_n_iter(w), 20, 27);
	assert_in_range(fit_lbfgsb_n_eval(w), 23, 34);
	/* To the end: by the gradient alone. */
	check_ok(fit_lbfgsb_set(w, 25, x, lower, upper, 0, 1e-9, &err), &err);
	while ((rc = fit_lbfgsb_iterate(w, rosenbrock, NULL, &err)) == FIT_OK)
		;
	assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_FLAT);
	check_real(fit_lbfgsb_f(w), 0, 0, 1e-12);
	for (int i = 0; i < 6; i++)	/* an error doubles from each variable to the next */
		check_real(fit_lbfgsb_x(w)[i], 1, 0, 1e-4);
	fit_lbfgsb_free(w);
}

/* (x - 3)^2 + 2 (y + 1)^2 + x y / 2, with x <= 2, y >= 0.25: both bounds hold at the minimum. */
static double bowl(const double *x, double *g, void *ctx)
{
	(*(int *)ctx)++;
	g[0] = 2 * (x[0] - 3) + x[1] / 2;
	g[1] = 4 * (x[1] + 1) + x[0] / 2;
	return (x[0] - 3) * (x[0] - 3) + 2 * (x[1] + 1) * (x[1] + 1) + x[0] * x[1] / 2;
}

static void solver_bounds(void **state)
{
	struct fit_lbfgsb *w = NULL;
	double x0[2] = { -7, 9 }, lower[2] = { -(double)INFINITY, 0.25 },
	       upper[2] = { 2, (double)INFINITY };
	double outside[2] = { 2.5, 9 }, crossed[2] = { 3, 0.25 };
	struct fit_err err;
	int calls = 0;

	(void)state;
	check_ok(fit_lbfgsb_new(&w, 3, 10, &err), &err);
	check_ok(fit_lbfgsb_set(w, 2, x0, lower, upper, 0, 1e-10, &err), &err);
	while (fit_lbfgsb_iterate(w, bowl, &calls, &err) == FIT_OK)
		;
	assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_FLAT);
	check_same_bits(fit_lbfgsb_x(w)[0], 2);
	check_same_bits(fit_lbfgsb_x(w)[1], 0.25);
	check_real(fit_lbfgsb_f(w), 1 + 2 * 1.5625 + 0.25, 1e-15, 0);
	assert_int_equal(fit_lbfgsb_n_eval(w), calls);
	assert_int_equal(fit_lbfgsb_iterate(w, bowl, &calls, &err), FIT_END);

	check_err(fit_lbfgsb_set(w, 2, outside, lower, upper, 0, 0, &err), &err, FIT_EINVAL,
		  "start of variable 0 is outside its bounds '2.5' (expected -inf to 2)");
	check_err(fit_lbfgsb_set(w, 2, x0, crossed, upper, 0, 0, &err), &err, FIT_EINVAL,
		  "bounds of variable 0 cross: 3 > 2");
	check_err(fit_lbfgsb_set(w, 4, x0, lower, upper, 0, 0, &err), &err, FIT_EINVAL,
		  "bad number of variables '4' (expected 1 to 3)");
	check_err(fit_lbfgsb_set(w, 2, x0, lower, upper, -1, 0, &err), &err, FIT_EINVAL,
		  "bad tolerance (expected zero or more)");
	fit_lbfgsb_free(w);
	w = NULL;
	check_err(fit_lbfgsb_new(&w, 0, 10, &err), &err, FIT_EINVAL,
		  "bad number of variables '0' (expected 1 to 1000000)");
	check_err(fit_lbfgsb_new(&w, 2, 101, &err), &err, FIT_EINVAL,
		  "bad solver memory '101' (expected 1 to 100)");
	assert_null(w);
	fit_lbfgsb_free(NULL);
}

static double slope(const double *x, double *g, void *ctx)
{
	(void)ctx;
	g[0] = 1;
	return x[0];
}

/* At 1e20 a step of 1 is lost to rounding; the library then writes "ascent direction in projection"
 * to standard output, which must not reach it. */
static void solver_is_silent(void **state)
{
	char path[] = "/tmp/gf-silent.XXXXXX";
	double x0 = 1e20, lower = 0, upper = 1e30;
	struct fit_lbfgsb *w = NULL;
	struct fit_err err;
	int kept, fd, rc;
	long size;

	(void)state;
	check_ok(fit_lbfgsb_new(&w, 1, 10, &err), &err);
	check_ok(fit_lbfgsb_set(w, 1, &x0, &lower, &upper, 0, 1e-10, &err), &err);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	fflush(stdout);
	kept = dup(1);
	dup2(fd, 1);
	rc = fit_lbfgsb_iterate(w, slope, NULL, &err);
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	size = (long)lseek(fd, 0, SEEK_END);
	close(fd);
	unlink(path);
	assert_int_equal(rc, FIT_END);
	assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_STUCK);
	assert_int_equal(size, 0);
	fit_lbfgsb_free(w);
}

static double cliff(const double *x, double *g, void *ctx)
{
	(void)ctx;
	g[0] = 2 * (x[0] - 8);
	return x[0] > 4 ? (double)NAN : (x[0] - 8) * (x[0] - 8);
}

static void solver_not_finite(void **state)
{
	double x0 = 1, lower = -10, upper = 10;
	struct fit_lbfgsb *w = NULL;
	struct fit_err err;
	int rc;

	(void)state;
	check_ok(fit_lbfgsb_new(&w, 1, 10, &err), &err);
	check_ok(fit_lbfgsb_set(w, 1, &x0, &lower, &upper, 0, 1e-10, &err), &err);
	while ((rc = fit_lbfgsb_iterate(w, cliff, NULL, &err)) == FIT_OK)
		;
	check_err(rc, &err, FIT_ENOCONV, "the objective is not finite");
	assert_int_equal(fit_lbfgsb_state(w), FIT_LBFGSB_BROKEN);
	assert_true(fit_lbfgsb_x(w)[0] <= 4);
	assert_true(isfinite(fit_lbfgsb_f(w)) != 0);
	fit_lbfgsb_free(w);
}

/* ---- predictions ---- */

static void predictions(void **state)
{
	struct fit_err err;
	struct fit_theta t = planted;

	(void)state;
	/* Computed apart, in another language, from the formulas. */
	check_real(fit_theta_step_time(&planted, 8, 32, 16), 0.22879574428217694, 1e-14, 0);
	check_real(fit_theta_step_time(&planted, 2, 6, 48), 0.18899298363453967, 1e-14, 0);
	check_real(fit_theta_step_time(&planted, 1, 3, 24), 0.1074427596355698, 1e-14, 0);
	check_real(fit_theta_accum_time(&planted, 48), 0.146, 1e-15, 0);
	check_real(fit_theta_network_time(&planted, 2, 6), 0.096, 1e-15, 0);
	check_real(fit_theta_network_time(&planted, 1, 4), 0.032, 1e-15, 0);
	check_real(fit_theta_network_time(&planted, 1, 2), 0.03 + 1e-11, 1e-15, 0);
	check_real(fit_theta_network_time(&planted, 1, 1), 1e-8 + 1e-16, 1e-15, 0);
	for (size_t i = 0; i < N_SHAPES; i++)
		check_real(fit_theta_step_time(&planted, shapes[i][0], shapes[i][1], shapes[i][2]),
			   plain_step(&planted, shapes[i][0], shapes[i][1], shapes[i][2]), 1e-14,
			   0);
	/* Three passes of 0.146 s before the step. */
	check_real(fit_theta_iteration_time(&planted, 2, 6, 48, 3), 0.6269929836345397, 1e-14, 0);
	check_real(fit_theta_throughput(&planted, 2, 6, 48, 3),
		   6 * 48 * 4 / (0.438 + plain_step(&planted, 2, 6, 48)), 1e-13, 0);
	/* Times whose powers would overflow or vanish. */
	t.v[FIT_GAMMA] = 10;
	t.v[FIT_ALPHA_C] = 1e250;
	check_real(fit_theta_step_time(&t, 2, 2, 1), 1e250, 1e-13, 0);

	check_ok(fit_theta_check(&planted, NULL, &err), &err);
	t = planted;
	t.v[FIT_GAMMA] = 0.99;
	check_err(fit_theta_check(&t, NULL, &err), &err, FIT_EDATA,
		  "bad gamma '0.99' (expected 1 or more)");
	t.v[FIT_BETA_N] = 0;
	check_err(fit_theta_check(&t, NULL, &err), &err, FIT_EDATA,
		  "bad beta_n_s '0' (expected a positive number)");
}

/* ---- objective ---- */

static void gradient(void **state)
{
	static const struct fit_theta points[] = {
		{ { 0.06, 0.0017, 0.07, 0.005, 0.041, 0.0012, 1.3 } },
		{ { 0.02, 0.004, 0.3, 0.0004, 0.002, 0.013, 4.7 } },
		{ { 0.5, 0.00003, 0.01, 0.07, 0.09, 0.0001, 1.0009 } },
	};
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	gsl_rng *rng = fit_rng_new(11, "test/gradient");
	struct fit_err err;
	size_t n = make_obs(&planted, 0.03, rng, obs);

	(void)state;
	for (size_t i = 0; i < n; i++)
		obs[i].weight = 0.5 + 0.37 * (double)i;
	for (int k = 0; k < 2; k++) {
		fit_throughput_params_default(&p);
		p.objective = k ? FIT_RMSLE_ADAPTDL : FIT_RMSLE_STEP;
		check_ok(fit_throughput_set(w, obs, n, &p, &err), &err);
		for (size_t q = 0; q < sizeof points / sizeof *points; q++) {
			double g[FIT_THETA_N];

			fit_throughput_value(w, &points[q], g);
			for (int j = 0; j < FIT_THETA_N; j++) {
				struct fit_theta up = points[q], down = points[q];
				double h = 1e-5 * points[q].v[j], numeric;

				up.v[j] += h;
				down.v[j] -= h;
				numeric = (fit_throughput_value(w, &up, NULL) -
					   fit_throughput_value(w, &down, NULL)) / (2 * h);
				check_real(g[j], numeric, 2e-6, 1e-6 / points[q].v[j] * 1e-3);
			}
		}
	}
	gsl_rng_free(rng);
	fit_throughput_free(w);
}

/* The objectives in a second way, straight from their definitions. */
static void objective_values(void **state)
{
	const struct fit_theta t = { { 0.06, 0.0017, 0.07, 0.005, 0.041, 0.0012, 1.3 } };
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	double a = 0, o = 0, total = 0, expected;
	struct fit_err err;
	size_t n = make_obs(&planted, 0, NULL, obs);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		double da, ds;

		obs[i].weight = 1 + (double)(i % 3);
		da = log(t.v[0] + t.v[1] * (double)obs[i].local_bsz) -
		     log(obs[i].step_s - obs[i].sync_s);
		ds = log(plain_step(&t, obs[i].num_nodes, obs[i].num_replicas,
				    (double)obs[i].local_bsz)) -
		     log(obs[i].step_s);
		total += obs[i].weight;
		a += obs[i].weight * da * da;
		o += obs[i].weight * ds * ds;
	}
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_set(w, obs, n, &p, &err), &err);
	expected = sqrt(a / total) + sqrt(o / total) + 1e-3 * 0.3 * 0.3 +
		   1e-2 * (pow(0.005 / 0.07, 2) + pow(0.0012 / 0.041, 2));
	check_real(fit_throughput_value(w, &t, NULL), expected, 1e-13, 0);
	p.objective = FIT_RMSLE_STEP;
	check_ok(fit_throughput_set(w, obs, n, &p, &err), &err);
	check_real(fit_throughput_value(w, &t, NULL), sqrt(o / total), 1e-13, 0);
	fit_throughput_free(w);
}

/* ---- fits ---- */

static void planted_recovery(void **state)
{
	static const struct fit_theta models[] = {
		{ { 0.05, 0.002, 0.08, 0.004, 0.03, 0.001, 1.6 } },
		{ { 0.4, 0.011, 0.6, 0.021, 0.13, 0.017, 3.1 } },
		{ { 0.0071, 0.00013, 0.012, 0.0009, 0.0043, 0.0003, 1.15 } },
	};
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	struct fit_err err;

	(void)state;
	for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
		size_t n = make_obs(&models[m], 0, NULL, obs);

		/* Without penalties the planted parameters are the minimum, value 0. */
		for (int k = 0; k < 2; k++) {
			fit_throughput_params_default(&p);
			p.objective = k ? FIT_RMSLE_ADAPTDL : FIT_RMSLE_STEP;
			p.gamma_penalty = p.slope_penalty = 0;
			check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
			assert_int_equal(r.status, FIT_THROUGHPUT_CONVERGED);
			assert_int_equal(r.pinned, 0);
			assert_int_equal(r.at_bound, 0);
			assert_int_equal(r.n_obs, n);
			check_real(r.objective, 0, 0, 1e-6);
			check_real(r.mape_pct, 0, 0, 1e-4);
			for (int j = 0; j < FIT_THETA_N; j++)
				check_real(r.theta.v[j], models[m].v[j], 1e-3, 0);
		}
		/* With them the minimum lies at most their value at the planted parameters higher.
		 */
		fit_throughput_params_default(&p);
		check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
		check_real(fmax(r.objective, fit_throughput_value(w, &models[m], NULL)),
			   fit_throughput_value(w, &models[m], NULL), 0, 5e-7);
		check_real(fit_throughput_value(w, &r.raw, NULL), r.objective, 0, 0);
		assert_true(r.rmsle_step <= 1e-2 && r.rmsle_compute <= 1e-2);
	}
	fit_throughput_free(w);
}

static size_t keep(const struct fit_throughput_obs *from, size_t n, int max_nodes, int max_replicas,
		   int64_t bsz, struct fit_throughput_obs *to)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (from[i].num_nodes <= max_nodes && from[i].num_replicas <= max_replicas &&
		    (bsz == 0 || from[i].local_bsz == bsz))
			to[k++] = from[i];
	return k;
}

#define BIT(name) ((int)(1u << FIT_##name))

static void priors(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES], some[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	struct fit_err err;
	size_t all = make_obs(&planted, 0, NULL, obs), n;

	(void)state;
	fit_throughput_params_default(&p);

	n = keep(obs, all, 1, 64, 0, some);	/* one node */
	check_ok(fit_throughput_fit(w, some, n, &p, &r, &err), &err);
	assert_int_equal(r.pinned, BIT(ALPHA_N) | BIT(BETA_N));
	check_same_bits(r.raw.v[FIT_ALPHA_N], 1e-8);
	check_same_bits(r.raw.v[FIT_BETA_N], 1e-8);
	check_same_bits(r.theta.v[FIT_ALPHA_N], 1.1 * r.theta.v[FIT_ALPHA_R]);
	check_same_bits(r.theta.v[FIT_BETA_N], 1.1 * r.theta.v[FIT_BETA_R]);
	check_real(r.theta.v[FIT_ALPHA_R], 0.03, 0.02, 0);
	assert_true(is_na(r.se[FIT_ALPHA_N]) && is_na(r.se[FIT_BETA_N]));
	assert_false(is_na(r.se[FIT_ALPHA_R]));

	n = keep(obs, all, 8, 2, 0, some);	/* at most two GPUs */
	check_ok(fit_throughput_fit(w, some, n, &p, &r, &err), &err);
	assert_int_equal(r.pinned, BIT(BETA_N) | BIT(BETA_R));
	check_same_bits(r.theta.v[FIT_BETA_N], 1e-8);

	n = keep(obs, all, 1, 1, 0, some);	/* one GPU, three batch sizes */
	check_ok(fit_throughput_fit(w, some, n, &p, &r, &err), &err);
	assert_int_equal(r.pinned, BIT(ALPHA_N) | BIT(BETA_N) | BIT(ALPHA_R) | BIT(BETA_R));
	check_real(r.theta.v[FIT_ALPHA_C], 0.05, 1e-4, 0);
	assert_true(is_na(r.se[FIT_GAMMA]));	/* nothing to overlap with */

	n = keep(obs, all, 8, 64, 16, some);	/* one batch size */
	check_ok(fit_throughput_fit(w, some, n, &p, &r, &err), &err);
	assert_int_equal(r.pinned, BIT(ALPHA_C));
	check_real(r.theta.v[FIT_ALPHA_C], 0.082 / 2, 1e-12, 0);
	check_real(r.theta.v[FIT_BETA_C], 0.041 / 16, 1e-3, 0);
	fit_throughput_free(w);
}

/* A weight of 3 is the same as the row three times over. */
static void weights(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES], more[N_SHAPES + 2];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result a, b;
	gsl_rng *rng = fit_rng_new(5, "test/weights");
	struct fit_err err;
	size_t n = make_obs(&planted, 0.05, rng, obs);

	(void)state;
	memcpy(more, obs, sizeof obs);
	more[n] = more[n + 1] = more[4];
	obs[4].weight = 3;
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_fit(w, obs, n, &p, &a, &err), &err);
	check_ok(fit_throughput_fit(w, more, n + 2, &p, &b, &err), &err);
	check_real(a.objective, b.objective, 1e-8, 0);
	check_real(a.mape_pct, b.mape_pct, 1e-4, 0);
	for (size_t i = 0; i < N_SHAPES; i++)
		check_real(fit_theta_step_time(&a.theta, shapes[i][0], shapes[i][1], shapes[i][2]),
			   fit_theta_step_time(&b.theta, shapes[i][0], shapes[i][1], shapes[i][2]),
			   1e-4, 0);
	gsl_rng_free(rng);
	fit_throughput_free(w);
}

static void check_same_result(const struct fit_throughput_result *a,
			      const struct fit_throughput_result *b)
{
	for (int j = 0; j < FIT_THETA_N; j++) {
		check_same_bits(a->theta.v[j], b->theta.v[j]);
		check_same_bits(a->se[j], b->se[j]);
	}
	check_same_bits(a->objective, b->objective);
	assert_int_equal(a->n_iter, b->n_iter);
	assert_int_equal(a->n_eval, b->n_eval);
}

/* The same input gives the same bits, whatever the workspace did before. */
static void same_bits(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES], other[N_SHAPES];
	struct fit_throughput *w = new_fit(), *fresh = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result a, b, c;
	gsl_rng *rng = fit_rng_new(9, "test/bits");
	struct fit_err err;
	size_t n = make_obs(&planted, 0.04, rng, obs);

	(void)state;
	make_obs(&planted, 0.2, rng, other);
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_fit(w, obs, n, &p, &a, &err), &err);
	check_ok(fit_throughput_fit(w, other, n - 3, &p, &b, &err), &err);
	check_ok(fit_throughput_set(w, other, n, &p, &err), &err);
	check_ok(fit_throughput_iterate(w, &err), &err);	/* left in the middle */
	check_ok(fit_throughput_fit(w, obs, n, &p, &b, &err), &err);
	check_ok(fit_throughput_fit(fresh, obs, n, &p, &c, &err), &err);
	check_same_result(&a, &b);
	check_same_result(&a, &c);
	gsl_rng_free(rng);
	fit_throughput_free(w);
	fit_throughput_free(fresh);
}

static void iteration_limit(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r, full;
	struct fit_err err;
	size_t n = make_obs(&planted, 0, NULL, obs);

	(void)state;
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_fit(w, obs, n, &p, &full, &err), &err);
	p.max_iter = 3;
	check_err(fit_throughput_fit(w, obs, n, &p, &r, &err), &err, FIT_ENOCONV,
		  "the fit did not converge (iteration-limit after 3 iterations)");
	assert_int_equal(r.status, FIT_THROUGHPUT_ITERATION_LIMIT);
	assert_int_equal(r.n_iter, 3);
	assert_true(isfinite(r.objective) && r.objective > full.objective);
	check_ok(fit_theta_check(&r.theta, NULL, &err), &err);
	check_real(fit_throughput_value(w, &r.raw, NULL), r.objective, 0, 0);
	/* Set, iterate, look, stop early. */
	p.max_iter = 1000;
	check_ok(fit_throughput_set(w, obs, n, &p, &err), &err);
	for (int i = 0; i < 5; i++) {
		check_ok(fit_throughput_iterate(w, &err), &err);
		assert_int_equal(fit_throughput_converged(w), FIT_THROUGHPUT_RUNNING);
	}
	assert_int_equal(fit_throughput_result(w, &r, &err), FIT_ENOCONV);
	assert_int_equal(r.status, FIT_THROUGHPUT_RUNNING);
	check_ok(fit_theta_check(&r.theta, NULL, &err), &err);
	fit_throughput_free(w);
}

static void warm_start(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES], some[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p, warm;
	struct fit_throughput_result before, cold, again;
	gsl_rng *rng = fit_rng_new(3, "test/warm");
	struct fit_err err;
	size_t n = make_obs(&planted, 0.03, rng, obs), k = keep(obs, n, 1, 64, 0, some);

	(void)state;
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_fit(w, some, k, &p, &before, &err), &err);
	check_ok(fit_throughput_fit(w, obs, n, &p, &cold, &err), &err);
	/* From a model that has not seen several nodes. */
	fit_throughput_params_warm(&warm, &before.raw);
	check_ok(fit_throughput_fit(w, obs, n, &warm, &again, &err), &err);
	check_real(again.objective, cold.objective, 0, 1e-5);
	assert_true(again.n_iter < cold.n_iter);
	assert_true(is_na(again.se[FIT_ALPHA_C]));	/* not asked for */
	gsl_rng_free(rng);
	fit_throughput_free(w);
}

/* ---- standard errors ---- */

/* On one GPU the model is log(alpha + beta b): two parameters, whose covariance is s^2 (J'J)^-1. */
static void standard_errors_by_hand(void **state)
{
	static const double times[] = { 0.083, 0.115, 0.176, 0.131, 0.092 };
	static const int sizes[] = { 16, 32, 64, 40, 21 };
	struct fit_throughput_obs obs[5];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	double aa = 0, ab = 0, bb = 0, rss = 0, det;
	struct fit_err err;

	(void)state;
	for (int i = 0; i < 5; i++)
		obs[i] = (struct fit_throughput_obs){ 1, 1, sizes[i], times[i], (double)NAN, 1 };
	fit_throughput_params_default(&p);
	p.objective = FIT_RMSLE_STEP;
	check_ok(fit_throughput_fit(w, obs, 5, &p, &r, &err), &err);
	for (int i = 0; i < 5; i++) {
		double a = r.theta.v[0] + r.theta.v[1] * sizes[i], e = log(a) - log(times[i]);

		aa += 1 / (a * a);
		ab += sizes[i] / (a * a);
		bb += sizes[i] * sizes[i] / (a * a);
		rss += e * e;
	}
	det = aa * bb - ab * ab;
	check_real(r.rmsle_step, sqrt(rss / 5), 1e-6, 0);
	assert_true(is_na(r.rmsle_compute));
	check_real(r.se[FIT_ALPHA_C], sqrt(rss / 3 * bb / det), 1e-5, 0);
	check_real(r.se[FIT_BETA_C], sqrt(rss / 3 * aa / det), 1e-5, 0);
	assert_true(is_na(r.se[FIT_GAMMA]) && is_na(r.se[FIT_ALPHA_R]));
	fit_throughput_free(w);
}

/* They say how much the estimates scatter: 150 fits of data with 1 % noise. */
static void standard_errors_cover(void **state)
{
	enum { RUNS = 150 };
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	double sum[FIT_THETA_N] = { 0 }, sq[FIT_THETA_N] = { 0 }, se[FIT_THETA_N] = { 0 };
	gsl_rng *rng = fit_rng_new(1, "test/scatter");
	struct fit_err err;

	(void)state;
	fit_throughput_params_default(&p);
	p.gamma_penalty = p.slope_penalty = 0;
	p.starts = 1;
	for (int i = 0; i < RUNS; i++) {
		size_t n = make_obs(&planted, 0.01, rng, obs);

		check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
		for (int j = 0; j < FIT_THETA_N; j++) {
			sum[j] += r.theta.v[j];
			sq[j] += r.theta.v[j] * r.theta.v[j];
			se[j] += is_na(r.se[j]) ? 0 : r.se[j];
		}
	}
	for (int j = 0; j < FIT_THETA_N; j++) {
		double mean = sum[j] / RUNS, sd = sqrt(sq[j] / RUNS - mean * mean);

		print_message("# %s: mean %.4g, scatter %.3g, mean standard error %.3g\n",
			      fit_theta_names[j], mean, sd, se[j] / RUNS);
		/* beta_r rests on three rows and is cut off at its bound; it is only looked at. */
		if (j != FIT_BETA_R)
			check_real(se[j] / RUNS, sd, 0.35, 0);
	}
	gsl_rng_free(rng);
	fit_throughput_free(w);
}

/* ---- errors ---- */

static void bad_observations(void **state)
{
	static const struct {
		struct fit_throughput_obs o;
		const char *field, *message;
	} cases[] = {
		{ { 0, 1, 16, 0.1, 0, 1 },
		  "num_nodes",
		  "bad number of nodes '0' (expected 1 or more)" },
		{ { 1, 0, 16, 0.1, 0, 1 },
		  "num_replicas",
		  "bad number of replicas '0' (expected 1 or more)" },
		{ { 3, 2, 16, 0.1, 0, 1 }, "num_nodes",
		  "more nodes than replicas '3' (expected at most 2)" },
		{ { 1, 1, 0, 0.1, 0, 1 }, "local_bsz", "bad batch size '0' (expected 1 or more)" },
		{ { 1, 1, 16, 0, 0, 1 }, "step_s",
		  "bad step time '0' (expected seconds, 1e-06 to 1e+09)" },
		{ { 1, 1, 16, (double)INFINITY, 0, 1 }, "step_s",
		  "bad step time 'inf' (expected seconds, 1e-06 to 1e+09)" },
		{ { 1, 1, 16, 0.1, -0.01, 1 }, "sync_s",
		  "bad synchronisation time '-0.01' (expected 0 or more seconds)" },
		{ { 1, 1, 16, 0.1, 0.1, 1 }, "sync_s",
		  "synchronisation time not below the step time '0.1' (expected less than 0.1)" },
		{ { 1, 1, 16, 0.1, 0, 0 },
		  "weight",
		  "bad weight '0' (expected a positive number)" },
	};
	struct fit_throughput_obs unknown = { 1, 1, 16, 0.1, (double)NAN, 1 }, pair[2];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	const char *field;
	struct fit_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		check_err(fit_throughput_obs_check(&cases[i].o, true, &field, &err), &err,
			  FIT_EDATA, cases[i].message);
		check_text(field, cases[i].field);
	}
	check_ok(fit_throughput_obs_check(&unknown, false, &field, &err), &err);
	assert_int_equal(fit_throughput_obs_check(&unknown, true, &field, &err), FIT_EDATA);
	check_text(field, "sync_s");

	fit_throughput_params_default(&p);
	check_err(fit_throughput_set(w, pair, 0, &p, &err), &err, FIT_EDATA, "no observations");
	pair[0] = (struct fit_throughput_obs){ 1, 1, 16, 0.1, 0, 1 };
	pair[1] = cases[3].o;
	check_err(fit_throughput_set(w, pair, 2, &p, &err), &err, FIT_EDATA,
		  "observation 2: bad batch size '0' (expected 1 or more)");
	pair[1] = pair[0];
	pair[0].weight = pair[1].weight = 1e308;
	check_err(fit_throughput_set(w, pair, 2, &p, &err), &err, FIT_EDATA,
		  "the weights add up to more than a number can hold");
	fit_throughput_free(w);
	fit_throughput_free(NULL);
}

static void bad_params(void **state)
{
	struct fit_throughput_params p;
	struct fit_err err;

	(void)state;
#define REFUSED(change, message) do { \
		fit_throughput_params_default(&p); \
		change; \
		check_err(fit_throughput_params_check(&p, &err), &err, FIT_EINVAL, message); \
	} while (0)
	REFUSED(p.starts = 65, "bad number of starts '65' (expected 1 to 64)");
	REFUSED(p.max_iter = 0, "bad iteration limit '0' (expected 1 or more)");
	REFUSED(p.max_restarts = 0, "bad restart limit '0' (expected 1 or more)");
	REFUSED(p.tol = 0, "bad tolerance '0' (expected a positive number)");
	REFUSED(p.gamma_penalty = -1, "bad penalty (expected 0 or more)");
	REFUSED(p.link_ratio = (double)NAN, "bad link ratio 'nan' (expected 0 or more)");
	REFUSED(p.lower[FIT_GAMMA] = 0.5,
		"bad bounds of gamma '0.5' to '10' (expected an interval from 1 or more)");
	REFUSED(p.upper[FIT_BETA_R] = 1e-9,
		"bad bounds of beta_r_s '1e-08' to '1e-09' "
		"(expected an interval of positive numbers)");
	REFUSED(p.start[FIT_ALPHA_N] = -2,
		"start of alpha_n_s is outside its bounds '-2' (expected 1e-08 to inf)");
	REFUSED(p.start[FIT_GAMMA] = 11,
		"start of gamma is outside its bounds '11' (expected 1 to 10)");
#undef REFUSED
	fit_throughput_params_default(&p);
	check_ok(fit_throughput_params_check(&p, &err), &err);
	check_text(fit_throughput_status_name(FIT_THROUGHPUT_RESTART_LIMIT), "restart-limit");
}

/* Bounds are respected, and an optimum on one of them is reported. */
static void bounds(void **state)
{
	struct fit_throughput_obs obs[N_SHAPES];
	struct fit_throughput *w = new_fit();
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	struct fit_err err;
	size_t n = make_obs(&planted, 0, NULL, obs);

	(void)state;
	fit_throughput_params_default(&p);
	p.upper[FIT_GAMMA] = 1.25;
	check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
	check_real(r.theta.v[FIT_GAMMA], 1.25, 1e-9, 0);
	assert_int_equal(r.at_bound, BIT(GAMMA));
	assert_true(is_na(r.se[FIT_GAMMA]) && !is_na(r.se[FIT_BETA_C]));
	fit_throughput_params_default(&p);
	p.lower[FIT_ALPHA_C] = 0.06;
	check_ok(fit_throughput_fit(w, obs, n, &p, &r, &err), &err);
	check_real(r.theta.v[FIT_ALPHA_C], 0.06, 1e-9, 0);
	assert_int_equal(r.at_bound, BIT(ALPHA_C));
	fit_throughput_free(w);
}

/* ---- theta tables ---- */

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void theta_tables(void **state)
{
	static const char head[] =
		"app\talpha_c_s\tbeta_c_s\talpha_n_s\tbeta_n_s\talpha_r_s\tbeta_r_s\t"
		"gamma\n";
	char path[] = "/tmp/gf-theta.XXXXXX", expected[200];
	struct fit_theta_list l = { 0 };
	struct fit_str text = { 0 };
	struct fit_err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fit_str_printf(&text, "%sbert\t.5\t.06\t.7\t.08\t.9\t.1\t1.1\n"
					"yolo\t5\t6\t7\t8\t9\t1e-1\t1.25\n", head), FIT_OK);
	write_text(path, text.s);
	check_ok(fit_theta_list_read(&l, path, &err), &err);
	assert_int_equal(l.n, 2);
	check_real(fit_theta_list_find(&l, fit_text_of("yolo"))->v[FIT_GAMMA], 1.25, 0, 0);
	check_real(fit_theta_list_find(&l, fit_text_of("bert"))->v[FIT_BETA_C], 0.06, 1e-15, 0);
	assert_null(fit_theta_list_find(&l, fit_text_of("ber")));
	assert_null(fit_theta_list_find(&l, (struct fit_text){ 0 }));
	assert_int_equal(strlen(l.hash), FIT_HASH_HEX - 1);
	fit_theta_list_release(&l);

	fit_str_clear(&text);
	assert_int_equal(fit_str_printf(&text, "%sNA\t.5\t.06\t.7\t.08\t.9\t.1\t1.1\n", head),
			 FIT_OK);
	write_text(path, text.s);
	check_ok(fit_theta_list_read(&l, path, &err), &err);
	assert_non_null(fit_theta_list_find(&l, fit_text_of("whatever")));
	assert_ptr_equal(fit_theta_list_find(&l, (struct fit_text){ 0 }), &l.entries[0].theta);
	fit_theta_list_release(&l);

	fit_str_clear(&text);
	assert_int_equal(
		fit_str_printf(&text, "%sa\t1\t1\t1\t1\t1\t1\t1\na\t1\t1\t1\t1\t1\t1\t1\n", head),
		FIT_OK);
	write_text(path, text.s);
	snprintf(expected, sizeof expected,
		 "%s:3:app: a second model of 'a' (expected one row an application)", path);
	check_err(fit_theta_list_read(&l, path, &err), &err, FIT_EDATA, expected);
	fit_str_clear(&text);
	assert_int_equal(fit_str_printf(&text, "%sa\t1\t-1\t1\t1\t1\t1\t1\n", head), FIT_OK);
	write_text(path, text.s);
	snprintf(expected, sizeof expected,
		 "%s:2:beta_c_s: bad beta_c_s '-1' (expected a positive number)", path);
	check_err(fit_theta_list_read(&l, path, &err), &err, FIT_EDATA, expected);
	assert_int_equal(l.n, 0);
	unlink(path);
	fit_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solver_rosenbrock), cmocka_unit_test(solver_bounds),
		cmocka_unit_test(solver_is_silent), cmocka_unit_test(solver_not_finite),
		cmocka_unit_test(predictions), cmocka_unit_test(gradient),
		cmocka_unit_test(objective_values), cmocka_unit_test(planted_recovery),
		cmocka_unit_test(priors), cmocka_unit_test(weights), cmocka_unit_test(same_bits),
		cmocka_unit_test(iteration_limit), cmocka_unit_test(warm_start),
		cmocka_unit_test(standard_errors_by_hand), cmocka_unit_test(standard_errors_cover),
		cmocka_unit_test(bad_observations), cmocka_unit_test(bad_params),
		cmocka_unit_test(bounds), cmocka_unit_test(theta_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
