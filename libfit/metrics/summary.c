/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/summary.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"

double fit_percentile(const double *sorted, size_t n, double percent)
{
	double at, t, step;
	size_t k;

	if (n == 0)
		return fit_real_na();
	at = percent / 100 * (double)(n - 1);
	k = (size_t)floor(at);
	if (k >= n - 1)
		return sorted[n - 1];
	t = at - floor(at);
	step = sorted[k + 1] - sorted[k];
	/* numpy's _lerp(): from the nearer end, so that equal neighbours stay equal. */
	return t >= 0.5 ? sorted[k + 1] - step * (1 - t) : sorted[k] + step * t;
}

static int compare_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct fit_spread spread_of(double *v, size_t n, fit_i128 sum_ns)
{
	struct fit_spread s;

	qsort(v, n, sizeof *v, compare_real);
	s.mean = n ? fit_divide(sum_ns, (int64_t)n * FIT_NS_PER_S) : fit_real_na();
	s.median = fit_percentile(v, n, 50);
	s.p95 = fit_percentile(v, n, 95);
	s.p99 = fit_percentile(v, n, 99);
	s.max = fit_percentile(v, n, 100);
	return s;
}

int fit_summarise(const struct fit_metrics *m, const size_t *which, size_t n, struct fit_summary *s,
		  struct fit_err *err)
{
	fit_i128 jct_sum = 0, queue_sum = 0;
	double *jct, *queue;

	*s = (struct fit_summary){ 0 };
	if (!which)
		n = m->n_jobs;
	jct = malloc((n + 1) * sizeof *jct);
	queue = malloc((n + 1) * sizeof *queue);
	if (!jct || !queue) {
		free(jct);
		free(queue);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		const struct fit_job_result *j = &m->jobs[which ? which[i] : i];

		s->restarts += j->restarts;
		s->preemptions += j->preemptions;
		s->gpu += j->gpu;
		if (j->state == FIT_JOB_REJECTED)
			s->rejected++;
		if (j->state != FIT_JOB_FINISHED)
			continue;
		jct_sum += j->end_ns - j->submit_ns;
		queue_sum += j->queue_ns;
		jct[s->finished] = fit_time_to_double(j->end_ns - j->submit_ns);
		queue[s->finished++] = fit_time_to_double(j->queue_ns);
	}
	s->jobs = n;
	s->unfinished = n - s->finished - s->rejected;
	s->jct = spread_of(jct, s->finished, jct_sum);
	s->queue = spread_of(queue, s->finished, queue_sum);
	free(jct);
	free(queue);
	return FIT_OK;
}

int fit_metrics_jcts(const struct fit_metrics *m, double **jct_s, size_t *n, struct fit_err *err)
{
	double *v = malloc((m->n_finished + 1) * sizeof *v);

	*n = 0;
	*jct_s = v;
	if (!v)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < m->n_jobs; i++)
		if (m->jobs[i].state == FIT_JOB_FINISHED)
			v[(*n)++] = fit_time_to_double(m->jobs[i].end_ns - m->jobs[i].submit_ns);
	qsort(v, *n, sizeof *v, compare_real);
	return FIT_OK;
}

/* ---- groups ---- */

void fit_groups_release(struct fit_groups *g)
{
	free(g->which);
	free(g->first);
	*g = (struct fit_groups){ 0 };
}

struct keyed {
	int64_t key;
	size_t job;
};

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

struct named {
	struct fit_text name;
	uint32_t app;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = fit_text_cmp_natural(x->name, y->name);

	return c ? c : (x->app > y->app) - (x->app < y->app);
}

/* rank[app] = place of the application in text order. */
static int64_t *rank_apps(const struct fit_metrics *m)
{
	struct named *names = malloc((m->n_apps + 1) * sizeof *names);
	int64_t *rank = malloc((m->n_apps + 1) * sizeof *rank);

	if (!names || !rank) {
		free(names);
		free(rank);
		return NULL;
	}
	for (size_t i = 0; i < m->n_apps; i++)
		names[i] = (struct named){ fit_metrics_app(m, (uint32_t)i), (uint32_t)i };
	qsort(names, m->n_apps, sizeof *names, compare_named);
	for (size_t i = 0; i < m->n_apps; i++)
		rank[names[i].app] = (int64_t)i;
	free(names);
	return rank;
}

int fit_metrics_group(const struct fit_metrics *m, enum fit_group_by by, struct fit_groups *g,
		      struct fit_err *err)
{
	struct keyed *keyed = malloc((m->n_jobs + 1) * sizeof *keyed);
	int64_t *rank = rank_apps(m);

	*g = (struct fit_groups){ .which = malloc((m->n_jobs + 1) * sizeof *g->which),
				  .first = malloc((m->n_jobs + 1) * sizeof *g->first) };
	if (!keyed || !rank || !g->which || !g->first) {
		free(keyed);
		free(rank);
		fit_groups_release(g);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < m->n_jobs; i++) {
		const struct fit_job_result *j = &m->jobs[i];
		int64_t app = j->app == FIT_NO_APP ? INT64_MAX : rank[j->app];

		keyed[i] = (struct keyed){ by == FIT_BY_APP ? app : j->asked_ugpus, i };
	}
	qsort(keyed, m->n_jobs, sizeof *keyed, compare_keyed);
	for (size_t i = 0; i < m->n_jobs; i++) {
		g->which[i] = keyed[i].job;
		if (i == 0 || keyed[i].key != keyed[i - 1].key)
			g->first[g->n++] = i;
	}
	g->first[g->n] = m->n_jobs;
	free(keyed);
	free(rank);
	return FIT_OK;
}

/* ---- the plain report ---- */

static const struct { const char *name, *unit; } report[] = {
	{ "jobs", "jobs" }, { "finished", "jobs" }, { "unfinished", "jobs" }, { "rejected", "jobs" },
	{ "jct_mean_s", "s" }, { "jct_median_s", "s" }, { "jct_p95_s", "s" }, { "jct_p99_s", "s" },
	{ "jct_max_s", "s" },
	{ "queue_mean_s", "s" }, { "queue_median_s", "s" }, { "queue_p95_s", "s" },
	{ "queue_p99_s", "s" }, { "queue_max_s", "s" },
	{ "makespan_s", "s" }, { "makespan_from_first_submit_s", "s" },
	{ "gpu_seconds_held", "gpu s" }, { "gpu_seconds_busy", "gpu s" },
	{ "gpu_seconds_capacity", "gpu s" },
	{ "utilisation", "1" }, { "utilisation_from_first_submit", "1" },
	{ "restarts", "restarts" }, { "preemptions", "preemptions" },
	{ "gpu_seconds_rescaling", "gpu s" }, { "gpu_seconds_rented", "gpu s" },
	{ "gpu_seconds_starting", "gpu s" }, { "gpu_seconds_idle", "gpu s" },
	{ "budget_gpus", "gpus" }, { "budget_in_window_gpus", "gpus" }, { "budget_makespan_gpus", "gpus" },
	{ "rented_gpus", "gpus" }, { "rented_in_window_gpus", "gpus" }, { "rented_makespan_gpus", "gpus" },
};

size_t fit_metric_count(void)
{
	return sizeof report / sizeof *report;
}

static double ratio(fit_i128 part, fit_i128 whole)
{
	return whole > 0 ? (double)part / (double)whole : fit_real_na();
}

/* Mean GPUs of an integral over a time; missing for none. */
static double mean_gpus(fit_i128 gpu, int64_t ns)
{
	return ns > 0 ? (double)gpu / (double)FIT_UGPU / (double)ns : fit_real_na();
}

struct fit_metric_row fit_metric_row(const struct fit_metrics *m, const struct fit_summary *s,
				     const struct fit_metrics_window *w, size_t i)
{
	bool some = m->first_submit_ns != FIT_INT_NA;
	int64_t window = w ? w->end_ns : some ? m->last_submit_ns - m->first_submit_ns : 0;
	fit_i128 held_in = w ? w->held : m->held_last_submit - m->held_first_submit;
	fit_i128 rented_in = w ? w->rented : m->rented_last_submit - m->rented_first_submit;
	int64_t span = m->last_finish_ns == FIT_INT_NA ? 0 : m->last_finish_ns - m->first_submit_ns;
	bool done = m->last_finish_ns != FIT_INT_NA;
	double na = fit_real_na();
	const double values[] = {
		(double)s->jobs, (double)s->finished, (double)s->unfinished, (double)s->rejected,
		s->jct.mean, s->jct.median, s->jct.p95, s->jct.p99, s->jct.max,
		s->queue.mean, s->queue.median, s->queue.p95, s->queue.p99, s->queue.max,
		done ? fit_time_to_double(m->last_finish_ns) : na,
		done ? fit_time_to_double(m->last_finish_ns - m->first_submit_ns) : na,
		fit_gpu_seconds(m->held), fit_gpu_seconds(m->busy),
		done ? fit_gpu_seconds(m->capacity_last_finish) : na,
		done ? ratio(m->held_last_finish, m->capacity_last_finish) : na,
		done ? ratio(m->held_last_finish - m->held_first_submit,
			     m->capacity_last_finish - m->capacity_first_submit) : na,
		(double)s->restarts, (double)s->preemptions,
		fit_gpu_seconds(m->rescaling), fit_gpu_seconds(m->rented),
		fit_gpu_seconds(m->rented - m->capacity), fit_gpu_seconds(m->capacity - m->held),
		mean_gpus(m->held, window), mean_gpus(held_in, window),
		done ? mean_gpus(m->held_last_finish - m->held_first_submit, span) : na,
		mean_gpus(m->rented, window), mean_gpus(rented_in, window),
		done ? mean_gpus(m->rented_last_finish - m->rented_first_submit, span) : na,
	};

	_Static_assert(sizeof values / sizeof *values == sizeof report / sizeof *report,
		       "one value a row of the report");
	return (struct fit_metric_row){ report[i].name, report[i].unit, values[i] };
}
