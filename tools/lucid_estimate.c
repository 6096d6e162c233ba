/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_train.h"
#include "tools/lucid_estimate_parts.h"

#define AT(field) offsetof(struct lucid_estimate_options, field)
#define R CLI_RESULT

const struct cli_option lucid_estimate_options[] = {
	{ 0, "loss", CLI_CHOICE, AT(loss), "NAME", "log",
	  "what is made small; as published: the last", lucid_estimate_losses, 0, 0, R },
	{ 0, "update", CLI_TIME, AT(update_ns), "SECONDS", "604800",
	  "a new model so often, of all that has ended", NULL, 3600, 3.2e9, R },
	{ 0, "correction", CLI_REAL, AT(correction), "SHARE", "0.25",
	  "log: so much of the way from geometric to arithmetic means", NULL, 0, 1, R },
	{ 0, "updates", CLI_INT, AT(updates), "N", "0",
	  "so many models at most, and the last one to the end; 0: no limit", NULL, 0, 1e9, R },
	{ 0, "least", CLI_INT, AT(least), "N", "200", "and of so many jobs at least", NULL, 20, 1e9, R },
	{ 0, "first", CLI_TIME, AT(first_ns), "SECONDS", "3600",
	  "prediction where no job has ended yet", NULL, 0, 3.1e9, R },
	{ 0, "bags", CLI_INT, AT(bags), "N", "4", "models that are averaged", NULL, 1, 1000, R },
	{ 0, "pairs", CLI_INT, AT(pairs), "N", "0", "pairs of features of a model", NULL, 0, 1000, R },
	{ 0, "name-distance", CLI_REAL, AT(name_distance), "SHARE", "0.3",
	  "names differ in this share of their letters at most to go together", NULL, 0, 1, R },
	{ 0, "write", CLI_CHOICE, AT(output), "WHAT", "jobs",
	  "what is written", lucid_estimate_outputs, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

enum { LOSS_LOG, LOSS_GAMMA, LOSS_SQUARED };
enum { OUT_JOBS, OUT_ACCURACY, OUT_MODEL };
const char *const lucid_estimate_losses[] = { "log", "gamma", "squared", NULL };
const char *const lucid_estimate_outputs[] = { "jobs", "accuracy", "model", NULL };

#define MOST_S 3.1536e9		/* as in a replay */

/* Columns of the model: numbers first, then what has categories. */
enum { X_GPUS, X_WEEKDAY, X_HOUR, X_HOUR_JOBS, X_PAST, X_USER = X_PAST + 3 * FIT_HISTORY_SCOPES, X_GROUP,
       X_APP, X_NAME, X_N };

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

static int64_t predict(const struct estimate *e, size_t i)
{
	struct fit_text t[X_N];
	double x[X_N], score, y;

	values_of(&e->js, i, x, t);
	for (int k = X_USER; k < X_N; k++)
		x[k] = fit_ga2m_category(&e->model.features[k], t[k]);
	fit_ga2m_score(&e->model, x, &score);
	score += known_part(e->o->loss, e->js.rows[i].past);
	fit_ga2m_link_inverse(&e->model, &score, &y);
	return whole_seconds(e->factor * seconds_of(e->o->loss, y < e->top ? y : e->top));
}

/* Predictions that are right about logarithms on average are too low about seconds. The factor
 * that serves the training rows best in squares of seconds, of which the option takes a part
 * (docs/methods/lucid.md says why). */
static double correction(const struct estimate *e, int64_t now)
{
	double yp = 0, pp = 0;

	if (e->o->loss != LOSS_LOG || !(e->o->correction > 0))
		return 1;
	for (size_t k = 0; k < e->js.n; k++) {
		const struct fit_history_job *j = e->order[k];
		double p;

		if (j->duration_ns < 0 || j->end_ns > now || j->submit_ns >= now)
			continue;
		p = fit_time_to_double(predict(e, (size_t)(j - e->js.jobs)));
		yp += fit_time_to_double(j->duration_ns) * p;
		pp += p * p;
	}
	return yp > pp ? pow(yp / pp, e->o->correction) : 1;
}

/* A new model of what had ended by now; the old one stays where that is too little. */
static int renew(const struct cli *cli, struct estimate *e, int64_t now, struct fit_err *err)
{
	struct fit_ga2m_params p =
		fit_ga2m_params_default(e->o->loss == LOSS_GAMMA ? FIT_GA2M_GAMMA : FIT_GA2M_SQUARED);
	struct fit_ga2m_data d = { 0 };
	struct fit_ga2m m = { 0 };
	double top = 0;
	int rc = gather(e, now, &d, err);

	p.bags = (size_t)e->o->bags;
	p.pairs = (size_t)e->o->pairs;
	p.seed = cli->seed;
	p.threads = cli->threads;
	rc = rc ? rc : highest(&d, &top, err);
	rc = rc ? rc : fit_ga2m_train(&m, &d, &p, NULL, err);
	fit_ga2m_data_release(&d);
	if (rc) {
		fit_ga2m_release(&m);
		return rc == FIT_END ? FIT_OK : rc;
	}
	fit_ga2m_release(&e->model);
	e->model = m;
	e->top = top;
	e->factor = 1;
	e->factor = correction(e, now);
	e->n_models++;
	return FIT_OK;
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

		for (next = k; next < e->js.n && e->order[next]->submit_ns < now + step; next++)
			fall_back(e, (size_t)(e->order[next] - e->js.jobs));
		if (!e->o->updates || e->n_models < (size_t)e->o->updates)
			rc = renew(cli, e, now, err);
		for (size_t r = k; r < next && !rc && e->n_models; r++) {
			size_t i = (size_t)(e->order[r] - e->js.jobs);

			e->predicted_ns[i] = predict(e, i);
			e->source[i] = FROM_MODEL;
		}
	}
	return rc;
}

static const struct cli_use uses[] = { { "correction", 1, "--loss log" }, { NULL, 0, NULL } };

void lucid_estimate_defaults(void *given)
{
	*(struct lucid_estimate_options *)given = (struct lucid_estimate_options){
		.update_ns = 604800 * FIT_NS_PER_S, .first_ns = 3600 * FIT_NS_PER_S, .bags = 4, .least = 200,
		.name_distance = 0.3, .correction = 0.25
	};
}

int lucid_estimate(struct cli *cli, void *given)
{
	const struct lucid_estimate_options *o = given;
	struct estimate e = { .o = o };
	struct fit_err err;
	int rc = cli_check_uses(cli, uses, o->loss == LOSS_LOG);

	if (rc)
		return rc;
	rc = lucid_jobs_read(&e.js, cli_operand(cli, 0), o->name_distance, &err);

	if (!rc) {
		e.predicted_ns = calloc(e.js.n + 1, sizeof *e.predicted_ns);
		e.source = calloc(e.js.n + 1, sizeof *e.source);
		e.order = calloc(e.js.n + 1, sizeof *e.order);
		if (!e.predicted_ns || !e.source || !e.order)
			rc = fit_fail_nomem(&err);
	}
	if (!rc)
		lucid_jobs_warn(cli, &e.js);
	rc = rc ? rc : estimate(cli, &e, &err);
	rc = rc ? rc : o->output == OUT_JOBS ? estimate_write_jobs(cli, &e, &err) :
	     o->output == OUT_MODEL ? estimate_write_model(cli, &e, &err) : estimate_write_accuracy(cli, &e, &err);
	if (!rc)
		cli_note(cli, "%zu jobs, %zu models", e.js.n, e.n_models);
	fit_ga2m_release(&e.model);
	free(e.predicted_ns);
	free(e.source);
	free(e.order);
	lucid_jobs_release(&e.js);
	return rc ? cli_error(cli, &err) : 0;
}
