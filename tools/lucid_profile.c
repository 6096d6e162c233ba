/* SPDX-License-Identifier: MIT */
#include "tools/lucid_profile.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/engine.h"

#define AT(field) offsetof(struct lucid_profile_options, field)
#define R CLI_RESULT

const struct cli_option lucid_profile_options[] = {
	{ 0, "nodes", CLI_INT, AT(nodes), "N", "2", "nodes of the profiler", NULL, 1, 1e6, R },
	{ 0, "gpus-per-node", CLI_INT, AT(node_gpus), "N", "8", "GPUs of each", NULL, 1, FIT_NODE_GPUS_MAX, R },
	{ 0, "time", CLI_TIME, AT(limit_ns), "SECONDS", "200", "a job runs there for so long at most", NULL, 0,
	  3.2e9, R },
	{ 0, "gpus", CLI_INT, AT(most_gpus), "N", "8", "larger jobs are not profiled", NULL, 1, 1e9, R },
	{ 0, "naive", CLI_FLAG, AT(naive), NULL, NULL, "order of arrival, not fewest GPUs first", NULL, 0, 0, R },
	{ 0, "forecast", CLI_TEXT, AT(forecast), "FILE", NULL,
	  "take in a node when many jobs wait, give it back when few GPUs are expected", NULL, 0, 0, CLI_INPUT },
	{ 0, "sweep", CLI_LIST, AT(sweep), "SECONDS", NULL,
	  "one row for this --time and each order; may be repeated", NULL, 0, 0, R },
	{ 0, "skip-bad", CLI_INT, AT(skip_bad), "N", "0", "leave out up to N bad rows, and count them", NULL, 0,
	  9e15, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

void lucid_profile_defaults(void *given)
{
	struct fit_profiler_params q = fit_profiler_params_default();

	*(struct lucid_profile_options *)given = (struct lucid_profile_options){
		.nodes = 2, .node_gpus = q.node_gpus, .limit_ns = q.limit_ns, .most_gpus = q.most_gpus
	};
}

static int write_jobs(const struct cli *cli, const struct fit_jobs *js, const struct fit_profiling *p,
		      struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "gpus", FIT_INT, 0 }, { "submit_s", FIT_TIME, 0 },
		{ "profile_start_s", FIT_TIME, 0 }, { "profile_end_s", FIT_TIME, 0 }, { "wait_s", FIT_TIME, 0 },
		{ "done", FIT_INT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "profiled", "jobs", js->hash, fields, 7, err);

	for (size_t i = 0; i < js->n && !rc; i++) {
		const struct fit_job *j = &js->jobs[i];
		const struct fit_profiled *x = &p->jobs[i];

		fit_writer_str(w, j->id);
		fit_writer_int(w, j->gpus);
		fit_writer_time(w, j->submit_ns);
		if (x->start_ns < 0) {
			for (int k = 0; k < 4; k++)
				fit_writer_na(w);
		} else {
			fit_writer_time(w, x->start_ns);
			fit_writer_time(w, x->end_ns);
			fit_writer_time(w, x->start_ns - j->submit_ns);
			fit_writer_int(w, x->finished);
		}
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

static int by_time(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The value that a share q of n ascending ones does not exceed. */
static int64_t quantile(const int64_t *a, size_t n, double q)
{
	size_t i = (size_t)ceil(q * (double)n);

	return a[i ? i - 1 : 0];
}

static int write_sweep_row(struct fit_writer *w, const struct fit_jobs *js, const struct fit_profiling *p,
			   const struct fit_profiler_params *q, struct fit_err *err)
{
	int64_t *wait = malloc((js->n + 1) * sizeof *wait), gpu_s = 0;
	double sum = 0;
	size_t n = 0;

	if (!wait)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < js->n; i++) {
		if (p->jobs[i].start_ns < 0)
			continue;
		wait[n] = p->jobs[i].start_ns - js->jobs[i].submit_ns;
		sum += fit_time_to_double(wait[n++]);
		gpu_s += (p->jobs[i].end_ns - p->jobs[i].start_ns) / FIT_NS_PER_S * js->jobs[i].gpus;
	}
	qsort(wait, n, sizeof *wait, by_time);
	fit_writer_time(w, q->limit_ns);
	fit_writer_str(w, q->naive ? "arrival" : "space-aware");
	fit_writer_int(w, (int64_t)js->n);
	fit_writer_int(w, (int64_t)p->n_profiled);
	fit_writer_int(w, (int64_t)p->n_finished);
	fit_writer_real(w, n ? (double)p->n_finished / (double)js->n : fit_real_na());
	fit_writer_real(w, n ? sum / (double)n : fit_real_na());
	for (int k = 0; k < 3; k++) {
		if (n)
			fit_writer_time(w, quantile(wait, n, k == 0 ? 0.5 : k == 1 ? 0.99 : 1));
		else
			fit_writer_na(w);
	}
	fit_writer_int(w, gpu_s);
	free(wait);
	return fit_writer_end_row(w, err);
}

static int run_one(struct fit_writer *w, const struct fit_jobs *js, const struct fit_profiler_params *q,
		   struct fit_err *err)
{
	struct fit_profiling p;
	int rc = fit_profiler_run(&p, js, q, err);

	if (rc)
		return rc;
	rc = write_sweep_row(w, js, &p, q, err);
	fit_profiling_release(&p);
	return rc;
}

static int write_sweep(const struct cli *cli, const struct lucid_profile_options *o,
		       const struct fit_jobs *js,
		       struct fit_profiler_params *q, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "order", FIT_TEXT, 0 }, { "jobs", FIT_INT, 0 },
		{ "profiled", FIT_INT, 0 }, { "done", FIT_INT, 0 }, { "done_share", FIT_REAL, 0 },
		{ "wait_mean_s", FIT_REAL, 0 }, { "wait_median_s", FIT_TIME, 0 }, { "wait_p99_s", FIT_TIME, 0 },
		{ "wait_max_s", FIT_TIME, 0 }, { "gpu_s", FIT_INT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "profiling", "jobs", js->hash, fields, 11, err);

	for (size_t i = 0; i < o->sweep.n && !rc; i++) {
		for (int naive = 0; naive < 2 && !rc; naive++) {
			q->naive = naive;
			rc = fit_parse_time(fit_text_of(o->sweep.items[i]), &q->limit_ns);	/* was checked */
			rc = rc ? rc : run_one(w, js, q, err);
		}
	}
	return cli_writer_end(w, rc, err);
}

static int profile_jobs(struct cli *cli, const struct lucid_profile_options *o, const struct fit_jobs *js,
			struct fit_profiler_params *q, struct fit_err *err)
{
	struct fit_profiling p;
	int rc;

	if (o->sweep.n)
		return write_sweep(cli, o, js, q, err);
	rc = fit_profiler_run(&p, js, q, err);
	if (rc)
		return rc;
	rc = write_jobs(cli, js, &p, err);
	if (!rc)
		cli_note(cli, "%zu jobs, %zu profiled, %zu done by then, %zu changes of size", js->n, p.n_profiled,
			 p.n_finished, p.n_changes);
	fit_profiling_release(&p);
	return rc;
}

static int read_forecast(const char *operand, struct fit_table *t, struct fit_forecast *f,
			 struct fit_err *err)
{
	static const struct fit_field fields[] = { { "time_s", FIT_TIME, FIT_F_NOT_NA },
						   { "jobs", FIT_REAL, FIT_F_NOT_NA },
						   { "gpus", FIT_REAL, FIT_F_NOT_NA } };
	int rc = fit_table_read(t, operand, fields, 3, err);

	for (size_t i = 1; i < t->n_rows && !rc; i++)
		if (t->columns[0].i[i] <= t->columns[0].i[i - 1])
			rc = fit_table_fail(t, i, FIT_EDATA, "time_s", err, "time goes back (expected more than before)");
	if (!rc)
		*f = (struct fit_forecast){ t->columns[0].i, t->columns[1].d, t->columns[2].d, t->n_rows };
	return rc;
}

static const char *check_profile(const struct lucid_profile_options *o, struct fit_profiler_params *q)
{
	q->nodes = (int32_t)o->nodes;
	q->node_gpus = (int32_t)o->node_gpus;
	q->limit_ns = o->limit_ns;
	q->most_gpus = o->most_gpus;
	q->naive = o->naive;
	q->shrink_gpus = 5 * (double)o->most_gpus;
	if (o->sweep.n && o->naive)
		return "--sweep and --naive: a sweep has both orders";
	return fit_profiler_params_check(q);
}

static int check_sweep(struct cli *cli, const struct lucid_profile_options *o)
{
	int64_t ns;

	for (size_t i = 0; i < o->sweep.n; i++)
		if (fit_parse_time(fit_text_of(o->sweep.items[i]), &ns) || ns < 0 ||
		    ns > FIT_REPLAY_SPAN_MAX_NS)
			return cli_usage(cli, "bad value '%s' for --sweep (expected seconds from 0 on)",
					 o->sweep.items[i]);
	return CLI_EXIT_OK;
}

static const struct cli_use profile_uses[] = { { "time", 1, "no --sweep" }, { NULL, 0, NULL } };

int lucid_profile(struct cli *cli, void *given)
{
	const struct lucid_profile_options *o = given;
	struct fit_profiler_params q = fit_profiler_params_default();
	struct fit_partitions whole;
	struct fit_jobs_params jp = { .partitions = &whole, .any_size = true, .skip_bad = o->skip_bad };
	struct fit_table table = { 0 };
	struct fit_forecast forecast = { 0 };
	struct fit_jobs js = { 0 };
	struct fit_err err;
	const char *wrong = check_profile(o, &q);
	int rc = cli_check_uses(cli, profile_uses, !o->sweep.n);

	rc = rc ? rc : check_sweep(cli, o);
	if (rc || wrong)
		return rc ? rc : cli_usage(cli, "%s", wrong);
	/* jobs of any size are read (none is too large for no cluster); the profiler's bound is --gpus */
	rc = fit_partitions_init(&whole, "1x1", false, &err);
	rc = rc ? rc : fit_jobs_read(&js, cli_operand(cli, 0), &jp, &err);
	if (!rc && o->forecast) {
		rc = read_forecast(o->forecast, &table, &forecast, &err);
		q.forecast = &forecast;
	}
	if (!rc && js.n_bad)
		cli_warn(cli, "%zu bad %s left out, the first: %s", js.n_bad, fit_plural(js.n_bad, "row", "rows"),
			 js.bad_why);
	if (!rc && !js.n)
		cli_warn(cli, "%s: no jobs", js.input);
	rc = rc ? rc : profile_jobs(cli, o, &js, &q, &err);
	fit_jobs_release(&js);
	fit_table_release(&table);
	fit_partitions_release(&whole);
	return rc ? cli_error(cli, &err) : 0;
}
