/* SPDX-License-Identifier: MIT */
/* The verifier as an object: its beginning and end, the faults that it counts, the verdicts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

int fit_verifier_new(struct fit_verifier **v, struct fit_err *err)
{
	struct fit_verifier *n = calloc(1, sizeof *n);

	*v = n;
	if (!n)
		return fit_fail_nomem(err);
	n->now = n->last_t = -1;
	n->free_live = n->open_submit = NONE;
	n->room_ns = -1;
	n->first_submit_ns = NEVER;
	n->cold_restart_ns = NO_INT;
	verify_queue_init(n);
	verify_list_rules(n);
	return FIT_OK;
}

static void release_columns(struct verify_job_columns *k)
{
	free(k->batch.a);
	free(k->predicted_ns.a);
	free(k->steps.a);
	free(k->weight.a);
	free(k->plan.a);
	free(k->config.a);
	free(k->profile_ns.a);
	free(k->place.a);
}

void fit_verifier_free(struct fit_verifier *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_live; i++) {
		free(v->live[i].nodes);
		verify_agent_free(v->live[i].agent);
	}
	fit_throughput_free(v->fitter);
	verify_boa_release(v);
	verify_follow_release(v);
	fit_plan_times_release(&v->plan_times);
	fit_step_rates_release(&v->rates);
	verify_shares_release(v);
	verify_gavel_order_release(v);
	free(v->spanning);
	for (size_t i = 0; i < v->n_apps; i++)
		free(v->apps[i].name);
	for (size_t i = 0; i < N_RULES; i++)
		free(v->tally[i].detail);
	verify_policy_release(v);
	verify_share_release(v);
	verify_turns_release(v);
	verify_gittins_release(v);
	verify_sizes_release(v);
	verify_yarn_release(v);
	fit_index_release(&v->by_app);
	fit_id_map_release(&v->ids);
	fit_id_map_release(&v->plan_names);
	release_columns(&v->columns);
	fit_profile_set_release(&v->apps_by_type);
	verify_sia_release(v);
	fit_theta_list_release(&v->models);
	free(v->cluster_meta);
	free(v->jobs);
	free(v->apps);
	free(v->size);
	free(v->booked);
	free(v->node_type);
	fit_index_release(&v->by_type);
	free(v->tree);
	free(v->live);
	free(v->row_nodes);
	free(v->arrivals.a);
	free(v->nodes);
	free(v->touched.a);
	free(v->placed.a);
	free(v->started.a);
	free(v->shifted.a);
	free(v->results);
	free(v->fitnesses);
	free(v);
}

/* ---- faults ---- */

void verify_fault(struct fit_verifier *v, enum verify_rule rule, uint32_t job, const char *fmt, ...)
{
	struct verify_tally *t = &v->tally[rule];
	struct fit_str s = { 0 };
	struct fit_text id = verify_job_id(v, job);
	char buf[FIT_NUM_MAX], msg[512];
	va_list ap;
	int rc = FIT_OK;

	if (v->mute) {
		v->muted_fault = true;
		return;
	}
	if (t->violations++)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	if (v->line)
		rc = fit_str_printf(&s, "line %llu, ", (unsigned long long)v->line);
	if (!rc && v->last_t >= 0) {
		fit_format_time(buf, v->now);
		rc = fit_str_printf(&s, "%s s, ", buf);
	}
	if (!rc && job != NONE)
		rc = fit_str_printf(&s, "job '%.*s': ", FIT_TEXT_ARG(id));
	if (!rc)
		rc = fit_str_puts(&s, msg);
	if (rc) {
		v->code = FIT_ENOMEM;
		fit_str_release(&s);
		return;
	}
	t->detail = s.s;
}

int verify_list_push(struct verify_list *l, uint32_t x)
{
	if (fit_grow(&l->a, &l->cap, l->n + 1, sizeof *l->a))
		return FIT_ENOMEM;
	l->a[l->n++] = x;
	return FIT_OK;
}

/* ---- verdicts ---- */

size_t fit_verifier_n_rules(const struct fit_verifier *v)
{
	(void)v;
	return N_RULES;
}

struct fit_verdict fit_verifier_verdict(const struct fit_verifier *v, size_t i)
{
	const struct verify_tally *t = &v->tally[i];

	return (struct fit_verdict){
		.rule = verify_rules[i].name,
		.meaning = verify_rules[i].meaning,
		.kind = t->violations ? FIT_VERDICT_VIOLATED
			: t->checked  ? FIT_VERDICT_OK
				      : FIT_VERDICT_NOT_APPLICABLE,
		.checked = t->checked,
		.violations = t->violations,
		.detail = t->detail,
	};
}

const char *fit_verdict_name(enum fit_verdict_kind kind)
{
	static const char *const names[] = { "ok", "violated", "not-applicable" };

	return names[kind];
}

const char *fit_verifier_hash_jobs(const struct fit_verifier *v)
{
	return v->hash_jobs;
}

const char *fit_verifier_hash_speedups(const struct fit_verifier *v)
{
	return v->speedups.hash;
}

const char *fit_verifier_hash_classes(const struct fit_verifier *v)
{
	return v->class_table.hash;
}

const char *fit_verifier_hash_allocations(const struct fit_verifier *v)
{
	return v->follow.hash;
}

const char *fit_verifier_hash_plan(const struct fit_verifier *v)
{
	return v->plans.hash;
}

const struct fit_profile_set *fit_verifier_profiles(const struct fit_verifier *v)
{
	return &v->apps_by_type;
}

const char *fit_verifier_hash_models(const struct fit_verifier *v)
{
	return v->models.hash;
}

const char *fit_verifier_hash_log(const struct fit_verifier *v)
{
	return v->hash_log;
}
