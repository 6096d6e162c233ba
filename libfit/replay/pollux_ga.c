/* SPDX-License-Identifier: MIT */
/*
 * The genetic search of the Pollux artifact (simulator of Qiao et al., OSDI'21): NSGA-II (Deb et al.,
 * 2002) on allocation matrices. docs/methods/pollux.md describes the operators.
 *
 * Working matrices have rows padded to a multiple of 16 bytes, so that sums and comparisons of rows
 * are a few vector instructions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/hash.h"
#include "libfit/base/rng.h"
#include "libfit/replay/pollux_search.h"

#define POPULATION 100
#define GENERATIONS 100		/* the first population counts as one */
#define MATING_ROUNDS 101
#define CROSSOVER 0.9
#define RESET_ROW 0.1
#define THIN_ROW 0.1
#define THIN_ENTRY 0.1
#define MAX_JOB_NODES 16

struct individual {
	uint8_t *state;
	double f[2], crowding;
	uint64_t hash;
	int front;
};

struct fit_pollux_ga {
	gsl_rng *rng;
	/* two generations and room for one mating round, one arena */
	uint8_t *arena;
	size_t arena_cap;
	struct individual who[3 * POPULATION + 2];
	size_t n;			/* alive: who[0..n) */
	/* the last call's non-dominated set, for the next one */
	uint8_t *kept;
	size_t kept_cap;
	uint32_t *kept_ids;
	size_t kept_ids_cap;
	int n_kept, kept_jobs, kept_nodes;
	uint8_t *best;
	size_t best_cap;
	int *order;
	size_t order_cap;
	/* the problem at hand */
	const struct fit_pollux_problem *p;
	size_t stride, size;		/* bytes of a row, of a state */
	uint8_t *current;		/* padded */
	size_t current_cap;
	bool *spans;
	size_t spans_cap;
};

int fit_pollux_ga_new(struct fit_pollux_ga **ga, uint64_t seed, struct fit_err *err)
{
	*ga = calloc(1, sizeof **ga);
	if (!*ga)
		return fit_fail_nomem(err);
	(*ga)->rng = fit_rng_new(seed, "replay/pollux-ga");
	if (!(*ga)->rng) {
		free(*ga);
		*ga = NULL;
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}

void fit_pollux_ga_free(struct fit_pollux_ga *ga)
{
	if (!ga)
		return;
	gsl_rng_free(ga->rng);
	free(ga->arena);
	free(ga->kept);
	free(ga->kept_ids);
	free(ga->best);
	free(ga->order);
	free(ga->current);
	free(ga->spans);
	free(ga);
}

/* ---- random numbers ---- */

static uint32_t below(struct fit_pollux_ga *ga, uint32_t n)
{
	return (uint32_t)(((uint64_t)(uint32_t)gsl_rng_get(ga->rng) * n) >> 32);
}

/* True with probability threshold / 2^32. */
static bool chance(struct fit_pollux_ga *ga, uint32_t threshold)
{
	return (uint32_t)gsl_rng_get(ga->rng) < threshold;
}

static uint32_t threshold_of(double probability)
{
	return probability >= 1 ? UINT32_MAX : (uint32_t)(probability * 4294967296.0);
}

static void shuffle(struct fit_pollux_ga *ga, int *v, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)below(ga, (uint32_t)i + 1), t = v[i];

		v[i] = v[k];
		v[k] = t;
	}
}

/* ---- rows ---- */

static uint8_t *row_of(const struct fit_pollux_ga *ga, uint8_t *state, int j)
{
	return state + (size_t)j * ga->stride;
}

/* Replicas and nodes of a padded row. */
static void measure(const struct fit_pollux_ga *ga, const uint8_t *row, int *replicas, int *nodes)
{
	int r = 0, n = 0;

	for (size_t b = 0; b < ga->stride; b += 16) {
		for (size_t m = b; m < b + 16; m++) {
			r += row[m];
			n += row[m] != 0;
		}
	}
	*replicas = r;
	*nodes = n;
}

/* ---- evaluation ---- */

static void evaluate(const struct fit_pollux_ga *ga, struct individual *x)
{
	const struct fit_pollux_problem *p = ga->p;
	double scale = (double)p->n_nodes / p->n_gpus, sum = 0, speedups = 0;
	int gpus_in_use = 0;

	for (int j = 0; j < p->n_jobs; j++) {
		const uint8_t *row = row_of(ga, x->state, j);
		const struct fit_pollux_job *job = &p->jobs[j];
		int replicas, nodes;
		double s, u;

		measure(ga, row, &replicas, &nodes);
		s = job->speedup[nodes > 1][replicas];
		speedups += s;
		u = s * scale;
		if (memcmp(row, row_of(ga, ga->current, j), ga->stride) != 0)
			u *= job->restart_factor;
		sum += p->power == -1 ? 1 / (u + 1e-3) : pow(u + 1e-3, p->power);
	}
	for (int m = 0; m < p->n_nodes; m++) {
		uint8_t any = 0;

		for (int j = 0; j < p->n_jobs; j++)
			any |= x->state[(size_t)j * ga->stride + (size_t)m];
		gpus_in_use += any ? p->capacity[m] : 0;
	}
	x->f[0] = -pow(sum / p->n_jobs, 1 / p->power);
	x->f[1] = gpus_in_use ? -speedups / gpus_in_use : 0;
}

/* ---- repair ---- */

/* On each node at most one job that spans nodes. The reference takes every later row off such a
 * node; what is right is to take off the later spanning ones. Spanning is judged beforehand. */
static void repair_interference(struct fit_pollux_ga *ga, uint8_t *state)
{
	const struct fit_pollux_problem *p = ga->p;
	int spanning = 0;

	for (int j = 0; j < p->n_jobs; j++) {
		int replicas, nodes;

		measure(ga, row_of(ga, state, j), &replicas, &nodes);
		ga->spans[j] = nodes > 1;
		spanning += ga->spans[j];
	}
	if (spanning < 2)
		return;
	for (int m = 0; m < p->n_nodes; m++) {
		int seen = 0;

		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *entry = &row_of(ga, state, j)[m];

			if (*entry && ga->spans[j])
				seen++;
			if (seen > 1 && (ga->spans[j] || p->interference_zeroes_all))
				*entry = 0;
		}
	}
}

/* At most max_replicas on at most 16 nodes, nodes taken in a random order. */
static void repair_row(struct fit_pollux_ga *ga, uint8_t *row, int max_replicas)
{
	int n = ga->p->n_nodes, left = max_replicas, nodes_left = MAX_JOB_NODES, replicas, nodes;

	measure(ga, row, &replicas, &nodes);
	if (replicas <= max_replicas && nodes <= MAX_JOB_NODES)
		return;
	for (int m = 0; m < n; m++)
		ga->order[m] = m;
	shuffle(ga, ga->order, n);
	for (int k = 0; k < n; k++) {
		uint8_t *entry = &row[ga->order[k]];

		if (*entry > left)
			*entry = (uint8_t)left;
		if (*entry && nodes_left == 0)
			*entry = 0;
		left -= *entry;
		nodes_left -= *entry != 0;
	}
}

static void repair(struct fit_pollux_ga *ga, uint8_t *state)
{
	const struct fit_pollux_problem *p = ga->p;

	if (p->avoid_interference)
		repair_interference(ga, state);
	for (int j = 0; j < p->n_jobs; j++)
		repair_row(ga, row_of(ga, state, j), p->jobs[j].max_replicas);
	for (int m = 0; m < p->n_nodes; m++) {
		int left = p->capacity[m];

		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *entry = &row_of(ga, state, j)[m];

			if (*entry > left)
				*entry = (uint8_t)left;
			left -= *entry;
		}
	}
}

/* ---- variation ---- */

static void mutate(struct fit_pollux_ga *ga, uint8_t *state)
{
	const struct fit_pollux_problem *p = ga->p;
	uint32_t reset = threshold_of(RESET_ROW), thin = threshold_of(THIN_ROW);
	uint32_t entry_thin = threshold_of(THIN_ENTRY);
	double p1 = 1.0 / p->n_jobs;

	for (int j = 0; j < p->n_jobs; j++)
		if (chance(ga, reset))
			memcpy(row_of(ga, state, j), row_of(ga, ga->current, j), ga->stride);
	for (int j = 0; j < p->n_jobs; j++) {
		uint8_t *row = row_of(ga, state, j);

		if (!chance(ga, thin))
			continue;
		for (int m = 0; m < p->n_nodes; m++)
			if (chance(ga, entry_thin))
				row[m] = 0;
	}
	for (int m = 0; m < p->n_nodes; m++) {
		int used = 0, present = 0;
		uint32_t absent_at, present_at;
		double p2;

		for (int j = 0; j < p->n_jobs; j++) {
			int e = row_of(ga, state, j)[m];

			used += e;
			present += e != 0;
		}
		if (used >= p->capacity[m])
			continue;
		p2 = present ? 1.0 / present : 0;
		absent_at = threshold_of(p1);
		present_at = threshold_of(p1 + p2 - p1 * p2);
		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *entry = &row_of(ga, state, j)[m];

			if (chance(ga, *entry ? present_at : absent_at))
				*entry = (uint8_t)(*entry + below(ga, (uint32_t)(p->capacity[m] - *entry) + 1));
		}
	}
}

static bool dominates(const struct individual *a, const struct individual *b)
{
	return a->f[0] <= b->f[0] && a->f[1] <= b->f[1] && (a->f[0] < b->f[0] || a->f[1] < b->f[1]);
}

static int tournament(struct fit_pollux_ga *ga, int a, int b)
{
	const struct individual *x = &ga->who[a], *y = &ga->who[b];

	if (dominates(x, y))
		return a;
	if (dominates(y, x))
		return b;
	if (x->crowding > y->crowding)
		return a;
	if (y->crowding > x->crowding)
		return b;
	return below(ga, 2) ? a : b;
}

/* ---- sorting ---- */

/* By objectives, lexicographically; ties keep the order of the array (indices follow). */
static int by_objectives(const void *pa, const void *pb)
{
	const struct individual *a = *(const struct individual *const *)pa;
	const struct individual *b = *(const struct individual *const *)pb;

	for (int k = 0; k < 2; k++)
		if (a->f[k] < b->f[k] || a->f[k] > b->f[k])
			return a->f[k] < b->f[k] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Fronts of two objectives in one pass over the sorted points: the last point of a front has its
 * smallest second objective, so it dominates the next point or nobody of that front does. */
static int assign_fronts(struct individual **sorted, size_t n, int *fronts)
{
	const struct individual *last[3 * POPULATION + 2];
	int k = 0;

	for (size_t i = 0; i < n; i++) {
		int lo = 0, hi = k;

		while (lo < hi) {
			int mid = (lo + hi) / 2;

			if (dominates(last[mid], sorted[i]))
				lo = mid + 1;
			else
				hi = mid;
		}
		sorted[i]->front = lo;
		last[lo] = sorted[i];
		k = lo == k ? k + 1 : k;
	}
	*fronts = k;
	return k;
}

/* Crowding distances of one front, sorted by objectives; of equal points all but the first get 0. */
static void set_crowding(struct individual **front, size_t n)
{
	double span[2];
	size_t u = 0;

	for (size_t i = 0; i < n; i++) {
		bool same = u && !(front[i]->f[0] < front[u - 1]->f[0] || front[i]->f[0] > front[u - 1]->f[0]) &&
			    !(front[i]->f[1] < front[u - 1]->f[1] || front[i]->f[1] > front[u - 1]->f[1]);
		struct individual *t = front[i];

		t->crowding = 0;
		if (same)
			continue;
		front[i] = front[u];	/* unique ones move to the front of the array */
		front[u++] = t;
	}
	for (size_t i = 1; i < u; i++) {	/* the swaps may have mixed them up */
		struct individual *t = front[i];
		size_t k = i;

		for (; k && by_objectives(&front[k - 1], &t) > 0; k--)
			front[k] = front[k - 1];
		front[k] = t;
	}
	if (!u)
		return;
	span[0] = front[u - 1]->f[0] - front[0]->f[0];
	span[1] = front[0]->f[1] - front[u - 1]->f[1];
	front[0]->crowding = front[u - 1]->crowding = HUGE_VAL;
	for (size_t i = 1; i + 1 < u; i++)
		front[i]->crowding = (span[0] > 0 ? (front[i + 1]->f[0] - front[i - 1]->f[0]) / span[0] : 0) +
				     (span[1] > 0 ? (front[i - 1]->f[1] - front[i + 1]->f[1]) / span[1] : 0);
}

struct ranked {
	struct individual *x;
	uint32_t tie;
};

static int by_crowding(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->x->crowding > b->x->crowding || a->x->crowding < b->x->crowding)
		return a->x->crowding > b->x->crowding ? -1 : 1;
	if (a->tie != b->tie)
		return a->tie < b->tie ? -1 : 1;
	return (a->x > b->x) - (a->x < b->x);
}

/* Keep at most POPULATION of who[0..n): whole fronts, then the least crowded of the next. */
static void survive(struct fit_pollux_ga *ga)
{
	struct individual *sorted[3 * POPULATION + 2], *front[3 * POPULATION + 2];
	struct individual next[3 * POPULATION + 2];
	struct ranked ranked[3 * POPULATION + 2];
	size_t n = ga->n, m = 0, rest = 0;
	int fronts;

	for (size_t i = 0; i < n; i++)
		sorted[i] = &ga->who[i];
	qsort(sorted, n, sizeof *sorted, by_objectives);
	assign_fronts(sorted, n, &fronts);
	for (int f = 0; f < fronts; f++) {
		size_t k = 0;

		for (size_t i = 0; i < n; i++)
			if (sorted[i]->front == f)
				front[k++] = sorted[i];
		if (m >= POPULATION) {
			for (size_t i = 0; i < k; i++)
				next[n - ++rest] = *front[i];
			continue;
		}
		set_crowding(front, k);
		if (m + k > POPULATION) {
			for (size_t i = 0; i < k; i++)
				ranked[i] = (struct ranked){ front[i], (uint32_t)gsl_rng_get(ga->rng) };
			qsort(ranked, k, sizeof *ranked, by_crowding);
			for (size_t i = 0; i < k; i++)
				front[i] = ranked[i].x;
		}
		for (size_t i = 0; i < k; i++) {
			if (m < POPULATION)
				next[m++] = *front[i];
			else
				next[n - ++rest] = *front[i];
		}
	}
	/* the dead keep their memory for the next generation */
	memcpy(ga->who, next, n * sizeof *next);
	ga->n = m;
}

/* ---- generations ---- */

static bool is_new(const struct fit_pollux_ga *ga, const struct individual *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ga->who[i].hash == x->hash && memcmp(ga->who[i].state, x->state, ga->size) == 0)
			return false;
	return true;
}

static void set_hash(const struct fit_pollux_ga *ga, struct individual *x)
{
	x->hash = fit_hash64((struct fit_text){ (const char *)x->state, ga->size }, 0);
}

/* Parents for so many matings: pairs of winners of tournaments over random permutations. */
static void select_parents(struct fit_pollux_ga *ga, int *parents, int n_parents)
{
	int entrants[4 * POPULATION + 2 * POPULATION + 8], perm[POPULATION];
	int pop = (int)ga->n, n = 0;

	while (n < 2 * n_parents) {
		for (int i = 0; i < pop; i++)
			perm[i] = i;
		shuffle(ga, perm, pop);
		for (int i = 0; i < pop && n < 2 * n_parents; i++)
			entrants[n++] = perm[i];
	}
	for (int i = 0; i < n_parents; i++)
		parents[i] = tournament(ga, entrants[2 * i], entrants[2 * i + 1]);
}

/* Make offspring in who[n..): at most POPULATION that nobody equals. */
static void breed(struct fit_pollux_ga *ga)
{
	size_t first = ga->n, goal = first + POPULATION, n = first;
	uint32_t cross = threshold_of(CROSSOVER);
	int parents[POPULATION + 2];

	for (int round = 0; round < MATING_ROUNDS && n < goal; round++) {
		int pairs = (int)(goal - n + 1) / 2;

		select_parents(ga, parents, 2 * pairs);
		for (int k = 0; k < pairs && n < goal; k++) {
			const struct individual *a = &ga->who[parents[2 * k]], *b = &ga->who[parents[2 * k + 1]];
			size_t cut = chance(ga, cross) ? below(ga, (uint32_t)ga->p->n_jobs) * ga->stride : 0;

			for (int child = 0; child < 2 && n < goal; child++) {
				struct individual *x = &ga->who[n];

				memcpy(x->state, child ? a->state : b->state, cut);
				memcpy(x->state + cut, (child ? b->state : a->state) + cut, ga->size - cut);
				mutate(ga, x->state);
				repair(ga, x->state);
				set_hash(ga, x);
				if (!is_new(ga, x, n))
					continue;
				evaluate(ga, x);
				n++;
			}
		}
	}
	ga->n = n;
}

/* ---- from one call to the next ---- */

static void pad(const struct fit_pollux_ga *ga, const uint8_t *from, uint8_t *to)
{
	memset(to, 0, ga->size);
	for (int j = 0; j < ga->p->n_jobs; j++)
		memcpy(row_of(ga, to, j), from + (size_t)j * (size_t)ga->p->n_nodes, (size_t)ga->p->n_nodes);
}

/* Rows of jobs that are gone are dropped, new jobs get none. By position means that the k-th job
 * that stays gets what the k-th one had, whoever that was. */
static void restore(struct fit_pollux_ga *ga, const uint8_t *kept, uint8_t *to)
{
	const struct fit_pollux_problem *p = ga->p;
	int next = 0;

	memset(to, 0, ga->size);
	for (int j = 0; j < p->n_jobs; j++) {
		int k = 0;

		while (k < ga->kept_jobs && ga->kept_ids[k] != p->jobs[j].id)
			k++;
		if (k == ga->kept_jobs)
			continue;
		if (p->carry_rows_by_position) {
			/* the next old row whose job is still there */
			for (k = next; k < ga->kept_jobs; k++) {
				int i = 0;

				while (i < p->n_jobs && p->jobs[i].id != ga->kept_ids[k])
					i++;
				if (i < p->n_jobs)
					break;
			}
			next = k + 1;
			if (k == ga->kept_jobs)
				continue;
		}
		memcpy(row_of(ga, to, j), kept + (size_t)k * ga->stride, ga->stride);
	}
}

static void add_seed(struct fit_pollux_ga *ga, const uint8_t *state)
{
	struct individual *x = &ga->who[ga->n];

	memcpy(x->state, state, ga->size);
	repair(ga, x->state);
	set_hash(ga, x);
	if (!is_new(ga, x, ga->n))
		return;
	evaluate(ga, x);
	ga->n++;
}

static int keep_front(struct fit_pollux_ga *ga, const struct individual **best)
{
	const struct fit_pollux_problem *p = ga->p;
	int n = 0;

	if (fit_grow(&ga->kept, &ga->kept_cap, (size_t)POPULATION * ga->size, 1) ||
	    fit_grow(&ga->kept_ids, &ga->kept_ids_cap, (size_t)p->n_jobs, sizeof *ga->kept_ids))
		return FIT_ENOMEM;
	*best = NULL;
	for (size_t i = 0; i < ga->n; i++) {
		const struct individual *x = &ga->who[i];

		if (x->front != 0)
			continue;
		memcpy(ga->kept + (size_t)n++ * ga->size, x->state, ga->size);
		if (!*best || x->f[0] < (*best)->f[0])
			*best = x;
	}
	for (int j = 0; j < p->n_jobs; j++)
		ga->kept_ids[j] = p->jobs[j].id;
	ga->n_kept = n;
	ga->kept_jobs = p->n_jobs;
	ga->kept_nodes = p->n_nodes;
	return FIT_OK;
}

static int prepare(struct fit_pollux_ga *ga, const struct fit_pollux_problem *p)
{
	size_t n_who = sizeof ga->who / sizeof *ga->who;

	ga->p = p;
	ga->stride = ((size_t)p->n_nodes + 15) / 16 * 16;
	ga->size = ga->stride * (size_t)p->n_jobs;
	if (fit_grow(&ga->arena, &ga->arena_cap, (n_who + 1) * ga->size + 1, 1) ||
	    fit_grow(&ga->current, &ga->current_cap, ga->size + 1, 1) ||
	    fit_grow(&ga->best, &ga->best_cap, (size_t)p->n_jobs * (size_t)p->n_nodes + 1, 1) ||
	    fit_grow(&ga->order, &ga->order_cap, (size_t)p->n_nodes + 1, sizeof *ga->order) ||
	    fit_grow(&ga->spans, &ga->spans_cap, (size_t)p->n_jobs + 1, sizeof *ga->spans))
		return FIT_ENOMEM;
	for (size_t i = 0; i < n_who; i++)
		ga->who[i].state = ga->arena + i * ga->size;
	ga->n = 0;
	pad(ga, p->current, ga->current);
	return FIT_OK;
}

int fit_pollux_ga_search(struct fit_pollux_ga *ga, const struct fit_pollux_problem *p,
			 const uint8_t **best, double f[2], struct fit_err *err)
{
	const struct individual *winner;
	uint8_t *scratch;

	if (prepare(ga, p))
		return fit_fail_nomem(err);
	scratch = ga->arena + sizeof ga->who / sizeof *ga->who * ga->size;
	if (!ga->n_kept || ga->kept_nodes != p->n_nodes || !p->current_not_seeded)
		add_seed(ga, ga->current);
	for (int i = 0; i < ga->n_kept && ga->kept_nodes == p->n_nodes; i++) {
		restore(ga, ga->kept + (size_t)i * ga->stride * (size_t)ga->kept_jobs, scratch);
		add_seed(ga, scratch);
	}
	survive(ga);
	for (int g = 1; g < GENERATIONS; g++) {
		breed(ga);
		survive(ga);
	}
	if (keep_front(ga, &winner))
		return fit_fail_nomem(err);
	for (int j = 0; j < p->n_jobs; j++)
		memcpy(ga->best + (size_t)j * (size_t)p->n_nodes, row_of(ga, winner->state, j),
		       (size_t)p->n_nodes);
	*best = ga->best;
	f[0] = winner->f[0];
	f[1] = winner->f[1];
	return FIT_OK;
}
