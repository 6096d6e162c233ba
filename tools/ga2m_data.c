/* SPDX-License-Identifier: MIT */
#include "tools/ga2m_data.h"

#include <stdlib.h>
#include <string.h>

void ga2m_columns_release(struct ga2m_columns *c)
{
	free(c->feature);
	free(c->name);
	free(c->nominal);
}

static int find(const struct fit_input *in, const char *name, int *at, struct fit_err *err)
{
	*at = -1;
	return name ? fit_input_require(in, name, at, err) : FIT_OK;
}

int ga2m_find_columns(const struct fit_input *in, const struct ga2m_train_options *o, struct ga2m_columns *c,
		      struct fit_err *err)
{
	const struct cli_list *lists[] = { &o->feature, &o->exclude, &o->nominal };
	size_t n = 0;
	int at, rc = find(in, o->target, &c->target, err);

	if (!rc)
		rc = find(in, o->weight, &c->weight, err);
	if (!rc)
		rc = find(in, o->offset, &c->offset, err);
	if (!rc)
		rc = find(in, o->time, &c->time, err);
	if (!rc)
		rc = find(in, o->group, &c->group, err);
	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lists[l]->n && !rc; i++)
			rc = find(in, lists[l]->items[i], &at, err);
	while (fit_input_column(in, (int)n))
		n++;
	c->feature = calloc(n + 1, sizeof *c->feature);
	c->name = calloc(n + 1, sizeof *c->name);
	c->nominal = calloc(n + 1, sizeof *c->nominal);
	if (!rc && (!c->feature || !c->name || !c->nominal))
		rc = fit_fail_nomem(err);
	for (int i = 0; i < (int)n && !rc; i++) {
		const char *name = fit_input_column(in, i);

		if (i == c->target || i == c->weight || i == c->offset || i == c->time || i == c->group ||
		    (o->feature.n && !cli_listed(&o->feature, name)) || cli_listed(&o->exclude, name))
			continue;
		c->feature[c->n] = i;
		c->name[c->n] = name;
		c->nominal[c->n++] = cli_listed(&o->nominal, name) || fit_input_is_text(in, i);
	}
	if (!rc && c->n == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no column is left as a feature", fit_input_name(in));
	return rc;
}

/* ---- reading ---- */

/* Texts to numbers in order of appearance: classes and groups. */
struct names {
	struct fit_index index;
	char **name;
	size_t n, cap;
};

static void names_release(struct names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
	fit_index_release(&s->index);
}

static int name_number(struct names *s, struct fit_text t, double *number)
{
	uint32_t found;
	char buf[40];
	int rc;

	t = fit_ga2m_category_text(t, buf);
	rc = fit_index_put(&s->index, t, (uint32_t)s->n, &found);
	if (rc)
		return rc;
	*number = found == FIT_NO_INDEX ? (double)s->n : found;
	if (found != FIT_NO_INDEX)
		return FIT_OK;
	if (fit_grow(&s->name, &s->cap, s->n + 1, sizeof *s->name) || !(s->name[s->n] = fit_strdup(t)))
		return FIT_ENOMEM;
	s->n++;
	return FIT_OK;
}

static int by_text(const void *pa, const void *pb)
{
	char *const *a = pa, *const *b = pb;

	return fit_text_cmp_natural(fit_text_of(*a), fit_text_of(*b));
}

/* Classes in their order (numbers among them by value), and y with them. */
static int order_classes(struct names *s, struct fit_ga2m_data *d)
{
	double *number = calloc(s->n + 1, sizeof *number);

	if (!number)
		return FIT_ENOMEM;
	qsort(s->name, s->n, sizeof *s->name, by_text);
	for (size_t i = 0; i < s->n; i++)
		number[fit_index_get(&s->index, fit_text_of(s->name[i]))] = (double)i;
	for (size_t i = 0; i < d->n_rows; i++)
		d->y[i] = number[(size_t)d->y[i]];
	free(number);
	d->classes = s->name;
	d->n_classes = s->n;
	s->name = NULL;
	s->n = 0;
	return FIT_OK;
}

static int keep(double **a, size_t *cap, size_t i, double v)
{
	if (fit_grow(a, cap, i + 1, sizeof **a))
		return FIT_ENOMEM;
	(*a)[i] = v;
	return FIT_OK;
}

static int get_target(const struct fit_input *in, const struct ga2m_train_options *o,
		const struct ga2m_columns *c,
		      struct names *classes, double *y, struct fit_err *err)
{
	enum fit_ga2m_loss loss = (enum fit_ga2m_loss)o->loss;
	char buf[FIT_NUM_MAX];
	struct fit_text t;
	int rc;

	if (fit_ga2m_is_class(loss)) {
		t = fit_input_text(in, c->target, buf);
		if (!t.s)
			return fit_input_fail(in, c->target, err, "missing value (expected a class)");
		return name_number(classes, t, y) ? fit_fail_nomem(err) : FIT_OK;
	}
	rc = fit_input_need(in, c->target, false, y, err);
	if (!rc && loss == FIT_GA2M_GAMMA && !(*y > 0))
		return fit_input_fail(in, c->target, err, "bad target '%g' (expected above 0, for gamma loss)", *y);
	if (!rc && loss == FIT_GA2M_POISSON && !(*y >= 0))
		return fit_input_fail(in, c->target, err,
				"bad target '%g' (expected 0 or more, for poisson loss)", *y);
	return rc;
}

struct extra {
	size_t weight, offset, time, group;	/* room */
	struct names classes, groups;
};

/* Weight, offset, time and group of the current row, which will be row i. */
static int get_extra(const struct fit_input *in, const struct ga2m_columns *c, struct fit_ga2m_data *d,
		size_t i,
		     struct extra *e, struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	double v = 0;
	int rc = FIT_OK;

	if (c->weight >= 0) {
		rc = fit_input_need(in, c->weight, false, &v, err);
		if (!rc && v < 0)
			return fit_input_fail(in, c->weight, err, "bad weight '%g' (expected 0 or more)", v);
		if (!rc && keep(&d->weight, &e->weight, i, v))
			return fit_fail_nomem(err);
	}
	if (c->offset >= 0 && !rc) {
		rc = fit_input_need(in, c->offset, false, &v, err);
		if (!rc && keep(&d->offset, &e->offset, i, v))
			return fit_fail_nomem(err);
	}
	if (c->time >= 0 && !rc) {
		rc = fit_input_need(in, c->time, false, &v, err);
		if (!rc && keep(&d->time, &e->time, i, v))
			return fit_fail_nomem(err);
	}
	if (c->group >= 0 && !rc) {
		struct fit_text t = fit_input_text(in, c->group, buf);

		if (!t.s)
			return fit_input_fail(in, c->group, err, "missing value (expected a group)");
		if (name_number(&e->groups, t, &v) || keep(&d->group, &e->group, i, v))
			return fit_fail_nomem(err);
	}
	return rc;
}

int ga2m_read_rows(struct fit_input *in, const struct ga2m_train_options *o, const struct ga2m_columns *c,
		   struct fit_ga2m_data *d, struct fit_err *err)
{
	double *x = calloc(c->n + 1, sizeof *x), y = 0;
	struct fit_text *t = calloc(c->n + 1, sizeof *t);
	char (*buf)[FIT_NUM_MAX] = calloc(c->n + 1, sizeof *buf);
	struct extra e = { 0 };
	int rc = x && t && buf && !fit_ga2m_data_init(d, c->name, c->nominal, c->n) ? FIT_OK : fit_fail_nomem(err);

	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK) {
		rc = get_target(in, o, c, &e.classes, &y, err);
		for (size_t f = 0; f < c->n && !rc; f++) {
			if (c->nominal[f])
				t[f] = fit_input_text(in, c->feature[f], buf[f]);
			else
				rc = fit_input_real(in, c->feature[f], "; --nominal for categories", &x[f], err);
		}
		rc = rc ? rc : get_extra(in, c, d, d->n_rows, &e, err);
		if (!rc && fit_ga2m_data_add(d, x, t, y))
			rc = fit_fail_nomem(err);
	}
	rc = rc == FIT_END ? FIT_OK : rc;
	if (!rc && fit_ga2m_is_class((enum fit_ga2m_loss)o->loss) && order_classes(&e.classes, d))
		rc = fit_fail_nomem(err);
	if (!rc && d->n_rows == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", fit_input_name(in));
	free(x);
	free(t);
	free(buf);
	names_release(&e.classes);
	names_release(&e.groups);
	return rc;
}
