/* SPDX-License-Identifier: MIT */
/* The clock of a replay: what happens next, in which order, and who decides; its beginning and end. */
#include "libfit/replay/engine.h"

#include <stdlib.h>

#include "libfit/base/meter.h"
#include "libfit/replay/engine_state.h"

/* ---- decisions ---- */

static int decide_now(struct fit_engine *g, struct fit_part *p, struct fit_err *err)
{
	int rc;

	/* not at each decision: the backlog may be long, and not all policies look at it */
	if (p->active_holes > p->active_n / 2)
		fit_engine_close_holes(g, p);
	rc = fit_engine_scale(g, p, err);
	p->news = false;
	if (rc || !p->active_n)
		return rc;
	g->counts.decisions++;
	g->plan.part = p;
	for (int32_t t = 0; t < p->cluster->n_types; t++)
		g->plan.want_nodes[t] = -1;
	rc = g->model->retune ? fit_engine_retune(g, p, err) : FIT_OK;
	rc = rc ? rc : g->p->policy->decide(p->policy_state, fit_engine_view_of(g, p), &g->plan, err);
	rc = rc ? rc : fit_engine_apply_plan(g, err);
	return rc ? rc : fit_engine_scale_as_planned(g, p, err);
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
	       g->p->policy->next_wake(p->policy_state, fit_engine_view_of(g, p)) : INT64_MAX;
}

/* The next decision instant with an interval: the first multiple of it after the last one, but none
 * while nobody waits for one, nor while nothing can come of it. */
static int64_t next_tick(struct fit_engine *g, struct fit_part *p)
{
	bool idle = p->active_n == p->active_holes && !p->booked_n;
	bool settled = (g->p->policy->needs & FIT_ONLY_NEWS) && !p->news && !p->booked_n;
	int64_t d = g->p->interval_ns, next = p->last_tick_ns + d, from = g->now_ns;

	if (idle || settled) {
		const struct queued *q = idle ? NULL : fit_engine_next_end(g);

		from = q ? q->at_ns : INT64_MAX;
		if (fit_engine_next_submit_ns(g) < from)
			from = fit_engine_next_submit_ns(g);
		if (policy_wake(g, p) < from)
			from = policy_wake(g, p);
		if (!idle && g->p->autoscaler && fit_engine_part_node_ns(p) < from)
			from = fit_engine_part_node_ns(p);
		if (from == INT64_MAX)
			return INT64_MAX;
	}
	return next >= from ? next : (from / d + (from % d != 0)) * d;
}

static int64_t next_decision(struct fit_engine *g, struct fit_part *p)
{
	if (g->p->interval_ns)
		return next_tick(g, p);
	if (g->p->policy->needs & FIT_OWN_CLOCK)
		return policy_wake(g, p);
	return p->news ? g->now_ns : policy_wake(g, p);
}

/* The first part that has to decide now, or NULL. */
static struct fit_part *due_part(struct fit_engine *g)
{
	for (size_t i = 0; i < g->n_parts; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->due_ns == g->now_ns)
			return p;
		if (g->p->interval_ns)
			continue;
		if (g->p->policy->needs & FIT_OWN_CLOCK ? policy_wake(g, p) <= g->now_ns : p->news)
			return p;
	}
	return NULL;
}

/* ---- a defect of a published simulator (engine.h: stale_ends) ---- */

/* The policy is woken before the next arrival, at which jobs would end: note them with the arrival. */
static int note_stale(struct fit_engine *g, int64_t ends, int64_t arrival, int64_t wake, struct fit_err *err)
{
	if (!g->p->stale_ends || ends != arrival || wake >= ends || ends == INT64_MAX)
		return FIT_OK;
	g->n_stale = 0;
	g->stale_ns = ends;
	for (size_t i = 0; i < g->heap_n; i++) {
		const struct queued *q = &g->heap[i];

		if (q->at_ns != ends || fit_engine_is_void(g, q))
			continue;
		if (fit_grow(&g->stale, &g->cap_stale, g->n_stale + 1, sizeof *g->stale))
			return fit_fail_nomem(err);
		g->stale[g->n_stale++] = q->job;
	}
	return FIT_OK;
}

/* Ends that are really due take the place of what was noted. */
static int end_stale(struct fit_engine *g, struct fit_err *err)
{
	const struct queued *q = fit_engine_next_end(g);
	int rc = FIT_OK;

	if (!g->n_stale || g->now_ns < g->stale_ns)
		return FIT_OK;
	for (size_t i = 0; i < g->n_stale && !rc && (!q || q->at_ns > g->now_ns); i++)
		rc = fit_engine_end_early(g, g->stale[i], err);
	g->n_stale = 0;
	return rc;
}

/* Everything that happens at now_ns, in the order that engine.h states. */
static int do_instant(struct fit_engine *g, struct fit_err *err)
{
	int64_t now = g->now_ns;
	bool profiles = g->profiler != NULL;
	int rc = profiles ? fit_profiler_end(g->profiler, now, err) : FIT_OK;

	rc = rc ? rc : end_stale(g, err);

	for (size_t i = 0; i < g->n_parts; i++)
		g->parts[i].due_ns = next_decision(g, &g->parts[i]);
	while (!rc) {
		const struct queued *q = fit_engine_next_end(g);
		bool queued_now = q && q->at_ns <= now;
		struct fit_part *p;

		const struct fit_profile_event *x = fit_engine_next_profile(g);

		if (x && x->ends) {
			g->next_profile++;
			rc = fit_engine_profile_event(g, x, err);
		} else if (queued_now && q->kind == ENDS) {
			rc = fit_engine_end_epoch(g, fit_engine_take_end(g), err);
		} else if (fit_engine_next_submit_ns(g) <= now) {
			rc = fit_engine_arrive(g, fit_engine_arrival(g, g->next_arrival++), err);
			rc = rc ? rc : fit_engine_load_next(g, err);
		} else if (profiles) {
			profiles = false;
			rc = fit_profiler_begin(g->profiler, now, err);
		} else if (x) {
			g->next_profile++;
			rc = fit_engine_profile_event(g, x, err);
		} else if ((p = fit_engine_starting_part(g)) != NULL) {
			rc = fit_engine_start_nodes(g, p, err);
		} else if ((p = due_part(g)) != NULL) {
			p->due_ns = INT64_MAX;
			p->last_tick_ns = now;
			rc = fit_engine_release_booked(g, p, err);
			rc = rc ? rc : decide(g, p, err);
		} else if (queued_now) {
			uint32_t j = q->job;

			fit_engine_drop_end(g);
			rc = fit_engine_end_epoch(g, j, err);
		} else {
			break;
		}
	}
	return rc ? rc : fit_engine_settle_nodes(g, err);
}

static int fail_waiting(const struct fit_engine *g, struct fit_err *err)
{
	return fit_fail(err, FIT_EINVAL, "policy %s leaves %zu %s waiting for ever", g->p->policy->name,
			g->unfinished, fit_plural(g->unfinished, "job", "jobs"));
}

static bool profiler_busy(const struct fit_engine *g)
{
	return g->profiler && fit_profiler_busy(g->profiler);
}

/* A stream is measured where it is read. */
static void tell_progress(struct fit_engine *g)
{
	const uint64_t n = g->jobs->n;

	if (g->beats++ % (g->slots.of ? 1024 : 1) == 0 && !g->jobs->stream)
		fit_meter_tell("replay", n - g->unfinished, n, "jobs");
}

static int run(struct fit_engine *g, struct fit_err *err)
{
	size_t booked = 0;
	bool nodes;
	int rc = fit_engine_settle_nodes(g, err);

	(void)fit_engine_next_node_ns(g, &nodes);
	while (!rc && (g->unfinished || booked || nodes || g->next_arrival < g->n_arrivals ||
		       profiler_busy(g))) {
		const struct queued *q = fit_engine_next_end(g);
		int64_t next = INT64_MAX, ends = q ? q->at_ns : INT64_MAX;
		int64_t arrival = fit_engine_next_submit_ns(g);
		bool settled = g->counts.decisions && !booked && !(g->p->policy->needs & FIT_ONLY_NEWS);

		for (size_t i = 0; i < g->n_parts; i++) {
			int64_t at = next_decision(g, &g->parts[i]);

			next = at < next ? at : next;
			settled = settled && !g->parts[i].news;
		}
		/* with an interval ticks go on for ever */
		if (g->p->interval_ns && !profiler_busy(g) && g->unfinished && !g->running &&
		    arrival == INT64_MAX && settled &&
		    fit_engine_next_node_ns(g, &nodes) == INT64_MAX)
			return fail_waiting(g, err);
		rc = note_stale(g, ends, arrival, next, err);
		if (rc)
			return rc;
		if (ends < next)
			next = ends;
		if (arrival < next)
			next = arrival;
		if (g->profiler && fit_profiler_next_ns(g->profiler) < next)
			next = fit_profiler_next_ns(g->profiler);
		if (fit_engine_next_node_ns(g, &nodes) < next)
			next = fit_engine_next_node_ns(g, &nodes);
		if (next == INT64_MAX)
			return fail_waiting(g, err);
		if (next > HORIZON_NS)
			return fit_fail(err, FIT_EDATA, "policy %s: %zu %s still there 190 years after the trace "
					"origin", g->p->policy->name, g->unfinished,
					fit_plural(g->unfinished, "job is", "jobs are"));
		g->now_ns = next;
		tell_progress(g);
		rc = do_instant(g, err);
		booked = 0;
		for (size_t i = 0; i < g->n_parts; i++)
			booked += g->parts[i].booked_n;
		(void)fit_engine_next_node_ns(g, &nodes);
	}
	return rc;
}

/* ---- set up and clean up ---- */

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
		rc = fit_engine_open_nodes(g, p, err);
		if (rc)
			return rc;
	}
	p->view = (struct fit_view){
		.engine = g,
		.part = p,
		.partition = (uint32_t)i,
		.first_node = p->first_node,
		.jobs = g->jobs->jobs,
		.n_jobs = g->jobs->n,
		.members = p->members,
		.n_members = p->n_members,
		.cluster = p->cluster,
		.colocation = g->p->colocation,
		.provisioner = g->p->autoscaler ? p->prov : NULL,
		.fidelity = g->p->fidelity,
		.interval_ns = g->p->interval_ns,
	};
	rc = g->p->policy->init(&p->policy_state, &p->view, &g->p->policy_params, err);
	if (rc || !g->p->autoscaler || !g->p->autoscaler->init)
		return rc;
	s = fit_engine_scaling_of(g, p);
	return g->p->autoscaler->init(&p->scaler_state, &s, err);
}

static int set_up(struct fit_engine *g, struct fit_err *err)
{
	int rc = FIT_OK;

	g->parts = calloc(g->partitions->n, sizeof *g->parts);
	g->members = calloc(g->jobs->n ? g->jobs->n : 1, sizeof *g->members);
	if (!g->parts || !g->members || fit_engine_order_arrivals(g))
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
		g->unfinished += !g->jobs->jobs[i].too_large;
	g->plan.engine = g;
	set_members(g);
	for (size_t i = 0; i < g->n_parts && !rc; i++)
		rc = set_up_part(g, i, err);
	if (rc || !g->p->profiler.nodes)
		return rc;
	g->profiler_params = g->p->profiler;
	rc = fit_engine_set_lender(g, &g->profiler_params, err);
	return rc ? rc : fit_profiler_new(&g->profiler, &g->profiling, g->jobs, &g->profiler_params, err);
}

static void clean_up(struct fit_engine *g)
{
	for (size_t i = 0; i < g->n_parts; i++) {
		struct fit_part *p = &g->parts[i];

		if (p->scaler_state)
			g->p->autoscaler->free(p->scaler_state);
		fit_engine_close_nodes(p);
		if (p->policy_state)
			g->p->policy->free(p->policy_state);
		free(p->spanning);
		free(p->numbers);
		free(p->active);
		free(p->booked);
	}
	fit_engine_close_slots(g);
	fit_profiler_free(g->profiler);
	fit_profiling_release(&g->profiling);
	free(g->lending.name);
	fit_throughput_free(g->fitter);
	fit_predictor_release(&g->predictor);
	if (g->placing)
		gsl_rng_free(g->placing);
	free(g->parts);
	free(g->members);
	free(g->stale);
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
			 jobs->n && jobs->jobs[0].plans ? &fit_progress_plans :
			 jobs->n && jobs->jobs[0].rates ? &fit_progress_steps :
			 jobs->n && jobs->jobs[0].job_class ? &fit_progress_speedup :
			 !jobs->n || !jobs->jobs[0].app ? &fit_progress_fixed :
			 p->policy->needs & FIT_ADAPTIVE ? &fit_progress_adaptive : &fit_progress_profile,
		.log = { .w = w, .shares = (p->policy->needs & FIT_SHARES) != 0 },
	};
	struct fit_meta all = { 0 };
	int rc = fit_engine_open_slots(&g, err);

	rc = rc ? rc : set_up(&g, err);

	if (!rc && fit_engine_describe(&g, meta, &all))
		rc = fit_fail_nomem(err);
	g.log.plans = g.model->has_plans;
	g.log.delays = (p->fidelity->free_shifts && g.model->has_plans) || p->cold_restart_ns >= 0 ||
		       p->free_start || p->fidelity->shape_is_all || (p->profiler.nodes && p->restart_ns > 0) ||
		       (!rc && fit_engine_restarts_differ(&g));
	rc = rc ? rc : fit_log_begin(&g.log, &all, err);
	rc = rc ? rc : fit_log_cluster(&g.log, 0, p->autoscaler ? 0 : partitions->n_gpus, partitions->spec, err);
	rc = rc ? rc : run(&g, err);
	if (!rc && jobs->stream)
		rc = fit_engine_tell_stream(&g, w, err);
	rc = rc ? rc : fit_writer_end(w, err);
	g.counts.profiled = g.profiling.n_profiled;
	g.counts.profiled_done = g.profiling.n_finished;
	if (!rc && counts)
		*counts = g.counts;
	fit_meta_release(&all);
	clean_up(&g);
	return rc;
}
