/* SPDX-License-Identifier: MIT */
#include "libfit/table/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/table/cell.h"

/* ---- conditions ---- */

static struct fit_text trim(struct fit_text t)
{
	while (t.n && (t.s[0] == ' ' || t.s[0] == '\t')) {
		t.s++;
		t.n--;
	}
	while (t.n && (t.s[t.n - 1] == ' ' || t.s[t.n - 1] == '\t'))
		t.n--;
	return t;
}

int fit_condition_parse(struct fit_condition *c, const char *text, struct fit_err *err)
{
	/* longer ones first where one begins another */
	static const struct { const char *text; enum fit_condition_op op; } ops[] = {
		{ "==", FIT_OP_EQ }, { "!=", FIT_OP_NE }, { "<=", FIT_OP_LE }, { ">=", FIT_OP_GE },
		{ "!~", FIT_OP_HAS_NOT }, { "=", FIT_OP_EQ }, { "<", FIT_OP_LT }, { ">", FIT_OP_GT },
		{ "~", FIT_OP_HAS }
	};
	size_t at = strcspn(text, "=!<>~"), k, n_ops = sizeof ops / sizeof *ops;

	*c = (struct fit_condition){ .column = trim((struct fit_text){ text, at }) };
	for (k = 0; k < n_ops && strncmp(text + at, ops[k].text, strlen(ops[k].text)) != 0; k++)
		;
	if (k == n_ops || !c->column.n)
		return fit_fail(err, FIT_EINVAL, "bad condition '%.200s' (expected COLUMN OP VALUE, with OP one "
				"of = != < <= > >= ~ !~)", text);
	c->op = ops[k].op;
	c->value = trim(fit_text_of(text + at + strlen(ops[k].text)));
	if (!fit_text_is_utf8(fit_text_of(text)))
		return fit_fail(err, FIT_EINVAL, "bad condition '%.200s' (expected text in UTF-8)", text);
	c->na = fit_text_is(c->value, "NA");
	if (fit_text_is(c->value, "\\NA"))
		c->value = (struct fit_text){ c->value.s + 1, 2 };
	if (c->na && c->op != FIT_OP_EQ && c->op != FIT_OP_NE)
		return fit_fail(err, FIT_EINVAL, "bad condition '%.200s' (expected = or != before NA)", text);
	return FIT_OK;
}

int fit_parse_time_unit(struct fit_text t, int64_t *ns)
{
	static const struct { const char *text; int64_t seconds; } units[] = {
		{ "min", 60 }, { "s", 1 }, { "h", 3600 }, { "d", 86400 }
	};
	int64_t v, times = 1;
	int rc;

	for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
		size_t n = strlen(units[k].text);

		if (t.n > n && memcmp(t.s + t.n - n, units[k].text, n) == 0) {
			t.n -= n;
			times = units[k].seconds;
			break;
		}
	}
	rc = fit_parse_time(t, &v);
	if (rc)
		return rc;
	return __builtin_mul_overflow(v, times, ns) ? FIT_EINVAL : FIT_OK;
}

static int list_columns(const struct fit_condition *c, const struct fit_field *fields, size_t n,
			struct fit_err *err)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s", i ? ", " : "", fields[i].name);
	rc = rc ? fit_fail_nomem(err) : fit_fail(err, FIT_ENOTFOUND, "no column '%.*s' (found %s)",
						 FIT_TEXT_ARG(c->column), list.s ? list.s : "none");
	fit_str_release(&list);
	return rc;
}

static int bad_value(const struct fit_condition *c, struct fit_err *err)
{
	return fit_fail(err, FIT_EINVAL, "bad value '%.*s' for column '%.*s' (expected %s)",
			FIT_TEXT_ARG(c->value), FIT_TEXT_ARG(c->column),
			c->type == FIT_TIME ? "seconds, or a number with s, min, h or d" : "a number");
}

int fit_condition_bind(struct fit_condition *c, const struct fit_field *fields, size_t n,
		       struct fit_err *err)
{
	bool order = c->op >= FIT_OP_LT && c->op <= FIT_OP_GE;

	for (c->at = 0; c->at < n && !fit_text_is(c->column, fields[c->at].name); c->at++)
		;
	if (c->at == n)
		return list_columns(c, fields, n, err);
	c->type = fields[c->at].type;
	if (c->na)
		return FIT_OK;
	if (c->type != FIT_TEXT && c->op >= FIT_OP_HAS)
		return fit_fail(err, FIT_EINVAL, "column '%.*s' has type %s (expected text for ~ and !~)",
				FIT_TEXT_ARG(c->column), fit_type_name(c->type));
	if (c->type == FIT_TEXT && !order)
		return FIT_OK;
	if (c->type == FIT_TIME) {
		c->whole = true;
		return fit_parse_time_unit(c->value, &c->exact) ? bad_value(c, err) : FIT_OK;
	}
	c->whole = c->type == FIT_INT && fit_parse_int64(c->value, &c->exact) == FIT_OK;
	c->number = true;
	if (fit_parse_double_any(c->value, &c->real))
		return c->type == FIT_TEXT ?
		       fit_fail(err, FIT_EINVAL, "column '%.*s' is text, which compares with = and != only, not "
				"with '%.*s' (expected these, or a number)", FIT_TEXT_ARG(c->column),
				FIT_TEXT_ARG(c->value)) : bad_value(c, err);
	if (order && isnan(c->real))
		return fit_fail(err, FIT_EINVAL, "bad value '%.*s' for column '%.*s' (expected a number, or = or "
				"!= before it: nothing is more or less)", FIT_TEXT_ARG(c->value),
				FIT_TEXT_ARG(c->column));
	return FIT_OK;
}

static bool contains(struct fit_text t, struct fit_text part)
{
	for (size_t i = 0; i + part.n <= t.n; i++)
		if (memcmp(t.s + i, part.s, part.n) == 0)
			return true;
	return false;
}

/* less, equal: how the cell stands to the value; both false for NaN. */
static bool holds(enum fit_condition_op op, bool less, bool equal, bool greater)
{
	switch (op) {
	case FIT_OP_EQ: return equal;
	case FIT_OP_NE: return !equal;
	case FIT_OP_LT: return less;
	case FIT_OP_LE: return less || equal;
	case FIT_OP_GT: return greater;
	case FIT_OP_GE: return greater || equal;
	default: return false;
	}
}

int fit_condition_test(const struct fit_condition *c, const struct fit_cell *cells, bool *met,
		       bool *missing, struct fit_err *err)
{
	const struct fit_cell *cell = &cells[c->at];
	double d;

	if (c->na) {
		*met = cell->na == (c->op == FIT_OP_EQ);
		return FIT_OK;
	}
	if (cell->na) {
		*met = false;
		*missing = true;
		return FIT_OK;
	}
	if (c->whole) {
		int64_t v = cell->u.i;

		*met = holds(c->op, v < c->exact, v == c->exact, v > c->exact);
		return FIT_OK;
	}
	if (c->type == FIT_TEXT && !c->number) {
		if (c->op >= FIT_OP_HAS)
			*met = contains(cell->u.t, c->value) == (c->op == FIT_OP_HAS);
		else
			*met = fit_text_eq(cell->u.t, c->value) == (c->op == FIT_OP_EQ);
		return FIT_OK;
	}
	if (c->type != FIT_TEXT)
		d = c->type == FIT_INT ? (double)cell->u.i : cell->u.d;
	else if (fit_parse_double_any(cell->u.t, &d))
		return fit_fail(err, FIT_EDATA, "bad value '%.*s' (expected a number, to compare it)",
				FIT_TEXT_ARG(cell->u.t));
	*met = holds(c->op, d < c->real, (d >= c->real && d <= c->real) || (isnan(d) && isnan(c->real)),
		     d > c->real);
	return FIT_OK;
}

/* ---- rows that are held: a sample of fixed size ---- */

struct held {
	struct fit_cell *cells;
	char *bytes;		/* their texts */
	uint64_t seq, line;
};

static void drop(struct held *h)
{
	free(h->cells);
	free(h->bytes);
	*h = (struct held){ 0 };
}

static int hold(struct held *h, const struct fit_field *fields, const struct fit_cell *cells, size_t n,
		uint64_t seq, uint64_t line)
{
	struct held new = { .seq = seq, .line = line };
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		if (fields[i].type == FIT_TEXT && !cells[i].na)
			bytes += cells[i].u.t.n;
	new.cells = malloc((n ? n : 1) * sizeof *new.cells);
	new.bytes = malloc(bytes ? bytes : 1);
	if (!new.cells || !new.bytes) {
		drop(&new);
		return FIT_ENOMEM;
	}
	bytes = 0;
	for (size_t i = 0; i < n; i++) {
		new.cells[i] = cells[i];
		if (fields[i].type != FIT_TEXT || cells[i].na)
			continue;
		if (cells[i].u.t.n)
			memcpy(new.bytes + bytes, cells[i].u.t.s, cells[i].u.t.n);
		new.cells[i].u.t.s = new.bytes + bytes;
		bytes += cells[i].u.t.n;
	}
	drop(h);
	*h = new;
	return FIT_OK;
}

static int compare_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* ---- selection ---- */

#define NO_COLUMN SIZE_MAX

struct selection {
	const struct fit_select_params *p;
	struct fit_reader *r;
	struct fit_writer *w;
	fit_select_start *start;
	void *arg;
	struct fit_select_report *report;
	struct fit_field *fields;
	size_t n;
	bool convert;			/* the input has no types: text becomes what fields say */
	size_t submit, start_at, end_at;
	struct fit_cell *cells;
	gsl_rng *rng;
	uint64_t candidates;		/* rows that a sample is drawn from */
	struct held *held;
	size_t n_held, cap_held;
	bool begun;
	int64_t base_ns, last_ns;
	uint64_t line;			/* of the row that is written, for messages */
};

/* The types that docs/formats/jobs.md gives to the columns of a table without types. */
static enum fit_type usual_type(const char *name)
{
	static const struct { const char *name; enum fit_type type; } usual[] = {
		{ "submit_s", FIT_TIME }, { "start_s", FIT_TIME }, { "end_s", FIT_TIME },
		{ "duration_s", FIT_TIME }, { "gpus", FIT_REAL }, { "batch_size", FIT_INT }
	};

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcmp(name, usual[i].name) == 0)
			return usual[i].type;
	return FIT_TEXT;
}

static size_t column_at(const struct selection *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->fields[i].name, name) == 0)
			return i;
	return NO_COLUMN;
}

static int need_time(const struct selection *s, size_t at, const char *name, struct fit_err *err)
{
	if (at == NO_COLUMN)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (expected a jobs table)",
				fit_reader_input(s->r), name);
	if (s->fields[at].type != FIT_TIME)
		return fit_fail(err, FIT_EDATA, "%s: column '%s' has type %s (expected time)",
				fit_reader_input(s->r), name, fit_type_name(s->fields[at].type));
	return FIT_OK;
}

static int bind_columns(struct selection *s, struct fit_err *err)
{
	const struct fit_select_params *p = s->p;
	bool timed = p->has_from || p->has_to || p->rate > 0 || p->rebase;
	int rc = fit_reader_begin(s->r, NULL, 0, err);

	if (rc)
		return rc;
	s->n = fit_reader_n_columns(s->r);
	s->fields = calloc(s->n ? s->n : 1, sizeof *s->fields);
	s->cells = calloc(s->n ? s->n : 1, sizeof *s->cells);
	if (!s->fields || !s->cells)
		return fit_fail_nomem(err);
	s->convert = !fit_reader_has_types(s->r);
	for (size_t i = 0; i < s->n; i++) {
		s->fields[i] = fit_reader_columns(s->r)[i];
		if (s->convert)
			s->fields[i].type = usual_type(s->fields[i].name);
	}
	s->submit = column_at(s, "submit_s");
	s->start_at = column_at(s, "start_s");
	s->end_at = column_at(s, "end_s");
	if (timed)
		rc = need_time(s, s->submit, "submit_s", err);
	if (!rc && (p->rate > 0 || p->rebase) && s->start_at != NO_COLUMN)
		rc = need_time(s, s->start_at, "start_s", err);
	if (!rc && (p->rate > 0 || p->rebase) && s->end_at != NO_COLUMN)
		rc = need_time(s, s->end_at, "end_s", err);
	for (size_t i = 0; !rc && i < p->n_conditions; i++) {
		rc = fit_condition_bind(&p->conditions[i], s->fields, s->n, err);
		if (rc)
			fit_fail_prefix(err, rc, "%s", fit_reader_input(s->r));
	}
	return rc;
}

static int convert_row(struct selection *s, struct fit_err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		struct fit_text t = s->cells[i].u.t;

		if (s->fields[i].type == FIT_TEXT || s->cells[i].na)
			continue;
		if (fit_cell_parse(s->fields[i].type, t, &s->cells[i]))
			return fit_reader_fail(s->r, FIT_EPARSE, s->fields[i].name, err,
					       "bad value '%.*s' (expected %s)", FIT_TEXT_ARG(t),
					       fit_cell_expected(s->fields[i].type));
	}
	return FIT_OK;
}

static int begin(struct selection *s, int64_t base_ns, struct fit_err *err)
{
	s->begun = true;
	s->base_ns = s->last_ns = base_ns;
	return s->start(s->arg, s->fields, s->n, s->p->rebase ? base_ns : 0, err);
}

static int fail_at(const struct selection *s, int code, const char *name, struct fit_err *err,
		   const char *what)
{
	return fit_fail(err, code, "%s:%llu:%s: %s", fit_reader_input(s->r), (unsigned long long)s->line,
			name, what);
}

/* Move the submission, and start and end with it. */
static int change_times(const struct selection *s, struct fit_cell *cells, struct fit_err *err)
{
	size_t moved[2] = { s->start_at, s->end_at };
	int64_t was = cells[s->submit].u.i, now, delta;

	if (__builtin_sub_overflow(was, s->base_ns, &now))
		return fail_at(s, FIT_EDATA, "submit_s", err, "out of range (expected within 292 years)");
	if (s->p->rate > 0) {
		long double x = rintl((long double)now / (long double)s->p->rate);

		if (!(x < 9.2e18L))
			return fail_at(s, FIT_EDATA, "submit_s", err, "out of range (expected within 292 years)");
		now = (int64_t)x;
	}
	if (!s->p->rebase && __builtin_add_overflow(now, s->base_ns, &now))
		return fail_at(s, FIT_EDATA, "submit_s", err, "out of range (expected within 292 years)");
	cells[s->submit].u.i = now;
	if (__builtin_sub_overflow(now, was, &delta))
		return fail_at(s, FIT_EDATA, "submit_s", err, "out of range (expected within 292 years)");
	for (int k = 0; k < 2; k++) {
		struct fit_cell *c = moved[k] == NO_COLUMN ? NULL : &cells[moved[k]];

		if (c && !c->na && (__builtin_add_overflow(c->u.i, delta, &c->u.i) || c->u.i == FIT_INT_NA))
			return fail_at(s, FIT_EDATA, s->fields[moved[k]].name, err,
				       "out of range (expected within 292 years)");
	}
	return FIT_OK;
}

static int write_row(struct selection *s, struct fit_cell *cells, uint64_t line, struct fit_err *err)
{
	bool change = s->p->rate > 0 || s->p->rebase;
	int rc = FIT_OK;

	s->line = line;
	if (change && cells[s->submit].na)
		return fail_at(s, FIT_EDATA, "submit_s", err, "missing value 'NA' (expected a time)");
	if (!s->begun)
		rc = begin(s, change ? cells[s->submit].u.i : 0, err);
	if (!rc && change) {
		if (cells[s->submit].u.i < s->last_ns)
			return fail_at(s, FIT_EDATA, "submit_s", err,
				       "earlier than the row before (expected jobs by submission)");
		s->last_ns = cells[s->submit].u.i;
		rc = change_times(s, cells, err);
	}
	for (size_t i = 0; !rc && i < s->n; i++)
		fit_writer_cell(s->w, s->fields[i].type, &cells[i]);
	if (!rc)
		rc = fit_writer_end_row(s->w, err);
	s->report->kept++;
	return rc;
}

/* Conditions and window. */
static int passes(struct selection *s, bool *met, struct fit_err *err)
{
	const struct fit_select_params *p = s->p;
	const struct fit_cell *submit = &s->cells[s->submit == NO_COLUMN ? 0 : s->submit];
	bool missing = false, all = true;
	struct fit_err why = { 0 };

	for (size_t i = 0; i < p->n_conditions; i++) {
		bool one = false;
		int rc = fit_condition_test(&p->conditions[i], s->cells, &one, &missing, &why);

		if (rc)
			return fit_reader_fail(s->r, rc, s->fields[p->conditions[i].at].name, err, "%s",
					       why.msg);
		all = all && one;
	}
	if (p->has_from || p->has_to) {
		missing = missing || submit->na;
		all = all && !submit->na && (!p->has_from || submit->u.i >= p->from_ns) &&
		      (!p->has_to || submit->u.i < p->to_ns);
	}
	s->report->missing += missing && !all;
	*met = all;
	return FIT_OK;
}

/* Algorithm R (Vitter 1985): the k-th candidate takes a place with probability rows / k. */
static int draw(struct selection *s, struct fit_err *err)
{
	size_t place = s->n_held;
	uint64_t k = s->candidates++;

	if (s->n_held == (size_t)s->p->sample_rows) {
		place = (size_t)(gsl_rng_uniform(s->rng) * (double)(k + 1));
		if (place >= s->n_held)
			return FIT_OK;
	} else {
		if (fit_grow(&s->held, &s->cap_held, s->n_held + 1, sizeof *s->held))
			return fit_fail_nomem(err);
		s->held[s->n_held++] = (struct held){ 0 };
	}
	return hold(&s->held[place], s->fields, s->cells, s->n, k, fit_reader_line(s->r)) ?
	       fit_fail_nomem(err) : FIT_OK;
}

static bool full(const struct selection *s)
{
	return s->p->head >= 0 && s->report->kept >= (uint64_t)s->p->head;
}

static int take_row(struct selection *s, struct fit_err *err)
{
	bool met = false;
	int rc;

	s->report->rows++;
	rc = s->convert ? convert_row(s, err) : FIT_OK;
	if (!rc)
		rc = passes(s, &met, err);
	if (rc || !met)
		return rc;
	if (s->p->sample_rows)
		return draw(s, err);
	if (s->p->sample_share > 0 && !(gsl_rng_uniform(s->rng) < s->p->sample_share))
		return FIT_OK;
	return full(s) ? FIT_OK : write_row(s, s->cells, fit_reader_line(s->r), err);
}

int fit_select(struct fit_reader *r, struct fit_writer *w, const struct fit_select_params *p,
	       fit_select_start *start, fit_select_end *end, void *arg,
	       struct fit_select_report *report, struct fit_err *err)
{
	struct selection s = { .p = p, .r = r, .w = w, .start = start, .arg = arg, .report = report };
	int rc;

	*report = (struct fit_select_report){ 0 };
	rc = bind_columns(&s, err);
	if (!rc && (p->sample_rows || p->sample_share > 0)) {
		s.rng = fit_rng_new(p->seed, "select/sample");
		rc = s.rng ? FIT_OK : fit_fail_nomem(err);
	}
	/* the rest is read, too: a stream that was cut must not pass for a whole one */
	while (!rc && !(rc = fit_reader_row(r, s.cells, err)))
		rc = take_row(&s, err);
	if (rc == FIT_END) {
		rc = FIT_OK;
		if (s.n_held)
			qsort(s.held, s.n_held, sizeof *s.held, compare_held);
		for (size_t i = 0; !rc && i < s.n_held && !full(&s); i++)
			rc = write_row(&s, s.held[i].cells, s.held[i].line, err);
		if (!rc && !s.begun)
			rc = begin(&s, 0, err);
		if (!rc)
			rc = end(arg, err);
		if (!rc)
			rc = fit_writer_end(w, err);
	}
	for (size_t i = 0; i < s.n_held; i++)
		drop(&s.held[i]);
	free(s.held);
	free(s.fields);
	free(s.cells);
	gsl_rng_free(s.rng);
	return rc;
}
