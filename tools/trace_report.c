/* SPDX-License-Identifier: MIT */
#include "tools/trace_report.h"

#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"

static void say_counts(const struct cli *cli, const char *input, const struct fit_trace_counts *c,
		       const char *one, const char *many)
{
	char list[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < c->n_reasons && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%llu %s", i ? ", " : "",
				      (unsigned long long)c->reasons[i].n, c->reasons[i].reason);
	if (c->n)
		cli_warn(cli, "%s: %llu %s (%s)", input, (unsigned long long)c->n, c->n == 1 ? one : many,
			 list);
}

void trace_say_left_out(const struct cli *cli, const char *input, const struct fit_trace_report *r)
{
	say_counts(cli, input, &r->left_out, "bad record left out", "bad records left out");
}

void trace_say_notes(const struct cli *cli, const char *input, const char *note)
{
	for (const char *end; note && (end = strchr(note, '\n')); note = end + 1)
		cli_warn(cli, "%s: %.*s", input, (int)(end - note), note);
}

void trace_say_report(const struct cli *cli, const char *input, const struct fit_trace_report *r)
{
	char first[FIT_NUM_MAX], last[FIT_NUM_MAX];

	trace_say_notes(cli, input, r->notes.s);
	trace_say_left_out(cli, input, r);
	say_counts(cli, input, &r->repaired, "value put right", "values put right");
	if (r->jobs == 0)
		cli_warn(cli, "%s: no jobs", input);
	cli_note(cli, "%s: %llu rows, %llu jobs, %llu left out, %llu without GPUs", input,
		 (unsigned long long)r->rows, (unsigned long long)r->jobs,
		 (unsigned long long)r->left_out.n, (unsigned long long)r->cpu_jobs);
	if (r->running || r->pending)
		cli_note(cli, "%s: %llu running at the end (censored), %llu never started", input,
			 (unsigned long long)r->running, (unsigned long long)r->pending);
	if (r->has_range) {
		fit_format_time(first, r->first_ns);
		fit_format_time(last, r->last_ns);
		cli_note(cli, "%s: submitted from %s s to %s s%s%s", input, first, last,
			 r->origin[0] ? " after " : "", r->origin);
	}
}

int trace_list_formats(struct cli *cli, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "format", FIT_TEXT, 0 }, { "memory", FIT_TEXT, 0 }, { "inputs", FIT_INT, 0 },
		{ "auto", FIT_TEXT, 0 }, { "summary", FIT_TEXT, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "", NULL, NULL, fields, 5, err);

	for (const struct fit_trace_format *f = fit_trace_formats; !rc && f->name; f++) {
		fit_writer_str(w, f->name);
		fit_writer_str(w, f->flags & FIT_TRACE_JOINS ? "join" :
			       f->flags & (FIT_TRACE_SORT | FIT_TRACE_RANK_ID) ? "sort" : "stream");
		fit_writer_int(w, f->max_inputs > 1 ? (int64_t)f->max_inputs : 1);
		fit_writer_str(w, f->marks || f->sniff ? "yes" : "no");
		fit_writer_str(w, f->summary);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}
