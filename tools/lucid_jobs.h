/* SPDX-License-Identifier: MIT */
/* gf-lucid features and estimate: a jobs table with what was known of earlier jobs at each submission. */
#ifndef TOOLS_LUCID_JOBS_H
#define TOOLS_LUCID_JOBS_H

#include "libfit/model/job_history.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"

/* Columns that are read, in this order; all but id, submission and GPUs may be absent. */
enum lucid_column { LJ_ID, LJ_USER, LJ_GROUP, LJ_NAME, LJ_APP, LJ_DATASET, LJ_BATCH, LJ_AMP, LJ_SUBMIT,
		    LJ_START, LJ_END, LJ_DURATION, LJ_GPUS, LJ_GPU_TYPE, LJ_STATUS, LJ_COLUMNS };
extern const struct fit_field lucid_job_fields[LJ_COLUMNS];

struct lucid_calendar {
	int month, day, weekday;	/* weekday 1 (Monday) to 7; all 0 without a calendar */
	int hour;			/* 0 to 23, from the trace origin where there is no calendar */
};

struct lucid_jobs {
	struct fit_table t;
	size_t n;
	struct fit_history_job *jobs;	/* texts borrowed from t */
	struct fit_history_row *rows;
	struct fit_name_clusters names;
	int64_t origin_day;		/* days from 1970-01-01; INT64_MIN: no calendar */
};

int lucid_jobs_read(struct lucid_jobs *js, const char *operand, double name_distance,
		    struct fit_err *err) FIT_MUST_CHECK;
/* The day of the metadata `origin`, from 1970-01-01; INT64_MIN: there is none. */
int64_t lucid_jobs_origin(const struct fit_meta *m);
void lucid_jobs_release(struct lucid_jobs *js);
/* A warning when there are none, or none of a known duration, of which alone something can be learned. */
void lucid_jobs_warn(const struct cli *cli, const struct lucid_jobs *js);
struct lucid_calendar lucid_jobs_calendar(const struct lucid_jobs *js, int64_t submit_ns);
/* s NULL: no name. */
struct fit_text lucid_jobs_name_group(const struct lucid_jobs *js, size_t i);

struct lucid_feature_options { double name_distance; };
extern const struct cli_option lucid_features_options[];
void lucid_features_defaults(void *given);
int lucid_features(struct cli *cli, void *given);	/* given: struct lucid_feature_options; the exit status */

#endif
