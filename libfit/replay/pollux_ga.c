/* SPDX-License-Identifier: MIT */
/*
 * The genetic search of the Pollux artifact (simulator of Qiao et al., OSDI'21): NSGA-II (Deb et al.,
 * 2002) on allocation matrices. docs/methods/pollux-policy.md describes the operators.
 *
 * Nearly all of a replay under this policy is spent here, hence: rows of working matrices are padded
 * to a multiple of LANES bytes, so that what is done to every node is done to LANES nodes at once
 * (the compilers' vector types); chances cost a byte of randomness; nothing is allocated.
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
#define LANES 16
#define CROWD (3 * POPULATION + 2)
#define SEEN_SLOTS 1024		/* a power of two, well above 2 x POPULATION */

/* LANES nodes of a row. */
typedef uint8_t lanes __attribute__((vector_size(LANES)));

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
	struct individual who[CROWD];
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
	uint8_t *capacity;		/* padded */
	size_t capacity_cap;
	uint8_t *current;		/* padded */
	size_t current_cap;
	bool *spans;
	size_t spans_cap;
	uint8_t *scratch;		/* two rows */
	size_t scratch_cap;
	uint16_t *present_at;		/* by jobs present on a node: chance that one of them changes */
	size_t present_cap;
	uint16_t seen[SEEN_SLOTS];	/* states of who[], by hash; 0: free, else index + 1 */
	uint32_t bits;			/* random bits that wait */
	int n_bits;			/* bytes of them */
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
	free(ga->scratch);
	free(ga->capacity);
	free(ga->present_at);
	free(ga);
}

/* ---- random numbers ---- */

static uint32_t below(struct fit_pollux_ga *ga, uint32_t n)
{
	return (uint32_t)(((uint64_t)(uint32_t)gsl_rng_get(ga->rng) * n) >> 32);
}

static uint32_t next_byte(struct fit_pollux_ga *ga)
{
	uint32_t b;

	if (!ga->n_bits) {
		ga->bits = (uint32_t)gsl_rng_get(ga->rng);
		ga->n_bits = 4;
	}
	b = ga->bits & 0xff;
	ga->bits >>= 8;
	ga->n_bits--;
	return b;
}

/* True with probability threshold / 2^16; a second byte is drawn only where the first one ties. */
static bool chance(struct fit_pollux_ga *ga, uint32_t threshold)
{
	uint32_t b = next_byte(ga);

	if (b != threshold >> 8)
		return b < threshold >> 8;
	return next_byte(ga) < (threshold & 0xff);
}

/* Four random bits in each lane: the first comparison of a chance. */
static lanes draw(struct fit_pollux_ga *ga)
{
	uint32_t word[2] = { (uint32_t)gsl_rng_get(ga->rng), (uint32_t)gsl_rng_get(ga->rng) };
	uint64_t both = (uint64_t)word[1] << 32 | word[0];
	const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t half[2] = { both & low, both >> 4 & low };
	lanes v;

	memcpy(&v, half, sizeof v);
	return v;
}

/* The upper four bits of a threshold, and the decision between the next eight where those tie. */
#define HIGH(threshold) ((uint8_t)((threshold) >> 12))

static bool chance_tied(struct fit_pollux_ga *ga, uint32_t threshold)
{
	return next_byte(ga) < (threshold >> 4 & 0xff);
}

/* A bit for each lane that is set. */
static uint32_t mask_of(lanes v)
{
	uint32_t mask = 0;
	uint64_t half[2];

	/* the top bits of eight bytes, gathered by a product */
	memcpy(half, &v, sizeof half);
	for (int i = 0; i < 2; i++)
		mask |= (uint32_t)(((half[i] >> 7 & UINT64_C(0x0101010101010101)) *
				    UINT64_C(0x0102040810204080)) >> 56) << (8 * i);
	return mask;
}

/* LANES chances of the same threshold, a bit each. */
static uint32_t chances(struct fit_pollux_ga *ga, uint32_t threshold)
{
	lanes r = draw(ga);
	uint32_t hits = mask_of((lanes)(r < HIGH(threshold))), even = mask_of((lanes)(r == HIGH(threshold)));

	for (; even; even &= even - 1)
		if (chance_tied(ga, threshold))
			hits |= even & -even;
	return hits;
}

static uint16_t threshold_of(double probability)
{
	return probability >= 1 ? UINT16_MAX : (uint16_t)(probability * 65536);
}

/* Put a random choice of k of v[0..n), in random order, in front. */
static void shuffle(struct fit_pollux_ga *ga, int *v, int n, int k)
{
	for (int i = 0; i < k && i < n - 1; i++) {
		int other = i + (int)below(ga, (uint32_t)(n - i)), t = v[i];

		v[i] = v[other];
		v[other] = t;
	}
}

/* ---- rows ---- */

static uint8_t *row_of(const struct fit_pollux_ga *ga, uint8_t *state, int j)
{
	return state + (size_t)j * ga->stride;
}

static lanes load(const uint8_t *p)
{
	lanes v;

	memcpy(&v, p, sizeof v);
	return v;
}

static void store(uint8_t *p, lanes v)
{
	memcpy(p, &v, sizeof v);
}

/* Replicas and nodes of a padded row, eight entries at a time. Entries are at most 64, so adding 127
 * sets the top bit of just those that are not 0. */
static void measure(const struct fit_pollux_ga *ga, const uint8_t *row, int *replicas, int *nodes)
{
	const uint64_t low = UINT64_C(0x00ff00ff00ff00ff), ones = UINT64_C(0x0101010101010101);
	uint64_t r = 0, n = 0;

	for (size_t b = 0; b < ga->stride; b += 8) {
		uint64_t x;

		memcpy(&x, row + b, sizeof x);
		r += (((x & low) + ((x >> 8) & low)) * UINT64_C(0x0001000100010001)) >> 48;
		n += ((((x + 0x7f * ones) >> 7) & ones) * ones) >> 56;
	}
	*replicas = (int)r;
	*nodes = (int)n;
}

/* ---- evaluation ---- */

static void evaluate(const struct fit_pollux_ga *ga, struct individual *x)
{
	const struct fit_pollux_problem *p = ga->p;
	double scale = (double)p->n_nodes / p->n_gpus, sum = 0, speedups = 0;
	uint8_t *any = ga->scratch;
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
	for (size_t b = 0; b < ga->stride; b += LANES) {
		lanes v = { 0 };

		for (int j = 0; j < p->n_jobs; j++)
			v |= load(row_of(ga, x->state, j) + b);
		store(any + b, v);
	}
	for (int m = 0; m < p->n_nodes; m++)
		gpus_in_use += any[m] ? p->capacity[m] : 0;
	x->f[0] = p->power == -1 ? -p->n_jobs / sum : -pow(sum / p->n_jobs, 1 / p->power);
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
	for (size_t b = 0; b < ga->stride; b += LANES) {
		lanes taken = { 0 }, shut = { 0 };

		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *entries = row_of(ga, state, j) + b;
			lanes row = load(entries), here = (lanes)(row != 0);

			if (ga->spans[j]) {
				shut |= taken & here;	/* a second one has come */
				taken |= here;
			}
			if (ga->spans[j] || p->interference_zeroes_all)
				store(entries, row & ~shut);
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
	shuffle(ga, ga->order, n, n);
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
	for (size_t b = 0; b < ga->stride; b += LANES) {
		lanes left = load(ga->capacity + b);

		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *entries = row_of(ga, state, j) + b;
			lanes row = load(entries), fits = (lanes)(row < left);

			row = (row & fits) | (left & ~fits);
			left -= row;
			store(entries, row);
		}
	}
}

/* ---- variation ---- */

/* GPUs in use and jobs present on each node; both saturate far above what they are compared with. */
static void count_nodes(const struct fit_pollux_ga *ga, uint8_t *state, uint8_t *used, uint8_t *present)
{
	for (size_t b = 0; b < ga->stride; b += LANES) {
		lanes u = { 0 }, n = { 0 };

		for (int j = 0; j < ga->p->n_jobs; j++) {
			lanes row = load(row_of(ga, state, j) + b), sum = u + row, here = (lanes)(row != 0);

			u = sum | (lanes)(sum < row);
			n -= here & (lanes)(n != 255);	/* a set lane is -1 */
		}
		store(used + b, u);
		store(present + b, n);
	}
}

static void mutate(struct fit_pollux_ga *ga, uint8_t *state)
{
	const struct fit_pollux_problem *p = ga->p;
	uint16_t reset = threshold_of(RESET_ROW), thin = threshold_of(THIN_ROW);
	uint16_t entry_thin = threshold_of(THIN_ENTRY), absent_at = ga->present_at[0];
	uint8_t *used = ga->scratch, *present = ga->scratch + ga->stride;

	for (int j = 0; j < p->n_jobs; j++)
		if (chance(ga, reset))
			memcpy(row_of(ga, state, j), row_of(ga, ga->current, j), ga->stride);
	for (int j = 0; j < p->n_jobs; j++) {
		uint8_t *row = row_of(ga, state, j);

		if (!chance(ga, thin))
			continue;
		for (size_t b = 0; b < ga->stride; b += LANES) {
			uint32_t hits = chances(ga, entry_thin);

			for (; hits; hits &= hits - 1)
				row[b + (size_t)__builtin_ctz(hits)] = 0;
		}
	}
	count_nodes(ga, state, used, present);
	for (size_t b = 0; b < ga->stride; b += LANES) {
		lanes room = (lanes)(load(used + b) < load(ga->capacity + b)), at_present = { 0 };
		uint32_t open = mask_of(room);

		if (!open)
			continue;
		for (size_t m = 0; m < LANES; m++)
			at_present[m] = HIGH(ga->present_at[present[b + m]]);
		for (int j = 0; j < p->n_jobs; j++) {
			uint8_t *row = row_of(ga, state, j) + b;
			lanes here = (lanes)(load(row) != 0), ties;
			lanes at = (at_present & here) | (~here & HIGH(absent_at)), r = draw(ga);
			uint32_t hits = mask_of((lanes)(r < at) & room), even;

			ties = (lanes)(r == at) & room;
			for (even = mask_of(ties); even; even &= even - 1) {
				size_t m = (size_t)__builtin_ctz(even);

				if (chance_tied(ga, row[m] ? ga->present_at[present[b + m]] : absent_at))
					hits |= 1u << m;
			}
			for (; hits; hits &= hits - 1) {
				size_t m = (size_t)__builtin_ctz(hits);
				int most = ga->capacity[b + m];

				if (row[m] < most)
					row[m] = (uint8_t)(row[m] + below(ga, (uint32_t)(most - row[m]) + 1));
			}
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
static bool comes_first(const struct individual *a, const struct individual *b)
{
	for (int k = 0; k < 2; k++)
		if (a->f[k] < b->f[k] || a->f[k] > b->f[k])
			return a->f[k] < b->f[k];
	return a < b;
}

static void sort_by_objectives(struct individual **v, size_t n)
{
	struct individual *other[CROWD], **from = v, **to = other;

	for (size_t i = 1; i < n; i++) {	/* runs of eight by insertion */
		struct individual *t = v[i];
		size_t k = i;

		for (; k % 8 && comes_first(t, v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = t;
	}
	for (size_t width = 8; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
			size_t a = lo, b = mid;

			for (size_t k = lo; k < hi; k++)
				to[k] = b == hi || (a < mid && !comes_first(from[b], from[a])) ? from[a++] : from[b++];
		}
		to = from;
		from = from == v ? other : v;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}

/* Fronts of two objectives in one pass over the sorted points: the last point of a front has its
 * smallest second objective, so it dominates the next point or nobody of that front does. Returns
 * how many fronts there are; count[f] points in front f. */
static int assign_fronts(struct individual **sorted, size_t n, size_t *count)
{
	const struct individual *last[CROWD];
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
		if (lo == k) {
			count[k] = 0;
			k++;
		}
		count[lo]++;
	}
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
		memmove(&front[u + 1], &front[u], (i - u) * sizeof(struct individual *));
		front[u++] = t;	/* first ones come first, in order; their equals behind */
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
	struct individual *sorted[CROWD], *by_front[CROWD], next[CROWD];
	size_t n = ga->n, count[CROWD], at[CROWD], m = 0;
	struct ranked ranked[CROWD];
	int fronts;

	for (size_t i = 0; i < n; i++)
		sorted[i] = &ga->who[i];
	sort_by_objectives(sorted, n);
	fronts = assign_fronts(sorted, n, count);
	for (int f = 0; f < fronts; f++)
		at[f] = f ? at[f - 1] + count[f - 1] : 0;
	for (size_t i = 0; i < n; i++)
		by_front[at[sorted[i]->front]++] = sorted[i];
	for (int f = 0; f < fronts && m < POPULATION; m += count[f], f++) {
		struct individual **front = by_front + m;

		set_crowding(front, count[f]);
		if (m + count[f] <= POPULATION)
			continue;
		for (size_t i = 0; i < count[f]; i++)
			ranked[i] = (struct ranked){ front[i], (uint32_t)gsl_rng_get(ga->rng) };
		qsort(ranked, count[f], sizeof *ranked, by_crowding);
		for (size_t i = 0; i < count[f]; i++)
			front[i] = ranked[i].x;
	}
	/* all move, for the dead keep their memory for the next generation */
	for (size_t i = 0; i < n; i++)
		next[i] = *by_front[i];
	memcpy(ga->who, next, n * sizeof *next);
	ga->n = n < POPULATION ? n : POPULATION;
}

/* ---- generations ---- */

static void forget_seen(struct fit_pollux_ga *ga)
{
	memset(ga->seen, 0, sizeof ga->seen);
}

/* Is who[i] different from all that were asked about since forget_seen()? Then it is one of them. */
static bool is_new(struct fit_pollux_ga *ga, size_t i)
{
	const struct individual *x = &ga->who[i];
	size_t slot = (size_t)x->hash & (SEEN_SLOTS - 1);

	for (; ga->seen[slot]; slot = (slot + 1) & (SEEN_SLOTS - 1)) {
		const struct individual *y = &ga->who[ga->seen[slot] - 1];

		if (y->hash == x->hash && memcmp(y->state, x->state, ga->size) == 0)
			return false;
	}
	ga->seen[slot] = (uint16_t)(i + 1);
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
		shuffle(ga, perm, pop, 2 * n_parents - n);
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
	uint16_t cross = threshold_of(CROSSOVER);
	int parents[POPULATION + 2];

	forget_seen(ga);
	for (size_t i = 0; i < first; i++)
		(void)is_new(ga, i);
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
				if (!is_new(ga, n))
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
	if (!is_new(ga, ga->n))
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
	ga->stride = ((size_t)p->n_nodes + LANES - 1) / LANES * LANES;
	ga->size = ga->stride * (size_t)p->n_jobs;
	if (fit_grow(&ga->arena, &ga->arena_cap, (n_who + 1) * ga->size + 1, 1) ||
	    fit_grow(&ga->current, &ga->current_cap, ga->size + 1, 1) ||
	    fit_grow(&ga->best, &ga->best_cap, (size_t)p->n_jobs * (size_t)p->n_nodes + 1, 1) ||
	    fit_grow(&ga->order, &ga->order_cap, (size_t)p->n_nodes + 1, sizeof *ga->order) ||
	    fit_grow(&ga->spans, &ga->spans_cap, (size_t)p->n_jobs + 1, sizeof *ga->spans) ||
	    fit_grow(&ga->scratch, &ga->scratch_cap, 2 * ga->stride, 1) ||
	    fit_grow(&ga->capacity, &ga->capacity_cap, ga->stride, 1) ||
	    fit_grow(&ga->present_at, &ga->present_cap, 256, sizeof *ga->present_at))
		return FIT_ENOMEM;
	for (int k = 0; k < 256; k++) {
		double p1 = 1.0 / p->n_jobs, p2 = k ? 1.0 / k : 0;

		ga->present_at[k] = threshold_of(p1 + p2 - p1 * p2);
	}
	forget_seen(ga);
	for (size_t i = 0; i < n_who; i++)
		ga->who[i].state = ga->arena + i * ga->size;
	ga->n = 0;
	pad(ga, p->current, ga->current);
	memset(ga->capacity, 0, ga->stride);
	memcpy(ga->capacity, p->capacity, (size_t)p->n_nodes);
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
