/* SPDX-License-Identifier: MIT */
/* The model gate on performance models of execution plans (model/rubick.h), read as they stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/rubick.h"
#include "libfit/verify/gate_kind.h"

struct models {
	struct entry {
		char *app;
		struct fit_rubick m;
		double params_mi, forward_ms;	/* NAN: the table does not say */
	} *list;
	size_t n;
};

enum { GPUS, PARAMS, THREADS, ZERO, ALPHA_F, ALPHA_B, FORWARD, SYNC, OPTIMIZE, N_X };

static bool is(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	(void)table;
	for (int k = 0; k < FIT_RUBICK_N; k++)
		if (!has(arg, fit_rubick_names[k]))
			return false;
	return has(arg, "app");
}

static void free_models(void *model)
{
	struct models *m = model;

	for (size_t i = 0; m && i < m->n; i++)
		free(m->list[i].app);
	if (m)
		free(m->list);
	free(m);
}

static const struct entry *find(const struct models *m, const char *app)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->list[i].app, app) == 0)
			return &m->list[i];
	return NULL;
}

enum { C_APP, C_PCIE, C_NVLINK, C_PARAMS, C_FORWARD, C_K };

static int load(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	struct fit_field fields[C_K + FIT_RUBICK_N] = {
		[C_APP] = { "app", FIT_TEXT, FIT_F_NOT_NA }, [C_PCIE] = { "pcie_mi_per_ms", FIT_REAL, 0 },
		[C_NVLINK] = { "nvlink_mi_per_ms", FIT_REAL, 0 },
		[C_PARAMS] = { "params_mi", FIT_REAL, FIT_F_OPTIONAL },
		[C_FORWARD] = { "forward_ms", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct models *m = calloc(1, sizeof *m);
	struct fit_table t = { 0 };
	int rc;

	for (int k = 0; k < FIT_RUBICK_N; k++)
		fields[C_K + k] = (struct fit_field){ fit_rubick_names[k], FIT_REAL, 0 };
	rc = m ? fit_gate_source_table(s, &t, fields, C_K + FIT_RUBICK_N, err) : fit_fail_nomem(err);
	if (!rc && !t.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no model", t.input);
	if (!rc && !(m->list = calloc(t.n_rows, sizeof *m->list)))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		struct entry *e = &m->list[i];

		e->app = fit_strdup(fit_column_text(&t.columns[C_APP], i));
		m->n = i;	/* those before */
		if (e->app && find(m, e->app))
			rc = fit_table_fail(&t, i, FIT_EDATA, "app", err, "a second model of '%s'", e->app);
		m->n = i + 1;
		if (!e->app)
			rc = fit_fail_nomem(err);
		for (int k = 0; k < FIT_RUBICK_N; k++)
			e->m.k[k] = t.columns[C_K + k].d[i];
		e->m.pcie = t.columns[C_PCIE].d[i];
		e->m.nvlink = t.columns[C_NVLINK].d[i];
		e->params_mi = t.columns[C_PARAMS].d[i];
		e->forward_ms = t.columns[C_FORWARD].d[i];
	}
	fit_table_release(&t);
	if (rc) {
		free_models(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- rows: what gf-prof --from rubick-model writes ---- */

static int take_strategy(const struct fit_table *t, const struct fit_column *c, struct fit_gate_set *s,
			 struct fit_err *err)
{
	char buf[40];

	for (size_t i = 0; i < s->n; i++) {
		struct fit_text d = fit_gate_text(c, i, buf);

		if (d.n < 2 || d.s[0] < '1' || d.s[0] > '9' || d.s[1] < '1' || d.s[1] > '9')
			return fit_table_fail(t, i, FIT_EDATA, "strategy", err,
					      "bad strategy '%.*s' (expected digits, the "
					      "multipliers of both passes first)", FIT_TEXT_ARG(d));
		s->x[i * N_X + ALPHA_F] = d.s[0] - '0';
		s->x[i * N_X + ALPHA_B] = d.s[1] - '0';
	}
	return FIT_OK;
}

static struct fit_rubick_obs observation(const double *x, double y)
{
	return (struct fit_rubick_obs){
		.run = { .params_mi = x[PARAMS], .forward_ms = x[FORWARD], .gpus = (int64_t)x[GPUS],
			 .cpu_threads = (int64_t)x[THREADS] },
		.plan = { .name = "", .alpha_f = x[ALPHA_F], .alpha_b = x[ALPHA_B], .alpha_c = 1,
			  .zero = (enum fit_rubick_zero)x[ZERO] },
		.sync_ms = x[SYNC], .optimize_ms = x[OPTIMIZE], .iter_ms = y,
	};
}

static int rows(const void *model, const struct fit_table *t, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	static const char *const names[N_X] = {
		[GPUS] = "gpus", [PARAMS] = "parameter_size", [THREADS] = "cpu_threads",
		[ZERO] = "zero_type",
		[FORWARD] = "forward_ms", [SYNC] = "sync_ms", [OPTIMIZE] = "optimize_ms"
	};
	const struct fit_column *c, *app;
	char buf[40];
	int rc = fit_gate_set_init(s, t->n_rows, N_X, false, err);

	(void)model;
	for (size_t k = 0; k < N_X && !rc; k++) {
		if (!names[k])
			continue;
		rc = fit_gate_column(t, names[k], &c, err);
		rc = rc ? rc : fit_gate_set_numbers(s, k, t, c, err);
	}
	rc = rc ? rc : fit_gate_column(t, "strategy", &c, err);
	rc = rc ? rc : take_strategy(t, c, s, err);
	rc = rc ? rc : fit_gate_column(t, "app", &app, err);
	c = rc ? NULL : fit_table_column(t, target ? target : "iter_time_ms");
	if (!rc && measured && !c)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", t->input, target ? target :
			      "iter_time_ms");
	if (!rc && c)
		rc = fit_gate_set_numbers(s, SIZE_MAX, t, c, err);
	for (size_t i = 0; i < s->n && !rc; i++) {
		const double *x = &s->x[i * N_X];
		struct fit_rubick_obs o;
		const char *wrong = !(x[ZERO] >= 0) || !(x[ZERO] <= 2) || !(x[GPUS] >= 1) ||
			!(x[GPUS] <= 1e9) ||
				    !(x[THREADS] >= 1) || !(x[THREADS] <= 1e9) ?
					    "bad gpus, cpu_threads or zero_type" : NULL;

		s->y[i] = c ? s->y[i] : (double)NAN;
		if (!wrong && measured) {
			o = observation(x, s->y[i]);
			wrong = fit_rubick_obs_check(&o);
		}
		rc = wrong ? fit_table_fail(t, i, FIT_EDATA, NULL, err, "%s", wrong) :
		     fit_gate_set_group(s, i, fit_gate_text(app, i, buf), err);
	}
	return rc;
}

static bool feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	static const char *const names[] = { "gpus", "parameter_size", "cpu_threads", "zero_type" };

	(void)model;
	if (i >= sizeof names / sizeof *names)
		return false;
	*f = (struct fit_gate_feature){ names[i], false };
	return true;
}

static double predict(const void *model, const char *group, const double *x)
{
	const struct entry *e = find(model, group);
	struct fit_rubick_obs o = observation(x, 0);
	double ms = e ? fit_rubick_parts(&e->m, &o.plan, &o.run).iter_ms : (double)NAN;

	return ms > 0 ? ms : (double)NAN;
}

static int refit_app(const struct models *old, const struct fit_gate_set *s, const bool *use, uint32_t group,
		     struct fit_rubick_obs *obs, struct entry *e, struct fit_err *err)
{
	const struct entry *like = find(old, s->groups[group]);
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < s->n; i++)
		if (use[i] && s->group[i] == group)
			obs[n++] = observation(&s->x[i * N_X], s->y[i]);
	e->m.k[0] = (double)NAN;
	if (!like || !n)	/* without links nothing can be fitted */
		return FIT_OK;
	e->m = like->m;
	rc = fit_rubick_fit(&e->m, obs, n, NULL, err);
	if (rc == FIT_ENOCONV)
		e->m.k[0] = (double)NAN;
	return rc == FIT_ENOCONV ? FIT_OK : rc;
}

static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	struct models *m = calloc(1, sizeof *m);
	struct fit_rubick_obs *obs = malloc((s->n + 1) * sizeof *obs);
	int rc = m && obs && (m->list = calloc(s->n_groups + 1, sizeof *m->list)) ? FIT_OK :
		fit_fail_nomem(err);

	(void)in;
	for (size_t g = 0; g < s->n_groups && !rc; g++) {
		m->list[g].app = fit_strdup(fit_text_of(s->groups[g]));
		m->n = g + 1;
		rc = m->list[g].app ? refit_app(like, s, use, (uint32_t)g, obs, &m->list[g], err) :
			fit_fail_nomem(err);
	}
	free(obs);
	if (rc) {
		free_models(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- checks of its own ---- */

/* The constant or link that is outside of its domain, or NULL. */
static const char *bad_constant(const struct entry *e, double *value)
{
	for (int k = 0; k < FIT_RUBICK_N; k++) {
		*value = e->m.k[k];
		if (!isfinite(*value) || *value < 0 || (k == FIT_K_SYNC && !(*value > 0)))
			return fit_rubick_names[k];
	}
	*value = e->m.pcie;
	if (!(*value > 0) || !isfinite(*value))
		return "pcie_mi_per_ms";
	*value = e->m.nvlink;
	return *value > 0 && isfinite(*value) ? NULL : "nvlink_mi_per_ms";
}

static int check_parameters(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		double v;
		const char *bad = bad_constant(&m->list[i], &v);

		rc = bad ? fit_gate_add(r, m->list[i].app, v, NULL, FIT_GATE_FAIL, err,
					"%s is negative, not above 0 where "
					"it must be, or missing", bad) :
		     fit_gate_add(r, m->list[i].app, m->list[i].m.k[FIT_K_SYNC], NULL, FIT_GATE_PASS, err,
				  "k_sync; all constants are 0 or more, links above 0");
	}
	return rc;
}

/* The largest share by which an iteration gets longer with twice the GPUs, of a batch that is divided. */
static int check_monotone(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct entry *e = &m->list[i];
		double v, most = 0;

		if (bad_constant(e, &v) || !(e->params_mi > 0))
			continue;
		for (const struct fit_rubick_plan *p = fit_rubick_plans; p->name; p++)
			for (int64_t gpus = 1; gpus < 8; gpus *= 2) {
				double forward = e->forward_ms > 0 ? e->forward_ms : 100;
				struct fit_rubick_run a = { e->params_mi, forward / (double)gpus, gpus, 1,
							   false };
				struct fit_rubick_run b = { e->params_mi, forward / (double)(2 * gpus),
							   2 * gpus, 1, false };
				double slower = fit_rubick_parts(&e->m, p, &b).iter_ms /
						fit_rubick_parts(&e->m, p, &a).iter_ms - 1;

				/* the first one to synchronise may be slower */
				most = gpus > 1 ? fmax(most, slower) : most;
			}
		rc = fit_gate_at_most(r, e->app, most, err,
					 "longer iteration with twice the GPUs, share, from 2 to 8");
	}
	return rc;
}

static const struct fit_gate_check checks[] = {
	{ "parameters", 0, check_parameters },
	{ "monotone", 0, check_monotone },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_rubick = {
	.name = "rubick", .what = "performance models of execution plans", .checks = checks,
	.is = is, .load = load, .free = free_models, .metric = FIT_GATE_RELATIVE, .feature = feature,
	.rows = rows, .predict = predict, .refit = refit,
};
