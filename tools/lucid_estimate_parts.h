/* SPDX-License-Identifier: MIT */
/* The two files of gf-lucid estimate: models and predictions, and what is written of them. */
#ifndef TOOLS_LUCID_ESTIMATE_PARTS_H
#define TOOLS_LUCID_ESTIMATE_PARTS_H

#include "libfit/model/ga2m.h"
#include "tools/lucid_estimate.h"
#include "tools/lucid_jobs.h"

/* What a job's prediction is from. */
enum estimate_source { FROM_MODEL, FROM_GROUP_SIZE, FROM_SIZE, FROM_ALL, FROM_NOTHING };

struct estimate {
	const struct lucid_estimate_options *o;
	struct lucid_jobs js;
	int64_t *predicted_ns;		/* by row */
	unsigned char *source;		/* enum estimate_source, by row */
	const struct fit_history_job **order;	/* by submission, then id */
	struct fit_ga2m model;		/* the last one */
	double top;			/* predictions of it stop at this target */
	double factor;			/* and are so much more than it says */
	size_t n_models;
};

/* The status; each writes a table of its own. */
int estimate_write_jobs(const struct cli *cli, const struct estimate *e, struct fit_err *err) FIT_MUST_CHECK;
int estimate_write_accuracy(const struct cli *cli, const struct estimate *e,
			    struct fit_err *err) FIT_MUST_CHECK;
int estimate_write_model(const struct cli *cli, const struct estimate *e, struct fit_err *err) FIT_MUST_CHECK;

#endif
