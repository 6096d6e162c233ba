/* SPDX-License-Identifier: MIT */
/* Predictions of gf-throughput: step times of configurations, by given models. */
#include "libfit/base/num.h"
#include "libfit/model/theta.h"
#include "tools/throughput_parts.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct fit_field predict_fields[] = {
	{ "num_nodes", FIT_INT, 0 }, { "num_replicas", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
	{ "accum_steps", FIT_INT, 0 }, { "accum_time_s", FIT_REAL, 0 },
	{ "network_time_s", FIT_REAL, 0 }, { "step_time_s", FIT_REAL, 0 },
	{ "iteration_time_s", FIT_REAL, 0 }, { "throughput_per_s", FIT_REAL, 0 }
};

static int predict_row(const struct fit_input *in, const struct throughput_columns *c,
		       const struct fit_theta_list *models, struct fit_writer *w,
		       struct fit_err *err)
{
	struct fit_throughput_obs o;
	const struct fit_theta *t;
	struct fit_text app;
	char buf[FIT_NUM_MAX];
	double accum = 0, bsz;
	bool na;
	int rc = throughput_observation(in, c, false, false, &o, err);

	if (!rc)
		rc = fit_input_number(in, c->accum, true, &accum, &na, err);
	if (!rc && accum < 0)
		rc = fit_input_fail(in, c->accum, err,
				    "bad number of passes '%g' (expected 0 or more)", accum);
	if (rc)
		return rc;
	app = fit_input_text(in, c->by[0], buf);
	t = fit_theta_list_find(models, app);
	if (!t && !app.s && models->n == 1)
		t = &models->entries[0].theta;
	if (!t)
		return fit_input_fail(in, c->by[0], err, "no model of application '%.*s'",
				      FIT_TEXT_ARG(app));
	bsz = (double)o.local_bsz;
	if (app.s)
		fit_writer_text(w, app);
	else
		fit_writer_na(w);
	fit_writer_int(w, o.num_nodes);
	fit_writer_int(w, o.num_replicas);
	fit_writer_int(w, o.local_bsz);
	fit_writer_int(w, (int64_t)accum);
	fit_writer_real(w, fit_theta_accum_time(t, bsz));
	/* the model puts a little there for one GPU, too, that its logarithm may be taken */
	fit_writer_real(w, o.num_replicas == 1 ? 0 : fit_theta_network_time(t, o.num_nodes, o.num_replicas));
	fit_writer_real(w, fit_theta_step_time(t, o.num_nodes, o.num_replicas, bsz));
	fit_writer_real(
		w, fit_theta_iteration_time(t, o.num_nodes, o.num_replicas, bsz, (int64_t)accum));
	fit_writer_real(w,
			fit_theta_throughput(t, o.num_nodes, o.num_replicas, bsz, (int64_t)accum));
	return fit_writer_end_row(w, err);
}

int throughput_predict_all(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
		       struct fit_writer *w, struct fit_err *err)
{
	struct fit_theta_list models = { 0 };
	struct fit_input *in = NULL;
	struct throughput_columns c;
	int rc = fit_theta_list_read(&models, o->predict, err);

	if (!rc && cli_meta_input(&d->inputs, "models", models.hash))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);
	if (!rc)
		rc = throughput_find_columns(in, d, false, false, &c, err);
	if (!rc)
		rc = throughput_begin(cli, w, d, predict_fields, COUNT(predict_fields), err);
	while (!rc) {
		rc = fit_input_row(in, err);
		if (!rc)
			rc = predict_row(in, &c, &models, w, err);
		if (rc == FIT_EDATA && o->skip_bad > 0)
			rc = throughput_bad_record(cli, o, d, in, err);
	}
	if (rc == FIT_END)
		rc = fit_writer_end(w, err);
	if (!rc && o->skip_bad > 0 && d->bad > 0)
		cli_warn(cli, "%s: %llu bad %s left out", fit_input_name(in), (unsigned long long)d->bad,
			 fit_plural(d->bad, "record", "records"));
	fit_input_close(in);
	fit_theta_list_release(&models);
	return rc;
}
