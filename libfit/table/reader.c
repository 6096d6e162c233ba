/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"
#include "libfit/table/source.h"
#include "libfit/table/store.h"
#include "libfit/table/table.h"

#define MAX_COLUMNS 65536
#define NOT_BOUND SIZE_MAX

enum where { BEFORE_TABLE, IN_ROWS, AFTER_ROWS };

struct fit_reader {
	char *input;
	enum where where;
	struct fit_field *fields;	/* what is bound; names are owned */
	size_t n_fields;
	struct fit_meta meta;
	char *table_name;
	bool has_types;
	uint64_t rows;			/* read so far of the current table */
	/* TSV */
	struct fit_source *src;
	bool magic;			/* the current table has a trailer to check */
	bool any;			/* a table was read before */
	bool in_end_meta;		/* metadata behind the rows were met */
	size_t n_columns;
	size_t *bound;			/* column -> field, or NOT_BOUND */
	/* store */
	char *file;
	struct fit_store_image image;
	struct fit_store_paths paths;
	size_t next_path;
	struct fit_table whole;
};

/* ---- opening and closing ---- */

static void drop_fields(struct fit_reader *r)
{
	for (size_t i = 0; i < r->n_fields; i++)
		free((void *)(uintptr_t)r->fields[i].name);
	free(r->fields);
	r->fields = NULL;
	r->n_fields = 0;
}

static void drop_table(struct fit_reader *r)
{
	drop_fields(r);
	fit_meta_release(&r->meta);
	free(r->table_name);
	free(r->bound);
	fit_table_release(&r->whole);
	r->table_name = NULL;
	r->bound = NULL;
	r->n_columns = 0;
	r->rows = 0;
	r->has_types = false;
	r->in_end_meta = false;
}

void fit_reader_close(struct fit_reader *r)
{
	if (!r)
		return;
	drop_table(r);
	fit_source_close(r->src);
	fit_store_paths_release(&r->paths);
	fit_store_release(&r->image);
	free(r->file);
	free(r->input);
	free(r);
}

static int only_one(const struct fit_reader *r, struct fit_err *err)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	if (r->paths.n == 1)
		return FIT_OK;
	if (r->paths.n == 0)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no table in this store", r->file);
	for (size_t i = 0; i < r->paths.n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s", i ? ", " : "", r->paths.p[i]);
	rc = rc ? fit_fail_nomem(err) : fit_fail(err, FIT_ENOTFOUND,
		"%s: which table? (expected %s:/PATH, with one of %s)", r->file, r->file, list.s);
	fit_str_release(&list);
	return rc;
}

/* Keep the table at path and those below it. */
static int keep_path(struct fit_reader *r, const char *path, struct fit_err *err)
{
	size_t len = strlen(path), n = 0;

	if (strcmp(path, "/") == 0)
		return FIT_OK;
	for (size_t i = 0; i < r->paths.n; i++) {
		char *p = r->paths.p[i];

		if (strncmp(p, path, len) == 0 && (p[len] == '\0' || p[len] == '/'))
			r->paths.p[n++] = p;
		else
			free(p);
	}
	r->paths.n = n;
	if (!n)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no table '%s' in this store", r->file, path);
	return FIT_OK;
}

static int open_store(struct fit_reader *r, const char *operand, struct fit_err *err)
{
	char *path = NULL;
	int rc = fit_store_split(operand, &r->file, &path, err);

	if (!rc)
		rc = fit_store_load(&r->image, r->file, err);
	if (!rc)
		rc = fit_store_open(&r->image, err);
	if (!rc)
		rc = fit_store_paths(&r->image, &r->paths, err);
	if (!rc)
		rc = path ? keep_path(r, path, err) : only_one(r, err);
	free(path);
	return rc;
}

int fit_reader_open(struct fit_reader **out, const char *operand, struct fit_err *err)
{
	struct fit_reader *r = calloc(1, sizeof *r);
	int rc;

	*out = NULL;
	if (!r)
		return fit_fail_nomem(err);
	r->image.file = H5I_INVALID_HID;
	if (fit_is_store(operand))
		rc = open_store(r, operand, err);
	else
		rc = fit_source_open(&r->src, operand, err);
	if (!rc) {
		r->input = fit_strdup(fit_text_of(r->src ? fit_source_name(r->src) : operand));
		rc = r->input ? FIT_OK : fit_fail_nomem(err);
	}
	if (rc) {
		fit_reader_close(r);
		return rc;
	}
	*out = r;
	return FIT_OK;
}

int fit_reader_open_memory(struct fit_reader **out, const char *name, const void *bytes, size_t n,
			   struct fit_err *err)
{
	struct fit_reader *r = calloc(1, sizeof *r);
	int rc;

	*out = NULL;
	if (!r)
		return fit_fail_nomem(err);
	r->image.file = H5I_INVALID_HID;
	r->input = fit_strdup(fit_text_of(name));
	rc = r->input ? fit_source_open_memory(&r->src, name, bytes, n, err) : fit_fail_nomem(err);
	if (rc) {
		fit_reader_close(r);
		return rc;
	}
	*out = r;
	return FIT_OK;
}

/* ---- messages ---- */

const char *fit_reader_input(const struct fit_reader *r)
{
	return r->input;
}

uint64_t fit_reader_line(const struct fit_reader *r)
{
	return r->src ? fit_source_line_number(r->src) : r->rows;
}

int fit_reader_fail(const struct fit_reader *r, int code, const char *name, struct fit_err *err,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, r->input, fit_reader_line(r), name, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- binding columns ---- */

static int add_field(struct fit_reader *r, struct fit_text name, enum fit_type type, unsigned flags)
{
	struct fit_field *f = realloc(r->fields, (r->n_fields + 1) * sizeof *f);
	char *copy;

	if (!f)
		return FIT_ENOMEM;
	r->fields = f;
	copy = fit_strdup(name);
	if (!copy)
		return FIT_ENOMEM;
	f[r->n_fields++] = (struct fit_field){ copy, type, flags };
	return FIT_OK;
}

static int missing_column(const struct fit_reader *r, const char *name, char *const *names, size_t n,
			  struct fit_err *err)
{
	struct fit_str list = { 0 };
	const char *hint = "";
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s", i ? ", " : "", names[i]);
	if (n == 1 && strstr(names[0], "num_replicas") && strstr(names[0], "application"))
		hint = "; for a workload file see gf-trace --from pollux";
	else if (n == 1 && strchr(names[0], ','))
		hint = "; for comma-separated text see gf-table convert --csv, and gf-trace";
	if (!rc)
		fit_fail(err, FIT_ENOTFOUND, "%s:%llu: no column '%s' (found %s%s)", r->input,
			 (unsigned long long)fit_reader_line(r), name, list.s ? list.s : "none", hint);
	fit_str_release(&list);
	return rc ? fit_fail_nomem(err) : FIT_ENOTFOUND;
}

static int bind(struct fit_reader *r, char *const *names, const enum fit_type *types, size_t n,
		const struct fit_field *fields, size_t n_fields, struct fit_err *err)
{
	r->n_columns = n;
	r->bound = malloc((n ? n : 1) * sizeof *r->bound);
	if (!r->bound)
		return fit_fail_nomem(err);
	for (size_t c = 0; c < n; c++)
		r->bound[c] = fields ? NOT_BOUND : c;
	if (!fields) {
		for (size_t c = 0; c < n; c++)
			if (add_field(r, fit_text_of(names[c]), types ? types[c] : FIT_TEXT, 0))
				return fit_fail_nomem(err);
		return FIT_OK;
	}
	for (size_t f = 0; f < n_fields; f++) {
		size_t c;

		if (add_field(r, fit_text_of(fields[f].name), fields[f].type, fields[f].flags))
			return fit_fail_nomem(err);
		for (c = 0; c < n && strcmp(names[c], fields[f].name) != 0; c++)
			;
		if (c < n)
			r->bound[c] = f;
		else if (!(fields[f].flags & FIT_F_OPTIONAL))
			return missing_column(r, fields[f].name, names, n, err);
	}
	return FIT_OK;
}

/* ---- the head of a TSV table ---- */

static size_t strip_cr(const char *line, size_t n)
{
	return n && line[n - 1] == '\r' ? n - 1 : n;
}

static int next_line(struct fit_reader *r, char **line, size_t *n, struct fit_err *err)
{
	int rc = fit_source_line(r->src, line, n, err);

	if (rc)
		return rc;
	*n = strip_cr(*line, *n);
	if (memchr(*line, '\0', *n))
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "NUL byte (expected text)");
	return FIT_OK;
}

static bool starts_with(const char *line, size_t n, const char *word)
{
	size_t k = strlen(word);

	return n >= k && memcmp(line, word, k) == 0;
}

static int take_types(struct fit_reader *r, struct fit_text v, enum fit_type **types, size_t *n,
		      struct fit_err *err)
{
	size_t cap = 0;

	free(*types);
	*types = NULL;
	*n = 0;
	while (v.n) {
		const char *comma = memchr(v.s, ',', v.n);
		struct fit_text name = { v.s, comma ? (size_t)(comma - v.s) : v.n };

		if (fit_grow(types, &cap, *n + 1, sizeof **types))
			return fit_fail_nomem(err);
		if (fit_type_from_name(name, &(*types)[*n]))
			return fit_reader_fail(r, FIT_EPARSE, NULL, err,
					       "unknown type '%.*s' (expected text, int, real or time)",
					       FIT_TEXT_ARG(name));
		(*n)++;
		v.s += name.n + (comma ? 1 : 0);
		v.n -= name.n + (comma ? 1 : 0);
	}
	return FIT_OK;
}

/* One "#key=value" line. */
static int take_meta(struct fit_reader *r, char *line, size_t n, enum fit_type **types,
		     size_t *n_types, struct fit_err *err)
{
	char *eq = memchr(line, '=', n), *value;
	size_t value_n;
	int rc;

	if (!eq)
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "bad metadata '%.*s' (expected #key=value)",
				       FIT_TEXT_ARG(((struct fit_text){ line, n })));
	*eq = '\0';
	value = eq + 1;
	value_n = (size_t)(line + n - value);
	if (strcmp(line + 1, "types") == 0)
		return take_types(r, (struct fit_text){ value, value_n }, types, n_types, err);
	if (strcmp(line + 1, "table") != 0 && !fit_meta_key_ok(line + 1))
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "bad metadata key '%s' (expected lower-case "
				       "letters, digits and _)", line + 1);
	if (fit_unescape(value, &value_n) || !fit_text_is_utf8((struct fit_text){ value, value_n }))
		return fit_reader_fail(r, FIT_EPARSE, line + 1, err, "bad metadata (expected text in UTF-8, with "
				       "escapes \\t \\n \\r \\\\)");
	value = fit_strdup((struct fit_text){ value, value_n });
	if (!value)
		return fit_fail_nomem(err);
	if (strcmp(line + 1, "table") == 0) {
		free(r->table_name);
		r->table_name = value;
		return FIT_OK;
	}
	rc = fit_meta_add(&r->meta, line + 1, value);
	free(value);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int split_header(struct fit_reader *r, char *line, size_t n, char ***names, size_t *n_names,
			struct fit_err *err)
{
	struct fit_index seen = { 0 };
	size_t cap = 0;
	char *end = line + n;
	int rc = FIT_OK;

	for (char *s = line; !rc; ) {
		char *tab = memchr(s, '\t', (size_t)(end - s));
		size_t len = (size_t)((tab ? tab : end) - s);
		uint32_t before = FIT_NO_INDEX;
		struct fit_text name;

		if (fit_unescape(s, &len)) {
			rc = fit_reader_fail(r, FIT_EPARSE, NULL, err, "bad escape in a column name");
			break;
		}
		name = (struct fit_text){ s, len };
		if (len == 0 || !fit_text_is_utf8(name)) {
			rc = fit_reader_fail(r, FIT_EPARSE, NULL, err, "bad name of column %zu "
					     "(expected text in UTF-8, not empty)", *n_names + 1);
			break;
		}
		if (*n_names == MAX_COLUMNS) {
			rc = fit_reader_fail(r, FIT_EPARSE, NULL, err, "more than %d columns", MAX_COLUMNS);
			break;
		}
		if (fit_index_put(&seen, name, (uint32_t)*n_names, &before) ||
		    fit_grow(names, &cap, *n_names + 1, sizeof **names) ||
		    !((*names)[*n_names] = fit_strdup(name))) {
			rc = fit_fail_nomem(err);
			break;
		}
		(*n_names)++;
		if (before != FIT_NO_INDEX)
			rc = fit_reader_fail(r, FIT_EPARSE, NULL, err, "duplicate column '%.*s'",
					     FIT_TEXT_ARG(name));
		if (!tab)
			break;
		s = tab + 1;
	}
	fit_index_release(&seen);
	return rc;
}

/* Read up to the header row. FIT_END where the stream is over. */
static int begin_tsv(struct fit_reader *r, const struct fit_field *fields, size_t n_fields,
		     struct fit_err *err)
{
	char *line, **names = NULL;
	size_t n, n_names = 0, n_types = 0;
	enum fit_type *types = NULL;
	int rc = next_line(r, &line, &n, err);

	if (rc == FIT_END && r->any)
		return FIT_END;
	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, "%s: empty input (expected a table)", r->input);
	if (rc)
		return rc;
	if (!r->any && starts_with(line, n, "\xef\xbb\xbf")) {
		line += 3;
		n -= 3;
	}
	if (!r->any && starts_with(line, n, "\x89HDF"))
		return fit_fail(err, FIT_EPARSE, "%s: an HDF5 file (expected a name that ends in .h5)",
				r->input);
	r->magic = starts_with(line, n, "#fit-table/");
	/* a stream that was cut inside of its first line */
	if (!r->any && n && n < strlen("#fit-table/1") && memcmp(line, "#fit-table/1", n) == 0)
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "truncated table (expected #fit-table/1)");
	if (r->magic && !(n == strlen("#fit-table/1") && line[n - 1] == '1'))
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "unknown table version '%.*s' "
				       "(expected #fit-table/1)", FIT_TEXT_ARG(((struct fit_text){ line, n })));
	if (r->any && !r->magic)
		return fit_reader_fail(r, FIT_EPARSE, NULL, err,
				       "text after the end of the table (expected #fit-table/1)");
	if (r->magic) {
		do {
			rc = next_line(r, &line, &n, err);
			if (!rc && n && line[0] == '#')
				rc = take_meta(r, line, n, &types, &n_types, err);
			else
				break;
		} while (!rc);
		if (rc == FIT_END)
			rc = fit_fail(err, FIT_EPARSE, "%s:%llu: truncated table (expected a header row)",
				      r->input, (unsigned long long)fit_reader_line(r));
	}
	if (!rc)
		rc = split_header(r, line, n, &names, &n_names, err);
	if (!rc && types && n_types != n_names)
		rc = fit_reader_fail(r, FIT_EPARSE, NULL, err, "%zu columns, but #types has %zu", n_names,
				     n_types);
	r->has_types = types != NULL;
	if (!rc)
		rc = bind(r, names, types, n_names, fields, n_fields, err);
	for (size_t i = 0; i < n_names; i++)
		free(names[i]);
	free(names);
	free(types);
	r->any = true;
	return rc;
}

/* ---- the head of a stored table ---- */

static int begin_store(struct fit_reader *r, const struct fit_field *fields, size_t n_fields,
		       struct fit_err *err)
{
	struct fit_store_request req = { .fields = fields, .n_fields = n_fields, .table = &r->whole };
	struct fit_meta head;
	int rc;

	if (r->next_path == r->paths.n)
		return FIT_END;
	req.path = r->paths.p[r->next_path++];
	rc = fit_store_read_table(&r->image, &req, err);
	if (rc)
		return rc;
	r->table_name = fit_strdup(fit_text_of(r->whole.name));
	/* what stands behind the rows is told there, as for TSV */
	head = (struct fit_meta){ r->whole.meta.pairs, r->whole.meta.n - r->whole.n_end_meta, 0 };
	if (!r->table_name || fit_meta_copy(&r->meta, &head))
		return fit_fail_nomem(err);
	r->has_types = true;
	for (size_t c = 0; c < r->whole.n_columns; c++)
		if (add_field(r, fit_text_of(r->whole.columns[c].name), r->whole.columns[c].type,
			      fields ? fields[c].flags : 0))
			return fit_fail_nomem(err);
	return FIT_OK;
}

int fit_reader_begin(struct fit_reader *r, const struct fit_field *fields, size_t n,
		     struct fit_err *err)
{
	int rc = FIT_OK;

	if (r->where == IN_ROWS && r->src) {
		drop_fields(r);
		for (size_t c = 0; c < r->n_columns; c++)
			r->bound[c] = NOT_BOUND;
		do {
			rc = fit_reader_row(r, NULL, err);
		} while (!rc);
		if (rc != FIT_END)
			return rc;
	}
	drop_table(r);
	r->where = BEFORE_TABLE;
	rc = r->src ? begin_tsv(r, fields, n, err) : begin_store(r, fields, n, err);
	if (rc)
		return rc;
	r->where = IN_ROWS;
	return FIT_OK;
}

/* ---- rows ---- */

static int check_trailer(struct fit_reader *r, const char *line, size_t n, struct fit_err *err)
{
	static const char head[] = "#end rows=";
	struct fit_text count = { line + sizeof head - 1, n - (sizeof head - 1) };
	int64_t rows;

	if (!starts_with(line, n, head) || fit_parse_int64(count, &rows))
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "bad line '%.*s' (expected %s#end rows=N)",
				       FIT_TEXT_ARG(((struct fit_text){ line, n })),
				       r->in_end_meta ? "#key=value or " : "a row or ");
	if ((uint64_t)rows != r->rows)
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "%llu rows, but the trailer says %lld",
				       (unsigned long long)r->rows, (long long)rows);
	return FIT_END;
}

/* Is it "#key=value"? Only such lines may stand between the rows and the trailer. */
static bool is_end_meta(const char *line, size_t n)
{
	size_t k = 1;

	while (k < n && ((line[k] >= 'a' && line[k] <= 'z') || (line[k] >= '0' && line[k] <= '9') ||
			 line[k] == '_'))
		k++;
	return k > 1 && k < n && line[k] == '=' && !starts_with(line, n, "#types=") &&
	       !starts_with(line, n, "#table=");
}

static int bad_cell(const struct fit_reader *r, const struct fit_field *f, struct fit_text t, int rc,
		    struct fit_err *err)
{
	return fit_reader_fail(r, FIT_EPARSE, f->name, err, "%s '%.*s' (expected %s)",
			       rc == FIT_EINVAL ? "out of range" : "bad value", FIT_TEXT_ARG(t),
			       fit_cell_expected(f->type));
}

static int take_cell(const struct fit_reader *r, const struct fit_field *f, char *s, size_t n,
		     struct fit_cell *cell, struct fit_err *err)
{
	struct fit_text t = { s, n };
	int rc;

	if (n == 2 && s[0] == 'N' && s[1] == 'A') {
		*cell = (struct fit_cell){ .na = true };
		if (f->flags & FIT_F_NOT_NA)
			return fit_reader_fail(r, FIT_EDATA, f->name, err, "missing value 'NA' (expected %s)",
					       fit_cell_expected(f->type));
		return FIT_OK;
	}
	if (fit_unescape(s, &n))
		return fit_reader_fail(r, FIT_EPARSE, f->name, err, "bad escape in '%.*s' (expected \\t \\n \\r "
				       "\\\\ \\# or \\N)", FIT_TEXT_ARG(t));
	t.n = n;
	rc = fit_cell_parse(f->type, t, cell);
	return rc ? bad_cell(r, f, t, rc, err) : FIT_OK;
}

static int truncated(const struct fit_reader *r, struct fit_err *err)
{
	return fit_fail(err, FIT_EPARSE, "%s:%llu: truncated table (no #end after %llu rows)", r->input,
			(unsigned long long)fit_reader_line(r), (unsigned long long)r->rows);
}

static int row_tsv(struct fit_reader *r, struct fit_cell *cells, struct fit_err *err)
{
	enum fit_type *no_types = NULL;	/* is_end_meta() lets none through */
	char *line, *s, *end;
	size_t n, c, n_types = 0;
	int rc = next_line(r, &line, &n, err);

	if (rc == FIT_END && r->magic)
		return truncated(r, err);
	if (rc)
		return rc;
	while (r->magic && n && line[0] == '#' && is_end_meta(line, n)) {
		r->in_end_meta = true;
		rc = take_meta(r, line, n, &no_types, &n_types, err);
		rc = rc ? rc : next_line(r, &line, &n, err);
		if (rc == FIT_END)
			return truncated(r, err);
		if (rc)
			return rc;
	}
	if (r->magic && ((n && line[0] == '#') || r->in_end_meta))
		return check_trailer(r, line, n, err);
	for (size_t f = 0; f < r->n_fields; f++)
		cells[f] = (struct fit_cell){ .na = true };
	s = line;
	end = line + n;
	for (c = 0; c < r->n_columns; c++) {
		char *tab = memchr(s, '\t', (size_t)(end - s));
		char *stop = tab ? tab : end;

		if (r->bound[c] != NOT_BOUND) {
			rc = take_cell(r, &r->fields[r->bound[c]], s, (size_t)(stop - s), &cells[r->bound[c]],
				       err);
			if (rc)
				return rc;
		}
		if (!tab)
			break;
		s = tab + 1;
	}
	if (c + 1 != r->n_columns) {
		size_t found = 1;

		for (const char *p = line; (p = memchr(p, '\t', (size_t)(end - p))); p++)
			found++;
		return fit_reader_fail(r, FIT_EPARSE, NULL, err, "%zu fields (expected %zu)", found,
				       r->n_columns);
	}
	r->rows++;
	return FIT_OK;
}

static int row_store(struct fit_reader *r, struct fit_cell *cells, struct fit_err *err)
{
	if (r->rows == r->whole.n_rows) {
		const struct fit_meta *all = &r->whole.meta;
		struct fit_meta end = { all->pairs ? all->pairs + r->meta.n : NULL, all->n - r->meta.n, 0 };

		return end.n && fit_meta_copy(&r->meta, &end) ? fit_fail_nomem(err) : FIT_END;
	}
	for (size_t c = 0; c < r->n_fields; c++)
		cells[c] = fit_column_cell(&r->whole.columns[c], (size_t)r->rows);
	r->rows++;
	for (size_t c = 0; c < r->n_fields; c++)
		if (cells[c].na && (r->fields[c].flags & FIT_F_NOT_NA))
			return fit_reader_fail(r, FIT_EDATA, r->fields[c].name, err, "missing value 'NA' "
					       "(expected %s)", fit_cell_expected(r->fields[c].type));
	return FIT_OK;
}

int fit_reader_row(struct fit_reader *r, struct fit_cell *cells, struct fit_err *err)
{
	int rc;

	if (r->where != IN_ROWS)
		return FIT_END;
	rc = r->src ? row_tsv(r, cells, err) : row_store(r, cells, err);
	if (rc)
		r->where = AFTER_ROWS;
	return rc;
}

int fit_reader_skip(struct fit_reader *r, struct fit_err *err)
{
	/* the columns of one table need not be those of the next: bind nothing */
	static const struct fit_field none[1];
	int rc;

	if (!r->src)
		return FIT_END;
	rc = fit_reader_begin(r, none, 0, err);
	while (!rc)
		rc = fit_reader_row(r, NULL, err);
	return rc == FIT_END && r->where == AFTER_ROWS ? FIT_OK : rc;
}

int fit_reader_only(struct fit_reader *r, struct fit_err *err)
{
	int rc = r->src ? fit_reader_skip(r, err) : r->next_path < r->paths.n ? FIT_OK : FIT_END;

	if (!rc)
		rc = fit_fail(err, FIT_EDATA, "%s: more than one table (expected one)", r->input);
	return rc == FIT_END ? FIT_OK : rc;
}

/* ---- about the current table ---- */

const char *fit_reader_table_name(const struct fit_reader *r)
{
	return r->table_name ? r->table_name : "";
}

const struct fit_meta *fit_reader_meta(const struct fit_reader *r)
{
	return &r->meta;
}

bool fit_reader_has_types(const struct fit_reader *r)
{
	return r->has_types;
}

size_t fit_reader_n_columns(const struct fit_reader *r)
{
	return r->n_fields;
}

const struct fit_field *fit_reader_columns(const struct fit_reader *r)
{
	return r->fields;
}

void fit_reader_hash(const struct fit_reader *r, char out[FIT_HASH_HEX])
{
	if (r->src)
		fit_source_hash(r->src, out);
	else
		memcpy(out, r->whole.columns ? r->whole.hash : r->image.hash, FIT_HASH_HEX);
}
