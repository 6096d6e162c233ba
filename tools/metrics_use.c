/* SPDX-License-Identifier: MIT */
#include "tools/metrics_use.h"

int metrics_put_rows(struct fit_writer *w, const struct fit_metric_row *rows, size_t n, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		fit_writer_str(w, rows[i].name);
		fit_writer_real(w, rows[i].value);
		fit_writer_str(w, rows[i].unit);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

/* Efficiency, as further rows of the report: work is in GPU-seconds on the least widths. */
int metrics_use_report(struct fit_writer *w, const struct fit_metrics *m, const struct fit_efficiency *f,
			    struct fit_err *err)
{
	double work = fit_efficiency_work(f), busy = fit_gpu_seconds(m->busy), held = fit_gpu_seconds(m->held),
	       rented = fit_gpu_seconds(m->rented);
	const struct fit_metric_row rows[] = {
		{ "normalised_work_gpu_s", "gpu s", work },
		{ "normalised_work_of_finished_gpu_s", "gpu s", fit_efficiency_work_of_finished(f) },
		{ "efficiency_busy", "1", busy > 0 ? work / busy : fit_real_na() },
		{ "efficiency_held", "1", held > 0 ? work / held : fit_real_na() },
		{ "efficiency_rented", "1", rented > 0 ? work / rented : fit_real_na() },
	};

	return metrics_put_rows(w, rows, sizeof rows / sizeof *rows, err);
}

int metrics_use_series(struct fit_writer *w, const struct fit_efficiency *f, const struct fit_meta *meta,
			struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "rented_gpus", FIT_REAL, 0 }, { "held_gpus", FIT_REAL, 0 },
		{ "busy_gpus", FIT_REAL, 0 }, { "normalised_gpus", FIT_REAL, 0 }, { "efficiency", FIT_REAL, 0 },
	};
	int rc = fit_writer_begin(w, NULL, meta, fields, sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < fit_efficiency_n_steps(f) && !rc; i++) {
		struct fit_usage u = fit_efficiency_step(f, i);

		fit_writer_time(w, u.from_ns);
		fit_writer_real(w, u.rented);
		fit_writer_real(w, u.held);
		fit_writer_real(w, u.busy);
		fit_writer_real(w, u.work);
		fit_writer_real(w, fit_real_is_na(u.work) || !(u.rented > 0) ? fit_real_na() : u.work / u.rented);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

/* One more row of the report. */
int metrics_use_cost(struct fit_writer *w, const struct fit_rent_cost *c, const struct fit_metrics *m,
		      int64_t window_ns, struct fit_err *err)
{
	const struct fit_metric_row row = { "rented_cost_per_h", "money/h", fit_rent_cost_per_h(c, m, window_ns) };

	return metrics_put_rows(w, &row, 1, err);
}
