/* SPDX-License-Identifier: MIT */
/*
 * gf-metrics: what an event log says about its jobs and its cluster: completion and queueing times,
 * makespan, GPU-seconds, utilisation, restarts; for all jobs, per job, per application, per size.
 * One pass over the log; the definitions are in docs/methods/metrics.md.
 */
#include <stddef.h>

#include "libfit/base/num.h"
#include "libfit/metrics/efficiency.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/rent_cost.h"
#include "libfit/metrics/summary.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"
#include "tools/metrics_fairness.h"
#include "tools/metrics_use.h"

struct options {
	bool per_job, per_class, by_size;
	const char *speedups;
	int64_t step_ns;	/* of the series; 0: none */
	int64_t window_ns;	/* of the time-average budget; -1: first to last submit */
	bool shares;
	const char *isolated;
	int type_mean;		/* enum fit_type_mean */
	struct cli_list prices;
};

static const char *const type_means[] = { "times", "ratios", NULL };

static const struct cli_option options[] = {
	{ 0, "per-job", CLI_FLAG, offsetof(struct options, per_job), NULL, NULL,
	  "one row a job, in order of submission", NULL, 0, 0, CLI_RESULT },
	{ 0, "per-class", CLI_FLAG, offsetof(struct options, per_class), NULL, NULL,
	  "one row an application class", NULL, 0, 0, CLI_RESULT },
	{ 0, "by-size", CLI_FLAG, offsetof(struct options, by_size), NULL, NULL,
	  "one row a number of GPUs asked for", NULL, 0, 0, CLI_RESULT },
	{ 0, "over-time", CLI_TIME, offsetof(struct options, step_ns), "SECONDS", NULL,
	  "one row a step of so many seconds: GPUs rented, held, busy, efficiency", NULL, 1e-3, 3.2e9, CLI_RESULT },
	{ 0, "speedups", CLI_TEXT, offsetof(struct options, speedups), "FILE", NULL,
	  "speeds of the classes, to say how efficiently GPUs are used", NULL, 0, 0, CLI_INPUT },
	{ 0, "gpu-price", CLI_LIST, offsetof(struct options, prices), "TYPE=X", "1",
	  "price of a GPU-hour of a type: what the rented cluster costs", NULL, 0, 0, CLI_RESULT },
	{ 0, "window", CLI_TIME, offsetof(struct options, window_ns), "SECONDS", "first to last submit",
	  "the submission window of the mean budgets, from time 0", NULL, 1e-9, 3.2e9, CLI_RESULT },
	{ 0, "shares", CLI_FLAG, offsetof(struct options, shares), NULL, NULL,
	  "with --per-job: each job's equal share of the cluster", NULL, 0, 0, CLI_RESULT },
	{ 0, "isolated", CLI_TEXT, offsetof(struct options, isolated), "FILE", NULL,
	  "times of the jobs alone: finish-time fairness, rho", NULL, 0, 0, CLI_INPUT },
	{ 0, "type-mean", CLI_CHOICE, offsetof(struct options, type_mean), "OF", "times",
	  "with --isolated: over GPU types, the mean of times alone or of rho", type_means, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* What is written, and --isolated: what options are of use with. */
enum { REPORT = 1, PER_JOB = 2, ISOLATED = 4 };
static const struct cli_use uses[] = {
	{ "shares", PER_JOB, "--per-job" },
	{ "gpu-price", REPORT, "the report" },
	{ "isolated", REPORT | PER_JOB, "the report and --per-job" },
	{ "type-mean", ISOLATED, "--isolated" },
	{ NULL, 0, NULL }
};

static void put_time(struct fit_writer *w, int64_t ns)
{
	if (ns == FIT_INT_NA)
		fit_writer_na(w);
	else
		fit_writer_time(w, ns);
}

static void put_text(struct fit_writer *w, struct fit_text t)
{
	if (t.s)
		fit_writer_text(w, t);
	else
		fit_writer_na(w);
}

static double gpus(int64_t ugpus)
{
	return (double)ugpus / (double)FIT_UGPU;
}

/* ---- the three tables and the plain report ---- */

static int write_report(struct fit_writer *w, const struct fit_metrics *m,
			const struct fit_metrics_window *window, const struct fit_meta *meta,
			struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "metric", FIT_TEXT, 0 }, { "value", FIT_REAL, 0 }, { "unit", FIT_TEXT, 0 }
	};
	struct fit_summary s;
	int rc = fit_summarise(m, NULL, 0, &s, err);

	if (!rc)
		rc = fit_writer_begin(w, NULL, meta, fields, sizeof fields / sizeof *fields, err);
	for (size_t i = 0; !rc && i < fit_metric_count(); i++) {
		struct fit_metric_row row = fit_metric_row(m, &s, window, i);

		rc = metrics_put_rows(w, &row, 1, err);
	}
	return rc;
}

#define JOB_COLUMNS 14

static int write_jobs(struct fit_writer *w, const struct fit_metrics *m,
		      const struct metrics_fairness *fairness, const struct fit_meta *meta, struct fit_err *err)
{
	struct fit_field fields[JOB_COLUMNS + METRICS_FAIRNESS_COLUMNS] = {
		{ "job_id", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 },
		{ "end_s", FIT_TIME, 0 }, { "jct_s", FIT_TIME, 0 }, { "queue_s", FIT_TIME, 0 },
		{ "gpu_s", FIT_REAL, 0 }, { "gpu_busy_s", FIT_REAL, 0 }, { "restarts", FIT_INT, 0 },
		{ "preemptions", FIT_INT, 0 }, { "app", FIT_TEXT, 0 }, { "gpus", FIT_REAL, 0 },
		{ "batch_size", FIT_INT, 0 }, { "status", FIT_TEXT, 0 },
	};
	size_t n = JOB_COLUMNS + metrics_fairness_fields(fairness, fields + JOB_COLUMNS);
	int rc = fit_writer_begin(w, NULL, meta, fields, n, err);

	for (size_t i = 0; !rc && i < m->n_jobs; i++) {
		const struct fit_job_result *j = &m->jobs[i];
		bool in = j->state != FIT_JOB_REJECTED;

		fit_writer_text(w, fit_metrics_job_id(m, j));
		fit_writer_time(w, j->submit_ns);
		put_time(w, j->start_ns);
		put_time(w, j->end_ns);
		put_time(w, j->end_ns == FIT_INT_NA ? FIT_INT_NA : j->end_ns - j->submit_ns);
		put_time(w, in ? j->queue_ns : FIT_INT_NA);
		fit_writer_real(w, in ? fit_gpu_seconds(j->gpu) : fit_real_na());
		fit_writer_real(w, in ? fit_gpu_seconds(j->busy) : fit_real_na());
		fit_writer_int(w, j->restarts);
		fit_writer_int(w, j->preemptions);
		put_text(w, fit_metrics_app(m, j->app));
		fit_writer_real(w, gpus(j->asked_ugpus));
		if (j->has_batch)
			fit_writer_int(w, j->batch_size);
		else
			fit_writer_na(w);
		fit_writer_str(w, fit_job_status(j));
		metrics_fairness_cells(fairness, i, w);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

static int write_group(struct fit_writer *w, const struct fit_metrics *m, enum fit_group_by by,
		       const size_t *which, size_t n, struct fit_err *err)
{
	const struct fit_job_result *j = &m->jobs[which[0]];
	struct fit_summary s;
	int rc = fit_summarise(m, which, n, &s, err);

	if (rc)
		return rc;
	if (by == FIT_BY_APP)
		put_text(w, fit_metrics_app(m, j->app));
	else
		fit_writer_real(w, gpus(j->asked_ugpus));
	fit_writer_int(w, (int64_t)s.jobs);
	fit_writer_int(w, (int64_t)s.finished);
	fit_writer_int(w, (int64_t)s.unfinished);
	fit_writer_int(w, (int64_t)s.rejected);
	fit_writer_real(w, s.jct.mean);
	fit_writer_real(w, s.jct.median);
	fit_writer_real(w, s.jct.p95);
	fit_writer_real(w, s.jct.p99);
	fit_writer_real(w, s.jct.max);
	fit_writer_real(w, s.queue.mean);
	fit_writer_real(w, fit_gpu_seconds(s.gpu));
	fit_writer_int(w, s.restarts);
	fit_writer_int(w, s.preemptions);
	return fit_writer_end_row(w, err);
}

static int write_groups(struct fit_writer *w, const struct fit_metrics *m, const struct fit_meta *meta,
			enum fit_group_by by, struct fit_err *err)
{
	const struct fit_field fields[] = {
		by == FIT_BY_APP ? (struct fit_field){ "app", FIT_TEXT, 0 } :
				   (struct fit_field){ "gpus", FIT_REAL, 0 },
		{ "jobs", FIT_INT, 0 }, { "finished", FIT_INT, 0 }, { "unfinished", FIT_INT, 0 },
		{ "rejected", FIT_INT, 0 }, { "jct_mean_s", FIT_REAL, 0 }, { "jct_median_s", FIT_REAL, 0 },
		{ "jct_p95_s", FIT_REAL, 0 }, { "jct_p99_s", FIT_REAL, 0 }, { "jct_max_s", FIT_REAL, 0 },
		{ "queue_mean_s", FIT_REAL, 0 }, { "gpu_s", FIT_REAL, 0 }, { "restarts", FIT_INT, 0 },
		{ "preemptions", FIT_INT, 0 },
	};
	struct fit_groups g;
	int rc = fit_metrics_group(m, by, &g, err);

	if (rc)
		return rc;
	rc = fit_writer_begin(w, NULL, meta, fields, sizeof fields / sizeof *fields, err);
	for (size_t i = 0; !rc && i < g.n; i++)
		rc = write_group(w, m, by, g.which + g.first[i], g.first[i + 1] - g.first[i], err);
	fit_groups_release(&g);
	return rc;
}

/* ---- wiring ---- */

struct watches {
	struct fit_metrics_window window;
	struct fit_efficiency *efficiency;
	struct fit_rent_cost *cost;	/* NULL: nobody asked */
	const struct fit_reader *r;
	bool by_job;			/* work is counted job by job */
};

/* Ours, and what the log says about how it came about. */
static int make_meta(const struct cli *cli, const struct fit_reader *r, struct fit_meta *meta)
{
	static const char *const kept[] = { "policy", "cluster", "interval_s", "fidelity", "autoscale" };
	char hash[FIT_HASH_HEX];
	int rc = cli_meta(cli, meta, false);

	for (size_t i = 0; !rc && i < sizeof kept / sizeof *kept; i++) {
		const char *value = fit_meta_get(fit_reader_meta(r), kept[i]);

		if (value)
			rc = fit_meta_add(meta, kept[i], value);
	}
	fit_reader_hash(r, hash);
	return rc ? rc : cli_meta_input(meta, NULL, hash);
}

static int write_all(const struct cli *cli, const struct options *o, const struct fit_metrics *m,
		     const struct fit_metrics_window *window, const struct watches *s,
		     const struct metrics_fairness *fairness, const struct fit_meta *meta, struct fit_err *err)
{
	bool report = !o->per_job && !o->per_class && !o->by_size && !o->step_ns;
	struct fit_writer *w;
	int rc = cli_writer_open(cli, &w, err);

	if (rc)
		return rc;
	if (o->per_job)
		rc = write_jobs(w, m, fairness, meta, err);
	else if (o->per_class || o->by_size)
		rc = write_groups(w, m, meta, o->per_class ? FIT_BY_APP : FIT_BY_SIZE, err);
	else if (o->step_ns)
		rc = metrics_use_series(w, s->efficiency, meta, err);
	else
		rc = write_report(w, m, window, meta, err);
	if (!rc && o->speedups && report)
		rc = metrics_use_report(w, m, s->efficiency, err);
	if (!rc && s->cost && report)
		rc = metrics_use_cost(w, s->cost, m, o->window_ns, err);
	if (!rc && report)
		rc = metrics_fairness_report(fairness, w, err);
	return cli_writer_end(w, rc, err);
}

static int watch(void *arg, const struct fit_metrics *m, struct fit_err *err)
{
	struct watches *s = arg;
	int rc = fit_metrics_window_watch(&s->window, m, err);

	if (s->cost && m->n_events == 1)	/* the metadata are known now */
		rc = rc ? rc : fit_rent_cost_begin(s->cost, s->r, err);
	if (m->n_events == 1)
		rc = rc ? rc : fit_efficiency_begin(s->efficiency, s->r, err);
	rc = rc ? rc : fit_rent_cost_watch(s->cost, m, err);
	return rc || !s->by_job ? rc : fit_efficiency_watch(s->efficiency, m, err);
}

/* Is more than sums asked of each job? The report alone does without. */
static bool keeps_jobs(const struct options *o)
{
	return o->per_job || o->per_class || o->by_size || o->step_ns || o->speedups || o->shares || o->isolated;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct watches s = { .window = { .end_ns = o->window_ns }, .by_job = o->speedups || o->step_ns };
	struct metrics_fairness fairness = { 0 };
	bool windowed = o->window_ns > 0, groups = o->per_class || o->by_size;
	struct fit_metrics m = { 0 };
	struct fit_meta meta = { 0 };
	struct fit_reader *r = NULL;
	struct fit_err err = { 0 };
	int rc, status = CLI_EXIT_OK;

	if (o->per_job + o->per_class + o->by_size + (o->step_ns > 0) > 1)
		return cli_usage(cli, "more than one of --per-job, --per-class, --by-size and --over-time");
	rc = cli_check_uses(cli, uses, (o->per_job ? PER_JOB : groups || o->step_ns ? 0 : REPORT) |
				       (o->isolated ? ISOLATED : 0));
	if (rc)
		return rc;
	rc = !o->prices.n ? FIT_OK :
	     fit_rent_cost_new(&s.cost, (const char *const *)o->prices.items, o->prices.n, &err);
	if (rc == FIT_EINVAL)
		return cli_usage(cli, "--gpu-price: %s", err.msg);
	rc = rc ? rc : fit_reader_open(&r, cli_operand(cli, 0), &err);
	s.r = r;
	if (!rc)
		rc = metrics_fairness_init(&fairness, o->shares, o->isolated, &err);
	if (!rc)
		rc = fit_efficiency_new(&s.efficiency, o->speedups, o->step_ns, &err);
	if (!rc)
		rc = (keeps_jobs(o) ? fit_metrics_read : fit_metrics_read_sums)(&m, r, watch, &s, &err);
	fit_metrics_window_close(&s.window);
	if (!rc && s.by_job)
		rc = fit_efficiency_close(s.efficiency, &m, &err);
	if (!rc)
		rc = metrics_fairness_compute(&fairness, &m, r, (enum fit_type_mean)o->type_mean, &err);
	if (!rc && (make_meta(cli, r, &meta) ||
		    (o->speedups && cli_meta_input(&meta, "speedups", fit_efficiency_hash(s.efficiency))) ||
		    (o->isolated && cli_meta_input(&meta, "isolated", fit_isolated_hash(fairness.alone)))))
		rc = fit_fail_nomem(&err);
	rc = rc ? rc : fit_reader_only(r, &err);
	if (!rc && m.n_submitted > m.n_finished)
		cli_warn(cli, "%s: %zu of %zu jobs left out of the averages (%zu unfinished, %zu rejected)",
			 fit_reader_input(r), m.n_submitted - m.n_finished, m.n_submitted,
			 m.n_submitted - m.n_finished - m.n_rejected, m.n_rejected);
	if (!rc && fairness.n_unknown)
		cli_warn(cli, "%s: no time alone of %zu of %zu finished jobs: no rho of these", o->isolated,
			 fairness.n_unknown, m.n_finished);
	if (!rc)
		rc = write_all(cli, o, &m, windowed ? &s.window : NULL, &s, &fairness, &meta, &err);
	if (rc)
		status = cli_error(cli, &err);
	fit_reader_close(r);
	fit_efficiency_free(s.efficiency);
	fit_rent_cost_free(s.cost);
	metrics_fairness_release(&fairness);
	fit_meta_release(&meta);
	fit_metrics_release(&m);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "[LOG]", "", options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-metrics",
	.summary = "Metrics of an event log: one row a metric (metric value unit).",
	.details = "LOG is an event log as gf-replay writes it. Averages are over the finished jobs.",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	struct options o = { .window_ns = -1 };

	return cli_main(&tool, argc, argv, &o);
}
