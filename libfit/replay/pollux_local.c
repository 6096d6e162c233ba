/* SPDX-License-Identifier: MIT */
/*
 * Local search for Pollux's allocation problem; pollux_search.h says what it does.
 *
 * Everything is in terms of gains: the fitness is a monotone function of sum_j g_j, where
 * g_j = sign(p) (u_j + 1e-3)^p, so a move is good when it raises that sum. A job's g depends on its
 * number of replicas, on whether it spans nodes, and on whether its row is the one it holds now. Where a
 * changed job is does not matter to it, so sizes are tried on counts of nodes (pollux_pack.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/replay/pollux_gains.h"
#include "libfit/replay/pollux_pack.h"
#include "libfit/replay/pollux_search.h"

#define SWEEPS 20		/* at most; it ends when a sweep changes nothing */
#define GROWERS 10		/* jobs on either side that pair moves look at */
#define DONORS 40
#define CHAINS 64		/* jobs that are pushed */
#define MIN_GAIN 1e-12		/* relative; less is rounding */

struct job {
	struct fit_gains g;
	struct fit_pack_row row;	/* in the state */
	double gain;			/* of that row */
	bool kept;			/* it is the one of now */
	uint32_t touched;		/* the trial that has its row in the journal */
};

/* A way to place a job. */
struct choice {
	double gain;
	int size;
	bool several, keep;
};

/* A row that was given up in a trial. */
struct undo {
	int j;
	bool kept;
	double gain;
	struct fit_pack_row row;
};

struct fit_pollux_local {
	const struct fit_pollux_problem *p;
	struct fit_pack pack;
	struct job *jobs;
	uint8_t *best;
	double best_sum;
	struct undo *journal;
	size_t n_journal;
	uint32_t trial;		/* how many there were */
	bool noting;		/* within one */
	struct fit_gains_step *steps;
	int *order, *sizes;
	double *key;
	size_t jobs_cap, best_cap, journal_cap, steps_cap, order_cap, sizes_cap, key_cap;
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
	fit_pack_release(&l->pack);
	free(l->jobs);
	free(l->best);
	free(l->journal);
	free(l->steps);
	free(l->order);
	free(l->sizes);
	free(l->key);
	free(l);
}

static int prepare(struct fit_pollux_local *l, const struct fit_pollux_problem *p)
{
	size_t cells = (size_t)p->n_jobs * (size_t)p->n_nodes, jobs = (size_t)p->n_jobs + 1;
	int rc;

	l->p = p;
	rc = fit_pack_set(&l->pack, p);
	rc = rc ? rc : fit_grow(&l->best, &l->best_cap, cells + 1, 1);
	rc = rc ? rc : fit_grow(&l->jobs, &l->jobs_cap, jobs, sizeof *l->jobs);
	rc = rc ? rc : fit_grow(&l->journal, &l->journal_cap, jobs, sizeof *l->journal);
	rc = rc ? rc : fit_grow(&l->order, &l->order_cap, 2 * jobs, sizeof *l->order);
	rc = rc ? rc : fit_grow(&l->sizes, &l->sizes_cap, jobs, sizeof *l->sizes);
	rc = rc ? rc : fit_grow(&l->key, &l->key_cap, 2 * jobs, sizeof *l->key);
	rc = rc ? rc : fit_grow(&l->steps, &l->steps_cap, FIT_GAIN_SIZES * jobs, sizeof *l->steps);
	if (rc)
		return rc;
	l->trial = 0;
	l->noting = false;
	for (int j = 0; j < p->n_jobs; j++) {
		l->jobs[j].touched = 0;
		fit_gains_set(&l->jobs[j].g, p, j, l->pack.top);
	}
	return FIT_OK;
}

/* ---- one job ---- */

static bool more(double a, double b)
{
	return a > b + MIN_GAIN * fabs(b);
}

/* The best of a job but its row of now, where the nodes are like this. */
static struct choice best_change(const struct fit_pollux_local *l, const struct job *q,
				 const struct fit_pack_counts *c)
{
	int one = fit_pack_most(&l->pack, c, false), many = fit_pack_most(&l->pack, c, true), r, s;
	struct choice best = { 0 };

	r = q->g.up_to[0][one < q->g.max ? one : q->g.max];
	s = q->g.up_to[1][many < q->g.max ? many : q->g.max];
	best.size = r;
	best.gain = q->g.by_size[0][r];
	if (s > 1 && q->g.by_size[1][s] > best.gain)
		best = (struct choice){ .gain = q->g.by_size[1][s], .size = s, .several = true };
	return best;
}

/* The same, or its row of now. */
static struct choice best_choice(const struct fit_pollux_local *l, const struct job *q)
{
	struct choice best = best_change(l, q, &l->pack.now);

	if (q->g.keep >= best.gain && fit_pack_fits(&l->pack, &q->g.current))
		best = (struct choice){ .gain = q->g.keep, .keep = true };
	return best;
}

/* Job j, which holds nothing in the state, gets what was chosen. */
static void place(struct fit_pollux_local *l, int j, const struct choice *c)
{
	struct job *q = &l->jobs[j];

	if (c->keep)
		q->row = q->g.current;
	else if (c->size)
		fit_pack_choose(&l->pack, c->size, c->several, &q->row);
	else
		q->row.n = q->row.replicas = 0;
	fit_pack_take(&l->pack, &q->row);
	q->gain = c->gain;
	q->kept = c->keep;
}

/* Before a job's row changes: in a trial it is noted once. */
static void note(struct fit_pollux_local *l, int j)
{
	struct job *q = &l->jobs[j];

	if (!l->noting || q->touched == l->trial)
		return;
	q->touched = l->trial;
	l->journal[l->n_journal++] = (struct undo){ j, q->kept, q->gain, q->row };
}

/* Holding nothing, which may be just what the job does now. */
static struct choice nothing(const struct job *q)
{
	bool now = !q->g.current.replicas && q->g.keep > -HUGE_VAL;

	return (struct choice){ .gain = now ? q->g.keep : q->g.by_size[0][0], .keep = now };
}

static void take_off(struct fit_pollux_local *l, int j)
{
	struct choice none = nothing(&l->jobs[j]);

	note(l, j);
	fit_pack_give(&l->pack, &l->jobs[j].row);
	place(l, j, &none);
}

/* The best for one job, all else staying. */
static bool regrant(struct fit_pollux_local *l, int j)
{
	struct job *q = &l->jobs[j];
	struct choice best;

	if (!more(fit_gains_hope(&q->g, l->pack.free + q->row.replicas), q->gain))
		return false;
	fit_pack_give(&l->pack, &q->row);
	best = best_choice(l, q);
	if (!more(best.gain, q->gain)) {
		fit_pack_take(&l->pack, &q->row);
		return false;
	}
	note(l, j);
	place(l, j, &best);
	return true;
}

/* ---- two jobs ---- */

/* Could two jobs be better off together, if nodes did not matter? */
static bool worth_trying(const struct fit_pollux_local *l, const struct job *a, const struct job *b)
{
	int free = l->pack.free + a->row.replicas + b->row.replicas;
	double least = a->gain + b->gain;

	least += MIN_GAIN * fabs(least);
	for (int r = 0; r <= a->g.max && r <= free; r++)
		if (a->g.hope[r] + fit_gains_hope(&b->g, free - r) > least)
			return true;
	return false;
}

struct pair {
	double sum;
	struct choice first, second;	/* in the order in which they are placed */
	int order;			/* which job is first */
	bool found;
};

static void consider(struct pair *best, int order, struct choice first, struct choice second)
{
	if (!more(first.gain + second.gain, best->sum))
		return;
	*best = (struct pair){ first.gain + second.gain, first, second, order, true };
}

/* All sizes of the first job; the second one takes the best of what is left. */
static void try_sizes(struct fit_pollux_local *l, const struct job *a, const struct job *b, int order,
		      struct pair *best)
{
	int free = l->pack.free;

	for (int several = 0; several < 2; several++) {
		int most = fit_pack_most(&l->pack, &l->pack.now, several);

		most = most < a->g.max ? most : a->g.max;
		for (int r = several ? 2 : 0; r <= most; r++) {
			struct choice first = { a->g.by_size[several][r], r, several, false };

			if (a->g.up_to[several][r] != r || !more(first.gain + fit_gains_hope(&b->g, free - r), best->sum))
				continue;
			fit_pack_look(&l->pack);
			if (r)
				fit_pack_try(&l->pack, &l->pack.then, r, several);
			consider(best, order, first, best_change(l, b, &l->pack.then));
		}
	}
}

/* The best for two jobs together, all else staying: how much better it is than what they have. */
static struct pair best_pair(struct fit_pollux_local *l, int j, int k)
{
	struct job *q[2] = { &l->jobs[j], &l->jobs[k] };
	struct pair best = { .sum = q[0]->gain + q[1]->gain };

	if (!worth_trying(l, q[0], q[1]))
		return best;
	for (int i = 0; i < 2; i++)
		fit_pack_give(&l->pack, &q[i]->row);
	for (int i = 0; i < 2; i++) {
		if (fit_pack_fits(&l->pack, &q[i]->g.current)) {	/* its row of now, and whatever for the other */
			struct choice keep = { .gain = q[i]->g.keep, .keep = true };

			fit_pack_take(&l->pack, &q[i]->g.current);
			consider(&best, i, keep, best_choice(l, q[!i]));
			fit_pack_give(&l->pack, &q[i]->g.current);
		}
		try_sizes(l, q[i], q[!i], i, &best);
	}
	for (int i = 0; i < 2; i++)
		fit_pack_take(&l->pack, &q[i]->row);
	return best;
}

/* Job j and the one of others[0..n) with which it is best. */
static bool regrant_two(struct fit_pollux_local *l, int j, const int *others, int n)
{
	struct pair best = { .found = false };
	double gained = 0;
	int with = -1;

	for (int i = 0; i < n; i++) {
		int k = others ? others[i] : i;
		struct pair pair;

		if (k == j)
			continue;
		pair = best_pair(l, j, k);
		if (pair.found && pair.sum - l->jobs[j].gain - l->jobs[k].gain > gained) {
			gained = pair.sum - l->jobs[j].gain - l->jobs[k].gain;
			best = pair;
			with = k;
		}
	}
	if (with < 0)
		return false;
	note(l, j);
	note(l, with);
	fit_pack_give(&l->pack, &l->jobs[j].row);
	fit_pack_give(&l->pack, &l->jobs[with].row);
	place(l, best.order ? with : j, &best.first);
	place(l, best.order ? j : with, &best.second);
	return true;
}

/* Order jobs by key, largest first, ties by index; the first `keep` of them are what matters. */
static void top(const double *key, int n, int keep, int *order)
{
	int k = 0;

	for (int j = 0; j < n; j++) {
		int i;

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
	int n = l->p->n_jobs, n_growers = n < GROWERS ? n : GROWERS, n_donors = n < DONORS ? n : DONORS;
	double *wish = l->key, *spare = l->key + n;
	int *growers = l->order, *donors = l->order + n;
	bool any = false;

	for (int j = 0; j < n; j++) {
		const struct job *q = &l->jobs[j];
		int r = q->row.replicas, next = r < l->pack.top ? r + 1 : r + l->pack.top;

		next = next > q->g.max ? q->g.max : next;
		wish[j] = next > r ? (q->g.by_size[next > l->pack.top][next] - q->gain) / (next - r) : -HUGE_VAL;
		if (q->g.keep > q->gain && q->g.current.replicas > 0)	/* wants its old place back */
			wish[j] = fmax(wish[j], (q->g.keep - q->gain) / q->g.current.replicas);
		spare[j] = r ? q->g.by_size[q->row.n > 1][r - 1] - q->gain : -HUGE_VAL;
	}
	top(wish, n, n_growers, growers);
	top(spare, n, n_donors, donors);
	for (int a = 0; a < n_growers; a++)
		if (wish[growers[a]] > -HUGE_VAL)
			any = regrant_two(l, growers[a], donors, n_donors) || any;
	return any;
}

/* ---- chains: one job is pushed, the others find new places, and all is undone if it did not pay ---- */

static void undo(struct fit_pollux_local *l)
{
	for (size_t i = 0; i < l->n_journal; i++)
		fit_pack_give(&l->pack, &l->jobs[l->journal[i].j].row);
	for (size_t i = 0; i < l->n_journal; i++) {
		const struct undo *u = &l->journal[i];
		struct job *q = &l->jobs[u->j];

		q->row = u->row;
		q->gain = u->gain;
		q->kept = u->kept;
		fit_pack_take(&l->pack, &q->row);
	}
}

/* Did the trial gain anything? Job by job, for the sum of all may be far larger than what changed. */
static bool paid(const struct fit_pollux_local *l)
{
	double gained = 0, size = 0;

	for (size_t i = 0; i < l->n_journal; i++) {
		double before = l->journal[i].gain, d = l->jobs[l->journal[i].j].gain - before;

		gained += d;
		size = d > 0 || d < 0 ? fmax(size, fabs(before)) : size;
	}
	return gained > MIN_GAIN * size;
}

/* Job j back to its row of now, whoever is in the way goes. */
static bool push_back(struct fit_pollux_local *l, int j)
{
	struct job *q = &l->jobs[j];
	const struct choice keep = { .gain = q->g.keep, .keep = true };

	if (!q->g.current.replicas || !more(q->g.keep, q->gain))
		return false;
	take_off(l, j);
	for (int k = 0; k < l->p->n_jobs && !fit_pack_fits(&l->pack, &q->g.current); k++) {
		const struct fit_pack_row *row = &l->jobs[k].row;
		bool in_the_way = false;

		for (int i = 0; i < row->n && k != j && !in_the_way; i++)
			for (int m = 0; m < q->g.current.n && !in_the_way; m++)
				in_the_way = row->node[i] == q->g.current.node[m] &&
					     (q->g.current.gpus[m] > l->pack.room[row->node[i]] ||
					      (q->g.current.n > 1 && row->n > 1 && l->pack.avoid));
		if (in_the_way)
			take_off(l, k);
	}
	place(l, j, &keep);
	return true;
}

/* Job j gives everything away and comes last. */
static bool push_away(struct fit_pollux_local *l, int j)
{
	if (!l->jobs[j].row.replicas)
		return false;
	take_off(l, j);
	return true;
}

/* Everything for job j: the size it likes best on an empty cluster, on the nodes of those who have
 * least to lose, which are the jobs with most GPUs. */
static bool push_ahead(struct fit_pollux_local *l, int j)
{
	struct job *q = &l->jobs[j];
	double want = fit_gains_hope(&q->g, q->g.max);
	bool away = false;

	if (!more(want, q->gain))
		return false;
	for (int n = 0; n < l->p->n_jobs; n++) {
		struct choice c;
		int most = -1;

		if (!away)
			take_off(l, j);
		away = true;
		c = best_choice(l, q);
		if (!more(want, c.gain)) {
			place(l, j, &c);
			return true;
		}
		for (int k = 0; k < l->p->n_jobs; k++)
			if (k != j && l->jobs[k].row.replicas &&
			    (most < 0 || l->jobs[k].row.replicas > l->jobs[most].row.replicas))
				most = k;
		if (most < 0) {
			place(l, j, &c);
			return true;
		}
		take_off(l, most);
	}
	return true;
}

/* Job j, which holds nothing, gets the best of at most that size, its row of now if that is it. */
static void place_up_to(struct fit_pollux_local *l, int j, int size)
{
	struct job *q = &l->jobs[j];
	int one = fit_pack_most(&l->pack, &l->pack.now, false), many = fit_pack_most(&l->pack, &l->pack.now, true);
	struct choice c = { .gain = q->gain, .keep = q->kept };
	int r, s;

	size = size < q->g.max ? size : q->g.max;
	r = q->g.up_to[0][one < size ? one : size];
	s = q->g.up_to[1][many < size ? many : size];
	if (q->g.by_size[0][r] > c.gain)
		c = (struct choice){ .gain = q->g.by_size[0][r], .size = r };
	if (s > 1 && q->g.by_size[1][s] > c.gain)
		c = (struct choice){ .gain = q->g.by_size[1][s], .size = s, .several = true };
	if (q->g.current.replicas && q->g.current.replicas <= size && q->g.keep >= c.gain &&
	    fit_pack_fits(&l->pack, &q->g.current))
		c = (struct choice){ .gain = q->g.keep, .keep = true };
	place(l, j, &c);
}

/* After a push the others find their places again. */
static void settle(struct fit_pollux_local *l, int j)
{
	size_t lost = l->n_journal;
	int n = l->p->n_jobs;

	/* those who lost theirs as much as they had, or the first of them would take it all */
	for (size_t i = 0; i < lost; i++)
		if (l->journal[i].j != j)
			place_up_to(l, l->journal[i].j, l->journal[i].row.replicas);
	for (int k = 0; k < n; k++)
		if (k != j)
			(void)regrant(l, k);
	(void)regrant(l, j);
	for (size_t i = 0; i < lost && i < 4; i++)
		(void)regrant_two(l, l->journal[i].j, NULL, n < DONORS ? n : DONORS);
	for (int k = 0; k < n; k++)
		(void)regrant(l, k);
}

static bool chain(struct fit_pollux_local *l, bool (*push)(struct fit_pollux_local *, int), int j)
{
	l->trial++;
	l->noting = true;
	l->n_journal = 0;
	if (!push(l, j)) {
		l->noting = false;
		return false;
	}
	settle(l, j);
	l->noting = false;
	if (paid(l))
		return true;
	undo(l);
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

static void remember(struct fit_pollux_local *l)
{
	size_t n = (size_t)l->p->n_nodes;
	double sum = 0;

	for (int j = 0; j < l->p->n_jobs; j++)
		sum += l->jobs[j].gain;
	if (!(sum > l->best_sum))
		return;
	l->best_sum = sum;
	memset(l->best, 0, (size_t)l->p->n_jobs * n);
	for (int j = 0; j < l->p->n_jobs; j++)
		for (int i = 0; i < l->jobs[j].row.n; i++)
			l->best[(size_t)j * n + (size_t)l->jobs[j].row.node[i]] = l->jobs[j].row.gpus[i];
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
	remember(l);
}

static void start_empty(struct fit_pollux_local *l)
{
	for (int j = 0; j < l->p->n_jobs; j++) {
		struct job *q = &l->jobs[j];
		struct choice none = nothing(q);

		q->row.n = q->row.replicas = 0;
		place(l, j, &none);
	}
}

static bool place_as_now(struct fit_pollux_local *l, int j)
{
	const struct choice keep = { .gain = l->jobs[j].g.keep, .keep = true };

	if (!l->jobs[j].g.current.replicas || !fit_pack_fits(&l->pack, &l->jobs[j].g.current))
		return false;
	place(l, j, &keep);
	return true;
}

static void start_as_now(struct fit_pollux_local *l)
{
	start_empty(l);
	for (int j = 0; j < l->p->n_jobs; j++)
		(void)place_as_now(l, j);
}

/* Realise the sizes of the price: rows of now first, then the others, largest first. */
static void start_at_price(struct fit_pollux_local *l)
{
	int n = l->p->n_jobs;

	for (int j = 0; j < n; j++)
		fit_pack_give(&l->pack, &l->jobs[j].row);
	start_empty(l);
	for (int j = 0; j < n; j++) {
		const struct fit_gains *g = &l->jobs[j].g;

		if (l->sizes[j] == g->current.replicas && g->keep >= g->hope[l->sizes[j]] && place_as_now(l, j))
			l->sizes[j] = 0;
	}
	for (int size = FIT_POLLUX_REPLICAS_MAX; size > 0; size--)
		for (int j = 0; j < n; j++)
			if (l->sizes[j] == size)
				place_up_to(l, j, size);
}

int fit_pollux_local_search(struct fit_pollux_local *l, const struct fit_pollux_problem *p,
			    const uint8_t **best, double f[2], double *bound, struct fit_err *err)
{
	double dual;

	if (prepare(l, p))
		return fit_fail_nomem(err);
	l->best_sum = -HUGE_VAL;
	dual = fit_gains_price(&l->jobs[0].g, sizeof *l->jobs, p->n_jobs, p->n_gpus, l->steps, l->sizes);
	start_as_now(l);
	improve(l);
	start_at_price(l);
	improve(l);
	fit_pollux_objectives(p, l->best, f);
	*best = l->best;
	*bound = fit_gains_fitness(p->power, dual, p->n_jobs);
	return FIT_OK;
}
