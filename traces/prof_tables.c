/* SPDX-License-Identifier: MIT */
/* Profiles that are one CSV: Lucid's measurements of single and colocated applications
 * (docs/formats/lucid-profiles.md), and squared gradient norms (docs/formats/gradient-stats.md). */
#include <math.h>

#include "libfit/base/num.h"
#include "traces/csv.h"
#include "traces/series.h"

/* Column name i of the input becomes column i of the output; check() looks at a row. */
static int read_csv(const struct fit_series_in *in, struct fit_series_out *out,
		    const struct fit_field *fields, size_t n,
		    int (*check)(const struct fit_csv *c, const struct fit_cell *cells, void *ctx,
				 struct fit_err *err), void *ctx, struct fit_err *err)
{
	static const char *const missing[] = { "NA", "N/A", "None", "null", NULL };
	static const struct fit_csv_options options = { .flags = FIT_CSV_DETECT, .missing = missing };
	struct fit_cell cells[32];
	struct fit_csv *c = NULL;
	struct fit_str unbound = { 0 };
	int rc = fit_csv_open(&c, in->source, &options, err);

	if (!rc)
		rc = fit_csv_bind(c, fields, n, err);
	if (!rc && (fit_csv_unbound(c, &unbound) ||
		    (unbound.n && fit_series_note(out, "columns passed over: %s", unbound.s))))
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_series_csv_row(c, out, cells, err))) {
		rc = check(c, cells, ctx, err);
		if (!rc)
			rc = fit_series_row(out, cells, err);
		if (rc)
			rc = fit_series_bad(out, rc, fit_csv_line(c), "out of range");
	}
	if (rc == FIT_END && fit_csv_repeated(c) &&
	    fit_series_note(out, "%llu header rows met again", (unsigned long long)fit_csv_repeated(c)))
		rc = fit_fail_nomem(err);
	fit_str_release(&unbound);
	fit_csv_close(c);
	return rc == FIT_END ? FIT_OK : rc;
}

/* Numbers between bounds, or missing. */
static int check_range(const struct fit_csv *c, const struct fit_field *f, const struct fit_cell *cell,
		       double min, double max, struct fit_err *err)
{
	double v = f->type == FIT_REAL ? cell->u.d : (double)cell->u.i;
	char text[FIT_NUM_MAX];

	if (cell->na || (v >= min && v <= max))
		return FIT_OK;
	fit_format_double(text, v);
	return fit_csv_fail(c, FIT_EDATA, f->name, err, "out of range '%s' (expected %s%g)", text,
			    isinf(max) ? "at least " : min == 0 ? "0 to " : "1 to ",
			    isinf(max) ? min : max);
}

/* ---- Lucid ---- */

static const struct fit_field colocate[] = {
	{ "model1", FIT_TEXT, FIT_F_NOT_NA }, { "dataset1", FIT_TEXT, 0 },
	{ "gpu_num1", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "batchsize1", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "amp1", FIT_INT, FIT_CSV_F_WHOLE }, { "speed1", FIT_REAL, 0 },
	{ "model2", FIT_TEXT, FIT_F_NOT_NA }, { "dataset2", FIT_TEXT, 0 },
	{ "gpu_num2", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "batchsize2", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "amp2", FIT_INT, FIT_CSV_F_WHOLE }, { "speed2", FIT_REAL, 0 },
	{ "gpu_util", FIT_REAL, 0 }, { "gmem_util", FIT_REAL, 0 }, { "gmem", FIT_REAL, 0 },
	{ "", FIT_TEXT, FIT_F_OPTIONAL }	/* the index, without a name; not in the output */
};
static const struct fit_field single[] = {
	{ "model", FIT_TEXT, FIT_F_NOT_NA }, { "dataset", FIT_TEXT, 0 },
	{ "batchsize", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE }, { "amp", FIT_INT, FIT_CSV_F_WHOLE },
	{ "speed", FIT_REAL, 0 }, { "gpu_util", FIT_REAL, 0 }, { "gmem_util", FIT_REAL, 0 },
	{ "gmem", FIT_REAL, 0 }, { "label", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE }
};

/* Utilisations are percentages here, averages that cannot leave 0 to 100; all else is not negative. */
static int check_lucid(const struct fit_csv *c, const struct fit_cell *cells, void *ctx,
		       struct fit_err *err)
{
	const struct fit_field *f = ctx;
	size_t n = f == colocate ? 15 : sizeof single / sizeof *single;
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		bool util = fit_text_is(fit_text_of(f[i].name), "gpu_util") ||
			    fit_text_is(fit_text_of(f[i].name), "gmem_util");

		if (f[i].type != FIT_TEXT)
			rc = check_range(c, &f[i], &cells[i], 0, util ? 100 : (double)INFINITY, err);
	}
	return rc;
}

int fit_series_read_lucid_colocate(const struct fit_series_in *in, struct fit_series_out *out,
				   struct fit_err *err)
{
	struct fit_field fields[sizeof colocate / sizeof *colocate];

	for (size_t i = 0; i < sizeof colocate / sizeof *colocate; i++)
		fields[i] = colocate[i];
	return read_csv(in, out, fields, sizeof fields / sizeof *fields, check_lucid,
			(void *)(uintptr_t)colocate, err);
}

int fit_series_read_lucid_single(const struct fit_series_in *in, struct fit_series_out *out,
				 struct fit_err *err)
{
	return read_csv(in, out, single, sizeof single / sizeof *single, check_lucid,
			(void *)(uintptr_t)single, err);
}

/* ---- gradient statistics ---- */

enum { STEP, TIME, EPOCH, PROGRESS, REPLICAS, ACCUM, LOCAL_BSZ, LOCAL_SQR, GLOBAL_SQR, PREV_DOT,
       PREV_DIFF, N_GRADIENT };

static const struct fit_field gradient[N_GRADIENT] = {
	[STEP] = { "step", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	[TIME] = { "time_s", FIT_TIME, FIT_F_OPTIONAL | FIT_CSV_F_ROUND },
	[EPOCH] = { "epoch", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
	[PROGRESS] = { "progress", FIT_REAL, FIT_F_OPTIONAL },
	[REPLICAS] = { "replicas", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	[ACCUM] = { "accum_steps", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
	[LOCAL_BSZ] = { "local_bsz", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	[LOCAL_SQR] = { "local_sqr", FIT_REAL, FIT_F_OPTIONAL },
	[GLOBAL_SQR] = { "global_sqr", FIT_REAL, 0 },
	[PREV_DOT] = { "prev_dot", FIT_REAL, FIT_F_OPTIONAL },
	[PREV_DIFF] = { "prev_diff_sqr", FIT_REAL, FIT_F_OPTIONAL }
};

struct gradients {
	int64_t last_step;
	uint64_t rows, back, above, not_finite;
};

static int check_gradient(const struct fit_csv *c, const struct fit_cell *cells, void *ctx,
			  struct fit_err *err)
{
	static const int at_least_one[] = { REPLICAS, LOCAL_BSZ };
	static const int squares[] = { LOCAL_SQR, GLOBAL_SQR, PREV_DIFF };
	struct gradients *g = ctx;
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < 2; i++)
		rc = check_range(c, &gradient[at_least_one[i]], &cells[at_least_one[i]], 1,
				 (double)INFINITY, err);
	if (!rc)
		rc = check_range(c, &gradient[STEP], &cells[STEP], 0, (double)INFINITY, err);
	if (!rc)
		rc = check_range(c, &gradient[ACCUM], &cells[ACCUM], 0, (double)INFINITY, err);
	/* nan and inf are what an overflow of half precision leaves; they are for the estimator to skip */
	for (size_t i = 0; !rc && i < 3; i++)
		if (!cells[squares[i]].na && !isnan(cells[squares[i]].u.d))
			rc = check_range(c, &gradient[squares[i]], &cells[squares[i]], 0, (double)INFINITY,
					 err);
	if (rc)
		return rc;
	if (g->rows++ && cells[STEP].u.i <= g->last_step)
		g->back++;
	g->last_step = cells[STEP].u.i;
	if ((!cells[LOCAL_SQR].na && !isfinite(cells[LOCAL_SQR].u.d)) ||
	    (!cells[GLOBAL_SQR].na && !isfinite(cells[GLOBAL_SQR].u.d)))
		g->not_finite++;
	else if (!cells[LOCAL_SQR].na && !cells[GLOBAL_SQR].na &&
		 cells[GLOBAL_SQR].u.d > cells[LOCAL_SQR].u.d * (1 + 1e-6))
		g->above++;
	return FIT_OK;
}

int fit_series_read_gradients(const struct fit_series_in *in, struct fit_series_out *out,
			      struct fit_err *err)
{
	struct gradients g = { 0 };
	int rc = read_csv(in, out, gradient, N_GRADIENT, check_gradient, &g, err);

	if (!rc && g.back && fit_series_note(out, "%llu %s not follow the one before (a restart)",
					     (unsigned long long)g.back, fit_plural(g.back, "step does", "steps do")))
		rc = fit_fail_nomem(err);
	if (!rc && g.not_finite && fit_series_note(out, "%llu %s with a norm that is not finite",
						   (unsigned long long)g.not_finite,
						   fit_plural(g.not_finite, "step", "steps")))
		rc = fit_fail_nomem(err);
	if (!rc && g.above && fit_series_note(out, "%llu %s with global_sqr above local_sqr (the norm of "
					      "a mean is at most the mean of the norms)",
					      (unsigned long long)g.above, fit_plural(g.above, "step", "steps")))
		rc = fit_fail_nomem(err);
	return rc;
}
