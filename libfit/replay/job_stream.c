/* SPDX-License-Identifier: MIT */
#include "libfit/replay/job_stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/job_rows.h"

/* A job, and where its texts are. */
struct held {
	struct fit_job job;
	size_t id_at, app_at;
};

struct fit_job_stream {
	struct fit_jobs *js;
	struct fit_job_rows rows;
	struct held *held, ahead;	/* jobs of one instant, and the first one behind them */
	size_t n, cap, at;
	struct fit_str texts, ahead_texts;
	bool has_ahead, ended;
	int64_t last_ns;
	uint32_t *n_local;		/* by partition: jobs so far */
};

int fit_job_stream_open(struct fit_jobs *js, const char *operand, const struct fit_jobs_params *p,
			struct fit_err *err)
{
	struct fit_job_stream *s = calloc(1, sizeof *s);
	struct fit_reader *r;
	int rc;

	*js = (struct fit_jobs){ .stream = s };
	if (!s)
		return fit_fail_nomem(err);
	s->js = js;
	s->last_ns = -1;
	s->n_local = calloc(p->partitions->n, sizeof *s->n_local);
	rc = s->n_local ? fit_reader_open(&r, operand, err) : fit_fail_nomem(err);
	if (!rc) {
		snprintf(js->input, sizeof js->input, "%s", fit_reader_input(r));
		rc = fit_job_rows_begin(&s->rows, r, js, p, err);
	}
	if (rc)
		fit_jobs_release(js);
	return rc;
}

void fit_job_stream_free(struct fit_job_stream *s)
{
	if (!s)
		return;
	fit_reader_close(s->rows.r);
	fit_job_rows_release(&s->rows);
	fit_str_release(&s->texts);
	fit_str_release(&s->ahead_texts);
	free(s->held);
	free(s->n_local);
	free(s);
}

static int check_size(struct fit_job_stream *s, struct fit_job *j, struct fit_text id, struct fit_err *err)
{
	const struct fit_jobs_params *p = s->rows.p;
	const struct fit_cluster *c = &p->partitions->p[j->partition].cluster;

	j->too_large = !p->any_size && !fit_job_fits(j, c);
	if (!j->too_large)
		return FIT_OK;
	s->js->n_too_large++;
	return p->keep_too_large ? FIT_OK :
	       fit_reader_fail(s->rows.r, FIT_EDATA, "gpus", err, "job '%.*s' asks for %lld GPUs (expected at most "
			       "%lld; --skip-too-large rejects such jobs)", FIT_TEXT_ARG(id), (long long)j->gpus,
			       (long long)fit_job_room(j, c));
}

/* The input ends here. */
static int end(struct fit_job_stream *s, struct fit_err *err)
{
	s->ended = true;
	if (fit_reader_only(s->rows.r, err))
		return FIT_EDATA;
	fit_reader_hash(s->rows.r, s->js->hash);
	return FIT_END;
}

/* Read one job into s->ahead. */
static int look_ahead(struct fit_job_stream *s, struct fit_err *err)
{
	struct held *h = &s->ahead;
	struct fit_text id, app;
	int rc = s->ended ? FIT_END : fit_job_rows_next(&s->rows, &h->job, &id, &app, err);

	s->has_ahead = false;
	if (rc == FIT_END)
		return s->ended ? FIT_END : end(s, err);
	rc = rc ? rc : check_size(s, &h->job, id, err);
	if (rc)
		return rc;
	if (h->job.submit_ns < s->last_ns) {
		char now[FIT_NUM_MAX], last[FIT_NUM_MAX];

		fit_format_time(now, h->job.submit_ns);
		fit_format_time(last, s->last_ns);
		return fit_reader_fail(s->rows.r, FIT_EDATA, "submit_s", err, "out of order '%s' (expected at least %s, "
				       "as in the row before)", now, last);
	}
	if (s->js->n_streamed++ >= UINT32_MAX - 1)
		return fit_fail(err, FIT_EDATA, "%s: too many jobs", s->js->input);
	s->last_ns = h->job.submit_ns;
	fit_str_clear(&s->ahead_texts);
	h->id_at = 0;
	h->app_at = id.n + 1;
	if (fit_str_add(&s->ahead_texts, id.s, id.n) || fit_str_add(&s->ahead_texts, "", 1) ||
	    fit_str_add(&s->ahead_texts, app.s, app.n) || fit_str_add(&s->ahead_texts, "", 1))
		return fit_fail_nomem(err);
	s->has_ahead = true;
	return FIT_OK;
}

/* The job that was read ahead becomes one of this instant. */
static int keep(struct fit_job_stream *s, struct fit_err *err)
{
	struct held *h;

	if (fit_grow(&s->held, &s->cap, s->n + 1, sizeof *s->held))
		return fit_fail_nomem(err);
	h = &s->held[s->n++];
	*h = s->ahead;
	h->id_at += s->texts.n;
	h->app_at += s->texts.n;
	s->has_ahead = false;
	return fit_str_add(&s->texts, s->ahead_texts.s, s->ahead_texts.n) ? fit_fail_nomem(err) : FIT_OK;
}

static int by_id(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;
	int c = fit_text_cmp_natural(fit_text_of(a->job.id), fit_text_of(b->job.id));

	return c ? c : (a->job.line > b->job.line) - (a->job.line < b->job.line);
}

/* Read all jobs of the next instant. */
static int next_instant(struct fit_job_stream *s, struct fit_err *err)
{
	int rc = s->has_ahead ? FIT_OK : look_ahead(s, err);
	int64_t at = s->ahead.job.submit_ns;

	s->n = s->at = 0;
	fit_str_clear(&s->texts);
	while (!rc && s->ahead.job.submit_ns == at) {
		rc = keep(s, err);
		rc = rc ? rc : look_ahead(s, err);
	}
	if (rc && rc != FIT_END)
		return rc;
	for (size_t i = 0; i < s->n; i++) {
		s->held[i].job.id = s->texts.s + s->held[i].id_at;
		s->held[i].job.app_name = s->texts.s + s->held[i].app_at;
	}
	if (s->n > 1)
		qsort(s->held, s->n, sizeof *s->held, by_id);
	return s->n ? FIT_OK : FIT_END;
}

int fit_job_stream_next(struct fit_job_stream *s, struct fit_job *j, struct fit_err *err)
{
	int rc = s->at < s->n ? FIT_OK : next_instant(s, err);

	if (rc)
		return rc;
	*j = s->held[s->at++].job;
	j->local = s->n_local[j->partition]++;
	return FIT_OK;
}
