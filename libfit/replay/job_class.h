/* SPDX-License-Identifier: MIT */
/*
 * Classes of jobs with speedup functions: what a job of a class does, epoch by epoch, and how
 * fast on how many GPUs. Made from the table of speedups and the table of classes
 * (docs/formats/boa.md).
 */
#ifndef FIT_REPLAY_JOB_CLASS_H
#define FIT_REPLAY_JOB_CLASS_H

#include "libfit/base/linkage.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/speedup.h"

FIT_C_BEGIN

struct fit_job_class {
	const char *name;
	int64_t n_epochs;
	const double *start;		/* work done before epoch e; [n_epochs] is all of it */
	const struct fit_speedup_epoch *epochs;
	const struct fit_width *widths;	/* of all classes */
	int64_t restart_ns;		/* no progress for so long after a change of width */
};

struct fit_job_classes {
	struct fit_speedups speedups;
	struct fit_boa_classes table;	/* empty without one */
	struct fit_job_class *list;	/* in the order of speedups.classes */
	size_t n;
	double *start;
};

/* classes: NULL: no class has a restart delay. FIT_EDATA: several GPU types, a class that is in
 * one table only. Release with fit_job_classes_release(). */
int fit_job_classes_read(struct fit_job_classes *c, const char *speedups, const char *classes,
			 struct fit_err *err) FIT_MUST_CHECK;
void fit_job_classes_release(struct fit_job_classes *c);
/* The class of that name, or NULL. */
const struct fit_job_class *fit_job_classes_find(const struct fit_job_classes *c, struct fit_text name);

/* Work a second in an epoch on so many GPUs; 0: not usable. */
double fit_job_class_speed(const struct fit_job_class *c, int64_t epoch, int64_t gpus);
/* Seconds from (epoch, work) to the end on so many GPUs, restart delays apart; infinite where
 * they are not usable. */
double fit_job_class_left_s(const struct fit_job_class *c, int64_t epoch, double work, int64_t gpus);

FIT_C_END

#endif
