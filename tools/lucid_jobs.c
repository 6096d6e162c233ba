/* SPDX-License-Identifier: MIT */
#include "tools/lucid_jobs.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"

#define DAY_NS (86400 * FIT_NS_PER_S)
#define MAX_TIME_NS (INT64_C(3153600000) * FIT_NS_PER_S)	/* 100 years, as in a replay */

const struct fit_field lucid_job_fields[LJ_COLUMNS] = {
	[LJ_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[LJ_USER] = { "user", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_GROUP] = { "group", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_NAME] = { "name", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_DATASET] = { "dataset", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[LJ_AMP] = { "amp", FIT_INT, FIT_F_OPTIONAL },
	[LJ_SUBMIT] = { "submit_s", FIT_TIME, FIT_F_NOT_NA },
	[LJ_START] = { "start_s", FIT_TIME, FIT_F_OPTIONAL },
	[LJ_END] = { "end_s", FIT_TIME, FIT_F_OPTIONAL },
	[LJ_DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[LJ_GPUS] = { "gpus", FIT_REAL, FIT_F_NOT_NA },
	[LJ_GPU_TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	[LJ_STATUS] = { "status", FIT_TEXT, FIT_F_OPTIONAL },
};

/* Days from 1970-01-01 of a day of the Gregorian calendar: years begin in March, eras have 400 of them. */
static int64_t day_number(int64_t y, int64_t m, int64_t d)
{
	int64_t in_era, era;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	in_era = y - era * 400;
	return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 +
	       (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1 - 719468;
}

static void date_of(int64_t day, struct lucid_calendar *c)
{
	int64_t z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097, e = z - era * 146097;
	int64_t y = (e - e / 1460 + e / 36524 - e / 146096) / 365, in_year = e - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * in_year + 2) / 153;

	c->day = (int)(in_year - (153 * m + 2) / 5 + 1);
	c->month = (int)(m < 10 ? m + 3 : m - 9);
	c->weekday = (int)(((day + 3) % 7 + 7) % 7) + 1;	/* 1970-01-01 was a Thursday */
}

/* The day of the metadata `origin`, a midnight. */
int64_t lucid_jobs_origin(const struct fit_meta *m)
{
	const char *s = fit_meta_get(m, "origin");
	int64_t y, mo, d;

	if (!s || fit_text_of(s).n < 10 || s[4] != '-' || s[7] != '-' ||
	    fit_parse_int64((struct fit_text){ s, 4 }, &y) || fit_parse_int64((struct fit_text){ s + 5, 2 }, &mo) ||
	    fit_parse_int64((struct fit_text){ s + 8, 2 }, &d) || mo < 1 || mo > 12 || d < 1 || d > 31)
		return INT64_MIN;
	return day_number(y, mo, d);
}

struct lucid_calendar lucid_jobs_calendar(const struct lucid_jobs *js, int64_t submit_ns)
{
	struct lucid_calendar c = { .hour = (int)(submit_ns % DAY_NS / (3600 * FIT_NS_PER_S)) };

	if (js->origin_day != INT64_MIN)
		date_of(js->origin_day + submit_ns / DAY_NS, &c);
	return c;
}

struct fit_text lucid_jobs_name_group(const struct lucid_jobs *js, size_t i)
{
	uint32_t g = js->rows[i].name_group;

	return g == FIT_NO_INDEX ? (struct fit_text){ NULL, 0 } : fit_name_clusters_text(&js->names, g);
}

static int take_job(struct lucid_jobs *js, size_t i, struct fit_err *err)
{
	const struct fit_column *c = js->t.columns;
	struct fit_history_job *j = &js->jobs[i];
	int64_t duration = c[LJ_DURATION].i[i], start = c[LJ_START].i[i], end = c[LJ_END].i[i];
	double g = c[LJ_GPUS].d[i];

	j->id = fit_column_text(&c[LJ_ID], i);
	j->user = fit_column_text(&c[LJ_USER], i);
	j->group = fit_column_text(&c[LJ_GROUP], i);
	j->name = fit_column_text(&c[LJ_NAME], i);
	j->submit_ns = c[LJ_SUBMIT].i[i];
	j->gpus = g;
	if (j->submit_ns < 0 || j->submit_ns > MAX_TIME_NS)
		return fit_table_fail(&js->t, i, FIT_EDATA, "submit_s", err,
				      "out of range (expected 0 to 100 years from the trace origin)");
	if (!isfinite(g) || g < 0)
		return fit_table_fail(&js->t, i, FIT_EDATA, "gpus", err,
				      "bad number of GPUs %g (expected 0 or more)", g);
	j->duration_ns = -1;
	j->end_ns = INT64_MAX;
	if (duration == FIT_INT_NA)
		return FIT_OK;
	if (duration < 0 || duration > MAX_TIME_NS)
		return fit_table_fail(&js->t, i, FIT_EDATA, "duration_s", err,
				      "out of range (expected 0 to 100 years)");
	if (start != FIT_INT_NA && (start < j->submit_ns || start > 2 * MAX_TIME_NS))
		return fit_table_fail(&js->t, i, FIT_EDATA, "start_s", err,
				      "out of range (expected submit_s or later)");
	if (end != FIT_INT_NA && end < j->submit_ns)
		return fit_table_fail(&js->t, i, FIT_EDATA, "end_s", err,
				      "before submit_s (expected submit_s or later)");
	j->duration_ns = duration;
	/* without a start there is no queue to be seen: the earliest end that there can be */
	j->end_ns = end != FIT_INT_NA ? end : (start != FIT_INT_NA ? start : j->submit_ns) + duration;
	return FIT_OK;
}

static int check_ids(const struct lucid_jobs *js, struct fit_err *err)
{
	struct fit_index ids = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < js->n && !rc; i++) {
		uint64_t first = js->t.first_line ? js->t.first_line : 1;
		uint32_t before;

		if (fit_index_put(&ids, js->jobs[i].id, (uint32_t)i, &before))
			rc = fit_fail_nomem(err);
		else if (before != FIT_NO_INDEX)
			rc = fit_table_fail(&js->t, i, FIT_EDATA, "job_id", err,
					    "duplicate id '%.*s' (first on line %llu)", FIT_TEXT_ARG(js->jobs[i].id),
					    (unsigned long long)(first + before));
	}
	fit_index_release(&ids);
	return rc;
}

int lucid_jobs_read(struct lucid_jobs *js, const char *operand, double name_distance, struct fit_err *err)
{
	int rc;

	*js = (struct lucid_jobs){ 0 };
	fit_name_clusters_init(&js->names, name_distance);
	rc = fit_table_read(&js->t, operand, lucid_job_fields, LJ_COLUMNS, err);
	if (rc)
		return rc;
	js->n = js->t.n_rows;
	js->origin_day = lucid_jobs_origin(&js->t.meta);
	js->jobs = calloc(js->n + 1, sizeof *js->jobs);
	js->rows = calloc(js->n + 1, sizeof *js->rows);
	if (!js->jobs || !js->rows)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < js->n && !rc; i++)
		rc = take_job(js, i, err);
	rc = rc ? rc : check_ids(js, err);
	return rc ? rc : fit_history(js->jobs, js->n, &js->names, js->rows, err);
}

void lucid_jobs_warn(const struct cli *cli, const struct lucid_jobs *js)
{
	size_t known = 0;

	for (size_t i = 0; i < js->n; i++)
		known += js->jobs[i].duration_ns >= 0;
	if (!js->n)
		cli_warn(cli, "%s: no jobs", js->t.input);
	else if (!known)
		cli_warn(cli, "%s: no job has a duration (duration_s), so nothing is known of earlier ones",
			 js->t.input);
}

void lucid_jobs_release(struct lucid_jobs *js)
{
	free(js->jobs);
	free(js->rows);
	fit_name_clusters_release(&js->names);
	fit_table_release(&js->t);
	*js = (struct lucid_jobs){ 0 };
}
