/* SPDX-License-Identifier: MIT */
/*
 * The shares that gf-replay --shares wrote beside a log of Gavel's policies: who has some, whether they fit
 * into the cluster, what they come to, and whether better ones were there. Steps left, times and rates come
 * from the log and the tables; the programmes are those of libfit/model/shares.h. docs/methods/verify.md.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/shares.h"
#include "libfit/verify/verify_state.h"

#define SLACK 1e-6	/* of a value */

/* Of one job, from one computation to the next. */
struct share_past {
	double isolated_s, steps_then, rate_then;
};

struct verify_shares {
	struct verify_share_row *rows;
	size_t n, cap, next;
	struct share_past *past;	/* by job */
};

enum { TIME, JOB, TYPE, SHARE, VALUE, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[TIME] = { "time_s", FIT_TIME, FIT_F_NOT_NA },
	[JOB] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[TYPE] = { "gpu_type", FIT_TEXT, FIT_F_NOT_NA },
	[SHARE] = { "share", FIT_REAL, FIT_F_NOT_NA },
	[VALUE] = { "value", FIT_REAL, FIT_F_NOT_NA },
};

static int take_row(void *to, struct fit_reader *r, const struct fit_cell *c, struct fit_err *err)
{
	struct fit_verifier *v = to;
	struct verify_shares *s = v->shares;
	struct verify_share_row row = { .t_ns = c[TIME].u.i, .share = c[SHARE].u.d, .value = c[VALUE].u.d };

	row.job = verify_find_job(v, c[JOB].u.t);
	if (row.job == NONE)
		return fit_reader_fail(r, FIT_EDATA, "job_id", err, "unknown job '%.*s' (expected one of the jobs table)",
				       FIT_TEXT_ARG(c[JOB].u.t));
	if (s->n && row.t_ns < s->rows[s->n - 1].t_ns)
		return fit_reader_fail(r, FIT_EDATA, "time_s", err, "before the row above (expected times in order)");
	if (verify_type_number(v, c[TYPE].u.t, &row.type) || fit_grow(&s->rows, &s->cap, s->n + 1, sizeof *s->rows))
		return fit_fail_nomem(err);
	s->rows[s->n++] = row;
	return FIT_OK;
}

int fit_verifier_shares(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	struct fit_reader *r = NULL;
	int rc;

	v->shares = calloc(1, sizeof *v->shares);
	rc = v->shares ? fit_reader_open(&r, operand, err) : fit_fail_nomem(err);
	if (rc)
		return rc;
	rc = fit_reader_each(r, columns, N_COLUMNS, take_row, v, err);
	fit_reader_close(r);
	return rc;
}

void verify_shares_release(struct fit_verifier *v)
{
	if (!v->shares)
		return;
	free(v->shares->rows);
	free(v->shares->past);
	free(v->shares);
	v->shares = NULL;
}

int64_t verify_next_shares(const struct fit_verifier *v)
{
	const struct verify_shares *s = v->shares;

	return s && v->objective && v->node_type && s->next < s->n ? s->rows[s->next].t_ns : NEVER;
}

bool verify_share_row(const struct fit_verifier *v, size_t i, struct verify_share_row *row)
{
	if (!v->shares || i >= v->shares->n)
		return false;
	*row = v->shares->rows[i];
	return true;
}

/* ---- the problem, from the state of the log ---- */

struct problem {
	struct fit_share_problem p;
	uint32_t *who;			/* jobs */
	uint16_t types[UINT8_MAX];	/* their numbers */
	int64_t widest[UINT8_MAX];	/* GPUs of the largest node of each */
	double gpus[UINT8_MAX];
	struct fit_share_job *jobs;
	double *rates, *x;
};

static void release(struct problem *q)
{
	free(q->who);
	free(q->jobs);
	free(q->rates);
	free(q->x);
}

static void find_types(const struct fit_verifier *v, struct problem *q)
{
	for (size_t i = 0; i < v->n_nodes; i++) {
		size_t t = 0;

		while (t < q->p.n_types && q->types[t] != v->node_type[i])
			t++;
		if (t == q->p.n_types) {
			if (t == UINT8_MAX)
				return;
			q->types[q->p.n_types++] = v->node_type[i];
		}
		q->gpus[t] += (double)v->size[i];
		q->widest[t] = v->size[i] > q->widest[t] ? v->size[i] : q->widest[t];
	}
}

/* Who is in the system, and how far: the rows of this decision are applied already, and change neither. */
static int make(struct fit_verifier *v, struct problem *q)
{
	struct verify_shares *s = v->shares;
	size_t k, m = 0;

	find_types(v, q);
	k = q->p.n_types;
	q->who = calloc(v->n_jobs + 1, sizeof *q->who);
	q->jobs = calloc(v->n_jobs + 1, sizeof *q->jobs);
	q->rates = calloc(v->n_jobs * k + 1, sizeof *q->rates);
	q->x = calloc(v->n_jobs * k + 1, sizeof *q->x);
	if (!s->past)
		s->past = calloc(v->n_jobs + 1, sizeof *s->past);
	if (!q->who || !q->jobs || !q->rates || !q->x || !s->past)
		return FIT_ENOMEM;
	for (uint32_t j = 0; j < v->n_jobs; j++) {
		const struct verify_job *job = &v->jobs[j];
		struct share_past *past = &s->past[j];
		double done, weight = verify_job_weight(v, j), steps = verify_job_steps(v, j);

		if (job->live == NONE || (job->state != JOB_WAITING && job->state != JOB_RUNNING &&
					  job->state != JOB_PREEMPTED))
			continue;
		done = verify_progress_at_now(v, &v->live[job->live]);
		if (past->rate_then > 0)
			past->isolated_s += (done - past->steps_then) / past->rate_then;
		past->steps_then = done;
		q->who[m] = j;
		q->jobs[m] = (struct fit_share_job){
			.gpus = job->gpus,
			.weight = weight > 0 ? weight : 1,
			.steps = fmax(steps - done, 1e-6 * steps),
			.elapsed_s = fit_time_to_double(v->now - job->submit_ns),
			.isolated_s = past->isolated_s,
		};
		for (size_t t = 0; t < k; t++)
			q->rates[m * k + t] = job->gpus > q->gpus[t] || (job->gpu_type && job->gpu_type != q->types[t]) ?
					      0 : verify_rate_on(v, j, q->types[t], job->gpus > (double)q->widest[t]);
		m++;
	}
	q->p.n_jobs = m;
	q->p.jobs = q->jobs;
	q->p.rates = q->rates;
	q->p.gpus = q->gpus;
	for (size_t i = 0; i < m; i++)
		s->past[q->who[i]].rate_then = fit_share_isolated_rate(&q->p, i);
	return FIT_OK;
}

/* The rows of this instant into x; false: they are not of the jobs that are there. */
static bool take(struct fit_verifier *v, struct problem *q, size_t from, size_t to)
{
	if (to - from != q->p.n_jobs * q->p.n_types)
		return false;
	for (size_t i = from; i < to; i++) {
		const struct verify_share_row *r = &v->shares->rows[i];
		size_t j = 0, t = 0;

		while (j < q->p.n_jobs && q->who[j] != r->job)
			j++;
		while (t < q->p.n_types && q->types[t] != r->type)
			t++;
		if (j == q->p.n_jobs || t == q->p.n_types)
			return false;
		q->x[j * q->p.n_types + t] = r->share;
	}
	return true;
}

static bool differs(double a, double b)
{
	return !(fabs(a - b) <= SLACK * fmax(fabs(a), fabs(b)));
}

static void judge(struct fit_verifier *v, struct problem *q, double value)
{
	const struct fit_share_objective *o = fit_share_objective_find(v->objective);
	struct fit_share_solution best = { 0 };
	const char *wrong = fit_shares_check(&q->p, q->x, SLACK);
	double found;

	verify_check(v, RULE_SHARES);
	if (wrong) {
		verify_fault(v, RULE_SHARES, NONE, "the shares of %.9g s: %s", fit_time_to_double(v->now), wrong);
		return;
	}
	found = o->value(&q->p, q->x);
	if (differs(found, value)) {
		verify_fault(v, RULE_SHARES, NONE, "the shares of %.9g s come to %.12g, the table says %.12g",
			     fit_time_to_double(v->now), found, value);
		return;
	}
	if (o->solve(&q->p, q->x, &best, &v->model_err))
		verify_fault(v, RULE_SHARES, NONE, "at %.9g s the programme was not solved: %s",
			     fit_time_to_double(v->now), v->model_err.msg);
	else if (differs(found, best.objective))
		verify_fault(v, RULE_SHARES, NONE, "the shares of %.9g s come to %.12g, and %.12g was to be had",
			     fit_time_to_double(v->now), found, best.objective);
}

void verify_decide_shares(struct fit_verifier *v)
{
	struct verify_shares *s = v->shares;
	size_t from, to;

	if (!s || v->mute || s->next == s->n || s->rows[s->next].t_ns > v->now || !v->node_type)
		return;
	from = s->next;
	if (s->rows[from].t_ns < v->now) {
		verify_check(v, RULE_SHARES);
		verify_fault(v, RULE_SHARES, NONE, "shares of %.9g s, where there was no decision",
			     fit_time_to_double(s->rows[from].t_ns));
	}
	while (s->next < s->n && s->rows[s->next].t_ns < v->now)
		from = ++s->next;
	for (to = from; to < s->n && s->rows[to].t_ns == v->now; to++)
		;
	s->next = to;
	if (to > from) {
		struct problem q = { .who = NULL };

		if (make(v, &q)) {
			v->code = FIT_ENOMEM;
		} else if (!take(v, &q, from, to)) {
			verify_check(v, RULE_SHARES);
			verify_fault(v, RULE_SHARES, NONE, "the shares of %.9g s are not those of the %zu jobs that are "
				     "there", fit_time_to_double(v->now), q.p.n_jobs);
		} else {
			judge(v, &q, s->rows[from].value);
		}
		release(&q);
	}
}

void verify_end_shares(struct fit_verifier *v)
{
	if (!v->shares || v->shares->next == v->shares->n)
		return;
	verify_check(v, RULE_SHARES);
	verify_fault(v, RULE_SHARES, NONE, "shares of %.9g s, where there was no decision",
		     fit_time_to_double(v->shares->rows[v->shares->next].t_ns));
}
