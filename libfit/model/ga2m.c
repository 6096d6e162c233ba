/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

static const struct {
	const char *name, *link;
} losses[FIT_GA2M_N_LOSSES] = {
	[FIT_GA2M_SQUARED] = { "squared", "identity" },
	[FIT_GA2M_POISSON] = { "poisson", "log" },
	[FIT_GA2M_GAMMA] = { "gamma", "log" },
	[FIT_GA2M_ABSOLUTE] = { "absolute", "identity" },
	[FIT_GA2M_QUANTILE] = { "quantile", "identity" },
	[FIT_GA2M_LOGISTIC] = { "logistic", "logit" },
	[FIT_GA2M_SOFTMAX] = { "softmax", "softmax" }
};

const char *fit_ga2m_loss_name(enum fit_ga2m_loss loss)
{
	return losses[loss].name;
}

const char *fit_ga2m_link_name(enum fit_ga2m_loss loss)
{
	return losses[loss].link;
}

bool fit_ga2m_is_class(enum fit_ga2m_loss loss)
{
	return loss == FIT_GA2M_LOGISTIC || loss == FIT_GA2M_SOFTMAX;
}

/* ---- memory ---- */

static void term_release(struct fit_ga2m_term *t)
{
	free(t->score);
	free(t->sd);
	free(t->weight);
	free(t->bag_score);
	*t = (struct fit_ga2m_term){ 0 };
}

static void texts_free(char **texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void fit_ga2m_release(struct fit_ga2m *m)
{
	for (size_t f = 0; m->features && f < m->n_features; f++) {
		struct fit_ga2m_feature *x = &m->features[f];

		free(x->name);
		texts_free(x->categories, x->n_categories);
		free(x->cuts[0]);
		free(x->cuts[1]);
	}
	free(m->features);
	for (size_t t = 0; m->terms && t < m->n_terms; t++)
		term_release(&m->terms[t]);
	free(m->terms);
	texts_free(m->classes, m->n_classes);
	free(m->target);
	free(m->weight);
	free(m->offset);
	free(m->time);
	free(m->intercept);
	free(m->bag_intercept);
	fit_meta_release(&m->meta);
	*m = (struct fit_ga2m){ 0 };
}

/* ---- what is where ---- */

size_t fit_ga2m_find_feature(const struct fit_ga2m *m, const char *name)
{
	for (size_t f = 0; f < m->n_features; f++)
		if (strcmp(m->features[f].name, name) == 0)
			return f;
	return SIZE_MAX;
}

size_t fit_ga2m_find_term(const struct fit_ga2m *m, size_t a, size_t b)
{
	for (size_t t = 0; t < m->n_terms; t++) {
		const struct fit_ga2m_term *x = &m->terms[t];

		if (x->feature[0] == a && (x->n_dims == 1 ? b == SIZE_MAX : x->feature[1] == b))
			return t;
	}
	return SIZE_MAX;
}

size_t fit_ga2m_n_bins(const struct fit_ga2m_feature *f, int level)
{
	return (f->nominal ? f->n_categories : f->n_cuts[level] + 1) + 2;
}

size_t fit_ga2m_n_cells(const struct fit_ga2m_term *t)
{
	return t->n_bins[0] * t->n_bins[1];
}

int fit_ga2m_term_name(const struct fit_ga2m *m, size_t term, struct fit_str *out)
{
	const struct fit_ga2m_term *t = &m->terms[term];

	fit_str_clear(out);
	return t->n_dims == 1 ? fit_str_puts(out, m->features[t->feature[0]].name)
			      : fit_str_printf(out, "%s x %s", m->features[t->feature[0]].name,
					       m->features[t->feature[1]].name);
}

/* ---- check ---- */

static const char *check_feature(const struct fit_ga2m_feature *f)
{
	if (!f->name || !*f->name)
		return "a feature has no name";
	if (f->nominal) {
		for (size_t i = 0; i < f->n_categories; i++)
			if (!f->categories[i] ||
			    (i && strcmp(f->categories[i - 1], f->categories[i]) >= 0))
				return "the categories of a feature are not in byte order, each once";
		return NULL;
	}
	for (int level = 0; level < 2; level++)
		for (size_t i = 0; i < f->n_cuts[level]; i++)
			if (!isfinite(f->cuts[level][i]) ||
			    (i && f->cuts[level][i - 1] >= f->cuts[level][i]))
				return "the cuts of a feature are not finite and ascending";
	return NULL;
}

static const char *check_term(const struct fit_ga2m *m, const struct fit_ga2m_term *t)
{
	size_t cells;

	if (t->n_dims != 1 && t->n_dims != 2)
		return "a term has neither one feature nor two";
	for (int d = 0; d < t->n_dims; d++) {
		if (t->feature[d] >= m->n_features)
			return "a term names a feature that is not there";
		if (t->level[d] != 0 && t->level[d] != 1)
			return "a term has a level that is neither 0 nor 1";
		if (t->n_bins[d] != fit_ga2m_n_bins(&m->features[t->feature[d]], t->level[d]))
			return "a term has another number of bins than its feature";
	}
	if (t->n_dims == 2 ? t->feature[0] >= t->feature[1] : t->n_bins[1] != 1)
		return "a pair does not name its features in order, each once";
	cells = fit_ga2m_n_cells(t);
	for (size_t i = 0; i < cells; i++)
		if (!isfinite(t->weight[i]) || t->weight[i] < 0)
			return "a cell has a weight below zero, or not finite";
	for (size_t i = 0; i < cells * m->n_outputs; i++)
		if (!isfinite(t->score[i]))
			return "a score is not finite";
	for (size_t i = 0; t->bag_score && i < m->n_bags * cells * m->n_outputs; i++)
		if (!isfinite(t->bag_score[i]))
			return "a score of a bag is not finite";
	return NULL;
}

const char *fit_ga2m_check(const struct fit_ga2m *m)
{
	size_t classes = m->loss == FIT_GA2M_LOGISTIC ? 2 :
			 m->loss == FIT_GA2M_SOFTMAX ? m->n_outputs : 0;
	const char *wrong;

	if ((unsigned)m->loss >= FIT_GA2M_N_LOSSES)
		return "unknown loss";
	if (m->loss == FIT_GA2M_QUANTILE && !(m->quantile > 0 && m->quantile < 1))
		return "the quantile is not between 0 and 1";
	if (m->loss == FIT_GA2M_SOFTMAX ? m->n_outputs < 1 : m->n_outputs != 1)
		return "the number of outputs does not go with the loss";
	if (m->n_classes != classes)
		return "the number of classes does not go with the loss";
	if (!m->target)
		return "no name of the target";
	for (size_t o = 0; o < m->n_outputs; o++)
		if (!isfinite(m->intercept[o]))
			return "an intercept is not finite";
	for (size_t f = 0; f < m->n_features; f++) {
		if ((wrong = check_feature(&m->features[f])))
			return wrong;
		for (size_t g = 0; g < f; g++)
			if (strcmp(m->features[g].name, m->features[f].name) == 0)
				return "two features have the same name";
	}
	for (size_t t = 0; t < m->n_terms; t++) {
		if ((wrong = check_term(m, &m->terms[t])))
			return wrong;
		if (fit_ga2m_find_term(m, m->terms[t].feature[0],
				       m->terms[t].n_dims == 1 ? SIZE_MAX : m->terms[t].feature[1]) != t)
			return "two terms have the same features";
	}
	return NULL;
}

/* ---- terms ---- */

int fit_ga2m_add_term(struct fit_ga2m *m, size_t a, size_t b, int level_a, int level_b,
		      struct fit_ga2m_term **out)
{
	struct fit_ga2m_term t = { .n_dims = b == SIZE_MAX ? 1 : 2, .importance_sd = (double)NAN };
	struct fit_ga2m_term *terms;
	size_t cells;

	t.feature[0] = a;
	t.feature[1] = b == SIZE_MAX ? 0 : b;
	t.level[0] = level_a;
	t.level[1] = b == SIZE_MAX ? 0 : level_b;
	t.n_bins[0] = fit_ga2m_n_bins(&m->features[a], level_a);
	t.n_bins[1] = b == SIZE_MAX ? 1 : fit_ga2m_n_bins(&m->features[b], level_b);
	/* the limit is one of pairs: a feature of many categories keeps its own effect */
	if (t.n_dims == 2 && t.n_bins[0] > FIT_GA2M_MAX_CELLS / t.n_bins[1])
		return FIT_EINVAL;
	cells = fit_ga2m_n_cells(&t);
	terms = realloc(m->terms, (m->n_terms + 1) * sizeof *terms);
	if (!terms)
		return FIT_ENOMEM;
	m->terms = terms;
	t.score = calloc(cells * m->n_outputs, sizeof *t.score);
	t.sd = calloc(cells * m->n_outputs, sizeof *t.sd);
	t.weight = calloc(cells, sizeof *t.weight);
	if (!t.score || !t.sd || !t.weight) {
		term_release(&t);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < cells * m->n_outputs; i++)
		t.sd[i] = (double)NAN;
	terms[m->n_terms] = t;
	*out = &terms[m->n_terms++];
	return FIT_OK;
}

void fit_ga2m_remove_term(struct fit_ga2m *m, size_t term)
{
	term_release(&m->terms[term]);
	memmove(&m->terms[term], &m->terms[term + 1], (m->n_terms - term - 1) * sizeof *m->terms);
	m->n_terms--;
}

/* Weighted mean of |score|, over cells and outputs. */
static double mean_size(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const double *score)
{
	double sum = 0, total = 0;

	for (size_t c = 0; c < fit_ga2m_n_cells(t); c++) {
		for (size_t o = 0; o < m->n_outputs; o++)
			sum += t->weight[c] * fabs(score[c * m->n_outputs + o]);
		total += t->weight[c];
	}
	return total > 0 ? sum / total / (double)m->n_outputs : 0;
}

void fit_ga2m_rate_term(const struct fit_ga2m *m, struct fit_ga2m_term *t)
{
	size_t n = fit_ga2m_n_cells(t) * m->n_outputs;
	double mean = 0, sq = 0;

	t->importance = mean_size(m, t, t->score);
	if (!t->bag_score || m->n_bags < 2)
		return;
	for (size_t b = 0; b < m->n_bags; b++)
		mean += mean_size(m, t, t->bag_score + b * n) / (double)m->n_bags;
	for (size_t b = 0; b < m->n_bags; b++) {
		double d = mean_size(m, t, t->bag_score + b * n) - mean;

		sq += d * d;
	}
	t->importance_sd = sqrt(sq / (double)m->n_bags);
}

/* ---- values and bins ---- */

/* Powers of ten as programs print them have one digit ahead: 1e0, 1.5e-07. 6214e9 is part of a hash. */
static bool is_hash(struct fit_text t)
{
	size_t sign = t.n && (*t.s == '-' || *t.s == '+'), at = 0;

	while (at < t.n && t.s[at] != 'e' && t.s[at] != 'E')
		at++;
	return at < t.n && at != sign + 1 && !(at > sign + 1 && t.s[sign + 1] == '.');
}

struct fit_text fit_ga2m_category_text(struct fit_text t, char buf[40])
{
	double v;

	while (t.n && (*t.s == ' ' || *t.s == '\t')) {
		t.s++;
		t.n--;
	}
	while (t.n && (t.s[t.n - 1] == ' ' || t.s[t.n - 1] == '\t'))
		t.n--;
	/* A whole number beyond 2^53 (an id) stays as it is written. */
	if (t.n == 0 || !strchr("+-.0123456789", *t.s) || is_hash(t) || fit_parse_double(t, &v) ||
	    fabs(v) > 9007199254740992.0)
		return t;
	return (struct fit_text){ buf, fit_format_double(buf, v + 0.0) };
}

double fit_ga2m_category(const struct fit_ga2m_feature *f, struct fit_text t)
{
	char buf[40];
	size_t lo = 0, hi = f->n_categories;

	if (!t.s)
		return (double)NAN;
	t = fit_ga2m_category_text(t, buf);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = fit_text_cmp(fit_text_of(f->categories[mid]), t);

		if (order == 0)
			return (double)mid;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return FIT_GA2M_UNSEEN;
}

size_t fit_ga2m_bin(const struct fit_ga2m_feature *f, int level, double x)
{
	const double *cuts = f->cuts[level];
	size_t n, at = 0;

	if (isnan(x))
		return 0;
	if (f->nominal)
		return x >= 0 && x < (double)f->n_categories ? 1 + (size_t)x : f->n_categories + 1;
	/* The number of cuts that are not above x; without branches that could be guessed wrong. */
	n = f->n_cuts[level];
	while (n > 1) {
		size_t half = n / 2;

		at = cuts[at + half - 1] <= x ? at + half : at;
		n -= half;
	}
	if (n == 1 && cuts[at] <= x)
		at++;
	return at + 1;
}

size_t fit_ga2m_cell(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const double *x)
{
	size_t cell = fit_ga2m_bin(&m->features[t->feature[0]], t->level[0], x[t->feature[0]]);

	if (t->n_dims == 2)
		cell = cell * t->n_bins[1] +
		       fit_ga2m_bin(&m->features[t->feature[1]], t->level[1], x[t->feature[1]]);
	return cell;
}

/* ---- prediction ---- */

#define MEMO 64		/* features whose bins a score looks up once each, not once a term */

/* fit_ga2m_cell() with the bins of the row that are known by now; 0: not known, else bin + 1. */
static size_t memo_cell(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const double *x,
		uint32_t *memo)
{
	size_t cell = 0;

	for (int d = 0; d < t->n_dims; d++) {
		uint32_t *known = &memo[2 * t->feature[d] + (size_t)t->level[d]];

		if (!*known)
			*known = (uint32_t)fit_ga2m_bin(&m->features[t->feature[d]], t->level[d],
							x[t->feature[d]]) + 1;
		cell = cell * t->n_bins[d] + *known - 1;
	}
	return cell;
}

void fit_ga2m_score(const struct fit_ga2m *m, const double *x, double *score)
{
	uint32_t memo[2 * MEMO];
	bool few = m->n_features <= MEMO;

	memset(memo, 0, 2 * (few ? m->n_features : 0) * sizeof *memo);
	memcpy(score, m->intercept, m->n_outputs * sizeof *score);
	for (size_t t = 0; t < m->n_terms; t++) {
		size_t cell = few ? memo_cell(m, &m->terms[t], x, memo) : fit_ga2m_cell(m, &m->terms[t], x);
		const double *s = m->terms[t].score + cell * m->n_outputs;

		for (size_t o = 0; o < m->n_outputs; o++)
			score[o] += s[o];
	}
}

void fit_ga2m_explain(const struct fit_ga2m *m, const double *x, double *parts)
{
	for (size_t t = 0; t < m->n_terms; t++)
		memcpy(parts + t * m->n_outputs,
		       m->terms[t].score + fit_ga2m_cell(m, &m->terms[t], x) * m->n_outputs,
		       m->n_outputs * sizeof *parts);
}

#define BLOCK 1024

/* Bins by feature and level of one block of rows: only what some term uses. */
struct block_bins {
	uint32_t *bin;		/* [(feature * 2 + level) * BLOCK + row] */
	bool *used;
};

static void score_block(const struct fit_ga2m *m, const double *const *x, size_t from, size_t n,
			const struct block_bins *b, double *score)
{
	for (size_t k = 0; k < 2 * m->n_features; k++)
		for (size_t i = 0; b->used[k] && i < n; i++)
			b->bin[k * BLOCK + i] = (uint32_t)fit_ga2m_bin(&m->features[k / 2], (int)(k % 2),
								       x[k / 2][from + i]);
	for (size_t i = 0; i < n; i++)
		memcpy(score + i * m->n_outputs, m->intercept, m->n_outputs * sizeof *score);
	for (size_t k = 0; k < m->n_terms; k++) {
		const struct fit_ga2m_term *t = &m->terms[k];
		const uint32_t *a = b->bin + (t->feature[0] * 2 + (size_t)t->level[0]) * BLOCK;
		const uint32_t *c = b->bin + (t->feature[1] * 2 + (size_t)t->level[1]) * BLOCK;

		for (size_t i = 0; i < n; i++) {
			size_t cell = t->n_dims == 1 ? a[i] : a[i] * t->n_bins[1] + c[i];

			for (size_t o = 0; o < m->n_outputs; o++)
				score[i * m->n_outputs + o] += t->score[cell * m->n_outputs + o];
		}
	}
}

int fit_ga2m_score_columns(const struct fit_ga2m *m, const double *const *x, size_t n_rows,
		double *score)
{
	struct block_bins b = { calloc((2 * m->n_features + 1) * BLOCK, sizeof *b.bin),
				calloc(2 * m->n_features + 1, sizeof *b.used) };
	int rc = b.bin && b.used ? FIT_OK : FIT_ENOMEM;

	for (size_t t = 0; t < m->n_terms && !rc; t++)
		for (int d = 0; d < m->terms[t].n_dims; d++)
			b.used[m->terms[t].feature[d] * 2 + (size_t)m->terms[t].level[d]] = true;
	for (size_t from = 0; from < n_rows && !rc; from += BLOCK)
		score_block(m, x, from, n_rows - from < BLOCK ? n_rows - from : BLOCK, &b,
			    score + from * m->n_outputs);
	free(b.bin);
	free(b.used);
	return rc;
}

double fit_ga2m_score_sd(const struct fit_ga2m *m, const double *x, size_t o)
{
	double mean = 0, sq = 0;

	if (m->n_bags < 2 || !m->bag_intercept)
		return (double)NAN;
	for (size_t t = 0; t < m->n_terms; t++)
		if (!m->terms[t].bag_score)
			return (double)NAN;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t b = 0; b < m->n_bags; b++) {
			double s = m->bag_intercept[b * m->n_outputs + o];

			for (size_t t = 0; t < m->n_terms; t++)
				s += m->terms[t].bag_score[(b * fit_ga2m_n_cells(&m->terms[t]) +
							    fit_ga2m_cell(m, &m->terms[t], x)) *
								   m->n_outputs + o];
			if (pass == 0)
				mean += s / (double)m->n_bags;
			else
				sq += (s - mean) * (s - mean);
		}
	}
	return sqrt(sq / (double)m->n_bags);
}

void fit_ga2m_link_inverse(const struct fit_ga2m *m, const double *score, double *out)
{
	double max = score[0], sum = 0;

	switch (m->loss) {
	case FIT_GA2M_POISSON:
	case FIT_GA2M_GAMMA:
		out[0] = exp(score[0]);
		break;
	case FIT_GA2M_LOGISTIC:
		out[1] = 1 / (1 + exp(-score[0]));
		out[0] = 1 / (1 + exp(score[0]));
		break;
	case FIT_GA2M_SOFTMAX:
		for (size_t o = 1; o < m->n_outputs; o++)
			max = score[o] > max ? score[o] : max;
		for (size_t o = 0; o < m->n_outputs; o++)
			sum += out[o] = exp(score[o] - max);
		for (size_t o = 0; o < m->n_outputs; o++)
			out[o] /= sum;
		break;
	case FIT_GA2M_SQUARED:
	case FIT_GA2M_ABSOLUTE:
	case FIT_GA2M_QUANTILE:
		out[0] = score[0];
		break;
	}
}
