/* SPDX-License-Identifier: MIT */
#include "libfit/model/boa_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/boa.h"

/* ---- classes ---- */

enum { C_CLASS, C_TYPE, C_RATE, C_WEIGHT, C_RESCALE, C_MIN, C_COLUMNS };

static const struct fit_field class_fields[C_COLUMNS] = {
	[C_CLASS] = { "class", FIT_TEXT, FIT_F_NOT_NA },
	[C_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	[C_RATE] = { "arrival_rate_per_s", FIT_REAL, 0 },
	[C_WEIGHT] = { "weight", FIT_REAL, FIT_F_OPTIONAL },
	[C_RESCALE] = { "rescale_s", FIT_REAL, FIT_F_OPTIONAL },
	[C_MIN] = { "min_gpus", FIT_INT, FIT_F_OPTIONAL }
};

static void free_class_row(struct fit_boa_class_row *row)
{
	free(row->name);
	free(row->type);
}

void fit_boa_classes_release(struct fit_boa_classes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_class_row(&c->rows[i]);
	free(c->rows);
	*c = (struct fit_boa_classes){ 0 };
}

static int class_real(const struct fit_reader *r, const struct fit_cell *cells, int column, double *v,
		      struct fit_err *err)
{
	char text[FIT_NUM_MAX];

	*v = cells[column].na ? (double)NAN : cells[column].u.d;
	if (cells[column].na || (*v >= 0 && *v <= FIT_RATE_MAX))
		return FIT_OK;
	fit_format_double(text, *v);
	return fit_reader_fail(r, FIT_EDATA, class_fields[column].name, err,
			       "bad value '%s' (expected 0 or more)", text);
}

static int take_class_row(struct fit_boa_classes *c, const struct fit_reader *r,
			  const struct fit_cell *cells, struct fit_err *err)
{
	struct fit_boa_class_row row = { .min_gpus = cells[C_MIN].na ? 0 : cells[C_MIN].u.i };
	int rc = class_real(r, cells, C_RATE, &row.rate, err);

	if (!rc)
		rc = class_real(r, cells, C_WEIGHT, &row.weight, err);
	if (!rc)
		rc = class_real(r, cells, C_RESCALE, &row.rescale_s, err);
	if (!rc && !cells[C_MIN].na && (row.min_gpus < 1 || row.min_gpus >= FIT_GPUS_MAX))
		rc = fit_reader_fail(r, FIT_EDATA, "min_gpus", err,
				     "bad number of GPUs '%lld' (expected 1 or more)",
				     (long long)row.min_gpus);
	if (rc)
		return rc;
	row.name = fit_strdup(cells[C_CLASS].u.t);
	if (row.name && !cells[C_TYPE].na)
		row.type = fit_strdup(cells[C_TYPE].u.t);
	if (!row.name || (!cells[C_TYPE].na && !row.type) ||
	    fit_grow(&c->rows, &c->cap, c->n + 1, sizeof *c->rows)) {
		free_class_row(&row);
		return fit_fail_nomem(err);
	}
	c->rows[c->n++] = row;
	return FIT_OK;
}

static int compare_class_rows(const void *pa, const void *pb)
{
	const struct fit_boa_class_row *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);

	if (c)
		return c;
	return strcmp(a->type ? a->type : "", b->type ? b->type : "");
}

static bool contradict(double a, double b)
{
	return !isnan(a) && !isnan(b) && a != b;
}

/* Rows of one class, [at, at + n): a single rate and weight, no type twice. */
static int check_class(const struct fit_boa_class_row *rows, size_t n, const char *input,
		       struct fit_err *err)
{
	double rate = (double)NAN, weight = (double)NAN;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_class_rows(&rows[i - 1], &rows[i]) == 0)
			return fit_fail(err, FIT_EDATA, "%s: class '%.200s' is there twice%s%.200s", input,
					rows[i].name, rows[i].type ? " for GPU type " : "",
					rows[i].type ? rows[i].type : "");
		if (contradict(rate, rows[i].rate) || contradict(weight, rows[i].weight))
			return fit_fail(err, FIT_EDATA, "%s: class '%.200s' has two arrival rates or weights",
					input, rows[i].name);
		rate = isnan(rate) ? rows[i].rate : rate;
		weight = isnan(weight) ? rows[i].weight : weight;
	}
	if (isnan(rate))
		return fit_fail(err, FIT_EDATA, "%s: class '%.200s' has no arrival rate", input,
				rows[0].name);
	return FIT_OK;
}

int fit_boa_classes_read(struct fit_boa_classes *c, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[C_COLUMNS];
	struct fit_boa_classes list = { 0 };
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, operand, err);

	*c = list;
	if (!rc)
		rc = fit_reader_begin(r, class_fields, C_COLUMNS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	while (!rc && (rc = fit_reader_row(r, cells, err)) == FIT_OK)
		rc = take_class_row(&list, r, cells, err);
	if (rc == FIT_END) {
		fit_reader_hash(r, list.hash);
		rc = list.n ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", fit_reader_input(r));
	}
	if (!rc)
		qsort(list.rows, list.n, sizeof *list.rows, compare_class_rows);
	for (size_t i = 0, n; i < list.n && !rc; i += n) {
		for (n = 1; i + n < list.n && !strcmp(list.rows[i].name, list.rows[i + n].name);)
			n++;
		rc = check_class(list.rows + i, n, fit_reader_input(r), err);
	}
	if (rc)
		fit_boa_classes_release(&list);
	else
		*c = list;
	fit_reader_close(r);
	return rc;
}

bool fit_boa_classes_find(const struct fit_boa_classes *c, struct fit_text class, struct fit_text type,
			  struct fit_boa_class_row *row)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (fit_text_cmp(fit_text_of(c->rows[mid].name), class) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == c->n || !fit_text_is(class, c->rows[lo].name))
		return false;
	*row = (struct fit_boa_class_row){ .rate = (double)NAN,
					   .weight = (double)NAN,
					   .rescale_s = (double)NAN };
	/* the row without a type comes first; what one for the type says wins */
	for (; lo < c->n && fit_text_is(class, c->rows[lo].name); lo++) {
		const struct fit_boa_class_row *r = &c->rows[lo];

		row->rate = isnan(row->rate) ? r->rate : row->rate;
		row->weight = isnan(row->weight) ? r->weight : row->weight;
		if (r->type && !(type.s && fit_text_is(type, r->type)))
			continue;
		row->rescale_s = isnan(r->rescale_s) ? row->rescale_s : r->rescale_s;
		row->min_gpus = r->min_gpus ? r->min_gpus : row->min_gpus;
	}
	row->weight = isnan(row->weight) ? 1 : row->weight;
	row->rescale_s = isnan(row->rescale_s) ? 0 : row->rescale_s;
	row->min_gpus = row->min_gpus ? row->min_gpus : 1;
	return true;
}

/* ---- plans: writing ---- */

const struct fit_field fit_boa_plan_columns[] = {
	{ "class", FIT_TEXT, 0 },    { "plan", FIT_INT, 0 },  { "share", FIT_REAL, 0 },
	{ "epoch", FIT_INT, 0 },     { "gpu_type", FIT_TEXT, 0 }, { "gpus", FIT_INT, 0 },
	{ "work", FIT_REAL, 0 },     { "speed_per_s", FIT_REAL, 0 }, { "rescale_s", FIT_REAL, 0 },
	{ "time_s", FIT_REAL, 0 }
};
const size_t fit_boa_plan_n_columns = sizeof fit_boa_plan_columns / sizeof *fit_boa_plan_columns;

int fit_boa_plans_write(struct fit_writer *w, const struct fit_boa *b, const struct fit_boa_solution *s,
			struct fit_err *err)
{
	int64_t number = 0;

	for (size_t i = 0; i < s->n_plans; i++) {
		const struct fit_boa_plan *p = &s->plans[i];
		const struct fit_boa_class *c = &b->classes[p->class_no];

		number = i > 0 && s->plans[i - 1].class_no == p->class_no ? number + 1 : 0;
		for (size_t j = 0; j < c->n; j++) {
			const struct fit_width *k = &b->widths[p->widths[j]];
			const struct fit_width *before = j ? &b->widths[p->widths[j - 1]] : NULL;
			double work = b->epochs[c->at + j].work, r = 0;
			int rc;

			if (before ? before->gpus != k->gpus || before->type != k->type :
				     b->charge_start)
				r = b->rescale_s[p->class_no * b->n_types + (size_t)k->type];
			fit_writer_str(w, c->name);
			fit_writer_int(w, number);
			fit_writer_real(w, p->share);
			fit_writer_int(w, (int64_t)j);
			fit_writer_str(w, b->types[k->type][0] ? b->types[k->type] : NULL);
			fit_writer_int(w, k->gpus);
			fit_writer_real(w, work);
			fit_writer_real(w, k->speed);
			fit_writer_real(w, r);
			fit_writer_real(w, r + work / k->speed);
			rc = fit_writer_end_row(w, err);
			if (rc)
				return rc;
		}
	}
	return FIT_OK;
}

/* ---- plans: reading ---- */

enum { P_CLASS, P_PLAN, P_SHARE, P_EPOCH, P_TYPE, P_GPUS, P_COLUMNS };

static const struct fit_field plan_fields[P_COLUMNS] = {
	[P_CLASS] = { "class", FIT_TEXT, FIT_F_NOT_NA },
	[P_PLAN] = { "plan", FIT_INT, FIT_F_NOT_NA },
	[P_SHARE] = { "share", FIT_REAL, FIT_F_NOT_NA },
	[P_EPOCH] = { "epoch", FIT_INT, FIT_F_NOT_NA },
	[P_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	[P_GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA }
};

void fit_boa_plan_table_release(struct fit_boa_plan_table *p)
{
	for (size_t i = 0; i < p->n_classes; i++)
		free(p->classes[i]);
	for (size_t i = 0; i < p->n_types; i++)
		free(p->types[i]);
	free(p->classes);
	free(p->types);
	free(p->rows);
	fit_meta_release(&p->meta);
	*p = (struct fit_boa_plan_table){ 0 };
}

static int compare_plan_rows(const void *pa, const void *pb)
{
	const struct fit_boa_plan_row *a = pa, *b = pb;

	if (a->class_no != b->class_no)
		return a->class_no < b->class_no ? -1 : 1;
	if (a->plan != b->plan)
		return a->plan < b->plan ? -1 : 1;
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int plan_fail(const struct fit_boa_plan_table *p, const struct fit_boa_plan_row *row,
		     const char *column, struct fit_err *err, const char *what)
{
	return fit_fail(err, FIT_EDATA, "%s:%llu:%s: class '%.200s': %s", p->input,
			(unsigned long long)row->line, column, p->classes[row->class_no], what);
}

/* Rows [at, at + n) are one plan. */
static int check_plan(const struct fit_boa_plan_table *p, size_t at, size_t n, struct fit_err *err)
{
	const struct fit_boa_plan_row *rows = p->rows + at;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].epoch != (int64_t)i)
			return plan_fail(p, &rows[i], "epoch", err,
					 rows[i].epoch < (int64_t)i ?
						 "an epoch is there twice in one plan" :
						 "an epoch is missing before this one (expected 0, 1, 2, …)");
		if (rows[i].share != rows[0].share)
			return plan_fail(p, &rows[i], "share", err,
					 "shares of one plan differ (expected the same in all rows)");
	}
	return FIT_OK;
}

/* Rows [at, at + n) are the plans of one class. */
static int check_plans(const struct fit_boa_plan_table *p, size_t at, size_t n, struct fit_err *err)
{
	const struct fit_boa_plan_row *rows = p->rows + at;
	size_t first = 0;
	double sum;
	int rc;

	while (first < n && rows[first].plan == 0)
		first++;
	if (first == 0)
		return plan_fail(p, rows, "plan", err, "no plan 0");
	rc = check_plan(p, at, first, err);
	if (!rc && first < n)
		rc = check_plan(p, at + first, n - first, err);
	if (rc)
		return rc;
	if (first < n && n != 2 * first)
		return plan_fail(p, &rows[n - 1], "epoch", err, "its two plans differ in length");
	sum = rows[0].share + (first < n ? rows[first].share : 0);
	if (fabs(sum - 1) > FIT_BOA_SHARE_SLACK)
		return plan_fail(p, rows, "share", err, "shares do not sum up to 1");
	return FIT_OK;
}

static int take_plan_row(struct fit_boa_plan_table *p, struct fit_speedup_rows *names,
			 const struct fit_reader *r, const struct fit_cell *c, struct fit_err *err)
{
	struct fit_boa_plan_row row = { .plan = c[P_PLAN].u.i,
					.epoch = c[P_EPOCH].u.i,
					.share = c[P_SHARE].u.d,
					.gpus = c[P_GPUS].u.i,
					.line = fit_reader_line(r) };
	uint32_t class, type;
	char text[FIT_NUM_MAX];
	int rc;

	if (row.plan < 0 || row.plan > 1)
		return fit_reader_fail(r, FIT_EDATA, "plan", err, "bad plan '%lld' (expected 0 or 1)",
				       (long long)row.plan);
	if (row.epoch < 0)
		return fit_reader_fail(r, FIT_EDATA, "epoch", err, "bad epoch '%lld' (expected 0 or more)",
				       (long long)row.epoch);
	if (row.gpus < 1 || row.gpus >= FIT_GPUS_MAX)
		return fit_reader_fail(r, FIT_EDATA, "gpus", err,
				       "bad number of GPUs '%lld' (expected 1 or more)",
				       (long long)row.gpus);
	if (!(row.share >= 0 && row.share <= 1)) {
		fit_format_double(text, row.share);
		return fit_reader_fail(r, FIT_EDATA, "share", err, "bad share '%s' (expected 0 to 1)",
				       text);
	}
	rc = fit_speedup_rows_class(names, c[P_CLASS].u.t, &class, err);
	if (!rc)
		rc = fit_speedup_rows_type(names, c[P_TYPE].na ? (struct fit_text){ 0 } : c[P_TYPE].u.t,
					   &type, err);
	if (rc)
		return rc;
	row.class_no = class;
	row.type = type;
	if (fit_grow(&p->rows, &p->cap, p->n + 1, sizeof *p->rows))
		return fit_fail_nomem(err);
	p->rows[p->n++] = row;
	return FIT_OK;
}

/* Names in byte order, and the rows by them. */
static int order_plans(struct fit_boa_plan_table *p, struct fit_speedup_rows *names, struct fit_err *err)
{
	uint32_t *class_place = NULL, *type_place = NULL;
	int rc = fit_speedup_sort_names(names->classes, names->n_classes, &class_place, err);

	if (!rc)
		rc = fit_speedup_sort_names(names->types, names->n_types, &type_place, err);
	for (size_t i = 0; i < p->n && !rc; i++) {
		p->rows[i].class_no = class_place[p->rows[i].class_no];
		p->rows[i].type = type_place[p->rows[i].type];
	}
	free(class_place);
	free(type_place);
	if (rc)
		return rc;
	p->classes = names->classes;
	p->n_classes = names->n_classes;
	p->types = names->types;
	p->n_types = names->n_types;
	names->classes = names->types = NULL;
	names->n_classes = names->n_types = 0;
	qsort(p->rows, p->n, sizeof *p->rows, compare_plan_rows);
	return FIT_OK;
}

int fit_boa_plan_table_read(struct fit_boa_plan_table *p, const char *operand, struct fit_err *err)
{
	struct fit_boa_plan_table t = { 0 };
	struct fit_speedup_rows names = { 0 };
	struct fit_cell cells[P_COLUMNS];
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, operand, err);

	*p = t;
	if (!rc)
		rc = fit_reader_begin(r, plan_fields, P_COLUMNS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	if (!rc)
		snprintf(t.input, sizeof t.input, "%s", fit_reader_input(r));
	while (!rc && (rc = fit_reader_row(r, cells, err)) == FIT_OK)
		rc = take_plan_row(&t, &names, r, cells, err);
	if (rc == FIT_END) {
		fit_reader_hash(r, t.hash);
		rc = t.n ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", t.input);
	}
	if (!rc && fit_meta_copy(&t.meta, fit_reader_meta(r)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = order_plans(&t, &names, err);
	for (size_t i = 0, n; i < t.n && !rc; i += n) {
		for (n = 1; i + n < t.n && t.rows[i].class_no == t.rows[i + n].class_no;)
			n++;
		rc = check_plans(&t, i, n, err);
	}
	fit_speedup_rows_release(&names);
	if (rc)
		fit_boa_plan_table_release(&t);
	else
		*p = t;
	fit_reader_close(r);
	return rc;
}
