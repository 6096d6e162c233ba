/* SPDX-License-Identifier: MIT */
/* The metadata of the event log: all that a verifier needs to know of how the replay was made. */
#include "libfit/base/num.h"
#include "libfit/replay/engine_state.h"

static int add_time(struct fit_meta *m, const char *key, int64_t ns)
{
	char text[FIT_NUM_MAX];

	fit_format_time(text, ns);
	return fit_meta_add(m, key, text);
}

/* Do restarts of a class cost less on one type of GPU than on another? */
static bool differs_by_type(const struct fit_engine *g, const struct fit_job_class *c)
{
	const int32_t n = c && g->p->restart_ns < 0 ? g->partitions->p[0].cluster.n_types : 0;

	for (int32_t t = 1; t < n; t++)
		if (c->restart_ns[t] != c->restart_ns[0])
			return true;
	return false;
}

bool fit_engine_restarts_differ(const struct fit_engine *g)
{
	for (size_t i = 0; i < g->jobs->n; i++)
		if (fit_engine_restart_ns(g, (uint32_t)i) != fit_engine_restart_ns(g, 0) ||
		    differs_by_type(g, g->jobs->jobs[i].job_class))
			return true;
	return false;
}

/* The restart cost that all jobs have in common, or "profile" where applications differ. */
static int add_restart(struct fit_engine *g, struct fit_meta *m)
{
	if (fit_engine_restarts_differ(g) || (g->p->fidelity->apps && g->p->restart_ns < 0))
		return fit_meta_add(m, "restart_s", "profile");
	return add_time(m, "restart_s", g->jobs->n ? fit_engine_restart_ns(g, 0) :
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

static int add_count(struct fit_meta *m, const char *key, int64_t n)
{
	char text[FIT_NUM_MAX];

	fit_format_int64(text, n);
	return fit_meta_add(m, key, text);
}

/* When the profiler borrows a node, and when it gives it back. */
static int describe_lending(struct fit_engine *g, struct fit_meta *m)
{
	const struct fit_profiler_params *p = &g->p->profiler;
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(m, "profiler_lender", g->partitions->named ? g->p->profiler_lender->name : "cluster");

	rc = rc ? rc : fit_meta_add(m, "lending", g->p->fidelity->echoed_lending ? "echoed" : "empty-nodes");
	rc = rc ? rc : add_time(m, "lend_each_s", p->grow_ns);
	rc = rc ? rc : add_count(m, "lend_above", (int64_t)p->grow_above);
	rc = rc ? rc : add_time(m, "regain_each_s", p->shrink_ns);
	rc = rc ? rc : add_count(m, "regain_below", (int64_t)p->shrink_below);
	fit_format_double(text, p->shrink_gpus);
	return rc ? rc : fit_meta_add(m, "regain_gpus", text);
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
	if (!rc && g->p->profiler_lender)
		rc = describe_lending(g, m);
	return rc ? rc : fit_meta_add(m, "profiled", g->p->fidelity->profiling_overlaps ? "beside" : "before");
}

static int describe_plans(const struct fit_fidelity *f, struct fit_meta *m)
{
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(m, "iteration_time", f->any_plan_time ? "of-any-plan" : "of-plan");

	fit_format_int64(text, f->extra_iterations);
	rc = rc ? rc : fit_meta_add(m, "extra_iterations", text);
	rc = rc ? rc : fit_meta_add(m, "partial_iteration", f->keeps_partial_seconds ? "seconds" : "share");
	rc = rc ? rc : fit_meta_add(m, "same_gpus_moved", f->free_shifts ? "free" : "restarted");
	return rc ? rc : fit_meta_add(m, "without_gpus", f->ghosts ? "runs-on" : "waits");
}

static int add_switches(const struct fit_switches *s, struct fit_meta *m)
{
	char text[FIT_NUM_MAX];
	int rc;

	fit_format_int64(text, s->n);
	rc = fit_meta_add(m, "switches", text);
	fit_format_int64(text, s->cpus);
	rc = rc ? rc : fit_meta_add(m, "node_cpus", text);
	fit_format_double(text, s->mem_gib);
	return rc ? rc : fit_meta_add(m, "node_mem_gib", text);
}

/* Rows that were left out. */
static int describe_jobs(const struct fit_jobs *jobs, struct fit_meta *m)
{
	return jobs->n_bad ? add_count(m, "left_out", (int64_t)jobs->n_bad) : FIT_OK;
}

int fit_engine_describe(struct fit_engine *g, const struct fit_meta *given, struct fit_meta *m)
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
	if (!rc && g->partitions->p[0].cluster.switches)
		rc = add_switches(g->partitions->p[0].cluster.switches, m);
	rc = rc ? rc : add_time(m, "interval_s", g->p->interval_ns);
	rc = rc ? rc : fit_meta_add(m, "fidelity", f->name);
	if (!rc && g->p->stale_ends)
		rc = fit_meta_add(m, "stale_ends", "1");
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
	if (!rc && g->model->has_plans)
		rc = describe_plans(f, m);
	if (!rc && f->decides_at_zero && g->p->interval_ns)
		rc = fit_meta_add(m, "first_decision_s", "0");
	rc = rc ? rc : fit_meta_add(m, "release", f->release_at_interval_end ? "interval-end" : "at-once");
	rc = rc ? rc : fit_meta_add(m, "order", f->file_order ? "file" : "submit-id");
	return rc || g->jobs->stream ? rc : describe_jobs(g->jobs, m);
}

int fit_engine_tell_stream(const struct fit_engine *g, struct fit_writer *w, struct fit_err *err)
{
	struct fit_meta m = { 0 };
	int rc = fit_meta_add(&m, "input_jobs", g->jobs->hash);

	rc = rc ? rc : describe_jobs(g->jobs, &m);
	rc = rc ? fit_fail_nomem(err) : fit_writer_end_meta(w, &m, err);
	fit_meta_release(&m);
	return rc;
}
