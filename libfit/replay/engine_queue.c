/* SPDX-License-Identifier: MIT */
/* The queue of ends: a binary heap, where entries that became void stay until they come up. */
#include "libfit/base/heap.h"
#include "libfit/replay/engine_state.h"

static bool before(const struct queued *a, const struct queued *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->order < b->order;
}

FIT_HEAP(ends, struct queued, before)

void fit_engine_drop_end(struct fit_engine *g)
{
	ends_pop(g->heap, &g->heap_n);
}

int fit_engine_queue_end(struct fit_engine *g, uint32_t j, struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	bool as_placed = g->shares || (g->p->fidelity->ends_in_order &&
				       (g->p->policy->needs & FIT_ENDS_AS_PLACED));
	struct queued q = { .job = j, .stamp = ++s->stamp, .order = as_placed ? s->order : j };
	bool late;
	int rc = g->model->next(fit_engine_job(g, j), &s->run, g->p->fidelity, &q.at_ns, &late, err);

	if (rc)
		return rc;
	if (q.at_ns == INT64_MAX)
		return FIT_OK;
	if (q.at_ns > HORIZON_NS)
		return fit_fail(err, FIT_EDATA, "job %s: would not end within 190 years of the trace origin",
				fit_engine_job(g, j)->id);
	q.kind = late ? ENDS_LATE : ENDS;
	return ends_push(&g->heap, &g->heap_n, &g->heap_cap, q) ? fit_fail_nomem(err) : FIT_OK;
}

uint32_t fit_engine_take_end(struct fit_engine *g)
{
	const struct fit_policy *p = g->p->policy;
	uint32_t best = g->heap[0].job;
	int64_t least = INT64_MAX;

	if (!g->p->fidelity->ends_in_order || !p->end_order) {
		fit_engine_drop_end(g);
		return best;
	}
	for (size_t i = 0; i < g->heap_n; i++) {
		const struct queued *q = &g->heap[i];
		struct fit_part *part = fit_engine_part_of(g, q->job);
		int64_t order;

		if (q->at_ns > g->now_ns || q->kind != ENDS || fit_engine_is_void(g, q))
			continue;
		order = p->end_order(part->policy_state, fit_engine_view_of(g, part), q->job);
		if (order < least || (order == least && q->job < best)) {
			least = order;
			best = q->job;
		}
	}
	fit_engine_state(g, best)->stamp++;	/* its entry is void */
	return best;
}
