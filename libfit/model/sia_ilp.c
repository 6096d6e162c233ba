/* SPDX-License-Identifier: MIT */
#include "libfit/model/sia_ilp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

/* An option as the solver sees it: cost, GPUs and change in one integer, the first weighs most. */
struct item {
	int64_t w;
	uint64_t step;		/* in the mixed radix of GPUs used */
	int32_t config, type, gpus;
	int64_t reduced;	/* w at prices, above the best item of the job */
};

/* States of a layer: GPUs used by jobs k and later, and the best sum of w of them. */
struct layer {
	uint64_t *key;
	int64_t *w;
	size_t n, cap;
};

struct solver {
	const struct fit_sia_job *jobs;
	size_t n_jobs;
	int n_types;
	int64_t cap[FIT_SIA_TYPES_MAX];		/* without what pinned jobs hold */
	uint64_t radix[FIT_SIA_TYPES_MAX];
	int64_t per_gpu, per_cost;		/* weights in w; of a change: 1 */
	struct item *items;			/* the first of each job is nothing (pinned: the only one) */
	size_t *at;				/* of each job; n_jobs + 1 */
	int64_t price[FIT_SIA_TYPES_MAX];
	int64_t bound;				/* sum of best items at prices, less what all GPUs cost */
	struct layer *layers;			/* n_jobs + 1 */
	int64_t *reduced;			/* scratch: of each state of the layer being built */
	uint32_t *slots;			/* hash table of the layer being built: state + 1 */
	size_t n_slots, cap_reduced, states_max;
};

static void release(struct solver *s)
{
	for (size_t k = 0; s->layers && k <= s->n_jobs; k++) {
		free(s->layers[k].key);
		free(s->layers[k].w);
	}
	free(s->layers);
	free(s->items);
	free(s->at);
	free(s->reduced);
	free(s->slots);
}

/* ---- the problem ---- */

static const char *wrong(const struct fit_sia_job *j, int n_types)
{
	bool found = false;

	if (j->cost < -FIT_SIA_COST_MAX || j->cost > FIT_SIA_COST_MAX)
		return "a cost is out of range";
	for (size_t i = 0; i < j->n; i++) {
		const struct fit_sia_option *o = &j->options[i];

		if (o->type < 0 || o->type >= n_types || o->gpus < 1 || o->config < 0)
			return "a type, number of GPUs or config is out of range";
		if (o->cost < -FIT_SIA_COST_MAX || o->cost > FIT_SIA_COST_MAX)
			return "a cost is out of range";
		found = found || o->config == j->current;
	}
	return j->pinned && !found ? "a pinned job has no current option" : NULL;
}

/* Is the item worth no consideration beside another one of its job? Never on equal w: then ties decide. */
static bool dominated(const struct item *a, const struct item *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].w < a->w &&
		    (items[i].type < 0 || (items[i].type == a->type && items[i].gpus <= a->gpus)))
			return true;
	return false;
}

static int by_config(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return (a->config > b->config) - (a->config < b->config);
}

/* The items of one job at s->items + at; returns how many. */
static size_t add_items(struct solver *s, const struct fit_sia_job *j, size_t at)
{
	struct item *items = s->items + at;
	size_t n = 0, kept = 0;

	if (!j->pinned)
		items[n++] = (struct item){ .w = j->cost * s->per_cost + (j->current >= 0), .config = FIT_SIA_NOTHING,
					    .type = -1 };
	for (size_t i = 0; i < j->n; i++) {
		const struct fit_sia_option *o = &j->options[i];

		if (j->pinned ? o->config != j->current : o->gpus > s->cap[o->type])
			continue;
		items[n++] = (struct item){ .w = o->cost * s->per_cost + o->gpus * s->per_gpu +
						 (j->current >= 0 && o->config != j->current),
					    .step = j->pinned ? 0 : s->radix[o->type] * (uint64_t)o->gpus,
					    .config = o->config, .type = o->type, .gpus = o->gpus };
	}
	for (size_t i = 0; i < n; i++)
		items[i].reduced = j->pinned ? 0 : dominated(&items[i], items, n);
	for (size_t i = 0; i < n; i++)
		if (!items[i].reduced)
			items[kept++] = items[i];
	if (kept)
		qsort(items, kept, sizeof *items, by_config);
	return kept;
}

static int set_up(struct solver *s, const int64_t *capacity, struct fit_err *err)
{
	size_t n = s->n_jobs, room = n;
	int64_t total = 0;
	uint64_t radix = 1;

	for (int t = 0; t < s->n_types; t++) {
		if (capacity[t] < 0 || capacity[t] > 10000000)
			return fit_fail(err, FIT_EINVAL, "a capacity is out of range");
		s->cap[t] = capacity[t];
		total += capacity[t];
	}
	for (size_t j = 0; j < n; j++) {
		const struct fit_sia_job *job = &s->jobs[j];
		const char *what = wrong(job, s->n_types);

		if (what)
			return fit_fail(err, FIT_EINVAL, "job %zu of an assignment: %s", j, what);
		room += job->n;
		for (size_t i = 0; job->pinned && i < job->n; i++)
			if (job->options[i].config == job->current &&
			    (s->cap[job->options[i].type] -= job->options[i].gpus) < 0)
				return fit_fail(err, FIT_EINVAL, "pinned jobs need more GPUs than there are");
	}
	for (int t = 0; t < s->n_types; t++) {
		s->radix[t] = radix;
		if (radix > UINT64_MAX / 4 / (uint64_t)(s->cap[t] + 1))
			return fit_fail(err, FIT_EINVAL, "too many GPUs for an exact assignment");
		radix *= (uint64_t)(s->cap[t] + 1);
	}
	s->per_gpu = (int64_t)n + 1;
	s->per_cost = s->per_gpu * (total + 1);
	if ((double)s->per_cost * (double)FIT_SIA_COST_MAX * (double)(n + 1) > 4e18)
		return fit_fail(err, FIT_EINVAL, "too many jobs and GPUs for an exact assignment");
	s->items = calloc(room + 1, sizeof *s->items);
	s->at = calloc(n + 1, sizeof *s->at);
	s->layers = calloc(n + 1, sizeof *s->layers);
	if (!s->items || !s->at || !s->layers)
		return fit_fail_nomem(err);
	for (size_t j = 0; j < n; j++)
		s->at[j + 1] = s->at[j] + add_items(s, &s->jobs[j], s->at[j]);
	return FIT_OK;
}

/* ---- prices ---- */

/* The bound at these prices; used: GPUs of the best items, for the next step. Each job's best item is the
 * cheapest at prices. */
static int64_t value_at(const struct solver *s, const int64_t *price, int64_t *used)
{
	int64_t sum = 0;

	for (int t = 0; t < s->n_types; t++) {
		sum -= price[t] * s->cap[t];
		used[t] = 0;
	}
	for (size_t j = 0; j < s->n_jobs; j++) {
		const struct item *best = NULL;
		int64_t least = 0;

		for (size_t i = s->at[j]; i < s->at[j + 1]; i++) {
			const struct item *it = &s->items[i];
			int64_t w = it->w + (it->step ? price[it->type] * it->gpus : 0);

			if (!best || w < least) {
				best = it;
				least = w;
			}
		}
		sum += least;
		if (best && best->step)
			used[best->type] += best->gpus;
	}
	return sum;
}

/* Ascend by subgradients; whatever the end, each point gives a valid bound, and the best is kept. */
static void set_prices(struct solver *s)
{
	int64_t price[FIT_SIA_TYPES_MAX] = { 0 }, used[FIT_SIA_TYPES_MAX];
	double step = 0, length = 0;
	int since = 0;

	s->bound = value_at(s, price, used);
	memcpy(s->price, price, sizeof price);
	for (int t = 0; t < s->n_types; t++)
		if (used[t] > s->cap[t])
			step = 30 * (double)s->per_cost;
	for (int k = 0; k < 400 && step > 0.05 * (double)s->per_cost / (double)(s->per_gpu); k++) {
		int64_t value;

		length = 0;
		for (int t = 0; t < s->n_types; t++) {
			double d = (double)(used[t] - s->cap[t]);

			if (!(d < 0 && price[t] == 0))
				length += d * d;
		}
		if (!(length > 0))
			return;		/* the best items fit, and all that costs is used up: nothing is better */
		for (int t = 0; t < s->n_types; t++) {
			double p = (double)price[t] + step * (double)(used[t] - s->cap[t]) / sqrt(length);

			price[t] = p > 0 ? (int64_t)p : 0;
		}
		value = value_at(s, price, used);
		if (value > s->bound) {
			s->bound = value;
			memcpy(s->price, price, sizeof price);
			since = 0;
		} else if (++since >= 5) {
			step /= 2;
			since = 0;
			memcpy(price, s->price, sizeof price);
			(void)value_at(s, price, used);
		}
	}
}

static void reduce(struct solver *s)
{
	for (size_t j = 0; j < s->n_jobs; j++) {
		int64_t least = INT64_MAX;

		for (size_t i = s->at[j]; i < s->at[j + 1]; i++) {
			struct item *it = &s->items[i];

			it->reduced = it->w + (it->step ? s->price[it->type] * it->gpus : 0);
			least = it->reduced < least ? it->reduced : least;
		}
		for (size_t i = s->at[j]; i < s->at[j + 1]; i++)
			s->items[i].reduced -= least;
	}
}

/* ---- the dynamic program ---- */

static bool fits(const struct solver *s, uint64_t key, const struct item *it)
{
	uint64_t size, used;

	if (!it->step)
		return true;
	size = (uint64_t)s->cap[it->type] + 1;
	used = key / s->radix[it->type] % size;
	return used + (uint64_t)it->gpus < size;
}

static size_t slot_of(const struct solver *s, const struct layer *l, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (s->n_slots - 1);

	while (s->slots[i] && l->key[s->slots[i] - 1] != key)
		i = (i + 1) & (s->n_slots - 1);
	return i;
}

static int more_slots(struct solver *s, const struct layer *l)
{
	size_t n = s->n_slots ? 2 * s->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return FIT_ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	for (size_t i = 0; i < l->n; i++)
		slots[slot_of(s, l, l->key[i])] = (uint32_t)i + 1;
	return FIT_OK;
}

static int add_state(struct solver *s, struct layer *l, uint64_t key, int64_t w, int64_t reduced)
{
	size_t at, cap = l->cap, cap_key = l->cap;

	if (2 * (l->n + 1) > s->n_slots && more_slots(s, l))
		return FIT_ENOMEM;
	at = slot_of(s, l, key);
	if (s->slots[at]) {
		uint32_t i = s->slots[at] - 1;

		if (w < l->w[i]) {
			l->w[i] = w;
			s->reduced[i] = reduced;
		}
		return FIT_OK;
	}
	if (l->n >= UINT32_MAX - 1 || fit_grow(&l->w, &cap, l->n + 1, sizeof *l->w) ||
	    fit_grow(&l->key, &cap_key, l->n + 1, sizeof *l->key) ||
	    fit_grow(&s->reduced, &s->cap_reduced, l->n + 1, sizeof *s->reduced))
		return FIT_ENOMEM;
	l->cap = cap;
	l->key[l->n] = key;
	l->w[l->n] = w;
	s->reduced[l->n++] = reduced;
	s->slots[at] = (uint32_t)l->n;
	return FIT_OK;
}

/* Layer k from layer k + 1, whose reduced sums are before. */
static int build_layer(struct solver *s, size_t k, int64_t gap, const int64_t *before)
{
	const struct layer *from = &s->layers[k + 1];
	struct layer *to = &s->layers[k];

	to->n = 0;
	if (s->n_slots)
		memset(s->slots, 0, s->n_slots * sizeof *s->slots);
	for (size_t i = 0; i < from->n; i++) {
		for (size_t c = s->at[k]; c < s->at[k + 1]; c++) {
			const struct item *it = &s->items[c];

			if (it->reduced > gap - before[i] || !fits(s, from->key[i], it))
				continue;
			if (add_state(s, to, from->key[i] + it->step, from->w[i] + it->w, before[i] + it->reduced))
				return FIT_ENOMEM;
			if (to->n > s->states_max)
				return FIT_END;
		}
	}
	return FIT_OK;
}

/* *least: the least sum of w within the gap; *found: there is one. */
static int sweep(struct solver *s, int64_t gap, int64_t *least, bool *found, size_t *states)
{
	struct layer *last = &s->layers[s->n_jobs];
	int64_t *before = NULL;
	size_t cap_before = 0;
	int rc = FIT_OK;

	*states = 0;
	*found = false;
	last->n = 0;
	if (s->n_slots)
		memset(s->slots, 0, s->n_slots * sizeof *s->slots);
	if (add_state(s, last, 0, 0, 0))
		return FIT_ENOMEM;
	for (size_t k = s->n_jobs; k-- > 0 && !rc;) {
		size_t n = s->layers[k + 1].n;

		rc = fit_grow(&before, &cap_before, n + 1, sizeof *before);
		if (rc)
			break;
		if (n)
			memcpy(before, s->reduced, n * sizeof *before);
		rc = build_layer(s, k, gap, before);
		*states += s->layers[k].n;
		if (!rc && *states > s->states_max)
			rc = FIT_END;	/* too large for this method */
	}
	for (size_t i = 0; !rc && i < s->layers[0].n; i++) {
		if (!*found || s->layers[0].w[i] < *least)
			*least = s->layers[0].w[i];
		*found = true;
	}
	free(before);
	return rc;
}

/* ---- the answer ---- */

static int by_key(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The state of a layer with this key; its keys are sorted, w beside them. */
static bool find_state(const struct layer *l, uint64_t key, int64_t w)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->key[2 * mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < l->n && l->key[2 * lo] == key && (int64_t)l->key[2 * lo + 1] == w;
}

/* Sort a layer by key; key then holds pairs of key and w. */
static int sort_layer(struct layer *l)
{
	uint64_t *pairs = malloc((2 * l->n + 1) * sizeof *pairs);

	if (!pairs)
		return FIT_ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		pairs[2 * i] = l->key[i];
		pairs[2 * i + 1] = (uint64_t)l->w[i];
	}
	if (l->n)
		qsort(pairs, l->n, 2 * sizeof *pairs, by_key);
	free(l->key);
	l->key = pairs;
	return FIT_OK;
}

/* From the first job on: the smallest config that some best solution has, over all states that such a
 * solution may still be in. */
static int trace(struct solver *s, int64_t least, int32_t *choice)
{
	uint64_t *open = NULL, *next = NULL;
	size_t n_open = 0, n_next, cap_open = 0, cap_next = 0;
	int64_t left = least;
	int rc = FIT_OK;

	for (size_t i = 0; i < s->layers[0].n && !rc; i++) {
		if (s->layers[0].w[i] != least)
			continue;
		rc = fit_grow(&open, &cap_open, n_open + 1, sizeof *open);
		if (!rc)
			open[n_open++] = s->layers[0].key[i];
	}
	for (size_t k = 0; k < s->n_jobs && !rc; k++) {
		rc = sort_layer(&s->layers[k + 1]);
		n_next = 0;
		for (size_t c = s->at[k]; c < s->at[k + 1] && !n_next && !rc; c++) {
			const struct item *it = &s->items[c];

			for (size_t i = 0; i < n_open && !rc; i++) {
				if (it->step && open[i] / s->radix[it->type] % (uint64_t)(s->cap[it->type] + 1) <
						(uint64_t)it->gpus)
					continue;
				if (!find_state(&s->layers[k + 1], open[i] - it->step, left - it->w))
					continue;
				rc = fit_grow(&next, &cap_next, n_next + 1, sizeof *next);
				if (!rc)
					next[n_next++] = open[i] - it->step;
			}
			if (n_next) {
				choice[k] = it->config;
				left -= it->w;
			}
		}
		if (!rc) {
			uint64_t *swap = open;
			size_t swap_cap = cap_open;

			open = next;
			cap_open = cap_next;
			n_open = n_next;
			next = swap;
			cap_next = swap_cap;
		}
	}
	free(open);
	free(next);
	return rc;
}

static void count(const struct solver *s, const int32_t *choice, struct fit_sia_answer *a)
{
	for (size_t j = 0; j < s->n_jobs; j++) {
		const struct fit_sia_job *job = &s->jobs[j];

		a->changed += job->current >= 0 && choice[j] != job->current;
		if (choice[j] == FIT_SIA_NOTHING)
			a->cost += job->cost;
		for (size_t i = 0; i < job->n; i++) {
			if (job->options[i].config == choice[j]) {
				a->cost += job->options[i].cost;
				a->gpus += job->options[i].gpus;
				break;
			}
		}
	}
}

int fit_sia_solve(const struct fit_sia_job *jobs, size_t n_jobs, const int64_t *capacity, int n_types,
		  int32_t *choice, struct fit_sia_answer *answer, struct fit_err *err)
{
	struct solver s = { .jobs = jobs, .n_jobs = n_jobs, .n_types = n_types, .states_max = FIT_SIA_STATES_MAX };
	int64_t gap, least = 0;
	bool found = false;
	int rc;

	*answer = (struct fit_sia_answer){ 0 };
	if (n_types < 1 || n_types > FIT_SIA_TYPES_MAX || n_jobs > FIT_SIA_JOBS_MAX)
		return fit_fail(err, FIT_EINVAL, "an assignment of %zu jobs to %d types (expected at most %d and %d)",
				n_jobs, n_types, FIT_SIA_JOBS_MAX, FIT_SIA_TYPES_MAX);
	rc = set_up(&s, capacity, err);
	if (!rc) {
		set_prices(&s);
		reduce(&s);
		/* the sum of costs is above bound / per_cost - 1 */
		answer->bound = s.bound / s.per_cost - (s.bound % s.per_cost < 0);
		gap = 0;	/* enough where the best items fit */
		while (!rc && !found) {
			answer->rounds++;
			rc = sweep(&s, gap, &least, &found, &answer->states);
			if (rc == FIT_END)
				break;
			rc = rc ? fit_fail_nomem(err) : FIT_OK;
			/* what lies outside of the gap is at least bound + gap */
			if (!rc && found && least - s.bound > gap) {
				gap = least - s.bound;
				found = false;
			} else if (!rc && !found) {
				gap = !gap ? s.per_cost : gap > INT64_MAX / 4 ? INT64_MAX / 2 : 3 * gap;
			}
		}
		answer->by_glpk = rc == FIT_END;
		if (rc == FIT_END)
			rc = fit_sia_solve_large(jobs, n_jobs, capacity, n_types, choice, err);
		else if (!rc && trace(&s, least, choice))
			rc = fit_fail_nomem(err);
		if (!rc)
			count(&s, choice, answer);
	}
	release(&s);
	return rc;
}
