/* SPDX-License-Identifier: MIT */
/*
 * Pairs of one bag: detection on the residuals of the mains, and boosting by rows. A visit to a pair
 * makes one pass over the rows and then several steps on the sums by cell, which cost cells.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_fit.h"
#include "libfit/model/ga2m_purify.h"

#define STEPS_OF_VISIT 4

/* ---- detection ---- */

static uint16_t pair_bin(const struct ga2m_binned *b, size_t f, uint16_t bin)
{
	return b->to_pair[f] ? b->to_pair[f][bin] : bin;
}

/* Pair resolution bins of all features of a part. */
static int pair_bins(const struct ga2m_binned *b, const struct ga2m_part *p, uint16_t **out)
{
	for (size_t f = 0; f < b->n_features; f++) {
		out[f] = malloc(p->n * sizeof **out + 1);
		if (!out[f])
			return FIT_ENOMEM;
		for (size_t i = 0; i < p->n; i++)
			out[f][i] = pair_bin(b, f, p->bin[f][i]);
	}
	return FIT_OK;
}

static bool pair_allowed(const struct ga2m_bag *bag, size_t f, size_t g)
{
	const struct fit_ga2m_params *p = bag->params;

	return !(p->shapes && (p->shapes[f] != FIT_GA2M_FREE || p->shapes[g] != FIT_GA2M_FREE)) &&
	       bag->data->n_pair_bins[f] * bag->data->n_pair_bins[g] <= UINT16_MAX;
}

int ga2m_detect_pairs(struct ga2m_bag *bag)
{
	const struct ga2m_binned *b = bag->data;
	const struct ga2m_part *t = &bag->train;
	size_t k = b->n_features, n = t->n, no = bag->n_outputs, at = 0;
	uint16_t **bins = calloc(k + 1, sizeof *bins);
	double *r = malloc((n * no + 1) * sizeof *r), *h = NULL;
	double *sums = malloc(3 * ((size_t)UINT16_MAX + 1) * sizeof *sums);
	bool constant = ga2m_constant_curvature(bag->params->loss);
	int rc = bins && r && sums ? pair_bins(b, t, bins) : FIT_ENOMEM;

	bag->strength = calloc(k * k / 2 + 1, sizeof *bag->strength);
	if (!constant)
		h = malloc((n * no + 1) * sizeof *h);
	if (!bag->strength || (!constant && !h))
		rc = FIT_ENOMEM;
	if (!rc)
		ga2m_gradient(bag->params, no, t, ga2m_residual_scale(t), r, h);
	for (size_t f = 0; f < k && !rc; f++) {
		for (size_t g = f + 1; g < k && !rc; g++, at++) {
			size_t columns = b->n_pair_bins[g], cells = b->n_pair_bins[f] * columns;
			double *sum = sums, *mass = sums + cells, *rows = mass + cells, strength;

			for (size_t o = 0; o < no && !rc && pair_allowed(bag, f, g); o++) {
				memset(sums, 0, 3 * cells * sizeof *sums);
				for (size_t i = 0; i < n; i++) {
					size_t c = bins[f][i] * columns + bins[g][i];

					sum[c] += r[o * n + i];
					rows[c] += t->times ? t->times[i] : 1;
				}
				for (size_t i = 0; (h || t->w) && i < n; i++)
					mass[bins[f][i] * columns + bins[g][i]] += h ? h[o * n + i] : t->w[i];
				if (!h && !t->w)
					memcpy(mass, rows, cells * sizeof *mass);
				rc = fit_ga2m_strength(sum, mass, rows, b->n_pair_bins[f], columns,
						       bag->min_leaf, true, &strength);
				bag->strength[at] += strength;
			}
		}
	}
	for (size_t f = 0; bins && f < k; f++)
		free(bins[f]);
	free(bins);
	free(r);
	free(h);
	free(sums);
	return rc;
}

/* ---- boosting ---- */

/* A half of a table, to one side of a first cut, and its second cut. share and quality as in mains. */
struct halves {
	double *share, *quality;	/* [side][first cut][second cut] */
	double *inverse;		/* [side][first cut]: 1 / mass of the half, 0 where it is empty */
};

struct pair {
	size_t rows, columns, cells;
	uint16_t *train_cell, *val_cell;
	double *count;			/* running sums of rows, for min_leaf */
	double *mass;			/* by cell and output, as they are now */
	struct halves by[2];		/* first cut on the rows, on the columns */
	size_t rated;			/* output whose mass `by` goes with, plus 1; 0: none */
};

struct pair_step {
	int axis;			/* of the first cut */
	size_t first, second[2];	/* last index below the cut; second: on either side */
	double value[2][2];
};

struct stage {
	struct ga2m_bag *bag;
	const struct fit_ga2m_params *p;
	struct pair *pairs;
	size_t n_outputs;
	bool constant;
	double rate, scale;
	double *r, *h;
	double *sum, *run, *turned, *delta, *turned_mass, *mass_run, *count_turned;
	size_t widest;
	size_t *order;
	double **best;
	size_t n_steps;
};

static void turn(const double *v, size_t n, size_t m, double *out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			out[j * n + i] = v[i * m + j];
}

/* What second cuts are worth behind every first cut, from running sums of mass and rows (n first
 * cuts). */
static void rate_halves(struct halves *h, const double *mass, const double *rows, size_t n, size_t m,
			double min_leaf)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i + 1 < n; i++) {
			size_t at = ((size_t)side * n + i) * m;
			const double *w0 = mass + (n - 1) * m, *w1 = mass + i * m;
			const double *r0 = rows + (n - 1) * m, *r1 = rows + i * m;
			double all = side ? w0[m - 1] - w1[m - 1] : w1[m - 1];
			double all_rows = side ? r0[m - 1] - r1[m - 1] : r1[m - 1];

			h->inverse[(size_t)side * n + i] = all_rows >= min_leaf && all > 0 ? 1 / all : 0;
			for (size_t j = 0; j < m; j++) {
				double w = side ? w0[j] - w1[j] : w1[j], r = side ? r0[j] - r1[j] : r1[j];
				bool good = j + 1 < m && r >= min_leaf && all_rows - r >= min_leaf && w > 0 &&
					    all - w > 0;

				h->share[at + j] = good ? w / all : 0;
				h->quality[at + j] = good ? all / (w * (all - w)) : 0;
			}
		}
	}
}

static void rate_pair(struct stage *s, struct pair *q, size_t o)
{
	const double *mass = q->mass + o * q->cells;

	if (s->constant && q->rated)
		return;
	fit_ga2m_running_sums(mass, q->rows, q->columns, s->mass_run);
	rate_halves(&q->by[0], s->mass_run, q->count, q->rows, q->columns, s->bag->min_leaf);
	turn(s->mass_run, q->rows, q->columns, s->turned_mass);
	turn(q->count, q->rows, q->columns, s->count_turned);
	rate_halves(&q->by[1], s->turned_mass, s->count_turned, q->columns, q->rows, s->bag->min_leaf);
	q->rated = o + 1;
}

/* The best second cut of one half: gain over none; *cut m - 1 for none. */
static double best_second(const double *line, const double *whole, const double *share,
		const double *quality,
			  size_t m, size_t *cut)
{
	double lane[4] = { 0, 0, 0, 0 }, top = 0, all = whole ? whole[m - 1] - line[m - 1] : line[m - 1];
	size_t j = 0;

	*cut = m - 1;
	for (; j + 4 <= m; j += 4) {
		for (size_t l = 0; l < 4; l++) {
			double v = whole ? whole[j + l] - line[j + l] : line[j + l];
			double d = v - all * share[j + l], g = d * d * quality[j + l];

			lane[l] = g > lane[l] ? g : lane[l];
		}
	}
	for (; j < m; j++) {
		double v = whole ? whole[j] - line[j] : line[j];
		double d = v - all * share[j], g = d * d * quality[j];

		lane[0] = g > lane[0] ? g : lane[0];
	}
	for (size_t l = 0; l < 4; l++)
		top = lane[l] > top ? lane[l] : top;
	return top;
}

static size_t where_second(const double *line, const double *whole, const double *share,
		const double *quality,
			   size_t m, double top)
{
	double all = whole ? whole[m - 1] - line[m - 1] : line[m - 1];

	for (size_t j = 0; top > 0 && j + 1 < m; j++) {
		double v = whole ? whole[j] - line[j] : line[j], d = v - all * share[j];

		if (d * d * quality[j] >= top)
			return j;
	}
	return m - 1;
}

/* The best step with its first cut on one axis, better than *best. run: running sums, n first by m. */
static void best_on_axis(const double *run, const struct halves *h, size_t n, size_t m, int axis,
		double *best,
			 struct pair_step *st)
{
	const double *whole = run + (n - 1) * m;

	for (size_t i = 0; i + 1 < n; i++) {
		const double *line = run + i * m;
		double inv0 = h->inverse[i], inv1 = h->inverse[n + i], gain = 0, g0, g1, t0 = line[m - 1],
		       t1 = whole[m - 1] - line[m - 1];
		size_t cut;

		if (!(inv0 > 0 && inv1 > 0))
			continue;
		g0 = best_second(line, NULL, h->share + i * m, h->quality + i * m, m, &cut);
		g1 = best_second(line, whole, h->share + (n + i) * m, h->quality + (n + i) * m, m, &cut);
		gain = t0 * t0 * inv0 + t1 * t1 * inv1 + g0 + g1;
		if (!(gain > *best))
			continue;
		*best = gain;
		st->axis = axis;
		st->first = i;
		st->second[0] = where_second(line, NULL, h->share + i * m, h->quality + i * m, m, g0);
		st->second[1] = where_second(line, whole, h->share + (n + i) * m, h->quality + (n + i) * m, m, g1);
	}
}

/* Means of the leaves of a step. */
static void leaf_values(const double *sum, const double *mass, const struct pair *q,
		struct pair_step *st,
			double rate)
{
	double g[2][2] = { { 0 } }, w[2][2] = { { 0 } };

	for (size_t i = 0; i < q->rows; i++) {
		for (size_t j = 0; j < q->columns; j++) {
			size_t a = st->axis ? j : i, b = st->axis ? i : j;
			int side = a > st->first, other = b > st->second[side];

			g[side][other] += sum[i * q->columns + j];
			w[side][other] += mass[i * q->columns + j];
		}
	}
	for (int a = 0; a < 2; a++)
		for (int b = 0; b < 2; b++)
			st->value[a][b] = w[a][b] > 0 ? rate * g[a][b] / w[a][b] : 0;
}

/* Plan one step on sums by cell; false: there is none. */
static bool plan(struct stage *s, struct pair *q, size_t o, bool at_random, const double *sum,
		struct pair_step *st)
{
	const double *mass = q->mass + o * q->cells;
	double best = 0;

	st->axis = -1;
	if (at_random && q->rows > 1 && q->columns > 1) {
		st->axis = 0;
		st->first = gsl_rng_uniform_int(s->bag->rng, (unsigned long)q->rows - 1);
		st->second[0] = st->second[1] = gsl_rng_uniform_int(s->bag->rng, (unsigned long)q->columns - 1);
	} else if (!at_random) {
		fit_ga2m_running_sums(sum, q->rows, q->columns, s->run);
		best_on_axis(s->run, &q->by[0], q->rows, q->columns, 0, &best, st);
		turn(s->run, q->rows, q->columns, s->turned);
		best_on_axis(s->turned, &q->by[1], q->columns, q->rows, 1, &best, st);
	}
	if (st->axis < 0)
		return false;
	leaf_values(sum, mass, q, st, s->rate);
	return true;
}

/* Several steps on the sums of one output, from sum; what they add goes to delta. */
static void steps(struct stage *s, struct pair *q, size_t o, bool at_random)
{
	const double *mass = q->mass + o * q->cells;
	struct pair_step st;

	rate_pair(s, q, o);
	for (int k = 0; k < STEPS_OF_VISIT && plan(s, q, o, at_random, s->sum, &st); k++) {
		for (size_t i = 0; i < q->rows; i++) {
			for (size_t j = 0; j < q->columns; j++) {
				size_t a = st.axis ? j : i, b = st.axis ? i : j, c = i * q->columns + j;
				int side = a > st.first;
				double v = st.value[side][b > st.second[side]];

				s->delta[c * s->n_outputs + o] += v;
				s->sum[c] -= mass[c] * v;
			}
		}
		if (o == 0)
			s->n_steps++;
	}
}

static void sum_cells(const uint16_t *cell, const double *v, size_t n, double *out)
{
	if (v)
		for (size_t i = 0; i < n; i++)
			out[cell[i]] += v[i];
	else
		for (size_t i = 0; i < n; i++)
			out[cell[i]] += 1;
}

static void visit(struct stage *s, size_t k, bool at_random)
{
	struct pair *q = &s->pairs[k];
	struct ga2m_part *t = &s->bag->train;
	size_t n = t->n;

	memset(s->delta, 0, q->cells * s->n_outputs * sizeof *s->delta);
	if (s->p->loss != FIT_GA2M_SQUARED)
		ga2m_gradient(s->p, s->n_outputs, t, s->scale, s->r, s->h);
	for (size_t o = 0; o < s->n_outputs; o++) {
		memset(s->sum, 0, q->cells * sizeof *s->sum);
		sum_cells(q->train_cell, s->r + o * n, n, s->sum);
		if (!s->constant) {
			memset(q->mass + o * q->cells, 0, q->cells * sizeof *q->mass);
			sum_cells(q->train_cell, s->h + o * n, n, q->mass + o * q->cells);
		}
		steps(s, q, o, at_random);
	}
	if (s->p->loss == FIT_GA2M_SQUARED) {	/* scores of the training rows follow at the end */
		if (t->w)
			for (size_t i = 0; i < n; i++)
				s->r[i] -= t->w[i] * s->delta[q->train_cell[i]];
		else
			for (size_t i = 0; i < n; i++)
				s->r[i] -= s->delta[q->train_cell[i]];
	} else {
		ga2m_add_to_scores(t, q->train_cell, s->delta, s->n_outputs);
	}
	ga2m_add_to_scores(&s->bag->val, q->val_cell, s->delta, s->n_outputs);
	for (size_t c = 0; c < q->cells * s->n_outputs; c++)
		s->bag->table[k][c] += s->delta[c];
}

static void shuffle(gsl_rng *rng, size_t *a, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = gsl_rng_uniform_int(rng, (unsigned long)i), t = a[i - 1];

		a[i - 1] = a[j];
		a[j] = t;
	}
}

static int rounds(struct stage *s, struct ga2m_stop *stop)
{
	const struct fit_ga2m_params *p = s->p;
	struct ga2m_bag *bag = s->bag;
	bool halt = false, validate = bag->val.n > 0, improved = false;
	int rc = FIT_OK;

	/* a visit makes several steps, at a larger rate than the mains */
	stop->patience = 1 + p->patience / (4 * STEPS_OF_VISIT);
	if (validate)
		halt = ga2m_stop_add(stop, ga2m_loss(p, s->n_outputs, &bag->val), &improved, &rc);
	for (size_t round = 0; round < p->max_rounds && !halt && !rc; round++) {
		bool smoothing = round < p->pair_smoothing_rounds;

		shuffle(bag->rng, s->order, bag->n_pairs);
		for (size_t k = 0; k < bag->n_pairs; k++)
			visit(s, s->order[k], smoothing);
		if (!validate)
			continue;
		halt = ga2m_stop_add(stop, ga2m_loss(p, s->n_outputs, &bag->val), &improved, &rc);
		for (size_t k = 0; improved && k < bag->n_pairs; k++)
			memcpy(s->best[k], bag->table[k], s->pairs[k].cells * s->n_outputs * sizeof **s->best);
		if (improved)
			bag->pair_steps = s->n_steps;
		halt = halt && !smoothing;
	}
	for (size_t k = 0; validate && k < bag->n_pairs; k++)
		memcpy(bag->table[k], s->best[k], s->pairs[k].cells * s->n_outputs * sizeof **s->best);
	if (!validate)
		bag->pair_steps = s->n_steps;
	bag->best_loss = stop->n ? stop->best : (double)NAN;
	return rc;
}

/* ---- the stage ---- */

static double *zeros(size_t n)
{
	return calloc(n + 1, sizeof(double));
}

static int cells_of(const struct ga2m_binned *b, const struct ga2m_part *p, size_t f, size_t g,
		size_t columns,
		    uint16_t **cell)
{
	*cell = malloc(p->n * sizeof **cell + 1);
	if (!*cell)
		return FIT_ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		(*cell)[i] = (uint16_t)(pair_bin(b, f, p->bin[f][i]) * columns + pair_bin(b, g, p->bin[g][i]));
	return FIT_OK;
}

static int pair_init(struct stage *s, size_t k)
{
	struct ga2m_bag *bag = s->bag;
	const struct ga2m_binned *b = bag->data;
	const struct ga2m_part *t = &bag->train;
	struct pair *q = &s->pairs[k];
	size_t f = bag->pair[k][0], g = bag->pair[k][1];

	q->rows = b->n_pair_bins[f];
	q->columns = b->n_pair_bins[g];
	q->cells = q->rows * q->columns;
	if (cells_of(b, t, f, g, q->columns, &q->train_cell) ||
	    cells_of(b, &bag->val, f, g, q->columns, &q->val_cell))
		return FIT_ENOMEM;
	q->count = zeros(q->cells);
	q->mass = zeros(q->cells * s->n_outputs);
	for (int a = 0; a < 2; a++) {
		q->by[a].share = zeros(2 * q->cells);
		q->by[a].quality = zeros(2 * q->cells);
		q->by[a].inverse = zeros(2 * (a ? q->columns : q->rows));
		if (!q->by[a].share || !q->by[a].quality || !q->by[a].inverse)
			return FIT_ENOMEM;
	}
	bag->table[k] = zeros(q->cells * s->n_outputs);
	s->best[k] = zeros(q->cells * s->n_outputs);
	if (!q->count || !q->mass || !bag->table[k] || !s->best[k])
		return FIT_ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		q->count[q->train_cell[i]] += t->times ? t->times[i] : 1;
	fit_ga2m_running_sums(q->count, q->rows, q->columns, q->count);
	for (size_t o = 0; s->constant && o < s->n_outputs; o++) {
		double *mass = q->mass + o * q->cells;

		sum_cells(q->train_cell, t->w, t->n, mass);
		for (size_t c = 0; c < q->cells; c++)
			mass[c] *= ga2m_curvature(s->p->loss);
	}
	s->widest = q->cells > s->widest ? q->cells : s->widest;
	return FIT_OK;
}

static void stage_release(struct stage *s)
{
	double *all[] = { s->r, s->h, s->sum, s->run, s->turned, s->delta, s->turned_mass, s->mass_run,
			  s->count_turned };

	for (size_t k = 0; s->pairs && k < s->bag->n_pairs; k++) {
		struct pair *q = &s->pairs[k];

		free(q->train_cell);
		free(q->val_cell);
		free(q->count);
		free(q->mass);
		for (int a = 0; a < 2; a++) {
			free(q->by[a].share);
			free(q->by[a].quality);
			free(q->by[a].inverse);
		}
		if (s->best)
			free(s->best[k]);
	}
	free(s->pairs);
	free(s->best);
	free(s->order);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

static int stage_init(struct stage *s, struct ga2m_bag *bag)
{
	size_t n = bag->train.n, no = bag->n_outputs;

	*s = (struct stage){ .bag = bag, .p = bag->params, .n_outputs = no,
			     .rate = bag->params->pair_learning_rate,
			     .constant = ga2m_constant_curvature(bag->params->loss),
			     .scale = ga2m_residual_scale(&bag->train) };
	s->pairs = calloc(bag->n_pairs + 1, sizeof *s->pairs);
	s->best = calloc(bag->n_pairs + 1, sizeof *s->best);
	s->order = calloc(bag->n_pairs + 1, sizeof *s->order);
	if (!s->pairs || !s->best || !s->order)
		return FIT_ENOMEM;
	for (size_t k = 0; k < bag->n_pairs; k++) {
		s->order[k] = k;
		if (pair_init(s, k))
			return FIT_ENOMEM;
	}
	s->r = malloc((n * no + 1) * sizeof *s->r);
	s->h = s->constant ? NULL : malloc((n * no + 1) * sizeof *s->h);
	s->sum = zeros(s->widest);
	s->run = zeros(s->widest);
	s->turned = zeros(s->widest);
	s->turned_mass = zeros(s->widest);
	s->mass_run = zeros(s->widest);
	s->count_turned = zeros(s->widest);
	s->delta = zeros(s->widest * no);
	if (!s->r || (!s->constant && !s->h) || !s->sum || !s->run || !s->turned || !s->turned_mass ||
			!s->mass_run ||
	    !s->count_turned || !s->delta)
		return FIT_ENOMEM;
	ga2m_gradient(s->p, no, &bag->train, s->scale, s->r, s->h);
	return FIT_OK;
}

int ga2m_boost_pairs(struct ga2m_bag *bag)
{
	struct stage s;
	struct ga2m_stop stop = { .tolerance = bag->params->tolerance,
				  .least = bag->params->stop_share };
	int rc;

	bag->table = calloc(bag->n_pairs + 1, sizeof *bag->table);
	rc = bag->table ? stage_init(&s, bag) : FIT_ENOMEM;
	if (!rc)
		rc = rounds(&s, &stop);
	if (bag->table)
		stage_release(&s);
	free(stop.loss);
	return rc;
}
