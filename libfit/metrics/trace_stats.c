/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/trace_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/log_event.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/summary.h"
#include "libfit/table/cell.h"

#define NS_PER_HOUR (INT64_C(3600) * FIT_NS_PER_S)
#define GPU_HOUR (INT64_C(3600) * FIT_UGPU * FIT_NS_PER_S)
#define MAX_METRICS 96

/* ---- rows of a jobs table ---- */

enum { USER, GROUP, APP, SUBMIT, START, END, DURATION, GPUS, STATUS, ID, N_KNOWN };

static const struct fit_field known[N_KNOWN] = {
	[USER] = { "user", FIT_TEXT, FIT_F_OPTIONAL },
	[GROUP] = { "group", FIT_TEXT, FIT_F_OPTIONAL },
	[APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[SUBMIT] = { "submit_s", FIT_TIME, FIT_F_OPTIONAL },
	[START] = { "start_s", FIT_TIME, FIT_F_OPTIONAL },
	[END] = { "end_s", FIT_TIME, FIT_F_OPTIONAL },
	[DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[GPUS] = { "gpus", FIT_REAL, 0 },
	[STATUS] = { "status", FIT_TEXT, FIT_F_OPTIONAL },
	[ID] = { "job_id", FIT_TEXT, FIT_F_OPTIONAL }
};

static const char *const words[FIT_N_WORDS] = {
	"OK", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "RUNNING", "PENDING", "UNKNOWN", "NA"
};

/* The time of day of "YYYY-MM-DDTHH:MM:SS..."; 0 for anything else. */
static int64_t time_of_day(const char *origin)
{
	int64_t h, m, s;
	size_t n = origin ? strlen(origin) : 0;

	if (n < 19 || (origin[10] != 'T' && origin[10] != ' ') ||
	    fit_parse_int64((struct fit_text){ origin + 11, 2 }, &h) ||
	    fit_parse_int64((struct fit_text){ origin + 14, 2 }, &m) ||
	    fit_parse_int64((struct fit_text){ origin + 17, 2 }, &s))
		return 0;
	return ((h * 60 + m) * 60 + s) * FIT_NS_PER_S;
}

int fit_jobs_begin(struct fit_jobs_reader *jr, struct fit_reader *r, const char *const *by, size_t n_by,
		   struct fit_err *err)
{
	int rc;

	*jr = (struct fit_jobs_reader){ .r = r, .n_fields = N_KNOWN, .n_by = n_by };
	if (n_by > FIT_JOBS_BY_MAX)
		return fit_fail(err, FIT_EINVAL, "%zu columns to group by (expected at most %d)", n_by,
				FIT_JOBS_BY_MAX);
	memcpy(jr->fields, known, sizeof known);
	for (size_t k = 0; k < n_by; k++) {
		size_t i = 0;

		/* a column can be bound once only */
		while (i < jr->n_fields && strcmp(jr->fields[i].name, by[k]) != 0)
			i++;
		if (i == jr->n_fields)
			jr->fields[jr->n_fields++] = (struct fit_field){ by[k], FIT_TEXT, 0 };
		jr->fields[i].flags = 0;
		jr->by_at[k] = i;
	}
	rc = fit_reader_begin(r, jr->fields, jr->n_fields, err);
	if (!rc && strcmp(fit_reader_table_name(r), "log") == 0)
		return fit_fail(err, FIT_EDATA, "%s: an event log (expected a table of jobs)", fit_reader_input(r));
	if (!rc)
		jr->day_offset_ns = time_of_day(fit_meta_get(fit_reader_meta(r), "origin"));
	return rc;
}

static int read_status(const struct fit_jobs_reader *jr, enum fit_job_word *word, struct fit_err *err)
{
	const struct fit_cell *c = &jr->cells[STATUS];

	*word = FIT_WORD_MISSING;
	if (c->na)
		return FIT_OK;
	for (int i = 0; i < FIT_WORD_MISSING; i++) {
		if (fit_text_is(c->u.t, words[i])) {
			*word = (enum fit_job_word)i;
			return FIT_OK;
		}
	}
	return fit_reader_fail(jr->r, FIT_EDATA, "status", err, "unknown status '%.*s' (expected OK, FAILED, "
			       "CANCELLED, TIMEOUT, NODE_FAIL, RUNNING, PENDING or UNKNOWN)",
			       FIT_TEXT_ARG(c->u.t));
}

static int read_gpus(const struct fit_jobs_reader *jr, struct fit_job_row *job, struct fit_err *err)
{
	const struct fit_cell *c = &jr->cells[GPUS];

	job->gpus = fit_real_na();
	job->ugpus = FIT_INT_NA;
	if (c->na)
		return FIT_OK;
	if (!(c->u.d >= 0 && c->u.d <= 1e9))
		return fit_reader_fail(jr->r, FIT_EDATA, "gpus", err,
				       "out of range '%g' (expected 0 to 1e9)", c->u.d);
	job->gpus = c->u.d;
	job->ugpus = (int64_t)nearbyint(c->u.d * (double)FIT_UGPU);
	return FIT_OK;
}

static int64_t time_cell(const struct fit_cell *c)
{
	return c->na ? FIT_INT_NA : c->u.i;
}

static struct fit_text text_cell(const struct fit_cell *c)
{
	return c->na ? (struct fit_text){ NULL, 0 } : (struct fit_text){ c->u.t.s ? c->u.t.s : "", c->u.t.n };
}

int fit_jobs_next(struct fit_jobs_reader *jr, struct fit_job_row *job, struct fit_text *by,
		  struct fit_err *err)
{
	const struct fit_cell *c = jr->cells;
	int rc = fit_reader_row(jr->r, jr->cells, err);

	if (rc)
		return rc;
	*job = (struct fit_job_row){
		.id = text_cell(&c[ID]), .user = text_cell(&c[USER]),
		.group = text_cell(&c[GROUP]), .app = text_cell(&c[APP]),
		.submit_ns = time_cell(&c[SUBMIT]), .start_ns = time_cell(&c[START]),
		.end_ns = time_cell(&c[END]), .duration_ns = time_cell(&c[DURATION])
	};
	if (job->duration_ns != FIT_INT_NA && job->duration_ns < 0)
		return fit_reader_fail(jr->r, FIT_EDATA, "duration_s", err,
				       "out of range '%.9g' (expected at least 0)",
				       fit_time_to_double(job->duration_ns));
	rc = read_gpus(jr, job, err);
	if (!rc)
		rc = read_status(jr, &job->status, err);
	if (!rc && job->duration_ns == FIT_INT_NA && job->start_ns != FIT_INT_NA &&
	    job->end_ns != FIT_INT_NA && job->end_ns >= job->start_ns &&
	    job->status != FIT_WORD_RUNNING && job->status != FIT_WORD_PENDING &&
	    !__builtin_sub_overflow(job->end_ns, job->start_ns, &job->duration_ns))
		job->derived = true;
	for (size_t k = 0; !rc && k < jr->n_by; k++) {
		size_t at = jr->by_at[k];

		if (c[at].na || jr->fields[at].type == FIT_TEXT)
			by[k] = text_cell(&c[at]);
		else
			by[k] = (struct fit_text){ jr->scratch[k],
						   fit_cell_format(jr->fields[at].type, &c[at],
								   jr->scratch[k]) };
	}
	return rc;
}

/* ---- lists of numbers ---- */

struct reals {
	double *v;
	size_t n, cap;
};

static int push(struct reals *r, double v)
{
	if (r->n == r->cap && fit_grow(&r->v, &r->cap, r->n + 1, sizeof *r->v))
		return FIT_ENOMEM;
	r->v[r->n++] = v;
	return FIT_OK;
}

static int compare_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort_reals(struct reals *r)
{
	size_t i = 1;

	while (i < r->n && r->v[i] >= r->v[i - 1])
		i++;
	if (i < r->n)
		qsort(r->v, r->n, sizeof *r->v, compare_real);
}

static int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void sort_times(int64_t *v, size_t n)
{
	size_t i = 1;

	while (i < n && v[i] >= v[i - 1])
		i++;
	if (i < n)
		qsort(v, n, sizeof *v, compare_int64);
}

/* ---- accumulators ---- */

/* What is kept of a set of jobs: the whole trace, or a group of it. */
struct sums {
	int64_t jobs, no_gpus, words[FIT_N_WORDS];
	fit_i128 ugpus, duration_ns, gpu;	/* gpu: millionths x ns */
	int64_t n_gpu;				/* jobs with both */
	struct reals durations;
};

static int add_job(struct sums *s, const struct fit_job_row *job)
{
	s->jobs++;
	s->words[job->status]++;
	if (job->ugpus == FIT_INT_NA)
		s->no_gpus++;
	else
		s->ugpus += job->ugpus;
	if (job->duration_ns == FIT_INT_NA)
		return FIT_OK;
	s->duration_ns += job->duration_ns;
	if (job->ugpus != FIT_INT_NA) {
		s->gpu += (fit_i128)job->ugpus * job->duration_ns;
		s->n_gpu++;
	}
	return push(&s->durations, fit_time_to_double(job->duration_ns));
}

/* A sum over those of n jobs that have the value: missing when none of them has. */
static double sum_of(fit_i128 sum, int64_t unit, int64_t known_jobs, int64_t n)
{
	return n && !known_jobs ? fit_real_na() : fit_divide(sum, unit);
}

static double mean_s(fit_i128 sum_ns, size_t n)
{
	return n ? fit_divide(sum_ns, (int64_t)n * FIT_NS_PER_S) : fit_real_na();
}

struct member {
	size_t at, n;		/* its name in names; at SIZE_MAX: missing */
	double number;
	struct sums sums;
};

struct grouping {
	const char *column;
	struct fit_index index;
	struct fit_str names;
	struct member *members;
	size_t n, cap;
	size_t missing;		/* number of the member for NA, or SIZE_MAX */
};

struct fit_trace_stats {
	struct fit_trace_stats_params p;
	struct sums all;
	int64_t cpu_jobs, fractional, one_gpu, many_gpus, too_large;
	int64_t no_submit, derived, running_unknown, queue_negative, queue_unknown;
	fit_i128 queue_ns;
	int64_t *submits;
	size_t n_submits, cap_submits;
	struct reals queues;
	struct fit_index sizes, users, groups, apps;	/* sizes: ugpus -> number in size_list */
	struct size { int64_t ugpus, jobs; } *size_list;
	size_t n_sizes, cap_sizes;
	int64_t no_user, no_group, no_app;
	struct fit_trace_hour hours[24];
	fit_i128 hour_ugpus[24], hour_gpu[24];
	int64_t hour_sized[24], hour_timed[24];		/* jobs behind these sums */
	struct grouping by[FIT_JOBS_BY_MAX];
	/* after finish() */
	double gap_mean, gap_cv, gap_cv2, gap_cv2_sample, burstiness;
	double bins, bin_min, bin_max, bin_mean, bin_dispersion;
	struct fit_trace_metric metrics[MAX_METRICS];
	size_t n_metrics;
};

struct fit_trace_stats *fit_trace_stats_new(const struct fit_trace_stats_params *p)
{
	struct fit_trace_stats *ts = calloc(1, sizeof *ts);

	if (!ts)
		return NULL;
	ts->p = *p;
	for (size_t k = 0; k < p->n_by && k < FIT_JOBS_BY_MAX; k++) {
		ts->by[k].column = p->by[k];
		ts->by[k].missing = SIZE_MAX;
	}
	return ts;
}

void fit_trace_stats_free(struct fit_trace_stats *ts)
{
	if (!ts)
		return;
	free(ts->all.durations.v);
	free(ts->queues.v);
	free(ts->submits);
	free(ts->size_list);
	fit_index_release(&ts->sizes);
	fit_index_release(&ts->users);
	fit_index_release(&ts->groups);
	fit_index_release(&ts->apps);
	for (size_t k = 0; k < FIT_JOBS_BY_MAX; k++) {
		struct grouping *g = &ts->by[k];

		for (size_t i = 0; i < g->n; i++)
			free(g->members[i].sums.durations.v);
		free(g->members);
		fit_index_release(&g->index);
		fit_str_release(&g->names);
	}
	free(ts);
}

static int add_member(struct grouping *g, struct fit_text value, size_t *which)
{
	struct member m = { .at = SIZE_MAX };

	if (g->n >= FIT_NO_INDEX || fit_grow(&g->members, &g->cap, g->n + 1, sizeof *g->members))
		return FIT_ENOMEM;
	if (value.s) {
		m.at = g->names.n;
		m.n = value.n;
		if (fit_str_add(&g->names, value.s, value.n))
			return FIT_ENOMEM;
	}
	*which = g->n;
	g->members[g->n++] = m;
	return FIT_OK;
}

static int group_job(struct grouping *g, const struct fit_job_row *job, struct fit_text value)
{
	size_t which = g->missing;
	uint32_t found;

	if (value.s) {
		if (fit_index_put(&g->index, value, (uint32_t)g->n, &found))
			return FIT_ENOMEM;
		which = found == FIT_NO_INDEX ? SIZE_MAX : found;
	}
	if (which == SIZE_MAX) {
		if (add_member(g, value, &which))
			return FIT_ENOMEM;
		if (!value.s)
			g->missing = which;
	}
	return add_job(&g->members[which].sums, job);
}

static int count_name(struct fit_index *ix, struct fit_text t, int64_t *missing)
{
	if (!t.s) {
		++*missing;
		return FIT_OK;
	}
	return fit_index_put(ix, t, 0, NULL);
}

static int count_size(struct fit_trace_stats *ts, int64_t ugpus)
{
	struct fit_text key = { (const char *)&ugpus, sizeof ugpus };
	uint32_t found;

	if (fit_index_put(&ts->sizes, key, (uint32_t)ts->n_sizes, &found))
		return FIT_ENOMEM;
	if (found == FIT_NO_INDEX) {
		if (fit_grow(&ts->size_list, &ts->cap_sizes, ts->n_sizes + 1, sizeof *ts->size_list))
			return FIT_ENOMEM;
		found = (uint32_t)ts->n_sizes;
		ts->size_list[ts->n_sizes++] = (struct size){ ugpus, 0 };
	}
	ts->size_list[found].jobs++;
	ts->cpu_jobs += ugpus == 0;
	ts->fractional += ugpus % FIT_UGPU != 0;
	ts->one_gpu += ugpus == FIT_UGPU;
	ts->many_gpus += ugpus > FIT_UGPU;
	ts->too_large += ts->p.capacity_ugpus && ugpus > ts->p.capacity_ugpus;
	return FIT_OK;
}

static int64_t floor_hour(int64_t ns)
{
	return ns / NS_PER_HOUR - (ns % NS_PER_HOUR < 0);
}

static int hour_of_day(int64_t hour)
{
	return (int)((hour % 24 + 24) % 24);
}

/* The clock hour of a submission; those of a day add up from midnight. */
static int64_t clock_hour(const struct fit_trace_stats *ts, int64_t submit_ns)
{
	int64_t h = floor_hour(submit_ns);
	int64_t rest = submit_ns - h * NS_PER_HOUR + ts->p.day_offset_ns;

	return h + floor_hour(rest);
}

static int take_submit(struct fit_trace_stats *ts, const struct fit_job_row *job)
{
	int h = hour_of_day(clock_hour(ts, job->submit_ns));

	if (ts->n_submits == ts->cap_submits &&
	    fit_grow(&ts->submits, &ts->cap_submits, ts->n_submits + 1, sizeof *ts->submits))
		return FIT_ENOMEM;
	ts->submits[ts->n_submits++] = job->submit_ns;
	ts->hours[h].jobs++;
	if (job->ugpus == FIT_INT_NA)
		return FIT_OK;
	ts->hour_sized[h]++;
	ts->hour_ugpus[h] += job->ugpus;
	if (job->duration_ns == FIT_INT_NA)
		return FIT_OK;
	ts->hour_timed[h]++;
	ts->hour_gpu[h] += (fit_i128)job->ugpus * job->duration_ns;
	return FIT_OK;
}

static int take_queue(struct fit_trace_stats *ts, const struct fit_job_row *job)
{
	int64_t q;

	if (job->start_ns == FIT_INT_NA || job->submit_ns == FIT_INT_NA) {
		ts->queue_unknown++;
		return FIT_OK;
	}
	if (__builtin_sub_overflow(job->start_ns, job->submit_ns, &q) || q < 0) {
		ts->queue_negative++;
		return FIT_OK;
	}
	ts->queue_ns += q;
	return push(&ts->queues, fit_time_to_double(q));
}

int fit_trace_stats_add(struct fit_trace_stats *ts, const struct fit_job_row *job,
			const struct fit_text *by, struct fit_err *err)
{
	int rc = add_job(&ts->all, job);

	rc = rc ? rc : count_name(&ts->users, job->user, &ts->no_user);
	rc = rc ? rc : count_name(&ts->groups, job->group, &ts->no_group);
	rc = rc ? rc : count_name(&ts->apps, job->app, &ts->no_app);
	if (!rc && job->ugpus != FIT_INT_NA)
		rc = count_size(ts, job->ugpus);
	if (job->submit_ns == FIT_INT_NA)
		ts->no_submit++;
	else if (!rc)
		rc = take_submit(ts, job);
	rc = rc ? rc : take_queue(ts, job);
	ts->derived += job->derived;
	ts->running_unknown += job->duration_ns == FIT_INT_NA && job->status == FIT_WORD_RUNNING;
	for (size_t k = 0; !rc && k < ts->p.n_by; k++)
		rc = group_job(&ts->by[k], job, by[k]);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the end ---- */

/* Gaps between successive submissions, in two passes: the mean is exact, the deviations are small. */
static void measure_gaps(struct fit_trace_stats *ts)
{
	size_t n = ts->n_submits - 1;
	long double mean, sum = 0;

	ts->gap_mean = ts->gap_cv = ts->gap_cv2 = ts->gap_cv2_sample = ts->burstiness = fit_real_na();
	if (ts->n_submits < 2)
		return;
	mean = ((long double)ts->submits[n] - (long double)ts->submits[0]) / (long double)n;
	ts->gap_mean = (double)(mean / 1e9L);
	if (!(mean > 0))
		return;
	for (size_t i = 1; i <= n; i++) {
		long double d = ((long double)ts->submits[i] - (long double)ts->submits[i - 1]) / mean - 1;

		sum += d * d;
	}
	ts->gap_cv2 = (double)(sum / (long double)n);
	if (n > 1)
		ts->gap_cv2_sample = (double)(sum / (long double)(n - 1));
	ts->gap_cv = sqrt(ts->gap_cv2);
	ts->burstiness = (ts->gap_cv - 1) / (ts->gap_cv + 1);
}

/* Submissions by clock hour, from the first to the last, empty hours too. */
static void measure_hours(struct fit_trace_stats *ts)
{
	int64_t first, last;
	long double sum2 = 0, mean;

	ts->bin_min = ts->bin_max = ts->bin_mean = ts->bin_dispersion = fit_real_na();
	if (!ts->n_submits)
		return;
	first = clock_hour(ts, ts->submits[0]);
	last = clock_hour(ts, ts->submits[ts->n_submits - 1]);
	ts->bins = (double)(last - first + 1);
	ts->bin_mean = (double)ts->n_submits / ts->bins;
	mean = (long double)ts->bin_mean;
	ts->bin_max = 0;
	ts->bin_min = HUGE_VAL;
	for (int h = 0; h < 24; h++)
		ts->hours[h].hours = (last - first + 1) / 24 +
				     (hour_of_day(h - first) < (last - first + 1) % 24);
	for (size_t i = 0, k; i < ts->n_submits; i = k) {
		int64_t hour = clock_hour(ts, ts->submits[i]);
		struct fit_trace_hour *of = &ts->hours[hour_of_day(hour)];
		double n;

		for (k = i + 1; k < ts->n_submits && clock_hour(ts, ts->submits[k]) == hour; k++)
			;
		n = (double)(k - i);
		of->most = (int64_t)(k - i) > of->most ? (int64_t)(k - i) : of->most;
		ts->bin_max = fmax(ts->bin_max, n);
		ts->bin_min = fmin(ts->bin_min, n);
		sum2 += ((long double)n - mean) * ((long double)n - mean);
		/* the empty hours up to the next submission */
		if (k < ts->n_submits) {
			int64_t empty = clock_hour(ts, ts->submits[k]) - hour - 1;

			if (empty > 0)
				ts->bin_min = 0;
			sum2 += (long double)empty * mean * mean;
		}
	}
	ts->bin_dispersion = (double)(sum2 / (long double)ts->bins / mean);
}

static int compare_size(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	return (x->ugpus > y->ugpus) - (x->ugpus < y->ugpus);
}

/* As fit_percentile() over the sizes of all jobs, which stand together by size. */
static double size_percentile(const struct fit_trace_stats *ts, double percent)
{
	int64_t n = ts->all.jobs - ts->all.no_gpus, below = 0;
	double at, pair[2] = { 0, 0 };
	int64_t k;

	if (n == 0)
		return fit_real_na();
	at = percent / 100 * (double)(n - 1);
	k = (int64_t)floor(at);
	for (size_t i = 0; i < ts->n_sizes; i++) {
		double v = (double)ts->size_list[i].ugpus / (double)FIT_UGPU;

		if (below <= k)
			pair[0] = v;
		if (below <= k + 1)
			pair[1] = v;
		below += ts->size_list[i].jobs;
	}
	return fit_percentile(pair, 2, 100 * (at - floor(at)));
}

static void say(struct fit_trace_stats *ts, const char *name, double value, const char *unit)
{
	if (ts->n_metrics < MAX_METRICS)
		ts->metrics[ts->n_metrics++] = (struct fit_trace_metric){ name, unit, value };
}

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : fit_real_na();
}

static void say_sizes(struct fit_trace_stats *ts)
{
	int64_t n = ts->all.jobs - ts->all.no_gpus;

	say(ts, "gpus_missing", (double)ts->all.no_gpus, "jobs");
	say(ts, "gpus_none", (double)ts->cpu_jobs, "jobs");
	say(ts, "gpus_fractional", (double)ts->fractional, "jobs");
	say(ts, "gpus_one", (double)ts->one_gpu, "jobs");
	say(ts, "gpus_more", (double)ts->many_gpus, "jobs");
	say(ts, "gpus_one_share", share(ts->one_gpu, n), "1");
	say(ts, "gpus_sum", sum_of(ts->all.ugpus, FIT_UGPU, n, ts->all.jobs), "gpu");
	say(ts, "gpus_mean", n ? fit_divide(ts->all.ugpus, n * FIT_UGPU) : fit_real_na(), "gpu");
	say(ts, "gpus_median", size_percentile(ts, 50), "gpu");
	say(ts, "gpus_p95", size_percentile(ts, 95), "gpu");
	say(ts, "gpus_p99", size_percentile(ts, 99), "gpu");
	say(ts, "gpus_max", size_percentile(ts, 100), "gpu");
}

static void say_times(struct fit_trace_stats *ts)
{
	const struct reals *d = &ts->all.durations, *q = &ts->queues;

	say(ts, "duration_known", (double)d->n, "jobs");
	say(ts, "duration_missing", (double)(ts->all.jobs - (int64_t)d->n), "jobs");
	say(ts, "duration_missing_running", (double)ts->running_unknown, "jobs");
	say(ts, "duration_from_start_end", (double)ts->derived, "jobs");
	say(ts, "duration_sum_s",
	    sum_of(ts->all.duration_ns, FIT_NS_PER_S, (int64_t)d->n, ts->all.jobs), "s");
	say(ts, "duration_mean_s", mean_s(ts->all.duration_ns, d->n), "s");
	say(ts, "duration_min_s", fit_percentile(d->v, d->n, 0), "s");
	say(ts, "duration_p5_s", fit_percentile(d->v, d->n, 5), "s");
	say(ts, "duration_p25_s", fit_percentile(d->v, d->n, 25), "s");
	say(ts, "duration_median_s", fit_percentile(d->v, d->n, 50), "s");
	say(ts, "duration_p75_s", fit_percentile(d->v, d->n, 75), "s");
	say(ts, "duration_p95_s", fit_percentile(d->v, d->n, 95), "s");
	say(ts, "duration_p99_s", fit_percentile(d->v, d->n, 99), "s");
	say(ts, "duration_max_s", fit_percentile(d->v, d->n, 100), "s");
	say(ts, "queue_known", (double)q->n, "jobs");
	say(ts, "queue_missing", (double)ts->queue_unknown, "jobs");
	say(ts, "queue_negative", (double)ts->queue_negative, "jobs");
	say(ts, "queue_mean_s", mean_s(ts->queue_ns, q->n), "s");
	say(ts, "queue_median_s", fit_percentile(q->v, q->n, 50), "s");
	say(ts, "queue_p95_s", fit_percentile(q->v, q->n, 95), "s");
	say(ts, "queue_max_s", fit_percentile(q->v, q->n, 100), "s");
}

static void say_arrivals(struct fit_trace_stats *ts)
{
	size_t n = ts->n_submits;
	double first = n ? fit_time_to_double(ts->submits[0]) : fit_real_na();
	double last = n ? fit_time_to_double(ts->submits[n - 1]) : fit_real_na();

	say(ts, "submit_missing", (double)ts->no_submit, "jobs");
	say(ts, "submit_first_s", first, "s");
	say(ts, "submit_last_s", last, "s");
	say(ts, "interarrivals", n ? (double)(n - 1) : 0, "gaps");
	say(ts, "interarrival_mean_s", ts->gap_mean, "s");
	say(ts, "interarrival_cv2", ts->gap_cv2, "1");
	say(ts, "interarrival_cv2_sample", ts->gap_cv2_sample, "1");
	say(ts, "burstiness", ts->burstiness, "1");
	say(ts, "hours", ts->bins, "h");
	say(ts, "hourly_mean", ts->bin_mean, "jobs/h");
	say(ts, "hourly_min", ts->bin_min, "jobs/h");
	say(ts, "hourly_max", ts->bin_max, "jobs/h");
	say(ts, "hourly_peak_to_mean", n ? ts->bin_max / ts->bin_mean : fit_real_na(), "1");
	say(ts, "hourly_dispersion", ts->bin_dispersion, "1");
}

static void say_status(struct fit_trace_stats *ts)
{
	static const char *const names[FIT_N_WORDS][2] = {
		{ "status_ok", "status_ok_share" }, { "status_failed", "status_failed_share" },
		{ "status_cancelled", "status_cancelled_share" },
		{ "status_timeout", "status_timeout_share" },
		{ "status_node_fail", "status_node_fail_share" },
		{ "status_running", "status_running_share" },
		{ "status_pending", "status_pending_share" },
		{ "status_unknown", "status_unknown_share" },
		{ "status_missing", "status_missing_share" }
	};

	for (int i = 0; i < FIT_N_WORDS; i++)
		say(ts, names[i][0], (double)ts->all.words[i], "jobs");
	for (int i = 0; i < FIT_N_WORDS; i++)
		say(ts, names[i][1], share(ts->all.words[i], ts->all.jobs), "1");
}

/* Offered load: jobs arrive at the rate 1 / mean gap and bring their mean GPU time (Little's law). */
static void say_load(struct fit_trace_stats *ts)
{
	double capacity = (double)ts->p.capacity_ugpus / (double)FIT_UGPU;
	double seconds = fit_gpu_seconds(ts->all.gpu), na = fit_real_na();
	double demand = ts->all.n_gpu && ts->gap_mean > 0 ?
			seconds / (double)ts->all.n_gpu / ts->gap_mean : na;

	say(ts, "gpu_hours", sum_of(ts->all.gpu, GPU_HOUR, ts->all.n_gpu, ts->all.jobs), "gpu h");
	say(ts, "gpu_hours_missing", (double)(ts->all.jobs - ts->all.n_gpu), "jobs");
	say(ts, "gpu_hours_mean", ts->all.n_gpu ? seconds / (double)ts->all.n_gpu / 3600 : na, "gpu h");
	say(ts, "demand_gpus", demand, "gpu");
	if (!ts->p.capacity_ugpus)
		return;
	say(ts, "capacity_gpus", capacity, "gpu");
	say(ts, "offered_load", fit_real_is_na(demand) ? na : demand / capacity, "1");
	say(ts, "larger_than_cluster", (double)ts->too_large, "jobs");
}

void fit_trace_stats_finish(struct fit_trace_stats *ts)
{
	sort_reals(&ts->all.durations);
	sort_reals(&ts->queues);
	sort_times(ts->submits, ts->n_submits);
	if (ts->n_sizes)
		qsort(ts->size_list, ts->n_sizes, sizeof *ts->size_list, compare_size);
	measure_gaps(ts);
	measure_hours(ts);
	for (int h = 0; h < 24; h++) {
		int64_t n = ts->hours[h].jobs;

		ts->hours[h].gpus = sum_of(ts->hour_ugpus[h], FIT_UGPU, ts->hour_sized[h], n);
		ts->hours[h].gpu_hours = sum_of(ts->hour_gpu[h], GPU_HOUR, ts->hour_timed[h], n);
	}
	ts->n_metrics = 0;
	say(ts, "jobs", (double)ts->all.jobs, "jobs");
	say(ts, "users", (double)ts->users.n, "users");
	say(ts, "user_missing", (double)ts->no_user, "jobs");
	say(ts, "groups", (double)ts->groups.n, "groups");
	say(ts, "group_missing", (double)ts->no_group, "jobs");
	say(ts, "apps", (double)ts->apps.n, "apps");
	say(ts, "app_missing", (double)ts->no_app, "jobs");
	say_sizes(ts);
	say_times(ts);
	say_arrivals(ts);
	say_status(ts);
	say_load(ts);
}

size_t fit_trace_stats_count(const struct fit_trace_stats *ts)
{
	return ts->n_metrics;
}

struct fit_trace_metric fit_trace_stats_metric(const struct fit_trace_stats *ts, size_t i)
{
	return ts->metrics[i];
}

double fit_trace_stats_value(const struct fit_trace_stats *ts, const char *name)
{
	for (size_t i = 0; i < ts->n_metrics; i++)
		if (strcmp(ts->metrics[i].name, name) == 0)
			return ts->metrics[i].value;
	return fit_real_na();
}

struct fit_trace_hour fit_trace_stats_hour(const struct fit_trace_stats *ts, int hour)
{
	return ts->hours[hour];
}

/* ---- tables ---- */

int fit_trace_stats_write_summary(const struct fit_trace_stats *ts, struct fit_writer *w,
				  const char *name, const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "metric", FIT_TEXT, 0 }, { "value", FIT_REAL, 0 }, { "unit", FIT_TEXT, 0 }
	};
	int rc = fit_writer_begin(w, name, meta, fields, 3, err);

	for (size_t i = 0; !rc && i < ts->n_metrics; i++) {
		fit_writer_str(w, ts->metrics[i].name);
		fit_writer_real(w, ts->metrics[i].value);
		fit_writer_str(w, ts->metrics[i].unit);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

int fit_trace_stats_write_hours(const struct fit_trace_stats *ts, struct fit_writer *w,
				const char *name, const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "hour", FIT_INT, 0 }, { "jobs", FIT_INT, 0 }, { "jobs_share", FIT_REAL, 0 },
		{ "hours", FIT_INT, 0 }, { "jobs_per_hour", FIT_REAL, 0 }, { "jobs_max", FIT_INT, 0 },
		{ "gpus_sum", FIT_REAL, 0 }, { "gpu_hours", FIT_REAL, 0 }
	};
	int rc = fit_writer_begin(w, name, meta, fields, sizeof fields / sizeof *fields, err);

	for (int h = 0; !rc && h < 24; h++) {
		const struct fit_trace_hour *of = &ts->hours[h];

		fit_writer_int(w, h);
		fit_writer_int(w, of->jobs);
		fit_writer_real(w, share(of->jobs, (int64_t)ts->n_submits));
		fit_writer_int(w, of->hours);
		fit_writer_real(w, share(of->jobs, of->hours));
		fit_writer_int(w, of->most);
		fit_writer_real(w, of->gpus);
		fit_writer_real(w, of->gpu_hours);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static struct fit_text name_of(const struct grouping *g, const struct member *m)
{
	if (m->at == SIZE_MAX)
		return (struct fit_text){ NULL, 0 };
	return (struct fit_text){ g->names.s ? g->names.s + m->at : "", m->n };
}

struct ranked {
	struct fit_text name;
	double number;
	bool numbers;
	size_t member;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int c = 0;

	if (!x->name.s || !y->name.s)
		return !x->name.s - !y->name.s;
	if (x->numbers)
		c = (x->number > y->number) - (x->number < y->number);
	if (!c)
		c = fit_text_cmp_natural(x->name, y->name);
	return c ? c : (x->member > y->member) - (x->member < y->member);
}

static struct ranked *rank(const struct grouping *g)
{
	struct ranked *r = calloc(g->n ? g->n : 1, sizeof *r);
	bool numbers = true;

	if (!r)
		return NULL;
	for (size_t i = 0; i < g->n; i++) {
		r[i].name = name_of(g, &g->members[i]);
		r[i].member = i;
		if (r[i].name.s && fit_parse_double(r[i].name, &r[i].number))
			numbers = false;
	}
	for (size_t i = 0; i < g->n; i++)
		r[i].numbers = numbers;
	qsort(r, g->n, sizeof *r, compare_ranked);
	return r;
}

int fit_trace_stats_write_by(struct fit_trace_stats *ts, size_t i, bool cumulative,
			     struct fit_writer *w, const char *name, const struct fit_meta *meta,
			     struct fit_err *err)
{
	struct fit_field fields[] = {
		{ "", FIT_TEXT, 0 }, { "jobs", FIT_INT, 0 }, { "jobs_share", FIT_REAL, 0 },
		{ "gpus_sum", FIT_REAL, 0 }, { "gpus_missing", FIT_INT, 0 },
		{ "duration_known", FIT_INT, 0 }, { "duration_missing", FIT_INT, 0 },
		{ "duration_mean_s", FIT_REAL, 0 }, { "duration_median_s", FIT_REAL, 0 },
		{ "duration_p95_s", FIT_REAL, 0 }, { "duration_p99_s", FIT_REAL, 0 },
		{ "duration_max_s", FIT_REAL, 0 },
		{ "gpu_hours", FIT_REAL, 0 }, { "gpu_hours_share", FIT_REAL, 0 },
		{ "gpu_hours_missing", FIT_INT, 0 },
		{ "ok", FIT_INT, 0 }, { "failed", FIT_INT, 0 }, { "cancelled", FIT_INT, 0 },
		{ "unfinished", FIT_INT, 0 }, { "status_missing", FIT_INT, 0 },
		{ "jobs_share_cumulated", FIT_REAL, 0 }, { "gpu_hours_share_cumulated", FIT_REAL, 0 }
	};
	size_t n_fields = sizeof fields / sizeof *fields - (cumulative ? 0 : 2);
	struct grouping *g = &ts->by[i];
	struct ranked *order = rank(g);
	double whole = fit_gpu_seconds(ts->all.gpu);
	fit_i128 gpu = 0;
	int64_t jobs = 0;
	int rc;

	if (!order)
		return fit_fail_nomem(err);
	/* a column of that name beside our own would be there twice */
	fields[0].name = g->column;
	for (size_t k = 1; k < n_fields; k++)
		if (strcmp(fields[k].name, g->column) == 0)
			fields[0].name = "value";
	rc = fit_writer_begin(w, name, meta, fields, n_fields, err);
	for (size_t k = 0; !rc && k < g->n; k++) {
		struct member *m = &g->members[order[k].member];
		struct sums *s = &m->sums;
		size_t n = s->durations.n;
		const double *v = s->durations.v;

		sort_reals(&s->durations);
		jobs += s->jobs;
		gpu += s->gpu;
		fit_writer_cell(w, FIT_TEXT, &(struct fit_cell){ .na = !order[k].name.s,
								 .u.t = order[k].name });
		fit_writer_int(w, s->jobs);
		fit_writer_real(w, share(s->jobs, ts->all.jobs));
		fit_writer_real(w, sum_of(s->ugpus, FIT_UGPU, s->jobs - s->no_gpus, s->jobs));
		fit_writer_int(w, s->no_gpus);
		fit_writer_int(w, (int64_t)n);
		fit_writer_int(w, s->jobs - (int64_t)n);
		fit_writer_real(w, mean_s(s->duration_ns, n));
		fit_writer_real(w, fit_percentile(v, n, 50));
		fit_writer_real(w, fit_percentile(v, n, 95));
		fit_writer_real(w, fit_percentile(v, n, 99));
		fit_writer_real(w, fit_percentile(v, n, 100));
		fit_writer_real(w, sum_of(s->gpu, GPU_HOUR, s->n_gpu, s->jobs));
		fit_writer_real(w, whole > 0 && s->n_gpu ? fit_gpu_seconds(s->gpu) / whole : fit_real_na());
		fit_writer_int(w, s->jobs - s->n_gpu);
		fit_writer_int(w, s->words[FIT_WORD_OK]);
		fit_writer_int(w, s->words[FIT_WORD_FAILED] + s->words[FIT_WORD_TIMEOUT] +
				  s->words[FIT_WORD_NODE_FAIL]);
		fit_writer_int(w, s->words[FIT_WORD_CANCELLED]);
		fit_writer_int(w, s->words[FIT_WORD_RUNNING] + s->words[FIT_WORD_PENDING]);
		fit_writer_int(w, s->words[FIT_WORD_UNKNOWN] + s->words[FIT_WORD_MISSING]);
		if (cumulative) {
			fit_writer_real(w, share(jobs, ts->all.jobs));
			fit_writer_real(w, whole > 0 ? fit_gpu_seconds(gpu) / whole : fit_real_na());
		}
		rc = fit_writer_end_row(w, err);
	}
	free(order);
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- values for a distribution ---- */

static int value_of(const struct fit_job_row *job, enum fit_trace_of of, struct reals *v, size_t *missing)
{
	bool gpus = !fit_real_is_na(job->gpus), duration = job->duration_ns != FIT_INT_NA;

	if (of == FIT_OF_GPUS && gpus)
		return push(v, job->gpus);
	if (of == FIT_OF_DURATION && duration)
		return push(v, fit_time_to_double(job->duration_ns));
	if (of == FIT_OF_GPU_HOURS && gpus && duration)
		return push(v, job->gpus * fit_time_to_double(job->duration_ns) / 3600);
	++*missing;
	return FIT_OK;
}

static int gaps(int64_t *submits, size_t n, struct reals *v)
{
	int rc = FIT_OK;

	sort_times(submits, n);
	for (size_t i = 1; !rc && i < n; i++)
		rc = push(v, (double)(((long double)submits[i] - (long double)submits[i - 1]) / 1e9L));
	return rc;
}

int fit_trace_values(struct fit_reader *r, enum fit_trace_of of, double **sorted, size_t *n,
		     size_t *missing, struct fit_err *err)
{
	struct fit_jobs_reader jr;
	struct fit_job_row job;
	struct reals v = { 0 };
	int64_t *submits = NULL;
	size_t n_submits = 0, cap = 0;
	int rc = fit_jobs_begin(&jr, r, NULL, 0, err);

	*sorted = NULL;
	*n = *missing = 0;
	while (!rc && !(rc = fit_jobs_next(&jr, &job, NULL, err))) {
		if (of != FIT_OF_INTERARRIVAL) {
			rc = value_of(&job, of, &v, missing);
		} else if (job.submit_ns == FIT_INT_NA) {
			++*missing;
		} else {
			rc = fit_grow(&submits, &cap, n_submits + 1, sizeof *submits);
			if (!rc)
				submits[n_submits++] = job.submit_ns;
		}
		if (rc)
			fit_fail_nomem(err);
	}
	if (rc == FIT_END)
		rc = gaps(submits, n_submits, &v) ? fit_fail_nomem(err) : FIT_OK;
	free(submits);
	if (rc) {
		free(v.v);
		return rc;
	}
	sort_reals(&v);
	*sorted = v.v;
	*n = v.n;
	return FIT_OK;
}
