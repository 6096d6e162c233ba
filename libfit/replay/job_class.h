/* SPDX-License-Identifier: MIT */
/*
 * Classes of jobs with speedup functions: what a job of a class does, epoch by epoch, and how
 * fast on how many GPUs of which type. Made from the table of speedups and the table of classes
 * (docs/formats/boa.md). Types are numbered as those of the cluster.
 */
#ifndef FIT_REPLAY_JOB_CLASS_H
#define FIT_REPLAY_JOB_CLASS_H

#include "libfit/base/linkage.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/speedup.h"
#include "libfit/replay/cluster.h"

FIT_C_BEGIN

struct fit_job_class {
	const char *name;
	int64_t n_epochs;
	const double *start;		/* work done before epoch e; [n_epochs] is all of it */
	const struct fit_speedup_epoch *epochs;
	const struct fit_width *widths;	/* of all classes */
	const int32_t *types;		/* by type of the cluster: its number in the speedups */
	const int64_t *restart_ns;	/* by type of the cluster: no progress for so long after a change of width
					 * that leads there */
};

struct fit_job_classes {
	struct fit_speedups speedups;
	struct fit_boa_classes table;	/* empty without one */
	struct fit_job_class *list;	/* in the order of speedups.classes */
	size_t n;
	double *start;
	int32_t *types, n_types;	/* of the cluster, as above */
	int64_t *restart_ns;
};

/* classes: NULL: no class has a restart delay. One type in the speedups and one in the cluster are the
 * same, whatever their names; else they go together by name. FIT_EDATA: a type of the cluster without
 * speedups, a class that is in one table only. Release with fit_job_classes_release(). */
int fit_job_classes_read(struct fit_job_classes *c, const char *speedups, const char *classes,
			 const struct fit_cluster *cluster, struct fit_err *err) FIT_MUST_CHECK;
void fit_job_classes_release(struct fit_job_classes *c);
/* The class of that name, or NULL. */
const struct fit_job_class *fit_job_classes_find(const struct fit_job_classes *c, struct fit_text name);

/* The type of the cluster that a table calls so; FIT_ANY_TYPE: the cluster has none. */
int32_t fit_job_classes_type(const struct fit_job_classes *c, const struct fit_cluster *cluster,
			     const char *name);

/* Work a second in an epoch on so many GPUs of a type; 0: not usable. */
double fit_job_class_speed(const struct fit_job_class *c, int64_t epoch, int32_t type, int64_t gpus);
/* Seconds from (epoch, work) to the end on so many GPUs, restart delays apart; infinite where
 * they are not usable. FIT_ANY_TYPE: of the first type. */
double fit_job_class_left_s(const struct fit_job_class *c, int64_t epoch, double work, int32_t type,
			    int64_t gpus);

FIT_C_END

#endif
