/* SPDX-License-Identifier: MIT */
/* gf-lucid features: a row for each job. */

#include "tools/lucid_jobs.h"

#define AT(field) offsetof(struct lucid_feature_options, field)
#define R CLI_RESULT

const struct cli_option lucid_features_options[] = {
	{ 0, "name-distance", CLI_REAL, AT(name_distance), "SHARE", "0.3",
	  "names differ in this share of their letters at most to go together", NULL, 0, 1, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const struct fit_field fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 },
	{ "known_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "app", FIT_TEXT, 0 }, { "name_group", FIT_TEXT, 0 }, { "month", FIT_INT, 0 }, { "day", FIT_INT, 0 },
	{ "weekday", FIT_INT, 0 }, { "hour", FIT_INT, 0 }, { "hour_jobs", FIT_INT, 0 },
	{ "all_jobs", FIT_INT, 0 }, { "all_mean_s", FIT_REAL, 0 }, { "all_recent_s", FIT_REAL, 0 },
	{ "size_jobs", FIT_INT, 0 }, { "size_mean_s", FIT_REAL, 0 }, { "size_recent_s", FIT_REAL, 0 },
	{ "group_size_jobs", FIT_INT, 0 }, { "group_size_mean_s", FIT_REAL, 0 },
	{ "group_size_recent_s", FIT_REAL, 0 },
	{ "user_jobs", FIT_INT, 0 }, { "user_mean_s", FIT_REAL, 0 }, { "user_recent_s", FIT_REAL, 0 },
	{ "user_name_jobs", FIT_INT, 0 }, { "user_name_mean_s", FIT_REAL, 0 },
	{ "user_name_recent_s", FIT_REAL, 0 },
};

static void write_text(struct fit_writer *w, struct fit_text t)
{
	if (t.s)
		fit_writer_text(w, t);
	else
		fit_writer_na(w);
}

static void write_calendar(struct fit_writer *w, int v)
{
	if (v)
		fit_writer_int(w, v);
	else
		fit_writer_na(w);
}

static int write_row(struct fit_writer *w, const struct lucid_jobs *js, size_t i, struct fit_err *err)
{
	const struct fit_history_job *j = &js->jobs[i];
	const struct fit_history_row *r = &js->rows[i];
	struct lucid_calendar c = lucid_jobs_calendar(js, j->submit_ns);

	fit_writer_text(w, j->id);
	fit_writer_time(w, j->submit_ns);
	if (j->duration_ns < 0) {
		fit_writer_na(w);
		fit_writer_na(w);
	} else {
		fit_writer_time(w, j->duration_ns);
		fit_writer_time(w, j->end_ns);
	}
	fit_writer_real(w, j->gpus);
	write_text(w, j->user);
	write_text(w, j->group);
	write_text(w, fit_column_text(&js->t.columns[LJ_APP], i));
	write_text(w, lucid_jobs_name_group(js, i));
	write_calendar(w, c.month);
	write_calendar(w, c.day);
	write_calendar(w, c.weekday);
	fit_writer_int(w, c.hour);
	fit_writer_int(w, r->hour_jobs);
	for (int k = 0; k < FIT_HISTORY_SCOPES; k++) {
		const struct fit_history_past *p = &r->past[k];

		fit_writer_int(w, p->jobs);
		fit_writer_real(w, p->jobs ? p->geometric_s : fit_real_na());
		fit_writer_real(w, p->jobs ? p->recent_s : fit_real_na());
	}
	return fit_writer_end_row(w, err);
}

void lucid_features_defaults(void *given)
{
	*(struct lucid_feature_options *)given = (struct lucid_feature_options){
		.name_distance = 0.3
	};
}

int lucid_features(struct cli *cli, void *given)
{
	const struct lucid_feature_options *o = given;
	struct fit_writer *w = NULL;
	struct lucid_jobs js;
	struct fit_err err;
	int rc = lucid_jobs_read(&js, cli_operand(cli, 0), o->name_distance, &err);

	if (!rc)
		lucid_jobs_warn(cli, &js);
	rc = rc ? rc : cli_table_about(cli, &w, "features", NULL, js.t.hash, fields,
				       sizeof fields / sizeof *fields, &err);
	for (size_t i = 0; i < js.n && !rc; i++)
		rc = write_row(w, &js, i, &err);
	rc = cli_writer_end(w, rc, &err);
	if (!rc)
		cli_note(cli, "%zu jobs, %zu groups of names", js.n, js.names.n);
	lucid_jobs_release(&js);
	return rc ? cli_error(cli, &err) : 0;
}
