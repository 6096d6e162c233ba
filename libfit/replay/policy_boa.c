/* SPDX-License-Identifier: MIT */
/*
 * BOA Constrictor (arXiv 2602.01404): each job runs at the width that was computed for its class
 * and epoch.
 *
 * There is no queue to speak of: an elastic cluster has the whole nodes that the sum of widths
 * needs, and a job waits for no more than the start-up of a node. Where GPUs are short all the
 * same (nodes that start, a cluster that is not larger), they go to jobs in the order in which
 * these began to want them, and nobody is passed over; a job that wants more than it holds keeps
 * what it holds until then. What is right already stays where it is, the others are placed anew,
 * the widest first.
 *
 * With a learner the plans are computed anew at multiples of an interval from what was observed
 * by then: the speed of each width on which an epoch was finished. A job gets a new width when it
 * begins an epoch, not before.
 */
#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/model/boa_learn.h"
#include "libfit/replay/boa_widths.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/provision.h"

struct want {
	int64_t since_ns;
	int64_t gpus;
	uint32_t job;
};

struct boa {
	const struct fit_boa_widths *w;		/* NULL with a learner */
	struct fit_boa_learner *learner;	/* borrowed, NULL without */
	const struct fit_job_classes *classes;
	int64_t resolve_ns, resolved;	/* interval; number of the last one that was looked at */
	int64_t *arrived;	/* by class */
	uint8_t *plan;		/* by job */
	int64_t *width, *since_ns;	/* by job: what it wants, and since when */
	int64_t *looked;		/* by job: the epoch, from 1, for which that was looked up */
	struct seen { int64_t epoch, gpus; } *seen;	/* by job: after the last decision */
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
	free(b->looked);
	free(b->seen);
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
	b->learner = p->boa_learner;
	b->classes = b->w ? b->w->classes : p->boa_classes;
	b->resolve_ns = p->boa_resolve_ns;
	b->arrived = calloc(b->classes->n + 1, sizeof *b->arrived);
	b->looked = calloc(n, sizeof *b->looked);
	b->seen = calloc(n, sizeof *b->seen);
	b->plan = calloc(n, sizeof *b->plan);
	b->width = calloc(n, sizeof *b->width);
	b->since_ns = calloc(n, sizeof *b->since_ns);
	if (!b->arrived || !b->plan || !b->width || !b->since_ns || !b->looked || !b->seen)
		return fit_fail_nomem(err);
	return FIT_OK;
}

static size_t class_of(const struct boa *b, const struct fit_job *j)
{
	return (size_t)(j->job_class - b->classes->list);
}

static int64_t planned(const struct boa *b, const struct fit_job *j, int plan, int64_t epoch)
{
	if (b->learner)
		return fit_boa_learner_width(b->learner, fit_text_of(j->job_class->name), plan, epoch);
	return fit_boa_width(b->w, class_of(b, j), plan, epoch);
}

/* Epochs from `from` on that the job has finished by now were run on what it held. */
static void observe(struct boa *b, const struct fit_job *j, const struct seen *s, int64_t epoch)
{
	for (int64_t e = s->epoch; b->learner && s->gpus && e < epoch; e++)
		fit_boa_learner_observe(b->learner, fit_text_of(j->job_class->name), e, s->gpus,
					fit_job_class_speed(j->job_class, e, s->gpus));
}

static void boa_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct boa *b = state;

	observe(b, &v->jobs[j], &b->seen[j], v->jobs[j].job_class->n_epochs);
}

/* A multiple of the interval has come since the last decision: plans from what is known by now. */
static int resolve(struct boa *b, const struct fit_view *v, struct fit_err *err)
{
	size_t n;
	const uint32_t *active = fit_view_active(v, &n);

	if (!b->learner || !b->resolve_ns)
		return FIT_OK;
	for (size_t i = 0; i < n; i++) {
		uint32_t j = active[i];

		observe(b, &v->jobs[j], &b->seen[j], fit_view_epoch(v, j));
		b->seen[j] = (struct seen){ fit_view_epoch(v, j), fit_view_gpus(v, j) };
	}
	if (v->now_ns / b->resolve_ns <= b->resolved)
		return FIT_OK;
	b->resolved = v->now_ns / b->resolve_ns;
	return fit_boa_learner_solve(b->learner, err);
}

static int64_t boa_next_wake(void *state, const struct fit_view *v)
{
	const struct boa *b = state;

	(void)v;
	return b->learner && b->resolve_ns ? (b->resolved + 1) * b->resolve_ns : INT64_MAX;
}

static int boa_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct boa *b = state;
	size_t class = class_of(b, &v->jobs[j]);
	const struct fit_boa_choice *c = b->w ? &b->w->choices[class] : NULL;

	if (b->learner) {
		struct fit_text name = fit_text_of(v->jobs[j].job_class->name);

		if (fit_boa_learner_epochs(b->learner, name) != v->jobs[j].job_class->n_epochs)
			return fit_fail(err, FIT_EDATA,
					"job %s: class '%s' has other epochs in what is believed, or is not there",
					v->jobs[j].id, v->jobs[j].job_class->name);
		b->plan[j] = (uint8_t)fit_boa_widths_plan(fit_boa_learner_share(b->learner, name),
							  b->arrived[class]++);
		return FIT_OK;
	}
	if (!c->planned)
		return fit_fail(err, FIT_EDATA, "job %s: the plans have no class '%s'", v->jobs[j].id,
				v->jobs[j].job_class->name);
	b->plan[j] = (uint8_t)fit_boa_widths_plan(c->theta, b->arrived[class]++);
	if (fit_boa_widths_most(b->w, class) > v->cluster->n_gpus)
		return fit_fail(err, FIT_EDATA,
				"job %s: class '%s' has a width of %lld GPUs, the cluster at most %lld",
				v->jobs[j].id, v->jobs[j].job_class->name,
				(long long)fit_boa_widths_most(b->w, class), (long long)v->cluster->n_gpus);
	return FIT_OK;
}

/* The width that a job should have now. */
static int64_t width_of(struct boa *b, const struct fit_view *v, uint32_t j)
{
	int64_t epoch = fit_view_epoch(v, j), w;

	if (b->looked[j] == epoch + 1)
		return b->width[j];
	b->looked[j] = epoch + 1;
	w = planned(b, &v->jobs[j], b->plan[j], epoch);
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
	int rc;

	rc = resolve(state, v, err);
	if (rc)
		return rc;
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

/* The width can be had, and is of use. */
static int check_width(const struct boa *b, const struct fit_view *v, uint32_t j, int64_t w,
		       struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	int64_t epoch = fit_view_epoch(v, j);

	if (!b->learner)
		return FIT_OK;	/* looked at when the plans were read, and at the arrival */
	if (w > v->cluster->n_gpus)
		return fit_fail(err, FIT_EDATA,
				"job %s: class '%s' has a width of %lld GPUs, the cluster at most %lld",
				job->id, job->job_class->name, (long long)w, (long long)v->cluster->n_gpus);
	if (!(fit_job_class_speed(job->job_class, epoch, w) > 0) && job->job_class->epochs[epoch].work > 0)
		return fit_fail(err, FIT_EDATA,
				"job %s: class '%s' is believed to run on %lld GPUs in epoch %lld, and does not",
				job->id, job->job_class->name, (long long)w, (long long)epoch);
	return FIT_OK;
}

static int boa_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct boa *b = state;
	int64_t room = v->cluster->n_free;
	const uint32_t *active;
	size_t n, n_want = 0, n_less = 0;
	int rc = resolve(b, v, err);

	if (rc)
		return rc;
	active = fit_view_active(v, &n);
	if (fit_grow(&b->wants, &b->cap, n, sizeof *b->wants))
		return fit_fail_nomem(err);
	/* those that want fewer GPUs come first: they make room */
	for (int more = 0; more < 2; more++) {
		for (size_t i = 0; i < n; i++) {
			int64_t w = width_of(b, v, active[i]), held = fit_view_gpus(v, active[i]);

			if (w == held || (w > held) != more)
				continue;
			rc = rc ? rc : check_width(b, v, active[i], w, err);
			b->wants[n_want++] = (struct want){ b->since_ns[active[i]], w, active[i] };
			if (!more) {
				room += held - w;
				n_less++;
			}
		}
	}
	if (rc)
		return rc;
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
	for (size_t i = 0; i < n; i++)
		b->seen[active[i]] = (struct seen){ fit_view_epoch(v, active[i]), fit_view_gpus(v, active[i]) };
	for (size_t i = 0; i < n_want; i++)
		b->seen[b->wants[i].job].gpus = b->wants[i].gpus;
	return rc;
}

static int boa_describe(const struct fit_policy_params *p, const struct fit_view *v,
			struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];
	int rc;

	(void)v;
	if (!p->boa_learner)
		return FIT_OK;
	fit_format_double(text, fit_boa_learner_budget(p->boa_learner));
	rc = fit_meta_add(meta, "boa_budget", text);
	fit_format_time(text, p->boa_resolve_ns);
	return rc ? rc : fit_meta_add(meta, "boa_resolve_s", text);
}

const struct fit_policy fit_policy_boa = {
	.name = "boa",
	.summary = "precomputed widths by class and epoch",
	.needs = FIT_NEEDS_PLAN | FIT_WAKE_EPOCHS | FIT_ONE_TYPE | FIT_MOLDS,
	.init = boa_init,
	.free = boa_free,
	.arrive = boa_arrive,
	.leave = boa_leave,
	.decide = boa_decide,
	.want_nodes = boa_want_nodes,
	.next_wake = boa_next_wake,
	.describe = boa_describe,
};
