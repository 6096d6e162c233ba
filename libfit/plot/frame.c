/* SPDX-License-Identifier: MIT */
#include "libfit/plot/frame.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

void fit_frame_init(struct fit_frame *f, const char *x)
{
	memset(f, 0, sizeof *f);
	f->fields[f->n_fields++] = (struct fit_field){ x, FIT_TEXT, 0 };
}

void fit_frame_release(struct fit_frame *f)
{
	for (size_t i = 0; i < FIT_FRAME_FIELDS_MAX; i++)
		free(f->columns[i]);
	fit_str_release(&f->texts);
	free(f->text_at);
	free(f->x);
	memset(f, 0, sizeof *f);
}

/* The field of that name, a new one when there is none. */
static size_t add_field(struct fit_frame *f, const char *name)
{
	for (size_t i = 0; i < f->n_fields; i++)
		if (strcmp(f->fields[i].name, name) == 0)
			return i;
	f->fields[f->n_fields] = (struct fit_field){ name, FIT_REAL, 0 };
	return f->n_fields++;
}

int fit_frame_series(struct fit_frame *f, const char *value, const char *error)
{
	size_t k = f->n_series;

	if (k == FIT_FRAME_SERIES_MAX || strcmp(value, f->fields[0].name) == 0 ||
	    (error && strcmp(error, f->fields[0].name) == 0))
		return FIT_EINVAL;
	f->value[k] = add_field(f, value);
	f->is_value[f->value[k]] = true;
	if (error) {
		f->error[k] = add_field(f, error);
		f->is_error[f->error[k]] = true;
	}
	f->n_series++;
	return FIT_OK;
}

static int take_x(struct fit_frame *f, const struct fit_cell *c, double *number, struct fit_err *err)
{
	*number = fit_real_na();
	if (fit_grow(&f->text_at, &f->cap_text_at, f->n_rows + 1, sizeof *f->text_at))
		return fit_fail_nomem(err);
	f->text_at[f->n_rows] = c->na ? SIZE_MAX : f->texts.n;
	if (c->na)
		return FIT_OK;
	if (fit_str_add(&f->texts, c->u.t.s, c->u.t.n) || fit_str_add(&f->texts, "", 1))
		return fit_fail_nomem(err);
	if (fit_parse_double(c->u.t, number))
		f->x_is_text = true;
	else if (f->log_x && !f->x_is_text && *number <= 0)
		return fit_fail(err, FIT_EDATA, "'%g' on a logarithmic axis (expected more than 0)",
				*number);
	return FIT_OK;
}

static int check_value(const struct fit_frame *f, size_t field, double v, struct fit_err *err)
{
	if (!isfinite(v))
		return fit_fail(err, FIT_EDATA, "bad value '%g' (expected a finite number)", v);
	if (fabs(v) > FIT_PLOT_NUMBER_MAX)
		return fit_fail(err, FIT_EDATA, "'%g' is too large to be drawn (expected at most %g)", v,
				FIT_PLOT_NUMBER_MAX);
	if (f->is_value[field] && f->log_y && v <= 0)
		return fit_fail(err, FIT_EDATA, "'%g' on a logarithmic axis (expected more than 0)", v);
	if (f->is_error[field] && v < 0)
		return fit_fail(err, FIT_EDATA, "bad length '%g' of an error bar (expected 0 or more)", v);
	return FIT_OK;
}

int fit_frame_row(struct fit_frame *f, const struct fit_cell *cells, const char **field,
		  struct fit_err *err)
{
	double v;
	int rc;

	*field = f->fields[0].name;
	rc = take_x(f, &cells[0], &v, err);
	for (size_t i = 0; i < f->n_fields && !rc; i++) {
		*field = f->fields[i].name;
		if (i > 0)
			v = cells[i].na ? fit_real_na() : cells[i].u.d;
		if (i > 0 && !cells[i].na)
			rc = check_value(f, i, v, err);
		if (!rc && fit_grow(&f->columns[i], &f->cap[i], f->n_rows + 1, sizeof v))
			rc = fit_fail_nomem(err);
		if (rc)
			break;
		f->columns[i][f->n_rows] = v;
		f->missing += f->is_value[i] && cells[i].na;
	}
	if (!rc)
		f->n_rows++;
	return rc;
}

int fit_frame_rows(struct fit_frame *f, const char *const *labels, size_t n,
		   struct fit_figure_rows *rows)
{
	free(f->x);
	f->x = malloc((f->n_rows + 1) * sizeof *f->x);
	if (!f->x)
		return FIT_ENOMEM;
	for (size_t i = 0; i < f->n_rows; i++)
		f->x[i] = f->text_at[i] == SIZE_MAX ? NULL : f->texts.s + f->text_at[i];
	for (size_t i = 0; i < f->n_series; i++) {
		const char *label = i < n ? labels[i] : NULL;

		f->out[i] = (struct fit_figure_column){
			label ? label : f->fields[f->value[i]].name, f->columns[f->value[i]],
			f->error[i] ? f->columns[f->error[i]] : NULL };
	}
	*rows = (struct fit_figure_rows){ f->x, f->x_is_text ? NULL : f->columns[0], f->n_rows, f->out,
					  f->n_series };
	return FIT_OK;
}

double *fit_frame_x(struct fit_frame *f)
{
	return f->x_is_text ? NULL : f->columns[0];
}
