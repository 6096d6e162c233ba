/* SPDX-License-Identifier: MIT */
/*
 * Readers of profiling dumps: bytes in, canonical rows out, one row at a time.
 *
 * Two kinds of formats share the machinery. Time series (nvidia-smi, DCGM, …) have the columns
 *
 *   time_s        time; of the sample, or the start of the bin that it stands for
 *   host          text; NA where the dump does not say and params->host is NULL
 *   gpu           int, the index on the host
 *   gpu_util_pct  real; share of time with any kernel running, as NVML defines it
 *   mem_util_pct  real; activity of the memory controller (not memory in use)
 *   fb_used_mib   real; device memory in use, 2^20 bytes
 *
 * first, then those of FIT_SERIES_* that the format can have, in that order. Dumps that are no time
 * series (kernel tables, colocation tables, gradient norms, …) have columns of their own. Missing is
 * NA, never 0. Utilisation outside 0 to 100 is kept and counted.
 *
 * A format is an entry of fit_series_formats[]. A new one: write traces/prof_x.c with one read
 * function, declare it below, add an entry to prof_formats.c, describe it in docs/formats/x.md.
 */
#ifndef TRACES_SERIES_H
#define TRACES_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "traces/csv.h"
#include "traces/jobs.h"

FIT_C_BEGIN

/* ---- columns of time series ---- */

enum fit_series_column {
	FIT_SERIES_TIME, FIT_SERIES_HOST, FIT_SERIES_GPU, FIT_SERIES_UTIL, FIT_SERIES_MEM,
	FIT_SERIES_FB,				/* these are always there */
	FIT_SERIES_INSTANCE,			/* gpu_instance, text: a MIG instance; NA: the whole GPU */
	FIT_SERIES_UUID, FIT_SERIES_NAME,	/* gpu_uuid, gpu_name: text */
	FIT_SERIES_FB_TOTAL,			/* fb_total_mib */
	FIT_SERIES_POWER, FIT_SERIES_TEMP,	/* power_w, temp_c */
	FIT_SERIES_SM_CLOCK, FIT_SERIES_MEM_CLOCK,	/* sm_clock_mhz, mem_clock_mhz */
	FIT_SERIES_POD,				/* pod, text: namespace/pod, or pod */
	FIT_SERIES_DERIVED,			/* derived, text: which cells were worked out from others */
	FIT_SERIES_COLUMNS
};

/* ---- formats ---- */

struct fit_series_out;

/* What a reader reads. */
struct fit_series_in {
	const char *operand;		/* as given; NULL when the bytes are in memory */
	struct fit_source *source;	/* NULL for a FIT_SERIES_F_FOLDER format given a folder */
};

#define FIT_SERIES_F_SERIES 1u		/* a time series */
#define FIT_SERIES_F_FOLDER 2u		/* the operand may be a folder */
#define FIT_SERIES_F_LOCAL 4u		/* its calendar times have no zone: params->zone counts */

struct fit_series_format {
	const char *name, *summary;
	const struct fit_field *fields;	/* columns of the output; NULL for a time series */
	size_t n_fields;
	unsigned flags;
	unsigned columns;		/* of a time series: bits 1u << FIT_SERIES_*, beyond the first six */
	int (*read)(const struct fit_series_in *in, struct fit_series_out *out, struct fit_err *err);
};

/* The format of a source, of which nothing is consumed, or (s NULL) of the folder of that name, and the
 * reason in why; "pollux": a folder for fit_pollux_read_profiles(). FIT_EDATA: none. */
int fit_series_recognise(const char *folder, struct fit_source *s, const char **name, char why[FIT_TRACE_WHY],
			 struct fit_err *err) FIT_MUST_CHECK;

extern const struct fit_series_format fit_series_formats[];	/* ends with name == NULL */
const struct fit_series_format *fit_series_format_find(const char *name);	/* or NULL */

/* ---- what the caller asks for ---- */

struct fit_series_params {
	int64_t skip_bad;	/* so many bad records are left out before giving up */
	const char *host;	/* for dumps that do not name their host; or NULL */
	const char *app;	/* likewise for the application; or NULL */
	const char *columns;	/* nvidia-smi without a header row: its columns, a comma list; or NULL */
	bool has_time;		/* the time of the first sample, for dumps without times */
	bool time_is_calendar;	/* it is ns since 1970-01-01, else ns since an origin of one's own */
	int64_t time_ns;
	struct fit_zone zone;	/* of calendar times without a zone, time_ns too; not given: as they stand */
	int64_t period_ns;	/* between samples of dumps without times; 0: not given */
	int64_t bin_ns;		/* length of a bin where kernels become utilisation; > 0 */
	/* Called for each record that is left out or passed over; may be NULL. */
	void (*listen)(void *ctx, uint64_t line, const char *reason);
	void *listen_ctx;
};
struct fit_series_params fit_series_params_default(void);	/* a bin of one second */

/* ---- what came out ---- */

#define FIT_SERIES_REASONS 16
struct fit_series_counts {
	uint64_t n;
	struct { char reason[48]; uint64_t n; } by[FIT_SERIES_REASONS];	/* the last takes the rest */
	size_t n_by;
};

struct fit_series_report {
	uint64_t records;	/* met, bad ones too */
	uint64_t rows;		/* emitted */
	struct fit_series_counts left_out;	/* bad records, under --skip-bad or cut short */
	struct fit_series_counts passed_over;	/* lines that are no records: headers again, messages */
	/* missing and out-of-range cells of gpu_util_pct, mem_util_pct and fb_used_mib, in a format that
	 * has the column; words: how the dump said so */
	struct { bool bound; uint64_t missing, outside; struct fit_series_counts words; } cells[3];
	uint64_t no_hour;	/* times in the hour that a clock leaves out in spring */
	uint64_t back;		/* rows whose time is before the one of a row above */
	uint64_t back_line;	/* the line of the first of them */
	bool has_range;		/* first and last time, ns since the origin */
	int64_t first_ns, last_ns;
	char origin[40];	/* calendar time of time_s 0; "" without a calendar */
	char hash[FIT_HASH_HEX];	/* of the records; known at the end */
	struct fit_str notes;	/* each ends with a line feed */
};
void fit_series_report_release(struct fit_series_report *r);

/* Where rows go. begin() comes once, before the first row or, when there is none, at the end; origin
 * as in the report. A failure of either ends the reading. */
struct fit_series_sink {
	int (*begin)(void *ctx, const struct fit_field *fields, size_t n, const char *origin,
		     struct fit_err *err);
	int (*row)(void *ctx, const struct fit_cell *cells, struct fit_err *err);
	void *ctx;
};

/*
 * Read a whole dump. The report is filled as far as reading came, also on failure. Errors: those of
 * the source, of the format, and FIT_EDATA or FIT_EPARSE for the first bad record beyond
 * params->skip_bad.
 */
int fit_series_read(const struct fit_series_format *format, const char *operand,
		    const struct fit_series_params *params, const struct fit_series_sink *sink,
		    struct fit_series_report *report, struct fit_err *err) FIT_MUST_CHECK;
/* The same from a source that was opened already, and stays open; NULL: operand is a folder. */
int fit_series_read_source(const struct fit_series_format *format, const char *operand,
			   struct fit_source *source, const struct fit_series_params *params,
			   const struct fit_series_sink *sink, struct fit_series_report *report,
			   struct fit_err *err) FIT_MUST_CHECK;
/* The same from memory; name stands in messages. */
int fit_series_read_memory(const struct fit_series_format *format, const char *name,
			   const void *bytes, size_t n, const struct fit_series_params *params,
			   const struct fit_series_sink *sink, struct fit_series_report *report,
			   struct fit_err *err) FIT_MUST_CHECK;

/* ---- for readers ---- */

const struct fit_series_params *fit_series_params_of(const struct fit_series_out *out);

/* Times are ns since 1970-01-01: of UTC shown by a clock that is offset_s east of it, or of a clock
 * that does not say (has_offset false). The origin becomes the midnight of that clock before the
 * first sample. To be called before the first row. */
void fit_series_calendar(struct fit_series_out *out, bool has_offset, int64_t offset_s);

bool fit_series_is_near(int64_t ns);	/* within two centuries of 1970: clocks have rules there */
/* A time of a clock that does not say its zone, as fit_series_sample() wants it: UTC when params->zone is
 * given. In the hour that comes twice in autumn it is the first instant that is not a minute or more
 * before the last one asked for, else the first one. A time that spring leaves out is counted, and read
 * as winter's. */
int64_t fit_series_local(struct fit_series_out *out, int64_t local_ns);
/* A row of a time series: cells by enum fit_series_column (those that the format does not have are
 * ignored; a host that is NA becomes params->host). */
int fit_series_sample(struct fit_series_out *out, const struct fit_cell cells[FIT_SERIES_COLUMNS],
		      uint64_t line, struct fit_err *err) FIT_MUST_CHECK;
/* A row of another table, in the order of format->fields. */
int fit_series_row(struct fit_series_out *out, const struct fit_cell *cells,
		   struct fit_err *err) FIT_MUST_CHECK;

void fit_series_met(struct fit_series_out *out);	/* one more record, good or bad */
/* A record is bad, rc is its status. FIT_OK: it is left out and counted under reason (NULL: nothing can
 * be read behind it); else rc, to give up with. */
int fit_series_bad(struct fit_series_out *out, int rc, uint64_t line,
		   const char *reason) FIT_MUST_CHECK;
/* A record that is lost in any case (the cut last line of a log): counted as left out. */
void fit_series_lost(struct fit_series_out *out, uint64_t line, const char *reason);
/* A line that is no record. */
void fit_series_pass(struct fit_series_out *out, uint64_t line, const char *reason);
/* The dump says in that word that a cell is missing (FIT_SERIES_UTIL to FIT_SERIES_FB are counted). */
void fit_series_missing(struct fit_series_out *out, enum fit_series_column column,
			struct fit_text word);
/* A remark on the whole input, one line without its name. */
int fit_series_note(struct fit_series_out *out, const char *fmt, ...)
	FIT_PRINTF(2, 3) FIT_MUST_CHECK;
/* The next good row of delimited text (FIT_END at the end); counts records. */
int fit_series_csv_row(struct fit_csv *c, struct fit_series_out *out, struct fit_cell *cells,
		       struct fit_err *err) FIT_MUST_CHECK;

/* ---- the readers ---- */

#define FIT_SERIES_READER(name) \
	int name(const struct fit_series_in *in, struct fit_series_out *out, struct fit_err *err)
FIT_SERIES_READER(fit_series_read_smi);
FIT_SERIES_READER(fit_series_read_dmon);
FIT_SERIES_READER(fit_series_read_dcgmi);
FIT_SERIES_READER(fit_series_read_exporter);
FIT_SERIES_READER(fit_series_read_nsight);
FIT_SERIES_READER(fit_series_read_gpu_metrics);
FIT_SERIES_READER(fit_series_read_nsight_trace);
FIT_SERIES_READER(fit_series_read_nsight_kernels);
FIT_SERIES_READER(fit_series_read_pytorch);
FIT_SERIES_READER(fit_series_read_philly_util);
FIT_SERIES_READER(fit_series_read_lucid_colocate);
FIT_SERIES_READER(fit_series_read_lucid_single);
FIT_SERIES_READER(fit_series_read_rubick_placements);
FIT_SERIES_READER(fit_series_read_rubick_model);
FIT_SERIES_READER(fit_series_read_gavel);
FIT_SERIES_READER(fit_series_read_gavel_pairs);
FIT_SERIES_READER(fit_series_read_gradients);

FIT_C_END

#endif
