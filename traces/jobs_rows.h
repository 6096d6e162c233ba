/* SPDX-License-Identifier: MIT */
/*
 * For readers of delimited traces in which a row of the file is a row of the table: the loop around
 * them, and what several of them do with a row.
 */
#ifndef TRACES_JOBS_ROWS_H
#define TRACES_JOBS_ROWS_H

#include "traces/jobs.h"

/* Counts for the notes at the end of a report. The texts are constants ("running (censored)"). */
struct fit_tally {
	struct { const char *what; uint64_t n; } counts[12];
	size_t n;
};
void fit_tally_add(struct fit_tally *t, const char *what);
/* One note, "5 running (censored), 2 pending", if there is anything to say. */
int fit_tally_note(const struct fit_tally *t, struct fit_trace_out *out) FIT_MUST_CHECK;

/* The row at hand. */
struct fit_trace_row {
	struct fit_trace_out *out;
	const struct fit_csv *csv;
	const struct fit_field *fields;	/* of the file, as bound */
	const struct fit_cell *in;	/* one cell for each of them */
	uint64_t number;		/* of the row in the file, from 0; bad rows count */
	const char *reason;		/* of a fault, for counting; set before convert() fails */
	struct fit_tally tally;
	void *ctx;
};

#define FIT_ROW_COLUMNS 24

struct fit_trace_rows {
	const struct fit_csv_options *options;	/* NULL: commas, a header row, the usual missing words */
	const struct fit_field *fields;
	size_t n_fields;			/* at most FIT_ROW_COLUMNS, as the columns of the table */
	/* Make r->in a row of the table. FIT_END: the row is none, pass over it; FIT_EPARSE and
	 * FIT_EDATA: it is bad; other failures are final. */
	int (*convert)(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err);
	void *ctx;
};
/* Read s through convert(), to its end, and emit the rows. */
int fit_trace_read_rows(struct fit_source *s, struct fit_trace_out *out,
			const struct fit_trace_rows *how, struct fit_err *err) FIT_MUST_CHECK;
/* The same without emitting anything: convert() keeps what it needs; row is NULL. */
int fit_trace_visit_csv(struct fit_csv *c, struct fit_trace_out *out,
			const struct fit_trace_rows *how, struct fit_err *err) FIT_MUST_CHECK;
int fit_trace_visit_rows(struct fit_source *s, struct fit_trace_out *out,
			 const struct fit_trace_rows *how, struct fit_err *err) FIT_MUST_CHECK;

/* Field i of the row is not as it should be: counted under reason. */
int fit_row_fail(struct fit_trace_row *r, int code, const char *reason, size_t i,
		 struct fit_err *err, const char *fmt, ...) FIT_PRINTF(6, 7);
/* Fields from to to (both included) are NA or at least min. */
int fit_row_at_least(struct fit_trace_row *r, size_t from, size_t to, int64_t min,
		     struct fit_err *err) FIT_MUST_CHECK;
/* A real field times a factor, NA where it is NA; a product that is not finite is a fault. */
int fit_row_times(struct fit_trace_row *r, size_t i, double factor, struct fit_cell *product,
		  struct fit_err *err) FIT_MUST_CHECK;
/* The field is the n-th of these words (ends with NULL), or it is NA and *n is -1. */
int fit_row_word(struct fit_trace_row *r, size_t i, const char *const *words, int *n,
		 struct fit_err *err) FIT_MUST_CHECK;

/* A status of the trace, and what it is in the jobs table. */
struct fit_status_word {
	const char *word, *status;
};
/* The status of a text; UNKNOWN, counted, for a word that is not in the list (which ends with NULL);
 * UNKNOWN for NA. RUNNING and PENDING are counted, too. */
struct fit_cell fit_row_status(struct fit_trace_row *r, const struct fit_cell *word,
			       const struct fit_status_word *words);

static inline struct fit_cell fit_cell_na(void)
{
	return (struct fit_cell){ .na = true };
}

/* A real from an int cell, divided by unit. NA stays NA. */
struct fit_cell fit_cell_ratio(const struct fit_cell *i, double unit);

#endif
