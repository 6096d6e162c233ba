/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "libfit/table/cell.h"
#include "libfit/table/table.h"

#define FLUSH_AT ((size_t)1 << 16)

struct fit_writer {
	unsigned flags;
	bool in_table;
	size_t tables;			/* finished so far */
	struct fit_field *fields;	/* of the current table; names are owned */
	size_t n_fields;
	size_t at;			/* cells of the current row so far */
	uint64_t rows;
	struct fit_err fault;		/* sticks until end_row() */
	/* TSV */
	int fd;
	char *dest, *tmp, *target;	/* tmp NULL: written directly */
	struct fit_str buf;
	bool silent;			/* tables after the first under FIT_W_NO_META */
	/* store: tables wait until close() */
	char *file, *path;
	struct fit_table *collected;
	size_t cap_collected;
	struct fit_cell *cells;
	struct fit_str row_text;	/* texts of the current row, one after another */
};

static void drop_fields(struct fit_writer *w)
{
	for (size_t i = 0; i < w->n_fields; i++)
		free((void *)(uintptr_t)w->fields[i].name);
	free(w->fields);
	free(w->cells);
	w->fields = NULL;
	w->cells = NULL;
	w->n_fields = 0;
}

static void free_writer(struct fit_writer *w)
{
	drop_fields(w);
	for (size_t i = 0; i < w->tables + (w->in_table ? 1 : 0) && w->collected; i++)
		fit_table_release(&w->collected[i]);
	free(w->collected);
	fit_str_release(&w->buf);
	fit_str_release(&w->row_text);
	free(w->dest);
	free(w->tmp);
	free(w->target);
	free(w->file);
	free(w->path);
	free(w);
}

void fit_writer_abort(struct fit_writer *w)
{
	if (!w)
		return;
	if (w->fd > STDERR_FILENO)
		close(w->fd);
	if (w->tmp)
		unlink(w->tmp);
	free_writer(w);
}

static int open_file(struct fit_writer *w, const char *dest, struct fit_err *err)
{
	w->dest = fit_strdup(fit_text_of(dest));
	return w->dest ? fit_dest_open(dest, &w->fd, &w->tmp, &w->target, err) :
	       fit_fail_nomem(err);
}

int fit_writer_open(struct fit_writer **out, const char *dest, unsigned flags, struct fit_err *err)
{
	struct fit_writer *w = calloc(1, sizeof *w);
	int rc = FIT_OK;

	*out = NULL;
	if (!w)
		return fit_fail_nomem(err);
	w->flags = flags;
	w->fd = -1;
	if (!dest || strcmp(dest, "-") == 0)
		w->fd = STDOUT_FILENO;
	else if (fit_is_store(dest))
		rc = fit_store_split(dest, &w->file, &w->path, err);
	else
		rc = open_file(w, dest, err);
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	*out = w;
	return FIT_OK;
}

static int flush(struct fit_writer *w, struct fit_err *err)
{
	size_t at = 0;

	while (at < w->buf.n) {
		ssize_t k = write(w->fd, w->buf.s + at, w->buf.n - at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fit_fail_errno(err, "%s: cannot write", w->dest ? w->dest : "standard output");
		at += (size_t)k;
	}
	fit_str_clear(&w->buf);
	return FIT_OK;
}

/* ---- the head of a table ---- */

static int put_pair(struct fit_str *b, const struct fit_meta_pair *pair)
{
	int rc = fit_str_printf(b, "#%s=", pair->key);

	rc = rc ? rc : fit_escape(b, fit_text_of(pair->value), false);
	return rc ? rc : fit_str_puts(b, "\n");
}

static int head_tsv(struct fit_writer *w, const char *name, const struct fit_meta *meta)
{
	struct fit_str *b = &w->buf;
	int rc = FIT_OK;

	w->silent = (w->flags & FIT_W_NO_META) && w->tables > 0;
	if (w->silent)
		return FIT_OK;
	if (!(w->flags & FIT_W_NO_META)) {
		rc = fit_str_puts(b, "#fit-table/1\n");
		if (!rc && name && *name) {
			rc = fit_str_puts(b, "#table=");
			rc = rc ? rc : fit_escape(b, fit_text_of(name), false);
			rc = rc ? rc : fit_str_puts(b, "\n");
		}
		for (size_t i = 0; meta && i < meta->n && !rc; i++)
			rc = put_pair(b, &meta->pairs[i]);
		for (size_t i = 0; i < w->n_fields && !rc; i++)
			rc = fit_str_printf(b, "%s%s", i ? "," : "#types=", fit_type_name(w->fields[i].type));
		rc = rc ? rc : fit_str_puts(b, "\n");
	}
	for (size_t i = 0; i < w->n_fields && !rc; i++) {
		rc = i ? fit_str_puts(b, "\t") : FIT_OK;
		rc = rc ? rc : fit_escape(b, fit_text_of(w->fields[i].name), i == 0);
	}
	return rc ? rc : fit_str_puts(b, "\n");
}

static int head_store(struct fit_writer *w, const char *name, const struct fit_meta *meta,
		      struct fit_err *err)
{
	struct fit_table *t;
	int rc;

	if (fit_grow(&w->collected, &w->cap_collected, w->tables + 1, sizeof *w->collected))
		return fit_fail_nomem(err);
	t = &w->collected[w->tables];
	rc = fit_table_init(t, name, w->fields, w->n_fields, err);
	if (!rc && meta && fit_meta_copy(&t->meta, meta)) {
		fit_table_release(t);
		rc = fit_fail_nomem(err);
	}
	w->cells = calloc(w->n_fields ? w->n_fields : 1, sizeof *w->cells);
	if (!rc && !w->cells) {
		fit_table_release(t);
		rc = fit_fail_nomem(err);
	}
	return rc;
}

static int check_keys(const struct fit_meta *meta, struct fit_err *err)
{
	for (size_t i = 0; meta && i < meta->n; i++)
		if (!fit_meta_key_ok(meta->pairs[i].key))
			return fit_fail(err, FIT_EINVAL, "bad metadata key '%s' (expected lower-case letters, "
					"digits and _)", meta->pairs[i].key);
	return FIT_OK;
}

int fit_writer_begin(struct fit_writer *w, const char *name, const struct fit_meta *meta,
		     const struct fit_field *fields, size_t n, struct fit_err *err)
{
	int rc;

	rc = check_keys(meta, err);
	if (rc)
		return rc;
	drop_fields(w);
	w->fields = calloc(n ? n : 1, sizeof *w->fields);
	if (!w->fields)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		w->fields[i] = fields[i];
		w->fields[i].name = fit_strdup(fit_text_of(fields[i].name));
		if (!w->fields[i].name)
			return fit_fail_nomem(err);
		w->n_fields++;
	}
	w->rows = 0;
	w->at = 0;
	w->fault.code = FIT_OK;
	if (w->file) {
		rc = head_store(w, name, meta, err);
	} else {
		rc = head_tsv(w, name, meta) ? fit_fail_nomem(err) : FIT_OK;
	}
	w->in_table = !rc;
	return rc;
}

/* ---- cells ---- */

/* A cell as TSV, with the tab before it; numbers are written where they stay. */
static int put_cell(struct fit_str *b, enum fit_type type, const struct fit_cell *c, bool first)
{
	if (fit_grow(&b->s, &b->cap, b->n + FIT_NUM_MAX + 2, 1))
		return FIT_ENOMEM;
	if (!first)
		b->s[b->n++] = '\t';
	if (c->na) {
		memcpy(b->s + b->n, "NA", 3);
		b->n += 2;
	} else if (type != FIT_TEXT) {
		b->n += fit_cell_format(type, c, b->s + b->n);
	} else {
		b->s[b->n] = '\0';
		return fit_escape(b, c->u.t, first);
	}
	return FIT_OK;
}

void fit_writer_cell(struct fit_writer *w, enum fit_type type, const struct fit_cell *c)
{
	int rc = FIT_OK;

	if (w->fault.code)
		return;
	if (w->at == w->n_fields) {
		fit_fail(&w->fault, FIT_EINVAL, "more cells than columns in a row");
		return;
	}
	if (type != w->fields[w->at].type && !c->na) {
		fit_fail(&w->fault, FIT_EINVAL, "column '%s' is %s, not %s", w->fields[w->at].name,
			 fit_type_name(w->fields[w->at].type), fit_type_name(type));
		return;
	}
	/* what no reader would take back */
	if (!c->na && (type == FIT_TEXT ? c->u.t.n && !fit_text_is_utf8(c->u.t) :
		       type != FIT_REAL && c->u.i == FIT_INT_NA)) {
		fit_fail(&w->fault, FIT_EDATA, "bad value '%.*s' in column '%s' (expected %s)",
			 FIT_TEXT_ARG(type == FIT_TEXT ? c->u.t : FIT_TEXT_LIT("-2^63")), w->fields[w->at].name,
			 fit_cell_expected(type));
		return;
	}
	if (w->file) {
		w->cells[w->at] = *c;
		/* keep the bytes until end_row(): offsets now, pointers then */
		if (type == FIT_TEXT && !c->na) {
			w->cells[w->at].u.t.s = NULL;
			rc = fit_str_add(&w->row_text, c->u.t.s ? c->u.t.s : "", c->u.t.n);
		}
	} else if (!w->silent) {
		rc = put_cell(&w->buf, type, c, w->at == 0);
	}
	w->at++;
	if (rc)
		fit_fail_nomem(&w->fault);
}

void fit_writer_text(struct fit_writer *w, struct fit_text t)
{
	fit_writer_cell(w, FIT_TEXT, &(struct fit_cell){ .u.t = t });
}

void fit_writer_str(struct fit_writer *w, const char *s)
{
	if (s)
		fit_writer_text(w, fit_text_of(s));
	else
		fit_writer_na(w);
}

void fit_writer_int(struct fit_writer *w, int64_t v)
{
	fit_writer_cell(w, FIT_INT, &(struct fit_cell){ .u.i = v });
}

void fit_writer_real(struct fit_writer *w, double v)
{
	fit_writer_cell(w, FIT_REAL, &(struct fit_cell){ .na = fit_real_is_na(v), .u.d = v });
}

void fit_writer_real_or_na(struct fit_writer *w, double v)
{
	fit_writer_cell(w, FIT_REAL, &(struct fit_cell){ .na = isnan(v), .u.d = v });
}

void fit_writer_time(struct fit_writer *w, int64_t ns)
{
	fit_writer_cell(w, FIT_TIME, &(struct fit_cell){ .u.i = ns });
}

void fit_writer_na(struct fit_writer *w)
{
	fit_writer_cell(w, FIT_TEXT, &(struct fit_cell){ .na = true });
}

int fit_writer_end_row(struct fit_writer *w, struct fit_err *err)
{
	int rc = FIT_OK;

	if (!w->fault.code && w->at != w->n_fields)
		fit_fail(&w->fault, FIT_EINVAL, "%zu cells in a row of %zu columns", w->at, w->n_fields);
	if (w->fault.code) {
		if (err)
			*err = w->fault;
		return w->fault.code;
	}
	if (w->file) {
		size_t at = 0;

		for (size_t i = 0; i < w->n_fields; i++) {
			if (w->fields[i].type != FIT_TEXT || w->cells[i].na)
				continue;
			w->cells[i].u.t.s = w->row_text.s ? w->row_text.s + at : "";
			at += w->cells[i].u.t.n;
		}
		rc = fit_table_add(&w->collected[w->tables], w->cells);
		fit_str_clear(&w->row_text);
	} else if (!w->silent) {
		rc = fit_str_puts(&w->buf, "\n");
	}
	w->at = 0;
	w->rows++;
	if (rc)
		return fit_fail_nomem(err);
	return w->buf.n >= FLUSH_AT ? flush(w, err) : FIT_OK;
}

/* ---- a whole row ---- */

int fit_writer_row(struct fit_writer *w, const struct fit_cell *cells, struct fit_err *err)
{
	struct fit_str *b = &w->buf;
	bool easy = !w->file && !w->silent && !w->at && !w->fault.code &&
		    fit_row_put(b, w->fields, cells, w->n_fields);

	if (!easy) {
		for (size_t i = 0; i < w->n_fields; i++)
			fit_writer_cell(w, w->fields[i].type, &cells[i]);
		return fit_writer_end_row(w, err);
	}
	w->rows++;
	return b->n >= FLUSH_AT ? flush(w, err) : FIT_OK;
}

int fit_writer_end_meta(struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	int rc = check_keys(meta, err);

	if (rc)
		return rc;
	if (w->file) {
		rc = fit_meta_copy(&w->collected[w->tables].meta, meta);
		w->collected[w->tables].n_end_meta += meta->n;
	}
	for (size_t i = 0; !w->file && !(w->flags & FIT_W_NO_META) && i < meta->n && !rc; i++)
		rc = put_pair(&w->buf, &meta->pairs[i]);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

int fit_writer_end(struct fit_writer *w, struct fit_err *err)
{
	int rc = FIT_OK;

	if (!w->file && !(w->flags & FIT_W_NO_META) &&
	    fit_str_printf(&w->buf, "#end rows=%llu\n", (unsigned long long)w->rows))
		rc = fit_fail_nomem(err);
	w->in_table = false;
	w->tables++;
	return rc;
}

/* ---- the end ---- */

/* The path of collected table i: the operand's own path for the first, below it for the others;
 * without one, the tables' names. */
static int store_path(const struct fit_writer *w, size_t i, char **out, struct fit_err *err)
{
	const char *name = w->collected[i].name;
	struct fit_str p = { 0 };
	int rc;

	if (!*name && i)
		return fit_fail(err, FIT_EINVAL, "%s: a further table without a name", w->file);
	if (w->path)
		rc = i ? fit_str_printf(&p, "%s/%s", w->path, name) : fit_str_puts(&p, w->path);
	else
		rc = fit_str_printf(&p, "/%s", *name ? name : "table");
	*out = p.s;
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int close_store(struct fit_writer *w, struct fit_err *err)
{
	char **paths = calloc(w->tables ? w->tables : 1, sizeof *paths);
	const struct fit_table **tables = calloc(w->tables ? w->tables : 1, sizeof *tables);
	int rc = paths && tables ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < w->tables && !rc; i++) {
		tables[i] = &w->collected[i];
		rc = store_path(w, i, &paths[i], err);
	}
	if (!rc)
		rc = fit_store_write(w->file, (const char *const *)paths, tables, w->tables, err);
	for (size_t i = 0; paths && i < w->tables; i++)
		free(paths[i]);
	free(paths);
	free(tables);
	return rc;
}

static int close_tsv(struct fit_writer *w, struct fit_err *err)
{
	int fd = w->fd, rc = flush(w, err);

	if (rc || fd == STDOUT_FILENO)
		return rc;
	w->fd = -1;
	if (close(fd))
		return fit_fail_errno(err, "%s: cannot write", w->dest);
	if (w->tmp && rename(w->tmp, w->target))
		return fit_fail_errno(err, "%s: cannot rename into place", w->dest);
	free(w->tmp);
	w->tmp = NULL;
	return FIT_OK;
}

int fit_writer_close(struct fit_writer *w, struct fit_err *err)
{
	int rc = w->file ? close_store(w, err) : close_tsv(w, err);

	fit_writer_abort(w);
	return rc;
}
