/* SPDX-License-Identifier: MIT */
/* gf-prof summarize: a utilisation series summed up, by job or GPU. */
#include "tools/prof_parts.h"

#include <stdio.h>

#include "libfit/base/num.h"
#include "libfit/metrics/series_summary.h"
#include "traces/jobs.h"

static const char *const by_names[] = { "job", "gpu", "all", NULL };

const struct cli_option prof_summarize_options[] = {
	{ 0, "jobs", CLI_TEXT, offsetof(struct prof_summary, jobs), "JOBS", NULL,
	  "jobs table with start_s and hosts: sum up by job", NULL, 0, 0, CLI_INPUT },
	{ 0, "by", CLI_CHOICE, offsetof(struct prof_summary, by), "WHAT", "job with --jobs, else gpu",
	  "a row for each", by_names, 0, 0, CLI_RESULT },
	{ 0, "offset", CLI_TEXT, offsetof(struct prof_summary, offset), "SECONDS", NULL,
	  "add to the times of the series, whatever the origins say", NULL, 0, 0, CLI_RESULT },
	{ 0, "slack", CLI_TIME, offsetof(struct prof_summary, slack_ns), "SECONDS", "60",
	  "by job: so much may a sample be out of order", NULL, 0, 1e9, CLI_RESULT },
	{ 0, "period", CLI_TIME, offsetof(struct prof_summary, period_ns), "SECONDS", "median gap",
	  "between samples of a GPU, for the coverage", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "steady", CLI_REAL, offsetof(struct prof_summary, steady), "POINTS", "10",
	  "steady: within so many points of the median", NULL, 0, 100, CLI_RESULT },
	{ 0, "idle", CLI_REAL, offsetof(struct prof_summary, idle), "PERCENT", "1",
	  "idle: no sample above", NULL, 0, 100, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

int prof_write_tables(const struct cli *cli, const struct fit_table *t, size_t n,
			struct fit_err *err)
{
	struct fit_writer *w;
	int rc = cli_writer_open(cli, &w, err);

	if (rc)
		return rc;
	for (size_t k = 0; k < n && !rc; k++)
		rc = fit_table_write(&t[k], w, err);
	return cli_writer_close(w, rc, err);
}

/* "2024-03-01T00:00:00", "…Z" or "…+08:00": ns since 1970 of the clock, and the offset if any. */
static int parse_origin(const char *text, int64_t *ns, int64_t *offset_ns, bool *has_offset)
{
	struct fit_text t = fit_text_of(text);
	struct fit_zone z = { 0 };
	struct fit_err err;

	*has_offset = t.n > 19;
	*offset_ns = 0;
	if (t.n < 19 || fit_parse_datetime((struct fit_text){ t.s, 19 }, ns))
		return FIT_EPARSE;
	if (!*has_offset)
		return FIT_OK;
	if (fit_zone_parse(&z, text + 19, &err))
		return FIT_EPARSE;
	*offset_ns = z.std_s * FIT_NS_PER_S;
	return FIT_OK;
}

static int align(void *ctx, const char *jobs_origin, const char *series_origin, int64_t *offset_ns,
		 struct fit_err *err)
{
	const struct prof_summary *o = ctx;
	int64_t jobs, series, jobs_offset, series_offset;
	bool jobs_zoned, series_zoned;

	*offset_ns = o->has_offset ? o->offset_ns : 0;
	if (o->has_offset || (!jobs_origin && !series_origin))
		return FIT_OK;
	if (!jobs_origin || !series_origin)
		return fit_fail(err, FIT_EDATA, "the %s have an origin (%s) and the %s have none (expected "
				"--offset)", jobs_origin ? "jobs" : "samples",
				jobs_origin ? jobs_origin : series_origin, jobs_origin ? "samples" : "jobs");
	if (parse_origin(jobs_origin, &jobs, &jobs_offset, &jobs_zoned) ||
	    parse_origin(series_origin, &series, &series_offset, &series_zoned))
		return fit_fail(err, FIT_EDATA, "origins '%s' and '%s' cannot be compared (expected --offset)",
				jobs_origin, series_origin);
	/* a clock that does not say its zone is taken for the one that does */
	*offset_ns = series - jobs;
	if (jobs_zoned && series_zoned)
		*offset_ns += jobs_offset - series_offset;
	return FIT_OK;
}

static int summary_meta(const struct cli *cli, const struct fit_table *jobs,
			const struct fit_series_summary_report *r, struct fit_table *t)
{
	char num[FIT_NUM_MAX];
	const char *origin = jobs ? fit_meta_get(&jobs->meta, "origin") : NULL;
	int rc = cli_meta(cli, &t->meta, false);

	if (!rc && origin)
		rc = fit_meta_add(&t->meta, "origin", origin);
	if (!rc && r->period_ns && jobs) {
		fit_format_time(num, r->period_ns);
		rc = fit_meta_set(&t->meta, "period", num);
	}
	if (!rc && jobs)
		rc = cli_meta_input(&t->meta, "jobs", jobs->hash);
	return rc ? rc : cli_meta_input(&t->meta, NULL, r->hash);
}

static void say_summary(const struct cli *cli, const char *input, bool by_job,
			const struct fit_series_summary_report *r)
{
	if (!r->samples)
		cli_warn(cli, "%s: no samples", input);
	if (r->outside)
		cli_warn(cli, "%s: %llu utilisations outside 0 to 100 left out", input,
			 (unsigned long long)r->outside);
	if (r->without_time && by_job)
		cli_warn(cli, "%s: %llu samples without a time left out", input,
			 (unsigned long long)r->without_time);
	if (by_job && r->no_job)
		cli_warn(cli, "%s: %llu of %llu samples in no job", input, (unsigned long long)r->no_job,
			 (unsigned long long)r->samples);
	if (by_job && r->jobs_without_samples)
		cli_warn(cli, "%s: %llu of %llu jobs without samples (%llu of them without start or hosts)",
			 input, (unsigned long long)r->jobs_without_samples, (unsigned long long)r->jobs,
			 (unsigned long long)r->jobs_not_started);
}

int prof_summarize(struct cli *cli, void *given)
{
	struct prof_summary *o = given;
	struct fit_series_summary_params p = fit_series_summary_default();
	struct fit_series_summary_report report = { 0 };
	struct fit_table jobs = { 0 }, out = { 0 };
	struct fit_reader *series = NULL;
	struct fit_err err = { 0 };
	int rc = FIT_OK, status = CLI_EXIT_OK;

	p.by = o->by >= 0 ? (enum fit_series_by)o->by : o->jobs ? FIT_SERIES_BY_JOB : FIT_SERIES_BY_GPU;
	if ((p.by == FIT_SERIES_BY_JOB) != (o->jobs != NULL))
		return cli_usage(cli, o->jobs ? "--jobs needs --by job" : "--by job needs --jobs");
	o->has_offset = o->offset != NULL;
	if (o->offset && fit_parse_time(fit_text_of(o->offset), &o->offset_ns))
		return cli_usage(cli, "bad value '%s' for --offset (expected seconds)", o->offset);
	p.slack_ns = o->slack_ns;
	p.period_ns = o->period_ns;
	p.steady_pct = o->steady;
	p.idle_pct = o->idle;
	p.align = align;
	p.align_ctx = o;
	if (o->jobs)
		rc = fit_table_read(&jobs, o->jobs, fit_series_job_fields, fit_series_n_job_fields, &err);
	if (!rc)
		rc = fit_reader_open(&series, cli_operand(cli, 0), &err);
	if (!rc)
		rc = fit_series_summarise(series, o->jobs ? &jobs : NULL, &p, &out, &report, &err);
	if (!rc) {
		say_summary(cli, fit_reader_input(series), p.by == FIT_SERIES_BY_JOB, &report);
		rc = summary_meta(cli, o->jobs ? &jobs : NULL, &report, &out) ? fit_fail_nomem(&err) :
		     prof_write_tables(cli, &out, 1, &err);
	}
	if (rc)
		status = cli_error(cli, &err);
	fit_reader_close(series);
	fit_table_release(&jobs);
	fit_table_release(&out);
	return status;
}
