/* SPDX-License-Identifier: MIT */
/*
 * Slurm's accounting, as `sacct --parsable2` prints it (docs/formats/sacct.md). sacct quotes nothing:
 * a delimiter or a line feed in a free text, such as a job name, looks like any other. So the last
 * column takes what is left where it is a free text, and everything else that does not fit is refused.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/csv.h"
#include "traces/lines.h"
#include "traces/sacct_jobs.h"
#include "traces/scan.h"

enum column {
	ID, RAW_ID, CLUSTER, USER, ACCOUNT, NAME, PARTITION, QOS, STATE, SUBMIT, START, END, ELAPSED,
	ELAPSED_RAW, LIMIT, LIMIT_RAW, CPU_TIME, PRIORITY, NODES, REQ_NODES, CPUS, REQ_CPUS, REQ_TRES,
	ALLOC_TRES, REQ_GRES, ALLOC_GRES, NODE_LIST, N_COLUMNS,
	OTHER,		/* known, and without a place in the table */
	FREE_TEXT	/* the same, and it may hold anything */
};

/* The fields of sacct(1), old and new. */
static const struct { const char *name; enum column column; } known[] = {
	{ "JobID", ID }, { "JobIDRaw", RAW_ID }, { "Cluster", CLUSTER }, { "User", USER },
	{ "Account", ACCOUNT }, { "JobName", NAME }, { "Partition", PARTITION }, { "QOS", QOS },
	{ "State", STATE }, { "Submit", SUBMIT }, { "Start", START }, { "End", END },
	{ "Elapsed", ELAPSED }, { "ElapsedRaw", ELAPSED_RAW }, { "Timelimit", LIMIT },
	{ "TimelimitRaw", LIMIT_RAW }, { "TotalCPU", CPU_TIME }, { "Priority", PRIORITY },
	{ "NNodes", NODES }, { "AllocNodes", NODES }, { "ReqNodes", REQ_NODES }, { "NCPUS", CPUS },
	{ "AllocCPUS", CPUS }, { "ReqCPUS", REQ_CPUS }, { "ReqTRES", REQ_TRES },
	{ "AllocTRES", ALLOC_TRES }, { "ReqGRES", REQ_GRES }, { "AllocGRES", ALLOC_GRES },
	{ "NodeList", NODE_LIST },
	{ "AdminComment", FREE_TEXT }, { "Comment", FREE_TEXT }, { "Constraints", FREE_TEXT },
	{ "Container", FREE_TEXT }, { "Extra", FREE_TEXT }, { "StdErr", FREE_TEXT }, { "StdIn", FREE_TEXT },
	{ "StdOut", FREE_TEXT }, { "SubmitLine", FREE_TEXT }, { "SystemComment", FREE_TEXT },
	{ "WorkDir", FREE_TEXT },
	{ "AssocID", OTHER }, { "AveCPU", OTHER }, { "AveCPUFreq", OTHER }, { "AveDiskRead", OTHER },
	{ "AveDiskWrite", OTHER }, { "AvePages", OTHER }, { "AveRSS", OTHER }, { "AveVMSize", OTHER },
	{ "BlockID", OTHER }, { "CPUTime", OTHER }, { "CPUTimeRAW", OTHER }, { "ConsumedEnergy", OTHER },
	{ "ConsumedEnergyRaw", OTHER }, { "DBIndex", OTHER }, { "DerivedExitCode", OTHER },
	{ "Eligible", OTHER }, { "ExitCode", OTHER }, { "FailedNode", OTHER }, { "Flags", OTHER },
	{ "GID", OTHER }, { "Group", OTHER }, { "JobIDRawHet", OTHER }, { "Layout", OTHER },
	{ "Licenses", OTHER }, { "MCSLabel", OTHER }, { "MaxDiskRead", OTHER },
	{ "MaxDiskReadNode", OTHER }, { "MaxDiskReadTask", OTHER }, { "MaxDiskWrite", OTHER },
	{ "MaxDiskWriteNode", OTHER }, { "MaxDiskWriteTask", OTHER }, { "MaxPages", OTHER },
	{ "MaxPagesNode", OTHER }, { "MaxPagesTask", OTHER }, { "MaxRSS", OTHER }, { "MaxRSSNode", OTHER },
	{ "MaxRSSTask", OTHER }, { "MaxVMSize", OTHER }, { "MaxVMSizeNode", OTHER },
	{ "MaxVMSizeTask", OTHER }, { "MinCPU", OTHER }, { "MinCPUNode", OTHER }, { "MinCPUTask", OTHER },
	{ "NTasks", OTHER }, { "Planned", OTHER }, { "PlannedCPU", OTHER }, { "PlannedCPURAW", OTHER },
	{ "QOSRAW", OTHER }, { "QOSREQ", OTHER }, { "Reason", OTHER }, { "ReqCPUFreq", OTHER },
	{ "ReqCPUFreqGov", OTHER }, { "ReqCPUFreqMax", OTHER }, { "ReqCPUFreqMin", OTHER },
	{ "ReqMem", OTHER }, { "Reservation", OTHER }, { "ReservationId", OTHER }, { "Reserved", OTHER },
	{ "ResvCPU", OTHER }, { "ResvCPURAW", OTHER }, { "Restarts", OTHER }, { "SLUID", OTHER },
	{ "SegmentSize", OTHER }, { "Suspended", OTHER }, { "SystemCPU", OTHER },
	{ "TRESUsageInAve", OTHER }, { "TRESUsageInMax", OTHER }, { "TRESUsageInMaxNode", OTHER },
	{ "TRESUsageInMaxTask", OTHER }, { "TRESUsageInMin", OTHER }, { "TRESUsageInMinNode", OTHER },
	{ "TRESUsageInMinTask", OTHER }, { "TRESUsageInTot", OTHER }, { "TRESUsageOutAve", OTHER },
	{ "TRESUsageOutMax", OTHER }, { "TRESUsageOutMaxNode", OTHER },
	{ "TRESUsageOutMaxTask", OTHER }, { "TRESUsageOutMin", OTHER }, { "TRESUsageOutMinNode", OTHER },
	{ "TRESUsageOutMinTask", OTHER }, { "TRESUsageOutTot", OTHER }, { "TimeEligible", OTHER },
	{ "UID", OTHER }, { "UserCPU", OTHER }, { "WCKey", OTHER }, { "WCKeyID", OTHER }
};
#define N_KNOWN (sizeof known / sizeof *known)
#define ABSENT SIZE_MAX

struct sacct {
	struct fit_lines lines;
	struct fit_trace_out *out;
	struct fit_text cut;		/* what stands between fields */
	/* the heading */
	struct fit_str heading;
	size_t n_columns, at[N_COLUMNS];
	const char *names[N_COLUMNS];	/* as known[] spells them */
	enum column first, last;
	const char *last_name;		/* as known[] spells it; or NULL */
	bool trailing;			/* it ends in a delimiter (sacct -p) */
	size_t free_text;		/* in known[]: a free text that is not the last column; or N_KNOWN */
	struct fit_str passed_over;	/* columns that are not known */
	/* the record at hand */
	struct fit_str record;
	uint64_t line;			/* 0: there is none */
	size_t blank_lines;		/* that came behind it */
	struct fit_text *fields;
	size_t n_fields, cap_fields;
	const char *reason;
	enum { NO_CLOCK, WORDS, EPOCH } clock;
	struct fit_sacct_jobs jobs;
	uint64_t n_records, steps, arrays, tasks, components, headings, cancelled_pending;
};

/* ---- fields ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_name(struct fit_text t, const char *name)
{
	if (t.n != strlen(name))
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (lower(t.s[i]) != lower(name[i]))
			return false;
	return true;
}

static size_t find_known(struct fit_text t)
{
	size_t i = 0;

	while (i < N_KNOWN && !is_name(t, known[i].name))
		i++;
	return i;
}

static bool is_space(char c)
{
	return c == ' ';
}

static struct fit_text trim(struct fit_text t)
{
	return fit_text_trim(t, is_space);
}

/* Where the next delimiter is, or the end. */
static size_t find_cut(struct fit_text cut, const char *s, size_t n)
{
	const char *from = s, *p;

	while (n >= cut.n && (p = memchr(s, cut.s[0], n)) != NULL) {
		n -= (size_t)(p - s);
		s = p;
		if (n >= cut.n && (cut.n == 1 || memcmp(s, cut.s, cut.n) == 0))
			return (size_t)(s - from);
		s++;
		n--;
	}
	return (size_t)(s - from) + n;
}

static bool is_cut(const struct sacct *r, struct fit_text t, size_t at)
{
	return at < t.n && t.n - at >= r->cut.n && memcmp(t.s + at, r->cut.s, r->cut.n) == 0;
}

/* The same for a line of the source, every field of it, where one byte stands between them. */
static int split_line(struct sacct *r, struct fit_text t)
{
	size_t from = 0;

	for (size_t base = 0; base < t.n; base += 64) {
		uint64_t cuts = fit_scan64(t.s + base, r->cut.s[0]);

		if (t.n - base < 64)
			cuts &= ~(~UINT64_C(0) << (t.n - base));
		for (; cuts && r->n_fields <= FIT_CSV_COLUMNS_MAX; cuts &= cuts - 1) {
			size_t at = base + (size_t)__builtin_ctzll(cuts);

			if (r->n_fields == r->cap_fields &&
			    fit_grow(&r->fields, &r->cap_fields, r->n_fields + 1, sizeof *r->fields))
				return FIT_ENOMEM;
			r->fields[r->n_fields++] = (struct fit_text){ t.s + from, at - from };
			from = at + 1;
		}
	}
	if (r->n_fields > FIT_CSV_COLUMNS_MAX)
		return FIT_OK;
	if (fit_grow(&r->fields, &r->cap_fields, r->n_fields + 1, sizeof *r->fields))
		return FIT_ENOMEM;
	r->fields[r->n_fields++] = (struct fit_text){ t.s + from, t.n - from };
	return FIT_OK;
}

/* At most max fields; the last of them then holds the rest of the text. */
static int split(struct sacct *r, struct fit_text t, size_t max)
{
	size_t at = 0, n;

	r->n_fields = 0;
	if (max == ABSENT && r->cut.n == 1 && t.s == r->lines.text.s)
		return split_line(r, t);
	for (;; at += n + r->cut.n) {
		if (r->n_fields == r->cap_fields &&
		    fit_grow(&r->fields, &r->cap_fields, r->n_fields + 1, sizeof *r->fields))
			return FIT_ENOMEM;
		n = r->n_fields + 1 == max ? t.n - at : find_cut(r->cut, t.s + at, t.n - at);
		r->fields[r->n_fields++] = (struct fit_text){ t.s + at, n };
		if (!is_cut(r, t, at + n) || r->n_fields > FIT_CSV_COLUMNS_MAX)
			return FIT_OK;
	}
}

static int fail(struct sacct *r, int code, const char *reason, const char *field,
		struct fit_err *err,
		const char *fmt, ...) FIT_PRINTF(6, 7);
static int fail(struct sacct *r, int code, const char *reason, const char *field,
		struct fit_err *err,
		const char *fmt, ...)
{
	va_list ap;

	r->reason = reason;
	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(r->lines.source), r->line, field, fmt, ap);
	va_end(ap);
	return code;
}

static bool has(const struct sacct *r, enum column c)
{
	return r->at[c] != ABSENT;
}

/* A field without blanks around it; empty where there is no such column. */
static struct fit_text field(const struct sacct *r, enum column c)
{
	struct fit_text t = { "", 0 };

	if (!has(r, c))
		return t;
	t = r->fields[r->at[c]];
	return t.n && (t.s[0] == ' ' || t.s[t.n - 1] == ' ') ? trim(t) : t;
}

static int bad_value(struct sacct *r, enum column c, int rc, struct fit_text t, struct fit_err *err,
		     const char *expected)
{
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	return fail(r, FIT_EPARSE, "bad value", r->names[c], err, "%s '%.*s' (expected %s)",
		    rc == FIT_EINVAL ? "out of range" : "bad value", FIT_TEXT_ARG(t), expected);
}

/* ---- the heading ---- */

/* Are the fields at hand column names, with those that no table can do without? */
static bool is_heading(const struct sacct *r)
{
	bool id = false, state = false;

	for (size_t i = 0; i < r->n_fields; i++) {
		size_t k = find_known(trim(r->fields[i]));

		id = id || (k < N_KNOWN && (known[k].column == ID || known[k].column == RAW_ID));
		state = state || (k < N_KNOWN && known[k].column == STATE);
	}
	return id && state;
}

static int need(struct sacct *r, bool there, const char *what, struct fit_err *err)
{
	if (there)
		return FIT_OK;
	return fit_lines_fail(&r->lines, FIT_ENOTFOUND, r->line, NULL, err,
			      "no column '%s' (found %.400s)",
			      what, r->heading.s);
}

static int bind_column(struct sacct *r, size_t i, struct fit_err *err)
{
	struct fit_text name = trim(r->fields[i]);
	size_t k = find_known(name);
	enum column c = k < N_KNOWN ? known[k].column : OTHER;

	for (size_t j = 0; j < i; j++)
		if (name.n && fit_text_eq(name, trim(r->fields[j])))
			return fit_lines_fail(&r->lines, FIT_EPARSE, r->line, NULL, err,
					      "duplicate column '%.*s'", FIT_TEXT_ARG(name));
	if (i == 0)
		r->first = c;
	r->last = c;
	r->last_name = k < N_KNOWN ? known[k].name : NULL;
	if ((c == NAME || c == FREE_TEXT) && i + 1 < r->n_fields && r->free_text == N_KNOWN)
		r->free_text = k;
	if (c < N_COLUMNS && r->at[c] == ABSENT) {
		r->at[c] = i;
		r->names[c] = known[k].name;
	} else if (k == N_KNOWN &&
		   (fit_str_printf(&r->passed_over, "%s%.*s", r->passed_over.n ? ", " : "",
						   FIT_TEXT_ARG(name)))) {
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}

/* Bind the columns of the heading, whose fields are at hand. */
static int bind(struct sacct *r, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t c = 0; c < N_COLUMNS; c++)
		r->at[c] = ABSENT;
	r->free_text = N_KNOWN;
	fit_str_clear(&r->passed_over);
	r->trailing = r->n_fields > 1 && r->fields[r->n_fields - 1].n == 0;
	r->n_fields -= r->trailing;
	r->n_columns = r->n_fields;
	if (r->n_columns > FIT_CSV_COLUMNS_MAX)
		return fit_lines_fail(&r->lines, FIT_EPARSE, r->line, NULL, err, "too many columns "
				      "(expected at most %d)", FIT_CSV_COLUMNS_MAX);
	for (size_t i = 0; !rc && i < r->n_columns; i++)
		rc = bind_column(r, i, err);
	if (!rc)
		rc = need(r, has(r, ID) || has(r, RAW_ID), "JobID' or 'JobIDRaw", err);
	if (!rc)
		rc = need(r, has(r, STATE), "State", err);
	if (!rc)
		rc = need(r, has(r, SUBMIT), "Submit", err);
	if (!rc)
		rc = need(r, has(r, ALLOC_TRES) || has(r, REQ_TRES) || has(r, ALLOC_GRES) ||
			  has(r, REQ_GRES),
			  "AllocTRES' or 'ReqTRES", err);
	return rc;
}

static int read_heading(struct sacct *r, struct fit_err *err)
{
	int rc;

	do {
		rc = fit_lines_next(&r->lines, err);
		if (rc == FIT_END)
			return fit_fail(err, FIT_EPARSE,
					"%s: empty file (expected a heading of sacct)",
					fit_source_name(r->lines.source));
		if (rc)
			return rc;
	} while (trim(r->lines.text).n == 0);
	r->line = r->lines.number;
	rc = fit_lines_check(&r->lines, r->lines.text, r->line, err);
	if (rc)
		return rc;
	if (fit_str_add(&r->heading, r->lines.text.s, r->lines.text.n))
		return fit_fail_nomem(err);
	if (split(r, (struct fit_text){ r->heading.s, r->heading.n }, ABSENT))
		return fit_fail_nomem(err);
	if (!is_heading(r)) {
		enum fit_slurm_id kind;

		if (fit_slurm_id(trim(r->fields[0]), &kind, NULL) == FIT_OK)
			return fit_lines_fail(&r->lines, FIT_EPARSE, r->line, NULL, err,
					      "no heading (expected column names; sacct without --noheader)");
		if (r->n_fields == 1)
			return fit_lines_fail(&r->lines, FIT_EPARSE, r->line, NULL, err,
					      "no '%.*s' in the heading "
					      "'%.100s' (expected sacct --parsable2, or --delimiter)",
					      FIT_TEXT_ARG(r->cut), r->heading.s);
	}
	rc = bind(r, err);
	fit_lines_hash(&r->lines, (struct fit_text){
		r->heading.s, r->heading.n - (r->trailing ? r->cut.n : 0)
	});
	return rc;
}

/* Another heading among the records, of a file put together from several: passed over, or bound anew. */
static int next_heading(struct sacct *r, struct fit_text t, struct fit_err *err)
{
	r->headings++;
	if (fit_text_eq(t, (struct fit_text){ r->heading.s, r->heading.n }))
		return FIT_OK;
	fit_str_clear(&r->heading);
	if (fit_str_add(&r->heading, t.s, t.n) ||
	    split(r, (struct fit_text){ r->heading.s, r->heading.n }, ABSENT))
		return fit_fail_nomem(err);
	fit_lines_hash(&r->lines, t);
	return bind(r, err);
}

/* ---- values ---- */

/* A time, FIT_INT_NA where it is missing. */
static int take_time(struct sacct *r, enum column c, int64_t after, int64_t *ns,
		     struct fit_err *err)
{
	static const char expected[] = "YYYY-MM-DDTHH:MM:SS, or seconds since 1970";
	struct fit_text t = field(r, c);
	size_t digits = 0;
	int64_t v;
	int rc;

	*ns = FIT_INT_NA;
	if (fit_slurm_is_missing(t) || fit_text_is(t, "0") || fit_text_is(t, "1970-01-01T00:00:00"))
		return FIT_OK;
	while (digits < t.n && t.s[digits] >= '0' && t.s[digits] <= '9')
		digits++;
	if (r->clock != NO_CLOCK && (r->clock == EPOCH) != (digits == t.n))
		return fail(r, FIT_EDATA, "bad value", r->names[c], err,
			    "bad value '%.*s' (seconds since 1970 "
			    "and calendar times in one trace; expected one of them)", FIT_TEXT_ARG(t));
	if (digits == t.n) {
		rc = fit_parse_int64(t, &v);
		if (!rc && v > INT64_C(4000000000))
			rc = FIT_EINVAL;
		if (rc)
			return bad_value(r, c, rc, t, err, expected);
		r->clock = EPOCH;
		fit_trace_instants(r->out, 0);
		*ns = v * FIT_NS_PER_S;
		return FIT_OK;
	}
	rc = fit_trace_time(r->out, t, after, ns);
	if (rc == FIT_EDATA)
		return fail(r, FIT_EDATA, "bad value", r->names[c], err,
			    "bad value '%.*s' (times with and "
			    "without offset in one trace; expected --tz)", FIT_TEXT_ARG(t));
	if (rc) {
		*ns = FIT_INT_NA;
		return bad_value(r, c, rc, t, err, expected);
	}
	r->clock = WORDS;
	return FIT_OK;
}

/* A span: FIT_INT_NA, FIT_SACCT_NO_LIMIT. The raw column, where there is one, in units of unit_s. */
static int take_span(struct sacct *r, enum column c, enum column raw, int64_t unit_s, int64_t *ns,
		     struct fit_err *err)
{
	enum fit_slurm_span kind = FIT_SPAN_MISSING;
	bool limit = c == LIMIT;
	struct fit_text t;
	int rc;

	*ns = FIT_INT_NA;
	t = field(r, raw);
	if (raw != c && t.n) {
		rc = fit_slurm_raw(t, unit_s, &kind, ns);
		if (rc || (kind == FIT_SPAN_UNLIMITED && !limit))
			return bad_value(r, raw, rc, t, err, unit_s == 60 ?
					 "minutes, or UNLIMITED" : "seconds");
	}
	if (kind == FIT_SPAN_MISSING && has(r, c)) {
		t = field(r, c);
		rc = fit_slurm_span(t, limit, &kind, ns);
		if (rc || (kind == FIT_SPAN_UNLIMITED && !limit))
			return bad_value(r, c, rc, t, err, limit ? "[D-]HH:MM:SS, or UNLIMITED" :
					 "[D-]HH:MM:SS");
	}
	if (kind == FIT_SPAN_UNLIMITED)
		*ns = FIT_SACCT_NO_LIMIT;
	else if (kind == FIT_SPAN_MISSING)
		*ns = FIT_INT_NA;
	return FIT_OK;
}

/* A count, FIT_INT_NA where it is missing; "1.50K" without sacct --noconvert. */
static int take_count(struct sacct *r, enum column c, int64_t *v, struct fit_err *err)
{
	struct fit_text t = field(r, c), n = t;
	double d;
	int rc;

	*v = FIT_INT_NA;
	if (fit_slurm_is_missing(t))
		return FIT_OK;
	if (t.s[t.n - 1] != 'K') {
		rc = fit_parse_int64(t, v);
		if (!rc && *v < 0)
			rc = FIT_EINVAL;
	} else {
		n.n--;
		rc = fit_parse_double(n, &d);
		if (!rc && !(d >= 0 && d < 1e12))
			rc = FIT_EINVAL;
		if (!rc)
			*v = (int64_t)(d * 1024);
	}
	if (rc)
		*v = FIT_INT_NA;
	return rc ? bad_value(r, c, rc, t, err, "a count") : FIT_OK;
}

/* What was asked for, or given: the TRES list, else the older GRES list. */
static int take_tres(struct sacct *r, enum column tres, enum column gres, int64_t per_node,
		     uint32_t *number, struct fit_err *err)
{
	struct fit_text t = field(r, tres), bad = { "", 0 };
	bool old = t.n == 0;
	int rc;

	*number = FIT_NO_TEXT;
	if (old)
		t = field(r, gres);
	if (fit_slurm_is_missing(t))
		return FIT_OK;
	rc = fit_sacct_tres_put(&r->jobs, t, old, old ? per_node : 0, number, &bad);
	if (rc)
		*number = FIT_NO_TEXT;
	return rc ? bad_value(r, old ? gres : tres, rc, bad, err, old ? "GRES such as gpu:2" :
			      "TRES such as cpu=8,gres/gpu=2") : FIT_OK;
}

static int take_times(struct sacct *r, struct fit_sacct_record *x, struct fit_err *err)
{
	int rc = take_time(r, SUBMIT, FIT_INT_NA, &x->submit, err);

	if (!rc && x->submit == FIT_INT_NA)
		rc = fail(r, FIT_EDATA, "missing value", "Submit", err,
			  "missing value (expected a time)");
	if (!rc)
		rc = take_span(r, ELAPSED, ELAPSED_RAW, 1, &x->elapsed, err);
	if (!rc)
		rc = take_time(r, START, x->submit, &x->start, err);
	if (!rc)
		rc = take_time(r, END, x->start == FIT_INT_NA || x->elapsed == FIT_INT_NA ?
			       x->submit :
			       x->start + x->elapsed, &x->end, err);
	if (!rc)
		rc = take_span(r, LIMIT, LIMIT_RAW, 60, &x->limit, err);
	if (!rc)
		rc = take_span(r, CPU_TIME, CPU_TIME, 1, &x->cpu_time, err);
	return rc;
}

/* Did the nodes of a job that shows no time on them ever belong to it? */
static bool has_nodes(const struct sacct *r, const struct fit_sacct_record *x)
{
	struct fit_text list = field(r, NODE_LIST);

	if (x->alloc != FIT_NO_TEXT)
		return true;
	return list.n && !is_name(list, "None assigned") && !fit_slurm_is_missing(list);
}

/* What the state makes of the times: nothing has started yet, nothing has ended yet. */
static int settle_state(struct sacct *r, struct fit_sacct_record *x, struct fit_err *err)
{
	const char *status = x->state->status;
	bool pending = strcmp(x->state->name, "PENDING") == 0;
	bool running = strcmp(status, "RUNNING") == 0;

	if (pending)			/* a start to come is a guess */
		x->start = FIT_INT_NA;
	if (pending || running)
		x->end = FIT_INT_NA;
	if (!running && !pending && x->start != FIT_INT_NA && x->start == x->end &&
	    !has_nodes(r, x) &&
	    (x->elapsed == 0 || x->elapsed == FIT_INT_NA) &&
	    (strcmp(status, "CANCELLED") == 0 || has(r, ALLOC_TRES))) {
		x->start = FIT_INT_NA;
		r->cancelled_pending++;
	}
	if (x->start != FIT_INT_NA)
		return FIT_OK;
	if (strcmp(status, "OK") == 0 || strcmp(status, "TIMEOUT") == 0)
		return fail(r, FIT_EDATA, "missing value", "Start", err,
			    "missing value (expected a time with "
			    "state %s)", x->state->name);
	x->elapsed = x->cpu_time = FIT_INT_NA;
	return FIT_OK;
}

/* Elapsed is what counts; the clock may have been set back in between, or the job suspended. */
static int settle_elapsed(struct sacct *r, struct fit_sacct_record *x, struct fit_err *err)
{
	const int64_t hour = 3600 * FIT_NS_PER_S, slack = FIT_NS_PER_S;
	char shown[FIT_NUM_MAX];
	int64_t span;

	if (x->start == FIT_INT_NA || x->end == FIT_INT_NA)
		return FIT_OK;
	span = x->end - x->start;
	if (x->elapsed == FIT_INT_NA) {
		if (span >= 0)
			x->elapsed = span;
		return FIT_OK;
	}
	if (span > x->elapsed + slack) {
		int64_t later;

		/* a start in the hour that came twice: its second time fits */
		if (span - x->elapsed <= hour + slack && span - x->elapsed >= hour - slack &&
		    !take_time(r, START, x->start + 1, &later, NULL) && later != FIT_INT_NA &&
		    later - x->start == hour)
			x->start = later;
		else
			r->jobs.suspended++;
		return FIT_OK;
	}
	if (span >= x->elapsed - slack)
		return FIT_OK;
	fit_format_time(shown, span);
	if (x->elapsed - span > hour + slack || x->elapsed - span < hour - slack) {
		if (span < 0)		/* not Elapsed is wrong: fit_trace_check_times() looks after it */
			return FIT_OK;
		return fail(r, FIT_EDATA, "contradiction",
			    r->names[has(r, ELAPSED_RAW) ? ELAPSED_RAW : ELAPSED],
			    err, "contradiction '%.*s' (expected at most End - Start, %s s)",
			    FIT_TEXT_ARG(field(r, has(r, ELAPSED_RAW) ? ELAPSED_RAW : ELAPSED)), shown);
	}
	x->end = x->start + x->elapsed;
	fit_trace_repaired(r->out, r->line, "End", "clock set back an hour before End",
			   "End - Start is %s s, "
			   "an hour less than Elapsed: End taken an hour later", shown);
	return FIT_OK;
}

static int take_texts(struct sacct *r, struct fit_sacct_record *x)
{
	const struct { enum column column; uint32_t *number; } texts[] = {
		{ CLUSTER, &x->cluster }, { USER, &x->user }, { ACCOUNT, &x->account },
		{ PARTITION, &x->partition }, { QOS, &x->qos }
	};
	int rc = fit_sacct_jobs_trim(&r->jobs);

	for (size_t i = 0; !rc && i < sizeof texts / sizeof *texts; i++)
		rc = fit_texts_put(&r->jobs.texts, field(r, texts[i].column), texts[i].number,
				   NULL);
	return rc;
}

static int take_counts(struct sacct *r, struct fit_sacct_record *x, struct fit_err *err)
{
	int64_t req_nodes, req_cpus;
	int rc = take_count(r, PRIORITY, &x->priority, err);

	if (!rc)
		rc = take_count(r, NODES, &x->nodes, err);
	if (!rc)
		rc = take_count(r, REQ_NODES, &req_nodes, err);
	if (!rc)
		rc = take_count(r, CPUS, &x->cpus, err);
	if (!rc)
		rc = take_count(r, REQ_CPUS, &req_cpus, err);
	if (!rc && (x->nodes == FIT_INT_NA || x->nodes == 0))
		x->nodes = req_nodes;
	if (!rc && (x->cpus == FIT_INT_NA || x->cpus == 0))
		x->cpus = req_cpus;
	if (!rc)	/* ReqGRES is per node */
		rc = take_tres(r, REQ_TRES, REQ_GRES, req_nodes > 0 ? req_nodes : x->nodes > 0 ?
			       x->nodes : 1,
			       &x->req, err);
	if (!rc)
		rc = take_tres(r, ALLOC_TRES, ALLOC_GRES, 0, &x->alloc, err);
	return rc;
}

/* ---- one record ---- */

static int take_record(struct sacct *r, struct fit_err *err)
{
	static const char *const empty = "";
	struct fit_sacct_record x = { .line = r->line };
	struct fit_text id = field(r, has(r, ID) ? ID : RAW_ID), name = { empty, 0 };
	enum fit_slurm_id kind;
	uint64_t tasks;
	int rc = fit_slurm_id(id, &kind, &tasks);

	if (rc)
		return bad_value(r, has(r, ID) ? ID : RAW_ID, rc, id, err,
				 "a job id such as 123, 123_4, 123+1 or 123.batch");
	if (kind == FIT_ID_STEP) {
		r->steps++;
		return FIT_OK;
	}
	x.state = fit_slurm_state_find(field(r, STATE));
	if (!x.state)
		return bad_value(r, STATE, FIT_EPARSE, field(r, STATE), err,
				 "a job state of Slurm");
	if (take_texts(r, &x))
		return fit_fail_nomem(err);
	rc = take_counts(r, &x, err);
	if (!rc)
		rc = take_times(r, &x, err);
	if (!rc)
		rc = settle_state(r, &x, err);
	if (!rc)
		rc = settle_elapsed(r, &x, err);
	if (rc)
		return rc;
	/* nothing listed: nothing given to a job that did not start; and in the older column, no GPUs */
	x.alloc_known = x.start == FIT_INT_NA ? has(r, ALLOC_TRES) || has(r, ALLOC_GRES) :
			has(r, ALLOC_GRES) && !has(r, ALLOC_TRES);
	if (has(r, NAME))
		name = r->fields[r->at[NAME]];
	rc = fit_sacct_jobs_add(&r->jobs, &x, id, name, err);
	if (rc) {
		r->reason = NULL;	/* not a fault of this record */
		return rc;
	}
	if (kind == FIT_ID_ARRAY) {
		r->arrays++;
		r->tasks += tasks;
	} else if (kind == FIT_ID_COMPONENT) {
		r->components++;
	}
	return FIT_OK;
}

/* Is the last column one that takes what is left? */
static bool takes_rest(const struct sacct *r)
{
	return r->last == NAME || r->last == FREE_TEXT;
}

static int bad_count(struct sacct *r, struct fit_err *err)
{
	const char *hint = "";
	char put[80];

	if (r->n_fields > r->n_columns && r->free_text < N_KNOWN) {
		snprintf(put, sizeof put, "; put %s last", known[r->free_text].name);
		hint = put;
	}
	return fail(r, FIT_EPARSE, "ragged row", NULL, err, "%zu field%s, %zu expected%s",
		    r->n_fields,
		    r->n_fields == 1 ? "" : "s", r->n_columns, hint);
}

static int one_record(struct sacct *r, struct fit_text t, struct fit_err *err)
{
	struct fit_text whole = t;
	bool cut_off = false;
	int rc = fit_lines_check(&r->lines, t, r->line, err);

	r->reason = "bad encoding";
	if (rc)
		return rc;
	if (t.n > FIT_CSV_FIELD_MAX) {
		r->reason = "ragged row";
		return fail(r, FIT_EPARSE, "ragged row", NULL, err,
			    "record too long (expected at most %zu bytes)",
			    FIT_CSV_FIELD_MAX);
	}
	if (r->trailing && t.n >= r->cut.n && is_cut(r, t, t.n - r->cut.n)) {
		t.n -= r->cut.n;
		cut_off = true;
	}
	if (split(r, t, takes_rest(r) ? r->n_columns : ABSENT))
		return fit_fail_nomem(err);
	if (r->n_fields == r->n_columns && cut_off == r->trailing) {
		enum fit_slurm_id kind;

		if (fit_slurm_id(field(r, has(r, ID) ? ID : RAW_ID), &kind, NULL) == FIT_OK) {
			fit_lines_hash(&r->lines, t);
			return take_record(r, err);
		}
	}
	/* not a record: a heading? */
	if (split(r, whole, ABSENT))
		return fit_fail_nomem(err);
	if (is_heading(r)) {
		r->n_records--;
		r->reason = NULL;
		return next_heading(r, whole, err);
	}
	fit_lines_hash(&r->lines, t);
	if (split(r, t, takes_rest(r) ? r->n_columns : ABSENT))
		return fit_fail_nomem(err);
	if (r->n_fields != r->n_columns)
		return bad_count(r, err);
	if (cut_off != r->trailing)
		return fail(r, FIT_EPARSE, "ragged row", NULL, err,
			    "no '%.*s' at the end (expected one, as in "
			    "the heading)", FIT_TEXT_ARG(r->cut));
	return take_record(r, err);
}

static int count_record(struct sacct *r, struct fit_text t, struct fit_err *err)
{
	int rc;

	r->n_records++;
	r->reason = NULL;
	rc = one_record(r, t, err);
	fit_trace_count(r->out, r->n_records);
	r->line = 0;
	return rc ? fit_trace_bad(r->out, rc, r->reason, err) : FIT_OK;
}

/* Take in what was gathered. */
static int finish_record(struct sacct *r, struct fit_err *err)
{
	struct fit_text t = { r->record.s, r->record.n };

	return r->line ? count_record(r, t, err) : FIT_OK;
}

/* ---- lines ---- */

/* Could the line be a record by its first field? Where that cannot be told, it is. */
static bool starts_record(struct sacct *r, struct fit_text t)
{
	struct fit_text f = trim((struct fit_text){ t.s, find_cut(r->cut, t.s, t.n) });
	enum fit_slurm_id kind;
	int64_t ns;

	switch (r->first) {
	case ID: case RAW_ID:
		return fit_slurm_id(f, &kind, NULL) == FIT_OK;
	case STATE:
		return fit_slurm_state_find(f) != NULL;
	case SUBMIT: case START: case END:
		return fit_slurm_is_missing(f) || fit_parse_datetime(f, &ns) == FIT_OK ||
		       fit_parse_int64(f, &ns) == FIT_OK;
	default:
		return true;
	}
}

/* Does the line go on with the free text in the last column of the record at hand? */
static bool continues(struct sacct *r, struct fit_text t)
{
	if (!r->line || !takes_rest(r) || starts_record(r, t))
		return false;
	return split(r, t, ABSENT) || !is_heading(r);
}

static int one_line(struct sacct *r, struct fit_err *err)
{
	struct fit_text t = r->lines.text;
	int rc;

	if (trim(t).n == 0) {
		r->blank_lines += r->line != 0;
		return FIT_OK;
	}
	if (continues(r, t) && r->record.n + r->blank_lines + t.n < FIT_CSV_FIELD_MAX) {
		fit_trace_repaired(r->out, r->lines.number, r->last_name,
				   "line break inside a record",
				   "taken as part of the record on line %llu",
				   (unsigned long long)r->line);
		for (r->blank_lines++; r->blank_lines; r->blank_lines--)
			if (fit_str_add(&r->record, "\n", 1))
				return fit_fail_nomem(err);
		return fit_str_add(&r->record, t.s, t.n) ? fit_fail_nomem(err) : FIT_OK;
	}
	rc = finish_record(r, err);
	if (rc)
		return rc;
	r->line = r->lines.number;
	r->blank_lines = 0;
	if (!takes_rest(r))		/* nothing can go on behind the line */
		return count_record(r, t, err);
	fit_str_clear(&r->record);
	return fit_str_add(&r->record, t.s, t.n) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the whole ---- */

static int add_notes(struct sacct *r)
{
	int rc = FIT_OK;

	if (r->passed_over.n)
		rc = fit_trace_note(r->out, "columns passed over: %.400s", r->passed_over.s);
	if (!rc && r->steps)
		rc = fit_trace_note(r->out, "%llu job step%s passed over",
				    (unsigned long long)r->steps,
				    r->steps == 1 ? "" : "s");
	if (!rc && r->headings)
		rc = fit_trace_note(r->out, "%llu repeated heading%s passed over",
				    (unsigned long long)r->headings, r->headings == 1 ? "" : "s");
	if (!rc && r->arrays)
		rc = fit_trace_note(r->out,
				    "%llu row%s for arrays that are not split yet, with %llu pending "
				    "tasks", (unsigned long long)r->arrays, r->arrays == 1 ? "" : "s",
				    (unsigned long long)r->tasks);
	if (!rc && r->components)
		rc = fit_trace_note(r->out,
				    "%llu component%s of heterogeneous jobs as jobs of their own",
				    (unsigned long long)r->components, r->components == 1 ? "" : "s");
	if (!rc && r->cancelled_pending)
		rc = fit_trace_note(r->out,
				    "%llu record%s with Start = End and no nodes (taken as never "
				    "started)", (unsigned long long)r->cancelled_pending,
				    r->cancelled_pending == 1 ? "" : "s");
	return rc;
}

int fit_trace_read_sacct(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	const struct fit_trace_params *params = fit_trace_params_of(out);
	struct sacct r = { .out = out, .cut = FIT_TEXT_LIT("|") };
	char hash[FIT_HASH_HEX];
	int rc = fit_lines_open(&r.lines, s, err);

	if (params->delimiter && *params->delimiter)
		r.cut = fit_text_of(params->delimiter);
	if (!rc)
		rc = fit_sacct_jobs_init(&r.jobs, out, params->sort != FIT_SORT_NO &&
					 !params->no_unique,
					 fit_source_name(s), "JobID", err);
	if (!rc)
		rc = read_heading(&r, err);
	r.line = 0;
	while (!rc && !(rc = fit_lines_next(&r.lines, err)))
		rc = one_line(&r, err);
	if (rc == FIT_END)
		rc = finish_record(&r, err);
	if (!rc)
		rc = fit_sacct_jobs_end(&r.jobs, err);
	if (!rc && add_notes(&r))
		rc = fit_fail_nomem(err);
	if (!rc) {
		fit_hasher_hex(r.lines.hasher, hash);
		fit_trace_set_hash(out, hash);
	}
	fit_sacct_jobs_release(&r.jobs);
	fit_lines_close(&r.lines);
	fit_str_release(&r.heading);
	fit_str_release(&r.passed_over);
	fit_str_release(&r.record);
	free(r.fields);
	return rc;
}

int fit_trace_sniff_sacct(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	static const char *const ids[] = { "JobIDRaw", "JobID", "jobidraw", "jobid" };
	const char *id = NULL;

	for (size_t i = 0; !id && i < sizeof ids / sizeof *ids; i++)
		id = fit_trace_line_has(head->line, '|', ids[i]) ? ids[i] : NULL;
	if (!id || !(fit_trace_line_has(head->line, '|', "State") ||
		     fit_trace_line_has(head->line, '|', "state")))
		return 0;
	snprintf(why, FIT_TRACE_WHY, "heading has %s and State, with '|' between", id);
	return 90;
}
