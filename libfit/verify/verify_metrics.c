/* SPDX-License-Identifier: MIT */
/*
 * Compare tables of gf-metrics with what the events came to. The definitions are those of
 * docs/formats/metrics.md, computed here anew.
 */
#include <math.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

static bool same(double a, double b)
{
	double m = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

	return fabs(a - b) <= 1e-9 * (m > 1 ? m : 1);
}

/* ---- the metrics table ---- */

struct spread {
	double mean, median, p95, p99, max;
};

static int by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* Linear interpolation at p (n - 1), counted from 0. */
static double percentile(const int64_t *a, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t i = (size_t)floor(at);
	double low = fit_time_to_double(a[i]);

	return i + 1 < n ? low + (at - (double)i) * fit_time_to_double(a[i + 1] - a[i]) : low;
}

static struct spread spread_of(int64_t *a, size_t n)
{
	struct spread s;
	double sum = 0;

	if (!n)
		return (struct spread){ (double)NAN, (double)NAN, (double)NAN, (double)NAN,
					(double)NAN };
	qsort(a, n, sizeof *a, by_value);
	for (size_t i = 0; i < n; i++)
		sum += fit_time_to_double(a[i]);
	s.mean = sum / (double)n;
	s.median = percentile(a, n, 0.5);
	s.p95 = percentile(a, n, 0.95);
	s.p99 = percentile(a, n, 0.99);
	s.max = fit_time_to_double(a[n - 1]);
	return s;
}

struct expected {
	const char *name;
	double value;
};
#define N_EXPECTED 35

/* Mean GPUs of GPU-seconds over a time. */
static double mean_gpus(double gpu_s, double s)
{
	return s > 0 ? gpu_s / s : (double)NAN;
}

/* window_s: of the mean budgets, from time 0; NAN: from the first to the last submit. priced: GPUs have
 * prices. */
static int expect_all(const struct fit_verifier *v, double window_s, bool priced,
		      struct expected out[N_EXPECTED])
{
	bool own = !isnan(window_s);
	double makespan, window = own ? window_s : v->n_submitted ?
			fit_time_to_double(v->last_submit_ns - v->first_submit_ns) : 0;
	int64_t *jct = malloc((v->n_jobs + 1) * sizeof *jct),
		*queue = malloc((v->n_jobs + 1) * sizeof *queue);
	double last = v->n_finished ? fit_time_to_double(v->last_finish_ns) : (double)NAN, first;
	double held, capacity;
	struct spread j, q;
	size_t n = 0;

	if (!jct || !queue) {
		free(jct);
		free(queue);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < v->n_jobs; i++) {
		const struct verify_result *r = &v->results[i];

		if (r->end_ns == NEVER)
			continue;
		jct[n] = r->end_ns - v->jobs[i].submit_ns;
		queue[n] = jct[n] - r->held_ns;
		n++;
	}
	j = spread_of(jct, n);
	q = spread_of(queue, n);
	free(jct);
	free(queue);
	first = v->n_submitted ? fit_time_to_double(v->first_submit_ns) : (double)NAN;
	held = v->held_finish - v->held_submit;
	capacity = v->capacity_finish - v->capacity_submit;
	makespan = v->n_finished ? last - first : 0;
	if (!v->n_finished)
		held = capacity = (double)NAN;
	const struct expected e[N_EXPECTED] = {
		{ "jobs", (double)v->n_submitted },
		{ "finished", (double)v->n_finished },
		{ "unfinished", (double)(v->n_submitted - v->n_finished - v->n_rejected) },
		{ "rejected", (double)v->n_rejected },
		{ "jct_mean_s", j.mean },
		{ "jct_median_s", j.median },
		{ "jct_p95_s", j.p95 },
		{ "jct_p99_s", j.p99 },
		{ "jct_max_s", j.max },
		{ "queue_mean_s", q.mean },
		{ "queue_median_s", q.median },
		{ "queue_p95_s", q.p95 },
		{ "queue_p99_s", q.p99 },
		{ "queue_max_s", q.max },
		{ "makespan_s", last },
		{ "makespan_from_first_submit_s", last - first },
		{ "gpu_seconds_held", v->held },
		{ "gpu_seconds_busy", v->gpu_busy_s },
		{ "gpu_seconds_capacity", v->n_finished ? v->capacity_finish : (double)NAN },
		{ "utilisation",
		  v->n_finished ? v->held_finish / v->capacity_finish : (double)NAN },
		{ "utilisation_from_first_submit", held / capacity },
		{ "restarts", (double)v->n_restarts },
		{ "preemptions", (double)v->n_preempts },
		{ "gpu_seconds_rescaling", v->gpu_still_s },
		{ "gpu_seconds_rented", v->paid },
		{ "gpu_seconds_starting", v->paid - v->capacity },
		{ "gpu_seconds_idle", v->capacity - v->held },
		{ "budget_gpus", mean_gpus(v->held, window) },
		{ "budget_makespan_gpus", mean_gpus(held, makespan) },
		{ "rented_gpus", mean_gpus(v->paid, window) },
		{ "rented_makespan_gpus", mean_gpus(v->paid_finish - v->paid_submit, makespan) },
		/* what was held at an instant that no row marks is not kept */
		{ own ? "" : "budget_in_window_gpus", mean_gpus(v->held_last - v->held_submit, window) },
		{ own ? "" : "rented_in_window_gpus", mean_gpus(v->paid_last - v->paid_submit, window) },
		{ priced ? "rented_cost_per_h" : "", verify_rent_per_h(v, window) },
		{ NULL, 0 },
	};
	for (size_t i = 0; i < N_EXPECTED; i++)
		out[i] = e[i];
	return FIT_OK;
}

static void compare_metric(struct fit_verifier *v, const struct expected *e, struct fit_text name,
			   const struct fit_cell *found)
{
	for (; e->name; e++) {
		if (!fit_text_is(name, e->name))
			continue;
		verify_check(v, RULE_METRICS);
		if (found->na ? !isnan(e->value) : !same(found->u.d, e->value))
			verify_fault(v, RULE_METRICS, NONE,
				     "%s is %.17g by the events, the metrics say %.17g", e->name,
				     e->value, found->na ? (double)NAN : found->u.d);
		return;
	}
}

/* Run begin(v, arg, reader) and then take(v, arg, cells) on each row of the first table. */
int verify_each_row(struct fit_verifier *v, const char *operand, const struct fit_field *fields,
		    size_t n,
		    void (*take)(struct fit_verifier *v, const void *arg,
				 const struct fit_cell *cells),
		    int (*begin)(struct fit_verifier *v, void *arg, const struct fit_reader *r,
				 struct fit_err *err),
		    void *arg, struct fit_err *err)
{
	struct fit_cell cells[16];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, fields, n, err);
	if (!rc && begin)
		rc = begin(v, arg, r, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		v->line = rc ? 0 : fit_reader_line(r);
		if (!rc)
			take(v, arg, cells);
	}
	v->line = 0;
	if (rc == FIT_END)
		rc = fit_reader_only(r, err);
	fit_reader_close(r);
	if (v->code)
		return fit_fail_nomem(err);
	return rc == FIT_END ? FIT_OK : rc;
}

static void take_metric(struct fit_verifier *v, const void *arg, const struct fit_cell *c)
{
	compare_metric(v, arg, c[0].u.t, &c[1]);
}

static int begin_metrics(struct fit_verifier *v, void *arg, const struct fit_reader *r, struct fit_err *err)
{
	const char *s = fit_meta_get(fit_reader_meta(r), "window");
	double window_s = (double)NAN;
	const char *wrong;
	bool priced;

	if (s && (fit_parse_double(fit_text_of(s), &window_s) || !(window_s > 0)))
		return fit_fail(err, FIT_EDATA, "%s: bad metadata window '%s' (expected seconds)",
				fit_reader_input(r), s);
	wrong = verify_rent_prices(v, fit_reader_meta(r), &priced);
	if (wrong)
		return fit_fail(err, FIT_EDATA, "%s: bad metadata gpu_price '%s' (expected TYPE=X, a type of the cluster)",
				fit_reader_input(r), wrong);
	return expect_all(v, window_s, priced, arg) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_verifier_metrics(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "metric", FIT_TEXT, FIT_F_NOT_NA },
						   { "value", FIT_REAL, 0 } };
	struct expected e[N_EXPECTED];
	int rc;

	v->last_t = -1; /* faults have no instant from here on */
	if (!v->results)
		return fit_fail(err, FIT_EINVAL, "results were not kept");
	rc = verify_each_row(v, operand, fields, 2, take_metric, begin_metrics, e, err);
	if (!rc && !v->tally[RULE_METRICS].checked)
		rc = fit_fail(err, FIT_EDATA, "%s: no metric to check (expected what gf-metrics writes)", operand);
	return rc;
}

/* ---- the per-job table ---- */

enum {
	P_ID,
	P_START,
	P_END,
	P_JCT,
	P_QUEUE,
	P_GPU,
	P_BUSY,
	P_RESTARTS,
	P_PREEMPTS,
	P_STATUS,
	N_PER_JOB
};

static const struct fit_field per_job[N_PER_JOB] = {
	[P_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[P_START] = { "start_s", FIT_TIME, 0 },
	[P_END] = { "end_s", FIT_TIME, 0 },
	[P_JCT] = { "jct_s", FIT_TIME, 0 },
	[P_QUEUE] = { "queue_s", FIT_TIME, FIT_F_OPTIONAL },
	[P_GPU] = { "gpu_s", FIT_REAL, FIT_F_OPTIONAL },
	[P_BUSY] = { "gpu_busy_s", FIT_REAL, FIT_F_OPTIONAL },
	[P_RESTARTS] = { "restarts", FIT_INT, FIT_F_OPTIONAL },
	[P_PREEMPTS] = { "preemptions", FIT_INT, FIT_F_OPTIONAL },
	[P_STATUS] = { "status", FIT_TEXT, FIT_F_OPTIONAL },
};

/* One cell against the time that must stand there (NEVER: missing). */
static void compare_time(struct fit_verifier *v, uint32_t job, const struct fit_cell *c,
			 int64_t want, const char *name)
{
	if (c->na ? want != NEVER : c->u.i != want)
		verify_fault(v, RULE_PER_JOB, job,
			     "%s is %.12g by the events, the table says %.12g", name,
			     want == NEVER ? (double)NAN : fit_time_to_double(want),
			     c->na ? (double)NAN : fit_time_to_double(c->u.i));
}

static void take_per_job(struct fit_verifier *v, const void *arg, const struct fit_cell *c)
{
	uint32_t job = verify_find_job(v, c[P_ID].u.t);
	const struct verify_result *r;
	bool *seen;
	int64_t jct;

	(void)arg;
	verify_check(v, RULE_PER_JOB);
	if (job == NONE) {
		verify_fault(v, RULE_PER_JOB, NONE, "job '%.*s' is not in the jobs table",
			     FIT_TEXT_ARG(c[P_ID].u.t));
		return;
	}
	r = &v->results[job];
	seen = &v->results[job].seen;
	if (*seen)
		verify_fault(v, RULE_PER_JOB, job, "named twice");
	*seen = true;
	jct = r->end_ns == NEVER ? NEVER : r->end_ns - v->jobs[job].submit_ns;
	compare_time(v, job, &c[P_START], r->start_ns, "start_s");
	compare_time(v, job, &c[P_END], r->end_ns, "end_s");
	compare_time(v, job, &c[P_JCT], jct, "jct_s");
	if (!c[P_QUEUE].na && jct != NEVER)
		compare_time(v, job, &c[P_QUEUE], jct - r->held_ns, "queue_s");
	if (!c[P_GPU].na && !same(c[P_GPU].u.d, r->gpu_s))
		verify_fault(v, RULE_PER_JOB, job,
			     "gpu_s is %.12g by the events, the table says %.12g", r->gpu_s,
			     c[P_GPU].u.d);
	if (!c[P_BUSY].na && !same(c[P_BUSY].u.d, r->gpu_busy_s))
		verify_fault(v, RULE_PER_JOB, job,
			     "gpu_busy_s is %.12g by the events, the table says %.12g",
			     r->gpu_busy_s, c[P_BUSY].u.d);
	if (!c[P_RESTARTS].na && c[P_RESTARTS].u.i != r->restarts)
		verify_fault(v, RULE_PER_JOB, job,
			     "%lld restarts by the events, the table says %lld",
			     (long long)r->restarts, (long long)c[P_RESTARTS].u.i);
	if (!c[P_PREEMPTS].na && c[P_PREEMPTS].u.i != r->preempts)
		verify_fault(v, RULE_PER_JOB, job,
			     "%lld preemptions by the events, the table says %lld",
			     (long long)r->preempts, (long long)c[P_PREEMPTS].u.i);
	if (!c[P_STATUS].na && (r->end_ns != NEVER) != fit_text_is(c[P_STATUS].u.t, "OK"))
		verify_fault(v, RULE_PER_JOB, job, "status '%.*s', but it %s",
			     FIT_TEXT_ARG(c[P_STATUS].u.t),
			     r->end_ns != NEVER ? "finished" : "did not finish");
}

int fit_verifier_per_job(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	int rc;

	v->last_t = -1;
	if (!v->results)
		return fit_fail(err, FIT_EINVAL, "results were not kept");
	rc = verify_each_row(v, operand, per_job, N_PER_JOB, take_per_job, NULL, NULL, err);
	for (size_t i = 0; i < v->n_jobs && !rc; i++)
		if (!v->results[i].seen && v->jobs[i].state != JOB_UNSEEN &&
		    v->jobs[i].state != JOB_LEFT_OUT)
			verify_fault(v, RULE_PER_JOB, (uint32_t)i, "not in the per-job table");
	return rc;
}
