/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "libfit/base/num.h"
#include "tools/lucid_estimate_parts.h"

#define PAPER_R2 0.413		/* Lucid, table 7: on a trace that was not released */

static const char *const source_names[] = { "model", "group_size", "size", "all", "none" };

static int begin(const struct cli *cli, const struct estimate *e, struct fit_writer **w, const char *name,
		 const struct fit_field *fields, size_t n, struct fit_err *err)
{
	const char *origin = fit_meta_get(&e->js.t.meta, "origin");
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, true);

	rc = rc ? rc : cli_meta_input(&meta, NULL, e->js.t.hash);
	if (!rc && origin)
		rc = fit_meta_add(&meta, "origin", origin);
	return cli_table_begin(cli, w, name, &meta, rc, fields, n, err);
}

static bool is_na(const struct fit_column *c, size_t i)
{
	return fit_column_cell(c, i).na;
}

int estimate_write_jobs(const struct cli *cli, const struct estimate *e, struct fit_err *err)
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
	return cli_writer_end(w, rc, err);
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
	fit_writer_real_or_na(w, r2);
	fit_writer_real(w, n ? absolute / (double)n : fit_real_na());
	fit_writer_real_or_na(w, log_r2);
	fit_writer_real(w, m == M_MODEL ? PAPER_R2 : fit_real_na());
	return fit_writer_end_row(w, err);
}

int estimate_write_accuracy(const struct cli *cli, const struct estimate *e, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "method", FIT_TEXT, 0 }, { "jobs", FIT_INT, 0 }, { "r2", FIT_REAL, 0 }, { "mae_s", FIT_REAL, 0 },
		{ "log_r2", FIT_REAL, 0 }, { "paper_r2", FIT_REAL, 0 }
	};
	struct fit_writer *w = NULL;
	size_t judged = 0;
	int rc;

	for (size_t i = 0; i < e->js.n; i++)
		judged += e->source[i] == FROM_MODEL && e->js.jobs[i].duration_ns >= 0;
	if (!judged)
		return fit_fail(err, FIT_EDATA, "no job with a duration was predicted by a model (--least, --update)");
	rc = begin(cli, e, &w, "accuracy", fields, 6, err);
	for (int m = 0; m < METHODS && !rc; m++)
		rc = write_method(w, e, (enum method)m, err);
	return cli_writer_end(w, rc, err);
}

int estimate_write_model(const struct cli *cli, const struct estimate *e, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	char text[FIT_NUM_MAX];
	int rc;

	if (!e->n_models)
		return fit_fail(err, FIT_EDATA, "no model: too few jobs had ended by the last window (--least, --update)");
	rc = cli_meta(cli, &meta, true);
	rc = rc ? rc : cli_meta_input(&meta, NULL, e->js.t.hash);
	fit_format_double(text, e->factor);
	rc = rc ? rc : fit_meta_add(&meta, "factor", text);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_ga2m_write(&e->model, &meta, w, err);
	fit_meta_release(&meta);
	return cli_writer_close(w, rc, err);
}
