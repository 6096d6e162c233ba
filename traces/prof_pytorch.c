/* SPDX-License-Identifier: MIT */
/*
 * Traces of the PyTorch profiler, JSON in Chrome's trace format (docs/formats/pytorch-trace.md).
 * Events are cut out of the array one by one; kernels are kept, 32 bytes each, because they are not
 * in order of time.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/json_scan.h"
#include "traces/prof_intervals.h"
#include "traces/prof_text.h"

struct trace {
	struct fit_json_scan *scan;
	struct fit_series_out *out;
	struct fit_intervals kernels;
	bool has_base;
	int64_t base_ns;	/* baseTimeNanoseconds */
	uint64_t other;		/* events that are neither kernels nor memory marks */
	uint64_t no_duration;
};

/* The text of a member of the object: numbers with more digits than a double has are read from it. */
static struct fit_text member_text(struct fit_text object, const char *name)
{
	size_t n = strlen(name), depth = 0;
	bool key = false;

	for (size_t i = 0; i < object.n; i++) {
		char ch = object.s[i];
		size_t from = i + 1;

		if (ch == '{' || ch == '[') {
			depth++;
			key = ch == '{';
		} else if (ch == '}' || ch == ']') {
			depth--;
		} else if (ch == ',') {
			key = true;
		} else if (ch == '"') {
			for (i++; i < object.n && object.s[i] != '"'; i++)
				i += object.s[i] == '\\';
			if (depth != 1 || !key || i - from != n || i >= object.n ||
			    memcmp(object.s + from, name, n) != 0)
				continue;
			for (i++; i < object.n && (object.s[i] == ':' || object.s[i] == ' '); i++)
				;
			for (from = i; i < object.n && !strchr(",} \t\r\n", object.s[i]); i++)
				;
			return (struct fit_text){ object.s + from, i - from };
		} else if (ch == ':') {
			key = false;
		}
	}
	return (struct fit_text){ "", 0 };
}

/* Microseconds with a fraction as ns; exactly, and cut off, where the number is a plain decimal. */
static int parse_us(const json_t *v, struct fit_text text, int64_t *ns)
{
	double us = json_number_value(v);
	size_t point = 0, k;
	int64_t n;

	if (!json_is_number(v) || !(fabs(us) < 9e15))
		return FIT_EPARSE;
	while (point < text.n && text.s[point] != '.')
		point++;
	if (us >= 0 && fit_parse_int64((struct fit_text){ text.s, point }, &n) == FIT_OK) {
		for (k = point + 1; k <= point + 3; k++) {
			bool digit = k < text.n && text.s[k] >= '0' && text.s[k] <= '9';

			if (k < text.n && !digit)
				break;		/* an exponent */
			n = n * 10 + (digit ? text.s[k] - '0' : 0);
		}
		while (k < text.n && text.s[k] >= '0' && text.s[k] <= '9')
			k++;
		*ns = n;
		if (k >= text.n)
			return FIT_OK;
	}
	*ns = (int64_t)llround(us * 1000);
	return FIT_OK;
}

static bool is_kernel(const char *cat)
{
	struct fit_text t = fit_text_of(cat);

	return fit_prof_is(t, "kernel") || fit_prof_is(t, "gpu_kernel");
}

/* The device of a GPU event: args.device, else the process. */
static int parse_device(const struct trace *t, const json_t *event, const json_t *args, const char *name,
			int64_t *gpu, struct fit_err *err)
{
	json_t *v = json_object_get(args, name);
	int64_t id = -1;

	if (!v)
		v = json_object_get(event, "pid");
	if (json_is_number(v) && fabs(json_number_value(v)) <= 1e6 &&
	    json_number_value(v) == floor(json_number_value(v)))
		id = (int64_t)json_number_value(v);
	else if (json_is_string(v) && fit_parse_int64(fit_text_of(json_string_value(v)), &id))
		id = -1;
	if (id < 0 || id > 1000000)
		return fit_json_fail(t->scan, FIT_EDATA, name, err, "no number of a GPU");
	*gpu = id;
	return FIT_OK;
}

static int read_kernel(struct trace *t, const json_t *event, struct fit_text text, struct fit_err *err)
{
	const json_t *args = json_object_get(event, "args");
	const json_t *dur = json_object_get(event, "dur");
	struct fit_interval i = { 0 };
	int64_t length = 0;
	int rc = parse_device(t, event, args, "device", &i.gpu, err);

	if (rc)
		return rc;
	if (parse_us(json_object_get(event, "ts"), member_text(text, "ts"), &i.start))
		return fit_json_fail(t->scan, FIT_EDATA, "ts", err, "no time (expected microseconds)");
	if (!dur) {
		t->no_duration++;
		return FIT_OK;
	}
	if (parse_us(dur, member_text(text, "dur"), &length) || length < 0 ||
	    __builtin_add_overflow(i.start, length, &i.end))
		return fit_json_fail(t->scan, FIT_EDATA, "dur", err, "bad duration (expected microseconds)");
	return fit_intervals_add(&t->kernels, i, err);
}

/* What the caching allocator of a CUDA device holds. */
static int read_memory(struct trace *t, const json_t *event, struct fit_text text, struct fit_err *err)
{
	const json_t *args = json_object_get(event, "args");
	const json_t *type = json_object_get(args, "Device Type");
	const json_t *reserved = json_object_get(args, "Total Reserved");
	struct fit_interval i = { .end = INT64_MIN };
	int rc;

	if (!json_is_number(type) || json_number_value(type) < 0.5 || json_number_value(type) > 1.5 ||
	    !json_is_number(reserved)) {
		t->other++;
		return FIT_OK;
	}
	rc = parse_device(t, event, args, "Device Id", &i.gpu, err);
	if (rc)
		return rc;
	if (parse_us(json_object_get(event, "ts"), member_text(text, "ts"), &i.start))
		return fit_json_fail(t->scan, FIT_EDATA, "ts", err, "no time (expected microseconds)");
	i.mib = json_number_value(reserved) / 1048576;
	if (!(i.mib >= 0))
		return fit_json_fail(t->scan, FIT_EDATA, "Total Reserved", err, "out of range (expected 0 or "
				     "more)");
	return fit_intervals_add(&t->kernels, i, err);
}

static int read_event(struct trace *t, const json_t *event, struct fit_text text, struct fit_err *err)
{
	const char *ph = json_string_value(json_object_get(event, "ph"));
	const char *cat = json_string_value(json_object_get(event, "cat"));
	const char *name = json_string_value(json_object_get(event, "name"));

	if (ph && strcmp(ph, "X") == 0 && cat && is_kernel(cat))
		return read_kernel(t, event, text, err);
	if (ph && (strcmp(ph, "i") == 0 || strcmp(ph, "I") == 0) && name &&
	    strcmp(name, "[memory]") == 0)
		return read_memory(t, event, text, err);
	t->other++;
	return FIT_OK;
}

static int read_events(struct trace *t, struct fit_err *err)
{
	for (;;) {
		struct fit_text text, key;
		json_error_t why;
		json_t *v;
		int rc = fit_json_scan_next(t->scan, &text, &key, err);

		if (rc)
			return rc == FIT_END ? FIT_OK : rc;
		if (key.s) {
			if (fit_text_is(key, "baseTimeNanoseconds"))
				t->has_base = fit_parse_int64(text, &t->base_ns) == FIT_OK;
			continue;
		}
		fit_series_met(t->out);
		v = json_loadb(text.s, text.n, 0, &why);
		if (!v)		/* addresses may be beyond int64 */
			v = json_loadb(text.s, text.n, JSON_DECODE_INT_AS_REAL, &why);
		if (json_is_object(v))
			rc = read_event(t, v, text, err);
		else
			rc = fit_json_fail(t->scan, FIT_EPARSE, NULL, err, v ? "not an event (expected an "
					   "object)" : "bad JSON: %s", why.text);
		json_decref(v);
		if (rc)
			rc = fit_series_bad(t->out, rc, fit_json_line(t->scan), "bad event");
		if (rc)
			return rc;
	}
}

int fit_series_read_pytorch(const struct fit_series_in *in, struct fit_series_out *out,
			    struct fit_err *err)
{
	static const struct fit_json_options options = { .member = "traceEvents", .forgiving = true };
	struct fit_bins b = { .out = out, .bin_ns = fit_series_params_of(out)->bin_ns };
	struct trace t = { .out = out };
	int rc = fit_json_scan_open(&t.scan, in->source, &options, err);

	if (!rc)
		rc = read_events(&t, err);
	if (!rc && fit_json_cut(t.scan))
		rc = fit_series_note(out, "the file ends before its events do") ? fit_fail_nomem(err) : FIT_OK;
	if (!rc && t.no_duration && fit_series_note(out, "%llu kernels without a duration count for "
						    "nothing", (unsigned long long)t.no_duration))
		rc = fit_fail_nomem(err);
	if (!rc && !t.kernels.n && fit_series_note(out, "no event of a GPU"))
		rc = fit_fail_nomem(err);
	if (!rc && t.has_base && t.base_ns > 0 && t.base_ns < INT64_MAX / 2) {
		fit_series_calendar(out, true, 0);
		/* times are since then; but some writers leave them since 1970 */
		b.origin_ns = t.kernels.n && t.kernels.list[0].start > t.base_ns / 2 ? 0 : t.base_ns;
	}
	if (!rc && (rc = fit_intervals_flow(&t.kernels, &b, err)) != FIT_OK)
		(void)fit_fail_prefix(err, rc, "%s", fit_source_name(in->source));
	free(b.gpus);
	fit_intervals_release(&t.kernels);
	fit_json_scan_close(t.scan);
	return rc;
}
