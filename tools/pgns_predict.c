/* SPDX-License-Identifier: MIT */
/* Noise scale and efficiency at batch sizes that were not run, from curves. */
#include "tools/pgns_parts.h"

#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/model/pgns.h"
#include "libfit/model/pgns_curve.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct fit_field predict_fields[] = {
	{ "app", FIT_TEXT, 0 },	      { "progress", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 },
	{ "init_batch", FIT_INT, 0 }, { "phi", FIT_REAL, 0 },	   { "efficiency", FIT_REAL, 0 },
	{ "gain", FIT_REAL, 0 }
};

static int predict_row(const struct fit_input *in, const struct pgns_options *o,
		       const struct fit_pgns_curves *curves, const struct fit_pgns_curve **room,
		       struct fit_writer *w, struct fit_err *err)
{
	int at_app = fit_input_find(in, "app", NULL),
	    at_batch = fit_input_find(in, "batch_size", NULL);
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, at_app, buf);
	const struct fit_pgns_curve *c;
	double progress = 0, phi, m0;
	int64_t batch = 0;
	size_t n;
	int rc;

	if (!rows_app_wanted(&o->app, app))
		return FIT_OK;
	rc = fit_input_need(in, fit_input_find(in, "progress", NULL), false, &progress, err);
	if (!rc)
		rc = pgns_whole(in, at_batch, 1, -1, &batch, err);
	if (rc)
		return rc;
	c = fit_pgns_curves_find(curves, app, &n);
	if (!c)
		return fit_input_fail(in, at_app, err, "no curve of application '%.*s'",
				      FIT_TEXT_ARG(app));
	if (batch < c->init_batch)
		return fit_input_fail(in, at_batch, err,
				      "bad batch size '%lld' (expected at least the "
				      "initial one, %lld)",
				      (long long)batch, (long long)c->init_batch);
	for (size_t i = 0; i < n; i++)
		room[i] = &c[i];
	phi = fit_pgns_curves_phi(room, n, progress, (double)batch);
	m0 = (double)c->init_batch;
	if (app.s)
		fit_writer_text(w, app);
	else
		fit_writer_na(w);
	fit_writer_real(w, progress);
	fit_writer_int(w, batch);
	fit_writer_int(w, c->init_batch);
	fit_writer_real(w, phi);
	fit_writer_real(w, fit_pgns_efficiency(phi, m0, (double)batch));
	fit_writer_real(w, fit_pgns_gain(phi, m0, (double)batch));
	return fit_writer_end_row(w, err);
}

int pgns_predict(struct cli *cli, const struct pgns_options *o, struct fit_writer *w,
			struct fit_err *err)
{
	struct fit_pgns_curves curves = { 0 };
	const struct fit_pgns_curve **room = NULL;
	struct fit_input *in = NULL;
	int rc = fit_pgns_curves_read(&curves, o->curves, err);

	if (!rc && !(room = malloc((curves.n + 1) * sizeof *room)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);
	if (!rc && (fit_input_find(in, "progress", NULL) < 0 ||
		    fit_input_find(in, "batch_size", NULL) < 0))
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no columns 'progress' and 'batch_size'",
			      fit_input_name(in));
	if (!rc)
		rc = pgns_begin(cli, w, "curves", curves.hash, predict_fields,
				  COUNT(predict_fields), err);
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = predict_row(in, o, &curves, room, w, err);
	if (rc == FIT_END)
		rc = rows_end_input(in, w, err);
	fit_input_close(in);
	free(room);
	fit_pgns_curves_release(&curves);
	return rc;
}
