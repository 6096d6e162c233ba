/* SPDX-License-Identifier: MIT */
/*
 * Nearly all of a replay with the genetic search is spent here. Rows of up to FIT_LANES nodes, which
 * is what the paper's cluster has, have code of their own: the same, with the number of blocks known.
 */
#include "libfit/replay/pollux_rows.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/text.h"
#include "libfit/replay/pollux_lanes.h"

#define RESET_ROW 0.1
#define THIN_ROW 0.1
#define THIN_ENTRY 0.1
#define MAX_JOB_NODES 16

#define LOAD fit_lanes_load
#define STORE fit_lanes_store
#define INLINE static inline __attribute__((always_inline))

/* What is counted by node while the rows of a state go by. */
struct fit_pollux_by_node {
	fit_lanes taken, shut;	/* one job that spans nodes has come; a second one has */
	fit_lanes left, any;	/* GPUs left; is one of them in use? */
};

void fit_pollux_rows_release(struct fit_pollux_rows *w)
{
	free(w->worth);
	free(w->current);
	free(w->capacity);
	free(w->several);
	free(w->tally);
	free(w->by_node);
	free(w->listed);
	*w = (struct fit_pollux_rows){ 0 };
}

/* Probabilities are counted in 1/2^16. */
static uint16_t threshold_of(double probability)
{
	return probability >= 1 ? UINT16_MAX : (uint16_t)(probability * 65536);
}

static uint8_t *row_of(const struct fit_pollux_rows *w, uint8_t *state, int j)
{
	return state + (size_t)j * w->stride;
}

static double term_of(const struct fit_pollux_problem *p, double u)
{
	return p->power == -1 ? 1 / (u + 1e-3) : pow(u + 1e-3, p->power);
}

static void set_worth(struct fit_pollux_rows *w, int j)
{
	const struct fit_pollux_problem *p = w->p;
	const struct fit_pollux_job *job = &p->jobs[j];
	const uint8_t *row = row_of(w, w->current, j);
	double scale = (double)p->n_nodes / p->n_gpus;
	int replicas = 0, nodes = 0;

	for (size_t m = 0; m < w->stride; m++) {
		replicas += row[m];
		nodes += row[m] != 0;
	}
	for (int several = 0; several < 2; several++)
		for (int r = 0; r <= job->max_replicas; r++) {
			double speedup = job->speedup[several][r];

			w->worth[j].of[several][r] = (struct fit_pollux_worth){
				term_of(p, speedup * scale * job->restart_factor), speedup };
		}
	w->worth[j].max_replicas = job->max_replicas;
	/* a row of now that is too large does not survive repair */
	w->worth[j].keep = replicas > job->max_replicas ? 0 :
			   term_of(p, job->speedup[nodes > 1][replicas] * scale);
}

int fit_pollux_rows_set(struct fit_pollux_rows *w, const struct fit_pollux_problem *p)
{
	size_t jobs = (size_t)p->n_jobs + 1;

	w->p = p;
	w->stride = ((size_t)p->n_nodes + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
	w->size = w->stride * (size_t)p->n_jobs;
	if (fit_grow(&w->worth, &w->worth_cap, jobs, sizeof *w->worth) ||
	    fit_grow(&w->current, &w->current_cap, w->size + 1, 1) ||
	    fit_grow(&w->capacity, &w->capacity_cap, w->stride + 1, 1) ||
	    fit_grow(&w->several, &w->several_cap, jobs, 1) ||
	    fit_grow(&w->tally, &w->tally_cap, 2 * w->stride + 1, 1) ||
	    fit_grow(&w->by_node, &w->by_node_cap, w->stride / FIT_LANES + 1, sizeof *w->by_node) ||
	    fit_grow(&w->listed, &w->listed_cap, w->stride + 1, sizeof *w->listed))
		return FIT_ENOMEM;
	memset(w->capacity, 0, w->stride);
	memcpy(w->capacity, p->capacity, (size_t)p->n_nodes);
	fit_pollux_rows_pad(w, p->current, w->current);
	for (int j = 0; j < p->n_jobs; j++)
		set_worth(w, j);
	for (int k = 0; k < 256; k++) {
		double p1 = 1.0 / p->n_jobs, p2 = k ? 1.0 / k : 0;

		w->change_at[k] = threshold_of(p1 + p2 - p1 * p2);
	}
	return FIT_OK;
}

void fit_pollux_rows_pad(const struct fit_pollux_rows *w, const uint8_t *from, uint8_t *to)
{
	size_t n = (size_t)w->p->n_nodes;

	memset(to, 0, w->size);
	for (int j = 0; j < w->p->n_jobs; j++)
		memcpy(row_of(w, to, j), from + (size_t)j * n, n);
}

void fit_pollux_rows_unpad(const struct fit_pollux_rows *w, const uint8_t *from, uint8_t *to)
{
	size_t n = (size_t)w->p->n_nodes;

	for (int j = 0; j < w->p->n_jobs; j++)
		memcpy(to + (size_t)j * n, from + (size_t)j * w->stride, n);
}

size_t fit_pollux_rows_count(const struct fit_pollux_rows *w, size_t most)
{
	size_t states = 1;

	for (int j = 0; j < w->p->n_jobs && states < most; j++) {
		size_t rows[FIT_POLLUX_REPLICAS_MAX + 1] = { 1 }, all = 0;	/* by replicas, as far as `most` */
		int max = w->p->jobs[j].max_replicas;

		for (int m = 0; m < w->p->n_nodes; m++)
			for (int r = max; r > 0; r--)	/* rows with r replicas on nodes up to m */
				for (int here = 1; here <= r && here <= w->p->capacity[m] && rows[r] < most; here++)
					rows[r] += rows[r - here];
		for (int r = 0; r <= max && all < most; r++)
			all += rows[r];
		states = all < most ? states * all : most;
	}
	return states < most ? states : most;
}

/* ---- variation ---- */

/* A chance whose first byte tied with its threshold is decided by another one. */
static bool chance_tied(struct fit_pollux_rows *w, uint32_t threshold)
{
	return (fit_draws_next(&w->draws) >> 24) < (threshold & 0xff);
}

/* 255 in each lane with this chance. */
static fit_lanes chances(struct fit_pollux_rows *w, uint32_t threshold)
{
	fit_lanes r = fit_lanes_draw(&w->draws), hit = (fit_lanes)(r < (uint8_t)(threshold >> 8));
	uint32_t ties = fit_lanes_bits((fit_lanes)(r == (uint8_t)(threshold >> 8)));

	for (; ties; ties &= ties - 1)
		if (chance_tied(w, threshold))
			hit[__builtin_ctz(ties)] = 255;
	return hit;
}

/* The upper bytes of chances to change, for jobs that are there. */
static fit_lanes upper_of(const struct fit_pollux_rows *w, fit_lanes present)
{
	fit_lanes at = { 0 };

	for (unsigned k = 1; k < 256 && fit_lanes_bits((fit_lanes)(present >= (uint8_t)k)); k++)
		at |= (fit_lanes)(present == (uint8_t)k) & (uint8_t)(w->change_at[k] >> 8);
	return at;
}

/* On nodes with a free GPU, entries are drawn anew between what they are and all of the node. */
INLINE void redraw(struct fit_pollux_rows *w, uint8_t *child, size_t b, fit_lanes room, fit_lanes present,
		   const size_t blocks)
{
	struct fit_draws *draws = &w->draws;
	const uint8_t *capacity = w->capacity + b;
	const uint16_t *change_at = w->change_at;
	uint32_t absent_at = change_at[0];
	fit_lanes absent = fit_lanes_of((uint8_t)(absent_at >> 8)), differ = upper_of(w, present) ^ absent;
	uint8_t count[FIT_LANES], *entries = child + b, *end = entries + blocks * FIT_LANES * (size_t)w->p->n_jobs;

	STORE(count, present);
	for (; entries < end; entries += blocks * FIT_LANES) {
		fit_lanes here = (fit_lanes)(LOAD(entries) != 0), r = fit_lanes_draw(draws);
		fit_lanes at = (differ & here) ^ absent;
		uint32_t hits = fit_lanes_bits((fit_lanes)(r < at) & room);
		uint32_t ties = fit_lanes_bits((fit_lanes)(r == at) & room);

		for (; ties; ties &= ties - 1) {
			uint32_t m = (uint32_t)__builtin_ctz(ties);

			if (chance_tied(w, entries[m] ? change_at[count[m]] : absent_at))
				hits |= 1u << m;
		}
		for (; hits; hits &= hits - 1) {
			uint32_t m = (uint32_t)__builtin_ctz(hits);
			uint32_t more = capacity[m] > entries[m] ? (uint32_t)(capacity[m] - entries[m]) : 0;

			entries[m] = (uint8_t)(entries[m] + fit_draws_below(draws, more + 1));
		}
	}
}

INLINE void make_child(struct fit_pollux_rows *w, const uint8_t *first, const uint8_t *rest, int cut,
		       uint8_t *child, const size_t blocks)
{
	const uint32_t reset = threshold_of(RESET_ROW), both = threshold_of(RESET_ROW * THIN_ROW);
	const uint32_t thin = threshold_of(THIN_ROW), either = reset + thin - both;
	const uint8_t *current = w->current;
	uint8_t *used = w->tally, *present = w->tally + w->stride;
	fit_lanes u1 = { 0 }, n1 = { 0 };	/* of the only block; where there are more, they are in the tally */
	int n_jobs = w->p->n_jobs;

	if (blocks > 1)
		memset(used, 0, 2 * w->stride);
	for (int j = 0; j < n_jobs; j++) {
		size_t at = (size_t)j * blocks * FIT_LANES;
		const uint8_t *from = (j < cut ? first : rest) + at;
		/* one number for two chances: [reset [both] thin] */
		uint32_t r = fit_draws_next(&w->draws) >> 16;
		bool thinned = r - (reset - both) < either - (reset - both);

		from = r < reset ? current + at : from;
		for (size_t b = 0; b < blocks * FIT_LANES; b += FIT_LANES) {
			fit_lanes row = LOAD(from + b), u = blocks > 1 ? LOAD(used + b) : u1;
			fit_lanes n = blocks > 1 ? LOAD(present + b) : n1;

			if (thinned)
				row &= ~chances(w, threshold_of(THIN_ENTRY));
			/* both counts stop at 255, far above what they are compared with */
			u1 = fit_lanes_add(u, row);
			n1 = fit_lanes_add(n, (fit_lanes)(row != 0) & fit_lanes_of(1));
			if (blocks > 1) {
				STORE(used + b, u1);
				STORE(present + b, n1);
			}
			STORE(child + at + b, row);
		}
	}
	for (size_t b = 0; b < blocks * FIT_LANES; b += FIT_LANES) {
		fit_lanes room = (fit_lanes)((blocks > 1 ? LOAD(used + b) : u1) < LOAD(w->capacity + b));

		if (fit_lanes_bits(room))
			redraw(w, child, b, room, blocks > 1 ? LOAD(present + b) : n1, blocks);
	}
}

void fit_pollux_rows_child(struct fit_pollux_rows *w, const uint8_t *first, const uint8_t *rest, int cut,
			   uint8_t *child)
{
	if (w->stride == FIT_LANES)
		make_child(w, first, rest, cut, child, 1);
	else
		make_child(w, first, rest, cut, child, w->stride / FIT_LANES);
}

/* ---- repair ---- */

/* At most max_replicas on at most MAX_JOB_NODES nodes, nodes taken in a random order: of the nodes that
 * the job is on, for the others make no difference. */
static void trim_row(struct fit_pollux_rows *w, uint8_t *row, int max_replicas)
{
	int n = 0, left = max_replicas, *nodes = w->listed;

	for (size_t b = 0; b < w->stride; b += FIT_LANES) {
		uint32_t bits = fit_lanes_bits((fit_lanes)(LOAD(row + b) != 0));

		for (; bits; bits &= bits - 1)
			nodes[n++] = (int)b + __builtin_ctz(bits);
	}
	for (int nodes_left = MAX_JOB_NODES; n > 0 && left > 0 && nodes_left > 0; nodes_left--) {
		uint32_t k = fit_draws_below(&w->draws, (uint32_t)n);
		uint8_t *entry = &row[nodes[k]];

		*entry = *entry > left ? (uint8_t)left : *entry;
		left -= *entry;
		nodes[k] = nodes[--n];
	}
	while (n > 0)
		row[nodes[--n]] = 0;
}

/* Replicas of a row, and whether they are on several nodes. */
INLINE int measure(const uint8_t *row, const size_t blocks, bool *several)
{
	uint32_t on = 0, more = 0;
	int replicas = 0;

	for (size_t b = 0; b < blocks * FIT_LANES; b += FIT_LANES) {
		fit_lanes v = LOAD(row + b);
		uint32_t here = fit_lanes_bits((fit_lanes)(v != 0));

		replicas += fit_lanes_sum(v);
		more |= (here & (here - 1)) | (on ? here : 0);
		on |= here;
	}
	*several = more != 0;
	return replicas;
}

static int nodes_of(const struct fit_pollux_rows *w, const uint8_t *row)
{
	int n = 0;

	for (size_t b = 0; b < w->stride; b += FIT_LANES)
		n += __builtin_popcount(fit_lanes_bits((fit_lanes)(LOAD(row + b) != 0)));
	return n;
}

/* Which jobs span nodes, as it was before anything is repaired; how many. */
INLINE int mark_several(struct fit_pollux_rows *w, const uint8_t *state, const size_t blocks)
{
	uint8_t *marks = w->several;
	int n_jobs = w->p->n_jobs, n = 0;

	for (int j = 0; j < n_jobs; j++) {
		bool several;

		(void)measure(state + (size_t)j * blocks * FIT_LANES, blocks, &several);
		marks[j] = several ? 255 : 0;
		n += several;
	}
	return n;
}

/* (a): a row without its GPUs on nodes that are shut. */
INLINE fit_lanes keep_apart(struct fit_pollux_by_node *n, fit_lanes v, fit_lanes spans, fit_lanes all)
{
	fit_lanes here = (fit_lanes)(v != 0) & spans;

	n->shut |= n->taken & here;
	n->taken |= here;
	return v & ~(n->shut & (spans | all));
}

/* (c): a row cut to what is left. */
INLINE fit_lanes cut_to_left(struct fit_pollux_by_node *n, fit_lanes v)
{
	v = fit_lanes_min(v, n->left);
	n->left -= v;
	n->any |= v;
	return v;
}

/*
 * In one pass over the rows: (a) on each node at most one job that spans nodes (the reference takes
 * every later row off such a node, what is right is to take off the later spanning ones); (b) limits of
 * the job; (c) capacity, earlier jobs first. Then the row is what it stays, and is valued.
 */
INLINE void repair(struct fit_pollux_rows *w, uint8_t *state, double f[2], const size_t blocks)
{
	const struct fit_pollux_problem *p = w->p;
	const fit_lanes all = fit_lanes_of(p->interference_zeroes_all ? 255 : 0);
	const struct fit_pollux_job_worth *worth = w->worth, *end = worth + p->n_jobs;
	const uint8_t *current = w->current, *spans = w->several;
	struct fit_pollux_by_node one = { .left = LOAD(w->capacity) }, *n = blocks > 1 ? w->by_node : &one;
	bool avoid = p->avoid_interference && mark_several(w, state, blocks) > 1;
	double sum = 0, speedups = 0;
	int gpus_in_use = 0;

	for (size_t b = 0; blocks > 1 && b < blocks; b++)
		n[b] = (struct fit_pollux_by_node){ .left = LOAD(w->capacity + b * FIT_LANES) };
	for (uint8_t *row = state; worth < end; worth++) {
		uint32_t changed = 0;
		bool several;
		int replicas;

		for (size_t b = 0; avoid && b < blocks; b++)
			STORE(row + b * FIT_LANES, keep_apart(&n[b], LOAD(row + b * FIT_LANES),
							      fit_lanes_of(*spans), all));
		replicas = measure(row, blocks, &several);
		if (replicas > worth->max_replicas || (blocks > 1 && nodes_of(w, row) > MAX_JOB_NODES))
			trim_row(w, row, worth->max_replicas);
		for (size_t b = 0; b < blocks; b++) {
			fit_lanes v = cut_to_left(&n[b], LOAD(row + b * FIT_LANES));

			STORE(row + b * FIT_LANES, v);
			changed |= fit_lanes_bits((fit_lanes)(v != LOAD(current + b * FIT_LANES)));
		}
		replicas = measure(row, blocks, &several);
		/* whether it changed is hardly foreseen: both are read */
		sum += (const double[]){ worth->of[several][replicas].term, worth->keep }[!changed];
		speedups += worth->of[several][replicas].speedup;
		row += blocks * FIT_LANES;
		current += blocks * FIT_LANES;
		spans++;
	}
	for (size_t b = 0; b < blocks; b++)
		gpus_in_use += fit_lanes_sum((fit_lanes)(n[b].any != 0) & LOAD(w->capacity + b * FIT_LANES));
	f[0] = p->power == -1 ? -p->n_jobs / sum : -pow(sum / p->n_jobs, 1 / p->power);
	f[1] = gpus_in_use ? -speedups / gpus_in_use : 0;
}

void fit_pollux_rows_repair(struct fit_pollux_rows *w, uint8_t *state, double f[2])
{
	if (w->stride == FIT_LANES)
		repair(w, state, f, 1);
	else
		repair(w, state, f, w->stride / FIT_LANES);
}
