/* SPDX-License-Identifier: MIT */
/*
 * Growing: features are sorted once, and every cut parts the sorted lists of a node in place, so that a
 * level of the tree costs one pass over rows and features and no sorting.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/tree_stats.h"

/* The cut that a node will make. */
struct split {
	int32_t feature;
	size_t cut;		/* pairs on the left (numbers) */
	bool missing_left, saw_missing, other_left;
	double threshold;
	double gain;		/* fall of impurity times weight */
	size_t bits;		/* categorical: in tree->bits */
};

/* A node that may be cut: its rows are [from, to) of every list. */
struct open_node {
	int32_t node;
	size_t from, to;
	double lower, upper;
	struct split split;
};

struct grower {
	const struct fit_tree_data *d;
	const struct fit_tree_params *p;
	struct fit_tree *t;
	struct fit_tree_stats s;
	size_t n, k;
	struct fit_tree_pair **order;	/* of each number, by value; NULL for categories */
	uint32_t **code;		/* of each category, by row; n_levels is missing */
	struct fit_tree_pair *temp;	/* n */
	uint32_t *temp_rows;		/* n */
	uint8_t *left;			/* by row */
	bool constrained;
	/* categories: work by level, the missing one last */
	int64_t *level_w, *level_q;
	uint32_t *level_n, *level_order, *level_rank;
	double *level_mean;
	uint64_t *best_levels;
	struct open_node *open;
	size_t n_open, cap_open;
};

/* ---- before the first node ---- */

/* Bits of a number in an order that rises with it; -0 is 0. */
static uint64_t rising_bits(double x)
{
	uint64_t u;

	x += 0.0;
	memcpy(&u, &x, sizeof u);
	return u >> 63 ? ~u : u | UINT64_C(1) << 63;
}

static uint32_t rising_bits_float(float x)
{
	uint32_t u;

	x += 0.0f;
	memcpy(&u, &x, sizeof u);
	return u >> 31 ? ~u : u | UINT32_C(1) << 31;
}

struct sort_item {
	uint64_t key;
	uint32_t row;
};

/* By key, rows of one key in their order: 11 bits a pass, passes over equal digits left out. */
static struct sort_item *radix_sort(struct sort_item *a, struct sort_item *b, size_t n)
{
	enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };
	static const uint64_t mask = BUCKETS - 1;
	size_t count[PASSES][BUCKETS] = { { 0 } };

	for (size_t i = 0; i < n; i++)
		for (int pass = 0; pass < PASSES; pass++)
			count[pass][a[i].key >> (pass * BITS) & mask]++;
	for (int pass = 0; pass < PASSES; pass++) {
		size_t at = 0, *c = count[pass];
		struct sort_item *swap = a;

		if (n == 0 || c[a[0].key >> (pass * BITS) & mask] == n)
			continue;
		for (size_t i = 0; i < BUCKETS; i++) {
			size_t here = c[i];

			c[i] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			b[c[a[i].key >> (pass * BITS) & mask]++] = a[i];
		a = b;
		b = swap;
	}
	return a;
}

static int sort_by(struct grower *g, const double *x, bool single, struct fit_tree_pair *out,
		   struct fit_err *err)
{
	struct sort_item *a = malloc((g->n + 1) * sizeof *a), *b = malloc((g->n + 1) * sizeof *b), *sorted;
	size_t m = 0, end = g->n;
	uint32_t rank = 0;

	if (!a || !b) {
		free(a);
		free(b);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < g->n; i++) {
		uint32_t row = g->s.rows[i];

		if (isnan(x[row]))
			continue;
		a[m++] = (struct sort_item){ single ? rising_bits_float((float)x[row]) : rising_bits(x[row]),
					     row };
	}
	for (size_t i = g->n; i-- > 0;)
		if (isnan(x[g->s.rows[i]]))
			out[--end] = (struct fit_tree_pair){ g->s.rows[i], FIT_TREE_KEY_MISSING };
	sorted = radix_sort(a, b, m);
	for (size_t i = 0; i < m; i++) {
		rank += i > 0 && sorted[i].key != sorted[i - 1].key;
		out[i] = (struct fit_tree_pair){ sorted[i].row, single ? (uint32_t)sorted[i].key : rank };
	}
	free(a);
	free(b);
	return FIT_OK;
}

static int prepare_categories(struct grower *g, size_t f, struct fit_err *err)
{
	size_t levels = g->d->features[f].n_levels;

	g->code[f] = malloc((g->d->n_rows + 1) * sizeof **g->code);
	if (!g->code[f])
		return fit_fail_nomem(err);
	for (size_t i = 0; i < g->n; i++) {
		double x = g->d->x[f][g->s.rows[i]];

		if (!isnan(x) && !(x >= 0 && x < (double)levels))
			return fit_fail(err, FIT_EINVAL, "feature '%s': a code outside of its levels",
					g->d->features[f].name);
		g->code[f][g->s.rows[i]] = isnan(x) ? (uint32_t)levels : (uint32_t)x;
	}
	return FIT_OK;
}

static int prepare(struct grower *g, struct fit_err *err)
{
	size_t most = 0;

	g->order = calloc(g->k + 1, sizeof *g->order);
	g->code = calloc(g->k + 1, sizeof *g->code);
	g->temp = malloc((g->n + 1) * sizeof *g->temp);
	g->temp_rows = malloc((g->n + 1) * sizeof *g->temp_rows);
	g->left = calloc(g->d->n_rows + 1, 1);
	if (!g->order || !g->code || !g->temp || !g->temp_rows || !g->left)
		return fit_fail_nomem(err);
	for (size_t f = 0; f < g->k; f++) {
		int rc;

		if (g->d->features[f].categorical) {
			if (g->d->features[f].n_levels > most)
				most = g->d->features[f].n_levels;
			rc = prepare_categories(g, f, err);
		} else {
			g->order[f] = malloc((g->n + 1) * sizeof **g->order);
			rc = g->order[f] ? sort_by(g, g->d->x[f], g->p->sklearn, g->order[f], err)
					 : fit_fail_nomem(err);
		}
		if (rc)
			return rc;
		g->constrained |= g->d->features[f].monotone != 0;
	}
	g->level_w = calloc(most + 1, sizeof *g->level_w);
	g->level_q = calloc(most + 1, sizeof *g->level_q);
	g->level_n = calloc(most + 1, sizeof *g->level_n);
	g->level_order = calloc(most + 1, sizeof *g->level_order);
	g->level_rank = calloc(most + 1, sizeof *g->level_rank);
	g->level_mean = calloc(most + 1, sizeof *g->level_mean);
	g->best_levels = calloc(most / 64 + 1, sizeof *g->best_levels);
	if (!g->level_w || !g->level_q || !g->level_n || !g->level_order || !g->level_rank ||
	    !g->level_mean || !g->best_levels)
		return fit_fail_nomem(err);
	if (g->p->criterion == FIT_TREE_ABSOLUTE)
		return sort_by(g, g->d->y, false, g->s.by_target, err);
	return FIT_OK;
}

static void release(struct grower *g)
{
	for (size_t f = 0; f < g->k; f++) {
		if (g->order)
			free(g->order[f]);
		if (g->code)
			free(g->code[f]);
	}
	free(g->order);
	free(g->code);
	free(g->temp);
	free(g->temp_rows);
	free(g->left);
	free(g->level_w);
	free(g->level_q);
	free(g->level_n);
	free(g->level_order);
	free(g->level_rank);
	free(g->level_mean);
	free(g->best_levels);
	free(g->open);
	fit_tree_stats_release(&g->s);
}

/* ---- the best cut of a node ---- */

/* How many of the pairs [from, to) are not missing. */
static size_t present(const struct fit_tree_pair *o, size_t n)
{
	size_t low = 0, high = n;

	if (n == 0 || o[n - 1].key != FIT_TREE_KEY_MISSING)
		return n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o[mid].key == FIT_TREE_KEY_MISSING)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Between two neighbouring values; halves are added, so that nothing overflows. */
static double between(double low, double high)
{
	double mid = low / 2 + high / 2;

	return mid >= low && mid < high ? mid : low;
}

static double value_of(const struct grower *g, int32_t f, const struct fit_tree_pair *o)
{
	double x = g->d->x[f][o->row] + 0.0;

	return g->p->sklearn ? (double)(float)x : x;
}

static void scan_number(struct grower *g, struct open_node *a, size_t f)
{
	const struct fit_tree_pair *o = g->order[f] + a->from;
	size_t n = a->to - a->from, m = present(o, n);
	struct fit_tree_scan *s = &g->s.scan;

	if (o[0].key == o[n - 1].key || !fit_tree_scan(s, o, m))
		return;
	a->split = (struct split){ .feature = (int32_t)f, .cut = s->cut, .saw_missing = m < n,
				   .missing_left = s->missing_left };
	a->split.threshold = s->cut == m ? HUGE_VAL
					 : between(value_of(g, (int32_t)f, &o[s->cut - 1]),
						   value_of(g, (int32_t)f, &o[s->cut]));
}

/* qsort has no argument to pass along. */
struct level_key {
	double mean;
	uint32_t level;
};

static int by_mean(const void *pa, const void *pb)
{
	const struct level_key *a = pa, *b = pb;

	if (a->mean < b->mean || a->mean > b->mean)
		return a->mean < b->mean ? -1 : 1;
	return (a->level > b->level) - (a->level < b->level);
}

/* Levels in order of the mean of their targets, or of the share of one class; then they are cut like
 * numbers (Fisher 1958: the best cut into two is among these for squared error and for two classes). */
static int scan_levels(struct grower *g, struct open_node *a, size_t f, int class,
		       struct fit_err *err)
{
	struct fit_tree_scan *s = &g->s.scan;
	size_t levels = g->d->features[f].n_levels + 1, seen = 0, at = 0;
	const uint32_t *code = g->code[f], *rows = g->s.rows + a->from;
	size_t n = a->to - a->from;
	struct level_key *keys;

	memset(g->level_w, 0, levels * sizeof *g->level_w);
	memset(g->level_q, 0, levels * sizeof *g->level_q);
	memset(g->level_n, 0, levels * sizeof *g->level_n);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = rows[i], l = code[row];
		int64_t w = s->wq ? s->wq[row] : 1;

		g->level_n[l]++;
		g->level_w[l] += w;
		g->level_q[l] += class < 0 ? s->q[row] : s->cls[row] == class ? w : 0;
	}
	keys = malloc(levels * sizeof *keys);
	if (!keys)
		return fit_fail_nomem(err);
	for (size_t l = 0; l < levels; l++)
		if (g->level_n[l] > 0)
			keys[seen++] = (struct level_key){ (double)g->level_q[l] / (double)g->level_w[l],
							   (uint32_t)l };
	qsort(keys, seen, sizeof *keys, by_mean);
	for (size_t r = 0; r < seen; r++) {
		g->level_rank[keys[r].level] = (uint32_t)r;
		g->level_order[r] = (uint32_t)at;
		at += g->level_n[keys[r].level];
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t r = g->level_rank[code[rows[i]]];

		g->temp[g->level_order[r]++] = (struct fit_tree_pair){ rows[i], r };
	}
	if (seen > 1 && fit_tree_scan(s, g->temp, n)) {
		uint32_t last = g->temp[s->cut - 1].key;

		memset(g->best_levels, 0, (levels + 62) / 64 * sizeof *g->best_levels);
		a->split = (struct split){ .feature = (int32_t)f, .cut = s->cut,
					   .saw_missing = g->level_n[levels - 1] > 0 };
		for (size_t r = 0; r <= last; r++) {
			uint32_t l = keys[r].level;

			if (l + 1 == levels)
				a->split.missing_left = true;
			else
				g->best_levels[l / 64] |= UINT64_C(1) << l % 64;
		}
	}
	free(keys);
	return FIT_OK;
}

static int scan_category(struct grower *g, struct open_node *a, size_t f, struct fit_err *err)
{
	size_t classes = g->d->n_classes;
	int first = classes == 0 ? -1 : classes == 2 ? 1 : 0, last = classes > 2 ? (int)classes - 1 : first;

	for (int c = first; c <= last; c++) {
		int rc = scan_levels(g, a, f, c, err);

		if (rc)
			return rc;
	}
	return FIT_OK;
}

static bool may_be_cut(const struct grower *g, int32_t id)
{
	const struct fit_tree_node *node = &g->t->nodes[id];

	return !((g->p->max_depth >= 0 && node->depth >= g->p->max_depth) ||
		 (int64_t)node->n < g->p->min_split || (int64_t)node->n < 2 * g->p->min_leaf ||
		 fit_tree_stats_pure(&g->s, node));
}

/* Find the cut of a node; *found: there is one. */
static int find_split(struct grower *g, struct open_node *a, bool *found, struct fit_err *err)
{
	const struct fit_tree_params *p = g->p;
	struct fit_tree_scan *s = &g->s.scan;
	int rc;

	*found = false;
	if (!may_be_cut(g, a->node))
		return FIT_OK;
	fit_tree_stats_begin(&g->s, a->from, a->to, &g->t->nodes[a->node]);
	s->lower = a->lower;
	s->upper = a->upper;
	for (size_t f = 0; f < g->k; f++) {
		s->monotone = g->d->features[f].monotone;
		s->strict = p->sklearn || p->min_weight_share > 0 || g->constrained;
		s->sklearn = p->sklearn && g->order[f];
		if (!g->order[f]) {
			rc = scan_category(g, a, f, err);
			if (rc)
				return rc;
		} else {
			scan_number(g, a, f);
		}
	}
	if (!s->found)
		return FIT_OK;
	if (s->kernel == KERNEL_SKLEARN)	/* there the gain lacks what the node has */
		s->gain += (double)s->n * g->t->nodes[a->node].impurity;
	a->split.gain = s->gain * s->unit;
	a->split.bits = g->t->n_bits;
	if (g->d->features[a->split.feature].categorical) {
		struct fit_tree *t = g->t;
		size_t words = (g->d->features[a->split.feature].n_levels + 63) / 64;

		if (fit_grow(&t->bits, &t->cap_bits, t->n_bits + words, sizeof *t->bits))
			return fit_fail_nomem(err);
		memcpy(t->bits + t->n_bits, g->best_levels, words * sizeof *t->bits);
		t->n_bits += words;
	}
	*found = true;
	return FIT_OK;
}

/* ---- cutting ---- */

static size_t part_pairs(struct grower *g, struct fit_tree_pair *restrict o, size_t n)
{
	const uint8_t *restrict left = g->left;
	struct fit_tree_pair *restrict temp = g->temp;
	size_t l = 0, r = 0;

	for (size_t i = 0; i < n; i++) {
		struct fit_tree_pair pair = o[i];
		size_t to_left = left[pair.row];

		o[l] = pair;
		temp[r] = pair;
		l += to_left;
		r += 1 - to_left;
	}
	memcpy(o + l, temp, r * sizeof *o);
	return l;
}

static size_t part_rows(struct grower *g, uint32_t *restrict rows, size_t n)
{
	const uint8_t *restrict left = g->left;
	uint32_t *restrict temp = g->temp_rows;
	size_t l = 0, r = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t row = rows[i];
		size_t to_left = left[row];

		rows[l] = row;
		temp[r] = row;
		l += to_left;
		r += 1 - to_left;
	}
	memcpy(rows + l, temp, r * sizeof *rows);
	return l;
}

static void mark_sides(struct grower *g, const struct open_node *a)
{
	const struct split *c = &a->split;
	size_t f = (size_t)c->feature, n = a->to - a->from;

	if (g->order[f]) {
		const struct fit_tree_pair *o = g->order[f] + a->from;
		size_t m = present(o, n);

		for (size_t i = 0; i < n; i++)
			g->left[o[i].row] = i < m ? i < c->cut : c->missing_left;
	} else {
		const uint64_t *bits = g->t->bits + c->bits;
		size_t levels = g->d->features[f].n_levels;

		for (size_t i = a->from; i < a->to; i++) {
			uint32_t row = g->s.rows[i], l = g->code[f][row];

			g->left[row] = (uint8_t)(l == levels ? c->missing_left : bits[l / 64] >> l % 64 & 1);
		}
	}
}

/* A level that the node did not see goes where unseen ones go. */
static void finish_levels(struct grower *g, const struct open_node *a, bool other_left)
{
	size_t f = (size_t)a->split.feature, levels = g->d->features[f].n_levels;

	if (!other_left)
		return;
	memset(g->level_n, 0, (levels + 1) * sizeof *g->level_n);
	for (size_t i = a->from; i < a->to; i++)
		g->level_n[g->code[f][g->s.rows[i]]] = 1;
	for (size_t l = 0; l < levels; l++)
		if (g->level_n[l] == 0)
			g->t->bits[a->split.bits + l / 64] |= UINT64_C(1) << l % 64;
}

static int new_node(struct grower *g, int32_t parent, size_t from, size_t to, double lower, double upper,
		    int32_t *id, struct fit_err *err)
{
	struct fit_tree *t = g->t;
	struct fit_tree_node node = { .left = -1, .right = -1, .parent = parent, .feature = -1,
				      .depth = parent < 0 ? 0 : t->nodes[parent].depth + 1 };
	size_t cap = t->cap_nodes;

	if (fit_grow(&t->nodes, &t->cap_nodes, t->n_nodes + 1, sizeof *t->nodes))
		return fit_fail_nomem(err);
	if (t->n_classes && (cap != t->cap_nodes || !t->class_weight)) {
		double *more = realloc(t->class_weight, t->cap_nodes * t->n_classes * sizeof *more);

		if (!more)
			return fit_fail_nomem(err);
		t->class_weight = more;
	}
	fit_tree_stats_node(&g->s, from, to, &node,
			    t->n_classes ? t->class_weight + t->n_nodes * t->n_classes : NULL);
	if (!t->n_classes && g->constrained)
		node.value = fmin(fmax(node.value, lower), upper);
	*id = (int32_t)t->n_nodes;
	t->nodes[t->n_nodes++] = node;
	return FIT_OK;
}

/* What a constraint looks at. */
static double constrained_value(const struct fit_tree *t, int32_t node)
{
	if (!t->n_classes)
		return t->nodes[node].value;
	return t->class_weight[(size_t)node * t->n_classes + 1] / t->nodes[node].weight;
}

/* Cut a node; children are in kids[0], kids[1]. */
static int cut_node(struct grower *g, struct open_node *a, struct open_node kids[2], struct fit_err *err)
{
	struct fit_tree *t = g->t;
	const struct split *c = &a->split;
	int sign = g->d->features[c->feature].monotone;
	size_t mid;
	int32_t left, right;
	bool heavier_left;
	int rc;

	mark_sides(g, a);
	mid = a->from + part_rows(g, g->s.rows + a->from, a->to - a->from);
	if (g->s.by_target)
		part_pairs(g, g->s.by_target + a->from, a->to - a->from);
	rc = new_node(g, a->node, a->from, mid, a->lower, a->upper, &left, err);
	if (!rc)
		rc = new_node(g, a->node, mid, a->to, a->lower, a->upper, &right, err);
	if (rc)
		return rc;
	heavier_left = t->nodes[left].weight >= t->nodes[right].weight;
	t->nodes[a->node].left = left;
	t->nodes[a->node].right = right;
	t->nodes[a->node].feature = c->feature;
	t->nodes[a->node].threshold = c->threshold;
	t->nodes[a->node].saw_missing = c->saw_missing;
	t->nodes[a->node].missing_left = c->saw_missing ? c->missing_left : heavier_left;
	t->nodes[a->node].levels = c->bits;
	if (!g->order[c->feature]) {
		t->nodes[a->node].other_left = heavier_left;
		finish_levels(g, a, heavier_left);
	}
	if (may_be_cut(g, left) || may_be_cut(g, right)) {
		for (size_t f = 0; f < g->k; f++) {
			struct fit_tree_pair *o = g->order[f] ? g->order[f] + a->from : NULL;

			/* of equal keys any rows may stand anywhere: it is not looked at again */
			if (o && o[0].key != o[a->to - a->from - 1].key)
				part_pairs(g, o, a->to - a->from);
		}
	}
	kids[0] = (struct open_node){ .node = left, .from = a->from, .to = mid,
				      .lower = a->lower, .upper = a->upper };
	kids[1] = (struct open_node){ .node = right, .from = mid, .to = a->to,
				      .lower = a->lower, .upper = a->upper };
	if (sign) {
		double l = constrained_value(t, left), r = constrained_value(t, right),
		       half = l / 2 + r / 2;

		kids[sign > 0 ? 0 : 1].upper = fmin(a->upper, half);
		kids[sign > 0 ? 1 : 0].lower = fmax(a->lower, half);
	}
	return FIT_OK;
}

/* ---- order of nodes ---- */

static bool cut_is_worth_it(const struct grower *g, const struct open_node *a)
{
	return a->split.gain / g->s.total_weight + DBL_EPSILON >= g->p->min_decrease;
}

/* Best first: larger gain, then the older node. */
static bool goes_before(const struct open_node *a, const struct open_node *b)
{
	if (a->split.gain < b->split.gain || a->split.gain > b->split.gain)
		return a->split.gain > b->split.gain;
	return a->node < b->node;
}

static void sift_down(struct open_node *heap, size_t n, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;
		struct open_node swap;

		if (child >= n)
			return;
		if (child + 1 < n && goes_before(&heap[child + 1], &heap[child]))
			child++;
		if (!goes_before(&heap[child], &heap[i]))
			return;
		swap = heap[i];
		heap[i] = heap[child];
		heap[child] = swap;
		i = child;
	}
}

static void sift_up(struct open_node *heap, size_t i)
{
	while (i > 0 && goes_before(&heap[i], &heap[(i - 1) / 2])) {
		struct open_node swap = heap[i];

		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = swap;
		i = (i - 1) / 2;
	}
}

static int push(struct grower *g, const struct open_node *a, struct fit_err *err)
{
	if (fit_grow(&g->open, &g->cap_open, g->n_open + 1, sizeof *g->open))
		return fit_fail_nomem(err);
	g->open[g->n_open++] = *a;
	return FIT_OK;
}

static int grow_depth_first(struct grower *g, const struct open_node *root, struct fit_err *err)
{
	int rc = push(g, root, err);

	while (!rc && g->n_open > 0) {
		struct open_node a = g->open[--g->n_open], kids[2];
		bool found;

		rc = find_split(g, &a, &found, err);
		if (rc || !found || !cut_is_worth_it(g, &a))
			continue;
		rc = cut_node(g, &a, kids, err);
		rc = rc ? rc : push(g, &kids[1], err);
		rc = rc ? rc : push(g, &kids[0], err);
	}
	return rc;
}

static int offer(struct grower *g, struct open_node *a, struct fit_err *err)
{
	bool found;
	int rc = find_split(g, a, &found, err);

	if (rc || !found || !cut_is_worth_it(g, a))
		return rc;
	rc = push(g, a, err);
	if (!rc)
		sift_up(g->open, g->n_open - 1);
	return rc;
}

static int grow_best_first(struct grower *g, struct open_node *root, struct fit_err *err)
{
	int rc = offer(g, root, err);

	for (int64_t leaves = 1; !rc && g->n_open > 0 && leaves < g->p->max_leaves; leaves++) {
		struct open_node a = g->open[0], kids[2];

		g->open[0] = g->open[--g->n_open];
		sift_down(g->open, g->n_open, 0);
		rc = cut_node(g, &a, kids, err);
		rc = rc ? rc : offer(g, &kids[0], err);
		rc = rc ? rc : offer(g, &kids[1], err);
	}
	return rc;
}

int fit_tree_grow(struct fit_tree *t, const struct fit_tree_data *d, const struct fit_tree_params *p,
		  struct fit_err *err)
{
	struct grower g = { .d = d, .p = p, .t = t, .k = d->n_features };
	struct open_node root = { .lower = -HUGE_VAL, .upper = HUGE_VAL };
	int rc = fit_tree_stats_init(&g.s, d, p, err);

	g.n = g.s.n;
	rc = rc ? rc : prepare(&g, err);
	rc = rc ? rc : new_node(&g, -1, 0, g.n, -HUGE_VAL, HUGE_VAL, &root.node, err);
	root.to = g.n;
	if (!rc)
		rc = p->max_leaves < 0 ? grow_depth_first(&g, &root, err) : grow_best_first(&g, &root, err);
	release(&g);
	return rc;
}
