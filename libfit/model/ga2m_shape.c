/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_shape.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pool {
	double sum, weight, plain;	/* plain: sum of values, for pools without weight */
	size_t n;
};

static double mean(const struct pool *p)
{
	return p->weight > 0 ? p->sum / p->weight : p->plain / (double)p->n;
}

int fit_ga2m_isotonic(const double *y, const double *w, size_t n, bool increasing, double *out)
{
	struct pool *p = calloc(n + 1, sizeof *p);
	double sign = increasing ? 1 : -1;
	size_t m = 0, at = 0;

	if (!p)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		p[m++] = (struct pool){ w[i] * y[i], w[i], y[i], 1 };
		while (m > 1 && sign * mean(&p[m - 2]) > sign * mean(&p[m - 1])) {
			p[m - 2].sum += p[m - 1].sum;
			p[m - 2].weight += p[m - 1].weight;
			p[m - 2].plain += p[m - 1].plain;
			p[m - 2].n += p[m - 1].n;
			m--;
		}
	}
	for (size_t k = 0; k < m; k++)
		for (size_t i = 0; i < p[k].n; i++)
			out[at++] = mean(&p[k]);
	free(p);
	return FIT_OK;
}

/* A fit: knots[0..k) are places, the first and the last among them; value is at the knots. */
struct spline {
	size_t *knot, k;
	double *value, *diag, *side;
};

/* Least squares over values at the knots: hat functions, so the normal equations are tridiagonal. */
static void fit_spline(struct spline *s, const double *x, const double *y, const double *w)
{
	for (size_t j = 0; j < s->k; j++)
		s->diag[j] = s->side[j] = s->value[j] = 0;
	for (size_t j = 0; j + 1 < s->k; j++) {
		size_t from = s->knot[j], to = s->knot[j + 1];

		for (size_t i = from; i < to + (j + 2 == s->k); i++) {
			double b = (x[i] - x[from]) / (x[to] - x[from]), a = 1 - b;

			s->diag[j] += w[i] * a * a;
			s->diag[j + 1] += w[i] * b * b;
			s->side[j] += w[i] * a * b;
			s->value[j] += w[i] * a * y[i];
			s->value[j + 1] += w[i] * b * y[i];
		}
	}
	for (size_t j = 1; j < s->k; j++) {
		double f = s->diag[j - 1] > 0 ? s->side[j - 1] / s->diag[j - 1] : 0;

		s->diag[j] -= f * s->side[j - 1];
		s->value[j] -= f * s->value[j - 1];
	}
	for (size_t j = s->k; j-- > 0;) {
		double v = s->value[j] - (j + 1 < s->k ? s->side[j] * s->value[j + 1] : 0);

		s->value[j] = s->diag[j] > 0 ? v / s->diag[j] : 0;
	}
}

static double bend(const struct spline *s, const double *x, const double *value, size_t j)
{
	size_t a = s->knot[j - 1], b = s->knot[j], c = s->knot[j + 1];

	return (value[j + 1] - value[j]) / (x[c] - x[b]) - (value[j] - value[j - 1]) / (x[b] - x[a]);
}

static void drop_knot(struct spline *s, double *last, size_t j)
{
	memmove(&s->knot[j], &s->knot[j + 1], (s->k - j - 1) * sizeof *s->knot);
	memmove(&last[j], &last[j + 1], (s->k - j - 1) * sizeof *last);
	s->k--;
}

/* Fit; where knots bend the wrong way, go from `last` (which is convex) as far as it stays so, drop the
 * knot that stops it, and fit again. Afterwards last is the fit. */
static void fit_feasible(struct spline *s, double *last, const double *x, const double *y,
		const double *w)
{
	for (;;) {
		double step = 1;
		size_t stop = 0;

		fit_spline(s, x, y, w);
		for (size_t j = 1; j + 1 < s->k; j++) {
			double now = bend(s, x, s->value, j), was = bend(s, x, last, j);
			double t = now < 0 ? fmax(was, 0) / (fmax(was, 0) - now) : 1;

			if (now < 0 && (stop == 0 || t < step)) {
				step = t;
				stop = j;
			}
		}
		for (size_t j = 0; j < s->k; j++)
			last[j] += (stop ? step : 1) * (s->value[j] - last[j]);
		if (!stop)
			return;
		drop_knot(s, last, stop);
	}
}

static void put_spline(const struct spline *s, const double *x, const double *value, double *out)
{
	for (size_t j = 0; j + 1 < s->k; j++) {
		size_t from = s->knot[j], to = s->knot[j + 1];

		for (size_t i = from; i <= to; i++)
			out[i] = value[j] + (value[j + 1] - value[j]) * (x[i] - x[from]) / (x[to] - x[from]);
	}
}

/* The place where a further knot helps most: sum over what lies above it of w r (x - place). 0:
 * none. */
static size_t best_knot(const double *x, const double *y, const double *w, const double *fit, size_t n,
			double least)
{
	double sum = 0, moment = 0, best = least;
	size_t at = 0;

	for (size_t i = n; i-- > 1;) {
		double r = w[i] * (y[i] - fit[i]);

		/* here: over the places above i, around x[i] */
		if (i + 1 < n && moment - sum * x[i] > best) {
			best = moment - sum * x[i];
			at = i;
		}
		sum += r;
		moment += r * x[i];
	}
	return at;
}

static int convex(const double *x, const double *y, const double *w, size_t n, double *out)
{
	struct spline s = { calloc(n + 1, sizeof *s.knot), 2, calloc(n + 1, sizeof *s.value),
			    calloc(n + 1, sizeof *s.diag), calloc(n + 1, sizeof *s.side) };
	double *last = calloc(n + 1, sizeof *last), size = 0;
	int rc = s.knot && s.value && s.diag && s.side && last ? FIT_OK : FIT_ENOMEM;

	if (!rc) {
		s.knot[1] = n - 1;
		for (size_t i = 0; i < n; i++)
			size += w[i] * fabs(y[i]) * (x[n - 1] - x[0]);
	}
	for (size_t turn = 0; turn < 4 * n && !rc; turn++) {
		size_t at, j = 0;

		fit_feasible(&s, last, x, y, w);
		put_spline(&s, x, last, out);
		at = best_knot(x, y, w, out, n, 1e-12 * size);
		while (j < s.k && s.knot[j] < at)
			j++;
		if (at == 0 || s.knot[j] == at)
			break;
		memmove(&s.knot[j + 1], &s.knot[j], (s.k - j) * sizeof *s.knot);
		memmove(&last[j + 1], &last[j], (s.k - j) * sizeof *last);
		s.knot[j] = at;
		last[j] = out[at];
		s.k++;
	}
	free(s.knot);
	free(s.value);
	free(s.diag);
	free(s.side);
	free(last);
	return rc;
}

int fit_ga2m_convex(const double *x, const double *y, const double *w, size_t n, bool is_convex,
		double *out)
{
	double *copy = malloc((3 * n + 1) * sizeof *copy), least = (double)INFINITY, range;
	int rc;

	if (!copy)
		return FIT_ENOMEM;
	if (n < 3) {
		memmove(out, y, n * sizeof *y);
		free(copy);
		return FIT_OK;
	}
	/* places from 0 to 1, and a trace of weight where there is none, so that all is determined */
	range = x[n - 1] / 2 - x[0] / 2;	/* halves: what lies between may be more than a double holds */
	for (size_t i = 0; i < n; i++)
		least = w[i] > 0 && w[i] < least ? w[i] : least;
	for (size_t i = 0; i < n; i++) {
		copy[i] = is_convex ? y[i] : -y[i];
		copy[n + i] = w[i] > 0 ? w[i] : isfinite(least) ? 1e-9 * least : 1;
		copy[2 * n + i] = (x[i] / 2 - x[0] / 2) / range;
		/* places that are one by rounding, beside a range so large, still have their order */
		if (i > 0 && !(copy[2 * n + i] > copy[2 * n + i - 1]))
			copy[2 * n + i] = copy[2 * n + i - 1] + DBL_EPSILON;
	}
	rc = convex(copy + 2 * n, copy, copy + n, n, out);
	for (size_t i = 0; i < n && !rc && !is_convex; i++)
		out[i] = -out[i];
	free(copy);
	return rc;
}

void fit_ga2m_middles(const struct fit_ga2m_feature *f, int level, double *x)
{
	const double *cuts = f->cuts[level];
	size_t n = f->n_cuts[level];

	for (size_t b = 0; b <= n; b++) {
		double lo = b > 0 ? cuts[b - 1] : f->min, hi = b < n ? cuts[b] : f->max;

		/* ends that are infinite, or unknown: the cut itself, moved by the width of what is next to it */
		if (n > 0 && !isfinite(lo))
			lo = fmax(cuts[0] - (n > 1 ? cuts[1] - cuts[0] : 1), -DBL_MAX);
		if (n > 0 && !isfinite(hi))
			hi = fmin(cuts[n - 1] + (n > 1 ? cuts[n - 1] - cuts[n - 2] : 1), DBL_MAX);
		x[b] = n == 0 && !isfinite(lo + hi) ? 0 : lo / 2 + hi / 2;
	}
}
