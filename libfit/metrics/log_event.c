/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/log_event.h"

#include <math.h>
#include <string.h>

#include "libfit/base/num.h"

static const char *const kind_names[] = { "cluster", "submit", "reject", "start", "move", "preempt",
					  "resume", "epoch", "batch", "finish", "release",
					  "share", "profile", "profiled", "shift", "lose", "rent", "ready", "return",
					  "lend", "regain" };
#define N_KINDS (sizeof kind_names / sizeof *kind_names)

/* More GPUs than this are a mistake, and the integrals must not overflow. */
#define MAX_GPUS 1e9

enum { TIME, EVENT, JOB_ID, GPUS, NODES, EPOCH, APP, BATCH, DELAY, WITH, N_FIELDS };

static const struct fit_field fields[N_FIELDS] = {
	{ "time_s", FIT_TIME, FIT_F_NOT_NA },
	{ "event", FIT_TEXT, FIT_F_NOT_NA },
	{ "job_id", FIT_TEXT, 0 },
	{ "gpus", FIT_REAL, 0 },
	{ "nodes", FIT_TEXT, FIT_F_OPTIONAL },
	{ "epoch", FIT_INT, FIT_F_OPTIONAL },
	{ "app", FIT_TEXT, FIT_F_OPTIONAL },
	{ "batch_size", FIT_INT, FIT_F_OPTIONAL },
	{ "delay_s", FIT_TIME, FIT_F_OPTIONAL },
	{ "shared_with", FIT_TEXT, FIT_F_OPTIONAL },
};

const char *fit_event_kind_name(enum fit_event_kind kind)
{
	return kind_names[kind];
}

/* "FILE:LINE: no column ..." of another kind of table says what was expected, too. */
static int not_a_log(const struct fit_reader *r, struct fit_err *err)
{
	const char *input = fit_reader_input(r);
	struct fit_err old = *err;
	size_t n = strlen(input);

	if (strncmp(old.msg, input, n) != 0)
		return fit_fail_prefix(err, FIT_ENOTFOUND, "not an event log");
	n += strspn(old.msg + n, ":0123456789");
	return fit_fail(err, FIT_ENOTFOUND, "%.*s not an event log:%s", (int)n, old.msg, old.msg + n);
}

int fit_event_begin(struct fit_reader *r, struct fit_err *err)
{
	int rc = fit_reader_begin(r, fields, N_FIELDS, err);

	return rc == FIT_ENOTFOUND && err ? not_a_log(r, err) : rc;
}

/* One "NxG"; *gpus stays when it is not. */
static int parse_nodes(struct fit_text t, int64_t *gpus)
{
	int64_t nodes, each;
	size_t x = 0;

	while (x < t.n && t.s[x] != 'x')
		x++;
	if (x == t.n || fit_parse_int64((struct fit_text){ t.s, x }, &nodes) ||
	    fit_parse_int64((struct fit_text){ t.s + x + 1, t.n - x - 1 }, &each) ||
	    nodes < 0 || each < 0 || (double)nodes * (double)each > MAX_GPUS)
		return FIT_EPARSE;
	*gpus = nodes * each;
	return FIT_OK;
}

int fit_event_parse_cluster(struct fit_text t, int64_t *ugpus)
{
	int64_t sum = 0, gpus = 0;

	for (size_t at = 0; at <= t.n; at++) {
		size_t end = at;

		while (end < t.n && t.s[end] != ',')
			end++;
		if (parse_nodes((struct fit_text){ t.s + at, end - at }, &gpus))
			return FIT_EPARSE;
		sum += gpus;
		if ((double)sum > MAX_GPUS)
			return FIT_EPARSE;
		at = end;
	}
	*ugpus = sum * FIT_UGPU;
	return FIT_OK;
}

int fit_event_part_next(struct fit_text text, size_t *at, struct fit_event_part *p)
{
	struct fit_text t = { text.s + *at, 0 }, nodes;
	int64_t gpus;

	if (*at > text.n)
		return FIT_END;
	while (*at + t.n < text.n && t.s[t.n] != ',')
		t.n++;
	*at += t.n + 1;
	p->first += p->n;
	p->name = (struct fit_text){ t.s, 0 };
	while (p->name.n < t.n && t.s[p->name.n] != ':')
		p->name.n++;
	if (p->name.n < t.n)
		t = (struct fit_text){ t.s + p->name.n + 1, t.n - p->name.n - 1 };
	else
		p->name.n = 0;
	nodes = (struct fit_text){ t.s, 0 };
	while (nodes.n < t.n && t.s[nodes.n] != 'x')
		nodes.n++;
	if (parse_nodes(t, &gpus) || fit_parse_int64(nodes, &p->n))
		return FIT_EPARSE;
	p->ugpus = gpus * FIT_UGPU;
	return FIT_OK;
}

static int parse_kind(struct fit_text t, enum fit_event_kind *kind)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		if (fit_text_is(t, kind_names[i])) {
			*kind = (enum fit_event_kind)i;
			return FIT_OK;
		}
	}
	return FIT_EPARSE;
}

static int check_gpus(struct fit_reader *r, const struct fit_cell *c, struct fit_event_row *e,
		      struct fit_err *err)
{
	e->ugpus = 0;
	if (c[GPUS].na) {
		if (e->kind == FIT_EVENT_CLUSTER && !c[NODES].na) {
			if (fit_event_parse_cluster(c[NODES].u.t, &e->ugpus))
				return fit_reader_fail(r, FIT_EDATA, "nodes", err, "unknown cluster '%.*s' "
						       "(expected nodes x GPUs, as 16x4)",
						       FIT_TEXT_ARG(c[NODES].u.t));
			return FIT_OK;
		}
		if (e->kind == FIT_EVENT_REJECT || e->kind == FIT_EVENT_SUBMIT)
			return FIT_OK;
		return fit_reader_fail(r, FIT_EDATA, "gpus", err, "missing for event '%s' (expected the "
				       "GPUs held from now on)", kind_names[e->kind]);
	}
	if (!(c[GPUS].u.d >= 0 && c[GPUS].u.d <= MAX_GPUS))
		return fit_reader_fail(r, FIT_EDATA, "gpus", err,
				       "bad number of GPUs '%.17g' (expected 0 to %g)", c[GPUS].u.d, MAX_GPUS);
	e->ugpus = (int64_t)rint(c[GPUS].u.d * (double)FIT_UGPU);
	return FIT_OK;
}

/* The first node of "NODE:GPUS,..."; -1: none. */
static int64_t node_of(struct fit_text t)
{
	int64_t node;
	size_t n = 0;

	while (n < t.n && t.s[n] != ':')
		n++;
	return n == t.n || fit_parse_int64((struct fit_text){ t.s, n }, &node) || node < 0 ? -1 : node;
}

int fit_event_next(struct fit_reader *r, struct fit_event_row *e, struct fit_err *err)
{
	struct fit_cell c[N_FIELDS];
	int rc = fit_reader_row(r, c, err);

	if (rc)
		return rc;
	if (parse_kind(c[EVENT].u.t, &e->kind))
		return fit_reader_fail(r, FIT_EDATA, "event", err, "unknown event '%.*s' (expected cluster, "
				       "submit, reject, start, move, preempt, resume, epoch, batch, finish, "
				       "release, share, profile, profiled, shift, lose, rent, ready, return, lend or "
				       "regain)",
				       FIT_TEXT_ARG(c[EVENT].u.t));
	e->time_ns = c[TIME].u.i;
	if (e->time_ns < 0)
		return fit_reader_fail(r, FIT_EDATA, "time_s", err,
				       "negative time '%.17g' (expected seconds since the trace origin)",
				       fit_time_to_double(e->time_ns));
	e->job_id = c[JOB_ID].na ? (struct fit_text){ NULL, 0 } : c[JOB_ID].u.t;
	if ((e->job_id.n == 0) != (e->kind == FIT_EVENT_CLUSTER || e->kind >= FIT_EVENT_RENT))
		return fit_reader_fail(r, FIT_EDATA, "job_id", err, e->job_id.n ?
				       "unexpected job '%.*s' (expected NA for events of the cluster)" :
				       "missing%.*s (expected a job for every event but those of the cluster)",
				       FIT_TEXT_ARG(e->job_id));
	e->has_app = e->kind == FIT_EVENT_SUBMIT && !c[APP].na;
	e->app = e->has_app ? c[APP].u.t : (struct fit_text){ NULL, 0 };
	e->has_batch = e->kind == FIT_EVENT_SUBMIT && !c[BATCH].na;
	e->batch_size = e->has_batch ? c[BATCH].u.i : 0;
	e->has_epoch = !c[EPOCH].na;
	e->epoch = e->has_epoch ? c[EPOCH].u.i : 0;
	e->guest = e->kind == FIT_EVENT_START && !c[WITH].na;
	e->alone = e->kind == FIT_EVENT_SHARE && c[WITH].na;
	e->has_delay = !c[DELAY].na;
	e->delay_ns = e->has_delay ? c[DELAY].u.i : 0;
	if (e->delay_ns < 0)
		return fit_reader_fail(r, FIT_EDATA, "delay_s", err, "negative delay '%.17g'",
				       fit_time_to_double(e->delay_ns));
	e->node = c[NODES].na ? -1 : node_of(c[NODES].u.t);
	return check_gpus(r, c, e, err);
}

int fit_event_restart(const struct fit_reader *r, int64_t *restart_ns, struct fit_err *err)
{
	const char *s = fit_meta_get(fit_reader_meta(r), "restart_s");

	*restart_ns = 0;
	if (s && fit_text_is(fit_text_of(s), "profile")) {
		*restart_ns = FIT_INT_NA;
		return FIT_OK;
	}
	if (s && (fit_parse_time(fit_text_of(s), restart_ns) || *restart_ns < 0)) {
		*restart_ns = 0;
		return fit_fail(err, FIT_EDATA, "%s: bad metadata restart_s '%s' (expected seconds, or profile)",
				fit_reader_input(r), s);
	}
	return FIT_OK;
}
