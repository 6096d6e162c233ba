/* SPDX-License-Identifier: MIT */
#include "traces/input.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/source.h"
#include "traces/csv.h"

struct fit_input {
	struct fit_reader *reader;	/* a table, or … */
	struct fit_source *source;	/* … comma-separated text */
	struct fit_csv *csv;
	struct fit_field *csv_fields;
	char **csv_names;
	const struct fit_field *fields;
	size_t n;
	struct fit_cell *cells;
};

void fit_input_close(struct fit_input *in)
{
	if (!in)
		return;
	fit_reader_close(in->reader);
	fit_csv_close(in->csv);
	fit_source_close(in->source);
	for (size_t i = 0; in->csv_names && i < in->n; i++)
		free(in->csv_names[i]);
	free(in->csv_names);
	free(in->csv_fields);
	free(in->cells);
	free(in);
}

static int open_csv(struct fit_input *in, const char *operand, struct fit_err *err)
{
	int rc = fit_source_open(&in->source, operand, err);

	if (!rc)
		rc = fit_csv_open(&in->csv, in->source, NULL, err);
	if (rc)
		return rc;
	in->n = fit_csv_n_columns(in->csv);
	in->csv_fields = calloc(in->n + 1, sizeof *in->csv_fields);
	in->csv_names = calloc(in->n + 1, sizeof *in->csv_names);
	if (!in->csv_fields || !in->csv_names)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < in->n; i++) {
		in->csv_names[i] = fit_strdup(fit_csv_column(in->csv, i));
		if (!in->csv_names[i])
			return fit_fail_nomem(err);
		in->csv_fields[i] = (struct fit_field){ in->csv_names[i], FIT_TEXT, 0 };
	}
	in->fields = in->csv_fields;
	return fit_csv_bind(in->csv, in->csv_fields, in->n, err);
}

static int open_table(struct fit_input *in, const char *operand, struct fit_err *err)
{
	int rc = fit_reader_open(&in->reader, operand, err);

	if (!rc)
		rc = fit_reader_begin(in->reader, NULL, 0, err);
	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(in->reader));
	if (rc)
		return rc;
	in->n = fit_reader_n_columns(in->reader);
	in->fields = fit_reader_columns(in->reader);
	return FIT_OK;
}

int fit_input_open(struct fit_input **out, const char *operand, bool csv, struct fit_err *err)
{
	struct fit_input *in = calloc(1, sizeof *in);
	size_t len = strlen(operand);
	int rc;

	if (!in)
		return fit_fail_nomem(err);
	if (csv || (len > 4 && strcmp(operand + len - 4, ".csv") == 0))
		rc = open_csv(in, operand, err);
	else
		rc = open_table(in, operand, err);
	if (!rc && !(in->cells = calloc(in->n + 1, sizeof *in->cells)))
		rc = fit_fail_nomem(err);
	if (rc)
		fit_input_close(in);
	else
		*out = in;
	return rc;
}

int fit_input_find(const struct fit_input *in, const char *name, const char *other)
{
	for (size_t i = 0; i < in->n; i++)
		if (strcmp(in->fields[i].name, name) == 0 ||
		    (other && strcmp(in->fields[i].name, other) == 0))
			return (int)i;
	return -1;
}

int fit_input_lacks(const struct fit_input *in, const char *name, struct fit_err *err)
{
	struct fit_str there = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < in->n && !rc; i++)
		rc = fit_str_printf(&there, "%s%s", i ? ", " : "", in->fields[i].name);
	rc = rc ? fit_fail_nomem(err)
		: fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (found %s)", fit_input_name(in), name,
			   there.s ? there.s : "none");
	fit_str_release(&there);
	return rc;
}

int fit_input_require(const struct fit_input *in, const char *name, int *at, struct fit_err *err)
{
	*at = fit_input_find(in, name, NULL);
	return *at >= 0 ? FIT_OK : fit_input_lacks(in, name, err);
}

const char *fit_input_column(const struct fit_input *in, int i)
{
	return i < 0 || (size_t)i >= in->n ? NULL : in->fields[i].name;
}

bool fit_input_is_text(const struct fit_input *in, int i)
{
	return in->reader && fit_reader_has_types(in->reader) && in->fields[i].type == FIT_TEXT;
}

int fit_input_row(struct fit_input *in, struct fit_err *err)
{
	int rc;

	if (!in->csv) {
		rc = fit_reader_row(in->reader, in->cells, err);
		if (rc == FIT_END)
			rc = fit_reader_only(in->reader, err);
		else
			return rc;
		return rc ? rc : FIT_END;
	}
	rc = fit_csv_row(in->csv, in->cells, err);
	return (rc == FIT_EPARSE || rc == FIT_EDATA) && fit_csv_reason(in->csv) ? FIT_EDATA : rc;
}

int fit_input_fail(const struct fit_input *in, int i, struct fit_err *err, const char *fmt, ...)
{
	char msg[FIT_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	if (in->csv)
		return fit_csv_fail(in->csv, FIT_EDATA, fit_input_column(in, i), err, "%s", msg);
	return fit_reader_fail(in->reader, FIT_EDATA, fit_input_column(in, i), err, "%s", msg);
}

int fit_input_number(const struct fit_input *in, int i, bool whole, double *v, bool *na,
		     struct fit_err *err)
{
	const struct fit_cell *c = i < 0 ? NULL : &in->cells[i];
	double d = 0;
	int64_t n;
	bool ok = true;

	*na = !c || c->na;
	if (*na)
		return FIT_OK;
	switch (in->fields[i].type) {
	case FIT_INT:
		d = (double)c->u.i;
		break;
	case FIT_TIME:
		d = fit_time_to_double(c->u.i);
		break;
	case FIT_REAL:
		d = c->u.d;
		break;
	case FIT_TEXT:
		if (whole) {
			ok = fit_parse_int64(c->u.t, &n) == FIT_OK;
			d = ok ? (double)n : 0;
		} else {
			ok = fit_parse_double(c->u.t, &d) == FIT_OK;
		}
		break;
	}
	ok = ok && isfinite(d) && (!whole || (floor(d) >= d && fabs(d) <= 9007199254740992.0));
	if (!ok) {
		char buf[FIT_NUM_MAX];
		struct fit_text t = fit_input_text(in, i, buf);

		return fit_input_fail(in, i, err, "bad value '%.*s' (expected %s)", FIT_TEXT_ARG(t),
				      whole ? "a whole number" : "a number");
	}
	*v = d;
	return FIT_OK;
}

int fit_input_need(const struct fit_input *in, int i, bool whole, double *v, struct fit_err *err)
{
	bool na;
	int rc = fit_input_number(in, i, whole, v, &na, err);

	if (!rc && na)
		return fit_input_fail(in, i, err, "missing value (expected a number)");
	return rc;
}

int fit_input_real(const struct fit_input *in, int i, const char *hint, double *v, struct fit_err *err)
{
	const struct fit_cell *c = i < 0 ? NULL : &in->cells[i];
	bool na = !c || c->na;

	*v = (double)NAN;
	if (na)
		return FIT_OK;
	if (in->fields[i].type == FIT_REAL)
		*v = c->u.d;
	else if (in->fields[i].type != FIT_TEXT)
		return fit_input_number(in, i, false, v, &na, err);
	else if (fit_parse_double_any(c->u.t, v))
		return fit_input_fail(in, i, err, "bad value '%.*s' (expected a number%s)", FIT_TEXT_ARG(c->u.t),
				      hint ? hint : "");
	return FIT_OK;
}

const struct fit_cell *fit_input_cell(const struct fit_input *in, int i, enum fit_type *type)
{
	*type = in->fields[i].type;
	return &in->cells[i];
}

struct fit_text fit_input_text(const struct fit_input *in, int i, char buf[FIT_NUM_MAX])
{
	const struct fit_cell *c = i < 0 ? NULL : &in->cells[i];

	if (!c || c->na)
		return (struct fit_text){ 0 };
	switch (in->fields[i].type) {
	case FIT_INT:
		return (struct fit_text){ buf, fit_format_int64(buf, c->u.i) };
	case FIT_TIME:
		return (struct fit_text){ buf, fit_format_time(buf, c->u.i) };
	case FIT_REAL:
		return (struct fit_text){ buf, fit_format_double(buf, c->u.d) };
	case FIT_TEXT:
		break;
	}
	return c->u.t;
}

const char *fit_input_name(const struct fit_input *in)
{
	return in->csv ? fit_source_name(in->source) : fit_reader_input(in->reader);
}

void fit_input_hash(const struct fit_input *in, char out[FIT_HASH_HEX])
{
	if (in->csv)
		fit_csv_hash(in->csv, out);
	else
		fit_reader_hash(in->reader, out);
}
