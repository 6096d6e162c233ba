/* SPDX-License-Identifier: MIT */
/*
 * gf-trace: a trace in one of the formats of traces/jobs_formats.c becomes a jobs table, or a jobs
 * table becomes a workload file of a simulator. It says what it left out and why; it never repairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/common/cli.h"
#include "traces/jobs.h"

#define MAX_FORMATS 64

struct options {
	int from, to;		/* -1: not given */
	int64_t skip_bad;
};

static const char *from_names[MAX_FORMATS + 1];
static const char *const to_names[] = { "pollux", NULL };

static const struct cli_option option_table[] = {
	{ 'f', "from", CLI_CHOICE, offsetof(struct options, from), "FORMAT", NULL,
	  "format of the input; without it, a jobs table", from_names, 0, 0, CLI_RESULT },
	{ 't', "to", CLI_CHOICE, offsetof(struct options, to), "FORMAT", NULL,
	  "write a workload file instead of a jobs table", to_names, 0, 0, 0 },
	{ 0, "skip-bad", CLI_INT, offsetof(struct options, skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- the import report ---- */

static void say_left_out(const struct cli *cli, const char *input, const struct fit_trace_report *r)
{
	char list[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < r->n_reasons && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%llu %s", i ? ", " : "",
				      (unsigned long long)r->reasons[i].n, r->reasons[i].reason);
	if (r->left_out)
		cli_warn(cli, "%s: %llu bad record%s left out (%s)", input,
			 (unsigned long long)r->left_out, r->left_out == 1 ? "" : "s", list);
}

static void say_report(const struct cli *cli, const struct fit_table *t,
		       const struct fit_trace_report *r)
{
	const char *note = r->notes.s;
	char first[FIT_NUM_MAX], last[FIT_NUM_MAX];

	for (const char *end; note && (end = strchr(note, '\n')); note = end + 1)
		cli_warn(cli, "%s: %.*s", t->input, (int)(end - note), note);
	say_left_out(cli, t->input, r);
	if (t->n_rows == 0)
		cli_warn(cli, "%s: no jobs, a header row only", t->input);
	cli_note(cli, "%s: %llu rows, %zu jobs, %llu left out, %llu without GPUs", t->input,
		 (unsigned long long)r->rows, t->n_rows, (unsigned long long)r->left_out,
		 (unsigned long long)r->cpu_jobs);
	if (r->has_range) {
		fit_format_time(first, r->first_ns);
		fit_format_time(last, r->last_ns);
		cli_note(cli, "%s: submitted from %s s to %s s%s%s", t->input, first, last,
			 r->origin[0] ? " after " : "", r->origin);
	}
}

/* ---- output ---- */

static int write_table(struct cli *cli, struct fit_table *t, const struct fit_trace_report *r,
		       struct fit_err *err)
{
	struct fit_writer *w = NULL;
	char num[FIT_NUM_MAX];
	int rc = cli_meta(cli, &t->meta, false);

	if (!rc && r->origin[0])
		rc = fit_meta_add(&t->meta, "origin", r->origin);
	if (!rc && r->left_out) {
		fit_format_int64(num, (int64_t)r->left_out);
		rc = fit_meta_add(&t->meta, "left_out", num);
	}
	if (!rc)
		rc = cli_meta_input(&t->meta, NULL, t->hash);
	if (rc)
		return fit_fail_nomem(err);
	rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = fit_table_write(t, w, err);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static int write_workload(struct cli *cli, const struct fit_table *t, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_trace_write_pollux(t, &text, err);

	if (!rc && cli->out && strcmp(cli->out, "-") != 0)
		rc = fit_csv_write_file(cli->out, &text, err);
	else if (!rc && fwrite(text.s, 1, text.n, stdout) != text.n)
		rc = fit_fail_errno(err, "cannot write to standard output");
	fit_str_release(&text);
	return rc;
}

/* ---- input ---- */

static int read_jobs_table(struct fit_table *t, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, FIT_F_NOT_NA }, { "submit_s", FIT_TIME, FIT_F_NOT_NA },
		{ "app", FIT_TEXT, 0 }, { "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }
	};

	return fit_table_read(t, operand, fields, sizeof fields / sizeof *fields, err);
}

static int run(struct cli *cli, const struct options *o)
{
	struct fit_trace_params params = { o->skip_bad };
	struct fit_trace_report report = { 0 };
	struct fit_table t = { 0 };
	struct fit_err err = { 0 };
	int rc, status = CLI_EXIT_OK;

	if (o->from < 0 && o->to < 0)
		return cli_usage(cli, "no format (expected --from or --to)");
	if (o->to >= 0 && cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a workload file cannot go into a store '%s'", cli->out);
	if (o->from < 0 && o->skip_bad)
		return cli_usage(cli, "--skip-bad needs --from");
	if (o->from >= 0) {
		rc = fit_trace_read(&t, &fit_trace_formats[o->from], cli_operand(cli, 0), &params,
				    &report, &err);
		if (rc)
			say_left_out(cli, strcmp(cli_operand(cli, 0), "-") ? cli_operand(cli, 0) :
				     "<stdin>", &report);
		else
			say_report(cli, &t, &report);
	} else {
		rc = read_jobs_table(&t, cli_operand(cli, 0), &err);
		if (!rc && t.n_rows == 0)
			cli_warn(cli, "%s: no jobs", t.input);
	}
	if (!rc)
		rc = o->to >= 0 ? write_workload(cli, &t, &err) : write_table(cli, &t, &report, &err);
	if (rc)
		status = cli_error(cli, &err);
	fit_table_release(&t);
	fit_trace_report_release(&report);
	return status;
}

/* The list of formats for --help, and their names for --from. */
static int list_formats(struct fit_str *text)
{
	int rc = fit_str_puts(text, "Formats (--from):");

	for (size_t i = 0; !rc && i < MAX_FORMATS && fit_trace_formats[i].name; i++) {
		from_names[i] = fit_trace_formats[i].name;
		rc = fit_str_printf(text, "\n  %-18s %s", fit_trace_formats[i].name,
				    fit_trace_formats[i].summary);
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct cli_verb verbs[] = {
		{ "", "[FILE]", "", option_table, 0, 1 }, { NULL, NULL, NULL, NULL, 0, 0 }
	};
	struct fit_str details = { 0 };
	struct options o = { .from = -1, .to = -1 };
	struct cli_tool tool = {
		.name = "gf-trace", .verbs = verbs,
		.summary = "Turn a production trace into a jobs table, or a jobs table into a workload file."
	};
	struct cli cli;
	int rc;

	if (list_formats(&details)) {
		fprintf(stderr, "gf-trace: out of memory\n");
		return CLI_EXIT_MACHINE;
	}
	tool.details = details.s;
	rc = cli_start(&cli, &tool, argc, argv, &o);
	if (rc < 0)
		rc = cli_finish(&cli, run(&cli, &o));
	fit_str_release(&details);
	return rc;
}
