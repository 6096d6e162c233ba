/* SPDX-License-Identifier: MIT */
/*
 * BOA Constrictor (arXiv 2602.01404): each job runs at the width that was computed for its class
 * and epoch.
 *
 * There is no queue to speak of: an elastic cluster has, of each GPU type, the whole nodes that the
 * sum of widths needs, and a job waits for no more than the start-up of a node. Where GPUs are short all
 * the same (nodes that start, a cluster that is not larger), those of a type go to jobs in the order in
 * which these began to want them, and nobody is passed over; a job that wants more than it holds, or
 * GPUs of another type, keeps what it holds until then. What is right already stays where it is, the
 * others are placed anew, the widest first.
 *
 * Jobs that change from one type to another make room where they come from. Who is served is the largest
 * set of jobs that can be served together: all are taken to be served at first, then those that find
 * no room are struck out, and with them the room that they would have made, until nothing changes.
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
	int64_t gpus, more;	/* more: than it holds of this type */
	uint32_t job;
	int32_t type, from;	/* from: the type that it leaves; FIT_ANY_TYPE: none */
	bool served;
};

struct boa {
	const struct fit_boa_widths *w;		/* NULL with a learner */
	struct fit_boa_learner *learner;	/* borrowed, NULL without */
	const struct fit_job_classes *classes;
	int64_t resolve_ns, resolved;	/* interval; number of the last one that was looked at */
	int64_t *arrived;	/* by class */
	uint8_t *plan;		/* by job */
	struct fit_boa_gpus *width;	/* by job: what it wants, and since when */
	int64_t *since_ns;
	int64_t *looked;		/* by job: the epoch, from 1, for which that was looked up */
	struct seen { int64_t epoch, gpus; int32_t type; } *seen;	/* by job: after the last decision */
	int32_t *type;		/* with a learner, by its types: of the cluster; FIT_ANY_TYPE: not there */
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
	free(b->type);
	free(b->wants);
	free(b);
}

static int boa_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		    struct fit_err *err)
{
	size_t n = v->n_jobs + 1, n_types = p->boa_learner ? fit_boa_learner_n_types(p->boa_learner) : 0;
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
	b->type = calloc(n_types + 1, sizeof *b->type);
	if (!b->arrived || !b->plan || !b->width || !b->since_ns || !b->looked || !b->seen || !b->type)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n_types; i++)
		b->type[i] = fit_job_classes_type(b->classes, v->cluster, fit_boa_learner_type(b->learner, i));
	return FIT_OK;
}

static size_t class_of(const struct boa *b, const struct fit_job *j)
{
	return (size_t)(j->job_class - b->classes->list);
}

static struct fit_boa_gpus planned(const struct boa *b, const struct fit_job *j, int plan, int64_t epoch)
{
	size_t type = 0;
	int64_t gpus;

	if (!b->learner)
		return fit_boa_width(b->w, class_of(b, j), plan, epoch);
	gpus = fit_boa_learner_width(b->learner, fit_text_of(j->job_class->name), plan, epoch, &type);
	return (struct fit_boa_gpus){ gpus, b->type[type] };
}

/* Epochs from `from` on that the job has finished by now were run on what it held. */
static void observe(struct boa *b, const struct fit_view *v, const struct fit_job *j, const struct seen *s,
		    int64_t epoch)
{
	for (int64_t e = s->epoch; b->learner && s->gpus && e < epoch; e++)
		fit_boa_learner_observe(b->learner, fit_text_of(j->job_class->name), e,
					fit_boa_learner_find_type(b->learner, v->cluster->types[s->type].name), s->gpus,
					fit_job_class_speed(j->job_class, e, s->type, s->gpus));
}

static struct seen seen_of(const struct fit_view *v, uint32_t j)
{
	return (struct seen){ fit_view_epoch(v, j), fit_view_gpus(v, j), fit_view_type(v, j) };
}

static void boa_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct boa *b = state;

	observe(b, v, &v->jobs[j], &b->seen[j], v->jobs[j].job_class->n_epochs);
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

		observe(b, v, &v->jobs[j], &b->seen[j], fit_view_epoch(v, j));
		b->seen[j] = seen_of(v, j);
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

static int too_wide(const struct fit_view *v, uint32_t j, int64_t gpus, int32_t type, struct fit_err *err)
{
	const char *name = v->cluster->n_types > 1 ? v->cluster->types[type].name : NULL;

	return fit_fail(err, FIT_EDATA,
			"job %s: class '%s' has a width of %lld GPUs%s%s%s, the cluster at most %lld",
			v->jobs[j].id, v->jobs[j].job_class->name, (long long)gpus, name ? " of type '" : "",
			name ? name : "", name ? "'" : "", (long long)v->cluster->types[type].n_gpus);
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
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		if (fit_boa_widths_most(b->w, class, t) > v->cluster->types[t].n_gpus)
			return too_wide(v, j, fit_boa_widths_most(b->w, class, t), t, err);
	return FIT_OK;
}

/* The width that a job should have now. */
static struct fit_boa_gpus width_of(struct boa *b, const struct fit_view *v, uint32_t j)
{
	int64_t epoch = fit_view_epoch(v, j);
	struct fit_boa_gpus w;

	if (b->looked[j] == epoch + 1)
		return b->width[j];
	b->looked[j] = epoch + 1;
	w = planned(b, &v->jobs[j], b->plan[j], epoch);
	if (w.gpus != b->width[j].gpus || w.type != b->width[j].type) {
		b->width[j] = w;
		b->since_ns[j] = v->now_ns;
	}
	return w;
}

static int boa_want_nodes(void *state, const struct fit_view *v, const struct fit_provisioner *p,
			  int64_t *nodes,
			  struct fit_err *err)
{
	const uint32_t *active;
	int64_t gpus = 0;
	size_t n;
	int rc;

	rc = resolve(state, v, err);
	if (rc)
		return rc;
	active = fit_view_active(v, &n);
	for (size_t i = 0; i < n; i++) {
		struct fit_boa_gpus w = width_of(state, v, active[i]);

		gpus += w.type == p->type ? w.gpus : 0;
	}
	*nodes = fit_provision_nodes_for(p, gpus);
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
static int check_width(const struct boa *b, const struct fit_view *v, uint32_t j, struct fit_boa_gpus w,
		       struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	int64_t epoch = fit_view_epoch(v, j);

	if (job->gpu_type != FIT_ANY_TYPE && job->gpu_type != w.type)
		return fit_fail(err, FIT_EDATA, "job %s: asks for GPUs of type '%s', its class '%s' has those of type '%s' "
				"in epoch %lld", job->id, v->cluster->types[job->gpu_type].name, job->job_class->name,
				v->cluster->types[w.type].name, (long long)epoch);
	if (!b->learner)
		return FIT_OK;	/* the rest was looked at when the plans were read, and at the arrival */
	if (w.gpus > v->cluster->types[w.type].n_gpus)
		return too_wide(v, j, w.gpus, w.type, err);
	if (!(fit_job_class_speed(job->job_class, epoch, w.type, w.gpus) > 0) &&
	    job->job_class->epochs[epoch].work > 0)
		return fit_fail(err, FIT_EDATA,
				"job %s: class '%s' is believed to run on %lld GPUs in epoch %lld, and does not",
				job->id, job->job_class->name, (long long)w.gpus, (long long)epoch);
	return FIT_OK;
}

static struct want want_of(const struct boa *b, const struct fit_view *v, uint32_t j, struct fit_boa_gpus w)
{
	int64_t held = fit_view_gpus(v, j);
	int32_t type = held ? fit_view_type(v, j) : w.type;

	return (struct want){
		.since_ns = b->since_ns[j],
		.gpus = w.gpus,
		.more = type == w.type ? w.gpus - held : w.gpus,
		.job = j,
		.type = w.type,
		.from = type == w.type ? FIT_ANY_TYPE : type,
		.served = true,
	};
}

/* Strike out who finds no room, as long as those that are left make room where they leave. Returns whether
 * somebody was struck out. */
static bool strike_out(struct want *wants, size_t n, const struct fit_view *v, const int64_t *made)
{
	int64_t room[FIT_GPU_TYPES_MAX];
	bool blocked[FIT_GPU_TYPES_MAX] = { false }, struck = false;

	for (int32_t t = 0; t < v->cluster->n_types; t++)
		room[t] = v->cluster->types[t].n_free + made[t];
	for (size_t i = 0; i < n; i++)
		if (wants[i].served && wants[i].from != FIT_ANY_TYPE)
			room[wants[i].from] += fit_view_gpus(v, wants[i].job);
	for (size_t i = 0; i < n; i++) {
		struct want *x = &wants[i];
		bool fits = !blocked[x->type] && x->more <= room[x->type];

		blocked[x->type] = !fits;
		room[x->type] -= fits ? x->more : 0;
		struck = struck || (x->served && !fits);
		x->served = fits;
	}
	return struck;
}

/* Once it is settled who waits. Whoever waits for GPUs of another type needs those that it holds until
 * then: they count, beside what is wanted of their type. And while somebody waits, no node of that type
 * is returned: what was rented for one who waits has to be there when the nodes that start are up, even
 * if others want less by then. */
static int keep_nodes(struct boa *b, const struct fit_view *v, const struct want *wants, size_t n,
		      struct fit_plan *plan)
{
	int64_t kept[FIT_GPU_TYPES_MAX] = { 0 };
	bool waits[FIT_GPU_TYPES_MAX] = { false };
	const uint32_t *active;
	size_t n_active;

	for (size_t i = 0; i < n; i++) {
		waits[wants[i].type] = waits[wants[i].type] || !wants[i].served;
		if (!wants[i].served && wants[i].from != FIT_ANY_TYPE)
			kept[wants[i].from] += fit_view_gpus(v, wants[i].job);
	}
	active = fit_view_active(v, &n_active);
	for (int32_t t = 0; v->provisioner && t < v->cluster->n_types; t++) {
		int64_t gpus = kept[t], nodes;

		if (!waits[t] && !kept[t])
			continue;
		for (size_t i = 0; i < n_active; i++)
			gpus += b->width[active[i]].type == t ? b->width[active[i]].gpus : 0;
		nodes = fit_provision_nodes_for(&v->provisioner[t], gpus);
		if (waits[t] && nodes < v->provisioner[t].n_rented)
			nodes = v->provisioner[t].n_rented;
		if (fit_plan_want_nodes(plan, t, nodes))
			return FIT_EINVAL;
	}
	return FIT_OK;
}

/* Who wants something else than it holds: first those that want fewer of the same type, *n_less of them. */
static int gather(struct boa *b, const struct fit_view *v, size_t *n, size_t *n_less, int64_t *made,
		  struct fit_err *err)
{
	size_t n_active;
	const uint32_t *active = fit_view_active(v, &n_active);

	*n = *n_less = 0;
	if (fit_grow(&b->wants, &b->cap, n_active, sizeof *b->wants))
		return fit_fail_nomem(err);
	for (int more = 0; more < 2; more++) {
		for (size_t i = 0; i < n_active; i++) {
			struct fit_boa_gpus w = width_of(b, v, active[i]);
			struct want x = want_of(b, v, active[i], w);
			int rc;

			if ((!x.more && x.from == FIT_ANY_TYPE) || (x.more > 0) != more)
				continue;
			rc = check_width(b, v, active[i], w, err);
			if (rc)
				return rc;
			b->wants[(*n)++] = x;
			if (!more) {
				made[x.type] -= x.more;
				++*n_less;
			}
		}
	}
	return FIT_OK;
}

static int boa_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	int64_t made[FIT_GPU_TYPES_MAX] = { 0 };	/* room, by those that want fewer */
	struct boa *b = state;
	const uint32_t *active;
	size_t n, n_want, n_less;
	int rc = resolve(b, v, err);

	rc = rc ? rc : gather(b, v, &n_want, &n_less, made, err);
	if (rc)
		return rc;
	qsort(b->wants + n_less, n_want - n_less, sizeof *b->wants, by_since);
	while (strike_out(b->wants + n_less, n_want - n_less, v, made))
		;
	rc = keep_nodes(b, v, b->wants + n_less, n_want - n_less, plan);
	qsort(b->wants, n_want, sizeof *b->wants, by_width);
	for (size_t i = 0; i < n_want && !rc; i++)
		if (b->wants[i].served)
			rc = fit_plan_grant_type(plan, b->wants[i].job, b->wants[i].gpus, b->wants[i].type);
	active = fit_view_active(v, &n);
	for (size_t i = 0; i < n; i++)
		b->seen[active[i]] = seen_of(v, active[i]);
	for (size_t i = 0; i < n_want; i++)
		if (b->wants[i].served)
			b->seen[b->wants[i].job] = (struct seen){ fit_view_epoch(v, b->wants[i].job), b->wants[i].gpus,
								  b->wants[i].type };
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* What several types cost, and whether a job keeps to one. */
static int describe_types(const struct fit_boa_params *p, struct fit_meta *meta)
{
	struct fit_str prices = { 0 };
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(meta, "boa_routing", p->by_class ? "class" : "epoch");

	for (size_t i = 0; i < p->n_prices && !rc; i++) {
		fit_format_double(text, p->prices[i].price);
		rc = fit_str_printf(&prices, "%s%s=%s", i ? "," : "", p->prices[i].type, text);
	}
	if (!rc && p->n_prices)
		rc = fit_meta_add(meta, "boa_prices", prices.s);
	fit_str_release(&prices);
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
	if (!rc && fit_boa_learner_n_types(p->boa_learner) > 1)
		rc = describe_types(fit_boa_learner_params(p->boa_learner), meta);
	fit_format_time(text, p->boa_resolve_ns);
	return rc ? rc : fit_meta_add(meta, "boa_resolve_s", text);
}

const struct fit_policy fit_policy_boa = {
	.name = "boa",
	.summary = "precomputed widths by class and epoch",
	.needs = FIT_NEEDS_PLAN | FIT_WAKE_EPOCHS | FIT_MOLDS,
	.init = boa_init,
	.free = boa_free,
	.arrive = boa_arrive,
	.leave = boa_leave,
	.decide = boa_decide,
	.want_nodes = boa_want_nodes,
	.next_wake = boa_next_wake,
	.describe = boa_describe,
};
