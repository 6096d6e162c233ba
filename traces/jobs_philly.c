/* SPDX-License-Identifier: MIT */
/* The job log of the Philly cluster, cluster_job_log, and its machines (docs/formats/philly.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"
#include "traces/json_scan.h"

#define MAX_MACHINES ((size_t)1 << 20)
#define MAX_GPU 63		/* the largest index of a GPU in a machine; Philly has 8 a machine */

/* The columns of the output, in the order of jobs_formats.c. */
enum { JOB, USER, GROUP, SUBMIT, START, END, DURATION, GPUS, STATUS, ATTEMPTS, HOSTS, RAW_STATUS, N };

/* What the log says about one machine, and what the list says. */
struct machine {
	char *name;
	uint64_t used;		/* one bit a GPU index */
	int64_t listed;		/* GPUs in the machine list; -1: not there */
	char *memory;		/* of one GPU, as listed; NULL */
	char *widest_job;	/* the job that used the largest index first */
	int widest;		/* that index; -1: no GPU was used */
};

struct machines {
	struct machine *m;
	size_t n, cap;
	struct fit_index index;
};

struct philly {
	struct fit_trace_out *out;
	struct fit_json_scan *json;
	struct machines machines;
	bool with_machines;		/* take down which machine uses what */
	struct fit_str hosts;
	const char *id;			/* of the record at hand */
	/* counts for the report */
	uint64_t without_attempts, half_recorded, other_gpus;
};

/* One attempt. */
struct attempt {
	struct fit_cell start, end;
	double gpus;
	bool known_gpus;		/* there was a list of machines */
};

/* ---- machines ---- */

static void machines_release(struct machines *ms)
{
	for (size_t i = 0; i < ms->n; i++) {
		free(ms->m[i].name);
		free(ms->m[i].memory);
		free(ms->m[i].widest_job);
	}
	free(ms->m);
	fit_index_release(&ms->index);
	*ms = (struct machines){ 0 };
}

/* The machine of that name, a new one if need be. NULL with err: too many, or no memory. */
static struct machine *machine_named(struct machines *ms, struct fit_text name, struct fit_err *err)
{
	uint32_t at = fit_index_get(&ms->index, name);
	struct machine *m;

	if (at != FIT_NO_INDEX)
		return &ms->m[at];
	if (ms->n == MAX_MACHINES) {
		fit_fail(err, FIT_EINVAL, "more than %zu machines", MAX_MACHINES);
		return NULL;
	}
	if (fit_grow(&ms->m, &ms->cap, ms->n + 1, sizeof *ms->m))
		goto nomem;
	m = &ms->m[ms->n];
	*m = (struct machine){ .listed = -1, .widest = -1, .name = fit_strdup(name) };
	if (!m->name)
		goto nomem;
	if (fit_index_put(&ms->index, name, (uint32_t)ms->n, NULL)) {
		free(m->name);
		goto nomem;
	}
	ms->n++;
	return m;
nomem:
	fit_fail_nomem(err);
	return NULL;
}

/* cluster_machine_list: machineId, number of GPUs, single GPU mem. */
static int read_machine_list(struct philly *p, const char *operand, struct fit_err *err)
{
	enum { ID, COUNT, MEM, N_LIST };
	static const struct fit_field fields[N_LIST] = {
		[ID] = { "machineId", FIT_TEXT, FIT_F_NOT_NA },
		[COUNT] = { "number of GPUs", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		[MEM] = { "single GPU mem", FIT_TEXT, FIT_F_OPTIONAL }
	};
	struct fit_source *s = NULL;
	struct fit_csv *c = NULL;
	struct fit_cell row[N_LIST];
	char hash[FIT_HASH_HEX];
	int rc = fit_source_open(&s, operand, err);

	rc = rc ? rc : fit_csv_open(&c, s, NULL, err);
	rc = rc ? rc : fit_csv_bind(c, fields, N_LIST, err);
	while (!rc && !(rc = fit_csv_row(c, row, err))) {
		struct machine *m;

		rc = fit_trace_at_least(c, &fields[COUNT], &row[COUNT], 0, err);
		m = rc ? NULL : machine_named(&p->machines, row[ID].u.t, err);
		if (!m) {
			rc = rc ? rc : err ? err->code : FIT_ENOMEM;
			break;
		}
		if (m->listed >= 0) {
			rc = fit_csv_fail(c, FIT_EDATA, "machineId", err, "machine '%.*s' twice",
					  FIT_TEXT_ARG(row[ID].u.t));
			break;
		}
		m->listed = row[COUNT].u.i;
		if (!row[MEM].na && !(m->memory = fit_strdup(row[MEM].u.t)))
			rc = fit_fail_nomem(err);
	}
	if (rc == FIT_END) {
		fit_csv_hash(c, hash);
		rc = fit_trace_add_hash(p->out, "machines", hash) ? fit_fail_nomem(err) : FIT_OK;
	}
	fit_csv_close(c);
	fit_source_close(s);
	return rc;
}

/* The job log wins where the list gives a machine fewer GPUs than a job used there: one line. */
static int compare_machines(struct philly *p)
{
	const struct machine *first = NULL;
	uint64_t n = 0, unlisted = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < p->machines.n; i++) {
		const struct machine *m = &p->machines.m[i];

		if (m->listed < 0)
			unlisted++;
		if (m->listed < 0 || m->widest < m->listed)
			continue;
		first = first ? first : m;
		n++;
	}
	if (first)
		rc = fit_trace_conflict(p->out, "the machine list contradicts the job log on %llu machine%s, "
					"such as %s: %lld GPUs listed, %d used by %s (the job log holds)",
					(unsigned long long)n, n == 1 ? "" : "s", first->name,
					(long long)first->listed, first->widest + 1, first->widest_job);
	if (!rc && unlisted)
		rc = fit_trace_note(p->out, "%llu machine%s of the job log %s not in the machine list",
				    (unsigned long long)unlisted, unlisted == 1 ? "" : "s",
				    unlisted == 1 ? "is" : "are");
	return rc;
}

/* ---- one record ---- */

static int bad(const struct philly *p, const char *field, const char *what, struct fit_err *err)
{
	return fit_json_fail(p->json, FIT_EDATA, field, err, "%s in job '%s'", what, p->id);
}

static struct fit_text text_of(const json_t *v)
{
	return (struct fit_text){ json_string_value(v), json_string_length(v) };
}

/* A text; NA where it is absent, null, empty or "None". */
static int take_text(const struct philly *p, const json_t *job, const char *field, struct fit_cell *cell,
		     struct fit_err *err)
{
	const json_t *v = json_object_get(job, field);

	*cell = (struct fit_cell){ .na = true };
	if (!v || json_is_null(v))
		return FIT_OK;
	if (!json_is_string(v))
		return bad(p, field, "not a text", err);
	if (json_string_length(v) == 0 || strcmp(json_string_value(v), "None") == 0)
		return FIT_OK;
	*cell = (struct fit_cell){ .u.t = text_of(v) };
	return FIT_OK;
}

static int take_time(struct philly *p, const json_t *job, const char *field, int64_t after,
		     struct fit_cell *cell, struct fit_err *err)
{
	struct fit_cell text;
	int rc = take_text(p, job, field, &text, err);

	*cell = (struct fit_cell){ .na = true };
	if (rc || text.na)
		return rc;
	rc = fit_trace_time(p->out, text.u.t, after, &cell->u.i);
	cell->na = rc != FIT_OK;
	if (rc == FIT_EDATA)
		return fit_json_fail(p->json, FIT_EDATA, field, err, "bad value '%.*s' (times with and without "
				     "offset in one trace; expected --tz)", FIT_TEXT_ARG(text.u.t));
	return rc ? fit_json_fail(p->json, FIT_EDATA, field, err, "%s '%.*s' (expected YYYY-MM-DD HH:MM:SS)",
				  rc == FIT_EINVAL ? "no such time" : "bad value",
				  FIT_TEXT_ARG(text.u.t)) : FIT_OK;
}

/* "gpu7" as 7; -1: something else. */
static int gpu_index(const json_t *v)
{
	const char *s = json_string_value(v);
	int64_t i;

	if (!s || strncmp(s, "gpu", 3) != 0 ||
	    fit_parse_int64((struct fit_text){ s + 3, json_string_length(v) - 3 }, &i) || i < 0 ||
	    i > MAX_GPU)
		return -1;
	return (int)i;
}

/* One machine of an attempt: counted, taken down, and into hosts where the caller wants that. */
static int take_machine(struct philly *p, const json_t *detail, struct attempt *a, bool hosts,
			struct fit_err *err)
{
	const json_t *ip = json_object_get(detail, "ip"), *gpus = json_object_get(detail, "gpus");
	struct machine *m = NULL;
	uint64_t used = 0;

	if (!json_is_string(ip) || json_string_length(ip) == 0)
		return bad(p, "ip", "no machine (expected a text)", err);
	if (strpbrk(json_string_value(ip), ",:+"))	/* which part the list of hosts */
		return bad(p, "ip", "a machine with ',', ':' or '+' in its name", err);
	if (!json_is_array(gpus))
		return bad(p, "gpus", "no list of GPUs", err);
	if (p->with_machines) {
		m = machine_named(&p->machines, text_of(ip), err);
		if (!m)
			return err ? err->code : FIT_ENOMEM;
	}
	if (hosts && fit_str_printf(&p->hosts, "%s%s", p->hosts.n ? "," : "", json_string_value(ip)))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < json_array_size(gpus); i++) {
		int g = gpu_index(json_array_get(gpus, i));

		if (g < 0)
			return bad(p, "gpus", "not a GPU (expected gpu0 to gpu63)", err);
		if (used >> g & 1)
			return bad(p, "gpus", "a GPU twice on one machine", err);
		used |= UINT64_C(1) << g;
		if (hosts && fit_str_printf(&p->hosts, "%c%d", i ? '+' : ':', g))
			return fit_fail_nomem(err);
		if (m && g > m->widest) {
			char *id = fit_strdup(fit_text_of(p->id));

			if (!id)
				return fit_fail_nomem(err);
			free(m->widest_job);
			m->widest_job = id;
			m->widest = g;
		}
	}
	if (m)
		m->used |= used;
	a->gpus += (double)json_array_size(gpus);
	return FIT_OK;
}

static int take_attempt(struct philly *p, const json_t *v, int64_t after, struct attempt *a, bool hosts,
			struct fit_err *err)
{
	const json_t *detail;
	int rc;

	*a = (struct attempt){ .start = { .na = true }, .end = { .na = true } };
	if (!json_is_object(v))
		return bad(p, "attempts", "an attempt that is no object", err);
	rc = take_time(p, v, "start_time", after, &a->start, err);
	if (!rc && !a->start.na)
		after = a->start.u.i;
	rc = rc ? rc : take_time(p, v, "end_time", after, &a->end, err);
	detail = json_object_get(v, "detail");
	if (rc || !detail || json_is_null(detail))
		return rc;
	if (!json_is_array(detail))
		return bad(p, "detail", "no list of machines", err);
	a->known_gpus = true;
	for (size_t i = 0; !rc && i < json_array_size(detail); i++)
		rc = take_machine(p, json_array_get(detail, i), a, hosts, err);
	return rc;
}

/* Start, end, duration and GPUs from the attempts. */
static int take_attempts(struct philly *p, const json_t *attempts, struct fit_cell row[N],
			 struct fit_err *err)
{
	enum fit_trace_attempts how = fit_trace_params_of(p->out)->attempts;
	size_t n = json_array_size(attempts), last = how == FIT_ATTEMPTS_FIRST ? 0 : n - 1;
	size_t first = how == FIT_ATTEMPTS_LAST && n ? n - 1 : 0;
	int64_t after = row[SUBMIT].na ? FIT_INT_NA : row[SUBMIT].u.i, sum = 0;
	bool whole = true, first_gpus = false, others = false;
	double gpus = 0;

	fit_str_clear(&p->hosts);
	for (size_t i = 0; i < n; i++) {
		struct fit_cell duration = { .na = true }, before = { .na = true };
		struct attempt a;
		int rc = take_attempt(p, json_array_get(attempts, i), after, &a, i == 0, err);

		if (rc)
			return rc;
		if (i == 0) {
			gpus = a.gpus;
			first_gpus = a.known_gpus;
			before = row[SUBMIT];
		}
		others = others || (a.known_gpus && first_gpus && a.gpus != gpus);
		if (i == n - 1 && a.end.na)	/* at work when the log was written */
			row[STATUS] = (struct fit_cell){ .u.t = FIT_TEXT_LIT("RUNNING") };
		rc = fit_trace_check_times(p->out, fit_json_line(p->json), &before, &a.start, &a.end,
					   &duration, err);
		if (rc)
			return rc;
		if (i == first)
			row[START] = a.start;
		if (i == last)
			row[END] = a.end;
		if (i >= first && i <= last)
			whole = whole && !duration.na;
		if (i >= first && i <= last && !duration.na)
			sum += duration.u.i;
		if (!a.end.na)
			after = a.end.u.i;
		else if (!a.start.na)
			after = a.start.u.i;
	}
	if (last > 0) {		/* attempts that are out of order */
		const struct fit_cell na = { .na = true };
		int rc = fit_trace_check_times(p->out, fit_json_line(p->json), &na, &row[START],
					       &row[END], NULL, err);

		if (rc)
			return rc;
	}
	if (how == FIT_ATTEMPTS_SPAN && !row[START].na && !row[END].na)
		row[DURATION] = (struct fit_cell){ .u.i = row[END].u.i - row[START].u.i };
	else if (how != FIT_ATTEMPTS_SPAN && whole)
		row[DURATION] = (struct fit_cell){ .u.i = sum };
	if (row[DURATION].na && !fit_text_is(row[STATUS].u.t, "RUNNING"))
		p->half_recorded++;
	if (others)
		p->other_gpus++;
	if (first_gpus)
		row[GPUS] = (struct fit_cell){ .u.d = gpus };
	if (first_gpus && p->hosts.n)
		row[HOSTS] = (struct fit_cell){ .u.t = { p->hosts.s, p->hosts.n } };
	return FIT_OK;
}

static int take_status(const struct philly *p, struct fit_cell row[N], struct fit_err *err)
{
	static const struct { const char *word; struct fit_text status; } known[] = {
		{ "Pass", { "OK", 2 } }, { "Killed", { "CANCELLED", 9 } }, { "Failed", { "FAILED", 6 } }
	};

	row[STATUS] = (struct fit_cell){ .u.t = FIT_TEXT_LIT("UNKNOWN") };
	for (size_t i = 0; !row[RAW_STATUS].na && i < sizeof known / sizeof *known; i++)
		if (fit_text_is(row[RAW_STATUS].u.t, known[i].word)) {
			row[STATUS].u.t = known[i].status;
			return FIT_OK;
		}
	return row[RAW_STATUS].na ? FIT_OK :
	       fit_json_fail(p->json, FIT_EDATA, "status", err, "bad value '%.*s' (expected Pass, Killed or "
			     "Failed)", FIT_TEXT_ARG(row[RAW_STATUS].u.t));
}

static int take_job(struct philly *p, const json_t *job, struct fit_cell row[N], struct fit_err *err)
{
	const json_t *attempts;
	int rc;

	for (size_t i = 0; i < N; i++)
		row[i] = (struct fit_cell){ .na = true };
	p->id = "";
	if (!json_is_object(job))
		return fit_json_fail(p->json, FIT_EDATA, NULL, err, "an element that is no object");
	rc = take_text(p, job, "jobid", &row[JOB], err);
	if (!rc && row[JOB].na)
		rc = fit_json_fail(p->json, FIT_EDATA, "jobid", err, "missing value (expected a text)");
	if (rc)
		return rc;
	p->id = row[JOB].u.t.s;
	rc = take_text(p, job, "user", &row[USER], err);
	rc = rc ? rc : take_text(p, job, "vc", &row[GROUP], err);
	rc = rc ? rc : take_text(p, job, "status", &row[RAW_STATUS], err);
	rc = rc ? rc : take_status(p, row, err);
	rc = rc ? rc : take_time(p, job, "submitted_time", FIT_INT_NA, &row[SUBMIT], err);
	if (rc)
		return rc;
	attempts = json_object_get(job, "attempts");
	if (attempts && !json_is_null(attempts) && !json_is_array(attempts))
		return bad(p, "attempts", "no list", err);
	row[ATTEMPTS] = (struct fit_cell){ .u.i = (int64_t)json_array_size(attempts) };
	if (json_array_size(attempts) == 0) {
		p->without_attempts++;
		return FIT_OK;
	}
	return take_attempts(p, attempts, row, err);
}

/* ---- the whole log ---- */

static int note_counts(const struct philly *p)
{
	int rc = FIT_OK;

	if (p->without_attempts)
		rc = fit_trace_note(p->out, "%llu job%s without attempts (GPUs and times are missing)",
				    (unsigned long long)p->without_attempts,
				    p->without_attempts == 1 ? "" : "s");
	if (!rc && p->half_recorded)
		rc = fit_trace_note(p->out, "%llu job%s with attempts that are half recorded (the duration is "
				    "missing)", (unsigned long long)p->half_recorded,
				    p->half_recorded == 1 ? "" : "s");
	if (!rc && p->other_gpus)
		rc = fit_trace_note(p->out, "%llu job%s with another number of GPUs in a later attempt (those "
				    "of the first count)", (unsigned long long)p->other_gpus,
				    p->other_gpus == 1 ? "" : "s");
	return rc;
}

/* Every record in turn; emit: hand the rows on. */
static int read_log(struct philly *p, struct fit_source *s, bool emit, struct fit_err *err)
{
	char hash[FIT_HASH_HEX];
	int rc = fit_json_scan_open(&p->json, s, NULL, err);

	while (!rc) {
		struct fit_cell row[N];
		json_t *job = NULL;

		rc = fit_json_scan_value(p->json, &job, NULL, err);
		if (rc == FIT_END)
			break;
		fit_trace_count(p->out, fit_json_elements(p->json));
		if (rc) {
			rc = fit_trace_bad(p->out, rc, fit_json_bad_element(p->json) ? "bad JSON" : NULL, err);
			continue;
		}
		rc = take_job(p, job, row, err);
		if (!rc && emit)
			rc = fit_trace_emit(p->out, row, fit_json_line(p->json), err);
		if (rc)
			rc = fit_trace_bad(p->out, rc, "bad value", err);
		json_decref(job);
	}
	if (rc == FIT_END) {
		fit_source_hash(s, hash);
		fit_trace_set_hash(p->out, hash);
		rc = FIT_OK;
	}
	return rc;
}

/* Of one array, or of JSON lines; the names of the log are looked for in the first bytes. */
int fit_trace_sniff_philly(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	static const char *const names[] = { "\"jobid\"", "\"attempts\"", "\"submitted_time\"" };
	int n = 0;

	if (!head->line.n || (head->line.s[0] != '[' && head->line.s[0] != '{'))
		return 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct fit_text rest = head->bytes;
		size_t k = strlen(names[i]);
		const char *q;

		while (rest.n >= k && (q = memchr(rest.s, '"', rest.n - k + 1)) != NULL) {
			if (memcmp(q, names[i], k) == 0) {
				n++;
				break;
			}
			rest.n -= (size_t)(q + 1 - rest.s);
			rest.s = q + 1;
		}
	}
	snprintf(why, FIT_TRACE_WHY, "JSON whose objects have jobid, submitted_time and attempts");
	return n == 3 ? 95 : 0;
}

static void philly_release(struct philly *p)
{
	fit_json_scan_close(p->json);
	machines_release(&p->machines);
	fit_str_release(&p->hosts);
}

int fit_trace_read_philly(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	const char *list = fit_trace_params_of(out)->machines;
	struct philly p = { .out = out, .with_machines = list != NULL };
	int rc = list ? read_machine_list(&p, list, err) : FIT_OK;

	rc = rc ? rc : read_log(&p, s, true, err);
	if (!rc && (note_counts(&p) || (list && compare_machines(&p))))
		rc = fit_fail_nomem(err);
	philly_release(&p);
	return rc;
}

static int bits(uint64_t v)
{
	int n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

static int compare_names(const void *a, const void *b)
{
	const struct machine *x = a, *y = b;

	return fit_text_cmp_natural(fit_text_of(x->name), fit_text_of(y->name));
}

/* "24GB" as 24 GiB; NA for anything else. */
static struct fit_cell gib(const char *text)
{
	struct fit_text t = fit_text_of(text ? text : "");
	double v;

	if (t.n > 2 && (memcmp(t.s + t.n - 2, "GB", 2) == 0)) {
		t.n -= 2;
		if (fit_parse_double(t, &v) == FIT_OK && v > 0)
			return (struct fit_cell){ .u.d = v };
	}
	return (struct fit_cell){ .na = true };
}

int fit_trace_read_philly_cluster(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	const char *list = fit_trace_params_of(out)->machines;
	struct philly p = { .out = out, .with_machines = true };
	int rc = list ? read_machine_list(&p, list, err) : FIT_OK;

	rc = rc ? rc : read_log(&p, s, false, err);
	if (!rc && list && compare_machines(&p))
		rc = fit_fail_nomem(err);
	if (!rc && p.machines.n)
		qsort(p.machines.m, p.machines.n, sizeof *p.machines.m, compare_names);
	for (size_t i = 0; !rc && i < p.machines.n; i++) {
		const struct machine *m = &p.machines.m[i];
		struct fit_cell row[] = {
			{ .u.t = fit_text_of(m->name) }, { .u.i = 1 }, { .u.i = m->widest + 1 },
			{ .u.i = bits(m->used) }, { .na = m->listed < 0, .u.i = m->listed < 0 ? 0 : m->listed },
			gib(m->memory)
		};

		if (m->widest < 0)	/* listed, and never used */
			row[2] = row[4];
		rc = fit_trace_emit(out, row, i + 1, err);
	}
	philly_release(&p);
	return rc;
}
