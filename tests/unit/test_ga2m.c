/* SPDX-License-Identifier: MIT */
/* GA2M: the model and its tables, bins, training, and what must hold of all of them. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/model/ga2m_bins.h"
#include "libfit/model/ga2m_purify.h"
#include "libfit/model/ga2m_shape.h"
#include "tests/unit/ga2m.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static uint64_t state;

static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) * 0x1p-53;
}

/* ---- made-up data: y = 3 [a > 0.3] - 2 [c = "k1"] + 4 [a > 0.5][b > 0.5] + noise ---- */

static void make_data(struct fit_ga2m_data *d, size_t n, uint64_t seed, double noise)
{
	static const char *const names[] = { "a", "b", "c" };
	static const bool nominal[] = { false, false, true };
	static const char *const levels[] = { "k0", "k1", "k2" };

	state = seed;
	assert_int_equal(fit_ga2m_data_init(d, names, nominal, 3), FIT_OK);
	for (size_t i = 0; i < n; i++) {
		double x[3] = { uniform(), uniform(), 0 }, y;
		size_t k = (size_t)(3 * uniform());
		struct fit_text t[3] = { { 0 }, { 0 }, fit_text_of(levels[k]) };

		y = 3 * (x[0] > 0.3) - 2 * (k == 1) + 4 * (x[0] > 0.5) * (x[1] > 0.5) + noise * (uniform() - 0.5);
		if (i % 17 == 5)
			x[1] = (double)NAN;
		assert_int_equal(fit_ga2m_data_add(d, x, t, y), FIT_OK);
	}
}

static struct fit_ga2m_params quick(void)
{
	struct fit_ga2m_params p = fit_ga2m_params_default(FIT_GA2M_SQUARED);

	p.bags = 3;
	p.smoothing_rounds = 20;
	p.greedy_ratio = 2;
	p.max_rounds = 400;
	return p;
}

static double predict(const struct fit_ga2m *m, double a, double b, const char *c)
{
	double x[3] = { a, b, fit_ga2m_category(&m->features[2], fit_text_of(c)) }, s = 0;

	fit_ga2m_score(m, x, &s);
	return s;
}

static bool same_model(const struct fit_ga2m *a, const struct fit_ga2m *b)
{
	if (a->n_terms != b->n_terms || memcmp(a->intercept, b->intercept, a->n_outputs * sizeof(double)) != 0)
		return false;
	for (size_t t = 0; t < a->n_terms; t++) {
		size_t n = fit_ga2m_n_cells(&a->terms[t]);

		if (n != fit_ga2m_n_cells(&b->terms[t]) ||
		    memcmp(a->terms[t].score, b->terms[t].score, n * a->n_outputs * sizeof(double)) != 0)
			return false;
	}
	return true;
}

static void finds_what_was_planted(void **unused)
{
	struct fit_ga2m_data d;
	struct fit_ga2m m;
	struct fit_ga2m_params p = quick();

	(void)unused;
	p.pairs = 1;
	make_data(&d, 3000, 7, 0.2);
	train(&m, &d, &p);
	assert_int_equal(m.n_terms, 4);
	assert_int_equal(fit_ga2m_find_term(&m, 0, 1), 3);
	check_real(predict(&m, 0.1, 0.2, "k0"), 0, 0, 0.25);
	check_real(predict(&m, 0.45, 0.8, "k2"), 3, 0, 0.25);
	check_real(predict(&m, 0.45, 0.8, "k1"), 1, 0, 0.25);
	check_real(predict(&m, 0.9, 0.9, "k0"), 7, 0, 0.25);
	check_real(predict(&m, 0.9, 0.1, "k0"), 3, 0, 0.25);
	assert_true(m.terms[0].importance > m.terms[2].importance);
	/* a category that was not seen adds nothing; the others are centred */
	{
		double x[3] = { 0.9, 0.1, FIT_GA2M_UNSEEN }, parts[4];

		fit_ga2m_explain(&m, x, parts);
		check_same_bits(parts[2], 0);
		for (size_t t = 0; t < m.n_terms; t++) {
			double sum = 0;

			for (size_t c = 0; c < fit_ga2m_n_cells(&m.terms[t]); c++)
				sum += m.terms[t].score[c] * m.terms[t].weight[c];
			check_real(sum / 3000, 0, 0, 1e-12);
		}
	}
	fit_ga2m_release(&m);
}

/* Rows and columns of a pair add up to nothing. */
static void pairs_are_pure(void **unused)
{
	struct fit_ga2m_data d;
	struct fit_ga2m pure, plain;
	struct fit_ga2m_params p = quick();
	const struct fit_ga2m_term *t;

	(void)unused;
	p.pairs = 2;
	make_data(&d, 2000, 8, 0.5);
	train(&pure, &d, &p);
	p.purify = false;
	make_data(&d, 2000, 8, 0.5);
	train(&plain, &d, &p);
	t = &pure.terms[pure.n_terms - 1];
	for (size_t i = 0; i < t->n_bins[0]; i++) {
		double sum = 0;

		for (size_t j = 0; j < t->n_bins[1]; j++)
			sum += t->weight[i * t->n_bins[1] + j] * t->score[i * t->n_bins[1] + j];
		check_real(sum, 0, 0, 1e-8);
	}
	for (int i = 0; i < 50; i++) {
		double a = uniform(), b = i % 9 ? uniform() : (double)NAN;
		const char *c = i % 3 ? "k0" : "k2";

		check_real(predict(&pure, a, b, c), predict(&plain, a, b, c), 0, 1e-9);
	}
	fit_ga2m_release(&pure);
	fit_ga2m_release(&plain);
}

static void same_for_any_threads_and_engine(void **unused)
{
	struct fit_ga2m_data d;
	struct fit_ga2m m[4];
	struct fit_ga2m_params p = quick();
	static const int threads[] = { 1, 2, 5, 1 };

	(void)unused;
	p.pairs = 2;
	for (int k = 0; k < 4; k++) {
		p.threads = threads[k];
		p.seed = k == 3 ? 2 : 1;
		make_data(&d, 800, 9, 0.5);
		train(&m[k], &d, &p);
	}
	assert_true(same_model(&m[0], &m[1]));
	assert_true(same_model(&m[0], &m[2]));
	assert_false(same_model(&m[0], &m[3]));
	fit_ga2m_release(&m[1]);
	/* steps by rows are the same steps, but for rounding */
	p.seed = 1;
	p.engine = FIT_GA2M_ENGINE_SAMPLES;
	make_data(&d, 800, 9, 0.5);
	train(&m[1], &d, &p);
	for (int i = 0; i < 50; i++) {
		double a = uniform(), b = uniform();

		check_real(predict(&m[1], a, b, "k1"), predict(&m[0], a, b, "k1"), 0, 1e-9);
	}
	for (int k = 0; k < 4; k++)
		fit_ga2m_release(&m[k]);
}

/* Rows that are few beside the bins: no Gram matrix, and the steps that it would have given. */
static void few_rows_take_the_same_steps(void **unused)
{
	static const enum fit_ga2m_loss losses[] = { FIT_GA2M_SQUARED, FIT_GA2M_ABSOLUTE };
	struct fit_ga2m_params p = quick();
	struct fit_ga2m_data d;
	struct fit_ga2m m[2];

	(void)unused;
	p.rows_per_bin = 1;
	p.max_rounds = 60;
	for (size_t l = 0; l < 2; l++) {
		p.loss = losses[l];
		for (int k = 0; k < 2; k++) {
			p.engine = k ? FIT_GA2M_ENGINE_BINS : FIT_GA2M_ENGINE_AUTO;
			make_data(&d, 60, 21, 0.5);
			train(&m[k], &d, &p);
		}
		assert_false(same_model(&m[0], &m[1]));		/* rounding differs: it is another way */
		for (int i = 0; i < 50; i++) {
			double a = uniform(), b = i % 9 ? uniform() : (double)NAN;
			const char *c = i % 3 ? "k0" : "k2";

			check_real(predict(&m[0], a, b, c), predict(&m[1], a, b, c), 0, l ? 1e-4 : 1e-9);
		}
		fit_ga2m_release(&m[0]);
		fit_ga2m_release(&m[1]);
	}
}

static void tables_round_trip(void **unused)
{
	struct fit_ga2m_data d;
	struct fit_ga2m m, back;
	struct fit_ga2m_params p = quick();
	struct fit_writer *w;
	struct fit_err err;
	char file[] = "/tmp/gf-ga2m-XXXXXX", hash[FIT_HASH_HEX];
	int fd = mkstemp(file);

	(void)unused;
	assert_true(fd >= 0);
	close(fd);
	p.pairs = 1;
	p.keep_bags = true;
	make_data(&d, 400, 10, 0.5);
	train(&m, &d, &p);
	check_ok(fit_writer_open(&w, file, 0, &err), &err);
	check_ok(fit_ga2m_write(&m, NULL, w, &err), &err);
	check_ok(fit_writer_close(w, &err), &err);
	check_ok(fit_ga2m_read(&back, file, hash, &err), &err);
	assert_true(same_model(&m, &back));
	assert_int_equal(back.n_bags, 3);
	assert_int_equal(back.n_rows, 400);
	check_text(back.features[2].categories[1], "k1");
	for (int i = 0; i < 20; i++) {
		double x[3] = { uniform(), i % 5 ? uniform() : (double)NAN, i % 4 - 1 }, sd =
				fit_ga2m_score_sd(&m, x, 0);

		assert_true(sd > 0);
		check_same_bits(fit_ga2m_score_sd(&back, x, 0), sd);
	}
	fit_ga2m_release(&m);
	fit_ga2m_release(&back);
	remove(file);
}

/* ---- bins ---- */

static void bins_of_values(void **unused)
{
	double cuts[] = { 2.5, 4.5, 6.5 };
	struct fit_ga2m_feature f = { .cuts = { cuts }, .n_cuts = { 3 } };
	const double inf = (double)INFINITY, x[] = { (double)NAN, -inf, 1, 2.5, 4.49, 6.5, inf };
	const size_t want[] = { 0, 1, 1, 2, 2, 4, 4 };

	(void)unused;
	for (size_t i = 0; i < COUNT(x); i++)
		assert_int_equal(fit_ga2m_bin(&f, 0, x[i]), want[i]);
	for (size_t n = 0; n <= 70; n++) {
		double many[70];
		struct fit_ga2m_feature g = { .cuts = { many }, .n_cuts = { n } };

		for (size_t i = 0; i < n; i++)
			many[i] = (double)i;
		for (int k = -1; k < 72; k++)
			for (int half = 0; half < 2; half++) {
				double v = k + 0.5 * half;
				size_t b = 1;

				while (b <= n && many[b - 1] <= v)
					b++;
				assert_int_equal(fit_ga2m_bin(&g, 0, v), b);
			}
	}
}

static void cut(const double *x, size_t n, size_t max_bins, double **cuts, size_t *n_cuts)
{
	double *copy = malloc((n + 1) * sizeof *copy), min, max;
	int64_t unique;

	if (n)
		memcpy(copy, x, n * sizeof *copy);
	assert_int_equal(fit_ga2m_cuts(copy, n, max_bins, cuts, n_cuts, &unique, &min, &max), FIT_OK);
	free(copy);
}

static void cuts_are_fair(void **unused)
{
	double x[300], *cuts, *mirror, big[] = { -DBL_MAX, DBL_MAX }, next[] = { 1, nextafter(1, 2) };
	size_t n, m;

	(void)unused;
	cut(NULL, 0, 9, &cuts, &n);
	assert_int_equal(n, 0);
	cut(big, 2, 9, &cuts, &n);
	assert_int_equal(n, 1);
	check_real(cuts[0], 0, 0, 0);
	free(cuts);
	cut(next, 2, 9, &cuts, &n);
	assert_int_equal(n, 1);
	check_same_bits(cuts[0], next[1]);
	free(cuts);
	state = 11;
	for (int turn = 0; turn < 200; turn++) {
		size_t rows = 1 + (size_t)(299 * uniform()), bins = 2 + (size_t)(30 * uniform());
		double lumps = turn % 2 ? 1 + 40 * uniform() : 1e9, negated[300];

		/* an odd number of rows in an even number of bins has no middle: the lower half is larger */
		rows += turn % 2 == 0 && rows % 2 == 1 && bins % 2 == 0;
		rows -= rows > 300 ? 2 : 0;
		for (size_t i = 0; i < rows; i++) {
			x[i] = turn % 2 && uniform() < 0.3 ? 3 : floor(lumps * uniform() * uniform());
			negated[i] = -x[i];
		}
		cut(x, rows, bins, &cuts, &n);
		cut(negated, rows, bins, &mirror, &m);
		assert_true(n < bins);
		for (size_t i = 0; i < n; i++)
			assert_true(i == 0 || cuts[i] > cuts[i - 1]);
		assert_true(turn % 2 || m == n);
		for (size_t i = 0; turn % 2 == 0 && i < n; i++)
			check_real(mirror[n - 1 - i], -cuts[i], 0, 0);
		free(cuts);
		free(mirror);
	}
}

/* ---- purification ---- */

static void purify_takes_apart(void **unused)
{
	double s[31 * 33], w[31 * 33], left[31 * 33], r[31], c[33], mean;

	(void)unused;
	state = 12;
	for (size_t i = 0; i < COUNT(s); i++) {
		s[i] = left[i] = 10 * uniform() - 3;
		w[i] = uniform() < 0.2 ? 0 : 5 * uniform();
	}
	assert_int_equal(fit_ga2m_purify(left, w, 31, 33, r, c, &mean), FIT_OK);
	for (size_t i = 0; i < 31; i++) {
		double sum = 0;

		for (size_t j = 0; j < 33; j++) {
			check_real(left[i * 33 + j] + r[i] + c[j] + mean, s[i * 33 + j], 0, 1e-12);
			sum += left[i * 33 + j] * w[i * 33 + j];
		}
		check_real(sum, 0, 0, 1e-10);
	}
	for (size_t j = 0; j < 33; j++) {
		double sum = 0;

		for (size_t i = 0; i < 31; i++)
			sum += left[i * 33 + j] * w[i * 33 + j];
		check_real(sum, 0, 0, 1e-10);
	}
	assert_int_equal(fit_ga2m_purify(left, w, 31, 33, r, c, &mean), FIT_OK);
	check_real(mean, 0, 0, 1e-12);
	for (size_t i = 0; i < 31; i++)
		check_real(r[i], 0, 0, 1e-12);
	assert_int_equal(fit_ga2m_purify(left, w, 0, 33, r, c, &mean), FIT_OK);
}

static double strength(const double *y, const double *w, bool pure)
{
	double sum[4], rows[4] = { 9, 9, 9, 9 }, out;

	/* the oracle counts squared loss without its half: twice our gain */
	for (int i = 0; i < 4; i++)
		sum[i] = y[i] * w[i];
	assert_int_equal(fit_ga2m_strength(sum, w, rows, 2, 2, 1, pure, &out), FIT_OK);
	return 2 * out;
}

static void strength_of_two_by_two(void **unused)
{
	const double ones[] = { 1, 1, 1, 1 }, y[] = { 2, 3, 5, 7 }, add[] = { 14, 10, 16, 12 };
	const double w[] = { 24.25, 21.5, 8.125, 11.625 }, pure[] = { -16, 2, 32, -8 };
	const double v[] = { 2.5, 20, 1.25, 5 };
	double impure[4], one, rows = 9;

	(void)unused;
	check_real(strength(add, w, true), 0, 0, 1e-12);
	check_real(strength(add, w, false), 8.88409766330633, 1e-12, 0);
	check_real(strength(pure, v, true), 161.3913043478261, 1e-12, 0);
	for (int i = 0; i < 4; i++)
		impure[i] = pure[i] + (i < 2 ? 3 : -1) + (i % 2 ? 0.5 : 7);
	check_real(strength(impure, v, true), 161.3913043478261, 1e-12, 0);
	check_real(strength(y, ones, true), 0.125, 1e-12, 0);
	check_real(strength(y, ones, false), 7.375, 1e-12, 0);
	assert_int_equal(fit_ga2m_strength(y, ones, &rows, 1, 1, 1, false, &one), FIT_OK);
	check_same_bits(one, 0);
}

/* ---- what must hold of training ---- */

/* The same rows by hand: x from 0 to 1, y = x, weights and bags as given. */
static void small_data(struct fit_ga2m_data *d, size_t n, size_t from, const double *weight)
{
	static const char *const names[] = { "x" };

	assert_int_equal(fit_ga2m_data_init(d, names, NULL, 1), FIT_OK);
	for (size_t i = from; i < n; i++) {
		double x = (double)(i * 37 % n) / (double)n;

		assert_int_equal(fit_ga2m_data_add(d, &x, NULL, x * x + 0.3 * (double)(i % 7)), FIT_OK);
	}
	if (weight) {
		d->weight = malloc(n * sizeof *d->weight);
		assert_non_null(d->weight);
		memcpy(d->weight, weight, (n - from) * sizeof *weight);
	}
}

static void scale_of_weights_does_not_matter(void **unused)
{
	enum { N = 67 };
	double w[N], v[N];
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m a, b, c;

	(void)unused;
	for (size_t i = 0; i < N; i++) {
		w[i] = 1 + (double)(i % 5);
		v[i] = 128 * w[i];
	}
	small_data(&d, N, 0, w);
	train(&a, &d, &p);
	small_data(&d, N, 0, v);
	train(&b, &d, &p);
	assert_true(same_model(&a, &b));
	check_same_bits(b.terms[0].weight[1], 128 * a.terms[0].weight[1]);
	v[3] *= 2;
	small_data(&d, N, 0, v);
	train(&c, &d, &p);
	assert_false(same_model(&a, &c));
	fit_ga2m_release(&b);
	fit_ga2m_release(&c);
	/* equal weights are none, but for the weights of cells */
	for (size_t i = 0; i < N; i++)
		v[i] = 3;
	small_data(&d, N, 0, v);
	train(&b, &d, &p);
	small_data(&d, N, 0, NULL);
	train(&c, &d, &p);
	assert_true(same_model(&b, &c));
	check_real(b.terms[0].weight[1], 3 * c.terms[0].weight[1], 0, 0);
	fit_ga2m_release(&a);
	fit_ga2m_release(&b);
	fit_ga2m_release(&c);
}

/* Weights are rounded to float in joint counts; the sums do not drift for it. */
static void weights_do_not_drift(void **unused)
{
	enum { N = 300 };
	double w[N];
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m by_bins, by_rows;

	(void)unused;
	p.bags = 1;
	p.validation_share = 0;
	p.max_rounds = 1000;
	state = 51;
	for (size_t i = 0; i < N; i++)
		w[i] = 0.1 + uniform();
	small_data(&d, N, 0, w);
	train(&by_bins, &d, &p);
	p.engine = FIT_GA2M_ENGINE_SAMPLES;
	small_data(&d, N, 0, w);
	train(&by_rows, &d, &p);
	for (size_t c = 0; c < fit_ga2m_n_cells(&by_rows.terms[0]); c++)
		check_real(by_bins.terms[0].score[c], by_rows.terms[0].score[c], 0, 1e-5);
	fit_ga2m_release(&by_bins);
	fit_ga2m_release(&by_rows);
}

/* Bags by hand: twice is weight 2, 0 is out, -1 validates. */
static void bags_by_hand(void **unused)
{
	enum { N = 60 };
	int8_t twice[N], once[N];
	double w[N];
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m a, b;

	(void)unused;
	p.bags = 1;
	p.max_rounds = 60;
	for (size_t i = 0; i < N; i++) {
		twice[i] = i % 6 == 0 ? -1 : i % 6 == 1 ? 0 : i % 3 == 2 ? 2 : 1;
		once[i] = twice[i] == 2 ? 1 : twice[i];
		w[i] = twice[i] == 2 ? 2 : 1;
	}
	small_data(&d, N, 0, NULL);
	d.bags = twice;
	p.min_leaf = 0;
	p.min_leaf_share = 0;
	train(&a, &d, &p);
	small_data(&d, N, 0, w);
	d.bags = once;
	train(&b, &d, &p);
	for (int i = 0; i < 20; i++) {
		double x = i / 20.0, fa, fb;

		fit_ga2m_explain(&a, &x, &fa);
		fit_ga2m_explain(&b, &x, &fb);
		/* tables are the same; they are centred by weights, which differ */
		if (i > 0)
			check_real(fa - a.terms[0].score[1], fb - b.terms[0].score[1], 0, 1e-12);
	}
	fit_ga2m_release(&a);
	fit_ga2m_release(&b);
	/* nothing that validates: all rounds are run */
	for (size_t i = 0; i < N; i++)
		once[i] = 1;
	small_data(&d, N, 0, NULL);
	d.bags = once;
	{
		struct fit_ga2m_report r;
		struct fit_err err;

		check_ok(fit_ga2m_train(&a, &d, &p, &r, &err), &err);
		check_real(r.mean_steps, 20 + 40 * 3, 0, 0);
		assert_true(isnan(r.validation_loss));
		fit_ga2m_data_release(&d);
		fit_ga2m_release(&a);
	}
}

static void rates_and_leaves(void **unused)
{
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m m;
	struct fit_err err;
	double mean = 0;

	(void)unused;
	for (size_t i = 0; i < 50; i++)
		mean += ((double)(i * 37 % 50) / 50 * (double)(i * 37 % 50) / 50 + 0.3 * (double)(i % 7)) / 50;
	for (int k = 0; k < 2; k++) {	/* no steps, or no cuts: the mean is all there is */
		p = quick();
		if (k == 0)
			p.learning_rate = 0;
		else
			p.min_leaf = 1000;
		small_data(&d, 50, 0, NULL);
		train(&m, &d, &p);
		check_real(m.intercept[0], mean, 1e-12, 0);
		check_real(m.terms[0].importance, 0, 0, 1e-12);
		fit_ga2m_release(&m);
	}
	/* a rate below 0 diverges, and that is said */
	p = quick();
	p.learning_rate = -1;
	p.max_rounds = 4000;
	p.validation_share = 0;
	small_data(&d, 50, 0, NULL);
	check_err(fit_ga2m_train(&m, &d, &p, NULL, &err), &err, FIT_ENOCONV,
		  "training went out of bounds (an intercept is not finite)");
	fit_ga2m_data_release(&d);
	/* wrong parameters are a sentence */
	p = quick();
	p.bags = 0;
	small_data(&d, 50, 0, NULL);
	check_err(fit_ga2m_train(&m, &d, &p, NULL, &err), &err, FIT_EINVAL,
		  "the number of bags is not between 1 and 1000");
	fit_ga2m_data_release(&d);
}

/* The mean prediction is the mean of the targets; missing rows have a leaf of their own. */
static void missing_rows(void **unused)
{
	static const char *const names[] = { "x", "none" };
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m m;
	double sum = 0, y_sum = 0;

	(void)unused;
	p.validation_share = 0;
	p.max_rounds = 400;
	assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 2), FIT_OK);
	for (size_t i = 0; i < 90; i++) {
		double x[2] = { i % 3 == 0 ? (double)NAN : (double)i, (double)NAN }, y = i % 3 == 0 ? 5 :
				1 + (i > 45);

		y_sum += y;
		assert_int_equal(fit_ga2m_data_add(&d, x, NULL, y), FIT_OK);
	}
	train(&m, &d, &p);
	for (size_t i = 0; i < 90; i++) {
		double x[2] = { i % 3 == 0 ? (double)NAN : (double)i, (double)NAN }, s;

		fit_ga2m_score(&m, x, &s);
		sum += s;
		check_real(s, i % 3 == 0 ? 5 : 1 + (i > 45), 0, 0.05);
	}
	check_real(sum, y_sum, 1e-12, 0);
	check_real(m.terms[1].importance, 0, 0, 0);
	fit_ga2m_release(&m);
}

/* y in other units gives scores in these units. */
static void units_do_not_matter(void **unused)
{
	static const double units[] = { 1, 0x1p100, 0x1p-100 };
	static const char *const names[] = { "x" };
	struct fit_ga2m_params p = quick();
	struct fit_ga2m m[3];

	(void)unused;
	for (int k = 0; k < 3; k++) {
		struct fit_ga2m_data d;

		state = 21;
		assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 1), FIT_OK);
		for (int i = 0; i < 200; i++) {
			double x = uniform();

			assert_int_equal(fit_ga2m_data_add(&d, &x, NULL, units[k] * (x * x + uniform())), FIT_OK);
		}
		train(&m[k], &d, &p);
	}
	for (int k = 1; k < 3; k++)
		for (size_t c = 0; c < fit_ga2m_n_cells(&m[0].terms[0]); c++)
			check_same_bits(m[k].terms[0].score[c], units[k] * m[0].terms[0].score[c]);
	for (int k = 0; k < 3; k++)
		fit_ga2m_release(&m[k]);
}

/* Many columns, few rows: joint counts would be too large, steps go by rows. */
static void many_columns(void **unused)
{
	enum { K = 1500 };
	static char text[K][8];
	static const char *names[K];
	static double x[K];
	struct fit_ga2m_data d;
	struct fit_ga2m_params p = quick();
	struct fit_ga2m_report r;
	struct fit_ga2m m;
	struct fit_err err;

	(void)unused;
	p.bags = 1;
	p.max_rounds = 3;
	p.smoothing_rounds = 0;
	p.learning_rate = 1e-4;
	for (size_t k = 0; k < K; k++) {
		snprintf(text[k], sizeof text[k], "c%zu", k);
		names[k] = text[k];
	}
	assert_int_equal(fit_ga2m_data_init(&d, names, NULL, K), FIT_OK);
	state = 31;
	for (int i = 0; i < 80; i++) {
		for (size_t k = 0; k < K; k++)
			x[k] = uniform();
		assert_int_equal(fit_ga2m_data_add(&d, x, NULL, 10 * (x[700] > 0.5)), FIT_OK);
	}
	check_ok(fit_ga2m_train(&m, &d, &p, &r, &err), &err);
	assert_false(r.bins_engine);
	for (size_t k = 0; k < K; k++)
		assert_true(k == 700 || m.terms[k].importance < m.terms[700].importance);
	fit_ga2m_data_release(&d);
	fit_ga2m_release(&m);
}

/* ---- shapes ---- */

static double squares(const double *a, const double *b, const double *w, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += w[i] * (a[i] - b[i]) * (a[i] - b[i]);
	return s;
}

/* The nearest convex sequence: it is convex, no small convex change of it is nearer, and what is
 * convex stays. */
static void convex_is_nearest(void **unused)
{
	enum { N = 40 };
	double x[N], y[N], w[N], f[N], g[N], best;

	(void)unused;
	state = 41;
	for (size_t i = 0; i < N; i++) {
		x[i] = (double)i + 0.7 * uniform();
		y[i] = 0.02 * ((double)i - 15) * ((double)i - 15) + 3 * uniform();
		w[i] = 0.2 + uniform();
	}
	assert_int_equal(fit_ga2m_convex(x, y, w, N, true, f), FIT_OK);
	for (size_t i = 1; i + 1 < N; i++)
		assert_true((f[i + 1] - f[i]) / (x[i + 1] - x[i]) - (f[i] - f[i - 1]) / (x[i] - x[i - 1]) > -1e-9);
	best = squares(f, y, w, N);
	for (size_t k = 0; k < N; k++) {	/* towards a hinge, and away from the whole: both stay convex */
		for (size_t i = 0; i < N; i++)
			g[i] = f[i] + 1e-4 * fmax(x[i] - x[k], 0);
		assert_true(squares(g, y, w, N) >= best - 1e-9);
		for (size_t i = 0; i < N; i++)
			g[i] = f[i] + 1e-4 * fmax(x[k] - x[i], 0);
		assert_true(squares(g, y, w, N) >= best - 1e-9);
	}
	for (size_t i = 0; i < N; i++)
		g[i] = 0.9999 * f[i];
	assert_true(squares(g, y, w, N) >= best - 1e-9);
	assert_int_equal(fit_ga2m_convex(x, f, w, N, true, g), FIT_OK);
	for (size_t i = 0; i < N; i++)
		check_real(g[i], f[i], 0, 1e-7);
	for (size_t i = 0; i < N; i++)
		y[i] = -y[i];
	assert_int_equal(fit_ga2m_convex(x, y, w, N, false, g), FIT_OK);
	for (size_t i = 0; i < N; i++)
		check_real(g[i], -f[i], 0, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_planted), cmocka_unit_test(pairs_are_pure),
		cmocka_unit_test(same_for_any_threads_and_engine),
		cmocka_unit_test(few_rows_take_the_same_steps), cmocka_unit_test(tables_round_trip),
		cmocka_unit_test(bins_of_values), cmocka_unit_test(cuts_are_fair),
		cmocka_unit_test(purify_takes_apart), cmocka_unit_test(strength_of_two_by_two),
		cmocka_unit_test(scale_of_weights_does_not_matter), cmocka_unit_test(bags_by_hand),
		cmocka_unit_test(weights_do_not_drift),
		cmocka_unit_test(rates_and_leaves), cmocka_unit_test(missing_rows),
		cmocka_unit_test(units_do_not_matter), cmocka_unit_test(many_columns),
		cmocka_unit_test(convex_is_nearest)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
