/* SPDX-License-Identifier: MIT */
/* A jobs table as a log in the Standard Workload Format (docs/formats/swf.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/swf.h"
#include "traces/texts.h"

const char *const fit_swf_names[FIT_SWF_FIELDS] = {
	"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time",
	"used memory", "requested processors", "requested time", "requested memory", "status", "user id",
	"group id", "application number", "queue number", "partition number", "preceding job number",
	"think time"
};

int fit_swf_escape(struct fit_str *out, struct fit_text t)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < t.n; i++) {
		const char *as = t.s[i] == '\\' ? "\\\\" : t.s[i] == '\n' ? "\\n" : t.s[i] == '\r' ? "\\r" : NULL;

		rc = as ? fit_str_puts(out, as) : fit_str_add(out, t.s + i, 1);
	}
	return rc;
}

int fit_swf_unescape(struct fit_str *out, struct fit_text t)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < t.n; i++) {
		char c = t.s[i];

		if (c == '\\' && i + 1 < t.n) {
			c = t.s[++i];
			c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
		}
		rc = fit_str_add(out, &c, 1);
	}
	return rc;
}

/* ---- cells of whatever type ---- */

struct cell_at {
	const struct fit_table *t;
	const struct fit_column *c;	/* NULL: no such column */
	size_t row;
};

static bool is_na(const struct cell_at *x)
{
	return !x->c || fit_column_cell(x->c, x->row).na;
}

/* A number; FIT_EDATA where there is none in the cell. Times as seconds. */
static int get_real(const struct cell_at *x, double *v, struct fit_err *err)
{
	struct fit_cell c = fit_column_cell(x->c, x->row);

	switch (x->c->type) {
	case FIT_INT:
		*v = (double)c.u.i;
		return FIT_OK;
	case FIT_REAL:
		*v = c.u.d;
		return FIT_OK;
	case FIT_TIME:
		*v = fit_time_to_double(c.u.i);
		return FIT_OK;
	case FIT_TEXT:
		break;
	}
	if (fit_parse_double(c.u.t, v) == FIT_OK)
		return FIT_OK;
	return fit_table_fail(x->t, x->row, FIT_EDATA, x->c->name, err,
			      "bad value '%.*s' (expected a number)",
			      FIT_TEXT_ARG(c.u.t));
}

static int get_time(const struct cell_at *x, int64_t *ns, struct fit_err *err)
{
	struct fit_cell c = fit_column_cell(x->c, x->row);
	double v;
	int rc;

	if (x->c->type == FIT_TIME) {
		*ns = c.u.i;
		return FIT_OK;
	}
	if (x->c->type == FIT_TEXT && fit_parse_time(c.u.t, ns) == FIT_OK)
		return FIT_OK;
	rc = get_real(x, &v, err);
	if (rc)
		return rc;
	if (fit_time_from_double(v, ns))
		return fit_table_fail(x->t, x->row, FIT_EDATA, x->c->name, err,
				      "out of range (expected seconds)");
	return FIT_OK;
}

static struct fit_text get_text(const struct cell_at *x, char buf[FIT_NUM_MAX])
{
	struct fit_cell c = fit_column_cell(x->c, x->row);

	switch (x->c->type) {
	case FIT_INT:
		return (struct fit_text){ buf, fit_format_int64(buf, c.u.i) };
	case FIT_REAL:
		return (struct fit_text){ buf, fit_format_double(buf, c.u.d) };
	case FIT_TIME:
		return (struct fit_text){ buf, fit_format_time(buf, c.u.i) };
	case FIT_TEXT:
		break;
	}
	return c.u.t;
}

/* ---- names as numbers ---- */

enum { JOB, USER, GROUP, APP, QUEUE, PARTITION, N_NAMES };
static const char *const kinds[N_NAMES] = { "job", "user", "group", "app", "queue", "partition" };

struct names {
	const struct fit_column *column;
	bool numbers;			/* all of them are numbers already */
	struct fit_texts texts;
};

/* A number as the format wants it, without a sign or a leading zero, not before min. */
static bool is_number(struct fit_text t, int64_t min, int64_t *v)
{
	return t.n && t.s[0] >= '0' && t.s[0] <= '9' && (t.n == 1 || t.s[0] != '0') &&
	       fit_parse_int64(t, v) == FIT_OK && *v >= min;
}

struct swf_out {
	const struct fit_table *t;
	struct fit_str *text;
	struct names names[N_NAMES];
	const struct fit_column *submit, *start, *duration, *gpus, *gpus_req, *status, *mem, *limit, *after,
			      *think;
	size_t *order;			/* rows by submission */
	int64_t *submits;
	uint64_t open, timeouts, no_gpus, lost_after;
};

static int name_number(struct swf_out *o, int kind, size_t row, int64_t *v, struct fit_err *err)
{
	struct names *n = &o->names[kind];
	struct cell_at x = { o->t, n->column, row };
	char buf[FIT_NUM_MAX];
	uint32_t number;

	*v = -1;
	if (is_na(&x))
		return FIT_OK;
	if (n->numbers) {
		bool ok = is_number(get_text(&x, buf), 0, v);

		return ok ? FIT_OK : fit_fail(err, FIT_EINVAL, "not a number");
	}
	if (fit_texts_put(&n->texts, get_text(&x, buf), &number, NULL))
		return fit_fail_nomem(err);
	*v = number == FIT_NO_TEXT ? -1 : (int64_t)number + 1;
	return FIT_OK;
}

/* Numbers for the names of a column, in the order of the rows to come; labels for them. */
static int number_names(struct swf_out *o, int kind, struct fit_err *err)
{
	struct names *n = &o->names[kind];
	char buf[FIT_NUM_MAX];
	int64_t v;
	int rc = FIT_OK;

	n->numbers = true;
	for (size_t i = 0; n->column && n->numbers && i < o->t->n_rows; i++) {
		struct cell_at x = { o->t, n->column, i };

		n->numbers = is_na(&x) || is_number(get_text(&x, buf), kind == JOB ? 1 : 0, &v);
	}
	for (size_t i = 0; !rc && !n->numbers && i < o->t->n_rows; i++)
		rc = name_number(o, kind, o->order[i], &v, err);
	for (size_t i = 0; !rc && i < n->texts.n; i++) {
		rc = fit_str_printf(o->text, "; Label: %s %zu ", kinds[kind], i + 1);
		rc = rc ? rc : fit_swf_escape(o->text, fit_texts_get(&n->texts, (uint32_t)i));
		rc = rc ? rc : fit_str_puts(o->text, "\n");
		rc = rc ? fit_fail_nomem(err) : FIT_OK;
	}
	return rc;
}

/* ---- one line ---- */

static int put_count(struct swf_out *o, const struct fit_column *c, size_t row, bool none,
		     struct fit_err *err)
{
	struct cell_at x = { o->t, c, row };
	char num[FIT_NUM_MAX];
	double v;
	int rc;

	if (none || is_na(&x))
		return fit_str_puts(o->text, " -1") ? fit_fail_nomem(err) : FIT_OK;
	rc = get_real(&x, &v, err);
	if (rc)
		return rc;
	if (!(v >= 0) || floor(v) < v || v > 1e15) {
		fit_format_double(num, v);
		return fit_table_fail(o->t, row, FIT_EDATA, c->name, err,
				      "bad value '%s' (expected a whole "
				      "number, as the format has no shares)", num);
	}
	return fit_str_printf(o->text, " %lld", (long long)v) ? fit_fail_nomem(err) : FIT_OK;
}

/* ns as seconds; negative: -1 */
static int put_ns(struct swf_out *o, int64_t ns)
{
	char num[FIT_NUM_MAX];

	if (ns < 0)
		return fit_str_puts(o->text, " -1");
	fit_format_time(num, ns);
	return fit_str_printf(o->text, " %s", num);
}

/* A column of seconds, -1 where it is missing; not negative. */
static int get_seconds(struct swf_out *o, const struct fit_column *c, size_t row, int64_t *ns,
		       struct fit_err *err)
{
	struct cell_at x = { o->t, c, row };
	char num[FIT_NUM_MAX];
	double v;
	int rc;

	*ns = -1;
	if (is_na(&x))
		return FIT_OK;
	if (c->type == FIT_REAL) {		/* a time limit may be endless, or as good as that */
		rc = get_real(&x, &v, err);
		if (!rc && v > 4e9)
			return FIT_OK;
	}
	rc = get_time(&x, ns, err);
	if (rc || *ns >= 0)
		return rc;
	fit_format_time(num, *ns);
	return fit_table_fail(o->t, row, FIT_EDATA, c->name, err,
			      "out of range '%s' (expected at least 0)",
			      num);
}

static int get_wait(struct swf_out *o, size_t row, int64_t *ns, struct fit_err *err)
{
	struct cell_at x = { o->t, o->start, row };
	int64_t start;
	int rc;

	*ns = -1;
	if (is_na(&x))
		return FIT_OK;
	rc = get_time(&x, &start, err);
	if (rc)
		return rc;
	if (start < o->submits[row])
		return fit_table_fail(o->t, row, FIT_EDATA, "start_s", err,
				      "start before submission (expected "
				      "times in order)");
	*ns = start - o->submits[row];
	return FIT_OK;
}

static int put_memory(struct swf_out *o, size_t row, struct fit_err *err)
{
	struct cell_at mem = { o->t, o->mem, row }, gpus = { o->t, o->gpus, row };
	double mib, n;
	int rc;

	if (is_na(&mem) || is_na(&gpus))
		return fit_str_puts(o->text, " -1") ? fit_fail_nomem(err) : FIT_OK;
	rc = get_real(&mem, &mib, err);
	rc = rc ? rc : get_real(&gpus, &n, err);
	if (rc)
		return rc;
	if (!(n > 0) || !(mib >= 0) || mib > 1e12)
		return fit_str_puts(o->text, " -1") ? fit_fail_nomem(err) : FIT_OK;
	return fit_str_printf(o->text, " %.0f",
			      ceil(mib * 1024 / n - 1e-6)) ? fit_fail_nomem(err) : FIT_OK;
}

static int get_status(struct swf_out *o, size_t row, bool *pending)
{
	struct cell_at x = { o->t, o->status, row };
	struct fit_text t = is_na(&x) || x.c->type != FIT_TEXT ? (struct fit_text){ "", 0 } :
			    fit_column_text(x.c, row);

	*pending = fit_text_is(t, "PENDING");
	if (fit_text_is(t, "OK"))
		return 1;
	if (fit_text_is(t, "CANCELLED"))
		return 5;
	if (fit_text_is(t, "FAILED"))
		return 0;
	if (fit_text_is(t, "TIMEOUT") || fit_text_is(t, "NODE_FAIL")) {
		o->timeouts++;
		return 0;
	}
	o->open += *pending || fit_text_is(t, "RUNNING");
	return -1;
}

/* The job that this one waits for, by its number. */
static int get_after(struct swf_out *o, size_t row, int64_t *v, struct fit_err *err)
{
	struct cell_at x = { o->t, o->after, row };
	struct names *jobs = &o->names[JOB];
	char buf[FIT_NUM_MAX];
	uint32_t i;

	(void)err;
	*v = -1;
	if (is_na(&x))
		return FIT_OK;
	if (jobs->numbers) {
		if (!is_number(get_text(&x, buf), 1, v)) {
			*v = -1;
			o->lost_after++;
		}
		return FIT_OK;
	}
	i = fit_index_get(&jobs->texts.index, get_text(&x, buf));
	if (i == FIT_NO_INDEX)
		o->lost_after++;
	else
		*v = (int64_t)i + 1;
	return FIT_OK;
}

static int put_job(struct swf_out *o, size_t row, struct fit_err *err)
{
	const struct fit_column *req = o->gpus_req;
	struct cell_at asked = { o->t, req, row }, gpus = { o->t, o->gpus, row };
	int64_t name[N_NAMES], wait, run, limit, think, after;
	bool pending;
	int status = get_status(o, row, &pending), rc = FIT_OK;
	bool ran;

	for (int k = 0; !rc && k < N_NAMES; k++)
		rc = name_number(o, k, row, &name[k], err);
	rc = rc ? rc : get_wait(o, row, &wait, err);
	rc = rc ? rc : get_seconds(o, o->duration, row, &run, err);
	rc = rc ? rc : get_seconds(o, o->limit, row, &limit, err);
	rc = rc ? rc : get_seconds(o, o->think, row, &think, err);
	rc = rc ? rc : get_after(o, row, &after, err);
	if (rc)
		return rc;
	o->no_gpus += is_na(&gpus);
	rc = fit_str_printf(o->text, "%lld", (long long)name[JOB]);
	rc = rc ? rc : put_ns(o, o->submits[row]);
	rc = rc ? rc : put_ns(o, wait);
	rc = rc ? rc : put_ns(o, run);
	if (rc)
		return fit_fail_nomem(err);
	/* given to a job that ran, else only asked for */
	ran = !pending && (wait >= 0 || run >= 0);
	rc = put_count(o, o->gpus, row, !ran, err);
	if (!rc && fit_str_puts(o->text, " -1 -1"))
		rc = fit_fail_nomem(err);
	if (!rc && ran && req)
		rc = put_count(o, req, row, false, err);
	else if (!rc)
		rc = put_count(o, is_na(&asked) ? o->gpus : req, row, false, err);
	if (!rc && put_ns(o, limit))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : put_memory(o, row, err);
	if (rc)
		return rc;
	rc = fit_str_printf(o->text, " %d", status);
	for (int k = USER; !rc && k < N_NAMES; k++)
		rc = fit_str_printf(o->text, " %lld", (long long)name[k]);
	rc = rc ? rc : fit_str_printf(o->text, " %lld", (long long)after);
	rc = rc ? rc : put_ns(o, think);
	rc = rc ? rc : fit_str_puts(o->text, "\n");
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the header ---- */

/* "2024-05-01T00:00:00", perhaps with "+08:00" behind it, as seconds since 1970. */
static bool origin_seconds(const char *origin, int64_t *s)
{
	struct fit_text t = fit_text_of(origin ? origin : ""), clock = { t.s, t.n < 19 ? t.n : 19 };
	int64_t ns, sign, hours, minutes;

	if (fit_parse_datetime(clock, &ns))
		return false;
	*s = ns / FIT_NS_PER_S;
	if (t.n == 19)
		return true;
	if (t.n != 25 || (t.s[19] != '+' && t.s[19] != '-') ||
	    fit_parse_int64((struct fit_text){ t.s + 20, 2 }, &hours) ||
	    fit_parse_int64((struct fit_text){ t.s + 23, 2 }, &minutes))
		return false;
	sign = t.s[19] == '-' ? -1 : 1;
	*s -= sign * (hours * 3600 + minutes * 60);
	return true;
}

static int put_header(struct swf_out *o)
{
	const char *procs = fit_meta_get(&o->t->meta, "swf_max_procs");
	int64_t start = 0, v;
	int rc = fit_str_printf(o->text, "; Version: 2.2\n; MaxJobs: %zu\n; MaxRecords: %zu\n",
				o->t->n_rows,
				o->t->n_rows);

	if (!origin_seconds(fit_meta_get(&o->t->meta, "origin"), &start) || start < 0)
		start = 0;
	rc = rc ? rc : fit_str_printf(o->text, "; UnixStartTime: %lld\n", (long long)start);
	if (!rc && procs && fit_parse_int64(fit_text_of(procs), &v) == FIT_OK)
		rc = fit_str_printf(o->text, "; MaxProcs: %lld\n", (long long)v);
	return rc ? rc : fit_str_puts(o->text, "; Note: " FIT_SWF_NOTE_GPUS "\n");
}

/* ---- the whole ---- */

static int compare_submits(const struct swf_out *o, size_t a, size_t b)
{
	if (o->submits[a] != o->submits[b])
		return o->submits[a] < o->submits[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Rows by submission, merged bottom up: qsort() has no way to hand on the submissions. */
static int sort_rows(struct swf_out *o, struct fit_err *err)
{
	size_t n = o->t->n_rows, *from = o->order, *to;

	to = malloc((n ? n : 1) * sizeof *to);
	if (!to)
		return fit_fail_nomem(err);
	for (size_t width = 1; width < n; width *= 2) {
		size_t *other = from;

		for (size_t at = 0; at < n; at += 2 * width) {
			size_t mid = at + width < n ? at + width : n, end = at + 2 * width < n ? at + 2 * width : n;
			size_t i = at, j = mid;

			for (size_t k = at; k < end; k++)
				to[k] = j == end || (i < mid &&
						     compare_submits(o, from[i], from[j]) < 0) ?
					from[i++] : from[j++];
		}
		from = to;
		to = other;
	}
	o->order = from;
	free(to);
	return FIT_OK;
}

static int need(const struct fit_table *t, const char *name, struct fit_err *err)
{
	return fit_table_column(t, name) ? FIT_OK :
	       fit_fail(err, FIT_ENOTFOUND,
			"%s: no column '%s' (expected job_id, submit_s and gpus)", t->input,
			name);
}

static int take_submits(struct swf_out *o, struct fit_err *err)
{
	char num[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < o->t->n_rows; i++) {
		struct cell_at x = { o->t, o->submit, i }, id = { o->t, o->names[JOB].column, i };

		o->order[i] = i;
		if (is_na(&x) || is_na(&id))
			return fit_table_fail(o->t, i, FIT_EDATA, is_na(&x) ? "submit_s" : "job_id",
					      err,
					      "missing value 'NA' (a log has no way to say that)");
		rc = get_time(&x, &o->submits[i], err);
		if (!rc && o->submits[i] < 0) {
			fit_format_time(num, o->submits[i]);
			rc = fit_table_fail(o->t, i, FIT_EDATA, "submit_s", err,
					    "out of range '%s' (expected at "
					    "least 0)", num);
		}
	}
	return rc;
}

int fit_trace_check_ids(const struct fit_table *jobs, struct fit_err *err)
{
	const struct fit_column *ids = fit_table_column(jobs, "job_id");
	struct fit_index seen = { 0 };
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (size_t i = 0; !rc && ids && i < jobs->n_rows && i < FIT_NO_INDEX; i++) {
		struct cell_at x = { jobs, ids, i };
		struct fit_text id = is_na(&x) ? (struct fit_text){ NULL, 0 } : get_text(&x, buf);
		uint32_t before = FIT_NO_INDEX;

		if (is_na(&x))
			continue;
		if (fit_index_put(&seen, id, (uint32_t)i, &before))
			rc = fit_fail_nomem(err);
		else if (before != FIT_NO_INDEX)
			rc = fit_table_fail(jobs, i, FIT_EDATA, "job_id", err,
					    "duplicate id '%.*s' (first %s %llu)", FIT_TEXT_ARG(id),
					    jobs->first_line ? "on line" : "in row",
					    (unsigned long long)(jobs->first_line ? jobs->first_line : 1) + before);
	}
	fit_index_release(&seen);
	return rc;
}

/* Columns with something in them that the format has no place for. */
static int note_columns(const struct fit_table *t, struct fit_str *notes)
{
	static const char *const fit[] = {
		"job_id", "user", "group", "app", "submit_s", "start_s", "end_s", "duration_s", "gpus",
		"gpu_type", "status", "mem_mib", "timelimit_s", "queue", "gpus_req", "after_job", "think_s"
	};
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t j = 0; !rc && j < t->n_columns; j++) {
		bool known = false, any = false;

		for (size_t k = 0; k < sizeof fit / sizeof *fit; k++)
			known = known || strcmp(t->columns[j].name, fit[k]) == 0;
		if (strcmp(t->columns[j].name, "partition") == 0)
			known = !fit_table_column(t, "gpu_type");
		for (size_t i = 0; !known && !any && i < t->n_rows; i++)
			any = !fit_column_cell(&t->columns[j], i).na;
		if (any)
			rc = fit_str_printf(&list, "%s%.100s", list.n ? ", " : "",
					    t->columns[j].name);
	}
	if (!rc && list.n)
		rc = fit_str_printf(notes, "columns without a place in the format: %.400s\n",
				    list.s);
	fit_str_release(&list);
	return rc;
}

static int add_notes(const struct swf_out *o, struct fit_str *notes)
{
	const struct { uint64_t n; const char *what; } counts[] = {
		{ o->timeouts, "with status TIMEOUT or NODE_FAIL written as failed" },
		{ o->open, "running or pending, written with an unknown status" },
		{ o->no_gpus, "without a count of GPUs, which most readers leave out" },
		{ o->lost_after, "with a preceding job that is not in the table" }
	};
	int rc = note_columns(o->t, notes);

	for (size_t i = 0; !rc && i < sizeof counts / sizeof *counts; i++)
		if (counts[i].n)
			rc = fit_str_printf(notes, "%llu job%s %s\n",
					    (unsigned long long)counts[i].n,
					    counts[i].n == 1 ? "" : "s", counts[i].what);
	return rc;
}

static const struct fit_column *either(const struct fit_table *t, const char *name,
				       const char *other)
{
	const struct fit_column *c = fit_table_column(t, name);

	return c ? c : fit_table_column(t, other);
}

int fit_trace_write_swf(const struct fit_table *jobs, struct fit_str *swf, struct fit_str *notes,
			struct fit_err *err)
{
	struct swf_out o = {
		.t = jobs, .text = swf, .submit = fit_table_column(jobs, "submit_s"),
		.start = fit_table_column(jobs, "start_s"), .duration = fit_table_column(jobs,
											 "duration_s"),
		.gpus = fit_table_column(jobs, "gpus"), .gpus_req = fit_table_column(jobs,
										     "gpus_req"),
		.status = fit_table_column(jobs, "status"), .mem = fit_table_column(jobs,
										    "mem_mib"),
		.limit = fit_table_column(jobs, "timelimit_s"), .after = fit_table_column(jobs,
											  "after_job"),
		.think = fit_table_column(jobs, "think_s")
	};
	int rc = need(jobs, "job_id", err);

	rc = rc ? rc : need(jobs, "submit_s", err);
	rc = rc ? rc : need(jobs, "gpus", err);
	rc = rc ? rc : fit_trace_check_ids(jobs, err);
	if (rc)
		return rc;
	o.names[JOB].column = fit_table_column(jobs, "job_id");
	o.names[USER].column = fit_table_column(jobs, "user");
	o.names[GROUP].column = fit_table_column(jobs, "group");
	o.names[APP].column = fit_table_column(jobs, "app");
	o.names[QUEUE].column = fit_table_column(jobs, "queue");
	o.names[PARTITION].column = either(jobs, "gpu_type", "partition");
	o.order = malloc((jobs->n_rows ? jobs->n_rows : 1) * sizeof *o.order);
	o.submits = malloc((jobs->n_rows ? jobs->n_rows : 1) * sizeof *o.submits);
	rc = o.order && o.submits ? take_submits(&o, err) : fit_fail_nomem(err);
	rc = rc ? rc : sort_rows(&o, err);
	if (!rc && put_header(&o))
		rc = fit_fail_nomem(err);
	for (int k = 0; !rc && k < N_NAMES; k++)
		rc = number_names(&o, k, err);
	for (size_t i = 0; !rc && i < jobs->n_rows; i++)
		rc = put_job(&o, o.order[i], err);
	if (!rc && add_notes(&o, notes))
		rc = fit_fail_nomem(err);
	for (int k = 0; k < N_NAMES; k++)
		fit_texts_release(&o.names[k].texts);
	free(o.order);
	free(o.submits);
	return rc;
}
