/* SPDX-License-Identifier: MIT */
/* What a tree says of itself, looked at again: by plain sums that share nothing with growing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/tree.h"

#define CLOSE 1e-9

static bool close_to(double a, double b, double scale)
{
	return fabs(a - b) <= CLOSE * (fabs(scale) + fabs(a) + fabs(b)) + 1e-300;
}

static int add(struct fit_tree_findings *f, const char *check, int64_t node, const char *what,
	       struct fit_err *err)
{
	struct fit_tree_finding x = { .check = check, .node = node };

	if (fit_grow(&f->list, &f->cap, f->n + 1, sizeof *f->list))
		return fit_fail_nomem(err);
	snprintf(x.what, sizeof x.what, "%s", what);
	f->faults += *what != '\0';
	f->list[f->n++] = x;
	return FIT_OK;
}

/* ---- without data ---- */

/* "" or what is wrong with one node. */
typedef void node_check(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT]);

static void rows_add_up(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT])
{
	const struct fit_tree_node *a = &t->nodes[i];

	if (a->n == 0)
		snprintf(what, FIT_TREE_WHAT, "no rows");
	else if (a->left >= 0 && t->nodes[a->left].n + t->nodes[a->right].n != a->n)
		snprintf(what, FIT_TREE_WHAT, "%llu rows, its children have %llu", (unsigned long long)a->n,
			 (unsigned long long)(t->nodes[a->left].n + t->nodes[a->right].n));
}

static void weights_add_up(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT])
{
	const struct fit_tree_node *a = &t->nodes[i];
	double sum = 0;

	if (!(a->weight > 0))
		snprintf(what, FIT_TREE_WHAT, "weight %g", a->weight);
	else if (a->left >= 0 && !close_to(t->nodes[a->left].weight + t->nodes[a->right].weight, a->weight, 0))
		snprintf(what, FIT_TREE_WHAT, "weight %.17g, its children have %.17g", a->weight,
			 t->nodes[a->left].weight + t->nodes[a->right].weight);
	for (size_t c = 0; c < t->n_classes; c++)
		sum += t->class_weight[i * t->n_classes + c];
	if (t->n_classes && !close_to(sum, a->weight, 0))
		snprintf(what, FIT_TREE_WHAT, "weight %.17g, its classes have %.17g", a->weight, sum);
}

static void impurity_falls(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT])
{
	const struct fit_tree_node *a = &t->nodes[i], *l, *r;
	double below;

	if (a->impurity < -CLOSE)
		snprintf(what, FIT_TREE_WHAT, "impurity %g", a->impurity);
	if (a->left < 0)
		return;
	l = &t->nodes[a->left];
	r = &t->nodes[a->right];
	below = (l->weight * l->impurity + r->weight * r->impurity) / a->weight;
	if (below > a->impurity && !close_to(below, a->impurity, t->nodes[0].impurity))
		snprintf(what, FIT_TREE_WHAT, "the cut raises the impurity from %g to %g", a->impurity, below);
}

static void values_are_means(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT])
{
	const struct fit_tree_node *a = &t->nodes[i];

	if (t->n_classes) {
		const double *w = t->class_weight + i * t->n_classes;

		for (size_t c = 0; c < t->n_classes; c++)
			if (w[c] > w[(size_t)a->value] && !close_to(w[c], w[(size_t)a->value], 0))
				snprintf(what, FIT_TREE_WHAT, "predicts '%.40s', but '%.40s' weighs more",
					 t->classes[(size_t)a->value], t->classes[c]);
	} else if (a->left >= 0 && t->criterion == FIT_TREE_SQUARED) {
		const struct fit_tree_node *l = &t->nodes[a->left], *r = &t->nodes[a->right];
		double mean = (l->weight * l->value + r->weight * r->value) / a->weight;

		/* a constraint may have moved a value to its bound */
		for (size_t f = 0; f < t->n_features; f++)
			if (t->features[f].monotone)
				return;
		if (!close_to(mean, a->value, sqrt(t->nodes[0].impurity)))
			snprintf(what, FIT_TREE_WHAT, "value %.17g, the mean of its children is %.17g", a->value, mean);
	}
}

static void alphas_nest(const struct fit_tree *t, size_t i, char what[FIT_TREE_WHAT])
{
	const struct fit_tree_node *a = &t->nodes[i];

	if (a->alpha < 0)
		snprintf(what, FIT_TREE_WHAT, "alpha %g", a->alpha);
	else if (a->parent >= 0 && a->alpha > t->nodes[a->parent].alpha)
		snprintf(what, FIT_TREE_WHAT, "alpha %g above its parent's %g", a->alpha, t->nodes[a->parent].alpha);
}

/* ---- constraints: any two leaves that one feature alone may part ---- */


/* The interval of feature f that leads to a leaf; false when a set of levels stands on the way. */
static void interval_of(const struct fit_tree *t, size_t leaf, size_t f, double *low, double *high)
{
	*low = -HUGE_VAL;
	*high = HUGE_VAL;
	for (size_t i = leaf; t->nodes[i].parent >= 0; i = (size_t)t->nodes[i].parent) {
		const struct fit_tree_node *up = &t->nodes[t->nodes[i].parent];

		if ((size_t)up->feature != f)
			continue;
		if ((size_t)up->left == i)
			*high = fmin(*high, up->threshold);
		else
			*low = fmax(*low, up->threshold);
	}
}

/* Can some row reach both leaves but for feature f? */
static bool meet_elsewhere(const struct fit_tree *t, size_t a, size_t b, size_t f)
{
	for (size_t k = 0; k < t->n_features; k++) {
		double la, ha, lb, hb;

		if (k == f)
			continue;
		if (t->features[k].categorical) {
			bool some = false;

			/* each level, and one more for what is missing or unknown */
			for (size_t l = 0; l <= t->features[k].n_levels + 1 && !some; l++) {
				double x = l < t->features[k].n_levels	  ? (double)l
					   : l == t->features[k].n_levels ? -1.0
									  : (double)NAN;

				some = true;
				for (int side = 0; side < 2 && some; side++)
					for (size_t i = side ? b : a; t->nodes[i].parent >= 0 && some;
					     i = (size_t)t->nodes[i].parent) {
						const struct fit_tree_node *up = &t->nodes[t->nodes[i].parent];

						if ((size_t)up->feature == k)
							some = fit_tree_goes_left(t, up, x) ==
							       ((size_t)up->left == i);
					}
			}
			if (!some)
				return false;
			continue;
		}
		interval_of(t, a, k, &la, &ha);
		interval_of(t, b, k, &lb, &hb);
		if (!(fmax(la, lb) < fmin(ha, hb))) {
			bool missing = true;

			/* a missing value may still lead to both */
			for (int side = 0; side < 2; side++)
				for (size_t i = side ? b : a; t->nodes[i].parent >= 0;
				     i = (size_t)t->nodes[i].parent) {
					const struct fit_tree_node *up = &t->nodes[t->nodes[i].parent];

					if ((size_t)up->feature == k && up->missing_left != ((size_t)up->left == i))
						missing = false;
				}
			if (!missing)
				return false;
		}
	}
	return true;
}

static double constrained_value(const struct fit_tree *t, size_t i)
{
	return t->n_classes ? t->class_weight[i * t->n_classes + 1] / t->nodes[i].weight : t->nodes[i].value;
}

static int check_constraints(const struct fit_tree *t, struct fit_tree_findings *found, struct fit_err *err)
{
	static const char name[] = "constraints hold";
	size_t faults = found->faults;
	int rc = FIT_OK;

	for (size_t f = 0; f < t->n_features && !rc; f++) {
		int sign = t->features[f].monotone;

		if (!sign || t->features[f].categorical || t->n_classes > 2 || t->n_classes == 1)
			continue;
		for (size_t a = 0; a < t->n_nodes && !rc; a++) {
			if (t->nodes[a].left >= 0)
				continue;
			for (size_t b = 0; b < t->n_nodes && !rc; b++) {
				double la, ha, lb, hb, fall;
				char what[FIT_TREE_WHAT];

				if (t->nodes[b].left >= 0)
					continue;
				fall = sign * (constrained_value(t, a) - constrained_value(t, b));
				if (!(fall > 0))
					continue;
				interval_of(t, a, f, &la, &ha);
				interval_of(t, b, f, &lb, &hb);
				/* some value of a below some value of b */
				if (!(la < hb) || !(la < ha) || !(lb < hb) || a == b || !(la < lb || ha < hb) ||
				    !meet_elsewhere(t, a, b, f))
					continue;
				snprintf(what, sizeof what, "%.40s: from leaf %zu to leaf %zu it goes %.17g to %.17g",
					 t->features[f].name, a, b, constrained_value(t, a),
					 constrained_value(t, b));
				rc = add(found, name, (int64_t)a, what, err);
			}
		}
	}
	if (!rc && found->faults == faults)
		rc = add(found, name, -1, "", err);
	return rc;
}

/* ---- with data ---- */

struct by_leaf {
	uint32_t leaf, row;
};

static int compare_leaf(const void *pa, const void *pb)
{
	const struct by_leaf *a = pa, *b = pb;

	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

struct by_target {
	double y, w;
};

static int compare_target(const void *pa, const void *pb)
{
	const struct by_target *a = pa, *b = pb;

	return (a->y > b->y) - (a->y < b->y);
}

static double weight_at(const struct fit_tree_data *d, uint32_t row)
{
	return d->w ? d->w[row] : 1;
}

/* Mean of squares about the mean, or of distances to the median, and that value. */
static void spread(const struct fit_tree *t, const struct fit_tree_data *d, const struct by_leaf *rows,
		   size_t n, struct by_target *sorted, double weight, double *value, double *impurity)
{
	double sum = 0, below = 0;

	*value = 0;
	if (t->criterion == FIT_TREE_SQUARED) {
		/* about the first target, so that large ones close together keep their digits */
		for (size_t i = 0; i < n; i++)
			sum += weight_at(d, rows[i].row) * (d->y[rows[i].row] - d->y[rows[0].row]);
		*value = d->y[rows[0].row] + sum / weight;
	} else {
		for (size_t i = 0; i < n; i++)
			sorted[i] = (struct by_target){ d->y[rows[i].row], weight_at(d, rows[i].row) };
		qsort(sorted, n, sizeof *sorted, compare_target);
		for (size_t i = 0; i < n; i++) {
			below += sorted[i].w;
			*value = sorted[i].y;
			if (i + 1 < n && fabs(2 * below - weight) <= CLOSE * weight)
				*value = sorted[i].y / 2 + sorted[i + 1].y / 2;
			if (2 * below >= weight * (1 - CLOSE))
				break;
		}
	}
	sum = 0;
	for (size_t i = 0; i < n; i++) {
		double far = fabs(d->y[rows[i].row] - *value);

		sum += weight_at(d, rows[i].row) * (t->criterion == FIT_TREE_SQUARED ? far * far : far);
	}
	*impurity = sum / weight;
}

static void class_spread(const struct fit_tree *t, const struct fit_tree_data *d, const struct by_leaf *rows,
			 size_t n, double *sums, double weight, double *impurity)
{
	double sum = 0;

	for (size_t c = 0; c < t->n_classes; c++)
		sums[c] = 0;
	for (size_t i = 0; i < n; i++)
		sums[(size_t)d->y[rows[i].row]] += weight_at(d, rows[i].row);
	for (size_t c = 0; c < t->n_classes; c++) {
		double p = sums[c] / weight;

		if (p > 0)
			sum += t->criterion == FIT_TREE_GINI ? p * p : -p * log2(p);
	}
	*impurity = t->criterion == FIT_TREE_GINI ? 1 - sum : sum;
}

struct again {
	const struct fit_tree *t;
	const struct fit_tree_data *d;
	struct by_leaf *rows;
	size_t n;
	struct by_target *sorted;
	double *sums;
};

/* One node, derived again; "" or the first thing that differs. */
static void node_again(const struct again *g, size_t i, size_t from, size_t to, char what[FIT_TREE_WHAT])
{
	const struct fit_tree *t = g->t;
	const struct fit_tree_node *a = &t->nodes[i];
	double weight = 0, value = a->value, impurity = 0, scale = t->nodes[0].impurity;

	*what = '\0';
	for (size_t k = from; k < to; k++)
		weight += weight_at(g->d, g->rows[k].row);
	if (to - from != a->n) {
		snprintf(what, FIT_TREE_WHAT, "%llu rows, the data have %zu", (unsigned long long)a->n, to - from);
		return;
	}
	if (!close_to(weight, a->weight, 0)) {
		snprintf(what, FIT_TREE_WHAT, "weight %.17g, the data have %.17g", a->weight, weight);
		return;
	}
	if (t->n_classes) {
		class_spread(t, g->d, g->rows + from, to - from, g->sums, weight, &impurity);
		for (size_t c = 0; c < t->n_classes; c++)
			if (!close_to(g->sums[c], t->class_weight[i * t->n_classes + c], weight))
				snprintf(what, FIT_TREE_WHAT, "weight %.17g of class '%.40s', the data have %.17g",
					 t->class_weight[i * t->n_classes + c], t->classes[c], g->sums[c]);
	} else {
		bool constrained = false;

		spread(t, g->d, g->rows + from, to - from, g->sorted, weight, &value, &impurity);
		for (size_t f = 0; f < t->n_features; f++)
			constrained |= t->features[f].monotone != 0;
		if (!constrained && !close_to(value, a->value, 0))
			snprintf(what, FIT_TREE_WHAT, "value %.17g, the data have %.17g", a->value, value);
	}
	if (!*what && !close_to(impurity, a->impurity, scale))
		snprintf(what, FIT_TREE_WHAT, "impurity %.17g, the data have %.17g", a->impurity, impurity);
}

static int check_data(const struct fit_tree *t, const struct fit_tree_data *d,
		      struct fit_tree_findings *found, struct fit_err *err)
{
	static const char name[] = "the data say the same";
	struct again g = { .t = t, .d = d };
	size_t faults = found->faults;
	uint32_t *leaf = malloc((d->n_rows + 1) * sizeof *leaf);
	int rc;

	g.rows = malloc((d->n_rows + 1) * sizeof *g.rows);
	g.sorted = malloc((d->n_rows + 1) * sizeof *g.sorted);
	g.sums = malloc((t->n_classes + 1) * sizeof *g.sums);
	rc = leaf && g.rows && g.sorted && g.sums ? FIT_OK : fit_fail_nomem(err);
	if (!rc)
		fit_tree_leaves(t, d->x, 0, d->n_rows, leaf);
	for (size_t i = 0; i < d->n_rows && !rc; i++)
		if (weight_at(d, (uint32_t)i) > 0)
			g.rows[g.n++] = (struct by_leaf){ leaf[i], (uint32_t)i };
	if (!rc)
		qsort(g.rows, g.n, sizeof *g.rows, compare_leaf);
	for (size_t i = 0; i < t->n_nodes && !rc; i++) {
		size_t end = i + 1, from = 0, to;
		char what[FIT_TREE_WHAT];

		while (end < t->n_nodes && t->nodes[end].depth > t->nodes[i].depth)
			end++;
		/* leaves of a subtree are consecutive: a node's rows are, too */
		for (size_t step = g.n; step > 0; step /= 2)
			while (from + step <= g.n && g.rows[from + step - 1].leaf < i)
				from += step;
		to = from;
		for (size_t step = g.n; step > 0; step /= 2)
			while (to + step <= g.n && g.rows[to + step - 1].leaf < end)
				to += step;
		node_again(&g, i, from, to, what);
		if (*what)
			rc = add(found, name, (int64_t)i, what, err);
	}
	free(leaf);
	free(g.rows);
	free(g.sorted);
	free(g.sums);
	if (!rc && found->faults == faults)
		rc = add(found, name, -1, "", err);
	return rc;
}

int fit_tree_check(const struct fit_tree *t, const struct fit_tree_data *d, struct fit_tree_findings *f,
		   struct fit_err *err)
{
	static const struct {
		const char *name;
		node_check *look;
	} checks[] = { { "rows of children add up", rows_add_up },
		       { "weights of children add up", weights_add_up },
		       { "no cut raises the impurity", impurity_falls },
		       { "values go with the weights", values_are_means },
		       { "alphas do not rise towards the leaves", alphas_nest } };
	int rc = FIT_OK;

	*f = (struct fit_tree_findings){ 0 };
	for (size_t k = 0; k < sizeof checks / sizeof *checks && !rc; k++) {
		size_t faults = f->faults;

		for (size_t i = 0; i < t->n_nodes && !rc; i++) {
			char what[FIT_TREE_WHAT] = "";

			checks[k].look(t, i, what);
			if (*what)
				rc = add(f, checks[k].name, (int64_t)i, what, err);
		}
		if (!rc && f->faults == faults)
			rc = add(f, checks[k].name, -1, "", err);
	}
	rc = rc ? rc : check_constraints(t, f, err);
	if (!rc && d)
		rc = check_data(t, d, f, err);
	if (rc) {
		free(f->list);
		*f = (struct fit_tree_findings){ 0 };
	}
	return rc;
}
