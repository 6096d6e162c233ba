/* SPDX-License-Identifier: MIT */
/* Figures from event logs and jobs tables. */
#include <stdlib.h>
#include <string.h>

#include "libfit/metrics/metrics.h"
#include "tools/plot_data.h"
#include "tools/plot_draw.h"

static const char *const quantity_labels[] = { "duration", "GPUs", "GPU-hours",
					       "time between submissions" };

/* jct-cdf and trace-cdf */
int plot_draw_cdf(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
{
	bool logs = strcmp(cli->verb->name, "jct-cdf") == 0;
	bool times = o->of == FIT_OF_DURATION || o->of == FIT_OF_INTERARRIVAL;
	int n = cli->n_operands ? cli->n_operands : 1, rc = FIT_OK;
	struct fit_figure_sample *samples = calloc((size_t)n, sizeof *samples);
	struct fit_str *labels = calloc((size_t)n, sizeof *labels);
	double **values = calloc((size_t)n, sizeof *values);

	if (!samples || !labels || !values)
		rc = fit_fail_nomem(err);
	for (int i = 0; i < n && !rc; i++) {
		rc = logs ? plot_read_jcts(cli, &o->label, i, labels, &values[i], &samples[i].n, err) :
		     plot_read_values(cli, (enum fit_trace_of)o->of, &o->label, i, labels, &values[i],
				      &samples[i].n, err);
		samples[i].label = labels[i].s ? labels[i].s : "";
		samples[i].sorted_s = values[i];
	}
	if (!rc && logs)
		rc = fit_figure_cdf(p, o->wanted, "job completion time", samples, (size_t)n, o->log_x, err);
	else if (!rc)
		rc = fit_figure_distribution(p, o->wanted, quantity_labels[o->of], times, samples, (size_t)n,
					     o->log_x, err);
	if (!rc && !logs && o->of == FIT_OF_INTERARRIVAL &&
	    fit_plot_text(&p->panels[0].y.label, "fraction of submissions"))
		rc = fit_fail_nomem(err);
	for (int i = 0; i < n && labels && values; i++) {
		fit_str_release(&labels[i]);
		free(values[i]);
	}
	free(samples);
	free(labels);
	free(values);
	return rc;
}

int plot_draw_diurnal(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
{
	int n = cli->n_operands ? cli->n_operands : 1, rc = FIT_OK;
	struct fit_figure_day *days = calloc((size_t)n, sizeof *days);
	struct fit_str *labels = calloc((size_t)n, sizeof *labels);

	if (!days || !labels)
		rc = fit_fail_nomem(err);
	for (int i = 0; i < n && !rc; i++)
		rc = plot_read_day(cli, &o->label, i, &labels[i], &days[i], err);
	if (!rc)
		rc = fit_figure_diurnal(p, o->wanted, "submissions an hour (mean)", days, (size_t)n, err);
	for (int i = 0; i < n && labels; i++)
		fit_str_release(&labels[i]);
	free(labels);
	free(days);
	return rc;
}

int plot_draw_timeline(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
{
	struct plot_moments list = { 0 };
	struct fit_metrics m = { 0 };
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, cli_operand(cli, 0), err);

	if (!rc)
		rc = fit_metrics_read_sums(&m, r, plot_watch, &list, err);
	rc = rc ? rc : fit_reader_only(r, err);
	if (!rc && !list.n)
		rc = fit_fail(err, FIT_EDATA, "%s: no events", fit_reader_input(r));
	if (!rc)
		rc = fit_figure_timeline(p, o->wanted, list.at, list.n, err);
	fit_reader_close(r);
	fit_metrics_release(&m);
	free(list.at);
	return rc;
}
