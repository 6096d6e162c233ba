/* SPDX-License-Identifier: MIT */
/*
 * dcgm-exporter: scrapes in the Prometheus text format (docs/formats/dcgm-exporter.md).
 *
 * A line is NAME{label="value",…} value [timestamp]. The metrics of one (host, gpu, MIG instance)
 * become one row a scrape; what is held is the scrape at hand.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/prof_text.h"

#define ENTITIES_MAX 65536
#define LABELS_MAX 64

enum { GRACT = FIT_SERIES_COLUMNS, DRAMA, FB_FREE, FB_RESERVED, METRICS };

struct metric {
	const char *name;
	int what;
};

static const struct metric metrics[] = {
	{ "DCGM_FI_DEV_GPU_UTIL", FIT_SERIES_UTIL }, { "DCGM_FI_DEV_MEM_COPY_UTIL", FIT_SERIES_MEM },
	{ "DCGM_FI_DEV_FB_USED", FIT_SERIES_FB }, { "DCGM_FI_DEV_FB_TOTAL", FIT_SERIES_FB_TOTAL },
	{ "DCGM_FI_DEV_FB_FREE", FB_FREE }, { "DCGM_FI_DEV_FB_RESERVED", FB_RESERVED },
	{ "DCGM_FI_DEV_POWER_USAGE", FIT_SERIES_POWER }, { "DCGM_FI_DEV_GPU_TEMP", FIT_SERIES_TEMP },
	{ "DCGM_FI_DEV_SM_CLOCK", FIT_SERIES_SM_CLOCK },
	{ "DCGM_FI_DEV_MEM_CLOCK", FIT_SERIES_MEM_CLOCK },
	{ "DCGM_FI_PROF_GR_ENGINE_ACTIVE", GRACT }, { "DCGM_FI_PROF_DRAM_ACTIVE", DRAMA },
	/* the exporter before version 2 */
	{ "dcgm_gpu_utilization", FIT_SERIES_UTIL }, { "dcgm_mem_copy_utilization", FIT_SERIES_MEM },
	{ "dcgm_fb_used", FIT_SERIES_FB }, { "dcgm_fb_free", FB_FREE },
	{ "dcgm_power_usage", FIT_SERIES_POWER }, { "dcgm_gpu_temp", FIT_SERIES_TEMP },
	{ "dcgm_sm_clock", FIT_SERIES_SM_CLOCK }, { "dcgm_memory_clock", FIT_SERIES_MEM_CLOCK }
};

struct label {
	struct fit_text name;
	size_t at, n;		/* the value, escapes resolved, in exporter.values */
};

/* One GPU or MIG instance in the scrape at hand. */
struct entity {
	char *host, *instance, *uuid, *name, *pod;	/* heap; NULL: none */
	int64_t gpu;
	bool has[METRICS];
	double value[METRICS];
	uint64_t labels[METRICS];	/* hash of the label set that the value came with */
	bool has_time;
	int64_t time_ns;
	uint64_t line;			/* of its first metric */
};

struct exporter {
	struct fit_prof_lines lines;
	struct fit_series_out *out;
	struct fit_str first_help;	/* the name in the first HELP line */
	struct label labels[LABELS_MAX];
	size_t n_labels;
	struct fit_str values;
	struct entity *list;
	size_t n, cap;
	struct fit_index index;		/* host, gpu, instance -> list */
	uint64_t scrape;
	bool calendar_set, timed;
	uint64_t shared;		/* samples that only differ in labels such as pod */
};

/* ---- the tokenizer ---- */

struct cursor {
	const char *s;
	size_t at, n;
};

static bool take(struct cursor *c, char ch)
{
	if (c->at == c->n || c->s[c->at] != ch)
		return false;
	c->at++;
	return true;
}

static void blanks(struct cursor *c)
{
	while (c->at < c->n && (c->s[c->at] == ' ' || c->s[c->at] == '\t'))
		c->at++;
}

static struct fit_text word(struct cursor *c, bool colons)
{
	size_t from = c->at;

	while (c->at < c->n) {
		char ch = c->s[c->at];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
		      (ch == ':' && colons) || (ch >= '0' && ch <= '9' && c->at > from)))
			break;
		c->at++;
	}
	return (struct fit_text){ c->s + from, c->at - from };
}

/* A quoted value; \\, \" and \n are the escapes of the format. */
static int quoted(struct exporter *x, struct cursor *c, struct label *l)
{
	l->at = x->values.n;
	if (!take(c, '"'))
		return FIT_EPARSE;
	for (;;) {
		char ch;

		if (c->at == c->n)
			return FIT_EPARSE;
		ch = c->s[c->at++];
		if (ch == '"')
			break;
		if (ch == '\\') {
			if (c->at == c->n)
				return FIT_EPARSE;
			ch = c->s[c->at++];
			if (ch == 'n')
				ch = '\n';
			else if (ch != '\\' && ch != '"')
				return FIT_EPARSE;
		}
		if (fit_str_add(&x->values, &ch, 1))
			return FIT_ENOMEM;
	}
	l->n = x->values.n - l->at;
	return FIT_OK;
}

static int parse_labels(struct exporter *x, struct cursor *c)
{
	x->n_labels = 0;
	fit_str_clear(&x->values);
	if (!take(c, '{'))
		return FIT_OK;
	for (;;) {
		struct label *l = &x->labels[x->n_labels];
		int rc;

		blanks(c);
		if (take(c, '}'))
			return FIT_OK;
		if (x->n_labels == LABELS_MAX)
			return FIT_EPARSE;
		l->name = word(c, false);
		blanks(c);
		if (!l->name.n || !take(c, '='))
			return FIT_EPARSE;
		blanks(c);
		rc = quoted(x, c, l);
		if (rc)
			return rc;
		x->n_labels++;
		blanks(c);
		if (!take(c, ',') && (c->at == c->n || c->s[c->at] != '}'))
			return FIT_EPARSE;
	}
}

static struct fit_text label_value(const struct exporter *x, const char *name)
{
	for (size_t i = 0; i < x->n_labels; i++)
		if (fit_prof_is(x->labels[i].name, name))
			return (struct fit_text){ x->values.s ? x->values.s + x->labels[i].at : "",
						  x->labels[i].n };
	return (struct fit_text){ "", 0 };
}

/* DCGM has numbers that mean "blank", "not found", "not supported", "not permitted": four from the
 * top of an int32, an int64 (Prometheus prints it as a double) and a double. */
static bool is_sentinel(double v)
{
	return (v >= 2147483632.0 && v <= 2147483635.0) || v >= 9223372036854774784.0 ||
	       (v >= 140737488355328.0 && v <= 140737488355331.0);
}

/* FIT_END: the value is missing. */
static int parse_value(struct fit_text t, double *v)
{
	if (fit_parse_double_any(t, v) && !fit_prof_is(t, "+inf") && !fit_prof_is(t, "nan"))
		return FIT_EPARSE;
	return fit_prof_is(t, "+inf") || !isfinite(*v) || is_sentinel(*v) ? FIT_END : FIT_OK;
}

/* ---- scrapes ---- */

static void release_entities(struct exporter *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->list[i].host);
		free(x->list[i].instance);
		free(x->list[i].uuid);
		free(x->list[i].name);
		free(x->list[i].pod);
	}
	x->n = 0;
	fit_index_release(&x->index);
}

static const struct fit_cell na_cell = { .na = true };

static struct fit_cell text_cell(const char *s)
{
	struct fit_cell c = na_cell;

	if (s)
		c = (struct fit_cell){ .u.t = fit_text_of(s) };
	return c;
}

/* A MIG instance has no utilisation of its own: what the exporter prints then is 0. */
static int fill_cells(const struct entity *e, struct fit_cell *cells, struct fit_str *derived)
{
	static const struct { int from, to; const char *name; } how[] = {
		{ GRACT, FIT_SERIES_UTIL, "gpu_util_pct" }, { DRAMA, FIT_SERIES_MEM, "mem_util_pct" }
	};
	int rc = FIT_OK;

	for (int i = 0; i < FIT_SERIES_COLUMNS; i++) {
		cells[i] = na_cell;
		if (e->has[i])
			cells[i] = (struct fit_cell){ .u.d = e->value[i] };
	}
	cells[FIT_SERIES_HOST] = text_cell(e->host);
	cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = e->gpu };
	cells[FIT_SERIES_INSTANCE] = text_cell(e->instance);
	cells[FIT_SERIES_UUID] = text_cell(e->uuid);
	cells[FIT_SERIES_NAME] = text_cell(e->name);
	cells[FIT_SERIES_POD] = text_cell(e->pod);
	for (size_t k = 0; !rc && k < 2; k++) {
		struct fit_cell *to = &cells[how[k].to];

		if (e->instance)
			*to = (struct fit_cell){ .na = true };
		if (!to->na || !e->has[how[k].from])
			continue;
		*to = (struct fit_cell){ .u.d = 100 * e->value[how[k].from] };
		rc = fit_str_printf(derived, "%s%s", derived->n ? "," : "", how[k].name);
	}
	if (!rc && cells[FIT_SERIES_FB_TOTAL].na && e->has[FIT_SERIES_FB] && e->has[FB_FREE]) {
		cells[FIT_SERIES_FB_TOTAL] = (struct fit_cell){
			.u.d = e->value[FIT_SERIES_FB] + e->value[FB_FREE] +
			       (e->has[FB_RESERVED] ? e->value[FB_RESERVED] : 0) };
		rc = fit_str_printf(derived, "%sfb_total_mib", derived->n ? "," : "");
	}
	cells[FIT_SERIES_DERIVED] = text_cell(derived->n ? derived->s : NULL);
	return rc;
}

static int emit_entity(struct exporter *x, const struct entity *e, struct fit_err *err)
{
	const struct fit_series_params *p = fit_series_params_of(x->out);
	struct fit_cell cells[FIT_SERIES_COLUMNS];
	struct fit_str derived = { 0 };
	int64_t t = e->time_ns;
	int rc = fill_cells(e, cells, &derived);

	if (rc)
		rc = fit_fail_nomem(err);
	if (!rc && !e->has_time) {
		if (!p->has_time)
			rc = fit_fail(err, FIT_EDATA, "%s:%llu: samples have no time (expected --time)",
				      fit_source_name(x->lines.source), (unsigned long long)e->line);
		else if (x->scrape && !p->period_ns)
			rc = fit_fail(err, FIT_EDATA, "%s:%llu: a further scrape, and no time (expected "
				      "--period)", fit_source_name(x->lines.source),
				      (unsigned long long)e->line);
		else if (fit_prof_tick_time(p, x->scrape, 0, &t))
			rc = fit_fail(err, FIT_EDATA, "%s:%llu: time out of range",
				      fit_source_name(x->lines.source), (unsigned long long)e->line);
	}
	if (!rc && !x->calendar_set) {
		x->calendar_set = true;
		x->timed = e->has_time;
		if (e->has_time)
			fit_series_calendar(x->out, true, 0);
		else if (p->time_is_calendar)
			fit_series_calendar(x->out, false, 0);
	}
	if (!rc && x->timed != e->has_time)
		rc = fit_fail(err, FIT_EDATA, "%s:%llu: samples with and without a time in one dump",
			      fit_source_name(x->lines.source), (unsigned long long)e->line);
	cells[FIT_SERIES_TIME] = (struct fit_cell){ .u.i = t };
	if (!rc)
		rc = fit_series_sample(x->out, cells, e->line, err);
	fit_str_release(&derived);
	return rc;
}

static int end_scrape(struct exporter *x, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < x->n; i++)
		rc = emit_entity(x, &x->list[i], err);
	if (x->n)
		x->scrape++;
	release_entities(x);
	return rc;
}

static int keep_text(char **slot, struct fit_text t)
{
	if (*slot || !t.n)
		return FIT_OK;
	*slot = fit_strdup(t);
	return *slot ? FIT_OK : FIT_ENOMEM;
}

static int keep_labels(struct exporter *x, struct entity *e)
{
	struct fit_text pod = label_value(x, "pod"), space = label_value(x, "namespace");
	struct fit_str full = { 0 };
	int rc = keep_text(&e->uuid, label_value(x, "UUID"));

	if (!pod.n) {	/* names of the labels before Kubernetes changed them */
		pod = label_value(x, "pod_name");
		space = label_value(x, "pod_namespace");
	}
	if (!rc)
		rc = keep_text(&e->name, label_value(x, "modelName"));
	if (!rc && pod.n && !e->pod) {
		rc = fit_str_add(&full, space.s, space.n);
		if (!rc && space.n)
			rc = fit_str_add(&full, "/", 1);
		if (!rc)
			rc = fit_str_add(&full, pod.s, pod.n);
		if (!rc)
			rc = keep_text(&e->pod, (struct fit_text){ full.s, full.n });
		fit_str_release(&full);
	}
	return rc;
}

/* The entity that the labels name, new or known. FIT_END: they name no GPU. */
static int find_entity(struct exporter *x, struct entity **e, struct fit_err *err)
{
	struct fit_text host = label_value(x, "Hostname"), gpu = label_value(x, "gpu");
	struct fit_text instance = label_value(x, "GPU_I_ID");
	struct fit_str key = { 0 };
	uint32_t found;
	int64_t id;
	int rc;

	if (!gpu.n) {
		fit_series_pass(x->out, x->lines.line, "metric without a GPU");
		return FIT_END;
	}
	if (fit_parse_int64(gpu, &id) || id < 0 || id > 1000000)
		return fit_prof_fail(&x->lines, FIT_EPARSE, "gpu", err, "bad value '%.*s' (expected the "
				     "number of a GPU)", FIT_TEXT_ARG(gpu));
	rc = fit_str_printf(&key, "%lld\n%zu\n", (long long)id, instance.n);
	if (!rc)
		rc = fit_str_add(&key, instance.s, instance.n);
	if (!rc)
		rc = fit_str_add(&key, host.s, host.n);
	if (!rc)
		rc = fit_index_put(&x->index, (struct fit_text){ key.s, key.n }, (uint32_t)x->n, &found);
	fit_str_release(&key);
	if (rc)
		return fit_fail_nomem(err);
	if (found != FIT_NO_INDEX) {
		*e = &x->list[found];
		return FIT_OK;
	}
	if (x->n == ENTITIES_MAX)
		return fit_prof_fail(&x->lines, FIT_EINVAL, NULL, err, "more than %d GPUs in one scrape",
				     ENTITIES_MAX);
	if (fit_grow(&x->list, &x->cap, x->n + 1, sizeof *x->list))
		return fit_fail_nomem(err);
	*e = &x->list[x->n++];
	**e = (struct entity){ .gpu = id, .line = x->lines.line };
	if (keep_text(&(*e)->host, host) || keep_text(&(*e)->instance, instance))
		return fit_fail_nomem(err);
	return FIT_OK;
}

static uint64_t hash_labels(const struct exporter *x)
{
	uint64_t h = 0;

	for (size_t i = 0; i < x->n_labels; i++) {
		h = fit_hash64(x->labels[i].name, h);
		h = fit_hash64((struct fit_text){ x->values.s ? x->values.s + x->labels[i].at : "",
						  x->labels[i].n }, h + 1);
	}
	return h;
}

static int store(struct exporter *x, int what, struct fit_text value, struct fit_text stamp,
		 struct fit_err *err)
{
	uint64_t labels = hash_labels(x);
	struct entity *e;
	double v, t;
	bool missing = parse_value(value, &v) == FIT_END;
	int rc = find_entity(x, &e, err);

	/* the same metric with the same labels: the next scrape has begun, without a HELP line */
	if (!rc && e->has[metrics[what].what] && e->labels[metrics[what].what] == labels) {
		rc = end_scrape(x, err);
		if (!rc)
			rc = find_entity(x, &e, err);
	}
	if (rc)
		return rc;
	what = metrics[what].what;
	if (missing && what < FIT_SERIES_COLUMNS)
		fit_series_missing(x->out, (enum fit_series_column)what, value);
	if (e->has[what])
		x->shared++;
	else if (!missing)
		e->value[what] = v;
	if (!e->has[what] && !missing) {
		e->has[what] = true;
		e->labels[what] = labels;
	}
	if (stamp.n && !e->has_time) {
		/* milliseconds; OpenMetrics has seconds, with a fraction */
		if (fit_parse_double(stamp, &t))
			return fit_prof_fail(&x->lines, FIT_EPARSE, "timestamp", err, "bad value '%.*s' "
					     "(expected milliseconds)", FIT_TEXT_ARG(stamp));
		if (fit_parse_int64(stamp, &e->time_ns) == FIT_OK && fabs(t) >= 1e11 && fabs(t) < 9e12)
			e->time_ns *= 1000000;
		else if (fabs(t) >= 1e11 || fit_parse_time(stamp, &e->time_ns))
			return fit_prof_fail(&x->lines, FIT_EPARSE, "timestamp", err, "bad value '%.*s' "
					     "(expected milliseconds)", FIT_TEXT_ARG(stamp));
		e->has_time = true;
	}
	return keep_labels(x, e) ? fit_fail_nomem(err) : FIT_OK;
}

/* FIT_END: a line that is no sample of a GPU. */
static int read_sample(struct exporter *x, struct fit_err *err)
{
	struct cursor c = { x->lines.text.s, 0, x->lines.text.n };
	struct fit_text name = word(&c, true), f[FIT_PROF_FIELDS_MAX];
	size_t n, k;
	double v;
	int rc;

	blanks(&c);
	rc = name.n ? parse_labels(x, &c) : FIT_EPARSE;
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	n = fit_prof_cut((struct fit_text){ c.s + c.at, c.n - c.at }, ' ', f);
	if (rc || n < 1 || n > 2 || parse_value(f[0], &v) == FIT_EPARSE)
		return fit_prof_fail(&x->lines, FIT_EPARSE, NULL, err, "not a sample '%.*s' (expected "
				     "NAME{label=\"value\",…} value)", FIT_TEXT_ARG(x->lines.text));
	for (k = 0; k < sizeof metrics / sizeof *metrics; k++)
		if (fit_text_is(name, metrics[k].name))
			break;
	if (k == sizeof metrics / sizeof *metrics)
		return FIT_END;
	if (n == 1)
		f[1] = (struct fit_text){ 0 };
	return store(x, (int)k, f[0], f[1], err);
}

static int read_comment(struct exporter *x, struct fit_err *err)
{
	struct fit_text f[FIT_PROF_FIELDS_MAX];
	size_t n = fit_prof_cut(x->lines.text, ' ', f);

	if (n >= 2 && fit_text_is(f[1], "EOF"))
		return end_scrape(x, err);
	if (n < 3 || !fit_text_is(f[1], "HELP"))
		return FIT_OK;
	if (!x->first_help.n)
		return fit_str_add(&x->first_help, f[2].s, f[2].n) ? fit_fail_nomem(err) : FIT_OK;
	return fit_text_is(f[2], x->first_help.s) ? end_scrape(x, err) : FIT_OK;
}

int fit_series_read_exporter(const struct fit_series_in *in, struct fit_series_out *out,
			     struct fit_err *err)
{
	struct exporter x = { .lines = { .source = in->source }, .out = out };
	bool bad;
	int rc = FIT_OK;

	while (!rc && (rc = fit_prof_line(&x.lines, &bad, err)) != FIT_END) {
		if (rc && !bad)
			break;
		if (!rc && x.lines.text.s[0] == '#') {
			rc = read_comment(&x, err);
			continue;
		}
		fit_series_met(out);
		if (!rc && !x.lines.ended && !memchr(x.lines.text.s, '}', x.lines.text.n)) {
			fit_series_lost(out, x.lines.line, "cut last line");
			continue;
		}
		if (!rc)
			rc = read_sample(&x, err);
		if (rc == FIT_END)
			rc = FIT_OK;
		else if (rc)
			rc = fit_series_bad(out, rc, x.lines.line, bad ? "bad encoding" : "bad sample");
	}
	if (rc == FIT_END && !x.lines.any)
		rc = fit_fail(err, FIT_EPARSE, "%s: empty file (expected metrics)",
			      fit_source_name(in->source));
	if (rc == FIT_END) {
		rc = end_scrape(&x, err);
		if (!rc && x.shared && fit_series_note(out, "%llu samples of a GPU that had one in the same "
						       "scrape, with other labels: the first counts",
						       (unsigned long long)x.shared))
			rc = fit_fail_nomem(err);
	}
	release_entities(&x);
	free(x.list);
	fit_str_release(&x.first_help);
	fit_str_release(&x.values);
	return rc;
}
