/* SPDX-License-Identifier: MIT */
/*
 * Cuts the rows of the log into rounds of passive rows and decisions, and calls the rules
 * (verify_state.h says how these fit together).
 */
#include "libfit/verify/verify_state.h"

#define NOISE_S 1e-6 /* instants closer than this cannot be told apart by a profile */

/* ---- which rules look at what ---- */

static void list_rule(struct verify_rule_list *l, size_t rule)
{
	l->rules[l->n++] = (uint8_t)rule;
}

void verify_list_rules(struct fit_verifier *v)
{
	for (size_t i = 0; i < N_RULES; i++) {
		for (unsigned e = 0; verify_rules[i].row && e <= EV_UNKNOWN; e++)
			if (verify_rules[i].events & EV_BIT(e))
				list_rule(&v->of_event[e], i);
		if (verify_rules[i].decision)
			list_rule(&v->of_decisions, i);
	}
}

/* ---- decisions ---- */

static bool legal_instant(const struct fit_verifier *v)
{
	return v->interval_ns > 0 ? (v->now > 0 || v->decides_at_zero) && v->now % v->interval_ns == 0
				  : v->woken || v->again_ns == v->now;
}

/* Has the policy a reason to decide otherwise than it did last? */
static bool has_news(struct fit_verifier *v)
{
	return v->dirty || verify_policy_timer(v) <= v->now || verify_policy_continuous(v);
}

static void begin_decision(struct fit_verifier *v)
{
	if (v->begun)
		return;
	v->begun = true;
	if (v->interval_ns == 0 && verify_policy_timer(v) <= v->now)
		v->woken = true;
	v->legal = legal_instant(v);
	if (v->legal) {
		verify_nodes_want(v);
		verify_policy_begin(v);
	}
}

static void call_decision_rules(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->of_decisions.n; i++) {
		const struct verify_rule_def *rule = &verify_rules[v->of_decisions.rules[i]];

		if (!rule->applies || rule->applies(v))
			rule->decision(v);
	}
}

static void end_decision(struct fit_verifier *v)
{
	begin_decision(v);
	call_decision_rules(v);
	if (v->legal)
		verify_nodes_want_after(v);
	for (size_t i = 0; i < v->placed.n; i++)
		v->live[v->placed.a[i]].placed = false;
	v->placed.n = v->started.n = v->touched.n = 0;
	verify_interfere(v);
	v->acted = false;
	if (v->legal) {
		v->dirty = false;
		verify_turns_end(v);
	}
	if (v->legal && (v->policy == POLICY_TIRESIAS || verify_by_index(v)))
		verify_queue_end(v);
	v->begun = v->woken = v->unclear = false;
	v->phase = PHASE_AFTER;
	v->decided_here = true;
}

/* Would it be right to decide on no change now? */
static bool stands_as_is(struct fit_verifier *v)
{
	if (!has_news(v))
		return true;
	v->mute = true;
	v->muted_fault = false;
	begin_decision(v);
	call_decision_rules(v);
	v->mute = v->begun = false;
	return !v->muted_fault;
}

/* ---- the clock ---- */

/* The end of an instant: its decision, when that left no row. */
static void close_instant(struct fit_verifier *v)
{
	uint64_t line = v->line;

	verify_kept(v);
	if (v->phase == PHASE_DECIDING) {
		end_decision(v);
	} else if (v->phase == PHASE_BEFORE || v->interval_ns == 0) {
		if (v->interval_ns == 0 && verify_policy_timer(v) <= v->now)
			v->woken = true;
		if (!(v->unclear && v->standing) && has_news(v) && legal_instant(v)) {
			v->line = 0;
			end_decision(v);
			v->line = line;
		}
	}
	verify_nodes_settle(v);
}

static void move_to(struct fit_verifier *v, int64_t t)
{
	double s = fit_time_to_double(t - (v->now > 0 ? v->now : 0));

	v->held += (double)v->total_booked * s;
	v->capacity += (double)v->total * s;
	v->paid += (double)v->rented * s;
	verify_rent_pass(v, s);
	v->now = t;
	v->phase = PHASE_BEFORE;
	v->begun = v->woken = v->unclear = v->decided_here = v->submits_here = false;
}

/* Decisions strictly between now and t that left no row. */
static void advance(struct fit_verifier *v, int64_t t)
{
	for (;;) {
		int64_t due = verify_policy_timer(v), d = v->interval_ns;

		if (d > 0 && v->n_active && (v->dirty || verify_policy_continuous(v))) {
			int64_t next = (v->now < 0 ? 0 : v->now / d) * d + d;

			due = next < due ? next : due;
		}
		if (due >= t)
			break;
		move_to(v, due > v->now ? due : v->now);
		v->line = 0;
		v->woken = true;
		end_decision(v);
		verify_nodes_settle(v);
	}
	move_to(v, t);
}

/* ---- rows ---- */

static void call_rules(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_rule_list *list = &v->of_event[r->ev];

	for (size_t i = 0; i < list->n; i++) {
		const struct verify_rule_def *rule = &verify_rules[list->rules[i]];

		if (!rule->applies || rule->applies(v))
			rule->row(v, r);
	}
}

/*
 * A passive row at an instant of decision, before any active row: did it take effect before or
 * after that decision? An end of work that was rounded down to this instant came after it. Where
 * the exact instant cannot be told from this one, the rows that follow tell, or both are allowed.
 */
static void place_row(struct fit_verifier *v, const struct verify_row *r)
{
	/* speedups are exact: what ends at an instant ends before its decision */
	bool ends = r->known && v->by_epoch && !v->with_speedups && (r->ev == EV_EPOCH || r->ev == EV_FINISH);

	if (!ends || r->late_s > NOISE_S) {
		v->unclear = false;
	} else if (r->late_s < -NOISE_S) {
		if (!(v->unclear && v->standing))
			end_decision(v);
		v->phase = PHASE_AFTER;
	} else if (!v->unclear) {
		v->standing = stands_as_is(v);
		v->unclear = true;
	}
}

/* Parts decide one after another, and each takes its GPUs back before. */
static bool next_part(const struct fit_verifier *v, const struct verify_row *r)
{
	return r->ev == EV_RELEASE && v->interval_end && v->n_vcs > 1;
}

void verify_take(struct fit_verifier *v, struct verify_row *r, uint64_t line)
{
	bool active;

	r->on_profiler = r->ev == EV_START && verify_share_on_profiler(v, r);
	active = (EV_BIT(r->ev) & EV_DECIDING) && !r->on_profiler;
	if (r->t > v->now) {
		close_instant(v);
		advance(v, r->t);
	}
	v->line = line;
	v->last_t = r->t;
	r->t = v->now; /* a row that goes back in time is taken as if it did not */
	r->live = r->job == NONE || v->jobs[r->job].live == NONE ? NULL
								 : &v->live[v->jobs[r->job].live];
	verify_forecast(v, r);
	if (active && v->phase != PHASE_DECIDING) {
		begin_decision(v);
		v->phase = PHASE_DECIDING;
	} else if (!active && v->phase == PHASE_DECIDING && r->ev != EV_SHARE && !next_part(v, r)) {
		end_decision(v);
	} else if (v->phase == PHASE_BEFORE && (r->ev == EV_RETURN || r->ev == EV_RENT) && has_news(v) &&
		   legal_instant(v) && (r->ev == EV_RETURN || verify_nodes_rents_after(v, r))) {
		v->line = 0; /* nodes go after the decision, which left no row */
		end_decision(v);
		v->line = line;
	} else if (v->phase == PHASE_BEFORE && v->interval_ns > 0 && legal_instant(v)) {
		place_row(v, r);
	}
	if (r->ev != EV_REJECT || r->job != v->open_submit)
		verify_kept(v);
	v->line = line;
	if (v->adaptive && r->live && v->jobs[r->job].state == JOB_RUNNING &&
	    (r->ev == EV_EPOCH || r->ev == EV_FINISH))
		verify_agent_learn(v, r->live);
	if (v->adaptive && !v->acted && (EV_BIT(r->ev) & EV_ACTIVE))
		verify_pollux_before(v);
	call_rules(v, r);
	v->open_submit = NONE;
	verify_apply(v, r);
	verify_share_apply(v, r);
	verify_next_apply(v, r);
	v->acted = v->acted || (EV_BIT(r->ev) & EV_ACTIVE);
}

void verify_end(struct fit_verifier *v)
{
	close_instant(v);
	v->log_end_ns = v->now < 0 ? 0 : v->now;
	v->line = 0;
	for (size_t i = 0; i < N_RULES; i++)
		if (verify_rules[i].end && (!verify_rules[i].applies || verify_rules[i].applies(v)))
			verify_rules[i].end(v);
	for (size_t i = 0; i < v->n_jobs; i++) {
		struct verify_live *l = v->jobs[i].live == NONE ? NULL : &v->live[v->jobs[i].live];

		if (l) {
			verify_unbook(v, l, v->log_end_ns);
			verify_live_free(v, l);
		}
	}
}
