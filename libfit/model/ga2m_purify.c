/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_purify.h"

#include <lapacke.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- purification ---- */

struct table {
	double *s;		/* score, 0 where it does not count */
	double *w;
	size_t n, m;		/* rows, columns; m is the smaller */
	double *wr, *wc;	/* sums of weights */
	size_t *part;		/* of a column: the first column of its part */
};

/* Parts: columns that share rows. Rows join all of their columns. */
static void find_parts(struct table *t)
{
	bool changed = true;

	for (size_t j = 0; j < t->m; j++)
		t->part[j] = j;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < t->n; i++) {
			size_t least = SIZE_MAX;

			for (size_t j = 0; j < t->m; j++)
				if (t->w[i * t->m + j] > 0 && t->part[j] < least)
					least = t->part[j];
			for (size_t j = 0; j < t->m; j++) {
				if (t->w[i * t->m + j] > 0 && t->part[j] != least) {
					t->part[j] = least;
					changed = true;
				}
			}
		}
	}
}

/*
 * Column effects c from (D - N' R^-1 N) c = q - N' R^-1 p with D, R the sums of weights, N the weights, p
 * and q the weighted sums of scores. One column of each part is held at 0, as are those without weight.
 */
static int solve_columns(const struct table *t, double *c)
{
	size_t m = t->m;
	double *a = calloc(m * m + 1, sizeof *a), *q = calloc(m + 1, sizeof *q);
	int rc = a && q ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; i < t->n && !rc; i++) {
		const double *w = t->w + i * m, *s = t->s + i * m;
		double p = 0;

		if (!(t->wr[i] > 0))
			continue;
		for (size_t j = 0; j < m; j++)
			p += w[j] * s[j];
		for (size_t j = 0; j < m; j++) {
			if (!(w[j] > 0))
				continue;
			q[j] += w[j] * s[j] - w[j] * p / t->wr[i];
			a[j * m + j] += w[j];
			for (size_t k = 0; k < m; k++)
				a[j * m + k] -= w[j] * w[k] / t->wr[i];
		}
	}
	for (size_t j = 0; j < m && !rc; j++) {
		if (t->part[j] != j && t->wc[j] > 0)
			continue;
		for (size_t k = 0; k < m; k++)
			a[j * m + k] = a[k * m + j] = 0;
		a[j * m + j] = 1;
		q[j] = 0;
	}
	if (!rc && m > 0 &&
	    LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)m, 1, a, (lapack_int)m, q, 1) != 0)
		rc = FIT_ENOCONV;	/* weights so unequal that the matrix is singular in doubles */
	if (!rc)
		memcpy(c, q, m * sizeof *c);
	free(a);
	free(q);
	return rc;
}

/* The other way, for such weights: rows and columns in turn, until nothing moves. */
static void sweep_columns(const struct table *t, double *r, double *c)
{
	memset(c, 0, t->m * sizeof *c);
	for (int turn = 0; turn < 10000; turn++) {
		double moved = 0;

		for (size_t i = 0; i < t->n; i++) {
			double sum = 0;

			for (size_t j = 0; j < t->m; j++)
				sum += t->w[i * t->m + j] * (t->s[i * t->m + j] - c[j]);
			r[i] = t->wr[i] > 0 ? sum / t->wr[i] : 0;
		}
		for (size_t j = 0; j < t->m; j++) {
			double sum = 0, old = c[j];

			for (size_t i = 0; i < t->n; i++)
				sum += t->w[i * t->m + j] * (t->s[i * t->m + j] - r[i]);
			c[j] = t->wc[j] > 0 ? sum / t->wc[j] : 0;
			moved = fmax(moved, fabs(c[j] - old));
		}
		if (!(moved > 1e-14))
			break;
	}
}

static int purify(struct table *t, double *r, double *c, double *constant)
{
	double total = 0, mean = 0, *mean_c = calloc(2 * t->m + 1, sizeof *mean_c);
	int rc;

	if (!mean_c)
		return FIT_ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		for (size_t j = 0; j < t->m; j++) {
			t->wr[i] += t->w[i * t->m + j];
			t->wc[j] += t->w[i * t->m + j];
		}
	}
	find_parts(t);
	rc = solve_columns(t, c);
	if (rc == FIT_ENOCONV) {
		sweep_columns(t, r, c);
		rc = FIT_OK;
	}
	/* columns have mean 0 in their part; what differs between parts goes to the rows */
	for (size_t j = 0; j < t->m; j++) {
		mean_c[t->part[j]] += t->wc[j] * c[j];
		mean_c[t->m + t->part[j]] += t->wc[j];
	}
	for (size_t j = 0; j < t->m; j++) {
		double w = mean_c[t->m + t->part[j]];

		c[j] = t->wc[j] > 0 ? c[j] - mean_c[t->part[j]] / w : 0;
	}
	for (size_t i = 0; i < t->n; i++) {
		double sum = 0;

		for (size_t j = 0; j < t->m; j++)
			sum += t->w[i * t->m + j] * (t->s[i * t->m + j] - c[j]);
		r[i] = t->wr[i] > 0 ? sum / t->wr[i] : 0;
		mean += t->wr[i] * r[i];
		total += t->wr[i];
	}
	*constant = total > 0 ? mean / total : 0;
	for (size_t i = 0; i < t->n; i++)
		r[i] = t->wr[i] > 0 ? r[i] - *constant : 0;
	free(mean_c);
	return rc;
}

int fit_ga2m_purify(double *score, const double *weight, size_t n_rows, size_t n_columns, double *row,
		    double *column, double *constant)
{
	bool turned = n_columns > n_rows;
	struct table t = { .n = turned ? n_columns : n_rows, .m = turned ? n_rows : n_columns };
	bool infinite = false;
	int rc = FIT_ENOMEM;

	*constant = 0;
	t.s = calloc(n_rows * n_columns + 1, sizeof *t.s);
	t.w = calloc(n_rows * n_columns + 1, sizeof *t.w);
	t.wr = calloc(t.n + 1, sizeof *t.wr);
	t.wc = calloc(t.m + 1, sizeof *t.wc);
	t.part = calloc(t.m + 1, sizeof *t.part);
	if (!t.s || !t.w || !t.wr || !t.wc || !t.part)
		goto out;
	/* where some weights are infinite, only those cells count */
	for (size_t k = 0; k < n_rows * n_columns; k++)
		infinite = infinite || (isinf(weight[k]) && weight[k] > 0 && isfinite(score[k]));
	for (size_t i = 0; i < n_rows; i++) {
		for (size_t j = 0; j < n_columns; j++) {
			size_t from = i * n_columns + j, to = turned ? j * t.m + i : from;
			double w = weight[from];

			if (!isfinite(score[from]) || !(w > 0) || (infinite && !isinf(w)))
				continue;
			t.w[to] = infinite ? 1 : w;
			t.s[to] = score[from];
		}
	}
	rc = turned ? purify(&t, column, row, constant) : purify(&t, row, column, constant);
	for (size_t i = 0; i < n_rows && !rc; i++)
		for (size_t j = 0; j < n_columns; j++)
			if (isfinite(score[i * n_columns + j]))
				score[i * n_columns + j] -= *constant + row[i] + column[j];
out:
	free(t.s);
	free(t.w);
	free(t.wr);
	free(t.wc);
	free(t.part);
	return rc;
}

/* ---- strength of an interaction ---- */

void fit_ga2m_running_sums(const double *v, size_t n, size_t m, double *out)
{
	for (size_t i = 0; i < n; i++) {
		double line = 0;

		for (size_t j = 0; j < m; j++) {
			line += v[i * m + j];
			out[i * m + j] = line + (i > 0 ? out[(i - 1) * m + j] : 0);
		}
	}
}

/* The four quadrants of a running sum at a cut behind (i, j). */
static void quadrants(const double *s, size_t n, size_t m, size_t i, size_t j, double q[4])
{
	double left = s[(n - 1) * m + j], top = s[i * m + m - 1], all = s[n * m - 1];

	q[0] = s[i * m + j];
	q[1] = top - q[0];
	q[2] = left - q[0];
	q[3] = all - top - left + q[0];
}

/* What the leaves gain that is neither a row nor a column effect: the contrast u00 - u01 - u10 + u11 of
 * four means, spread over the cells so that both margins stay. */
static double pure_gain(const double g[4], const double w[4])
{
	double c = g[0] / w[0] - g[1] / w[1] - g[2] / w[2] + g[3] / w[3];

	return c * c / (1 / w[0] + 1 / w[1] + 1 / w[2] + 1 / w[3]);
}

int fit_ga2m_strength(const double *sum, const double *mass, const double *rows, size_t n, size_t m,
		      double min_rows, bool purified, double *strength)
{
	double *all = n && m ? malloc(3 * n * m * sizeof *all) : NULL, *s[3], best = 0;
	const double *from[3] = { sum, mass, rows };

	*strength = 0;
	if (n < 2 || m < 2)
		free(all);
	if (n < 2 || m < 2)
		return FIT_OK;
	if (!all)
		return FIT_ENOMEM;
	for (int k = 0; k < 3; k++) {
		s[k] = all + (size_t)k * n * m;
		fit_ga2m_running_sums(from[k], n, m, s[k]);
	}
	for (size_t i = 0; i + 1 < n; i++) {
		for (size_t j = 0; j + 1 < m; j++) {
			double g[4], w[4], r[4], gain = 0;
			bool good = true;

			quadrants(s[2], n, m, i, j, r);
			quadrants(s[1], n, m, i, j, w);
			for (int q = 0; q < 4; q++)
				good = good && r[q] >= min_rows && w[q] > 0;
			if (!good)
				continue;
			quadrants(s[0], n, m, i, j, g);
			for (int q = 0; q < 4 && !purified; q++)
				gain += g[q] * g[q] / w[q];
			gain = purified ? pure_gain(g, w) : gain - s[0][n * m - 1] * s[0][n * m - 1] / s[1][n * m - 1];
			best = gain > best ? gain : best;
		}
	}
	if (s[1][n * m - 1] > 0)
		*strength = best / s[1][n * m - 1];
	free(all);
	return FIT_OK;
}
