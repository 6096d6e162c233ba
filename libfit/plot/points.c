/* SPDX-License-Identifier: MIT */
#include "libfit/plot/points.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL, SERIES, X, Y, ERROR, LOOK, STYLE };

static const struct {
	const char *name;
	enum fit_plot_style style;
	bool hollow;
} styles[] = {
	{ "lines", FIT_PLOT_LINES, false },   { "curve", FIT_PLOT_CURVE, false },
	{ "steps", FIT_PLOT_STEPS, false },   { "area", FIT_PLOT_AREA, false },
	{ "points", FIT_PLOT_POINTS, false }, { "hollow", FIT_PLOT_POINTS, true },
};

void fit_points_init(struct fit_points *p, const struct fit_points_columns *c)
{
	const char *names[] = { c->panel, c->series, c->x, c->y, c->error, c->look, c->style };

	memset(p, 0, sizeof *p);
	for (size_t i = 0; i < FIT_POINTS_FIELDS_MAX; i++) {
		bool number = i == X || i == Y || i == ERROR;

		p->at[i] = names[i] ? p->n_fields : SIZE_MAX;
		if (names[i])
			p->fields[p->n_fields++] = (struct fit_field){ names[i], number ? FIT_REAL : FIT_TEXT, 0 };
	}
	p->has_err = c->error != NULL;
}

static void release_names(struct fit_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
}

void fit_points_release(struct fit_points *p)
{
	release_names(&p->panels);
	release_names(&p->names);
	release_names(&p->looks);
	free(p->series);
	free(p->points);
	memset(p, 0, sizeof *p);
}

/* The number of a name; a new one when it was not seen. NA is the name "NA". */
static int number_of(struct fit_names *names, const struct fit_cell *c, size_t *number)
{
	struct fit_text t = { "", 0 };
	char *copy;

	if (c)
		t = c->na ? fit_text_of("NA") : c->u.t;
	/* long tables come in runs of one name: look from the end */
	for (size_t i = names->n; i-- > 0;) {
		if (fit_text_is(t, names->name[i])) {
			*number = i;
			return FIT_OK;
		}
	}
	if (fit_grow(&names->name, &names->cap, names->n + 1, sizeof *names->name))
		return FIT_ENOMEM;
	copy = malloc(t.n + 1);
	if (!copy)
		return FIT_ENOMEM;
	memcpy(copy, t.s, t.n);
	copy[t.n] = '\0';
	*number = names->n;
	names->name[names->n++] = copy;
	return FIT_OK;
}

static const struct fit_cell *cell_of(const struct fit_points *p, const struct fit_cell *cells, int what)
{
	return p->at[what] == SIZE_MAX ? NULL : &cells[p->at[what]];
}

/* Look and style of a series are those of its first row. */
static int start_series(struct fit_points *p, size_t number, const struct fit_cell *cells,
			const char **field, struct fit_err *err)
{
	const struct fit_cell *style = cell_of(p, cells, STYLE), *look = cell_of(p, cells, LOOK);
	struct fit_points_series *s;

	if (fit_grow(&p->series, &p->cap_series, number + 1, sizeof *p->series))
		return fit_fail_nomem(err);
	s = &p->series[number];
	*s = (struct fit_points_series){ .style = FIT_PLOT_LINES };
	if (number_of(&p->looks, look ? look : cell_of(p, cells, SERIES), &s->look))
		return fit_fail_nomem(err);
	if (!style || style->na)
		return FIT_OK;
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
		if (fit_text_is(style->u.t, styles[i].name)) {
			s->style = styles[i].style;
			s->hollow = styles[i].hollow;
			return FIT_OK;
		}
	}
	*field = p->fields[p->at[STYLE]].name;
	return fit_fail(err, FIT_EDATA, "bad style '%.*s' (expected lines, curve, steps, area, points or "
			"hollow)", FIT_TEXT_ARG(style->u.t));
}

static int take_number(const struct fit_points *p, const struct fit_cell *cells, int what, bool log,
		       double *v, const char **field, struct fit_err *err)
{
	const struct fit_cell *c = cell_of(p, cells, what);

	*v = !c || c->na ? fit_real_na() : c->u.d;
	if (!c || c->na)
		return FIT_OK;
	*field = p->fields[p->at[what]].name;
	if (!isfinite(*v))
		return fit_fail(err, FIT_EDATA, "bad value '%g' (expected a finite number)", *v);
	if (fabs(*v) > FIT_PLOT_NUMBER_MAX)
		return fit_fail(err, FIT_EDATA, "'%g' is too large to be drawn (expected at most %g)", *v,
				FIT_PLOT_NUMBER_MAX);
	if (log && *v <= 0)
		return fit_fail(err, FIT_EDATA, "'%g' on a logarithmic axis (expected more than 0)", *v);
	if (what == ERROR && *v < 0)
		return fit_fail(err, FIT_EDATA, "bad length '%g' of an error bar (expected 0 or more)", *v);
	return FIT_OK;
}

int fit_points_row(struct fit_points *p, const struct fit_cell *cells, const char **field,
		   struct fit_err *err)
{
	struct fit_point q = { 0 };
	size_t seen = p->names.n;
	int rc;

	*field = NULL;
	if (number_of(&p->panels, cell_of(p, cells, PANEL), &q.panel) ||
	    number_of(&p->names, cell_of(p, cells, SERIES), &q.series))
		return fit_fail_nomem(err);
	rc = p->names.n > seen ? start_series(p, q.series, cells, field, err) : FIT_OK;
	rc = rc ? rc : take_number(p, cells, X, p->log_x, &q.x, field, err);
	rc = rc ? rc : take_number(p, cells, Y, p->log_y, &q.y, field, err);
	rc = rc ? rc : take_number(p, cells, ERROR, false, &q.err, field, err);
	if (rc)
		return rc;
	if (fit_grow(&p->points, &p->cap, p->n + 1, sizeof q))
		return fit_fail_nomem(err);
	p->missing += fit_real_is_na(q.x) || fit_real_is_na(q.y);
	p->points[p->n++] = q;
	return FIT_OK;
}
