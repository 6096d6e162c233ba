/* SPDX-License-Identifier: MIT */
/* GA2M training: bags are drawn, boosted apart, and put together. */
#include "libfit/model/ga2m_train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/meter.h"
#include "libfit/base/rng.h"
#include "libfit/model/ga2m_gram.h"

#define MIB 1048576.0

struct fit_ga2m_params fit_ga2m_params_default(enum fit_ga2m_loss loss)
{
	return (struct fit_ga2m_params){
		.loss = loss, .quantile = 0.5, .bags = 14, .validation_share = 0.15,
		.validation = FIT_GA2M_AUTO, .engine = FIT_GA2M_ENGINE_AUTO, .max_bins = 1022,
		.max_pair_bins = 32, .memory_mib = 20, .learning_rate = 0.04, .pair_learning_rate = 0.1,
		.smoothing_rounds = 500, .pair_smoothing_rounds = 20, .greedy_ratio = 10, .max_rounds = 5000,
		.patience = 100, .tolerance = 1e-5, .stop_share = fit_ga2m_is_class(loss) ? 1 : 0,
		.min_leaf = 4, .min_leaf_share = 0.008, .rows_per_bin = 5, .min_category = 10, .purify = true,
		.seed = 1, .threads = 1
	};
}

const char *fit_ga2m_params_check(const struct fit_ga2m_params *p)
{
	if ((unsigned)p->loss >= FIT_GA2M_N_LOSSES)
		return "unknown loss";
	if (p->loss == FIT_GA2M_QUANTILE && !(p->quantile > 0 && p->quantile < 1))
		return "the quantile is not between 0 and 1";
	if (p->bags < 1 || p->bags > 1000)
		return "the number of bags is not between 1 and 1000";
	if (!(p->validation_share >= 0 && p->validation_share <= 0.9))
		return "the share for validation is not between 0 and 0.9";
	if (p->max_bins < 2 || p->max_bins > 65000)
		return "the number of bins is not between 2 and 65000";
	if (p->max_pair_bins < 2 || p->max_pair_bins > 250)
		return "the number of bins for pairs is not between 2 and 250";
	if (!(p->memory_mib >= 0) || !isfinite(p->memory_mib))
		return "the memory for joint counts is below 0";
	if (!isfinite(p->learning_rate) || fabs(p->learning_rate) > 1 ||
	    !isfinite(p->pair_learning_rate) || fabs(p->pair_learning_rate) > 1)
		return "a learning rate is not between -1 and 1";
	if (!isfinite(p->tolerance) || !(p->stop_share >= 0) || !(p->min_leaf >= 0) || !(p->min_leaf_share >= 0) ||
			!(p->rows_per_bin >= 0) || !(p->min_category >= 0))
		return "a tolerance or a least number of rows is not usable";
	if (p->threads < 1)
		return "the number of threads is below 1";
	return NULL;
}

/* ---- what the data must be ---- */

static int check_target(const struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		struct fit_err *err)
{
	for (size_t i = 0; i < d->n_rows; i++) {
		double y = d->y[i];
		bool class = fit_ga2m_is_class(p->loss);

		if (d->weight && (!(d->weight[i] >= 0) || !isfinite(d->weight[i])))
			return fit_fail(err, FIT_EDATA, "row %zu: bad weight '%g' (expected 0 or more)", i + 1,
					d->weight[i]);
		if (d->weight && d->weight[i] <= 0)
			continue;
		if (!isfinite(y))
			return fit_fail(err, FIT_EDATA, "row %zu: bad target '%g' (expected a number)", i + 1, y);
		if (class && !(y >= 0 && y < (double)d->n_classes && floor(y) >= y))
			return fit_fail(err, FIT_EDATA, "row %zu: bad class number '%g'", i + 1, y);
		if (p->loss == FIT_GA2M_GAMMA && !(y > 0))
			return fit_fail(err, FIT_EDATA, "row %zu: bad target '%g' (expected above 0, for gamma loss)",
					i + 1, y);
		if (p->loss == FIT_GA2M_POISSON && !(y >= 0))
			return fit_fail(err, FIT_EDATA, "row %zu: bad target '%g' (expected 0 or more, for poisson "
					"loss)", i + 1, y);
		if ((d->offset && !isfinite(d->offset[i])) || (d->time && isnan(d->time[i])))
			return fit_fail(err, FIT_EDATA, "row %zu: bad offset or time (expected a number)", i + 1);
		for (size_t o = 0; d->known && o < d->n_classes; o++)
			if (!isfinite(d->known[i * d->n_classes + o]))
				return fit_fail(err, FIT_EDATA, "row %zu: a known score that is not finite", i + 1);
	}
	return FIT_OK;
}

static int check_data(const struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		struct fit_err *err)
{
	const char *wrong = fit_ga2m_params_check(p);
	size_t rows = 0;

	if (wrong)
		return fit_fail(err, FIT_EINVAL, "%s", wrong);
	if (p->loss == FIT_GA2M_LOGISTIC && d->n_classes != 2)
		return fit_fail(err, FIT_EDATA, "%zu %s in the target (expected 2 for logistic loss)", d->n_classes,
				fit_plural(d->n_classes, "class", "classes"));
	if (p->loss == FIT_GA2M_SOFTMAX && d->n_classes < 1)
		return fit_fail(err, FIT_EDATA, "no class in the target");
	if (p->validation == FIT_GA2M_GROUPS && !d->group)
		return fit_fail(err, FIT_EINVAL, "validation by groups, but no groups");
	for (size_t k = 0; k < p->n_pair_list; k++)
		if (p->pair_list[k][0] >= p->pair_list[k][1] || p->pair_list[k][1] >= d->n_columns)
			return fit_fail(err, FIT_EINVAL, "a pair does not name two columns in order");
	for (size_t i = 0; i < d->n_rows; i++)
		rows += !d->weight || d->weight[i] > 0;
	if (rows == 0)
		return fit_fail(err, FIT_EDATA, d->n_rows ? "no row with a weight above 0" : "no rows");
	if (d->n_rows > UINT32_MAX / 2)
		return fit_fail(err, FIT_EDATA, "too many rows");
	return check_target(d, p, err);
}

/* ---- parts of a bag ---- */

static int copy_numbers(double **to, const double *from, const size_t *row, size_t n)
{
	*to = malloc((n + 1) * sizeof **to);
	if (!*to)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		(*to)[i] = from ? from[row[i]] : 0;
	return FIT_OK;
}

int ga2m_part_init(struct ga2m_part *p, const struct ga2m_binned *b, const int8_t *sign, int want,
		   size_t n_outputs)
{
	size_t *row = malloc((b->n_rows + 1) * sizeof *row);
	bool repeated = false;
	int rc = row ? FIT_OK : FIT_ENOMEM;

	*p = (struct ga2m_part){ 0 };
	for (size_t i = 0; i < b->n_rows && !rc; i++) {
		if (sign[i] * want <= 0)
			continue;
		repeated = repeated || abs(sign[i]) > 1;
		row[p->n++] = i;
	}
	p->bin = calloc(b->n_features + 1, sizeof *p->bin);
	if (!p->bin)
		rc = FIT_ENOMEM;
	for (size_t f = 0; f < b->n_features && !rc; f++) {
		p->bin[f] = malloc(p->n * sizeof **p->bin + 1);
		if (!p->bin[f])
			rc = FIT_ENOMEM;
		for (size_t i = 0; i < p->n && !rc; i++)
			p->bin[f][i] = b->bin[f][row[i]];
	}
	if (!rc)
		rc = copy_numbers(&p->y, b->y, row, p->n);
	if (!rc)
		rc = copy_numbers(&p->offset, b->offset, row, p->n);
	if (!rc && b->known) {
		p->known = malloc((p->n * n_outputs + 1) * sizeof *p->known);
		rc = p->known ? FIT_OK : FIT_ENOMEM;
		for (size_t i = 0; i < p->n && !rc; i++)
			for (size_t o = 0; o < n_outputs; o++)
				p->known[o * p->n + i] = b->known[row[i] * b->n_known + o];
	}
	if (!rc && (b->weight || repeated)) {
		rc = copy_numbers(&p->w, b->weight, row, p->n);
		for (size_t i = 0; i < p->n && !rc; i++)
			p->w[i] = (b->weight ? p->w[i] : 1) * abs(sign[row[i]]);
	}
	if (!rc && repeated) {
		p->times = malloc(p->n * sizeof *p->times + 1);
		rc = p->times ? FIT_OK : FIT_ENOMEM;
		for (size_t i = 0; i < p->n && !rc; i++)
			p->times[i] = (uint16_t)abs(sign[row[i]]);
	}
	p->score = rc ? NULL : calloc(p->n * n_outputs + 1, sizeof *p->score);
	free(row);
	return rc || !p->score ? FIT_ENOMEM : FIT_OK;
}

void ga2m_part_release(struct ga2m_part *p, size_t n_features)
{
	for (size_t f = 0; p->bin && f < n_features; f++)
		free(p->bin[f]);
	free(p->bin);
	free(p->y);
	free(p->offset);
	free(p->known);
	free(p->w);
	free(p->times);
	free(p->score);
	*p = (struct ga2m_part){ 0 };
}

/* ---- who trains, who validates ---- */

struct plan {
	const struct ga2m_binned *b;
	const struct fit_ga2m_params *p;
	enum fit_ga2m_validation validation;
	uint32_t *by_time;	/* rows in order of time; NULL: as they are */
	size_t n_groups;
};

static void shuffle32(gsl_rng *rng, uint32_t *a, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = gsl_rng_uniform_int(rng, (unsigned long)i);
		uint32_t t = a[i - 1];

		a[i - 1] = a[j];
		a[j] = t;
	}
}

/* The share of every class, or of all rows. */
static void draw_random(const struct plan *plan, gsl_rng *rng, uint32_t *row, int8_t *sign)
{
	const struct ga2m_binned *b = plan->b;
	bool classes = fit_ga2m_is_class(plan->p->loss);
	double class = 0, next = 0;

	while (next >= 0) {
		size_t n = 0, take;

		next = -1;
		for (size_t i = 0; i < b->n_rows; i++) {
			if (!classes || (b->y[i] >= class && b->y[i] <= class))
				row[n++] = (uint32_t)i;
			else if (b->y[i] > class && (next < 0 || b->y[i] < next))
				next = b->y[i];
		}
		shuffle32(rng, row, n);
		take = (size_t)((double)n * plan->p->validation_share);
		for (size_t i = 0; i < take; i++)
			sign[row[i]] = -1;
		class = next;
	}
}

static void draw_groups(const struct plan *plan, gsl_rng *rng, uint32_t *group, int8_t *sign)
{
	const struct ga2m_binned *b = plan->b;
	size_t want = (size_t)((double)b->n_rows * plan->p->validation_share), have = 0;

	for (size_t g = 0; g < plan->n_groups; g++)
		group[g] = (uint32_t)g;
	shuffle32(rng, group, plan->n_groups);
	for (size_t g = 0; g + 1 < plan->n_groups && have < want; g++) {
		for (size_t i = 0; i < b->n_rows; i++) {
			if ((uint32_t)b->group[i] == group[g]) {
				sign[i] = -1;
				have++;
			}
		}
	}
}

/* sign: 1 trains, -1 validates. */
static int draw_bag(const struct plan *plan, size_t bag, int8_t *sign)
{
	const struct ga2m_binned *b = plan->b;
	size_t n = b->n_rows, n_val = (size_t)((double)n * plan->p->validation_share), start;
	char purpose[64];
	gsl_rng *rng;
	uint32_t *room;

	if (b->bags) {
		memcpy(sign, b->bags + bag * n, n);
		return FIT_OK;
	}
	memset(sign, 1, n);
	if (n_val == 0 || n_val >= n)
		return FIT_OK;
	if (plan->validation == FIT_GA2M_BLOCKS || plan->validation == FIT_GA2M_LAST) {
		start = n - n_val;
		if (plan->validation == FIT_GA2M_BLOCKS && plan->p->bags > 1)
			start = start * bag / (plan->p->bags - 1);
		for (size_t i = start; i < start + n_val; i++)
			sign[plan->by_time ? plan->by_time[i] : i] = -1;
		return FIT_OK;
	}
	snprintf(purpose, sizeof purpose, "ga2m/bag/%zu", bag);
	rng = fit_rng_new(plan->p->seed, purpose);
	room = malloc((n + 1) * sizeof *room);
	if (rng && room) {
		if (plan->validation == FIT_GA2M_GROUPS)
			draw_groups(plan, rng, room, sign);
		else
			draw_random(plan, rng, room, sign);
	}
	free(room);
	gsl_rng_free(rng);
	return rng && room ? FIT_OK : FIT_ENOMEM;
}

struct timed {
	double time;
	uint32_t row;
};

static int by_time(const void *pa, const void *pb)
{
	const struct timed *a = pa, *b = pb;

	return a->time < b->time ? -1 : a->time > b->time ? 1 : (a->row > b->row) - (a->row < b->row);
}

static int plan_init(struct plan *plan, const struct ga2m_binned *b, const struct fit_ga2m_params *p)
{
	struct timed *t;

	*plan = (struct plan){ .b = b, .p = p, .validation = p->validation };
	if (p->validation == FIT_GA2M_AUTO)
		plan->validation = b->time ? FIT_GA2M_BLOCKS : FIT_GA2M_RANDOM;
	for (size_t i = 0; b->group && i < b->n_rows; i++)
		if ((size_t)b->group[i] >= plan->n_groups)
			plan->n_groups = (size_t)b->group[i] + 1;
	if (plan->n_groups > b->n_rows)
		return FIT_EINVAL;
	if (!b->time)
		return FIT_OK;
	t = malloc((b->n_rows + 1) * sizeof *t);
	plan->by_time = malloc((b->n_rows + 1) * sizeof *plan->by_time);
	for (size_t i = 0; t && i < b->n_rows; i++)
		t[i] = (struct timed){ b->time[i], (uint32_t)i };
	if (t)
		qsort(t, b->n_rows, sizeof *t, by_time);
	for (size_t i = 0; t && plan->by_time && i < b->n_rows; i++)
		plan->by_time[i] = t[i].row;
	free(t);
	return t && plan->by_time ? FIT_OK : FIT_ENOMEM;
}

/* ---- the bags ---- */

struct training {
	struct plan plan;
	struct ga2m_bag *bags;
	size_t n_outputs, n_pairs;
	bool detect;
	size_t (*pairs)[2];
	int stage;
	atomic_size_t next, done;
};

static int bag_parts(struct training *t, size_t b)
{
	struct ga2m_bag *bag = &t->bags[b];
	int8_t *sign = malloc(t->plan.b->n_rows + 1);
	double rows = 0;
	int rc = sign ? draw_bag(&t->plan, b, sign) : FIT_ENOMEM;

	if (!rc)
		rc = ga2m_part_init(&bag->train, t->plan.b, sign, 1, t->n_outputs);
	if (!rc)
		rc = ga2m_part_init(&bag->val, t->plan.b, sign, -1, t->n_outputs);
	free(sign);
	if (!rc && bag->train.n == 0)
		rc = FIT_EDATA;
	for (size_t i = 0; i < bag->train.n && !rc; i++)
		rows += bag->train.times ? bag->train.times[i] : 1;
	bag->min_leaf = fmax(t->plan.p->min_leaf, t->plan.p->min_leaf_share * rows);
	return rc;
}

static void bag_part_scores(struct ga2m_part *p, const struct ga2m_bag *bag)
{
	for (size_t o = 0; o < bag->n_outputs; o++)
		for (size_t i = 0; i < p->n; i++)
			p->score[o * p->n + i] = ga2m_known(p, o, i) + bag->intercept[o];
	for (size_t f = 0; f < bag->data->n_features && bag->main[f]; f++)
		ga2m_add_to_scores(p, p->bin[f], bag->main[f], bag->n_outputs);
}

static int bag_mains(struct ga2m_bag *bag)
{
	double *scratch = malloc((2 * bag->train.n * bag->n_outputs + 2) * sizeof *scratch);
	int rc = scratch ? FIT_OK : FIT_ENOMEM;

	if (!rc) {
		ga2m_start(bag->params, bag->n_outputs, &bag->train, bag->intercept, scratch);
		bag_part_scores(&bag->val, bag);
	}
	free(scratch);
	return rc ? rc : ga2m_boost_mains(bag);
}

static void run_bag(struct training *t, size_t b, struct ga2m_gram *gram)
{
	struct ga2m_bag *bag = &t->bags[b];
	char purpose[64];

	snprintf(purpose, sizeof purpose, "ga2m/%s/%zu", t->stage == 0 ? "mains" : "pairs", b);
	bag->rng = fit_rng_new(t->plan.p->seed, purpose);
	bag->gram = gram;
	bag->rc = bag->rng ? bag_parts(t, b) : FIT_ENOMEM;
	if (t->stage == 0) {
		if (!bag->rc)
			bag->rc = bag_mains(bag);
		if (!bag->rc && t->detect)
			bag->rc = ga2m_detect_pairs(bag);
	} else if (!bag->rc) {
		bag->pair = (const size_t(*)[2])t->pairs;
		bag->n_pairs = t->n_pairs;
		bag_part_scores(&bag->train, bag);
		bag_part_scores(&bag->val, bag);
		bag->rc = ga2m_boost_pairs(bag);
	}
	ga2m_part_release(&bag->train, bag->data->n_features);
	ga2m_part_release(&bag->val, bag->data->n_features);
	gsl_rng_free(bag->rng);
	bag->rng = NULL;
}

static void *worker(void *arg)
{
	struct training *t = arg;
	struct ga2m_gram gram = { 0 };
	size_t b;

	while ((b = atomic_fetch_add(&t->next, 1)) < t->plan.p->bags) {
		run_bag(t, b, &gram);
		fit_meter_tell(t->stage ? "pairs" : "main effects", atomic_fetch_add(&t->done, 1) + 1, t->plan.p->bags,
			       "bags");
	}
	ga2m_gram_release(&gram);
	return NULL;
}

/* All bags of one stage. What a bag gives does not depend on who runs it, nor on when. */
static int run_stage(struct training *t, int stage, struct fit_err *err)
{
	pthread_t thread[64];
	int n = 0, want = t->plan.p->threads - 1;

	t->stage = stage;
	atomic_store(&t->next, 0);
	atomic_store(&t->done, 0);
	want = want > 63 ? 63 : want;
	while (n < want && (size_t)n + 1 < t->plan.p->bags && pthread_create(&thread[n], NULL, worker, t) == 0)
		n++;
	worker(t);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	for (size_t b = 0; b < t->plan.p->bags; b++) {
		int rc = t->bags[b].rc;

		if (rc == FIT_ENOMEM)
			return fit_fail_nomem(err);
		if (rc == FIT_EDATA)
			return fit_fail(err, rc, "bag %zu has no rows to train on", b + 1);
		if (rc)
			return fit_fail(err, rc, "the validation loss of bag %zu is not finite (%s; targets too large, or "
					"a learning rate that diverges)", b + 1, stage ? "pairs" : "main effects");
	}
	return FIT_OK;
}

/* ---- which pairs ---- */

struct ranked {
	double rank, strength;
	size_t at, f, g;
};

static int by_strength(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return a->strength > b->strength ? -1 : a->strength < b->strength ? 1 :
			(a->at > b->at) - (a->at < b->at);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return a->rank < b->rank ? -1 : a->rank > b->rank ? 1 : (a->at > b->at) - (a->at < b->at);
}

static int by_features(const void *pa, const void *pb)
{
	const size_t *a = pa, *b = pb;

	return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* The pairs with the least mean rank over bags; pairs of no strength in any bag are none. */
static int choose_pairs(struct training *t)
{
	size_t k = t->plan.b->n_features, n = k * (k - 1) / 2, kept = 0;
	struct ranked *r = calloc(n + 1, sizeof *r), *sorted = calloc(n + 1, sizeof *sorted);
	int rc = r && sorted ? FIT_OK : FIT_ENOMEM;

	for (size_t f = 0, at = 0; f < k && !rc; f++)
		for (size_t g = f + 1; g < k; g++, at++)
			r[at] = (struct ranked){ .at = at, .f = f, .g = g };
	for (size_t b = 0; b < t->plan.p->bags && !rc; b++) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = (struct ranked){ .at = i, .strength = t->bags[b].strength[i] };
		qsort(sorted, n, sizeof *sorted, by_strength);
		for (size_t i = 0; i < n; i++) {
			r[sorted[i].at].rank += (double)i;
			r[sorted[i].at].strength += sorted[i].strength;
		}
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (r[i].strength > 0)
			r[kept++] = r[i];
	if (!rc)
		qsort(r, kept, sizeof *r, by_rank);
	t->n_pairs = kept < t->plan.p->pairs ? kept : t->plan.p->pairs;
	t->pairs = calloc(t->n_pairs + 1, sizeof *t->pairs);
	for (size_t i = 0; t->pairs && i < t->n_pairs && !rc; i++) {
		t->pairs[i][0] = r[i].f;
		t->pairs[i][1] = r[i].g;
	}
	free(r);
	free(sorted);
	return rc || !t->pairs ? FIT_ENOMEM : FIT_OK;
}

static int given_pairs(struct training *t, struct fit_err *err)
{
	const struct fit_ga2m_params *p = t->plan.p;
	const struct ga2m_binned *b = t->plan.b;

	t->pairs = calloc(p->n_pair_list + 1, sizeof *t->pairs);
	if (!t->pairs)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < p->n_pair_list; i++) {
		size_t f = p->pair_list[i][0], g = p->pair_list[i][1];
		bool twice = false;

		if (p->shapes && (p->shapes[f] != FIT_GA2M_FREE || p->shapes[g] != FIT_GA2M_FREE))
			return fit_fail(err, FIT_EINVAL, "a pair with a feature whose shape is given");
		if (b->n_pair_bins[f] * b->n_pair_bins[g] > UINT16_MAX)
			return fit_fail(err, FIT_EDATA, "a pair with %zu cells (expected at most %d)",
					b->n_pair_bins[f] * b->n_pair_bins[g], UINT16_MAX);
		for (size_t j = 0; j < t->n_pairs; j++)
			twice = twice || (t->pairs[j][0] == f && t->pairs[j][1] == g);
		if (twice)
			continue;
		t->pairs[t->n_pairs][0] = f;
		t->pairs[t->n_pairs++][1] = g;
	}
	return FIT_OK;
}

static int copy_classes(struct fit_ga2m *m, const struct fit_ga2m_data *d)
{
	if (!fit_ga2m_is_class(m->loss))
		return FIT_OK;
	m->classes = calloc(d->n_classes + 1, sizeof *m->classes);
	for (size_t i = 0; m->classes && i < d->n_classes; i++) {
		m->classes[i] = fit_strdup(fit_text_of(d->classes ? d->classes[i] : ""));
		if (!m->classes[i])
			return FIT_ENOMEM;
		m->n_classes = i + 1;
	}
	return m->classes ? FIT_OK : FIT_ENOMEM;
}

/* ---- all of it ---- */

/* Indicators for which joint counts fit into the memory that is given. */
static size_t max_indicators(const struct fit_ga2m_data *d, const struct fit_ga2m_params *p)
{
	struct ga2m_binned like = { .n_rows = d->n_rows, .weight = d->weight,
				    .bags = d->bags ? (int8_t *)1 : NULL };
	bool small = ga2m_small_counts(&like, p);

	double most = sqrt(p->memory_mib * MIB / (small ? 2 : 4)) - 8; /* rows are rounded up */

	return p->engine == FIT_GA2M_ENGINE_SAMPLES || !(most > 1) ? 0 : (size_t)most;
}

/* Weights by a power of two, so that their scale does not matter, to the bit. */
static int scale_weights(double *w, size_t n)
{
	double max = 0;
	int e = 0;

	for (size_t i = 0; i < n; i++)
		max = w[i] > max ? w[i] : max;
	frexp(max, &e);
	for (size_t i = 0; i < n; i++)
		w[i] = ldexp(w[i], -e);
	return e;
}

/* And back, in the model. */
static int restore_weights(struct fit_ga2m *m, double unit, int e, struct fit_err *err)
{
	for (size_t t = 0; t < m->n_terms; t++) {
		for (size_t c = 0; c < fit_ga2m_n_cells(&m->terms[t]); c++) {
			m->terms[t].weight[c] = ldexp(unit * m->terms[t].weight[c], e);
			if (!isfinite(m->terms[t].weight[c]))
				return fit_fail(err, FIT_EDATA, "weights too large: their sum is not finite");
		}
	}
	return FIT_OK;
}

static int train_bags(struct fit_ga2m *m, struct training *t, const struct fit_ga2m_params *p,
		      struct fit_err *err)
{
	size_t k = t->plan.b->n_features;
	int rc = FIT_OK;

	t->bags = calloc(p->bags, sizeof *t->bags);
	if (!t->bags)
		return fit_fail_nomem(err);
	for (size_t b = 0; b < p->bags; b++) {
		t->bags[b] = (struct ga2m_bag){ .data = t->plan.b, .params = p, .features = m->features,
				.n_outputs = t->n_outputs,
						.best_loss = (double)NAN };
		t->bags[b].intercept = calloc(t->n_outputs, sizeof *t->bags[b].intercept);
		t->bags[b].main = calloc(k + 1, sizeof *t->bags[b].main);
		if (!t->bags[b].intercept || !t->bags[b].main)
			return fit_fail_nomem(err);
	}
	t->detect = p->pairs > 0 && p->n_pair_list == 0 && k > 1;
	rc = run_stage(t, 0, err);
	if (!rc && t->detect && choose_pairs(t))
		rc = fit_fail_nomem(err);
	if (!rc && p->n_pair_list > 0)
		rc = given_pairs(t, err);
	if (!rc && t->n_pairs > 0) {
		qsort(t->pairs, t->n_pairs, sizeof *t->pairs, by_features);
		rc = run_stage(t, 1, err);
	}
	if (!rc && ga2m_assemble(m, t->plan.b, p, t->bags, (const size_t(*)[2])t->pairs, t->n_pairs))
		rc = fit_fail_nomem(err);
	return rc;
}

static void make_report(struct fit_ga2m_report *r, const struct training *t,
		const struct fit_ga2m_params *p)
{
	r->bins_engine = true;
	r->mean_steps = r->mean_pair_steps = r->validation_loss = 0;
	r->capped_bags = 0;
	for (size_t b = 0; b < p->bags; b++) {
		r->mean_steps += (double)t->bags[b].steps / (double)p->bags;
		r->mean_pair_steps += (double)t->bags[b].pair_steps / (double)p->bags;
		r->validation_loss += t->bags[b].best_loss / (double)p->bags;
		r->capped_bags += t->bags[b].capped;
		r->bins_engine = r->bins_engine && t->bags[b].bins_engine;
	}
}

static void training_release(struct training *t, size_t bags, size_t k)
{
	for (size_t b = 0; t->bags && b < bags; b++) {
		struct ga2m_bag *x = &t->bags[b];

		for (size_t f = 0; x->main && f < k; f++)
			free(x->main[f]);
		for (size_t i = 0; x->table && i < t->n_pairs; i++)
			free(x->table[i]);
		free(x->main);
		free(x->table);
		free(x->intercept);
		free(x->strength);
	}
	free(t->bags);
	free(t->pairs);
	free(t->plan.by_time);
}

int fit_ga2m_train(struct fit_ga2m *m, struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		   struct fit_ga2m_report *report, struct fit_err *err)
{
	struct training t = { .n_outputs = p->loss == FIT_GA2M_SOFTMAX ? d->n_classes : 1 };
	struct fit_ga2m new = { .loss = p->loss, .quantile = p->quantile, .n_outputs = t.n_outputs };
	struct ga2m_binned b = { 0 };
	struct fit_ga2m_report ignored = { 0 };
	size_t n_all = d->n_rows, used = p->max_bins;
	const char *wrong;
	int rc = check_data(d, p, err), scale = 0;

	if (rc)
		return rc;
	if (d->weight)
		scale = scale_weights(d->weight, d->n_rows);
	report = report ? report : &ignored;
	*report = (struct fit_ga2m_report){ 0 };
	new.intercept = calloc(new.n_outputs, sizeof *new.intercept);
	new.target = fit_strdup(fit_text_of("y"));
	rc = !new.intercept || !new.target || copy_classes(&new, d) ? fit_fail_nomem(err) :
	     ga2m_bin(&b, &new, d, p, max_indicators(d, p), &used, err);
	new.n_rows = (int64_t)b.n_rows;
	if (!rc) {
		rc = plan_init(&t.plan, &b, p);
		if (rc)
			rc = rc == FIT_ENOMEM ? fit_fail_nomem(err) : fit_fail(err, rc, "bad group numbers");
	}
	if (!rc)
		rc = train_bags(&new, &t, p, err);
	if (!rc && (wrong = fit_ga2m_check(&new)))
		rc = fit_fail(err, FIT_ENOCONV, "training went out of bounds (%s)", wrong);
	if (!rc)
		rc = restore_weights(&new, b.weight ? 1 : b.unit, scale, err);
	if (!rc && ga2m_note_training(&new, p))
		rc = fit_fail_nomem(err);
	if (!rc) {
		make_report(report, &t, p);
		report->max_bins = used;
		report->n_zero_weight = n_all - b.n_rows;
		*m = new;
	} else {
		fit_ga2m_release(&new);
	}
	training_release(&t, p->bags, b.n_features);
	ga2m_binned_release(&b);
	return rc;
}
