/* SPDX-License-Identifier: MIT */
/*
 * Shortest remaining time first, preemptive: at each decision all active jobs are taken in order of
 * predicted remaining time; those that do not fit into what is left are passed over. Ties go by the
 * job index, or as a simulator's lists have them where a fidelity profile says so.
 */
#include <stdlib.h>

#include "libfit/replay/greedy.h"

static int srtf_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		     struct fit_err *err)
{
	struct fit_greedy *g = malloc(sizeof *g);

	(void)p;
	if (!g)
		return fit_fail_nomem(err);
	*state = g;
	return fit_greedy_init(g, v, v->fidelity->greedy_list_order ? FIT_TIES_WAITING_FIRST :
			       FIT_TIES_BY_JOB, err);
}

static void srtf_free(void *state)
{
	fit_greedy_release(state);
	free(state);
}

static int srtf_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	int64_t key;
	int rc = fit_predict_remaining(v, j, &key, err);

	return rc ? rc : fit_greedy_wait(state, v, j, key, err);
}

static void srtf_leave(void *state, const struct fit_view *v, uint32_t j)
{
	(void)v;
	fit_greedy_leave(state, j);
}

static int srtf_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	return fit_view_gpus(v, j) ? fit_greedy_run(state, v, j, 0, err) : srtf_arrive(state, v, j, err);
}

static int srtf_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct fit_greedy *g = state;

	for (size_t i = 0; i < g->n_running; i++) {
		int rc = fit_predict_remaining(v, g->running[i].job, &g->running[i].key, err);

		if (rc)
			return rc;
	}
	fit_greedy_sort(g);
	return fit_greedy_decide(g, v, plan, err);
}

const struct fit_policy fit_policy_srtf = {
	.name = "srtf",
	.summary = "shortest remaining time first, preemptive",
	.needs = FIT_COUNTS_DOWN,
	.init = srtf_init,
	.free = srtf_free,
	.arrive = srtf_arrive,
	.leave = srtf_leave,
	.changed = srtf_changed,
	.decide = srtf_decide,
};
