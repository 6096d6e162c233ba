/* SPDX-License-Identifier: MIT */
#include "libfit/synth/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

/*
 * theta: our fits (fit_throughput_fit(), objective FIT_RMSLE_ADAPTDL) to all measured rows of the six
 * applications of the Pollux artifact. Batch limits and epochs: facts of the same artifact. share: the
 * shares of job sizes after its filters (docs/methods/pollux.md, the workload generator), each class
 * halved where two applications share it. Steps per epoch, noise and metrics: our own choice, in the
 * range of what was published; steps are cut so that jobs take minutes to hours.
 */
#define SOURCE "alpha, beta, gamma: fit of the seven-parameter model to the step times published with " \
	"Pollux (petuum/adaptdl, branch osdi21-artifact, commit c793c70, Apache-2.0); " \
	"epoch_steps, noise, sqr, metric: chosen by hand"

static const struct fit_synth_app built_in[] = {
	{ "bert", 0.076,
	  { { 0.171936, 0.058611, 1.38571, 0.00943141, 0.284203, 0.0096215, 1.90221 } },
	  12, 384, 4, 12, 2, 2500, 35, 95, 2e14, 80, 88.5 },
	{ "cifar10", 0.392,
	  { { 0.0174188, 0.000700783, 0.122122, 0.00264219, 0.0328517, 0.000874924, 2.0729 } },
	  128, 4096, 32, 1024, 100, 200, 0.6, 300, 9, 0.42, 0.945 },
	{ "deepspeech2", 0.076,
	  { { 0.311104, 0.0238438, 0.48711, 0.00981889, 0.0839885, 0.00136345, 1.41305 } },
	  20, 640, 10, 80, 80, 250, 0.5, 5000, 40, 99.5, 23.5 },
	{ "imagenet", 0.019,
	  { { 0.0641095, 0.00448088, 0.299614, 0.00663813, 0.0768771, 0.000519001, 2.4731 } },
	  200, 12800, 20, 200, 90, 1000, 4, 100, 1.5, 0.12, 0.755 },
	{ "ncf", 0.391,
	  { { 0.00695734, 6.34153e-07, 0.0146049, 0.000540837, 0.00388109, 0.000425451, 1 } },
	  256, 32768, 32, 32768, 10, 40000, 70, 1e5, 2e6, 0.63, 0.69 },
	{ "yolov3", 0.046,
	  { { 0.187089, 0.0253873, 0.749206, 0.0107155, 0.128333, 0.0174315, 1.10793 } },
	  8, 512, 4, 8, 50, 1000, 1, 600, 2e6, 23, 12.2 },
};

enum { APP, SHARE, THETA, INIT = THETA + FIT_THETA_N, MAX, MIN_LOCAL, MAX_LOCAL, EPOCHS, STEPS,
	NOISE_FIRST, NOISE_LAST, SQR, METRIC_FIRST, METRIC_LAST, N_FIELDS };

/* The names of THETA.. are those of fit_theta_names. */
static const struct fit_field fields[N_FIELDS] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA }, { "share", FIT_REAL, FIT_F_NOT_NA },
	{ "alpha_c_s", FIT_REAL, FIT_F_NOT_NA }, { "beta_c_s", FIT_REAL, FIT_F_NOT_NA },
	{ "alpha_n_s", FIT_REAL, FIT_F_NOT_NA }, { "beta_n_s", FIT_REAL, FIT_F_NOT_NA },
	{ "alpha_r_s", FIT_REAL, FIT_F_NOT_NA }, { "beta_r_s", FIT_REAL, FIT_F_NOT_NA },
	{ "gamma", FIT_REAL, FIT_F_NOT_NA }, { "init_batch", FIT_INT, FIT_F_NOT_NA },
	{ "max_batch", FIT_INT, FIT_F_NOT_NA }, { "min_local_bsz", FIT_INT, FIT_F_NOT_NA },
	{ "max_local_bsz", FIT_INT, FIT_F_NOT_NA }, { "epochs", FIT_INT, FIT_F_NOT_NA },
	{ "epoch_steps", FIT_INT, FIT_F_NOT_NA }, { "noise_first", FIT_REAL, FIT_F_NOT_NA },
	{ "noise_last", FIT_REAL, FIT_F_NOT_NA }, { "sqr_first", FIT_REAL, FIT_F_NOT_NA },
	{ "metric_first", FIT_REAL, FIT_F_NOT_NA }, { "metric_last", FIT_REAL, FIT_F_NOT_NA }
};

void fit_synth_calibration_release(struct fit_synth_calibration *c)
{
	free(c->apps);
	*c = (struct fit_synth_calibration){ 0 };
}

int fit_synth_calibration_default(struct fit_synth_calibration *c, struct fit_err *err)
{
	*c = (struct fit_synth_calibration){ 0 };
	if (fit_grow(&c->apps, &c->cap, sizeof built_in / sizeof *built_in, sizeof *c->apps))
		return fit_fail_nomem(err);
	memcpy(c->apps, built_in, sizeof built_in);
	c->n = sizeof built_in / sizeof *built_in;
	return FIT_OK;
}

const struct fit_synth_app *fit_synth_find(const struct fit_synth_calibration *c, struct fit_text name)
{
	for (size_t i = 0; i < c->n; i++)
		if (fit_text_is(name, c->apps[i].name))
			return &c->apps[i];
	return NULL;
}

/* ---- reading ---- */

static bool is_name(struct fit_text t)
{
	if (t.n == 0 || t.n >= FIT_SYNTH_NAME_MAX || t.s[0] == '.' || t.s[0] == '-')
		return false;
	for (size_t i = 0; i < t.n; i++) {
		char ch = t.s[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
		      ch == '_' || ch == '-' || ch == '.'))
			return false;
	}
	return true;
}

/* Which field of a row is outside of its domain, and what was expected; N_FIELDS: none. */
static int bad_field(const struct fit_cell *c, const char **expected)
{
	static const struct { int field; double min, max; const char *expected; } ranges[] = {
		{ SHARE, 0, 1e9, "at least 0" },
		{ INIT, 1, 1 << 30, "from 1 to 1073741824" },
		{ MAX, 1, 1 << 30, "from 1 to 1073741824" },
		{ MIN_LOCAL, 1, 1 << 30, "from 1 to 1073741824" },
		{ MAX_LOCAL, 1, 1 << 30, "from 1 to 1073741824" },
		{ EPOCHS, 1, 100000, "from 1 to 100000" },
		{ STEPS, 1, 1e9, "from 1 to 1000000000" },
		{ NOISE_FIRST, 1e-9, 1e15, "from 1e-9 to 1e15" },
		{ NOISE_LAST, 1e-9, 1e15, "from 1e-9 to 1e15" },
		{ SQR, 1e-30, 1e30, "from 1e-30 to 1e30" },
		{ METRIC_FIRST, -1e30, 1e30, "a finite number" },
		{ METRIC_LAST, -1e30, 1e30, "a finite number" }
	};
	int64_t ratio;

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		int f = ranges[i].field;
		double v = fields[f].type == FIT_INT ? (double)c[f].u.i : c[f].u.d;

		*expected = ranges[i].expected;
		if (!(v >= ranges[i].min && v <= ranges[i].max))
			return f;
	}
	for (int f = THETA; f < THETA + FIT_THETA_N; f++) {
		double low = f == THETA + FIT_GAMMA ? 1 : 1e-300;

		*expected = low < 1 ? "greater than 0" : "at least 1";
		if (!(c[f].u.d >= low && c[f].u.d <= 1e9))
			return f;
	}
	*expected = "a name of letters, digits, '_', '-' and '.'";
	if (!is_name(c[APP].u.t))
		return APP;
	*expected = "init_batch times a power of two";
	ratio = c[MAX].u.i / c[INIT].u.i;
	if (c[MAX].u.i % c[INIT].u.i || (ratio & (ratio - 1)))
		return MAX;
	*expected = "more than min_local_bsz";
	if (c[MAX_LOCAL].u.i <= c[MIN_LOCAL].u.i)
		return MAX_LOCAL;
	*expected = "at most init_batch";
	if (c[MIN_LOCAL].u.i > c[INIT].u.i)
		return MIN_LOCAL;
	return N_FIELDS;
}

static int take_row(struct fit_synth_calibration *c, const struct fit_reader *r,
		    const struct fit_cell *in, struct fit_err *err)
{
	const char *expected;
	int bad = bad_field(in, &expected);
	struct fit_synth_app a = { 0 };

	if (bad < N_FIELDS) {
		char num[FIT_NUM_MAX] = "";
		struct fit_text text = { num, 0 };

		if (fields[bad].type == FIT_TEXT)
			text = in[bad].u.t;
		else if (fields[bad].type == FIT_INT)
			text.n = fit_format_int64(num, in[bad].u.i);
		else
			text.n = fit_format_double(num, in[bad].u.d);
		return fit_reader_fail(r, FIT_EDATA, fields[bad].name, err,
				       "out of range '%.*s' (expected %s)", FIT_TEXT_ARG(text), expected);
	}
	if (fit_synth_find(c, in[APP].u.t))
		return fit_reader_fail(r, FIT_EDATA, "app", err, "duplicate application '%.*s'",
				       FIT_TEXT_ARG(in[APP].u.t));
	memcpy(a.name, in[APP].u.t.s, in[APP].u.t.n);
	a.share = in[SHARE].u.d;
	for (int j = 0; j < FIT_THETA_N; j++)
		a.theta.v[j] = in[THETA + j].u.d;
	a.init_batch = in[INIT].u.i;
	a.max_batch = in[MAX].u.i;
	a.min_local_bsz = in[MIN_LOCAL].u.i;
	a.max_local_bsz = in[MAX_LOCAL].u.i;
	a.epochs = in[EPOCHS].u.i;
	a.epoch_steps = in[STEPS].u.i;
	a.noise_first = in[NOISE_FIRST].u.d;
	a.noise_last = in[NOISE_LAST].u.d;
	a.sqr_first = in[SQR].u.d;
	a.metric_first = in[METRIC_FIRST].u.d;
	a.metric_last = in[METRIC_LAST].u.d;
	if (fit_grow(&c->apps, &c->cap, c->n + 1, sizeof *c->apps))
		return fit_fail_nomem(err);
	c->apps[c->n++] = a;
	return FIT_OK;
}

int fit_synth_calibration_read(struct fit_synth_calibration *c, const char *operand, struct fit_err *err)
{
	struct fit_reader *r = NULL;
	struct fit_cell cells[N_FIELDS];
	int rc;

	*c = (struct fit_synth_calibration){ 0 };
	rc = fit_reader_open(&r, operand, err);
	if (!rc)
		rc = fit_reader_begin(r, fields, N_FIELDS, err);
	while (!rc && !(rc = fit_reader_row(r, cells, err)))
		rc = take_row(c, r, cells, err);
	if (rc == FIT_END)
		rc = c->n ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no applications (expected at least one)",
					      fit_reader_input(r));
	if (!rc)
		fit_reader_hash(r, c->hash);
	fit_reader_close(r);
	if (rc)
		fit_synth_calibration_release(c);
	return rc;
}

/* ---- writing ---- */

int fit_synth_calibration_write(const struct fit_synth_calibration *c, struct fit_writer *w,
				struct fit_meta *meta, struct fit_err *err)
{
	int rc = FIT_OK;

	if (!c->hash[0] && fit_meta_set(meta, "source", SOURCE))
		return fit_fail_nomem(err);
	rc = fit_writer_begin(w, NULL, meta, fields, N_FIELDS, err);
	for (size_t i = 0; !rc && i < c->n; i++) {
		const struct fit_synth_app *a = &c->apps[i];

		fit_writer_str(w, a->name);
		fit_writer_real(w, a->share);
		for (int j = 0; j < FIT_THETA_N; j++)
			fit_writer_real(w, a->theta.v[j]);
		fit_writer_int(w, a->init_batch);
		fit_writer_int(w, a->max_batch);
		fit_writer_int(w, a->min_local_bsz);
		fit_writer_int(w, a->max_local_bsz);
		fit_writer_int(w, a->epochs);
		fit_writer_int(w, a->epoch_steps);
		fit_writer_real(w, a->noise_first);
		fit_writer_real(w, a->noise_last);
		fit_writer_real(w, a->sqr_first);
		fit_writer_real(w, a->metric_first);
		fit_writer_real(w, a->metric_last);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}
