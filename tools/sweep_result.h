/* SPDX-License-Identifier: MIT */
/*
 * Results of a sweep: whether they are there, and how they get there. A result is the table of gf-metrics
 * with the metadata key sweep_hash, the hash of its row in the plan; it appears complete or not at all.
 */
#ifndef TOOLS_SWEEP_RESULT_H
#define TOOLS_SWEEP_RESULT_H

#include "libfit/table/table.h"
#include "tools/sweep_plan.h"

enum sweep_state {
	SWEEP_FINISHED,
	SWEEP_FAILED,		/* the log says so */
	SWEEP_BROKEN,		/* a result that is cut, no table of metrics, or of another row */
	SWEEP_STARTED,		/* a log without an end: it runs now, or whatever ran it was ended */
	SWEEP_WAITING,
	SWEEP_N_STATES
};
extern const char *const sweep_state_names[];

/* Read a finished result: columns metric, value, unit. FIT_ENOTFOUND: there is none; FIT_EDATA and others:
 * it is broken. */
int sweep_result_read(const struct sweep_row *row, struct fit_table *t, struct fit_err *err) FIT_MUST_CHECK;
/* How far a row is; said gets the reason for failed and broken, else "". */
enum sweep_state sweep_row_state(const struct sweep_row *row, char *said, size_t cap);
/* The name of the log beside a result, of the heap; NULL: out of memory. */
char *sweep_log_of(const char *result);

/* Make the folders above a file. FIT_EIO. */
int sweep_make_folders(const char *file, struct fit_err *err) FIT_MUST_CHECK;
/* Is a file that was prepared whole? Tables are read to their end, a store must open and have a table; of
 * others it is not known. FIT_EDATA and others with the fault. */
int sweep_input_check(const char *file, struct fit_err *err) FIT_MUST_CHECK;
/* Copy a finished file to where it belongs: to a name of its own there, renamed when all is written. lasting:
 * not before it is on the disk. FIT_EIO. */
int sweep_place(const char *from, const char *to, bool lasting, struct fit_err *err) FIT_MUST_CHECK;
/* Make the result of a row of the metrics in the file from, by way of the file between. FIT_EDATA: these
 * are no metrics. */
int sweep_result_place(const struct sweep_row *row, const char *from, const char *between,
		       struct fit_err *err) FIT_MUST_CHECK;

/* Rows as the user names them: numbers from 1 and ranges A:B, A:, :B, separated by commas. Sets
 * chosen[row - 1]; FIT_EINVAL. text NULL: all. */
int sweep_rows_choose(const char *text, size_t n_rows, bool *chosen, struct fit_err *err) FIT_MUST_CHECK;
/* "row 3 (policy=srtf, seed=7)" for messages. */
void sweep_row_name(const struct sweep_plan *p, size_t row, char *name, size_t cap);

#endif
