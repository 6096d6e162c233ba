/* SPDX-License-Identifier: MIT */
/*
 * The scans: one pass over the rows of a node in order of a feature, a gain at every place where the
 * value changes. The gain is the fall of impurity times weight, up to the factor s->unit.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "libfit/model/tree_grow.h"

float fit_tree_key_float(uint32_t key)
{
	uint32_t bits = key & UINT32_C(0x80000000) ? key ^ UINT32_C(0x80000000) : ~key;
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

/* What has to be beaten. The first cut that is allowed is taken whatever it gains: an exclusive or has
 * a first cut that gains nothing. */
static double bar_of(const struct fit_tree_scan *s)
{
	return s->found ? s->gain + s->eps : -1e200;
}

/* Rows of o[m …] are on the left (and count there) or come last, as one more side of a cut. */
struct span {
	size_t from, to;	/* places p of a cut: o[0 … p - 1] are on the left */
	size_t base;		/* missing rows on the left */
};

static struct span span_of(const struct fit_tree_scan *s, size_t m, bool missing_left)
{
	size_t missing = s->n - m;
	struct span k = { .from = 1, .to = m, .base = missing_left ? missing : 0 };

	/* the cut behind the last value parts it from the missing ones, if they are on the right */
	if (missing_left || missing == 0)
		k.to = m > 0 ? m - 1 : 0;
	if (s->min_leaf > k.base + k.from)
		k.from = s->min_leaf - k.base;
	if (s->n < s->min_leaf + k.base)
		k.to = 0;
	else if (k.to > s->n - s->min_leaf - k.base)
		k.to = s->n - s->min_leaf - k.base;
	return k;
}

/* Is a cut at p allowed by more than its gain? Weights in units of wq, values of the two sides. */
static bool allowed(const struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t p, size_t m,
		    double wl, double wr, double left, double right)
{
	if (wl < s->min_weight || wr < s->min_weight)
		return false;
	if (s->sklearn && p < m &&
	    !(fit_tree_key_float(o[p].key) > fit_tree_key_float(o[p - 1].key) + 1e-7f))
		return false;
	if ((s->monotone > 0 && left > right) || (s->monotone < 0 && left < right))
		return false;
	return left >= s->lower && left <= s->upper && right >= s->lower && right <= s->upper;
}

static void take(struct fit_tree_scan *s, double gain, size_t p, bool missing_left)
{
	s->found = true;
	s->gain = gain;
	s->cut = p;
	s->missing_left = missing_left;
}

/*
 * Squared error. With sums S and weights W of the node, s and w of the left side and d = s - S w / W:
 * s^2/w + (S - s)^2/(W - w) - S^2/W = d^2 W / (w (W - w)). Two classes are this, too, with 0 and 1 as
 * targets (the gain of Gini's is twice that).
 */
static inline bool scan_squared(struct fit_tree_scan *s, const struct fit_tree_pair *restrict o, size_t m,
				bool missing_left, bool weighted)
{
	const int64_t *restrict q = s->q, *restrict wq = s->wq;
	struct span k = span_of(s, m, missing_left);
	double total = (double)s->sum_w, mean = (double)s->sum_q / total, bar = bar_of(s);
	int64_t sum = 0, weight = 0;
	bool better = false;

	if (missing_left) {
		for (size_t i = m; i < s->n; i++) {
			sum += q[o[i].row];
			weight += weighted ? wq[o[i].row] : 1;
		}
	}
	for (size_t p = 1; p <= k.to; p++) {
		double wl, wr, d, lhs;

		sum += q[o[p - 1].row];
		if (weighted)
			weight += wq[o[p - 1].row];
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		if (!weighted)
			weight = (int64_t)(k.base + p);
		wl = (double)weight;
		wr = (double)(s->sum_w - weight);
		d = (double)sum - mean * wl;
		lhs = d * d * total;
		if (!(lhs > bar * (wl * wr)))
			continue;
		if (s->strict && !allowed(s, o, p, m, wl, wr, s->centre + s->value_unit * ((double)sum / wl),
					  s->centre + s->value_unit * ((double)(s->sum_q - sum) / wr)))
			continue;
		take(s, lhs / (wl * wr), p, missing_left);
		bar = bar_of(s);
		better = true;
	}
	return better;
}

static void start_classes(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	memset(s->left, 0, s->n_classes * sizeof *s->left);
	for (size_t i = missing_left ? m : s->n; i < s->n; i++)
		s->left[s->cls[o[i].row]] += s->wq ? s->wq[o[i].row] : 1;
	for (size_t c = 0; c < s->n_classes; c++)
		s->right[c] = s->total[c] - s->left[c];
}

/* Share of the second class, which a constraint is about. */
static bool classes_allowed(const struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t p, size_t m,
			    double wl, double wr)
{
	return allowed(s, o, p, m, wl, wr, (double)s->left[1] / wl, (double)s->right[1] / wr);
}

/* Counts of many classes: the sums of squares change by whole numbers as a row moves over. */
static bool scan_gini(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	struct span k = span_of(s, m, missing_left);
	double n = (double)s->n, bar, node = 0;
	int64_t sq_left = 0, sq_right = 0;
	bool better = false;

	start_classes(s, o, m, missing_left);
	for (size_t c = 0; c < s->n_classes; c++) {
		sq_left += s->left[c] * s->left[c];
		sq_right += s->right[c] * s->right[c];
		node += (double)s->total[c] * (double)s->total[c];
	}
	node /= n;
	bar = bar_of(s) + node;
	for (size_t p = 1; p <= k.to; p++) {
		uint16_t c = s->cls[o[p - 1].row];
		double wl, wr, lhs;

		sq_left += 2 * s->left[c]++ + 1;
		sq_right -= 2 * s->right[c]-- - 1;
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		wl = (double)(k.base + p);
		wr = n - wl;
		lhs = (double)sq_left * wr + (double)sq_right * wl;
		if (!(lhs > bar * (wl * wr)))
			continue;
		if (s->strict && !classes_allowed(s, o, p, m, wl, wr))
			continue;
		take(s, (double)sq_left / wl + (double)sq_right / wr - node, p, missing_left);
		bar = bar_of(s) + node;
		better = true;
	}
	return better;
}

/* Counts of classes, W log W - sum of c log c from a table of whole numbers. */
static bool scan_entropy(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	const int64_t *f = s->log_table;
	struct span k = span_of(s, m, missing_left);
	int64_t node = f[s->n], left = 0, right = 0;
	double bar = bar_of(s);
	bool better = false;

	start_classes(s, o, m, missing_left);
	for (size_t c = 0; c < s->n_classes; c++) {
		node -= f[s->total[c]];
		left += f[s->left[c]];
		right += f[s->right[c]];
	}
	for (size_t p = 1; p <= k.to; p++) {
		uint16_t c = s->cls[o[p - 1].row];
		size_t nl = k.base + p, nr = s->n - nl;
		double gain;

		left += f[s->left[c] + 1] - f[s->left[c]];
		right += f[s->right[c] - 1] - f[s->right[c]];
		s->left[c]++;
		s->right[c]--;
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		gain = ldexp((double)(node - (f[nl] - left) - (f[nr] - right)), -s->log_bits);
		if (!(gain > bar))
			continue;
		if (s->strict && !classes_allowed(s, o, p, m, (double)nl, (double)nr))
			continue;
		take(s, gain, p, missing_left);
		bar = bar_of(s);
		better = true;
	}
	return better;
}

/* Weight times impurity of one side, less a part that a cut does not change. */
static double side(const struct fit_tree_scan *s, const int64_t *class, double w)
{
	double sum = 0;

	for (size_t c = 0; c < s->n_classes; c++) {
		double x = (double)class[c];

		if (class[c] > 0)
			sum += s->entropy ? x * log2(x / w) : x * x / w;
	}
	return -sum;
}

static bool scan_weighted(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	struct span k = span_of(s, m, missing_left);
	double node = side(s, s->total, (double)s->sum_w), bar = bar_of(s);
	int64_t weight = 0;
	bool better = false;

	start_classes(s, o, m, missing_left);
	for (size_t c = 0; c < s->n_classes; c++)
		weight += s->left[c];
	for (size_t p = 1; p <= k.to; p++) {
		uint32_t row = o[p - 1].row;
		int64_t w = s->wq ? s->wq[row] : 1;
		double wl, wr, gain;

		s->left[s->cls[row]] += w;
		s->right[s->cls[row]] -= w;
		weight += w;
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		wl = (double)weight;
		wr = (double)(s->sum_w - weight);
		gain = node - side(s, s->left, wl) - side(s, s->right, wr);
		if (!(gain > bar))
			continue;
		if (s->strict && !classes_allowed(s, o, p, m, wl, wr))
			continue;
		take(s, gain, p, missing_left);
		bar = bar_of(s);
		better = true;
	}
	return better;
}

/* Impurity of one side as scikit-learn computes it, in its order of operations. */
static double sklearn_impurity(const struct fit_tree_scan *s, const int64_t *class, double w)
{
	double sum = 0;

	for (size_t c = 0; c < s->n_classes; c++) {
		double x = (double)class[c];

		if (!s->entropy) {
			sum += x * x;
		} else if (x > 0) {
			x /= w;
			sum -= x * (log(x) / log(2.0));
		}
	}
	return s->entropy ? sum : 1.0 - sum / (w * w);
}

/*
 * Counts of classes with gains as scikit-learn rounds them. Cuts that gain the same by arithmetic may
 * differ in the last bit there, and then one of them wins whatever the seed: to agree with trees that all
 * seeds grow, that bit has to be the same.
 */
static bool scan_sklearn(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	struct span k = span_of(s, m, missing_left);
	double n = (double)s->n, best = s->found ? s->gain : -1e200;
	bool better = false;

	start_classes(s, o, m, missing_left);
	for (size_t p = 1; p <= k.to; p++) {
		uint16_t c = s->cls[o[p - 1].row];
		double wl = (double)(k.base + p), wr = n - wl, gain;

		s->left[c]++;
		s->right[c]--;
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		gain = -wr * sklearn_impurity(s, s->right, wr) - wl * sklearn_impurity(s, s->left, wl);
		if (!(gain > best) || !classes_allowed(s, o, p, m, wl, wr))
			continue;
		take(s, gain, p, missing_left);
		best = gain;
		better = true;
	}
	return better;
}

/* ---- absolute error: sums by rank of target, found again by halving ---- */

static void fenwick_add(int64_t *restrict tree_w, int64_t *restrict tree_q, size_t n, size_t rank, int64_t w,
			int64_t q)
{
	for (size_t i = rank + 1; i <= n; i += i & (~i + 1)) {
		tree_w[i] += w;
		tree_q[i] += q;
	}
}

/* Weight and sum of the left side over ranks below r. */
static void fenwick_below(const struct fit_tree_scan *s, size_t r, int64_t *w, int64_t *q)
{
	*w = *q = 0;
	for (size_t i = r; i > 0; i -= i & (~i + 1)) {
		*w += s->tree_w[i];
		*q += s->tree_q[i];
	}
}

/* The first rank behind r on which a side has weight. */
static size_t next_rank(const struct fit_tree_scan *s, bool left, size_t r)
{
	int64_t here, w, q;

	fenwick_below(s, r + 1, &here, &q);
	here = left ? here : s->cum_w[r + 1] - here;
	while (++r < s->n_distinct) {
		fenwick_below(s, r + 1, &w, &q);
		if ((left ? w : s->cum_w[r + 1] - w) > here)
			return r;
	}
	return s->n_distinct - 1;
}

/*
 * Weighted sum of distances to the median of the left side (left) or of the right one, which is the
 * node less the left side; *median in units of distinct. Ranks below r hold less than half of the
 * weight w, rank r reaches it; at exactly half the median lies half way to the next rank that has weight.
 */
static double deviation(const struct fit_tree_scan *s, bool left, int64_t w, int64_t q, double *median)
{
	size_t r = 0, step = 1;
	int64_t below = 0, at_w, at_q;

	while (step * 2 <= s->n_distinct)
		step *= 2;
	for (; step > 0; step /= 2) {
		size_t to = r + step;
		int64_t lw;

		if (to >= s->n_distinct)
			continue;
		lw = below + s->tree_w[to];
		if (2 * (left ? lw : s->cum_w[to] - lw) < w) {
			r = to;
			below = lw;
		}
	}
	fenwick_below(s, r + 1, &at_w, &at_q);
	at_w = left ? at_w : s->cum_w[r + 1] - at_w;
	at_q = left ? at_q : s->cum_q[r + 1] - at_q;
	*median = s->distinct[r];
	/* any point up to the next rank is as good; only a constraint asks which it is */
	if (2 * at_w == w && s->strict)
		*median = 0.5 * s->distinct[r] + 0.5 * s->distinct[next_rank(s, left, r)];
	return (double)(q - 2 * at_q) - s->distinct[r] * (double)(w - 2 * at_w);
}

static bool scan_absolute(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	struct span k = span_of(s, m, missing_left);
	size_t d = s->n_distinct;
	double bar = bar_of(s), node, unused;
	int64_t w = 0, q = 0;
	bool better = false;

	memset(s->tree_w, 0, (d + 1) * sizeof *s->tree_w);
	memset(s->tree_q, 0, (d + 1) * sizeof *s->tree_q);
	node = deviation(s, false, s->sum_w, s->sum_q, &unused);
	for (size_t i = missing_left ? m : s->n; i < s->n; i++) {
		uint32_t row = o[i].row;

		fenwick_add(s->tree_w, s->tree_q, d, s->rank[row], s->wq ? s->wq[row] : 1, s->q[row]);
		w += s->wq ? s->wq[row] : 1;
		q += s->q[row];
	}
	for (size_t p = 1; p <= k.to; p++) {
		uint32_t row = o[p - 1].row;
		double left, right, gain, wl, wr;

		fenwick_add(s->tree_w, s->tree_q, d, s->rank[row], s->wq ? s->wq[row] : 1, s->q[row]);
		w += s->wq ? s->wq[row] : 1;
		q += s->q[row];
		if ((p < m && o[p].key == o[p - 1].key) || p < k.from)
			continue;
		gain = node - deviation(s, true, w, q, &left) -
		       deviation(s, false, s->sum_w - w, s->sum_q - q, &right);
		if (!(gain > bar))
			continue;
		wl = (double)w;
		wr = (double)(s->sum_w - w);
		if (s->strict && !allowed(s, o, p, m, wl, wr, s->centre + s->value_unit * left,
					  s->centre + s->value_unit * right))
			continue;
		take(s, gain, p, missing_left);
		bar = bar_of(s);
		better = true;
	}
	return better;
}

static bool scan_one(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m, bool missing_left)
{
	switch (s->kernel) {
	case KERNEL_SQUARED:
		return s->wq ? scan_squared(s, o, m, missing_left, true)
			     : scan_squared(s, o, m, missing_left, false);
	case KERNEL_GINI:
		return scan_gini(s, o, m, missing_left);
	case KERNEL_ENTROPY:
		return scan_entropy(s, o, m, missing_left);
	case KERNEL_WEIGHTED:
		return scan_weighted(s, o, m, missing_left);
	case KERNEL_SKLEARN:
		return scan_sklearn(s, o, m, missing_left);
	case KERNEL_ABSOLUTE:
		return scan_absolute(s, o, m, missing_left);
	}
	return false;
}

bool fit_tree_scan(struct fit_tree_scan *s, const struct fit_tree_pair *o, size_t m)
{
	bool better = false;

	if (m > 0 && m < s->n)
		better = scan_one(s, o, m, true);
	if (m > 0)
		better |= scan_one(s, o, m, false);
	return better;
}
