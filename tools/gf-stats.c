/* SPDX-License-Identifier: MIT */
/*
 * gf-stats: what a trace is like. One pass over a jobs table; writes the summary, or tables by hour of
 * day, by size, by any column. The figures are libfit/metrics/trace_stats.h.
 */
#include <string.h>

#include "libfit/metrics/log_event.h"
#include "libfit/metrics/trace_stats.h"
#include "tools/common/cli.h"
#include "libfit/base/id_set.h"

struct options {
	struct cli_list by;
	bool summary, hourly, sizes;
	const char *cluster;
};

#define O(field) offsetof(struct options, field)

static const struct cli_option option_table[] = {
	{ 0, "summary", CLI_FLAG, O(summary), NULL, NULL, "one row a figure; the default", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "hourly", CLI_FLAG, O(hourly), NULL, NULL, "one row an hour of day, by submission", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "sizes", CLI_FLAG, O(sizes), NULL, NULL, "one row a number of GPUs, with running shares", NULL,
	  0, 0, CLI_RESULT },
	{ 0, "by", CLI_LIST, O(by), "COLUMN", NULL,
	  "one row a value of COLUMN; may be given several times", NULL, 0, 0, CLI_RESULT },
	{ 'c', "cluster", CLI_TEXT, O(cluster), "NxG", NULL,
	  "nodes and GPUs a node, NxG[,NxG...]: the load that is offered to it", NULL, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* One line on what is missing, if anything is. */
static void say_missing(const struct cli *cli, const char *input, const struct fit_trace_stats *ts)
{
	static const struct { const char *metric, *text; } kinds[] = {
		{ "submit_missing", "submission" }, { "duration_missing", "duration" },
		{ "gpus_missing", "GPUs" },
	};
	double running = fit_trace_stats_value(ts, "duration_missing_running");
	double jobs = fit_trace_stats_value(ts, "jobs");
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < sizeof kinds / sizeof *kinds; i++) {
		double n = fit_trace_stats_value(ts, kinds[i].metric);

		if (!(n > 0))
			continue;
		rc = fit_str_printf(&list, "%s%.0f without %s", list.n ? ", " : "", n, kinds[i].text);
		if (!rc && i == 1 && running > 0)
			rc = fit_str_printf(&list, " (%.0f of them running at the end)", running);
	}
	if (!rc && fit_trace_stats_value(ts, "queue_negative") > 0)
		rc = fit_str_printf(&list, "%s%.0f started before they were submitted", list.n ? ", " : "",
				    fit_trace_stats_value(ts, "queue_negative"));
	if (!rc && list.n)
		cli_warn(cli, "%s: %.0f %s, left out of the figures that need it: %s", input, jobs,
			 fit_plural((uint64_t)jobs, "job", "jobs"), list.s);
	fit_str_release(&list);
}

/* Ids that came before. */
struct repeats {
	struct fit_id_set ids;
	uint64_t n, line, first;	/* how many; of the first of them: its line, and where it was before */
};

static int look_up(struct repeats *rep, const struct fit_job_row *job, uint64_t line, struct fit_err *err)
{
	uint64_t first;

	if (!job->id.s)
		return FIT_OK;
	if (fit_id_set_put(&rep->ids, job->id, line, &first))
		return fit_fail_nomem(err);
	if (first && !rep->n++) {
		rep->line = line;
		rep->first = first;
	}
	return FIT_OK;
}

static void say_repeats(const struct cli *cli, const char *input, const struct repeats *rep)
{
	if (rep->n)
		cli_warn(cli, "%s: %llu %s of a job_id that came before (the first on line %llu, as on line "
			 "%llu), counted like the others", input, (unsigned long long)rep->n,
			 fit_plural(rep->n, "row", "rows"), (unsigned long long)rep->line,
			 (unsigned long long)rep->first);
}

static int collect(struct fit_trace_stats **out, struct fit_reader *r,
		   struct fit_trace_stats_params *p, struct repeats *rep, struct fit_err *err)
{
	struct fit_text by[FIT_JOBS_BY_MAX];
	struct fit_jobs_reader jr;
	struct fit_job_row job;
	int rc = fit_jobs_begin(&jr, r, p->by, p->n_by, err);

	if (rc)
		return rc;
	p->day_offset_ns = jr.day_offset_ns;
	*out = fit_trace_stats_new(p);
	if (!*out)
		return fit_fail_nomem(err);
	while (!rc && !(rc = fit_jobs_next(&jr, &job, by, err))) {
		rc = look_up(rep, &job, fit_reader_line(r), err);
		rc = rc ? rc : fit_trace_stats_add(*out, &job, by, err);
	}
	if (rc == FIT_END)
		rc = FIT_OK;
	if (!rc)
		fit_trace_stats_finish(*out);
	return rc;
}

static int write_tables(const struct options *o, struct fit_trace_stats *ts,
			const struct fit_trace_stats_params *p, struct fit_writer *w,
			const struct fit_meta *meta, struct fit_err *err)
{
	bool one = (size_t)o->summary + (size_t)o->hourly + p->n_by == 1;
	struct fit_str name = { 0 };
	int rc = FIT_OK;

	if (o->summary)
		rc = fit_trace_stats_write_summary(ts, w, one ? NULL : "summary", meta, err);
	if (!rc && o->hourly)
		rc = fit_trace_stats_write_hours(ts, w, one ? NULL : "hourly", meta, err);
	for (size_t i = 0; !rc && i < p->n_by; i++) {
		bool sizes = o->sizes && i == 0;

		fit_str_clear(&name);
		rc = sizes ? fit_str_puts(&name, "sizes") : fit_str_printf(&name, "by_%s", p->by[i]);
		if (rc)
			rc = fit_fail_nomem(err);
		else
			rc = fit_trace_stats_write_by(ts, i, sizes, w, one ? NULL : name.s, meta, err);
	}
	fit_str_release(&name);
	return rc;
}

/* No part of a cluster that somebody asks for is empty. */
static int parse_cluster(const char *text, int64_t *ugpus)
{
	int64_t part;

	for (const char *s = text; s; ) {
		size_t n = strcspn(s, ",");

		if (fit_event_parse_cluster((struct fit_text){ s, n }, &part) || part < 1)
			return FIT_EINVAL;
		s = s[n] ? s + n + 1 : NULL;
	}
	return fit_event_parse_cluster(fit_text_of(text), ugpus);
}

static int run(struct cli *cli, void *given)
{
	struct options *o = given;
	const char *by[FIT_JOBS_BY_MAX] = { "gpus" };
	struct fit_trace_stats_params p = { .by = by, .n_by = o->sizes };
	struct fit_trace_stats *ts = NULL;
	struct repeats rep = { .n = 0 };
	struct fit_reader *r = NULL;
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	struct fit_err err = { 0 };
	char hash[FIT_HASH_HEX];
	int rc, status = CLI_EXIT_OK;

	if (o->by.n + o->sizes > FIT_JOBS_BY_MAX)
		return cli_usage(cli, "too many --by columns (expected at most %d)", FIT_JOBS_BY_MAX - o->sizes);
	if (o->cluster && parse_cluster(o->cluster, &p.capacity_ugpus))
		return cli_usage(cli, "bad value '%s' for --cluster (expected NxG[,NxG...], each from 1)",
				 o->cluster);
	for (size_t i = 0; i < o->by.n; i++)
		by[p.n_by++] = o->by.items[i];
	if (!o->hourly && !p.n_by)
		o->summary = true;
	rc = fit_reader_open(&r, cli_operand(cli, 0), &err);
	if (!rc)
		rc = collect(&ts, r, &p, &rep, &err);
	rc = rc ? rc : fit_reader_only(r, &err);
	if (!rc)
		fit_reader_hash(r, hash);
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, NULL, hash)))
		rc = fit_fail_nomem(&err);
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	rc = rc ? rc : write_tables(o, ts, &p, w, &meta, &err);
	rc = cli_writer_close(w, rc, &err);
	if (rc) {
		status = cli_error(cli, &err);
	} else {
		if (!(fit_trace_stats_value(ts, "jobs") > 0))
			cli_warn(cli, "%s: no jobs", fit_reader_input(r));
		say_missing(cli, fit_reader_input(r), ts);
		say_repeats(cli, fit_reader_input(r), &rep);
	}
	fit_id_set_release(&rep.ids);
	fit_meta_release(&meta);
	fit_trace_stats_free(ts);
	fit_reader_close(r);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "[JOBS]", "", option_table, 0, 1, .run = run }, { .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-stats", .verbs = verbs,
	.summary = "Sizes, durations, arrivals, statuses, GPU-hours and load of a jobs table.",
	.details = "More than one table is written as a stream of tables, in the order of the options above.",
};

int main(int argc, char **argv)
{
	struct options o = { 0 };

	return cli_main(&tool, argc, argv, &o);
}
