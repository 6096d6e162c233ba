/* SPDX-License-Identifier: MIT */
/*
 * Some of the rows of a table: those that meet conditions, lie in a window of time, or are drawn by
 * chance; and their times, moved or stretched. All columns, types and the order of rows are kept.
 *
 * A condition is one text, COLUMN OP VALUE, with OP one of = != < <= > >= ~ !~ (contains, does not);
 * blanks around OP are passed over. The type of the column says how it compares: numbers and times
 * as numbers, texts byte by byte for = != ~ !~. A time is in seconds, or has a unit: s, min, h, d.
 * < <= > >= on a text need a number on both sides; before nan, which equals itself, they are refused.
 * VALUE NA means missing, with = and != only; \NA is the text. A missing cell meets no other condition
 * than =NA; such rows are counted.
 *
 * Rows pass conditions, window, sample, head, in this order; then their times change.
 */
#ifndef FIT_TABLE_SELECT_H
#define FIT_TABLE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* ---- conditions ---- */

enum fit_condition_op { FIT_OP_EQ, FIT_OP_NE, FIT_OP_LT, FIT_OP_LE, FIT_OP_GT, FIT_OP_GE,
			FIT_OP_HAS, FIT_OP_HAS_NOT };

struct fit_condition {
	struct fit_text column, value;	/* borrowed from the text */
	enum fit_condition_op op;
	bool na;			/* the value is NA */
	/* after bind */
	size_t at;			/* number of the column */
	enum fit_type type;
	bool number;			/* real holds the value as a number */
	double real;
	bool whole;			/* whole holds it exactly (int, or ns of a time column) */
	int64_t exact;
};

/* Take a condition apart. FIT_EINVAL, with a message that quotes it. */
int fit_condition_parse(struct fit_condition *c, const char *text, struct fit_err *err) FIT_MUST_CHECK;
/* Find its column. FIT_ENOTFOUND: there is none (the message lists what is there); FIT_EINVAL: the
 * value is not of the column's type, or the operator makes no sense for it. */
int fit_condition_bind(struct fit_condition *c, const struct fit_field *fields, size_t n,
		       struct fit_err *err) FIT_MUST_CHECK;
/* Does a row meet it? *missing is set when the cell is NA and that decided. FIT_EDATA: a text that had
 * to be a number; the message has no position. */
int fit_condition_test(const struct fit_condition *c, const struct fit_cell *cells, bool *met,
		       bool *missing, struct fit_err *err) FIT_MUST_CHECK;

/* "90", "1.5h", "2d", "30min", "10s" as nanoseconds; FIT_EPARSE or FIT_EINVAL. */
int fit_parse_time_unit(struct fit_text t, int64_t *ns) FIT_MUST_CHECK;

/* ---- selection ---- */

struct fit_select_params {
	struct fit_condition *conditions;	/* parsed; bound by fit_select() */
	size_t n_conditions;
	bool has_from, has_to;		/* from_ns <= submit_s < to_ns */
	int64_t from_ns, to_ns;
	int64_t sample_rows;		/* so many, each set of them alike; 0: no */
	double sample_share;		/* each row with this probability; 0: no */
	uint64_t seed;
	int64_t head;			/* no more rows than this; -1: no end */
	double rate;			/* > 0: gaps of submit_s are divided by it; 0: no */
	bool rebase;			/* the first submission becomes 0 */
};

struct fit_select_report {
	uint64_t rows, kept;
	uint64_t missing;	/* left out as a compared cell, or submit_s for a window, is NA */
};

/*
 * Read the next table of r and write what is selected. Columns of a table without types are text,
 * but for those of docs/formats/jobs.md. start is called once, before the first row is written, with
 * all columns and the submission that became 0 (rebase; else 0), and begins the table of w; end is
 * called after the last row, and may add metadata (fit_writer_end_meta).
 * Constant memory, except that sample_rows rows are held.
 *
 * rate and rebase need submit_s, in ascending order: FIT_EDATA with the line of the first row that is
 * not. start_s and end_s move along with the submission. Errors also as of the reader and writer.
 */
typedef int fit_select_start(void *arg, const struct fit_field *fields, size_t n, int64_t base_ns,
			     struct fit_err *err);
typedef int fit_select_end(void *arg, struct fit_err *err);
int fit_select(struct fit_reader *r, struct fit_writer *w, const struct fit_select_params *p,
	       fit_select_start *start, fit_select_end *end, void *arg,
	       struct fit_select_report *report, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
