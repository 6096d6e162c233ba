/* SPDX-License-Identifier: MIT */
/*
 * gf-prof: profiling dumps into tables. Folders of the Pollux simulator become one profile store
 * (docs/formats/profile.md); everything else, from nvidia-smi logs to gradient norms, becomes one
 * table, row by row (traces/series.h). `gf-prof summarize` sums a utilisation series up, by job or
 * GPU.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/series_summary.h"
#include "libfit/model/profile_store.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"
#include "traces/jobs.h"
#include "traces/prof_pollux.h"
#include "traces/series.h"

#define MAX_FORMATS 64
#define POLLUX 0		/* its place among the formats; the others follow */

struct options {
	int from;
	struct cli_list max_local;
	const char *host, *app, *columns, *time;
	int64_t period_ns, bin_ns, skip_bad;
	/* summarize */
	const char *jobs;
	int by;			/* -1: not given */
	int64_t slack_ns, offset_ns;
	double steady, idle;
	bool has_offset;
	const char *offset;
};

static const char *formats[MAX_FORMATS + 1] = { "pollux" };

static const struct cli_option options[] = {
	{ 0, "from", CLI_CHOICE, offsetof(struct options, from), "FORMAT", NULL,
	  "what the input is; see below", NULL, 0, 0, CLI_RESULT | CLI_REQUIRED },
	{ 0, "host", CLI_TEXT, offsetof(struct options, host), "NAME", NULL,
	  "host of a dump that does not name it", NULL, 0, 0, CLI_RESULT },
	{ 0, "app", CLI_TEXT, offsetof(struct options, app), "NAME", NULL,
	  "application of a dump that does not name it", NULL, 0, 0, CLI_RESULT },
	{ 0, "columns", CLI_TEXT, offsetof(struct options, columns), "LIST", NULL,
	  "nvidia-smi without a header row: its columns, as queried", NULL, 0, 0, CLI_RESULT },
	{ 0, "time", CLI_TEXT, offsetof(struct options, time), "TIME", NULL,
	  "of the first sample: seconds, or 'YYYY-MM-DD HH:MM:SS'", NULL, 0, 0, CLI_RESULT },
	{ 0, "period", CLI_TIME, offsetof(struct options, period_ns), "SECONDS", "1",
	  "between samples, for dumps without times", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "bin", CLI_TIME, offsetof(struct options, bin_ns), "SECONDS", "1",
	  "over which kernels become utilisation", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "skip-bad", CLI_INT, offsetof(struct options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, "max-local", CLI_LIST, offsetof(struct options, max_local), "APP=N", NULL,
	  "pollux: largest batch size a GPU, where it is not the largest measured", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const char *const by_names[] = { "job", "gpu", "all", NULL };

static const struct cli_option summarize_options[] = {
	{ 0, "jobs", CLI_TEXT, offsetof(struct options, jobs), "JOBS", NULL,
	  "jobs table with start_s and hosts: sum up by job", NULL, 0, 0, 0 },
	{ 0, "by", CLI_CHOICE, offsetof(struct options, by), "WHAT", "job with --jobs, else gpu",
	  "a row for each", by_names, 0, 0, CLI_RESULT },
	{ 0, "offset", CLI_TEXT, offsetof(struct options, offset), "SECONDS", NULL,
	  "add to the times of the series, whatever the origins say", NULL, 0, 0, CLI_RESULT },
	{ 0, "slack", CLI_TIME, offsetof(struct options, slack_ns), "SECONDS", "60",
	  "by job: so much may a sample be out of order", NULL, 0, 1e9, CLI_RESULT },
	{ 0, "period", CLI_TIME, offsetof(struct options, period_ns), "SECONDS", "median gap",
	  "between samples of a GPU, for the coverage", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "steady", CLI_REAL, offsetof(struct options, steady), "POINTS", "10",
	  "steady: within so many points of the median", NULL, 0, 100, CLI_RESULT },
	{ 0, "idle", CLI_REAL, offsetof(struct options, idle), "PERCENT", "1",
	  "idle: no sample above", NULL, 0, 100, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- pollux: --max-local ---- */

struct overrides {
	struct fit_pollux_override *list;
	char **names;		/* what list[].app points to, in the order given */
	size_t n;
};

static void overrides_free(struct overrides *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->names[i]);
	free(o->names);
	free(o->list);
}

static int compare_overrides(const void *a, const void *b)
{
	const struct fit_pollux_override *x = a, *y = b;

	return strcmp(x->app, y->app);
}

/* APP=N, sorted by APP; a wrong one is a wrong command line. */
static int parse_overrides(struct cli *cli, const struct cli_list *given, struct overrides *o,
			   struct fit_err *err)
{
	o->list = calloc(given->n + 1, sizeof *o->list);
	o->names = calloc(given->n + 1, sizeof *o->names);
	if (!o->list || !o->names) {
		(void)fit_fail_nomem(err);
		return cli_error(cli, err);
	}
	for (size_t i = 0; i < given->n; i++) {
		const char *eq = strrchr(given->items[i], '=');
		struct fit_pollux_override *e = &o->list[o->n];

		if (!eq || eq == given->items[i] ||
		    fit_parse_int64(fit_text_of(eq + 1), &e->max_local_bsz) || e->max_local_bsz < 1)
			return cli_usage(cli, "bad value '%s' for --max-local (expected APP=N)",
					 given->items[i]);
		o->names[o->n] = fit_strdup((struct fit_text){ given->items[i],
							       (size_t)(eq - given->items[i]) });
		e->app = o->names[o->n];
		if (!e->app) {
			(void)fit_fail_nomem(err);
			return cli_error(cli, err);
		}
		o->n++;
	}
	qsort(o->list, o->n, sizeof *o->list, compare_overrides);
	for (size_t i = 1; i < o->n; i++)
		if (strcmp(o->list[i].app, o->list[i - 1].app) == 0)
			return cli_usage(cli, "--max-local names application '%s' twice",
					 o->list[i].app);
	return CLI_EXIT_OK;
}

/* ---- pollux: the summary of -v, and output ---- */

static void describe_profiles(const struct cli *cli, const struct fit_profile_tables *t,
			      const struct fit_profile_rows *rows)
{
	const struct fit_table *apps = &t->t[FIT_PROFILE_APPS];
	const int64_t *flat = t->t[FIT_PROFILE_SIMPLICES].columns[FIT_SIMPLEX_DEGENERATE].i;
	const int64_t *placement = t->t[FIT_PROFILE_PLACEMENTS].columns[FIT_PLACE_PLACEMENT].i;

	for (size_t i = 0; i < apps->n_rows; i++) {
		const struct fit_profile_rows *r = &rows[i];
		size_t n_flat = 0, n_placements = 0;

		for (size_t s = 0; s < r->n[FIT_PROFILE_SIMPLICES]; s++)
			n_flat += flat[r->at[FIT_PROFILE_SIMPLICES] + s] != 0;
		for (size_t p = 0; p < r->n[FIT_PROFILE_PLACEMENTS]; p++) {
			const int64_t *at = placement + r->at[FIT_PROFILE_PLACEMENTS] + p;

			n_placements += p == 0 || at[0] != at[-1];
		}
		cli_note(cli, "%s: %zu runs of %lld epochs (batch sizes %lld to %lld), %zu placements "
			 "(%zu rows, %lld to %lld samples a GPU), %zu rows on five nodes and more; "
			 "%zu points, %zu simplices (%zu flat)",
			 fit_column_text(&apps->columns[0], i).s,
			 r->n[FIT_PROFILE_VALIDATION] / (size_t)apps->columns[FIT_APPS_EPOCHS].i[i],
			 (long long)apps->columns[FIT_APPS_EPOCHS].i[i],
			 (long long)apps->columns[FIT_APPS_INIT_BATCH].i[i],
			 (long long)apps->columns[FIT_APPS_MAX_BATCH].i[i], n_placements,
			 r->n[FIT_PROFILE_PLACEMENTS],
			 (long long)apps->columns[FIT_APPS_MIN_LOCAL].i[i],
			 (long long)apps->columns[FIT_APPS_MAX_LOCAL].i[i],
			 r->n[FIT_PROFILE_SCALABILITY], r->n[FIT_PROFILE_POINTS],
			 r->n[FIT_PROFILE_SIMPLICES], n_flat);
	}
}

static int set_meta(const struct cli *cli, const struct overrides *o, const char *hash,
		    struct fit_profile_tables *t)
{
	struct fit_str list = { 0 };
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	for (size_t i = 0; i < o->n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s=%lld", i ? "," : "", o->list[i].app,
				    (long long)o->list[i].max_local_bsz);
	if (!rc && o->n)
		rc = fit_meta_add(&meta, "max_local", list.s);
	if (!rc)
		rc = cli_meta_input(&meta, NULL, hash);
	for (int k = 0; k < FIT_PROFILE_KINDS && !rc; k++)
		rc = fit_meta_copy(&t->t[k].meta, &meta);
	fit_meta_release(&meta);
	fit_str_release(&list);
	return rc;
}

static int write_stream(const struct cli *cli, const struct fit_table *t, size_t n,
			struct fit_err *err)
{
	struct fit_writer *w;
	int rc = cli_writer_open(cli, &w, err);

	if (rc)
		return rc;
	for (size_t k = 0; k < n && !rc; k++)
		rc = fit_table_write(&t[k], w, err);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static void warn_passed_over(void *arg, const char *folder)
{
	cli_warn(arg, "%s: passed over (no placements.csv)", folder);
}

static int run_pollux(struct cli *cli, const struct options *o)
{
	bool store = cli->out && fit_is_store(cli->out);
	struct fit_err err = { 0 };
	struct overrides given = { 0 };
	struct fit_profile_tables t = { 0 };
	struct fit_profile_rows *rows = NULL;
	char hash[FIT_HASH_HEX];
	int rc, status;

	if (cli->n_operands < 1)
		return cli_usage(cli, "too few operands (expected DIR)");
	if (store && strstr(cli->out, ":/"))
		return cli_usage(cli, "bad value '%s' for --output (a profile fills a whole store; "
				 "expected FILE.h5)", cli->out);
	status = parse_overrides(cli, &o->max_local, &given, &err);
	if (status)
		goto out;
	rc = fit_profile_tables_init(&t, &err);
	if (!rc) {
		const struct fit_pollux_options how = { given.list, given.n, warn_passed_over, cli };
		const struct fit_pollux_tables into = {
			&t.t[FIT_PROFILE_APPS], &t.t[FIT_PROFILE_PLACEMENTS],
			&t.t[FIT_PROFILE_SCALABILITY], &t.t[FIT_PROFILE_VALIDATION],
		};

		rc = fit_pollux_read_profiles(cli_operand(cli, 0), &how, &into, hash, &err);
	}
	if (!rc)
		rc = fit_profile_tables_prepare(&t, &err);
	if (!rc)
		rc = fit_profile_tables_check(&t, FIT_PROFILE_KINDS, &rows, &err);
	if (!rc) {
		describe_profiles(cli, &t, rows);
		if (set_meta(cli, &given, hash, &t))
			rc = fit_fail_nomem(&err);
	}
	if (!rc)
		rc = store ? fit_profile_tables_write(&t, cli->out, &err) :
		     write_stream(cli, t.t, FIT_PROFILE_KINDS, &err);
	if (rc == FIT_EINVAL)
		status = cli_usage(cli, "%s", err.msg);
	else if (rc)
		status = cli_error(cli, &err);
out:
	free(rows);
	fit_profile_tables_release(&t);
	overrides_free(&given);
	return status;
}

/* ---- every other format: the report ---- */

static void say_counts(const struct cli *cli, const char *input, const char *what,
		       uint64_t n, const struct fit_series_counts *c)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < c->n_by; i++)
		rc = fit_str_printf(&list, "%s%llu %s", i ? ", " : "", (unsigned long long)c->by[i].n,
				    c->by[i].reason);
	if (n && list.s)
		cli_warn(cli, "%s: %llu %s (%s)", input, (unsigned long long)n, what, list.s);
	fit_str_release(&list);
}

static void say_left_out(const struct cli *cli, const char *input, const struct fit_series_report *r)
{
	say_counts(cli, input, r->left_out.n == 1 ? "record left out" : "records left out",
		   r->left_out.n, &r->left_out);
}

static void say_report(const struct cli *cli, const char *input, bool series,
		       const struct fit_series_report *r)
{
	static const char *const names[] = { "gpu_util_pct", "mem_util_pct", "fb_used_mib" };
	const char *note = r->notes.s;
	char first[FIT_NUM_MAX], last[FIT_NUM_MAX], what[64];

	for (const char *end; note && (end = strchr(note, '\n')); note = end + 1)
		cli_warn(cli, "%s: %.*s", input, (int)(end - note), note);
	say_left_out(cli, input, r);
	say_counts(cli, input, r->passed_over.n == 1 ? "line passed over" : "lines passed over",
		   r->passed_over.n, &r->passed_over);
	for (int i = 0; series && i < 3; i++) {
		snprintf(what, sizeof what, "of %llu samples without %s", (unsigned long long)r->rows,
			 names[i]);
		say_counts(cli, input, what, r->cells[i].missing, &r->cells[i].words);
		if (r->cells[i].outside)
			cli_warn(cli, "%s: %llu values of %s out of range", input,
				 (unsigned long long)r->cells[i].outside, names[i]);
	}
	if (r->back)
		cli_warn(cli, "%s: time goes back %llu times, first on line %llu", input,
			 (unsigned long long)r->back, (unsigned long long)r->back_line);
	if (r->rows == 0)
		cli_warn(cli, "%s: no rows", input);
	cli_note(cli, "%s: %llu records, %llu rows, %llu left out", input,
		 (unsigned long long)r->records, (unsigned long long)r->rows,
		 (unsigned long long)r->left_out.n);
	if (r->has_range) {
		fit_format_time(first, r->first_ns);
		fit_format_time(last, r->last_ns);
		cli_note(cli, "%s: from %s s to %s s%s%s", input, first, last,
			 r->origin[0] ? " after " : "", r->origin);
	}
}

static void list_record(void *arg, uint64_t line, const char *reason)
{
	cli_note(arg, "line %llu: %s", (unsigned long long)line, reason);
}

/* ---- every other format: output ---- */

struct output {
	struct cli *cli;
	struct fit_writer *w;
	const struct fit_field *fields;
	size_t n;
};

static int begin_output(void *ctx, const struct fit_field *fields, size_t n, const char *origin,
			struct fit_err *err)
{
	struct output *out = ctx;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(out->cli, &meta, false);

	if (!rc && *origin)
		rc = fit_meta_add(&meta, "origin", origin);
	out->fields = fields;
	out->n = n;
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(out->cli, &out->w, err);
	if (!rc)
		rc = fit_writer_begin(out->w, NULL, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static int write_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	struct output *out = ctx;

	for (size_t i = 0; i < out->n; i++)
		fit_writer_cell(out->w, out->fields[i].type, &cells[i]);
	return fit_writer_end_row(out->w, err);
}

static int end_output(struct output *out, const struct fit_series_report *r, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	char num[FIT_NUM_MAX];
	int rc = FIT_OK;

	if (r->left_out.n) {
		fit_format_int64(num, (int64_t)r->left_out.n);
		rc = fit_meta_add(&meta, "left_out", num);
	}
	if (!rc)
		rc = cli_meta_input(&meta, NULL, r->hash);
	rc = rc ? fit_fail_nomem(err) : fit_writer_end_meta(out->w, &meta, err);
	if (!rc)
		rc = fit_writer_end(out->w, err);
	fit_meta_release(&meta);
	return rc;
}

/* --time: seconds, or a calendar time. */
static bool parse_time(const char *text, struct fit_series_params *p)
{
	if (!text)
		return true;
	p->has_time = true;
	if (fit_parse_time(fit_text_of(text), &p->time_ns) == FIT_OK)
		return true;
	p->time_is_calendar = true;
	return fit_parse_datetime(fit_text_of(text), &p->time_ns) == FIT_OK;
}

static int run_series(struct cli *cli, const struct options *o)
{
	const struct fit_series_format *f = &fit_series_formats[o->from - 1];
	struct fit_series_params p = fit_series_params_default();
	struct output out = { .cli = cli };
	const struct fit_series_sink sink = { begin_output, write_row, &out };
	struct fit_series_report report = { 0 };
	const char *input = strcmp(cli_operand(cli, 0), "-") ? cli_operand(cli, 0) : "<stdin>";
	struct fit_err err = { 0 };
	int rc, status = CLI_EXIT_OK;

	if (!parse_time(o->time, &p))
		return cli_usage(cli, "bad value '%s' for --time (expected seconds, or YYYY-MM-DD HH:MM:SS)",
				 o->time);
	if (o->max_local.n)
		return cli_usage(cli, "--max-local needs --from pollux");
	p.skip_bad = o->skip_bad;
	p.host = o->host;
	p.app = o->app;
	p.columns = o->columns;
	p.period_ns = o->period_ns;
	p.bin_ns = o->bin_ns ? o->bin_ns : p.bin_ns;
	p.listen = cli->verbose ? list_record : NULL;
	p.listen_ctx = cli;
	rc = fit_series_read(f, cli_operand(cli, 0), &p, &sink, &report, &err);
	if (!rc)
		rc = end_output(&out, &report, &err);
	if (rc) {	/* why is enough, but what was left out is not hidden */
		say_left_out(cli, input, &report);
		fit_writer_abort(out.w);
	} else {
		say_report(cli, input, f->flags & FIT_SERIES_F_SERIES, &report);
		rc = fit_writer_close(out.w, &err);
	}
	if (rc)
		status = cli_error(cli, &err);
	fit_series_report_release(&report);
	return status;
}

/* ---- summarize ---- */

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
	const struct options *o = ctx;
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

static int run_summarize(struct cli *cli, struct options *o)
{
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
	if (o->jobs && strcmp(o->jobs, "-") == 0 && strcmp(cli_operand(cli, 0), "-") == 0)
		return cli_usage(cli, "jobs and series cannot both come from standard input");
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
		     write_stream(cli, &out, 1, &err);
	}
	if (rc)
		status = cli_error(cli, &err);
	fit_reader_close(series);
	fit_table_release(&jobs);
	fit_table_release(&out);
	return status;
}

/* ---- the tool ---- */

/* The list of formats for --help, and their names for --from. */
static int list_formats(struct fit_str *text)
{
	int rc = fit_str_puts(text, "Formats (--from):\n  pollux             folders of the Pollux simulator: "
			      "one application's (it has a\n                     placements.csv) or a folder "
			      "of them. With -o FILE.h5 a store, else\n                     a stream of seven "
			      "tables");

	for (size_t i = 0; !rc && i < MAX_FORMATS - 1 && fit_series_formats[i].name; i++) {
		formats[i + 1] = fit_series_formats[i].name;
		rc = fit_str_printf(text, "\n  %-18s %s", fit_series_formats[i].name,
				    fit_series_formats[i].summary);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct cli_option from_options[sizeof options / sizeof *options];
	const struct cli_verb verbs[] = {
		{ "", "[FILE|DIR]", "", from_options, 0, 1 },
		{ "summarize", "[SERIES]", "sum a utilisation series up, by job or GPU",
		  summarize_options, 0, 1 },
		{ NULL, NULL, NULL, NULL, 0, 0 }
	};
	struct cli_tool tool = {
		.name = "gf-prof", .verbs = verbs,
		.summary = "Profiling dumps into tables: profiles, utilisation series and their summaries."
	};
	struct options o = { .by = -1, .slack_ns = 60 * FIT_NS_PER_S, .steady = 10, .idle = 1 };
	struct fit_str details = { 0 };
	struct cli cli;
	int rc;

	memcpy(from_options, options, sizeof options);
	from_options[0].choices = formats;
	if (list_formats(&details)) {
		fprintf(stderr, "gf-prof: out of memory\n");
		return CLI_EXIT_MACHINE;
	}
	tool.details = details.s;
	rc = cli_start(&cli, &tool, argc, argv, &o);
	if (rc < 0) {
		if (cli.verb->name[0])
			rc = run_summarize(&cli, &o);
		else
			rc = o.from == POLLUX ? run_pollux(&cli, &o) : run_series(&cli, &o);
		rc = cli_finish(&cli, rc);
	}
	free(o.max_local.items);
	fit_str_release(&details);
	return rc;
}
