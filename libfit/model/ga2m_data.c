/* SPDX-License-Identifier: MIT */
/* Training data of a GA2M, filled row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_train.h"

int fit_ga2m_data_init(struct fit_ga2m_data *d, const char *const *names, const bool *nominal,
		       size_t n_columns)
{
	*d = (struct fit_ga2m_data){ .n_columns = n_columns };
	d->columns = calloc(n_columns + 1, sizeof *d->columns);
	for (size_t c = 0; d->columns && c < n_columns; c++) {
		d->columns[c].nominal = nominal && nominal[c];
		d->columns[c].name = fit_strdup(fit_text_of(names[c]));
		if (!d->columns[c].name) {
			fit_ga2m_data_release(d);
			return FIT_ENOMEM;
		}
	}
	return d->columns ? FIT_OK : FIT_ENOMEM;
}

void fit_ga2m_data_release(struct fit_ga2m_data *d)
{
	for (size_t c = 0; d->columns && c < d->n_columns; c++) {
		struct fit_ga2m_column *x = &d->columns[c];

		free(x->name);
		free(x->x);
		free(x->code);
		fit_index_release(&x->index);
		for (size_t i = 0; i < x->n_categories; i++)
			free(x->categories[i]);
		free(x->categories);
	}
	free(d->columns);
	free(d->y);
	free(d->weight);
	free(d->offset);
	free(d->known);
	free(d->time);
	free(d->group);
	for (size_t i = 0; d->classes && i < d->n_classes; i++)
		free(d->classes[i]);
	free(d->classes);
	*d = (struct fit_ga2m_data){ 0 };
}

/* All columns have the same room. */
static int make_room(struct fit_ga2m_data *d)
{
	size_t cap = d->cap_rows ? 2 * d->cap_rows : 1024;

	if (d->n_rows < d->cap_rows)
		return FIT_OK;
	for (size_t c = 0; c <= d->n_columns; c++) {
		bool nominal = c < d->n_columns && d->columns[c].nominal;
		void *old = c == d->n_columns ? (void *)d->y : nominal ? (void *)d->columns[c].code :
			    (void *)d->columns[c].x;
		void *more = realloc(old, cap * (nominal ? sizeof(uint32_t) : sizeof(double)));

		if (!more)
			return FIT_ENOMEM;
		if (c == d->n_columns)
			d->y = more;
		else if (nominal)
			d->columns[c].code = more;
		else
			d->columns[c].x = more;
	}
	d->cap_rows = cap;
	return FIT_OK;
}

static int category_code(struct fit_ga2m_column *x, struct fit_text t, uint32_t *code)
{
	char buf[40], *copy;
	int rc;

	*code = FIT_GA2M_MISSING;
	if (!t.s)
		return FIT_OK;
	t = fit_ga2m_category_text(t, buf);
	*code = fit_index_get(&x->index, t);
	if (*code != FIT_NO_INDEX)
		return FIT_OK;
	if (fit_grow(&x->categories, &x->cap_categories, x->n_categories + 1, sizeof *x->categories) ||
	    !(copy = fit_strdup(t)))
		return FIT_ENOMEM;
	rc = fit_index_put(&x->index, t, (uint32_t)x->n_categories, NULL);
	if (rc) {
		free(copy);
		return rc;
	}
	*code = (uint32_t)x->n_categories;
	x->categories[x->n_categories++] = copy;
	return FIT_OK;
}

int fit_ga2m_data_add(struct fit_ga2m_data *d, const double *x, const struct fit_text *t, double y)
{
	size_t i = d->n_rows;
	int rc = make_room(d);

	for (size_t c = 0; c < d->n_columns && !rc; c++) {
		if (d->columns[c].nominal)
			rc = category_code(&d->columns[c], t[c], &d->columns[c].code[i]);
		else
			d->columns[c].x[i] = x[c] + 0.0; /* -0 is 0 */
	}
	if (rc)
		return rc;
	d->y[i] = y;
	d->n_rows++;
	return FIT_OK;
}
