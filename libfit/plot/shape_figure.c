/* SPDX-License-Identifier: MIT */
#include "libfit/plot/shape_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/plot/script.h"
#include "libfit/table/table.h"

static bool is_number(const struct fit_shape_side *s)
{
	return !fit_real_is_na(s->from) && !fit_real_is_na(s->to);
}

/* ---- one feature ---- */

static int add_steps(struct fit_plot_panel *panel, const char *label, double sign, unsigned look,
		     const struct fit_shape_cell *cells, size_t n)
{
	struct fit_plot_series *s = fit_panel_add_series(panel, FIT_PLOT_STEPS, label);
	double last = 0;
	int rc = s ? FIT_OK : FIT_ENOMEM;

	if (!rc)
		s->look = look;
	for (size_t i = 0; i < n && !rc; i++) {
		double off = sign > 0 || sign < 0 ? sign * cells[i].sd : 0;

		if (!is_number(&cells[i].x))
			continue;
		if (fit_real_is_na(off)) {
			fit_series_gap(s);
			continue;
		}
		rc = fit_series_add(s, cells[i].x.from, cells[i].score + off);
		/* the last step goes on to its end; a bin of one value is a point as wide as nothing */
		last = cells[i].x.to;
		if (!rc && i + 1 == n)
			rc = fit_series_add(s, last, cells[i].score + off);
	}
	return rc;
}

static int numbers(struct fit_plot_panel *panel, const struct fit_shape_cell *cells, size_t n)
{
	double low = HUGE_VAL, high = -HUGE_VAL;
	bool spread = false, missing = false;
	int rc = FIT_OK;

	for (size_t i = 0; i < n; i++) {
		spread |= !fit_real_is_na(cells[i].sd) && cells[i].sd > 0;
		missing |= !is_number(&cells[i].x);
		if (is_number(&cells[i].x)) {
			low = fmin(low, cells[i].x.from);
			high = fmax(high, cells[i].x.to);
		}
	}
	if (spread) {
		rc = add_steps(panel, "plus and minus its spread over bags", 1, 5, cells, n);
		rc = rc ? rc : add_steps(panel, NULL, -1, 5, cells, n);
	}
	rc = rc ? rc : add_steps(panel, "score", 0, 0, cells, n);
	if (!rc && missing) {
		struct fit_plot_series *s = fit_panel_add_series(panel, FIT_PLOT_POINTS, "missing values");

		rc = s ? FIT_OK : FIT_ENOMEM;
		for (size_t i = 0; i < n && !rc; i++) {
			if (is_number(&cells[i].x))
				continue;
			s->look = 1;
			s->has_err = !fit_real_is_na(cells[i].sd);
			rc = fit_series_add_err(s, low < high ? low - 0.06 * (high - low) : 0, cells[i].score,
						s->has_err ? cells[i].sd : 0);
		}
	}
	panel->key = spread || missing ? FIT_PLOT_KEY_ABOVE : FIT_PLOT_KEY_NONE;
	return rc;
}

static int categories(struct fit_plot_panel *panel, const struct fit_shape_cell *cells, size_t n)
{
	struct fit_plot_series *s = fit_panel_add_series(panel, FIT_PLOT_POINTS, NULL);
	int rc = s ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		s->has_err |= !fit_real_is_na(cells[i].sd);
		rc = fit_series_add_err(s, (double)i + 1, cells[i].score,
					fit_real_is_na(cells[i].sd) ? 0 : cells[i].sd);
		rc = rc ? rc : fit_axis_add_tic(&panel->x, (double)i + 1, cells[i].x.category);
	}
	panel->x.has_min = panel->x.has_max = true;
	panel->x.min = 0.5;
	panel->x.max = (double)n + 0.5;
	return rc;
}

int fit_figure_shape(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		     const struct fit_shape_cell *cells, size_t n, struct fit_err *err)
{
	struct fit_plot_panel *panel;
	bool any_number = false;
	int rc;

	fit_plot_init(p, size.width ? size.width : 640, size.height ? size.height : 400);
	if (n == 0)
		return fit_plot_made(p, fit_fail(err, FIT_EDATA, "no bins"), err);
	panel = fit_plot_add_panel(p);
	rc = panel ? FIT_OK : FIT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		any_number |= is_number(&cells[i].x);
	if (!rc)
		rc = any_number ? numbers(panel, cells, n) : categories(panel, cells, n);
	rc = rc ? rc : fit_plot_text(&panel->x.label, x_name);
	rc = rc ? rc : fit_plot_text(&panel->y.label, "adds to the score");
	if (!rc && panel->x.n_tics && !size.height) {
		int wanted = 310 + (int)fit_plot_slanted_height(&panel->x);

		p->height = p->height < wanted ? wanted : p->height;
	}
	return fit_plot_made(p, rc, err);
}

/* ---- two features ---- */

/* Where a category stands: its number in order of appearance, with a tic. */
static int place(struct fit_plot_axis *a, const struct fit_shape_side *s, double *from, double *to)
{
	size_t k = 0;
	int rc = FIT_OK;

	if (is_number(s)) {
		*from = s->from;
		*to = s->to;
		return FIT_OK;
	}
	while (k < a->n_tics && strcmp(a->tics[k], s->category) != 0)
		k++;
	if (k == a->n_tics)
		rc = fit_axis_add_tic(a, (double)k + 1, s->category);
	*from = (double)k + 0.5;
	*to = (double)k + 1.5;
	return rc;
}

int fit_figure_heatmap(struct fit_plot *p, struct fit_figure_size size, const char *x_name,
		const char *y_name,
		       const struct fit_shape_cell *cells, size_t n, size_t *left_out, struct fit_err *err)
{
	bool number[2] = { false, false };
	struct fit_plot_panel *panel;
	struct fit_plot_series *s;
	size_t out = 0;
	int rc;

	fit_plot_init(p, size.width ? size.width : 640, size.height ? size.height : 480);
	if (n == 0)
		return fit_plot_made(p, fit_fail(err, FIT_EDATA, "no cells"), err);
	panel = fit_plot_add_panel(p);
	s = panel ? fit_panel_add_series(panel, FIT_PLOT_CELLS, NULL) : NULL;
	rc = s ? FIT_OK : FIT_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		number[0] |= is_number(&cells[i].x);
		number[1] |= is_number(&cells[i].y);
	}
	for (size_t i = 0; i < n && !rc; i++) {
		double from[2], to[2];

		if (is_number(&cells[i].x) != number[0] || is_number(&cells[i].y) != number[1]) {
			out++;
			continue;
		}
		rc = place(&panel->x, &cells[i].x, &from[0], &to[0]);
		rc = rc ? rc : place(&panel->y, &cells[i].y, &from[1], &to[1]);
		rc = rc ? rc : fit_series_add_cell(s, from[0], to[0], from[1], to[1], cells[i].score);
	}
	if (left_out)
		*left_out = out;
	rc = rc ? rc : fit_plot_text(&panel->x.label, x_name);
	rc = rc ? rc : fit_plot_text(&panel->y.label, y_name);
	return fit_plot_made(p, rc, err);
}
