/* SPDX-License-Identifier: MIT */
#include "traces/jobs_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OUT_MAX FIT_ROW_COLUMNS

void fit_tally_add(struct fit_tally *t, const char *what)
{
	size_t i;

	for (i = 0; i < t->n && strcmp(t->counts[i].what, what) != 0; i++)
		;
	if (i == sizeof t->counts / sizeof *t->counts)
		return;
	if (i == t->n)
		t->counts[t->n++].what = what;
	t->counts[i].n++;
}

int fit_tally_note(const struct fit_tally *t, struct fit_trace_out *out)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < t->n; i++)
		rc = fit_str_printf(&list, "%s%llu %s", i ? ", " : "",
				    (unsigned long long)t->counts[i].n, t->counts[i].what);
	if (!rc && t->n)
		rc = fit_trace_note(out, "%s", list.s);
	fit_str_release(&list);
	return rc;
}

int fit_row_fail(struct fit_trace_row *r, int code, const char *reason, size_t i,
		 struct fit_err *err, const char *fmt, ...)
{
	va_list ap;

	r->reason = reason;
	va_start(ap, fmt);
	fit_fail_at(err, code, fit_csv_input(r->csv), fit_csv_line(r->csv), r->fields[i].name, fmt, ap);
	va_end(ap);
	return code;
}

int fit_row_at_least(struct fit_trace_row *r, size_t from, size_t to, int64_t min,
		     struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = from; !rc && i <= to; i++)
		rc = fit_trace_at_least(r->csv, &r->fields[i], &r->in[i], min, err);
	if (rc)
		r->reason = "out of range";
	return rc;
}

int fit_row_times(struct fit_trace_row *r, size_t i, double factor, struct fit_cell *product,
		  struct fit_err *err)
{
	*product = (struct fit_cell){ .na = r->in[i].na };
	if (product->na)
		return FIT_OK;
	product->u.d = r->in[i].u.d * factor;
	return isfinite(product->u.d) ? FIT_OK :
	       fit_row_fail(r, FIT_EDATA, "out of range", i, err, "out of range '%.17g' (times %.17g is no "
			    "number)", r->in[i].u.d, factor);
}

int fit_row_word(struct fit_trace_row *r, size_t i, const char *const *words, int *n,
		 struct fit_err *err)
{
	char list[256] = "";
	size_t used = 0;

	*n = -1;
	if (r->in[i].na)
		return FIT_OK;
	for (int k = 0; words[k]; k++) {
		if (fit_text_is(r->in[i].u.t, words[k])) {
			*n = k;
			return FIT_OK;
		}
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "",
						 words[k]);
	}
	return fit_row_fail(r, FIT_EPARSE, "bad value", i, err, "bad value '%.*s' (expected %s)",
			    FIT_TEXT_ARG(r->in[i].u.t), list);
}

struct fit_cell fit_row_status(struct fit_trace_row *r, const struct fit_cell *word,
			       const struct fit_status_word *words)
{
	const char *status = "UNKNOWN";

	if (!word->na) {
		size_t i;

		for (i = 0; words[i].word && !fit_text_is(word->u.t, words[i].word); i++)
			;
		if (words[i].word)
			status = words[i].status;
		else
			fit_tally_add(&r->tally, "of a status that is not known");
	}
	if (strcmp(status, "RUNNING") == 0)
		fit_tally_add(&r->tally, "running (censored)");
	else if (strcmp(status, "PENDING") == 0)
		fit_tally_add(&r->tally, "waiting (never started)");
	return (struct fit_cell){ .u.t = fit_text_of(status) };
}

struct fit_cell fit_cell_ratio(const struct fit_cell *i, double unit)
{
	if (i->na)
		return *i;
	return (struct fit_cell){ .u.d = (double)i->u.i / unit };
}

static int read_csv(struct fit_csv *c, struct fit_trace_out *out, const struct fit_trace_rows *how,
		    bool emits, struct fit_err *err)
{
	struct fit_cell in[OUT_MAX], row[OUT_MAX];
	struct fit_trace_row r = {
		.out = out, .csv = c, .fields = how->fields, .in = in, .ctx = how->ctx
	};
	int rc = fit_csv_bind(c, how->fields, how->n_fields, err);

	if (!rc && fit_trace_note_unbound(c, out))
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_trace_csv_row(c, out, in, err))) {
		r.number = fit_csv_rows(c) - 1;
		r.reason = "bad value";
		memset(row, 0, sizeof row);
		rc = how->convert(&r, emits ? row : NULL, err);
		if (!rc && emits)
			rc = fit_trace_emit(out, row, fit_csv_line(c), err);
		if (rc == FIT_END)
			rc = FIT_OK;
		else if (rc)
			rc = fit_trace_bad(out, rc, r.reason, err);
	}
	if (rc != FIT_END)
		return rc;
	return fit_tally_note(&r.tally, out) ? fit_fail_nomem(err) : FIT_OK;
}

static int read_source(struct fit_source *s, struct fit_trace_out *out,
		       const struct fit_trace_rows *how, bool emits, struct fit_err *err)
{
	static const struct fit_csv_options usual = { .missing = fit_trace_missing };
	struct fit_csv *c = NULL;
	int rc = fit_csv_open(&c, s, how->options ? how->options : &usual, err);

	if (!rc)
		rc = read_csv(c, out, how, emits, err);
	fit_csv_close(c);
	return rc;
}

int fit_trace_read_rows(struct fit_source *s, struct fit_trace_out *out,
			const struct fit_trace_rows *how, struct fit_err *err)
{
	return read_source(s, out, how, true, err);
}

int fit_trace_visit_rows(struct fit_source *s, struct fit_trace_out *out,
			 const struct fit_trace_rows *how, struct fit_err *err)
{
	return read_source(s, out, how, false, err);
}

int fit_trace_visit_csv(struct fit_csv *c, struct fit_trace_out *out,
			const struct fit_trace_rows *how, struct fit_err *err)
{
	return read_csv(c, out, how, false, err);
}
