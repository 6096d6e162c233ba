/* SPDX-License-Identifier: MIT */
/*
 * The table readers on any bytes: as a TSV stream (plain, gzip or zstd), row by row and whole, and as
 * an HDF5 store. What was read from TSV is written and read again, and must come back the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/table/store.h"
#include "libfit/table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_cell(enum fit_type type, const struct fit_cell *a, const struct fit_cell *b)
{
	if (a->na || b->na)
		return a->na && b->na;
	if (type == FIT_TEXT)
		return fit_text_eq(a->u.t, b->u.t);
	return memcmp(&a->u.i, &b->u.i, sizeof a->u.i) == 0;
}

static void must_be_same(const struct fit_table *a, const struct fit_table *b)
{
	if (a->n_rows != b->n_rows || a->n_columns != b->n_columns || strcmp(a->name, b->name) != 0 ||
	    a->meta.n != b->meta.n || a->n_end_meta != b->n_end_meta)
		abort();
	for (size_t i = 0; i < a->meta.n; i++)
		if (strcmp(a->meta.pairs[i].key, b->meta.pairs[i].key) != 0 ||
		    strcmp(a->meta.pairs[i].value, b->meta.pairs[i].value) != 0)
			abort();
	for (size_t c = 0; c < a->n_columns; c++) {
		if (a->columns[c].type != b->columns[c].type || strcmp(a->columns[c].name, b->columns[c].name) != 0)
			abort();
		for (size_t r = 0; r < a->n_rows; r++) {
			struct fit_cell x = fit_column_cell(&a->columns[c], r);
			struct fit_cell y = fit_column_cell(&b->columns[c], r);

			if (!same_cell(a->columns[c].type, &x, &y))
				abort();
		}
	}
}

/* Through a temporary file, because the writer has no other destination. */
static void round_trip(const struct fit_table *t)
{
	const char *tmp = getenv("TMPDIR");
	char path[300];
	struct fit_writer *w = NULL;
	struct fit_table back = { 0 };
	struct fit_err err;
	int fd, rc;

	snprintf(path, sizeof path, "%s/fuzz-table-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return;
	rc = fit_writer_open(&w, path, 0, &err);
	rc = rc ? rc : fit_table_write(t, w, &err);
	if (rc)
		fit_writer_abort(w);
	else
		rc = fit_writer_close(w, &err);
	if (!rc && fit_table_read(&back, path, NULL, 0, &err) == FIT_OK) {
		must_be_same(t, &back);
		fit_table_release(&back);
	} else if (!rc) {
		abort();
	}
	remove(path);
	close(fd);
}

static void read_tsv(const uint8_t *data, size_t size)
{
	struct fit_reader *r;
	struct fit_err err;
	int rc = fit_reader_open_memory(&r, "input", data, size, &err);

	while (!rc) {
		struct fit_table t = { 0 };

		rc = fit_table_read_next(&t, r, NULL, 0, &err);
		if (!rc)
			round_trip(&t);
		fit_table_release(&t);
	}
	fit_reader_close(r);
}

/* As a replay reads a jobs table: bound columns, the rest passed over. */
static void read_fields(const uint8_t *data, size_t size)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, FIT_F_NOT_NA }, { "submit_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
		{ "batch_size", FIT_INT, FIT_F_OPTIONAL }
	};
	struct fit_cell cells[4];
	struct fit_reader *r;
	struct fit_err err;
	int rc = fit_reader_open_memory(&r, "input", data, size, &err);

	while (!rc && (rc = fit_reader_begin(r, fields, 4, &err)) == FIT_OK) {
		while (!rc)
			rc = fit_reader_row(r, cells, &err);
		rc = rc == FIT_END ? FIT_OK : rc;
	}
	fit_reader_close(r);
}

static void read_store(const uint8_t *data, size_t size)
{
	struct fit_store_image im;
	struct fit_store_paths paths = { 0 };
	struct fit_err err;
	unsigned char *copy = malloc(size ? size : 1);
	int rc;

	if (!copy)
		return;
	memcpy(copy, data, size);
	rc = fit_store_load_bytes(&im, "input", copy, size, &err);
	/* HDF5 itself dies of some damaged files: it gets to see sealed ones only (store_bytes.c) */
	if (!rc && !im.sealed)
		rc = FIT_EPARSE;
	rc = rc ? rc : fit_store_open(&im, &err);
	rc = rc ? rc : fit_store_paths(&im, &paths, &err);
	for (size_t i = 0; i < paths.n && !rc; i++) {
		struct fit_table t = { 0 };
		struct fit_store_request req = { .path = paths.p[i], .table = &t };

		if (fit_store_read_table(&im, &req, &err) == FIT_OK)
			fit_table_release(&t);
	}
	fit_store_paths_release(&paths);
	fit_store_release(&im);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_tsv(data, size);
	read_fields(data, size);
	read_store(data, size);
	return 0;
}
