/* SPDX-License-Identifier: MIT */
/* JSON of a GA2M, edits, the sum of two models, and what a review finds. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/model/ga2m_edit.h"
#include "libfit/model/ga2m_json.h"
#include "libfit/model/ga2m_review.h"
#include "libfit/model/ga2m_update.h"

/* Two numbers, a category, two main effects and a pair; nothing is symmetric. */
static const char text[] =
	"{\"version\":\"1.0\",\"ebm\":{\"outputs\":[{\"task\":\"regression\",\"link\":\"identity\",\"link_param\":\"nan\"}],"
	"\"intercept\":[10.25],\"features\":["
	"{\"name\":\"a\",\"type\":\"continuous\",\"cuts\":[[1.5,2.5,4.5],[2.5]],\"min\":1,\"max\":6},"
	"{\"name\":\"b\",\"type\":\"continuous\",\"cuts\":[[10,20]],\"min\":5,\"max\":30},"
	"{\"name\":\"c\",\"type\":\"nominal\",\"categories\":[[\"x\",\"y\"]]}],\"terms\":["
	"{\"term_features\":[\"a\"],\"scores\":[0.5,-1,2,1,-0.5,0],\"standard_deviations\":[0,0.1,0.2,0.3,0.4,0],"
	"\"bin_weights\":[0,3,1,2,4,0]},"
	"{\"term_features\":[\"b\"],\"scores\":[0,-1,0,1,0],\"bin_weights\":[0,5,0,5,0]},"
	"{\"term_features\":[\"c\"],\"scores\":[0,-2,3,0],\"bin_weights\":[0,6,4,0]},"
	"{\"term_features\":[\"a\",\"b\"],\"scores\":[[0,0,0,0,0],[0,1,0,-1,0],[0,-1,0,1,0],[0,0,0,0,0]],"
	"\"bin_weights\":[[0,0,0,0,0],[0,2,0,2,0],[0,3,0,3,0],[0,0,0,0,0]]}]}}";

static void read_model(struct fit_ga2m *m)
{
	struct fit_err err;

	check_ok(fit_ga2m_read_json(m, "text", text, strlen(text), &err), &err);
}

static double score_of(const struct fit_ga2m *m, double a, double b, double c)
{
	double x[] = { a, b, c }, s;

	fit_ga2m_score(m, x, &s);
	return s;
}

static void test_json(void **state)
{
	struct fit_str s = { 0 }, again = { 0 };
	struct fit_ga2m m, back;
	struct fit_err err;

	(void)state;
	read_model(&m);
	check_real(score_of(&m, 1, 5, 0), 10.25 - 1 - 1 - 2 + 1, 0, 0);
	check_real(score_of(&m, 2.5, 30, 1), 10.25 + 1 + 1 + 3 + 1, 0, 0);
	check_real(score_of(&m, (double)NAN, 20, FIT_GA2M_UNSEEN), 10.25 + 0.5 + 1, 0, 0);
	check_ok(fit_ga2m_print_json(&m, &s, &err), &err);
	check_ok(fit_ga2m_read_json(&back, "s", s.s, s.n, &err), &err);
	check_ok(fit_ga2m_print_json(&back, &again, &err), &err);
	assert_string_equal(s.s, again.s);
	fit_ga2m_release(&back);
	check_err(fit_ga2m_read_json(&back, "t", "{\"ebm\": 3}", 10, &err), &err, FIT_EDATA,
		  "t: no object 'ebm' (expected a GA2M in JSON)");
	assert_int_equal(fit_ga2m_read_json(&back, "t", "{", 1, &err), FIT_EPARSE);
	fit_str_release(&s);
	fit_str_release(&again);
	fit_ga2m_release(&m);
}

/* 6214e9 is part of a hash, not a number; 1e0 and 1 are one category. */
static void test_category_text(void **state)
{
	static const char *const cases[][2] = { { "6214e9", "6214e9" }, { "1e0", "1" }, { " 1.0 ", "1" },
						{ "-0.0", "0" },	{ "1.5e3", "1500" }, { "12E5", "12E5" },
						{ "e9", "e9" },		{ "7", "7" } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char buf[40];

		check_span(fit_ga2m_category_text(fit_text_of(cases[i][0]), buf), cases[i][1]);
	}
}

static void apply(struct fit_ga2m *m, const char *what, struct fit_ga2m_change *c)
{
	struct fit_ga2m_edit e;
	struct fit_err err;

	check_ok(fit_ga2m_edit_parse(&e, m, what, &err), &err);
	check_ok(fit_ga2m_edit_apply(m, &e, c, &err), &err);
}

static void test_edits(void **state)
{
	struct fit_ga2m_change c;
	struct fit_ga2m_edit e;
	struct fit_ga2m m;
	struct fit_err err;

	(void)state;
	read_model(&m);
	/* the bins from 2.5 on, up to but not with the one that begins at 4.5 */
	apply(&m, "pin:a@2.5..4.5=7", &c);
	check_real(m.terms[0].score[3], 7, 0, 0);
	check_real(m.terms[0].score[4], -0.5, 0, 0);
	assert_int_equal(c.cells, 1);
	check_real(c.largest, 6, 0, 0);
	check_real(c.mean, 6 * 2 / 10.0, 1e-15, 0);
	assert_true(isnan(m.terms[0].sd[3]));
	check_real(m.terms[0].sd[4], 0.4, 0, 0);
	apply(&m, "pin:a x b@..2,20..=5", &c);
	check_real(score_of(&m, 1, 25, 0) - score_of(&m, 3, 25, 0), -1 + 5 - (7 + 1), 1e-12, 0);
	apply(&m, "pin:c@y=0", &c);
	check_real(m.terms[2].score[2], 0, 0, 0);
	fit_ga2m_release(&m);

	read_model(&m);
	/* weights 3 1 2 4 of -1 2 1 -0.5: pools are {-1}, {2, 1, -0.5} of mean 2/7 */
	apply(&m, "increasing:a", &c);
	check_real(m.terms[0].score[1], -1, 1e-12, 0);
	check_real(m.terms[0].score[2], 2 / 7.0, 1e-12, 0);
	check_real(m.terms[0].score[4], 2 / 7.0, 1e-12, 0);
	check_real(m.terms[0].score[0], 0.5, 0, 0);
	apply(&m, "smooth:a=1", &c);
	/* (3 * -1 + 1 * 2/7) / 4 and so on, moved so that the mean stays -3/10 + 7/10 * 2/7 = -0.1 */
	check_real((3 * m.terms[0].score[1] + m.terms[0].score[2] + 2 * m.terms[0].score[3] +
		    4 * m.terms[0].score[4]) / 10, -0.1, 1e-12, 1e-15);
	check_real(m.terms[0].score[4] - m.terms[0].score[1], 2 / 7.0 - (-3 + 2 / 7.0) / 4, 1e-12, 0);
	apply(&m, "scale:b=-2", &c);
	check_real(m.terms[1].score[1], 2, 0, 0);
	apply(&m, "remove:c", &c);
	assert_int_equal(m.n_terms, 3);
	check_real(c.importance_before, (6 * 2 + 4 * 3) / 10.0, 1e-15, 0);
	check_err(fit_ga2m_edit_parse(&e, &m, "flatten:c", &err), &err, FIT_EINVAL, "no term 'c' (in 'flatten:c')");
	fit_ga2m_release(&m);
}

/* What would be no number is refused, and nothing has changed. */
static void too_large(void **state)
{
	struct fit_ga2m_change c;
	struct fit_ga2m_edit e;
	struct fit_ga2m m;
	struct fit_err err = { 0 };
	double before[2];

	(void)state;
	read_model(&m);
	apply(&m, "scale:a=1e300", &c);
	before[0] = m.terms[0].score[1];
	before[1] = m.terms[0].importance;
	assert_int_equal(fit_ga2m_edit_parse(&e, &m, "scale:a=1e300", NULL), FIT_OK);
	assert_int_equal(fit_ga2m_edit_apply(&m, &e, &c, &err), FIT_EINVAL);
	assert_string_equal(err.msg, "a score would be too large for a number");
	check_real(m.terms[0].score[1], before[0], 0, 0);
	check_real(m.terms[0].importance, before[1], 0, 0);
	assert_null(fit_ga2m_check(&m));
	fit_ga2m_release(&m);
}

/* The sum of two models predicts the sum, where both know the values, up to what centring moves. */
static void test_add(void **state)
{
	static const double as[] = { 0, 1.7, 2.5, 3.9, 4.5, 9 }, bs[] = { 1, 12, 20, 40 };
	struct fit_ga2m_drift drift[5];
	struct fit_ga2m m, d, old;
	struct fit_err err;

	(void)state;
	read_model(&m);
	read_model(&old);
	read_model(&d);
	d.intercept[0] = 0.5;
	d.features[0].cuts[0][0] = 1.75;	/* other cuts: 1.75 and 5.5 */
	d.features[0].cuts[0][2] = 5.5;
	d.features[2].categories[1][0] = 'z';	/* x and z */
	check_ok(fit_ga2m_add(&m, &d, 1, drift, &err), &err);
	assert_null(fit_ga2m_check(&m));
	assert_int_equal(m.features[0].n_cuts[0], 5);
	assert_int_equal(m.features[2].n_categories, 3);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 4; k++)
			check_real(score_of(&m, as[i], bs[k], 0), score_of(&old, as[i], bs[k], 0) + score_of(&d, as[i], bs[k], 0),
				   1e-12, 1e-12);
	/* y is known to the old one alone, z to the other */
	check_real(score_of(&m, 2, 15, 1) - score_of(&m, 2, 15, 0), 3 - (-2 - 2), 1e-12, 0);
	check_real(score_of(&m, 2, 15, 2) - score_of(&m, 2, 15, 0), 3 - (-2 - 2), 1e-12, 0);
	check_real(drift[3].mean, (6 * 2 + 4 * 3) / 10.0, 1e-12, 0);
	check_real(drift[0].mean, 0.5, 0, 0);
	for (size_t k = 0; k < m.n_terms; k++) {
		double sum = 0;

		for (size_t i = 0; i < fit_ga2m_n_cells(&m.terms[k]); i++)
			sum += m.terms[k].weight[i] * m.terms[k].score[i];
		check_real(sum, 0, 0, 1e-11);
	}
	fit_ga2m_release(&m);
	fit_ga2m_release(&d);
	fit_ga2m_release(&old);
}

static void test_review(void **state)
{
	struct fit_ga2m_review_params p = fit_ga2m_review_params_default();
	enum fit_ga2m_shape shapes[3] = { FIT_GA2M_INCREASING, FIT_GA2M_INCREASING, FIT_GA2M_FREE };
	struct fit_ga2m_findings f = { 0 };
	size_t shape = 0;
	struct fit_ga2m m;
	struct fit_err err;

	(void)state;
	read_model(&m);
	p.shapes = shapes;
	check_ok(fit_ga2m_review(&m, &p, &f, &err), &err);
	for (size_t i = 0; i < f.n; i++)
		shape += f.list[i].fails && strcmp(f.list[i].check, "shape") == 0;
	/* a falls twice, from 2 to 1 and to -0.5; b does not. a has mean -0.1, c has 0; two columns of the pair
	 * are not pure */
	assert_int_equal(shape, 2);
	assert_int_equal(f.faults, 5);
	free(f.list);
	f = (struct fit_ga2m_findings){ 0 };
	p.shapes = NULL;
	p.support = 0.11;
	p.spike = 1;
	check_ok(fit_ga2m_review(&m, &p, &f, &err), &err);
	assert_string_equal(f.list[0].check, "spike");
	assert_int_equal(f.list[0].bin, 2);
	check_real(f.list[0].found, 2, 0, 0);
	/* beside: 3 * -1, 2 * 1, 4 * -0.5 by 9 */
	check_real(f.list[0].expected, (-3 + 2 - 2) / 9.0, 1e-15, 0);
	free(f.list);
	fit_ga2m_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_category_text),
					    cmocka_unit_test(test_edits), cmocka_unit_test(too_large),
					    cmocka_unit_test(test_add),
					    cmocka_unit_test(test_review) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
