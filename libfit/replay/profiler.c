/* SPDX-License-Identifier: MIT */
#include "libfit/replay/profiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

struct run {
	struct fit_profiling *out;
	const struct fit_jobs *js;
	const struct fit_profiler_params *p;
	struct fit_cluster cluster;
	struct heap waiting, running;
	struct item *arrivals;
	size_t n_arrivals, next;
	uint32_t started;
	bool grown;
	int64_t now_ns;
};

static bool before(const struct item *a, const struct item *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static int push(struct heap *h, struct item x)
{
	size_t i = h->n;

	if (fit_grow(&h->a, &h->cap, i + 1, sizeof *h->a))
		return FIT_ENOMEM;
	h->n++;
	for (; i && before(&x, &h->a[(i - 1) / 2]); i = (i - 1) / 2)
		h->a[i] = h->a[(i - 1) / 2];
	h->a[i] = x;
	return FIT_OK;
}

static void pop(struct heap *h)
{
	struct item last = h->a[--h->n];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < h->n) {
		if (c + 1 < h->n && before(&h->a[c + 1], &h->a[c]))
			c++;
		if (!before(&h->a[c], &last))
			break;
		h->a[i] = h->a[c];
		i = c;
	}
	h->a[i] = last;
}

static int by_key(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return before(a, b) ? -1 : before(b, a);
}

static int collect(struct run *r, struct fit_err *err)
{
	r->arrivals = malloc((r->js->n ? r->js->n : 1) * sizeof *r->arrivals);
	r->out->jobs = malloc((r->js->n ? r->js->n : 1) * sizeof *r->out->jobs);
	if (!r->arrivals || !r->out->jobs)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < r->js->n; i++) {
		const struct fit_job *j = &r->js->jobs[i];

		r->out->jobs[i] = (struct fit_profiled){ .start_ns = -1, .end_ns = -1 };
		if (j->too_large || j->gpus > r->p->most_gpus || !r->p->nodes)
			continue;
		if (j->duration_ns < 0)
			return fit_fail(err, FIT_EDATA, "job %s: no duration (expected one for profiling)", j->id);
		r->arrivals[r->n_arrivals++] = (struct item){ j->submit_ns, (uint32_t)i, (uint32_t)i };
	}
	qsort(r->arrivals, r->n_arrivals, sizeof *r->arrivals, by_key);
	return FIT_OK;
}

static int open_cluster(struct run *r, struct fit_err *err)
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

static int change(struct run *r, int32_t by)
{
	struct fit_profiling *out = r->out;

	if (fit_grow(&out->changes, &out->cap_changes, out->n_changes + 1, sizeof *out->changes))
		return FIT_ENOMEM;
	out->changes[out->n_changes++] = (struct fit_profile_change){ r->now_ns, by };
	r->grown = by > 0;
	if (r->grown)
		fit_cluster_open(&r->cluster, r->p->nodes);
	else
		fit_cluster_close(&r->cluster, r->p->nodes);
	return FIT_OK;
}

static int scale(struct run *r)
{
	const struct fit_profiler_params *p = r->p;

	if (!p->forecast)
		return FIT_OK;
	if (!r->grown && r->now_ns % p->grow_ns == 0 && r->waiting.n > p->grow_above)
		return change(r, 1);
	if (r->grown && r->now_ns % p->shrink_ns == 0 && r->waiting.n < p->shrink_below &&
	    r->cluster.free[p->nodes] == p->node_gpus &&
	    fit_forecast_mean(p->forecast, p->forecast->gpus, r->now_ns) <= p->shrink_gpus)
		return change(r, -1);
	return FIT_OK;
}

static int add_event(struct run *r, uint32_t j, bool ends)
{
	struct fit_profiling *out = r->out;

	if (fit_grow(&out->events, &out->cap_events, out->n_events + 1, sizeof *out->events))
		return FIT_ENOMEM;
	out->events[out->n_events++] = (struct fit_profile_event){ r->now_ns, j, ends };
	return FIT_OK;
}

static int start(struct run *r, uint32_t j, const struct fit_alloc *a)
{
	const struct fit_job *job = &r->js->jobs[j];
	struct fit_profiling *out = r->out;
	struct fit_profiled *x = &out->jobs[j];

	if (fit_grow(&out->shares, &out->cap_shares, out->n_shares + a->n, sizeof *out->shares))
		return FIT_ENOMEM;
	x->nodes_at = (uint32_t)out->n_shares;
	x->n_nodes = (uint32_t)a->n;
	for (size_t i = 0; i < a->n; i++)
		out->shares[out->n_shares++] = a->shares[i];
	x->finished = job->duration_ns <= r->p->limit_ns;
	x->start_ns = r->now_ns;
	x->end_ns = r->now_ns + (x->finished ? job->duration_ns : r->p->limit_ns);
	out->n_profiled++;
	out->n_finished += x->finished;
	if (add_event(r, j, false))
		return FIT_ENOMEM;
	return push(&r->running, (struct item){ x->end_ns, r->started++, j });
}

static int end(struct run *r, uint32_t j)
{
	const struct fit_profiled *x = &r->out->jobs[j];
	struct fit_alloc a = { r->out->shares + x->nodes_at, x->n_nodes, 0, r->js->jobs[j].gpus };

	fit_cluster_give(&r->cluster, &a);
	return add_event(r, j, true);
}

static int start_waiting(struct run *r)
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

static int64_t next_instant(const struct run *r)
{
	int64_t at = r->next < r->n_arrivals ? r->arrivals[r->next].key : INT64_MAX;

	if (r->running.n && r->running.a[0].key < at)
		at = r->running.a[0].key;
	if (at == INT64_MAX || !r->p->forecast)
		return at;	/* nothing can change any more but the size */
	if (!r->grown && r->waiting.n > r->p->grow_above && next_multiple(r->now_ns, r->p->grow_ns) < at)
		at = next_multiple(r->now_ns, r->p->grow_ns);
	if (r->grown && r->waiting.n < r->p->shrink_below && next_multiple(r->now_ns, r->p->shrink_ns) < at)
		at = next_multiple(r->now_ns, r->p->shrink_ns);
	return at;
}

static int step(struct run *r)
{
	int rc;

	while (r->running.n && r->running.a[0].key <= r->now_ns) {
		if (end(r, r->running.a[0].job))
			return FIT_ENOMEM;
		pop(&r->running);
	}
	while (r->next < r->n_arrivals && r->arrivals[r->next].key <= r->now_ns) {
		uint32_t j = r->arrivals[r->next].job;

		if (push(&r->waiting, (struct item){ r->p->naive ? 0 : r->js->jobs[j].gpus, (uint32_t)r->next, j }))
			return FIT_ENOMEM;
		r->next++;
	}
	rc = scale(r);
	return rc ? rc : start_waiting(r);
}

int fit_profiler_run(struct fit_profiling *out, const struct fit_jobs *js,
		     const struct fit_profiler_params *p, struct fit_err *err)
{
	struct run r = { .out = out, .js = js, .p = p };
	int rc;

	*out = (struct fit_profiling){ 0 };
	rc = open_cluster(&r, err);
	rc = rc ? rc : collect(&r, err);
	while (!rc) {
		r.now_ns = next_instant(&r);
		if (r.now_ns == INT64_MAX)
			break;
		rc = step(&r);
		if (rc)
			rc = fit_fail_nomem(err);
	}
	fit_cluster_release(&r.cluster);
	free(r.waiting.a);
	free(r.running.a);
	free(r.arrivals);
	if (rc)
		fit_profiling_release(out);
	return rc;
}
