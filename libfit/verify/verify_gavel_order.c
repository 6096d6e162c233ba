/* SPDX-License-Identifier: MIT */
/*
 * Who gets GPUs of which type in each round of Gavel's policies: by the given shares and the time that each
 * job had on each type since they were computed (Narayanan et al., OSDI'20, section 5), and when shares have
 * to be computed. docs/methods/verify.md has the rules.
 *
 * Rounds begin at the multiples of the interval. Each is judged when the next row after it is read, or at its
 * decision, from what jobs hold then: rounds that change nothing leave no rows.
 *
 * Rounds of whole steps (docs/methods/gavel.md, fidelity gavel-osdi20) begin when the last one is over, or
 * somebody comes while none is on, and time in them counts from the end of the one before. Types are served
 * in an order of their own, or one that is drawn: then in any order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define SAME 1e-9	/* priorities closer than this cannot be told apart, and time owed than so many seconds */

enum { PRESENT = 1, SHARED = 2 };

/* Types that are served in a drawn order: of more than this nothing is said. */
#define DRAWN_MAX 5

struct order_job {
	unsigned char flags;
	bool in_round;		/* whole steps: it has GPUs in the round that is on, */
	size_t on;		/* of the type at this place, */
	int64_t until_ns;	/* and is through with its steps then */
	uint32_t place;		/* of its arrival */
	uint16_t holds;		/* number of a type; 0: none */
	int64_t since_ns;
};

struct order_entry {
	uint32_t job, place;
	double priority, owed, share;
	bool has;		/* GPUs of the type in question */
	bool runs;		/* the shares know it: others take room and do not use it */
	bool old;		/* it had time of the type since the computation */
};

/* A job that is not where it should be. */
struct order_fault {
	uint32_t job;
	size_t type;
	bool due;
	double priority, room;
};

struct verify_gavel_order {
	size_t k;			/* types, in the order of the nodes */
	uint16_t types[UINT8_MAX];
	double gpus[UINT8_MAX], time_s[UINT8_MAX];	/* time_s: given to jobs since the computation */
	int64_t widest[UINT8_MAX];
	struct order_job *jobs;
	double *share, *had_s, *owed_s, *rate;	/* [job * k + type] */
	struct order_entry *entries;
	bool *taken;
	size_t next_row, n_arrived;
	int64_t judged_ns, computed_ns, reallocate_ns;	/* computed_ns: -1: never */
	bool changed;			/* jobs came or went since the computation */
	/* rounds of whole steps */
	bool by_steps, drawn;
	size_t turn[UINT8_MAX];		/* types in the order in which they are served */
	bool round_on;
	int64_t round_end_ns, before_ns;	/* of the round that is on, or was last; of the one before it */
	size_t n_unseen;		/* jobs that will come */
};

void verify_gavel_order_release(struct fit_verifier *v)
{
	struct verify_gavel_order *g = v->gavel_order;

	if (!g)
		return;
	free(g->jobs);
	free(g->share);
	free(g->had_s);
	free(g->owed_s);
	free(g->rate);
	free(g->entries);
	free(g->taken);
	free(g);
	v->gavel_order = NULL;
}

static void find_types(const struct fit_verifier *v, struct verify_gavel_order *g)
{
	for (size_t i = 0; i < v->n_nodes; i++) {
		size_t t = 0;

		while (t < g->k && g->types[t] != v->node_type[i])
			t++;
		if (t == g->k && g->k < UINT8_MAX)
			g->types[g->k++] = v->node_type[i];
		if (t == UINT8_MAX)
			return;
		g->gpus[t] += (double)v->size[i];
		g->widest[t] = v->size[i] > g->widest[t] ? v->size[i] : g->widest[t];
	}
}

/* The types that the simulator of the paper names first, then the others as they come. */
static void set_turn(const struct fit_verifier *v, struct verify_gavel_order *g)
{
	static const char *const first[] = { "v100", "p100", "k80" };
	size_t n = 0;

	for (size_t f = 0; f < sizeof first / sizeof *first && v->steps_round_ns; f++) {
		uint32_t type = fit_index_get(&v->by_type, fit_text_of(first[f]));

		for (size_t t = 0; t < g->k; t++)
			if (type != FIT_NO_INDEX && g->types[t] == type)
				g->turn[n++] = t;
	}
	for (size_t t = 0; t < g->k; t++) {
		bool there = false;

		for (size_t i = 0; i < n; i++)
			there = there || g->turn[i] == t;
		if (!there)
			g->turn[n++] = t;
	}
	g->by_steps = v->steps_round_ns > 0;
	g->drawn = g->by_steps && (strcmp(v->objective, "isolated") == 0 ||
				   strcmp(v->objective, "max-min-fairness-agnostic") == 0);
}

static struct verify_gavel_order *order_of(struct fit_verifier *v)
{
	struct verify_gavel_order *g = v->gavel_order;
	size_t cells;

	if (g || !v->node_type || !(g = calloc(1, sizeof *g)))
		return g;
	v->gavel_order = g;
	find_types(v, g);
	cells = (v->n_jobs + 1) * (g->k ? g->k : 1);
	g->jobs = calloc(v->n_jobs + 1, sizeof *g->jobs);
	g->share = calloc(cells, sizeof *g->share);
	g->had_s = calloc(cells, sizeof *g->had_s);
	g->owed_s = calloc(cells, sizeof *g->owed_s);
	g->rate = calloc(cells, sizeof *g->rate);
	g->entries = calloc(v->n_jobs + 1, sizeof *g->entries);
	g->taken = calloc(v->n_jobs + 1, sizeof *g->taken);
	g->computed_ns = -1;
	g->reallocate_ns = v->gavel_reallocate_ns;
	set_turn(v, g);
	for (uint32_t i = 0; i < v->n_jobs; i++)
		g->n_unseen += v->jobs[i].state == JOB_UNSEEN && v->jobs[i].gpus <= (double)verify_share_most(v, i);
	if (!g->jobs || !g->share || !g->had_s || !g->owed_s || !g->rate || !g->entries || !g->taken) {
		verify_gavel_order_release(v);
		v->code = FIT_ENOMEM;
	}
	return v->gavel_order;
}

/* ---- what jobs hold ---- */

static size_t place_of(const struct verify_gavel_order *g, uint16_t type)
{
	size_t t = 0;

	while (t < g->k && g->types[t] != type)
		t++;
	return t;
}

/* The time on what it holds, up to t. */
static void count(struct verify_gavel_order *g, uint32_t job, int64_t t)
{
	struct order_job *j = &g->jobs[job];
	size_t at = place_of(g, j->holds);
	double s = fit_time_to_double(t - j->since_ns);

	j->since_ns = t;
	if (!j->holds || at == g->k)
		return;
	g->had_s[job * g->k + at] += s;
	g->time_s[at] += s;
}

static void hold(struct verify_gavel_order *g, uint32_t job, uint16_t type, int64_t t)
{
	count(g, job, t);
	g->jobs[job].holds = type;
}

static uint16_t type_held(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];
	const struct verify_live *l = j->live == NONE || j->state != JOB_RUNNING ? NULL : &v->live[j->live];
	int32_t node = l && l->n_nodes ? l->nodes[0].node : -1;

	return node < 0 || (size_t)node >= v->n_nodes ? 0 : v->node_type[node];
}

/* ---- shares ---- */

static double half_a_round(const struct fit_verifier *v)
{
	return fit_time_to_double(v->steps_round_ns ? v->steps_round_ns : v->interval_ns) / 2;
}

/* Half a round for each job, and what it was owed by the last shares. */
static void begin_anew(const struct fit_verifier *v, struct verify_gavel_order *g, int64_t t)
{
	double half_s = half_a_round(v);
	double since_s = fit_time_to_double(t - (g->computed_ns < 0 ? 0 : g->computed_ns));

	memset(g->time_s, 0, sizeof g->time_s);
	for (uint32_t i = 0; i < v->n_jobs; i++) {
		struct order_job *j = &g->jobs[i];

		if (!(j->flags & PRESENT) || g->by_steps)
			continue;
		count(g, i, t);
	}
	memset(g->time_s, 0, sizeof g->time_s);
	for (uint32_t i = 0; i < v->n_jobs; i++)
		for (size_t k = 0; k < g->k && g->jobs[i].flags & PRESENT; k++) {
			size_t at = i * g->k + k;

			g->owed_s[at] += (g->jobs[i].flags & SHARED ? g->share[at] * since_s : 0) - g->had_s[at];
			g->had_s[at] = 0;
			g->time_s[k] += half_s;
		}
	g->computed_ns = t;
	g->changed = false;
}

/* The rows of this instant; false: there are none. */
static bool take_shares(struct fit_verifier *v, struct verify_gavel_order *g, int64_t t)
{
	struct verify_share_row r;
	bool some = false;

	for (; verify_share_row(v, g->next_row, &r) && r.t_ns <= t; g->next_row++) {
		size_t k = place_of(g, r.type);

		if (r.t_ns < t || k == g->k)
			continue;
		if (!some)
			begin_anew(v, g, t);
		some = true;
		g->share[r.job * g->k + k] = r.share;
		g->jobs[r.job].flags |= SHARED;
	}
	return some;
}

/* ---- a round ---- */

static double find_rate(const struct fit_verifier *v, const struct verify_gavel_order *g, uint32_t job,
			size_t t)
{
	const struct verify_job *j = &v->jobs[job];

	if (j->gpus > g->gpus[t] || (j->gpu_type && j->gpu_type != g->types[t]))
		return 0;
	return verify_rate_on(v, job, g->types[t], j->gpus > (double)g->widest[t]);
}

static double rate_on(const struct verify_gavel_order *g, uint32_t job, size_t t)
{
	return g->rate[job * g->k + t];
}

static double priority_of(const struct fit_verifier *v, const struct verify_gavel_order *g, uint32_t job,
			  size_t t)
{
	double share = g->share[job * g->k + t], half_s = half_a_round(v);

	if (!(g->jobs[job].flags & SHARED) || !(share > 0) || !(rate_on(g, job, t) > 0))
		return 0;
	return g->time_s[t] > 0 ? share / ((half_s + g->had_s[job * g->k + t]) / g->time_s[t]) : share * 1e9;
}

static int descending(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_priority(const void *pa, const void *pb)
{
	const struct order_entry *a = pa, *b = pb;
	int c = descending(a->priority, b->priority);

	c = c ? c : descending(a->owed, b->owed);
	c = c ? c : descending(a->share, b->share);
	return c ? c : (a->place > b->place) - (a->place < b->place);
}

static bool near(double a, double b, double least)
{
	return fabs(a - b) <= SAME * fmax(least, fmax(fabs(a), fabs(b)));
}

static bool equal(double a, double b)
{
	return a <= b && a >= b;
}

/* In rounds of whole steps times are sums of others here: what cannot be told apart is the same for sure only
 * where it was there from the beginning. */
static bool unclear_steps(const struct order_entry *a, const struct order_entry *b)
{
	if (!near(a->priority, b->priority, 0))
		return false;
	if (a->priority > 0 && (a->old || b->old || !equal(a->share, b->share)))
		return true;
	return near(a->owed, b->owed, 1e3) && !(equal(a->owed, 0) && equal(b->owed, 0));
}

/* Cannot be told apart, and are not the same. */
static bool unclear(const struct verify_gavel_order *g, const struct order_entry *a,
		    const struct order_entry *b)
{
	if (g->by_steps)
		return unclear_steps(a, b);
	if (descending(a->priority, b->priority))
		return near(a->priority, b->priority, 0);
	return descending(a->owed, b->owed) && near(a->owed, b->owed, 1e3);
}

/* Are they of one group, in which the log decides if any two cannot be told apart? */
static bool grouped(const struct verify_gavel_order *g, const struct order_entry *a,
		    const struct order_entry *b)
{
	return g->by_steps && a->priority > 0 ? near(a->priority, b->priority, 0) : unclear(g, a, b);
}

/* Where the order is not clear, those first that the log took. */
static void settle_near_ties(const struct verify_gavel_order *g, struct order_entry *e, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		bool open = false;
		size_t to = i;

		for (end = i + 1; end < n && grouped(g, &e[end - 1], &e[end]); end++)
			open = open || unclear(g, &e[end - 1], &e[end]);
		for (size_t k = i; k < end && open; k++) {
			struct order_entry x = e[k];

			if (!x.has)
				continue;
			memmove(e + to + 1, e + to, (k - to) * sizeof *e);
			e[to++] = x;
		}
	}
}

static size_t list_for(const struct fit_verifier *v, struct verify_gavel_order *g, size_t t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->n_jobs; i++) {
		const struct order_job *j = &g->jobs[i];
		size_t at = i * g->k + t;

		if (!(j->flags & PRESENT) || !((j->flags & SHARED) || g->by_steps) || g->taken[i] ||
		    !(rate_on(g, i, t) > 0))
			continue;
		g->entries[n++] = (struct order_entry){ .job = i, .place = j->place, .priority = priority_of(v, g, i, t),
							.owed = g->owed_s[at], .share = g->share[at],
							.has = j->holds == g->types[t], .runs = j->flags & SHARED,
							.old = g->had_s[at] > 0 };
	}
	qsort(g->entries, n, sizeof *g->entries, by_priority);
	settle_near_ties(g, g->entries, n);
	return n;
}

/* As the table of rates has it: a job has GPUs of no other type. */
static struct fit_text name_of(const struct fit_verifier *v, uint16_t type)
{
	const struct fit_column *names = fit_table_column(&v->rates.table, "gpu_type");

	for (size_t i = 0; i < v->rates.table.n_rows; i++)
		if (fit_index_get(&v->by_type, fit_column_text(names, i)) == type)
			return fit_column_text(names, i);
	return (struct fit_text){ NULL, 0 };
}

/* One type; false: the round is not as it should be. n_run: jobs that have to run there. */
static bool serve(const struct fit_verifier *v, struct verify_gavel_order *g, size_t t, struct order_fault *f,
		  size_t *n_run)
{
	bool only_shared = strcmp(v->objective, "fifo") == 0, good = true;
	size_t n = list_for(v, g, t);
	double room = g->gpus[t];

	for (size_t e = 0; e < n; e++) {
		const struct order_entry *x = &g->entries[e];
		double need = v->jobs[x->job].gpus;
		bool fits = need <= room && (x->priority > 0 || !only_shared), due = fits && x->runs;

		if (due != x->has && good) {
			*f = (struct order_fault){ x->job, t, due, x->priority, room };
			good = false;
		}
		*n_run += due;
		if (!fits)
			continue;
		g->taken[x->job] = true;
		room -= need;
	}
	return good;
}

/* All types in that order; *f is the first fault, when there is one. */
static bool serve_all(const struct fit_verifier *v, struct verify_gavel_order *g, const size_t *turn,
		      struct order_fault *f, size_t *n_run)
{
	struct order_fault other;
	bool good = true;

	*n_run = 0;
	memset(g->taken, 0, v->n_jobs * sizeof *g->taken);
	for (size_t k = 0; k < g->k; k++)
		good = serve(v, g, turn[k], good ? f : &other, n_run) && good;
	return good;
}

static void swap(size_t *a, size_t *b)
{
	size_t keep = *a;

	*a = *b;
	*b = keep;
}

/* The next order of the types; false: that was the last. */
static bool next_turn(size_t *turn, size_t n)
{
	size_t i = n, k = n;

	while (i > 1 && turn[i - 2] >= turn[i - 1])
		i--;
	if (i <= 1)
		return false;
	while (turn[k - 1] <= turn[i - 2])
		k--;
	swap(&turn[i - 2], &turn[k - 1]);
	for (size_t a = i - 1, b = n - 1; a < b; a++, b--)
		swap(&turn[a], &turn[b]);
	return true;
}

/* Is there a drawn order in which nobody has to run (idle), or in which all are where they should be? */
static bool some_turn(const struct fit_verifier *v, struct verify_gavel_order *g, bool idle)
{
	size_t turn[DRAWN_MAX], n_run;
	struct order_fault f;

	if (g->k > DRAWN_MAX)
		return true;
	for (size_t i = 0; i < g->k; i++)
		turn[i] = i;
	do {
		bool good = serve_all(v, g, turn, &f, &n_run);

		if (idle ? n_run == 0 : good)
			return true;
	} while (next_turn(turn, g->k));
	return false;
}

static void judge_types(struct fit_verifier *v, struct verify_gavel_order *g, int64_t at)
{
	struct order_fault f;
	struct fit_text name;
	size_t n_run;

	if (serve_all(v, g, g->turn, &f, &n_run) || (g->drawn && some_turn(v, g, false)))
		return;
	name = name_of(v, g->types[f.type]);
	verify_fault(v, RULE_GAVEL_ORDER, f.job, f.due ?
		     "is not on '%.*s' in the round of %.9g s; by its priority %.6g it is due, with %g GPUs left" :
		     "is on '%.*s' in the round of %.9g s; of priority %.6g, others leave it %g GPUs",
		     FIT_TEXT_ARG(name), fit_time_to_double(at), f.priority, f.room);
}

static bool anybody(const struct fit_verifier *v, const struct verify_gavel_order *g)
{
	for (uint32_t i = 0; i < v->n_jobs; i++)
		if (g->jobs[i].flags & PRESENT)
			return true;
	return false;
}

/* Must shares be computed at t? With whole steps no time has to pass after a computation at 0, nor when
 * all have come and with the shares that there are nobody would run. */
static bool is_due(const struct fit_verifier *v, struct verify_gavel_order *g, int64_t t)
{
	struct order_fault f;
	size_t n_run;

	if (!g->changed)
		return false;
	if (g->computed_ns < 0 || t - g->computed_ns >= g->reallocate_ns || (g->by_steps && g->computed_ns == 0))
		return true;
	if (!g->by_steps || g->n_unseen)
		return false;
	if (g->drawn ? !some_turn(v, g, true) : (serve_all(v, g, g->turn, &f, &n_run), n_run > 0))
		return false;
	g->computed_ns = 0;	/* as that simulator has it */
	return true;
}

/* The round that begins at t, with what is held from then on. */
static void judge(struct fit_verifier *v, struct verify_gavel_order *g, int64_t t)
{
	bool was_due, computed;

	g->judged_ns = t;
	if (!anybody(v, g))
		return;
	was_due = is_due(v, g, t);
	computed = take_shares(v, g, t);
	verify_check(v, RULE_GAVEL_ORDER);
	if (was_due != computed) {
		verify_fault(v, RULE_GAVEL_ORDER, NONE, was_due ?
			     "no shares were computed at %.9g s, though jobs came or went" :
			     "shares were computed at %.9g s, too soon or for no reason", fit_time_to_double(t));
		return;
	}
	judge_types(v, g, t);
}

/* Rounds before t that left no row; those who hold GPUs at their beginning hold them as before. */
static void catch_up(struct fit_verifier *v, struct verify_gavel_order *g, int64_t t)
{
	while (g->judged_ns + v->interval_ns < t) {
		int64_t next = g->judged_ns + v->interval_ns;

		/* nobody is there: nothing is decided until somebody is */
		if (!anybody(v, g))
			next = (t - 1) / v->interval_ns * v->interval_ns;
		for (uint32_t i = 0; i < v->n_jobs; i++)
			if (g->jobs[i].flags & PRESENT)
				count(g, i, next);
		judge(v, g, next);
	}
}

/* ---- rounds of whole steps ---- */

/* What jobs had of the round that is over. */
static void close_round(struct fit_verifier *v, struct verify_gavel_order *g)
{
	for (uint32_t i = 0; i < v->n_jobs && g->round_on; i++) {
		struct order_job *j = &g->jobs[i];
		double s = fit_time_to_double(j->until_ns - g->before_ns);

		if (!j->in_round)
			continue;
		j->in_round = false;
		g->had_s[i * g->k + j->on] += s;
		g->time_s[j->on] += s;
	}
	g->round_on = false;
}

/* What they hold from now on. */
static void open_round(struct fit_verifier *v, struct verify_gavel_order *g)
{
	int64_t before_ns = g->round_end_ns;

	for (uint32_t i = 0; i < v->n_jobs; i++) {
		struct order_job *j = &g->jobs[i];

		if (!(j->flags & PRESENT) || place_of(g, j->holds) == g->k)
			continue;
		j->in_round = true;
		j->on = place_of(g, j->holds);
		j->until_ns = v->live[v->jobs[i].live].quota_ns;
		g->round_end_ns = !g->round_on || j->until_ns > g->round_end_ns ? j->until_ns : g->round_end_ns;
		g->round_on = true;
	}
	g->before_ns = before_ns;
}

static void decide_steps(struct fit_verifier *v, struct verify_gavel_order *g)
{
	if (g->round_on && v->now < g->round_end_ns)
		return;
	close_round(v, g);
	for (uint32_t i = 0; i < v->n_jobs; i++)
		g->jobs[i].holds = g->jobs[i].flags & PRESENT ? type_held(v, i) : 0;
	judge(v, g, v->now);
	open_round(v, g);
}

/* ---- called with rows and decisions ---- */

void verify_row_gavel_order(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_gavel_order *g = order_of(v);
	struct order_job *j;

	if (!g || r->job == NONE)
		return;
	if (!g->by_steps)
		catch_up(v, g, r->t);
	j = &g->jobs[r->job];
	if (r->ev == EV_SUBMIT) {
		for (size_t t = 0; t < g->k; t++)
			g->rate[r->job * g->k + t] = find_rate(v, g, r->job, t);
		j->flags = PRESENT;
		j->place = (uint32_t)g->n_arrived++;
		g->changed = true;
		g->n_unseen -= g->n_unseen > 0 && v->jobs[r->job].gpus <= (double)verify_share_most(v, r->job);
	} else if (r->ev == EV_FINISH || r->ev == EV_REJECT) {
		if (!g->by_steps)
			hold(g, r->job, 0, r->t);
		j->flags = 0;
		g->changed = true;
	}
}

void verify_decide_gavel_order(struct fit_verifier *v)
{
	struct verify_gavel_order *g = v->mute ? NULL : order_of(v);

	if (g && g->by_steps)
		decide_steps(v, g);
	if (!g || g->by_steps || v->now % v->interval_ns || v->now <= g->judged_ns)
		return;
	catch_up(v, g, v->now);
	for (uint32_t i = 0; i < v->n_jobs; i++)
		if (g->jobs[i].flags & PRESENT)
			hold(g, i, type_held(v, i), v->now);
	judge(v, g, v->now);
}
