/* SPDX-License-Identifier: MIT */
/* Figures from columns of any table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libfit/plot/frame.h"
#include "tools/plot_data.h"
#include "tools/plot_draw.h"
#include "tools/plot_shape.h"

/* The unit that other figures have for such a time, of the x column time_s; else name is NULL. */
static struct fit_time_unit x_unit(const struct plot_options *o, const char *x, double max)
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

static const char *scale_frame(const struct plot_options *o, struct fit_frame *f, char label[32])
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

static const char *scale_points(const struct plot_options *o, struct fit_points *p, char label[32])
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

int plot_draw_columns(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
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

int plot_draw_panels(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
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
int plot_draw_shape(struct cli *cli, const struct plot_options *o, struct fit_plot *p, struct fit_err *err)
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
