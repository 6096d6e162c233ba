/* SPDX-License-Identifier: MIT */
/* The list of trace formats, and what happens to the rows that their readers emit. */
#include "traces/jobs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

#define NS_PER_DAY (INT64_C(86400) * FIT_NS_PER_S)

static const struct fit_field pollux_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }
};
static const struct fit_field philly_list_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }
};
static const struct fit_field tiresias_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "start_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "work", FIT_INT, 0 }
};
static const struct fit_field cluster_fields[] = {
	{ "node_type", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus_per_node", FIT_INT, 0 },
	{ "cpus_per_node", FIT_INT, 0 }, { "mem_gib_per_node", FIT_REAL, 0 }
};

#define FIELDS(f) f, sizeof f / sizeof *f

const struct fit_trace_format fit_trace_formats[] = {
	{ "pollux", "workload CSV of the Pollux and Sia simulators", FIELDS(pollux_fields), 0, "name",
	  NULL, fit_trace_read_pollux },
	{ "pollux-philly", "the Philly job list that comes with Pollux", FIELDS(philly_list_fields),
	  FIT_TRACE_CALENDAR | FIT_TRACE_SORT | FIT_TRACE_RANK_ID, NULL, "philly-",
	  fit_trace_read_philly_list },
	{ "tiresias", "job list of the Tiresias simulator, CSV or blanks", FIELDS(tiresias_fields), 0,
	  "job_id", NULL, fit_trace_read_tiresias },
	{ "tiresias-cluster", "cluster file of the Tiresias simulator", FIELDS(cluster_fields), 0, NULL,
	  NULL, fit_trace_read_tiresias_cluster },
	{ NULL, NULL, NULL, 0, 0, NULL, NULL, NULL }
};

const struct fit_trace_format *fit_trace_format_find(const char *name)
{
	for (const struct fit_trace_format *f = fit_trace_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* ---- taking rows in ---- */

struct fit_trace_out {
	const struct fit_trace_format *format;
	const struct fit_trace_params *params;
	struct fit_trace_report *report;
	const char *input;
	struct fit_table *table;
	struct fit_index ids;		/* job_id -> line */
	size_t id_at, submit_at, gpus_at;	/* SIZE_MAX: no such column */
};

static size_t field_at(const struct fit_trace_format *f, const char *name)
{
	for (size_t i = 0; i < f->n_fields; i++)
		if (strcmp(f->fields[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

int fit_trace_emit(struct fit_trace_out *out, const struct fit_cell *cells, uint64_t line,
		   struct fit_err *err)
{
	struct fit_trace_report *r = out->report;
	uint32_t first;

	if (out->id_at != SIZE_MAX && !cells[out->id_at].na) {
		uint32_t here = line < FIT_NO_INDEX ? (uint32_t)line : FIT_NO_INDEX - 1;

		if (fit_index_put(&out->ids, cells[out->id_at].u.t, here, &first))
			return fit_fail_nomem(err);
		if (first != FIT_NO_INDEX)
			return fit_fail(err, FIT_EDATA,
					"%s:%llu:%s: duplicate id '%.*s' (first on line %lu)",
					out->input, (unsigned long long)line,
					out->format->id_field ? out->format->id_field : "job_id",
					FIT_TEXT_ARG(cells[out->id_at].u.t), (unsigned long)first);
	}
	if (fit_table_add(out->table, cells))
		return fit_fail_nomem(err);
	if (out->gpus_at != SIZE_MAX && !cells[out->gpus_at].na &&
	    !(cells[out->gpus_at].u.d > 0))
		r->cpu_jobs++;
	if (out->submit_at != SIZE_MAX && !cells[out->submit_at].na) {
		int64_t t = cells[out->submit_at].u.i;

		if (!r->has_range || t < r->first_ns)
			r->first_ns = t;
		if (!r->has_range || t > r->last_ns)
			r->last_ns = t;
		r->has_range = true;
	}
	return FIT_OK;
}

int fit_trace_bad(struct fit_trace_out *out, int rc, const char *reason)
{
	struct fit_trace_report *r = out->report;
	size_t i;

	if (!reason || (rc != FIT_EPARSE && rc != FIT_EDATA))
		return rc;
	if (r->left_out >= (uint64_t)out->params->skip_bad)
		return rc;
	r->left_out++;
	for (i = 0; i < r->n_reasons && strcmp(r->reasons[i].reason, reason) != 0; i++)
		;
	if (i == sizeof r->reasons / sizeof *r->reasons)
		i--;
	if (i == r->n_reasons)
		r->reasons[r->n_reasons++].reason = reason;
	r->reasons[i].n++;
	return FIT_OK;
}

int fit_trace_note(struct fit_trace_out *out, const char *fmt, ...)
{
	char line[FIT_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	return fit_str_printf(&out->report->notes, "%s\n", line);
}

void fit_trace_set_hash(struct fit_trace_out *out, const char hash[FIT_HASH_HEX])
{
	memcpy(out->table->hash, hash, FIT_HASH_HEX);
}

/* ---- helpers of the readers of delimited text ---- */

int fit_trace_csv_row(struct fit_csv *c, struct fit_trace_out *out, struct fit_cell *cells,
		      struct fit_err *err)
{
	for (;;) {
		int rc = fit_csv_row(c, cells, err);
		char hash[FIT_HASH_HEX];

		out->report->rows = fit_csv_rows(c);
		if (rc == FIT_END) {
			fit_csv_hash(c, hash);
			fit_trace_set_hash(out, hash);
		}
		if (rc == FIT_OK || rc == FIT_END)
			return rc;
		rc = fit_trace_bad(out, rc, fit_csv_reason(c));
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
	if (f->type == FIT_REAL) {
		ok = isfinite(cell->u.d) && cell->u.d >= (double)min;
		fit_format_double(text, cell->u.d);
	} else if (f->type == FIT_TIME) {
		ok = cell->u.i >= min * FIT_NS_PER_S;
		fit_format_time(text, cell->u.i);
	} else {
		ok = cell->u.i >= min;
		fit_format_int64(text, cell->u.i);
	}
	if (ok)
		return FIT_OK;
	return fit_csv_fail(c, FIT_EDATA, f->name, err, "out of range '%s' (expected at least %lld)",
			    text, (long long)min);
}

/* ---- the finished table ---- */

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

static void set_origin(struct fit_trace_out *out)
{
	struct fit_trace_report *r = out->report;
	int64_t origin = r->first_ns - r->first_ns % NS_PER_DAY;

	if (r->first_ns % NS_PER_DAY < 0)
		origin -= NS_PER_DAY;
	fit_format_datetime(r->origin, origin);
	for (size_t j = 0; j < out->format->n_fields; j++) {
		const char *name = out->format->fields[j].name;
		int64_t *t = out->table->columns[j].i;

		if (strcmp(name, "submit_s") != 0 && strcmp(name, "start_s") != 0 &&
		    strcmp(name, "end_s") != 0)
			continue;
		for (size_t i = 0; i < out->table->n_rows; i++)
			if (t[i] != FIT_INT_NA)
				t[i] -= origin;
	}
	r->first_ns -= origin;
	r->last_ns -= origin;
}

/* The rows again, by submission, with ids by rank. */
static int sort_rows(struct fit_trace_out *out, struct fit_err *err)
{
	const struct fit_trace_format *f = out->format;
	struct fit_table *old = out->table, sorted = { 0 };
	struct rank *ranks = calloc(old->n_rows ? old->n_rows : 1, sizeof *ranks);
	struct fit_cell *cells = calloc(f->n_fields, sizeof *cells);
	struct fit_str id = { 0 };
	int rc = ranks && cells ? FIT_OK : fit_fail_nomem(err);

	if (!rc)
		rc = fit_table_init(&sorted, "", f->fields, f->n_fields, err);
	for (size_t i = 0; !rc && i < old->n_rows; i++)
		ranks[i] = (struct rank){ old->columns[out->submit_at].i[i], i };
	if (!rc)
		qsort(ranks, old->n_rows, sizeof *ranks, compare_ranks);
	for (size_t i = 0; !rc && i < old->n_rows; i++) {
		for (size_t j = 0; j < f->n_fields; j++)
			cells[j] = fit_column_cell(&old->columns[j], ranks[i].row);
		if (f->flags & FIT_TRACE_RANK_ID) {
			fit_str_clear(&id);
			rc = fit_str_printf(&id, "%s%zu", f->id_prefix, i);
			cells[out->id_at] = (struct fit_cell){ .u.t = { id.s, id.n } };
		}
		if (!rc)
			rc = fit_table_add(&sorted, cells);
		if (rc)
			rc = fit_fail_nomem(err);
	}
	free(ranks);
	free(cells);
	fit_str_release(&id);
	if (rc) {
		fit_table_release(&sorted);
		return rc;
	}
	memcpy(sorted.hash, old->hash, sizeof sorted.hash);
	memcpy(sorted.input, old->input, sizeof sorted.input);
	fit_table_release(old);
	*old = sorted;
	return FIT_OK;
}

void fit_trace_report_release(struct fit_trace_report *r)
{
	fit_str_release(&r->notes);
	*r = (struct fit_trace_report){ 0 };
}

int fit_trace_read(struct fit_table *table, const struct fit_trace_format *format,
		   const char *operand, const struct fit_trace_params *params,
		   struct fit_trace_report *report, struct fit_err *err)
{
	struct fit_trace_out out = {
		.format = format, .params = params, .report = report, .table = table,
		.id_at = field_at(format, "job_id"), .submit_at = field_at(format, "submit_s"),
		.gpus_at = field_at(format, "gpus")
	};
	struct fit_source *s = NULL;
	int rc;

	*report = (struct fit_trace_report){ 0 };
	*table = (struct fit_table){ 0 };
	rc = fit_source_open(&s, operand, err);
	if (rc)
		return rc;
	out.input = fit_source_name(s);
	rc = fit_table_init(table, "", format->fields, format->n_fields, err);
	if (!rc) {
		snprintf(table->input, sizeof table->input, "%s", out.input);
		rc = format->read(s, &out, err);
	}
	if (!rc && (format->flags & FIT_TRACE_CALENDAR) && report->has_range)
		set_origin(&out);
	if (!rc && (format->flags & FIT_TRACE_SORT))
		rc = sort_rows(&out, err);
	fit_index_release(&out.ids);
	fit_source_close(s);
	if (rc)
		fit_table_release(table);
	return rc;
}
