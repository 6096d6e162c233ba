/* SPDX-License-Identifier: MIT */
/*
 * BOA Constrictor (arXiv 2602.01404): each job runs at the width that was computed for its class and epoch.
 *
 * There is no queue to speak of: an elastic cluster has the whole nodes that the sum of widths needs, and a job
 * waits for no more than the start-up of a node. Where GPUs are short all the same (nodes that start, a cluster that
 * is not larger), they go to jobs in the order in which these began to want them, and nobody is passed over; a job that
 * wants more than it holds keeps what it holds until then. What is right already stays where it is, the others are
 * placed anew, the widest first.
 */
#include <stdlib.h>

#include "libfit/replay/boa_widths.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/provision.h"

struct want {
	int64_t since_ns;
	int64_t gpus;
	uint32_t job;
};

struct boa {
	const struct fit_boa_widths *w;
	int64_t *arrived;	/* by class */
	uint8_t *plan;		/* by job */
	int64_t *width, *since_ns;	/* by job: what it wants, and since when */
	struct want *wants;
	size_t cap;
};

static void boa_free(void *state)
{
	struct boa *b = state;

	free(b->arrived);
	free(b->plan);
	free(b->width);
	free(b->since_ns);
	free(b->wants);
	free(b);
}

static int boa_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		    struct fit_err *err)
{
	size_t n = v->n_jobs + 1;
	struct boa *b = calloc(1, sizeof *b);

	*state = b;
	if (!b)
		return fit_fail_nomem(err);
	b->w = p->boa;
	b->arrived = calloc(b->w->classes->n + 1, sizeof *b->arrived);
	b->plan = calloc(n, sizeof *b->plan);
	b->width = calloc(n, sizeof *b->width);
	b->since_ns = calloc(n, sizeof *b->since_ns);
	return b->arrived && b->plan && b->width && b->since_ns ? FIT_OK : fit_fail_nomem(err);
}

static size_t class_of(const struct boa *b, const struct fit_job *j)
{
	return (size_t)(j->class - b->w->classes->list);
}

static int boa_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct boa *b = state;
	size_t class = class_of(b, &v->jobs[j]);
	const struct fit_boa_choice *c = &b->w->choices[class];

	if (!c->planned)
		return fit_fail(err, FIT_EDATA, "job %s: the plans have no class '%s'", v->jobs[j].id,
				v->jobs[j].class->name);
	b->plan[j] = (uint8_t)fit_boa_widths_plan(c->theta, b->arrived[class]++);
	if (fit_boa_widths_most(b->w, class) > v->cluster->n_gpus)
		return fit_fail(err, FIT_EDATA, "job %s: class '%s' has a width of %lld GPUs, the cluster at most %lld",
				v->jobs[j].id, v->jobs[j].class->name,
				(long long)fit_boa_widths_most(b->w, class), (long long)v->cluster->n_gpus);
	return FIT_OK;
}

/* The width that a job should have now. */
static int64_t width_of(struct boa *b, const struct fit_view *v, uint32_t j)
{
	int64_t w = fit_boa_width(b->w, class_of(b, &v->jobs[j]), b->plan[j], fit_view_epoch(v, j));

	if (w != b->width[j]) {
		b->width[j] = w;
		b->since_ns[j] = v->now_ns;
	}
	return w;
}

static int boa_want_nodes(void *state, const struct fit_view *v, int64_t *nodes, struct fit_err *err)
{
	const uint32_t *active;
	int64_t gpus = 0;
	size_t n;

	(void)err;
	active = fit_view_active(v, &n);
	for (size_t i = 0; i < n; i++)
		gpus += width_of(state, v, active[i]);
	*nodes = fit_provision_nodes_for(v->provisioner, gpus);
	return FIT_OK;
}

static int by_since(const void *pa, const void *pb)
{
	const struct want *a = pa, *b = pb;

	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

static int by_width(const void *pa, const void *pb)
{
	const struct want *a = pa, *b = pb;

	if (a->gpus != b->gpus)
		return a->gpus > b->gpus ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

static int boa_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct boa *b = state;
	int64_t room = v->cluster->n_free;
	const uint32_t *active;
	size_t n, n_want = 0, n_less = 0;
	int rc = FIT_OK;

	active = fit_view_active(v, &n);
	if (fit_grow(&b->wants, &b->cap, n, sizeof *b->wants))
		return fit_fail_nomem(err);
	/* those that want fewer GPUs come first: they make room */
	for (int more = 0; more < 2; more++) {
		for (size_t i = 0; i < n; i++) {
			int64_t w = width_of(b, v, active[i]), held = fit_view_gpus(v, active[i]);

			if (w == held || (w > held) != more)
				continue;
			b->wants[n_want++] = (struct want){ b->since_ns[active[i]], w, active[i] };
			if (!more) {
				room += held - w;
				n_less++;
			}
		}
	}
	qsort(b->wants + n_less, n_want - n_less, sizeof *b->wants, by_since);
	for (size_t i = n_less; i < n_want; i++) {
		room -= b->wants[i].gpus - fit_view_gpus(v, b->wants[i].job);
		if (room < 0)
			n_want = i;
	}
	qsort(b->wants, n_want, sizeof *b->wants, by_width);
	for (size_t i = 0; i < n_want && !rc; i++)
		if (fit_plan_grant(plan, b->wants[i].job, b->wants[i].gpus))
			rc = fit_fail_nomem(err);
	return rc;
}

const struct fit_policy fit_policy_boa = {
	.name = "boa",
	.summary = "precomputed widths by class and epoch",
	.needs = FIT_NEEDS_PLAN | FIT_WAKE_EPOCHS,
	.init = boa_init,
	.free = boa_free,
	.arrive = boa_arrive,
	.decide = boa_decide,
	.want_nodes = boa_want_nodes,
};
