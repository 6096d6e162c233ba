/* SPDX-License-Identifier: MIT */
/* cluster_gpu_util of the Philly trace: a row a machine and minute, a column a GPU
 * (docs/formats/philly-util.md). */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/csv.h"
#include "traces/jobs.h"
#include "traces/prof_text.h"

#define GPU_COLUMNS_MAX 256

struct util {
	struct fit_csv *c;
	struct fit_series_out *out;
	size_t n;			/* columns gpuN_util, */
	int64_t gpu[GPU_COLUMNS_MAX];	/* their N, */
	size_t at[GPU_COLUMNS_MAX];	/* and where they stand */
	char label[GPU_COLUMNS_MAX][24];
	bool calendar;
	bool zoned;
};

/* "2017-11-05 01:30:00 PDT". FIT_EINVAL: a zone that we do not know. */
static int parse_time(struct fit_text t, int64_t *ns, bool *zoned, int64_t *offset_s)
{
	static const struct { const char *zone; int64_t hours; } zones[] = {
		{ "PDT", -7 }, { "PST", -8 }, { "UTC", 0 }, { "GMT", 0 }, { "Z", 0 }
	};
	size_t k = t.n;

	while (k && t.s[k - 1] != ' ')
		k--;
	*zoned = k >= 20;
	*offset_s = 0;
	if (!*zoned)
		return fit_parse_datetime(t, ns);
	if (fit_parse_datetime(fit_prof_trim((struct fit_text){ t.s, k }), ns))
		return FIT_EPARSE;
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		if (!fit_text_is((struct fit_text){ t.s + k, t.n - k }, zones[i].zone))
			continue;
		*offset_s = zones[i].hours * 3600;
		*ns -= *offset_s * FIT_NS_PER_S;
		return FIT_OK;
	}
	return FIT_EINVAL;
}

static int find_columns(struct util *u, struct fit_err *err)
{
	for (size_t i = 0; i < fit_csv_n_columns(u->c); i++) {
		struct fit_text t = fit_csv_column(u->c, i);

		if (t.n < 9 || t.n >= sizeof *u->label || memcmp(t.s, "gpu", 3) != 0 ||
		    memcmp(t.s + t.n - 5, "_util", 5) != 0 || u->n == GPU_COLUMNS_MAX ||
		    fit_parse_int64((struct fit_text){ t.s + 3, t.n - 8 }, &u->gpu[u->n]) ||
		    u->gpu[u->n] < 0)
			continue;
		memcpy(u->label[u->n], t.s, t.n);
		u->at[u->n++] = i;
	}
	if (!u->n)
		return fit_csv_fail(u->c, FIT_ENOTFOUND, NULL, err, "no column 'gpu0_util', 'gpu1_util', …");
	return FIT_OK;
}

static int read_row(struct util *u, const struct fit_cell *in, struct fit_err *err)
{
	struct fit_cell values[GPU_COLUMNS_MAX], cells[FIT_SERIES_COLUMNS];
	int64_t t, offset_s;
	bool zoned;
	int rc = parse_time(in[0].u.t, &t, &zoned, &offset_s);

	if (rc)
		return fit_csv_fail(u->c, FIT_EPARSE, "time", err, "%s '%.*s' (expected YYYY-MM-DD HH:MM:SS "
				    "PDT or PST)", rc == FIT_EINVAL ? "unknown zone or day" : "bad value",
				    FIT_TEXT_ARG(in[0].u.t));
	if (u->calendar && zoned != u->zoned)
		return fit_csv_fail(u->c, FIT_EDATA, "time", err, "times with and without a zone in one file");
	for (size_t i = 0; i < u->n; i++) {
		struct fit_text v = fit_csv_raw(u->c, u->at[i]);

		values[i] = (struct fit_cell){ .na = fit_prof_is_missing(v) };
		if (!values[i].na && fit_parse_double(v, &values[i].u.d))
			return fit_csv_fail(u->c, FIT_EPARSE, u->label[i], err, "bad value '%.*s' (expected a "
					    "number or NA)", FIT_TEXT_ARG(v));
	}
	if (!zoned)
		t = fit_series_local(u->out, t);
	if (!u->calendar)
		fit_series_calendar(u->out, zoned, offset_s);
	u->calendar = true;
	u->zoned = zoned;
	for (int i = 0; i < FIT_SERIES_COLUMNS; i++)
		cells[i] = (struct fit_cell){ .na = true };
	cells[FIT_SERIES_TIME] = (struct fit_cell){ .u.i = t };
	cells[FIT_SERIES_HOST] = in[1];
	for (size_t i = 0; i < u->n; i++) {
		cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = u->gpu[i] };
		cells[FIT_SERIES_UTIL] = values[i];
		if (values[i].na)
			fit_series_missing(u->out, FIT_SERIES_UTIL, fit_csv_raw(u->c, u->at[i]));
		rc = fit_series_sample(u->out, cells, fit_csv_line(u->c), err);
		if (rc)
			return rc;
	}
	return FIT_OK;
}

int fit_series_read_philly_util(const struct fit_series_in *in, struct fit_series_out *out,
				struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time", FIT_TEXT, FIT_F_NOT_NA }, { "machineId", FIT_TEXT, FIT_F_NOT_NA }
	};
	static const struct fit_csv_options options = { .flags = FIT_CSV_TRAILING };
	struct fit_cell cells[2];
	struct util *u = calloc(1, sizeof *u);
	int rc;

	if (!u)
		return fit_fail_nomem(err);
	u->out = out;
	rc = fit_csv_open(&u->c, in->source, &options, err);
	if (!rc)
		rc = fit_csv_bind(u->c, fields, 2, err);
	if (!rc)
		rc = find_columns(u, err);
	while (!rc && !(rc = fit_series_csv_row(u->c, out, cells, err))) {
		rc = read_row(u, cells, err);
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(u->c), "bad value");
	}
	fit_csv_close(u->c);
	free(u);
	return rc == FIT_END ? FIT_OK : rc;
}
