/* SPDX-License-Identifier: MIT */
/*
 * Logs of monitoring programs as lines of text: what their readers share.
 */
#ifndef TRACES_PROF_TEXT_H
#define TRACES_PROF_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"
#include "traces/series.h"

struct fit_prof_lines {
	struct fit_source *source;
	uint64_t line;		/* of the current line, from 1 */
	struct fit_text text;	/* the current line without its end and without blanks around it */
	bool ended;		/* it had a line feed */
	bool any;		/* some line was not blank */
	uint64_t odd;		/* the first line of words that was passed over ahead of any header row, or 0 */
};

/*
 * The next line that is not blank, or FIT_END; lives until the next call. A byte order mark and the
 * CR of CRLF are dropped. FIT_EPARSE: a Git LFS pointer, or an over-long line (final); NUL or
 * invalid UTF-8 in a line (then text is empty, and the next call goes on: *bad is true).
 */
int fit_prof_line(struct fit_prof_lines *l, bool *bad, struct fit_err *err) FIT_MUST_CHECK;
/* "FILE:LINE:NAME: what" about the current line (NAME may be NULL). */
int fit_prof_fail(const struct fit_prof_lines *l, int code, const char *name, struct fit_err *err,
		  const char *fmt, ...) FIT_PRINTF(5, 6);

#define FIT_PROF_FIELDS_MAX 512
/* Cut at a character, blanks around fields trimmed; or at runs of blanks (cut ' '). The number of
 * fields, of which at most FIT_PROF_FIELDS_MAX are stored. */
size_t fit_prof_cut(struct fit_text line, char cut, struct fit_text *fields);
struct fit_text fit_prof_trim(struct fit_text t);
bool fit_prof_is(struct fit_text t, const char *word);	/* in any case */
bool fit_prof_starts(struct fit_text t, const char *prefix);	/* in any case */

/* Is this how a monitoring program says that it has no value? Empty, -, N/A, ERR!, anything in square
 * brackets, and the words of NVML without them ("Not Supported", "Unknown Error", …). */
bool fit_prof_is_missing(struct fit_text t);
/* Is this line a message of a monitoring program, a driver or a shell, rather than a record? */
bool fit_prof_is_message(struct fit_text line);

/* A number, with one of the units (a comma list, "" for none) behind it or without: FIT_OK, or
 * FIT_EPARSE. *bare: there was no unit. */
int fit_prof_number(struct fit_text t, const char *units, double *v, bool *bare) FIT_MUST_CHECK;

/* GPUs by what identifies them, in order of appearance, and the sample that each is at: for logs that
 * do not number their samples or their GPUs. Zero-initialise. */
struct fit_prof_ticks {
	struct fit_index keys;
	uint64_t *last;		/* the tick at which key i was last seen, plus 1 */
	size_t cap;
	uint64_t tick;
};
void fit_prof_ticks_release(struct fit_prof_ticks *t);
/* A record of that GPU: the number of its sample, from 0, in t->tick: one more than before when the
 * GPU was already seen in the current one; *id: its number by appearance. */
int fit_prof_tick(struct fit_prof_ticks *t, struct fit_text key, int64_t *id) FIT_MUST_CHECK;
/* Is the time of the first sample a calendar time? */
bool fit_prof_has_start(const struct fit_series_params *p);
/* The time of sample number tick: params->time_ns plus so many periods (default_ns where none was
 * given). FIT_EINVAL when it does not fit. */
int fit_prof_tick_time(const struct fit_series_params *p, uint64_t tick, int64_t default_ns,
		       int64_t *ns) FIT_MUST_CHECK;

#endif
