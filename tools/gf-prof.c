/* SPDX-License-Identifier: MIT */
/*
 * gf-prof: profiling dumps into tables. Folders of the Pollux simulator become one profile store
 * (docs/formats/profile.md); everything else, from nvidia-smi logs to gradient norms, becomes one
 * table, row by row (traces/series.h). `gf-prof summarize` sums a utilisation series up, by job or
 * GPU.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/num.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"
#include "tools/prof_parts.h"
#include "traces/jobs.h"
#include "traces/series.h"

#define MAX_FORMATS 64
enum { AUTO, POLLUX, SERIES };	/* places among the formats; from SERIES on, fit_series_formats[] */

struct options {
	struct prof_summary summary;	/* first: its option table counts from its own start */
	int from;
	struct cli_list max_local;
	const char *gpu_type;
	const char *host, *app, *columns, *time;
	int64_t period_ns, bin_ns, skip_bad;
	const char *tz;
};

static const char *formats[MAX_FORMATS + 1] = { "auto", "pollux" };

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
	{ 0, "tz", CLI_TEXT, offsetof(struct options, tz), "ZONE", NULL,
	  "zone of times without offset: +08:00, US/Pacific, a POSIX rule", NULL, 0, 0, CLI_RESULT },
	{ 0, "period", CLI_TIME, offsetof(struct options, period_ns), "SECONDS", "1",
	  "between samples, for dumps without times", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "bin", CLI_TIME, offsetof(struct options, bin_ns), "SECONDS", "1",
	  "over which kernels become utilisation", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "skip-bad", CLI_INT, offsetof(struct options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, "max-local", CLI_LIST, offsetof(struct options, max_local), "APP=N", NULL,
	  "pollux: largest batch size a GPU, where it is not the largest measured", NULL, 0, 0, 0 },
	{ 0, "gpu-type", CLI_TEXT, offsetof(struct options, gpu_type), "TYPE", NULL,
	  "pollux: read placements-TYPE.csv and scalability-TYPE.csv", NULL, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

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
	if (r->no_hour)
		cli_warn(cli, "%s: %llu time%s in the hour that the clock leaves out in spring", input,
			 (unsigned long long)r->no_hour, r->no_hour == 1 ? "" : "s");
	if (r->back)
		cli_warn(cli, "%s: time goes back %llu time%s, first on line %llu", input,
			 (unsigned long long)r->back, r->back == 1 ? "" : "s", (unsigned long long)r->back_line);
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
	const char *from;
	struct fit_writer *w;
	const char *tz_hash;		/* of the file of the zone; NULL: it has none */
};

static int begin_output(void *ctx, const struct fit_field *fields, size_t n, const char *origin,
			struct fit_err *err)
{
	struct output *out = ctx;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(out->cli, &meta, false);

	/* the format itself, not "auto": the same input gives the same table */
	if (!rc)
		rc = fit_meta_set(&meta, "from", out->from);
	if (!rc && out->tz_hash)
		rc = cli_meta_input(&meta, "tz", out->tz_hash);
	if (!rc && *origin)
		rc = fit_meta_add(&meta, "origin", origin);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(out->cli, &out->w, err);
	if (!rc)
		rc = fit_writer_begin(out->w, NULL, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static int write_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	struct output *out = ctx;

	return fit_writer_row(out->w, cells, err);
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

/* Wrong usage that shows when the format is known; -1: none. */
static int check_options(struct cli *cli, const struct options *o, const struct fit_series_format *f)
{
	if (o->max_local.n)
		return cli_usage(cli, "--max-local needs --from pollux");
	if (o->gpu_type)
		return cli_usage(cli, "--gpu-type needs --from pollux");
	if (o->tz && !(f->flags & FIT_SERIES_F_LOCAL))
		return cli_usage(cli, "--tz means nothing to %s, which has no calendar times without a zone",
				 f->name);
	return -1;
}

static int run_series(struct cli *cli, const struct options *o, const struct fit_series_format *f,
		      struct fit_source *source)
{
	struct fit_series_params p = fit_series_params_default();
	struct output out = { .cli = cli, .from = f->name };
	const struct fit_series_sink sink = { begin_output, write_row, &out };
	struct fit_series_report report = { 0 };
	const char *input = source ? fit_source_name(source) : cli_operand(cli, 0);
	struct fit_err err = { 0 };
	int rc, status;

	if (!parse_time(o->time, &p))
		return cli_usage(cli, "bad value '%s' for --time (expected seconds, or YYYY-MM-DD HH:MM:SS)",
				 o->time);
	if (o->tz && (rc = fit_zone_parse(&p.zone, o->tz, &err)))
		return rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	out.tz_hash = fit_zone_hash(&p.zone);
	p.skip_bad = o->skip_bad;
	p.host = o->host;
	p.app = o->app;
	p.columns = o->columns;
	p.period_ns = o->period_ns;
	p.bin_ns = o->bin_ns ? o->bin_ns : p.bin_ns;
	p.listen = cli->verbose ? list_record : NULL;
	p.listen_ctx = cli;
	rc = fit_series_read_source(f, cli_operand(cli, 0), source, &p, &sink, &report, &err);
	if (!rc)
		rc = end_output(&out, &report, &err);
	if (rc) {	/* why is enough, but what was left out is not hidden */
		say_left_out(cli, input, &report);
		fit_writer_abort(out.w);
	} else {
		say_report(cli, input, f->flags & FIT_SERIES_F_SERIES, &report);
		rc = fit_writer_close(out.w, &err);
	}
	status = rc ? cli_error(cli, &err) : CLI_EXIT_OK;
	fit_series_report_release(&report);
	fit_zone_release(&p.zone);
	return status;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	const char *operand = cli_operand(cli, 0), *name = o->from == AUTO ? NULL : formats[o->from];
	const struct fit_series_format *f = name ? fit_series_format_find(name) : NULL;
	bool folder = is_folder(operand) && (!f || f->flags & FIT_SERIES_F_FOLDER);
	struct fit_source *source = NULL;
	char why[FIT_TRACE_WHY] = "";
	struct fit_err err = { 0 };
	int rc = FIT_OK, status;

	if (o->from == POLLUX)
		return prof_pollux(cli, &o->max_local, o->gpu_type);
	status = f ? check_options(cli, o, f) : -1;
	if (status >= 0)
		return status;
	if (!folder)
		rc = fit_source_open(&source, operand, &err);
	if (!rc && !name) {
		rc = fit_series_recognise(operand, source, &name, why, &err);
		if (!rc && !cli->quiet)
			fprintf(stderr, "gf-prof: %s: recognised %s (%s)\n",
				source ? fit_source_name(source) : operand, name, why);
	}
	if (rc)
		status = cli_error(cli, &err);
	else if (!strcmp(name, "pollux"))
		status = prof_pollux(cli, &o->max_local, o->gpu_type);
	else if ((status = check_options(cli, o, fit_series_format_find(name))) < 0)
		status = run_series(cli, o, fit_series_format_find(name), source);
	fit_source_close(source);
	return status;
}

/* ---- the tool ---- */

/* The list of formats for --help, and their names for --from. */
static int list_formats(struct fit_str *text)
{
	int rc = fit_str_puts(text, "Formats (--from):\n  auto               the format is recognised\n"
			      "  pollux             folders of the Pollux simulator: "
			      "one application's (it has a\n                     placements.csv) or a folder "
			      "of them. With -o FILE.h5 a store, else\n                     a stream of seven "
			      "tables");

	for (size_t i = 0; !rc && i < MAX_FORMATS - SERIES && fit_series_formats[i].name; i++) {
		formats[i + SERIES] = fit_series_formats[i].name;
		rc = fit_str_printf(text, "\n  %-18s %s", fit_series_formats[i].name,
				    fit_series_formats[i].summary);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct cli_option from_options[sizeof options / sizeof *options];
	const struct cli_verb verbs[] = {
		{ "", "[FILE|DIR]", "", from_options, 0, 1, .run = run },
		{ "summarize", "[SERIES]", "sum a utilisation series up, by job or GPU",
		  prof_summarize_options, 0, 1, .run = prof_summarize },
		{ .name = NULL }
	};
	struct cli_tool tool = {
		.name = "gf-prof", .verbs = verbs,
		.summary = "Profiling dumps into tables: profiles, utilisation series and their summaries."
	};
	struct options o = { .summary = { .by = -1, .slack_ns = 60 * FIT_NS_PER_S, .steady = 10, .idle = 1 } };
	struct fit_str details = { 0 };
	int rc;

	memcpy(from_options, options, sizeof options);
	from_options[0].choices = formats;
	if (list_formats(&details)) {
		fprintf(stderr, "gf-prof: out of memory\n");
		return CLI_EXIT_MACHINE;
	}
	tool.details = details.s;
	rc = cli_main(&tool, argc, argv, &o);
	fit_str_release(&details);
	return rc;
}
