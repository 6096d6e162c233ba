/* SPDX-License-Identifier: MIT */
/*
 * The parts of gf-throughput: observations read into groups, one for each model (throughput_data.c), models
 * fitted to them (throughput_models.c), and predictions (throughput_predict.c).
 */
#ifndef TOOLS_THROUGHPUT_PARTS_H
#define TOOLS_THROUGHPUT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/model/throughput.h"
#include "tools/row_tables.h"

#define THROUGHPUT_MAX_BY 16

struct throughput_options {
	int objective;
	int64_t starts, max_iter, skip_bad;
	bool csv, residuals;
	int model;		/* 1: of execution plans (throughput_rubick.c) */
	const char *profile, *predict, *links;
	struct cli_list by, app, start, lower, upper;
};

/* The rows that one model is fitted to. */

struct throughput_group {
	char **key;		/* a text for each --by column, NULL: missing */
	struct fit_throughput_obs *obs;
	size_t n, cap;
};

struct throughput_data {
	const char *by[THROUGHPUT_MAX_BY];
	size_t n_by;
	char *by_text;		/* by[] points into it */
	struct throughput_group *groups;
	size_t n, cap;
	struct fit_index index;
	struct fit_meta inputs;
	char *name;		/* of the first input, for messages */
	uint64_t bad;
};

/* Columns of an input; -1: not there. */

struct throughput_columns {
	int nodes, replicas, placement, bsz, step, sync, weight, accum;
	int by[THROUGHPUT_MAX_BY];
};

/* Find them. FIT_ENOTFOUND names one that is missing; measured: step times are needed, need_sync:
 * synchronisation times as well. */
int throughput_find_columns(const struct fit_input *in, const struct throughput_data *d, bool measured,
			    bool need_sync, struct throughput_columns *c, struct fit_err *err) FIT_MUST_CHECK;
/* The configuration, and where measured the times, of the current row. */
int throughput_observation(const struct fit_input *in, const struct throughput_columns *c, bool measured,
			   bool need_sync, struct fit_throughput_obs *o, struct fit_err *err) FIT_MUST_CHECK;
/* A bad record: all are named, and none is accepted, unless --skip-bad says how many may be. */
int throughput_bad_record(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
			  const struct fit_input *in, struct fit_err *err) FIT_MUST_CHECK;

/* Read observations into groups. role: what the input is in the metadata, "" for the operand,
 * NULL: nothing. */
int throughput_read(struct cli *cli, const struct throughput_options *o, const char *operand,
		    const char *role, struct throughput_data *d, struct fit_err *err) FIT_MUST_CHECK;
/* Those of a profile store: both tables; the second may be missing. */
int throughput_read_profile(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
			    struct fit_err *err) FIT_MUST_CHECK;
void throughput_release(struct throughput_data *d);

/* Begin a table whose first columns are those of --by. */
int throughput_begin(const struct cli *cli, struct fit_writer *w, const struct throughput_data *d,
		     const struct fit_field *tail, size_t n_tail, struct fit_err *err) FIT_MUST_CHECK;
/* Write the whole table of models or residuals; of predictions. */
int throughput_fit_all(struct cli *cli, const struct throughput_options *o,
		       const struct fit_throughput_params *p, const struct throughput_data *d,
		       struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;
int throughput_predict_all(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
			   struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;

/* --model rubick, all of it (throughput_rubick.c). An exit status. */
int throughput_rubick(struct cli *cli, const struct throughput_options *o);

#endif
