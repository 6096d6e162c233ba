/* SPDX-License-Identifier: MIT */
/*
 * Local search for Pollux's allocation problem; pollux_search.h says what it does.
 *
 * Everything is in terms of gains: the fitness is a monotone function of sum_j g_j, where
 * g_j = sign(p) (u_j + 1e-3)^p, so a move is good when it raises that sum. A job's g depends on its
 * number of replicas, on whether it spans nodes, and on whether its row is the one it holds now.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/replay/pollux_search.h"

#define SWEEPS 20		/* at most; it ends when a sweep changes nothing */
#define GROWERS 10		/* jobs on either side that pair moves look at */
#define DONORS 40
#define CHAINS 64		/* jobs that are pushed */
#define MIN_GAIN 1e-12		/* relative; less is rounding */
#define SIZES (FIT_POLLUX_REPLICAS_MAX + 1)

struct job {
	int replicas, nodes;	/* of its row */
	double gain;		/* of its row */
	double keep;		/* of its row of now, which is current_replicas large */
	int current_replicas, current_nodes;
	bool current_fits;	/* the row of now respects the job's own limits */
	int max;
	double by_size[2][SIZES];	/* of a changed row: [spans nodes?][replicas] */
};

struct state {
	uint8_t *rows;		/* n_jobs x n_nodes */
	int *room;		/* free GPUs of each node */
	int *spanning;		/* jobs on several nodes that use each node */
	struct job *jobs;
	double sum;
};

struct fit_pollux_local {
	const struct fit_pollux_problem *p;
	struct state s, saved;
	int max_capacity;
	uint8_t *best;
	double best_sum;
	uint8_t *row[4];	/* scratch */
	int *order, *sizes;
	double *key;
	size_t saved_rows_cap, saved_jobs_cap, saved_room_cap, saved_spanning_cap;
	size_t rows_cap, jobs_cap, room_cap, spanning_cap, best_cap, row_cap[4], order_cap, sizes_cap, key_cap;
};

int fit_pollux_local_new(struct fit_pollux_local **l, struct fit_err *err)
{
	*l = calloc(1, sizeof **l);
	return *l ? FIT_OK : fit_fail_nomem(err);
}

void fit_pollux_local_free(struct fit_pollux_local *l)
{
	if (!l)
		return;
	free(l->s.rows);
	free(l->s.room);
	free(l->s.spanning);
	free(l->s.jobs);
	free(l->saved.rows);
	free(l->saved.room);
	free(l->saved.spanning);
	free(l->saved.jobs);
	free(l->best);
	for (int i = 0; i < 4; i++)
		free(l->row[i]);
	free(l->order);
	free(l->sizes);
	free(l->key);
	free(l);
}

static double gain_of(const struct fit_pollux_problem *p, double u)
{
	if (p->power == -1)
		return -1 / (u + 1e-3);
	if (p->power == 1)
		return u + 1e-3;
	return p->power > 0 ? pow(u + 1e-3, p->power) : -pow(u + 1e-3, p->power);
}

static double fitness_of(const struct fit_pollux_problem *p, double sum)
{
	double mean = sum / p->n_jobs;

	return p->power > 0 ? pow(mean, 1 / p->power) : pow(-mean, 1 / p->power);
}

static uint8_t *row_of(const struct fit_pollux_local *l, int j)
{
	return l->s.rows + (size_t)j * (size_t)l->p->n_nodes;
}

static const uint8_t *current_of(const struct fit_pollux_local *l, int j)
{
	return l->p->current + (size_t)j * (size_t)l->p->n_nodes;
}

static void measure(const struct fit_pollux_local *l, const uint8_t *row, int *replicas, int *nodes)
{
	*replicas = *nodes = 0;
	for (int m = 0; m < l->p->n_nodes; m++) {
		*replicas += row[m];
		*nodes += row[m] != 0;
	}
}

static int prepare(struct fit_pollux_local *l, const struct fit_pollux_problem *p)
{
	size_t cells = (size_t)p->n_jobs * (size_t)p->n_nodes, nodes = (size_t)p->n_nodes + 1;
	double scale = (double)p->n_nodes / p->n_gpus;
	size_t jobs = (size_t)p->n_jobs + 1;
	int rc;

	l->p = p;
	rc = fit_grow(&l->s.rows, &l->rows_cap, cells + 1, 1);
	rc = rc ? rc : fit_grow(&l->best, &l->best_cap, cells + 1, 1);
	rc = rc ? rc : fit_grow(&l->s.jobs, &l->jobs_cap, jobs, sizeof *l->s.jobs);
	rc = rc ? rc : fit_grow(&l->s.room, &l->room_cap, nodes, sizeof *l->s.room);
	rc = rc ? rc : fit_grow(&l->s.spanning, &l->spanning_cap, nodes, sizeof *l->s.spanning);
	rc = rc ? rc : fit_grow(&l->saved.rows, &l->saved_rows_cap, cells + 1, 1);
	rc = rc ? rc : fit_grow(&l->saved.jobs, &l->saved_jobs_cap, jobs, sizeof *l->saved.jobs);
	rc = rc ? rc : fit_grow(&l->saved.room, &l->saved_room_cap, nodes, sizeof *l->saved.room);
	rc = rc ? rc : fit_grow(&l->saved.spanning, &l->saved_spanning_cap, nodes, sizeof *l->saved.spanning);
	for (int i = 0; i < 4; i++)
		rc = rc ? rc : fit_grow(&l->row[i], &l->row_cap[i], nodes, 1);
	rc = rc ? rc : fit_grow(&l->order, &l->order_cap, 2 * jobs, sizeof *l->order);
	rc = rc ? rc : fit_grow(&l->sizes, &l->sizes_cap, jobs, sizeof *l->sizes);
	rc = rc ? rc : fit_grow(&l->key, &l->key_cap, 2 * jobs, sizeof *l->key);
	if (rc)
		return rc;
	l->max_capacity = 0;
	for (int m = 0; m < p->n_nodes; m++)
		if (p->capacity[m] > l->max_capacity)
			l->max_capacity = p->capacity[m];
	for (int j = 0; j < p->n_jobs; j++) {
		const struct fit_pollux_job *in = &p->jobs[j];
		struct job *q = &l->s.jobs[j];

		measure(l, current_of(l, j), &q->current_replicas, &q->current_nodes);
		q->max = in->max_replicas;
		q->current_fits = q->current_replicas <= q->max;
		q->keep = q->current_fits ? gain_of(p, in->speedup[q->current_nodes > 1][q->current_replicas] * scale) :
			  -HUGE_VAL;
		for (int r = 0; r <= q->max; r++)
			for (int several = 0; several < 2; several++)
				q->by_size[several][r] = gain_of(p, in->speedup[several][r] * scale *
								    in->restart_factor);
	}
	return FIT_OK;
}

/* ---- states ---- */

static void clear(struct fit_pollux_local *l)
{
	struct state *s = &l->s;

	memset(s->rows, 0, (size_t)l->p->n_jobs * (size_t)l->p->n_nodes);
	memset(s->spanning, 0, (size_t)l->p->n_nodes * sizeof *s->spanning);
	for (int m = 0; m < l->p->n_nodes; m++)
		s->room[m] = l->p->capacity[m];
	s->sum = 0;
	for (int j = 0; j < l->p->n_jobs; j++) {
		s->jobs[j].replicas = s->jobs[j].nodes = 0;
		s->jobs[j].gain = s->jobs[j].current_replicas ? s->jobs[j].by_size[0][0] : s->jobs[j].keep;
		s->sum += s->jobs[j].gain;
	}
}

static void occupy(struct fit_pollux_local *l, int j, int sign)
{
	const uint8_t *row = row_of(l, j);
	bool spans = l->s.jobs[j].nodes > 1;

	for (int m = 0; m < l->p->n_nodes; m++) {
		if (!row[m])
			continue;
		l->s.room[m] -= sign * row[m];
		l->s.spanning[m] += spans ? sign : 0;
	}
}

/* Give job j this row, whose gain is known. Its old one was taken off by occupy(l, j, -1). */
static void put(struct fit_pollux_local *l, int j, const uint8_t *row, double gain)
{
	struct job *q = &l->s.jobs[j];

	memmove(row_of(l, j), row, (size_t)l->p->n_nodes);
	measure(l, row_of(l, j), &q->replicas, &q->nodes);
	l->s.sum += gain - q->gain;
	q->gain = gain;
	occupy(l, j, 1);
}

static bool fits(const struct fit_pollux_local *l, const uint8_t *row, int nodes)
{
	for (int m = 0; m < l->p->n_nodes; m++)
		if (row[m] && (row[m] > l->s.room[m] ||
			       (nodes > 1 && l->p->avoid_interference && l->s.spanning[m])))
			return false;
	return true;
}

/*
 * Nodes for so many replicas of job j, and the gain: the row of now where it has that size and
 * fits; one node, the fullest that has room; else several, emptiest first. -infinity: no room.
 */
static double find_row(const struct fit_pollux_local *l, int j, int replicas, uint8_t *row)
{
	const struct fit_pollux_problem *p = l->p;
	const struct job *q = &l->s.jobs[j];
	int best = -1, left = replicas, nodes = 0;

	if (replicas == q->current_replicas && q->current_fits && fits(l, current_of(l, j), q->current_nodes)) {
		memcpy(row, current_of(l, j), (size_t)p->n_nodes);
		return q->keep;
	}
	memset(row, 0, (size_t)p->n_nodes);
	if (replicas == 0)
		return q->by_size[0][0];
	if (replicas <= l->max_capacity) {
		for (int m = 0; m < p->n_nodes; m++)
			if (l->s.room[m] >= replicas && (best < 0 || l->s.room[m] < l->s.room[best]))
				best = m;
		if (best >= 0) {
			row[best] = (uint8_t)replicas;
			return q->by_size[0][replicas];
		}
	}
	for (int level = l->max_capacity; level > 0 && left > 0; level--) {
		for (int m = 0; m < p->n_nodes && left > 0; m++) {
			int take = left < level ? left : level;

			if (l->s.room[m] != level || (p->avoid_interference && l->s.spanning[m]))
				continue;
			row[m] = (uint8_t)take;
			left -= take;
			nodes++;
		}
	}
	if (left > 0 || nodes < 2)
		return -HUGE_VAL;
	return q->by_size[1][replicas];
}

/* ---- moves ---- */

/* Sizes worth a look: all of them for small problems, else those near the present one and a few of
 * every magnitude. */
static bool worth_a_look(const struct fit_pollux_local *l, int j, int r)
{
	const struct job *q = &l->s.jobs[j];

	if (l->p->n_jobs <= 64 || r <= 4 || r == q->current_replicas)
		return true;
	return r % l->max_capacity == 0 &&
	       (r <= 4 * l->max_capacity || r % (4 * l->max_capacity) == 0 || r == q->max);
}

/* The best size for one job, all else staying. */
static bool regrant(struct fit_pollux_local *l, int j)
{
	struct job *q = &l->s.jobs[j];
	double best = q->gain;
	bool better = false;

	occupy(l, j, -1);
	for (int r = 0; r <= q->max; r++) {
		double g;

		if (!worth_a_look(l, j, r))
			continue;
		g = find_row(l, j, r, l->row[0]);
		if (g > best + MIN_GAIN * fabs(best)) {
			best = g;
			better = true;
			memcpy(l->row[1], l->row[0], (size_t)l->p->n_nodes);
		}
	}
	if (better)
		put(l, j, l->row[1], best);
	else
		occupy(l, j, 1);
	return better;
}

/* Book (or give back) a row that is not in the state yet. */
static void book(struct fit_pollux_local *l, const uint8_t *row, int sign)
{
	int replicas, nodes;

	measure(l, row, &replicas, &nodes);
	for (int m = 0; m < l->p->n_nodes; m++) {
		l->s.room[m] -= sign * row[m];
		l->s.spanning[m] += nodes > 1 && row[m] ? sign : 0;
	}
}

/* The most that a job can gain anywhere. */
static double best_possible(const struct fit_pollux_local *l, const struct job *q)
{
	int one = q->max < l->max_capacity ? q->max : l->max_capacity;

	return fmax(q->keep, fmax(q->by_size[0][one], q->by_size[1][q->max]));
}

struct pair {
	double sum, gain[2];	/* the best so far: first, second */
	bool found;
};

/* Sizes from..to for the first job, placed before the second one, which takes what is left. */
static void try_order(struct fit_pollux_local *l, const int job[2], const int from[2], const int to[2],
		      uint8_t *const kept[2], struct pair *best)
{
	size_t n = (size_t)l->p->n_nodes;
	double hope = best_possible(l, &l->s.jobs[job[1]]);

	for (int r = from[0]; r <= to[0]; r++) {
		double g;

		if (!worth_a_look(l, job[0], r))
			continue;
		g = find_row(l, job[0], r, l->row[0]);
		if (g + hope <= best->sum)
			continue;	/* not even the best of the second would make up for it */
		book(l, l->row[0], 1);
		for (int t = from[1]; t <= to[1]; t++) {
			double h = worth_a_look(l, job[1], t) ? find_row(l, job[1], t, l->row[1]) : -HUGE_VAL;

			if (!(g + h > best->sum + MIN_GAIN * fabs(best->sum)))
				continue;
			*best = (struct pair){ g + h, { g, h }, true };
			memcpy(kept[0], l->row[0], n);
			memcpy(kept[1], l->row[1], n);
		}
		book(l, l->row[0], -1);
	}
}

/* The best sizes for two jobs together, all else staying: one may grow, the other may not. */
static bool regrant_two(struct fit_pollux_local *l, int grows, int shrinks)
{
	const struct job *a = &l->s.jobs[grows], *b = &l->s.jobs[shrinks];
	int small = a->replicas > 0 ? a->replicas - 1 : 0;
	struct pair best = { .sum = a->gain + b->gain }, first = best;
	bool b_first;

	occupy(l, grows, -1);
	occupy(l, shrinks, -1);
	/* either may have the first choice of nodes; a row of its own for what each order finds */
	try_order(l, (int[]){ shrinks, grows }, (int[]){ 0, small }, (int[]){ b->replicas, a->max },
		  (uint8_t *const[]){ l->row[3], l->row[2] }, &best);
	first = best;
	first.found = false;
	try_order(l, (int[]){ grows, shrinks }, (int[]){ small, 0 }, (int[]){ a->max, b->replicas },
		  (uint8_t *const[]){ l->row[2], l->row[3] }, &first);
	b_first = !first.found;
	if (b_first && !best.found) {
		occupy(l, shrinks, 1);
		occupy(l, grows, 1);
		return false;
	}
	put(l, shrinks, l->row[3], b_first ? best.gain[0] : first.gain[1]);
	put(l, grows, l->row[2], b_first ? best.gain[1] : first.gain[0]);
	return true;
}

/* Order jobs by key, largest first, ties by index; the first `keep` of them are what matters. */
static void top(const double *key, int n, int keep, int *order)
{
	int k = 0;

	for (int j = 0; j < n; j++) {
		int i = k < keep ? k : keep;

		if (k == keep && !(key[j] > key[order[keep - 1]]))
			continue;
		if (k < keep)
			k++;
		for (i = k - 1; i > 0 && key[j] > key[order[i - 1]]; i--)
			order[i] = order[i - 1];
		order[i] = j;
	}
}

/* GPUs from those who lose least by one less to those who gain most by one more. */
static bool exchange(struct fit_pollux_local *l)
{
	const struct fit_pollux_problem *p = l->p;
	int n = p->n_jobs, n_growers = n < GROWERS ? n : GROWERS, n_donors = n < DONORS ? n : DONORS;
	double *wish = l->key, *spare = l->key + n;
	int *growers = l->order, *donors = l->order + n;
	bool any = false;

	for (int j = 0; j < n; j++) {
		const struct job *q = &l->s.jobs[j];
		int more = q->replicas < l->max_capacity ? q->replicas + 1 : q->replicas + l->max_capacity;

		more = more > q->max ? q->max : more;
		wish[j] = more > q->replicas ? (q->by_size[more > l->max_capacity][more] - q->gain) / (more - q->replicas) :
			  -HUGE_VAL;
		if (q->keep > q->gain && q->current_replicas > 0)	/* wants its old place back */
			wish[j] = fmax(wish[j], (q->keep - q->gain) / q->current_replicas);
		spare[j] = q->replicas ? (q->by_size[q->nodes > 1][q->replicas - 1] - q->gain) : -HUGE_VAL;
	}
	top(wish, n, n_growers, growers);
	top(spare, n, n_donors, donors);
	for (int a = 0; a < n_growers; a++)
		for (int b = 0; b < n_donors; b++)
			if (growers[a] != donors[b] && wish[growers[a]] > -HUGE_VAL && spare[donors[b]] > -HUGE_VAL)
				any = regrant_two(l, growers[a], donors[b]) || any;
	return any;
}

/* ---- chains: one job is pushed, the others find new places, and all is undone if it did not pay ---- */

static void copy_state(const struct fit_pollux_local *l, struct state *to, const struct state *from)
{
	const struct fit_pollux_problem *p = l->p;

	memcpy(to->rows, from->rows, (size_t)p->n_jobs * (size_t)p->n_nodes);
	memcpy(to->room, from->room, (size_t)p->n_nodes * sizeof *to->room);
	memcpy(to->spanning, from->spanning, (size_t)p->n_nodes * sizeof *to->spanning);
	memcpy(to->jobs, from->jobs, (size_t)p->n_jobs * sizeof *to->jobs);
	to->sum = from->sum;
}

static void take_off(struct fit_pollux_local *l, int j)
{
	occupy(l, j, -1);
	memset(l->row[0], 0, (size_t)l->p->n_nodes);
	put(l, j, l->row[0], l->s.jobs[j].by_size[0][0]);
}

/* Job j back to its row of now, whoever is in the way goes. */
static bool push_back(struct fit_pollux_local *l, int j)
{
	const struct job *q = &l->s.jobs[j];
	const uint8_t *current = current_of(l, j);

	if (!q->current_replicas || !q->current_fits || !(q->keep > q->gain))
		return false;
	take_off(l, j);
	for (int k = 0; k < l->p->n_jobs && !fits(l, current, q->current_nodes); k++) {
		const uint8_t *row = row_of(l, k);
		bool in_the_way = false;

		for (int m = 0; m < l->p->n_nodes && !in_the_way; m++)
			in_the_way = row[m] && current[m] &&
				     (current[m] > l->s.room[m] ||
				      (q->current_nodes > 1 && l->s.jobs[k].nodes > 1 && l->p->avoid_interference));
		if (in_the_way && k != j)
			take_off(l, k);
	}
	occupy(l, j, -1);
	put(l, j, current, q->keep);
	return true;
}

/* Job j gives everything away and comes last. */
static bool push_away(struct fit_pollux_local *l, int j)
{
	if (!l->s.jobs[j].replicas)
		return false;
	take_off(l, j);
	return true;
}

/* Everything for job j: the size it likes best on an empty cluster, on the nodes of those who have
 * least to lose, which are the jobs with most GPUs. */
static bool push_ahead(struct fit_pollux_local *l, int j)
{
	const struct job *q = &l->s.jobs[j];
	int want = 0;

	for (int r = q->replicas + 1; r <= q->max; r++)
		if (q->by_size[r > l->max_capacity][r] > q->by_size[want > l->max_capacity][want])
			want = r;
	if (want <= q->replicas)
		return false;
	take_off(l, j);
	for (int n = 0; n < l->p->n_jobs; n++) {
		double g = find_row(l, j, want, l->row[1]);
		int most = -1;

		if (g > -HUGE_VAL) {
			occupy(l, j, -1);
			put(l, j, l->row[1], g);
			return true;
		}
		for (int k = 0; k < l->p->n_jobs; k++)
			if (k != j && l->s.jobs[k].replicas &&
			    (most < 0 || l->s.jobs[k].replicas > l->s.jobs[most].replicas))
				most = k;
		if (most < 0)
			break;
		take_off(l, most);
	}
	return true;
}

static bool chain(struct fit_pollux_local *l, bool (*push)(struct fit_pollux_local *, int), int j)
{
	copy_state(l, &l->saved, &l->s);
	if (!push(l, j))
		return false;
	/* those who lost their place choose first, or the others would take it all */
	for (int k = 0; k < l->p->n_jobs; k++)
		if (k != j && l->s.jobs[k].replicas == 0 && l->saved.jobs[k].replicas > 0)
			(void)regrant(l, k);
	for (int round = 0; round < 2; round++) {
		for (int k = 0; k < l->p->n_jobs; k++)
			if (k != j)
				(void)regrant(l, k);
		(void)regrant(l, j);
	}
	if (l->s.sum > l->saved.sum + MIN_GAIN * fabs(l->saved.sum))
		return true;
	copy_state(l, &l->s, &l->saved);
	return false;
}

static bool chains(struct fit_pollux_local *l)
{
	static bool (*const pushes[])(struct fit_pollux_local *, int) = { push_back, push_away, push_ahead };
	bool any = false;

	for (size_t i = 0; i < sizeof pushes / sizeof *pushes; i++)
		for (int j = 0; j < l->p->n_jobs && j < CHAINS; j++)
			any = chain(l, pushes[i], j) || any;
	return any;
}

static void improve(struct fit_pollux_local *l)
{
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		bool any = false;

		for (int j = 0; j < l->p->n_jobs; j++)
			any = regrant(l, j) || any;
		any = exchange(l) || any;
		if (!any)
			any = chains(l);
		if (!any)
			break;
	}
	if (l->s.sum > l->best_sum) {
		l->best_sum = l->s.sum;
		memcpy(l->best, l->s.rows, (size_t)l->p->n_jobs * (size_t)l->p->n_nodes);
	}
}

/* ---- the price of a GPU ---- */

/* The size that pays best at this price; *value what it is worth after paying. -1: the row of now. */
static int best_at(const struct fit_pollux_local *l, int j, double price, double *value)
{
	const struct job *q = &l->s.jobs[j];
	int size = -1;

	*value = q->keep - price * q->current_replicas;
	for (int r = 0; r <= q->max; r++) {
		double g = r <= l->max_capacity && q->by_size[0][r] > q->by_size[1][r] ? q->by_size[0][r] :
			   r > 1 ? q->by_size[1][r] : q->by_size[0][r];

		if (g - price * r > *value) {
			*value = g - price * r;
			size = r;
		}
	}
	return size;
}

static int demand_at(const struct fit_pollux_local *l, double price, double *dual)
{
	int demand = 0;

	*dual = price * l->p->n_gpus;
	for (int j = 0; j < l->p->n_jobs; j++) {
		double value;
		int r = best_at(l, j, price, &value);

		demand += r < 0 ? l->s.jobs[j].current_replicas : r;
		*dual += value;
	}
	return demand;
}

/* The price at which demand meets the cluster; the smallest dual value met on the way. */
static double find_price(const struct fit_pollux_local *l, double *dual)
{
	double lo = 0, hi = 1, d;

	*dual = HUGE_VAL;
	for (int i = 0; i < 60; i++, hi *= 4) {
		int demand = demand_at(l, hi, &d);

		*dual = d < *dual ? d : *dual;
		if (demand <= l->p->n_gpus)
			break;
	}
	if (demand_at(l, 0, &d) <= l->p->n_gpus) {
		*dual = d < *dual ? d : *dual;
		return 0;
	}
	for (int i = 0; i < 50 && hi - lo > 1e-12 * hi; i++) {
		double mid = lo + (hi - lo) / 2;

		if (demand_at(l, mid, &d) > l->p->n_gpus)
			lo = mid;
		else
			hi = mid;
		*dual = d < *dual ? d : *dual;
	}
	return hi;
}

/* Realise the sizes of a price: rows of now first, then the others, largest first. */
static void realise(struct fit_pollux_local *l, double price)
{
	int n = l->p->n_jobs;
	double value;

	clear(l);
	for (int j = 0; j < n; j++) {
		l->sizes[j] = best_at(l, j, price, &value);
		if (l->sizes[j] >= 0)
			continue;
		if (fits(l, current_of(l, j), l->s.jobs[j].current_nodes))
			put(l, j, current_of(l, j), l->s.jobs[j].keep);
		else
			l->sizes[j] = l->s.jobs[j].current_replicas;
	}
	for (int size = FIT_POLLUX_REPLICAS_MAX; size > 0; size--) {
		for (int j = 0; j < n; j++) {
			if (l->sizes[j] != size)
				continue;
			for (int r = size; r > 0; r--) {
				double g = find_row(l, j, r, l->row[0]);

				if (g > l->s.jobs[j].gain) {
					put(l, j, l->row[0], g);
					break;
				}
			}
		}
	}
}

int fit_pollux_local_search(struct fit_pollux_local *l, const struct fit_pollux_problem *p,
			    const uint8_t **best, double f[2], double *bound, struct fit_err *err)
{
	double dual, price;

	if (prepare(l, p))
		return fit_fail_nomem(err);
	l->best_sum = -HUGE_VAL;
	price = find_price(l, &dual);
	clear(l);
	for (int j = 0; j < p->n_jobs; j++)
		if (l->s.jobs[j].current_replicas && l->s.jobs[j].current_fits &&
		    fits(l, current_of(l, j), l->s.jobs[j].current_nodes))
			put(l, j, current_of(l, j), l->s.jobs[j].keep);
	improve(l);
	realise(l, price);
	improve(l);
	fit_pollux_objectives(p, l->best, f);
	*best = l->best;
	*bound = fitness_of(p, dual);
	return FIT_OK;
}
