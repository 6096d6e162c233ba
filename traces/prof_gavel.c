/* SPDX-License-Identifier: MIT */
/*
 * Measured throughputs of the Gavel simulator (docs/formats/gavel.md): one JSON object of
 * worker types; each has an object by "('MODEL (batch size N)', GPUS)", and that the steps a second alone
 * ("null") and beside each other key.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/gavel.h"
#include "traces/series.h"

bool fit_gavel_split_type(struct fit_text type, struct fit_text *model, int64_t *batch)
{
	static const char mark[] = " (batch size ";
	const size_t n = sizeof mark - 1;
	size_t at;

	for (at = 1; at + n < type.n && memcmp(type.s + at, mark, n) != 0; at++)
		;
	if (at + n >= type.n || type.s[type.n - 1] != ')')
		return false;
	if (fit_parse_int64((struct fit_text){ type.s + at + n, type.n - 1 - at - n }, batch) || *batch < 1)
		return false;
	*model = (struct fit_text){ type.s, at };
	return true;
}

/* A key in two parts. */
struct work {
	struct fit_text app;
	int64_t batch, gpus;
	bool has_batch;
};

static bool split_key(const char *key, struct work *w)
{
	struct fit_text t = fit_text_of(key);
	const char *comma;
	struct fit_text type, gpus;

	if (t.n < 7 || t.s[0] != '(' || t.s[1] != '\'' || t.s[t.n - 1] != ')')
		return false;
	for (comma = t.s + t.n - 4; comma > t.s + 2 && memcmp(comma, "', ", 3) != 0; comma--)
		;
	if (comma == t.s + 2)
		return false;
	type = (struct fit_text){ t.s + 2, (size_t)(comma - t.s) - 2 };
	gpus = (struct fit_text){ comma + 3, t.n - (size_t)(comma - t.s) - 4 };
	*w = (struct work){ .app = type };
	w->has_batch = fit_gavel_split_type(type, &w->app, &w->batch);
	return fit_parse_int64(gpus, &w->gpus) == FIT_OK && w->gpus >= 1;
}

struct reading {
	struct fit_series_out *out;
	const char *input, *type, *key;
	bool pairs;
	struct fit_text gpu_type;
	bool consolidated;
	struct work work;
};

static int fault(const struct reading *r, const char *what, const char *value, const char *expected,
		 struct fit_err *err)
{
	return fit_fail(err, FIT_EDATA, "%s: %s: %s%s%s '%s' (expected %s)", r->input, r->type, r->key ? r->key : "",
			r->key ? ": " : "", what, value, expected);
}

static int put(const struct reading *r, double steps_per_s, const struct work *with, double with_steps,
	       struct fit_err *err)
{
	const struct fit_cell cells[] = {
		{ .u.t = r->gpu_type },
		{ .u.i = r->consolidated },
		{ .u.t = r->work.app },
		{ .na = !r->work.has_batch, .u.i = r->work.batch },
		{ .u.i = r->work.gpus },
		{ .u.d = steps_per_s },
		{ .u.t = with->app },
		{ .na = !with->has_batch, .u.i = with->batch },
		{ .u.i = with->gpus },
		{ .u.d = with_steps },
	};

	fit_series_met(r->out);
	return fit_series_row(r->out, cells, err);
}

static bool is_rate(const json_t *v)
{
	double d = json_number_value(v);

	return json_is_number(v) && d >= 0 && d < 1e300;
}

/* Alone, or beside another one. */
static int read_value(struct reading *r, const char *other, const json_t *value, struct fit_err *err)
{
	struct work with = { .gpus = 0 };

	if (strcmp(other, "null") == 0) {
		if (!is_rate(value))
			return fault(r, "bad value of", other, "steps a second", err);
		return r->pairs ? FIT_OK : put(r, json_number_value(value), &with, 0, err);
	}
	if (!r->pairs)
		return FIT_OK;
	if (!split_key(other, &with))
		return fault(r, "bad name", other, "('MODEL', GPUS) or null", err);
	if (json_array_size(value) != 2 || !is_rate(json_array_get(value, 0)) || !is_rate(json_array_get(value, 1)))
		return fault(r, "bad value of", other, "the steps a second of both", err);
	return put(r, json_number_value(json_array_get(value, 0)), &with,
		   json_number_value(json_array_get(value, 1)), err);
}

static int read_type(struct reading *r, json_t *type, struct fit_err *err)
{
	static const char apart[] = "_unconsolidated";
	const size_t n = sizeof apart - 1;
	const char *key, *other;
	json_t *of, *value;
	int rc = FIT_OK;

	r->gpu_type = fit_text_of(r->type);
	r->consolidated = r->gpu_type.n <= n || memcmp(r->gpu_type.s + r->gpu_type.n - n, apart, n) != 0;
	if (!r->consolidated)
		r->gpu_type.n -= n;
	r->key = NULL;
	if (!json_is_object(type))
		return fault(r, "no object of", "throughputs", "them by ('MODEL', GPUS)", err);
	json_object_foreach(type, key, of) {
		r->key = NULL;
		if (!split_key(key, &r->work))
			return fault(r, "bad name", key, "('MODEL', GPUS)", err);
		r->key = key;
		if (!is_rate(json_object_get(of, "null")))
			return fault(r, "no value of", "null", "steps a second alone", err);
		json_object_foreach(of, other, value) {
			rc = rc ? rc : read_value(r, other, value, err);
		}
		if (rc)
			return rc;
	}
	return rc;
}

static int read_json(const struct fit_series_in *in, struct fit_series_out *out, bool pairs,
		     struct fit_err *err)
{
	struct reading r = { .out = out, .input = fit_source_name(in->source), .pairs = pairs };
	struct fit_str text = { 0 };
	json_error_t why;
	json_t *all = NULL, *type;
	int rc = fit_source_read_all(in->source, &text, err);

	if (!rc && !text.n)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty file (expected throughputs as JSON)", r.input);
	if (!rc) {
		all = json_loadb(text.s, text.n, JSON_REJECT_DUPLICATES, &why);
		if (!all)
			rc = fit_fail(err, FIT_EPARSE, "%s:%d: bad JSON: %s", r.input, why.line, why.text);
		else if (!json_is_object(all))
			rc = fit_fail(err, FIT_EDATA, "%s: no JSON object (expected one of worker types)", r.input);
	}
	fit_str_release(&text);
	if (!rc)
		json_object_foreach(all, r.type, type) {
			rc = rc ? rc : read_type(&r, type, err);
		}
	json_decref(all);
	return rc;
}

int fit_series_read_gavel(const struct fit_series_in *in, struct fit_series_out *out, struct fit_err *err)
{
	return read_json(in, out, false, err);
}

int fit_series_read_gavel_pairs(const struct fit_series_in *in, struct fit_series_out *out,
				struct fit_err *err)
{
	return read_json(in, out, true, err);
}
