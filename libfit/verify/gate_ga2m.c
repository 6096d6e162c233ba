/* SPDX-License-Identifier: MIT */
/* The model gate on GA2Ms (model/ga2m.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_json.h"
#include "libfit/model/ga2m_review.h"
#include "libfit/model/ga2m_train.h"
#include "libfit/verify/gate_kind.h"

static bool is(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	return strcmp(table, "ga2m") == 0 || (has(arg, "class") && has(arg, "intercept"));
}

static bool is_json(struct fit_text bytes)
{
	return strstr(bytes.s, "\"ebm\"") != NULL;
}

static void free_model(void *model)
{
	if (model)
		fit_ga2m_release(model);
	free(model);
}

/* Parameters that it names must be some. */
static int says_training(const struct fit_ga2m *m, const char *operand, struct fit_err *err)
{
	size_t (*pairs)[2] = malloc((m->n_terms + 1) * sizeof *pairs);
	enum fit_ga2m_shape *shapes = calloc(m->n_features + 1, sizeof *shapes);
	struct fit_ga2m_params p = fit_ga2m_params_default(m->loss);
	struct fit_err why;
	int rc = pairs && shapes ? fit_ga2m_trained(m, &p, pairs, shapes, &why) : fit_fail_nomem(&why);

	free(pairs);
	free(shapes);
	return rc ? fit_fail(err, rc, "%s: %s", operand, why.msg) : FIT_OK;
}

static int load(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	struct fit_ga2m *m = calloc(1, sizeof *m);
	struct fit_reader *r = NULL;
	int rc = m ? FIT_OK : fit_fail_nomem(err);

	if (!rc && s->json) {
		rc = fit_ga2m_read_json(m, s->name, s->bytes.s, s->bytes.n, err);
	} else if (!rc && fit_is_store(s->operand)) {
		rc = fit_ga2m_read(m, s->operand, s->hash, err);
	} else if (!rc) {
		rc = fit_gate_source_reader(s, &r, err);
		rc = rc ? rc : fit_ga2m_read_next(m, r, err);
		fit_reader_close(r);
	}
	if (!rc && (rc = says_training(m, s->operand, err)) != FIT_OK)
		fit_ga2m_release(m);
	if (rc) {
		free(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- rows: the features, and behind them what else training takes of a row ---- */

enum { OFFSET, TIME, GROUP, N_EXTRA };	/* at n_features and on */

/* The groups of rows that validation keeps together, by number as met. */
static int take_groups(struct fit_gate_set *s, size_t at, const struct fit_column *c, struct fit_err *err)
{
	struct fit_index index = { 0 };
	uint32_t n = 0, found;
	char buf[40];
	int rc = FIT_OK;

	for (size_t i = 0; i < s->n && !rc; i++) {
		struct fit_text t = fit_gate_text(c, i, buf);

		s->x[i * s->n_x + at] = (double)NAN;
		if (!t.s)
			continue;
		if (fit_index_put(&index, t, n, &found))
			rc = fit_fail_nomem(err);
		s->x[i * s->n_x + at] = found == FIT_NO_INDEX ? n++ : found;
	}
	fit_index_release(&index);
	return rc;
}

/* The weight, and what validation goes by, of rows that a model may be trained on. */
static int take_training(const struct fit_ga2m *m, const struct fit_table *table, struct fit_gate_set *s,
			 struct fit_err *err)
{
	const char *group = fit_meta_get(&m->meta, FIT_GA2M_TRAINED_GROUP);
	const struct fit_column *c;
	int rc = FIT_OK;

	if (m->weight)
		rc = fit_gate_column(table, m->weight, &c, err);
	if (!rc && m->weight)
		rc = fit_gate_set_weights(s, table, c, err);
	if (!rc && m->time)
		rc = fit_gate_column(table, m->time, &c, err);
	if (!rc && m->time)
		rc = fit_gate_set_numbers(s, m->n_features + TIME, table, c, err);
	if (!rc && group)
		rc = fit_gate_column(table, group, &c, err);
	return rc || !group ? rc : take_groups(s, m->n_features + GROUP, c, err);
}

static int take_target(const struct fit_ga2m *m, const struct fit_table *table, const char *target,
		       bool measured, struct fit_gate_set *s, struct fit_err *err)
{
	const char *name = target ? target : m->target;
	const struct fit_column *c = name ? fit_table_column(table, name) : NULL;
	char buf[40], mine[40], theirs[40];

	if (!c && measured)
		return fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", table->input, name ? name :
				"target");
	if (c && !m->n_classes)
		return fit_gate_set_numbers(s, SIZE_MAX, table, c, err);
	for (size_t i = 0; i < s->n; i++) {
		struct fit_text t = c ? fit_gate_text(c, i, buf) : (struct fit_text){ NULL, 0 };

		s->y[i] = t.s ? -1 : (double)NAN;
		for (size_t k = 0; t.s && k < m->n_classes; k++)
			if (fit_text_eq(fit_ga2m_category_text(t, mine),
					fit_ga2m_category_text(fit_text_of(m->classes[k]), theirs)))
				s->y[i] = (double)k;
	}
	return FIT_OK;
}

static int rows(const void *model, const struct fit_table *table, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_ga2m *m = model;
	const struct fit_column *c;
	char buf[40];
	int rc = fit_gate_set_init(s, table->n_rows, m->n_features + N_EXTRA, false, err);

	for (size_t f = 0; f < m->n_features && !rc; f++) {
		rc = fit_gate_column(table, m->features[f].name, &c, err);
		if (!rc && !m->features[f].nominal)
			rc = fit_gate_set_numbers(s, f, table, c, err);
		for (size_t i = 0; i < s->n && !rc && m->features[f].nominal; i++)
			s->x[i * s->n_x + f] = fit_ga2m_category(&m->features[f], fit_gate_text(c, i, buf));
	}
	if (!rc && m->offset)
		rc = fit_gate_column(table, m->offset, &c, err);
	if (!rc && m->offset)
		rc = fit_gate_set_numbers(s, m->n_features + OFFSET, table, c, err);
	rc = rc || !measured ? rc : take_training(m, table, s, err);
	rc = rc ? rc : take_target(m, table, target, measured, s, err);
	if (!rc && m->loss == FIT_GA2M_QUANTILE)
		s->quantile = m->quantile;
	else if (!rc && m->loss == FIT_GA2M_ABSOLUTE)
		s->quantile = 0.5;
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = fit_gate_set_group(s, i, FIT_TEXT_LIT(""), err);
	return rc;
}

static bool feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	const struct fit_ga2m *m = model;

	if (i >= m->n_features)
		return false;
	*f = (struct fit_gate_feature){ m->features[i].name, m->features[i].nominal };
	return true;
}

static enum fit_gate_metric metric(const void *model)
{
	return fit_ga2m_is_class(((const struct fit_ga2m *)model)->loss) ? FIT_GATE_WRONG :
		FIT_GATE_UNEXPLAINED;
}

static const char *class_name(const void *model, size_t k)
{
	const struct fit_ga2m *m = model;

	return k < m->n_classes ? m->classes[k] : NULL;
}

#define CLASSES_MAX 256

/* The number, or the most probable class, the first of equal ones. */
static double predict(const void *model, const char *group, const double *x)
{
	const struct fit_ga2m *m = model;
	double score[CLASSES_MAX], out[CLASSES_MAX];
	size_t best = 0;

	(void)group;
	if (m->n_outputs > CLASSES_MAX || m->n_classes > CLASSES_MAX)
		return (double)NAN;
	fit_ga2m_score(m, x, score);
	for (size_t o = 0; o < m->n_outputs; o++)
		score[o] += x[m->n_features + OFFSET];
	fit_ga2m_link_inverse(m, score, out);
	if (!m->n_classes)
		return out[0];
	for (size_t k = 1; k < m->n_classes; k++)
		best = out[k] > out[best] ? k : best;
	return (double)best;
}

/* ---- what the model keeps of its training ---- */

static size_t bins(const void *model, size_t i, const double **counts)
{
	const struct fit_ga2m *m = model;
	size_t t = fit_ga2m_find_term(m, i, SIZE_MAX);

	if (t == SIZE_MAX)
		return 0;
	*counts = m->terms[t].weight;
	return m->terms[t].n_bins[0];
}

static size_t bin(const void *model, size_t i, double x)
{
	const struct fit_ga2m *m = model;

	return fit_ga2m_bin(&m->features[i], m->terms[fit_ga2m_find_term(m, i, SIZE_MAX)].level[0], x);
}

static bool inside(const void *model, size_t i, double x)
{
	const struct fit_ga2m *m = model;
	const struct fit_ga2m_feature *f = &m->features[i];
	const double *counts;

	if (isnan(x))
		return bins(model, i, &counts) && counts[0] > 0;
	return f->nominal ? x >= 0 : !(x < f->min) && !(x > f->max);
}

/* ---- refit ---- */

static int copy_classes(const struct fit_ga2m *m, struct fit_ga2m_data *d, struct fit_err *err)
{
	if (!m->n_classes)
		return FIT_OK;
	d->classes = calloc(m->n_classes, sizeof *d->classes);
	if (!d->classes)
		return fit_fail_nomem(err);
	d->n_classes = m->n_classes;
	for (size_t k = 0; k < m->n_classes; k++)
		if (!(d->classes[k] = fit_strdup(fit_text_of(m->classes[k]))))
			return fit_fail_nomem(err);
	return FIT_OK;
}

/* Number the groups of the rows that are there from 0, in the order of their numbers. */
static int renumber(double *group, size_t n, size_t most, struct fit_err *err)
{
	double *to = calloc(most + 1, sizeof *to), next = 0;

	if (!to)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		to[(size_t)group[i]] = 1;
	for (size_t k = 0; k <= most; k++)
		to[k] = to[k] > 0 ? next++ : 0;
	for (size_t i = 0; i < n; i++)
		group[i] = to[(size_t)group[i]];
	free(to);
	return FIT_OK;
}

/* Is all there that training needs of a row? */
static bool can_train(const struct fit_ga2m *m, const struct fit_gate_set *s, const struct fit_ga2m_data *d,
		      size_t i)
{
	const double *extra = &s->x[i * s->n_x + m->n_features];

	return isfinite(s->y[i]) && (!m->n_classes || s->y[i] >= 0) && (!d->offset || isfinite(extra[OFFSET])) &&
	       (!d->time || isfinite(extra[TIME])) && (!d->group || isfinite(extra[GROUP]));
}

static int fill(const struct fit_ga2m *m, const struct fit_gate_set *s, const bool *use,
		struct fit_ga2m_data *d, struct fit_err *err)
{
	const struct {
		bool has;
		double **to;
		size_t at;
	} extras[N_EXTRA] = { { m->offset != NULL, &d->offset, OFFSET }, { m->time != NULL, &d->time, TIME },
			      { fit_meta_get(&m->meta, FIT_GA2M_TRAINED_GROUP) != NULL, &d->group, GROUP } };
	struct fit_text *t = calloc(m->n_features + 1, sizeof *t);
	int rc = t ? FIT_OK : fit_fail_nomem(err);

	for (size_t k = 0; k < N_EXTRA && !rc; k++)
		if (extras[k].has && !(*extras[k].to = malloc((s->n + 1) * sizeof **extras[k].to)))
			rc = fit_fail_nomem(err);
	if (!rc && s->w && !(d->weight = malloc((s->n + 1) * sizeof *d->weight)))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < s->n && !rc; i++) {
		const double *x = &s->x[i * s->n_x];

		if (!use[i] || !can_train(m, s, d, i))
			continue;
		for (size_t f = 0; f < m->n_features; f++)
			t[f] = m->features[f].nominal && x[f] >= 0 ?
				fit_text_of(m->features[f].categories[(size_t)x[f]]) :
			       (struct fit_text){ NULL, 0 };
		for (size_t k = 0; k < N_EXTRA; k++)
			if (extras[k].has)
				(*extras[k].to)[d->n_rows] = x[m->n_features + extras[k].at];
		if (d->weight)
			d->weight[d->n_rows] = s->w[i];
		if (fit_ga2m_data_add(d, x, t, s->y[i]))
			rc = fit_fail_nomem(err);
	}
	if (!rc && d->group)
		rc = renumber(d->group, d->n_rows, s->n, err);
	free(t);
	return rc;
}

static int make_data(const struct fit_ga2m *m, const struct fit_gate_set *s, const bool *use,
		     struct fit_ga2m_data *d,
		     struct fit_err *err)
{
	const char **names = calloc(m->n_features + 1, sizeof *names);
	bool *nominal = calloc(m->n_features + 1, sizeof *nominal);
	int rc = FIT_OK;

	for (size_t f = 0; names && nominal && f < m->n_features; f++) {
		names[f] = m->features[f].name;
		nominal[f] = m->features[f].nominal;
	}
	if (!names || !nominal || fit_ga2m_data_init(d, names, nominal, m->n_features))
		rc = fit_fail_nomem(err);
	free(names);
	free(nominal);
	rc = rc ? rc : copy_classes(m, d, err);
	return rc ? rc : fill(m, s, use, d, err);
}

/* The parameters that the model says it was trained with; of one that says nothing the defaults, with its
 * pairs. */
static int params_of(const struct fit_ga2m *old, struct fit_ga2m_params *p, size_t (*pairs)[2],
		     enum fit_ga2m_shape *shapes, const struct fit_gate_inputs *in, struct fit_err *err)
{
	int rc;

	*p = fit_ga2m_params_default(old->loss);
	rc = fit_ga2m_trained(old, p, pairs, shapes, err);
	p->seed = in->seed;
	p->threads = in->threads > 1 ? in->threads : 1;
	/* groups that nobody named cannot be kept together */
	if (p->validation == FIT_GA2M_GROUPS && !fit_meta_get(&old->meta, FIT_GA2M_TRAINED_GROUP))
		p->validation = FIT_GA2M_AUTO;
	return rc;
}

/* A GA2M of the same loss, weights and parameters. */
static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	const struct fit_ga2m *old = like;
	struct fit_ga2m_params p;
	size_t (*pairs)[2] = malloc((old->n_terms + 1) * sizeof *pairs);
	enum fit_ga2m_shape *shapes = calloc(old->n_features + 1, sizeof *shapes);
	struct fit_ga2m_data d = { .n_rows = 0 };
	struct fit_ga2m *m = calloc(1, sizeof *m);
	int rc = m && pairs && shapes ? make_data(old, s, use, &d, err) : fit_fail_nomem(err);

	rc = rc ? rc : params_of(old, &p, pairs, shapes, in, err);
	rc = rc ? rc : fit_ga2m_train(m, &d, &p, NULL, err);
	if (!rc && old->offset && !(m->offset = fit_strdup(fit_text_of(old->offset))))
		rc = fit_fail_nomem(err);
	fit_ga2m_data_release(&d);
	free(pairs);
	free(shapes);
	if (rc) {
		free_model(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- checks of its own ---- */

static int set_shape(const struct fit_ga2m *m, const char *text, enum fit_ga2m_shape *shapes,
		     struct fit_err *err)
{
	const char *const *names = fit_ga2m_shape_names, *eq = strrchr(text, '=');
	size_t k = 1;

	while (eq && k < 5 && strcmp(names[k], eq + 1) != 0)
		k++;
	for (size_t f = 0; eq && k < 5 && f < m->n_features; f++)
		if (!m->features[f].nominal &&
		    fit_text_is((struct fit_text){ text, (size_t)(eq - text) }, m->features[f].name)) {
			shapes[f] = (enum fit_ga2m_shape)k;
			return FIT_OK;
		}
	return fit_fail(err, FIT_EINVAL,
			"bad '%s' for --shape (expected a feature that is no category, =, and "
			"increasing, decreasing, convex or concave)", text);
}

/* The findings of a review that are of the check that runs: how many fail, and the first that does. */
static int say_review(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_ga2m *m = r->model;
	enum fit_ga2m_shape *shapes = calloc(m->n_features + 1, sizeof *shapes);
	struct fit_ga2m_review_params p = fit_ga2m_review_params_default();
	struct fit_ga2m_findings f = { .n = 0 };
	struct fit_str name = { 0 };
	size_t faults = 0, first = SIZE_MAX;
	int rc = shapes ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < r->in->n_shapes && !rc; i++)
		rc = set_shape(m, r->in->shapes[i], shapes, err);
	p.shapes = shapes;
	rc = rc ? rc : fit_ga2m_review(m, &p, &f, err);
	for (size_t i = 0; i < f.n && !rc; i++) {
		if (!f.list[i].fails || strcmp(f.list[i].check, r->rule->check) != 0)
			continue;
		faults++;
		first = first == SIZE_MAX ? i : first;
	}
	if (!rc && first != SIZE_MAX && f.list[first].term != SIZE_MAX &&
	    fit_ga2m_term_name(m, f.list[first].term, &name))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = faults ? fit_gate_at_most(r, name.s, (double)faults, err, "%s", f.list[first].what) :
		     fit_gate_at_most(r, NULL, 0, err, "of %zu terms", m->n_terms);
	fit_str_release(&name);
	free(f.list);
	free(shapes);
	return rc;
}

static int check_shape(struct fit_gate_run *r, struct fit_err *err)
{
	if (!r->in->n_shapes)
		return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_NOTED, err,
				    "not looked at: needs --shape");
	return say_review(r, err);
}

static const struct fit_gate_check checks[] = {
	{ "shape", 0, check_shape },
	{ "centred", 0, say_review },
	{ "pure", 0, say_review },
	{ "spike", 0, say_review },
	{ "edge", 0, say_review },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_ga2m = {
	.name = "ga2m", .what = "a GA2M", .checks = checks, .is = is, .is_json = is_json,
	.load = load, .free = free_model, .metric_of = metric, .class_name = class_name,
	.feature = feature, .rows = rows, .predict = predict, .refit = refit, .bins = bins,
	.bin = bin, .inside = inside,
};
