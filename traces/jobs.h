/* SPDX-License-Identifier: MIT */
/*
 * Readers of trace formats: bytes in, canonical rows out.
 *
 * A format is an entry of fit_trace_formats[]: its columns (names and order of docs/formats/jobs.md;
 * the machine list formats have columns of their own), how it is recognised, and a function that
 * reads a source front to back and emits one row at a time. Readers hold no more than the record at
 * hand. Rows go on to a sink as they are emitted; what concerns the whole trace (unique ids, order,
 * the origin of a calendar, the metadata) happens behind fit_trace_emit().
 *
 * A new format: write traces/jobs_x.c with one read function, declare it below, add an entry to
 * jobs_formats.c, and describe it in docs/formats/x.md. What it needs from the command line becomes
 * a field of struct fit_trace_params and a row of the option table in tools/gf-trace.c.
 */
#ifndef TRACES_JOBS_H
#define TRACES_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "traces/csv.h"
#include "traces/zone.h"

FIT_C_BEGIN

/* ---- formats ---- */

struct fit_trace_out;

#define FIT_TRACE_CALENDAR 1u	/* submit_s, start_s, end_s are emitted as ns since 1970-01-01T00:00:00
				 * of the trace's own clock, or of UTC (see fit_trace_time); they end
				 * up since the origin, a midnight before the first submission */
#define FIT_TRACE_SORT 2u	/* rows end up ordered by submit_s, equal ones as in the file: the whole
				 * table is collected in memory, unless params->sort is FIT_SORT_NO */
#define FIT_TRACE_RANK_ID 4u	/* job_id is emitted as NA and becomes id_prefix plus the rank; such a
				 * format is always sorted */
#define FIT_TRACE_JOINS 8u	/* needs memory of its own that grows with the input; said in docs */
#define FIT_TRACE_MACHINES 16u	/* reads params->machines */

/* The beginning of an input, for recognising its format. */
struct fit_trace_head {
	struct fit_text bytes;	/* up to FIT_TRACE_HEAD of them, decompressed, without byte order mark */
	struct fit_text line;	/* the first line that is not blank, without its end; may be cut short */
	bool whole;		/* bytes is all there is */
};
#define FIT_TRACE_HEAD ((size_t)1 << 16)
#define FIT_TRACE_WHY 256

struct fit_trace_format {
	const char *name, *summary;
	const struct fit_field *fields;		/* columns of the output */
	size_t n_fields;
	unsigned flags;
	const char *id_field;		/* what the format calls job_id, for messages; may be NULL */
	const char *id_prefix;
	/* Emit all rows of s, the first operand. Errors name line and field. */
	int (*read)(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
	/*
	 * Recognising: marks is a comma list of columns that a header row of this format must have
	 * (found with comma, '|', tab or blanks between names); the more marks, the surer. Or a function
	 * that returns a score from 0 (not this format) to 100 and writes the reason ("header has job_id
	 * and vc", "18 numbers a line"). Both NULL: never recognised.
	 */
	const char *marks;
	int (*sniff)(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
	size_t max_inputs;		/* operands; 0 and 1: one */
};

extern const struct fit_trace_format fit_trace_formats[];	/* ends with name == NULL */
const struct fit_trace_format *fit_trace_format_find(const char *name);		/* or NULL */

/* The format of a source, of which nothing is consumed, and in why the reason. FIT_EDATA: none, or
 * several are equally likely (the message names them). */
int fit_trace_recognise(struct fit_source *s, const struct fit_trace_format **format,
			char why[FIT_TRACE_WHY], struct fit_err *err) FIT_MUST_CHECK;
/* For sniff functions: does a row of names have all columns of a comma list? Blanks and quotes around
 * names do not matter. delimiter 0: the one of comma, '|', tab that the line has, else blanks. */
bool fit_trace_line_has(struct fit_text line, char delimiter, const char *columns);

/* ---- what the caller asks for ---- */

enum fit_trace_sort { FIT_SORT_FORMAT, FIT_SORT_YES, FIT_SORT_NO };
enum fit_trace_attempts {
	FIT_ATTEMPTS_SUM, FIT_ATTEMPTS_SPAN, FIT_ATTEMPTS_FIRST,
	FIT_ATTEMPTS_LAST	/* submission, start and duration of the last attempt alone (sacct) */
};
/* What a processor of a log without GPUs is (swf). */
enum fit_trace_processors {
	FIT_PROCESSORS_GUESS,	/* a GPU, with a remark */
	FIT_PROCESSORS_ARE_GPUS,
	FIT_PROCESSORS_ARE_CPUS	/* column gpus is NA, cpus has them */
};
/* A record whose start is before its submission, or its end before its start. */
enum fit_trace_bad_times {
	FIT_TIMES_MISSING,	/* the later of the two becomes NA, and the duration with the end; counted */
	FIT_TIMES_CLIP,		/* the later of the two becomes the earlier one; counted */
	FIT_TIMES_KEEP,		/* as it is; counted */
	FIT_TIMES_FAIL		/* a bad record */
};

struct fit_trace_params {
	int64_t skip_bad;	/* so many bad records are left out before giving up */
	enum fit_trace_sort sort;
	bool no_unique;		/* do not look for duplicate ids */
	const char *const *more;	/* further operands, after the first */
	size_t n_more;
	struct fit_zone zone;	/* of times without offset; not given: taken as they stand */
	enum fit_trace_attempts attempts;	/* the duration of a job that was started again */
	enum fit_trace_bad_times bad_times;
	enum fit_trace_processors processors;
	const char *delimiter;	/* sacct: what stands between fields; NULL: '|' */
	const char *machines;	/* philly: operand of the machine list, or NULL */
	/* Called for each record left out or repaired, with one line; may be NULL. */
	void (*listen)(void *ctx, const char *line);
	void *listen_ctx;
};

/* ---- for readers ---- */

const struct fit_trace_params *fit_trace_params_of(const struct fit_trace_out *out);

/* One row, in the order of format->fields; texts are copied; its times are changed meanwhile, and put
 * back. line: where the record starts. FIT_EDATA for a job_id that was there before, or a submission
 * before the origin: give it to fit_trace_bad().
 * Other failures are final. */
int fit_trace_emit(struct fit_trace_out *out, struct fit_cell *cells, uint64_t line,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The reader joins records by id itself: ids that are emitted need no looking after. */
void fit_trace_ids_are_unique(struct fit_trace_out *out);
/* A record is bad: rc is its status and err, whose code it is, says why. FIT_OK: it is left out and
 * counted under reason (a constant; NULL: nothing can be read behind it; where emit() failed it is
 * known better); else rc, to give up with. */
int fit_trace_bad(struct fit_trace_out *out, int rc, const char *reason,
		  const struct fit_err *err) FIT_MUST_CHECK;
/* A record is kept, but not as it stood: counted under reason (a constant); the text, without file and
 * line, is for those who list such records. */
void fit_trace_repaired(struct fit_trace_out *out, uint64_t line, const char *field,
			const char *reason, const char *fmt, ...) FIT_PRINTF(5, 6);
/* A remark on the whole input, one line without its name. */
int fit_trace_note(struct fit_trace_out *out, const char *fmt, ...) FIT_PRINTF(2, 3) FIT_MUST_CHECK;
/* The same where inputs contradict one another: an error for those who ask for that. */
int fit_trace_conflict(struct fit_trace_out *out, const char *fmt, ...)
	FIT_PRINTF(2, 3) FIT_MUST_CHECK;
/* key=value for the metadata of the table: ahead of the rows if it comes before the first emit(). */
int fit_trace_meta(struct fit_trace_out *out, const char *key, const char *value) FIT_MUST_CHECK;
/* Count of records met so far, bad ones too, for the report (csv_row() does it). */
void fit_trace_count(struct fit_trace_out *out, uint64_t records);
/* Messages about lines name this input from now on, one of several; the name is borrowed. */
void fit_trace_set_input(struct fit_trace_out *out, const char *name);
/* Hash of the records that were read; goes into the metadata as input. */
void fit_trace_set_hash(struct fit_trace_out *out, const char hash[FIT_HASH_HEX]);
/* The same for a further input of that role: input_ROLE. */
int fit_trace_add_hash(struct fit_trace_out *out, const char *role,
		       const char hash[FIT_HASH_HEX]) FIT_MUST_CHECK;

/*
 * A calendar time, "YYYY-MM-DD HH:MM:SS" with an optional fraction and an optional offset ("Z",
 * "+08:00", "+0800", "+08"), as what a FIT_TRACE_CALENDAR format emits: with an offset, or with
 * params->zone, ns of UTC; else ns of the clock as it stands. after: an instant of the same record
 * that it does not precede, or FIT_INT_NA; it tells the repeated hour from the first one. FIT_EPARSE:
 * not a time; FIT_EINVAL: no such day or hour; FIT_EDATA: times with and without offset in one trace.
 */
int fit_trace_time(struct fit_trace_out *out, struct fit_text t, int64_t after,
		   int64_t *ns) FIT_MUST_CHECK;
/* The reader emits instants that it knows otherwise (seconds since 1970), in ns of UTC; the midnight of
 * the origin is that of this offset, unless params->zone is given. */
void fit_trace_instants(struct fit_trace_out *out, int64_t offset_s);
/* What fit_trace_time() said, as an error of a field of delimited text. FIT_OK for a missing cell. */
int fit_trace_csv_time(const struct fit_csv *c, struct fit_trace_out *out, const char *field,
		       const struct fit_cell *text, int64_t after, struct fit_cell *time,
		       struct fit_err *err) FIT_MUST_CHECK;

/* Put submit <= start <= end right, as params->bad_times says, and duration (end - start, where it is NA
 * and both are known; NULL: the format has none). Any may be NA. FIT_EDATA under FIT_TIMES_FAIL: a bad
 * record. */
int fit_trace_check_times(struct fit_trace_out *out, uint64_t line, const struct fit_cell *submit,
			  struct fit_cell *start, struct fit_cell *end, struct fit_cell *duration,
			  struct fit_err *err) FIT_MUST_CHECK;

/* Words that stand for a missing cell in many traces: NA, N/A, NaN, None, NULL, Unknown; for struct
 * fit_csv_options. */
extern const char *const fit_trace_missing[];

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

struct fit_trace_counts {
	uint64_t n;
	struct { const char *reason; uint64_t n; } reasons[16];
	size_t n_reasons;
};

struct fit_trace_report {
	uint64_t rows;		/* records met, bad ones too */
	uint64_t jobs;		/* rows emitted */
	struct fit_trace_counts left_out, repaired;
	uint64_t conflicts;
	uint64_t cpu_jobs;	/* rows with gpus 0; they are kept */
	uint64_t running, pending;	/* rows of that status: censored, never started */
	bool has_range;		/* first and last submission, ns since the origin */
	int64_t first_ns, last_ns;
	char origin[FIT_DATETIME_MAX];	/* "" without a calendar; known at the first row */
	char hash[FIT_HASH_HEX];	/* of the records of the first input, at the end */
	struct fit_meta meta;		/* what fit_trace_meta() and fit_trace_add_hash() gave, so far */
	struct fit_str notes;		/* each ends with a line feed */
};
void fit_trace_report_release(struct fit_trace_report *r);

/*
 * Read a whole trace and hand each row (of format->fields) to row(), whose failure ends the reading.
 * Cells live until row() returns. s is borrowed. The report is filled as far as reading came, also
 * on failure and while rows come. Errors: those of the source, of the format, and FIT_EDATA for the
 * first bad record beyond params->skip_bad.
 */
int fit_trace_stream(const struct fit_trace_format *format, struct fit_source *s,
		     const struct fit_trace_params *params,
		     int (*row)(void *ctx, const struct fit_cell *cells, struct fit_err *err),
		     void *ctx, struct fit_trace_report *report, struct fit_err *err) FIT_MUST_CHECK;
/* The same into a table; table->hash is report->hash. */
int fit_trace_read(struct fit_table *table, const struct fit_trace_format *format,
		   struct fit_source *s, const struct fit_trace_params *params,
		   struct fit_trace_report *report, struct fit_err *err) FIT_MUST_CHECK;

/* Has each job its own job_id? FIT_EDATA with both lines; missing ones, and no such column, pass. */
int fit_trace_check_ids(const struct fit_table *jobs, struct fit_err *err) FIT_MUST_CHECK;

/*
 * A jobs table as a Pollux workload file (name,time,application,num_replicas,batch_size), appended to
 * csv. Needs job_id, submit_s, app, gpus (whole numbers) and batch_size, none of them missing, and no
 * job_id twice.
 */
int fit_trace_write_pollux(const struct fit_table *jobs, struct fit_str *csv,
			   struct fit_err *err) FIT_MUST_CHECK;

/*
 * A jobs table, with whatever columns it has, as a log in the Standard Workload Format, appended to
 * swf, ordered by submission; the origin of the metadata is its UnixStartTime. Needs job_id, submit_s
 * (not negative) and gpus (whole numbers), and no job_id twice. notes: what does not fit, one line each.
 */
int fit_trace_write_swf(const struct fit_table *jobs, struct fit_str *swf, struct fit_str *notes,
			struct fit_err *err) FIT_MUST_CHECK;

/* ---- the readers ---- */

int fit_trace_read_pollux(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_philly_list(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_tiresias(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_tiresias_cluster(struct fit_source *s, struct fit_trace_out *out,
				    struct fit_err *err);
int fit_trace_read_philly(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_philly_cluster(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_sniff_philly(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_read_helios(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_acme(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_pai(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_pai_machines(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_openb(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_openb_nodes(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_alibaba2025(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_lora(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_spot(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_spot_nodes(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_rubick(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_gavel(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_lucid(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_lucid_vc(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_sniff_pai(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_sniff_pai_machines(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_sniff_gavel(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_sniff_lucid_vc(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_read_sacct(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_read_swf(struct fit_source *s, struct fit_trace_out *out, struct fit_err *err);
int fit_trace_sniff_swf(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);
int fit_trace_sniff_sacct(const struct fit_trace_head *head, char why[FIT_TRACE_WHY]);

FIT_C_END

#endif
