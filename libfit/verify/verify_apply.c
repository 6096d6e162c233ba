/* SPDX-License-Identifier: MIT */
/* What the rows of the log change: the states of jobs, and who holds what. */
#include <math.h>

#include "libfit/verify/verify_state.h"

static void allocate(struct fit_verifier *v, struct verify_live *l, const struct verify_row *r)
{
	bool keeps = verify_sia_keeps_shape(v, l, r);
	int64_t left_ns = l->ready_ns > r->t ? l->ready_ns - r->t : 0;

	if (v->with_plans && l->first_start_ns != NEVER)
		l->progress = verify_plan_carry(v, r, l, l->progress);
	l->exec_plan = r->exec_plan;
	l->grew = r->sum > l->gpus || verify_changes_type(v, r);
	verify_unbook(v, l, r->t);
	l->guest = r->ev == EV_START && r->has_with && r->with != NONE;
	if (fit_grow(&l->nodes, &l->cap_nodes, r->n_nodes, sizeof *l->nodes)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t i = 0; i < r->n_nodes; i++) {
		l->nodes[i] = r->nodes[i];
		if (!l->guest)
			verify_book(v, r->nodes[i].node, r->nodes[i].gpus);
		if (r->nodes[i].node >= 0 && (size_t)r->nodes[i].node < v->n_nodes &&
		    verify_list_push(&v->touched, (uint32_t)r->nodes[i].node))
			v->code = FIT_ENOMEM;
	}
	l->n_nodes = r->n_nodes;
	l->gpus = r->sum;
	verify_yarn_hold(v, l, 1);
	l->since_ns = l->last_ns = r->t;
	verify_agent_switch(l, r->n_nodes && !v->blind ? verify_type_of(v, r->nodes[0].node) : 0);
	l->sia_restarts += l->first_start_ns != NEVER && !keeps;
	keeps = keeps || r->ev == EV_SHIFT;
	l->delay_ns = r->on_profiler ? 0 : keeps ? left_ns : verify_delay_ns(v, l, r->nodes, r->n_nodes);
	if (r->delay_ns == NO_INT ? v->says_delays : r->delay_ns != l->delay_ns)
		verify_fault(v, RULE_RESTART_COST, l->job, "restart delay %.9g s, the row says %.9g",
			     fit_time_to_double(l->delay_ns),
			     r->delay_ns == NO_INT ? (double)NAN : fit_time_to_double(r->delay_ns));
	l->ready_ns = r->t + l->delay_ns;
	l->local_bsz = r->local_bsz;
	l->accum = r->accum;
	l->rate = l->slow = 0;
	verify_round_begins(v, l);
	l->fresh_alloc = true;
	l->placed = true;
	if (l->first_start_ns == NEVER)
		l->first_start_ns = r->t;
	else if (r->ev != EV_SHIFT)
		l->n_restarts++;
}

/* Progress made since the last row of this job. The log's own figure is not taken over. */
static void settle_progress(struct fit_verifier *v, struct verify_live *l,
			    const struct verify_row *r)
{
	l->row_ns = r->t;
	l->tuned = false;
	if (!r->known)
		return;
	if (v->with_speedups && v->jobs[l->job].app != UINT16_MAX)
		verify_boa_count(v, l, r->ran_ns);
	if (v->by_epoch)
		l->progress = r->progress_now;
	else
		l->done_ns += r->ran_ns;
	l->last_ns = v->count_ns && !l->on_profiler ? l->last_ns + r->ran_ns : r->t;
	l->left_s = r->left_s;
	l->fresh_alloc = false;
}

static void finish(struct fit_verifier *v, struct verify_live *l, const struct verify_row *r)
{
	struct verify_job *j = &v->jobs[r->job];
	bool tick = v->interval_ns > 0 && r->t % v->interval_ns == 0;

	l->finish_ns = r->t;
	if (l->n_nodes)
		l->held_ns += r->t - l->since_ns;
	v->n_finished++;
	verify_admission_left(v);
	v->last_finish_ns = r->t;
	v->held_finish = v->held;
	v->capacity_finish = v->capacity;
	v->paid_finish = v->paid;
	v->demand -= (int64_t)j->gpus;
	verify_policy_left(v, l);
	verify_share_left(v, l);
	if (r->n_nodes && l->n_nodes) {
		j->state = JOB_BOOKED;
		l->finish_unclear = tick && v->unclear;
		l->release_due_ns = r->t;
		if (v->interval_ns > 0 && (!tick || v->phase == PHASE_AFTER || v->unclear))
			l->release_due_ns = (r->t / v->interval_ns + 1) * v->interval_ns;
		return;
	}
	verify_unbook(v, l, r->t);
	j->state = JOB_DONE;
	verify_live_free(v, l);
	verify_interfere(v);
}

void verify_apply(struct fit_verifier *v, struct verify_row *r)
{
	struct verify_job *j = r->job == NONE ? NULL : &v->jobs[r->job];
	struct verify_live *l = r->live;
	bool running;

	if (r->ev == EV_CLUSTER) {
		if (!r->cluster_bad && (verify_set_cluster(v, r->nodes_text) ||
					verify_share_cluster(v) || verify_next_begin(v) || verify_turns_start(v) ||
					verify_yarn_start(v) ||
					(v->autoscale != SCALE_NONE && verify_nodes_begin(v))))
			v->code = FIT_ENOMEM;
		if (v->with_speedups)
			verify_boa_cluster(v);
		if (v->autoscale != SCALE_NONE)
			v->rented = 0;
		if (!r->cluster_bad && !v->code)
			verify_rent_cluster(v);
		v->seen_cluster = v->dirty = true;
		return;
	}
	if (EV_BIT(r->ev) & EV_LENDING) {
		v->woken = v->dirty = true;
		return;
	}
	if (EV_BIT(r->ev) & EV_OF_NODE) {
		if (v->autoscale != SCALE_NONE)
			verify_nodes_apply(v, r);
		return;
	}
	if (!j)
		return;
	running = j->state == JOB_RUNNING;
	verify_turns_touch(v, r->job);
	if (l && (EV_BIT(r->ev) & EV_ACTIVE))
		l->changed = true;
	if (r->ev == EV_SUBMIT) {
		if (j->state != JOB_UNSEEN)
			return;
		if (v->max_active)
			j->submit_ns = r->t; /* what completion times and ages count from */
		j->state = JOB_WAITING;
		v->n_submitted++;
		if (v->first_submit_ns == NEVER) {
			v->first_submit_ns = r->t;
			v->held_submit = v->held;
			v->capacity_submit = v->capacity;
			v->paid_submit = v->paid;
		}
		v->last_submit_ns = r->t;
		v->held_last = v->held;
		v->paid_last = v->paid;
		v->demand += (int64_t)j->gpus;
		l = verify_live_new(v, r->job);
		if (l)
			l->joined = v->n_joined++;
		if (l && v->seeded)
			verify_agent_seed(v, l);
		if (l && v->policy == POLICY_BOA && j->app != UINT16_MAX)
			verify_boa_arrival(v, l);
		if (!l || verify_list_push(&v->fresh, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		v->woken_before = v->woken;
		v->woken = v->dirty = true;
		v->open_submit = r->job;
		return;
	}
	if (!l && (EV_BIT(r->ev) & EV_ACTIVE) && j->state == JOB_UNSEEN) {
		l = verify_live_new(v, r->job);
		if (!l)
			return;
	}
	if (!l)
		return;
	settle_progress(v, l, r);
	switch (r->ev) {
	case EV_REJECT:
		if (v->fresh.n && v->fresh.a[v->fresh.n - 1] == (uint32_t)(l - v->live))
			v->fresh.n--;
		else
			verify_policy_left(v, l);
		v->woken = v->woken_before;
		j->state = JOB_REJECTED;
		v->n_rejected++;
		v->demand -= (int64_t)j->gpus;
		verify_unbook(v, l, r->t);
		verify_live_free(v, l);
		break;
	case EV_LOSE: /* its rate stays what it was */
		verify_unbook(v, l, r->t);
		l->since_ns = r->t;
		v->dirty = true;
		break;
	case EV_START:
	case EV_MOVE:
	case EV_RESUME:
	case EV_SHIFT:
		if (r->ev == EV_START && verify_list_push(&v->started, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		if (verify_list_push(&v->placed, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		allocate(v, l, r);
		v->n_restarts += r->ev != EV_START && r->ev != EV_SHIFT;
		j->state = JOB_RUNNING;
		l->joined = v->n_joined++;
		verify_policy_runs(v, l, true);
		v->dirty = true;
		break;
	case EV_PREEMPT:
		verify_unbook(v, l, r->t);
		l->done_ns -= verify_preempt_work_ns(v, r->job);
		l->joined = v->n_joined++;
		verify_policy_runs(v, l, false);
		l->n_preempts++;
		v->n_preempts++;
		j->state = JOB_PREEMPTED;
		v->dirty = true;
		break;
	case EV_EPOCH:
		if (v->by_epoch && running)
			l->progress = verify_epoch_end(v, r->job, l->epoch);
		if (v->policy == POLICY_BOA)
			v->woken = true;
		if (running)
			verify_boa_observe(v, l);
		l->epoch++;
		l->rate = 0;
		if (v->adaptive) {
			l->local_bsz = r->local_bsz;
			l->accum = r->accum;
		}
		v->dirty = true;
		break;
	case EV_BATCH:
		l->local_bsz = r->local_bsz;
		l->accum = r->accum;
		l->rate = 0;
		verify_round_begins(v, l);
		break;
	case EV_FINISH:
		if (running)
			verify_boa_observe(v, l);
		if (v->by_epoch && running)
			l->progress = verify_epoch_end(v, r->job, l->epoch++);
		v->woken = v->dirty = true;
		finish(v, l, r);
		break;
	case EV_RELEASE:
		verify_unbook(v, l, r->t);
		if (j->state == JOB_BOOKED) {
			j->state = JOB_DONE;
			verify_live_free(v, l);
		}
		v->dirty = true;
		break;
	default:
		break;
	}
}
