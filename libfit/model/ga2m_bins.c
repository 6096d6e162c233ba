/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ga2m_binned_release(struct ga2m_binned *b)
{
	for (size_t f = 0; f < b->n_features; f++) {
		if (b->bin)
			free(b->bin[f]);
		if (b->to_pair)
			free(b->to_pair[f]);
	}
	free(b->bin);
	free(b->to_pair);
	free(b->n_bins);
	free(b->nominal);
	free(b->overflow);
	free(b->n_pair_bins);
	free(b->y);
	free(b->weight);
	free(b->offset);
	free(b->known);
	free(b->time);
	free(b->group);
	free(b->bags);
	*b = (struct ga2m_binned){ 0 };
}

/* Bins of numbers, of which neighbours become one. */
struct merged {
	size_t *bound, k;	/* bound[i] - 1: the cut that stays as number i */
	uint16_t *map;		/* by bin before: bin now; missing stays 0 */
};

static void merged_release(struct merged *m)
{
	free(m->bound);
	free(m->map);
}

/* So that there are at most max_bins; released by the caller, also of a failure. FIT_ENOMEM. */
static int merge_bins(struct merged *m, const struct ga2m_binned *b, const struct fit_ga2m_feature *f,
		      size_t at, size_t max_bins)
{
	size_t n = f->n_cuts[0] + 1;
	uint32_t *count = calloc(n + 1, sizeof *count);

	m->bound = malloc((max_bins + 1) * sizeof *m->bound);
	m->map = calloc(n + 1, sizeof *m->map);
	m->k = SIZE_MAX;
	if (count && m->bound && m->map) {
		for (size_t i = 0; i < b->n_rows; i++)
			count[b->bin[at][i]]++;
		m->k = fit_ga2m_bounds(count + 1, n, max_bins, m->bound);
	}
	free(count);
	if (m->k == SIZE_MAX)
		return FIT_ENOMEM;
	for (size_t i = 0, j = 0; i < n; i++) {
		while (j < m->k && m->bound[j] <= i)
			j++;
		m->map[i + 1] = (uint16_t)(j + 1);
	}
	return FIT_OK;
}

/* Pair cuts are some of the main cuts, so that a pair's main effects can be moved to the mains
 * exactly. */
static int pair_cuts(struct ga2m_binned *b, struct fit_ga2m_feature *f, size_t at, size_t max_bins)
{
	struct merged m;
	int rc = merge_bins(&m, b, f, at, max_bins);

	if (!rc && m.k > 0 && !(f->cuts[1] = malloc(m.k * sizeof *f->cuts[1])))
		rc = FIT_ENOMEM;
	if (!rc) {
		for (size_t i = 0; i < m.k; i++)
			f->cuts[1][i] = f->cuts[0][m.bound[i] - 1];
		f->n_cuts[1] = m.k;
		b->to_pair[at] = m.map;
		b->n_pair_bins[at] = m.k + 2;
		m.map = NULL;
	}
	merged_release(&m);
	return rc;
}

static int by_text(const void *pa, const void *pb)
{
	char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

struct ranked {
	uint64_t rows;
	size_t code;
};

static int by_rows(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return a->rows != b->rows ? (a->rows < b->rows ? 1 : -1) : (a->code > b->code) - (a->code < b->code);
}

/* Categories that some row has, in byte order; the most frequent where they are too many. */
static int bin_nominal(struct ga2m_binned *b, struct fit_ga2m_feature *f, struct fit_ga2m_column *c,
		       size_t at)
{
	size_t n = c->n_categories, kept = 0;
	struct ranked *ranked = calloc(n + 1, sizeof *ranked);
	char **sorted = calloc(n + 1, sizeof *sorted);
	uint16_t *bin_of = calloc(n + 1, sizeof *bin_of);
	int rc = FIT_ENOMEM;

	if (!ranked || !sorted || !bin_of)
		goto out;
	for (size_t i = 0; i < n; i++)
		ranked[i].code = i;
	for (size_t i = 0; i < b->n_rows; i++)
		if (c->code[i] != FIT_GA2M_MISSING)
			ranked[c->code[i]].rows++;
	if (n > GA2M_MAX_CATEGORIES)
		qsort(ranked, n, sizeof *ranked, by_rows);
	for (size_t i = 0; i < n && kept < GA2M_MAX_CATEGORIES; i++)
		if (ranked[i].rows > 0)
			sorted[kept++] = c->categories[ranked[i].code];
	b->overflow[at] = false;
	for (size_t i = 0, seen = 0; i < n; i++)
		if (ranked[i].rows > 0 && ++seen > kept)
			b->overflow[at] = true;
	qsort(sorted, kept, sizeof *sorted, by_text);
	f->categories = calloc(kept + 1, sizeof *f->categories);
	if (!f->categories)
		goto out;
	for (size_t i = 0; i < n; i++)
		bin_of[i] = (uint16_t)(kept + 1);
	for (size_t i = 0; i < kept; i++) {
		bin_of[fit_index_get(&c->index, fit_text_of(sorted[i]))] = (uint16_t)(i + 1);
		if (!(f->categories[i] = fit_strdup(fit_text_of(sorted[i]))))
			goto out;
		f->n_categories = i + 1;
	}
	f->n_unique = (int64_t)kept;
	for (size_t i = 0; i < b->n_rows; i++)
		b->bin[at][i] = c->code[i] == FIT_GA2M_MISSING ? 0 : bin_of[c->code[i]];
	b->n_bins[at] = b->n_pair_bins[at] = kept + 1 + b->overflow[at];
	rc = FIT_OK;
out:
	free(ranked);
	free(sorted);
	free(bin_of);
	return rc;
}

/* Move the bounds of bins apart when there are more than max_bins: the bins of a first, finer
 * binning. */
static int coarsen(struct ga2m_binned *b, struct fit_ga2m_feature *f, size_t at, size_t max_bins)
{
	struct merged m;
	int rc = merge_bins(&m, b, f, at, max_bins);

	if (!rc) {
		for (size_t i = 0; i < m.k; i++)
			f->cuts[0][i] = f->cuts[0][m.bound[i] - 1];
		f->n_cuts[0] = m.k;
		for (size_t i = 0; i < b->n_rows; i++)
			b->bin[at][i] = m.map[b->bin[at][i]];
		b->n_bins[at] = m.k + 2;
	}
	merged_release(&m);
	return rc;
}

/* Numbers to bins, by way of a table over equal ranges that says where the search can start. */
static int bin_numbers(struct ga2m_binned *b, const struct fit_ga2m_feature *f, const double *x,
		size_t at)
{
	enum { RANGES = 4096 };
	uint16_t *from = calloc(RANGES + 1, sizeof *from);
	const double *cuts = f->cuts[0];
	size_t n = f->n_cuts[0];
	double lo = n ? cuts[0] : 0, scale = n > 1 ? RANGES / (cuts[n - 1] - lo) : 0;

	if (!from)
		return FIT_ENOMEM;
	if (!isfinite(scale))
		scale = 0;
	/* from[r]: a number of cuts that are certainly <= every x that falls into range r */
	for (size_t i = 0; i < n && scale > 0; i++) {
		size_t r = (size_t)((cuts[i] - lo) * scale) + 1;

		if (r <= RANGES)
			from[r] = (uint16_t)(i + 1);
	}
	for (size_t r = 1; r <= RANGES; r++)
		from[r] = from[r] > from[r - 1] ? from[r] : from[r - 1];
	for (size_t i = 0; i < b->n_rows; i++) {
		double v = x[i], r = (v - lo) * scale;
		size_t k;

		if (isnan(v)) {
			b->bin[at][i] = 0;
			continue;
		}
		if (n < 8 || scale <= 0) {
			b->bin[at][i] = (uint16_t)fit_ga2m_bin(f, 0, v);
			continue;
		}
		k = r >= RANGES ? from[RANGES] : r > 0 ? from[(size_t)r] : 0;
		if (n - k > 16 && cuts[k + 15] <= v) {	/* crowded: search properly */
			b->bin[at][i] = (uint16_t)fit_ga2m_bin(f, 0, v);
			continue;
		}
		while (k < n && cuts[k] <= v)
			k++;
		b->bin[at][i] = (uint16_t)(k + 1);
	}
	free(from);
	return FIT_OK;
}

static int bin_continuous(struct ga2m_binned *b, struct fit_ga2m_feature *f, struct fit_ga2m_column *c,
			  size_t at, size_t max_bins)
{
	double *copy = malloc((b->n_rows + 1) * sizeof *copy);
	int rc = FIT_ENOMEM;

	if (copy) {
		memcpy(copy, c->x, b->n_rows * sizeof *copy);
		rc = fit_ga2m_cuts(copy, b->n_rows, max_bins, &f->cuts[0], &f->n_cuts[0], &f->n_unique, &f->min,
				   &f->max);
	}
	free(copy);
	if (!rc)
		rc = bin_numbers(b, f, c->x, at);
	b->n_bins[at] = f->n_cuts[0] + 2;
	free(c->x);
	c->x = NULL;
	return rc;
}

/* Rows of weight 0 leave all columns. */
static int drop_rows(struct fit_ga2m_data *d, uint64_t *dropped)
{
	size_t n = 0;

	*dropped = 0;
	for (size_t i = 0; d->weight && i < d->n_rows; i++)
		*dropped += !(d->weight[i] > 0);
	if (*dropped == 0)
		return FIT_OK;
	for (size_t i = 0; i < d->n_rows; i++) {
		if (!(d->weight[i] > 0))
			continue;
		for (size_t c = 0; c < d->n_columns; c++) {
			if (d->columns[c].nominal)
				d->columns[c].code[n] = d->columns[c].code[i];
			else
				d->columns[c].x[n] = d->columns[c].x[i];
		}
		d->y[n] = d->y[i];
		if (d->offset)
			d->offset[n] = d->offset[i];
		for (size_t o = 0; d->known && o < d->n_classes; o++)
			d->known[n * d->n_classes + o] = d->known[i * d->n_classes + o];
		if (d->time)
			d->time[n] = d->time[i];
		if (d->group)
			d->group[n] = d->group[i];
		d->weight[n++] = d->weight[i];
	}
	d->n_rows = n;
	return FIT_OK;
}

static int copy_bags(struct ga2m_binned *b, const struct fit_ga2m_data *d, size_t n_bags,
		const bool *kept,
		     size_t n_all)
{
	b->bags = malloc(n_bags * b->n_rows + 1);
	if (!b->bags)
		return FIT_ENOMEM;
	for (size_t g = 0; g < n_bags; g++)
		for (size_t i = 0, n = 0; i < n_all; i++)
			if (!kept || kept[i])
				b->bags[g * b->n_rows + n++] = d->bags[g * n_all + i];
	return FIT_OK;
}

static int alloc_binned(struct ga2m_binned *b, size_t k)
{
	b->n_features = k;
	b->bin = calloc(k + 1, sizeof *b->bin);
	b->to_pair = calloc(k + 1, sizeof *b->to_pair);
	b->n_bins = calloc(k + 1, sizeof *b->n_bins);
	b->nominal = calloc(k + 1, sizeof *b->nominal);
	b->overflow = calloc(k + 1, sizeof *b->overflow);
	b->n_pair_bins = calloc(k + 1, sizeof *b->n_pair_bins);
	return b->bin && b->to_pair && b->n_bins && b->nominal && b->overflow && b->n_pair_bins ? FIT_OK :
	       FIT_ENOMEM;
}

static size_t total_bins(const struct ga2m_binned *b, size_t max_bins)
{
	size_t sum = 0;

	for (size_t f = 0; f < b->n_features; f++)
		sum += b->nominal[f] || b->n_bins[f] < max_bins + 1 ? b->n_bins[f] : max_bins + 1;
	return sum;
}

/* The largest number of bins with which the sum is in bounds; as it is where not even 32 would do. */
static size_t fitting_bins(const struct ga2m_binned *b, size_t max_bins, size_t max_total)
{
	size_t lo = 32, hi = max_bins;

	if (max_total == 0 || total_bins(b, max_bins) <= max_total || lo >= hi || total_bins(b,
			lo) > max_total)
		return max_bins;
	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;

		if (total_bins(b, mid) <= max_total)
			lo = mid;
		else
			hi = mid;
	}
	return lo & ~(size_t)1;	/* an even number has a cut at the median */
}

int ga2m_bin(struct ga2m_binned *b, struct fit_ga2m *m, struct fit_ga2m_data *d,
	     const struct fit_ga2m_params *p, size_t max_total, size_t *used, struct fit_err *err)
{
	size_t k = d->n_columns, n_all = d->n_rows, most = p->max_bins;
	bool *kept = NULL;
	uint64_t dropped;
	int rc = alloc_binned(b, k);

	m->features = calloc(k + 1, sizeof *m->features);
	if (!m->features)
		rc = FIT_ENOMEM;
	if (!rc && d->bags && d->weight) {
		kept = calloc(n_all + 1, sizeof *kept);
		rc = kept ? FIT_OK : FIT_ENOMEM;
		for (size_t i = 0; kept && i < n_all; i++)
			kept[i] = d->weight[i] > 0;
	}
	if (!rc)
		rc = drop_rows(d, &dropped);
	b->n_rows = d->n_rows;
	b->n_bags = p->bags;
	if (!rc && d->bags)
		rc = copy_bags(b, d, p->bags, kept, n_all);
	free(kept);
	if (!p->max_bins_given && p->rows_per_bin > 0 && (double)b->n_rows < p->rows_per_bin * (double)most)
		most = (double)b->n_rows > 64 * p->rows_per_bin ? (size_t)((double)b->n_rows / p->rows_per_bin) : 64;
	most = most < p->max_bins ? most : p->max_bins;
	for (size_t f = 0; f < k && !rc; f++) {
		struct fit_ga2m_column *c = &d->columns[f];
		struct fit_ga2m_feature *x = &m->features[f];

		x->min = x->max = (double)NAN;
		x->nominal = b->nominal[f] = c->nominal;
		x->name = fit_strdup(fit_text_of(c->name));
		m->n_features = f + 1;
		b->bin[f] = malloc((b->n_rows + 1) * sizeof *b->bin[f]);
		rc = !x->name || !b->bin[f] ? FIT_ENOMEM : c->nominal ? bin_nominal(b, x, c, f) :
		     bin_continuous(b, x, c, f, most);
	}
	*used = rc ? most : fitting_bins(b, most, p->max_bins_given ? 0 : max_total);
	for (size_t f = 0; f < k && !rc; f++) {
		if (b->nominal[f])
			continue;
		if (b->n_bins[f] > *used + 1)
			rc = coarsen(b, &m->features[f], f, *used);
		if (!rc)
			rc = pair_cuts(b, &m->features[f], f, p->max_pair_bins);
	}
	if (rc)
		return fit_fail_nomem(err);
	b->unit = d->weight ? d->weight[0] : 1;
	for (size_t i = 0; d->weight && i < d->n_rows; i++) {
		if (d->weight[i] > b->unit || d->weight[i] < b->unit) {
			b->weight = d->weight;
			break;
		}
	}
	if (!b->weight)
		free(d->weight);
	b->y = d->y;
	b->offset = d->offset;
	b->known = d->known;
	b->n_known = d->known ? d->n_classes : 0;
	b->time = d->time;
	b->group = d->group;
	d->y = d->weight = d->offset = d->known = d->time = d->group = NULL;
	return FIT_OK;
}
