/* SPDX-License-Identifier: MIT */
/* The model gate on estimates of the noise scale, which goodput is computed from; read as they stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/gate_kind.h"

enum { PROGRESS = FIT_GATE_PROGRESS, BATCH = FIT_GATE_BATCH, N_X = FIT_GATE_NOISE_X };

/* Windows of applications, as they stand; a prediction is the estimate whose progress is nearest. */
struct estimates {
	struct fit_gate_set set;
	double *sqr, *var, *init;	/* NAN: missing */
	bool *ok;			/* an estimate, by its status */
};

static bool is_estimates(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	(void)table;
	return has(arg, "grad_sqr") && has(arg, "grad_var") && has(arg, "init_batch") &&
		has(arg, "progress") &&
	       has(arg, "phi");
}

static void free_estimates(void *model)
{
	struct estimates *e = model;

	if (e) {
		fit_gate_set_release(&e->set);
		free(e->sqr);
		free(e->var);
		free(e->init);
		free(e->ok);
	}
	free(e);
}

static int load_estimates(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, FIT_F_OPTIONAL }, { "progress", FIT_REAL, 0 },
			{ "init_batch", FIT_REAL, 0 },
		{ "grad_sqr", FIT_REAL, 0 }, { "grad_var", FIT_REAL, 0 }, { "phi", FIT_REAL, 0 },
		{ "status", FIT_TEXT, FIT_F_OPTIONAL }, { "batch_size", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct estimates *e = calloc(1, sizeof *e);
	struct fit_table t = { 0 };
	int rc = e ? fit_gate_source_table(s, &t, fields, 8, err) : fit_fail_nomem(err);

	if (!rc && !t.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no estimate", t.input);
	rc = rc ? rc : fit_gate_set_init(&e->set, t.n_rows, N_X, false, err);
	if (!rc) {
		e->sqr = calloc(t.n_rows, sizeof *e->sqr);
		e->var = calloc(t.n_rows, sizeof *e->var);
		e->init = calloc(t.n_rows, sizeof *e->init);
		e->ok = calloc(t.n_rows, sizeof *e->ok);
		if (!e->sqr || !e->var || !e->init || !e->ok)
			rc = fit_fail_nomem(err);
	}
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		struct fit_text status = fit_column_text(&t.columns[6], i);

		e->init[i] = t.columns[2].d[i];
		e->sqr[i] = t.columns[3].d[i];
		e->var[i] = t.columns[4].d[i];
		e->set.x[i * N_X + PROGRESS] = t.columns[1].d[i];
		e->set.x[i * N_X + BATCH] = fit_real_is_na(t.columns[7].d[i]) ? e->init[i] :
			t.columns[7].d[i];
		e->set.y[i] = t.columns[5].d[i];
		e->ok[i] = status.s ? fit_text_is(status, "ok") : !isnan(e->set.y[i]);
		rc = fit_gate_set_group(&e->set, i, fit_column_text(&t.columns[0], i), err);
	}
	fit_table_release(&t);
	if (rc) {
		free_estimates(e);
		return rc;
	}
	*model = e;
	return FIT_OK;
}

/* The estimate that is nearest in progress; of equal ones the first. */
static double predict_estimate(const void *model, const char *group, const double *x)
{
	const struct estimates *e = model;
	uint32_t g = fit_index_get(&e->set.index, fit_text_of(group));
	double best = (double)INFINITY, phi = (double)NAN;

	for (size_t i = 0; i < e->set.n; i++) {
		double far = fabs(e->set.x[i * N_X + PROGRESS] - x[PROGRESS]);

		if (e->set.group[i] != g || !e->ok[i] || !(far < best))
			continue;
		best = far;
		phi = e->set.y[i];
	}
	return phi > 0 ? phi : (double)NAN;
}

/* Those of an estimate that says "ok" make phi, and phi is what they say: init_batch var / sqr. */
static int check_values(struct fit_gate_run *r, struct fit_err *err)
{
	const struct estimates *e = r->model;
	size_t bad = e->set.n, n = 0;
	const char *what = "";

	for (size_t i = e->set.n; i-- > 0; ) {
		double phi = e->set.y[i], of = e->init[i] * e->var[i] / e->sqr[i];
		const char *fault = !e->ok[i] ? NULL :
				    !(e->init[i] >= 1) ? "init_batch is below 1 or missing" :
				    !(e->sqr[i] > 0) || !isfinite(e->sqr[i]) ? "grad_sqr is not above 0" :
				    !(e->var[i] > 0) || !isfinite(e->var[i]) ? "grad_var is not above 0" :
				    !(phi > 0) || !isfinite(phi) ? "phi is not above 0" :
				    fabs(phi - of) > 1e-6 * of ?
					    "phi is not init_batch grad_var / grad_sqr" : NULL;

		n += e->ok[i];
		if (fault) {
			bad = i;
			what = fault;
		}
	}
	return bad == e->set.n ?
	       fit_gate_add(r, NULL, (double)n, NULL, FIT_GATE_PASS, err,
			    "estimates, each of which follows from its parts") :
	       fit_gate_add(r, *e->set.groups[e->set.group[bad]] ? e->set.groups[e->set.group[bad]] : NULL,
			    e->set.y[bad],
			    NULL, FIT_GATE_FAIL, err, "row %zu: %s", bad + 1, what);
}

static int check_estimable(struct fit_gate_run *r, struct fit_err *err)
{
	const struct estimates *e = r->model;
	int rc = FIT_OK;

	for (size_t g = 0; g < e->set.n_groups && !rc; g++) {
		size_t n = 0, ok = 0;

		for (size_t i = 0; i < e->set.n; i++) {
			n += e->set.group[i] == g;
			ok += e->set.group[i] == g && e->ok[i];
		}
		rc = fit_gate_at_least(r, *e->set.groups[g] ? e->set.groups[g] : NULL,
				       (double)ok / (double)n, err,
				       "share of windows with an estimate, %zu of %zu", ok, n);
	}
	return rc;
}

static int grid_estimates(const void *model, struct fit_gate_set *s, struct fit_err *err)
{
	const struct estimates *e = model;
	int rc = fit_gate_set_init(s, e->set.n, N_X, false, err);

	for (size_t i = 0; i < e->set.n && !rc; i++) {
		memcpy(&s->x[i * N_X], &e->set.x[i * N_X], N_X * sizeof *s->x);
		s->y[i] = (double)NAN;
		rc = fit_gate_set_group(s, i, fit_text_of(e->set.groups[e->set.group[i]]), err);
	}
	return rc;
}

static const struct fit_gate_check estimate_checks[] = {
	{ "parameters", 0, check_values },
	{ "estimable", 0, check_estimable },
	FIT_GATE_MEASURED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_estimates = {
	.name = "estimates", .what = "estimates of the noise scale", .checks = estimate_checks,
	.is = is_estimates, .load = load_estimates, .free = free_estimates,
	.metric = FIT_GATE_LOG, .feature = fit_gate_noise_feature,
	.rows = fit_gate_noise_rows, .grid = grid_estimates, .predict = predict_estimate,
};
