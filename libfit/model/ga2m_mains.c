/* SPDX-License-Identifier: MIT */
/*
 * Boosting of main effects: smoothing rounds with random cuts, then cycles with greedy steps, until the
 * validation loss has stopped falling. A step costs bins (ga2m_gram.h) or rows, by engine; where rows are
 * few beside the bins, the bin engine's own steps are taken row by row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_gram.h"
#include "libfit/model/ga2m_shape.h"

#define SMOOTHING_REFRESH 5	/* smoothing rounds between two looks at the rows */
#define CATEGORY_SMOOTH 10.0	/* rows that a category is short of when they are put in order */
#define DRIFT_REFRESH 50	/* rounds until sums are made anew where the Gram matrix is rounded */
#define FEW_ROWS 2		/* rows are few when so many times as many are no more than the indicators */
#define VALIDATION_WORK 200000	/* look-ups that a check may cost before checks become rarer */

/* What a step does to one term and output: a below the cut (or in the set), b elsewhere, m where
 * missing. */
struct step {
	double gain, a, b, m;
	size_t cut;		/* continuous: the last bin below */
	size_t n_set;		/* nominal: bins in set[] */
	bool all;		/* no cut: a everywhere but where missing */
};

struct stage {
	struct ga2m_bag *bag;
	const struct fit_ga2m_params *p;
	const struct ga2m_binned *data;
	size_t k, n_outputs, m;		/* features; indicators, or the widest feature's bins by rows */
	size_t n_free, first_free;	/* features that are boosted, order[0 … n_free - 1]; the first of them */
	bool by_bins, constant;		/* engine; curvature is the weight alone */
	bool few;			/* rows: by_bins without a Gram matrix, sums are made when they are looked at */
	size_t stride;			/* of sum and mass: from output to output */
	double rate, scale;
	size_t *off;
	struct ga2m_gram *gram;
	double *sum, *mass;		/* [output][indicator]: residual sums, curvature sums */
	double *share, *quality;	/* of a cut: mass below / all, all / (below * above), 0 where not allowed */
	uint32_t *rows;			/* [indicator]: training rows, not weighted (sums as in mass) */
	double *r, *h;			/* by row and output; h NULL where it is the weight */
	double *gain;			/* by feature */
	struct step *steps;		/* by output, of the feature at hand */
	size_t *set, *order;		/* set: [output][widest]; features in the order of a cycle */
	struct keyed {
		double key;
		size_t bin;
	} *keyed;
	size_t widest;
	bool *in_set;			/* by bin of the widest feature */
	double *diff;			/* [feature's bins][output], as differences for continuous ones */
	double *synced_train, *synced_val, *best, *now;	/* tables */
	size_t table_size;
	size_t n_steps;
};

static size_t table_at(const struct stage *s, size_t f)
{
	return s->off[f] * s->n_outputs;
}

/* ---- tables ---- */

/* diff -> values: bin 0 and nominal bins stand alone, others add up. */
static void values(const struct stage *s, double *out)
{
	size_t k = s->n_outputs;

	memcpy(out, s->diff, s->table_size * sizeof *out);
	for (size_t f = 0; f < s->k; f++)
		for (size_t b = 2; !s->data->nominal[f] && b < s->data->n_bins[f]; b++)
			for (size_t o = 0; o < k; o++)
				out[table_at(s, f) + b * k + o] += out[table_at(s, f) + (b - 1) * k + o];
}

void ga2m_add_to_scores(struct ga2m_part *p, const uint16_t *bin, const double *delta, size_t k)
{
	for (size_t o = 0; o < k; o++) {
		double *score = p->score + o * p->n;

		for (size_t i = 0; i < p->n; i++)
			score[i] += delta[bin[i] * k + o];
	}
}

/* Bring a part's scores to the tables as they are now. */
static void sync_scores(struct stage *s, struct ga2m_part *part, double *synced)
{
	values(s, s->now);
	for (size_t f = 0; f < s->k; f++) {
		size_t n = s->data->n_bins[f] * s->n_outputs;
		double *old = synced + table_at(s, f), *now = s->now + table_at(s, f);
		bool changed = false;

		for (size_t i = 0; i < n; i++) {
			double v = now[i];

			changed = changed || v < old[i] || v > old[i];
			old[i] = v - old[i];
		}
		if (changed)
			ga2m_add_to_scores(part, part->bin[f], old, s->n_outputs);
		memcpy(old, now, n * sizeof *old);
	}
}

/* ---- sums over rows ---- */

/* Sums of v over the bins of feature f as indicators. */
static void indicator_sums(const struct stage *s, size_t f, const double *v, double *sum)
{
	const struct ga2m_part *t = &s->bag->train;
	const uint16_t *bin = t->bin[f];
	size_t n = s->data->n_bins[f];

	memset(sum, 0, n * sizeof *sum);
	if (v)
		for (size_t i = 0; i < t->n; i++)
			sum[bin[i]] += v[i];
	else
		for (size_t i = 0; i < t->n; i++)
			sum[bin[i]] += 1;
	for (size_t b = 2; !s->data->nominal[f] && b < n; b++)
		sum[b] += sum[b - 1];
}

/* What the cuts of feature f are worth, from mass. */
static void rate_cuts(struct stage *s, size_t f, size_t o, const double *mass)
{
	size_t n = s->data->n_bins[f], at = o * s->m + (s->by_bins ? s->off[f] : 0);
	double all = mass[n - 1];
	const uint32_t *rows = s->rows + s->off[f];

	if (s->data->nominal[f])
		return;
	for (size_t b = 1; b < n; b++) {
		double above = all - mass[b];
		bool good = b + 1 < n && mass[b] > 0 && above > 0 && rows[b] >= s->bag->min_leaf &&
			    rows[n - 1] - rows[b] >= s->bag->min_leaf;

		s->share[at + b] = good ? mass[b] / all : 0;
		s->quality[at + b] = good ? all / (mass[b] * above) : 0;
	}
}

/* All sums anew from the rows. curvature: those of h, and the Gram matrix with them. */
static int sums_from_rows(struct stage *s, bool curvature)
{
	struct ga2m_part *t = &s->bag->train;

	/* rows keep the curvature that is in mass */
	ga2m_gradient(s->p, s->n_outputs, t, s->scale, s->r, s->few && !curvature ? NULL : s->h);
	if (!s->by_bins)
		return FIT_OK;
	for (size_t f = 0; f < s->k && !s->few; f++)
		for (size_t o = 0; o < s->n_outputs; o++)
			indicator_sums(s, f, s->r + o * t->n, s->sum + o * s->stride + s->off[f]);
	if (!curvature)
		return FIT_OK;
	for (size_t f = 0; f < s->k; f++) {
		for (size_t o = 0; o < s->n_outputs; o++) {
			double *mass = s->mass + o * s->stride + s->off[f];

			indicator_sums(s, f, s->h ? s->h + o * t->n : t->w, mass);
			for (size_t b = 0; !s->h && b < s->data->n_bins[f]; b++)
				mass[b] *= ga2m_curvature(s->p->loss);
			rate_cuts(s, f, o, mass);
		}
	}
	return s->few ? FIT_OK : ga2m_gram_fill(s->gram, s->data, t, s->off, s->h ? s->h : t->w);
}

/* Sums of the feature at hand. By rows they are made here. */
static void sums_of(struct stage *s, size_t f, size_t o, double **sum, double **mass)
{
	const struct ga2m_part *t = &s->bag->train;

	*sum = s->sum + (s->by_bins ? o * s->stride + s->off[f] : o * s->m);
	*mass = s->mass + (s->by_bins ? o * s->stride + s->off[f] : o * s->m);
	if (s->few || !s->by_bins)
		indicator_sums(s, f, s->r + o * t->n, *sum);
	if (s->by_bins)
		return;
	indicator_sums(s, f, s->h ? s->h + o * t->n : t->w, *mass);
	for (size_t b = 0; !s->h && b < s->data->n_bins[f]; b++)
		(*mass)[b] *= ga2m_curvature(s->p->loss);
	rate_cuts(s, f, o, *mass);
}

/* ---- one step ---- */

static double leaf(double sum, double mass)
{
	return mass > 0 ? sum / mass : 0;
}

/* sign 1: only cuts with less below than above; -1: the other way round; 0: any. */
static size_t best_cut(const double *sum, double all, const double *share, const double *quality,
		size_t n,
		       int sign, double *best)
{
	double lane[4] = { 0, 0, 0, 0 }, top = 0;
	size_t b = 1;

	for (; sign == 0 && b + 4 < n; b += 4) {
		for (size_t l = 0; l < 4; l++) {
			double d = sum[b + l] - all * share[b + l], g = d * d * quality[b + l];

			lane[l] = g > lane[l] ? g : lane[l];
		}
	}
	for (; b + 1 < n; b++) {
		double d = sum[b] - all * share[b], g = d * d * quality[b];

		if (sign * d <= 0)
			lane[0] = g > lane[0] ? g : lane[0];
	}
	for (size_t l = 0; l < 4; l++)
		top = lane[l] > top ? lane[l] : top;
	*best = top;
	if (!(top > 0))
		return 0;
	/* the first that reaches it: ties go to the lower cut */
	for (b = 1; b + 1 < n; b++) {
		double d = sum[b] - all * share[b];

		if (d * d * quality[b] >= top && sign * d <= 0)
			return b;
	}
	return 0;
}

static int order_sign(const struct stage *s, size_t f)
{
	enum fit_ga2m_shape shape = s->p->shapes ? s->p->shapes[f] : FIT_GA2M_FREE;

	return shape == FIT_GA2M_INCREASING ? 1 : shape == FIT_GA2M_DECREASING ? -1 : 0;
}

static void plan_continuous(struct stage *s, size_t f, size_t o, bool at_random, const double *sum,
			    const double *mass, struct step *st)
{
	size_t n = s->data->n_bins[f], at = o * s->m + (s->by_bins ? s->off[f] : 0), cut = 0;
	double all = sum[n - 1], gain = 0, d;
	int sign = order_sign(s, f);

	if (at_random) {
		size_t lo = 1, hi = n - 1;	/* allowed cuts are [lo, hi) */

		while (lo < hi && !(s->quality[at + lo] > 0))
			lo++;
		while (hi > lo && !(s->quality[at + hi - 1] > 0))
			hi--;
		if (lo < hi)
			cut = lo + gsl_rng_uniform_int(s->bag->rng, (unsigned long)(hi - lo));
		d = cut ? sum[cut] - all * s->share[at + cut] : 0;
		gain = cut ? d * d * s->quality[at + cut] : 0;
		if (sign * d > 0)
			cut = 0;
	} else {
		cut = best_cut(sum, all, s->share + at, s->quality + at, n, sign, &gain);
	}
	st->cut = cut ? cut : n - 1;
	st->all = cut == 0;
	st->a = leaf(cut ? sum[cut] : all, cut ? mass[cut] : mass[n - 1]);
	st->b = cut ? leaf(all - sum[cut], mass[n - 1] - mass[cut]) : st->a;
	st->gain = gain + all * leaf(all, mass[n - 1]);
}

static int by_key(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key ? 1 : (a->bin > b->bin) - (a->bin < b->bin);
}

/* Categories in the order of their residuals (at random: shuffled), then a cut. Rare ones are left out of
 * the order and stay on the upper side. */
static void plan_nominal(struct stage *s, size_t f, size_t o, bool at_random, const double *sum,
			 const double *mass, struct step *st)
{
	size_t n = s->data->n_bins[f] - s->data->overflow[f], m = 0, cut = 0;
	const uint32_t *rows = s->rows + s->off[f];
	double all = 0, weight = 0, a = 0, wa = 0, best = 0;
	double n_rows = 0, below = 0;

	for (size_t b = 1; b < n; b++) {
		all += sum[b];
		weight += mass[b];
		n_rows += rows[b];
		if (rows[b] >= s->p->min_category)
			s->keyed[m++] = (struct keyed){ at_random ? gsl_rng_uniform(s->bag->rng) :
				sum[b] / (mass[b] + CATEGORY_SMOOTH * weight / (n_rows > 0 ? n_rows : 1)), b };
	}
	qsort(s->keyed, m, sizeof *s->keyed, by_key);
	for (size_t i = 0; i < m; i++) {
		size_t b = s->keyed[i].bin;
		double d, g;

		a += sum[b];
		wa += mass[b];
		below += rows[b];
		if (!(wa > 0 && weight - wa > 0 && below >= s->bag->min_leaf && n_rows - below >= s->bag->min_leaf))
			continue;
		d = a - all * wa / weight;
		g = d * d * weight / (wa * (weight - wa));
		if (at_random ? cut == 0 || gsl_rng_uniform_int(s->bag->rng, (unsigned long)i + 1) == 0
			      : g > best) {
			best = g;
			cut = i + 1;
		}
	}
	st->n_set = cut;
	st->all = cut == 0;
	st->gain = best + all * leaf(all, weight);
	a = wa = 0;
	for (size_t i = 0; i < cut; i++) {
		s->set[o * s->widest + i] = s->keyed[i].bin;
		a += sum[s->keyed[i].bin];
		wa += mass[s->keyed[i].bin];
	}
	st->a = cut ? leaf(a, wa) : leaf(all, weight);
	st->b = cut ? leaf(all - a, weight - wa) : st->a;
}

/* Find the step of feature f for every output; returns its gain. */
static double plan(struct stage *s, size_t f, bool at_random)
{
	double gain = 0;

	for (size_t o = 0; o < s->n_outputs; o++) {
		struct step *st = &s->steps[o];
		double *sum, *mass;

		*st = (struct step){ 0 };
		sums_of(s, f, o, &sum, &mass);
		if (s->data->nominal[f])
			plan_nominal(s, f, o, at_random, sum, mass, st);
		else
			plan_continuous(s, f, o, at_random, sum, mass, st);
		st->m = leaf(sum[0], mass[0]);
		st->gain += sum[0] * st->m;
		st->a *= s->rate;
		st->b *= s->rate;
		st->m *= s->rate;
		gain += st->gain;
	}
	return gain;
}

/* Take the step from the residual sums of all features. */
static void take_bins(struct stage *s, size_t f, size_t o)
{
	const struct step *st = &s->steps[o];
	const double *all = s->mass + o * s->stride;
	double *sum = s->sum + o * s->stride, c = st->b;
	size_t off = s->off[f], n = s->data->n_bins[f];
	double unit = s->h ? 1 : ga2m_curvature(s->p->loss);	/* the Gram matrix holds weights,
			mass has curvature */

	if (s->data->nominal[f]) {
		const size_t *set = s->set + o * s->widest;
		size_t last = n - s->data->overflow[f];
		bool most = 2 * st->n_set > last;	/* then the others are fewer */
		double base = most ? st->a : st->b, by = most ? st->b - st->a : st->a - st->b;

		/* everything gets base, and missing, some bins and the overflow what differs from it */
		ga2m_gram_take(s->gram, off, unit * (st->m - base), all, base, sum);
		memset(s->in_set, 0, n * sizeof *s->in_set);
		for (size_t i = 0; i < st->n_set; i++)
			s->in_set[set[i]] = true;
		for (size_t b = 1; b < last; b++)
			if (s->in_set[b] != most)
				ga2m_gram_take(s->gram, off + b, unit * by, all, 0, sum);
		if (s->data->overflow[f])
			ga2m_gram_take(s->gram, off + n - 1, -unit * base, all, 0, sum);
		return;
	}
	ga2m_gram_take(s->gram, off + st->cut, unit * (st->a - st->b), all, c, sum);
	if (all[off] > 0)
		ga2m_gram_take(s->gram, off, unit * (st->m - st->b), all, 0, sum);
}

/* What the step adds to the bins of feature f, output o: delta[b * k]. */
static void step_values(struct stage *s, size_t f, size_t o, double *delta, size_t k)
{
	const struct step *st = &s->steps[o];
	size_t n = s->data->n_bins[f];

	for (size_t b = 0; b < n; b++)
		delta[b * k] = b == 0 ? st->m : s->data->nominal[f] || b > st->cut ? st->b : st->a;
	for (size_t i = 0; i < st->n_set; i++)
		delta[s->set[o * s->widest + i] * k] = st->a;
	if (s->data->overflow[f])
		delta[(n - 1) * k] = 0;
}

/* The step of take_bins(), from the residuals of the rows: the same parabola. */
static void take_few(struct stage *s, size_t f, size_t o)
{
	const struct ga2m_part *t = &s->bag->train;
	const uint16_t *bin = t->bin[f];
	double *delta = s->now;		/* free between checks */
	double *r = s->r + o * t->n, unit = ga2m_curvature(s->p->loss);
	const double *h = s->h ? s->h + o * t->n : t->w;

	step_values(s, f, o, delta, 1);
	for (size_t b = 0; !s->h && b < s->data->n_bins[f]; b++)
		delta[b] *= unit;
	if (h)
		for (size_t i = 0; i < t->n; i++)
			r[i] -= h[i] * delta[bin[i]];
	else
		for (size_t i = 0; i < t->n; i++)
			r[i] -= delta[bin[i]];
}

/* By rows in earnest: the scores themselves, and all gradients anew. */
static void take_rows(struct stage *s, size_t f)
{
	struct ga2m_part *t = &s->bag->train;
	size_t k = s->n_outputs, n = s->data->n_bins[f];
	double *delta = s->now;		/* free between checks */

	for (size_t o = 0; o < k; o++)
		step_values(s, f, o, delta + o, k);
	ga2m_add_to_scores(t, t->bin[f], delta, k);
	for (size_t i = 0; i < n * k; i++)
		s->synced_train[table_at(s, f) + i] += delta[i];
	ga2m_gradient(s->p, k, t, s->scale, s->r, s->h);
}

static void apply(struct stage *s, size_t f)
{
	size_t k = s->n_outputs, n = s->data->n_bins[f];
	double *diff = s->diff + table_at(s, f);

	for (size_t o = 0; o < k; o++) {
		const struct step *st = &s->steps[o];

		diff[o] += st->m;
		if (s->data->nominal[f]) {
			for (size_t b = 1; b < n - s->data->overflow[f]; b++)
				diff[b * k + o] += st->b;
			for (size_t i = 0; i < st->n_set; i++)
				diff[s->set[o * s->widest + i] * k + o] += st->a - st->b;
		} else {
			diff[k + o] += st->a;
			if (st->cut + 1 < n)
				diff[(st->cut + 1) * k + o] += st->b - st->a;
		}
		if (s->few)
			take_few(s, f, o);
		else if (s->by_bins)
			take_bins(s, f, o);
	}
	if (!s->by_bins)
		take_rows(s, f);
	s->n_steps++;
}

/* ---- rounds ---- */

static void shuffle(gsl_rng *rng, size_t *a, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = gsl_rng_uniform_int(rng, (unsigned long)i), t = a[i - 1];

		a[i - 1] = a[j];
		a[j] = t;
	}
}

static void cycle(struct stage *s, bool at_random)
{
	shuffle(s->bag->rng, s->order, s->n_free);
	for (size_t i = 0; i < s->n_free; i++) {
		size_t f = s->order[i];

		/* what is left of the gain after this part of the step was taken */
		s->gain[f] = plan(s, f, at_random) * (1 - s->rate) * (1 - s->rate);
		apply(s, f);
	}
}

/* The feature with the largest gain when last looked at; the first of equal ones. */
static void greedy(struct stage *s)
{
	for (size_t n = s->p->greedy_ratio * s->n_free; n > 0; n--) {
		size_t best = s->first_free;

		for (size_t f = best + 1; f < s->k; f++)
			if (s->gain[f] > s->gain[best])
				best = f;
		s->gain[best] = plan(s, best, false) * (1 - s->rate) * (1 - s->rate);
		apply(s, best);
	}
}

/* Convex and concave terms: steps leave the cone, and at the end of a round they are put back to it. */
static int project(struct stage *s)
{
	size_t k = s->n_outputs;
	double *room = malloc((4 * s->widest + 1) * sizeof *room);
	bool any = false;
	int rc = room ? FIT_OK : FIT_ENOMEM;

	for (size_t f = 0; f < s->k && s->p->shapes && !rc; f++) {
		size_t n = s->data->n_bins[f] - 1;
		double *x = room, *y = room + s->widest, *w = y + s->widest, *out = w + s->widest;
		const uint32_t *rows = s->rows + s->off[f];
		bool convex = s->p->shapes[f] == FIT_GA2M_CONVEX;

		if (!convex && s->p->shapes[f] != FIT_GA2M_CONCAVE)
			continue;
		any = true;
		fit_ga2m_middles(&s->bag->features[f], 0, x);
		for (size_t b = 0; b < n; b++)
			w[b] = rows[b + 1] - (b > 0 ? rows[b] : 0);
		for (size_t o = 0; o < k && !rc; o++) {
			double *diff = s->diff + table_at(s, f);

			for (size_t b = 0; b < n; b++)
				y[b] = diff[(b + 1) * k + o] + (b > 0 ? y[b - 1] : 0);
			rc = fit_ga2m_convex(x, y, w, n, convex, out);
			for (size_t b = 0; b < n; b++)
				diff[(b + 1) * k + o] = out[b] - (b > 0 ? out[b - 1] : 0);
		}
	}
	free(room);
	if (rc || !any)
		return rc;
	sync_scores(s, &s->bag->train, s->synced_train);
	return sums_from_rows(s, false);
}

static int check(struct stage *s, struct ga2m_stop *stop, bool *halt)
{
	struct ga2m_bag *bag = s->bag;
	bool improved;
	int rc = FIT_OK;

	sync_scores(s, &bag->val, s->synced_val);
	*halt = ga2m_stop_add(stop, ga2m_loss(s->p, s->n_outputs, &bag->val), &improved, &rc);
	if (improved) {
		memcpy(s->best, s->synced_val, s->table_size * sizeof *s->best);
		bag->steps = s->n_steps;
	}
	return rc;
}

static int rounds(struct stage *s, struct ga2m_stop *stop)
{
	const struct fit_ga2m_params *p = s->p;
	size_t every = 1 + s->bag->val.n * s->k / VALIDATION_WORK, next_curvature = 20;
	bool halt = false, validate = s->bag->val.n > 0;
	bool rounded = s->bag->train.w || s->bag->train.n >> 24;	/* to float */
	int rc = FIT_OK;

	stop->patience = (p->patience + p->greedy_ratio) / (p->greedy_ratio + 1);
	stop->patience = 1 + stop->patience / every;
	if (validate)
		rc = check(s, stop, &halt);
	for (size_t round = 0; round < p->max_rounds && !halt && !rc; round++) {
		bool smoothing = round < p->smoothing_rounds;
		size_t done = smoothing ? round : round - p->smoothing_rounds;

		/* other losses look at the rows often; squared loss need not, as long as joint counts are exact */
		if (s->by_bins && (p->loss == FIT_GA2M_SQUARED ? rounded && round % DRIFT_REFRESH == 0 :
				   !smoothing || round % SMOOTHING_REFRESH == 0)) {
			bool curvature = round == next_curvature && !s->constant;

			if (round == next_curvature)
				next_curvature += next_curvature < 200 ? 2 * next_curvature : 400;
			if (round > 0) {
				sync_scores(s, &s->bag->train, s->synced_train);
				rc = sums_from_rows(s, curvature);
			}
		}
		cycle(s, smoothing);
		if (!smoothing)
			greedy(s);
		if (p->shapes && !rc)
			rc = project(s);
		/* looks during the smoothing are few: at its end, and now and then on the way */
		if (validate && !rc && (smoothing ? (round + 1) % 50 == 0 : done % every == 0))
			rc = check(s, stop, &halt);
		if (smoothing)
			halt = false;
		s->bag->capped = round + 1 == p->max_rounds && !halt && validate;
	}
	if (!validate) {
		values(s, s->best);
		s->bag->steps = s->n_steps;
	}
	return rc;
}

/* ---- the stage ---- */

static void stage_release(struct stage *s)
{
	void *all[] = { s->off, s->sum, s->mass, s->share, s->quality, s->rows, s->r, s->h, s->gain, s->steps,
			s->set, s->in_set, s->order, s->keyed, s->diff, s->synced_train, s->synced_val, s->best, s->now };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

static double *zeros(size_t n)
{
	double *v = aligned_alloc(64, (n * sizeof *v + 64) / 64 * 64);

	if (v)
		memset(v, 0, (n * sizeof *v + 64) / 64 * 64);
	return v;
}

bool ga2m_small_counts(const struct ga2m_binned *b, const struct fit_ga2m_params *p)
{
	return !b->weight && !b->bags && ga2m_constant_curvature(p->loss) &&
	       (double)b->n_rows * (1 - p->validation_share) + 1 < 65536;
}

static int stage_init(struct stage *s, struct ga2m_bag *bag)
{
	const struct ga2m_binned *b = bag->data;
	size_t n = bag->train.n, total = 0, room;
	bool small = ga2m_small_counts(b, bag->params) && !bag->train.w && n < 65536;

	*s = (struct stage){ .bag = bag, .p = bag->params, .data = b, .k = b->n_features,
			     .n_outputs = bag->n_outputs, .rate = bag->params->learning_rate };
	s->constant = ga2m_constant_curvature(s->p->loss);
	s->scale = ga2m_residual_scale(&bag->train);
	s->off = calloc(s->k + 1, sizeof *s->off);
	if (!s->off)
		return FIT_ENOMEM;
	for (size_t f = 0; f < s->k; f++) {
		s->off[f] = total;
		total += b->n_bins[f];
		s->widest = b->n_bins[f] > s->widest ? b->n_bins[f] : s->widest;
	}
	s->by_bins = s->p->engine == FIT_GA2M_ENGINE_BINS ||
		     (s->p->engine == FIT_GA2M_ENGINE_AUTO &&
		      (double)ga2m_gram_bytes(total, n, small) <= s->p->memory_mib * 1048576.0);
	bag->bins_engine = s->by_bins;
	s->m = s->by_bins ? total : s->widest;
	s->few = s->by_bins && s->p->engine == FIT_GA2M_ENGINE_AUTO && FEW_ROWS * n <= total;
	s->stride = (s->m + 7) / 8 * 8;
	s->table_size = total * s->n_outputs;
	room = s->stride * s->n_outputs;
	s->sum = zeros(room);
	s->mass = zeros(room);
	s->share = zeros(room);
	s->quality = zeros(room);
	s->rows = calloc(total + 1, sizeof *s->rows);
	s->r = malloc((n * s->n_outputs + 1) * sizeof *s->r);
	if (!s->constant)
		s->h = malloc((n * s->n_outputs + 1) * sizeof *s->h);
	s->gain = zeros(s->k);
	s->steps = calloc(s->n_outputs, sizeof *s->steps);
	s->set = calloc(s->n_outputs * s->widest + 1, sizeof *s->set);
	s->in_set = calloc(s->widest + 1, sizeof *s->in_set);
	s->order = calloc(s->k + 1, sizeof *s->order);
	s->keyed = calloc(s->widest + 1, sizeof *s->keyed);
	s->diff = zeros(s->table_size);
	s->synced_train = zeros(s->table_size);
	s->synced_val = zeros(s->table_size);
	s->best = zeros(s->table_size);
	s->now = zeros(s->table_size);
	if (!s->sum || !s->mass || !s->share || !s->quality || !s->rows || !s->r || (!s->constant && !s->h) ||
	    !s->gain || !s->steps || !s->set || !s->in_set || !s->order || !s->keyed || !s->diff ||
			!s->synced_train ||
	    !s->synced_val || !s->best || !s->now)
		return FIT_ENOMEM;
	for (size_t f = 0; f < s->k; f++) {
		uint32_t *rows = s->rows + s->off[f];

		if (!s->p->fixed || !s->p->fixed[f])
			s->order[s->n_free++] = f;
		for (size_t i = 0; i < n; i++)
			rows[bag->train.bin[f][i]] += bag->train.times ? bag->train.times[i] : 1u;
		for (size_t c = 2; !b->nominal[f] && c < b->n_bins[f]; c++)
			rows[c] += rows[c - 1];
	}
	s->first_free = s->n_free ? s->order[0] : 0;
	s->gram = bag->gram;
	if (s->by_bins && !s->few && ga2m_gram_init(s->gram, s->m, small))
		return FIT_ENOMEM;
	return sums_from_rows(s, true);
}

int ga2m_boost_mains(struct ga2m_bag *bag)
{
	struct stage s;
	struct ga2m_stop stop = { .tolerance = bag->params->tolerance,
				  .least = bag->params->stop_share };
	size_t k = bag->n_outputs;
	int rc = stage_init(&s, bag);

	if (!rc && s.n_free > 0)
		rc = rounds(&s, &stop);
	bag->best_loss = stop.n ? stop.best : (double)NAN;
	for (size_t f = 0; f < s.k && !rc; f++) {
		size_t n = bag->data->n_bins[f] * k;

		bag->main[f] = malloc((n + 1) * sizeof *bag->main[f]);
		if (bag->main[f])
			memcpy(bag->main[f], s.best + table_at(&s, f), n * sizeof *bag->main[f]);
		else
			rc = FIT_ENOMEM;
	}
	/* scores of the tables that are kept, for what comes next */
	for (size_t o = 0; o < k && !rc; o++) {
		for (size_t i = 0; i < bag->train.n; i++)
			bag->train.score[o * bag->train.n + i] = ga2m_known(&bag->train, o, i) + bag->intercept[o];
		for (size_t i = 0; i < bag->val.n; i++)
			bag->val.score[o * bag->val.n + i] = ga2m_known(&bag->val, o, i) + bag->intercept[o];
	}
	for (size_t f = 0; f < s.k && !rc; f++) {
		ga2m_add_to_scores(&bag->train, bag->train.bin[f], bag->main[f], k);
		ga2m_add_to_scores(&bag->val, bag->val.bin[f], bag->main[f], k);
	}
	free(stop.loss);
	stage_release(&s);
	return rc;
}
