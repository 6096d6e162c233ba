/* SPDX-License-Identifier: MIT */
/* The Standard Workload Format 2.2 of the Parallel Workloads Archive (docs/formats/swf.md). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/digits.h"
#include "libfit/base/num.h"
#include "traces/lines.h"
#include "traces/swf.h"
#include "traces/swf_header.h"
#include "traces/swf_line.h"

enum { JOB_ID, USER_ID, GROUP, APP, SUBMIT_S, START_S, END_S, DURATION_S, GPUS, GPU_TYPE, STATUS_WORD,
       CPUS, MEM_MIB, TIMELIMIT_S, QUEUE_ID, PARTITION_ID, GPUS_REQ, AFTER_JOB, THINK_S, N_OUT };

#define MARKED_MAX ((uint64_t)1 << 28)	/* job numbers that are looked after; 32 MiB of marks */

/* One bit a job number. */
struct marks {
	uint64_t *words;
	size_t cap;
};

struct swf {
	struct fit_lines lines;
	struct fit_trace_out *out;
	const char *reason;
	bool records;			/* the first record has come */
	bool cpus;			/* a processor is a CPU */
	struct fit_swf_header header;
	struct fit_text fields[FIT_SWF_FIELDS + 1];
	size_t n_fields;
	uint64_t n_records, extra, partial, no_procs, no_procs_line, too_large, too_large_line, unsorted;
	struct fit_str too_large_id;
	int64_t last_submit;
	struct marks whole, parts;
};

/* ---- job numbers ---- */

static int mark(struct marks *m, uint64_t n)
{
	size_t old = m->cap, word = (size_t)(n / 64);

	if (n >= MARKED_MAX)
		return FIT_OK;
	if (word >= old) {
		if (fit_grow(&m->words, &m->cap, word + 1, sizeof *m->words))
			return FIT_ENOMEM;
		memset(m->words + old, 0, (m->cap - old) * sizeof *m->words);
	}
	m->words[word] |= UINT64_C(1) << n % 64;
	return FIT_OK;
}

/* How many numbers are marked in parts and not in whole. */
static uint64_t only_parts(const struct swf *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->parts.cap; i++) {
		uint64_t w = r->parts.words[i] & ~(i < r->whole.cap ? r->whole.words[i] : 0);

		for (; w; w &= w - 1)
			n++;
	}
	return n;
}

/* ---- numbers ---- */

static int fail(struct swf *r, int code, const char *reason, size_t field, struct fit_err *err,
		const char *fmt, ...) FIT_PRINTF(6, 7);
static int fail(struct swf *r, int code, const char *reason, size_t field, struct fit_err *err,
		const char *fmt, ...)
{
	va_list ap;

	r->reason = reason;
	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(r->lines.source), r->lines.number, fit_swf_names[field], fmt, ap);
	va_end(ap);
	return code;
}

static int out_of_range(struct swf *r, size_t field, struct fit_err *err, const char *expected)
{
	return fail(r, FIT_EDATA, "out of range", field, err, "out of range '%.*s' (expected %s)",
		    FIT_TEXT_ARG(r->fields[field]), expected);
}

/* A number that is at least 0, or missing: -1, -1.0. */
static int take_real(struct swf *r, size_t field, struct fit_cell *c, struct fit_err *err)
{
	struct fit_text t = r->fields[field];
	uint64_t v;
	double d;

	if (fit_take_digits(t.s, t.n, &v)) {
		*c = (struct fit_cell){ .u.d = (double)v };
		return FIT_OK;
	}
	*c = (struct fit_cell){ .na = true };
	if (fit_text_is(t, "-1"))
		return FIT_OK;
	if (fit_parse_double(t, &d))
		return fail(r, FIT_EPARSE, "bad value", field, err,
			    "bad value '%.*s' (expected a number)",
			    FIT_TEXT_ARG(t));
	if (d < 0)
		return fabs(d + 1) > 0 ? out_of_range(r, field, err, "-1, or at least 0") : FIT_OK;
	*c = (struct fit_cell){ .u.d = d > 0 ? d : 0 };
	return FIT_OK;
}

/* The same as seconds, without a detour over a double. */
static int take_time(struct swf *r, size_t field, struct fit_cell *c, struct fit_err *err)
{
	struct fit_text t = r->fields[field];
	uint64_t plain;
	int64_t v;
	int rc;

	if (fit_take_digits(t.s, t.n, &plain) && plain <= UINT64_C(4000000000)) {
		*c = (struct fit_cell){ .u.i = (int64_t)plain * FIT_NS_PER_S };
		return FIT_OK;
	}
	rc = take_real(r, field, c, err);
	if (rc || c->na)
		return rc;
	if (c->u.d > 4e9)
		return out_of_range(r, field, err, "at most 4000000000 s");
	if (fit_parse_time(t, &v) && fit_time_from_double(c->u.d, &v))
		return out_of_range(r, field, err, "seconds");
	*c = (struct fit_cell){ .u.i = v };
	return FIT_OK;
}

/* A whole number; "3.0" is one. */
static int take_number(struct swf *r, size_t field, struct fit_cell *c, struct fit_err *err)
{
	struct fit_text t = r->fields[field];
	uint64_t plain;
	int64_t v;
	int rc;

	if (fit_take_digits(t.s, t.n, &plain)) {
		*c = (struct fit_cell){ .u.i = (int64_t)plain };
		return FIT_OK;
	}
	rc = fit_parse_int64(t, &v);
	if (rc == FIT_EPARSE) {
		rc = take_real(r, field, c, err);
		if (rc || c->na)
			return rc;
		if (floor(c->u.d) < c->u.d)
			return fail(r, FIT_EPARSE, "bad value", field, err,
				    "bad value '%.*s' (expected a whole "
				    "number)", FIT_TEXT_ARG(t));
		rc = c->u.d > 9e15 ? FIT_EINVAL : FIT_OK;
		v = rc ? 0 : (int64_t)c->u.d;
	}
	if (rc || v < -1)
		return out_of_range(r, field, err, "-1, or 0 to 9223372036854775807");
	*c = (struct fit_cell){ .na = v == -1, .u.i = v == -1 ? 0 : v };
	return FIT_OK;
}

/* ---- one record ---- */

/* The number in a field, or its name. buf may hold the number. */
static struct fit_cell name_cell(const struct swf *r, const char *kind, size_t field,
				 const struct fit_cell *number, char buf[FIT_NUM_MAX])
{
	struct fit_text t = r->fields[field], name;
	uint64_t v;

	if (number->na)
		return (struct fit_cell){ .na = true };
	if (!fit_take_digits(t.s, t.n, &v) || (t.s[0] == '0' && t.n > 1))	/* "3.0", "007" */
		t = (struct fit_text){ buf, fit_format_int64(buf, number->u.i) };
	name = fit_swf_label(&r->header, kind, t);
	return (struct fit_cell){ .u.t = name.n ? name : t };
}

struct record {
	struct fit_cell job, submit, wait, run, alloc, req, limit, mem, status, user, group, app, queue,
			partition, after, think;
};

static int take_fields(struct swf *r, struct record *x, struct fit_err *err)
{
	struct fit_cell unused;
	const struct {
		size_t field;
		int (*take)(struct swf *r, size_t field, struct fit_cell *c, struct fit_err *err);
		struct fit_cell *cell;
	} how[] = {
		{ FIT_SWF_JOB, take_number, &x->job }, { FIT_SWF_STATUS, take_number, &x->status },
		{ FIT_SWF_WAIT, take_time, &x->wait }, { FIT_SWF_RUN, take_time, &x->run },
		{ FIT_SWF_ALLOC, take_real, &x->alloc }, { FIT_SWF_CPU_TIME, take_real, &unused },
		{ FIT_SWF_USED_MEM, take_real, &unused }, { FIT_SWF_REQ, take_real, &x->req },
		{ FIT_SWF_REQ_TIME, take_time, &x->limit }, { FIT_SWF_REQ_MEM, take_real, &x->mem },
		{ FIT_SWF_USER, take_number, &x->user }, { FIT_SWF_GROUP, take_number, &x->group },
		{ FIT_SWF_APP, take_number, &x->app }, { FIT_SWF_QUEUE, take_number, &x->queue },
		{ FIT_SWF_PARTITION, take_number, &x->partition },
		{ FIT_SWF_AFTER, take_number, &x->after }, { FIT_SWF_THINK, take_time, &x->think },
		{ FIT_SWF_SUBMIT, take_time, &x->submit }
	};
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < sizeof how / sizeof *how; i++)
		rc = how[i].take(r, how[i].field, how[i].cell, err);
	if (rc)
		return rc;
	if (x->job.na)
		return fail(r, FIT_EDATA, "missing value", FIT_SWF_JOB, err,
			    "missing value (expected a job "
			    "number)");
	if (x->status.u.i > 5)
		return out_of_range(r, FIT_SWF_STATUS, err, "-1 to 5");
	return FIT_OK;
}

static int split(struct swf *r, struct fit_text t, struct fit_err *err)
{
	size_t n = 0, at = 0;

	while (at < t.n) {
		size_t from;

		while (at < t.n && fit_is_blank(t.s[at]))
			at++;
		if (at == t.n)
			break;
		for (from = at; at < t.n && !fit_is_blank(t.s[at]); at++)
			;
		if (n < FIT_SWF_FIELDS)
			r->fields[n] = (struct fit_text){ t.s + from, at - from };
		n++;
	}
	r->reason = "ragged row";
	if (n < FIT_SWF_FIELDS)
		return fit_lines_fail(&r->lines, FIT_EPARSE, r->lines.number, NULL, err,
				      "%zu field%s, %d expected", n, n == 1 ? "" : "s", FIT_SWF_FIELDS);
	if (n >= 2 * FIT_SWF_FIELDS - 1)
		return fit_lines_fail(&r->lines, FIT_EPARSE, r->lines.number, NULL, err,
				      "%zu fields, %d expected (two records on one line?)", n, FIT_SWF_FIELDS);
	r->extra += n > FIT_SWF_FIELDS;
	return FIT_OK;
}

/* Processors: as allocated, else as asked for; 0 is a job without any, missing in both is unknown. */
static struct fit_cell processors(const struct record *x)
{
	if (!x->alloc.na && x->alloc.u.d > 0)
		return x->alloc;
	if (!x->req.na && x->req.u.d > 0)
		return x->req;
	return x->alloc.na ? x->req : x->alloc;
}

static void take_times(const struct record *x, struct fit_cell *row)
{
	bool ran = !x->run.na && (x->status.na || x->status.u.i != 5 || x->run.u.i > 0 ||
				  (!x->alloc.na && x->alloc.u.d > 0));

	row[SUBMIT_S] = x->submit;
	if (ran)
		row[DURATION_S] = x->run;
	/* a job that was cancelled before it ran waited until then: that is no start */
	if (!x->wait.na && (ran || (x->run.na && (x->status.na || x->status.u.i != 5))))
		row[START_S] = (struct fit_cell){ .u.i = x->submit.u.i + x->wait.u.i };
	if (ran && !x->wait.na)
		row[END_S] = (struct fit_cell){ .u.i = row[START_S].u.i + x->run.u.i };
}

static int count_record(struct swf *r, int64_t job, int64_t submit_ns, double procs)
{
	if (submit_ns < r->last_submit)
		r->unsorted++;
	r->last_submit = submit_ns;
	if (r->header.max_procs < 0 || procs <= (double)r->header.max_procs)
		return FIT_OK;
	if (!r->too_large++) {
		r->too_large_line = r->lines.number;
		return fit_str_printf(&r->too_large_id, "%lld", (long long)job);
	}
	return FIT_OK;
}

/* With room for what copies more than there is (FIT_PLAIN_MAX). */
static const char failed[FIT_PLAIN_MAX] = "FAILED", ok[FIT_PLAIN_MAX] = "OK",
		  cancelled[FIT_PLAIN_MAX] = "CANCELLED", not_known[FIT_PLAIN_MAX] = "UNKNOWN";
static const struct fit_text words[] = { { failed, 6 }, { ok, 2 }, [5] = { cancelled, 9 } };
static const struct fit_text unknown = { not_known, 7 };

static int emit(struct swf *r, const struct record *x, const struct fit_cell *procs,
		struct fit_err *err)
{
	char job[FIT_NUM_MAX], user[FIT_NUM_MAX], group[FIT_NUM_MAX], app[FIT_NUM_MAX],
	     queue[FIT_NUM_MAX], part[FIT_NUM_MAX], after[FIT_NUM_MAX];
	struct fit_cell row[N_OUT];

	for (size_t i = 0; i < N_OUT; i++)
		row[i] = (struct fit_cell){ .na = true };
	row[JOB_ID] = name_cell(r, "job", FIT_SWF_JOB, &x->job, job);
	row[USER_ID] = name_cell(r, "user", FIT_SWF_USER, &x->user, user);
	row[GROUP] = name_cell(r, "group", FIT_SWF_GROUP, &x->group, group);
	row[APP] = name_cell(r, "app", FIT_SWF_APP, &x->app, app);
	row[QUEUE_ID] = name_cell(r, "queue", FIT_SWF_QUEUE, &x->queue, queue);
	row[PARTITION_ID] = name_cell(r, "partition", FIT_SWF_PARTITION, &x->partition, part);
	row[AFTER_JOB] = name_cell(r, "job", FIT_SWF_AFTER, &x->after, after);
	row[THINK_S] = x->think;
	take_times(x, row);
	row[r->cpus ? CPUS : GPUS] = *procs;
	if (!r->cpus) {
		row[GPU_TYPE] = row[PARTITION_ID];
		row[GPUS_REQ] = x->req;
	}
	row[STATUS_WORD] = (struct fit_cell){
		.u.t = x->status.na ? unknown : words[x->status.u.i]
	};
	if (!x->mem.na)
		row[MEM_MIB] = (struct fit_cell){ .u.d = x->mem.u.d * procs->u.d / 1024 };
	if (!x->limit.na)
		row[TIMELIMIT_S] = (struct fit_cell){ .u.d = fit_time_to_double(x->limit.u.i) };
	return fit_trace_emit(r->out, row, r->lines.number, err);
}

static int take_record(struct swf *r, struct fit_text t, struct fit_err *err)
{
	struct record x;
	struct fit_cell procs;
	int rc = split(r, t, err);

	if (!rc)
		rc = take_fields(r, &x, err);
	if (rc)
		return rc;
	if (!x.status.na && x.status.u.i >= 2 && x.status.u.i <= 4) {
		r->partial++;
		return mark(&r->parts, (uint64_t)x.job.u.i) ? fit_fail_nomem(err) : FIT_OK;
	}
	if (x.submit.na)
		return fail(r, FIT_EDATA, "missing value", FIT_SWF_SUBMIT, err,
			    "missing value (expected "
			    "seconds)");
	procs = processors(&x);
	if (mark(&r->whole, (uint64_t)x.job.u.i))
		return fit_fail_nomem(err);
	if (procs.na) {
		if (!r->no_procs++)
			r->no_procs_line = r->lines.number;
		return FIT_OK;
	}
	rc = emit(r, &x, &procs, err);
	if (!rc && count_record(r, x.job.u.i, x.submit.u.i, procs.u.d))
		rc = fit_fail_nomem(err);
	return rc;
}

/* ---- the usual record ---- */

/*
 * Cells are set part by part: a whole one that is put together first and copied then waits for the parts.
 * What is as it stands in the line need not be written out anew. Whether a cell is missing hardly changes
 * from record to record, so a branch is better than arithmetic.
 */
static inline void put_missing(struct fit_cell *c)
{
	c->na = true;
	c->n_plain = 0;
	c->u.t = (struct fit_text){ NULL, 0 };
}

static inline void put_name(struct fit_cell *c, struct fit_text t)
{
	if (t.s[0] == '-') {
		put_missing(c);
		return;
	}
	c->na = false;
	c->n_plain = (unsigned char)t.n;
	c->u.t.s = t.s;
	c->u.t.n = t.n;
}

static inline void put_time(struct fit_cell *c, int64_t s, struct fit_text as)
{
	if (s < 0) {
		put_missing(c);
		return;
	}
	c->na = false;
	c->n_plain = (unsigned char)as.n;
	c->u.plain = as.s;
	c->u.i = s * FIT_NS_PER_S;
}

static inline void put_real(struct fit_cell *c, int64_t v, struct fit_text as)
{
	if (v < 0) {
		put_missing(c);
		return;
	}
	c->na = false;
	c->n_plain = (unsigned char)as.n;
	c->u.plain = as.s;
	c->u.d = (double)v;
}

/* Does it need neither a remark nor a name? The rest is for take_record(). */
static bool is_usual(const struct swf *r, const struct fit_swf_line *x)
{
	const int64_t most = INT64_C(4000000000), *v = x->v;

	return !r->header.n_labels && v[FIT_SWF_JOB] >= 0 && v[FIT_SWF_SUBMIT] >= 0 && v[FIT_SWF_SUBMIT] <= most &&
	       v[FIT_SWF_WAIT] <= most && v[FIT_SWF_RUN] <= most && v[FIT_SWF_REQ_TIME] <= most &&
	       v[FIT_SWF_THINK] <= most && (v[FIT_SWF_STATUS] < 2 || v[FIT_SWF_STATUS] == 5) &&
	       v[FIT_SWF_ALLOC] <= most && v[FIT_SWF_REQ] <= most &&
	       (v[FIT_SWF_ALLOC] >= 0 || v[FIT_SWF_REQ] >= 0);
}

/* What take_record() and emit() make of such a record, in one go. */
static int take_usual(struct swf *r, const struct fit_swf_line *x, struct fit_err *err)
{
	const int64_t *v = x->v, status = v[FIT_SWF_STATUS], run = v[FIT_SWF_RUN], wait = v[FIT_SWF_WAIT];
	const int64_t alloc = v[FIT_SWF_ALLOC], req = v[FIT_SWF_REQ], submit = v[FIT_SWF_SUBMIT];
	const struct fit_text none = { NULL, 0 };
	bool as_asked = !(alloc > 0 || (req <= 0 && alloc >= 0));
	int64_t procs = as_asked ? req : alloc;
	bool ran = run >= 0 && (status != 5 || run > 0 || alloc > 0);
	bool started = wait >= 0 && (ran || (run < 0 && status != 5));
	struct fit_text procs_text = fit_swf_line_text(x, as_asked ? FIT_SWF_REQ : FIT_SWF_ALLOC);
	struct fit_cell row[N_OUT];
	int rc;

	if (mark(&r->whole, (uint64_t)v[FIT_SWF_JOB]))
		return fit_fail_nomem(err);
	put_name(&row[JOB_ID], fit_swf_line_text(x, FIT_SWF_JOB));
	put_name(&row[USER_ID], fit_swf_line_text(x, FIT_SWF_USER));
	put_name(&row[GROUP], fit_swf_line_text(x, FIT_SWF_GROUP));
	put_name(&row[APP], fit_swf_line_text(x, FIT_SWF_APP));
	put_time(&row[SUBMIT_S], submit, fit_swf_line_text(x, FIT_SWF_SUBMIT));
	put_time(&row[START_S], started ? submit + wait : -1, none);
	put_time(&row[END_S], ran && started ? submit + wait + run : -1, none);
	put_time(&row[DURATION_S], ran ? run : -1, fit_swf_line_text(x, FIT_SWF_RUN));
	put_name(&row[STATUS_WORD], status < 0 ? unknown : words[status]);
	if (v[FIT_SWF_REQ_MEM] < 0)
		put_missing(&row[MEM_MIB]);
	else
		row[MEM_MIB] = (struct fit_cell){
			.u.d = (double)v[FIT_SWF_REQ_MEM] * (double)procs / 1024
		};
	put_real(&row[TIMELIMIT_S], v[FIT_SWF_REQ_TIME], fit_swf_line_text(x, FIT_SWF_REQ_TIME));
	put_name(&row[QUEUE_ID], fit_swf_line_text(x, FIT_SWF_QUEUE));
	put_name(&row[PARTITION_ID], fit_swf_line_text(x, FIT_SWF_PARTITION));
	put_name(&row[AFTER_JOB], fit_swf_line_text(x, FIT_SWF_AFTER));
	put_time(&row[THINK_S], v[FIT_SWF_THINK], fit_swf_line_text(x, FIT_SWF_THINK));
	if (r->cpus) {
		put_real(&row[CPUS], procs, procs_text);
		put_missing(&row[GPUS]);
		put_missing(&row[GPU_TYPE]);
		put_missing(&row[GPUS_REQ]);
	} else {
		put_missing(&row[CPUS]);
		put_real(&row[GPUS], procs, procs_text);
		put_name(&row[GPU_TYPE], fit_swf_line_text(x, FIT_SWF_PARTITION));
		put_real(&row[GPUS_REQ], req, fit_swf_line_text(x, FIT_SWF_REQ));
	}
	rc = fit_trace_emit(r->out, row, r->lines.number, err);
	if (!rc && count_record(r, v[FIT_SWF_JOB], submit * FIT_NS_PER_S, (double)procs))
		rc = fit_fail_nomem(err);
	return rc;
}

static int one_line(struct swf *r, struct fit_err *err)
{
	struct fit_swf_line usual;
	struct fit_text t = r->lines.text;
	int rc;

	if (t.n == 0 || fit_is_blank(t.s[0]) || fit_is_blank(t.s[t.n - 1]))
		t = fit_trim(t);
	if (t.n == 0)
		return FIT_OK;
	if (fit_swf_line_take(t, &usual) && is_usual(r, &usual)) {
		fit_lines_hash(&r->lines, t);
		r->records = true;
		r->reason = NULL;
		fit_trace_count(r->out, ++r->n_records);
		rc = take_usual(r, &usual, err);
		return rc ? fit_trace_bad(r->out, rc, r->reason, err) : FIT_OK;
	}
	rc = fit_lines_check(&r->lines, t, r->lines.number, err);
	fit_lines_hash(&r->lines, t);
	if (t.s[0] == ';') {
		r->header.not_kept += rc != FIT_OK;	/* names of institutions in Latin-1 */
		return rc ? FIT_OK : fit_swf_header_take(&r->header, &r->lines, r->out, r->records, t, err);
	}
	r->records = true;
	r->reason = "bad encoding";
	fit_trace_count(r->out, ++r->n_records);
	rc = rc ? rc : take_record(r, t, err);
	return rc ? fit_trace_bad(r->out, rc, r->reason, err) : FIT_OK;
}

/* ---- the whole ---- */

static int add_count(struct swf *r, const char *key, uint64_t n)
{
	char num[FIT_NUM_MAX];

	if (n == 0)
		return FIT_OK;
	fit_format_int64(num, (int64_t)n);
	return fit_trace_meta(r->out, key, num);
}

static int note(struct swf *r, uint64_t n, const char *one, const char *many, const char *more)
{
	if (n == 0)
		return FIT_OK;
	return fit_trace_note(r->out, "%llu %s%s", (unsigned long long)n, n == 1 ? one : many,
			      more);
}

static int add_notes(struct swf *r, const struct fit_trace_params *params)
{
	uint64_t lost = only_parts(r);
	char more[160] = "";
	int rc = FIT_OK;

	if (params->processors == FIT_PROCESSORS_GUESS && !r->header.says_gpus && r->records)
		rc = fit_trace_note(r->out,
				    "column gpus holds processors: the format has no GPUs (say "
				    "--gpus-from processors or none)");
	rc = rc ? rc : note(r, r->partial, "partial execution", "partial executions",
			    " passed over (the summary line of the job counts)");
	rc = rc ? rc : note(r, lost, "job", "jobs", " with partial executions alone left out");
	snprintf(more, sizeof more,
		 " without a count of processors left out, the first on line %llu",
		 (unsigned long long)r->no_procs_line);
	rc = rc ? rc : note(r, r->no_procs, "job", "jobs", more);
	snprintf(more, sizeof more, " than MaxProcs %lld, such as job %s on line %llu",
		 (long long)r->header.max_procs, r->too_large_id.s ? r->too_large_id.s : "",
		 (unsigned long long)r->too_large_line);
	rc = rc ? rc : note(r, r->too_large, "job with more processors",
			    "jobs with more processors", more);
	rc = rc ? rc : note(r, r->unsorted, "submission", "submissions",
			    " before that of the record above");
	rc = rc ? rc : note(r, r->extra, "record", "records",
			    " with more than 18 fields (the rest passed over)");
	rc = rc ? rc : note(r, r->header.not_kept, "header comment", "header comments",
			    " not kept (not UTF-8, or more than 64 KiB of them)");
	rc = rc ? rc : add_count(r, "partial_executions", r->partial);
	return rc ? rc : add_count(r, "without_processors", r->no_procs);
}

int fit_trace_read_swf(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	const struct fit_trace_params *params = fit_trace_params_of(out);
	struct swf r = {
		.out = out, .header = FIT_SWF_HEADER_INIT, .last_submit = INT64_MIN,
		.cpus = params->processors == FIT_PROCESSORS_ARE_CPUS
	};
	char hash[FIT_HASH_HEX];
	int rc = fit_lines_open(&r.lines, s, err);

	while (!rc && !(rc = fit_lines_next(&r.lines, err)))
		rc = one_line(&r, err);
	rc = rc == FIT_END ? FIT_OK : rc;
	if (!rc && !r.lines.any)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty file (expected jobs of 18 fields a line)",
			      fit_source_name(s));
	if (!rc && add_notes(&r, params))
		rc = fit_fail_nomem(err);
	if (!rc) {
		fit_hasher_hex(r.lines.hasher, hash);
		fit_trace_set_hash(out, hash);
	}
	fit_lines_close(&r.lines);
	fit_swf_header_release(&r.header);
	fit_str_release(&r.too_large_id);
	free(r.whole.words);
	free(r.parts.words);
	return rc;
}

int fit_trace_sniff_swf(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	struct fit_text rest = head->bytes;
	bool comments = false;

	while (rest.n) {
		const char *lf = memchr(rest.s, '\n', rest.n);
		struct fit_text t = fit_trim((struct fit_text){ rest.s, lf ? (size_t)(lf - rest.s) : rest.n });
		struct fit_text word;
		size_t n = 0, k;
		double v;

		if (!lf && !head->whole)	/* a line that is cut short here */
			break;
		rest.n -= lf ? (size_t)(lf + 1 - rest.s) : rest.n;
		rest.s = lf ? lf + 1 : rest.s;
		if (t.n == 0)
			continue;
		if (t.s[0] == ';') {
			comments = comments || memchr(t.s, ':', t.n);
			continue;
		}
		for (; t.n; n++, t = fit_trim((struct fit_text){ t.s + k, t.n - k })) {
			for (k = 0; k < t.n && !fit_is_blank(t.s[k]); k++)
				;
			word = (struct fit_text){ t.s, k };
			if (fit_parse_double(word, &v))
				return 0;
		}
		if (n < FIT_SWF_FIELDS || n >= 2 * FIT_SWF_FIELDS - 1)
			return 0;
		snprintf(why, FIT_TRACE_WHY, "%s18 numbers a line", comments ?
			 "header comments and " : "");
		return comments ? 95 : 80;
	}
	if (!comments)
		return 0;
	snprintf(why, FIT_TRACE_WHY, "header comments such as '; Version: 2.2'");
	return 50;
}
