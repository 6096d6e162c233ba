/* SPDX-License-Identifier: MIT */
/* Vertices and edges of all items, sorted and summed up. */
#include "libfit/model/boa_path.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/text.h"

void fit_boa_frontier_release(struct fit_boa_frontier *f)
{
	free(f->items);
	free(f->vertices);
	free(f->edges);
	free(f->budget);
	free(f->jct);
	free(f->plans);
	*f = (struct fit_boa_frontier){ 0 };
}

int fit_boa_add_vertex(struct fit_boa_frontier *f, const struct fit_boa_vertex *v, struct fit_err *err)
{
	if (fit_grow(&f->vertices, &f->cap_vertices, f->n_vertices + 1, sizeof *f->vertices))
		return fit_fail_nomem(err);
	f->vertices[f->n_vertices++] = *v;
	return FIT_OK;
}

int fit_boa_add_item(struct fit_boa_frontier *f, const struct fit_boa_item *item, struct fit_err *err)
{
	if (f->n_items >= UINT32_MAX - 1)
		return fit_fail(err, FIT_EDATA, "too many epochs");
	if (fit_grow(&f->items, &f->cap_items, f->n_items + 1, sizeof *f->items))
		return fit_fail_nomem(err);
	f->items[f->n_items++] = *item;
	return FIT_OK;
}

/* An item an epoch: the envelope of its widths. */
static int epoch_hulls(struct fit_boa_frontier *f, const struct fit_boa *b, struct fit_err *err)
{
	struct fit_envelope_work work = { 0 };
	size_t *vertex = NULL, cap = 0, n;
	int rc = FIT_OK;

	for (size_t i = 0; i < b->n_classes; i++) {
		const struct fit_boa_class *c = &b->classes[i];

		for (size_t j = c->at; j < c->at + c->n && !rc; j++) {
			const struct fit_boa_epoch *e = &b->epochs[j];
			struct fit_boa_item item = { i, j, f->n_vertices, 0 };

			if (fit_grow(&vertex, &cap, e->n, sizeof *vertex))
				rc = fit_fail_nomem(err);
			if (!rc)
				rc = fit_envelope(b->widths + e->at, e->n, NULL, &work, vertex, &n,
						  NULL, err);
			for (size_t v = 0; v < n && !rc; v++) {
				const struct fit_width *w = &b->widths[e->at + vertex[v]];
				struct fit_boa_vertex new = { .ref = e->at + vertex[v] };

				new.time = fit_dd_div(fit_dd_of(e->work), fit_dd_of(w->speed));
				new.cost = fit_dd_mul(fit_width_kappa(w), new.time);
				rc = fit_boa_add_vertex(f, &new, err);
			}
			item.n = f->n_vertices - item.at;
			if (!rc)
				rc = fit_boa_add_item(f, &item, err);
		}
	}
	fit_envelope_release(&work);
	free(vertex);
	return rc;
}

/* ---- edges ---- */

/* The price of the edge behind vertex v of an item. */
static struct fit_dd price_of(const struct fit_boa_frontier *f, const struct fit_boa *b,
			      const struct fit_boa_item *item, const struct fit_boa_vertex *v)
{
	if (item->epoch != FIT_NO_WIDTH)
		return fit_width_edge(&b->widths[v[0].ref], &b->widths[v[1].ref]);
	(void)f;
	return fit_dd_div(fit_dd_sub(v[0].time, v[1].time), fit_dd_sub(v[1].cost, v[0].cost));
}

static int compare_edges(const void *pa, const void *pb)
{
	const struct fit_boa_edge *a = pa, *b = pb;

	if (a->mu != b->mu)
		return a->mu > b->mu ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

/* Edges that are worth something. Along an item prices fall; so do their rounded values, with a limit that
 * rounding could only break if it were wrong by more than it is. */
static void make_edges(struct fit_boa_frontier *f, const struct fit_boa *b)
{
	f->n_edges = 0;
	for (size_t i = 0; i < f->n_items; i++) {
		const struct fit_boa_item *item = &f->items[i];
		const struct fit_boa_class *c = &b->classes[item->class_no];
		double last = (double)INFINITY;

		for (size_t k = 0; k + 1 < item->n; k++) {
			const struct fit_boa_vertex *v = &f->vertices[item->at + k];
			struct fit_dd cost = fit_dd_scale(fit_dd_sub(v[1].cost, v[0].cost), c->rate);
			struct fit_dd time = fit_dd_scale(fit_dd_sub(v[0].time, v[1].time), c->rate);
			struct fit_boa_edge e = { .item = (uint32_t)i, .from = (uint32_t)k };

			e.cost = fit_dd_value(cost);
			e.time = fit_dd_value(fit_dd_scale(time, c->weight));
			if (!(e.cost > 0 && e.time > 0))
				break;
			e.mu = fmin(fit_dd_value(fit_dd_scale(price_of(f, b, item, v), c->weight)), last);
			last = e.mu;
			f->edges[f->n_edges++] = e;
		}
	}
	if (f->n_edges)
		qsort(f->edges, f->n_edges, sizeof *f->edges, compare_edges);
}

/* Costs and times at the breakpoints. */
static void sum_edges(struct fit_boa_frontier *f, const struct fit_boa *b)
{
	struct fit_dd cost = { 0, 0 }, time = { 0, 0 };

	for (size_t i = 0; i < f->n_items; i++) {
		const struct fit_boa_class *c = &b->classes[f->items[i].class_no];
		const struct fit_boa_vertex *v = &f->vertices[f->items[i].at];

		cost = fit_dd_add(cost, fit_dd_scale(v->cost, c->rate));
		time = fit_dd_add(time, fit_dd_scale(fit_dd_scale(v->time, c->rate), c->weight));
	}
	for (size_t e = 0;; e++) {
		f->budget[e] = fit_dd_value(cost);
		f->jct[e] = fit_dd_value(time) / b->total;
		if (e == f->n_edges)
			break;
		cost = fit_dd_add(cost, fit_dd_of(f->edges[e].cost));
		time = fit_dd_sub(time, fit_dd_of(f->edges[e].time));
	}
}

int fit_boa_frontier_build(struct fit_boa_frontier *f, const struct fit_boa *b, struct fit_err *err)
{
	size_t most;
	int rc;

	*f = (struct fit_boa_frontier){ 0 };
	rc = b->by_path ? fit_boa_class_hulls(f, b, err) : epoch_hulls(f, b, err);
	most = f->n_vertices - f->n_items + 1;
	if (!rc) {
		f->edges = malloc(most * sizeof *f->edges);
		f->budget = malloc(most * sizeof *f->budget);
		f->jct = malloc(most * sizeof *f->jct);
		if (!f->edges || !f->budget || !f->jct)
			rc = fit_fail_nomem(err);
	}
	if (rc) {
		fit_boa_frontier_release(f);
		return rc;
	}
	make_edges(f, b);
	sum_edges(f, b);
	return FIT_OK;
}
