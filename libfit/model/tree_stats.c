/* SPDX-License-Identifier: MIT */
#include "libfit/model/tree_stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest e with n <= 2^e. */
static int log2_up(size_t n)
{
	int e = 0;

	while (e < 62 && ((size_t)1 << e) < n)
		e++;
	return e;
}

/* Nearest whole number, halves away from zero; |x| < 2^62. */
static int64_t whole(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* ---- weights ---- */

static int set_weights(struct fit_tree_stats *s, struct fit_err *err)
{
	const struct fit_tree_data *d = s->d;
	double low = HUGE_VAL, high = 0;

	for (size_t i = 0; i < d->n_rows; i++) {
		double w = d->w ? d->w[i] : 1;

		if (!(w >= 0) || isinf(w))
			return fit_fail(err, FIT_EINVAL, "bad weight of row %zu (expected 0 or more)", i + 1);
		if (w > 0) {
			s->rows[s->n++] = (uint32_t)i;
			low = fmin(low, w);
			high = fmax(high, w);
		}
	}
	if (s->n == 0)
		return fit_fail(err, FIT_EDATA, "no row with a weight above 0");
	s->weight_unit = high;
	if (low < high) {
		int bits = 60 - log2_up(s->n), e;

		frexp(high, &e);
		s->wq = malloc(d->n_rows * sizeof *s->wq);
		if (!s->wq)
			return fit_fail_nomem(err);
		for (size_t i = 0; i < s->n; i++) {
			int64_t w = whole(ldexp(d->w[s->rows[i]], bits - e));

			s->wq[s->rows[i]] = w > 0 ? w : 1;
		}
		s->weight_unit = ldexp(1, e - bits);
	}
	return FIT_OK;
}

static int64_t weight_of(const struct fit_tree_stats *s, size_t from, size_t to)
{
	int64_t sum = (int64_t)(to - from);

	if (s->wq) {
		sum = 0;
		for (size_t i = from; i < to; i++)
			sum += s->wq[s->rows[i]];
	}
	return sum;
}

/* ---- setting up ---- */

static int set_log_table(struct fit_tree_stats *s, struct fit_err *err)
{
	double n = (double)s->n;
	int bits = 60 - log2_up((size_t)(n * log2(n)) + 2);

	bits = bits < 50 ? bits : 50;
	s->log_table = malloc((s->n + 2) * sizeof *s->log_table);
	if (!s->log_table)
		return fit_fail_nomem(err);
	s->log_table[0] = 0;
	for (size_t i = 1; i <= s->n; i++)
		s->log_table[i] = whole(ldexp((double)i * log2((double)i), bits));
	s->scan.log_table = s->log_table;
	s->scan.log_bits = bits;
	return FIT_OK;
}

static int set_classes(struct fit_tree_stats *s, const struct fit_tree_params *p, struct fit_err *err)
{
	const struct fit_tree_data *d = s->d;
	size_t c = d->n_classes;
	bool entropy = s->criterion == FIT_TREE_ENTROPY;

	s->cls = calloc(d->n_rows + 1, sizeof *s->cls);
	s->class_w = calloc(c + 1, sizeof *s->class_w);
	s->left = calloc(c + 1, sizeof *s->left);
	s->right = calloc(c + 1, sizeof *s->right);
	if (!s->cls || !s->class_w || !s->left || !s->right)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < s->n; i++) {
		double y = d->y[s->rows[i]];

		if (!(y >= 0 && y < (double)c))
			return fit_fail(err, FIT_EINVAL, "row %u: not one of the classes", s->rows[i] + 1);
		s->cls[s->rows[i]] = (uint16_t)y;
	}
	s->scan.kernel = p->sklearn && !s->wq && (entropy || p->max_leaves >= 0) ? KERNEL_SKLEARN
			 : c == 2 && !entropy ? KERNEL_SQUARED
			 : s->wq	    ? KERNEL_WEIGHTED
			 : entropy	    ? KERNEL_ENTROPY
					    : KERNEL_GINI;
	if (s->scan.kernel == KERNEL_SQUARED) {
		s->q = calloc(d->n_rows + 1, sizeof *s->q);
		if (!s->q)
			return fit_fail_nomem(err);
		for (size_t i = 0; i < s->n; i++) {
			uint32_t row = s->rows[i];

			s->q[row] = s->cls[row] ? s->wq ? s->wq[row] : 1 : 0;
		}
	}
	return s->scan.kernel == KERNEL_ENTROPY ? set_log_table(s, err) : FIT_OK;
}

static int set_targets(struct fit_tree_stats *s, struct fit_err *err)
{
	const struct fit_tree_data *d = s->d;

	for (size_t i = 0; i < s->n; i++)
		if (!(fabs(d->y[s->rows[i]]) <= 1e150))
			return fit_fail(err, FIT_EINVAL,
					"row %u: bad target (expected a number of at most 1e150 in size)",
					s->rows[i] + 1);
	s->q = calloc(d->n_rows + 1, sizeof *s->q);
	if (!s->q)
		return fit_fail_nomem(err);
	s->scan.kernel = KERNEL_SQUARED;
	if (s->criterion != FIT_TREE_ABSOLUTE)
		return FIT_OK;
	s->scan.kernel = KERNEL_ABSOLUTE;
	s->by_target = calloc(s->n + 1, sizeof *s->by_target);
	s->rank = calloc(d->n_rows + 1, sizeof *s->rank);
	s->distinct = calloc(s->n + 1, sizeof *s->distinct);
	s->cum_w = calloc(s->n + 2, sizeof *s->cum_w);
	s->cum_q = calloc(s->n + 2, sizeof *s->cum_q);
	s->tree_w = calloc(s->n + 2, sizeof *s->tree_w);
	s->tree_q = calloc(s->n + 2, sizeof *s->tree_q);
	if (!s->by_target || !s->rank || !s->distinct || !s->cum_w || !s->cum_q || !s->tree_w || !s->tree_q)
		return fit_fail_nomem(err);
	return FIT_OK;
}

int fit_tree_stats_init(struct fit_tree_stats *s, const struct fit_tree_data *d,
			const struct fit_tree_params *p, struct fit_err *err)
{
	struct fit_tree_scan *k = &s->scan;
	int rc;

	*s = (struct fit_tree_stats){ .d = d, .criterion = p->criterion, .sklearn = p->sklearn };
	s->rows = malloc((d->n_rows + 1) * sizeof *s->rows);
	if (!s->rows)
		return fit_fail_nomem(err);
	rc = set_weights(s, err);
	rc = rc ? rc : d->n_classes ? set_classes(s, p, err) : set_targets(s, err);
	if (rc)
		return rc;
	s->total_weight = (double)weight_of(s, 0, s->n) * s->weight_unit;
	k->entropy = p->criterion == FIT_TREE_ENTROPY;
	k->q = s->q;
	k->wq = s->wq;
	k->cls = s->cls;
	k->n_classes = d->n_classes;
	k->min_leaf = (size_t)p->min_leaf;
	k->min_weight = p->min_weight_share * (double)weight_of(s, 0, s->n) * (1 - 1e-12);
	k->total = s->class_w;
	k->left = s->left;
	k->right = s->right;
	k->rank = s->rank;
	k->distinct = s->distinct;
	k->cum_w = s->cum_w;
	k->cum_q = s->cum_q;
	k->tree_w = s->tree_w;
	k->tree_q = s->tree_q;
	return FIT_OK;
}

void fit_tree_stats_release(struct fit_tree_stats *s)
{
	free(s->rows);
	free(s->by_target);
	free(s->q);
	free(s->wq);
	free(s->log_table);
	free(s->class_w);
	free(s->left);
	free(s->right);
	free(s->cum_w);
	free(s->cum_q);
	free(s->tree_w);
	free(s->tree_q);
	free(s->cls);
	free(s->rank);
	free(s->distinct);
}

/* ---- a node ---- */

/* Targets of a node: y = mid + half r with r in [-1, 1]; the mean; the sum of w (y - mean)^2 / half^2. */
struct moments {
	double mid, half, mean;
	double weight;		/* in units of wq */
	double spread;		/* in units of wq */
};

static struct moments moments_of(const struct fit_tree_stats *s, size_t from, size_t to)
{
	const double *y = s->d->y;
	struct moments m = { .weight = (double)weight_of(s, from, to) };
	/* one row in fixed point: below 2^62, whatever its weight */
	int shift = s->wq ? 2 + log2_up(s->n) : 62;
	double low = y[s->rows[from]], high = low, scale = ldexp(1, shift), fine = ldexp(1, shift - 2);
	fit_tree_i128 sum = 0, squares = 0;

	for (size_t i = from; i < to; i++) {
		low = fmin(low, y[s->rows[i]]);
		high = fmax(high, y[s->rows[i]]);
	}
	m.mid = low / 2 + high / 2;
	m.half = fmax(high - m.mid, m.mid - low);
	m.mean = m.mid;
	if (!(low < high)) {
		m.mean = m.mid = low;
		m.half = 0;
		return m;
	}
	for (size_t i = from; i < to; i++) {
		uint32_t row = s->rows[i];
		double r = (y[row] - m.mid) / m.half;

		sum += whole(r * (s->wq ? (double)s->wq[row] : 1) * scale);
	}
	m.mean = m.mid + m.half * ((double)sum / scale / m.weight);
	for (size_t i = from; i < to; i++) {
		uint32_t row = s->rows[i];
		double r = (y[row] - m.mean) / m.half;

		squares += whole(r * r * (s->wq ? (double)s->wq[row] : 1) * fine);
	}
	m.spread = (double)squares / fine;
	return m;
}

/* The median of a node: the target at which half of the weight is reached; at exactly half, the middle
 * between it and the next one. Rows are in order of target. */
static double median_of(const struct fit_tree_stats *s, size_t from, size_t to, double weight)
{
	int64_t below = 0, all = (int64_t)weight;

	if (s->wq)
		all = weight_of(s, from, to);
	for (size_t i = from; i < to; i++) {
		uint32_t row = s->by_target[i].row;

		below += s->wq ? s->wq[row] : 1;
		if (2 * below > all || i + 1 == to)
			return s->d->y[row];
		if (2 * below == all)
			return s->d->y[row] / 2 + s->d->y[s->by_target[i + 1].row] / 2;
	}
	return 0;
}

static double mean_distance(const struct fit_tree_stats *s, size_t from, size_t to, double median,
			    const struct moments *m)
{
	double scale = ldexp(1, s->wq ? 1 + log2_up(s->n) : 60);
	fit_tree_i128 sum = 0;

	for (size_t i = from; i < to; i++) {
		uint32_t row = s->rows[i];

		sum += whole(fabs(s->d->y[row] - median) / m->half * (s->wq ? (double)s->wq[row] : 1) * scale);
	}
	return (double)sum / scale / m->weight * m->half;
}

static void class_node(struct fit_tree_stats *s, size_t from, size_t to, struct fit_tree_node *node,
		       double *classes)
{
	size_t n_classes = s->d->n_classes, best = 0, some = 0;
	double w, sum = 0;

	memset(s->class_w, 0, n_classes * sizeof *s->class_w);
	for (size_t i = from; i < to; i++)
		s->class_w[s->cls[s->rows[i]]] += s->wq ? s->wq[s->rows[i]] : 1;
	w = (double)weight_of(s, from, to);
	for (size_t c = 0; c < n_classes; c++) {
		double p = (double)s->class_w[c] / w;

		classes[c] = (double)s->class_w[c] * s->weight_unit;
		if (s->class_w[c] > s->class_w[best])
			best = c;
		some += s->class_w[c] > 0;
		if (p > 0)
			sum += s->criterion == FIT_TREE_ENTROPY ? -p * log2(p) : p * p;
	}
	node->value = (double)best;
	node->weight = w * s->weight_unit;
	/* purity is a matter of counting, not of what is left of a rounded sum */
	node->impurity = some < 2 ? 0 : fmax(s->criterion == FIT_TREE_ENTROPY ? sum : 1 - sum, DBL_MIN);
}

void fit_tree_stats_node(struct fit_tree_stats *s, size_t from, size_t to, struct fit_tree_node *node,
			 double *classes)
{
	struct moments m;

	node->n = to - from;
	if (s->d->n_classes) {
		class_node(s, from, to, node, classes);
		return;
	}
	m = moments_of(s, from, to);
	node->weight = m.weight * s->weight_unit;
	node->value = m.mean;
	node->impurity = m.half * m.half * (m.spread / m.weight);
	if (s->criterion == FIT_TREE_ABSOLUTE && m.half > 0) {
		node->value = median_of(s, from, to, m.weight);
		node->impurity = mean_distance(s, from, to, node->value, &m);
	}
	node->impurity = m.half > 0 ? fmax(node->impurity, DBL_MIN) : 0;
}

bool fit_tree_stats_pure(const struct fit_tree_stats *s, const struct fit_tree_node *node)
{
	if (s->sklearn && !s->d->n_classes)
		return node->impurity <= DBL_EPSILON;
	return node->impurity <= 0;
}

/* ---- targets in fixed point ---- */

static void begin_classes(struct fit_tree_stats *s, size_t from, size_t to)
{
	struct fit_tree_scan *k = &s->scan;

	memset(s->class_w, 0, s->d->n_classes * sizeof *s->class_w);
	for (size_t i = from; i < to; i++)
		s->class_w[s->cls[s->rows[i]]] += s->wq ? s->wq[s->rows[i]] : 1;
	k->eps = FIT_TREE_TIE * (double)k->sum_w;
	k->unit = s->weight_unit;
	k->centre = 0;
	k->value_unit = 1;
	if (k->kernel == KERNEL_SQUARED) {	/* half of what Gini's gains */
		k->sum_q = s->class_w[1];
		k->eps /= 2;
		k->unit *= 2;
	}
}

static void begin_squared(struct fit_tree_stats *s, size_t from, size_t to)
{
	struct fit_tree_scan *k = &s->scan;
	struct moments m = moments_of(s, from, to);
	int bits = s->wq ? -1 : 59 - log2_up(s->n);
	double scale = ldexp(1, bits);

	k->sum_q = 0;
	for (size_t i = from; i < to; i++) {
		uint32_t row = s->rows[i];
		double r = (s->d->y[row] - m.mean) / m.half;

		s->q[row] = whole(r * (s->wq ? (double)s->wq[row] : 1) * scale);
		k->sum_q += s->q[row];
	}
	k->centre = m.mean;
	k->value_unit = m.half / scale;
	k->eps = FIT_TREE_TIE * m.spread * scale * scale;
	k->unit = k->value_unit * k->value_unit * s->weight_unit;
}

static void begin_absolute(struct fit_tree_stats *s, size_t from, size_t to, const struct fit_tree_node *node)
{
	struct fit_tree_scan *k = &s->scan;
	const double *y = s->d->y;
	double low = y[s->by_target[from].row], high = y[s->by_target[to - 1].row];
	double mid = low / 2 + high / 2, half = fmax(high - mid, mid - low);
	int bits = s->wq ? 0 : 60 - log2_up(s->n);
	double scale = ldexp(1, bits);
	size_t d = 0;

	s->cum_w[0] = s->cum_q[0] = 0;
	for (size_t i = from; i < to; i++) {
		uint32_t row = s->by_target[i].row;
		double r = (y[row] - mid) / half * scale;
		int64_t w = s->wq ? s->wq[row] : 1;

		if (i == from || s->by_target[i].key != s->by_target[i - 1].key) {
			s->distinct[d] = s->wq ? r : (double)whole(r);
			s->cum_w[d + 1] = s->cum_w[d];
			s->cum_q[d + 1] = s->cum_q[d];
			d++;
		}
		s->rank[row] = (uint32_t)d - 1;
		s->q[row] = whole(r * (double)w);
		s->cum_w[d] += w;
		s->cum_q[d] += s->q[row];
	}
	k->n_distinct = d;
	k->sum_q = s->cum_q[d];
	k->centre = mid;
	k->value_unit = half / scale;
	k->unit = k->value_unit * s->weight_unit;
	k->eps = k->unit > 0 ? FIT_TREE_TIE * node->impurity * node->weight / k->unit : 0;
}

void fit_tree_stats_begin(struct fit_tree_stats *s, size_t from, size_t to, const struct fit_tree_node *node)
{
	struct fit_tree_scan *k = &s->scan;

	k->found = false;
	k->n = to - from;
	k->sum_w = weight_of(s, from, to);
	if (s->d->n_classes)
		begin_classes(s, from, to);
	else if (s->criterion == FIT_TREE_ABSOLUTE)
		begin_absolute(s, from, to, node);
	else
		begin_squared(s, from, to);
}
