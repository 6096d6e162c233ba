/* SPDX-License-Identifier: MIT */
/*
 * The verifier: reads an event log (docs/formats/event-log.md) and says, rule by rule, whether it
 * can be true. It knows the jobs table, the application profile and what docs/methods/verify.md
 * says about the policies; it shares no code with libfit/replay.
 *
 * Use: new, jobs, (keep_results), log, (metrics, per_job), then read the verdicts.
 *
 *	fit_verifier_new(&v, &err);
 *	fit_verifier_jobs(v, "jobs.tsv", &err);
 *	fit_verifier_profile(v, "profiles.h5", &err);		with a profile only
 *	fit_verifier_log(v, "log.tsv", &err);
 *	for (size_t i = 0; i < fit_verifier_n_rules(v); i++)
 *		... fit_verifier_verdict(v, i) ...
 *
 * A violation is a result, not an error: the functions fail on input that is not a table, on lack
 * of memory, and on a jobs table that no log can be held against (FIT_EDATA). The log is read in
 * one pass; memory is some 60 bytes a job, plus about 600 for each job that is in the system (2000
 * under Pollux).
 */
#ifndef FIT_VERIFY_VERIFY_H
#define FIT_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_verifier;

/* NULL in *v and FIT_ENOMEM on failure. */
int fit_verifier_new(struct fit_verifier **v, struct fit_err *err) FIT_MUST_CHECK;
void fit_verifier_free(struct fit_verifier *v);		/* NULL is fine */

/* Read the jobs table (any operand). FIT_EDATA: a duplicate id, a negative time or GPU count. */
int fit_verifier_jobs(struct fit_verifier *v, const char *operand,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Load a profile store, "STORE" or "TYPE=STORE" for each GPU type; after jobs, before log.
 * FIT_ENOTFOUND: an application of the jobs table
 * is not in it. */
int fit_verifier_profile(struct fit_verifier *v, const char *store,
			 struct fit_err *err) FIT_MUST_CHECK;
/* Read the throughput models that jobs started from; after jobs, before log. */
int fit_verifier_models(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Read the speedups and, unless NULL, the classes (docs/formats/boa.md) of a log that was made with
 * them; after jobs, before log. FIT_EDATA. */
int fit_verifier_speedups(struct fit_verifier *v, const char *speedups, const char *classes,
			  struct fit_err *err) FIT_MUST_CHECK;
/* What widths were computed from first, where the log computed them itself and it was not the
 * speedups; before log, and
 * it has to live until then. */
void fit_verifier_believed(struct fit_verifier *v, const char *operand);
/* Read the measured rates of a log that was made with them (docs/formats/gavel.md); likewise. */
int fit_verifier_rates(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Read the shares that were written beside a log of Gavel's policies; after jobs, before log. FIT_EDATA. */
int fit_verifier_shares(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Read the plans of a log of policy boa; likewise. */
int fit_verifier_plan(struct fit_verifier *v, const char *plan, struct fit_err *err) FIT_MUST_CHECK;
/* Read the times of execution plans of a log that was made with them; likewise. */
int fit_verifier_plan_times(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Read the allocations of a log of policy follow; likewise. FIT_EDATA: a job of none of the jobs table. */
int fit_verifier_allocations(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Read the GPU times that a log of tiresias-g or gittins has its indices from; before log. FIT_EDATA. */
int fit_verifier_gpu_times(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* Load what was measured of jobs alone and in pairs; before jobs. Needed where jobs share GPUs. */
int fit_verifier_colocation(struct fit_verifier *v, const char *configs, const char *pairs,
			    struct fit_err *err) FIT_MUST_CHECK;
/* Keep what a per-job metrics table is compared with (about 64 bytes a job); before log. */
void fit_verifier_keep_results(struct fit_verifier *v);

/* Read and judge the log, once. FIT_EINVAL: it was made with a profile, models or measurements
 * of shared GPUs and none were loaded;
 * FIT_EDATA: it was, and a job has no application. */
int fit_verifier_log(struct fit_verifier *v, const char *operand,
		     struct fit_err *err) FIT_MUST_CHECK;

/* Compare a table of gf-metrics (docs/formats/metrics.md) with the events; after log, and only when
 * fit_verifier_keep_results() was called before it. */
int fit_verifier_metrics(struct fit_verifier *v, const char *operand,
			 struct fit_err *err) FIT_MUST_CHECK;
int fit_verifier_per_job(struct fit_verifier *v, const char *operand,
			 struct fit_err *err) FIT_MUST_CHECK;

/* Keep the fitness of decisions (32 bytes each), for a log of pollux; before log. */
void fit_verifier_keep_fitness(struct fit_verifier *v);
/* Compare what gf-replay --fitness wrote (columns time_s, jobs, fitness) with what the decisions that left
 * rows come to, by the models as rebuilt; after log, likewise. FIT_EDATA: no row is of such a decision. */
int fit_verifier_fitness(struct fit_verifier *v, const char *operand, struct fit_err *err) FIT_MUST_CHECK;

enum fit_verdict_kind {
	FIT_VERDICT_OK,
	FIT_VERDICT_VIOLATED,
	FIT_VERDICT_NOT_APPLICABLE	/* nothing in this log that the rule is about */
};

struct fit_verdict {
	const char *rule;		/* stable name, such as "gpu-exclusive" */
	const char *meaning;		/* one line */
	enum fit_verdict_kind kind;
	int64_t checked;		/* how often the rule was tested */
	int64_t violations;
	const char *detail;		/* the first violation, or NULL; lives as long as v */
};

size_t fit_verifier_n_rules(const struct fit_verifier *v);
struct fit_verdict fit_verifier_verdict(const struct fit_verifier *v, size_t i);
/* "ok", "violated", "not-applicable". */
const char *fit_verdict_name(enum fit_verdict_kind kind);
/* Hashes of speedups, classes and plans, likewise. */
const char *fit_verifier_hash_speedups(const struct fit_verifier *v);
const char *fit_verifier_hash_classes(const struct fit_verifier *v);
const char *fit_verifier_hash_rates(const struct fit_verifier *v);
const char *fit_verifier_hash_plan(const struct fit_verifier *v);
const char *fit_verifier_hash_allocations(const struct fit_verifier *v);
const char *fit_verifier_hash_gpu_times(const struct fit_verifier *v);
/* Hashes of what was read ("" when it was not), for metadata. */
const char *fit_verifier_hash_jobs(const struct fit_verifier *v);
const struct fit_profile_set *fit_verifier_profiles(const struct fit_verifier *v);
/* "" without models. */
const char *fit_verifier_hash_models(const struct fit_verifier *v);
const char *fit_verifier_hash_log(const struct fit_verifier *v);

FIT_C_END

#endif
