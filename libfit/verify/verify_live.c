/* SPDX-License-Identifier: MIT */
/* The jobs in the system: their records, the account of what they held, how they slow each other down. */
#include <string.h>

#include "libfit/verify/verify_state.h"

/* ---- records ---- */

struct verify_live *verify_live_new(struct fit_verifier *v, uint32_t job)
{
	struct verify_live *l;
	struct verify_place *nodes;
	size_t cap;
	uint32_t i = v->free_live;

	if (i != NONE) {
		v->free_live = v->live[i].next;
	} else {
		if (fit_grow(&v->live, &v->cap_live, v->n_live + 1, sizeof *v->live)) {
			v->code = FIT_ENOMEM;
			return NULL;
		}
		i = (uint32_t)v->n_live++;
		v->live[i].nodes = NULL;
		v->live[i].cap_nodes = 0;
		v->live[i].agent = NULL;
	}
	l = &v->live[i];
	nodes = l->nodes;
	cap = l->cap_nodes;
	*l = (struct verify_live){ .job = job,
				   .next = NONE,
				   .lo = NONE,
				   .hi = NONE,
				   .due_ns = NEVER,
				   .wake_ns = NEVER,
				   .tick_ns = NEVER,
				   .nodes = nodes,
				   .cap_nodes = cap,
				   .first_start_ns = NEVER,
				   .finish_ns = NEVER,
				   .release_due_ns = NEVER,
				   .queue = UINT8_MAX,
				   .partner = NONE,
				   .speed = 1,
				   .local_bsz = NO_INT,
				   .accum = NO_INT };
	v->jobs[job].live = i;
	v->n_active++;
	return l;
}

static void keep_result(struct fit_verifier *v, const struct verify_live *l)
{
	struct verify_result *res;

	v->gpu_busy_s += l->gpu_busy_s - l->not_own_s;
	v->gpu_still_s += l->gpu_still_s - l->not_own_still_s;
	if (!v->keep)
		return;
	res = &v->results[l->job];
	*res = (struct verify_result){ .start_ns = l->first_start_ns,
				       .end_ns = l->finish_ns,
				       .held_ns = l->held_ns,
				       .gpu_s = l->gpu_s,
				       .gpu_busy_s = l->gpu_busy_s,
				       .restarts = l->n_restarts,
				       .preempts = l->n_preempts,
				       .state = v->jobs[l->job].state };
}

void verify_live_free(struct fit_verifier *v, struct verify_live *l)
{
	keep_result(v, l);
	verify_agent_free(l->agent);
	l->agent = NULL;
	v->jobs[l->job].live = NONE;
	l->next = v->free_live;
	v->free_live = (uint32_t)(l - v->live);
	v->n_active--;
}

/* ---- the account ---- */

void verify_unbook(struct fit_verifier *v, struct verify_live *l, int64_t t)
{
	int64_t held = t - l->since_ns;
	int64_t busy = t > l->ready_ns ? t - l->ready_ns : 0;

	verify_yarn_hold(v, l, -1);
	for (size_t i = 0; i < l->n_nodes && !l->guest; i++)
		verify_book(v, l->nodes[i].node, -l->nodes[i].gpus);
	if (l->n_nodes && l->guest) {
		l->not_own_s += (double)l->gpus * fit_time_to_double(busy);
		l->not_own_still_s += (double)l->gpus * fit_time_to_double(held - busy);
	}
	if (l->n_nodes) {
		if (l->finish_ns == NEVER)
			l->held_ns += held;
		else if (busy > l->finish_ns - l->ready_ns)
			busy = l->finish_ns > l->ready_ns ? l->finish_ns - l->ready_ns : 0;
		l->gpu_s += (double)l->gpus * fit_time_to_double(held);
		l->gpu_busy_s += (double)l->gpus * fit_time_to_double(busy);
		if (l->finish_ns != NEVER)
			held = l->finish_ns - l->since_ns;
		l->gpu_still_s += (double)l->gpus * fit_time_to_double(held - busy);
	}
	l->n_nodes = 0;
	l->gpus = 0;
}

/* ---- interference ---- */

int verify_count_spanning(struct fit_verifier *v, bool booked)
{
	if (fit_grow(&v->spanning, &v->cap_spanning, v->n_nodes + 1, sizeof *v->spanning))
		return FIT_ENOMEM;
	memset(v->spanning, 0, v->n_nodes * sizeof *v->spanning);
	for (size_t i = 0; i < v->n_live; i++) {
		const struct verify_live *l = &v->live[i];

		if (l->n_nodes < 2 || (!booked && v->jobs[l->job].state != JOB_RUNNING))
			continue;
		for (size_t k = 0; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				v->spanning[l->nodes[k].node]++;
	}
	return FIT_OK;
}

void verify_interfere(struct fit_verifier *v)
{
	if (!(v->interference > 0))
		return;
	if (verify_count_spanning(v, true)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t i = 0; i < v->n_live; i++) {
		struct verify_live *l = &v->live[i];
		double slow = 0;

		if (!l->n_nodes || v->jobs[l->job].state != JOB_RUNNING)
			continue;
		for (size_t k = 0; l->n_nodes > 1 && k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes &&
			    v->spanning[l->nodes[k].node] > 1)
				slow = v->interference;
		if (slow <= l->slow && slow >= l->slow)
			continue;
		l->progress = verify_progress_at_now(v, l);
		l->fresh_alloc = l->fresh_alloc && v->now <= l->ready_ns;
		l->last_ns = v->now;
		l->slow = slow;
		l->rate = 0;
	}
}
