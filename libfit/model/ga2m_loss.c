/* SPDX-License-Identifier: MIT */
/* Losses of a GA2M: gradients, curvatures, starts. Equations: docs/methods/ga2m.md, "Losses". */
#include <math.h>
#include <stdlib.h>

#include "libfit/model/ga2m_fit.h"

#define MAX_SCORE 50.0	/* ahead of exp() */

static double clip(double s)
{
	return s > MAX_SCORE ? MAX_SCORE : s < -MAX_SCORE ? -MAX_SCORE : s;
}

static double weight(const struct ga2m_part *p, size_t i)
{
	return p->w ? p->w[i] : 1;
}

static double level(const struct fit_ga2m_params *p)
{
	return p->loss == FIT_GA2M_QUANTILE ? p->quantile : 0.5;
}

bool ga2m_constant_curvature(enum fit_ga2m_loss loss)
{
	return loss == FIT_GA2M_SQUARED || loss == FIT_GA2M_GAMMA || loss == FIT_GA2M_SOFTMAX;
}

/* gamma: the expected curvature is 1; softmax: 1/2 bounds it (Boehning 1992). */
double ga2m_curvature(enum fit_ga2m_loss loss)
{
	return loss == FIT_GA2M_SOFTMAX ? 0.5 : 1;
}

static void softmax_gradient(size_t k, const struct ga2m_part *part, double *r, double *h)
{
	size_t n = part->n;

	for (size_t i = 0; i < n; i++) {
		double max = part->score[i], sum = 0, w = weight(part, i);

		for (size_t o = 1; o < k; o++)
			max = part->score[o * n + i] > max ? part->score[o * n + i] : max;
		for (size_t o = 0; o < k; o++)
			sum += r[o * n + i] = exp(clip(part->score[o * n + i] - max));
		for (size_t o = 0; o < k; o++) {
			double prob = r[o * n + i] / sum;

			if (h)
				h[o * n + i] = w * ga2m_curvature(FIT_GA2M_SOFTMAX);
			r[o * n + i] = w * (((size_t)part->y[i] == o) - prob);
		}
	}
}

void ga2m_gradient(const struct fit_ga2m_params *p, size_t n_outputs, const struct ga2m_part *part,
		   double scale, double *r, double *h)
{
	const double *y = part->y, *score = part->score;
	double q = level(p), eps = 1e-3 * scale;

	if (p->loss == FIT_GA2M_SOFTMAX) {
		softmax_gradient(n_outputs, part, r, h);
		return;
	}
	for (size_t i = 0; i < part->n; i++) {
		double w = weight(part, i), e, d, c = 1;

		switch (p->loss) {
		case FIT_GA2M_POISSON:
			c = exp(clip(score[i]));
			d = y[i] - c;
			break;
		case FIT_GA2M_GAMMA:
			d = y[i] * exp(-clip(score[i])) - 1;
			break;
		case FIT_GA2M_LOGISTIC:
			e = 1 / (1 + exp(-clip(score[i])));
			c = e * (1 - e);
			d = y[i] - e;
			c = c > 1e-6 ? c : 1e-6;
			break;
		case FIT_GA2M_ABSOLUTE:
		case FIT_GA2M_QUANTILE:
			/* a parabola that touches the loss here and lies above it: Hunter and Lange 2000 */
			e = y[i] - score[i];
			c = 0.5 / (eps + fabs(e));
			d = c * e + (q - 0.5);
			break;
		default:
			d = y[i] - score[i];
			break;
		}
		r[i] = w * d;
		if (h)
			h[i] = w * c;
	}
}

static double row_loss(const struct fit_ga2m_params *p, double y, double s)
{
	double e;

	switch (p->loss) {
	case FIT_GA2M_POISSON:
		return exp(clip(s)) - y * s;
	case FIT_GA2M_GAMMA:
		return s + y * exp(-clip(s));
	case FIT_GA2M_LOGISTIC:
		e = y > 0 ? -s : s;
		return e > MAX_SCORE ? e : log1p(exp(e));
	case FIT_GA2M_ABSOLUTE:
	case FIT_GA2M_QUANTILE:
		e = y - s;
		return e * (level(p) - (e < 0));
	default:
		return (y - s) * (y - s);
	}
}

double ga2m_loss(const struct fit_ga2m_params *p, size_t k, const struct ga2m_part *part)
{
	double sum = 0, total = 0;
	size_t n = part->n;

	for (size_t i = 0; i < n; i++) {
		double w = weight(part, i), l;

		if (p->loss == FIT_GA2M_SOFTMAX) {
			double max = part->score[i], z = 0;

			for (size_t o = 1; o < k; o++)
				max = part->score[o * n + i] > max ? part->score[o * n + i] : max;
			for (size_t o = 0; o < k; o++)
				z += exp(clip(part->score[o * n + i] - max));
			/* z is 1 or more: the largest is among them */
			l = log(z > 1 ? z : 1) + max - part->score[(size_t)part->y[i] * n + i];
		} else {
			l = row_loss(p, part->y[i], part->score[i]);
		}
		sum += w * l;
		total += w;
	}
	return sum / total;
}

struct at {
	double v, w;
};

static int by_value(const void *pa, const void *pb)
{
	const struct at *a = pa, *b = pb;

	return (a->v > b->v) - (a->v < b->v);
}

/* Weighted quantile: the least value with that share of the weight at or below it. */
static double weighted_quantile(const struct ga2m_part *part, double q, struct at *s)
{
	double total = 0, below = 0;

	for (size_t i = 0; i < part->n; i++) {
		s[i] = (struct at){ part->y[i] - part->offset[i], weight(part, i) };
		total += s[i].w;
	}
	qsort(s, part->n, sizeof *s, by_value);
	for (size_t i = 0; i < part->n; i++) {
		below += s[i].w;
		if (below >= q * total)
			return s[i].v;
	}
	return part->n ? s[part->n - 1].v : 0;
}

static void shift(const struct ga2m_part *part, size_t k, const double *by)
{
	for (size_t o = 0; o < k; o++)
		for (size_t i = 0; i < part->n; i++)
			part->score[o * part->n + i] += by[o];
}

/* Intercepts of classes on top of scores: steps of the bound on the curvature, each of which lessens
 * the loss. */
static void start_classes(const struct fit_ga2m_params *p, size_t k, struct ga2m_part *part,
			  double *intercept, double *r)
{
	double total = 0, *by = r + k * part->n;

	for (size_t i = 0; i < part->n; i++)
		total += weight(part, i);
	for (int step = 0; step < 200; step++) {
		double most = 0;

		ga2m_gradient(p, k, part, 1, r, NULL);
		for (size_t o = 0; o < k; o++) {
			by[o] = 0;
			for (size_t i = 0; i < part->n; i++)
				by[o] += r[o * part->n + i];
			by[o] /= total * ga2m_curvature(p->loss);
			intercept[o] += by[o];
			most = fmax(most, fabs(by[o]));
		}
		shift(part, k, by);
		if (most < 1e-10)
			break;
	}
}

/* scratch: 2 * n_outputs * n numbers. */
void ga2m_start(const struct fit_ga2m_params *p, size_t k, struct ga2m_part *part, double *intercept,
		double *scratch)
{
	double total = 0, mean = 0, mean_offset = 0;
	size_t n = part->n;

	for (size_t o = 0; o < k; o++)
		for (size_t i = 0; i < n; i++)
			part->score[o * n + i] = ga2m_known(part, o, i);
	for (size_t i = 0; i < n; i++) {
		total += weight(part, i);
		mean += weight(part, i) * part->y[i];
		mean_offset += weight(part, i) * part->offset[i];
	}
	mean /= total;
	mean_offset /= total;
	for (size_t o = 0; o < k; o++)
		intercept[o] = 0;
	if (p->loss == FIT_GA2M_SQUARED) {
		intercept[0] = mean - mean_offset;
		shift(part, k, intercept);
		return;
	}
	if (p->loss == FIT_GA2M_ABSOLUTE || p->loss == FIT_GA2M_QUANTILE) {
		intercept[0] = weighted_quantile(part, level(p), (struct at *)(void *)scratch);
		shift(part, k, intercept);
		return;
	}
	/* a start at the base rate, then Newton steps for the sake of offsets */
	if (p->loss == FIT_GA2M_LOGISTIC) {
		double q = mean < 1e-9 ? 1e-9 : mean > 1 - 1e-9 ? 1 - 1e-9 : mean;

		intercept[0] = log(q / (1 - q)) - mean_offset;
	} else if (p->loss == FIT_GA2M_SOFTMAX && part->known) {
		start_classes(p, k, part, intercept, scratch);
		return;
	} else if (p->loss == FIT_GA2M_SOFTMAX) {
		for (size_t o = 0; o < k; o++) {
			double share = 0;

			for (size_t i = 0; i < n; i++)
				share += (size_t)part->y[i] == o ? weight(part, i) : 0;
			intercept[o] = log(share / total > 1e-9 ? share / total : 1e-9);
		}
	} else {
		intercept[0] = log(mean > 1e-12 ? mean : 1e-12) - mean_offset;
	}
	shift(part, k, intercept);
	if (p->loss == FIT_GA2M_SOFTMAX)	/* an offset is the same for all classes, and cancels */
		return;
	for (int step = 0; step < 50; step++) {
		double g = 0, c = 0, by;

		ga2m_gradient(p, k, part, 1, scratch, scratch + n);
		for (size_t i = 0; i < n; i++) {
			g += scratch[i];
			c += scratch[n + i];
		}
		by = c > 0 ? g / c : 0;
		by = by > 2 ? 2 : by < -2 ? -2 : by;
		intercept[0] += by;
		shift(part, k, &by);
		if (fabs(by) < 1e-12)
			break;
	}
}

double ga2m_residual_scale(const struct ga2m_part *part)
{
	double sum = 0, total = 0;

	for (size_t i = 0; i < part->n; i++) {
		sum += weight(part, i) * fabs(part->y[i] - part->score[i]);
		total += weight(part, i);
	}
	return sum > 0 ? sum / total : 1;
}

bool ga2m_stop_add(struct ga2m_stop *s, double loss, bool *improved, int *rc)
{
	double recent = (double)INFINITY, before = (double)INFINITY, room;

	*improved = false;
	if (!isfinite(loss)) {
		*rc = FIT_ENOCONV;
		return true;
	}
	*rc = fit_grow(&s->loss, &s->cap, s->n + 1, sizeof *s->loss);
	if (*rc)
		return true;
	s->loss[s->n++] = loss;
	*improved = s->n == 1 || loss < s->best;
	if (*improved)
		s->best = loss;
	if (s->n <= s->patience)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		double *min = i + s->patience < s->n ? &before : &recent;

		*min = s->loss[i] < *min ? s->loss[i] : *min;
	}
	room = s->tolerance * fmax(fmin(fabs(s->best), fabs(before)), s->least * fabs(s->loss[0]));
	return before - room <= recent;
}
