/* SPDX-License-Identifier: MIT */
/* nvidia-smi --query-gpu=… --format=csv (docs/formats/nvidia-smi.md). Nothing in it is quoted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"
#include "traces/prof_text.h"

/* What a column is, beside enum fit_series_column. */
enum { STAMP = FIT_SERIES_COLUMNS, BUS, OTHER };

struct name {
	const char *name;	/* without the unit in brackets */
	int what;
	const char *units;	/* of a number; NULL: text */
};

static const struct name names[] = {
	{ "timestamp", STAMP, NULL }, { "index", FIT_SERIES_GPU, "" },
	{ "name", FIT_SERIES_NAME, NULL }, { "gpu_name", FIT_SERIES_NAME, NULL },
	{ "uuid", FIT_SERIES_UUID, NULL }, { "gpu_uuid", FIT_SERIES_UUID, NULL },
	{ "pci.bus_id", BUS, NULL }, { "gpu_bus_id", BUS, NULL },
	{ "utilization.gpu", FIT_SERIES_UTIL, "%" }, { "utilization.memory", FIT_SERIES_MEM, "%" },
	{ "memory.used", FIT_SERIES_FB, "MiB" }, { "memory.total", FIT_SERIES_FB_TOTAL, "MiB" },
	{ "temperature.gpu", FIT_SERIES_TEMP, "C" }, { "power.draw", FIT_SERIES_POWER, "W" },
	{ "clocks.current.sm", FIT_SERIES_SM_CLOCK, "MHz" }, { "clocks.sm", FIT_SERIES_SM_CLOCK, "MHz" },
	{ "clocks.current.memory", FIT_SERIES_MEM_CLOCK, "MHz" },
	{ "clocks.mem", FIT_SERIES_MEM_CLOCK, "MHz" }
};

struct smi {
	struct fit_prof_lines lines;
	struct fit_series_out *out;
	bool has_columns;
	struct fit_str header;		/* the header row, or --columns */
	size_t n;			/* columns */
	int what[FIT_PROF_FIELDS_MAX];
	const char *units[FIT_PROF_FIELDS_MAX];
	char (*label)[48];		/* for messages: the name without its unit */
	size_t label_cap;
	bool suffixed[FIT_PROF_FIELDS_MAX];	/* values of the column came with a unit */
	bool has[OTHER];
	struct fit_prof_ticks ticks;
	bool no_time, no_index;		/* noted */
	size_t place;			/* GPUs without any name: position within the sample */
	char last_stamp[FIT_DATETIME_MAX];
};

/* "utilization.gpu [%]" without the unit. */
static struct fit_text bare_name(struct fit_text t)
{
	const char *open = t.n ? memchr(t.s, '[', t.n) : NULL;

	return fit_prof_trim(open ? (struct fit_text){ t.s, (size_t)(open - t.s) } : t);
}

static struct fit_text unquoted(struct fit_text t)
{
	if (t.n >= 2 && t.s[0] == '"' && t.s[t.n - 1] == '"')
		t = fit_prof_trim((struct fit_text){ t.s + 1, t.n - 2 });
	return t;
}

static const struct name *find_name(struct fit_text t)
{
	t = bare_name(unquoted(t));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fit_prof_is(t, names[i].name))
			return &names[i];
	return NULL;
}

/* A row is a header row when it has two names that we know, or one and nothing else. */
static bool is_header(const struct fit_text *f, size_t n)
{
	size_t known = 0;

	if (n && f[0].n && f[0].s[0] >= '0' && f[0].s[0] <= '9')
		return false;
	for (size_t i = 0; i < n && i < FIT_PROF_FIELDS_MAX; i++)
		known += find_name(f[i]) != NULL;
	return known >= 2 || (known == 1 && n == 1);
}

static int set_columns(struct smi *s, struct fit_text text, const char *from, struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(s->out);
	struct fit_text f[FIT_PROF_FIELDS_MAX];
	bool first = !s->has_columns, had_stamp = s->has[STAMP];

	s->n = fit_prof_cut(text, ',', f);
	if (s->n > FIT_PROF_FIELDS_MAX)
		return fit_prof_fail(&s->lines, FIT_EPARSE, NULL, err, "too many columns (expected at "
				     "most %d)", FIT_PROF_FIELDS_MAX);
	fit_str_clear(&s->header);
	if (fit_str_add(&s->header, text.s, text.n) ||
	    fit_grow(&s->label, &s->label_cap, s->n, sizeof *s->label))
		return fit_fail_nomem(err);
	memset(s->has, 0, sizeof s->has);
	memset(s->suffixed, 0, sizeof s->suffixed);
	for (size_t i = 0; i < s->n; i++) {
		const struct name *name = find_name(f[i]);
		struct fit_text bare = bare_name(unquoted(f[i]));

		s->what[i] = name ? name->what : OTHER;
		s->units[i] = name ? name->units : NULL;
		snprintf(s->label[i], sizeof s->label[i], "%.*s", FIT_TEXT_ARG(bare));
		if (name && s->has[name->what])
			return fit_prof_fail(&s->lines, FIT_EPARSE, NULL, err, "duplicate column '%s' in "
					     "%s", s->label[i], from);
		if (name)
			s->has[name->what] = true;
	}
	s->has_columns = true;
	if (!s->has[FIT_SERIES_UTIL] && !s->has[FIT_SERIES_MEM] && !s->has[FIT_SERIES_FB])
		return fit_prof_fail(&s->lines, FIT_ENOTFOUND, NULL, err, "none of utilization.gpu, "
				     "utilization.memory and memory.used in %s (found %s)", from,
				     s->header.s);
	if (!first && had_stamp != s->has[STAMP])
		return fit_prof_fail(&s->lines, FIT_EPARSE, NULL, err, "another header row %s timestamp "
				     "(expected it in both or in none)", had_stamp ? "without" : "with");
	if (first && (s->has[STAMP] || (p->has_time && p->time_is_calendar)))
		fit_series_calendar(s->out, false, 0);
	return FIT_OK;
}

/* "2024/03/01 12:00:00.123" as ns; other separators of the date are fine. */
static int parse_stamp(struct fit_text t, int64_t *ns)
{
	char iso[FIT_DATETIME_MAX];

	if (t.n < 19 || t.n >= sizeof iso)
		return FIT_EPARSE;
	memcpy(iso, t.s, t.n);
	if (iso[4] == '/' && iso[7] == '/')
		iso[4] = iso[7] = '-';
	return fit_parse_datetime((struct fit_text){ iso, t.n }, ns);
}

static int parse_value(struct smi *s, size_t i, struct fit_text t, bool cut, struct fit_cell *cells,
		       struct fit_err *err)
{
	struct fit_cell *cell = &cells[s->what[i]];
	bool bare;
	double v;

	if (!s->units[i]) {
		if (!fit_prof_is_missing(t))
			*cell = (struct fit_cell){ .u.t = t };
		return FIT_OK;
	}
	if (fit_prof_is_missing(t)) {
		fit_series_missing(s->out, (enum fit_series_column)s->what[i], t);
		return FIT_OK;
	}
	if (fit_prof_number(t, s->units[i], &v, &bare) && cut)
		return FIT_END;
	if (fit_prof_number(t, s->units[i], &v, &bare))
		return fit_prof_fail(&s->lines, FIT_EPARSE, s->label[i], err, "bad value '%.*s' (expected "
				     "a number%s%s, or a word in square brackets)", FIT_TEXT_ARG(t),
				     *s->units[i] ? " with or without " : "", s->units[i]);
	if (!bare)
		s->suffixed[i] = true;
	else if (cut && s->suffixed[i])
		return FIT_END;		/* its unit is gone, so digits may be */
	if (s->what[i] != FIT_SERIES_GPU) {
		*cell = (struct fit_cell){ .u.d = v };
		return FIT_OK;
	}
	if (!(v >= 0 && v < 1e6) || v != (double)(int64_t)v)
		return fit_prof_fail(&s->lines, FIT_EPARSE, s->label[i], err, "bad value '%.*s' (expected "
				     "the number of a GPU)", FIT_TEXT_ARG(t));
	*cell = (struct fit_cell){ .u.i = (int64_t)v };
	return FIT_OK;
}

/* The GPU's number, where the dump does not have it, and the time, where it does not. */
static int place_row(struct smi *s, struct fit_text bus, struct fit_text stamp,
		     struct fit_cell *cells, struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(s->out);
	char text[FIT_NUM_MAX];
	struct fit_text key = cells[FIT_SERIES_UUID].na ? bus : cells[FIT_SERIES_UUID].u.t;
	int64_t id;
	int rc;

	if (!s->has[FIT_SERIES_GPU] && !key.n) {
		/* nothing names the GPU but its place within the rows of one time */
		if (!s->has[STAMP])
			return fit_prof_fail(&s->lines, FIT_EDATA, NULL, err, "no column tells the GPUs "
					     "apart (expected index, uuid, pci.bus_id or timestamp)");
		if (stamp.n < sizeof s->last_stamp && fit_text_is(stamp, s->last_stamp)) {
			s->place++;
		} else {
			s->place = 0;
			snprintf(s->last_stamp, sizeof s->last_stamp, "%.*s", FIT_TEXT_ARG(stamp));
		}
		cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = (int64_t)s->place };
	}
	if (!cells[FIT_SERIES_GPU].na)
		key = (struct fit_text){ text, fit_format_int64(text, cells[FIT_SERIES_GPU].u.i) };
	if (!key.n)
		return FIT_OK;
	rc = fit_prof_tick(&s->ticks, key, &id);
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	if (rc)
		return fit_prof_fail(&s->lines, FIT_EDATA, NULL, err, "more than 65536 GPUs");
	if (!s->has[FIT_SERIES_GPU] && cells[FIT_SERIES_GPU].na)
		cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = id };
	if (!s->has[STAMP]) {
		cells[FIT_SERIES_TIME].na = false;
		if (fit_prof_tick_time(p, s->ticks.tick, FIT_NS_PER_S, &cells[FIT_SERIES_TIME].u.i))
			return fit_prof_fail(&s->lines, FIT_EDATA, NULL, err, "time out of range");
	}
	return FIT_OK;
}

/* FIT_END: the line was cut and is lost. */
static int read_row(struct smi *s, const struct fit_text *f, size_t n, struct fit_err *err)
{
	struct fit_cell cells[OTHER];
	struct fit_text bus = { 0 }, stamp = { 0 };
	bool cut = !s->lines.ended;
	int rc = FIT_OK;

	for (size_t i = 0; i < OTHER; i++)
		cells[i] = (struct fit_cell){ .na = true };
	if (n != s->n)
		return cut && n < s->n ? FIT_END :
		       fit_prof_fail(&s->lines, FIT_EPARSE, NULL, err, "%zu field%s, %zu expected", n,
				     n == 1 ? "" : "s", s->n);
	for (size_t i = 0; !rc && i < n; i++) {
		if (s->what[i] == STAMP) {
			stamp = f[i];
			if (parse_stamp(f[i], &cells[FIT_SERIES_TIME].u.i))
				rc = fit_prof_fail(&s->lines, FIT_EPARSE, "timestamp", err, "bad value '%.*s' "
						   "(expected YYYY/MM/DD HH:MM:SS.mmm)", FIT_TEXT_ARG(f[i]));
			else
				cells[FIT_SERIES_TIME] = (struct fit_cell){
					.u.i = fit_series_local(s->out, cells[FIT_SERIES_TIME].u.i) };
		} else if (s->what[i] == BUS) {
			bus = f[i];
		} else if (s->what[i] != OTHER) {
			rc = parse_value(s, i, f[i], cut && i == n - 1, cells, err);
		}
	}
	if (!rc)
		rc = place_row(s, bus, stamp, cells, err);
	return rc ? rc : fit_series_sample(s->out, cells, s->lines.line, err);
}

static int no_header(const struct smi *s, struct fit_err *err)
{
	return fit_prof_fail(&s->lines, FIT_EPARSE, NULL, err, "no header row (expected 'timestamp, index, "
			     "utilization.gpu [%%], …', or --columns)");
}

static int read_line(struct smi *s, struct fit_err *err)
{
	struct fit_text f[FIT_PROF_FIELDS_MAX];
	size_t n = fit_prof_cut(s->lines.text, ',', f);
	int rc;

	/* nvidia-smi quotes nothing, but a program that the log went through may have */
	if (memchr(s->lines.text.s, '"', s->lines.text.n))
		for (size_t i = 0; i < n && i < FIT_PROF_FIELDS_MAX; i++)
			f[i] = unquoted(f[i]);
	if (is_header(f, n)) {
		bool same = s->has_columns && fit_text_is(s->lines.text, s->header.s);

		if (s->has_columns)
			fit_series_pass(s->out, s->lines.line,
					same ? "repeated header" : "another header");
		return same ? FIT_OK : set_columns(s, s->lines.text, "the header row", err);
	}
	/* records have commas, but where a single column was asked for */
	if (!s->has_columns && !s->lines.odd && !fit_prof_is_message(s->lines.text))
		s->lines.odd = s->lines.line;
	if (fit_prof_is_message(s->lines.text) || (n == 1 && s->n != 1 && s->lines.ended &&
						   memchr(s->lines.text.s, ' ', s->lines.text.n))) {
		fit_series_pass(s->out, s->lines.line, "message");
		return FIT_OK;
	}
	if (!s->has_columns)
		return no_header(s, err);
	fit_series_met(s->out);
	rc = read_row(s, f, n, err);
	if (rc == FIT_END) {
		fit_series_lost(s->out, s->lines.line, "cut last line");
		return FIT_OK;
	}
	return rc ? fit_series_bad(s->out, rc, s->lines.line, n == s->n ? "bad value" : "ragged row") :
	       FIT_OK;
}

static int say_what_is_missing(struct smi *s, struct fit_err *err)
{
	int rc = FIT_OK;

	if (s->has_columns && !s->has[STAMP])
		rc = fit_series_note(s->out, "no column timestamp: times are counted from the order of the "
				     "rows");
	if (!rc && s->has_columns && !s->has[FIT_SERIES_GPU])
		rc = fit_series_note(s->out, "no column index: GPUs are numbered by %s",
				     s->has[FIT_SERIES_UUID] ? "the first appearance of their uuid" :
				     s->has[BUS] ? "the first appearance of their pci.bus_id" :
				     "their place among the rows of one time");
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

int fit_series_read_smi(const struct fit_series_in *in, struct fit_series_out *out,
			struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(out);
	struct smi s = { .lines = { .source = in->source }, .out = out };
	bool bad;
	int rc = FIT_OK;

	if (p->columns)
		rc = set_columns(&s, fit_text_of(p->columns), "--columns", err);
	while (!rc && (rc = fit_prof_line(&s.lines, &bad, err)) != FIT_END) {
		if (rc && bad) {
			fit_series_met(out);
			rc = fit_series_bad(out, rc, s.lines.line, "bad encoding");
			continue;
		}
		if (rc)
			break;
		rc = read_line(&s, err);
	}
	if (rc == FIT_END && !s.lines.any)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty file (expected a header row)",
			      fit_source_name(in->source));
	if (rc == FIT_END && !s.has_columns && s.lines.odd) {
		s.lines.line = s.lines.odd;
		rc = no_header(&s, err);
	}
	if (rc == FIT_END)
		rc = say_what_is_missing(&s, err);
	fit_prof_ticks_release(&s.ticks);
	fit_str_release(&s.header);
	free(s.label);
	return rc;
}
