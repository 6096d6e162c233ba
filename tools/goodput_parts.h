/* SPDX-License-Identifier: MIT */
/*
 * The parts of gf-goodput: jobs, which are a throughput model with gradient statistics and limits
 * (goodput_jobs.c), and the rows of allocations under each (goodput_rows.c).
 */
#ifndef TOOLS_GOODPUT_PARTS_H
#define TOOLS_GOODPUT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/model/goodput.h"
#include "libfit/model/lr_rule.h"
#include "libfit/model/profile.h"
#include "libfit/model/theta.h"
#include "tools/row_tables.h"

struct goodput_options {
	const char *models, *stats, *profile, *nodes, *gpus, *epoch, *lr_rule;
	double grad_sqr, grad_var, phi;
	int64_t init_batch, max_batch, min_local, max_local, max_accum, fixed, stats_batch,
		per_node;
	bool at, strict, csv;
	struct cli_list app;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct goodput_options, field)
/* One set of statistics and limits, and what it gives on one GPU. */
struct goodput_job {
	char *app; /* NULL: no name */
	bool has_epoch, has_progress;
	int64_t epoch;
	double progress;
	struct fit_goodput model;
	double base; /* best goodput on one GPU; 0: none */
};

struct goodput_data {
	struct fit_theta_list models;
	struct fit_profile *profile;
	struct goodput_job *jobs;
	size_t n, cap;
	int64_t *gpus, *nodes, *epochs;
	size_t n_gpus, n_nodes, n_epochs;
	const struct fit_lr_rule *rule; /* NULL: none, or all of them */
	struct fit_meta inputs;
	uint64_t not_estimable; /* rows of the statistics left out */
};

/* Read the models, and make d->jobs of the statistics that the options name.
 * FIT_EINVAL: a limit is missing. */
int goodput_make_jobs(const struct goodput_options *o, struct goodput_data *d,
		      struct fit_err *err) FIT_MUST_CHECK;
void goodput_release(struct goodput_data *d);

/* Write the table of the allocations in FILE, or of --gpus and --nodes. */
int goodput_from_file(struct cli *cli, const struct goodput_options *o, struct goodput_data *d,
		      struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;
int goodput_from_lists(struct cli *cli, const struct goodput_options *o, struct goodput_data *d,
		       struct fit_writer *w, struct fit_err *err) FIT_MUST_CHECK;

#endif
