/* SPDX-License-Identifier: MIT */
/* What happens to the rows that the readers of traces emit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/id_set.h"
#include "traces/jobs.h"

#define NS_PER_DAY (INT64_C(86400) * FIT_NS_PER_S)
#define CALENDAR_MAX (INT64_MAX / 2 - 2 * NS_PER_DAY)
#define N_CALENDAR 3		/* submit_s, start_s, end_s */
#define GPUS_MAX 1e9

struct fit_trace_out {
	const struct fit_trace_format *format;
	const struct fit_trace_params *params;
	struct fit_trace_report *report;
	const char *input;
	int (*row)(void *ctx, const struct fit_cell *cells, struct fit_err *err);
	void *ctx;
	struct fit_id_set ids;
	bool unique;			/* the reader sees to it */
	const char *why_bad;		/* why the last emit() refused a row; NULL: it did not */
	size_t id_at, gpus_at, status_at, time_at[N_CALENDAR];	/* SIZE_MAX: no such column */
	/* the calendar */
	enum { NO_TIME_YET, NAIVE, INSTANTS } clock;
	struct fit_zone midnight;	/* whose midnight the origin is; not given: the naive clock's */
	bool has_origin;
	int64_t origin;
	char day[10];			/* the date that came last, as text, and its midnight */
	int64_t day_ns;
	uint64_t repeated, skipped;	/* times in an hour that the zone repeats or leaves out */
	const struct fit_csv *csv;	/* the file that id_column is of */
	size_t id_column;		/* SIZE_MAX: none */
	/* sorting */
	bool collects, unsorted;
	int64_t last_submit;
	struct fit_table table;
};

static size_t field_at(const struct fit_trace_format *f, const char *name)
{
	for (size_t i = 0; i < f->n_fields; i++)
		if (strcmp(f->fields[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

const struct fit_trace_params *fit_trace_params_of(const struct fit_trace_out *out)
{
	return out->params;
}

void fit_trace_ids_are_unique(struct fit_trace_out *out)
{
	out->unique = true;
}

/* ---- the calendar ---- */

static int64_t midnight_before(int64_t ns)
{
	return ns - ns % NS_PER_DAY - (ns % NS_PER_DAY < 0 ? NS_PER_DAY : 0);
}

static void set_origin(struct fit_trace_out *out, int64_t first_ns)
{
	char *text = out->report->origin;
	int64_t offset_s, local;

	out->has_origin = true;
	if (out->clock != INSTANTS) {
		out->origin = midnight_before(first_ns);
		fit_format_datetime(text, out->origin);
		return;
	}
	offset_s = fit_zone_offset(&out->midnight, first_ns);
	local = midnight_before(first_ns + offset_s * FIT_NS_PER_S);
	fit_zone_to_utc(&out->midnight, local, FIT_INT_NA, &out->origin);
	offset_s = fit_zone_offset(&out->midnight, out->origin);
	fit_format_datetime(text, local);
	snprintf(text + strlen(text), FIT_DATETIME_MAX - strlen(text), "%c%02d:%02d",
		 offset_s < 0 ? '-' : '+', abs((int)offset_s) / 3600, abs((int)offset_s) / 60 % 60);
}

/* Move the times of a row, in place: a copy of the row would wait for all of it to be stored. */
static void shift(const struct fit_trace_out *out, struct fit_cell *cells, int64_t by)
{
	for (size_t j = 0; j < N_CALENDAR; j++)
		if (out->time_at[j] != SIZE_MAX && !cells[out->time_at[j]].na) {
			cells[out->time_at[j]].u.i += by;
			cells[out->time_at[j]].n_plain = 0;
		}
}

void fit_trace_instants(struct fit_trace_out *out, int64_t offset_s)
{
	if (out->clock == INSTANTS)
		return;
	out->clock = INSTANTS;
	out->midnight = out->params->zone;
	if (!out->midnight.given)
		out->midnight = (struct fit_zone){ .given = true, .std_s = offset_s, .dst_s = offset_s };
}

/* "Z", "+08:00", "+0800", "+08", "UTC" or "GMT", perhaps behind a blank. */
static int take_offset(struct fit_text t, int64_t *offset_s)
{
	struct fit_zone z;
	char buf[16];

	if (t.n && t.s[0] == ' ') {
		t.s++;
		t.n--;
	}
	if (t.n == 0 || t.n > 6 || !(t.s[0] == 'Z' || t.s[0] == '+' || t.s[0] == '-' ||
				    fit_text_is(t, "UTC") || fit_text_is(t, "GMT")))
		return FIT_EPARSE;
	memcpy(buf, t.s, t.n);
	buf[t.n] = '\0';
	if (fit_zone_parse(&z, buf, NULL))
		return FIT_EPARSE;
	*offset_s = z.std_s;
	return FIT_OK;
}

/* A time without fraction or offset on the day that came last, as most are. */
static bool same_day(const struct fit_trace_out *out, struct fit_text t, int64_t *ns)
{
	unsigned h, mi, s, d[6];

	if (t.n != 19 || !out->day[0] || memcmp(t.s, out->day, 10) != 0 || (t.s[10] != ' ' && t.s[10] != 'T') ||
	    t.s[13] != ':' || t.s[16] != ':')
		return false;
	for (size_t i = 0; i < 6; i++)
		d[i] = (unsigned)(unsigned char)t.s[11 + i + i / 2] - '0';
	if (d[0] > 9 || d[1] > 9 || d[2] > 5 || d[3] > 9 || d[4] > 5 || d[5] > 9)
		return false;
	h = d[0] * 10 + d[1];
	mi = d[2] * 10 + d[3];
	s = d[4] * 10 + d[5];
	if (h > 23)
		return false;
	*ns = out->day_ns + (int64_t)(h * 3600 + mi * 60 + s) * FIT_NS_PER_S;
	return true;
}

static int read_time(struct fit_trace_out *out, struct fit_text t, int64_t *ns)
{
	int rc = fit_parse_datetime(t, ns);

	if (!rc) {
		memcpy(out->day, t.s, 10);
		out->day_ns = midnight_before(*ns);
	}
	return rc;
}

int fit_trace_time(struct fit_trace_out *out, struct fit_text t, int64_t after, int64_t *ns)
{
	struct fit_text head = t;
	int64_t v, offset_s;
	int rc, n;

	head.n = t.n < 19 ? t.n : 19;
	if (head.n == 19 && t.n > 19 && t.s[19] == '.')
		for (head.n = 20; head.n < t.n && t.s[head.n] >= '0' && t.s[head.n] <= '9'; head.n++)
			;
	rc = same_day(out, t, &v) ? FIT_OK : read_time(out, head, &v);
	if (rc)
		return rc;
	if (v < -CALENDAR_MAX || v > CALENDAR_MAX)	/* differences would not fit */
		return FIT_EINVAL;
	if (head.n < t.n) {
		rc = take_offset((struct fit_text){ t.s + head.n, t.n - head.n }, &offset_s);
		if (rc)
			return rc;
		if (out->clock == NAIVE)
			return FIT_EDATA;
		fit_trace_instants(out, offset_s);
		*ns = v - offset_s * FIT_NS_PER_S;
		return FIT_OK;
	}
	if (!out->params->zone.given) {
		if (out->clock == INSTANTS)
			return FIT_EDATA;
		out->clock = NAIVE;
		*ns = v;
		return FIT_OK;
	}
	fit_trace_instants(out, 0);
	n = fit_zone_to_utc(&out->params->zone, v, after, ns);
	if (n == 2)
		out->repeated++;
	else if (n == 0)
		out->skipped++;
	return FIT_OK;
}

int fit_trace_csv_time(const struct fit_csv *c, struct fit_trace_out *out, const char *field,
		       const struct fit_cell *text, int64_t after, struct fit_cell *time,
		       struct fit_err *err)
{
	int rc;

	*time = (struct fit_cell){ .na = true };
	if (text->na)
		return FIT_OK;
	rc = fit_trace_time(out, text->u.t, after, &time->u.i);
	if (!rc)
		time->na = false;
	if (rc == FIT_EDATA)
		return fit_csv_fail(c, FIT_EDATA, field, err, "bad value '%.*s' (times with and without "
				    "offset in one trace; expected --tz)", FIT_TEXT_ARG(text->u.t));
	return rc ? fit_csv_fail(c, FIT_EPARSE, field, err, "%s '%.*s' (expected YYYY-MM-DD HH:MM:SS)",
				 rc == FIT_EINVAL ? "no such time" : "bad value",
				 FIT_TEXT_ARG(text->u.t)) : FIT_OK;
}

/* ---- taking rows in ---- */

static int refuse(struct fit_trace_out *out, const char *why)
{
	out->why_bad = why;
	return FIT_EDATA;
}

static int check_unique(struct fit_trace_out *out, struct fit_text id, uint64_t line,
			struct fit_err *err)
{
	uint64_t first;

	if (fit_id_set_put(&out->ids, id, line, &first))
		return fit_fail_nomem(err);
	if (!first)
		return FIT_OK;
	fit_fail(err, FIT_EDATA, "%s:%llu:%s: duplicate id '%.*s' (first on line %llu)", out->input,
		 (unsigned long long)line, out->format->id_field ? out->format->id_field : "job_id",
		 FIT_TEXT_ARG(id), (unsigned long long)first);
	return refuse(out, "duplicate id");
}

static const struct fit_cell *time_cell(const struct fit_trace_out *out, const struct fit_cell *cells,
					size_t j)
{
	size_t at = out->time_at[j];

	return at != SIZE_MAX && !cells[at].na ? &cells[at] : NULL;
}

/* Times so far out that differences of them would not fit. */
static int check_range(struct fit_trace_out *out, const struct fit_cell *cells, uint64_t line,
		       struct fit_err *err)
{
	for (size_t j = 0; j < N_CALENDAR; j++) {
		const struct fit_cell *c = time_cell(out, cells, j);

		if (!c || (c->u.i >= -CALENDAR_MAX && c->u.i <= CALENDAR_MAX))
			continue;
		fit_fail(err, FIT_EDATA, "%s:%llu:%s: out of range (expected years 1824 to 2115)",
			 out->input, (unsigned long long)line, out->format->fields[out->time_at[j]].name);
		return refuse(out, "out of range");
	}
	return FIT_OK;
}

/* More GPUs than there are: a shifted column, or digits that run together. */
static int check_gpus(struct fit_trace_out *out, const struct fit_cell *gpus, uint64_t line,
		      struct fit_err *err)
{
	char text[FIT_NUM_MAX];

	if (gpus->na || gpus->u.d <= GPUS_MAX)
		return FIT_OK;
	text[fit_format_double(text, gpus->u.d)] = '\0';
	fit_fail(err, FIT_EDATA, "%s:%llu:gpus: out of range '%s' (expected at most %.0f)", out->input,
		 (unsigned long long)line, text, GPUS_MAX);
	return refuse(out, "out of range");
}

/* The origin, if this is the first row with a time; no submission may come before it. */
static int check_origin(struct fit_trace_out *out, const struct fit_cell *cells, uint64_t line,
			struct fit_err *err)
{
	const struct fit_cell *submit = time_cell(out, cells, 0);
	char at[FIT_DATETIME_MAX];

	for (size_t j = 0; j < N_CALENDAR && !out->has_origin; j++)
		if (time_cell(out, cells, j))
			set_origin(out, time_cell(out, cells, j)->u.i);
	if (!submit || submit->u.i >= out->origin)
		return FIT_OK;
	fit_format_datetime(at, submit->u.i + (out->clock == INSTANTS ? FIT_NS_PER_S *
			    fit_zone_offset(&out->midnight, submit->u.i) : 0));
	fit_fail(err, FIT_EDATA, "%s:%llu: submission '%s' before the origin %s, the midnight before the "
		 "first row (expected rows in order, or --sort)", out->input, (unsigned long long)line, at,
		 out->report->origin);
	return refuse(out, "before the origin");
}

/* One good row into the counts of the report. */
static void count_row(struct fit_trace_out *out, const struct fit_cell *cells)
{
	struct fit_trace_report *r = out->report;
	const struct fit_cell *submit = time_cell(out, cells, 0);

	r->jobs++;
	if (out->gpus_at != SIZE_MAX && !cells[out->gpus_at].na && !(cells[out->gpus_at].u.d > 0))
		r->cpu_jobs++;
	if (out->status_at != SIZE_MAX && !cells[out->status_at].na && cells[out->status_at].u.t.n == 7) {
		r->running += memcmp(cells[out->status_at].u.t.s, "RUNNING", 7) == 0;
		r->pending += memcmp(cells[out->status_at].u.t.s, "PENDING", 7) == 0;
	}
	if (!submit)
		return;
	if (!r->has_range || submit->u.i < r->first_ns)
		r->first_ns = submit->u.i;
	if (!r->has_range || submit->u.i > r->last_ns)
		r->last_ns = submit->u.i;
	r->has_range = true;
}

static int64_t sort_key(const struct fit_cell *submit)
{
	return submit && !submit->na ? submit->u.i : INT64_MAX;	/* unknown ones come last */
}

int fit_trace_emit(struct fit_trace_out *out, struct fit_cell *cells, uint64_t line,
		   struct fit_err *err)
{
	bool calendar = out->format->flags & FIT_TRACE_CALENDAR;
	int rc = FIT_OK;

	out->why_bad = NULL;
	if (out->gpus_at != SIZE_MAX)
		rc = check_gpus(out, &cells[out->gpus_at], line, err);
	if (!rc && calendar)
		rc = check_range(out, cells, line, err);
	if (!rc && calendar && !out->collects)
		rc = check_origin(out, cells, line, err);
	if (!rc && out->id_at != SIZE_MAX && !cells[out->id_at].na && !out->params->no_unique &&
	    !out->unique)
		rc = check_unique(out, cells[out->id_at].u.t, line, err);
	if (rc)
		return rc;
	if (out->collects) {
		int64_t key = sort_key(time_cell(out, cells, 0));

		if (fit_table_add(&out->table, cells))
			return fit_fail_nomem(err);
		out->unsorted = out->unsorted || (out->table.n_rows > 1 && key < out->last_submit);
		out->last_submit = key;
		count_row(out, cells);
		return FIT_OK;
	}
	if (calendar && out->has_origin)
		shift(out, cells, -out->origin);
	count_row(out, cells);
	rc = out->row(out->ctx, cells, err);
	if (calendar && out->has_origin)
		shift(out, cells, out->origin);
	return rc == FIT_EDATA || rc == FIT_EPARSE ? FIT_EINVAL : rc;
}

static void count_reason(struct fit_trace_counts *c, const char *reason)
{
	size_t max = sizeof c->reasons / sizeof *c->reasons, i;

	c->n++;
	for (i = 0; i < c->n_reasons && strcmp(c->reasons[i].reason, reason) != 0; i++)
		;
	if (i == max)	/* more kinds than places: the last one stands for the rest */
		c->reasons[--i].reason = "of other kinds";
	if (i == c->n_reasons)
		c->reasons[c->n_reasons++].reason = reason;
	c->reasons[i].n++;
}

static void listen(struct fit_trace_out *out, const char *fmt, ...) FIT_PRINTF(2, 3);
static void listen(struct fit_trace_out *out, const char *fmt, ...)
{
	char line[FIT_ERR_MAX];
	va_list ap;

	if (!out->params->listen)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	out->params->listen(out->params->listen_ctx, line);
}

int fit_trace_bad(struct fit_trace_out *out, int rc, const char *reason, const struct fit_err *err)
{
	const char *why = out->why_bad ? out->why_bad : reason;

	out->why_bad = NULL;
	if (!why || (rc != FIT_EPARSE && rc != FIT_EDATA))
		return rc;
	if (out->report->left_out.n >= (uint64_t)out->params->skip_bad)
		return rc;
	count_reason(&out->report->left_out, why);
	if (err)
		listen(out, "%s, left out", err->msg);
	return FIT_OK;
}

void fit_trace_repaired(struct fit_trace_out *out, uint64_t line, const char *field,
			const char *reason, const char *fmt, ...)
{
	char what[FIT_ERR_MAX];
	va_list ap;

	count_reason(&out->report->repaired, reason);
	if (!out->params->listen)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	listen(out, "%s:%llu:%s: %s", out->input, (unsigned long long)line, field, what);
}

static int add_note(struct fit_trace_out *out, const char *fmt, va_list ap) FIT_PRINTF(2, 0);
static int add_note(struct fit_trace_out *out, const char *fmt, va_list ap)
{
	char line[FIT_ERR_MAX];

	vsnprintf(line, sizeof line, fmt, ap);
	return fit_str_printf(&out->report->notes, "%s\n", line);
}

int fit_trace_note(struct fit_trace_out *out, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = add_note(out, fmt, ap);
	va_end(ap);
	return rc;
}

int fit_trace_conflict(struct fit_trace_out *out, const char *fmt, ...)
{
	va_list ap;
	int rc;

	out->report->conflicts++;
	va_start(ap, fmt);
	rc = add_note(out, fmt, ap);
	va_end(ap);
	return rc;
}

int fit_trace_meta(struct fit_trace_out *out, const char *key, const char *value)
{
	return fit_meta_add(&out->report->meta, key, value);
}

void fit_trace_count(struct fit_trace_out *out, uint64_t records)
{
	out->report->rows = records;
}

void fit_trace_set_input(struct fit_trace_out *out, const char *name)
{
	out->input = name;
}

void fit_trace_set_hash(struct fit_trace_out *out, const char hash[FIT_HASH_HEX])
{
	memcpy(out->report->hash, hash, FIT_HASH_HEX);
}

int fit_trace_add_hash(struct fit_trace_out *out, const char *role, const char hash[FIT_HASH_HEX])
{
	struct fit_str key = { 0 };
	int rc = fit_str_printf(&key, "input_%s", role);

	rc = rc ? rc : fit_meta_set(&out->report->meta, key.s, hash);
	fit_str_release(&key);
	return rc;
}

/* ---- order of times ---- */

struct pair {
	const char *field, *reason, *than;
};

/* Is *late at least early? Else do as bad_times says; *gone: late is no longer what it was. */
static int check_pair(struct fit_trace_out *out, uint64_t line, const struct pair *p, int64_t early,
		      struct fit_cell *late, bool *gone, struct fit_err *err)
{
	char gap[FIT_NUM_MAX];

	*gone = false;
	if (late->na || late->u.i >= early)
		return FIT_OK;
	fit_format_time(gap, early - late->u.i);
	if (out->params->bad_times == FIT_TIMES_FAIL)
		return fit_fail(err, FIT_EDATA, "%s:%llu:%s: %s s before %s (expected times in order)",
				out->input, (unsigned long long)line, p->field, gap, p->than);
	fit_trace_repaired(out, line, p->field, p->reason, "%s s before %s, %s", gap, p->than,
			   out->params->bad_times == FIT_TIMES_KEEP ? "kept" :
			   out->params->bad_times == FIT_TIMES_CLIP ? "clipped" : "taken as missing");
	*gone = out->params->bad_times != FIT_TIMES_KEEP;
	if (out->params->bad_times == FIT_TIMES_CLIP)
		*late = (struct fit_cell){ .u.i = early };
	else if (out->params->bad_times == FIT_TIMES_MISSING)
		*late = (struct fit_cell){ .na = true };
	return FIT_OK;
}

int fit_trace_check_times(struct fit_trace_out *out, uint64_t line, const struct fit_cell *submit,
			  struct fit_cell *start, struct fit_cell *end, struct fit_cell *duration,
			  struct fit_err *err)
{
	static const struct pair start_submit = {
		"start_s", "start before submission", "the submission"
	}, end_start = { "end_s", "end before start", "the start" }, end_submit = {
		"end_s", "end before submission", "the submission"
	};
	const struct fit_cell from = *start;	/* a start that is taken as missing still says how long */
	bool start_gone = false, end_gone = false;
	int rc = FIT_OK;

	if (!submit->na)
		rc = check_pair(out, line, &start_submit, submit->u.i, start, &start_gone, err);
	if (!rc && !start->na)
		rc = check_pair(out, line, &end_start, start->u.i, end, &end_gone, err);
	else if (!rc && !submit->na)
		rc = check_pair(out, line, &end_submit, submit->u.i, end, &end_gone, err);
	if (rc || !duration)
		return rc;
	if (end_gone)
		*duration = (struct fit_cell){ .na = true };
	if (duration->na && !end->na && !from.na)
		*duration = (struct fit_cell){ .u.i = end->u.i - (start->na ? from.u.i : start->u.i) };
	return FIT_OK;
}

/* ---- helpers of the readers of delimited text ---- */

const char *const fit_trace_missing[] = {
	"NA", "N/A", "NaN", "nan", "None", "none", "NULL", "null", "Unknown", NULL
};

/* The id of the row will be looked up when the rest of it is understood: fetch its place meanwhile. */
static void expect_id(struct fit_trace_out *out, const struct fit_csv *c)
{
	const char *name = out->format->id_field;

	if (out->params->no_unique || out->unique || !name)
		return;
	if (out->csv != c) {
		out->csv = c;
		out->id_column = SIZE_MAX;
		for (size_t i = 0; i < fit_csv_n_columns(c) && out->id_column == SIZE_MAX; i++)
			if (fit_text_is(fit_csv_column(c, i), name))
				out->id_column = i;
	}
	if (out->id_column != SIZE_MAX)
		fit_id_set_expect(&out->ids, fit_csv_raw(c, out->id_column));
}

int fit_trace_csv_row(struct fit_csv *c, struct fit_trace_out *out, struct fit_cell *cells,
		      struct fit_err *err)
{
	for (;;) {
		int rc = fit_csv_row(c, cells, err);
		char hash[FIT_HASH_HEX];

		out->report->rows = fit_csv_rows(c);
		if (rc == FIT_END) {
			uint64_t again = fit_csv_repeated(c);

			fit_csv_hash(c, hash);
			fit_trace_set_hash(out, hash);
			if (again && fit_trace_note(out, "%llu more header row%s passed over",
						    (unsigned long long)again, again == 1 ? "" : "s"))
				return fit_fail_nomem(err);
		}
		if (rc == FIT_OK)
			expect_id(out, c);
		if (rc == FIT_OK || rc == FIT_END)
			return rc;
		rc = fit_trace_bad(out, rc, fit_csv_reason(c), err);
		if (rc)
			return rc;
	}
}

int fit_trace_note_unbound(const struct fit_csv *c, struct fit_trace_out *out)
{
	struct fit_str list = { 0 };
	int rc = fit_csv_unbound(c, &list);

	if (!rc && list.n)
		rc = fit_trace_note(out, "columns passed over: %s", list.s);
	fit_str_release(&list);
	return rc;
}

int fit_trace_at_least(const struct fit_csv *c, const struct fit_field *f,
		       const struct fit_cell *cell, int64_t min, struct fit_err *err)
{
	char text[FIT_NUM_MAX];
	bool ok = true;

	if (cell->na)
		return FIT_OK;
	if (f->type == FIT_REAL)
		ok = isfinite(cell->u.d) && cell->u.d >= (double)min;
	else if (f->type == FIT_TIME)
		ok = cell->u.i >= min * FIT_NS_PER_S;
	else
		ok = cell->u.i >= min;
	if (ok)
		return FIT_OK;
	if (f->type == FIT_REAL)
		fit_format_double(text, cell->u.d);
	else if (f->type == FIT_TIME)
		fit_format_time(text, cell->u.i);
	else
		fit_format_int64(text, cell->u.i);
	return fit_csv_fail(c, FIT_EDATA, f->name, err, "out of range '%s' (expected at least %lld)",
			    text, (long long)min);
}

/* ---- collected rows ---- */

struct rank {
	int64_t submit_ns;
	size_t row;
};

static int compare_ranks(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The order of the rows, or NULL when they are in order already. */
static int rank_rows(struct fit_trace_out *out, struct rank **ranks, struct fit_err *err)
{
	const struct fit_table *t = &out->table;

	*ranks = NULL;
	if (!out->unsorted)
		return FIT_OK;
	*ranks = malloc(t->n_rows * sizeof **ranks);
	if (!*ranks)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < t->n_rows; i++) {
		struct fit_cell c = fit_column_cell(&t->columns[out->time_at[0]], i);

		(*ranks)[i] = (struct rank){ sort_key(&c), i };
	}
	qsort(*ranks, t->n_rows, sizeof **ranks, compare_ranks);
	return FIT_OK;
}

/* The first submission; without any, the first time of any kind. */
static void origin_of_all(struct fit_trace_out *out)
{
	const struct fit_table *t = &out->table;
	int64_t first = out->report->first_ns;
	bool any = out->report->has_range;

	for (size_t j = 1; j < N_CALENDAR && !any; j++)
		for (size_t i = 0; out->time_at[j] != SIZE_MAX && i < t->n_rows; i++) {
			int64_t v = t->columns[out->time_at[j]].i[i];

			if (v == FIT_INT_NA || (any && v >= first))
				continue;
			first = v;
			any = true;
		}
	if (any)
		set_origin(out, first);
	out->report->first_ns -= out->report->has_range ? out->origin : 0;
	out->report->last_ns -= out->report->has_range ? out->origin : 0;
}

/* Hand on the rows by submission, with ids by rank. */
static int hand_on_sorted(struct fit_trace_out *out, struct fit_err *err)
{
	const struct fit_trace_format *f = out->format;
	const struct fit_table *t = &out->table;
	struct fit_cell *cells = calloc(f->n_fields, sizeof *cells);
	struct fit_str id = { 0 };
	struct rank *ranks = NULL;
	int rc = cells ? rank_rows(out, &ranks, err) : fit_fail_nomem(err);

	if (f->flags & FIT_TRACE_CALENDAR)
		origin_of_all(out);
	for (size_t i = 0; !rc && i < t->n_rows; i++) {
		for (size_t j = 0; j < f->n_fields; j++)
			cells[j] = fit_column_cell(&t->columns[j], ranks ? ranks[i].row : i);
		if (f->flags & FIT_TRACE_RANK_ID) {
			fit_str_clear(&id);
			if (fit_str_printf(&id, "%s%zu", f->id_prefix, i))
				rc = fit_fail_nomem(err);
			cells[out->id_at] = (struct fit_cell){ .u.t = { id.s, id.n } };
		}
		if (!rc && out->has_origin)
			shift(out, cells, -out->origin);
		if (!rc)
			rc = out->row(out->ctx, cells, err);
	}
	free(ranks);
	free(cells);
	fit_str_release(&id);
	return rc;
}

/* ---- a whole trace ---- */

void fit_trace_report_release(struct fit_trace_report *r)
{
	fit_str_release(&r->notes);
	fit_meta_release(&r->meta);
	*r = (struct fit_trace_report){ 0 };
}

static int note_zone(struct fit_trace_out *out)
{
	int rc = FIT_OK;

	if (out->repeated)
		rc = fit_trace_note(out, "%llu time%s in an hour that the zone repeats (taken as the first "
				    "instant that keeps the order of a record)",
				    (unsigned long long)out->repeated, out->repeated == 1 ? "" : "s");
	if (!rc && out->skipped)
		rc = fit_trace_note(out, "%llu time%s in an hour that the zone leaves out (taken as "
				    "standard time)", (unsigned long long)out->skipped,
				    out->skipped == 1 ? "" : "s");
	return rc;
}

int fit_trace_stream(const struct fit_trace_format *format, struct fit_source *s,
		     const struct fit_trace_params *params,
		     int (*row)(void *ctx, const struct fit_cell *cells, struct fit_err *err),
		     void *ctx, struct fit_trace_report *report, struct fit_err *err)
{
	struct fit_trace_out out = {
		.format = format, .params = params, .report = report, .row = row, .ctx = ctx,
		.input = fit_source_name(s), .id_at = field_at(format, "job_id"),
		.gpus_at = field_at(format, "gpus"), .status_at = field_at(format, "status"),
		.time_at = {
			field_at(format, "submit_s"), field_at(format, "start_s"), field_at(format, "end_s")
		}
	};
	bool sorts = params->sort == FIT_SORT_YES ||
		     (params->sort == FIT_SORT_FORMAT && (format->flags & FIT_TRACE_SORT));
	int rc = FIT_OK;

	*report = (struct fit_trace_report){ 0 };
	out.collects = (sorts || (format->flags & FIT_TRACE_RANK_ID)) && out.time_at[0] != SIZE_MAX;
	if (out.collects)
		rc = fit_table_init(&out.table, "", format->fields, format->n_fields, err);
	if (!rc)
		rc = format->read(s, &out, err);
	if (!rc && note_zone(&out))
		rc = fit_fail_nomem(err);
	/* the set is no longer needed, and the rows may need its memory */
	fit_id_set_release(&out.ids);
	if (!rc && out.collects)
		rc = hand_on_sorted(&out, err);
	fit_table_release(&out.table);
	return rc;
}

static int add_row(void *ctx, const struct fit_cell *cells, struct fit_err *err)
{
	return fit_table_add(ctx, cells) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_trace_read(struct fit_table *table, const struct fit_trace_format *format,
		   struct fit_source *s, const struct fit_trace_params *params,
		   struct fit_trace_report *report, struct fit_err *err)
{
	int rc = fit_table_init(table, "", format->fields, format->n_fields, err);

	*report = (struct fit_trace_report){ 0 };
	if (rc)
		return rc;
	snprintf(table->input, sizeof table->input, "%s", fit_source_name(s));
	rc = fit_trace_stream(format, s, params, add_row, table, report, err);
	memcpy(table->hash, report->hash, sizeof table->hash);
	if (rc)
		fit_table_release(table);
	return rc;
}
