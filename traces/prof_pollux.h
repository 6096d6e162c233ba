/* SPDX-License-Identifier: MIT */
/*
 * Application folders of the Pollux simulator (OSDI'21 artifact): measured step times and training
 * runs of one application, as CSV (docs/formats/profile.md).
 *
 *   placements.csv      placement,local_bsz,step_time,sync_time         up to four nodes
 *   scalability.csv     num_nodes,num_replicas,local_bsz,step_time,sync_time    five nodes and more
 *   placements-<T>.csv, scalability-<T>.csv     the same on GPUs of type T; the second one then has
 *                       rows of any number of nodes, of which those that the first one has are
 *                       passed over
 *   validation-<B>.csv  progress,iteration,metric,grad_sqr,grad_var     one training run at total
 *                       batch size B, a row an epoch
 *
 * Faults, each as FILE:LINE:FIELD where there is a line: a file that is missing, a time that is not
 * positive, sync_time not under step_time, a placement with other digits than 1 to 9 or more than
 * four, a key that was there before, progress or iteration that does not increase, runs with
 * different numbers of epochs.
 */
#ifndef TRACES_PROF_POLLUX_H
#define TRACES_PROF_POLLUX_H

#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* What the measurements of an application cannot say. */
struct fit_pollux_override {
	const char *app;
	int64_t max_local_bsz;		/* 0: the largest measured one */
	int64_t max_replicas;		/* 0: no limit */
	int64_t fixed_batch;		/* 0: none */
};

/* The overrides of the reference simulator (its applications.py and policies), n of them. */
const struct fit_pollux_override *fit_pollux_overrides(size_t *n);

struct fit_pollux_options {
	/* max_local_bsz of further applications; these win over the table above */
	const struct fit_pollux_override *max_local;
	size_t n_max_local;
	/* placements-TYPE.csv and scalability-TYPE.csv are read, as in the folders of Sia (SOSP'23);
	 * NULL: those without a type */
	const char *gpu_type;
	/* called for each folder that is passed over because it has no placements.csv; may be NULL */
	void (*passed_over)(void *arg, const char *folder);
	void *arg;
};

/* Append to tables with the columns of /apps, /placements, /scalability and /validation, in the
 * order of docs/formats/profile.md. */
struct fit_pollux_tables {
	struct fit_table *apps, *placements, *scalability, *validation;
};

/*
 * Read one application's folder (it has a placements.csv; its name is the application's) or a
 * folder of them, in the order of their names. hash gets a hash of all records and of the names of
 * applications and files.
 * FIT_EIO when something cannot be opened, FIT_EPARSE and FIT_EDATA for faults, FIT_EINVAL when an
 * option names an unknown application or a size that was not measured.
 */
int fit_pollux_read_profiles(const char *folder, const struct fit_pollux_options *options,
			     const struct fit_pollux_tables *out, char hash[FIT_HASH_HEX],
			     struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
