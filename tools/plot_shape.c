/* SPDX-License-Identifier: MIT */
#include "tools/plot_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FROM, TO, CATEGORY, FROM_2, TO_2, CATEGORY_2, CLASS, SCORE, SD };

static const struct fit_field fields[] = {
	[FROM] = { "from", FIT_REAL, 0 },
	[TO] = { "to", FIT_REAL, 0 },
	[CATEGORY] = { "category", FIT_TEXT, 0 },
	[FROM_2] = { "from_2", FIT_REAL, FIT_F_OPTIONAL },
	[TO_2] = { "to_2", FIT_REAL, FIT_F_OPTIONAL },
	[CATEGORY_2] = { "category_2", FIT_TEXT, FIT_F_OPTIONAL },
	[CLASS] = { "class", FIT_TEXT, FIT_F_OPTIONAL },
	[SCORE] = { "score", FIT_REAL, FIT_F_NOT_NA },
	[SD] = { "sd", FIT_REAL, FIT_F_OPTIONAL }
};
#define N_FIELDS (sizeof fields / sizeof *fields)

void plot_shape_release(struct plot_shape *s)
{
	for (size_t i = 0; i < s->n_names; i++)
		free(s->names[i]);
	free(s->names);
	free(s->cells);
	fit_table_release(&s->table);
	*s = (struct plot_shape){ 0 };
}

/* One side of a cell: numbers, or a name. */
static int read_side(struct plot_shape *s, size_t row, int first, struct fit_shape_side *side,
		struct fit_err *err)
{
	const struct fit_table *t = &s->table;
	struct fit_text name = fit_column_text(&t->columns[first + 2], row);
	double from = t->columns[first].d[row], to = t->columns[first + 1].d[row];

	*side = (struct fit_shape_side){ from, to, NULL };
	if (fit_real_is_na(from) != fit_real_is_na(to) || (!fit_real_is_na(from) && !(from <= to)) ||
	    (fit_real_is_na(from) && !name.s))
		return fit_table_fail(t, row, FIT_EDATA, fields[first].name, err,
				      "neither a range nor a category (expected what gf-ga2m explain --shape writes)");
	if (!fit_real_is_na(from) && (!isfinite(from) || !isfinite(to)))
		return fit_table_fail(t, row, FIT_EDATA, fields[first].name, err, "a bound that is not finite");
	if (fit_real_is_na(from)) {
		side->category = s->names[s->n_names] = fit_strdup(name);
		if (!side->category)
			return fit_fail_nomem(err);
		s->n_names++;
	}
	return FIT_OK;
}

static int read_cells(struct plot_shape *s, bool map, const char *class, struct fit_err *err)
{
	const struct fit_table *t = &s->table;
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		struct fit_text c = fit_column_text(&t->columns[CLASS], i);
		struct fit_shape_cell *cell = &s->cells[s->n];

		if (c.s && !class)
			return fit_table_fail(t, i, FIT_EDATA, "class", err, "several classes (expected --class)");
		if (c.s && !fit_text_is(c, class))
			continue;
		rc = read_side(s, i, FROM, &cell->x, err);
		if (!rc && map)
			rc = read_side(s, i, FROM_2, &cell->y, err);
		cell->score = t->columns[SCORE].d[i];
		cell->sd = t->columns[SD].d[i];
		if (!rc && (!isfinite(cell->score) ||
			    (!fit_real_is_na(cell->sd) && !(cell->sd >= 0 && isfinite(cell->sd)))))
			rc = fit_table_fail(t, i, FIT_EDATA, "score", err, "a score or spread that is not finite");
		s->n += rc ? 0 : 1;
	}
	return rc;
}

int plot_read_shape(struct plot_shape *s, const char *operand, bool map, const char *class,
		struct fit_err *err)
{
	int rc = fit_table_read(&s->table, operand, fields, N_FIELDS, err);
	bool pair = false;

	if (rc)
		return rc;
	for (size_t i = 0; i < s->table.n_rows; i++)
		pair |= !fit_real_is_na(s->table.columns[FROM_2].d[i]) ||
			fit_column_text(&s->table.columns[CATEGORY_2], i).s;
	if (pair != map)
		return fit_fail(err, FIT_EDATA, "%s: a term of %s (expected %s)", s->table.input,
				pair ? "two features" : "one feature", pair ? "gf-plot heatmap" : "gf-plot shape");
	s->cells = calloc(s->table.n_rows + 1, sizeof *s->cells);
	s->names = calloc(2 * s->table.n_rows + 1, sizeof *s->names);
	if (!s->cells || !s->names)
		return fit_fail_nomem(err);
	s->feature[0] = fit_meta_get(&s->table.meta, "feature");
	s->feature[1] = fit_meta_get(&s->table.meta, "feature_2");
	rc = read_cells(s, map, class, err);
	if (!rc && s->n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows%s", s->table.input, class ? " of that class" : "");
	return rc;
}
