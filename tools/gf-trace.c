/* SPDX-License-Identifier: MIT */
/*
 * gf-trace: a trace in one of the formats of traces/jobs_formats.c becomes a jobs table, or a jobs
 * table becomes a workload file of a simulator. Rows go out as they are read, unless they must be
 * sorted. It says what it left out or put right, and why.
 */
#include <stdio.h>

#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "tools/common/cli.h"
#include "tools/trace_report.h"
#include "traces/jobs.h"

#define MAX_FORMATS 64

struct options {
	int from, to;		/* -1: not given; from 0 is auto, else 1 + the format */
	int64_t skip_bad;
	bool list, sort, no_sort, no_unique, strict;
	int attempts, bad_times, processors;
	const char *tz, *machines, *delimiter;
};

static const char *from_names[MAX_FORMATS + 2];
static const char *const to_names[] = { "pollux", "swf", NULL };
enum { TO_POLLUX, TO_SWF };
/* in the order of the enums in traces/jobs.h */
static const char *const attempts_names[] = { "sum", "span", "first", "last", NULL };
static const char *const processors_names[] = { "guess", "processors", "none", NULL };
static const char *const times_names[] = { "missing", "clip", "keep", "fail", NULL };

static const struct cli_option option_table[] = {
	{ 'f', "from", CLI_CHOICE, offsetof(struct options, from), "FORMAT", NULL,
	  "format of the input; without it, a jobs table", from_names, 0, 0, CLI_RESULT },
	{ 't', "to", CLI_CHOICE, offsetof(struct options, to), "FORMAT", NULL,
	  "write a workload file instead of a jobs table", to_names, 0, 0, 0 },
	{ 0, "list", CLI_FLAG, offsetof(struct options, list), NULL, NULL, "write a table of the formats",
	  NULL, 0, 0, CLI_INSTEAD },
	{ 0, "skip-bad", CLI_INT, offsetof(struct options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, "strict", CLI_FLAG, offsetof(struct options, strict), NULL, NULL,
	  "fail where records were repaired or inputs contradict", NULL, 0, 0, 0 },
	{ 0, "bad-times", CLI_CHOICE, offsetof(struct options, bad_times), "HOW", "missing",
	  "what becomes of an end before its start", times_names, 0, 0, CLI_RESULT },
	{ 0, "tz", CLI_TEXT, offsetof(struct options, tz), "ZONE", NULL,
	  "zone of times without offset: +08:00, Europe/Berlin, a POSIX rule", NULL, 0, 0, CLI_RESULT },
	{ 0, "sort", CLI_FLAG, offsetof(struct options, sort), NULL, NULL,
	  "order rows by submission, all in memory", NULL, 0, 0, CLI_RESULT },
	{ 0, "no-sort", CLI_FLAG, offsetof(struct options, no_sort), NULL, NULL,
	  "keep the order of the file where a format is sorted", NULL, 0, 0, CLI_RESULT },
	{ 0, "no-unique", CLI_FLAG, offsetof(struct options, no_unique), NULL, NULL,
	  "do not look for ids that come twice", NULL, 0, 0, CLI_RESULT },
	{ 0, "attempts", CLI_CHOICE, offsetof(struct options, attempts), "HOW", "sum",
	  "duration of a job with several attempts", attempts_names, 0, 0, CLI_RESULT },
	{ 0, "gpus-from", CLI_CHOICE, offsetof(struct options, processors), "WHAT", "guess",
	  "swf: what counts GPUs; with a guess, that is said", processors_names, 0, 0,
	  CLI_RESULT },
	{ 0, "delimiter", CLI_TEXT, offsetof(struct options, delimiter), "TEXT", "|",
	  "what stands between fields, for sacct", NULL, 0, 0, CLI_RESULT },
	{ 0, "machines", CLI_TEXT, offsetof(struct options, machines), "FILE", NULL,
	  "machine list to compare with, for philly", NULL, 0, 0, CLI_INPUT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static void say_record(void *ctx, const char *line)
{
	const struct cli *cli = ctx;

	cli_note(cli, "%s", line);
}

/* ---- a jobs table, row by row ---- */

struct output {
	struct cli *cli;
	const struct fit_trace_format *format;
	const struct fit_trace_report *report;
	struct fit_writer *w;		/* NULL until the first row, when the origin is known */
	size_t n_meta;			/* of report->meta that stand ahead of the rows */
	bool origin;			/* so does the origin */
	const char *tz_hash;		/* of the file of the zone; NULL: it has none */
};

static int add_report(struct output *out, struct fit_meta *meta, struct fit_err *err)
{
	const struct fit_trace_report *r = out->report;
	int rc = FIT_OK;

	if (r->origin[0] && !out->origin) {
		rc = fit_meta_add(meta, "origin", r->origin);
		out->origin = true;
	}
	for (; !rc && out->n_meta < r->meta.n; out->n_meta++)
		rc = fit_meta_add(meta, r->meta.pairs[out->n_meta].key, r->meta.pairs[out->n_meta].value);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int begin_table(struct output *out, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(out->cli, &meta, false);

	/* the format itself, not "auto": the same input gives the same table */
	rc = rc ? rc : fit_meta_set(&meta, "from", out->format->name);
	if (!rc && out->tz_hash)
		rc = cli_meta_input(&meta, "tz", out->tz_hash);
	rc = rc ? fit_fail_nomem(err) : add_report(out, &meta, err);
	rc = rc ? rc : cli_writer_open(out->cli, &out->w, err);
	if (!rc)
		rc = fit_writer_begin(out->w, "", &meta, out->format->fields, out->format->n_fields, err);
	fit_meta_release(&meta);
	return rc;
}

static int write_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	struct output *out = ctx;
	int rc = out->w ? FIT_OK : begin_table(out, err);

	return rc ? rc : fit_writer_row(out->w, cells, err);
}

static int add_count(struct fit_meta *meta, const char *key, uint64_t n)
{
	char num[FIT_NUM_MAX];

	if (!n)
		return FIT_OK;
	fit_format_int64(num, (int64_t)n);
	return fit_meta_add(meta, key, num);
}

static int end_table(struct output *out, struct fit_err *err)
{
	const struct fit_trace_report *r = out->report;
	struct fit_meta meta = { 0 };
	int rc = out->w ? FIT_OK : begin_table(out, err);

	rc = rc ? rc : add_report(out, &meta, err);
	if (!rc && (add_count(&meta, "left_out", r->left_out.n) ||
		    add_count(&meta, "put_right", r->repaired.n) || cli_meta_input(&meta, NULL, r->hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_end_meta(out->w, &meta, err);
	rc = rc ? rc : fit_writer_end(out->w, err);
	fit_meta_release(&meta);
	return rc;
}

/* ---- a workload file ---- */

static int write_workload(struct cli *cli, int to, const struct fit_table *t, struct fit_err *err)
{
	struct fit_str text = { 0 }, notes = { 0 };
	int rc = to == TO_SWF ? fit_trace_write_swf(t, &text, &notes, err) :
		 fit_trace_write_pollux(t, &text, err);

	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ text.s, text.n }, err);
	if (!rc)
		trace_say_notes(cli, t->input, notes.s);
	fit_str_release(&text);
	fit_str_release(&notes);
	return rc;
}

static int read_jobs_table(struct fit_table *t, const char *operand, int to, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, FIT_F_NOT_NA }, { "submit_s", FIT_TIME, FIT_F_NOT_NA },
		{ "app", FIT_TEXT, 0 }, { "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 },
		{ "scaling", FIT_TEXT, FIT_F_OPTIONAL }
	};

	if (to == TO_SWF)		/* all columns: what does not fit is said */
		return fit_table_read(t, operand, NULL, 0, err);
	return fit_table_read(t, operand, fields, sizeof fields / sizeof *fields, err);
}

static int convert_jobs(struct cli *cli, int to, struct fit_err *err)
{
	struct fit_table t = { 0 };
	int rc = read_jobs_table(&t, cli_operand(cli, 0), to, err);

	if (!rc && t.n_rows == 0)
		cli_warn(cli, "%s: no jobs", t.input);
	rc = rc ? rc : write_workload(cli, to, &t, err);
	fit_table_release(&t);
	return rc;
}

/* ---- a trace ---- */

static int choose_format(const struct cli *cli, int from, struct fit_source *s,
			 const struct fit_trace_format **format, struct fit_err *err)
{
	char why[FIT_TRACE_WHY];
	int rc;

	if (from > 0) {
		*format = &fit_trace_formats[from - 1];
		return FIT_OK;
	}
	rc = fit_trace_recognise(s, format, why, err);
	if (!rc && !cli->quiet)
		fprintf(stderr, "gf-trace: %s: recognised %s (%s)\n", fit_source_name(s), (*format)->name, why);
	return rc;
}

/* What a workload file may want to know of the report. */
static int report_meta(struct fit_table *t, const struct fit_trace_report *r)
{
	int rc = fit_meta_copy(&t->meta, &r->meta);

	return !rc && r->origin[0] ? fit_meta_set(&t->meta, "origin", r->origin) : rc;
}

static int judge(const struct options *o, const char *input, const struct fit_trace_report *r,
		 struct fit_err *err)
{
	if (!o->strict || (!r->repaired.n && !r->conflicts))
		return FIT_OK;
	return fit_fail(err, FIT_EDATA, "%s: %llu values put right, %llu contradictions (expected none, "
			"because of --strict)", input, (unsigned long long)r->repaired.n,
			(unsigned long long)r->conflicts);
}

static int import(struct cli *cli, const struct options *o, const struct fit_trace_format *format,
		  struct fit_source *s, const struct fit_trace_params *params, struct fit_err *err)
{
	const char *input = fit_source_name(s);
	struct fit_trace_report report = { 0 };
	struct output out = {
		.cli = cli, .format = format, .report = &report, .tz_hash = fit_zone_hash(&params->zone)
	};
	struct fit_table t = { 0 };
	int rc = o->to >= 0 ? fit_trace_read(&t, format, s, params, &report, err) :
		 fit_trace_stream(format, s, params, write_row, &out, &report, err);

	if (rc)
		trace_say_left_out(cli, input, &report);
	else
		trace_say_report(cli, input, &report);
	rc = rc ? rc : judge(o, input, &report, err);
	if (!rc)
		rc = o->to < 0 ? end_table(&out, err) : report_meta(&t, &report) ? fit_fail_nomem(err) :
		     write_workload(cli, o->to, &t, err);
	if (rc)
		fit_writer_abort(out.w);
	else if (out.w)
		rc = fit_writer_close(out.w, err);
	fit_table_release(&t);
	fit_trace_report_release(&report);
	return rc;
}

/* Wrong usage that shows before the input is opened; -1: none. */
static int check_options(struct cli *cli, const struct options *o)
{
	char name[64];
	size_t n = 0;

	if (o->from < 0 && o->to < 0)
		return cli_usage(cli, "no format (expected --from FORMAT, such as --from auto, or --to FORMAT)");
	if (o->to >= 0 && cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a workload file cannot go into a store '%s'", cli->out);
	if (o->from < 0 && cli->given.n) {
		for (const char *k = cli->given.pairs[0].key; *k && n < sizeof name - 1; k++)
			name[n++] = *k == '_' ? '-' : *k;
		name[n] = '\0';
		return cli_usage(cli, "--%s needs --from", name);
	}
	if (o->from < 0 && cli->n_operands > 1)
		return cli_usage(cli, "too many inputs '%s' (expected one jobs table)", cli->operands[1]);
	if (o->sort && o->no_sort)
		return cli_usage(cli, "--sort and --no-sort at once");
	return -1;
}

/* The same that shows when the format is known. */
static int check_format(struct cli *cli, const struct options *o, const struct fit_trace_format *f)
{
	int max = f->max_inputs > 1 ? (int)f->max_inputs : 1;

	if (cli->n_operands > max)
		return cli_usage(cli, "too many inputs '%s' (expected at most %d for %s)", cli->operands[max],
				 max, f->name);
	if (o->machines && !(f->flags & FIT_TRACE_MACHINES))
		return cli_usage(cli, "--machines means nothing to %s (expected philly)", f->name);
	if (o->tz && !(f->flags & FIT_TRACE_CALENDAR))
		return cli_usage(cli, "--tz means nothing to %s, which has no calendar times", f->name);
	return -1;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_trace_params params = {
		.skip_bad = o->skip_bad, .no_unique = o->no_unique, .machines = o->machines,
		.delimiter = o->delimiter, .processors = (enum fit_trace_processors)o->processors,
		.sort = o->sort ? FIT_SORT_YES : o->no_sort ? FIT_SORT_NO : FIT_SORT_FORMAT,
		.attempts = (enum fit_trace_attempts)o->attempts,
		.bad_times = (enum fit_trace_bad_times)o->bad_times
	};
	const struct fit_trace_format *format = NULL;
	struct fit_source *s = NULL;
	struct fit_err err = { 0 };
	int rc, usage = -1;

	if (o->list)
		return trace_list_formats(cli, &err) ? cli_error(cli, &err) : CLI_EXIT_OK;
	rc = check_options(cli, o);
	if (rc >= 0)
		return rc;
	if (o->tz && (rc = fit_zone_parse(&params.zone, o->tz, &err)))
		return rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	if (cli->n_operands > 1) {
		params.more = cli->operands + 1;
		params.n_more = (size_t)cli->n_operands - 1;
	}
	if (cli->verbose) {
		params.listen = say_record;
		params.listen_ctx = cli;
	}
	if (o->from < 0)	/* without a zone: check_options() saw to that */
		return convert_jobs(cli, o->to, &err) ? cli_error(cli, &err) : CLI_EXIT_OK;
	rc = fit_source_open(&s, cli_operand(cli, 0), &err);
	rc = rc ? rc : choose_format(cli, o->from, s, &format, &err);
	if (!rc)
		usage = check_format(cli, o, format);
	if (!rc && usage < 0)
		rc = import(cli, o, format, s, &params, &err);
	fit_source_close(s);
	fit_zone_release(&params.zone);
	return rc ? cli_error(cli, &err) : usage >= 0 ? usage : CLI_EXIT_OK;
}

/* The list of formats for --help, and their names for --from. */
static int name_formats(struct fit_str *text)
{
	int rc = fit_str_puts(text, "Formats (--from):\n  auto               the format is recognised");

	from_names[0] = "auto";
	for (size_t i = 0; !rc && i < MAX_FORMATS && fit_trace_formats[i].name; i++) {
		from_names[i + 1] = fit_trace_formats[i].name;
		rc = fit_str_printf(text, "\n  %-18s %s", fit_trace_formats[i].name,
				    fit_trace_formats[i].summary);
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct cli_verb verbs[] = {
		{ "", "[FILE...]", "", option_table, 0, -1, .run = run }, { .name = NULL }
	};
	struct fit_str details = { 0 };
	struct options o = { .from = -1, .to = -1 };
	struct cli_tool tool = {
		.name = "gf-trace", .verbs = verbs,
		.summary = "Turn a production trace into a jobs table, or a jobs table into a workload file."
	};
	int rc;

	if (name_formats(&details)) {
		fprintf(stderr, "gf-trace: out of memory\n");
		return CLI_EXIT_MACHINE;
	}
	tool.details = details.s;
	rc = cli_main(&tool, argc, argv, &o);
	fit_str_release(&details);
	return rc;
}
