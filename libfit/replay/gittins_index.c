/* SPDX-License-Identifier: MIT */
#include "libfit/replay/gittins_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The first size above x; n: none. */
static size_t first_above(const struct fit_gittins *g, double x)
{
	size_t lo = 0, hi = g->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (g->size[mid] > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Rounded to so many digits, as decimal text has it. */
static double round_to(double x, double scale)
{
	return round(x * scale) / scale;
}

/* The simulator's table: for a just below each size, with D = 3250. */
static void fill_table(struct fit_gittins *g)
{
	const double delta = FIT_GITTINS_QUANTUM_S;
	size_t n = g->n;

	for (size_t j = 0; j < n; j++) {
		double a = g->size[j] - 1, p, e;
		size_t i = first_above(g, a);
		size_t k = a + delta > g->size[n - 1] - 1 ? n - 1 : first_above(g, a + delta);

		p = round_to((double)(k - i) / (double)(n - i), 1e5);
		e = floor((g->before[k] - g->before[i] + delta * (double)(n - k)) / (double)(n - i));
		g->table[j] = e > 0 ? round_to(p * 1e6 / e, 1e4) : 0;
	}
}

/* Points are (point[m], m + 1). With P = (before[i] + a (n - i), i), i the first size above a, the line from
 * P to point m has the slope (m + 1 - i) / (sum of min(S - a, d_m - a)). From the last point back, keep the
 * corners. */
static void fill_hull(struct fit_gittins *g)
{
	for (size_t m = g->n; m-- > 0;) {
		size_t c = m + 1;

		while (c < g->n && g->next[c] < g->n) {
			size_t d = g->next[c];

			/* c is under the line from m to d */
			if ((double)(c - m) * (g->point[d] - g->point[m]) > (double)(d - m) * (g->point[c] - g->point[m]))
				break;
			c = d;
		}
		g->next[m] = c;
	}
}

int fit_gittins_init(struct fit_gittins *g, const double *sizes, size_t n, bool artifact, struct fit_err *err)
{
	size_t room = (n + 1) * sizeof *sizes;
	double sum = 0;

	*g = (struct fit_gittins){ .size = malloc(room), .point = malloc(room), .before = malloc(room),
				   .table = artifact ? calloc(n + 1, sizeof *sizes) : NULL,
				   .next = malloc((n + 1) * sizeof *g->next), .n = n };
	if (!g->size || !g->point || !g->before || !g->next || (artifact && !g->table)) {
		fit_gittins_release(g);
		return fit_fail_nomem(err);
	}
	if (n)
		memcpy(g->size, sizes, n * sizeof *sizes);
	qsort(g->size, n, sizeof *sizes, ascending);
	for (size_t m = 0; m <= n; m++) {
		g->before[m] = sum;
		sum += m < n ? g->size[m] : 0;
		g->point[m] = m < n ? sum + g->size[m] * (double)(n - m - 1) : 0;
	}
	if (artifact)
		fill_table(g);
	fill_hull(g);
	return FIT_OK;
}

void fit_gittins_release(struct fit_gittins *g)
{
	free(g->size);
	free(g->point);
	free(g->before);
	free(g->table);
	free(g->next);
	*g = (struct fit_gittins){ 0 };
}

double fit_gittins_index(const struct fit_gittins *g, double attained)
{
	size_t i = first_above(g, attained), m = i;
	double from, best;

	if (i == g->n)
		return 0;
	if (g->table)
		return g->table[i];
	from = g->before[i] + attained * (double)(g->n - i);
	best = 1 / (g->point[m] - from);
	for (size_t c = g->next[m]; c < g->n; c = g->next[c]) {
		double slope = (double)(c + 1 - i) / (g->point[c] - from);

		if (!(slope >= best))
			break;
		best = slope;
	}
	return best;
}
