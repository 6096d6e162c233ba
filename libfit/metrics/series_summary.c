/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/series_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/hash.h"
#include "libfit/base/num.h"
#include "libfit/base/text.h"

struct fit_series_summary_params fit_series_summary_default(void)
{
	return (struct fit_series_summary_params){ .by = FIT_SERIES_BY_GPU,
						   .slack_ns = 60 * FIT_NS_PER_S,
						   .steady_pct = 10, .idle_pct = 1 };
}

/* ---- how often each value occurred ---- */

struct counts {
	struct { int32_t key; uint64_t n; } *list;	/* ascending by key */
	size_t n, cap;
	uint64_t total;
};

static int counts_add(struct counts *c, int32_t key)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->list[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == c->n || c->list[lo].key != key) {
		if (fit_grow(&c->list, &c->cap, c->n + 1, sizeof *c->list))
			return FIT_ENOMEM;
		memmove(&c->list[lo + 1], &c->list[lo], (c->n - lo) * sizeof *c->list);
		c->list[lo].key = key;
		c->list[lo].n = 0;
		c->n++;
	}
	c->list[lo].n++;
	c->total++;
	return FIT_OK;
}

static int32_t counts_at(const struct counts *c, uint64_t rank)
{
	size_t i = 0;

	while (i + 1 < c->n && rank >= c->list[i].n)
		rank -= c->list[i++].n;
	return c->list[i].key;
}

/* As fit_percentile(): linear between the ranks around percent/100 * (n - 1). In hundredths. */
static double counts_percentile(const struct counts *c, double percent)
{
	double at, low, a, b;

	if (!c->total)
		return fit_real_na();
	at = percent / 100 * (double)(c->total - 1);
	low = floor(at);
	a = counts_at(c, (uint64_t)low);
	b = low < at ? counts_at(c, (uint64_t)low + 1) : a;
	return (a + (at - low) * (b - a)) / 100;
}

static double counts_within(const struct counts *c, double center, double distance)
{
	uint64_t n = 0;

	if (!c->total)
		return fit_real_na();
	for (size_t i = 0; i < c->n; i++)
		if (fabs(c->list[i].key / 100.0 - center) <= distance + 1e-9)
			n += c->list[i].n;
	return (double)n / (double)c->total;
}

static void counts_release(struct counts *c)
{
	free(c->list);
	*c = (struct counts){ 0 };
}

/* ---- running statistics of one job, GPU or all ---- */

struct moments {
	uint64_t n;
	double mean, m2, max;	/* m2: sum of squared deviations, by Welford's updates */
};

struct stats {
	uint64_t samples, shared;
	struct moments util, mem, fb, power;
	struct counts util_counts, mem_counts;
	/* what remains of the counts once they were dropped */
	double util_p50, util_p95, util_steady, mem_p50, mem_p95;
	bool closed;
};

/* The cells of a sample: time_s, then the others. */
enum { TIME, HOST, GPU, UTIL, MEM, FB, POWER, INSTANCE, N_FIELDS };

static void moments_add(struct moments *m, double v)
{
	double d = v - m->mean;

	m->max = m->n && m->max > v ? m->max : v;
	m->n++;
	m->mean += d / (double)m->n;
	m->m2 += d * (v - m->mean);
}

static int stats_add(struct stats *s, const struct fit_cell *c)
{
	int rc = FIT_OK;

	s->samples++;
	if (!c[UTIL].na) {
		moments_add(&s->util, c[UTIL].u.d);
		rc = counts_add(&s->util_counts, (int32_t)lround(c[UTIL].u.d * 100));
	}
	if (!rc && !c[MEM].na) {
		moments_add(&s->mem, c[MEM].u.d);
		rc = counts_add(&s->mem_counts, (int32_t)lround(c[MEM].u.d * 100));
	}
	if (!c[FB].na)
		moments_add(&s->fb, c[FB].u.d);
	if (!c[POWER].na)
		moments_add(&s->power, c[POWER].u.d);
	return rc;
}

static void stats_close(struct stats *s, double steady_pct)
{
	if (s->closed)
		return;
	s->util_p50 = counts_percentile(&s->util_counts, 50);
	s->util_p95 = counts_percentile(&s->util_counts, 95);
	s->util_steady = counts_within(&s->util_counts, s->util_p50, steady_pct);
	s->mem_p50 = counts_percentile(&s->mem_counts, 50);
	s->mem_p95 = counts_percentile(&s->mem_counts, 95);
	counts_release(&s->util_counts);
	counts_release(&s->mem_counts);
	s->closed = true;
}

static void stats_release(struct stats *s)
{
	counts_release(&s->util_counts);
	counts_release(&s->mem_counts);
}

/* ---- output columns ---- */

#define STAT_FIELDS \
	{ "samples", FIT_INT, 0 }, { "gpu_util_n", FIT_INT, 0 }, \
	{ "gpu_util_mean_pct", FIT_REAL, 0 }, { "gpu_util_p50_pct", FIT_REAL, 0 }, \
	{ "gpu_util_p95_pct", FIT_REAL, 0 }, { "gpu_util_cv", FIT_REAL, 0 }, \
	{ "gpu_util_steady", FIT_REAL, 0 }, { "mem_util_n", FIT_INT, 0 }, \
	{ "mem_util_mean_pct", FIT_REAL, 0 }, { "mem_util_p50_pct", FIT_REAL, 0 }, \
	{ "mem_util_p95_pct", FIT_REAL, 0 }, { "fb_used_n", FIT_INT, 0 }, \
	{ "fb_used_mean_mib", FIT_REAL, 0 }, { "fb_used_max_mib", FIT_REAL, 0 }, \
	{ "power_n", FIT_INT, 0 }, { "power_mean_w", FIT_REAL, 0 }, { "state", FIT_TEXT, 0 }
#define N_STATS 17

static const struct fit_field job_out[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "status", FIT_TEXT, 0 },
	{ "start_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "coverage", FIT_REAL, 0 }, { "shared_n", FIT_INT, 0 }, STAT_FIELDS
};
static const struct fit_field gpu_out[] = {
	{ "host", FIT_TEXT, 0 }, { "gpu", FIT_INT, 0 }, { "gpu_instance", FIT_TEXT, 0 }, STAT_FIELDS
};
static const struct fit_field all_out[] = {
	{ "gpus", FIT_INT, 0 }, { "gpus_active", FIT_INT, 0 }, { "gpus_idle", FIT_INT, 0 },
	{ "gpus_no_data", FIT_INT, 0 }, STAT_FIELDS
};

static struct fit_cell int_cell(uint64_t v)
{
	return (struct fit_cell){ .u.i = (int64_t)v };
}

static const struct fit_cell na_cell = { .na = true };

static struct fit_cell real_cell(uint64_t n, double v)
{
	struct fit_cell c = na_cell;

	if (n && !fit_real_is_na(v))
		c = (struct fit_cell){ .u.d = v };
	return c;
}

static const char *state_of(const struct stats *s, double idle_pct)
{
	if (!s->samples)
		return "no_samples";
	if (!s->util.n)
		return "no_data";
	return s->util.max <= idle_pct ? "idle" : "active";
}

static void fill_stats(const struct stats *s, double idle_pct, struct fit_cell *c)
{
	double sd = s->util.n ? sqrt(s->util.m2 / (double)s->util.n) : 0;

	*c++ = int_cell(s->samples);
	*c++ = int_cell(s->util.n);
	*c++ = real_cell(s->util.n, s->util.mean);
	*c++ = real_cell(s->util.n, s->util_p50);
	*c++ = real_cell(s->util.n, s->util_p95);
	*c++ = s->util.n > 1 && s->util.mean > 0 ? real_cell(1, sd / s->util.mean) : na_cell;
	*c++ = real_cell(s->util.n, s->util_steady);
	*c++ = int_cell(s->mem.n);
	*c++ = real_cell(s->mem.n, s->mem.mean);
	*c++ = real_cell(s->mem.n, s->mem_p50);
	*c++ = real_cell(s->mem.n, s->mem_p95);
	*c++ = int_cell(s->fb.n);
	*c++ = real_cell(s->fb.n, s->fb.mean);
	*c++ = real_cell(s->fb.n, s->fb.max);
	*c++ = int_cell(s->power.n);
	*c++ = real_cell(s->power.n, s->power.mean);
	*c = (struct fit_cell){ .u.t = fit_text_of(state_of(s, idle_pct)) };
}

/* ---- jobs and where they ran ---- */

enum { J_ID, J_APP, J_STATUS, J_START, J_END, J_DURATION, J_GPUS, J_HOSTS, J_HOST, J_GPU_IDS, N_JOB };

const struct fit_field fit_series_job_fields[] = {
	[J_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA }, [J_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[J_STATUS] = { "status", FIT_TEXT, FIT_F_OPTIONAL }, [J_START] = { "start_s", FIT_TIME, 0 },
	[J_END] = { "end_s", FIT_TIME, FIT_F_OPTIONAL },
	[J_DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[J_GPUS] = { "gpus", FIT_REAL, FIT_F_OPTIONAL }, [J_HOSTS] = { "hosts", FIT_TEXT, FIT_F_OPTIONAL },
	[J_HOST] = { "host", FIT_TEXT, FIT_F_OPTIONAL },
	[J_GPU_IDS] = { "gpu_ids", FIT_TEXT, FIT_F_OPTIONAL }
};
const size_t fit_series_n_job_fields = N_JOB;

struct job {
	int64_t start, end;	/* end INT64_MAX: it was running when the trace ended */
	bool started, done, whole_host;
	size_t places;		/* GPUs that are named */
	uint64_t last_sample;	/* number of the last sample that was counted */
	struct stats stats;
};

/* A GPU of a host (or, under the key HOST\n*, the whole of it), and who was there. */
struct slot {
	size_t *jobs;		/* by start */
	size_t n, cap, first;	/* those before first are done */
};

/* A GPU that has samples. */
struct gpu {
	char *host, *instance;	/* heap; NULL: NA */
	int64_t number;		/* -1: NA */
	bool has_last;
	int64_t last;		/* time of its last sample */
	struct stats stats;
};

struct summary {
	const struct fit_series_summary_params *params;
	struct fit_series_summary_report *report;
	const struct fit_table *table;	/* of jobs */
	struct job *jobs;
	size_t n_jobs;
	size_t *by_end, closed;		/* jobs by end; so many are done */
	struct fit_index keys;		/* HOST\nGPU -> slot */
	struct slot *slots;
	size_t n_slots, cap_slots;
	struct fit_index gpu_keys;
	struct gpu *gpus;
	size_t n_gpus, cap_gpus;
	struct counts gaps;		/* between samples of a GPU: three digits of ms */
	struct stats all;
	struct fit_str key;
	bool any;
	int64_t newest;
};

static void release_summary(struct summary *s)
{
	for (size_t i = 0; i < s->n_jobs; i++)
		stats_release(&s->jobs[i].stats);
	for (size_t i = 0; i < s->n_slots; i++)
		free(s->slots[i].jobs);
	for (size_t i = 0; i < s->n_gpus; i++) {
		stats_release(&s->gpus[i].stats);
		free(s->gpus[i].host);
		free(s->gpus[i].instance);
	}
	free(s->jobs);
	free(s->by_end);
	free(s->slots);
	free(s->gpus);
	fit_index_release(&s->keys);
	fit_index_release(&s->gpu_keys);
	counts_release(&s->gaps);
	stats_release(&s->all);
	fit_str_release(&s->key);
}

static int make_key(struct summary *s, struct fit_text host, struct fit_text gpu)
{
	int rc;

	fit_str_clear(&s->key);
	rc = fit_str_add(&s->key, host.s ? host.s : "", host.n);
	if (!rc)
		rc = fit_str_add(&s->key, "\n", 1);
	return rc ? rc : fit_str_add(&s->key, gpu.s ? gpu.s : "", gpu.n);
}

static int place_job(struct summary *s, size_t j, struct fit_text host, struct fit_text gpu)
{
	struct slot *slot;
	uint32_t found;
	int rc;

	if (gpu.n > 3 && memcmp(gpu.s, "gpu", 3) == 0)
		gpu = (struct fit_text){ gpu.s + 3, gpu.n - 3 };
	rc = make_key(s, host, gpu);
	if (!rc)
		rc = fit_index_put(&s->keys, (struct fit_text){ s->key.s, s->key.n },
				   (uint32_t)s->n_slots, &found);
	if (!rc && found == FIT_NO_INDEX) {
		rc = fit_grow(&s->slots, &s->cap_slots, s->n_slots + 1, sizeof *s->slots);
		if (rc)
			return rc;
		found = (uint32_t)s->n_slots++;
		s->slots[found] = (struct slot){ 0 };
	}
	if (rc)
		return rc;
	slot = &s->slots[found];
	if (slot->n && slot->jobs[slot->n - 1] == j)
		return FIT_OK;		/* named twice */
	if (fit_grow(&slot->jobs, &slot->cap, slot->n + 1, sizeof *slot->jobs))
		return FIT_ENOMEM;
	slot->jobs[slot->n++] = j;
	s->jobs[j].places++;
	return FIT_OK;
}

/* "0+1" or "0,1" after a host; without any, the whole host. FIT_EPARSE: an empty name. */
static int place_on_host(struct summary *s, size_t j, struct fit_text host, struct fit_text gpus)
{
	size_t from = 0;

	if (!gpus.n) {
		s->jobs[j].whole_host = true;
		return place_job(s, j, host, FIT_TEXT_LIT("*"));
	}
	for (size_t i = 0; i <= gpus.n; i++) {
		int rc;

		if (i < gpus.n && gpus.s[i] != '+' && gpus.s[i] != ',')
			continue;
		if (i == from)
			return FIT_EPARSE;
		rc = place_job(s, j, host, (struct fit_text){ gpus.s + from, i - from });
		if (rc)
			return rc;
		from = i + 1;
	}
	return FIT_OK;
}

/* "host:0+1,host:2" */
static int place_on_hosts(struct summary *s, size_t j, struct fit_text list)
{
	size_t from = 0;

	for (size_t i = 0; i <= list.n; i++) {
		struct fit_text host, gpus = { 0 };
		size_t colon;
		int rc;

		if (i < list.n && list.s[i] != ',')
			continue;
		host = (struct fit_text){ list.s + from, i - from };
		for (colon = host.n; colon && host.s[colon - 1] != ':'; colon--)
			;
		if (!host.n || (colon && colon == host.n))
			return FIT_EPARSE;
		if (colon) {
			gpus = (struct fit_text){ host.s + colon, host.n - colon };
			host.n = colon - 1;
		}
		rc = place_on_host(s, j, host, gpus);
		if (rc)
			return rc;
		from = i + 1;
	}
	return FIT_OK;
}

/* Sorting by a time of the jobs; equal ones in the order of the table. */
struct order {
	int64_t t;
	size_t job;
};

static int compare_orders(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

static int load_job(struct summary *s, size_t j, struct fit_err *err)
{
	const struct fit_column *c = s->table->columns;
	struct fit_text hosts = fit_column_text(&c[J_HOSTS], j), host = fit_column_text(&c[J_HOST], j);
	struct fit_text ids = fit_column_text(&c[J_GPU_IDS], j);
	struct job *job = &s->jobs[j];
	int rc;

	job->start = c[J_START].i[j];
	job->end = c[J_END].i[j];
	if (job->start == FIT_INT_NA || (!hosts.s && !host.s && !ids.s)) {
		s->report->jobs_not_started++;
		return FIT_OK;
	}
	if (job->end == FIT_INT_NA && c[J_DURATION].i[j] != FIT_INT_NA &&
	    __builtin_add_overflow(job->start, c[J_DURATION].i[j], &job->end))
		job->end = INT64_MAX;
	if (job->end == FIT_INT_NA)
		job->end = INT64_MAX;
	if (job->end < job->start)
		return fit_table_fail(s->table, j, FIT_EDATA, "end_s", err, "ends before it starts");
	job->started = true;
	rc = hosts.s ? place_on_hosts(s, j, hosts) : place_on_host(s, j, host, ids);
	if (rc == FIT_EPARSE)
		return fit_table_fail(s->table, j, FIT_EDATA, hosts.s ? "hosts" : "gpu_ids", err,
				      "bad value '%.*s' (expected %s)",
				      FIT_TEXT_ARG(hosts.s ? hosts : ids),
				      hosts.s ? "host:0+1,host:2" : "0+1");
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int load_jobs(struct summary *s, struct fit_err *err)
{
	size_t n = s->table->n_rows;
	struct order *order = calloc(n + 1, sizeof *order);
	size_t placed = 0;
	int rc = FIT_OK;

	s->jobs = calloc(n + 1, sizeof *s->jobs);
	s->by_end = calloc(n + 1, sizeof *s->by_end);
	if (!order || !s->jobs || !s->by_end) {
		free(order);
		return fit_fail_nomem(err);
	}
	s->n_jobs = s->report->jobs = n;
	/* in order of start, so that the jobs of a slot are, too */
	for (size_t j = 0; j < n; j++)
		order[j] = (struct order){ s->table->columns[J_START].i[j], j };
	qsort(order, n, sizeof *order, compare_orders);
	for (size_t k = 0; !rc && k < n; k++) {
		for (int i = J_HOSTS; i <= J_GPU_IDS; i++)
			placed += s->table->columns[i].at[k] != FIT_TEXT_NA;
		rc = load_job(s, order[k].job, err);
	}
	if (!rc && n && !placed)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'hosts', nor 'host' and 'gpu_ids', or nothing "
			      "in them: jobs cannot be found on GPUs", s->table->input);
	for (size_t j = 0; !rc && j < n; j++)
		order[j] = (struct order){ s->jobs[j].started ? s->jobs[j].end : INT64_MIN, j };
	if (!rc)
		qsort(order, n, sizeof *order, compare_orders);
	for (size_t k = 0; !rc && k < n; k++)
		s->by_end[k] = order[k].job;
	free(order);
	return rc;
}

/* ---- samples ---- */

static void close_jobs(struct summary *s, int64_t before)
{
	while (s->closed < s->n_jobs) {
		struct job *job = &s->jobs[s->by_end[s->closed]];

		if (job->started && job->end > before)
			break;
		job->done = true;
		stats_close(&job->stats, s->params->steady_pct);
		s->closed++;
	}
}

/* Count a sample for the jobs of a slot: *n of them so far. */
static int count_in_slot(struct summary *s, uint32_t at, const struct fit_cell *c, struct job **of,
			 size_t *n)
{
	struct slot *slot = &s->slots[at];
	int64_t t = c[TIME].u.i;

	while (slot->first < slot->n && s->jobs[slot->jobs[slot->first]].done)
		slot->first++;
	for (size_t i = slot->first; i < slot->n; i++) {
		struct job *job = &s->jobs[slot->jobs[i]];

		if (job->start > t)
			break;
		if (job->done || t >= job->end || job->last_sample == s->report->samples)
			continue;
		job->last_sample = s->report->samples;
		if (stats_add(&job->stats, c))
			return FIT_ENOMEM;
		if (*n == 1)
			(*of)->stats.shared++;
		if (*n >= 1)
			job->stats.shared++;
		*of = job;
		(*n)++;
	}
	return FIT_OK;
}

static int count_for_jobs(struct summary *s, const struct fit_reader *r, const struct fit_cell *c,
			  struct fit_text gpu, struct fit_err *err)
{
	const struct fit_text names[] = { gpu, FIT_TEXT_LIT("*") };
	struct job *of = NULL;
	size_t n = 0;
	int64_t oldest;

	if (__builtin_sub_overflow(s->newest, s->params->slack_ns, &oldest))
		oldest = INT64_MIN;
	if (s->any && c[TIME].u.i < oldest)
		return fit_reader_fail(r, FIT_EDATA, "time_s", err, "sample out of order, older than the "
				       "newest one by more than --slack (expected rows in order of time)");
	if (!s->any || c[TIME].u.i > s->newest) {
		s->newest = c[TIME].u.i;
		if (!__builtin_sub_overflow(s->newest, s->params->slack_ns, &oldest))
			close_jobs(s, oldest);
	}
	s->any = true;
	for (size_t k = 0; k < 2; k++) {
		uint32_t at;

		if (make_key(s, c[HOST].u.t, names[k]))
			return fit_fail_nomem(err);
		at = fit_index_get(&s->keys, (struct fit_text){ s->key.s, s->key.n });
		if (at != FIT_NO_INDEX && count_in_slot(s, at, c, &of, &n))
			return fit_fail_nomem(err);
	}
	s->report->no_job += n == 0;
	return FIT_OK;
}

/* The gap to the last sample of the GPU, with three digits: e*1000 + digits stand for digits * 10^e ms. */
static int count_gap(struct summary *s, int64_t gap_ns)
{
	int64_t ms = gap_ns / 1000000;
	int32_t e = 0;

	if (gap_ns <= 0)
		return FIT_OK;
	for (; ms >= 1000; ms /= 10)
		e++;
	return counts_add(&s->gaps, e * 1000 + (int32_t)ms);
}

static int64_t median_gap(const struct counts *c)
{
	int64_t ns;

	if (!c->total)
		return 0;
	ns = counts_at(c, (c->total - 1) / 2) % 1000 * INT64_C(1000000);
	for (int32_t e = counts_at(c, (c->total - 1) / 2) / 1000; e > 0; e--)
		ns *= 10;
	return ns;
}

static int find_gpu(struct summary *s, const struct fit_cell *c, struct fit_text gpu, struct gpu **g)
{
	uint32_t found;
	int rc = make_key(s, c[HOST].u.t, gpu);

	if (!rc)
		rc = fit_index_put(&s->gpu_keys, (struct fit_text){ s->key.s, s->key.n },
				   (uint32_t)s->n_gpus, &found);
	if (rc)
		return rc;
	if (found == FIT_NO_INDEX) {
		if (fit_grow(&s->gpus, &s->cap_gpus, s->n_gpus + 1, sizeof *s->gpus))
			return FIT_ENOMEM;
		found = (uint32_t)s->n_gpus++;
		s->gpus[found] = (struct gpu){ .number = c[GPU].na ? -1 : c[GPU].u.i };
		if ((!c[HOST].na && !(s->gpus[found].host = fit_strdup(c[HOST].u.t))) ||
		    (!c[INSTANCE].na && !(s->gpus[found].instance = fit_strdup(c[INSTANCE].u.t))))
			return FIT_ENOMEM;
	}
	*g = &s->gpus[found];
	return FIT_OK;
}

static int count_sample(struct summary *s, const struct fit_reader *r, struct fit_cell *c,
			int64_t offset_ns, struct fit_err *err)
{
	struct fit_str name = { 0 };
	char number[FIT_NUM_MAX];
	struct gpu *g = NULL;
	int rc;

	s->report->samples++;
	for (int k = UTIL; k <= MEM; k++) {
		if (c[k].na || (c[k].u.d >= 0 && c[k].u.d <= 100))
			continue;
		s->report->outside++;
		c[k] = (struct fit_cell){ .na = true };
	}
	for (int k = FB; k <= POWER; k++)
		if (!c[k].na && !isfinite(c[k].u.d))
			c[k] = (struct fit_cell){ .na = true };
	if (c[TIME].na || __builtin_add_overflow(c[TIME].u.i, offset_ns, &c[TIME].u.i)) {
		s->report->without_time++;
		c[TIME].na = true;
	}
	if (!c[GPU].na)
		fit_format_int64(number, c[GPU].u.i);
	rc = fit_str_puts(&name, c[GPU].na ? "" : number);
	if (!rc && !c[INSTANCE].na)
		rc = fit_str_printf(&name, "%s%.*s", c[GPU].na ? "" : "/", FIT_TEXT_ARG(c[INSTANCE].u.t));
	if (!rc)
		rc = find_gpu(s, c, (struct fit_text){ name.s ? name.s : "", name.n }, &g);
	if (!rc && !c[TIME].na) {
		if (g->has_last)
			rc = count_gap(s, c[TIME].u.i - g->last);
		g->has_last = true;
		g->last = c[TIME].u.i;
	}
	if (!rc && s->params->by != FIT_SERIES_BY_JOB)
		rc = stats_add(&g->stats, c);
	if (!rc && s->params->by == FIT_SERIES_BY_ALL)
		rc = stats_add(&s->all, c);
	if (rc)
		rc = fit_fail_nomem(err);
	else if (s->params->by == FIT_SERIES_BY_JOB && !c[TIME].na)
		rc = count_for_jobs(s, r, c, (struct fit_text){ name.s ? name.s : "", name.n }, err);
	fit_str_release(&name);
	return rc;
}

/* ---- the result ---- */

static struct fit_cell text_cell(const char *t)
{
	struct fit_cell c = na_cell;

	if (t)
		c = (struct fit_cell){ .u.t = fit_text_of(t) };
	return c;
}

/* The share of the job's GPU time for which there are samples. */
static struct fit_cell coverage_of(const struct summary *s, const struct job *job, double gpus)
{
	int64_t end = job->end == INT64_MAX ? s->newest : job->end;
	double expected, share;

	if (!job->started || !s->report->period_ns || !(gpus > 0) || end <= job->start)
		return (struct fit_cell){ .na = true };
	expected = gpus * ((double)end - (double)job->start) / (double)s->report->period_ns;
	share = (double)job->stats.samples / expected;
	return (struct fit_cell){ .u.d = share < 1 ? share : 1 };
}

static int write_jobs(struct summary *s, struct fit_table *out)
{
	const struct fit_column *in = s->table->columns;
	struct fit_cell c[8 + N_STATS];

	close_jobs(s, INT64_MAX);
	for (size_t j = 0; j < s->n_jobs; j++) {
		struct job *job = &s->jobs[j];
		struct fit_cell gpus = fit_column_cell(&in[J_GPUS], j);
		double n = job->whole_host ? gpus.na ? 0 : gpus.u.d : (double)job->places;

		stats_close(&job->stats, s->params->steady_pct);
		s->report->jobs_without_samples += job->stats.samples == 0;
		for (int k = J_ID; k <= J_START; k++)
			c[k] = fit_column_cell(&in[k], j);
		c[4] = na_cell;
		if (job->started && job->end != INT64_MAX)
			c[4] = (struct fit_cell){ .u.i = job->end - job->start };
		c[5] = gpus.na ? real_cell(n > 0, n) : gpus;
		c[6] = coverage_of(s, job, n);
		c[7] = int_cell(job->stats.shared);
		fill_stats(&job->stats, s->params->idle_pct, c + 8);
		if (fit_table_add(out, c))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int compare_gpus(const void *pa, const void *pb)
{
	const struct gpu *a = *(const struct gpu *const *)pa, *b = *(const struct gpu *const *)pb;
	int k = fit_text_cmp_natural(fit_text_of(a->host ? a->host : ""),
				     fit_text_of(b->host ? b->host : ""));

	if (!k && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (!k)
		k = fit_text_cmp_natural(fit_text_of(a->instance ? a->instance : ""),
					 fit_text_of(b->instance ? b->instance : ""));
	return k ? k : (a > b) - (a < b);
}

static int write_gpus(struct summary *s, struct fit_table *out)
{
	const struct gpu **order = calloc(s->n_gpus + 1, sizeof *order);
	struct fit_cell c[3 + N_STATS];
	int rc = order ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; !rc && i < s->n_gpus; i++) {
		stats_close(&s->gpus[i].stats, s->params->steady_pct);
		order[i] = &s->gpus[i];
	}
	if (!rc)
		qsort(order, s->n_gpus, sizeof *order, compare_gpus);
	for (size_t i = 0; !rc && i < s->n_gpus; i++) {
		c[0] = text_cell(order[i]->host);
		c[1] = order[i]->number < 0 ? na_cell : int_cell((uint64_t)order[i]->number);
		c[2] = text_cell(order[i]->instance);
		fill_stats(&order[i]->stats, s->params->idle_pct, c + 3);
		rc = fit_table_add(out, c);
	}
	free(order);
	return rc;
}

static int write_all(struct summary *s, struct fit_table *out)
{
	struct fit_cell c[4 + N_STATS];
	uint64_t n[3] = { 0 };

	for (size_t i = 0; i < s->n_gpus; i++) {
		const struct stats *g = &s->gpus[i].stats;

		n[!g->util.n ? 2 : g->util.max <= s->params->idle_pct]++;
	}
	stats_close(&s->all, s->params->steady_pct);
	c[0] = int_cell(s->n_gpus);
	for (int k = 0; k < 3; k++)
		c[1 + k] = int_cell(n[k]);
	fill_stats(&s->all, s->params->idle_pct, c + 4);
	return fit_table_add(out, c);
}

static int write_result(struct summary *s, struct fit_table *out, struct fit_err *err)
{
	int rc;

	s->report->period_ns = s->params->period_ns ? s->params->period_ns : median_gap(&s->gaps);
	switch (s->params->by) {
	case FIT_SERIES_BY_JOB:
		rc = fit_table_init(out, "", job_out, sizeof job_out / sizeof *job_out, err);
		break;
	case FIT_SERIES_BY_GPU:
		rc = fit_table_init(out, "", gpu_out, sizeof gpu_out / sizeof *gpu_out, err);
		break;
	default:
		rc = fit_table_init(out, "", all_out, sizeof all_out / sizeof *all_out, err);
	}
	if (rc)
		return rc;
	rc = s->params->by == FIT_SERIES_BY_JOB ? write_jobs(s, out) :
	     s->params->by == FIT_SERIES_BY_GPU ? write_gpus(s, out) : write_all(s, out);
	if (rc) {
		fit_table_release(out);
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}

int fit_series_summarise(struct fit_reader *series, const struct fit_table *jobs,
			 const struct fit_series_summary_params *params, struct fit_table *out,
			 struct fit_series_summary_report *report, struct fit_err *err)
{
	static const struct fit_field fields[N_FIELDS] = {
		[TIME] = { "time_s", FIT_TIME, 0 }, [HOST] = { "host", FIT_TEXT, FIT_F_OPTIONAL },
		[GPU] = { "gpu", FIT_INT, FIT_F_OPTIONAL },
		[UTIL] = { "gpu_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[MEM] = { "mem_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[FB] = { "fb_used_mib", FIT_REAL, FIT_F_OPTIONAL },
		[POWER] = { "power_w", FIT_REAL, FIT_F_OPTIONAL },
		[INSTANCE] = { "gpu_instance", FIT_TEXT, FIT_F_OPTIONAL }
	};
	struct summary s = { .params = params, .report = report, .table = jobs };
	struct fit_cell cells[N_FIELDS];
	int64_t offset_ns = 0;
	int rc;

	*report = (struct fit_series_summary_report){ 0 };
	*out = (struct fit_table){ 0 };
	rc = fit_reader_begin(series, fields, N_FIELDS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EDATA, "%s: no table", fit_reader_input(series));
	if (!rc && params->by == FIT_SERIES_BY_JOB)
		rc = load_jobs(&s, err);
	if (!rc && params->by == FIT_SERIES_BY_JOB && params->align)
		rc = params->align(params->align_ctx, fit_meta_get(&jobs->meta, "origin"),
				   fit_meta_get(fit_reader_meta(series), "origin"), &offset_ns, err);
	while (!rc && (rc = fit_reader_row(series, cells, err)) == FIT_OK)
		rc = count_sample(&s, series, cells, offset_ns, err);
	if (rc == FIT_END) {
		fit_reader_hash(series, report->hash);
		rc = write_result(&s, out, err);
	}
	release_summary(&s);
	return rc;
}
