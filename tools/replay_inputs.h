/* SPDX-License-Identifier: MIT */
/*
 * What gf-replay reads: the cluster, what is true of applications, what is believed; and what it says of
 * the jobs that were left out.
 */
#ifndef TOOLS_REPLAY_INPUTS_H
#define TOOLS_REPLAY_INPUTS_H

#include "libfit/model/boa_learn.h"
#include "libfit/model/rubick_table.h"
#include "libfit/replay/allocations.h"
#include "libfit/replay/boa_widths.h"
#include "libfit/replay/engine.h"
#include "tools/common/cli.h"
#include "tools/replay_share.h"

/* Operands; NULL: not given. */
struct replay_input_options {
	const char *cluster;		/* a specification, or a table */
	struct cli_list profiles;	/* [TYPE=]STORE */
	const char *models, *speedups, *classes, *plan, *believed, *allocations, *plan_times, *rates;
	bool models_of_plans;		/* models are those of execution plans */
	double budget;			/* 0: none */
	struct cli_list prices;		/* TYPE=X: what the budget pays for */
	int routing;			/* what keeps its GPU type: 0 an epoch, 1 a job; -1: as gf-boa has it */
	bool virtual_clusters;
	bool with_switches;		/* the placement looks at what a cluster table says of switches */
};

/* The words of routing; ends with NULL. */
extern const char *const replay_routings[];

/* Zero-initialise; release with replay_inputs_release(). share is opened by its own function. */
struct replay_inputs {
	struct fit_profile_set profiles;
	struct fit_theta_list models;
	struct fit_partitions partitions;
	struct fit_job_classes classes;
	struct fit_boa_widths widths;
	struct fit_plan_times plan_times;
	struct fit_rubick_models plan_models;
	struct fit_allocations allocations;
	struct fit_boa_learner *learner;
	struct fit_step_rates rates;
	struct replay_share share;
};

/* The partitions. FIT_EINVAL: the specification is none, in a sentence for the command line. */
int replay_inputs_cluster(struct replay_inputs *in, const struct replay_input_options *o,
			  struct fit_err *err) FIT_MUST_CHECK;
/* What is true, and what is believed. */
int replay_inputs_models(struct replay_inputs *in, const struct replay_input_options *o,
			 struct fit_err *err) FIT_MUST_CHECK;
/* How jobs are read for a replay by p of these inputs, which outlive it; what depends on a tool is 0. */
struct fit_jobs_params replay_inputs_jobs(const struct replay_inputs *in, const struct fit_replay_params *p);
/* Warnings: which rows and jobs are left out of the jobs table. */
void replay_inputs_tell_left_out(const struct cli *cli, const struct fit_jobs *jobs);
/* Metadata of the log: the tool, and the hashes of all that was read. */
int replay_inputs_describe(const struct replay_inputs *in, const struct cli *cli, const struct fit_jobs *jobs,
			   struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;
void replay_inputs_release(struct replay_inputs *in);

#endif
