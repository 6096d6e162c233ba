/* SPDX-License-Identifier: MIT */
#include "libfit/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

void fit_plot_init(struct fit_plot *p, int width, int height)
{
	*p = (struct fit_plot){ .width = width, .height = height };
}

static void release_axis(struct fit_plot_axis *a)
{
	for (size_t i = 0; i < a->n_tics; i++)
		free(a->tics[i]);
	free(a->tics);
	free(a->at);
	free(a->label);
}

void fit_plot_release(struct fit_plot *p)
{
	for (size_t i = 0; i < p->n_panels; i++) {
		struct fit_plot_panel *panel = &p->panels[i];

		for (size_t k = 0; k < panel->n_series; k++) {
			free(panel->series[k].label);
			free(panel->series[k].points);
			free(panel->series[k].gaps);
			free(panel->series[k].values);
		}
		free(panel->series);
		free(panel->title);
		release_axis(&panel->x);
		release_axis(&panel->y);
	}
	free(p->panels);
	free(p->title);
	*p = (struct fit_plot){ 0 };
}

int fit_plot_made(struct fit_plot *p, int rc, struct fit_err *err)
{
	if (rc == FIT_ENOMEM)
		fit_fail_nomem(err);
	if (rc)
		fit_plot_release(p);
	return rc;
}

/* Length of the UTF-8 character that starts with c. */
static size_t char_size(unsigned char c)
{
	return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Bytes of text that hold its first chars characters. */
static size_t prefix_size(const char *text, size_t n, size_t chars)
{
	size_t at = 0;

	for (; chars && at < n; chars--)
		at += char_size((unsigned char)text[at]);
	return at < n ? at : n;
}

int fit_plot_text(char **to, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	size_t keep = n;
	char *s;

	if (!text) {
		free(*to);
		*to = NULL;
		return FIT_OK;
	}
	if (prefix_size(text, n, FIT_PLOT_TEXT_MAX) < n)
		keep = prefix_size(text, n, FIT_PLOT_TEXT_MAX - 3);
	s = malloc(keep + 4);
	if (!s)
		return FIT_ENOMEM;
	memcpy(s, text, keep);
	memcpy(s + keep, keep < n ? "..." : "", keep < n ? 4 : 1);
	for (unsigned char *c = (unsigned char *)s; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = ' ';
	free(*to);
	*to = s;
	return FIT_OK;
}

struct fit_plot_panel *fit_plot_add_panel(struct fit_plot *p)
{
	if (fit_grow(&p->panels, &p->cap_panels, p->n_panels + 1, sizeof *p->panels))
		return NULL;
	p->panels[p->n_panels] = (struct fit_plot_panel){ .key = FIT_PLOT_KEY_NONE };
	return &p->panels[p->n_panels++];
}

struct fit_plot_series *fit_panel_add_series(struct fit_plot_panel *panel, enum fit_plot_style style,
					     const char *label)
{
	struct fit_plot_series s = { .style = style, .look = (unsigned)panel->n_series };

	if (fit_grow(&panel->series, &panel->cap_series, panel->n_series + 1, sizeof s) ||
	    fit_plot_text(&s.label, label))
		return NULL;
	panel->series[panel->n_series] = s;
	return &panel->series[panel->n_series++];
}

int fit_series_add_err(struct fit_plot_series *s, double x, double y, double err)
{
	if (s->gap_before_next) {
		if (fit_grow(&s->gaps, &s->cap_gaps, s->n_gaps + 1, sizeof *s->gaps))
			return FIT_ENOMEM;
		s->gaps[s->n_gaps++] = s->n;
		s->gap_before_next = false;
	}
	if (fit_grow(&s->points, &s->cap, s->n + 1, sizeof *s->points))
		return FIT_ENOMEM;
	s->points[s->n++] = (struct fit_plot_point){ x, y, err };
	return FIT_OK;
}

int fit_series_add(struct fit_plot_series *s, double x, double y)
{
	return fit_series_add_err(s, x, y, 0);
}

int fit_series_add_cell(struct fit_plot_series *s, double x_from, double x_to, double y_from, double y_to,
			double value)
{
	if (fit_grow(&s->values, &s->cap_values, s->n_values + 1, sizeof *s->values) ||
	    fit_series_add(s, x_from, y_from) || fit_series_add(s, x_to, y_to))
		return FIT_ENOMEM;
	s->values[s->n_values++] = value;
	return FIT_OK;
}

void fit_series_gap(struct fit_plot_series *s)
{
	s->gap_before_next = s->n > 0;
}

int fit_axis_add_tic(struct fit_plot_axis *a, double at, const char *text)
{
	char *copy = NULL;

	if (fit_grow(&a->tics, &a->cap_tics, a->n_tics + 1, sizeof *a->tics) ||
	    fit_grow(&a->at, &a->cap_at, a->n_tics + 1, sizeof *a->at) || fit_plot_text(&copy, text))
		return FIT_ENOMEM;
	a->tics[a->n_tics] = copy;
	a->at[a->n_tics++] = at;
	return FIT_OK;
}

static int check_series(const struct fit_plot_panel *panel, const struct fit_plot_series *s,
			struct fit_err *err)
{
	const char *name = s->label ? s->label : "";

	for (size_t i = 0; i < s->n_values; i++)
		if (!isfinite(s->values[i]) || fabs(s->values[i]) > FIT_PLOT_NUMBER_MAX)
			return fit_fail(err, FIT_EDATA, "cell %zu: a value that cannot be drawn", i + 1);
	for (size_t i = 0; i < s->n; i++) {
		const struct fit_plot_point *p = &s->points[i];

		if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->err) || p->err < 0)
			return fit_fail(err, FIT_EDATA, "series '%s', point %zu: not a finite number", name, i + 1);
		if (fmax(fmax(fabs(p->x), fabs(p->y)), p->err) > FIT_PLOT_NUMBER_MAX)
			return fit_fail(err, FIT_EDATA, "series '%s', point %zu: too large to be drawn (expected at "
					"most %g)", name, i + 1, FIT_PLOT_NUMBER_MAX);
		if ((panel->x.log && p->x <= 0) || (panel->y.log && p->y <= 0))
			return fit_fail(err, FIT_EDATA, "series '%s', point %zu: value '%g' on a logarithmic "
					"axis (expected more than 0)", name, i + 1,
					panel->x.log && p->x <= 0 ? p->x : p->y);
	}
	return FIT_OK;
}

int fit_plot_check(const struct fit_plot *p, struct fit_err *err)
{
	size_t points = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_panels && !rc; i++) {
		points = 0;
		for (size_t k = 0; k < p->panels[i].n_series && !rc; k++) {
			points += p->panels[i].series[k].n;
			rc = check_series(&p->panels[i], &p->panels[i].series[k], err);
		}
		if (!rc && points == 0)
			break;
	}
	if (!rc && points == 0)
		rc = fit_fail(err, FIT_EDATA, "nothing to draw");
	return rc;
}
