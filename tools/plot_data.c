/* SPDX-License-Identifier: MIT */
#include "tools/plot_data.h"

#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/summary.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "traces/csv.h"

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* The log's policy; with its file when an earlier log has the same one. */
static int default_label(struct fit_str *out, const struct fit_reader *r, const struct fit_str *labels,
			 int i)
{
	const char *policy = fit_meta_get(fit_reader_meta(r), "policy");
	const char *file = base_name(fit_reader_input(r));

	if (!policy || !*policy)
		return fit_str_puts(out, file);
	for (int k = 0; k < i; k++)
		if (strcmp(labels[k].s, policy) == 0)
			return fit_str_printf(out, "%s (%s)", policy, file);
	return fit_str_puts(out, policy);
}

int plot_read_jcts(struct cli *cli, const struct cli_list *given, int i, struct fit_str *labels,
		     double **jct_s, size_t *n, struct fit_err *err)
{
	struct fit_metrics m = { 0 };
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, cli_operand(cli, i), err);

	if (!rc)
		rc = fit_metrics_read_sums(&m, r, NULL, NULL, err);
	if (!rc && ((size_t)i < given->n ? fit_str_puts(&labels[i], given->items[i]) :
		    default_label(&labels[i], r, labels, i)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_reader_only(r, err);
	if (!rc)
		rc = fit_metrics_jcts(&m, jct_s, n, err);
	if (!rc && *n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no finished job", fit_reader_input(r));
	else if (!rc && m.n_submitted > *n)
		cli_warn(cli, "%s: %zu of %zu jobs left out (%zu unfinished, %zu rejected)",
			 fit_reader_input(r), m.n_submitted - *n, m.n_submitted, m.n_submitted - *n - m.n_rejected,
			 m.n_rejected);
	fit_reader_close(r);
	fit_metrics_release(&m);
	return rc;
}

/* The operand's values for a distribution. */
int plot_read_values(struct cli *cli, enum fit_trace_of of, const struct cli_list *given, int i,
		     struct fit_str *labels, double **values, size_t *n, struct fit_err *err)
{
	struct fit_reader *r = NULL;
	size_t missing = 0;
	int rc = fit_reader_open(&r, cli_operand(cli, i), err);

	if (!rc)
		rc = fit_trace_values(r, of, values, n, &missing, err);
	rc = rc ? rc : fit_reader_only(r, err);
	if (!rc && fit_str_puts(&labels[i], (size_t)i < given->n ? given->items[i] :
				base_name(fit_reader_input(r))))
		rc = fit_fail_nomem(err);
	if (!rc && *n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no job with a value", fit_reader_input(r));
	else if (!rc && missing)
		cli_warn(cli, "%s: %zu of %zu jobs left out (the value is missing)", fit_reader_input(r),
			 missing, *n + missing + (of == FIT_OF_INTERARRIVAL));
	fit_reader_close(r);
	return rc;
}

int plot_read_day(struct cli *cli, const struct cli_list *given, int i, struct fit_str *label,
		    struct fit_figure_day *day, struct fit_err *err)
{
	struct fit_trace_stats_params p = { 0 };
	struct fit_trace_stats *ts = NULL;
	struct fit_jobs_reader jr;
	struct fit_job_row job;
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, cli_operand(cli, i), err);

	rc = rc ? rc : fit_jobs_begin(&jr, r, NULL, 0, err);
	if (!rc) {
		p.day_offset_ns = jr.day_offset_ns;
		ts = fit_trace_stats_new(&p);
		rc = ts ? FIT_OK : fit_fail_nomem(err);
	}
	while (!rc && !(rc = fit_jobs_next(&jr, &job, NULL, err)))
		rc = fit_trace_stats_add(ts, &job, NULL, err);
	if (rc == FIT_END) {
		double jobs, missing;

		fit_trace_stats_finish(ts);
		jobs = fit_trace_stats_value(ts, "jobs");
		missing = fit_trace_stats_value(ts, "submit_missing");
		rc = jobs > missing ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no job with a submission",
							fit_reader_input(r));
		if (!rc && missing > 0)
			cli_warn(cli, "%s: %.0f of %.0f jobs left out (the value is missing)",
				 fit_reader_input(r), missing, jobs);
	}
	for (int h = 0; h < 24 && !rc; h++) {
		struct fit_trace_hour hour = fit_trace_stats_hour(ts, h);

		day->y[h] = hour.hours ? (double)hour.jobs / (double)hour.hours : fit_real_na();
	}
	if (!rc && fit_str_puts(label, (size_t)i < given->n ? given->items[i] :
				base_name(fit_reader_input(r))))
		rc = fit_fail_nomem(err);
	day->label = label->s ? label->s : "";
	fit_trace_stats_free(ts);
	fit_reader_close(r);
	return rc;
}

static int read_csv(struct fit_frame *f, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[FIT_FRAME_FIELDS_MAX];
	struct fit_source *s = NULL;
	struct fit_csv *c = NULL;
	struct fit_err why = { 0 };
	const char *field = NULL;
	int rc = fit_source_open(&s, operand, err);

	rc = rc ? rc : fit_csv_open(&c, s, NULL, err);
	rc = rc ? rc : fit_csv_bind(c, f->fields, f->n_fields, err);
	while (!rc) {
		rc = fit_csv_row(c, cells, err);
		if (rc)
			break;
		rc = fit_frame_row(f, cells, &field, &why);
		if (rc)
			rc = fit_csv_fail(c, rc, field, err, "%s", why.msg);
	}
	if (rc == FIT_END)
		rc = f->n_rows ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", fit_source_name(s));
	fit_csv_close(c);
	fit_source_close(s);
	return rc;
}

static int read_table(struct fit_frame *f, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[FIT_FRAME_FIELDS_MAX];
	struct fit_reader *r = NULL;
	struct fit_err why = { 0 };
	const char *field = NULL;
	int rc = fit_reader_open(&r, operand, err);

	rc = rc ? rc : fit_reader_begin(r, f->fields, f->n_fields, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		if (rc)
			break;
		rc = fit_frame_row(f, cells, &field, &why);
		if (rc)
			rc = fit_reader_fail(r, rc, field, err, "%s", why.msg);
	}
	if (rc == FIT_END)
		rc = f->n_rows ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", fit_reader_input(r));
	fit_reader_close(r);
	return rc;
}

int plot_read_frame(struct fit_frame *f, const char *operand, bool csv, struct fit_err *err)
{
	return csv ? read_csv(f, operand, err) : read_table(f, operand, err);
}

int plot_watch(void *arg, const struct fit_metrics *m, struct fit_err *err)
{
	struct plot_moments *list = arg;
	struct fit_figure_moment now = { m->clock_ns, (double)m->capacity_ugpus / (double)FIT_UGPU,
					 (double)m->held_ugpus / (double)FIT_UGPU,
					 (double)m->n_running, (double)m->n_waiting };

	/* what holds after the last event of an instant is what the figure shows */
	if (!list->n || list->at[list->n - 1].time_ns != now.time_ns)
		list->n++;
	if (fit_grow(&list->at, &list->cap, list->n, sizeof *list->at))
		return fit_fail_nomem(err);
	list->at[list->n - 1] = now;
	return FIT_OK;
}
