/* SPDX-License-Identifier: MIT */
/*
 * The genetic search of the Pollux artifact (simulator of Qiao et al., OSDI'21): NSGA-II (Deb et al.,
 * 2002) on allocation matrices. docs/methods/pollux-policy.md describes it; how states are varied and
 * repaired is in pollux_rows.c, who survives in pollux_front.c.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/draws.h"
#include "libfit/base/hash.h"
#include "libfit/replay/pollux_front.h"
#include "libfit/replay/pollux_rows.h"
#include "libfit/replay/pollux_search.h"

#define POPULATION 100
#define GENERATIONS 100		/* the first population counts as one */
#define MATING_ROUNDS 101
#define CROSSOVER 0.9
#define SLOTS (2 * POPULATION + 2)
#define SEEN_SLOTS 1024		/* a power of two, well above 2 x POPULATION */

struct fit_pollux_ga {
	struct fit_pollux_rows rows;
	/* the states: two generations and one in the making, in slots that points refer to */
	uint8_t *arena;
	size_t arena_cap;
	struct fit_front_point who[SLOTS];	/* each slot once; alive: who[0..n) */
	size_t n, n_sorted;
	/* the last call's non-dominated set, for the next one */
	uint8_t *kept;
	size_t kept_cap;
	uint32_t *kept_ids;
	size_t kept_ids_cap;
	int n_kept, kept_jobs, kept_nodes;
	uint8_t *best;
	size_t best_cap;
	const struct fit_pollux_problem *p;
	size_t n_states;		/* there are no more than that, where they are few */
	uint16_t seen[SEEN_SLOTS];	/* of who[], by hash; 0: free, else index + 1 */
};

int fit_pollux_ga_new(struct fit_pollux_ga **ga, uint64_t seed, struct fit_err *err)
{
	*ga = calloc(1, sizeof **ga);
	if (!*ga)
		return fit_fail_nomem(err);
	fit_draws_init(&(*ga)->rows.draws, seed, "replay/pollux-ga");
	return FIT_OK;
}

void fit_pollux_ga_free(struct fit_pollux_ga *ga)
{
	if (!ga)
		return;
	fit_pollux_rows_release(&ga->rows);
	free(ga->arena);
	free(ga->kept);
	free(ga->kept_ids);
	free(ga->best);
	free(ga);
}

static uint32_t below(struct fit_pollux_ga *ga, uint32_t n)
{
	return fit_draws_below(&ga->rows.draws, n);
}

static uint8_t *state_of(const struct fit_pollux_ga *ga, const struct fit_front_point *x)
{
	return ga->arena + (size_t)x->slot * ga->rows.size;
}

/* ---- generations ---- */

static void forget_seen(struct fit_pollux_ga *ga)
{
	memset(ga->seen, 0, sizeof ga->seen);
}

/* Is who[i] different from all that were asked about since forget_seen()? Then it is one of them. */
static bool is_new(struct fit_pollux_ga *ga, size_t i)
{
	const struct fit_front_point *x = &ga->who[i];
	size_t slot = (size_t)x->hash & (SEEN_SLOTS - 1);

	for (; ga->seen[slot]; slot = (slot + 1) & (SEEN_SLOTS - 1)) {
		const struct fit_front_point *y = &ga->who[ga->seen[slot] - 1];

		if (y->hash == x->hash && memcmp(state_of(ga, y), state_of(ga, x), ga->rows.size) == 0)
			return false;
	}
	ga->seen[slot] = (uint16_t)(i + 1);
	return true;
}

/* The state of who[n] is repaired, and alive if nobody equals it. */
static void admit(struct fit_pollux_ga *ga)
{
	struct fit_front_point *x = &ga->who[ga->n];
	uint8_t *state = state_of(ga, x);

	fit_pollux_rows_repair(&ga->rows, state, x->f);
	x->hash = fit_hash64((struct fit_text){ (const char *)state, ga->rows.size }, 0);
	if (is_new(ga, ga->n))
		ga->n++;
}

static void survive(struct fit_pollux_ga *ga)
{
	ga->n = ga->n_sorted = fit_front_survive(ga->who, ga->n_sorted, ga->n, POPULATION, &ga->rows.draws);
}

/* Domination, then crowding, then a coin; which of the first two decides cannot be foreseen, so neither is
 * a branch. */
static const struct fit_front_point *tournament(struct fit_pollux_ga *ga, uint32_t a, uint32_t b)
{
	const struct fit_front_point *x = &ga->who[a], *y = &ga->who[b];
	int no_worse = (x->f[0] <= y->f[0]) & (x->f[1] <= y->f[1]);
	int no_better = (x->f[0] >= y->f[0]) & (x->f[1] >= y->f[1]);
	int wins = 2 * (no_worse - no_better) + (x->crowding > y->crowding) - (x->crowding < y->crowding);

	if (wins == 0)
		wins = (int)below(ga, 2);
	return &ga->who[wins > 0 ? a : b];
}

/* Parents for so many matings: winners of tournaments over random permutations. */
static void select_parents(struct fit_pollux_ga *ga, const struct fit_front_point **parents, size_t n_parents)
{
	uint32_t entrants[2 * POPULATION + 8], perm[POPULATION], pop = (uint32_t)ga->n_sorted;
	size_t n = 0;

	while (n < 2 * n_parents) {
		for (uint32_t i = 0; i < pop; i++)
			perm[i] = i;
		for (uint32_t left = pop; left > 0 && n < 2 * n_parents; left--) {
			uint32_t k = below(ga, left);

			entrants[n++] = perm[k];
			perm[k] = perm[left - 1];
		}
	}
	for (size_t i = 0; i < n_parents; i++)
		parents[i] = tournament(ga, entrants[2 * i], entrants[2 * i + 1]);
}

/* Make offspring: at most POPULATION that nobody equals. */
static void breed(struct fit_pollux_ga *ga)
{
	size_t goal = ga->n + POPULATION;
	const struct fit_front_point *parents[POPULATION + 2];

	goal = goal < ga->n_states ? goal : ga->n_states;
	forget_seen(ga);
	for (size_t i = 0; i < ga->n; i++)
		(void)is_new(ga, i);
	for (int round = 0; round < MATING_ROUNDS && ga->n < goal; round++) {
		size_t pairs = (goal - ga->n + 1) / 2;

		select_parents(ga, parents, 2 * pairs);
		for (size_t k = 0; k < pairs && ga->n < goal; k++) {
			const uint8_t *a = state_of(ga, parents[2 * k]), *b = state_of(ga, parents[2 * k + 1]);
			uint32_t r = fit_draws_next(&ga->rows.draws);
			int cut = r < CROSSOVER * 4294967296.0 ? (int)below(ga, (uint32_t)ga->p->n_jobs) : 0;

			for (int child = 0; child < 2 && ga->n < goal; child++) {
				fit_pollux_rows_child(&ga->rows, child ? a : b, child ? b : a, cut,
						      state_of(ga, &ga->who[ga->n]));
				admit(ga);
			}
		}
	}
}

/* ---- from one call to the next ---- */

/* Rows of jobs that are gone are dropped, new jobs get none. By position means that the k-th job
 * that stays gets what the k-th one had, whoever that was. */
static void restore(struct fit_pollux_ga *ga, const uint8_t *kept, uint8_t *to)
{
	const struct fit_pollux_problem *p = ga->p;
	size_t stride = ga->rows.stride;
	int next = 0;

	memset(to, 0, ga->rows.size);
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
		memcpy(to + (size_t)j * stride, kept + (size_t)k * stride, stride);
	}
}

static void seed_population(struct fit_pollux_ga *ga)
{
	bool carried = ga->n_kept && ga->kept_nodes == ga->p->n_nodes;

	forget_seen(ga);
	if (!carried || !ga->p->current_not_seeded) {
		memcpy(state_of(ga, &ga->who[0]), ga->rows.current, ga->rows.size);
		admit(ga);
	}
	for (int i = 0; i < ga->n_kept && carried; i++) {
		restore(ga, ga->kept + (size_t)i * ga->rows.stride * (size_t)ga->kept_jobs,
			state_of(ga, &ga->who[ga->n]));
		admit(ga);
	}
	survive(ga);
}

static int keep_front(struct fit_pollux_ga *ga, const struct fit_front_point **best)
{
	const struct fit_pollux_problem *p = ga->p;
	int n = 0;

	if (fit_grow(&ga->kept, &ga->kept_cap, (size_t)POPULATION * ga->rows.size, 1) ||
	    fit_grow(&ga->kept_ids, &ga->kept_ids_cap, (size_t)p->n_jobs, sizeof *ga->kept_ids))
		return FIT_ENOMEM;
	*best = &ga->who[0];
	for (size_t i = 0; i < ga->n; i++) {
		const struct fit_front_point *x = &ga->who[i];

		if (x->front != 0)
			continue;
		memcpy(ga->kept + (size_t)n++ * ga->rows.size, state_of(ga, x), ga->rows.size);
		if (x->f[0] < (*best)->f[0])
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
	ga->p = p;
	if (fit_pollux_rows_set(&ga->rows, p) ||
	    fit_grow(&ga->arena, &ga->arena_cap, SLOTS * ga->rows.size + 1, 1) ||
	    fit_grow(&ga->best, &ga->best_cap, (size_t)p->n_jobs * (size_t)p->n_nodes + 1, 1))
		return FIT_ENOMEM;
	ga->n_states = fit_pollux_rows_count(&ga->rows, SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++)
		ga->who[i] = (struct fit_front_point){ .slot = i };
	ga->n = ga->n_sorted = 0;
	return FIT_OK;
}

int fit_pollux_ga_search(struct fit_pollux_ga *ga, const struct fit_pollux_problem *p,
			 const uint8_t **best, double f[2], struct fit_err *err)
{
	const struct fit_front_point *winner;

	if (prepare(ga, p))
		return fit_fail_nomem(err);
	seed_population(ga);
	for (int g = 1; g < GENERATIONS; g++) {
		breed(ga);
		survive(ga);
	}
	if (keep_front(ga, &winner))
		return fit_fail_nomem(err);
	fit_pollux_rows_unpad(&ga->rows, state_of(ga, winner), ga->best);
	*best = ga->best;
	f[0] = winner->f[0];
	f[1] = winner->f[1];
	return FIT_OK;
}
