/* SPDX-License-Identifier: MIT */
#include "tools/ga2m_rows.h"

#include <stdlib.h>
#include <string.h>

int ga2m_rows_open(struct ga2m_rows *r, const struct fit_ga2m *m, const char *operand, bool csv,
		const char *id,
		   struct fit_err *err)
{
	int rc;

	*r = (struct ga2m_rows){ .m = m, .id = -1, .offset = -1 };
	r->column = calloc(m->n_features + 1, sizeof *r->column);
	r->x = calloc(m->n_features + 1, sizeof *r->x);
	if (!r->column || !r->x)
		return fit_fail_nomem(err);
	rc = fit_input_open(&r->in, operand, csv, err);
	for (size_t f = 0; f < m->n_features && !rc; f++) {
		r->column[f] = fit_input_find(r->in, m->features[f].name, NULL);
		if (r->column[f] < 0)
			rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s', which the model uses",
				      fit_input_name(r->in), m->features[f].name);
	}
	if (!rc && m->offset && (r->offset = fit_input_find(r->in, m->offset, NULL)) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s', the offset of the model",
			      fit_input_name(r->in), m->offset);
	if (!rc && id && (r->id = fit_input_find(r->in, id, NULL)) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s' (--id)", fit_input_name(r->in), id);
	return rc;
}

void ga2m_rows_close(struct ga2m_rows *r)
{
	fit_input_close(r->in);
	free(r->column);
	free(r->x);
}

int ga2m_rows_next(struct ga2m_rows *r, struct fit_err *err)
{
	int rc = fit_input_row(r->in, err);

	r->known = 0;
	if (!rc && r->offset >= 0)
		rc = fit_input_need(r->in, r->offset, false, &r->known, err);
	for (size_t f = 0; f < r->m->n_features && !rc; f++) {
		char buf[FIT_NUM_MAX];

		if (r->m->features[f].nominal)
			r->x[f] = fit_ga2m_category(&r->m->features[f], fit_input_text(r->in, r->column[f], buf));
		else
			rc = fit_input_real(r->in, r->column[f], NULL, &r->x[f], err);
	}
	r->row += rc == FIT_OK;
	return rc;
}

int ga2m_parse_shapes(const struct fit_ga2m *m, const struct cli_list *list, enum fit_ga2m_shape *shapes,
		      struct fit_err *err)
{
	static const char *const names[] = { "free", "increasing", "decreasing", "convex", "concave" };

	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i], *eq = strrchr(text, '=');
		size_t f = 0, k = 0;

		while (f < m->n_features && eq &&
		       !fit_text_is((struct fit_text){ text, (size_t)(eq - text) }, m->features[f].name))
			f++;
		while (k < 5 && eq && strcmp(names[k], eq + 1) != 0)
			k++;
		if (!eq || k == 5 || f == m->n_features || m->features[f].nominal)
			return fit_fail(err, FIT_EINVAL,
					"bad '%s' for --shape (expected a feature that is no category, =, and "
					"increasing, decreasing, convex or concave)", text);
		if (shapes[f] != FIT_GA2M_FREE)
			return fit_fail(err, FIT_EINVAL, "two shapes for '%s' (--shape)", m->features[f].name);
		shapes[f] = (enum fit_ga2m_shape)k;
	}
	return FIT_OK;
}
