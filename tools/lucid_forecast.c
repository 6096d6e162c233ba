/* SPDX-License-Identifier: MIT */
#include "tools/lucid_forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_train.h"
#include "tools/lucid_jobs.h"

#define AT(field) offsetof(struct lucid_forecast_options, field)
#define R CLI_RESULT

const struct cli_option lucid_forecast_options[] = {
	{ 0, "from", CLI_TIME, AT(from_ns), "SECONDS", NULL,
	  "forecast the bins from then on, by those before", NULL, 0, 3.2e9, CLI_REQUIRED | R },
	{ 0, "loss", CLI_CHOICE, AT(loss), "NAME", "squared",
	  "what is made small: squared error, or that of the logarithm", lucid_forecast_losses, 0, 0, R },
	{ 0, "bags", CLI_INT, AT(bags), "N", "4", "models that are averaged", NULL, 1, 1000, R },
	{ 0, "write", CLI_CHOICE, AT(output), "WHAT", "forecast", "what is written",
	  lucid_forecast_outputs, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

enum { LOSS_SQUARED, LOSS_LOG };
enum { OUT_FORECAST, OUT_ACCURACY };
const char *const lucid_forecast_losses[] = { "squared", "log", NULL };
const char *const lucid_forecast_outputs[] = { "forecast", "accuracy", NULL };

#define HOUR_NS (3600 * FIT_NS_PER_S)
#define WEEK_DAYS 7

/* Features: the calendar, and of either series what was known an hour before the bin. */
enum { X_MONTH, X_DAY, X_WEEKDAY, X_HOUR, X_MINUTE, X_PAST, PAST = 12, X_N = X_PAST + 2 * PAST };
static const char *const past_names[PAST] = { "lag_1h", "lag_3h", "lag_1d", "about_1h", "about_3h",
					      "about_1d", "mean", "median", "deviation", "day_mean", "same_time", "lag_7d" };

struct series {
	const struct lucid_forecast_options *o;
	struct lucid_jobs calendar;	/* its table is the series */
	const int64_t *time_ns;
	const double *x[2];		/* jobs, GPUs */
	double *forecast[2];
	size_t n, hour, first;		/* bins; of an hour; the first that is forecast */
};

static int ascending(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static double median(double *a, size_t n)
{
	qsort(a, n, sizeof *a, ascending);
	return n ? (a[(n - 1) / 2] + a[n / 2]) / 2 : 0;
}

/* 0 where the series does not reach back so far, as in the published model. */
static double lag(const double *x, size_t i, size_t k)
{
	return i >= k ? x[i - k] : 0;
}

/* Nothing later than bin i - hour is looked at. */
static void past_of(const struct series *s, const double *x, size_t i, double f[PAST])
{
	const size_t h = s->hour, back[3] = { h, 3 * h, 24 * h };
	double w[64] = { 0 }, days[WEEK_DAYS] = { 0 }, sum = 0, squares = 0;
	size_t n = h < 64 ? h : 64, n_days = 0;

	memset(f, 0, PAST * sizeof *f);
	for (int k = 0; k < 3; k++) {
		f[k] = lag(x, i, back[k]);
		f[3 + k] = 0.25 * lag(x, i, back[k]) + 0.5 * lag(x, i, back[k] + 1) +
			   0.25 * lag(x, i, back[k] + 2);
	}
	for (size_t k = 0; k < n; k++) {
		w[k] = lag(x, i, h + k);
		sum += w[k];
		squares += w[k] * w[k];
	}
	f[6] = sum / (double)n;
	f[8] = n > 1 ? sqrt(fmax(0, squares - sum * f[6]) / (double)(n - 1)) : 0;
	f[7] = median(w, n);
	sum = 0;
	for (size_t k = 0; k < 24 * h; k++)
		sum += lag(x, i, h + k);
	f[9] = sum / (double)(24 * h);
	for (size_t d = 1; d <= WEEK_DAYS && i >= 24 * h * d; d++)
		days[n_days++] = x[i - 24 * h * d];
	f[10] = median(days, n_days);
	f[11] = lag(x, i, 24 * h * WEEK_DAYS);
}

static void features(const struct series *s, size_t i, double f[X_N])
{
	struct lucid_calendar c = lucid_jobs_calendar(&s->calendar, s->time_ns[i]);

	f[X_MONTH] = c.month ? c.month : (double)NAN;
	f[X_DAY] = c.day ? c.day : (double)NAN;
	f[X_WEEKDAY] = c.weekday ? c.weekday : (double)NAN;
	f[X_HOUR] = c.hour;
	f[X_MINUTE] = (double)(s->time_ns[i] % HOUR_NS / (60 * FIT_NS_PER_S));
	for (int k = 0; k < 2; k++)
		past_of(s, s->x[k], i, f + X_PAST + k * PAST);
}

static int name_features(struct fit_str name[X_N], const char *names[X_N])
{
	static const char *const plain[X_PAST] = { "month", "day", "weekday", "hour", "minute" };
	int rc = FIT_OK;

	for (int k = 0; k < X_N && !rc; k++) {
		rc = k < X_PAST ? fit_str_puts(&name[k], plain[k]) :
		     fit_str_printf(&name[k], "%s_%s", k < X_PAST + PAST ? "jobs" : "gpus",
				    past_names[(k - X_PAST) % PAST]);
		names[k] = name[k].s;
	}
	return rc;
}

/* One series: a model of the bins before the first that is forecast, and what it says of the others. */
static int forecast(const struct cli *cli, struct series *s, int which, struct fit_err *err)
{
	struct fit_ga2m_params p = fit_ga2m_params_default(FIT_GA2M_SQUARED);
	struct fit_ga2m_data d = { 0 };
	struct fit_str name[X_N] = { { 0 } };
	const char *names[X_N];
	struct fit_ga2m m = { 0 };
	double f[X_N];
	int rc = name_features(name, names);

	rc = rc ? rc : fit_ga2m_data_init(&d, names, NULL, X_N);
	d.time = rc ? NULL : malloc(s->first * sizeof *d.time);
	rc = rc || d.time ? rc : FIT_ENOMEM;
	for (size_t i = 0; i < s->first && !rc; i++) {
		features(s, i, f);
		d.time[i] = (double)i;
		rc = fit_ga2m_data_add(&d, f, NULL, s->o->loss == LOSS_LOG ? log1p(s->x[which][i]) :
				       s->x[which][i]);
	}
	if (rc)
		rc = fit_fail_nomem(err);
	p.bags = (size_t)s->o->bags;
	p.pairs = 0;
	p.learning_rate = 0.1;
	p.seed = cli->seed;
	p.threads = cli->threads;
	rc = rc ? rc : fit_ga2m_train(&m, &d, &p, NULL, err);
	for (size_t i = s->first; i < s->n && !rc; i++) {
		double y;

		features(s, i, f);
		fit_ga2m_score(&m, f, &y);
		y = s->o->loss == LOSS_LOG ? expm1(y) : y;
		s->forecast[which][i] = y > 0 ? y : 0;
	}
	fit_ga2m_release(&m);
	fit_ga2m_data_release(&d);
	for (int k = 0; k < X_N; k++)
		fit_str_release(&name[k]);
	return rc;
}

/* ---- input ---- */

static int check(struct series *s, struct fit_err *err)
{
	const struct fit_table *t = &s->calendar.t;
	int64_t bin = s->n > 1 ? s->time_ns[1] - s->time_ns[0] : 0;

	if (bin <= 0 || HOUR_NS % bin)
		return fit_fail(err, FIT_EDATA, "%s: no bins that fill an hour (expected two rows and more, of 10 "
				"minutes for instance)", t->input);
	s->hour = (size_t)(HOUR_NS / bin);
	for (size_t i = 0; i < s->n; i++) {
		if (i && s->time_ns[i] - s->time_ns[i - 1] != bin)
			return fit_table_fail(t, i, FIT_EDATA, "time_s", err, "not one bin after the row before "
					      "(expected bins of %g s without gaps)", fit_time_to_double(bin));
		for (int k = 0; k < 2; k++)
			if (!(s->x[k][i] >= 0) || !isfinite(s->x[k][i]))
				return fit_table_fail(t, i, FIT_EDATA, k ? "gpus" : "jobs", err,
						      "bad number %g (expected 0 or more)", s->x[k][i]);
		s->first += s->time_ns[i] < s->o->from_ns;
	}
	if (s->first < 24 * s->hour || s->first == s->n)
		return fit_fail(err, FIT_EDATA, "%s: %zu of %zu bins are before --from (expected a day at least, and "
				"bins to forecast)", t->input, s->first, s->n);
	return FIT_OK;
}

static int read_series(struct series *s, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "time_s", FIT_TIME, FIT_F_NOT_NA },
						   { "jobs", FIT_REAL, FIT_F_NOT_NA },
						   { "gpus", FIT_REAL, FIT_F_NOT_NA } };
	struct fit_table *t = &s->calendar.t;
	int rc = fit_table_read(t, operand, fields, 3, err);

	if (rc)
		return rc;
	s->n = t->n_rows;
	s->time_ns = t->columns[0].i;
	s->x[0] = t->columns[1].d;
	s->x[1] = t->columns[2].d;
	s->calendar.origin_day = lucid_jobs_origin(&t->meta);
	rc = check(s, err);
	for (int k = 0; k < 2 && !rc; k++) {
		s->forecast[k] = calloc(s->n, sizeof *s->forecast[k]);
		rc = s->forecast[k] ? FIT_OK : fit_fail_nomem(err);
	}
	return rc;
}

/* ---- output ---- */

static void write_forecast(struct fit_writer *w, const struct series *s, struct fit_err *err, int *rc)
{
	for (size_t i = s->first; i < s->n && !*rc; i++) {
		fit_writer_time(w, s->time_ns[i]);
		for (int k = 0; k < 2; k++)
			fit_writer_real(w, s->forecast[k][i]);
		for (int k = 0; k < 2; k++)
			fit_writer_real(w, s->x[k][i]);
		*rc = fit_writer_end_row(w, err);
	}
}

enum { M_MODEL, M_HOUR, M_MEAN, M_MEDIAN, METHODS };

static void write_accuracy(struct fit_writer *w, const struct series *s, struct fit_err *err, int *rc)
{
	static const char *const methods[METHODS] = { "model", "an hour before", "mean of before",
						      "median of before" };
	double *before = malloc(s->first * sizeof *before);

	if (!before)
		*rc = fit_fail_nomem(err);
	for (int q = 0; q < 2 * METHODS && !*rc; q++) {
		const double *x = s->x[q / METHODS];
		double sum = 0, squares = 0, error = 0, absolute = 0, mean = 0, spread;
		double n = (double)(s->n - s->first);

		memcpy(before, x, s->first * sizeof *before);
		for (size_t i = 0; i < s->first; i++)
			mean += x[i] / (double)s->first;
		for (size_t i = s->first; i < s->n; i++) {
			double say = q % METHODS == M_MODEL ? s->forecast[q / METHODS][i] :
				     q % METHODS == M_HOUR ? lag(x, i, s->hour) : mean;

			if (q % METHODS == M_MEDIAN)
				say = i == s->first ? (mean = median(before, s->first)) : mean;
			sum += x[i];
			squares += x[i] * x[i];
			error += (x[i] - say) * (x[i] - say);
			absolute += fabs(x[i] - say);
		}
		spread = squares - sum * sum / n;
		fit_writer_str(w, q / METHODS ? "gpus" : "jobs");
		fit_writer_str(w, methods[q % METHODS]);
		fit_writer_int(w, (int64_t)(s->n - s->first));
		fit_writer_real(w, absolute / n);
		fit_writer_real(w, sqrt(error / n));
		fit_writer_real(w, spread > 0 ? 1 - error / spread : fit_real_na());
		*rc = fit_writer_end_row(w, err);
	}
	free(before);
}

static int write(const struct cli *cli, const struct series *s, struct fit_err *err)
{
	static const struct fit_field forecast_fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "jobs", FIT_REAL, 0 }, { "gpus", FIT_REAL, 0 },
		{ "true_jobs", FIT_REAL, 0 }, { "true_gpus", FIT_REAL, 0 }
	};
	static const struct fit_field accuracy_fields[] = {
		{ "series", FIT_TEXT, 0 }, { "method", FIT_TEXT, 0 }, { "bins", FIT_INT, 0 }, { "mae", FIT_REAL, 0 },
		{ "rmse", FIT_REAL, 0 }, { "r2", FIT_REAL, 0 }
	};
	bool accuracy = s->o->output == OUT_ACCURACY;
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	int rc = cli_meta(cli, &meta, true);

	rc = rc ? rc : cli_meta_input(&meta, NULL, s->calendar.t.hash);
	rc = cli_table_begin(cli, &w, accuracy ? "accuracy" : "forecast", &meta, rc,
			     accuracy ? accuracy_fields : forecast_fields, accuracy ? 6 : 5, err);
	if (!rc && accuracy)
		write_accuracy(w, s, err, &rc);
	else if (!rc)
		write_forecast(w, s, err, &rc);
	return cli_writer_end(w, rc, err);
}

void lucid_forecast_defaults(void *given)
{
	*(struct lucid_forecast_options *)given = (struct lucid_forecast_options){
		.bags = 4
	};
}

int lucid_forecast(struct cli *cli, void *given)
{
	const struct lucid_forecast_options *o = given;
	struct series s = { .o = o };
	struct fit_err err;
	int rc = read_series(&s, cli_operand(cli, 0), &err);

	for (int k = 0; k < 2 && !rc; k++)
		rc = forecast(cli, &s, k, &err);
	rc = rc ? rc : write(cli, &s, &err);
	if (!rc)
		cli_note(cli, "%zu bins forecast, by %zu before them", s.n - s.first, s.first);
	free(s.forecast[0]);
	free(s.forecast[1]);
	fit_table_release(&s.calendar.t);
	return rc ? cli_error(cli, &err) : 0;
}
