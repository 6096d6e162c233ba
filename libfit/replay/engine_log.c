/* SPDX-License-Identifier: MIT */
/* Rows of the event log: of jobs, of jobs on the profiler, of nodes. */
#include "libfit/replay/engine_state.h"

#include <string.h>

int fit_engine_log_placed(struct fit_engine *g, const char *name, uint32_t j, bool holds, bool placed,
			  struct fit_err *err)
{
	struct job_state *s = fit_engine_state(g, j);
	const struct fit_job *job = fit_engine_job(g, j);
	struct fit_event e = {
		.time_ns = g->now_ns,
		.name = name,
		.job = job,
		.alloc = holds ? &s->alloc : NULL,
		.first_node = fit_engine_part_of(g, j)->first_node,
		.numbers = fit_engine_part_of(g, j)->numbers,
		.run = &s->run,
		.work = fit_engine_job_work(g, j),
		.epochs = g->model->has_epochs,
		.batches = g->model->has_epochs && !g->model->no_batches,
		.with = s->partner == NOBODY ? NULL : fit_engine_job(g, s->partner),
		.delay_ns = placed ? s->delay_ns : -1,
	};

	g->counts.events++;
	return fit_log_event(&g->log, &e, err);
}

int fit_engine_log_job(struct fit_engine *g, const char *name, uint32_t j, bool holds, struct fit_err *err)
{
	return fit_engine_log_placed(g, name, j, holds, false, err);
}

int fit_engine_log_profile(struct fit_engine *g, const char *name, uint32_t j, bool holds, double work,
			   struct fit_err *err)
{
	const struct fit_profiled *x = &g->profiling.jobs[j];
	struct fit_alloc a = { .n = 0 };
	struct fit_run run = { .rate_shared = 1 };
	struct fit_event e = { .time_ns = g->now_ns, .name = name, .job = fit_engine_job(g, j), .run = &run,
			       .alloc = holds ? &a : NULL, .work = work,
			       .delay_ns = strcmp(name, "start") == 0 ? 0 : -1 };
	int rc;

	for (uint32_t i = 0; i < x->n_nodes && holds; i++) {
		struct fit_share s = g->profiling.shares[x->nodes_at + i];

		if (fit_grow(&a.shares, &a.cap, a.n + 1, sizeof *a.shares)) {
			fit_alloc_release(&a);
			return fit_fail_nomem(err);
		}
		s.node = s.node < g->p->profiler.nodes ? g->p->profiler_nodes[s.node] :
			 g->profiling.lent[x->nodes_at + i];
		a.shares[a.n++] = s;
		a.gpus += s.gpus;
	}
	g->counts.events++;
	rc = fit_log_event(&g->log, &e, err);
	fit_alloc_release(&a);
	return rc;
}

int fit_engine_log_node(void *arg, const char *name, int32_t node, struct fit_err *err)
{
	struct fit_part *p = arg;
	struct fit_engine *g = p->engine;

	g->counts.events++;
	g->counts.rented += name[0] == 'r' && name[2] == 'n';
	g->counts.returned += name[0] == 'r' && name[2] == 't';
	return fit_log_node(&g->log, g->now_ns, name, p->first_node + node, p->cluster->gpus[node], err);
}
