/* SPDX-License-Identifier: MIT */
#include "tools/lucid_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_train.h"
#include "tools/lucid_jobs.h"

enum { LOSS_LOG, LOSS_GAMMA, LOSS_SQUARED };
enum { OUT_JOBS, OUT_ACCURACY };
const char *const lucid_estimate_losses[] = { "log", "gamma", "squared", NULL };
const char *const lucid_estimate_outputs[] = { "jobs", "accuracy", NULL };

#define PAPER_R2 0.413		/* Lucid, table 7: on a trace that was not released */
#define MOST_S 3.1536e9		/* as in a replay */

/* Columns of the model: numbers first, then what has categories. */
enum { X_GPUS, X_WEEKDAY, X_HOUR, X_HOUR_JOBS, X_PAST, X_USER = X_PAST + 3 * FIT_HISTORY_SCOPES, X_GROUP,
       X_APP, X_NAME, X_N };

/* What a job's prediction is from. */
enum source { FROM_MODEL, FROM_GROUP_SIZE, FROM_SIZE, FROM_ALL, FROM_NOTHING };
static const char *const source_names[] = { "model", "group_size", "size", "all", "none" };

struct estimate {
	const struct lucid_estimate_options *o;
	struct lucid_jobs js;
	int64_t *predicted_ns;		/* by row */
	unsigned char *source;
	const struct fit_history_job **order;	/* by submission, then id */
	size_t n_models;
};

static int column_names(struct fit_str name[X_N], const char *names[X_N], bool nominal[X_N])
{
	static const char *const plain[] = { "gpus", "weekday", "hour", "hour_jobs" };
	static const char *const kinds[] = { "jobs", "mean_s", "recent_s" };
	static const char *const classes[] = { "user", "group", "app", "name_group" };
	int rc = FIT_OK;

	for (int k = 0; k < X_N && !rc; k++) {
		nominal[k] = k >= X_USER;
		if (k < X_PAST)
			rc = fit_str_puts(&name[k], plain[k]);
		else if (k < X_USER)
			rc = fit_str_printf(&name[k], "%s_%s", fit_history_scope_names[(k - X_PAST) / 3],
					    kinds[(k - X_PAST) % 3]);
		else
			rc = fit_str_puts(&name[k], classes[k - X_USER]);
		names[k] = name[k].s;
	}
	return rc;
}

/* On the scale of the score: what the past says of a job by itself, its group's jobs of its size first. The
 * model tells what is to be added, so that it holds on when all jobs get longer. */
static double known_part(int loss, const struct fit_history_past *past)
{
	static const int scope[] = { FIT_HISTORY_GROUP_SIZE, FIT_HISTORY_SIZE, FIT_HISTORY_ALL };

	for (int k = 0; k < 3; k++) {
		const struct fit_history_past *p = &past[scope[k]];

		if (p->jobs)
			return loss == LOSS_SQUARED ? p->mean_s : log1p(loss == LOSS_LOG ? p->geometric_s : p->mean_s);
	}
	return 0;
}

static void values_of(const struct lucid_jobs *js, size_t i, double x[X_N], struct fit_text t[X_N])
{
	const struct fit_history_job *j = &js->jobs[i];
	struct lucid_calendar c = lucid_jobs_calendar(js, j->submit_ns);

	double base = known_part(LOSS_LOG, js->rows[i].past);

	x[X_GPUS] = j->gpus;
	x[X_WEEKDAY] = c.weekday ? c.weekday : (double)NAN;
	x[X_HOUR] = c.hour;
	x[X_HOUR_JOBS] = (double)js->rows[i].hour_jobs;
	for (int k = 0; k < FIT_HISTORY_SCOPES; k++) {
		const struct fit_history_past *p = &js->rows[i].past[k];

		x[X_PAST + 3 * k] = k < FIT_HISTORY_USER ? (double)NAN : (double)p->jobs;
		x[X_PAST + 3 * k + 1] = log1p(p->geometric_s) - base;
		x[X_PAST + 3 * k + 2] = log1p(p->recent_s) - base;
	}
	t[X_USER] = j->user;
	t[X_GROUP] = j->group;
	t[X_APP] = fit_column_text(&js->t.columns[LJ_APP], i);
	t[X_NAME] = lucid_jobs_name_group(js, i);
}

static double target_of(int loss, double s)
{
	return loss == LOSS_LOG ? log1p(s) : loss == LOSS_GAMMA ? s + 1 : s;
}

static double seconds_of(int loss, double y)
{
	return loss == LOSS_LOG ? expm1(y) : loss == LOSS_GAMMA ? y - 1 : y;
}

static int64_t whole_seconds(double s)
{
	s = s >= 1 ? rint(s) : 1;	/* NAN too */
	return (int64_t)(s < MOST_S ? s : MOST_S) * FIT_NS_PER_S;
}

/* Without a model: the mean of what is most like it. */
static void fall_back(struct estimate *e, size_t i)
{
	static const int scope[] = { FIT_HISTORY_GROUP_SIZE, FIT_HISTORY_SIZE, FIT_HISTORY_ALL };

	e->predicted_ns[i] = e->o->first_ns;
	e->source[i] = FROM_NOTHING;
	for (int k = 2; k >= 0; k--) {
		const struct fit_history_past *p = &e->js.rows[i].past[scope[k]];

		if (!p->jobs)
			continue;
		e->predicted_ns[i] = whole_seconds(e->o->loss == LOSS_LOG ? p->geometric_s : p->mean_s);
		e->source[i] = (unsigned char)(FROM_GROUP_SIZE + k);
	}
}

/* Rows of the jobs that were submitted before now and have ended by then, in order of submission.
 * FIT_END: too few. */
static int gather(const struct estimate *e, int64_t now, struct fit_ga2m_data *d, struct fit_err *err)
{
	struct fit_str name[X_N] = { { 0 } };
	const char *names[X_N];
	bool nominal[X_N];
	size_t n = 0, used = 0;
	int rc = column_names(name, names, nominal);

	rc = rc ? rc : fit_ga2m_data_init(d, names, nominal, X_N);
	for (int k = 0; k < X_N; k++)
		fit_str_release(&name[k]);
	for (size_t k = 0; k < e->js.n; k++) {
		const struct fit_history_job *j = &e->js.jobs[k];

		n += j->duration_ns >= 0 && j->end_ns <= now && j->submit_ns < now;
	}
	if (!rc && n < (size_t)e->o->least)
		return FIT_END;
	d->time = rc ? NULL : malloc((n + 1) * sizeof *d->time);
	d->offset = rc ? NULL : malloc((n + 1) * sizeof *d->offset);
	if (!rc && (!d->time || !d->offset))
		rc = FIT_ENOMEM;
	for (size_t k = 0; k < e->js.n && !rc; k++) {
		const struct fit_history_job *j = e->order[k];
		struct fit_text t[X_N];
		double x[X_N];

		if (j->duration_ns < 0 || j->end_ns > now || j->submit_ns >= now)
			continue;
		values_of(&e->js, (size_t)(j - e->js.jobs), x, t);
		d->offset[used] = known_part(e->o->loss, e->js.rows[j - e->js.jobs].past);
		d->time[used++] = fit_time_to_double(j->submit_ns);
		rc = fit_ga2m_data_add(d, x, t, target_of(e->o->loss, fit_time_to_double(j->duration_ns)));
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int ascending(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The target that one of a hundred exceeds: what the model says beyond it is extrapolated, and a few such
 * jobs would outweigh all others once they are seconds again. */
static int highest(const struct fit_ga2m_data *d, double *top, struct fit_err *err)
{
	double *y = malloc(d->n_rows * sizeof *y);

	if (!y)
		return fit_fail_nomem(err);
	memcpy(y, d->y, d->n_rows * sizeof *y);
	qsort(y, d->n_rows, sizeof *y, ascending);
	*top = y[(size_t)(0.99 * (double)(d->n_rows - 1))];
	free(y);
	return FIT_OK;
}

static int train(const struct cli *cli, const struct estimate *e, int64_t now, struct fit_ga2m *m,
		 double *top, struct fit_err *err)
{
	struct fit_ga2m_params p =
		fit_ga2m_params_default(e->o->loss == LOSS_GAMMA ? FIT_GA2M_GAMMA : FIT_GA2M_SQUARED);
	struct fit_ga2m_data d = { 0 };
	int rc = gather(e, now, &d, err);

	p.bags = (size_t)e->o->bags;
	p.pairs = (size_t)e->o->pairs;
	p.seed = cli->seed;
	p.threads = cli->threads;
	rc = rc ? rc : highest(&d, top, err);
	rc = rc ? rc : fit_ga2m_train(m, &d, &p, NULL, err);
	fit_ga2m_data_release(&d);
	return rc;
}

static int64_t predict(const struct estimate *e, const struct fit_ga2m *m, double top, size_t i)
{
	struct fit_text t[X_N];
	double x[X_N], score, y;

	values_of(&e->js, i, x, t);
	for (int k = X_USER; k < X_N; k++)
		x[k] = fit_ga2m_category(&m->features[k], t[k]);
	fit_ga2m_score(m, x, &score);
	score += known_part(e->o->loss, e->js.rows[i].past);
	fit_ga2m_link_inverse(m, &score, &y);
	return whole_seconds(seconds_of(e->o->loss, y < top ? y : top));
}

static int by_submission(const void *pa, const void *pb)
{
	const struct fit_history_job *a = *(const struct fit_history_job *const *)pa;
	const struct fit_history_job *b = *(const struct fit_history_job *const *)pb;
	int d;

	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	d = fit_text_cmp_natural(a->id, b->id);
	return d ? d : (a > b) - (a < b);
}

/* Window after window, from the first submission on: the jobs of each by what had ended before it. */
static int estimate(const struct cli *cli, struct estimate *e, struct fit_err *err)
{
	int64_t step = e->o->update_ns;
	size_t next;
	int rc = FIT_OK;

	for (size_t i = 0; i < e->js.n; i++)
		e->order[i] = &e->js.jobs[i];
	qsort(e->order, e->js.n, sizeof *e->order, by_submission);
	for (size_t k = 0; k < e->js.n && !rc; k = next) {
		int64_t now = e->order[k]->submit_ns / step * step;
		struct fit_ga2m m = { 0 };
		double top = 0;

		for (next = k; next < e->js.n && e->order[next]->submit_ns < now + step; next++)
			fall_back(e, (size_t)(e->order[next] - e->js.jobs));
		rc = train(cli, e, now, &m, &top, err);
		for (size_t r = k; r < next && !rc; r++) {
			size_t i = (size_t)(e->order[r] - e->js.jobs);

			e->predicted_ns[i] = predict(e, &m, top, i);
			e->source[i] = FROM_MODEL;
		}
		e->n_models += !rc;
		rc = rc == FIT_END ? FIT_OK : rc;
		fit_ga2m_release(&m);
	}
	return rc;
}

/* ---- output ---- */

static int begin(const struct cli *cli, const struct estimate *e, struct fit_writer **w, const char *name,
		 const struct fit_field *fields, size_t n, struct fit_err *err)
{
	const char *origin = fit_meta_get(&e->js.t.meta, "origin");
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, true);

	rc = rc ? rc : cli_meta_input(&meta, NULL, e->js.t.hash);
	if (!rc && origin)
		rc = fit_meta_add(&meta, "origin", origin);
	if (rc)
		rc = fit_fail_nomem(err);
	rc = rc ? rc : cli_writer_open(cli, w, err);
	rc = rc ? rc : fit_writer_begin(*w, name, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static int end(struct fit_writer *w, int rc, struct fit_err *err)
{
	rc = rc ? rc : fit_writer_end(w, err);
	if (!rc)
		return fit_writer_close(w, err);
	fit_writer_abort(w);
	return rc;
}

static bool is_na(const struct fit_column *c, size_t i)
{
	return fit_column_cell(c, i).na;
}

static int write_jobs(const struct cli *cli, const struct estimate *e, struct fit_err *err)
{
	struct fit_field fields[LJ_COLUMNS + 2];
	int from[LJ_COLUMNS];
	struct fit_writer *w = NULL;
	size_t n = 0;
	int rc;

	for (int k = 0; k < LJ_COLUMNS; k++) {
		bool there = lucid_job_fields[k].flags == FIT_F_NOT_NA;

		for (size_t i = 0; i < e->js.n && !there; i++)
			there = !is_na(&e->js.t.columns[k], i);
		if (!there)
			continue;
		fields[n] = lucid_job_fields[k];
		fields[n].flags = 0;
		from[n++] = k;
	}
	fields[n] = (struct fit_field){ "predicted_s", FIT_TIME, 0 };
	fields[n + 1] = (struct fit_field){ "predicted_by", FIT_TEXT, 0 };
	rc = begin(cli, e, &w, "jobs", fields, n + 2, err);
	for (size_t i = 0; i < e->js.n && !rc; i++) {
		for (size_t k = 0; k < n; k++) {
			struct fit_cell c = fit_column_cell(&e->js.t.columns[from[k]], i);

			fit_writer_cell(w, fields[k].type, &c);
		}
		fit_writer_time(w, e->predicted_ns[i]);
		fit_writer_str(w, source_names[e->source[i]]);
		rc = fit_writer_end_row(w, err);
	}
	return end(w, rc, err);
}

/* What is compared; s is NAN where a method has nothing to say. */
enum method { M_MODEL, M_GROUP_SIZE, M_SIZE, M_ALL, M_GROUP_SIZE_LOG, M_SIZE_LOG, M_ALL_LOG, METHODS };
static const char *const method_names[METHODS] = {
	"model", "mean of group and size", "mean of size", "mean of all", "geometric mean of group and size",
	"geometric mean of size", "geometric mean of all"
};

static double says(const struct estimate *e, enum method m, size_t i)
{
	static const int scope[METHODS] = {
		[M_GROUP_SIZE] = FIT_HISTORY_GROUP_SIZE, [M_SIZE] = FIT_HISTORY_SIZE, [M_ALL] = FIT_HISTORY_ALL,
		[M_GROUP_SIZE_LOG] = FIT_HISTORY_GROUP_SIZE, [M_SIZE_LOG] = FIT_HISTORY_SIZE,
		[M_ALL_LOG] = FIT_HISTORY_ALL
	};
	const struct fit_history_past *p = e->js.rows[i].past;

	if (m == M_MODEL)
		return fit_time_to_double(e->predicted_ns[i]);
	/* the model predicts only where something has ended; where not of that kind, more is taken in */
	for (int s = scope[m]; s > FIT_HISTORY_ALL; s--)
		if (p[s].jobs)
			return m < M_GROUP_SIZE_LOG ? p[s].mean_s : p[s].geometric_s;
	return m < M_GROUP_SIZE_LOG ? p[FIT_HISTORY_ALL].mean_s : p[FIT_HISTORY_ALL].geometric_s;
}

/* 1 - (squared error) / (squared distance from the mean); NAN where all are equal. */
static double r_squared(double error, double sum, double squares, double n)
{
	double spread = squares - sum * sum / n;

	return spread > 0 ? 1 - error / spread : (double)NAN;
}

static int write_method(struct fit_writer *w, const struct estimate *e, enum method m, struct fit_err *err)
{
	double sum = 0, squares = 0, error = 0, absolute = 0, log_sum = 0, log_squares = 0, log_error = 0;
	double r2, log_r2;
	int64_t n = 0;

	for (size_t k = 0; k < e->js.n; k++) {
		size_t i = (size_t)(e->order[k] - e->js.jobs);
		double s, p, l, q;

		if (e->source[i] != FROM_MODEL || e->js.jobs[i].duration_ns < 0)
			continue;
		s = fit_time_to_double(e->js.jobs[i].duration_ns);
		p = says(e, m, i);
		l = log1p(s);
		q = log1p(p);
		n++;
		sum += s;
		squares += s * s;
		error += (s - p) * (s - p);
		absolute += fabs(s - p);
		log_sum += l;
		log_squares += l * l;
		log_error += (l - q) * (l - q);
	}
	r2 = r_squared(error, sum, squares, (double)n);
	log_r2 = r_squared(log_error, log_sum, log_squares, (double)n);
	fit_writer_str(w, method_names[m]);
	fit_writer_int(w, n);
	fit_writer_real(w, isnan(r2) ? fit_real_na() : r2);
	fit_writer_real(w, n ? absolute / (double)n : fit_real_na());
	fit_writer_real(w, isnan(log_r2) ? fit_real_na() : log_r2);
	fit_writer_real(w, m == M_MODEL ? PAPER_R2 : fit_real_na());
	return fit_writer_end_row(w, err);
}

static int write_accuracy(const struct cli *cli, const struct estimate *e, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "method", FIT_TEXT, 0 }, { "jobs", FIT_INT, 0 }, { "r2", FIT_REAL, 0 }, { "mae_s", FIT_REAL, 0 },
		{ "log_r2", FIT_REAL, 0 }, { "paper_r2", FIT_REAL, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = begin(cli, e, &w, "accuracy", fields, 6, err);

	for (int m = 0; m < METHODS && !rc; m++)
		rc = write_method(w, e, (enum method)m, err);
	return end(w, rc, err);
}

int lucid_estimate(struct cli *cli, const struct lucid_estimate_options *o)
{
	struct estimate e = { .o = o };
	struct fit_err err;
	int rc = lucid_jobs_read(&e.js, cli_operand(cli, 0), o->name_distance, &err);

	if (!rc) {
		e.predicted_ns = calloc(e.js.n + 1, sizeof *e.predicted_ns);
		e.source = calloc(e.js.n + 1, sizeof *e.source);
		e.order = calloc(e.js.n + 1, sizeof *e.order);
		if (!e.predicted_ns || !e.source || !e.order)
			rc = fit_fail_nomem(&err);
	}
	rc = rc ? rc : estimate(cli, &e, &err);
	rc = rc ? rc : o->output == OUT_JOBS ? write_jobs(cli, &e, &err) : write_accuracy(cli, &e, &err);
	if (!rc)
		cli_note(cli, "%zu jobs, %zu models", e.js.n, e.n_models);
	free(e.predicted_ns);
	free(e.source);
	free(e.order);
	lucid_jobs_release(&e.js);
	return rc ? cli_error(cli, &err) : 0;
}
