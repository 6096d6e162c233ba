/* SPDX-License-Identifier: MIT */
/*
 * Scheduling hints of AdaptDL: what a job of it PUTs to its supervisor, and its allocator computes goodput
 * from (petuum/adaptdl, adaptdl/sched_hints.py and sched/adaptdl_sched/allocator.py). One object for one
 * job; several applications are an object of such objects.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/handoff_formats.h"
#include "libfit/model/theta.h"

/* Names of the parameters in perfParams: ours without the unit. */
static const char *const perf_names[FIT_THETA_N] = { "alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r",
						    "beta_r", "gamma" };

/* Limits and statistics of a job, as columns; the first is needed. */
enum { INIT, MAX, MIN_LOCAL, MAX_LOCAL, GLOBAL, REPLICAS, ACCUM, N_LIMITS };
static const char *const limit_names[N_LIMITS] = { "init_batch", "max_batch", "min_local_bsz",
						  "max_local_bsz",
						   "global_batch", "max_profiled_replicas",
							   "gradient_accumulation" };

struct hints {
	char *app;		/* NULL: without a name */
	double theta[FIT_THETA_N];	/* NAN: missing, all of them or none */
	int64_t limits[N_LIMITS];	/* FIT_INT_NA: missing */
	double sqr, var;	/* NAN: missing */
};

struct list {
	struct hints *h;
	size_t n;
};

static void release(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->h[i].app);
	free(l->h);
}

static bool same_app(const char *a, struct fit_text b)
{
	return a ? b.s && fit_text_is(b, a) : !b.s;
}

/* ---- from tables ---- */

enum { C_APP, C_SQR, C_VAR, C_PROGRESS, C_LIMITS, C_THETA = C_LIMITS + N_LIMITS,
       N_COLUMNS = C_THETA + FIT_THETA_N };

static void make_fields(struct fit_field *f, bool theta)
{
	f[C_APP] = (struct fit_field){ "app", FIT_TEXT, FIT_F_OPTIONAL };
	f[C_SQR] = (struct fit_field){ "grad_sqr", FIT_REAL, FIT_F_OPTIONAL };
	f[C_VAR] = (struct fit_field){ "grad_var", FIT_REAL, FIT_F_OPTIONAL };
	f[C_PROGRESS] = (struct fit_field){ "progress", FIT_REAL, FIT_F_OPTIONAL };
	for (int i = 0; i < N_LIMITS; i++)
		f[C_LIMITS + i] = (struct fit_field){ limit_names[i], FIT_INT, FIT_F_OPTIONAL };
	for (int i = 0; i < FIT_THETA_N && theta; i++)
		f[C_THETA + i] = (struct fit_field){ fit_theta_names[i], FIT_REAL, 0 };
}

static int check_limits(const struct fit_table *t, size_t row, struct fit_err *err)
{
	for (int i = 0; i < N_LIMITS; i++) {
		int64_t v = t->columns[C_LIMITS + i].i[row], least = i == REPLICAS || i == ACCUM ? 0 : 1;

		if (v != FIT_INT_NA && (v < least || (i == ACCUM && v > 1)))
			return fit_table_fail(t, row, FIT_EDATA, limit_names[i], err,
					      "out of range '%lld' (expected %s)",
					      (long long)v, i == ACCUM ? "0 or 1" : least ? "1 or more" :
						      "0 or more");
	}
	for (int i = C_SQR; i <= C_VAR; i++) {
		double v = t->columns[i].d[row];

		if (!fit_real_is_na(v) && !(v >= 0 && isfinite(v)))
			return fit_table_fail(t, row, FIT_EDATA, t->columns[i].name, err,
					      "bad gradient statistic (expected a number of at least 0)");
	}
	return FIT_OK;
}

/* What a row knows replaces what was known. */
static int take_limits(struct hints *h, const struct fit_table *t, size_t row, struct fit_err *err)
{
	int rc = check_limits(t, row, err);

	for (int i = 0; i < N_LIMITS && !rc; i++)
		if (t->columns[C_LIMITS + i].i[row] != FIT_INT_NA)
			h->limits[i] = t->columns[C_LIMITS + i].i[row];
	if (!rc && !fit_real_is_na(t->columns[C_SQR].d[row]) && !fit_real_is_na(t->columns[C_VAR].d[row])) {
		h->sqr = t->columns[C_SQR].d[row];
		h->var = t->columns[C_VAR].d[row];
	}
	return rc;
}

static int take_model(struct list *l, const struct fit_table *t, size_t row, const char *app,
		      struct fit_err *err)
{
	struct fit_text name = fit_column_text(&t->columns[C_APP], row);
	struct hints *h = &l->h[l->n];
	struct fit_theta theta;
	struct fit_err why;
	int bad = 0, n_missing = 0;

	if (app && !(name.s && fit_text_is(name, app)))
		return FIT_OK;
	for (size_t i = 0; i < l->n; i++)
		if (same_app(l->h[i].app, name))
			return fit_table_fail(t, row, FIT_EDATA, "app", err, "a second model of '%.*s'",
					      FIT_TEXT_ARG(name));
	*h = (struct hints){ .sqr = (double)NAN, .var = (double)NAN };
	for (int i = 0; i < N_LIMITS; i++)
		h->limits[i] = FIT_INT_NA;
	for (int i = 0; i < FIT_THETA_N; i++) {
		h->theta[i] = theta.v[i] = t->columns[C_THETA + i].d[row];
		n_missing += fit_real_is_na(theta.v[i]);
	}
	/* where all are missing there is no model; one with a part of them is none that can be used */
	if (n_missing < FIT_THETA_N && fit_theta_check(&theta, &bad, &why))
		return fit_table_fail(t, row, FIT_EDATA, fit_theta_names[bad], err, "%s", why.msg);
	h->app = name.s ? fit_strdup(name) : NULL;
	l->n++;
	return name.s && !h->app ? fit_fail_nomem(err) : take_limits(h, t, row, err);
}

/* The latest row of each application: by progress where there is one, else the last. */
static int take_stats(struct list *l, const char *operand, struct fit_err *err)
{
	struct fit_field fields[C_THETA];
	struct fit_table t;
	int rc;

	make_fields(fields, false);
	rc = fit_table_read(&t, operand, fields, C_THETA, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < l->n && !rc; i++) {
		double latest = -(double)INFINITY;

		for (size_t row = 0; row < t.n_rows && !rc; row++) {
			double at = t.columns[C_PROGRESS].d[row];
			struct fit_text name = fit_column_text(&t.columns[C_APP], row);

			if ((name.s && !same_app(l->h[i].app, name)) || at < latest)
				continue;
			latest = isnan(at) ? latest : at;
			rc = take_limits(&l->h[i], &t, row, err);
		}
	}
	fit_table_release(&t);
	return rc;
}

/* The most replicas that were measured. */
static int take_data(struct list *l, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "app", FIT_TEXT, FIT_F_OPTIONAL },
						   { "num_replicas", FIT_INT, FIT_F_OPTIONAL },
						   { "placement", FIT_INT, FIT_F_OPTIONAL } };
	struct fit_table t;
	int rc = fit_table_read(&t, operand, fields, 3, err);

	for (size_t row = 0; !rc && row < t.n_rows; row++) {
		struct fit_text name = fit_column_text(&t.columns[0], row);
		int64_t n = t.columns[1].i[row], digits = t.columns[2].i[row];

		if (n == FIT_INT_NA && digits > 0)
			for (n = 0; digits; digits /= 10)	/* a digit a node */
				n += digits % 10;
		for (size_t i = 0; i < l->n; i++)
			if (n != FIT_INT_NA && n > 0 && (!name.s || same_app(l->h[i].app, name)) &&
			    (l->h[i].limits[REPLICAS] == FIT_INT_NA || n > l->h[i].limits[REPLICAS]))
				l->h[i].limits[REPLICAS] = n;
	}
	if (!rc)
		fit_table_release(&t);
	return rc;
}

static int load(struct list *l, const char *operand, const struct fit_handoff_options *o,
		struct fit_err *err)
{
	struct fit_field fields[N_COLUMNS];
	struct fit_table t;
	int rc;

	make_fields(fields, true);
	rc = fit_table_read(&t, operand, fields, N_COLUMNS, err);
	if (rc)
		return rc;
	if (!(l->h = calloc(t.n_rows + 1, sizeof *l->h)))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < t.n_rows && !rc; i++)
		rc = take_model(l, &t, i, o->app, err);
	if (!rc && !l->n)
		rc = o->app ? fit_fail(err, FIT_EDATA, "%s: no model of '%s'", t.input, o->app) :
		     fit_fail(err, FIT_EDATA, "%s: no model", t.input);
	rc = rc || !o->stats ? rc : take_stats(l, o->stats, err);
	rc = rc || !o->data ? rc : take_data(l, o->data, err);
	for (size_t i = 0; i < l->n && !rc; i++) {
		if (l->h[i].limits[INIT] == FIT_INT_NA)
			rc = fit_fail(err, FIT_EDATA,
					 "%s: no initial batch size of '%s' (expected --stats with a column "
				      "init_batch)", t.input, l->h[i].app ? l->h[i].app : "the model");
		else if (!l->h[i].app && l->n > 1)
			rc = fit_fail(err, FIT_EDATA, "%s: a model without a name beside others", t.input);
	}
	fit_table_release(&t);
	return rc;
}

/* ---- to JSON ---- */

static void put_limit(struct fit_json_out *o, int64_t v)
{
	if (v == FIT_INT_NA)
		fit_json_raw(o, "null");
	else
		fit_handoff_int(o, v);
}

static void put_hints(struct fit_json_out *o, const struct hints *h)
{
	fit_json_raw(o, "{\"initBatchSize\": ");
	put_limit(o, h->limits[INIT]);
	fit_json_raw(o, ", \"localBszBounds\": ");
	if (h->limits[MIN_LOCAL] == FIT_INT_NA && h->limits[MAX_LOCAL] == FIT_INT_NA) {
		fit_json_raw(o, "null");
	} else {
		fit_json_raw(o, "[");
		put_limit(o, h->limits[MIN_LOCAL]);
		fit_json_raw(o, ", ");
		put_limit(o, h->limits[MAX_LOCAL]);
		fit_json_raw(o, "]");
	}
	fit_json_raw(o, ", \"globalBatchSize\": ");
	put_limit(o, h->limits[GLOBAL]);
	fit_json_raw(o, ", \"maxBatchSize\": ");
	put_limit(o, h->limits[MAX]);
	fit_json_raw(o, ", \"maxProfiledReplicas\": ");
	put_limit(o, h->limits[REPLICAS] == FIT_INT_NA ? 0 : h->limits[REPLICAS]);
	fit_json_raw(o, h->limits[ACCUM] == 1 ? ", \"gradientAccumulation\": true" :
		     ", \"gradientAccumulation\": false");
	/* the allocator takes its own default where the key is not there, and fails where it is null */
	if (!isnan(h->sqr)) {
		fit_json_raw(o, ", \"gradParams\": {\"norm\": ");
		fit_json_real(o, h->sqr, "inf");
		fit_json_raw(o, ", \"var\": ");
		fit_json_real(o, h->var, "inf");
		fit_json_raw(o, "}");
	}
	for (int i = 0; i < FIT_THETA_N && !isnan(h->theta[0]); i++) {
		fit_json_raw(o, i ? ", \"" : ", \"perfParams\": {\"");
		fit_json_raw(o, perf_names[i]);
		fit_json_raw(o, "\": ");
		fit_json_real(o, h->theta[i], "inf");
		fit_json_raw(o, i + 1 < FIT_THETA_N ? "" : "}");
	}
	fit_json_raw(o, "}");
}

static int write_hints(const char *operand, const struct fit_handoff_options *options, struct fit_str *out,
		       struct fit_err *err)
{
	struct fit_json_out o = { out, FIT_OK };
	struct list l = { .n = 0 };
	int rc = load(&l, operand, options, err);
	bool alone = l.n == 1 && (options->app || !l.h[0].app);

	for (size_t i = 0; i < l.n && !rc; i++) {
		if (!alone) {
			fit_json_raw(&o, i ? ",\n " : "{");
			fit_json_text(&o, l.h[i].app);
			fit_json_raw(&o, ": ");
		}
		put_hints(&o, &l.h[i]);
	}
	fit_json_raw(&o, alone ? "\n" : "}\n");
	release(&l);
	return rc ? rc : o.rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- from JSON ---- */

static bool is(struct fit_text bytes)
{
	return fit_handoff_first(bytes) == '{' && fit_handoff_has(bytes, "\"initBatchSize\"");
}

struct place {
	const char *name, *app;	/* app "" for the only one */
	struct fit_err *err;
};

static int bad(const struct place *p, const char *key, const char *expected)
{
	return fit_fail(p->err, FIT_EDATA, "%s: %s%sbad %s (expected %s)", p->name, p->app, *p->app ?
			": " : "", key,
			expected);
}

/* A whole number; null and a key that is not there are missing. */
static int get_limit(const struct place *p, const json_t *v, const char *key, int64_t least, int64_t *out)
{
	*out = FIT_INT_NA;
	if (!v || json_is_null(v))
		return FIT_OK;
	if (!json_is_integer(v) || json_integer_value(v) < least)
		return bad(p, key, least ? "a whole number of at least 1" : "a whole number of at least 0");
	*out = json_integer_value(v);
	return FIT_OK;
}

static int get_number(const struct place *p, const json_t *in, const char *object, const char *key,
		      double *out)
{
	const json_t *v = json_object_get(in, key);
	char what[80];

	*out = json_is_number(v) ? json_number_value(v) : (double)NAN;
	if (isfinite(*out))
		return FIT_OK;
	snprintf(what, sizeof what, "%s.%s", object, key);
	return bad(p, what, "a number");
}

static int get_bounds(const struct place *p, const json_t *v, struct hints *h)
{
	int rc;

	h->limits[MIN_LOCAL] = h->limits[MAX_LOCAL] = FIT_INT_NA;
	if (!v || json_is_null(v))
		return FIT_OK;
	if (!json_is_array(v) || json_array_size(v) != 2)
		return bad(p, "localBszBounds", "a list of two");
	rc = get_limit(p, json_array_get(v, 0), "localBszBounds", 1, &h->limits[MIN_LOCAL]);
	return rc ? rc : get_limit(p, json_array_get(v, 1), "localBszBounds", 1, &h->limits[MAX_LOCAL]);
}

static int get_params(const struct place *p, const json_t *in, struct hints *h)
{
	const json_t *grad = json_object_get(in, "gradParams"), *perf = json_object_get(in, "perfParams");
	struct fit_theta theta;
	struct fit_err why;
	int rc = FIT_OK;

	h->sqr = h->var = h->theta[0] = (double)NAN;
	if (grad && !json_is_null(grad)) {
		rc = get_number(p, grad, "gradParams", "norm", &h->sqr);
		rc = rc ? rc : get_number(p, grad, "gradParams", "var", &h->var);
		if (!rc && (h->sqr < 0 || h->var < 0))
			rc = bad(p, "gradParams", "numbers of at least 0");
	}
	if (rc || !perf || json_is_null(perf))
		return rc;
	for (int i = 0; i < FIT_THETA_N && !rc; i++) {
		rc = get_number(p, perf, "perfParams", perf_names[i], &h->theta[i]);
		theta.v[i] = h->theta[i];
	}
	if (!rc && fit_theta_check(&theta, NULL, &why))
		rc = fit_fail(p->err, FIT_EDATA, "%s: %s%sperfParams: %s", p->name, p->app, *p->app ?
			      ": " : "", why.msg);
	return rc;
}

static int get_hints(const struct place *p, const json_t *in, struct hints *h)
{
	const json_t *accum = json_object_get(in, "gradientAccumulation");
	int rc;

	if (!json_is_object(in))
		return bad(p, "hints", "an object");
	rc = get_limit(p, json_object_get(in, "initBatchSize"), "initBatchSize", 1, &h->limits[INIT]);
	if (!rc && h->limits[INIT] == FIT_INT_NA)
		rc = bad(p, "initBatchSize", "a whole number of at least 1");
	rc = rc ? rc : get_limit(p, json_object_get(in, "maxBatchSize"), "maxBatchSize", 1, &h->limits[MAX]);
	rc = rc ? rc : get_limit(p, json_object_get(in, "globalBatchSize"), "globalBatchSize", 1,
				 &h->limits[GLOBAL]);
	rc = rc ? rc : get_limit(p, json_object_get(in, "maxProfiledReplicas"), "maxProfiledReplicas", 0,
				 &h->limits[REPLICAS]);
	if (!rc && accum && !json_is_boolean(accum) && !json_is_null(accum))
		rc = bad(p, "gradientAccumulation", "true or false");
	h->limits[ACCUM] = json_is_true(accum);
	rc = rc ? rc : get_bounds(p, json_object_get(in, "localBszBounds"), h);
	return rc ? rc : get_params(p, in, h);
}

static int put_row(struct fit_writer *w, const char *app, const struct hints *h, struct fit_err *err)
{
	fit_writer_str(w, app);
	for (int i = 0; i < FIT_THETA_N; i++)
		if (isnan(h->theta[0]))
			fit_writer_na(w);
		else
			fit_writer_real(w, h->theta[i]);
	for (int i = 0; i < N_LIMITS; i++)
		if (h->limits[i] == FIT_INT_NA)
			fit_writer_na(w);
		else
			fit_writer_int(w, h->limits[i]);
	for (int i = 0; i < 2; i++)
		if (isnan(h->sqr))
			fit_writer_na(w);
		else
			fit_writer_real(w, i ? h->var : h->sqr);
	return fit_writer_end_row(w, err);
}

static int read_hints(const char *name, struct fit_text bytes, struct fit_writer *w,
		      const struct fit_meta *meta,
		      struct fit_err *err)
{
	struct fit_field fields[1 + FIT_THETA_N + N_LIMITS + 2] = { { "app", FIT_TEXT, 0 } };
	size_t n = 1;
	struct hints h = { .app = NULL };
	json_t *top, *one;
	const char *app;
	int rc = fit_handoff_json(name, bytes, &top, err);

	if (rc)
		return rc;
	for (int i = 0; i < FIT_THETA_N; i++)
		fields[n++] = (struct fit_field){ fit_theta_names[i], FIT_REAL, 0 };
	for (int i = 0; i < N_LIMITS; i++)
		fields[n++] = (struct fit_field){ limit_names[i], FIT_INT, 0 };
	fields[n++] = (struct fit_field){ "grad_sqr", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "grad_var", FIT_REAL, 0 };
	rc = fit_writer_begin(w, "hints", meta, fields, n, err);
	if (!rc && json_object_get(top, "initBatchSize")) {
		rc = get_hints(&(struct place){ name, "", err }, top, &h);
		rc = rc ? rc : put_row(w, NULL, &h, err);
	} else if (!rc) {
		json_object_foreach(top, app, one) {
			rc = get_hints(&(struct place){ name, app, err }, one, &h);
			rc = rc ? rc : put_row(w, app, &h, err);
			if (rc)
				break;
		}
	}
	json_decref(top);
	return rc ? rc : fit_writer_end(w, err);
}

const struct fit_handoff_format fit_handoff_adaptdl = {
	"adaptdl", "scheduling hints of AdaptDL, from throughput models",
	FIT_HANDOFF_APP | FIT_HANDOFF_STATS | FIT_HANDOFF_DATA, is, write_hints, read_hints
};
