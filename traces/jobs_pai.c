/* SPDX-License-Identifier: MIT */
/*
 * Alibaba PAI, cluster-trace-gpu-v2020: job, task, instance and group tag tables, joined by job name
 * (docs/formats/pai.md).
 *
 * Memory: 300 to 500 bytes a job (its name twice, its times and sums), 12 to 17 bytes a task and 32 to
 * 64 an instance. The rows of the tables themselves are not kept.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/id_set.h"
#include "traces/jobs_rows.h"
#include "traces/nodes.h"
#include "traces/pai_tables.h"

#define NO_TIME FIT_INT_NA
#define NONE FIT_NO_INDEX

enum status { TERMINATED, FAILED, RUNNING, WAITING, OTHER, N_STATUS };
static const char *const canonical[N_STATUS] = { "OK", "FAILED", "RUNNING", "PENDING", "UNKNOWN" };

/* Start and end of the rows of one table that belong to one job. */
struct span {
	int64_t start, end;
	bool open;		/* the end of a row is missing, or cannot be right */
	bool any;
	uint8_t statuses;	/* bits of enum status */
};

struct job {
	int64_t submit, end;	/* of the job table */
	struct span tasks, instances;
	double gpus, cpus, mem_mib;
	bool listed, gpus_open, cpus_open, mem_open;
	uint8_t status;		/* of the job table; OTHER: none or unknown */
	uint32_t name, user, group, app, gpu_type;
	uint32_t line;
};

struct instance {
	uint64_t worker;	/* hash of its name */
	int64_t start, end;
	uint32_t job;
	uint8_t status;
	bool bad_end;
};

struct pai {
	struct fit_trace_out *out;
	struct fit_index names;			/* job name -> job */
	struct fit_index inst_ids;		/* -> job */
	struct fit_id_set tasks;		/* job and task name */
	struct job *jobs;
	size_t n_jobs, cap_jobs;
	struct instance *instances;
	size_t n_instances, cap_instances;
	/* texts, each kept once */
	struct fit_index text_index;
	struct fit_str text_bytes;
	struct { size_t at, n; } *texts;
	size_t n_texts, cap_texts;
	unsigned tables;			/* bits of enum fit_pai_table */
	struct fit_tally tally;
};

/* ---- texts and jobs by name ---- */

static int add_text(struct pai *p, struct fit_text t, uint32_t *id)
{
	if (fit_grow(&p->texts, &p->cap_texts, p->n_texts + 1, sizeof *p->texts) ||
	    (t.n && fit_str_add(&p->text_bytes, t.s, t.n)))
		return FIT_ENOMEM;
	p->texts[p->n_texts].at = p->text_bytes.n - t.n;
	p->texts[p->n_texts].n = t.n;
	*id = (uint32_t)p->n_texts++;
	return FIT_OK;
}

/* A text that many jobs share. */
static int intern(struct pai *p, struct fit_text t, uint32_t *id)
{
	uint32_t found;

	if (fit_index_put(&p->text_index, t, (uint32_t)p->n_texts, &found))
		return FIT_ENOMEM;
	*id = found;
	return found == NONE ? add_text(p, t, id) : FIT_OK;
}

static int intern_cell(struct pai *p, const struct fit_cell *c, uint32_t *id)
{
	return c->na ? FIT_OK : intern(p, c->u.t, id);
}

static struct fit_text text_of(const struct pai *p, uint32_t id)
{
	return (struct fit_text){ p->text_bytes.s + p->texts[id].at, p->texts[id].n };
}

static struct fit_cell text_cell(const struct pai *p, uint32_t id)
{
	return id == NONE ? fit_cell_na() : (struct fit_cell){ .u.t = text_of(p, id) };
}

static int job_of(struct pai *p, struct fit_text name, uint64_t line, struct job **job)
{
	uint32_t at = (uint32_t)p->n_jobs, found;
	struct job *j;

	if (p->n_jobs >= NONE - 1 || fit_index_put(&p->names, name, at, &found))
		return FIT_ENOMEM;
	if (found != NONE) {
		*job = &p->jobs[found];
		return FIT_OK;
	}
	if (fit_grow(&p->jobs, &p->cap_jobs, p->n_jobs + 1, sizeof *p->jobs))
		return FIT_ENOMEM;
	j = &p->jobs[at];
	*j = (struct job){
		.submit = NO_TIME, .end = NO_TIME, .status = OTHER, .user = NONE, .group = NONE,
		.app = NONE, .gpu_type = NONE, .line = line < NONE ? (uint32_t)line : NONE
	};
	j->tasks.start = j->tasks.end = j->instances.start = j->instances.end = NO_TIME;
	p->n_jobs++;
	*job = j;
	return add_text(p, name, &j->name);
}

/* ---- times and statuses of a row ---- */

static enum status status_of(struct pai *p, const struct fit_cell *c)
{
	static const char *const words[OTHER] = { "Terminated", "Failed", "Running", "Waiting" };

	for (int i = 0; !c->na && i < OTHER; i++)
		if (fit_text_is(c->u.t, words[i]))
			return (enum status)i;
	if (!c->na)
		fit_tally_add(&p->tally, "rows with a status that is not known");
	return OTHER;
}

/*
 * Start and end of a row. 0 is how the trace says that a time was not recorded; where the start is
 * missing so is the end. *bad: there is an end, but none that can be.
 */
static int take_times(struct fit_trace_row *r, size_t start_at, size_t end_at, int64_t *start,
		      int64_t *end, bool *bad, struct fit_err *err)
{
	const struct fit_cell none = { .na = true };
	struct fit_cell a = r->in[start_at], b = r->in[end_at];
	bool had_end;
	int rc = fit_row_at_least(r, start_at, end_at, 0, err);

	if (rc)
		return rc;
	*start = *end = NO_TIME;
	*bad = false;
	if (a.na || a.u.i == 0)
		return FIT_OK;
	had_end = !b.na;
	if (had_end && b.u.i == 0) {
		b = none;
		fit_trace_repaired(r->out, fit_csv_line(r->csv), r->fields[end_at].name,
				   "end before start", "0, not recorded, taken as missing");
	}
	r->reason = "times out of order";
	rc = fit_trace_check_times(r->out, fit_csv_line(r->csv), &none, &a, &b, NULL, err);
	if (rc)
		return rc;
	*start = a.u.i;
	*end = b.na ? NO_TIME : b.u.i;
	*bad = had_end && b.na;
	return FIT_OK;
}

static void widen(struct span *s, int64_t start, int64_t end, bool bad, enum status status)
{
	s->any = true;
	s->statuses |= (uint8_t)(1u << status);
	s->open = s->open || bad || end == NO_TIME;
	if (start != NO_TIME && (s->start == NO_TIME || start < s->start))
		s->start = start;
	if (end != NO_TIME && (s->end == NO_TIME || end > s->end))
		s->end = end;
}

/* ---- the tables ---- */

enum { JOB_NAME, JOB_INST, JOB_USER, JOB_STATUS, JOB_START, JOB_END, N_JOB };
static const struct fit_field job_fields[N_JOB] = {
	[JOB_NAME] = { "job_name", FIT_TEXT, FIT_F_NOT_NA },
	[JOB_INST] = { "inst_id", FIT_TEXT, FIT_F_OPTIONAL },
	[JOB_USER] = { "user", FIT_TEXT, FIT_F_OPTIONAL },
	[JOB_STATUS] = { "status", FIT_TEXT, 0 },
	[JOB_START] = { "start_time", FIT_TIME, FIT_CSV_F_ROUND },
	[JOB_END] = { "end_time", FIT_TIME, FIT_CSV_F_ROUND }
};

static int take_job(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct pai *p = r->ctx;
	const struct fit_cell *in = r->in;
	struct job *j;
	int64_t start, end;
	bool bad;
	int rc = take_times(r, JOB_START, JOB_END, &start, &end, &bad, err);

	(void)row;
	if (rc)
		return rc;
	if (job_of(p, in[JOB_NAME].u.t, fit_csv_line(r->csv), &j))
		return fit_fail_nomem(err);
	if (j->listed)
		return fit_row_fail(r, FIT_EDATA, "duplicate id", JOB_NAME, err,
				    "duplicate id '%.*s' (first on line %lu)",
				    FIT_TEXT_ARG(in[JOB_NAME].u.t), (unsigned long)j->line);
	j->listed = true;
	j->line = (uint32_t)(fit_csv_line(r->csv) < NONE ? fit_csv_line(r->csv) : NONE);
	j->submit = start;
	j->end = end;
	j->status = (uint8_t)status_of(p, &in[JOB_STATUS]);
	rc = intern_cell(p, &in[JOB_USER], &j->user);
	if (!rc && !in[JOB_INST].na && p->tables & 1u << FIT_PAI_TAG)
		rc = fit_index_put(&p->inst_ids, in[JOB_INST].u.t, (uint32_t)(j - p->jobs), NULL);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

enum { TASK_JOB, TASK_NAME, TASK_N, TASK_STATUS, TASK_START, TASK_END, TASK_CPU, TASK_MEM, TASK_GPU,
       TASK_TYPE, N_TASK };
static const struct fit_field task_fields[N_TASK] = {
	[TASK_JOB] = { "job_name", FIT_TEXT, FIT_F_NOT_NA },
	[TASK_NAME] = { "task_name", FIT_TEXT, 0 },
	[TASK_N] = { "inst_num", FIT_INT, FIT_CSV_F_WHOLE },
	[TASK_STATUS] = { "status", FIT_TEXT, 0 },
	[TASK_START] = { "start_time", FIT_TIME, FIT_CSV_F_ROUND },
	[TASK_END] = { "end_time", FIT_TIME, FIT_CSV_F_ROUND },
	[TASK_CPU] = { "plan_cpu", FIT_REAL, FIT_F_OPTIONAL },
	[TASK_MEM] = { "plan_mem", FIT_REAL, FIT_F_OPTIONAL },
	[TASK_GPU] = { "plan_gpu", FIT_REAL, 0 },
	[TASK_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL }
};

static int check_new_task(struct fit_trace_row *r, struct pai *p, struct fit_err *err)
{
	const struct fit_cell *in = r->in;
	struct fit_str key = { 0 };
	uint64_t first = 0;
	int rc;

	if (in[TASK_NAME].na || fit_trace_params_of(r->out)->no_unique)
		return FIT_OK;
	rc = fit_str_add(&key, in[TASK_JOB].u.t.s, in[TASK_JOB].u.t.n);
	rc = rc ? rc : fit_str_add(&key, "\t", 1);
	rc = rc ? rc : fit_str_add(&key, in[TASK_NAME].u.t.s, in[TASK_NAME].u.t.n);
	rc = rc ? rc : fit_id_set_put(&p->tasks, (struct fit_text){ key.s, key.n }, fit_csv_line(r->csv),
				      &first);
	fit_str_release(&key);
	if (rc)
		return fit_fail_nomem(err);
	return !first ? FIT_OK :
	       fit_row_fail(r, FIT_EDATA, "duplicate task", TASK_NAME, err,
			    "duplicate task '%.*s' of job '%.*s' (first on line %llu)",
			    FIT_TEXT_ARG(in[TASK_NAME].u.t), FIT_TEXT_ARG(in[TASK_JOB].u.t),
			    (unsigned long long)first);
}

/* Types of the tasks that have GPUs, "A|B" where they differ. */
static int add_gpu_type(struct pai *p, struct job *j, struct fit_text type)
{
	struct fit_str both = { 0 };
	struct fit_text have;
	int rc;

	if (j->gpu_type == NONE)
		return intern(p, type, &j->gpu_type);
	have = text_of(p, j->gpu_type);
	for (size_t from = 0; from <= have.n; ) {
		size_t to = from;

		while (to < have.n && have.s[to] != '|')
			to++;
		if (fit_text_eq((struct fit_text){ have.s + from, to - from }, type))
			return FIT_OK;
		from = to + 1;
	}
	if (have.n > 1000)	/* no cluster has so many types */
		return FIT_OK;
	rc = fit_str_add(&both, have.s, have.n);
	rc = rc ? rc : fit_str_add(&both, "|", 1);
	rc = rc ? rc : fit_str_add(&both, type.s, type.n);
	rc = rc ? rc : intern(p, (struct fit_text){ both.s, both.n }, &j->gpu_type);
	fit_str_release(&both);
	return rc;
}

/* The sum of n instances of an amount each; unknown where either is. */
static void add_amount(double *sum, bool *open, const struct fit_cell *n, const struct fit_cell *each,
		       double unit)
{
	if (n->na || each->na)
		*open = true;
	else
		*sum += (double)n->u.i * each->u.d * unit;
}

static int take_task(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct pai *p = r->ctx;
	const struct fit_cell *in = r->in;
	struct job *j;
	int64_t start, end;
	bool bad;
	int rc = fit_row_at_least(r, TASK_N, TASK_N, 0, err);

	(void)row;
	if (!rc)
		rc = fit_row_at_least(r, TASK_CPU, TASK_GPU, 0, err);
	if (!rc)
		rc = check_new_task(r, p, err);
	if (!rc)
		rc = take_times(r, TASK_START, TASK_END, &start, &end, &bad, err);
	if (rc)
		return rc;
	if (job_of(p, in[TASK_JOB].u.t, fit_csv_line(r->csv), &j))
		return fit_fail_nomem(err);
	widen(&j->tasks, start, end, bad, status_of(p, &in[TASK_STATUS]));
	add_amount(&j->cpus, &j->cpus_open, &in[TASK_N], &in[TASK_CPU], 1.0 / 100);
	add_amount(&j->mem_mib, &j->mem_open, &in[TASK_N], &in[TASK_MEM], 1024);
	if (in[TASK_GPU].na || !(in[TASK_GPU].u.d > 0))
		return FIT_OK;		/* a task without GPUs adds none */
	/* in percent of a GPU, for each instance */
	add_amount(&j->gpus, &j->gpus_open, &in[TASK_N], &in[TASK_GPU], 1.0 / 100);
	if (in[TASK_N].na)
		fit_tally_add(&p->tally, "tasks with GPUs and no number of instances");
	rc = in[TASK_TYPE].na ? FIT_OK : add_gpu_type(p, j, in[TASK_TYPE].u.t);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

enum { INST_JOB, INST_WORKER, INST_ID, INST_STATUS, INST_START, INST_END, INST_TASK, INST_NAME,
       INST_MACHINE, N_INST };
static const struct fit_field instance_fields[N_INST] = {
	[INST_JOB] = { "job_name", FIT_TEXT, FIT_F_NOT_NA },
	[INST_WORKER] = { "worker_name", FIT_TEXT, 0 },
	[INST_ID] = { "inst_id", FIT_TEXT, FIT_F_OPTIONAL },
	[INST_STATUS] = { "status", FIT_TEXT, 0 },
	[INST_START] = { "start_time", FIT_TIME, FIT_CSV_F_ROUND },
	[INST_END] = { "end_time", FIT_TIME, FIT_CSV_F_ROUND },
	/* known, and not needed */
	[INST_TASK] = { "task_name", FIT_TEXT, FIT_F_OPTIONAL },
	[INST_NAME] = { "inst_name", FIT_TEXT, FIT_F_OPTIONAL },
	[INST_MACHINE] = { "machine", FIT_TEXT, FIT_F_OPTIONAL }
};

static int take_instance(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct pai *p = r->ctx;
	const struct fit_cell *in = r->in;
	struct instance *i;
	struct job *j;
	int64_t start, end;
	bool bad;
	int rc = FIT_OK;

	(void)row;
	if (in[INST_WORKER].na) {
		fit_tally_add(&p->tally, "instance rows without a worker left out");
		return FIT_OK;
	}
	rc = take_times(r, INST_START, INST_END, &start, &end, &bad, err);
	if (rc)
		return rc;
	if (job_of(p, in[INST_JOB].u.t, fit_csv_line(r->csv), &j) ||
	    fit_grow(&p->instances, &p->cap_instances, p->n_instances + 1, sizeof *p->instances))
		return fit_fail_nomem(err);
	i = &p->instances[p->n_instances++];
	*i = (struct instance){
		.worker = fit_hash64(in[INST_WORKER].u.t, 0), .start = start, .end = end,
		.job = (uint32_t)(j - p->jobs), .bad_end = bad,
		.status = (uint8_t)status_of(p, &in[INST_STATUS])
	};
	if (!in[INST_ID].na && p->tables & 1u << FIT_PAI_TAG &&
	    fit_index_put(&p->inst_ids, in[INST_ID].u.t, i->job, NULL))
		return fit_fail_nomem(err);
	return FIT_OK;
}

enum { TAG_INST, TAG_USER, TAG_SPEC, TAG_GROUP, TAG_WORKLOAD, N_TAG };
static const struct fit_field tag_fields[N_TAG] = {
	[TAG_INST] = { "inst_id", FIT_TEXT, FIT_F_NOT_NA },
	[TAG_USER] = { "user", FIT_TEXT, FIT_F_OPTIONAL },
	[TAG_SPEC] = { "gpu_type_spec", FIT_TEXT, FIT_F_OPTIONAL },
	[TAG_GROUP] = { "group", FIT_TEXT, 0 },
	[TAG_WORKLOAD] = { "workload", FIT_TEXT, 0 }
};

static int take_tag(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct pai *p = r->ctx;
	const struct fit_cell *in = r->in;
	uint32_t at = fit_index_get(&p->inst_ids, in[TAG_INST].u.t);
	int rc;

	(void)row;
	if (at == NONE) {
		fit_tally_add(&p->tally, "tags of no job here passed over");
		return FIT_OK;
	}
	rc = intern_cell(p, &in[TAG_GROUP], &p->jobs[at].group);
	rc = rc ? rc : intern_cell(p, &in[TAG_WORKLOAD], &p->jobs[at].app);
	if (p->jobs[at].user == NONE)
		rc = rc ? rc : intern_cell(p, &in[TAG_USER], &p->jobs[at].user);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the join ---- */

/* Rows of one worker beside one another; of these the last one counts. */
static int compare_instances(const void *pa, const void *pb)
{
	/* the statuses in the order of their names, as the published analysis sorts them */
	static const int order[N_STATUS] = { [FAILED] = 0, [OTHER] = 1, [RUNNING] = 2, [TERMINATED] = 3,
					     [WAITING] = 4 };
	const struct instance *a = pa, *b = pb;
	int by = (a->job > b->job) - (a->job < b->job);

	by = by ? by : (a->worker > b->worker) - (a->worker < b->worker);
	by = by ? by : order[a->status] - order[b->status];
	by = by ? by : (a->start > b->start) - (a->start < b->start);
	by = by ? by : (a->end > b->end) - (a->end < b->end);
	return by ? by : a->bad_end - b->bad_end;
}

static void join_instances(struct pai *p)
{
	if (p->n_instances)
		qsort(p->instances, p->n_instances, sizeof *p->instances, compare_instances);
	for (size_t k = 0; k < p->n_instances; k++) {
		const struct instance *i = &p->instances[k];

		if (k + 1 < p->n_instances && i[1].job == i->job && i[1].worker == i->worker) {
			fit_tally_add(&p->tally, "instance rows with a later one of the same worker left out");
			continue;
		}
		widen(&p->jobs[i->job].instances, i->start, i->end, i->bad_end, (enum status)i->status);
	}
	free(p->instances);
	p->instances = NULL;
	p->n_instances = p->cap_instances = 0;
}

/* The status of a job that the job table does not have, by those of its tasks or instances. */
static enum status status_by(const struct span *s)
{
	static const enum status first[] = { RUNNING, FAILED, WAITING, OTHER, TERMINATED };

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (s->statuses & 1u << first[i])
			return first[i] == WAITING && s->start != NO_TIME ? RUNNING : first[i];
	return OTHER;
}

static struct fit_cell time_cell(int64_t t)
{
	return t == NO_TIME ? fit_cell_na() : (struct fit_cell){ .u.i = t };
}

static struct fit_cell amount_cell(double v, bool unknown)
{
	return unknown || !isfinite(v) ? fit_cell_na() : (struct fit_cell){ .u.d = v };
}

static int emit_job(struct pai *p, const struct job *j, struct fit_err *err)
{
	enum { JOB_ID, USER, GROUP, APP, SUBMIT, START, END, DURATION, GPUS, GPU_TYPE, STATUS, CPUS, MEM };
	const struct span *by = j->instances.any ? &j->instances : &j->tasks;
	enum status status = (enum status)j->status;
	bool no_tasks = !j->tasks.any;
	struct fit_cell row[13] = { { 0 } };
	int64_t start = by->start != NO_TIME ? by->start : j->tasks.start, end = NO_TIME;

	if (status == OTHER)
		status = status_by(j->tasks.any ? &j->tasks : by);
	if (status != RUNNING && status != WAITING) {
		if (by->any && !by->open)
			end = by->end;
		else if (j->tasks.any && !j->tasks.open)
			end = j->tasks.end;
		else
			end = j->end;
	}
	row[JOB_ID] = text_cell(p, j->name);
	row[USER] = text_cell(p, j->user);
	/* a job without a group is its user's */
	row[GROUP] = p->tables & 1u << FIT_PAI_TAG && j->group == NONE ? row[USER] :
		text_cell(p, j->group);
	row[APP] = text_cell(p, j->app);
	row[SUBMIT] = time_cell(j->submit);
	row[START] = time_cell(start);
	row[END] = time_cell(end);
	row[DURATION] = fit_cell_na();
	row[GPUS] = amount_cell(j->gpus, no_tasks || j->gpus_open);
	row[GPU_TYPE] = text_cell(p, j->gpu_type);
	row[STATUS].u.t = fit_text_of(canonical[status]);
	row[CPUS] = amount_cell(j->cpus, no_tasks || j->cpus_open);
	row[MEM] = amount_cell(j->mem_mib, no_tasks || j->mem_open);
	if (status == RUNNING)
		fit_tally_add(&p->tally, "running (censored)");
	else if (status == WAITING)
		fit_tally_add(&p->tally, "waiting (never started)");
	if (!j->listed && p->tables & 1u << FIT_PAI_JOB)
		fit_tally_add(&p->tally, "jobs that the job table does not have");
	if (no_tasks && p->tables & 1u << FIT_PAI_TASK)
		fit_tally_add(&p->tally, "jobs without tasks");
	if (fit_trace_check_times(p->out, j->line, &row[SUBMIT], &row[START], &row[END], &row[DURATION],
				  err)) {
		int rc = fit_trace_bad(p->out, FIT_EDATA, "times out of order", err);

		return rc;
	}
	return fit_trace_emit(p->out, row, j->line, err);
}

/* By submission, unknown ones last; names were numbered in the order of the files. */
static int compare_jobs(const void *pa, const void *pb)
{
	const struct job *a = pa, *b = pb;
	int64_t ta = a->submit == NO_TIME ? INT64_MAX : a->submit;
	int64_t tb = b->submit == NO_TIME ? INT64_MAX : b->submit;

	if (ta != tb)
		return ta < tb ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* ---- reading ---- */

static void release(struct pai *p)
{
	fit_index_release(&p->names);
	fit_index_release(&p->inst_ids);
	fit_index_release(&p->text_index);
	fit_id_set_release(&p->tasks);
	fit_str_release(&p->text_bytes);
	free(p->texts);
	free(p->jobs);
	free(p->instances);
}

int fit_trace_read_pai(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_pai_reader readers[] = {
		{ FIT_PAI_JOB, job_fields, N_JOB, take_job },
		{ FIT_PAI_TASK, task_fields, N_TASK, take_task },
		{ FIT_PAI_INSTANCE, instance_fields, N_INST, take_instance },
		{ FIT_PAI_TAG, tag_fields, N_TAG, take_tag }
	};
	struct pai p = { .out = out };
	int rc = fit_pai_read_tables(s, out, readers, sizeof readers / sizeof *readers, &p, &p.tables, err);

	if (!rc && p.tables == 1u << FIT_PAI_TAG)
		rc = fit_fail(err, FIT_EDATA, "%s: group tags alone say nothing about jobs (expected a job, "
			      "task or instance table with them)", fit_source_name(s));
	if (!rc)
		join_instances(&p);
	if (!rc && p.n_jobs && fit_trace_params_of(out)->sort != FIT_SORT_NO)
		qsort(p.jobs, p.n_jobs, sizeof *p.jobs, compare_jobs);
	for (size_t i = 0; !rc && i < p.n_jobs; i++)
		rc = emit_job(&p, &p.jobs[i], err);
	if (!rc && fit_tally_note(&p.tally, out))
		rc = fit_fail_nomem(err);
	release(&p);
	return rc;
}

/* ---- machines ---- */

enum { MACHINE, MACHINE_TYPE, CAP_CPU, CAP_MEM, CAP_GPU, N_MACHINE };

static int take_machine(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err)
{
	struct fit_node_kinds *kinds = r->ctx;
	const struct fit_cell *in = r->in;
	int rc = fit_row_at_least(r, CAP_CPU, CAP_GPU, 0, err);

	(void)row;
	if (rc)
		return rc;
	r->reason = "duplicate id";
	rc = fit_node_kinds_name(kinds, r->csv, "machine", in[MACHINE].u.t, err);
	if (!rc && fit_node_kinds_add(kinds, in[MACHINE_TYPE].u.t, in[CAP_GPU].na ? 0 : in[CAP_GPU].u.i,
				      in[CAP_CPU].na ? -1 : in[CAP_CPU].u.d,
				      in[CAP_MEM].na ? -1 : in[CAP_MEM].u.d, fit_csv_line(r->csv)))
		rc = fit_fail_nomem(err);
	return rc;
}

int fit_trace_read_pai_machines(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err)
{
	static const struct fit_field fields[N_MACHINE] = {
		[MACHINE] = { "machine", FIT_TEXT, FIT_F_NOT_NA },
		[MACHINE_TYPE] = { "gpu_type", FIT_TEXT, 0 },
		[CAP_CPU] = { "cap_cpu", FIT_REAL, 0 },
		[CAP_MEM] = { "cap_mem", FIT_REAL, 0 },
		[CAP_GPU] = { "cap_gpu", FIT_INT, FIT_CSV_F_WHOLE }
	};
	static const struct fit_pai_reader reader = { FIT_PAI_MACHINE, fields, N_MACHINE, take_machine };
	struct fit_node_kinds kinds = { 0 };
	unsigned tables;
	int rc = fit_pai_read_tables(s, out, &reader, 1, &kinds, &tables, err);

	if (!rc)
		rc = fit_node_kinds_emit(&kinds, out, err);
	fit_node_kinds_release(&kinds);
	return rc;
}
