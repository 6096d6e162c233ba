/* SPDX-License-Identifier: MIT */
#include "libfit/replay/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/replay/event_log.h"
#include "libfit/replay/predict.h"
#include "libfit/replay/progress.h"

/* The clock stops here, 190 years after the trace origin: a further century, the longest interval or
 * restart delay, still fits an int64. */
#define HORIZON_NS (INT64_MAX - FIT_REPLAY_SPAN_MAX_NS)

enum status { FUTURE, PROFILING, WAITING, RUNNING, FINISHED, REJECTED };

struct job_state {
	struct fit_alloc alloc;
	struct fit_run run;
	int64_t submit_ns;	/* when it came; valid from then on */
	int64_t service_gpu_ns, since_ns;	/* GPU time up to since_ns, when the allocation began */
	int64_t restarts;
	int64_t delay_ns;	/* restart delay of this allocation */
	uint32_t stamp;		/* of its one valid event in the queue */
	uint32_t partner;	/* shares its GPUs; NOBODY: runs alone */
	uint32_t order;		/* of its placement, among all */
	uint8_t status;
	bool started;
	bool marked;		/* goes on as if it shared, although the other has gone */
	bool in_plan;
};

#define NOBODY UINT32_MAX

/* Kinds of events of one instant, in their order. */
enum kind { ENDS, ENDS_LATE };

struct queued {
	int64_t at_ns;
	uint8_t kind;
	uint32_t order;		/* breaks ties */
	uint32_t job, stamp;
};

struct grant {
	uint32_t job, with;		/* with: whose GPUs it shares; NOBODY */
	bool sharing;			/* with says with whom */
	bool taken;			/* its GPUs are taken already (fit_plan_try) */
	int64_t gpus;
	size_t shares_at, n_shares;	/* in plan.shares; n_shares 0: the engine chooses */
};

struct fit_plan {
	struct fit_engine *engine;
	struct fit_part *part;		/* that is decided on */
	struct grant *grants;
	size_t n, cap;
	struct fit_share *shares;
	size_t shares_n, shares_cap;
	int64_t want_nodes;		/* -1: not said */
};

/* A part of the cluster that is scheduled by itself: the whole, or one virtual cluster. */
struct fit_part {
	struct fit_cluster *cluster;
	int32_t first_node;	/* its number in the whole */
	struct fit_view view;
	void *policy_state;
	struct fit_engine *engine;
	struct fit_provisioner prov;	/* elastic clusters only: autoscaler is set */
	void *scaler_state;
	uint16_t *spanning;	/* per node: jobs on several nodes that use it */
	uint32_t *members;	/* its jobs, in order */
	size_t n_members;
	/* arrived and unfinished, ascending; holes are closed on demand */
	uint32_t *active;
	size_t active_n, active_cap, active_holes;
	/* finished, GPUs booked to the end of the interval */
	uint32_t *booked;
	size_t booked_n, booked_cap;
	int64_t last_tick_ns, due_ns;
	bool news;		/* someone came or left since the last decision */
};

struct fit_engine {
	const struct fit_jobs *jobs;
	const struct fit_partitions *partitions;
	struct fit_part *parts;
	size_t n_parts;
	uint32_t *members;	/* jobs by partition, in order */
	const struct fit_replay_params *p;
	const struct fit_progress_model *model;
	struct fit_predictor predictor;
	struct fit_throughput *fitter;	/* shared by the agents */
	gsl_rng *placing;		/* placement random only */
	struct fit_log log;
	struct job_state *state;
	int64_t now_ns;
	struct fit_plan plan;
	struct fit_replay_counts counts;
	/* queue of ends: a binary heap; entries whose stamp is old are passed over */
	struct queued *heap;
	size_t heap_n, heap_cap;
	/* arrivals in time order */
	uint32_t *arrivals;
	size_t next_arrival, n_arrivals;
	size_t unfinished, running, in_system;
	bool shares;			/* jobs may share GPUs */
	uint32_t placed;		/* placements so far */
	struct fit_profiling profiling;
	size_t next_profile;		/* in profiling.events */
};

struct fit_replay_params fit_replay_params_default(void)
{
	return (struct fit_replay_params){
		.policy = &fit_policy_fifo,
		.policy_params = fit_policy_params_default(),
		.fidelity = &fit_fidelities[0],
		.interval_ns = 0,
		.restart_ns = -1,
		.cold_restart_ns = -1,
		.autoscale_params = { .target = 0.5, .low = 0.5, .high = 2.0 / 3 },
		.profiler = fit_profiler_params_default(),
	};
}

void fit_replay_params_choose(struct fit_replay_params *p, const struct fit_policy *policy,
			      const struct fit_fidelity *fidelity)
{
	p->policy = policy;
	p->fidelity = fidelity;
	p->interval_ns = policy == &fit_policy_tiresias && fidelity->tiresias_interval_ns ?
			 fidelity->tiresias_interval_ns : fidelity->interval_ns;
	p->placement = (enum fit_placement_kind)fidelity->placement;
	p->survivor_keeps_speed = fidelity->survivor_keeps_speed;
	if (fidelity->tiresias_threshold_gpu_s)
		p->policy_params.tiresias_threshold_gpu_s = fidelity->tiresias_threshold_gpu_s;
}

const char *fit_replay_params_check(const struct fit_replay_params *p, bool has_profile)
{
	if (p->interval_ns < 0)
		return "the interval is negative";
	if (p->interval_ns > FIT_REPLAY_SPAN_MAX_NS || p->restart_ns > FIT_REPLAY_SPAN_MAX_NS)
		return "the interval or the restart delay is over a century";
	if (p->max_active < 0)
		return "the limit of active jobs is negative";
	if (p->interval_ns == 0 && p->fidelity->needs_interval)
		return "this fidelity profile needs an interval above 0";
	if (p->interval_ns == 0 && (p->policy->needs & FIT_NEEDS_INTERVAL))
		return "this policy needs an interval above 0";
	if ((p->policy->needs & FIT_NEEDS_PROFILE) && !has_profile)
		return "this policy needs application profiles";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_PLAN) && !p->policy->want_nodes)
		return "this policy has no plan of its own for the number of nodes";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_EFFICIENCY) && !p->policy->efficiency)
		return "this policy cannot tell the efficiency that the autoscaling rule needs";
	if (p->autoscaler && (p->autoscaler->needs & FIT_SCALES_AGENTS) && !(p->policy->needs & FIT_ADAPTIVE))
		return "the autoscaling rule needs jobs that adapt";
	if (!(p->autoscale_params.low > 0 && p->autoscale_params.low <= p->autoscale_params.high &&
	      p->autoscale_params.high <= 1))
		return "the bounds of utility are not 0 < low <= high <= 1";
	if (p->provision.start_ns < 0 || p->provision.idle_ns < 0 || p->provision.min_nodes < 0 ||
	    p->provision.start_ns > FIT_REPLAY_SPAN_MAX_NS || p->provision.idle_ns > FIT_REPLAY_SPAN_MAX_NS ||
	    p->cold_restart_ns > FIT_REPLAY_SPAN_MAX_NS)
		return "a delay or number of nodes is negative, or a delay over a century";
	if (!p->autoscaler && (p->provision.start_ns || p->provision.idle_ns || p->provision.min_nodes ||
			       p->cold_restart_ns >= 0))
		return "delays and bounds of nodes need an autoscaling rule";
	if ((p->policy->needs & FIT_NEEDS_PLAN) && !p->policy_params.boa && !p->policy_params.boa_given)
		return "this policy needs speedups, and plans or a budget";
	if (p->policy_params.tiresias_threshold_gpu_s < 0)
		return "the Tiresias threshold is negative";
	if (p->policy_params.pollux_power == 0)
		return "the power of the mean is 0";
	if (p->models && !(p->policy->needs & FIT_ADAPTIVE))
		return "this policy takes no models";
	if (!(p->interference >= 0 && p->interference < 1))
		return "the interference is not from 0 to below 1";
	if ((p->policy->needs & FIT_SHARES) && !p->colocation)
		return "this policy needs measurements of jobs that share GPUs";
	if ((p->policy->needs & FIT_SHARES) && has_profile)
		return "this policy is for jobs of fixed duration";
	if (p->profiler.nodes && has_profile)
		return "profiling nodes are for jobs of fixed duration";
	if (p->profiler.nodes && fit_profiler_params_check(&p->profiler))
		return fit_profiler_params_check(&p->profiler);
	if (p->interference > 0 && !has_profile)
		return "interference needs application profiles";
	return NULL;
}

/* ---- the queue of ends ---- */

static bool before(const struct queued *a, const struct queued *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->order < b->order;
}

static int push(struct fit_engine *g, struct queued q)
{
	size_t i = g->heap_n;

	if (fit_grow(&g->heap, &g->heap_cap, i + 1, sizeof *g->heap))
		return FIT_ENOMEM;
	g->heap_n++;
	for (; i && before(&q, &g->heap[(i - 1) / 2]); i = (i - 1) / 2)
		g->heap[i] = g->heap[(i - 1) / 2];
	g->heap[i] = q;
	return FIT_OK;
}

static void pop(struct fit_engine *g)
{
	struct queued last = g->heap[--g->heap_n];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < g->heap_n) {
		if (c + 1 < g->heap_n && before(&g->heap[c + 1], &g->heap[c]))
			c++;
		if (!before(&g->heap[c], &last))
			break;
		g->heap[i] = g->heap[c];
		i = c;
	}
	g->heap[i] = last;
}

/* The first valid entry, or NULL. */
static const struct queued *peek(struct fit_engine *g)
{
	while (g->heap_n && g->heap[0].stamp != g->state[g->heap[0].job].stamp)
		pop(g);
	return g->heap_n ? &g->heap[0] : NULL;
}

static int queue_end(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	struct queued q = { .job = j, .stamp = ++s->stamp, .order = g->shares ? s->order : j };
	bool late;
	int rc = g->model->next(&g->jobs->jobs[j], &s->run, g->p->fidelity, &q.at_ns, &late, err);

	if (rc)
		return rc;
	if (q.at_ns == INT64_MAX)
		return FIT_OK;
	if (q.at_ns > HORIZON_NS)
		return fit_fail(err, FIT_EDATA, "job %s: would not end within 190 years of the trace origin",
				g->jobs->jobs[j].id);
	q.kind = late ? ENDS_LATE : ENDS;
	return push(g, q) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the set of active jobs ---- */

static struct fit_part *part_of(const struct fit_engine *g, uint32_t j)
{
	return &g->parts[g->jobs->jobs[j].partition];
}

/* The view of a part at this instant. */
static const struct fit_view *view_of(const struct fit_engine *g, struct fit_part *p)
{
	p->view.now_ns = g->now_ns;
	return &p->view;
}

static int add_active(struct fit_part *p, uint32_t j)
{
	size_t i = p->active_n;

	if (fit_grow(&p->active, &p->active_cap, i + 1, sizeof *p->active))
		return FIT_ENOMEM;
	for (; i && p->active[i - 1] > j; i--)
		p->active[i] = p->active[i - 1];
	p->active[i] = j;
	p->active_n++;
	return FIT_OK;
}

static void close_holes(const struct fit_engine *g, struct fit_part *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->active_n; i++)
		if (g->state[p->active[i]].status != FINISHED)
			p->active[n++] = p->active[i];
	p->active_n = n;
	p->active_holes = 0;
}

/* Work done by now: it flows while the job runs. */
static double job_work(const struct fit_engine *g, uint32_t j)
{
	const struct job_state *s = &g->state[j];

	return g->model->work(&g->jobs->jobs[j], &s->run,
			      s->status == RUNNING ? g->now_ns : s->run.from_ns);
}

static int64_t restart_ns(const struct fit_engine *g, uint32_t j)
{
	const struct fit_job *job = &g->jobs->jobs[j];

	if (g->p->restart_ns >= 0)
		return g->p->restart_ns;
	return job->app ? fit_app_info(job->app)->restart_ns : job->class ? job->class->restart_ns : 0;
}

/* ---- what policies see ---- */

const uint32_t *fit_view_active(const struct fit_view *v, size_t *n)
{
	struct fit_part *p = (struct fit_part *)(uintptr_t)v->part;

	if (p->active_holes)
		close_holes(v->engine, p);
	*n = p->active_n;
	return p->active;
}

int64_t fit_view_gpus(const struct fit_view *v, uint32_t j)
{
	return v->engine->state[j].alloc.gpus;
}

const struct fit_alloc *fit_view_alloc(const struct fit_view *v, uint32_t j)
{
	return &v->engine->state[j].alloc;
}

int64_t fit_view_restarts(const struct fit_view *v, uint32_t j)
{
	return v->engine->state[j].restarts;
}

int64_t fit_view_submit_ns(const struct fit_view *v, uint32_t j)
{
	return v->engine->state[j].submit_ns;
}

int64_t fit_view_service_gpu_ns(const struct fit_view *v, uint32_t j)
{
	const struct job_state *s = &v->engine->state[j];

	return s->service_gpu_ns + s->alloc.gpus * (v->now_ns - s->since_ns);
}

struct fit_agent *fit_view_agent(const struct fit_view *v, uint32_t j)
{
	return v->engine->state[j].run.agent;
}

int64_t fit_view_restart_ns(const struct fit_view *v, uint32_t j)
{
	return restart_ns(v->engine, j);
}

int64_t fit_view_epoch(const struct fit_view *v, uint32_t j)
{
	return v->engine->state[j].run.epoch;
}

double fit_view_work(const struct fit_view *v, uint32_t j)
{
	return job_work(v->engine, j);
}

int fit_predict_remaining(const struct fit_view *v, uint32_t j, int64_t *ns, struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	double left_s, work = fit_view_work(v, j);
	int rc;

	if (job->class) {
		left_s = fit_job_class_left_s(job->class, fit_view_epoch(v, j), work, job->gpus);
		return fit_time_from_double(left_s, ns) ?
		       fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id) : FIT_OK;
	}
	if (!job->app) {
		const struct job_state *s = &v->engine->state[j];
		bool flows = s->alloc.gpus && v->now_ns > s->run.from_ns;

		*ns = job->duration_ns - s->run.done_ns - (flows ? v->now_ns - s->run.from_ns : 0);
		*ns = *ns > 0 ? *ns : 0;
		return FIT_OK;
	}
	rc = fit_predictor_left(&((struct fit_engine *)(uintptr_t)v->engine)->predictor, job,
				fit_view_epoch(v, j), work, &left_s, err);
	if (!rc && fit_time_from_double(left_s, ns))
		rc = fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id);
	return rc;
}

int fit_predict_duration(const struct fit_view *v, uint32_t j, int64_t *ns, struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	double left_s;
	int rc;

	if (job->class) {
		left_s = fit_job_class_left_s(job->class, 0, 0, job->gpus);
		return fit_time_from_double(left_s, ns) ?
		       fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id) : FIT_OK;
	}
	if (!job->app) {
		*ns = job->duration_ns;
		return FIT_OK;
	}
	rc = fit_predictor_left(&((struct fit_engine *)(uintptr_t)v->engine)->predictor, job, 0, 0, &left_s,
				err);
	if (!rc && fit_time_from_double(left_s, ns))
		rc = fit_fail(err, FIT_EDATA, "job %s: predicted run time out of range", job->id);
	return rc;
}

/* ---- the log ---- */

static int log_placed(struct fit_engine *g, const char *name, uint32_t j, bool holds, bool placed,
		      struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	const struct fit_job *job = &g->jobs->jobs[j];
	struct fit_event e = {
		.time_ns = g->now_ns,
		.name = name,
		.job = job,
		.alloc = holds ? &s->alloc : NULL,
		.first_node = part_of(g, j)->first_node,
		.run = &s->run,
		.work = job_work(g, j),
		.epochs = g->model->has_epochs,
		.batches = g->model->has_epochs && !g->model->no_batches,
		.with = s->partner == NOBODY ? NULL : &g->jobs->jobs[s->partner],
		.delay_ns = placed ? s->delay_ns : -1,
	};

	g->counts.events++;
	return fit_log_event(&g->log, &e, err);
}

static int log_job(struct fit_engine *g, const char *name, uint32_t j, bool holds, struct fit_err *err)
{
	return log_placed(g, name, j, holds, false, err);
}

/* ---- what happens to jobs ---- */

static void take_away(struct fit_engine *g, uint32_t j)
{
	struct job_state *s = &g->state[j];

	s->service_gpu_ns += s->alloc.gpus * (g->now_ns - s->since_ns);
	s->since_ns = g->now_ns;
	if (s->partner == NOBODY)	/* else the other one keeps them */
		fit_cluster_give(part_of(g, j)->cluster, &s->alloc);
	s->alloc.n = 0;
	s->alloc.gpus = 0;
}

static void drop_agent(struct job_state *s)
{
	if (s->run.agent)
		fit_agent_release(s->run.agent);
	free(s->run.agent);
	s->run.agent = NULL;
}

/* A job on several nodes is slowed down where another such job uses one of its nodes. */
static int set_slowdowns(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	memset(p->spanning, 0, (size_t)p->cluster->n_nodes * sizeof *p->spanning);
	for (size_t i = 0; i < p->active_n; i++) {
		const struct fit_alloc *a = &g->state[p->active[i]].alloc;

		for (size_t k = 0; a->n > 1 && k < a->n; k++)
			p->spanning[a->shares[k].node]++;
	}
	for (size_t i = 0; i < p->active_n && !rc; i++) {
		uint32_t j = p->active[i];
		struct job_state *s = &g->state[j];
		double slowdown = 0;

		for (size_t k = 0; s->alloc.n > 1 && k < s->alloc.n; k++)
			if (p->spanning[s->alloc.shares[k].node] > 1)
				slowdown = g->p->interference;
		if (s->status != RUNNING || (slowdown <= s->run.slowdown && slowdown >= s->run.slowdown))
			continue;
		g->model->advance(&g->jobs->jobs[j], &s->run, g->now_ns);
		s->run.slowdown = slowdown;
		rc = g->model->slow(&g->jobs->jobs[j], &s->run, &s->alloc, err);
		rc = rc ? rc : queue_end(g, j, err);
	}
	return rc;
}

static int tell_changed(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct fit_part *p = part_of(g, j);

	return g->p->policy->changed ? g->p->policy->changed(p->policy_state, view_of(g, p), j, err) : FIT_OK;
}

/* j, which runs, has another partner from now on, and another speed. */
static int set_partner(struct fit_engine *g, uint32_t j, uint32_t partner, double speed, struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	int rc;

	g->model->advance(&g->jobs->jobs[j], &s->run, g->now_ns);
	s->partner = partner;
	s->run.rate_shared = speed;
	rc = log_job(g, "share", j, true, err);
	rc = rc ? rc : queue_end(g, j, err);
	return rc ? rc : tell_changed(g, j, err);
}

/* Job j, placed as number order, has left its partner. */
static int leave_partner(struct fit_engine *g, uint32_t j, uint32_t order, struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	bool keeps = g->p->survivor_keeps_speed && s->order > order;

	s->marked = keeps;
	return set_partner(g, j, NOBODY, keeps ? s->run.rate_shared : 1, err);
}

static int finish(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	struct fit_part *p = part_of(g, j);
	bool stays = g->p->fidelity->release_at_interval_end;
	uint32_t partner = s->partner;
	int rc;

	s->status = FINISHED;
	p->active_holes++;
	g->in_system--;
	g->unfinished--;
	g->running--;
	p->news = true;
	g->counts.end_ns = g->now_ns;
	if (stays) {
		if (fit_grow(&p->booked, &p->booked_cap, p->booked_n + 1, sizeof *p->booked))
			return fit_fail_nomem(err);
		p->booked[p->booked_n++] = j;
	} else {
		take_away(g, j);
	}
	s->partner = NOBODY;
	rc = log_job(g, "finish", j, stays, err);
	if (!rc && g->p->policy->leave)
		g->p->policy->leave(p->policy_state, view_of(g, p), j);
	if (!rc && partner != NOBODY)
		rc = leave_partner(g, partner, s->order, err);
	drop_agent(s);
	if (!stays)
		fit_alloc_release(&s->alloc);
	return rc || stays || !(g->p->interference > 0) ? rc : set_slowdowns(g, p, err);
}

static int end_epoch(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = &g->state[j];
	bool finished;
	int rc = g->model->pass(&g->jobs->jobs[j], &s->run, &s->alloc, g->now_ns, &finished, err);

	if (rc)
		return rc;
	if (finished) {
		s->stamp++;
		return finish(g, j, err);
	}
	if (g->p->policy->needs & FIT_WAKE_EPOCHS)
		part_of(g, j)->news = true;
	rc = log_job(g, "epoch", j, true, err);
	return rc ? rc : queue_end(g, j, err);
}

/* The agent of a job. Where models are given it starts from one, with the gradient statistics that its
 * first steps at the initial batch size will show. */
static int hire_agent(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_job *job = &g->jobs->jobs[j];
	const struct fit_app_info *info = fit_app_info(job->app);
	struct fit_agent *a = malloc(sizeof *a);
	const struct fit_theta *theta;
	double sqr, var;
	int rc;

	if (!a)
		return fit_fail_nomem(err);
	fit_agent_init(a, info, g->fitter);
	g->state[j].run.agent = a;
	if (!g->p->models)
		return FIT_OK;
	theta = fit_theta_list_find(g->p->models, fit_text_of(job->app_name));
	if (!theta)
		return fit_fail(err, FIT_EDATA, "job %s: no model of application '%s'", job->id, job->app_name);
	rc = fit_app_grad_stats(job->app, info->init_batch, 0, &sqr, &var, err);
	if (!rc)
		fit_agent_seed(a, theta, sqr, var);
	return rc;
}

/* When the next job comes: INT64_MAX when there is none, or the system is full and it has to wait until
 * one ends. */
static int64_t next_submit_ns(const struct fit_engine *g)
{
	int64_t at;

	if (g->next_arrival == g->n_arrivals ||
	    (g->p->max_active && (int64_t)g->in_system >= g->p->max_active))
		return INT64_MAX;
	at = g->jobs->jobs[g->arrivals[g->next_arrival]].submit_ns;
	return at > g->now_ns ? at : g->now_ns;
}

/* A job enters the queue of its part. */
static int enter(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct fit_part *p = part_of(g, j);
	int rc = FIT_OK;

	g->state[j].status = WAITING;
	p->news = true;
	if (add_active(p, j))
		return fit_fail_nomem(err);
	if (g->p->policy->needs & FIT_ADAPTIVE) {
		rc = hire_agent(g, j, err);
		if (rc)
			return rc;
	}
	if (g->p->policy->arrive)
		rc = g->p->policy->arrive(p->policy_state, view_of(g, p), j, err);
	return rc;
}

/* Does a job that is submitted enter the queue, or does it wait for its profile? */
static bool enters_at_once(const struct fit_engine *g, uint32_t j)
{
	const struct fit_profiled *x = g->profiling.jobs ? &g->profiling.jobs[j] : NULL;

	return !x || x->start_ns < 0 || (g->p->fidelity->profiling_overlaps && !x->finished);
}

static int arrive(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_job *job = &g->jobs->jobs[j];
	int rc = fit_log_submit(&g->log, g->now_ns, job, false, err);

	g->counts.events++;
	if (!rc && job->too_large) {
		g->state[j].status = REJECTED;
		return fit_log_submit(&g->log, g->now_ns, job, true, err);
	}
	if (rc)
		return rc;
	g->state[j].submit_ns = g->now_ns;
	g->in_system++;
	if (!enters_at_once(g, j)) {
		g->state[j].status = PROFILING;
		return FIT_OK;
	}
	return enter(g, j, err);
}

/* ---- the profiler ---- */

/* A job on nodes of the profiler, in the log. */
static int log_profile(struct fit_engine *g, const char *name, uint32_t j, bool holds, double work,
		       struct fit_err *err)
{
	const struct fit_profiled *x = &g->profiling.jobs[j];
	struct fit_alloc a = { .n = 0 };
	struct fit_run run = { .rate_shared = 1 };
	struct fit_event e = { .time_ns = g->now_ns, .name = name, .job = &g->jobs->jobs[j], .run = &run,
			       .alloc = holds ? &a : NULL, .work = work,
			       .delay_ns = strcmp(name, "start") == 0 ? 0 : -1 };
	int rc;

	for (uint32_t i = 0; i < x->n_nodes && holds; i++) {
		struct fit_share s = g->profiling.shares[x->nodes_at + i];

		if (fit_grow(&a.shares, &a.cap, a.n + 1, sizeof *a.shares)) {
			fit_alloc_release(&a);
			return fit_fail_nomem(err);
		}
		a.shares[a.n++] = (struct fit_share){ g->p->profiler_nodes[s.node], s.gpus };
		a.gpus += s.gpus;
	}
	g->counts.events++;
	rc = fit_log_event(&g->log, &e, err);
	fit_alloc_release(&a);
	return rc;
}

static int profile_event(struct fit_engine *g, const struct fit_profile_event *x, struct fit_err *err)
{
	const struct fit_job *job = &g->jobs->jobs[x->job];
	struct job_state *s = &g->state[x->job];
	bool done = g->profiling.jobs[x->job].finished;
	double work = fit_time_to_double(x->ends && done ? job->duration_ns : 0);
	int rc = log_profile(g, done ? (x->ends ? "finish" : "start") : (x->ends ? "profiled" : "profile"),
			     x->job, !x->ends, work, err);

	if (rc || !x->ends)
		return rc;
	if (done) {
		s->status = FINISHED;
		g->in_system--;
		g->unfinished--;
		g->counts.end_ns = g->now_ns;
		return FIT_OK;
	}
	return g->p->fidelity->profiling_overlaps ? FIT_OK : enter(g, x->job, err);
}

static const struct fit_profile_event *next_profile(const struct fit_engine *g)
{
	return g->next_profile < g->profiling.n_events ? &g->profiling.events[g->next_profile] : NULL;
}

static int release_booked(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->booked_n && !rc; i++) {
		uint32_t j = p->booked[i];

		take_away(g, j);
		rc = log_job(g, "release", j, false, err);
		fit_alloc_release(&g->state[j].alloc);
	}
	p->booked_n = 0;
	return rc;
}

/* ---- decisions ---- */

static int add_grant(struct fit_plan *p, struct grant g)
{
	struct job_state *s = &p->engine->state[g.job];

	g.with = g.sharing ? g.with : NOBODY;
	if (s->in_plan || g.gpus < 0 || (s->status != WAITING && s->status != RUNNING))
		return FIT_EINVAL;
	if (fit_grow(&p->grants, &p->cap, p->n + 1, sizeof *p->grants))
		return FIT_ENOMEM;
	s->in_plan = true;
	p->grants[p->n++] = g;
	return FIT_OK;
}

int fit_plan_grant(struct fit_plan *p, uint32_t j, int64_t gpus)
{
	if (p->engine->state[j].alloc.gpus == gpus)
		return FIT_OK;
	return add_grant(p, (struct grant){ .job = j, .gpus = gpus });
}

int fit_plan_place(struct fit_plan *p, uint32_t j, const struct fit_share *shares, size_t n)
{
	const struct fit_alloc *held = &p->engine->state[j].alloc;
	struct grant g = { .job = j, .shares_at = p->shares_n, .n_shares = n };
	bool same = held->n == n;

	for (size_t i = 0; i < n; i++) {
		g.gpus += shares[i].gpus;
		same = same && held->shares[i].node == shares[i].node && held->shares[i].gpus == shares[i].gpus;
	}
	if (same)
		return FIT_OK;
	if (fit_grow(&p->shares, &p->shares_cap, p->shares_n + n, sizeof *p->shares))
		return FIT_ENOMEM;
	if (n)
		memcpy(p->shares + p->shares_n, shares, n * sizeof *shares);
	p->shares_n += n;
	return add_grant(p, g);
}

int fit_plan_want_nodes(struct fit_plan *p, int64_t nodes)
{
	if (nodes < 0)
		return FIT_EINVAL;
	p->want_nodes = nodes;
	return FIT_OK;
}

static int take_placed(struct fit_engine *g, struct fit_part *p, int64_t gpus, struct fit_alloc *a)
{
	uint64_t draw = 0;

	if (g->placing && gpus <= p->cluster->n_free)
		draw = (uint64_t)gsl_rng_get(g->placing) << 32 | gsl_rng_get(g->placing);
	return fit_placement_take(p->cluster, g->p->placement, gpus, draw, a);
}

int fit_plan_try(struct fit_plan *p, uint32_t j, bool *fits)
{
	struct fit_engine *g = p->engine;
	struct grant r = { .job = j, .gpus = g->jobs->jobs[j].gpus, .taken = true };
	int rc;

	if (g->state[j].status != WAITING || g->state[j].in_plan)
		return FIT_EINVAL;
	rc = take_placed(g, p->part, r.gpus, &g->state[j].alloc);
	*fits = rc == FIT_OK;
	return rc == FIT_END ? FIT_OK : rc ? rc : add_grant(p, r);
}

int fit_plan_share(struct fit_plan *p, uint32_t j, uint32_t with)
{
	struct fit_engine *g = p->engine;
	const struct job_state *w = &g->state[with];

	if (!g->shares || g->state[j].status != WAITING || w->partner != NOBODY ||
	    !(w->status == RUNNING || w->in_plan) || g->jobs->jobs[j].gpus != g->jobs->jobs[with].gpus)
		return FIT_EINVAL;
	return add_grant(p, (struct grant){ .job = j, .with = with, .sharing = true, .taken = true,
					    .gpus = g->jobs->jobs[j].gpus });
}

bool fit_view_alone(const struct fit_view *v, uint32_t j)
{
	const struct job_state *s = &v->engine->state[j];

	return s->status == RUNNING && s->partner == NOBODY && !s->marked;
}

/* The nodes that a grant names, or those that the placement gives. FIT_END: the placement finds none. */
static int take_nodes(struct fit_engine *g, const struct grant *r, struct fit_alloc *a)
{
	struct fit_part *p = part_of(g, r->job);

	if (r->with != NOBODY) {
		const struct fit_alloc *held = &g->state[r->with].alloc;

		if (g->state[r->with].status != RUNNING || g->state[r->with].partner != NOBODY)
			return FIT_EINVAL;
		if (fit_grow(&a->shares, &a->cap, held->n, sizeof *a->shares))
			return FIT_ENOMEM;
		memcpy(a->shares, held->shares, held->n * sizeof *a->shares);
		a->n = held->n;
		a->gpus = held->gpus;
		return FIT_OK;
	}
	if (r->taken)
		return FIT_OK;
	if (!r->n_shares)
		return r->gpus > p->cluster->n_free ? FIT_EINVAL : take_placed(g, p, r->gpus, a);
	if (fit_grow(&a->shares, &a->cap, r->n_shares, sizeof *a->shares))
		return FIT_ENOMEM;
	memcpy(a->shares, g->plan.shares + r->shares_at, r->n_shares * sizeof *a->shares);
	a->n = r->n_shares;
	a->gpus = r->gpus;
	return fit_cluster_take_shares(p->cluster, a);
}

/* A running job has lost its GPUs. */
static int preempt(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	const struct fit_fidelity *f = g->p->fidelity;
	struct job_state *s = &g->state[j];
	int rc;

	s->status = WAITING;
	g->running--;
	if (!g->jobs->jobs[j].app)
		s->run.done_ns -= g->jobs->jobs[j].gpus > f->preempt_wide_gpus ? f->preempt_wide_work_ns :
				  f->preempt_work_ns;
	rc = log_job(g, "preempt", j, false, err);
	return rc ? rc : tell_changed(g, j, err);
}

/* The placement found no room: the job waits (on). */
static int go_without(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	return g->state[j].status == RUNNING ? preempt(g, j, err) : FIT_OK;
}

static bool is_listed(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Speeds of a and b on the same GPUs; 1 where the pair was not measured. */
static void speeds(struct fit_engine *g, uint32_t a, uint32_t b, double *speed_a, double *speed_b)
{
	const char *const *unmeasured = g->p->fidelity->unmeasured;

	g->counts.shared++;
	if (!is_listed(unmeasured, g->jobs->jobs[a].app_name) &&
	    !is_listed(unmeasured, g->jobs->jobs[b].app_name) &&
	    fit_colocation_speeds(g->p->colocation, g->jobs->jobs[a].config, g->jobs->jobs[b].config, speed_a,
				  speed_b))
		return;
	*speed_a = *speed_b = 1;
	g->counts.unmeasured++;
}

static int place(struct fit_engine *g, const struct grant *r, struct fit_err *err)
{
	struct job_state *s = &g->state[r->job];
	const struct fit_job *job = &g->jobs->jobs[r->job];
	const char *event = s->status == RUNNING ? "move" : s->started ? "resume" : "start";
	double other = 1;
	int rc = take_nodes(g, r, &s->alloc);

	if (rc == FIT_EINVAL)
		return fit_fail(err, FIT_EINVAL, "policy %s grants %lld GPUs to job %s, but %lld are free",
				g->p->policy->name, (long long)r->gpus, job->id,
				(long long)part_of(g, r->job)->cluster->n_free);
	if (rc == FIT_END)
		return go_without(g, r->job, err);
	if (rc)
		return fit_fail_nomem(err);
	g->counts.restarts += s->started;
	s->restarts += s->started;
	s->since_ns = g->now_ns;
	s->order = g->placed++;
	s->marked = false;
	s->run.rate_shared = 1;
	s->run.count_ns = g->p->fidelity->count_ns;
	if (r->with != NOBODY) {
		speeds(g, r->job, r->with, &s->run.rate_shared, &other);
		s->partner = r->with;
	}
	s->run.notice_ns = g->p->policy->needs & FIT_COUNTS_DOWN ? g->p->fidelity->notice_ns : 0;
	s->run.slowdown = 0;	/* set_slowdowns() looks at all jobs once they are placed */
	g->running += s->status != RUNNING;
	s->status = RUNNING;
	s->delay_ns = g->p->free_start && !s->started ? 0 : restart_ns(g, r->job);
	s->started = true;
	if (g->p->autoscaler && fit_provision_warm(&part_of(g, r->job)->prov, &s->alloc) &&
	    g->p->cold_restart_ns >= 0)
		s->delay_ns = g->p->cold_restart_ns;
	rc = g->model->place(job, &s->run, &s->alloc, g->now_ns + s->delay_ns, err);
	rc = rc ? rc : log_placed(g, event, r->job, true, true, err);
	rc = rc ? rc : tell_changed(g, r->job, err);
	rc = rc ? rc : queue_end(g, r->job, err);
	return rc || r->with == NOBODY ? rc : set_partner(g, r->with, r->job, other, err);
}

/* Let running jobs learn from the time since the last decision. */
static int retune(struct fit_engine *g, const struct fit_part *p, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->active_n && !rc; i++) {
		uint32_t j = p->active[i];
		struct job_state *s = &g->state[j];
		bool changed = false;

		if (s->status != RUNNING)
			continue;
		rc = g->model->retune(&g->jobs->jobs[j], &s->run, &s->alloc, g->now_ns, &changed, err);
		if (!rc && changed) {
			rc = log_job(g, "batch", j, true, err);
			rc = rc ? rc : queue_end(g, j, err);
		}
	}
	return rc;
}

static int apply_plan(struct fit_engine *g, struct fit_err *err)
{
	struct fit_plan *p = &g->plan;
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n; i++) {
		struct job_state *s = &g->state[p->grants[i].job];

		s->in_plan = false;
		if (s->status != RUNNING)
			continue;
		g->model->advance(&g->jobs->jobs[p->grants[i].job], &s->run, g->now_ns);
		take_away(g, p->grants[i].job);
		s->stamp++;
		if (p->grants[i].gpus == 0 && !rc)
			rc = preempt(g, p->grants[i].job, err);
	}
	for (size_t i = 0; i < p->n && !rc; i++)
		if (p->grants[i].gpus)
			rc = place(g, &p->grants[i], err);
	if (!rc && g->p->interference > 0)
		rc = set_slowdowns(g, p->part, err);
	p->n = 0;
	p->shares_n = 0;
	return rc;
}

/* ---- elastic clusters ---- */

static int log_node(void *arg, const char *name, int32_t node, struct fit_err *err)
{
	struct fit_part *p = arg;
	struct fit_engine *g = p->engine;

	g->counts.events++;
	g->counts.rented += name[0] == 'r' && name[2] == 'n';
	g->counts.returned += name[0] == 'r' && name[2] == 't';
	return fit_log_node(&g->log, g->now_ns, name, p->first_node + node, p->cluster->gpus[node], err);
}

static int want(struct fit_engine *g, struct fit_part *p, int64_t nodes, struct fit_err *err)
{
	bool ready;
	int rc = fit_provision_want(&p->prov, g->now_ns, nodes, &ready, err);

	p->news = p->news || ready;
	return rc;
}

static struct fit_scaling scaling_of(struct fit_engine *g, struct fit_part *p)
{
	return (struct fit_scaling){
		.view = view_of(g, p),
		.policy = g->p->policy,
		.policy_state = p->policy_state,
		.provisioner = &p->prov,
		.params = &g->p->autoscale_params,
	};
}

static int scale(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	struct fit_scaling s = scaling_of(g, p);
	int64_t nodes = 0;
	int rc;

	if (!g->p->autoscaler)
		return FIT_OK;
	rc = p->active_n == p->active_holes ? FIT_OK : g->p->autoscaler->want(p->scaler_state, &s, &nodes, err);
	return rc ? rc : want(g, p, nodes, err);
}

/* A part with nodes that are up by now, or NULL. */
static struct fit_part *starting_part(struct fit_engine *g)
{
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++)
		if (fit_provision_ready_ns(&g->parts[i].prov) <= g->now_ns)
			return &g->parts[i];
	return NULL;
}

static int start_nodes(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	bool ready;
	int rc = fit_provision_start(&p->prov, g->now_ns, &ready, err);

	p->news = p->news || ready;
	return rc;
}

/* The instant is over: nodes that nobody wants go. */
static int settle_nodes(struct fit_engine *g, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; g->p->autoscaler && i < g->n_parts && !rc; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->active_n == p->active_holes)
			rc = want(g, p, 0, err);
		rc = rc ? rc : fit_provision_settle(&p->prov, g->now_ns, err);
	}
	return rc;
}

/* When something happens to nodes by itself, and whether there are nodes to return yet. */
static int64_t next_node_ns(const struct fit_engine *g, bool *more)
{
	int64_t next = INT64_MAX;

	*more = false;
	for (size_t i = 0; g->p->autoscaler && i < g->n_parts; i++) {
		const struct fit_provisioner *v = &g->parts[i].prov;

		next = v->next_ns < next ? v->next_ns : next;
		*more = *more || v->n_rented > v->wanted;
	}
	return next;
}

static int decide_now(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc;

	/* not at each decision: the backlog may be long, and not all policies look at it */
	if (p->active_holes > p->active_n / 2)
		close_holes(g, p);
	rc = scale(g, p, err);
	p->news = false;
	if (rc || !p->active_n)
		return rc;
	g->counts.decisions++;
	g->plan.part = p;
	g->plan.want_nodes = -1;
	rc = g->model->retune ? retune(g, p, err) : FIT_OK;
	rc = rc ? rc : g->p->policy->decide(p->policy_state, view_of(g, p), &g->plan, err);
	rc = rc ? rc : apply_plan(g, err);
	return rc || !g->p->autoscaler || g->plan.want_nodes < 0 ? rc : want(g, p, g->plan.want_nodes, err);
}

static int decide(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int64_t jobs = (int64_t)(p->active_n - p->active_holes), from = g->p->clock ? g->p->clock() : 0, took;
	int rc = decide_now(g, p, err);

	took = g->p->clock ? g->p->clock() - from : 0;
	if (took > g->counts.longest_ns) {
		g->counts.longest_ns = took;
		g->counts.longest_jobs = jobs;
	}
	return rc;
}

/* ---- the clock ---- */

static int64_t policy_wake(const struct fit_engine *g, struct fit_part *p)
{
	return g->p->policy->next_wake && p->active_n != p->active_holes ?
	       g->p->policy->next_wake(p->policy_state, view_of(g, p)) : INT64_MAX;
}

/* The next decision instant with an interval: the first multiple of it after the last one, but none
 * while nobody waits for one, nor while nothing can come of it. */
static int64_t next_tick(struct fit_engine *g, struct fit_part *p)
{
	bool idle = p->active_n == p->active_holes && !p->booked_n;
	bool settled = (g->p->policy->needs & FIT_ONLY_NEWS) && !p->news && !p->booked_n;
	int64_t d = g->p->interval_ns, next = p->last_tick_ns + d, from = g->now_ns;

	if (idle || settled) {
		const struct queued *q = idle ? NULL : peek(g);

		from = q ? q->at_ns : INT64_MAX;
		if (next_submit_ns(g) < from)
			from = next_submit_ns(g);
		if (policy_wake(g, p) < from)
			from = policy_wake(g, p);
		if (!idle && g->p->autoscaler && p->prov.next_ns < from)
			from = p->prov.next_ns;
		if (from == INT64_MAX)
			return INT64_MAX;
	}
	return next >= from ? next : (from / d + (from % d != 0)) * d;
}

static int64_t next_decision(struct fit_engine *g, struct fit_part *p)
{
	if (g->p->interval_ns)
		return next_tick(g, p);
	return p->news ? g->now_ns : policy_wake(g, p);
}

/* The first part that has to decide now, or NULL. */
static struct fit_part *due_part(struct fit_engine *g)
{
	for (size_t i = 0; i < g->n_parts; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->due_ns == g->now_ns || (!g->p->interval_ns && p->news))
			return p;
	}
	return NULL;
}

/* Everything that happens at now_ns, in the order that engine.h states. */
static int do_instant(struct fit_engine *g, struct fit_err *err)
{
	int64_t now = g->now_ns;
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n_parts; i++)
		g->parts[i].due_ns = next_decision(g, &g->parts[i]);
	while (!rc) {
		const struct queued *q = peek(g);
		bool queued_now = q && q->at_ns <= now;
		struct fit_part *p;

		const struct fit_profile_event *x = next_profile(g);

		if (x && x->time_ns <= now && x->ends) {
			g->next_profile++;
			rc = profile_event(g, x, err);
		} else if (queued_now && q->kind == ENDS) {
			uint32_t j = q->job;

			pop(g);
			rc = end_epoch(g, j, err);
		} else if (next_submit_ns(g) <= now) {
			rc = arrive(g, g->arrivals[g->next_arrival++], err);
		} else if (x && x->time_ns <= now) {
			g->next_profile++;
			rc = profile_event(g, x, err);
		} else if ((p = starting_part(g)) != NULL) {
			rc = start_nodes(g, p, err);
		} else if ((p = due_part(g)) != NULL) {
			p->due_ns = INT64_MAX;
			p->last_tick_ns = now;
			rc = release_booked(g, p, err);
			rc = rc ? rc : decide(g, p, err);
		} else if (queued_now) {
			uint32_t j = q->job;

			pop(g);
			rc = end_epoch(g, j, err);
		} else {
			break;
		}
	}
	return rc ? rc : settle_nodes(g, err);
}

static int fail_waiting(const struct fit_engine *g, struct fit_err *err)
{
	return fit_fail(err, FIT_EINVAL, "policy %s leaves %zu %s waiting for ever", g->p->policy->name,
			g->unfinished, fit_plural(g->unfinished, "job", "jobs"));
}

static int run(struct fit_engine *g, struct fit_err *err)
{
	size_t booked = 0;
	bool nodes;
	int rc = settle_nodes(g, err);

	(void)next_node_ns(g, &nodes);
	while (!rc && (g->unfinished || booked || nodes || g->next_arrival < g->n_arrivals || next_profile(g))) {
		const struct queued *q = peek(g);
		int64_t next = INT64_MAX, ends = q ? q->at_ns : INT64_MAX, arrival = next_submit_ns(g);
		bool settled = g->counts.decisions && !booked && !(g->p->policy->needs & FIT_ONLY_NEWS);

		for (size_t i = 0; i < g->n_parts; i++) {
			int64_t at = next_decision(g, &g->parts[i]);

			next = at < next ? at : next;
			settled = settled && !g->parts[i].news;
		}
		/* with an interval ticks go on for ever */
		if (g->p->interval_ns && !next_profile(g) && g->unfinished && !g->running &&
		    arrival == INT64_MAX && settled &&
		    next_node_ns(g, &nodes) == INT64_MAX)
			return fail_waiting(g, err);
		if (ends < next)
			next = ends;
		if (arrival < next)
			next = arrival;
		if (next_profile(g) && next_profile(g)->time_ns < next)
			next = next_profile(g)->time_ns;
		if (next_node_ns(g, &nodes) < next)
			next = next_node_ns(g, &nodes);
		if (next == INT64_MAX)
			return fail_waiting(g, err);
		if (next > HORIZON_NS)
			return fit_fail(err, FIT_EDATA, "policy %s: %zu %s still there 190 years after the trace "
					"origin", g->p->policy->name, g->unfinished,
					fit_plural(g->unfinished, "job is", "jobs are"));
		g->now_ns = next;
		rc = do_instant(g, err);
		booked = 0;
		for (size_t i = 0; i < g->n_parts; i++)
			booked += g->parts[i].booked_n;
		(void)next_node_ns(g, &nodes);
	}
	return rc;
}

/* ---- set up and clean up ---- */

static int by_submit(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Arrival order: by time, then by index. Jobs are in that order already unless file order holds. */
static int order_arrivals(struct fit_engine *g)
{
	size_t n = g->jobs->n;
	int64_t (*key)[2];

	g->arrivals = malloc((n ? n : 1) * sizeof *g->arrivals);
	key = malloc((n ? n : 1) * sizeof *key);
	if (!g->arrivals || !key) {
		free(key);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		key[i][0] = g->jobs->jobs[i].submit_ns;
		key[i][1] = (int64_t)i;
	}
	if (g->p->fidelity->file_order)
		qsort(key, n, sizeof *key, by_submit);
	for (size_t i = 0; i < n; i++)
		g->arrivals[i] = (uint32_t)key[i][1];
	g->n_arrivals = n;
	free(key);
	return FIT_OK;
}

static int add_time(struct fit_meta *m, const char *key, int64_t ns)
{
	char text[FIT_NUM_MAX];

	fit_format_time(text, ns);
	return fit_meta_add(m, key, text);
}

static bool restarts_differ(const struct fit_engine *g)
{
	for (size_t i = 1; i < g->jobs->n; i++)
		if (restart_ns(g, (uint32_t)i) != restart_ns(g, 0))
			return true;
	return false;
}

/* The restart cost that all jobs have in common, or "profile" where applications differ. */
static int add_restart(struct fit_engine *g, struct fit_meta *m)
{
	if (restarts_differ(g))
		return fit_meta_add(m, "restart_s", "profile");
	return add_time(m, "restart_s", g->jobs->n ? restart_ns(g, 0) :
			g->p->restart_ns > 0 ? g->p->restart_ns : 0);
}

static int describe_scaling(struct fit_engine *g, struct fit_meta *m)
{
	const struct fit_replay_params *p = g->p;
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(m, "autoscale", p->autoscaler->name);

	if (!rc && p->autoscaler->describe)
		rc = p->autoscaler->describe(&p->autoscale_params, m);
	rc = rc ? rc : add_time(m, "node_start_s", p->provision.start_ns);
	rc = rc ? rc : add_time(m, "node_idle_s", p->provision.idle_ns);
	fit_format_int64(text, p->provision.min_nodes);
	rc = rc ? rc : fit_meta_add(m, "nodes_min", text);
	return rc || p->cold_restart_ns < 0 ? rc : add_time(m, "cold_restart_s", p->cold_restart_ns);
}

static int describe_count_down(const struct fit_fidelity *f, struct fit_meta *m)
{
	char text[FIT_NUM_MAX];
	int rc = add_time(m, "notice_s", f->notice_ns);

	rc = rc ? rc : add_time(m, "preempt_work_s", f->preempt_work_ns);
	rc = rc ? rc : add_time(m, "preempt_wide_work_s", f->preempt_wide_work_ns);
	fit_format_int64(text, f->preempt_wide_gpus);
	return rc ? rc : fit_meta_add(m, "preempt_wide_gpus", text);
}

static int describe_profiler(struct fit_engine *g, struct fit_meta *m)
{
	const struct fit_profiler_params *p = &g->p->profiler;
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(m, "profiler_nodes", g->p->profiler_text);

	rc = rc ? rc : add_time(m, "profile_limit_s", p->limit_ns);
	fit_format_int64(text, p->most_gpus);
	rc = rc ? rc : fit_meta_add(m, "profile_gpus", text);
	rc = rc ? rc : fit_meta_add(m, "profile_order", p->naive ? "arrival" : "space-aware");
	return rc ? rc : fit_meta_add(m, "profiled", g->p->fidelity->profiling_overlaps ? "beside" : "before");
}

static int describe(struct fit_engine *g, const struct fit_meta *given, struct fit_meta *m)
{
	const struct fit_fidelity *f = g->p->fidelity;
	int rc = fit_meta_copy(m, given);

	rc = rc ? rc : fit_meta_add(m, "policy", g->p->policy->name);
	if (!rc && g->p->policy->describe)
		rc = g->p->policy->describe(&g->p->policy_params, &g->parts[0].view, m);
	rc = rc ? rc : fit_meta_add(m, "cluster", g->partitions->spec);
	if (!rc && g->partitions->named)
		rc = fit_meta_add(m, "virtual_clusters", g->partitions->named_spec);
	if (!rc && g->p->placement != FIT_PLACE_EMPTIEST)
		rc = fit_meta_add(m, "placement", fit_placement_names[g->p->placement]);
	rc = rc ? rc : add_time(m, "interval_s", g->p->interval_ns);
	rc = rc ? rc : fit_meta_add(m, "fidelity", f->name);
	rc = rc ? rc : fit_meta_add(m, "progress_model", g->model->name);
	rc = rc ? rc : add_restart(g, m);
	if (!rc && g->p->interference > 0) {
		char text[FIT_NUM_MAX];

		fit_format_double(text, g->p->interference);
		rc = fit_meta_add(m, "interference", text);
	}
	if (!rc && g->p->max_active) {
		char text[FIT_NUM_MAX];

		fit_format_int64(text, g->p->max_active);
		rc = fit_meta_add(m, "max_active", text);
	}
	if (!rc && g->p->free_start)
		rc = fit_meta_add(m, "first_start", "free");
	if (!rc && g->p->autoscaler)
		rc = describe_scaling(g, m);
	rc = rc ? rc : add_time(m, "epoch_quantum_s", f->epoch_quantum_ns);
	if (!rc && (g->p->policy->needs & FIT_COUNTS_DOWN) && f->notice_ns)
		rc = describe_count_down(f, m);
	if (!rc && g->p->profiler.nodes)
		rc = describe_profiler(g, m);
	if (!rc && g->shares) {
		rc = fit_meta_add(m, "input_configs", g->p->colocation->hash_configs);
		rc = rc ? rc : fit_meta_add(m, "input_pairs", g->p->colocation->hash_pairs);
		rc = rc ? rc : add_time(m, "count_s", f->count_ns);
		rc = rc ? rc : fit_meta_add(m, "survivor", g->p->survivor_keeps_speed ? "keeps-speed" : "recovers");
	}
	if (!rc && f->decides_at_zero && g->p->interval_ns)
		rc = fit_meta_add(m, "first_decision_s", "0");
	rc = rc ? rc : fit_meta_add(m, "release", f->release_at_interval_end ? "interval-end" : "at-once");
	rc = rc ? rc : fit_meta_add(m, "order", f->file_order ? "file" : "submit-id");
	if (!rc && g->jobs->n_bad) {
		char text[FIT_NUM_MAX];

		fit_format_int64(text, (int64_t)g->jobs->n_bad);
		rc = fit_meta_add(m, "left_out", text);
	}
	return rc;
}

/* Which jobs are of which part. */
static void set_members(struct fit_engine *g)
{
	size_t at = 0;

	for (size_t i = 0; i < g->jobs->n; i++)
		g->parts[g->jobs->jobs[i].partition].n_members++;
	for (size_t i = 0; i < g->n_parts; i++) {
		g->parts[i].members = g->members + at;
		at += g->parts[i].n_members;
	}
	for (size_t i = 0; i < g->jobs->n; i++)
		g->parts[g->jobs->jobs[i].partition].members[g->jobs->jobs[i].local] = (uint32_t)i;
}

static int set_up_part(struct fit_engine *g, size_t i, struct fit_err *err)
{
	struct fit_part *p = &g->parts[i];
	struct fit_scaling s;
	int rc;

	p->cluster = &g->partitions->p[i].cluster;
	p->first_node = g->partitions->p[i].first_node;
	p->last_tick_ns = g->p->fidelity->decides_at_zero ? -g->p->interval_ns : 0;
	p->spanning = calloc((size_t)p->cluster->n_nodes, sizeof *p->spanning);
	if (!p->spanning)
		return fit_fail_nomem(err);
	if (p->cluster->max_node_gpus > g->predictor.node_gpus)
		g->predictor.node_gpus = p->cluster->max_node_gpus;
	p->engine = g;
	if (g->p->autoscaler) {
		struct fit_provision_params pp = g->p->provision;

		pp.drains = g->p->policy->needs & FIT_DRAINS;
		rc = fit_provision_init(&p->prov, p->cluster, &pp, err);
		if (rc)
			return rc;
		p->prov.event = log_node;
		p->prov.arg = p;
	}
	p->view = (struct fit_view){
		.engine = g,
		.part = p,
		.partition = (uint32_t)i,
		.jobs = g->jobs->jobs,
		.n_jobs = g->jobs->n,
		.members = p->members,
		.n_members = p->n_members,
		.cluster = p->cluster,
		.colocation = g->p->colocation,
		.provisioner = g->p->autoscaler ? &p->prov : NULL,
		.fidelity = g->p->fidelity,
		.interval_ns = g->p->interval_ns,
	};
	rc = g->p->policy->init(&p->policy_state, &p->view, &g->p->policy_params, err);
	if (rc || !g->p->autoscaler || !g->p->autoscaler->init)
		return rc;
	s = scaling_of(g, p);
	return g->p->autoscaler->init(&p->scaler_state, &s, err);
}

static int set_up(struct fit_engine *g, struct fit_err *err)
{
	int rc = FIT_OK;

	g->state = calloc(g->jobs->n ? g->jobs->n : 1, sizeof *g->state);
	g->parts = calloc(g->partitions->n, sizeof *g->parts);
	g->members = calloc(g->jobs->n ? g->jobs->n : 1, sizeof *g->members);
	if (!g->state || !g->parts || !g->members || order_arrivals(g))
		return fit_fail_nomem(err);
	g->n_parts = g->partitions->n;
	if ((g->p->policy->needs & FIT_ADAPTIVE) && fit_throughput_new(&g->fitter, err))
		return err ? err->code : FIT_ENOMEM;
	if (g->p->placement == FIT_PLACE_RANDOM) {
		g->placing = fit_rng_new(g->p->policy_params.seed, "replay/placement");
		if (!g->placing)
			return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < g->jobs->n; i++)
		g->state[i].partner = NOBODY;
	for (size_t i = 0; i < g->jobs->n; i++)
		g->unfinished += !g->jobs->jobs[i].too_large;
	g->plan.engine = g;
	if (g->p->profiler.nodes)
		rc = fit_profiler_run(&g->profiling, g->jobs, &g->p->profiler, err);
	set_members(g);
	for (size_t i = 0; i < g->n_parts && !rc; i++)
		rc = set_up_part(g, i, err);
	return rc;
}

static void clean_up(struct fit_engine *g)
{
	for (size_t i = 0; i < g->n_parts; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->scaler_state)
			g->p->autoscaler->free(p->scaler_state);
		fit_provision_release(&p->prov);
		if (p->policy_state)
			g->p->policy->free(p->policy_state);
		free(p->spanning);
		free(p->active);
		free(p->booked);
	}
	for (size_t i = 0; g->state && i < g->jobs->n; i++) {
		fit_alloc_release(&g->state[i].alloc);
		drop_agent(&g->state[i]);
	}
	fit_profiling_release(&g->profiling);
	fit_throughput_free(g->fitter);
	fit_predictor_release(&g->predictor);
	if (g->placing)
		gsl_rng_free(g->placing);
	free(g->parts);
	free(g->members);
	free(g->state);
	free(g->plan.grants);
	free(g->plan.shares);
	free(g->heap);
	free(g->arrivals);
}

int fit_replay(const struct fit_jobs *jobs, struct fit_partitions *partitions,
	       const struct fit_replay_params *p, const struct fit_meta *meta, struct fit_writer *w,
	       struct fit_replay_counts *counts, struct fit_err *err)
{
	struct fit_engine g = {
		.jobs = jobs,
		.partitions = partitions,
		.p = p,
		.shares = (p->policy->needs & FIT_SHARES) != 0,
		.model = p->policy->needs & FIT_SHARES ? &fit_progress_shared :
			 jobs->n && jobs->jobs[0].class ? &fit_progress_speedup :
			 !jobs->n || !jobs->jobs[0].app ? &fit_progress_fixed :
			 p->policy->needs & FIT_ADAPTIVE ? &fit_progress_adaptive : &fit_progress_profile,
		.log = { .w = w, .shares = (p->policy->needs & FIT_SHARES) != 0 },
	};
	struct fit_meta all = { 0 };
	int rc = set_up(&g, err);

	if (!rc && describe(&g, meta, &all))
		rc = fit_fail_nomem(err);
	g.log.delays = p->cold_restart_ns >= 0 || p->free_start || (p->profiler.nodes && p->restart_ns > 0) ||
		       (!rc && restarts_differ(&g));
	rc = rc ? rc : fit_log_begin(&g.log, &all, err);
	rc = rc ? rc : fit_log_cluster(&g.log, 0, p->autoscaler ? 0 : partitions->n_gpus, partitions->spec, err);
	rc = rc ? rc : run(&g, err);
	rc = rc ? rc : fit_writer_end(w, err);
	g.counts.profiled = g.profiling.n_profiled;
	g.counts.profiled_done = g.profiling.n_finished;
	if (!rc && counts)
		*counts = g.counts;
	fit_meta_release(&all);
	clean_up(&g);
	return rc;
}
