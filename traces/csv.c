/* SPDX-License-Identifier: MIT */
#include "traces/csv.h"

#include <csv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"

#define ABSENT SIZE_MAX

/* Fields of a row one after another in bytes; field i ends at ends[i]. */
struct fields {
	char *bytes;
	size_t n_bytes, cap_bytes;
	size_t *ends;
	size_t n, cap;
};

struct fit_csv {
	struct fit_source *source;
	struct csv_parser parser;
	bool parser_on;
	bool detects;			/* the delimiter, by the header row */
	struct fit_csv_options options;
	struct fields header, row;
	const struct fit_field *wanted;
	size_t *column_of;		/* of each wanted field; ABSENT */
	bool starts_missing[256];	/* does a spelling of a missing cell begin so? */
	size_t n_wanted;
	uint64_t line, rows, repeated;
	size_t layout;			/* of options.layouts */
	bool held;			/* row holds the first row already */
	bool fatal;			/* there is no going on */
	const char *reason;
	struct fit_hasher *hasher;
	/* while one physical line is in the parser */
	struct fields *into;
	size_t rows_ended;
	int trouble;			/* FIT_ENOMEM, or FIT_EPARSE: a limit */
};

/* ---- fields ---- */

static int fields_add(struct fields *f, const void *s, size_t n)
{
	if (fit_grow(&f->bytes, &f->cap_bytes, f->n_bytes + n + 1, 1) ||
	    fit_grow(&f->ends, &f->cap, f->n + 1, sizeof *f->ends))
		return FIT_ENOMEM;
	if (n)
		memcpy(f->bytes + f->n_bytes, s, n);
	f->n_bytes += n;
	f->ends[f->n++] = f->n_bytes;
	return FIT_OK;
}

static struct fit_text fields_get(const struct fields *f, size_t i)
{
	size_t from = i ? f->ends[i - 1] : 0;

	return (struct fit_text){ f->bytes + from, f->ends[i] - from };
}

static void fields_clear(struct fields *f)
{
	f->n = f->n_bytes = 0;
}

static void on_field(void *s, size_t n, void *ctx)
{
	struct fit_csv *c = ctx;

	if (c->trouble || c->rows_ended)
		return;
	if (n > FIT_CSV_FIELD_MAX || c->into->n_bytes + n > FIT_CSV_ROW_MAX ||
	    c->into->n == FIT_CSV_COLUMNS_MAX + 1)
		c->trouble = FIT_EPARSE;
	else
		c->trouble = fields_add(c->into, s, n);
}

static void on_row(int last, void *ctx)
{
	struct fit_csv *c = ctx;

	(void)last;
	c->rows_ended++;
}

/* ---- faults ---- */

static int fail_at(struct fit_csv *c, uint64_t line, struct fit_err *err, const char *reason,
		   const char *what)
{
	c->reason = reason;
	c->fatal = !reason;
	return fit_fail(err, FIT_EPARSE, "%s:%llu: %s", fit_source_name(c->source),
			(unsigned long long)line, what);
}

int fit_csv_fail(const struct fit_csv *c, int code, const char *name, struct fit_err *err,
		 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(c->source), c->line, name, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- one row of fields ---- */

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

static int split_blanks(struct fit_csv *c, const char *s, size_t n)
{
	size_t i = 0;

	while (!c->trouble) {
		size_t from;

		while (i < n && is_blank(s[i]))
			i++;
		if (i == n)
			break;
		for (from = i; i < n && !is_blank(s[i]); i++)
			;
		if (c->into->n > FIT_CSV_COLUMNS_MAX)
			c->trouble = FIT_EPARSE;
		else
			c->trouble = fields_add(c->into, s + from, i - from);
	}
	if (c->into->n)
		c->rows_ended = 1;
	return c->trouble;
}

/* The bytes of a line that no row may hold. */
static int check_bytes(struct fit_csv *c, const char *s, size_t n, struct fit_err *err)
{
	uint64_t line = fit_source_line_number(c->source);

	if (fit_text_is_utf8((struct fit_text){ s, n }))
		return FIT_OK;
	if (memchr(s, '\0', n))
		return fail_at(c, line, err, "bad encoding", "NUL byte (expected text)");
	return fail_at(c, line, err, "bad encoding", "invalid UTF-8");
}

static int restart_parser(struct fit_csv *c, struct fit_err *err)
{
	if (c->parser_on)
		csv_free(&c->parser);
	c->parser_on = csv_init(&c->parser, CSV_STRICT | CSV_STRICT_FINI) == 0;
	if (!c->parser_on)
		return fit_fail_nomem(err);
	csv_set_delim(&c->parser, (unsigned char)c->options.delimiter);
	if (c->options.flags & FIT_CSV_NO_QUOTES)
		csv_set_quote(&c->parser, '\0');	/* which no line has */
	return FIT_OK;
}

/*
 * What libcsv makes of a line without quotes, but faster: nearly all lines are of this kind, and it
 * looks at bytes one by one. False: the line is not so simple, and nothing was done.
 */
static bool split_plain(struct fit_csv *c, const char *s, size_t n)
{
	char delimiter = c->options.delimiter;
	struct fields *f = c->into;
	const char *end;

	while (n && s[n - 1] == '\r')
		n--;
	if (n > FIT_CSV_FIELD_MAX || memchr(s, '\r', n) ||
	    (!(c->options.flags & FIT_CSV_NO_QUOTES) && memchr(s, '"', n)))
		return false;
	end = s + n;
	while (s < end && (*s == ' ' || *s == '\t') && *s != delimiter)
		s++;
	if (s == end)		/* a blank line is no row */
		return true;
	if (fit_grow(&f->bytes, &f->cap_bytes, f->n_bytes + n + 1, 1)) {
		c->trouble = FIT_ENOMEM;
		return true;
	}
	for (;;) {
		const char *to = memchr(s, delimiter, (size_t)(end - s)), *last;
		size_t len;

		last = to ? to : end;
		while (s < last && (*s == ' ' || *s == '\t'))
			s++;
		while (last > s && (last[-1] == ' ' || last[-1] == '\t'))
			last--;
		len = (size_t)(last - s);
		if (f->n == FIT_CSV_COLUMNS_MAX + 1) {
			c->trouble = FIT_EPARSE;
			return true;
		}
		if (f->n == f->cap && fit_grow(&f->ends, &f->cap, f->n + 1, sizeof *f->ends)) {
			c->trouble = FIT_ENOMEM;
			return true;
		}
		memcpy(f->bytes + f->n_bytes, s, len);
		f->n_bytes += len;
		f->ends[f->n++] = f->n_bytes;
		if (!to)
			break;
		s = to + 1;
	}
	c->rows_ended = 1;
	return true;
}

/* Feed one line and the line feed behind it. fresh: it starts a row. */
static int feed(struct fit_csv *c, const char *s, size_t n, bool fresh, struct fit_err *err)
{
	uint64_t line = fit_source_line_number(c->source);
	size_t done = 0;

	if (c->options.flags & FIT_CSV_BLANKS) {
		split_blanks(c, s, n);
	} else if (!fresh || !split_plain(c, s, n)) {
		done = csv_parse(&c->parser, s, n, on_field, on_row, c);
		if (done == n)
			done += csv_parse(&c->parser, "\n", 1, on_field, on_row, c);
		if (done != n + 1 && csv_error(&c->parser) == CSV_EPARSE) {
			int rc = restart_parser(c, err);

			return rc ? rc : fail_at(c, line, err, "stray quote",
						 "stray quote (expected quotes around a whole field, "
						 "and doubled inside)");
		}
		if (done != n + 1)
			c->trouble = FIT_ENOMEM;
	}
	if (c->trouble == FIT_ENOMEM)
		return fit_fail_nomem(err);
	if (c->trouble)
		return fail_at(c, line, err, NULL, "field or row too long (expected at most 1048576 "
			       "bytes a field, 16777216 a row, 4096 columns)");
	if (c->rows_ended > 1)
		return fail_at(c, line, err, NULL,
			       "carriage return inside a line (expected LF or CRLF line ends)");
	return FIT_OK;
}

static bool only_blanks(const char *s, size_t n)
{
	while (n && is_blank(s[n - 1]))
		n--;
	return n == 0;
}

static void drop_mark(char **s, size_t *n)
{
	if (*n >= 3 && memcmp(*s, "\xef\xbb\xbf", 3) == 0) {
		*s += 3;
		*n -= 3;
	}
}

/* The first line of the file: drop the byte order mark, know a Git LFS pointer. */
static int first_line(struct fit_csv *c, char **s, size_t *n, struct fit_err *err)
{
	static const char lfs[] = "version https://git-lfs";

	drop_mark(s, n);
	if (*n >= sizeof lfs - 1 && memcmp(*s, lfs, sizeof lfs - 1) == 0)
		return fail_at(c, 1, err, NULL, "Git LFS pointer, not the data (expected the file that "
			       "'git lfs pull' fetches)");
	return FIT_OK;
}

/* Choose the delimiter by the header row: spreadsheets write what their country does. */
static int detect(struct fit_csv *c, const char *s, size_t n, struct fit_err *err)
{
	static const char known[] = { ',', '\t', ';', '|' };
	size_t i;

	for (i = 0; i < sizeof known && !memchr(s, known[i], n); i++)
		;
	if (i < sizeof known)
		c->options.delimiter = known[i];
	else if (c->options.flags & FIT_CSV_DETECT)
		c->options.flags |= FIT_CSV_BLANKS;
	c->options.flags &= ~FIT_CSV_DETECT;
	c->detects = false;
	return restart_parser(c, err);
}

/* The next row into f; FIT_END at the end. c->line is where it starts. */
static int next_fields(struct fit_csv *c, struct fields *f, struct fit_err *err)
{
	uint64_t open_line = 0;		/* line on which the open quote stands; 0: none is open */
	size_t open_bytes = 0;

	if (c->fatal)
		return fit_fail(err, FIT_EPARSE, "%s: cannot read on", fit_source_name(c->source));
	fields_clear(f);
	c->into = f;
	c->rows_ended = 0;
	c->trouble = FIT_OK;
	c->reason = NULL;
	while (!c->rows_ended) {
		size_t n, n_before = f->n;
		char *s;
		int rc = fit_source_line(c->source, &s, &n, err);
		uint64_t line = fit_source_line_number(c->source);

		if (rc == FIT_END && open_line) {
			return fail_at(c, open_line, err, NULL,
				       "quoted field without end (expected a closing quote)");
		}
		if (rc) {
			c->fatal = rc != FIT_END;
			return rc;
		}
		if (!open_line)
			c->line = line;
		if (line == 1)
			rc = first_line(c, &s, &n, err);
		else if (!open_line)
			drop_mark(&s, &n);	/* of a file that was put behind another one */
		if (!rc)
			rc = check_bytes(c, s, n, err);
		if (!rc && c->detects && !only_blanks(s, n))
			rc = detect(c, s, n, err);
		if (!rc)
			rc = feed(c, s, n, !open_line, err);
		if (rc) {
			/* inside a quoted field nobody knows where the next row starts */
			if (!open_line || rc != FIT_EPARSE)
				return rc;
			c->reason = NULL;
			c->fatal = true;
			return fit_fail(err, rc, "%s:%llu: quoted field that opens here does not end well "
					"(line %llu: stray quote or bad bytes)", fit_source_name(c->source),
					(unsigned long long)open_line, (unsigned long long)line);
		}
		if (c->rows_ended || (!open_line && only_blanks(s, n)))
			continue;
		if (!open_line || f->n > n_before) {
			open_line = line;
			open_bytes = 0;
		}
		open_bytes += n + 1;
		if (open_bytes > FIT_CSV_FIELD_MAX)
			return fail_at(c, open_line, err, NULL, "quoted field without end in 1048576 "
				       "bytes (expected a closing quote)");
	}
	return FIT_OK;
}

static void hash_fields(struct fit_csv *c, const struct fields *f)
{
	uint64_t n = f->n;

	fit_hasher_add(c->hasher, &n, sizeof n);
	fit_hasher_add(c->hasher, f->ends, f->n * sizeof *f->ends);
	fit_hasher_add(c->hasher, f->bytes, f->n_bytes);
}

/* ---- opening ---- */

static int list_columns(const struct fit_csv *c, struct fit_str *out)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < c->header.n; i++) {
		struct fit_text t = fields_get(&c->header, i);

		rc = fit_str_printf(out, "%s%.*s", i ? ", " : "", FIT_TEXT_ARG(t));
	}
	return rc;
}

static int check_header(struct fit_csv *c, struct fit_err *err)
{
	int rc = FIT_OK;

	if (c->header.n > FIT_CSV_COLUMNS_MAX)
		return fail_at(c, c->line, err, NULL, "too many columns (expected at most 4096)");
	for (size_t i = 1; !rc && i < c->header.n; i++) {
		struct fit_text a = fields_get(&c->header, i);

		for (size_t j = 0; !rc && a.n && j < i; j++) {
			struct fit_str found = { 0 };

			if (!fit_text_eq(a, fields_get(&c->header, j)))
				continue;
			rc = list_columns(c, &found) ? fit_fail_nomem(err) :
			     fit_csv_fail(c, FIT_EPARSE, NULL, err, "duplicate column '%.*s' (found %s)",
					  FIT_TEXT_ARG(a), found.s);
			fit_str_release(&found);
		}
	}
	return rc;
}

static bool is_row(const struct fields *row, const struct fit_csv_layout *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!fit_text_is(fields_get(row, i), l->names[i]))
			return false;
	return true;
}

/* The layout that the first row has; the row itself waits. */
static int choose_layout(struct fit_csv *c, struct fit_err *err)
{
	const struct fit_csv_layout *layouts = c->options.layouts;
	size_t n_layouts = c->options.n_layouts, fits = n_layouts, named = n_layouts, n = 0;
	char list[128] = "";
	int rc = next_fields(c, &c->row, err);

	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected rows)",
				fit_source_name(c->source));
	if (rc)
		return rc;
	for (size_t i = n_layouts; i-- > 0; ) {
		if (layouts[i].n == c->row.n) {
			fits = i;
			if (is_row(&c->row, &layouts[i]))
				named = i;
		} else if (n < sizeof list) {
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%zu", n ? " or " : "",
					      layouts[i].n);
		}
	}
	if (fits == n_layouts)
		return fit_csv_fail(c, FIT_EPARSE, NULL, err, "%zu field%s, %s expected", c->row.n,
				    c->row.n == 1 ? "" : "s", list);
	c->held = named == n_layouts;
	c->layout = c->held ? fits : named;
	c->options.names = layouts[c->layout].names;
	c->options.n_names = layouts[c->layout].n;
	return FIT_OK;
}

static int read_header(struct fit_csv *c, struct fit_err *err)
{
	int rc = c->options.layouts ? choose_layout(c, err) : FIT_OK;

	if (rc)
		return rc;
	if (c->options.names) {
		for (size_t i = 0; i < c->options.n_names; i++)
			if (fields_add(&c->header, c->options.names[i], strlen(c->options.names[i])))
				return fit_fail_nomem(err);
		return FIT_OK;
	}
	rc = next_fields(c, &c->header, err);
	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected a header row)",
				fit_source_name(c->source));
	return rc ? rc : check_header(c, err);
}

int fit_csv_open(struct fit_csv **out, struct fit_source *s, const struct fit_csv_options *options,
		 struct fit_err *err)
{
	struct fit_csv *c = calloc(1, sizeof *c);
	int rc;

	*out = NULL;
	if (!c)
		return fit_fail_nomem(err);
	c->source = s;
	fit_source_drop_hash(s);
	if (options)
		c->options = *options;
	c->detects = (c->options.flags & FIT_CSV_DETECT) ||
		     (!c->options.delimiter && !c->options.names && !c->options.layouts &&
		      !(c->options.flags & FIT_CSV_BLANKS));
	if (!c->options.delimiter)
		c->options.delimiter = ',';
	for (size_t i = 0; c->options.missing && c->options.missing[i]; i++)
		c->starts_missing[(unsigned char)c->options.missing[i][0]] = true;
	c->hasher = fit_hasher_new();
	rc = c->hasher ? restart_parser(c, err) : fit_fail_nomem(err);
	if (!rc)
		rc = read_header(c, err);
	if (rc) {
		fit_csv_close(c);
		return rc;
	}
	hash_fields(c, &c->header);
	*out = c;
	return FIT_OK;
}

void fit_csv_close(struct fit_csv *c)
{
	if (!c)
		return;
	if (c->parser_on)
		csv_free(&c->parser);
	fit_hasher_free(c->hasher);
	free(c->header.bytes);
	free(c->header.ends);
	free(c->row.bytes);
	free(c->row.ends);
	free(c->column_of);
	free(c);
}

size_t fit_csv_layout(const struct fit_csv *c)
{
	return c->layout;
}

size_t fit_csv_n_columns(const struct fit_csv *c)
{
	return c->header.n;
}

struct fit_text fit_csv_column(const struct fit_csv *c, size_t i)
{
	return fields_get(&c->header, i);
}

static size_t find_column(const struct fit_csv *c, const char *name)
{
	for (size_t i = 0; i < c->header.n; i++)
		if (fit_text_is(fields_get(&c->header, i), name))
			return i;
	return ABSENT;
}

bool fit_csv_has(const struct fit_csv *c, const char *name)
{
	return find_column(c, name) != ABSENT;
}

int fit_csv_bind(struct fit_csv *c, const struct fit_field *fields, size_t n, struct fit_err *err)
{
	size_t *at = calloc(n ? n : 1, sizeof *at);
	struct fit_str found = { 0 };
	int rc = at ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		at[i] = find_column(c, fields[i].name);
		if (at[i] != ABSENT || (fields[i].flags & FIT_F_OPTIONAL))
			continue;
		rc = list_columns(c, &found) ? fit_fail_nomem(err) :
		     fit_fail(err, FIT_ENOTFOUND, "%s:%llu: no column '%s' (found %s)",
			      fit_source_name(c->source), (unsigned long long)(c->line ? c->line : 1),
			      fields[i].name, found.s);
	}
	fit_str_release(&found);
	if (rc) {
		free(at);
		return rc;
	}
	free(c->column_of);
	c->column_of = at;
	c->wanted = fields;
	c->n_wanted = n;
	return FIT_OK;
}

int fit_csv_unbound(const struct fit_csv *c, struct fit_str *out)
{
	int rc = FIT_OK;

	fit_str_clear(out);
	for (size_t i = 0; !rc && i < c->header.n; i++) {
		struct fit_text t = fields_get(&c->header, i);
		bool bound = false;

		for (size_t j = 0; j < c->n_wanted; j++)
			bound = bound || c->column_of[j] == i;
		if (!bound)
			rc = fit_str_printf(out, "%s%.*s", out->n ? ", " : "", FIT_TEXT_ARG(t));
	}
	return rc;
}

/* ---- rows ---- */

/* "12.000" as "12" when nothing but zeros follows the point. */
static struct fit_text whole_part(struct fit_text t)
{
	size_t n = t.n;

	while (n && t.s[n - 1] == '0')
		n--;
	if (n > 1 && n < t.n && t.s[n - 1] == '.')
		t.n = n - 1;
	return t;
}

static int parse_cell(const struct fit_csv *c, const struct fit_field *f, struct fit_text t,
		      struct fit_cell *cell)
{
	int rc;

	*cell = (struct fit_cell){ .na = t.n == 0 };
	if (t.n && c->starts_missing[(unsigned char)t.s[0]])
		for (size_t i = 0; !cell->na && c->options.missing[i]; i++)
			cell->na = fit_text_is(t, c->options.missing[i]);
	if (cell->na)
		return FIT_OK;
	if (f->type == FIT_TEXT) {	/* the bytes of the line were checked */
		cell->u.t = t;
		return FIT_OK;
	}
	if (f->type == FIT_INT && (f->flags & FIT_CSV_F_WHOLE))
		t = whole_part(t);
	rc = fit_cell_parse(f->type, t, cell);
	if (rc && f->type == FIT_TIME && (f->flags & FIT_CSV_F_ROUND)) {
		double s;

		rc = fit_parse_double(t, &s);
		if (!rc)
			rc = fit_time_from_double(s, &cell->u.i);
	}
	return rc;
}

/* Files that were put one behind the other have their header rows inside. */
static bool is_header_again(const struct fit_csv *c)
{
	if (c->row.n != c->header.n || !c->header.n)
		return false;
	for (size_t i = 0; i < c->row.n; i++)
		if (!fit_text_eq(fields_get(&c->row, i), fields_get(&c->header, i)))
			return false;
	return true;
}

int fit_csv_row(struct fit_csv *c, struct fit_cell *cells, struct fit_err *err)
{
	size_t n;
	int rc = FIT_OK;

	if (!c->held)
		rc = next_fields(c, &c->row, err);
	c->held = false;
	while (!rc && is_header_again(c)) {
		c->repeated++;
		rc = next_fields(c, &c->row, err);
	}
	if (rc) {
		if (rc != FIT_END)
			c->rows++;
		return rc;
	}
	c->rows++;
	hash_fields(c, &c->row);
	n = c->row.n;
	if ((c->options.flags & FIT_CSV_TRAILING) && n == c->header.n + 1 &&
	    fields_get(&c->row, n - 1).n == 0)
		n--;
	if (n != c->header.n) {
		c->reason = "ragged row";
		return fit_csv_fail(c, FIT_EPARSE, NULL, err, "%zu field%s, %zu expected", n,
				    n == 1 ? "" : "s", c->header.n);
	}
	for (size_t i = 0; i < c->n_wanted; i++) {
		const struct fit_field *f = &c->wanted[i];
		struct fit_text t;

		if (c->column_of[i] == ABSENT) {
			cells[i] = (struct fit_cell){ .na = true };
			continue;
		}
		t = fields_get(&c->row, c->column_of[i]);
		rc = parse_cell(c, f, t, &cells[i]);
		if (rc) {
			c->reason = "bad value";
			return fit_csv_fail(c, FIT_EPARSE, f->name, err, "%s '%.*s' (expected %s)",
					    rc == FIT_EINVAL ? "out of range" : "bad value",
					    FIT_TEXT_ARG(t), fit_cell_expected(f->type));
		}
		if (cells[i].na && (f->flags & FIT_F_NOT_NA)) {
			c->reason = "missing value";
			return fit_csv_fail(c, FIT_EDATA, f->name, err, "missing value (expected %s)",
					    fit_cell_expected(f->type));
		}
	}
	return FIT_OK;
}

struct fit_text fit_csv_raw(const struct fit_csv *c, size_t i)
{
	return i < c->row.n ? fields_get(&c->row, i) : (struct fit_text){ "", 0 };
}

const char *fit_csv_input(const struct fit_csv *c)
{
	return fit_source_name(c->source);
}

const char *fit_csv_reason(const struct fit_csv *c)
{
	return c->reason;
}

uint64_t fit_csv_line(const struct fit_csv *c)
{
	return c->line;
}

uint64_t fit_csv_rows(const struct fit_csv *c)
{
	return c->rows;
}

uint64_t fit_csv_repeated(const struct fit_csv *c)
{
	return c->repeated;
}

void fit_csv_hash(const struct fit_csv *c, char out[FIT_HASH_HEX])
{
	fit_hasher_hex(c->hasher, out);
}
