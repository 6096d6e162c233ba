/* SPDX-License-Identifier: MIT */
/* Policies of the model gate: the defaults, and tables that change them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/gate.h"

const char *const fit_gate_action_names[] = { "stop", "stop-if-known", "note", "off", NULL };

#define NONE ((double)NAN)

const struct fit_gate_rule fit_gate_defaults[] = {
	{ "sound", "any", NONE, FIT_GATE_STOP, "what no reader of models accepts cannot be used" },
	{ "stated", "throughput", 20, FIT_GATE_IF_KNOWN,
	  "percent; gf-throughput warns above it; Pollux publishes 10 on average over six applications" },
	{ "stated", "noise", 0.5, FIT_GATE_IF_KNOWN,
	 "log; a factor of 1.65, while phi changes tenfold in training" },
	{ "parameters", "any", NONE, FIT_GATE_STOP,
	 "signs and domains are those of times, speeds and noise" },
	{ "monotone", "throughput", 0.02, FIT_GATE_STOP,
	 "share; more GPUs of the same link do not slow a job down" },
	{ "monotone", "rubick", 0.02, FIT_GATE_NOTE,
	 "share; an iteration of more GPUs of one node is not longer" },
	{ "monotone", "speedup", 0.1, FIT_GATE_STOP,
	 "share; a wider job on as many nodes is not slower, but for noise" },
	{ "shrinking", "speedup", 0.5, FIT_GATE_STOP, "share; what crossing to a further node may cost" },
	{ "concave", "speedup", 0.6, FIT_GATE_STOP,
	 "share below the envelope; more is no noise and no node boundary" },
	{ "superlinear", "speedup", 1.5, FIT_GATE_STOP,
	  "times linear; larger batches on more GPUs explain some, not more" },
	{ "links", "throughput", 0.5, FIT_GATE_STOP,
	 "times; links between nodes are not twice as fast as those inside" },
	{ "pinned", "throughput", 0, FIT_GATE_STOP,
	 "parameters nobody measured: predictions there are extrapolated" },
	{ "jumps", "noise", 30, FIT_GATE_STOP,
	 "times; phi jumps up to tenfold when the learning rate falls" },
	{ "estimable", "estimates", 0.5, FIT_GATE_STOP,
	 "share of windows in which the noise scale could be estimated" },
	{ "consistent", "tree", 0, FIT_GATE_STOP,
	 "faults; rows, weights and constraints of a tree follow from it" },
	{ "support", "tree", 2, FIT_GATE_NOTE, "rows; a leaf of one row repeats it" },
	{ "shape", "any", 0, FIT_GATE_STOP,
	 "faults; what --shape says of a feature is known of the thing itself" },
	{ "centred", "ga2m", 0, FIT_GATE_STOP, "terms off centre: their sizes cannot be read" },
	{ "pure", "ga2m", 0, FIT_GATE_STOP, "pairs that hide main effects" },
	{ "spike", "ga2m", 0, FIT_GATE_NOTE, "bins of few rows far from their neighbours" },
	{ "edge", "ga2m", 0, FIT_GATE_NOTE, "ends of few rows from which the model extrapolates" },
	{ "provenance", "any", NONE, FIT_GATE_NOTE, "was the model made of these measurements?" },
	{ "coverage", "any", 1, FIT_GATE_STOP, "share of the measurements that the model answers" },
	{ "residual", "any", 0.8, FIT_GATE_STOP,
	 "share unexplained; Lucid publishes 1 - 0.413 for durations" },
	{ "residual", "throughput", 20, FIT_GATE_STOP, "percent; as stated" },
	{ "residual", "speedup", 20, FIT_GATE_STOP, "percent" },
	{ "residual", "rubick", 20, FIT_GATE_STOP, "percent" },
	{ "residual", "noise", 0.5, FIT_GATE_STOP, "log; as stated" },
	{ "residual", "estimates", 0.5, FIT_GATE_STOP, "log; as of curves" },
	{ "residual", "tree", 0.3, FIT_GATE_STOP, "share of wrong classes, or unexplained of numbers" },
	{ "residual-region", "any", NONE, FIT_GATE_OFF, "kinds without regions" },
	{ "residual-region", "throughput", 30, FIT_GATE_STOP, "percent; one GPU, one node, several nodes" },
	{ "bias", "any", 0.1, FIT_GATE_STOP, "mean error over the spread of what is measured" },
	{ "bias", "throughput", 10, FIT_GATE_STOP, "percent; half of the mean error" },
	{ "bias", "speedup", 10, FIT_GATE_STOP, "percent" },
	{ "bias", "rubick", 10, FIT_GATE_STOP, "percent" },
	{ "bias", "noise", 0.3, FIT_GATE_STOP, "log" },
	{ "bias", "estimates", 0.3, FIT_GATE_STOP, "log" },
	{ "cross-validation", "any", 0.9, FIT_GATE_STOP,
	 "share unexplained of rows that were not trained on" },
	{ "cross-validation", "throughput", 25, FIT_GATE_STOP, "percent" },
	{ "cross-validation", "speedup", 25, FIT_GATE_IF_KNOWN,
	  "percent; a width that is left out lies between its neighbours" },
	{ "cross-validation", "rubick", 25, FIT_GATE_STOP, "percent" },
	{ "cross-validation", "noise", 0.6, FIT_GATE_STOP, "log" },
	{ "cross-validation", "tree", 0.4, FIT_GATE_STOP,
	 "share of wrong classes, or unexplained of numbers" },
	{ "over-fit", "any", 3, FIT_GATE_STOP,
	  "times; error of left-out rows over that of the model, once above a quarter of the limit of the former" },
	{ "over-fit", "speedup", 3, FIT_GATE_NOTE, "times; a table may say just what was measured" },
	{ "extrapolation", "any", 0.05, FIT_GATE_IF_KNOWN,
	 "share of fresh rows outside of what was measured" },
	{ "drift-psi", "any", 0.25, FIT_GATE_IF_KNOWN,
	 "the usual reading: below 0.1 none, above 0.25 much" },
	{ "drift-ks", "any", 0.2, FIT_GATE_IF_KNOWN, "distance of two distributions" },
	{ "shift", "any", 10, FIT_GATE_IF_KNOWN,
	 "percent; of numbers of the spread, of classes of the rows" },
	{ "shift-region", "any", 20, FIT_GATE_IF_KNOWN, "percent; the same where the model is used" },
	{ "replay-jct", "any", 5, FIT_GATE_IF_KNOWN, "percent that the mean completion time may get worse" },
	{ "replay-fairness", "any", 10, FIT_GATE_IF_KNOWN, "percent that the worst tenth of slowdowns may" },
	{ "replay-cost", "any", 5, FIT_GATE_IF_KNOWN, "percent that the GPU time may" },
	{ NULL, NULL, 0, FIT_GATE_OFF, NULL }
};

size_t fit_gate_n_defaults(void)
{
	return sizeof fit_gate_defaults / sizeof *fit_gate_defaults - 1;
}

void fit_gate_policy_release(struct fit_gate_policy *p)
{
	free(p->rules);
	*p = (struct fit_gate_policy){ 0 };
}

/* ---- tables ---- */

enum { CHECK, MODEL, LIMIT, ACTION, WHY, N_COLUMNS };
static const struct fit_field fields[N_COLUMNS] = {
	{ "check", FIT_TEXT, FIT_F_NOT_NA }, { "model", FIT_TEXT, FIT_F_OPTIONAL },
		{ "limit", FIT_REAL, FIT_F_OPTIONAL },
	{ "action", FIT_TEXT, FIT_F_OPTIONAL }, { "why", FIT_TEXT, FIT_F_OPTIONAL }
};

static bool known_kind(struct fit_text t)
{
	for (size_t i = 0; fit_gate_kind_names[i]; i++)
		if (fit_text_is(t, fit_gate_kind_names[i]))
			return true;
	return fit_text_is(t, "any");
}

/* The rule to change; for a kind without one of its own a copy of the general one is added. */
static int find_rule(struct fit_gate_policy *p, const struct fit_table *t, size_t row,
		     struct fit_gate_rule **rule,
		     struct fit_err *err)
{
	struct fit_text check = fit_column_text(&t->columns[CHECK], row);
	struct fit_text model = fit_column_text(&t->columns[MODEL], row);
	const struct fit_gate_rule *any = NULL;

	model = model.s ? model : FIT_TEXT_LIT("any");
	if (!known_kind(model))
		return fit_table_fail(t, row, FIT_EDATA, "model", err,
				      "unknown kind of models '%.*s' (expected any, "
				      "throughput, speedup, noise, estimates, tree, ga2m or rubick)",
					      FIT_TEXT_ARG(model));
	for (size_t i = 0; i < p->n; i++) {
		if (!fit_text_is(check, p->rules[i].check))
			continue;
		any = any ? any : &p->rules[i];
		if (fit_text_is(model, p->rules[i].model)) {
			*rule = &p->rules[i];
			return FIT_OK;
		}
		if (strcmp(p->rules[i].model, "any") == 0)
			any = &p->rules[i];
	}
	if (!any)
		return fit_table_fail(t, row, FIT_EDATA, "check", err,
				      "unknown check '%.*s' (gf-gate thresholds lists "
				      "them)", FIT_TEXT_ARG(check));
	if (strcmp(any->model, "any") != 0)
		return fit_table_fail(t, row, FIT_EDATA, "model", err,
				      "models of kind '%.*s' have no check '%.*s'",
				      FIT_TEXT_ARG(model), FIT_TEXT_ARG(check));
	/* room for one row a row of the table was made before */
	p->rules[p->n] = *any;
	for (size_t i = 0; fit_gate_kind_names[i]; i++)
		if (fit_text_is(model, fit_gate_kind_names[i]))
			p->rules[p->n].model = fit_gate_kind_names[i];
	*rule = &p->rules[p->n++];
	return FIT_OK;
}

static int change(struct fit_gate_policy *p, const struct fit_table *t, size_t row, struct fit_err *err)
{
	struct fit_text action = fit_column_text(&t->columns[ACTION], row);
	double limit = t->columns[LIMIT].d[row];
	struct fit_gate_rule *rule = NULL;
	int rc = find_rule(p, t, row, &rule, err), k = 0;

	if (rc)
		return rc;
	if (!fit_real_is_na(limit)) {
		if (isnan(rule->limit) && strcmp(rule->check, "residual-region") != 0)
			return fit_table_fail(t, row, FIT_EDATA, "limit", err,
					      "the check '%s' has no limit (expected NA)",
					      rule->check);
		if (!isfinite(limit))
			return fit_table_fail(t, row, FIT_EDATA, "limit", err, "not a finite number");
		rule->limit = limit;
	}
	while (action.s && fit_gate_action_names[k] && !fit_text_is(action, fit_gate_action_names[k]))
		k++;
	if (action.s && !fit_gate_action_names[k])
		return fit_table_fail(t, row, FIT_EDATA, "action", err,
				      "unknown action '%.*s' (expected stop, "
				      "stop-if-known, note or off)", FIT_TEXT_ARG(action));
	if (action.s)
		rule->action = (enum fit_gate_action)k;
	return FIT_OK;
}

/* Two rows of one check and kind would be two answers, of which one is not seen. */
static int check_once(const struct fit_table *t, size_t row, struct fit_err *err)
{
	const struct fit_column *check = &t->columns[CHECK], *model = &t->columns[MODEL];
	struct fit_text any = FIT_TEXT_LIT("any"), one = fit_column_text(model, row);

	one = one.s ? one : any;
	for (size_t i = 0; i < row; i++) {
		struct fit_text other = fit_column_text(model, i);

		if (fit_text_eq(fit_column_text(check, i), fit_column_text(check, row)) &&
		    fit_text_eq(other.s ? other : any, one))
			return fit_table_fail(t, row, FIT_EDATA, "check", err, "'%.*s' of '%.*s' is there already",
					      FIT_TEXT_ARG(fit_column_text(check, row)), FIT_TEXT_ARG(one));
	}
	return FIT_OK;
}

int fit_gate_policy_read(struct fit_gate_policy *p, const char *operand, struct fit_err *err)
{
	struct fit_table t = { 0 };
	int rc = operand ? fit_table_read(&t, operand, fields, N_COLUMNS, err) : FIT_OK;

	*p = (struct fit_gate_policy){ 0 };
	if (rc)
		return rc;
	p->rules = malloc((fit_gate_n_defaults() + t.n_rows) * sizeof *p->rules);
	if (!p->rules) {
		rc = fit_fail_nomem(err);
	} else {
		p->n = fit_gate_n_defaults();
		memcpy(p->rules, fit_gate_defaults, p->n * sizeof *p->rules);
	}
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		rc = change(p, &t, i, err);
		rc = rc ? rc : check_once(&t, i, err);
	}
	memcpy(p->hash, t.hash, sizeof p->hash);
	fit_table_release(&t);
	if (rc)
		fit_gate_policy_release(p);
	return rc;
}

int fit_gate_policy_write(const struct fit_gate_policy *p, struct fit_writer *w, const struct fit_meta *meta,
			  struct fit_err *err)
{
	struct fit_field out[N_COLUMNS];
	int rc;

	memcpy(out, fields, sizeof out);
	for (int i = 0; i < N_COLUMNS; i++)
		out[i].flags = 0;
	rc = fit_writer_begin(w, "thresholds", meta, out, N_COLUMNS, err);
	for (size_t i = 0; i < p->n && !rc; i++) {
		const struct fit_gate_rule *r = &p->rules[i];

		fit_writer_str(w, r->check);
		fit_writer_str(w, r->model);
		if (isnan(r->limit))
			fit_writer_na(w);
		else
			fit_writer_real(w, r->limit);
		fit_writer_str(w, fit_gate_action_names[r->action]);
		fit_writer_str(w, r->why);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}
