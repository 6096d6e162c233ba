/* SPDX-License-Identifier: MIT */
/*
 * The model gate: may this fitted model go to production? (docs/methods/gate.md)
 *
 * A model is any table of models that goodfit writes; its kind follows from its columns. Each kind has a
 * table of checks. A check looks at one thing, region by region (an application, a term, a column), and says
 * of each what it found, what is allowed, and pass, fail or cannot say. What is allowed, and what a failure
 * does, is the policy's: a table of thresholds (docs/formats/gate.md).
 */
#ifndef FIT_VERIFY_GATE_H
#define FIT_VERIFY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* ---- the policy ---- */

enum fit_gate_action {
	FIT_GATE_STOP,		/* a failure stops the model; without evidence nobody can say */
	FIT_GATE_IF_KNOWN,	/* a failure stops the model; without evidence the check is not held against it */
	FIT_GATE_NOTE,		/* what is found is said, and decides nothing */
	FIT_GATE_OFF		/* the check is left out */
};
extern const char *const fit_gate_action_names[];	/* "stop", "stop-if-known", "note", "off"; NULL */

struct fit_gate_rule {
	const char *check, *model;	/* model "any": of every kind without a row of its own */
	double limit;			/* NAN: the check has none */
	enum fit_gate_action action;
	const char *why;
};
/* What holds where a policy says nothing; ends with check == NULL. data/gate.tsv is the same. */
extern const struct fit_gate_rule fit_gate_defaults[];
size_t fit_gate_n_defaults(void);

struct fit_gate_policy {
	struct fit_gate_rule *rules;	/* the defaults, changed; texts are those of the defaults */
	size_t n;
	char hash[FIT_HASH_HEX];	/* of the input; "" for the defaults */
};
/* operand NULL: the defaults. Rows of the table change the defaults of the same check and model.
 * FIT_EDATA: an unknown check, model or action, a limit where there is none or that is not finite. */
int fit_gate_policy_read(struct fit_gate_policy *p, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_gate_policy_release(struct fit_gate_policy *p);
/* The defaults as a table. */
int fit_gate_policy_write(const struct fit_gate_policy *p, struct fit_writer *w, const struct fit_meta *meta,
			  struct fit_err *err) FIT_MUST_CHECK;

/* ---- findings ---- */

enum fit_gate_verdict { FIT_GATE_PASS, FIT_GATE_FAIL, FIT_GATE_CANNOT, FIT_GATE_NOTED };
extern const char *const fit_gate_verdict_names[];	/* "pass", "fail", "cannot-say", "noted" */

struct fit_gate_finding {
	const char *check;
	char *region;		/* NULL: the whole model */
	double value;		/* NAN: there is none; so for those below */
	double low, high;	/* the interval of the value */
	double limit;
	enum fit_gate_verdict verdict;
	char *reason;
};

/* ---- a run ---- */

/* Columns of the jobs of a replay, in this order: job_id, jct_s, queue_s, gpu_s, isolated_s. */
extern const struct fit_field fit_gate_job_fields[];
#define FIT_GATE_JOB_FIELDS 5

struct fit_gate_inputs {
	const char *model;		/* operand */
	const char *incumbent;		/* the model of the same kind that is in production; NULL: none */
	const char *data;		/* measurements; NULL: none */
	const char *fresh;		/* what the model is asked now; NULL: none */
	/* jobs of two replays (gf-metrics --per-job); NULL: none */
	const char *results, *incumbent_results;
	/* The same as tables with fit_gate_job_fields, borrowed; NULL: read from the operands above. */
	const struct fit_table *results_table, *incumbent_results_table;
	const char *target;		/* the column that is predicted, where the model does not say; NULL */
	const char *const *shapes;	/* "FEATURE=increasing" …, of trees and GA2M; n_shapes */
	size_t n_shapes;
	size_t folds;			/* of the cross-validation, >= 2 */
	size_t draws;			/* of the bootstrap, >= 1 */
	double level;			/* of the intervals, in (0, 1) */
	uint64_t seed;
	int threads;			/* of fits; the result does not depend on it */
};

struct fit_gate {
	const struct fit_gate_policy *policy;
	const char *kind;		/* of the model; "" before it is known */
	struct fit_gate_finding *list;
	size_t n, cap;
	enum fit_gate_verdict verdict;	/* never NOTED */
	struct fit_meta inputs;		/* content hashes: input_model, input_data, … */
};

/* Run all checks of the model's kind. FIT_EDATA, FIT_EPARSE, FIT_ENOTFOUND: an input is no table, no
 * model, of another kind than the incumbent, or lacks a column; FIT_EINVAL: a shape that the model cannot
 * have; a model that is one, and is bad, is no error.
 * Release with fit_gate_release(). */
int fit_gate_run(struct fit_gate *g, const struct fit_gate_policy *policy, const struct fit_gate_inputs *in,
		 struct fit_err *err) FIT_MUST_CHECK;
void fit_gate_release(struct fit_gate *g);

/* The verdict table, the verdict last. */
int fit_gate_write(const struct fit_gate *g, struct fit_writer *w, const struct fit_meta *meta,
		   struct fit_err *err) FIT_MUST_CHECK;
/* The same as JSON, appended to out. */
int fit_gate_print_json(const struct fit_gate *g, const struct fit_meta *meta, struct fit_str *out,
			struct fit_err *err) FIT_MUST_CHECK;

/* Names of the kinds of models, NULL at the end. */
extern const char *const fit_gate_kind_names[];

FIT_C_END

#endif
