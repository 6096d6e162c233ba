/* SPDX-License-Identifier: MIT */
/*
 * The text exposition format of Prometheus, version 0.0.4. Any table becomes gauges: a column of numbers
 * is a metric, columns of text are labels. Tables with the columns metric and value (gf-metrics) have a
 * metric a row. What is read becomes the table of samples (metric, type, help, labels, value), which is
 * written again as it was.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/handoff_formats.h"
#include "libfit/table/cell.h"

/* ---- samples ---- */

struct sample {
	char *metric, *type, *help,
		*labels;	/* labels: name="value",… escaped, without braces; "" for none */
	double value;
};

struct samples {
	struct sample *list;
	size_t n, cap;
};

static void release(struct samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->list[i].metric);
		free(s->list[i].type);
		free(s->list[i].help);
		free(s->list[i].labels);
	}
	free(s->list);
}

/* A text or NULL as a copy, NULL for NULL. False: no memory. */
static bool copy(char **to, struct fit_text t)
{
	*to = t.s ? fit_strdup(t) : NULL;
	return !t.s || *to;
}

static int add(struct samples *s, struct fit_text metric, struct fit_text type, struct fit_text help,
	       struct fit_text labels, double value, struct fit_err *err)
{
	struct sample *x;

	if (fit_grow(&s->list, &s->cap, s->n + 1, sizeof *s->list))
		return fit_fail_nomem(err);
	x = &s->list[s->n];
	*x = (struct sample){ .value = value };
	s->n++;
	if (!copy(&x->metric, metric) || !copy(&x->type, type) || !copy(&x->help, help) ||
	    !copy(&x->labels, labels.s ? labels : FIT_TEXT_LIT("")))
		return fit_fail_nomem(err);
	return FIT_OK;
}

/* ---- names and escapes ---- */

static bool name_char(char c, bool first, bool colon)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':') ||
	       (!first && c >= '0' && c <= '9');
}

/* The length of the name that t starts with. */
static size_t name_length(struct fit_text t, bool colon)
{
	size_t n = 0;

	while (n < t.n && name_char(t.s[n], n == 0, colon))
		n++;
	return n;
}

/* Append a name: other characters become underscores; a digit ahead gets one before it. */
static int put_name(struct fit_str *out, struct fit_text t, bool colon)
{
	int rc = t.n && !out->n && t.s[0] >= '0' && t.s[0] <= '9' ? fit_str_puts(out, "_") : FIT_OK;

	for (size_t i = 0; i < t.n && !rc; i++)
		rc = fit_str_add(out, name_char(t.s[i], false, colon) ? &t.s[i] : "_", 1);
	return rc;
}

/* Backslash and line feed, and of label values the quote. */
static int put_escaped(struct fit_str *out, struct fit_text t, bool quote)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t.n && !rc; i++)
		rc = t.s[i] == '\\' ? fit_str_puts(out, "\\\\") : t.s[i] == '\n' ? fit_str_puts(out, "\\n") :
		     quote && t.s[i] == '"' ? fit_str_puts(out, "\\\"") : fit_str_add(out, &t.s[i], 1);
	return rc;
}

/* Is the label of that start, such as a=", there? Quotes in values are escaped, so no value looks like
 * one. */
static bool has_label(const struct fit_str *out, const char *start)
{
	size_t n = strlen(start);

	for (const char *p = out->n ? out->s : NULL; p; p = strstr(p + 1, start))
		if (strncmp(p, start, n) == 0 && (p == out->s || p[-1] == ','))
			return true;
	return false;
}

/* FIT_EDATA: there is one of that name. */
static int put_label(struct fit_str *out, const char *name, struct fit_text value)
{
	struct fit_str clean = { 0 };
	const char *start;
	int rc = put_name(&clean, fit_text_of(name), false);

	rc = rc ? rc : fit_str_puts(&clean, clean.n ? "=\"" : "_=\"");
	/* names that begin with __ are those of the server */
	for (start = clean.s; !rc && start[0] == '_' && start[1] == '_'; start++)
		;
	if (!rc && has_label(out, start))
		rc = FIT_EDATA;
	rc = rc ? rc : fit_str_printf(out, "%s%s", out->n ? "," : "", start);
	rc = rc ? rc : put_escaped(out, value, true);
	fit_str_release(&clean);
	return rc ? rc : fit_str_puts(out, "\"");
}

static int put_value(struct fit_str *out, double v)
{
	char buf[FIT_NUM_MAX];

	if (isnan(v) || isinf(v))
		return fit_str_puts(out, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
	fit_format_double(buf, v);
	return fit_str_puts(out, buf);
}

/* ---- from tables ---- */

static double number(const struct fit_column *c, size_t row, bool *na)
{
	struct fit_cell cell = fit_column_cell(c, row);

	*na = cell.na;
	return cell.na ? 0 : c->type == FIT_REAL ? cell.u.d : c->type == FIT_TIME ?
		fit_time_to_double(cell.u.i) :
	       (double)cell.u.i;
}

/* Metadata that tell tables of one kind apart. */
static int meta_labels(const struct fit_table *t, struct fit_str *out)
{
	static const char *const keys[] = { "policy", "cluster", "fidelity", "autoscale" };
	int rc = FIT_OK;

	for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++) {
		const char *v = fit_meta_get(&t->meta, keys[i]);

		rc = v && !fit_table_column(t, keys[i]) ? put_label(out, keys[i], fit_text_of(v)) : FIT_OK;
	}
	return rc;
}

static bool is_label(const struct fit_handoff_options *o, const struct fit_column *c)
{
	if (c->type == FIT_TEXT)
		return true;
	for (size_t i = 0; i < o->n_labels; i++)
		if (strcmp(o->labels[i], c->name) == 0)
			return true;
	return false;
}

static int row_labels(const struct fit_table *t, size_t row, const struct fit_handoff_options *o,
		      struct fit_str *out)
{
	int rc = meta_labels(t, out);

	for (size_t c = 0; c < t->n_columns && !rc; c++) {
		struct fit_cell cell = fit_column_cell(&t->columns[c], row);
		struct fit_text text = { NULL, 0 };
		char buf[40];

		if (cell.na || !is_label(o, &t->columns[c]))
			continue;
		if (t->columns[c].type == FIT_TEXT)
			text = fit_column_text(&t->columns[c], row);
		else
			text = (struct fit_text){ buf, fit_cell_format(t->columns[c].type, &cell, buf) };
		rc = put_label(out, t->columns[c].name, text);
	}
	return rc;
}

/* PREFIX_NAME; seconds are spelled out, as is the custom there. */
static int metric_name(struct fit_str *out, const char *prefix, struct fit_text name)
{
	bool seconds = name.n > 2 && memcmp(name.s + name.n - 2, "_s", 2) == 0;
	int rc = put_name(out, fit_text_of(prefix), true);

	rc = rc || !*prefix ? rc : fit_str_puts(out, "_");
	rc = rc ? rc : put_name(out, name, true);
	return rc || !seconds ? rc : fit_str_puts(out, "econds");
}

static int add_gauge(struct samples *s, const char *prefix, struct fit_text name, const char *help,
		     struct fit_text labels, double value, struct fit_err *err)
{
	struct fit_str metric = { 0 };
	int rc = metric_name(&metric, prefix, name) ? fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : add(s, fit_text_of(metric.s), FIT_TEXT_LIT("gauge"), fit_text_of(help), labels,
			   value, err);
	fit_str_release(&metric);
	return rc;
}

/* gf-metrics: a metric a row. */
static int take_metrics(struct samples *s, const struct fit_table *t, const char *prefix,
			struct fit_err *err)
{
	const struct fit_column *metric = fit_table_column(t, "metric");
	const struct fit_column *value = fit_table_column(t, "value");
	const struct fit_column *unit = fit_table_column(t, "unit");
	struct fit_str labels = { 0 }, help = { 0 };
	int rc = meta_labels(t, &labels) ? fit_fail_nomem(err) : FIT_OK;

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct fit_text of = unit && unit->type == FIT_TEXT ? fit_column_text(unit, i) :
			(struct fit_text){ NULL, 0 };
		bool na;
		double v = number(value, i, &na);

		fit_str_clear(&help);
		if (na || !fit_column_text(metric, i).n)
			continue;
		if (fit_str_printf(&help, "%.*s%s%.*s", FIT_TEXT_ARG(fit_column_text(metric, i)), of.n ?
				   ", " : "",
				   FIT_TEXT_ARG(of)))
			rc = fit_fail_nomem(err);
		else
			rc = add_gauge(s, prefix, fit_column_text(metric, i), help.s,
				       (struct fit_text){ labels.s, labels.n }, v, err);
	}
	fit_str_release(&labels);
	fit_str_release(&help);
	return rc;
}

/* Any other table: a metric a column of numbers, all rows of one together. */
static int take_columns(struct samples *s, const struct fit_table *t, const struct fit_handoff_options *o,
			const char *prefix, struct fit_err *err)
{
	struct fit_str labels = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < o->n_labels && !rc; i++) {
		const struct fit_column *c = fit_table_column(t, o->labels[i]);

		if (!c)
			rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (--label)", t->input,
				      o->labels[i]);
		else if (c->type == FIT_TEXT && t->n_rows)
			rc = fit_fail(err, FIT_EINVAL, "--label: column '%s' is text, and so a label anyway",
				      o->labels[i]);
	}
	for (size_t c = 0; c < t->n_columns && !rc; c++)
		for (size_t i = 0; i < t->n_rows && !rc && !is_label(o, &t->columns[c]); i++) {
			bool na;
			double v = number(&t->columns[c], i, &na);

			fit_str_clear(&labels);
			if (na)
				continue;
			rc = row_labels(t, i, o, &labels);
			if (rc)
				rc = rc == FIT_EDATA ? fit_table_fail(t, i, rc, NULL, err,
					"two labels of one name") :
				     fit_fail_nomem(err);
			else
				rc = add_gauge(s, prefix, fit_text_of(t->columns[c].name),
					       t->columns[c].name,
					       (struct fit_text){ labels.s, labels.n }, v, err);
		}
	if (!rc && !s->n)
		rc = fit_fail(err, FIT_EDATA, "%s: no numbers (expected a column of them, and rows)", t->input);
	fit_str_release(&labels);
	return rc;
}

/* Samples as they were read. */
static int take_samples(struct samples *s, const struct fit_table *t, struct fit_err *err)
{
	const struct fit_column *metric = fit_table_column(t, "metric"), *type = fit_table_column(t, "type");
	const struct fit_column *help = fit_table_column(t, "help"), *labels = fit_table_column(t, "labels");
	const struct fit_column *value = fit_table_column(t, "value");
	int rc = FIT_OK;

	if (metric->type != FIT_TEXT || type->type != FIT_TEXT || help->type != FIT_TEXT || labels->type !=
	    FIT_TEXT ||
	    value->type == FIT_TEXT)
		return t->n_rows ?
			fit_fail(err, FIT_EDATA,
				 "%s: no table of samples (expected texts, and a number as value)",
					    t->input) : FIT_OK;
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct fit_text name = fit_column_text(metric, i);
		bool na;
		double v = number(value, i, &na);

		if (!name.n || name_length(name, true) != name.n || na)
			rc = fit_table_fail(t, i, FIT_EDATA, "metric", err, "bad name '%.*s', or no value",
					    FIT_TEXT_ARG(name));
		else
			rc = add(s, name, fit_column_text(type, i), fit_column_text(help, i),
				 fit_column_text(labels, i), v, err);
	}
	return rc;
}

/* ---- to text ---- */

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What was said last of a metric: HELP and TYPE hold for its name to the end of the text. */
struct said {
	const char *help, *type;
};

static int print_sample(const struct sample *x, struct said *said, struct fit_str *out)
{
	int rc = FIT_OK;

	if (x->help && !same(said->help, x->help)) {
		said->help = x->help;
		rc = fit_str_printf(out, "# HELP %s ", x->metric);
		rc = rc ? rc : put_escaped(out, fit_text_of(x->help), false);
		rc = rc ? rc : fit_str_puts(out, "\n");
	}
	if (x->type && !same(said->type, x->type) && !rc) {
		said->type = x->type;
		rc = fit_str_printf(out, "# TYPE %s %s\n", x->metric, x->type);
	}
	rc = rc ? rc : fit_str_puts(out, x->metric);
	if (*x->labels && !rc)
		rc = fit_str_printf(out, "{%s}", x->labels);
	rc = rc ? rc : fit_str_puts(out, " ");
	rc = rc ? rc : put_value(out, x->value);
	return rc ? rc : fit_str_puts(out, "\n");
}

static int print(const struct samples *s, struct fit_str *out)
{
	struct said *said = calloc(s->n + 1, sizeof *said);
	struct fit_index index = { 0 };
	uint32_t n = 0;
	int rc = said ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; i < s->n && !rc; i++) {
		uint32_t at;

		rc = fit_index_put(&index, fit_text_of(s->list[i].metric), n, &at) ? FIT_ENOMEM : FIT_OK;
		at = at == FIT_NO_INDEX ? n++ : at;
		rc = rc ? rc : print_sample(&s->list[i], &said[at], out);
	}
	fit_index_release(&index);
	free(said);
	return rc;
}

/* A metric with the same labels twice is no exposition: the server refuses all of it. */
static int check_once(const struct samples *s, const char *input, struct fit_err *err)
{
	struct fit_index index = { 0 };
	struct fit_str key = { 0 };
	uint32_t found;
	int rc = FIT_OK;

	for (size_t i = 0; i < s->n && !rc; i++) {
		fit_str_clear(&key);
		if (fit_str_printf(&key, "%s{%s}", s->list[i].metric, s->list[i].labels) ||
		    fit_index_put(&index, fit_text_of(key.s), (uint32_t)i, &found))
			rc = fit_fail_nomem(err);
		else if (found != FIT_NO_INDEX)
			rc =
				fit_fail(err, FIT_EDATA,
					 "%s: two values of %.*s (expected rows that differ in a text, or in "
				      "a column of --label)", input, FIT_TEXT_ARG(fit_text_of(key.s)));
	}
	fit_index_release(&index);
	fit_str_release(&key);
	return rc;
}

/* Rows that are a metric each have their names, and those of labels: options of columns change nothing. */
static int check_unused(const struct fit_handoff_options *o, bool prefix, struct fit_err *err)
{
	if (o->n_labels)
		return fit_fail(err, FIT_EINVAL, "--label is of no use: each row of this table is a metric");
	if (prefix && o->prefix && *o->prefix)
		return fit_fail(err, FIT_EINVAL, "--prefix is of no use: samples have their names");
	return FIT_OK;
}

static int write_text(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
		      struct fit_err *err)
{
	const char *prefix = o->prefix ? o->prefix : "goodfit";
	struct samples s = { .n = 0 };
	struct fit_table t;
	int rc = fit_table_read(&t, operand, NULL, 0, err);

	if (rc)
		return rc;
	if (fit_table_column(&t, "metric") && fit_table_column(&t, "labels") &&
	    fit_table_column(&t, "value") &&
	    fit_table_column(&t, "type") && fit_table_column(&t, "help"))
		rc = check_unused(o, true, err) ? FIT_EINVAL : take_samples(&s, &t, err);
	else if (fit_table_column(&t, "metric") && fit_table_column(&t, "value") &&
		 fit_table_column(&t, "metric")->type == FIT_TEXT && fit_table_column(&t, "value")->type !=
			 FIT_TEXT)
		rc = check_unused(o, false, err) ? FIT_EINVAL : take_metrics(&s, &t, prefix, err);
	else
		rc = take_columns(&s, &t, o, prefix, err);
	rc = rc ? rc : check_once(&s, t.input, err);
	if (!rc && print(&s, out))
		rc = fit_fail_nomem(err);
	fit_table_release(&t);
	release(&s);
	return rc;
}

/* ---- from text ---- */

static bool is(struct fit_text b)
{
	size_t n = name_length(b, true);

	return (b.n > 1 && b.s[0] == '#' && b.s[1] == ' ') ||
	       (n > 0 && n < b.n && (b.s[n] == '{' || b.s[n] == ' '));
}

/* What HELP and TYPE lines say of a metric. */
struct family {
	struct fit_str type, help;
	bool has_type, has_help;
};

struct parse {
	const char *name;
	size_t line;
	struct family *families;
	size_t n, cap;
	struct fit_index index;		/* the name of a metric -> its family */
	struct fit_writer *w;
	struct fit_err *err;
};

static int bad(const struct parse *p, const char *what, const char *expected)
{
	return fit_fail(p->err, FIT_EPARSE, "%s:%zu: %s (expected %s)", p->name, p->line, what, expected);
}

static void blanks(struct fit_text *t)
{
	while (t->n && (t->s[0] == ' ' || t->s[0] == '\t')) {
		t->s++;
		t->n--;
	}
}

static struct fit_text cut(struct fit_text *t, size_t n)
{
	struct fit_text head = { t->s, n };

	t->s += n;
	t->n -= n;
	return head;
}

static struct family *family_of(struct parse *p, struct fit_text name)
{
	uint32_t at;

	if (fit_grow(&p->families, &p->cap, p->n + 1, sizeof *p->families) ||
	    fit_index_put(&p->index, name, (uint32_t)p->n, &at))
		return NULL;
	if (at != FIT_NO_INDEX)
		return &p->families[at];
	p->families[p->n] = (struct family){ .has_type = false };
	return &p->families[p->n++];
}

/* "# HELP NAME text" and "# TYPE NAME word"; other comments are passed over. */
static int take_comment(struct parse *p, struct fit_text t)
{
	bool help, type;
	struct fit_text name;
	struct family *f;
	struct fit_str *to;

	cut(&t, 1);
	blanks(&t);
	help = t.n > 5 && memcmp(t.s, "HELP ", 5) == 0;
	type = t.n > 5 && memcmp(t.s, "TYPE ", 5) == 0;
	if (!help && !type)
		return FIT_OK;
	cut(&t, 5);
	blanks(&t);
	name = cut(&t, name_length(t, true));
	if (!name.n || (t.n && t.s[0] != ' ' && t.s[0] != '\t'))
		return bad(p, "bad metric name", "letters, digits, _ and :");
	if (t.n)
		cut(&t, 1);
	if (type && !fit_text_is(t, "counter") && !fit_text_is(t, "gauge") && !fit_text_is(t, "untyped") &&
	    !fit_text_is(t, "histogram") && !fit_text_is(t, "summary"))
		return bad(p, "bad type", "counter, gauge, histogram, summary or untyped");
	f = family_of(p, name);
	if (!f)
		return fit_fail_nomem(p->err);
	to = help ? &f->help : &f->type;
	fit_str_clear(to);
	*(help ? &f->has_help : &f->has_type) = true;
	for (size_t i = 0; i < t.n; i++) {
		bool escaped = help && t.s[i] == '\\' && i + 1 < t.n &&
			(t.s[i + 1] == '\\' || t.s[i + 1] == 'n');

		if (fit_str_add(to, escaped && t.s[i + 1] == 'n' ? "\n" : &t.s[i], 1))
			return fit_fail_nomem(p->err);
		i += escaped;
	}
	return FIT_OK;
}

/* {name="value",…}: checked, and cut out as it stands, but for blanks and a comma at its end. */
static int take_labels(struct parse *p, struct fit_text *t, struct fit_str *labels)
{
	if (!t->n || t->s[0] != '{')
		return FIT_OK;
	cut(t, 1);
	for (blanks(t); t->n && t->s[0] != '}'; blanks(t)) {
		struct fit_text name = cut(t, name_length(*t, false)), value;
		size_t n = 0;

		blanks(t);
		if (!name.n || !t->n || t->s[0] != '=')
			return bad(p, "bad label", "NAME=\"value\"");
		cut(t, 1);
		blanks(t);
		if (!t->n || t->s[0] != '"')
			return bad(p, "bad label", "NAME=\"value\"");
		cut(t, 1);
		while (n < t->n && t->s[n] != '"') {
			if (t->s[n] == '\\' && (n + 1 >= t->n || !memchr("\\\"n", t->s[n + 1], 3)))
				return bad(p, "bad escape in a label", "\\\\, \\\" or \\n");
			n += t->s[n] == '\\' ? 2 : 1;
		}
		if (n >= t->n)
			return bad(p, "a label without an end", "a quote");
		value = cut(t, n);
		cut(t, 1);
		if (fit_str_puts(labels, labels->n ? "," : "") || fit_str_add(labels, name.s, name.n) ||
		    fit_str_puts(labels, "=\"") || fit_str_add(labels, value.n ? value.s : "", value.n) ||
		    fit_str_puts(labels, "\""))
			return fit_fail_nomem(p->err);
		blanks(t);
		if (t->n && t->s[0] == ',')
			cut(t, 1);
		else if (!t->n || t->s[0] != '}')
			return bad(p, "bad labels", "a comma or a brace behind a label");
	}
	if (!t->n)
		return bad(p, "labels without an end", "a brace");
	cut(t, 1);
	return FIT_OK;
}

/* Go's spelling of infinities and NaN is ours, but for the case and a plus. */
static int take_value(struct parse *p, struct fit_text *t, double *v)
{
	size_t n = 0;
	struct fit_text word;

	blanks(t);
	while (n < t->n && t->s[n] != ' ' && t->s[n] != '\t')
		n++;
	word = cut(t, n);
	if (word.n && word.s[0] == '+')
		cut(&word, 1);
	if (!word.n || fit_parse_double_any(word, v))
		return bad(p, "bad value", "a number, NaN, +Inf or -Inf");
	return FIT_OK;
}

static void put_said(struct fit_writer *w, bool has, const struct fit_str *s)
{
	if (has)
		fit_writer_text(w, (struct fit_text){ s->s ? s->s : "", s->n });
	else
		fit_writer_na(w);
}

static int put_sample(struct parse *p, struct fit_text metric, const struct fit_str *labels, double v)
{
	static const struct family none = { .has_type = false };
	uint32_t at = fit_index_get(&p->index, metric);
	const struct family *f = at == FIT_NO_INDEX ? &none : &p->families[at];

	fit_writer_text(p->w, metric);
	put_said(p->w, f->has_type, &f->type);
	put_said(p->w, f->has_help, &f->help);
	fit_writer_text(p->w, (struct fit_text){ labels->s ? labels->s : "", labels->n });
	fit_writer_real(p->w, v);
	return fit_writer_end_row(p->w, p->err);
}

static int take_line(struct parse *p, struct fit_text t)
{
	struct fit_str labels = { 0 };
	struct fit_text metric;
	double v;
	int rc;

	blanks(&t);
	if (!t.n)
		return FIT_OK;
	if (t.s[0] == '#')
		return take_comment(p, t);
	metric = cut(&t, name_length(t, true));
	if (!metric.n)
		return bad(p, "bad metric name", "letters, digits, _ and :");
	blanks(&t);
	rc = take_labels(p, &t, &labels);
	rc = rc ? rc : take_value(p, &t, &v);
	blanks(&t);
	if (!rc && t.n)
		rc = bad(p, "something behind the value", "no timestamp: a model has none");
	rc = rc ? rc : put_sample(p, metric, &labels, v);
	fit_str_release(&labels);
	return rc;
}

static int read_text(const char *name, struct fit_text bytes, struct fit_writer *w,
		     const struct fit_meta *meta,
		     struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "metric", FIT_TEXT, 0 }, { "type", FIT_TEXT, 0 }, { "help", FIT_TEXT, 0 },
			{ "labels", FIT_TEXT, 0 },
		{ "value", FIT_REAL, 0 }
	};
	struct parse p = { .name = name, .w = w, .err = err };
	int rc = fit_text_is_utf8(bytes) ? FIT_OK : fit_fail(err, FIT_EPARSE, "%s: not UTF-8", name);

	rc = rc ? rc : fit_writer_begin(w, "samples", meta, fields, 5, err);
	while (!rc && bytes.n) {
		const char *end = memchr(bytes.s, '\n', bytes.n);
		struct fit_text line = cut(&bytes, end ? (size_t)(end - bytes.s) : bytes.n);

		p.line++;
		if (end)
			cut(&bytes, 1);
		if (line.n && line.s[line.n - 1] == '\r')
			line.n--;
		rc = take_line(&p, line);
	}
	for (size_t i = 0; i < p.n; i++) {
		fit_str_release(&p.families[i].type);
		fit_str_release(&p.families[i].help);
	}
	free(p.families);
	fit_index_release(&p.index);
	return rc ? rc : fit_writer_end(w, err);
}

const struct fit_handoff_format fit_handoff_prometheus = {
	"prometheus", "gauges of Prometheus, from any table", FIT_HANDOFF_PREFIX | FIT_HANDOFF_LABEL, is,
		write_text, read_text
};
