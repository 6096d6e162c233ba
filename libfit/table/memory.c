/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"
#include "libfit/table/table.h"

#define REAL_NA_BITS UINT64_C(0x7ff80000000007a2)

double fit_real_na(void)
{
	uint64_t bits = REAL_NA_BITS;
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

bool fit_real_is_na(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits == REAL_NA_BITS;
}

void fit_table_release(struct fit_table *t)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		free(t->columns[c].name);
		free(t->columns[c].i);
		free(t->columns[c].d);
		free(t->columns[c].at);
		free(t->columns[c].bytes);
	}
	free(t->columns);
	free(t->name);
	fit_meta_release(&t->meta);
	*t = (struct fit_table){ 0 };
}

int fit_table_init(struct fit_table *t, const char *name, const struct fit_field *fields, size_t n,
		   struct fit_err *err)
{
	*t = (struct fit_table){ 0 };
	t->name = fit_strdup(fit_text_of(name ? name : ""));
	t->columns = calloc(n ? n : 1, sizeof *t->columns);
	if (!t->name || !t->columns)
		goto nomem;
	for (size_t c = 0; c < n; c++) {
		t->columns[c].name = fit_strdup(fit_text_of(fields[c].name));
		t->columns[c].type = fields[c].type;
		t->n_columns++;
		if (!t->columns[c].name)
			goto nomem;
	}
	return FIT_OK;
nomem:
	fit_table_release(t);
	return fit_fail_nomem(err);
}

static int grow_rows(struct fit_table *t)
{
	size_t cap = t->cap_rows;

	if (t->n_rows < cap)
		return FIT_OK;
	for (size_t c = 0; c < t->n_columns; c++) {
		struct fit_column *col = &t->columns[c];
		int rc;

		cap = t->cap_rows;
		if (col->type == FIT_REAL)
			rc = fit_grow(&col->d, &cap, t->n_rows + 1, sizeof *col->d);
		else if (col->type == FIT_TEXT)
			rc = fit_grow(&col->at, &cap, t->n_rows + 1, sizeof *col->at);
		else
			rc = fit_grow(&col->i, &cap, t->n_rows + 1, sizeof *col->i);
		if (rc)
			return rc;
	}
	t->cap_rows = t->n_columns ? cap : SIZE_MAX;
	return FIT_OK;
}

static int set_text(struct fit_column *col, size_t row, struct fit_text t)
{
	int rc = fit_grow(&col->bytes, &col->bytes_cap, col->bytes_n + t.n + 1, 1);

	if (rc)
		return rc;
	if (t.n)
		memcpy(col->bytes + col->bytes_n, t.s, t.n);
	col->at[row] = col->bytes_n;
	col->bytes_n += t.n;
	col->bytes[col->bytes_n++] = '\0';
	return FIT_OK;
}

static int set_cell(struct fit_column *col, size_t row, const struct fit_cell *c)
{
	if (col->type == FIT_TEXT) {
		if (!c->na)
			return set_text(col, row, c->u.t);
		col->at[row] = FIT_TEXT_NA;
	} else if (col->type == FIT_REAL) {
		col->d[row] = c->na ? fit_real_na() : c->u.d;
	} else {
		col->i[row] = c->na ? FIT_INT_NA : c->u.i;
	}
	return FIT_OK;
}

int fit_table_add(struct fit_table *t, const struct fit_cell *cells)
{
	int rc = grow_rows(t);

	for (size_t c = 0; c < t->n_columns && !rc; c++)
		rc = set_cell(&t->columns[c], t->n_rows, &cells[c]);
	if (!rc)
		t->n_rows++;
	return rc;
}

const struct fit_column *fit_table_column(const struct fit_table *t, const char *name)
{
	for (size_t c = 0; c < t->n_columns; c++)
		if (strcmp(t->columns[c].name, name) == 0)
			return &t->columns[c];
	return NULL;
}

struct fit_text fit_column_text(const struct fit_column *c, size_t row)
{
	if (c->at[row] == FIT_TEXT_NA)
		return (struct fit_text){ 0 };
	return fit_text_of(c->bytes + c->at[row]);
}

struct fit_cell fit_column_cell(const struct fit_column *c, size_t row)
{
	struct fit_cell cell = { 0 };

	if (c->type == FIT_TEXT) {
		cell.u.t = fit_column_text(c, row);
		cell.na = cell.u.t.s == NULL;
	} else if (c->type == FIT_REAL) {
		cell.na = fit_real_is_na(c->d[row]);
		if (!cell.na)
			cell.u.d = c->d[row];
	} else {
		cell.na = c->i[row] == FIT_INT_NA;
		if (!cell.na)
			cell.u.i = c->i[row];
	}
	return cell;
}

int fit_table_fail(const struct fit_table *t, size_t row, int code, const char *name,
		   struct fit_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, t->input[0] ? t->input : "table",
		    t->first_line ? t->first_line + row : row + 1, name, fmt, ap);
	va_end(ap);
	return code;
}

int fit_table_no_column(const struct fit_table *t, const char *name, struct fit_err *err)
{
	struct fit_str found = { 0 };
	int rc = FIT_OK;

	for (size_t c = 0; c < t->n_columns && !rc; c++)
		rc = fit_str_printf(&found, "%s%s", c ? ", " : "", t->columns[c].name);
	rc = rc ? fit_fail_nomem(err) : fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (found %s)",
						 t->input[0] ? t->input : "table", name,
						 found.s ? found.s : "none");
	fit_str_release(&found);
	return rc;
}

/* ---- reading whole tables ---- */

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* Does a double lose digits of this integer? */
static bool is_long_integer(struct fit_text t)
{
	size_t sign = t.n && (t.s[0] == '-' || t.s[0] == '+');
	int64_t v;
	double d;

	for (size_t i = sign; i < t.n; i++)
		if (t.s[i] < '0' || t.s[i] > '9')
			return false;
	if (fit_parse_int64(t, &v))
		return true;
	d = (double)v;
	return !(fabs(d) < 9.2e18 && (int64_t)d == v);
}

static bool all_parse(const struct fit_column *col, size_t n_rows, enum fit_type type)
{
	bool any = false;

	for (size_t r = 0; r < n_rows; r++) {
		struct fit_text t = fit_column_text(col, r);
		struct fit_cell c;

		if (!t.s)
			continue;
		/* 12345678901234567891 beside others is an account, or a hash */
		if (fit_cell_parse(type, t, &c) || (type == FIT_REAL && is_long_integer(t)))
			return false;
		any = true;
	}
	return any;
}

/* "007" is a name, not the number 7. */
static bool has_leading_zero(const struct fit_column *col, size_t n_rows)
{
	for (size_t r = 0; r < n_rows; r++) {
		const char *s = fit_column_text(col, r).s;

		if (s && s[0] == '0' && s[1] >= '0' && s[1] <= '9')
			return true;
	}
	return false;
}

/* A text column in the narrowest type that holds all of it. */
static int infer_column(struct fit_column *col, size_t n_rows)
{
	static const enum fit_type order[] = { FIT_INT, FIT_TIME, FIT_REAL };
	struct fit_column out = { .name = col->name, .type = FIT_TEXT };
	bool seconds = ends_with(col->name, "_s");
	size_t cap = 0;

	if (strcmp(col->name, "id") == 0 || ends_with(col->name, "_id") || has_leading_zero(col, n_rows))
		return FIT_OK;
	for (size_t k = 0; k < 3 && out.type == FIT_TEXT; k++)
		if ((order[k] != FIT_TIME || seconds) && !(order[k] == FIT_INT && seconds) &&
		    all_parse(col, n_rows, order[k]))
			out.type = order[k];
	if (out.type == FIT_TEXT)
		return FIT_OK;
	if (out.type == FIT_REAL ? fit_grow(&out.d, &cap, n_rows, sizeof *out.d)
				 : fit_grow(&out.i, &cap, n_rows, sizeof *out.i))
		return FIT_ENOMEM;
	for (size_t r = 0; r < n_rows; r++) {
		struct fit_text t = fit_column_text(col, r);
		struct fit_cell c = { .na = true };
		int rc = t.s ? fit_cell_parse(out.type, t, &c) : FIT_OK;

		if (!rc)
			rc = set_cell(&out, r, &c);
		if (rc) {
			free(out.d);
			free(out.i);
			return rc;
		}
	}
	free(col->at);
	free(col->bytes);
	*col = out;
	return FIT_OK;
}

int fit_table_infer(struct fit_table *t)
{
	int rc = FIT_OK;

	for (size_t c = 0; c < t->n_columns && !rc; c++)
		if (t->columns[c].type == FIT_TEXT)
			rc = infer_column(&t->columns[c], t->n_rows);
	/* types may have changed capacity: grow_rows() must not trust the old one */
	t->cap_rows = t->n_rows;
	return rc;
}

int fit_table_read_next(struct fit_table *t, struct fit_reader *r, const struct fit_field *fields,
			size_t n, struct fit_err *err)
{
	struct fit_cell *cells;
	size_t n_head;
	int rc;

	*t = (struct fit_table){ 0 };
	rc = fit_reader_begin(r, fields, n, err);
	if (rc)
		return rc;
	n_head = fit_reader_meta(r)->n;
	rc = fit_table_init(t, fit_reader_table_name(r), fit_reader_columns(r), fit_reader_n_columns(r), err);
	if (rc)
		return rc;
	snprintf(t->input, sizeof t->input, "%s", fit_reader_input(r));
	t->first_line = fit_reader_line(r) + 1;
	cells = calloc(t->n_columns ? t->n_columns : 1, sizeof *cells);
	if (!cells)
		rc = fit_fail_nomem(err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		if (!rc && fit_table_add(t, cells))
			rc = fit_fail_nomem(err);
	}
	if (rc == FIT_END)	/* some metadata may stand behind the rows */
		rc = fit_meta_copy(&t->meta, fit_reader_meta(r)) ? fit_fail_nomem(err) : FIT_OK;
	t->n_end_meta = fit_reader_meta(r)->n - n_head;
	if (!rc && !fields && !fit_reader_has_types(r) && fit_table_infer(t))
		rc = fit_fail_nomem(err);
	/* types may have changed capacity: grow_rows() must not trust the old one */
	t->cap_rows = t->n_rows;
	fit_reader_hash(r, t->hash);
	free(cells);
	if (rc)
		fit_table_release(t);
	return rc;
}

int fit_table_read(struct fit_table *t, const char *operand, const struct fit_field *fields, size_t n,
		   struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*t = (struct fit_table){ 0 };
	if (rc)
		return rc;
	rc = fit_table_read_next(t, r, fields, n, err);
	if (!rc)
		rc = fit_reader_only(r, err);
	if (!rc)
		fit_reader_hash(r, t->hash);
	else
		fit_table_release(t);
	fit_reader_close(r);
	return rc;
}

int fit_tables_read(struct fit_table **tables, size_t *n, const char *operand, struct fit_err *err)
{
	struct fit_reader *r = NULL;
	size_t cap = 0;
	char hash[FIT_HASH_HEX];
	int rc = fit_reader_open(&r, operand, err);

	*tables = NULL;
	*n = 0;
	while (!rc) {
		if (fit_grow(tables, &cap, *n + 1, sizeof **tables)) {
			rc = fit_fail_nomem(err);
			break;
		}
		rc = fit_table_read_next(&(*tables)[*n], r, NULL, 0, err);
		*n += rc ? 0 : 1;
	}
	if (rc == FIT_END) {
		rc = FIT_OK;
		fit_reader_hash(r, hash);
		for (size_t i = 0; i < *n; i++)
			memcpy((*tables)[i].hash, hash, sizeof hash);
	}
	fit_reader_close(r);
	return rc;
}

void fit_tables_free(struct fit_table *tables, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fit_table_release(&tables[i]);
	free(tables);
}

int fit_table_write(const struct fit_table *t, struct fit_writer *w, struct fit_err *err)
{
	struct fit_field *fields = calloc(t->n_columns ? t->n_columns : 1, sizeof *fields);
	/* borrowed parts of the metadata */
	struct fit_meta head = { t->meta.pairs, t->meta.n - t->n_end_meta, 0 };
	struct fit_meta end = { t->meta.pairs ? t->meta.pairs + head.n : NULL, t->n_end_meta, 0 };
	int rc;

	if (!fields)
		return fit_fail_nomem(err);
	for (size_t c = 0; c < t->n_columns; c++)
		fields[c] = (struct fit_field){ t->columns[c].name, t->columns[c].type, 0 };
	rc = fit_writer_begin(w, t->name, &head, fields, t->n_columns, err);
	for (size_t r = 0; r < t->n_rows && !rc; r++) {
		for (size_t c = 0; c < t->n_columns; c++) {
			struct fit_cell cell = fit_column_cell(&t->columns[c], r);

			fit_writer_cell(w, t->columns[c].type, &cell);
		}
		rc = fit_writer_end_row(w, err);
	}
	if (!rc && end.n)
		rc = fit_writer_end_meta(w, &end, err);
	if (!rc)
		rc = fit_writer_end(w, err);
	free(fields);
	return rc;
}
