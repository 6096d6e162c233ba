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
	if (rc) {
		free(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- rows: the features, and behind them the offset ---- */

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
	int rc = fit_gate_set_init(s, table->n_rows, m->n_features + 1, false, err);

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
		rc = fit_gate_set_numbers(s, m->n_features, table, c, err);
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
		score[o] += x[m->n_features];
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

static int fill(const struct fit_ga2m *m, const struct fit_gate_set *s, const bool *use,
		struct fit_ga2m_data *d,
		struct fit_err *err)
{
	struct fit_text *t = calloc(m->n_features + 1, sizeof *t);
	double *offset = m->offset ? malloc((s->n + 1) * sizeof *offset) : NULL;
	int rc = t && (offset || !m->offset) ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < s->n && !rc; i++) {
		const double *x = &s->x[i * s->n_x];

		if (!use[i] || !isfinite(s->y[i]) || (m->n_classes && s->y[i] < 0) ||
		    (offset && !isfinite(x[m->n_features])))
			continue;
		for (size_t f = 0; f < m->n_features; f++)
			t[f] = m->features[f].nominal && x[f] >= 0 ?
				fit_text_of(m->features[f].categories[(size_t)x[f]]) :
			       (struct fit_text){ NULL, 0 };
		if (offset)
			offset[d->n_rows] = x[m->n_features];
		if (fit_ga2m_data_add(d, x, t, s->y[i]))
			rc = fit_fail_nomem(err);
	}
	d->offset = offset;
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

/* The same loss and the same pairs, at most two bags: enough to tell whether such a model over-fits. */
static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 uint64_t seed, struct fit_err *err)
{
	const struct fit_ga2m *old = like;
	struct fit_ga2m_params p = fit_ga2m_params_default(old->loss);
	size_t (*pairs)[2] = malloc((old->n_terms + 1) * sizeof *pairs);
	struct fit_ga2m_data d = { .n_rows = 0 };
	struct fit_ga2m *m = calloc(1, sizeof *m);
	int rc = m && pairs ? make_data(old, s, use, &d, err) : fit_fail_nomem(err);

	p.quantile = old->loss == FIT_GA2M_QUANTILE ? old->quantile : p.quantile;
	p.bags = 2;
	p.seed = seed;
	p.pairs = 0;
	for (size_t t = 0; t < old->n_terms && !rc; t++)
		if (old->terms[t].n_dims == 2) {
			pairs[p.n_pair_list][0] = old->terms[t].feature[0];
			pairs[p.n_pair_list++][1] = old->terms[t].feature[1];
		}
	p.pair_list = p.n_pair_list ? (const size_t (*)[2])pairs : NULL;
	rc = rc ? rc : fit_ga2m_train(m, &d, &p, NULL, err);
	if (!rc && old->offset && !(m->offset = fit_strdup(fit_text_of(old->offset))))
		rc = fit_fail_nomem(err);
	fit_ga2m_data_release(&d);
	free(pairs);
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
	static const char *const names[] = { "free", "increasing", "decreasing", "convex", "concave" };
	const char *eq = strrchr(text, '=');
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
	.load = load, .free = free_model, .metric = metric, .class_name = class_name,
	.feature = feature, .rows = rows, .predict = predict, .refit = refit, .bins = bins,
	.bin = bin, .inside = inside,
};
