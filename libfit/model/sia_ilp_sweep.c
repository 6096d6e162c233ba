/* SPDX-License-Identifier: MIT */
/*
 * The dynamic program of sia_ilp.h. Jobs are taken one after the other, those that can be on several types
 * first, so that a type is done with as early as possible. A state is what is used of each type, but never
 * less than what leaves just enough for the most that later jobs can use: below that, less is as good. So
 * types that are no longer short do not tell states apart.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/model/sia_ilp_parts.h"

struct state {
	uint64_t key;		/* what is used, in mixed radix */
	int64_t w;
	int64_t over;		/* how far this is above the bound */
	uint32_t before;	/* state of the last layer, */
	uint32_t item;		/* and what the job of this layer added */
};

/* A job with a choice within the gap. */
struct choice {
	size_t job;
	unsigned types;		/* bits: those of its items with GPUs */
	uint32_t first, n;	/* of items */
	int64_t most[FIT_SIA_TYPES_MAX], least[FIT_SIA_TYPES_MAX];	/* that it can use */
};

struct sweep {
	const struct fit_sia_solver *s;
	struct fit_sia_sweep *p;
	struct choice *jobs;
	size_t n;
	struct fit_sia_item *items;
	int64_t used[FIT_SIA_TYPES_MAX], w;	/* by jobs without a choice */
	uint64_t radix[FIT_SIA_TYPES_MAX];
	/* after the jobs of each layer: the most and the least that the later ones can use */
	int64_t (*most)[FIT_SIA_TYPES_MAX], (*least)[FIT_SIA_TYPES_MAX];
	struct state *states;
	size_t n_states, cap_states;
	size_t *layer;		/* first state of each; n + 2 */
	uint32_t *slots;	/* hash table of the layer being built: state + 1 */
	size_t n_slots;
};

static void release(struct sweep *d)
{
	free(d->jobs);
	free(d->items);
	free(d->most);
	free(d->least);
	free(d->states);
	free(d->layer);
	free(d->slots);
}

/* ---- which jobs have a choice ---- */

static void add_job(struct sweep *d, size_t j, size_t *n_items, int32_t *config)
{
	const struct fit_sia_solver *s = d->s;
	struct choice *c = &d->jobs[d->n];

	*c = (struct choice){ .job = j, .first = (uint32_t)*n_items };
	for (int t = 0; t < s->n_types; t++)
		c->least[t] = INT64_MAX;
	for (size_t i = s->at[j]; i < s->at[j + 1]; i++) {
		const struct fit_sia_item *it = &s->items[i];

		if (it->reduced > d->p->gap)
			continue;
		d->items[*n_items + c->n++] = *it;
		c->types |= it->gpus ? 1u << it->type : 0;
		for (int t = 0; t < s->n_types; t++) {
			int64_t use = t == it->type ? it->gpus : 0;

			c->most[t] = use > c->most[t] ? use : c->most[t];
			c->least[t] = use < c->least[t] ? use : c->least[t];
		}
	}
	if (c->n > 1) {
		*n_items += c->n;
		d->n++;
		return;
	}
	d->w += d->items[*n_items].w;
	d->used[d->items[*n_items].type] += d->items[*n_items].gpus;
	config[j] = d->items[*n_items].config;
}

/* Several types first, and those that have the same ones together; then as the jobs come. */
static int by_types(const void *pa, const void *pb)
{
	const struct choice *a = pa, *b = pb;
	int na = 0, nb = 0;

	for (unsigned t = 0; t < FIT_SIA_TYPES_MAX; t++) {
		na += (int)(a->types >> t & 1);
		nb += (int)(b->types >> t & 1);
	}
	if (na != nb)
		return na > nb ? -1 : 1;
	if (a->types != b->types)
		return a->types < b->types ? -1 : 1;
	return a->job < b->job ? -1 : 1;
}

static int set_up(struct sweep *d, int32_t *config)
{
	const struct fit_sia_solver *s = d->s;
	size_t n_items = 0;
	uint64_t radix = 1;

	d->jobs = calloc(s->n_jobs + 1, sizeof *d->jobs);
	d->items = calloc(s->at[s->n_jobs] + 1, sizeof *d->items);
	if (!d->jobs || !d->items)
		return FIT_ENOMEM;
	for (size_t j = 0; j < s->n_jobs; j++)
		add_job(d, j, &n_items, config);
	if (d->n)
		qsort(d->jobs, d->n, sizeof *d->jobs, by_types);
	d->most = calloc(d->n + 1, sizeof *d->most);
	d->least = calloc(d->n + 1, sizeof *d->least);
	d->layer = calloc(d->n + 2, sizeof *d->layer);
	if (!d->most || !d->least || !d->layer)
		return FIT_ENOMEM;
	for (size_t k = d->n; k-- > 0;) {
		for (int t = 0; t < s->n_types; t++) {
			d->most[k][t] = d->most[k + 1][t] + d->jobs[k].most[t];
			d->least[k][t] = d->least[k + 1][t] + d->jobs[k].least[t];
		}
	}
	for (int t = 0; t < s->n_types; t++) {
		d->radix[t] = radix;
		radix *= (uint64_t)s->cap[t] + 1;	/* checked: sia_ilp.c */
	}
	return FIT_OK;
}

/* ---- states ---- */

/* Of two ways to the same state, with the same w: does the one by a have the smaller choice of the first job
 * in which they differ? Both are of layer k, whose job they give items a and b. */
static bool smaller(const struct sweep *d, size_t k, uint32_t a_before, uint32_t a, uint32_t b_before,
		    uint32_t b)
{
	size_t first = SIZE_MAX;
	bool less = false;

	for (;;) {
		const struct choice *c = &d->jobs[k - 1];
		const struct state *x = &d->states[a_before], *y = &d->states[b_before];

		if (a != b && c->job < first) {
			first = c->job;
			less = d->items[a].config < d->items[b].config;
		}
		if (a_before == b_before)
			return less;
		a_before = x->before;
		b_before = y->before;
		a = x->item;
		b = y->item;
		k--;
	}
}

static size_t slot_of(const struct sweep *d, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (d->n_slots - 1);

	while (d->slots[i] && d->states[d->slots[i] - 1].key != key)
		i = (i + 1) & (d->n_slots - 1);
	return i;
}

static int more_slots(struct sweep *d, size_t first)
{
	size_t n = d->n_slots ? 2 * d->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return FIT_ENOMEM;
	free(d->slots);
	d->slots = slots;
	d->n_slots = n;
	for (size_t i = first; i < d->n_states; i++)
		slots[slot_of(d, d->states[i].key)] = (uint32_t)i + 1;
	return FIT_OK;
}

/* A way to a state of layer k, whose states begin at first. */
static int add_state(struct sweep *d, size_t k, size_t first, const struct state *new)
{
	struct state *old;
	size_t at;

	if (2 * (d->n_states - first + 1) > d->n_slots && more_slots(d, first))
		return FIT_ENOMEM;
	at = slot_of(d, new->key);
	if (!d->slots[at]) {
		if (d->n_states >= UINT32_MAX - 1 ||
		    fit_grow(&d->states, &d->cap_states, d->n_states + 1, sizeof *d->states))
			return FIT_ENOMEM;
		d->states[d->n_states++] = *new;
		d->slots[at] = (uint32_t)d->n_states;
		return FIT_OK;
	}
	old = &d->states[d->slots[at] - 1];
	if (new->w < old->w || (new->w == old->w && smaller(d, k, new->before, new->item, old->before, old->item)))
		*old = *new;
	return FIT_OK;
}

/* What layer k can tell apart of used GPUs of a type. */
static int64_t floor_of(const struct sweep *d, size_t k, int t, int64_t used)
{
	int64_t low = d->s->cap[t] - d->most[k][t];

	return used > low ? used : low;
}

/* All that follows from one state of the layer before k. */
static int follow(struct sweep *d, size_t k, size_t first, uint32_t from)
{
	const struct fit_sia_solver *s = d->s;
	const struct choice *c = &d->jobs[k - 1];
	const struct state old = d->states[from];
	int64_t used[FIT_SIA_TYPES_MAX] = { 0 }, over = old.over;
	uint64_t key = 0;

	for (int t = 0; t < s->n_types; t++) {
		int64_t was = (int64_t)(old.key / d->radix[t] % ((uint64_t)s->cap[t] + 1));

		used[t] = floor_of(d, k, t, was);
		key += d->radix[t] * (uint64_t)used[t];
		over += s->price[t] * (used[t] - was);
	}
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const struct fit_sia_item *it = &d->items[i];
		const int t = it->type;
		int64_t more = floor_of(d, k, t, (int64_t)(old.key / d->radix[t] % ((uint64_t)s->cap[t] + 1)) + it->gpus) -
			       used[t];
		/* GPUs that would have been idle are paid for already */
		struct state new = { .key = key + d->radix[t] * (uint64_t)more, .w = old.w + it->w, .before = from,
				     .item = i, .over = over + it->reduced - s->price[t] * (it->gpus - more) };
		bool fits = true;

		for (int u = 0; u < s->n_types && fits; u++)
			fits = used[u] + (u == t ? more : 0) + d->least[k][u] <= s->cap[u];
		if (fits && new.over <= d->p->gap && add_state(d, k, first, &new))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int by_over(const void *pa, const void *pb)
{
	const struct state *a = pa, *b = pb;

	if (a->over != b->over)
		return a->over < b->over ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* Layer k from the one before. */
static int build_layer(struct sweep *d, size_t k)
{
	size_t first = d->layer[k] = d->n_states;

	if (d->n_slots)
		memset(d->slots, 0, d->n_slots * sizeof *d->slots);
	for (size_t i = d->layer[k - 1]; i < first; i++) {
		if (follow(d, k, first, (uint32_t)i))
			return FIT_ENOMEM;
		if (!d->p->beam && d->n_states > d->p->states_max)
			return FIT_END;
	}
	if (d->p->beam && d->n_states - first > d->p->beam) {
		qsort(d->states + first, d->n_states - first, sizeof *d->states, by_over);
		d->n_states = first + d->p->beam;
		d->p->cut = true;
	}
	return FIT_OK;
}

/* What jobs without a choice come to. */
static int begin(struct sweep *d)
{
	struct state root = { .w = d->w };

	for (int t = 0; t < d->s->n_types; t++) {
		int64_t used = floor_of(d, 0, t, d->used[t]);

		if (used + d->least[0][t] > d->s->cap[t])
			return FIT_OK;
		root.key += d->radix[t] * (uint64_t)used;
		root.over += d->s->price[t] * (used - d->used[t]);
	}
	if (root.over > d->p->gap)
		return FIT_OK;
	if (fit_grow(&d->states, &d->cap_states, 1, sizeof *d->states))
		return FIT_ENOMEM;
	d->states[d->n_states++] = root;
	return FIT_OK;
}

int fit_sia_sweep(const struct fit_sia_solver *s, struct fit_sia_sweep *p, int32_t *choice)
{
	struct sweep d = { .s = s, .p = p };
	int rc = set_up(&d, choice);

	p->found = p->cut = false;
	rc = rc ? rc : begin(&d);
	for (size_t k = 1; k <= d.n && !rc; k++)
		rc = build_layer(&d, k);
	p->states = d.n_states;
	/* in the end nothing tells states apart any more: there is one, or none */
	if (!rc && d.n_states > d.layer[d.n]) {
		const struct state *at = &d.states[d.layer[d.n]];

		p->found = true;
		p->least = at->w;
		for (size_t k = d.n; k > 0; k--) {
			choice[d.jobs[k - 1].job] = d.items[at->item].config;
			at = &d.states[at->before];
		}
	}
	release(&d);
	return rc;
}
