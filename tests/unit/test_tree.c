/* SPDX-License-Identifier: MIT */
/*
 * Trees against an exhaustive search: every cut of every node of random small tables is compared with all
 * cuts there are, by plain sums. Then what does not matter (order of rows, scale, a monotone change of a
 * feature), pruning, JSON, and odd data.
 */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/rng.h"
#include "libfit/model/tree.h"

enum { ROWS = 40, NUMBERS = 3, FEATURES = 4, LEVELS = 5 };

struct sample {
	double x[FEATURES][ROWS], y[ROWS], w[ROWS];
	const double *columns[FEATURES];
	struct fit_tree_feature features[FEATURES];
	struct fit_tree_data d;
	size_t n;
};

static char *level_names[] = { (char[]){ "a" }, (char[]){ "b" }, (char[]){ "c" }, (char[]){ "d" },
			       (char[]){ "e" } };
static char *class_names[] = { (char[]){ "no" }, (char[]){ "maybe" }, (char[]){ "yes" } };
static char *feature_names[] = { (char[]){ "u" }, (char[]){ "v" }, (char[]){ "missing" }, (char[]){ "level" } };

/* Few different values, so that there are ties; missing ones in the third feature and the category. */
static void make(struct sample *s, gsl_rng *r, size_t n, size_t n_classes, int weights)
{
	s->n = n;
	for (size_t i = 0; i < n; i++) {
		for (size_t f = 0; f < NUMBERS; f++)
			s->x[f][i] = 0.1 * (double)gsl_rng_uniform_int(r, 9) - 0.3;
		if (gsl_rng_uniform(r) < 0.25)
			s->x[2][i] = (double)NAN;
		s->x[3][i] = (double)gsl_rng_uniform_int(r, LEVELS);
		if (gsl_rng_uniform(r) < 0.15)
			s->x[3][i] = (double)NAN;
		s->y[i] = n_classes ? (double)gsl_rng_uniform_int(r, n_classes)
				    : (double)gsl_rng_uniform_int(r, 7) * 0.37 + 1000;
		s->w[i] = weights == 0 ? 1 : weights == 1 ? (double)gsl_rng_uniform_int(r, 4)
							  : 0.05 + gsl_rng_uniform(r);
	}
	s->w[0] = 1;
	for (size_t f = 0; f < FEATURES; f++) {
		s->columns[f] = s->x[f];
		s->features[f] = (struct fit_tree_feature){ .name = feature_names[f], .categorical = f == 3,
							     .levels = f == 3 ? level_names : NULL,
							     .n_levels = f == 3 ? LEVELS : 0 };
	}
	s->d = (struct fit_tree_data){ n, FEATURES, n_classes, s->features, class_names, s->columns, s->y, s->w };
}

/* Weight times impurity of the rows of one side, by the definition. */
static double spread(const struct sample *s, enum fit_tree_criterion c, const int *side, int which)
{
	double weight = 0, mean = 0, sum = 0, best = HUGE_VAL, class[3] = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		if (side[i] != which)
			continue;
		weight += s->w[i];
		mean += s->w[i] * s->y[i];
		if (s->d.n_classes)
			class[(size_t)s->y[i]] += s->w[i];
	}
	if (weight <= 0)
		return 0;
	if (s->d.n_classes) {
		for (size_t k = 0; k < s->d.n_classes; k++)
			sum += c == FIT_TREE_GINI ? -class[k] * class[k] / weight
			       : class[k] > 0	  ? -class[k] * log2(class[k] / weight)
						  : 0;
		return c == FIT_TREE_GINI ? weight + sum : sum;
	}
	for (size_t i = 0; i < s->n && c == FIT_TREE_SQUARED; i++)
		if (side[i] == which)
			sum += s->w[i] * (s->y[i] - mean / weight) * (s->y[i] - mean / weight);
	if (c == FIT_TREE_SQUARED)
		return sum;
	/* some target is a median */
	for (size_t k = 0; k < s->n; k++) {
		sum = 0;
		for (size_t i = 0; i < s->n; i++)
			if (side[i] == which)
				sum += s->w[i] * fabs(s->y[i] - s->y[k]);
		if (side[k] == which && sum < best)
			best = sum;
	}
	return best;
}

struct best {
	double gain;
	bool any;
};

static void try_side(const struct sample *s, const struct fit_tree_params *p, const int *in, int *side,
		     struct best *b)
{
	size_t n[2] = { 0 };
	double gain, lost = 0;

	for (size_t i = 0; i < s->n; i++)
		if (in[i] && s->w[i] > 0)
			n[side[i]]++;
	if (n[0] < (size_t)p->min_leaf || n[1] < (size_t)p->min_leaf)
		return;
	for (size_t i = 0; i < s->n; i++)
		side[i] = in[i] && s->w[i] > 0 ? side[i] : 2;
	lost = spread(s, p->criterion, side, 0) + spread(s, p->criterion, side, 1);
	for (size_t i = 0; i < s->n; i++)
		side[i] = side[i] == 2 ? 2 : 0;
	gain = spread(s, p->criterion, side, 0) - lost;
	if (!b->any || gain > b->gain)
		b->gain = gain;
	b->any = true;
}

/* The best gain of all cuts of the rows that are in. Sets of levels: all of them where that is what the
 * tree promises (squared error, Gini of two classes), else none. */
static struct best exhaustive(const struct sample *s, const struct fit_tree_params *p, const int *in, bool sets)
{
	struct best b = { 0 };
	int side[ROWS];

	for (size_t f = 0; f < NUMBERS; f++) {
		for (size_t k = 0; k < s->n; k++) {
			for (int missing = 0; missing < 2; missing++) {
				double cut = s->x[f][k];

				if (isnan(cut) || !in[k])
					continue;
				for (size_t i = 0; i < s->n; i++)
					side[i] = isnan(s->x[f][i]) ? missing : s->x[f][i] > cut;
				try_side(s, p, in, side, &b);
			}
		}
	}
	for (unsigned set = 1; set < 1u << (LEVELS + 1) && sets; set++) {
		for (size_t i = 0; i < s->n; i++)
			side[i] = !(set >> (isnan(s->x[3][i]) ? LEVELS : (unsigned)s->x[3][i]) & 1);
		try_side(s, p, in, side, &b);
	}
	return b;
}

static double gain_of(const struct fit_tree *t, size_t i)
{
	const struct fit_tree_node *a = &t->nodes[i], *l = &t->nodes[a->left], *r = &t->nodes[a->right];

	return a->weight * a->impurity - l->weight * l->impurity - r->weight * r->impurity;
}

/* Rows that pass a node. */
static void rows_of(const struct fit_tree *t, const struct sample *s, size_t node, int *in)
{
	for (size_t i = 0; i < s->n; i++) {
		size_t at = 0;

		while (at != node && t->nodes[at].left >= 0) {
			const struct fit_tree_node *a = &t->nodes[at];

			at = (size_t)(fit_tree_goes_left(t, a, s->x[a->feature][i]) ? a->left : a->right);
		}
		in[i] = at == node;
	}
}

static void against_all_cuts(enum fit_tree_criterion c, size_t n_classes, int weights, bool sets)
{
	gsl_rng *r = fit_rng_new(7, "test/tree");
	struct fit_tree_params p = fit_tree_params_default(c);
	struct fit_err err;

	for (int k = 0; k < 40; k++) {
		struct fit_tree_findings found;
		struct sample s;
		struct fit_tree t;

		make(&s, r, 6 + (size_t)k % 30, n_classes, weights);
		if (!sets)
			s.d.n_features = NUMBERS;
		/* sets in order of the mean are the best ones only where every size is allowed */
		p.min_leaf = sets ? 1 : 1 + k % 3;
		check_ok(fit_tree_train(&t, &s.d, &p, &err), &err);
		check_ok(fit_tree_sound(&t, &err), &err);
		for (size_t i = 0; i < t.n_nodes; i++) {
			int in[ROWS];
			struct best b;

			rows_of(&t, &s, i, in);
			b = exhaustive(&s, &p, in, sets);
			if (t.nodes[i].left >= 0)
				check_real(gain_of(&t, i), b.gain, 1e-9,
					   1e-9 * t.nodes[0].weight * t.nodes[0].impurity);
			else if (t.nodes[i].impurity > 0)
				assert_false(b.any);
		}
		check_ok(fit_tree_check(&t, &s.d, &found, &err), &err);
		for (size_t i = 0; i < found.n; i++)
			check_text(found.list[i].what, "");
		free(found.list);
		fit_tree_release(&t);
	}
	gsl_rng_free(r);
}

static void test_squared(void **state)
{
	(void)state;
	for (int weights = 0; weights < 3; weights++)
		against_all_cuts(FIT_TREE_SQUARED, 0, weights, true);
}

static void test_absolute(void **state)
{
	(void)state;
	for (int weights = 0; weights < 3; weights++)
		against_all_cuts(FIT_TREE_ABSOLUTE, 0, weights, false);
}

static void test_classes(void **state)
{
	(void)state;
	for (int weights = 0; weights < 3; weights++) {
		against_all_cuts(FIT_TREE_GINI, 2, weights, true);
		against_all_cuts(FIT_TREE_GINI, 3, weights, false);
		against_all_cuts(FIT_TREE_ENTROPY, 2, weights, true);
		against_all_cuts(FIT_TREE_ENTROPY, 3, weights, false);
	}
}

static char *as_json(const struct fit_tree *t)
{
	struct fit_str s = { 0 };
	struct fit_err err;

	check_ok(fit_tree_print_json(t, &s, &err), &err);
	return s.s;
}

static char *grown(const struct fit_tree_data *d, const struct fit_tree_params *p)
{
	struct fit_tree t;
	struct fit_err err;
	char *text;

	check_ok(fit_tree_train(&t, d, p, &err), &err);
	text = as_json(&t);
	fit_tree_release(&t);
	return text;
}

/* Any order of rows, and all weights times a power of two: the same but for the weights themselves. */
static void test_order(void **state)
{
	gsl_rng *r = fit_rng_new(11, "test/tree-order");

	(void)state;
	for (int k = 0; k < 60; k++) {
		static const enum fit_tree_criterion all[] = { FIT_TREE_SQUARED, FIT_TREE_ABSOLUTE, FIT_TREE_GINI,
							       FIT_TREE_ENTROPY };
		enum fit_tree_criterion c = all[k % 4];
		struct fit_tree_params p = fit_tree_params_default(c);
		struct sample s, m;
		char *a, *b;

		make(&s, r, ROWS, k % 4 < 2 ? 0 : 2 + (size_t)k % 3 % 2, k % 3);
		for (size_t i = 0; i < ROWS && !s.d.n_classes; i++)
			s.y[i] = 1e6 * gsl_rng_uniform(r);
		p.max_leaves = k % 5 == 0 ? 6 : -1;
		m = s;
		for (size_t i = ROWS - 1; i > 0; i--) {
			size_t j = gsl_rng_uniform_int(r, i + 1);
			double swap;

			for (size_t f = 0; f < FEATURES + 2; f++) {
				double *x = f < FEATURES ? m.x[f] : f == FEATURES ? m.y : m.w;

				swap = x[i];
				x[i] = x[j];
				x[j] = swap;
			}
		}
		for (size_t f = 0; f < FEATURES; f++)
			m.columns[f] = m.x[f];
		m.d.x = m.columns;
		m.d.y = m.y;
		m.d.w = m.w;
		m.d.features = m.features;
		a = grown(&s.d, &p);
		b = grown(&m.d, &p);
		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	gsl_rng_free(r);
}

/* Tiny and huge targets: the tree is the same up to the scale. */
static void test_scale(void **state)
{
	gsl_rng *r = fit_rng_new(3, "test/tree-scale");
	struct fit_tree_params p = fit_tree_params_default(FIT_TREE_SQUARED);
	struct fit_err err;

	(void)state;
	for (int k = 0; k < 12; k++) {
		double scale = ldexp(1, (int[]){ -400, -60, 60, 400 }[k % 4]);
		struct fit_tree a, b;
		struct sample s;

		p.criterion = k % 3 == 2 ? FIT_TREE_ABSOLUTE : FIT_TREE_SQUARED;
		make(&s, r, ROWS, 0, 0);
		check_ok(fit_tree_train(&a, &s.d, &p, &err), &err);
		for (size_t i = 0; i < ROWS; i++)
			s.y[i] *= scale;
		check_ok(fit_tree_train(&b, &s.d, &p, &err), &err);
		assert_int_equal(a.n_nodes, b.n_nodes);
		for (size_t i = 0; i < a.n_nodes; i++) {
			assert_int_equal(a.nodes[i].feature, b.nodes[i].feature);
			check_same_bits(a.nodes[i].threshold, b.nodes[i].threshold);
			check_same_bits(a.nodes[i].value * scale, b.nodes[i].value);
		}
		fit_tree_release(&a);
		fit_tree_release(&b);
	}
	gsl_rng_free(r);
}

/* Pruned trees are nested, their impurity and leaves as the path says; JSON gives the same tree back. */
static void test_path(void **state)
{
	gsl_rng *r = fit_rng_new(5, "test/tree-path");
	struct fit_err err;

	(void)state;
	for (int k = 0; k < 40; k++) {
		struct fit_tree_params p = fit_tree_params_default(k % 2 ? FIT_TREE_GINI : FIT_TREE_SQUARED);
		struct fit_tree_path path;
		struct fit_tree t, back;
		struct sample s;
		char *text, *again;

		make(&s, r, ROWS, k % 2 ? 3 : 0, k % 3);
		check_ok(fit_tree_train(&t, &s.d, &p, &err), &err);
		text = as_json(&t);
		check_ok(fit_tree_read_json(&back, "text", text, strlen(text), &err), &err);
		again = as_json(&back);
		assert_string_equal(text, again);
		for (size_t i = 0; i < s.n; i++) {
			double x[FEATURES];

			for (size_t f = 0; f < FEATURES; f++)
				x[f] = s.x[f][i];
			assert_int_equal(fit_tree_leaf(&t, x), fit_tree_leaf(&back, x));
		}
		fit_tree_release(&back);
		check_ok(fit_tree_path(&t, &path, &err), &err);
		for (size_t i = 1; i < path.n; i++) {
			assert_true(path.steps[i].alpha >= path.steps[i - 1].alpha);
			assert_true(path.steps[i].leaves < path.steps[i - 1].leaves);
		}
		assert_int_equal(path.steps[path.n - 1].leaves, 1);
		for (size_t i = 0; i < path.n; i++) {
			double sum = 0;

			if (i + 1 < path.n && path.steps[i + 1].alpha <= path.steps[i].alpha)
				continue;
			check_ok(fit_tree_prune(&t, path.steps[i].alpha, &err), &err);
			check_ok(fit_tree_sound(&t, &err), &err);
			assert_int_equal(fit_tree_n_leaves(&t), path.steps[i].leaves);
			for (size_t a = 0; a < t.n_nodes; a++)
				if (t.nodes[a].left < 0)
					sum += t.nodes[a].weight / t.nodes[0].weight * t.nodes[a].impurity;
			check_real(sum, path.steps[i].impurity, 1e-12, 1e-12);
		}
		free(path.steps);
		free(text);
		free(again);
		fit_tree_release(&t);
	}
	gsl_rng_free(r);
}

/* Folds do not share rows: with a row that only itself predicts, the loss of the whole tree is that of a
 * stranger. */
static void test_cv(void **state)
{
	enum { N = 12 };
	double x[N], y[N];
	const double *columns[] = { x };
	struct fit_tree_feature f = { .name = feature_names[0] };
	struct fit_tree_data d = { N, 1, 0, &f, NULL, columns, y, NULL };
	struct fit_tree_params p = fit_tree_params_default(FIT_TREE_SQUARED);
	struct fit_tree_cv_params how = { .folds = N };
	struct fit_tree_path path;
	struct fit_tree_cv cv;
	struct fit_tree t;
	struct fit_err err;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		x[i] = (double)i;
		y[i] = i < N / 2 ? 0 : 10;
	}
	y[3] = 1;
	check_ok(fit_tree_train(&t, &d, &p, &err), &err);
	check_ok(fit_tree_path(&t, &path, &err), &err);
	check_ok(fit_tree_cv(&cv, &d, &p, &path, &how, &err), &err);
	/* two leaves: row 3 is off by 1, the other five of its side by 1/5, as row 3 is in their mean; but
	 * the boundary rows 5 and 6 are predicted well, for the cut stays between them or next to them */
	assert_int_equal(cv.rows[cv.chosen].leaves, 2);
	check_real(cv.rows[cv.n - 1].loss, 0, 0, 100);
	assert_true(cv.rows[cv.n - 1].loss > cv.rows[cv.chosen].loss);
	free(cv.rows);
	how.folds = N + 1;
	assert_int_equal(fit_tree_cv(&cv, &d, &p, &path, &how, &err), FIT_EINVAL);
	free(path.steps);
	fit_tree_release(&t);
}

static void test_faults(void **state)
{
	gsl_rng *r = fit_rng_new(9, "test/tree-faults");
	struct fit_tree_params p = fit_tree_params_default(FIT_TREE_SQUARED);
	struct sample s;
	struct fit_tree t;
	struct fit_err err;

	(void)state;
	make(&s, r, 10, 0, 0);
	p.min_split = 1;
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL, "fewer than two rows cannot be cut");
	p = fit_tree_params_default(FIT_TREE_GINI);
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL,
		  "criterion 'gini' does not go with the target");
	p = fit_tree_params_default(FIT_TREE_SQUARED);
	s.features[3].monotone = 1;
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL,
		  "a constraint on the categories of 'level'");
	s.features[3].monotone = 0;
	s.y[4] = HUGE_VAL;
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL,
		  "row 5: bad target (expected a number of at most 1e150 in size)");
	s.y[4] = 0;
	s.w[2] = -1;
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL,
		  "bad weight of row 3 (expected 0 or more)");
	s.w[2] = 1;
	s.x[3][1] = LEVELS;
	check_err(fit_tree_train(&t, &s.d, &p, &err), &err, FIT_EINVAL,
		  "feature 'level': a code outside of its levels");
	gsl_rng_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_squared), cmocka_unit_test(test_absolute), cmocka_unit_test(test_classes),
		cmocka_unit_test(test_order),	cmocka_unit_test(test_scale),	 cmocka_unit_test(test_path),
		cmocka_unit_test(test_cv),	cmocka_unit_test(test_faults)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
