/* SPDX-License-Identifier: MIT */
/* What a GA2M says of its training: parameters as metadata, and back (training.h). */
#include <string.h>

#include "libfit/model/ga2m_fit.h"
#include "libfit/model/training.h"

#define AT(field) offsetof(struct fit_ga2m_params, field)
#define REAL(field, least, most) { FIT_TRAINED #field, FIT_TRAINED_REAL, AT(field), least, most }
#define SIZE(field, least, most) { FIT_TRAINED #field, FIT_TRAINED_SIZE, AT(field), least, most }
#define FLAG(field) { FIT_TRAINED #field, FIT_TRAINED_FLAG, AT(field), 0, 1 }

static const struct fit_trained_field fields[] = {
	SIZE(bags, 1, 1000), REAL(validation_share, 0, 0.9), SIZE(max_bins, 2, 65000), FLAG(max_bins_given),
	SIZE(max_pair_bins, 2, 250), REAL(rows_per_bin, 0, 1e15), REAL(memory_mib, 0, 1e6),
	SIZE(pairs, 0, 100000), REAL(learning_rate, -1, 1), REAL(pair_learning_rate, -1, 1),
	SIZE(smoothing_rounds, 0, 1e9), SIZE(pair_smoothing_rounds, 0, 1e9), SIZE(greedy_ratio, 0, 1000),
	SIZE(max_rounds, 0, 1e9), SIZE(patience, 1, 1e9), REAL(tolerance, -1, 1), REAL(stop_share, 0, 1e15),
	REAL(min_leaf, 0, 1e12), REAL(min_leaf_share, 0, 1), REAL(min_category, 0, 1e15), FLAG(purify),
	{ NULL, FIT_TRAINED_REAL, 0, 0, 0 }
};

/* Pairs that were named, not looked for: those of the model. */
#define PAIRS_NAMED FIT_TRAINED "pairs_named"
#define VALIDATION FIT_TRAINED "validation"
#define ENGINE FIT_TRAINED "engine"
#define SHAPE FIT_TRAINED "shape"

const char *const fit_ga2m_validation_names[] = { "auto", "random", "blocks", "last", "groups", NULL };
const char *const fit_ga2m_engine_names[] = { "auto", "bins", "rows", NULL };
const char *const fit_ga2m_shape_names[] = { "free", "increasing", "decreasing", "convex", "concave", NULL };

static int number_of(const char *const *names, const char *name, size_t n)
{
	for (int k = 0; names[k]; k++)
		if (fit_text_is((struct fit_text){ name, n }, names[k]))
			return k;
	return -1;
}

int ga2m_note_training(struct fit_ga2m *m, const struct fit_ga2m_params *p)
{
	int rc = fit_trained_note(&m->meta, fields, p);

	rc = rc ? rc : fit_meta_set(&m->meta, VALIDATION, fit_ga2m_validation_names[p->validation]);
	rc = rc ? rc : fit_meta_set(&m->meta, ENGINE, fit_ga2m_engine_names[p->engine]);
	if (!rc && p->n_pair_list)
		rc = fit_meta_set(&m->meta, PAIRS_NAMED, "1");
	for (size_t f = 0; f < m->n_features && p->shapes && !rc; f++) {
		struct fit_str text = { 0 };

		if (p->shapes[f] == FIT_GA2M_FREE)
			continue;
		rc = fit_str_printf(&text, "%s=%s", m->features[f].name, fit_ga2m_shape_names[p->shapes[f]]);
		rc = rc ? rc : fit_trained_add_text(&m->meta, SHAPE, text.s);
		fit_str_release(&text);
	}
	return rc ? FIT_ENOMEM : FIT_OK;
}

/* The number of the name that the metadata have, if they have one. */
static int read_name(const struct fit_meta *meta, const char *key, const char *const *names, int *k,
		     struct fit_err *err)
{
	const char *name = fit_meta_get(meta, key);

	if (name && (*k = number_of(names, name, strlen(name))) < 0)
		return fit_fail(err, FIT_EDATA, "bad '%s' in the metadata: '%.60s'", key, name);
	return FIT_OK;
}

static int read_shapes(const struct fit_ga2m *m, enum fit_ga2m_shape *shape, bool *any, struct fit_err *err)
{
	const char *text;

	for (size_t i = 0; (text = fit_trained_text(&m->meta, SHAPE, i)); i++) {
		const char *eq = strrchr(text, '=');
		int k = eq ? number_of(fit_ga2m_shape_names, eq + 1, strlen(eq + 1)) : -1;
		size_t f = 0;

		while (eq && f < m->n_features &&
		       !fit_text_is((struct fit_text){ text, (size_t)(eq - text) }, m->features[f].name))
			f++;
		if (k < 0 || f == m->n_features || m->features[f].nominal)
			return fit_fail(err, FIT_EDATA, "bad '" SHAPE "_%zu' in the metadata: '%.60s'", i + 1, text);
		shape[f] = (enum fit_ga2m_shape)k;
		*any = true;
	}
	return FIT_OK;
}

int fit_ga2m_trained(const struct fit_ga2m *m, struct fit_ga2m_params *p, size_t (*pairs)[2],
		     enum fit_ga2m_shape *shape, struct fit_err *err)
{
	int validation = (int)p->validation, engine = (int)p->engine;
	bool known = fit_meta_get(&m->meta, fields[0].key) != NULL, any = false;
	const char *wrong;
	int rc = fit_trained_read(&m->meta, fields, p, err);

	rc = rc ? rc : read_name(&m->meta, VALIDATION, fit_ga2m_validation_names, &validation, err);
	rc = rc ? rc : read_name(&m->meta, ENGINE, fit_ga2m_engine_names, &engine, err);
	rc = rc ? rc : read_shapes(m, shape, &any, err);
	if (rc)
		return rc;
	p->validation = (enum fit_ga2m_validation)validation;
	p->engine = (enum fit_ga2m_engine)engine;
	p->shapes = any ? shape : NULL;
	p->quantile = m->loss == FIT_GA2M_QUANTILE ? m->quantile : p->quantile;
	if ((wrong = fit_ga2m_params_check(p)) != NULL)
		return fit_fail(err, FIT_EDATA, "bad training in the metadata: %s", wrong);
	p->n_pair_list = 0;
	p->pair_list = NULL;
	if (known && !fit_meta_get(&m->meta, PAIRS_NAMED))
		return FIT_OK;
	p->pairs = 0;
	for (size_t t = 0; t < m->n_terms; t++)
		if (m->terms[t].n_dims == 2) {
			pairs[p->n_pair_list][0] = m->terms[t].feature[0];
			pairs[p->n_pair_list++][1] = m->terms[t].feature[1];
		}
	p->pair_list = p->n_pair_list ? (const size_t(*)[2])pairs : NULL;
	return FIT_OK;
}
