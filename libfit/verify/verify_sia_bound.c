/* SPDX-License-Identifier: MIT */
/*
 * Could the jobs of a Sia decision have been given configurations with a lower sum of costs? A search of its
 * own, which knows nothing of how the policy found its answer: GPUs of each type get a price (Held and Karp's
 * bound, raised by steps of Polyak's length), and whatever assignment could be better is within a small sum
 * of reduced costs of the bound; those are tried one after the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

#define STEPS 300		/* of the prices */
#define NODES_MAX 200000	/* of the search: beyond them nothing is said */
#define NOISE 1e-6		/* of sums of costs, which are whole numbers */

struct option {
	const struct verify_sia_choice *c;
	double reduced;
};

struct job {
	struct option *options;	/* by reduced cost; of use within the gap: the first n */
	size_t n;
};

struct search {
	const struct verify_sia_problem *p;
	struct option *options;
	struct job *jobs;
	double price[VERIFY_SIA_TYPES], bound, gap;
	/* of jobs from each on: the most and the least that they can use */
	int64_t (*most)[VERIFY_SIA_TYPES], (*least)[VERIFY_SIA_TYPES];
	int64_t used[VERIFY_SIA_TYPES];
	size_t nodes;
};

/* ---- prices ---- */

static double at_price(const struct search *s, const struct verify_sia_choice *c)
{
	return (double)c->cost + (c->gpus ? s->price[c->type] * (double)c->gpus : 0);
}

/* The bound at these prices; over: how many more GPUs than there are the cheapest options take. */
static double bound_at(const struct search *s, double *over)
{
	double sum = 0;

	for (size_t t = 0; t < s->p->n_types; t++) {
		over[t] = -(double)s->p->capacity[t];
		sum -= s->price[t] * (double)s->p->capacity[t];
	}
	for (size_t j = 0; j < s->p->n_jobs; j++) {
		const struct verify_sia_choice *best = &s->p->choices[s->p->first[j]];

		for (size_t i = s->p->first[j] + 1; i < s->p->first[j + 1]; i++)
			if (at_price(s, &s->p->choices[i]) < at_price(s, best))
				best = &s->p->choices[i];
		sum += at_price(s, best);
		over[best->type] += (double)best->gpus;
	}
	return sum;
}

static void raise_bound(struct search *s, double known)
{
	double best[VERIFY_SIA_TYPES] = { 0 }, over[VERIFY_SIA_TYPES], scale = 1;
	int since = 0;

	s->bound = -HUGE_VAL;
	for (int k = 0; k < STEPS && scale > 1e-4; k++) {
		double here = bound_at(s, over), length = 0;

		if (here > s->bound + NOISE) {
			s->bound = here;
			memcpy(best, s->price, sizeof best);
			since = 0;
		} else if (++since % 8 == 0) {
			scale /= 2;
			memcpy(s->price, best, sizeof best);
			here = bound_at(s, over);
		}
		for (size_t t = 0; t < s->p->n_types; t++)
			length += over[t] < 0 && !(s->price[t] > 0) ? 0 : over[t] * over[t];
		if (!(length > 0) || known - here < NOISE)
			break;
		for (size_t t = 0; t < s->p->n_types; t++)
			s->price[t] = fmax(0, s->price[t] + scale * (known + 0.5 - here) / length * over[t]);
	}
	memcpy(s->price, best, sizeof best);
	s->bound = bound_at(s, over);
}

/* ---- the search ---- */

static int by_reduced(const void *pa, const void *pb)
{
	const struct option *a = pa, *b = pb;

	if (a->reduced < b->reduced || a->reduced > b->reduced)
		return a->reduced < b->reduced ? -1 : 1;
	return (a->c > b->c) - (a->c < b->c);
}

/* Jobs with one option within the gap come first: they are no branches. */
static int by_options(const void *pa, const void *pb)
{
	const struct job *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return (a->options > b->options) - (a->options < b->options);
}

static int set_up(struct search *s)
{
	const struct verify_sia_problem *p = s->p;

	s->options = calloc(p->first[p->n_jobs] + 1, sizeof *s->options);
	s->jobs = calloc(p->n_jobs + 1, sizeof *s->jobs);
	s->most = calloc(p->n_jobs + 1, sizeof *s->most);
	s->least = calloc(p->n_jobs + 1, sizeof *s->least);
	if (!s->options || !s->jobs || !s->most || !s->least)
		return FIT_ENOMEM;
	for (size_t j = 0; j < p->n_jobs; j++) {
		struct job *job = &s->jobs[j];
		size_t n = p->first[j + 1] - p->first[j];

		job->options = s->options + p->first[j];
		for (size_t i = 0; i < n; i++)
			job->options[i] = (struct option){ &p->choices[p->first[j] + i],
							   at_price(s, &p->choices[p->first[j] + i]) };
		qsort(job->options, n, sizeof *job->options, by_reduced);
		for (size_t i = n; i-- > 0;)
			job->options[i].reduced -= job->options[0].reduced;
		while (job->n < n && job->options[job->n].reduced <= s->gap + NOISE)
			job->n++;
	}
	qsort(s->jobs, p->n_jobs, sizeof *s->jobs, by_options);
	for (size_t j = p->n_jobs; j-- > 0;) {
		for (size_t t = 0; t < p->n_types; t++) {
			int64_t most = 0, least = INT64_MAX;

			for (size_t i = 0; i < s->jobs[j].n; i++) {
				const struct verify_sia_choice *c = s->jobs[j].options[i].c;
				int64_t use = c->type == t ? c->gpus : 0;

				most = use > most ? use : most;
				least = use < least ? use : least;
			}
			s->most[j][t] = s->most[j + 1][t] + most;
			s->least[j][t] = s->least[j + 1][t] + least;
		}
	}
	return FIT_OK;
}

/* Jobs from j on, over so far above the bound: is there a way to stay within the gap? */
static bool reach(struct search *s, size_t j, double over)
{
	double idle = 0;

	if (s->nodes++ >= NODES_MAX)
		return false;
	for (size_t t = 0; t < s->p->n_types; t++) {
		int64_t left = s->p->capacity[t] - s->used[t];

		if (left < s->least[j][t])
			return false;
		idle += left > s->most[j][t] ? s->price[t] * (double)(left - s->most[j][t]) : 0;
	}
	if (over + idle > s->gap + NOISE)
		return false;
	if (j == s->p->n_jobs)
		return true;
	for (size_t i = 0; i < s->jobs[j].n; i++) {
		const struct option *o = &s->jobs[j].options[i];
		bool found;

		if (over + o->reduced > s->gap + NOISE)
			break;
		s->used[o->c->type] += o->c->gpus;
		found = reach(s, j + 1, over + o->reduced);
		s->used[o->c->type] -= o->c->gpus;
		if (found)
			return true;
	}
	return false;
}

int verify_sia_search(const struct verify_sia_problem *p, int64_t target, enum verify_sia_found *found)
{
	struct search s = { .p = p };
	int rc = FIT_OK;

	*found = SIA_NONE_BETTER;
	raise_bound(&s, (double)target);
	s.gap = (double)target - s.bound;
	if (s.gap < -NOISE)
		return FIT_OK;
	rc = set_up(&s);
	if (!rc && reach(&s, 0, 0))
		*found = SIA_BETTER;
	else if (s.nodes > NODES_MAX)
		*found = SIA_UNDECIDED;
	free(s.options);
	free(s.jobs);
	free(s.most);
	free(s.least);
	return rc;
}
