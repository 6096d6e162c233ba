/* SPDX-License-Identifier: MIT */
/*
 * The jobs of gf-pgns, a file each: estimates from logs (pgns_estimate.c), curves over training
 * (pgns_fit.c), predictions from curves (pgns_predict.c) and against runs (pgns_compare.c). Each writes the
 * rows of one table; the caller opens, ends and closes it.
 */
#ifndef TOOLS_PGNS_PARTS_H
#define TOOLS_PGNS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/row_tables.h"

struct pgns_options {
	const char *profile, *curves;
	int64_t window, init_batch, from, skip_bad;
	double smooth, penalty;
	int by;
	bool by_epoch, pool, csv;
	struct cli_list app;
};

enum { PGNS_BY_APP, PGNS_BY_BATCH, PGNS_BY_EPOCH };

int pgns_estimate(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
		  struct fit_err *err) FIT_MUST_CHECK;
int pgns_fit(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
	     struct fit_err *err) FIT_MUST_CHECK;
int pgns_predict(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
		 struct fit_err *err) FIT_MUST_CHECK;
int pgns_compare(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
		 struct fit_err *err) FIT_MUST_CHECK;

/* Begin a table that is made of one input; hash NULL: known at its end only. */
int pgns_begin(const struct cli *cli, struct fit_writer *w, const char *role, const char *hash,
	       const struct fit_field *fields, size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* A whole number from least to 1e9 in column i of the row; missing below least: there must be one. */
int pgns_whole(const struct fit_input *in, int i, int64_t least, int64_t missing, int64_t *v,
	       struct fit_err *err) FIT_MUST_CHECK;

#endif
