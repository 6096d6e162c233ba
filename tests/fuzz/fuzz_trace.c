/* SPDX-License-Identifier: MIT */
/*
 * The readers of traces on any bytes. The format is the end of the program's name: fuzz_trace_swf
 * reads SWF, fuzz_trace_auto and plain fuzz_trace whatever they recognise. `fuzz_trace --formats` lists
 * them; tests/fuzz/smoke.sh makes a link of each name.
 *
 * Each input is read twice, strictly and forgivingly. What comes out must be well-formed rows: UTF-8
 * texts, a job_id, counts that are not negative, durations that are not negative.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/source.h"
#include "tests/fuzz/fuzz.h"
#include "traces/jobs.h"

static const struct fit_trace_format *chosen;	/* NULL: by recognising */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = fuzz_format(*argv, "fuzz_trace_");

	if (fuzz_lists(*argc, *argv)) {
		for (const struct fit_trace_format *f = fit_trace_formats; f->name; f++)
			printf("%s\n", f->name);
		exit(0);
	}
	chosen = name ? fit_trace_format_find(name) : NULL;
	if (name && !chosen)
		fuzz_no_format(*argv);
	return 0;
}

static int check_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	const struct fit_trace_format *f = ctx;

	(void)err;
	for (size_t i = 0; i < f->n_fields; i++) {
		const struct fit_cell *c = &cells[i];
		const char *name = f->fields[i].name;

		if (strcmp(name, "job_id") == 0 && c->na)
			abort();
		if (c->na)
			continue;
		if (f->fields[i].type == FIT_TEXT && !fit_text_is_utf8(c->u.t))
			abort();
		if (strcmp(name, "gpus") == 0 && !(c->u.d >= 0 && isfinite(c->u.d)))
			abort();
		if (strcmp(name, "duration_s") == 0 && c->u.i < 0)
			abort();
	}
	return FIT_OK;
}

static void read_trace(const uint8_t *data, size_t size, const struct fit_trace_params *params)
{
	const struct fit_trace_format *f = chosen;
	struct fit_trace_report report = { 0 };
	struct fit_source *s = NULL;
	struct fit_err err = { 0 };
	char why[FIT_TRACE_WHY];
	int rc = fit_source_open_memory(&s, "input", data, size, &err);

	if (!rc && !f)
		rc = fit_trace_recognise(s, &f, why, &err);
	if (!rc)
		rc = fit_trace_stream(f, s, params, check_row, (void *)(uintptr_t)f, &report, &err);
	if (rc && (!err.msg[0] || strchr(err.msg, '\n')))
		abort();
	fit_trace_report_release(&report);
	fit_source_close(s);
}

static void say_nothing(void *ctx, const char *line)
{
	if (*(size_t *)ctx == 0 && strchr(line, '\n'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_trace_params strict = { .bad_times = FIT_TIMES_FAIL };
	struct fit_trace_params forgiving = {
		.skip_bad = 1000000, .sort = FIT_SORT_NO, .attempts = FIT_ATTEMPTS_SPAN, .no_unique = true,
		.bad_times = size % 2 ? FIT_TIMES_CLIP : FIT_TIMES_MISSING, .listen = say_nothing
	};
	size_t lines = 0;

	forgiving.listen_ctx = &lines;
	if (fit_zone_parse(&forgiving.zone, "US/Pacific", NULL))
		abort();
	read_trace(data, size, &strict);
	read_trace(data, size, &forgiving);
	return 0;
}
