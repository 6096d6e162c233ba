/* SPDX-License-Identifier: MIT */
/*
 * The tables of a profile store (docs/formats/profile.md): making, checking, reading and writing
 * them. profile.h answers questions about a loaded profile; this header is for those that make one.
 *
 * A maker fills the first four tables in any row order, calls fit_profile_tables_prepare(), which
 * sorts and checks them and triangulates, and then writes all seven.
 */
#ifndef FIT_MODEL_PROFILE_STORE_H
#define FIT_MODEL_PROFILE_STORE_H

#include "libfit/base/linkage.h"
#include "libfit/model/profile.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

enum fit_profile_kind {
	FIT_PROFILE_APPS,
	FIT_PROFILE_PLACEMENTS,
	FIT_PROFILE_SCALABILITY,
	FIT_PROFILE_VALIDATION,
	FIT_PROFILE_POINTS,	/* the last three are derived */
	FIT_PROFILE_SIMPLICES,
	FIT_PROFILE_LIFT,
	FIT_PROFILE_KINDS
};

/* Columns by number, for each kind. Column 0 is always `app`. */
enum { FIT_APPS_INIT_BATCH = 1, FIT_APPS_MAX_BATCH, FIT_APPS_MIN_LOCAL, FIT_APPS_MAX_LOCAL,
       FIT_APPS_EPOCHS, FIT_APPS_RESTART, FIT_APPS_MAX_REPLICAS, FIT_APPS_FIXED_BATCH };
enum { FIT_PLACE_PLACEMENT = 1, FIT_PLACE_LOCAL, FIT_PLACE_STEP, FIT_PLACE_SYNC };
/* scalability and points */
enum { FIT_SCALE_NODES = 1, FIT_SCALE_REPLICAS, FIT_SCALE_LOCAL, FIT_SCALE_STEP, FIT_SCALE_SYNC };
enum { FIT_VALID_BATCH = 1, FIT_VALID_EPOCH, FIT_VALID_PROGRESS, FIT_VALID_ITERATION,
       FIT_VALID_METRIC, FIT_VALID_SQR, FIT_VALID_VAR };
enum { FIT_SIMPLEX_V = 1, FIT_SIMPLEX_N = 5, FIT_SIMPLEX_DEGENERATE = 9, FIT_SIMPLEX_EQ = 10 };
enum { FIT_LIFT_SCALE = 1, FIT_LIFT_SHIFT };
#define FIT_PROFILE_COLUMNS_MAX 15

struct fit_profile_tables {
	struct fit_table t[FIT_PROFILE_KINDS];
};

/* The rows of one application (row i of /apps) in each table: [at, at + n). */
struct fit_profile_rows {
	size_t at[FIT_PROFILE_KINDS], n[FIT_PROFILE_KINDS];
};

/* "apps", "placements", …: the name in a stream, and with a '/' in front the path in a store. */
const char *fit_profile_table_name(enum fit_profile_kind kind);
/* The columns of a table, in order. */
const struct fit_field *fit_profile_fields(enum fit_profile_kind kind, size_t *n);

/* Seven empty tables with their columns. */
int fit_profile_tables_init(struct fit_profile_tables *t, struct fit_err *err) FIT_MUST_CHECK;
void fit_profile_tables_release(struct fit_profile_tables *t);

/*
 * Sort the first four tables (apps by name; placements by placement, local_bsz; validation by
 * batch_size, epoch; scalability keeps the order given, which decides ties of the triangulation),
 * check them and make the last three. FIT_EDATA names table, row and column of the first fault.
 * An application without scalability rows gets no triangulation: it then has no step times on five
 * nodes and more.
 */
int fit_profile_tables_prepare(struct fit_profile_tables *t, struct fit_err *err) FIT_MUST_CHECK;

/* Do the first `kinds` tables hold what docs/formats/profile.md says? *rows (free it) gets one
 * entry an application. FIT_EDATA. */
int fit_profile_tables_check(const struct fit_profile_tables *t, int kinds,
			     struct fit_profile_rows **rows, struct fit_err *err) FIT_MUST_CHECK;

/* All tables of a store, unchecked. FIT_ENOTFOUND when one is missing. hash as in profile.h. */
int fit_profile_tables_read(struct fit_profile_tables *t, const char *store, char *hash,
			    struct fit_err *err) FIT_MUST_CHECK;
/* All seven tables into a store, beside what else it holds. */
int fit_profile_tables_write(const struct fit_profile_tables *t, const char *store,
			     struct fit_err *err) FIT_MUST_CHECK;

/* A profile over prepared tables. The profile takes them over (t is empty afterwards), also when it
 * fails. FIT_EDATA when they contradict each other. */
int fit_profile_from_tables(struct fit_profile **p, struct fit_profile_tables *t,
			    struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
