/* SPDX-License-Identifier: MIT */
/*
 * The readers that put several files together, on any bytes: parts of the input, between lines "%%", become
 * the files. fuzz_join_pai joins tables of PAI, fuzz_join_philly compares a job log with its machine list
 * (the second part), fuzz_join_rubick-model reads a folder with config.csv and data.csv.
 * `fuzz_join --formats` lists them; tests/fuzz/lib.sh makes a link of each name, and the seeds.
 *
 * The files lie in a folder of $TMPDIR, which the next input overwrites. Each input is read twice, strictly
 * and forgivingly; texts must be UTF-8, and failures one line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/table/source.h"
#include "tests/fuzz/fuzz.h"
#include "traces/jobs.h"
#include "traces/series.h"

#define PARTS_MAX 6

enum kind { MORE, MACHINES, FOLDER };

static const struct join {
	const char *name;
	enum kind kind;
	const char *files[2];	/* FOLDER */
} joins[] = {
	{ "pai", MORE, { NULL } }, { "pai-machines", MORE, { NULL } },
	{ "philly", MACHINES, { NULL } }, { "philly-cluster", MACHINES, { NULL } },
	{ "rubick-model", FOLDER, { "config.csv", "data.csv" } },
	{ "rubick-placements", FOLDER, { "placements.csv", "other.csv" } }
};
#define N_JOINS (sizeof joins / sizeof *joins)

static const struct join *chosen = &joins[0];
static char folder[200], paths[PARTS_MAX][240];

static void remove_files(void)
{
	for (int i = 0; i < PARTS_MAX; i++)
		if (paths[i][0])
			unlink(paths[i]);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = fuzz_format(*argv, "fuzz_join_"), *tmp = getenv("TMPDIR");

	if (fuzz_lists(*argc, *argv)) {
		for (size_t i = 0; i < N_JOINS; i++)
			printf("%s\n", joins[i].name);
		exit(0);
	}
	if (name) {
		size_t i = 0;

		while (i < N_JOINS && strcmp(joins[i].name, name) != 0)
			i++;
		if (i == N_JOINS)
			fuzz_no_format(*argv);
		chosen = &joins[i];
	}
	snprintf(folder, sizeof folder, "%s/fuzz-join-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(1);
	}
	for (int i = 0; i < PARTS_MAX && (chosen->kind != FOLDER || i < 2); i++) {
		if (chosen->kind == FOLDER)
			snprintf(paths[i], sizeof paths[i], "%s/%s", folder, chosen->files[i]);
		else
			snprintf(paths[i], sizeof paths[i], "%s/%d", folder, i);
	}
	atexit(remove_files);
	return 0;
}

static int check_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	const struct fit_trace_format *f = ctx;

	(void)err;
	for (size_t i = 0; i < f->n_fields; i++)
		if (!cells[i].na && f->fields[i].type == FIT_TEXT && !fit_text_is_utf8(cells[i].u.t))
			abort();
	return FIT_OK;
}

static void check_end(int rc, const struct fit_err *err)
{
	if (rc && (!err->msg[0] || strchr(err->msg, '\n')))
		abort();
}

static void read_trace(const uint8_t *first, size_t n_first, const char *const *more, size_t n_more,
		       bool forgiving)
{
	const struct fit_trace_format *f = fit_trace_format_find(chosen->name);
	struct fit_trace_params p = { .bad_times = forgiving ? FIT_TIMES_CLIP : FIT_TIMES_FAIL,
				      .skip_bad = forgiving ? 1000000 : 0, .no_unique = forgiving };
	struct fit_trace_report report = { 0 };
	struct fit_source *s = NULL;
	struct fit_err err = { 0 };
	int rc = fit_source_open_memory(&s, "input", first, n_first, &err);

	if (chosen->kind == MACHINES) {
		p.machines = n_more ? more[0] : NULL;
	} else {
		p.more = more;
		p.n_more = n_more;
	}
	if (!rc)
		rc = fit_trace_stream(f, s, &p, check_row, (void *)(uintptr_t)f, &report, &err);
	check_end(rc, &err);
	fit_trace_report_release(&report);
	fit_source_close(s);
}

struct seen {
	const struct fit_field *fields;
	size_t n;
};

static int begin(void *ctx, const struct fit_field *fields, size_t n, const char *origin, struct fit_err *err)
{
	(void)origin;
	(void)err;
	*(struct seen *)ctx = (struct seen){ fields, n };
	return FIT_OK;
}

static int check_cells(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	const struct seen *seen = ctx;

	(void)err;
	for (size_t i = 0; i < seen->n; i++)
		if (!cells[i].na && seen->fields[i].type == FIT_TEXT && !fit_text_is_utf8(cells[i].u.t))
			abort();
	return FIT_OK;
}

static void read_folder(bool forgiving)
{
	struct fit_series_params p = fit_series_params_default();
	struct seen seen = { 0 };
	const struct fit_series_sink sink = { begin, check_cells, &seen };
	struct fit_series_report report;
	struct fit_err err = { 0 };
	int rc;

	p.skip_bad = forgiving ? 1000000 : 0;
	rc = fit_series_read(fit_series_format_find(chosen->name), folder, &p, &sink, &report, &err);
	check_end(rc, &err);
	fit_series_report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *more[PARTS_MAX];
	const uint8_t *first = data, *part;
	size_t n_first = 0, n = 0;

	for (int i = 0; i < PARTS_MAX && (i == 0 || size); i++) {
		size_t k = fuzz_next_part(&data, &size, &part);

		if (chosen->kind != FOLDER && i == 0) {
			first = part;
			n_first = k;
			continue;
		}
		if (!paths[n][0] || !fuzz_write_part(paths[n], part, k))
			break;
		more[n] = paths[n];
		n++;
	}
	for (int forgiving = 0; forgiving < 2; forgiving++) {
		if (chosen->kind == FOLDER)
			read_folder(forgiving);
		else
			read_trace(first, n_first, more, n, forgiving);
	}
	return 0;
}
