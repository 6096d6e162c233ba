/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/fairness.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/summary.h"

/* ---- times alone ---- */

enum { I_JOB, I_GPUS, I_JCT, I_TYPE, N_FIELDS };
static const struct fit_field fields[N_FIELDS] = {
	{ "job_id", FIT_TEXT, FIT_F_NOT_NA }, { "gpus", FIT_REAL, FIT_F_NOT_NA }, { "jct_s", FIT_TIME, 0 },
	{ "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
};

struct known {
	size_t row;		/* of the table: its texts are the key */
	double gpus, time_s;
};

struct fit_isolated {
	struct fit_table table;
	struct known *known;	/* by job, type (none first), GPUs */
	size_t n;
};

struct key {
	struct fit_text job, type;	/* type.s NULL: every type */
};

static struct key key_of(const struct fit_isolated *t, size_t row)
{
	return (struct key){ fit_column_text(&t->table.columns[I_JOB], row),
			     fit_column_text(&t->table.columns[I_TYPE], row) };
}

static int compare_keys(struct key a, struct key b)
{
	int c = fit_text_cmp(a.job, b.job);

	if (c)
		return c;
	if (!a.type.s || !b.type.s)
		return (a.type.s != NULL) - (b.type.s != NULL);
	return fit_text_cmp(a.type, b.type);
}

/* Sorted without the help of globals: qsort() has no argument for the table. */
struct sorted {
	struct key key;
	struct known known;
};

static int compare_sorted(const void *pa, const void *pb)
{
	const struct sorted *a = pa, *b = pb;
	int c = compare_keys(a->key, b->key);

	if (c)
		return c;
	if (a->known.gpus < b->known.gpus || a->known.gpus > b->known.gpus)
		return a->known.gpus < b->known.gpus ? -1 : 1;
	return (a->known.row > b->known.row) - (a->known.row < b->known.row);
}

static int take_row(const struct fit_isolated *t, size_t row, struct sorted *to, bool *taken,
		    struct fit_err *err)
{
	double gpus = t->table.columns[I_GPUS].d[row];
	int64_t ns = t->table.columns[I_JCT].i[row];

	*taken = ns != FIT_INT_NA;
	if (!(gpus > 0 && gpus <= 1e9))
		return fit_table_fail(&t->table, row, FIT_EDATA, "gpus", err, "bad number of GPUs '%.17g' "
				      "(expected more than 0)", gpus);
	if (*taken && ns <= 0)
		return fit_table_fail(&t->table, row, FIT_EDATA, "jct_s", err, "bad time '%.17g' (expected more than 0)",
				      fit_time_to_double(ns));
	*to = (struct sorted){ key_of(t, row), { row, gpus, fit_time_to_double(ns) } };
	return FIT_OK;
}

static int sort_rows(struct fit_isolated *t, struct fit_err *err)
{
	struct sorted *s = malloc((t->table.n_rows + 1) * sizeof *s);
	int rc = FIT_OK;

	t->known = malloc((t->table.n_rows + 1) * sizeof *t->known);
	if (!s || !t->known) {
		free(s);
		return fit_fail_nomem(err);
	}
	for (size_t row = 0; row < t->table.n_rows && !rc; row++) {
		bool taken;

		rc = take_row(t, row, &s[t->n], &taken, err);
		t->n += taken;
	}
	if (!rc && t->n)
		qsort(s, t->n, sizeof *s, compare_sorted);
	for (size_t i = 0; i < t->n && !rc; i++) {
		t->known[i] = s[i].known;
		if (i && compare_keys(s[i - 1].key, s[i].key) == 0 && !(s[i - 1].known.gpus < s[i].known.gpus))
			rc = fit_table_fail(&t->table, s[i].known.row, FIT_EDATA, "job_id", err,
					    "a second time of '%.*s' alone on %.17g GPUs", FIT_TEXT_ARG(s[i].key.job),
					    s[i].known.gpus);
	}
	free(s);
	return rc;
}

int fit_isolated_read(struct fit_isolated **out, const char *operand, struct fit_err *err)
{
	struct fit_isolated *t = calloc(1, sizeof *t);
	int rc;

	*out = NULL;
	if (!t)
		return fit_fail_nomem(err);
	rc = fit_table_read(&t->table, operand, fields, N_FIELDS, err);
	if (rc) {
		free(t);
		return rc;
	}
	rc = sort_rows(t, err);
	if (rc)
		fit_isolated_free(t);
	else
		*out = t;
	return rc;
}

void fit_isolated_free(struct fit_isolated *t)
{
	if (!t)
		return;
	fit_table_release(&t->table);
	free(t->known);
	free(t);
}

const char *fit_isolated_hash(const struct fit_isolated *t)
{
	return t->table.hash;
}

/* The first row that does not come before the key. */
static size_t first_of(const struct fit_isolated *t, struct key key)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_keys(key_of(t, t->known[mid].row), key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double time_of_key(const struct fit_isolated *t, struct key key, double v)
{
	size_t i = first_of(t, key), n = 0;
	const struct known *k = t->known + i;

	while (i + n < t->n && compare_keys(key_of(t, k[n].row), key) == 0)
		n++;
	if (n == 0)
		return fit_real_na();
	if (v <= k[0].gpus)
		return k[0].time_s * (k[0].gpus / v);
	for (i = 1; i < n; i++)
		if (v <= k[i].gpus)
			return k[i - 1].time_s + (k[i].time_s - k[i - 1].time_s) *
						 ((v - k[i - 1].gpus) / (k[i].gpus - k[i - 1].gpus));
	return k[n - 1].time_s;
}

double fit_isolated_time(const struct fit_isolated *t, struct fit_text job, struct fit_text type, double v)
{
	double s = type.s ? time_of_key(t, (struct key){ job, type }, v) : fit_real_na();

	return fit_real_is_na(s) ? time_of_key(t, (struct key){ job, { NULL, 0 } }, v) : s;
}

/* ---- the cluster ---- */

/* One part of the text, "NAME:NODESxGPUS" or without a name. */
static int add_part(struct fit_cluster_types *c, struct fit_text part)
{
	struct fit_text name = { NULL, 0 };
	int64_t ugpus;
	size_t i;

	for (i = 0; i < part.n && part.s[i] != ':'; i++)
		;
	if (i < part.n) {
		name = (struct fit_text){ part.s, i };
		part = (struct fit_text){ part.s + i + 1, part.n - i - 1 };
	}
	if (fit_event_parse_cluster(part, &ugpus))
		return FIT_EPARSE;
	for (i = 0; i < c->n && !fit_text_eq(c->parts[i].name, name); i++)
		;
	if (i == c->n)
		c->parts[c->n++] = (struct fit_cluster_part){ name, 0 };
	c->parts[i].gpus += (double)ugpus / (double)FIT_UGPU;
	c->gpus += (double)ugpus / (double)FIT_UGPU;
	return FIT_OK;
}

int fit_cluster_types_parse(struct fit_cluster_types *c, struct fit_text spec, struct fit_err *err)
{
	size_t parts = 1;

	*c = (struct fit_cluster_types){ 0 };
	for (size_t i = 0; i < spec.n; i++)
		parts += spec.s[i] == ',';
	c->parts = malloc(parts * sizeof *c->parts);
	if (!c->parts)
		return fit_fail_nomem(err);
	for (size_t at = 0, end; at <= spec.n; at = end + 1) {
		for (end = at; end < spec.n && spec.s[end] != ','; end++)
			;
		if (add_part(c, (struct fit_text){ spec.s + at, end - at })) {
			fit_cluster_types_release(c);
			return fit_fail(err, FIT_EDATA, "unknown cluster '%.*s' (expected nodes x GPUs, as 16x4 or "
					"aws:6x4,rtx:3x8)", FIT_TEXT_ARG(spec));
		}
	}
	return FIT_OK;
}

void fit_cluster_types_release(struct fit_cluster_types *c)
{
	free(c->parts);
	*c = (struct fit_cluster_types){ 0 };
}

/* ---- how many jobs there are ---- */

/*
 * The life of job j is [from_j, to_j): numbers of rounds, or nanoseconds. Summed over the jobs, what lies
 * below x is C(x) = sum of (x - from_j) over from_j < x, less sum of (x - to_j) over to_j < x: two sorted
 * arrays with sums. The mean over [a, b) is (C(b) - C(a)) / (b - a), in integers up to the division.
 */
struct ends {
	int64_t *at;		/* ascending */
	fit_i128 *sums;		/* of the first i */
	size_t n;
};

static int compare_int(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static fit_i128 below(const struct ends *e, int64_t x)
{
	size_t lo = 0, hi = e->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->at[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (fit_i128)x * (fit_i128)lo - e->sums[lo];
}

static void sum_up(struct ends *e)
{
	if (e->n)
		qsort(e->at, e->n, sizeof *e->at, compare_int);
	e->sums[0] = 0;
	for (size_t i = 0; i < e->n; i++)
		e->sums[i + 1] = e->sums[i] + e->at[i];
}

struct crowd {
	struct ends from, to;
	int64_t interval_ns;
};

/* The first multiple of the interval that is not before t, as a number of rounds. */
static int64_t round_of(const struct crowd *c, int64_t t)
{
	return c->interval_ns ? t / c->interval_ns + (t % c->interval_ns > 0) : t;
}

static void life_of(const struct crowd *c, const struct fit_metrics *m, const struct fit_job_result *j,
		    int64_t *from, int64_t *to)
{
	*from = round_of(c, j->submit_ns);
	*to = round_of(c, j->end_ns == FIT_INT_NA ? m->clock_ns : j->end_ns);
	if (*to <= *from)
		*to = *from + 1;
}

static void crowd_release(struct crowd *c)
{
	free(c->from.at);
	free(c->from.sums);
	free(c->to.at);
	free(c->to.sums);
}

static int crowd_init(struct crowd *c, const struct fit_metrics *m, int64_t interval_ns, struct fit_err *err)
{
	size_t n = m->n_jobs + 1;

	*c = (struct crowd){
		.from = { malloc(n * sizeof(int64_t)), malloc(n * sizeof(fit_i128)), 0 },
		.to = { malloc(n * sizeof(int64_t)), malloc(n * sizeof(fit_i128)), 0 }, .interval_ns = interval_ns,
	};
	if (!c->from.at || !c->from.sums || !c->to.at || !c->to.sums) {
		crowd_release(c);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < m->n_jobs; i++)
		if (m->jobs[i].state != FIT_JOB_REJECTED)
			life_of(c, m, &m->jobs[i], &c->from.at[c->from.n++], &c->to.at[c->to.n++]);
	sum_up(&c->from);
	sum_up(&c->to);
	return FIT_OK;
}

static double jobs_mean(const struct crowd *c, const struct fit_metrics *m, const struct fit_job_result *j)
{
	int64_t from, to;
	fit_i128 sum;

	life_of(c, m, j, &from, &to);
	sum = below(&c->from, to) - below(&c->to, to) - below(&c->from, from) + below(&c->to, from);
	return (double)sum / (double)(to - from);
}

/* ---- rho ---- */

static void compare_with_share(struct fit_fair_job *f, double jct_s, struct fit_text job,
			       const struct fit_cluster_types *cluster, const struct fit_isolated *alone,
			       enum fit_type_mean mean)
{
	double weight = 0, sum = 0;

	for (size_t t = 0; t < cluster->n; t++) {
		double s = fit_isolated_time(alone, job, cluster->parts[t].name, f->share_gpus);

		if (fit_real_is_na(s))
			continue;	/* it cannot run there: the type has no part in the mean */
		weight += cluster->parts[t].gpus;
		sum += cluster->parts[t].gpus * (mean == FIT_MEAN_TIMES ? s : jct_s / s);
	}
	if (!(weight > 0))
		return;
	f->rho = mean == FIT_MEAN_TIMES ? jct_s / (sum / weight) : sum / weight;
	f->isolated_s = mean == FIT_MEAN_TIMES ? sum / weight : jct_s / f->rho;
}

int fit_fairness(const struct fit_metrics *m, int64_t interval_ns, const struct fit_cluster_types *cluster,
		 const struct fit_isolated *alone, enum fit_type_mean mean, struct fit_fair_job **jobs,
		 struct fit_err *err)
{
	struct fit_fair_job *f = malloc((m->n_jobs + 1) * sizeof *f);
	struct crowd crowd;
	double na = fit_real_na();
	int rc;

	*jobs = NULL;
	if (!f)
		return fit_fail_nomem(err);
	rc = crowd_init(&crowd, m, interval_ns, err);
	if (rc) {
		free(f);
		return rc;
	}
	for (size_t i = 0; i < m->n_jobs; i++) {
		const struct fit_job_result *j = &m->jobs[i];

		f[i] = (struct fit_fair_job){ na, na, na, na };
		if (j->state != FIT_JOB_FINISHED)
			continue;
		f[i].jobs_mean = jobs_mean(&crowd, m, j);
		f[i].share_gpus = cluster->gpus / f[i].jobs_mean;
		if (alone && f[i].share_gpus > 0)
			compare_with_share(&f[i], fit_time_to_double(j->end_ns - j->submit_ns), fit_metrics_job_id(m, j),
					   cluster, alone, mean);
	}
	crowd_release(&crowd);
	*jobs = f;
	return FIT_OK;
}

static int compare_real(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

int fit_fairness_summarise(const struct fit_fair_job *jobs, size_t n, struct fit_fair_summary *s,
			   struct fit_err *err)
{
	double *v = malloc((n + 1) * sizeof *v), sum = 0;
	size_t unfair = 0;

	*s = (struct fit_fair_summary){ 0 };
	if (!v)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		if (!fit_real_is_na(jobs[i].rho)) {
			v[s->n++] = jobs[i].rho;
			sum += jobs[i].rho;
			unfair += jobs[i].rho > 1;
		}
	qsort(v, s->n, sizeof *v, compare_real);
	s->unfair = s->n ? (double)unfair / (double)s->n : fit_real_na();
	s->mean = s->n ? sum / (double)s->n : fit_real_na();
	s->min = fit_percentile(v, s->n, 0);
	s->median = fit_percentile(v, s->n, 50);
	s->p90 = fit_percentile(v, s->n, 90);
	s->p95 = fit_percentile(v, s->n, 95);
	s->p99 = fit_percentile(v, s->n, 99);
	s->max = fit_percentile(v, s->n, 100);
	free(v);
	return FIT_OK;
}
