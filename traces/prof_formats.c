/* SPDX-License-Identifier: MIT */
/* The list of profiling dumps, and what happens to the rows that their readers emit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/num.h"
#include "traces/series.h"

#define NS_PER_DAY (INT64_C(86400) * FIT_NS_PER_S)

/* ---- formats ---- */

static const struct fit_field series_fields[FIT_SERIES_COLUMNS] = {
	[FIT_SERIES_TIME] = { "time_s", FIT_TIME, 0 },
	[FIT_SERIES_HOST] = { "host", FIT_TEXT, 0 },
	[FIT_SERIES_GPU] = { "gpu", FIT_INT, 0 },
	[FIT_SERIES_UTIL] = { "gpu_util_pct", FIT_REAL, 0 },
	[FIT_SERIES_MEM] = { "mem_util_pct", FIT_REAL, 0 },
	[FIT_SERIES_FB] = { "fb_used_mib", FIT_REAL, 0 },
	[FIT_SERIES_INSTANCE] = { "gpu_instance", FIT_TEXT, 0 },
	[FIT_SERIES_UUID] = { "gpu_uuid", FIT_TEXT, 0 },
	[FIT_SERIES_NAME] = { "gpu_name", FIT_TEXT, 0 },
	[FIT_SERIES_FB_TOTAL] = { "fb_total_mib", FIT_REAL, 0 },
	[FIT_SERIES_POWER] = { "power_w", FIT_REAL, 0 },
	[FIT_SERIES_TEMP] = { "temp_c", FIT_REAL, 0 },
	[FIT_SERIES_SM_CLOCK] = { "sm_clock_mhz", FIT_REAL, 0 },
	[FIT_SERIES_MEM_CLOCK] = { "mem_clock_mhz", FIT_REAL, 0 },
	[FIT_SERIES_POD] = { "pod", FIT_TEXT, 0 },
	[FIT_SERIES_DERIVED] = { "derived", FIT_TEXT, 0 }
};
static const struct fit_field kernel_fields[] = {
	{ "kernel", FIT_TEXT, 0 }, { "instances", FIT_INT, 0 }, { "time_share_pct", FIT_REAL, 0 },
	{ "total_ns", FIT_REAL, 0 }, { "mean_ns", FIT_REAL, 0 }, { "median_ns", FIT_REAL, 0 },
	{ "min_ns", FIT_REAL, 0 }, { "max_ns", FIT_REAL, 0 }, { "stddev_ns", FIT_REAL, 0 },
	{ "grid", FIT_TEXT, 0 }, { "block", FIT_TEXT, 0 }
};
static const struct fit_field colocate_fields[] = {
	{ "app1", FIT_TEXT, 0 }, { "dataset1", FIT_TEXT, 0 }, { "gpus1", FIT_INT, 0 },
	{ "batch_size1", FIT_INT, 0 }, { "amp1", FIT_INT, 0 }, { "speed1", FIT_REAL, 0 },
	{ "app2", FIT_TEXT, 0 }, { "dataset2", FIT_TEXT, 0 }, { "gpus2", FIT_INT, 0 },
	{ "batch_size2", FIT_INT, 0 }, { "amp2", FIT_INT, 0 }, { "speed2", FIT_REAL, 0 },
	{ "gpu_util_pct", FIT_REAL, 0 }, { "mem_util_pct", FIT_REAL, 0 }, { "fb_used_mib", FIT_REAL, 0 }
};
static const struct fit_field single_fields[] = {
	{ "app", FIT_TEXT, 0 }, { "dataset", FIT_TEXT, 0 }, { "batch_size", FIT_INT, 0 },
	{ "amp", FIT_INT, 0 }, { "samples_per_s", FIT_REAL, 0 }, { "gpu_util_pct", FIT_REAL, 0 },
	{ "mem_util_pct", FIT_REAL, 0 }, { "fb_used_mib", FIT_REAL, 0 }, { "label", FIT_INT, 0 }
};
static const struct fit_field placement_fields[] = {
	{ "app", FIT_TEXT, 0 }, { "exec_plan", FIT_TEXT, 0 }, { "placement", FIT_TEXT, 0 },
	{ "nodes", FIT_INT, 0 }, { "gpus", FIT_INT, 0 }, { "cpu_threads", FIT_INT, 0 },
	{ "iter_time_s", FIT_REAL, 0 }, { "forward_s", FIT_REAL, 0 },
	{ "overlap_sync_s", FIT_REAL, 0 }, { "optimize_s", FIT_REAL, 0 }
};
static const struct fit_field model_fields[] = {
	{ "app", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus", FIT_INT, 0 },
	{ "parameter_size", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "seq_hid", FIT_INT, 0 },
	{ "cpu_threads", FIT_INT, 0 }, { "zero_type", FIT_INT, 0 }, { "is_tp", FIT_INT, 0 },
	{ "is_pp", FIT_INT, 0 }, { "forward_ms", FIT_REAL, 0 }, { "sync_ms", FIT_REAL, 0 },
	{ "optimize_ms", FIT_REAL, 0 }, { "iter_time_ms", FIT_REAL, 0 }, { "strategy", FIT_TEXT, 0 }
};
/* alone: without the last four */
static const struct fit_field gavel_fields[] = {
	{ "gpu_type", FIT_TEXT, 0 }, { "consolidated", FIT_INT, 0 }, { "app", FIT_TEXT, 0 },
	{ "batch_size", FIT_INT, 0 }, { "gpus", FIT_INT, 0 }, { "steps_per_s", FIT_REAL, 0 },
	{ "with_app", FIT_TEXT, 0 }, { "with_batch_size", FIT_INT, 0 }, { "with_gpus", FIT_INT, 0 },
	{ "with_steps_per_s", FIT_REAL, 0 }
};
static const struct fit_field gradient_fields[] = {
	{ "step", FIT_INT, 0 }, { "time_s", FIT_TIME, 0 }, { "epoch", FIT_INT, 0 },
	{ "progress", FIT_REAL, 0 }, { "replicas", FIT_INT, 0 }, { "accum_steps", FIT_INT, 0 },
	{ "local_bsz", FIT_INT, 0 }, { "local_sqr", FIT_REAL, 0 }, { "global_sqr", FIT_REAL, 0 },
	{ "prev_dot", FIT_REAL, 0 }, { "prev_diff_sqr", FIT_REAL, 0 }
};

#define FIELDS(f) f, sizeof f / sizeof *f
#define SERIES NULL, 0, FIT_SERIES_F_SERIES
#define LOCAL NULL, 0, FIT_SERIES_F_SERIES | FIT_SERIES_F_LOCAL
#define BIT(c) (1u << FIT_SERIES_##c)

const struct fit_series_format fit_series_formats[] = {
	{ "nvidia-smi", "nvidia-smi --query-gpu … --format=csv", LOCAL,
	  BIT(UUID) | BIT(NAME) | BIT(FB_TOTAL) | BIT(POWER) | BIT(TEMP) | BIT(SM_CLOCK) |
	  BIT(MEM_CLOCK), fit_series_read_smi },
	{ "dmon", "nvidia-smi dmon", LOCAL,
	  BIT(POWER) | BIT(TEMP) | BIT(SM_CLOCK) | BIT(MEM_CLOCK), fit_series_read_dmon },
	{ "dcgmi", "dcgmi dmon", LOCAL,
	  BIT(INSTANCE) | BIT(FB_TOTAL) | BIT(POWER) | BIT(TEMP) | BIT(SM_CLOCK) | BIT(MEM_CLOCK) |
	  BIT(DERIVED), fit_series_read_dcgmi },
	{ "dcgm-exporter", "scrapes of dcgm-exporter (Prometheus text)", LOCAL,
	  BIT(INSTANCE) | BIT(UUID) | BIT(NAME) | BIT(FB_TOTAL) | BIT(POWER) | BIT(TEMP) |
	  BIT(SM_CLOCK) | BIT(MEM_CLOCK) | BIT(POD) | BIT(DERIVED), fit_series_read_exporter },
	{ "nsight", "Nsight Systems, SQLite export: kernels as utilisation", SERIES, 0,
	  fit_series_read_nsight },
	{ "nsight-metrics", "Nsight Systems, SQLite export: sampled GPU metrics", SERIES, BIT(DERIVED),
	  fit_series_read_gpu_metrics },
	{ "nsight-trace", "Nsight Systems, cuda_gpu_trace CSV: the same", SERIES, 0,
	  fit_series_read_nsight_trace },
	{ "nsight-kernels", "Nsight Systems, kernel summary CSV", FIELDS(kernel_fields), 0, 0,
	  fit_series_read_nsight_kernels },
	{ "pytorch-trace", "PyTorch profiler, Chrome trace JSON: kernels as utilisation", SERIES,
	  BIT(DERIVED), fit_series_read_pytorch },
	{ "philly-util", "cluster_gpu_util of the Philly trace", LOCAL, 0,
	  fit_series_read_philly_util },
	{ "lucid-colocate", "colocate_info of Lucid", FIELDS(colocate_fields), 0, 0,
	  fit_series_read_lucid_colocate },
	{ "lucid-single", "single_data of Lucid", FIELDS(single_fields), 0, 0,
	  fit_series_read_lucid_single },
	{ "rubick-placements", "placements.csv of Rubick, or a folder of them",
	  FIELDS(placement_fields), FIT_SERIES_F_FOLDER, 0, fit_series_read_rubick_placements },
	{ "rubick-model", "config.csv and data.csv of Rubick, in a folder or several",
	  FIELDS(model_fields), FIT_SERIES_F_FOLDER, 0, fit_series_read_rubick_model },
	{ "gavel", "throughputs of the Gavel simulator: alone", gavel_fields, 6, 0, 0, fit_series_read_gavel },
	{ "gavel-pairs", "the same: two jobs on the same GPUs", FIELDS(gavel_fields), 0, 0,
	  fit_series_read_gavel_pairs },
	{ "gradient-stats", "squared gradient norms, a row a step", FIELDS(gradient_fields), 0, 0,
	  fit_series_read_gradients },
	{ NULL, NULL, NULL, 0, 0, 0, NULL }
};

const struct fit_series_format *fit_series_format_find(const char *name)
{
	for (const struct fit_series_format *f = fit_series_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

struct fit_series_params fit_series_params_default(void)
{
	return (struct fit_series_params){ .bin_ns = FIT_NS_PER_S };
}

/* ---- rows on their way out ---- */

struct fit_series_out {
	const struct fit_series_format *format;
	const struct fit_series_params *params;
	const struct fit_series_sink *sink;
	struct fit_series_report *report;
	const char *input;
	struct fit_field fields[FIT_SERIES_COLUMNS];	/* of a time series */
	int column[FIT_SERIES_COLUMNS];			/* field i is this column */
	size_t n_fields;
	struct fit_hasher *hasher;
	bool calendar, has_offset, begun;
	int64_t offset_s, origin_ns, last_local;	/* last_local: what fit_series_local() said last */
};

const struct fit_series_params *fit_series_params_of(const struct fit_series_out *out)
{
	return out->params;
}

void fit_series_calendar(struct fit_series_out *out, bool has_offset, int64_t offset_s)
{
	out->calendar = true;
	out->has_offset = has_offset;
	out->offset_s = has_offset ? offset_s : 0;
}

bool fit_series_is_near(int64_t ns)
{
	return ns > -200 * 366 * NS_PER_DAY && ns < 200 * 366 * NS_PER_DAY;
}

int64_t fit_series_local(struct fit_series_out *out, int64_t local_ns)
{
	const struct fit_zone *z = &out->params->zone;
	int64_t after, utc;

	if (!z->given || !fit_series_is_near(local_ns))
		return local_ns;
	after = out->last_local == FIT_INT_NA ? FIT_INT_NA : out->last_local - 60 * FIT_NS_PER_S;
	if (!fit_zone_to_utc(z, local_ns, after, &utc))
		out->report->no_hour++;
	out->last_local = utc;
	return utc;
}

static int begin(struct fit_series_out *out, struct fit_err *err)
{
	const struct fit_field *fields = out->format->fields ? out->format->fields : out->fields;

	out->begun = true;
	return out->sink->begin(out->sink->ctx, fields, out->n_fields, out->report->origin, err);
}

/* The midnight of the dump's own clock before the first sample. */
static int set_origin(struct fit_series_out *out, int64_t first_ns, struct fit_err *err)
{
	int64_t local, day;
	size_t n;

	if (__builtin_add_overflow(first_ns, out->offset_s * FIT_NS_PER_S, &local) ||
	    local < INT64_MIN + 2 * NS_PER_DAY)
		return fit_fail(err, FIT_EDATA, "%s: first time out of range", out->input);
	day = local - local % NS_PER_DAY - (local % NS_PER_DAY < 0 ? NS_PER_DAY : 0);
	fit_format_datetime(out->report->origin, day);
	n = strlen(out->report->origin);
	if (out->has_offset) {
		int64_t a = out->offset_s < 0 ? -out->offset_s : out->offset_s;

		snprintf(out->report->origin + n, sizeof out->report->origin - n, "%c%02d:%02d",
			 out->offset_s < 0 ? '-' : '+', (int)(a / 3600 % 100), (int)(a / 60 % 60));
	}
	out->origin_ns = day - out->offset_s * FIT_NS_PER_S;
	return FIT_OK;
}

static void hash_cell(struct fit_series_out *out, enum fit_type type, const struct fit_cell *c)
{
	unsigned char na = c->na;
	uint64_t n;

	fit_hasher_add(out->hasher, &na, 1);
	if (c->na)
		return;
	if (type == FIT_TEXT) {
		n = c->u.t.n;
		fit_hasher_add(out->hasher, &n, sizeof n);
		fit_hasher_add(out->hasher, c->u.t.s, c->u.t.n);
	} else if (type == FIT_REAL) {
		fit_hasher_add(out->hasher, &c->u.d, sizeof c->u.d);
	} else {
		fit_hasher_add(out->hasher, &c->u.i, sizeof c->u.i);
	}
}

int fit_series_row(struct fit_series_out *out, const struct fit_cell *cells, struct fit_err *err)
{
	const struct fit_field *fields = out->format->fields ? out->format->fields : out->fields;
	int rc = out->begun ? FIT_OK : begin(out, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < out->n_fields; i++)
		hash_cell(out, fields[i].type, &cells[i]);
	out->report->rows++;
	return out->sink->row(out->sink->ctx, cells, err);
}

static void note_time(struct fit_series_out *out, int64_t t, uint64_t line)
{
	struct fit_series_report *r = out->report;

	if (r->has_range && t < r->last_ns && !r->back++)
		r->back_line = line;
	if (!r->has_range || t < r->first_ns)
		r->first_ns = t;
	if (!r->has_range || t > r->last_ns)
		r->last_ns = t;
	r->has_range = true;
}

int fit_series_sample(struct fit_series_out *out, const struct fit_cell cells[FIT_SERIES_COLUMNS],
		      uint64_t line, struct fit_err *err)
{
	struct fit_cell row[FIT_SERIES_COLUMNS];
	int64_t t = cells[FIT_SERIES_TIME].na ? 0 : cells[FIT_SERIES_TIME].u.i;

	if (out->calendar && !cells[FIT_SERIES_TIME].na) {
		if (!out->begun && !out->has_offset && out->params->zone.given &&
		    fit_series_is_near(t))
			fit_series_calendar(out, true, fit_zone_offset(&out->params->zone, t));
		if (!out->begun && set_origin(out, t, err))
			return FIT_EDATA;
		if (__builtin_sub_overflow(t, out->origin_ns, &t) || t == FIT_INT_NA)
			return fit_fail(err, FIT_EDATA, "%s:%llu: time out of range", out->input,
					(unsigned long long)line);
	}
	for (size_t i = 0; i < out->n_fields; i++)
		row[i] = cells[out->column[i]];
	row[FIT_SERIES_TIME].u.i = t;
	if (row[FIT_SERIES_HOST].na && out->params->host)
		row[FIT_SERIES_HOST] = (struct fit_cell){ .u.t = fit_text_of(out->params->host) };
	if (!row[FIT_SERIES_TIME].na)
		note_time(out, t, line);
	for (int i = 0; i < 3; i++) {
		const struct fit_cell *c = &row[FIT_SERIES_UTIL + i];

		out->report->cells[i].missing += c->na;
		out->report->cells[i].outside += !c->na && !(c->u.d >= 0 && (i == 2 || c->u.d <= 100));
	}
	return fit_series_row(out, row, err);
}

/* ---- the report ---- */

static void count(struct fit_series_counts *c, struct fit_text reason)
{
	size_t i, last = FIT_SERIES_REASONS - 1;

	if (reason.n > sizeof c->by->reason - 1)
		reason.n = sizeof c->by->reason - 1;
	c->n++;
	for (i = 0; i < c->n_by && !fit_text_is(reason, c->by[i].reason); i++)
		;
	if (i >= last) {
		reason = FIT_TEXT_LIT("other");
		i = last;
	}
	if (i == c->n_by) {
		c->n_by++;
		memcpy(c->by[i].reason, reason.s, reason.n);
		c->by[i].reason[reason.n] = '\0';
	}
	c->by[i].n++;
}

static void tell(struct fit_series_out *out, uint64_t line, const char *reason)
{
	if (out->params->listen)
		out->params->listen(out->params->listen_ctx, line, reason);
}

void fit_series_met(struct fit_series_out *out)
{
	out->report->records++;
}

int fit_series_bad(struct fit_series_out *out, int rc, uint64_t line, const char *reason)
{
	struct fit_series_counts *c = &out->report->left_out;

	if (!reason || (rc != FIT_EPARSE && rc != FIT_EDATA) ||
	    c->n >= (uint64_t)out->params->skip_bad)
		return rc;
	count(c, fit_text_of(reason));
	tell(out, line, reason);
	return FIT_OK;
}

void fit_series_lost(struct fit_series_out *out, uint64_t line, const char *reason)
{
	count(&out->report->left_out, fit_text_of(reason));
	tell(out, line, reason);
}

void fit_series_pass(struct fit_series_out *out, uint64_t line, const char *reason)
{
	count(&out->report->passed_over, fit_text_of(reason));
	tell(out, line, reason);
}

void fit_series_missing(struct fit_series_out *out, enum fit_series_column column,
			struct fit_text word)
{
	if (column >= FIT_SERIES_UTIL && column <= FIT_SERIES_FB)
		count(&out->report->cells[column - FIT_SERIES_UTIL].words,
		      word.n ? word : FIT_TEXT_LIT("empty"));
}

int fit_series_note(struct fit_series_out *out, const char *fmt, ...)
{
	char line[FIT_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	return fit_str_printf(&out->report->notes, "%s\n", line);
}

int fit_series_csv_row(struct fit_csv *c, struct fit_series_out *out, struct fit_cell *cells,
		       struct fit_err *err)
{
	for (;;) {
		int rc = fit_csv_row(c, cells, err);

		if (rc == FIT_END)
			return rc;
		out->report->records++;
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(c), fit_csv_reason(c));
		else
			return FIT_OK;
		if (rc)
			return rc;
	}
}

void fit_series_report_release(struct fit_series_report *r)
{
	fit_str_release(&r->notes);
	*r = (struct fit_series_report){ 0 };
}

/* ---- reading ---- */

static int read_with(struct fit_series_out *out, const struct fit_series_in *in, struct fit_err *err)
{
	const struct fit_series_format *f = out->format;
	int rc;

	out->last_local = FIT_INT_NA;
	out->hasher = fit_hasher_new();
	if (!out->hasher)
		return fit_fail_nomem(err);
	out->n_fields = f->n_fields;
	if (f->flags & FIT_SERIES_F_SERIES) {
		for (int i = 0; i < FIT_SERIES_COLUMNS; i++) {
			if (i > FIT_SERIES_FB && !(f->columns & (1u << i)))
				continue;
			out->fields[out->n_fields] = series_fields[i];
			out->column[out->n_fields++] = i;
		}
	}
	rc = f->read(in, out, err);
	if (!rc && !out->begun)
		rc = begin(out, err);
	fit_hasher_hex(out->hasher, out->report->hash);
	fit_hasher_free(out->hasher);
	return rc;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int fit_series_read_source(const struct fit_series_format *format, const char *operand,
			   struct fit_source *source, const struct fit_series_params *params,
			   const struct fit_series_sink *sink, struct fit_series_report *report,
			   struct fit_err *err)
{
	struct fit_series_out out = { .format = format, .params = params, .sink = sink, .report = report,
				      .input = source ? fit_source_name(source) : operand };
	struct fit_series_in in = { .operand = operand, .source = source };

	*report = (struct fit_series_report){ 0 };
	return read_with(&out, &in, err);
}

int fit_series_read(const struct fit_series_format *format, const char *operand,
		    const struct fit_series_params *params, const struct fit_series_sink *sink,
		    struct fit_series_report *report, struct fit_err *err)
{
	struct fit_source *source = NULL;
	int rc = FIT_OK;

	*report = (struct fit_series_report){ 0 };
	if (!(format->flags & FIT_SERIES_F_FOLDER) || !is_folder(operand))
		rc = fit_source_open(&source, operand, err);
	if (!rc)
		rc = fit_series_read_source(format, operand, source, params, sink, report, err);
	fit_source_close(source);
	return rc;
}

int fit_series_read_memory(const struct fit_series_format *format, const char *name,
			   const void *bytes, size_t n, const struct fit_series_params *params,
			   const struct fit_series_sink *sink, struct fit_series_report *report,
			   struct fit_err *err)
{
	struct fit_series_out out = { .format = format, .params = params, .sink = sink,
				      .report = report, .input = name };
	struct fit_series_in in = { .operand = NULL };
	int rc;

	*report = (struct fit_series_report){ 0 };
	rc = fit_source_open_memory(&in.source, name, bytes, n, err);
	if (rc)
		return rc;
	rc = read_with(&out, &in, err);
	fit_source_close(in.source);
	return rc;
}
