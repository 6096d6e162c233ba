/* SPDX-License-Identifier: MIT */
/*
 * The widths that a table of plans gives to each class and epoch (docs/formats/boa.md), for a replay.
 *
 * A class has one plan, or two of which plan 1 gets a share theta of its jobs. Which ones is
 * settled without chance: the n-th arrival of the class, counted from 0, has plan 1 if and only
 * if
 *
 *   floor((n + 1) theta) - floor(n theta) = 1,
 *
 * so that among any number of arrivals in a row the jobs with plan 1 differ from their share by
 * less than one.
 */
#ifndef FIT_REPLAY_BOA_WIDTHS_H
#define FIT_REPLAY_BOA_WIDTHS_H

#include "libfit/base/linkage.h"
#include "libfit/replay/job_class.h"

FIT_C_BEGIN

/* A width: so many GPUs of a type of the cluster. */
struct fit_boa_gpus {
	int64_t gpus;
	int32_t type;
};

struct fit_boa_choice {
	double theta;			/* share of plan 1 */
	size_t at;			/* plan p of epoch e: widths[at + p * n_epochs + e] */
	bool planned;
};

struct fit_boa_widths {
	const struct fit_job_classes *classes;	/* borrowed */
	struct fit_boa_gpus *widths;	/* both plans of all epochs of all classes; 0: the class has no plan */
	struct fit_boa_choice *choices;	/* by class */
	bool free_start;		/* the first start costs no delay (metadata charge_start) */
	double budget;			/* of the plan; NAN: not said */
	char hash[FIT_HASH_HEX];
};

/* Read plans. FIT_EDATA: a GPU type that the cluster does not have; a class or a number of epochs other
 * than that of the speedups; a width that the speedups do not know as usable. Release with
 * fit_boa_widths_release(). */
int fit_boa_widths_read(struct fit_boa_widths *w, const struct fit_job_classes *classes,
			const struct fit_cluster *cluster, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_widths_release(struct fit_boa_widths *w);

/* Which plan the n-th arrival of a class has. */
int fit_boa_widths_plan(double theta, int64_t n);
static inline struct fit_boa_gpus fit_boa_width(const struct fit_boa_widths *w, size_t class_no, int plan,
						int64_t epoch)
{
	const struct fit_boa_choice *c = &w->choices[class_no];

	return w->widths[c->at + (size_t)(plan * w->classes->list[class_no].n_epochs + epoch)];
}
/* The largest width of a class on GPUs of a type; 0: it has none there. */
int64_t fit_boa_widths_most(const struct fit_boa_widths *w, size_t class_no, int32_t type);

FIT_C_END

#endif
