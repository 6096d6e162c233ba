/* SPDX-License-Identifier: MIT */
/* The model gate on throughput models (model/throughput.h). They are read as they stand: a gate has to see
 * what the strict reader refuses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/placement.h"
#include "libfit/model/theta.h"
#include "libfit/verify/gate_kind.h"

struct entry {
	char *app;		/* "": without a name */
	struct fit_theta theta;	/* NAN where it is missing */
	double mape_pct;
	int64_t pinned;		/* -1: the table does not say */
	char *pinned_text;
};

struct models {
	struct entry *list;
	size_t n;
};

enum { NODES, REPLICAS, BSZ, SYNC, N_X };
static const char *const regions[] = { "one GPU", "one node", "several nodes", NULL };

static int region_of(double nodes, double replicas)
{
	return replicas <= 1 ? 0 : nodes <= 1 ? 1 : 2;
}

/* ---- in ---- */

static bool is(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	(void)table;
	for (int j = 0; j < FIT_THETA_N; j++)
		if (!has(arg, fit_theta_names[j]))
			return false;
	return true;
}

static void free_models(void *model)
{
	struct models *m = model;

	for (size_t i = 0; m && i < m->n; i++) {
		free(m->list[i].app);
		free(m->list[i].pinned_text);
	}
	if (m)
		free(m->list);
	free(m);
}

static int take_row(struct models *m, const struct fit_table *t, size_t row, struct fit_err *err)
{
	struct fit_text app = fit_column_text(&t->columns[0], row), pinned;
	struct entry *e = &m->list[m->n];

	app = app.s ? app : FIT_TEXT_LIT("");
	for (size_t i = 0; i < m->n; i++)
		if (fit_text_is(app, m->list[i].app))
			return fit_table_fail(t, row, FIT_EDATA, "app", err, "a second model of '%.*s'",
					      FIT_TEXT_ARG(app));
	pinned = fit_column_text(&t->columns[2 + FIT_THETA_N], row);
	*e = (struct entry){ .app = fit_strdup(app), .mape_pct = t->columns[1 + FIT_THETA_N].d[row],
			     .pinned = pinned.s ? 0 : -1, .pinned_text = pinned.s ? fit_strdup(pinned) :
				     NULL };
	m->n++;
	if (!e->app || (pinned.s && !e->pinned_text))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < pinned.n && !fit_text_is(pinned, "-"); i++)
		e->pinned += i == 0 || pinned.s[i] == ',';
	for (int j = 0; j < FIT_THETA_N; j++)
		e->theta.v[j] = t->columns[1 + j].d[row];
	return FIT_OK;
}

static int load(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	struct fit_field fields[3 + FIT_THETA_N] = { { "app", FIT_TEXT, FIT_F_OPTIONAL } };
	struct models *m = calloc(1, sizeof *m);
	struct fit_table t = { 0 };
	int rc;

	for (int j = 0; j < FIT_THETA_N; j++)
		fields[1 + j] = (struct fit_field){ fit_theta_names[j], FIT_REAL, 0 };
	fields[1 + FIT_THETA_N] = (struct fit_field){ "mape_pct", FIT_REAL, FIT_F_OPTIONAL };
	fields[2 + FIT_THETA_N] = (struct fit_field){ "pinned", FIT_TEXT, FIT_F_OPTIONAL };
	rc = m ? fit_gate_source_table(s, &t, fields, 3 + FIT_THETA_N, err) : fit_fail_nomem(err);
	if (!rc && !t.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no model", t.input);
	if (!rc && !(m->list = calloc(t.n_rows, sizeof *m->list)))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < t.n_rows && !rc; i++)
		rc = take_row(m, &t, i, err);
	fit_table_release(&t);
	if (rc) {
		free_models(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

static const struct entry *find(const struct models *m, const char *app)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->list[i].app, app) == 0)
			return &m->list[i];
	return m->n == 1 && !*m->list[0].app ? &m->list[0] : NULL;
}

/* ---- rows ---- */

/* Nodes and GPUs of a row, from two columns or from a placement of digits. */
static int shape(const struct fit_table *t, size_t row, const struct fit_column *const c[3], double *nodes,
		 double *replicas, struct fit_err *err)
{
	double digits = c[2] ? fit_gate_number(c[2], row) : (double)NAN;
	int64_t n, k;

	if (c[0] && c[1]) {
		*nodes = fit_gate_number(c[0], row);
		*replicas = fit_gate_number(c[1], row);
		if (*nodes >= 1 && *replicas >= *nodes && *replicas <= 1e9 && floor(*nodes) >= *nodes &&
		    floor(*replicas) >= *replicas)
			return FIT_OK;
		return fit_table_fail(t, row, FIT_EDATA, "num_replicas", err,
				      "bad nodes and replicas (expected whole "
				      "numbers, nodes of at least 1 and as many replicas or more)");
	}
	if (!(digits >= 1) || !(digits < 1e9) || fit_placement_canonical((int64_t)digits) < 0)
		return fit_table_fail(t, row, FIT_EDATA, "placement", err,
				      "bad placement (expected a digit a node)");
	fit_placement_shape((int64_t)digits, &n, &k);
	*nodes = (double)n;
	*replicas = (double)k;
	return FIT_OK;
}

static const struct fit_column *either(const struct fit_table *t, const char *a, const char *b)
{
	const struct fit_column *c = fit_table_column(t, a);

	return c ? c : fit_table_column(t, b);
}

static int take_measurement(const struct fit_table *t, size_t row, const struct fit_column *step,
			    const struct fit_column *sync, bool measured, struct fit_gate_set *s,
				    struct fit_err *err)
{
	double *x = &s->x[row * N_X], y = step ? fit_gate_number(step, row) : (double)NAN;

	if (!(x[BSZ] >= 1) || !(x[BSZ] <= 1e12) || floor(x[BSZ]) < x[BSZ])
		return fit_table_fail(t, row, FIT_EDATA, "local_bsz", err,
				      "bad batch size (expected a whole number of at "
				      "least 1)");
	if (measured && (!(y >= FIT_STEP_MIN_S) || !(y <= FIT_STEP_MAX_S)))
		return fit_table_fail(t, row, FIT_EDATA, step->name, err,
				      "bad step time (expected %g to %g s)",
				      FIT_STEP_MIN_S, FIT_STEP_MAX_S);
	x[SYNC] = sync ? fit_gate_number(sync, row) : (double)NAN;
	if (x[SYNC] < 0 || x[SYNC] >= y)
		return fit_table_fail(t, row, FIT_EDATA, sync->name, err,
				      "bad synchronisation time (expected 0 or more, "
				      "and less than the step)");
	s->y[row] = y;
	s->region[row] = (uint8_t)region_of(x[NODES], x[REPLICAS]);
	return FIT_OK;
}

static int rows(const void *model, const struct fit_table *t, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_column *app = fit_table_column(t, "app"), *bsz, *step, *sync;
	const struct fit_column *const c[3] = { fit_table_column(t, "num_nodes"),
					       fit_table_column(t, "num_replicas"),
						fit_table_column(t, "placement") };
	char buf[40];
	int rc = fit_gate_column(t, "local_bsz", &bsz, err);

	(void)model;
	if (!rc && (!c[0] || !c[1]) && !c[2])
		rc = fit_fail(err, FIT_ENOTFOUND,
				 "%s: no columns 'num_nodes' and 'num_replicas', and no 'placement'",
			      t->input);
	step = either(t, target ? target : "step_time_s", "step_time");
	sync = either(t, "sync_time_s", "sync_time");
	if (!rc && measured && !step)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", t->input, target ? target :
			      "step_time_s");
	rc = rc ? rc : fit_gate_set_init(s, t->n_rows, N_X, true, err);
	if (!rc)
		s->regions = regions;
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		rc = shape(t, i, c, &s->x[i * N_X + NODES], &s->x[i * N_X + REPLICAS], err);
		s->x[i * N_X + BSZ] = fit_gate_number(bsz, i);
		rc = rc ? rc : take_measurement(t, i, step, sync, measured, s, err);
		rc = rc ? rc : fit_gate_set_group(s, i, app ? fit_gate_text(app, i, buf) :
						  FIT_TEXT_LIT(""), err);
	}
	return rc;
}

static bool feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	static const char *const names[] = { "num_nodes", "num_replicas", "local_bsz" };

	(void)model;
	if (i >= SYNC)	/* which is no input of a prediction */
		return false;
	*f = (struct fit_gate_feature){ names[i], false };
	return true;
}

static double predict(const void *model, const char *group, const double *x)
{
	const struct entry *e = find(model, group);
	double step = e ? fit_theta_step_time(&e->theta, (int64_t)x[NODES], (int64_t)x[REPLICAS], x[BSZ]) :
		(double)NAN;

	return step > 0 ? step : (double)NAN;
}

/* ---- refit ---- */

static int refit_group(struct fit_throughput *w, const struct fit_gate_set *s, const bool *use,
		       uint32_t group,
		       struct fit_throughput_obs *obs, struct entry *e, struct fit_err *err)
{
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	size_t n = 0;
	int rc;

	fit_throughput_params_default(&p);
	p.std_errors = false;
	for (size_t i = 0; i < s->n; i++) {
		const double *x = &s->x[i * N_X];

		if (!use[i] || s->group[i] != group)
			continue;
		obs[n++] = (struct fit_throughput_obs){ (int64_t)x[NODES], (int64_t)x[REPLICAS],
						       (int64_t)x[BSZ],
							s->y[i], x[SYNC], 1 };
		if (isnan(x[SYNC]))	/* the reference's objective needs them all */
			p.objective = FIT_RMSLE_STEP;
	}
	for (int j = 0; j < FIT_THETA_N; j++)
		e->theta.v[j] = (double)NAN;
	if (!n)
		return FIT_OK;
	rc = fit_throughput_fit(w, obs, n, &p, &r, err);
	if (!rc || rc == FIT_ENOCONV)	/* the best point so far is one that would have been used */
		e->theta = r.theta;
	return rc == FIT_ENOCONV ? FIT_OK : rc;
}

static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	struct models *m = calloc(1, sizeof *m);
	struct fit_throughput_obs *obs = malloc((s->n + 1) * sizeof *obs);
	struct fit_throughput *w = NULL;
	int rc = m && obs ? fit_throughput_new(&w, err) : fit_fail_nomem(err);

	(void)like;
	(void)in;
	if (!rc && !(m->list = calloc(s->n_groups + 1, sizeof *m->list)))
		rc = fit_fail_nomem(err);
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		m->list[g] = (struct entry){ .app = fit_strdup(fit_text_of(s->groups[g])) };
		m->n = g + 1;
		rc = m->list[g].app ? refit_group(w, s, use, (uint32_t)g, obs, &m->list[g], err) :
			fit_fail_nomem(err);
	}
	fit_throughput_free(w);
	free(obs);
	if (rc) {
		free_models(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- checks of its own ---- */

static const char *name_of(const struct entry *e)
{
	return *e->app ? e->app : NULL;
}

static bool usable(const struct entry *e)
{
	return fit_theta_check(&e->theta, NULL, NULL) == FIT_OK;
}

/* One finding a model: the first parameter outside of its domain, else the smallest of those above 0. */
static int check_parameters(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct fit_theta *t = &m->list[i].theta;
		int bad = 0, least = 0;

		for (int j = 1; j < FIT_GAMMA; j++)
			least = t->v[j] < t->v[least] ? j : least;
		rc = !fit_theta_check(t, &bad, NULL) ?
		     fit_gate_add(r, name_of(&m->list[i]), t->v[least], NULL, FIT_GATE_PASS, err,
				  "%s is the smallest of alphas and betas, gamma is %.4g",
					  fit_theta_names[least],
				  t->v[FIT_GAMMA]) :
		     fit_gate_add(r, name_of(&m->list[i]), t->v[bad], NULL, FIT_GATE_FAIL, err, "%s is %s",
				  fit_theta_names[bad], isnan(t->v[bad]) ? "missing" : bad == FIT_GAMMA ?
				  "below 1 or not finite" : "not above 0, or not finite");
	}
	return rc;
}

static int check_stated(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++)
		if (!isnan(m->list[i].mape_pct))
			rc = fit_gate_at_most(r, name_of(&m->list[i]), m->list[i].mape_pct, err,
					      "mean error that the table of models states, percent");
	return rc;
}

/* The largest share of throughput that is lost by a further GPU of the same link, from 2 to 64, at the
 * smallest compute time that the model has: alpha_c alone. */
static double fall(const struct fit_theta *t, int64_t nodes)
{
	double most = 0, best = 0;

	for (int64_t k = nodes > 2 ? nodes : 2; k <= 64; k++) {
		double x = (double)k / fit_theta_step_time(t, nodes, k, 1);

		best = x > best ? x : best;
		most = fmax(most, 1 - x / best);
	}
	return most;
}

static int check_monotone(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		double one, several;

		if (!usable(&m->list[i]))
			continue;
		one = fall(&m->list[i].theta, 1);
		several = fall(&m->list[i].theta, 2);
		rc = fit_gate_at_most(r, name_of(&m->list[i]), fmax(one, several), err,
				      "throughput lost by more GPUs, share, at a local batch of 1 on %s",
				      one >= several ? "one node" : "several nodes");
	}
	return rc;
}

static int check_links(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct fit_theta *t = &m->list[i].theta;

		if (usable(&m->list[i]))
			rc = fit_gate_at_least(r, name_of(&m->list[i]),
					       fmin(fit_theta_network_time(t, 2,
						       2) / fit_theta_network_time(t, 1, 2),
						    fit_theta_network_time(t, 2,
							    8) / fit_theta_network_time(t, 1, 8)),
					       err,
						       "synchronisation between nodes over that inside, of 2 and 8 GPUs");
	}
	return rc;
}

static int check_pinned(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++)
		if (m->list[i].pinned >= 0)
			rc = fit_gate_at_most(r, name_of(&m->list[i]), (double)m->list[i].pinned, err,
					      "parameters that nothing was measured of%s%s",
					      m->list[i].pinned ? ": " : "",
					      m->list[i].pinned ? m->list[i].pinned_text : "");
	return rc;
}

static const struct fit_gate_check checks[] = {
	{ "parameters", 0, check_parameters },
	{ "monotone", 0, check_monotone },
	{ "links", 0, check_links },
	{ "pinned", 0, check_pinned },
	{ "stated", 0, check_stated },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_throughput = {
	.name = "throughput", .what = "throughput models", .checks = checks, .is = is, .load = load,
	.free = free_models, .metric = FIT_GATE_RELATIVE, .feature = feature, .rows = rows, .predict = predict,
	.refit = refit,
};
