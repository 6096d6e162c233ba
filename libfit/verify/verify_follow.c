/* SPDX-License-Identifier: MIT */
/*
 * Policy follow: what jobs hold is what the table of allocations says, from the first decision after each
 * of its times on, and nothing else changes (docs/formats/allocations.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

struct verify_wish {
	int64_t t_ns;
	uint32_t job;
	uint64_t line;
	int64_t gpus;
	size_t at, n;			/* in places; node -1: any */
	enum { WISH_NODES, WISH_PER_NODE, WISH_GPUS } kind;
};

static int by_time(const void *pa, const void *pb)
{
	const struct verify_wish *a = pa, *b = pb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

/* The numbers in a list, after which ones a colon stands: nodes. FIT_EDATA: it is none. */
static int take_list(struct verify_follow *f, struct verify_wish *w, struct fit_text t)
{
	struct verify_place p = { -1, 0 };
	size_t from = 0;

	for (size_t i = 0; i <= t.n; i++) {
		int64_t x;

		if (i < t.n && t.s[i] != ',' && t.s[i] != ':')
			continue;
		if (fit_parse_int64((struct fit_text){ t.s + from, i - from }, &x) || x < 0 || x > INT32_MAX)
			return FIT_EDATA;
		from = i + 1;
		if (i < t.n && t.s[i] == ':') {
			p.node = (int32_t)x;
			continue;
		}
		p.gpus = (int32_t)x;
		if (fit_grow(&f->places, &f->cap_places, f->n_places + 1, sizeof *f->places))
			return FIT_ENOMEM;
		f->places[f->n_places++] = p;
		w->gpus += x;
		w->n++;
		p.node = -1;
	}
	return FIT_OK;
}

static int take_row(struct fit_verifier *v, const struct fit_reader *r, const struct fit_cell *c,
		    struct fit_err *err)
{
	enum { TIME, JOB, EVENT, NODES, PER_NODE, GPUS };
	struct verify_follow *f = &v->follow;
	struct verify_wish w = { .t_ns = c[TIME].u.i, .line = fit_reader_line(r), .at = f->n_places };
	struct fit_text list = c[NODES].na ? c[PER_NODE].u.t : c[NODES].u.t, e = c[EVENT].u.t;
	int rc = FIT_OK;

	if (!c[EVENT].na && !fit_text_is(e, "start") && !fit_text_is(e, "move") && !fit_text_is(e, "resume") &&
	    !fit_text_is(e, "shift") &&
	    !fit_text_is(e, "preempt"))
		return FIT_OK;
	w.job = verify_find_job(v, c[JOB].u.t);
	if (w.job == NONE)
		return fit_reader_fail(r, FIT_EDATA, "job_id", err, "unknown job '%.*s' (expected one of the jobs table)",
				       FIT_TEXT_ARG(c[JOB].u.t));
	w.kind = !c[NODES].na ? WISH_NODES : !c[PER_NODE].na ? WISH_PER_NODE : WISH_GPUS;
	if (w.kind == WISH_GPUS)
		w.gpus = c[GPUS].na || !(c[GPUS].u.d < 1e9) ? -1 : (int64_t)c[GPUS].u.d;
	else if (!fit_text_is(list, "-"))
		rc = take_list(f, &w, list);
	if (rc == FIT_EDATA || w.gpus < 0)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "no allocation (expected nodes, per_node or gpus)");
	if (rc || fit_grow(&f->wishes, &f->cap, f->n + 1, sizeof *f->wishes))
		return fit_fail_nomem(err);
	f->wishes[f->n++] = w;
	return FIT_OK;
}

int fit_verifier_allocations(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, FIT_F_NOT_NA }, { "job_id", FIT_TEXT, 0 },
		{ "event", FIT_TEXT, FIT_F_OPTIONAL }, { "nodes", FIT_TEXT, FIT_F_OPTIONAL },
		{ "per_node", FIT_TEXT, FIT_F_OPTIONAL }, { "gpus", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct fit_cell cells[6];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, fields, 6, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		rc = rc ? rc : take_row(v, r, cells, err);
	}
	rc = rc == FIT_END ? fit_reader_only(r, err) : rc;
	fit_reader_hash(r, v->follow.hash);
	fit_reader_close(r);
	if (!rc && v->follow.n)
		qsort(v->follow.wishes, v->follow.n, sizeof *v->follow.wishes, by_time);
	return rc;
}

void verify_follow_release(struct fit_verifier *v)
{
	free(v->follow.wishes);
	free(v->follow.places);
}

int64_t verify_follow_timer(const struct fit_verifier *v)
{
	int64_t d = v->interval_ns, t;

	if (v->follow.next == v->follow.n)
		return NEVER;
	t = v->follow.wishes[v->follow.next].t_ns;
	if (d <= 0)
		return t;
	if (t == 0 && !v->decides_at_zero)
		return d;
	return (t / d + (t % d != 0)) * d;
}

/* The last row of a job that is due by now, or NULL. */
static const struct verify_wish *wish_of(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_wish *last = NULL;

	for (size_t i = v->follow.next; i < v->follow.n && v->follow.wishes[i].t_ns <= v->now; i++)
		if (v->follow.wishes[i].job == job)
			last = &v->follow.wishes[i];
	return last;
}

void verify_row_follow(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->job == NONE || (r->ev == EV_LOSE && v->ghosts))	/* runs on what is another one's now */
		return;
	verify_check(v, RULE_FOLLOW);
	if (!wish_of(v, r->job))
		verify_fault(v, RULE_FOLLOW, r->job, "the allocation changes, and the table says nothing of it");
}

static bool as_wished(const struct fit_verifier *v, const struct verify_wish *w, const struct verify_live *l)
{
	if (w->kind == WISH_GPUS || w->gpus == 0)
		return l->gpus == w->gpus;
	if (l->n_nodes != w->n)
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (l->nodes[i].gpus != v->follow.places[w->at + i].gpus ||
		    (w->kind == WISH_NODES && l->nodes[i].node != v->follow.places[w->at + i].node))
			return false;
	return true;
}

void verify_decide_follow(struct fit_verifier *v)
{
	size_t i = v->follow.next;

	for (; v->legal && i < v->follow.n && v->follow.wishes[i].t_ns <= v->now; i++) {
		const struct verify_wish *w = &v->follow.wishes[i];
		const struct verify_job *j = &v->jobs[w->job];

		if (wish_of(v, w->job) != w || j->live == NONE ||
		    (j->state != JOB_WAITING && j->state != JOB_RUNNING && j->state != JOB_PREEMPTED))
			continue;
		verify_check(v, RULE_FOLLOW);
		if (!as_wished(v, w, &v->live[j->live]))
			verify_fault(v, RULE_FOLLOW, w->job, "the table gives %lld GPUs (line %llu), it holds %lld, or others",
				     (long long)w->gpus, (unsigned long long)w->line, (long long)v->live[j->live].gpus);
	}
	if (!v->mute)
		v->follow.next = i;
}
