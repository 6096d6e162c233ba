/* SPDX-License-Identifier: MIT */
/*
 * Steps at measured rates, and the rounds of Gavel: how fast a job is on the GPUs that it holds, how far it
 * comes in a round, and when the next one may begin. docs/methods/verify.md has the rules.
 */
#include <math.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

int fit_verifier_rates(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	return fit_step_rates_read(&v->rates, operand, err);
}

const char *fit_verifier_hash_rates(const struct fit_verifier *v)
{
	return v->rates.table.hash;
}

/* Cells of the table of rates, as the reader orders its columns. */
static bool is_row_of(const struct fit_verifier *v, size_t row, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];
	int64_t asked = verify_job_batch(v, job);
	const struct fit_table *t = &v->rates.table;
	const struct fit_column *batch = fit_table_column(t, "batch_size"), *gpus = fit_table_column(t, "gpus");

	return gpus->i[row] == (int64_t)j->gpus && batch->i[row] == (asked == NO_INT ? FIT_INT_NA : asked) &&
	       fit_text_is(fit_column_text(fit_table_column(t, "app"), row), v->apps[j->app].name);
}

/* Steps a second on GPUs of a type (0: any): of one node, or of several; 0: it does not run there. */
double verify_rate_on(const struct fit_verifier *v, uint32_t job, uint16_t type, bool spread)
{
	const struct fit_table *t = &v->rates.table;
	const struct fit_column *name = fit_table_column(t, "gpu_type"), *one = fit_table_column(t, "consolidated");
	double on_one = 0, on_several = -1, any = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		double rate = fit_table_column(t, "steps_per_s")->d[i];

		if (!is_row_of(v, i, job))
			continue;
		any = fmax(any, rate);
		if (!type || fit_index_get(&v->by_type, fit_column_text(name, i)) != type)
			continue;
		if (one->i[i] == 0)
			on_several = rate;
		else
			on_one = rate;
	}
	if (!type)
		return any;
	return spread && !v->spread_ignored && on_several >= 0 ? on_several : on_one;
}

bool verify_has_rate(const struct fit_verifier *v, uint32_t job)
{
	return v->jobs[job].app != UINT16_MAX && verify_job_steps(v, job) >= 1 &&
	       verify_rate_on(v, job, 0, false) > 0;
}

double verify_steps_rate(const struct fit_verifier *v, const struct verify_live *l)
{
	int32_t node = l->n_nodes ? l->nodes[0].node : -1;

	if (node < 0 || (size_t)node >= v->n_nodes || !v->node_type || v->jobs[l->job].app == UINT16_MAX)
		return 0;
	return verify_rate_on(v, l->job, v->node_type[node], l->n_nodes > 1);
}

/* ---- rounds of whole steps ---- */

static int64_t steps_ns(double steps, double rate)
{
	return (int64_t)nearbyint(steps / rate * 1e9);
}

/* A round begins for a job that runs. */
void verify_round_begins(struct fit_verifier *v, struct verify_live *l)
{
	double rate, left = verify_job_steps(v, l->job) - l->progress;

	l->quota_end = verify_job_steps(v, l->job);
	if (!v->steps_round_ns || !((rate = verify_rate(v, l)) > 0))
		return;
	l->quota_end = l->progress +
		       fmin(left, fmax(1, floor(rate * fit_time_to_double(v->steps_round_ns))));
	l->quota_ns = v->now + steps_ns(l->quota_end - l->progress, rate);
}

/* Progress that came to the end of its round stands still there. */
void verify_stand_still(const struct fit_verifier *v, struct verify_row *r, double rate)
{
	const struct verify_live *l = r->live;

	if (!v->steps_round_ns)
		return;
	if (r->ran_ns >= steps_ns(l->quota_end - l->progress, rate))
		r->progress_now = l->quota_end;
	if (l->quota_end < verify_job_steps(v, r->job))
		r->late_s = -1;
}

/* The end of the round; with an interval, a tick at which shares were computed: it may change nothing. */
int64_t verify_round_timer(const struct fit_verifier *v)
{
	int64_t shares_ns = verify_next_shares(v);

	if (v->steps_round_ns)
		return v->round_end_ns;
	return v->interval_ns > 0 && shares_ns % v->interval_ns == 0 ? shares_ns : NEVER;
}

/* Rounds are not broken off: a decision is at their end, or where there is none on. */
void verify_row_round(struct fit_verifier *v, const struct verify_row *r)
{
	verify_check(v, RULE_ROUND);
	if (v->steps_round_ns && v->round_end_ns != NEVER && v->now < v->round_end_ns)
		verify_fault(v, RULE_ROUND, r->job, "%.*s %.9g s before the end of the round", FIT_TEXT_ARG(r->event),
			     fit_time_to_double(v->round_end_ns - v->now));
	if (r->ev != EV_BATCH && (EV_BIT(r->ev) & EV_PLACING) && r->live) {
		struct verify_live l = *r->live;

		l.nodes = (struct verify_place *)(uintptr_t)r->nodes;
		l.n_nodes = r->n_nodes;
		if (!(verify_steps_rate(v, &l) > 0))
			verify_fault(v, RULE_ROUND, r->job, "on '%.*s' it makes no steps", FIT_TEXT_ARG(r->nodes_text));
	}
}

/* The round that begins, if it does, ends with the last of those that run now. */
void verify_decide_round(struct fit_verifier *v)
{
	if (!v->steps_round_ns || (v->round_end_ns != NEVER && v->now < v->round_end_ns))
		return;
	v->round_end_ns = NEVER;
	for (size_t i = 0; i < v->n_jobs; i++) {
		const struct verify_live *l = v->jobs[i].state == JOB_RUNNING && v->jobs[i].live != NONE ?
					      &v->live[v->jobs[i].live] : NULL;

		if (l && l->quota_ns > v->now && (v->round_end_ns == NEVER || l->quota_ns > v->round_end_ns))
			v->round_end_ns = l->quota_ns;
	}
}

void verify_gavel_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *spread = fit_meta_get(m, "spread_rates"), *round = fit_meta_get(m, "steps_round_s"), *s;

	static const char *const names[][2] = {
		{ "gavel-fifo", "fifo" }, { "gavel-isolated", "isolated" }, { "gavel-fairness", "max-min-fairness" },
		{ "gavel-fairness-agnostic", "max-min-fairness-agnostic" }, { "gavel-makespan", "min-makespan" },
		{ "gavel-finish-time", "finish-time-fairness" }, { "gavel-throughput", "max-throughput" }
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(fit_meta_get(m, "policy"), names[i][0]) == 0)
			v->objective = names[i][1];
	verify_check(v, RULE_META);
	s = fit_meta_get(m, "gavel_reallocate_s");
	if (!s || fit_parse_time(fit_text_of(s), &v->gavel_reallocate_ns) || v->gavel_reallocate_ns < 0)
		verify_fault(v, RULE_META, NONE, "metadata gavel_reallocate_s is '%s' (expected seconds)",
			     s ? s : "missing");
	v->spread_ignored = spread && fit_text_is(fit_text_of(spread), "ignored");
	if (!spread || (!v->spread_ignored && !fit_text_is(fit_text_of(spread), "used")))
		verify_fault(v, RULE_META, NONE, "metadata spread_rates is '%s' (expected used or ignored)",
			     spread ? spread : "missing");
	v->order_unknown = verify_meta_says(m, "gavel_rounds", "lifetime") ||
			      verify_meta_says(m, "placement", "consolidate") ||
			      verify_meta_says(m, "placement", "yarn");
	v->round_end_ns = NEVER;
	if (round && (fit_parse_time(fit_text_of(round), &v->steps_round_ns) || v->steps_round_ns <= 0 ||
		      v->interval_ns)) {
		verify_fault(v, RULE_META, NONE, "metadata steps_round_s is '%s' (expected seconds, and no interval)",
			     round);
		v->steps_round_ns = 0;
	}
	if (!v->with_rates || (!round && !v->interval_ns))
		verify_fault(v, RULE_META, NONE, "policies of gavel need rates, and an interval or steps_round_s");
}
