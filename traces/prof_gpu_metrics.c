/* SPDX-License-Identifier: MIT */
/* Samples of GPU metrics in the SQLite export of Nsight Systems (docs/formats/nsight.md): table GPU_METRICS,
 * whose metrics TARGET_INFO_GPU_METRICS names; the low byte of typeId is the number of the device. */
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/prof_nsight.h"
#include "traces/prof_text.h"

#define GPUS 256

enum { ACTIVE, READ, WRITE, KINDS };

/* The mean of one bin, by device and metric. */
struct metrics {
	struct fit_series_out *out;
	int64_t bin_ns, origin_ns, at;		/* at: start of the bin at hand */
	bool begun;
	struct { double sum[KINDS]; uint64_t n[KINDS]; } gpus[GPUS];
};

static int flush(struct metrics *m, struct fit_err *err)
{
	for (int g = 0; m->begun && g < GPUS; g++) {
		const double *sum = m->gpus[g].sum;
		const uint64_t *n = m->gpus[g].n;
		struct fit_cell cells[FIT_SERIES_COLUMNS];
		const char *derived = NULL;
		int rc;

		if (!n[ACTIVE] && !n[READ] && !n[WRITE])
			continue;
		for (int i = 0; i < FIT_SERIES_COLUMNS; i++)
			cells[i] = (struct fit_cell){ .na = true };
		cells[FIT_SERIES_TIME].na = false;
		if (__builtin_add_overflow(m->at, m->origin_ns, &cells[FIT_SERIES_TIME].u.i))
			return fit_fail(err, FIT_EDATA, "time out of range");
		cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = g };
		if (n[ACTIVE]) {
			cells[FIT_SERIES_UTIL] = (struct fit_cell){ .u.d = sum[ACTIVE] / (double)n[ACTIVE] };
			derived = "gpu_util_pct";
		}
		if (n[READ] && n[WRITE]) {
			cells[FIT_SERIES_MEM] = (struct fit_cell){
				.u.d = sum[READ] / (double)n[READ] + sum[WRITE] / (double)n[WRITE] };
			derived = derived ? "gpu_util_pct,mem_util_pct" : "mem_util_pct";
		}
		if (derived)
			cells[FIT_SERIES_DERIVED] = (struct fit_cell){ .u.t = fit_text_of(derived) };
		rc = fit_series_sample(m->out, cells, 0, err);
		if (rc)
			return rc;
	}
	memset(m->gpus, 0, sizeof m->gpus);
	return FIT_OK;
}

/* Samples come in order of time. */
static int add(struct metrics *m, int gpu, int kind, int64_t t, double value, struct fit_err *err)
{
	int64_t at, past = t % m->bin_ns;

	if (past < 0)
		past += m->bin_ns;
	if (__builtin_sub_overflow(t, past, &at))
		return fit_fail(err, FIT_EDATA, "time out of range");
	if (!m->begun || at != m->at) {
		int rc = flush(m, err);

		if (rc)
			return rc;
		m->at = at;
		m->begun = true;
	}
	m->gpus[gpu].sum[kind] += value;
	m->gpus[gpu].n[kind]++;
	return FIT_OK;
}

/* SQL for the kind of a metric: by the start of its name, if it is a percentage. */
#define KIND "CASE WHEN n.metricName LIKE 'GR Active%' OR n.metricName LIKE 'GPU Active%' THEN 0 " \
	"WHEN n.metricName LIKE 'DRAM Read%' THEN 1 WHEN n.metricName LIKE 'DRAM Write%' THEN 2 END"
#define FROM " FROM GPU_METRICS AS m JOIN (SELECT DISTINCT typeId, metricId, metricName FROM " \
	"TARGET_INFO_GPU_METRICS) AS n ON m.typeId = n.typeId AND m.metricId = n.metricId " \
	"WHERE instr(n.metricName, '%') AND " KIND " IS NOT NULL"

static int flow(struct fit_nsight *x, struct metrics *m, struct fit_err *err)
{
	sqlite3_stmt *q = NULL;
	uint64_t negative = 0;
	int step = SQLITE_ROW, rc = FIT_OK;

	if (sqlite3_prepare_v2(x->db, "SELECT m.timestamp, m.typeId & 255, " KIND ", m.value, m.rowid" FROM
			       " ORDER BY m.timestamp, m.typeId & 255, m.metricId, m.rowid", -1, &q, NULL))
		return fit_nsight_fail(x, err);
	while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW) {
		uint64_t row = (uint64_t)sqlite3_column_int64(q, 4);
		int type = sqlite3_column_type(q, 3);

		fit_series_met(m->out);
		if (sqlite3_column_type(q, 0) == SQLITE_INTEGER &&
		    (type == SQLITE_INTEGER || type == SQLITE_FLOAT)) {
			double v = sqlite3_column_double(q, 3);

			/* what the sampler writes where it has nothing */
			if (v < 0 && ++negative)
				continue;
			rc = add(m, sqlite3_column_int(q, 1), sqlite3_column_int(q, 2),
				 sqlite3_column_int64(q, 0), v, err);
			if (rc)
				(void)fit_fail_prefix(err, rc, "%s", x->name);
			continue;
		}
		rc = fit_fail(err, FIT_EDATA, "%s:%llu:GPU_METRICS: sample without timestamp or value", x->name,
			      (unsigned long long)row);
		rc = fit_series_bad(m->out, rc, row, "bad sample");
	}
	if (!rc && step != SQLITE_DONE)
		rc = fit_nsight_fail(x, err);
	sqlite3_finalize(q);
	if (!rc && (rc = flush(m, err)) != FIT_OK)
		(void)fit_fail_prefix(err, rc, "%s", x->name);
	if (!rc && negative && fit_series_note(m->out, "%llu samples below 0 count for nothing",
					       (unsigned long long)negative))
		rc = fit_fail_nomem(err);
	return rc;
}

int fit_series_read_gpu_metrics(const struct fit_series_in *in, struct fit_series_out *out,
				struct fit_err *err)
{
	struct fit_nsight x = { .name = fit_source_name(in->source) };
	struct metrics m = { .out = out, .bin_ns = fit_series_params_of(out)->bin_ns };
	int64_t tables = 0;
	bool calendar = false;
	int rc = fit_nsight_open(&x, in, err);

	if (!rc)
		rc = fit_nsight_tables(&x, "'GPU_METRICS', 'TARGET_INFO_GPU_METRICS'", &tables, err);
	if (!rc && tables < 2)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no tables GPU_METRICS and TARGET_INFO_GPU_METRICS (expected "
			      "a profile with --gpu-metrics-devices; --from nsight reads kernels)", x.name);
	if (!rc)
		rc = fit_nsight_start(&x, &m.origin_ns, &calendar, err);
	if (!rc) {
		if (calendar)
			fit_series_calendar(out, true, 0);
		else
			m.origin_ns = 0;
		rc = flow(&x, &m, err);
	}
	fit_nsight_close(&x);
	return rc;
}
