/* SPDX-License-Identifier: MIT */
/*
 * gf-plot: figures as SVG, PNG or PDF through gnuplot. jct-cdf and timeline draw event logs, trace-cdf
 * and diurnal draw jobs tables, bars, lines and panels columns of any table. Labels are plain text.
 * With -o the gnuplot script and its data stay beside the picture. A further figure is one more entry
 * of verbs[] and one function.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/trace_stats.h"
#include "libfit/plot/figure.h"
#include "libfit/plot/frame.h"
#include "libfit/plot/gnuplot.h"
#include "libfit/plot/points.h"
#include "libfit/table/table.h"
#include "tools/common/cli.h"
#include "tools/plot_data.h"
#include "tools/plot_shape.h"

struct options {
	int format;			/* enum fit_plot_format, or N_FORMATS: by suffix */
	int of;				/* enum fit_trace_of */
	const char *title, *xlabel, *ylabel, *size;
	struct fit_figure_size wanted;
	bool log_x, log_y, csv;
	struct cli_list label, y, error;
	const char *x;
	struct fit_points_columns points;
	int64_t columns;
	const char *class;		/* shape, heatmap: of several classes */
};

enum { N_FORMATS = FIT_PLOT_PDF + 1 };
static const char *const formats[] = { "svg", "png", "pdf", NULL };
static const char *const quantities[] = { "duration", "gpus", "gpu-hours", "interarrival", NULL };
static const char *const quantity_labels[] = { "duration", "GPUs", "GPU-hours",
					       "time between submissions" };

#define O(field) offsetof(struct options, field)
#define COMMON \
	{ 0, "format", CLI_CHOICE, O(format), "NAME", "by the suffix of -o, else svg", \
	  "kind of picture", formats, 0, 0, 0 }, \
	{ 0, "title", CLI_TEXT, O(title), "TEXT", NULL, "title above the figure", NULL, 0, 0, 0 }, \
	{ 0, "xlabel", CLI_TEXT, O(xlabel), "TEXT", NULL, "text at the x axis", NULL, 0, 0, 0 }, \
	{ 0, "ylabel", CLI_TEXT, O(ylabel), "TEXT", NULL, "text at the y axis", NULL, 0, 0, 0 }, \
	{ 0, "size", CLI_TEXT, O(size), "WxH", NULL, "width and height at 96 pixels an inch", NULL, 0, 0, 0 }
#define END { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define LOG_X { 0, "log-x", CLI_FLAG, O(log_x), NULL, NULL, "logarithmic x axis", NULL, 0, 0, 0 }
#define LOG_Y { 0, "log-y", CLI_FLAG, O(log_y), NULL, NULL, "logarithmic y axis", NULL, 0, 0, 0 }
#define LABELS(of) { 0, "label", CLI_LIST, O(label), "TEXT", of, \
	"legend text of each operand, in order", NULL, 0, 0, 0 }
#define COLUMNS \
	{ 0, "x", CLI_TEXT, O(x), "COLUMN", NULL, "column along the x axis", NULL, 0, 0, CLI_REQUIRED }, \
	{ 0, "y", CLI_LIST, O(y), "COLUMN", NULL, "column of values; may be given several times", \
	  NULL, 0, 0, CLI_REQUIRED }, \
	{ 0, "label", CLI_LIST, O(label), "TEXT", "names of the columns", "legend text of each --y", \
	  NULL, 0, 0, 0 }, \
	{ 0, "csv", CLI_FLAG, O(csv), NULL, NULL, "the operand is CSV with a header row, not a table", \
	  NULL, 0, 0, 0 }

static const struct cli_option cdf_options[] = {
	LABELS("policy of the log, or file name"), LOG_X, COMMON, END
};
static const struct cli_option trace_cdf_options[] = {
	{ 0, "of", CLI_CHOICE, O(of), "WHAT", "duration", "what is distributed", quantities, 0, 0, 0 },
	LABELS("file names"), LOG_X, COMMON, END
};
static const struct cli_option diurnal_options[] = { LABELS("file names"), COMMON, END };
static const struct cli_option timeline_options[] = { COMMON, END };
static const struct cli_option bars_options[] = {
	COLUMNS,
	{ 0, "error", CLI_LIST, O(error), "COLUMN", NULL, "column of error bars (half lengths) of each --y",
	  NULL, 0, 0, 0 },
	LOG_Y, COMMON, END
};
#define POINTS(name, field, metavar, flags, help) \
	{ 0, name, CLI_TEXT, O(points.field), metavar, NULL, help, NULL, 0, 0, flags }
static const struct cli_option lines_options[] = {
	COLUMNS, POINTS("by", series, "COLUMN", 0, "one line a value of this column, of one --y"),
	LOG_X, LOG_Y, COMMON, END
};

static const struct cli_option panels_options[] = {
	POINTS("x", x, "COLUMN", CLI_REQUIRED, "column along the x axis"),
	POINTS("y", y, "COLUMN", CLI_REQUIRED, "column of values"),
	POINTS("by", series, "COLUMN", 0, "one series a value of this column"),
	POINTS("panel", panel, "COLUMN", 0, "one panel a value of this column"),
	POINTS("error", error, "COLUMN", 0, "column of error bars (half lengths)"),
	POINTS("look", look, "COLUMN", 0, "series with one value share their colour and mark"),
	POINTS("style", style, "COLUMN", 0, "column that says how a series is drawn"),
	{ 0, "columns", CLI_INT, O(columns), "N", "at most 3", "panels side by side", NULL, 1, 12, 0 },
	LOG_X, LOG_Y, COMMON, END
};

static const struct cli_option shape_options[] = {
	{ 0, "class", CLI_TEXT, O(class), "NAME", NULL, "of a model of several classes: this one", NULL, 0, 0, 0 },
	COMMON, END
};

/* ---- figures from event logs and jobs tables ---- */

/* jct-cdf and trace-cdf */
static int draw_cdf(struct cli *cli, const struct options *o, struct fit_plot *p, struct fit_err *err)
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

static int draw_diurnal(struct cli *cli, const struct options *o, struct fit_plot *p, struct fit_err *err)
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

static int draw_timeline(struct cli *cli, const struct options *o, struct fit_plot *p,
			 struct fit_err *err)
{
	struct plot_moments list = { 0 };
	struct fit_metrics m = { 0 };
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, cli_operand(cli, 0), err);

	if (!rc)
		rc = fit_metrics_read(&m, r, plot_watch, &list, err);
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

/* ---- figures from tables ---- */

/* The unit that other figures have for such a time, of the x column time_s; else name is NULL. */
static struct fit_time_unit x_unit(const struct options *o, const char *x, double max)
{
	if (strcmp(x, "time_s") != 0 || o->log_x || o->xlabel)
		return (struct fit_time_unit){ NULL, 1 };
	return fit_time_unit_for(max);
}

static const char *x_label(const char *x, struct fit_time_unit unit, char label[32])
{
	if (!unit.name)
		return x;
	snprintf(label, 32, "time (%s)", unit.name);
	return label;
}

static const char *scale_frame(const struct options *o, struct fit_frame *f, char label[32])
{
	double *x = fit_frame_x(f), max = 0;
	struct fit_time_unit unit;

	for (size_t i = 0; x && i < f->n_rows; i++)
		max = isfinite(x[i]) ? fmax(max, fabs(x[i])) : max;
	unit = x_unit(o, o->x, max);
	for (size_t i = 0; x && i < f->n_rows; i++)
		x[i] = isfinite(x[i]) ? x[i] / unit.seconds : x[i];
	return x ? x_label(o->x, unit, label) : o->x;
}

static const char *scale_points(const struct options *o, struct fit_points *p, char label[32])
{
	struct fit_time_unit unit;
	double max = 0;

	for (size_t i = 0; i < p->n; i++)
		max = fmax(max, fabs(p->points[i].x));
	unit = x_unit(o, o->points.x, max);
	for (size_t i = 0; i < p->n; i++)
		p->points[i].x /= unit.seconds;
	return x_label(o->points.x, unit, label);
}

static int draw_columns(struct cli *cli, const struct options *o, struct fit_plot *p, struct fit_err *err)
{
	bool bars = strcmp(cli->verb->name, "bars") == 0;
	const char *x_name = o->x;
	struct fit_figure_rows rows;
	struct fit_frame f;
	char label[32];
	int rc = FIT_OK;

	fit_frame_init(&f, o->x);
	f.log_x = o->log_x;
	f.log_y = o->log_y;
	for (size_t i = 0; i < o->y.n && !rc; i++)
		if (fit_frame_series(&f, o->y.items[i], o->error.n ? o->error.items[i] : NULL))
			rc = fit_fail(err, FIT_EINVAL, "column '%s' cannot be drawn", o->y.items[i]);
	if (!rc)
		rc = plot_read_frame(&f, cli_operand(cli, 0), o->csv, err);
	if (!rc && f.missing)
		cli_warn(cli, "%zu missing %s not drawn", f.missing,
			 fit_plural(f.missing, "value is", "values are"));
	if (!rc && !bars)
		x_name = scale_frame(o, &f, label);
	if (!rc && fit_frame_rows(&f, o->label.items, o->label.n, &rows))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = bars ? fit_figure_bars(p, o->wanted, o->x, &rows, o->log_y, err) :
			    fit_figure_lines(p, o->wanted, x_name, &rows, o->log_x, o->log_y, err);
	fit_frame_release(&f);
	return rc;
}

static int draw_panels(struct cli *cli, const struct options *o, struct fit_plot *p, struct fit_err *err)
{
	struct fit_cell cells[FIT_POINTS_FIELDS_MAX];
	struct fit_points points;
	struct fit_reader *r = NULL;
	char label[32];
	struct fit_err why = { 0 };
	const char *field = NULL;
	int rc = fit_reader_open(&r, cli_operand(cli, 0), err);

	fit_points_init(&points, &o->points);
	points.log_x = o->log_x;
	points.log_y = o->log_y;
	rc = rc ? rc : fit_reader_begin(r, points.fields, points.n_fields, err);
	while (!rc && !(rc = fit_reader_row(r, cells, err))) {
		rc = fit_points_row(&points, cells, &field, &why);
		if (rc)
			rc = fit_reader_fail(r, rc, field, err, "%s", why.msg);
	}
	if (rc == FIT_END)
		rc = points.n ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no rows", fit_reader_input(r));
	if (!rc && points.missing)
		cli_warn(cli, "%zu missing %s not drawn", points.missing,
			 fit_plural(points.missing, "value is", "values are"));
	if (!rc)
		rc = fit_figure_panels(p, o->wanted, scale_points(o, &points, label), o->points.y, &points,
				       (size_t)o->columns, err);
	fit_points_release(&points);
	fit_reader_close(r);
	return rc;
}

/* shape and heatmap */
static int draw_shape(struct cli *cli, const struct options *o, struct fit_plot *p, struct fit_err *err)
{
	bool map = strcmp(cli->verb->name, "heatmap") == 0;
	struct plot_shape s = { 0 };
	size_t left_out = 0;
	int rc = plot_read_shape(&s, cli_operand(cli, 0), map, o->class, err);
	const char *x = s.feature[0] ? s.feature[0] : "value", *y = s.feature[1] ? s.feature[1] : "second value";

	if (!rc)
		rc = map ? fit_figure_heatmap(p, o->wanted, x, y, s.cells, s.n, &left_out, err) :
			   fit_figure_shape(p, o->wanted, x, s.cells, s.n, err);
	if (!rc && left_out)
		cli_warn(cli, "%zu %s of missing values not drawn", left_out,
			 fit_plural(left_out, "cell is", "cells are"));
	plot_shape_release(&s);
	return rc;
}

/* ---- wiring ---- */

static int parse_size(const char *text, struct fit_figure_size *size)
{
	const char *x = strchr(text, 'x');
	int64_t w, h;

	if (!x || fit_parse_int64((struct fit_text){ text, (size_t)(x - text) }, &w) ||
	    fit_parse_int64(fit_text_of(x + 1), &h) || w < 100 || w > 8000 || h < 100 || h > 8000)
		return FIT_EINVAL;
	*size = (struct fit_figure_size){ (int)w, (int)h };
	return FIT_OK;
}

/* What the option table cannot check; 0, or the exit status. */
static int check_options(struct cli *cli, struct options *o)
{
	size_t inputs = o->x ? o->y.n : cli->n_operands ? (size_t)cli->n_operands : 1;
	enum fit_plot_format by_suffix = FIT_PLOT_SVG;
	bool named = cli->out && strcmp(cli->out, "-") != 0;
	const struct cli_list *lists[] = { &o->label, &o->y, &o->error };
	const char *texts[] = { o->title, o->xlabel, o->ylabel, o->class };

	if (o->size && parse_size(o->size, &o->wanted))
		return cli_usage(cli, "bad value '%s' for --size (expected WxH, 100x100 to 8000x8000)", o->size);
	if (o->format == N_FORMATS && named && fit_plot_format_of(cli->out, &by_suffix))
		return cli_usage(cli, "unknown kind of picture '%s' (expected .svg, .png or .pdf, or --format)",
				 cli->out);
	if (o->format == N_FORMATS)
		o->format = (int)by_suffix;
	if (o->label.n > inputs)
		return cli_usage(cli, "%zu times --label for %zu series", o->label.n, inputs);
	if (o->y.n > FIT_FRAME_SERIES_MAX)
		return cli_usage(cli, "too many --y columns (expected at most %d)", FIT_FRAME_SERIES_MAX);
	for (size_t i = 0; i < o->y.n + o->error.n; i++)
		if (strcmp(o->x, i < o->y.n ? o->y.items[i] : o->error.items[i - o->y.n]) == 0)
			return cli_usage(cli, "column '%s' on both axes", o->x);
	if (o->x && o->points.series) {
		if (o->y.n != 1 || o->label.n || o->csv)
			return cli_usage(cli, "--by goes with one --y, and without --label and --csv");
		o->points.x = o->x;
		o->points.y = o->y.items[0];
	}
	if (o->error.n && o->error.n != o->y.n)
		return cli_usage(cli, "%zu times --error for %zu series (expected one for each --y)",
				 o->error.n, o->y.n);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (!fit_text_is_utf8(fit_text_of(lists[i]->items[k])))
				return cli_usage(cli, "a label or column name is not in UTF-8");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i] && !fit_text_is_utf8(fit_text_of(texts[i])))
			return cli_usage(cli, "a title or axis text is not in UTF-8");
	return 0;
}

static int dress(const struct options *o, struct fit_plot *p)
{
	struct fit_plot_panel *last = &p->panels[p->n_panels - 1];
	int rc = FIT_OK;

	if (o->title)
		rc = fit_plot_text(&p->title, o->title);
	/* in a grid each panel has its own, else the lowest one */
	for (struct fit_plot_panel *a = p->columns ? p->panels : last; a <= last && !rc; a++) {
		if (o->xlabel)
			rc = fit_plot_text(&a->x.label, o->xlabel);
		if (o->ylabel && !rc)
			rc = fit_plot_text(&a->y.label, o->ylabel);
	}
	return rc;
}

static void pass_on_warnings(struct cli *cli, struct fit_str *lines)
{
	char *line = lines->s;

	while (line && *line) {
		char *end = strchr(line, '\n');

		*end = '\0';
		cli_warn(cli, "gnuplot: %s", line);
		line = end + 1;
	}
}

static int run(struct cli *cli, void *given)
{
	struct options *o = given;
	const char *verb = cli->verb->name;
	struct fit_plot p = { 0 };
	struct fit_str warnings = { 0 };
	struct fit_err err = { 0 };
	int rc, status = check_options(cli, o);

	if (status)
		return status;
	if (strcmp(verb, "jct-cdf") == 0 || strcmp(verb, "trace-cdf") == 0)
		rc = draw_cdf(cli, o, &p, &err);
	else if (strcmp(verb, "diurnal") == 0)
		rc = draw_diurnal(cli, o, &p, &err);
	else if (strcmp(verb, "timeline") == 0)
		rc = draw_timeline(cli, o, &p, &err);
	else if (strcmp(verb, "shape") == 0 || strcmp(verb, "heatmap") == 0)
		rc = draw_shape(cli, o, &p, &err);
	else if (o->points.x)		/* panels, and lines --by */
		rc = draw_panels(cli, o, &p, &err);
	else
		rc = draw_columns(cli, o, &p, &err);
	if (!rc && dress(o, &p))
		rc = fit_fail_nomem(&err);
	if (!rc)
		rc = fit_plot_render(&p, cli->out, (enum fit_plot_format)o->format, &warnings, &err);
	pass_on_warnings(cli, &warnings);
	if (rc)
		status = cli_error(cli, &err);
	fit_str_release(&warnings);
	fit_plot_release(&p);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "jct-cdf", "[LOG...]", "distribution of job completion times, one curve a log",
	  cdf_options, 0, -1, .run = run },
	{ "timeline", "[LOG]", "GPUs and jobs over time", timeline_options, 0, 1, .run = run },
	{ "trace-cdf", "[JOBS...]", "distribution over the jobs of a trace, one curve a trace",
	  trace_cdf_options, 0, -1, .run = run },
	{ "diurnal", "[JOBS...]", "submissions by hour of day, one curve a trace",
	  diurnal_options, 0, -1, .run = run },
	{ "bars", "[TABLE]", "columns as bars, one label a row", bars_options, 0, 1, .run = run },
	{ "lines", "[TABLE]", "columns as lines over a column", lines_options, 0, 1, .run = run },
	{ "panels", "[TABLE]", "the points of a long table in series and panels",
	  panels_options, 0, 1, .run = run },
	{ "shape", "[TABLE]", "a term of one feature, from gf-ga2m explain --shape",
	  shape_options, 0, 1, .run = run },
	{ "heatmap", "[TABLE]", "a term of two features, from there, too", shape_options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-plot",
	.summary = "Figures as SVG, PNG or PDF, drawn by gnuplot.",
	.details = "With -o FIG.svg the script FIG.gp and its data FIG.dat are kept beside the picture.",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	struct options o = { .format = N_FORMATS };

	return cli_main(&tool, argc, argv, &o);
}
