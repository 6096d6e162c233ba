/* SPDX-License-Identifier: MIT */
/* Bags become one model: purified, centred, averaged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_fit.h"
#include "libfit/model/ga2m_purify.h"

struct trained {
	const struct ga2m_binned *b;
	const struct fit_ga2m_params *p;
	const struct ga2m_bag *bags;
	const size_t (*pairs)[2];
	size_t n_pairs;
};

static size_t pair_bin(const struct ga2m_binned *b, size_t f, size_t bin)
{
	return b->to_pair[f] ? b->to_pair[f][bin] : bin;
}

static double row_weight(const struct ga2m_binned *b, size_t i)
{
	return b->weight ? b->weight[i] : 1;
}

/* Terms with their weights, scores still 0. */
static int make_terms(struct fit_ga2m *m, const struct trained *t)
{
	const struct ga2m_binned *b = t->b;
	struct fit_ga2m_term *term;
	int rc = FIT_OK;

	for (size_t f = 0; f < b->n_features && !rc; f++) {
		rc = fit_ga2m_add_term(m, f, SIZE_MAX, 0, 0, &term);
		for (size_t i = 0; i < b->n_rows && !rc; i++)
			term->weight[b->bin[f][i]] += row_weight(b, i);
	}
	for (size_t k = 0; k < t->n_pairs && !rc; k++) {
		size_t f = t->pairs[k][0], g = t->pairs[k][1];

		rc = fit_ga2m_add_term(m, f, g, !b->nominal[f], !b->nominal[g], &term);
		for (size_t i = 0; i < b->n_rows && !rc; i++)
			term->weight[pair_bin(b, f, b->bin[f][i]) * term->n_bins[1] +
				     pair_bin(b, g, b->bin[g][i])] += row_weight(b, i);
	}
	return rc;
}

/* A bag's table of a term, cell by cell as the model has them, for one output; 0 in cells that training
 * had not, such as those of the last bin. */
static double bag_value(const struct ga2m_binned *b, const struct ga2m_bag *bag,
		const struct fit_ga2m_term *x,
			size_t term, size_t cell, size_t o)
{
	size_t i = cell / x->n_bins[1], j = cell % x->n_bins[1], f = x->feature[0], g = x->feature[1];

	if (x->n_dims == 1)
		return i < b->n_bins[f] - b->overflow[f] ? bag->main[f][i * bag->n_outputs + o] : 0;
	if (i >= b->n_pair_bins[f] - b->overflow[f] || j >= b->n_pair_bins[g] - b->overflow[g])
		return 0;
	return bag->table[term - b->n_features][(i * b->n_pair_bins[g] + j) * bag->n_outputs + o];
}

static double *sum_slices(const struct fit_ga2m_term *x, int axis)
{
	double *w = calloc(x->n_bins[axis] + 1, sizeof *w);

	for (size_t c = 0; w && c < fit_ga2m_n_cells(x); c++)
		w[axis ? c % x->n_bins[1] : c / x->n_bins[1]] += x->weight[c];
	return w;
}

/* One bag's pair, purified: its row and column effects go to the mains, in place in `score` (the bag's
 * scores of all terms). */
static int purify_pair(const struct fit_ga2m *m, const struct ga2m_binned *b, double **score,
		double *intercept,
		       size_t term, size_t o)
{
	const struct fit_ga2m_term *x = &m->terms[term];
	size_t k = m->n_outputs, n[2] = { x->n_bins[0], x->n_bins[1] }, cells = n[0] * n[1];
	double *s = malloc((cells + 1) * sizeof *s), *e[2], constant = 0;
	int rc;

	e[0] = calloc(n[0] + 1, sizeof *e[0]);
	e[1] = calloc(n[1] + 1, sizeof *e[1]);
	rc = s && e[0] && e[1] ? FIT_OK : FIT_ENOMEM;
	for (size_t c = 0; c < cells && !rc; c++)
		s[c] = score[term][c * k + o];
	if (!rc)
		rc = fit_ga2m_purify(s, x->weight, n[0], n[1], e[0], e[1], &constant);
	for (size_t c = 0; c < cells && !rc; c++)
		score[term][c * k + o] = s[c];
	for (int d = 0; d < 2 && !rc; d++) {
		size_t f = x->feature[d];

		for (size_t bin = 0; bin < b->n_bins[f] - b->overflow[f]; bin++)
			score[f][bin * k + o] += e[d][pair_bin(b, f, bin)];
	}
	*intercept += constant;
	free(s);
	free(e[0]);
	free(e[1]);
	return rc;
}

/* Does training know anything of this cell? Not of missing where nothing was missing, nor of the
 * last bin. */
static bool known_cell(const struct fit_ga2m_term *x, double *const slice[2], size_t c)
{
	for (int d = 0; d < x->n_dims; d++) {
		size_t bin = d ? c % x->n_bins[1] : c / x->n_bins[1];

		if (bin + 1 == x->n_bins[d] || (bin == 0 && !(slice[d][0] > 0)))
			return false;
	}
	return true;
}

/* Unknown cells are 0, the others have mean 0; the means go to the intercepts. */
static int centre(const struct fit_ga2m_term *x, size_t k, double *score, double *intercept)
{
	double *slice[2] = { sum_slices(x, 0), sum_slices(x, 1) };
	size_t cells = fit_ga2m_n_cells(x);
	int rc = slice[0] && slice[1] ? FIT_OK : FIT_ENOMEM;

	for (size_t o = 0; o < k && !rc; o++) {
		double sum = 0, total = 0, mean, only = 0;
		size_t met = 0;

		for (size_t c = 0; c < cells; c++) {
			sum += x->weight[c] * score[c * k + o];
			total += x->weight[c];
			met += x->weight[c] > 0;
			only = x->weight[c] > 0 ? score[c * k + o] : only;
		}
		mean = met == 1 ? only : sum / total;	/* a constant column adds 0, not nearly 0 */
		for (size_t c = 0; c < cells; c++)
			score[c * k + o] = known_cell(x, slice, c) ? score[c * k + o] - mean : 0;
		intercept[o] += mean;
	}
	free(slice[0]);
	free(slice[1]);
	return rc;
}

/* Scores of one bag in the layout of the model: purified, centred, with the intercepts that go
 * with it. */
static int bag_scores(const struct fit_ga2m *m, const struct trained *t, const struct ga2m_bag *bag,
		      double **score, double *intercept)
{
	const struct ga2m_binned *b = t->b;
	size_t k = m->n_outputs;
	int rc = FIT_OK;

	memcpy(intercept, bag->intercept, k * sizeof *intercept);
	for (size_t x = 0; x < m->n_terms; x++)
		for (size_t c = 0; c < fit_ga2m_n_cells(&m->terms[x]); c++)
			for (size_t o = 0; o < k; o++)
				score[x][c * k + o] = bag_value(b, bag, &m->terms[x], x, c, o);
	for (size_t x = b->n_features; x < m->n_terms && t->p->purify; x++)
		for (size_t o = 0; o < k && !rc; o++)
			rc = purify_pair(m, b, score, &intercept[o], x, o);
	for (size_t x = 0; x < m->n_terms && !rc; x++)
		rc = centre(&m->terms[x], k, score[x], intercept);
	return rc;
}

/* Means and spreads over bags: first the means, then the squares around them. */
static int average(struct fit_ga2m *m, const struct trained *t)
{
	size_t bags = t->p->bags, k = m->n_outputs;
	double **score = calloc(m->n_terms + 1, sizeof *score), *intercept = calloc(k + 1, sizeof *intercept);
	int rc = score && intercept ? FIT_OK : FIT_ENOMEM;

	m->n_bags = bags;
	if (!rc && t->p->keep_bags && !(m->bag_intercept = calloc(bags * k + 1, sizeof *m->bag_intercept)))
		rc = FIT_ENOMEM;
	for (size_t x = 0; x < m->n_terms && !rc; x++) {
		size_t n = fit_ga2m_n_cells(&m->terms[x]) * k;

		score[x] = calloc(n + 1, sizeof **score);
		/* kept for the spread of importances, and dropped at the end unless they are wanted */
		m->terms[x].bag_score = calloc(bags * n + 1, sizeof *m->terms[x].bag_score);
		rc = score[x] && m->terms[x].bag_score ? FIT_OK : FIT_ENOMEM;
	}
	for (size_t b = 0; b < bags && !rc; b++) {
		rc = bag_scores(m, t, &t->bags[b], score, intercept);
		for (size_t o = 0; o < k; o++) {
			m->intercept[o] += intercept[o] / (double)bags;
			if (m->bag_intercept)
				m->bag_intercept[b * k + o] = intercept[o];
		}
		for (size_t x = 0; x < m->n_terms; x++) {
			size_t n = fit_ga2m_n_cells(&m->terms[x]) * k;

			memcpy(m->terms[x].bag_score + b * n, score[x], n * sizeof **score);
			for (size_t c = 0; c < n; c++)
				m->terms[x].score[c] += score[x][c] / (double)bags;
		}
	}
	for (size_t x = 0; x < m->n_terms && !rc; x++) {
		struct fit_ga2m_term *term = &m->terms[x];
		size_t n = fit_ga2m_n_cells(term) * k;

		for (size_t c = 0; c < n && bags > 1; c++) {
			double sq = 0;

			for (size_t b = 0; b < bags; b++) {
				double d = term->bag_score[b * n + c] - term->score[c];

				sq += d * d;
			}
			term->sd[c] = sqrt(sq / (double)bags);
		}
		fit_ga2m_rate_term(m, term);
		if (!t->p->keep_bags) {
			free(term->bag_score);
			term->bag_score = NULL;
		}
	}
	for (size_t x = 0; score && x < m->n_terms; x++)
		free(score[x]);
	free(score);
	free(intercept);
	return rc;
}

/* The intercept once more, on all rows at the averaged tables. */
static int final_intercept(struct fit_ga2m *m, const struct trained *t)
{
	const struct ga2m_binned *b = t->b;
	struct ga2m_part all = { .n = b->n_rows, .y = b->y, .w = b->weight };
	double shift = 0, *scratch;

	if (m->loss == FIT_GA2M_SOFTMAX)
		return FIT_OK;
	all.offset = malloc((all.n + 1) * sizeof *all.offset);
	all.score = malloc((all.n + 1) * sizeof *all.score);
	scratch = malloc((2 * all.n + 2) * sizeof *scratch);
	if (all.offset && all.score && scratch) {
		for (size_t i = 0; i < all.n; i++)
			all.offset[i] = m->intercept[0] + (b->offset ? b->offset[i] : 0);
		for (size_t x = 0; x < m->n_terms; x++) {
			const struct fit_ga2m_term *term = &m->terms[x];
			const uint16_t *f = b->bin[term->feature[0]], *g = b->bin[term->feature[1]];

			for (size_t i = 0; i < all.n; i++)
				all.offset[i] += term->n_dims == 1 ? term->score[f[i]] :
					term->score[pair_bin(b, term->feature[0], f[i]) * term->n_bins[1] +
						    pair_bin(b, term->feature[1], g[i])];
		}
		ga2m_start(t->p, 1, &all, &shift, scratch);
		m->intercept[0] += shift;
		for (size_t k = 0; m->bag_intercept && k < m->n_bags; k++)
			m->bag_intercept[k] += shift;
	}
	free(scratch);
	free(all.offset);
	free(all.score);
	return all.offset && all.score && scratch ? FIT_OK : FIT_ENOMEM;
}

int ga2m_assemble(struct fit_ga2m *m, const struct ga2m_binned *b, const struct fit_ga2m_params *p,
		  const struct ga2m_bag *bags, const size_t (*pairs)[2], size_t n_pairs)
{
	struct trained t = { b, p, bags, pairs, n_pairs };

	return make_terms(m, &t) || average(m, &t) || final_intercept(m, &t) ? FIT_ENOMEM : FIT_OK;
}
