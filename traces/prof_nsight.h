/* SPDX-License-Identifier: MIT */
/*
 * The SQLite export of Nsight Systems (`nsys export -t sqlite`), opened read-only and on its guard: views
 * and virtual tables are not read, functions in its schema not run.
 */
#ifndef TRACES_PROF_NSIGHT_H
#define TRACES_PROF_NSIGHT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "traces/series.h"

/* Set name (for messages), the rest zero. */
struct fit_nsight {
	sqlite3 *db;
	unsigned char *image;	/* owned while db is open */
	const char *name;
};

/* A plain file is opened where it is; other sources are read into memory first. FIT_EPARSE: no SQLite
 * file; FIT_EDATA: too large for memory; FIT_EIO. Close in any case. */
int fit_nsight_open(struct fit_nsight *x, const struct fit_series_in *in, struct fit_err *err) FIT_MUST_CHECK;
void fit_nsight_close(struct fit_nsight *x);
/* What SQLite says, as an error of this input; never FIT_OK. */
int fit_nsight_fail(const struct fit_nsight *x, struct fit_err *err);
/* How many of the tables there are; sql_list: their names, quoted, with commas. */
int fit_nsight_tables(struct fit_nsight *x, const char *sql_list, int64_t *n,
		      struct fit_err *err) FIT_MUST_CHECK;
/* The start of the session, ns since 1970 in UTC, where the export has it. */
int fit_nsight_start(struct fit_nsight *x, int64_t *epoch_ns, bool *has, struct fit_err *err) FIT_MUST_CHECK;

#endif
