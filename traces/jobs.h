/* SPDX-License-Identifier: MIT */
/*
 * Readers of trace formats: bytes in, canonical rows out.
 *
 * A format is an entry of fit_trace_formats[]: its columns (names and order of docs/formats/jobs.md;
 * the machine list formats have columns of their own) and a function that reads a source front to
 * back and emits one row at a time. Readers hold no more than the record at hand; what needs the
 * whole trace (unique ids, order, the origin of a calendar, the metadata) happens behind
 * fit_trace_emit().
 *
 * A new format: write traces/jobs_x.c with one read function, declare it below, add an entry to
 * jobs_formats.c, and describe it in docs/formats/x.md.
 */
#ifndef TRACES_JOBS_H
#define TRACES_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "traces/csv.h"

/* ---- formats ---- */

struct fit_trace_out;

#define FIT_TRACE_CALENDAR 1u	/* *_s columns are emitted as ns since 1970-01-01T00:00:00 of the
				 * trace's own clock; they end up since the origin, the midnight
				 * before the first submission */
#define FIT_TRACE_SORT 2u	/* rows end up ordered by submit_s, equal ones as in the file */
#define FIT_TRACE_RANK_ID 4u	/* job_id is emitted as NA and becomes id_prefix plus the rank */

struct fit_trace_format {
	const char *name, *summary;
	const struct fit_field *fields;		/* columns of the output */
	size_t n_fields;
	unsigned flags;
	const char *id_field;		/* what the format calls job_id, for messages; may be NULL */
	const char *id_prefix;
	/* Emit all rows of s. Errors name line and field. */
	int (*read)(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
};

extern const struct fit_trace_format fit_trace_formats[];	/* ends with name == NULL */
const struct fit_trace_format *fit_trace_format_find(const char *name);		/* or NULL */

/* ---- for readers ---- */

/* One row, in the order of format->fields; texts are copied. line: where the record starts. FIT_EDATA
 * for a job_id that was there before. */
int fit_trace_emit(struct fit_trace_out *out, const struct fit_cell *cells, uint64_t line,
		   struct fit_err *err) FIT_MUST_CHECK;
/* A record is bad, rc is its status. FIT_OK: it is left out and counted under reason (a constant;
 * NULL: nothing can be read behind it); else rc, to give up with. */
int fit_trace_bad(struct fit_trace_out *out, int rc, const char *reason) FIT_MUST_CHECK;
/* A remark on the whole input, one line without its name. */
int fit_trace_note(struct fit_trace_out *out, const char *fmt, ...) FIT_PRINTF(2, 3) FIT_MUST_CHECK;
/* Hash of the records that were read; goes into the metadata. */
void fit_trace_set_hash(struct fit_trace_out *out, const char hash[FIT_HASH_HEX]);

/* For readers of delimited text. The next good row (FIT_END at the end); counts rows and hash. */
int fit_trace_csv_row(struct fit_csv *c, struct fit_trace_out *out, struct fit_cell *cells,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Note the columns that no field is bound to, if any. */
int fit_trace_note_unbound(const struct fit_csv *c, struct fit_trace_out *out) FIT_MUST_CHECK;
/* Is an int, real or time cell (seconds) at least min? NA is. */
int fit_trace_at_least(const struct fit_csv *c, const struct fit_field *f,
		       const struct fit_cell *cell, int64_t min, struct fit_err *err) FIT_MUST_CHECK;

/* "YYYY-MM-DD HH:MM:SS", or a T between, with a fraction of at most nine digits, as ns since
 * 1970-01-01 of the same clock (no zone). FIT_EPARSE: not that; FIT_EINVAL: no such day or hour. */
int fit_parse_datetime(struct fit_text t, int64_t *ns) FIT_MUST_CHECK;
#define FIT_DATETIME_MAX 40
/* The way back: "2017-09-04T10:30:41". Whole seconds; a fraction is cut off. */
void fit_format_datetime(char buf[FIT_DATETIME_MAX], int64_t ns);

/* ---- for tools ---- */

struct fit_trace_params {
	int64_t skip_bad;	/* so many bad records are left out before giving up */
};

struct fit_trace_report {
	uint64_t rows;		/* records met, bad ones too */
	uint64_t left_out;
	struct { const char *reason; uint64_t n; } reasons[16];
	size_t n_reasons;
	uint64_t cpu_jobs;	/* rows with gpus 0; they are kept */
	bool has_range;		/* first and last submission, ns since the origin */
	int64_t first_ns, last_ns;
	char origin[FIT_DATETIME_MAX];	/* "" without a calendar */
	struct fit_str notes;		/* each ends with a line feed */
};
void fit_trace_report_release(struct fit_trace_report *r);

/*
 * Read a whole trace into a table (of format->fields). table->hash is the hash of the records. The
 * report is filled as far as reading came, also on failure. Errors: those of the source, of the
 * format, and FIT_EDATA for the first bad record beyond params->skip_bad.
 */
int fit_trace_read(struct fit_table *table, const struct fit_trace_format *format,
		   const char *operand, const struct fit_trace_params *params,
		   struct fit_trace_report *report, struct fit_err *err) FIT_MUST_CHECK;

/*
 * A jobs table as a Pollux workload file (name,time,application,num_replicas,batch_size), appended to
 * csv. Needs job_id, submit_s, app, gpus (whole numbers) and batch_size, none of them missing.
 */
int fit_trace_write_pollux(const struct fit_table *jobs, struct fit_str *csv,
			   struct fit_err *err) FIT_MUST_CHECK;

/* ---- the readers ---- */

int fit_trace_read_pollux(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_philly_list(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_tiresias(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_tiresias_cluster(struct fit_source *s, struct fit_trace_out *out,
				    struct fit_err *err);

#endif
