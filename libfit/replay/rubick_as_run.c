/* SPDX-License-Identifier: MIT */
/*
 * Policy rubick as the published code runs it, defects included (the artifact calls it Morphling).
 * Compared with policy_rubick.c:
 *
 * - jobs go by slope, the smallest first; a job that waits counts with speed -1 on no GPU, but with 0 in
 *   its first decision;
 * - nothing is taken from a job for another one: the branch that would do it is never entered;
 * - the guarantee of a wide job means nothing but its place in the order, and a guaranteed job whose
 *   target could not be interpolated waits for ever;
 * - wide jobs on 32 GPUs and more are placed anew in each decision (until 7 restarts), smaller ones try
 *   to move to free nodes in each decision, to whichever listed size fits first;
 * - nodes are tried in the order in which a heap that is not one gives them;
 * - jobs grow into what was free on their node before the last job of the decision was placed.
 */
#include "libfit/replay/rubick_as_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

#define AGED_NS (INT64_C(200000) * FIT_NS_PER_S)
#define AGED_SLOPE 1e9
#define SLACK 1.5		/* a guarantee holds at the target over this */
#define STRIP_GPUS 32
#define STRIP_RESTARTS 7
#define STRIP_ALL_SLA 12	/* with more guaranteed jobs all wide ones are placed anew */

int fit_rubick_as_run_init(struct fit_rubick_as_run *s, size_t n_jobs, struct fit_err *err)
{
	*s = (struct fit_rubick_as_run){ .turn = calloc(n_jobs + 1, sizeof *s->turn) };
	return s->turn ? FIT_OK : fit_fail_nomem(err);
}

void fit_rubick_as_run_release(struct fit_rubick_as_run *s)
{
	free(s->turn);
	free(s->stale);
	free(s->left);
	free(s->heap);
	free(s->list);
}

/* The published table has speeds up to a full node, of wide jobs, too: those of plans that these do not
 * run by. A wide job on more GPUs counts with -1, so its slope is a large one. */
static double speed_at(const struct fit_rubick_curve *c, int64_t gpus)
{
	return fit_rubick_speed(c, gpus);
}

static double slope_of(const struct fit_rubick_row *r, bool seen, int64_t by, int32_t most)
{
	int64_t more = r->was + by;

	if (r->age_ns > AGED_NS)
		return AGED_SLOPE;
	if (!seen)
		return fabs(speed_at(r->curve, by)) / r->curve->reference / (double)by;
	more = more > most ? most : more;
	return fabs(speed_at(r->curve, r->was) - speed_at(r->curve, more)) / r->curve->reference / (double)by;
}

/* ---- jobs on one node ---- */

static int32_t size_at(const struct fit_rubick_row *r, int32_t gpus)
{
	return gpus < 0 || gpus > r->curve->most ? 0 : r->curve->sizes[gpus].gpus;
}

/* The node with most free GPUs first; a job that holds some stays on its node. */
static void place_on_node(struct fit_rubick_draft *d, uint32_t i)
{
	struct fit_rubick_row *r = &d->rows[i];
	int32_t stays = fit_rubick_node_of(d, i), from = 0, to = d->n_nodes, best = -1;

	if (stays >= 0) {
		from = stays;
		to = stays + 1;
	}
	/* what a node offers only falls along the order, so the first that is taken is the best one */
	for (int32_t k = from; k < to; k++)
		if (best < 0 || d->free[k] > d->free[best])
			best = k;
	if (best >= 0) {
		int32_t had = *fit_rubick_on(d, i, best), all = had + d->free[best];

		if (r->sla ? !(SLACK * speed_at(r->curve, all) >= r->target) : all == had)
			return;
		if (size_at(r, all) < 1)
			return;
		fit_rubick_set(d, i, best, size_at(r, all));
		r->plan = r->curve->sizes[all].plan;
	}
}

/* ---- wide jobs ---- */

static bool item_before(const struct fit_rubick_free *a, const struct fit_rubick_free *b)
{
	return a->gpus != b->gpus ? a->gpus < b->gpus : a->node < b->node;
}

/* Take the first item; the last one moves to its place, sinks along the smaller children down to a
 * leaf, and rises from there while it is smaller than its parent. */
static struct fit_rubick_free pop(struct fit_rubick_free *h, size_t *n)
{
	struct fit_rubick_free last = h[--*n], first;
	size_t i = 0, c;

	if (!*n)
		return last;
	first = h[0];
	while ((c = 2 * i + 1) < *n) {
		if (c + 1 < *n && !item_before(&h[c], &h[c + 1]))
			c++;
		h[i] = h[c];
		i = c;
	}
	for (; i && item_before(&last, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = last;
	return first;
}

/* A node for each chunk, or false. d->nodes gets them. */
static bool fits(struct fit_rubick_as_run *s, struct fit_rubick_draft *d, const struct fit_rubick_spread *x)
{
	bool done[FIT_PLAN_NODES_MAX] = { false };
	size_t n = 0;
	int32_t got = 0;

	for (int32_t k = 0; k < d->n_nodes; k++)
		if (d->free[k] > 0)
			s->heap[n++] = (struct fit_rubick_free){ d->free[k], k };
	while (got < x->gpus && n) {
		struct fit_rubick_free f = pop(s->heap, &n);

		for (int32_t p = 0; p < x->nodes; p++)
			if (!done[p] && x->per_node[p] <= d->free[f.node]) {
				done[p] = true;
				d->nodes[p] = f.node;
				got += x->per_node[p];
				break;
			}
	}
	return got >= x->gpus;
}

static void take_spread(struct fit_rubick_draft *d, uint32_t i, const struct fit_rubick_spread *x)
{
	fit_rubick_clear(d, i);
	for (int32_t p = 0; p < x->nodes; p++)
		fit_rubick_set(d, i, d->nodes[p], x->per_node[p]);
	d->rows[i].plan = x->plan;
}

static void place_wide(struct fit_rubick_as_run *s, struct fit_rubick_draft *d, uint32_t i)
{
	const struct fit_rubick_curve *c = d->rows[i].curve;

	for (size_t k = 0; k < c->n_spreads; k++)
		if (fits(s, d, &c->spreads[k])) {
			take_spread(d, i, &c->spreads[k]);
			return;
		}
}

/* Try larger sizes, on what is free and its own nodes. Once its GPUs were given up to try one, smaller
 * sizes are tried, too; it gets its GPUs back where none fits. */
static int widen(struct fit_rubick_as_run *s, struct fit_rubick_draft *d, uint32_t i, struct fit_err *err)
{
	const struct fit_rubick_curve *c = d->rows[i].curve;
	int32_t most = INT32_MAX, total = d->rows[i].total;
	uint16_t plan = d->rows[i].plan;

	if (fit_grow(&s->left, &s->cap_left, (size_t)d->n_nodes + 1, sizeof *s->left))
		return fit_fail_nomem(err);
	for (int32_t k = 0; k < d->n_nodes; k++)
		s->left[k] = *fit_rubick_on(d, i, k);
	while (most > 0) {
		int32_t size = 0;

		for (size_t k = 0; k < c->n_spreads; k++)
			if (c->spreads[k].gpus < most && c->spreads[k].gpus > size)
				size = c->spreads[k].gpus;
		most = size;
		if (!size || d->rows[i].total > size)
			continue;
		fit_rubick_clear(d, i);
		for (size_t k = 0; k < c->n_spreads; k++)
			if (c->spreads[k].gpus == size && fits(s, d, &c->spreads[k])) {
				take_spread(d, i, &c->spreads[k]);
				return FIT_OK;
			}
	}
	for (int32_t k = 0; k < d->n_nodes && total; k++)
		fit_rubick_set(d, i, k, s->left[k]);
	d->rows[i].plan = plan;
	return FIT_OK;
}

/* ---- growth ---- */

/* Those on a node grow, the largest slope first, by what was free there before the last job was placed.
 * */
static void grow(struct fit_rubick_as_run *s, struct fit_rubick_draft *d, int32_t node, int32_t most)
{
	int32_t left = s->stale[node];
	size_t n = 0;
	bool end = false;

	for (size_t i = 0; i < d->n; i++)
		if (*fit_rubick_on(d, i, node))
			s->list[n++] = (uint32_t)i;
	while (left > 0 && !end) {
		uint32_t best = UINT32_MAX;
		struct fit_rubick_row *r;
		double top = -1;
		int32_t want, size;

		for (size_t k = 0; k < n; k++) {
			double x = slope_of(&d->rows[s->list[k]], true, left, most);

			if (!d->rows[s->list[k]].curve->wide && x > top) {
				top = x;
				best = s->list[k];
			}
		}
		if (best == UINT32_MAX)
			return;
		end = true;	/* when it is the last one in the order */
		for (size_t k = 0; k < n && end; k++)
			end = s->list[k] == best || slope_of(&d->rows[s->list[k]], true, left, most) > top;
		r = &d->rows[best];
		want = r->was + left > most ? most : r->was + left;
		size = size_at(r, want);
		left -= size - r->was;
		end = end || size == r->was;
		/* more than is there: the published code stops with an assertion */
		if (size < 1 || size > *fit_rubick_on(d, best, node) + d->free[node])
			return;
		fit_rubick_set(d, best, node, size);
		r->plan = r->curve->sizes[size].plan;
	}
}

/* ---- a decision ---- */

int fit_rubick_as_run(struct fit_rubick_as_run *s, struct fit_rubick_draft *d, struct fit_err *err)
{
	int32_t most = 0;
	size_t n = 0, n_sla = 0;
	int rc = FIT_OK;

	if (fit_grow(&s->list, &s->cap_list, 2 * d->n + 1, sizeof *s->list) ||
	    fit_grow(&s->stale, &s->cap_stale, (size_t)d->n_nodes + 1, sizeof *s->stale) ||
	    fit_grow(&s->heap, &s->cap_heap, (size_t)d->n_nodes + 1, sizeof *s->heap))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < d->n; i++) {
		most = d->rows[i].curve->most > most ? d->rows[i].curve->most : most;
		n_sla += d->rows[i].sla;
	}
	for (size_t i = 0; i < d->n; i++)
		d->rows[i].slope = slope_of(&d->rows[i], s->turn[d->rows[i].job] != 0, 1, most);
	fit_rubick_sort(d, true);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < d->n; i++)
			if (d->rows[d->order[i]].sla == (pass == 0))
				s->list[n++] = d->order[i];
	for (size_t i = 0; i < d->n; i++) {
		struct fit_rubick_row *r = &d->rows[i];

		if (r->curve->wide && r->total >= STRIP_GPUS && (r->restarts < STRIP_RESTARTS || n_sla > STRIP_ALL_SLA))
			fit_rubick_clear(d, i);
	}
	for (size_t k = 0; k < n; k++) {
		uint32_t i = s->list[k];

		if (!s->turn[d->rows[i].job])
			s->turn[d->rows[i].job] = ++s->turns;
		memcpy(s->stale, d->free, (size_t)d->n_nodes * sizeof *s->stale);
		if (d->rows[i].curve->wide)
			place_wide(s, d, i);
		else
			place_on_node(d, i);
	}
	for (int32_t k = 0; k < d->n_nodes && n; k++)
		grow(s, d, k, most);
	for (size_t k = 0; k < d->n && !rc; k++)
		if (d->rows[d->order[k]].curve->wide)
			rc = widen(s, d, d->order[k], err);
	return rc;
}
