/* SPDX-License-Identifier: MIT */
/*
 * The readers of profiling dumps on any bytes. The format is the end of the program's name:
 * fuzz_prof_dmon reads the output of dmon; fuzz_prof_auto and plain fuzz_prof take it from the first
 * byte. `fuzz_prof --formats` lists them; tests/fuzz/smoke.sh makes a link of each name.
 *
 * Each input is recognised, or not, and read twice, strictly and forgivingly, with and without what the
 * command line can add.
 * What comes out must be well-formed: UTF-8 texts, a begin() before the rows, as many rows as the report
 * says, and no more bad records than were allowed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/source.h"
#include "tests/fuzz/fuzz.h"
#include "traces/series.h"

static const struct fit_series_format *chosen;	/* NULL: by the first byte */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = fuzz_format(*argv, "fuzz_prof_");

	if (fuzz_lists(*argc, *argv)) {
		for (const struct fit_series_format *f = fit_series_formats; f->name; f++)
			printf("%s\n", f->name);
		exit(0);
	}
	chosen = name ? fit_series_format_find(name) : NULL;
	if (name && !chosen)
		fuzz_no_format(*argv);
	return 0;
}

struct seen {
	const struct fit_field *fields;
	size_t n;
	uint64_t rows;
};

static int begin(void *ctx, const struct fit_field *fields, size_t n, const char *origin,
		 struct fit_err *err)
{
	struct seen *seen = ctx;

	(void)err;
	if (seen->fields || !n || strlen(origin) >= 40)
		abort();
	seen->fields = fields;
	seen->n = n;
	return FIT_OK;
}

/* So many rows are enough of one input: sparse kernels make many bins. */
#define ROWS_MAX 20000

static int check_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	struct seen *seen = ctx;

	if (!seen->fields)
		abort();
	for (size_t i = 0; i < seen->n; i++)
		if (!cells[i].na && seen->fields[i].type == FIT_TEXT && !fit_text_is_utf8(cells[i].u.t))
			abort();
	if (++seen->rows > ROWS_MAX)
		return fit_fail(err, FIT_EIO, "enough");
	return FIT_OK;
}

static void read_once(const struct fit_series_format *f, const uint8_t *data, size_t size,
		      const struct fit_series_params *params)
{
	struct seen seen = { 0 };
	const struct fit_series_sink sink = { begin, check_row, &seen };
	struct fit_series_report report;
	struct fit_err err = { 0 };
	int rc = fit_series_read_memory(f, "input", data, size, params, &sink, &report, &err);

	if (rc ? !err.msg[0] || err.code != rc : seen.rows != report.rows || !seen.fields)
		abort();
	if (report.left_out.n > (uint64_t)params->skip_bad + 1)
		abort();
	if (rc && strchr(err.msg, '\n'))
		abort();
	fit_series_report_release(&report);
}

/* What is recognised is a format of the list, or the folders that another reader has. */
static void recognise(const uint8_t *data, size_t size)
{
	struct fit_source *s = NULL;
	struct fit_err err = { 0 };
	char why[FIT_TRACE_WHY] = "";
	const char *name = NULL;
	int rc = fit_source_open_memory(&s, "input", data, size, &err);

	rc = rc ? rc : fit_series_recognise("input", s, &name, why, &err);
	if (rc ? !err.msg[0] || name : !fit_series_format_find(name) || !why[0])
		abort();
	fit_source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_series_params strict = fit_series_params_default();
	struct fit_series_params forgiving = strict;
	const struct fit_series_format *f = chosen;
	size_t n = 0;

	forgiving.skip_bad = 50;
	forgiving.host = "h";
	forgiving.app = "a";
	forgiving.has_time = true;
	forgiving.time_is_calendar = true;
	forgiving.time_ns = INT64_C(1700000000000000000);
	forgiving.period_ns = INT64_C(5000000000);
	forgiving.bin_ns = INT64_C(3600000000000);
	if (fit_zone_parse(&forgiving.zone, size % 2 ? "US/Pacific" : "CET-1CEST,M3.5.0,M10.5.0/3", NULL))
		abort();
	recognise(data, size);
	if (!f) {
		if (!size)
			return 0;
		while (fit_series_formats[n].name)
			n++;
		f = &fit_series_formats[data[0] % n];
		data++;
		size--;
	}
	if (strcmp(f->name, "nvidia-smi") == 0)
		forgiving.columns = "timestamp,index,utilization.gpu,memory.used";
	read_once(f, data, size, &strict);
	read_once(f, data, size, &forgiving);
	return 0;
}
