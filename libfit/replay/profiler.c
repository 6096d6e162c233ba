/* SPDX-License-Identifier: MIT */
#include "libfit/replay/profiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/base/heap.h"
#include "libfit/base/num.h"
#include "libfit/replay/placement.h"

double fit_forecast_mean(const struct fit_forecast *f, const double *x, int64_t now_ns)
{
	size_t lo = 0, hi = f->n, n;
	double sum = 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->time_ns[mid] <= now_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	n = f->n - lo;
	n = n >= 6 ? 5 : n;	/* the published simulator looks for six and takes five */
	if (n == 0)
		return (double)NAN;
	for (size_t i = 0; i < n; i++)
		sum += x[lo + i];
	return sum / (double)n;
}

struct fit_profiler_params fit_profiler_params_default(void)
{
	return (struct fit_profiler_params){
		.node_gpus = 8,
		.placement = FIT_PLACE_CONSOLIDATE,
		.limit_ns = 200 * FIT_NS_PER_S,
		.most_gpus = 8,
		.grow_ns = 10 * FIT_NS_PER_S,
		.shrink_ns = 100 * FIT_NS_PER_S,
		.grow_above = 10,
		.shrink_below = 5,
		.shrink_gpus = 40,
	};
}

const char *fit_profiler_params_check(const struct fit_profiler_params *p)
{
	if (p->nodes < 0 || p->nodes >= FIT_NODES_MAX)
		return "the number of profiling nodes is out of range";
	if (p->node_gpus < 1 || p->node_gpus > FIT_NODE_GPUS_MAX)
		return "the GPUs of a profiling node are out of range";
	if (p->limit_ns < 0)
		return "the profiling time is negative";
	if (p->most_gpus > (int64_t)p->nodes * p->node_gpus)
		return "jobs to be profiled may be larger than the profiler";
	if (p->grow_ns < 1 || p->shrink_ns < 1)
		return "the intervals of scaling are not above 0";
	return NULL;
}

void fit_profiling_release(struct fit_profiling *p)
{
	free(p->jobs);
	free(p->events);
	free(p->shares);
	free(p->lent);
	free(p->changes);
	*p = (struct fit_profiling){ 0 };
}

/* ---- the run ---- */

struct item {
	int64_t key;
	uint32_t order, job;	/* order breaks ties: of arrival, or of start */
};

struct heap {
	struct item *a;
	size_t n, cap;
};

struct fit_profiler {
	struct fit_profiling *out;
	const struct fit_jobs *js;
	const struct fit_profiler_params *p;
	struct fit_cluster cluster;
	struct heap waiting, running;
	struct item *arrivals;
	size_t n_arrivals, next;
	uint32_t started;
	bool grown;
	int32_t borrowed;	/* the number of the further node */
	int64_t now_ns;
};

static bool before(const struct item *a, const struct item *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

FIT_HEAP(items, struct item, before)

static int push(struct heap *h, struct item x)
{
	return items_push(&h->a, &h->n, &h->cap, x);
}

static void pop(struct heap *h)
{
	items_pop(h->a, &h->n);
}

static int by_key(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return before(a, b) ? -1 : before(b, a);
}

bool fit_profiler_takes(const struct fit_profiler_params *p, const struct fit_job *j)
{
	return p->nodes && !j->too_large && j->gpus <= p->most_gpus;
}

bool fit_profiler_finishes(const struct fit_profiler_params *p, const struct fit_job *j)
{
	return fit_profiler_takes(p, j) && j->duration_ns <= p->limit_ns;
}

static int collect(struct fit_profiler *r, struct fit_err *err)
{
	r->arrivals = malloc((r->js->n ? r->js->n : 1) * sizeof *r->arrivals);
	r->out->jobs = malloc((r->js->n ? r->js->n : 1) * sizeof *r->out->jobs);
	if (!r->arrivals || !r->out->jobs)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < r->js->n; i++) {
		const struct fit_job *j = &r->js->jobs[i];

		r->out->jobs[i] = (struct fit_profiled){ .start_ns = -1, .end_ns = -1 };
		if (!fit_profiler_takes(r->p, j))
			continue;
		if (j->duration_ns < 0)
			return fit_fail(err, FIT_EDATA, "job %s: no duration (expected one for profiling)", j->id);
		r->arrivals[r->n_arrivals++] = (struct item){ j->submit_ns, (uint32_t)i, (uint32_t)i };
	}
	qsort(r->arrivals, r->n_arrivals, sizeof *r->arrivals, by_key);
	return FIT_OK;
}

static int open_cluster(struct fit_profiler *r, struct fit_err *err)
{
	char spec[2 * FIT_NUM_MAX];
	int rc;

	/* the last node is the one that scaling takes in */
	snprintf(spec, sizeof spec, "%ldx%ld", (long)r->p->nodes + 1, (long)r->p->node_gpus);
	rc = fit_cluster_init(&r->cluster, spec, err);
	if (!rc)
		fit_cluster_close(&r->cluster, r->p->nodes);
	return rc;
}

static int change(struct fit_profiler *r, int32_t by, struct fit_err *err)
{
	struct fit_profiling *out = r->out;

	if (fit_grow(&out->changes, &out->cap_changes, out->n_changes + 1, sizeof *out->changes))
		return fit_fail_nomem(err);
	out->changes[out->n_changes++] = (struct fit_profile_change){ r->now_ns, by };
	r->grown = by > 0;
	if (r->grown)
		fit_cluster_open(&r->cluster, r->p->nodes);
	else
		fit_cluster_close(&r->cluster, r->p->nodes);
	return FIT_OK;
}

static int grow(struct fit_profiler *r, struct fit_err *err)
{
	int32_t node = r->p->nodes;
	int rc = r->p->borrow ? r->p->borrow(r->p->lender, &node, err) : FIT_OK;

	r->borrowed = node;
	return rc || node < 0 ? rc : change(r, 1, err);
}

static int shrink(struct fit_profiler *r, struct fit_err *err)
{
	int rc = r->p->give_back ? r->p->give_back(r->p->lender, err) : FIT_OK;

	return rc ? rc : change(r, -1, err);
}

static bool expects_few(const struct fit_profiler *r)
{
	double gpus = fit_forecast_mean(r->p->forecast, r->p->forecast->gpus, r->now_ns);

	return isnan(gpus) ? !r->p->keeps_unforeseen : gpus <= r->p->shrink_gpus;
}

static int scale(struct fit_profiler *r, struct fit_err *err)
{
	const struct fit_profiler_params *p = r->p;

	if (!p->forecast)
		return FIT_OK;
	if (!r->grown && r->now_ns % p->grow_ns == 0 && r->waiting.n > p->grow_above)
		return grow(r, err);
	if (r->grown && r->now_ns % p->shrink_ns == 0 && r->waiting.n < p->shrink_below &&
	    r->cluster.free[p->nodes] == p->node_gpus && expects_few(r))
		return shrink(r, err);
	return FIT_OK;
}

static int add_event(struct fit_profiler *r, uint32_t j, bool ends)
{
	struct fit_profiling *out = r->out;

	if (fit_grow(&out->events, &out->cap_events, out->n_events + 1, sizeof *out->events))
		return FIT_ENOMEM;
	out->events[out->n_events++] = (struct fit_profile_event){ r->now_ns, j, ends };
	return FIT_OK;
}

static int start(struct fit_profiler *r, uint32_t j, const struct fit_alloc *a)
{
	const struct fit_job *job = &r->js->jobs[j];
	struct fit_profiling *out = r->out;
	struct fit_profiled *x = &out->jobs[j];

	if (fit_grow(&out->shares, &out->cap_shares, out->n_shares + a->n, sizeof *out->shares) ||
	    fit_grow(&out->lent, &out->cap_lent, out->n_shares + a->n, sizeof *out->lent))
		return FIT_ENOMEM;
	x->nodes_at = (uint32_t)out->n_shares;
	x->n_nodes = (uint32_t)a->n;
	for (size_t i = 0; i < a->n; i++) {
		out->lent[out->n_shares] = r->borrowed;
		out->shares[out->n_shares++] = a->shares[i];
	}
	x->finished = fit_profiler_finishes(r->p, job);
	x->start_ns = r->now_ns;
	x->end_ns = r->now_ns + (x->finished ? job->duration_ns : r->p->limit_ns);
	out->n_profiled++;
	out->n_finished += x->finished;
	if (add_event(r, j, false))
		return FIT_ENOMEM;
	return push(&r->running, (struct item){ x->end_ns, r->started++, j });
}

static int end(struct fit_profiler *r, uint32_t j)
{
	const struct fit_profiled *x = &r->out->jobs[j];
	struct fit_alloc a = { r->out->shares + x->nodes_at, x->n_nodes, 0, r->js->jobs[j].gpus };

	fit_cluster_give(&r->cluster, &a);
	return add_event(r, j, true);
}

static int start_waiting(struct fit_profiler *r)
{
	struct fit_alloc a = { 0 };
	int rc = FIT_OK;

	while (!rc && r->waiting.n) {
		uint32_t j = r->waiting.a[0].job;

		rc = fit_placement_take(&r->cluster, (enum fit_placement_kind)r->p->placement,
					r->js->jobs[j].gpus, 0, &a);
		if (rc)
			break;
		pop(&r->waiting);
		rc = start(r, j, &a);
	}
	fit_alloc_release(&a);
	return rc == FIT_END ? FIT_OK : rc;
}

static int64_t next_multiple(int64_t now, int64_t of)
{
	return (now / of + 1) * of;
}

int64_t fit_profiler_next_ns(const struct fit_profiler *r)
{
	const struct fit_profiler_params *p = r->p;
	int64_t at = r->next < r->n_arrivals ? r->arrivals[r->next].key : INT64_MAX, size_ns;

	if (r->running.n && r->running.a[0].key < at)
		at = r->running.a[0].key;
	if (!p->forecast)
		return at;
	if (!r->grown && r->waiting.n > p->grow_above) {
		size_ns = next_multiple(r->now_ns, p->grow_ns);
		at = size_ns < at ? size_ns : at;
	}
	/* without jobs the node goes back, too; where that may never be, nothing goes on for its sake */
	if (r->grown && r->waiting.n < p->shrink_below && (at != INT64_MAX || !p->keeps_unforeseen)) {
		size_ns = next_multiple(r->now_ns, p->shrink_ns);
		at = size_ns < at ? size_ns : at;
	}
	return at;
}

bool fit_profiler_busy(const struct fit_profiler *r)
{
	return r->next < r->n_arrivals || r->waiting.n || r->running.n;
}

int fit_profiler_end(struct fit_profiler *r, int64_t now_ns, struct fit_err *err)
{
	r->now_ns = now_ns;
	while (r->running.n && r->running.a[0].key <= now_ns) {
		if (end(r, r->running.a[0].job))
			return fit_fail_nomem(err);
		pop(&r->running);
	}
	return FIT_OK;
}

int fit_profiler_begin(struct fit_profiler *r, int64_t now_ns, struct fit_err *err)
{
	int rc;

	while (r->next < r->n_arrivals && r->arrivals[r->next].key <= now_ns) {
		uint32_t j = r->arrivals[r->next].job;

		if (push(&r->waiting, (struct item){ r->p->naive ? 0 : r->js->jobs[j].gpus, (uint32_t)r->next, j }))
			return fit_fail_nomem(err);
		r->next++;
	}
	rc = scale(r, err);
	if (!rc && start_waiting(r))
		rc = fit_fail_nomem(err);
	return rc;
}

int fit_profiler_new(struct fit_profiler **r, struct fit_profiling *out, const struct fit_jobs *js,
		     const struct fit_profiler_params *p, struct fit_err *err)
{
	struct fit_profiler *x = calloc(1, sizeof *x);
	int rc;

	*out = (struct fit_profiling){ 0 };
	*r = x;
	if (!x)
		return fit_fail_nomem(err);
	*x = (struct fit_profiler){ .out = out, .js = js, .p = p, .now_ns = -1, .borrowed = p->nodes };
	rc = open_cluster(x, err);
	rc = rc ? rc : collect(x, err);
	if (rc) {
		fit_profiler_free(x);
		fit_profiling_release(out);
		*r = NULL;
	}
	return rc;
}

void fit_profiler_free(struct fit_profiler *r)
{
	if (!r)
		return;
	fit_cluster_release(&r->cluster);
	free(r->waiting.a);
	free(r->running.a);
	free(r->arrivals);
	free(r);
}

int fit_profiler_run(struct fit_profiling *out, const struct fit_jobs *js,
		     const struct fit_profiler_params *p, struct fit_err *err)
{
	struct fit_profiler *r;
	int rc = fit_profiler_new(&r, out, js, p, err);

	while (!rc && fit_profiler_busy(r)) {
		int64_t now = fit_profiler_next_ns(r);

		rc = fit_profiler_end(r, now, err);
		rc = rc ? rc : fit_profiler_begin(r, now, err);
	}
	fit_profiler_free(r);
	if (rc)
		fit_profiling_release(out);
	return rc;
}
