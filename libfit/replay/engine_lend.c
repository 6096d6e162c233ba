/* SPDX-License-Identifier: MIT */
/*
 * A node that one part lends to the profiler while many jobs wait for it, and gets back.
 *
 * The lender gives its highest node that is empty; where none is, the profiler stays as it is. The node comes
 * back to its place.
 *
 * The simulator of Lucid lets the profiler decide by itself, on a node of its own, and repeats its
 * changes in the lender afterwards (fidelity: echoed_lending). There the profiler grows although no
 * node is empty; nodes have names, the one that comes back is called LENT and is the last in order;
 * from the first one that went on the two nodes change names where another one than LENT is to go, and
 * nothing comes back while there is one of that name. A node that the profiler has and nobody gave is
 * a further node of the cluster here, with a number behind all others; the log says when there is one.
 */
#include "libfit/replay/engine_state.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

#define LENT 9999
#define GONE (-1)

/* The cluster has another number of nodes from now on. */
static int log_size(struct fit_engine *g, struct fit_err *err)
{
	const struct fit_lending *l = &g->lending;
	struct fit_cluster whole;
	struct fit_str spec = { 0 };
	int rc = fit_str_puts(&spec, g->partitions->spec);

	if (!rc && l->n_further)
		rc = fit_str_printf(&spec, ",%dx%d", (int)l->n_further, (int)g->p->profiler.node_gpus);
	rc = rc ? fit_fail_nomem(err) : fit_cluster_init(&whole, spec.s, err);
	if (!rc) {
		g->counts.events++;
		rc = fit_log_cluster(&g->log, g->now_ns, whole.n_gpus, whole.spec, err);
		fit_cluster_release(&whole);
	}
	fit_str_release(&spec);
	return rc;
}

static int log_node(struct fit_engine *g, const char *name, int32_t number, struct fit_err *err)
{
	g->counts.events++;
	return fit_log_node(&g->log, g->now_ns, name, number, g->p->profiler.node_gpus, err);
}

static int32_t named(const struct fit_lending *l, int32_t name)
{
	int32_t n = l->part->cluster->n_nodes;

	while (n-- > 0)
		if (l->name[n] == name)
			return n;
	return -1;
}

/* The empty node of the highest name; -1: there is none. */
static int32_t highest(const struct fit_engine *g)
{
	const struct fit_lending *l = &g->lending;
	const struct fit_cluster *c = l->part->cluster;
	int32_t best = -1;

	for (int32_t i = 0; i < c->n_nodes; i++)
		if (!c->closed[i] && c->free[i] == c->gpus[i] && c->gpus[i] == g->p->profiler.node_gpus &&
		    (best < 0 || l->name[i] > l->name[best]))
			best = i;
	return best;
}

static int borrow(void *arg, int32_t *number, struct fit_err *err)
{
	struct fit_engine *g = arg;
	struct fit_lending *l = &g->lending;
	bool echoed = g->p->fidelity->echoed_lending;
	int32_t back, node = highest(g);
	int rc;

	*number = -1;
	if (node < 0) {
		if (!echoed)
			return FIT_OK;
		l->node = -1;
		l->number = *number = g->partitions->n_nodes + l->n_further++;
		rc = log_size(g, err);
		return rc ? rc : log_node(g, "lend", *number, err);
	}
	back = echoed ? named(l, LENT) : -1;
	if (l->lent_once && back >= 0 && back != node)
		l->name[back] = l->name[node];
	l->lent_once = true;
	if (echoed)
		l->name[node] = GONE;
	fit_cluster_close(l->part->cluster, node);
	l->part->news = true;
	l->node = node;
	l->number = *number = l->part->numbers[node];
	return log_node(g, "lend", *number, err);
}

static void move_last(int32_t *a, int32_t from, int32_t n)
{
	int32_t x = a[from];

	memmove(a + from, a + from + 1, (size_t)(n - from - 1) * sizeof *a);
	a[n - 1] = x;
}

/* The node is the last one in order from now on: that of all others behind it is one less. */
static int put_last(struct fit_engine *g, int32_t node)
{
	struct fit_part *p = g->lending.part;
	int32_t n = p->cluster->n_nodes;

	if (fit_cluster_move_last(p->cluster, node))
		return FIT_ENOMEM;
	move_last(p->numbers, node, n);
	move_last(g->lending.name, node, n);
	for (size_t i = 0; i < p->active_n; i++) {
		struct fit_alloc *a;

		if (fit_engine_is_finished(g, p->active[i]))
			continue;
		a = &fit_engine_state(g, p->active[i])->alloc;
		for (size_t k = 0; k < a->n; k++)
			a->shares[k].node = a->shares[k].node == node ? n - 1 : a->shares[k].node -
					    (a->shares[k].node > node);
	}
	return FIT_OK;
}

/* Room for one more node, which is closed. */
static int make_room(struct fit_engine *g)
{
	struct fit_part *p = g->lending.part;
	size_t n = (size_t)p->cluster->n_nodes + 1;
	size_t cap = n - 1;
	int rc = fit_grow(&p->numbers, &cap, n, sizeof *p->numbers);

	cap = n - 1;
	rc = rc ? rc : fit_grow(&g->lending.name, &cap, n, sizeof *g->lending.name);
	cap = n - 1;
	rc = rc ? rc : fit_grow(&p->spanning, &cap, n, sizeof *p->spanning);
	return rc ? rc : fit_cluster_add_closed(p->cluster, g->p->profiler.node_gpus);
}

static int give_back(void *arg, struct fit_err *err)
{
	struct fit_engine *g = arg;
	struct fit_lending *l = &g->lending;
	struct fit_cluster *c = l->part->cluster;
	bool echoed = g->p->fidelity->echoed_lending;

	if (echoed && named(l, LENT) >= 0) {	/* one of that name is there: nothing comes back */
		if (l->node >= 0)
			return FIT_OK;
		l->n_further--;
		return log_size(g, err);
	}
	if (echoed) {
		if (l->node < 0 ? make_room(g) : put_last(g, l->node))
			return fit_fail_nomem(err);
		l->node = c->n_nodes - 1;
		l->name[l->node] = LENT;
		l->part->numbers[l->node] = l->number;
	}
	fit_cluster_open(c, l->node);
	l->part->news = true;
	return log_node(g, "regain", l->number, err);
}

int fit_engine_set_lender(struct fit_engine *g, struct fit_profiler_params *p, struct fit_err *err)
{
	struct fit_lending *l = &g->lending;
	int32_t n;

	if (!g->p->profiler_lender)
		return FIT_OK;
	l->part = &g->parts[g->p->profiler_lender - g->partitions->p];
	n = l->part->cluster->n_nodes;
	l->part->numbers = malloc((size_t)n * sizeof *l->part->numbers);
	l->name = malloc((size_t)n * sizeof *l->name);
	if (!l->part->numbers || !l->name)
		return fit_fail_nomem(err);
	for (int32_t i = 0; i < n; i++) {
		l->part->numbers[i] = l->part->first_node + i;
		l->name[i] = i;
	}
	p->borrow = borrow;
	p->give_back = give_back;
	p->lender = g;
	p->keeps_unforeseen = g->p->fidelity->echoed_lending;
	return FIT_OK;
}
