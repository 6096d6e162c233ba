/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/json_out.h"
#include "libfit/base/num.h"

/* ---- writing ---- */

/* The reference's word for infinity. */
static void real(struct fit_json_out *o, double v)
{
	fit_json_real(o, v, "+inf");
}

static void reals(struct fit_json_out *o, const double *v, size_t n, size_t stride)
{
	fit_json_raw(o, "[");
	for (size_t i = 0; i < n; i++) {
		fit_json_raw(o, i ? "," : "");
		real(o, v[i * stride]);
	}
	fit_json_raw(o, "]");
}

static void texts(struct fit_json_out *o, char *const *v, size_t n)
{
	fit_json_raw(o, "[");
	for (size_t i = 0; i < n; i++) {
		fit_json_raw(o, i ? "," : "");
		fit_json_text(o, v[i]);
	}
	fit_json_raw(o, "]");
}

/* A table of one or two features, each cell a number or, with several outputs, a list. */
static void table(struct fit_json_out *o, const struct fit_ga2m_term *t, const double *v, size_t n_outputs)
{
	fit_json_raw(o, "[");
	for (size_t i = 0; i < t->n_bins[0]; i++) {
		fit_json_raw(o, i ? "," : "");
		fit_json_raw(o, t->n_dims == 2 ? "[" : "");
		for (size_t j = 0; j < t->n_bins[1]; j++) {
			const double *cell = v + (i * t->n_bins[1] + j) * n_outputs;

			fit_json_raw(o, j ? "," : "");
			if (n_outputs == 1)
				real(o, *cell);
			else
				reals(o, cell, n_outputs, 1);
		}
		fit_json_raw(o, t->n_dims == 2 ? "]" : "");
	}
	fit_json_raw(o, "]");
}

/* How many levels of cuts are said: two when a pair uses the second. */
static int levels_of(const struct fit_ga2m *m, size_t f, bool *mixed)
{
	bool used[2] = { false, false };

	for (size_t k = 0; k < m->n_terms; k++)
		for (int d = 0; d < m->terms[k].n_dims; d++)
			if (m->terms[k].n_dims == 2 && m->terms[k].feature[d] == f)
				used[m->terms[k].level[d]] = true;
	*mixed = used[0] && used[1];
	return used[1] ? 2 : 1;
}

static void put_feature(struct fit_json_out *o, const struct fit_ga2m_feature *f, int levels)
{
	fit_json_raw(o, "{\"name\":");
	fit_json_text(o, f->name);
	fit_json_raw(o, f->nominal ? ",\"type\":\"nominal\"" : ",\"type\":\"continuous\"");
	if (!o->rc)
		o->rc = fit_str_printf(o->s, ",\"num_unique_vals\":%lld", (long long)f->n_unique);
	if (f->nominal) {
		fit_json_raw(o, ",\"categories\":[");
		texts(o, f->categories, f->n_categories);
		fit_json_raw(o, "]}");
		return;
	}
	fit_json_raw(o, ",\"cuts\":[");
	for (int level = 0; level < levels; level++) {
		fit_json_raw(o, level ? "," : "");
		reals(o, f->cuts[level], f->n_cuts[level], 1);
	}
	fit_json_raw(o, "]");
	if (!isnan(f->min)) {
		fit_json_raw(o, ",\"min\":");
		real(o, f->min);
		fit_json_raw(o, ",\"max\":");
		real(o, f->max);
	}
	fit_json_raw(o, "}");
}

static void put_term(struct fit_json_out *o, const struct fit_ga2m *m, const struct fit_ga2m_term *t)
{
	size_t n = fit_ga2m_n_cells(t) * m->n_outputs;

	fit_json_raw(o, "{\"term_features\":[");
	for (int d = 0; d < t->n_dims; d++) {
		fit_json_raw(o, d ? "," : "");
		fit_json_text(o, m->features[t->feature[d]].name);
	}
	fit_json_raw(o, "],\"scores\":");
	table(o, t, t->score, m->n_outputs);
	fit_json_raw(o, ",\"standard_deviations\":");
	table(o, t, t->sd, m->n_outputs);
	if (t->bag_score) {
		fit_json_raw(o, ",\"bagged_scores\":[");
		for (size_t b = 0; b < m->n_bags; b++) {
			fit_json_raw(o, b ? "," : "");
			table(o, t, t->bag_score + b * n, m->n_outputs);
		}
		fit_json_raw(o, "]");
	}
	fit_json_raw(o, ",\"bin_weights\":");
	table(o, t, t->weight, 1);
	fit_json_raw(o, "}");
}

static const char *link_of(const struct fit_ga2m *m)
{
	return m->loss == FIT_GA2M_SOFTMAX ? "mlogit" : fit_ga2m_link_name(m->loss);
}

static void put_ours(struct fit_json_out *o, const struct fit_ga2m *m)
{
	fit_json_raw(o, ",\n\"goodfit\":{\"loss\":");
	fit_json_text(o, fit_ga2m_loss_name(m->loss));
	if (m->loss == FIT_GA2M_QUANTILE) {
		fit_json_raw(o, ",\"quantile\":");
		real(o, m->quantile);
	}
	fit_json_raw(o, ",\"target\":");
	fit_json_text(o, m->target);
	fit_json_raw(o, ",\"weight\":");
	fit_json_text(o, m->weight);
	fit_json_raw(o, ",\"offset\":");
	fit_json_text(o, m->offset);
	fit_json_raw(o, ",\"time\":");
	fit_json_text(o, m->time);
	if (!o->rc)
		o->rc = fit_str_printf(o->s, ",\"n_rows\":%lld,\"n_bags\":%zu", (long long)m->n_rows, m->n_bags);
	/* the cuts of pairs where no pair uses them yet, and spreads that no bag is left of */
	fit_json_raw(o, ",\"pair_cuts\":[");
	for (size_t f = 0; f < m->n_features; f++) {
		fit_json_raw(o, f ? "," : "");
		reals(o, m->features[f].cuts[1], m->features[f].n_cuts[1], 1);
	}
	fit_json_raw(o, "],\"importance_sd\":[");
	for (size_t k = 0; k < m->n_terms; k++) {
		fit_json_raw(o, k ? "," : "");
		real(o, m->terms[k].importance_sd);
	}
	fit_json_raw(o, "],\"notes\":[");
	for (size_t i = 0; i < m->meta.n; i++) {
		fit_json_raw(o, i ? ",[" : "[");
		fit_json_text(o, m->meta.pairs[i].key);
		fit_json_raw(o, ",");
		fit_json_text(o, m->meta.pairs[i].value);
		fit_json_raw(o, "]");
	}
	fit_json_raw(o, "]}");
}

int fit_ga2m_print_json(const struct fit_ga2m *m, struct fit_str *out, struct fit_err *err)
{
	struct fit_json_out o = { out, FIT_OK };

	fit_json_raw(&o, "{\"version\":\"1.0\",\"ebm\":{\"outputs\":[{\"task\":");
	fit_json_raw(&o, m->n_classes ? "\"classification\",\"classes\":" : "\"regression\"");
	if (m->n_classes)
		texts(&o, m->classes, m->n_classes);
	fit_json_raw(&o, ",\"link\":");
	fit_json_text(&o, link_of(m));
	fit_json_raw(&o, ",\"link_param\":\"nan\"}],\n\"intercept\":");
	reals(&o, m->intercept, m->n_outputs, 1);
	if (m->bag_intercept) {
		fit_json_raw(&o, ",\"bagged_intercept\":[");
		for (size_t b = 0; b < m->n_bags; b++) {
			fit_json_raw(&o, b ? "," : "");
			if (m->n_outputs == 1)
				real(&o, m->bag_intercept[b]);
			else
				reals(&o, m->bag_intercept + b * m->n_outputs, m->n_outputs, 1);
		}
		fit_json_raw(&o, "]");
	}
	fit_json_raw(&o, ",\n\"features\":[\n");
	for (size_t f = 0; f < m->n_features; f++) {
		bool mixed;
		int levels = levels_of(m, f, &mixed);

		if (mixed)
			return fit_fail(err, FIT_EDATA, "pairs use cuts of '%s' of both levels, which JSON cannot say",
					m->features[f].name);
		fit_json_raw(&o, f ? ",\n" : "");
		put_feature(&o, &m->features[f], levels);
	}
	fit_json_raw(&o, "],\n\"terms\":[\n");
	for (size_t k = 0; k < m->n_terms; k++) {
		fit_json_raw(&o, k ? ",\n" : "");
		put_term(&o, m, &m->terms[k]);
	}
	fit_json_raw(&o, "]}");
	put_ours(&o, m);
	fit_json_raw(&o, "}\n");
	return o.rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- reading ---- */

/* Which bin of theirs a category of ours is, by level; index 0 and the last are missing and unseen. */
struct mapping {
	size_t *bin[2];
	size_t theirs[2];	/* how many bins they have */
	int levels;
};

struct in {
	const char *name;
	struct fit_ga2m *m;
	struct mapping *map;	/* by feature */
	struct fit_err *err;
};

static int bad(const struct in *g, const char *what)
{
	return fit_fail(g->err, FIT_EDATA, "%s: %s (expected a GA2M in JSON)", g->name, what);
}

static int bad_at(const struct in *g, const char *kind, size_t i, const char *what)
{
	return fit_fail(g->err, FIT_EDATA, "%s: %s %zu: %s", g->name, kind, i, what);
}

static bool number(const json_t *v, double *x)
{
	const char *s = json_string_value(v);

	if (json_is_number(v))
		*x = json_number_value(v);
	else if (s && strcmp(s, "nan") == 0)
		*x = (double)NAN;
	else if (s && (strcmp(s, "+inf") == 0 || strcmp(s, "inf") == 0))
		*x = HUGE_VAL;
	else if (s && strcmp(s, "-inf") == 0)
		*x = -HUGE_VAL;
	else
		return false;
	return true;
}

static char *copy_text(const json_t *v)
{
	char buf[FIT_NUM_MAX] = "";
	size_t n = 0;

	/* classes may be numbers */
	if (json_is_integer(v))
		n = fit_format_int64(buf, json_integer_value(v));
	else if (json_is_real(v))
		n = fit_format_double(buf, json_real_value(v));
	if (n)
		return fit_strdup((struct fit_text){ buf, n });
	if (json_is_boolean(v))
		return fit_strdup(fit_text_of(json_is_true(v) ? "True" : "False"));
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return NULL;
	return fit_strdup(fit_text_of(json_string_value(v)));
}

static int read_numbers(const struct in *g, const json_t *v, double **to, size_t *n)
{
	*n = json_array_size(v);
	*to = calloc(*n + 1, sizeof **to);
	if (!*to)
		return fit_fail_nomem(g->err);
	for (size_t i = 0; i < *n; i++)
		if (!number(json_array_get(v, i), &(*to)[i]))
			return bad(g, "a list with something else than numbers");
	return FIT_OK;
}

static int read_outputs(const struct in *g, const json_t *ebm)
{
	const json_t *out = json_array_get(json_object_get(ebm, "outputs"), 0),
		     *classes = json_object_get(out, "classes"), *intercept = json_object_get(ebm, "intercept");
	const char *link = json_string_value(json_object_get(out, "link"));
	struct fit_ga2m *m = g->m;
	size_t n;
	int rc;

	if (!link || json_array_size(json_object_get(ebm, "outputs")) != 1)
		return bad(g, "not one output with a link");
	if (strcmp(link, "identity") == 0)
		m->loss = FIT_GA2M_SQUARED;
	else if (strcmp(link, "log") == 0)
		m->loss = FIT_GA2M_POISSON;
	else if (strcmp(link, "logit") == 0)
		m->loss = FIT_GA2M_LOGISTIC;
	else if (strcmp(link, "mlogit") == 0 || strcmp(link, "softmax") == 0)
		m->loss = FIT_GA2M_SOFTMAX;
	else
		return fit_fail(g->err, FIT_EDATA,
				"%s: unknown link '%.60s' (expected identity, log, logit or mlogit)", g->name, link);
	n = json_array_size(classes);
	m->classes = calloc(n + 1, sizeof *m->classes);
	if (!m->classes)
		return fit_fail_nomem(g->err);
	for (; m->n_classes < n; m->n_classes++)
		if (!(m->classes[m->n_classes] = copy_text(json_array_get(classes, m->n_classes))))
			return bad(g, "a class whose name is no text");
	rc = read_numbers(g, intercept, &m->intercept, &m->n_outputs);
	if (rc)
		return rc;
	if (m->n_outputs < 1 || m->n_outputs > 65535 ||
	    (fit_ga2m_is_class(m->loss) ? n != (m->loss == FIT_GA2M_LOGISTIC ? 2 : m->n_outputs) : n != 0) ||
	    (m->loss != FIT_GA2M_SOFTMAX && m->n_outputs != 1))
		return bad(g, "intercepts and classes that do not go with the link");
	return FIT_OK;
}

static int read_bag_intercepts(const struct in *g, const json_t *v)
{
	struct fit_ga2m *m = g->m;

	m->n_bags = json_array_size(v);
	if (!m->n_bags)
		return FIT_OK;
	m->bag_intercept = calloc(m->n_bags * m->n_outputs, sizeof *m->bag_intercept);
	if (!m->bag_intercept)
		return fit_fail_nomem(g->err);
	for (size_t b = 0; b < m->n_bags; b++) {
		const json_t *x = json_array_get(v, b);

		for (size_t o = 0; o < m->n_outputs; o++)
			if (!number(json_is_array(x) ? json_array_get(x, o) : x,
				    &m->bag_intercept[b * m->n_outputs + o]))
				return bad(g, "a bad intercept of a bag");
	}
	return FIT_OK;
}

/* ---- features ---- */

struct named_bin {
	char *text;
	size_t bin[2];		/* from 1; 0: not on this level */
};

static int by_text(const void *pa, const void *pb)
{
	const struct named_bin *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static int add_category(const struct in *g, struct named_bin **list, size_t *n, size_t *cap,
		const json_t *v,
			int level, size_t bin)
{
	char buf[40], *copy;
	struct fit_text t;

	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return bad(g, "a category that is no text");
	t = fit_ga2m_category_text(fit_text_of(json_string_value(v)), buf);
	copy = fit_strdup(t);
	if (!copy || fit_grow(list, cap, *n + 1, sizeof **list)) {
		free(copy);
		return fit_fail_nomem(g->err);
	}
	(*list)[*n] = (struct named_bin){ .text = copy };
	(*list)[(*n)++].bin[level] = bin;
	return FIT_OK;
}

static int take_categories(const struct in *g, struct fit_ga2m_feature *f, struct mapping *map,
			   struct named_bin *list, size_t n)
{
	f->categories = calloc(n + 1, sizeof *f->categories);
	for (int level = 0; level < 2; level++)
		map->bin[level] = calloc(n + 2, sizeof *map->bin[level]);
	if (!f->categories || !map->bin[0] || !map->bin[1])
		return fit_fail_nomem(g->err);
	if (n)
		qsort(list, n, sizeof *list, by_text);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(list[i].text, list[i - 1].text) != 0) {
			f->categories[f->n_categories++] = list[i].text;
			list[i].text = fit_strdup(fit_text_of(list[i].text));
			if (!list[i].text)
				return fit_fail_nomem(g->err);
		}
		for (int level = 0; level < 2; level++)
			if (list[i].bin[level] && !map->bin[level][f->n_categories])
				map->bin[level][f->n_categories] = list[i].bin[level];
	}
	for (int level = 0; level < 2; level++) {
		map->bin[level][f->n_categories + 1] = map->theirs[level] - 1;
		for (size_t i = 1; i <= f->n_categories; i++)	/* not on this level: as unseen ones */
			if (!map->bin[level][i])
				map->bin[level][i] = map->theirs[level] - 1;
	}
	return FIT_OK;
}

static int read_categories(const struct in *g, const json_t *v, struct fit_ga2m_feature *f,
		struct mapping *map)
{
	struct named_bin *list = NULL;
	size_t n = 0, cap = 0;
	int rc = FIT_OK;

	map->levels = json_array_size(v) > 1 ? 2 : 1;
	for (int level = 0; level < 2 && !rc; level++) {
		const json_t *bins = json_array_get(v, level < map->levels ? (size_t)level : 0);

		map->theirs[level] = json_array_size(bins) + 2;
		for (size_t i = 0; i < json_array_size(bins) && !rc; i++) {
			const json_t *x = json_array_get(bins, i);

			if (!json_is_array(x))
				rc = add_category(g, &list, &n, &cap, x, level, i + 1);
			for (size_t k = 0; k < json_array_size(x) && !rc; k++)
				rc = add_category(g, &list, &n, &cap, json_array_get(x, k), level, i + 1);
		}
	}
	rc = rc ? rc : take_categories(g, f, map, list, n);
	for (size_t i = 0; i < n; i++)
		free(list[i].text);
	free(list);
	return rc;
}

static int read_feature(const struct in *g, const json_t *v, size_t i)
{
	struct fit_ga2m_feature *f = &g->m->features[i];
	struct mapping *map = &g->map[i];
	const char *type = json_string_value(json_object_get(v, "type"));
	const json_t *cuts = json_object_get(v, "cuts"), *categories = json_object_get(v, "categories");
	double unique = 0;

	f->min = f->max = (double)NAN;
	f->name = copy_text(json_object_get(v, "name"));
	if (!f->name || !type)
		return bad_at(g, "feature", i, "no name or type");
	(void)number(json_object_get(v, "min"), &f->min);
	(void)number(json_object_get(v, "max"), &f->max);
	if (number(json_object_get(v, "num_unique_vals"), &unique) && unique >= 0 && unique < 9e15)
		f->n_unique = (int64_t)unique;
	f->nominal = strcmp(type, "continuous") != 0;
	if (f->nominal) {
		if ((strcmp(type, "nominal") != 0 && strcmp(type, "ordinal") != 0) || !json_array_size(categories))
			return bad_at(g, "feature", i, "no known type, or no categories");
		return read_categories(g, categories, f, map);
	}
	if (!json_array_size(cuts))
		return bad_at(g, "feature", i, "no cuts");
	map->levels = json_array_size(cuts) > 1 ? 2 : 1;
	for (int level = 0; level < 2; level++) {
		int rc = read_numbers(g, json_array_get(cuts, level < map->levels ? (size_t)level : 0),
				      &f->cuts[level], &f->n_cuts[level]);

		if (rc)
			return rc;
		map->theirs[level] = f->n_cuts[level] + 3;
	}
	return FIT_OK;
}

static int read_features(struct in *g, const json_t *v)
{
	size_t n = json_array_size(v);
	int rc = FIT_OK;

	g->m->features = calloc(n + 1, sizeof *g->m->features);
	g->map = calloc(n + 1, sizeof *g->map);
	if (!g->m->features || !g->map)
		return fit_fail_nomem(g->err);
	for (size_t i = 0; i < n && !rc; i++) {
		g->m->n_features++;
		rc = read_feature(g, json_array_get(v, i), i);
	}
	return rc;
}

/* ---- terms ---- */

/* Which bins of theirs the bins i, j of ours are. */
static size_t their_bin(const struct in *g, const struct fit_ga2m_term *t, int d, size_t bin)
{
	size_t f = t->feature[d];
	/* a nominal feature of ours has one level; theirs is that of the number of dimensions */
	int level = t->n_dims == 2 && g->map[f].levels == 2 ? 1 : 0;

	return g->m->features[f].nominal ? g->map[f].bin[level][bin] : bin;
}

static size_t their_bins(const struct in *g, const struct fit_ga2m_term *t, int d)
{
	size_t f = t->feature[d];

	return g->map[f].theirs[t->n_dims == 2 && g->map[f].levels == 2 ? 1 : 0];
}

/* A table into to[cell * n + output]. swapped: their first feature is our second. first: a category that
 * shares its bin with others gets the number only if it is the first of them (weights). */
static int read_table(const struct in *g, const struct fit_ga2m_term *t, const json_t *v, size_t n,
		bool swapped,
		      bool first, double *to)
{
	int a = swapped ? 1 : 0;

	if (json_array_size(v) != their_bins(g, t, a))
		return bad(g, "a table with another number of bins than its feature");
	for (size_t i = 0; t->n_dims == 2 && i < json_array_size(v); i++)
		if (json_array_size(json_array_get(v, i)) != their_bins(g, t, 1 - a))
			return bad(g, "a table with another number of bins than its second feature");
	for (size_t i = 0; i < t->n_bins[0]; i++) {
		for (size_t j = 0; j < t->n_bins[1]; j++) {
			size_t bi = their_bin(g, t, 0, i), bj = t->n_dims == 2 ? their_bin(g, t, 1, j) : 0;
			const json_t *x = json_array_get(v, swapped ? bj : bi);
			double *cell = to + (i * t->n_bins[1] + j) * n;

			if (t->n_dims == 2)
				x = json_array_get(x, swapped ? bi : bj);
			for (size_t o = 0; o < n; o++)
				if (!number(n > 1 ? json_array_get(x, o) : x, &cell[o]))
					return bad(g, "a table with something else than numbers");
			if (first && ((i > 1 && their_bin(g, t, 0, i - 1) == bi) ||
				      (t->n_dims == 2 && j > 1 && their_bin(g, t, 1, j - 1) == bj)))
				*cell = 0;
		}
	}
	return FIT_OK;
}

static int read_bags(const struct in *g, struct fit_ga2m_term *t, const json_t *v, bool swapped)
{
	size_t n = fit_ga2m_n_cells(t) * g->m->n_outputs;

	if (json_array_size(v) != g->m->n_bags)
		return bad(g, "another number of bags than of intercepts of bags");
	t->bag_score = calloc(g->m->n_bags * n + 1, sizeof *t->bag_score);
	if (!t->bag_score)
		return fit_fail_nomem(g->err);
	for (size_t b = 0; b < g->m->n_bags; b++) {
		int rc = read_table(g, t, json_array_get(v, b), g->m->n_outputs, swapped, false, t->bag_score + b * n);

		if (rc)
			return rc;
	}
	return FIT_OK;
}

static int read_term(const struct in *g, const json_t *v, size_t i)
{
	const json_t *names = json_object_get(v, "term_features"), *sd = json_object_get(v, "standard_deviations"),
		     *weights = json_object_get(v, "bin_weights"), *bags = json_object_get(v, "bagged_scores");
	size_t f[2] = { 0, SIZE_MAX }, n = json_array_size(names);
	struct fit_ga2m *m = g->m;
	struct fit_ga2m_term *t;
	int level[2] = { 0, 0 }, rc;
	bool swapped;

	if (n < 1 || n > 2)
		return bad_at(g, "term", i, "neither one feature nor two");
	for (size_t d = 0; d < n; d++) {
		const char *s = json_string_value(json_array_get(names, d));

		f[d] = s ? fit_ga2m_find_feature(m, s) : SIZE_MAX;
		if (f[d] == SIZE_MAX)
			return bad_at(g, "term", i, "no such feature");
		level[d] = n == 2 && !m->features[f[d]].nominal && g->map[f[d]].levels == 2;
	}
	swapped = n == 2 && f[0] > f[1];
	if (n == 2 && f[0] == f[1])
		return bad_at(g, "term", i, "one feature twice");
	rc = fit_ga2m_add_term(m, swapped ? f[1] : f[0], swapped ? f[0] : f[1], level[swapped],
		level[!swapped], &t);
	if (rc)
		return rc == FIT_ENOMEM ? fit_fail_nomem(g->err) : bad_at(g, "term", i, "too many cells");
	rc = read_table(g, t, json_object_get(v, "scores"), m->n_outputs, swapped, false, t->score);
	if (!rc && json_is_array(sd))
		rc = read_table(g, t, sd, m->n_outputs, swapped, false, t->sd);
	if (!rc && json_is_array(weights))
		rc = read_table(g, t, weights, 1, swapped, true, t->weight);
	if (!rc && json_is_array(bags))
		rc = read_bags(g, t, bags, swapped);
	if (!rc)
		fit_ga2m_rate_term(m, t);
	return rc;
}

/* ---- ours ---- */

static int take_text(const struct in *g, const json_t *ours, const char *key, char **to)
{
	const json_t *v = json_object_get(ours, key);

	if (!json_is_string(v))
		return FIT_OK;
	free(*to);
	*to = copy_text(v);
	return *to ? FIT_OK : bad(g, "a name of a column that is no text");
}

static int read_ours(const struct in *g, const json_t *ours)
{
	const char *loss = json_string_value(json_object_get(ours, "loss"));
	const json_t *cuts = json_object_get(ours, "pair_cuts"), *sd = json_object_get(ours, "importance_sd"),
		     *notes = json_object_get(ours, "notes");
	struct fit_ga2m *m = g->m;
	double n = 0;
	int k = 0, rc;

	m->target = fit_strdup(FIT_TEXT_LIT("target"));
	if (!m->target)
		return fit_fail_nomem(g->err);
	while (loss && k < FIT_GA2M_N_LOSSES && strcmp(fit_ga2m_loss_name((enum fit_ga2m_loss)k), loss) != 0)
		k++;
	if (loss && k < FIT_GA2M_N_LOSSES) {
		if (strcmp(fit_ga2m_link_name((enum fit_ga2m_loss)k), fit_ga2m_link_name(m->loss)) != 0)
			return bad(g, "a loss that does not go with the link");
		m->loss = (enum fit_ga2m_loss)k;
	}
	(void)number(json_object_get(ours, "quantile"), &m->quantile);
	rc = take_text(g, ours, "target", &m->target);
	rc = rc ? rc : take_text(g, ours, "weight", &m->weight);
	rc = rc ? rc : take_text(g, ours, "offset", &m->offset);
	rc = rc ? rc : take_text(g, ours, "time", &m->time);
	if (!rc && number(json_object_get(ours, "n_rows"), &n) && n >= 0 && n < 9e15)
		m->n_rows = (int64_t)n;
	if (!rc && !m->n_bags && number(json_object_get(ours, "n_bags"), &n) && n >= 0 && n < 1e6)
		m->n_bags = (size_t)n;
	for (size_t f = 0; !rc && f < m->n_features && json_array_size(cuts) == m->n_features; f++) {
		if (m->features[f].nominal || g->map[f].levels == 2)
			continue;
		free(m->features[f].cuts[1]);
		m->features[f].cuts[1] = NULL;
		rc = read_numbers(g, json_array_get(cuts, f), &m->features[f].cuts[1], &m->features[f].n_cuts[1]);
	}
	for (size_t i = 0; i < m->n_terms && json_array_size(sd) == m->n_terms; i++)
		(void)number(json_array_get(sd, i), &m->terms[i].importance_sd);
	for (size_t i = 0; i < json_array_size(notes) && !rc; i++) {
		const char *key = json_string_value(json_array_get(json_array_get(notes, i), 0));
		const char *value = json_string_value(json_array_get(json_array_get(notes, i), 1));

		if (!key || !value || !fit_meta_key_ok(key))
			return bad(g, "a bad note");
		rc = fit_meta_add(&m->meta, key, value) ? fit_fail_nomem(g->err) : FIT_OK;
	}
	return rc;
}

static int read_root(struct in *g, const json_t *root)
{
	const json_t *ebm = json_object_get(root, "ebm"), *terms;
	const char *wrong;
	int rc;

	if (!json_is_object(ebm))
		return bad(g, "no object 'ebm'");
	rc = read_outputs(g, ebm);
	rc = rc ? rc : read_bag_intercepts(g, json_object_get(ebm, "bagged_intercept"));
	rc = rc ? rc : read_features(g, json_object_get(ebm, "features"));
	terms = json_object_get(ebm, "terms");
	for (size_t i = 0; i < json_array_size(terms) && !rc; i++)
		rc = read_term(g, json_array_get(terms, i), i);
	rc = rc ? rc : read_ours(g, json_object_get(root, "goodfit"));
	if (rc)
		return rc;
	/* scores of bags are all there or of no use */
	for (size_t k = 0; k < g->m->n_terms && g->m->bag_intercept; k++) {
		if (g->m->terms[k].bag_score)
			continue;
		free(g->m->bag_intercept);
		g->m->bag_intercept = NULL;
		for (size_t j = 0; j < g->m->n_terms; j++) {
			free(g->m->terms[j].bag_score);
			g->m->terms[j].bag_score = NULL;
		}
	}
	wrong = fit_ga2m_check(g->m);
	return wrong ? bad(g, wrong) : FIT_OK;
}

int fit_ga2m_read_json(struct fit_ga2m *m, const char *name, const char *bytes, size_t n,
		struct fit_err *err)
{
	struct fit_ga2m model = { 0 };
	struct in g = { .name = name, .m = &model, .err = err };
	json_error_t why;
	json_t *root = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &why);
	int rc;

	if (!root)
		return fit_fail(err, FIT_EPARSE, "%s:%d: no JSON: %s", name, why.line, why.text);
	rc = read_root(&g, root);
	json_decref(root);
	for (size_t f = 0; f < model.n_features && g.map; f++) {
		free(g.map[f].bin[0]);
		free(g.map[f].bin[1]);
	}
	free(g.map);
	if (rc)
		fit_ga2m_release(&model);
	else
		*m = model;
	return rc;
}
