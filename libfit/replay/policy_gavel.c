/* SPDX-License-Identifier: MIT */
/*
 * Gavel (Narayanan et al., OSDI'20): shares of time on GPUs of several types, kept to in rounds
 * (docs/methods/gavel.md). A policy for each objective of shares.h; the rounds are the same for all.
 *
 * Shares are computed when jobs came or went, at the start of a round, at most once in a given time. Each
 * round gives each job GPUs of one type or none: type by type, jobs in the order of their priority there,
 * the share over the fraction of the type's time that the job had since the shares were computed; then of
 * what they were owed at the last computation; who does not fit any more is passed over.
 *
 * Rounds are the ticks of the interval. Where a fidelity profile has them of whole steps, a round ends with
 * the last of the steps that fit into it; the policy then keeps the clock, in seconds as that simulator
 * does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/replay/gavel_problem.h"
#include "libfit/replay/progress.h"
#include "libfit/replay/type_shuffle.h"

struct member {
	bool shared;		/* it was there when the shares were computed */
	bool gone, seen;
	double left_s;		/* when it went */
};

/* A job in the round that is on. */
struct task {
	uint32_t job;
	size_t type;
	double end_s;		/* of its part in it; rounds of whole steps: known beforehand */
	int64_t end_ns;
};

/* A job as a type sees it. */
struct entry {
	uint32_t job;
	size_t type, turn;	/* and which one is served first */
	size_t place;		/* in the list: breaks ties */
	double priority, deficit, share;
};

struct gavel {
	const struct fit_share_objective *objective;
	const struct fit_policy_params *params;
	struct fit_gavel_problem problem;
	size_t k;			/* types */
	bool only_shared;		/* who has no share of a type does not run there */
	bool shuffles;
	struct fit_type_shuffle shuffle;
	size_t *order, *turn;		/* types, first served first; the same in this round */
	double *time_of;		/* [t]: given to jobs since the shares were computed */
	struct member *member;		/* by place in the partition */
	double *share, *received, *deficit;	/* [place * k + t] */
	uint32_t *list;			/* jobs in the system, as they came */
	size_t n_list, cap_list;
	struct task *tasks;
	size_t n_tasks, cap_tasks;
	struct entry *entries;
	size_t cap_entries;
	double now_s, from_s, end_s;	/* start and end of the round that is on, or was last */
	bool had_round;
	double computed_s;		/* when the shares were */
	bool computed, need, fresh, forced;
	size_t n_come, n_all;
	double round_s;
};

#define BY_STEPS(v) ((v)->fidelity->steps_round_ns != 0)

static size_t local_of(const struct fit_view *v, uint32_t j)
{
	return v->jobs[j].local;
}

/* ---- set up ---- */

static void gavel_free(void *state)
{
	struct gavel *g = state;

	fit_gavel_problem_release(&g->problem);
	free(g->order);
	free(g->turn);
	free(g->time_of);
	free(g->member);
	free(g->share);
	free(g->received);
	free(g->deficit);
	free(g->list);
	free(g->tasks);
	free(g->entries);
	free(g);
}

/* The types that a fidelity profile names first, the others as the cluster names them. */
static void set_order(struct gavel *g, const struct fit_view *v)
{
	const char *const *first = v->fidelity->gavel_type_order;
	size_t n = 0;

	for (; first && *first; first++)
		for (size_t t = 0; t < g->k; t++)
			if (strcmp(v->cluster->types[g->problem.type[t]].name, *first) == 0)
				g->order[n++] = t;
	for (size_t c = 0; c < g->k; c++)
		for (size_t t = 0; t < g->k; t++) {
			bool there = false;

			for (size_t i = 0; i < n; i++)
				there = there || g->order[i] == t;
			if (g->problem.type[t] == c && !there)
				g->order[n++] = t;
		}
}

static int gavel_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      const char *objective, struct fit_err *err)
{
	size_t m = v->n_members ? v->n_members : 1;
	struct gavel *g = calloc(1, sizeof *g);

	if (!g)
		return fit_fail_nomem(err);
	*state = g;
	g->objective = fit_share_objective_find(objective);
	g->params = p;
	g->k = (size_t)v->cluster->n_types;
	g->only_shared = strcmp(objective, "fifo") == 0;
	g->shuffles = v->fidelity->gavel_shuffles_types && (strcmp(objective, "isolated") == 0 ||
							    strcmp(objective, "max-min-fairness-agnostic") == 0);
	fit_type_shuffle_init(&g->shuffle, v->fidelity->gavel_shuffle_seed);
	g->round_s = fit_time_to_double(BY_STEPS(v) ? v->fidelity->steps_round_ns : v->interval_ns);
	g->order = calloc(g->k, sizeof *g->order);
	g->turn = calloc(g->k, sizeof *g->turn);
	g->time_of = calloc(g->k, sizeof *g->time_of);
	g->member = calloc(m, sizeof *g->member);
	g->share = calloc(m * g->k, sizeof *g->share);
	g->received = calloc(m * g->k, sizeof *g->received);
	g->deficit = calloc(m * g->k, sizeof *g->deficit);
	if (!g->order || !g->turn || !g->time_of || !g->member || !g->share || !g->received || !g->deficit)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < v->n_members; i++)
		g->n_all += !v->jobs[v->members[i]].too_large;
	if (fit_gavel_problem_init(&g->problem, v, err))
		return FIT_ENOMEM;
	set_order(g, v);
	return FIT_OK;
}

/* ---- who is there ---- */

static int gavel_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct gavel *g = state;
	size_t at = local_of(v, j) * g->k;

	if (fit_grow(&g->list, &g->cap_list, g->n_list + 1, sizeof *g->list))
		return fit_fail_nomem(err);
	g->list[g->n_list++] = j;
	g->n_come++;
	g->need = g->fresh = true;
	for (size_t t = 0; t < g->k; t++) {
		g->received[at + t] = g->round_s / 2;	/* as if it had had half a round */
		g->time_of[t] += v->fidelity->gavel_lifetime ? g->round_s / 2 : 0;
	}
	return FIT_OK;
}

static void gavel_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct gavel *g = state;

	g->member[local_of(v, j)].gone = true;
	g->member[local_of(v, j)].left_s = fit_time_to_double(v->now_ns);
	g->need = true;
}

/* ---- the round that ended ---- */

static int last_first(const void *pa, const void *pb)
{
	const struct task *a = pa, *b = pb;

	if (a->end_s < b->end_s || a->end_s > b->end_s)
		return a->end_s > b->end_s ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* What each job had of it. Sums are formed in the order of the published simulator. */
static void settle(struct gavel *g, const struct fit_view *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n_tasks && !BY_STEPS(v); i++) {
		const struct member *m = &g->member[local_of(v, g->tasks[i].job)];

		g->tasks[i].end_s = m->gone && !v->fidelity->gavel_lifetime ? m->left_s : g->now_s;
	}
	if (g->n_tasks)
		qsort(g->tasks, g->n_tasks, sizeof *g->tasks, last_first);
	for (size_t i = 0; i < g->n_tasks; i++) {
		const struct task *k = &g->tasks[i];
		double had_s = k->end_s - g->from_s;

		g->received[local_of(v, k->job) * g->k + k->type] += had_s;
		g->time_of[k->type] += had_s;
	}
	g->n_tasks = 0;
	for (size_t i = 0; i < g->n_list; i++)
		if (!g->member[local_of(v, g->list[i])].gone)
			g->list[kept++] = g->list[i];
	g->n_list = kept;
}

/* ---- shares ---- */

/* What jobs are owed is kept, and their time counts from now on. */
static void reset_time(struct gavel *g, const struct fit_view *v)
{
	double since_s = g->now_s - (g->computed ? g->computed_s : 0);

	for (size_t t = 0; t < g->k && !v->fidelity->gavel_lifetime; t++) {
		g->time_of[t] = 0;
		for (size_t i = 0; i < g->n_list; i++) {
			size_t at = local_of(v, g->list[i]) * g->k + t;
			double had_s = g->received[at] - g->round_s / 2;
			bool shared = g->member[local_of(v, g->list[i])].shared;

			g->deficit[at] += (shared ? g->share[at] * since_s : 0) - had_s;
			g->received[at] = g->round_s / 2;
			g->time_of[t] += g->received[at];
		}
	}
	g->computed = true;
	g->computed_s = g->now_s;
	g->need = false;
}

static int compute(struct gavel *g, const struct fit_view *v, struct fit_err *err)
{
	struct fit_share_solution s = { 0 };
	int rc;

	reset_time(g, v);
	if (!g->n_list)
		return FIT_OK;
	rc = fit_gavel_solve(&g->problem, v, g->objective, g->list, g->n_list, &s, err);
	for (size_t i = 0; i < g->n_list && !rc; i++) {
		size_t at = local_of(v, g->list[i]);

		g->member[at].shared = true;
		for (size_t t = 0; t < g->k; t++) {
			g->share[at * g->k + t] = g->problem.x[i * g->k + t];
			if (g->params->gavel_found)
				g->params->gavel_found(g->params->gavel_listener, v->now_ns, v->jobs[g->list[i]].id,
						       v->cluster->types[g->problem.type[t]].name,
						       g->problem.x[i * g->k + t], s.objective, s.bound);
		}
	}
	return rc;
}

/* Is it time for new shares? A profile's clock that was never reset, or was at 0, does not hold it up. */
static bool due(const struct gavel *g, const struct fit_view *v)
{
	double least_s = fit_time_to_double(g->params->gavel_reallocate_ns);

	if (v->fidelity->gavel_lifetime)
		return true;
	if (!g->need)
		return false;
	if (!g->computed || g->now_s - g->computed_s >= least_s)
		return true;
	return BY_STEPS(v) && !(g->computed_s > 0);
}

/* ---- a round ---- */

static int first_served(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->priority < b->priority || a->priority > b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->deficit < b->deficit || a->deficit > b->deficit)
		return a->deficit > b->deficit ? -1 : 1;
	if (a->share < b->share || a->share > b->share)
		return a->share > b->share ? -1 : 1;
	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static double priority(const struct gavel *g, const struct fit_view *v, uint32_t j, size_t t)
{
	size_t at = local_of(v, j) * g->k + t;
	double share = g->member[local_of(v, j)].shared ? g->share[at] : 0, fraction;

	if (!(share > 0) || !(fit_gavel_rate(&g->problem, v, j, t) > 0))
		return 0;
	fraction = g->time_of[t] > 0 ? g->received[at] / g->time_of[t] : 0;
	return fraction > 0 ? share / fraction : share * 1e9;
}

static int run_on(struct gavel *g, const struct fit_view *v, uint32_t j, size_t t, struct fit_err *err)
{
	double rate = fit_gavel_rate(&g->problem, v, j, t), left = v->jobs[j].steps - fit_view_work(v, j);
	struct task k = { .job = j, .type = t };
	double steps;

	if (fit_grow(&g->tasks, &g->cap_tasks, g->n_tasks + 1, sizeof *g->tasks))
		return fit_fail_nomem(err);
	if (BY_STEPS(v)) {
		steps = fmin(left, fmax(1, floor(rate * g->round_s)));
		k.end_s = g->now_s + steps / rate;
		k.end_ns = v->now_ns + fit_steps_ns(steps, rate);
	}
	g->tasks[g->n_tasks++] = k;
	return FIT_OK;
}

/* All jobs as the types of turns from to to see them. */
static size_t list_entries(struct gavel *g, const struct fit_view *v, size_t from, size_t to)
{
	size_t n = 0;

	for (; from < to; from++)
		for (size_t i = 0; i < g->n_list; i++) {
			size_t at = local_of(v, g->list[i]), t = g->turn[from];

			g->entries[n++] = (struct entry){
				.job = g->list[i],
				.type = t,
				.turn = from,
				.place = i,
				.priority = priority(g, v, g->list[i], t),
				.deficit = g->deficit[at * g->k + t],
				.share = g->member[at].shared ? g->share[at * g->k + t] : 0,
			};
		}
	return n;
}

/* Jobs of these types, in order, as far as there is room. taken: by place in the list. */
static int serve(struct gavel *g, const struct fit_view *v, size_t from, size_t to, int64_t *room,
		 bool *taken, struct fit_err *err)
{
	const size_t n = list_entries(g, v, from, to);

	qsort(g->entries, n, sizeof *g->entries, first_served);
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &g->entries[i];
		int64_t gpus = v->jobs[e->job].gpus;
		bool shared = g->member[local_of(v, e->job)].shared;

		if (taken[e->place] || gpus > room[e->type] || (g->only_shared && !(e->priority > 0)) ||
		    !(fit_gavel_rate(&g->problem, v, e->job, e->type) > 0) ||
		    (!shared && !v->fidelity->gavel_holds_room))
			continue;
		taken[e->place] = true;
		room[e->type] -= gpus;
		if (shared && run_on(g, v, e->job, e->type, err))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int begin_round(struct gavel *g, const struct fit_view *v, struct fit_err *err)
{
	const size_t at_once = v->fidelity->gavel_lifetime ? g->k : 1;
	bool *taken = calloc(g->n_list + 1, sizeof *taken);
	int64_t room[FIT_GPU_TYPES_MAX];
	int rc = FIT_OK;

	for (size_t t = 0; t < g->k; t++)
		room[t] = v->cluster->types[g->problem.type[t]].n_open;
	if (!taken ||
	    fit_grow(&g->entries, &g->cap_entries, at_once * g->n_list + 1, sizeof *g->entries)) {
		free(taken);
		return fit_fail_nomem(err);
	}
	memcpy(g->turn, g->order, g->k * sizeof *g->turn);
	if (g->shuffles)
		fit_type_shuffle(&g->shuffle, g->turn, g->k);
	for (size_t i = 0; i < g->k && !rc; i += at_once)
		rc = serve(g, v, i, i + at_once, room, taken, err);
	free(taken);
	return rc;
}

static int fill_plan(struct gavel *g, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n_tasks; i++)
		g->member[local_of(v, g->tasks[i].job)].seen = true;
	for (size_t i = 0; i < g->n_list && !rc; i++)
		if (!g->member[local_of(v, g->list[i])].seen)
			rc = fit_plan_grant(plan, g->list[i], 0);
	for (size_t i = 0; i < g->n_tasks && !rc; i++) {
		const struct task *k = &g->tasks[i];

		g->member[local_of(v, k->job)].seen = false;
		rc = fit_plan_grant_type(plan, k->job, v->jobs[k->job].gpus, (int32_t)g->problem.type[k->type]);
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int gavel_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct gavel *g = state;
	int rc = FIT_OK;

	g->now_s = BY_STEPS(v) && g->n_tasks ? g->end_s : fit_time_to_double(v->now_ns);
	settle(g, v);
	if (g->forced) {	/* nothing runs and nobody is to come */
		g->computed_s = 0;
		g->forced = false;
	}
	g->fresh = false;
	if (due(g, v))
		rc = compute(g, v, err);
	rc = rc ? rc : begin_round(g, v, err);
	if (rc)
		return rc;
	if (BY_STEPS(v)) {	/* times count from the end of the round before, whatever was between */
		double end_s = 0;

		g->from_s = g->had_round ? g->end_s : 0;
		for (size_t i = 0; i < g->n_tasks; i++)
			end_s = fmax(end_s, g->tasks[i].end_s);
		if (g->n_tasks) {
			g->end_s = end_s;
			g->had_round = true;
		}
	} else {
		g->from_s = g->now_s;
	}
	return fill_plan(g, v, plan, err);
}

/* Rounds of whole steps: the end of the one that is on; now, when there is none and a job came, or nobody
 * will. */
static int64_t gavel_next_wake(void *state, const struct fit_view *v)
{
	struct gavel *g = state;
	int64_t end_ns = INT64_MIN;

	if (!BY_STEPS(v))
		return INT64_MAX;
	for (size_t i = 0; i < g->n_tasks; i++)
		end_ns = g->tasks[i].end_ns > end_ns ? g->tasks[i].end_ns : end_ns;
	if (g->n_tasks)
		return end_ns;
	if (g->fresh)
		return v->now_ns;
	if (g->need && g->n_come == g->n_all) {
		g->forced = true;
		return v->now_ns;
	}
	return INT64_MAX;
}

static int gavel_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];
	int rc;

	fit_format_time(text, p->gavel_reallocate_ns);
	rc = fit_meta_add(meta, "gavel_reallocate_s", text);
	rc = rc ? rc : fit_meta_add(meta, "spread_rates", v->fidelity->steps_anywhere ? "ignored" : "used");
	if (!rc && v->fidelity->gavel_lifetime)
		rc = fit_meta_add(meta, "gavel_rounds", "lifetime");
	if (!rc && BY_STEPS(v)) {
		fit_format_time(text, v->fidelity->steps_round_ns);
		rc = fit_meta_add(meta, "steps_round_s", text);
	}
	return rc;
}

/* ---- a policy for each objective ---- */

#define GAVEL(id, label, objective, text) \
	static int init_##id(void **state, const struct fit_view *v, const struct fit_policy_params *p, \
			     struct fit_err *err) \
	{ \
		return gavel_init(state, v, p, objective, err); \
	} \
	const struct fit_policy fit_policy_gavel_##id = { \
		.name = label, \
		.summary = text, \
		.needs = FIT_NEEDS_RATES | FIT_OWN_CLOCK, \
		.interval_ns = 360 * FIT_NS_PER_S, \
		.init = init_##id, \
		.free = gavel_free, \
		.arrive = gavel_arrive, \
		.leave = gavel_leave, \
		.decide = gavel_decide, \
		.next_wake = gavel_next_wake, \
		.describe = gavel_describe, \
	}

GAVEL(fifo, "gavel-fifo", "fifo", "GPU types: in order of arrival, each job the fastest type with room");
GAVEL(isolated, "gavel-isolated", "isolated", "GPU types: an equal share of each for each job, in rounds");
GAVEL(fairness, "gavel-fairness", "max-min-fairness",
      "GPU types: the least share of throughput is as large as can be, in rounds");
GAVEL(agnostic, "gavel-fairness-agnostic", "max-min-fairness-agnostic",
      "the same, as if all types were alike");
GAVEL(makespan, "gavel-makespan", "min-makespan", "GPU types: all are done as early as can be, in rounds");
GAVEL(finish, "gavel-finish-time", "finish-time-fairness",
      "GPU types: no job is late against equal shares by more than need be, in rounds");
GAVEL(throughput, "gavel-throughput", "max-throughput",
      "GPU types: the most steps a second in all, in rounds");
