/* SPDX-License-Identifier: MIT */
/* Plans of sweeps: the tables that they are written as. */
#include "tools/sweep_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- writing ---- */

static const struct fit_field input_fields[] = {
	{ "hash", FIT_TEXT, FIT_F_NOT_NA }, { "name", FIT_TEXT, FIT_F_NOT_NA }, { "needs", FIT_TEXT, 0 },
	{ "command", FIT_TEXT, FIT_F_NOT_NA }, { "result", FIT_TEXT, FIT_F_NOT_NA },
};
static const struct fit_field file_fields[] = {
	{ "file", FIT_TEXT, FIT_F_NOT_NA }, { "kind", FIT_TEXT, FIT_F_NOT_NA }, { "hash", FIT_TEXT, FIT_F_NOT_NA },
};
/* Behind the axes. */
static const char *const row_columns[] = { "hash", "needs", "replay", "metrics", "result" };
enum { R_HASH, R_NEEDS, R_REPLAY, R_METRICS, R_RESULT, N_ROW };

/* The hashes of inputs, separated by commas, or NA. */
static int put_needs(struct fit_writer *w, const struct sweep_plan *p, const size_t *needs, size_t n,
		     struct fit_err *err)
{
	struct fit_str s = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = fit_str_printf(&s, "%s%s", i ? "," : "", p->inputs[needs[i]].hash);
	if (n && !rc)
		fit_writer_str(w, s.s);
	else
		fit_writer_na(w);
	fit_str_release(&s);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int write_rows(const struct sweep_plan *p, const struct fit_meta *meta, struct fit_writer *w,
		      struct fit_err *err)
{
	size_t n = 1 + p->n_axes + N_ROW;
	struct fit_field *fields = calloc(n, sizeof *fields);
	int rc = fields ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < n && !rc; i++)
		fields[i] = (struct fit_field){ !i ? "row" : i <= p->n_axes ? p->axes[i - 1] :
						row_columns[i - 1 - p->n_axes], i ? FIT_TEXT : FIT_INT, 0 };
	rc = rc ? rc : fit_writer_begin(w, "replays", meta, fields, n, err);
	for (size_t r = 0; r < p->n_rows && !rc; r++) {
		const struct sweep_row *row = &p->rows[r];

		fit_writer_int(w, (int64_t)r + 1);
		for (size_t i = 0; i < p->n_axes; i++)
			fit_writer_str(w, row->values[i]);
		fit_writer_str(w, row->hash);
		rc = put_needs(w, p, row->needs, row->n_needs, err);
		fit_writer_str(w, row->replay);
		fit_writer_str(w, row->metrics);
		fit_writer_str(w, row->result);
		rc = rc ? rc : fit_writer_end_row(w, err);
	}
	free(fields);
	return rc ? rc : fit_writer_end(w, err);
}

int sweep_plan_write(const struct sweep_plan *p, const struct fit_meta *meta, struct fit_writer *w,
		     struct fit_err *err)
{
	int rc = write_rows(p, meta, w, err);

	rc = rc ? rc : fit_writer_begin(w, "inputs", NULL, input_fields, COUNT(input_fields), err);
	for (size_t i = 0; i < p->n_inputs && !rc; i++) {
		const struct sweep_input *in = &p->inputs[i];

		fit_writer_str(w, in->hash);
		fit_writer_str(w, in->name);
		rc = put_needs(w, p, in->needs, in->n_needs, err);
		fit_writer_str(w, in->command);
		fit_writer_str(w, in->result);
		rc = rc ? rc : fit_writer_end_row(w, err);
	}
	rc = rc ? rc : fit_writer_end(w, err);
	rc = rc ? rc : fit_writer_begin(w, "files", NULL, file_fields, COUNT(file_fields), err);
	for (size_t i = 0; i < p->files.n && !rc; i++) {
		fit_writer_str(w, p->files.files[i].name);
		fit_writer_str(w, p->files.files[i].program ? "program" : "file");
		fit_writer_str(w, p->files.files[i].hash);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- reading ---- */

static bool is_hash(struct fit_text t)
{
	if (t.n != FIT_HASH_HEX - 1)
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (!strchr("0123456789abcdef", t.s[i]) || !t.s[i])
			return false;
	return true;
}

static int next_table(struct fit_table *t, struct fit_reader *r, const char *name,
		      const struct fit_field *fields,
		      size_t n, struct fit_err *err)
{
	int rc = fit_table_read_next(t, r, fields, n, err);

	if (rc == FIT_END)
		return fit_fail(err, FIT_EDATA, "%s: no table '%s' (expected a plan of gf-sweep)",
				fit_reader_input(r), name);
	if (!rc && strcmp(t->name, name) != 0) {
		rc = fit_fail(err, FIT_EDATA, "%s: table '%.100s' (expected '%s', of a plan of gf-sweep)",
			      fit_reader_input(r), t->name, name);
		fit_table_release(t);
	}
	return rc;
}

/* A text cell that must be there. */
static int get_text(const struct fit_table *t, size_t row, const char *column, struct fit_text *text,
		    struct fit_err *err)
{
	const struct fit_column *c = fit_table_column(t, column);

	if (!c || c->type != FIT_TEXT)
		return fit_table_fail(t, row, FIT_EDATA, column, err, "no such column of texts (expected a plan of "
				      "gf-sweep)");
	*text = fit_column_text(c, row);
	return text->n ? FIT_OK : fit_table_fail(t, row, FIT_EDATA, column, err, "missing");
}

static int get_copy(const struct fit_table *t, size_t row, const char *column, char **copy,
		    struct fit_err *err)
{
	struct fit_text text = { 0 };
	int rc = get_text(t, row, column, &text, err);

	if (rc)
		return rc;
	*copy = fit_strdup(text);
	return *copy ? FIT_OK : fit_fail_nomem(err);
}

static int get_hash(const struct fit_table *t, size_t row, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_text text = { 0 };
	int rc = get_text(t, row, "hash", &text, err);

	if (rc)
		return rc;
	if (!is_hash(text))
		return fit_table_fail(t, row, FIT_EDATA, "hash", err, "bad hash '%.*s' (expected 32 digits 0-9a-f)",
				      FIT_TEXT_ARG(text));
	memcpy(hash, text.s, text.n);
	hash[text.n] = '\0';
	return FIT_OK;
}

/* A command line of that program; with "gf-", of any tool. */
static int get_command(const struct fit_table *t, size_t row, const char *column, const char *program,
		       char **line, struct fit_err *err)
{
	struct sweep_words words = { 0 };
	size_t n = strlen(program);
	struct fit_err why;
	int rc = get_copy(t, row, column, line, err);
	bool good = !rc && !sweep_words_split(&words, fit_text_of(*line), &why) && words.n &&
		    (program[n - 1] == '-' ? strncmp(words.w[0], program, n) == 0 && !strchr(words.w[0], '/') :
					     strcmp(words.w[0], program) == 0);

	sweep_words_release(&words);
	if (!rc && !good)
		rc = fit_table_fail(t, row, FIT_EDATA, column, err, "bad command '%.100s' (expected words, %s%s first)",
				    *line, program, program[n - 1] == '-' ? "…" : "");
	return rc;
}

/* needs: hashes of inputs whose numbers are below limit. */
static int get_needs(const struct sweep_plan *p, const struct fit_table *t, size_t row, size_t limit,
		     size_t **needs,
		     size_t *n, struct fit_err *err)
{
	const struct fit_column *c = fit_table_column(t, "needs");
	struct fit_text all = c && c->type == FIT_TEXT ? fit_column_text(c, row) : (struct fit_text){ 0 };

	for (size_t at = 0; at < all.n; ) {
		const char *comma = memchr(all.s + at, ',', all.n - at);
		struct fit_text one = { all.s + at, comma ? (size_t)(comma - all.s) - at : all.n - at };
		uint32_t found = fit_index_get(&p->by_hash, one);

		if (found == FIT_NO_INDEX || found >= limit)
			return fit_table_fail(t, row, FIT_EDATA, "needs", err, "'%.*s' is no input that is made before",
					      FIT_TEXT_ARG(one));
		if (sweep_add_need(needs, n, found))
			return fit_fail_nomem(err);
		at += one.n + 1;
	}
	return FIT_OK;
}

static int read_inputs(struct sweep_plan *p, const struct fit_table *t, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct sweep_input *in = sweep_plan_new_input(p);
		uint32_t found;

		if (!in)
			return fit_fail_nomem(err);
		rc = get_hash(t, i, in->hash, err);
		rc = rc ? rc : get_copy(t, i, "name", &in->name, err);
		rc = rc ? rc : get_command(t, i, "command", "gf-", &in->command, err);
		rc = rc ? rc : get_copy(t, i, "result", &in->result, err);
		rc = rc ? rc : sweep_plan_check_name(in->result, in->hash, t, i, err);
		rc = rc ? rc : get_needs(p, t, i, i, &in->needs, &in->n_needs, err);
		if (!rc && fit_index_put(&p->by_hash, fit_text_of(in->hash), (uint32_t)i, &found))
			rc = fit_fail_nomem(err);
		else if (!rc && found != FIT_NO_INDEX)
			rc = fit_table_fail(t, i, FIT_EDATA, "hash", err, "is there twice");
	}
	return rc;
}

static int read_files(struct sweep_plan *p, const struct fit_table *t, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct sweep_file *f;
		struct fit_text kind = { 0 };

		if (fit_grow(&p->files.files, &p->files.cap, p->files.n + 1, sizeof *p->files.files))
			return fit_fail_nomem(err);
		f = &p->files.files[p->files.n++];
		*f = (struct sweep_file){ .name = NULL };
		rc = get_copy(t, i, "file", &f->name, err);
		rc = rc ? rc : get_text(t, i, "kind", &kind, err);
		f->program = !rc && fit_text_is(kind, "program");
		if (!rc && !f->program && !fit_text_is(kind, "file"))
			rc = fit_table_fail(t, i, FIT_EDATA, "kind", err, "unknown value '%.*s' (expected program, file)",
					    FIT_TEXT_ARG(kind));
		rc = rc ? rc : get_hash(t, i, f->hash, err);
	}
	return rc;
}

static bool is_axis(const char *column)
{
	if (strcmp(column, "row") == 0)
		return false;
	for (size_t i = 0; i < N_ROW; i++)
		if (strcmp(column, row_columns[i]) == 0)
			return false;
	return true;
}

static int read_axes(struct sweep_plan *p, const struct fit_table *t, struct fit_err *err)
{
	p->axes = calloc(t->n_columns + 1, sizeof *p->axes);
	if (!p->axes)
		return fit_fail_nomem(err);
	for (size_t c = 0; c < t->n_columns; c++) {
		if (!is_axis(t->columns[c].name))
			continue;
		p->axes[p->n_axes] = fit_strdup(fit_text_of(t->columns[c].name));
		if (!p->axes[p->n_axes])
			return fit_fail_nomem(err);
		p->n_axes++;
	}
	return FIT_OK;
}

static int read_row(struct sweep_plan *p, const struct fit_table *t, size_t i, struct fit_err *err)
{
	struct sweep_row *row = sweep_plan_new_row(p);
	char number[FIT_NUM_MAX];
	int rc = FIT_OK;

	if (!row)
		return fit_fail_nomem(err);
	for (size_t a = 0; a < p->n_axes; a++) {
		const struct fit_column *c = fit_table_column(t, p->axes[a]);
		struct fit_cell cell = fit_column_cell(c, i);
		struct fit_text text = sweep_cell_text(&cell, c->type, number);

		row->values[a] = text.s ? fit_strdup(text) : NULL;
		if (text.s && !row->values[a])
			return fit_fail_nomem(err);
	}
	rc = get_hash(t, i, row->hash, err);
	rc = rc ? rc : get_command(t, i, "replay", "gf-replay", &row->replay, err);
	rc = rc ? rc : get_command(t, i, "metrics", "gf-metrics", &row->metrics, err);
	rc = rc ? rc : get_copy(t, i, "result", &row->result, err);
	rc = rc ? rc : sweep_plan_check_name(row->result, row->hash, t, i, err);
	rc = rc ? rc : get_needs(p, t, i, p->n_inputs, &row->needs, &row->n_needs, err);
	return rc ? rc : sweep_plan_check(p, row, t, i, err);
}

int sweep_plan_read(struct sweep_plan *p, const char *operand, struct fit_err *err)
{
	struct fit_table rows = { 0 }, inputs = { 0 }, files = { 0 };
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*p = (struct sweep_plan){ 0 };
	if (rc)
		return rc;
	snprintf(p->input, sizeof p->input, "%s", fit_reader_input(r));
	rc = next_table(&rows, r, "replays", NULL, 0, err);
	rc = rc ? rc : next_table(&inputs, r, "inputs", input_fields, COUNT(input_fields), err);
	rc = rc ? rc : next_table(&files, r, "files", file_fields, COUNT(file_fields), err);
	rc = rc ? rc : fit_reader_only(r, err);
	if (!rc)
		fit_reader_hash(r, p->hash);
	rc = rc ? rc : read_axes(p, &rows, err);
	rc = rc ? rc : read_inputs(p, &inputs, err);
	rc = rc ? rc : read_files(p, &files, err);
	rc = rc ? rc : sweep_plan_check_inputs(p, &rows, &inputs, err);
	for (size_t i = 0; i < rows.n_rows && !rc; i++)
		rc = read_row(p, &rows, i, err);
	if (!rc && !p->n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", p->input);
	fit_reader_close(r);
	fit_table_release(&rows);
	fit_table_release(&inputs);
	fit_table_release(&files);
	if (rc)
		sweep_plan_release(p);
	return rc;
}
