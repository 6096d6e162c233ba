/* SPDX-License-Identifier: MIT */
/* The noise scale: estimators, windows, curves, the runs of a profile. */
#include "tests/unit/check.h"

#include <gsl/gsl_randist.h>
#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/rng.h"
#include "libfit/model/pgns.h"
#include "libfit/model/pgns_curve.h"
#include "libfit/model/pgns_runs.h"
#include "libfit/model/pgns_window.h"

/* ---- planted gradients ---- */

#define DIM 60

/* A true gradient and the standard deviation of one sample of it, by coordinate. */
struct planted {
	double grad[DIM], sd[DIM];
	double signal, noise, phi;
};

static void plant(struct planted *p, double scale)
{
	p->signal = p->noise = 0;
	for (int i = 0; i < DIM; i++) {
		p->grad[i] = scale * (0.3 + 0.01 * i) * (i % 3 ? 1 : -1);
		p->sd[i] = 0.7 + 0.05 * (i % 11);
		p->signal += p->grad[i] * p->grad[i];
		p->noise += p->sd[i] * p->sd[i];
	}
	p->phi = p->noise / p->signal;
}

/* Draw the micro-batches of a step; mean gets their mean gradient. */
static struct fit_pgns_step draw(const struct planted *p, gsl_rng *rng, int64_t replicas,
				 int64_t accum, int64_t bsz, double mean[DIM])
{
	struct fit_pgns_step s = { replicas, accum, bsz, true, false, 0, 0, 0, 0 };
	int64_t n = replicas * (accum + 1);

	memset(mean, 0, DIM * sizeof *mean);
	for (int64_t k = 0; k < n; k++) {
		double sqr = 0;

		for (int i = 0; i < DIM; i++) {
			double g = p->grad[i] +
				   p->sd[i] / sqrt((double)bsz) * gsl_ran_gaussian(rng, 1);

			sqr += g * g;
			mean[i] += g / (double)n;
		}
		s.local_sqr += sqr / (double)n;
	}
	for (int i = 0; i < DIM; i++)
		s.global_sqr += mean[i] * mean[i];
	return s;
}

/* Several micro-batches, at a mix of batch sizes: signal, noise and phi within four standard errors, and
 * these are small enough to mean something. */
static void test_planted_replicas(void **state)
{
	static const int64_t splits[][3] = {
		{ 2, 0, 8 }, { 4, 0, 16 }, { 1, 3, 8 }, { 3, 1, 20 }, { 16, 0, 4 }
	};
	struct planted p;
	struct fit_pgns_mean m = { 0 };
	struct fit_pgns_estimate e;
	double mean[DIM], naive = 0;
	gsl_rng *rng = fit_rng_new(5, "test/pgns");

	(void)state;
	assert_non_null(rng);
	plant(&p, 0.12);
	for (int t = 0; t < 4000; t++) {
		const int64_t *at = splits[t % 5];
		struct fit_pgns_step s = draw(&p, rng, at[0], at[1], at[2], mean);
		double signal = 0, noise = 0;

		assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_REPLICAS);
		fit_pgns_add(&m, signal, noise, 0, 1);
		naive += noise / signal / 4000;
	}
	e = fit_pgns_estimate(&m, 32);
	assert_true(e.estimable);
	check_real(e.phi, p.phi, 0, 4 * e.se_phi);
	assert_true(e.se_phi < 0.03 * p.phi && e.se_phi > 0.001 * p.phi);
	check_real(e.grad_sqr, p.signal, 0.05, 0);
	check_real(e.grad_var, p.noise / 32, 0.02, 0);
	check_real(e.phi, 32 * e.grad_var / e.grad_sqr, 1e-14, 0);
	/* the mean of ratios, which nobody should use, is far off */
	assert_true(fabs(naive - p.phi) > 0.2 * p.phi);
	gsl_rng_free(rng);
}

/* Two hundred repetitions: the standard error is about right. */
static void test_standard_error(void **state)
{
	struct planted p;
	double mean[DIM];
	int inside = 0;
	gsl_rng *rng = fit_rng_new(6, "test/pgns");

	(void)state;
	plant(&p, 0.3);
	for (int k = 0; k < 200; k++) {
		struct fit_pgns_mean m = { 0 };
		struct fit_pgns_estimate e;

		for (int t = 0; t < 60; t++) {
			struct fit_pgns_step s = draw(&p, rng, 4, 0, 16, mean);
			double signal = 0, noise = 0;

			assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise),
					 FIT_PGNS_REPLICAS);
			fit_pgns_add(&m, signal, noise, 0, 1);
		}
		e = fit_pgns_estimate(&m, 64);
		inside += e.estimable && fabs(e.phi - p.phi) <= 2 * e.se_phi;
	}
	assert_true(inside >= 176 && inside <= 200); /* 95.4 % expected, 88 % is far out */
	gsl_rng_free(rng);
}

/* One replica, no accumulation: consecutive steps, the batch size changing on the way. */
static void test_planted_differenced(void **state)
{
	struct planted p;
	struct fit_pgns_mean m = { 0 };
	struct fit_pgns_estimate e;
	double now[DIM], before[DIM], prev_batch = 0;
	gsl_rng *rng = fit_rng_new(7, "test/pgns");

	(void)state;
	plant(&p, 0.2);
	for (int t = 0; t < 8000; t++) {
		struct fit_pgns_step s = draw(&p, rng, 1, 0, t / 3 % 2 ? 48 : 16, now);
		double signal = 0, noise = 0;

		if (t == 0) {
			assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise),
					 FIT_PGNS_UNKNOWN);
		} else {
			s.has_previous = true;
			for (int i = 0; i < DIM; i++) {
				s.prev_dot += now[i] * before[i];
				s.prev_diff_sqr += (now[i] - before[i]) * (now[i] - before[i]);
			}
			assert_int_equal(fit_pgns_of_step(&s, prev_batch, &signal, &noise),
					 FIT_PGNS_DIFFERENCED);
			fit_pgns_add(&m, signal, noise, 0, 1);
		}
		prev_batch = (double)s.local_bsz;
		memcpy(before, now, sizeof before);
	}
	e = fit_pgns_estimate(&m, 16);
	check_real(e.phi, p.phi, 0.03, 0);
	check_real(e.grad_sqr, p.signal, 0.03, 0);
	check_real(e.grad_var, p.noise / 16, 0.02, 0);
	gsl_rng_free(rng);
}

/* Squares that hold exactly what they should, by the definitions. */
static void test_of_step(void **state)
{
	/* signal 2, noise 60, b = 5, B = 5 x 3 x 2 = 30 */
	struct fit_pgns_step s = { 3, 1, 5, true, false, 2 + 60.0 / 5, 2 + 60.0 / 30, 0, 0 };
	double signal = -7, noise = -7;

	(void)state;
	check_real(fit_pgns_batch(&s), 30, 0, 0);
	assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_REPLICAS);
	check_real(signal, 2, 1e-14, 0);
	check_real(noise, 60, 1e-14, 0);
	s.local_sqr = (double)INFINITY;
	assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_NONFINITE);
	s.local_sqr = 3;
	s.global_sqr = (double)NAN;
	assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_NONFINITE);
	s.has_squares = false;
	assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_UNKNOWN);
	/* differenced, at equal and at different batch sizes: 60 (1/5 + 1/5), 60 (1/5 + 1/20) */
	s = (struct fit_pgns_step){ 1, 0, 5, false, true, 0, 0, 2, 24 };
	assert_int_equal(fit_pgns_of_step(&s, 0, &signal, &noise), FIT_PGNS_DIFFERENCED);
	check_real(noise, 60, 1e-14, 0);
	s.prev_diff_sqr = 15;
	assert_int_equal(fit_pgns_of_step(&s, 20, &signal, &noise), FIT_PGNS_DIFFERENCED);
	check_real(signal, 2, 0, 0);
	check_real(noise, 60, 1e-14, 0);
	s.prev_dot = -(double)INFINITY;
	assert_int_equal(fit_pgns_of_step(&s, 20, &signal, &noise), FIT_PGNS_NONFINITE);
}

static void test_estimable(void **state)
{
	struct fit_pgns_mean m = { 0 };
	struct fit_pgns_estimate e = fit_pgns_estimate(&m, 10);

	(void)state;
	assert_false(e.estimable); /* of nothing */
	fit_pgns_add(&m, -1, 5, 0, 1);
	e = fit_pgns_estimate(&m, 10);
	assert_false(e.estimable);
	check_real(e.phi, 0, 0, 0);
	check_real(e.grad_sqr, -1, 0, 0);
	check_real(e.grad_var, 0.5, 1e-15, 0);
	fit_pgns_add(&m, 4, 3, 0, 1);
	e = fit_pgns_estimate(&m, 10);
	assert_true(e.estimable);
	check_real(e.phi, 4 / 1.5, 1e-15, 0);
	fit_pgns_add(&m, 4, -20, 0, 1); /* noise below 0 */
	assert_false(fit_pgns_estimate(&m, 10).estimable);
	m = (struct fit_pgns_mean){ 0 };
	fit_pgns_add(&m, 4, 20, 0, 1);
	e = fit_pgns_estimate(&m, 10);
	assert_true(e.estimable && isnan(e.se_phi)); /* one step does not say how far off it is */
}

/* Smoothing against the sum that it stands for: weights (1 - f_t) x product of the later f. */
static void test_smooth(void **state)
{
	static const double signal[] = { 3, 1.5, 7, 2.25, -1 }, noise[] = { 40, 31, 77, 25, 60 };
	static const double scale[] = { 1, 2, 1, 4.5, 1 };
	struct fit_pgns_mean m = { 0 };
	double w = 0, a = 0, b = 0;

	(void)state;
	for (int t = 0; t < 5; t++) {
		double f = pow(0.9, scale[t]);

		w = w * f + 1 - f;
		a = a * f + (1 - f) * signal[t];
		b = b * f + (1 - f) * noise[t];
		fit_pgns_add(&m, signal[t], noise[t], 0.9, scale[t]);
		check_real(m.signal, a / w, 1e-13, 0);
		check_real(m.noise, b / w, 1e-13, 0);
	}
	/* with plain averages, the second moments are those of the textbook */
	m = (struct fit_pgns_mean){ 0 };
	for (int t = 0; t < 5; t++)
		fit_pgns_add(&m, signal[t], noise[t], 0, scale[t]);
	check_real(m.signal, 2.55, 1e-14, 0);
	a = b = w = 0;
	for (int t = 0; t < 5; t++) {
		a += (signal[t] - 2.55) * (signal[t] - 2.55);
		b += (noise[t] - 46.6) * (noise[t] - 46.6);
		w += (noise[t] - 46.6) * (signal[t] - 2.55);
	}
	check_real(m.ss, a, 1e-13, 0);
	check_real(m.nn, b, 1e-13, 0);
	check_real(m.sn, w, 1e-13, 0);
}

static void test_efficiency(void **state)
{
	(void)state;
	check_real(fit_pgns_efficiency(100, 20, 80), 120.0 / 180, 1e-15, 0);
	check_real(fit_pgns_gain(100, 20, 80), 4 * 120.0 / 180, 1e-15, 0);
	check_real(fit_pgns_efficiency(0, 20, 80), 0.25, 1e-15, 0);
	check_real(fit_pgns_gain(0, 20, 80), 1, 1e-15, 0);
	check_real(fit_pgns_efficiency((double)INFINITY, 20, 80), 1, 0, 0);
	check_real(fit_pgns_efficiency(7, 20, 20), 1, 0, 0);
}

/* ---- windows ---- */

/* A row whose squares hold that signal and noise exactly. */
static struct fit_pgns_row exact_row(int64_t step, int64_t replicas, int64_t bsz, double signal,
				     double noise)
{
	double b = (double)bsz, batch = b * (double)replicas;

	return (struct fit_pgns_row){ .norms = { replicas, 0, bsz, true, false, signal + noise / b,
						 signal + noise / batch, 0, 0 },
				      .step = step };
}

static void test_windows(void **state)
{
	struct fit_pgns_window_params p = { .steps = 3 };
	struct fit_pgns_log l = { 0 };
	struct fit_pgns_window w;
	struct fit_pgns_row r;
	struct fit_err err;
	bool closed;
	double progress;

	(void)state;
	/* signal 2, noise 64 at 4 x 8 (three steps, one of them an overflow) */
	for (int t = 0; t < 3; t++) {
		r = exact_row(t, 4, 8, 2, 64);
		if (t == 1)
			r.norms.global_sqr = (double)NAN;
		check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
		assert_false(closed);
	}
	/* the fourth closes the window; 8 x 8 and a smaller signal from here */
	r = exact_row(3, 8, 8, 0.5, 64);
	check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
	assert_true(closed);
	assert_int_equal(w.index, 0);
	assert_int_equal(w.step_from, 0);
	assert_int_equal(w.step_to, 2);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.n_nonfinite, 1);
	assert_int_equal(w.batch_size, 32);
	assert_int_equal(w.init_batch, 32);
	check_text(w.estimator, "replicas");
	check_real(w.estimate.phi, 32, 1e-13, 0);
	check_real(w.progress, 1, 1e-13, 0); /* middle of two steps at M0 */
	/* a step that does not grow, and one with a batch of its own */
	r = exact_row(3, 16, 8, 0.5, 64);
	check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
	assert_int_equal(l.backwards, 1);
	assert_true(fit_pgns_log_end(&l, &p, &w));
	check_real(w.estimate.phi, 128, 1e-13, 0);
	assert_int_equal(w.batch_size, 96);
	progress = 2 + fit_pgns_gain(128, 32, 64) + fit_pgns_gain(128, 32, 128);
	check_real(w.progress, 0.5 * (2 + progress), 1e-13, 0);
	check_real(l.progress, progress, 1e-13, 0);
	assert_false(fit_pgns_log_end(&l, &p, &w));
	fit_pgns_log_release(&l);

	/* not estimable, and no step at all; the initial batch size is given */
	p = (struct fit_pgns_window_params){ .by_epoch = true, .init_batch = 16 };
	r = exact_row(0, 4, 8, -1, 64);
	r.has_epoch = true;
	check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
	r = exact_row(1, 1, 32, 2, 64);
	r.has_epoch = true;
	r.epoch = 1;
	check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
	assert_true(closed && w.any && !w.estimate.estimable);
	assert_int_equal(w.init_batch, 16);
	assert_true(fit_pgns_log_end(&l, &p, &w));
	assert_true(!w.any && w.n == 0 && w.n_unknown == 1);
	assert_null(w.estimator);
	assert_int_equal(w.epoch, 1);
	fit_pgns_log_release(&l);

	/* smoothed: earlier windows are not forgotten at once; progress of the log, at the end */
	p = (struct fit_pgns_window_params){ .steps = 1, .smooth = 0.5 };
	for (int t = 0; t < 3; t++) {
		r = exact_row(t, 4, 8, t < 2 ? 2 : 0.5, 64);
		r.has_progress = true;
		r.progress = 10 + t;
		check_ok(fit_pgns_log_row(&l, &p, &r, &w, &closed, &err), &err);
	}
	assert_true(fit_pgns_log_end(&l, &p, &w));
	check_real(w.estimate.grad_sqr, (0.5 * 0.5 + 0.25 * 2 + 0.125 * 2) / 0.875, 1e-13, 0);
	check_real(w.progress, 12, 0, 0);
	fit_pgns_log_release(&l);
}

/* ---- curves ---- */

static int by_progress(const void *pa, const void *pb)
{
	const struct fit_pgns_point *a = pa, *b = pb;

	return (a->progress > b->progress) - (a->progress < b->progress);
}

/* A drift, a jump by e^2, a drift the other way: three pieces where they are, values within noise. */
static void test_curve_planted(void **state)
{
	struct fit_pgns_point pts[300];
	struct fit_pgns_curve c = { .batch = 64, .init_batch = 64 };
	gsl_rng *rng = fit_rng_new(8, "test/curve");
	struct fit_err err;

	(void)state;
	for (int i = 0; i < 300; i++) {
		double x = (i * 37) % 300, y = x < 100	 ? 3 + 0.01 * x
					       : x < 210 ? 6 - 0.004 * x
							 : 9.5;

		pts[i] = (struct fit_pgns_point){ x, exp(y + 0.05 * gsl_ran_gaussian(rng, 1)), 1 };
	}
	check_ok(fit_pgns_curve_fit(&c, pts, 300, FIT_PGNS_PENALTY, &err), &err);
	assert_int_equal(c.n, 3);
	check_real(c.pieces[0].to, 99, 0, 0);
	check_real(c.pieces[1].from, 100, 0, 0);
	check_real(c.pieces[1].to, 209, 0, 0);
	check_real(c.pieces[2].to, 299, 0, 0);
	check_real(c.pieces[0].log_from, 3, 0, 0.04);
	check_real(c.pieces[0].log_to, 3.99, 0, 0.04);
	check_real(c.pieces[1].log_from, 5.6, 0, 0.04);
	check_real(c.pieces[2].log_to, 9.5, 0, 0.04);
	check_real(c.rms_log, 0.05, 0.15, 0);
	check_real(fit_pgns_curve_log_phi(&c, 50), 3.5, 0, 0.03);
	/* between the pieces, and outside */
	check_real(fit_pgns_curve_log_phi(&c, 99.5), c.pieces[0].log_to, 0, 0);
	check_real(fit_pgns_curve_log_phi(&c, 99.51), c.pieces[1].log_from, 0, 0);
	check_real(fit_pgns_curve_log_phi(&c, -1e9), c.pieces[0].log_from, 0, 0);
	check_real(fit_pgns_curve_log_phi(&c, 1e9), c.pieces[2].log_to, 0, 0);
	assert_int_equal(c.pieces[0].n + c.pieces[1].n + c.pieces[2].n, 300);
	fit_pgns_curve_release(&c);
	gsl_rng_free(rng);
}

/* Weighted squared residuals of the line through points [i, j), by a formula of its own. */
static double line_cost(const struct fit_pgns_point *p, int i, int j)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, rss = 0, slope;

	for (int k = i; k < j; k++) {
		w += p[k].weight;
		x += p[k].weight * p[k].progress;
		y += p[k].weight * log(p[k].phi);
	}
	for (int k = i; k < j; k++) {
		xx += p[k].weight * (p[k].progress - x / w) * (p[k].progress - x / w);
		xy += p[k].weight * (p[k].progress - x / w) * (log(p[k].phi) - y / w);
	}
	slope = xx > 0 ? xy / xx : 0;
	for (int k = i; k < j; k++) {
		double r = log(p[k].phi) - y / w - slope * (p[k].progress - x / w);

		rss += p[k].weight * r * r;
	}
	return rss;
}

/* Against all 2^(n-1) ways to cut up to fourteen points: of those with as many pieces, none fits
 * better than the one that was found. */
static void test_curve_optimal(void **state)
{
	gsl_rng *rng = fit_rng_new(9, "test/curve");
	struct fit_err err;

	(void)state;
	for (int trial = 0; trial < 25; trial++) {
		int n = 6 + trial % 9;
		struct fit_pgns_point p[14];
		struct fit_pgns_curve c = { .batch = 1, .init_batch = 1 };
		double best[15], rss = 0;
		size_t pieces;

		for (int i = 0; i < n; i++) {
			p[i] = (struct fit_pgns_point){ 10.0 * i + gsl_ran_flat(rng, 0, 8),
							exp(gsl_ran_gaussian(rng, 1) +
							    (i > n / 2 ? 3 : 0)),
							gsl_ran_flat(rng, 0.5, 2) };
		}
		check_ok(fit_pgns_curve_fit(&c, p, (size_t)n, 1.5, &err), &err);
		qsort(p, (size_t)n, sizeof *p, by_progress);
		for (int k = 0; k <= n; k++)
			best[k] = (double)INFINITY;
		for (unsigned cut = 0; cut < 1u << (n - 1); cut++) {
			double cost = 0;
			int at = 0, k = 0;

			for (int i = 1; i <= n; i++) {
				if (i == n || (cut >> (i - 1) & 1)) {
					cost += line_cost(p, at, i);
					at = i;
					k++;
				}
			}
			best[k] = fmin(best[k], cost);
		}
		/* among curves of so many pieces ours is the best one */
		pieces = c.n;
		for (size_t k = 0, at = 0; k < pieces; at += c.pieces[k++].n)
			rss += line_cost(p, (int)at, (int)(at + c.pieces[k].n));
		check_real(rss, best[pieces], 1e-9, 1e-12);
		fit_pgns_curve_release(&c);
	}
	gsl_rng_free(rng);
}

static void test_curve_small(void **state)
{
	struct fit_pgns_point one = { 5, 300, 2 }, bad[] = { { 1, 2, 1 }, { 2, 0, 1 } };
	struct fit_pgns_point p[] = { { 4, exp(2), 1 },
				      { 0, exp(1), 1 },
				      { 8, exp(1), 1 },
				      { 8, exp(4), 2 },
				      { 16, exp(5), 1 } };
	struct fit_pgns_curve c = { .batch = 8, .init_batch = 8 };
	struct fit_err err;

	(void)state;
	check_ok(fit_pgns_curve_fit(&c, &one, 1, 3, &err), &err);
	check_real(fit_pgns_curve_log_phi(&c, 77), log(300), 1e-15, 0);
	/* penalty 0: through every point, equal progress averaged by weight */
	check_ok(fit_pgns_curve_fit(&c, p, 5, 0, &err), &err);
	assert_int_equal(c.n, 3);
	check_real(fit_pgns_curve_log_phi(&c, 0), 1, 1e-14, 0);
	check_real(fit_pgns_curve_log_phi(&c, 2), 1.5, 1e-14, 0);
	check_real(fit_pgns_curve_log_phi(&c, 4), 2, 1e-14, 0);
	check_real(fit_pgns_curve_log_phi(&c, 8), 3, 1e-14, 0);
	check_real(fit_pgns_curve_log_phi(&c, 12), 4, 1e-14, 0);
	check_real(p[0].phi, exp(1), 1e-14, 0); /* sorted, otherwise as they were */
	check_real(p[4].weight, 1, 1e-14, 0);

	check_err(fit_pgns_curve_fit(&c, p, 0, 3, &err), &err, FIT_EDATA,
		  "no noise scale to fit a curve to");
	check_err(fit_pgns_curve_fit(&c, p, 5, -1, &err), &err, FIT_EINVAL,
		  "bad penalty '-1' (expected 0 or more)");
	check_err(
		fit_pgns_curve_fit(&c, bad, 2, 3, &err), &err, FIT_EDATA,
		"bad point 2: progress '2', phi '0', weight '1' (expected finite numbers, the last two "
		"positive)");
	assert_int_equal(c.n, 3); /* a failure changes nothing */
	fit_pgns_curve_release(&c);
}

/* Many points, the progress of all of them equal, and large values. */
static void test_curve_extremes(void **state)
{
	enum { N = 3000 };
	struct fit_pgns_point *p = malloc(N * sizeof *p);
	struct fit_pgns_curve c = { .batch = 8, .init_batch = 8 };
	struct fit_err err;

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < N; i++)
		p[i] = (struct fit_pgns_point){ 7, exp(1 + (i % 2)), 1 };
	check_ok(fit_pgns_curve_fit(&c, p, N, 3, &err), &err);
	assert_int_equal(c.n, 1);
	check_real(fit_pgns_curve_log_phi(&c, 7), 1.5, 1e-9, 0);
	for (int i = 0; i < N; i++)
		p[i] = (struct fit_pgns_point){ 1e12 + 1e6 * i,
						1e200 * exp(1e-3 * i + 0.01 * (i % 3)), 1e9 };
	check_ok(fit_pgns_curve_fit(&c, p, N, 3, &err), &err);
	check_real(fit_pgns_curve_log_phi(&c, 1e12 + 1.5e9), log(1e200) + 1.5 + 0.01, 1e-5, 0);
	free(p);
	fit_pgns_curve_release(&c);
}

static void test_between_batches(void **state)
{
	struct fit_pgns_piece pieces[3] = { { 0, 10, 1, 2, 4 },
					    { 0, 10, 3, 3, 4 },
					    { 0, 10, 8, 8, 4 } };
	struct fit_pgns_curve c[3];
	const struct fit_pgns_curve *all[] = { &c[0], &c[1], &c[2] };

	(void)state;
	for (int i = 0; i < 3; i++)
		c[i] = (struct fit_pgns_curve){ .batch = 10 * (int64_t[]){ 1, 4, 64 }[i],
						.init_batch = 10,
						.pieces = &pieces[i],
						.n = 1 };
	check_real(fit_pgns_curves_phi(all, 3, 5, 10), exp(1.5), 1e-14, 0);
	check_real(fit_pgns_curves_phi(all, 3, 5, 20), exp(2.25), 1e-14,
		   0); /* half of the way from 10 to 40 */
	check_real(fit_pgns_curves_phi(all, 3, 5, 40), exp(3), 1e-14, 0);
	check_real(fit_pgns_curves_phi(all, 3, 5, 160), exp(5.5), 1e-14, 0);
	check_real(fit_pgns_curves_phi(all, 3, 5, 5), exp(1.5), 1e-14, 0);
	check_real(fit_pgns_curves_phi(all, 3, 5, 9999), exp(8), 1e-14, 0);
	check_real(fit_pgns_curves_phi(all, 1, 0, 9999), exp(1), 1e-14, 0);
}

/* ---- tables ---- */

static void scratch(char path[64])
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, 64, "%s/gf-pgns.XXXXXX", dir && strlen(dir) < 40 ? dir : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static int read_text(const char *path, const char *text, struct fit_pgns_curves *l,
		     struct fit_err *err)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return fit_pgns_curves_read(l, path, err);
}

#define HEAD "app\tbatch_size\tinit_batch\tprogress_from\tprogress_to\tphi_from\tphi_to\n"

static void test_curve_table(void **state)
{
	static const struct {
		const char *rows, *fault;
	} bad[] = { { "a\t0\t8\t0\t1\t5\t5\n",
		      "2:batch_size: bad batch size '0' (expected 1 or more)" },
		    { "a\t8\t8\t0\t1\t-5\t5\n",
		      "2:phi_from: bad value '-5' (expected a finite, positive number)" },
		    { "a\t8\t8\tinf\t1\t5\t5\n",
		      "2:progress_from: bad value 'inf' (expected a finite number)" },
		    { "a\t8\t8\t2\t1\t5\t5\n",
		      "2:progress_from: progress '2' to '1' out of order (expected increasing)" },
		    { "a\t8\t8\t0\t2\t5\t5\na\t8\t8\t1\t3\t5\t5\n",
		      "3:progress_from: progress '1' to '3' out of order (expected increasing)" },
		    { "a\t16\t8\t0\t1\t5\t5\na\t8\t8\t0\t1\t5\t5\n",
		      "3:batch_size: batch size '8' out of order (expected above 16)" },
		    { "a\t8\t8\t0\t1\t5\t5\na\t9\t4\t0\t1\t5\t5\n",
		      "3:init_batch: another initial batch size '4' (expected 8)" },
		    { "a\t8\t8\t0\t1\t5\t5\nb\t9\t8\t0\t1\t5\t5\na\t9\t8\t0\t1\t5\t5\n",
		      "4:app: rows of 'a' in two places (expected together)" } };
	struct fit_pgns_curves l = { 0 };
	const struct fit_pgns_curve *c;
	struct fit_str want = { 0 };
	char path[64];
	struct fit_err err;
	size_t n = 0;

	(void)state;
	scratch(path);
	check_ok(read_text(path,
			   HEAD "a\t8\t8\t0\t1\t5\t6\na\t8\t8\t2\t3\t7\t7\na\t32\t8\t0\t1\t9\t9\n"
				"b\t8\t4\t0\t1\t1\t1\n",
			   &l, &err),
		 &err);
	assert_int_equal(l.n, 3);
	c = fit_pgns_curves_find(&l, fit_text_of("a"), &n);
	assert_non_null(c);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].n, 2);
	assert_int_equal(c[1].batch, 32);
	check_real(c[0].pieces[1].log_to, log(7), 1e-15, 0);
	assert_true(isnan(c[0].rms_log));
	c = fit_pgns_curves_find(&l, fit_text_of("b"), &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->init_batch, 4);
	assert_null(fit_pgns_curves_find(&l, fit_text_of("c"), &n));
	assert_null(fit_pgns_curves_find(&l, (struct fit_text){ 0 }, &n));
	fit_pgns_curves_release(&l);
	/* nameless curves stand for every application */
	check_ok(read_text(path, HEAD "NA\t8\t8\t0\t1\t5\t6\nNA\t9\t8\t0\t1\t5\t6\n", &l, &err),
		 &err);
	assert_non_null(fit_pgns_curves_find(&l, fit_text_of("c"), &n));
	assert_int_equal(n, 2);
	fit_pgns_curves_release(&l);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct fit_str text = { 0 };

		assert_int_equal(fit_str_printf(&text, "%s%s", HEAD, bad[i].rows), FIT_OK);
		fit_str_clear(&want);
		assert_int_equal(fit_str_printf(&want, "%s:%s", path, bad[i].fault), FIT_OK);
		check_err(read_text(path, text.s, &l, &err), &err, FIT_EDATA, want.s);
		assert_int_equal(l.n, 0);
		fit_str_release(&text);
	}
	fit_str_release(&want);
	unlink(path);
}

/* ---- runs ---- */

/* Four epochs at three batch sizes whose phi, 40 2^e, is the same for all: the others predict exactly.
 * In epoch 2 one run has no signal. */
static void add_runs(struct fit_pgns_runs *r)
{
	static const int64_t batches[] = { 64, 16, 32 };

	for (int k = 0; k < 3; k++) {
		for (int e = 0; e < 4; e++) {
			double phi = 40 * (double)(1 << e);
			struct fit_pgns_epoch x = {
				100 * e + 50, k == 2 && e == 2 ? (double)NAN : phi,
				fit_pgns_efficiency(phi, 16, (double)batches[k]), 1
			};
			struct fit_err err;

			check_ok(fit_pgns_runs_add(r, fit_text_of("net"), batches[k], 16, false, &x,
						   &err),
				 &err);
		}
	}
}

static void test_runs(void **state)
{
	struct fit_pgns_runs r = { 0 };
	struct fit_pgns_epoch x = { 10, 99, 1, 1 };
	struct fit_pgns_source s;
	struct fit_err err;

	(void)state;
	add_runs(&r);
	check_err(fit_pgns_runs_add(&r, fit_text_of("net"), 16, 8, false, &x, &err), &err,
		  FIT_EDATA, "another initial batch size '8' (expected 16)");
	check_ok(fit_pgns_runs_add(&r, (struct fit_text){ 0 }, 5, 5, false, &x, &err), &err);
	check_ok(fit_pgns_runs_fit(&r, 0, &err), &err);
	assert_int_equal(r.n, 4);
	assert_int_equal(r.list[0].batch, 16);
	assert_int_equal(r.list[1].batch, 32);
	assert_int_equal(r.list[2].batch, 64);
	assert_null(r.list[3].app);
	check_ok(fit_pgns_runs_source(&r, 1, 0, &s, &err), &err);
	assert_int_equal(s.n, 2);
	assert_false(s.outside);
	for (int e = 0; e < 4; e++)
		check_real(fit_pgns_efficiency(fit_pgns_curves_phi(s.curves, s.n, 100 * e + 50, 32),
					       16, 32),
			   r.list[1].epochs[e].efficiency, 1e-13, 0);
	fit_pgns_source_release(&s);
	check_ok(fit_pgns_runs_source(&r, 2, 0, &s, &err), &err);
	assert_true(s.outside);
	fit_pgns_source_release(&s);
	check_ok(fit_pgns_runs_source(&r, 2, 16, &s, &err), &err);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.curves[0]->batch, 16);
	fit_pgns_source_release(&s);
	check_err(fit_pgns_runs_source(&r, 2, 48, &s, &err), &err, FIT_ENOTFOUND,
		  "no run of net to predict batch size 64 from");
	check_err(fit_pgns_runs_source(&r, 3, 0, &s, &err), &err, FIT_ENOTFOUND,
		  "no run of the model to predict batch size 5 from");
	fit_pgns_runs_release(&r);

	/* pooled: one curve, at the geometric mean of the batch sizes */
	x.phi = 50;
	for (int64_t batch = 8; batch <= 128; batch *= 2)
		check_ok(fit_pgns_runs_add(&r, fit_text_of("net"), batch, 8, true, &x, &err), &err);
	check_ok(fit_pgns_runs_fit(&r, 3, &err), &err);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.list[0].batch, 32);
	assert_int_equal(r.list[0].curve.batch, 32);
	check_real(fit_pgns_curve_log_phi(&r.list[0].curve, 10), log(50), 1e-14, 0);
	fit_pgns_runs_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_planted_replicas),
					    cmocka_unit_test(test_standard_error),
					    cmocka_unit_test(test_planted_differenced),
					    cmocka_unit_test(test_of_step),
					    cmocka_unit_test(test_estimable),
					    cmocka_unit_test(test_smooth),
					    cmocka_unit_test(test_efficiency),
					    cmocka_unit_test(test_windows),
					    cmocka_unit_test(test_curve_planted),
					    cmocka_unit_test(test_curve_optimal),
					    cmocka_unit_test(test_curve_small),
					    cmocka_unit_test(test_curve_extremes),
					    cmocka_unit_test(test_between_batches),
					    cmocka_unit_test(test_curve_table),
					    cmocka_unit_test(test_runs) };

	return cmocka_run_group_tests_name("pgns", tests, NULL, NULL);
}
