/* SPDX-License-Identifier: MIT */
#include "libfit/replay/allocations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/table.h"

enum { TIME, JOB, EVENT, NODES, PER_NODE, GPUS, PLAN, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[TIME] = { "time_s", FIT_TIME, FIT_F_NOT_NA },
	[JOB] = { "job_id", FIT_TEXT, 0 },
	[EVENT] = { "event", FIT_TEXT, FIT_F_OPTIONAL },
	[NODES] = { "nodes", FIT_TEXT, FIT_F_OPTIONAL },
	[PER_NODE] = { "per_node", FIT_TEXT, FIT_F_OPTIONAL },
	[GPUS] = { "gpus", FIT_REAL, FIT_F_OPTIONAL },
	[PLAN] = { "exec_plan", FIT_TEXT, FIT_F_OPTIONAL },
};

void fit_allocations_release(struct fit_allocations *a)
{
	for (size_t i = 0; i < a->n_ids; i++)
		free(a->ids[i]);
	for (size_t i = 0; i < a->n_plans; i++)
		free(a->plans[i]);
	free(a->ids);
	free(a->plans);
	free(a->rows);
	free(a->shares);
	*a = (struct fit_allocations){ .n = 0 };
}

/* Is this row of an event log about what a job holds? The end of a job is its own doing. */
static bool is_change(struct fit_text event)
{
	static const char *const changes[] = { "start", "move", "shift", "resume", "preempt" };

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (fit_text_is(event, changes[i]))
			return true;
	return false;
}

static int add_share(struct fit_allocations *a, struct fit_allocation *r, int64_t node, int64_t gpus)
{
	if (fit_grow(&a->shares, &a->shares_cap, a->shares_n + 1, sizeof *a->shares))
		return FIT_ENOMEM;
	a->shares[a->shares_n++] = (struct fit_share){ (int32_t)node, (int32_t)gpus };
	r->n_shares++;
	r->gpus += gpus;
	return FIT_OK;
}

/* Numbers up to a most, with nothing but digits around. */
static bool parse(struct fit_text t, int64_t least, int64_t most, int64_t *v)
{
	return t.n && t.s[0] >= '0' && t.s[0] <= '9' && fit_parse_int64(t, v) == FIT_OK && *v >= least && *v <= most;
}

/* "0:4,1:2", or without nodes "4,2"; "-" for none. */
static int take_shares(struct fit_allocations *a, struct fit_allocation *r, const struct fit_reader *reader,
		       struct fit_text list, struct fit_err *err)
{
	bool named = r->kind == FIT_ALLOCATE_NODES;
	struct fit_text rest = list;

	if (fit_text_is(list, "-"))
		return FIT_OK;
	do {
		const char *comma = rest.n ? memchr(rest.s, ',', rest.n) : NULL;
		struct fit_text one = { rest.s, comma ? (size_t)(comma - rest.s) : rest.n };
		const char *colon = named && one.n ? memchr(one.s, ':', one.n) : NULL;
		int64_t node = -1, gpus;

		rest = (struct fit_text){ one.s + one.n + 1, comma ? rest.n - one.n - 1 : 0 };
		if (named && (!colon || !parse((struct fit_text){ one.s, (size_t)(colon - one.s) }, 0,
					       FIT_NODES_MAX - 1, &node)))
			gpus = 0;
		else if (colon)
			one = (struct fit_text){ colon + 1, one.n - (size_t)(colon + 1 - one.s) };
		if ((named && node < 0) || !parse(one, 1, FIT_NODE_GPUS_MAX, &gpus))
			return fit_reader_fail(reader, FIT_EDATA, named ? "nodes" : "per_node", err,
					       "bad allocation '%.*s' (expected %s, or - for none)", FIT_TEXT_ARG(list),
					       named ? "node:gpus such as 0:4,1:2" : "GPUs on each node such as 4,2");
		for (size_t i = 0; named && i < r->n_shares; i++)
			if (a->shares[r->shares_at + i].node == node)
				return fit_reader_fail(reader, FIT_EDATA, "nodes", err, "node %lld twice in '%.*s'",
						       (long long)node, FIT_TEXT_ARG(list));
		if (add_share(a, r, node, gpus))
			return fit_fail_nomem(err);
		if (comma && !rest.n)
			return fit_reader_fail(reader, FIT_EDATA, named ? "nodes" : "per_node", err,
					       "bad allocation '%.*s' (expected no comma at its end)", FIT_TEXT_ARG(list));
	} while (rest.n);
	return FIT_OK;
}

/* Plans are few. */
static int take_plan(struct fit_allocations *a, struct fit_text name, size_t *plan)
{
	for (*plan = 1; *plan <= a->n_plans; (*plan)++)
		if (fit_text_is(name, a->plans[*plan - 1]))
			return FIT_OK;
	if (fit_grow(&a->plans, &a->plans_cap, a->n_plans + 1, sizeof *a->plans))
		return FIT_ENOMEM;
	a->plans[a->n_plans] = fit_strdup(name);
	return a->plans[a->n_plans++] ? FIT_OK : FIT_ENOMEM;
}

static int take_row(struct fit_allocations *a, struct fit_index *seen, const struct fit_reader *reader,
		    const struct fit_cell *c, struct fit_err *err)
{
	struct fit_allocation r = { .time_ns = c[TIME].u.i, .shares_at = a->shares_n,
				    .line = fit_reader_line(reader) };
	uint32_t before = FIT_NO_INDEX;
	int rc = FIT_OK;

	if (c[JOB].na || !c[JOB].u.t.n)
		return fit_reader_fail(reader, FIT_EDATA, "job_id", err, "missing (expected a job)");
	if (r.time_ns < 0)
		return fit_reader_fail(reader, FIT_EDATA, "time_s", err, "before the trace origin (expected 0 or more)");
	if (!c[NODES].na) {
		r.kind = FIT_ALLOCATE_NODES;
		rc = take_shares(a, &r, reader, c[NODES].u.t, err);
	} else if (!c[PER_NODE].na) {
		r.kind = FIT_ALLOCATE_PER_NODE;
		rc = take_shares(a, &r, reader, c[PER_NODE].u.t, err);
	} else if (!c[GPUS].na) {
		double g = c[GPUS].u.d;

		r.kind = FIT_ALLOCATE_GPUS;
		if (!(g >= 0 && g <= 1e9) || g != rint(g))
			return fit_reader_fail(reader, FIT_EDATA, "gpus", err, "bad number of GPUs %g (expected 0 or more, "
					       "whole)", g);
		r.gpus = (int64_t)g;
	} else {
		return fit_reader_fail(reader, FIT_EDATA, NULL, err,
				       "no allocation (expected a value in nodes, per_node or gpus)");
	}
	if (rc)
		return rc;
	if (a->n_ids >= UINT32_MAX - 1)
		return fit_fail(err, FIT_EDATA, "%s: too many jobs", fit_reader_input(reader));
	if (fit_index_put(seen, c[JOB].u.t, (uint32_t)a->n_ids, &before))
		return fit_fail_nomem(err);
	if (before == FIT_NO_INDEX) {
		if (fit_grow(&a->ids, &a->ids_cap, a->n_ids + 1, sizeof *a->ids))
			return fit_fail_nomem(err);
		a->ids[a->n_ids] = fit_strdup(c[JOB].u.t);
		if (!a->ids[a->n_ids])
			return fit_fail_nomem(err);
		before = (uint32_t)a->n_ids++;
	}
	r.job = before;
	if (!c[PLAN].na && take_plan(a, c[PLAN].u.t, &r.plan))
		return fit_fail_nomem(err);
	if (fit_grow(&a->rows, &a->cap, a->n + 1, sizeof *a->rows))
		return fit_fail_nomem(err);
	a->rows[a->n++] = r;
	return FIT_OK;
}

static int by_time(const void *pa, const void *pb)
{
	const struct fit_allocation *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

int fit_allocations_read(struct fit_allocations *a, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[N_COLUMNS];
	struct fit_index seen = { 0 };
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*a = (struct fit_allocations){ .n = 0 };
	if (rc)
		return rc;
	snprintf(a->input, sizeof a->input, "%s", fit_reader_input(r));
	rc = fit_reader_begin(r, columns, N_COLUMNS, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		if (!rc && (cells[EVENT].na || is_change(cells[EVENT].u.t)))
			rc = take_row(a, &seen, r, cells, err);
	}
	rc = rc == FIT_END ? fit_reader_only(r, err) : rc;
	fit_reader_hash(r, a->hash);
	fit_reader_close(r);
	fit_index_release(&seen);
	if (rc)
		fit_allocations_release(a);
	else if (a->n)
		qsort(a->rows, a->n, sizeof *a->rows, by_time);
	return rc;
}
