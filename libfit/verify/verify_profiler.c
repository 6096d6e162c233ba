/* SPDX-License-Identifier: MIT */
/* The profiler of Lucid: who runs on it, when, for how long, and which node it borrows. */
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

int verify_profiler_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *lender = fit_meta_get(m, "profiler_lender");

	v->profile_limit_ns = verify_meta_time(v, m, "profile_limit_s");
	v->profile_gpus = verify_meta_count(v, m, "profile_gpus");
	v->profile_naive = verify_meta_says(m, "profile_order", "arrival");
	v->profiled_beside = verify_meta_says(m, "profiled", "beside");
	if (!lender)
		return FIT_OK;
	if (fit_str_puts(&v->lender_text, lender))
		return FIT_ENOMEM;
	v->lending_echoed = verify_meta_says(m, "lending", "echoed");
	v->lend_each_ns = verify_meta_time(v, m, "lend_each_s");
	v->lend_above = verify_meta_count(v, m, "lend_above");
	v->regain_each_ns = verify_meta_time(v, m, "regain_each_s");
	v->regain_below = verify_meta_count(v, m, "regain_below");
	v->regain_gpus = verify_meta_real(v, m, "regain_gpus");
	return FIT_OK;
}

static struct verify_profile *profile_of(struct fit_verifier *v, uint32_t job)
{
	for (size_t i = 0; i < v->n_profiles; i++)
		if (v->profiles[i].job == job)
			return &v->profiles[i];
	return NULL;
}

static bool starts_profile(const struct verify_row *r)
{
	return r->ev == EV_PROFILE || (r->ev == EV_START && r->on_profiler);
}

void verify_row_profiler(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_job *j;
	int64_t ran, from_ns;

	if (r->job == NONE)
		return;
	j = &v->jobs[r->job];
	if (starts_profile(r)) {
		verify_check(v, RULE_PROFILER);
		if (!verify_share_on_profiler(v, r))
			verify_fault(v, RULE_PROFILER, r->job, "profiled on nodes that are not set apart for that");
		else if (j->gpus > (double)v->profile_gpus)
			verify_fault(v, RULE_PROFILER, r->job, "profiled on %g GPUs (at most %lld may be)", j->gpus,
				     (long long)v->profile_gpus);
		else if (j->gpus < (double)r->sum || j->gpus > (double)r->sum)
			verify_fault(v, RULE_PROFILER, r->job, "profiled on %lld GPUs, asked for %g", (long long)r->sum,
				     j->gpus);
		else if (j->was_profiled)
			verify_fault(v, RULE_PROFILER, r->job, "profiled a second time");
		else if ((j->duration_ns <= v->profile_limit_ns) != (r->ev == EV_START))
			verify_fault(v, RULE_PROFILER, r->job, r->ev == EV_START ?
				     "runs on the profiler, and lasts longer than its limit" :
				     "is only profiled, although it ends within the limit");
	} else if (r->ev == EV_PROFILED) {
		verify_check(v, RULE_PROFILER);
		from_ns = verify_job_profile_ns(v, r->job);
		ran = from_ns == NO_INT ? -1 : r->t - from_ns;
		if (ran != v->profile_limit_ns)
			verify_fault(v, RULE_PROFILER, r->job, "was profiled for %.9g s, the limit is %.9g",
				     fit_time_to_double(ran), fit_time_to_double(v->profile_limit_ns));
	}
}

void verify_end_profiler(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		const struct verify_job *j = &v->jobs[i];

		if (j->state == JOB_UNSEEN || j->state == JOB_LEFT_OUT || j->state == JOB_REJECTED)
			continue;
		verify_check(v, RULE_PROFILER);
		if (!j->was_profiled && j->gpus <= (double)v->profile_gpus)
			verify_fault(v, RULE_PROFILER, (uint32_t)i, "never profiled");
		else if (verify_job_profile_ns(v, (uint32_t)i) != NO_INT)
			verify_fault(v, RULE_PROFILER, (uint32_t)i, "its profile never ends");
	}
}

/* The head of the queue is profiled first: fewest GPUs, or who came first. */
void verify_row_profiler_order(struct fit_verifier *v, const struct verify_row *r)
{
	bool earlier = true;

	if (r->job == NONE || !starts_profile(r))
		return;
	verify_check(v, RULE_PROFILER_ORDER);
	for (size_t i = 0; i < v->to_profile.n; i++) {
		uint32_t other = v->to_profile.a[i];
		double less = v->profile_naive ? 0 : v->jobs[r->job].gpus - v->jobs[other].gpus;

		if (other == r->job) {
			earlier = false;	/* those behind it came later */
		} else if (less > 0 || (earlier && !(less < 0))) {
			struct fit_text id = verify_job_id(v, other);

			verify_fault(v, RULE_PROFILER_ORDER, r->job, "profiled while job '%.*s' is before it in the queue",
				     FIT_TEXT_ARG(id));
			return;
		}
	}
}

/* ---- a node that is lent ---- */

static const struct verify_vc *lender_of(const struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_vcs; i++)
		if (!v->vc_text.n || fit_text_is(v->vcs[i].name, v->lender_text.s))
			return &v->vcs[i];
	return NULL;
}

/* The highest empty node of the lender; -1: none. */
static int64_t highest_empty(const struct fit_verifier *v, const struct verify_vc *vc)
{
	int64_t best = -1;

	for (int64_t n = verify_part_node(v, vc, -1); n >= 0; n = verify_part_node(v, vc, n))
		if (v->booked[n] == 0)
			best = n;
	return best;
}

static void check_lend(struct fit_verifier *v, const struct verify_vc *vc, int64_t node)
{
	int64_t empty = highest_empty(v, vc);
	bool further = v->lending_echoed && node >= (int64_t)v->n_first_nodes && empty < 0;

	if (v->lend_each_ns && v->now % v->lend_each_ns)
		verify_fault(v, RULE_LENDING, NONE, "a node is lent at an instant that is no multiple of %.9g s",
			     fit_time_to_double(v->lend_each_ns));
	else if ((int64_t)v->to_profile.n <= v->lend_above)
		verify_fault(v, RULE_LENDING, NONE, "a node is lent while %zu jobs wait for the profiler (more than %lld "
			     "have to)", v->to_profile.n, (long long)v->lend_above);
	else if (v->lent_node >= 0 && !v->lending_echoed)
		verify_fault(v, RULE_LENDING, NONE, "a second node is lent");
	else if (!further && (!verify_part_has(v, vc, (size_t)node) || v->booked[node]))
		verify_fault(v, RULE_LENDING, NONE, "node %lld is lent, which is no empty node of '%s'", (long long)node,
			     v->lender_text.s);
	else if (!v->lending_echoed && node != empty)
		verify_fault(v, RULE_LENDING, NONE, "node %lld is lent, the highest empty one is %lld", (long long)node,
			     (long long)empty);
}

static void check_regain(struct fit_verifier *v, int64_t node)
{
	if (v->regain_each_ns && v->now % v->regain_each_ns)
		verify_fault(v, RULE_LENDING, NONE, "a node comes back at an instant that is no multiple of %.9g s",
			     fit_time_to_double(v->regain_each_ns));
	else if ((int64_t)v->to_profile.n >= v->regain_below)
		verify_fault(v, RULE_LENDING, NONE, "a node comes back while %zu jobs wait for the profiler (fewer than "
			     "%lld may)", v->to_profile.n, (long long)v->regain_below);
	else if (node != v->lent_node)
		verify_fault(v, RULE_LENDING, NONE, "node %lld comes back, which was not lent", (long long)node);
	else if (v->booked[node])
		verify_fault(v, RULE_LENDING, NONE, "node %lld comes back, and a job is on it", (long long)node);
}

void verify_row_lending(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_vc *vc = lender_of(v);

	verify_check(v, RULE_LENDING);
	if (!vc || r->n_nodes != 1 || (size_t)r->nodes[0].node >= v->n_nodes ||
	    r->nodes[0].gpus != v->size[r->nodes[0].node])
		verify_fault(v, RULE_LENDING, NONE, "'%.*s' is no node of the cluster", FIT_TEXT_ARG(r->nodes_text));
	else if (r->ev == EV_LEND)
		check_lend(v, vc, r->nodes[0].node);
	else
		check_regain(v, r->nodes[0].node);
}

/* ---- effects ---- */

static void move_node(struct fit_verifier *v, const struct verify_row *r)
{
	size_t node = r->n_nodes == 1 ? (size_t)r->nodes[0].node : v->n_nodes;
	bool further = node >= v->n_first_nodes;

	if (node >= v->n_nodes)
		return;
	v->lent_node = r->ev == EV_LEND ? (int64_t)node : -1;
	if (verify_part_move(v, node, r->ev == EV_LEND ? NODE_AWAY : further ? NODE_ADOPTED : NODE_AT_HOME))
		v->code = FIT_ENOMEM;
}

static void drop_waiting(struct fit_verifier *v, uint32_t job)
{
	for (size_t i = 0; i < v->to_profile.n; i++) {
		if (v->to_profile.a[i] == job) {
			memmove(v->to_profile.a + i, v->to_profile.a + i + 1,
				(v->to_profile.n - i - 1) * sizeof *v->to_profile.a);
			v->to_profile.n--;
			return;
		}
	}
}

static void begin_profile(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_profile *p;

	if (fit_grow(&v->profiles, &v->cap_profiles, v->n_profiles + 1, sizeof *v->profiles)) {
		v->code = FIT_ENOMEM;
		return;
	}
	p = &v->profiles[v->n_profiles];
	*p = (struct verify_profile){ .job = r->job, .n_nodes = r->n_nodes,
				      .nodes = malloc((r->n_nodes + 1) * sizeof *p->nodes) };
	if (!p->nodes) {
		v->code = FIT_ENOMEM;
		return;
	}
	v->n_profiles++;
	for (size_t i = 0; i < r->n_nodes; i++) {
		p->nodes[i] = r->nodes[i];
		verify_book(v, r->nodes[i].node, r->nodes[i].gpus);
		if ((size_t)r->nodes[i].node < v->n_nodes && verify_list_push(&v->touched, (uint32_t)r->nodes[i].node))
			v->code = FIT_ENOMEM;
	}
	if (verify_column_set(&v->columns.profile_ns, r->job, r->t))
		v->code = FIT_ENOMEM;
	v->jobs[r->job].was_profiled = true;
	drop_waiting(v, r->job);
}

static void end_profile(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_profile *p = profile_of(v, r->job);
	int64_t from_ns = verify_job_profile_ns(v, r->job);
	double gpu_s = p ? v->jobs[r->job].gpus * fit_time_to_double(r->t - from_ns) : 0;

	if (!p)
		return;
	for (size_t i = 0; i < p->n_nodes; i++)
		verify_book(v, p->nodes[i].node, -p->nodes[i].gpus);
	free(p->nodes);
	*p = v->profiles[--v->n_profiles];
	/* until it was started in the cluster it did not wait */
	if (r->live) {
		int64_t to = r->live->first_start_ns < r->t ? r->live->first_start_ns : r->t;

		r->live->gpu_s += gpu_s;
		if (to > from_ns)
			r->live->held_ns += to - from_ns;
	} else if (v->keep) {
		v->results[r->job].gpu_s += gpu_s;
		if (v->results[r->job].start_ns > from_ns)
			v->results[r->job].held_ns += (v->results[r->job].start_ns < r->t ?
						       v->results[r->job].start_ns : r->t) - from_ns;
	}
	if (verify_column_set(&v->columns.profile_ns, r->job, NO_INT))
		v->code = FIT_ENOMEM;
	if (!v->profiled_beside)
		v->woken = v->dirty = true;
}

void verify_profiler_apply(struct fit_verifier *v, const struct verify_row *r)
{
	if (EV_BIT(r->ev) & EV_LENDING)
		move_node(v, r);
	if (r->job == NONE)
		return;
	if (r->ev == EV_SUBMIT && v->apart_text.n && v->jobs[r->job].gpus <= (double)v->profile_gpus &&
	    verify_list_push(&v->to_profile, r->job))
		v->code = FIT_ENOMEM;
	if (r->ev == EV_REJECT)
		drop_waiting(v, r->job);
	if (r->ev == EV_PROFILE)
		begin_profile(v, r);
	else if (r->ev == EV_PROFILED)
		end_profile(v, r);
	if (r->ev == EV_START && r->on_profiler) {
		v->jobs[r->job].was_profiled = true;
		drop_waiting(v, r->job);
	}
}

void verify_profiler_release(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_profiles; i++)
		free(v->profiles[i].nodes);
	free(v->profiles);
	free(v->to_profile.a);
}
