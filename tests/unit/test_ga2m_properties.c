/* SPDX-License-Identifier: MIT */
/* GA2M training: what must hold of samples, classes and odd columns (docs/methods/ga2m.md has the list). */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/model/ga2m_purify.h"
#include "libfit/model/ga2m_train.h"
#include "tests/unit/ga2m.h"

static struct fit_ga2m_params plain(enum fit_ga2m_loss loss)
{
	struct fit_ga2m_params p = fit_ga2m_params_default(loss);

	p.bags = 5;
	p.smoothing_rounds = 0;
	p.max_rounds = 0;
	p.keep_bags = true;
	return p;
}

static void name_classes(struct fit_ga2m_data *d, size_t n)
{
	d->n_classes = n;
	d->classes = calloc(n + 1, sizeof *d->classes);
	assert_non_null(d->classes);
	for (size_t c = 0; c < n; c++) {
		char name[2] = { (char)('a' + c), '\0' };

		d->classes[c] = fit_strdup(fit_text_of(name));
		assert_non_null(d->classes[c]);
	}
}

/* Without steps the intercepts of a bag are the shares of its classes: rows that train are those of the
 * class less 15 % rounded down, so that a class of one row trains in every bag. */
static void classes_keep_their_shares(void **unused)
{
	static const char *const names[] = { "x" };
	static const size_t rows[] = { 47, 14, 6, 1 }, held[] = { 7, 2, 0, 0 };
	struct fit_ga2m_params p = plain(FIT_GA2M_SOFTMAX);
	struct fit_ga2m_data d;
	struct fit_ga2m m;

	(void)unused;
	assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 1), FIT_OK);
	for (size_t i = 0, left[4] = { 47, 14, 6, 1 }; i < 68;) {
		size_t c = (i * 29 + 3) % 4;

		while (left[c] == 0)
			c = (c + 1) % 4;
		left[c]--;
		assert_int_equal(fit_ga2m_data_add(&d, &(double){ (double)i++ }, NULL, (double)c), FIT_OK);
	}
	name_classes(&d, 4);
	train(&m, &d, &p);
	for (size_t b = 0; b < p.bags; b++)
		for (size_t c = 0; c < 4; c++)
			check_real(m.bag_intercept[b * 4 + c], log((double)(rows[c] - held[c]) / (68 - 9)), 1e-12, 0);
	fit_ga2m_release(&m);
}

/* Any number of rows: with rate 1 and no validation a step leaves residuals that sum to 0 on either side. */
static void residuals_sum_to_nothing(void **unused)
{
	static const char *const names[] = { "x" };

	(void)unused;
	for (size_t n = 61; n < 70; n++) {
		struct fit_ga2m_params p = plain(FIT_GA2M_SQUARED);
		struct fit_ga2m_data d;
		struct fit_ga2m m;
		double sum = 0, size = 0;

		p.bags = 1;
		p.validation_share = 0;
		p.max_rounds = 1;
		p.learning_rate = 1;
		assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 1), FIT_OK);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(fit_ga2m_data_add(&d, &(double){ (double)(i * 11 % n) }, NULL,
							   (double)(i * i % 23)), FIT_OK);
		train(&m, &d, &p);
		for (size_t i = 0; i < n; i++) {
			double x = (double)(i * 11 % n), s;

			fit_ga2m_score(&m, &x, &s);
			sum += (double)(i * i % 23) - s;
			size += fabs(s - m.intercept[0]);
		}
		check_real(sum, 0, 0, 1e-10);
		assert_true(size > 1);
		fit_ga2m_release(&m);
	}
}

static void one_class_is_certain(void **unused)
{
	static const char *const names[] = { "x" };
	struct fit_ga2m_params p = plain(FIT_GA2M_SOFTMAX);
	struct fit_ga2m_data d;
	struct fit_ga2m m;
	double x = 3, s, share = 0;

	(void)unused;
	p.max_rounds = 20;
	assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 1), FIT_OK);
	for (size_t i = 0; i < 30; i++)
		assert_int_equal(fit_ga2m_data_add(&d, &(double){ (double)i }, NULL, 0), FIT_OK);
	name_classes(&d, 1);
	train(&m, &d, &p);
	fit_ga2m_score(&m, &x, &s);
	fit_ga2m_link_inverse(&m, &s, &share);
	check_real(share, 1, 0, 0);
	check_real(m.terms[0].importance, 0, 0, 1e-12);
	fit_ga2m_release(&m);
}

/* Seconds since 1970 as a feature: a step between two neighbouring minutes is found where it is. */
static void epoch_seconds_are_told_apart(void **unused)
{
	static const char *const names[] = { "submit_s" };
	struct fit_ga2m_params p = plain(FIT_GA2M_SQUARED);
	struct fit_ga2m_data d;
	struct fit_ga2m m;

	(void)unused;
	p.max_rounds = 300;
	assert_int_equal(fit_ga2m_data_init(&d, names, NULL, 1), FIT_OK);
	for (size_t i = 0; i < 400; i++)
		assert_int_equal(fit_ga2m_data_add(&d, &(double){ 1.7e9 + 60 * (double)i }, NULL, i < 200 ? 1 : 4),
				 FIT_OK);
	train(&m, &d, &p);
	for (int i = 0; i < 2; i++) {
		double x = 1.7e9 + 60 * (199 + i), s;

		fit_ga2m_score(&m, &x, &s);
		check_real(s, i ? 4 : 1, 0, 0.01);
	}
	fit_ga2m_release(&m);
}

/* An unseen category adds 0: its main effect, and every pair it is in. */
static void unseen_categories_add_nothing(void **unused)
{
	static const char *const names[] = { "a", "k" };
	static const bool nominal[] = { false, true };
	static const size_t pair[][2] = { { 0, 1 } };
	struct fit_ga2m_params p = plain(FIT_GA2M_SQUARED);
	struct fit_ga2m_data d;
	struct fit_ga2m m;
	double f[3], x[2] = { 0.7, FIT_GA2M_UNSEEN };

	(void)unused;
	p.max_rounds = 100;
	p.pair_list = pair;
	p.n_pair_list = 1;
	assert_int_equal(fit_ga2m_data_init(&d, names, nominal, 2), FIT_OK);
	for (size_t i = 0; i < 300; i++) {
		double a = (double)(i * 7 % 300) / 300;
		bool on = i % 3 == 1;
		struct fit_text t[2] = { { NULL, 0 }, fit_text_of(on ? "on" : "off") };
		double row[2] = { a, 0 };

		assert_int_equal(fit_ga2m_data_add(&d, row, t, on ? (a > 0.5 ? 5 : -5) : a), FIT_OK);
	}
	train(&m, &d, &p);
	assert_int_equal(m.n_terms, 3);
	fit_ga2m_explain(&m, x, f);
	check_same_bits(f[1], 0);
	check_same_bits(f[2], 0);
	x[1] = fit_ga2m_category(&m.features[1], fit_text_of("on"));
	fit_ga2m_explain(&m, x, f);
	assert_true(fabs(f[2]) > 1);
	fit_ga2m_release(&m);
}

static void strength_of_nothing(void **unused)
{
	const double zero[6] = { 0 }, rows[6] = { 0 };
	double out = 7;

	(void)unused;
	assert_int_equal(fit_ga2m_strength(zero, zero, rows, 2, 3, 1, true, &out), FIT_OK);
	check_same_bits(out, 0);
	out = 7;
	assert_int_equal(fit_ga2m_strength(zero, zero, rows, 1, 6, 1, false, &out), FIT_OK);
	check_same_bits(out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_keep_their_shares), cmocka_unit_test(residuals_sum_to_nothing),
		cmocka_unit_test(one_class_is_certain), cmocka_unit_test(epoch_seconds_are_told_apart),
		cmocka_unit_test(unseen_categories_add_nothing), cmocka_unit_test(strength_of_nothing)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
