/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Arrange v[0..n) so that v[k] is what it would be in order, with nothing larger before and nothing smaller
 * behind it. Halves that come out too unequal too often are sorted instead. */
static void select_rank(double *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n;		/* k lies within */
	size_t work = 16 * n;

	while (hi - lo > 16 && work > hi - lo) {
		double a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi - 1];
		double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t i = lo, j = hi - 1;

		work -= hi - lo;
		for (;;) {
			double x;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			x = v[i];
			v[i++] = v[j];
			v[j--] = x;
		}
		/* all before i are at most, all behind j at least the pivot */
		if (k < i)
			hi = i;
		else
			lo = i;
	}
	qsort(v + lo, hi - lo, sizeof *v, compare_real);
}

/* Of values in any order, which are moved about. */
static double percentile(double *v, size_t n, double percent)
{
	size_t k = n ? (size_t)floor(percent / 100 * (double)(n - 1)) : 0;

	if (n)
		select_rank(v, n, k);
	if (k + 1 < n)
		select_rank(v + k + 1, n - k - 1, 0);
	return fit_percentile(v, n, percent);
}

static struct fit_spread spread_of(double *v, size_t n, fit_i128 sum_ns)
{
	struct fit_spread s;

	s.mean = n ? fit_divide(sum_ns, (int64_t)n * FIT_NS_PER_S) : fit_real_na();
	s.median = percentile(v, n, 50);
	s.p95 = percentile(v, n, 95);
	s.p99 = percentile(v, n, 99);
	s.max = percentile(v, n, 100);
	return s;
}

static int64_t jct_ns(const struct fit_job_result *j)
{
	return j->end_ns - j->submit_ns;
}

static int64_t queue_ns(const struct fit_job_result *j)
{
	return j->queue_ns;
}

/* Times in seconds of the finished ones of which[0..n), of all with NULL, behind the n_gone ones of jobs that
 * are gone: a heap array of *count, and what they come to. */
static int collect(const struct fit_metrics *m, const size_t *which, size_t n, const double *gone,
		   size_t n_gone, int64_t (*time_ns)(const struct fit_job_result *j), double **v,
		   size_t *count, fit_i128 *sum, struct fit_err *err)
{
	*v = malloc((n + n_gone + 1) * sizeof **v);
	*count = n_gone;
	if (!*v)
		return fit_fail_nomem(err);
	if (n_gone)
		memcpy(*v, gone, n_gone * sizeof **v);
	for (size_t i = 0; i < n; i++) {
		const struct fit_job_result *j = &m->jobs[which ? which[i] : i];

		if (j->state != FIT_JOB_FINISHED || j->counted)
			continue;
		*sum += time_ns(j);
		(*v)[(*count)++] = fit_time_to_double(time_ns(j));
	}
	return FIT_OK;
}

static int spread_times(const struct fit_metrics *m, const size_t *which, size_t n, const double *gone,
			size_t n_gone, int64_t (*time_ns)(const struct fit_job_result *j), fit_i128 sum,
			struct fit_spread *spread, struct fit_err *err)
{
	double *v;
	size_t count;
	int rc = collect(m, which, n, gone, n_gone, time_ns, &v, &count, &sum, err);

	if (!rc)
		*spread = spread_of(v, count, sum);
	free(v);
	return rc;
}

int fit_summarise(const struct fit_metrics *m, const size_t *which, size_t n, struct fit_summary *s,
		  struct fit_err *err)
{
	static const struct fit_metrics_gone nobody;
	const struct fit_metrics_gone *gone = which ? &nobody : &m->gone;
	int rc;

	n = which ? n : m->n_jobs;
	*s = (struct fit_summary){ .finished = gone->n, .restarts = gone->restarts,
				   .preemptions = gone->preemptions, .gpu = gone->gpu };
	for (size_t i = 0; i < n; i++) {
		const struct fit_job_result *j = &m->jobs[which ? which[i] : i];

		if (j->state == FIT_JOB_GONE)
			continue;
		s->restarts += j->restarts;
		s->preemptions += j->preemptions;
		s->gpu += j->gpu;
		s->rejected += j->state == FIT_JOB_REJECTED;
		s->finished += j->state == FIT_JOB_FINISHED && !j->counted;
	}
	s->jobs = which ? n : m->n_submitted;
	s->unfinished = s->jobs - s->finished - s->rejected;
	rc = spread_times(m, which, n, gone->jct_s, gone->n, jct_ns, gone->jct_ns, &s->jct, err);
	return rc ? rc : spread_times(m, which, n, gone->queue_s, gone->n, queue_ns, gone->queue_ns, &s->queue, err);
}

int fit_metrics_jcts(const struct fit_metrics *m, double **jct_s, size_t *n, struct fit_err *err)
{
	fit_i128 sum = 0;
	int rc = collect(m, NULL, m->n_jobs, m->gone.jct_s, m->gone.n, jct_ns, jct_s, n, &sum, err);

	if (!rc)
		qsort(*jct_s, *n, sizeof **jct_s, compare_real);
	return rc;
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
