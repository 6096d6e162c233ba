/* SPDX-License-Identifier: MIT */
/*
 * The table: what every goodfit tool reads and writes.
 *
 * A table has named, typed columns, rows, and metadata (ordered key=value pairs). It has two
 * encodings, the TSV stream `fit-table/1` and a group in an HDF5 store (docs/man/fit-table.5), and
 * this header hides which one is in use:
 *
 *   operand "-"              standard input or output
 *   operand "file.tsv"       a TSV stream (reading: plain, gzip or zstd)
 *   operand "store.h5:/path" the table /path inside an HDF5 store
 *   operand "store.h5"       reading: the store's only table, or an error that lists them
 *
 * There are two ways in and out: row by row (struct fit_reader, struct fit_writer), in constant
 * memory for TSV, and whole (struct fit_table, at the end). Both give the same errors.
 */
#ifndef FIT_TABLE_TABLE_H
#define FIT_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

/* ---- types and cells ---- */

enum fit_type {
	FIT_TEXT,	/* UTF-8 without NUL */
	FIT_INT,	/* int64 */
	FIT_REAL,	/* double; nan and infinities are values, not missing */
	FIT_TIME	/* int64 nanoseconds; written as seconds, at most nine fraction digits */
};

/* "text", "int", "real", "time". */
const char *fit_type_name(enum fit_type type);

struct fit_cell {
	bool na;	/* missing; the union is then zero / empty */
	/* Mostly 0. Else it is known how the cell reads in TSV, so that a writer need not find out: these up
	 * to FIT_PLAIN_MAX bytes of u.plain, which live as long as a text; of a text, all of u.t (u.t.s is the
	 * same), when no byte of it needs an escape and it is not "NA". As many as FIT_PLAIN_MAX may be read
	 * there, whatever they mean. Whoever changes the value of a cell sets it to 0; 0 where na is true. */
	unsigned char n_plain;
	union {
		struct fit_text t;		/* FIT_TEXT; valid until the next row is read */
		struct {
			const char *plain;
			union {
				int64_t i;	/* FIT_INT, and FIT_TIME in ns */
				double d;	/* FIT_REAL */
			};
		};
	} u;
};
#define FIT_PLAIN_MAX ((size_t)16)

/* A column that a reader wants or a writer declares. */
struct fit_field {
	const char *name;
	enum fit_type type;
	unsigned flags;
};
#define FIT_F_OPTIONAL 1u	/* reader: the column may be absent; every cell is then NA */
#define FIT_F_NOT_NA 2u		/* reader: a missing cell is an error */

/* ---- metadata: ordered key=value pairs ---- */

struct fit_meta {
	struct fit_meta_pair { char *key, *value; } *pairs;
	size_t n, cap;
};

void fit_meta_release(struct fit_meta *m);
/* Append key=value; fit_meta_set replaces the first pair of that key if there is one. Keys are
 * [a-z0-9_]+, but not table or types, which the stream itself uses (readers and writers check that);
 * values are one line (tab, line feed and backslash are escaped on the wire). */
bool fit_meta_key_ok(const char *key);
int fit_meta_add(struct fit_meta *m, const char *key, const char *value) FIT_MUST_CHECK;
int fit_meta_set(struct fit_meta *m, const char *key, const char *value) FIT_MUST_CHECK;
/* The first value of key, or NULL. */
const char *fit_meta_get(const struct fit_meta *m, const char *key);
int fit_meta_copy(struct fit_meta *to, const struct fit_meta *from) FIT_MUST_CHECK;

/* ---- reading row by row ---- */

struct fit_reader;

/* Open an operand. FIT_EIO: cannot be opened; FIT_EPARSE: an empty file, or not a table. */
int fit_reader_open(struct fit_reader **r, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Open a TSV stream (plain, gzip or zstd) in memory that outlives the reader; name stands in messages. */
int fit_reader_open_memory(struct fit_reader **r, const char *name, const void *bytes, size_t n,
			   struct fit_err *err) FIT_MUST_CHECK;
void fit_reader_close(struct fit_reader *r);	/* NULL is fine */

/*
 * Go to the next table of the stream (skipping rows that were not read) and bind fields: row() then
 * yields exactly n cells in this order, converted to these types. Unknown columns are passed over.
 * With fields == NULL every column is bound, in its own order and type; a TSV table without a
 * #types line has only text columns then (fit_table_read() infers types).
 * FIT_END: there is no further table. FIT_ENOTFOUND: a column is missing (the error lists those
 * that are there).
 */
int fit_reader_begin(struct fit_reader *r, const struct fit_field *fields, size_t n,
		     struct fit_err *err) FIT_MUST_CHECK;

/* The next row, or FIT_END after the trailer was checked. Cells live until the next call. */
int fit_reader_row(struct fit_reader *r, struct fit_cell *cells, struct fit_err *err) FIT_MUST_CHECK;

/* Pass over the next table of the stream, checking rows and trailer. FIT_END: there is none. */
int fit_reader_skip(struct fit_reader *r, struct fit_err *err) FIT_MUST_CHECK;
/* Behind the last row of what was read: FIT_OK when the input ends there, FIT_EDATA when a further
 * table follows. The table name and metadata are gone then; the hash covers the whole input. */
int fit_reader_only(struct fit_reader *r, struct fit_err *err) FIT_MUST_CHECK;

/* The next table, which is the last one: take(to, r, cells, err) for each of its rows, with n cells. Errors
 * as begin(), row() and only(), or what take() returns. */
typedef int fit_take_row(void *to, struct fit_reader *r, const struct fit_cell *cells, struct fit_err *err);
int fit_reader_each(struct fit_reader *r, const struct fit_field *fields, size_t n, fit_take_row *take,
		    void *to, struct fit_err *err) FIT_MUST_CHECK;

/* About the current table; borrowed until the next begin() or close(). */
const char *fit_reader_table_name(const struct fit_reader *r);	/* "" when it has none */
/* After the last row also what stands behind the rows (see fit_writer_end_meta). */
const struct fit_meta *fit_reader_meta(const struct fit_reader *r);
bool fit_reader_has_types(const struct fit_reader *r);	/* HDF5, or TSV with a #types line */
/* The bound columns (after begin). */
size_t fit_reader_n_columns(const struct fit_reader *r);
const struct fit_field *fit_reader_columns(const struct fit_reader *r);

/* Report a fault of the current row: "FILE:LINE:FIELD: what" (FIELD left out when name is NULL). */
int fit_reader_fail(const struct fit_reader *r, int code, const char *name, struct fit_err *err,
		    const char *fmt, ...) FIT_PRINTF(5, 6);
/* What messages call the input ("<stdin>" for "-"), and the current line (row, in a store), from 1. */
const char *fit_reader_input(const struct fit_reader *r);
uint64_t fit_reader_line(const struct fit_reader *r);
/* Content hash of the input: of the decompressed bytes for TSV, of the HDF5 bytes for a store. For TSV it
 * covers what was read so far, so ask after the last row. */
void fit_reader_hash(const struct fit_reader *r, char out[FIT_HASH_HEX]);

/* ---- writing row by row ---- */

struct fit_writer;
#define FIT_W_NO_META 1u	/* header row and rows of the first table only */

/* dest NULL or "-": standard output. A file is written under a temporary name and appears on a
 * successful close() only; a store is copied, changed and renamed under a lock. */
int fit_writer_open(struct fit_writer **w, const char *dest, unsigned flags,
		    struct fit_err *err) FIT_MUST_CHECK;
/* Start a table. name may be NULL (in a store the path names it; a further table of the same stream
 * needs a name and becomes a sibling /path/name). meta may be NULL. */
int fit_writer_begin(struct fit_writer *w, const char *name, const struct fit_meta *meta,
		     const struct fit_field *fields, size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* Cells of the current row, in column order; each must be of the declared type. Faults stick and
 * are reported by end_row(). */
void fit_writer_text(struct fit_writer *w, struct fit_text t);
void fit_writer_str(struct fit_writer *w, const char *s);	/* NULL is NA */
void fit_writer_int(struct fit_writer *w, int64_t v);
void fit_writer_real(struct fit_writer *w, double v);	/* fit_real_na() is NA, another NaN nan */
void fit_writer_real_or_na(struct fit_writer *w, double v);	/* any NaN is NA */
void fit_writer_time(struct fit_writer *w, int64_t ns);
void fit_writer_na(struct fit_writer *w);
void fit_writer_cell(struct fit_writer *w, enum fit_type type, const struct fit_cell *c);
int fit_writer_end_row(struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;
/* A whole row at once: as many cells as columns, each of the type of its column. The same bytes and the
 * same faults as cell by cell, and quicker. */
int fit_writer_row(struct fit_writer *w, const struct fit_cell *cells,
		   struct fit_err *err) FIT_MUST_CHECK;
/* Further metadata, which are known only after the last row: once, ahead of fit_writer_end(). In TSV
 * they stand between the rows and #end; in a store they join the others. */
int fit_writer_end_meta(struct fit_writer *w, const struct fit_meta *meta,
			struct fit_err *err) FIT_MUST_CHECK;
int fit_writer_end(struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;	/* end of table */
/* Flush, check, rename into place, free. abort() leaves nothing behind. */
int fit_writer_close(struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;
void fit_writer_abort(struct fit_writer *w);	/* NULL is fine */

/* ---- whole tables ---- */

struct fit_column {
	char *name;
	enum fit_type type;
	int64_t *i;		/* FIT_INT, FIT_TIME: n_rows values; FIT_INT_NA is missing */
	double *d;		/* FIT_REAL: fit_real_is_na() is missing */
	size_t *at;		/* FIT_TEXT: n_rows offsets into bytes; FIT_TEXT_NA is missing */
	char *bytes;		/* NUL-terminated texts one after another */
	size_t bytes_n, bytes_cap;
};
#define FIT_INT_NA INT64_MIN
#define FIT_TEXT_NA SIZE_MAX

/* The missing double: one NaN bit pattern that arithmetic does not produce. */
double fit_real_na(void);
bool fit_real_is_na(double d);

struct fit_table {
	char *name;			/* "" when it has none */
	struct fit_meta meta;
	size_t n_end_meta;		/* so many of the last pairs stand behind the rows in TSV */
	size_t n_rows, cap_rows, n_columns;
	struct fit_column *columns;
	char input[256];		/* for messages: where it came from, "" for made here */
	uint64_t first_line;		/* line of row 0 in input (0: rows are numbered from 1) */
	char hash[FIT_HASH_HEX];	/* content hash of the whole input, "" for made here */
};

void fit_table_release(struct fit_table *t);
int fit_table_init(struct fit_table *t, const char *name, const struct fit_field *fields, size_t n,
		   struct fit_err *err) FIT_MUST_CHECK;
/* Append one row (texts are copied). */
int fit_table_add(struct fit_table *t, const struct fit_cell *cells) FIT_MUST_CHECK;

/* Read the first (or only) table of an operand. fields as for fit_reader_begin(); with NULL types
 * are those of the stream, or inferred: int, then time (name ends in _s), then real, else text;
 * names that end in _id, and columns with numbers like 007 or with integers that neither an int nor the
 * column's double holds, stay text. Further tables of a stream are passed over, but a fault in them is
 * an error. */
int fit_table_read(struct fit_table *t, const char *operand, const struct fit_field *fields, size_t n,
		   struct fit_err *err) FIT_MUST_CHECK;
/* Give text columns the types that fit_table_read() would infer. FIT_ENOMEM. */
int fit_table_infer(struct fit_table *t) FIT_MUST_CHECK;
/* The same for the next table of an open reader; FIT_END when there is none. */
int fit_table_read_next(struct fit_table *t, struct fit_reader *r, const struct fit_field *fields,
			size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* Every table of an operand in order, at least one, with the types of fit_table_read(); each has the hash of
 * the whole input. To be freed with fit_tables_free(), also after an error. */
int fit_tables_read(struct fit_table **tables, size_t *n, const char *operand,
		    struct fit_err *err) FIT_MUST_CHECK;
void fit_tables_free(struct fit_table *tables, size_t n);
int fit_table_write(const struct fit_table *t, struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;

/* The column of that name, or NULL. */
const struct fit_column *fit_table_column(const struct fit_table *t, const char *name);
struct fit_cell fit_column_cell(const struct fit_column *c, size_t row);
struct fit_text fit_column_text(const struct fit_column *c, size_t row);	/* NA: { NULL, 0 } */
/* As fit_reader_fail(), for row r (from 0) of a table that was read. */
int fit_table_fail(const struct fit_table *t, size_t row, int code, const char *name,
		   struct fit_err *err, const char *fmt, ...) FIT_PRINTF(6, 7);
/* FIT_ENOTFOUND: there is no such column; the message says which there are. */
int fit_table_no_column(const struct fit_table *t, const char *name, struct fit_err *err);

/* ---- stores ---- */

/* Does this operand name a store ("x.h5", "x.h5:/path", "x.hdf5…")? By name, not by content. */
bool fit_is_store(const char *operand);
/* Paths of all tables of a store, in the order in which they were first written (sorted where another
 * program made or changed the file). Free each and the array. */
int fit_store_list(const char *file, char ***paths, size_t *n, struct fit_err *err) FIT_MUST_CHECK;

/*
 * Read several tables of one store with one opening: paths[i] -> tables[i] with fields[i] (NULL:
 * all columns). tables[i] is left empty (n_columns 0) where the path is absent and optional[i].
 */
struct fit_store_request {
	const char *path;
	const struct fit_field *fields;
	size_t n_fields;
	bool optional;
	struct fit_table *table;
};
int fit_store_read(const char *file, const struct fit_store_request *req, size_t n,
		   char hash[FIT_HASH_HEX], struct fit_err *err) FIT_MUST_CHECK;
/* Write tables to a store in one go, beside what it holds; a table of the same path is replaced.
 * paths[i] names tables[i]. Temporary name, lock, rename. */
int fit_store_write(const char *file, const char *const *paths,
		    const struct fit_table *const *tables, size_t n, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
