/* SPDX-License-Identifier: MIT */
/* The tables of nvidia-smi dmon and dcgmi dmon (docs/formats/dmon.md, docs/formats/dcgmi.md): columns
 * by name, separated by blanks, the header printed again every screenful. */
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"
#include "traces/prof_text.h"

/* What a column is, beside enum fit_series_column. */
enum { DATE = FIT_SERIES_COLUMNS, CLOCK, GRACT, DRAMA, OTHER };

struct name {
	const char *name;
	int what;
};

static const struct name dmon_names[] = {
	{ "Date", DATE }, { "Time", CLOCK }, { "gpu", FIT_SERIES_GPU }, { "sm", FIT_SERIES_UTIL },
	{ "mem", FIT_SERIES_MEM }, { "fb", FIT_SERIES_FB }, { "pwr", FIT_SERIES_POWER },
	{ "gtemp", FIT_SERIES_TEMP }, { "temp", FIT_SERIES_TEMP }, { "pclk", FIT_SERIES_SM_CLOCK },
	{ "mclk", FIT_SERIES_MEM_CLOCK }, { NULL, OTHER }
};
static const struct name dcgmi_names[] = {
	{ "GPUTL", FIT_SERIES_UTIL }, { "MCUTL", FIT_SERIES_MEM }, { "FBUSD", FIT_SERIES_FB },
	{ "FBTTL", FIT_SERIES_FB_TOTAL }, { "POWER", FIT_SERIES_POWER }, { "TMPTR", FIT_SERIES_TEMP },
	{ "SMCLK", FIT_SERIES_SM_CLOCK }, { "MMCLK", FIT_SERIES_MEM_CLOCK }, { "GRACT", GRACT },
	{ "DRAMA", DRAMA }, { NULL, OTHER }
};

struct dmon {
	struct fit_prof_lines lines;
	struct fit_series_out *out;
	const struct name *names;
	bool dcgmi;
	struct fit_str header;
	size_t n;
	int what[FIT_PROF_FIELDS_MAX];
	char label[FIT_PROF_FIELDS_MAX][16];
	bool has[OTHER + 1], calendar_set;
	struct fit_prof_ticks ticks;
	bool has_clock;			/* day and last_clock count */
	int64_t day, last_clock;	/* Time without Date: days passed, seconds of the day */
};

static bool timed(const struct dmon *d)
{
	return d->has[CLOCK];
}

static int set_columns(struct dmon *d, const struct fit_text *f, size_t n, struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(d->out);
	bool had[2] = { d->has[DATE], d->has[CLOCK] };

	memset(d->has, 0, sizeof d->has);
	d->n = n;
	for (size_t i = 0; i < n; i++) {
		const struct name *name = d->names;

		while (name->name && !fit_prof_is(f[i], name->name))
			name++;
		if (name->what != OTHER && d->has[name->what])
			return fit_prof_fail(&d->lines, FIT_EPARSE, NULL, err, "duplicate column '%.*s'",
					     FIT_TEXT_ARG(f[i]));
		d->what[i] = name->what;
		d->has[name->what] = true;
		snprintf(d->label[i], sizeof d->label[i], "%.*s", FIT_TEXT_ARG(f[i]));
	}
	if (!d->dcgmi && !d->has[FIT_SERIES_GPU])
		return fit_prof_fail(&d->lines, FIT_ENOTFOUND, NULL, err, "no column 'gpu' (found %s)",
				     d->header.s);
	if (d->calendar_set && (had[0] != d->has[DATE] || had[1] != d->has[CLOCK]))
		return fit_prof_fail(&d->lines, FIT_EPARSE, NULL, err, "another header row with other "
				     "columns Date and Time");
	if (!d->calendar_set && ((d->has[DATE] && d->has[CLOCK]) ||
				 (p->has_time && p->time_is_calendar)))
		fit_series_calendar(d->out, false, 0);
	d->calendar_set = true;
	return FIT_OK;
}

/* A header line: names, or units (passed over). false: it is neither. */
static bool is_header(const struct dmon *d, const struct fit_text *f, size_t n, bool *names)
{
	bool unit = false;

	*names = false;
	if (!d->dcgmi && (!n || d->lines.text.s[0] != '#'))
		return false;
	for (size_t i = 0; i < n && i < FIT_PROF_FIELDS_MAX; i++) {
		*names = *names || fit_prof_is(f[i], d->dcgmi ? "Entity" : "gpu") ||
			 fit_prof_is(f[i], "#Entity") || fit_prof_is(f[i], "#gpu");
		unit = unit || fit_prof_is(f[i], "Idx") || fit_prof_is(f[i], "#Idx") ||
		       (i == 0 && fit_prof_is(f[i], "ID"));
	}
	if (*names && d->dcgmi)
		*names = fit_prof_starts(f[0], "#") || fit_prof_is(f[0], "Entity");
	return *names || unit || d->lines.text.s[0] == '#';
}

static int read_header(struct dmon *d, struct fit_text *f, size_t n, struct fit_err *err)
{
	bool again = d->header.n && fit_text_is(d->lines.text, d->header.s);

	if (d->header.n)
		fit_series_pass(d->out, d->lines.line, again ? "repeated header" : "another header");
	if (again)
		return FIT_OK;
	fit_str_clear(&d->header);
	if (fit_str_add(&d->header, d->lines.text.s, d->lines.text.n))
		return fit_fail_nomem(err);
	/* "# gpu" or "#Date": the mark is no part of the names; of dcgmi, "#Entity" is two tokens wide */
	if (n && f[0].n == 1) {
		f++;
		n--;
	} else if (n && f[0].s[0] == '#') {
		f[0].s++;
		f[0].n--;
	}
	if (d->dcgmi && n) {
		f++;
		n--;
	}
	return set_columns(d, f, n, err);
}

/* Date and Time (or Time alone: the day changes when the clock goes back by half a day) as ns. */
static int parse_time(struct dmon *d, struct fit_text date, struct fit_text clock, int64_t *ns)
{
	char iso[FIT_DATETIME_MAX];
	int64_t t;

	if (clock.n != 8 || (d->has[DATE] && date.n != 8))
		return FIT_EPARSE;
	if (d->has[DATE])
		snprintf(iso, sizeof iso, "%.4s-%.2s-%.2s %.8s", date.s, date.s + 4, date.s + 6, clock.s);
	else
		snprintf(iso, sizeof iso, "1970-01-01 %.8s", clock.s);
	if (fit_parse_datetime(fit_text_of(iso), &t))
		return FIT_EPARSE;
	if (!d->has[DATE]) {
		const struct fit_series_params *p = fit_series_params_of(d->out);
		int64_t start = p->has_time && p->time_is_calendar ? p->time_ns : 0, day_ns;

		if (d->has_clock && t < d->last_clock - 43200 * FIT_NS_PER_S)
			d->day++;
		d->has_clock = true;
		d->last_clock = t;
		day_ns = INT64_C(86400) * FIT_NS_PER_S;
		start -= start % day_ns + (start % day_ns < 0 ? day_ns : 0);
		if (__builtin_add_overflow(t, start, &t) || __builtin_add_overflow(t, d->day * day_ns, &t))
			return FIT_EPARSE;
	}
	/* a time of day alone is of no day, so of no zone */
	*ns = d->has[DATE] || fit_prof_has_start(fit_series_params_of(d->out)) ?
	      fit_series_local(d->out, t) : t;
	return FIT_OK;
}

static int parse_value(struct dmon *d, size_t i, struct fit_text t, struct fit_cell *cells,
		       struct fit_err *err)
{
	int what = d->what[i];
	bool bare;
	double v;

	if (fit_prof_is_missing(t)) {
		fit_series_missing(d->out, (enum fit_series_column)what, t);
		return FIT_OK;
	}
	if (fit_prof_number(t, "", &v, &bare) ||
	    (what == FIT_SERIES_GPU && (!(v >= 0 && v < 1e6) || v != (double)(int64_t)v)))
		return fit_prof_fail(&d->lines, FIT_EPARSE, d->label[i], err, "bad value '%.*s' (expected "
				     "a number or %s)", FIT_TEXT_ARG(t), d->dcgmi ? "N/A" : "-");
	if (what == FIT_SERIES_GPU)
		cells[what] = (struct fit_cell){ .u.i = (int64_t)v };
	else
		cells[what] = (struct fit_cell){ .u.d = v };
	return FIT_OK;
}

/* Where a MIG device has no utilisation, the share of time that its engines were active. */
static int derive(struct fit_cell *cells, struct fit_str *derived, struct fit_err *err)
{
	static const struct { int from, to; const char *name; } how[] = {
		{ GRACT, FIT_SERIES_UTIL, "gpu_util_pct" }, { DRAMA, FIT_SERIES_MEM, "mem_util_pct" }
	};

	fit_str_clear(derived);
	for (size_t k = 0; k < 2; k++) {
		if (!cells[how[k].to].na || cells[how[k].from].na)
			continue;
		cells[how[k].to] = (struct fit_cell){ .u.d = 100 * cells[how[k].from].u.d };
		if (fit_str_printf(derived, "%s%s", derived->n ? "," : "", how[k].name))
			return fit_fail_nomem(err);
	}
	if (derived->n)
		cells[FIT_SERIES_DERIVED] = (struct fit_cell){ .u.t = { derived->s, derived->n } };
	return FIT_OK;
}

/* The two tokens "GPU 0", "GPU-I 2" in front of a row of dcgmi. FIT_END: no GPU. */
static int parse_entity(struct dmon *d, const struct fit_text *f, struct fit_str *instance,
			struct fit_cell *cells, struct fit_err *err)
{
	int64_t id;

	if (fit_parse_int64(f[1], &id) || id < 0 || id > 1000000)
		return fit_prof_fail(&d->lines, FIT_EPARSE, "Entity", err, "bad value '%.*s %.*s' (expected "
				     "an entity such as 'GPU 0')", FIT_TEXT_ARG(f[0]), FIT_TEXT_ARG(f[1]));
	if (fit_prof_is(f[0], "GPU")) {
		cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = id };
		return FIT_OK;
	}
	if (!fit_prof_is(f[0], "GPU-I") && !fit_prof_is(f[0], "GPU-CI"))
		return FIT_END;
	fit_str_clear(instance);
	if (fit_str_printf(instance, "%.*s %lld", FIT_TEXT_ARG(f[0]), (long long)id))
		return fit_fail_nomem(err);
	cells[FIT_SERIES_INSTANCE] = (struct fit_cell){ .u.t = { instance->s, instance->n } };
	return FIT_OK;
}

static int set_time(struct dmon *d, struct fit_text date, struct fit_text clock,
		    struct fit_cell *cells, struct fit_err *err)
{
	char text[FIT_NUM_MAX];
	struct fit_text key = cells[FIT_SERIES_INSTANCE].u.t;
	int64_t *t = &cells[FIT_SERIES_TIME].u.i, id;
	int rc;

	cells[FIT_SERIES_TIME].na = false;
	if (timed(d) && parse_time(d, date, clock, t))
		return fit_prof_fail(&d->lines, FIT_EPARSE, "Time", err, "bad value '%.*s%s%.*s' (expected "
				     "%sHH:MM:SS)", FIT_TEXT_ARG(date), date.n ? " " : "",
				     FIT_TEXT_ARG(clock), date.n ? "YYYYMMDD " : "");
	if (timed(d))
		return FIT_OK;
	if (!cells[FIT_SERIES_GPU].na)
		key = (struct fit_text){ text, fit_format_int64(text, cells[FIT_SERIES_GPU].u.i) };
	rc = fit_prof_tick(&d->ticks, key, &id);
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	if (rc || fit_prof_tick_time(fit_series_params_of(d->out), d->ticks.tick, FIT_NS_PER_S, t))
		return fit_prof_fail(&d->lines, FIT_EDATA, NULL, err, "time out of range, or more than "
				     "65536 GPUs");
	return FIT_OK;
}

/* FIT_END: the row is of no GPU, or (cut) is lost. */
static int read_row(struct dmon *d, const struct fit_text *f, size_t n, bool *cut,
		    struct fit_err *err)
{
	struct fit_cell cells[OTHER];
	struct fit_str derived = { 0 }, instance = { 0 };
	struct fit_text date = { 0 }, clock = { 0 };
	size_t skip = d->dcgmi ? 2 : 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < OTHER; i++)
		cells[i] = (struct fit_cell){ .na = true };
	*cut = !d->lines.ended && n < d->n + skip;
	if (*cut)
		return FIT_END;
	if (d->dcgmi && n >= 2)
		rc = parse_entity(d, f, &instance, cells, err);
	if (!rc && n != d->n + skip)
		rc = fit_prof_fail(&d->lines, FIT_EPARSE, NULL, err, "%zu field%s, %zu expected", n,
				   n == 1 ? "" : "s", d->n + skip);
	for (size_t i = 0; !rc && i < d->n; i++) {
		if (d->what[i] == DATE)
			date = f[i + skip];
		else if (d->what[i] == CLOCK)
			clock = f[i + skip];
		else if (d->what[i] != OTHER)
			rc = parse_value(d, i, f[i + skip], cells, err);
	}
	if (!rc && !d->dcgmi && cells[FIT_SERIES_GPU].na)
		rc = fit_prof_fail(&d->lines, FIT_EDATA, "gpu", err, "missing value (expected the number of "
				   "a GPU)");
	if (!rc)
		rc = set_time(d, date, clock, cells, err);
	if (!rc)
		rc = derive(cells, &derived, err);
	if (!rc)
		rc = fit_series_sample(d->out, cells, d->lines.line, err);
	fit_str_release(&derived);
	fit_str_release(&instance);
	return rc;
}

static int no_header(const struct dmon *d, struct fit_err *err)
{
	return fit_prof_fail(&d->lines, FIT_EPARSE, NULL, err, "no header row (expected '%s')",
			     d->dcgmi ? "#Entity  GPUTL  MCUTL …" : "# gpu  pwr  gtemp …");
}

static int read_line(struct dmon *d, struct fit_err *err)
{
	struct fit_text f[FIT_PROF_FIELDS_MAX];
	size_t n = fit_prof_cut(d->lines.text, ' ', f);
	bool names, cut;
	int rc;

	if (n > FIT_PROF_FIELDS_MAX)
		return fit_prof_fail(&d->lines, FIT_EPARSE, NULL, err, "too many columns (expected at "
				     "most %d)", FIT_PROF_FIELDS_MAX);
	if (is_header(d, f, n, &names))
		return names ? read_header(d, f, n, err) : FIT_OK;
	if (!d->header.n && !d->lines.odd && !fit_prof_is_message(d->lines.text))
		d->lines.odd = d->lines.line;
	if (fit_prof_is_message(d->lines.text) ||
	    (!d->dcgmi && (f[0].s[0] < '0' || f[0].s[0] > '9') && !fit_prof_is_missing(f[0])) ||
	    (d->dcgmi && n > 1 && (f[1].s[0] < '0' || f[1].s[0] > '9'))) {
		fit_series_pass(d->out, d->lines.line, "message");
		return FIT_OK;
	}
	if (!d->header.n)
		return no_header(d, err);
	fit_series_met(d->out);
	rc = read_row(d, f, n, &cut, err);
	if (rc == FIT_END && cut)
		fit_series_lost(d->out, d->lines.line, "cut last line");
	else if (rc == FIT_END)
		fit_series_pass(d->out, d->lines.line, "entity that is no GPU");
	else if (rc)
		return fit_series_bad(d->out, rc, d->lines.line, "bad row");
	return FIT_OK;
}

static int read_table(struct dmon *d, struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(d->out);
	bool bad;
	int rc = FIT_OK;

	while (!rc && (rc = fit_prof_line(&d->lines, &bad, err)) != FIT_END) {
		if (rc && bad) {
			fit_series_met(d->out);
			rc = fit_series_bad(d->out, rc, d->lines.line, "bad encoding");
			continue;
		}
		if (rc)
			break;
		rc = read_line(d, err);
	}
	if (rc == FIT_END && !d->lines.any)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty file (expected a header row)",
			      fit_source_name(d->lines.source));
	if (rc == FIT_END && !d->header.n && d->lines.odd) {
		d->lines.line = d->lines.odd;
		rc = no_header(d, err);
	}
	if (rc == FIT_END && d->header.n && !timed(d) && (!p->has_time || !p->period_ns) &&
	    fit_series_note(d->out, "no times in the dump: %s%s%s (see --time and --period)",
			    p->has_time ? "" : "the first sample is at 0",
			    p->has_time || p->period_ns ? "" : ", ",
			    p->period_ns ? "" : "samples are one second apart"))
		rc = fit_fail_nomem(err);
	fit_prof_ticks_release(&d->ticks);
	fit_str_release(&d->header);
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_series_read_dmon(const struct fit_series_in *in, struct fit_series_out *out,
			 struct fit_err *err)
{
	struct dmon d = { .lines = { .source = in->source }, .out = out, .names = dmon_names };

	return read_table(&d, err);
}

int fit_series_read_dcgmi(const struct fit_series_in *in, struct fit_series_out *out,
			  struct fit_err *err)
{
	struct dmon d = { .lines = { .source = in->source }, .out = out, .names = dcgmi_names,
			  .dcgmi = true };

	return read_table(&d, err);
}
