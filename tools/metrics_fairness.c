/* SPDX-License-Identifier: MIT */
/* Finish-time fairness, as gf-metrics says it. */
#include "tools/metrics_fairness.h"

#include <stdlib.h>

#include "libfit/base/num.h"
#include "tools/metrics_use.h"

int metrics_fairness_init(struct metrics_fairness *f, bool shares, const char *isolated, struct fit_err *err)
{
	*f = (struct metrics_fairness){ .wanted = shares || isolated };
	return isolated ? fit_isolated_read(&f->alone, isolated, err) : FIT_OK;
}

void metrics_fairness_release(struct metrics_fairness *f)
{
	fit_isolated_free(f->alone);
	free(f->jobs);
	*f = (struct metrics_fairness){ 0 };
}

/* The interval of the rounds; 0 where the log has none. */
static int read_interval(const struct fit_reader *log, int64_t *ns, struct fit_err *err)
{
	const char *s = fit_meta_get(fit_reader_meta(log), "interval_s");

	*ns = 0;
	if (s && (fit_parse_time(fit_text_of(s), ns) || *ns < 0))
		return fit_fail(err, FIT_EDATA, "%s: bad metadata interval_s '%s' (expected seconds)",
				fit_reader_input(log), s);
	return FIT_OK;
}

static int read_cluster(const struct fit_reader *log, struct fit_cluster_types *c, struct fit_err *err)
{
	const char *spec = fit_meta_get(fit_reader_meta(log), "cluster");
	int rc;

	if (!spec)
		return fit_fail(err, FIT_EDATA, "%s: no metadata cluster (expected where equal shares are asked for)",
				fit_reader_input(log));
	if (fit_meta_get(fit_reader_meta(log), "autoscale"))
		return fit_fail(err, FIT_EDATA, "%s: a cluster that changes size has no equal shares (metadata autoscale)",
				fit_reader_input(log));
	rc = fit_cluster_types_parse(c, fit_text_of(spec), err);
	return rc == FIT_EDATA ? fit_fail_prefix(err, rc, "%s", fit_reader_input(log)) : rc;
}

int metrics_fairness_compute(struct metrics_fairness *f, const struct fit_metrics *m,
			     const struct fit_reader *log, enum fit_type_mean mean, struct fit_err *err)
{
	struct fit_cluster_types cluster = { 0 };
	int64_t interval_ns = 0;
	int rc;

	if (!f->wanted)
		return FIT_OK;
	rc = read_interval(log, &interval_ns, err);
	if (!rc)
		rc = read_cluster(log, &cluster, err);
	if (!rc)
		rc = fit_fairness(m, interval_ns, &cluster, f->alone, mean, &f->jobs, err);
	fit_cluster_types_release(&cluster);
	f->n = rc ? 0 : m->n_jobs;
	for (size_t i = 0; i < f->n; i++)
		f->n_unknown += f->alone && m->jobs[i].state == FIT_JOB_FINISHED && fit_real_is_na(f->jobs[i].rho);
	return rc;
}

size_t metrics_fairness_fields(const struct metrics_fairness *f, struct fit_field *fields)
{
	static const struct fit_field all[METRICS_FAIRNESS_COLUMNS] = {
		{ "jobs_mean", FIT_REAL, 0 }, { "share_gpus", FIT_REAL, 0 },
		{ "isolated_jct_s", FIT_REAL, 0 }, { "rho", FIT_REAL, 0 },
	};
	size_t n = !f->wanted ? 0 : f->alone ? METRICS_FAIRNESS_COLUMNS : 2;

	for (size_t i = 0; i < n; i++)
		fields[i] = all[i];
	return n;
}

void metrics_fairness_cells(const struct metrics_fairness *f, size_t i, struct fit_writer *w)
{
	if (!f->wanted)
		return;
	fit_writer_real(w, f->jobs[i].jobs_mean);
	fit_writer_real(w, f->jobs[i].share_gpus);
	if (!f->alone)
		return;
	fit_writer_real(w, f->jobs[i].isolated_s);
	fit_writer_real(w, f->jobs[i].rho);
}

int metrics_fairness_report(const struct metrics_fairness *f, struct fit_writer *w, struct fit_err *err)
{
	struct fit_fair_summary s;
	int rc;

	if (!f->alone)
		return FIT_OK;
	rc = fit_fairness_summarise(f->jobs, f->n, &s, err);
	if (rc)
		return rc;
	const struct fit_metric_row rows[] = {
		{ "rho_jobs", "jobs", (double)s.n }, { "rho_unfair", "1", s.unfair }, { "rho_mean", "1", s.mean },
		{ "rho_min", "1", s.min }, { "rho_median", "1", s.median }, { "rho_p90", "1", s.p90 },
		{ "rho_p95", "1", s.p95 }, { "rho_p99", "1", s.p99 }, { "rho_max", "1", s.max },
	};

	return metrics_put_rows(w, rows, sizeof rows / sizeof *rows, err);
}
