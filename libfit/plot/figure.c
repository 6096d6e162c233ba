/* SPDX-License-Identifier: MIT */
#include "libfit/plot/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/plot/script.h"
#include "libfit/table/table.h"

static void start(struct fit_plot *p, struct fit_figure_size size, int width, int height)
{
	fit_plot_init(p, size.width ? size.width : width, size.height ? size.height : height);
}

struct fit_time_unit fit_time_unit_for(double max_s)
{
	if (max_s <= 600)
		return (struct fit_time_unit){ "s", 1 };
	if (max_s <= 3 * 3600)
		return (struct fit_time_unit){ "min", 60 };
	if (max_s <= 14 * 86400)
		return (struct fit_time_unit){ "h", 3600 };
	return (struct fit_time_unit){ "d", 86400 };
}

static int label_with_unit(char **label, const char *name, const char *unit)
{
	struct fit_str s = { 0 };
	int rc = fit_str_printf(&s, "%s (%s)", name, unit);

	if (!rc)
		rc = fit_plot_text(label, s.s);
	fit_str_release(&s);
	return rc;
}

/* ---- cumulative distributions ---- */

/* The values from number zeros on; with zeros > 0 from left, at their share. */
static int add_steps(struct fit_plot_series *s, const struct fit_figure_sample *f, double unit,
		     bool log_x, size_t zeros, double left, double end)
{
	size_t stride = (f->n + FIT_FIGURE_CDF_MAX - 1) / FIT_FIGURE_CDF_MAX;
	int rc = fit_series_add(s, log_x ? left / unit : 0, (double)zeros / (double)f->n);

	if (!rc && !log_x && f->sorted_s[0] > 0)
		rc = fit_series_add(s, f->sorted_s[0] / unit, 0);
	for (size_t i = zeros + stride - 1; !rc; i += stride) {
		if (i >= f->n)
			i = f->n - 1;
		/* equal values make one step, at the last of them */
		while (i + 1 < f->n && f->sorted_s[i + 1] <= f->sorted_s[i])
			i++;
		rc = fit_series_add(s, f->sorted_s[i] / unit, (double)(i + 1) / (double)f->n);
		if (i + 1 >= f->n)
			break;
	}
	if (!rc && end > f->sorted_s[f->n - 1])
		rc = fit_series_add(s, end / unit, 1);
	return rc;
}

static int log_time_tics(struct fit_plot_axis *x, double lo, double hi)
{
	static const struct { double s; const char *text; } tics[] = {
		{ 1e-3, "1 ms" }, { 1e-2, "10 ms" }, { 0.1, "0.1 s" }, { 1, "1 s" }, { 10, "10 s" },
		{ 60, "1 min" }, { 600, "10 min" }, { 3600, "1 h" }, { 36000, "10 h" },
		{ 360000, "100 h" }, { 3600000, "1000 h" }, { 36000000, "10000 h" },
	};
	size_t n = sizeof tics / sizeof *tics, first = 0, last = n - 1;
	int rc = FIT_OK;

	/* the tics inside; if they are fewer than two, those around */
	lo /= 1.3;
	hi *= 1.3;
	while (first + 1 < n && tics[first].s < lo)
		first++;
	while (last > 0 && tics[last].s > hi)
		last--;
	if (last < first + 1) {
		first -= first > 0 && tics[first].s > lo;
		last += last + 1 < n && tics[last].s < hi;
		lo = fmin(lo, tics[first].s);
		hi = fmax(hi, tics[last].s);
	}
	for (size_t i = first; i <= last && !rc; i++)
		rc = fit_axis_add_tic(x, tics[i].s, tics[i].text);
	x->log = x->has_min = x->has_max = true;
	x->min = lo;
	x->max = hi;
	return rc;
}

/* Powers of two where they are few, as GPUs come in; else the decades by themselves. */
static int log_number_tics(struct fit_plot_axis *x, double lo, double hi)
{
	int rc = FIT_OK;

	x->log = x->has_min = x->has_max = true;
	x->min = lo / 1.1;
	x->max = hi * 1.1;
	if (hi / lo > 4096)
		return FIT_OK;
	for (double v = exp2(floor(log2(lo))); v <= x->max && !rc; v *= 2) {
		char text[FIT_NUM_MAX];

		snprintf(text, sizeof text, "%.6g", v);
		if (v >= x->min)
			rc = fit_axis_add_tic(x, v, text);
	}
	return rc;
}

static size_t count_zeros(const struct fit_figure_sample *f)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->sorted_s[mid] > 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Least and greatest value that the axis shows; with log_x the least above 0. */
static int find_range(const struct fit_figure_sample *samples, size_t n, bool log_x, double *lo,
		      double *hi, struct fit_err *err)
{
	*lo = HUGE_VAL;
	*hi = -HUGE_VAL;
	for (size_t i = 0; i < n; i++) {
		const struct fit_figure_sample *f = &samples[i];
		size_t first = log_x && f->n ? count_zeros(f) : 0;

		if (f->n == 0)
			return fit_fail(err, FIT_EDATA, "series '%s': no values", f->label);
		if (first == f->n)
			return fit_fail(err, FIT_EDATA, "series '%s': no value above 0 for a logarithmic axis",
					f->label);
		*lo = fmin(*lo, f->sorted_s[first]);
		*hi = fmax(*hi, f->sorted_s[f->n - 1]);
	}
	return n ? FIT_OK : fit_fail(err, FIT_EDATA, "nothing to draw");
}

int fit_figure_distribution(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
			    bool times, const struct fit_figure_sample *samples, size_t n, bool log_x,
			    struct fit_err *err)
{
	struct fit_time_unit unit = { "", 1 };
	struct fit_plot_panel *panel;
	double lo, hi;
	int rc;

	start(p, size, 640, 400);
	rc = find_range(samples, n, log_x, &lo, &hi, err);
	if (rc)
		return fit_plot_made(p, rc, err);
	if (times && !log_x)
		unit = fit_time_unit_for(hi);
	panel = fit_plot_add_panel(p);
	if (!panel)
		return fit_plot_made(p, FIT_ENOMEM, err);
	panel->key = FIT_PLOT_KEY_BOTTOM_RIGHT;
	for (size_t i = 0; i < n && !rc; i++) {
		struct fit_plot_series *s = fit_panel_add_series(panel, FIT_PLOT_STEPS, samples[i].label);
		size_t zeros = log_x ? count_zeros(&samples[i]) : 0;
		double left = zeros ? lo : samples[i].sorted_s[0];

		rc = s ? add_steps(s, &samples[i], unit.seconds, log_x, zeros, left, hi) : FIT_ENOMEM;
	}
	panel->y.has_min = panel->y.has_max = panel->x.has_min = true;
	panel->y.max = 1;
	if (!rc)
		rc = fit_plot_text(&panel->y.label, "fraction of jobs");
	if (!rc && log_x && times) {
		rc = log_time_tics(&panel->x, lo, hi);
	} else if (!rc && log_x) {
		rc = log_number_tics(&panel->x, lo, hi);
	}
	if (!rc)
		rc = log_x || !times ? fit_plot_text(&panel->x.label, x_name) :
				       label_with_unit(&panel->x.label, x_name, unit.name);
	return fit_plot_made(p, rc, err);
}

int fit_figure_cdf(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		   const struct fit_figure_sample *samples, size_t n, bool log_x, struct fit_err *err)
{
	for (size_t i = 0; i < n && log_x; i++) {
		if (samples[i].n && !(samples[i].sorted_s[0] > 0)) {
			start(p, size, 640, 400);
			return fit_plot_made(p, fit_fail(err, FIT_EDATA, "value '%g' on a logarithmic axis (expected "
						"more than 0)", samples[i].sorted_s[0]), err);
		}
	}
	return fit_figure_distribution(p, size, x_name, true, samples, n, log_x, err);
}

/* ---- a day ---- */

int fit_figure_diurnal(struct fit_plot *p, struct fit_figure_size size, const char *y_name,
		       const struct fit_figure_day *days, size_t n, struct fit_err *err)
{
	struct fit_plot_panel *panel;
	int rc = FIT_OK;

	start(p, size, 640, 400);
	if (n == 0)
		return fit_plot_made(p, fit_fail(err, FIT_EDATA, "nothing to draw"), err);
	panel = fit_plot_add_panel(p);
	if (!panel)
		return fit_plot_made(p, FIT_ENOMEM, err);
	panel->key = n > 1 ? FIT_PLOT_KEY_ABOVE : FIT_PLOT_KEY_NONE;
	for (size_t i = 0; i < n && !rc; i++) {
		struct fit_plot_series *s = fit_panel_add_series(panel, FIT_PLOT_STEPS, days[i].label);

		rc = s ? FIT_OK : FIT_ENOMEM;
		for (int h = 0; h < 24 && !rc; h++) {
			if (fit_real_is_na(days[i].y[h])) {
				fit_series_gap(s);
				continue;
			}
			rc = fit_series_add(s, h, days[i].y[h]);
			/* a step ends where the next one begins, or where nothing follows */
			if (!rc && (h == 23 || fit_real_is_na(days[i].y[h + 1])))
				rc = fit_series_add(s, h + 1, days[i].y[h]);
		}
	}
	for (int h = 0; h <= 24 && !rc; h += 3) {
		char text[16];

		snprintf(text, sizeof text, "%d:00", h);
		rc = fit_axis_add_tic(&panel->x, h, text);
	}
	panel->x.has_min = panel->x.has_max = panel->y.has_min = true;
	panel->x.max = 24;
	if (!rc)
		rc = fit_plot_text(&panel->x.label, "hour of day");
	if (!rc)
		rc = fit_plot_text(&panel->y.label, y_name);
	return fit_plot_made(p, rc, err);
}

/* ---- a cluster over time ---- */

#define SLICES 1500

enum { CAPACITY, HELD, ACTIVE, RUNNING, WAITING };

static double value_of(const struct fit_figure_moment *m, int what)
{
	switch (what) {
	case CAPACITY:
		return m->capacity;
	case HELD:
		return m->held;
	case RUNNING:
		return m->running;
	case WAITING:
		return m->waiting;
	default:
		return m->running + m->waiting;
	}
}

struct timeline {
	const struct fit_figure_moment *m;
	size_t n;
	double unit;
};

static int add_moment(struct fit_plot_series *s, const struct timeline *t, size_t i, int what)
{
	double v = value_of(&t->m[i], what);

	/* a value that stays is not written again, except at the end */
	if (s->n && i + 1 < t->n && fabs(s->points[s->n - 1].y - v) <= 0)
		return FIT_OK;
	return fit_series_add(s, fit_time_to_double(t->m[i].time_ns) / t->unit, v);
}

/* The moments i..end - 1 of one slice: first, lowest, highest, last, in order of time. */
static int add_slice(struct fit_plot_series *s, const struct timeline *t, size_t i, size_t end, int what)
{
	size_t pick[4] = { i, i, i, end - 1 };
	int rc = FIT_OK;

	for (size_t k = i; k < end; k++) {
		if (value_of(&t->m[k], what) < value_of(&t->m[pick[1]], what))
			pick[1] = k;
		if (value_of(&t->m[k], what) > value_of(&t->m[pick[2]], what))
			pick[2] = k;
	}
	if (pick[1] > pick[2]) {
		size_t low = pick[1];

		pick[1] = pick[2];
		pick[2] = low;
	}
	for (size_t k = 0; k < 4 && !rc; k++)
		if (k == 0 || pick[k] > pick[k - 1])
			rc = add_moment(s, t, pick[k], what);
	return rc;
}

static int add_timeline(struct fit_plot_panel *panel, enum fit_plot_style style, const char *label,
			unsigned look, const struct timeline *t, int what)
{
	struct fit_plot_series *s = fit_panel_add_series(panel, style, label);
	int64_t t0 = t->m[0].time_ns, width = (t->m[t->n - 1].time_ns - t0) / SLICES + 1;
	size_t i = 0;
	int rc = FIT_OK;

	if (!s)
		return FIT_ENOMEM;
	s->look = look;
	while (i < t->n && !rc) {
		int64_t slice = (t->m[i].time_ns - t0) / width;
		size_t end = i + 1;

		if (t->n > 4 * SLICES)
			while (end < t->n && (t->m[end].time_ns - t0) / width == slice)
				end++;
		rc = add_slice(s, t, i, end, what);
		i = end;
	}
	return rc;
}

int fit_figure_timeline(struct fit_plot *p, struct fit_figure_size size,
			const struct fit_figure_moment *moments, size_t n, struct fit_err *err)
{
	struct timeline t = { moments, n, 1 };
	struct fit_time_unit unit;
	struct fit_plot_panel *panel;
	double last;
	int rc = FIT_OK;

	start(p, size, 720, 520);
	if (n == 0)
		return fit_plot_made(p, fit_fail(err, FIT_EDATA, "nothing to draw"), err);
	last = fit_time_to_double(moments[n - 1].time_ns);
	unit = fit_time_unit_for(last);
	t.unit = unit.seconds;
	for (int i = 0; i < 2 && !rc; i++) {
		panel = fit_plot_add_panel(p);
		if (!panel)
			return fit_plot_made(p, FIT_ENOMEM, err);
		panel->key = FIT_PLOT_KEY_ABOVE;
		panel->x.has_min = panel->y.has_min = panel->y.whole = true;
		panel->x.has_max = last > 0;
		panel->x.max = last / unit.seconds;
		if (i == 0) {
			rc = add_timeline(panel, FIT_PLOT_AREA, "held", 0, &t, HELD);
			rc = rc ? rc : add_timeline(panel, FIT_PLOT_STEPS, "in the cluster", 6, &t, CAPACITY);
			rc = rc ? rc : fit_plot_text(&panel->y.label, "GPUs");
			continue;
		}
		rc = add_timeline(panel, FIT_PLOT_STEPS, "in the system", 6, &t, ACTIVE);
		rc = rc ? rc : add_timeline(panel, FIT_PLOT_STEPS, "running", 0, &t, RUNNING);
		rc = rc ? rc : add_timeline(panel, FIT_PLOT_STEPS, "waiting", 1, &t, WAITING);
		rc = rc ? rc : fit_plot_text(&panel->y.label, "jobs");
		rc = rc ? rc : label_with_unit(&panel->x.label, "time since the trace origin", unit.name);
	}
	return fit_plot_made(p, rc, err);
}

/* ---- columns of a table ---- */

static int add_column(struct fit_plot_panel *panel, enum fit_plot_style style,
		      const struct fit_figure_rows *rows, const struct fit_figure_column *c, bool labelled)
{
	struct fit_plot_series *s = fit_panel_add_series(panel, style, labelled ? c->label : NULL);
	bool numbers = style != FIT_PLOT_BARS && rows->x_number;
	int rc = FIT_OK;

	if (!s)
		return FIT_ENOMEM;
	s->has_err = c->err != NULL;
	for (size_t i = 0; i < rows->n_rows && !rc; i++) {
		double x = numbers ? rows->x_number[i] : (double)i;
		bool no_err = !c->err || fit_real_is_na(c->err[i]);

		if (fit_real_is_na(c->y[i]) || fit_real_is_na(x))
			fit_series_gap(s);
		else
			rc = fit_series_add_err(s, x, c->y[i], no_err ? 0 : c->err[i]);
	}
	return rc;
}

/* A category axis: row i at i. */
static int add_labels(struct fit_plot_axis *x, const struct fit_figure_rows *rows)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < rows->n_rows && !rc; i++)
		rc = fit_axis_add_tic(x, (double)i, rows->x[i] ? rows->x[i] : "NA");
	x->has_min = x->has_max = true;
	x->min = -0.625;
	x->max = (double)rows->n_rows - 0.375;
	return rc;
}

static int figure_columns(struct fit_plot *p, enum fit_plot_style style, const char *x_name,
			  const struct fit_figure_rows *rows, struct fit_plot_panel **out)
{
	struct fit_plot_panel *panel = fit_plot_add_panel(p);
	int rc = FIT_OK;

	*out = panel;
	if (!panel)
		return FIT_ENOMEM;
	panel->key = rows->n_columns > 1 ? FIT_PLOT_KEY_ABOVE : FIT_PLOT_KEY_NONE;
	for (size_t i = 0; i < rows->n_columns && !rc; i++)
		rc = add_column(panel, style, rows, &rows->columns[i], rows->n_columns > 1);
	if (!rc && (style == FIT_PLOT_BARS || !rows->x_number))
		rc = add_labels(&panel->x, rows);
	if (!rc)
		rc = fit_plot_text(&panel->x.label, x_name);
	if (!rc && rows->n_columns == 1)
		rc = fit_plot_text(&panel->y.label, rows->columns[0].label);
	return rc;
}

/* Long labels stand slanted below the axis; where no size was asked for, the figure grows by them. */
static void make_room(struct fit_plot *p, struct fit_figure_size size, const struct fit_plot_axis *x)
{
	int wanted = 310 + (int)fit_plot_slanted_height(x);

	if (!size.height && p->height < wanted)
		p->height = wanted;
}

/* From 0 unless something lies below. */
static void start_at_zero(struct fit_plot_panel *panel)
{
	bool below = false;

	for (size_t k = 0; k < panel->n_series; k++)
		for (size_t i = 0; i < panel->series[k].n; i++)
			below = below || panel->series[k].points[i].y - panel->series[k].points[i].err < 0;
	panel->y.has_min = !below;
}

int fit_figure_bars(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		    const struct fit_figure_rows *rows, bool log_y, struct fit_err *err)
{
	struct fit_plot_panel *panel;
	int rc;

	start(p, size, 640, 440);
	rc = figure_columns(p, FIT_PLOT_BARS, x_name, rows, &panel);
	if (!rc)
		make_room(p, size, &panel->x);
	if (!rc && log_y)
		panel->y.log = true;
	else if (!rc)
		start_at_zero(panel);
	return fit_plot_made(p, rc, err);
}

int fit_figure_lines(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		     const struct fit_figure_rows *rows, bool log_x, bool log_y, struct fit_err *err)
{
	struct fit_plot_panel *panel;
	int rc;

	start(p, size, 640, 400);
	rc = figure_columns(p, FIT_PLOT_LINES, x_name, rows, &panel);
	if (!rc) {
		make_room(p, size, &panel->x);
		panel->x.log = log_x && rows->x_number;
		panel->y.log = log_y;
		if (!log_y)
			start_at_zero(panel);
	}
	return fit_plot_made(p, rc, err);
}

/* ---- points of a long table ---- */

/* "100", "10k", "1M" */
static void short_number(double v, char text[FIT_NUM_MAX])
{
	static const struct {
		double unit;
		const char *suffix;
	} units[] = { { 1e9, "G" }, { 1e6, "M" }, { 1e4, "k" }, { 0, "" } };
	size_t k = 0;

	while (v < units[k].unit)
		k++;
	snprintf(text, FIT_NUM_MAX, "%.6g%s", v / (k == 2 ? 1e3 : k == 3 ? 1 : units[k].unit), units[k].suffix);
}

/* Powers of two, as GPUs come in, or of ten where the range is wide; no more than there is space for. */
static int power_tics(struct fit_plot_axis *x, double lo, double hi, size_t most)
{
	double base = hi / lo > 4096 ? 10 : 2, factor = base;
	int rc = FIT_OK;

	x->log = x->has_min = x->has_max = true;
	x->min = lo / pow(hi / lo, 0.06);
	x->max = hi * pow(hi / lo, 0.06);
	if (!(hi > lo)) {
		x->min = lo / 2;
		x->max = hi * 2;
	}
	while (log(x->max / x->min) / log(factor) > (double)most)
		factor *= base;
	for (double v = base > 2 ? pow(10, ceil(log10(x->min))) : exp2(floor(log2(x->min))); v <= x->max && !rc;
	     v *= factor) {
		char text[FIT_NUM_MAX];

		while (v < x->min)
			v *= base;
		if (base > 2)
			short_number(v, text);
		else
			snprintf(text, sizeof text, "%.6g", v);
		if (v <= x->max)
			rc = fit_axis_add_tic(x, v, text);
	}
	return rc;
}

/* Lines that touch the frame are hard to see: some space on both sides, but none before steps. */
static int panel_x_range(struct fit_plot_panel *panel, bool log_x, size_t most_tics)
{
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	bool steps = false;

	for (size_t k = 0; k < panel->n_series; k++) {
		const struct fit_plot_series *s = &panel->series[k];

		steps = steps || s->style == FIT_PLOT_STEPS || s->style == FIT_PLOT_AREA;
		for (size_t i = 0; i < s->n; i++) {
			lo = fmin(lo, s->points[i].x);
			hi = fmax(hi, s->points[i].x);
		}
	}
	if (lo > hi)
		return FIT_OK;
	if (log_x)
		return power_tics(&panel->x, lo, hi, most_tics);
	if (hi > lo) {
		panel->x.has_min = panel->x.has_max = true;
		panel->x.min = steps ? lo : lo - 0.05 * (hi - lo);
		panel->x.max = steps ? hi : hi + 0.05 * (hi - lo);
	}
	return FIT_OK;
}

/* Where there are decades enough for tics, no more of them than the data takes. */
static void panel_log_y(struct fit_plot_panel *panel)
{
	double lo = HUGE_VAL, hi = 0;

	panel->y.log = true;
	for (size_t k = 0; k < panel->n_series; k++) {
		for (size_t i = 0; i < panel->series[k].n; i++) {
			lo = fmin(lo, panel->series[k].points[i].y);
			hi = fmax(hi, panel->series[k].points[i].y);
		}
	}
	if (hi < 20 * lo || !(hi > 0))
		return;
	panel->y.has_min = panel->y.has_max = true;
	panel->y.min = lo / 1.5;
	panel->y.max = hi * 1.5;
}

static int fill_panel(struct fit_plot_panel *panel, const struct fit_points *points, size_t number)
{
	int rc = FIT_OK;

	for (size_t k = 0; k < points->names.n && !rc; k++) {
		const char *label = points->names.name[k];
		struct fit_plot_series *s =
			fit_panel_add_series(panel, points->series[k].style, *label ? label : NULL);

		if (!s)
			return FIT_ENOMEM;
		s->look = (unsigned)points->series[k].look;
		s->hollow = points->series[k].hollow;
		s->has_err = points->has_err && s->style != FIT_PLOT_STEPS && s->style != FIT_PLOT_AREA;
		for (size_t i = 0; i < points->n && !rc; i++) {
			const struct fit_point *q = &points->points[i];

			if (q->panel != number || q->series != k)
				continue;
			if (fit_real_is_na(q->x) || fit_real_is_na(q->y))
				fit_series_gap(s);
			else
				rc = fit_series_add_err(s, q->x, q->y, fit_real_is_na(q->err) ? 0 : q->err);
		}
	}
	return rc;
}

int fit_figure_panels(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		      const char *y_name, const struct fit_points *points, size_t columns,
		      struct fit_err *err)
{
	size_t n = points->panels.n, rows, most;
	int rc = FIT_OK;

	if (!columns)
		columns = n < 3 ? n : 3;
	if (columns > n)
		columns = n;
	rows = columns ? (n + columns - 1) / columns : 0;
	if (columns < 2)
		start(p, size, 640, 110 + 290 * (int)rows);
	else
		start(p, size, 100 + 310 * (int)columns, 110 + 240 * (int)rows);
	if (!points->n)
		return fit_plot_made(p, fit_fail(err, FIT_EDATA, "nothing to draw"), err);
	p->columns = columns;
	most = (size_t)(p->width / (int)columns / 50);
	for (size_t i = 0; i < n && !rc; i++) {
		struct fit_plot_panel *panel = fit_plot_add_panel(p);

		if (!panel)
			return fit_plot_made(p, FIT_ENOMEM, err);
		if (n > 1)
			rc = fit_plot_text(&panel->title, points->panels.name[i]);
		rc = rc ? rc : fill_panel(panel, points, i);
		rc = rc ? rc : panel_x_range(panel, points->log_x, most > 2 ? most : 2);
		rc = rc ? rc : fit_plot_text(&panel->x.label, x_name);
		rc = rc ? rc : fit_plot_text(&panel->y.label, y_name);
		if (points->log_y)
			panel_log_y(panel);
		else
			start_at_zero(panel);
	}
	return fit_plot_made(p, rc, err);
}
